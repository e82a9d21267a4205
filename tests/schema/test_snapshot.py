"""The schema subset (contract section 5): what is taken, what is refused and why, what is copied."""

from __future__ import annotations

import json

import pytest

from intent_runtime.schema.snapshot import DRAFT_7, FORMATS
from intent_runtime.values import MAX_SAFE_INTEGER
from support.snapshots import field, field_refusal, refusal, snap


def test_an_empty_schema_means_no_fields():
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    assert snap({}) == empty
    assert snap({"type": "object", "properties": {}}) == {"type": "object", "properties": {}}


KEPT = [
    ("type", {"type": "string"}),
    ("types", {"type": ["string", "null"]}),
    ("each_type", {"type": ["object", "array", "string", "number", "integer", "boolean", "null"]}),
    ("properties", {"properties": {"a.b": {}, "a/b~c": True, "__proto__": {}, "": {}, "键": {}}}),
    ("required", {"required": ["not_defined", "here"]}),
    ("additional_false", {"additionalProperties": False}),
    ("additional_schema", {"additionalProperties": {"type": "string"}}),
    ("items", {"items": {"type": "string"}}),
    ("items_boolean", {"items": True}),
    ("sizes", {"minItems": 0, "maxItems": 3, "minLength": 1, "maxLength": MAX_SAFE_INTEGER}),
    ("unique", {"uniqueItems": True}),
    ("pattern", {"pattern": "^[a-z]+$"}),
    ("bounds", {"minimum": -1, "maximum": 1.5, "exclusiveMinimum": -2, "exclusiveMaximum": 2}),
    ("multiple", {"multipleOf": 0.1}),
    ("enum", {"enum": ["a", 1, None, {"k": [True]}]}),
    ("const", {"const": {"k": [1.5, "中"]}}),
    ("const_null", {"const": None}),
    ("any_of", {"anyOf": [{"type": "string"}, True]}),
    ("one_of", {"oneOf": [{}] * 16}),
    ("all_of", {"allOf": [False]}),
    ("not", {"not": {"type": "null"}}),
    (
        "annotations",
        {
            "title": "题",
            "description": "说明",
            "examples": [1, "x"],
            "default": [],
            "$comment": "c",
        },
    ),
    ("dialect", {"$schema": DRAFT_7}),
]


@pytest.mark.parametrize("schema", [s for _, s in KEPT], ids=[n for n, _ in KEPT])
def test_a_supported_keyword_is_kept_as_it_is(schema):
    assert field(schema) == schema


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_each_supported_format_is_kept(name):
    assert field({"format": name}) == {"format": name}


def test_there_are_fifteen_formats():
    assert len(FORMATS) == 15


