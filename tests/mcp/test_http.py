"""The service over HTTP, as a real process (contract section 11)."""

import contextlib
import json
import os
import signal
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from intent_runtime.cli.serve import mcp
from intent_runtime.mcp import MCP_TOOLS
from intent_runtime.mcp.listen import TokenFileError, read_token_file
from support.bridging import BAD, CORE, DATA, INPUT, ORDER_SCHEMA, SLOW_SCHEMA, core, data
from support.http_mcp import (
    ERAS,
    HANDSHAKE,
    STATELESS,
    HttpService,
    code_of,
    free_port,
    run_command,
    submission,
    write_config,
)

# Every test talks to the real command.
pytestmark = pytest.mark.slow

ALICE = "alice-0123456789-TOKEN"
BOB = "bob-9876543210-TOKEN"
EVIL = "a" * 60 + "c"
SLOW_CORE = core(normalizedInput=f"Check {EVIL}")
SLOW_DATA = data("code", EVIL, checked=False)
CHINESE = "查询订单 000123，不要发邮件😀"
TOOL_NAMES = ["intent_prepare", "intent_accept", "intent_cancel"]


def instances(slow_ms=1_500):
    return {
        "t": {},
        "o": {"schema": ORDER_SCHEMA},
        "slow": {"schema": SLOW_SCHEMA, "limits": {"maxValidationMs": slow_ms}},
        "订单": {
            "language": "zh-CN",
            "schema": {
                "type": "object",
                "properties": {"订单号": {"type": "string", "description": "订单编号"}},
                "required": ["订单号"],
            },
        },
    }


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return write_config(tmp_path_factory.mktemp("config"), instances())


@pytest.fixture(scope="module")
def service(tmp_path_factory, config):
    """Without tokens, for all tests that do not need a service of their own."""
    with HttpService(
        tmp_path_factory.mktemp("open"), config, "--max-jobs", 1_000, "--max-replay-entries", 2_000
    ) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, config):
    """With the tokens of alice and bob, logging everything."""
    directory = tmp_path_factory.mktemp("guarded")
    tokens = directory / "tokens"
    tokens.write_text(f"# who may call\nalice: {ALICE}\n\nbob = {BOB}\n", "ascii")
    with HttpService(directory, config, "--token-file", tokens, "--log-level", "debug") as running:
        yield running


@pytest.fixture
def start(tmp_path, config):
    """A function that starts a service of this test's own."""
    with contextlib.ExitStack() as stack:

        def started(*options, config=config, **settings):
            return stack.enter_context(HttpService(tmp_path, config, *options, **settings))

        yield started


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


def slow_task(client):
    """A task whose submission of SLOW_DATA takes the whole validation budget."""
    return client.accept(client.prepare("slow", f"Check {EVIL}"), SLOW_CORE)


# The protocol in both eras


def test_health(service, guarded):
    assert service.health() == guarded.health() == 200


