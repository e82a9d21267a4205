"""The stdio transport over the real command: what is no message, large ones, calls at once."""

import json
import random

import pytest

from support.bridging import BAD, CORE
from support.raw_mcp import (
    PROMPTLY,
    SLOW_DATA,
    SLOW_INSTANCES,
    SLOW_VALUE,
    STATELESS,
    linux_only,
    outcome,
    serving,
    watched,
    write_config,
)

# Every test talks to the real command.
pytestmark = pytest.mark.slow

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return write_config(tmp_path_factory.mktemp("transport"), SLOW_INSTANCES)


@pytest.fixture(scope="module")
def shared(config):
    with serving(config) as service:
        yield service


@pytest.fixture(scope="module", params=["2025-06-18", STATELESS])
def each(request, config):
    with serving(config, protocol=request.param) as service:
        yield service


def code_of(answer):
    return answer["error"]["code"]


MALFORMED = [
    b"{bad",
    b"}",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
    b"[" * 10_000,
    b'{"a":' * 10_000,
    b"[" * 10_000 + b"]" * 10_000,
    b'{"jsonrpc":"2.0","id":1,"method":"ping\xff"}',
    b"\xff\xfe\x00",
    b"\x00",
    b"9" * 5_000,
    b"Content-Length: 20",
]


@pytest.mark.parametrize("line", MALFORMED, ids=lambda line: repr(line[:24]))
def test_a_line_that_is_no_json_is_answered_without_an_id(each, line):
    each.send_line(line)
    answer = each.nameless_answer()
    # What can be read but is deeper than messages are may be refused as no message.
    assert code_of(answer) in {PARSE_ERROR, INVALID_REQUEST}
    assert code_of(answer) == PARSE_ERROR or line.startswith(b"[" * 10_000)
    each.ping()
    assert each.nameless == []


@pytest.mark.parametrize(
    "line",
    [b"[]", b"5", b'"x"', b"null", b"NaN", b"{}", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
    ids=repr,
)
def test_json_that_is_no_object_or_an_empty_one_is_an_invalid_request(each, line):
    each.send_line(line)
    assert code_of(each.nameless_answer()) == INVALID_REQUEST
    each.ping()
    assert each.nameless == []


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"jsonrpc": "2.0"},
        {"jsonrpc": "1.0", "method": "ping"},
        {"method": "ping"},
        {"jsonrpc": "2.0", "method": 5},
        {"jsonrpc": "2.0", "method": "ping", "params": [1]},
        {"jsonrpc": "2.0", "method": "ping", "params": "x"},
        {"jsonrpc": "2.0", "error": "x"},
    ],
)
@pytest.mark.parametrize("identifier", ["q", 70_001])
def test_an_object_that_is_no_message_is_refused_with_its_id(each, identifier, rest):
    each.send({**rest, "id": identifier})
    assert code_of(each.answer(identifier)) == INVALID_REQUEST
    each.ping()


@pytest.mark.parametrize("identifier", [None, 1.5, True, [1], {"a": 1}])
def test_a_request_whose_id_is_none_is_refused(each, identifier):
    """Without an answer its sender would wait for ever."""
    each.send({"jsonrpc": "2.0", "id": identifier, "method": "tools/list"})
    each.ping()
    assert [code_of(answer) for answer in each.nameless] == [INVALID_REQUEST]
    each.nameless.clear()


@pytest.mark.slow
def test_a_cancellation_of_nothing_is_ignored(config):
    with serving(config) as service:
        for params in (None, {}, *({"requestId": odd} for odd in ("?", 0, None, 1.5, [], {}))):
            service.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            service.ping()


def test_random_lines_are_all_answered(shared):
    source = random.Random(20_261_202)
    lines = [source.randbytes(source.randrange(1, 200)).replace(b"\n", b"") for _ in range(400)]
    lines = [line for line in lines if line.strip()]
    for line in lines:
        shared.send_line(line)
    for _ in lines:
        assert code_of(shared.nameless_answer()) in {PARSE_ERROR, INVALID_REQUEST}
    shared.ping()
    assert shared.nameless == []


def test_lone_surrogates_are_answered(each):
    lone = "\ud800"
    for arguments in ({"instance": "t", "input": lone}, {"instance": lone, "input": "x"}):
        assert outcome(each.call("intent_prepare", arguments)) == "INPUT_INVALID"
    assert outcome(each.prepare(context=lone)) == "INPUT_INVALID"
    assert outcome(each.prepare(fields=[lone])) in {"INPUT_INVALID", "UNKNOWN_FIELD"}
    assert outcome(each.call(lone, {lone: lone})) == "INPUT_INVALID"
    task = each.prepare()
    assert outcome(each.accept(task, CORE + lone)) == "INPUT_INVALID"
    assert outcome(each.accept(task, CORE, jobId=lone)) == "BRIDGE_JOB_NOT_FOUND"
    assert outcome(each.accept(task, CORE, stepToken=lone)) == "BRIDGE_STEP_CONFLICT"
    assert outcome(each.cancel(task, detail=lone)) == "INPUT_INVALID"
    # Also as the id, which comes back as it was.
    assert outcome(each.reply(each.submit(task, CORE + lone))) == "INPUT_INVALID"
    asked = each.request("tools/list", identifier=f"id {lone}")
    assert "tools" in each.result(asked)
    asked = each.request_tool("intent_cancel", {"jobId": task["jobId"]}, identifier=lone)
    assert outcome(each.reply(asked)) == "MODEL_ABORTED"
    assert code_of(each.answer(each.request(f"x{lone}"))) == -32601
    each.send({"jsonrpc": "2.0", "id": lone, "method": 5})
    assert code_of(each.answer(lone)) == INVALID_REQUEST


