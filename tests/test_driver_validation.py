"""Validation in a child process during a parse: work that only a kill can stop."""

import asyncio
import contextlib
import json
import subprocess
import threading

import pytest

from intent_runtime import Intent, IntentParseError, ModelReply, executor_from
from intent_runtime.schema import worker
from intent_runtime.schema.native import NativeSchema
from intent_runtime.schema.weights import Shape

pytestmark = pytest.mark.usefixtures("nothing_is_left_unretrieved")

WAIT = 30
# Exponential in the length of the text; only a child process can be stopped in it.
ENDLESS = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^(?:(?=a)a+)+$"}},
}
ENDLESS_TEXT = "a" * 60 + "c"
PATIENT = {"max_validation_ms": 600_000}


def two_stages(value):
    """An executor whose data candidate gives `value` as the name."""
    core = {
        "normalizedInput": "查询",
        "primaryIntent": None,
        "requirements": [],
        "prohibitions": [],
        "intents": [],
    }
    source = {"sourceId": "input", "quote": value}
    data = {
        "data": {"name": value},
        "evidence": [{"path": "/data/name", "mode": "exact", "sources": [source]}],
        "descriptionChecks": [],
        "fieldResults": [{"path": "/data/name", "status": "extracted", "explanation": "-"}],
        "issues": [],
    }
    texts = {"core": json.dumps(core), "data": json.dumps(data)}

    async def answer(request):
        return ModelReply.complete(texts[request.stage])

    return executor_from(answer)


class Children:
    """The validation children, what was sent to them, and an event that one has begun."""

    def __init__(self, monkeypatch):
        self.started = []
        self.sent = []
        self.busy = threading.Semaphore(0)
        popen, write = subprocess.Popen, worker.write_frame

        def start(*args, **kwargs):
            self.started.append(popen(*args, **kwargs))
            return self.started[-1]

        def send(stream, message):
            self.sent.append(message["data"])
            write(stream, message)
            self.busy.release()

        monkeypatch.setattr(subprocess, "Popen", start)
        monkeypatch.setattr(worker, "write_frame", send)

    def begun(self):
        return self.busy.acquire(timeout=WAIT)

    def all_gone(self):
        return bool(self.started) and all(child.poll() is not None for child in self.started)


@pytest.fixture
def children(monkeypatch):
    return Children(monkeypatch)


def no_own_threads():
    for thread in threading.enumerate():
        # A watch that was called off ends at once, but on its own.
        if isinstance(thread, threading.Timer) and thread.finished.is_set():
            thread.join(WAIT)
    return not [t for t in threading.enumerate() if t.name.startswith("intent-runtime")]


@pytest.mark.parametrize("text", ["编号 000123", "number 000123"])
def test_a_pattern_with_look_ahead_is_validated_in_a_child_that_disposal_ends(children, text):
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "pattern": "^(?=0)[0-9]+$"}},
    }
    with Intent(schema=schema, executor=two_stages("000123")) as intent:
        assert intent.parse_sync(text).data == {"name": "000123"}
        assert intent.parse_sync(text).data == {"name": "000123"}
        assert len(children.started) == 1
    assert children.all_gone()
    assert no_own_threads()


@contextlib.contextmanager
def busy_with_endless_work(limits, timeout_ms=0):
    executor = two_stages(ENDLESS_TEXT)
    with Intent(
        schema=ENDLESS, executor=executor, limits=limits, timeout_ms=timeout_ms, repair_attempts=0
    ) as intent:
        yield intent


async def code_of(parse):
    with pytest.raises(IntentParseError) as caught:
        await asyncio.wait_for(parse, WAIT)
    assert caught.value.stage == "data"
    assert caught.value.partial_result.normalized_input == "查询"
    return caught.value.code


def gone(children):
    return children.started[0].wait(WAIT) is not None and children.all_gone() and no_own_threads()


