"""Shapes that both candidates are made of: closed objects and non-blank texts.

Each check yields findings and nothing else. A key that is missing is reported once, by
`closed_object`; the checks of single members leave it alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from intent_runtime.candidate.findings import Finding
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.pointer import escape
from intent_runtime.text import is_blank, name_list, preview


def closed_object(value: Json, path: str, keys: tuple[str, ...]) -> Iterator[Finding]:
    """An object with exactly `keys`."""
    if not isinstance(value, dict):
        yield Finding(path, "must be an object", found=preview(value), allowed=_keys(keys))
        return
    for key in keys:
        if key not in value:
            yield Finding(f"{path}/{key}", "is missing", allowed=f"exactly the keys {_keys(keys)}")
    if len(value) > len(keys) or not all(key in keys for key in value):
        for key in value:
            if key not in keys:
                yield Finding(
                    f"{path}/{escape(key)}",
                    "is not a key of this object",
                    found=preview(value[key]),
                    allowed=f"exactly the keys {_keys(keys)}",
                )


def required_text(parent: JsonObject, path: str, key: str) -> Iterator[Finding]:
    """A string that is not blank."""
    if key in parent:
        yield from text(parent[key], f"{path}/{key}")


def nullable_text(parent: JsonObject, path: str, key: str) -> Iterator[Finding]:
    """Null, or a string that is not blank."""
    value = parent.get(key)
    if value is None or (isinstance(value, str) and not is_blank(value)):
        return
    yield Finding(
        f"{path}/{key}",
        "must be null or a string that is not blank",
        found=preview(value),
        allowed="null, or text",
    )


def list_of_texts(parent: JsonObject, path: str, key: str) -> Iterator[Finding]:
    """An array of strings that are not blank."""
    if key not in parent:
        return
    value = parent[key]
    if not isinstance(value, list):
        yield Finding(
            f"{path}/{key}", "must be an array", found=preview(value), allowed="[text, ...] or []"
        )
        return
    for index, item in enumerate(value):
        yield from text(item, f"{path}/{key}/{index}")


def text(value: Json, path: str) -> Iterator[Finding]:
    """A string that is not blank."""
    if not isinstance(value, str):
        yield Finding(path, "must be a string", found=preview(value), allowed="text")
    elif is_blank(value):
        yield Finding(path, "must not be blank", found=preview(value), allowed="text")


def one_of(entry: JsonObject, path: str, key: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    """One of a closed list of words."""
    if key in entry and entry[key] not in allowed:
        yield Finding(
            f"{path}/{key}",
            f"{key} must be one of its fixed values",
            found=preview(entry[key]),
            allowed=name_list(allowed),
        )


def _keys(keys: tuple[str, ...]) -> str:
    return ", ".join(keys)
