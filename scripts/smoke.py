"""Try an installed intent-runtime from outside its source tree: parse, bridge, MCP, commands.

Run it with the Python of the environment to try; it ends with status 1 when something is amiss.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

import intent_runtime
from intent_runtime import Intent, ModelRequest
from intent_runtime.bridge import ResultReply, TaskReply, create_intent_bridge
from intent_runtime.executors import RulesExecutor

SCRIPTS = Path(sysconfig.get_path("scripts"))
SCHEMA = {
    "type": "object",
    "properties": {"orderId": {"type": "string", "description": "Order number."}},
    "required": ["orderId"],
}
TEXT = "查询订单 000123"
CONFIG = """
[instances.orders]
language = "zh-CN"

[instances.orders.schema]
type = "object"
properties = { orderId = { type = "string" } }
"""


def command(*arguments: str) -> str:
    """What one of the installed commands prints."""
    done = subprocess.run(
        [SCRIPTS / arguments[0], *arguments[1:]], capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def try_commands() -> None:
    """Both commands are there, tell their version, and parse."""
    assert intent_runtime.__version__ in command("intent-runtime", "--version")
    assert "--config" in command("intent-runtime-mcp", "--help")
    result = json.loads(command("intent-runtime", "parse", TEXT, "--json"))
    assert result["intents"][0]["action"] == "query"


def try_parse() -> None:
    """A parse of both stages."""
    with Intent(schema=SCHEMA, executor=RulesExecutor()) as intent:
        assert intent.parse_sync(TEXT).data == {"orderId": "000123"}


async def candidate(stage: str, instructions: str, payload: str) -> str:
    """The host's model, played by the rules."""
    reply = await RulesExecutor().generate(ModelRequest(stage, instructions, payload))
    return reply.text or ""


async def try_bridge() -> None:
    """A job through both stages."""
    with (
        Intent(schema=SCHEMA) as intent,
        create_intent_bridge(instances={"orders": intent}) as bridge,
        bridge.connect() as session,
    ):
        reply = session.prepare(instance="orders", input=TEXT)
        while isinstance(reply, TaskReply):
            text = await candidate(reply.stage, reply.instructions, reply.payload)
            reply = await session.accept(
                job_id=reply.job_id, step_token=reply.step_token, candidate_text=text
            )
    assert isinstance(reply, ResultReply)


async def try_mcp(folder: Path) -> None:
    """A job over the service's stdio, with the SDK's client."""
    config = folder / "intents.toml"
    config.write_text(CONFIG, "utf-8")
    server = StdioServerParameters(
        command=str(SCRIPTS / "intent-runtime-mcp"), args=["--config", str(config)]
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        request: dict[str, object] = {"instance": "orders", "input": TEXT}
        reply = (await client.call_tool("intent_prepare", request)).structured_content
        while reply["kind"] == "task":
            text = await candidate(reply["stage"], reply["instructions"], reply["payload"])
            tokens = {name: reply[name] for name in ("jobId", "stepToken")}
            done = await client.call_tool("intent_accept", {**tokens, "candidateText": text})
            reply = done.structured_content
    assert reply["result"]["data"] == {"orderId": "000123"}, reply


def main() -> None:
    """Everything, in turn."""
    assert "src" not in Path(intent_runtime.__file__).parts, "this is the source tree"
    try_commands()
    try_parse()
    asyncio.run(try_bridge())
    with TemporaryDirectory() as folder:
        asyncio.run(try_mcp(Path(folder)))
    print(f"intent-runtime {intent_runtime.__version__} on Python {sys.version.split()[0]}: good")


if __name__ == "__main__":
    main()
