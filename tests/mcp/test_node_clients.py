"""Clients and checkers from npm: the TypeScript SDK, the Inspector, the conformance runner.

What they need of Node is in tests/mcp/node/README.md. The first run installs them into
tests/mcp/node/node_modules. Without Node, or where the installation fails, these tests are skipped,
but fail when the environment variable CI is set.
"""

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from intent_runtime import __version__
from intent_runtime.bridge import read_tool_reply
from intent_runtime.mcp import MCP_TOOLS
from support.bridging import BAD, CORE, DATA, INPUT, ORDER_SCHEMA
from support.http_mcp import HttpService, write_config

HERE = Path(__file__).parent / "node"
MODULES = HERE / "node_modules"
COMMAND = shutil.which("intent-runtime-mcp", path=str(Path(sys.executable).parent))
OLDEST_NODE = 20
INSTALL_SECONDS = 240
# The exit status with which the Inspector reports isError.
TOOL_ERROR = 5

# Out of the 32 scenarios of conformance 0.1.13; why the others do not apply is told in
# docs/compatibility.md: they want capabilities or tools that this service does not have.
SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]
INAPPLICABLE = {
    "completions": ["completion-complete"],
    "logging": ["logging-set-level"],
    "prompts": [
        "prompts-get-embedded-resource",
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-with-image",
        "prompts-list",
    ],
    "resources": [
        "resources-list",
        "resources-read-binary",
        "resources-read-text",
        "resources-subscribe",
        "resources-templates-read",
        "resources-unsubscribe",
    ],
    "requests to the client": [
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "tools-call-elicitation",
        "tools-call-sampling",
    ],
    "a tool of the test suite": [
        "json-schema-2020-12",
        "server-sse-polling",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-error",
        "tools-call-image",
        "tools-call-mixed-content",
        "tools-call-simple-text",
        "tools-call-with-logging",
        "tools-call-with-progress",
    ],
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(COMMAND is None, reason="the package is not installed here"),
    # The first test waits for the installation.
    pytest.mark.timeout(INSTALL_SECONDS + 120),
]


def unavailable(reason):
    """Skip, or fail where nothing may be left out in silence."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason} (and CI is set)")
    pytest.skip(reason)


@contextlib.contextmanager
def one_process_at_a_time():
    """A lock between processes, on every platform: SQLite's."""
    name = f"intent-runtime-npm-{hashlib.sha256(str(HERE).encode()).hexdigest()[:16]}.lock"
    lock = sqlite3.connect(
        Path(tempfile.gettempdir()) / name, timeout=INSTALL_SECONDS, isolation_level=None
    )
    with contextlib.closing(lock):
        lock.execute("BEGIN EXCLUSIVE")
        yield
        lock.execute("ROLLBACK")


