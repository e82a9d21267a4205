"""The whole loop of a host: tasks, a repair, a refusal, and a resubmission after a size refusal.

The host's own model is played by RulesExecutor, so that this runs offline. A real host sends
`instructions`, `payload` and `format` to its model instead.
"""

import asyncio
import json
from pathlib import Path

from intent_runtime import Intent, ModelRequest
from intent_runtime.bridge import BridgeReply, BridgeSession, TaskReply, create_intent_bridge
from intent_runtime.executors import RulesExecutor

SCHEMA = json.loads((Path(__file__).parent / "order.schema.json").read_text("utf-8"))
MODEL = RulesExecutor()


class ModelRefusedError(Exception):
    """The host's model declined."""


async def generate(task: TaskReply) -> str:
    """The host's model: a task in, the whole candidate text out."""
    if "nuclear" in task.task_payload()["currentInput"]:
        raise ModelRefusedError
    request = ModelRequest(task.stage, task.instructions, task.payload)
    return (await MODEL.generate(request)).text or ""


async def submit(session: BridgeSession, task: TaskReply, candidate: str) -> BridgeReply:
    """Submit a whole candidate with the tokens of the task it answers."""
    return await session.accept(
        job_id=task.job_id, step_token=task.step_token, candidate_text=candidate
    )


async def recognise(session: BridgeSession, text: str) -> BridgeReply:
    """Run the loop until the job has ended."""
    reply = session.prepare(instance="orders", input=text)
    while isinstance(reply, TaskReply):
        try:
            candidate = await generate(reply)
        except ModelRefusedError:
            # Never submit an empty text: say that there is no candidate.
            return session.cancel(job_id=reply.job_id, outcome="refusal")
        except BaseException:
            session.cancel(job_id=reply.job_id)
            raise
        reply = await submit(session, reply, candidate)
    return reply


async def main() -> None:
    """Show each kind of step once."""
    with (
        Intent(schema=SCHEMA, limits={"max_output_bytes": 4_096}) as intent,
        create_intent_bridge(instances={"orders": intent}) as bridge,
        bridge.connect() as session,
    ):
        print("two stages:", (await recognise(session, "Look up order 000123")).to_json())
        print("a gap:", (await recognise(session, "Look up my order")).to_json())
        print("a refusal:", (await recognise(session, "Look up nuclear order 7")).to_json())

        # A candidate that breaks rules comes back as a repair task of the same stage.
        task = session.prepare(instance="orders", input="查询订单 000123", fields=[])
        assert isinstance(task, TaskReply)
        repair = await submit(session, task, '{"normalizedInput": ""}')
        assert isinstance(repair, TaskReply)
        violations = repair.task_payload()["repair"]["diagnostic"]["violations"]
        print("a repair:", [violation["path"] for violation in violations])

        # Too large is refused without ending the job: the same task takes a smaller candidate.
        good = await generate(repair)
        refused = await submit(session, repair, good + " " * 4_096)
        print("too large:", refused.to_json())
        print("resubmitted:", (await submit(session, repair, good)).to_json())


if __name__ == "__main__":
    asyncio.run(main())
