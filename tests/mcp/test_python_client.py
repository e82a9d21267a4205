"""The official Python client against the service: in memory, over stdio and over HTTP."""

import asyncio
import json
import shutil
import sys
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.memory import create_client_server_memory_streams

from intent_runtime import Intent, IntentParseError, __version__
from intent_runtime.bridge import read_tool_reply
from intent_runtime.executors import RulesExecutor
from intent_runtime.mcp import MCP_TOOLS, serve_intent_mcp
from support.bridging import BAD, CORE, DATA, INPUT, ORDER_SCHEMA
from support.http_mcp import HttpService, write_config

COMMAND = shutil.which("intent-runtime-mcp", path=str(Path(sys.executable).parent))
STATELESS = "2026-07-28"
# What a client asks for, and the protocol it then speaks.
ERAS = {"legacy": "2025-11-25", STATELESS: STATELESS, "auto": STATELESS}
CHANNELS = ["memory", "stdio", "http"]
TOKENS = {"alice": "a" * 16 + "-first", "bob": "b" * 16 + "-second"}

needs_command = pytest.mark.skipif(COMMAND is None, reason="the package is not installed here")


def starting(channels):
    """Parameters; what starts a process is slow."""
    marks = [pytest.mark.slow, needs_command]
    return [
        channel if channel == "memory" else pytest.param(channel, marks=marks)
        for channel in channels
    ]


@asynccontextmanager
async def given(streams):
    """A transport over streams that somebody else closes."""
    yield streams


@contextmanager
def fresh_intents():
    with (
        Intent(executor=RulesExecutor()) as plain,
        Intent(schema=ORDER_SCHEMA, executor=RulesExecutor()) as orders,
    ):
        yield {"t": plain, "o": orders}


@asynccontextmanager
async def serving(streams, **options):
    with fresh_intents() as intents:
        service = await serve_intent_mcp(instances=intents, transport=given(streams), **options)
        service.intents = intents
        try:
            yield service
        finally:
            await service.close()


@asynccontextmanager
async def in_memory():
    async with (
        create_client_server_memory_streams() as (client_side, server_side),
        serving(server_side),
    ):
        yield given(client_side)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    directory = tmp_path_factory.mktemp("service")
    return write_config(directory, {"t": {}, "o": {"schema": ORDER_SCHEMA}})


@contextmanager
def http_service(directory, config, *options):
    """The URL of a running `--http` service; it has to end well and in silence."""
    with HttpService(directory, config, *options) as service:
        yield f"http://{service.host_header}/mcp"
    assert service.log() == ""


@pytest.fixture(scope="module")
def http_url(config):
    with http_service(config.parent, config) as url:
        yield url


@pytest.fixture
def connect(request, tmp_path):
    """`connect(channel, mode)`: a client of the SDK at the other end of a running service."""
    with ExitStack() as stack:

        @asynccontextmanager
        async def connected(channel, mode, **options):
            if channel == "memory":
                async with in_memory() as transport, Client(transport, mode=mode, **options) as it:
                    yield it
                return
            if channel == "http":
                transport = request.getfixturevalue("http_url")
            else:
                config = request.getfixturevalue("config")
                # Standard error has to stay silent; given explicitly, since pytest replaces it.
                errors = stack.enter_context((tmp_path / "stderr").open("w+"))
                parameters = StdioServerParameters(command=COMMAND, args=["--config", str(config)])
                transport = stdio_client(parameters, errors)
            async with Client(transport, mode=mode, **options) as it:
                yield it

        yield connected
    if (tmp_path / "stderr").exists():
        assert (tmp_path / "stderr").read_text() == ""


def run(main):
    """Run a coroutine; no task may be left when it is done."""

    async def checked():
        async with asyncio.timeout(60):
            await main
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left

    asyncio.run(checked())


async def call(client, tool, **arguments):
    """The typed reply of a call, whose result has to carry it twice."""
    result = await client.call_tool(tool, arguments)
    reply = read_tool_reply(result)
    [content] = result.content
    assert content.type == "text"
    assert json.loads(content.text) == result.structured_content == reply.to_dict()
    assert result.is_error is (reply.kind == "error")
    assert read_tool_reply(result.model_dump(by_alias=True, mode="json")) == reply
    return reply


def prepare(client, instance="o", text=INPUT, **options):
    return call(client, "intent_prepare", instance=instance, input=text, **options)


def accept(client, task, text):
    return call(
        client, "intent_accept", jobId=task.job_id, stepToken=task.step_token, candidateText=text
    )


