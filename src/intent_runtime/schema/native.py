"""Native validation of one projection: compiled once, run in place or in a child process.

Runs in both: nothing here needs more than the standard library and the native validator, so that
a child starts fast.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from typing import Any, Final, NamedTuple

from intent_runtime.pointer import Location, render
from intent_runtime.schema.descriptions import Plan, undescribed
from intent_runtime.schema.patterns import rewrite
from intent_runtime.schema.weights import (
    IN_PLACE_NS,
    LISTED_IN_PLACE,
    PATTERN_SIZES,
    Shape,
    weigh,
)
from intent_runtime.text import name_list, preview, shorten

MAX_MISMATCHES: Final = 64
_MAX_ALLOWED: Final = 200
# The child is killed in time, so backtracking needs no bound of its own; the engine would take
# running into one for "does not match", which turns around under `not`.
_NO_BACKTRACK_LIMIT: Final = 2**63 - 1
# Compiled bytes of one pattern; reached by nested counted repeats, refused in a tenth of a second.
PATTERN_SIZE_LIMIT: Final = 32 * 2**20
_ANNOTATIONS: Final = frozenset({"title", "description", "examples", "default", "$comment"})
_URL = re.compile(
    r"(?:https?|ftp)://(?:[^/?#@\[\]]*@)?(?:\[[^\]]+\]|[^/?#@:\[\]]+)(?::[0-9]*)?(?:[/?#]|$)",
    re.IGNORECASE | re.ASCII,
)


class Mismatch(NamedTuple):
    """One place where a value does not fit its schema; the members of a `Finding`."""

    path: str
    rule: str
    found: str | None
    allowed: str | None


class Report(NamedTuple):
    """The outcome of one native validation.

    `undescribed` are the paths of returned nodes whose description check is missing, as many as
    are listed; `undescribed_count` counts them all. `exhausted` says that a pattern could not be
    run to its end, which decides nothing about the value.
    """

    valid: bool
    mismatches: tuple[Mismatch, ...] = ()
    undescribed: tuple[str, ...] = ()
    undescribed_count: int = 0
    exhausted: bool = False


class NativeSchema:
    """A projection as the native validator sees it."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        patterns = {text: rewrite(text) for text in _patterns(schema)}
        self._linear = all(pattern.linear for pattern in patterns.values())
        self._rewritten = {text: pattern.text for text, pattern in patterns.items()}
        costs = {
            text: _linear_cost(pattern.text) if pattern.linear else None
            for text, pattern in patterns.items()
        }
        self._weight = weigh(schema, costs)

    def runs_in_place(self, shape: Shape) -> bool:
        """Whether checking a value of this shape is bounded by a few milliseconds."""
        bound = self._weight.nanoseconds(shape)
        return bound is not None and bound <= IN_PLACE_NS

    def lists_in_place(self, shape: Shape) -> bool:
        """Whether listing every mismatch is bounded as well."""
        work = self._weight.checks + self._weight.table
        return self.runs_in_place(shape) and work * shape.nodes <= LISTED_IN_PLACE

    @cached_property
    def _validator(self) -> Any:
        return self.compile(self.schema)

    @cached_property
    def plan(self) -> Plan | None:
        """Where description checks can be due, or None when nowhere."""
        return Plan.of(self.schema, self.compile)

    def compile(self, schema: Any) -> Any:
        """A validator for this schema or a part of it."""
        import jsonschema_rs  # noqa: PLC0415 - loaded when a schema is first used

        options = (
            jsonschema_rs.RegexOptions(size_limit=PATTERN_SIZE_LIMIT)
            if self._linear
            else jsonschema_rs.FancyRegexOptions(
                backtrack_limit=_NO_BACKTRACK_LIMIT, size_limit=PATTERN_SIZE_LIMIT
            )
        )
        return jsonschema_rs.Draft7Validator(
            _for_validation(schema, self._rewritten),
            formats=_format_checkers(),
            validate_formats=True,
            ignore_unknown_formats=False,
            mask="value",
            pattern_options=options,
            offline=True,
        )

    def is_valid(self, data: Any) -> bool:
        """Whether `data` fits; stops at the first mismatch."""
        return self._validator.is_valid(data)

    def missing_checks(self, data: Any, checked: set[Location]) -> tuple[tuple[str, ...], int]:
        """Paths (bounded) and number of nodes whose description check is missing."""
        return ((), 0) if self.plan is None else undescribed(data, self.plan, checked)

    def mismatches(self, data: Any) -> tuple[tuple[Mismatch, ...], bool]:
        """Every mismatch up to a bound, and whether a pattern could not be run to its end."""
        listed: list[Mismatch] = []
        shown: dict[tuple[str | int, ...], str] = {}
        exhausted = False
        for error in self._validator.iter_errors(data):
            if type(error.kind).__name__ in ("BacktrackLimitExceeded", "RegexEngineFailure"):
                exhausted = True
            elif len(listed) < MAX_MISMATCHES and not _settled_elsewhere(error):
                listed.append(_mismatch(error, self.schema, data, shown))
        return tuple(listed), exhausted

    def report(self, data: Any, checked: set[Location]) -> Report:
        """Everything about one value; `checked` are the nodes with a description check."""
        undescribed_paths, count = self.missing_checks(data, checked)
        if self.is_valid(data):
            return Report(True, (), undescribed_paths, count)
        mismatches, exhausted = self.mismatches(data)
        return Report(False, mismatches, undescribed_paths, count, exhausted)


