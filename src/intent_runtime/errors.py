"""Codes, stages, issues, and the two exceptions (contract section 2).

Inside the library a refusal is a value, `IntentFailure`; it becomes an exception only at the
public edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import msgspec

if TYPE_CHECKING:
    from intent_runtime.values import IntentResult, IntentUsage

ErrorCode: TypeAlias = Literal[
    "CONFIG_INVALID",
    "SCHEMA_UNSUPPORTED",
    "INPUT_INVALID",
    "UNKNOWN_FIELD",
    "LIMIT_EXCEEDED",
    "EXECUTOR_NOT_CONFIGURED",
    "INSTANCE_DISPOSED",
    "MODEL_AUTH_FAILED",
    "MODEL_RATE_LIMITED",
    "MODEL_REQUEST_FAILED",
    "MODEL_TIMEOUT",
    "MODEL_ABORTED",
    "MODEL_REFUSED",
    "MODEL_OUTPUT_INCOMPLETE",
    "MODEL_OUTPUT_INVALID",
    "DATA_EXTRACTION_FAILED",
    "HOST_CAPABILITY_UNSUPPORTED",
    "BRIDGE_JOB_NOT_FOUND",
    "BRIDGE_JOB_EXPIRED",
    "BRIDGE_STEP_CONFLICT",
]
ErrorStage: TypeAlias = Literal["config", "input", "core", "data", "bridge"]
DataIssueCode: TypeAlias = Literal[
    "DATA_REQUIRED_MISSING",
    "DATA_AMBIGUOUS",
    "DATA_CONFLICT",
    "DATA_DEPENDENCY_MISSING",
    "DATA_CARDINALITY_MISMATCH",
    "DATA_VALUE_UNREPRESENTABLE",
    "DATA_CONSTRAINT_VIOLATED",
    "DATA_DESCRIPTION_UNDETERMINED",
    "DATA_SOURCE_INVALID",
]
IssueCategory: TypeAlias = Literal[
    "input", "config", "business_information", "definition", "processing"
]

ERROR_CODES: Final[tuple[str, ...]] = ErrorCode.__args__  # type: ignore[attr-defined]
DATA_ISSUE_CODES: Final[tuple[str, ...]] = DataIssueCode.__args__  # type: ignore[attr-defined]

# The one category each code may carry in a candidate. DATA_SOURCE_INVALID is reserved.
DATA_ISSUE_CATEGORIES: Final[dict[str, IssueCategory]] = {
    "DATA_REQUIRED_MISSING": "business_information",
    "DATA_AMBIGUOUS": "business_information",
    "DATA_CONFLICT": "business_information",
    "DATA_DEPENDENCY_MISSING": "business_information",
    "DATA_CARDINALITY_MISMATCH": "definition",
    "DATA_VALUE_UNREPRESENTABLE": "definition",
    "DATA_CONSTRAINT_VIOLATED": "definition",
    "DATA_DESCRIPTION_UNDETERMINED": "definition",
}


class IntentIssue(msgspec.Struct, frozen=True, gc=False):
    """One business problem (contract section 2).

    `path` is a JSON Pointer under `/data`, or None for the whole request.
    """

    code: str
    category: str
    path: str | None
    message: str

    def to_dict(self) -> dict[str, Any]:
        """The wire shape, fresh."""
        return cast("dict[str, Any]", msgspec.to_builtins(self))

    def to_json(self) -> str:
        """The wire shape as compact JSON."""
        return msgspec.json.encode(self).decode()

    def __repr__(self) -> str:
        return f"IntentIssue(code={self.code!r}, path={self.path!r})"


class IntentFailure(msgspec.Struct, frozen=True):
    """Why a call did not end in a result, as a value (contract section 2, Errors).

    `retry_after` (seconds, MODEL_RATE_LIMITED only) and `usage` stay on this side of the wire.
    """

    code: ErrorCode
    stage: ErrorStage
    message: str
    issues: tuple[IntentIssue, ...] = ()
    partial_result: IntentResult | None = None
    retry_after: float | None = None
    usage: IntentUsage | None = None

    def encodable(self) -> Any:
        """What stands for this failure on the wire, ready to be encoded."""
        wire: dict[str, Any] = {
            "code": self.code,
            "stage": self.stage,
            "message": self.message,
            "issues": self.issues,
        }
        if self.partial_result is not None:
            wire["partialResult"] = self.partial_result.encodable()
        return wire

    def to_dict(self) -> dict[str, Any]:
        """`{code, stage, message, issues, partialResult?}`, fresh and plain."""
        return cast("dict[str, Any]", msgspec.json.decode(self.to_json()))

    def to_json(self) -> str:
        """The wire shape as compact JSON."""
        return msgspec.json.encode(self.encodable()).decode()

    def __repr__(self) -> str:
        return f"IntentFailure(code={self.code!r}, stage={self.stage!r}, message={self.message!r})"

    def exception(self) -> IntentParseError:
        """The exception that carries this failure."""
        kind = IntentDataError if self.code == "DATA_EXTRACTION_FAILED" else IntentParseError
        return kind(
            self.code,
            self.message,
            stage=self.stage,
            issues=self.issues,
            partial_result=self.partial_result,
            retry_after=self.retry_after,
            usage=self.usage,
        )


class IntentParseError(Exception):
    """A call that ended in an error (contract section 2).

    Branch on `code`, `stage` and `issues`; `message` is for people and not stable.
    `partial_result` is the core result with empty `data` when the core stage had succeeded.
    `retry_after` is in seconds, on MODEL_RATE_LIMITED where the provider said so. `usage` is what a
    parse cost in tokens until then.
    """

    failure: IntentFailure

    def __init__(  # noqa: PLR0913 - an error has these parts
        self,
        code: ErrorCode,
        message: str,
        *,
        stage: ErrorStage = "core",
        issues: tuple[IntentIssue, ...] = (),
        partial_result: IntentResult | None = None,
        retry_after: float | None = None,
        usage: IntentUsage | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = IntentFailure(
            code=code,
            stage=stage,
            message=message,
            issues=issues,
            partial_result=partial_result,
            retry_after=retry_after,
            usage=usage,
        )

    @property
    def code(self) -> ErrorCode:
        """One of `ERROR_CODES`."""
        return self.failure.code

    @property
    def stage(self) -> ErrorStage:
        """Where it was noticed: `config`, `input`, `core`, `data` or `bridge`."""
        return self.failure.stage

    @property
    def message(self) -> str:
        """A short English sentence; holds no input, candidate or secret."""
        return self.failure.message

    @property
    def issues(self) -> tuple[IntentIssue, ...]:
        """The business problems; not empty exactly for DATA_EXTRACTION_FAILED."""
        return self.failure.issues

    @property
    def partial_result(self) -> IntentResult | None:
        """The understood core with empty data, or None when core had not succeeded."""
        return self.failure.partial_result

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait before trying again, where the provider said so."""
        return self.failure.retry_after

    @property
    def usage(self) -> IntentUsage | None:
        """Tokens by stage, all attempts summed; None when no executor told."""
        return self.failure.usage

    def to_dict(self) -> dict[str, Any]:
        """`{code, stage, message, issues, partialResult?}`, fresh and plain."""
        return self.failure.to_dict()

    def to_json(self) -> str:
        """The wire shape as compact JSON."""
        return self.failure.to_json()

    def __str__(self) -> str:
        return f"{self.code} ({self.stage}): {self.message}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.code!r}, {self.message!r}, stage={self.stage!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The default would call the class with the message alone.
        return (_rebuild, (type(self), self.failure))


class IntentDataError(IntentParseError):
    """The request was understood but its data has business gaps (contract section 2).

    Its code is `DATA_EXTRACTION_FAILED`; `issues` says what to ask.
    """


def _rebuild(kind: type[IntentParseError], failure: IntentFailure) -> IntentParseError:
    fields = {name: getattr(failure, name) for name in failure.__struct_fields__}
    return kind(fields.pop("code"), fields.pop("message"), **fields)
