"""What each provider is asked: exact bodies, headers and targets (contract section 9)."""

import json

import pytest

from intent_runtime import Intent, IntentParseError
from intent_runtime.formats import stage_format
from support.candidates import SCHEMA, core_candidate, data_candidate
from support.provider_server import Reply
from support.provider_wires import KEY, MODEL, WIRES, Chat, executor_for, words

pytestmark = pytest.mark.slow
CORE_SCHEMA = stage_format("core")["schema"]


@pytest.fixture
def asked(server, wire):
    """The two requests of a parse with both stages."""

    def run(**options):
        server.play(Reply(wire.success(core_candidate())), Reply(wire.success(data_candidate())))
        with Intent(executor=executor_for(wire, server, **options), schema=SCHEMA) as intent:
            result = intent.parse_sync("查询订单 000123")
        assert result.data == {"orderId": "000123"}
        return server.requests

    return run


def expected(wire, stage, instructions, payload):
    schema = {"name": "intent_core", "schema": CORE_SCHEMA, "strict": True}
    user = {"role": "user", "content": payload}
    if wire.name in ("openai", "xai"):
        body = {"model": MODEL, "max_output_tokens": 8192, "store": False, "stream": False}
        if wire.name == "openai":
            body |= {"instructions": instructions, "input": [user]}
        else:
            body |= {"input": [{"role": "system", "content": instructions}, user]}
        if stage == "core":
            body["text"] = {"format": {"type": "json_schema", **schema}}
        elif wire.name == "openai":
            body["text"] = {"format": {"type": "json_object"}}
        return body
    if wire.name == "openai-compatible":
        form = {"type": "json_object"}
        if stage == "core":
            form = {"type": "json_schema", "json_schema": schema}
        system = {"role": "system", "content": instructions}
        return {"model": MODEL, "max_tokens": 8192, "stream": False, "messages": [system, user], "response_format": form}  # fmt: skip
    if wire.name == "anthropic":
        body = {"model": MODEL, "max_tokens": 8192, "stream": False, "system": instructions, "messages": [user]}  # fmt: skip
        if stage == "core":
            body["output_config"] = {"format": {"type": "json_schema", "schema": CORE_SCHEMA}}
        return body
    config = {"maxOutputTokens": 8192, "responseMimeType": "application/json"}
    if stage == "core":
        config["responseJsonSchema"] = CORE_SCHEMA
    return {
        "contents": [{"role": "user", "parts": [{"text": payload}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": instructions}]},
        "generationConfig": config,
    }


def test_each_stage_asks_for_its_format_and_nothing_more(asked, wire):
    requests = asked()
    assert [request.target for request in requests] == [wire.target, wire.target]
    for stage, request in zip(("core", "data"), requests, strict=True):
        instructions, payload = words(request.body)
        assert instructions.startswith("You are the ")
        assert json.loads(payload)["currentInput"] == "查询订单 000123"
        assert request.body == expected(wire, stage, instructions, payload)


def test_the_key_travels_in_the_providers_header_only(asked, wire):
    for request in asked():
        holders = [name for name, value in request.headers.items() if KEY in value]
        assert holders == ["x-goog-api-key" if wire.name == "google" else "authorization"]
        assert KEY.encode() not in request.raw
        assert KEY not in request.target


def test_both_stages_share_a_connection(asked):
    first, second = asked()
    assert first.connection == second.connection


def test_max_output_tokens_is_passed_on(asked, wire):
    body = asked(max_output_tokens=77)[0].body
    limits = body["generationConfig"] if wire.name == "google" else body
    names = ("max_output_tokens", "max_tokens", "maxOutputTokens")
    assert [limits[name] for name in names if name in limits] == [77]


HOSTILE = {
    "OPENAI_API_KEY": "sk-environment",
    "OPENAI_ADMIN_KEY": "sk-environment",
    "OPENAI_ORG_ID": "org-environment",
    "OPENAI_PROJECT_ID": "proj-environment",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/environment",
    "OPENAI_CUSTOM_HEADERS": "authorization: Bearer sk-environment\nx-environment: 1",
    "ANTHROPIC_API_KEY": "sk-environment",
    "ANTHROPIC_AUTH_TOKEN": "sk-environment",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/environment",
    "ANTHROPIC_CUSTOM_HEADERS": "authorization: Bearer sk-environment\nx-environment: 1",
    "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
    "GOOGLE_API_KEY": "environment",
    "GEMINI_API_KEY": "environment",
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_GENAI_USE_ENTERPRISE": "true",
    "GOOGLE_GENAI_API_VERSION": "v9",
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9/environment",
    "GOOGLE_CLOUD_PROJECT": "environment",
    "GOOGLE_CLOUD_LOCATION": "environment",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


def test_nothing_comes_from_the_environment(asked, monkeypatch):
    plain = [(r.target, r.headers, r.raw) for r in asked()]
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)
    assert [(r.target, r.headers, r.raw) for r in asked()] == plain


def only(*names):
    chosen = [wire for wire in WIRES if wire.name in names]
    return pytest.mark.parametrize("wire", chosen, ids=names)


@only("openai-compatible", "anthropic", "google")
def test_a_model_without_json_schema_gets_the_schema_in_words(asked, wire):
    core, data = asked(native_json_schema=False)
    assert json.dumps(CORE_SCHEMA, separators=(",", ":")) in words(core.body)[0]
    assert "Output schema" not in words(data.body)[0]
    text = json.dumps(core.body)
    assert "json_schema" not in text
    assert "responseJsonSchema" not in text


@only("openai", "xai")
def test_openai_and_xai_refuse_such_a_model_before_any_network(server, wire):
    server.play(Reply(wire.success(core_candidate())))
    executor = executor_for(wire, server, native_json_schema=False)
    with Intent(executor=executor) as intent, pytest.raises(IntentParseError) as caught:
        intent.parse_sync("Look up order 000123")
    assert (caught.value.code, caught.value.stage) == ("HOST_CAPABILITY_UNSUPPORTED", "core")
    assert server.requests == []


@pytest.mark.parametrize(
    ("schema", "json_object", "core_form", "data_form"),
    [
        (True, True, "json_schema", "json_object"),
        (True, False, "json_schema", None),
        (False, True, "json_object", "json_object"),
        (False, False, None, None),
        (None, None, None, None),
    ],
)
def test_a_compatible_server_is_asked_for_what_was_declared(
    server, schema, json_object, core_form, data_form
):
    wire = Chat()
    server.play(Reply(wire.success(core_candidate())), Reply(wire.success(data_candidate())))
    executor = executor_for(wire, server, native_json_schema=schema, native_json_object=json_object)
    with Intent(executor=executor, schema=SCHEMA) as intent:
        intent.parse_sync("Look up order 000123")
    forms = [request.body.get("response_format", {}).get("type") for request in server.requests]
    assert forms == [core_form, data_form]
