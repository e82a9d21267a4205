"""Names, defaults, descriptions and inheritance of classes with fields."""

from __future__ import annotations

import dataclasses
import enum
import math
import typing
from datetime import date
from decimal import Decimal
from typing import Annotated, Generic, Optional, TypeVar

import msgspec
import pydantic
import pytest
import typing_extensions
from msgspec import Meta
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from intent_runtime.typed import load, schema_of
from support.typed_fields import field, model, refusal, snapshot

T = TypeVar("T")
STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}


class Aliased(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)
    plain: int
    aliased: int = Field(alias="wireAlias")
    validated: int = Field(validation_alias="validationAlias")
    choice: int = Field(validation_alias=AliasChoices(AliasPath("deep", 0), "first", "second"))
    written: int = Field(serialization_alias="never")


class Camel(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_alias=False, validate_by_name=True
    )
    order_id: str


class CamelStruct(msgspec.Struct, rename="camel"):
    order_id: str


class Defaults(BaseModel):
    """Defaults are told; what a factory makes is not."""

    count: int = 3
    tags: list[str] = Field(default_factory=list)
    colours: set[str] = {"b", "a"}
    price: Decimal = Decimal("1.5")
    day: date = date(2026, 12, 1)
    note: str | None = None
    odd: float = math.nan

    @pydantic.computed_field
    @property
    def total(self) -> int:
        return self.count


@dataclasses.dataclass
class PlainDefaults:
    """Defaults are told; what a factory makes is not."""

    count: int = 3
    tags: list[str] = dataclasses.field(default_factory=list)
    colours: frozenset[str] = frozenset({"b", "a"})
    price: Decimal = Decimal("1.5")
    day: date = date(2026, 12, 1)
    note: Optional[str] = None
    odd: float = math.nan
    anything: object = dataclasses.field(default_factory=int, init=False)

    shared: typing.ClassVar[int] = 3


class Page(BaseModel, Generic[T]):
    """A page."""

    items: list[T]


@dataclasses.dataclass
class PlainPage(Generic[T]):
    """A page."""

    items: list[T]


class Base(BaseModel):
    """A base."""

    first: int


class Derived(Base):
    second: int


class Zoo(typing.TypedDict):
    """Animals."""

    zebra: int
    ape: typing.NotRequired[str]
    bear: Annotated[str, Meta(description="A bear.")]


class PartialZoo(typing.TypedDict, total=False):
    zebra: typing.Required[int]
    ape: str


class Shade(enum.Enum):
    """How dark."""

    DARK = "dark"
    LIGHT = "light"


@dataclasses.dataclass
class Undescribed:
    shade: Shade


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", title="A title")
    a: int = Field(title="Of a field", examples=[1])


@pydantic.dataclasses.dataclass
class PydanticDataclass:
    """Written by hand."""

    a: int
    b: Annotated[str, Field(alias="wire")] = "x"


class Branch(BaseModel):
    left: Base
    right: Base = Field(description="The other.")


def test_aliases_are_the_names_on_the_wire():
    schema = snapshot(Aliased)
    names = ["plain", "wireAlias", "validationAlias", "first", "written"]
    assert list(schema["properties"]) == names
    assert schema["required"] == names
    loaded = load(Aliased, dict.fromkeys(names, 1))
    assert loaded.aliased == loaded.validated == loaded.choice == 1


@pytest.mark.parametrize("kind", [Camel, CamelStruct], ids=str)
def test_generated_aliases_load_whatever_the_model_prefers(kind):
    assert list(snapshot(kind)["properties"]) == ["orderId"]
    assert load(kind, {"orderId": "7"}).order_id == "7"


def test_an_alias_that_is_only_a_path_is_refused():
    class Deep(BaseModel):
        x: int = Field(validation_alias=AliasPath("a", 0))

    reason = "an alias that is a path has no equal; give the field a plain alias"
    assert refusal(Deep) == f"Schema at /properties/x: {reason}."


def test_defaults_make_fields_optional_and_are_told_when_json_holds_them():
    schema = snapshot(Defaults)
    defaults = {name: child.get("default", "none") for name, child in schema["properties"].items()}
    assert defaults == {
        "count": 3,
        "tags": "none",
        "colours": ["a", "b"],
        "price": "1.5",
        "day": "2026-12-01",
        "note": None,
        "odd": "none",
    }
    assert "required" not in schema


