"""How the service ends over the real command: input, signals, lost clients; what is answered."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from support.bridging import CORE, INPUT
from support.raw_mcp import (
    COMMAND,
    PROMPTLY,
    SLOW_DATA,
    SLOW_INSTANCES,
    SLOW_VALUE,
    STATELESS,
    linux_only,
    outcome,
    posix_only,
    serving,
    started,
    watched,
    write_config,
)

# Every test talks to the real command.
pytestmark = pytest.mark.slow

PARSE_ERROR = -32700
HELLO = (
    b'{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":'
    b'"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}\n'
)
# How long a service may wait for its last answers before it ends all the same.
LATEST = 30.0


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return write_config(tmp_path_factory.mktemp("endings"), SLOW_INSTANCES)


def code_of(answer):
    return answer["error"]["code"]


@pytest.mark.slow
@pytest.mark.parametrize("rest", [b"", b'{"jsonrpc":"2.0","id":"half","met', b"\n\n", b" "])
def test_it_ends_well_at_the_end_of_input(config, rest):
    with serving(config) as service:
        service.prepare("o")
        service.send_bytes(rest)
        service.end(PROMPTLY)
        half = [PARSE_ERROR] if len(rest) > 2 else []
        assert [code_of(answer) for answer in service.nameless] == half


@pytest.mark.slow
def test_the_last_line_needs_no_end(config):
    with serving(config) as service:
        service.send_bytes(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
        service.end(PROMPTLY)
        assert service.result("last") == {}


@pytest.mark.slow
def test_input_that_ends_at_once_is_a_good_end(config):
    with started(config) as service:
        service.end()
        assert service.lines == []


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["2025-06-18", STATELESS])
def test_everything_read_is_answered_before_the_end(config, protocol):
    with serving(config, protocol=protocol) as service:
        task = service.accept(service.prepare("brief", f"Use code {SLOW_VALUE}"), CORE)
        asked = [service.submit(task, SLOW_DATA)]
        job = service.prepare("o")
        asked += [service.submit(job, CORE) for _ in range(5)]
        asked += [
            service.request_tool("intent_prepare", {"instance": "t", "input": f"{INPUT} {number}"})
            for number in range(100)
        ]
        listing = [service.request("tools/list") for _ in range(20)]
        service.end()
        replies = [service.reply(identifier) for identifier in asked]
        assert outcome(replies[0]) == "LIMIT_EXCEEDED"
        assert {outcome(reply) for reply in replies[1:6]} == {"data"}
        assert {outcome(reply) for reply in replies[6:]} <= {"core", "LIMIT_EXCEEDED"}
        assert all("tools" in service.result(identifier) for identifier in listing)


SIGNALS = {
    "TERM": [signal.SIGTERM],
    "INT": [signal.SIGINT],
    "INT then TERM": [signal.SIGINT, None, signal.SIGTERM],
    "both at once": [signal.SIGINT, signal.SIGTERM, signal.SIGTERM],
}


def stop(service, signals):
    for number in signals:
        if number is None:
            # As Claude Code does, unless it has ended by then.
            try:
                service.process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            return
        service.process.send_signal(number)


@posix_only
@pytest.mark.slow
@pytest.mark.parametrize("signals", SIGNALS.values(), ids=SIGNALS)
@pytest.mark.parametrize("state", ["idle", "validating", "unread"])
def test_signals_end_it_well(config, signals, state):
    with serving(config) as service:
        children = ()
        if state == "validating":
            if not sys.platform.startswith("linux"):
                pytest.skip("reads /proc")
            children = (service.validating("slow")[1],)
        elif state == "unread":
            flood(service)
        with watched(*children) as gone:
            stop(service, signals)
            assert service.exit_code(PROMPTLY) == 0
            assert gone(PROMPTLY)
        assert "Traceback" not in service.errors


def flood(service, count=300):
    """Calls whose answers nobody reads: more than pipes hold."""
    service.reading.clear()
    return [
        service.request_tool("intent_prepare", {"instance": f"x{number}", "input": "x" * 2_000})
        if number % 2
        else service.request("tools/list")
        for number in range(count)
    ]


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("state", ["validating", "unread", "unread errors"])
def test_the_end_of_input_ends_it_though_answers_cannot_be_given(config, state):
    with serving(config) as service:
        children = ()
        if state == "validating":
            children = (service.validating("slow")[1],)
        elif state == "unread":
            flood(service)
        else:
            service.reading.clear()
            for _ in range(5_000):
                service.send_line(b"{bad")
        with watched(*children) as gone:
            service.close_input()
            assert service.exit_code(LATEST) == 0
            assert gone(PROMPTLY)
        assert "Traceback" not in service.errors


@linux_only
@pytest.mark.slow
def test_a_client_that_reads_late_loses_nothing(config):
    with serving(config) as service:
        job = service.prepare("o")
        slow, child = service.validating("brief")
        asked = flood(service, 1_000)
        accepted = service.submit(job, CORE)
        with watched(child) as gone:
            # The validation takes its time and is ended, though nobody reads.
            assert gone()
        service.reading.set()
        assert all("result" in service.answer(identifier) for identifier in asked)
        assert outcome(service.reply(slow)) == "LIMIT_EXCEEDED"
        assert outcome(service.reply(accepted)) == "data"
        service.end()


def stalled(process, line):
    """Go on until no more is taken, or until a lot was."""
    os.set_blocking(process.stdin.fileno(), False)
    with suppress(BlockingIOError):
        for number in range(20_000):
            if not select.select([], [process.stdin], [], 0.5)[1]:
                return
            os.write(process.stdin.fileno(), line % number)


@posix_only
@pytest.mark.slow
@pytest.mark.parametrize("unread", [0, 1_000])
def test_a_client_that_closed_its_reading_end_ends_it(config, unread):
    line = b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n'
    with subprocess.Popen(
        [COMMAND, "--config", str(config)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            process.stdin.write(HELLO)
            process.stdin.flush()
            assert process.stdout.readline()
            process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
            for number in range(unread):
                process.stdin.write(line % number)
            process.stdin.flush()
            if unread:
                stalled(process, line)
            process.stdout.close()
            with suppress(OSError):
                process.stdin.write(line % unread)
                process.stdin.flush()
            assert process.wait(LATEST) == 0
            assert process.stderr.read() == b""
        finally:
            process.kill()


@posix_only
@pytest.mark.slow
def test_one_socket_may_be_both_input_and_output(config):
    """As inetd and socat give it."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [COMMAND, "--config", str(config)], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
        )
    with ours, process:
        try:
            ours.settimeout(LATEST)
            for number in range(3):
                ours.sendall(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number)
                assert json.loads(ours.recv(10_000))["result"] == {}
            ours.shutdown(socket.SHUT_WR)
            assert process.wait(LATEST) == 0
        finally:
            process.kill()


