"""Public values: frozen, one wire mapping, and a repr without anybody's words."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass
from typing import TypedDict

import msgspec
import pydantic
import pytest

from intent_runtime.formats import ACTIONS, STATUSES
from intent_runtime.values import (
    DEFAULT_LIMITS,
    Clarification,
    ContextMessage,
    Evidence,
    EvidenceSource,
    ExecutorCapabilities,
    IntentItem,
    IntentLimits,
    IntentResult,
    ModelReply,
    ModelRequest,
    TokenUsage,
)

QUESTION = Clarification("哪个订单？ secret", ("secret A", "B"))
READY = IntentItem("i1", "query", "secret order", ("secret today",), "ready")
ASKING = IntentItem("i2", None, None, (), "needs_clarification", "secret why", (QUESTION,))
WAITING = IntentItem("i3", "delete", "secret file", (), "awaiting_confirmation", "先确认 secret")
EVIDENCE = Evidence("/data/orderId", "exact", (EvidenceSource("input", "secret 000123"),))


def result(**changes):
    parts = {
        "input": "secret 查询订单",
        "normalized_input": "Look up secret.",
        "primary_intent": None,
        "requirements": ("secret r",),
        "intents": (READY, ASKING, WAITING),
        "prohibitions": (),
        "data": {"orderId": "secret 000123"},
        "evidence": (EVIDENCE,),
    }
    return IntentResult(**{**parts, **changes})


WIRE = [
    (QUESTION, {"question": "哪个订单？ secret", "options": ["secret A", "B"]}),
    (Clarification("q"), {"question": "q", "options": []}),
    (
        READY,
        {
            "id": "i1",
            "action": "query",
            "target": "secret order",
            "requirements": ["secret today"],
            "status": "ready",
        },
    ),
    (
        ASKING,
        {
            "id": "i2",
            "action": None,
            "target": None,
            "requirements": [],
            "status": "needs_clarification",
            "reason": "secret why",
            "clarification": [QUESTION.to_dict()],
        },
    ),
    (
        WAITING,
        {
            "id": "i3",
            "action": "delete",
            "target": "secret file",
            "requirements": [],
            "status": "awaiting_confirmation",
            "reason": "先确认 secret",
        },
    ),
    (
        EVIDENCE,
        {
            "path": "/data/orderId",
            "mode": "exact",
            "sources": [{"sourceId": "input", "quote": "secret 000123"}],
        },
    ),
    (ContextMessage("tool", "secret"), {"role": "tool", "content": "secret"}),
    (
        ExecutorCapabilities(),
        {
            "nativeJsonSchema": False,
            "nativeJsonObject": False,
            "isolatedTurn": True,
            "supportsAbort": True,
        },
    ),
    (TokenUsage(3, 4), {"inputTokens": 3, "outputTokens": 4}),
    (
        ModelReply.complete("secret", usage=TokenUsage(1, 2)),
        {
            "outcome": "complete",
            "text": "secret",
            "detail": None,
            "usage": {"inputTokens": 1, "outputTokens": 2},
        },
    ),
    (
        ModelReply.refusal("secret"),
        {"outcome": "refusal", "text": None, "detail": "secret", "usage": None},
    ),
    (
        ModelReply.incomplete(),
        {"outcome": "incomplete", "text": None, "detail": None, "usage": None},
    ),
    (
        result(intents=()),
        {
            "input": "secret 查询订单",
            "normalizedInput": "Look up secret.",
            "primaryIntent": None,
            "requirements": ["secret r"],
            "intents": [],
            "prohibitions": [],
            "data": {"orderId": "secret 000123"},
        },
    ),
]
EVERY = [
    *(value for value, _ in WIRE),
    ModelRequest("core", "instructions secret", '{"currentInput":"secret"}'),
    result(),
]


def name(value):
    return type(value).__name__


@pytest.mark.parametrize(
    ("value", "wire"), WIRE, ids=[f"{name(v)}{n}" for n, (v, _) in enumerate(WIRE)]
)
def test_the_wire_shape_has_camel_case_keys_in_order(value, wire):
    assert value.to_dict() == wire
    assert json.dumps(value.to_dict()) == json.dumps(wire)
    assert value.to_json() == json.dumps(wire, ensure_ascii=False, separators=(",", ":"))


def test_a_result_has_its_seven_keys_always_and_no_process_data():
    wire = result(requirements=(), intents=(), data={}).to_dict()
    assert list(wire) == [
        "input",
        "normalizedInput",
        "primaryIntent",
        "requirements",
        "intents",
        "prohibitions",
        "data",
    ]
    assert wire["data"] == {}
    assert "evidence" not in result().to_json()


@pytest.mark.parametrize("value", EVERY, ids=name)
def test_a_dict_is_fresh_and_plain(value):
    first, second = value.to_dict(), value.to_dict()
    assert first == second
    first.clear()
    assert value.to_dict() == second
    assert json.loads(json.dumps(second)) == second


def test_what_is_done_to_a_dict_does_not_reach_the_value():
    value = result()
    wire = value.to_dict()
    wire["data"]["orderId"] = "other"
    wire["intents"][0]["requirements"].append("other")
    assert value.to_dict() == result().to_dict()


@pytest.mark.parametrize("value", [*EVERY, DEFAULT_LIMITS], ids=name)
def test_values_are_frozen(value):
    for field in value.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(value, field, None)


@pytest.mark.parametrize("value", EVERY, ids=name)
def test_a_repr_holds_nobodys_words(value):
    shown = repr(value)
    assert name(value) in shown
    assert "secret" not in shown
    assert "订单" not in shown
    assert str(value) == shown


def test_a_repr_tells_sizes_and_closed_words():
    shown = repr(READY)
    assert "'i1'" in shown
    assert "'query'" in shown
    assert "'ready'" in shown
    assert f"<{len('secret order')}>" in shown


@pytest.mark.parametrize("value", EVERY, ids=name)
def test_values_can_be_copied_and_pickled(value):
    pickled = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own bytes
    for twin in (copy.copy(value), copy.deepcopy(value), pickled):
        assert twin == value
        assert type(twin) is type(value)


def test_data_of_two_results_is_never_shared_by_default():
    one, other = (IntentResult("x", "x", None, (), (), ()) for _ in range(2))
    one.data["a"] = 1
    assert other.data == {}


@pytest.mark.parametrize("stage", ["core", "data"])
def test_the_format_of_a_request_is_a_copy_the_caller_may_mangle(stage):
    request = ModelRequest(stage, "i", "{}")
    before = copy.deepcopy(request.format)
    request.format["schema"] = None
    mangled = request.format
    mangled.clear()
    assert request.format == before
    assert request.to_dict() == {
        "stage": stage,
        "instructions": "i",
        "payload": "{}",
        "format": before,
    }


def test_the_closed_words_are_those_of_the_contract():
    assert ACTIONS == ("query", "analyze", "generate", "modify", "delete", "execute", "other")
    assert STATUSES == ("ready", "needs_clarification", "awaiting_confirmation", "conditional")


def test_limits_compare_and_are_part_of_no_secret():
    assert IntentLimits() == DEFAULT_LIMITS
    assert "max_input_bytes=65536" in repr(DEFAULT_LIMITS)


@dataclass
class Order:
    orderId: str  # noqa: N815 - the field's name on the wire
    qty: int = 1


class OrderDict(TypedDict):
    orderId: str


class OrderStruct(msgspec.Struct):
    orderId: str  # noqa: N815 - the field's name on the wire


class Model(pydantic.BaseModel):
    order_id: str = pydantic.Field(alias="orderId")


def test_data_becomes_a_typed_object():
    value = result(data={"orderId": "000123"})
    assert value.data_as(Order) == Order("000123")
    assert value.data_as(OrderDict) == {"orderId": "000123"}
    assert value.data_as(OrderStruct) == OrderStruct("000123")
    assert value.data_as(Model) == Model(orderId="000123")


def test_data_that_does_not_fit_a_type_raises_that_types_error():
    with pytest.raises(msgspec.ValidationError):
        result(data={"orderId": 5}).data_as(Order)
