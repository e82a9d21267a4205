"""Types as the schema of an Intent, and results as values of the type."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import textwrap
import typing
from datetime import date

import msgspec
import pydantic
import pytest
from pydantic import BaseModel, Field

from intent_runtime import Intent, IntentDataError, IntentParseError
from intent_runtime.executors import RulesExecutor

pytestmark = pytest.mark.slow


class OrderModel(BaseModel):
    order_id: str = Field(alias="orderId")
    due: date | None = None


@dataclasses.dataclass
class Order:
    """An order."""

    orderId: str  # noqa: N815 - the name on the wire
    due: date | None = None


class OrderDict(typing.TypedDict):
    orderId: str
    due: typing.NotRequired[date]


class OrderStruct(msgspec.Struct, rename="camel"):
    order_id: str
    due: date | None = None


class Painted(BaseModel):
    order_id: str = Field(alias="orderId")
    colour: str | None


@dataclasses.dataclass
class PlainPainted:
    orderId: str  # noqa: N815 - the name on the wire
    colour: str | None


class Listed(pydantic.RootModel[list[int]]):
    pass


DUE = date(2026, 12, 1)
KINDS = [
    (OrderModel, OrderModel(orderId="000123", due=DUE)),
    (Order, Order("000123", DUE)),
    (OrderDict, {"orderId": "000123", "due": DUE}),
    (OrderStruct, OrderStruct("000123", DUE)),
    (
        typing.Annotated[OrderModel, Field(description="An order.")],
        OrderModel(orderId="000123", due=DUE),
    ),
]


@pytest.mark.parametrize(("kind", "expected"), KINDS, ids=lambda value: str(value)[:30])
def test_a_type_is_a_schema_and_its_result_a_value_of_it(kind, expected):
    with Intent(schema=kind, executor=RulesExecutor()) as intent:
        result = intent.parse_sync("Find order 000123 due 2026-12-01")
    assert result.data == {"orderId": "000123", "due": "2026-12-01"}
    assert result.data_as(kind) == expected


def test_the_wire_configuration_takes_a_type_too():
    with Intent.from_config({"schema": Order, "executor": RulesExecutor()}) as intent:
        assert intent.parse_sync("查询订单 000123").data_as(Order) == Order("000123")


@pytest.mark.parametrize("text", ["Find order 000123", "查询订单 000123"])
@pytest.mark.parametrize("kind", [Painted, PlainPainted], ids=lambda kind: kind.__name__)
def test_a_required_nullable_field_that_is_not_mentioned_is_missing_not_null(kind, text):
    intent = Intent(schema=kind, executor=RulesExecutor())
    with intent, pytest.raises(IntentDataError) as caught:
        intent.parse_sync(text)
    missing = [(issue.code, issue.path) for issue in caught.value.issues]
    assert missing == [("DATA_REQUIRED_MISSING", "/data/colour")]


REFUSED = [
    (int, "int is no object with fields; pass a model, dataclass or TypedDict"),
    (list[int], "list[int] is no object with fields; pass a model, dataclass or TypedDict"),
    (Listed, "Listed is no object with fields; pass a model, dataclass or TypedDict"),
    (Order("1"), "this is an instance of Order; pass the class"),
    (OrderModel(orderId="1"), "this is an instance of OrderModel; pass the class"),
]


@pytest.mark.parametrize(("schema", "reason"), REFUSED, ids=lambda value: str(value)[:30])
def test_a_type_that_is_no_schema_is_a_configuration_error(schema, reason):
    for configure in (
        lambda: Intent(schema=schema),
        lambda: Intent.from_config({"schema": schema}),
    ):
        with pytest.raises(IntentParseError) as caught:
            configure()
        assert (caught.value.code, caught.value.stage) == ("SCHEMA_UNSUPPORTED", "config")
        assert caught.value.message == f"Schema at the root: {reason}."
        assert caught.value.__cause__ is None


def test_a_type_beyond_a_limit_exceeds_it():
    with pytest.raises(IntentParseError) as caught:
        Intent(schema=Order, limits={"max_schema_properties": 1})
    assert caught.value.code == "LIMIT_EXCEEDED"


def test_data_that_breaks_a_rule_in_python_raises_the_error_of_its_type():
    class Even(BaseModel):
        order_id: str = Field(alias="orderId")

        @pydantic.field_validator("order_id")
        @classmethod
        def even(cls, value: str) -> str:
            if int(value) % 2:
                raise ValueError("odd")
            return value

    with Intent(schema=Even, executor=RulesExecutor()) as intent:
        result = intent.parse_sync("Find order 000123")
    with pytest.raises(pydantic.ValidationError):
        result.data_as(Even)
    with pytest.raises(msgspec.ValidationError):
        result.data_as(dataclasses.make_dataclass("Wrong", [("orderId", int)]))


def fresh(code):
    """What a fresh interpreter prints; it must end well and without a word on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_dataclass_leaves_pydantic_unimported():
    printed = fresh(
        """
        import sys
        from dataclasses import dataclass
        from datetime import date
        from intent_runtime import Intent
        from intent_runtime.executors import RulesExecutor

        @dataclass
        class Order:
            orderId: str
            due: date | None = None

        with Intent(schema=Order, executor=RulesExecutor()) as intent:
            print(intent.parse_sync("Find order 000123").data_as(Order))
        print([name for name in sys.modules if name.startswith("pydantic")])
        """
    )
    assert printed == "Order(orderId='000123', due=None)\n[]\n"


def test_the_package_alone_imports_no_way_to_read_types():
    printed = fresh(
        """
        import sys
        from intent_runtime import Intent

        Intent(schema={"type": "object", "properties": {}})
        wanted = {"pydantic", "intent_runtime.typed", "intent_runtime.typed.plain"}
        print(sorted(wanted & set(sys.modules)))
        """
    )
    assert printed == "[]\n"
