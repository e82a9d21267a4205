"""How each provider words its replies, and what it must be asked."""

import json

from intent_runtime import ModelRequest
from intent_runtime.executors import RulesExecutor, create_api_executor
from support.provider_server import Reply

KEY = "sk-test-4f1c9e7ab2"
MODEL = "model-1"
USAGE = (11, 7)


class Responses:
    """OpenAI's and xAI's Responses API."""

    def __init__(self, name):
        self.name = name
        self.options = {}
        self.path = "/v1"
        self.target = "/v1/responses"

    def _reply(self, *items, **changes):
        usage = {"input_tokens": USAGE[0], "output_tokens": USAGE[1], "total_tokens": sum(USAGE)}
        return {"id": "r", "object": "response", "status": "completed", "output": list(items), "usage": usage} | changes  # fmt: skip

    def _message(self, part, **changes):
        return {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]} | changes  # fmt: skip

    def _text(self, text, **changes):
        return self._message({"type": "output_text", "text": text, "annotations": []}, **changes)

    def success(self, text):
        return self._reply({"id": "t", "type": "reasoning", "summary": []}, self._text(text))

    def refusal(self, words):
        return self._reply(self._message({"type": "refusal", "refusal": words}))

    def truncation(self, text):
        cut = self._text(text, status="incomplete")
        return self._reply(cut, status="incomplete", incomplete_details={"reason": "max_output_tokens"})  # fmt: skip

    def tool_call(self):
        return self._reply({"type": "function_call", "id": "f", "call_id": "c", "name": "n", "arguments": "{}"})  # fmt: skip

    def two_messages(self, text):
        return self._reply(self._text(text), self._text(text))


class Chat:
    """Chat Completions."""

    name = "openai-compatible"
    options = {"native_json_schema": True, "native_json_object": True}  # noqa: RUF012
    path = "/v1"
    target = "/v1/chat/completions"

    def _choice(self, reason="stop", **message):
        message = {
            "role": "assistant",
            "content": None,
            "reasoning_content": "Let me see.",
        } | message
        return {"index": 0, "message": message, "finish_reason": reason}

    def _reply(self, *choices):
        usage = {
            "prompt_tokens": USAGE[0],
            "completion_tokens": USAGE[1],
            "total_tokens": sum(USAGE),
        }
        return {"id": "c", "object": "chat.completion", "choices": list(choices), "usage": usage}

    def success(self, text):
        return self._reply(self._choice(content=text))

    def refusal(self, words):
        return self._reply(self._choice(refusal=words))

    def truncation(self, text):
        return self._reply(self._choice("length", content=text))

    def tool_call(self):
        call = {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}
        return self._reply(self._choice("tool_calls", tool_calls=[call]))

    def two_messages(self, text):
        return self._reply(self._choice(content=text), self._choice(content=text))


class Anthropic:
    """The Messages API."""

    name = "anthropic"
    options = {}  # noqa: RUF012
    path = ""
    target = "/v1/messages"

    def _reply(self, *blocks, reason="end_turn"):
        usage = {"input_tokens": USAGE[0] - 2, "cache_read_input_tokens": 2, "output_tokens": USAGE[1]}  # fmt: skip
        return {"id": "m", "type": "message", "role": "assistant", "model": MODEL, "content": list(blocks), "stop_reason": reason, "usage": usage}  # fmt: skip

    def success(self, text):
        thinking = {"type": "thinking", "thinking": "Let me see.", "signature": "s"}
        return self._reply(thinking, {"type": "text", "text": text})

    def refusal(self, words):
        return self._reply({"type": "text", "text": words}, reason="refusal")

    def truncation(self, text):
        return self._reply({"type": "text", "text": text}, reason="max_tokens")

    def tool_call(self):
        return self._reply({"type": "tool_use", "id": "t", "name": "n", "input": {}}, reason="tool_use")  # fmt: skip

    two_messages = None  # one message a reply, by its shape


class Google:
    """Gemini's generateContent."""

    name = "google"
    options = {}  # noqa: RUF012
    path = ""
    target = f"/v1beta/models/{MODEL}:generateContent"

    def _candidate(self, *parts, reason="STOP"):
        return {
            "content": {"role": "model", "parts": list(parts)},
            "finishReason": reason,
            "index": 0,
        }

    def _reply(self, *candidates):
        usage = {"promptTokenCount": USAGE[0], "candidatesTokenCount": USAGE[1] - 3, "thoughtsTokenCount": 3}  # fmt: skip
        return {"candidates": list(candidates), "usageMetadata": usage, "modelVersion": MODEL}

    def success(self, text):
        thought = {"text": "Let me see.", "thought": True}
        return self._reply(self._candidate(thought, {"text": text}))

    def refusal(self, words):
        return self._reply(self._candidate({"text": words}, reason="SAFETY"))

    def truncation(self, text):
        return self._reply(self._candidate({"text": text}, reason="MAX_TOKENS"))

    def tool_call(self):
        return self._reply(self._candidate({"functionCall": {"name": "n", "args": {}}}))

    def two_messages(self, text):
        return self._reply(self._candidate({"text": text}), self._candidate({"text": text}))


WIRES = [Responses("openai"), Responses("xai"), Chat(), Anthropic(), Google()]


def executor_for(wire, server, **options):
    """The provider's executor, talking to the loopback server."""
    settings = {"provider": wire.name, "api_key": KEY, "model": MODEL, **wire.options, **options}
    return create_api_executor(base_url=server.url + wire.path, **settings)


def words(body):
    """The instructions and the payload of a request, wherever its wire has them."""
    if "contents" in body:
        (part,) = body["contents"][0]["parts"]
        return body["systemInstruction"]["parts"][0]["text"], part["text"]
    messages = body.get("messages") or body["input"]
    contents = [message["content"] for message in messages]
    told = body.get("instructions") or body.get("system")
    return (told, *contents) if told else tuple(contents)


def rules_behind(request):
    """A provider whose model is RulesExecutor."""
    instructions, payload = words(request.body)
    stage = "data" if "checkedDefault" in json.loads(payload) else "core"
    candidate = RulesExecutor().candidate(ModelRequest(stage, instructions, payload))
    # The end of a target tells the protocol; before it may stand any model's name.
    wire = next(wire for wire in WIRES if request.target.endswith(wire.target[-9:]))
    return Reply(wire.success(candidate))
