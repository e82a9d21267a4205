"""What a validation can cost at most, from numbers fixed when the schema was compiled.

The native validator cannot be interrupted. A schema is weighed once: how many of its nodes can
meet one place of a value, how large their property tables and patterns are. With the counts of a
value that bounds the work, and only bounded work runs in place. The factors are measured upper
bounds on CPython 3.11, two shared cores at 2.6 GHz (docs/benchmarks.md).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

_CHECK_NS: Final = 35
_TABLE_NS: Final = 10
_STRING_NS: Final = 4
# A format whose check goes through Python, in units of a check.
_PYTHON_FORMATS: Final = {"uuid": 12, "duration": 12, "url": 24}
# `regex` parses the string as a pattern.
_REGEX_FORMAT_STRINGS: Final = 12
_UNIQUE_CHECKS: Final = 6
# Division by a fraction is done in exact arithmetic, whose cost grows with the exponents.
_FRACTION_CHECKS: Final = 80
_SMALLEST_DIVISOR: Final = 1e-9
# Bounds beyond 64 bits compare as arbitrary-precision numbers.
_LARGEST_BOUND: Final = 2**63
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
# Looking for due description checks is Python, node by node.
_DESCRIBED_CHECKS: Final = 24

IN_PLACE_NS: Final = 5_000_000
# Listing every mismatch costs far more than finding one; beyond this it needs the child as well.
LISTED_IN_PLACE: Final = 2_000

# Worst nanoseconds a byte of the linear engine for patterns compiled within so many bytes.
PATTERN_SIZES: Final = ((1_024, 5), (4_096, 800), (16_384, 2_500), (65_536, 8_000))


class Shape(NamedTuple):
    """What is counted of a value: all its JSON values, the objects, the bytes of its strings."""

    nodes: int
    objects: int
    string_bytes: int


class Weight(NamedTuple):
    """An upper bound for one place of a value; `unbounded` means it must not run in place."""

    checks: int = 0
    table: int = 0
    strings: int = 0
    pattern_ns: int = 0
    unbounded: bool = False

    def plus(self, other: Weight) -> Weight:
        """Both meet the same place."""
        return Weight(
            self.checks + other.checks,
            self.table + other.table,
            self.strings + other.strings,
            self.pattern_ns + other.pattern_ns,
            self.unbounded or other.unbounded,
        )

    def most(self, other: Weight) -> Weight:
        """One or the other meets a place."""
        return Weight(
            max(self.checks, other.checks),
            max(self.table, other.table),
            max(self.strings, other.strings),
            max(self.pattern_ns, other.pattern_ns),
            self.unbounded or other.unbounded,
        )

    def nanoseconds(self, shape: Shape) -> int | None:
        """The most that checking a value of this shape can take, or None when nothing bounds it."""
        if self.unbounded:
            return None
        return (
            _CHECK_NS * self.checks * shape.nodes
            + _TABLE_NS * self.table * shape.objects
            + (_STRING_NS * self.strings + self.pattern_ns) * shape.string_bytes
        )


def weigh(schema: Any, pattern_costs: dict[str, int | None]) -> Weight:
    """The weight of a schema; `pattern_costs` has the nanoseconds a byte of each pattern."""
    here, below = _weigh(schema, pattern_costs)
    return here.most(below)


def _weigh(schema: Any, costs: dict[str, int | None]) -> tuple[Weight, Weight]:
    """What meets the place of the value itself, and the most that meets a place below it."""
    if not isinstance(schema, dict):
        return Weight(checks=1), Weight()
    here = _own(schema, costs)
    below = Weight()
    for child in _children(schema):
        child_here, child_below = _weigh(child, costs)
        below = below.most(child_here).most(child_below)
    for branch in _branches(schema):
        branch_here, branch_below = _weigh(branch, costs)
        here = here.plus(branch_here)
        below = below.plus(branch_below)
    return here, below


def _own(schema: dict[str, Any], costs: dict[str, int | None]) -> Weight:
    checks = 1 + sum(count_values(schema[key]) for key in ("enum", "const") if key in schema)
    if schema.get("uniqueItems"):
        checks += _UNIQUE_CHECKS
    if schema.get("description"):
        checks += _DESCRIBED_CHECKS
    strings = ("minLength" in schema) + ("maxLength" in schema)
    form = schema.get("format")
    if form is not None:
        strings += _REGEX_FORMAT_STRINGS if form == "regex" else 1
        checks += _PYTHON_FORMATS.get(form, 0)
    cost = costs[schema["pattern"]] if "pattern" in schema else 0
    divisor = schema.get("multipleOf", 1)
    if isinstance(divisor, float):
        checks += _FRACTION_CHECKS
    exotic = divisor < _SMALLEST_DIVISOR or any(
        abs(schema[key]) >= _LARGEST_BOUND for key in _BOUNDS if key in schema
    )
    return Weight(
        checks=checks,
        table=len(schema.get("properties", ())) + len(schema.get("required", ())),
        strings=strings,
        pattern_ns=cost or 0,
        unbounded=cost is None or exotic,
    )


def _children(schema: dict[str, Any]) -> list[Any]:
    children = list(schema.get("properties", {}).values())
    children += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    return children


def _branches(schema: dict[str, Any]) -> list[Any]:
    branches = [branch for key in ("allOf", "anyOf", "oneOf") for branch in schema.get(key, ())]
    if "not" in schema:
        branches.append(schema["not"])
    return branches


def count_values(value: Any) -> int:
    """All JSON values in a value, itself included."""
    total = 0
    stack = [value]
    while stack:
        current = stack.pop()
        total += 1
        if isinstance(current, dict):
            stack.extend(current.values())
        elif isinstance(current, list):
            stack.extend(current)
    return total
