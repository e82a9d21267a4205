"""`Intent`: ways to configure it, to call it, to share it and to end it."""

import asyncio
import dataclasses
import gc
import json
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import intent_runtime
from intent_runtime import (
    ContextMessage,
    ExecutorCapabilities,
    Intent,
    IntentDataError,
    IntentLimits,
    IntentParseError,
    ModelReply,
    executor_from,
)
from intent_runtime.executors import RulesExecutor

WAIT = 30
ORDER = {
    "type": "object",
    "properties": {"orderId": {"type": "string"}, "note": {"type": "string"}},
    "required": ["orderId"],
}
CORE = {
    "normalizedInput": "查询订单",
    "primaryIntent": None,
    "requirements": [],
    "prohibitions": [],
    "intents": [],
}


async def understood(request):
    return ModelReply.complete(json.dumps(CORE))


def recorder(tasks):
    async def answer(request):
        tasks.append(request)
        return ModelReply.complete(json.dumps(CORE))

    return executor_from(answer)


def refused(call, *args, **kwargs):
    with pytest.raises(IntentParseError) as caught:
        call(*args, **kwargs)
    return caught.value.code, caught.value.stage


@pytest.mark.parametrize(
    ("text", "prohibition"),
    [
        ("Look up order 000123, but do not change it.", "do not change it"),
        ("查询订单 000123，不要修改它。", "不要修改它"),
    ],
)
def test_every_way_to_parse_gives_the_same_checked_result(text, prohibition):
    with Intent(schema=ORDER, executor=RulesExecutor()) as intent:
        result = intent.parse_sync(text)
        assert asyncio.run(intent.parse(text)) == result
        assert asyncio.run(intent.parse_request({"input": text})) == result
    assert result.input == text
    assert [item.action for item in result.intents] == ["query"]
    assert result.prohibitions == (prohibition,)
    assert result.data == {"orderId": "000123"}
    assert [(entry.path, entry.sources[0].quote) for entry in result.evidence] == [
        ("/data/orderId", "000123")
    ]
    assert list(result.to_dict()) == [
        "input", "normalizedInput", "primaryIntent", "requirements", "intents", "prohibitions", "data",
    ]  # fmt: skip
    assert "evidence" not in result.to_json()


def test_a_missing_required_value_is_a_data_error_with_what_was_understood():
    with (
        Intent(schema=ORDER, executor=RulesExecutor()) as intent,
        pytest.raises(IntentDataError) as caught,
    ):
        intent.parse_sync("取消订单")
    assert (caught.value.code, caught.value.stage) == ("DATA_EXTRACTION_FAILED", "data")
    assert [issue.path for issue in caught.value.issues] == ["/data/orderId"]
    assert caught.value.partial_result.data == {}


def test_selection_decides_the_stages():
    with Intent(schema=ORDER, executor=RulesExecutor()) as intent:
        assert intent.parse_sync("查询订单 000123", fields=[]).data == {}
        assert intent.parse_sync("查询订单 000123", fields=("orderId", "orderId")).data == {
            "orderId": "000123"
        }
        assert intent.parse_sync("查询订单 000123", fields=None).data == {"orderId": "000123"}
        assert refused(intent.parse_sync, "查询", fields=["nope"]) == ("UNKNOWN_FIELD", "input")
        assert refused(intent.parse_sync, "查询", fields="orderId") == ("INPUT_INVALID", "input")


@pytest.mark.parametrize(
    ("context", "sources"),
    [
        (None, []),
        ("", []),
        ([], []),
        ("背景", [("context:0", "background", "背景")]),
        (
            [ContextMessage("user", "hi"), {"role": "tool", "content": ""}],
            [("context:0", "user", "hi"), ("context:1", "tool", "")],
        ),
    ],
)
def test_context_reaches_the_task_as_sources(context, sources):
    tasks = []
    with Intent(language="ZH-cn", executor=recorder(tasks)) as intent:
        intent.parse_sync("查询", context=context)
    payload = json.loads(tasks[0].payload)
    assert [tuple(source.values()) for source in payload["context"]] == sources
    assert payload["structuredLanguage"] == "zh-CN"
    assert payload["currentInput"] == "查询"


