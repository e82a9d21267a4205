"""Our own stdio transport under the SDK (contract section 11; docs/decisions/0007-stdio.md).

Lines are read by a thread, since nothing else reads pipes and files alike on every platform.
Writing never blocks the loop, so that a slow reader keeps nobody else.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import stat
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
import mcp_types as types
import msgspec
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from intent_runtime.mcp.wire import Wire

_CHUNK: Final = 65_536
# How long requests that were read are waited for once input has ended.
DRAIN_SECONDS: Final = 10.0
_PEER_CHECK_SECONDS: Final = 1.0
_LINES_AHEAD: Final = 4
# Requests being answered; a peer that sends more and reads nothing has to wait.
MAX_IN_FLIGHT: Final = 256


@asynccontextmanager
async def stdio_transport(wire: Wire, max_line: int) -> AsyncGenerator[tuple[Any, Any], None]:
    """The read and write streams of a service on standard input and output.

    max_line: bytes of the longest line that is taken; a longer one is answered as an error. When
    input ends, the read stream ends after every request read so far was answered.
    """
    to_server, read_stream = create_context_streams[SessionMessage | Exception](0)
    write_stream, from_server = create_context_streams[SessionMessage](0)
    channel = _Channel(wire, max_line)
    async with anyio.create_task_group() as group:
        group.start_soon(channel.pump_out, from_server)
        group.start_soon(channel.pump_in, to_server)
        group.start_soon(channel.watch_peer)
        group.start_soon(channel.end_when_gone, group.cancel_scope)
        try:
            yield read_stream, write_stream
        finally:
            group.cancel_scope.cancel()


class _Channel:
    """One peer: lines in, lines out, and which requests still wait for an answer."""

    def __init__(self, wire: Wire, max_line: int) -> None:
        self._wire = wire
        self._max_line = max_line
        self._loop = asyncio.get_running_loop()
        self._waiting: set[Any] = set()
        self._answered = asyncio.Event()
        self._gone = asyncio.Event()
        self._written = 0
        # What was read, None for the end; never more lines than there is room for.
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(_LINES_AHEAD)
        self._never_blocks = _made_nonblocking(wire)
        self._writing = asyncio.Lock()

    async def pump_in(self, to_server: Any) -> None:
        """Hand every message to the server; end its stream when all were answered."""
        threading.Thread(target=self._read_lines, name="intent-runtime-stdin", daemon=True).start()
        async with to_server:
            while (line := await self._lines.get()) is not None:
                self._room.release()
                message = await self._message(line)
                if message is not None:
                    self._note_incoming(message)
                    await to_server.send(SessionMessage(message))
                    await self._at_most(MAX_IN_FLIGHT)
            with anyio.move_on_after(DRAIN_SECONDS):
                await self._at_most(0)

    async def _at_most(self, waiting: int) -> None:
        """Wait until no more requests than these wait for an answer."""
        while len(self._waiting) > waiting:
            self._answered.clear()
            await self._answered.wait()

    async def _message(self, line: bytes) -> types.JSONRPCMessage | None:
        """The message a line holds; what holds none is answered here."""
        if not line.strip():
            return None
        if len(line) > self._max_line:
            await self._refuse(None, types.INVALID_REQUEST, "The message is too large.")
            return None
        try:
            # The standard library takes lone surrogates, which then get an ordinary reply.
            value = json.loads(line)
        except (ValueError, RecursionError):
            await self._refuse(None, types.PARSE_ERROR, "Parse error: not JSON, or too deep.")
            return None
        identifier = value.get("id") if isinstance(value, dict) else None
        known = isinstance(identifier, (str, int)) and not isinstance(identifier, bool)
        if known or not isinstance(value, dict) or "id" not in value or "method" not in value:
            try:
                return types.jsonrpc_message_adapter.validate_python(value, by_name=False)
            except ValidationError:
                pass
        # The SDK would take a request with any other id for a notification and never answer.
        refused = identifier if known else None
        await self._refuse(refused, types.INVALID_REQUEST, "Not a JSON-RPC message.")
        return None

    async def _refuse(self, identifier: Any, code: int, text: str) -> None:
        answer = {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": text}}
        await self._write(json.dumps(answer).encode())

    def _note_incoming(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._waiting.add(message.id)
        elif (
            isinstance(message, types.JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            # A cancelled request gets no answer.
            identifier = (message.params or {}).get("requestId")
            if isinstance(identifier, (str, int)):
                self._waiting.discard(identifier)
                self._answered.set()

    async def pump_out(self, from_server: Any) -> None:
        """Write every message of the server as one line."""
        async with from_server:
            async for session_message in from_server:
                message = session_message.message
                if not await self._write(_encoded(message)):
                    return
                if isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
                    self._waiting.discard(message.id)
                    self._answered.set()

    async def _write(self, line: bytes) -> bool:
        """Write a line without keeping the loop from anything else; False when the peer is gone."""
        async with self._writing:
            view = memoryview(line + b"\n")
            try:
                if not self._never_blocks:
                    await anyio.to_thread.run_sync(self._write_all, view, abandon_on_cancel=True)
                while self._never_blocks and view:
                    try:
                        view = view[os.write(self._wire.writing, view) :]
                    except BlockingIOError:
                        await self._writable()
            except OSError:
                # Nobody reads any more: there is nothing to wait for.
                self._gone.set()
                return False
            self._written += 1
        return True

    async def _writable(self) -> None:
        ready = asyncio.Event()
        self._loop.add_writer(self._wire.writing, ready.set)
        try:
            await ready.wait()
        finally:
            self._loop.remove_writer(self._wire.writing)

    def _write_all(self, view: memoryview) -> None:
        while view:
            view = view[os.write(self._wire.writing, view) :]

    def _read_lines(self) -> None:
        """The reading thread: lines without their ends, then None."""
        buffer = bytearray()
        dropping = False
        with suppress(OSError, RuntimeError):
            while chunk := os.read(self._wire.reading, _CHUNK):
                start = 0
                while (end := chunk.find(b"\n", start)) >= 0:
                    buffer += chunk[start:end]
                    if not dropping:
                        self._hand_over(bytes(buffer))
                    buffer.clear()
                    dropping = False
                    start = end + 1
                if not dropping:
                    buffer += chunk[start:]
                    if len(buffer) > self._max_line:
                        # Told once; the rest of the line is skipped, whatever its length.
                        self._hand_over(bytes(buffer))
                        buffer.clear()
                        dropping = True
            if buffer:
                # Half a line, then the end: no message, but it may be a whole one without its end.
                self._hand_over(bytes(buffer))
        with suppress(OSError, RuntimeError):
            self._hand_over(None)

    def _hand_over(self, line: bytes | None) -> None:
        # A peer that sends faster than it is served has to wait.
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    async def watch_peer(self) -> None:
        """End when the parent is gone, or when input has ended and nobody takes the answers."""
        while not self._parent_is_gone() and not self._hung_up():  # noqa: ASYNC110 - no event tells
            await anyio.sleep(_PEER_CHECK_SECONDS)
        if self._parent_is_gone():
            # Somebody else may hold the pipe open, so that its end would never come.
            self._lines.put_nowait(None)
        written = -1
        while written != self._written:
            written = self._written
            await anyio.sleep(DRAIN_SECONDS)
        self._gone.set()

    def _parent_is_gone(self) -> bool:
        return os.getppid() != self._wire.parent

    def _hung_up(self) -> bool:
        """Whether the writing end of standard input was closed; lines may still be unread."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._wire.reading, 0)
        return bool(poll.poll(0))

    async def end_when_gone(self, scope: anyio.CancelScope) -> None:
        """Cancel everything once the peer is gone for good."""
        await self._gone.wait()
        scope.cancel()


def _made_nonblocking(wire: Wire) -> bool:
    """Whether writing never blocks from now on: to a pipe or socket of our own.

    Files and terminals stay as they are: others may share them, and they do not keep us long.
    """
    if sys.platform == "win32":
        return False
    mode = os.fstat(wire.writing).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    os.set_blocking(wire.writing, False)
    if os.get_blocking(wire.reading) and os.get_blocking(2):
        return True
    # One socket for both directions, or standard error on the same pipe: those may not change.
    os.set_blocking(wire.writing, True)
    return False


def _encoded(message: types.JSONRPCMessage) -> bytes:
    wire = message.model_dump(by_alias=True, exclude_unset=True)
    try:
        return msgspec.json.encode(wire)
    except ValueError:
        # A request's id may hold a lone surrogate; escaped it can be sent back.
        return json.dumps(wire).encode()
