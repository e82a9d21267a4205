"""The desk: what sessions ask for, done over the book (contract section 10).

Critical sections only touch the book. Candidates are read and judged outside them, on the caller's
thread, or in a child process when the schema asks for it; no event loop owns anything here.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

from intent_runtime.bridge import jobs
from intent_runtime.bridge.arguments import (
    OUTCOMES,
    Accept,
    read_accept,
    read_cancel,
    read_prepare,
)
from intent_runtime.bridge.book import Book, Capacity
from intent_runtime.bridge.jobs import Deadline, Job, Step, Submission
from intent_runtime.bridge.replies import BridgeReply, End, ErrorReply, TaskReply, end_reply
from intent_runtime.engine import Engine
from intent_runtime.errors import IntentFailure
from intent_runtime.pipeline import Outcome, Pending, Run
from intent_runtime.schema.native import Report
from intent_runtime.text import exceeds_utf8

_MARK_BYTES: Final = 16
NOT_FOUND: Final = IntentFailure(
    code="BRIDGE_JOB_NOT_FOUND",
    stage="bridge",
    message="No such job in this session: never opened, released, or evicted.",
)
_CONFLICT: Final = IntentFailure(
    code="BRIDGE_STEP_CONFLICT",
    stage="bridge",
    message="The token is not that of the current step, or was used with another candidate.",
)


class Owner:
    """The identity of a session; its jobs are its own."""

    __slots__ = ("closed",)

    def __init__(self) -> None:
        self.closed = False


class Desk:
    """All operations of one bridge; safe to use from any thread and loop."""

    def __init__(
        self, engines: Mapping[str, Engine], capacity: Capacity, clock: Callable[[], float]
    ) -> None:
        self._engines = engines
        self._capacity = capacity
        self._clock = clock
        self._lock = threading.Lock()
        self._book = Book(capacity, clock)
        # Submissions whose job ended under the lock; their validations are cancelled after it.
        self._stopped: list[Submission] = []
        # The thread inside the lock, and what it asked for once more while there: a finaliser or a
        # signal handler may close a session at any allocation.
        self._holder = 0
        self._deferred: deque[Callable[[], None]] = deque()
        self.closed = False

    def is_closed_to(self, owner: Owner) -> bool:
        """Whether everything this owner asks for is answered BRIDGE_JOB_NOT_FOUND."""
        return self.closed or owner.closed

    def close(self) -> None:
        """Forget all jobs; everything later is answered BRIDGE_JOB_NOT_FOUND."""
        if self._put_off(self.close):
            return
        with self._changing() as book:
            self.closed = True
            for job in book.active():
                self._stop(job)
            self._book = Book(self._capacity, self._clock)

    def end_jobs_of(self, engine: Engine) -> None:
        """An Intent was disposed: its active jobs end."""
        if self._put_off(partial(self.end_jobs_of, engine)):
            return
        with self._changing() as book:
            for job in book.active():
                if job.engine is engine:
                    message = "The instance was disposed while the job was active."
                    self._end(job, job.run.failure("INSTANCE_DISPOSED", message))

    def prepare(self, owner: Owner, raw: object) -> BridgeReply:
        """Open a job."""
        if self.is_closed_to(owner):
            return ErrorReply(NOT_FOUND)
        arguments = read_prepare(raw, tuple(self._engines))
        if isinstance(arguments, IntentFailure):
            return ErrorReply(arguments)
        name, request = arguments
        engine = self._engines[name]
        with self._changing() as book:
            refusal = self._refuse_opening(owner, engine, book)
        if refusal is not None:
            return ErrorReply(refusal)
        run = engine.definition.begin(request)
        if isinstance(run, IntentFailure):
            return end_reply(run)
        job = jobs.opened(_new_mark(), owner, engine, run, _new_mark())
        with self._changing() as book:
            # Looked at again: much may have happened while the request was read.
            refusal = self._refuse_opening(owner, engine, book)
            if refusal is None:
                job = jobs.armed(job, book.deadline())
                if not book.add(job):
                    refusal = _excess(
                        "No room for another job within maxReplayEntries and maxReplayBytes."
                    )
        if refusal is not None:
            return ErrorReply(refusal)
        return _task_reply(job.id, run, job.token, job.deadline)

    async def accept(self, owner: Owner, raw: object) -> BridgeReply:
        """Submit a candidate; the same submission is judged once, whoever waits for it."""
        if self.is_closed_to(owner):
            return ErrorReply(NOT_FOUND)
        arguments = read_accept(raw)
        if isinstance(arguments, IntentFailure):
            return ErrorReply(arguments)
        claim = self._claim(owner, arguments)
        if isinstance(claim, Job):
            submission = claim.in_flight
            assert submission is not None
            self._judge(claim, submission, arguments.candidate_text)
            claim = submission
        if isinstance(claim, Submission):
            if not claim.answer.done():
                await _done(claim.answer)
            claim = claim.answer.result()
        if not isinstance(claim, Step):
            return end_reply(claim)
        if isinstance(claim.to, Run):
            return _task_reply(arguments.job_id, claim.to, claim.next_token, claim.deadline)
        return end_reply(claim.to)

    def cancel(self, owner: Owner, raw: object) -> BridgeReply:
        """End a job; a finished one answers its recorded end."""
        if self.is_closed_to(owner):
            return ErrorReply(NOT_FOUND)
        arguments = read_cancel(raw)
        if isinstance(arguments, IntentFailure):
            return ErrorReply(arguments)
        with self._changing() as book:
            job = book.find(arguments.job_id, owner)
            if job is None:
                return ErrorReply(NOT_FOUND)
            end = job.end
            if end is None:
                end = job.run.failure(*OUTCOMES[arguments.outcome])
                self._end(job, end)
        return end_reply(end)

    def release(self, owner: Owner) -> None:
        """Close a session: forget its jobs."""
        if self._put_off(partial(self.release, owner)):
            return
        with self._changing() as book:
            owner.closed = True
            for job in book.release(owner):
                self._stop(job)

    def _claim(self, owner: Owner, arguments: Accept) -> Job | Submission | Step | End:
        """What a submission meets, in the contract's order; a Job is the caller's to judge."""
        with self._changing() as book:
            job = _answering(book.find(arguments.job_id, owner))
        if not isinstance(job, Job):
            return job
        if exceeds_utf8(arguments.candidate_text, job.run.definition.limits.max_output_bytes):
            return job.run.oversized()
        digest = jobs.digest(arguments.candidate_text)
        with self._changing() as book:
            # Looked at again: much may have happened while the text was read.
            job = _answering(book.find(arguments.job_id, owner))
            return self._claimed(book, job, arguments, digest) if isinstance(job, Job) else job

    def _claimed(
        self, book: Book, job: Job, arguments: Accept, digest: bytes
    ) -> Job | Submission | Step | End:
        step = job.step(arguments.step_token)
        if step is not None:
            return step if step.digest == digest else _CONFLICT
        if not job.is_current(arguments.step_token):
            return _CONFLICT
        if job.in_flight is not None:
            return job.in_flight if job.in_flight.digest == digest else _CONFLICT
        claimed = jobs.submitted(job, Submission(arguments.step_token, digest, Future()))
        book.replace(claimed)
        return claimed

    def _judge(self, job: Job, submission: Submission, text: str) -> None:
        """Judge a candidate and settle the submission, now or when its validation is done."""
        try:
            step = job.run.judge(text)
            outcome = job.engine.validate(step) if isinstance(step, Pending) else step
            if not isinstance(outcome, Future):
                self._settle(job, submission, outcome)
                return
            assert isinstance(step, Pending)
            with self._changing() as book:
                submission.validation = outcome
                current = book.current(job.id)
                if current is None or current.in_flight is not submission:
                    self._stopped.append(submission)
            outcome.add_done_callback(partial(self._conclude, job, submission, step))
        except BaseException as error:
            self._give_up(job, submission, error)
            raise

    def _conclude(
        self, job: Job, submission: Submission, pending: Pending, validation: Future[Report]
    ) -> None:
        try:
            self._settle(job, submission, job.engine.conclude(pending, validation))
        except BaseException as error:
            self._give_up(job, submission, error)
            raise

    def _settle(self, job: Job, submission: Submission, outcome: Outcome) -> None:
        """Record the outcome, unless the job ended meanwhile or there is no room for it."""
        token = _new_mark() if isinstance(outcome, Run) else None
        with self._changing() as book:
            current = book.current(job.id)
            if current is None:
                answer = submission.ended or NOT_FOUND
            elif current.in_flight is not submission:
                # Only an end takes a submission away from a job that is still there.
                assert isinstance(current.end, IntentFailure)
                answer = current.end
            else:
                deadline = book.deadline() if isinstance(outcome, Run) else None
                after = jobs.advanced(current, submission, outcome, token, deadline)
                if book.replace(after):
                    answer = after.steps[-1]
                else:
                    book.replace(jobs.refused(current))
                    answer = _excess(
                        "The outcome does not fit maxReplayBytes; the job and its token stand.",
                        current,
                    )
        submission.answer.set_result(answer)

    def _give_up(self, job: Job, submission: Submission, error: BaseException) -> None:
        """Judging broke down: the job is as before, everybody who waits gets the error."""
        with self._changing() as book:
            current = book.current(job.id)
            if current is not None and current.in_flight is submission:
                book.replace(jobs.refused(current))
        if not isinstance(error, Exception):
            # An interrupt is for the thread it came to; others only learn that there is no reply.
            error = RuntimeError("judging the candidate was interrupted")
        with suppress(InvalidStateError):
            submission.answer.set_exception(error)

    @contextmanager
    def _changing(self) -> Generator[Book, None, None]:
        """The lock, with expired jobs ended first and stopped validations cancelled after."""
        with self._lock:
            self._holder = threading.get_ident()
            try:
                for job in self._book.expired():
                    self._end(job, _expired(job))
                yield self._book
            finally:
                stopped, self._stopped = self._stopped, []
                self._holder = 0
        for submission in stopped:
            # Outside the lock: cancelling runs the callback that settles the submission.
            if submission.validation is not None:
                submission.validation.cancel()
        while self._deferred:
            self._deferred.popleft()()

    def _put_off(self, action: Callable[[], None]) -> bool:
        """Leave an action for later when this very thread is inside the lock."""
        if self._holder != threading.get_ident():
            return False
        self._deferred.append(action)
        return True

    def _refuse_opening(self, owner: Owner, engine: Engine, book: Book) -> IntentFailure | None:
        if self.is_closed_to(owner):
            return NOT_FOUND
        if engine.disposed:
            return IntentFailure(
                code="INSTANCE_DISPOSED", stage="input", message="The instance was disposed."
            )
        if book.is_full:
            return _excess(f"More active jobs than maxJobs ({self._capacity.max_jobs}).")
        return None

    def _end(self, job: Job, failure: IntentFailure) -> None:
        if job.in_flight is not None:
            job.in_flight.ended = failure
        self._stop(job)
        self._book.end(jobs.ended(job, failure))

    def _stop(self, job: Job) -> None:
        if job.in_flight is not None:
            self._stopped.append(job.in_flight)


def _answering(job: Job | None) -> Job | End:
    """The job, unless there is none or its end answers every submission."""
    if job is None:
        return NOT_FOUND
    return job.end if job.end is not None and job.stands else job


def _new_mark() -> str:
    return secrets.token_urlsafe(_MARK_BYTES)


def _excess(message: str, job: Job | None = None) -> IntentFailure:
    return IntentFailure(
        code="LIMIT_EXCEEDED",
        stage="bridge",
        message=message,
        partial_result=None if job is None else job.run.partial_result,
    )


def _expired(job: Job) -> IntentFailure:
    return IntentFailure(
        code="BRIDGE_JOB_EXPIRED",
        stage="bridge",
        message="The job was idle for longer than jobTtlMs.",
        partial_result=job.run.partial_result,
    )


def _task_reply(job_id: str, run: Run, token: str | None, deadline: Deadline | None) -> TaskReply:
    assert token is not None
    task = run.task()
    return TaskReply(
        job_id=job_id,
        step_token=token,
        stage=task.stage,
        instructions=task.instructions,
        payload=task.payload,
        expires_at=None if deadline is None else deadline.text,
    )


async def _done(future: Future[Any]) -> None:
    """Wait on the running loop; giving up the wait does not touch the future."""
    import asyncio  # noqa: PLC0415 - only where something has to be waited for

    loop = asyncio.get_running_loop()
    woken = asyncio.Event()

    def wake(_: object) -> None:
        try:
            loop.call_soon_threadsafe(woken.set)
        except RuntimeError:
            # The loop is closed: nobody waits there any more.
            return

    future.add_done_callback(wake)
    await woken.wait()
