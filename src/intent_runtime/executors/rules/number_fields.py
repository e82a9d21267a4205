"""Numbers for number fields, matched by label, unit, direction and order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.claims import (
    CLEAR,
    WEAK,
    Claim,
    Reading,
    direction_fit,
    label_score,
)
from intent_runtime.executors.rules.constraints import allows
from intent_runtime.executors.rules.numerals import Numeral, units_in
from intent_runtime.executors.rules.pieces import Piece
from intent_runtime.executors.rules.schema_view import Leaf
from intent_runtime.executors.rules.surroundings import Surroundings
from intent_runtime.executors.rules.text import name_parts

_SHORTEST_SERIES: Final = 2
_SERIES = re.compile(r"(.*?)_?(?:\d+|[a-zA-Z])")
_FRACTION_WORDS = re.compile(r"\bdecimal\b|\bfraction\b|小数")
_PERCENT_WORDS = re.compile(r"percent|%|百分")


def is_numeric(leaf: Leaf) -> bool:
    """Whether the value is a number and nothing else."""
    return leaf.kind in ("integer", "number")


def numeric_claims(leaves: list[Leaf], reading: Reading) -> Iterator[Claim]:
    """Claims for every number field that some number of the text fits."""
    numeric = [leaf for leaf in leaves if is_numeric(leaf)]
    pieces = [piece for piece in reading.of_kind("number") if not reading.around(piece).negated]
    if not numeric or not pieces:
        return
    for leaf in numeric:
        for piece in pieces:
            score = fit(leaf, piece.value, reading.around(piece))
            score += owner_fit(leaf, piece, reading)
            if score >= WEAK:
                yield from _claim(leaf, piece, reading, score)
    yield from _in_order(numeric, pieces, reading)
    yield from _only_one(leaves, pieces, reading)


def fit(leaf: Leaf, numeral: Numeral, surroundings: Surroundings) -> float:
    """How well label, unit, direction and the look of a year speak for a number."""
    score = label_score(leaf, surroundings)
    score += _unit_fit(leaf, numeral)
    score += direction_fit(leaf, surroundings)
    score += _year_fit(leaf, numeral, surroundings)
    return score


def owner_fit(leaf: Leaf, piece: Piece, reading: Reading) -> float:
    """`the user with the ID 123`: the label is general, its owner stands a little before it."""
    codes = vocabulary.words("code_words")
    parts = name_parts(leaf.name)
    nearest = reading.around(piece).before[:1]
    if not nearest or nearest[0] not in codes or not parts or parts[-1] not in codes:
        return 0.0
    owners = leaf.specific_words | leaf.description_words
    earlier = reading.material.before(piece.start, 9)
    owned = any(label in owners for word in earlier[1:] for label in word.labels())
    return 2.0 if owned else 1.0


def as_value(leaf: Leaf, numeral: Numeral) -> int | float | None:
    """The numeral in the leaf's type and, for percentages, on the leaf's scale."""
    value = numeral.value
    whole = leaf.kind == "integer"
    if numeral.percent and not whole and not _is_percent_scale(leaf):
        value = round(value / 100, 12)
    if whole and isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def _is_percent_scale(leaf: Leaf) -> bool:
    described = leaf.described.lower()
    if _FRACTION_WORDS.search(described):
        return False
    return _PERCENT_WORDS.search(described) is not None


def _claim(leaf: Leaf, piece: Piece, reading: Reading, score: float) -> Iterator[Claim]:
    value = as_value(leaf, piece.value)
    if value is not None and allows(leaf.schema, value):
        yield Claim(leaf, reading.material, value, ((piece.start, piece.end),), score)


def _units_of(leaf: Leaf) -> frozenset[str]:
    return units_in(leaf.description_words | leaf.name_words)


def _unit_fit(leaf: Leaf, numeral: Numeral) -> float:
    wanted = _units_of(leaf)
    unit = "money" if numeral.money else "percent" if numeral.percent else numeral.unit
    if not unit:
        return 0.0
    if wanted and unit != "money":
        return 1.5 if unit in wanted else -4.0
    dimension = vocabulary.lookup("unit_dimensions", "en").get(unit, unit)
    kinds = vocabulary.lookup("dimensions", "en")
    measured = {kinds[word] for word in leaf.name_words if word in kinds}
    if not measured:
        return 0.0
    return 1.0 if dimension in measured else -2.0


def _year_fit(leaf: Leaf, numeral: Numeral, surroundings: Surroundings) -> float:
    if leaf.speaks_of("year") and "years" not in leaf.name.lower():
        if not numeral.looks_like_year:
            return -4.0
        dated = surroundings.preposition in ("in", "from", "of", "since", "during", "for", "to")
        return 2.0 if dated or "year" in surroundings.before else 0.5
    dated = numeral.looks_like_year and surroundings.preposition in ("in", "since", "during")
    return -2.0 if dated else 0.0


def _in_order(numeric: list[Leaf], pieces: list[Piece], reading: Reading) -> Iterator[Claim]:
    """`number1`, `number2` (or `a`, `b`) take as many numbers in the order of mention."""
    pieces = [piece for piece in pieces if not piece.value.spelled] or pieces
    series = [leaf for leaf in numeric if leaf.required and _SERIES.fullmatch(leaf.name)]
    if not _SHORTEST_SERIES <= len(series) == len(pieces):
        return
    stems = {_stem_of_series(leaf) for leaf in series}
    required = [leaf for leaf in numeric if leaf.required]
    if len(stems) != 1 or len(required) != len(series):
        return
    for leaf, piece in zip(series, pieces, strict=True):
        yield from _claim(leaf, piece, reading, CLEAR)


def _stem_of_series(leaf: Leaf) -> str:
    match = _SERIES.fullmatch(leaf.name)
    return match.group(1) if match else leaf.name


def _only_one(leaves: Sequence[Leaf], pieces: Sequence[Piece], reading: Reading) -> Iterator[Claim]:
    """The only number of the text for the only number field that must be given."""
    required = [leaf for leaf in leaves if leaf.required and is_numeric(leaf)]
    if len(required) != 1 or len(pieces) != 1:
        return
    leaf, piece = required[0], pieces[0]
    numeral: Numeral = piece.value
    open_forms = numeral.looks_like_year or (numeral.spelled and numeral.value == 1)
    fitting = _unit_fit(leaf, numeral)
    if fitting < 0 or (numeral.unit and fitting == 0):
        return
    if not open_forms and not leaf.speaks_of("year"):
        yield from _claim(leaf, piece, reading, WEAK)


def left_over_number(
    unsettled: Sequence[Leaf], claimed: Sequence[Claim], reading: Reading
) -> Iterator[Claim]:
    """The one number nobody claimed, for the one number field that still needs one."""
    spans = [span for claim in claimed if not claim.shared for span in claim.spans]
    pieces = [
        piece
        for piece in reading.of_kind("number")
        if not reading.around(piece).negated and not any(piece.overlaps(*span) for span in spans)
    ]
    yield from _only_one(unsettled, pieces, reading)
