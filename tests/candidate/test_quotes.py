"""Sources and quotes (contract section 8.3): verbatim, code point by code point."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.candidate.quotes import Quotes

SOURCES = {"input": "查询订单 000123, cafe\u0301 ＡＢ\tend", "context:0": "编号：AB-1 😀"}


def check(sources, texts=None):
    findings = Quotes(texts or SOURCES).check({"sources": sources}, "/evidence/0")
    return [finding.path.removeprefix("/evidence/0") for finding in findings]


def source(source_id="input", quote="000123", **more):
    return {"sourceId": source_id, "quote": quote, **more}


@pytest.mark.parametrize(
    "sources",
    [
        [source()],
        [source(quote="查询订单 000123")],
        [source(quote=" 000123,")],
        [source("context:0", "😀")],
        [source(quote=SOURCES["input"])],
        [source(), source(), source("context:0", "AB-1")],
        [source(quote="e")],
        [source(quote="\u0301 ＡＢ\te")],
    ],
)
def test_verbatim_quotes_of_known_sources_hold(sources):
    assert check(sources) == []


@pytest.mark.parametrize(
    "quote",
    [
        "000124",
        "查詢订单",
        "caf\u00e9",
        "AB\tend",
        "Cafe\u0301",
        "end ",
        "000123 ,",
        "\\t",
        "AB-1",
    ],
    ids=[
        "digit",
        "variant",
        "composed",
        "width",
        "case",
        "trailing",
        "inner",
        "escape",
        "other_source",
    ],
)
def test_a_quote_that_differs_in_any_code_point_is_refused(quote):
    assert check([source(quote=quote)]) == ["/sources/0/quote"]


@pytest.mark.parametrize("quote", ["", " ", "\t", "\u3000", "\ufeff"], ids=repr)
def test_a_quote_is_not_blank(quote):
    assert "/sources/0/quote" in check([source(quote=quote)])


@pytest.mark.parametrize("source_id", ["context:1", "Input", "input ", "context:00", "data"])
def test_an_unknown_source_is_refused(source_id):
    assert check([source(source_id)]) == ["/sources/0/sourceId"]


@pytest.mark.parametrize("source_id", ["", "\u2003"], ids=repr)
def test_a_source_id_is_not_blank(source_id):
    assert "/sources/0/sourceId" in check([source(source_id)])


@pytest.mark.parametrize("sources", [[], None, "input", {}, 3, True], ids=repr)
def test_a_list_of_sources_is_a_non_empty_array(sources):
    assert check(sources) == ["/sources"]


@pytest.mark.parametrize("entry", [None, "input", [], 3], ids=repr)
def test_a_source_is_an_object(entry):
    assert check([source(), entry]) == ["/sources/1"]


@pytest.mark.parametrize("value", [None, 1, [], {}, True], ids=repr)
@pytest.mark.parametrize("key", ["sourceId", "quote"])
def test_members_of_a_source_are_strings(key, value):
    assert check([{**source(), key: value}]) == [f"/sources/0/{key}"]


def test_a_source_has_exactly_its_two_keys():
    assert check([source(note="x")]) == ["/sources/0/note"]
    assert check([{"quote": "000123"}]) == ["/sources/0/sourceId"]
    assert check([{"sourceId": "input"}]) == ["/sources/0/quote"]


def test_missing_sources_are_left_to_the_check_of_keys():
    assert list(Quotes(SOURCES).check({}, "/evidence/0")) == []


def test_every_bad_source_is_found():
    assert check([source(quote="no"), source(), source("none"), 5]) == [
        "/sources/0/quote",
        "/sources/2/sourceId",
        "/sources/3",
    ]


def test_the_answer_about_a_repeated_quote_stays_the_same():
    quotes = Quotes(SOURCES)
    bad = {"sources": [source(quote="no")] * 3}
    assert [len(list(quotes.check(bad, ""))) for _ in range(2)] == [3, 3]
    assert list(quotes.check({"sources": [source()]}, "")) == []


def test_a_wrong_quote_is_shown_shortened():
    (finding,) = Quotes(SOURCES).check({"sources": [source(quote="x" * 10_000)]}, "")
    assert len(finding.found) < 200


@given(st.text(min_size=1), st.data())
def test_any_piece_of_a_source_that_is_not_blank_holds(text, data):
    start = data.draw(st.integers(0, len(text)))
    piece = text[start : data.draw(st.integers(start, len(text)))]
    blank = not piece.strip(
        "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
    )
    assert (check([source("s", piece)], {"s": text}) == []) == (not blank)


@pytest.mark.parametrize("text", ["xa", "a" * 29_999, "a" * 30_001])
def test_a_quote_never_reaches_beyond_the_end_of_its_source(text):
    # Short texts are searched with a filling behind them, which is no part of the source.
    for quote in ("a\0", "a\0\0", "\0", text + "\0"):
        entry = {"sources": [{"sourceId": "input", "quote": quote}]}
        assert [finding.path for finding in Quotes({"input": text}).check(entry, "/evidence/0")]
    for quote in ("a", text, text[1:]):
        entry = {"sources": [{"sourceId": "input", "quote": quote}]}
        assert list(Quotes({"input": text + "\0"}).check(entry, "/evidence/0")) == []
