"""The book of jobs at its bounds: bytes, entries, deadlines (contract section 10)."""

from datetime import datetime

import msgspec
import pytest

from intent_runtime.bridge.book import Book, Capacity
from intent_runtime.bridge.jobs import Job
from intent_runtime.errors import IntentFailure
from intent_runtime.values import MAX_TIMER_MS
from support.bridging import Clock

OWNER = object()
END = IntentFailure(code="MODEL_ABORTED", stage="bridge", message="-")
CAPACITY = {
    "max_jobs": 9,
    "max_replay_entries": 9,
    "max_replay_bytes": 100,
    "job_ttl_ms": 0,
    "replay_ttl_ms": 0,
}


def book_of(clock=None, **changes):
    return Book(Capacity(**{**CAPACITY, **changes}), clock or Clock())


def job_of(name, size, deadline=None):
    return Job(name, OWNER, None, None, "token", size, deadline=deadline)


def grown(job, size):
    return msgspec.structs.replace(job, size=size)


def finished(job, size=None):
    return msgspec.structs.replace(job, token=None, end=END, size=size or job.size)


def add_finished(book, name, size):
    job = job_of(name, size)
    assert book.add(job)
    book.end(finished(job))


@pytest.mark.parametrize(("size", "fits"), [(99, True), (100, True), (101, False)])
def test_a_new_job_fits_up_to_the_bytes(size, fits):
    book = book_of()
    assert book.add(job_of("a", size)) is fits
    assert book.kept_bytes == (size if fits else 0)


@pytest.mark.parametrize(("size", "stays"), [(59, True), (60, True), (61, False)])
def test_a_finished_record_goes_only_when_a_new_job_needs_its_bytes(size, stays):
    book = book_of()
    add_finished(book, "old", 40)
    assert book.add(job_of("new", size))
    assert (book.current("old") is not None) is stays
    assert book.kept_bytes == (40 + size if stays else size)


@pytest.mark.parametrize(("size", "fits"), [(99, True), (100, True), (101, False)])
def test_a_job_may_grow_up_to_the_bytes(size, fits):
    book = book_of()
    job = job_of("a", 60)
    book.add(job)
    assert book.replace(grown(job, size)) is fits
    assert book.current("a").size == (size if fits else 60)
    assert book.kept_bytes == (size if fits else 60)


@pytest.mark.parametrize(("size", "stays"), [(60, True), (61, False)])
def test_a_finished_record_goes_only_when_a_growing_job_needs_its_bytes(size, stays):
    book = book_of()
    add_finished(book, "old", 40)
    job = job_of("a", 50)
    book.add(job)
    assert book.replace(grown(job, size))
    assert (book.current("old") is not None) is stays


def test_a_job_may_grow_though_there_is_no_entry_left():
    book = book_of(max_replay_entries=2)
    add_finished(book, "old", 10)
    job = job_of("a", 10)
    book.add(job)
    assert book.replace(grown(job, 20))
    assert len(book) == 2


@pytest.mark.parametrize(("size", "stays"), [(99, True), (100, True), (101, False)])
def test_an_end_keeps_its_record_up_to_the_bytes(size, stays):
    book = book_of()
    job = job_of("a", 50)
    book.add(job)
    book.end(finished(job, size))
    assert (book.current("a") is not None) is stays


def test_a_job_with_the_deadline_it_had_keeps_its_place_in_the_line():
    clock = Clock()
    book = book_of(clock, job_ttl_ms=60_000)
    first = job_of("first", 10, book.deadline())
    book.add(first)
    clock.now += 30
    book.add(job_of("second", 10, book.deadline()))
    book.replace(grown(first, 11))
    clock.now += 30
    assert [job.id for job in book.expired()] == ["first"]


class OneMoment(datetime):
    """A wall clock that stands still."""

    @classmethod
    def now(cls, tz=None):
        return cls(2026, 12, 1, tzinfo=tz)


def test_a_deadline_is_one_ttl_ahead_on_both_clocks(monkeypatch):
    monkeypatch.setattr("intent_runtime.bridge.book.datetime", OneMoment)
    clock = Clock()
    deadline = book_of(clock, job_ttl_ms=61_500).deadline()
    assert deadline.at == clock.now + 61.5
    assert deadline.text == "2026-12-01T00:01:01.500Z"


@pytest.mark.parametrize(("waited", "due"), [(59.999, False), (60, True), (60.001, True)])
def test_an_active_job_is_due_at_its_deadline(waited, due):
    clock = Clock()
    book = book_of(clock, job_ttl_ms=60_000)
    book.add(job_of("a", 10, book.deadline()))
    clock.now += waited
    assert [job.id for job in book.expired()] == (["a"] if due else [])


@pytest.mark.parametrize(("waited", "stays"), [(59.999, True), (60, False), (60.001, False)])
def test_a_finished_record_goes_after_the_replay_ttl(waited, stays):
    clock = Clock()
    book = book_of(clock, replay_ttl_ms=60_000)
    add_finished(book, "a", 10)
    clock.now += waited
    assert book.expired() == []
    assert (book.current("a") is not None) is stays


@pytest.mark.parametrize("name", CAPACITY)
def test_each_capacity_has_its_lowest_and_its_highest_number(name):
    lowest = 0 if name.endswith("ttl_ms") else 1
    wire = Capacity.__struct_encode_fields__[Capacity.__struct_fields__.index(name)]
    for number in (lowest, MAX_TIMER_MS):
        assert Capacity(**{**CAPACITY, name: number}).problem() is None
    for number in (lowest - 1, MAX_TIMER_MS + 1):
        problem = Capacity(**{**CAPACITY, name: number}).problem()
        assert problem == f"{wire} must be an integer from {lowest} to {MAX_TIMER_MS}."
