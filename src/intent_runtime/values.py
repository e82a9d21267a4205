"""Public values: frozen, typed, with one mapping to the wire (contract sections 2, 3, 6, 7, 9).

Python names are snake_case; `rename="camel"` makes the wire names, here and nowhere else.
`gc=False` marks values that hold only strings and values like themselves: no cycle can go through
them, and a bridge may retain very many.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeVar, cast

import msgspec

from intent_runtime.formats import FORMAT_JSON, Action, Stage, Status, stage_format

EvidenceMode: TypeAlias = Literal["exact", "semantic"]
ReplyOutcome: TypeAlias = Literal["complete", "refusal", "incomplete"]
T = TypeVar("T")

MAX_SAFE_INTEGER: Final = 2**53 - 1
MAX_TIMER_MS: Final = 2**31 - 1


class WireValue(msgspec.Struct, frozen=True, rename="camel"):
    """A frozen value with a wire shape."""

    def encodable(self) -> Any:
        """What stands for this value on the wire, ready to be encoded."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The wire shape, fresh, of plain JSON types."""
        return cast("dict[str, Any]", msgspec.json.decode(msgspec.json.encode(self.encodable())))

    def to_json(self) -> str:
        """The wire shape as compact JSON."""
        return msgspec.json.encode(self.encodable()).decode()


class TextValue(WireValue, frozen=True, rename="camel"):
    """A value that holds the user's or a model's words: its repr tells sizes, never the words."""

    shown: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        fields = ", ".join(
            f"{name}={_veiled(getattr(self, name), open_=name in self.shown)}"
            for name in self.__struct_fields__
        )
        return f"{type(self).__name__}({fields})"


def _veiled(value: object, *, open_: bool) -> str:
    if open_ or value is None:
        return repr(value)
    return f"<{len(value)}>" if isinstance(value, Sized) else repr(value)


class Clarification(TextValue, frozen=True, rename="camel", gc=False):
    """A question that must be answered before an intent can be carried out (contract section 2)."""

    question: str
    options: tuple[str, ...] = ()


