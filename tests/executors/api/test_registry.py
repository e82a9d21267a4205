"""`create_api_executor`: what it takes, and how it says no."""

import asyncio
import subprocess
import sys
import threading

import httpx2
import pytest

from intent_runtime import Intent, IntentParseError
from intent_runtime.executors import create_api_executor
from support.candidates import SCHEMA, core_candidate, data_candidate
from support.provider_server import Reply
from support.provider_wires import KEY, MODEL, WIRES, Chat, executor_for

pytestmark = pytest.mark.slow
GOOD = {"provider": "openai", "api_key": KEY, "model": MODEL}

REFUSED = [
    ({"provider": "nobody"}, "provider must be one of"),
    ({"provider": None}, "provider must be one of"),
    ({"provider": ["openai"]}, "provider must be one of"),
    ({"api_key": None}, "api_key must"),
    ({"api_key": ""}, "api_key must"),
    ({"api_key": "sk 1"}, "api_key must"),
    ({"api_key": "sk-1\n"}, "api_key must"),
    ({"api_key": "sk-密钥"}, "api_key must"),
    ({"model": None}, "model must"),
    ({"model": "　"}, "model must"),
    ({"model": "\ud800"}, "model must"),
    ({"provider": "openai-compatible"}, "needs base_url"),
    ({"base_url": ""}, "base_url must"),
    ({"base_url": "localhost:8000/v1"}, "base_url must"),
    ({"base_url": "ftp://localhost"}, "base_url must"),
    ({"base_url": "http://[::1"}, "base_url must"),
    ({"base_url": 7}, "base_url must"),
    ({"native_json_schema": 1}, "native_json_schema must"),
    ({"native_json_object": "yes"}, "native_json_object must"),
    ({"max_output_tokens": 0}, "max_output_tokens must"),
    ({"max_output_tokens": True}, "max_output_tokens must"),
    ({"max_output_tokens": 1.5}, "max_output_tokens must"),
    ({"timeout_ms": -1}, "timeout_ms must"),
    ({"timeout_ms": 2**31}, "timeout_ms must"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_a_wrong_argument_is_named_and_never_shown(change, message):
    with pytest.raises(IntentParseError, match=message) as caught:
        create_api_executor(**GOOD | change)
    assert (caught.value.code, caught.value.stage) == ("CONFIG_INVALID", "config")
    assert KEY not in str(caught.value)
    key = change.get("api_key")
    assert not key or key not in str(caught.value)


def test_provider_key_and_model_have_no_defaults():
    for name in GOOD:
        with pytest.raises(TypeError):
            create_api_executor(**{key: value for key, value in GOOD.items() if key != name})


DECLARED = {
    "openai": (True, True),
    "xai": (True, False),
    "openai-compatible": (False, False),
    "anthropic": (True, False),
    "google": (True, True),
}


@pytest.mark.parametrize("provider", DECLARED)
def test_capabilities_are_the_providers_usual_unless_declared(provider):
    options = GOOD | {"provider": provider, "base_url": "http://localhost:1/v1"}
    usual = create_api_executor(**options).capabilities
    assert (usual.native_json_schema, usual.native_json_object) == DECLARED[provider]
    assert usual.supports_abort
    other = create_api_executor(
        **options, native_json_schema=False, native_json_object=True
    ).capabilities
    assert (other.native_json_schema, other.native_json_object) == (False, True)


def test_an_executor_is_known_by_provider_and_model(wire, server):
    executor = executor_for(wire, server)
    assert executor.id == f"{wire.name}:{MODEL}"
    assert repr(executor).endswith(f" {wire.name}:{MODEL}>")


def in_a_child(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("provider", "sdk", "extra"),
    [
        ("openai", "openai", "openai"),
        ("xai", "openai", "openai"),
        ("openai-compatible", "openai", "openai"),
        ("anthropic", "anthropic", "anthropic"),
        ("google", "google.genai", "google"),
        ("openai", "httpx2", "openai"),
    ],
)
def test_a_missing_sdk_says_which_extra_to_install(provider, sdk, extra):
    code = f"""
import sys
sys.modules[{sdk!r}] = None
from intent_runtime.executors import create_api_executor
try:
    create_api_executor(provider={provider!r}, api_key="k", model="m", base_url="http://x/v1")
except ImportError as error:
    print(error)
"""
    shown = in_a_child(code)
    assert f"pip install 'intent-runtime[{extra}]'" in shown.stdout, shown.stderr


def test_the_package_and_its_executors_load_no_sdk():
    code = """
import sys
import intent_runtime.executors as executors
executors.RulesExecutor, executors.create_api_executor, executors.executor_from
print([name for name in ("openai", "anthropic", "google.genai", "httpx2", "pydantic") if name in sys.modules])
"""
    shown = in_a_child(code)
    assert shown.stdout.strip() == "[]", shown.stderr


def test_a_callers_http_client_is_used_and_left_open(server, wire):
    async def both_stages():
        seen = []

        async def note(request):
            seen.append(request.url.path)

        hooks = {"request": [note]}
        async with httpx2.AsyncClient(event_hooks=hooks, trust_env=False) as http_client:
            executor = executor_for(wire, server, http_client=http_client)
            with Intent(executor=executor, schema=SCHEMA) as intent:
                result = await intent.parse("Look up order 000123")
            assert not http_client.is_closed
        assert result.data == {"orderId": "000123"}
        assert seen == [wire.target, wire.target]

    server.play(Reply(wire.success(core_candidate())), Reply(wire.success(data_candidate())))
    asyncio.run(both_stages())


def test_one_executor_serves_threads_with_loops_of_their_own(server, wire):
    server.play(Reply(wire.success(core_candidate())))
    results = []
    with Intent(executor=executor_for(wire, server), limits={"max_concurrent_parses": 8}) as intent:
        threads = [
            threading.Thread(
                target=lambda: results.append(intent.parse_sync("Look up order 000123"))
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(results) == 8


def test_a_loop_closed_without_ceremony_is_forgotten(server):
    wire = Chat()
    server.play(Reply(wire.success(core_candidate()), headers={"connection": "close"}))
    executor = executor_for(wire, server)
    clients = executor._clients._clients

    def parse_in_a_loop():
        loop = asyncio.new_event_loop()
        with Intent(executor=executor) as intent:
            loop.run_until_complete(intent.parse("Look up order 000123"))
            # What a runner does, but for the asynchronous generators.
            loop.run_until_complete(asyncio.sleep(0))
        return loop

    first = parse_in_a_loop()
    assert list(clients) == [first]
    first.close()
    second = parse_in_a_loop()
    assert list(clients) == [second]
    second.run_until_complete(second.shutdown_asyncgens())
    second.close()
    assert clients == {}


def test_every_provider_has_a_wire_to_be_tested_with():
    assert {wire.name for wire in WIRES} == set(DECLARED)
