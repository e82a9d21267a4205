"""What happens while a candidate is being judged (contract section 10, accept 7 and 8)."""

import asyncio
import gc
import threading
import time
import weakref

import pytest

from intent_runtime import Intent
from intent_runtime.bridge import create_intent_bridge
from intent_runtime.engine import Engine
from intent_runtime.pipeline import Definition
from support.bridging import (
    CORE,
    EVIL_VALUE,
    SLOW_SCHEMA,
    Clock,
    bridge_of,
    code_of,
    data,
    prepare,
    submission,
    submit,
)

SLOW_DATA = data("code", EVIL_VALUE, checked=False)
QUICK_DATA = data("code", "aaa", checked=False)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def slow(clock):
    """A bridge whose data candidates are judged in a child process, for up to a minute."""
    limits = {"maxValidationMs": 60_000}
    config = {"schema": SLOW_SCHEMA, "limits": limits}
    with bridge_of(clock=clock, configs={"s": config}, job_ttl_ms=10_000) as bridge:
        yield bridge


def at_data(session):
    task = prepare(session, "s", f"code {EVIL_VALUE} aaa")
    reply = submit(session, task, CORE)
    assert reply.stage == "data"
    return reply


async def in_flight(session, task, text):
    """A submission that has reached its child process."""
    waiting = asyncio.ensure_future(submission(session, task, text))
    job = session._desk._book.current(task.job_id)
    while job is None or job.in_flight is None or job.in_flight.validation is None:
        await asyncio.sleep(0)
        job = session._desk._book.current(task.job_id)
    return waiting


ENDS = {
    "cancelled": lambda bridge, session, task, clock: session.cancel(job_id=task.job_id),
    "session closed": lambda bridge, session, task, clock: session.close(),
    "bridge closed": lambda bridge, session, task, clock: bridge.close(),
    "disposed": lambda bridge, session, task, clock: bridge.intents["s"].dispose(),
}
CODES = {
    "cancelled": "MODEL_ABORTED",
    "session closed": "BRIDGE_JOB_NOT_FOUND",
    "bridge closed": "BRIDGE_JOB_NOT_FOUND",
    "disposed": "INSTANCE_DISPOSED",
}


@pytest.mark.parametrize("how", ENDS)
def test_an_end_during_judging_stands_and_nothing_is_resurrected(slow, clock, how):
    session = slow.connect()
    task = at_data(session)

    async def drive():
        waiting = await in_flight(session, task, SLOW_DATA)
        ENDS[how](slow, session, task, clock)
        return await asyncio.wait_for(waiting, 20)

    assert code_of(asyncio.run(drive())) == CODES[how]
    if how == "cancelled":
        assert code_of(session.cancel(job_id=task.job_id)) == "MODEL_ABORTED"
        assert code_of(submit(session, task, QUICK_DATA)) == "BRIDGE_STEP_CONFLICT"


def test_expiry_during_judging_stands(slow, clock):
    session = slow.connect()
    task = at_data(session)

    async def drive():
        waiting = await in_flight(session, task, SLOW_DATA)
        clock.now += 11
        # Any call sweeps; no timer has to run.
        assert code_of(session.cancel(job_id="unknown")) == "BRIDGE_JOB_NOT_FOUND"
        return await asyncio.wait_for(waiting, 20)

    reply = asyncio.run(drive())
    assert code_of(reply) == "BRIDGE_JOB_EXPIRED"
    assert reply.error.partial_result is not None


def test_the_same_submission_in_flight_is_judged_once_and_both_get_the_reply(slow):
    session = slow.connect()
    task = at_data(session)

    async def drive():
        first = await in_flight(session, task, QUICK_DATA)
        return await asyncio.gather(first, submission(session, task, QUICK_DATA))

    replies = asyncio.run(drive())
    assert [code_of(reply) for reply in replies] == ["result", "result"]
    assert replies[0].to_dict() == replies[1].to_dict()


def test_a_different_submission_in_flight_conflicts_and_leaves_the_first_alone(slow):
    session = slow.connect()
    task = at_data(session)

    async def drive():
        first = await in_flight(session, task, QUICK_DATA)
        other = await submission(session, task, QUICK_DATA + " ")
        return code_of(other), code_of(await first)

    assert asyncio.run(drive()) == ("BRIDGE_STEP_CONFLICT", "result")


def test_when_the_awaiting_caller_is_cancelled_judging_goes_on(slow):
    session = slow.connect()
    task = at_data(session)

    async def drive():
        waiting = await in_flight(session, task, QUICK_DATA)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return await submission(session, task, QUICK_DATA)

    assert code_of(asyncio.run(drive())) == "result"


def test_a_reply_can_be_fetched_from_another_loop_after_the_first_is_gone(slow):
    session = slow.connect()
    task = at_data(session)

    async def start():
        (await in_flight(session, task, QUICK_DATA)).cancel()

    asyncio.run(start())
    assert code_of(submit(session, task, QUICK_DATA)) == "result"


