"""Streamable HTTP (contract section 11): both protocol eras, optional bearer tokens.

Jobs belong to the token's name; without tokens to one common anonymous owner, told apart by their
unguessable ids. They end by TTL, cancellation or capacity, not by a dropped connection.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings

from intent_runtime.bridge.bridge import IntentBridge
from intent_runtime.bridge.session import BridgeSession
from intent_runtime.mcp.server import protocol_server
from intent_runtime.text import shorten

MCP_PATH: Final = "/mcp"
HEALTH_PATH: Final = "/healthz"
SHUTDOWN_SECONDS: Final = 10
ANONYMOUS: Final = ""
_OWNER: Final = "intent_runtime.owner"
_TOKEN_LINE = re.compile(r"([A-Za-z0-9_.-]{1,64})[ \t]*[:= \t][ \t]*([\x21-\x7e]{16,512})")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class TokenFileError(Exception):
    """What is wrong with a token file, in one line without any token."""


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_address(text: str) -> Address:
    """`HOST:PORT`, an IPv6 host in brackets; raises ValueError."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:  # noqa: PLR2004 - the last port
        raise ValueError("must be HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080")
    return Address(host, int(port))


def read_token_file(path: Path) -> dict[str, bytes]:
    """Tokens by name: lines of `NAME: TOKEN`; `#` starts a comment line."""
    try:
        lines = path.read_bytes().decode("ascii").splitlines()
    except OSError as error:
        raise TokenFileError(f"{path}: {error.strerror or 'cannot be read'}") from None
    except UnicodeDecodeError:
        raise TokenFileError(f"{path}: not ASCII text") from None
    tokens: dict[str, bytes] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _TOKEN_LINE.fullmatch(line.strip())
        if match is None:
            rule = "NAME: TOKEN, the token 16 to 512 visible ASCII characters"
            raise TokenFileError(f"{path}: line {number} must be {rule}")
        if match[1] in tokens:
            raise TokenFileError(f"{path}: line {number} repeats the name {shorten(match[1], 64)}")
        tokens[match[1]] = match[2].encode()
    if not tokens:
        raise TokenFileError(f"{path}: holds no token")
    return tokens


class _Guard:
    """In front of the protocol: health, tokens, and how many requests run at once."""

    def __init__(self, app: App, tokens: dict[str, bytes], max_concurrent: int) -> None:
        self._app = app
        self._tokens = tokens
        self._max_concurrent = max_concurrent
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] == HEALTH_PATH:
            await _answer(send, 200, {"status": "ok"})
        elif (owner := self._owner(scope)) is None:
            await _answer(send, 401, {"error": "unauthorized"}, [(b"www-authenticate", b"Bearer")])
        elif self._running >= self._max_concurrent:
            await _answer(send, 503, {"error": "busy"}, [(b"retry-after", b"1")])
        else:
            scope[_OWNER] = owner
            # A listening stream lives as long as its client; only calls count.
            counted = scope["method"] == "POST"
            self._running += counted
            try:
                await self._app(scope, receive, send)
            finally:
                self._running -= counted

    def _owner(self, scope: Scope) -> str | None:
        """The name behind the request's token; None when it has no right one."""
        if not self._tokens:
            return ANONYMOUS
        given = b""
        for key, value in scope["headers"]:
            if key == b"authorization":
                scheme, _, token = value.partition(b" ")
                given = token.strip() if scheme.lower() == b"bearer" else b""
        # Every token is compared, each in constant time.
        matches = [
            name for name, token in self._tokens.items() if hmac.compare_digest(token, given)
        ]
        return matches[0] if matches else None


async def _answer(
    send: Send, status: int, body: dict[str, str], headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    content = json.dumps(body).encode()
    fixed = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
    ]
    await send(
        {"type": "http.response.start", "status": status, "headers": [*fixed, *(headers or [])]}
    )
    await send({"type": "http.response.body", "body": content})


def http_app(
    bridge: IntentBridge,
    address: Address,
    *,
    tokens: dict[str, bytes],
    max_concurrent: int,
    max_body: int,
) -> App:
    """The ASGI application over a bridge."""
    sessions: dict[str, BridgeSession] = {
        name: bridge.connect() for name in (tokens or {ANONYMOUS: b""})
    }

    def session_of(context: ServerRequestContext[Any]) -> BridgeSession:
        request: Any = context.request
        return sessions[request.scope[_OWNER]]

    server = protocol_server(bridge.instance_names, session_of)
    # Behind a public address the tokens protect; the Host header may then be any.
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        max_request_body_size=max_body,
        transport_security=None if address.is_loopback else security,
        host="127.0.0.1" if address.is_loopback else address.host,
    )
    return _Guard(app, tokens, max_concurrent)


def http_server(app: App, address: Address) -> uvicorn.Server:
    """The server, which ends on SIGINT and SIGTERM after answering what is in flight."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=address.host,
            port=address.port,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
