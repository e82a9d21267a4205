"""What importing costs: whole runs of a fresh interpreter; the first row is the bare one."""

import os
import subprocess
import sys

import pytest

STATEMENTS = {
    "1 bare python": "pass",
    "2 import intent_runtime": "import intent_runtime",
    "3 from intent_runtime import Intent": "from intent_runtime import Intent",
    "4 Intent and RulesExecutor": (
        "from intent_runtime import Intent; from intent_runtime.executors import RulesExecutor"
    ),
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_fresh_interpreter(benchmark, statement, tmp_path):
    command = [sys.executable, "-c", statement]
    # With byte code in place, as on any second start, whatever this environment says about it.
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)

    def start():
        subprocess.run(command, check=True, env=env)

    benchmark.pedantic(start, rounds=30, warmup_rounds=2)
