"""Jobs as plain data, and their transitions (contract section 10).

| from | by | to |
| --- | --- | --- |
| - | `opened` | active, first token |
| active | `submitted` | active, one submission in flight |
| in flight | `refused` | active as before: same token, stage and repair count |
| in flight | `advanced` with a run | active, the step recorded, a new token |
| in flight | `advanced` with an end | ended, the step recorded |
| active, in flight | `ended` (cancel, expiry, disposal) | ended; a submission in flight is void |

A job is immutable; the book holds the current one. What is recorded never changes.
"""

from __future__ import annotations

import hmac
from concurrent.futures import Future
from hashlib import sha256
from typing import Any, Final

import msgspec

from intent_runtime.bridge.replies import End
from intent_runtime.engine import Engine
from intent_runtime.errors import IntentFailure
from intent_runtime.pipeline import Run
from intent_runtime.text import hidden_repr, utf8_length

# An identifier, a token or a digest, as kept.
_MARK_BYTES: Final = 32


def digest(candidate_text: str) -> bytes:
    """What stands for a submitted text: equal for equal texts only."""
    return sha256(candidate_text.encode()).digest()


class Deadline(msgspec.Struct, frozen=True):
    """When an idle job ends: seconds on the book's clock, and the ISO time that replies show."""

    at: float
    text: str


class Step(msgspec.Struct, frozen=True, eq=False):
    """An answered step: which text was submitted with the token, and what it led to."""

    token: str
    digest: bytes
    to: Run | End
    next_token: str | None
    deadline: Deadline | None

    __repr__ = hidden_repr


class Submission(msgspec.Struct, eq=False):
    """A candidate being judged; everybody who submits the same waits for `answer`.

    `validation` is set while a child process works on it, so that an end of the job can stop it;
    `ended` is that end, which stands even when the job's own record had to go.
    """

    token: str
    digest: bytes
    answer: Future[Step | IntentFailure]
    validation: Future[Any] | None = None
    ended: IntentFailure | None = None

    __repr__ = hidden_repr


class Job(msgspec.Struct, frozen=True, eq=False):
    """One job. `token` is the current one, or None once ended.

    `size` is what is kept for it, in UTF-8 bytes.
    """

    id: str
    owner: object
    engine: Engine
    run: Run
    token: str | None
    size: int
    steps: tuple[Step, ...] = ()
    in_flight: Submission | None = None
    end: End | None = None
    deadline: Deadline | None = None

    __repr__ = hidden_repr

    @property
    def is_active(self) -> bool:
        """Whether it has not ended."""
        return self.end is None

    @property
    def stands(self) -> bool:
        """Whether it ended by expiry or disposal, which answers every later submission."""
        return isinstance(self.end, IntentFailure) and self.end.code in (
            "BRIDGE_JOB_EXPIRED",
            "INSTANCE_DISPOSED",
        )

    def is_current(self, token: str) -> bool:
        """Whether `token` is the one of the task at hand."""
        return self.token is not None and _same(self.token, token)

    def step(self, token: str) -> Step | None:
        """The recorded step that used `token`."""
        found = None
        for step in self.steps:
            if _same(step.token, token):
                found = step
        return found


def _same(left: str, right: str) -> bool:
    """Comparison in constant time; a caller's token may hold anything, and be of any length."""
    if len(left) != len(right):
        return False
    return hmac.compare_digest(left.encode(), right.encode("utf-8", "surrogatepass"))


def opened(job_id: str, owner: object, engine: Engine, run: Run, token: str) -> Job:
    """A new job at its first task."""
    return Job(job_id, owner, engine, run, token, size=2 * _MARK_BYTES + _run_bytes(run, None))


def armed(job: Job, deadline: Deadline | None) -> Job:
    """The job with its deadline, where the bridge has a job TTL."""
    return msgspec.structs.replace(job, deadline=deadline) if deadline else job


def submitted(job: Job, submission: Submission) -> Job:
    """The job with a submission in flight."""
    return msgspec.structs.replace(job, in_flight=submission)


def refused(job: Job) -> Job:
    """The job as it was before the submission in flight."""
    return msgspec.structs.replace(job, in_flight=None)


def advanced(
    job: Job,
    submission: Submission,
    to: Run | End,
    next_token: str | None,
    deadline: Deadline | None,
) -> Job:
    """The job after a judged submission: at its next task with a new deadline, or ended."""
    step = Step(submission.token, submission.digest, to, next_token, deadline)
    grown = 2 * _MARK_BYTES
    if isinstance(to, Run):
        grown += _run_bytes(to, job.run)
    else:
        grown += _end_bytes(to)
    return msgspec.structs.replace(
        job,
        run=to if isinstance(to, Run) else job.run,
        token=next_token,
        steps=(*job.steps, step),
        in_flight=None,
        end=None if isinstance(to, Run) else to,
        size=job.size + grown,
        deadline=deadline,
    )


def ended(job: Job, failure: IntentFailure) -> Job:
    """The job ended from outside; a submission in flight no longer counts."""
    return msgspec.structs.replace(
        job,
        token=None,
        in_flight=None,
        end=failure,
        size=job.size + _end_bytes(failure),
    )


def _run_bytes(run: Run, before: Run | None) -> int:
    """What a run keeps beyond the one before it."""
    size = 0
    if before is None:
        request = run.request
        size += utf8_length(request.input) + utf8_length(request.input_json)
        size += sum(utf8_length(source.content) for source in request.context)
        size += utf8_length(request.context_json)
        size += sum(utf8_length(name) for name in request.fields)
    if run.core is not None and (before is None or before.core is None):
        # The result itself and its JSON.
        size += 2 * utf8_length(run.core.json)
    if run.repair_json is not None:
        size += utf8_length(run.repair_json)
    return size


def _end_bytes(end: End) -> int:
    if isinstance(end, IntentFailure):
        # The partial result is the core result, which is counted already.
        return len(msgspec.json.encode((end.code, end.stage, end.message, end.issues)))
    evidence = msgspec.json.encode(end.evidence) if end.evidence else b""
    return len(msgspec.json.encode(end.encodable())) + len(evidence)
