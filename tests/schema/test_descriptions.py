"""Which returned nodes need a description check (contract section 8.3)."""

from __future__ import annotations

import pytest

from intent_runtime.pointer import resolve
from intent_runtime.schema.descriptions import MAX_LISTED
from intent_runtime.schema.native import NativeSchema


def missing(schema, value, checked=()):
    native = NativeSchema({"type": "object", "properties": {"v": schema}})
    data = {"v": value}
    found = (resolve(data, path.removeprefix("/data")) for path in checked)
    return native.missing_checks(data, {place[0] for place in found if place is not None})


D = {"description": "说明"}
ROWS = [
    ("plain", {}, "x", []),
    ("leaf", D, "x", ["/data/v"]),
    ("null_is_returned", D, None, ["/data/v"]),
    ("blank_description", {"description": " \u3000\t"}, "x", []),
    ("empty_description", {"description": ""}, "x", []),
    ("unit_separator_is_a_description", {"description": "\x1c"}, "x", ["/data/v"]),
    ("properties", {"properties": {"a": D, "b": D}}, {"a": 1}, ["/data/v/a"]),
    ("container_and_members", {**D, "properties": {"a": D}}, {"a": 1}, ["/data/v", "/data/v/a"]),
    (
        "escaped_names",
        {"properties": {"a/b~": D, "": D}},
        {"a/b~": 1, "": 2},
        ["/data/v/a~1b~0", "/data/v/"],
    ),
    (
        "additional",
        {"properties": {"a": {}}, "additionalProperties": D},
        {"a": 1, "b": 2},
        ["/data/v/b"],
    ),
    (
        "additional_not_for_named",
        {"properties": {"a": True}, "additionalProperties": D},
        {"a": 1},
        [],
    ),
    (
        "items",
        {"items": {"properties": {"a": D}}},
        [{"a": 1}, {}, {"a": 2}],
        ["/data/v/0/a", "/data/v/2/a"],
    ),
    ("items_of_no_list", {"items": D}, "x", []),
    ("properties_of_no_object", {"properties": {"a": D}}, ["a"], []),
    ("empty_list", {"items": D}, [], []),
    ("all_of_always", {"allOf": [D, {"type": "null"}]}, "x", ["/data/v"]),
    (
        "all_of_each",
        {"allOf": [{"properties": {"a": D}}, {"properties": {"b": D}}]},
        {"a": 1, "b": 1},
        ["/data/v/a", "/data/v/b"],
    ),
    ("any_of_satisfied", {"anyOf": [{"type": "string", **D}, {"type": "null"}]}, "x", ["/data/v"]),
    ("any_of_not_satisfied", {"anyOf": [{"type": "string", **D}, {"type": "null"}]}, None, []),
    ("one_of_satisfied", {"oneOf": [{"minimum": 5, **D}, {"maximum": 4}]}, 6, ["/data/v"]),
    ("one_of_both_satisfied", {"oneOf": [{"minimum": 5, **D}, True]}, 6, ["/data/v"]),
    ("branch_in_branch", {"anyOf": [{"allOf": [{"oneOf": [{"const": 1, **D}]}]}]}, 1, ["/data/v"]),
    (
        "branch_with_members",
        {
            "anyOf": [
                {"properties": {"k": {"const": "a"}, "x": D}, "required": ["k"]},
                {"properties": {"k": {"const": "b"}, "y": D}, "required": ["k"]},
            ]
        },
        {"k": "b", "x": 1, "y": 2},
        ["/data/v/y"],
    ),
    ("not_counts_for_nothing", {"not": {"type": "null", **D}}, 1, []),
    ("described_twice_is_due_once", {**D, "allOf": [D]}, 1, ["/data/v"]),
    ("boolean_schemas", {"properties": {"a": True}, "additionalProperties": False}, {"a": 1}, []),
]


@pytest.mark.parametrize(
    ("schema", "value", "paths"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS]
)
def test_described_returned_nodes_need_a_check(schema, value, paths):
    found, count = missing(schema, value)
    assert sorted(found) == sorted(paths)
    assert count == len(paths)


@pytest.mark.parametrize(
    ("schema", "value", "paths"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS]
)
def test_a_check_at_each_path_settles_them(schema, value, paths):
    assert missing(schema, value, paths) == ((), 0)


def test_a_check_settles_its_own_node_alone():
    schema = {**D, "items": D}
    assert missing(schema, ["a", "b"], ["/data/v/1"]) == (("/data/v", "/data/v/0"), 2)


@pytest.mark.parametrize("path", ["/data", "/data/w", "v", "", "/data/v/~", "/data/v/0/x"])
def test_a_check_elsewhere_settles_nothing(path):
    assert missing({"items": D}, [1], [path]) == (("/data/v/0",), 1)


def test_paths_are_bounded_and_the_rest_is_counted():
    found, count = missing({"items": D}, ["x"] * 1_000)
    assert len(found) == MAX_LISTED
    assert count == 1_000


def test_the_root_of_a_projection_is_left_out():
    assert NativeSchema({"type": "object", "properties": {}, **D}).missing_checks({}, set()) == (
        (),
        0,
    )


def test_a_long_shared_key_costs_no_path():
    schema = {"additionalProperties": {"items": D}}
    found, count = missing(schema, {"k" * 50_000: [1] * 5_000}, [])
    assert count == 5_000
    assert len(found) == MAX_LISTED


def test_the_report_of_an_invalid_value_still_names_missing_checks():
    native = NativeSchema({"type": "object", "properties": {"v": {"type": "null", **D}}})
    report = native.report({"v": 1}, set())
    assert (report.valid, report.undescribed, report.undescribed_count) == (False, ("/data/v",), 1)
