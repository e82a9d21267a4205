"""Types that are no schema: cycles, roots without fields, mistakes, anything at all."""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import sys
import typing
from contextlib import suppress
from typing import Annotated, Any, Optional

import msgspec
import pydantic
import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from intent_runtime.schema.snapshot import SchemaError
from intent_runtime.typed import UnsupportedTypeError, is_python_type, load, schema_of
from support.typed_fields import model, plain, refusal, snapshot

pytestmark = pytest.mark.slow


class Node(BaseModel):
    parent: Node | None = None


class Left(BaseModel):
    right: Right | None = None


class Right(BaseModel):
    left: Left


class Holder(BaseModel):
    held: list[Left]


@dataclasses.dataclass
class PlainNode:
    children: list[PlainNode]


class DictNode(typing.TypedDict):
    children: dict[str, DictNode]


class StructLeft(msgspec.Struct):
    right: StructRight | None


class StructRight(msgspec.Struct):
    left: StructLeft


@dataclasses.dataclass
class Undefined:
    a: Nowhere  # noqa: F821 - the point of it


class UndefinedModel(BaseModel):
    a: Nowhere  # noqa: F821 - the point of it


class OldDict(typing.TypedDict):
    a: int


@dataclasses.dataclass
class Holding:
    model: Holder
    old: OldDict


class Raising(BaseModel):
    model_config = pydantic.ConfigDict(json_schema_extra=lambda _: 1 / 0)


class OddMeta(type):
    def __getattr__(cls, name):
        raise ZeroDivisionError


class Odd(metaclass=OddMeta):
    pass


class ArrayLike(msgspec.Struct, array_like=True):
    a: int


class Listed(pydantic.RootModel[list[int]]):
    pass


class Shape(typing.Protocol):
    sides: int


class Choice(enum.Enum):
    A = 1


CYCLES = [
    (Node, "/properties/parent/anyOf/0", "Node -> Node"),
    (
        Holder,
        "/properties/held/items/properties/right/anyOf/0/properties/left",
        "Left -> Right -> Left",
    ),
    (PlainNode, "/properties/children/items", "PlainNode -> PlainNode"),
    (DictNode, "/properties/children/additionalProperties", "DictNode -> DictNode"),
    (
        StructLeft,
        "/properties/right/anyOf/0/properties/left",
        "StructLeft -> StructRight -> StructLeft",
    ),
]


@pytest.mark.parametrize(("kind", "place", "chain"), CYCLES, ids=lambda value: str(value)[-30:])
def test_a_type_that_contains_itself_is_refused_by_the_names_of_the_cycle(kind, place, chain):
    reason = f"the type contains itself ({chain}); recursive types are not supported"
    assert refusal(kind) == f"Schema at {place}: {reason}."


ROOTS = [
    (int, "int"),
    (None, "None"),
    (Any, "Any"),
    (list[int], "list[int]"),
    (dict[str, int], "dict[str, int]"),
    (Choice, "Choice"),
    (Listed, "Listed"),
    (Optional[Annotated[int, Field(ge=1)]], "typing.Optional[typing.Annotated[int, "),
]


@pytest.mark.parametrize(("kind", "name"), ROOTS, ids=[name for _, name in ROOTS])
def test_the_root_has_fields(kind, name):
    message = refusal(kind)
    assert message.startswith(f"Schema at the root: {name}")
    assert message.endswith(" is no object with fields; pass a model, dataclass or TypedDict.")


@pytest.mark.parametrize(
    ("instance", "name"),
    [(Node(), "Node"), (PlainNode([]), "PlainNode"), (ArrayLike(1), "ArrayLike")],
    ids=["model", "dataclass", "struct"],
)
def test_an_instance_is_refused_with_the_advice_to_pass_its_class(instance, name):
    assert is_python_type(instance)
    assert (
        refusal(instance) == f"Schema at the root: this is an instance of {name}; pass the class."
    )


REASONS = [
    (Undefined, "Schema at the root: the type is not supported (name 'Nowhere' is not defined)."),
    (
        UndefinedModel,
        "Schema at the root: the type is not supported (it refers to a name that is not defined).",
    ),
    (
        Holding,
        (
            "Schema at /properties/old: the type is not supported (Please use "
            "`typing_extensions.TypedDict` instead of `typing.TypedDict` on Python < 3.12.)."
        ),
    ),
    (Raising, "Schema at the root: the type is not supported (division by zero)."),
    (Odd, "Schema at the root: the type cannot be read (ZeroDivisionError: )."),
    (
        ArrayLike,
        "Schema at the root: an array_like Struct has no equal; fields need names.",
    ),
]


@pytest.mark.skipif("sys.version_info >= (3, 12)", reason="later versions take typing.TypedDict")
def test_a_typed_dict_that_pydantic_cannot_take_is_refused_by_its_place():
    kind, message = REASONS[2]
    assert refusal(kind) == message


