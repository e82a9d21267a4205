"""In front of the HTTP service: health, tokens, patience, and how many calls run at once."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

HEALTH_PATH: Final = "/healthz"
# How long a client may take over each part of a request's body.
BODY_SECONDS: Final = 30
ANONYMOUS: Final = ""
OWNER: Final = "intent_runtime.owner"

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """An ASGI application around the protocol's; notes the owner of every request it lets in."""

    def __init__(self, app: App, tokens: dict[str, bytes], max_concurrent: int) -> None:
        self._app = app
        self._tokens = tokens
        self._max_concurrent = max_concurrent
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is ours, let in who has a token, and count the calls."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] == HEALTH_PATH:
            await _answer(send, 200, {"status": "ok"})
        elif (owner := self._owner(scope)) is None:
            await _answer(send, 401, {"error": "unauthorized"}, (b"www-authenticate", b"Bearer"))
        elif scope["method"] == "POST":
            await self._call(_owned(scope, owner), receive, send)
        else:
            # A listening stream lives as long as its client; only calls count.
            await self._app(_owned(scope, owner), receive, send)

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.running >= self._max_concurrent:
            await _answer(send, 503, {"error": "busy"}, (b"retry-after", b"1"))
            return
        place = _Place(self)

        async def answering(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                # Before the client can see the end: its next call must find the place free.
                place.give_back()
            await send(message)

        try:
            await self._while_connected(scope, receive, answering)
        except TimeoutError:
            await _answer(send, 408, {"error": "timeout"}, (b"connection", b"close"))
        finally:
            place.give_back()

    async def _while_connected(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A call, given up when its client is gone or stalls; judging goes on all the same.

        Without that a client that repeats a request id would hold a place for ever.
        """
        whole = asyncio.Event()

        async def patient() -> Message:
            if whole.is_set():
                return await receive()
            async with asyncio.timeout(BODY_SECONDS):
                message = await receive()
            if not message.get("more_body", False):
                whole.set()
            return message

        async def leave() -> None:
            await whole.wait()
            await receive()
            call.cancel()

        call = asyncio.ensure_future(self._app(scope, patient, send))
        watch = asyncio.ensure_future(leave())
        try:
            await asyncio.wait({call})
        finally:
            watch.cancel()
            call.cancel()
        if not call.cancelled():
            call.result()

    def _owner(self, scope: Scope) -> str | None:
        """The name behind the request's one token; None when it has no right one."""
        if not self._tokens:
            return ANONYMOUS
        values = [value for key, value in scope["headers"] if key == b"authorization"]
        scheme, _, token = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
        given = token.strip() if scheme.lower() == b"bearer" else b""
        # Every token is compared, each in constant time.
        matches = [
            name for name, known in self._tokens.items() if hmac.compare_digest(known, given)
        ]
        return matches[0] if matches else None


class _Place:
    """One of the calls that run at once; given back once, however often that is said."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._taken = True
        guard.running += 1

    def give_back(self) -> None:
        if self._taken:
            self._taken = False
            self._guard.running -= 1


def _owned(scope: Scope, owner: str) -> Scope:
    scope[OWNER] = owner
    # A session of the SDK can then be used by the name that opened it only.
    scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=owner, scopes=[]))
    return scope


async def _answer(
    send: Send, status: int, body: dict[str, str], header: tuple[bytes, bytes] | None = None
) -> None:
    content = json.dumps(body).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content))]
    headers += [header] if header is not None else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
