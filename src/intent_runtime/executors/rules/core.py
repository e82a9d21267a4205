"""The core candidate (contract section 8.2): what the request asks to be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.chinese import read_chinese
from intent_runtime.executors.rules.english import read_english
from intent_runtime.executors.rules.sentences import sentences
from intent_runtime.executors.rules.steps import Span, Step
from intent_runtime.executors.rules.text import clip, has_han, tidy

MAX_INTENTS: Final = 50
MAX_SENTENCES: Final = 400
MAX_READ: Final = 65_536
MAX_WRITTEN: Final = 30_000
"""Characters of all targets, requirements and reasons together: far below the output limit."""

_READERS: Final = {"en": read_english, "zh": read_chinese}
_TARGET_LIMIT: Final = 600
_TEXT_LIMIT: Final = 400
_SHOWN_LIMIT: Final = 80
_SUBJECT_REACH: Final = 120
_SUBJECT_WORDS: Final = 7


def core_candidate(
    payload: Mapping[str, Any], languages: Sequence[str] = vocabulary.LANGUAGES
) -> dict[str, Any]:
    """The core candidate for the payload's `currentInput`.

    Sentences in none of `languages` are asked about as not understood.
    """
    text: str = payload["currentInput"]
    reading = _Reading(text, payload["structuredLanguage"])
    for count, sentence in enumerate(sentences(text)):
        if count >= MAX_SENTENCES or len(text) > MAX_READ:
            reading.stop()
            break
        language = "zh" if has_han(sentence.view[sentence.start : sentence.end]) else "en"
        if language in languages:
            reading.add(_READERS[language](sentence))
        else:
            reading.add([Step("fragment", (sentence.start, sentence.end))])
    return reading.candidate()


@dataclass
class _Intent:
    step: Step
    target: str | None
    requirements: list[str] = field(default_factory=list[str])
    conditions: list[str] = field(default_factory=list[str])
    confirmations: list[str] = field(default_factory=list[str])


class _Reading:
    """Gathers steps, sentence by sentence, into intents and what restricts them."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._intents: list[_Intent] = []
        self._requirements: list[str] = []
        self._prohibitions: list[str] = []
        self._fragments: list[Step] = []
        self._antecedent: str | None = None
        self._demanded: list[str] = []
        self._full = False

    def add(self, steps: Sequence[Step]) -> None:
        """Take in the steps of one more sentence."""
        first = len(self._intents)
        waiting: list[str] = []
        for index, step in enumerate(steps):
            if step.role == "action":
                self._add_intent(step, waiting)
            elif step.role == "condition":
                self._add_condition(step, steps[index + 1 :], first, waiting)
            elif step.role == "requirement":
                self._restrict(self._said(step.span), first)
            elif step.role == "confirmation":
                self._add_confirmation(step, steps[index + 1 :], first)
            elif step.role == "prohibition":
                _append(self._prohibitions, self._said(step.span))
            elif step.role == "fragment":
                self._fragments.append(step)
            else:
                self._remember_subject(step)

    def stop(self) -> None:
        """There is more than can be read: no part of it may then pass for the whole."""
        self._full = True

    def candidate(self) -> dict[str, Any]:
        """The finished candidate."""
        if not self._intents and self._fragments and not self._prohibitions:
            self._add_unreadable(self._fragments[0])
        elif self._demanded and not self._intents:
            self._requirements.extend(self._demanded)
        goals = self._intents
        intents = [self._written(intent) for intent in goals]
        requirements, prohibitions = self._requirements, self._prohibitions
        if self._overflows([*intents, *requirements, *prohibitions]):
            goals, requirements, prohibitions = [], [], []
            intents = [self._too_much()]
        single = len(goals) == 1 and not goals[0].step.unclear
        return {
            "normalizedInput": tidy(self._text),
            "primaryIntent": self._said(goals[0].step.span) if single else None,
            "requirements": requirements,
            "prohibitions": prohibitions,
            "intents": intents,
        }

    def _overflows(self, written: list[object]) -> bool:
        """Whether anything had to be left unread, or the reply would grow out of bounds."""
        return self._full or sum(len(str(each)) for each in written) > MAX_WRITTEN

    # -- gathering -----------------------------------------------------------------------------

    def _add_intent(self, step: Step, waiting: list[str]) -> None:
        if len(self._intents) >= MAX_INTENTS:
            self._full = True
            return
        step, target, requirements = self._resolved(step)
        intent = _Intent(step, target, requirements)
        intent.requirements.extend(self._said(span) for span in step.requirements)
        intent.conditions.extend([*waiting, *(self._said(span) for span in step.conditions)])
        intent.confirmations.extend(self._demanded)
        intent.confirmations.extend(self._said(span) for span in step.confirmations)
        self._demanded = []
        for span in step.prohibitions:
            _append(self._prohibitions, self._said(span))
        self._intents.append(intent)
        if target is not None and not step.unclear:
            self._antecedent = target

    def _resolved(self, step: Step) -> tuple[Step, str | None, list[str]]:
        """The object, after looking up what `it` refers to, and what the words leave besides."""
        if step.target is None:
            return self._elided(step)
        target = self._text[step.target[0] : step.target[1]][:_TARGET_LIMIT]
        if _directed(target) and self._antecedent is not None:
            return step, self._antecedent, [target]
        pronoun = _pronoun(target)
        if not pronoun:
            return step, target, []
        if step.unclear == "action":
            return step, self._antecedent, []
        if self._antecedent is None:
            return replace(step, unclear="reference"), None, []
        rest = target[len(pronoun) :].strip(" ,，")
        return step, self._antecedent, [rest] if rest else []

    def _elided(self, step: Step) -> tuple[Step, str | None, list[str]]:
        """`查询订单 5，然后取消`: Chinese leaves out the object that was just named."""
        known = self._antecedent
        if step.unclear != "object" or known is None or not has_han(step.verb):
            return step, None, []
        # `A的B` names two things, and either may be meant.
        return (step, None, []) if "的" in known else (replace(step, unclear=""), known, [])

    def _add_condition(
        self, step: Step, following: Sequence[Step], first: int, waiting: list[str]
    ) -> None:
        said = self._said(step.span)
        if any(each.role == "action" for each in following):
            waiting[:] = [said]
        elif len(self._intents) > first:
            self._intents[-1].conditions.append(said)
        else:
            _append(self._requirements, said)

    def _add_confirmation(self, step: Step, following: Sequence[Step], first: int) -> None:
        said = [self._said(span) for span in step.confirmations]
        if len(self._intents) > first:
            self._intents[-1].confirmations.extend(said)
        elif any(each.role == "action" for each in following) or not self._intents:
            self._demanded.extend(said)
        else:
            changing = [i for i in self._intents if i.step.action not in ("query", "analyze")]
            for intent in changing or self._intents:
                intent.confirmations.extend(said)

    def _restrict(self, said: str, first: int) -> None:
        """A limit in an action's sentence is that action's; a sentence of its own is for all."""
        if len(self._intents) > first:
            _append(self._intents[-1].requirements, said)
        else:
            _append(self._requirements, said)

    def _remember_subject(self, step: Step) -> None:
        """`Order 5 is late. Cancel it.`: the subject of a statement is what `it` may mean."""
        words = self._text[step.span[0] : step.span[1]][:_SUBJECT_REACH].split()
        copulas = vocabulary.words("copulas", "en")
        for index, word in enumerate(words[:_SUBJECT_WORDS]):
            if word.lower() in copulas:
                subject = " ".join(words[:index])
                known = subject.lower() in vocabulary.words("subjects", "en")
                if index and not known and subject in self._text:
                    self._antecedent = subject
                return

    def _add_unreadable(self, step: Step) -> None:
        self._intents.append(_Intent(replace(step, unclear="all"), None))

    # -- writing -------------------------------------------------------------------------------

    def _written(self, intent: _Intent) -> dict[str, Any]:
        reason, question = self._clarification(intent)
        confirmations = [self._say("confirmation", text=text) for text in intent.confirmations]
        conditions = [self._say("condition", text=text) for text in intent.conditions]
        requirements = [*intent.requirements, *intent.conditions]
        return {
            "action": intent.step.action if intent.step.unclear != "all" else None,
            "target": intent.target,
            "requirements": list(dict.fromkeys(requirements)),
            "blockers": {
                "clarificationReason": reason,
                "questions": [{"question": question, "options": []}] if question else [],
                "confirmationReason": "\n".join(dict.fromkeys(confirmations)) or None,
                "conditionReason": "\n".join(dict.fromkeys(conditions)) or None,
            },
        }

    def _too_much(self) -> dict[str, Any]:
        question = {"question": self._say("ask_shorter"), "options": []}
        return {
            "action": None,
            "target": None,
            "requirements": [],
            "blockers": {
                "clarificationReason": self._say("too_much"),
                "questions": [question],
                "confirmationReason": None,
                "conditionReason": None,
            },
        }

    def _clarification(self, intent: _Intent) -> tuple[str | None, str | None]:
        step = intent.step
        match step.unclear:
            case "":
                return None, None
            case "all":
                return self._say("not_understood"), self._say("ask_restate")
            case "action":
                what = intent.target
                asked = self._say("ask_action", what=clip(what, _SHOWN_LIMIT)) if what else ""
                return self._say("unclear_action"), asked or self._say("ask_any_action")
            case "object":
                verb = clip(step.verb, _SHOWN_LIMIT)
                return self._say("unclear_object", verb=verb), self._say("ask_object", verb=verb)
            case "reference":
                what = self._said(step.target or step.span)
                reason = self._say("unclear_object", verb=clip(step.verb or what, _SHOWN_LIMIT))
                return reason, self._say("ask_reference", what=clip(what, _SHOWN_LIMIT))

    def _said(self, span: Span) -> str:
        return clip(self._text[span[0] : span[1]], _TEXT_LIMIT)

    def _say(self, key: str, **parts: str) -> str:
        return vocabulary.message(self._language, key, **parts)


def _directed(target: str) -> bool:
    """`send to Bob`, `发给客户`: a receiver and no object."""
    words = vocabulary.words("direction_words")
    return target.split(" ", 1)[0].lower() in words or target[0] in words


def _pronoun(target: str) -> str:
    """The pronoun that is the object or, as in `it to Bob`, begins it."""
    if target.lower() in vocabulary.words("open_pronouns"):
        return target
    first = target.split(" ", 1)[0]
    return first if first.lower() in vocabulary.words("leading_pronouns") else ""


def _append(texts: list[str], said: str) -> None:
    if said and said not in texts:
        texts.append(said)
