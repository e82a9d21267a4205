"""Enumerated values and switches, found by the words the request uses for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.claims import CERTAIN, CLEAR, WEAK, Claim, Reading, Span
from intent_runtime.executors.rules.constraints import allows
from intent_runtime.executors.rules.material import MAX_MENTIONS, Material
from intent_runtime.executors.rules.schema_view import Leaf
from intent_runtime.executors.rules.text import has_han, lowered, name_parts

Mention: TypeAlias = "tuple[Any, Span, float]"
"""A choice, where the text mentions it, and how sure that is."""

MAX_CHOICES: Final = 400
_MAX_CHOICE_LENGTH: Final = 80
_MAX_LEGEND_DIGITS: Final = 8
_SPLIT = re.compile(r"[\W_]+")
_LEGEND = re.compile(
    r"['\"]?(?P<value>[\w.-]{1,24})['\"]?\s(?:represents|stands for|means|denotes|indicates|is for"
    r"|corresponds to|for|=)\s(?P<words>[A-Za-z][\w -]{1,40})"
)


def choice_claims(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    """Claims for a single-valued leaf with enum, const or a legend in its description."""
    for value, span, score in mentions(leaf, leaf.choices, reading):
        if allows(leaf.schema, value):
            yield Claim(leaf, reading.material, value, (span,), score, shared=True)


def mentions(
    leaf: Leaf, choices: tuple[Any, ...], reading: Reading, *, exemplary: bool = False
) -> list[Mention]:
    """Each choice the text mentions, with its place; a mention inside a longer one is dropped."""
    found: list[Mention] = []
    for choice in choices[:MAX_CHOICES]:
        if isinstance(choice, str):
            found.extend(
                (choice, span, score)
                for span, score in _said(choice, leaf, reading, exemplary=exemplary)
            )
    if (leaf.kind == "integer" or choices) and not exemplary:
        found.extend(_by_legend(leaf, choices, reading))
    return _outermost(found)


def switch_claims(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    """Booleans: `include X`, `without X`, `X: yes`, or the very words of the field's name."""
    switches = vocabulary.words("switch_names")
    parts = [part for part in name_parts(leaf.name) if part not in switches]
    if not parts:
        return
    for place in reading.material.phrase(parts, loosely=True):
        value, score, span = _switched(leaf, reading, place, len(parts))
        if value is not None:
            yield Claim(leaf, reading.material, value, (span,), score, shared=True)


def _said(
    choice: str, leaf: Leaf, reading: Reading, *, exemplary: bool
) -> Iterator[tuple[Span, float]]:
    spoken = lowered(choice)
    words = [word for word in _SPLIT.split(spoken) if word]
    if not words or len(choice) > _MAX_CHOICE_LENGTH:
        return
    places = list(_places(spoken, words, reading.material))
    if not places and not exemplary:
        yield from _by_synonym(words, reading)
    for span in places:
        score = _mention_score(choice, leaf, reading, span, exemplary=exemplary)
        if score >= WEAK:
            yield span, score


def _places(spoken: str, words: list[str], material: Material) -> Iterator[Span]:
    if not has_han(spoken):
        yield from material.phrase(words)
        return
    start = material.lower.find(spoken)
    for _ in range(MAX_MENTIONS):
        if start < 0:
            return
        yield start, start + len(spoken)
        start = material.lower.find(spoken, start + len(spoken))


def _by_synonym(words: list[str], reading: Reading) -> Iterator[tuple[Span, float]]:
    if len(words) != 1:
        return
    for other in vocabulary.groups("synonyms", "en").get(words[0], ()):
        for span in _places(other, other.split(), reading.material):
            if not _turned_down(reading, span):
                yield span, CLEAR


def _mention_score(
    choice: str, leaf: Leaf, reading: Reading, span: Span, *, exemplary: bool
) -> float:
    if _turned_down(reading, span):
        return 0.0
    labelled = _label_near(leaf, reading, span)
    text = reading.material.text[span[0] : span[1]]
    if len(choice) == 1 and text != choice:
        return 0.0
    common = len(choice) == 1 or text.lower() in vocabulary.words("ordinary_words")
    if common and text != choice.upper():
        told = not exemplary and (labelled or _is_command(reading, span))
        return CLEAR if told and len(choice) > 1 else 0.0
    if exemplary and not labelled and text.lower() == text and choice.lower() != choice:
        return 0.0
    return CERTAIN if labelled else CLEAR + 1.0


