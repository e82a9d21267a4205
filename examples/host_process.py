"""A host in a process of its own, talking to the bridge in JSON lines over a pipe.

The parent owns the bridge and answers `{"tool", "arguments"}` lines with replies; the child is the
host with its model (played by RulesExecutor). MCP does the same with a protocol around it.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from intent_runtime import Intent, ModelRequest
from intent_runtime.bridge import BridgeReply, TaskReply, create_intent_bridge
from intent_runtime.executors import RulesExecutor

SCHEMA = json.loads((Path(__file__).parent / "order.schema.json").read_text("utf-8"))


def call(tool: str, arguments: dict[str, object]) -> BridgeReply:
    """The host's side of one call."""
    print(json.dumps({"tool": tool, "arguments": arguments}), flush=True)
    return BridgeReply.from_dict(json.loads(sys.stdin.readline()))


def host(text: str) -> None:
    """The child: run the loop, then report the end on standard error."""
    model = RulesExecutor()
    reply = call("intent_prepare", {"instance": "orders", "input": text})
    while isinstance(reply, TaskReply):
        candidate = model.candidate(ModelRequest(reply.stage, reply.instructions, reply.payload))
        reply = call(
            "intent_accept",
            {
                "jobId": reply.job_id,
                "stepToken": reply.step_token,
                "candidateText": candidate,
            },
        )
    print(reply.to_json(), file=sys.stderr)


async def serve(text: str) -> int:
    """The parent: one session for one child, released when the child is gone."""
    child = subprocess.Popen(
        [sys.executable, __file__, "--host", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with (
        child,
        Intent(schema=SCHEMA) as intent,
        create_intent_bridge(instances={"orders": intent}) as bridge,
        bridge.connect() as session,
    ):
        for line in child.stdout:
            message = json.loads(line)
            reply = await session.call(message["tool"], message["arguments"])
            child.stdin.write(reply.to_json() + "\n")
            child.stdin.flush()
    return child.returncode


if __name__ == "__main__":
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8")
    if sys.argv[1:2] == ["--host"]:
        host(sys.argv[2])
    else:
        request = sys.argv[1] if len(sys.argv) > 1 else "查询订单 000123"
        sys.exit(asyncio.run(serve(request)))