def test_null_on_the_wire_is_not_left_out():
    with Intent(executor=executor_from(understood)) as intent:
        for request in (
            {"input": "x", "fields": None},
            {"input": "x", "context": None},
            {},
            None,
            [],
        ):
            assert refused(asyncio.run, intent.parse_request(request)) == ("INPUT_INVALID", "input")
    assert refused(Intent.from_config, {"schema": None}) == ("SCHEMA_UNSUPPORTED", "config")
    assert refused(Intent.from_config, {"language": None}) == ("CONFIG_INVALID", "config")
    assert refused(Intent.from_config, {"executor": None}) == ("CONFIG_INVALID", "config")
    Intent(language=None, schema=None, executor=None, limits=None).dispose()


def test_unknown_names_are_refused_as_their_side_expects():
    with pytest.raises(TypeError):
        Intent(timeoutMs=1)
    with Intent(executor=executor_from(understood)) as intent, pytest.raises(TypeError):
        intent.parse("x", schema={})
    assert refused(Intent.from_config, {"timeout_ms": 1}) == ("CONFIG_INVALID", "config")
    assert refused(Intent.from_config, {"limits": {"max_input_bytes": 1}}) == (
        "CONFIG_INVALID",
        "config",
    )
    assert refused(Intent, limits={"max_nothing": 1}) == ("CONFIG_INVALID", "config")


@pytest.mark.parametrize("limits", [{"max_input_bytes": 6}, IntentLimits(max_input_bytes=6)])
def test_limits_go_by_their_python_names(limits):
    with Intent(executor=executor_from(understood), limits=limits) as intent:
        intent.parse_sync("查询")
        assert refused(intent.parse_sync, "查询!") == ("LIMIT_EXCEEDED", "input")


