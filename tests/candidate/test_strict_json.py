"""One RFC 8259 object and nothing else (contract section 8.1)."""

from __future__ import annotations

import json
import os
import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from intent_runtime.candidate.findings import Finding, LimitExcess
from intent_runtime.candidate.strict_json import read_candidate
from intent_runtime.values import DEFAULT_LIMITS, IntentLimits
from support.slow_json import slow_read

TEXTS = int(os.environ.get("INTENT_RUNTIME_TEXTS", "3000"))


def verdict(text, limits=DEFAULT_LIMITS):
    outcome = read_candidate(text, limits)
    if isinstance(outcome, LimitExcess):
        return "limit", "depth" if "maxCandidateDepth" in outcome.message else "nodes"
    if isinstance(outcome, Finding):
        if "repeat a key" in outcome.rule:
            return "invalid", "duplicate"
        if "numbers" in outcome.rule:
            return "invalid", "number"
        return "invalid", "root" if "one JSON object" in outcome.rule else "syntax"
    return "ok", outcome


def limits(depth, nodes):
    return IntentLimits(max_candidate_depth=depth, max_candidate_nodes=nodes)


ACCEPTED = [
    ("empty", "{}", {}),
    ("space_around", " \n\t\r{ } \n", {}),
    (
        "scalars",
        '{"a":1,"b":"x","c":true,"d":false,"e":null}',
        {"a": 1, "b": "x", "c": True, "d": False, "e": None},
    ),
    ("chinese", '{"订单":"编号 000123 😀"}', {"订单": "编号 000123 😀"}),
    ("escapes", r'{"a":"A\ud83d\ude00\/\"\\"}', {"a": 'A😀/"\\'}),
    ("same_key_in_two_objects", '{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
    ("colon_in_string", '{"a":"\\":1,\\"a\\":2"}', {"a": '":1,"a":2'}),
    ("colon_after_space_in_string", '{"a":"b :c"}', {"a": "b :c"}),
    ("space_before_colon", '{"a" :1,"b"\n:2,"c"\t:3,"d"\r:4}', {"a": 1, "b": 2, "c": 3, "d": 4}),
    ("empty_key", '{"":{"":1}}', {"": {"": 1}}),
    ("proto", '{"__proto__":1}', {"__proto__": 1}),
    ("keys_that_only_normalise_alike", '{"\u00e9":1,"e\u0301":2}', {"\u00e9": 1, "e\u0301": 2}),
    ("integral", '{"a":1.0,"b":-0,"c":1e2,"d":1.50}', {"a": 1, "b": 0, "c": 100, "d": 1.5}),
    ("noncharacters", '{"a":"\\uffff\\u0000"}', {"a": "\uffff\x00"}),
]


@pytest.mark.parametrize(("text", "value"), [r[1:] for r in ACCEPTED], ids=[r[0] for r in ACCEPTED])
def test_a_strict_object_is_read(text, value):
    outcome = read_candidate(text, DEFAULT_LIMITS)
    assert outcome == value
    assert json.dumps(outcome) == json.dumps(value)


REFUSED = [
    ("empty", "", "syntax"),
    ("space", " \n", "syntax"),
    ("prose", "Here it is: {}", "syntax"),
    ("fence", "```json\n{}\n```", "syntax"),
    ("trailing_text", "{} done", "syntax"),
    ("second_object", "{}\n{}", "syntax"),
    ("comment", '{"a":1 /* x */}', "syntax"),
    ("trailing_comma", '{"a":1,}', "syntax"),
    ("nan", '{"a":NaN}', "syntax"),
    ("infinity", '{"a":Infinity}', "syntax"),
    ("single_quotes", "{'a':1}", "syntax"),
    ("bom", "\ufeff{}", "syntax"),
    ("utf16_read_as_latin1", '{"a":1}'.encode("utf-16").decode("latin-1"), "syntax"),
    ("bom_bytes_read_as_latin1", b"\xef\xbb\xbf{}".decode("latin-1"), "syntax"),
    ("nul_between", "{\x00}", "syntax"),
    ("raw_control", '{"a":"x\ty"}', "syntax"),
    ("lone_high_escape", r'{"a":"\ud800"}', "syntax"),
    ("lone_low_escape", r'{"a":"\udfff"}', "syntax"),
    ("lone_escape_in_key", r'{"\udfff":1}', "syntax"),
    ("raw_surrogate", '{"a":"\ud800"}', "syntax"),
    ("surrogate_outside", "{}\udc00", "syntax"),
    ("array", "[]", "root"),
    ("string", '"text"', "root"),
    ("number", "12", "root"),
    ("null", "null", "root"),
    ("true", "true", "root"),
    ("duplicate", '{"a":1,"a":2}', "duplicate"),
    ("duplicate_after_unescaping", '{"a":1,"\\u0061":2}', "duplicate"),
    ("duplicate_same_value", '{"a":1,"a":1}', "duplicate"),
    ("duplicate_nested", '{"x":[{"k":{},"k":{}}]}', "duplicate"),
    ("duplicate_with_colon_inside", '{"a":"x:y","a":"\\":"}', "duplicate"),
    ("duplicate_behind_space", '{"a" :1,"a"\n:2}', "duplicate"),
    ("duplicate_colon_key", '{"b:":1,"b:":2}', "duplicate"),
    ("duplicate_empty", '{"":1,"":2}', "duplicate"),
    ("duplicate_emoji", '{"😀":1,"\\ud83d\\ude00":2}', "duplicate"),
    ("duplicate_before_number", '{"n":1e400,"a":1,"a":2}', "duplicate"),
    ("duplicate_in_array_root", '[{"a":1,"a":2}]', "duplicate"),
    ("number_inexact", '{"a":0.10000000000000001}', "number"),
    ("number_unsafe", '{"a":9007199254740993}', "number"),
    ("number_large", '{"a":1e400}', "number"),
    ("number_small", '{"a":1e-400}', "number"),
    ("number_deep", '{"a":[{"b":1e22}]}', "number"),
    ("number_before_root", "1e400", "number"),
]


@pytest.mark.parametrize(("text", "why"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_anything_else_is_a_finding(text, why):
    assert verdict(text) == ("invalid", why)


@pytest.mark.parametrize("space", ["", " ", "\n", "\t", "\r", " \r", "\t\n "], ids=repr)
def test_a_doubled_key_is_seen_whatever_stands_before_its_colon(space):
    assert verdict(f'{{"a"{space}:1,"a":2}}') == ("invalid", "duplicate")
    assert verdict(f'{{"a":1,"b":{{}},"a"{space}:2}}') == ("invalid", "duplicate")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"a":[0,{"b":1e400}]}', "/a/1/b"),
        ('{"x/y~z":9007199254740993}', "/x~1y~0z"),
        ('{"订单":0.10000000000000001}', "/订单"),
    ],
)
def test_a_refused_number_is_named_by_its_pointer(text, path):
    assert read_candidate(text, DEFAULT_LIMITS).path == path


