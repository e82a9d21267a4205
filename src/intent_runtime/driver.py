"""Driving one run with an executor (contract sections 9 and 12). The only module with asyncio.

It is loaded with the first parse, so that hosts that only bridge never pay for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

import msgspec

from intent_runtime.engine import Engine
from intent_runtime.errors import ERROR_CODES, ErrorCode, IntentFailure, IntentParseError
from intent_runtime.executors.protocol import ModelExecutor
from intent_runtime.formats import Stage
from intent_runtime.pipeline import Outcome, Pending, Run
from intent_runtime.text import has_lone_surrogate, plain, shorten
from intent_runtime.values import (
    IntentResult,
    IntentUsage,
    ModelReply,
    ModelRequest,
    TokenUsage,
)

T = TypeVar("T")

# The codes an executor may raise by itself; anything else it raises is MODEL_REQUEST_FAILED.
_EXECUTOR_CODES: Final = frozenset(code for code in ERROR_CODES if code.startswith("MODEL_")) | {
    "HOST_CAPABILITY_UNSUPPORTED"
}
# How long a synchronous parse waits for cancelled tasks before it leaves them to a thread.
_GRACE_SECONDS: Final = 0.1
_MAX_MESSAGE: Final = 500

# Abandoned executor calls, kept from the garbage collector until they end.
_abandoned: set[asyncio.Future[Any]] = set()


class Parse:
    """One active parse. `stop` may be called from any thread; the rest belongs to its loop."""

    def __init__(self, engine: Engine, executor: ModelExecutor, timeout_ms: int) -> None:
        self._engine = engine
        self._executor = executor
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + timeout_ms / 1000 if timeout_ms else None
        self._stopped: asyncio.Future[None] = self._loop.create_future()
        self._usage: dict[Stage, TokenUsage] = {}
        self.cause: BaseException | None = None

    def stop(self) -> None:
        """End the parse with INSTANCE_DISPOSED."""
        # The loop may be closed already; then the parse has ended with it.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if not self._stopped.done():
            self._stopped.set_result(None)

    async def run(self, run: Run) -> IntentResult | IntentFailure:
        """Walk the stages to the end; the outcome tells the usage."""
        outcome = await self._walk(run)
        if not self._usage:
            return outcome
        return msgspec.structs.replace(outcome, usage=IntentUsage(**self._usage))

    async def _walk(self, run: Run) -> IntentResult | IntentFailure:
        while True:
            text = await self._generate(run)
            if isinstance(text, IntentFailure):
                return text
            step = run.judge(text)
            outcome = await self._validate(run, step) if isinstance(step, Pending) else step
            if not isinstance(outcome, Run):
                return outcome
            run = outcome

    async def _generate(self, run: Run) -> str | IntentFailure:
        """The candidate text for the run's task, or how the executor failed."""
        call = self._loop.create_task(self._call(run.task()))
        ended = await self._finish(run, call)
        if ended is not None:
            return ended
        if call.cancelled():
            return run.failure("MODEL_ABORTED", "The executor stopped by itself.")
        error = call.exception()
        if error is not None:
            self.cause = _told_cause(error)
            self._count(run.stage, error)
            return _executor_failure(run, error)
        reply = call.result()
        self._count(run.stage, reply)
        return _candidate_text(run, reply)

    def _count(self, stage: Stage, told: object) -> None:
        """Add what one attempt cost, if its reply or error tells; nonsense is no reason to fail."""
        usage: object = getattr(told, "usage", None)
        parts: tuple[object, ...] = (usage,)
        if isinstance(usage, IntentUsage):
            parts = (usage.core, usage.data)
        for part in parts:
            if isinstance(part, TokenUsage) and all(
                isinstance(tokens, int) for tokens in msgspec.structs.astuple(part)
            ):
                self._usage[stage] = self._usage.get(stage, TokenUsage()) + part

    async def _call(self, request: ModelRequest) -> ModelReply:
        return await self._executor.generate(request)

    async def _validate(self, run: Run, pending: Pending) -> Outcome:
        validation = self._engine.validate(pending)
        if not isinstance(validation, Future):
            return validation
        waiting = asyncio.wrap_future(validation)
        ended = await self._finish(run, waiting)
        return ended if ended is not None else self._engine.conclude(pending, validation)

    async def _finish(self, run: Run, work: asyncio.Future[Any]) -> IntentFailure | None:
        """Wait for `work`; None when it is done, else why it was given up."""
        try:
            timeout = self._remaining()
            if timeout is None or timeout > 0:
                await asyncio.wait(
                    {work, self._stopped}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            _let_go(work)
        if self._stopped.done() or self._engine.disposed:
            return run.failure("INSTANCE_DISPOSED", "The Intent was disposed during the parse.")
        timeout = self._remaining()
        if timeout is not None and timeout <= 0:
            return run.failure("MODEL_TIMEOUT", "The parse did not end within timeoutMs.")
        return None

    def _remaining(self) -> float | None:
        """Seconds until the deadline, where there is one."""
        return None if self._deadline is None else self._deadline - self._loop.time()


def _let_go(work: asyncio.Future[Any]) -> None:
    """Cancel what is not done, without waiting: what ignores that must not keep the parse."""
    for other in [other for other in _abandoned if other.get_loop().is_closed()]:
        # Its loop was closed over it: it will never tell that it is done.
        _abandoned.discard(other)
    _abandoned.add(work)
    work.add_done_callback(_forget)
    if work.done():
        _forget(work)
    else:
        work.cancel()


def _forget(work: asyncio.Future[Any]) -> None:
    _abandoned.discard(work)
    if not work.cancelled():
        # Looked at, so that the loop does not report it as never retrieved.
        work.exception()


def _told_cause(error: BaseException) -> BaseException:
    """What is behind an executor's failure: one of our errors only stands for its own cause."""
    wrapped = error.__cause__ if isinstance(error, IntentParseError) else None
    return wrapped or error


def _executor_failure(run: Run, error: BaseException) -> IntentFailure:
    known = isinstance(error, IntentParseError) and isinstance(error.code, str)
    if isinstance(error, IntentParseError) and known and error.code in _EXECUTOR_CODES:
        return IntentFailure(
            code=error.code,
            stage=run.stage,
            message=shorten(str(error.message), _MAX_MESSAGE),
            partial_result=run.partial_result,
            retry_after=error.retry_after if error.code == "MODEL_RATE_LIMITED" else None,
        )
    if isinstance(error, TimeoutError):
        return run.failure("MODEL_TIMEOUT", "The executor ran into a time-out.")
    if not isinstance(error, Exception):
        raise error
    return run.failure("MODEL_REQUEST_FAILED", f"The executor raised {type(error).__name__}.")


_OUTCOMES: Final[dict[str, tuple[ErrorCode, str]]] = {
    "refusal": ("MODEL_REFUSED", "The model declined the task."),
    "incomplete": ("MODEL_OUTPUT_INCOMPLETE", "The model's answer is incomplete."),
}


def _candidate_text(run: Run, reply: object) -> str | IntentFailure:
    """The text of a complete reply. What is no reply is never repaired (contract section 8.4)."""
    if not isinstance(reply, ModelReply):
        return run.failure("MODEL_OUTPUT_INVALID", "The executor's reply is not a ModelReply.")
    if isinstance(reply.outcome, str) and reply.outcome in _OUTCOMES:
        return run.failure(*_OUTCOMES[reply.outcome])
    text = reply.text
    if reply.outcome != "complete" or not isinstance(text, str) or not text:
        return run.failure("MODEL_OUTPUT_INVALID", "The executor's reply holds no text.")
    text = plain(text)
    if has_lone_surrogate(text):
        return run.failure("MODEL_OUTPUT_INVALID", "The executor's reply is not Unicode text.")
    return text


def run_synchronously(parse: Coroutine[Any, Any, T]) -> T:
    """Run a parse in an event loop of its own; RuntimeError inside a running one."""
    if _inside_loop():
        parse.close()
        raise RuntimeError("parse_sync cannot run inside a running event loop; await parse there")
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    try:
        return runner.run(parse)
    finally:
        _close(runner)


def _inside_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _close(runner: asyncio.Runner) -> None:
    """Close the loop; what ignores its cancellation keeps a thread, not the caller.

    Closing waits for tasks that were cancelled and for threads that a task has started.
    """
    closing = threading.Thread(target=runner.close, name="intent-runtime-closing", daemon=True)
    closing.start()
    closing.join(_GRACE_SECONDS)
