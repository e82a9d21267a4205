"""Lists of scalars: bracketed or quoted enumerations, and every choice that is mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from intent_runtime.executors.rules.choice_fields import mentions
from intent_runtime.executors.rules.claims import (
    CERTAIN,
    CLEAR,
    WEAK,
    Claim,
    Reading,
    Span,
    label_score,
    labelled_segments,
)
from intent_runtime.executors.rules.constraints import allows
from intent_runtime.executors.rules.number_fields import as_value
from intent_runtime.executors.rules.pieces import Piece
from intent_runtime.executors.rules.schema_view import Leaf, choices_of, kind_of
from intent_runtime.executors.rules.text import trimmed_span

MAX_ITEMS: Final = 64
_LINKED_FORMATS: Final = {"email": "email", "url": "url", "uri": "url", "ipv4": "ip"}
_LIST_SEGMENT = re.compile(r"\s{0,3}[:=：]\s{0,3}([^\n;；。.'\"“‘「\[(]{1,400})(?![\[('\"“‘「])")
_BETWEEN = re.compile(r"[,，、]\s?(?:and\s|or\s)?|\sand\s|[和与]")
_GAP = re.compile(
    r"['\"”’」`]?(?:\s?[,，、;]\s?(?:and\s|or\s)?|\sand\s|\s?[和与及跟]\s?)['\"“‘「`]?"
)


def list_claims(leaves: list[Leaf], reading: Reading) -> Iterator[Claim]:
    """Claims for lists of scalars; lists of objects are beyond these rules."""
    lists = [leaf for leaf in leaves if leaf.kind == "array"]
    for leaf in lists:
        if choices_of(leaf.item_schema):
            yield from _chosen(leaf, reading)
            continue
        yield from _linked(leaf, reading)
        yield from _labelled(leaf, reading)
        yield from _enumerated(leaf, lists, reading)


def _chosen(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    found = sorted(
        mentions(leaf, choices_of(leaf.item_schema), reading), key=lambda mention: mention[1]
    )
    first: dict[Any, Span] = {}
    for value, span, _ in found:
        first.setdefault(value, span)
    if first:
        yield from _claim(leaf, reading, list(first), list(first.values()), CLEAR, shared=True)


def _linked(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    """Every address of the kind that the items' format asks for."""
    kind = _LINKED_FORMATS.get(leaf.item_schema.get("format", ""))
    pieces = [piece for piece in reading.pieces if piece.kind == kind]
    if pieces and not any(reading.around(piece).negated for piece in pieces):
        values = [piece.value for piece in pieces]
        spans = [(piece.start, piece.end) for piece in pieces]
        yield from _claim(leaf, reading, values, spans, CLEAR)


def _labelled(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    """`tags: urgent, billing`."""
    if kind_of(leaf.item_schema) != "string" or "format" in leaf.item_schema:
        return
    text = reading.material.text
    for start, stop in labelled_segments(leaf, reading, _LIST_SEGMENT):
        spans = [span for span in _members(text, start, stop) if span[1] > span[0]]
        values = [text[first:last] for first, last in spans]
        yield from _claim(leaf, reading, values, spans, CERTAIN)


def _members(text: str, start: int, stop: int) -> Iterator[Span]:
    position = start
    for match in _BETWEEN.finditer(text, start, stop):
        yield trimmed_span(text, position, match.start())
        position = match.end()
    yield trimmed_span(text, position, stop)


def _enumerated(leaf: Leaf, lists: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    """Runs of like pieces with nothing but commas and `and` between them."""
    kind = kind_of(leaf.item_schema)
    if kind == "string":
        quoted, named = reading.of_kind("quoted"), reading.of_kind("name")
        runs = [*_runs(quoted, reading), *_runs(named, reading)]
    elif kind in ("integer", "number"):
        runs = _runs(reading.of_kind("number"), reading)
    else:
        return
    alone = len(lists) == 1 and len(runs) == 1
    for run in runs:
        score = label_score(leaf, reading.around(run[0])) + (WEAK if alone else 0.0)
        values = [_item(leaf, piece, reading) for piece in run]
        if score >= WEAK and None not in values:
            spans = [(piece.start, piece.end) for piece in run]
            yield from _claim(leaf, reading, values, spans, score)


def _item(leaf: Leaf, piece: Piece, reading: Reading) -> str | int | float | None:
    if piece.kind == "number":
        item = Leaf(leaf.path, leaf.item_schema, leaf.required, leaf.described)
        return as_value(item, piece.value)
    return reading.material.text[piece.start : piece.end]


def _runs(pieces: Sequence[Piece], reading: Reading) -> list[list[Piece]]:
    runs: list[list[Piece]] = []
    for piece in pieces:
        if runs and _GAP.fullmatch(reading.material.text, runs[-1][-1].end, piece.start):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return [run for run in runs if len(run) > 1]


def _claim(
    leaf: Leaf,
    reading: Reading,
    values: list[Any],
    spans: list[Span],
    score: float,
    *,
    shared: bool = False,
) -> Iterator[Claim]:
    if len(values) <= MAX_ITEMS and allows(leaf.schema, values):
        yield Claim(leaf, reading.material, values, tuple(spans), score, shared)
