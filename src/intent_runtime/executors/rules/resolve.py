"""Chooses among claims: the best fit first, never one of several equally good values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from intent_runtime.executors.rules.claims import Claim
from intent_runtime.executors.rules.constraints import same
from intent_runtime.executors.rules.schema_view import Path

MAX_CLAIMS_EACH: Final = 8
_MARGIN: Final = 0.6


@dataclass
class Choice:
    """The claim settled on for each path, and the paths with several equally good ones."""

    chosen: dict[Path, Claim] = field(default_factory=dict[Path, Claim])
    ambiguous: set[Path] = field(default_factory=set[Path])


def choose(claims: Iterable[Claim]) -> Choice:
    """Settle claims by falling score.

    A claim with an equal rival waits: the rival's words may still be taken by a field they fit
    better. What waits to the end is ambiguous.
    """
    choice = Choice()
    waiting = _best_of_each_leaf(claims)
    taken: list[Claim] = []
    progress = True
    while waiting and progress:
        progress = False
        waiting = [claim for claim in waiting if _open(claim, choice, taken)]
        for claim in waiting:
            if not _open(claim, choice, taken) or _rivalled(claim, waiting, choice, taken):
                continue
            choice.chosen[claim.leaf.path] = claim
            taken.append(claim)
            progress = True
    choice.ambiguous.update(claim.leaf.path for claim in waiting)
    return choice


def _best_of_each_leaf(claims: Iterable[Claim]) -> list[Claim]:
    """By falling score. Past a few claims for one leaf, more could only add to its ambiguity."""
    kept: list[Claim] = []
    counts: dict[Path, int] = {}
    for claim in sorted(claims, key=lambda each: -each.score):
        counts[claim.leaf.path] = counts.get(claim.leaf.path, 0) + 1
        if counts[claim.leaf.path] <= MAX_CLAIMS_EACH:
            kept.append(claim)
    return kept


def _open(claim: Claim, choice: Choice, taken: list[Claim]) -> bool:
    if claim.leaf.path in choice.chosen:
        return False
    return claim.shared or not any(_overlap(claim, other) for other in taken if not other.shared)


def _rivalled(claim: Claim, waiting: list[Claim], choice: Choice, taken: list[Claim]) -> bool:
    if claim.rivals:
        return True
    for other in waiting:
        if other is claim or other.score < claim.score - _MARGIN:
            continue
        same_leaf = other.leaf.path == claim.leaf.path
        if same_leaf and same(other.value, claim.value):
            continue
        contested = same_leaf or (not claim.shared and not other.shared and _overlap(claim, other))
        if contested and _open(other, choice, taken):
            return True
    return False


def _overlap(one: Claim, other: Claim) -> bool:
    if one.material is not other.material:
        return False
    return any(
        start < other_end and other_start < end
        for start, end in one.spans
        for other_start, other_end in other.spans
    )
