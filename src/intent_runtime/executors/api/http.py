"""The HTTP side that all providers share: bounded replies, clients by event loop, waiting times."""

from __future__ import annotations

import asyncio
import math
import ssl
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Final, Generic, TypeVar

import httpx2

T = TypeVar("T")

# Far over any candidate; what is larger is no reply, and must not fill the memory.
MAX_REPLY_BYTES: Final = 16 * 1024 * 1024
# A content coding makes a new response of the decoded bytes; these no longer describe it.
_ENCODING_HEADERS: Final = ("content-encoding", "content-length", "transfer-encoding")
_LONGEST_WAIT: Final = 10 * 366 * 24 * 3600.0


class OversizedReplyError(httpx2.DecodingError):
    """A reply over MAX_REPLY_BYTES."""


class BoundedClient(httpx2.AsyncClient):
    """An HTTP client that reads at most MAX_REPLY_BYTES of a reply, decoded.

    It has no time-outs of its own (the executor has one deadline), takes nothing from the
    environment, and follows no redirects: they would carry the key elsewhere.
    """

    def __init__(self) -> None:
        super().__init__(
            verify=_tls_context(), timeout=None, trust_env=False, follow_redirects=False
        )

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send the request and, unless it is to be streamed, read the reply."""
        response = await super().send(request, stream=True, **options)
        if stream:
            return response
        body = bytearray()
        try:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > MAX_REPLY_BYTES:
                    raise OversizedReplyError("The reply is too large.", request=request)
        finally:
            await response.aclose()
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name not in _ENCODING_HEADERS
        ]
        return httpx2.Response(
            response.status_code, headers=headers, content=bytes(body), request=request
        )


@cache
def _tls_context() -> ssl.SSLContext:
    """The default trust, read once: it takes tens of milliseconds."""
    return httpx2.create_ssl_context(trust_env=False)


class LoopClients(Generic[T]):
    """One SDK client an event loop, with a connection pool of its own, closed with its loop.

    Pooled connections belong to the loop that opened them, and an executor may serve several.
    """

    def __init__(self, connect: Callable[[httpx2.AsyncClient], T]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._clients: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None]]] = {}

    async def current(self) -> T:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        known = self._clients.get(loop)
        if known is not None:
            return known[0]
        http_client = BoundedClient()
        client = self._connect(http_client)
        lease = self._until_the_loop_ends(loop, http_client)
        with self._lock:
            # A loop that was closed without shutting down its generators never ends its lease.
            for other in [other for other in self._clients if other.is_closed()]:
                del self._clients[other]
            self._clients[loop] = (client, lease)
        await anext(lease)
        return client

    async def _until_the_loop_ends(
        self, loop: asyncio.AbstractEventLoop, http_client: httpx2.AsyncClient
    ) -> AsyncGenerator[None]:
        """A generator that its loop closes at shut-down (`loop.shutdown_asyncgens`)."""
        try:
            yield
        finally:
            with self._lock:
                self._clients.pop(loop, None)
            await http_client.aclose()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the headers `retry-after-ms` and `retry-after`, where they say so."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    told = headers.get("retry-after")
    seconds = _seconds(told)
    if seconds is not None or told is None:
        return seconds
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, parsedate_to_datetime(told).timestamp() - time.time())
    return None


def _seconds(text: str | None) -> float | None:
    """A plausible number of seconds, or None."""
    with suppress(ValueError):
        seconds = float(text or "")
        if math.isfinite(seconds) and 0 <= seconds <= _LONGEST_WAIT:
            return seconds
    return None


def duration_seconds(text: object) -> float | None:
    """The seconds of a protobuf duration such as `34s` or `1.5s`."""
    return _seconds(text[:-1]) if isinstance(text, str) and text.endswith("s") else None
