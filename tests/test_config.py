"""Reading a configuration in its wire shape (contract section 3)."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from intent_runtime.config import CONFIG_KEYS, read_config
from intent_runtime.errors import IntentParseError
from intent_runtime.executors.protocol import executor_from
from intent_runtime.values import (
    DEFAULT_LIMITS,
    MAX_SAFE_INTEGER,
    MAX_TIMER_MS,
    ExecutorCapabilities,
    IntentLimits,
)

WIRE_LIMITS = {
    "maxInputBytes": 65536,
    "maxContextBytes": 131072,
    "maxSchemaBytes": 131072,
    "maxRequestBytes": 524288,
    "maxOutputBytes": 262144,
    "maxSchemaDepth": 8,
    "maxSchemaProperties": 256,
    "maxContextMessages": 100,
    "maxIntentCount": 100,
    "maxConcurrentParses": 4,
    "maxSchemaCacheEntries": 128,
    "maxCandidateDepth": 32,
    "maxCandidateNodes": 20000,
    "maxEvidenceEntries": 4096,
    "maxIssueCount": 256,
    "maxValidationMs": 1000,
    "maxValidationQueueEntries": 32,
}


async def generate(request):
    raise NotImplementedError


EXECUTOR = executor_from(generate)


def refusal(raw):
    with pytest.raises(IntentParseError) as caught:
        read_config(raw)
    error = caught.value
    assert error.stage == "config"
    assert error.partial_result is None
    assert error.to_dict()["message"]
    return error


def test_an_empty_configuration_has_the_defaults():
    config = read_config({})
    assert config.executor is None
    assert config.timeout_ms == 0
    assert config.definition.repair_attempts == 1
    assert config.definition.limits == DEFAULT_LIMITS
    assert config.definition.language_json == '"en"'
    assert (
        config.definition.schema_json
        == '{"type":"object","properties":{},"additionalProperties":false}'
    )


def test_the_default_limits_are_those_of_the_contract():
    assert DEFAULT_LIMITS.to_dict() == WIRE_LIMITS


def test_a_full_configuration_is_read():
    config = read_config(
        MappingProxyType(
            {
                "language": "ZH-cn",
                "schema": {"type": "object", "properties": {"订单": {}}},
                "executor": EXECUTOR,
                "timeoutMs": 5,
                "repairAttempts": 0,
                "limits": {"maxIssueCount": 7},
            }
        )
    )
    assert config.executor is EXECUTOR
    assert config.timeout_ms == 5
    assert config.definition.language_json == '"zh-CN"'
    assert list(config.definition.selections.known) == ["订单"]
    assert config.definition.repair_attempts == 0
    assert config.definition.limits == IntentLimits(max_issue_count=7)


@pytest.mark.parametrize("raw", [None, [], "x", 1, True, [("language", "en")]], ids=repr)
def test_a_configuration_is_an_object(raw):
    assert refusal(raw).code == "CONFIG_INVALID"


@pytest.mark.parametrize(
    "key",
    ["Language", "timeout_ms", "repair", "", "model", 1, None, "键" * 500],
    ids=ascii,
)
def test_an_unknown_key_is_refused_naming_the_known_ones(key):
    error = refusal({key: 1})
    assert error.code == "CONFIG_INVALID"
    assert all(known in error.message for known in CONFIG_KEYS)
    assert len(error.message) < 300


def test_the_refusal_of_a_key_with_a_lone_surrogate_can_be_written():
    assert refusal({"\ud800": 1}).code == "CONFIG_INVALID"


@pytest.mark.parametrize(
    "tag", [None, "", " en", "English", "en_US", "zz-ZZ", "und", 1, ["en"], True], ids=repr
)
def test_a_bad_language_is_refused_and_never_replaced(tag):
    assert refusal({"language": tag}).code == "CONFIG_INVALID"


def test_a_refused_language_names_the_registrys_date():
    assert "20" in refusal({"language": "zz-ZZ"}).message.partition("registry")[2]


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        True,
        "x",
        1,
        {"type": "array"},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
    ],
    ids=repr,
)
def test_a_bad_schema_is_unsupported(schema):
    assert refusal({"schema": schema}).code == "SCHEMA_UNSUPPORTED"


@pytest.mark.parametrize(
    "limits", [{"maxSchemaBytes": 10}, {"maxSchemaDepth": 1}, {"maxSchemaProperties": 1}], ids=repr
)
def test_a_schema_over_a_limit_is_a_limit_exceeded(limits):
    schema = {"type": "object", "properties": {"a": {"items": {"items": {}}}, "b": {}}}
    assert refusal({"schema": schema, "limits": limits}).code == "LIMIT_EXCEEDED"


@pytest.mark.parametrize(
    "value", [-1, MAX_TIMER_MS + 1, 1.5, "5", None, True, float("inf"), float("nan"), [1]], ids=repr
)
def test_a_timeout_is_an_integer_in_range(value):
    assert refusal({"timeoutMs": value}).code == "CONFIG_INVALID"


@pytest.mark.parametrize("value", [0, 1, MAX_TIMER_MS])
def test_a_timeout_at_its_bounds_is_taken(value):
    assert read_config({"timeoutMs": value}).timeout_ms == value


@pytest.mark.parametrize("value", [-1, 2, 1.5, "1", None, True, False], ids=repr)
def test_repair_attempts_are_none_or_one(value):
    assert refusal({"repairAttempts": value}).code == "CONFIG_INVALID"


@pytest.mark.parametrize("name", WIRE_LIMITS)
def test_each_limit_is_a_positive_safe_integer(name):
    highest = MAX_TIMER_MS if name == "maxValidationMs" else MAX_SAFE_INTEGER
    for value in (1, highest):
        assert read_config({"limits": {name: value}}).definition.limits.to_dict()[name] == value
    for value in (0, -1, highest + 1, 1.5, "1", None, True, float("nan"), [1]):
        assert refusal({"limits": {name: value}}).code == "CONFIG_INVALID"


@pytest.mark.parametrize(
    "limits",
    [
        None,
        [],
        "x",
        1,
        True,
        {"maxinputbytes": 1},
        {"max_input_bytes": 1},
        {1: 1},
        {"\ud800": 1},
        IntentLimits(max_issue_count=0),
        IntentLimits(max_issue_count="7"),
    ],
    ids=ascii,
)
def test_any_other_limits_are_refused(limits):
    assert refusal({"limits": limits}).code == "CONFIG_INVALID"


def test_typed_limits_are_taken():
    limits = IntentLimits(max_input_bytes=5)
    assert read_config({"limits": limits}).definition.limits == limits


class Bare:
    id = "bare"
    capabilities = ExecutorCapabilities()

    async def generate(self, request):
        raise NotImplementedError


def without(name):
    return type(
        "Partial",
        (),
        {
            key: value
            for key, value in vars(Bare).items()
            if key != name and not key.startswith("__")
        },
    )()


def test_anything_with_the_three_members_is_an_executor():
    executor = Bare()
    assert read_config({"executor": executor}).executor is executor


@pytest.mark.parametrize(
    "executor",
    [
        None,
        1,
        "x",
        generate,
        {},
        object(),
        without("id"),
        without("capabilities"),
        without("generate"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_anything_else_is_no_executor(executor):
    assert refusal({"executor": executor}).code == "CONFIG_INVALID"


def test_an_executor_must_support_abort():
    executor = executor_from(generate, capabilities=ExecutorCapabilities(supports_abort=False))
    assert refusal({"executor": executor}).code == "HOST_CAPABILITY_UNSUPPORTED"


@pytest.mark.parametrize("capabilities", [None, {"supportsAbort": True}, True], ids=repr)
def test_capabilities_are_declared_by_their_type(capabilities):
    executor = executor_from(generate)
    executor.capabilities = capabilities
    assert refusal({"executor": executor}).code == "CONFIG_INVALID"


def test_later_changes_to_the_configuration_change_nothing():
    schema = {"type": "object", "properties": {"a": {"enum": ["x"]}}}
    raw = {"schema": schema, "limits": {"maxIssueCount": 7}}
    definition = read_config(raw).definition
    before = definition.schema_json
    schema["properties"]["a"]["enum"].append("y")
    schema["properties"]["b"] = {}
    raw["limits"]["maxIssueCount"] = 9
    assert definition.schema_json == before
    assert definition.selections.projection(("a",)).schema["properties"] == {"a": {"enum": ["x"]}}
    assert definition.limits.max_issue_count == 7
