"""Native validation (contract section 5): formats are assertions, nothing is coerced."""

from __future__ import annotations

import random

import pytest

from intent_runtime.schema.native import MAX_MISMATCHES, NativeSchema
from intent_runtime.schema.snapshot import FORMATS, snapshot_schema
from intent_runtime.schema.weights import Shape
from intent_runtime.values import DEFAULT_LIMITS


def native(schema, **root):
    properties = {"type": "object", "properties": {"v": schema}, **root}
    return NativeSchema(snapshot_schema(properties, DEFAULT_LIMITS))


def valid(schema, value):
    return native(schema).is_valid({"v": value})


FORMAT_ROWS = {
    "date": (
        ["2026-12-01", "2024-02-29"],
        [
            "2026-13-01",
            "2023-02-29",
            "2026-1-1",
            "01.12.2026",
            "2026-12-01T00:00:00Z",
            "",
            "２０２６-12-01",
        ],
    ),
    "time": (
        ["10:00:00Z", "10:00:00.5+08:00", "23:59:60Z"],
        ["10:00:00", "10:00Z", "24:00:00Z", "10:00:00+0800", "noon"],
    ),
    "date-time": (
        ["2026-12-01T10:00:00Z", "2026-12-01t10:00:00.123+08:00"],
        ["2026-12-01T10:00:00", "2026-12-01 10:00", "2026-12-01", "2026-02-30T10:00:00Z", ""],
    ),
    "duration": (["P1Y2M3DT4H5M6S", "PT0S", "P2W"], ["P", "PT", "1D", "P1S", "P1Y2W", "p1d", ""]),
    "uri": (
        ["https://例.example/a".replace("例", "x"), "urn:isbn:0", "mailto:a@b.example"],
        ["/relative", "no scheme", "http://a b", "http://例子.cn", ""],
    ),
    "uri-reference": (
        ["/a/b?c#d", "", "x", "https://a.example"],
        ["a b", "\\\\host", "http://[::1"],
    ),
    "url": (
        [
            "http://a.example",
            "https://a.example:8080/p?q#f",
            "ftp://a.example/x",
            "HTTP://a.example",
            "http://[::1]/",
        ],
        [
            "a.example",
            "mailto:a@b.example",
            "file:///etc",
            "javascript:alert(1)",
            "http://",
            "http:///p",
            "https://?q",
            "http://a b",
            "//a.example",
        ],
    ),
    "email": (
        ["a@b.example", "first.last+tag@sub.b.example"],
        ["a", "@b.example", "a@", "a b@c.example", ""],
    ),
    "hostname": (
        ["a.example", "localhost", "xn--fsq.example"],
        ["-a.example", "a_b.example", "a b", "a" * 64 + ".example", ""],
    ),
    "ipv4": (
        ["192.0.2.1", "255.255.255.255"],
        ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5", "::1", "١.0.0.1"],
    ),
    "ipv6": (
        ["::1", "2001:db8::1", "::ffff:192.0.2.1"],
        ["1.2.3.4", ":::", "2001:db8::1::2", "g::1", "fe80::1%eth0"],
    ),
    "regex": (["^a+$", "[a-z]", "(?=x)"], ["(", "[", "a**", r"\u{110000}"]),
    "uuid": (
        ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
        [
            "x",
            "123e4567e89b12d3a456426614174000",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "123e4567-e89b-12d3-a456-42661417400g",
        ],
    ),
    "json-pointer": (["", "/a~1b/0", "/"], ["a", "/~", "/~2", "#/a"]),
    "relative-json-pointer": (["0", "1/a", "0#", "12/a~1b"], ["/a", "-1/a", "01/a", "a", ""]),
}
FORMAT_CASES = [
    (name, text, good)
    for name, rows in FORMAT_ROWS.items()
    for good, texts in ((True, rows[0]), (False, rows[1]))
    for text in texts
]


def test_every_format_has_its_rows():
    assert set(FORMAT_ROWS) == FORMATS


@pytest.mark.parametrize(
    ("name", "text", "good"),
    FORMAT_CASES,
    ids=[f"{n}-{'ok' if g else 'bad'}-{t[:24]!r}" for n, t, g in FORMAT_CASES],
)
def test_a_format_is_an_assertion(name, text, good):
    assert valid({"format": name}, text) == good


