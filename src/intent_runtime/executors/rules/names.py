"""Proper names, told from ordinary words by their capital letters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.text import has_han

_CHUNK = r"[A-Z\u00c0-\u00de][^\s,;:!?()\[\]{}\"“”‘`<>|=，。、；：！？\u3000-\u9fff]*+"
_LINK = r"(?:of|the|de|del|la|le|von|van|da|di|du|and|&|v\.|vs\.?)"
_PHRASE = re.compile(
    rf"(?<![\w'’@#/\\.-]){_CHUNK}(?:[ ]{_LINK}(?:[ ]the)?[ ]{_CHUNK}|[ ]{_CHUNK})*+"
)
_EXTENSION = re.compile(rf",[ ]?{_CHUNK}(?:[ ]{_CHUNK})*+")
_PART = re.compile(r"\S+")
_ABBREVIATION = re.compile(r"(?:[A-Z]\.)+|(?:Inc|Ltd|Co|Corp|Bros|Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs?)\.")
_MAX_EXTENSIONS = 3


@dataclass(frozen=True, slots=True)
class ProperName:
    """`wide_end` also takes in the `, MA, USA` that narrows a place down."""

    start: int
    end: int
    wide_end: int


def proper_names(text: str) -> Iterator[ProperName]:
    """Capitalised names, then the well-known places of Chinese text."""
    for match in _PHRASE.finditer(text):
        for start, end in _split(text, match.start(), match.end()):
            if end - start > 1:
                yield ProperName(start, end, _wide_end(text, end))
    if has_han(text):
        for match in _han_places().finditer(text):
            yield ProperName(match.start(), match.end(), match.end())


@cache
def _han_places() -> re.Pattern[str]:
    places = sorted(vocabulary.words("places", "zh"), key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(places)})[市省]?")


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a run of capitalised words at sentence ends, possessives and ordinary words."""
    ordinary = vocabulary.words("ordinary_words")
    begun: int | None = None
    last = start
    for part in _PART.finditer(text, start, end):
        word, stop = part.group(), part.end()
        link = word[0].islower() or word == "&"
        plain = word.strip(".'’").lower() in ordinary
        if begun is not None and plain and text[last - 1] == ".":
            yield begun, last
            begun = None
        if begun is None and (link or plain):
            continue
        if link and word == "and":
            if begun is not None:
                yield begun, last
            begun = None
            continue
        if begun is None:
            begun = part.start()
        core, closes = _core(word)
        if not link:
            last = part.start() + len(core)
        if closes:
            yield begun, last
            begun = None
        elif not link:
            last = stop
    if begun is not None:
        yield begun, last


def _core(word: str) -> tuple[str, bool]:
    """The word without what ends a name, and whether the name ends here."""
    if word.endswith(("'s", "’s")):
        return word[:-2], True
    if word.endswith(("'", "’")):
        return word[:-1], True
    if word.endswith(".") and not _ABBREVIATION.fullmatch(word):
        return word.rstrip("."), True
    return word, False


def _wide_end(text: str, end: int) -> int:
    ordinary = vocabulary.words("ordinary_words")
    for _ in range(_MAX_EXTENSIONS):
        match = _EXTENSION.match(text, end)
        if match is None:
            break
        parts = list(_PART.finditer(text, end + 1, match.end()))
        if not parts or parts[0].group().strip(".").lower() in ordinary:
            break
        for part in parts:
            core, closes = _core(part.group())
            end = part.start() + len(core)
            if closes:
                return end
    return end
