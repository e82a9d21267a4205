"""Why a Python type is refused, in the words of the schema subset: a place and a reason."""

from __future__ import annotations

from collections.abc import Iterable

from intent_runtime.pointer import Key, render
from intent_runtime.text import shorten

_MAX_PLACE = 200
_MAX_REASON = 300


class UnsupportedTypeError(Exception):
    """A Python type has no equal in the schema subset; the message says where and why."""


def refused(path: Iterable[Key], reason: str) -> UnsupportedTypeError:
    """The refusal of what stands at `path` of the schema that the type would become."""
    place = shorten(render(path), _MAX_PLACE) or "the root"
    return UnsupportedTypeError(f"Schema at {place}: {shorten(reason.rstrip('.'), _MAX_REASON)}.")


def refused_cycle(path: Iterable[Key], names: Iterable[str]) -> UnsupportedTypeError:
    """The refusal of a type that contains itself, through the types of these names."""
    chain = " -> ".join(names)
    return refused(path, f"the type contains itself ({chain}); recursive types are not supported")


def type_name(kind: object) -> str:
    """A short name of a type for a message."""
    name = getattr(kind, "__name__", None) if isinstance(kind, type) else None
    return shorten(name if isinstance(name, str) else str(kind), 80)
