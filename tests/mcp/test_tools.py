"""What a host's model is told, and what the logs never tell."""

import json
import subprocess
import sys

import jsonschema_rs
import pytest

from intent_runtime.bridge.arguments import MAX_DETAIL_BYTES
from intent_runtime.mcp import MCP_TOOLS
from intent_runtime.mcp.tools import server_instructions
from support.bridging import core, data
from support.raw_mcp import (
    PROTOCOLS,
    SLOW_INSTANCES,
    SLOW_SCHEMA,
    STATELESS,
    outcome,
    serving,
    write_config,
)

SHAPES = {
    "intent_prepare": (["instance", "input"], ["fields", "context"]),
    "intent_accept": (["jobId", "stepToken", "candidateText"], []),
    "intent_cancel": (["jobId"], ["outcome", "detail"]),
}


def schema_of(name):
    return next(tool["inputSchema"] for tool in MCP_TOOLS if tool["name"] == name)


def test_there_are_exactly_three_tools_in_their_order():
    assert isinstance(MCP_TOOLS, tuple)
    assert [tool["name"] for tool in MCP_TOOLS] == list(SHAPES)
    for tool in MCP_TOOLS:
        assert list(tool) == ["name", "description", "inputSchema"]
        assert tool["description"].isascii()
    assert json.loads(json.dumps(MCP_TOOLS)) == list(MCP_TOOLS)


@pytest.mark.parametrize("name", SHAPES)
def test_the_input_schemas_are_closed_and_valid(name):
    required, optional = SHAPES[name]
    schema = schema_of(name)
    assert schema["type"] == "object"
    assert schema["required"] == required
    assert list(schema["properties"]) == [*required, *optional]
    assert schema["additionalProperties"] is False
    for validator in (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft7Validator):
        validator(schema)
    strings = [key for key in schema["properties"] if key not in {"fields", "context"}]
    assert {schema["properties"][key]["type"] for key in strings} == {"string"}


def test_the_outcomes_and_the_length_of_a_detail():
    properties = schema_of("intent_cancel")["properties"]
    assert properties["outcome"]["enum"] == ["cancelled", "refusal", "incomplete"]
    assert properties["detail"]["maxLength"] == MAX_DETAIL_BYTES == 2048


@pytest.mark.parametrize(
    ("more", "valid"),
    [
        ({}, True),
        ({"fields": []}, True),
        ({"fields": ["a"], "context": "x"}, True),
        ({"context": [{"role": "tool", "content": ""}, {"role": "user", "content": "x"}]}, True),
        ({"context": [{"role": "system", "content": "x"}]}, False),
        ({"context": [{"role": "user"}]}, False),
        ({"context": [{"role": "user", "content": "x", "name": "y"}]}, False),
        ({"context": 5}, False),
        ({"fields": [1]}, False),
        ({"fields": None}, False),
        ({"more": 1}, False),
    ],
)
def test_the_schema_of_prepare_takes_what_a_request_takes(more, valid):
    validator = jsonschema_rs.Draft202012Validator(schema_of("intent_prepare"))
    assert validator.is_valid({"instance": "x", "input": "y", **more}) is valid


def test_the_declarations_need_no_sdk():
    code = "import sys; from intent_runtime.mcp import MCP_TOOLS; print(len(MCP_TOOLS), 'mcp' in sys.modules, 'pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.split() == [b"3", b"False", b"False"]


RULES = [
    "intent_prepare",
    "intent_accept",
    "intent_cancel",
    "Finish the tool call first",
    "whole candidate",
    "stepToken of that last reply",
    "refusal",
    "incomplete",
    "never submit an empty text",
    "isError on a cancel reply is no failure",
    "job may live on",
    "never carries out a request",
]


def test_the_server_instructions_hold_the_rules_and_the_names():
    names = ("orders", 'say "hi"', "订单", "a\nb", "]")
    text = server_instructions(names)
    assert [rule for rule in RULES if rule not in text] == []
    line = text.rstrip("\n").splitlines()[-1]
    assert line.startswith("Instances: ")
    assert json.loads(line.removeprefix("Instances: ")) == list(names)