@pytest.mark.parametrize(
    ("kind", "message"), REASONS[:2] + REASONS[3:], ids=lambda value: str(value)[:40]
)
def test_a_type_that_cannot_be_read_is_refused(kind, message):
    assert refusal(kind) == message


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("(?i)a", "an unknown kind of group"), (r"a\z", "unknown escape"), (r"\Aa", "unknown escape")],
)
def test_a_pattern_that_only_its_own_engine_knows_ends_at_the_snapshot(pattern, reason):
    with pytest.raises(SchemaError, match=rf"Schema at /properties/v/pattern: .*{reason}"):
        snapshot(model(Annotated[str, Field(pattern=pattern)]))


def test_a_keyword_of_the_authors_own_ends_at_the_snapshot():
    with pytest.raises(
        SchemaError, match=r'Schema at /properties/v/x-own: "x-own" is not supported'
    ):
        snapshot(model(Annotated[int, Field(json_schema_extra={"x-own": 1})]))


def test_a_format_of_pydantics_own_ends_at_the_snapshot():
    with pytest.raises(SchemaError, match="Schema at /properties/v/format: the format must be"):
        snapshot(model(pydantic.IPvAnyNetwork))


P = typing.ParamSpec("P")
ODD = [
    P,
    typing.TypeVar("T"),
    typing.TypeVar("Bound", bound=Node),
    typing.AnyStr,
    typing.Self,
    typing.Never,
    typing.LiteralString,
    typing.ForwardRef("X"),
    typing.NewType("N", int),
    typing.NewType("M", PlainNode),
    collections.abc.Callable[..., int],
    collections.abc.Callable[P, int],
    collections.abc.Generator[int, None, None],
    typing.Unpack[tuple[int]],
    typing.Union,
    typing.Literal,
    typing.Annotated,
    typing.Generic,
    typing.ClassVar[int],
    typing.Final[int],
    typing.Required[int],
    typing.TypeGuard[int],
    typing.NamedTuple,
    typing.IO[str],
    typing.Pattern,
    typing.Hashable,
    typing.TypedDict,
    typing_extensions.TypeAliasType("Alias", list[int]),
    type[int],
    type,
    object,
    abc.ABC,
    enum.Enum,
    enum.Flag,
    property,
    range,
    Shape,
    Odd,
    Raising,
    BaseModel,
    msgspec.Struct,
    msgspec.Raw,
    msgspec.UnsetType,
    pydantic.ImportString,
    pydantic.OnErrorOmit[int],
    dataclasses.InitVar[int],
    print,
    ...,
    b"x",
    object(),
    int,
    str,
    None,
    Any,
    bytes,
    Node,
    DictNode,
]  # fmt: skip


def schema_or_message(kind):
    try:
        return schema_of(kind)
    except UnsupportedTypeError as error:
        return str(error)


def wrapped(kind):
    """Typing constructs around a type, those that can be built."""
    for build in (
        lambda: kind,
        lambda: list[kind],
        lambda: dict[str, kind],
        lambda: dict[kind, str],
        lambda: set[kind],
        lambda: tuple[kind, ...],
        lambda: Optional[kind],
        lambda: Annotated[kind, Field(description="d")],
        lambda: Annotated[kind, msgspec.Meta(description="d")],
        lambda: plain(kind),
        lambda: typing.TypedDict("D", {"v": kind}),
        lambda: model(kind),
    ):
        with suppress(Exception):
            yield build()


@pytest.mark.parametrize("kind", ODD, ids=range(len(ODD)))
def test_whatever_is_passed_nothing_but_a_refusal_is_raised(kind):
    for outer in wrapped(kind):
        for each in wrapped(outer):
            outcome = schema_or_message(each)
            assert isinstance(outcome, dict) or outcome.startswith("Schema at ")
            assert isinstance(outcome, dict) or len(outcome) < 600


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_json_values_are_no_types(value):
    assert not is_python_type(value)


@pytest.mark.parametrize(
    "kind",
    [int, Node, PlainNode, DictNode, list[int], Optional[int], int | None, Any, typing.Self, P],
    ids=str,
)
def test_classes_and_typing_constructs_are_types(kind):
    assert is_python_type(kind)


class Plugin(pydantic.BaseModel):
    name: pydantic.ImportString


class Plugins(pydantic.BaseModel):
    every: list[Plugin] = []
    callback: pydantic.ImportString[int] | None = None


@pytest.mark.parametrize("kind", [Plugin, Plugins, list[Plugin], pydantic.ImportString])
def test_nothing_is_imported_because_data_names_it(kind):
    for data in ({"name": "antigravity"}, {"every": [{"name": "antigravity"}]}, "antigravity", []):
        with pytest.raises(UnsupportedTypeError, match="ImportString"):
            load(kind, data)
    assert "antigravity" not in sys.modules
