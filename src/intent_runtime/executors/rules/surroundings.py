"""The words around a piece of text that say what it is: `a radius of 10`, `5 bedrooms`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.material import Material, Word
from intent_runtime.executors.rules.pieces import Piece

_REACH_BEFORE = 12
_REACH_AFTER = 6
_MAX_LABELS = 6
_HAN_PREPOSITIONS = frozenset("从自在到至去往给")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The label words before and after, the nearest first, and the preposition at the piece."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    preposition: str
    negated: bool


def around(material: Material, piece: Piece) -> Surroundings:
    """Read the words on both sides of a piece."""
    words = material.before(piece.start, _REACH_BEFORE)
    # `my husband, Jeff`: a name in apposition has its label before the comma.
    apposed = piece.kind == "name" and words and words[0].text == ","
    before, preposition = _labels_before(words[1:] if apposed else words)
    if words and words[0].text in ("and", "和", "与") and _opened_by_between(words):
        preposition = "and"
    return Surroundings(
        before=before,
        after=_labels_after(material.after(piece.end, _REACH_AFTER)),
        preposition=preposition,
        negated=_negated(material, piece, words),
    )


def _labels_before(words: Sequence[Word]) -> tuple[tuple[str, ...], str]:
    """Walk away from the piece through its noun phrase, over at most one preposition."""
    connectors = vocabulary.words("connectors")
    prepositions = vocabulary.words("prepositions")
    breaks = vocabulary.words("breaks")
    articles = vocabulary.words("articles")
    labels: list[str] = []
    preposition = ""
    for index, word in enumerate(words):
        text = word.text
        if text in ("-", "_"):
            continue
        if text in breaks:
            break
        if not labels and text in connectors and not (text == "of" and preposition):
            continue
        if text in articles:
            if labels and not (index + 1 < len(words) and words[index + 1].text == "of"):
                break
            continue
        if text in prepositions:
            if labels and text != "of":
                break
            preposition = preposition or text
            continue
        if text[0].isdigit() or (word.is_mark and labels):
            break
        if not labels and not preposition and text[-1] in _HAN_PREPOSITIONS:
            preposition = text[-1]
        if not word.is_mark:
            labels.extend(word.labels())
        if len(labels) >= _MAX_LABELS:
            break
    return tuple(labels), preposition


def _opened_by_between(words: Sequence[Word]) -> bool:
    return any(word.text in ("between", "从", "在") for word in words)


def _labels_after(words: Sequence[Word]) -> tuple[str, ...]:
    prepositions = vocabulary.words("prepositions")
    breaks = vocabulary.words("breaks")
    labels: list[str] = []
    for word in words:
        text = word.text
        if text in ("'", '"', "”", "’", "`"):
            continue
        if text in ("%", "°") and not labels:
            continue
        if text in ("-", "_"):
            continue
        if text in breaks or text in prepositions or word.is_mark or text[0].isdigit():
            break
        if "\u3400" <= text[0] <= "\u9fff":
            labels.extend(text[i : i + 2] for i in range(min(len(text) - 1, 3)))
            break
        labels.extend(word.labels())
    return tuple(labels[:_MAX_LABELS])


def _negated(material: Material, piece: Piece, words: Sequence[Word]) -> bool:
    """`not X`, `instead of X`, `today is X`: the words before the piece turn it down."""
    turned = vocabulary.words("instead_of")
    nearest = [word.text for word in words[:4]]
    if "today" in nearest and ("is" in nearest or ":" in nearest):
        return True
    for skipped in range(min(2, len(nearest))):
        one = nearest[skipped]
        two = " ".join(reversed(nearest[skipped : skipped + 2]))
        if one in turned or two in turned:
            return True
        if one not in ("the", "a", "an", "order", "id", "订单"):
            break
    lead = material.text[max(0, piece.start - 6) : piece.start]
    return any(lead.endswith(each) for each in turned if not each.isascii())
