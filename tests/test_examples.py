"""The examples run as they stand."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.provider_server import ProviderServer
from support.provider_wires import KEY, MODEL, WIRES, rules_behind, words

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, *arguments, check=True):
    return subprocess.run(
        [sys.executable, "-X", "utf8", EXAMPLES / name, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=check,
        timeout=60,
    )


def test_the_demo_shows_both_requests():
    shown = run("demo.py").stdout
    assert "000123" in shown
    assert "不要修改它" in shown


def test_the_host_loop_shows_every_kind_of_step():
    lines = dict(line.split(": ", 1) for line in run("host_loop.py").stdout.splitlines())
    assert json.loads(lines["two stages"])["result"]["data"] == {"orderId": "000123"}
    gap = json.loads(lines["a gap"])["error"]
    assert gap["issues"][0]["code"] == "DATA_REQUIRED_MISSING"
    assert json.loads(lines["a refusal"])["error"]["code"] == "MODEL_REFUSED"
    assert "/normalizedInput" in lines["a repair"]
    assert json.loads(lines["too large"])["error"]["code"] == "LIMIT_EXCEEDED"
    assert json.loads(lines["resubmitted"])["kind"] == "result"


def test_the_host_in_another_process_gets_its_result():
    reply = json.loads(run("host_process.py", "查询订单 000123").stderr)
    assert reply["result"]["data"] == {"orderId": "000123"}


@pytest.fixture(scope="module")
def server():
    with ProviderServer() as running:
        yield running


@pytest.mark.parametrize("wire", WIRES, ids=[wire.name for wire in WIRES])
def test_the_api_example_asks_each_provider(server, wire, tmp_path):
    key = tmp_path / "key.txt"
    key.write_text(KEY + "\n", "utf-8")
    server.play(rules_behind)
    done = run("api.py", wire.name, MODEL, "查询订单 000123", "--key-file", key, "--base-url", server.url + wire.path)  # fmt: skip
    assert json.loads(done.stdout)["data"] == {"orderId": "000123"}
    assert "input_tokens=22" in done.stderr
    assert [request.target for request in server.requests] == [wire.target] * 2


def test_the_api_example_tells_what_is_missing(server):
    server.play(rules_behind)
    done = run("api.py", "openai-compatible", MODEL, "查询订单", "--base-url", server.url + "/v1", check=False)  # fmt: skip
    assert (done.returncode, done.stdout.split()[0]) == (2, "DATA_REQUIRED_MISSING")


def test_the_pydantic_example_gives_a_typed_object_offline_and_by_a_provider(server):
    offline = run("pydantic_schema.py").stdout
    assert "people=12" in offline
    assert "day=datetime.date(2026, 12, 24)" in offline
    server.play(rules_behind)
    text = "Book a room for 12 people on 2026-12-24"
    by_api = run("pydantic_schema.py", "openai-compatible", MODEL, text, "--base-url", server.url + "/v1").stdout  # fmt: skip
    assert "people=12" in by_api
    schema = json.loads(words(server.requests[0].body)[1])["schemaReference"]
    assert list(schema["properties"]) == ["people", "date", "budget", "equipment"]
