"""The schema of Pydantic's Decimal under its constraints."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from intent_runtime.typed.inline import REFUSAL
from intent_runtime.typed.spellings import DECIMAL

_Schema = dict[str, Any]

_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


def decimal_schema(core: Mapping[str, Any]) -> _Schema:
    """A number or its text when unconstrained; only a number when bounds must hold.

    No pattern without look-around compares numbers, so text is left out where bounds must hold.
    """
    bounds: _Schema = {
        keyword: _number(core[name])
        for name, keyword in _BOUNDS.items()
        if core.get(name) is not None
    }
    places, digits = core.get("decimal_places"), core.get("max_digits")
    if digits is not None and (places is None or places > digits):
        return {REFUSAL: "max_digits has no equal without decimal_places of at most as many"}
    parts = [bounds]
    if places is not None:
        parts.append({"multipleOf": _number(Decimal(1).scaleb(-places))})
    if digits is not None:
        limit = 10 ** (digits - places)
        parts.append({"exclusiveMinimum": -limit, "exclusiveMaximum": limit})
    return _all_of(parts) if any(parts) else dict(DECIMAL)


def _all_of(parts: list[_Schema]) -> _Schema:
    """One number schema; `allOf` takes the parts whose keywords are taken already."""
    schema: _Schema = {"type": "number"}
    further: list[_Schema] = []
    for part in parts:
        if schema.keys().isdisjoint(part):
            schema.update(part)
        else:
            further.append(part)
    return {**schema, "allOf": further} if further else schema


def _number(value: Any) -> int | float:
    """A bound as JSON has it."""
    number = Decimal(value)
    return int(number) if number == number.to_integral_value() else float(number)
