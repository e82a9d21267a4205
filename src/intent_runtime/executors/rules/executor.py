"""`RulesExecutor`: the embedded default (contract section 9), a model made of rules."""

from __future__ import annotations

import json
from typing import Any, Final

from intent_runtime.executors.rules.core import core_candidate
from intent_runtime.executors.rules.fields import data_candidate
from intent_runtime.values import ExecutorCapabilities, ModelReply, ModelRequest


class RulesExecutor:
    """Reads simple English and Chinese requests offline: deterministic, no model, no network.

    It gets the very tasks a model would and its candidates pass the very same checks. What it does
    not understand it says so, by a clarification or an issue; it never guesses.
    """

    id: Final = "rules"
    capabilities: Final = ExecutorCapabilities(
        native_json_schema=True, native_json_object=True, isolated_turn=True, supports_abort=True
    )

    async def generate(self, request: ModelRequest) -> ModelReply:
        """The candidate for one task; takes well under a millisecond for an ordinary request."""
        return ModelReply.complete(self.candidate(request))

    def candidate(self, request: ModelRequest) -> str:
        """The candidate text for one task, without an event loop."""
        payload: dict[str, Any] = json.loads(request.payload)
        write = core_candidate if request.stage == "core" else data_candidate
        return json.dumps(write(payload), ensure_ascii=False)
