"""What becomes of each provider's replies and failures (contract section 9, the table)."""

import asyncio
import copy
import gc
import logging
import pickle
import traceback
from operator import attrgetter

import pytest

from intent_runtime import Intent, IntentParseError, TokenUsage
from intent_runtime.executors.api import http
from support.candidates import SCHEMA, core_candidate, data_candidate
from support.provider_server import WAIT, Reply
from support.provider_wires import (
    KEY,
    USAGE,
    WIRES,
    Anthropic,
    Chat,
    Google,
    Responses,
    executor_for,
)

pytestmark = pytest.mark.slow
WORDS = "provider-words-91"
ONE = TokenUsage(*USAGE)
TEXT = "Look up order 000123"


def failed(parse, *replies, **options):
    with pytest.raises(IntentParseError) as caught:
        parse(*replies, **options)
    return caught.value


def nothing_told(error, *secrets):
    """No secret in anything that a careless log might hold of the error itself."""
    shown = [str(error), repr(error), error.message, error.to_json(), repr(error.failure)]
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):  # noqa: S301 - our own
        shown += [str(other), repr(other), other.to_json()]
    return all(secret not in text for secret in (KEY, WORDS, *secrets) for text in shown)


@pytest.mark.parametrize("manner", ["plain", "gzip"])
def test_a_reply_becomes_a_result_with_its_usage(parse, wire, manner):
    result = parse(
        Reply(wire.success(core_candidate()), manner=manner),
        Reply(wire.success(data_candidate()), manner=manner),
        schema=SCHEMA,
    )
    assert result.data == {"orderId": "000123"}
    assert (result.usage.core, result.usage.data, result.usage.total) == (ONE, ONE, ONE + ONE)
    assert "usage" not in result.to_dict()


def test_usage_sums_repairs_and_failed_attempts(parse, wire):
    error = failed(
        parse,
        Reply(wire.success("{}")),
        Reply(wire.success(core_candidate())),
        Reply(wire.success("no JSON")),
        Reply(wire.tool_call()),
        schema=SCHEMA,
    )
    assert error.code == "MODEL_OUTPUT_INVALID"
    assert (error.usage.core, error.usage.data) == (ONE + ONE, ONE + ONE)
    assert "usage" not in error.to_dict()


BAD = [
    ("refusal", lambda wire: wire.refusal(WORDS), "MODEL_REFUSED"),
    ("truncation", lambda wire: wire.truncation(core_candidate()[:40]), "MODEL_OUTPUT_INCOMPLETE"),
    ("whole but cut off", lambda wire: wire.truncation(core_candidate()), "MODEL_OUTPUT_INCOMPLETE"),
    ("tool call", lambda wire: wire.tool_call(), "MODEL_OUTPUT_INVALID"),
    ("invalid JSON", lambda _: b'{"output": [' + WORDS.encode(), "MODEL_OUTPUT_INVALID"),
    ("not UTF-8", lambda _: b'{"output": ["\xff\xfe"]}', "MODEL_OUTPUT_INVALID"),
    ("another shape", lambda _: {"choices": "x", "output": 1, "content": 2, "candidates": 3}, "MODEL_OUTPUT_INVALID"),
    ("a list", lambda _: [], "MODEL_OUTPUT_INVALID"),
    ("null", lambda _: b"null", "MODEL_OUTPUT_INVALID"),
    ("nothing", lambda _: b"", "MODEL_OUTPUT_INVALID"),
    ("an error as a success", lambda _: {"error": {"message": WORDS}}, "MODEL_OUTPUT_INVALID"),
    ("deep", lambda _: b"[" * 100_000, "MODEL_OUTPUT_INVALID"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "code"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_bad_reply_ends_the_parse_at_once(parse, server, wire, body, code):
    error = failed(parse, Reply(body(wire)))
    assert (error.code, error.stage, error.partial_result) == (code, "core", None)
    assert len(server.requests) == 1
    assert nothing_told(error)


def test_empty_text_is_no_reply_and_from_a_compatible_server_a_cut_off_one(parse, wire):
    code = "MODEL_OUTPUT_INCOMPLETE" if isinstance(wire, Chat) else "MODEL_OUTPUT_INVALID"
    for text in ("", " \n"):
        assert failed(parse, Reply(wire.success(text))).code == code


@pytest.mark.parametrize(
    "wire", [wire for wire in WIRES if wire.two_messages], ids=attrgetter("name")
)
def test_several_messages_are_no_reply(parse, wire):
    assert failed(parse, Reply(wire.two_messages(core_candidate()))).code == "MODEL_OUTPUT_INVALID"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "MODEL_AUTH_FAILED"),
        (403, "MODEL_AUTH_FAILED"),
        (429, "MODEL_RATE_LIMITED"),
        (400, "MODEL_REQUEST_FAILED"),
        (404, "MODEL_REQUEST_FAILED"),
        (408, "MODEL_REQUEST_FAILED"),
        (409, "MODEL_REQUEST_FAILED"),
        (500, "MODEL_REQUEST_FAILED"),
        (503, "MODEL_REQUEST_FAILED"),
        (529, "MODEL_REQUEST_FAILED"),
        (302, "MODEL_REQUEST_FAILED"),
    ],
)
@pytest.mark.parametrize("body", [{"error": {"message": WORDS, "code": KEY}}, WORDS.encode(), b"", b"[1]"], ids=["JSON", "text", "nothing", "list"])  # fmt: skip
def test_an_http_status_has_its_code_and_is_never_retried(parse, server, wire, status, code, body):
    elsewhere = f"{server.url}/elsewhere"
    error = failed(parse, Reply(body, status, {"x-words": WORDS, "location": elsewhere}))
    assert (error.code, error.stage) == (code, "core")
    assert f"HTTP {status}" in error.message
    assert len(server.requests) == 1
    assert nothing_told(error)
    assert error.__cause__ is not None
    assert not isinstance(error.__cause__, IntentParseError)