def _label_near(leaf: Leaf, reading: Reading, span: Span) -> bool:
    material = reading.material
    near = [*material.before(span[0], 4), *material.after(span[1], 3)]
    labels = {label for word in near for label in word.labels()}
    return not labels.isdisjoint(leaf.specific_words or leaf.name_words)


def _is_command(reading: Reading, span: Span) -> bool:
    """A verb that opens its sentence is an order, however common the word."""
    before = reading.material.before(span[0], 1)
    opens = not before or before[0].text in (".", "!", "?", "please", "to", "。")
    return opens and reading.material.lower[slice(*span)] in vocabulary.lookup("verbs", "en")


def _turned_down(reading: Reading, span: Span) -> bool:
    turned = vocabulary.words("instead_of")
    words = [word.text for word in reading.material.before(span[0], 3)]
    if any(word in turned for word in words[:2]) or " ".join(reversed(words[:2])) in turned:
        return True
    if words[:1] == ["from"] and _is_left_behind(reading, span):
        return True
    lead = reading.material.text[max(0, span[0] - 4) : span[0]]
    return any(lead.endswith(each) for each in turned if has_han(each))


def _is_left_behind(reading: Reading, span: Span) -> bool:
    """`switch from A to B`: A is what it was."""
    material = reading.material
    follows = any(word.text == "to" for word in material.after(span[1], 3))
    earlier = {word.text for word in material.before(span[0], 8)}
    return follows and not earlier.isdisjoint(vocabulary.words("change_verbs"))


def _by_legend(
    leaf: Leaf, choices: tuple[Any, ...], reading: Reading
) -> Iterator[tuple[Any, Span, float]]:
    """`1 represents cleaning` in a description gives `cleaning` in the request a value."""
    skipped = vocabulary.words("stop_words") | leaf.name_words
    for match in _LEGEND.finditer(leaf.described[:800]):
        value = _legend_value(leaf, match["value"], choices)
        words = [word for word in match["words"].lower().split() if word not in skipped]
        if value is None or not words:
            continue
        for span in reading.material.phrase(words[:1]):
            if not _turned_down(reading, span):
                yield value, span, CLEAR


def _legend_value(leaf: Leaf, written: str, choices: tuple[Any, ...]) -> Any:
    if leaf.kind == "integer":
        value: Any = (
            int(written) if written.isdigit() and len(written) <= _MAX_LEGEND_DIGITS else None
        )
    else:
        value = written if choices else None
    return value if not choices or value in choices else None


def _switched(
    leaf: Leaf, reading: Reading, span: Span, size: int
) -> tuple[bool | None, float, Span]:
    material = reading.material
    before = [word.text for word in material.before(span[0], 3)]
    after = [word.text for word in material.after(span[1], 3)]
    told = [word for word in after if word not in (":", "=", "is", "as", "to", "：")]
    if len(told) < len(after) and told and told[0] in vocabulary.words("yes_words"):
        return True, CERTAIN, span
    if len(told) < len(after) and told and told[0] in vocabulary.words("no_words"):
        return False, CERTAIN, (span[0], material.lower.index(told[0], span[1]) + len(told[0]))
    off = vocabulary.words("switch_off")
    for index, word in enumerate(before):
        start = material.before(span[0], 3)[index].start
        if word in off:
            return False, CLEAR, (start, span[1])
        if word in vocabulary.words("switch_on"):
            return True, CLEAR, (start, span[1])
    asks = bool(set(name_parts(leaf.name)) & vocabulary.words("switch_names"))
    if asks or size > 1:
        return True, WEAK + 0.5, span
    return None, 0.0, span


def _outermost(found: list[Mention]) -> list[Mention]:
    """Without the mentions that lie inside a longer one, as `new` in `like new`."""
    kept: list[Mention] = []
    reach, widest = -1, (-1, -1)
    for mention in sorted(found, key=lambda each: (each[1][0], -each[1][1])):
        span = mention[1]
        if span[1] > reach or span == widest:
            kept.append(mention)
            if span[1] > reach:
                reach, widest = span[1], span
    return kept
