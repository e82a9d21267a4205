"""JSON Schema spellings that both families of types share, and what they cannot be spelled as."""

from __future__ import annotations

import json
import re
from typing import Any, Final

DECIMAL_PATTERN: Final = (
    # A longer exponent would be a trap for whoever turns the number into an int.
    r"^[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$"
)
DECIMAL: Final[dict[str, Any]] = {
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": DECIMAL_PATTERN}]
}
# JSON objects and arrays become Python values that no set can hold.
SCALAR: Final[dict[str, Any]] = {"type": ["string", "number", "boolean", "null"]}

BYTES_REASON: Final = "bytes have no equal in JSON; use str"
TUPLE_REASON: Final = (
    "a tuple with positional types has no equal; use list, tuple[X, ...] or a nested model"
)
KEYS_REASON: Final = "the keys of a dict must be plain str"
SET_REASON: Final = "a set cannot hold members without a hash; use list"
NAIVE_REASON: Final = "a date-time or time without an offset has no equal; use an aware one"

# What ECMA-262 accepts as well, with another meaning; all else that differs it refuses. A class
# that begins with its own "]":
_BRACKET_FIRST: Final = re.compile(
    r"(?:[^\\[]|\\.|\[(?!\^?\])(?:[^\]\\]|\\.)*\])*\[\^?\]", re.DOTALL
)
# Set operations in a class, and edges of words.
_SET_OPERATION: Final = re.compile(
    r"(?:[^\\[]|\\.|\[(?:[^\]\\]|\\.)*\])*\[(?:[^\]\\]|\\.)*?(?:&&|~~|--)", re.DOTALL
)
_WORD_EDGE: Final = re.compile(r"(?:[^\\]|\\[^<>])*\\[<>]", re.DOTALL)


def foreign_pattern(pattern: str, *, rust: bool) -> str | None:
    """Why a pattern of Python's engine, or of the one in Rust, changes under ECMA-262, or None."""
    foreign = (_BRACKET_FIRST, _SET_OPERATION, _WORD_EDGE) if rust else (_BRACKET_FIRST,)
    if any(shape.match(pattern) for shape in foreign):
        return "the pattern means something else under ECMA-262"
    return None


def plain_json(value: Any) -> Any:
    """`value` as JSON carries it; raises ValueError or TypeError for what it cannot carry."""
    return json.loads(json.dumps(value, allow_nan=False))


def choices(values: list[Any]) -> dict[str, Any]:
    """`const` for one value, `enum` for more, with their type when all have the same."""
    schema: dict[str, Any] = {"const": values[0]} if len(values) == 1 else {"enum": values}
    kinds = {type(value) for value in values}
    name = _TYPE_NAMES.get(kinds.pop()) if len(kinds) == 1 else None
    return schema if name is None else {"type": name, **schema}


_TYPE_NAMES: Final[dict[type, str]] = {
    str: "string",
    int: "integer",
    bool: "boolean",
    type(None): "null",
}
