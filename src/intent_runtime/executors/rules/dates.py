"""Dates and times as written. Nothing is completed: a date without its year stays partial."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from typing import Final, Literal

from intent_runtime.executors.rules import vocabulary


@dataclass(frozen=True, slots=True)
class Moment:
    """A written date and/or time. `day` and `clock` are None where the text leaves them open."""

    kind: Literal["date", "time"]
    start: int
    end: int
    day: date | None = None
    clock: tuple[int, int, int] | None = None
    offset: str = ""
    numeric: tuple[int, int, int] | None = None

    @property
    def readings(self) -> frozenset[date]:
        """The dates this may mean: two for `03/04/2024`, where the order is anyone's guess."""
        if self.day is not None:
            return frozenset({self.day})
        if self.numeric is None:
            return frozenset()
        first, second, year = self.numeric
        both = (_day(year, first, second), _day(year, second, first))
        return frozenset(each for each in both if each is not None)


_NOON: Final = 12
_HOURS: Final = 24
_MINUTES: Final = 60
_CLOCK = r"(?P<h>\d{1,2}):(?P<mi>\d{2})(?::(?P<s>\d{2})(?:\.\d+)?)?"
_OFFSET = r"(?P<off>\s?(?:Z|UTC|GMT)(?!\w)|[+-]\d{2}:\d{2})?"
_HALF = r"(?:\s?(?P<half>[ap]\.?m\b\.?))?"
_TIME = re.compile(rf"(?<![\w.:]){_CLOCK}{_HALF}{_OFFSET}(?![\w:])", re.IGNORECASE | re.ASCII)
_HOUR = re.compile(r"(?<![\w.:])(?P<h>\d{1,2})\s?(?P<half>[ap]\.?m\b\.?)", re.IGNORECASE | re.ASCII)
_ZH_TIME = re.compile(
    r"(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上)?(?P<h>\d{1,2})(?:点|时(?!间))"
    r"(?:(?P<mi>\d{1,2})分?|(?P<half>半))?",
    re.ASCII,
)
_YMD = re.compile(
    r"(?<![\w.-])(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})"
    rf"(?:(?:T|,?\s(?:at\s)?){_CLOCK}{_OFFSET})?(?![\w-])",
    re.ASCII,
)
_NUMERIC = re.compile(
    r"(?<![\w.-])(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?![\w-])", re.ASCII
)
_ZH_DATE = re.compile(r"(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]?", re.ASCII)
_ORDINAL: Final = r"(?:st|nd|rd|th)?"
_FORMAT_TOKEN = re.compile(r"yyyy|mm|dd|hh|ss")
_FORMAT = re.compile(
    r"(?<![a-z])(?:yyyy[-/.]mm[-/.]dd|dd[-/.]mm[-/.]yyyy|mm[-/.]dd[-/.]yyyy)"
    r"(?P<clock>(?:t|\s)hh:mm(?::ss)?)?(?P<zone>z)?",
    re.IGNORECASE,
)

_ISO_EXAMPLE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
_SPELLED_FORMS: Final = {
    "month-day-year": "mm-dd-yyyy",
    "day-month-year": "dd-mm-yyyy",
    "year-month-day": "yyyy-mm-dd",
}
_SPELLED_FORMAT = re.compile("|".join(_SPELLED_FORMS))


def moments(narrow: str, lower: str) -> Iterator[Moment]:
    """Every written date, then every written time, in the text.

    `narrow` has ASCII digits, `lower` is lower-case; both have the same offsets.
    """
    for match in _YMD.finditer(narrow):
        day = _day(int(match["y"]), int(match["m"]), int(match["d"]))
        clock = _clock(match) if match["h"] else None
        yield Moment("date", *match.span(), day, clock, (match["off"] or "").strip())
    for match in _NUMERIC.finditer(narrow):
        numeric = (int(match["a"]), int(match["b"]), int(match["y"]))
        yield _with_single_reading(Moment("date", *match.span(), numeric=numeric))
    if any(month in lower for month in _months()):
        yield from _dates_with_month_names(narrow)
    for match in _ZH_DATE.finditer(narrow):
        year = match["y"]
        day = _day(int(year), int(match["m"]), int(match["d"])) if year else None
        yield Moment("date", *match.span(), day)
    for pattern in (_TIME, _HOUR, _ZH_TIME):
        for match in pattern.finditer(narrow):
            yield Moment("time", *match.span(), clock=_clock(match), offset=_offset(match))


