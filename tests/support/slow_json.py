"""An independent, slow and plain reader of contract section 8.1.

It reads one code point after another, with a stack of its own instead of recursion, and uses
Decimal for numbers. What it says of a text is one of:

- `("ok", value)`: one object within all bounds, integral numbers as integers;
- `("limit", "depth" | "nodes")`: an exceeded limit came before any syntax error;
- `("invalid", "syntax" | "duplicate" | "number" | "root")`: anything else.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

_SPACE = " \t\n\r"
_ESCAPES = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_HEX = "0123456789abcdefABCDEF"
_DIGITS = "0123456789"
_SAFE = 2**53 - 1
_WIDE = Context(prec=400_000, Emax=10**17, Emin=-(10**17))


class _SyntaxFaultError(Exception):
    pass


class _LimitFaultError(Exception):
    pass


class _Object:
    """An object as written: its members in order, doubled ones included."""

    def __init__(self) -> None:
        self.members: list[tuple[str, Any]] = []
        self.key = ""

    def add(self, value: Any) -> None:
        self.members.append((self.key, value))


class _Array:
    def __init__(self) -> None:
        self.items: list[Any] = []

    def add(self, value: Any) -> None:
        self.items.append(value)


class _Number:
    def __init__(self, token: str) -> None:
        self.token = token


def slow_read(text: str, max_depth: int, max_nodes: int) -> tuple[str, Any]:
    """The verdict on `text`."""
    try:
        root = _Reader(text, max_depth, max_nodes).read()
    except _SyntaxFaultError:
        return "invalid", "syntax"
    except _LimitFaultError as fault:
        return "limit", str(fault)
    if _has_double(root):
        return "invalid", "duplicate"
    try:
        value = _plain(root)
    except ValueError:
        return "invalid", "number"
    return ("ok", value) if isinstance(value, dict) else ("invalid", "root")


class _Reader:
    def __init__(self, text: str, max_depth: int, max_nodes: int) -> None:
        self.text = text
        self.at = 0
        self.nodes = 0
        self.max_depth = max_depth
        self.max_nodes = max_nodes

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def next(self) -> str:
        character = self.peek()
        if not character:
            raise _SyntaxFaultError
        self.at += 1
        return character

    def skip_space(self) -> None:
        while self.peek() and self.peek() in _SPACE:
            self.at += 1

    def read(self) -> Any:
        open_: list[_Object | _Array] = []
        self.skip_space()
        done = self.begin(open_)
        while open_:
            inner = open_[-1]
            if done is not None:
                inner.add(done)
                self.skip_space()
                mark = self.next()
                if mark == ("}" if isinstance(inner, _Object) else "]"):
                    done = open_.pop()
                    continue
                if mark != ",":
                    raise _SyntaxFaultError
                self.skip_space()
            else:
                # Just opened: it may close at once.
                self.skip_space()
                if self.peek() == ("}" if isinstance(inner, _Object) else "]"):
                    self.at += 1
                    done = open_.pop()
                    continue
            if isinstance(inner, _Object):
                self.key(inner)
            done = self.begin(open_)
        self.skip_space()
        if self.peek():
            raise _SyntaxFaultError
        return done

    def key(self, inner: _Object) -> None:
        if self.next() != '"':
            raise _SyntaxFaultError
        inner.key = self.string()
        self.skip_space()
        if self.next() != ":":
            raise _SyntaxFaultError
        self.skip_space()

    def begin(self, open_: list[_Object | _Array]) -> Any:
        """Start a value: a scalar comes back whole, a container is opened and None comes back."""
        first = self.peek()
        if not first or first not in '{["tfn-' + _DIGITS:
            raise _SyntaxFaultError
        self.nodes += 1
        if self.nodes > self.max_nodes:
            raise _LimitFaultError("nodes")
        if first in "{[":
            if len(open_) + 1 > self.max_depth:
                raise _LimitFaultError("depth")
            self.at += 1
            open_.append(_Object() if first == "{" else _Array())
            return None
        if first == '"':
            self.at += 1
            return ("text", self.string())
        if first in "tfn":
            return self.word()
        return self.number()

    def word(self) -> tuple[str, Any]:
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.text[self.at : self.at + len(word)] == word:
                self.at += len(word)
                return ("word", value)
        raise _SyntaxFaultError

    def string(self) -> str:
        parts: list[str] = []
        while True:
            character = self.next()
            if character == '"':
                return "".join(parts)
            if character == "\\":
                parts.append(self.escape())
            elif ord(character) < 0x20 or 0xD800 <= ord(character) <= 0xDFFF:
                raise _SyntaxFaultError
            else:
                parts.append(character)

    def escape(self) -> str:
        letter = self.next()
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter != "u":
            raise _SyntaxFaultError
        code = self.hex4()
        if 0xDC00 <= code <= 0xDFFF:
            raise _SyntaxFaultError
        if 0xD800 <= code <= 0xDBFF:
            if self.next() != "\\" or self.next() != "u":
                raise _SyntaxFaultError
            low = self.hex4()
            if not 0xDC00 <= low <= 0xDFFF:
                raise _SyntaxFaultError
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        return chr(code)

    def hex4(self) -> int:
        digits = "".join(self.next() for _ in range(4))
        if any(digit not in _HEX for digit in digits):
            raise _SyntaxFaultError
        return int(digits, 16)

    def digits(self) -> None:
        if not self.peek() or self.peek() not in _DIGITS:
            raise _SyntaxFaultError
        while self.peek() and self.peek() in _DIGITS:
            self.at += 1

    def number(self) -> _Number:
        start = self.at
        if self.peek() == "-":
            self.at += 1
        if self.peek() == "0":
            self.at += 1
        else:
            self.digits()
        if self.peek() == ".":
            self.at += 1
            self.digits()
        if self.peek() and self.peek() in "eE":
            self.at += 1
            if self.peek() and self.peek() in "+-":
                self.at += 1
            self.digits()
        return _Number(self.text[start : self.at])


def _has_double(root: Any) -> bool:
    left = [root]
    while left:
        value = left.pop()
        if isinstance(value, _Object):
            names = [name for name, _ in value.members]
            if len(set(names)) != len(names):
                return True
            left.extend(member for _, member in value.members)
        elif isinstance(value, _Array):
            left.extend(value.items)
    return False


def _plain(value: Any) -> Any:
    if isinstance(value, _Object):
        return {name: _plain(member) for name, member in value.members}
    if isinstance(value, _Array):
        return [_plain(item) for item in value.items]
    if isinstance(value, _Number):
        return slow_number(value.token)
    return value[1]


def slow_number(token: str) -> int | float:
    """The value of a number token; raises ValueError when the contract refuses it."""
    mantissa = token.lower().split("e")[0]
    if not any(digit in mantissa for digit in "123456789"):
        # Zero whatever the exponent, which may be longer than Decimal takes.
        return 0
    exponent = token.lower().partition("e")[2]
    if len(exponent.lstrip("+-0")) > 15:
        raise ValueError("out of range")
    exact = _WIDE.create_decimal(token)
    double = float(exact)
    if double in (float("inf"), float("-inf")):
        raise ValueError("not finite")
    # repr() is the shortest form that denotes the double.
    if Decimal(repr(double)) != exact:
        raise ValueError("not exact")
    if double.is_integer():
        if abs(double) > _SAFE:
            raise ValueError("not a safe integer")
        return int(double)
    return double
