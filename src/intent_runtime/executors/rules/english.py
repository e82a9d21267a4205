"""Reads one English sentence into steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.sentences import Sentence
from intent_runtime.executors.rules.steps import (
    MASK,
    Span,
    Step,
    Unclear,
    confirmations_in,
    patterns,
    phrases,
    trimmed,
    verbs,
)

MAX_PIECES: Final = 60
_LEAD_STEPS: Final = 8
_POLITE: Final = ("polite_lead_ins", "weak_lead_ins")
_SEPARATOR = re.compile(r"[,:;]|\b(?:and|but|then|plus)\b")
_WORD = re.compile(r"[\w'’-]+")
_AFTER_LEAD = re.compile(rf"[\s,:{MASK}]*+")
_IDENTIFIER = re.compile(r"\s*+#?(?:\d{4}|[a-z]{1,6}-?\d)", re.ASCII)
_QUESTION_HEAD = re.compile(
    r"(?:what|who|which|where|how)(?:'s|’s|s|\s+(?:is|are|was|were|will\s+be))\b\s*+"
    r"(?:(?:the|a|an)\s)?"
)
_SUM = re.compile(r"\d\s?[-+*/x×÷^]\s?\d")
_LIMIT = re.compile(
    r"\b(?:only|at most|at least|no more than|no less than|up to|a maximum of|limited to)\s"
    r"(?:the\s(?:first|top|last)\s)?\d[^,.;]*"
)
_WITHOUT = re.compile(r"\bwithout\s[^,.;]*")
_REASON = re.compile(r"\b(?:why|the reason|the cause|how come)\b")
_NAME_AFTER_GREETING = re.compile(r"(?:hi|hello|hey|dear)\s[\w.]{1,20}$")


def read_english(sentence: Sentence) -> list[Step]:
    """The steps of a sentence in order; a sentence that asks nothing is a statement."""
    text, view = sentence.text, sentence.view
    start, end = sentence.start, sentence.end
    if _is_smalltalk(view[start:end]) or _is_reported(text, _skip(view, start, end)):
        return [Step("statement", (start, end))]
    return _Reader(sentence).steps()


class _Reader:
    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._text = sentence.text
        self._view, self._confirmations = confirmations_in(sentence, "en")

    def steps(self) -> list[Step]:
        found = [self._step(piece) for piece in self._pieces()]
        return [step for step in found if step is not None]

    # -- clauses -------------------------------------------------------------------------------

    def _pieces(self) -> Iterator[Span]:
        """Cut at commas and conjunctions, but only where a new clause begins."""
        begin, end = self._sentence.start, self._sentence.end
        for count, match in enumerate(_SEPARATOR.finditer(self._view, begin, end)):
            if count >= MAX_PIECES:
                break
            if match.start() > begin and self._opens_clause(match, end):
                yield begin, match.start()
                begin = match.start() if match.group().isalpha() else match.end()
        yield begin, end

    def _opens_clause(self, separator: re.Match[str], end: int) -> bool:
        view = self._view
        strict = separator.group().isalpha() and separator.group() != "then"
        start = _AFTER_LEAD.match(view, separator.end(), end)
        begin = _skip(view, start.end() if start else separator.end(), end)
        if phrases("polite_lead_ins", "en").match(view, begin, end):
            return True
        if _wish(view, begin, end) or phrases("prohibition_markers", "en").match(view, begin, end):
            return True
        if not strict and _condition_at(view, begin, end):
            return True
        restricting = "requirement_verbs" if strict else "requirement_markers"
        if phrases(restricting, "en").match(view, begin, end):
            return True
        first = _WORD.match(view, begin, end)
        if first is None:
            return "□" in view[begin : begin + 1]
        if first.group() in vocabulary.words("question_words", "en"):
            return separator.group() != "," or self._sentence.is_question
        verb = verbs("en").match(view, begin, end)
        if verb is None:
            return False
        return not (strict or separator.group() == ",") or self._verb_is_sure(verb, end)

    def _verb_is_sure(self, verb: re.Match[str], end: int) -> bool:
        if verb.group() not in vocabulary.words("noun_verbs", "en"):
            return True
        following = _WORD.search(self._view, verb.end(), end)
        if following is None:
            return False
        word = following.group()
        return word in vocabulary.words("determiners", "en") or word[0].isdigit()

    # -- one clause ----------------------------------------------------------------------------

    def _step(self, piece: Span) -> Step | None:
        span = trimmed(self._text, *piece)
        confirmations = tuple(c for c in self._confirmations if piece[0] <= c[0] < piece[1])
        if span is None:
            return Step("confirmation", piece, confirmations=confirmations) if confirmations else None
        start, end = span
        begin = _skip(self._view, start, end)
        view = self._view
        if confirmations and view.startswith("before ", begin):
            begin += len("before ")
        only_demanded = begin >= end or not any(char.isalnum() for char in view[begin:end])
        if confirmations and (only_demanded or self._proceeds(begin, end)):
            return Step("confirmation", span, confirmations=confirmations)
        if only_demanded:
            return None
        asks_when = self._sentence.is_question and view.startswith("when", begin)
        if _condition_at(view, begin, end) and not asks_when:
            return self._conditional(begin, end, confirmations)
        if begin == self._sentence.start and view.startswith("to ", begin) and end < self._sentence.end:
            return Step("statement", span)
        if phrases("prohibition_markers", "en").match(view, _skip(view, begin, end, *_POLITE), end):
            return Step("prohibition", (_skip(view, begin, end, *_POLITE), end))
        step = self._action(begin, end, confirmations) or self._restricted(begin, end)
        if step is not None:
            return step
        if confirmations:
            return Step("confirmation", span, confirmations=confirmations)
        if phrases("requirement_markers", "en").match(view, begin, end):
            return Step("requirement", (begin, end))
        return Step("statement" if self._states(begin, end) else "fragment", (begin, end))

    def _proceeds(self, begin: int, end: int) -> bool:
        """`... then proceed`: no action of its own."""
        start = _skip(self._view, begin, end, *_POLITE)
        match = phrases("proceed_phrases", "en").match(self._view, start, end)
        return match is not None and trimmed(self._view, match.end(), end) is None

    def _restricted(self, begin: int, end: int) -> Step | None:
        """`only show five of them`: an action under a restriction."""
        if not self._view.startswith("only ", begin):
            return None
        step = self._action(begin + len("only "), end, ())
        return step and replace(step, requirements=((begin, end), *step.requirements))

    def _conditional(self, start: int, end: int, confirmations: tuple[Span, ...]) -> Step:
        """`otherwise cancel it` holds its action; `if it rains` waits for the next clause."""
        marker = phrases("condition_markers", "en").match(self._view, start, end)
        if marker is not None and marker.group() in ("otherwise", "else"):
            step = self._action(_skip(self._view, marker.end(), end, *_POLITE), end, confirmations)
            if step is not None:
                return _with_condition(step, (start, marker.end()))
        return Step("condition", (start, end))

    def _action(self, start: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        view = self._view
        begin = _skip(view, start, end, *_POLITE)
        asked = begin > start
        vague = phrases("vague_verbs", "en").match(view, begin, end)
        verb = verb_at(view, begin, end)
        if vague is not None and (verb is None or len(vague.group()) >= len(verb[1])):
            return self._vague(begin, vague.end(), end, confirmations)
        if verb is not None and not self._is_noun(verb[1], begin + len(verb[1]), end, asked):
            return self._acted(begin, begin + len(verb[1]), end, verb[0], confirmations)
        wish = _wish(view, begin, end) or _wish(view, start, end)
        if wish:
            return self._wished(begin if _wish(view, begin, end) else start, wish, end, confirmations)
        return self._asked(begin, end, confirmations)

    def _acted(
        self, begin: int, after: int, end: int, action: str, confirmations: tuple[Span, ...]
    ) -> Step:
        """An imperative: find its object and take off what restricts it."""
        view = self._view
        verb = view[begin:after]
        limit, conditions = self._inner_conditions(verb, action, after, end)
        prohibition = _WITHOUT.search(view, after, limit)
        prohibitions = (prohibition.span(),) if prohibition else ()
        bound = _LIMIT.search(view, after, limit)
        requirements = (bound.span(),) if bound else ()
        stop = min([limit, *(m.start() for m in (prohibition,) if m)])
        stop = min([stop, *(c[0] for c in confirmations if c[0] >= after)])
        target = trimmed(self._text, self._object_start(after, stop), stop)
        step = Step(
            "action",
            trimmed(self._text, begin, stop) or (begin, end),
            self._class(verb, action, target),
            verb,
            target,
            requirements,
            conditions,
            confirmations,
            prohibitions,
        )
        if target is None and verb not in vocabulary.words("intransitive", "en"):
            return _unclear(step, "object")
        return step

    def _vague(self, begin: int, after: int, end: int, confirmations: tuple[Span, ...]) -> Step:
        """`do a search` names its action after all; `handle it` does not."""
        view = self._view
        target = trimmed(self._text, self._object_start(after, end), end)
        if view[begin:after] == "do" and target is not None:
            nouns = vocabulary.lookup("action_nouns", "en")
            named = [nouns[w] for w in _WORD.findall(view, *target)[:3] if w in nouns]
            if named:
                return Step("action", (begin, end), named[0], "do", target)
        step = Step("action", (begin, end), None, view[begin:after], target)
        return _unclear(step, "action", confirmations)

    def _wished(self, begin: int, after: int, end: int, confirmations: tuple[Span, ...]) -> Step:
        """`I need a list of users`: the noun tells what kind of result is wanted."""
        target = trimmed(self._text, self._object_start(after, end), end)
        step = Step("action", (begin, end), None, "", target, confirmations=confirmations)
        if target is None:
            return _unclear(step, "action")
        if phrases("limit_openers", "en").match(self._view, _skip(self._view, after, end), end):
            return Step("requirement", (begin, end))
        interested = phrases("interest_lead_ins", "en").match(self._view, begin, end)
        nouns = vocabulary.lookup("action_nouns", "en")
        named = [nouns[word] for word in _WORD.findall(self._view, *target)[:8] if word in nouns]
        action = named[0] if named else ("query" if interested else None)
        if action is None:
            return _unclear(step, "action")
        return Step("action", (begin, end), action, "", target, confirmations=confirmations)

    def _asked(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        view = self._view
        howto = phrases("howto_lead_ins", "en").match(view, begin, end)
        first = _WORD.match(view, begin, end)
        if first is None:
            return None
        opens = first.group() in vocabulary.words("question_words", "en")
        opens = opens or (
            self._sentence.is_question
            and end >= self._sentence.end - 2
            and (first.group() in vocabulary.words("question_openers", "en") or self._is_english(begin, end))
        )
        if not (opens or howto):
            return None
        head = _QUESTION_HEAD.match(view, begin, end)
        target = trimmed(self._text, head.end(), end) if head else None
        span = trimmed(self._text, begin, end) or (begin, end)
        action = "analyze" if self._is_analysis(begin, end) else "query"
        return Step("action", span, action, "", target or span, confirmations=confirmations)

    # -- details -------------------------------------------------------------------------------

    def _object_start(self, after: int, end: int) -> int:
        """Past `me`, `for us`, `the`: to the object itself."""
        begin = after
        for _ in range(3):
            spaces = _AFTER_LEAD.match(self._view, begin, end)
            begin = spaces.end() if spaces else begin
            opener = phrases("object_openers", "en").match(self._view, begin, end)
            if opener is None or trimmed(self._text, opener.end(), end) is None:
                break
            begin = opener.end()
        return begin

    def _inner_conditions(
        self, verb: str, action: str, after: int, end: int
    ) -> tuple[int, tuple[Span, ...]]:
        """`cancel it if it has not shipped`: where the condition starts, and its span."""
        if verb in vocabulary.words("indirect_question_verbs", "en"):
            return end, ()
        for match in phrases("inner_condition_markers", "en").finditer(self._view, after, end):
            if self._view[match.start() - 1].isalnum() or _is_soft(self._view, match, end):
                continue
            open_marker = match.group() in ("when", "after", "until", "once", "whenever")
            if open_marker and (
                action in ("query", "analyze") or _is_dated(self._view, match.end(), end)
            ):
                continue
            span = trimmed(self._text, match.start(), end)
            return (match.start(), (span,)) if span else (end, ())
        return end, ()

    def _class(self, verb: str, action: str, target: Span | None) -> str:
        words = _WORD.findall(self._view, *target)[:5] if target else []
        head = {word.rstrip("s") for word in words} | set(words)
        if verb in vocabulary.words("sum_verbs", "en") and words[:1] and words[0][0].isdigit():
            return "analyze"
        if verb in vocabulary.words("create_verbs", "en"):
            if head & set(vocabulary.groups("action_nouns", "en")["execute"]):
                return "execute"
            return "other" if head & vocabulary.words("business_objects", "en") else action
        if verb == "check" and words[:1] and words[0] in ("if", "whether", "that", "for"):
            return "analyze"
        told = action == "query" and target is not None
        if told and (
            head & vocabulary.words("analysis_nouns", "en")
            or _REASON.match(self._view, *target)
        ):
            return "analyze"
        return action

    def _is_noun(self, verb: str, after: int, end: int, asked: bool) -> bool:
        """`Order 000123 is late`: a verb form that is a noun here."""
        if asked or verb not in vocabulary.words("noun_verbs", "en"):
            return False
        following = _WORD.findall(self._view, after, min(end, after + 80))[:5]
        if any(word in vocabulary.words("copulas", "en") for word in following):
            return True
        return _IDENTIFIER.match(self._view, after, end) is not None

    def _is_analysis(self, begin: int, end: int) -> bool:
        if phrases("analysis_questions", "en").match(self._view, begin, end):
            return True
        words = set(_WORD.findall(self._view, begin, min(end, begin + 120))[:9])
        if words & vocabulary.words("analysis_nouns", "en"):
            return True
        return _SUM.search(self._view, begin, end) is not None

    def _is_english(self, begin: int, end: int) -> bool:
        words = _WORD.findall(self._view, begin, min(end, begin + 300))
        usual = vocabulary.words("stop_words", "en") | vocabulary.words("ordinary_words", "en")
        return 3 * sum(word in usual for word in words) >= len(words)

    def _states(self, begin: int, end: int) -> bool:
        words = _WORD.findall(self._view, begin, min(end, begin + 400))[:24]
        if not any(word[0].isalpha() for word in words):
            return True
        opens = words[0] in vocabulary.words("subjects", "en")
        return opens or any(word in vocabulary.words("copulas", "en") for word in words)


def _skip(view: str, start: int, end: int, *sections: str) -> int:
    """Past what leads into a clause: `then`, `please`, `could you` ..."""
    pattern = phrases("sequence_words", "en", *sections)
    begin = start
    for _ in range(_LEAD_STEPS):
        spaces = _AFTER_LEAD.match(view, begin, end)
        begin = spaces.end() if spaces else begin
        lead = pattern.match(view, begin, end)
        if lead is None:
            return begin
        begin = lead.end()
    return begin


def _wish(view: str, begin: int, end: int) -> int:
    """The end of `I need` or `I'm interested in`, or 0."""
    for section in ("interest_lead_ins", "wish_lead_ins"):
        match = phrases(section, "en").match(view, begin, end)
        if match:
            return match.end()
    return 0


def verb_at(view: str, begin: int, end: int) -> tuple[str, str] | None:
    """The class and the form of the verb that stands here, base form or gerund."""
    match = verbs("en").match(view, begin, end)
    if match is not None:
        return vocabulary.lookup("verbs", "en")[match.group()], match.group()
    word = _WORD.match(view, begin, end)
    action = _gerunds().get(word.group()) if word else None
    return (action, word.group()) if word and action else None


@cache
def _gerunds() -> dict[str, str]:
    forms: dict[str, str] = {}
    for verb, action in vocabulary.lookup("verbs", "en").items():
        if " " in verb:
            continue
        forms.setdefault(verb + "ing", action)
        forms.setdefault(verb + verb[-1] + "ing", action)
        if verb.endswith("e"):
            forms.setdefault(verb[:-1] + "ing", action)
    return forms


def _condition_at(view: str, begin: int, end: int) -> bool:
    """`if it rains`, but not the `if any` and `if possible` that ask for nothing."""
    marker = phrases("condition_markers", "en").match(view, begin, end)
    return marker is not None and not _is_soft(view, marker, end)


def _is_soft(view: str, marker: re.Match[str], end: int) -> bool:
    start = _skip(view, marker.end(), end)
    return phrases("soft_ifs", "en").match(view, start, end) is not None


def _is_smalltalk(part: str) -> bool:
    pieces = [" ".join(_WORD.findall(piece)) for piece in part[:200].split(",")]
    known = vocabulary.words("smalltalk", "en")
    said = [piece for piece in pieces if piece]
    return bool(said) and all(
        piece in known or _NAME_AFTER_GREETING.fullmatch(piece) is not None for piece in said
    )


def _is_dated(view: str, start: int, end: int) -> bool:
    word = _WORD.search(view, start, end)
    return word is not None and (
        word.group()[0].isdigit() or word.group() in vocabulary.words("date_openers", "en")
    )


def _is_reported(text: str, start: int) -> bool:
    return patterns("reported_patterns", "en").match(text, start) is not None


def _with_condition(step: Step, condition: Span) -> Step:
    return replace(step, conditions=(condition, *step.conditions))


def _unclear(step: Step, unclear: Unclear, confirmations: tuple[Span, ...] = ()) -> Step:
    return replace(step, unclear=unclear, confirmations=step.confirmations or confirmations)
