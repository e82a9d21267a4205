"""What the MCP service costs beside a bare SDK server, measured in the same run.

`python benchmarks/mcp.py [--quick]`. The bare server is the SDK's low-level server with canned replies
of the same size, over our own stdio transport or the SDK's HTTP application. Rounds of both take turns.
"""

# ruff: noqa: PLC0415 - the SDK only in the process that serves; this file has its name

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve()
COMMAND = Path(sys.executable).with_name("intent-runtime-mcp")
HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
META = "io.modelcontextprotocol/"
QUICK = "--quick" in sys.argv
STARTS = 3 if QUICK else 10
ROUNDS = 4 if QUICK else 20
CALLS = 50 if QUICK else 200
WARM_UP = 140
HTTP_SECONDS = 1.0 if QUICK else 4.0
CLIENTS = (1, 4, 8)


# The bare server, in a process of its own


def bare(replies_file, port=None):
    """Canned replies by tool and instance or candidate; stdio, or HTTP on a port."""
    from intent_runtime.mcp.wire import claim_wire

    wire = claim_wire() if port is None else None
    import asyncio

    import mcp_types as types
    from mcp.server.lowlevel import Server

    from intent_runtime.mcp.stdio import stdio_transport
    from intent_runtime.mcp.tools import MCP_TOOLS

    replies = json.loads(Path(replies_file).read_text("utf-8"))
    tools = [
        types.Tool(name=t["name"], description=t["description"], input_schema=t["inputSchema"])
        for t in MCP_TOOLS
    ]

    async def list_tools(_context, _params):
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context, params):
        reply = replies[canned_key(params.arguments)]
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply["text"])],
            structured_content=reply["value"],
            is_error=reply["value"]["kind"] == "error",
        )

    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)

    async def serve():
        async with stdio_transport(wire, 2_000_000) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    if port is None:
        asyncio.run(serve())
        # As ours does: a daemon thread may still read.
        os._exit(0)
    import uvicorn

    app = server.streamable_http_app(json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_config=None, access_log=False)


def canned_key(arguments):
    if "instance" in arguments:
        return arguments["instance"]
    return "result" if '"fieldResults"' in arguments["candidateText"] else "data"


# A client on pipes


class Stdio:
    """One server on pipes, used in the handshake era."""

    def __init__(self, command, env):
        self.begun = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, bufsize=0
        )
        self.output = self.process.stdout
        self.buffer = b""
        self.number = 0
        client = {"name": "benchmark", "version": "1"}
        params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client}
        self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert len(json.loads(self.ask("tools/list"))["result"]["tools"]) == 3
        self.started = time.perf_counter() - self.begun

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def ask(self, method, params=None):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}})
        return self.line()

    def line(self):
        while b"\n" not in self.buffer:
            chunk = os.read(self.output.fileno(), 1 << 20)
            assert chunk, "the server ended"
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def cycle(self, text, candidates):
        """A whole cycle: the three replies."""
        replies = [self.reply(self.call("intent_prepare", {"instance": "t", "input": text}))]
        for candidate in candidates:
            last = replies[-1]
            arguments = {"jobId": last["jobId"], "stepToken": last["stepToken"]}
            arguments["candidateText"] = candidate
            replies.append(self.reply(self.call("intent_accept", arguments)))
        assert replies[-1]["kind"] == "result"
        return replies

    @staticmethod
    def reply(line):
        return json.loads(line)["result"]["structuredContent"]

    def resident(self):
        """Resident megabytes (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def processor(self):
        """Seconds of processor time so far (Linux)."""
        fields = (
            Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.stdin.close()
        self.output.close()
        assert self.process.wait(30) == 0


# HTTP, without a session


def http_request(port, text, instance):
    arguments = {"instance": instance, "input": text}
    meta = {f"{META}protocolVersion": STATELESS, f"{META}clientCapabilities": {}}
    params = {"name": "intent_prepare", "arguments": arguments, "_meta": meta}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json\r\nMCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\n"
        f"Mcp-Name: intent_prepare\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def exchange(connection, request):
    connection.sendall(request)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(1 << 16)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), answer
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(1 << 16)


def http_load(port, request, clients, seconds):
    """Requests a second and the slowest of a hundred, in milliseconds."""
    times = [[] for _ in range(clients)]
    barrier = threading.Barrier(clients)

    def run(mine):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(20):
                exchange(connection, request)
            barrier.wait()
            end = time.perf_counter() + seconds
            while (begun := time.perf_counter()) < end:
                exchange(connection, request)
                mine.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=run, args=(mine,)) for mine in times]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    merged = sorted(one for mine in times for one in mine)
    return len(merged) / seconds, 1000 * merged[int(len(merged) * 0.99)]


@contextlib.contextmanager
def http_server(command, port, env):
    process = subprocess.Popen(command, env=env)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# Measuring


def take_turns(ours, bare_one, action):
    """Milliseconds an action takes: each server's smallest and median round, and processor time."""
    rounds = {ours: [], bare_one: []}
    before = [server.processor() for server in rounds]
    for _ in range(ROUNDS):
        for server, times in rounds.items():
            begun = time.perf_counter()
            for _ in range(CALLS):
                action(server)
            times.append(1000 * (time.perf_counter() - begun) / CALLS)
    used = [
        1000 * (server.processor() - since) / (ROUNDS * CALLS)
        for server, since in zip(rounds, before, strict=True)
    ]
    walls = [(min(times), statistics.median(times)) for times in rounds.values()]
    return [(*wall, each) for wall, each in zip(walls, used, strict=True)]


