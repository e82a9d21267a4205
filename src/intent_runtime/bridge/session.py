"""A session: one host's connection to a bridge (contract section 10)."""

from __future__ import annotations

from typing import Any, Self

from intent_runtime.bridge.arguments import invalid
from intent_runtime.bridge.desk import NOT_FOUND, Desk, Owner
from intent_runtime.bridge.replies import BridgeReply, ErrorReply


class Closing:
    """Closes at the end of a `with` block."""

    def close(self) -> None:
        """Let go of everything."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class BridgeSession(Closing):
    """One host's connection; what it opened belongs to it alone (contract section 10).

    Its methods answer with a reply and never raise for what a caller or a model sends. None for
    an optional argument is "not given".
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._owner = Owner()

    def prepare(
        self,
        *,
        instance: str,
        input: str,
        fields: Any = None,
        context: Any = None,
    ) -> BridgeReply:
        """Open a job for a request; the first task, or an error that leaves no job behind."""
        optional = {"fields": fields, "context": context}
        given = {key: value for key, value in optional.items() if value is not None}
        return self._desk.prepare(self._owner, {"instance": instance, "input": input, **given})

    async def accept(self, *, job_id: str, step_token: str, candidate_text: str) -> BridgeReply:
        """Submit the whole candidate for the current task: the next task, a result or an error.

        The same submission again gets the recorded reply. When the awaiting caller is cancelled,
        judging goes on and the reply can be fetched by submitting the same again.
        """
        arguments = {"jobId": job_id, "stepToken": step_token, "candidateText": candidate_text}
        return await self._desk.accept(self._owner, arguments)

    def cancel(
        self, *, job_id: str, outcome: str | None = None, detail: str | None = None
    ) -> BridgeReply:
        """End a job: `cancelled` (default), `refusal` or `incomplete`.

        The reply is the job's end, an error; a job that has ended already answers its own end,
        which may be a result. detail: at most 2048 UTF-8 bytes, checked and forgotten.
        """
        optional = {"outcome": outcome, "detail": detail}
        given = {key: value for key, value in optional.items() if value is not None}
        return self._desk.cancel(self._owner, {"jobId": job_id, **given})

    async def call(self, tool: str, arguments: object) -> BridgeReply:
        """The wire entry: one of the three tools with whatever arguments arrived."""
        if tool == "intent_prepare":
            return self._desk.prepare(self._owner, arguments)
        if tool == "intent_accept":
            return await self._desk.accept(self._owner, arguments)
        if tool == "intent_cancel":
            return self._desk.cancel(self._owner, arguments)
        if self._desk.is_closed_to(self._owner):
            return ErrorReply(NOT_FOUND)
        known = "intent_prepare, intent_accept, intent_cancel"
        return ErrorReply(invalid(f"Unknown tool; known are {known}."))

    def close(self) -> None:
        """Release the session's jobs; idempotent."""
        self._desk.release(self._owner)
