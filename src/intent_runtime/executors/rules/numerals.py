"""Numbers as people write them: digits, thousands, signs, units, number words of two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from intent_runtime.executors.rules import vocabulary
from intent_runtime.executors.rules.text import has_han, stem

MAX_SAFE: Final = 2**53 - 1

_DIGITS = re.compile(
    r"(?P<sign>(?<![\w)\].])[-+])?(?P<money>[$€£¥]\s?)?"
    r"(?<![\w.])(?<!\d[-/:])(?P<number>\d{1,3}(?:,\d{3})++(?:\.\d+)?(?![\d,])|\d{1,15}(?:\.\d{1,12})?(?!\d))"
    r"(?![.:/-]?\d)"
    r"(?:\s?(?P<percent>%)|\s?(?P<scale>thousand|million|billion|trillion|[万亿千百])(?![a-z])"
    r"|(?P<short>[km])(?![\w/^²³]))?"
    r"(?P<attached>[a-zμµ°]{1,8}(?![\w]))?",
    re.IGNORECASE | re.ASCII,
)
_FACTOR = re.compile(r"\s?(?:pi\b|π|\^|!)")
_YEARS: Final = range(1000, 2101)
_HUNDRED: Final = 100
_THOUSAND: Final = 1000
_TENS: Final = 20
_TEN: Final = 10
_MYRIAD: Final = 10_000
_MEASURE = re.compile(r"\d+(?:\.\d+)?([A-Za-z]{1,8})", re.ASCII)
_UNIT_AFTER = re.compile(r"\s*-?([a-zμµ°]++|[\u4e00-\u9fff]{1,2})", re.IGNORECASE)
_HAN_DIGITS = "一二两三四五六七八九十百千万亿零"
_ZH_NUMERAL = re.compile(rf"(?<![第{_HAN_DIGITS}])([{_HAN_DIGITS}]{{1,9}})")


@dataclass(frozen=True, slots=True)
class Numeral:
    """One number with what is written at it; `spelled` is for number words."""

    value: int | float
    start: int
    end: int
    unit: str
    percent: bool
    money: bool
    spelled: bool

    @property
    def looks_like_year(self) -> bool:
        """Four bare digits of a plausible year."""
        whole = isinstance(self.value, int) and self.value in _YEARS
        return whole and not (self.unit or self.percent or self.money or self.spelled)


def numerals(narrow: str, lower: str) -> Iterator[Numeral]:
    """Every number of the text. `narrow` has ASCII digits, `lower` is lower-case; same offsets."""
    if any(digit in narrow for digit in "0123456789"):
        yield from _written_in_digits(narrow)
    yield from _written_in_english(lower)
    yield from _written_in_chinese(lower)


def is_measure(token: str) -> bool:
    """`70kg` and `5k` are quantities and no identifiers."""
    match = _MEASURE.fullmatch(token)
    if match is None:
        return False
    letters = match.group(1).lower()
    return unit_of(letters) is not None or letters in vocabulary.numbers("scales", "en")


@cache
def _units() -> Mapping[str, str]:
    return vocabulary.lookup("units")


def unit_of(word: str) -> str | None:
    """The canonical unit a word stands for."""
    return _units().get(word) or _units().get(word.lower()) or _units().get(stem(word.lower()))


def units_in(words: frozenset[str]) -> frozenset[str]:
    """The canonical units among some words."""
    return frozenset(unit for word in words if (unit := unit_of(word)) is not None)


def _written_in_digits(narrow: str) -> Iterator[Numeral]:
    for match in _DIGITS.finditer(narrow):
        if _FACTOR.match(narrow, match.end()):
            continue
        attached = match["attached"]
        unit = unit_of(attached) if attached else None
        if attached and unit is None:
            continue
        scale = match["scale"] or match["short"]
        if match["short"] in ("m", "M") and not match["money"]:
            scale, attached = None, "m"
            unit = unit_of(attached)
        value = _scaled(match["number"].replace(",", ""), scale.lower() if scale else "")
        if match["sign"] == "-":
            value = -value
        if abs(value) > MAX_SAFE:
            continue
        yield Numeral(
            value,
            match.start(),
            match.end(),
            unit or _unit_after(narrow, match.end()),
            percent=match["percent"] is not None,
            money=match["money"] is not None,
            spelled=False,
        )


def _scaled(digits: str, scale: str) -> int | float:
    factor = vocabulary.numbers("scales", "en").get(scale, 1)
    if "." not in digits:
        return int(digits) * factor
    value = float(digits) * factor
    rounded = round(value, 6)
    return int(rounded) if factor > 1 and rounded == int(rounded) else value


def _unit_after(text: str, position: int) -> str:
    match = _UNIT_AFTER.match(text, position, position + 24)
    if match is None:
        return ""
    word = match.group(1)
    return unit_of(word) or unit_of(word[:1] if has_han(word) else word) or ""


@cache
def _english_pattern() -> re.Pattern[str]:
    spelled = "|".join(sorted(vocabulary.numbers("number_words", "en"), key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{spelled})(?:(?:[ -]|\sand\s)(?:{spelled}))*+(?![\w-])")


def _written_in_english(lower: str) -> Iterator[Numeral]:
    for match in _english_pattern().finditer(lower):
        value = _read_english(re.split(r"[\s-]+", match.group()))
        if value is not None:
            unit = _unit_after(lower, match.end())
            yield Numeral(value, *match.span(), unit, percent=False, money=False, spelled=True)


def _read_english(parts: list[str]) -> int | None:
    """`two hundred and five` is 205; sequences that do not grow this way are no one number."""
    values = vocabulary.numbers("number_words", "en")
    total, current, last = 0, 0, 0
    for part in parts:
        if part == "and":
            continue
        value = values[part]
        if value >= _THOUSAND:
            total, current = total + max(current, 1) * value, 0
        elif value == _HUNDRED:
            current = max(current, 1) * _HUNDRED
        elif current == 0 or (_TENS <= last > value and (last == _HUNDRED or value < _TEN)):
            current += value
        else:
            return None
        last = value
    return total + current


def _written_in_chinese(lower: str) -> Iterator[Numeral]:
    measures = vocabulary.words("measure_words", "zh")
    for match in _ZH_NUMERAL.finditer(lower):
        following = lower[match.end() : match.end() + 2]
        if not (following in measures or following[:1] in measures):
            continue
        value = _read_chinese(match.group())
        if value is not None:
            unit = unit_of(following) or unit_of(following[:1]) or ""
            yield Numeral(value, *match.span(), unit, percent=False, money=False, spelled=True)


def _read_chinese(text: str) -> int | None:
    digits = vocabulary.numbers("digits", "zh")
    scales = vocabulary.numbers("scales", "zh")
    total, section, digit = 0, 0, None
    for char in text:
        if char in digits:
            if digit is not None and digit != 0:
                return None
            digit = digits[char]
        elif scales[char] >= _MYRIAD:
            total = (total + section + (digit or 0)) * scales[char]
            section, digit = 0, None
        else:
            section += (1 if digit is None else digit) * scales[char]
            digit = None
    return total + section + (digit or 0)
