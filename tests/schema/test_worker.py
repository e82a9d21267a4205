"""Validation with a hard time bound, in children that can be killed (contract section 3)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from concurrent.futures import CancelledError, Future
from pathlib import Path

import pytest

from intent_runtime.pointer import resolve
from intent_runtime.schema.native import NativeSchema, Report
from intent_runtime.schema.weights import Shape
from intent_runtime.schema.worker import MAX_CHILDREN, OverBudgetError, ValidationPool

# What hides the work from the in-place bound; the counts only decide where it runs.
HUGE = Shape(10**9, 10**9, 10**9)
SAFETY = 1.0
TASKS = Path("/proc/self/task")


def native(schema):
    return NativeSchema({"type": "object", "properties": {"v": schema}})


def nest(keyword, width, depth, leaf):
    for _ in range(depth):
        leaf = {keyword: [leaf] * width}
    return leaf


EASY = native({"type": "string", "description": "d"})
# Exponential in the backtracking engine, which look-around asks for.
STUCK = native({"pattern": "^(?:(?=a)a|(?=a)a)*$"})
STUCK_DATA = {"v": "a" * 60 + "!"}


@pytest.fixture
def pool():
    opened = []

    def make(max_ms=5_000, max_entries=32):
        opened.append(ValidationPool(max_ms, max_entries))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def located(data, pointers):
    """Pointers into data, and where they lead."""
    return {pointer: resolve(data, pointer)[0] for pointer in pointers}


def submit(pool, schema, data, checked=()):
    answer = pool.validate(schema, data, located(data, checked), HUGE)
    assert isinstance(answer, Future)
    return answer


def children():
    """The process ids of our own children; zombies count, since they must be reaped."""
    return {int(pid) for task in TASKS.iterdir() for pid in _lines(task / "children")}


def _lines(path):
    try:
        return path.read_text("ascii").split()
    except OSError:
        return []


def wait_until(condition, seconds=5.0):
    """Whether the condition came true; a child that was killed takes a moment to go."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.005)
    return True


needs_proc = pytest.mark.skipif(not TASKS.exists(), reason="needs /proc to see children")


def test_bounded_work_is_answered_in_place(pool):
    answer = pool().validate(EASY, {"v": "x"}, {}, Shape(2, 1, 1))
    assert answer == Report(True, (), ("/data/v",), 1)


IN_PLACE = [
    ("missing_names", {"items": {"required": [f"r{n}" for n in range(300)]}}, [{}] * 300, 300),
    ("tiny_divisor", {"items": {"allOf": [{"multipleOf": 1e-300}] * 4}}, [2**52 + 0.5] * 19_000, 0),
    ("long_enum", {"items": {"enum": ["a" * 120_000]}}, ["b"] * 640, 640),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "items", "texts"), [r[1:] for r in IN_PLACE], ids=[r[0] for r in IN_PLACE]
)
def test_work_done_in_place_takes_milliseconds(pool, schema, items, texts):
    checker, data = native(schema), {"v": items}
    assert checker.is_valid({"v": []})
    took = []
    for _ in range(3):
        begin = time.monotonic()
        pool().validate(checker, data, {}, Shape(2 + len(items), 1 + texts, texts))
        took.append(time.monotonic() - begin)
    # In place is for a few milliseconds; what takes longer belongs in a child.
    assert min(took) < 0.08


def test_a_child_answers_as_the_validator_in_place_does(pool):
    mine = pool()
    for data, checked in (({"v": "文"}, []), ({"v": "x"}, ["/v"]), ({"v": 1.5}, []), ({}, [])):
        assert submit(mine, EASY, data, checked).result() == EASY.report(
            data, set(located(data, checked).values())
        )


def test_a_child_knows_more_schemas_than_it_keeps(pool):
    mine = pool()
    schemas = [native({"const": number}) for number in range(20)]
    for _ in range(2):
        for number, schema in enumerate(schemas):
            assert submit(mine, schema, {"v": number}).result().valid
            assert not submit(mine, schema, {"v": -1}).result().valid


