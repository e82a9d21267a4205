"""Schemas of dataclasses, TypedDicts, msgspec Structs and attrs classes, as msgspec reads them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, get_origin

import msgspec
from msgspec import inspect

from intent_runtime.pointer import Key
from intent_runtime.typed.parts import blamed
from intent_runtime.typed.refusals import refused, refused_cycle, type_name
from intent_runtime.typed.spellings import (
    BYTES_REASON,
    DECIMAL,
    KEYS_REASON,
    NAIVE_REASON,
    SCALAR,
    SET_REASON,
    TUPLE_REASON,
    choices,
    foreign_pattern,
    plain_json,
)

_Path = tuple[Key, ...]
_Schema = dict[str, Any]
_Objects = inspect.DataclassType | inspect.StructType | inspect.TypedDictType

# Narrower than the format: msgspec knows neither years, months and weeks nor endless numbers.
_DURATION: Final = "^P(?:[0-9]{1,6}D)?(?:T(?:[0-9]{1,6}[HMS])+)?$"
_HELD_BY_PYDANTIC: Final = frozenset(
    {
        ("collections", "Counter"),
        ("collections", "OrderedDict"),
        ("collections", "defaultdict"),
        ("collections", "deque"),
        ("ipaddress", "IPv4Address"),
        ("ipaddress", "IPv6Address"),
        ("pathlib", "Path"),
        ("pathlib", "PurePath"),
    }
)
# The remainder of a division by a fraction is only exact for few binary places.
_MAX_DENOMINATOR: Final = 1024


def schema_of(kind: Any) -> _Schema:
    """The schema of a type that msgspec knows; raises `UnsupportedTypeError`."""
    found = blamed(kind, inspect.type_info)
    if found is not None:
        path, error = found
        raise refused(path, f"the type is not supported ({error})")
    return _Writer().schema(inspect.type_info(kind), ())


class _Writer:
    """Writes the schema of one type; classes used twice are written once and shared."""

    def __init__(self) -> None:
        self._done: dict[int, _Schema] = {}
        self._open: dict[int, str] = {}

    def schema(self, info: inspect.Type, path: _Path) -> _Schema:
        writer = _WRITERS.get(type(info))
        if writer is None:
            raise refused(path, f"{type(info).__name__} has no equal in JSON")
        return writer(self, info, path)

    def annotated(self, info: inspect.Metadata, path: _Path) -> _Schema:
        return {**self.schema(info.type, path), **(info.extra_json_schema or {})}

    def integer(self, info: inspect.IntType, _path: _Path) -> _Schema:
        return {"type": "integer", **_bounds(info)}

    def number(self, info: inspect.FloatType, path: _Path) -> _Schema:
        step = info.multiple_of
        if step is not None and step.as_integer_ratio()[1] > _MAX_DENOMINATOR:
            raise refused(path, f"multiple_of={step} is not exact for float; use int or Decimal")
        return {"type": "number", **_bounds(info)}

    def text(self, info: inspect.StrType, path: _Path) -> _Schema:
        schema = {"type": "string", **_sizes(info, "Length")}
        if info.pattern is not None:
            reason = foreign_pattern(info.pattern, rust=False)
            if reason is not None:
                raise refused(path, reason)
            schema["pattern"] = info.pattern
        return schema

    def moment(self, info: inspect.DateTimeType | inspect.TimeType, path: _Path) -> _Schema:
        if info.tz is False:
            raise refused(path, NAIVE_REASON)
        name = "date-time" if isinstance(info, inspect.DateTimeType) else "time"
        return {"type": "string", "format": name}

    def choice(self, info: inspect.LiteralType, _path: _Path) -> _Schema:
        return choices(list(info.values))

    def enumeration(self, info: inspect.EnumType, _path: _Path) -> _Schema:
        # A member of a str or int Enum is itself a str or int: JSON wants the plain one.
        values = [plain_json(member.value) for member in info.cls]
        return {**choices(values), **_docstring(info.cls)}

    def array(self, info: inspect.CollectionType, path: _Path) -> _Schema:
        items = self.schema(info.item_type, (*path, "items"))
        schema: _Schema = {"type": "array", **({"items": items} if items else {})}
        return {**schema, **_sizes(info, "Items")}

    def unique_array(self, info: inspect.CollectionType, path: _Path) -> _Schema:
        if not _hashable(info.item_type):
            raise refused(path, SET_REASON)
        schema = {**self.array(info, path), "uniqueItems": True}
        return schema if "items" in schema else {**schema, "items": SCALAR}

    def mapping(self, info: inspect.DictType, path: _Path) -> _Schema:
        if info.key_type not in (inspect.StrType(), inspect.AnyType()):
            raise refused(path, KEYS_REASON)
        values = self.schema(info.value_type, (*path, "additionalProperties"))
        sizes = _sizes(info, "Properties")
        return {"type": "object", "additionalProperties": values or True, **sizes}

    def union(self, info: inspect.UnionType, path: _Path) -> _Schema:
        branches = enumerate(info.types)
        return {"anyOf": [self.schema(each, (*path, "anyOf", at)) for at, each in branches]}

    def fields(self, info: _Objects, path: _Path) -> _Schema:
        if id(info) not in self._done:
            with self._opened(info, path):
                self._done[id(info)] = self._members(info, path)
        return self._done[id(info)]

    @contextmanager
    def _opened(self, info: _Objects, path: _Path) -> Generator[None]:
        name = type_name(info.cls)
        if id(info) in self._open:
            names = list(self._open.values())
            start = list(self._open).index(id(info))
            raise refused_cycle(path, [*names[start:], name])
        self._open[id(info)] = name
        yield
        del self._open[id(info)]

    def _members(self, info: _Objects, path: _Path) -> _Schema:
        fields = _in_order(info)
        schema: _Schema = {"type": "object", **_docstring(info.cls)}
        schema["properties"] = {
            field.encode_name: self._field(field, (*path, "properties", field.encode_name))
            for field in fields
        }
        required = [field.encode_name for field in fields if field.required]
        if isinstance(info, inspect.StructType):
            if info.array_like:
                raise refused(path, "an array_like Struct has no equal; fields need names")
            if info.tag_field is not None:
                schema["properties"][info.tag_field] = choices([info.tag])
                required.insert(0, info.tag_field)
            if info.forbid_unknown_fields:
                schema["additionalProperties"] = False
        return {**schema, "required": required} if required else schema

    def _field(self, field: inspect.Field, path: _Path) -> _Schema:
        schema = self.schema(field.type, path)
        if field.default is msgspec.NODEFAULT:
            return schema
        try:
            default = plain_json(msgspec.to_builtins(field.default, order="sorted"))
        except (TypeError, ValueError):
            # A default is no constraint: one that JSON cannot hold is only left out.
            return schema
        return {**schema, "default": default}

    def binary(self, _info: inspect.Type, path: _Path) -> _Schema:
        raise refused(path, BYTES_REASON)

    def positional(self, _info: inspect.Type, path: _Path) -> _Schema:
        raise refused(path, TUPLE_REASON)

    def custom(self, info: inspect.CustomType, path: _Path) -> _Schema:
        cls = info.cls
        name = type_name(cls)
        # Python 3.13 has `pathlib._local.Path`.
        if (cls.__module__.partition(".")[0], cls.__name__) in _HELD_BY_PYDANTIC:
            raise refused(path, f"{name} is only supported in a Pydantic model")
        raise refused(path, f"{name} has no equal in JSON")


def _bounds(info: inspect.IntType | inspect.FloatType) -> _Schema:
    bounds = {
        "minimum": info.ge,
        "exclusiveMinimum": info.gt,
        "maximum": info.le,
        "exclusiveMaximum": info.lt,
        "multipleOf": info.multiple_of,
    }
    return {keyword: bound for keyword, bound in bounds.items() if bound is not None}


def _sizes(info: Any, what: str) -> _Schema:
    sizes = {f"min{what}": info.min_length, f"max{what}": info.max_length}
    return {keyword: size for keyword, size in sizes.items() if size is not None}


def _docstring(cls: Any) -> _Schema:
    """The description that the author of a class wrote, not one that a decorator did."""
    own = get_origin(cls) or cls
    text = own.__dict__.get("__doc__")
    if not text or text.startswith(f"{own.__name__}(") or text == "An enumeration.":
        return {}
    return {"description": _cleaned(text)}


def _cleaned(text: str) -> str:
    from inspect import cleandoc  # noqa: PLC0415 - slow to import, and most types need none

    return cleandoc(text)


def _in_order(info: _Objects) -> list[inspect.Field]:
    """The fields as their author ordered them; msgspec sorts those of a TypedDict."""
    if not isinstance(info, inspect.TypedDictType):
        return list(info.fields)
    order = list((get_origin(info.cls) or info.cls).__annotations__)
    return sorted(info.fields, key=lambda field: order.index(field.name))


def _hashable(info: inspect.Type) -> bool:
    if isinstance(info, inspect.Metadata):
        return _hashable(info.type)
    if isinstance(info, inspect.UnionType):
        return all(_hashable(each) for each in info.types)
    if isinstance(info, (inspect.DataclassType, inspect.StructType)):
        return (get_origin(info.cls) or info.cls).__hash__ is not None
    unhashable = (inspect.ListType, inspect.SetType, inspect.DictType, inspect.TypedDictType)
    return not isinstance(info, unhashable)


def _fixed(schema: _Schema) -> Callable[[_Writer, Any, _Path], _Schema]:
    return lambda _writer, _info, _path: dict(schema)


_WRITERS: Final[dict[type, Callable[[_Writer, Any, _Path], _Schema]]] = {
    inspect.Metadata: _Writer.annotated,
    inspect.AnyType: _fixed({}),
    inspect.NoneType: _fixed({"type": "null"}),
    inspect.BoolType: _fixed({"type": "boolean"}),
    inspect.IntType: _Writer.integer,
    inspect.FloatType: _Writer.number,
    inspect.StrType: _Writer.text,
    inspect.DecimalType: _fixed(DECIMAL),
    inspect.DateType: _fixed({"type": "string", "format": "date"}),
    inspect.DateTimeType: _Writer.moment,
    inspect.TimeType: _Writer.moment,
    inspect.TimeDeltaType: _fixed({"type": "string", "format": "duration", "pattern": _DURATION}),
    inspect.UUIDType: _fixed({"type": "string", "format": "uuid"}),
    inspect.LiteralType: _Writer.choice,
    inspect.EnumType: _Writer.enumeration,
    inspect.ListType: _Writer.array,
    inspect.VarTupleType: _Writer.array,
    inspect.SetType: _Writer.unique_array,
    inspect.FrozenSetType: _Writer.unique_array,
    inspect.DictType: _Writer.mapping,
    inspect.UnionType: _Writer.union,
    inspect.DataclassType: _Writer.fields,
    inspect.StructType: _Writer.fields,
    inspect.TypedDictType: _Writer.fields,
    inspect.BytesType: _Writer.binary,
    inspect.ByteArrayType: _Writer.binary,
    inspect.MemoryViewType: _Writer.binary,
    inspect.TupleType: _Writer.positional,
    inspect.NamedTupleType: _Writer.positional,
    inspect.CustomType: _Writer.custom,
}
