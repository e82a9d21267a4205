"""Issues and field conclusions of a data candidate (contract section 8.3)."""

from __future__ import annotations

import pytest

from intent_runtime.errors import DATA_ISSUE_CATEGORIES
from intent_runtime.schema.native import Report
from support.data_candidates import (
    candidate,
    check,
    issue,
    only,
    paths,
    result,
    review,
)


@pytest.mark.parametrize("code", DATA_ISSUE_CATEGORIES)
def test_each_code_has_its_one_category(code):
    assert paths(candidate(issues=[issue(code=code)])) == []
    for category in (
        "input",
        "config",
        "business_information",
        "definition",
        "processing",
        "",
        None,
        1,
    ):
        if category != DATA_ISSUE_CATEGORIES[code]:
            assert paths(candidate(issues=[issue(code=code, category=category)])) == [
                "/issues/0/category"
            ]


@pytest.mark.parametrize(
    ("code", "allowed"),
    [("DATA_AMBIGUOUS", "business_information"), ("OTHER", "the category of the code")],
)
def test_a_wrong_category_is_answered_with_the_right_one(code, allowed):
    found = review(candidate(issues=[issue(code=code, category=1)])).findings.kept
    assert [each.allowed for each in found if each.path == "/issues/0/category"] == [allowed]


@pytest.mark.parametrize(
    "path",
    [
        None,
        "/data",
        "/data/orderId",
        "/data/orderId/deep/9",
        "/data/a~1b",
        "/data/a~1b/x~0",
        "/data/备注/",
        "/data/items/99",
    ],
)
def test_an_issue_may_point_at_all_of_it_or_into_a_selected_field(path):
    assert paths(candidate(issues=[issue(path)])) == []


@pytest.mark.parametrize(
    ("verdict", "code"),
    [("violated", "DATA_CONSTRAINT_VIOLATED"), ("undetermined", "DATA_DESCRIPTION_UNDETERMINED")],
)
def test_a_check_that_fails_makes_an_issue_before_the_listed_ones(verdict, code):
    value = candidate(
        issues=[issue(None)],
        descriptionChecks=[check(), check("/data/items/0", verdict), check("/data", verdict)],
    )
    reviewed = review(value)
    assert reviewed.findings.count == 0
    assert [(i.code, i.category, i.path, i.message) for i in reviewed.issues] == [
        (code, "definition", "/data/items/0", "如文所述"),
        (code, "definition", "/data", "如文所述"),
        ("DATA_AMBIGUOUS", "business_information", None, "请说明订单号"),
    ]


def concluded(status, *, present, name="备注", **changes):
    value = only(name, "加急", "加急", fieldResults=[result(f"/data/{name}", status)], **changes)
    if not present:
        value |= {"data": {}, "evidence": []}
    return paths(value, fields=(name,))


CONCLUSIONS = [
    ("extracted", True, "备注", [], True),
    ("extracted", False, "备注", [], False),
    ("not_provided", False, "备注", [], True),
    ("not_provided", True, "备注", [], False),
    ("not_applicable", False, "备注", [], True),
    ("not_applicable", True, "备注", [], False),
    ("issue", False, "备注", ["/data/备注"], True),
    ("issue", True, "备注", ["/data/备注"], True),
    ("issue", False, "备注", [None], True),
    ("issue", False, "备注", ["/data"], True),
    ("issue", False, "备注", ["/data/备注/0"], True),
    ("issue", False, "备注", [], False),
    ("not_provided", False, "orderId", ["/data/orderId"], False),
    ("not_applicable", False, "orderId", ["/data/orderId"], False),
    ("issue", False, "orderId", ["/data/orderId"], True),
    ("extracted", True, "orderId", ["/data/orderId"], True),
    ("extracted", False, "orderId", [], False),
]


@pytest.mark.parametrize(("status", "present", "name", "issues", "holds"), CONCLUSIONS)
def test_a_status_agrees_with_data_and_issues(status, present, name, issues, holds):
    found = concluded(status, present=present, name=name, issues=[issue(path) for path in issues])
    assert found == ([] if holds else ["/fieldResults/0/status"])


@pytest.mark.parametrize(
    ("path", "holds"),
    [("/data/items", True), ("/data/items/0/sku", True), ("/data/orderId", False)],
)
def test_an_issue_elsewhere_does_not_carry_a_conclusion(path, holds):
    value = candidate(issues=[issue(path)])
    value["fieldResults"][1]["status"] = "issue"
    assert (paths(value) == []) == holds


@pytest.mark.parametrize("path", [1, [], "", "/data/orderId~", "/data/other"], ids=repr)
def test_an_issue_with_a_wrong_path_does_not_carry_a_conclusion(path):
    value = candidate(issues=[issue(path)])
    value["fieldResults"][0]["status"] = "issue"
    assert paths(value) == ["/issues/0/path", "/fieldResults/0/status"]


def test_an_issue_of_a_name_that_only_begins_alike_does_not_count():
    schema_like = candidate(issues=[issue("/data/a~1b")])
    schema_like["fieldResults"][0]["status"] = "issue"
    assert paths(schema_like) == ["/fieldResults/0/status"]


@pytest.mark.parametrize("verdict", ["violated", "undetermined"])
def test_an_issue_made_by_a_check_carries_a_conclusion(verdict):
    value = candidate(descriptionChecks=[check(verdict=verdict)])
    value["fieldResults"][0]["status"] = "issue"
    assert paths(value) == []


def test_each_selected_field_has_one_conclusion():
    value = candidate()
    del value["fieldResults"][2:]
    reviewed = review(value)
    assert [finding.path for finding in reviewed.findings.kept] == ["/fieldResults"] * 2
    assert [finding.found for finding in reviewed.findings.kept] == [
        "none for /data/a~1b",
        "none for /data/备注",
    ]


def test_missing_checks_are_added_with_those_that_are_only_counted():
    reviewed = review(candidate(descriptionChecks=[]), root_described=True)
    reviewed.add_missing_checks(Report(True, (), ("/data/orderId",), 5))
    assert [finding.path for finding in reviewed.findings.kept] == ["/data", "/data/orderId"]
    assert reviewed.findings.count == 6


def test_a_root_check_settles_a_root_description():
    reviewed = review(candidate(descriptionChecks=[check("/data")]), root_described=True)
    reviewed.add_missing_checks(Report(valid=True))
    assert reviewed.findings.count == 0
