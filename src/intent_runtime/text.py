"""Rules about text that hold everywhere: blankness, UTF-8 size, lone surrogates, short previews."""

from __future__ import annotations

import json
import re
from typing import Final

# The code points with the Unicode property White_Space, and U+FEFF (contract section 6). This is
# not str.isspace(), which also takes U+001C..U+001F.
_NOT_BLANK = re.compile("[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")


def is_blank(text: str) -> bool:
    """Whether `text` holds nothing but white space (contract section 6)."""
    return not text[:1].isalnum() and _NOT_BLANK.search(text) is None


def plain(text: str) -> str:
    """`text` as a str and nothing else: subclasses may behave in any way."""
    return text if type(text) is str else str.__str__(text)


def hidden_repr(self: object) -> str:
    """The `__repr__` of a value full of words of users and models: its type alone."""
    return f"<{type(self).__name__}>"


def utf8_length(text: str) -> int:
    """Length of `text` in UTF-8 bytes; a lone surrogate counts three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def exceeds_utf8(text: str, limit: int) -> bool:
    """Whether `text` takes more than `limit` UTF-8 bytes, encoding it only when it is close."""
    if len(text) > limit:
        return True
    # UTF-8 takes at most four bytes a code point.
    return 4 * len(text) > limit and utf8_length(text) > limit


def has_lone_surrogate(text: str) -> bool:
    """Whether `text` holds a code point that UTF-8 cannot encode."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def shorten(text: str, limit: int) -> str:
    """`text`, or its beginning with an ellipsis when it is longer than `limit` code points.

    Lone surrogates are replaced, so that the outcome can always be written.
    """
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return cut.encode("utf-8", "replace").decode() if has_lone_surrogate(cut) else cut


_MAX_PREVIEW: Final = 96


def preview(value: object) -> str:
    """A short look at a decoded JSON value: scalars as JSON, containers by kind."""
    if isinstance(value, str):
        return json.dumps(shorten(value, _MAX_PREVIEW), ensure_ascii=False)
    if isinstance(value, dict):
        return "an object" if value else "{}"
    if isinstance(value, list):
        return "an array" if value else "[]"
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return "a number"


def name_list(names: list[str] | tuple[str, ...], *, budget: int = 400) -> str:
    """Names in quotes for a message, as many as fit the budget of code points, then a count."""
    shown: list[str] = []
    used = 0
    for name in names:
        quoted = f'"{shorten(name, 64)}"'
        used += len(quoted) + 2
        if used > budget:
            break
        shown.append(quoted)
    rest = len(names) - len(shown)
    listed = ", ".join(shown) or "(none)"
    return f"{listed} and {rest} more" if rest and shown else listed
