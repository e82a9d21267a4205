"""Candidates, a clock that tests move, and helpers for driving sessions."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager

from intent_runtime import Intent
from intent_runtime.bridge import BridgeSession, IntentBridge, TaskReply

INPUT = "Look up order 000123."
ORDER_SCHEMA = {
    "type": "object",
    "properties": {"orderId": {"type": "string", "description": "Order number, kept verbatim."}},
    "required": ["orderId"],
    "additionalProperties": False,
}
# A pattern with look-ahead runs in a child process; on EVIL_VALUE it does not end in time.
SLOW_SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string", "pattern": "^(?:(?=a)a+)+$"}},
}
EVIL_VALUE = "a" * 80 + "!"


def core(**changes):
    """A good core candidate as text."""
    candidate = {
        "normalizedInput": INPUT,
        "primaryIntent": "Look up order 000123",
        "requirements": [],
        "prohibitions": [],
        "intents": [
            {
                "action": "query",
                "target": "order 000123",
                "requirements": [],
                "blockers": {
                    "clarificationReason": None,
                    "questions": [],
                    "confirmationReason": None,
                    "conditionReason": None,
                },
            }
        ],
    }
    return json.dumps({**candidate, **changes})


def data(name="orderId", value="000123", *, checked=True, issues=()):
    """A good data candidate for one field, as text."""
    path = f"/data/{name}"
    source = [{"sourceId": "input", "quote": value}]
    check = {"path": path, "verdict": "satisfied", "explanation": "stated", "sources": source}
    return json.dumps(
        {
            "data": {name: value},
            "evidence": [{"path": path, "mode": "exact", "sources": source}],
            "descriptionChecks": [check] if checked else [],
            "fieldResults": [{"path": path, "status": "extracted", "explanation": "stated"}],
            "issues": list(issues),
        }
    )


CORE = core()
DATA = data()
BAD = "{bad"


class Clock:
    """Seconds that only move when a test says so."""

    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@contextmanager
def bridge_of(*, clock=None, configs=None, **options) -> Iterator[IntentBridge]:
    """A bridge over fresh Intents: `t` without a schema, `o` with the order schema."""
    intents = {
        name: Intent.from_config(config)
        for name, config in (configs or {"t": {}, "o": {"schema": ORDER_SCHEMA}}).items()
    }
    kind = IntentBridge
    if clock is not None:
        kind = type("ClockedBridge", (IntentBridge,), {"_clock": staticmethod(clock)})
    bridge = kind(intents, **options)
    bridge.intents = intents
    try:
        yield bridge
    finally:
        bridge.close()
        for intent in intents.values():
            intent.dispose()


def submit(session: BridgeSession, task: TaskReply, text: str):
    """One submission, from code without an event loop."""
    return asyncio.run(submission(session, task, text))


async def submission(session: BridgeSession, task: TaskReply, text: str):
    return await session.accept(job_id=task.job_id, step_token=task.step_token, candidate_text=text)


def prepare(session: BridgeSession, instance="t", text=INPUT, **options) -> TaskReply:
    reply = session.prepare(instance=instance, input=text, **options)
    assert isinstance(reply, TaskReply), reply.to_dict()
    return reply


def code_of(reply):
    """`task`, `result`, or the error's code."""
    return reply.error.code if reply.kind == "error" else reply.kind
