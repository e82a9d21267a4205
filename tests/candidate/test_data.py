"""The data candidate (contract section 8.3), all but its native validation and conclusions."""

from __future__ import annotations

import copy
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.candidate.findings import LimitExcess
from intent_runtime.values import IntentLimits
from support.data_candidates import (
    MISSING,
    candidate,
    check,
    evidence,
    issue,
    only,
    paths,
    result,
    review,
    source,
)
from support.json_values import members


def test_a_good_candidate_has_no_findings_and_its_evidence_is_kept():
    reviewed = review(candidate())
    assert reviewed.findings.kept == []
    assert reviewed.issues == ()
    assert list(reviewed.checked) == ["/orderId"]
    first = reviewed.verified_evidence()[0]
    assert (first.path, first.mode, first.sources[0].source_id, first.sources[0].quote) == (
        "/data/orderId",
        "exact",
        "input",
        "000123",
    )
    assert reviewed.shape.nodes == 7
    assert reviewed.shape.objects == 2


STRINGS = [
    ("ascii", "abc", 3),
    ("several", ["ab", {"k": "c"}], 3),
    ("four_bytes_each", "\U0001f600\U0001f600", 8),
    ("counted_as_if_four_bytes_each", "a\u52a0", 8),
    ("none", [1, True, None], 0),
]


@pytest.mark.parametrize(("value", "size"), [r[1:] for r in STRINGS], ids=[r[0] for r in STRINGS])
def test_the_strings_of_the_data_are_counted_never_too_low(value, size):
    assert review(only("备注", value), fields=("备注",)).shape.string_bytes == size


def test_empty_data_needs_no_evidence():
    empty = candidate(
        data={},
        evidence=[],
        descriptionChecks=[],
        fieldResults=[result("/data/备注", "not_provided")],
    )
    assert paths(empty, fields=("备注",)) == []


@pytest.mark.parametrize("key", ["data", "evidence", "descriptionChecks", "fieldResults", "issues"])
def test_each_of_the_five_keys_is_required(key):
    assert f"/{key}" in paths(candidate(**{key: MISSING}))


def test_no_other_root_key_is_allowed():
    assert paths(candidate(note=1)) == ["/note"]


@pytest.mark.parametrize("value", [None, "x", 1, [], True], ids=repr)
def test_data_is_an_object(value):
    reviewed = review(candidate(data=value))
    found = [(finding.path, finding.rule) for finding in reviewed.findings.kept]
    assert ("/data", "must be an object") in found
    assert not reviewed.has_data


@pytest.mark.parametrize("value", [None, "x", 1, {}, True], ids=repr)
@pytest.mark.parametrize("key", ["evidence", "descriptionChecks", "fieldResults", "issues"])
def test_the_four_lists_are_arrays(key, value):
    findings = review(candidate(**{key: value})).findings.kept
    assert (f"/{key}", "must be an array") in [(each.path, each.rule) for each in findings]


@pytest.mark.parametrize("entry", [None, "x", 1, []], ids=repr)
@pytest.mark.parametrize("key", ["evidence", "descriptionChecks", "fieldResults", "issues"])
def test_entries_are_objects(key, entry):
    value = candidate()
    value[key] = [*value[key], entry]
    assert f"/{key}/{len(value[key]) - 1}" in paths(value)


ENTRIES = {
    "evidence": evidence(),
    "descriptionChecks": check(),
    "fieldResults": result("/data/orderId", "extracted"),
    "issues": issue(),
}
MEMBERS = [(key, member) for key, entry in ENTRIES.items() for member in entry]


@pytest.mark.parametrize(("key", "member"), MEMBERS, ids=[f"{k}.{m}" for k, m in MEMBERS])
def test_every_key_of_an_entry_is_required(key, member):
    entry = {name: value for name, value in ENTRIES[key].items() if name != member}
    value = candidate()
    value[key] = [entry, *value[key][1:]]
    assert f"/{key}/0/{member}" in paths(value)


@pytest.mark.parametrize("key", ENTRIES)
def test_an_entry_takes_no_other_key(key):
    value = candidate()
    value[key] = [{**ENTRIES[key], "note": 1}, *value[key][1:]]
    assert paths(value) == [f"/{key}/0/note"]


