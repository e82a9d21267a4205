"""Strict JSON (contract section 8.1): one RFC 8259 object and nothing else.

The fast way is the native decoder and one level-order walk. The decoder keeps the last of
doubled keys and knows no limits, so a text that it refuses, or that may hold a doubled key, is
looked at again: `json_scan` says what comes first, the standard library finds doubled keys.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple, cast

import msgspec

from intent_runtime.candidate.findings import Finding, LimitExcess
from intent_runtime.candidate.json_scan import first_fault
from intent_runtime.candidate.numbers import exact_number
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.pointer import Trail, render_trail
from intent_runtime.text import preview
from intent_runtime.values import MAX_SAFE_INTEGER, IntentLimits

# The native decoder and validator recurse; deeper values are refused whatever the limits say.
DEPTH_CEILING: Final = 128

# The colon of a key follows its quote or white space; such pairs inside strings only add.
_KEY_ENDS: Final = ('":', " :", "\n:", "\t:", "\r:")


class _RefusedNumber:
    """Stands in the decoded value where a number token was refused."""


_REFUSED: Final = _RefusedNumber()


def _float_hook(token: str) -> Any:
    value = exact_number(token)
    return _REFUSED if value is None else value


_DECODER: Final = msgspec.json.Decoder(float_hook=_float_hook)


class _Measure(NamedTuple):
    keys: int
    numbers_hold: bool


def read_candidate(text: str, limits: IntentLimits) -> JsonObject | Finding | LimitExcess:
    """The object that `text` holds, or the first reason to refuse it.

    Size is the caller's to check. Linear in the text, whatever it holds.
    """
    depth = min(limits.max_candidate_depth, DEPTH_CEILING)
    nodes = limits.max_candidate_nodes
    try:
        value: Json = _DECODER.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return _explain(text, depth, nodes)
    measured = _measure(value, depth, nodes)
    if isinstance(measured, LimitExcess):
        return measured
    if text.count(":") != measured.keys and sum(map(text.count, _KEY_ENDS)) != measured.keys:
        doubled = _doubled_key(text)
        if doubled is not None:
            fault = _explain(text, depth, nodes)
            return fault if isinstance(fault, LimitExcess) else doubled
    if not measured.numbers_hold:
        return _number_finding(value)
    if not isinstance(value, dict):
        return Finding("", "must be one JSON object", found=preview(value), allowed="{...}")
    return value


def _measure(root: Json, max_depth: int, max_nodes: int) -> _Measure | LimitExcess:
    """Count depth, nodes and keys, and look at every number, level by level."""
    if not isinstance(root, (dict, list)):
        return _Measure(0, _holds(root))
    level: list[Any] = [root]
    depth = keys = 0
    nodes = 1
    holds = True
    while level:
        depth += 1
        if depth > max_depth:
            return _too_deep(max_depth)
        children: list[Any] = []
        for container in level:
            if type(container) is dict:
                keys += len(container)
                children += container.values()
            else:
                children += container
        nodes += len(children)
        if nodes > max_nodes:
            return _too_many(max_nodes)
        level = []
        for child in children:
            kind = type(child)
            if kind is str:
                continue
            if kind is dict or kind is list:
                level.append(child)
            elif not _holds(child):
                holds = False
    return _Measure(keys, holds)


def _holds(scalar: object) -> bool:
    if type(scalar) is int:
        return -MAX_SAFE_INTEGER <= scalar <= MAX_SAFE_INTEGER
    return scalar is not _REFUSED


def _too_deep(limit: int) -> LimitExcess:
    return LimitExcess(f"The candidate is nested deeper than maxCandidateDepth ({limit}).")


def _too_many(limit: int) -> LimitExcess:
    return LimitExcess(f"The candidate holds more values than maxCandidateNodes ({limit}).")


def _explain(text: str, depth: int, nodes: int) -> Finding | LimitExcess:
    """What is wrong with a text that the decoder refused."""
    fault = first_fault(text, depth, nodes)
    if fault is None:
        # Well-formed and within the limits: what remains is an integer beyond all bounds, or
        # a caller so deep in its own stack that the decoder had no room for ours.
        return Finding("", _NUMBER_RULE)
    if fault.limit == "depth":
        return _too_deep(depth)
    if fault.limit == "nodes":
        return _too_many(nodes)
    before = text[: fault.offset]
    line = before.count("\n") + 1
    column = fault.offset - (before.rfind("\n") + 1) + 1
    found = text[fault.offset : fault.offset + 20]
    return Finding(
        "",
        "must be strict JSON (RFC 8259): no comments, trailing commas, fences or other text",
        found=f"{preview(found) if found else 'the end'} at line {line}, column {column}",
        allowed=fault.expected,
    )


class _DoubledKeyError(Exception):
    pass


def _doubled_key(text: str) -> Finding | None:
    """The finding for a key that stands twice in one object of a well-formed text."""
    found: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> None:
        names = {name for name, _ in pairs}
        if len(names) != len(pairs):
            seen: set[str] = set()
            found.extend(name for name, _ in pairs if name in seen or seen.add(name))
            raise _DoubledKeyError

    try:
        json.loads(text, object_pairs_hook=unique, parse_int=len, parse_float=len)
    except (_DoubledKeyError, RecursionError):
        return Finding(
            "",
            "must not repeat a key within one object",
            found=f"key {preview(found[0])} twice" if found else "a key twice",
            allowed="each key once",
        )
    return None


_NUMBER_RULE: Final = (
    "must hold only numbers that a double carries exactly: integers within ±(2^53-1), "
    "no more than 17 significant digits"
)


def _number_finding(root: Json) -> Finding:
    """Where the first refused number stands."""
    stack: list[tuple[Any, Trail]] = [(root, None)]
    while stack:
        value, trail = stack.pop()
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value).items()
            stack.extend((child, (trail, name)) for name, child in members)
        elif isinstance(value, list):
            items = enumerate(cast("list[Any]", value))
            stack.extend((child, (trail, index)) for index, child in items)
        elif not _holds(value):
            return Finding(render_trail(trail), _NUMBER_RULE)
    return Finding("", _NUMBER_RULE)
