"""No words of a call in other libraries' DEBUG logs (contract section 9: nothing secret is logged).

Anthropic's SDK logs whole requests at DEBUG, and the transport logs the headers of replies.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LOGGERS: Final = (
    "anthropic._base_client",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpcore2.socks",
)
_in_call: ContextVar[bool] = ContextVar("intent_runtime_in_call", default=False)


class _OutsideCalls(logging.Filter):
    """Lets DEBUG records through unless they come from one of our calls."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno > logging.DEBUG or not _in_call.get()


for _name in _LOGGERS:
    logging.getLogger(_name).addFilter(_OutsideCalls())


@contextmanager
def quiet_call() -> Generator[None]:
    """What runs inside, in this context, leaves no DEBUG records of those loggers."""
    token = _in_call.set(True)
    try:
        yield
    finally:
        _in_call.reset(token)
