"""The two-stage machine (contract sections 1, 7, 8): runs, repairs, outcomes and their order."""

from __future__ import annotations

import copy
import json

import pytest

from intent_runtime import prompts
from intent_runtime.config import read_config
from intent_runtime.errors import IntentFailure
from intent_runtime.pipeline import Pending, Run
from intent_runtime.schema.native import Report
from intent_runtime.values import IntentResult
from support.bridging import core

TEXT = "查询订单 000123, 2 pieces"
SCHEMA = {
    "type": "object",
    "properties": {
        "orderId": {"type": "string", "pattern": "^[0-9]+$", "description": "verbatim"},
        "qty": {"type": "integer", "maximum": 9},
    },
    "required": ["orderId"],
}
CORE = json.loads(core(primaryIntent="查询"))


def source(quote):
    return [{"sourceId": "input", "quote": quote}]


DATA = {
    "data": {"orderId": "000123", "qty": 2},
    "evidence": [
        {"path": "/data/orderId", "mode": "exact", "sources": source("000123")},
        {"path": "/data/qty", "mode": "semantic", "sources": source("2 pieces")},
    ],
    "descriptionChecks": [
        {
            "path": "/data/orderId",
            "verdict": "satisfied",
            "explanation": "as stated",
            "sources": source("000123"),
        }
    ],
    "fieldResults": [
        {"path": "/data/orderId", "status": "extracted", "explanation": "stated"},
        {"path": "/data/qty", "status": "extracted", "explanation": "stated"},
    ],
    "issues": [],
}
ISSUE = {
    "code": "DATA_CONFLICT",
    "category": "business_information",
    "path": "/data/qty",
    "message": "哪个数量？",
}
BAD_CORE = json.dumps({**CORE, "normalizedInput": ""})


def data(**changes):
    return json.dumps({**copy.deepcopy(DATA), **changes})


def with_order(order_id):
    """A data candidate whose orderId does not fit the pattern, all else being right."""
    value = copy.deepcopy(DATA)
    value["data"]["orderId"] = order_id
    value["evidence"][0].update(mode="semantic")
    return value


def begin(fields=None, **config):
    raw = {"input": TEXT} | ({} if fields is None else {"fields": fields})
    return read_config({"schema": SCHEMA, **config}).definition.begin(raw)


def data_run(**config):
    run = begin(**config).judge(json.dumps(CORE))
    assert isinstance(run, Run)
    assert run.stage == "data"
    return run


def judged(run, text):
    """The outcome of a candidate, native validation done in place."""
    outcome = run.judge(text)
    if isinstance(outcome, Pending):
        return outcome.resume(outcome.native.report(outcome.data, set(outcome.checked.values())))
    return outcome


def violations(run):
    return json.loads(run.task().payload)["repair"]["diagnostic"]["violations"]


def paths(run):
    return [violation["path"] for violation in violations(run)]


def test_core_then_data_then_a_result():
    run = begin()
    assert (run.stage, run.partial_result) == ("core", None)
    run = run.judge(json.dumps(CORE))
    assert run.partial_result.data == {}
    result = judged(run, json.dumps(DATA))
    assert isinstance(result, IntentResult)
    assert result.to_dict()["data"] == {"orderId": "000123", "qty": 2}
    assert result.input == TEXT
    assert [entry.path for entry in result.evidence] == ["/data/orderId", "/data/qty"]


def test_no_selected_field_means_no_data_stage():
    result = begin([]).judge(json.dumps(CORE))
    assert isinstance(result, IntentResult)
    assert result.data == {}
    assert isinstance(begin(schema={}).judge(json.dumps(CORE)), IntentResult)


def test_a_bad_request_never_begins():
    failure = read_config({}).definition.begin({"input": ""})
    assert isinstance(failure, IntentFailure)
    assert failure.code == "INPUT_INVALID"


@pytest.mark.parametrize(
    "text", ["", "not json", "[]", "{}", BAD_CORE, '{"a":1,"a":2}', '{"n":1e400}'], ids=repr
)
def test_a_core_candidate_that_breaks_rules_is_repaired_once(text):
    first = begin()
    repair = first.judge(text)
    assert isinstance(repair, Run)
    assert (repair.stage, repair.attempts_left, repair.core) == ("core", 0, None)
    assert json.loads(repair.task().payload)["repair"]["candidate"] == text
    assert violations(repair)
    failure = repair.judge(text)
    assert (failure.code, failure.stage, failure.partial_result) == (
        "MODEL_OUTPUT_INVALID",
        "core",
        None,
    )
    assert isinstance(repair.judge(json.dumps(CORE)), Run)


def test_each_stage_has_its_own_attempt():
    run = begin().judge("broken").judge(json.dumps(CORE))
    assert (run.stage, run.attempts_left) == ("data", 1)
    assert "repair" not in json.loads(run.task().payload)
    repair = run.judge("broken")
    assert (repair.stage, repair.attempts_left) == ("data", 0)
    assert isinstance(judged(repair, json.dumps(DATA)), IntentResult)
    failure = repair.judge("broken")
    assert (failure.code, failure.stage) == ("MODEL_OUTPUT_INVALID", "data")
    assert failure.partial_result == run.partial_result