class IntentItem(TextValue, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """One thing the user wants done now (contract section 2).

    `reason` is None exactly when `status` is `ready`; `clarification` is empty unless `status` is
    `needs_clarification`. On the wire the absent ones have no key.
    """

    shown: ClassVar[frozenset[str]] = frozenset({"id", "action", "status"})

    id: str
    action: Action | None
    target: str | None
    requirements: tuple[str, ...]
    status: Status
    reason: str | None = None
    clarification: tuple[Clarification, ...] = ()


class EvidenceSource(TextValue, frozen=True, rename="camel", gc=False):
    """A verbatim quote from one source (`input` or `context:N`) (contract section 8.3)."""

    shown: ClassVar[frozenset[str]] = frozenset({"source_id"})

    source_id: str
    quote: str


class Evidence(TextValue, frozen=True, rename="camel", gc=False):
    """What a value of `data` (at JSON Pointer `path`) rests on (contract section 8.3)."""

    path: str
    mode: EvidenceMode
    sources: tuple[EvidenceSource, ...]


class TokenUsage(WireValue, frozen=True, rename="camel", gc=False):
    """Tokens a provider counted for one reply, or a sum of such counts (contract section 9)."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


class IntentUsage(WireValue, frozen=True, rename="camel", gc=False):
    """Tokens of one parse by stage, repairs and failed attempts included (contract section 9).

    A stage is None when no reply of it told a count.
    """

    core: TokenUsage | None = None
    data: TokenUsage | None = None

    @property
    def total(self) -> TokenUsage:
        """Both stages together."""
        return (self.core or TokenUsage()) + (self.data or TokenUsage())


class IntentResult(TextValue, frozen=True, rename="camel"):
    """The checked outcome of one request (contract section 2): seven keys on the wire.

    `evidence` holds the verified quotes behind `data`, `usage` what a parse cost in tokens (None
    when no executor told); neither goes to the wire.
    """

    input: str
    normalized_input: str
    primary_intent: str | None
    requirements: tuple[str, ...]
    intents: tuple[IntentItem, ...]
    prohibitions: tuple[str, ...]
    data: dict[str, Any] = {}
    evidence: tuple[Evidence, ...] = ()
    usage: IntentUsage | None = None

    def encodable(self) -> Any:
        """The seven wire keys, in order."""
        return {
            "input": self.input,
            "normalizedInput": self.normalized_input,
            "primaryIntent": self.primary_intent,
            "requirements": self.requirements,
            "intents": self.intents,
            "prohibitions": self.prohibitions,
            "data": self.data,
        }

    def data_as(self, kind: type[T]) -> T:
        """`data` as a typed object: a Pydantic model, dataclass, TypedDict or msgspec Struct.

        Reads `data` as JSON: the names are those on the wire (aliases), dates and the like come
        from strings, and defaults of the type fill what the user did not say. Raises the type's
        own validation error when `data` does not fit it, which under the same type as schema only
        what no schema can say brings about: validators in Python, leap seconds.
        """
        from intent_runtime.typed import load  # noqa: PLC0415 - wanted by few

        return cast("T", load(kind, self.data))


class ContextMessage(TextValue, frozen=True, rename="camel", gc=False):
    """One message of explicit context, from `user`, `assistant` or `tool` (contract section 6)."""

    shown: ClassVar[frozenset[str]] = frozenset({"role"})

    role: Literal["user", "assistant", "tool"]
    content: str


class IntentLimits(WireValue, frozen=True, rename="camel"):
    """Upper bounds, all positive integers (contract section 3). Sizes are UTF-8 bytes.

    Candidates and schemas nested deeper than 128 are refused whatever the two depth limits say:
    the native decoder and validator go no deeper.
    """

    max_input_bytes: int = 65_536
    max_context_bytes: int = 131_072
    max_schema_bytes: int = 131_072
    max_request_bytes: int = 524_288
    max_output_bytes: int = 262_144
    max_schema_depth: int = 8
    max_schema_properties: int = 256
    max_context_messages: int = 100
    max_intent_count: int = 100
    max_concurrent_parses: int = 4
    max_schema_cache_entries: int = 128
    max_candidate_depth: int = 32
    max_candidate_nodes: int = 20_000
    max_evidence_entries: int = 4_096
    max_issue_count: int = 256
    max_validation_ms: int = 1_000
    max_validation_queue_entries: int = 32


DEFAULT_LIMITS: Final = IntentLimits()


class ExecutorCapabilities(WireValue, frozen=True, rename="camel"):
    """What an executor can do (contract section 9). The engine itself needs `supports_abort`."""

    native_json_schema: bool = False
    native_json_object: bool = False
    isolated_turn: bool = True
    supports_abort: bool = True


class ModelRequest(TextValue, frozen=True, rename="camel"):
    """One task for a model (contract section 7); `payload` is a JSON string."""

    shown: ClassVar[frozenset[str]] = frozenset({"stage"})

    stage: Stage
    instructions: str
    payload: str

    @property
    def format(self) -> dict[str, Any]:
        """The output format the stage asks for, fresh: the caller may change it."""
        return stage_format(self.stage)

    def encodable(self) -> Any:
        """`{stage, instructions, payload, format}`."""
        return {
            "stage": self.stage,
            "instructions": self.instructions,
            "payload": self.payload,
            "format": msgspec.Raw(FORMAT_JSON[self.stage]),
        }


class ModelReply(TextValue, frozen=True, rename="camel"):
    """Complete text, a refusal, or an incomplete answer of a model (contract section 9)."""

    shown: ClassVar[frozenset[str]] = frozenset({"outcome"})

    outcome: ReplyOutcome
    text: str | None = None
    detail: str | None = None
    usage: TokenUsage | None = None

    @classmethod
    def complete(cls, text: str, *, usage: TokenUsage | None = None) -> ModelReply:
        """The whole candidate text."""
        return cls("complete", text=text, usage=usage)

    @classmethod
    def refusal(cls, detail: str | None = None, *, usage: TokenUsage | None = None) -> ModelReply:
        """The model declined; `detail` is for the caller's own logs and goes no further."""
        return cls("refusal", detail=detail, usage=usage)

    @classmethod
    def incomplete(
        cls, detail: str | None = None, *, usage: TokenUsage | None = None
    ) -> ModelReply:
        """The answer was cut off; nothing of it is used."""
        return cls("incomplete", detail=detail, usage=usage)
