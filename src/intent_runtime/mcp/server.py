"""The protocol server over a bridge, and the service that runs it (contract section 11)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, cast

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from intent_runtime import __version__
from intent_runtime.bridge.bridge import Drivable, IntentBridge
from intent_runtime.bridge.replies import BridgeReply
from intent_runtime.bridge.session import BridgeSession
from intent_runtime.mcp.tools import MCP_TOOLS, server_instructions

_LOG: Final = logging.getLogger(__name__)
_TOOLS: Final = [
    types.Tool(name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"])
    for tool in MCP_TOOLS
]

SessionOf = Callable[[ServerRequestContext[Any]], BridgeSession]


def protocol_server(names: tuple[str, ...], session_of: SessionOf) -> Server[Any]:
    """The protocol's side of the three tools; `session_of` tells whose jobs a request is about."""

    async def list_tools(
        _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_TOOLS)

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            reply = await session_of(context).call(params.name, params.arguments or {})
        except Exception as error:  # noqa: BLE001
            # The SDK would put the exception's text on the wire.
            _LOG.error("a tool call broke down: %s", type(error).__name__)
            raise MCPError(types.INTERNAL_ERROR, "Internal error") from None
        return tool_result(reply)

    return Server(
        "intent-runtime",
        version=__version__,
        title="intent-runtime",
        instructions=server_instructions(names),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tool_result(reply: BridgeReply) -> types.CallToolResult:
    """The reply as text and as structured content."""
    text = reply.to_json()
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=msgspec.json.decode(text),
        is_error=reply.kind == "error",
    )


class IntentMcpService:
    """A running service; ends with its transport or when closed (contract section 11)."""

    def __init__(self, bridge: IntentBridge, transport: AbstractAsyncContextManager[Any]) -> None:
        self._bridge = bridge
        self._closing = False
        self._task = asyncio.get_running_loop().create_task(self._run(transport))

    async def _run(self, transport: AbstractAsyncContextManager[Any]) -> None:
        # One session for the whole channel: in the stateless protocol every request is a
        # connection of its own, and the jobs must outlive it.
        with self._bridge, self._bridge.connect() as session:
            server = protocol_server(self._bridge.instance_names, lambda _: session)
            async with transport as (read, write):
                await server.run(read, write, server.create_initialization_options())

    async def wait_closed(self) -> None:
        """Wait for the end of the channel; raises what broke it."""
        await asyncio.wait({self._task})
        # Closing cancels; what the SDK makes of that is nobody's business.
        if not self._closing:
            self._task.result()

    async def close(self) -> None:
        """Close the protocol connection and the bridge; the caller's Intents stay. Idempotent."""
        self._closing = True
        self._task.cancel()
        await asyncio.wait({self._task})
        # A task that never started has closed nothing.
        self._bridge.close()


async def serve_intent_mcp(  # noqa: PLR0913 - the options of a bridge
    *,
    instances: Mapping[str, Drivable],
    transport: AbstractAsyncContextManager[Any] | None = None,
    max_jobs: int = 32,
    max_replay_entries: int = 128,
    max_replay_bytes: int = 8_388_608,
    job_ttl_ms: int = 0,
    replay_ttl_ms: int = 0,
) -> IntentMcpService:
    """Serve the three tools over an SDK transport, by default stdio (contract section 11).

    Takes every option of `create_intent_bridge` and raises its errors. Jobs belong to the channel
    and are released when it ends; the Intents stay the caller's.
    """
    bridge = IntentBridge(
        instances,
        max_jobs=max_jobs,
        max_replay_entries=max_replay_entries,
        max_replay_bytes=max_replay_bytes,
        job_ttl_ms=job_ttl_ms,
        replay_ttl_ms=replay_ttl_ms,
    )
    if transport is None:
        from intent_runtime.mcp.stdio import stdio_transport  # noqa: PLC0415 - not for other transports
        from intent_runtime.mcp.wire import claim_wire  # noqa: PLC0415

        transport = stdio_transport(claim_wire(), largest_message(instances))
    return IntentMcpService(bridge, cast("AbstractAsyncContextManager[Any]", transport))


def largest_message(instances: Mapping[str, Drivable]) -> int:
    """Bytes that the largest legal message can take.

    JSON may escape every byte of a candidate, or of input and context, as six.
    """
    largest = 0
    for intent in instances.values():
        limits = intent.engine.definition.limits
        material = limits.max_input_bytes + limits.max_context_bytes
        largest = max(largest, limits.max_output_bytes, material)
    return 6 * largest + 262_144
