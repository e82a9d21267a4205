"""Reading what a host sends to a session (contract section 10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from intent_runtime.errors import ErrorCode, ErrorStage, IntentFailure
from intent_runtime.request import REQUEST_KEYS
from intent_runtime.text import exceeds_utf8, has_lone_surrogate, hidden_repr, name_list, plain

MAX_DETAIL_BYTES: Final = 2048

# What a cancelled job ends with.
OUTCOMES: Final[dict[str, tuple[ErrorCode, str]]] = {
    "cancelled": ("MODEL_ABORTED", "The host cancelled the job."),
    "refusal": ("MODEL_REFUSED", "The host's model declined the task."),
    "incomplete": ("MODEL_OUTPUT_INCOMPLETE", "The host's model gave an incomplete answer."),
}
_PREPARE_KEYS: Final = REQUEST_KEYS | {"instance"}
_ACCEPT_KEYS: Final = ("jobId", "stepToken", "candidateText")
_CANCEL_KEYS: Final = ("jobId", "outcome", "detail")


class Accept(msgspec.Struct, frozen=True):
    """A submission."""

    job_id: str
    step_token: str
    candidate_text: str

    __repr__ = hidden_repr


class Cancel(msgspec.Struct, frozen=True):
    """A cancellation; a detail is checked and then forgotten."""

    job_id: str
    outcome: str


def read_prepare(raw: object, instances: tuple[str, ...]) -> tuple[str, object] | IntentFailure:
    """The instance's name and the request without it."""
    if not isinstance(raw, Mapping):
        return invalid("The arguments must be an object with instance and input.", "input")
    arguments = cast("Mapping[object, object]", raw)
    if not all(isinstance(key, str) and key in _PREPARE_KEYS for key in arguments):
        return invalid("Unknown argument; known are instance, input, fields, context.", "input")
    name = arguments.get("instance")
    if not isinstance(name, str) or name not in instances:
        return invalid(f"instance must be one of {name_list(instances)}.", "input")
    return plain(name), {key: value for key, value in arguments.items() if key != "instance"}


def read_accept(raw: object) -> Accept | IntentFailure:
    """A submission of exactly three strings."""
    if not isinstance(raw, Mapping):
        return invalid("The arguments must be an object with jobId, stepToken and candidateText.")
    arguments = cast("Mapping[object, object]", raw)
    if len(arguments) != len(_ACCEPT_KEYS):
        return invalid("Exactly jobId, stepToken and candidateText are needed.")
    values: list[str] = []
    for key in _ACCEPT_KEYS:
        value = arguments.get(key)
        if not isinstance(value, str):
            return invalid(f"{key} must be a string.")
        values.append(plain(value))
    if has_lone_surrogate(values[2]):
        return invalid("candidateText holds a lone surrogate.")
    return Accept(*values)


def read_cancel(raw: object) -> Cancel | IntentFailure:
    """A cancellation with a known outcome and a detail of at most 2048 bytes."""
    if not isinstance(raw, Mapping):
        return invalid("The arguments must be an object with jobId.")
    arguments = cast("Mapping[object, Any]", raw)
    if not all(key in _CANCEL_KEYS for key in arguments):
        return invalid("Unknown argument; known are jobId, outcome, detail.")
    job_id = arguments.get("jobId")
    if not isinstance(job_id, str):
        return invalid("jobId must be a string.")
    outcome = arguments.get("outcome", "cancelled")
    if not isinstance(outcome, str) or outcome not in OUTCOMES:
        return invalid(f"outcome must be one of {name_list(tuple(OUTCOMES))}.")
    detail = arguments.get("detail", "")
    if not isinstance(detail, str) or has_lone_surrogate(detail):
        return invalid("detail must be a string without lone surrogates.")
    if exceeds_utf8(detail, MAX_DETAIL_BYTES):
        return invalid(f"detail must be at most {MAX_DETAIL_BYTES} UTF-8 bytes.")
    return Cancel(plain(job_id), plain(outcome))


def invalid(message: str, stage: ErrorStage = "bridge") -> IntentFailure:
    """A call with wrong arguments; no job is touched."""
    return IntentFailure(code="INPUT_INVALID", stage=stage, message=message)
