"""Where the entries of a list point (contract section 8.3): resolving, and no place twice."""

from __future__ import annotations

from collections.abc import Iterable

from intent_runtime.candidate.findings import Finding
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.pointer import Location, resolve
from intent_runtime.text import preview


class Places:
    """The paths of one list of entries; `root_allowed` lets `/data` itself in."""

    def __init__(self, data: JsonObject, *, root_allowed: bool) -> None:
        self._data = data
        self._root_allowed = root_allowed
        self._seen: set[str] = set()

    def find(self, entry: JsonObject) -> tuple[Location | None, Json] | None:
        """The location and value an entry's `path` leads to, the first time; else `explain`.

        `/data` itself has no location.
        """
        pointer = entry.get("path")
        if not isinstance(pointer, str) or pointer in self._seen:
            return None
        place: tuple[Location | None, Json] | None = None
        if pointer.startswith("/data/"):
            place = resolve(self._data, pointer[5:])
        elif pointer == "/data" and self._root_allowed:
            place = (None, self._data)
        if place is not None:
            self._seen.add(pointer)
        return place

    def explain(self, entry: JsonObject, path: str) -> Iterable[Finding]:
        """Why `find` found nothing."""
        if "path" not in entry:
            return ()
        pointer, where = entry["path"], f"{path}/path"
        found = preview(pointer)
        if not isinstance(pointer, str):
            return (Finding(where, "must be a JSON Pointer", found=found, allowed="text"),)
        if pointer in self._seen:
            rule = "must not stand twice in this list"
            return (Finding(where, rule, found=found, allowed="once"),)
        root = "/data, or " if self._root_allowed else ""
        allowed = f"{root}/data/... of a returned value"
        return (Finding(where, "must lead to a value in data", found=found, allowed=allowed),)
