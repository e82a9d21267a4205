"""Hosts call from thread pools: exactly one advance a step, no lost reply, no deadlock."""

import asyncio
import os
import threading

import pytest

from support.bridging import CORE, DATA, INPUT, ORDER_SCHEMA, bridge_of, code_of, data

THREADS = 8
JOBS = int(os.environ.get("INTENT_RUNTIME_THREAD_JOBS", "2000"))
# A safety bound only: a deadlock must fail the test, not hang it.
WATCHDOG_SECONDS = 100
# Look-ahead sends the data stage to a child process, so that submissions overlap for real.
CHILD_SCHEMA = {
    "type": "object",
    "properties": {"orderId": {"type": "string", "pattern": "^(?=0)\\d+$"}},
}


class Together:
    """Runs one function in all threads at once and hands out what they returned."""

    def __init__(self):
        self.errors = []

    def run(self, work):
        results = [None] * THREADS
        start = threading.Barrier(THREADS)

        def body(number):
            try:
                with asyncio.Runner() as runner:
                    start.wait(WATCHDOG_SECONDS)
                    results[number] = runner.run(work(number))
            except BaseException as error:
                self.errors.append(error)

        threads = [threading.Thread(target=body, args=(n,), daemon=True) for n in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WATCHDOG_SECONDS)
        assert not any(thread.is_alive() for thread in threads), "a thread is stuck"
        assert self.errors == []
        return results


@pytest.mark.slow
def test_duplicates_and_conflicts_from_many_threads_advance_each_step_once():
    with bridge_of(
        configs={"o": {"schema": ORDER_SCHEMA}},
        max_jobs=JOBS,
        max_replay_entries=JOBS,
        max_replay_bytes=2**30,
    ) as bridge:
        session = bridge.connect()
        tasks = [session.prepare(instance="o", input=INPUT) for _ in range(JOBS)]

        async def work(number):
            seen = []
            for task in tasks:
                # Two texts for the same step: one of them wins, for everybody.
                core = CORE if number % 2 else CORE + " "
                reply = await session.accept(
                    job_id=task.job_id, step_token=task.step_token, candidate_text=core
                )
                seen.append(reply)
                if reply.kind == "task":
                    end = await session.accept(
                        job_id=task.job_id, step_token=reply.step_token, candidate_text=DATA
                    )
                    seen.append(end)
                else:
                    seen.append(None)
            return seen

        rows = Together().run(work)
        for index in range(JOBS):
            first = [row[2 * index] for row in rows]
            ends = [row[2 * index + 1] for row in rows]
            won = [reply for reply in first if reply.kind == "task"]
            lost = [reply for reply in first if reply.kind == "error"]
            assert len({reply.step_token for reply in won}) == 1
            assert {len(won), len(lost)} == {THREADS // 2}
            assert {code_of(reply) for reply in lost} == {"BRIDGE_STEP_CONFLICT"}
            finished = [end for end in ends if end is not None]
            assert {code_of(end) for end in finished} == {"result"}
            assert len({end.to_json() for end in finished}) == 1


@pytest.mark.slow
def test_threads_share_validations_in_child_processes():
    with bridge_of(
        configs={"o": {"schema": CHILD_SCHEMA, "limits": {"maxValidationMs": 60_000}}}
    ) as bridge:
        session = bridge.connect()
        plain = data(checked=False)
        for _ in range(40):
            task = session.prepare(instance="o", input=INPUT)
            task = asyncio.run(
                session.accept(job_id=task.job_id, step_token=task.step_token, candidate_text=CORE)
            )

            async def work(number, task=task):
                text = plain if number % 2 else plain + " "
                return await session.accept(
                    job_id=task.job_id, step_token=task.step_token, candidate_text=text
                )

            codes = sorted(code_of(reply) for reply in Together().run(work))
            assert codes == ["BRIDGE_STEP_CONFLICT"] * 4 + ["result"] * 4


@pytest.mark.slow
def test_random_calls_from_many_threads_never_break_the_books():
    with bridge_of(max_jobs=6, max_replay_entries=9, max_replay_bytes=9_000) as bridge:
        sessions = [bridge.connect() for _ in range(2)]
        jobs = []

        async def work(number):
            for step in range(600):
                session = sessions[(number + step) % 2]
                match (number * 7 + step * 5) % 6:
                    case 0 | 1:
                        reply = session.prepare(instance="t" if step % 3 else "o", input=INPUT)
                        if reply.kind == "task":
                            jobs.append(reply)
                    case 2 | 3 if jobs:
                        task = jobs[step % len(jobs)]
                        await session.accept(
                            job_id=task.job_id, step_token=task.step_token, candidate_text=CORE
                        )
                    case 4 if jobs:
                        session.cancel(job_id=jobs[(step * 3) % len(jobs)].job_id)
                    case 5 if step % 50 == 0:
                        session.close()
                        sessions[(number + step) % 2] = bridge.connect()
                    case _:
                        pass

        Together().run(work)
        book = bridge._desk._book
        assert book._active_bytes == sum(job.size for job in book._active.values())
        assert book._finished_bytes == sum(job.size for job in book._finished.values())
        assert book.kept_bytes <= 9_000
        assert len(book) <= 9
        assert not any(job.in_flight for job in book._active.values())
