"""The closed vocabularies and the output formats of the two stages (contract sections 2 and 7).

The core schema is closed, every key required, so that strict structured-output modes take it.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

Action: TypeAlias = Literal["query", "analyze", "generate", "modify", "delete", "execute", "other"]
Status: TypeAlias = Literal["ready", "needs_clarification", "awaiting_confirmation", "conditional"]
Stage: TypeAlias = Literal["core", "data"]

ACTIONS: Final[tuple[Action, ...]] = (
    "query",
    "analyze",
    "generate",
    "modify",
    "delete",
    "execute",
    "other",
)
STATUSES: Final[tuple[Status, ...]] = (
    "ready",
    "needs_clarification",
    "awaiting_confirmation",
    "conditional",
)

_TEXT: Final = {"type": "string"}
_OPTIONAL_TEXT: Final = {"type": ["string", "null"]}
_TEXTS: Final = {"type": "array", "items": _TEXT}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_CORE_SCHEMA: Final = _closed(
    {
        "normalizedInput": _TEXT,
        "primaryIntent": _OPTIONAL_TEXT,
        "requirements": _TEXTS,
        "prohibitions": _TEXTS,
        "intents": _list_of(
            _closed(
                {
                    "action": {"type": ["string", "null"], "enum": [*ACTIONS, None]},
                    "target": _OPTIONAL_TEXT,
                    "requirements": _TEXTS,
                    "blockers": _closed(
                        {
                            "clarificationReason": _OPTIONAL_TEXT,
                            "questions": _list_of(_closed({"question": _TEXT, "options": _TEXTS})),
                            "confirmationReason": _OPTIONAL_TEXT,
                            "conditionReason": _OPTIONAL_TEXT,
                        }
                    ),
                }
            )
        ),
    }
)

# Kept as JSON: every caller gets a copy of its own by decoding, and the wire needs no encoding.
FORMAT_JSON: Final[dict[Stage, bytes]] = {
    "core": msgspec.json.encode(
        {"kind": "json_schema", "name": "intent_core", "schema": _CORE_SCHEMA}
    ),
    "data": b'{"kind":"json_object"}',
}

# What maxRequestBytes counts of a format: its schema.
FORMAT_SCHEMA_BYTES: Final[dict[Stage, int]] = {
    "core": len(msgspec.json.encode(_CORE_SCHEMA)),
    "data": 0,
}


def stage_format(stage: Stage) -> dict[str, Any]:
    """The output format of a stage, fresh: the caller may change it."""
    return cast("dict[str, Any]", msgspec.json.decode(FORMAT_JSON[stage]))
