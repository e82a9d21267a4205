"""Places, people and things: proper names and quotations for string fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.claims import (
    CLEAR,
    WEAK,
    Claim,
    Reading,
    direction_fit,
    label_score,
    verbatim,
)
from intent_runtime.executors.rules.pieces import Piece
from intent_runtime.executors.rules.schema_view import Leaf, choices_of, kind_of
from intent_runtime.executors.rules.sorts import sort_of
from intent_runtime.executors.rules.text import name_parts, stem

_WANTS_COMMA = re.compile(
    r"city, |city and state|[A-Z][a-z]+, [A-Z]{2}\b|[A-Z][a-z]+, [A-Z][a-z]+", re.MULTILINE
)
_WANTS_SHORT = re.compile(r"abbreviat|\babbr\b|\bcodes?\b|\biso\b", re.IGNORECASE)
_WANTS_FORM = re.compile(
    r"in the format|formatted|format should|serialized|comma-separated", re.IGNORECASE
)
_SERIES = re.compile(r"(.+?)_?(?:\d|one|two|three|first|second|third)", re.IGNORECASE)
_INTRODUCTION = re.compile(r"(?:\bmy name is|\bi am|\bi'm|\bthis is|我叫|我是|名字是|名字叫)\s?$")
_LOOK_BACK: Final = 14
_SHORT_NAME: Final = 3
_SHORTEST_SERIES: Final = 2


def place_claims(leaf: Leaf, members: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    """Claims for a place; `members` are all places of the schema, which may divide a name."""
    pieces = [piece for piece in reading.of_kind("name") if not reading.around(piece).negated]
    narrow = not leaf.name_words.isdisjoint(vocabulary.words("narrow_place_words"))
    outer = _is_outer(leaf)
    divided = any(_is_outer(each) for each in members)
    for index, piece in enumerate(pieces):
        span = _place_span(leaf, piece, reading, outer=outer, whole=not narrow and not divided)
        if span is None:
            continue
        score = _place_score(leaf, piece, reading) + _nesting(pieces, index, reading, outer=outer)
        if len(pieces) == 1 and [each for each in members if each.required] == [leaf]:
            score += 1.0
        yield from verbatim(leaf, reading, span, score)


def name_claims(named: Sequence[Leaf], leaves: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    """Claims for fields that name something or hold quoted text."""
    needed = [leaf for leaf in leaves if leaf.required and _could_be_named(leaf)]
    for leaf in named:
        if _WANTS_FORM.search(leaf.described):
            continue
        free = sort_of(leaf) == "free"
        kinds = ("quoted",) if free else ("quoted", "name")
        pieces = [
            piece for piece in reading.pieces if piece.kind in kinds and _apt(leaf, piece, reading)
        ]
        for piece in pieces:
            score = _name_score(leaf, piece, reading)
            if len(pieces) == 1 and needed == [leaf]:
                score += _alone(piece, reading)
            yield from verbatim(leaf, reading, (piece.start, piece.end), score)
        if not free:
            yield from _labelled_codes(leaf, reading)
    yield from _in_order(named, needed, reading)


def left_over(
    named: Sequence[Leaf], unsettled: Sequence[Leaf], claimed: Sequence[Claim], reading: Reading
) -> Iterator[Claim]:
    """The one quotation or name nobody claimed, for the one field that still needs one."""
    needed = [leaf for leaf in unsettled if leaf.required and _could_be_named(leaf)]
    if len(needed) != 1 or needed[0] not in named or _WANTS_FORM.search(needed[0].described):
        return
    leaf = needed[0]
    spans = [span for claim in claimed if not claim.shared for span in claim.spans]
    kinds = ("quoted",) if sort_of(leaf) == "free" else ("quoted", "name")
    free = [
        piece
        for piece in reading.pieces
        if piece.kind in kinds
        and _apt(leaf, piece, reading)
        and not any(piece.overlaps(*span) for span in spans)
    ]
    if len(free) == 1 and _alone(free[0], reading) >= WEAK:
        yield from verbatim(leaf, reading, (free[0].start, free[0].end), WEAK)


# -- places ------------------------------------------------------------------------------------


def _is_outer(leaf: Leaf) -> bool:
    outer = vocabulary.words("outer_place_words")
    return not leaf.name_words.isdisjoint(outer) and not leaf.speaks_of("city")


def _place_span(
    leaf: Leaf, piece: Piece, reading: Reading, *, outer: bool, whole: bool
) -> tuple[int, int] | None:
    text = reading.material.text
    extended = piece.wide_end > piece.end
    if outer:
        start = text.rindex(",", piece.end, piece.wide_end) + 1 if extended else piece.start
        start += len(text[start : piece.wide_end]) - len(text[start : piece.wide_end].lstrip(" "))
        end = piece.wide_end if extended else piece.end
        short = end - start <= _SHORT_NAME and text[start:end].isupper()
        return (start, end) if short or not _WANTS_SHORT.search(leaf.described) else None
    if _WANTS_COMMA.search(leaf.described):
        return (piece.start, piece.wide_end) if extended else None
    return piece.start, piece.wide_end if whole else piece.end


def _place_score(leaf: Leaf, piece: Piece, reading: Reading) -> float:
    surroundings = reading.around(piece)
    score = label_score(leaf, surroundings) + direction_fit(leaf, surroundings)
    if surroundings.preposition in vocabulary.words("place_prepositions"):
        score += 2.5
    elif surroundings.preposition in ("of", "and"):
        score += 1.5
    inside = {stem(word) for word in reading.material.lower[piece.start : piece.end].split()}
    return score if leaf.specific_words.isdisjoint(inside) else score + CLEAR


def _nesting(pieces: Sequence[Piece], index: int, reading: Reading, *, outer: bool) -> float:
    """`London in the UK`: the second name is where the first one lies."""
    gap = reading.material.lower
    lies_in = (" in ", " in the ")
    before = index > 0 and gap[pieces[index - 1].end : pieces[index].start] in lies_in
    return (1.5 if outer else -1.5) if before else 0.0


# -- names -------------------------------------------------------------------------------------


def _could_be_named(leaf: Leaf) -> bool:
    """Whether a name or quotation of the text may be meant for this required field."""
    if leaf.kind == "array":
        return kind_of(leaf.item_schema) in ("string", "object", "") and not choices_of(
            leaf.item_schema
        )
    if leaf.kind != "string" or leaf.choices:
        return False
    return sort_of(leaf) in ("entity", "free", "place", "code", "file")


def _apt(leaf: Leaf, piece: Piece, reading: Reading) -> bool:
    """Not turned down, and not just the description's own words for the kind of thing."""
    if reading.around(piece).negated:
        return False
    if piece.kind != "name":
        return True
    words = {stem(word) for word in reading.material.lower[piece.start : piece.end].split()}
    return not words <= (leaf.description_words | leaf.name_words)


