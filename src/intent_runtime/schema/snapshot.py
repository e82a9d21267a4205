"""The schema subset (contract section 5): a checked, normalised copy of what the caller gave.

Everything refused names its keyword and path. The copy holds plain JSON only, so that nothing
the caller does to the original afterwards matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import msgspec

from intent_runtime.pointer import render
from intent_runtime.schema.native import check_pattern
from intent_runtime.text import has_lone_surrogate, shorten
from intent_runtime.values import MAX_SAFE_INTEGER, IntentLimits

DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
MAX_BRANCHES: Final = 16
MAX_ANNOTATION_DEPTH: Final = 64
# The native validator recurses; deeper schemas are refused whatever the limit says.
DEPTH_CEILING: Final = 128
# Integers a double can still stand for; larger ones are no JSON that others could read.
_MAX_INTEGER_BITS: Final = 1024

FORMATS: Final = frozenset(
    {
        "date",
        "time",
        "date-time",
        "duration",
        "uri",
        "uri-reference",
        "url",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "regex",
        "uuid",
        "json-pointer",
        "relative-json-pointer",
    }
)
_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_DIALECTS: Final = frozenset(
    f"{scheme}://json-schema.org/draft-07/schema{end}"
    for scheme in ("http", "https")
    for end in ("", "#")
)
# Constraints on the whole value would change their meaning under a selection of fields.
_NOT_AT_ROOT: Final = ("anyOf", "oneOf", "allOf", "not", "enum", "const")
_DROPPED: Final = frozenset({"$id", "_label", "_customMessages"})

_Path = tuple[Any, ...]


class SchemaError(Exception):
    """A schema was refused; `limit` tells an exceeded limit from an unsupported schema."""

    def __init__(self, message: str, *, limit: bool = False) -> None:
        super().__init__(message)
        self.limit = limit


def snapshot_schema(schema: Any, limits: IntentLimits) -> dict[str, Any]:
    """The normalised copy of a business schema; raises `SchemaError`."""
    if not isinstance(schema, dict):
        raise SchemaError('The schema must be an object schema: {"type": "object", ...}.')
    if not schema:
        return {"type": "object", "properties": {}, "additionalProperties": False}
    snapshot = _Snapshot(limits).root(schema)
    size = len(msgspec.json.encode(snapshot))
    if size > limits.max_schema_bytes:
        raise _too_large(limits)
    return snapshot


def _too_large(limits: IntentLimits) -> SchemaError:
    message = f"The schema is larger than maxSchemaBytes ({limits.max_schema_bytes})."
    return SchemaError(message, limit=True)


def _refused(path: _Path, reason: str) -> SchemaError:
    place = shorten(render(path), 200) or "the root"
    return SchemaError(f"Schema at {place}: {reason}.")


class _Snapshot:
    """One pass over one schema; counts what the limits bound and knows the open containers."""

    def __init__(self, limits: IntentLimits) -> None:
        self._limits = limits
        self._properties = 0
        self._size = 0
        self._open: set[int] = set()

    def root(self, schema: dict[Any, Any]) -> dict[str, Any]:
        for keyword in _NOT_AT_ROOT:
            if keyword in schema:
                raise _refused((keyword,), f'"{keyword}" is not supported at the root')
        if schema.get("type") != "object" or "properties" not in schema:
            raise _refused((), 'the root must have "type": "object" and "properties"')
        snapshot = self._schema(schema, (), 0)
        for name in snapshot.get("required", ()):
            if name not in snapshot["properties"]:
                raise _refused(("required",), '"required" names a field that is not defined')
        return snapshot

    def _schema(self, schema: Any, path: _Path, depth: int) -> Any:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise _refused(path, "a schema must be an object or a boolean")
        limit = min(self._limits.max_schema_depth, DEPTH_CEILING)
        if depth > limit:
            self._refuse_cycle(schema, path)
            raise SchemaError(
                f"The schema is nested deeper than maxSchemaDepth ({limit}).", limit=True
            )
        self._enter(schema, path)
        copy: dict[str, Any] = {}
        for key, value in schema.items():
            keyword = self._text(key, path, "a keyword")
            if keyword in _DROPPED:
                continue
            reader = _READERS.get(keyword)
            if reader is None:
                raise _refused((*path, keyword), f'"{shorten(keyword, 40)}" is not supported')
            copy[keyword] = reader(self, value, (*path, keyword), depth)
        self._open.discard(id(schema))
        _apply_exact_length(copy)
        return copy

    def _enter(self, container: Any, path: _Path) -> None:
        """Note an open container and one more value, refusing cycles and endless sharing."""
        self._refuse_cycle(container, path)
        self._open.add(id(container))
        self._count()

    def _refuse_cycle(self, container: Any, path: _Path) -> None:
        if id(container) in self._open:
            raise _refused(path, "the schema contains itself")

    def _count(self, size: int = 1) -> None:
        # A lower bound of the bytes: what shares one part many times ends here.
        self._size += size
        if self._size > self._limits.max_schema_bytes:
            raise _too_large(self._limits)

    # Readers of keyword values. Each returns the plain copy or raises.

    def properties(self, value: Any, path: _Path, depth: int) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _refused(path, '"properties" must be an object')
        self._properties += len(value)
        if self._properties > self._limits.max_schema_properties:
            limit = self._limits.max_schema_properties
            message = f"The schema has more properties than maxSchemaProperties ({limit})."
            raise SchemaError(message, limit=True)
        self._enter(value, path)
        copy = {
            self._text(name, path, "a property name"): self._schema(
                child, (*path, str(name)), depth + 1
            )
            for name, child in value.items()
        }
        self._open.discard(id(value))
        return copy

    def one_schema(self, value: Any, path: _Path, depth: int) -> Any:
        if isinstance(value, list):
            raise _refused(path, "must be one schema, not a list")
        return self._schema(value, path, depth + 1)

    def branches(self, value: Any, path: _Path, depth: int) -> list[Any]:
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_BRANCHES:
            raise _refused(path, f"must be a list of 1 to {MAX_BRANCHES} schemas")
        self._enter(value, path)
        copy = [
            self._schema(branch, (*path, index), depth + 1) for index, branch in enumerate(value)
        ]
        self._open.discard(id(value))
        return copy

    def types(self, value: Any, path: _Path, _depth: int) -> Any:
        names = value if isinstance(value, list) else [value]
        if not names or not all(isinstance(name, str) and name in _TYPES for name in names):
            raise _refused(path, f"must be one of {', '.join(sorted(_TYPES))}, or a list of them")
        copies = [str.__str__(name) for name in names]
        if len(set(copies)) != len(copies):
            raise _refused(path, "must not repeat a type")
        return copies if isinstance(value, list) else copies[0]

    def names(self, value: Any, path: _Path, _depth: int) -> list[str]:
        if not isinstance(value, list):
            raise _refused(path, "must be a list of names")
        copy = [self._text(name, path, "a name") for name in value]
        if len(set(copy)) != len(copy):
            raise _refused(path, "must not repeat a name")
        return copy

    def size(self, value: Any, path: _Path, _depth: int) -> int:
        number = self._number(value, path)
        if not isinstance(number, int) or not 0 <= number <= MAX_SAFE_INTEGER:
            raise _refused(path, "must be an integer of 0 or more")
        return number

    def number(self, value: Any, path: _Path, _depth: int) -> int | float:
        return self._number(value, path)

    def divisor(self, value: Any, path: _Path, _depth: int) -> int | float:
        number = self._number(value, path)
        if number <= 0:
            raise _refused(path, "must be greater than 0")
        return number

    def flag(self, value: Any, path: _Path, _depth: int) -> bool:
        if not isinstance(value, bool):
            raise _refused(path, "must be true or false")
        return value

    def string(self, value: Any, path: _Path, _depth: int) -> str:
        return self._text(value, path, "the value")

    def pattern(self, value: Any, path: _Path, _depth: int) -> str:
        text = self._text(value, path, "a pattern")
        try:
            check_pattern(text)
        except ValueError as error:
            raise _refused(path, f"the pattern is not supported: {error}") from None
        return text

    def format(self, value: Any, path: _Path, _depth: int) -> str:
        if not isinstance(value, str) or value not in FORMATS:
            raise _refused(path, f"the format must be one of {', '.join(sorted(FORMATS))}")
        return str.__str__(value)

    def dialect(self, value: Any, path: _Path, _depth: int) -> str:
        if not isinstance(value, str) or value not in _DIALECTS:
            raise _refused(path, f"the dialect must be {DRAFT_7}")
        return DRAFT_7

    def list_of_values(self, value: Any, path: _Path, _depth: int) -> list[Any]:
        if not isinstance(value, list):
            raise _refused(path, "must be a list")
        return [self._json(item, (*path, index), 1) for index, item in enumerate(value)]

    def any_value(self, value: Any, path: _Path, _depth: int) -> Any:
        return self._json(value, path, 1)

    # Plain JSON.

    def _json(self, value: Any, path: _Path, depth: int) -> Any:
        if depth > MAX_ANNOTATION_DEPTH:
            raise _refused(path[:8], f"a value nested deeper than {MAX_ANNOTATION_DEPTH}")
        if isinstance(value, (dict, list)):
            self._enter(value, path)
            copy: Any
            if isinstance(value, dict):
                copy = {
                    self._text(name, path, "a key"): self._json(item, (*path, str(name)), depth + 1)
                    for name, item in value.items()
                }
            else:
                copy = [
                    self._json(item, (*path, index), depth + 1) for index, item in enumerate(value)
                ]
            self._open.discard(id(value))
            return copy
        self._count()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, path, "a text")
        return self._number(value, path)

    def _text(self, value: Any, path: _Path, what: str) -> str:
        if not isinstance(value, str):
            raise _refused(path, f"{what} must be a string")
        if has_lone_surrogate(value):
            raise _refused(path, f"{what} holds a lone surrogate")
        self._count(len(value))
        return str.__str__(value)

    def _number(self, value: Any, path: _Path) -> int | float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _refused(path, "must be a JSON value of the expected type")
        if isinstance(value, int):
            if value.bit_length() > _MAX_INTEGER_BITS:
                raise _refused(path, "the integer is too large for JSON")
            return int(value)
        if not math.isfinite(value):
            raise _refused(path, "NaN and infinities are not JSON")
        if value.is_integer() and abs(value) <= MAX_SAFE_INTEGER:
            return int(value)
        return float(value)


def _apply_exact_length(schema: dict[str, Any]) -> None:
    """`exactLength` becomes both bounds, never weakening those present."""
    if "exactLength" not in schema:
        return
    length = schema.pop("exactLength")
    schema["minLength"] = max(length, schema.get("minLength", length))
    schema["maxLength"] = min(length, schema.get("maxLength", length))


_Reader = Callable[[_Snapshot, Any, _Path, int], Any]
_READERS: Final[dict[str, _Reader]] = {
    "type": _Snapshot.types,
    "properties": _Snapshot.properties,
    "required": _Snapshot.names,
    "additionalProperties": _Snapshot.one_schema,
    "items": _Snapshot.one_schema,
    "minItems": _Snapshot.size,
    "maxItems": _Snapshot.size,
    "uniqueItems": _Snapshot.flag,
    "minLength": _Snapshot.size,
    "maxLength": _Snapshot.size,
    "exactLength": _Snapshot.size,
    "pattern": _Snapshot.pattern,
    "format": _Snapshot.format,
    "minimum": _Snapshot.number,
    "maximum": _Snapshot.number,
    "exclusiveMinimum": _Snapshot.number,
    "exclusiveMaximum": _Snapshot.number,
    "multipleOf": _Snapshot.divisor,
    "enum": _Snapshot.list_of_values,
    "const": _Snapshot.any_value,
    "anyOf": _Snapshot.branches,
    "oneOf": _Snapshot.branches,
    "allOf": _Snapshot.branches,
    "not": _Snapshot.one_schema,
    "title": _Snapshot.string,
    "description": _Snapshot.string,
    "examples": _Snapshot.list_of_values,
    "default": _Snapshot.any_value,
    "$comment": _Snapshot.string,
    "$schema": _Snapshot.dialect,
}
