r"""ECMA-262 patterns with the Unicode flag, rewritten so that the native engine agrees.

The engine has two back ends, and the one for look-around and back-references reads `\s`, `\w`,
`\b`, `.` and identity escapes in its own way. So every pattern is parsed here and written again
in the common subset of both grammars: explicit code point classes, numbered groups, look-around.
What the subset cannot say is refused, never changed in meaning.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, NoReturn

from intent_runtime.schema.unicode_properties import is_property

MAX_GROUP_NESTING: Final = 100

_SYNTAX_CHARACTERS: Final = frozenset("^$\\.*+?()[]{}|/")
_LAST: Final = 0x10FFFF
_HIGH_SURROGATES: Final = range(0xD800, 0xDC00)
_SURROGATES: Final = range(0xD800, 0xE000)
_DIGIT: Final = ((0x30, 0x39),)
_WORD: Final = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Final = (
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
_LINE_ENDS: Final = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
_CLASSES: Final = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_CLASS_ESCAPES: Final = frozenset("dDwWsS")
_CONTROLS: Final = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D, "0": 0x00}

_HEX2 = re.compile("[0-9a-fA-F]{2}")
_HEX4 = re.compile("[0-9a-fA-F]{4}")
_LOW_SURROGATE = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_BRACED = re.compile(r"\{0*([0-9a-fA-F]{1,6})\}")
_PROPERTY = re.compile(r"\{(?:([A-Za-z_]+)=)?([A-Za-z0-9_]+)\}")
_NAME = re.compile(r"<([A-Za-z_$][A-Za-z0-9_$]*)>")
_REFERENCE = re.compile("[1-9][0-9]{0,3}")
_BRACES = re.compile(r"\{([0-9]{1,9})(,([0-9]{1,9})?)?\}")

_IN_WORD = "[0-9A-Z_a-z]"
_BOUNDARY = f"(?:(?<={_IN_WORD})(?!{_IN_WORD})|(?<!{_IN_WORD})(?={_IN_WORD}))"
_NO_BOUNDARY = f"(?:(?<={_IN_WORD})(?={_IN_WORD})|(?<!{_IN_WORD})(?!{_IN_WORD}))"


class PatternError(ValueError):
    """Why a pattern is refused."""


class Pattern(NamedTuple):
    """A rewritten pattern; `linear` when the engine without backtracking can run it."""

    text: str
    linear: bool


def rewrite(pattern: str) -> Pattern:
    """`pattern` in the common subset; raises `PatternError` for what is refused."""
    parser = _Parser(pattern)
    text = parser.disjunction(depth=0)
    if parser.rest:
        parser.fail('")" without "("')
    return Pattern(text, linear=parser.linear)


def _ranges(spans: tuple[tuple[int, int], ...]) -> str:
    return "".join(_span(first, last) for first, last in spans)


def _span(first: int, last: int) -> str:
    return _point(first) if first == last else f"{_point(first)}-{_point(last)}"


def _point(code: int) -> str:
    character = chr(code)
    if character.isascii() and character.isalnum():
        return character
    return f"\\u{{{code:x}}}"


def _complement(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    gaps: list[tuple[int, int]] = []
    start = 0
    for first, last in spans:
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    gaps.append((start, _LAST))
    return tuple(gaps)


class _Parser:
    """Recursive descent over one pattern, writing the subset as it goes.

    A back-reference is only let through when its group is sure to have taken part: the engine
    fails on a group without a match where ECMA-262 matches the empty string. `_sure` holds those
    groups; they leave it with their alternative, an optional quantifier or a look-around.
    """

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._groups = 0
        self._sure: set[int] = set()
        self._names: dict[str, int] = {}
        self._lookbehinds = 0
        self.linear = True

    @property
    def rest(self) -> str:
        """The next character, or "" at the end."""
        return self._text[self._at : self._at + 1]

    def fail(self, reason: str) -> NoReturn:
        """Refuse the pattern at this place."""
        raise PatternError(f"{reason} at character {self._at + 1}")

    def disjunction(self, depth: int) -> str:
        """Alternatives up to the end of the group or the pattern."""
        if depth > MAX_GROUP_NESTING:
            self.fail(f"groups nested deeper than {MAX_GROUP_NESTING}")
        first = self._groups + 1
        branches = [self._alternative(depth)]
        while self._take("|"):
            self._forget(first)
            branches.append(self._alternative(depth))
        if len(branches) > 1:
            self._forget(first)
        return "|".join(branches)

    def _alternative(self, depth: int) -> str:
        parts: list[str] = []
        while self.rest and self.rest not in "|)":
            parts.append(self._term(depth))
        return "".join(parts)

    def _term(self, depth: int) -> str:
        first = self._groups + 1
        assertion = self._assertion(depth)
        if assertion is not None:
            if self._quantifier()[0]:
                self.fail("an assertion cannot be repeated")
            return assertion
        atom = self._atom(depth)
        quantifier, minimum = self._quantifier()
        if minimum == 0:
            self._forget(first)
        return atom + quantifier

    def _forget(self, first: int) -> None:
        self._sure.difference_update(range(first, self._groups + 1))

    def _take(self, token: str) -> bool:
        if self._text.startswith(token, self._at):
            self._at += len(token)
            return True
        return False

    def _match(self, shape: re.Pattern[str]) -> re.Match[str] | None:
        match = shape.match(self._text, self._at)
        if match:
            self._at = match.end()
        return match

    def _quantifier(self) -> tuple[str, int]:
        """A quantifier as written and its minimum; ("", 1) when there is none."""
        if self.rest and self.rest in "*+?":
            text, minimum = self.rest, 1 if self.rest == "+" else 0
            self._at += 1
        elif self.rest == "{":
            match = self._match(_BRACES)
            if match is None:
                self.fail('"{" that starts no quantifier')
            minimum = int(match[1])
            if match[3] and int(match[3]) < minimum:
                self.fail("a quantifier whose bounds are out of order")
            text = match[0]
        else:
            return "", 1
        return text + ("?" if self._take("?") else ""), minimum

    def _assertion(self, depth: int) -> str | None:
        if self._take("^"):
            return "^"
        if self._take("$"):
            return "$"
        for token, written in ((r"\b", _BOUNDARY), (r"\B", _NO_BOUNDARY)):
            if self._take(token):
                self.linear = False
                return written
        for opening in ("(?=", "(?!", "(?<=", "(?<!"):
            if self._take(opening):
                return self._look(opening, depth)
        return None

    def _look(self, opening: str, depth: int) -> str:
        self.linear = False
        first = self._groups + 1
        backwards = opening.startswith("(?<")
        self._lookbehinds += backwards
        inner = self.disjunction(depth + 1)
        self._lookbehinds -= backwards
        self._close()
        if opening != "(?=":
            self._forget(first)
        return f"{opening}{inner})"

    def _close(self) -> None:
        if not self._take(")"):
            self.fail('a missing ")"')

    def _atom(self, depth: int) -> str:
        if self._take("."):
            return f"[^{_ranges(_LINE_ENDS)}]"
        if self._take("("):
            return self._group(depth)
        if self._take("["):
            return self._class()
        if self._take("\\"):
            return self._escape()
        character = self.rest
        if character in _SYNTAX_CHARACTERS and character != "/":
            self.fail(f'"{character}" out of place')
        self._at += 1
        return _point(self._scalar(ord(character)))

    def _group(self, depth: int) -> str:
        if self._take("?:"):
            inner = self.disjunction(depth + 1)
            self._close()
            return f"(?:{inner})"
        self._groups += 1
        number = self._groups
        if self._take("?"):
            name = self._match(_NAME)
            if name is None:
                self.fail("an unknown kind of group")
            if name[1] in self._names:
                self.fail("a group name used twice")
            self._names[name[1]] = number
        inner = self.disjunction(depth + 1)
        self._close()
        self._sure.add(number)
        return f"({inner})"

    def _escape(self) -> str:
        if reference := self._match(_REFERENCE):
            return self._back_reference(int(reference[0]))
        if self._take("k"):
            name = self._match(_NAME)
            if name is None or name[1] not in self._names:
                self.fail("a reference to a group that is not closed before it")
            return self._back_reference(self._names[name[1]])
        if self.rest in _CLASS_ESCAPES:
            return f"[{self._class_escape()}]"
        if self.rest in ("p", "P"):
            return self._property()
        return _point(self._scalar(self._character_escape()))

    def _back_reference(self, number: int) -> str:
        if number not in self._sure or self._lookbehinds:
            self.fail("a reference to a group that is not sure to have matched before it")
        self.linear = False
        return f"(?:\\{number})"

    def _class_escape(self) -> str:
        letter = self.rest
        self._at += 1
        spans = _CLASSES[letter.lower()]
        return _ranges(spans if letter.islower() else _complement(spans))

    def _property(self) -> str:
        letter = self.rest
        self._at += 1
        name = self._match(_PROPERTY)
        if name is None or not is_property(name[1], name[2]):
            self.fail("an unknown property escape")
        return f"\\{letter}{name[0]}"

    def _character_escape(self) -> int:
        """The code point of an escape that stands for one character."""
        letter = self.rest
        if not letter:
            self.fail("a trailing backslash")
        self._at += 1
        if letter in _CONTROLS:
            if letter == "0" and self.rest.isdigit():
                self.fail("an octal escape")
            return _CONTROLS[letter]
        if letter == "c" and self.rest.isascii() and self.rest.isalpha():
            self._at += 1
            return ord(self._text[self._at - 1]) % 32
        if letter == "x" and (digits := self._match(_HEX2)):
            return int(digits[0], 16)
        if letter == "u":
            return self._unicode_escape()
        if letter.isascii() and (letter.isalnum() or letter == "_"):
            self._at -= 1
            self.fail(f'an unknown escape "\\{letter}"')
        # Needless identity escapes are tolerated (contract section 5).
        return ord(letter)

    def _unicode_escape(self) -> int:
        if braced := self._match(_BRACED):
            code = int(braced[1], 16)
            if code > _LAST:
                self.fail("a code point out of range")
            return code
        digits = self._match(_HEX4)
        if digits is None:
            self.fail("an incomplete Unicode escape")
        code = int(digits[0], 16)
        if code in _HIGH_SURROGATES and (low := self._match(_LOW_SURROGATE)):
            return 0x10000 + (code - 0xD800) * 0x400 + int(low[1], 16) - 0xDC00
        return code

    def _class(self) -> str:
        negated = self._take("^")
        items: list[str] = []
        while not self._take("]"):
            if not self.rest:
                self.fail('a missing "]"')
            items.append(self._class_item())
        if not items:
            everything = _span(0, _LAST)
            return f"[{everything}]" if negated else f"[^{everything}]"
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def _class_item(self) -> str:
        first = self._class_atom()
        if not self._text.startswith("-", self._at) or self._text.startswith("-]", self._at):
            return first if isinstance(first, str) else _point(first)
        self._at += 1
        last = self._class_atom()
        if isinstance(first, str) or isinstance(last, str):
            self.fail("a range between classes")
        if last < first:
            self.fail("a range out of order")
        return _span(first, last)

    def _class_atom(self) -> int | str:
        """One member of a class: a code point, or a written set of them."""
        if not self.rest:
            self.fail('a missing "]"')
        if not self._take("\\"):
            self._at += 1
            return self._scalar(ord(self._text[self._at - 1]))
        if self.rest in _CLASS_ESCAPES:
            return self._class_escape()
        if self.rest in ("p", "P"):
            return self._property()
        if self._take("b"):
            return 0x08
        return self._scalar(self._character_escape())

    def _scalar(self, code: int) -> int:
        if code in _SURROGATES:
            self.fail("a lone surrogate")
        return code