def _name_score(leaf: Leaf, piece: Piece, reading: Reading) -> float:
    surroundings = reading.around(piece)
    if piece.kind == "quoted":
        score = label_score(leaf, surroundings) + 0.5
    else:
        score = label_score(leaf, surroundings, after_weight=0.6)
        words = reading.material.lower[piece.start : piece.end].split()
        if not leaf.specific_words.isdisjoint(stem(word) for word in words):
            score += CLEAR + 1.0
        elif surroundings.preposition in ("in", "at", "near", "within"):
            score -= 1.0
    lead = reading.material.lower[max(0, piece.start - _LOOK_BACK) : piece.start]
    if _INTRODUCTION.search(lead) and _is_self(leaf):
        score += CLEAR
    return score


def _is_self(leaf: Leaf) -> bool:
    named = leaf.speaks_of("name", "passenger", "user")
    return named and not vocabulary.words("self_words").isdisjoint(
        leaf.name_words | leaf.description_words
    )


def _alone(piece: Piece, reading: Reading) -> float:
    """What it is worth to be the only candidate; a name after `in` or `at` is likely a place."""
    if piece.kind == "quoted":
        return WEAK
    located = reading.around(piece).preposition in vocabulary.words("place_prepositions") - {"for"}
    return 0.0 if located else WEAK


def _labelled_codes(leaf: Leaf, reading: Reading) -> Iterator[Claim]:
    """`Network1 fabric`, `the 2021 season`: codes and years under their own label."""
    for piece in reading.of_kind("code", "number"):
        year = piece.kind == "number" and piece.value.looks_like_year
        if piece.kind == "number" and not (year and leaf.speaks_of("year", "season")):
            continue
        score = label_score(leaf, reading.around(piece))
        if score >= CLEAR or year:
            yield from verbatim(leaf, reading, (piece.start, piece.end), max(score, WEAK))


def _in_order(named: Sequence[Leaf], needed: Sequence[Leaf], reading: Reading) -> Iterator[Claim]:
    """`team1`, `team2` take as many names in the order of mention."""
    series = [leaf for leaf in named if leaf.required and _SERIES.fullmatch(leaf.name)]
    if not _SHORTEST_SERIES <= len(series) == len(needed):
        return
    if len({tuple(name_parts(leaf.name)[:-1]) for leaf in series}) != 1:
        return
    for kind in ("quoted", "name"):
        pieces = [piece for piece in reading.pieces if piece.kind == kind]
        if len(pieces) == len(series):
            for leaf, piece in zip(series, pieces, strict=True):
                yield from verbatim(leaf, reading, (piece.start, piece.end), CLEAR)
            return