def test_tools_are_listed(service, era):
    with service.client(era) as client:
        listed = client.request("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == TOOL_NAMES
    for tool, declared in zip(listed, MCP_TOOLS, strict=True):
        assert tool["description"] == declared["description"]
        assert tool["inputSchema"] == declared["inputSchema"]


def test_handshake(service):
    with service.client(HANDSHAKE) as client:
        assert client.opened["protocolVersion"] == HANDSHAKE
        assert client.opened["serverInfo"]["name"] == "intent-runtime"
        assert '["t", "o", "slow", "订单"]' in client.opened["instructions"]
        assert client.request("ping") == {}


def test_discovery_without_a_handshake(service):
    with service.client(STATELESS) as client:
        found = client.request("server/discover")
    assert STATELESS in found["supportedVersions"]
    assert '["t", "o", "slow", "订单"]' in found["instructions"]


def test_whole_cycle(service, era):
    with service.client(era) as client:
        task = client.prepare("o")
        assert task["stage"] == "core"
        repair = client.accept(task, BAD)
        assert (repair["stage"], repair["kind"]) == ("core", "task")
        second = client.accept(repair, CORE)
        assert second["stage"] == "data"
        end = client.accept(second, DATA)
        assert end["result"]["data"] == {"orderId": "000123"}
        # The same submission again is answered from the record.
        assert client.accept(second, DATA) == end


def test_null_is_kept(service, era):
    with service.client(era) as client:
        result = client.cycle([core(primaryIntent=None)], "t")
    assert list(result)[2] == "primaryIntent"
    assert result["primaryIntent"] is None


def test_wrong_arguments_and_tools_are_replies(service, era):
    with service.client(era) as client:
        unknown = client.call("intent_prepare", instance="nowhere", input=INPUT)
        assert code_of(unknown) == "INPUT_INVALID"
        assert "订单" in unknown["error"]["message"]
        assert code_of(client.call("intent_prepare")) == "INPUT_INVALID"
        assert code_of(client.call("intent_accept", jobId=5)) == "INPUT_INVALID"
        assert code_of(client.call("intent_parse", input=INPUT)) == "INPUT_INVALID"
        task = client.prepare()
        cancelled = client.call("intent_cancel", jobId=task["jobId"], outcome="refusal")
        assert code_of(cancelled) == "MODEL_REFUSED"


def test_chinese(service, era):
    candidate = core(normalizedInput=CHINESE, primaryIntent="查询订单", prohibitions=["不要发邮件"])
    found = data("订单号", "000123")
    with service.client(era) as client:
        task = client.prepare("订单", CHINESE, context=[{"role": "user", "content": "你好"}])
        payload = json.loads(task["payload"])
        assert payload["currentInput"] == CHINESE
        assert payload["context"][0]["content"] == "你好"
        end = client.accept(client.accept(task, candidate), found)
        assert end["result"]["input"] == CHINESE
        assert end["result"]["prohibitions"] == ["不要发邮件"]
        assert end["result"]["data"] == {"订单号": "000123"}


def test_stateless_headers_must_agree_with_the_body(service):
    with service.client() as client:
        message = client.call_message("intent_prepare", instance="t", input=INPUT)
        for wrong in ({"Mcp-Method": "tools/list"}, {"Mcp-Name": "intent_accept"}):
            status, _, body = client.post(message, headers=wrong)
            assert status == 400
            assert "error" in json.loads(body)


# Whose jobs, and for how long


def test_jobs_survive_connections_sessions_and_eras(service):
    with service.client(HANDSHAKE) as client:
        task = client.prepare("o")
        ended = client.headers({"method": ""})
    status, _, _ = service.raw("DELETE", headers=ended.items())
    assert status == 200
    with service.client(STATELESS) as client:
        second = client.accept(task, CORE)
    with service.client(HANDSHAKE) as client:
        assert code_of(client.accept(second, DATA)) == "result"


def test_a_dropped_connection_does_not_end_its_call(service, era):
    with service.client(era) as client:
        task = slow_task(client)
        client.send(client.call_message("intent_accept", **submission(task, SLOW_DATA)))
    with service.client(era) as client:
        # It is still being judged, or was: either way the same submission gets its reply.
        reply = client.accept(task, SLOW_DATA)
        assert code_of(reply) == "LIMIT_EXCEEDED"
        assert reply["error"]["partialResult"]["data"] == {}
        assert client.accept(task, SLOW_DATA) == reply


def test_another_name_does_not_find_a_job(guarded, era):
    with guarded.client(era, ALICE) as alice, guarded.client(era, BOB) as bob:
        task = alice.prepare("o")
        assert code_of(bob.accept(task, CORE)) == "BRIDGE_JOB_NOT_FOUND"
        assert code_of(bob.call("intent_cancel", jobId=task["jobId"])) == "BRIDGE_JOB_NOT_FOUND"
        with guarded.client(era, ALICE) as again:
            second = again.accept(task, CORE)
        assert second["stage"] == "data"
        end = alice.accept(second, DATA)
        assert code_of(end) == "result"
        assert code_of(bob.accept(second, DATA)) == "BRIDGE_JOB_NOT_FOUND"


def test_a_session_belongs_to_its_token(guarded):
    """A session id is no credential: with another token it is as if there was no session."""
    with guarded.client(HANDSHAKE, ALICE) as alice:
        task = alice.prepare("o")
        with guarded.client(HANDSHAKE, BOB) as bob:
            bob.session = alice.session
            message = bob.call_message("intent_accept", **submission(task, CORE))
            status, _, body = bob.post(message)
            assert status == 404 or b"BRIDGE_JOB_NOT_FOUND" in body
            status, _, _ = guarded.raw("DELETE", headers=bob.headers(message).items())
            assert status == 404
        assert alice.accept(task, CORE)["stage"] == "data"


def test_idle_jobs_end(start):
    service = start("--job-ttl", "0.4")
    with service.client() as client:
        task = client.prepare("o")
        assert task["expiresAt"]
        second = client.accept(task, CORE)
        time.sleep(0.6)
        late = client.accept(second, DATA)
        assert code_of(late) == "BRIDGE_JOB_EXPIRED"
        assert late["error"]["partialResult"]["data"] == {}
        assert code_of(client.call("intent_cancel", jobId=task["jobId"])) == "BRIDGE_JOB_EXPIRED"


def test_jobs_end_after_an_hour_unless_told_otherwise(service, start):
    with service.client() as client:
        assert "expiresAt" in client.prepare()
    with start("--job-ttl", "0").client() as client:
        assert "expiresAt" not in client.prepare()


def test_capacity_of_jobs(start):
    with start("--max-jobs", 1, "--max-replay-entries", 1).client() as client:
        task = client.prepare()
        refused = client.call("intent_prepare", instance="t", input=INPUT)
        assert (code_of(refused), refused["error"]["stage"]) == ("LIMIT_EXCEEDED", "bridge")
        end = client.accept(task, CORE)
        assert client.accept(task, CORE) == end
        client.prepare()
        # The only record is the active job's now.
        assert code_of(client.accept(task, CORE)) == "BRIDGE_JOB_NOT_FOUND"


def test_capacity_of_bytes(start):
    with start("--max-replay-bytes", 400).client() as client:
        refused = client.call("intent_prepare", instance="t", input="x" * 500)
        assert (code_of(refused), refused["error"]["stage"]) == ("LIMIT_EXCEEDED", "bridge")
        client.prepare(text="x")


# Tokens


def authorized(*values):
    return [("Authorization", value) for value in values]


WRONG = {
    "missing": [],
    "empty": authorized(""),
    "scheme alone": authorized("Bearer"),
    "no token": authorized("Bearer "),
    "bare token": authorized(ALICE),
    "wrong": authorized("Bearer " + "x" * 22),
    "name for token": authorized("Bearer alice"),
    "cut": authorized(f"Bearer {ALICE[:-1]}"),
    "longer": authorized(f"Bearer {ALICE}x"),
    "other case": authorized(f"Bearer {ALICE.lower()}"),
    "two tokens": authorized(f"Bearer {ALICE} {BOB}"),
    "comma list": authorized(f"Bearer {ALICE}, Bearer {BOB}"),
    "quoted": authorized(f'Bearer "{ALICE}"'),
    "not ASCII": authorized(f"Bearer {ALICE}\xe9"),
    "Basic": authorized(f"Basic {ALICE}"),
    "no space": authorized(f"Bearer{ALICE}"),
    "another header": [("X-Authorization", f"Bearer {ALICE}")],
    "right then wrong": authorized(f"Bearer {ALICE}", "Bearer wrong-wrong-wrong-wrong"),
    "wrong then right": authorized("Bearer wrong-wrong-wrong-wrong", f"Bearer {ALICE}"),
    "other scheme then right": authorized("Basic abc", f"Bearer {ALICE}"),
    "two right ones": authorized(f"Bearer {ALICE}", f"Bearer {BOB}"),
    "the same twice": authorized(f"Bearer {ALICE}", f"Bearer {ALICE}"),
}


@pytest.mark.parametrize("headers", WRONG.values(), ids=WRONG)
def test_no_right_token(guarded, headers):
    with guarded.client() as client:
        message = client.call_message("intent_prepare", instance="t", input=INPUT)
        usual = list(client.headers(message).items())
    status, answered, body = guarded.raw(
        "POST", headers=[*usual, *headers], body=json.dumps(message).encode()
    )
    assert status == 401
    assert answered["www-authenticate"] == "Bearer"
    assert json.loads(body) == {"error": "unauthorized"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/mcp"),
        ("DELETE", "/mcp"),
        ("OPTIONS", "/mcp"),
        ("GET", "/"),
        ("POST", "/other"),
        ("GET", f"/mcp?access_token={ALICE}"),
    ],
)
def test_every_way_in_needs_a_token(guarded, method, path):
    status, headers, _ = guarded.raw(method, path)
    assert (status, headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_has_no_case(guarded, scheme):
    with guarded.client() as client:
        message = client.message("tools/list")
        status, _, _ = client.post(message, headers={"Authorization": f"{scheme} {ALICE}"})
    assert status == 200


SECRET = "s3cret-0123456789-s3cret"  # noqa: S105
TOKEN_FILES = {
    "empty": b"",
    "bad line": b"bob: " + SECRET.encode() + b"\nal/ice: " + SECRET.encode(),
    "repeated name": b"a: " + SECRET.encode() + b"\na: other-" + SECRET.encode(),
    "short token": b"alice: s3cret-012345",
    "not ASCII": "alice: s3cret-0123456789-é".encode(),
}
MORE_TOKEN_FILES = {
    "comments only": b"# alice: " + SECRET.encode() + b"\n\n",
    "no name": SECRET.encode(),
    "no token": b"alice:\n",
    "third word": b"alice: " + SECRET.encode() + b" more",
    "long token": b"alice: s3cret" + b"x" * 507,
    "binary": b"\xff\xfe" + SECRET.encode("utf-16-le"),
    "long name": b"n" * 65 + b": " + SECRET.encode(),
}


@pytest.mark.parametrize("content", TOKEN_FILES.values(), ids=TOKEN_FILES)
def test_token_file_mistakes(tmp_path, config, content):
    tokens = tmp_path / "tokens"
    tokens.write_bytes(content)
    status, error = run_command("--config", config, "--http", "127.0.0.1:0", "--token-file", tokens)
    assert status == 1
    (line,) = error.splitlines()
    assert line.startswith(f"intent-runtime-mcp: {tokens}: ")
    assert "s3cret" not in error


@pytest.mark.parametrize(
    "content",
    [*TOKEN_FILES.values(), *MORE_TOKEN_FILES.values()],
    ids=[*TOKEN_FILES, *MORE_TOKEN_FILES],
)
def test_what_is_no_token_file(tmp_path, content):
    tokens = tmp_path / "tokens"
    tokens.write_bytes(content)
    with pytest.raises(TokenFileError) as caught:
        read_token_file(tokens)
    assert str(caught.value).startswith(f"{tokens}: ")
    assert "s3cret" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_a_token_file(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_bytes(f"# names\r\n\r\n a: {SECRET} \r\nb.c_d-1 = {ALICE}\r\ne\t{BOB}".encode())
    expected = {"a": SECRET.encode(), "b.c_d-1": ALICE.encode(), "e": BOB.encode()}
    assert read_token_file(tokens) == expected


@pytest.mark.parametrize("name", ["missing", "."])
def test_no_token_file(tmp_path, config, name):
    status, error = run_command(
        "--config", config, "--http", "127.0.0.1:0", "--token-file", tmp_path / name
    )
    assert status == 1
    assert len(error.splitlines()) == 1
    assert str(tmp_path) in error


def test_the_log_holds_no_token_and_no_text(guarded):
    marks = ["INPUTMARK", "CONTEXTMARK", "CANDIDATEMARK", "DETAILMARK", "WRONGTOKENMARK", "RAWMARK"]
    for era in ERAS:
        with guarded.client(era, ALICE) as client:
            task = client.prepare("o", "INPUTMARK 000123", context="CONTEXTMARK")
            client.accept(client.accept(task, '{"CANDIDATEMARK'), "CANDIDATEMARK")
            client.call("intent_cancel", jobId=client.prepare()["jobId"], detail="DETAILMARK")
            client.post(client.message("RAWMARK"))
            client.post(client.message("tools/list"), body=b'{"RAWMARK')
            client.post(client.message("tools/list"), body=b'["RAWMARK"]')
            client.post(client.message("tools/list"), body=b'{"id": 1, "RAWMARK": "\\ud800"}')
            client.post(
                client.message("tools/list"),
                headers={"Authorization": "Bearer WRONGTOKENMARK-0123"},
            )
    guarded.raw("GET", "/mcp?RAWMARK", headers=authorized(f"Bearer {BOB}"))
    log = guarded.log()
    assert [mark for mark in [*marks, ALICE, BOB] if mark in log] == []
    assert "Traceback" not in log


# Where it listens, and who may reach it


def usage_error(*options):
    """Standard error of wrong usage; in this process, since nothing was started yet."""
    done = CliRunner().invoke(mcp, [str(option) for option in options])
    assert done.exit_code == 2
    assert done.stdout == ""
    return done.stderr


def test_wrong_usage_as_a_process(config):
    status, error = run_command("--config", config, "--http", "0.0.0.0:8080")
    assert status == 2
    assert "--allow-anonymous" in error


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "[::]", "192.0.2.1", "example.com", "[2001:db8::1]"],  # noqa: S104
)
def test_other_machines_only_with_tokens(config, host):
    error = usage_error("--config", config, "--http", f"{host}:8080")
    assert "--token-file" in error
    assert "--allow-anonymous" in error


