"""Where the entries of a list point (contract section 8.3): resolving, and no place twice."""

from __future__ import annotations

from collections.abc import Generator

from intent_runtime.candidate.findings import Finding
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.pointer import Location, locate, parse
from intent_runtime.text import preview


class Places:
    """The paths of one list of entries; `root_allowed` lets `/data` itself in."""

    def __init__(self, data: JsonObject, *, root_allowed: bool) -> None:
        self._data = data
        self._root_allowed = root_allowed
        self._seen: set[str] = set()

    def check(
        self, entry: JsonObject, path: str
    ) -> Generator[Finding, None, tuple[Location | None, Json] | None]:
        """The location and value an entry's `path` leads to; `/data` itself has no location."""
        pointer = entry.get("path")
        where = f"{path}/path"
        if not isinstance(pointer, str):
            if "path" in entry:
                yield Finding(
                    where, "must be a JSON Pointer", found=preview(pointer), allowed="text"
                )
            return None
        if pointer in self._seen:
            yield Finding(
                where, "must not stand twice in this list", found=preview(pointer), allowed="once"
            )
            return None
        self._seen.add(pointer)
        if pointer == "/data" and self._root_allowed:
            return None, self._data
        tokens = parse(pointer)
        inner = tokens[1:] if tokens and tokens[0] == "data" else None
        place = locate(self._data, inner) if inner else None
        if place is None:
            root = "/data, or " if self._root_allowed else ""
            yield Finding(
                where,
                "must lead to a value in data",
                found=preview(pointer),
                allowed=f"{root}/data/... of a returned value",
            )
        return place