def test_a_syntax_error_is_named_by_line_and_column():
    finding = read_candidate('{\n  "a": 1,\n  "b": x\n}', DEFAULT_LIMITS)
    assert "line 3, column 8" in finding.found
    assert finding.allowed == "a value"


@pytest.mark.parametrize(
    ("rest", "shown"),
    [
        ("x", '"x"'),
        ("x" * 20, f'"{"x" * 20}"'),
        ("x" * 20 + "y", f'"{"x" * 20}"'),
        ("", "the end"),
    ],
    ids=["short", "fits", "cut", "nothing"],
)
def test_a_syntax_error_shows_what_stands_there_and_nothing_before_it(rest, shown):
    before = '{"before":"long enough to be seen",\n"a":'
    finding = read_candidate(before + rest, DEFAULT_LIMITS)
    assert finding.found == f"{shown} at line 2, column 5"


@pytest.mark.parametrize(
    "text", ['{"编号":1,"编号":2}', '{"a":1,"编号":1,"b":2,"编号":2,"c":3}'], ids=["alone", "among"]
)
def test_a_doubled_key_is_named(text):
    assert read_candidate(text, DEFAULT_LIMITS).found == 'key "编号" twice'


LIMITS = [
    ("depth_ok", '{"a":[[]]}', 3, 99, ("ok", {"a": [[]]})),
    ("depth_over", '{"a":[[]]}', 2, 99, ("limit", "depth")),
    ("scalar_adds_no_depth", '{"a":1}', 1, 99, ("ok", {"a": 1})),
    ("nodes_ok", '{"a":[1,"x"]}', 9, 4, ("ok", {"a": [1, "x"]})),
    ("nodes_over", '{"a":[1,"x"]}', 9, 3, ("limit", "nodes")),
    ("keys_are_no_nodes", '{"a":1,"b":2}', 9, 3, ("ok", {"a": 1, "b": 2})),
    ("brackets_in_strings", '{"a":"[[[[[["}', 1, 2, ("ok", {"a": "[[[[[["})),
    ("limit_then_syntax", '{"a":[[ x', 2, 99, ("limit", "depth")),
    ("syntax_then_limit", '{"a":x [[[[', 2, 99, ("invalid", "syntax")),
    ("trailing_soup", "{}" + "[" * 99, 2, 99, ("invalid", "syntax")),
    ("limit_before_duplicate", '{"a":1,"a":2,"b":[[]]}', 2, 99, ("limit", "depth")),
    ("limit_before_number", '{"a":1e400,"b":[[]]}', 2, 99, ("limit", "depth")),
    ("syntax_before_duplicate", '{"a":1,"a":2,}', 2, 99, ("invalid", "syntax")),
    ("doubled_members_count_as_nodes", '{"a":1,"a":2,"a":3}', 9, 3, ("limit", "nodes")),
    ("depth_in_a_doubled_member", '{"a":[[]],"a":1}', 2, 99, ("limit", "depth")),
    ("limit_before_root", "[[[]]]", 2, 99, ("limit", "depth")),
    ("default_depth", '{"a":' + "[" * 31 + "]" * 31 + "}", 32, 99, None),
    ("at_the_ceiling", '{"a":' + "[" * 127 + "]" * 127 + "}", 10_000, 999, None),
    ("over_the_ceiling", '{"a":' + "[" * 128 + "]" * 128 + "}", 10_000, 999, ("limit", "depth")),
    ("far_over_it", '{"a":' + "[" * 5_000 + "]" * 5_000 + "}", 10_000, 99_999, ("limit", "depth")),
]


