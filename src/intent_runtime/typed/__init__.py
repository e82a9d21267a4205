"""Python types as business schemas (contract section 5), and data back into them.

Pydantic models, dataclasses, TypedDicts, msgspec Structs and Annotated types become the Draft-7
subset; what has no equal there is refused with its place. Data that the schema accepts loads into
the type, but for what no schema of the subset says: validators and bounds in Python (of dates,
say), strings that are stripped or changed before they are checked, leap seconds and the year 0,
which Python's dates do not have, and hosts, ports and mail addresses that only their libraries
know to be wrong. There `load` raises the type's own error.

Pydantic is imported only for a type that holds something of it.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any, Final

import msgspec

from intent_runtime.typed.family import needs_pydantic
from intent_runtime.typed.parts import has_fields
from intent_runtime.typed.refusals import UnsupportedTypeError, refused, type_name

__all__ = ["UnsupportedTypeError", "is_python_type", "load", "schema_of"]

_TYPING_MODULES: Final = frozenset({"typing", "typing_extensions", "types"})


def is_python_type(value: object) -> bool:
    """Whether `value` is meant as a type: a class or typing construct, or an instance of a model.

    The last is a mistake that `schema_of` explains. Lists and other JSON values are none.
    """
    if isinstance(value, (type, GenericAlias)) or _is_instance(value):
        return True
    return type(value).__module__ in _TYPING_MODULES


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of an object type; raises `UnsupportedTypeError` for any other type."""
    try:
        return _object_schema(kind)
    except UnsupportedTypeError:
        raise
    except RecursionError:
        raise refused((), "the type is nested too deeply") from None
    except Exception as error:  # noqa: BLE001 - types run code of their own while they are read
        raise refused((), f"the type cannot be read ({type(error).__name__}: {error})") from None


def load(kind: Any, data: object) -> Any:
    """JSON data as a value of this type; raises the type's own validation error.

    The names in `data` are those on the wire: aliases, where there are some.
    """
    text = msgspec.json.encode(data)
    if needs_pydantic(kind):
        from intent_runtime.typed import models  # noqa: PLC0415 - Pydantic on demand

        return models.load(kind, text)
    return msgspec.json.decode(text, type=kind)


def _is_instance(value: object) -> bool:
    """Whether `value` is an instance of a class that could itself be a schema."""
    return not isinstance(value, type) and has_fields(type(value))


def _object_schema(kind: Any) -> dict[str, Any]:
    if _is_instance(kind):
        raise refused((), f"this is an instance of {type_name(type(kind))}; pass the class")
    schema = _adapted(kind)
    if schema.get("type") != "object" or "properties" not in schema:
        name = type_name(kind)
        raise refused((), f"{name} is no object with fields; pass a model, dataclass or TypedDict")
    return schema


def _adapted(kind: Any) -> dict[str, Any]:
    if needs_pydantic(kind):
        from intent_runtime.typed import models  # noqa: PLC0415 - Pydantic on demand

        return models.schema_of(kind)
    from intent_runtime.typed import plain  # noqa: PLC0415 - loaded when a type is first used

    return plain.schema_of(kind)
