"""Which library knows a type: Pydantic if anything inside it is Pydantic's, msgspec otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from intent_runtime.typed.parts import parts

_PYDANTIC: Final = frozenset({"pydantic", "pydantic_core", "annotated_types"})


def needs_pydantic(kind: Any) -> bool:
    """Whether a model, type or constraint of Pydantic stands anywhere in `kind`.

    Does not import Pydantic: a type of its has imported it already.
    """
    return any(_is_pydantic(item) for item in everything_in(kind))


def everything_in(kind: Any) -> Iterator[Any]:
    """`kind`, the types anywhere in it, and what annotates them; each once."""
    seen: dict[int, Any] = {}
    waiting = [kind]
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        # The reference keeps the id from being given away again.
        seen[id(item)] = item
        yield item
        waiting.extend(part for _, part in parts(item))
        waiting.extend(getattr(item, "__metadata__", ()))


def _is_pydantic(item: Any) -> bool:
    if hasattr(item, "__get_pydantic_core_schema__"):
        return True
    module = getattr(item if isinstance(item, type) else type(item), "__module__", "")
    return str(module).partition(".")[0] in _PYDANTIC
