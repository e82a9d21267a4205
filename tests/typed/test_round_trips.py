"""What the schema of a type accepts loads into the type, and its values fit the schema."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections import deque
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import msgspec
import pydantic
import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta
from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from intent_runtime.schema.native import NativeSchema
from intent_runtime.typed import load
from support.schema_values import TEXT, ZONES, values
from support.typed_fields import Colour, Level, Mixed, Word, model, plain, snapshot, to_json

pytestmark = pytest.mark.slow


@dataclasses.dataclass(frozen=True)
class Part:
    sku: str
    count: int = 1


class PartDict(typing_extensions.TypedDict, total=False):
    sku: str


class PartModel(BaseModel):
    model_config = pydantic.ConfigDict(alias_generator=to_camel)
    sku_code: str
    made_on: date | None = None


class Closed(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    sku_code: str
    made_on: date | None = None


class Square(msgspec.Struct, tag="square"):
    side: int


class Disc(msgspec.Struct, tag="disc"):
    radius: float


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


class Strict(BaseModel):
    model_config = pydantic.ConfigDict(strict=True)
    count: int
    price: Decimal
    made_on: date
    made_at: datetime
    colours: set[Colour]
    id: UUID


COMMON = [
    str,
    int,
    float,
    bool,
    None,
    Any,
    Decimal,
    date,
    time,
    datetime,
    timedelta,
    UUID,
    Colour,
    Level,
    Word,
    Literal["a", "b"],
    Literal[1, "a"],
    Literal[True, None],
    Optional[int],
    int | float | None,
    list[int | None],
    set[int],
    set,
    frozenset[str],
    tuple[date, ...],
    dict[str, Decimal],
    dict,
    list,
    Part,
    set[Part],
    list[PartDict],
]
PLAIN = [
    Annotated[int, Meta(ge=1, lt=90, multiple_of=3)],
    Annotated[float, Meta(gt=0, le=1.5, multiple_of=0.25)],
    Annotated[str, Meta(min_length=1, max_length=3, pattern="^[a-z]+$")],
    Closed,
    Square | Disc,
    int | Decimal,
]
PYDANTIC = [
    Mixed,
    Literal[Word.ONLY],
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    pydantic.IPvAnyAddress,
    pydantic.SecretStr,
    pydantic.AnyUrl,
    pydantic.HttpUrl,
    pydantic.FileUrl,
    pydantic.UUID4,
    pydantic.UUID1,
    pydantic.AwareDatetime,
    pydantic.JsonValue,
    deque[int],
    Annotated[Decimal, Field(ge=0, max_digits=5, decimal_places=2)],
    Annotated[Decimal, Field(multiple_of=Decimal("0.5"), gt=-9, lt=9)],
    Annotated[float, Field(multiple_of=0.1, ge=-9, le=9)],
    Annotated[str, Field(min_length=1, max_length=3, pattern="^[a-z]+$")],
    Annotated[Cat | Dog, Field(discriminator="kind")],
    Strict,
    PartModel,
    list[PartModel],
    int | date | str,
    pydantic.conlist(int, min_length=1, max_length=2),
]


def check_that_valid_data_loads(kind):
    schema = snapshot(kind)
    native = NativeSchema(schema)

    @given(values(schema))
    def run(data):
        assert native.is_valid(data)
        load(kind, data)

    run()


@pytest.mark.parametrize("kind", COMMON + PLAIN, ids=str)
def test_data_valid_under_the_schema_loads_into_a_dataclass(kind):
    check_that_valid_data_loads(plain(kind))


@pytest.mark.parametrize("kind", COMMON + PYDANTIC, ids=str)
def test_data_valid_under_the_schema_loads_into_a_pydantic_model(kind):
    check_that_valid_data_loads(model(kind))


def test_valid_email_addresses_load():
    pytest.importorskip("email_validator")
    check_that_valid_data_loads(model(pydantic.EmailStr))


# Neither library writes every length of time as RFC 3339 has it: parts of seconds, negative ones,
# hours with seconds and no minutes. Whole hours of less than a year they do.
HOURS = st.integers(0, 364 * 24).map(lambda hours: timedelta(hours=hours))
NUMBERS = st.floats(-1e15, 1e15)
SAFE = st.integers(-(2**53) + 1, 2**53 - 1)
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20)

TYPED = [
    (str, TEXT),
    (int, SAFE),
    (float, NUMBERS),
    (bool, st.booleans()),
    (Decimal, DECIMALS.filter(lambda number: abs(number.adjusted()) < 300)),
    (date, st.dates()),
    (time, st.builds(time.replace, st.times(), tzinfo=ZONES)),
    (datetime, st.datetimes(timezones=ZONES)),
    (timedelta, HOURS),
    (UUID, st.uuids()),
    (Colour, st.sampled_from(Colour)),
    (Level, st.sampled_from(Level)),
    (Literal[1, "a"], st.sampled_from([1, "a"])),
    (Optional[list[int | None]], st.none() | st.lists(st.none() | SAFE, max_size=3)),
    (set[int], st.sets(SAFE, max_size=3)),
    (tuple[str, ...], st.lists(TEXT, max_size=3).map(tuple)),
    (dict[str, float], st.dictionaries(TEXT, NUMBERS, max_size=3)),
    (Part, st.builds(Part, TEXT, SAFE)),
    (list[PartDict], st.lists(st.fixed_dictionaries({}, optional={"sku": TEXT}), max_size=2)),
]
TYPED_PLAIN = [
    (Closed, st.builds(Closed, TEXT, st.none() | st.dates())),
    (Square | Disc, st.builds(Square, SAFE) | st.builds(Disc, NUMBERS)),
]
TYPED_PYDANTIC = [
    (ipaddress.IPv6Address, st.ip_addresses(v=6)),
    (PartModel, st.builds(PartModel, skuCode=TEXT, madeOn=st.none() | st.dates())),
    (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        st.just(Cat()) | st.builds(Dog, kind=st.just("dog"), name=TEXT),
    ),
]


def check_that_values_come_back(kind, drawn):
    native = NativeSchema(snapshot(kind))

    @given(drawn)
    def run(value):
        whole = kind(v=value)
        data = to_json(kind, whole)
        assert native.is_valid(data)
        assert load(kind, data) == whole

    run()


@pytest.mark.parametrize(("kind", "drawn"), TYPED + TYPED_PLAIN, ids=str)
def test_values_of_a_dataclass_fit_its_schema_and_come_back(kind, drawn):
    check_that_values_come_back(plain(kind), drawn)


@pytest.mark.parametrize(("kind", "drawn"), TYPED + TYPED_PYDANTIC, ids=str)
def test_values_of_a_pydantic_model_fit_its_schema_and_come_back(kind, drawn):
    check_that_values_come_back(model(kind), drawn)
