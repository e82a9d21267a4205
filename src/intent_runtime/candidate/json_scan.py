"""Where a JSON text first goes wrong: the exact but slower half of the strict reader.

It runs only on texts that the native decoder refused or that hold a duplicate key. Nothing is
built; the text is read once from left to right, so that the first of a syntax error and an
exceeded limit decides (contract section 8.1).
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*+")
# Possessive throughout: a text that does not match is given up in one pass.
_STRING = re.compile(
    r'"(?:[^"\\\x00-\x1f\ud800-\udfff]++'
    r'|\\["\\/bfnrt]'
    r"|\\u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"
)
_SCALAR = re.compile(r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)")

_VALUE: Final = "a value"
_VALUE_OR_END: Final = 'a value or "]"'
_KEY: Final = "a key in double quotes"
_KEY_OR_END: Final = 'a key in double quotes or "}"'
_COMMA_OR_END: Final = '"," or the closing bracket'
_END: Final = "nothing after the value"


class Fault(NamedTuple):
    """The first fault: an exceeded limit, or what was expected at an offset."""

    limit: str | None
    offset: int
    expected: str


def first_fault(text: str, max_depth: int, max_nodes: int) -> Fault | None:
    """The first fault of `text` from left to right, or None when it is well-formed and fits."""
    return _Scan(text, max_depth, max_nodes).run()


class _Scan:
    def __init__(self, text: str, max_depth: int, max_nodes: int) -> None:
        self._text = text
        self._max_depth = max_depth
        self._max_nodes = max_nodes
        self._at = 0
        self._nodes = 0
        self._open: list[str] = []

    def run(self) -> Fault | None:
        text = self._text
        expected = _VALUE
        while True:
            self._at = _SPACE.match(text, self._at).end()  # type: ignore[union-attr]
            here = text[self._at : self._at + 1]
            if expected is _END:
                return self._expected(_END) if here else None
            step = self._key if expected in (_KEY, _KEY_OR_END) else self._value
            if expected is _COMMA_OR_END:
                step = self._after_value
            outcome = step(here, expected)
            if isinstance(outcome, Fault):
                return outcome
            expected = outcome

    def _expected(self, what: str) -> Fault:
        return Fault(None, self._at, what)

    def _value(self, here: str, expected: str) -> str | Fault:
        if here == "]" and expected is _VALUE_OR_END:
            return self._close()
        if not here or here not in '{["-0123456789tfn':
            return self._expected(expected)
        self._nodes += 1
        if self._nodes > self._max_nodes:
            return Fault("nodes", self._at, "")
        if here in "{[":
            self._open.append(here)
            if len(self._open) > self._max_depth:
                return Fault("depth", self._at, "")
            self._at += 1
            return _KEY_OR_END if here == "{" else _VALUE_OR_END
        if here == '"':
            fault = self._string()
        else:
            match = _SCALAR.match(self._text, self._at)
            fault = None if match else self._expected(_VALUE)
            self._at = match.end() if match else self._at
        return fault or self._next()

    def _string(self) -> Fault | None:
        self._at = _STRING.match(self._text, self._at).end()  # type: ignore[union-attr]
        if self._text[self._at : self._at + 1] != '"':
            return self._expected("the rest of a string, with control characters escaped")
        self._at += 1
        return None

    def _key(self, here: str, expected: str) -> str | Fault:
        if here == "}" and expected is _KEY_OR_END:
            return self._close()
        if here != '"':
            return self._expected(expected)
        if fault := self._string():
            return fault
        self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
        if self._text[self._at : self._at + 1] != ":":
            return self._expected('":"')
        self._at += 1
        return _VALUE

    def _after_value(self, here: str, expected: str) -> str | Fault:
        innermost = self._open[-1]
        if here == ",":
            self._at += 1
            return _KEY if innermost == "{" else _VALUE
        if here and here == ("}" if innermost == "{" else "]"):
            return self._close()
        return self._expected(expected)

    def _close(self) -> str:
        self._open.pop()
        self._at += 1
        return self._next()

    def _next(self) -> str:
        return _COMMA_OR_END if self._open else _END