def test_beyond_loopback_with_tokens(start, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"alice: {ALICE}")
    service = start("--token-file", tokens, host="0.0.0.0", reach="127.0.0.1")  # noqa: S104
    with service.client(token=ALICE) as client:
        assert client.cycle([CORE, DATA])["data"] == {"orderId": "000123"}
        # The name it is reached by is not known here.
        status, _, _ = client.post(
            client.message("tools/list"), headers={"Host": "intents.example"}
        )
        assert status == 200
        status, _, _ = client.post(
            client.message("tools/list"), headers={"Authorization": "Bearer " + BOB}
        )
        assert status == 401


def test_beyond_loopback_if_that_is_meant(start, era):
    service = start("--allow-anonymous", host="0.0.0.0", reach="127.0.0.1")  # noqa: S104
    with service.client(era) as client:
        client.cycle([CORE, DATA])


@pytest.mark.skipif(sys.platform != "linux", reason="others have one loopback address only")
def test_another_loopback_address(start):
    with start(host="127.0.0.2").client() as client:
        client.cycle([CORE, DATA])


def test_ipv6(start, era):
    try:
        free_port("::1")
    except OSError:
        pytest.skip("no IPv6 here")
    with start(host="::1").client(era) as client:
        client.cycle([CORE, DATA])