def test_a_failure_in_the_data_stage_keeps_what_was_understood(parse, wire):
    for reply in (Reply(b"", 401), Reply(wire.refusal(WORDS)), Reply(b"x" * 99, manner="reset")):
        error = failed(parse, Reply(wire.success(core_candidate())), reply, schema=SCHEMA)
        assert error.stage == "data"
        assert error.partial_result.intents[0].target == "order 000123"
        assert error.usage.core == ONE


WAITS = [
    ({"retry-after": "7"}, 7.0),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
    ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
    ({"retry-after": "-3"}, None),
    ({"retry-after": "1e400"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "Wed, 99 Oct 99999 07:28:00 GMT"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), WAITS)
def test_a_rate_limit_tells_the_providers_waiting_time(parse, headers, seconds):
    error = failed(parse, Reply({}, 429, headers))
    assert (error.code, error.retry_after) == ("MODEL_RATE_LIMITED", seconds)
    assert "retry_after" not in error.to_dict()


def test_only_a_rate_limit_tells_a_waiting_time(parse):
    assert failed(parse, Reply({}, 503, {"retry-after": "7"})).retry_after is None


def test_google_tells_the_waiting_time_among_its_details(server):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    for details, seconds in (
        ([{"@type": "x"}, info], 34.5),
        ([info | {"retryDelay": "soon"}], None),
        ([info | {"retryDelay": 5}], None),
        ("none", None),
        ([None, 3], None),
    ):
        body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}}
        server.play(Reply(body, 429))
        with Intent(executor=executor_for(Google(), server)) as intent:
            error = failed(intent.parse_sync, TEXT)
        assert error.retry_after == seconds


@pytest.mark.parametrize(
    ("manner", "code"),
    [("hang", "MODEL_TIMEOUT"), ("drip", "MODEL_TIMEOUT"), ("reset", "MODEL_REQUEST_FAILED")],
)
def test_a_broken_connection_has_its_code(parse, server, wire, manner, code):
    error = failed(parse, Reply(wire.success(core_candidate()), manner=manner), timeout_ms=300)
    assert error.code == code
    assert len(server.requests) == 1
    assert error.__cause__ is not None
    assert manner == "reset" or server.gone.wait(WAIT)


def test_a_server_that_is_not_there_is_a_failed_request(wire):
    class Nowhere:
        url = "http://127.0.0.1:1"

    with Intent(executor=executor_for(wire, Nowhere)) as intent:
        assert failed(intent.parse_sync, TEXT).code == "MODEL_REQUEST_FAILED"


