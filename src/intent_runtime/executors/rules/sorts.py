"""What kind of text a string field is about."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, TypeAlias

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.schema_view import Leaf
from intent_runtime.executors.rules.text import name_parts, stem

Sort: TypeAlias = Literal[
    "date", "time", "url", "email", "ip", "uuid", "file", "code", "place", "free", "entity", "none"
]

_FORMAT_SORTS: Final[dict[str, Sort]] = {
    "date": "date",
    "date-time": "date",
    "time": "time",
    "email": "email",
    "uri": "url",
    "url": "url",
    "ipv4": "ip",
    "uuid": "uuid",
}
_NAMED_SORTS: Final[tuple[tuple[str, Sort], ...]] = (
    ("email_words", "email"),
    ("url_words", "url"),
    ("ip_words", "ip"),
    ("file_words", "file"),
    ("date_words", "date"),
    ("time_words", "time"),
    ("code_words", "code"),
    ("place_words", "place"),
    ("free_text_words", "free"),
)
_DESCRIBED_SORTS: Final[tuple[tuple[str, Sort], ...]] = (
    ("identifier_words", "code"),
    ("described_place_words", "place"),
    ("date_words", "date"),
)
_OPENING_WORDS: Final = 6


def sort_of(leaf: Leaf) -> Sort:
    """By format, then by the end of the name, then by how the description begins."""
    form = leaf.schema.get("format")
    if isinstance(form, str):
        return _FORMAT_SORTS.get(form, "none")
    return _named_sort(leaf.name, leaf.gist)


@lru_cache(maxsize=1024)
def _named_sort(name: str, gist: str) -> Sort:
    parts = [stem(part) for part in name_parts(name)][-2:]
    for section, sort in _NAMED_SORTS:
        if not vocabulary.words(section).isdisjoint(parts):
            return sort
    opening = [word.strip(".,:()'\"") for word in gist.split()[:_OPENING_WORDS]]
    for section, sort in _DESCRIBED_SORTS:
        if not vocabulary.words(section).isdisjoint(opening):
            return sort
    return "entity"
