"""What a check yields: findings, bounded in number and size (contract sections 8.3 and 8.4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from intent_runtime.text import hidden_repr, shorten

MAX_FINDINGS: Final = 64
_MAX_PATH: Final = 256
_MAX_RULES_NAMED: Final = 3


class LimitExcess(msgspec.Struct, frozen=True):
    """A limit was exceeded; the message names it."""

    message: str


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One violation: where (a JSON Pointer into the candidate), the rule, what was found.

    `rule` is ours and may stand in messages; `path`, `found` and `allowed` may hold a model's or
    a user's words and stay inside the repair task.
    """

    path: str
    rule: str
    found: str | None = None
    allowed: str | None = None

    __repr__ = hidden_repr

    def to_dict(self) -> dict[str, str]:
        """The shape a repair task shows."""
        entry = {"path": self.path, "rule": self.rule}
        if self.found is not None:
            entry["found"] = self.found
        if self.allowed is not None:
            entry["allowed"] = self.allowed
        return entry


class Findings:
    """Collects findings up to a bound and counts the rest."""

    __slots__ = ("count", "kept")

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self.count = 0

    @property
    def full(self) -> bool:
        """Whether a further finding would only be counted; its details need no effort."""
        return self.count >= MAX_FINDINGS

    def add(
        self, path: str, rule: str, *, found: str | None = None, allowed: str | None = None
    ) -> None:
        """Record one violation."""
        self.count += 1
        if len(self.kept) < MAX_FINDINGS:
            self.kept.append(Finding(shorten(path, _MAX_PATH), rule, found, allowed))

    def extend(self, findings: Iterable[Finding]) -> None:
        """Record violations found elsewhere."""
        for finding in findings:
            self.add(finding.path, finding.rule, found=finding.found, allowed=finding.allowed)

    def diagnostic(self) -> dict[str, Any]:
        """What a repair task says about the previous candidate."""
        return {
            "violations": [finding.to_dict() for finding in self.kept],
            "notListed": self.count - len(self.kept),
        }

    def message(self) -> str:
        """A sentence for the error: rules only, none of the candidate's own text."""
        rules = list(dict.fromkeys(finding.rule for finding in self.kept))
        named = "; ".join(rules[:_MAX_RULES_NAMED])
        more = (
            f"; and {len(rules) - _MAX_RULES_NAMED} more" if len(rules) > _MAX_RULES_NAMED else ""
        )
        return f"The candidate breaks {self.count} rule(s): {named}{more}."
