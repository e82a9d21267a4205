"""A raw JSON-RPC client of the real command: bytes out, lines in, nothing of an SDK.

Threads do the reading and writing, every wait has a bound, and whatever is no protocol on standard
output is kept as `noise`.
"""

import itertools
import json
import os
import queue
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.bridging import CORE, INPUT, ORDER_SCHEMA, data

BIN = Path(sys.executable).parent
COMMAND = str(BIN / "intent-runtime-mcp")
# Bounds against hanging; no test is decided by them, but by what happens first.
PATIENCE = 90
# Less than the ten seconds for which a service waits for answers at the end of input.
PROMPTLY = 6.0
STATELESS = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-06-18", "2025-11-25")
PROTOCOLS = (*HANDSHAKES, STATELESS)
# The pattern needs a child process; on this value it does not end in time.
SLOW_SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string", "pattern": "^(?:(?=a)a+)+$"}},
}
SLOW_VALUE = "a" * 60 + "c"
SLOW_DATA = data("code", SLOW_VALUE, checked=False)
# `slow` ends long after every test, `brief` while a test waits.
SLOW_INSTANCES = {
    "t": {},
    "o": {"schema": ORDER_SCHEMA},
    "slow": {"schema": SLOW_SCHEMA, "limits": {"maxValidationMs": 60_000}},
    "brief": {"schema": SLOW_SCHEMA, "limits": {"maxValidationMs": 1_500}},
}
linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="reads /proc and waits on pidfds"
)
posix_only = pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")


def write_config(directory: Path, instances: dict) -> Path:
    """A JSON configuration file."""
    path = directory / "intents.json"
    path.write_text(json.dumps({"instances": instances}), encoding="utf-8")
    return path


