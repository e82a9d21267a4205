"""Validation with a hard time bound: children that can be killed (contract section 3).

Bounded work runs in place. The rest goes to a child process through a small pool that belongs to
one Intent: at most two children, started when needed, retired when idle, killed at the deadline
that was set when the work was queued. Plain threads and pipes, so that it serves any thread and
any event loop, on every platform.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from intent_runtime.pointer import Location
from intent_runtime.schema.child import SchemaShelf, read_frame, write_frame
from intent_runtime.schema.native import Mismatch, NativeSchema, Report
from intent_runtime.schema.weights import Shape

if TYPE_CHECKING:
    import subprocess

MAX_CHILDREN: Final = 2
IDLE_SECONDS: Final = 10.0
# Isolated and without site-packages processing; it gets the parent's import path instead.
_BOOT: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; from intent_runtime.schema.child import main; main()"
)


class OverBudgetError(Exception):
    """A validation did not end within its limits; `limit` is the one it ran into."""

    def __init__(self, limit: str = "maxValidationMs") -> None:
        super().__init__(limit)
        self.limit = limit


class _Job:
    """One validation in the queue or at a child.

    Its future stays pending until it is settled, so that it can be cancelled at any time.
    """

    __slots__ = ("checked", "data", "deadline", "future", "schema")

    def __init__(
        self, schema: NativeSchema, data: Any, checked: list[str], deadline: float
    ) -> None:
        self.schema = schema
        self.data = data
        self.checked = checked
        self.deadline = deadline
        self.future: Future[Report] = Future()

    def settle(self, outcome: Report | BaseException) -> None:
        """End the future, unless it was cancelled meanwhile."""
        with contextlib.suppress(InvalidStateError):
            if isinstance(outcome, BaseException):
                self.future.set_exception(outcome)
            else:
                self.future.set_result(outcome)


class ValidationPool:
    """Validations of one Intent; `max_ms` bounds queueing, start-up and work of each."""

    def __init__(self, max_ms: int, max_entries: int) -> None:
        self._max_seconds = max_ms / 1000
        self._max_entries = max_entries
        self._set_up()

    def _set_up(self) -> None:
        self._process = os.getpid()
        self._wake = threading.Condition()
        # All below belongs to the condition's lock.
        self._queue: deque[_Job] = deque()
        self._running = 0
        self._serving = 0
        self._threads: dict[threading.Thread, _Child] = {}
        self._closed = False

    def validate(
        self, schema: NativeSchema, data: Any, checked: dict[str, Location], shape: Shape
    ) -> Report | Future[Report]:
        """The report: at once when the work is bounded, else as a future.

        `checked` are the nodes of `data` with a description check: their pointers into it and
        where those lead.

        The future ends with `OverBudgetError` when the time runs out; cancelling it kills the work.
        """
        if schema.runs_in_place(shape):
            if schema.is_valid(data):
                return Report(True, (), *schema.missing_checks(data, set(checked.values())))
            if schema.lists_in_place(shape):
                return schema.report(data, set(checked.values()))
        job = _Job(schema, data, list(checked), time.monotonic() + self._max_seconds)
        self._submit(job)
        job.future.add_done_callback(lambda _: self._drop(job))
        return job.future

    def close(self) -> None:
        """Kill the children and end the threads; waiting work is cancelled. Idempotent."""
        with self._wake:
            self._closed = True
            waiting = list(self._queue)
            self._queue.clear()
            threads = dict(self._threads)
            self._wake.notify_all()
        for job in waiting:
            job.future.cancel()
        for child in threads.values():
            child.shut()
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout=5)

    def _submit(self, job: _Job) -> None:
        if os.getpid() != self._process:
            # After a fork the threads are gone and the lock may be held by one of them.
            closed = self._closed
            self._set_up()
            self._closed = closed
        with self._wake:
            if self._closed:
                job.future.cancel()
            elif self._running + len(self._queue) >= self._max_entries:
                job.settle(OverBudgetError("maxValidationQueueEntries"))
            else:
                self._queue.append(job)
                if self._running + len(self._queue) > self._serving < MAX_CHILDREN:
                    self._start_thread()
                if self._serving:
                    self._wake.notify()
                else:
                    self._queue.remove(job)
                    job.settle(OverBudgetError())

    def _drop(self, job: _Job) -> None:
        """A job that was cancelled while it waited takes no place in the queue any more."""
        with self._wake, contextlib.suppress(ValueError):
            self._queue.remove(job)

    def _start_thread(self) -> None:
        child = _Child()
        thread = threading.Thread(
            target=self._serve, args=(child,), name="intent-runtime-validation", daemon=True
        )
        with contextlib.suppress(RuntimeError):
            # The system may have no more threads to give; those that serve go on.
            thread.start()
            self._threads[thread] = child
            self._serving += 1

    def _serve(self, child: _Child) -> None:
        while (job := self._next_job()) is not None:
            try:
                child.run(job)
            finally:
                with self._wake:
                    self._running -= 1
        child.close()
        with self._wake:
            self._threads.pop(threading.current_thread(), None)

    def _next_job(self) -> _Job | None:
        """The next job, counted as running, or None when this thread should end."""
        with self._wake:
            if not self._queue and not self._closed:
                self._wake.wait_for(lambda: self._queue or self._closed, IDLE_SECONDS)
            if not self._queue:
                self._serving -= 1
                return None
            self._running += 1
            return self._queue.popleft()


class _Child:
    """One child process at a time, started on demand, and the watch over its deadline.

    It belongs to one serving thread, which alone uses the pipes; `kill` and `shut` may come from
    anywhere.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._piped: subprocess.Popen[bytes] | None = None
        self._shelf = SchemaShelf()
        self._current: _Job | None = None
        self._shut = False

    def run(self, job: _Job) -> None:
        """Settle the job's future, whatever happens."""
        remaining = job.deadline - time.monotonic()
        if job.future.done() or remaining <= 0:
            job.settle(OverBudgetError())
            return
        self._current = job
        # Killing the child ends the blocking read: no polling, and the same on every platform.
        watch = threading.Timer(remaining, self._expire, (job,))
        watch.daemon = True
        try:
            watch.start()
            job.future.add_done_callback(lambda _: self._expire(job))
            self._ask(job, remaining)
        except Exception:  # noqa: BLE001 - whatever fails here, the job must not wait for ever
            self.close()
            job.settle(OverBudgetError())
        finally:
            with self._lock:
                self._current = None
            watch.cancel()

    def shut(self) -> None:
        """End the process and never start another; from any thread."""
        with self._lock:
            self._shut = True
            self._kill()

    def close(self) -> None:
        """End the process and let go of its pipes; for the serving thread."""
        self.kill()
        self._close_pipes()

    def kill(self) -> None:
        """End the process at once; the next job starts another."""
        with self._lock:
            self._kill()

    def _expire(self, job: _Job) -> None:
        """Kill the process if it is still at this job."""
        with self._lock:
            if self._current is job:
                self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        self._shelf = SchemaShelf()
        if process is not None:
            process.kill()
            process.wait()

    def _ask(self, job: _Job, seconds: float) -> None:
        process = self._started(job)
        request = {
            "key": id(job.schema),
            "data": job.data,
            "checked": job.checked,
            "seconds": seconds,
        }
        if not self._shelf.knows(id(job.schema)):
            request["schema"] = job.schema.schema
            self._shelf.put(id(job.schema), job.schema)
        assert process.stdin is not None
        assert process.stdout is not None
        write_frame(process.stdin, request)
        verdict = read_frame(process.stdout)
        report = Report(verdict["valid"], (), tuple(verdict["undescribed"]), verdict["count"])
        try:
            listing = read_frame(process.stdout)
        except (OSError, EOFError, ValueError):
            # The verdict came in time, the listing did not: it stands without one.
            self.close()
        else:
            mismatches = tuple(Mismatch(*entry) for entry in listing["mismatches"])
            report = report._replace(mismatches=mismatches, exhausted=listing["exhausted"])
        with self._lock:
            # From here on an expiry must not kill a child that has done its work.
            self._current = None
        job.settle(report)

    def _close_pipes(self) -> None:
        process, self._piped = self._piped, None
        if process is not None:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError):
                # What was not sent yet cannot be flushed to a dead child.
                process.stdin.close()
            process.stdout.close()

    def _started(self, job: _Job) -> subprocess.Popen[bytes]:
        import subprocess  # noqa: PLC0415 - only where a child is needed

        with self._lock:
            if self._shut or job.future.done() or time.monotonic() >= job.deadline:
                raise EOFError
            if self._process is None:
                self._close_pipes()
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                    [sys.executable, "-I", "-S", "-c", _BOOT, *_import_path()],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
                self._piped = self._process
            return self._process


def _import_path() -> list[str]:
    own = str(Path(__file__).parents[2])
    return [own, *(entry for entry in sys.path if entry and entry != own)]
