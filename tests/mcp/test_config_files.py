"""Configuration files and options of the command: what they give, and one line on each mistake."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.bridging import CORE, ORDER_SCHEMA
from support.raw_mcp import BIN, COMMAND, outcome, serving, started

# Every test starts the real command.
pytestmark = pytest.mark.slow

SCHEMA_TEXT = json.dumps(ORDER_SCHEMA)
BOM = "\ufeff"


def run(*arguments, command=(COMMAND,), cwd=None):
    """The command with nothing on its input."""
    return subprocess.run(
        [*command, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        cwd=cwd,
        check=False,
    )


def write(path: Path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


GOOD = {
    "a.py": f"config = {{'instances': {{'o': {{'language': 'zh-CN', 'schema': {ORDER_SCHEMA}}}}}}}",
    "b.py": f"instances = {{'o': {{'language': 'zh-CN', 'schema': {ORDER_SCHEMA}}}}}",
    "c.py": (
        "from intent_runtime import Intent\n"
        f"instances = {{'o': Intent(language='zh-CN', schema={ORDER_SCHEMA})}}"
    ),
    "d.py": (
        "from types import MappingProxyType\n"
        "from intent_runtime.executors import RulesExecutor\n"
        f"entry = {{'language': 'zh-CN', 'schema': {ORDER_SCHEMA}, 'executor': RulesExecutor()}}\n"
        "config = MappingProxyType({'instances': MappingProxyType({'o': entry}), 'maxJobs': 'x'})"
    ),
    "e.py": "instances = {'o': {'language': 'zh-CN', 'schemaFile': 'order.schema.json'}}",
    "f.py": BOM + f"instances = {{'o': {{'language': 'zh-CN', 'schema': {ORDER_SCHEMA}}}}}",
    "a.toml": '[instances.o]\nlanguage = "zh-CN"\nschemaFile = "order.schema.json"\n',
    "b.TOML": BOM + '[instances.o]\r\nlanguage = "zh-CN"\r\nschemaFile = "order.schema.json"\r\n',
    "a.json": json.dumps({"instances": {"o": {"language": "zh-CN", "schema": ORDER_SCHEMA}}}),
    "b.json": BOM
    + json.dumps({"instances": {"o": {"language": "zh-CN", "schemaFile": "./order.schema.json"}}}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GOOD)
def test_a_file_of_each_kind_gives_its_instances(tmp_path, name):
    write(tmp_path / "order.schema.json", BOM + SCHEMA_TEXT)
    config = write(tmp_path / name, GOOD[name])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with serving(os.path.relpath(config, elsewhere), cwd=elsewhere) as service:
        payload = json.loads(service.prepare("o")["payload"])
        assert payload["structuredLanguage"] == "zh-CN"
        assert payload["schemaReference"]["properties"] == ORDER_SCHEMA["properties"]
        assert service.errors == ""


@pytest.mark.slow
def test_paths_and_names_of_any_script(tmp_path):
    folder = tmp_path / "配置 é"
    folder.mkdir()
    write(folder / "订单.json", SCHEMA_TEXT)
    config = write(folder / "意图.toml", '[instances."订单"]\nschemaFile = "订单.json"\n')
    with serving(config) as service:
        assert outcome(service.accept(service.prepare("订单"), CORE)) == "data"
        assert "订单" in service.prepare("x")["error"]["message"]


WATCHED = """
import os
from intent_runtime import Intent
mine = Intent()
real = Intent.dispose
def dispose(self):
    os.write(2, b"disposed mine\\n" if self is mine else b"disposed built\\n")
    real(self)
Intent.dispose = dispose
instances = {"mine": mine, "built": {}}
"""


@pytest.mark.slow
def test_the_command_disposes_what_it_built_and_nothing_else(tmp_path):
    config = write(tmp_path / "watched.py", WATCHED)
    with serving(config) as service:
        assert outcome(service.accept(service.prepare("mine"), CORE)) == "result"
        assert outcome(service.accept(service.prepare("built"), CORE)) == "result"
    assert service.errors == "disposed built\n"


NOISE = """
import os, subprocess, sys, threading
print("print at import")
sys.stdout.flush()
sys.__stdout__.write("the original stream\\n")
sys.__stdout__.flush()
os.write(1, b"straight to the descriptor\\n")
child = "import os, sys; os.write(1, b'from a child ' + os.read(0, 100)); print(sys.stdin.read())"
subprocess.run([sys.executable, "-c", child], check=True)
os.system("echo from a shell; cat")
assert sys.stdin.read() == ""
def later():
    for _ in range(1_000_000):
        try:
            os.write(1, b"noise ")
            print("printed later", file=sys.__stdout__, flush=True)
        except OSError:
            return
