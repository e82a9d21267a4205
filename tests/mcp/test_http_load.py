"""Many clients at once, as fast as they go (contract section 11)."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.bridging import CORE, DATA, ORDER_SCHEMA
from support.http_mcp import ERAS, HttpService, write_config

CLIENTS = 8
SECONDS = float(os.environ.get("INTENT_RUNTIME_HTTP_SECONDS", "5"))


def cycles(service, number, end):
    """Whole cycles until the end; how many, and the task left open on purpose."""
    done = 0
    with service.client(ERAS[number % 2]) as client:
        kept = client.prepare("o", f"Look up order 000123. ({number})")
        while time.monotonic() < end:
            text = f"Look up order 000123. ({number}, {done})"
            result = client.cycle([CORE, DATA], text=text)
            assert result["input"] == text
            assert result["data"] == {"orderId": "000123"}
            done += 1
    return done, kept


@pytest.mark.slow
@pytest.mark.timeout(120 + SECONDS)
def test_no_error_and_no_lost_job(tmp_path, record_property):
    config = write_config(tmp_path, {"o": {"schema": ORDER_SCHEMA}})
    capacity = ["--max-jobs", 2 * CLIENTS, "--max-replay-entries", 1_000]
    with HttpService(tmp_path, config, *capacity) as service:
        end = time.monotonic() + SECONDS
        with ThreadPoolExecutor(CLIENTS) as threads:
            counts = list(threads.map(lambda n: cycles(service, n, end), range(CLIENTS)))
        total = sum(done for done, _ in counts)
        record_property("cycles", total)
        print(f"{total} cycles in {SECONDS:g} s")  # noqa: T201 - shown with -s
        assert all(done > 0 for done, _ in counts)
        # What each left open before thousands of others is still there.
        with service.client() as client:
            for _, kept in counts:
                second = client.accept(kept, CORE)
                assert second["stage"] == "data"
                assert client.accept(second, DATA)["kind"] == "result"
            # Nothing else is open: there is room for exactly as many jobs as told.
            for _ in range(2 * CLIENTS):
                client.prepare("o")
            refused = client.call("intent_prepare", instance="o", input="one more")
            assert refused["error"]["code"] == "LIMIT_EXCEEDED"
        assert service.log() == ""
