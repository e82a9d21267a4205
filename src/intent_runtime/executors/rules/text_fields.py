"""Strings: links, identifiers, labelled values; dates and names have modules of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from intent_runtime.executors.rules.choice_fields import mentions
from intent_runtime.executors.rules.claims import (
    CERTAIN,
    CLEAR,
    WEAK,
    Claim,
    Reading,
    label_score,
    labelled_segments,
    text_claim,
    verbatim,
)
from intent_runtime.executors.rules.date_fields import date_claims, time_claims
from intent_runtime.executors.rules.name_fields import name_claims, place_claims
from intent_runtime.executors.rules.number_fields import owner_fit
from intent_runtime.executors.rules.schema_view import Leaf
from intent_runtime.executors.rules.sorts import Sort, sort_of
from intent_runtime.executors.rules.text import WHITE_SPACE

_SEGMENT = re.compile(r"\s{0,3}[:=：]\s{0,3}([^\n,;，；。]{1,120})")
_LINKED: Final = frozenset({"url", "email", "ip", "uuid", "file"})
_MAX_CODE_LENGTH: Final = 64


def is_text(leaf: Leaf) -> bool:
    """Whether the value is free text and nothing else."""
    return leaf.kind == "string" and not leaf.choices


def text_claims(leaves: list[Leaf], reading: Reading) -> Iterator[Claim]:
    """Claims for all string fields without choices."""
    by_sort: dict[Sort, list[Leaf]] = {}
    for leaf in leaves:
        if is_text(leaf):
            by_sort.setdefault(sort_of(leaf), []).append(leaf)
    for sort, members in by_sort.items():
        for leaf in members:
            yield from _assigned(leaf, reading)
            yield from _of_sort(sort, leaf, members, reading)
            if sort in ("entity", "free"):
                yield from _exemplified(leaf, reading)
    named = [*by_sort.get("entity", []), *by_sort.get("free", [])]
    yield from name_claims(named, leaves, reading)


def _of_sort(sort: Sort, leaf: Leaf, members: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    if sort in _LINKED:
        yield from _links(sort, leaf, members, reading)
    elif sort == "date":
        yield from date_claims(leaf, members, reading)
    elif sort == "time":
        yield from time_claims(leaf, members, reading)
    elif sort == "code":
        yield from _codes(leaf, members, reading)
    elif sort == "place":
        yield from place_claims(leaf, members, reading)


def _assigned(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    """`label: value` and `label=value`; a quotation there is the value."""
    for span in labelled_segments(leaf, reading, _SEGMENT):
        inner = [piece for piece in reading.of_kind("quoted") if piece.overlaps(*span)]
        value = (inner[0].start, inner[0].end) if inner else span
        yield from verbatim(leaf, reading, value, CERTAIN)


def _links(kind: Sort, leaf: Leaf, members: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    pieces = [piece for piece in reading.pieces if piece.kind == kind]
    if kind == "file" and not pieces:
        pieces = reading.of_kind("url")
    alone = len(pieces) == 1 and len(members) == 1
    for piece in pieces:
        score = label_score(leaf, reading.around(piece)) + (CLEAR if alone else 0.0)
        yield from verbatim(leaf, reading, (piece.start, piece.end), score)


def _codes(leaf: Leaf, members: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    """Identifiers: a code, a bare number or a quoted word that its label introduces."""
    text = reading.material.text
    pieces = [
        piece
        for piece in reading.of_kind("code", "number", "quoted", "uuid", "name")
        if not reading.around(piece).negated and _may_be_code(text[piece.start : piece.end])
    ]
    codes = [piece for piece in pieces if piece.kind in ("code", "uuid", "quoted")]
    for piece in pieces:
        score = label_score(leaf, reading.around(piece)) + owner_fit(leaf, piece, reading)
        if score < WEAK and len(members) == len(codes) == 1 and piece is codes[0]:
            score = WEAK
        yield from verbatim(leaf, reading, (piece.start, piece.end), score)


def _may_be_code(text: str) -> bool:
    """No white space, and not an ordinary capitalised word."""
    if len(text) > _MAX_CODE_LENGTH or any(char in WHITE_SPACE for char in text):
        return False
    return any(char.isdigit() for char in text) or text.isupper() or not text.istitle()


def _exemplified(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    """The request uses a word that the description gives as an example, in its spelling."""
    for example, span, score in mentions(leaf, leaf.examples, reading, exemplary=True):
        yield from text_claim(leaf, reading, example, span, score - 1.0)