@pytest.mark.parametrize("text", ["http://:80/", "http://user@/p", "https://@/"])
def test_a_url_has_a_host(text):
    assert not valid({"format": "url"}, text)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_says_nothing_about_other_types(name):
    assert all(valid({"format": name}, value) for value in (1, None, [], {}, True))


VALUES = [
    ("multiple_of_tenth", {"multipleOf": 0.1}, [0.3, 0, 1, 0.7, -0.2], [0.35, 0.31]),
    ("multiple_of_hundredth", {"multipleOf": 0.01}, [19.99, 1.1, 4.35], [0.005]),
    ("integral_float_is_integer", {"type": "integer"}, [1.0, 1, -0.0], [1.5, True, "1", None]),
    ("number", {"type": "number"}, [1, 1.5], [True, "1"]),
    ("boolean_is_no_number", {"minimum": 5}, [True, "1"], [1]),
    (
        "enum_keeps_types",
        {"enum": [1, "a", None, False]},
        [1, 1.0, "a", None, False],
        ["1", 0, True],
    ),
    ("const_numbers", {"const": 1}, [1, 1.0], [True, "1"]),
    ("const_object_order", {"const": {"a": 1, "b": [2]}}, [{"b": [2], "a": 1}], [{"a": 1}]),
    ("unique_numbers", {"uniqueItems": True}, [[1, True, "1"], [0, False]], [[1, 1.0], [{}, {}]]),
    ("length_in_code_points", {"maxLength": 2}, ["中文", "😀😀", 12345], ["abc", "e\u0301e"]),
    ("null_needs_the_type", {"type": ["string", "null"]}, [None, "x"], [0, []]),
    ("exclusive", {"exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5], [0, 1]),
    ("required_names", {"required": ["__proto__"]}, [{"__proto__": 1}, []], [{}]),
    (
        "additional",
        {"properties": {"a": True}, "additionalProperties": {"type": "null"}},
        [{"a": 1, "b": None}],
        [{"b": 1}],
    ),
    ("one_of", {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2.5], [3, 1.5]),
    ("not", {"not": {"type": "null"}}, [0], [None]),
    (
        "default_fills_nothing",
        {"properties": {"a": {"default": 1}}, "required": ["a"]},
        [{"a": 2}],
        [{}],
    ),
    (
        "annotations_assert_nothing",
        {"title": "t", "examples": ["x"], "default": 1, "$comment": "c"},
        [None, "y"],
        [],
    ),
    ("safe_integers", {"maximum": 2**53 - 1, "minimum": 2**53 - 1}, [2**53 - 1], [2**53 - 2]),
    ("huge_bound", {"maximum": 10**300}, [2**53 - 1], []),
    ("pattern_under_not", {"not": {"pattern": r"(?=a)\ba"}}, ["b"], ["a"]),
    (
        "name_like_a_keyword",
        {"properties": {"pattern": {"type": "null"}, "$ref": {"const": 1}}},
        [{"pattern": None, "$ref": 1}],
        [{"pattern": "("}],
    ),
]
VALUE_CASES = [
    (row[0], row[1], value, good)
    for row in VALUES
    for good, values in ((True, row[2]), (False, row[3]))
    for value in values
]


@pytest.mark.parametrize(
    ("schema", "value", "good"),
    [c[1:] for c in VALUE_CASES],
    ids=[f"{c[0]}-{c[2]!r:.20}" for c in VALUE_CASES],
)
def test_values_are_taken_as_they_are(schema, value, good):
    report = native(schema).report({"v": value}, [])
    assert report.valid == good
    assert bool(report.mismatches) == (not good)


MISMATCHES = [
    ("type", {"type": "integer"}, "一", "/data/v", "type", '"一"', '"integer"'),
    ("minimum", {"minimum": 5}, 4, "/data/v", "minimum", "4", "5"),
    ("enum", {"enum": ["a", "b"]}, "c", "/data/v", "enum", '"c"', '["a", "b"]'),
    ("pattern", {"pattern": "^[0-9]+$"}, "x", "/data/v", "pattern", '"x"', "[0-9]+"),
    ("format", {"format": "date"}, "x", "/data/v", "format", '"x"', '"date"'),
    (
        "nested",
        {"items": {"properties": {"a/b": {"const": 1}}}},
        [{}, {"a/b": 2}],
        "/data/v/1/a~1b",
        "const",
        "2",
        "1",
    ),
    ("missing", {"required": ["sku"]}, {}, "/data/v", "required", "{}", '"sku"'),
    (
        "additional",
        {"properties": {"a": {}}, "additionalProperties": False},
        {"x": 1},
        "/data/v",
        "additionalProperties",
        '"x"',
        "no members",
    ),
    ("unique", {"uniqueItems": True}, [1, 1], "/data/v", "uniqueItems", "an array", "true"),
    ("length", {"maxLength": 1}, "字字", "/data/v", "maxLength", '"字字"', "1"),
]


@pytest.mark.parametrize(
    ("schema", "value", "path", "keyword", "found", "allowed"),
    [r[1:] for r in MISMATCHES],
    ids=[r[0] for r in MISMATCHES],
)
def test_a_mismatch_names_path_keyword_found_and_allowed(
    schema, value, path, keyword, found, allowed
):
    (mismatch,) = native(schema).report({"v": value}, []).mismatches
    assert mismatch.path == path
    assert f'"{keyword}"' in mismatch.rule
    assert found in mismatch.found
    assert allowed in mismatch.allowed


def test_every_mismatch_is_listed():
    schema = {"properties": {"a": {"type": "string"}, "b": {"minimum": 1}}, "required": ["c"]}
    report = native(schema).report({"v": {"a": 1, "b": 0}}, [])
    assert sorted((m.path, m.rule.split('"')[1]) for m in report.mismatches) == [
        ("/data/v", "required"),
        ("/data/v/a", "type"),
        ("/data/v/b", "minimum"),
    ]


def test_mismatches_are_bounded_in_number_and_size():
    schema = {"items": {"enum": ["很长" * 500]}}
    report = native(schema).report({"v": ["x" * 5_000] * 500}, [])
    assert len(report.mismatches) == MAX_MISMATCHES
    assert all(len(m.found) < 200 and len(m.allowed) <= 200 for m in report.mismatches)


def test_a_mismatch_of_a_refused_field_does_not_take_its_name_for_a_keyword():
    (mismatch,) = native(False).report({"v": 1}, []).mismatches
    assert mismatch.path == "/data/v"
    assert '"v"' not in mismatch.rule


def test_a_foreign_member_of_an_object_without_properties_is_named():
    (mismatch,) = native({"additionalProperties": False}).report({"v": {"x": 1}}, []).mismatches
    assert '"x"' in mismatch.found


def test_missing_and_foreign_fields_at_the_root_are_left_to_other_checks():
    schema = native({}, required=["v"], additionalProperties=False)
    report = schema.report({"w": 1}, [])
    assert not report.valid
    assert report.mismatches == ()


@pytest.mark.parametrize(("pattern", "linear"), [("^a+$", True), (r"^(a+)+\b$", False)])
def test_only_bounded_patterns_run_in_place(pattern, linear):
    small, huge = Shape(3, 1, 30), Shape(20_000, 10_000, 250_000)
    schema = native({"pattern": pattern})
    assert schema.runs_in_place(small) == linear
    assert schema.lists_in_place(small) == linear
    assert not schema.lists_in_place(huge)


def test_random_values_get_the_same_verdict_from_both_ways_of_asking():
    chance = random.Random(85)
    schemas = [row[1] for row in VALUES]
    values = [value for row in VALUES for value in (*row[2], *row[3])]
    verdicts = set()
    for _ in range(1_500):
        schema = {chance.choice(["allOf", "anyOf", "oneOf"]): chance.choices(schemas, k=2)}
        checker, data = native(schema), {"v": chance.choice(values)}
        verdict = checker.is_valid(data)
        verdicts.add(verdict)
        assert checker.report(data, []).valid == verdict
        assert (checker.mismatches(data)[0] == ()) == verdict
    assert verdicts == {True, False}