def row(what, ours, bare_value, unit, aim=""):
    ratio = f"{ours / bare_value:.2f}" if bare_value else ""
    shown = f"{bare_value:.3g} {unit}" if bare_value else ""
    print(f"| {what} | {ours:.3g} {unit} | {shown} | {ratio} | {aim} |", flush=True)


def canned_replies(ours, text, candidates):
    """The bare server's answers: the ones that ours gave."""
    values = ours.cycle(text, candidates)
    values.append(ours.reply(ours.call("intent_prepare", {"instance": "no", "input": text})))
    return {
        key: {"text": json.dumps(value, separators=(",", ":")), "value": value}
        for key, value in zip(("t", "data", "result", "no"), values, strict=True)
    }


def measure_start(commands, env):
    starts = [[], []]
    for number in range(STARTS + 1):
        for command, times in zip(commands, starts, strict=True):
            server = Stdio(command, env)
            # The first writes the byte code.
            if number > 0:
                times.append(server.started)
            server.close()
    pair = [1000 * statistics.median(times) for times in starts]
    row("start to the first tools/list, median", *pair, "ms", "1.15 times")


def measure_stdio(what, servers, action, aim):
    (low, mid, used), (bare_low, bare_mid, bare_used) = take_turns(*servers, action)
    row(f"{what}, minimum", low, bare_low, "ms")
    row(f"{what}, median", mid, bare_mid, "ms", aim)
    row(f"{what}, processor time", used, bare_used, "ms")


def measure_http(ports, text):
    for clients in CLIENTS:
        (rate, slow), (bare_rate, bare_slow) = (
            http_load(port, http_request(port, text, "no"), clients, HTTP_SECONDS) for port in ports
        )
        row(f"HTTP, {clients} at once: requests a second", rate, bare_rate, "/s")
        row(f"HTTP, {clients} at once: 99 of 100 within", slow, bare_slow, "ms")


def main():
    from test_bridge import CORE, DATA, INPUT, SCHEMA

    candidates = [CORE, DATA]
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        config = directory / "config.json"
        config.write_text(json.dumps({"instances": {"t": {"schema": SCHEMA}}}), "utf-8")
        # With byte code in place, as on any second start, whatever this environment says about it.
        env = {**os.environ, "PYTHONPYCACHEPREFIX": str(directory / "cache")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        our_command = [str(COMMAND), "--config", str(config)]
        canned = directory / "replies.json"
        # -P: this file's folder must not stand before the SDK, whose name this file has.
        bare_command = [sys.executable, "-P", str(HERE), "--bare", str(canned)]
        ours = Stdio(our_command, env)
        canned.write_text(json.dumps(canned_replies(ours, INPUT, candidates)), "utf-8")

        print("| what | ours | bare | ratio | aim |\n| --- | --- | --- | --- | --- |")
        measure_start([our_command, bare_command], env)

        bare_one = Stdio(bare_command, env)
        for _ in range(WARM_UP):
            ours.cycle(INPUT, candidates)
            bare_one.cycle(INPUT, candidates)
        both = (ours, bare_one)

        def prepare(instance):
            arguments = {"instance": instance, "input": INPUT}
            return lambda server: server.call("intent_prepare", arguments)

        measure_stdio("cycle of three calls", both, lambda s: s.cycle(INPUT, candidates), "3 ms")
        row("resident after the cycles", ours.resident(), bare_one.resident(), "MB")
        measure_stdio("prepare, error reply", both, prepare("no"), "1.3 times, 0.8 ms")
        ours.close()
        # Every prepare opens a job; none of them is ended here.
        capacity = ["--max-jobs", "100000", "--max-replay-entries", "100000"]
        ours = Stdio([*our_command, *capacity], env)
        for _ in range(WARM_UP):
            prepare("t")(ours)
        measure_stdio("prepare, task reply", (ours, bare_one), prepare("t"), "1.3 times, 0.8 ms")
        ours.close()
        bare_one.close()

        ports = free_port(), free_port()
        address = ["--http", f"127.0.0.1:{ports[0]}"]
        with (
            http_server([*our_command, *address], ports[0], env),
            http_server([*bare_command, str(ports[1])], ports[1], env),
        ):
            measure_http(ports, INPUT)


if __name__ == "__main__":
    if "--bare" in sys.argv:
        bare(*sys.argv[sys.argv.index("--bare") + 1 :])
    else:
        main()
