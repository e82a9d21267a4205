"""What bounds a schema, and that its snapshot stands alone (contract sections 3 and 5)."""

from __future__ import annotations

import copy
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.schema.native import NativeSchema
from intent_runtime.schema.snapshot import DRAFT_7, SchemaError, snapshot_schema
from intent_runtime.values import DEFAULT_LIMITS
from support.snapshots import field, field_refusal, refusal, snap

LIMITS = [
    ("depth_ok", {"items": {"items": {}}}, {"max_schema_depth": 3}, None),
    ("depth_over", {"items": {"items": {"items": {}}}}, {"max_schema_depth": 3}, "maxSchemaDepth"),
    (
        "depth_branch",
        {"anyOf": [{"not": {"properties": {"a": {}}}}]},
        {"max_schema_depth": 3},
        "maxSchemaDepth",
    ),
    ("properties_ok", {"properties": {"a": {}, "b": {}}}, {"max_schema_properties": 3}, None),
    (
        "properties_over",
        {"items": {"properties": {"a": {}, "b": {}}}},
        {"max_schema_properties": 2},
        "maxSchemaProperties",
    ),
    ("bytes_over", {"description": "中" * 100}, {"max_schema_bytes": 300}, "maxSchemaBytes"),
]


@pytest.mark.parametrize(
    ("schema", "limits", "named"), [r[1:] for r in LIMITS], ids=[r[0] for r in LIMITS]
)
def test_depth_properties_and_size_are_bounded(schema, limits, named):
    if named is None:
        assert field(schema, **limits) == schema
    else:
        error = field_refusal(schema, **limits)
        assert error.limit
        assert named in str(error)


def test_the_size_is_that_of_the_snapshot_as_compact_json():
    schema = {"type": "object", "properties": {"v": {"title": "中文"}}, "$id": "dropped" * 99}
    size = len('{"type":"object","properties":{"v":{"title":"中文"}}}'.encode())
    assert snap(schema, max_schema_bytes=size)
    assert refusal(schema, max_schema_bytes=size - 1).limit


def nested(levels):
    value = "x"
    for _ in range(levels):
        value = [value]
    return value


def test_annotations_nest_to_64_and_no_deeper():
    # The value itself is the first level.
    assert field({"default": nested(63)})
    assert not field_refusal({"default": nested(64)}).limit
    assert not field_refusal({"examples": [nested(5_000)]}).limit


def test_a_schema_far_too_deep_is_a_limit_and_no_crash():
    schema = {}
    for _ in range(5_000):
        schema = {"items": schema}
    assert field_refusal(schema, max_schema_depth=10**6).limit
    assert field_refusal(schema).limit


def test_cycles_are_refused_wherever_they_are():
    schema = {"type": "array"}
    schema["items"] = schema
    assert "contains itself" in str(field_refusal(schema))
    branches = {}
    branches["anyOf"] = [{"not": branches}]
    assert "contains itself" in str(field_refusal(branches))
    value = []
    value.append({"k": value})
    assert "contains itself" in str(field_refusal({"default": value}))


def test_a_cycle_longer_than_the_depth_limit_is_not_endless():
    first = {}
    last = first
    for _ in range(20):
        last["items"] = {}
        last = last["items"]
    last["items"] = first
    assert field_refusal(first, max_schema_depth=8)


def test_sharing_without_a_cycle_is_fine():
    part = {"type": "string"}
    assert field({"properties": {"a": part, "b": part}}) == {"properties": {"a": part, "b": part}}


def test_a_value_shared_many_times_ends_at_the_size_limit():
    value = ["x"]
    for _ in range(60):
        value = [value, value]
    assert field_refusal({"default": value}, max_schema_bytes=20_000).limit


def test_a_schema_shared_many_times_ends_at_the_size_limit():
    schema = {"type": "string"}
    for _ in range(7):
        schema = {"allOf": [schema] * 16}
    assert field_refusal(schema, max_schema_bytes=20_000).limit


def test_a_long_text_shared_many_times_ends_at_the_size_limit_without_being_written_out():
    text = "x" * 100_000
    tracemalloc.start()
    try:
        assert field_refusal({"enum": [text] * 200}).limit
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000


def test_later_changes_to_what_was_given_change_nothing():
    given_schema = {
        "type": "object",
        "properties": {
            "v": {
                "enum": [["a"]],
                "required": ["x"],
                "type": ["string", "null"],
                "default": {"k": [1]},
            }
        },
        "required": ["v"],
    }
    before = copy.deepcopy(given_schema)
    snapshot = snap(given_schema)
    given_schema["properties"]["v"]["enum"][0].append("b")
    given_schema["properties"]["v"]["required"].append("y")
    given_schema["properties"]["v"]["type"].append("array")
    given_schema["properties"]["v"]["default"]["k"].append(2)
    given_schema["properties"]["w"] = {}
    given_schema["required"].clear()
    assert snapshot == before


def test_subclasses_of_plain_types_become_plain():
    class Text(str):
        __slots__ = ()

    class Table(dict):
        pass

    found = field(Table({Text("description"): Text("d"), Text("type"): Text("string")}))
    assert type(found) is dict
    assert {type(part) for pair in found.items() for part in pair} == {str}


KEYWORDS = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "exactLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "title",
    "description",
    "examples",
    "default",
    "$comment",
    "$schema",
    "$id",
    "_label",
]
VALUES = [
    "string",
    ["string", "null"],
    {"a": {}},
    ["a"],
    True,
    False,
    {"type": "string"},
    0,
    3,
    -1,
    1.5,
    "^[a-z]+$",
    r"(?=a)\b",
    "uuid",
    "date",
    [{}, True],
    [],
    None,
    "x",
    DRAFT_7,
]


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 2**60),
        st.floats(),
        st.text(max_size=4),
        st.sampled_from(["object", "string", "date", "(", "^a$"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.text(max_size=3), st.sampled_from(KEYWORDS)),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)


@given(st.one_of(JSON, JSON.map(lambda value: {"type": "object", "properties": {"v": value}})))
def test_any_json_is_refused_or_becomes_a_schema_that_compiles(schema):
    try:
        snapshot = snapshot_schema(schema, DEFAULT_LIMITS)
    except SchemaError:
        return
    assert snapshot_schema(snapshot, DEFAULT_LIMITS) == snapshot
    assert NativeSchema(snapshot).is_valid({}) in (True, False)


@given(
    st.dictionaries(
        st.sampled_from(KEYWORDS),
        st.sampled_from(VALUES),
        max_size=4,
    )
)
def test_any_mix_of_keywords_is_refused_or_compiles(schema):
    try:
        snapshot = snap({"type": "object", "properties": {"v": schema}})
    except SchemaError:
        return
    assert NativeSchema(snapshot).report({"v": "x"}, []).valid in (True, False)
