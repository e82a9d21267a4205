"""Anthropic through its official SDK: the Messages API (contract section 9)."""

from __future__ import annotations

from typing import Any, Final

import anthropic
import msgspec

from intent_runtime.errors import IntentFailure
from intent_runtime.executors.api.calls import (
    ApiExecutor,
    SdkFailure,
    counted,
    no_reply,
    single_text,
)
from intent_runtime.executors.api.http import retry_after
from intent_runtime.formats import Stage
from intent_runtime.values import ModelReply, ModelRequest

_COMPLETE: Final = ("end_turn", "stop_sequence")
_INPUT_TOKENS: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class _Block(msgspec.Struct):
    type: str
    text: str = ""


class _Message(msgspec.Struct):
    content: list[_Block]
    stop_reason: str | None = None
    usage: Any = None


_MESSAGE = msgspec.json.Decoder(_Message)


class AnthropicExecutor(ApiExecutor[anthropic.AsyncAnthropic]):
    """Structured output by JSON Schema for core; plain text for data, which has no JSON mode."""

    def connect(self, http_client: Any) -> anthropic.AsyncAnthropic:
        client = anthropic.AsyncAnthropic(
            api_key=self._settings.api_key,
            base_url=self._settings.base_url,
            max_retries=0,
            timeout=None,
            # An option that is given is complete: the environment adds nothing to it.
            open_telemetry={},
            http_client=http_client,
        )
        # The SDK fills them from ANTHROPIC_CUSTOM_HEADERS whatever it is given.
        client._custom_headers = {}  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no public way
        return client

    async def send(self, client: anthropic.AsyncAnthropic, request: ModelRequest) -> bytes:
        asked, instructions = self.asked(request)
        body: dict[str, Any] = {
            "model": self._settings.model,
            "max_tokens": self._settings.max_output_tokens,
            "stream": False,
            "system": instructions,
            "messages": [{"role": "user", "content": request.payload}],
        }
        if asked is not None:
            output = {"type": "json_schema", "schema": asked["schema"]}
            body["output_config"] = {"format": output}
        reply = await client.messages.with_raw_response.create(**body)
        return await reply.read()

    def explain(self, error: Exception) -> SdkFailure:
        if isinstance(error, anthropic.APIStatusError):
            return SdkFailure(error.status_code, retry_after=retry_after(error.response.headers))
        return SdkFailure(timed_out=isinstance(error, anthropic.APITimeoutError))

    def read(self, body: bytes, stage: Stage) -> ModelReply | IntentFailure:
        try:
            message = _MESSAGE.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return no_reply(stage, "The provider's reply is not a message.")
        usage = counted(message.usage, _INPUT_TOKENS, ("output_tokens",))
        kinds = {block.type for block in message.content}
        if message.stop_reason == "refusal":
            return ModelReply.refusal(usage=usage)
        if message.stop_reason == "tool_use" or kinds - {"text", "thinking", "redacted_thinking"}:
            return no_reply(stage, "The model called a tool instead of replying.", usage)
        if message.stop_reason not in _COMPLETE:
            return ModelReply.incomplete(usage=usage)
        texts = [block.text for block in message.content if block.type == "text"]
        return single_text(texts, stage, usage)
