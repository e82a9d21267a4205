"""Tasks for a model: instructions, payload, format (contract section 7)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from intent_runtime.formats import FORMAT_SCHEMA_BYTES, Stage
from intent_runtime.text import utf8_length
from intent_runtime.values import ModelRequest

_REPAIR: Final = (
    "# Repair\n\n"
    "Your previous candidate was refused. `repair.candidate` holds it, `repair.diagnostic` lists "
    "the violations found (`notListed` counts those beyond the list): the JSON Pointer `path` in "
    "that candidate, the `rule` broken, what was `found` and what is `allowed`. Fix all of them, "
    "keep what was right, invent nothing to satisfy a rule (leave an entry out, or remove a reason "
    "without basis, instead), and write the whole candidate again, not only the changed parts."
)


@cache
def instructions(stage: Stage, *, repair: bool) -> str:
    """The instructions of a stage, in English; a repair task has a paragraph more."""
    text = (Path(__file__).parent / f"{stage}.md").read_text("utf-8").strip()
    return f"{text}\n\n{_REPAIR}\n" if repair else f"{text}\n"


def compose(stage: Stage, members: dict[str, str]) -> ModelRequest:
    """The task of a stage; `members` are the payload's members as JSON texts, in order."""
    return ModelRequest(
        stage=stage,
        instructions=instructions(stage, repair="repair" in members),
        payload="{" + ",".join(f'"{name}":{text}' for name, text in members.items()) + "}",
    )


@cache
def fixed_bytes(stage: Stage, *, repair: bool) -> int:
    """What maxRequestBytes counts beside the payload: instructions and format schema, in UTF-8."""
    return utf8_length(instructions(stage, repair=repair)) + FORMAT_SCHEMA_BYTES[stage]


def encode(value: Any) -> str:
    """Compact JSON text."""
    return msgspec.json.encode(value).decode()