@pytest.mark.parametrize(
    ("text", "depth", "nodes", "expected"), [r[1:] for r in LIMITS], ids=[r[0] for r in LIMITS]
)
def test_depth_and_node_limits(text, depth, nodes, expected):
    if expected is None:
        expected = ("ok", json.loads(text))
    assert verdict(text, limits(depth, nodes)) == expected


HOSTILE = [
    ("brackets_then_unterminated_string", "[" * 40 + '"' + '\\"' * 125_000, ("limit", "depth")),
    ("brackets", "[" * 262_144, ("limit", "depth")),
    ("closed_brackets", "[" * 131_072 + "]" * 131_072, ("limit", "depth")),
    ("braces", '{"a":' * 40_000, ("limit", "depth")),
    ("zeros_then_exponent", '{"a":1' + "0" * 250_000 + "e-250000}", ("ok", {"a": 1})),
    ("digits", '{"a":' + "7" * 250_000 + "}", ("invalid", "number")),
    ("fraction_digits", '{"a":0.' + "7" * 250_000 + "}", ("invalid", "number")),
    ("many_ones", '{"a":[' + "1," * 125_000 + "1]}", ("limit", "nodes")),
    ("unterminated", '{"a":"' + "x" * 250_000, ("invalid", "syntax")),
    ("colons", '{"a":"' + '\\":' * 80_000 + '"}', ("ok", {"a": '":' * 80_000})),
    ("doubled", '{"k":0' + ',"k":0' * 15_000 + "}", ("invalid", "duplicate")),
]


@pytest.mark.parametrize(
    ("text", "expected"), [r[1:] for r in HOSTILE], ids=[r[0] for r in HOSTILE]
)
def test_hostile_texts_are_settled_quickly(text, expected):
    begin = time.thread_time()
    assert verdict(text) == expected
    # A safety bound: each takes a few milliseconds.
    assert time.thread_time() - begin < 20