def test_invalid_utf_8_in_a_call_is_answered(each):
    message = {"jsonrpc": "2.0", "id": "bytes", "method": "tools/call", "params": {"name": "@"}}
    each.send_line(json.dumps(message).encode().replace(b"@", b"\xc3\x28"))
    assert code_of(each.nameless_answer()) == PARSE_ERROR
    each.ping()


def test_ids_come_back_as_they_were(each):
    for identifier in ("", "代", "a\nb\u2028", 0, -1, 2**63, "1", 1):
        answer = each.answer(each.request("tools/list", identifier=identifier))
        assert type(answer["id"]) is type(identifier)


def test_lines_may_end_in_crlf_and_be_empty(each):
    each.send_bytes(b"\r\n\n\n  \n\t\r\n")
    each.ping()
    method = "tools/list" if each.protocol == STATELESS else "ping"
    asked = each.request(method)
    each.answer(asked)
    # The same request in pieces, with the other end of line.
    for piece in (b'{"jsonrpc":"2.0",', b'"id":"crlf","method":', b'"no/such"', b"}", b"\r", b"\n"):
        each.send_bytes(piece)
        each.sent()
    assert "error" in each.answer("crlf")
    assert each.nameless == []


def test_answers_are_lines_that_end_in_a_newline_alone(each):
    task = each.prepare(text="第一行\r\n第二行\u2028\u0085")
    assert outcome(each.cancel(task)) == "MODEL_ABORTED"
    assert not any(b"\r" in line for line in each.lines)
    assert any("第一行".encode() in line for line in each.lines)


def test_a_message_of_300_kilobytes(each):
    context = "背景" * 20_000
    task = each.prepare("t", "请查询。" * 5_000, context=context)
    payload = json.loads(task["payload"])
    assert payload["context"][0]["content"] == context
    assert outcome(each.accept(task, CORE)) == "result"
    # As few characters as make that many bytes.
    task = each.prepare(text="\x01" * 60_000, context="\x02" * 20_000)
    assert json.loads(task["payload"])["currentInput"] == "\x01" * 60_000
    assert outcome(each.cancel(task)) == "MODEL_ABORTED"


def accept_line(task, text, identifier):
    """A submission with every character of the text escaped as six bytes."""
    arguments = {"jobId": task["jobId"], "stepToken": task["stepToken"], "candidateText": "@"}
    message = {
        "jsonrpc": "2.0",
        "id": identifier,
        "method": "tools/call",
        "params": {"name": "intent_accept", "arguments": arguments},
    }
    escaped = "".join(f"\\u{ord(char):04x}" for char in text)
    return json.dumps(message).replace('"@"', f'"{escaped}"').encode()


def test_the_largest_legal_candidate_is_taken_however_it_is_escaped(shared):
    padded = CORE + " " * (262_144 - len(CORE))
    shared.send_line(accept_line(shared.prepare(), padded, "largest"))
    assert outcome(shared.reply("largest")) == "result"
    # Control characters have no shorter form. Wrong, and too large for a repair task.
    controls = "\x01" * 262_144
    assert outcome(shared.accept(shared.prepare(), controls)) == "LIMIT_EXCEEDED"
    # One byte more is over the limit of a candidate, not of a line.
    task = shared.prepare()
    shared.send_line(accept_line(task, padded + " ", "over"))
    assert outcome(shared.reply("over")) == "LIMIT_EXCEEDED"
    assert outcome(shared.accept(task, CORE)) == "result"


@pytest.mark.parametrize("size", [2_000_000, 10_000_000])
def test_a_line_over_the_limit_is_refused_and_the_next_one_works(shared, size):
    shared.send_line(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * size + b'"}')
    shared.send_line(b"{bad")
    assert code_of(shared.nameless_answer()) == INVALID_REQUEST
    assert code_of(shared.nameless_answer()) == PARSE_ERROR
    shared.ping()
    assert shared.nameless == []


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["2025-06-18", STATELESS])
def test_a_blocked_validation_blocks_no_other_call(config, protocol):
    with serving(config, protocol=protocol) as service:
        blocked, child = service.validating("slow")
        service.ping()
        task = service.prepare("o")
        assert outcome(service.accept(task, CORE)) == "data"
        assert outcome(service.cancel(task)) == "MODEL_ABORTED"
        repair = service.accept(service.prepare(), BAD)
        assert outcome(service.accept(repair, CORE)) == "result"
        assert blocked not in service._answers
        with watched(child) as gone:
            service.process.terminate()
            assert service.exit_code(PROMPTLY) == 0
            assert gone(PROMPTLY)


@linux_only
@pytest.mark.slow
def test_cancelling_a_job_ends_its_validation(config):
    with serving(config) as service:
        task = service.accept(service.prepare("slow", f"Use code {SLOW_VALUE}"), CORE)
        blocked = service.submit(task, SLOW_DATA)
        while not service.children():
            service.ping()
        end = service.cancel(task, outcome="incomplete")
        assert outcome(end) == "MODEL_OUTPUT_INCOMPLETE"
        assert service.reply(blocked) == end
