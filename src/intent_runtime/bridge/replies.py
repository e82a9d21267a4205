"""What a session answers (contract section 10): a task, a result or an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec

from intent_runtime.errors import IntentFailure, IntentIssue
from intent_runtime.formats import FORMAT_JSON, Stage, stage_format
from intent_runtime.values import IntentResult, TextValue


class BridgeReply(TextValue, frozen=True, rename="camel"):
    """One of the three replies; `kind` tells which (contract section 10)."""

    @property
    def kind(self) -> Literal["task", "result", "error"]:
        """`task`, `result` or `error`."""
        raise NotImplementedError

    @staticmethod
    def from_dict(wire: Mapping[str, Any]) -> TaskReply | ResultReply | ErrorReply:
        """The typed reply for a reply in its wire shape; raises ValueError for anything else.

        Meant for replies of a service one is connected to, not for untrusted data.
        """
        if not isinstance(wire, Mapping):
            raise ValueError("not a bridge reply: not an object")  # noqa: TRY004 - as documented
        try:
            match wire.get("kind"):
                case "task":
                    return msgspec.convert(dict(wire), TaskReply)
                case "result":
                    return ResultReply(msgspec.convert(wire["result"], IntentResult))
                case "error":
                    return ErrorReply(_failure(wire["error"]))
                case _:
                    pass
        except (msgspec.ValidationError, KeyError, TypeError) as error:
            raise ValueError(f"not a bridge reply: {type(error).__name__}") from None
        raise ValueError('not a bridge reply: "kind" must be task, result or error')


class TaskReply(BridgeReply, frozen=True, rename="camel"):
    """A task for the host's model, to be answered or cancelled (contract sections 7, 10).

    `payload` is a JSON string. `expires_at` (ISO 8601, UTC) is there only with a job TTL.
    """

    job_id: str
    step_token: str
    stage: Stage
    instructions: str
    payload: str
    expires_at: str | None = None

    @property
    def kind(self) -> Literal["task"]:
        """`task`."""
        return "task"

    @property
    def format(self) -> dict[str, Any]:
        """The output format the stage asks for, fresh: the caller may change it."""
        return stage_format(self.stage)

    def task_payload(self) -> dict[str, Any]:
        """The payload, decoded."""
        return cast("dict[str, Any]", msgspec.json.decode(self.payload))

    def encodable(self) -> Any:
        """`{kind, jobId, stepToken, stage, instructions, payload, format, expiresAt?}`."""
        wire = {
            "kind": "task",
            "jobId": self.job_id,
            "stepToken": self.step_token,
            "stage": self.stage,
            "instructions": self.instructions,
            "payload": self.payload,
            "format": msgspec.Raw(FORMAT_JSON[self.stage]),
        }
        if self.expires_at is not None:
            wire["expiresAt"] = self.expires_at
        return wire


class ResultReply(BridgeReply, frozen=True, rename="camel"):
    """The job's end: a complete result (contract section 10)."""

    result: IntentResult

    @property
    def kind(self) -> Literal["result"]:
        """`result`."""
        return "result"

    def encodable(self) -> Any:
        """`{kind, result}`."""
        return {"kind": "result", "result": self.result.encodable()}


class ErrorReply(BridgeReply, frozen=True, rename="camel"):
    """This call failed; the job may be alive all the same (contract section 10)."""

    error: IntentFailure

    @property
    def kind(self) -> Literal["error"]:
        """`error`."""
        return "error"

    def encodable(self) -> Any:
        """`{kind, error}`."""
        return {"kind": "error", "error": self.error.encodable()}


def read_tool_reply(tool_result: object) -> TaskReply | ResultReply | ErrorReply:
    """The typed reply in a tool result of this service, an SDK object or a dict (section 11).

    Raises ValueError when there is none. Not a check of untrusted data.
    """
    if isinstance(tool_result, Mapping):
        reply = cast("Mapping[str, Any]", tool_result).get("structuredContent")
    else:
        reply = getattr(tool_result, "structured_content", None)
    if not isinstance(reply, Mapping):
        raise ValueError("the tool result holds no reply of intent-runtime")  # noqa: TRY004
    return BridgeReply.from_dict(cast("Mapping[str, Any]", reply))


End: TypeAlias = "IntentResult | IntentFailure"


def end_reply(end: End) -> ResultReply | ErrorReply:
    """The reply for a job's end, with containers of its own: callers may change what they get."""
    if isinstance(end, IntentResult):
        return ResultReply(_own(end))
    if end.partial_result is None:
        return ErrorReply(end)
    return ErrorReply(msgspec.structs.replace(end, partial_result=_own(end.partial_result)))


def _own(result: IntentResult) -> IntentResult:
    data = msgspec.json.decode(msgspec.json.encode(result.data)) if result.data else {}
    return msgspec.structs.replace(result, data=data)


def _failure(wire: Any) -> IntentFailure:
    if not isinstance(wire, Mapping):
        raise TypeError
    partial = wire.get("partialResult")
    return IntentFailure(
        code=wire["code"],
        stage=wire["stage"],
        message=wire["message"],
        issues=msgspec.convert(wire["issues"], tuple[IntentIssue, ...]),
        partial_result=None if partial is None else msgspec.convert(partial, IntentResult),
    )