async def full_cycle(client):
    """Both stages with one repair, as far as the result."""
    first = await prepare(client)
    assert (first.kind, first.stage) == ("task", "core")
    assert first.task_payload()["currentInput"] == INPUT
    repair = await accept(client, first, BAD)
    assert (repair.kind, repair.stage, repair.job_id) == ("task", "core", first.job_id)
    assert "repair" in repair.task_payload()
    data = await accept(client, repair, CORE)
    assert (data.kind, data.stage) == ("task", "data")
    end = await accept(client, data, DATA)
    assert end.kind == "result"
    assert end.result.data == {"orderId": "000123"}
    assert [(item.action, item.status) for item in end.result.intents] == [("query", "ready")]
    assert len({first.step_token, repair.step_token, data.step_token}) == 3
    # The same submission again is answered the same.
    assert await accept(client, data, DATA) == end
    return data


both_eras = pytest.mark.parametrize("mode", ERAS)
all_channels = pytest.mark.parametrize("channel", starting(CHANNELS))


@both_eras
@all_channels
def test_a_client_sees_the_three_tools(connect, channel, mode):
    async def main():
        async with connect(channel, mode) as client:
            assert client.protocol_version == ERAS[mode]
            listed = (await client.list_tools()).tools
            assert [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "inputSchema": tool.input_schema,
                }
                for tool in listed
            ] == list(MCP_TOOLS)
            assert [tool.output_schema for tool in listed] == [None, None, None]
            if mode != STATELESS:  # adopted without asking the server
                assert client.server_info.name == "intent-runtime"
                assert client.server_info.version == __version__
                assert client.instructions.endswith('Instances: ["t", "o"]\n')
                capabilities = client.server_capabilities
                assert capabilities.tools is not None
                assert capabilities.resources is capabilities.prompts is None
            if mode == "legacy":
                with pytest.warns(MCPDeprecationWarning, match="only works under mode='legacy'"):
                    await client.send_ping()

    run(main())


@both_eras
@all_channels
def test_a_full_cycle(connect, channel, mode):
    async def main():
        async with connect(channel, mode) as client:
            await full_cycle(client)
            # Without a schema, or without fields, the result comes after one stage.
            assert (await accept(client, await prepare(client, "t"), CORE)).kind == "result"
            assert (await accept(client, await prepare(client, fields=[]), CORE)).kind == "result"

    run(main())


@both_eras
@all_channels
def test_errors_are_replies(connect, channel, mode):
    async def main():
        async with connect(channel, mode) as client:
            unknown = await prepare(client, instance="nobody")
            assert unknown.error.code == "INPUT_INVALID"
            assert '"o"' in unknown.error.message
            assert (await prepare(client, extra=1)).error.code == "INPUT_INVALID"
            assert (await prepare(client, text=7)).error.code == "INPUT_INVALID"
            assert (await call(client, "intent_prepare")).error.code == "INPUT_INVALID"
            assert (await call(client, "no_such_tool")).error.code == "INPUT_INVALID"
            task = await prepare(client)
            data = await accept(client, task, CORE)
            stale = await accept(client, task, BAD)
            assert (stale.error.code, stale.error.stage) == ("BRIDGE_STEP_CONFLICT", "bridge")
            # The job lived on.
            assert (await accept(client, data, DATA)).kind == "result"
            gone = await call(client, "intent_accept", jobId="x", stepToken="y", candidateText="{}")
            assert gone.error.code == "BRIDGE_JOB_NOT_FOUND"

    run(main())


@both_eras
@all_channels
@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        ({}, "MODEL_ABORTED"),
        ({"outcome": "refusal", "detail": "Not for me."}, "MODEL_REFUSED"),
        ({"outcome": "incomplete"}, "MODEL_OUTPUT_INCOMPLETE"),
    ],
)
def test_cancelling(connect, channel, mode, outcome, code):
    async def main():
        async with connect(channel, mode) as client:
            task = await prepare(client)
            end = await call(client, "intent_cancel", jobId=task.job_id, **outcome)
            assert (end.error.code, end.error.stage) == (code, "core")
            assert end.error.partial_result is None
            assert (await accept(client, task, CORE)).error.code == "BRIDGE_STEP_CONFLICT"
            data = await accept(client, await prepare(client), CORE)
            end = await call(client, "intent_cancel", jobId=data.job_id, **outcome)
            assert (end.error.code, end.error.stage) == (code, "data")
            assert end.error.partial_result.primary_intent == "Look up order 000123"
            assert await call(client, "intent_cancel", jobId=data.job_id) == end

    run(main())