NORMALISED = [
    (
        "integral",
        {"minimum": 1.0, "const": -0.0, "maxItems": 2.0},
        {"minimum": 1, "const": 0, "maxItems": 2},
    ),
    (
        "dropped",
        {"$id": "urn:x", "_label": "L", "_customMessages": {"a": object()}, "type": "null"},
        {"type": "null"},
    ),
    ("https", {"$schema": "https://json-schema.org/draft-07/schema#"}, {"$schema": DRAFT_7}),
    ("no_hash", {"$schema": "http://json-schema.org/draft-07/schema"}, {"$schema": DRAFT_7}),
    ("exact", {"exactLength": 3}, {"minLength": 3, "maxLength": 3}),
    (
        "exact_wider_bounds",
        {"exactLength": 3, "minLength": 1, "maxLength": 9},
        {"minLength": 3, "maxLength": 3},
    ),
    (
        "exact_narrower_minimum",
        {"exactLength": 3, "minLength": 5},
        {"minLength": 5, "maxLength": 3},
    ),
    (
        "exact_narrower_maximum",
        {"maxLength": 2, "exactLength": 3},
        {"minLength": 3, "maxLength": 2},
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected"), [r[1:] for r in NORMALISED], ids=[r[0] for r in NORMALISED]
)
def test_some_keywords_are_normalised(schema, expected):
    found = field(schema)
    assert found == expected
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


UNSUPPORTED = [
    "$ref",
    "definitions",
    "$defs",
    "if",
    "then",
    "else",
    "dependencies",
    "dependentRequired",
    "patternProperties",
    "prefixItems",
    "additionalItems",
    "contains",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "contentMediaType",
    "readOnly",
    "nullable",
    "discriminator",
    "Type",
    "x-note",
    "exclusiveMaximumm",
    "$anchor",
    "unevaluatedProperties",
    "",
]


@pytest.mark.parametrize("keyword", UNSUPPORTED)
def test_any_other_keyword_is_refused_by_name_and_path(keyword):
    error = field_refusal({"items": {keyword: {}}})
    assert f"/properties/v/items/{keyword}:" in str(error)
    assert f'"{keyword}" is not supported' in str(error)
    assert not error.limit


BAD = [
    ("type_unknown", {"type": "text"}, "type"),
    ("type_empty", {"type": []}, "type"),
    ("type_repeated", {"type": ["string", "string"]}, "type"),
    ("type_null", {"type": None}, "type"),
    ("properties_list", {"properties": []}, "properties"),
    ("property_null", {"properties": {"a": None}}, "properties/a"),
    ("required_text", {"required": "a"}, "required"),
    ("required_number", {"required": [1]}, "required"),
    ("required_repeated", {"required": ["a", "a"]}, "required"),
    ("additional_null", {"additionalProperties": None}, "additionalProperties"),
    ("items_tuple", {"items": [{}]}, "items"),
    ("items_number", {"items": 1}, "items"),
    ("negative_size", {"minItems": -1}, "minItems"),
    ("broken_size", {"maxLength": 1.5}, "maxLength"),
    ("boolean_size", {"maxItems": True}, "maxItems"),
    ("unsafe_size", {"minLength": 2**53}, "minLength"),
    ("exact_negative", {"exactLength": -1}, "exactLength"),
    ("unique_number", {"uniqueItems": 1}, "uniqueItems"),
    ("pattern_broken", {"pattern": "("}, "pattern"),
    ("pattern_number", {"pattern": 5}, "pattern"),
    ("format_unknown", {"format": "uuid4"}, "format"),
    ("format_iri", {"format": "iri"}, "format"),
    ("format_null", {"format": None}, "format"),
    ("minimum_text", {"minimum": "1"}, "minimum"),
    ("minimum_boolean", {"minimum": True}, "minimum"),
    ("exclusive_boolean", {"exclusiveMinimum": True}, "exclusiveMinimum"),
    ("multiple_zero", {"multipleOf": 0}, "multipleOf"),
    ("multiple_negative", {"multipleOf": -1}, "multipleOf"),
    ("enum_object", {"enum": {}}, "enum"),
    ("any_of_empty", {"anyOf": []}, "anyOf"),
    ("one_of_long", {"oneOf": [{}] * 17}, "oneOf"),
    ("all_of_object", {"allOf": {}}, "allOf"),
    ("branch_null", {"allOf": [{}, None]}, "allOf/1"),
    ("not_list", {"not": []}, "not"),
    ("title_number", {"title": 1}, "title"),
    ("description_list", {"description": []}, "description"),
    ("comment_null", {"$comment": None}, "$comment"),
    ("examples_text", {"examples": "x"}, "examples"),
    ("dialect_2020", {"$schema": "https://json-schema.org/draft/2020-12/schema"}, "$schema"),
    ("dialect_06", {"$schema": "http://json-schema.org/draft-06/schema#"}, "$schema"),
    ("nan", {"default": float("nan")}, "default"),
    ("infinity", {"enum": [0, float("inf")]}, "enum/1"),
    ("minus_infinity", {"minimum": float("-inf")}, "minimum"),
    ("huge_integer", {"maximum": 10**400}, "maximum"),
    ("bytes", {"const": b"x"}, "const"),
    ("set", {"enum": [{"a"}]}, "enum/0"),
    ("tuple", {"enum": ("a", "b")}, "enum"),
    ("tuple_inside", {"default": {"k": (1,)}}, "default/k"),
    ("function", {"default": len}, "default"),
    ("object", {"examples": [object()]}, "examples/0"),
    ("number_key", {"default": {1: "x"}}, "default"),
    ("number_keyword", {1: "x"}, ""),
    ("number_property", {"properties": {1: {}}}, "properties"),
    ("surrogate_text", {"description": "\ud800"}, "description"),
    ("surrogate_value", {"const": ["\udfff"]}, "const/0"),
    ("surrogate_key", {"default": {"\ud800": 1}}, "default"),
    ("surrogate_keyword", {"\ud800": 1}, ""),
    ("surrogate_property", {"properties": {"\ud800": {}}}, "properties"),
    ("surrogate_pattern", {"pattern": "\ud800"}, "pattern"),
]


@pytest.mark.parametrize(("schema", "path"), [r[1:] for r in BAD], ids=[r[0] for r in BAD])
def test_a_wrong_keyword_value_is_refused_at_its_path(schema, path):
    error = field_refusal(schema)
    end = f"/{path}" if path else ""
    assert f"Schema at /properties/v{end}:" in str(error)
    assert not error.limit
    str(error).encode()


@pytest.mark.parametrize(
    "root",
    [
        None,
        [],
        True,
        "x",
        1,
        {"type": "array"},
        {"type": ["object"], "properties": {}},
        {"type": "object"},
        {"properties": {}},
        {"type": "object", "properties": []},
    ],
    ids=repr,
)
def test_the_root_is_an_object_schema_with_properties(root):
    assert not refusal(root).limit


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "not", "enum", "const"])
def test_constraints_on_the_whole_value_are_refused_at_the_root(keyword):
    error = refusal({"type": "object", "properties": {}, keyword: [{}]})
    assert f"/{keyword}:" in str(error)


@pytest.mark.parametrize("required", [["b"], ["a", "a"], ["a", "b"]], ids=repr)
def test_required_at_the_root_names_defined_fields_once(required):
    error = refusal({"type": "object", "properties": {"a": {}}, "required": required})
    assert "/required:" in str(error)