def described_format(description: str) -> str | None:
    """The written form a description asks for, such as `YYYY-MM-DD` or `dd/mm/yyyy HH:MM`."""
    found = _FORMAT.search(description)
    if found:
        return found.group().lower()
    if _ISO_EXAMPLE.search(description):
        return "yyyy-mm-ddthh:mm:ssz"
    spelled = _SPELLED_FORMAT.search(description.lower())
    return _SPELLED_FORMS[spelled.group()] if spelled else None


def render(moment: Moment, written: str) -> str | None:
    """The moment in a form from `described_format`, or None when the text leaves a part open."""
    if moment.day is None:
        return None
    date_part, clock_part = written[:10], written[10:]
    if clock_part and moment.clock is None:
        return None
    if clock_part.endswith("z") and moment.offset.upper() not in ("Z", "UTC", "GMT"):
        return None
    hour, minute, second = moment.clock or (0, 0, 0)
    parts = {
        "yyyy": f"{moment.day.year:04}",
        "mm": f"{moment.day.month:02}",
        "dd": f"{moment.day.day:02}",
    }
    clock = {"hh": f"{hour:02}", "mm": f"{minute:02}", "ss": f"{second:02}"}
    shown = _FORMAT_TOKEN.sub(lambda token: parts[token.group()], date_part)
    return shown + _FORMAT_TOKEN.sub(lambda token: clock[token.group()], clock_part).upper()


@cache
def _months() -> Mapping[str, int]:
    return vocabulary.numbers("months", "en")


@cache
def _spelled_patterns() -> tuple[re.Pattern[str], ...]:
    month = "|".join(sorted(_months(), key=len, reverse=True))
    return (
        re.compile(
            rf"(?<![\w.])(?P<d>\d{{1,2}}){_ORDINAL}\s(?:of\s)?(?P<m>{month})\b\.?"
            r"(?:,?\s(?P<y>\d{4})(?!\d))?",
            re.IGNORECASE,
        ),
        re.compile(
            rf"\b(?P<m>{month})\b\.?\s?(?P<d>\d{{1,2}}){_ORDINAL}(?![\w:])(?:,?\s?(?P<y>\d{{4}})(?!\d))?",
            re.IGNORECASE,
        ),
    )


def _dates_with_month_names(text: str) -> Iterator[Moment]:
    for pattern in _spelled_patterns():
        for match in pattern.finditer(text):
            year, month = match["y"], _months()[match["m"].lower()]
            day = _day(int(year), month, int(match["d"])) if year else None
            yield Moment("date", *match.span(), day)


def _with_single_reading(moment: Moment) -> Moment:
    readings = moment.readings
    day = next(iter(readings)) if len(readings) == 1 else None
    return Moment("date", moment.start, moment.end, day, numeric=moment.numeric)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _offset(match: re.Match[str]) -> str:
    return (match.groupdict().get("off") or "").strip()


def _clock(match: re.Match[str]) -> tuple[int, int, int] | None:
    groups = match.groupdict()
    hour, minute = int(groups["h"]), int(groups.get("mi") or 0)
    half = (groups.get("half") or "").lower()
    part = groups.get("part")
    if half == "半":
        minute = 30
    elif half:
        if not 1 <= hour <= _NOON:
            return None
        hour = hour % _NOON + (_NOON if half.startswith("p") else 0)
    if part in ("下午", "傍晚", "晚上") and hour < _NOON:
        hour += _NOON
    if "part" in groups and part is None and hour <= _NOON:
        return None
    second = int(groups.get("s") or 0)
    fits = hour < _HOURS and max(minute, second) < _MINUTES
    return (hour, minute, second) if fits else None


def joined(day: Moment, time: Moment) -> Moment:
    """A date and the time written directly after it."""
    return replace(day, end=time.end, clock=time.clock, offset=time.offset)


def wants_clock(description: str) -> bool:
    """Whether a description asks for `HH:MM` on a 24-hour clock."""
    return "hh:mm" in description.lower() or "24-hour" in description.lower()