@both_eras
@all_channels
def test_any_text_arrives_as_it_was_sent(connect, channel, mode):
    text = '查询订单 000123 \u2028\u2029\u0085\x0b\x1c "\\" \U0001f4e6\r\n\ttail'
    context = [{"role": "user", "content": text}, {"role": "tool", "content": "é" * 20_000}]

    async def main():
        async with connect(channel, mode) as client:
            payload = (await prepare(client, text=text, context=context)).task_payload()
            assert payload["currentInput"] == text
            assert [message["content"] for message in payload["context"]] == [
                message["content"] for message in context
            ]

    run(main())


@both_eras
@all_channels
def test_many_jobs_of_one_client_at_once(connect, channel, mode):
    async def main():
        async with connect(channel, mode) as client:
            tasks = await asyncio.gather(*(prepare(client) for _ in range(8)))
            assert len({task.job_id for task in tasks}) == 8
            nexts = await asyncio.gather(*(accept(client, task, CORE) for task in tasks))
            assert {reply.stage for reply in nexts} == {"data"}
            ends = await asyncio.gather(*(accept(client, task, DATA) for task in reversed(nexts)))
            assert {reply.kind for reply in ends} == {"result"}

    run(main())


@all_channels
def test_a_bare_session(http_url_if_needed, config, tmp_path, channel):
    """`ClientSession` over the transports themselves, without `Client` around it."""

    async def cycle(streams):
        async with ClientSession(*streams) as session:
            begun = await session.initialize()
            assert begun.protocol_version == "2025-11-25"
            assert begun.server_info.name == "intent-runtime"
            await session.send_ping()
            assert len((await session.list_tools()).tools) == 3
            await full_cycle(session)

    async def main():
        if channel == "memory":
            async with in_memory() as transport, transport as streams:
                await cycle(streams)
        elif channel == "http":
            async with streamable_http_client(http_url_if_needed) as streams:
                await cycle(streams)
        else:
            parameters = StdioServerParameters(command=COMMAND, args=["--config", str(config)])
            with (tmp_path / "stderr").open("w") as errors:
                async with stdio_client(parameters, errors) as streams:
                    await cycle(streams)
            assert (tmp_path / "stderr").read_text() == ""

    run(main())


@pytest.fixture
def http_url_if_needed(request, channel):
    return request.getfixturevalue("http_url") if channel == "http" else None


# The service itself, in memory.


@both_eras
def test_the_service_ends_with_its_client(mode):
    async def main():
        async with (
            create_client_server_memory_streams() as (client_side, server_side),
            serving(server_side) as service,
        ):
            waiting = asyncio.ensure_future(service.wait_closed())
            async with Client(given(client_side), mode=mode) as client:
                await prepare(client)
                assert not waiting.done()
            await waiting
            await service.wait_closed()

    run(main())


@both_eras
def test_closing_the_service_leaves_the_intents(mode):
    async def main():
        async with (
            create_client_server_memory_streams() as (client_side, server_side),
            serving(server_side) as service,
            Client(given(client_side), mode=mode, read_timeout_seconds=5) as client,
        ):
            await prepare(client)
            await service.close()
            await service.close()
            with pytest.raises((MCPError, OSError)):
                await client.call_tool("intent_prepare", {"instance": "t", "input": INPUT})
            orders = service.intents["o"]
            assert (await orders.parse(INPUT)).data == {"orderId": "000123"}
            # The same Intents can be served again.
            async with create_client_server_memory_streams() as (second_client, second_server):
                again = await serve_intent_mcp(
                    instances=service.intents, transport=given(second_server)
                )
                async with Client(given(second_client), mode=mode) as other:
                    await full_cycle(other)
                await again.close()

    run(main())


def test_waiting_for_a_service_that_is_closed_returns():
    async def main():
        async with (
            create_client_server_memory_streams() as (_client_side, server_side),
            serving(server_side) as service,
        ):
            waiting = asyncio.ensure_future(service.wait_closed())
            await asyncio.sleep(0)
            await service.close()
            assert await waiting is None
            assert await service.wait_closed() is None

    run(main())


def test_giving_up_waiting_does_not_end_the_service():
    async def main():
        async with (
            create_client_server_memory_streams() as (client_side, server_side),
            serving(server_side) as service,
            Client(given(client_side), mode="legacy") as client,
        ):
            waiting = asyncio.ensure_future(service.wait_closed())
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await full_cycle(client)

    run(main())


def test_a_service_closed_at_once_serves_nobody():
    async def main():
        with fresh_intents() as intents:
            async with create_client_server_memory_streams() as (_client_side, server_side):
                service = await serve_intent_mcp(instances=intents, transport=given(server_side))
                await service.close()
                with pytest.raises(IntentParseError) as caught:
                    service._bridge.connect()
                assert caught.value.code == "BRIDGE_JOB_NOT_FOUND"

    run(main())


