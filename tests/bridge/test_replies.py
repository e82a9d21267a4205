"""Typed replies and their wire shapes (contract section 10)."""

from types import SimpleNamespace

import pytest

from intent_runtime.bridge import BridgeReply, ErrorReply, ResultReply, TaskReply, read_tool_reply
from support.bridging import CORE, DATA, bridge_of, prepare, submit


@pytest.fixture
def replies():
    with bridge_of() as bridge:
        session = bridge.connect()
        task = prepare(session, "o")
        data_task = submit(session, task, CORE)
        yield {
            "task": task,
            "data": data_task,
            "result": submit(session, data_task, DATA),
            "error": session.cancel(job_id=prepare(session).job_id),
            "issue": submit(session, submit(session, prepare(session, "o"), CORE), "x" * 300_000),
        }


def test_every_reply_survives_the_way_over_the_wire(replies):
    for reply in replies.values():
        wire = reply.to_dict()
        assert next(iter(wire)) == "kind"
        back = BridgeReply.from_dict(wire)
        assert type(back) is type(reply)
        assert back.to_dict() == wire
        assert read_tool_reply({"structuredContent": wire}).to_dict() == wire
        assert read_tool_reply(SimpleNamespace(structured_content=wire)).to_dict() == wire


def test_the_kinds_tell_the_types(replies):
    assert isinstance(replies["task"], TaskReply)
    assert isinstance(replies["result"], ResultReply)
    assert isinstance(replies["error"], ErrorReply)
    assert [replies[name].kind for name in ("task", "result", "error")] == [
        "task",
        "result",
        "error",
    ]
    assert replies["task"].task_payload()["currentInput"] == "Look up order 000123."
    assert replies["result"].result.evidence[0].sources[0].quote == "000123"
    assert "evidence" not in replies["result"].to_dict()["result"]


def test_a_repr_shows_sizes_and_no_words(replies):
    for reply in replies.values():
        assert "000123" not in repr(reply)


@pytest.mark.parametrize(
    "wire",
    [
        {},
        {"kind": "other"},
        {"kind": "task"},
        {"kind": "result", "result": {}},
        {"kind": "error", "error": 1},
    ],
)
def test_what_is_no_reply_is_a_value_error(wire):
    with pytest.raises(ValueError, match="not a bridge reply"):
        BridgeReply.from_dict(wire)
    with pytest.raises(ValueError, match="not a bridge reply"):
        read_tool_reply({"structuredContent": wire})


@pytest.mark.parametrize("result", [{}, None, {"structuredContent": []}, SimpleNamespace()])
def test_a_tool_result_without_a_reply_is_a_value_error(result):
    with pytest.raises(ValueError, match="no reply"):
        read_tool_reply(result)
