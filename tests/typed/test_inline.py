"""Pydantic's schemas without references and without what is not Draft-7."""

from __future__ import annotations

import pytest

from intent_runtime.schema.snapshot import SchemaError, snapshot_schema
from intent_runtime.typed import UnsupportedTypeError
from intent_runtime.typed.inline import inline
from intent_runtime.values import IntentLimits
from support.snapshots import with_field

PART = {"type": "object", "properties": {"sku": {"type": "string"}}, "description": "A part."}


def inlined(schema, **definitions):
    """The schema of a field, inlined in a document with these definitions."""
    return inline({**with_field(schema), "$defs": definitions})["properties"]["v"]


ROWS = [
    ("reference", {"$ref": "#/$defs/Part"}, PART),
    ("twice", {"anyOf": [{"$ref": "#/$defs/Part"}] * 2}, {"anyOf": [PART, PART]}),
    (
        "annotations_go_before",
        {"$ref": "#/$defs/Part", "description": "Mine.", "default": None},
        {**PART, "description": "Mine.", "default": None},
    ),
    (
        "constraints_go_beside",
        {"$ref": "#/$defs/Part", "required": ["sku"], "description": "Mine."},
        {
            "required": ["sku"],
            "description": "Mine.",
            "allOf": [{"type": "object", "properties": {"sku": {"type": "string"}}}],
        },
    ),
    (
        "beside_other_all_of",
        {"$ref": "#/$defs/Part", "allOf": [{"required": ["sku"]}]},
        {"allOf": [{"required": ["sku"]}, PART]},
    ),
    ("boolean_definition", {"$ref": "#/$defs/Any", "title": "T"}, {"title": "T", "allOf": [True]}),
    ("through_not", {"not": {"$ref": "#/$defs/Part"}}, {"not": PART}),
    (
        "only_annotations_of_other_dialects",
        {
            "type": "string",
            "discriminator": {"propertyName": "kind"},
            "deprecated": True,
            "readOnly": True,
            "writeOnly": True,
            "contentMediaType": "text/plain",
            "contentEncoding": "base64",
            "xml": {},
            "externalDocs": {},
            "example": "x",
        },
        {"type": "string"},
    ),
    (
        "names_are_no_keywords",
        {"type": "object", "properties": {"$ref": {}, "deprecated": {}, "$defs": {}}},
        {"type": "object", "properties": {"$ref": {}, "deprecated": {}, "$defs": {}}},
    ),
    (
        "values_are_no_schemas",
        {"const": {"$ref": "#/$defs/Nowhere", "example": 1}, "default": {"deprecated": 1}},
        {"const": {"$ref": "#/$defs/Nowhere", "example": 1}, "default": {"deprecated": 1}},
    ),
    ("unknown_stays", {"unevaluatedItems": False}, {"unevaluatedItems": False}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "expected"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_a_schema_is_inlined(schema, expected):
    assert inlined(schema, Part=PART, Any=True) == expected


def test_definitions_of_either_spelling_are_found():
    document = {**with_field({"$ref": "#/definitions/Part"}), "definitions": {"Part": PART}}
    assert inline(document) == with_field(PART)


REFUSED = [
    ({"prefixItems": [{}]}, "a tuple with positional types has no equal; use list, tuple[X, ...] or a nested model"),
    ({"$ref": "#/$defs/Nowhere"}, 'a "$ref" to #/$defs/Nowhere is not supported'),
    ({"$ref": "https://example.com/schema"}, 'a "$ref" to https://example.com/schema is not supported'),
    ({"x-unsupported": "it has no equal"}, "it has no equal"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "reason"), REFUSED, ids=[r[1][:20] for r in REFUSED])
def test_what_has_no_equal_is_refused_by_its_place(schema, reason):
    with pytest.raises(UnsupportedTypeError) as caught:
        inlined({"anyOf": [{}, schema]})
    assert str(caught.value) == f"Schema at /properties/v/anyOf/1: {reason}."


def test_forty_levels_of_shared_definitions_stay_small_and_end_at_the_limit():
    levels = {
        f"L{level}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/L{level + 1}"} for side in ("a", "b")},
        }
        for level in range(40)
    }
    schema = inlined({"$ref": "#/$defs/L0"}, **levels, L40={"type": "string"})
    assert schema["properties"]["a"] is schema["properties"]["b"]
    with pytest.raises(SchemaError) as caught:
        snapshot_schema(with_field(schema), IntentLimits(max_schema_depth=128))
    assert caught.value.limit