def test_a_transport_that_breaks_is_reported_by_waiting():
    @asynccontextmanager
    async def broken():
        raise ConnectionError("no such peer")
        yield

    async def main():
        with fresh_intents() as intents:
            service = await serve_intent_mcp(instances=intents, transport=broken())
            with pytest.raises(ConnectionError, match="no such peer"):
                await service.wait_closed()
            await service.close()

    run(main())


def test_options_of_the_bridge_are_taken():
    async def main():
        async with (
            create_client_server_memory_streams() as (client_side, server_side),
            serving(server_side, max_jobs=1, job_ttl_ms=3_600_000) as service,
            Client(given(client_side)) as client,
        ):
            task = await prepare(client)
            assert task.expires_at is not None
            assert (await prepare(client)).error.code == "LIMIT_EXCEEDED"
            with pytest.raises(IntentParseError) as caught:
                await serve_intent_mcp(instances=service.intents, transport=given(()), max_jobs=0)
            assert caught.value.code == "CONFIG_INVALID"

    run(main())


def test_disposing_an_intent_ends_its_jobs_only():
    async def main():
        async with (
            create_client_server_memory_streams() as (client_side, server_side),
            serving(server_side) as service,
            Client(given(client_side)) as client,
        ):
            plain, orders = await prepare(client, "t"), await prepare(client)
            service.intents["t"].dispose()
            assert (await accept(client, plain, CORE)).error.code == "INSTANCE_DISPOSED"
            assert (await prepare(client, "t")).error.code == "INSTANCE_DISPOSED"
            assert (await accept(client, orders, CORE)).stage == "data"

    run(main())


def test_a_client_that_stops_waiting_can_ask_again():
    async def main():
        async with (
            create_client_server_memory_streams() as (client_side, server_side),
            serving(server_side),
            Client(given(client_side), mode="legacy") as client,
        ):
            task = await prepare(client)
            call_ = asyncio.ensure_future(accept(client, task, CORE))
            for _ in range(3):
                await asyncio.sleep(0)
            call_.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call_
            assert (await accept(client, task, CORE)).stage == "data"

    run(main())


# Over HTTP jobs belong to a name, not to a connection.


@pytest.mark.slow
@needs_command
@both_eras
def test_jobs_outlive_a_connection(http_url, mode):
    async def main():
        async with Client(http_url, mode=mode) as client:
            task = await prepare(client)
        for other in ERAS:
            async with Client(http_url, mode=other) as client:
                assert (await accept(client, task, CORE)).stage == "data"

    run(main())


@pytest.fixture(scope="module")
def guarded_url(config, tmp_path_factory):
    tokens = tmp_path_factory.mktemp("guarded") / "tokens"
    tokens.write_text("".join(f"{name}: {token}\n" for name, token in TOKENS.items()))
    with http_service(tokens.parent, config, "--token-file", tokens) as url:
        yield url


@asynccontextmanager
async def named(url, mode, token):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.slow
@needs_command
@both_eras
def test_jobs_belong_to_the_name_behind_the_token(guarded_url, mode):
    async def main():
        async with (
            named(guarded_url, mode, TOKENS["alice"]) as alice,
            named(guarded_url, mode, TOKENS["bob"]) as bob,
        ):
            task = await prepare(alice)
            stolen = await accept(bob, task, CORE)
            assert stolen.error.code == "BRIDGE_JOB_NOT_FOUND"
            stolen = await call(bob, "intent_cancel", jobId=task.job_id)
            assert stolen.error.code == "BRIDGE_JOB_NOT_FOUND"
            await full_cycle(bob)
        async with named(guarded_url, mode, TOKENS["alice"]) as alice:
            assert (await accept(alice, task, CORE)).stage == "data"

    run(main())


@pytest.mark.slow
@needs_command
@both_eras
@pytest.mark.parametrize("token", [None, "wrong", TOKENS["alice"] + "x", TOKENS["alice"][:-1]])
def test_a_wrong_token_reaches_nothing(guarded_url, mode, token):
    async def main():
        with pytest.RaisesGroup(MCPError, flatten_subgroups=True) as caught:
            async with named(guarded_url, mode, token) as client:
                await client.call_tool("intent_prepare", {"instance": "t", "input": INPUT})
        assert not any(known in str(caught.value) for known in TOKENS.values())

    run(main())


def test_a_listed_tool_is_a_tool_of_the_protocol():
    assert [types.Tool.model_validate(tool).name for tool in MCP_TOOLS] == [
        "intent_prepare",
        "intent_accept",
        "intent_cancel",
    ]
