"""The real `intent-runtime-mcp --http` in a process of its own, and a client for both eras."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("intent-runtime-mcp"))
HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
ERAS = (HANDSHAKE, STATELESS)
PATIENCE = 60.0
_META = "io.modelcontextprotocol/"


def free_port(host="127.0.0.1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


def write_config(directory, instances):
    path = Path(directory) / "config.json"
    path.write_text(json.dumps({"instances": instances}), "utf-8")
    return path


def run_command(*arguments):
    """A command line that ends by itself: exit status and standard error, nothing on output."""
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.stdout == b""
    return done.returncode, done.stderr.decode()


class HttpService:
    """A running service; as a context manager it is ended by SIGTERM, which must give exit 0."""

    def __init__(self, directory, config, *options, host="127.0.0.1", reach=None):
        self.reach = reach or host
        self.port = free_port(self.reach)
        self.host_header = f"[{self.reach}]" if ":" in self.reach else self.reach
        self.host_header += f":{self.port}"
        listen = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self._log = Path(directory) / f"stderr-{self.port}"
        command = [COMMAND, "--config", str(config), "--http", listen, *map(str, options)]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def _wait_until_ready(self):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log()
            with contextlib.suppress(OSError):
                assert self.health() == 200
                return
            time.sleep(0.02)
        raise AssertionError(f"not ready: {self.log()}")

    def log(self):
        """What it wrote to standard output and standard error."""
        return self._log.read_bytes().decode()

    def health(self):
        status, _, body = self.raw("GET", "/healthz")
        assert body == b'{"status": "ok"}'
        return status

    def raw(self, method, path="/mcp", *, headers=(), body=b"", host=None):
        """One request on a connection of its own: status, headers, body."""
        with contextlib.closing(self.connect()) as connection:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host or self.host_header)
            for name, value in headers:
                connection.putheader(name, value)
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            with connection.getresponse() as response:
                return response.status, response.headers, response.read()

    def connect(self):
        return http.client.HTTPConnection(self.reach, self.port, timeout=PATIENCE)

    def client(self, era=STATELESS, token=None):
        return Client(self, era, token)

    def children(self):
        """Process ids of its children (Linux)."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        tasks = listed.parent.parent.glob("*/children")
        return [int(pid) for task in tasks for pid in task.read_text("ascii").split()]

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self.process.poll() is None:
                status = self.stop()
                if kind is None:
                    assert status == 0, (status, self.log())
                    assert "Traceback" not in self.log()
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()


class Client:
    """One kept connection. In the handshake era it opens a session of its own."""

    def __init__(self, service, era, token):
        self.service = service
        self.era = era
        self.token = token
        self.session = None
        self.opened = None
        self._number = 0
        self._connection = service.connect()
        if era == HANDSHAKE:
            self._shake_hands()

    def _shake_hands(self):
        params = {
            "protocolVersion": HANDSHAKE,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        status, headers, body = self.post(self.message("initialize", params))
        assert status == 200, (status, body)
        self.session = headers["mcp-session-id"]
        self.opened = json.loads(body)["result"]
        status, _, _ = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert status == 202

    def message(self, method, params=None):
        self._number += 1
        params = dict(params or {})
        if self.era == STATELESS:
            params["_meta"] = {
                f"{_META}protocolVersion": STATELESS,
                f"{_META}clientCapabilities": {},
            }
        return {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}

    def headers(self, message):
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.era == STATELESS:
            headers["MCP-Protocol-Version"] = STATELESS
            headers["Mcp-Method"] = message["method"]
            if "name" in message.get("params", {}):
                headers["Mcp-Name"] = message["params"]["name"]
        elif self.session is not None:
            headers["MCP-Protocol-Version"] = HANDSHAKE
            headers["Mcp-Session-Id"] = self.session
        return headers

    def post(self, message, *, body=None, headers=None):
        """Send a message, or these bytes in its place: status, headers, body."""
        self.send(message, body=body, headers=headers)
        return self.receive()

    def send(self, message, *, body=None, headers=None):
        body = json.dumps(message).encode() if body is None else body
        self._connection.request("POST", "/mcp", body, {**self.headers(message), **(headers or {})})

    def receive(self):
        with self._connection.getresponse() as response:
            return response.status, response.headers, response.read()

    def request(self, method, params=None):
        """The result of a request that must have one."""
        status, headers, body = self.post(self.message(method, params))
        assert status == 200, (status, body)
        assert headers["content-type"] == "application/json"
        if self.era == STATELESS:
            assert "mcp-session-id" not in headers
        return self._result(body)

    def _result(self, body):
        answer = json.loads(body)
        assert answer["id"] == self._number
        return answer["result"]

    def call(self, tool, /, **arguments):
        """The reply of a tool, checked to be the same in all its forms."""
        return checked_reply(self.request("tools/call", {"name": tool, "arguments": arguments}))

    def call_message(self, tool, /, **arguments):
        return self.message("tools/call", {"name": tool, "arguments": arguments})

    def reply(self):
        """The reply to a call that was sent before."""
        status, _, body = self.receive()
        assert status == 200, (status, body)
        return checked_reply(self._result(body))

    def prepare(self, instance="t", text="Look up order 000123.", **options):
        reply = self.call("intent_prepare", instance=instance, input=text, **options)
        assert reply["kind"] == "task", reply
        return reply

    def accept(self, task, text):
        return self.call("intent_accept", **submission(task, text))

    def cycle(self, candidates, instance="o", text="Look up order 000123.", **options):
        """The result at the end of a whole cycle."""
        reply = self.prepare(instance, text, **options)
        for candidate in candidates:
            assert reply["kind"] == "task", reply
            reply = self.accept(reply, candidate)
        assert reply["kind"] == "result", reply
        return reply["result"]

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def submission(task, text):
    return {"jobId": task["jobId"], "stepToken": task["stepToken"], "candidateText": text}


def checked_reply(result):
    reply = result["structuredContent"]
    (content,) = result["content"]
    assert content["type"] == "text"
    assert json.loads(content["text"]) == reply
    assert result["isError"] == (reply["kind"] == "error")
    return reply


def code_of(reply):
    return reply["error"]["code"] if reply["kind"] == "error" else reply["kind"]