BLANK = ["", " ", "\u3000", None, 1, [], True]
WRONG = [
    *(("evidence", "mode", v) for v in ("Exact", "", None, 1, [])),
    *(("descriptionChecks", "verdict", v) for v in ("ok", "", None, 1, {})),
    *(("descriptionChecks", "explanation", v) for v in BLANK),
    *(("fieldResults", "explanation", v) for v in BLANK),
    *(("fieldResults", "status", v) for v in ("missing", "", None, 1, [])),
    *(("issues", "message", v) for v in BLANK),
    *(
        ("issues", "code", v)
        for v in ("DATA_SOURCE_INVALID", "OTHER", "data_ambiguous", "", None, [])
    ),
    *(
        ("issues", "path", v)
        for v in (
            1,
            "",
            "/",
            "data",
            "/data/other",
            "/orderId",
            "/data/a/b",
            "/data/orderId~",
            "/data/a~1b~3",
            "/data/",
            [],
        )
    ),
    *(
        ("fieldResults", "path", v)
        for v in (
            None,
            1,
            "",
            "/data",
            "/data/other",
            "/data/orderId/",
            "/data/items/0",
            "/data/a/b",
            [],
        )
    ),
    *(("evidence", "sources", v) for v in ([], None, "input", {})),
    *(("descriptionChecks", "sources", v) for v in ([], None, "input", {})),
    *(
        ("evidence", "path", v)
        for v in (None, 1, "", "/data", "/data/other", "/data/items/00", "/data/items/1")
    ),
    *(
        ("descriptionChecks", "path", v)
        for v in (None, 1, "", "data", "/data/other", "/data/items/00")
    ),
]


@pytest.mark.parametrize(
    ("key", "member", "wrong"), WRONG, ids=[f"{k}.{m}={v!r}" for k, m, v in WRONG]
)
def test_members_of_entries_keep_to_what_is_allowed(key, member, wrong):
    value = candidate()
    value[key] = [{**ENTRIES[key], member: wrong}, *value[key][1:]]
    assert f"/{key}/0/{member}" in paths(value)


@pytest.mark.parametrize("mode", ["exact", "semantic"])
def test_both_modes_are_accepted_for_an_equal_string(mode):
    value = candidate()
    value["evidence"][0]["mode"] = mode
    assert paths(value) == []


EXACT = [
    ("equal", "加急", "加急", True),
    ("one_of_the_quotes_is_enough", "AB-1", "AB-1", True),
    ("part", "加", "加急", False),
    ("number", 2, "2", False),
    ("true", True, "x", False),
    ("null", None, "x", False),
    ("empty_list", [], "x", False),
    ("empty_object", {}, "x", False),
    ("full_list", ["x"], "x", False),
]


@pytest.mark.parametrize(
    ("found", "quote", "holds"), [r[1:] for r in EXACT], ids=[r[0] for r in EXACT]
)
def test_exact_is_for_a_string_equal_to_a_quote(found, quote, holds):
    entry = evidence("/data/备注", sources=[source("订单"), source(quote)])
    refused = paths(only("备注", found, evidence=[entry]), fields=("备注",))
    assert ("/evidence/0/mode" not in refused) == holds


LEAVES = [
    ("text", "x", "/data/备注"),
    ("number", 1, "/data/备注"),
    ("false", False, "/data/备注"),
    ("null", None, "/data/备注"),
    ("empty_object", {}, "/data/备注"),
    ("empty_array", [], "/data/备注"),
    ("nested", {"k": [{"~/": 1}]}, "/data/备注/k/0/~0~1"),
    ("nested_empty", [[], []], "/data/备注/1"),
]


@pytest.mark.parametrize(("found", "missing"), [r[1:] for r in LEAVES], ids=[r[0] for r in LEAVES])
def test_every_leaf_and_every_empty_container_has_evidence(found, missing):
    assert missing in paths(only("备注", found, evidence=[]), fields=("备注",))
    entries = (
        [evidence(p, "semantic") for p in ("/data/备注/0", "/data/备注/1")]
        if found == [[], []]
        else [evidence(missing, "semantic")]
    )
    assert paths(only("备注", found, evidence=entries), fields=("备注",)) == []


def test_evidence_of_a_full_container_does_not_cover_its_leaves_but_is_allowed():
    found = only("备注", {"k": "x"}, evidence=[evidence("/data/备注", "semantic")])
    assert paths(found, fields=("备注",)) == ["/data/备注/k"]
    found["evidence"].append(evidence("/data/备注/k", "semantic"))
    assert paths(found, fields=("备注",)) == []


@pytest.mark.parametrize("key", ["evidence", "descriptionChecks", "fieldResults"])
def test_no_path_stands_twice_in_a_list(key):
    value = candidate()
    value[key] = [*value[key], value[key][0]]
    assert paths(value) == [f"/{key}/{len(value[key]) - 1}/path"]


