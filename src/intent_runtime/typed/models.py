"""Schemas of types that hold something of Pydantic's, and JSON back into them.

The only module that imports Pydantic; loaded when such a type is met.
"""

from __future__ import annotations

from typing import Any

from pydantic import ImportString, PydanticUserError, TypeAdapter

from intent_runtime.typed.family import everything_in
from intent_runtime.typed.generator import IMPORT_REASON, Generator
from intent_runtime.typed.inline import inline
from intent_runtime.typed.parts import blamed
from intent_runtime.typed.refusals import UnsupportedTypeError, refused


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of a type that Pydantic knows; raises `UnsupportedTypeError`."""
    found = blamed(kind, _document)
    if found is not None:
        path, error = found
        raise refused(path, f"the type is not supported ({_reason(error)})")
    return inline(_document(kind))


def load(kind: Any, text: bytes) -> Any:
    """JSON text as a value of this type; raises `pydantic.ValidationError`.

    As JSON, so that a strict model takes dates and the like from strings. Raises
    `UnsupportedTypeError` for a type whose values are imported by name.
    """
    if any(_is_import(item) for item in everything_in(kind)):
        raise UnsupportedTypeError(IMPORT_REASON)
    return TypeAdapter(kind).validate_json(text, by_alias=True)


def _is_import(item: Any) -> bool:
    return ImportString in (item, type(item))


def _document(kind: Any) -> dict[str, Any]:
    return TypeAdapter(kind).json_schema(
        by_alias=True, mode="validation", schema_generator=Generator
    )


def _reason(error: Exception) -> str:
    if isinstance(error, PydanticUserError):
        if error.code == "class-not-fully-defined":
            return "it refers to a name that is not defined"
        return error.message.partition("\n")[0]
    return str(error)
