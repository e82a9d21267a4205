"""Reads one Chinese sentence into steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.english_words import verb_at as english_verb_at
from intent_runtime.executors.rules.sentences import Sentence
from intent_runtime.executors.rules.steps import (
    MASK,
    Span,
    Step,
    confirmations_in,
    patterns,
    phrases,
    trimmed,
    verbs,
)

MAX_PIECES: Final = 60
_LEAD_STEPS: Final = 8
_HEADING_LENGTH: Final = 3
_SEPARATOR = re.compile(r"[，,：:]|然后再|然后|接着|随后|最后|并且|同时|之后再|再|并|和|及")
_SPACES = re.compile(rf"[\s，,：:、{MASK}]*+")
_THEN = re.compile(r"[，,]?(?:就|则|那么|才|再|的话)|(?<!小)时(?![间候])")
_AFTERWARDS = re.compile(r"([^，,]{2,40}?)(?:之后|以后|(?<![最然随今])后)[，,]?(?:再|才|就)?")
_BEFORE_VERB = re.compile(r"(把|将|给|向|跟|对|为|从|用|在|与|和|通过|根据|按照|按|针对|关于)")
_DISPOSAL = re.compile(r"[把将]")
_DISPOSING: Final = ("把", "将", "对", "针对")
_PREPOSITION_REACH: Final = 120
_STATES = re.compile(r".{0,6}?(?:是|已|：|:)(?!否|不是)")
_WHEN = re.compile(r"时|后|完|再")
_OTHERWISE = re.compile(r"否则|不然")
_BEFOREHAND = re.compile(r".{1,8}?(?:之前|以前|前)")
_DONE = re.compile(r"已经|已|了$|被|没有|还没|尚未|过了|完了")
_TOPIC_VERB_END = re.compile(r"(?:一下|掉|吧|下)$")
_LIMIT = re.compile(
    r"(?:只要|仅限|最多|至多|不超过|至少|不少于|仅|只)[^，,。；]{0,8}?[\d一二两三四五六七八九十百]+[^，,。；]*"
)
_SUM = re.compile(r"\d\s?[-+*/x×÷^加减乘除]\s?\d")


def read_chinese(sentence: Sentence) -> list[Step]:
    """The steps of a sentence in order; a sentence that asks nothing is a statement."""
    view, start, end = sentence.view, sentence.start, sentence.end
    reported = patterns("reported_patterns", "zh").match(view, start, end)
    if reported or _is_smalltalk(view[start:end]):
        return [Step("statement", (start, end))]
    return _Reader(sentence).steps()


class _Reader:
    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._text = sentence.text
        self._view, self._confirmations = confirmations_in(sentence, "zh")

    def steps(self) -> list[Step]:
        return [step for piece in self._pieces() for step in self._read(piece)]

    def _pieces(self) -> Iterator[Span]:
        """Cut at every comma, and at `然后`, `再` ... where a verb follows."""
        view, end = self._view, self._sentence.end
        begin = self._sentence.start
        for count, match in enumerate(_SEPARATOR.finditer(view, begin, end)):
            if count >= MAX_PIECES:
                break
            if match.start() <= begin:
                continue
            if match.group() in "：:" and not self._is_heading(begin, match.start()):
                continue
            comma = match.group() in "，,：:"
            if comma or self._verb(_skip(view, match.end(), end), end) is not None:
                yield begin, match.start()
                begin = match.end() if comma else match.start()
        yield begin, end

    def _is_heading(self, begin: int, end: int) -> bool:
        """`任务：...` opens a request; what follows any later colon is a value or quoted."""
        return begin == self._sentence.start and end - begin <= _HEADING_LENGTH

    def _read(self, piece: Span) -> list[Step]:
        confirmations = tuple(c for c in self._confirmations if piece[0] <= c[0] < piece[1])
        span = trimmed(self._view, *piece)
        if span is None or not any(char.isalnum() for char in self._view[slice(*span)]):
            demand = Step("confirmation", piece, confirmations=confirmations)
            return [demand] if confirmations else []
        start, end = span
        begin = _skip(self._view, start, end)
        empty = phrases("lead_ins", "zh").fullmatch(self._view, begin, end)
        if confirmations and (empty or self._only_demands(start, begin, end)):
            return [Step("confirmation", span, confirmations=confirmations)]
        if empty:
            return []
        for at in (start, begin):
            if phrases("condition_markers", "zh").match(self._view, at, end):
                held = self._conditional(at, end, confirmations)
                if held is not None:
                    return held
        if phrases("prohibition_markers", "zh").match(self._view, begin, end):
            return [Step("prohibition", (begin, end))]
        return [self._clause(begin, end, confirmations)]

    def _only_demands(self, start: int, begin: int, end: int) -> bool:
        """`执行`, `取消之前`, `除非`: what is left beside a demand to be asked has no action."""
        view = self._view
        if _BEFOREHAND.fullmatch(view, begin, end):
            return True
        return any(
            phrases(section, "zh").fullmatch(view, at, end)
            for section, at in (("proceed_phrases", begin), ("condition_markers", start))
        )

    def _clause(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step:
        if phrases("requirement_markers", "zh").match(self._view, begin, end):
            step = self._instrumental(begin, end, confirmations)
            return step or Step("requirement", (begin, end))
        step = (
            self._acted(begin, end, confirmations)
            or self._after_something(begin, end, confirmations)
            or self._prepositional(begin, end, confirmations)
            or self._topic_first(begin, end, confirmations)
            or self._asked(begin, end)
            or self._vague(begin, end, confirmations)
        )
        if step is not None:
            return step
        if confirmations:
            return Step("confirmation", (begin, end), confirmations=confirmations)
        part = self._view[begin:end]
        states = any(word in part for word in (*vocabulary.words("copulas", "zh"), ":", "："))
        lettered = any(char.isalpha() for char in part)
        return Step("fragment" if lettered and not states else "statement", (begin, end))

    def _conditional(
        self, start: int, end: int, confirmations: tuple[Span, ...]
    ) -> list[Step] | None:
        """`如果已发货就取消` holds its action; `如果已发货` waits for the next clause."""
        view = self._view
        weak = view[start] in "当等待在"
        if weak and _WHEN.search(view, start, end) is None:
            return None
        otherwise = _OTHERWISE.match(view, start, end)
        if otherwise is not None:
            return [
                replace(step, conditions=(otherwise.span(), *step.conditions))
                for step in self._read((otherwise.end(), end))
            ]
        for match in _THEN.finditer(view, start + 1, end):
            begin = _skip(view, match.end(), end)
            if begin < end and self._verb(begin, end) is not None:
                step = self._clause(begin, end, confirmations)
                return [replace(step, conditions=((start, match.start()), *step.conditions))]
        after = self._after_something(start, end, confirmations)
        return [after] if after else [Step("condition", (start, end))]

    def _after_something(
        self, begin: int, end: int, confirmations: tuple[Span, ...]
    ) -> Step | None:
        """`审核通过后发送`: the action waits for what comes before `后`."""
        match = _AFTERWARDS.match(self._view, begin, end)
        if match is None:
            return None
        start = _skip(self._view, match.end(), end)
        if start >= end or self._verb(start, end) is None:
            return None
        step = self._clause(start, end, confirmations)
        return replace(step, conditions=((begin, match.end(1)), *step.conditions))

    # -- actions -------------------------------------------------------------------------------

    def _verb(self, begin: int, end: int) -> tuple[str, str] | None:
        if phrases("noun_starts", "zh").match(self._view, begin, end):
            return None
        match = verbs("zh").match(self._view, begin, end)
        if match is not None:
            return vocabulary.lookup("verbs", "zh")[match.group()], match.group()
        if begin < end and self._view[begin].isascii() and self._view[begin].isalpha():
            return english_verb_at(self._view, begin, end)
        return None

    def _acted(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        verb = self._verb(begin, end)
        vague = phrases("vague_verbs", "zh").match(self._view, begin, end)
        if verb is None or (vague is not None and len(vague.group()) > len(verb[1])):
            return None
        after = begin + len(verb[1])
        asking = vocabulary.words("question_words", "zh")
        asks = any(word in self._view[after:end] for word in asking)
        if not asks and _STATES.match(self._view, after, end):
            return None
        return self._step(verb, begin, after, end, confirmations)

    def _step(
        self,
        verb: tuple[str, str],
        begin: int,
        after: int,
        end: int,
        confirmations: tuple[Span, ...],
        target: Span | None = None,
    ) -> Step:
        limit = _LIMIT.search(self._view, after, end)
        stop = min([end, *(c[0] for c in confirmations if c[0] >= after)])
        cut = limit.start() if limit and limit.start() > after else stop
        target = target or self._object(after, min(cut, stop)) or self._object(after, stop)
        step = Step(
            "action",
            trimmed(self._text, begin, stop) or (begin, end),
            self._class(verb, target),
            verb[1],
            target,
            (limit.span(),) if limit else (),
            confirmations=confirmations,
        )
        if target is None and verb[1] not in vocabulary.words("intransitive", "zh"):
            return replace(step, unclear="object")
        return step

    def _object(self, after: int, end: int) -> Span | None:
        begin = after
        for _ in range(3):
            opener = phrases("object_openers", "zh").match(self._view, begin, end)
            if opener is None or trimmed(self._text, opener.end(), end) is None:
                break
            # `我的订单`: the word belongs to the object.
            if self._view.startswith("的", opener.end()):
                break
            begin = opener.end()
        span = trimmed(self._text, begin, end)
        if span is None or self._view[slice(*span)] in vocabulary.words("softeners", "zh"):
            return None
        return self._without_tail(span)

    def _without_tail(self, span: Span) -> Span:
        """`天气如何`, `是多少`, `一下`: what asks or softens is no part of the object."""
        part = self._view[slice(*span)]
        tails = sorted(vocabulary.words("question_tails", "zh"), key=len, reverse=True)
        for tail in tails:
            if part.endswith(tail) and len(part) > len(tail):
                return trimmed(self._text, span[0], span[1] - len(tail)) or span
        return span

    def _class(self, verb: tuple[str, str], target: Span | None) -> str:
        action, form = verb
        part = self._view[slice(*target)] if target else ""
        if form in vocabulary.words("create_verbs", "zh"):
            named = any(each in part for each in vocabulary.words("business_objects", "zh"))
            return "other" if named else "generate"
        if action == "query" and any(
            each in part for each in vocabulary.words("analysis_questions", "zh")
        ):
            return "analyze"
        return action

    def _prepositional(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        """`把订单 000123 取消`, `给张三发邮件`, `对合同进行分析`."""
        lead = _BEFORE_VERB.match(self._view, begin, end)
        if lead is None:
            return None
        reach = min(end, lead.end() + _PREPOSITION_REACH)
        inner = _DISPOSAL.search(self._view, lead.end(), reach)
        if inner is not None and lead.group() not in _DISPOSING:
            step = self._prepositional(inner.start(), end, confirmations)
            return step and replace(step, requirements=((begin, inner.start()), *step.requirements))
        for match in verbs("zh").finditer(self._view, lead.end() + 1, reach):
            verb = (vocabulary.lookup("verbs", "zh")[match.group()], match.group())
            complement = trimmed(self._text, lead.end(), match.start())
            if complement is not None and self._view[slice(*complement)].endswith("进行"):
                complement = trimmed(self._text, complement[0], complement[1] - len("进行"))
            if lead.group() in _DISPOSING and complement is not None:
                step = self._step(verb, match.start(), match.end(), end, confirmations, complement)
                rest = trimmed(self._text, match.end(), end)
                result = ((match.start(), rest[1]),) if rest and rest[1] - rest[0] > 1 else ()
                return replace(step, span=(begin, end), requirements=(*step.requirements, *result))
            step = self._step(verb, match.start(), match.end(), end, confirmations)
            with_whom = ((begin, match.start()), *step.requirements)
            return replace(step, span=(begin, end), requirements=with_whom)
        return None

    def _instrumental(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        """`用英文写一封邮件`: a requirement and, when a verb follows, its action."""
        for match in verbs("zh").finditer(self._view, begin + 1, min(end, begin + 60)):
            if not self._view.startswith(("用", "以", "按", "只"), begin):
                return None
            verb = (vocabulary.lookup("verbs", "zh")[match.group()], match.group())
            step = self._step(verb, match.start(), match.end(), end, confirmations)
            if step.unclear:
                return None
            how = ((begin, match.start()), *step.requirements)
            return replace(step, span=(begin, end), requirements=how)
        return None

    def _topic_first(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        """`订单 000123 取消一下`, `这份合同帮我分析一下`."""
        if _DONE.search(self._view, begin, end):
            return None
        asked = re.compile("帮我|请|麻烦").search(self._view, begin, end)
        ends = _TOPIC_VERB_END.search(self._view, begin, end)
        stop = ends.start() if ends else end
        if asked is None and ends is None:
            return None
        for match in verbs("zh").finditer(self._view, asked.end() if asked else begin + 1, stop):
            target = trimmed(self._text, begin, asked.start() if asked else match.start())
            if match.end() == stop and target is not None:
                verb = (vocabulary.lookup("verbs", "zh")[match.group()], match.group())
                step = self._step(verb, match.start(), match.end(), end, confirmations, target)
                return replace(step, span=(begin, end))
        return None

    def _vague(self, begin: int, end: int, confirmations: tuple[Span, ...]) -> Step | None:
        """`处理一下`, `这个订单处理一下`: something is to be done, but not said what."""
        vague = phrases("vague_verbs", "zh").match(self._view, begin, end)
        target = self._object(vague.end(), end) if vague else None
        if vague is None and not _DONE.search(self._view, begin, end):
            ends = _TOPIC_VERB_END.search(self._view, begin, end)
            lead = _BEFORE_VERB.match(self._view, begin, end)
            for match in phrases("vague_verbs", "zh").finditer(self._view, begin, end):
                if match.end() == (ends.start() if ends else end):
                    vague = match
                    target = trimmed(self._text, lead.end() if lead else begin, match.start())
        if vague is None:
            return None
        step = Step("action", (begin, end), None, vague.group(), target, unclear="action")
        return replace(step, confirmations=confirmations)

    def _asked(self, begin: int, end: int) -> Step | None:
        part = self._view[begin:end]
        asks = any(word in part for word in vocabulary.words("question_words", "zh"))
        last = end >= self._sentence.end - 1
        if not asks and not (self._sentence.is_question and last):
            return None
        while begin > self._sentence.start and self._view[begin - 1] in "你您我他她它":
            begin -= 1
        analysis = any(word in part for word in vocabulary.words("analysis_questions", "zh"))
        analysis = analysis or _SUM.search(self._view, begin, end) is not None
        target = self._without_tail((begin, end))
        return Step("action", (begin, end), "analyze" if analysis else "query", "", target)


def _skip(view: str, start: int, end: int) -> int:
    """Past what leads into a clause: `请`, `帮我`, `然后` ..."""
    begin = start
    for _ in range(_LEAD_STEPS):
        spaces = _SPACES.match(view, begin, end)
        begin = spaces.end() if spaces else begin
        lead = phrases("lead_ins", "zh").match(view, begin, end)
        if lead is None or lead.end() >= end:
            return begin
        begin = lead.end()
    return begin


def _is_smalltalk(part: str) -> bool:
    pieces = [piece.strip(" ！!。.~～") for piece in re.split("[，,、]", part[:200])]
    known = vocabulary.words("smalltalk", "zh")
    said = [piece for piece in pieces if piece]
    return bool(said) and all(piece in known for piece in said)
