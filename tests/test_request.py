"""Reading a request (contract section 6): shapes and types, then limits, then field names."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.errors import IntentFailure
from intent_runtime.request import Request, read_request
from intent_runtime.schema.selection import Selections
from intent_runtime.values import ContextMessage, IntentLimits

SCHEMA = {"type": "object", "properties": {"orderId": {}, "a/b": {}, "备注": {}}}
LONE = "x\ud800"


def read(raw, **limits):
    return read_request(raw, IntentLimits(**limits), Selections(SCHEMA, 8))


def code(raw, **limits):
    outcome = read(raw, **limits)
    if isinstance(outcome, Request):
        return "ok"
    assert outcome.stage == "input"
    assert outcome.issues == ()
    assert outcome.partial_result is None
    return outcome.code


def message(role="user", content="你好"):
    return {"role": role, "content": content}


def test_the_smallest_request_selects_all_fields_and_has_no_context():
    request = read({"input": " 查询订单 000123\n"})
    assert request.input == " 查询订单 000123\n"
    assert json.loads(request.input_json) == request.input
    assert request.fields == ("orderId", "a/b", "备注")
    assert request.context == ()
    assert request.context_json == "[]"
    assert request.source_texts() == {"input": request.input}


@pytest.mark.parametrize("raw", [None, [], "x", 1, True, [("input", "x")]], ids=repr)
def test_a_request_is_an_object(raw):
    assert code(raw) == "INPUT_INVALID"


@pytest.mark.parametrize(
    "key",
    ["Input", "inputs", "instance", "", "language", 1, None, ("a",), "订单" * 500],
    ids=ascii,
)
def test_an_unknown_key_is_refused_and_the_refusal_can_be_written(key):
    refusal = read({"input": "x", key: 1})
    assert refusal.code == "INPUT_INVALID"
    assert len(refusal.message) < 300
    assert json.loads(refusal.to_json())["code"] == "INPUT_INVALID"


def test_the_refusal_of_a_key_with_a_lone_surrogate_can_be_written():
    assert read({"input": "x", LONE: 1}).to_dict()["code"] == "INPUT_INVALID"


@pytest.mark.parametrize(
    "text",
    [
        None,
        1,
        True,
        [],
        {},
        b"x",
        "",
        " ",
        "\t\r\n",
        "\u3000",
        "\ufeff",
        "\x85\u2028",
        LONE,
        "\udfff",
        "😀"[0] + "\udc00",
    ],
    ids=ascii,
)
def test_an_input_is_text_that_is_not_blank_and_has_no_lone_surrogate(text):
    assert code({"input": text}) == "INPUT_INVALID"
    assert code({}) == "INPUT_INVALID"


@pytest.mark.parametrize("text", ["\x1c", "\u200b", "0", "。", "\x00"], ids=ascii)
def test_what_only_looks_blank_is_an_input(text):
    assert read({"input": text}).input == text


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        (["orderId"], ("orderId",)),
        (("orderId",), ("orderId",)),
        (["备注", "orderId"], ("备注", "orderId")),
        (["a/b", "orderId", "a/b", "a/b"], ("a/b", "orderId")),
        ([], ()),
    ],
)
def test_fields_are_selected_once_in_order_of_first_mention(fields, names):
    assert read({"input": "x", "fields": fields}).fields == names


@pytest.mark.parametrize(
    "fields",
    [None, "orderId", 1, {}, {"orderId"}, True, [1], [None], ["orderId", ["a/b"]], [LONE]],
    ids=ascii,
)
def test_fields_are_a_list_of_strings(fields):
    assert code({"input": "x", "fields": fields}) == "INPUT_INVALID"


@pytest.mark.parametrize(
    "fields",
    [["OrderId"], ["orderId", ""], ["a"], ["/data/orderId"], ["a~1b"], ["__proto__"]],
    ids=repr,
)
def test_an_unknown_name_is_an_unknown_field_and_the_known_ones_are_named(fields):
    refusal = read({"input": "x", "fields": fields})
    assert refusal.code == "UNKNOWN_FIELD"
    assert '"orderId", "a/b", "备注"' in refusal.message


CONTEXTS = [
    ("text", "早先的材料", [("context:0", "background", "早先的材料")]),
    ("blank_text", " ", [("context:0", "background", " ")]),
    ("empty_text", "", []),
    ("no_messages", [], []),
    (
        "messages",
        [message(), message("assistant", "a"), message("tool", "")],
        [("context:0", "user", "你好"), ("context:1", "assistant", "a"), ("context:2", "tool", "")],
    ),
    ("tuple", (message(),), [("context:0", "user", "你好")]),
    ("typed", [ContextMessage("tool", "x")], [("context:0", "tool", "x")]),
    ("mapping", [MappingProxyType(message())], [("context:0", "user", "你好")]),
]


@pytest.mark.parametrize(
    ("context", "sources"), [r[1:] for r in CONTEXTS], ids=[r[0] for r in CONTEXTS]
)
def test_context_becomes_numbered_sources(context, sources):
    request = read({"input": "x", "context": context})
    assert [(s.source_id, s.role, s.content) for s in request.context] == sources
    assert json.loads(request.context_json) == [
        {"sourceId": i, "role": r, "content": c} for i, r, c in sources
    ]
    assert request.source_texts() == {"input": "x"} | {i: c for i, _, c in sources}


BAD_CONTEXTS = [
    None,
    1,
    True,
    {},
    message(),
    b"x",
    [None],
    ["text"],
    [[]],
    [{}],
    [{"role": "user"}],
    [{"content": "x"}],
    [message("system")],
    [message("User")],
    [message("")],
    [message(None)],
    [message(1)],
    [message(["user"])],
    [message(content=None)],
    [message(content=1)],
    [message(content=["x"])],
    [{**message(), "name": "n"}],
    [{"role": "user", "text": "x"}],
    [message(), message("developer")],
    LONE,
    [message(content=LONE)],
    [ContextMessage("system", "x")],
    [ContextMessage("user", 5)],
]


@pytest.mark.parametrize("context", BAD_CONTEXTS, ids=ascii)
def test_any_other_context_is_refused(context):
    assert code({"input": "x", "context": context}) == "INPUT_INVALID"


def test_a_refused_message_is_named_by_its_position():
    assert "message 1 " in read({"input": "x", "context": [message(), message("system")]}).message


CONTEXT_JSON = len('[{"sourceId":"context:0","role":"user","content":"你好"}]'.encode())
LIMITS = [
    ("input_fits", {"input": "中文"}, {"max_input_bytes": 6}, "ok"),
    ("input_over", {"input": "中文"}, {"max_input_bytes": 5}, "LIMIT_EXCEEDED"),
    ("emoji_over", {"input": "😀"}, {"max_input_bytes": 3}, "LIMIT_EXCEEDED"),
    ("messages_fit", {"input": "x", "context": [message()] * 2}, {"max_context_messages": 2}, "ok"),
    (
        "messages_over",
        {"input": "x", "context": [message()] * 3},
        {"max_context_messages": 2},
        "LIMIT_EXCEEDED",
    ),
    (
        "context_fits",
        {"input": "x", "context": [message()]},
        {"max_context_bytes": CONTEXT_JSON},
        "ok",
    ),
    (
        "context_over",
        {"input": "x", "context": [message()]},
        {"max_context_bytes": CONTEXT_JSON - 1},
        "LIMIT_EXCEEDED",
    ),
    (
        "escapes_count",
        {"input": "x", "context": '"' * 50},
        {"max_context_bytes": 130},
        "LIMIT_EXCEEDED",
    ),
    ("no_context_needs_no_room", {"input": "x", "context": []}, {"max_context_bytes": 1}, "ok"),
    ("absent_context_needs_no_room", {"input": "x"}, {"max_context_bytes": 1}, "ok"),
    ("long_context", {"input": "x", "context": "y" * 200_000}, {}, "LIMIT_EXCEEDED"),
]


@pytest.mark.parametrize(
    ("raw", "limits", "expected"), [r[1:] for r in LIMITS], ids=[r[0] for r in LIMITS]
)
def test_sizes_are_bounded_in_utf8_bytes(raw, limits, expected):
    assert code(raw, **limits) == expected


ORDER = [
    ("shape_before_limit", {"input": "xxxx", "context": 5}, "INPUT_INVALID"),
    ("fields_shape_before_limit", {"input": "xxxx", "fields": [1]}, "INPUT_INVALID"),
    ("unknown_key_before_limit", {"input": "xxxx", "k": 1}, "INPUT_INVALID"),
    (
        "message_shape_before_count",
        {"input": "x", "context": [message(), message(), message("s")]},
        "INPUT_INVALID",
    ),
    ("limit_before_name", {"input": "xxxx", "fields": ["no"]}, "LIMIT_EXCEEDED"),
    (
        "context_limit_before_name",
        {"input": "x", "fields": ["no"], "context": [message()] * 2},
        "LIMIT_EXCEEDED",
    ),
    ("name_last", {"input": "x", "fields": ["no"], "context": [message()]}, "UNKNOWN_FIELD"),
]


@pytest.mark.parametrize(("raw", "expected"), [r[1:] for r in ORDER], ids=[r[0] for r in ORDER])
def test_errors_are_found_in_order(raw, expected):
    assert code(raw, max_input_bytes=3, max_context_messages=1) == expected


def test_later_changes_to_what_was_given_change_nothing():
    raw = {"input": "x", "fields": ["orderId"], "context": [message()]}
    request = read(raw)
    raw["fields"].append("备注")
    raw["context"][0]["content"] = "changed"
    raw["context"].clear()
    assert request.fields == ("orderId",)
    assert request.source_texts()["context:0"] == "你好"


def test_no_refusal_repeats_the_users_words():
    words = "秘密-secret"
    for raw in (
        {"input": words, "fields": [words]},
        {"input": words, "context": [message(words)]},
        {"input": words * 99, "context": words},
    ):
        assert "secret" not in read(raw, max_input_bytes=500).message


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(), max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["role", "content", "x"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(
    st.one_of(
        VALUES,
        st.dictionaries(
            st.one_of(st.sampled_from(["input", "fields", "context"]), st.text(max_size=3)),
            VALUES,
            max_size=4,
        ),
    )
)
def test_no_value_makes_the_reader_raise(raw):
    outcome = read(raw)
    assert isinstance(outcome, (Request, IntentFailure))