lingering = subprocess.Popen([sys.executable, "-c", "import time\\nwhile True:\\n print('x', flush=True)\\n time.sleep(0.01)"])
import atexit
atexit.register(lingering.kill)
os.write(2, b"lingering %d\\n" % lingering.pid)  # in one piece, before the noise
threading.Thread(target=later, daemon=True).start()
instances = {"t": {}}
"""


@pytest.mark.slow
@pytest.mark.skipif(
    os.name != "posix", reason="a POSIX shell, and a child that is killed by its id"
)
def test_nothing_but_protocol_is_on_standard_output(tmp_path):
    with serving(write(tmp_path / "noise.py", NOISE)) as service:
        lingering = int(service.told(r"lingering (\d+)"))
        try:
            for _ in range(20):
                assert outcome(service.accept(service.prepare(), CORE)) == "result"
            service.close_input()
            assert service.process.wait(30) == 0
        finally:
            os.kill(lingering, 9)
        assert service.exit_code() == 0
        assert service.noise == []
        assert len(service.lines) == 41
    assert "printed later" in service.errors


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a POSIX shell")
def test_standard_error_may_be_closed(tmp_path):
    config = write(tmp_path / "t.py", "print('noise')\ninstances = {'t': {}}")
    launcher = ("sh", "-c", 'exec "$0" "$@" 2>&-')
    with started(config, launcher=launcher) as service:
        service.open("2025-06-18")
        assert outcome(service.accept(service.prepare(), CORE)) == "result"
        service.end()


def instances(entry):
    return json.dumps({"instances": {"orders": entry}})


# File, content, and what its one line names besides the file.
MISTAKES = {
    "ending": ("a.yaml", "", ["unknown ending", ".toml"]),
    "no ending": ("config", "", ["unknown ending"]),
    "missing": ("a.toml", None, ["no such file"]),
    "folder": ("a.json", "folder", ["not a file"]),
    "json syntax": ("a.json", '{"instances": {}', ["not JSON", "line 1"]),
    "json trailing comma": ("a.json", '{"instances": {},}', ["not JSON"]),
    "json empty": ("a.json", "", ["not JSON"]),
    "json deep": ("a.json", "[" * 100_000, ["deep"]),
    "json deep instances": ("a.json", '{"instances":' + '{"a":' * 100_000, ["deep"]),
    "json number": ("a.json", instances({"timeoutMs": 1}).replace("1", "9" * 5_000), ["not JSON"]),
    "json not utf-8": ("a.json", b'{"instances": {"\xff": {}}}', ["UTF-8"]),
    "json utf-16": ("a.json", '{"instances": {}}'.encode("utf-16"), ["UTF-8"]),
    "json list": ("a.json", "[]", ["instances"]),
    "json null": ("a.json", "null", ["instances"]),
    "toml syntax": ("a.toml", "x = 1\n[instances", ["not TOML"]),
    "toml twice": ("a.toml", "[instances.a]\n[instances.a]\n", ["not TOML", "line 2"]),
    "toml deep": ("a.toml", "a = " + "[" * 100_000, ["deep"]),
    "toml not utf-8": ("a.toml", b"# \xff", ["UTF-8"]),
    "python syntax": ("a.py", "instances = {\n'a': }", ["line 2"]),
    "python deep": ("a.py", "(" * 100_000, []),
    "python not utf-8": ("a.py", b'x = "\xff"', []),
    "python null": ("a.py", "x = 1\0", []),
    "python both": ("a.py", "config = {'instances': {'a': {}}}\ninstances = {'a': {}}", ["both config and instances"]),
    "python neither": ("a.py", "x = 1", ["neither config nor instances"]),
    "python empty": ("a.py", "", ["neither config nor instances"]),
    "python raises": ("a.py", "raise ValueError('the cause')", ["ValueError", "the cause"]),
    "python import": ("a.py", "import no_such_module_here", ["no_such_module_here"]),
    "python exits": ("a.py", "import sys\nsys.exit('the cause')", ["SystemExit", "the cause"]),
    "python exits well": ("a.py", "import sys\nsys.exit(0)", ["SystemExit"]),
    "python lines": ("a.py", "raise ValueError('one\\ntwo\\r\\u2028three')", ["one two"]),
    "python surrogate": ("a.py", "raise ValueError('a\\ud800b')", ["ValueError"]),
    "python no text": ("a.py", "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", ["E"]),
    "python long": ("a.py", "raise ValueError('x' * 1_000_000)", ["ValueError"]),
    "python group": ("a.py", "raise BaseExceptionGroup('g', [ValueError('the cause')])", ["Group"]),
    "python intent": ("a.py", "from intent_runtime import Intent\nIntent(language='English')", ["CONFIG_INVALID", "language"]),
    "python recursion": ("a.py", "def f(): f()\nf()", ["RecursionError"]),
    "python config kind": ("a.py", "config = 5", ["instances"]),
    "python instances kind": ("a.py", "instances = [{}]", ["instances"]),
    "python class": ("a.py", "from intent_runtime import Intent\ninstances = {'orders': Intent}", ["orders"]),
    "python name": ("a.py", "instances = {5: {}}", ["names"]),
    "python key": ("a.py", "instances = {'orders': {5: 1}}", ["orders", "CONFIG_INVALID"]),
    "python executor": ("a.py", "instances = {'orders': {'executor': 5}}", ["orders", "executor"]),
    "empty instances": ("a.json", '{"instances": {}}', ["empty"]),
    "empty instances in toml": ("a.toml", "[instances]\n", ["empty"]),
    "empty instances in python": ("a.py", "instances = {}", ["empty"]),
    "no instances": ("a.toml", "x = 1\n", ["instances"]),
    "null instances": ("a.json", '{"instances": null}', ["instances"]),
    "entry kind": ("a.json", instances(5), ["orders"]),
    "null entry": ("a.json", instances(None), ["orders"]),
    "language": ("a.toml", '[instances.orders]\nlanguage = "English"\n', ["orders", "CONFIG_INVALID", "language"]),
    "unknown key": ("a.json", instances({"langauge": "en"}), ["orders", "CONFIG_INVALID", "langauge"]),
    "limit": ("a.json", instances({"limits": {"maxInputBytes": 0}}), ["orders", "maxInputBytes"]),
    "schema": ("a.json", instances({"schema": {"type": "object", "properties": {"a": {"$ref": "#"}}}}), ["orders", "SCHEMA_UNSUPPORTED", "$ref"]),
    "null schema": ("a.json", instances({"schema": None}), ["orders", "SCHEMA_UNSUPPORTED"]),
    "executor": ("a.json", instances({"executor": "rules"}), ["orders", "executor", ".py"]),
    "executor in toml": ("a.toml", '[instances.orders]\nexecutor = "rules"\n', ["orders", "executor"]),
    "second entry": ("a.json", '{"instances": {"fine": {}, "orders": {"language": "xx-XX"}}}', ["orders"]),
    "odd name": ("a.json", '{"instances": {"a\\nb": {"x": 1}}}', ["CONFIG_INVALID"]),
    "surrogate name": ("a.json", '{"instances": {"\\ud800": {}}}', []),
    "surrogate language": ("a.json", instances({"language": "\ud800"}), ["orders", "language"]),
    "toml date": ("a.toml", "[instances.orders]\nlanguage = 2026-12-01\n", ["orders", "language"]),
    "schemaFile missing": ("a.toml", '[instances.orders]\nschemaFile = "none.json"\n', ["orders", "none.json"]),
    "schemaFile folder": ("a.json", instances({"schemaFile": "."}), ["orders", "schemaFile"]),
    "schemaFile kind": ("a.json", instances({"schemaFile": 5}), ["orders", "schemaFile"]),
    "schemaFile empty": ("a.json", instances({"schemaFile": ""}), ["orders", "schemaFile"]),
    "schemaFile null": ("a.json", instances({"schemaFile": "a\0b"}), ["orders", "schemaFile"]),
    "schemaFile surrogate": ("a.json", instances({"schemaFile": "a\ud800"}), ["orders", "schemaFile"]),
    "schemaFile and schema": ("a.json", instances({"schemaFile": "good.json", "schema": {}}), ["orders", "schemaFile"]),
    "schemaFile not json": ("a.json", instances({"schemaFile": "bad.json"}), ["orders", "bad.json", "not JSON"]),
    "schemaFile deep": ("a.json", instances({"schemaFile": "deep.json"}), ["orders", "deep.json"]),
    "schemaFile not utf-8": ("a.json", instances({"schemaFile": "bytes.json"}), ["orders", "bytes.json"]),
    "schemaFile no schema": ("a.json", instances({"schemaFile": "list.json"}), ["orders", "SCHEMA_UNSUPPORTED"]),
    "schemaFile in python": ("a.py", "instances = {'orders': {'schemaFile': 'bad.json'}}", ["orders", "bad.json"]),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_ends_with_one_line(tmp_path, mistake):
    name, content, causes = MISTAKES[mistake]
    write(tmp_path / "good.json", SCHEMA_TEXT)
    write(tmp_path / "bad.json", SCHEMA_TEXT + ",")
    write(tmp_path / "deep.json", "[" * 100_000)
    write(tmp_path / "bytes.json", b'{"type": "object\xff"}')
    write(tmp_path / "list.json", "[]")
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content is not None:
        write(tmp_path / name, content)
    done = run("--config", tmp_path / name)
    error = done.stderr.decode()
    assert done.returncode == 1, error
    assert done.stdout == b""
    assert "Traceback" not in error
    assert error.endswith("\n")
    assert len(error.splitlines()) == 1
    assert len(error) < 2_000
    assert str(tmp_path / name) in error
    assert [cause for cause in causes if cause not in error] == []


def test_a_config_that_cannot_be_read(tmp_path):
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("needs a user whom permissions bind")
    config = write(tmp_path / "a.json", "{}")
    config.chmod(0)
    done = run("--config", config)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


def test_the_path_of_a_mistake_makes_no_second_line(tmp_path):
    if os.name != "posix":
        pytest.skip("such names are POSIX")
    done = run("--config", write(tmp_path / "a\nb.json", "{}"))
    assert (done.returncode, len(done.stderr.decode().splitlines())) == (1, 1)


def test_both_commands_tell_mistakes_alike(tmp_path):
    config = tmp_path / "none.toml"
    command = (str(BIN / "intent-runtime"), "mcp")
    done = run("--config", config, command=command)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == run("--config", config).stderr


USAGE = [
    [],
    ["--config"],
    ["--config", "FILE", "--what"],
    ["--config", "FILE", "more"],
    ["--config", "FILE", "--http", "8080"],
    ["--config", "FILE", "--http", "localhost:"],
    ["--config", "FILE", "--http", "localhost:99999"],
    ["--config", "FILE", "--http", "localhost:-1"],
    ["--config", "FILE", "--http", ":"],
    ["--config", "FILE", "--http", ""],
    ["--config", "FILE", "--http", "0.0.0.0:8080"],
    ["--config", "FILE", "--token-file", "tokens"],
    ["--config", "FILE", "--allow-anonymous"],
    ["--config", "FILE", "--max-jobs", "-1"],
    ["--config", "FILE", "--max-jobs", "0"],
    ["--config", "FILE", "--max-jobs", "x"],
    ["--config", "FILE", "--max-jobs", "2147483648"],
    ["--config", "FILE", "--max-replay-entries", "0"],
    ["--config", "FILE", "--max-replay-bytes", "-5"],
    ["--config", "FILE", "--max-concurrent", "0"],
    ["--config", "FILE", "--job-ttl", "-1"],
    ["--config", "FILE", "--job-ttl", "nan"],
    ["--config", "FILE", "--job-ttl", "inf"],
    ["--config", "FILE", "--job-ttl", "2147484"],
    ["--config", "FILE", "--log-level", "loud"],
]


@pytest.mark.parametrize(
    "arguments", USAGE, ids=lambda given: " ".join(given[2:]) or str(len(given))
)
def test_wrong_usage_ends_with_2(tmp_path, arguments):
    config = write(tmp_path / "a.json", '{"instances": {"t": {}}}')
    done = run(*(config if each == "FILE" else each for each in arguments))
    error = done.stderr.decode()
    assert done.returncode == 2, error
    assert done.stdout == b""
    assert "Error: " in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "command",
    [(COMMAND,), (str(BIN / "intent-runtime"), "mcp")],
    ids=["intent-runtime-mcp", "intent-runtime mcp"],
)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(command, flag):
    done = run(flag, command=command)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert text.startswith(f"Usage: {Path(command[0]).name}")
    for expected in ("--config", "--http", "--max-jobs", "--job-ttl", "[instances.orders]"):
        assert expected in text


@pytest.mark.slow
def test_intent_runtime_mcp_serves_too(tmp_path):
    config = write(tmp_path / "a.json", '{"instances": {"t": {}}}')
    command = (str(BIN / "intent-runtime"), "mcp")
    with serving(config, command=command) as service:
        assert outcome(service.accept(service.prepare(), CORE)) == "result"


@pytest.mark.slow
def test_the_ends_of_the_capacities_are_taken(tmp_path):
    config = write(tmp_path / "a.json", '{"instances": {"t": {}}}')
    largest = str(2**31 - 1)
    options = ["--max-jobs", "--max-replay-entries", "--max-replay-bytes"]
    given = [each for option in options for each in (option, largest)]
    with serving(config, *given, "--job-ttl", "2147483") as service:
        assert service.prepare()["expiresAt"] > "2026"
