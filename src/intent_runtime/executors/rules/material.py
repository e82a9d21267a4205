"""The text the facts come from, read once: its words and the typed pieces that stand in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from intent_runtime.executors.rules.text import HAN, lowered, narrowed, root, stem
from intent_runtime.text import is_blank

MAX_CONTEXT_SOURCES: Final = 12
MAX_READ: Final = 65536
MAX_WORDS: Final = 16_000
"""More than any 64 KiB of prose has. A text beyond it is not read at all: part of it is no basis
for saying that a value is the only one."""

_TOKEN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:['’][^\W_{HAN}]+)*+|([^\w\s])\1*+|_")
_DIGIT = re.compile(r"[0-9]")
_JOINERS: Final = frozenset("-_")
MAX_MENTIONS: Final = 12


class Word(NamedTuple):
    """One word or mark. A Han run is one word; its label pairs are made on demand."""

    start: int
    end: int
    text: str

    @property
    def is_mark(self) -> bool:
        """Whether this is punctuation or a symbol."""
        return not self.text[0].isalnum()

    def labels(self) -> tuple[str, ...]:
        """What the word may be compared by: its stem, or the last pairs of a Han run."""
        if "\u3400" <= self.text[0] <= "\u9fff":
            tail = self.text[-16:]
            return tuple(tail[i : i + 2] for i in range(len(tail) - 1))
        return (stem(self.text),)


class Material:
    """One source. Offsets of every derived view are offsets into `text`."""

    def __init__(self, source_id: str, text: str) -> None:
        self.source_id = source_id
        self.text = text if len(text) <= MAX_READ else ""

    @cached_property
    def lower(self) -> str:
        """The text in lower case."""
        return lowered(self.text)

    @cached_property
    def narrow(self) -> str:
        """The text with ASCII digits for full-width ones."""
        return narrowed(self.text)

    @cached_property
    def has_digits(self) -> bool:
        """Whether any number can be written in digits here."""
        return _DIGIT.search(self.narrow) is not None

    @cached_property
    def words(self) -> Sequence[Word]:
        """All words and marks, or none when there are too many to read."""
        found = islice(_TOKEN.finditer(self.lower), MAX_WORDS + 1)
        words = [Word(*match.span(), match[1] or match[0]) for match in found]
        return words if len(words) <= MAX_WORDS else []

    @property
    def readable(self) -> bool:
        """Whether the whole text was short enough to be read."""
        return bool(self.words)

    @cached_property
    def _starts(self) -> list[int]:
        return [word.start for word in self.words]

    def before(self, position: int, count: int) -> Sequence[Word]:
        """Up to `count` words before a position, the nearest first.

        A run of Han characters that goes on past the position is cut there.
        """
        index = bisect_left(self._starts, position)
        found = list(self.words[max(0, index - count) : index][::-1])
        if found and found[0].end > position:
            start, _, text = found[0]
            found[0] = Word(start, position, text[: position - start])
        return found

    def after(self, position: int, count: int) -> Sequence[Word]:
        """Up to `count` words after a position; a run of Han characters may be cut there."""
        index = bisect_left(self._starts, position)
        found = list(self.words[index : index + count])
        if index and self.words[index - 1].end > position:
            start, end, text = self.words[index - 1]
            found.insert(0, Word(position, end, text[position - start :]))
        return found

    @cached_property
    def _stems(self) -> Mapping[str, list[int]]:
        return self._indexed(stem)

    @cached_property
    def _roots(self) -> Mapping[str, list[int]]:
        return self._indexed(root)

    def phrase(self, words: Sequence[str], *, loosely: bool = False) -> Iterator[tuple[int, int]]:
        """The first places where these words follow each other, plural or not.

        Spaces, hyphens and underscores may join them. Loosely, `detailed` is `details` too.
        """
        fold, index = (root, self._roots) if loosely else (stem, self._stems)
        wanted = [fold(word) for word in words]
        for first in index.get(wanted[0], ())[:MAX_MENTIONS]:
            last = self._follow(first, wanted, fold)
            if last is not None:
                yield self.words[first].start, self.words[last].end

    def _follow(self, first: int, wanted: Sequence[str], fold: Callable[[str], str]) -> int | None:
        position = first
        for word in wanted[1:]:
            position += 1
            while position < len(self.words) and self.words[position].text in _JOINERS:
                position += 1
            if position >= len(self.words) or fold(self.words[position].text) != word:
                return None
        return position

    def _indexed(self, fold: Callable[[str], str]) -> Mapping[str, list[int]]:
        index: dict[str, list[int]] = {}
        for position, word in enumerate(self.words):
            index.setdefault(fold(word.text), []).append(position)
        return index


def sources_of(payload: Mapping[str, Any]) -> tuple[Material, list[Material]]:
    """The current input, and the context a fact may come from: the user's words, not replies."""
    context = [
        Material(entry["sourceId"], entry["content"])
        for entry in cast("Sequence[Mapping[str, str]]", payload.get("context") or [])
        if entry["role"] in ("user", "background") and not is_blank(entry["content"])
    ]
    return Material("input", payload["currentInput"]), context[-MAX_CONTEXT_SOURCES:]
