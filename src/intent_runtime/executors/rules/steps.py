"""What one clause of a request says, as spans of the original text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, TypeAlias

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.sentences import Sentence
from intent_runtime.executors.rules.text import WHITE_SPACE, trimmed_span

Span: TypeAlias = "tuple[int, int]"
Role: TypeAlias = Literal[
    "action", "prohibition", "confirmation", "condition", "requirement", "statement", "fragment"
]
Unclear: TypeAlias = Literal["", "action", "object", "reference", "all"]

MASK: Final = "□"
MAX_CONFIRMATIONS: Final = 8
EDGES: Final = WHITE_SPACE + ",，、;；:：.。!！?？-–—■□()（）"


@dataclass(frozen=True, slots=True)
class Step:
    """`span` is the whole clause; an action also has what hangs on it."""

    role: Role
    span: Span
    action: str | None = None
    verb: str = ""
    target: Span | None = None
    requirements: tuple[Span, ...] = ()
    conditions: tuple[Span, ...] = ()
    confirmations: tuple[Span, ...] = ()
    prohibitions: tuple[Span, ...] = ()
    unclear: Unclear = ""


@cache
def phrases(section: str, language: str, *more: str) -> re.Pattern[str]:
    """A pattern for any phrase of the sections, the longest first; English ends at a word edge."""
    sections = (section, *more)
    found = {phrase for each in sections for phrase in vocabulary.words(each, language)}
    members = sorted(found, key=len, reverse=True)
    return _alternatives(tuple(members), language)


@cache
def verbs(language: str) -> re.Pattern[str]:
    """A pattern for any verb of the seven classes, the longest first."""
    members = sorted(vocabulary.lookup("verbs", language), key=len, reverse=True)
    return _alternatives(tuple(members), language)


@cache
def patterns(section: str, language: str) -> re.Pattern[str]:
    """A pattern for any of a section's regular expressions."""
    members = vocabulary.ordered(section, language)
    return re.compile("|".join(f"(?:{member})" for member in members), re.IGNORECASE)


def trimmed(text: str, start: int, end: int, edges: str = EDGES) -> Span | None:
    """The span without white space and marks at its edges, or None when nothing is left."""
    left, right = trimmed_span(text, start, end, edges)
    return (left, right) if right > left else None


def confirmations_in(sentence: Sentence, language: str) -> tuple[str, list[Span]]:
    """Demands to be asked first, and the view without them: no clause is cut inside one."""
    view = sentence.view
    cues = vocabulary.words("confirmation_cues", language)
    if all(view.find(cue, sentence.start, sentence.end) < 0 for cue in cues):
        return view, []
    found: list[Span] = []
    demand = patterns("confirmation_patterns", language)
    for match in demand.finditer(view, sentence.start, sentence.end):
        if len(found) >= MAX_CONFIRMATIONS or match.end() == match.start():
            break
        found.append(match.span())
        view = view[: match.start()] + MASK * (match.end() - match.start()) + view[match.end() :]
    return view, found


def _alternatives(members: tuple[str, ...], language: str) -> re.Pattern[str]:
    edge = r"(?![\w'’-])" if language == "en" else ""
    return re.compile(f"(?:{'|'.join(map(re.escape, members))}){edge}")
