"""Shapes that both candidates are made of: closed objects, texts, fixed words.

Each check gives findings and nothing else. Nearly all entries are good, so every check first looks
whether there is anything to find and only then goes into detail. A key that is missing is reported
once, by `closed_object`; the checks of single members leave it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from intent_runtime.candidate.findings import Finding
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.pointer import escape
from intent_runtime.text import is_blank, name_list, preview

_NONE: Final[tuple[Finding, ...]] = ()


def keys(*names: str) -> dict[str, None]:
    """The keys of a closed object, in order, for `closed_object`."""
    return dict.fromkeys(names)


def closed_object(value: Json, path: str, expected: dict[str, None]) -> Iterable[Finding]:
    """An object with exactly the expected keys."""
    if isinstance(value, dict) and value.keys() == expected.keys():
        return _NONE
    return _open_object(value, path, expected)


def _open_object(value: Json, path: str, expected: dict[str, None]) -> Iterator[Finding]:
    listed = ", ".join(expected)
    if not isinstance(value, dict):
        yield Finding(path, "must be an object", found=preview(value), allowed=listed)
        return
    for key in expected:
        if key not in value:
            yield Finding(f"{path}/{key}", "is missing", allowed=f"exactly the keys {listed}")
    for key in value:
        if key not in expected:
            yield Finding(
                f"{path}/{escape(key)}",
                "is not a key of this object",
                found=preview(value[key]),
                allowed=f"exactly the keys {listed}",
            )


def required_text(parent: JsonObject, path: str, key: str) -> Iterable[Finding]:
    """A string that is not blank."""
    value = parent.get(key)
    if (isinstance(value, str) and not is_blank(value)) or key not in parent:
        return _NONE
    return text(value, f"{path}/{key}")


def nullable_text(parent: JsonObject, path: str, key: str) -> Iterable[Finding]:
    """Null, or a string that is not blank."""
    value = parent.get(key)
    if value is None or (isinstance(value, str) and not is_blank(value)):
        return _NONE
    rule = "must be null or a string that is not blank"
    return (Finding(f"{path}/{key}", rule, found=preview(value), allowed="null, or text"),)


def list_of_texts(parent: JsonObject, path: str, key: str) -> Iterable[Finding]:
    """An array of strings that are not blank."""
    value = parent.get(key)
    if isinstance(value, list):
        if all(isinstance(item, str) and not is_blank(item) for item in value):
            return _NONE
        return _bad_texts(value, f"{path}/{key}")
    if key not in parent:
        return _NONE
    place, found = f"{path}/{key}", preview(value)
    return (Finding(place, "must be an array", found=found, allowed="[text, ...] or []"),)


def _bad_texts(items: list[Json], path: str) -> Iterator[Finding]:
    for index, item in enumerate(items):
        yield from text(item, f"{path}/{index}")


def text(value: Json, path: str) -> Iterable[Finding]:
    """A string that is not blank."""
    if not isinstance(value, str):
        return (Finding(path, "must be a string", found=preview(value), allowed="text"),)
    if is_blank(value):
        return (
            Finding(path, "must not be blank", found=preview(value), allowed="text, or no entry"),
        )
    return _NONE


def one_of(parent: JsonObject, path: str, key: str, allowed: tuple[str, ...]) -> Iterable[Finding]:
    """One of a closed list of words."""
    if key not in parent or parent[key] in allowed:
        return _NONE
    rule = f"{key} must be one of its fixed values"
    found = preview(parent[key])
    return (Finding(f"{path}/{key}", rule, found=found, allowed=name_list(allowed)),)
