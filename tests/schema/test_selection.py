"""Selections of fields and their projections (contract section 5)."""

from __future__ import annotations

import json

import pytest

from intent_runtime.schema.selection import Selections

SCHEMA = {
    "type": "object",
    "description": "About one order.",
    "properties": {
        "orderId": {"type": "string", "minLength": 1},
        "a/b~c": {"type": "array", "items": {"required": ["x"], "additionalProperties": True}},
        "__proto__": True,
        "备注": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["备注", "orderId"],
    "additionalProperties": True,
    "title": "Order",
}


def projection(*names):
    return Selections(SCHEMA, 8).projection(names)


def test_a_projection_holds_exactly_four_keys_in_order():
    schema = projection("orderId").schema
    assert list(schema) == ["type", "properties", "required", "additionalProperties"]
    assert schema["additionalProperties"] is False
    assert schema["type"] == "object"


@pytest.mark.parametrize(
    ("names", "required"),
    [
        ((), []),
        (("a/b~c",), []),
        (("orderId",), ["orderId"]),
        (("orderId", "备注"), ["备注", "orderId"]),
        (("__proto__", "备注"), ["备注"]),
        (tuple(SCHEMA["properties"]), ["备注", "orderId"]),
    ],
)
def test_required_is_always_there_and_keeps_the_schemas_order(names, required):
    found = projection(*names)
    assert found.schema["required"] == required
    assert found.required == set(required)


def test_properties_are_the_selected_ones_in_order_of_mention_and_untouched():
    found = projection("备注", "a/b~c")
    assert list(found.schema["properties"]) == ["备注", "a/b~c"]
    assert found.schema["properties"]["a/b~c"] == SCHEMA["properties"]["a/b~c"]


def test_the_json_of_a_projection_is_its_schema():
    found = projection("orderId", "备注")
    assert json.loads(found.json) == found.schema
    assert " " not in found.json


@pytest.mark.parametrize(
    ("names", "data", "valid"),
    [
        (("orderId",), {"orderId": "1"}, True),
        (("orderId",), {"orderId": ""}, False),
        (("orderId",), {}, False),
        (("orderId",), {"orderId": "1", "other": 1}, False),
        (("a/b~c",), {"a/b~c": [{"x": 1, "y": 2}]}, True),
        (("a/b~c",), {"a/b~c": [{}]}, False),
        (("__proto__",), {"__proto__": 1}, True),
        ((), {}, True),
        ((), {"orderId": "1"}, False),
    ],
)
def test_a_projection_validates_only_its_fields(names, data, valid):
    assert projection(*names).native.is_valid(data) == valid


def test_known_fields_are_those_of_the_schema():
    assert list(Selections(SCHEMA, 8).known) == list(SCHEMA["properties"])


def test_a_selection_is_kept_and_another_order_is_another_selection():
    selections = Selections(SCHEMA, 8)
    one = selections.projection(("orderId", "备注"))
    assert selections.projection(("orderId", "备注")) is one
    assert selections.projection(("备注", "orderId")) is not one
    assert one.native is one.native


def test_the_least_recently_used_selection_goes():
    selections = Selections(SCHEMA, 2)
    first, second = selections.projection(("orderId",)), selections.projection(("备注",))
    assert selections.projection(("orderId",)) is first
    selections.projection(())
    assert selections.projection(("orderId",)) is first
    assert selections.projection(("备注",)) is not second


def test_the_cache_never_holds_more_than_its_bound():
    selections = Selections({"properties": {f"f{n}": {} for n in range(50)}}, 3)
    for name in selections.known:
        selections.projection((name,))
    assert len(selections._projections) == 3
