"""Tasks: instructions, payload, format (contract section 7)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intent_runtime import prompts
from intent_runtime.config import read_config
from intent_runtime.formats import ACTIONS, stage_format
from intent_runtime.pipeline import Run

VECTOR = Path(__file__).parent / "vectors" / "core-schema.json"
STAGES = [("core", False), ("core", True), ("data", False), ("data", True)]
SCHEMA = {
    "type": "object",
    "description": "About one order.",
    "properties": {"orderId": {"type": "string"}, "备注": {}},
    "required": ["orderId"],
}
CORE = {
    "normalizedInput": "查询订单",
    "primaryIntent": None,
    "requirements": [],
    "prohibitions": [],
    "intents": [],
}


def run(fields=None, **config):
    request = {"input": "查询订单 000123", "context": "早先"}
    if fields is not None:
        request["fields"] = fields
    started = read_config({"schema": SCHEMA, "language": "zh-CN", **config}).definition.begin(
        request
    )
    assert isinstance(started, Run)
    return started


@pytest.mark.parametrize(("stage", "repair"), STAGES)
def test_instructions_are_english_and_under_8_kb(stage, repair):
    text = prompts.instructions(stage, repair=repair)
    assert 1_000 < len(text.encode()) < 8_192
    assert text.isascii() or stage == "core"
    assert "\t" not in text
    assert text.endswith("\n")
    assert not text.startswith("\n")


@pytest.mark.parametrize("stage", ["core", "data"])
def test_a_repair_has_the_same_instructions_and_a_paragraph_more(stage):
    plain, repair = (prompts.instructions(stage, repair=flag) for flag in (False, True))
    assert repair.startswith(plain.rstrip("\n"))
    assert "`repair.diagnostic`" in repair[len(plain) :]
    assert "`repair.diagnostic`" not in plain


@pytest.mark.parametrize(
    "word",
    [
        "normalizedInput",
        "primaryIntent",
        "requirements",
        "prohibitions",
        "intents",
        "blockers",
        "clarificationReason",
        "confirmationReason",
        "conditionReason",
        "questions",
        "options",
        *ACTIONS,
    ],
)
def test_the_core_instructions_name_every_key_and_action(word):
    assert word in prompts.instructions("core", repair=False)


@pytest.mark.parametrize(
    "word",
    [
        "evidence",
        "descriptionChecks",
        "fieldResults",
        "issues",
        "exact",
        "semantic",
        "satisfied",
        "violated",
        "undetermined",
        "extracted",
        "not_provided",
        "not_applicable",
        "sourceId",
        "DATA_REQUIRED_MISSING",
        "DATA_AMBIGUOUS",
        "DATA_CONFLICT",
        "DATA_DEPENDENCY_MISSING",
        "DATA_CARDINALITY_MISMATCH",
        "DATA_VALUE_UNREPRESENTABLE",
        "DATA_CONSTRAINT_VIOLATED",
        "DATA_DESCRIPTION_UNDETERMINED",
    ],
)
def test_the_data_instructions_name_every_key_word_and_code(word):
    assert word in prompts.instructions("data", repair=False)


def test_the_reserved_code_is_not_offered():
    assert "DATA_SOURCE_INVALID" not in prompts.instructions("data", repair=False)


def test_the_examples_in_the_instructions_are_json():
    text = prompts.instructions("data", repair=False)
    start = text.index('{"data"')
    example, _ = json.JSONDecoder().raw_decode(text[start:])
    assert list(example) == ["data", "evidence", "descriptionChecks", "fieldResults", "issues"]


def test_the_core_payload_has_its_keys_in_order_and_the_exact_material():
    payload = json.loads(run().task().payload)
    assert list(payload) == ["structuredLanguage", "currentInput", "context", "schemaReference"]
    assert payload["structuredLanguage"] == "zh-CN"
    assert payload["currentInput"] == "查询订单 000123"
    assert payload["context"] == [
        {"sourceId": "context:0", "role": "background", "content": "早先"}
    ]
    assert payload["schemaReference"] == SCHEMA


def test_the_core_task_is_the_same_for_every_selection():
    tasks = [run(fields).task() for fields in (None, [], ["orderId"], ["备注", "orderId"])]
    assert len({task.to_json() for task in tasks}) == 1


def test_the_data_payload_has_its_keys_in_order():
    data_run = run(["备注", "orderId"]).judge(json.dumps(CORE))
    payload = json.loads(data_run.task().payload)
    assert list(payload) == [
        "structuredLanguage",
        "currentInput",
        "context",
        "schemaReference",
        "checkedDefault",
        "selectedSchema",
        "selectedFields",
    ]
    assert payload["selectedFields"] == ["备注", "orderId"]
    assert payload["selectedSchema"] == {
        "type": "object",
        "properties": {"备注": {}, "orderId": {"type": "string"}},
        "required": ["orderId"],
        "additionalProperties": False,
    }
    assert payload["checkedDefault"] == {"input": "查询订单 000123", **CORE, "data": {}}
    assert list(payload["checkedDefault"]) == [
        "input",
        "normalizedInput",
        "primaryIntent",
        "requirements",
        "intents",
        "prohibitions",
        "data",
    ]


@pytest.mark.parametrize("stage", ["core", "data"])
def test_a_repair_payload_ends_with_the_whole_candidate_and_the_diagnostic(stage):
    before = run() if stage == "core" else run().judge(json.dumps(CORE))
    text = '  {"broken": "候选"}\n'
    after = before.judge(text)
    plain, repair = json.loads(before.task().payload), json.loads(after.task().payload)
    assert after.stage == stage
    assert list(repair) == [*plain, "repair"]
    assert list(repair["repair"]) == ["candidate", "diagnostic"]
    assert repair["repair"]["candidate"] == text
    assert len(repair["repair"]["diagnostic"]["violations"]) > 1
    assert {key: repair[key] for key in plain} == plain


def test_the_formats_are_those_of_the_stages():
    assert stage_format("data") == {"kind": "json_object"}
    core = stage_format("core")
    assert (core["kind"], core["name"]) == ("json_schema", "intent_core")
    assert list(core) == ["kind", "name", "schema"]


def objects(schema):
    if schema.get("type") == "object":
        yield schema
    for child in (
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ):
        yield from objects(child)


def test_every_object_of_the_core_schema_is_closed_with_every_key_required():
    found = list(objects(stage_format("core")["schema"]))
    assert len(found) == 4
    for schema in found:
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False


def test_the_action_of_the_core_schema_is_one_of_seven_or_null():
    action = stage_format("core")["schema"]["properties"]["intents"]["items"]["properties"][
        "action"
    ]
    assert {key: action[key] for key in ("type", "enum")} == {
        "type": ["string", "null"],
        "enum": [*ACTIONS, None],
    }


def without_descriptions(value):
    if isinstance(value, dict):
        return {
            key: without_descriptions(member)
            for key, member in value.items()
            if key not in ("description", "title") or isinstance(member, dict)
        }
    return [without_descriptions(item) for item in value] if isinstance(value, list) else value


@pytest.mark.skipif(not VECTOR.exists(), reason="tests/vectors/core-schema.json is not there")
def test_the_core_schema_is_the_recorded_one():
    recorded = json.loads(VECTOR.read_text("utf-8"))
    assert without_descriptions(stage_format("core")["schema"]) == without_descriptions(recorded)


def test_formats_are_fresh():
    mangled = stage_format("core")
    mangled["schema"]["properties"].clear()
    assert stage_format("core")["schema"]["properties"]


@pytest.mark.parametrize(("stage", "repair"), STAGES)
def test_the_fixed_part_of_a_task_is_its_instructions_and_format_schema(stage, repair):
    size = len(prompts.instructions(stage, repair=repair).encode())
    schema = stage_format(stage).get("schema")
    if schema:
        size += len(json.dumps(schema, separators=(",", ":")).encode())
    assert prompts.fixed_bytes(stage, repair=repair) == size
