"""Sources and quotes (contract section 8.3): verbatim, code point by code point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from intent_runtime.candidate.findings import Finding
from intent_runtime.candidate.shapes import closed_object, keys, required_text
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.text import is_blank, name_list, preview

# From this length on the interpreter searches in linear time whatever the quote; shorter texts are
# filled up to it, and a match that reaches into the filling is none.
_LINEAR_SEARCH: Final = 30_000
_SOURCE_KEYS: Final = keys("sourceId", "quote")


class Quotes:
    """The material of one task; remembers which quotes it has looked for."""

    def __init__(self, sources: dict[str, str]) -> None:
        self._sources = sources
        self._searched = {name: text.ljust(_LINEAR_SEARCH, "\0") for name, text in sources.items()}
        self._quoted: dict[tuple[str, str], bool] = {}

    def check(self, entry: JsonObject, path: str) -> Iterable[Finding]:
        """The `sources` of an entry: not empty, known, quoted verbatim."""
        sources = entry.get("sources")
        if isinstance(sources, list) and sources and all(map(self._is_good, sources)):
            return ()
        return self._explain(entry, path)

    def _explain(self, entry: JsonObject, path: str) -> Iterator[Finding]:
        if "sources" not in entry:
            return
        sources = entry["sources"]
        if not isinstance(sources, list) or not sources:
            yield Finding(
                f"{path}/sources",
                "must be an array with at least one source",
                found=preview(sources),
                allowed='[{"sourceId": "input", "quote": "..."}]',
            )
            return
        for index, source in enumerate(sources):
            yield from self._source(source, f"{path}/sources/{index}")

    def _is_good(self, source: Json) -> bool:
        """Whether there is nothing to find; most sources are good, and many are alike."""
        if not isinstance(source, dict) or len(source) != len(_SOURCE_KEYS):
            return False
        source_id, quote = source.get("sourceId"), source.get("quote")
        if not isinstance(source_id, str) or not isinstance(quote, str):
            return False
        return self._is_quoted(source_id, quote) and not is_blank(quote)

    def _source(self, source: Json, path: str) -> Iterator[Finding]:
        yield from closed_object(source, path, _SOURCE_KEYS)
        if not isinstance(source, dict):
            return
        yield from required_text(source, path, "sourceId")
        yield from required_text(source, path, "quote")
        source_id, quote = source.get("sourceId"), source.get("quote")
        if not isinstance(source_id, str) or not isinstance(quote, str):
            return
        if source_id not in self._sources:
            yield Finding(
                f"{path}/sourceId",
                "must be a source of this task",
                found=preview(source_id),
                allowed=name_list(tuple(self._sources)),
            )
        elif not self._is_quoted(source_id, quote):
            yield Finding(
                f"{path}/quote",
                "must stand in its source, character for character",
                found=preview(quote),
                allowed=f"a piece of the text of {source_id}, copied unchanged",
            )

    def _is_quoted(self, source_id: str, quote: str) -> bool:
        pair = (source_id, quote)
        known = self._quoted.get(pair)
        if known is None:
            at = self._searched.get(source_id, "").find(quote)
            known = 0 <= at <= len(self._sources.get(source_id, "")) - len(quote)
            self._quoted[pair] = known
        return known