def check_pattern(pattern: str) -> None:
    """Raise ValueError when the engine cannot compile an accepted pattern."""
    rewritten = rewrite(pattern)
    if not _compiles(rewritten.text, linear=rewritten.linear):
        raise ValueError("the engine cannot compile it")


def _settled_elsewhere(error: Any) -> bool:
    """Missing or foreign top-level fields: the checks of names and conclusions report them."""
    return not error.instance_path and error.schema_path in (
        ["required"],
        ["additionalProperties"],
    )


def _mismatch(
    error: Any, schema: Any, data: Any, shown: dict[tuple[str | int, ...], str]
) -> Mismatch:
    """One error of the validator; `shown` keeps what each keyword allows, which may be long."""
    kind = type(error.kind).__name__
    place = tuple(error.schema_path)
    found = preview(_at(data, error.instance_path))
    path = "/data" + render(error.instance_path)
    if kind == "FalseSchema" and place[-1:] != ("additionalProperties",):
        return Mismatch(path, "must not be there: its schema is false", found, "no value")
    keyword = str(place[-1])
    if kind == "Required":
        allowed = f"also the member {preview(error.kind.property)}"
    elif keyword == "additionalProperties":
        members: Any = _at(data, error.instance_path)
        found = f"the member(s) {name_list(getattr(error.kind, 'unexpected', list(members)))}"
        allowed = "no members but those of the schema"
    else:
        if place not in shown:
            wanted = json.dumps(_at(schema, place), ensure_ascii=False)
            shown[place] = shorten(f"{keyword}: {wanted}", _MAX_ALLOWED)
        allowed = shown[place]
    return Mismatch(path, f'must satisfy "{keyword}" of selectedSchema', found, allowed)


def _at(root: Any, path: Iterable[str | int]) -> Any:
    for key in path:
        try:
            root = root[key]
        except (KeyError, IndexError, TypeError):
            return None
    return root


def _patterns(schema: Any) -> set[str]:
    return {node["pattern"] for node in schema_nodes(schema) if "pattern" in node}


def schema_nodes(schema: Any) -> list[dict[str, Any]]:
    """Every object schema of a snapshot, the root first."""
    nodes: list[dict[str, Any]] = []
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            nodes.append(node)
            stack.extend(subschemas(node).values())
    return nodes


def subschemas(node: dict[str, Any]) -> dict[tuple[str, ...], Any]:
    """The schemas directly inside an object schema, by the path to each."""
    inner: dict[tuple[str, ...], Any] = {
        ("properties", name): child for name, child in node.get("properties", {}).items()
    }
    for key in ("items", "additionalProperties", "not"):
        if key in node:
            inner[(key,)] = node[key]
    for key in ("allOf", "anyOf", "oneOf"):
        for index, branch in enumerate(node.get(key, ())):
            inner[(key, str(index))] = branch
    return inner


def _for_validation(schema: Any, patterns: dict[str, str]) -> Any:
    """A schema without annotations, its patterns as the engine reads them."""
    if not isinstance(schema, dict):
        return schema
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _ANNOTATIONS or key == "$schema":
            continue
        if key == "pattern":
            plain[key] = patterns[value]
        elif key == "properties":
            plain[key] = {name: _for_validation(child, patterns) for name, child in value.items()}
        elif key in ("items", "additionalProperties", "not"):
            plain[key] = _for_validation(value, patterns)
        elif key in ("allOf", "anyOf", "oneOf"):
            plain[key] = [_for_validation(branch, patterns) for branch in value]
        else:
            plain[key] = value
    return plain


@lru_cache(maxsize=1024)
def _linear_cost(pattern: str) -> int | None:
    """Worst nanoseconds a byte in the linear engine, or None when its size has no bound here."""
    for size, cost in PATTERN_SIZES:
        if _compiles(pattern, linear=True, size=size):
            return cost
    return None


def _compiles(pattern: str, *, linear: bool, size: int = PATTERN_SIZE_LIMIT) -> bool:
    import jsonschema_rs  # noqa: PLC0415 - loaded when a schema is first used

    options = jsonschema_rs.RegexOptions if linear else jsonschema_rs.FancyRegexOptions
    try:
        jsonschema_rs.Draft7Validator(
            {"pattern": pattern}, pattern_options=options(size_limit=size)
        )
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True


@cache
def _format_checkers() -> dict[str, Any]:
    """Formats that the validator does not assert under Draft-7."""
    import jsonschema_rs  # noqa: PLC0415 - loaded when a schema is first used

    def later_draft(name: str) -> Any:
        schema = {"format": name}
        return jsonschema_rs.Draft201909Validator(schema, validate_formats=True).is_valid

    is_uri = jsonschema_rs.Draft7Validator({"format": "uri"}, validate_formats=True).is_valid

    def is_url(text: str) -> bool:
        return _URL.match(text) is not None and is_uri(text)

    return {"uuid": later_draft("uuid"), "duration": later_draft("duration"), "url": is_url}
