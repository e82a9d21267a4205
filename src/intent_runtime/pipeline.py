"""The two-stage machine (contract sections 1, 7, 8): no I/O, no clock, no tasks.

| from | event | to |
| --- | --- | --- |
| - | `begin` with a good request | a core `Run` |
| core | candidate holds, fields selected | a data `Run` |
| core | candidate holds, none selected | `IntentResult` |
| data | candidate holds | `IntentResult` |
| core, data | candidate breaks rules, attempts left | a repair `Run` of the same stage |
| core, data | anything else | `IntentFailure` |

A `Run` is immutable: judging a candidate leaves it as it was, so a driver can throw an outcome
away. Judging a data candidate may stop at `Pending`: native validation is the driver's to do.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from intent_runtime import prompts
from intent_runtime.candidate.core import assemble, check_core
from intent_runtime.candidate.data import DataReview, Material
from intent_runtime.candidate.findings import Finding, Findings, LimitExcess
from intent_runtime.candidate.strict_json import read_candidate
from intent_runtime.errors import ErrorCode, IntentFailure
from intent_runtime.formats import Stage
from intent_runtime.pointer import Location
from intent_runtime.request import Request, read_request
from intent_runtime.schema.native import NativeSchema, Report
from intent_runtime.schema.selection import Projection, Selections
from intent_runtime.schema.weights import Shape
from intent_runtime.text import exceeds_utf8, hidden_repr, is_blank, utf8_length
from intent_runtime.values import IntentLimits, IntentResult, ModelRequest


class Definition:
    """What all runs of one Intent share; made of checked parts."""

    def __init__(
        self, language: str, schema: dict[str, Any], repair_attempts: int, limits: IntentLimits
    ) -> None:
        self.language_json = prompts.encode(language)
        self.schema_json = prompts.encode(schema)
        self.root_described = not is_blank(schema.get("description", ""))
        self.selections = Selections(schema, limits.max_schema_cache_entries)
        self.repair_attempts = repair_attempts
        self.limits = limits

    def begin(self, raw_request: object) -> Run | IntentFailure:
        """The first run for a request in its wire shape (contract section 6)."""
        request = read_request(raw_request, self.limits, self.selections)
        if isinstance(request, IntentFailure):
            return request
        return _ready(Run(self, request, "core", self.repair_attempts))


class CoreOutcome(msgspec.Struct, frozen=True):
    """The core result of a run in its data stage, and its JSON as tasks show it."""

    result: IntentResult
    json: str

    __repr__ = hidden_repr


class Run(msgspec.Struct, frozen=True):
    """One request on its way: the stage it is in and everything its next task needs.

    `repair_json` holds the previous candidate text and the diagnostic when the task is a repair.
    """

    definition: Definition
    request: Request
    stage: Stage
    attempts_left: int
    core: CoreOutcome | None = None
    repair_json: str | None = None

    __repr__ = hidden_repr

    @property
    def partial_result(self) -> IntentResult | None:
        """The core result, once there is one, with data of its own."""
        if self.core is None:
            return None
        return msgspec.structs.replace(self.core.result, data={})

    @property
    def projection(self) -> Projection:
        """The schema of the selected fields."""
        return self.definition.selections.projection(self.request.fields)

    def task(self) -> ModelRequest:
        """The task for the model (contract section 7)."""
        return prompts.compose(self.stage, self._members())

    def _members(self) -> dict[str, str]:
        """The payload's members as JSON texts, in order."""
        members = {
            "structuredLanguage": self.definition.language_json,
            "currentInput": self.request.input_json,
            "context": self.request.context_json,
            "schemaReference": self.definition.schema_json,
        }
        if self.core is not None:
            members["checkedDefault"] = self.core.json
            members["selectedSchema"] = self.projection.json
            members["selectedFields"] = prompts.encode(self.request.fields)
        if self.repair_json is not None:
            members["repair"] = self.repair_json
        return members

    def fits(self) -> bool:
        """Whether the task is within maxRequestBytes."""
        limit = self.definition.limits.max_request_bytes
        fixed = prompts.fixed_bytes(self.stage, repair=self.repair_json is not None)
        members = self._members()
        characters = sum(len(name) + len(text) + 4 for name, text in members.items())
        # UTF-8 takes at most four bytes a code point; most tasks are far below the limit.
        if fixed + 4 * characters <= limit:
            return True
        return fixed + utf8_length(self.task().payload) <= limit

    def failure(self, code: ErrorCode, message: str) -> IntentFailure:
        """This run's end by an error, with what was understood so far."""
        return IntentFailure(
            code=code, stage=self.stage, message=message, partial_result=self.partial_result
        )

    def oversized(self) -> IntentFailure:
        """The refusal of a candidate over maxOutputBytes."""
        limit = self.definition.limits.max_output_bytes
        return self.failure(
            "LIMIT_EXCEEDED", f"The candidate is larger than maxOutputBytes ({limit})."
        )

    def judge(self, candidate_text: str) -> Outcome | Pending:
        """What a complete candidate leads to."""
        if exceeds_utf8(candidate_text, self.definition.limits.max_output_bytes):
            return self.oversized()
        candidate = read_candidate(candidate_text, self.definition.limits)
        if isinstance(candidate, LimitExcess):
            return self.failure("LIMIT_EXCEEDED", candidate.message)
        if isinstance(candidate, Finding):
            findings = Findings()
            findings.extend([candidate])
            return self.reject(candidate_text, findings)
        if self.core is None:
            return self._judge_core(candidate_text, candidate)
        return self._judge_data(candidate_text, candidate)

    def _judge_core(self, text: str, candidate: dict[str, Any]) -> Outcome:
        findings = check_core(candidate, self.definition.limits.max_intent_count)
        if isinstance(findings, LimitExcess):
            return self.failure("LIMIT_EXCEEDED", findings.message)
        if findings.count:
            return self.reject(text, findings)
        result = assemble(self.request.input, candidate)
        if not self.request.fields:
            return result
        core = CoreOutcome(result, result.to_json())
        attempts = self.definition.repair_attempts
        return _ready(Run(self.definition, self.request, "data", attempts, core))

    def _judge_data(self, text: str, candidate: dict[str, Any]) -> Outcome | Pending:
        material = Material(
            self.request.source_texts(), self.projection, self.definition.root_described
        )
        review = DataReview.of(candidate, material, self.definition.limits)
        if isinstance(review, LimitExcess):
            return self.failure("LIMIT_EXCEEDED", review.message)
        if not review.has_data:
            return self.reject(text, review.findings)
        return Pending(self, text, review)

    def reject(self, text: str, findings: Findings) -> Outcome:
        """A repair run, or the end when no attempt is left (contract section 8.4)."""
        if not self.attempts_left:
            return self.failure("MODEL_OUTPUT_INVALID", findings.message())
        repair = {"candidate": text, "diagnostic": findings.diagnostic()}
        return _ready(
            msgspec.structs.replace(
                self, attempts_left=self.attempts_left - 1, repair_json=prompts.encode(repair)
            )
        )