def foreign(status, **headers):
    return pytest.param(headers, status, id=next(iter(headers.values())))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        foreign(421, Host="evil.example"),
        foreign(421, Host="evil.example:8080"),
        foreign(421, Host="127.0.0.1.evil.example:8080"),
        foreign(421, Host="localhost.evil.example:8080"),
        foreign(421, Host="192.0.2.1:8080"),
        foreign(403, Origin="http://evil.example"),
        foreign(403, Origin="https://localhost.evil.example:8080"),
        foreign(403, Origin="null"),
        foreign(200, Origin="http://localhost:3000"),
        foreign(200, Origin="http://127.0.0.1:3000"),
    ],
)
def test_dns_rebinding(service, headers, expected):
    for era in ERAS:
        with service.client(era) as client:
            message = client.call_message("intent_prepare", instance="t", input=INPUT)
            status, _, body = client.post(message, headers=headers)
            assert status == expected
            assert (b"jobId" in body) == (expected == 200)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "8080",
        ":8080",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:http",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1: 80",
        "127.0.0.1:８０",
        "127.0.0.1:+80",
        "http://127.0.0.1:80",
        "[]:80",
        "[::1]",
    ],
)
def test_bad_addresses(config, address):
    error = usage_error("--config", config, "--http", address)
    assert "Error: " in error
    assert "--http" in error


