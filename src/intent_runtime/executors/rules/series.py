"""Values in a row: `order 000123 or 000124` states two, and a field that holds one has to ask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final

from intent_runtime.executors.rules.claims import Claim, Reading, Span
from intent_runtime.executors.rules.pieces import Piece

_JOINT: Final = re.compile(
    r"\s*(?:[,，、/]|[,，]?\s*(?:or|and|and/or)(?=\s)|[,，]?\s*(?:或者?|以及|还是|和|与|及))\s*",
    re.IGNORECASE,
)
# A place within a place, and the parts of a date, are written with a comma as well.
_NAMED_JOINT: Final = re.compile(
    r"\s*(?:、|[,，]?\s*(?:or|and|and/or)(?=\s)|或者?|以及|还是|和|与|及)\s*", re.IGNORECASE
)
_OPENED: Final = re.compile(r"\bbetween\b|从|在|介于", re.IGNORECASE)
_LOOK_BACK: Final = 24


def with_rivals(claims: Iterable[Claim], reading: Reading) -> Iterator[Claim]:
    """The claims, those on one value of a row knowing its neighbours that no other field claims."""
    found = list(claims)
    neighbours = _neighbours(reading)
    for claim in found:
        if claim.shared or claim.leaf.kind == "array" or len(claim.spans) != 1:
            yield claim
            continue
        others = [each for each in found if each.leaf.path != claim.leaf.path]
        rivals = tuple(
            span
            for span in neighbours.get(claim.spans[0], ())
            if not any(_touches(each, span) for each in others)
        )
        yield replace(claim, rivals=rivals) if rivals else claim


def _neighbours(reading: Reading) -> dict[Span, list[Span]]:
    found: dict[Span, list[Span]] = {}
    for one, other in pairwise(reading.pieces):
        if _joined(one, other, reading):
            found.setdefault((one.start, one.end), []).append((other.start, other.end))
            found.setdefault((other.start, other.end), []).append((one.start, one.end))
    return found


def _joined(one: Piece, other: Piece, reading: Reading) -> bool:
    if one.kind != other.kind or one.end > other.start or (one.unit and not other.unit):
        return False
    text = reading.material.text
    joint = _NAMED_JOINT if one.kind in ("name", "date") else _JOINT
    if joint.fullmatch(text, one.end, other.start) is None:
        return False
    return _OPENED.search(text, max(0, one.start - _LOOK_BACK), one.start) is None


def _touches(claim: Claim, span: Span) -> bool:
    return any(start < span[1] and span[0] < end for start, end in claim.spans)
