"""`RulesExecutor`: the embedded default (contract section 9), a model made of rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from intent_runtime.executors.rules.core import core_candidate
from intent_runtime.executors.rules.fields import data_candidate
from intent_runtime.executors.rules.vocabulary import LANGUAGES
from intent_runtime.values import ExecutorCapabilities, ModelReply, ModelRequest


class RulesExecutor:
    """Reads simple English and Chinese requests offline: deterministic, no model, no network.

    It gets the very tasks a model would and its candidates pass the very same checks. What it does
    not understand it says so, by a clarification or an issue; it never guesses.
    """

    def __init__(self, languages: Sequence[str] = LANGUAGES) -> None:
        """Read requests in these languages (`en`, `zh`); ValueError for any other.

        Field values are found by shape and by the words of the schema, whatever the language.
        """
        unknown = [language for language in languages if language not in LANGUAGES]
        if isinstance(languages, str) or unknown or not languages:
            raise ValueError(f"languages must be some of {', '.join(LANGUAGES)}")
        self.id = "rules"
        self.capabilities = ExecutorCapabilities(
            native_json_schema=True,
            native_json_object=True,
            isolated_turn=True,
            supports_abort=True,
        )
        self._languages = tuple(languages)

    async def generate(self, request: ModelRequest) -> ModelReply:
        """The candidate for one task; takes well under a millisecond for an ordinary request."""
        return ModelReply.complete(self.candidate(request))

    def candidate(self, request: ModelRequest) -> str:
        """The candidate text for one task, without an event loop."""
        payload: dict[str, Any] = json.loads(request.payload)
        if request.stage == "core":
            candidate = core_candidate(payload, self._languages)
        else:
            candidate = data_candidate(payload)
        return json.dumps(candidate, ensure_ascii=False)
