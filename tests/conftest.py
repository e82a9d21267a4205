"""Settings and fixtures for all tests."""

import gc

import pytest
from hypothesis import HealthCheck, settings

# Timings never decide a test: a busy machine is no fault of the code.
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# `make check`: fewer examples of each property; `make test` has the usual number.
settings.register_profile("quick", settings.get_profile("steady"), max_examples=25)
settings.load_profile("steady")


@pytest.fixture
def nothing_is_left_unretrieved(caplog):
    """Afterwards asyncio has nothing to complain of: no exception that nobody looked at."""
    yield
    gc.collect()
    records = [*caplog.get_records("call"), *caplog.records]
    assert [record.getMessage() for record in records if record.name == "asyncio"] == []
