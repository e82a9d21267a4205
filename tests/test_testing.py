"""The test doubles and the executor contract (intent_runtime.testing)."""

import asyncio
import json
import logging

import pytest

from intent_runtime import (
    ExecutorCapabilities,
    Intent,
    IntentParseError,
    IntentUsage,
    ModelReply,
    TokenUsage,
    executor_from,
)
from intent_runtime.executors import RulesExecutor
from intent_runtime.testing import ExecutorContract, ScriptedExecutor, sample_requests
from support.candidates import SCHEMA, core_candidate, data_candidate

TEXT = "Look up order 000123"


def parse(executor, **config):
    with Intent(executor=executor, **config) as intent:
        return intent.parse_sync(TEXT)


async def later(request):
    await asyncio.sleep(0)
    return core_candidate()


@pytest.mark.parametrize(
    "reply",
    [
        core_candidate(),
        json.loads(core_candidate()),
        ModelReply.complete(core_candidate()),
        lambda request: core_candidate(),
        later,
        lambda request: later,
    ],
    ids=["text", "dict", "ModelReply", "function", "async function", "function of a function"],
)
def test_a_scripted_reply_may_be_given_in_any_form(reply):
    executor = ScriptedExecutor(reply)
    assert parse(executor).intents[0].target == "order 000123"
    assert [request.stage for request in executor.requests] == ["core"]


def test_a_script_plays_in_order_and_keeps_the_tasks():
    executor = ScriptedExecutor("{}", core_candidate(), data_candidate())
    assert parse(executor, schema=SCHEMA).data == {"orderId": "000123"}
    kinds = [(r.stage, "repair" in json.loads(r.payload)) for r in executor.requests]
    assert kinds == [("core", False), ("core", True), ("data", False)]


def test_a_scripted_exception_is_raised():
    for error, code in (
        (TimeoutError("late"), "MODEL_TIMEOUT"),
        (IntentParseError("MODEL_REFUSED", "No."), "MODEL_REFUSED"),
    ):
        with pytest.raises(IntentParseError) as caught:
            parse(ScriptedExecutor(error))
        assert caught.value.code == code
        assert caught.value.__cause__ is error


def test_a_call_beyond_the_script_is_told():
    with pytest.raises(IntentParseError) as caught:
        parse(ScriptedExecutor(core_candidate()), schema=SCHEMA)
    assert caught.value.code == "MODEL_REQUEST_FAILED"
    assert str(caught.value.__cause__) == "call 2 (data stage) has no reply in the script"


def test_sample_requests_are_real_tasks_of_every_kind():
    kinds = {
        kind: (request.stage, "repair" in json.loads(request.payload))
        for kind, request in sample_requests().items()
    }
    assert kinds == {
        "core": ("core", False),
        "data": ("data", False),
        "core repair": ("core", True),
        "data repair": ("data", True),
    }


# Usage: what executors tell is summed by stage, whatever becomes of the parse.

FIVE = TokenUsage(5, 2)


def told(text):
    return ModelReply.complete(text, usage=FIVE)


def test_usage_is_summed_by_stage_and_none_when_nobody_tells():
    result = parse(ScriptedExecutor(told("{}"), told(core_candidate()), told(data_candidate())), schema=SCHEMA)  # fmt: skip
    assert result.usage == IntentUsage(core=FIVE + FIVE, data=FIVE)
    assert result.usage.total == TokenUsage(15, 6)
    assert parse(ScriptedExecutor(core_candidate())).usage is None


