"""Servers that speak OpenAI's Chat Completions (contract section 9).

vLLM, Ollama, llama.cpp, DeepSeek, Qwen, Moonshot and many more. What a server can do is what the
caller declares: nothing is tried and downgraded.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
import openai

from intent_runtime.errors import IntentFailure
from intent_runtime.executors.api import openai_client
from intent_runtime.executors.api.calls import (
    ApiExecutor,
    SdkFailure,
    counted,
    no_reply,
    single_text,
)
from intent_runtime.formats import Stage
from intent_runtime.values import ModelReply, ModelRequest

# DeepSeek's word for a generation it had to break off is the second.
_CUT_OFF: Final = ("length", "insufficient_system_resource")
_TOOL_CALL: Final = ("tool_calls", "function_call")


class _Part(msgspec.Struct):
    type: str
    text: str = ""


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: Any = None


_COMPLETION = msgspec.json.Decoder(_Completion)


class OpenAICompatibleExecutor(ApiExecutor[openai.AsyncOpenAI]):
    """A system and a user message; JSON Schema, a JSON object or plain text, as declared."""

    def connect(self, http_client: Any) -> openai.AsyncOpenAI:
        return openai_client.connect(self._settings, http_client)

    async def send(self, client: openai.AsyncOpenAI, request: ModelRequest) -> bytes:
        asked, instructions = self.asked(request)
        body: dict[str, Any] = {
            "model": self._settings.model,
            "max_tokens": self._settings.max_output_tokens,
            "stream": False,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": request.payload},
            ],
        }
        if asked is not None:
            schema = {"name": asked["name"], "schema": asked["schema"], "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.capabilities.native_json_object:
            body["response_format"] = {"type": "json_object"}
        reply = await client.chat.completions.with_raw_response.create(**body)
        return reply.content

    def explain(self, error: Exception) -> SdkFailure:
        return openai_client.explain(error)

    def read(self, body: bytes, stage: Stage) -> ModelReply | IntentFailure:
        try:
            completion = _COMPLETION.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return no_reply(stage, "The server's reply is not a chat completion.")
        usage = counted(completion.usage, ("prompt_tokens",), ("completion_tokens",))
        if len(completion.choices) != 1:
            count = len(completion.choices)
            return no_reply(stage, f"The server sent {count} choices, not one.", usage)
        message, reason = completion.choices[0].message, completion.choices[0].finish_reason
        if message.refusal or reason == "content_filter":
            return ModelReply.refusal(usage=usage)
        if message.tool_calls or message.function_call or reason in _TOOL_CALL:
            return no_reply(stage, "The model called a tool instead of replying.", usage)
        text = _text(message.content)
        # Servers cut a model's thinking off without saying so: nothing is left for the content.
        if reason in _CUT_OFF or not text.strip():
            return ModelReply.incomplete(usage=usage)
        return single_text([text], stage, usage)


def _text(content: str | list[_Part] | None) -> str:
    """The words of a message; parts of other kinds are the model's thinking."""
    if isinstance(content, list):
        return "".join(part.text for part in content if part.type == "text")
    return content or ""
