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


def locate(root: Json, tokens: list[str]) -> tuple[Location, Json] | None:
    """The location and value that `tokens` (at least one) lead to, or None."""
    container = root
    location: Location | None = None
    for token in tokens:
        key: Key = token
        if isinstance(container, dict):
            if token not in container:
                return None
            child = container[token]
        elif isinstance(container, list):
            if len(token) > _INDEX_DIGITS or not _INDEX.fullmatch(token):
                return None
            key = int(token)
            if key >= len(container):
                return None
            child = container[key]
        else:
            return None
        location = (id(container), key)
        container = child
    return None if location is None else (location, container)