def test_the_same_path_may_stand_in_several_issues():
    assert paths(candidate(issues=[issue(), issue()])) == []


def test_only_selected_names_may_stand_in_data():
    value = only("备注", "加急", "加急")
    value["data"]["a/b"] = 1
    value["evidence"].append(evidence("/data/a~1b", "semantic"))
    (finding,) = review(value, fields=("备注",)).findings.kept
    assert (finding.path, finding.allowed) == ("/data/a~1b", '"备注"')


BOUNDS = [
    ("evidence", "evidence", 4, IntentLimits(max_evidence_entries=3), "maxEvidenceEntries (3)"),
    (
        "checks",
        "descriptionChecks",
        4,
        IntentLimits(max_evidence_entries=3),
        "maxEvidenceEntries (3)",
    ),
    ("issues", "issues", 4, IntentLimits(max_issue_count=3), "maxIssueCount (3)"),
]


@pytest.mark.parametrize(
    ("key", "count", "limits", "named"), [r[1:] for r in BOUNDS], ids=[r[0] for r in BOUNDS]
)
def test_entries_are_bounded_before_they_are_read(key, count, limits, named):
    value = candidate(evidence=[], descriptionChecks=[])
    excess = review({**value, key: [None] * count}, limits=limits)
    assert isinstance(excess, LimitExcess)
    assert named in excess.message
    assert not isinstance(review({**value, key: [None] * (count - 1)}, limits=limits), LimitExcess)


def test_issues_made_by_checks_count_as_issues():
    value = candidate(
        issues=[issue()],
        descriptionChecks=[
            check(verdict="violated"),
            check("/data", "undetermined"),
            check("/data/items"),
        ],
    )
    assert isinstance(review(value, limits=IntentLimits(max_issue_count=2)), LimitExcess)
    assert review(value, limits=IntentLimits(max_issue_count=3)).findings.count == 0


def test_a_broken_envelope_is_judged_before_the_bounds():
    value = candidate(evidence=[None] * 4, note=1)
    assert "/note" in paths(value, limits=IntentLimits(max_evidence_entries=3))


def test_violations_of_every_kind_are_found_at_once():
    value = candidate(
        data={"orderId": "000123", "other": 1},
        evidence=[evidence(quote="000124"), evidence("/data/items")],
        descriptionChecks=[check("/data/none")],
        fieldResults=[result("/data/orderId", "not_provided")],
        issues=[issue(code="DATA_SOURCE_INVALID")],
    )
    found = paths(value)
    assert {
        "/data/other",
        "/evidence/0/mode",
        "/evidence/0/sources/0/quote",
        "/evidence/1/path",
        "/descriptionChecks/0/path",
        "/fieldResults/0/status",
        "/fieldResults",
        "/issues/0/code",
    } <= set(found)


def places(value, trail=()):
    for key, child in members(value):
        yield (*trail, key)
        yield from places(child, (*trail, key))


def test_mutations_of_a_good_candidate_never_raise():
    chance = random.Random(83)
    values = [
        None,
        "",
        "x",
        0,
        True,
        [],
        {},
        [None],
        "/data",
        "/data/orderId",
        "semantic",
        "issue",
        "violated",
        "DATA_CONFLICT",
    ]
    counts = set()
    for _ in range(3_000):
        value = copy.deepcopy(candidate(issues=[issue()]))
        for _ in range(chance.randint(1, 3)):
            trail = chance.choice(list(places(value)))
            parent = value
            for key in trail[:-1]:
                parent = parent[key]
            parent[trail[-1]] = copy.deepcopy(chance.choice(values))
        reviewed = review(value)
        counts.add(reviewed.findings.count == 0)
        if reviewed.findings.count == 0:
            assert len(reviewed.verified_evidence()) == len(value["evidence"])
    assert counts == {True, False}


WORDS = st.sampled_from(
    [
        "path",
        "mode",
        "sources",
        "sourceId",
        "quote",
        "verdict",
        "status",
        "code",
        "category",
        "explanation",
        "/data",
        "/data/orderId",
        "exact",
        "violated",
        "issue",
        "input",
        "x",
    ]
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-9, 9), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=5)),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from([*candidate(), "x"]), JSON, max_size=6))
def test_no_object_makes_the_review_raise(value):
    reviewed = review(value)
    assert reviewed.findings.diagnostic()["notListed"] >= 0
    assert reviewed.findings.count >= 1