def test_without_attempts_the_first_violation_is_the_end():
    assert begin(repairAttempts=0).judge("broken").code == "MODEL_OUTPUT_INVALID"
    assert data_run(repairAttempts=0).judge("broken").stage == "data"


LIMITS = [
    ("bytes", {"maxOutputBytes": 2_000}, "x" * 2_001),
    ("bytes_not_characters", {"maxOutputBytes": 2_000}, "中" * 700),
    ("depth", {"maxCandidateDepth": 6}, "[[[[[[[1]]]]]]]"),
    ("nodes", {"maxCandidateNodes": 60}, json.dumps(list(range(60)))),
]


@pytest.mark.parametrize(("limits", "text"), [r[1:] for r in LIMITS], ids=[r[0] for r in LIMITS])
def test_a_limit_is_terminal_at_either_stage(limits, text):
    core, later = begin(limits=limits), data_run(limits=limits)
    failure = core.judge(text)
    assert (failure.code, failure.stage, failure.partial_result) == ("LIMIT_EXCEEDED", "core", None)
    failure = later.judge(text)
    assert (failure.code, failure.stage, failure.partial_result) == (
        "LIMIT_EXCEEDED",
        "data",
        later.partial_result,
    )


@pytest.mark.parametrize(
    ("limits", "value"),
    [({"maxEvidenceEntries": 1}, DATA), ({"maxIssueCount": 1}, {**DATA, "issues": [ISSUE] * 2})],
    ids=["evidence", "issues"],
)
def test_too_many_entries_are_a_limit_at_the_data_stage(limits, value):
    failure = data_run(limits=limits).judge(json.dumps(value))
    assert (failure.code, failure.stage) == ("LIMIT_EXCEEDED", "data")
    assert failure.partial_result is not None


def test_too_many_intents_are_a_limit_at_the_core_stage():
    value = {**CORE, "intents": CORE["intents"] * 2}
    assert begin(limits={"maxIntentCount": 1}).judge(json.dumps(value)).code == "LIMIT_EXCEEDED"


def test_a_rule_broken_beats_an_issue_and_a_mismatch_and_all_are_told():
    value = with_order("x")
    value.update(issues=[ISSUE], note=1)
    assert {"/note", "/data/orderId"} <= set(paths(judged(data_run(), json.dumps(value))))


def test_a_missing_description_check_beats_an_issue():
    repair = judged(data_run(), data(descriptionChecks=[], issues=[ISSUE]))
    assert paths(repair) == ["/data/orderId"]


def test_an_issue_beats_a_mismatch_and_is_terminal_with_an_attempt_left():
    failure = judged(data_run(), json.dumps({**with_order("x"), "issues": [ISSUE]}))
    assert (failure.code, failure.stage) == ("DATA_EXTRACTION_FAILED", "data")
    assert [issue.to_dict() for issue in failure.issues] == [ISSUE]
    assert failure.partial_result.to_dict()["data"] == {}


def test_issues_made_by_checks_come_first():
    check = {**DATA["descriptionChecks"][0], "verdict": "violated", "explanation": "不是原文"}
    failure = judged(data_run(), data(descriptionChecks=[check], issues=[ISSUE]))
    assert [(issue.code, issue.path, issue.message) for issue in failure.issues] == [
        ("DATA_CONSTRAINT_VIOLATED", "/data/orderId", "不是原文"),
        ("DATA_CONFLICT", "/data/qty", "哪个数量？"),
    ]


def test_a_mismatch_alone_is_repaired():
    (violation,) = violations(judged(data_run(), json.dumps(with_order("x"))))
    assert violation["path"] == "/data/orderId"
    assert violation["found"] == '"x"'
    assert "^[0-9]+$" in violation["allowed"]


def test_findings_of_every_phase_are_in_the_one_diagnostic():
    value = with_order("x")
    value["data"]["qty"] = 99
    value["evidence"][0]["sources"] = source("nowhere")
    value["descriptionChecks"] = []
    del value["fieldResults"][1]
    assert sorted(paths(judged(data_run(), json.dumps(value)))) == [
        "/data/orderId",
        "/data/orderId",
        "/data/qty",
        "/evidence/0/sources/0/quote",
        "/fieldResults",
    ]


def test_a_root_description_needs_a_check_even_when_nothing_is_returned():
    schema = {**SCHEMA, "description": "One order.", "required": []}
    empty = {
        "data": {},
        "evidence": [],
        "descriptionChecks": [],
        "issues": [],
        "fieldResults": [
            {"path": f"/data/{name}", "status": "not_provided", "explanation": "-"}
            for name in SCHEMA["properties"]
        ],
    }
    assert paths(judged(data_run(schema=schema), json.dumps(empty))) == ["/data"]
    empty["descriptionChecks"] = [
        {"path": "/data", "verdict": "satisfied", "explanation": "-", "sources": source("订单")}
    ]
    assert judged(data_run(schema=schema), json.dumps(empty)).data == {}


