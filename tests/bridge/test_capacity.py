"""What a bridge keeps: counts, bytes, eviction, refusal for lack of room (contract section 10)."""

import json
from datetime import datetime

import msgspec
import pytest

from intent_runtime import Intent, IntentParseError
from intent_runtime.bridge import IntentBridge, create_intent_bridge
from support.bridging import (
    BAD,
    CORE,
    DATA,
    INPUT,
    Clock,
    bridge_of,
    code_of,
    core,
    prepare,
    submit,
)


def finish(session, **options):
    return submit(session, prepare(session, **options), CORE)


def test_an_outcome_without_room_leaves_job_token_stage_and_repair_count_as_they_were():
    with bridge_of(
        configs={"o": {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        max_replay_bytes=2_000,
    ) as bridge:
        session = bridge.connect()
        task = prepare(session, "o", INPUT)
        before = bridge._desk._book.current(task.job_id)
        for _ in range(3):
            refused = submit(session, task, core(requirements=["x" * 1_500]))
            assert code_of(refused) == "LIMIT_EXCEEDED"
            assert refused.error.stage == "bridge"
            assert refused.error.partial_result is None
        after = bridge._desk._book.current(task.job_id)
        assert (after.token, after.run, after.steps, after.size) == (
            before.token,
            before.run,
            before.steps,
            before.size,
        )
        assert after.in_flight is None
        # A repair still fits: the attempt was not spent.
        assert submit(session, task, BAD).stage == "core"


def test_a_refusal_in_the_data_stage_carries_the_partial_result():
    with bridge_of(max_replay_bytes=2_400) as bridge:
        session = bridge.connect()
        task = submit(session, prepare(session, "o"), CORE)
        assert task.stage == "data"
        refused = submit(session, task, json.dumps({"data": {}, "pad": "x" * 2_000}))
        assert (code_of(refused), refused.error.stage) == ("LIMIT_EXCEEDED", "bridge")
        assert refused.error.partial_result.primary_intent == "Look up order 000123"
        assert code_of(submit(session, task, DATA)) in {"result", "LIMIT_EXCEEDED"}


def test_finished_records_go_least_recently_used_first_and_active_jobs_never():
    with bridge_of(max_replay_entries=3) as bridge:
        session = bridge.connect()
        active = prepare(session)
        old, new = prepare(session), prepare(session)
        submit(session, old, CORE)
        submit(session, new, CORE)
        assert code_of(session.cancel(job_id=old.job_id)) == "result"
        prepare(session)
        assert code_of(session.cancel(job_id=new.job_id)) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(session.cancel(job_id=old.job_id)) == "result"
        prepare(session)
        assert code_of(session.cancel(job_id=old.job_id)) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(session.prepare(instance="t", input=INPUT)) == "LIMIT_EXCEEDED"
        assert code_of(submit(session, active, CORE)) == "result"


class OneMoment(datetime):
    """A wall clock that stands still."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 12, 1, tzinfo=tz)


@pytest.mark.parametrize("between", [0, 1])
def test_jobs_that_expire_together_end_in_the_order_of_their_deadlines(between, monkeypatch):
    monkeypatch.setattr("intent_runtime.bridge.book.datetime", OneMoment)
    clock = Clock()
    with bridge_of(clock=clock, max_replay_entries=2, job_ttl_ms=60_000) as bridge:
        session = bridge.connect()
        first, second = prepare(session, "o"), prepare(session, "o")
        clock.now += between
        assert code_of(submit(session, first, CORE)) == "task"
        clock.now += 61
        prepare(session)
        assert code_of(session.cancel(job_id=second.job_id)) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(session.cancel(job_id=first.job_id)) == "BRIDGE_JOB_EXPIRED"


def test_another_sessions_call_is_no_use_of_a_finished_record():
    with bridge_of(max_replay_entries=2) as bridge:
        mine, other = bridge.connect(), bridge.connect()
        first, second = prepare(mine), prepare(mine)
        submit(mine, first, CORE)
        submit(mine, second, CORE)
        assert code_of(other.cancel(job_id=first.job_id)) == "BRIDGE_JOB_NOT_FOUND"
        prepare(mine)
        assert code_of(mine.cancel(job_id=first.job_id)) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(mine.cancel(job_id=second.job_id)) == "result"


def test_an_end_by_cancellation_always_stands_at_last_without_a_record():
    with bridge_of(max_replay_bytes=140) as bridge:
        session = bridge.connect()
        task = prepare(session)
        assert code_of(session.cancel(job_id=task.job_id)) == "MODEL_ABORTED"
        assert code_of(session.cancel(job_id=task.job_id)) == "BRIDGE_JOB_NOT_FOUND"
        assert bridge._desk._book.kept_bytes == 0
        prepare(session)


def test_what_all_jobs_of_an_instance_share_is_not_counted():
    schema = {"type": "object", "properties": {"a": {"description": "x" * 100_000}}}
    with bridge_of(configs={"o": {"schema": schema}}, max_replay_bytes=1_000) as bridge:
        prepare(bridge.connect(), "o")
        assert bridge._desk._book.kept_bytes < 200


def test_an_idle_job_expires_by_the_clock_though_no_timer_ran():
    clock = Clock()
    with bridge_of(clock=clock, job_ttl_ms=1_000, max_jobs=1) as bridge:
        session = bridge.connect()
        task = prepare(session, "o")
        clock.now += 0.9
        task = submit(session, task, CORE)
        clock.now += 0.9
        assert code_of(session.prepare(instance="o", input=INPUT)) == "LIMIT_EXCEEDED"
        clock.now += 0.2
        # The capacity of an expired job is free without anybody asking for the job.
        prepare(session, "o")
        ended = submit(session, task, DATA)
        assert (code_of(ended), ended.error.stage) == ("BRIDGE_JOB_EXPIRED", "bridge")
        assert ended.error.partial_result is not None


def test_refused_submissions_do_not_rearm_the_deadline():
    clock = Clock()
    with bridge_of(clock=clock, job_ttl_ms=1_000) as bridge:
        session = bridge.connect()
        task = prepare(session)
        for _ in range(4):
            clock.now += 0.3
            reply = session.cancel(job_id=task.job_id, outcome="stop")
        assert code_of(reply) == "INPUT_INVALID"
        assert code_of(submit(session, task, CORE)) == "BRIDGE_JOB_EXPIRED"


def test_callers_may_change_what_they_receive():
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session, "o")
        task.format["schema"].clear()
        data_task = submit(session, task, CORE)
        result = submit(session, data_task, DATA)
        result.result.data["orderId"] = "changed"
        result.to_dict()["result"].clear()
        again = submit(session, data_task, DATA)
        assert again.result.data == {"orderId": "000123"}
        assert submit(session, task, CORE).to_dict() == data_task.to_dict()
        cancelled = session.cancel(job_id=submit(session, prepare(session, "o"), CORE).job_id)
        cancelled.error.partial_result.data["x"] = 1
        other = session.cancel(job_id=submit(session, prepare(session, "o"), CORE).job_id)
        assert other.error.partial_result.data == {}


def test_the_request_is_snapshotted_on_entry():
    with bridge_of() as bridge:
        session = bridge.connect()
        fields = ["orderId"]
        context = [{"role": "user", "content": "before"}]
        task = prepare(session, "o", INPUT, fields=fields, context=context)
        fields.append("nope")
        context[0]["content"] = "after"
        payload = submit(session, task, CORE).task_payload()
        assert payload["selectedFields"] == ["orderId"]
        assert payload["context"][0]["content"] == "before"


@pytest.mark.parametrize("token", ["", "é", "\ud800", "\ud800" * 22, "é" * 22, "x" * 100_000, "\0"])
def test_odd_tokens_and_ids_are_answered(token):
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)
        # A token of the right length is compared to its end.
        assert len(task.step_token) == 22
        odd = type(task)(task.job_id, token, "core", "", "")
        assert code_of(submit(session, odd, CORE)) == "BRIDGE_STEP_CONFLICT"
        assert code_of(session.cancel(job_id=token)) == "BRIDGE_JOB_NOT_FOUND"


def test_a_candidate_with_a_lone_surrogate_is_refused_and_the_job_stands():
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)
        assert code_of(submit(session, task, CORE + "\ud800")) == "INPUT_INVALID"
        assert code_of(submit(session, task, CORE)) == "result"


@pytest.mark.parametrize(
    ("detail", "code"),
    [
        (None, "MODEL_ABORTED"),
        ("", "MODEL_ABORTED"),
        ("x" * 2_048, "MODEL_ABORTED"),
        ("x" * 2_049, "INPUT_INVALID"),
        ("订" * 682 + "xx", "MODEL_ABORTED"),
        ("订" * 683, "INPUT_INVALID"),
        ("\ud800", "INPUT_INVALID"),
        (1, "INPUT_INVALID"),
    ],
    ids=["none", "empty", "fits", "long", "fits_in_bytes", "long_in_bytes", "surrogate", "number"],
)
def test_a_detail_is_text_of_at_most_2048_bytes(detail, code):
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)
        assert code_of(session.cancel(job_id=task.job_id, detail=detail)) == code
        ended = code == "MODEL_ABORTED"
        assert code_of(submit(session, task, CORE)) == (
            "BRIDGE_STEP_CONFLICT" if ended else "result"
        )


@pytest.mark.parametrize("closes", ["session", "bridge"])
def test_the_end_of_a_with_block_closes(closes):
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session)
        with session if closes == "session" else bridge as entered:
            assert entered is (session if closes == "session" else bridge)
        assert code_of(session.cancel(job_id=task.job_id)) == "BRIDGE_JOB_NOT_FOUND"


def test_a_bridge_tells_the_names_that_prepare_takes():
    with bridge_of() as bridge:
        assert bridge.instance_names == ("t", "o")


def test_values_of_wrong_types_are_replies_and_unknown_keywords_are_type_errors():
    with bridge_of() as bridge:
        session = bridge.connect()
        assert code_of(session.prepare(instance="t", input=1)) == "INPUT_INVALID"
        assert code_of(session.cancel(job_id=None)) == "INPUT_INVALID"
        with pytest.raises(TypeError):
            session.prepare(instance="t", input="x", language="en")


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"instances": {}},
        {"instances": []},
        {"instances": {"a": 1}},
        {"instances": {1: Intent()}},
        {"instances": {"\ud800": Intent()}},
        {"instances": {"a": Intent()}, "maxJobs": None},
        {"instances": {"a": Intent()}, "max_jobs": 1},
        {"instances": {"a": Intent()}, "maxReplayBytes": True},
        [],
    ],
)
def test_a_wrong_bridge_configuration_is_refused(config):
    with pytest.raises(IntentParseError) as caught:
        IntentBridge.from_config(config)
    assert (caught.value.code, caught.value.stage) == ("CONFIG_INVALID", "config")
    json.dumps(caught.value.to_dict()).encode()


@pytest.mark.parametrize(
    "make",
    [
        IntentBridge,
        lambda instances: create_intent_bridge(instances=instances),
        lambda instances: IntentBridge.from_config({"instances": instances}),
    ],
    ids=["class", "function", "configuration"],
)
def test_a_bridge_has_the_documented_capacity_when_none_is_given(make):
    with Intent() as intent, make({"t": intent}) as bridge:
        capacity = bridge._desk._capacity
    assert msgspec.structs.asdict(capacity) == {
        "max_jobs": 32,
        "max_replay_entries": 128,
        "max_replay_bytes": 8_388_608,
        "job_ttl_ms": 0,
        "replay_ttl_ms": 0,
    }


def test_a_closed_bridge_answers_not_found_and_leaves_the_intents_alone():
    with Intent() as intent:
        bridge = create_intent_bridge(instances={"t": intent})
        session = bridge.connect()
        task = prepare(session)
        bridge.close()
        bridge.close()
        assert code_of(session.prepare(instance="nope", input=1)) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(submit(session, task, CORE)) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(session.cancel(job_id=task.job_id, outcome="stop")) == "BRIDGE_JOB_NOT_FOUND"
        with pytest.raises(IntentParseError) as caught:
            bridge.connect()
        assert caught.value.code == "BRIDGE_JOB_NOT_FOUND"
        with create_intent_bridge(instances={"t": intent}) as another:
            assert code_of(finish(another.connect())) == "result"
