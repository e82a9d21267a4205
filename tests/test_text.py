"""Blankness, UTF-8 sizes, lone surrogates, previews (contract section 6)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.text import (
    exceeds_utf8,
    has_lone_surrogate,
    is_blank,
    name_list,
    preview,
    shorten,
    utf8_length,
)

# The property White_Space (PropList.txt), and U+FEFF.
WHITE = [
    *range(0x09, 0x0E),
    0x20,
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
    0xFEFF,
]


def test_blank_are_exactly_the_white_space_code_points_and_the_byte_order_mark():
    assert [code for code in range(0x110000) if is_blank(chr(code))] == WHITE


@pytest.mark.parametrize(
    "text",
    ["\x1c", "\x1d", "\x1e", "\x1f", "\u200b", "\u180e", "\u2060", "\x00", "0", "。"],
    ids=ascii,
)
def test_what_only_looks_blank_is_not(text):
    assert not is_blank(text)
    assert not is_blank(f" {text} ")


def test_no_text_is_blank():
    assert is_blank("")
    assert is_blank("".join(map(chr, WHITE)))


@given(st.text(st.characters()))
def test_the_utf8_length_is_that_of_the_encoding(text):
    assert utf8_length(text) == len(text.encode("utf-8", "surrogatepass"))


@given(st.text(st.sampled_from("aé中😀"), max_size=12), st.integers(0, 50))
def test_a_text_exceeds_a_limit_exactly_when_its_encoding_does(text, limit):
    assert exceeds_utf8(text, limit) == (len(text.encode()) > limit)


@pytest.mark.parametrize(
    ("text", "lone"),
    [
        ("", False),
        ("abc", False),
        ("中😀", False),
        ("\ud800", True),
        ("a\udfffb", True),
        ("\ud83d\ude00", True),
        ("\uffff\ufffe", False),
    ],
    ids=ascii,
)
def test_lone_surrogates_are_seen(text, lone):
    assert has_lone_surrogate(text) == lone


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("订单编号", 3, "订单…"), ("", 1, ""), ("ab", 1, "…")],
)
def test_long_text_is_cut_to_the_limit(text, limit, short):
    assert shorten(text, limit) == short
    assert len(short) <= limit


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x", '"x"'),
        ('a"b', '"a\\"b"'),
        ("订单", '"订单"'),
        ("\ud800", '"?"'),
        (1, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
        ([1], "an array"),
        ({"a": 1}, "an object"),
        (complex(1, 2), "a number"),
    ],
    ids=ascii,
)
def test_a_preview_shows_scalars_as_json_and_containers_by_kind(value, shown):
    assert preview(value) == shown


@given(st.text(st.characters()))
def test_a_preview_of_any_text_is_short_json(text):
    shown = preview(text)
    shown.encode()
    assert len(json.loads(shown)) <= 96


@pytest.mark.parametrize(
    ("names", "shown"),
    [([], "(none)"), (["a"], '"a"'), (["订单", "b"], '"订单", "b"'), (("a", "b"), '"a", "b"')],
)
def test_names_are_listed_in_quotes(names, shown):
    assert name_list(names) == shown


@pytest.mark.parametrize("count", [60, 1_000])
def test_a_list_of_names_keeps_to_its_budget_and_counts_the_rest(count):
    listed = name_list([f"field{number:05}" for number in range(count)], budget=400)
    assert len(listed) < 430
    shown = listed.count('"') // 2
    assert listed.endswith(f" and {count - shown} more")


def test_a_long_name_is_shortened():
    assert len(name_list(["x" * 10_000])) < 80