def test_timeout_ms_of_the_intent_bounds_a_call_as_well(parse, server, wire):
    hang = Reply(wire.success(core_candidate()), manner="hang")
    assert failed(parse, hang, intent={"timeout_ms": 200}).code == "MODEL_TIMEOUT"
    assert server.gone.wait(WAIT)


@pytest.mark.parametrize("manner", ["hang", "drip"])
def test_cancelling_closes_the_request_at_the_servers_end(server, wire, manner):
    async def cancel():
        with Intent(executor=executor_for(wire, server)) as intent:
            parse = asyncio.create_task(intent.parse(TEXT))
            assert await asyncio.to_thread(server.arrived.wait, WAIT)
            assert not server.gone.is_set()
            parse.cancel()
            with pytest.raises(asyncio.CancelledError):
                await parse
            assert await asyncio.to_thread(server.gone.wait, WAIT)

    server.play(Reply(wire.success(core_candidate()), manner=manner))
    asyncio.run(cancel())


def test_disposing_closes_the_request_at_the_servers_end(server, wire):
    async def dispose():
        intent = Intent(executor=executor_for(wire, server))
        parse = asyncio.create_task(intent.parse(TEXT))
        assert await asyncio.to_thread(server.arrived.wait, WAIT)
        intent.dispose()
        with pytest.raises(IntentParseError) as caught:
            await parse
        assert caught.value.code == "INSTANCE_DISPOSED"
        assert await asyncio.to_thread(server.gone.wait, WAIT)

    server.play(Reply(b"", manner="hang"))
    asyncio.run(dispose())


def test_a_reply_over_the_bound_is_refused_before_it_fills_the_memory(parse, wire, monkeypatch):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 50_000)
    large = wire.success(core_candidate(normalizedInput="查" * 30_000))
    for manner in ("plain", "gzip"):
        assert failed(parse, Reply(large, manner=manner)).code == "MODEL_REQUEST_FAILED"


def test_nothing_of_a_call_is_logged_even_at_debug(parse, wire, caplog):
    caplog.set_level(logging.DEBUG)
    secret = "order 000123-secret"  # noqa: S105 - a user's words
    parse(
        Reply(wire.success(core_candidate(primaryIntent=WORDS)), headers={"x-w": WORDS}),
        text=secret,
    )
    failed(parse, Reply({"error": WORDS}, 401, {"x-w": WORDS}), text=secret)
    shown = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert caplog.records
    assert [word for word in (KEY, WORDS, secret) if word in shown] == []


def test_other_uses_of_the_same_libraries_still_log(caplog):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpcore2.http11").debug("someone else's")
    assert "someone else's" in caplog.text


def test_the_key_shows_nowhere(parse, server, wire):
    executor = executor_for(wire, server)
    assert KEY not in repr(executor) + str(executor.id) + repr(executor._settings)
    error = failed(parse, Reply({"error": {"message": WORDS}}, 500))
    assert KEY not in "".join(traceback.format_exception(error))


def test_an_executor_serves_several_loops_and_leaves_nothing_open(server, wire):
    server.play(Reply(wire.success(core_candidate())))
    executor = executor_for(wire, server)

    async def three_at_once():
        with Intent(executor=executor) as intent:
            await asyncio.gather(*(intent.parse(TEXT) for _ in range(3)))
        assert len(executor._clients._clients) == 1

    for _ in range(3):
        asyncio.run(three_at_once())
        assert executor._clients._clients == {}
    gc.collect()  # an unclosed socket would be an unraisable error


RESPONSES_ENDS = [
    ({"status": "failed", "error": {"code": "server_error"}}, "MODEL_REQUEST_FAILED"),
    ({"status": "failed", "error": {"code": "rate_limit_exceeded"}}, "MODEL_RATE_LIMITED"),
    ({"status": "in_progress"}, "MODEL_OUTPUT_INCOMPLETE"),
    ({"status": "cancelled"}, "MODEL_OUTPUT_INCOMPLETE"),
    ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "MODEL_OUTPUT_INCOMPLETE"),
    ({"output": []}, "MODEL_OUTPUT_INVALID"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "code"), RESPONSES_ENDS)
