"""BCP 47 tags: validity and canonical form (contract section 4; RFC 5646 sections 2.1, 2.2.9, 4.5).

Valid means registered, not only well formed. The extensions with a registered singleton are `t`
and `u`; of their contents only the shape is checked, since their own registries are not the IANA
subtag registry.
"""

from __future__ import annotations

import re

from intent_runtime.language.registry import Registry, registry

MAX_TAG_LENGTH = 255

_SUBTAGS = re.compile("[a-z0-9]{1,8}(?:-[a-z0-9]{1,8})*")
_LANGUAGE = re.compile("[a-z]{2,3}")
_EXTLANG = re.compile("[a-z]{3}")
_SCRIPT = re.compile("[a-z]{4}")
_REGION = re.compile("[a-z]{2}|[0-9]{3}")
_VARIANT = re.compile("[a-z0-9]{5,8}|[0-9][a-z0-9]{3}")
_PRIVATE_LANGUAGE = re.compile("q[a-t][a-z]")
_EXTENSION_SINGLETONS = frozenset("tu")
# Subtags that name no language somebody could write in.
_NO_LANGUAGE = frozenset({"und", "mul", "zxx"})


class LanguageTagError(ValueError):
    """Why a tag is not acceptable; the message ends with the registry's File-Date."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} (IANA subtag registry {registry().file_date})")


def canonical_tag(tag: str) -> str:
    """The canonical form of a valid tag; raises `LanguageTagError` otherwise."""
    if len(tag) > MAX_TAG_LENGTH:
        raise LanguageTagError(f"a language tag has at most {MAX_TAG_LENGTH} characters")
    # Only ASCII may be lowered: folding would let look-alikes pass.
    lowered = tag.lower() if tag.isascii() else ""
    if not _SUBTAGS.fullmatch(lowered):
        raise LanguageTagError('not a BCP 47 tag such as "en" or "zh-Hant-TW"')
    table = registry()
    if lowered in table.tags:
        return _registered_tag(lowered, table)
    return _Reader(lowered.split("-"), table).canonical()


def _registered_tag(tag: str, table: Registry) -> str:
    if tag == "i-default":
        raise LanguageTagError("i-default names no language")
    return table.tags[tag] or tag


class _Reader:
    """Reads the subtags of one tag from left to right."""

    def __init__(self, subtags: list[str], table: Registry) -> None:
        self._rest = subtags[::-1]
        self._table = table

    def canonical(self) -> str:
        if self._rest[-1] == "x":
            raise LanguageTagError("a private-use tag names no language")
        parts = [self._language()]
        if script := self._take(_SCRIPT):
            parts.append(self._registered(script, self._table.scripts, "script").title())
        if region := self._take(_REGION):
            parts.append(self._registered(region, self._table.regions, "region").upper())
        parts += self._variants()
        parts += self._extensions()
        parts += self._private_use()
        return "-".join(parts)

    def _take(self, shape: re.Pattern[str]) -> str | None:
        if self._rest and shape.fullmatch(self._rest[-1]):
            return self._rest.pop()
        return None

    def _language(self) -> str:
        language = self._take(_LANGUAGE)
        if language is None or language not in self._table.languages:
            raise LanguageTagError("the language subtag is not registered")
        if language in _NO_LANGUAGE or _PRIVATE_LANGUAGE.fullmatch(language):
            raise LanguageTagError("the language subtag names no output language")
        extlang = self._take(_EXTLANG)
        if extlang is None:
            return self._table.languages[language] or language
        if self._table.extlangs.get(extlang) != language:
            raise LanguageTagError("the extended language subtag does not belong to its language")
        # The preferred value of every extlang is the extlang as a language of its own.
        return self._table.languages[extlang] or extlang

    def _registered(self, subtag: str, known: dict[str, str], kind: str) -> str:
        if subtag not in known:
            raise LanguageTagError(f"the {kind} subtag is not registered")
        return known[subtag] or subtag

    def _variants(self) -> list[str]:
        seen: list[str] = []
        while variant := self._take(_VARIANT):
            self._registered(variant, self._table.variants, "variant")
            if variant in seen:
                raise LanguageTagError("a variant subtag is repeated")
            seen.append(variant)
        dropped = {name for variant in seen for name in self._table.absorbed.get(variant, ())}
        kept = (self._table.variants[name] or name for name in seen if name not in dropped)
        return list(dict.fromkeys(kept))

    def _extensions(self) -> list[str]:
        found: dict[str, list[str]] = {}
        while self._rest and len(self._rest[-1]) == 1 and self._rest[-1] != "x":
            singleton = self._rest.pop()
            if singleton not in _EXTENSION_SINGLETONS:
                raise LanguageTagError("the extension singleton is not registered")
            if singleton in found:
                raise LanguageTagError("an extension singleton is repeated")
            found[singleton] = self._subtags_until_singleton()
        return [subtag for name in sorted(found) for subtag in (name, *found[name])]

    def _subtags_until_singleton(self) -> list[str]:
        subtags: list[str] = []
        while self._rest and len(self._rest[-1]) > 1:
            subtags.append(self._rest.pop())
        if not subtags:
            raise LanguageTagError("an extension singleton stands alone")
        return subtags

    def _private_use(self) -> list[str]:
        if not self._rest:
            return []
        if self._rest[-1] != "x" or len(self._rest) == 1:
            raise LanguageTagError("a subtag is not registered or out of place")
        return self._rest[::-1]
