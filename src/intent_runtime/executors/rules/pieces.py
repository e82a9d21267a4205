"""Typed pieces of a text: numbers, dates, times, links, codes, quotations and proper names.

Each reader runs once over the text, in an order in which the more specific claims its characters
first, so that the digits of a date or an address are never taken for a quantity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from intent_runtime.executors.rules import dates, names, numerals
from intent_runtime.executors.rules.material import Material
from intent_runtime.executors.rules.sentences import QUOTATION

Kind: TypeAlias = Literal[
    "number", "date", "time", "url", "email", "ip", "uuid", "file", "code", "quoted", "name"
]

MAX_PIECES: Final = 600


@dataclass(frozen=True, slots=True)
class Piece:
    """`text[start:end]` is the quote; `value` is what it says in terms of its kind."""

    kind: Kind
    start: int
    end: int
    value: Any
    unit: str = ""
    wide_end: int = 0

    def overlaps(self, start: int, end: int) -> bool:
        """Whether the quote shares a character with a span."""
        return self.start < end and start < self.end


_LINK_TAIL: Final = ".,;:!?'\")]}>，。；：！？）」』"
_PATTERNS: Final[tuple[tuple[Kind, str, re.Pattern[str]], ...]] = (
    ("url", "://", re.compile(r"(?:https?|ftp)://[^\s<>\"'`，。；（）「」]++", re.IGNORECASE)),
    (
        "email",
        "@",
        re.compile(r"(?<![\w.+-])[A-Za-z0-9._+-]++@[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)++"),
    ),
    (
        "uuid",
        "-",
        re.compile(r"(?<![\w-])[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}(?![\w-])"),
    ),
    ("ip", ".", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)", re.ASCII)),
    (
        "file",
        "",
        re.compile(
            r"(?<![\w/\\.:~-])(?:[A-Za-z]:[\\/]|\.{0,2}/|~/)[\w./\\~-]++"
            r"|(?<![\w/\\.:~-])[\w/\\-]++\.(?:csv|tsv|txt|json|xml|ya?ml|pdf|docx?|xlsx?|pptx?"
            r"|png|jpe?g|gif|svg|mp[34]|wav|zip|tar|gz|py|js|ts|java|md|html?|sql|log|parquet)"
            r"(?![\w.])",
            re.ASCII,
        ),
    ),
)
_SEASON = re.compile(r"(?<![\w-])(?:19|20)\d{2}-(?:19|20)?\d{2}(?![\w-])", re.ASCII)
_CODE = re.compile(
    r"(?<![\w/\\.@-])(?<!\d,)(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z]|\d++/[A-Z]|0\d++(?![\d.,%])|\d{16})"
    r"[A-Za-z0-9]++(?:[_/-][A-Za-z0-9]++)*+(?![\w@]|\.\d)",
    re.ASCII,
)


def pieces_of(material: Material) -> list[Piece]:
    """The pieces of one source in order of position, or none when there are far too many."""
    taken = bytearray(len(material.text))
    found: list[Piece] = []

    def claim(piece: Piece) -> bool:
        if any(taken[piece.start : piece.end]):
            return False
        taken[piece.start : piece.end] = b"\x01" * (piece.end - piece.start)
        found.append(piece)
        return len(found) <= MAX_PIECES

    for read in (_links, _quotations, _calendar, _codes, _numbers, _names):
        for piece in read(material):
            claim(piece)
            if len(found) > MAX_PIECES:
                return []
    return sorted(found, key=lambda piece: piece.start)


def _links(material: Material) -> Iterator[Piece]:
    for kind, needle, pattern in _PATTERNS:
        if needle not in material.text:
            continue
        for match in pattern.finditer(material.text):
            quote = match.group().rstrip(_LINK_TAIL)
            if quote:
                yield Piece(kind, match.start(), match.start() + len(quote), quote)


def _quotations(material: Material) -> Iterator[Piece]:
    for match in QUOTATION.finditer(material.text):
        start, end = match.span(match.lastindex or 0)
        while material.text.startswith("*", start) and material.text[start:end].endswith("*"):
            start, end = start + 1, end - 1
        content = material.text[start:end]
        if content and content.strip() == content:
            yield Piece("quoted", start, end, content)


def _calendar(material: Material) -> Iterator[Piece]:
    if not material.has_digits:
        return
    for moment in dates.moments(material.narrow, material.lower):
        yield Piece(moment.kind, moment.start, moment.end, moment)


def _codes(material: Material) -> Iterator[Piece]:
    """Tokens that mix letters and digits, or have digits that no quantity would have."""
    if not material.has_digits:
        return
    for match in _SEASON.finditer(material.text):
        yield Piece("code", *match.span(), match.group())
    for match in _CODE.finditer(material.text):
        quote = match.group()
        if not numerals.is_measure(quote):
            yield Piece("code", match.start(), match.end(), quote)


def _numbers(material: Material) -> Iterator[Piece]:
    for numeral in numerals.numerals(material.narrow, material.lower):
        yield Piece("number", numeral.start, numeral.end, numeral, unit=numeral.unit)


def _names(material: Material) -> Iterator[Piece]:
    for name in names.proper_names(material.text):
        piece = Piece("name", name.start, name.end, material.text[name.start : name.end])
        yield replace(piece, wide_end=name.wide_end)
