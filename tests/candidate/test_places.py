"""Where entries point (contract section 8.3): into the returned data, no place twice."""

from __future__ import annotations

import pytest

from intent_runtime.candidate.places import Places

DATA = {
    "a": "x",
    "b": [1, {"c": None}, []],
    "a/b~c": {"": 2},
    "": 3,
    "键": "值",
    "0": {"0": "zero"},
    "n": None,
}


def run(pointer, *, root_allowed=False, places=None):
    """The findings about one path and what it leads to."""
    places = places or Places(DATA, root_allowed=root_allowed)
    entry = {"path": pointer}
    place = places.find(entry)
    findings = [] if place is not None else places.explain(entry, "/e/0")
    return [finding.path for finding in findings], place


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/data/a", "x"),
        ("/data/b", DATA["b"]),
        ("/data/b/0", 1),
        ("/data/b/1/c", None),
        ("/data/b/2", []),
        ("/data/a~1b~0c", {"": 2}),
        ("/data/a~1b~0c/", 2),
        ("/data/", 3),
        ("/data/键", "值"),
        ("/data/0/0", "zero"),
        ("/data/n", None),
    ],
)
def test_a_pointer_leads_to_its_value(pointer, value):
    findings, place = run(pointer)
    assert findings == []
    assert place[1] == value
    assert place[0] is not None


@pytest.mark.parametrize(
    "pointer",
    [
        "",
        "/",
        "data/a",
        "a",
        "/a",
        "/Data/a",
        "/data/A",
        "/data/missing",
        "/data/a/0",
        "/data/a/",
        "/data/b/3",
        "/data/b/-",
        "/data/b/-1",
        "/data/b/00",
        "/data/b/01",
        "/data/b/+1",
        "/data/b/1.0",
        "/data/b/1e0",
        "/data/b/ 1",
        "/data/b/\u0661",
        "/data/b/" + "9" * 5_000,
        "/data/a/b~c",
        "/data/a~1b~c",
        "/data/a~2",
        "/data/~",
        "#/data/a",
        "/data/%61",
        "/data/n/x",
        "//data/a",
    ],
)
def test_a_pointer_that_leads_nowhere_is_refused(pointer):
    assert run(pointer) == (["/e/0/path"], None)


@pytest.mark.parametrize("pointer", [None, 1, True, [], ["/data/a"], {}], ids=repr)
def test_a_path_is_text(pointer):
    assert run(pointer) == (["/e/0/path"], None)


def test_a_missing_path_is_left_to_the_check_of_keys():
    places = Places(DATA, root_allowed=True)
    assert places.find({}) is None
    assert list(places.explain({}, "/e/0")) == []


def test_the_root_is_a_place_for_checks_and_none_for_evidence():
    assert run("/data", root_allowed=True) == ([], (None, DATA))
    assert run("/data", root_allowed=False) == (["/e/0/path"], None)


@pytest.mark.parametrize("pointer", ["/data/a", "/data", "/data/b/1/c"])
def test_no_place_stands_twice(pointer):
    places = Places(DATA, root_allowed=True)
    assert run(pointer, places=places)[0] == []
    assert run(pointer, places=places) == (["/e/0/path"], None)


WHY = [
    ("not_text", 1, True, "must be a JSON Pointer", "text"),
    ("twice", "/data/a", True, "must not stand twice in this list", "once"),
    ("nowhere", "/data/x", False, "must lead to a value in data", "/data/... of a returned value"),
    (
        "nowhere_with_root",
        "/data/x",
        True,
        "must lead to a value in data",
        "/data, or /data/... of a returned value",
    ),
]


@pytest.mark.parametrize(
    ("pointer", "root_allowed", "rule", "allowed"), [r[1:] for r in WHY], ids=[r[0] for r in WHY]
)
def test_a_refusal_says_which_rule_and_what_is_allowed(pointer, root_allowed, rule, allowed):
    places = Places(DATA, root_allowed=root_allowed)
    assert places.find({"path": "/data/a"}) is not None
    assert places.find({"path": pointer}) is None
    (finding,) = places.explain({"path": pointer}, "/e/0")
    assert (finding.rule, finding.allowed) == (rule, allowed)


def test_equal_values_at_two_places_are_two_places():
    places = Places({"a": [], "b": []}, root_allowed=False)
    first, second = run("/data/a", places=places)[1], run("/data/b", places=places)[1]
    assert first[0] != second[0]


def test_a_long_path_is_shown_shortened():
    places = Places(DATA, root_allowed=False)
    (finding,) = places.explain({"path": "/data/" + "x" * 9_999}, "")
    assert len(finding.found) < 200
