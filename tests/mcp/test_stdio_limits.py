"""Capacities of the service over the real command: jobs, records, bytes, time, output."""

import json

import pytest

from support.bridging import BAD, CORE, DATA, INPUT, ORDER_SCHEMA, core
from support.raw_mcp import outcome, serving, write_config

# Every test talks to the real command.
pytestmark = pytest.mark.slow

INSTANCES = {
    "t": {},
    "o": {"schema": ORDER_SCHEMA},
    "small": {"schema": ORDER_SCHEMA, "limits": {"maxOutputBytes": 2_000}},
}


@pytest.fixture
def config(tmp_path):
    return write_config(tmp_path, INSTANCES)


def error_of(reply):
    return reply["error"]["code"], reply["error"]["stage"]


@pytest.mark.slow
def test_thirty_two_jobs_are_active_at_most(config):
    with serving(config) as service:
        tasks = [service.prepare(name) for name in ["t", "o"] * 16]
        assert {outcome(task) for task in tasks} == {"core"}
        assert len({task["jobId"] for task in tasks}) == 32
        assert error_of(service.prepare()) == ("LIMIT_EXCEEDED", "bridge")
        # Requests are judged after the number of jobs, their keys and instance before it.
        assert error_of(service.prepare(text=" ")) == ("LIMIT_EXCEEDED", "bridge")
        assert error_of(service.prepare("nobody")) == ("INPUT_INVALID", "input")
        assert outcome(service.accept(tasks[0], CORE)) == "result"
        assert outcome(service.prepare()) == "core"
        assert error_of(service.prepare()) == ("LIMIT_EXCEEDED", "bridge")
        assert outcome(service.cancel(tasks[1])) == "MODEL_ABORTED"
        assert outcome(service.prepare()) == "core"
        assert outcome(service.accept(tasks[2], CORE)) == "result"


@pytest.mark.slow
def test_the_129th_record_evicts_the_oldest_finished_one(config):
    with serving(config) as service:
        waiting = service.prepare("o")
        finished = [service.prepare() for _ in range(20)]
        ends = [service.accept(task, CORE) for task in finished]
        while len(finished) < 127:
            task = service.prepare()
            finished.append(task)
            ends.append(service.accept(task, CORE))
        assert {outcome(end) for end in ends} == {"result"}
        # Used, and so no longer the oldest.
        assert service.accept(finished[0], CORE) == ends[0]
        last = service.prepare()
        assert outcome(last) == "core"
        assert outcome(service.cancel(finished[1])) == "BRIDGE_JOB_NOT_FOUND"
        assert service.cancel(finished[0]) == ends[0]
        assert service.cancel(finished[2]) == ends[2]
        assert outcome(service.accept(waiting, CORE)) == "data"
        assert outcome(service.accept(last, CORE)) == "result"


@pytest.mark.slow
def test_options_set_the_capacities(config):
    with serving(config, "--max-jobs", "1", "--max-replay-entries", "2") as service:
        first = service.prepare()
        assert error_of(service.prepare()) == ("LIMIT_EXCEEDED", "bridge")
        end = service.accept(first, CORE)
        second = service.prepare()
        assert service.accept(first, CORE) == end
        assert outcome(service.cancel(second)) == "MODEL_ABORTED"
        service.prepare()
        assert outcome(service.cancel(first)) == "BRIDGE_JOB_NOT_FOUND"


@pytest.mark.slow
def test_a_tiny_byte_budget_has_room_for_no_job(config):
    with serving(config, "--max-replay-bytes", "60") as service:
        assert error_of(service.prepare()) == ("LIMIT_EXCEEDED", "bridge")
        assert error_of(service.prepare("nobody")) == ("INPUT_INVALID", "input")
        assert error_of(service.prepare(text="")) == ("INPUT_INVALID", "input")


@pytest.mark.slow
def test_an_outcome_over_the_byte_budget_leaves_job_and_token_valid(config):
    with serving(config, "--max-replay-bytes", "3000") as service:
        task = service.prepare("o")
        large = core(requirements=["x" * 2_500])
        for _ in range(3):
            refused = service.accept(task, large)
            assert error_of(refused) == ("LIMIT_EXCEEDED", "bridge")
            assert "partialResult" not in refused["error"]
        # The repair was not spent, and the stage is the same.
        repair = service.accept(task, BAD)
        assert "repair" in json.loads(repair["payload"])
        following = service.accept(repair, CORE)
        assert outcome(following) == "data"
        refused = service.accept(following, json.dumps({"data": {}, "pad": "x" * 2_500}))
        assert error_of(refused) == ("LIMIT_EXCEEDED", "bridge")
        assert refused["error"]["partialResult"]["input"] == INPUT
        assert outcome(service.accept(following, DATA)) == "result"


def expired(service, task):
    """Ask about a job, without advancing it, until it has ended."""
    while True:
        reply = service.accept(task, CORE, stepToken="forged")
        if outcome(reply) != "BRIDGE_STEP_CONFLICT":
            return reply


@pytest.mark.slow
def test_an_idle_job_expires_in_both_stages(config):
    with serving(config, "--job-ttl", "0.2", "--max-jobs", "1") as service:
        task = service.prepare("o")
        assert task["expiresAt"].endswith("Z")
        end = expired(service, task)
        assert error_of(end) == ("BRIDGE_JOB_EXPIRED", "bridge")
        assert "partialResult" not in end["error"]
        assert service.accept(task, CORE) == end
        assert service.cancel(task) == end
        # A busy machine may take longer than the job lives.
        following = service.accept(service.prepare("o"), CORE)
        while outcome(following) == "BRIDGE_JOB_EXPIRED":
            following = service.accept(service.prepare("o"), CORE)
        assert following["expiresAt"] > task["expiresAt"]
        end = expired(service, following)
        assert error_of(end) == ("BRIDGE_JOB_EXPIRED", "bridge")
        assert end["error"]["partialResult"]["primaryIntent"] == "Look up order 000123"
        assert service.accept(following, DATA) == end
        # What expired takes no place.
        assert outcome(service.prepare()) == "core"


@pytest.mark.slow
def test_jobs_wait_without_an_end_by_default(config):
    with serving(config) as service:
        assert "expiresAt" not in service.prepare()


@pytest.mark.slow
def test_a_candidate_over_the_output_limit_can_be_submitted_again_shortened(config):
    with serving(config) as service:
        task = service.prepare("small")
        # Counted in UTF-8 bytes, before anything is read.
        for large in ("{" + " " * 2_000, "文" * 667, core(requirements=["x" * 2_000])):
            refused = service.accept(task, large)
            assert error_of(refused) == ("LIMIT_EXCEEDED", "core")
            assert "partialResult" not in refused["error"]
        following = service.accept(task, CORE + " " * (2_000 - len(CORE)))
        assert outcome(following) == "data"
        refused = service.accept(following, DATA + " " * 2_000)
        assert error_of(refused) == ("LIMIT_EXCEEDED", "data")
        assert refused["error"]["partialResult"]["data"] == {}
        # Repairs are still to be had.
        repair = service.accept(following, BAD)
        assert outcome(repair) == "data"
        assert outcome(service.accept(repair, DATA)) == "result"


@pytest.mark.slow
def test_a_finished_job_answers_an_oversized_text_by_its_size(config):
    with serving(config) as service:
        task = service.prepare("small", fields=[])
        assert outcome(service.accept(task, CORE)) == "result"
        assert error_of(service.accept(task, "x" * 2_001)) == ("LIMIT_EXCEEDED", "core")
        assert outcome(service.accept(task, "x" * 2_000)) == "BRIDGE_STEP_CONFLICT"
