"""What a caller chose for one API executor."""

from __future__ import annotations

import msgspec

from intent_runtime.text import hidden_repr
from intent_runtime.values import ExecutorCapabilities


class ApiSettings(msgspec.Struct, frozen=True):
    """What a caller chose for one executor; checked."""

    provider: str
    api_key: str
    model: str
    base_url: str
    max_output_tokens: int
    timeout_ms: int
    capabilities: ExecutorCapabilities

    # It holds the key.
    __repr__ = hidden_repr
