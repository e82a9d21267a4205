"""The core candidate (contract section 8.2): its checks, and the result assembled from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from intent_runtime.candidate.findings import Finding, Findings, LimitExcess
from intent_runtime.candidate.shapes import (
    closed_object,
    keys,
    list_of_texts,
    nullable_text,
    required_text,
)
from intent_runtime.formats import ACTIONS, Status
from intent_runtime.jsontypes import Json, JsonObject
from intent_runtime.text import preview
from intent_runtime.values import Clarification, IntentItem, IntentResult

_ROOT_KEYS: Final = keys(
    "normalizedInput", "primaryIntent", "requirements", "prohibitions", "intents"
)
_INTENT_KEYS: Final = keys("action", "target", "requirements", "blockers")
_BLOCKER_KEYS: Final = keys(
    "clarificationReason",
    "questions",
    "confirmationReason",
    "conditionReason",
)
_QUESTION_KEYS: Final = keys("question", "options")
_ALLOWED_ACTIONS: Final = ", ".join(f'"{action}"' for action in ACTIONS) + " or null"


def check_core(candidate: JsonObject, max_intents: int) -> Findings | LimitExcess:
    """Every violation of section 8.2; more than `max_intents` intents exceed a limit."""
    findings = Findings()
    findings.extend(closed_object(candidate, "", _ROOT_KEYS))
    findings.extend(required_text(candidate, "", "normalizedInput"))
    findings.extend(nullable_text(candidate, "", "primaryIntent"))
    findings.extend(list_of_texts(candidate, "", "requirements"))
    findings.extend(list_of_texts(candidate, "", "prohibitions"))
    intents = candidate.get("intents", [])
    if not isinstance(intents, list):
        findings.add("/intents", "must be an array", found=preview(intents), allowed="[...]")
        return findings
    if len(intents) > max_intents:
        return LimitExcess(f"The candidate holds more intents than maxIntentCount ({max_intents}).")
    for index, intent in enumerate(intents):
        findings.extend(_check_intent(intent, f"/intents/{index}"))
    return findings


def _check_intent(intent: Json, path: str) -> Iterator[Finding]:
    yield from closed_object(intent, path, _INTENT_KEYS)
    if not isinstance(intent, dict):
        return
    action = intent.get("action")
    if action is not None and action not in ACTIONS:
        yield Finding(
            f"{path}/action",
            "must be one of the seven actions or null",
            found=preview(action),
            allowed=_ALLOWED_ACTIONS,
        )
    yield from nullable_text(intent, path, "target")
    yield from list_of_texts(intent, path, "requirements")
    if "blockers" in intent:
        yield from _check_blockers(intent["blockers"], f"{path}/blockers", acts=action is not None)


def _check_blockers(blockers: Json, path: str, *, acts: bool) -> Iterator[Finding]:
    yield from closed_object(blockers, path, _BLOCKER_KEYS)
    if not isinstance(blockers, dict):
        return
    for reason in ("clarificationReason", "confirmationReason", "conditionReason"):
        yield from nullable_text(blockers, path, reason)
    questions = blockers.get("questions")
    reason = blockers.get("clarificationReason")
    if isinstance(questions, list):
        for index, question in enumerate(questions):
            yield from _check_question(question, f"{path}/questions/{index}")
        if "clarificationReason" in blockers and (reason is None) != (not questions):
            yield Finding(
                path,
                "clarificationReason must be null exactly when questions is empty",
                found=f"reason {preview(reason)}, {len(questions)} question(s)",
                allowed="null with [], or a reason with at least one question",
            )
    elif "questions" in blockers:
        yield Finding(
            f"{path}/questions", "must be an array", found=preview(questions), allowed="[...]"
        )
    if not acts and reason is None:
        yield Finding(
            f"{path}/clarificationReason",
            "a null action needs a clarificationReason and at least one question",
            found="null",
            allowed="why the action is unknown",
        )


def _check_question(question: Json, path: str) -> Iterator[Finding]:
    yield from closed_object(question, path, _QUESTION_KEYS)
    if isinstance(question, dict):
        yield from required_text(question, path, "question")
        yield from list_of_texts(question, path, "options")


def assemble(source_input: str, candidate: JsonObject) -> IntentResult:
    """The result of a candidate without findings, with empty data (contract section 8.2)."""
    core = cast("dict[str, Any]", candidate)
    return IntentResult(
        input=source_input,
        normalized_input=core["normalizedInput"],
        primary_intent=core["primaryIntent"],
        requirements=tuple(core["requirements"]),
        intents=tuple(
            _item(f"i{number}", intent) for number, intent in enumerate(core["intents"], start=1)
        ),
        prohibitions=tuple(core["prohibitions"]),
    )


# Which blocker decides the status, strongest first.
_BLOCKER_STATUS: Final[tuple[tuple[str, Status], ...]] = (
    ("clarificationReason", "needs_clarification"),
    ("confirmationReason", "awaiting_confirmation"),
    ("conditionReason", "conditional"),
)


def _item(identifier: str, intent: dict[str, Any]) -> IntentItem:
    blockers = intent["blockers"]
    standing: list[tuple[str, Status]] = [
        (blockers[key], status) for key, status in _BLOCKER_STATUS if blockers[key] is not None
    ]
    return IntentItem(
        id=identifier,
        action=intent["action"],
        target=intent["target"],
        requirements=tuple(intent["requirements"]),
        status=standing[0][1] if standing else "ready",
        reason="\n".join(reason for reason, _ in standing) if standing else None,
        clarification=tuple(
            Clarification(question["question"], tuple(question["options"]))
            for question in blockers["questions"]
        ),
    )
