"""What of a text counts as the user's own words, cut into sentences.

Quotations, code blocks, quoted lines and pasted material keep their place but lose their letters,
so that nothing inside them is read as a request. All offsets are offsets into the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.text import HAN, WHITE_SPACE, lowered

HIDDEN: Final = "■"

QUOTATION: Final = re.compile(
    r"(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)|\"([^\"\n]{1,2000})\"|`([^`\n]{1,2000})`"
    r"|“([^“”\n]{1,2000})”|‘([^‘’\n]{1,400})’(?!\w)|「([^「」\n]{1,2000})」"
    r"|『([^『』\n]{1,2000})』|《([^《》\n]{1,400})》"
)
_LIST_MARK_LENGTH: Final = 12
_FENCE = re.compile(r"```[\s\S]*?(?:```|\Z)|^[ \t]{0,3}>[^\n]*$", re.MULTILINE)
_DATA = re.compile(r"(?<![!-~])[!-~]{120,}+|\{[^{}\n]{2,2000}\}")
_NO_ABBREVIATION = "".join(
    rf"(?<!\b{word}\.)" for word in ("[A-Za-z]", "Mr", "Mrs", "Ms", "Dr", "St", "vs", "No", "Inc")
)
_END = re.compile(
    rf"[.](?=[\s\"'”’)\]]|$|[A-Z{HAN}]){_NO_ABBREVIATION}|[!?]++|[。！？；;\n]++|…++", re.MULTILINE
)
_LIST_MARK = re.compile(
    r"[\s•*·–—>-]*+(?:(?:step\s)?\d{1,2}(?:\.\d{1,2})*+[.)、:：]?(?=[\s" + HAN + r"])\s*+"
    r"|[（(]\d{1,2}[)）]\s*+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`view` is lower-case with hidden quotations, as long as `text`."""

    text: str
    view: str
    start: int
    end: int
    is_question: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences that hold anything to read."""
    shown = _without_quotations(text)
    view = lowered(shown)
    start = 0
    for stop, end, mark in _ends(shown):
        begin = _LIST_MARK.match(shown, start, stop)
        first = begin.end() if begin else start
        trimmed = shown[first:stop].rstrip(WHITE_SPACE)
        if any(char.isalnum() for char in trimmed):
            is_question = "?" in mark or "？" in mark
            yield Sentence(text, view, first, first + len(trimmed), is_question)
        start = end


def _ends(shown: str) -> Iterator[tuple[int, int, str]]:
    """Where each sentence stops, where the next begins, and the marks between them."""
    for match in _END.finditer(shown):
        if match.group() == "." and _is_list_number(shown, match.start()):
            continue
        yield match.start(), match.end(), match.group()
    yield len(shown), len(shown), ""


def _is_list_number(shown: str, dot: int) -> bool:
    begin = shown.rfind("\n", max(0, dot - _LIST_MARK_LENGTH), dot) + 1
    return (begin > 0 or dot <= _LIST_MARK_LENGTH) and shown[begin:dot].strip().replace(
        ".", ""
    ).isdigit()


def _without_quotations(text: str) -> str:
    shown = text
    for pattern in (_FENCE, QUOTATION, _DATA):
        shown = pattern.sub(lambda match: HIDDEN * len(match.group()), shown)
    return _without_paste(shown)


def _without_paste(shown: str) -> str:
    """`Translate the following text: ...` : what follows the colon is material."""
    head = shown[:4000].lower()
    openers = (
        each for tag in vocabulary.LANGUAGES for each in vocabulary.ordered("paste_openers", tag)
    )
    for opener in openers:
        at = head.find(opener)
        colon = -1 if at < 0 else _after_colon(shown, at + len(opener))
        if colon >= 0:
            return shown[:colon] + HIDDEN * (len(shown) - colon)
    return shown


def _after_colon(shown: str, start: int) -> int:
    """The position after a colon within the next words of the same line, or -1."""
    line = shown[start : start + 80].split("\n", 1)[0]
    places = [line.find(mark) for mark in ":：" if mark in line]
    return start + min(places) + 1 if places else -1