def test_cancelling_the_parse_kills_its_validation(children):
    async def main(intent):
        parse = asyncio.create_task(intent.parse(ENDLESS_TEXT))
        assert await asyncio.to_thread(children.begun)
        parse.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(parse, WAIT)

    with busy_with_endless_work(PATIENT) as intent:
        asyncio.run(main(intent))
    assert gone(children)


@pytest.mark.slow
def test_the_deadline_kills_the_validation_and_leaves_the_loop_running(children):
    async def main(intent):
        parse = asyncio.create_task(intent.parse(ENDLESS_TEXT))
        assert await asyncio.to_thread(children.begun)
        return await code_of(parse)

    with busy_with_endless_work(PATIENT, timeout_ms=1_000) as intent:
        assert asyncio.run(main(intent)) == "MODEL_TIMEOUT"
    assert gone(children)


def test_the_validation_budget_kills_the_validation(children):
    with busy_with_endless_work({"max_validation_ms": 500}) as intent:
        assert asyncio.run(code_of(intent.parse(ENDLESS_TEXT))) == "LIMIT_EXCEEDED"
    assert gone(children)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same loop", "another thread"])
def test_disposal_kills_the_validation(children, elsewhere):
    async def main(intent):
        parse = asyncio.create_task(intent.parse(ENDLESS_TEXT))
        assert await asyncio.to_thread(children.begun)
        if elsewhere:
            await asyncio.to_thread(intent.dispose)
        else:
            intent.dispose()
        return await code_of(parse)

    with busy_with_endless_work(PATIENT) as intent:
        assert asyncio.run(main(intent)) == "INSTANCE_DISPOSED"
    assert gone(children)


def test_disposal_ends_parses_that_wait_for_a_child(children):
    async def main(intent):
        parses = [asyncio.create_task(intent.parse(ENDLESS_TEXT)) for _ in range(4)]
        assert await asyncio.to_thread(children.begun)
        await asyncio.to_thread(intent.dispose)
        return [await code_of(parse) for parse in parses]

    with busy_with_endless_work(PATIENT) as intent:
        assert asyncio.run(main(intent)) == ["INSTANCE_DISPOSED"] * 4
    assert gone(children)


def test_cancelled_work_in_the_queue_is_never_sent_to_a_child(children):
    schema = NativeSchema(ENDLESS)
    pool = worker.ValidationPool(PATIENT["max_validation_ms"], 32)
    try:
        texts = ["a" * length + "c" for length in (60, 61, 62)]
        work = [pool.validate(schema, {"name": text}, {}, Shape(2, 1, 60)) for text in texts]
        assert children.begun()
        assert children.begun()
        for future in reversed(work):
            future.cancel()
        last = pool.validate(schema, {"name": "b"}, {}, Shape(2, 1, 1))
        assert last.result(WAIT).valid is False
        assert [sent["name"] for sent in children.sent if len(sent["name"]) == 63] == []
    finally:
        pool.close()
    assert children.all_gone()


def test_work_beyond_the_queue_is_refused_at_once(children):
    schema = NativeSchema(ENDLESS)
    pool = worker.ValidationPool(PATIENT["max_validation_ms"], 1)
    try:
        first = pool.validate(schema, {"name": ENDLESS_TEXT}, {}, Shape(2, 1, 61))
        second = pool.validate(schema, {"name": ENDLESS_TEXT}, {}, Shape(2, 1, 61))
        assert isinstance(second.exception(WAIT), worker.OverBudgetError)
        assert not first.done()
    finally:
        pool.close()


def test_a_child_that_was_killed_is_replaced_for_the_next_parse(children):
    with busy_with_endless_work({"max_validation_ms": 300}) as intent:
        assert asyncio.run(code_of(intent.parse(ENDLESS_TEXT))) == "LIMIT_EXCEEDED"
        assert asyncio.run(code_of(intent.parse(ENDLESS_TEXT))) == "LIMIT_EXCEEDED"
        assert len(children.started) == 2
    assert children.all_gone()
