"""What is counted for a job (contract section 10): all that it keeps, in UTF-8 bytes."""

import pytest

from support.bridging import BAD, CORE, DATA, bridge_of, prepare, submit

# Two identifiers or tokens, or a digest and a token.
MARKS = 64


@pytest.fixture
def bridge():
    with bridge_of() as bridge:
        yield bridge


def size_of(bridge, task):
    return bridge._desk._book.current(task.job_id).size


def opened(bridge, instance="t", text="x", **options):
    return size_of(bridge, prepare(bridge.connect(), instance, text, **options))


def test_a_new_job_counts_its_marks_and_its_request(bridge):
    # The input, its JSON and that of no context.
    assert opened(bridge) == MARKS + len("x") + len('"x"') + len("[]")


@pytest.mark.parametrize(("text", "size"), [("x" * 100, 100), ("订" * 100, 300)])
def test_a_request_counts_twice_for_its_text_and_its_json(bridge, text, size):
    assert opened(bridge, text="x" + text) - opened(bridge) == 2 * size
    before = opened(bridge, context=[{"role": "user", "content": "x"}])
    after = opened(bridge, context=[{"role": "user", "content": "x" + text}])
    assert after - before == 2 * size


def test_selected_names_count(bridge):
    assert opened(bridge, "o", fields=["orderId"]) - opened(bridge, "o", fields=[]) == 7


def step(bridge, text, instance="o"):
    """The sizes before and after one submission."""
    session = bridge.connect()
    task = prepare(session, instance, "000123")
    before = size_of(bridge, task)
    submit(session, task, text)
    job = bridge._desk._book.current(task.job_id)
    return before, job


def test_a_core_result_counts_twice_once_it_is_there(bridge):
    before, job = step(bridge, CORE)
    assert job.size - before == MARKS + 2 * len(job.run.core.json.encode())


def test_a_repair_counts_what_it_shows_and_the_core_result_no_second_time(bridge):
    before, job = step(bridge, BAD)
    assert job.size - before == MARKS + len(job.run.repair_json.encode())
    session = bridge.connect()
    task = prepare(session, "o", "000123")
    task = submit(session, task, CORE)
    before = size_of(bridge, task)
    submit(session, task, BAD)
    job = bridge._desk._book.current(task.job_id)
    assert job.size - before == MARKS + len(job.run.repair_json.encode())


def test_a_result_counts_with_its_evidence(bridge):
    before, job = step(bridge, CORE, "t")
    assert job.size - before == MARKS + len(job.end.to_json().encode())
    session = bridge.connect()
    task = submit(session, prepare(session, "o", "000123"), CORE)
    before = size_of(bridge, task)
    submit(session, task, DATA)
    job = bridge._desk._book.current(task.job_id)
    evidence = '[{"path":"/data/orderId","mode":"exact","sources":[{"sourceId":"input","quote":"000123"}]}]'
    assert job.size - before == MARKS + len(job.end.to_json().encode()) + len(evidence)


def test_an_end_from_outside_counts_its_words(bridge):
    session = bridge.connect()
    task = prepare(session)
    before = size_of(bridge, task)
    error = session.cancel(job_id=task.job_id).error
    words = f'["{error.code}","{error.stage}","{error.message}",[]]'
    assert size_of(bridge, task) - before == len(words)
