"""What each type of a field becomes in both families, or the exact refusal."""

from __future__ import annotations

import collections
import dataclasses
import enum
import ipaddress
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, Union
from uuid import UUID

import pydantic
import pytest
import typing_extensions
from msgspec import Meta
from pydantic import BaseModel, Field

from intent_runtime.typed.spellings import DECIMAL_PATTERN
from support.typed_fields import Colour, Level, Mixed, Word, field, model, plain, refusal

Name = NewType("Name", str)


class Pairs(enum.Enum):
    ONE = (1, 2)


@dataclasses.dataclass
class Part:
    """A part."""

    sku: str


@dataclasses.dataclass(frozen=True)
class Frozen:
    sku: str


class PartModel(BaseModel):
    """A part."""

    sku: str


class Box(BaseModel):
    part: PartModel


class PartDict(typing_extensions.TypedDict, total=False):
    sku: str


class Point(NamedTuple):
    x: int


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"


class Dog(BaseModel):
    kind: Literal["dog"]


STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}
DECIMAL = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": DECIMAL_PATTERN}]}
PART = {
    "type": "object",
    "description": "A part.",
    "properties": {"sku": STRING},
    "required": ["sku"],
}
SCALARS = {"type": ["string", "number", "boolean", "null"]}
NO_BYTES = "bytes have no equal in JSON; use str"
NO_TUPLE = "a tuple with positional types has no equal; use list, tuple[X, ...] or a nested model"
NO_KEYS = "the keys of a dict must be plain str"
NO_SET = "a set cannot hold members without a hash; use list"
NO_NAIVE = "a date-time or time without an offset has no equal; use an aware one"
NO_PATTERN = "the pattern means something else under ECMA-262"
NO_JSON = "Json, text that holds JSON, has no equal; use the type of its content"
NO_DISK = "a path that must exist on disk has no equal; use Path"

# Types that both families know and write alike.
COMMON = [
    (str, STRING),
    (int, INTEGER),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, NULL),
    (Any, {}),
    (Decimal, DECIMAL),
    (date, {"type": "string", "format": "date"}),
    (time, {"type": "string", "format": "time"}),
    (datetime, {"type": "string", "format": "date-time"}),
    (UUID, {"type": "string", "format": "uuid"}),
    (Name, STRING),
    (Colour, {"type": "string", "enum": ["red", "blue"]}),
    (Level, {"type": "integer", "enum": [1, 2]}),
    (Literal["a"], {"type": "string", "const": "a"}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal[1, "a"], {"enum": [1, "a"]}),
    (Literal[None], {"type": "null", "const": None}),
    (Literal[True], {"type": "boolean", "const": True}),
    (Optional[int], {"anyOf": [INTEGER, NULL]}),
    (int | str, {"anyOf": [INTEGER, STRING]}),
    (Union[int, str, None], {"anyOf": [INTEGER, STRING, NULL]}),
    (
        Optional[list[int | None]],
        {"anyOf": [{"type": "array", "items": {"anyOf": [INTEGER, NULL]}}, NULL]},
    ),
    (list[int], {"type": "array", "items": INTEGER}),
    (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}),
    (frozenset[str], {"type": "array", "items": STRING, "uniqueItems": True}),
    (set, {"type": "array", "items": SCALARS, "uniqueItems": True}),
    (tuple[int, ...], {"type": "array", "items": INTEGER}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    (dict, {"type": "object", "additionalProperties": True}),
    (Part, PART),
    (list[Part], {"type": "array", "items": PART}),
    (PartDict, {"type": "object", "properties": {"sku": STRING}}),
    (
        set[Frozen],
        {
            "type": "array",
            "items": {"type": "object", "properties": {"sku": STRING}, "required": ["sku"]},
            "uniqueItems": True,
        },
    ),
]