@posix_only
@pytest.mark.slow
def test_errors_may_go_where_answers_go(config):
    """One pipe for both, as a terminal or a log has it."""
    with subprocess.Popen(
        [COMMAND, "--config", str(config)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        out, _ = process.communicate(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n', LATEST)
    assert json.loads(out)["result"] == {}
    assert process.returncode == 0


# Clients that start the service and are killed: one holds its pipes, one only hands ours on.
RELAY = """
import os, subprocess, sys, threading
service = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print("pid", service.pid, file=sys.stderr, flush=True)
def back():
    while chunk := os.read(service.stdout.fileno(), 65536):
        os.write(1, chunk)
threading.Thread(target=back, daemon=True).start()
while chunk := os.read(0, 65536):
    service.stdin.write(chunk)
    service.stdin.flush()
"""
HAND_ON = """
import subprocess, sys
service = subprocess.Popen(sys.argv[1:])
print("pid", service.pid, file=sys.stderr, flush=True)
service.wait()
"""


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("launcher", [RELAY, HAND_ON], ids=["pipes end", "pipes held"])
@pytest.mark.parametrize("state", ["idle", "mid-call", "unread"])
def test_a_killed_client_ends_it(config, launcher, state):
    with started(config, launcher=(sys.executable, "-c", launcher)) as service:
        service.pid = int(service.told(r"pid (\d+)"))
        service.open("2025-06-18")
        pids = [service.pid]
        if state == "mid-call":
            pids.append(service.validating("slow")[1])
        elif state == "unread":
            flood(service, 2_000)
        with watched(*pids) as gone:
            service.process.kill()
            assert gone(LATEST)
        assert "Traceback" not in service.errors
