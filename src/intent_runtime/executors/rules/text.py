"""Small text functions shared by the rules. Every function is linear in its input."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""The code points that make a text blank (contract section 6)."""

HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
"""Character-class body for the Han characters the rules read."""

_SPACES = re.compile(f"[{WHITE_SPACE}]+")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]+")
_HAN = re.compile(f"[{HAN}]")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_SHORT: Final = 3
_COMPOUND = re.compile(r"([a-z]{3,20})(name|number|date|code|zone)")
_WIDE_FORMS = {0xFF10 + i: 0x30 + i for i in range(10)} | {0xFF0E: 0x2E, 0x2212: 0x2D, 0xFF05: 0x25}


def tidy(text: str) -> str:
    """Collapse every run of white space to one space and trim the ends.

    Control characters go too: they say nothing and take six bytes each in JSON. Text that is not
    blank stays so.
    """
    return _SPACES.sub(" ", _CONTROLS.sub("", text)).strip(" ") or text.strip(WHITE_SPACE)[0]


def has_han(text: str) -> bool:
    """Whether any Han character is in the text."""
    return _HAN.search(text) is not None


def lowered(text: str) -> str:
    """Lower-case without moving any position: offsets stay valid for the original."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def narrowed(text: str) -> str:
    """Full-width digits, point, minus and percent as ASCII; positions do not move."""
    return text.translate(_WIDE_FORMS)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Fold the most regular plurals so that `cities` meets `city`."""
    if len(word) <= _SHORT:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=4096)
def root(word: str) -> str:
    """Fold `details`, `detailed` and `detail` together."""
    for ending in ("ed", "ing", "s"):
        if len(word) > len(ending) + _SHORT and word.endswith(ending):
            return word[: -len(ending)]
    return word


def name_parts(name: str) -> list[str]:
    """`orderId`, `order_id` and `order-id` all give `["order", "id"]`, `username` two parts."""
    parts: list[str] = []
    for part in _NAME_PART.findall(name):
        compound = _COMPOUND.fullmatch(part.lower())
        parts.extend(compound.groups() if compound else (part.lower(),))
    return parts


def trimmed_span(text: str, start: int, end: int, edges: str = WHITE_SPACE) -> tuple[int, int]:
    """The span without the given characters at its edges; empty when nothing else is in it."""
    part = text[start:end]
    right = start + len(part.rstrip(edges))
    left = start + len(part) - len(part.lstrip(edges))
    return min(left, right), right


def clip(text: str, limit: int = 200) -> str:
    """A prefix of the trimmed text that is safe to show inside a message."""
    short = text.strip(WHITE_SPACE)
    if len(short) <= limit:
        return short
    return short[:limit].strip(WHITE_SPACE)
