"""Codes, issues and exceptions (contract section 2)."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from intent_runtime.errors import (
    DATA_ISSUE_CATEGORIES,
    DATA_ISSUE_CODES,
    ERROR_CODES,
    IntentDataError,
    IntentFailure,
    IntentIssue,
    IntentParseError,
)
from intent_runtime.values import IntentResult

PARTIAL = IntentResult("秘密 secret", "secret", None, (), (), ())
ISSUE = IntentIssue("DATA_AMBIGUOUS", "business_information", "/data/订单", "请说明 secret")
FULL = IntentFailure("MODEL_RATE_LIMITED", "data", "Too many requests.", (ISSUE,), PARTIAL, 2.5)
BARE = IntentFailure("INPUT_INVALID", "input", "input must be text.")


def test_there_are_twenty_error_codes_each_once():
    assert len(ERROR_CODES) == len(set(ERROR_CODES)) == 20
    assert {
        "CONFIG_INVALID",
        "SCHEMA_UNSUPPORTED",
        "MODEL_OUTPUT_INVALID",
        "DATA_EXTRACTION_FAILED",
        "BRIDGE_STEP_CONFLICT",
    } <= set(ERROR_CODES)


def test_there_are_nine_issue_codes_and_eight_a_candidate_may_use():
    assert len(DATA_ISSUE_CODES) == len(set(DATA_ISSUE_CODES)) == 9
    assert set(DATA_ISSUE_CODES) - set(DATA_ISSUE_CATEGORIES) == {"DATA_SOURCE_INVALID"}
    assert (
        sorted(DATA_ISSUE_CATEGORIES.values()) == ["business_information"] * 4 + ["definition"] * 4
    )


def test_an_issue_has_four_keys_path_null_included():
    assert list(ISSUE.to_dict()) == ["code", "category", "path", "message"]
    wire = IntentIssue("DATA_CONFLICT", "business_information", None, "m").to_dict()
    assert wire == {
        "code": "DATA_CONFLICT",
        "category": "business_information",
        "path": None,
        "message": "m",
    }
    assert json.loads(ISSUE.to_json()) == ISSUE.to_dict()


def test_a_failure_has_four_keys_and_no_partial_result_unless_there_is_one():
    assert BARE.to_dict() == {
        "code": "INPUT_INVALID",
        "stage": "input",
        "message": "input must be text.",
        "issues": [],
    }
    assert list(BARE.to_dict()) == ["code", "stage", "message", "issues"]


def test_a_partial_result_is_the_full_result_and_retry_after_stays_here():
    wire = FULL.to_dict()
    assert list(wire) == ["code", "stage", "message", "issues", "partialResult"]
    assert wire["partialResult"] == PARTIAL.to_dict()
    assert len(wire["partialResult"]) == 7
    assert wire["partialResult"]["data"] == {}
    assert wire["issues"] == [ISSUE.to_dict()]
    assert json.loads(FULL.to_json()) == wire
    assert FULL.exception().retry_after == 2.5


def test_dicts_are_fresh():
    FULL.to_dict()["issues"].clear()
    FULL.to_dict()["partialResult"]["data"]["x"] = 1
    ISSUE.to_dict().clear()
    assert FULL.to_dict()["issues"] == [ISSUE.to_dict()]
    assert FULL.to_dict()["partialResult"]["data"] == {}


@pytest.mark.parametrize("code", ERROR_CODES)
def test_only_a_failed_data_extraction_is_a_data_error(code):
    error = IntentFailure(code, "data", "m").exception()
    assert type(error) is (
        IntentDataError if code == "DATA_EXTRACTION_FAILED" else IntentParseError
    )
    assert issubclass(IntentDataError, IntentParseError)


@pytest.mark.parametrize("failure", [BARE, FULL], ids=["bare", "full"])
def test_an_exception_carries_its_failure(failure):
    error = failure.exception()
    assert (error.code, error.stage, error.message) == (
        failure.code,
        failure.stage,
        failure.message,
    )
    assert (error.issues, error.partial_result) == (failure.issues, failure.partial_result)
    assert error.failure == failure
    assert error.to_dict() == failure.to_dict()
    assert error.to_json() == failure.to_json()


@pytest.mark.parametrize(
    "failure",
    [BARE, FULL, IntentFailure("DATA_EXTRACTION_FAILED", "data", "m", (ISSUE,), PARTIAL)],
    ids=["bare", "full", "data"],
)
@pytest.mark.parametrize(
    "twin_of",
    [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))],  # noqa: S301 - our own bytes
    ids=["copy", "deepcopy", "pickle"],
)
def test_an_exception_survives_copying_and_pickling(failure, twin_of):
    error = failure.exception()
    twin = twin_of(error)
    assert type(twin) is type(error)
    assert twin.failure == failure
    assert str(twin) == str(error)
    assert twin.args == error.args


@pytest.mark.parametrize("value", [BARE, FULL, ISSUE], ids=lambda v: type(v).__name__)
def test_failures_and_issues_are_frozen(value):
    for field in value.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(value, field, None)


def test_the_members_of_an_exception_cannot_be_set():
    error = FULL.exception()
    for name in ("code", "stage", "message", "issues", "partial_result", "retry_after"):
        with pytest.raises(AttributeError):
            setattr(error, name, None)


def test_texts_for_people_hold_code_stage_and_message_and_nobodys_words():
    error = FULL.exception()
    assert str(error) == "MODEL_RATE_LIMITED (data): Too many requests."
    for shown in (str(error), repr(error), repr(FULL), repr(ISSUE), repr(error.issues)):
        assert "secret" not in shown
        assert "秘密" not in shown
        assert "请说明" not in shown


def test_an_error_can_be_raised_by_hand():
    error = IntentParseError("MODEL_TIMEOUT", "Too slow.", stage="core")
    assert error.to_dict() == {
        "code": "MODEL_TIMEOUT",
        "stage": "core",
        "message": "Too slow.",
        "issues": [],
    }
    assert error.retry_after is None
