"""Where a text first goes wrong (contract section 8.1): left to right, syntax or limit."""

from __future__ import annotations

import time

import pytest

from intent_runtime.candidate.json_scan import first_fault

WELL_FORMED = [
    "{}",
    " \t\r\n{ } \n",
    "[]",
    "0",
    "-0.5e+10",
    '"text"',
    "true",
    "null",
    '{"a":[1,{"b":null}],"c":"d"}',
    '{"":""}',
    r'{"a":"\"\\\/\b\f\n\r\té😀"}',
    '{"键":"值 😀"}',
    '{"a":1,"a":2}',
    '{"n":1e999}',
]


@pytest.mark.parametrize("text", WELL_FORMED)
def test_well_formed_text_has_no_fault(text):
    assert first_fault(text, 32, 100) is None


SYNTAX = [
    ("empty", "", 0, "a value"),
    ("only_space", "  ", 2, "a value"),
    ("trailing_comma_object", '{"a":1,}', 7, "a key in double quotes"),
    ("trailing_comma_array", "[1,]", 3, "a value"),
    ("leading_comma", "[,1]", 1, 'a value or "]"'),
    ("no_colon", '{"a" 1}', 5, '":"'),
    ("no_comma", '{"a":1 "b":2}', 7, '"," or the closing bracket'),
    ("single_quotes", "{'a':1}", 1, 'a key in double quotes or "}"'),
    ("bare_key", "{a:1}", 1, 'a key in double quotes or "}"'),
    ("comment", '{"a":1} // why', 8, "nothing after the value"),
    ("block_comment", "/* */{}", 0, "a value"),
    ("second_object", "{}{}", 2, "nothing after the value"),
    ("fence", "```json\n{}\n```", 0, "a value"),
    ("nan", '{"a":NaN}', 5, "a value"),
    ("infinity", '{"a":-Infinity}', 5, "a value"),
    ("plus", "[+1]", 1, 'a value or "]"'),
    ("leading_zero", "[01]", 2, '"," or the closing bracket'),
    ("bare_point", "[.5]", 1, 'a value or "]"'),
    ("point_end", "[1.]", 2, '"," or the closing bracket'),
    ("exponent_end", "[1e]", 2, '"," or the closing bracket'),
    ("half_word", "[tru]", 1, "a value"),
    ("wrong_case", "[True]", 1, 'a value or "]"'),
    ("mismatched", '{"a":1]', 6, '"," or the closing bracket'),
    ("unclosed", '{"a":1', 6, '"," or the closing bracket'),
    ("no_break_space", "\xa0{}", 0, "a value"),
    ("byte_order_mark", "\ufeff{}", 0, "a value"),
    ("vertical_tab", "\x0b{}", 0, "a value"),
    ("form_feed_after", "{}\x0c", 2, "nothing after the value"),
]


@pytest.mark.parametrize(
    ("text", "offset", "expected"), [row[1:] for row in SYNTAX], ids=[row[0] for row in SYNTAX]
)
def test_a_syntax_error_is_placed_and_says_what_was_expected(text, offset, expected):
    assert first_fault(text, 32, 100) == (None, offset, expected)


STRINGS = [
    ("raw_newline", '"a\nb"', 2),
    ("raw_nul", '"\x00"', 1),
    ("raw_unit_separator", '"ab\x1f"', 3),
    ("unknown_escape", r'"a\x41"', 2),
    ("single_quote_escape", r'"\'"', 1),
    ("upper_u", r'"\U0041"', 1),
    ("short_u", r'"\u004"', 1),
    ("high_alone", r'"\ud83d"', 1),
    ("high_then_text", r'"ab\uD83Dxx"', 3),
    ("low_alone", r'"\udc00"', 1),
    ("high_high", r'"\ud83d\ud83d"', 1),
    ("low_high", r'"\ude00\ud83d"', 1),
    ("raw_surrogate", '"a\ud800"', 2),
    ("unterminated", '"abc', 4),
    ("cut_after_backslash", '"abc\\', 4),
]


@pytest.mark.parametrize(
    ("text", "offset"), [row[1:] for row in STRINGS], ids=[row[0] for row in STRINGS]
)
def test_a_bad_string_is_placed_at_its_first_bad_character(text, offset):
    fault = first_fault(text, 32, 100)
    assert (fault.limit, fault.offset) == (None, offset)
    assert "string" in fault.expected


def test_a_bad_key_is_a_bad_string():
    fault = first_fault('{"a\\ud800":1}', 32, 100)
    assert (fault.limit, fault.offset) == (None, 3)
    assert "string" in fault.expected


LIMITS = [
    ("depth_root", "[[]]", 1, 9, ("depth", 1)),
    ("depth_fits", "[[1]]", 2, 9, None),
    ("scalars_add_no_depth", '{"a":1}', 1, 9, None),
    ("object_depth", '{"a":{"b":{}}}', 2, 9, ("depth", 10)),
    ("nodes_fit", '{"a":[1,2]}', 9, 4, None),
    ("nodes_over", '{"a":[1,2]}', 9, 3, ("nodes", 8)),
    ("keys_are_no_nodes", '{"a":1,"b":2}', 9, 3, None),
    ("brackets_in_strings_do_not_count", '{"a":"[[[[{{{{"}', 1, 2, None),
    ("brackets_in_keys_do_not_count", '{"[[[[":1}', 1, 2, None),
    ("space_does_not_count", "[ \n\n 1 \t , 2 ]", 1, 3, None),
    ("limit_before_syntax", "[[[ x", 2, 9, ("depth", 2)),
    ("syntax_before_limit", "[x [[[", 2, 9, (None, 1)),
    ("nodes_before_syntax", "[1,2,3,x", 9, 3, ("nodes", 5)),
    ("nodes_before_depth", "[1,[", 1, 2, ("nodes", 3)),
    ("syntax_between", "[1 [[[[", 2, 9, (None, 3)),
    ("soup_that_only_is_deep_because_malformed", '{"a":1}[[[[', 2, 9, (None, 7)),
    ("counted_before_it_is_read", "[1,2,trux", 9, 3, ("nodes", 5)),
]


@pytest.mark.parametrize(
    ("text", "depth", "nodes", "fault"),
    [row[1:] for row in LIMITS],
    ids=[row[0] for row in LIMITS],
)
def test_the_first_of_syntax_error_and_limit_decides(text, depth, nodes, fault):
    found = first_fault(text, depth, nodes)
    assert (None if found is None else (found.limit, found.offset)) == fault


HOSTILE = [
    ("unterminated_escapes", "[" * 40 + '"' + '\\"' * 125_000, 60),
    ("open_brackets", "[" * 262_144, 10**6),
    ("close_brackets", "]" * 262_144, 10**6),
    ("long_string", '"' + "a" * 250_000, 10**6),
    ("half_escapes", '"' + "\\u00e" * 40_000, 10**6),
    ("high_surrogates", '"' + "\\ud83d" * 40_000, 10**6),
    ("spaces", " " * 250_000, 10**6),
    ("space_between", "[" + " " * 250_000 + "x", 10**6),
    ("digits", "[" + "1" * 250_000 + "x", 10**6),
    ("commas", "[" + "1," * 125_000, 10**6),
]


@pytest.mark.parametrize(
    ("text", "depth"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE]
)
def test_hostile_text_is_judged_in_one_pass(text, depth):
    begin = time.thread_time()
    fault = first_fault(text, depth, 10**6)
    assert fault.limit is None
    # All take far below that; a second pass a character would take minutes.
    assert time.thread_time() - begin < 20
