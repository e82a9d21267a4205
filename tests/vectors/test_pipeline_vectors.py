"""Every recorded single-job conversation, driven through the pipeline itself."""

import json
import os
from concurrent.futures import Future
from pathlib import Path

import pytest

from intent_runtime import Intent, IntentParseError, IntentResult
from intent_runtime.pipeline import Pending, Run

# The bridge runs the same conversations in the quick round.
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("INTENT_RUNTIME_VECTORS") or HERE)
# Wording is free; identity of jobs and tokens is the bridge's.
NOT_COMPARED = {"message", "jobId", "stepToken", "expiresAt"}


def without_notes(schema):
    if isinstance(schema, dict):
        return {k: without_notes(v) for k, v in schema.items() if k not in {"description", "title"}}
    if isinstance(schema, list):
        return [without_notes(item) for item in schema]
    return schema


def core_schema():
    path = FOLDER / "core-schema.json"
    return without_notes(
        json.loads((path if path.exists() else HERE / path.name).read_text("utf-8"))
    )


CORE_SCHEMA = core_schema()


def needs_a_bridge(vector):
    """Whether a step has no counterpart in the pipeline: names of instances, ids, sessions."""
    for step in vector["steps"]:
        if step["op"] == "prepare":
            request = step["request"]
            name = request.get("instance") if isinstance(request, dict) else None
            if not isinstance(name, str) or name not in vector["instances"]:
                return True
        elif step["op"] != "accept" or not step.keys() >= {"task", "candidateText"}:
            return True
    return False


def read_vectors():
    for path in sorted(FOLDER.glob("*.jsonl")):
        if not path.stem.startswith("bridge"):
            # Not splitlines: a vector may hold other line separators.
            with path.open(encoding="utf-8", newline="\n") as lines:
                yield from (json.loads(line) for line in lines)


ALL_VECTORS = list(read_vectors())
VECTORS = [vector for vector in ALL_VECTORS if not needs_a_bridge(vector)]


def as_text(value):
    """JSON text, so that 1, 1.0 and true are told apart."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, indent=1)


def compared(reply):
    shown = {key: value for key, value in reply.items() if key not in NOT_COMPARED}
    if shown["kind"] == "task":
        payload = shown["payload"]
        shown["payload"] = dict(json.loads(payload) if isinstance(payload, str) else payload)
        if "repair" in shown["payload"]:
            repair = dict(shown["payload"]["repair"])
            repair.pop("diagnostic", None)
            shown["payload"]["repair"] = repair
        shown["format"] = without_notes(shown["format"])
        if shown["format"].get("schema") == CORE_SCHEMA:
            shown["format"]["schema"] = "<core>"
    if shown["kind"] == "error":
        error = {key: value for key, value in shown["error"].items() if key not in NOT_COMPARED}
        shown["error"] = error
    return as_text(shown)


def reply_of(outcome):
    if isinstance(outcome, Run):
        task = outcome.task()
        return {"kind": "task", "stage": task.stage, "payload": task.payload, "format": task.format}
    if isinstance(outcome, IntentResult):
        return {"kind": "result", "result": outcome.to_dict()}
    return {"kind": "error", "error": outcome.to_dict()}


def begun(instances, request):
    members = dict(request)
    intent = instances[members.pop("instance")]
    return intent, intent.engine.definition.begin(members)


def judged(intent, run, text):
    step = run.judge(text)
    if not isinstance(step, Pending):
        return step
    validation = intent.engine.validate(step)
    if isinstance(validation, Future):
        return intent.engine.conclude(step, validation)
    return validation


def play(instances, vector):
    """Each step's index and outcome."""
    played = {}
    for index, step in enumerate(vector["steps"]):
        if step["op"] == "prepare":
            played[index] = begun(instances, step["request"])
        else:
            intent, run = played[step["task"]]
            assert isinstance(run, Run), "the step answers a reply that is no task"
            played[index] = (intent, judged(intent, run, step["candidateText"]))
        yield index, played[index][1]


def configured(configs):
    """The instances, or the error of the first that is refused."""
    instances = {}
    for name, config in configs.items():
        try:
            instances[name] = Intent.from_config(config)
        except IntentParseError as error:
            return instances, error.to_dict()
    return instances, None


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_pipeline_reproduces_the_recorded_conversation(vector):
    expected = vector["expect"]
    instances, refusal = configured(vector["instances"])
    if refusal is not None or "configError" in expected:
        wanted = {"kind": "error", "error": expected["configError"]}
        assert compared({"kind": "error", "error": refusal}) == compared(wanted)
        return
    try:
        for index, outcome in play(instances, vector):
            assert compared(reply_of(outcome)) == compared(expected["replies"][index])
    finally:
        for intent in instances.values():
            intent.dispose()


def test_few_single_job_vectors_are_left_to_the_bridge():
    assert VECTORS
    assert len(ALL_VECTORS) - len(VECTORS) <= len(ALL_VECTORS) // 50
