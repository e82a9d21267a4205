"""JSON Pointers (RFC 6901) into decoded JSON.

A *location* is `(id(container), key)`: it names one place in one decoded value without building
a path, so that a long key shared by many members costs nothing. Locations are only meaningful
while the value they point into is alive and unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from intent_runtime.jsontypes import Json

Key: TypeAlias = "str | int"
Location: TypeAlias = "tuple[int, Key]"

_BAD_ESCAPE = re.compile("~(?![01])")
_INDEX = re.compile("0|[1-9][0-9]*")
_INDEX_DIGITS = 15


def escape(token: str) -> str:
    """One reference token, escaped."""
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def render(tokens: Iterable[Key]) -> str:
    """The pointer for a sequence of names and indexes."""
    return "".join(f"/{escape(str(token))}" for token in tokens)


Trail: TypeAlias = "tuple[Trail, Key] | None"


def render_trail(trail: Trail) -> str:
    """The pointer for a place noted from the inside out: its key, and where its container is."""
    tokens: list[Key] = []
    while trail is not None:
        trail, key = trail
        tokens.append(key)
    return render(reversed(tokens))


def parse(pointer: str) -> list[str] | None:
    """The unescaped tokens of a pointer, or None when it is malformed."""
    if not pointer:
        return []
    if pointer[0] != "/":
        return None
    tokens = pointer[1:].split("/")
    if "~" in pointer:
        if _BAD_ESCAPE.search(pointer):
            return None
        tokens = [token.replace("~1", "/").replace("~0", "~") for token in tokens]
    return tokens


def resolve(root: Json, pointer: str) -> tuple[Location, Json] | None:
    """The location and value that a pointer (at least one token) leads to, or None."""
    name = pointer[1:]
    plain = pointer[:1] == "/" and "/" not in name and "~" not in name
    # Most pointers name a member of the root that needs no unescaping.
    if plain and isinstance(root, dict):
        return ((id(root), name), root[name]) if name in root else None
    tokens = parse(pointer)
    return locate(root, tokens) if tokens else None


def locate(root: Json, tokens: list[str]) -> tuple[Location, Json] | None:
    """The location and value that `tokens` (at least one) lead to, or None."""
    value = container = root
    key: Key = ""
    for token in tokens:
        container = value
        if isinstance(container, dict):
            if token not in container:
                return None
            key = token
            value = container[token]
        elif isinstance(container, list):
            if len(token) > _INDEX_DIGITS or not _INDEX.fullmatch(token):
                return None
            key = int(token)
            if key >= len(container):
                return None
            value = container[key]
        else:
            return None
    return (id(container), key), value