@pytest.mark.parametrize(
    "last",
    [
        ModelReply.refusal(usage=FIVE),
        ModelReply.incomplete(usage=FIVE),
        IntentParseError("MODEL_OUTPUT_INVALID", "A tool.", usage=IntentUsage(data=FIVE)),
        IntentParseError("MODEL_OUTPUT_INVALID", "A tool.", usage=IntentUsage(core=FIVE)),
        told("no JSON"),
    ],
    ids=["refusal", "incomplete", "error", "error that names another stage", "no repair left"],
)
def test_an_errors_usage_holds_the_failed_attempt(last):
    script = ScriptedExecutor(told(core_candidate()), last)
    with pytest.raises(IntentParseError) as caught:
        parse(script, schema=SCHEMA, repair_attempts=0)
    assert caught.value.usage == IntentUsage(core=FIVE, data=FIVE)
    assert "usage" not in caught.value.to_dict()


@pytest.mark.parametrize(
    "usage", ["many", TokenUsage("1", 2), TokenUsage(1.5, 2), IntentUsage(core="x"), 7]
)
def test_nonsense_as_usage_does_not_fail_a_parse(usage):
    reply = ModelReply("complete", text=core_candidate(), usage=usage)
    assert parse(ScriptedExecutor(reply)).usage is None


# The contract suite, on executors of all makes.


class TestRules(ExecutorContract):
    def executor(self):
        return RulesExecutor()


class TestScripted(ExecutorContract):
    def executor(self):
        return ScriptedExecutor(*[core_candidate()] * 9)


class TestFunction(ExecutorContract):
    secrets = ("sk-1",)

    def executor(self):
        async def call(request):
            await asyncio.sleep(0.01)
            return ModelReply.refusal("no")

        return executor_from(call)


# And what it finds.


class Bad:
    id = "bad"
    capabilities = ExecutorCapabilities()

    async def generate(self, request):
        return ModelReply.complete("{}")


class Nameless(Bad):
    id = ""


class Deaf(Bad):
    capabilities = ExecutorCapabilities(supports_abort=False)


class Bare(Bad):
    async def generate(self, request):
        return "{}"


class Empty(Bad):
    async def generate(self, request):
        return ModelReply.complete("")


class Failing(Bad):
    async def generate(self, request):
        raise OSError("no network")


class Stubborn(Bad):
    async def generate(self, request):
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            raise ValueError("I was busy") from None


class Chatty(Bad):
    async def generate(self, request):
        logging.getLogger("chatty").debug("asking with %s", "sk-1")
        return ModelReply.complete("{}")


class Curious(Bad):
    async def generate(self, request):
        logging.getLogger("curious").debug("asking %s", request.payload)
        return ModelReply.complete("{}")


class Revealing(Bad):
    def __repr__(self):
        return "<Revealing sk-1>"


class LoopBound(Bad):
    def __init__(self):
        self.lock = None

    async def generate(self, request):
        if self.lock is None:
            self.lock = asyncio.get_running_loop()
        assert self.lock is asyncio.get_running_loop(), "another loop"
        return ModelReply.complete("{}")


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (Nameless, "test_it_tells_its_name_and_capabilities_and_supports_abort"),
        (Deaf, "test_it_tells_its_name_and_capabilities_and_supports_abort"),
        (Bare, "test_it_replies_to_every_kind_of_task"),
        (Empty, "test_it_replies_to_every_kind_of_task"),
        (Bare, "test_calls_at_once_do_not_disturb_each_other"),
        (Failing, "test_a_parse_ends_in_a_result_or_a_typed_error"),
        (Stubborn, "test_it_stops_when_cancelled"),
        (Chatty, "test_no_secret_shows"),
        (Curious, "test_no_secret_shows"),
        (Revealing, "test_no_secret_shows"),
        (LoopBound, "test_it_serves_one_event_loop_after_another"),
        (LoopBound, "test_it_serves_several_threads"),
    ],
)
def test_the_contract_finds_what_is_wrong(kind, check):
    class Contract(ExecutorContract):
        secrets = ("sk-1",)

        def executor(self):
            return kind()

    with pytest.raises(AssertionError):
        getattr(Contract(), check)()


def test_a_contract_without_an_executor_says_so():
    with pytest.raises(NotImplementedError):
        ExecutorContract().test_it_serves_several_threads()