@pytest.mark.parametrize("name", ["openai", "xai"])
def test_every_status_of_a_response_has_its_code(server, name, changes, code):
    wire = Responses(name)
    server.play(Reply(wire.success(core_candidate()) | changes))
    with Intent(executor=executor_for(wire, server)) as intent:
        error = failed(intent.parse_sync, TEXT)
    assert error.code == code
    assert error.usage.core == ONE


CHAT_ENDS = [
    ("content_filter", {"content": core_candidate()}, "MODEL_REFUSED"),
    ("stop", {"content": core_candidate(), "refusal": WORDS}, "MODEL_REFUSED"),
    ("insufficient_system_resource", {"content": core_candidate()}, "MODEL_OUTPUT_INCOMPLETE"),
    ("length", {"content": None}, "MODEL_OUTPUT_INCOMPLETE"),
    ("function_call", {"content": core_candidate()}, "MODEL_OUTPUT_INVALID"),
    ("stop", {"content": core_candidate(), "function_call": {"name": "n"}}, "MODEL_OUTPUT_INVALID"),
    ("stop", {"content": core_candidate(), "tool_calls": []}, None),
    (None, {"content": core_candidate()}, None),
    ("eos", {"content": core_candidate()}, None),
    ("stop", {"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": core_candidate()}]}, None),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "message", "code"), CHAT_ENDS)
def test_every_end_of_a_chat_completion_has_its_code(server, reason, message, code):
    wire = Chat()
    server.play(Reply(wire._reply(wire._choice(reason, **message))))
    with Intent(executor=executor_for(wire, server)) as intent:
        if code is None:
            assert intent.parse_sync(TEXT).intents[0].action == "query"
        else:
            assert failed(intent.parse_sync, TEXT).code == code


def test_strange_token_counts_do_not_spoil_a_reply(server):
    wire = Chat()
    for usage, counted in (
        (None, None),
        ("many", None),
        ({}, TokenUsage()),
        ({"prompt_tokens": None, "completion_tokens": "7"}, TokenUsage()),
        ({"prompt_tokens": -1, "completion_tokens": True}, TokenUsage()),
        ({"prompt_tokens": 3}, TokenUsage(3, 0)),
    ):
        server.play(Reply(wire.success(core_candidate()) | {"usage": usage}))
        with Intent(executor=executor_for(wire, server)) as intent:
            result = intent.parse_sync(TEXT)
        assert (result.usage and result.usage.core) == counted


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("stop_sequence", None),
        ("pause_turn", "MODEL_OUTPUT_INCOMPLETE"),
        ("model_context_window_exceeded", "MODEL_OUTPUT_INCOMPLETE"),
        (None, "MODEL_OUTPUT_INCOMPLETE"),
    ],
)
def test_every_stop_reason_of_anthropic_has_its_code(server, reason, code):
    wire = Anthropic()
    server.play(Reply(wire.success(core_candidate()) | {"stop_reason": reason}))
    with Intent(executor=executor_for(wire, server)) as intent:
        if code is None:
            assert intent.parse_sync(TEXT).intents
        else:
            assert failed(intent.parse_sync, TEXT).code == code


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("PROHIBITED_CONTENT", "MODEL_REFUSED"),
        ("MALFORMED_FUNCTION_CALL", "MODEL_OUTPUT_INVALID"),
        ("CONTINUATION", "MODEL_OUTPUT_INCOMPLETE"),
        ("OTHER", "MODEL_OUTPUT_INCOMPLETE"),
        (None, "MODEL_OUTPUT_INCOMPLETE"),
    ],
)
def test_every_finish_reason_of_google_has_its_code_and_one_request(server, reason, code):
    wire = Google()
    candidate = wire._candidate({"text": core_candidate()}, reason=reason)
    server.play(Reply(wire._reply(candidate | {"continuationToken": "more"})))
    with Intent(executor=executor_for(wire, server)) as intent:
        assert failed(intent.parse_sync, TEXT).code == code
    assert len(server.requests) == 1


def test_a_blocked_prompt_of_google_is_a_refusal(server):
    server.play(Reply({"promptFeedback": {"blockReason": "SAFETY"}}))
    with Intent(executor=executor_for(Google(), server)) as intent:
        assert failed(intent.parse_sync, TEXT).code == "MODEL_REFUSED"
