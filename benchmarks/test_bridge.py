"""What a bridge cycle costs, beside its floor measured in the same run.

The floor is what any implementation has to do: decode both candidates, validate the data, encode
three replies of the same size. Cycles run in steady state: the book is full and evicts.
"""

import json

import jsonschema_rs
import msgspec
import pytest

from intent_runtime import Intent
from intent_runtime.bridge import create_intent_bridge

INPUT = "Look up order 000123."
SCHEMA = {
    "type": "object",
    "properties": {"orderId": {"type": "string", "description": "Order number, kept verbatim."}},
    "required": ["orderId"],
    "additionalProperties": False,
}
WIDE = 256
WIDE_SCHEMA = {
    "type": "object",
    "properties": {f"p{n}": {"type": "string", "description": "d"} for n in range(WIDE)},
}
PLAIN_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in WIDE_SCHEMA["properties"]},
}
WIDE_INPUT = " ".join(f"v{n}" for n in range(WIDE))


def core(requirements=()):
    blockers = {
        "clarificationReason": None,
        "questions": [],
        "confirmationReason": None,
        "conditionReason": None,
    }
    intent = {"action": "query", "target": "order 000123", "requirements": [], "blockers": blockers}
    return json.dumps(
        {
            "normalizedInput": INPUT,
            "primaryIntent": "Look up order 000123",
            "requirements": list(requirements),
            "prohibitions": [],
            "intents": [intent],
        }
    )


def data(values, *, described=True):
    def source(value):
        return [{"sourceId": "input", "quote": value}]

    return json.dumps(
        {
            "data": values,
            "evidence": [
                {"path": f"/data/{name}", "mode": "exact", "sources": source(value)}
                for name, value in values.items()
            ],
            "descriptionChecks": [
                {
                    "path": f"/data/{name}",
                    "verdict": "satisfied",
                    "explanation": "stated",
                    "sources": source(value),
                }
                for name, value in values.items()
                if described
            ],
            "fieldResults": [
                {"path": f"/data/{name}", "status": "extracted", "explanation": "stated"}
                for name in values
            ],
            "issues": [],
        }
    )


CORE = core()
DATA = data({"orderId": "000123"})
WIDE_DATA = data({f"p{n}": f"v{n}" for n in range(WIDE)})
PLAIN_DATA = data({f"p{n}": f"v{n}" for n in range(WIDE)}, described=False)
BIG_CORE = core(f"a requirement of middling length, number {n}" for n in range(4_800))


def finish(coroutine):
    """Run what never has to wait: bounded schemas are judged on the caller's thread."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("the call had to wait")


def cycle(session, name, text, candidates, fields=None):
    reply = session.prepare(instance=name, input=text, fields=fields)
    replies = [reply]
    for candidate in candidates:
        reply = finish(
            session.accept(
                job_id=reply.job_id, step_token=reply.step_token, candidate_text=candidate
            )
        )
        replies.append(reply)
    assert reply.kind == "result"
    return replies


SCHEMAS = {"narrow": SCHEMA, "plain": PLAIN_SCHEMA, "wide": WIDE_SCHEMA}
CASES = {
    "one field": ("narrow", INPUT, [CORE, DATA], None),
    "core only": ("narrow", INPUT, [CORE], []),
    "256 fields": ("plain", WIDE_INPUT, [CORE, PLAIN_DATA], None),
    "256 described fields": ("wide", WIDE_INPUT, [CORE, WIDE_DATA], None),
    "core of 250 KB": ("narrow", INPUT, [BIG_CORE], []),
}


@pytest.fixture
def intents():
    made = {name: Intent(schema=schema) for name, schema in SCHEMAS.items()}
    yield made
    for intent in made.values():
        intent.dispose()


@pytest.mark.parametrize("case", CASES)
def test_cycle(benchmark, intents, case):
    name, text, candidates, fields = CASES[case]
    with create_intent_bridge(instances=intents) as bridge, bridge.connect() as session:
        for _ in range(140):
            cycle(session, name, text, candidates, fields)
        benchmark(cycle, session, name, text, candidates, fields)


@pytest.mark.parametrize("case", CASES)
def test_floor(benchmark, intents, case):
    name, text, candidates, fields = CASES[case]
    validator = jsonschema_rs.Draft7Validator(SCHEMAS[name])
    with create_intent_bridge(instances=intents) as bridge, bridge.connect() as session:
        replies = [reply.to_dict() for reply in cycle(session, name, text, candidates, fields)]

    def floor():
        decoded = [msgspec.json.decode(candidate) for candidate in candidates]
        if "data" in decoded[-1]:
            validator.is_valid(decoded[-1]["data"])
        for reply in replies:
            msgspec.json.encode(reply)

    benchmark(floor)


@pytest.mark.parametrize("retained", [2, 5_000])
def test_cycle_with_retained_jobs(benchmark, intents, retained):
    bridge = create_intent_bridge(
        instances=intents, max_replay_entries=retained, max_replay_bytes=2**30
    )
    with bridge, bridge.connect() as session:
        for _ in range(retained + 100):
            cycle(session, "narrow", INPUT, [CORE, DATA])
        benchmark(cycle, session, "narrow", INPUT, [CORE, DATA])
