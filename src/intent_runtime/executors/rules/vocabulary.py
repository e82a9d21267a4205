"""The rules' words live in data files; this module reads each of them once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

LANGUAGES: Final = ("en", "zh")


@cache
def load(language: str) -> Mapping[str, Any]:
    """The data file of a language."""
    source = Path(__file__).parent / "data" / f"{language}.json"
    return cast("Mapping[str, Any]", json.loads(source.read_text(encoding="utf-8")))


@cache
def words(section: str, language: str | None = None) -> frozenset[str]:
    """The words of one list section, of one language or of all together."""
    languages = LANGUAGES if language is None else (language,)
    found: set[str] = set()
    for each in languages:
        found.update(cast("list[str]", load(each).get(section, [])))
    return frozenset(found)


@cache
def ordered(section: str, language: str) -> tuple[str, ...]:
    """A list section in the order of the file."""
    return tuple(cast("list[str]", load(language)[section]))


@cache
def groups(section: str, language: str) -> Mapping[str, tuple[str, ...]]:
    """One section that maps a key to a list of words."""
    table = cast("Mapping[str, list[str]]", load(language).get(section, {}))
    return {key: tuple(value) for key, value in table.items()}


@cache
def lookup(section: str, language: str | None = None) -> Mapping[str, str]:
    """The inverse of `groups`: from each word to its key."""
    languages = LANGUAGES if language is None else (language,)
    return {
        word: key
        for each in languages
        for key, members in groups(section, each).items()
        for word in members
    }


@cache
def numbers(section: str, language: str) -> Mapping[str, int]:
    """A section that maps words to numbers."""
    return cast("Mapping[str, int]", load(language)[section])


def message(language_tag: str, key: str, **parts: str) -> str:
    """An explanatory text in the structured language: Chinese for zh, English otherwise."""
    language = "zh" if language_tag.split("-", maxsplit=1)[0].lower() == "zh" else "en"
    templates = cast("Mapping[str, str]", load(language)["messages"])
    return templates[key].format(**parts)
