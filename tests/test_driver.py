"""One parse and its executor: outcomes, deadlines, cancellation, disposal (contract 9 and 12)."""

import asyncio
import gc
import itertools
import json
import threading

import pytest

from intent_runtime import (
    ExecutorCapabilities,
    Intent,
    IntentParseError,
    ModelReply,
    executor_from,
)
from intent_runtime import driver as driver_module
from support.candidates import data_candidate

pytestmark = pytest.mark.usefixtures("nothing_is_left_unretrieved")

SECRET = "sk-live-秘密"  # noqa: S105 - must never be shown
WAIT = 30
SCHEMA = {"type": "object", "properties": {"orderId": {"type": "string"}}, "required": ["orderId"]}


def core_text(**changes):
    core = {
        "normalizedInput": "查询订单 000123",
        "primaryIntent": "查询订单",
        "requirements": [],
        "prohibitions": [],
        "intents": [],
    }
    return json.dumps(core | changes, ensure_ascii=False)


class Script:
    """Plays its replies in turn: text, an exception, an async function of the task, or anything.

    Unlike ScriptedExecutor it passes on what is no reply.
    """

    id = "script"
    capabilities = ExecutorCapabilities()

    def __init__(self, *replies):
        self.replies = list(replies)
        self.tasks = []

    async def generate(self, request):
        self.tasks.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        if callable(reply):
            reply = await reply(request)
        return ModelReply.complete(reply) if isinstance(reply, str) else reply


class Hanging:
    """Never answers; tells when it has begun and how it ended."""

    def __init__(self, *, deaf=False):
        self.deaf = deaf
        self.begun = threading.Event()
        self.begun_here = asyncio.Event()
        self.let_go = asyncio.Event()
        self.ended = asyncio.Event()
        self.cancelled = False

    async def __call__(self, request):
        self.begun.set()
        self.begun_here.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            if not self.deaf:
                raise
            await self.let_go.wait()
            raise ValueError(SECRET) from None
        finally:
            self.ended.set()


def failure(script, text="查询订单 000123", **config):
    """The error that a parse in its own loop ends with."""
    with Intent(executor=script, **config) as intent, pytest.raises(IntentParseError) as caught:
        asyncio.run(intent.parse(text))
    return caught.value


