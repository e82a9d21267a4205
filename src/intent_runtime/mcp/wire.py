"""Taking the protocol's descriptors (contract section 11): protocol only on standard output.

Apart from the transport, since it has to run before the SDK or a configuration is imported.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple


class Wire(NamedTuple):
    """The descriptors that carry the protocol, and the process at the other end."""

    reading: int
    writing: int
    parent: int


def claim_wire() -> Wire:
    """Move standard input and output away and put harmless ones in their place.

    Prints, direct writes and child processes of a configuration then reach standard error at most.
    """
    sys.stdout.flush()
    wire = Wire(_above_standard(0), _above_standard(1), os.getppid())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        os.dup2(2, 1)
    except OSError:
        # Standard error is closed: stray output goes nowhere.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return wire


def _above_standard(descriptor: int) -> int:
    """A duplicate that no child inherits and that is not a standard descriptor itself."""
    low: list[int] = []
    try:
        while True:
            copy = os.dup(descriptor)
            if copy > 2:  # noqa: PLR2004 - the standard descriptors
                return copy
            low.append(copy)
    finally:
        for each in low:
            os.close(each)