class Service:
    """The command as a child process, and this client's side of its pipes."""

    def __init__(self, config, *options, cwd=None, launcher=(), command=(COMMAND,)):
        self.process = subprocess.Popen(
            [*launcher, *command, "--config", str(config), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            bufsize=0,
        )
        self.pid = self.process.pid
        self.protocol = "2025-06-18"
        self.noise: list[bytes] = []
        self.lines: list[bytes] = []
        self.nameless: list[dict] = []
        self.reading = threading.Event()
        self.reading.set()
        self._numbers = itertools.count(1)
        self._answers: dict[object, list[dict]] = {}
        self._errors = bytearray()
        self._ended = {"stdout": False, "stderr": False}
        self._changed = threading.Condition()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unsent = 0
        self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._write, self._read, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()

    # What is sent.

    def send_bytes(self, content: bytes) -> None:
        with self._changed:
            self._unsent += 1
        self._outgoing.put(content)

    def send_line(self, line: bytes) -> None:
        self.send_bytes(line + b"\n")

    def send(self, message: object) -> None:
        self.send_line(json.dumps(message).encode())

    def sent(self) -> None:
        """Wait until the service has taken everything."""
        self._until(lambda: self._unsent == 0, "taker of what was sent")

    def request(self, method: str, params: dict | None = None, *, identifier: object = None):
        """A request, for `answer` to wait for."""
        identifier = next(self._numbers) if identifier is None else identifier
        params = dict(params or {})
        if self.protocol == STATELESS:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            }
        message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        self.send(message)
        return identifier

    def request_tool(self, tool: str, arguments: object, *, identifier: object = None):
        return self.request(
            "tools/call", {"name": tool, "arguments": arguments}, identifier=identifier
        )

    def close_input(self) -> None:
        self._outgoing.put(None)

    # What comes back.

    def answer(self, identifier: object, patience: float = PATIENCE) -> dict:
        """The whole answer to a request."""
        self._until(lambda: self._answers.get(identifier), f"answer to {identifier!r}", patience)
        return self._answers[identifier].pop(0)

    def result(self, identifier: object) -> dict:
        return self.answer(identifier)["result"]

    def reply(self, identifier: object) -> dict:
        """The reply in the answer to a tool call, which is the same in all its places."""
        result = self.result(identifier)
        (content,) = result["content"]
        assert content["type"] == "text"
        reply = json.loads(content["text"])
        assert result["structuredContent"] == reply
        assert result["isError"] is (reply["kind"] == "error")
        return reply

    def nameless_answer(self) -> dict:
        """The next answer without an id."""
        self._until(lambda: self.nameless, "answer without an id")
        return self.nameless.pop(0)

    def open(self, protocol: str) -> dict:
        """The first exchange; returns what the server tells about itself."""
        self.protocol = protocol
        if protocol == STATELESS:
            return self.result(self.request("server/discover"))
        hello = self.result(
            self.request(
                "initialize",
                {
                    "protocolVersion": protocol,
                    "capabilities": {},
                    "clientInfo": {"name": "raw", "version": "1"},
                },
            )
        )
        assert hello["protocolVersion"] == protocol
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return hello

    # The tools.

    def call(self, tool: str, arguments: object) -> dict:
        return self.reply(self.request_tool(tool, arguments))

    def prepare(self, instance: str = "t", text: str = INPUT, **more) -> dict:
        return self.call("intent_prepare", {"instance": instance, "input": text, **more})

    def submit(self, task: dict, text: str, **changes):
        """A submission that is not waited for."""
        arguments = {"jobId": task["jobId"], "stepToken": task["stepToken"], "candidateText": text}
        return self.request_tool("intent_accept", {**arguments, **changes})

    def accept(self, task: dict, text: str, **changes) -> dict:
        return self.reply(self.submit(task, text, **changes))

    def cancel(self, task: dict, **more) -> dict:
        return self.call("intent_cancel", {"jobId": task["jobId"], **more})

    def validating(self, instance: str):
        """A submission in a validation child that is at work: (identifier, child)."""
        task = self.accept(self.prepare(instance, f"Use code {SLOW_VALUE}"), CORE)
        before = set(self.children())
        identifier = self.submit(task, SLOW_DATA)
        while not (children := set(self.children()) - before):
            self.ping()
        return identifier, children.pop()

    def ping(self) -> None:
        """An exchange that needs nothing: also tells that what was sent before was read."""
        method = "tools/list" if self.protocol == STATELESS else "ping"
        assert "result" in self.answer(self.request(method))

    # The process.

    def children(self) -> list[int]:
        """Its child processes (Linux)."""
        found: list[int] = []
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, (thread / "children").read_text().split())
        return found

    def exit_code(self, patience: float = PATIENCE) -> int:
        """Wait for its end and for the last of its output."""
        code = self.process.wait(patience)
        if self.reading.is_set():
            with self._changed:
                assert self._changed.wait_for(lambda: all(self._ended.values()), PATIENCE)
        return code

    def end(self, patience: float = PATIENCE) -> None:
        """End it by the end of input; asserts that everything went well."""
        self.close_input()
        assert self.exit_code(patience) == 0
        assert self.noise == []
        assert "Traceback" not in self.errors

    def dispose(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reading.set()
        self.close_input()
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()

    @property
    def errors(self) -> str:
        """What it wrote to standard error."""
        return self._errors.decode("utf-8", "replace")

    def told(self, pattern: str) -> str:
        """Wait for something on standard error; returns the first group."""
        with self._changed:
            assert self._changed.wait_for(lambda: re.search(pattern, self.errors), PATIENCE)
        return re.search(pattern, self.errors)[1]

    def _until(self, condition, what: str, patience: float = PATIENCE) -> None:
        with self._changed:
            met = (
                self._changed.wait_for(lambda: condition() or self._ended["stdout"], patience)
                and condition()
            )
        if not met:
            raise AssertionError(f"no {what}; standard error: {self.errors[-2_000:]}")

    def _write(self) -> None:
        stream = self.process.stdin
        with suppress(OSError):
            while (content := self._outgoing.get()) is not None:
                view = memoryview(content)
                while view:
                    view = view[os.write(stream.fileno(), view) :]
                with self._changed:
                    self._unsent -= 1
                    self._changed.notify_all()
        with suppress(OSError):
            stream.close()

    def _read(self) -> None:
        buffer = bytearray()
        while True:
            self.reading.wait()
            chunk = os.read(self.process.stdout.fileno(), 65_536)
            buffer += chunk
            *lines, rest = bytes(buffer).split(b"\n") if b"\n" in chunk else [bytes(buffer)]
            with self._changed:
                for line in lines:
                    self._take(line)
                if not chunk:
                    if rest:
                        self.noise.append(rest)
                    self._ended["stdout"] = True
                self._changed.notify_all()
            if not chunk:
                return
            buffer = bytearray(rest)

    def _take(self, line: bytes) -> None:
        self.lines.append(line)
        try:
            message = json.loads(line.decode("utf-8"))
            assert message["jsonrpc"] == "2.0"
            assert ("result" in message) is not ("error" in message)
            identifier = message["id"]
        except (ValueError, KeyError, TypeError, AssertionError):
            self.noise.append(line)
            return
        if identifier is None:
            self.nameless.append(message)
        else:
            self._answers.setdefault(identifier, []).append(message)

    def _read_errors(self) -> None:
        while chunk := os.read(self.process.stderr.fileno(), 65_536):
            with self._changed:
                self._errors += chunk
                self._changed.notify_all()
        with self._changed:
            self._ended["stderr"] = True
            self._changed.notify_all()


@contextmanager
def started(config, *options, **how) -> Iterator[Service]:
    """A service without a first exchange, killed in the end if need be."""
    service = Service(config, *options, **how)
    try:
        yield service
    finally:
        service.dispose()


@contextmanager
def serving(config, *options, protocol="2025-06-18", **how) -> Iterator[Service]:
    """A service in use; leaving ends it by the end of input, which has to go well."""
    with started(config, *options, **how) as service:
        service.open(protocol)
        yield service
        if service.process.poll() is None:
            service.end()


@contextmanager
def watched(*pids: int) -> Iterator:
    """Waits for the end of processes that are not our children (Linux): `gone(patience)`.

    Those that are still there in the end are killed.
    """
    handles = [os.pidfd_open(pid) for pid in pids]

    def gone(patience: float = PATIENCE) -> bool:
        return all(select.select([handle], [], [], patience)[0] for handle in handles)

    try:
        yield gone
    finally:
        for handle in handles:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)


def outcome(reply: dict) -> str:
    """`core` or `data` for a task, `result`, or the code of an error."""
    if reply["kind"] == "task":
        return reply["stage"]
    return reply["error"]["code"] if reply["kind"] == "error" else "result"