@pytest.mark.parametrize(
    "options",
    [
        ["--max-concurrent", "0"],
        ["--max-jobs", "0"],
        ["--max-replay-bytes", "2147483648"],
        ["--job-ttl", "-1"],
        ["--job-ttl", "nan"],
        ["--job-ttl", "inf"],
        ["--log-level", "trace"],
    ],
    ids=" ".join,
)
def test_bad_numbers(config, options):
    error = usage_error("--config", config, "--http", "127.0.0.1:0", *options)
    assert options[0] in error


@pytest.mark.parametrize("options", [["--token-file", "x"], ["--allow-anonymous"]])
def test_options_that_go_with_http(config, options):
    assert "--http" in usage_error("--config", config, *options)


@pytest.mark.parametrize("level", ["error", "debug"])
def test_port_in_use(service, config, level):
    address = f"127.0.0.1:{service.port}"
    status, error = run_command("--config", config, "--http", address, "--log-level", level)
    assert status == 1
    assert "Traceback" not in error
    ours = [line for line in error.splitlines() if line.startswith("intent-runtime-mcp: ")]
    assert len(ours) == 1
    assert address in ours[0]
    if level == "error":
        assert error.splitlines() == ours
    assert service.health() == 200


def test_an_address_of_another_machine(config):
    status, error = run_command("--config", config, "--http", "192.0.2.1:8080", "--allow-anonymous")
    assert status == 1
    (line,) = error.splitlines()
    assert line.startswith("intent-runtime-mcp: ")
    assert "192.0.2.1:8080" in line


