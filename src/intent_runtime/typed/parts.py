"""The types inside a type, each with its place in the schema that the type would become."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from intent_runtime.pointer import Key

Steps = tuple[Key, ...]

# What a class has that lists its fields: dataclasses, Structs, attrs classes, Pydantic models
# (and dataclasses), TypedDicts, NamedTuples.
FIELD_MARKS = (
    "__dataclass_fields__",
    "__struct_fields__",
    "__attrs_attrs__",
    "__pydantic_fields__",
    "__required_keys__",
    "_field_defaults",
)


def has_fields(kind: object) -> bool:
    """Whether `kind` is a class that lists fields."""
    return isinstance(kind, type) and any(hasattr(kind, mark) for mark in FIELD_MARKS)


def parts(kind: Any) -> Iterator[tuple[Steps, Any]]:
    """The types directly inside `kind`; nothing for what has none or cannot be looked into."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return
    if origin is Annotated:
        yield (), arguments[0]
        return
    for name, hint in _field_hints(origin if has_fields(origin) else kind).items():
        yield ("properties", name), hint
    for index, argument in enumerate(arguments):
        yield _place(origin, index, len(arguments)), argument
    for link in ("__supertype__", "__value__", "__bound__"):
        inner = getattr(kind, link, None)
        if inner is not None:
            yield (), inner


def blamed(
    kind: Any, check: Callable[[Any], object], *, path: Steps = (), seen: tuple[int, ...] = ()
) -> tuple[Steps, Exception] | None:
    """The innermost part of `kind` that `check` raises for: its place and what was raised."""
    try:
        check(kind)
    except Exception as error:  # noqa: BLE001 - whatever a type's code raises says that it fails
        for steps, part in parts(kind):
            if id(part) not in seen:
                inner = blamed(part, check, path=(*path, *steps), seen=(*seen, id(kind)))
                if inner is not None:
                    return inner
        return path, error
    return None


def _place(origin: Any, index: int, count: int) -> Steps:
    if origin in (Union, UnionType):
        return ("anyOf", index)
    if not isinstance(origin, type) or has_fields(origin):
        return ()
    if issubclass(origin, Mapping):
        return ("additionalProperties",) if index == count - 1 else ()
    return ("items",)


def _field_hints(kind: Any) -> dict[str, Any]:
    """The annotations of a class with fields, by wire name; none when they cannot be read."""
    if not has_fields(kind):
        return {}
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return {}
    names: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
    wire = dict(zip(names, getattr(kind, "__struct_encode_fields__", ()), strict=True))
    return {wire.get(name, name): hint for name, hint in hints.items()}
