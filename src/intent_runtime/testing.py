"""For tests of programs and executors: a scripted executor, and what every executor must do.

Nothing here needs a test framework; `ExecutorContract` is written to be collected by pytest.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, cast

from intent_runtime.errors import ERROR_CODES, IntentParseError
from intent_runtime.executors.protocol import ModelExecutor
from intent_runtime.intent import Intent
from intent_runtime.pipeline import Run
from intent_runtime.values import ExecutorCapabilities, IntentResult, ModelReply, ModelRequest

__all__ = ["ExecutorContract", "ScriptedExecutor", "sample_requests"]

T = TypeVar("T")
ScriptedReply: TypeAlias = (
    str | dict[str, Any] | ModelReply | BaseException | Callable[[ModelRequest], Any]
)


class ScriptedExecutor:
    """Plays its replies in turn, one a call, and keeps the tasks it was given in `requests`.

    A reply is a candidate (its text, or a dict that becomes JSON), a `ModelReply`, an exception to
    raise, or a function of the task, async or not, that gives one of these. A call without a reply
    left raises LookupError.
    """

    def __init__(
        self,
        *replies: ScriptedReply,
        id: str = "scripted",  # noqa: A002 - the name of the attribute it sets
        capabilities: ExecutorCapabilities | None = None,
    ) -> None:
        self.id = id
        self.capabilities = capabilities or ExecutorCapabilities(
            native_json_schema=True, native_json_object=True
        )
        self.requests: list[ModelRequest] = []
        self._replies = list(replies)
        self._lock = threading.Lock()

    async def generate(self, request: ModelRequest) -> ModelReply:
        """The next reply."""
        with self._lock:
            self.requests.append(request)
            if not self._replies:
                raise LookupError(
                    f"call {len(self.requests)} ({request.stage} stage) has no reply in the script"
                )
            reply = self._replies.pop(0)
        while callable(reply):
            made: Any = reply(request)
            reply = cast("ScriptedReply", await made if inspect.isawaitable(made) else made)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, ModelReply):
            return reply
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        return ModelReply.complete(text)


_SCHEMA: Final = {
    "type": "object",
    "properties": {"orderId": {"type": "string", "description": "Order number."}},
    "required": ["orderId"],
}
_REQUEST: Final = {
    "input": "Look up order 000123, 不要修改它.",
    "context": "Orders have six digits.",
}
_CORE_CANDIDATE: Final = {
    "normalizedInput": "Look up order 000123 without changing it.",
    "primaryIntent": "look up an order",
    "requirements": [],
    "prohibitions": ["do not change it"],
    "intents": [
        {
            "action": "query",
            "target": "order 000123",
            "requirements": [],
            "blockers": {
                "clarificationReason": None,
                "questions": [],
                "confirmationReason": None,
                "conditionReason": None,
            },
        }
    ],
}


def sample_requests() -> dict[str, ModelRequest]:
    """Real tasks of every kind: `core`, `data`, and the repairs of both."""
    with Intent(schema=_SCHEMA) as intent:
        core = intent.engine.definition.begin(_REQUEST)
        assert isinstance(core, Run)
        data = core.judge(json.dumps(_CORE_CANDIDATE, ensure_ascii=False))
        assert isinstance(data, Run)
        core_repair, data_repair = core.judge("{}"), data.judge("{}")
        assert isinstance(core_repair, Run)
        assert isinstance(data_repair, Run)
    runs = {"core": core, "data": data, "core repair": core_repair, "data repair": data_repair}
    return {kind: run.task() for kind, run in runs.items()}


class ExecutorContract:
    """What every executor must do (contract section 9). Subclass it in a test file:

        class TestMyExecutor(ExecutorContract):
            secrets = ("sk-...",)

            def executor(self):
                return MyExecutor(...)

    pytest then runs every check, each with an executor of its own. They judge the manners of the
    executor, never how good its model is, and make about 20 calls in all.
    """  # noqa: D415 - an example in the middle

    secrets: ClassVar[Sequence[str]] = ()
    """Texts, such as keys, that must never show."""
    seconds: ClassVar[float] = 120.0
    """How long one call may take; a cancelled one has a tenth of it to stop."""

    def executor(self) -> ModelExecutor:
        """A new executor to check."""
        raise NotImplementedError

    def test_it_tells_its_name_and_capabilities_and_supports_abort(self) -> None:
        """Contract section 9: `id`, the four flags; an Intent takes nothing else."""
        executor = self.executor()
        assert isinstance(executor.id, str), "id must be a str"
        assert executor.id, "id must not be empty"
        capabilities = executor.capabilities
        assert isinstance(capabilities, ExecutorCapabilities), "capabilities have their own type"
        assert capabilities.supports_abort, "supports_abort must be declared, and true"
        Intent(executor=executor).dispose()

    def test_it_replies_to_every_kind_of_task(self) -> None:
        """A reply is a ModelReply; a complete one has text."""
        for kind, request in sample_requests().items():
            _check_reply(kind, self._run(self.executor().generate(request)))

    def test_a_parse_ends_in_a_result_or_a_typed_error(self) -> None:
        """Whatever the model says, and whatever goes wrong."""
        with Intent(schema=_SCHEMA, executor=self.executor()) as intent:
            ended = self._run(_outcome(intent))
        if isinstance(ended, IntentParseError):
            assert ended.code in ERROR_CODES, f"{ended.code} is not an error code"
            assert ended.code != "MODEL_REQUEST_FAILED", f"a call failed: {ended.__cause__!r}"

    def test_calls_at_once_do_not_disturb_each_other(self) -> None:
        """Several calls of one executor in one loop."""
        executor, request = self.executor(), sample_requests()["core"]

        async def together() -> list[ModelReply]:
            return await asyncio.gather(*(executor.generate(request) for _ in range(3)))

        for reply in self._run(together()):
            _check_reply("core", reply)

    def test_it_serves_one_event_loop_after_another(self) -> None:
        """As `parse_sync` needs it: each parse has a loop of its own."""
        executor, request = self.executor(), sample_requests()["core"]
        for _ in range(2):
            _check_reply("core", self._run(executor.generate(request)))

    def test_it_serves_several_threads(self) -> None:
        """Each with a loop of its own, at the same time."""
        executor, request = self.executor(), sample_requests()["core"]
        replies: list[object] = []

        def call() -> None:
            try:
                replies.append(self._run(executor.generate(request)))
            except BaseException as error:  # noqa: BLE001 - shown by the check below
                replies.append(error)

        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for reply in replies:
            _check_reply("core", reply)

    def test_it_stops_when_cancelled(self) -> None:
        """At once, and again at the next step; a call that is done already may stay done."""
        for steps in (0, 1, 10):
            self._run(self._cancelled_after(steps))

    async def _cancelled_after(self, steps: int) -> None:
        call = asyncio.ensure_future(self.executor().generate(sample_requests()["core"]))
        for _ in range(steps):
            await asyncio.sleep(0)
        call.cancel()
        await asyncio.wait({call}, timeout=self.seconds / 10)
        assert call.done(), "it goes on after cancellation"
        if not call.cancelled():
            error = call.exception()
            assert error is None, f"cancelled, it raised {error!r} instead of CancelledError"

    def test_no_secret_shows(self) -> None:
        """Neither in its repr nor in anybody's logs at DEBUG; nor do the user's words."""
        records: list[str] = []
        handler = logging.Handler(logging.DEBUG)
        handler.emit = lambda record: records.append(
            f"{record.getMessage()} {record.exc_info} {vars(record)}"
        )
        root = logging.getLogger()
        level = root.level
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        executor = self.executor()
        try:
            self._run(executor.generate(sample_requests()["core"]))
        finally:
            root.setLevel(level)
            root.removeHandler(handler)
        shown = "\n".join([repr(executor), str(executor), executor.id, *records])
        for secret in (*self.secrets, _REQUEST["input"]):
            assert secret not in shown, "a secret, or the user's words, show in a repr or a log"

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            return await asyncio.wait_for(call, self.seconds)

        return asyncio.run(bounded())


async def _outcome(intent: Intent) -> IntentResult | IntentParseError:
    try:
        return await intent.parse_request(_REQUEST)
    except IntentParseError as error:
        return error


def _check_reply(kind: str, reply: object) -> None:
    assert isinstance(reply, ModelReply), f"{kind}: {reply!r} is not a ModelReply"
    assert reply.outcome in ("complete", "refusal", "incomplete"), f"{kind}: {reply.outcome!r}"
    if reply.outcome == "complete":
        assert isinstance(reply.text, str), f"{kind}: the text of a complete reply must be a str"
        assert reply.text, f"{kind}: a complete reply must have text"
