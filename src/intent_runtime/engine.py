"""One Intent's engine: what the API driver and the host driver share.

It owns the definition, the validation pool and the end of its life. `Intent` and the bridge both
drive it and know nothing of each other.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future

from intent_runtime.pipeline import Definition, Outcome, Pending
from intent_runtime.schema.native import Report
from intent_runtime.schema.worker import OverBudgetError, ValidationPool

Listener = Callable[[], None]


class Engine:
    """Safe to use from any thread."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        limits = definition.limits
        self._pool = ValidationPool(limits.max_validation_ms, limits.max_validation_queue_entries)
        # Re-entrant: a finaliser may dispose while the same thread is in here.
        self._lock = threading.RLock()
        self._disposed = False
        self._listeners: dict[object, Listener] = {}

    @property
    def disposed(self) -> bool:
        """Whether `dispose` was called."""
        return self._disposed

    def validate(self, pending: Pending) -> Outcome | Future[Report]:
        """The outcome when validation is bounded, else the future that `conclude` takes."""
        report = self._pool.validate(pending.native, pending.data, pending.checked, pending.shape)
        return report if isinstance(report, Future) else pending.resume(report)

    @staticmethod
    def conclude(pending: Pending, validation: Future[Report]) -> Outcome:
        """The outcome once the validation is done; waits when it is not."""
        try:
            report = validation.result()
        except OverBudgetError as error:
            return pending.give_up(error.limit)
        except CancelledError:
            return pending.give_up("maxValidationMs")
        return pending.resume(report)

    def on_dispose(self, owner: object, listener: Listener) -> bool:
        """Call `listener` once at disposal, from the disposing thread; False when too late."""
        with self._lock:
            if self._disposed:
                return False
            self._listeners[owner] = listener
            return True

    def off_dispose(self, owner: object) -> None:
        """Forget the listener of `owner`."""
        with self._lock:
            self._listeners.pop(owner, None)

    def dispose(self) -> None:
        """End everything that runs on this engine; idempotent."""
        with self._lock:
            if self._disposed:
                return
            self._disposed = True
            listeners = list(self._listeners.values())
            self._listeners.clear()
        with contextlib.ExitStack() as stack:
            stack.callback(self._pool.close)
            for listener in reversed(listeners):
                stack.callback(listener)
