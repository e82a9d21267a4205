"""The three tools over the real command, in every protocol: stages, tokens, owners, repairs."""

import json

import pytest

from intent_runtime.mcp import MCP_TOOLS
from support.bridging import BAD, CORE, DATA, EVIL_VALUE, INPUT, ORDER_SCHEMA, core, data
from support.raw_mcp import PROTOCOLS, STATELESS, outcome, serving, write_config

# Every test talks to the real command.
pytestmark = pytest.mark.slow

INSTANCES = {
    "t": {},
    "o": {"schema": ORDER_SCHEMA},
    "strict": {"schema": ORDER_SCHEMA, "repairAttempts": 0},
    "nullable": {
        "schema": {
            "type": "object",
            "properties": {"coupon": {"type": ["string", "null"]}},
            "required": ["coupon"],
        }
    },
    "amount": {"schema": {"type": "object", "properties": {"amount": {"type": "number"}}}},
    "code": {
        "schema": {
            "type": "object",
            "properties": {"code": {"type": "string", "pattern": "^(?:(?=a)a+)+$"}},
        },
        "limits": {"maxValidationMs": 300},
    },
}
TASK_KEYS = ["kind", "jobId", "stepToken", "stage", "instructions", "payload", "format"]
RESULT_KEYS = [
    "input",
    "normalizedInput",
    "primaryIntent",
    "requirements",
    "intents",
    "prohibitions",
    "data",
]


