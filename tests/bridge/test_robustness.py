"""Unlucky schedulers, odd callers and broken machines must not lose a reply or a lock."""

import asyncio
import gc
import os
import sys
import threading

import pytest

from intent_runtime import Intent
from intent_runtime.bridge import BridgeReply, create_intent_bridge
from intent_runtime.bridge.arguments import read_accept
from intent_runtime.schema import worker
from support.bridging import CORE, DATA, SLOW_SCHEMA, bridge_of, code_of, data, prepare, submit

QUICK = data("code", "aaa", checked=False)


class Text(str):
    """A str subclass, as template and array libraries have them."""

    __slots__ = ()


class Unhashable(dict):
    """Keys that no set can hold."""

    def __iter__(self):
        return iter([[]])


def within(seconds, function):
    """Run in a thread, so that a deadlock fails the test and does not hang it."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert results, "it hangs"
    return results[0]


def test_str_subclasses_are_taken_as_text():
    with bridge_of() as bridge:
        session = bridge.connect()
        message = {"role": Text("user"), "content": Text("hello")}
        task = session.prepare(
            instance=Text("o"),
            input=Text("Look up order 000123."),
            fields=[Text("orderId")],
            context=[message],
        )
        reply = submit(session, task, Text(CORE))
        reply.to_json()
        reply = submit(session, reply, Text(DATA))
        assert code_of(reply) == "result"
        assert type(reply.result.input) is str
        assert code_of(session.cancel(job_id=Text(task.job_id))) == "result"


def test_unhashable_keys_are_answered():
    with bridge_of() as bridge:
        session = bridge.connect()
        for tool in ("intent_prepare", "intent_accept", "intent_cancel"):
            assert code_of(asyncio.run(session.call(tool, Unhashable(a=1)))) == "INPUT_INVALID"


def test_a_closed_session_answers_an_unknown_tool_like_everything_else():
    with bridge_of() as bridge:
        session = bridge.connect()
        assert code_of(asyncio.run(session.call("nope", {}))) == "INPUT_INVALID"
        session.close()
        assert code_of(asyncio.run(session.call("nope", {}))) == "BRIDGE_JOB_NOT_FOUND"


def test_a_finaliser_may_close_a_session_while_its_thread_is_inside():
    with bridge_of() as bridge:
        session, other = bridge.connect(), bridge.connect()
        task = prepare(session)
        kept = prepare(other)
        desk = bridge._desk

        def close_inside():
            with desk._changing():
                session.close()
                bridge.intents["o"].dispose()
            return code_of(session.cancel(job_id=task.job_id))

        assert within(20, close_inside) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(submit(other, kept, CORE)) == "result"


def test_a_finaliser_may_close_the_bridge_while_a_thread_is_inside():
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)

        def close_inside():
            with bridge._desk._changing():
                bridge.close()
            return code_of(session.cancel(job_id=task.job_id))

        assert within(20, close_inside) == "BRIDGE_JOB_NOT_FOUND"


def test_a_breakdown_while_recording_leaves_the_job_as_it_was(monkeypatch):
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)

        def broken(*_):
            raise MemoryError

        with monkeypatch.context() as patch:
            patch.setattr("intent_runtime.bridge.jobs.advanced", broken)
            with pytest.raises(MemoryError):
                submit(session, task, CORE)
        assert code_of(within(20, lambda: submit(session, task, CORE))) == "result"


def test_an_end_whose_record_had_to_go_still_answers_the_one_who_waits():
    limits = {"maxValidationMs": 60_000}
    with bridge_of(
        configs={"s": {"schema": SLOW_SCHEMA, "limits": limits}}, max_replay_bytes=680
    ) as bridge:
        session = bridge.connect()
        task = submit(session, prepare(session, "s", "code aaa"), CORE)
        assert task.stage == "data"

        async def drive():
            waiting = asyncio.ensure_future(
                session.accept(job_id=task.job_id, step_token=task.step_token, candidate_text=QUICK)
            )
            while not bridge._desk._book.current(task.job_id).in_flight:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0)
            ended = session.cancel(job_id=task.job_id)
            assert bridge._desk._book.current(task.job_id) is None
            return ended, await asyncio.wait_for(waiting, 20)

        ended, waited = asyncio.run(drive())
        assert code_of(ended) == code_of(waited) == "MODEL_ABORTED"


def test_bridges_that_are_dropped_leave_nothing_in_their_intents():
    with Intent() as intent:
        for _ in range(20):
            create_intent_bridge(instances={"t": intent}).connect()
        gc.collect()
        assert intent.engine._listeners == {}


def test_a_closed_bridge_leaves_nothing_in_its_intents():
    with Intent() as intent:
        bridge = create_intent_bridge(instances={"t": intent, "u": intent})
        assert len(intent.engine._listeners) == 1
        bridge.close()
        assert intent.engine._listeners == {}


def test_what_is_no_object_is_no_reply():
    for wire in (None, [], "task"):
        with pytest.raises(ValueError, match="not a bridge reply"):
            BridgeReply.from_dict(wire)


def test_reprs_hold_no_words_and_no_tokens():
    accept = read_accept(
        {"jobId": "secret-a", "stepToken": "secret-b", "candidateText": "secret-c"}
    )
    assert "secret" not in repr(accept)
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session, text="secret-d")
        job = bridge._desk._book.current(task.job_id)
        assert "secret" not in repr(job) + repr(job.run) + repr(job.run.request)
        assert task.step_token not in repr(job)


@pytest.mark.parametrize("broken", ["start", "timer", "executable"])
def test_a_machine_without_threads_or_processes_refuses_and_recovers(monkeypatch, broken):
    with bridge_of(configs={"s": {"schema": SLOW_SCHEMA}}) as bridge:
        session = bridge.connect()

        def attempt():
            task = submit(session, prepare(session, "s", "code aaa"), CORE)
            return code_of(submit(session, task, QUICK))

        def no_thread(self):
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as patch:
            if broken == "start":
                serve = worker.threading.Thread.start
                patch.setattr(
                    threading.Thread,
                    "start",
                    lambda self: no_thread(self) if "validation" in self.name else serve(self),
                )
            elif broken == "timer":
                patch.setattr(threading.Timer, "start", no_thread)
            else:
                patch.setattr(sys, "executable", None)
            assert within(20, attempt) == "LIMIT_EXCEEDED"
        assert within(30, attempt) == "result"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_validates_with_children_of_its_own():
    with bridge_of(configs={"s": {"schema": SLOW_SCHEMA}}) as bridge:
        session = bridge.connect()

        def attempt():
            task = submit(session, prepare(session, "s", "code aaa"), CORE)
            return code_of(submit(session, task, QUICK))

        assert attempt() == "result"
        pid = os.fork()
        if not pid:
            try:
                os._exit(0 if within(30, attempt) == "result" else 1)
            finally:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        assert attempt() == "result"


def test_an_executor_thread_that_does_not_end_does_not_keep_parse_sync():
    from intent_runtime import IntentParseError, executor_from  # noqa: PLC0415

    release = threading.Event()

    async def stuck(request):
        await asyncio.to_thread(release.wait, 60)

    with Intent(executor=executor_from(stuck), timeout_ms=100) as intent:

        def attempt():
            try:
                intent.parse_sync("x")
            except IntentParseError as error:
                return error.code
            return None

        try:
            assert within(20, attempt) == "MODEL_TIMEOUT"
        finally:
            release.set()
