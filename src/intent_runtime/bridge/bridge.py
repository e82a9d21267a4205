"""The bridge: jobs for hosts whose own model generates (contract section 10)."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, Self, cast

from intent_runtime.bridge.book import Capacity
from intent_runtime.bridge.desk import NOT_FOUND, Desk
from intent_runtime.bridge.session import BridgeSession, Closing
from intent_runtime.engine import Engine
from intent_runtime.errors import IntentParseError
from intent_runtime.text import has_lone_surrogate, name_list

_CAPACITY_NAMES: Final = dict(
    zip(Capacity.__struct_encode_fields__, Capacity.__struct_fields__, strict=True)
)


class Drivable(Protocol):
    """What a bridge needs of an `Intent`."""

    @property
    def engine(self) -> Engine:
        """The engine it shares."""
        ...


class IntentBridge(Closing):
    """Jobs of all sessions over one set of Intents (contract section 10).

    Safe to use from any thread and event loop. Capacities are shared by all sessions and instances.
    Closing releases every job and leaves the Intents alone.
    """

    # Seconds; TTLs are measured on it.
    _clock = staticmethod(time.monotonic)

    def __init__(
        self,
        instances: Mapping[str, Drivable],
        *,
        max_jobs: int = 32,
        max_replay_entries: int = 128,
        max_replay_bytes: int = 8_388_608,
        job_ttl_ms: int = 0,
        replay_ttl_ms: int = 0,
    ) -> None:
        """See `create_intent_bridge`."""
        capacity = Capacity(
            max_jobs, max_replay_entries, max_replay_bytes, job_ttl_ms, replay_ttl_ms
        )
        problem = capacity.problem()
        if problem is not None:
            raise _config_error(problem)
        self._engines = _engines(instances)
        self._desk = Desk(self._engines, capacity, self._clock)
        # Not the desk itself: a bridge that nobody holds must not live on in its Intents.
        self._listener = object()
        ended = weakref.WeakMethod(self._desk.end_jobs_of)
        for engine in set(self._engines.values()):
            engine.on_dispose(self._listener, _weak_call(ended, engine))
            weakref.finalize(self._desk, engine.off_dispose, self._listener).atexit = False

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The same from the wire-named configuration, instances included."""
        if not isinstance(config, Mapping):
            raise _config_error("The bridge configuration must be an object.")
        for key in config:
            if key != "instances" and key not in _CAPACITY_NAMES:
                known = name_list(("instances", *_CAPACITY_NAMES))
                raise _config_error(f"Unknown bridge option; known are {known}.")
        chosen = {name: config[key] for key, name in _CAPACITY_NAMES.items() if key in config}
        return cls(config.get("instances", {}), **chosen)

    @property
    def instance_names(self) -> tuple[str, ...]:
        """The names that `prepare` takes."""
        return tuple(self._engines)

    def connect(self) -> BridgeSession:
        """A session with job ownership of its own; IntentParseError when closed."""
        if self._desk.closed:
            raise NOT_FOUND.exception()
        return BridgeSession(self._desk)

    def close(self) -> None:
        """Release all jobs of all sessions; idempotent."""
        self._desk.close()
        for engine in set(self._engines.values()):
            engine.off_dispose(self._listener)


def create_intent_bridge(
    *,
    instances: Mapping[str, Drivable],
    max_jobs: int = 32,
    max_replay_entries: int = 128,
    max_replay_bytes: int = 8_388_608,
    job_ttl_ms: int = 0,
    replay_ttl_ms: int = 0,
) -> IntentBridge:
    """A bridge over named Intents, which stay the caller's (contract section 10).

    max_jobs: active jobs. max_replay_entries: jobs kept, active and finished. max_replay_bytes:
    UTF-8 bytes kept for them. job_ttl_ms, replay_ttl_ms (deprecated): milliseconds until an idle
    job ends and a finished record goes, 0 for never. Raises IntentParseError CONFIG_INVALID.
    """
    return IntentBridge(
        instances,
        max_jobs=max_jobs,
        max_replay_entries=max_replay_entries,
        max_replay_bytes=max_replay_bytes,
        job_ttl_ms=job_ttl_ms,
        replay_ttl_ms=replay_ttl_ms,
    )


def _engines(instances: object) -> dict[str, Engine]:
    if not isinstance(instances, Mapping) or not instances:
        raise _config_error("instances must map at least one name to an Intent.")
    engines: dict[str, Engine] = {}
    for name, intent in cast("Mapping[object, object]", instances).items():
        engine = getattr(intent, "engine", None)
        if not isinstance(name, str) or has_lone_surrogate(name):
            raise _config_error("instances must have strings as names.")
        if not isinstance(engine, Engine):
            raise _config_error(f"instances: {name_list([name])} is not an Intent.")
        engines[name] = engine
    return engines


def _config_error(message: str) -> IntentParseError:
    return IntentParseError("CONFIG_INVALID", message, stage="config")


def _weak_call(
    method: weakref.WeakMethod[Callable[[Engine], None]], engine: Engine
) -> Callable[[], None]:
    """A listener that does not keep a forgotten bridge alive."""

    def call() -> None:
        target = method()
        if target is not None:
            target(engine)

    return call
