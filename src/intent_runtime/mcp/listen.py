"""Where the HTTP service listens and whom it lets in; nothing here needs the MCP SDK."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from pathlib import Path
from typing import Final, NamedTuple

from intent_runtime.text import shorten

_BACKLOG: Final = 2048
_LAST_PORT: Final = 65_535
_TOKEN_LINE = re.compile(r"([A-Za-z0-9_.-]{1,64})[ \t]*[:= \t][ \t]*([\x21-\x7e]{16,512})")


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
    if host.startswith("["):
        host = host[1:-1] if host.endswith("]") else ""
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > _LAST_PORT:
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
        if match[2].encode() in tokens.values():
            raise TokenFileError(f"{path}: line {number} repeats the token of another name")
        tokens[match[1]] = match[2].encode()
    if not tokens:
        raise TokenFileError(f"{path}: holds no token")
    return tokens


def listening_sockets(address: Address) -> list[socket.socket]:
    """Sockets that listen there; raises OSError.

    The protocol is named for each: asyncio switches Nagle's delays off for such sockets only.
    """
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, where in socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        ):
            listener = socket.socket(family, kind, protocol)
            sockets.append(listener)
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(where)
            listener.listen(_BACKLOG)
    except OSError:
        for listener in sockets:
            listener.close()
        raise
    return sockets