PLAIN = [
    (
        timedelta,
        {
            "type": "string",
            "format": "duration",
            "pattern": "^P(?:[0-9]{1,6}D)?(?:T(?:[0-9]{1,6}[HMS])+)?$",
        },
    ),
    (list, {"type": "array"}),
    (Word, {"type": "string", "const": "only"}),
    (Annotated[int, Meta(ge=1, lt=9)], {"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
    (
        Annotated[float, Meta(gt=0, le=1.5, multiple_of=0.25)],
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1.5, "multipleOf": 0.25},
    ),
    (
        Annotated[str, Meta(min_length=1, max_length=3, pattern="^[a-z]+$")],
        {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-z]+$"},
    ),
    (
        Annotated[list[int], Meta(min_length=1, max_length=2)],
        {"type": "array", "items": INTEGER, "minItems": 1, "maxItems": 2},
    ),
    (
        Annotated[str, Meta(title="T", description="d", examples=["x"])],
        {"type": "string", "title": "T", "description": "d", "examples": ["x"]},
    ),
    (Annotated[datetime, Meta(tz=True)], {"type": "string", "format": "date-time"}),
]

PYDANTIC = [
    (
        timedelta,
        {
            "type": "string",
            "format": "duration",
            "pattern": "^P(?:T?[0-9]{1,6}[YMWDHS])+$",
        },
    ),
    (object, {}),
    (Word, {"type": "string", "enum": ["only"]}),
    (Mixed, {"enum": ["a", 1, None]}),
    (Literal[Word.ONLY], {"type": "string", "const": "only"}),
    (ipaddress.IPv4Address, {"type": "string", "format": "ipv4"}),
    (ipaddress.IPv6Address, {"type": "string", "format": "ipv6"}),
    (
        pydantic.IPvAnyAddress,
        {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]},
    ),
    (Path, STRING),
    (pydantic.NewPath, STRING),
    (pydantic.SecretStr, STRING),
    (pydantic.AnyUrl, {"type": "string", "format": "uri"}),
    (
        pydantic.HttpUrl,
        {"type": "string", "format": "url", "pattern": "^(?:http|https):", "maxLength": 2083},
    ),
    (pydantic.FileUrl, {"type": "string", "format": "uri", "pattern": "^(?:file):"}),
    (pydantic.UUID4, {"type": "string", "format": "uuid", "pattern": "^.{14}4.{4}[89abAB]"}),
    (pydantic.PastDate, {"type": "string", "format": "date"}),
    (pydantic.AwareDatetime, {"type": "string", "format": "date-time"}),
    (pydantic.JsonValue, {}),
    (re.Pattern[str], {"type": "string", "format": "regex"}),
    (
        pydantic.conint(ge=1, lt=9, multiple_of=2),
        {"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2},
    ),
    (
        pydantic.constr(min_length=1, max_length=3, pattern="^[a-z]+$"),
        {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[a-z]+$"},
    ),
    (pydantic.conlist(int, min_length=1), {"type": "array", "items": INTEGER, "minItems": 1}),
    (pydantic.StrictInt, INTEGER),
    (pydantic.FiniteFloat, {"type": "number"}),
    (
        Annotated[Decimal, Field(ge=0, max_digits=5, decimal_places=2)],
        {
            "type": "number",
            "minimum": 0,
            "multipleOf": 0.01,
            "exclusiveMinimum": -1000,
            "exclusiveMaximum": 1000,
        },
    ),
    (
        Annotated[Decimal, Field(multiple_of=Decimal("0.5"), decimal_places=2)],
        {"type": "number", "multipleOf": 0.5, "allOf": [{"multipleOf": 0.01}]},
    ),
    (collections.deque[int], {"type": "array", "items": INTEGER}),
    (collections.OrderedDict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    (collections.Counter[str], {"type": "object", "additionalProperties": INTEGER}),
    (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}),
    (int | date | str, {"anyOf": [INTEGER, {"type": "string", "format": "date"}, STRING]}),
    (PartModel, PART),
    (Box, {"type": "object", "properties": {"part": PART}, "required": ["part"]}),
    (list[PartModel], {"type": "array", "items": PART}),
    (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"type": "string", "const": "cat", "default": "cat"}},
                },
                {
                    "type": "object",
                    "properties": {"kind": {"type": "string", "const": "dog"}},
                    "required": ["kind"],
                },
            ],
            "required": ["kind"],
        },
    ),
    (Annotated[str, Field(pattern=r"^a && b$")], {"type": "string", "pattern": "^a && b$"}),
    (Annotated[str, Field(pattern=re.compile("^é"))], {"type": "string", "pattern": "^é"}),
    (
        Annotated[int, Field(title="T", description="d")],
        {**INTEGER, "title": "T", "description": "d"},
    ),
    (Annotated[PartModel, Field(description="Mine.")], {**PART, "description": "Mine."}),
    (Annotated[int, Field(deprecated=True, examples=[1])], {**INTEGER, "examples": [1]}),
]

REFUSED_ALIKE = [
    (bytes, "", NO_BYTES),
    (list[bytes], "/items", NO_BYTES),
    (Optional[bytes], "/anyOf/0", NO_BYTES),
    (tuple[int, str], "", NO_TUPLE),
    (Point, "", NO_TUPLE),
    (dict[int, str], "", NO_KEYS),
    (dict[str, dict[date, int]], "/additionalProperties", NO_KEYS),
    (set[list[int]], "", NO_SET),
    (set[Part], "", NO_SET),
    (list[set[PartDict]], "/items", NO_SET),
]

