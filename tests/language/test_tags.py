"""Language tags (contract section 4): registered, canonical, and naming a language to write in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.language import LanguageTagError, canonical_tag
from intent_runtime.language.registry import registry

ACCEPTED = [
    ("en", "en"),
    ("EN-us", "en-US"),
    ("zh-CN", "zh-CN"),
    ("zh-hant-tw", "zh-Hant-TW"),
    ("ZH-HANT", "zh-Hant"),
    ("pt-br", "pt-BR"),
    ("es-419", "es-419"),
    ("yue", "yue"),
    ("i-klingon", "tlh"),
    ("I-Klingon", "tlh"),
    ("art-lojban", "jbo"),
    ("en-GB-oed", "en-GB-oxendict"),
    ("i-mingo", "i-mingo"),
    ("I-ENOCHIAN", "i-enochian"),
    ("cel-gaulish", "cel-gaulish"),
    ("zh-min", "zh-min"),
    ("zh-cmn", "cmn"),
    ("zh-cmn-Hans-CN", "cmn-Hans-CN"),
    ("zh-cmn-Hant", "cmn-Hant"),
    ("zh-min-nan", "nan"),
    ("zh-yue-HK", "yue-HK"),
    ("zh-guoyu", "cmn"),
    ("sgn-BE-FR", "sfb"),
    ("sgn-ase", "ase"),
    ("iw", "he"),
    ("iw-IL", "he-IL"),
    ("in", "id"),
    ("mo", "ro"),
    ("en-BU", "en-MM"),
    ("de-DD", "de-DE"),
    ("de-ch-1996", "de-CH-1996"),
    ("de-1901", "de-1901"),
    ("sl-rozaj-biske-1994", "sl-rozaj-biske-1994"),
    ("ja-Latn-hepburn", "ja-Latn-hepburn"),
    ("ja-Latn-hepburn-heploc", "ja-Latn-alalc97"),
    ("en-u-ca-gregory", "en-u-ca-gregory"),
    ("EN-U-CA-GREGORY", "en-u-ca-gregory"),
    ("en-u-ca-buddhist-t-zh-hant", "en-t-zh-hant-u-ca-buddhist"),
    ("en-x-local", "en-x-local"),
    ("en-x-a-b-c", "en-x-a-b-c"),
    ("en-US-u-nu-latn-x-us", "en-US-u-nu-latn-x-us"),
    ("en-Qaaa-QM", "en-Qaaa-QM"),
    ("en-Qabx-XZ", "en-Qabx-XZ"),
    ("en-XZ", "en-XZ"),
    ("en-ZZ", "en-ZZ"),
    ("en-001", "en-001"),
]

REJECTED = [
    "",
    " ",
    " en",
    "en ",
    "en\n",
    "\nen",
    "e",
    "English",
    "Chinese",
    "日本語",
    "中文",
    "en_US",
    "en.US",
    "en--US",
    "-en",
    "en-",
    "en-US-",
    "zz-ZZ",
    "en-Foo",
    "en-Abcd",
    "en-999",
    "en-YU1",
    "en-US-US",
    "en-US-Latn",
    "en-Latn-Latn",
    "de-1996-1996",
    "de-1901-1901",
    "en-nosuch",
    "en-u-ca-u-nu",
    "en-t-zh-t-fr",
    "en-u",
    "en-t",
    "en-u-x-a",
    "en-x",
    "en-a-abc",
    "en-a-bbb-a-ccc",
    "en-0-abc",
    "zh-cmn-yue",
    "en-cmn",
    "zh-ase",
    "und",
    "UND",
    "und-US",
    "mul",
    "zxx",
    "zxx-Latn",
    "qaa",
    "qtz",
    "QAB-US",
    "qzz",
    "x-private",
    "x",
    "i-default",
    "I-Default",
    "i-nosuch",
    "i",
    "EN-٣٣٣",
    "en-３３３",
    "ｅｎ",
    "en-ſs",
    "K-US",
    "\u212aa",
    "e\u0301n",
    "en\x00",
    "en-US\u200b",
    "\ud800",
    "en-x-toolongsubtag",
    "en-" + "x-" * 200 + "a",
    "a" * 256,
]


@pytest.mark.parametrize(("tag", "canonical"), ACCEPTED)
def test_a_valid_tag_becomes_canonical(tag, canonical):
    assert canonical_tag(tag) == canonical


@pytest.mark.parametrize("tag", REJECTED, ids=lambda tag: ascii(tag)[:30])
def test_any_other_text_is_refused_naming_the_registrys_date(tag):
    with pytest.raises(LanguageTagError, match=re.escape(registry().file_date)):
        canonical_tag(tag)


def test_the_file_date_is_a_date():
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", registry().file_date)


def test_the_registry_holds_what_it_should():
    table = registry()
    assert len(table.languages) > 8_000
    assert len(table.extlangs) > 200
    assert len(table.scripts) > 200
    assert len(table.regions) > 300
    assert len(table.variants) > 100
    assert {"qaaa", "qabx", "qabc"} <= set(table.scripts)
    assert {"qm", "qz", "xa", "xz", "zz"} <= set(table.regions)


def test_255_characters_are_the_most():
    tag = "en-x" + "-abcdefgh" * 27 + "-abcdefg"
    assert len(tag) == 255
    assert canonical_tag(tag) == tag
    with pytest.raises(LanguageTagError, match="255"):
        canonical_tag(tag + "h")


def attempt(tag):
    try:
        return canonical_tag(tag)
    except LanguageTagError:
        return None


def test_the_canonical_form_of_every_language_script_and_region_is_canonical():
    table = registry()
    tags = [*table.languages, *table.tags, *(f"en-{s}" for s in (*table.scripts, *table.regions))]
    changed = [tag for tag in tags if (found := attempt(tag)) and attempt(found) != found]
    assert changed == []


def test_the_canonical_form_of_every_extended_language_is_canonical():
    tags = [f"{prefix}-{name}" for name, prefix in registry().extlangs.items()]
    assert [tag for tag in tags if attempt(attempt(tag)) != attempt(tag)] == []


def test_the_canonical_form_of_every_pair_of_variants_is_canonical():
    names = registry().variants
    tags = [f"ja-Latn-{a}-{b}" for a in names for b in names if a != b]
    changed = [tag for tag in tags if (found := attempt(tag)) and attempt(found) != found]
    assert changed == []


@pytest.mark.parametrize(
    "tag", ["ja-Latn-heploc-alalc97", "ja-Latn-alalc97-heploc", "ja-Latn-hepburn-heploc-alalc97"]
)
def test_a_preferred_variant_that_is_there_already_is_not_doubled(tag):
    assert canonical_tag(tag) == "ja-Latn-alalc97"


SUBTAGS = st.sampled_from(
    [
        "en",
        "zh",
        "de",
        "ja",
        "sgn",
        "cmn",
        "yue",
        "ase",
        "iw",
        "und",
        "qaa",
        "Latn",
        "hant",
        "Qaaa",
        "US",
        "cn",
        "BU",
        "419",
        "001",
        "1996",
        "1901",
        "hepburn",
        "heploc",
        "alalc97",
        "u",
        "t",
        "x",
        "a",
        "i",
        "ca",
        "nu",
        "klingon",
        "private",
        "abc",
    ]
)


@given(st.one_of(st.text(max_size=20), st.lists(SUBTAGS, max_size=6).map("-".join)))
def test_any_text_is_refused_or_becomes_a_tag_that_stays(tag):
    found = attempt(tag)
    if found is None:
        return
    assert re.fullmatch("[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*", found)
    assert canonical_tag(found.swapcase()) == canonical_tag(found)


@given(st.lists(SUBTAGS, min_size=1, max_size=5).map("-".join))
def test_case_never_matters(tag):
    assert attempt(tag.upper()) == attempt(tag.lower()) == attempt(tag)