def test_two_loops_in_two_threads_get_the_one_reply(slow):
    session = slow.connect()
    task = at_data(session)
    replies = []
    threads = [
        threading.Thread(target=lambda: replies.append(submit(session, task, QUICK_DATA)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [code_of(reply) for reply in replies] == ["result", "result"]
    assert replies[0].to_dict() == replies[1].to_dict()


def test_a_slow_validation_does_not_keep_other_calls(slow):
    session = slow.connect()
    task = at_data(session)

    async def drive():
        waiting = await in_flight(session, task, SLOW_DATA)
        other = prepare(session, "s", "another", fields=[])
        assert code_of(await submission(session, other, CORE)) == "result"
        session.cancel(job_id=task.job_id)
        return await asyncio.wait_for(waiting, 20)

    assert code_of(asyncio.run(drive())) == "MODEL_ABORTED"


def test_a_validation_over_its_budget_ends_the_job_with_its_partial_result():
    config = {"schema": SLOW_SCHEMA, "limits": {"maxValidationMs": 200}}
    with bridge_of(configs={"s": config}) as bridge:
        session = bridge.connect()
        task = at_data(session)
        started = time.monotonic()
        reply = submit(session, task, SLOW_DATA)
        assert code_of(reply) == "LIMIT_EXCEEDED"
        assert reply.error.stage == "data"
        assert reply.error.partial_result is not None
        assert time.monotonic() - started < 5
        assert code_of(session.cancel(job_id=task.job_id)) == "LIMIT_EXCEEDED"


WHILE_READ = {
    "session closed": (lambda bridge, session: session.close(), "BRIDGE_JOB_NOT_FOUND"),
    "bridge closed": (lambda bridge, session: bridge.close(), "BRIDGE_JOB_NOT_FOUND"),
    "disposed": (lambda bridge, session: bridge.intents["t"].dispose(), "INSTANCE_DISPOSED"),
    "filled": (lambda bridge, session: prepare(bridge.connect(), "o"), "LIMIT_EXCEEDED"),
}


@pytest.mark.parametrize("what", WHILE_READ)
def test_what_happens_while_a_request_is_read_counts_and_no_job_is_opened(monkeypatch, what):
    happen, code = WHILE_READ[what]
    begin = Definition.begin
    with bridge_of(max_jobs=1) as bridge:
        session = bridge.connect()

        def interrupted(self, raw):
            monkeypatch.setattr(Definition, "begin", begin)
            happen(bridge, session)
            return begin(self, raw)

        monkeypatch.setattr(Definition, "begin", interrupted)
        assert code_of(session.prepare(instance="t", input="x")) == code
        assert len(bridge._desk._book) == (what == "filled")


def test_a_breakdown_of_the_judge_leaves_the_job_as_it_was(monkeypatch):
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)

        def broken(self, text):
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr("intent_runtime.pipeline.Run.judge", broken)
            with pytest.raises(MemoryError):
                submit(session, task, CORE)
        assert code_of(submit(session, task, CORE)) == "result"


@pytest.mark.parametrize(
    ("error", "told"), [(MemoryError, MemoryError), (KeyboardInterrupt, RuntimeError)]
)
def test_an_interrupt_is_for_its_thread_and_others_who_wait_get_an_error(monkeypatch, error, told):
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)
        answers = []

        def broken(self, text):
            answers.append(bridge._desk._book.current(task.job_id).in_flight.answer)
            raise error

        with monkeypatch.context() as patch:
            patch.setattr("intent_runtime.pipeline.Run.judge", broken)
            with pytest.raises(error):
                submission(session, task, CORE).send(None)
        assert type(answers[0].exception(timeout=0)) is told
        assert code_of(submit(session, task, CORE)) == "result"


@pytest.mark.parametrize("how", ENDS)
def test_an_end_before_a_breakdown_of_the_judge_stands(slow, clock, monkeypatch, how):
    session = slow.connect()
    task = at_data(session)

    def broken(self, text):
        ENDS[how](slow, session, task, clock)
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("intent_runtime.pipeline.Run.judge", broken)
        with pytest.raises(MemoryError):
            submit(session, task, QUICK_DATA)
    assert code_of(session.cancel(job_id=task.job_id)) == CODES[how]


def test_a_breakdown_after_the_validation_is_told_and_leaves_the_job_as_it_was(slow, monkeypatch):
    session = slow.connect()
    task = at_data(session)

    def broken(self, pending, validation):
        raise MemoryError

    async def drive():
        return await asyncio.wait_for(submission(session, task, QUICK_DATA), 20)

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "conclude", broken)
        with pytest.raises(MemoryError):
            asyncio.run(drive())
    assert code_of(asyncio.run(drive())) == "result"


@pytest.mark.parametrize("how", ENDS)
def test_an_end_while_the_validation_starts_stops_it(slow, clock, monkeypatch, how):
    session = slow.connect()
    task = at_data(session)
    validate = Engine.validate
    validations = []

    def ended_meanwhile(self, pending):
        validations.append(validate(self, pending))
        ENDS[how](slow, session, task, clock)
        return validations[0]

    monkeypatch.setattr(Engine, "validate", ended_meanwhile)

    async def drive():
        return await asyncio.wait_for(submission(session, task, SLOW_DATA), 20)

    assert code_of(asyncio.run(drive())) == CODES[how]
    assert validations[0].done()


def test_a_closed_bridge_keeps_nothing_alive():
    with bridge_of() as bridge:
        session = bridge.connect()
        for _ in range(3):
            submit(session, prepare(session), CORE)
        last = prepare(session)
        engine = weakref.ref(bridge._desk._book.current(last.job_id).engine)
        owner = weakref.ref(bridge._desk)
        bridge.close()
        assert len(bridge._desk._book) == 0
        assert engine() is not None
    del bridge, session
    gc.collect()
    assert owner() is None


def test_a_forgotten_bridge_is_not_kept_by_its_intents():
    with Intent() as intent:
        bridge = create_intent_bridge(instances={"t": intent})
        prepare(bridge.connect())
        desk = weakref.ref(bridge._desk)
        del bridge
        gc.collect()
        assert desk() is None
