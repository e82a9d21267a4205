"""The book of jobs (contract section 10): records, capacity, expiry, eviction.

Counts are kept up to date with every change, so that no operation costs more when more is retained.
Expiry needs no timer: every change of the book first sweeps what the clock has ended, and since
all deadlines of a kind have the same length, the oldest entry is always the next one due.
Not safe by itself: the bridge holds its lock around every call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import msgspec

from intent_runtime.bridge.jobs import Deadline, Job
from intent_runtime.values import MAX_TIMER_MS


class Capacity(msgspec.Struct, frozen=True, rename="camel"):
    """How much a bridge keeps (contract section 10). TTLs are milliseconds, 0 for none."""

    max_jobs: int
    max_replay_entries: int
    max_replay_bytes: int
    job_ttl_ms: int
    replay_ttl_ms: int

    def problem(self) -> str | None:
        """What is wrong with these numbers, or None."""
        for wire, name in zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True):
            value = getattr(self, name)
            lowest = 0 if name.endswith("_ttl_ms") else 1
            if isinstance(value, bool) or not isinstance(value, int):
                return f"{wire} must be an integer."
            if not lowest <= value <= MAX_TIMER_MS:
                return f"{wire} must be an integer from {lowest} to {MAX_TIMER_MS}."
        return None


class Book:
    """The records of one bridge."""

    def __init__(self, capacity: Capacity, clock: Callable[[], float]) -> None:
        self._capacity = capacity
        self._clock = clock
        self._active: OrderedDict[str, Job] = OrderedDict()
        # Least recently used first.
        self._finished: OrderedDict[str, Job] = OrderedDict()
        # When each finished job goes, oldest first; empty without a replay TTL.
        self._leaving: OrderedDict[str, float] = OrderedDict()
        self._owned: dict[object, set[str]] = {}
        self._active_bytes = 0
        self._finished_bytes = 0

    def __len__(self) -> int:
        return len(self._active) + len(self._finished)

    @property
    def kept_bytes(self) -> int:
        """What maxReplayBytes counts."""
        return self._active_bytes + self._finished_bytes

    @property
    def is_full(self) -> bool:
        """Whether maxJobs are active."""
        return len(self._active) >= self._capacity.max_jobs

    def expired(self) -> list[Job]:
        """Active jobs whose time is up, for the caller to end; drops finished ones whose is."""
        now = self._clock()
        while self._leaving and next(iter(self._leaving.values())) <= now:
            self._drop_finished(next(iter(self._leaving)))
        due: list[Job] = []
        if self._capacity.job_ttl_ms:
            for job in self._active.values():
                if job.deadline is None or job.deadline.at > now:
                    break
                due.append(job)
        return due

    def deadline(self) -> Deadline | None:
        """A deadline from now on, when there is a job TTL."""
        ttl_ms = self._capacity.job_ttl_ms
        if not ttl_ms:
            return None
        when = datetime.now(UTC) + timedelta(milliseconds=ttl_ms)
        text = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return Deadline(self._clock() + ttl_ms / 1000, text)

    def current(self, job_id: str) -> Job | None:
        """The job as it stands, without using it."""
        return self._active.get(job_id) or self._finished.get(job_id)

    def find(self, job_id: str, owner: object) -> Job | None:
        """The owner's job; finding a finished one uses it."""
        job = self.current(job_id)
        if job is None or job.owner is not owner:
            return None
        if not job.is_active:
            self._finished.move_to_end(job_id)
        return job

    def active(self) -> list[Job]:
        """All active jobs."""
        return list(self._active.values())

    def add(self, job: Job) -> bool:
        """Keep a new active job, or False when no room can be made for it."""
        if not self._make_room(entries=1, size=job.size):
            return False
        self._active[job.id] = job
        self._active_bytes += job.size
        self._owned.setdefault(job.owner, set()).add(job.id)
        return True

    def replace(self, job: Job) -> bool:
        """Keep the next state of an active job, or False (nothing changed) when it has no room.

        A state with a new deadline goes to the end of the line.
        """
        before = self._active[job.id]
        if job.size > before.size and not self._make_room(entries=0, size=job.size - before.size):
            return False
        if job.is_active:
            self._active[job.id] = job
            self._active_bytes += job.size - before.size
            # Each is its own, also when two of one millisecond are equal.
            if job.deadline is not before.deadline:
                self._active.move_to_end(job.id)
        else:
            self._finish(before, job)
        return True

    def end(self, job: Job) -> None:
        """Keep an end that always stands: finished records go first, at last its own."""
        self._finish(self._active[job.id], job)
        while self._finished and self.kept_bytes > self._capacity.max_replay_bytes:
            self._drop_finished(next(iter(self._finished)))

    def release(self, owner: object) -> list[Job]:
        """Forget all jobs of an owner; returns those that were active."""
        released: list[Job] = []
        for job_id in self._owned.pop(owner, ()):
            job = self._active.pop(job_id, None)
            if job is None:
                self._forget_finished(job_id)
            else:
                self._active_bytes -= job.size
                released.append(job)
        return released

    def _finish(self, before: Job, job: Job) -> None:
        del self._active[job.id]
        self._active_bytes -= before.size
        self._finished[job.id] = job
        self._finished_bytes += job.size
        if self._capacity.replay_ttl_ms:
            self._leaving[job.id] = self._clock() + self._capacity.replay_ttl_ms / 1000

    def _make_room(self, *, entries: int, size: int) -> bool:
        """Evict finished records, least recently used first, if that is enough."""
        capacity = self._capacity
        if len(self._active) + entries > capacity.max_replay_entries:
            return False
        if self._active_bytes + size > capacity.max_replay_bytes:
            return False
        while (
            len(self) + entries > capacity.max_replay_entries
            or self.kept_bytes + size > capacity.max_replay_bytes
        ):
            self._drop_finished(next(iter(self._finished)))
        return True

    def _drop_finished(self, job_id: str) -> None:
        job = self._forget_finished(job_id)
        owned = self._owned[job.owner]
        owned.discard(job_id)
        if not owned:
            del self._owned[job.owner]

    def _forget_finished(self, job_id: str) -> Job:
        job = self._finished.pop(job_id)
        self._finished_bytes -= job.size
        self._leaving.pop(job_id, None)
        return job