SOUP = st.text(
    st.sampled_from(
        [*'{}[]",:\\/ \n\t0123456789-+.eEtrufalsn', "é", "中", "\ud83d", "\ufeff", "\x00"]
    ),
    max_size=60,
)


@given(st.one_of(st.text(), SOUP))
@example('{"a":1,"\\u0061":2}')
@example("{}\ud800")
def test_any_text_gives_a_dict_a_finding_or_a_limit(text):
    assert isinstance(read_candidate(text, DEFAULT_LIMITS), (dict, Finding, LimitExcess))


JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(JSON, st.integers(1, 5), st.integers(1, 20))
def test_serialised_values_agree_with_the_slow_reader(value, depth, nodes):
    text = json.dumps(value, ensure_ascii=False).replace("Infinity", "1e400")
    assert_same(text, depth, nodes)


@given(st.one_of(st.text(), SOUP), st.integers(1, 4), st.integers(1, 12))
def test_arbitrary_texts_agree_with_the_slow_reader(text, depth, nodes):
    assert_same(text, depth, nodes)


def assert_same(text, depth, nodes):
    expected = slow_read(text, depth, nodes)
    found = verdict(text, limits(depth, nodes))
    # Which limit is named may differ when both are exceeded; that one is exceeded may not.
    if expected[0] == "limit":
        assert found[0] == "limit", text
        return
    assert found == expected, text
    if found[0] == "ok":
        assert json.dumps(found[1]) == json.dumps(expected[1]), text


TOKENS = [
    *'{}[],:"\\ ',
    '"a":',
    '"a" :',
    '{"a":',
    '"\\u0061":',
    "1.0",
    "1e400",
    "0.1",
    "-0",
    "9007199254740993",
    "null",
    "true",
    '""',
    "\\ud83d",
    "\\ude00",
    "\ud800",
    "é",
    "//",
    "01",
    "[[",
    "]]",
    "NaN",
]


SCALARS = [
    "null",
    "true",
    "0",
    "-7",
    "1.5",
    "9007199254740992",
    "1e22",
    "0.1",
    "100.0",
    '"x"',
    '"a\\":"',
    '"订单 😀"',
    '"\\\\"',
    '"\\ud83d\\ude00"',
]
KEYS = ['"a"', '"b"', '"c"', '":"', '"é"', '"\\u0061"', '"键"', '" :"']


def random_text(chance, depth):
    """A JSON text; one object in eight takes its keys at random, so that some are doubled."""
    space = chance.choice(["", "", " ", "\n\t"])
    if not depth or chance.random() < 0.4:
        return chance.choice(SCALARS)
    parts = [random_text(chance, depth - 1) for _ in range(chance.randint(0, 4))]
    if chance.random() < 0.4:
        return "[" + f"{space},".join(parts) + space + "]"
    pick = chance.choices if chance.random() < 0.125 else chance.sample
    keys = pick(KEYS[:5], k=len(parts))
    members = [f"{key}{space}:{space}{part}" for key, part in zip(keys, parts, strict=True)]
    return "{" + f",{space}".join(members) + "}"


def mutated(chance):
    text = (
        "{" + f'"root":{random_text(chance, 4)}' + "}"
        if chance.random() < 0.8
        else random_text(chance, 4)
    )
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        at = chance.randint(0, len(text))
        end = min(len(text), at + chance.choice([0, 1, 1, 3]))
        text = text[:at] + chance.choice(["", *TOKENS]) + text[end:]
    return text


def test_random_mutated_texts_agree_with_the_slow_reader():
    chance = random.Random(20261201)
    seen = set()
    for _ in range(TEXTS):
        text = mutated(chance)
        depth, nodes = chance.choice([(32, 20_000), (3, 20_000), (32, 6), (3, 6)])
        assert_same(text, depth, nodes)
        kind, detail = slow_read(text, depth, nodes)
        seen.add(kind if kind == "ok" else detail)
    assert seen == {"ok", "depth", "nodes", "syntax", "duplicate", "number", "root"}
