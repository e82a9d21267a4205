"""Number tokens (contract section 8.1): only those that a double carries without loss."""

from __future__ import annotations

from typing import Final

from intent_runtime.values import MAX_SAFE_INTEGER

# A decimal of this many digits survives the way to a double and back (DBL_DIG).
_ALWAYS_EXACT: Final = 15
# No double needs more significant digits in its shortest form.
_MAX_SIGNIFICANT: Final = 17
# Beyond this many exponent digits the value is 0 or out of range, whatever the mantissa.
_MAX_EXPONENT_DIGITS: Final = 18


def exact_number(token: str) -> int | float | None:
    """The value of a JSON number token with a fraction or an exponent, or None when refused.

    Refused are values out of range, integral ones outside ±(2^53-1), and tokens whose decimal
    value differs from that of the shortest form of the double they denote. Linear in the token.
    """
    if len(token) <= _ALWAYS_EXACT and "e" not in token and "E" not in token:
        value = float(token)
        return int(value) if value.is_integer() else value
    decimal = _scaled(token)
    if decimal is None:
        return None
    digits, exponent = decimal
    if not digits:
        return 0
    if len(digits) > _MAX_SIGNIFICANT:
        return None
    value = float(f"{'-' if token[0] == '-' else ''}{digits}e{exponent}")
    if value == 0 or value in (float("inf"), float("-inf")):
        return None
    if _scaled(repr(value)) != decimal:
        return None
    if not value.is_integer():
        return value
    return int(value) if abs(value) <= MAX_SAFE_INTEGER else None


def _scaled(token: str) -> tuple[str, int] | None:
    """The magnitude of a token as significant digits and a power of ten; ("", 0) is zero."""
    mantissa, _, power = token.lower().lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "", 0
    magnitude = power.lstrip("+-0")
    if len(magnitude) > _MAX_EXPONENT_DIGITS:
        return None
    exponent = int(magnitude or "0")
    if power.startswith("-"):
        exponent = -exponent
    return significant, exponent - len(fraction) + len(digits) - len(significant)