class Pending:
    """A data candidate whose native validation is due; `resume` with its report."""

    __slots__ = ("_review", "_run", "_text")

    def __init__(self, run: Run, text: str, review: DataReview) -> None:
        self._run = run
        self._text = text
        self._review = review

    @property
    def native(self) -> NativeSchema:
        """What to validate against."""
        return self._run.projection.native

    @property
    def data(self) -> dict[str, Any]:
        """What to validate."""
        return self._review.data

    @property
    def checked(self) -> dict[str, Location]:
        """The nodes with a description check: pointers into the data, and where they lead."""
        return self._review.checked

    @property
    def shape(self) -> Shape:
        """The counts that bound the work."""
        return self._review.shape

    def give_up(self, limit: str) -> Outcome:
        """The outcome without a report; `limit` is the one that validation ran into."""
        if self._review.findings.count:
            return self._run.reject(self._text, self._review.findings)
        return self._run.failure("LIMIT_EXCEEDED", f"Validating the data exceeded {limit}.")

    def resume(self, report: Report) -> Outcome:
        """The outcome (contract section 8.3, order of outcomes)."""
        run, review = self._run, self._review
        if report.exhausted:
            return self.give_up("maxValidationMs")
        review.add_missing_checks(report)
        if not review.findings.count and review.issues:
            return IntentFailure(
                code="DATA_EXTRACTION_FAILED",
                stage="data",
                message=f"The data has {len(review.issues)} issue(s); see issues.",
                issues=review.issues,
                partial_result=run.partial_result,
            )
        if not report.valid:
            review.add_mismatches(report)
        if review.findings.count:
            return run.reject(self._text, review.findings)
        assert run.core is not None
        return msgspec.structs.replace(
            run.core.result, data=review.data, evidence=review.verified_evidence()
        )


Outcome: TypeAlias = "Run | IntentResult | IntentFailure"


def _ready(run: Run) -> Run | IntentFailure:
    """The run, unless its task would exceed maxRequestBytes."""
    if run.fits():
        return run
    limit = run.definition.limits.max_request_bytes
    message = f"The {run.stage} task is larger than maxRequestBytes ({limit})."
    return run.failure("LIMIT_EXCEEDED", message)
