"""Findings are bounded in number and size, and a message holds only rules."""

from __future__ import annotations

import json

import pytest

from intent_runtime.candidate.findings import MAX_FINDINGS, Finding, Findings


def test_a_diagnostic_lists_path_rule_found_and_allowed():
    findings = Findings()
    findings.add("/data/a", "must be x", found='"y"', allowed="x")
    assert findings.diagnostic() == {
        "violations": [{"path": "/data/a", "rule": "must be x", "found": '"y"', "allowed": "x"}],
        "notListed": 0,
    }


@pytest.mark.parametrize(
    ("extra", "keys"),
    [
        ({}, ["path", "rule"]),
        ({"found": "f"}, ["path", "rule", "found"]),
        ({"allowed": "a"}, ["path", "rule", "allowed"]),
        ({"found": "", "allowed": ""}, ["path", "rule", "found", "allowed"]),
    ],
)
def test_what_is_not_known_has_no_key(extra, keys):
    assert list(Finding("/a", "r", **extra).to_dict()) == keys


def test_findings_beyond_the_bound_are_counted_not_kept():
    findings = Findings()
    findings.extend(Finding(f"/{index}", "rule") for index in range(MAX_FINDINGS + 7))
    assert findings.count == MAX_FINDINGS + 7
    assert findings.full
    diagnostic = findings.diagnostic()
    assert len(diagnostic["violations"]) == MAX_FINDINGS
    assert diagnostic["notListed"] == 7


def test_findings_are_full_only_at_the_bound():
    findings = Findings()
    findings.extend(Finding("", "rule") for _ in range(MAX_FINDINGS - 1))
    assert not findings.full
    findings.add("", "rule")
    assert findings.full


def test_a_long_path_is_shortened_in_the_diagnostic():
    findings = Findings()
    findings.add("/" + "k" * 100_000, "rule")
    assert len(json.dumps(findings.diagnostic())) < 1_000


@pytest.mark.parametrize(("length", "shown"), [(255, 255), (256, 256), (257, 256)])
def test_a_path_keeps_256_characters(length, shown):
    findings = Findings()
    findings.add("/" * length, "rule")
    assert len(findings.kept[0].path) == shown


@pytest.mark.parametrize(("found", "listed"), [(63, 63), (64, 64), (65, 64)])
def test_a_diagnostic_lists_64_violations(found, listed):
    findings = Findings()
    findings.extend(Finding(f"/{index}", "rule") for index in range(found))
    diagnostic = findings.diagnostic()
    assert (len(diagnostic["violations"]), diagnostic["notListed"]) == (listed, found - listed)


def test_a_message_names_each_rule_once_and_at_most_three():
    findings = Findings()
    for rule in ("first", "first", "second", "third", "fourth", "fifth"):
        findings.add("/x", rule)
    assert findings.message() == "The candidate breaks 6 rule(s): first; second; third; and 2 more."


def test_a_message_of_three_rules_names_them_all_and_counts_no_more():
    findings = Findings()
    for rule in ("first", "second", "third"):
        findings.add("/x", rule)
    assert findings.message() == "The candidate breaks 3 rule(s): first; second; third."


def test_a_message_holds_nothing_of_the_candidate():
    findings = Findings()
    findings.add("/秘密-path", "must be a string", found='"secret-found"', allowed="secret-allowed")
    message = findings.message()
    assert "secret" not in message
    assert "秘密" not in message
    assert "must be a string" in message


def test_a_finding_is_frozen():
    finding = Finding("/a", "rule")
    with pytest.raises(AttributeError):
        finding.path = "/b"
