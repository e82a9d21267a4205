"""Whether a value keeps a schema's constraints, decided only where the rules can be certain.

`allows` answers False both for a broken constraint and for one it cannot judge: the caller then
returns no value, which is always allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, cast

from intent_runtime.executors.rules.schema_view import (
    Schema,
    as_schema,
    choices_of,
    effective,
    types_of,
)

_JUDGED: Final = frozenset(
    {
        *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "minLength", "maxLength", "pattern", "format", "items", "minItems"),
        *("maxItems", "uniqueItems", "properties", "required", "additionalProperties"),
        *("title", "description", "examples", "default", "$comment"),
    }
)
_CLOCK: Final = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_DAY: Final = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST: Final = rf"{_LABEL}(?:\.{_LABEL}){{1,8}}"
_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_WEB: Final = rf"(?:{_HOST}|localhost)(?::\d{{1,4}})?(?:[/?][A-Za-z0-9/?&=._~%+,;:@!*()-]*)?"
_PLAIN_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "date": re.compile(_DAY),
    "time": re.compile(_CLOCK),
    "date-time": re.compile(f"{_DAY}T{_CLOCK}"),
    "email": re.compile(rf"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@{_HOST}"),
    "hostname": re.compile(_HOST),
    "ipv4": re.compile(rf"{_OCTET}(?:\.{_OCTET}){{3}}"),
    "uuid": re.compile(r"[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}"),
    "url": re.compile(rf"(?:https?|ftp)://{_WEB}"),
    "uri": re.compile(rf"(?:https?|ftp)://{_WEB}"),
}
"""A subset of each format: everything that matches is valid, not the other way round."""

_PERCENT_SLIP = re.compile(r"%(?![\da-fA-F]{2})")
_SIMPLE_PATTERN = re.compile(
    r"\^?(?:(?:\[\^?(?:[\w .:/@+*-]|\\[-dw./])+\]|\\[-dwsb./+*?()|$^]|[\w :/@%#&=,~!<>'\"-])"
    r"(?:[?+*](?![?+*])|\{\d{1,3}(?:,\d{0,3})?\})?)*\$?",
    re.ASCII,
)
_PATTERN_TEXT_LIMIT: Final = 200
_FORM_TEXT_LIMIT: Final = 2000
_MAX_UNBOUNDED: Final = 3


def allows(raw: Schema, value: object) -> bool:
    """Whether the value surely keeps the schema."""
    schema = effective(raw)
    if schema is None or not schema.keys() <= _JUDGED:
        return False
    types = types_of(schema)
    if types and not any(_has_type(value, name) for name in types):
        return False
    choices = choices_of(schema)
    if choices and not any(same(value, choice) for choice in choices):
        return False
    if isinstance(value, str):
        return _text_allowed(schema, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number_allowed(schema, value)
    if isinstance(value, list):
        return _list_allowed(schema, cast("list[object]", value))
    if isinstance(value, dict):
        return _object_allowed(schema, cast("dict[str, object]", value))
    return isinstance(value, bool)


def same(one: object, other: object) -> bool:
    """JSON equality of scalars and of lists of scalars: true is not 1, 1.0 is."""
    if isinstance(one, list) and isinstance(other, list):
        left, right = cast("list[object]", one), cast("list[object]", other)
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _has_type(value: object, name: str) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case _:
            return name == "object" and isinstance(value, dict)


def _text_allowed(schema: Schema, value: str) -> bool:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return False
    if "pattern" in schema and not _pattern_holds(schema["pattern"], value):
        return False
    return "format" not in schema or _form_holds(schema["format"], value)


def _form_holds(name: str, value: str) -> bool:
    form = _PLAIN_FORMS.get(name)
    if form is None or len(value) > _FORM_TEXT_LIMIT or not form.fullmatch(value):
        return False
    return name not in ("url", "uri") or _PERCENT_SLIP.search(value) is None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern, if it is so plain that ECMA-262 and Python mean the same by it."""
    if not _SIMPLE_PATTERN.fullmatch(pattern) or "\\s" in pattern or "\\b" in pattern:
        return None
    body = pattern[:-1] + r"\Z" if pattern.endswith("$") and pattern[-2:] != r"\$" else pattern
    try:
        return re.compile(body, re.ASCII)
    except re.error:
        return None


def _pattern_holds(pattern: str, value: str) -> bool:
    if not value.isprintable() or max(len(value), len(pattern)) > _PATTERN_TEXT_LIMIT:
        return False
    unbounded = sum(pattern.count(sign) for sign in ("*", "+", ",}"))
    compiled = _compiled(pattern) if unbounded <= _MAX_UNBOUNDED else None
    return compiled is not None and compiled.search(value) is not None


def _number_allowed(schema: Schema, value: float) -> bool:
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        return False
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        return False
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        return False
    step = schema.get("multipleOf")
    if step is None:
        return True
    return isinstance(step, int) and isinstance(value, int) and value % step == 0


def _list_allowed(schema: Schema, value: list[object]) -> bool:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    if schema.get("uniqueItems") and any(
        same(one, other) for index, one in enumerate(value) for other in value[:index]
    ):
        return False
    items = schema.get("items", True)
    return items is True or all(allows(as_schema(items), each) for each in value)


def _object_allowed(schema: Schema, value: dict[str, object]) -> bool:
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))
    if any(name not in value for name in schema.get("required", ())):
        return False
    return all(
        name in properties and allows(as_schema(properties[name]), each)
        for name, each in value.items()
    )
