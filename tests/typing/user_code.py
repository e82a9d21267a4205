"""What users write, for type checkers: `make dist` checks it against the installed wheel."""

from dataclasses import dataclass
from typing import assert_type

from intent_runtime import (
    ACTIONS,
    ERROR_CODES,
    Clarification,
    ContextMessage,
    Evidence,
    ExecutorCapabilities,
    Intent,
    IntentDataError,
    IntentIssue,
    IntentItem,
    IntentLimits,
    IntentParseError,
    IntentResult,
    IntentUsage,
    ModelExecutor,
    ModelReply,
    ModelRequest,
    TokenUsage,
    executor_from,
)
from intent_runtime.bridge import (
    BridgeReply,
    BridgeSession,
    ErrorReply,
    IntentBridge,
    ResultReply,
    TaskReply,
    create_intent_bridge,
    read_tool_reply,
)
from intent_runtime.executors import RulesExecutor, create_api_executor
from intent_runtime.mcp import MCP_TOOLS, IntentMcpService, serve_intent_mcp
from intent_runtime.testing import ExecutorContract, ScriptedExecutor


@dataclass
class Order:
    order_id: str
    quantity: int = 1


class Mine:
    id = "mine"
    capabilities = ExecutorCapabilities(native_json_schema=True)

    async def generate(self, request: ModelRequest) -> ModelReply:
        assert_type(request.payload, str)
        return ModelReply.complete("{}", usage=TokenUsage(1, 2))


async def ask(request: ModelRequest) -> ModelReply:
    return ModelReply.refusal(request.stage)


executors: list[ModelExecutor] = [
    Mine(),
    RulesExecutor(),
    ScriptedExecutor("{}", {"a": 1}, ModelReply.incomplete(), TimeoutError()),
    executor_from(ask),
    create_api_executor(provider="openai", api_key="k", model="m"),
    create_api_executor(provider="openai-compatible", api_key="k", model="m", base_url="http://x"),
]


class TestMine(ExecutorContract):
    secrets = ("sk-1",)

    def executor(self) -> ModelExecutor:
        return Mine()


def results(result: IntentResult) -> None:
    assert_type(result.intents, tuple[IntentItem, ...])
    assert_type(result.primary_intent, str | None)
    assert_type(result.data_as(Order), Order)
    assert_type(result.evidence, tuple[Evidence, ...])
    assert_type(result.usage, IntentUsage | None)
    for item in result.intents:
        assert_type(item.clarification, tuple[Clarification, ...])
        if item.status == "conditional":
            assert_type(item.reason, str | None)


def parse() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {}}
    for intent in (
        Intent(),
        Intent(schema=Order),
        Intent(schema=schema, limits={"max_input_bytes": 9}),
    ):
        with intent as entered:
            assert_type(entered, Intent)
            context: list[ContextMessage | dict[str, str]] = [
                ContextMessage("user", "hello"),
                {"role": "tool", "content": "x"},
            ]
            try:
                results(intent.parse_sync("x", fields=["a"], context=context))
            except IntentDataError as error:
                assert_type(error.issues, tuple[IntentIssue, ...])
            except IntentParseError as error:
                assert_type(error.partial_result, IntentResult | None)
                assert_type(error.retry_after, float | None)
    Intent.from_config({"language": "en", "timeoutMs": 5})
    Intent(limits=IntentLimits(max_input_bytes=9), executor=executors[0])


async def host(intent: Intent) -> None:
    async with intent:
        results(await intent.parse("x", context="text"))
        results(await intent.parse_request({"input": "x"}))
    with create_intent_bridge(instances={"one": intent}, max_jobs=3) as bridge:
        assert_type(bridge, IntentBridge)
        with bridge.connect() as session:
            assert_type(session, BridgeSession)
            reply = session.prepare(instance="one", input="x", fields=[])
            if isinstance(reply, TaskReply):
                reply = await session.accept(
                    job_id=reply.job_id, step_token=reply.step_token, candidate_text="{}"
                )
            if isinstance(reply, ResultReply):
                results(reply.result)
            elif isinstance(reply, ErrorReply):
                assert_type(reply.error.message, str)
            session.cancel(job_id="x", outcome="refusal", detail=None)
            other: BridgeReply = await session.call("intent_cancel", {"jobId": "x"})
            unwrapped: BridgeReply = read_tool_reply({"structuredContent": other.to_dict()})
            assert unwrapped == other


async def serve(intent: Intent) -> None:
    service = await serve_intent_mcp(instances={"one": intent}, max_jobs=3)
    assert_type(service, IntentMcpService)
    await service.close()


vocabulary: tuple[object, ...] = (*ACTIONS, *ERROR_CODES, *MCP_TOOLS)
