"""Dates and times for string fields, in the written form the schema asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent_runtime.executors.rules import dates
from intent_runtime.executors.rules.claims import (
    CLEAR,
    Claim,
    Reading,
    direction_fit,
    label_score,
    text_claim,
)
from intent_runtime.executors.rules.pieces import Piece
from intent_runtime.executors.rules.schema_view import Leaf

_FORMATS = {"date": "yyyy-mm-dd", "date-time": "yyyy-mm-ddthh:mm:ssz"}


def date_claims(leaf: Leaf, members: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    """Claims for a date, or a date with its time; `members` are all dates of the schema."""
    pieces = reading.of_kind("date")
    alone = len(pieces) == 1 and len([each for each in members if each.required]) <= 1
    for piece in pieces:
        surroundings = reading.around(piece)
        rendered = _rendered(leaf, piece, reading)
        if rendered is None or surroundings.negated:
            continue
        score = label_score(leaf, surroundings) + direction_fit(leaf, surroundings)
        value, end = rendered
        yield from text_claim(
            leaf, reading, value, (piece.start, end), score + (CLEAR if alone else 0.5)
        )


def time_claims(leaf: Leaf, members: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    """Claims for a time of day; `members` are all times of the schema."""
    pieces = reading.of_kind("time")
    alone = len(pieces) == 1 and len(members) == 1
    for piece in pieces:
        moment: dates.Moment = piece.value
        surroundings = reading.around(piece)
        if dates.described_format(leaf.described) is not None or surroundings.negated:
            continue
        score = label_score(leaf, surroundings) + direction_fit(leaf, surroundings)
        value = reading.material.text[piece.start : piece.end]
        if dates.wants_clock(leaf.described) and moment.clock is not None:
            value = f"{moment.clock[0]:02}:{moment.clock[1]:02}"
        yield from text_claim(
            leaf, reading, value, (piece.start, piece.end), score + (CLEAR if alone else 0.5)
        )


def _rendered(leaf: Leaf, piece: Piece, reading: Reading) -> tuple[str, int] | None:
    """The date as the schema wants it, with the end of its quote."""
    moment: dates.Moment = piece.value
    if not moment.readings:
        return None
    moment = _with_clock(moment, reading)
    written = _FORMATS.get(leaf.schema.get("format", "")) or dates.described_format(leaf.described)
    if written is None:
        return reading.material.text[piece.start : piece.end], piece.end
    value = dates.render(moment, written)
    return None if value is None else (value, moment.end)


def _with_clock(moment: dates.Moment, reading: Reading) -> dates.Moment:
    """`November 1, 2023 at 4pm` is one moment."""
    if moment.clock is not None:
        return moment
    for piece in reading.of_kind("time"):
        between = reading.material.lower[moment.end : piece.start]
        if moment.end <= piece.start and between.strip(" ,") in ("", "at", "t"):
            return dates.joined(moment, piece.value)
    return moment
