"""Streamable HTTP (contract section 11): both protocol eras, optional bearer tokens.

Jobs belong to the token's name; without tokens to one common anonymous owner, told apart by their
unguessable ids. They end by TTL, cancellation or capacity, not by a dropped connection.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings

from intent_runtime.bridge.bridge import IntentBridge
from intent_runtime.bridge.session import BridgeSession
from intent_runtime.mcp.guard import ANONYMOUS, OWNER, App, Guard
from intent_runtime.mcp.listen import Address
from intent_runtime.mcp.server import protocol_server

MCP_PATH: Final = "/mcp"
SHUTDOWN_SECONDS: Final = 10


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
        return sessions[request.scope[OWNER]]

    server = protocol_server(bridge.instance_names, session_of)
    app = server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        max_request_body_size=max_body,
        transport_security=_rebinding_protection(address),
    )
    return Guard(app, tokens, max_concurrent)


def _rebinding_protection(address: Address) -> TransportSecuritySettings:
    if not address.is_loopback:
        # Behind a public address the tokens protect; the Host header may then be any.
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    own = f"[{address.host}]" if ":" in address.host else address.host
    hosts = ["127.0.0.1", "localhost", "[::1]", own]
    names = [*hosts, *(f"{host}:*" for host in hosts)]
    origins = [f"http://{name}" for name in names]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True, allowed_hosts=names, allowed_origins=origins
    )


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """As uvicorn's, which would raise the signal again at the end and so die of it."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield


def http_server(app: App) -> uvicorn.Server:
    """The server, which ends on SIGINT and SIGTERM after answering what is in flight."""
    return _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
