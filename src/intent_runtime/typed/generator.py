"""Pydantic's own generator of schemas, corrected where the Draft-7 subset says otherwise.

Where a type has no equal, the schema holds `REFUSAL` with the reason: only its reader knows the
place.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError
from typing_extensions import override

from intent_runtime.typed.decimals import decimal_schema
from intent_runtime.typed.inline import REFUSAL
from intent_runtime.typed.spellings import (
    BYTES_REASON,
    KEYS_REASON,
    NAIVE_REASON,
    SCALAR,
    SET_REASON,
    foreign_pattern,
    plain_json,
)

_Core = Mapping[str, Any]
_Schema = dict[str, Any]

# Numbers with more digits overflow while they are added up.
_DURATION: Final = "^P(?:T?[0-9]{1,6}[YMWDHS])+$"
_WEB_SCHEMES: Final = frozenset({"http", "https", "ftp"})
# Flags that change nothing that ECMA-262 would not say itself.
_HARMLESS_FLAGS: Final = re.UNICODE | re.ASCII
IMPORT_REASON: Final = "ImportString would import what a model names"
_UNHASHABLE: Final = frozenset({"list", "set", "dict", "typed-dict", "deque"})


def _refusal(reason: str) -> _Schema:
    return {REFUSAL: reason}


class Generator(GenerateJsonSchema):
    """Writes what `inline` reads."""

    @override
    def sort(self, value: _Schema, parent_key: str | None = None) -> _Schema:
        """As written: fields in their order, the type before the rest."""
        return value

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: a title made from a name tells a model nothing."""
        return False

    @override
    def emit_warning(self, kind: Any, detail: str) -> None:
        """None: defaults that JSON cannot hold are only left out, all else is refused."""

    @override
    def encode_default(self, dft: Any) -> Any:
        """The default as JSON; Pydantic leaves out what cannot be."""
        try:
            return plain_json(super().encode_default(dft))
        except (TypeError, ValueError) as error:
            raise PydanticSerializationError(str(error)) from None

    # What has no equal.

    @override
    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> _Schema:
        return _refusal(f"{error_info.removeprefix('core_schema.')} has no equal in JSON")

    @override
    def is_instance_schema(self, schema: Any) -> _Schema:
        return _refusal(f"{schema['cls'].__name__} has no equal in JSON")

    @override
    def is_subclass_schema(self, schema: Any) -> _Schema:
        return _refusal("a class has no equal in JSON")

    @override
    def callable_schema(self, schema: Any) -> _Schema:
        return _refusal("a callable has no equal in JSON")

    @override
    def bytes_schema(self, schema: Any) -> _Schema:
        return _refusal(BYTES_REASON)

    @override
    def complex_schema(self, schema: Any) -> _Schema:
        return _refusal("a complex number has no equal in JSON")

    @override
    def json_schema(self, schema: Any) -> _Schema:
        return _refusal("Json, text that holds JSON, has no equal; use the type of its content")

    # Scalars.

    @override
    def decimal_schema(self, schema: Any) -> _Schema:
        return decimal_schema(schema)

    @override
    def str_schema(self, schema: Any) -> _Schema:
        pattern = schema.get("pattern")
        text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
        if isinstance(pattern, re.Pattern) and pattern.flags & ~_HARMLESS_FLAGS:
            return _refusal("a pattern with flags has no equal")
        reason = None if text is None else foreign_pattern(text, rust=True)
        return super().str_schema(schema) if reason is None else _refusal(reason)

    @override
    def time_schema(self, schema: Any) -> _Schema:
        return self._with_offset(schema, super().time_schema(schema))

    @override
    def datetime_schema(self, schema: Any) -> _Schema:
        return self._with_offset(schema, super().datetime_schema(schema))

    def _with_offset(self, schema: _Core, written: _Schema) -> _Schema:
        return written if schema.get("tz_constraint") in (None, "aware") else _refusal(NAIVE_REASON)

    @override
    def timedelta_schema(self, schema: Any) -> _Schema:
        return {**super().timedelta_schema(schema), "pattern": _DURATION}

    @override
    def url_schema(self, schema: Any) -> _Schema:
        schemes: list[str] = schema.get("allowed_schemes") or []
        web = bool(schemes) and _WEB_SCHEMES.issuperset(schemes)
        written: _Schema = {"type": "string", "format": "url" if web else "uri"}
        if schemes:
            either = "|".join(re.escape(scheme) for scheme in schemes)
            written["pattern"] = f"^(?:{either}):"
        if "max_length" in schema:
            written["maxLength"] = schema["max_length"]
        return written

    @override
    def multi_host_url_schema(self, schema: Any) -> _Schema:
        return self.url_schema(schema)

    @override
    def literal_schema(self, schema: Any) -> _Schema:
        if all(_is_scalar(value) for value in schema["expected"]):
            return super().literal_schema(schema)
        return _refusal("a Literal of other than str, int, bool and None has no equal")

    @override
    def enum_schema(self, schema: Any) -> _Schema:
        if all(_is_scalar(member.value) for member in schema["members"]):
            return super().enum_schema(schema)
        return _refusal("an Enum of other than str, int, float, bool and None has no equal")

    # Containers.

    @override
    def set_schema(self, schema: Any) -> _Schema:
        return self._members_with_hash(schema, super().set_schema(schema))

    @override
    def frozenset_schema(self, schema: Any) -> _Schema:
        return self._members_with_hash(schema, super().frozenset_schema(schema))

    def _members_with_hash(self, schema: _Core, written: _Schema) -> _Schema:
        items = schema.get("items_schema", {})
        if items.get("type") in _UNHASHABLE or getattr(items.get("cls"), "__hash__", 0) is None:
            return _refusal(SET_REASON)
        return written if written["items"] else {**written, "items": SCALAR}

    @override
    def dict_schema(self, schema: Any) -> _Schema:
        return self._with_plain_keys(schema, super().dict_schema(schema))

    @override
    def ordered_dict_schema(self, schema: Any) -> _Schema:
        return self._with_plain_keys(schema, super().ordered_dict_schema(schema))

    @override
    def counter_schema(self, schema: Any) -> _Schema:
        return self._with_plain_keys(schema, super().counter_schema(schema))

    def _with_plain_keys(self, schema: _Core, written: _Schema) -> _Schema:
        keys = self.generate_inner(schema["keys_schema"]) if "keys_schema" in schema else {}
        return written if keys in ({}, {"type": "string"}) else _refusal(KEYS_REASON)

    @override
    def tagged_union_schema(self, schema: Any) -> _Schema:
        """With the tag required: Pydantic needs it even where the branches have a default."""
        written = super().tagged_union_schema(schema)
        tag = written.get("discriminator", {}).get("propertyName")
        return written if tag is None else {**written, "required": [tag]}

    # Classes and their fields.

    @override
    def generate_inner(self, schema: Any) -> _Schema:
        if _imports(schema):
            return _refusal(IMPORT_REASON)
        written = super().generate_inner(schema)
        name = getattr(schema.get("cls"), "__name__", None)
        # A title that only repeats the name of the class tells a model nothing.
        for place in (written, self.resolve_ref_schema(written)) if name else ():
            if place.get("title") == name:
                del place["title"]
        return written

    @override
    def model_schema(self, schema: Any) -> _Schema:
        written = super().model_schema(schema)
        # A parametrised model has no docstring of its own.
        generic = getattr(schema["cls"], "__pydantic_generic_metadata__", {}).get("origin")
        if generic is not None and generic.__doc__:
            written.setdefault("description", inspect.cleandoc(generic.__doc__))
        return written

    @override
    def model_field_schema(self, schema: Any) -> _Schema:
        return _reachable(schema) or super().model_field_schema(schema)

    @override
    def dataclass_field_schema(self, schema: Any) -> _Schema:
        return _reachable(schema) or super().dataclass_field_schema(schema)

    @override
    def typed_dict_field_schema(self, schema: Any) -> _Schema:
        return _reachable(schema) or super().typed_dict_field_schema(schema)


def _imports(schema: _Core) -> bool:
    """Whether loading such a value runs the import system."""
    function = schema.get("function")
    called = function.get("function") if isinstance(function, dict) else None
    return getattr(called, "__name__", "") == "import_string"


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _reachable(field: _Core) -> _Schema | None:
    """The refusal of a field that no single name reaches, or None."""
    alias = field.get("validation_alias")
    if alias is None or isinstance(alias, str):
        return None
    if any(isinstance(path, list) and len(path) == 1 for path in alias):
        return None
    return _refusal("an alias that is a path has no equal; give the field a plain alias")