HOSTILE = [
    ("nested_plus", {"pattern": "^(a+)+$"}, "a" * 30 + "!"),
    ("nested_plus_backtracking", {"pattern": r"^(a+)+\b$"}, "a" * 60 + "!"),
    ("counted_repeat", {"pattern": "[ab]*a[ab]{5000}c"}, "ab" * 125_000),
    ("look_ahead_repeat", {"pattern": "(?=a)(?:.{0,500}){20}$"}, "a" * 10_000 + "\n"),
    ("large_enum", {"items": {"enum": [{"k": n} for n in range(5_000)]}}, [{"k": -1}] * 6_000),
    (
        "all_of_nest",
        {"items": nest("allOf", 14, 3, {"format": "uri"})},
        ["http://a.example/x"] * 12_000,
    ),
    ("any_of_nest", {"items": nest("anyOf", 16, 4, False)}, [0] * 3_000),
    ("unique_items", {"uniqueItems": True}, [{"k": n} for n in range(10_000)]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "value"), [r[1:] for r in HOSTILE], ids=[r[0] for r in HOSTILE])
def test_hostile_work_ends_within_its_budget_and_the_pool_works_on(pool, schema, value):
    mine = pool(max_ms=400)
    hostile = native(schema)
    begin = time.monotonic()
    with contextlib.suppress(OverBudgetError):
        assert isinstance(submit(mine, hostile, {"v": value}).result(timeout=30), Report)
    assert time.monotonic() - begin < 0.4 + 0.1 + SAFETY
    assert wait_until(lambda: _works(mine))


def _works(mine):
    try:
        return submit(mine, EASY, {"v": "x"}).result().valid
    except OverBudgetError:
        return False


def test_endless_work_ends_with_the_budget(pool):
    mine = pool(max_ms=300)
    begin = time.monotonic()
    with pytest.raises(OverBudgetError):
        submit(mine, STUCK, STUCK_DATA).result(timeout=30)
    assert 0.25 < time.monotonic() - begin < 0.3 + 0.1 + SAFETY


def test_the_deadline_counts_the_time_in_the_queue(pool):
    mine = pool(max_ms=300)
    begin = time.monotonic()
    answers = [submit(mine, STUCK, STUCK_DATA) for _ in range(5 * MAX_CHILDREN)]
    for answer in answers:
        with pytest.raises(OverBudgetError):
            answer.result(timeout=30)
    assert time.monotonic() - begin < 0.3 + 0.1 + SAFETY


@pytest.mark.slow
def test_a_deadline_that_passes_at_the_start_still_ends_the_work(pool):
    mine = pool(max_ms=1)
    begin = time.monotonic()
    for _ in range(150):
        with pytest.raises(OverBudgetError):
            submit(mine, STUCK, STUCK_DATA).result(timeout=30)
    assert time.monotonic() - begin < 150 * 0.1 + SAFETY


def test_running_and_waiting_work_is_bounded(pool):
    mine = pool(max_ms=600, max_entries=3)
    answers = [submit(mine, STUCK, STUCK_DATA) for _ in range(3)]
    begin = time.monotonic()
    with pytest.raises(OverBudgetError):
        submit(mine, EASY, {"v": "x"}).result(timeout=30)
    assert time.monotonic() - begin < 0.3
    for answer in answers:
        with pytest.raises(OverBudgetError):
            answer.result(timeout=30)
    assert wait_until(lambda: _works(mine))


def test_the_bound_of_one_admits_one_at_a_time(pool):
    mine = pool(max_entries=1)
    for _ in range(5):
        assert wait_until(lambda: _works(mine))


@needs_proc
def test_cancelling_kills_the_work(pool):
    before = children()
    mine = pool(max_ms=60_000)
    answer = submit(mine, STUCK, STUCK_DATA)
    assert wait_until(lambda: children() - before)
    assert answer.cancel()
    assert wait_until(lambda: not children() - before)
    assert submit(mine, EASY, {"v": "x"}).result(timeout=30).valid