REFUSED_PLAIN = [
    (bytearray, "", NO_BYTES),
    (memoryview, "", NO_BYTES),
    (tuple[()], "", NO_TUPLE),
    (object, "", "object has no equal in JSON"),
    (complex, "", "complex has no equal in JSON"),
    (type[int], "", "type has no equal in JSON"),
    (collections.abc.Callable[..., int], "", "Callable has no equal in JSON"),
    (ipaddress.IPv4Address, "", "IPv4Address is only supported in a Pydantic model"),
    (list[Path], "/items", "Path is only supported in a Pydantic model"),
    (ipaddress.IPv4Network, "", "IPv4Network has no equal in JSON"),
    (dict[Annotated[str, Meta(min_length=2)], int], "", NO_KEYS),
    (Annotated[datetime, Meta(tz=False)], "", NO_NAIVE),
    (Annotated[str, Meta(pattern="x[]a[b]")], "", NO_PATTERN),
    (
        Annotated[float, Meta(multiple_of=0.1)],
        "",
        "multiple_of=0.1 is not exact for float; use int or Decimal",
    ),
    (
        Mixed,
        "",
        (
            "the type is not supported (Enums must contain either all str or all int values - type "
            "`<enum 'Mixed'>` is not supported)"
        ),
    ),
    (
        list[Literal[1.5]],
        "/items",
        (
            "the type is not supported (Literal may only contain None/booleans/integers/strings - "
            "typing.Literal[1.5] is not supported)"
        ),
    ),
]

REFUSED_PYDANTIC = [
    (complex, "", "a complex number has no equal in JSON"),
    (type[int], "", "a class has no equal in JSON"),
    (collections.abc.Callable[..., int], "", "a callable has no equal in JSON"),
    (pydantic.SecretBytes, "", NO_BYTES),
    (pydantic.Json, "", NO_JSON),
    (pydantic.Json[list[int]], "", NO_JSON),
    (pydantic.ImportString, "", "ImportString would import what a model names"),
    (pydantic.ImportString[int], "", "ImportString would import what a model names"),
    (pydantic.FilePath, "", NO_DISK),
    (pydantic.DirectoryPath, "", NO_DISK),
    (pydantic.NaiveDatetime, "", NO_NAIVE),
    (dict[pydantic.constr(min_length=2), int], "", NO_KEYS),
    (set[PartModel], "", NO_SET),
    (Pairs, "", "an Enum of other than str, int, float, bool and None has no equal"),
    (
        Literal[Colour.RED],
        "",
        "a Literal of other than str, int, bool and None has no equal",
    ),
    (
        Annotated[Decimal, Field(max_digits=5)],
        "",
        "max_digits has no equal without decimal_places of at most as many",
    ),
    (
        Annotated[str, Field(pattern=re.compile("a", re.IGNORECASE))],
        "",
        "a pattern with flags has no equal",
    ),
    (Annotated[str, Field(pattern=r"a\<b")], "", NO_PATTERN),
    (Annotated[str, Field(pattern="x[^a--b]")], "", NO_PATTERN),
]


def ids(rows):
    return [re.sub(r"[\w.]+\.", "", str(row[0]))[:60] for row in rows]


@pytest.mark.parametrize(("kind", "schema"), COMMON + PLAIN, ids=ids(COMMON + PLAIN))
def test_a_field_of_a_dataclass_becomes(kind, schema):
    assert field(plain(kind)) == schema


@pytest.mark.parametrize(("kind", "schema"), COMMON + PYDANTIC, ids=ids(COMMON + PYDANTIC))
def test_a_field_of_a_pydantic_model_becomes(kind, schema):
    assert field(model(kind)) == schema


@pytest.mark.parametrize(
    ("kind", "place", "reason"),
    REFUSED_ALIKE + REFUSED_PLAIN,
    ids=ids(REFUSED_ALIKE + REFUSED_PLAIN),
)
def test_a_field_of_a_dataclass_is_refused_by_its_place(kind, place, reason):
    assert refusal(plain(kind)) == f"Schema at /properties/v{place}: {reason}."


@pytest.mark.parametrize(
    ("kind", "place", "reason"),
    REFUSED_ALIKE + REFUSED_PYDANTIC,
    ids=ids(REFUSED_ALIKE + REFUSED_PYDANTIC),
)
def test_a_field_of_a_pydantic_model_is_refused_by_its_place(kind, place, reason):
    assert refusal(model(kind)) == f"Schema at /properties/v{place}: {reason}."


def test_an_email_field_has_the_format():
    pytest.importorskip("email_validator")
    assert field(model(pydantic.EmailStr)) == {"type": "string", "format": "email"}


@pytest.mark.parametrize(
    "kind", [PartModel, pydantic.SecretStr, Annotated[int, Field(ge=1)]], ids=str
)
def test_a_dataclass_with_something_of_pydantics_is_pydantics(kind):
    assert field(plain(kind)) == field(model(kind))