@pytest.fixture(scope="session")
def node():
    """The `node` command, with everything installed."""
    command, npm = shutil.which("node"), shutil.which("npm")
    if command is None or npm is None:
        unavailable("node and npm are not on this machine")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    if int(version.stdout.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        unavailable(f"Node {version.stdout.strip()} is older than {OLDEST_NODE}")
    stamp = MODULES / ".installed"
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    with one_process_at_a_time():
        if not stamp.is_file() or stamp.read_text() != wanted:
            problem = install(npm)
            if problem is not None:
                unavailable(f"npm ci failed: {problem}")
            stamp.write_text(wanted)
    return command


def install(npm):
    """What went wrong, or None."""
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    # Away from any network that has to be noticed soon.
    arguments = [npm, "ci", "--ignore-scripts", "--fetch-retries=1", *quiet]
    try:
        done = subprocess.run(
            arguments,
            cwd=HERE,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    if done.returncode == 0:
        return None
    return " ".join(done.stderr.decode("utf-8", "replace").split())[:300]


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    directory = tmp_path_factory.mktemp("service")
    return write_config(directory, {"t": {}, "o": {"schema": ORDER_SCHEMA}})


@pytest.fixture(scope="module")
def http_service(config):
    with HttpService(config.parent, config) as service:
        yield f"http://{service.host_header}/mcp"
    assert service.log() == ""


@pytest.fixture
def run(node, tmp_path):
    """Run a script with a home of its own: exit status, output, errors."""

    def start(script, *arguments):
        home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
        done = subprocess.run(
            [node, str(script), *arguments],
            cwd=tmp_path,
            env={**os.environ, **home, "NO_COLOR": "1", "MCP_INSPECTOR_SECRET_STORE": "memory"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return start


def script_of(package, command):
    """The script behind a command, without the shell scripts npm puts around it."""
    directory = MODULES / "@modelcontextprotocol" / package
    return directory / json.loads((directory / "package.json").read_text())["bin"][command]


def checked_reply(result):
    """The typed reply of a tool result, which has to carry it twice."""
    [content] = result["content"]
    assert content["type"] == "text"
    assert json.loads(content["text"]) == result["structuredContent"]
    reply = read_tool_reply(result)
    assert reply.to_dict() == result["structuredContent"]
    assert result["isError"] is (reply.kind == "error")
    return reply


def kind_of(reply):
    """`core` or `data` for a task, `result`, or the error's code."""
    match reply.kind:
        case "task":
            return reply.stage
        case "error":
            return reply.error.code
    return reply.kind


def declared(tools):
    return [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]


# The official TypeScript SDK.


@pytest.mark.parametrize("channel", ["stdio", "http"])
@pytest.mark.parametrize(
    ("sdk", "mode", "protocol"),
    [
        (1, None, "2025-11-25"),
        (2, "legacy", "2025-11-25"),
        (2, "auto", "2026-07-28"),
        (2, {"pin": "2026-07-28"}, "2026-07-28"),
    ],
)
def test_a_full_cycle_with_the_typescript_sdk(run, request, config, sdk, mode, protocol, channel):
    plan = {
        "sdk": sdk,
        "mode": mode,
        "instance": "o",
        "input": INPUT,
        "candidates": [BAD, CORE, DATA],
        "cancel": {"outcome": "refusal", "detail": "Not for me."},
    }
    if channel == "stdio":
        plan |= {"command": COMMAND, "args": ["--config", str(config)]}
    else:
        plan["url"] = request.getfixturevalue("http_service")
    status, output, errors = run(HERE / "client.mjs", json.dumps(plan))
    assert (status, errors) == (0, "")
    seen = json.loads(output)
    if (sdk, channel) != (1, "stdio"):
        assert seen["protocol"] == protocol
    assert (seen["server"]["name"], seen["server"]["version"]) == ("intent-runtime", __version__)
    assert seen["instructions"].endswith('Instances: ["t", "o"]\n')
    assert declared(seen["tools"]) == list(MCP_TOOLS)
    replies = [checked_reply(result) for result in seen["results"]]
    kinds = ["core", "core", "data", "result", "core", "MODEL_REFUSED"]
    assert [kind_of(reply) for reply in replies] == kinds
    assert "repair" in replies[1].task_payload()
    assert replies[3].result.data == {"orderId": "000123"}


# The Inspector's command line.


@pytest.fixture
def inspect(run, config, tmp_path):
    """One run of the Inspector: what it printed, decoded, after checking its exit status."""
    server = {"command": COMMAND, "args": ["--config", str(config)]}
    hosts = tmp_path / "hosts.json"
    hosts.write_text(json.dumps({"mcpServers": {"service": server}}))

    def start(era, *arguments, url=None, status=0):
        target = [url] if url else ["--config", str(hosts), "--server", "service"]
        fixed = ["--cli", *target, "--format", "json", "--quiet", "--protocol-era", era]
        ended, output, errors = run(script_of("inspector", "inspector"), *fixed, *arguments)
        assert ended == status, errors
        return json.loads(output)["result"]

    return start


def call_of(tool, arguments):
    given = ["--tool-args-json", json.dumps(arguments)]
    return ["--method", "tools/call", "--tool-name", tool, *given]


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_the_inspector_finds_nothing_to_complain_about(inspect, era):
    # --strict: a tool schema that some host cannot take would be an exit status of 6.
    listed = inspect(era, "--method", "tools/list", "--strict")
    assert declared(listed["tools"]) == list(MCP_TOOLS)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_calls_every_tool(inspect, era):
    """Every run starts a service of its own, so no job outlives one."""
    task = checked_reply(
        inspect(era, *call_of("intent_prepare", {"instance": "o", "input": INPUT}))
    )
    assert kind_of(task) == "core"
    submission = {"jobId": task.job_id, "stepToken": task.step_token, "candidateText": CORE}
    accepted = inspect(era, *call_of("intent_accept", submission), status=TOOL_ERROR)
    assert kind_of(checked_reply(accepted)) == "BRIDGE_JOB_NOT_FOUND"
    cancelled = inspect(era, *call_of("intent_cancel", {"jobId": task.job_id}), status=TOOL_ERROR)
    assert kind_of(checked_reply(cancelled)) == "BRIDGE_JOB_NOT_FOUND"


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finishes_a_job_over_http(inspect, http_service, era):
    def call(tool, arguments, **options):
        return checked_reply(inspect(era, *call_of(tool, arguments), url=http_service, **options))

    task = call("intent_prepare", {"instance": "o", "input": INPUT})
    kinds = []
    for text in (CORE, DATA):
        submission = {"jobId": task.job_id, "stepToken": task.step_token, "candidateText": text}
        task = call("intent_accept", submission)
        kinds.append(kind_of(task))
    assert kinds == ["data", "result"]
    job = {"jobId": call("intent_prepare", {"instance": "t", "input": INPUT}).job_id}
    ended = call("intent_cancel", {**job, "outcome": "incomplete"}, status=TOOL_ERROR)
    assert kind_of(ended) == "MODEL_OUTPUT_INCOMPLETE"


# The protocol's conformance runner.


def test_every_scenario_is_run_or_accounted_for(run):
    status, output, errors = run(script_of("conformance", "conformance"), "list", "--server")
    assert (status, errors) == (0, "")
    known = {line.strip(" -") for line in output.splitlines() if line.startswith("  - ")}
    assert known == {*SCENARIOS, *(name for names in INAPPLICABLE.values() for name in names)}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_conformance(run, http_service, tmp_path, scenario):
    arguments = ["server", "--url", http_service, "--scenario", scenario, "-o", str(tmp_path)]
    status, output, errors = run(script_of("conformance", "conformance"), *arguments)
    assert status == 0, output + errors
    [report] = tmp_path.glob(f"server-{scenario}-*/checks.json")
    outcomes = [check["status"] for check in json.loads(report.read_text())]
    assert "SUCCESS" in outcomes
    assert set(outcomes) <= {"SUCCESS", "INFO"}