@pytest.mark.parametrize(
    "config",
    [
        {"timeout_ms": -1}, {"timeout_ms": 2**31}, {"timeout_ms": True}, {"timeout_ms": 1.0},
        {"repair_attempts": 2}, {"repair_attempts": True}, {"language": "en_US"}, {"language": 7},
        {"executor": object()}, {"executor": "rules"}, {"limits": []},
        {"limits": {"max_input_bytes": 0}},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_by_the_constructor(config):
    assert refused(Intent, **config) == ("CONFIG_INVALID", "config")


def test_an_executor_must_support_abort():
    deaf = executor_from(understood, capabilities=ExecutorCapabilities(supports_abort=False))
    assert refused(Intent, executor=deaf) == ("HOST_CAPABILITY_UNSUPPORTED", "config")


def test_configuration_is_a_snapshot():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    limits = {"max_input_bytes": 100}
    tasks = []
    with Intent(schema=schema, limits=limits, executor=recorder(tasks)) as intent:
        schema["properties"]["b"] = {"type": "string"}
        limits["max_input_bytes"] = 1
        intent.parse_sync("查询订单", fields=[])
    assert list(json.loads(tasks[0].payload)["schemaReference"]["properties"]) == ["a"]


def test_without_an_executor_only_a_good_request_says_so():
    with Intent() as intent:
        assert refused(intent.parse_sync, " ") == ("INPUT_INVALID", "input")
        assert refused(intent.parse_sync, "x", fields=["a"]) == ("UNKNOWN_FIELD", "input")
        assert refused(intent.parse_sync, "x") == ("EXECUTOR_NOT_CONFIGURED", "input")


def test_a_disposed_intent_refuses_every_call():
    intent = Intent(executor=executor_from(understood))
    intent.dispose()
    intent.dispose()
    for text in ("x", " "):
        assert refused(intent.parse_sync, text) == ("INSTANCE_DISPOSED", "input")
    with Intent() as left:
        pass
    assert refused(left.parse_sync, "x") == ("INSTANCE_DISPOSED", "input")

    async def main():
        async with Intent(executor=executor_from(understood)) as one:
            await one.parse("x")
        with pytest.raises(IntentParseError, match="INSTANCE_DISPOSED"):
            await one.parse("x")

    asyncio.run(main())


def test_parse_sync_inside_a_loop_is_a_runtime_error_and_leaves_no_coroutine():
    with Intent(executor=executor_from(understood)) as intent:

        async def main():
            with pytest.raises(RuntimeError, match="await parse"):
                intent.parse_sync("x")
            return await intent.parse("x")

        assert asyncio.run(main()).input == "x"
    gc.collect()


@pytest.mark.parametrize("way", ["result", "error", "crash", "cancel", "deadline", "refused input"])
def test_capacity_is_released_on_every_way_out(way):
    async def main():
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def answer(request):
            begun.set()
            await go_on.wait()
            if way == "crash":
                raise RuntimeError
            return ModelReply.refusal() if way == "error" else await understood(request)

        timeout_ms = 50 if way == "deadline" else 0
        limits = {"max_concurrent_parses": 1}
        with Intent(executor=executor_from(answer), limits=limits, timeout_ms=timeout_ms) as intent:
            for _ in range(3):
                begun.clear()
                go_on.clear()
                parse = asyncio.create_task(intent.parse("first"))
                await begun.wait()
                with pytest.raises(IntentParseError) as caught:
                    await intent.parse(" " if way == "refused input" else "second")
                wanted = "INPUT_INVALID" if way == "refused input" else "LIMIT_EXCEEDED"
                assert (caught.value.code, caught.value.stage) == (wanted, "input")
                if way == "cancel":
                    parse.cancel()
                elif way != "deadline":
                    go_on.set()
                await asyncio.wait({parse}, timeout=WAIT)
                assert parse.done()
                if not parse.cancelled():
                    parse.exception()
            assert not intent._active

    asyncio.run(main())


def test_threads_and_loops_share_one_intent():
    texts = [f"查询订单 {number:06}" for number in range(40)]
    limits = {"max_concurrent_parses": 80}
    with Intent(schema=ORDER, executor=RulesExecutor(), limits=limits) as intent:

        def several(start):
            async def main():
                return await asyncio.gather(
                    *(intent.parse(text) for text in texts[start : start + 10])
                )

            return asyncio.run(main())

        with ThreadPoolExecutor(8) as threads:
            in_loops = threads.map(several, range(0, 40, 10))
            alone = threads.map(intent.parse_sync, texts)
            found = [result.data["orderId"] for results in in_loops for result in results]
            assert found == [text[-6:] for text in texts]
            assert [result.data["orderId"] for result in alone] == found


def test_disposal_ends_the_parses_of_every_thread():
    everyone = threading.Barrier(4)
    codes = []

    async def answer(request):
        await asyncio.to_thread(everyone.wait, WAIT)
        await asyncio.Event().wait()

    intent = Intent(executor=executor_from(answer))

    def one():
        codes.append(refused(intent.parse_sync, "x"))

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    everyone.wait(WAIT)
    intent.dispose()
    for thread in threads:
        thread.join(WAIT)
    assert codes == [("INSTANCE_DISPOSED", "core")] * 3


def test_data_becomes_a_typed_object():
    @dataclasses.dataclass
    class Order:
        orderId: str  # noqa: N815 - the field's name
        note: str = ""

    with Intent(schema=ORDER, executor=RulesExecutor()) as intent:
        assert intent.parse_sync("查询订单 000123").data_as(Order) == Order("000123")


def fresh(code, *options):
    """What a fresh interpreter prints; it must end well and without a word on stderr."""
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


FOREIGN = {"mcp", "pydantic", "openai", "click", "rich"}


@pytest.mark.parametrize(
    "statement", ["import intent_runtime", "from intent_runtime import Intent"]
)
def test_importing_loads_no_framework_no_loop_and_no_native_validator(statement):
    loaded = set(fresh(f"import sys\n{statement}\nprint(*sys.modules)"))
    assert not loaded & {*FOREIGN, "asyncio", "jsonschema_rs"}
    assert "intent_runtime.executors.rules.executor" not in loaded


def test_parsing_loads_no_framework():
    loaded = set(
        fresh("""
        import sys
        from intent_runtime import Intent
        from intent_runtime.executors import RulesExecutor
        Intent(executor=RulesExecutor()).parse_sync("查询订单")
        print(*sys.modules)
        """)
    )
    assert not loaded & {*FOREIGN, "jsonschema_rs"}


def test_a_program_with_a_deaf_executor_ends_in_silence():
    code = """
    import asyncio
    from intent_runtime import Intent, IntentParseError, executor_from
    async def deaf(request):
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass
    try:
        Intent(executor=executor_from(deaf), timeout_ms=20).parse_sync("x")
    except IntentParseError as error:
        print(error.code)
    """
    assert fresh(code, "-X", "dev", "-W", "error") == ["MODEL_TIMEOUT"]


def test_every_public_name_is_importable_and_listed():
    listed = dir(intent_runtime)
    for name in intent_runtime.__all__:
        assert getattr(intent_runtime, name) is not None
        assert name in listed
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = intent_runtime.Nothing
    with pytest.raises(ImportError):
        exec("from intent_runtime import Nothing", {})  # noqa: S102 - the statement under test
