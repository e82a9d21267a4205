"""What an executor is (contract section 9)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from intent_runtime.values import ExecutorCapabilities, ModelReply, ModelRequest


class ModelExecutor(Protocol):
    """Turns one task into one reply (contract section 9).

    It never runs tools, adds context, retries by itself or logs secrets. Abort is cancellation: it
    stops when its coroutine is cancelled; one that does not is abandoned, not waited for.
    It may raise `IntentParseError` with a `MODEL_*` code; TimeoutError counts as MODEL_TIMEOUT and
    any other exception as MODEL_REQUEST_FAILED.
    """

    @property
    def id(self) -> str:
        """A name for people."""
        ...

    @property
    def capabilities(self) -> ExecutorCapabilities:
        """What it can do; `supports_abort` is required."""
        ...

    async def generate(self, request: ModelRequest) -> ModelReply:
        """The reply to one task."""
        ...


class FunctionExecutor:
    """An executor made of a plain async function (contract section 9)."""

    def __init__(
        self,
        function: Callable[[ModelRequest], Awaitable[ModelReply]],
        identifier: str,
        capabilities: ExecutorCapabilities,
    ) -> None:
        self.id = identifier
        self.capabilities = capabilities
        self._function = function

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Call the function."""
        return await self._function(request)


def executor_from(
    function: Callable[[ModelRequest], Awaitable[ModelReply]],
    *,
    id: str | None = None,  # noqa: A002 - the name of the attribute it sets
    capabilities: ExecutorCapabilities | None = None,
) -> FunctionExecutor:
    """An executor made of an async function of the task (contract section 9)."""
    name = id or getattr(function, "__name__", "function")
    return FunctionExecutor(function, name, capabilities or ExecutorCapabilities())