@pytest.mark.slow
def test_work_cancelled_while_it_waits_is_never_run(pool):
    mine = pool(max_ms=4_000)
    running = [submit(mine, STUCK, STUCK_DATA) for _ in range(MAX_CHILDREN)]
    waiting = [submit(mine, STUCK, STUCK_DATA) for _ in range(2 * MAX_CHILDREN)]
    for answer in (*waiting, *running):
        assert answer.cancel()
    begin = time.monotonic()
    assert submit(mine, EASY, {"v": "x"}).result(timeout=30).valid
    assert time.monotonic() - begin < 1 + SAFETY


def test_work_cancelled_while_it_waits_leaves_room_in_the_queue(pool):
    mine = pool(max_ms=20_000, max_entries=MAX_CHILDREN + 1)
    running = [submit(mine, STUCK, STUCK_DATA) for _ in range(MAX_CHILDREN)]
    assert submit(mine, STUCK, STUCK_DATA).cancel()
    next_one = submit(mine, EASY, {"v": "x"})
    running[0].cancel()
    assert next_one.result(timeout=30).valid


def test_several_threads_share_a_pool(pool):
    mine = pool(max_ms=20_000)
    outcomes = []

    def work(number):
        schema = native({"const": number % 3})
        outcomes.extend(
            submit(mine, schema, {"v": n}).result(timeout=30).valid == (n == number % 3)
            for n in range(5)
        )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 30


@needs_proc
def test_never_more_children_than_two(pool):
    before = children()
    mine = pool(max_ms=400)
    answers = [submit(mine, STUCK, STUCK_DATA) for _ in range(6)]
    most = 0
    while not all(answer.done() for answer in answers):
        most = max(most, len(children() - before))
        threading.Event().wait(0.01)
    assert 1 <= most <= MAX_CHILDREN


@needs_proc
def test_a_child_that_dies_costs_its_work_and_no_more(pool):
    before = children()
    mine = pool(max_ms=60_000)
    answer = submit(mine, STUCK, STUCK_DATA)
    assert wait_until(lambda: children() - before)
    for pid in children() - before:
        os.kill(pid, 9)
    with pytest.raises(OverBudgetError):
        answer.result(timeout=30)
    assert submit(mine, EASY, {"v": "x"}).result(timeout=30).valid


@needs_proc
def test_an_idle_child_that_died_is_replaced(pool):
    before = children()
    mine = pool(max_ms=60_000)
    assert submit(mine, EASY, {"v": "x"}).result(timeout=30).valid
    for pid in children() - before:
        os.kill(pid, 9)
    assert wait_until(lambda: _works(mine))


@needs_proc
def test_closing_leaves_no_threads_and_no_children():
    threads, before = set(threading.enumerate()), children()
    mine = ValidationPool(60_000, 32)
    for _ in range(2):
        assert submit(mine, EASY, {"v": "x"}).result(timeout=30).valid
    answers = [submit(mine, STUCK, STUCK_DATA) for _ in range(4)]
    assert wait_until(lambda: len(children() - before) == MAX_CHILDREN)
    begin = time.monotonic()
    mine.close()
    assert time.monotonic() - begin < SAFETY
    for answer in answers:
        with pytest.raises((OverBudgetError, CancelledError)):
            answer.result(timeout=30)
    assert wait_until(lambda: set(threading.enumerate()) <= threads)
    assert wait_until(lambda: not children() - before)


@pytest.mark.slow
@needs_proc
def test_closing_right_after_submitting_waits_for_nothing():
    before = children()
    for _ in range(40):
        mine = ValidationPool(1_800, 32)
        answer = submit(mine, STUCK, STUCK_DATA)
        begin = time.monotonic()
        mine.close()
        assert time.monotonic() - begin < SAFETY
        with pytest.raises((OverBudgetError, CancelledError)):
            answer.result(timeout=30)
    assert wait_until(lambda: not children() - before)


def test_a_closed_pool_takes_no_work_and_closes_again():
    mine = ValidationPool(1_000, 32)
    mine.close()
    mine.close()
    assert submit(mine, EASY, {"v": "x"}).cancelled()
    assert mine.validate(EASY, {"v": "x"}, {}, Shape(2, 1, 1)).valid
