"""What the engine costs without a model: reading, checking, constructing."""

import json
from concurrent.futures import Future

import pytest

from intent_runtime import DEFAULT_LIMITS, Intent, IntentResult
from intent_runtime.candidate.strict_json import read_candidate
from intent_runtime.pipeline import Pending, Run

CORE = json.dumps(
    {
        "normalizedInput": "查询订单 000123 但不要修改它",
        "primaryIntent": "查询订单",
        "requirements": ["今天之内"],
        "prohibitions": ["不要修改它"],
        "intents": [
            {
                "action": "query",
                "target": f"订单 {number:06}",
                "requirements": ["只看状态"],
                "blockers": {
                    "clarificationReason": None,
                    "questions": [],
                    "confirmationReason": None,
                    "conditionReason": None,
                },
            }
            for number in range(3)
        ],
    },
    ensure_ascii=False,
)


def candidate_of(size):
    """A data candidate as models write them, of about `size` bytes."""
    entry = {
        "path": "/data/items/0/name",
        "mode": "exact",
        "sources": [{"sourceId": "input", "quote": "quoted words of the request, 原文"}],
    }
    count = max(1, size // (len(json.dumps(entry, ensure_ascii=False).encode()) + 2))
    return json.dumps({"data": {}, "evidence": [entry] * count}, ensure_ascii=False)


@pytest.mark.parametrize("size", [1_000, 250_000], ids=["1 KB", "250 KB"])
def test_strict_reader(benchmark, size):
    text = candidate_of(size)
    assert 0.8 * size < len(text.encode()) < 1.1 * size
    assert isinstance(benchmark(read_candidate, text, DEFAULT_LIMITS), dict)


def schema_of(count):
    member = {"type": "string", "maxLength": 40, "description": "A value that the user stated."}
    names = [f"field{number}" for number in range(count)]
    return {"type": "object", "properties": dict.fromkeys(names, member), "required": names}


def data_candidate(count):
    names = [f"field{number}" for number in range(count)]
    sources = {name: [{"sourceId": "input", "quote": f"value-{name}"}] for name in names}
    paths = {name: f"/data/{name}" for name in names}
    note = "Stated in the request."
    return json.dumps(
        {
            "data": {name: f"value-{name}" for name in names},
            "evidence": [
                {"path": paths[name], "mode": "exact", "sources": sources[name]} for name in names
            ],
            "descriptionChecks": [
                {
                    "path": paths[name],
                    "verdict": "satisfied",
                    "explanation": note,
                    "sources": sources[name],
                }
                for name in names
            ],
            "fieldResults": [
                {"path": paths[name], "status": "extracted", "explanation": note} for name in names
            ],
            "issues": [],
        }
    )


def test_core_check(benchmark):
    with Intent() as intent:
        run = intent.engine.definition.begin({"input": "查询订单 000123 但不要修改它"})
        assert isinstance(run, Run)
        assert isinstance(benchmark(run.judge, CORE), IntentResult)


def judged(engine, run, text):
    step = run.judge(text)
    assert isinstance(step, Pending)
    outcome = engine.validate(step)
    return engine.conclude(step, outcome) if isinstance(outcome, Future) else outcome


@pytest.mark.parametrize("count", [1, 30, 256])
def test_data_check_with_native_validation(benchmark, count):
    text = data_candidate(count)
    with Intent(schema=schema_of(count)) as intent:
        words = " ".join(json.loads(text)["data"].values())
        run = intent.engine.definition.begin({"input": words}).judge(CORE)
        assert isinstance(run, Run)
        assert isinstance(benchmark(judged, intent.engine, run, text), IntentResult)


@pytest.mark.parametrize("count", [0, 30, 256])
def test_construction(benchmark, count):
    config = {"schema": schema_of(count)} if count else {}
    benchmark(lambda: Intent(**config).dispose())
