"""Writes the data candidate so that every entry the checks ask for is there, and no other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from intent_runtime import pointer
from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.claims import Claim
from intent_runtime.executors.rules.constraints import allows
from intent_runtime.executors.rules.resolve import Choice
from intent_runtime.executors.rules.schema_view import (
    Branch,
    Leaf,
    Node,
    Path,
    Schema,
    as_schema,
    has_description,
    leaves,
    states_demand,
)
from intent_runtime.executors.rules.text import clip, name_parts
from intent_runtime.text import is_blank

MAX_ISSUES: Final = 200
"""Issues with a path of their own; one more without a path then stands for all others."""

MAX_ENTRIES: Final = 800
"""Evidence entries: with their checks they stay far below the bounds on entries and JSON values."""

MAX_BYTES: Final = 240_000
_ENTRY_BYTES: Final = 400
_RESULT_BYTES: Final = 500
_LONG_POINTER: Final = 300
MAX_OPEN_MEMBERS: Final = 6
"""An object with more members than this and none required never looks complete."""

_NAME_SHOWN: Final = 80

Source = dict[str, str]


class Report:
    """Collects one field after the other; `candidate` gives the finished object."""

    def __init__(self, payload: Mapping[str, Any], properties: Schema, choice: Choice) -> None:
        self._payload = payload
        self._properties = properties
        self._choice = choice
        self._data: dict[str, Any] = {}
        self._evidence: list[dict[str, Any]] = []
        self._checks: list[dict[str, Any]] = []
        self._results: list[dict[str, str]] = []
        self._issues: list[dict[str, str | None]] = []
        self._entries_left = MAX_ENTRIES
        self._bytes_left = MAX_BYTES - sum(
            _json_bytes(_pointer((name,))) + _RESULT_BYTES for name in payload["selectedFields"]
        )

    def add(self, name: str, node: Node | None, *, required: bool) -> None:
        """Conclude one selected field; `node` is None when its schema cannot be judged."""
        value = None if node is None else self._value(node)
        schema = as_schema(self._properties[name])
        stated = node is not None and value is not None and allows(schema, value)
        if node is None or not stated or not self._fits(node):
            self._leave_out(name, node, required=required)
            return
        self._data[name] = value
        self._prove(node, schema, value)
        self._results.append(self._result(name, "extracted", "stated"))

    def candidate(self) -> dict[str, Any]:
        """The candidate for all fields added so far."""
        self._check_root()
        return {
            "data": self._data,
            "evidence": self._evidence,
            "descriptionChecks": self._checks,
            "fieldResults": self._results,
            "issues": self._issues,
        }

    def _fits(self, node: Node) -> bool:
        """Whether the entries of one more field stay within the bounds of a candidate."""
        claims = [self._choice.chosen[leaf.path] for leaf in leaves(node) if self._has(leaf)]
        entries = sum(len(claim.spans) + len(claim.leaf.path) for claim in claims)
        size = 0
        for claim in claims:
            path = _json_bytes(_pointer(claim.leaf.path)) + _ENTRY_BYTES
            size += 2 * path * (len(claim.spans) + len(claim.leaf.path))
            size += 4 * sum(_json_bytes(quote) for quote in claim.quotes())
        if entries > self._entries_left or size > self._bytes_left:
            return False
        self._entries_left -= entries
        self._bytes_left -= size
        return True

    def _has(self, leaf: Leaf) -> bool:
        return leaf.path in self._choice.chosen

    def _value(self, node: Node) -> Any:
        """The value of a node, or None when it, or a member it needs, is not stated."""
        if isinstance(node, Leaf):
            claim = self._choice.chosen.get(node.path)
            return None if claim is None else claim.value
        if len(node.members) > MAX_OPEN_MEMBERS and not any(m.required for m in node.members):
            return None
        found: dict[str, Any] = {}
        for member in node.members:
            value = self._value(member)
            if value is not None:
                found[str(member.path[-1])] = value
            elif member.required:
                return None
        return found or None

    def _leave_out(self, name: str, node: Node | None, *, required: bool) -> None:
        if not required:
            self._results.append(self._result(name, "not_provided", "not_provided"))
            return
        ambiguous = node is not None and any(
            path[: len(node.path)] == node.path for path in self._choice.ambiguous
        )
        key = "ambiguous" if ambiguous else "missing"
        self._results.append(self._result(name, "issue", key))
        if len(self._issues) > MAX_ISSUES:
            return
        path = _pointer((name,))
        pointed = len(path) <= _LONG_POINTER and len(self._issues) < MAX_ISSUES
        self._issues.append(
            {
                "code": "DATA_AMBIGUOUS" if ambiguous else "DATA_REQUIRED_MISSING",
                "category": "business_information",
                "path": path if pointed else None,
                "message": self._say(key, field=clip(name, _NAME_SHOWN)),
            }
        )

    def _prove(self, node: Node, schema: Schema, value: Any) -> list[Source]:
        """Evidence and description checks for a returned node; its sources, for the parent."""
        if isinstance(node, Branch):
            properties = as_schema(_merged(schema).get("properties"))
            sources: list[Source] = []
            for member in node.members:
                name = str(member.path[-1])
                if name in value:
                    sources.extend(self._prove(member, as_schema(properties[name]), value[name]))
        else:
            sources = self._prove_leaf(self._choice.chosen[node.path], schema)
        self._check(node.path, schema, sources[:1])
        return sources

    def _prove_leaf(self, claim: Claim, schema: Schema) -> list[Source]:
        path = claim.leaf.path
        sources = [_source(claim.material.source_id, quote) for quote in claim.quotes()]
        if not isinstance(claim.value, list):
            self._testify(path, claim.value, sources)
            return sources
        values = cast("list[object]", claim.value)
        items = as_schema(_merged(schema).get("items"))
        for index, (value, source) in enumerate(zip(values, sources, strict=True)):
            self._testify((*path, index), value, [source])
            self._check((*path, index), items, [source])
        return sources

    def _testify(self, path: Path, value: object, sources: list[Source]) -> None:
        exact = isinstance(value, str) and any(source["quote"] == value for source in sources)
        mode = "exact" if exact else "semantic"
        self._evidence.append({"path": _pointer(path), "mode": mode, "sources": sources})

    def _check(self, path: Path, schema: Schema, sources: list[Source]) -> None:
        if has_description(schema):
            self._checks.append(self._verdict(path, "satisfied", "described", sources))

    def _check_root(self) -> None:
        description = as_schema(self._payload["schemaReference"]).get("description")
        if not isinstance(description, str) or is_blank(description):
            return
        quote = _source("input", clip(self._payload["currentInput"]))
        related = states_demand(description) and len(self._mentioned(description)) > 1
        verdict = (
            ("undetermined", "root_undetermined") if related else ("satisfied", "root_described")
        )
        self._checks.append(self._verdict((), *verdict, [quote]))

    def _mentioned(self, description: str) -> list[str]:
        """The returned fields whose names a description spells out."""
        said = "".join(char for char in description.lower() if char.isalnum())
        spoken = {name: "".join(name_parts(name)) for name in self._data}
        return [name for name, words in spoken.items() if words and words in said]

    def _verdict(self, path: Path, verdict: str, key: str, sources: list[Source]) -> dict[str, Any]:
        return {
            "path": _pointer(path),
            "verdict": verdict,
            "explanation": self._say(key),
            "sources": sources,
        }

    def _result(self, name: str, status: str, key: str) -> dict[str, str]:
        explanation = self._say(key, field=clip(name, _NAME_SHOWN))
        return {"path": _pointer((name,)), "status": status, "explanation": explanation}

    def _say(self, key: str, **parts: str) -> str:
        return vocabulary.message(self._payload["structuredLanguage"], key, **parts)


def _pointer(path: Path) -> str:
    return pointer.render(("data", *path))


def _json_bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode(errors="surrogatepass"))


def _source(source_id: str, quote: str) -> Source:
    return {"sourceId": source_id, "quote": quote}


def _merged(schema: Schema) -> Schema:
    from_branches = [
        as_schema(branch)
        for keyword in ("anyOf", "oneOf", "allOf")
        for branch in cast("list[object]", schema.get(keyword, []))
    ]
    for branch in from_branches:
        inner = _merged(branch)
        if "properties" in inner or "items" in inner:
            return inner
    return schema
