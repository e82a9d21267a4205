"""Every recorded conversation, driven through `session.call`, agrees (see README.md here)."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from intent_runtime import Intent, IntentParseError
from intent_runtime.bridge import BridgeReply, IntentBridge
from support.bridging import Clock

FOLDER = Path(os.environ.get("INTENT_RUNTIME_VECTORS", Path(__file__).parent))
CORE_SCHEMA = json.loads((Path(__file__).parent / "core-schema.json").read_text("utf-8"))
VECTORS = [
    json.loads(line)
    for file in sorted(FOLDER.glob("*.jsonl"))
    for line in file.read_text("utf-8").splitlines()
]


def undescribed(schema):
    if isinstance(schema, dict):
        return {k: undescribed(v) for k, v in schema.items() if k not in {"title", "description"}}
    return [undescribed(item) for item in schema] if isinstance(schema, list) else schema


def exact(value):
    """JSON text with sorted keys: tells 1 from 1.0."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


class Conversation:
    """One vector's bridge, its sessions, and the names of what it has seen."""

    def __init__(self, vector):
        self.clock = Clock()
        self.intents = {
            name: Intent.from_config(config) for name, config in vector["instances"].items()
        }
        clocked = type("ClockedBridge", (IntentBridge,), {"_clock": staticmethod(self.clock)})
        self.bridge = clocked.from_config({"instances": self.intents, **vector["bridge"]})
        self.sessions = {}
        self.replies = []
        self.jobs = []
        self.tokens = []

    def close(self):
        self.bridge.close()
        for intent in self.intents.values():
            intent.dispose()

    async def step(self, step):
        """The reply to one step in its wire shape, or None where there is none."""
        reply = None
        match step["op"]:
            case "prepare":
                reply = await self.session(step).call("intent_prepare", step["request"])
            case "accept" | "cancel" as tool:
                arguments = self.arguments(step, tool)
                reply = await self.session(step).call(f"intent_{tool}", arguments)
            case "close":
                self.session(step).close()
            case "dispose":
                self.intents[step["instance"]].dispose()
            case "sleep":
                self.clock.now += step["ms"] / 1000
            case other:
                pytest.fail(f"unknown step {other}")
        wire = None if reply is None else reply.to_dict()
        if reply is not None:
            assert json.loads(reply.to_json()) == wire
            assert BridgeReply.from_dict(wire).to_dict() == wire
        self.replies.append(wire)
        return wire

    def session(self, step):
        if step["session"] not in self.sessions:
            self.sessions[step["session"]] = self.bridge.connect()
        return self.sessions[step["session"]]

    def arguments(self, step, tool):
        if "request" in step:
            return self.resolved(step["request"])
        keys = {
            "accept": ("jobId", "stepToken", "candidateText"),
            "cancel": ("jobId", "outcome", "detail"),
        }
        arguments = {key: step[key] for key in keys[tool] if key in step}
        if "task" in step:
            task = self.replies[step["task"]]
            arguments.setdefault("jobId", task["jobId"])
            if tool == "accept":
                arguments.setdefault("stepToken", task["stepToken"])
        return arguments

    def resolved(self, value):
        if isinstance(value, dict):
            return {key: self.resolved(item) for key, item in value.items()}
        match = re.fullmatch("(job|tok)#([0-9]+)", value) if isinstance(value, str) else None
        if match is None:
            return value
        return (self.jobs if match[1] == "job" else self.tokens)[int(match[2])]

    def compared(self, wire):
        """A reply as vectors record it."""
        wire = json.loads(json.dumps(wire))
        if wire["kind"] == "error":
            assert isinstance(wire["error"].pop("message"), str)
        if wire["kind"] == "task":
            assert wire.pop("instructions")
            wire["jobId"] = name(self.jobs, wire["jobId"], "job")
            wire["stepToken"] = name(self.tokens, wire["stepToken"], "tok")
            wire["payload"] = json.loads(wire["payload"])
            wire["payload"].get("repair", {}).pop("diagnostic", None)
            wire["format"] = undescribed(wire["format"])
            if wire["format"].get("schema") == CORE_SCHEMA:
                wire["format"]["schema"] = "<core>"
            if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", wire.get("expiresAt", "")):
                wire["expiresAt"] = "<time>"
        return wire


def name(seen, value, prefix):
    if value not in seen:
        seen.append(value)
    return f"{prefix}#{seen.index(value)}"


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_a_recorded_conversation_is_reproduced(vector):
    expected = vector["expect"]
    try:
        conversation = Conversation(vector)
    except IntentParseError as error:
        wire = error.to_dict()
        assert wire.pop("message")
        assert wire == expected.get("configError")
        return
    assert "configError" not in expected

    async def drive():
        for step, wanted in zip(vector["steps"], expected["replies"], strict=True):
            wire = await conversation.step(step)
            if wire is not None:
                assert exact(conversation.compared(wire)) == exact(wanted)

    try:
        asyncio.run(drive())
    finally:
        conversation.close()