# What arrives


def escaped(text):
    """JSON of a text in which every character takes six bytes."""
    return b'"' + b"".join(b"\\u%04x" % ord(character) for character in text) + b'"'


def test_largest_candidate_in_its_largest_form(service, era):
    candidate = core(requirements=["r" * (262_144 - len(core(requirements=[""])))])
    assert len(candidate) == 262_144
    with service.client(era) as client:
        task = client.prepare()
        message = client.call_message("intent_accept", **submission(task, "CANDIDATE"))
        for text, expected in ((candidate + " ", "LIMIT_EXCEEDED"), (candidate, "result")):
            body = json.dumps(message).encode().replace(b'"CANDIDATE"', escaped(text))
            assert len(body) > 6 * 262_144
            client.send(message, body=body)
            assert code_of(client.reply()) == expected


def test_far_too_large(service, era):
    with service.client(era) as client:
        message = client.call_message("intent_prepare", instance="t", input=INPUT)
        headers = list(client.headers(message).items())
        # Told from its declared size alone, before any of it was sent.
        declared = [*headers, ("Content-Length", "50000000")]
        status, _, _ = service.raw("POST", headers=declared)
        assert status == 413

    def chunks():
        for _ in range(100):
            yield b" " * 100_000

    with service.client(era) as client:
        # The server may hang up before all of it was sent.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            client.send(message, body=chunks())
        with contextlib.suppress(ConnectionResetError):
            assert client.receive()[0] == 413
    with service.client(era) as client:
        client.cycle([CORE, DATA])


