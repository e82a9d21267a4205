"""`Intent`: one configuration, and parsing with an executor (contract sections 3, 9, 12)."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, cast

from intent_runtime.config import Config, read_config
from intent_runtime.engine import Engine
from intent_runtime.errors import ErrorCode, IntentFailure
from intent_runtime.executors.protocol import ModelExecutor
from intent_runtime.pipeline import Run
from intent_runtime.values import ContextMessage, IntentLimits, IntentResult

if TYPE_CHECKING:
    from intent_runtime.driver import Parse

Context: TypeAlias = "str | Sequence[ContextMessage | Mapping[str, str]]"

_WIRE_LIMIT_NAMES: Final = dict(
    zip(IntentLimits.__struct_fields__, IntentLimits.__struct_encode_fields__, strict=True)
)


class Intent:
    """Parses requests into checked intent (contract sections 3, 9, 12).

    Safe to use from several threads and event loops.
    """

    def __init__(
        self,
        *,
        language: str | None = None,
        schema: Mapping[str, Any] | type | None = None,
        executor: ModelExecutor | None = None,
        timeout_ms: int | None = None,
        repair_attempts: int | None = None,
        limits: IntentLimits | Mapping[str, int] | None = None,
    ) -> None:
        """Check and snapshot the configuration (contract section 3).

        language: BCP 47 tag, `en` when not given. schema: a JSON Schema of the Draft-7 subset.
        executor: who generates; without one only a bridge can use this Intent. timeout_ms: bound of
        a whole parse in milliseconds, 0 (the default) for none. repair_attempts: 0 or 1 (the
        default), for each stage.
        limits: any subset, by Python name. Raises IntentParseError (stage config).
        """
        given = {
            "language": language,
            "schema": schema,
            "executor": executor,
            "timeoutMs": timeout_ms,
            "repairAttempts": repair_attempts,
            "limits": _wire_limits(limits),
        }
        config = {key: value for key, value in given.items() if value is not None}
        self._set_up(read_config(config))

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The same from the wire-named configuration; null is not "not given"."""
        intent = cls.__new__(cls)
        intent._set_up(read_config(config))  # noqa: SLF001 - a constructor of its own class
        return intent

    def _set_up(self, config: Config) -> None:
        self._engine = Engine(config.definition)
        self._executor = config.executor
        self._timeout_ms = config.timeout_ms
        self._lock = threading.RLock()
        self._active: set[Parse] = set()

    @property
    def engine(self) -> Engine:
        """What a bridge drives. Not for applications."""
        return self._engine

    async def parse(
        self,
        input: str,
        *,
        fields: Sequence[str] | None = None,
        context: Context | None = None,
    ) -> IntentResult:
        """What the user wants, and the selected fields (contract sections 2, 6, 12).

        fields: names to extract, None for all, [] for none. context: text or messages that the
        request may rest on. Raises IntentParseError or IntentDataError. Cancelling the awaiting
        task cancels the executor.
        """
        return await self.parse_request(_wire_request(input, fields, context))

    def parse_sync(
        self,
        input: str,
        *,
        fields: Sequence[str] | None = None,
        context: Context | None = None,
    ) -> IntentResult:
        """`parse` for programs without an event loop; RuntimeError inside a running one."""
        from intent_runtime.driver import run_synchronously  # noqa: PLC0415 - asyncio on demand

        return run_synchronously(self.parse(input, fields=fields, context=context))

    async def parse_request(self, request: Mapping[str, Any]) -> IntentResult:
        """`parse` for a request in its wire shape `{input, fields?, context?}`."""
        from intent_runtime.driver import Parse  # noqa: PLC0415 - asyncio on demand

        run = self._begin(request)
        if isinstance(run, IntentFailure):
            raise run.exception()
        assert self._executor is not None
        parse = Parse(self._engine, self._executor, self._timeout_ms)
        refusal = self._admit(parse)
        if refusal is not None:
            raise refusal.exception()
        try:
            outcome = await parse.run(run)
        finally:
            with self._lock:
                self._active.discard(parse)
        if isinstance(outcome, IntentResult):
            return outcome
        raise outcome.exception() from parse.cause

    def dispose(self) -> None:
        """End active parses and bridge jobs with INSTANCE_DISPOSED and refuse later calls."""
        self._engine.dispose()
        with self._lock:
            active = list(self._active)
        for parse in active:
            parse.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.dispose()

    def _begin(self, request: object) -> Run | IntentFailure:
        """The first run, or why there is none: disposed, then the request, then the executor."""
        if self._engine.disposed:
            return _refused("INSTANCE_DISPOSED", "The Intent was disposed.")
        run = self._engine.definition.begin(request)
        if isinstance(run, Run) and self._executor is None:
            return _refused("EXECUTOR_NOT_CONFIGURED", "The Intent has no executor to parse with.")
        return run

    def _admit(self, parse: Parse) -> IntentFailure | None:
        """Count the parse as active, or say why it cannot be."""
        limit = self._engine.definition.limits.max_concurrent_parses
        with self._lock:
            if self._engine.disposed:
                return _refused("INSTANCE_DISPOSED", "The Intent was disposed.")
            if len(self._active) >= limit:
                return _refused(
                    "LIMIT_EXCEEDED", f"More parses at once than maxConcurrentParses ({limit})."
                )
            self._active.add(parse)
        return None


def _wire_request(
    text: str, fields: Sequence[str] | None, context: Context | None
) -> dict[str, object]:
    request: dict[str, object] = {"input": text}
    if fields is not None:
        request["fields"] = fields
    if context is not None:
        request["context"] = context
    return request


def _wire_limits(limits: object) -> object:
    """Limits by Python name in their wire shape; what is no mapping is left for the reader."""
    if not isinstance(limits, Mapping):
        return limits
    named = cast("Mapping[object, object]", limits)
    # A wire name is not a Python name: it is passed on as something no reader knows.
    return {
        _WIRE_LIMIT_NAMES.get(name, f"({name})") if isinstance(name, str) else name: value
        for name, value in named.items()
    }


def _refused(code: ErrorCode, message: str) -> IntentFailure:
    return IntentFailure(code=code, stage="input", message=message)
