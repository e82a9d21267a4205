"""Google Gemini through its official SDK (contract section 9)."""

from __future__ import annotations

from typing import Any, Final

import httpx2
import msgspec
from google import genai
from google.genai import errors, types

from intent_runtime.errors import IntentFailure
from intent_runtime.executors.api.calls import (
    ApiExecutor,
    SdkFailure,
    counted,
    no_reply,
    single_text,
)
from intent_runtime.executors.api.http import duration_seconds, retry_after
from intent_runtime.formats import Stage
from intent_runtime.values import ModelReply, ModelRequest

_REFUSALS: Final = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "ESCALATION",
    }
)
_TOOL_CALLS: Final = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}
)


class _Part(msgspec.Struct, rename="camel"):
    text: str | None = None
    thought: bool = False


class _Content(msgspec.Struct):
    parts: list[_Part] = []


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None


class _Response(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback | None = None
    usage_metadata: Any = None


_RESPONSE = msgspec.json.Decoder(_Response)


class GoogleExecutor(ApiExecutor[genai.Client]):
    """JSON output by JSON Schema for core; a JSON object for data."""

    def connect(self, http_client: Any) -> genai.Client:
        return genai.Client(
            # Said outright, so that no GOOGLE_* variable decides it.
            vertexai=False,
            api_key=self._settings.api_key,
            http_options=types.HttpOptions(
                base_url=self._settings.base_url,
                api_version="v1beta",
                httpx_async_client=http_client,
                # Without one the SDK makes a synchronous client and reads certificates for it.
                httpx_client=httpx2.Client(transport=httpx2.BaseTransport(), trust_env=False),
            ),
        )

    async def send(self, client: genai.Client, request: ModelRequest) -> bytes:
        asked, instructions = self.asked(request)
        config = types.GenerateContentConfig(
            system_instruction=instructions,
            max_output_tokens=self._settings.max_output_tokens,
            should_return_http_response=True,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )
        if asked is not None:
            config.response_json_schema = asked["schema"]
        if asked is not None or self.capabilities.native_json_object:
            config.response_mime_type = "application/json"
        message = types.Content(role="user", parts=[types.Part(text=request.payload)])
        reply = await client.aio.models.generate_content(
            model=self._settings.model, contents=[message], config=config
        )
        http = reply.sdk_http_response
        return ((http.body if http else None) or "").encode("utf-8", "surrogatepass")

    def explain(self, error: Exception) -> SdkFailure:
        if isinstance(error, errors.APIError):
            return SdkFailure(error.code, retry_after=_wait(error))
        return SdkFailure()

    def read(self, body: bytes, stage: Stage) -> ModelReply | IntentFailure:
        try:
            response = _RESPONSE.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return no_reply(stage, "The provider's reply is not a response.")
        usage = counted(
            response.usage_metadata,
            ("promptTokenCount",),
            ("candidatesTokenCount", "thoughtsTokenCount"),
        )
        if response.prompt_feedback is not None and response.prompt_feedback.block_reason:
            return ModelReply.refusal(usage=usage)
        if len(response.candidates) != 1:
            count = len(response.candidates)
            return no_reply(stage, f"The model sent {count} candidates, not one.", usage)
        candidate = response.candidates[0]
        parts = candidate.content.parts if candidate.content else []
        if candidate.finish_reason in _REFUSALS:
            return ModelReply.refusal(usage=usage)
        if candidate.finish_reason in _TOOL_CALLS or any(part.text is None for part in parts):
            return no_reply(stage, "The model called a tool instead of replying.", usage)
        if candidate.finish_reason != "STOP":
            return ModelReply.incomplete(usage=usage)
        return single_text([part.text or "" for part in parts if not part.thought], stage, usage)


def _wait(error: errors.APIError) -> float | None:
    """The waiting time: a header, or the RetryInfo among the error's details."""
    headers: Any = getattr(error.response, "headers", None)
    told = retry_after(headers) if headers is not None else None
    if told is not None:
        return told
    details: Any = error.details
    inner: Any = details.get("error") if isinstance(details, dict) else None
    infos: Any = inner.get("details") if isinstance(inner, dict) else None
    for info in infos if isinstance(infos, list) else []:
        if isinstance(info, dict) and str(info.get("@type")).endswith("google.rpc.RetryInfo"):
            return duration_seconds(info.get("retryDelay"))
    return None