async def ends_with(parse, code):
    with pytest.raises(IntentParseError) as caught:
        await asyncio.wait_for(parse, WAIT)
    assert caught.value.code == code
    return caught.value


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (RuntimeError(SECRET), "MODEL_REQUEST_FAILED"),
        (OSError(SECRET), "MODEL_REQUEST_FAILED"),
        (TimeoutError(SECRET), "MODEL_TIMEOUT"),
        (asyncio.CancelledError(SECRET), "MODEL_ABORTED"),
        (IntentParseError("MODEL_AUTH_FAILED", "No access."), "MODEL_AUTH_FAILED"),
        (IntentParseError("MODEL_RATE_LIMITED", "Slow down."), "MODEL_RATE_LIMITED"),
        (IntentParseError("MODEL_REQUEST_FAILED", "Down."), "MODEL_REQUEST_FAILED"),
        (IntentParseError("MODEL_TIMEOUT", "Late."), "MODEL_TIMEOUT"),
        (IntentParseError("MODEL_ABORTED", "Stopped."), "MODEL_ABORTED"),
        (IntentParseError("MODEL_REFUSED", "No."), "MODEL_REFUSED"),
        (IntentParseError("MODEL_OUTPUT_INCOMPLETE", "Cut."), "MODEL_OUTPUT_INCOMPLETE"),
        (IntentParseError("MODEL_OUTPUT_INVALID", "Empty."), "MODEL_OUTPUT_INVALID"),
        (
            IntentParseError("HOST_CAPABILITY_UNSUPPORTED", "No strict schema."),
            "HOST_CAPABILITY_UNSUPPORTED",
        ),
        (IntentParseError("BRIDGE_JOB_NOT_FOUND", SECRET, stage="bridge"), "MODEL_REQUEST_FAILED"),
        (IntentParseError("INPUT_INVALID", SECRET, stage="input"), "MODEL_REQUEST_FAILED"),
        (ModelReply.refusal(SECRET), "MODEL_REFUSED"),
        (ModelReply.incomplete(SECRET), "MODEL_OUTPUT_INCOMPLETE"),
        (ModelReply.complete(""), "MODEL_OUTPUT_INVALID"),
        (ModelReply("complete"), "MODEL_OUTPUT_INVALID"),
        (ModelReply("complete", text=b"{}"), "MODEL_OUTPUT_INVALID"),
        (ModelReply("done", text="{}"), "MODEL_OUTPUT_INVALID"),
        (ModelReply.complete('{"a": "\ud800"}'), "MODEL_OUTPUT_INVALID"),
        (None, "MODEL_OUTPUT_INVALID"),
        ({"outcome": "complete", "text": "{}"}, "MODEL_OUTPUT_INVALID"),
        ([ModelReply.complete("{}")], "MODEL_OUTPUT_INVALID"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("stage", ["core", "data"])
def test_what_an_executor_does_wrong_has_its_code_and_is_never_repaired(reply, code, stage):
    replies = [reply] if stage == "core" else [core_text(), reply]
    script = Script(*replies)
    error = failure(script, schema=SCHEMA)
    assert (error.code, error.stage, error.issues) == (code, stage, ())
    assert len(script.tasks) == len(replies)
    partial = error.partial_result
    if stage == "core":
        assert partial is None
        assert "partialResult" not in error.to_dict()
    else:
        assert partial.normalized_input == "查询订单 000123"
        assert error.to_dict()["partialResult"]["data"] == {}
    shown = [error.message, str(error), repr(error), error.to_json()]
    assert SECRET not in "".join(shown)
    if isinstance(reply, Exception):
        assert error.__cause__ is reply


@pytest.mark.parametrize("stage", ["core", "data"])
def test_a_rate_limit_keeps_its_retry_after(stage):
    limited = IntentParseError("MODEL_RATE_LIMITED", "Slow down.", retry_after=7.5)
    error = failure(Script(*[core_text()] * (stage == "data"), limited), schema=SCHEMA)
    assert (error.retry_after, error.stage, error.message) == (7.5, stage, "Slow down.")


def test_a_function_that_is_not_async_is_a_failed_request():
    error = failure(executor_from(lambda request: ModelReply.complete(core_text())))
    assert error.code == "MODEL_REQUEST_FAILED"


@pytest.mark.parametrize("attempts", [0, 1])
@pytest.mark.parametrize("stage", ["core", "data"])
def test_repairs_are_bounded_for_each_stage(attempts, stage):
    good = [core_text()] if stage == "data" else []
    script = Script(*good, *["```json"] * 5)
    error = failure(script, schema=SCHEMA, repair_attempts=attempts)
    assert (error.code, error.stage) == ("MODEL_OUTPUT_INVALID", stage)
    assert len(script.tasks) == len(good) + 1 + attempts
    assert (error.partial_result is None) == (stage == "core")


def test_each_stage_has_its_own_repair_and_shows_the_whole_last_candidate():
    script = Script("{", core_text(), data_candidate("999"), data_candidate())
    with Intent(schema=SCHEMA, executor=script) as intent:
        result = intent.parse_sync("查询订单 000123")
    assert result.data == {"orderId": "000123"}
    assert [task.stage for task in script.tasks] == ["core", "core", "data", "data"]
    repairs = [json.loads(task.payload).get("repair") for task in script.tasks]
    assert [repair and repair["candidate"] for repair in repairs] == [
        None,
        "{",
        None,
        data_candidate("999"),
    ]
    assert script.tasks[1].instructions != script.tasks[0].instructions


def test_the_format_is_fresh_and_may_be_mangled():
    async def mangle(request):
        request.format["schema"].clear()
        request.format.clear()
        return core_text()

    script = Script(mangle, core_text())
    with Intent(executor=script) as intent:
        intent.parse_sync("first")
        intent.parse_sync("second")
    first, second = (task.format for task in script.tasks)
    assert first == second
    assert first is not script.tasks[0].format
    assert first["schema"]["required"]


def test_cancelling_the_parse_cancels_the_executor_and_propagates():
    async def main():
        hanging = Hanging()
        with Intent(executor=Script(hanging)) as intent:
            parse = asyncio.create_task(intent.parse("查询"))
            await hanging.begun_here.wait()
            parse.cancel("enough")
            with pytest.raises(asyncio.CancelledError):
                await parse
            await asyncio.wait_for(hanging.ended.wait(), WAIT)
            assert hanging.cancelled
            assert parse.cancelled()

    asyncio.run(main())


@pytest.mark.parametrize("stage", ["core", "data"])
def test_the_deadline_ends_the_parse_in_either_stage(stage):
    async def main():
        hanging = Hanging()
        replies = [hanging] if stage == "core" else [core_text(), hanging]
        with Intent(schema=SCHEMA, executor=Script(*replies), timeout_ms=50) as intent:
            error = await ends_with(intent.parse("查询订单 000123"), "MODEL_TIMEOUT")
        assert error.stage == stage
        assert (error.partial_result is None) == (stage == "core")
        await asyncio.wait_for(hanging.ended.wait(), WAIT)
        assert hanging.cancelled

    asyncio.run(main())


def test_one_deadline_covers_stages_and_repairs(monkeypatch):
    left = []
    wait = asyncio.wait

    async def recorded(work, *, timeout, return_when):  # noqa: ASYNC109 - as it is called
        left.append(timeout)
        return await wait(work, timeout=timeout, return_when=return_when)

    async def slowly(request):
        await asyncio.sleep(0.02)
        return {0: "{", 1: core_text(), 2: "{", 3: data_candidate()}[len(left) - 1]

    monkeypatch.setattr(driver_module.asyncio, "wait", recorded)
    with Intent(schema=SCHEMA, executor=Script(*[slowly] * 4), timeout_ms=60_000) as intent:
        asyncio.run(intent.parse("查询订单 000123"))
    assert len(left) == 4
    assert left[0] <= 60
    assert all(later <= earlier - 0.015 for earlier, later in itertools.pairwise(left))


@pytest.mark.parametrize("way", ["deadline", "dispose", "cancel"])
def test_an_executor_deaf_to_cancellation_is_abandoned_in_silence(way):
    reports = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
        hanging = Hanging(deaf=True)
        intent = Intent(executor=Script(hanging), timeout_ms=50 if way == "deadline" else 0)
        parse = asyncio.create_task(intent.parse("查询"))
        await hanging.begun_here.wait()
        if way == "deadline":
            await ends_with(parse, "MODEL_TIMEOUT")
        elif way == "dispose":
            intent.dispose()
            await ends_with(parse, "INSTANCE_DISPOSED")
        else:
            parse.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(parse, WAIT)
        assert not hanging.ended.is_set()
        hanging.let_go.set()
        await asyncio.wait_for(hanging.ended.wait(), WAIT)
        intent.dispose()

    asyncio.run(main())
    gc.collect()
    assert reports == []


@pytest.mark.parametrize("way", ["dispose", "cancel"])
def test_an_executor_that_fails_just_as_the_parse_ends_is_no_report(way):
    async def main():
        async def last_words(request):
            if way == "dispose":
                intent.dispose()
            else:
                parse.cancel()
            raise ValueError(SECRET)

        intent = Intent(executor=executor_from(last_words))
        parse = asyncio.create_task(intent.parse("查询"))
        if way == "dispose":
            await ends_with(parse, "INSTANCE_DISPOSED")
        else:
            await asyncio.wait({parse}, timeout=WAIT)
            assert parse.cancelled()
        intent.dispose()

    asyncio.run(main())


def test_parse_sync_settles_although_the_executor_ignores_cancellation():
    stop = threading.Event()

    async def deaf(request):
        while not stop.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    with Intent(executor=executor_from(deaf), timeout_ms=30) as intent:
        with pytest.raises(IntentParseError, match="MODEL_TIMEOUT"):
            intent.parse_sync("查询")
        assert not stop.is_set()
    stop.set()
    for thread in threading.enumerate():
        if thread.name == "intent-runtime-abandoned":
            thread.join(WAIT)
            assert not thread.is_alive()


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same loop", "another thread"])
@pytest.mark.parametrize("stage", ["core", "data"])
def test_disposal_during_a_parse_ends_it_with_its_code(elsewhere, stage):
    async def main():
        hanging = Hanging()
        replies = [hanging] if stage == "core" else [core_text(), hanging]
        intent = Intent(schema=SCHEMA, executor=Script(*replies))
        parse = asyncio.create_task(intent.parse("查询订单 000123"))
        await hanging.begun_here.wait()
        if elsewhere:
            await asyncio.to_thread(intent.dispose)
        else:
            intent.dispose()
        error = await ends_with(parse, "INSTANCE_DISPOSED")
        assert error.stage == stage
        assert (error.partial_result is None) == (stage == "core")
        await asyncio.wait_for(hanging.ended.wait(), WAIT)

    asyncio.run(main())
