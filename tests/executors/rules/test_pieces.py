"""Numbers, dates, names and identifiers as they are written."""

import pytest

from intent_runtime.executors.rules.constraints import allows
from intent_runtime.executors.rules.material import Material
from intent_runtime.executors.rules.pieces import pieces_of


def values(text):
    pieces = pieces_of(Material("input", text))
    return [piece.value.value for piece in pieces if piece.kind == "number"]


def found(text, kind):
    return [text[p.start : p.end] for p in pieces_of(Material("input", text)) if p.kind == kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", [5]),
        ("1,299,000 and 0.25", [1_299_000, 0.25]),
        ("b = -11", [-11]),
        ("from 10-20", []),
        ("8.5 million", [8_500_000]),
        ("3万", [30_000]),
        ("5k", [5000]),
        ("5000m", [5000]),
        ("70kg", [70]),
        ("2 pi", []),
        ("1.2.3", []),
        ("twenty-five", [25]),
        ("two hundred and five", [205]),
        ("three four", []),
        ("someone", []),
        ("三个", [3]),
        ("二十三件", [23]),
        ("一百零五天", [105]),
        ("第三个", []),
        ("一起", []),
    ],
)
def test_numbers_are_read_in_digits_and_words(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("see https://a.example/x, ok", "url", ["https://a.example/x"]),
        ("to a.b+c@d.example.", "email", ["a.b+c@d.example"]),
        ("at 10.0.0.1:80", "ip", ["10.0.0.1"]),
        ("read C:/data/cars.csv now", "file", ["C:/data/cars.csv"]),
        ("order 000123 and A-77", "code", ["000123", "A-77"]),
        ("docket 2022/AL2562", "code", ["2022/AL2562"]),
        ("$10/month", "code", []),
        ("the 2019-2020 season", "code", ["2019-2020"]),
        ("say 'don't'", "quoted", ["don't"]),
        ("it's John's book", "quoted", []),
        ("“你好”", "quoted", ["你好"]),
        ("on March 5th, 2024 at 3pm", "date", ["March 5th, 2024"]),
        ("on March 5th, 2024 at 3pm", "time", ["3pm"]),
        ("2024年3月5日", "date", ["2024年3月5日"]),
        ("in New York and Washington D.C.", "name", ["New York", "Washington D.C."]),
        ("Find the Bank of England's rate", "name", ["Bank of England"]),
        ("What Can I do", "name", []),
        ("从北京到上海", "name", ["北京", "上海"]),
    ],
)
def test_pieces_are_cut_where_they_end(text, kind, expected):
    assert found(text, kind) == expected


def test_the_digits_of_a_more_specific_piece_are_no_number():
    assert found("on 2024-01-02 at 10.0.0.1 with code A7 and 'room 5'", "number") == []


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 5, True),
        ({"type": "number", "exclusiveMinimum": 5}, 5, False),
        ({"type": "number", "multipleOf": 0.1}, 0.3, False),
        ({"enum": [1, "a"]}, True, False),
        ({"type": "string", "minLength": 3}, "ab", False),
        ({"type": "string", "pattern": "^\\d+$"}, "12\n", False),
        ({"type": "string", "pattern": "^\\d+$"}, "12", True),
        ({"type": "string", "pattern": "(a|b)"}, "a", False),
        ({"type": "string", "format": "email"}, "a@b", False),
        ({"type": "string", "format": "url"}, "https://a.example/%zz", False),
        ({"type": "string", "format": "regex"}, "a", False),
        ({"not": {"type": "null"}}, 5, False),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "a", True),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "a", False),
        ({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 1], False),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, {}, False),
    ],
)
def test_a_value_is_allowed_only_when_that_is_certain(schema, value, expected):
    assert allows(schema, value) is expected
