"""The small signs English clauses are read by."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.steps import MASK, patterns, phrases, verbs

_LEAD_STEPS: Final = 8
_SAMPLE: Final = 300
WORD: Final = re.compile(r"[\w'’-]+")
AFTER_LEAD: Final = re.compile(rf"[\s,:{MASK}]*+")
_NAME_AFTER_GREETING = re.compile(r"(?:hi|hello|hey|dear)\s[\w.]{1,20}$")


def skip(view: str, start: int, end: int, *sections: str) -> int:
    """Past what leads into a clause: `then`, `please`, `could you` ..."""
    pattern = phrases("sequence_words", "en", *sections)
    begin = start
    for _ in range(_LEAD_STEPS):
        spaces = AFTER_LEAD.match(view, begin, end)
        begin = spaces.end() if spaces else begin
        lead = pattern.match(view, begin, end)
        if lead is None:
            return begin
        begin = lead.end()
    return begin


def wish_end(view: str, begin: int, end: int) -> int:
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
    word = WORD.match(view, begin, end)
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


def condition_at(view: str, begin: int, end: int) -> bool:
    """`if it rains`, but not the `if any` and `if possible` that ask for nothing."""
    marker = phrases("condition_markers", "en").match(view, begin, end)
    return marker is not None and not is_soft(view, marker, end)


def is_soft(view: str, marker: re.Match[str], end: int) -> bool:
    """Whether a condition marker opens an `if any` or `if possible`."""
    start = skip(view, marker.end(), end)
    return phrases("soft_ifs", "en").match(view, start, end) is not None


def is_smalltalk(part: str) -> bool:
    """Whether a sentence only greets, thanks or agrees."""
    pieces = [" ".join(WORD.findall(piece)) for piece in part[:200].split(",")]
    known = vocabulary.words("smalltalk", "en")
    said = [piece for piece in pieces if piece]
    return bool(said) and all(
        piece in known or _NAME_AFTER_GREETING.fullmatch(piece) is not None for piece in said
    )


def is_dated(view: str, start: int, end: int) -> bool:
    """Whether a date or number stands here, so that `after` speaks of time."""
    word = WORD.search(view, start, end)
    return word is not None and (
        word.group()[0].isdigit() or word.group() in vocabulary.words("date_openers", "en")
    )


def is_reported(text: str, start: int) -> bool:
    """Whether a sentence tells what somebody said or what was done already."""
    return patterns("reported_patterns", "en").match(text, start) is not None


def looks_english(view: str, begin: int, end: int) -> bool:
    """Whether a third of the words are among the most usual English ones."""
    words = WORD.findall(view, begin, min(end, begin + _SAMPLE))
    usual = vocabulary.words("stop_words", "en") | vocabulary.words("ordinary_words", "en")
    return 3 * sum(word in usual for word in words) >= len(words)


def states_something(view: str, begin: int, end: int) -> bool:
    """Whether a clause without an action tells a fact: a subject, a copula, `label: value`."""
    words = WORD.findall(view, begin, min(end, begin + _SAMPLE))
    if ":" in view[begin:end] or not any(word[0].isalpha() for word in words):
        return True
    opens = words[0] in vocabulary.words("subjects", "en")
    return opens or any(word in vocabulary.words("copulas", "en") for word in words)
