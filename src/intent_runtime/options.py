"""Refusing a wrong option (contract section 3), for everything that takes some."""

from __future__ import annotations

from intent_runtime.errors import ErrorCode, IntentParseError


def refused(code: ErrorCode, message: str) -> IntentParseError:
    """A configuration error."""
    return IntentParseError(code, message, stage="config")


def integer(value: object, name: str, lowest: int, highest: int) -> int:
    """The integer option of this name; raises CONFIG_INVALID outside its range."""
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise refused("CONFIG_INVALID", f"{name} must be an integer from {lowest} to {highest}.")
    return value