GIVEN_UP = {
    "deadline": lambda pending: pending.give_up("maxValidationMs"),
    "exhausted": lambda pending: pending.resume(Report(valid=False, exhausted=True)),
}


@pytest.mark.parametrize("give_up", GIVEN_UP.values(), ids=GIVEN_UP)
def test_a_spent_budget_is_a_limit_unless_rules_were_broken_already(give_up):
    run = data_run()
    failure = give_up(run.judge(json.dumps(DATA)))
    assert (failure.code, failure.stage) == ("LIMIT_EXCEEDED", "data")
    assert failure.partial_result == run.partial_result
    assert isinstance(give_up(run.judge(data(note=1))), Run)
    ended = give_up(data_run(repairAttempts=0).judge(data(note=1)))
    assert ended.code == "MODEL_OUTPUT_INVALID"


def test_a_spent_budget_beats_an_issue():
    ended = data_run().judge(data(issues=[ISSUE])).give_up("maxValidationMs")
    assert ended.code == "LIMIT_EXCEEDED"


def test_data_that_is_no_object_needs_no_validation():
    assert isinstance(data_run().judge(data(data=[])), Run)


def test_an_invalid_value_without_a_listing_is_still_repaired():
    repair = data_run().judge(json.dumps(DATA)).resume(Report(valid=False))
    assert paths(repair) == ["/data"]


# maxRequestBytes.


def size(run):
    request = run.task()
    fixed = prompts.fixed_bytes(run.stage, repair=run.repair_json is not None)
    return fixed + len(request.payload.encode())


# Long enough for the data task to be larger than the core task.
LONG_CORE = json.dumps({**CORE, "normalizedInput": "订单" * 2_000})
STARTS = [
    ("core", lambda config: begin(**config)),
    ("core", lambda config: begin(**config).judge(BAD_CORE)),
    ("data", lambda config: begin(**config).judge(LONG_CORE)),
    ("data", lambda config: begin(**config).judge(LONG_CORE).judge("x" * 9_000)),
]


@pytest.mark.parametrize(
    ("stage", "start"), STARTS, ids=["core", "core_repair", "data", "data_repair"]
)
def test_each_task_is_bounded_to_the_byte(stage, start):
    needed = size(start({}))
    assert isinstance(start({"limits": {"maxRequestBytes": needed}}), Run)
    failure = start({"limits": {"maxRequestBytes": needed - 1}})
    # A data task that does not fit ends the run with what was understood so far.
    assert (failure.code, failure.stage) == ("LIMIT_EXCEEDED", stage)
    assert (failure.partial_result is not None) == (stage == "data")


# Runs are values.


@pytest.mark.parametrize(
    "text",
    ["broken", json.dumps(CORE), BAD_CORE, "x" * 300_000],
    ids=["broken", "good", "bad", "large"],
)
def test_judging_leaves_the_run_as_it_was(text):
    run = begin()
    before = (run.stage, run.attempts_left, run.core, run.repair_json, run.task().to_json())
    first, second = run.judge(text), run.judge(text)
    assert (run.stage, run.attempts_left, run.core, run.repair_json, run.task().to_json()) == before
    assert type(first) is type(second)
    if isinstance(first, Run):
        assert first.task() == second.task()


def test_judging_data_leaves_the_run_as_it_was():
    run = data_run()
    before = run.task().to_json()
    for text in (json.dumps(DATA), data(issues=[ISSUE]), "broken", data(note=1)):
        judged(run, text)
    assert run.task().to_json() == before
    assert judged(run, json.dumps(DATA)) == judged(run, json.dumps(DATA))


def test_a_run_is_frozen():
    run = begin()
    for name in ("stage", "attempts_left", "core", "repair_json"):
        with pytest.raises(AttributeError):
            setattr(run, name, None)


def test_what_is_done_to_a_result_does_not_reach_later_outcomes():
    run = data_run()
    judged(run, json.dumps(DATA)).data["extra"] = 1
    assert judged(run, json.dumps(DATA)).data == {"orderId": "000123", "qty": 2}
    assert run.partial_result.data == {}


def test_what_is_done_to_a_partial_result_does_not_reach_later_outcomes():
    run = data_run()
    run.judge("x" * 300_000).partial_result.data["extra"] = 1
    assert run.judge("x" * 300_000).partial_result.data == {}


def test_messages_hold_none_of_the_candidates_words():
    run = begin(repairAttempts=0)
    for text in (
        "secret",
        '{"secret": "secret"}',
        json.dumps({**CORE, "normalizedInput": 5, "secret": "secret"}),
    ):
        assert "secret" not in run.judge(text).message
