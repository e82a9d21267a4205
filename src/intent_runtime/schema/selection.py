"""Selections of fields and their projections (contract section 5), in a bounded cache."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cached_property
from typing import Any

import msgspec

from intent_runtime.schema.native import NativeSchema


class Projection:
    """The schema of a selection; compiled when the first candidate comes."""

    def __init__(self, schema: dict[str, Any], names: tuple[str, ...]) -> None:
        self.fields: dict[str, Any] = {name: schema["properties"][name] for name in names}
        required: list[str] = [name for name in schema.get("required", ()) if name in self.fields]
        self.required = frozenset(required)
        self.schema: dict[str, Any] = {
            "type": "object",
            "properties": self.fields,
            "required": required,
            "additionalProperties": False,
        }

    @cached_property
    def json(self) -> str:
        """The schema as the task shows it."""
        return msgspec.json.encode(self.schema).decode()

    @cached_property
    def native(self) -> NativeSchema:
        """The schema as the native validator sees it."""
        return NativeSchema(self.schema)


class Selections:
    """The projections of one schema, least recently used ones dropped."""

    def __init__(self, schema: dict[str, Any], max_entries: int) -> None:
        self._schema = schema
        self._max_entries = max_entries
        self._lock = threading.Lock()
        self._projections: OrderedDict[tuple[str, ...], Projection] = OrderedDict()

    @property
    def known(self) -> dict[str, Any]:
        """The selectable fields by name."""
        return self._schema["properties"]

    def projection(self, names: tuple[str, ...]) -> Projection:
        """The projection for known names, each once."""
        with self._lock:
            projection = self._projections.get(names)
            if projection is None:
                projection = self._projections[names] = Projection(self._schema, names)
                if len(self._projections) > self._max_entries:
                    self._projections.popitem(last=False)
            else:
                self._projections.move_to_end(names)
        return projection
