"""What a validation can cost at most, from numbers fixed when the schema was compiled."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.schema.native import NativeSchema
from intent_runtime.schema.weights import IN_PLACE_NS, Shape, Weight, count_values, weigh


def checks(schema):
    return weigh(schema, {}).checks


@pytest.mark.parametrize(
    ("value", "count"),
    [(1, 1), ("x", 1), (None, 1), ([], 1), ({}, 1), ([1, [2]], 4), ({"a": {"b": []}, "c": 1}, 4)],
)
def test_all_json_values_are_counted(value, count):
    assert count_values(value) == count


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_branches_add_up(keyword):
    one = checks({"enum": [1, 2]})
    assert checks({keyword: [{"enum": [1, 2]}] * 16}) == 1 + 16 * one


def test_a_negation_adds_up():
    assert checks({"not": {"enum": [1, 2]}}) == 1 + checks({"enum": [1, 2]})


def test_of_the_members_the_heaviest_counts_since_only_one_meets_a_place():
    members = {f"p{n}": {"enum": [0] * n} for n in range(20)}
    assert checks({"properties": members}) == checks(members["p19"])


def test_the_members_of_branches_add_up():
    part = {"properties": {"a": {"enum": [1, 2]}}}
    assert checks({"allOf": [part] * 5}) == 5 * checks({"enum": [1, 2]})


def test_nested_branches_multiply():
    schema = {"format": "uri"}
    for _ in range(3):
        schema = {"allOf": [schema] * 14}
    assert checks(schema) >= 14**3


@pytest.mark.parametrize(
    "keyword",
    [
        {"enum": [{"a": n} for n in range(50)]},
        {"const": list(range(50))},
        {"uniqueItems": True},
        {"description": "d"},
        {"format": "uuid"},
    ],
    ids=lambda k: next(iter(k)),
)
def test_costly_keywords_weigh_more_than_none(keyword):
    assert checks(keyword) > checks({})


def test_names_weigh_by_the_size_of_their_tables():
    assert weigh({"properties": {str(n): {} for n in range(100)}}, {}).table == 100
    assert weigh({"required": [str(n) for n in range(30)]}, {}).table == 30


def test_a_pattern_without_a_bound_makes_the_whole_schema_unbounded():
    schema = {"properties": {"a": {"items": {"pattern": "x"}}, "b": {"pattern": "y"}}}
    assert weigh(schema, {"x": 5, "y": 7}).pattern_ns == 7
    assert weigh(schema, {"x": 5, "y": None}).unbounded
    assert weigh(schema, {"x": 5, "y": None}).nanoseconds(Shape(1, 1, 1)) is None


COUNTS = st.integers(0, 1_000)
WEIGHTS = st.builds(Weight, COUNTS, COUNTS, COUNTS, COUNTS, st.booleans())
SHAPES = st.builds(Shape, COUNTS, COUNTS, COUNTS)


@given(WEIGHTS, WEIGHTS, SHAPES)
def test_both_cost_at_least_as_much_as_either(one, other, shape):
    both, either = one.plus(other), one.most(other)
    if both.unbounded:
        assert either.unbounded
        assert both.nanoseconds(shape) is None
    else:
        assert both.nanoseconds(shape) == one.nanoseconds(shape) + other.nanoseconds(shape)
        assert both.nanoseconds(shape) >= either.nanoseconds(shape)
        assert either.nanoseconds(shape) >= max(one.nanoseconds(shape), other.nanoseconds(shape))


@given(WEIGHTS, SHAPES, SHAPES)
def test_a_larger_value_never_costs_less(weight, shape, more):
    if not weight.unbounded:
        larger = Shape(*(a + b for a, b in zip(shape, more, strict=True)))
        assert weight.nanoseconds(larger) >= weight.nanoseconds(shape)


def nest(keyword, width, depth, leaf):
    for _ in range(depth):
        leaf = {keyword: [leaf] * width}
    return leaf


ELSEWHERE = [
    ("backtracking", {"pattern": r"^(a+)+\b$"}, Shape(3, 1, 40)),
    ("counted_repeat", {"pattern": "[ab]*a[ab]{5000}c"}, Shape(3, 1, 250_000)),
    ("large_enum", {"items": {"enum": [{"k": n} for n in range(5_000)]}}, Shape(6_000, 6_000, 0)),
    ("all_of_nest", {"items": nest("allOf", 14, 3, {"format": "uri"})}, Shape(12_000, 1, 200_000)),
    ("any_of_nest", nest("anyOf", 16, 4, {"type": "null"}), Shape(20_000, 1, 0)),
]


@pytest.mark.parametrize(
    ("schema", "shape"), [r[1:] for r in ELSEWHERE], ids=[r[0] for r in ELSEWHERE]
)
def test_hostile_work_does_not_run_in_place(schema, shape):
    assert not NativeSchema({"type": "object", "properties": {"v": schema}}).runs_in_place(shape)


ORDER = {
    "type": "object",
    "properties": {
        "orderId": {"type": "string", "pattern": "^[0-9]{6}$", "description": "verbatim"},
        "status": {"enum": ["open", "closed", None]},
        "items": {
            "type": "array",
            "items": {
                "properties": {"sku": {"type": "string"}, "qty": {"minimum": 1}},
                "required": ["sku"],
            },
        },
        "at": {"type": "string", "format": "date-time"},
    },
    "required": ["orderId"],
}


def test_an_ordinary_schema_runs_in_place():
    assert NativeSchema(ORDER).runs_in_place(Shape(60, 12, 2_000))
    assert NativeSchema(ORDER).lists_in_place(Shape(20, 4, 500))


@pytest.mark.slow
def test_what_runs_in_place_is_fast_whatever_the_schema():
    chance = random.Random(5)
    parts = [
        {"type": "string"},
        {"enum": list(range(200))},
        {"format": "uri"},
        {"format": "uuid"},
        {"pattern": "^[a-z]*$"},
        {"pattern": "a.{0,9}b"},
        {"uniqueItems": True},
        {"required": ["x"]},
        {"description": "d"},
        {"format": "regex"},
    ]
    ran = 0
    for _ in range(300):
        item = nest(
            chance.choice(["allOf", "anyOf", "oneOf"]),
            chance.randint(1, 16),
            chance.randint(0, 2),
            chance.choice(parts),
        )
        native = NativeSchema(
            {
                "type": "object",
                "properties": {"v": {**chance.choice([*parts[6:7], {}]), "items": item}},
            }
        )
        value = chance.choice(["a" * 50, "http://a.example/" + "x" * 30, 7, {"y": [1]}, {}])
        count = chance.choice([10, 300, 3_000])
        data = {"v": [value] * count}
        text = len(value) * count if isinstance(value, str) else count
        shape = Shape(2 + 3 * count, 1 + count, text)
        if not native.runs_in_place(shape):
            continue
        native.is_valid({"v": []})
        begin = time.thread_time()
        native.is_valid(data)
        native.missing_checks(data, set())
        # The bound is worth about 5 ms; ten times that leaves room for a busy machine.
        assert time.thread_time() - begin < 10 * IN_PLACE_NS / 1e9 + 0.2
        ran += 1
    assert ran > 50