@pytest.fixture(scope="module", params=PROTOCOLS)
def each(request, tmp_path_factory):
    """A service in each of the protocols."""
    config = write_config(tmp_path_factory.mktemp("each"), INSTANCES)
    with serving(config, protocol=request.param) as service:
        yield service


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service in the protocol that most hosts use."""
    with serving(write_config(tmp_path_factory.mktemp("one"), INSTANCES)) as service:
        yield service


def in_data(service, instance="o", text=INPUT):
    task = service.accept(service.prepare(instance, text), CORE)
    assert outcome(task) == "data"
    return task


def test_the_tool_list_is_the_declared_one(each):
    listed = each.result(each.request("tools/list"))["tools"]
    assert listed == list(MCP_TOOLS)


@pytest.mark.parametrize(
    ("tool", "arguments", "stage"),
    [
        ("intent_prepare", {}, "input"),
        ("intent_prepare", {"instance": "t"}, "input"),
        ("intent_prepare", {"instance": "t", "input": 5}, "input"),
        ("intent_prepare", {"instance": "t", "input": " \u3000"}, "input"),
        ("intent_prepare", {"instance": "t", "input": "x", "extra": 1}, "input"),
        ("intent_prepare", {"instance": "t", "input": "x", "fields": None}, "input"),
        ("intent_prepare", {"instance": "t", "input": "x", "fields": "a"}, "input"),
        ("intent_prepare", {"instance": "t", "input": "x", "context": None}, "input"),
        ("intent_prepare", {"instance": "t", "input": "x", "context": [{"role": "system", "content": "x"}]}, "input"),
        ("intent_prepare", {"instance": "nobody", "input": "x"}, "input"),
        ("intent_accept", {}, "bridge"),
        ("intent_accept", {"jobId": "x", "stepToken": "y"}, "bridge"),
        ("intent_accept", {"jobId": "x", "stepToken": "y", "candidateText": {}}, "bridge"),
        ("intent_accept", {"jobId": "x", "stepToken": "y", "candidateText": "{}", "more": 1}, "bridge"),
        ("intent_cancel", {}, "bridge"),
        ("intent_cancel", {"jobId": 5}, "bridge"),
        ("intent_cancel", {"jobId": "x", "outcome": None}, "bridge"),
        ("intent_delete", {"jobId": "x"}, "bridge"),
        ("", {}, "bridge"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_a_reply_and_no_protocol_error(service, tool, arguments, stage):
    error = service.call(tool, arguments)["error"]
    assert (error["code"], error["stage"], error["issues"]) == ("INPUT_INVALID", stage, [])
    assert "partialResult" not in error


def test_absent_and_null_arguments_are_wrong_arguments(service):
    for params in ({"name": "intent_accept"}, {"name": "intent_accept", "arguments": None}):
        reply = service.reply(service.request("tools/call", params))
        assert outcome(reply) == "INPUT_INVALID"


def test_arguments_that_are_no_object_are_invalid_parameters(service):
    for arguments in ([], "x", 5):
        answer = service.answer(service.request_tool("intent_prepare", arguments))
        assert answer["error"]["code"] == -32602


def test_errors_name_the_known_instances_and_fields(service):
    message = service.prepare("nobody")["error"]["message"]
    assert all(json.dumps(name) in message for name in INSTANCES)
    error = service.prepare("o", fields=["nope"])["error"]
    assert (error["code"], error["stage"]) == ("UNKNOWN_FIELD", "input")
    assert "orderId" in error["message"]


def test_two_stages_with_replays_and_conflicts(each):
    first = each.prepare("o", context=[{"role": "user", "content": "My orders"}])
    assert list(first) == TASK_KEYS
    payload = json.loads(first["payload"])
    assert payload["currentInput"] == INPUT
    assert payload["context"] == [{"sourceId": "context:0", "role": "user", "content": "My orders"}]
    second = each.accept(first, CORE)
    assert (outcome(second), second["jobId"]) == ("data", first["jobId"])
    assert second["stepToken"] != first["stepToken"]
    # The recorded reply again, and nothing advances.
    assert each.accept(first, CORE) == second
    assert outcome(each.accept(first, CORE + " ")) == "BRIDGE_STEP_CONFLICT"
    result = each.accept(second, DATA)
    assert list(result["result"]) == RESULT_KEYS
    assert result["result"]["data"] == {"orderId": "000123"}
    assert result["result"]["intents"][0]["status"] == "ready"
    assert each.accept(second, DATA) == result
    assert each.accept(first, CORE) == second
    assert outcome(each.accept(second, BAD)) == "BRIDGE_STEP_CONFLICT"
    # A finished job answers its end to a cancellation.
    assert each.cancel(first, outcome="refusal") == result


def test_one_stage_where_nothing_is_selected(each):
    for more in ({"instance": "t"}, {"instance": "o", "fields": []}):
        result = each.accept(each.prepare(**more), CORE)
        assert result["result"]["data"] == {}


def test_forged_tokens_change_nothing(each):
    task = each.prepare("o")
    for forged in ("", "x", task["stepToken"] + "x", task["jobId"], "\u0000", "代"):
        conflict = each.accept(task, CORE, stepToken=forged)
        assert outcome(conflict) == "BRIDGE_STEP_CONFLICT"
        assert conflict["error"]["stage"] == "bridge"
        assert outcome(each.accept(task, CORE, jobId="no" + forged)) == "BRIDGE_JOB_NOT_FOUND"
    other = each.prepare("o")
    assert outcome(each.accept(task, CORE, stepToken=other["stepToken"])) == "BRIDGE_STEP_CONFLICT"
    assert outcome(each.accept(task, CORE)) == "data"
    assert outcome(each.cancel(task)) == outcome(each.cancel(other)) == "MODEL_ABORTED"


@pytest.mark.slow
def test_tokens_of_another_process_are_unknown(each, tmp_path):
    config = write_config(tmp_path, INSTANCES)
    mine = each.prepare("o")
    with serving(config, protocol=each.protocol) as other:
        theirs = other.prepare("o")
        assert outcome(other.accept(mine, CORE)) == "BRIDGE_JOB_NOT_FOUND"
        assert outcome(other.cancel(mine)) == "BRIDGE_JOB_NOT_FOUND"
        assert outcome(each.accept(theirs, CORE)) == "BRIDGE_JOB_NOT_FOUND"
        crossed = {"stepToken": theirs["stepToken"]}
        assert outcome(each.accept(mine, CORE, **crossed)) == "BRIDGE_STEP_CONFLICT"
        assert outcome(other.accept(theirs, CORE)) == "data"
    assert outcome(each.accept(mine, CORE)) == "data"
    assert outcome(each.cancel(mine)) == "MODEL_ABORTED"


def test_the_same_token_twice_at_once_gets_the_one_reply(each):
    task = each.prepare("o")
    replies = [each.reply(asked) for asked in [each.submit(task, CORE) for _ in range(8)]]
    assert outcome(replies[0]) == "data"
    assert all(reply == replies[0] for reply in replies)
    # The same in a validation child, whose verdict everybody waits for.
    task = in_data(each, "code", f"Use code {EVIL_VALUE}")
    text = data("code", EVIL_VALUE, checked=False)
    asked = [each.submit(task, text) for _ in range(4)]
    conflict = each.submit(task, text + " ")
    replies = [each.reply(identifier) for identifier in asked]
    assert outcome(replies[0]) == "LIMIT_EXCEEDED"
    assert all(reply == replies[0] for reply in replies)
    assert outcome(each.reply(conflict)) == "BRIDGE_STEP_CONFLICT"


def test_core_is_repaired_once(service):
    task = service.prepare("o")
    repair = service.accept(task, BAD)
    assert outcome(repair) == "core"
    assert repair["stepToken"] != task["stepToken"]
    payload = json.loads(repair["payload"])
    assert payload["repair"]["candidate"] == BAD
    assert payload["repair"]["diagnostic"]
    assert outcome(service.accept(repair, CORE)) == "data"
    assert outcome(service.cancel(task)) == "MODEL_ABORTED"


def test_core_is_repaired_no_more_than_once(service):
    task = service.prepare("o")
    end = service.accept(service.accept(task, BAD), core(normalizedInput=" "))
    assert (outcome(end), end["error"]["stage"]) == ("MODEL_OUTPUT_INVALID", "core")
    assert "partialResult" not in end["error"]
    assert service.cancel(task) == end
    assert outcome(service.accept(task, CORE)) == "BRIDGE_STEP_CONFLICT"


def test_repairs_can_be_off(service):
    end = service.accept(service.prepare("strict"), BAD)
    assert (outcome(end), end["error"]["stage"]) == ("MODEL_OUTPUT_INVALID", "core")
    end = service.accept(in_data(service, "strict"), BAD)
    assert (outcome(end), end["error"]["stage"]) == ("MODEL_OUTPUT_INVALID", "data")
    assert list(end["error"]["partialResult"]) == RESULT_KEYS


def test_an_invented_quote_is_repaired(service):
    # A repair in the first stage takes nothing from the second.
    task = service.accept(service.accept(service.prepare("o"), BAD), CORE)
    invented = data(value="999")
    repair = service.accept(task, invented)
    assert outcome(repair) == "data"
    payload = json.loads(repair["payload"])
    assert payload["repair"]["candidate"] == invented
    assert "/evidence/0/sources/0" in json.dumps(payload["repair"]["diagnostic"])
    result = service.accept(repair, DATA)
    assert result["result"]["data"] == {"orderId": "000123"}


def test_an_invented_quote_twice_is_the_end(service):
    task = in_data(service)
    end = service.accept(service.accept(task, data(value="999")), data(value="998"))
    assert (outcome(end), end["error"]["stage"]) == ("MODEL_OUTPUT_INVALID", "data")
    assert end["error"]["partialResult"]["data"] == {}


@pytest.mark.parametrize("stage", ["core", "data"])
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "MODEL_ABORTED"),
        ({"outcome": "cancelled", "detail": ""}, "MODEL_ABORTED"),
        ({"outcome": "refusal", "detail": "é" * 1024}, "MODEL_REFUSED"),
        ({"outcome": "incomplete", "detail": "cut"}, "MODEL_OUTPUT_INCOMPLETE"),
    ],
)
def test_a_cancellation_ends_the_job_with_its_outcome(service, stage, given, code):
    task = service.prepare("o") if stage == "core" else in_data(service)
    end = service.cancel(task, **given)
    assert (outcome(end), end["error"]["stage"]) == (code, stage)
    assert ("partialResult" in end["error"]) is (stage == "data")
    assert service.cancel(task, outcome="refusal") == end
    text = CORE if stage == "core" else DATA
    assert outcome(service.accept(task, text)) == "BRIDGE_STEP_CONFLICT"


def test_a_bad_cancellation_leaves_the_job(service):
    task = service.prepare("t")
    for bad in (
        {"outcome": "done"},
        {"outcome": 1},
        {"outcome": "refusal", "detail": None},
        {"detail": "é" * 1024 + "x"},
        {"detail": ["x"]},
        {"reason": "x"},
        {"jobId": None},
    ):
        assert outcome(service.cancel(task, **bad)) == "INPUT_INVALID"
    assert outcome(service.cancel({"jobId": "unknown"})) == "BRIDGE_JOB_NOT_FOUND"
    assert outcome(service.accept(task, CORE)) == "result"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        f"```json\n{CORE}\n```",
        f"Here it is: {CORE}",
        f"{CORE} {CORE}",
        f"\ufeff{CORE}",
        f"[{CORE}]",
        CORE[:-1],
        CORE[:-1] + ",}",
        CORE[:-1] + "}/* done */",
        CORE.replace('"prohibitions": []', '"prohibitions": [NaN]'),
        CORE.replace('"prohibitions": []', '"prohibitions": [1e400]'),
        CORE.replace('"prohibitions": []', '"prohibitions": [9007199254740993]'),
        CORE.replace('"prohibitions": []', '"prohibitions": ["\\ud800"]'),
        CORE.replace('"prohibitions": []', '"prohibitions": ["\t"]'),
        CORE.replace('"prohibitions": []', "'prohibitions': []"),
        CORE.replace('"prohibitions": []', '"prohibitions": [], "extra": 1'),
        CORE[:-1] + ', "primary\\u0049ntent": null}',
        "null",
    ],
)
def test_a_candidate_that_is_not_strict_json_is_to_be_repaired(service, text):
    task = service.prepare("t")
    repair = service.accept(task, text)
    assert outcome(repair) == "core"
    assert json.loads(repair["payload"])["repair"]["candidate"] == text
    assert outcome(service.accept(repair, CORE)) == "result"


def test_a_candidate_over_the_nesting_limit_is_the_end(service):
    end = service.accept(service.prepare("t"), "[" * 33 + "]" * 33)
    assert (outcome(end), end["error"]["stage"]) == ("LIMIT_EXCEEDED", "core")


def test_a_nullable_field_takes_null_with_evidence(service):
    text = "Order without a coupon."
    sources = [{"sourceId": "input", "quote": "without a coupon"}]
    candidate = {
        "data": {"coupon": None},
        "evidence": [{"path": "/data/coupon", "mode": "semantic", "sources": sources}],
        "descriptionChecks": [],
        "fieldResults": [{"path": "/data/coupon", "status": "extracted", "explanation": "none"}],
        "issues": [],
    }
    result = service.accept(in_data(service, "nullable", text), json.dumps(candidate))
    assert result["result"]["data"] == {"coupon": None}
    # Without evidence null is a guess.
    bare = json.dumps({**candidate, "evidence": []})
    repair = service.accept(in_data(service, "nullable", text), bare)
    assert outcome(repair) == "data"
    assert outcome(service.cancel(repair)) == "MODEL_ABORTED"


def test_an_unrepresentable_number_is_reported(service):
    number = "12345678901234567890.12345"
    task = in_data(service, "amount", f"Pay {number} units.")
    path = "/data/amount"
    sources = [{"sourceId": "input", "quote": number}]
    written = {
        "data": {"amount": "@"},
        "evidence": [{"path": path, "mode": "semantic", "sources": sources}],
        "descriptionChecks": [],
        "fieldResults": [{"path": path, "status": "extracted", "explanation": "stated"}],
        "issues": [],
    }
    repair = service.accept(task, json.dumps(written).replace('"@"', number))
    assert outcome(repair) == "data"
    issue = {
        "code": "DATA_VALUE_UNREPRESENTABLE",
        "category": "definition",
        "path": path,
        "message": "More digits than a number can hold.",
    }
    reported = {
        **written,
        "data": {},
        "evidence": [],
        "fieldResults": [{"path": path, "status": "issue", "explanation": "too many digits"}],
        "issues": [issue],
    }
    end = service.accept(repair, json.dumps(reported))
    assert (outcome(end), end["error"]["stage"]) == ("DATA_EXTRACTION_FAILED", "data")
    assert end["error"]["issues"] == [issue]
    assert end["error"]["partialResult"]["input"] == f"Pay {number} units."


def test_the_stateless_protocol_tells_its_version_and_has_no_ping(each):
    if each.protocol != STATELESS:
        assert each.result(each.request("ping")) == {}
        return
    discovered = each.result(each.request("server/discover"))
    assert STATELESS in discovered["supportedVersions"]
    assert each.answer(each.request("ping"))["error"]["code"] == -32601


def test_text_of_any_script_goes_through_unchanged(each):
    text = "查询订单 000123 🙂 \u2028 \u0085 \x00 \\u0041"
    task = each.prepare("o", text)
    assert json.loads(task["payload"])["currentInput"] == text
    result = each.accept(each.accept(task, core(normalizedInput="查询订单🙂")), DATA)["result"]
    assert (result["input"], result["normalizedInput"]) == (text, "查询订单🙂")
    assert any("查询订单🙂".encode() in line for line in each.lines)
