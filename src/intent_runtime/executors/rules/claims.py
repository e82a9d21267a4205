"""What the finders produce: a leaf, a value, where it stands, and how well the words fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.constraints import allows
from intent_runtime.executors.rules.material import Material
from intent_runtime.executors.rules.pieces import Kind, Piece, pieces_of
from intent_runtime.executors.rules.schema_view import Leaf
from intent_runtime.executors.rules.surroundings import Surroundings, around
from intent_runtime.executors.rules.text import WHITE_SPACE, name_parts, trimmed_span
from intent_runtime.text import is_blank

Span: TypeAlias = "tuple[int, int]"

_TOO_GENERAL: Final = frozenset({"text", "name", "type", "value", "data"})

CERTAIN: Final = 6.0
"""The form itself names the field: `label: value`, the only link for the only link field."""
CLEAR: Final = 3.0
WEAK: Final = 2.0
"""Below this a claim is a guess and is never made."""


@dataclass(frozen=True, slots=True)
class Claim:
    """`spans` has one span for a scalar, and one for each item of a list."""

    leaf: Leaf
    material: Material
    value: Any
    spans: tuple[Span, ...]
    score: float
    shared: bool = False
    """Whether other leaves may still use the same words, as with choices and switches."""
    rivals: tuple[Span, ...] = ()
    """Neighbours in a row of values: while they are free, this value is one of several."""

    def quotes(self) -> list[str]:
        """The words of the spans."""
        return [self.material.text[start:end] for start, end in self.spans]


class Reading:
    """One source with its pieces and their surroundings, computed when first asked for."""

    def __init__(self, material: Material, max_pieces: int) -> None:
        self.material = material
        self._max_pieces = max_pieces
        self._surroundings: dict[int, Surroundings] = {}

    @cached_property
    def pieces(self) -> list[Piece]:
        """The pieces in order of position; none when the text is too crowded to tell."""
        found = pieces_of(self.material) if self.material.readable else []
        return found if len(found) <= self._max_pieces else []

    def of_kind(self, *kinds: Kind) -> list[Piece]:
        """The pieces of some kinds, in order of position."""
        return [piece for piece in self.pieces if piece.kind in kinds]

    def around(self, piece: Piece) -> Surroundings:
        """The surroundings of a piece of this source."""
        known = self._surroundings.get(piece.start)
        if known is None:
            known = self._surroundings[piece.start] = around(self.material, piece)
        return known


def text_claim(
    leaf: Leaf, reading: Reading, value: str, span: Span, score: float
) -> Iterator[Claim]:
    """A claim for a string, if the words fit well enough and the schema allows it."""
    if score >= WEAK and not is_blank(value) and allows(leaf.schema, value):
        yield Claim(leaf, reading.material, value, (span,), score)


def verbatim(leaf: Leaf, reading: Reading, span: Span, score: float) -> Iterator[Claim]:
    """A claim for exactly the words of a span."""
    yield from text_claim(leaf, reading, reading.material.text[span[0] : span[1]], span, score)


def labelled_segments(leaf: Leaf, reading: Reading, segment: re.Pattern[str]) -> Iterator[Span]:
    """What follows the whole name of the field and a colon or equals sign."""
    material = reading.material
    parts = name_parts(leaf.name)
    if not parts or parts[0] in _TOO_GENERAL:
        return
    for label in dict.fromkeys((tuple(parts), ("".join(parts),))):
        for _, end in material.phrase(label):
            match = segment.match(material.text, end)
            if match is not None:
                yield trimmed_span(material.text, *match.span(1), WHITE_SPACE + ".!?！？")


def direction_fit(leaf: Leaf, surroundings: Surroundings) -> float:
    """`from A` for fields that speak of a start, `to B` for those that speak of an end."""
    starts = not leaf.name_words.isdisjoint(vocabulary.words("start_words"))
    ends = not leaf.name_words.isdisjoint(vocabulary.words("end_words"))
    if starts == ends:
        return 0.0
    if surroundings.preposition in vocabulary.words("leaving"):
        return 2.5 if starts else -4.0
    if surroundings.preposition in vocabulary.words("arriving"):
        return 2.5 if ends else -4.0
    return 0.0


def label_score(leaf: Leaf, surroundings: Surroundings, after_weight: float = 1.0) -> float:
    """How much of the leaf's name and description the words around a piece repeat."""
    seen: set[str] = set()
    score = _side(leaf, surroundings.before, 0.2, seen)
    score += after_weight * _side(leaf, surroundings.after, 0.3, seen)
    if leaf.specific_words and leaf.specific_words <= seen:
        score += 1.0
    return score


def _side(leaf: Leaf, labels: Sequence[str], fading: float, seen: set[str]) -> float:
    total = 0.0
    for distance, label in enumerate(labels):
        if label in seen:
            continue
        if label in leaf.specific_words:
            weight = 3.0
        elif label in leaf.description_words:
            weight = 1.3
        elif label in leaf.name_words:
            weight = 1.0
        else:
            continue
        seen.add(label)
        total += weight / (1.0 + fading * distance)
    return total
