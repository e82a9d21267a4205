"""OpenAI and xAI through the Responses API (contract section 9)."""

from __future__ import annotations

from typing import Any

import msgspec
import openai

from intent_runtime.errors import IntentFailure, IntentParseError
from intent_runtime.executors.api import openai_client
from intent_runtime.executors.api.calls import (
    ApiExecutor,
    SdkFailure,
    counted,
    no_reply,
    single_text,
    stage_usage,
)
from intent_runtime.formats import Stage
from intent_runtime.values import ModelReply, ModelRequest


class _Part(msgspec.Struct):
    type: str
    text: str = ""
    refusal: str = ""


class _Item(msgspec.Struct):
    type: str
    status: str | None = None
    content: Any = None


class _Error(msgspec.Struct):
    code: str | None = None


class _Response(msgspec.Struct):
    output: list[_Item]
    status: str = "completed"
    error: _Error | None = None
    usage: Any = None


_RESPONSE = msgspec.json.Decoder(_Response)


class OpenAIExecutor(ApiExecutor[openai.AsyncOpenAI]):
    """OpenAI: `instructions` and one user message; strict JSON Schema, or a JSON object."""

    def check(self, request: ModelRequest) -> None:
        """A core task asks for strict JSON Schema."""
        if request.format["kind"] == "json_schema" and not self.capabilities.native_json_schema:
            raise IntentParseError(
                "HOST_CAPABILITY_UNSUPPORTED",
                "The core stage asks for JSON Schema; the model was declared without it.",
                stage=request.stage,
            )

    def connect(self, http_client: Any) -> openai.AsyncOpenAI:
        return openai_client.connect(self._settings, http_client)

    async def send(self, client: openai.AsyncOpenAI, request: ModelRequest) -> bytes:
        body: dict[str, Any] = {
            "model": self._settings.model,
            "max_output_tokens": self._settings.max_output_tokens,
            "store": False,
            "stream": False,
            **self._messages(request),
            **self._text(request),
        }
        reply = await client.responses.with_raw_response.create(**body)
        return reply.content

    def _messages(self, request: ModelRequest) -> dict[str, Any]:
        return {
            "instructions": request.instructions,
            "input": [{"role": "user", "content": request.payload}],
        }

    def _text(self, request: ModelRequest) -> dict[str, Any]:
        """The output format, where one is asked for."""
        asked = request.format
        if asked["kind"] == "json_schema":
            schema = {"name": asked["name"], "schema": asked["schema"], "strict": True}
            return {"text": {"format": {"type": "json_schema", **schema}}}
        if self.capabilities.native_json_object:
            return {"text": {"format": {"type": "json_object"}}}
        return {}

    def explain(self, error: Exception) -> SdkFailure:
        return openai_client.explain(error)

    def read(self, body: bytes, stage: Stage) -> ModelReply | IntentFailure:
        try:
            response = _RESPONSE.decode(body)
            messages = [item for item in response.output if item.type == "message"]
            parts = [
                part
                for message in messages
                for part in msgspec.convert(message.content, list[_Part])
            ]
        except (msgspec.DecodeError, UnicodeDecodeError):
            return no_reply(stage, "The provider's reply is not a response.")
        usage = counted(response.usage, ("input_tokens",), ("output_tokens",))
        if any(part.refusal or part.type == "refusal" for part in parts):
            return ModelReply.refusal(usage=usage)
        if response.status == "failed":
            return _failed(response, stage, usage)
        if response.status != "completed" or any(
            message.status not in (None, "completed") for message in messages
        ):
            return ModelReply.incomplete(usage=usage)
        if any(item.type not in ("message", "reasoning") for item in response.output):
            return no_reply(stage, "The model called a tool instead of replying.", usage)
        if len(messages) != 1:
            return no_reply(stage, f"The model sent {len(messages)} messages, not one.", usage)
        return single_text([part.text for part in parts], stage, usage)


class XAIExecutor(OpenAIExecutor):
    """xAI: a system and a user message; strict JSON Schema, or plain text."""

    def _messages(self, request: ModelRequest) -> dict[str, Any]:
        return {
            "input": [
                {"role": "system", "content": request.instructions},
                {"role": "user", "content": request.payload},
            ]
        }


def _failed(response: _Response, stage: Stage, usage: Any) -> IntentFailure:
    """A response that the provider gave up."""
    limited = response.error is not None and response.error.code == "rate_limit_exceeded"
    return IntentFailure(
        code="MODEL_RATE_LIMITED" if limited else "MODEL_REQUEST_FAILED",
        stage=stage,
        message="The provider could not complete the response.",
        usage=stage_usage(stage, usage),
    )
