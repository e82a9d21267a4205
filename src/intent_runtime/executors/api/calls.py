"""One call of a model API, whoever the provider is (contract section 9)."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import httpx2
import msgspec

from intent_runtime.errors import ErrorCode, IntentFailure, IntentParseError
from intent_runtime.executors.api.http import LoopClients
from intent_runtime.executors.api.quiet import quiet_call
from intent_runtime.executors.api.settings import ApiSettings
from intent_runtime.formats import Stage
from intent_runtime.values import (
    IntentUsage,
    ModelReply,
    ModelRequest,
    TokenUsage,
)

ClientT = TypeVar("ClientT")

_STATUS_CODES: dict[int, tuple[ErrorCode, str]] = {
    401: ("MODEL_AUTH_FAILED", "The provider refused the key"),
    403: ("MODEL_AUTH_FAILED", "The provider refused access"),
    429: ("MODEL_RATE_LIMITED", "The provider limits the rate"),
}


class SdkFailure(msgspec.Struct, frozen=True):
    """What an exception of an SDK tells: an HTTP status, a time-out, or neither."""

    status: int | None = None
    timed_out: bool = False
    retry_after: float | None = None


class ApiExecutor(ABC, Generic[ClientT]):
    """An executor over one provider's SDK; safe to use from several threads and event loops.

    A subclass says how to connect, what to send, how to read the reply and what the SDK's
    exceptions mean. Everything else is the same for all.
    """

    def __init__(self, settings: ApiSettings, http_client: Any = None) -> None:
        self.id = f"{settings.provider}:{settings.model}"
        self.capabilities = settings.capabilities
        self._settings = settings
        self._own_client = None if http_client is None else self.connect(http_client)
        self._clients = LoopClients(self.connect)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    async def generate(self, request: ModelRequest) -> ModelReply:
        """The reply to one task; raises IntentParseError by the table of contract section 9."""
        self.check(request)
        try:
            with quiet_call():
                async with asyncio.timeout(self._settings.timeout_ms / 1000 or None):
                    body = await self.send(await self._client(), request)
        except TimeoutError as error:
            raise self._failed("MODEL_TIMEOUT", "No reply within timeout_ms.", request) from error
        except Exception as error:
            raise self._explained(error, request) from error
        answer = self.read(body, request.stage)
        if isinstance(answer, IntentFailure):
            raise answer.exception()
        return answer

    async def _client(self) -> ClientT:
        return self._own_client or await self._clients.current()

    def check(self, request: ModelRequest) -> None:
        """Refuse what the model cannot do, before any network."""

    def asked(self, request: ModelRequest) -> tuple[dict[str, Any] | None, str]:
        """The format with a schema to ask for natively, or None, and the instructions beside it.

        A model that takes no schema beside the instructions gets it in them.
        """
        asked = request.format
        if asked["kind"] != "json_schema":
            return None, request.instructions
        if self.capabilities.native_json_schema:
            return asked, request.instructions
        schema = msgspec.json.encode(asked["schema"]).decode()
        return None, (
            f"{request.instructions}\n# Output schema\n\n"
            f"The JSON object must be valid under this JSON Schema:\n\n{schema}\n"
        )

    @abstractmethod
    def connect(self, http_client: Any) -> ClientT:
        """The SDK's client over this HTTP client.

        It has no retries, no time-outs (the executor has one deadline) and nothing from the
        environment.
        """

    @abstractmethod
    async def send(self, client: ClientT, request: ModelRequest) -> bytes:
        """The body of the provider's reply."""

    @abstractmethod
    def read(self, body: bytes, stage: Stage) -> ModelReply | IntentFailure:
        """What the body says."""

    @abstractmethod
    def explain(self, error: Exception) -> SdkFailure:
        """What an exception of the SDK says."""

    def _explained(self, error: Exception, request: ModelRequest) -> IntentParseError:
        told = self.explain(error)
        if told.timed_out or isinstance(error, httpx2.TimeoutException):
            return self._failed("MODEL_TIMEOUT", "The provider did not reply in time.", request)
        if told.status is None:
            reason = f"The request did not get through ({type(error).__name__})."
            return self._failed("MODEL_REQUEST_FAILED", reason, request)
        code, reason = _STATUS_CODES.get(
            told.status, ("MODEL_REQUEST_FAILED", "The provider answered with an error")
        )
        wait = told.retry_after if code == "MODEL_RATE_LIMITED" else None
        return self._failed(code, f"{reason} (HTTP {told.status}).", request, wait)

    def _failed(
        self, code: ErrorCode, reason: str, request: ModelRequest, wait: float | None = None
    ) -> IntentParseError:
        return IntentParseError(
            code, f"{self._settings.provider}: {reason}", stage=request.stage, retry_after=wait
        )


def no_reply(stage: Stage, reason: str, usage: TokenUsage | None = None) -> IntentFailure:
    """A reply that is none: it is not repaired, but what it cost is told."""
    return IntentFailure(
        code="MODEL_OUTPUT_INVALID", stage=stage, message=reason, usage=stage_usage(stage, usage)
    )


def stage_usage(stage: Stage, usage: TokenUsage | None) -> IntentUsage | None:
    """The usage of one call in the stage it was made for."""
    if usage is None:
        return None
    return IntentUsage(core=usage) if stage == "core" else IntentUsage(data=usage)


def single_text(
    texts: list[str], stage: Stage, usage: TokenUsage | None
) -> ModelReply | IntentFailure:
    """The complete reply of one message's texts."""
    text = "".join(texts)
    if not text.strip():
        return no_reply(stage, "The provider's reply holds no text.", usage)
    return ModelReply.complete(text, usage=usage)


def counted(
    raw: object, input_names: tuple[str, ...], output_names: tuple[str, ...]
) -> TokenUsage | None:
    """The token counts of a provider's usage object; what it does not count is 0."""
    if not isinstance(raw, dict):
        return None

    def tokens(names: tuple[str, ...]) -> int:
        counts = [raw.get(name) for name in names]
        return sum(c for c in counts if isinstance(c, int) and not isinstance(c, bool) and c > 0)

    return TokenUsage(tokens(input_names), tokens(output_names))