@pytest.mark.parametrize("length", [1, 60, 5_000])
def test_the_server_instructions_are_bounded(length):
    names = tuple(f"{'n' * length}{number}" for number in range(10_000))
    text = server_instructions(names)
    assert len(text.encode()) < 8_192
    listed, end = json.JSONDecoder().raw_decode(text, text.index("Instances: ") + 11)
    assert tuple(listed) == names[: len(listed)]
    assert str(10_000 - len(listed)) in text[end:]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.slow
def test_the_instructions_arrive_with_the_first_exchange(tmp_path, protocol):
    config = write_config(tmp_path, {"订单": {}, "plain": {}})
    with serving(config) as service:
        pass
    with serving(config, protocol=protocol) as service:
        first = service.request("server/discover") if protocol == STATELESS else None
        if first is not None:
            told = service.result(first)
        else:
            told = json.loads(service.lines[0])["result"]
            assert told["serverInfo"]["name"] == "intent-runtime"
        assert told["instructions"] == server_instructions(("订单", "plain"))
        assert "tools" in told["capabilities"]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["2025-06-18", STATELESS])
def test_no_log_holds_what_users_and_models_wrote(tmp_path, protocol):
    instances = {
        **SLOW_INSTANCES,
        "brief": {"schema": SLOW_SCHEMA, "limits": {"maxValidationMs": 300}},
    }
    config = write_config(tmp_path, instances)
    secrets = ["MARK-INPUT", "MARK-CONTEXT", "MARK-CANDIDATE", "MARK-DETAIL", "MARK-WIRE"]
    with serving(config, "--log-level", "debug", protocol=protocol) as service:
        text = "MARK-INPUT: order 000123, code aaac"
        task = service.prepare("o", text, context="MARK-CONTEXT")
        tasks = [task]
        tasks.append(service.accept(task, "MARK-CANDIDATE"))
        assert outcome(service.accept(task, "MARK-CANDIDATE 2")) == "BRIDGE_STEP_CONFLICT"
        tasks.append(service.accept(tasks[-1], core(normalizedInput="MARK-CANDIDATE")))
        tasks.append(service.accept(tasks[-1], data(value="MARK-CANDIDATE")))
        assert outcome(service.accept(tasks[-1], data())) == "result"
        slow = service.accept(service.prepare("brief", "MARK-INPUT " + "a" * 60 + "c"), core())
        tasks.append(slow)
        text = data("code", "a" * 60 + "c", checked=False)
        assert outcome(service.accept(slow, text)) == "LIMIT_EXCEEDED"
        tasks.append(service.prepare("t", "MARK-INPUT"))
        assert outcome(service.cancel(tasks[-1], detail="MARK-DETAIL")) == "MODEL_ABORTED"
        for arguments in ({"instance": "MARK-WIRE", "input": "MARK-INPUT"}, {"MARK-WIRE": 1}):
            assert outcome(service.call("intent_prepare", arguments)) == "INPUT_INVALID"
        assert outcome(service.call("MARK-WIRE", {})) == "INPUT_INVALID"
        assert "error" in service.answer(service.request_tool("intent_prepare", ["MARK-WIRE"]))
        assert "error" in service.answer(service.request("MARK-WIRE/method"))
        service.send_line(b"MARK-WIRE {bad")
        service.send(
            {"jsonrpc": "2.0", "method": "notifications/MARK-WIRE", "params": {"MARK-WIRE": 1}}
        )
        service.send({"jsonrpc": "2.0", "id": "MARK-WIRE", "result": {"MARK-WIRE": 1}})
        service.send({"jsonrpc": "2.0", "id": "MARK-WIRE", "method": 1})
        assert "error" in service.answer("MARK-WIRE")
        service.nameless_answer()
    marks = {mark for task in tasks for mark in (task["jobId"], task["stepToken"])}
    assert len(marks) == 9
    assert [each for each in [*secrets, *marks] if each in service.errors] == []