MALFORMED = {
    "half": b'{"jsonrpc": "2.0", "id": 1,',
    "empty": b"",
    "words": b"hello",
    "not UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
    "deep": b"[" * 200_000,
    "batch": b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
    "number": b"5",
    "null": b"null",
    "no version": b'{"id": 1, "method": "tools/list"}',
    "long number": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": '
    + b"1" * 5_000
    + b"}",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_malformed_bodies(service, era, body):
    with service.client(era) as client:
        status, _, answer = client.post(client.message("tools/list"), body=body)
        assert status == 400
        assert json.loads(answer)["error"]["code"] in {-32700, -32600, -32602}
        client.cycle([CORE], "t")


def test_wrong_media_types(service, era):
    with service.client(era) as client:
        message = client.message("tools/list")
        assert client.post(message, headers={"Content-Type": "text/plain"})[0] in {400, 415}
        assert client.post(message, headers={"Accept": "text/html"})[0] == 406
        assert client.post(message, headers={"Accept": "application/json"})[0] == 200


def test_lone_surrogates(service, era):
    with service.client(era) as client:
        message = client.call_message("intent_prepare", instance="t", input="MARK")
        body = json.dumps(message).encode().replace(b"MARK", b"\\ud800")
        status, _, answer = client.post(message, body=body)
        if status == 200:
            assert code_of(json.loads(answer)["result"]["structuredContent"]) == "INPUT_INVALID"
        else:
            assert status == 400
        client.cycle([CORE], "t")


def test_unknown_paths_and_methods(service):
    assert service.raw("GET", "/")[0] == 404
    assert service.raw("PUT", "/mcp")[0] in {400, 405}
    assert service.raw("GET", "/mcp", headers=[("Accept", "text/event-stream")])[0] in {400, 405}
    assert service.raw("POST", "/mcp", headers=[("Mcp-Session-Id", "nobody")])[0] in {400, 404}


# Many at once


def test_a_slow_validation_holds_nobody_up(service, era):
    with service.client(era) as slow, service.client(era) as quick:
        task = slow_task(slow)
        slow.send(slow.call_message("intent_accept", **submission(task, SLOW_DATA)))
        cycles = 0
        with ThreadPoolExecutor(1) as waiter:
            reply = waiter.submit(slow.reply)
            while not reply.done():
                quick.cycle([CORE, DATA])
                cycles += 1
        assert code_of(reply.result()) == "LIMIT_EXCEEDED"
        # It took a second and a half; a cycle takes a hundredth of that.
        assert cycles >= 5


def test_as_many_calls_at_once_as_told(tmp_path, start, era):
    config = write_config(tmp_path, instances(slow_ms=3_000))
    service = start("--max-concurrent", 1, config=config)
    with service.client(era) as slow, service.client(era) as other:
        task = slow_task(slow)
        slow.send(slow.call_message("intent_accept", **submission(task, SLOW_DATA)))
        refused = 0
        with ThreadPoolExecutor(1) as waiter:
            reply = waiter.submit(slow.reply)
            while not reply.done():
                assert service.health() == 200
                status, headers, body = other.post(other.message("tools/list"))
                if status == 503:
                    refused += 1
                    assert headers["retry-after"] == "1"
                    assert json.loads(body) == {"error": "busy"}
                else:
                    assert status == 200
        assert code_of(reply.result()) == "LIMIT_EXCEEDED"
        assert refused > 5
        other.cycle([CORE, DATA])


def test_the_same_submission_twice_at_once(service, era):
    with service.client(era) as first, service.client(era) as second:
        task = slow_task(first)
        for client in (first, second):
            client.send(client.call_message("intent_accept", **submission(task, SLOW_DATA)))
        assert first.reply() == second.reply()


def test_an_abandoned_call_gives_its_place_back(tmp_path, start):
    """Two calls in flight with one id: the SDK answers one only, and its client hangs up."""
    service = start("--max-concurrent", 2, config=write_config(tmp_path, instances(slow_ms=2_000)))
    with service.client(HANDSHAKE) as first, service.client(HANDSHAKE) as second:
        task = slow_task(first)
        second.session = first.session
        message = first.call_message("intent_accept", **submission(task, SLOW_DATA))
        first.send(message)
        time.sleep(0.2)
        second.send(message)
        assert second.receive()[0] == 200
    with service.client() as slow, service.client() as other:
        task = slow_task(slow)
        slow.send(slow.call_message("intent_accept", **submission(task, SLOW_DATA)))
        time.sleep(0.2)
        other.cycle([CORE, DATA])
        assert code_of(slow.reply()) == "LIMIT_EXCEEDED"
        begun = time.monotonic()
        assert service.stop() == 0, service.log()
        assert time.monotonic() - begun < 8


# The end


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_lets_the_call_in_flight_end(tmp_path, start, era, number):
    service = start(config=write_config(tmp_path, instances(slow_ms=2_000)))
    with service.client(era) as client, service.client(era) as idle:
        idle.prepare()
        task = slow_task(client)
        client.send(client.call_message("intent_accept", **submission(task, SLOW_DATA)))
        children = []
        if sys.platform == "linux":
            end = time.monotonic() + 20
            while not (children := service.children()):
                assert time.monotonic() < end
                time.sleep(0.01)
        else:
            time.sleep(0.5)
        service.process.send_signal(number)
        assert code_of(client.reply()) == "LIMIT_EXCEEDED"
        assert service.process.wait(20) == 0, service.log()
    assert "Traceback" not in service.log()
    for child in children:
        assert not Path(f"/proc/{child}").exists()
    with pytest.raises(OSError):
        service.health()


def test_it_ends_although_clients_hold_connections(start):
    service = start()
    with service.client(HANDSHAKE) as client, contextlib.closing(service.connect()) as listening:
        headers = {**client.headers({"method": ""}), "Accept": "text/event-stream"}
        listening.request("GET", "/mcp", headers=headers)
        with listening.getresponse() as response:
            assert response.status == 200
            begun = time.monotonic()
            assert service.stop() == 0, service.log()
            # Well before the ten seconds after which it would hang up.
            assert time.monotonic() - begun < 8
    assert "Traceback" not in service.log()


def test_a_second_signal(start):
    service = start()
    with service.client() as client:
        task = slow_task(client)
        client.send(client.call_message("intent_accept", **submission(task, SLOW_DATA)))
        time.sleep(0.3)
        service.process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        # What a host does that is in a hurry.
        assert service.stop(signal.SIGTERM) == 0, service.log()
    assert "Traceback" not in service.log()


@pytest.mark.slow
def test_half_a_request_keeps_nobody(start):
    service = start()
    with socket.create_connection((service.reach, service.port)) as half:
        half.sendall(b"POST /mcp HTTP/1.1\r\nHost: " + service.host_header.encode() + b"\r\n")
        half.sendall(b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        with service.client() as client:
            client.cycle([CORE, DATA])
        begun = time.monotonic()
        assert service.stop() == 0, service.log()
        assert time.monotonic() - begun < 20


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_validation_longer_than_the_patience_is_killed(tmp_path, start):
    service = start(config=write_config(tmp_path, instances(slow_ms=60_000)))
    with service.client() as client:
        task = slow_task(client)
        client.send(client.call_message("intent_accept", **submission(task, SLOW_DATA)))
        end = time.monotonic() + 20
        while not (children := service.children()):
            assert time.monotonic() < end
            time.sleep(0.01)
        status = service.stop()
    time.sleep(0.5)
    left = [child for child in children if Path(f"/proc/{child}").exists()]
    for child in left:
        os.kill(child, signal.SIGKILL)
    assert (status, left) == (0, [])