def test_defaults_of_a_dataclass_are_told_alike():
    @dataclasses.dataclass
    class Told(PlainDefaults):
        anything: int = 0  # type: ignore[assignment]

    found = snapshot(Told)["properties"]
    expected = snapshot(Defaults)["properties"]
    assert found.pop("anything") == {"type": "integer", "default": 0}
    assert found == expected


def test_a_required_nullable_field_stays_required():
    schema = snapshot(model(Optional[int]))
    assert schema["required"] == ["v"]
    assert schema["properties"]["v"] == {"anyOf": [INTEGER, NULL]}


@pytest.mark.parametrize("kind", [Page[int], PlainPage[int]], ids=str)
def test_a_parametrised_class_keeps_its_description(kind):
    assert snapshot(kind) == {
        "type": "object",
        "description": "A page.",
        "properties": {"items": {"type": "array", "items": INTEGER}},
        "required": ["items"],
    }


def test_inherited_fields_come_first_and_the_base_docstring_stays_with_the_base():
    assert snapshot(Derived) == {
        "type": "object",
        "properties": {"first": INTEGER, "second": INTEGER},
        "required": ["first", "second"],
    }


def test_typed_dicts_keep_their_order_and_say_what_is_required():
    assert snapshot(Zoo) == {
        "type": "object",
        "description": "Animals.",
        "properties": {
            "zebra": INTEGER,
            "ape": STRING,
            "bear": {"type": "string", "description": "A bear."},
        },
        "required": ["zebra", "bear"],
    }
    assert list(schema_of(Zoo)["properties"]) == ["zebra", "ape", "bear"]
    assert snapshot(PartialZoo)["required"] == ["zebra"]


def test_a_typed_dict_inside_a_model_nests():
    class Keeper(typing_extensions.TypedDict, total=False):
        name: typing_extensions.Required[str]
        age: int

    assert field(model(Keeper)) == {
        "type": "object",
        "properties": {"name": STRING, "age": INTEGER},
        "required": ["name"],
    }


def test_only_docstrings_written_by_hand_become_descriptions():
    schema = snapshot(Undescribed)
    assert "description" not in schema
    assert schema["properties"]["shade"] == {
        "type": "string",
        "enum": ["dark", "light"],
        "description": "How dark.",
    }


def test_the_extra_setting_decides_about_further_members():
    assert snapshot(Open) == {"type": "object", "properties": {}, "additionalProperties": True}
    assert snapshot(Closed)["additionalProperties"] is False


def test_explicit_titles_stay_and_generated_ones_go():
    assert snapshot(Closed)["title"] == "A title"
    assert field_of(Closed, "a") == {**INTEGER, "title": "Of a field", "examples": [1]}
    assert "title" not in snapshot(Derived)


def test_a_pydantic_dataclass_is_a_model():
    assert snapshot(PydanticDataclass) == {
        "type": "object",
        "description": "Written by hand.",
        "properties": {"a": INTEGER, "wire": {**STRING, "default": "x"}},
        "required": ["a"],
    }


def test_a_description_next_to_a_model_goes_before_its_docstring():
    inner = {"type": "object", "properties": {"first": INTEGER}, "required": ["first"]}
    assert snapshot(Branch)["properties"] == {
        "left": {**inner, "description": "A base."},
        "right": {**inner, "description": "The other."},
    }


@pytest.mark.parametrize(
    "kind",
    [Annotated[Derived, Field(description="Mine.")], Annotated[Undescribed, Meta(description="Mine.")]],
    ids=str,
)  # fmt: skip
def test_an_annotated_type_describes_the_root(kind):
    assert snapshot(kind)["description"] == "Mine."


def test_structs_are_told_apart_by_their_tag():
    class Disc(msgspec.Struct, tag="disc", tag_field="kind", forbid_unknown_fields=True):
        radius: float

    assert snapshot(Disc) == {
        "type": "object",
        "properties": {"radius": {"type": "number"}, "kind": {"type": "string", "const": "disc"}},
        "required": ["kind", "radius"],
        "additionalProperties": False,
    }


def test_a_model_of_one_root_object_is_that_object():
    class Wrapped(pydantic.RootModel[Derived]):
        pass

    assert snapshot(Wrapped)["properties"] == snapshot(Derived)["properties"]


def field_of(kind, name):
    return snapshot(kind)["properties"][name]
