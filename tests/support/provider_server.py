"""A loopback HTTP server that plays a model provider, faults of the network included.

It speaks HTTP/1.1 over plain sockets, so that it can break off, drip or fall silent anywhere.
"""

import asyncio
import gzip
import json
import socket
import struct
import threading
from dataclasses import dataclass, field
from typing import Any

WAIT = 30


@dataclass
class Reply:
    """One answer. `manner` is how its bytes arrive: plain, gzip, drip, reset, or never (hang)."""

    body: Any = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    manner: str = "plain"

    def bytes(self):
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Request:
    """What arrived: the target, headers in lower case, and the body."""

    method: str
    target: str
    headers: dict[str, str]
    raw: bytes
    connection: int

    @property
    def body(self):
        return json.loads(self.raw)


class ProviderServer:
    """Answers each request with the next of its replies, the last one again and again.

    A reply may be a function of the request.
    """

    def __init__(self):
        self.requests = []
        self.replies = []
        self.arrived = threading.Event()
        self.gone = threading.Event()
        self._connections = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        start = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result(WAIT)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(WAIT)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT)
        self._loop.close()

    async def _stop(self):
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def play(self, *replies):
        """What the next requests get; what came before is forgotten."""
        self.replies = list(replies)
        self.requests.clear()
        self.arrived.clear()
        self.gone.clear()

    async def _serve(self, reader, writer):
        self._connections += 1
        connection = self._connections
        try:
            while (request := await self._read(reader, connection)) is not None:
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                self.requests.append(request)
                self.arrived.set()
                made = reply(request) if callable(reply) else reply
                await self._answer(made, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()

    async def _read(self, reader, connection):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        method, target, _ = first.split(" ", 2)
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        return Request(method, target, headers, raw, connection)

    async def _answer(self, reply, reader, writer):
        body = reply.bytes()
        headers = {"content-type": "application/json", **reply.headers}
        if reply.manner == "gzip":
            body = gzip.compress(body)
            headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        lines = [f"HTTP/1.1 {reply.status} -", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
        head = "\r\n".join(lines).encode("latin-1")
        if reply.manner == "hang":
            await self._until_gone(reader)
        elif reply.manner == "reset":
            writer.write(head + body[: len(body) // 2])
            await writer.drain()
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            writer.transport.abort()
        elif reply.manner == "drip":
            writer.write(head)
            await self._drip(body, reader, writer)
        else:
            writer.write(head + body)
            await writer.drain()

    async def _until_gone(self, reader):
        await reader.read(1)
        self.gone.set()
        raise ConnectionError

    async def _drip(self, body, reader, writer):
        """A byte now and then, never the last one, until the client has enough."""
        left = asyncio.ensure_future(reader.read(1))
        for byte in body[:-1]:
            writer.write(bytes([byte]))
            done, _ = await asyncio.wait({left}, timeout=0.02)
            if done:
                break
        else:
            await left
        self.gone.set()
        raise ConnectionError
