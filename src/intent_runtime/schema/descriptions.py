"""Which returned nodes need a description check (contract section 8.3).

A plan holds only the parts of a schema that lead to a description; walking it beside a value
yields the nodes that are described and were returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from intent_runtime.pointer import Location, Trail, render_trail
from intent_runtime.text import is_blank

MAX_LISTED: Final = 64


class Plan(NamedTuple):
    """One schema node on the way to a description.

    `choices` are the `anyOf` and `oneOf` branches, each with the validator that tells whether
    a value satisfies it; `known` are the names that `additional` does not apply to.
    """

    described: bool
    properties: dict[str, Plan]
    known: frozenset[str]
    additional: Plan | None
    items: Plan | None
    always: tuple[Plan, ...]
    choices: tuple[tuple[Any, Plan], ...]

    @classmethod
    def of(cls, schema: Any, compiled: Callable[[Any], Any]) -> Plan | None:
        """The plan for a schema, or None when nothing in it is described."""
        if not isinstance(schema, dict):
            return None
        properties = schema.get("properties", {})
        inner = {name: cls.of(child, compiled) for name, child in properties.items()}
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        choices = [(branch, cls.of(branch, compiled)) for branch in branches]
        always = [cls.of(branch, compiled) for branch in schema.get("allOf", ())]
        plan = cls(
            described=not is_blank(schema.get("description", "")),
            properties={name: plan for name, plan in inner.items() if plan is not None},
            known=frozenset(properties),
            additional=cls.of(schema.get("additionalProperties"), compiled),
            items=cls.of(schema.get("items"), compiled),
            always=tuple(plan for plan in always if plan is not None),
            choices=tuple((compiled(branch), plan) for branch, plan in choices if plan is not None),
        )
        return plan if plan.leads_somewhere else None

    @property
    def leads_somewhere(self) -> bool:
        """Whether a description can be reached from here."""
        return bool(
            self.described
            or self.properties
            or self.additional
            or self.items
            or self.always
            or self.choices
        )


def undescribed(
    data: dict[str, Any], plan: Plan, checked: set[Location]
) -> tuple[tuple[str, ...], int]:
    """Paths (bounded) and number of described nodes of `data` without a check.

    The root itself is left out: its description stands in the whole schema, not the projection.
    """
    seen: set[Location] = set()
    paths: list[str] = []
    for location, trail in _described(data, plan, None, None):
        if location in checked or location in seen:
            continue
        seen.add(location)
        if len(paths) < MAX_LISTED:
            paths.append("/data" + render_trail(trail))
    return tuple(paths), len(seen)


def _described(
    value: Any, plan: Plan, location: Location | None, trail: Trail
) -> Iterator[tuple[Location, Trail]]:
    """The node at `location` if it is described, and the described nodes below it."""
    if plan.described and location is not None:
        yield location, trail
    if isinstance(value, dict):
        for name, member in value.items():
            child = plan.properties.get(name)
            if child is None and name not in plan.known:
                child = plan.additional
            if child is not None:
                yield from _described(member, child, (id(value), name), (trail, name))
    elif isinstance(value, list) and plan.items is not None:
        for index, item in enumerate(value):
            yield from _described(item, plan.items, (id(value), index), (trail, index))
    for branch in plan.always:
        yield from _described(value, branch, location, trail)
    for validator, branch in plan.choices:
        if validator.is_valid(value):
            yield from _described(value, branch, location, trail)
