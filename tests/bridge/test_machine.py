"""Random sessions against a small obvious model of contract section 10."""

import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from support.bridging import (
    BAD,
    CORE,
    DATA,
    INPUT,
    ORDER_SCHEMA,
    Clock,
    bridge_of,
    code_of,
    data,
    submit,
)

MAX_JOBS = 3
MAX_ENTRIES = 4
JOB_TTL = 60.0
REPLAY_TTL = 100.0
EXAMPLES = int(os.environ.get("INTENT_RUNTIME_MACHINE_EXAMPLES", "100"))

GAP = data(
    issues=[
        {"code": "DATA_CONFLICT", "category": "business_information", "path": None, "message": "m"}
    ]
)
CORES = {"good": CORE, "spaced": CORE + " ", "bad": BAD}
DATAS = {"good": DATA, "spaced": DATA + " ", "bad": BAD, "gap": GAP}


class ModelJob:
    """What the contract says a job is, as plainly as possible."""

    def __init__(self, task, owner, instance, expires):
        self.id = task.job_id
        self.owner = owner
        self.instance = instance
        self.stage = "core"
        self.repairs = 1
        self.token = task.step_token
        self.used = {}
        self.end = None
        self.expires = expires
        self.leaves = None


class Bridge(RuleBasedStateMachine):
    """Every rule does one call on the real bridge and the same on the model."""

    @initialize(clocked=st.booleans())
    def open(self, clocked):
        self.clock = Clock()
        options = {"job_ttl_ms": int(JOB_TTL * 1000), "replay_ttl_ms": int(REPLAY_TTL * 1000)}
        self.clocked = clocked
        self.context = bridge_of(
            clock=self.clock,
            configs={"t": {}, "o": {"schema": ORDER_SCHEMA}, "p": {"schema": ORDER_SCHEMA}},
            max_jobs=MAX_JOBS,
            max_replay_entries=MAX_ENTRIES,
            **(options if clocked else {}),
        )
        self.bridge = self.context.__enter__()
        self.sessions = [self.bridge.connect(), self.bridge.connect()]
        self.closed = set()
        self.disposed = set()
        self.bridge_closed = False
        # Kept jobs by id; finished ones are in order of use, oldest first.
        self.kept = {}
        self.gone = []

    def teardown(self):
        if hasattr(self, "context"):
            self.context.__exit__(None, None, None)

    # The model's own helpers.

    def active(self):
        return [job for job in self.kept.values() if job.end is None]

    def sweep(self):
        for job in list(self.kept.values()):
            if job.end is None and self.clocked and job.expires <= self.clock.now:
                self.finish(job, "BRIDGE_JOB_EXPIRED")
            if job.leaves is not None and job.leaves <= self.clock.now:
                del self.kept[job.id]

    def finish(self, job, end):
        job.end = end
        job.token = None
        job.leaves = self.clock.now + REPLAY_TTL if self.clocked else None
        self.use(job)

    def use(self, job):
        self.kept[job.id] = self.kept.pop(job.id)

    def find(self, session, job):
        """The job as this session may see it; finding a finished one uses it."""
        kept = self.kept.get(job.id)
        if kept is None or kept.owner != session:
            return None
        if kept.end is not None:
            self.use(kept)
        return kept

    def dead(self, session):
        return self.bridge_closed or session in self.closed

    def any_job(self, draw):
        return draw.draw(st.sampled_from(list(self.kept.values()) + self.gone), label="job")

    # The rules.

    @rule(
        session=st.integers(0, 1),
        instance=st.sampled_from(["t", "o", "p", "nope"]),
        text=st.sampled_from([INPUT, " "]),
    )
    def prepare(self, session, instance, text):
        self.do_prepare(session, instance, text)

    def do_prepare(self, session, instance, text):
        reply = self.sessions[session].prepare(instance=instance, input=text)
        if self.dead(session):
            assert code_of(reply) == "BRIDGE_JOB_NOT_FOUND"
            return
        if instance == "nope":
            assert code_of(reply) == "INPUT_INVALID"
            return
        self.sweep()
        if instance in self.disposed:
            assert code_of(reply) == "INSTANCE_DISPOSED"
        elif len(self.active()) >= MAX_JOBS:
            assert code_of(reply) == "LIMIT_EXCEEDED"
        elif text == " ":
            assert code_of(reply) == "INPUT_INVALID"
        else:
            assert reply.kind == "task"
            finished = [job for job in self.kept.values() if job.end is not None]
            while len(self.kept) >= MAX_ENTRIES:
                oldest = finished.pop(0)
                self.gone = [*self.gone, oldest]
                del self.kept[oldest.id]
            expires = self.clock.now + JOB_TTL
            self.kept[reply.job_id] = ModelJob(reply, session, instance, expires)
            assert (reply.expires_at is not None) == self.clocked

    @rule(
        session=st.integers(0, 1),
        draw=st.data(),
        which=st.sampled_from(["current", "used", "forged"]),
        text=st.sampled_from(list(DATAS)),
    )
    def accept(self, session, draw, which, text):
        if not (self.kept or self.gone):
            return
        job = self.any_job(draw)
        token = job.token or "none"
        if which == "used" and job.used:
            token = draw.draw(st.sampled_from(sorted(job.used)), label="token")
        if which == "forged":
            token = "forged-é"  # noqa: S105 - that is the point
        source = CORES if (job.used.get(token, (None, None, job.stage))[2]) == "core" else DATAS
        self.do_accept(session, job, token, source.get(text, BAD))

    def do_accept(self, session, job, token, candidate):
        reply = submit(self.sessions[session], FakeTask(job.id, token), candidate)
        if self.dead(session):
            assert code_of(reply) == "BRIDGE_JOB_NOT_FOUND"
            return
        self.sweep()
        self.expect_accept(self.find(session, job), token, candidate, reply)

    def expect_accept(self, job, token, candidate, reply):
        if job is None:
            assert code_of(reply) == "BRIDGE_JOB_NOT_FOUND"
        elif job.end in ("BRIDGE_JOB_EXPIRED", "INSTANCE_DISPOSED"):
            assert code_of(reply) == job.end
        elif token in job.used:
            text, recorded, _ = job.used[token]
            expected = recorded if text == candidate else None
            assert (
                (reply.to_dict() == expected)
                if expected
                else code_of(reply) == "BRIDGE_STEP_CONFLICT"
            )
        elif token != job.token:
            assert code_of(reply) == "BRIDGE_STEP_CONFLICT"
        else:
            self.advance(job, token, candidate, reply)

    def advance(self, job, token, candidate, reply):
        stage = job.stage
        kind, detail = outcome(job, candidate)
        assert code_of(reply) == (kind if kind != "error" else detail), (job.stage, candidate)
        job.used[token] = (candidate, reply.to_dict(), stage)
        if kind == "task":
            assert reply.stage == detail
            assert reply.step_token != token
            job.repairs = job.repairs - 1 if detail == stage else 1
            job.stage, job.token = detail, reply.step_token
            job.expires = self.clock.now + JOB_TTL
            if self.clocked:
                # Jobs that expire together end in the order of their deadlines.
                self.use(job)
        else:
            self.finish(job, detail or "result")

    @rule(
        session=st.integers(0, 1),
        draw=st.data(),
        how=st.sampled_from([None, "cancelled", "refusal", "incomplete", "stop"]),
    )
    def cancel(self, session, draw, how):
        if not (self.kept or self.gone):
            return
        job = self.any_job(draw)
        reply = self.sessions[session].cancel(job_id=job.id, outcome=how)
        if self.dead(session):
            assert code_of(reply) == "BRIDGE_JOB_NOT_FOUND"
            return
        if how == "stop":
            assert code_of(reply) == "INPUT_INVALID"
            return
        self.sweep()
        kept = self.find(session, job)
        if kept is None:
            assert code_of(reply) == "BRIDGE_JOB_NOT_FOUND"
            return
        if kept.end is None:
            ends = {"refusal": "MODEL_REFUSED", "incomplete": "MODEL_OUTPUT_INCOMPLETE"}
            self.finish(kept, ends.get(how, "MODEL_ABORTED"))
            assert (reply.error.partial_result is not None) == (kept.stage == "data")
        assert code_of(reply) == kept.end

    @precondition(lambda self: not self.active())
    @rule(session=st.integers(0, 1), instance=st.sampled_from(["t", "o", "p"]))
    def prepare_the_first(self, session, instance):
        self.do_prepare(session, instance, INPUT)

    @precondition(lambda self: self.active())
    @rule(draw=st.data(), text=st.sampled_from(["good", "good", "spaced", "bad", "gap"]))
    def answer_own_task(self, draw, text):
        """The ordinary step, so that jobs get somewhere."""
        job = draw.draw(st.sampled_from(self.active()), label="job")
        source = CORES if job.stage == "core" else DATAS
        self.do_accept(job.owner, job, job.token, source.get(text, BAD))

    @precondition(lambda self: self.active())
    @rule(draw=st.data())
    def answer_well(self, draw):
        job = draw.draw(st.sampled_from(self.active()), label="job")
        self.do_accept(job.owner, job, job.token, CORE if job.stage == "core" else DATA)

    @precondition(lambda self: any(job.used for job in self.kept.values()))
    @rule(draw=st.data(), same=st.booleans())
    def submit_again(self, draw, same):
        job = draw.draw(
            st.sampled_from([job for job in self.kept.values() if job.used]), label="job"
        )
        token = draw.draw(st.sampled_from(sorted(job.used)), label="token")
        text = job.used[token][0]
        self.do_accept(job.owner, job, token, text if same else text + " ")

    @rule(draw=st.data())
    def disturb(self, draw):
        """Time passing, and now and then an end of something."""
        kind = draw.draw(
            st.sampled_from([*["wait"] * 8, "close_session", *["dispose"] * 3, "close_bridge"])
        )
        if kind == "wait":
            self.clock.now += draw.draw(st.sampled_from([1, 1, 1, 30, 61, 101]))
        elif kind == "close_session":
            self.close_session(
                draw.draw(st.integers(0, 1)), draw.draw(st.sampled_from([True, True, False]))
            )
        elif kind == "dispose":
            self.dispose(draw.draw(st.sampled_from("op")))
        elif draw.draw(st.integers(0, 7)) == 5:
            self.bridge.close()
            self.bridge_closed = True
            self.kept = {}

    def close_session(self, session, reopen):
        self.sessions[session].close()
        if self.dead(session):
            return
        self.sweep()
        released = [job for job in self.kept.values() if job.owner == session]
        for job in released:
            del self.kept[job.id]
        self.gone = [*self.gone, *released[:1]]
        self.closed.add(session)
        if reopen:
            self.sessions[session] = self.bridge.connect()
            self.closed.discard(session)

    def dispose(self, instance):
        self.bridge.intents[instance].dispose()
        if instance in self.disposed or self.bridge_closed:
            return
        self.disposed.add(instance)
        self.sweep()
        for job in self.active():
            if job.instance == instance:
                self.finish(job, "INSTANCE_DISPOSED")

    @invariant()
    def the_books_counts_add_up(self):
        if not hasattr(self, "bridge"):
            return
        book = self.bridge._desk._book
        assert book._active_bytes == sum(job.size for job in book._active.values())
        assert book._finished_bytes == sum(job.size for job in book._finished.values())
        assert len(book) <= MAX_ENTRIES
        owned = {job_id for ids in book._owned.values() for job_id in ids}
        assert owned == set(book._active) | set(book._finished)
        if not self.clocked:
            assert set(book._active) | set(book._finished) == set(self.kept)


def outcome(job, candidate):
    """What a candidate leads to: ("task", stage), ("result", None) or ("error", code)."""
    if job.stage == "core" and candidate.rstrip() == CORE:
        return ("result", None) if job.instance == "t" else ("task", "data")
    if job.stage == "data" and candidate.rstrip() == DATA:
        return "result", None
    if job.stage == "data" and candidate == GAP:
        return "error", "DATA_EXTRACTION_FAILED"
    return ("task", job.stage) if job.repairs else ("error", "MODEL_OUTPUT_INVALID")


class FakeTask:
    def __init__(self, job_id, step_token):
        self.job_id = job_id
        self.step_token = step_token


TestBridge = Bridge.TestCase
TestBridge.settings = settings(max_examples=EXAMPLES, stateful_step_count=60, deadline=None)
