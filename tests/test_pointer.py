"""JSON Pointers (RFC 6901) into decoded JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.pointer import escape, locate, parse, render, resolve

# RFC 6901, section 5, and names of our own.
DOCUMENT = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
    "~1": 9,
    "键": {"0": None},
}
LEADS = [
    ("/foo", ["bar", "baz"]),
    ("/foo/0", "bar"),
    ("/", 0),
    ("/a~1b", 1),
    ("/c%d", 2),
    ("/e^f", 3),
    ("/g|h", 4),
    ("/i\\j", 5),
    ('/k"l', 6),
    ("/ ", 7),
    ("/m~0n", 8),
    ("/~01", 9),
    ("/键/0", None),
]


@pytest.mark.parametrize(("pointer", "value"), LEADS)
def test_a_pointer_leads_to_its_value(pointer, value):
    location, found = locate(DOCUMENT, parse(pointer))
    assert found == value
    assert render(parse(pointer)) == pointer
    assert location is not None


@pytest.mark.parametrize("pointer", ["foo", "#/foo", "/~", "/a~2b", "/~a", "~0", " /foo"])
def test_a_malformed_pointer_has_no_tokens(pointer):
    assert parse(pointer) is None


@pytest.mark.parametrize(
    "tokens",
    [
        ["x"],
        ["foo", "2"],
        ["foo", "-"],
        ["foo", "00"],
        ["foo", "01"],
        ["foo", "-1"],
        ["foo", "+0"],
        ["foo", "0 "],
        ["foo", "٠"],
        ["foo", "９"],
        ["foo", ""],
        ["foo", "1e0"],
        ["foo", "9" * 400],
        ["foo", "9" * 10_000],
        ["foo", "0", "0"],
        ["键", "0", "x"],
        ["a", "b"],
    ],
    ids=lambda t: "/".join(t)[:20],
)
def test_what_is_not_there_is_not_found(tokens):
    assert locate(DOCUMENT, tokens) is None


def test_the_whole_document_has_no_location():
    assert parse("") == []
    assert resolve(DOCUMENT, "") is None


def test_a_location_names_one_place():
    value = {"a": [[], []]}
    first, second = (locate(value, ["a", index])[0] for index in "01")
    assert first != second
    assert first == locate(value, ["a", "0"])[0]
    assert first == (id(value["a"]), 0)


@pytest.mark.parametrize(
    ("token", "escaped"),
    [("a", "a"), ("~", "~0"), ("/", "~1"), ("~1", "~01"), ("a/b~c", "a~1b~0c"), ("", "")],
)
def test_a_token_is_escaped(token, escaped):
    assert escape(token) == escaped


def test_indexes_and_names_render_alike():
    assert render(["a", 0, "b/c"]) == "/a/0/b~1c"
    assert render([]) == ""


@given(st.lists(st.text(max_size=6)))
def test_what_is_rendered_is_parsed_again(tokens):
    assert parse(render(tokens)) == tokens


@given(st.text())
def test_any_text_is_malformed_or_stays_the_same(pointer):
    tokens = parse(pointer)
    if tokens is not None:
        assert render(tokens) == pointer
