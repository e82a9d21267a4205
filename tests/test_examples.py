"""The examples run as they stand."""

import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, "-X", "utf8", EXAMPLES / name, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=True,
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
