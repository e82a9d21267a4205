"""The data candidate (contract section 8.3): facts the request states, each with its quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from intent_runtime.executors.rules.choice_fields import choice_claims, switch_claims
from intent_runtime.executors.rules.claims import CLEAR, Claim, Reading
from intent_runtime.executors.rules.list_fields import list_claims
from intent_runtime.executors.rules.material import sources_of
from intent_runtime.executors.rules.name_fields import left_over
from intent_runtime.executors.rules.number_fields import left_over_number, numeric_claims
from intent_runtime.executors.rules.report import Report
from intent_runtime.executors.rules.resolve import Choice, choose
from intent_runtime.executors.rules.schema_view import Leaf, as_schema, leaves, read
from intent_runtime.executors.rules.series import with_rivals
from intent_runtime.executors.rules.sorts import sort_of
from intent_runtime.executors.rules.text_fields import is_text, text_claims

_MAX_PAIRS: Final = 4000
_MAX_PIECES: Final = 600


def data_candidate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The data candidate for the payload's `selectedFields` and `selectedSchema`."""
    schema = as_schema(payload["selectedSchema"])
    required = frozenset(cast("list[str]", schema.get("required", [])))
    properties = as_schema(schema.get("properties"))
    nodes = {
        name: read((name,), properties[name], required=name in required)
        for name in cast("list[str]", payload["selectedFields"])
    }
    places = [leaf for node in nodes.values() if node is not None for leaf in leaves(node)]
    choice = _chosen(places, payload)
    report = Report(payload, properties, choice)
    for name, node in nodes.items():
        report.add(name, node, required=name in required)
    return report.candidate()


def _chosen(places: list[Leaf], payload: Mapping[str, Any]) -> Choice:
    """Facts of the current input first; the context only fills what the input leaves open."""
    current, context = sources_of(payload)
    limit = min(_MAX_PIECES, _MAX_PAIRS // max(1, len(places)))
    reading = Reading(current, limit)
    choice = choose(with_rivals(_claims(places, reading), reading))
    _settle_last(places, choice, reading)
    missing = [
        leaf
        for leaf in places
        if leaf.path not in choice.chosen and leaf.path not in choice.ambiguous
    ]
    if missing and context:
        claims = [
            claim
            for material in context
            for reading in (Reading(material, limit),)
            for claim in with_rivals(_claims(missing, reading), reading)
            if claim.score > CLEAR
        ]
        earlier = choose(claims)
        choice.chosen.update(earlier.chosen)
        choice.ambiguous.update(earlier.ambiguous)
    return choice


def _settle_last(places: list[Leaf], choice: Choice, reading: Reading) -> None:
    """What is left of the text for what is left of the required fields, if both are single."""
    unsettled = [leaf for leaf in places if leaf.path not in choice.chosen]
    claimed = list(choice.chosen.values())
    named = [leaf for leaf in unsettled if is_text(leaf) and sort_of(leaf) in ("entity", "free")]
    for claim in (
        *left_over_number(unsettled, claimed, reading),
        *left_over(named, unsettled, claimed, reading),
    ):
        choice.chosen[claim.leaf.path] = claim
        choice.ambiguous.discard(claim.leaf.path)


def _claims(places: list[Leaf], reading: Reading) -> Iterator[Claim]:
    for leaf in places:
        if leaf.kind == "boolean":
            yield from switch_claims(leaf, reading)
        elif leaf.kind in ("string", "integer", "number"):
            yield from choice_claims(leaf, reading)
    yield from numeric_claims(places, reading)
    yield from text_claims(places, reading)
    yield from list_claims(places, reading)
