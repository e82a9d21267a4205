"""Reads one English sentence into steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.english_words import (
    AFTER_LEAD,
    WORD,
    condition_at,
    is_dated,
    is_reported,
    is_smalltalk,
    is_soft,
    looks_english,
    skip,
    states_something,
    verb_at,
    wish_end,
)
from intent_runtime.executors.rules.sentences import Sentence
from intent_runtime.executors.rules.steps import (
    MASK,
    Span,
    Step,
    Unclear,
    confirmations_in,
    phrases,
    trimmed,
    verbs,
)

MAX_PIECES: Final = 60
_CLOSING_MARKS: Final = 2
_HEADING_WORDS: Final = 2
_TRAILING_REACH: Final = 12
_POLITE: Final = ("polite_lead_ins", "weak_lead_ins")
_SEPARATOR = re.compile(r"[,:;]|\b(?:and|but|then|plus)\b")
_IDENTIFIER = re.compile(r"\s*+#?(?:\d{4}|[a-z]{1,6}-?\d)", re.ASCII)
_BARE_NUMBER = re.compile(r"\s*+#?\d++\s*+(?:$|[,.;:!?]|and\b|or\b)", re.ASCII)
_QUESTION_HEAD = re.compile(
    r"(?:what|who|which|where|how)(?:'s|’s|s|\s+(?:is|are|was|were|will\s+be))\b\s*+"
    r"(?:(?:the|a|an)\s)?"
)
_OR = re.compile(r"\sor\s")
_SUM = re.compile(r"\d\s?[-+*/x×÷^]\s?\d")
_LIMIT = re.compile(
    r"\b(?:only|at most|at least|no more than|no less than|up to|a maximum of|limited to)\s"
    r"(?:the\s(?:first|top|last)\s)?\d[^,.;]*"
)
_TRAILING = re.compile(r"\b(?:and|but|then|so|also)[\s,]*$")
_WITHOUT = re.compile(r"\bwithout\s[^,.;]*")
_REASON = re.compile(r"\b(?:why|the reason|the cause|how come)\b")


def read_english(sentence: Sentence) -> list[Step]:
    """The steps of a sentence in order; a sentence that asks nothing is a statement."""
    text, view = sentence.text, sentence.view
    start, end = sentence.start, sentence.end
    if is_smalltalk(view[start:end]) or is_reported(text, skip(view, start, end)):
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
            if match.group() == ":" and not self._is_heading(begin, match.start()):
                continue
            if match.start() > begin and self._opens_clause(match, end):
                yield begin, match.start()
                begin = match.start() if match.group().isalpha() else match.end()
        yield begin, end

    def _is_heading(self, begin: int, end: int) -> bool:
        """`Task: ...` opens a request; what follows any later colon is a value or quoted."""
        opens = begin == self._sentence.start
        return opens and len(WORD.findall(self._view, begin, end)) <= _HEADING_WORDS

    def _opens_clause(self, separator: re.Match[str], end: int) -> bool:
        view = self._view
        strict = separator.group().isalpha() and separator.group() != "then"
        start = AFTER_LEAD.match(view, separator.end(), end)
        begin = skip(view, start.end() if start else separator.end(), end)
        if phrases("polite_lead_ins", "en").match(view, begin, end):
            return True
        if wish_end(view, begin, end) or phrases("prohibition_markers", "en").match(
            view, begin, end
        ):
            return True
        if not strict and condition_at(view, begin, end):
            return True
        restricting = "requirement_verbs" if strict else "requirement_markers"
        if phrases(restricting, "en").match(view, begin, end):
            return True
        first = WORD.match(view, begin, end)
        if first is None:
            return view.startswith(MASK, begin)
        if first.group() in vocabulary.words("question_words", "en"):
            return separator.group() != "," or self._sentence.is_question
        verb = verbs("en").match(view, skip(view, begin, end, "weak_lead_ins"), end)
        if verb is None:
            return False
        return not (strict or separator.group() == ",") or self._verb_is_sure(verb, end)

    def _verb_is_sure(self, verb: re.Match[str], end: int) -> bool:
        if verb.group() not in vocabulary.words("noun_verbs", "en"):
            return True
        following = WORD.search(self._view, verb.end(), end)
        if following is None:
            return False
        # `order 000123 and order 13` names a second one.
        if any(form.match(self._view, verb.end(), end) for form in (_IDENTIFIER, _BARE_NUMBER)):
            return False
        word = following.group()
        return word in vocabulary.words("determiners", "en") or word[0].isdigit()

    # -- one clause ----------------------------------------------------------------------------

    def _step(self, piece: Span) -> Step | None:
        """The step of a clause, or None when nothing but marks and `and` is left of it."""
        demanded = tuple(c for c in self._confirmations if piece[0] <= c[0] < piece[1])
        start, end = trimmed(self._text, *piece) or piece
        begin = skip(self._view, start, end)
        if demanded and self._view.startswith("before ", begin):
            begin += len("before ")
        empty = begin >= end or not any(char.isalnum() for char in self._view[begin:end])
        if demanded and (empty or self._proceeds(begin, end)):
            return Step("confirmation", (start, end), confirmations=demanded)
        return None if empty else self._clause(begin, end, demanded)

    def _clause(self, begin: int, end: int, demanded: tuple[Span, ...]) -> Step:
        view = self._view
        asks_when = self._sentence.is_question and view.startswith("when", begin)
        if condition_at(view, begin, end) and not asks_when:
            return self._conditional(begin, end, demanded)
        if self._is_purpose(begin, end):
            return Step("statement", (begin, end))
        polite = skip(view, begin, end, *_POLITE)
        for at in (begin, polite):
            if self._forbids(at, end):
                return Step("prohibition", (at, end))
        if phrases("requirement_openers", "en").match(view, polite, end):
            return Step("requirement", (polite, end))
        step = self._action(begin, end, demanded) or self._restricted(begin, end, demanded)
        if step is not None:
            return step
        if demanded:
            return Step("confirmation", (begin, end), confirmations=demanded)
        if phrases("requirement_markers", "en").match(view, begin, end):
            return Step("requirement", (begin, end))
        return Step("statement" if states_something(view, begin, end) else "fragment", (begin, end))

    def _forbids(self, begin: int, end: int) -> bool:
        """`don't delete it` and `you must not`, but not `don't forget to`."""
        marker = phrases("prohibition_markers", "en").match(self._view, begin, end)
        lead = phrases("polite_lead_ins", "en").match(self._view, begin, end)
        return marker is not None and (lead is None or lead.end() <= marker.end())

    def _is_purpose(self, begin: int, end: int) -> bool:
        """`To fix the build, ...`: what the rest of the sentence is for."""
        opens = begin == self._sentence.start and end < self._sentence.end
        return opens and self._view.startswith("to ", begin)

    def _proceeds(self, begin: int, end: int) -> bool:
        """`... then proceed`: no action of its own."""
        start = skip(self._view, begin, end, *_POLITE)
        match = phrases("proceed_phrases", "en").match(self._view, start, end)
        return match is not None and trimmed(self._view, match.end(), end) is None

    def _restricted(self, begin: int, end: int, demanded: tuple[Span, ...]) -> Step | None:
        """`only show five of them`: an action under a restriction."""
        if not self._view.startswith("only ", begin):
            return None
        step = self._action(begin + len("only "), end, demanded)
        return step and replace(step, requirements=((begin, end), *step.requirements))

    def _conditional(self, start: int, end: int, confirmations: tuple[Span, ...]) -> Step:
        """`otherwise cancel it` holds its action; `if it rains` waits for the next clause."""
        marker = phrases("condition_markers", "en").match(self._view, start, end)
        if marker is not None and marker.group() in ("otherwise", "else"):
            step = self._action(skip(self._view, marker.end(), end, *_POLITE), end, confirmations)
            if step is not None:
                return replace(step, conditions=((start, marker.end()), *step.conditions))
        return Step("condition", (start, end))

    def _action(self, start: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        view = self._view
        begin = skip(view, start, end, *_POLITE)
        asked = begin > start
        vague = phrases("vague_verbs", "en").match(view, begin, end)
        verb = verb_at(view, begin, end)
        if vague is not None and (verb is None or len(vague.group()) >= len(verb[1])):
            return self._vague(begin, vague.end(), end, confirmations)
        if verb is not None and not self._is_noun(verb[1], begin + len(verb[1]), end, asked=asked):
            return self._acted(begin, begin + len(verb[1]), end, verb[0], confirmations)
        for at in (begin, start):
            wish = wish_end(view, at, end)
            if wish:
                return self._wished(at, wish, end, confirmations)
        return self._asked(begin, end, confirmations)

    def _acted(
        self, begin: int, after: int, end: int, action: str, confirmations: tuple[Span, ...]
    ) -> Step:
        """An imperative: find its object and take off what restricts it."""
        view = self._view
        verb = view[begin:after]
        either = self._either(begin, after, end, action)
        if either is not None:
            return replace(either, confirmations=confirmations)
        limit, conditions = self._inner_conditions(verb, action, after, end)
        prohibition = _WITHOUT.search(view, after, limit)
        prohibitions = (prohibition.span(),) if prohibition else ()
        bound = _LIMIT.search(view, after, limit)
        requirements = (bound.span(),) if bound else ()
        hidden = [start for start, _ in confirmations if start >= after]
        stop = self._before_conjunction(
            after, min([limit, *hidden, *(start for start, _ in prohibitions)])
        )
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

    def _either(self, begin: int, after: int, end: int, action: str) -> Step | None:
        """`cancel or refund the order`: both are authorised, and none is chosen."""
        for alternative in _OR.finditer(self._view, after, end):
            other = verbs("en").match(self._view, alternative.end(), end)
            if other is None or not self._verb_is_sure(other, end):
                continue
            start = self._object_start(after, alternative.start())
            target = trimmed(self._text, start, alternative.start())
            if target is None:
                target = trimmed(self._text, self._object_start(other.end(), end), end)
            step = Step("action", (begin, end), action, self._view[begin:after], target)
            step = replace(step, requirements=((begin, end),))
            same = vocabulary.lookup("verbs", "en")[other.group()] == action
            return step if same else _unclear(replace(step, action=None), "action")
        return None

    def _vague(self, begin: int, after: int, end: int, confirmations: tuple[Span, ...]) -> Step:
        """`do a search` names its action after all; `handle it` does not."""
        view = self._view
        target = trimmed(self._text, self._object_start(after, end), end)
        if view[begin:after] == "do" and target is not None:
            nouns = vocabulary.lookup("action_nouns", "en")
            named = [nouns[w] for w in WORD.findall(view, *target)[:3] if w in nouns]
            if named:
                step = Step("action", (begin, end), named[0], "do", target)
                return replace(step, confirmations=confirmations)
        step = Step("action", (begin, end), None, view[begin:after], target)
        return _unclear(step, "action", confirmations)

    def _wished(self, begin: int, after: int, end: int, confirmations: tuple[Span, ...]) -> Step:
        """`I need a list of users`: the noun tells what kind of result is wanted."""
        target = trimmed(self._text, self._object_start(after, end), end)
        step = Step("action", (begin, end), None, "", target, confirmations=confirmations)
        if target is None:
            return _unclear(step, "action")
        if phrases("limit_openers", "en").match(self._view, skip(self._view, after, end), end):
            return Step("requirement", (begin, end))
        interested = phrases("interest_lead_ins", "en").match(self._view, begin, end)
        nouns = vocabulary.lookup("action_nouns", "en")
        named = [nouns[word] for word in WORD.findall(self._view, *target)[:8] if word in nouns]
        action = named[0] if named else ("query" if interested else None)
        if action is None:
            return _unclear(step, "action")
        return Step("action", (begin, end), action, "", target, confirmations=confirmations)

    def _asked(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        view = self._view
        howto = phrases("howto_lead_ins", "en").match(view, begin, end)
        first = WORD.match(view, begin, end)
        if first is None:
            return None
        opens = howto or first.group() in vocabulary.words("question_words", "en")
        if not (opens or self._ends_in_question(first.group(), begin, end)):
            return None
        head = _QUESTION_HEAD.match(view, begin, end)
        target = trimmed(self._text, head.end(), end) if head else None
        span = trimmed(self._text, begin, end) or (begin, end)
        action = "analyze" if self._is_analysis(begin, end) else "query"
        return Step("action", span, action, "", target or span, confirmations=confirmations)

    def _ends_in_question(self, first: str, begin: int, end: int) -> bool:
        """The question mark belongs to the last clause of its sentence."""
        if not self._sentence.is_question or end < self._sentence.end - _CLOSING_MARKS:
            return False
        opens = first in vocabulary.words("question_openers", "en")
        return opens or looks_english(self._view, begin, end)

    # -- details -------------------------------------------------------------------------------

    def _object_start(self, after: int, end: int) -> int:
        """Past `me`, `for us`, `the`: to the object itself."""
        begin = after
        for _ in range(3):
            spaces = AFTER_LEAD.match(self._view, begin, end)
            begin = spaces.end() if spaces else begin
            opener = phrases("object_openers", "en").match(self._view, begin, end)
            if opener is None or trimmed(self._text, opener.end(), end) is None:
                break
            begin = opener.end()
        return begin

    def _before_conjunction(self, after: int, end: int) -> int:
        """Where the words end when an `and` or `but` is left dangling after them."""
        start = max(after, end - _TRAILING_REACH)
        dangling = _TRAILING.search(self._view[start:end])
        return start + dangling.start() if dangling else end

    def _inner_conditions(
        self, verb: str, action: str, after: int, end: int
    ) -> tuple[int, tuple[Span, ...]]:
        """`cancel it if it has not shipped`: where the condition starts, and its span."""
        if verb in vocabulary.words("indirect_question_verbs", "en"):
            return end, ()
        for match in phrases("inner_condition_markers", "en").finditer(self._view, after, end):
            if self._view[match.start() - 1].isalnum() or is_soft(self._view, match, end):
                continue
            open_marker = match.group() in ("when", "after", "until", "once", "whenever")
            if open_marker and (
                action in ("query", "analyze") or is_dated(self._view, match.end(), end)
            ):
                continue
            span = trimmed(self._text, match.start(), end)
            return (match.start(), (span,)) if span else (end, ())
        return end, ()

    def _class(self, verb: str, action: str, target: Span | None) -> str:
        words = WORD.findall(self._view, *target)[:5] if target else []
        head = {word.rstrip("s") for word in words} | set(words)
        if verb in vocabulary.words("sum_verbs", "en") and words[:1] and words[0][0].isdigit():
            return "analyze"
        making = verb in vocabulary.words("create_verbs", "en")
        obtaining = verb in vocabulary.words("obtain_verbs", "en")
        performed = vocabulary.groups("action_nouns", "en")["execute"]
        if (making or obtaining) and not head.isdisjoint(performed):
            return "execute"
        if making:
            return "other" if head & vocabulary.words("business_objects", "en") else action
        if verb == "check" and words[:1] and words[0] in ("if", "whether", "that", "for"):
            return "analyze"
        if action == "query" and target is not None:
            reasons = head & vocabulary.words("analysis_nouns", "en")
            return "analyze" if reasons or _REASON.match(self._view, *target) else action
        return action

    def _is_noun(self, verb: str, after: int, end: int, *, asked: bool) -> bool:
        """`Order 000123 is late`: a verb form that is a noun here."""
        if asked or verb not in vocabulary.words("noun_verbs", "en"):
            return False
        following = WORD.findall(self._view, after, min(end, after + 80))[:5]
        if any(word in vocabulary.words("copulas", "en") for word in following):
            return True
        return _IDENTIFIER.match(self._view, after, end) is not None

    def _is_analysis(self, begin: int, end: int) -> bool:
        if phrases("analysis_questions", "en").match(self._view, begin, end):
            return True
        words = set(WORD.findall(self._view, begin, min(end, begin + 120))[:9])
        if words & vocabulary.words("analysis_nouns", "en"):
            return True
        return _SUM.search(self._view, begin, end) is not None


def _unclear(step: Step, unclear: Unclear, confirmations: tuple[Span, ...] = ()) -> Step:
    return replace(step, unclear=unclear, confirmations=step.confirmations or confirmations)
