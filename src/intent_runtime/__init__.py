"""Checked, structured intent from a user's request.

A model writes candidates; this library decides whether they may be trusted. Start with `Intent`.
Names load when first used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intent_runtime.errors import DATA_ISSUE_CODES as DATA_ISSUE_CODES
    from intent_runtime.errors import ERROR_CODES as ERROR_CODES
    from intent_runtime.errors import IntentDataError as IntentDataError
    from intent_runtime.errors import IntentFailure as IntentFailure
    from intent_runtime.errors import IntentIssue as IntentIssue
    from intent_runtime.errors import IntentParseError as IntentParseError
    from intent_runtime.executors.protocol import ModelExecutor as ModelExecutor
    from intent_runtime.executors.protocol import executor_from as executor_from
    from intent_runtime.formats import ACTIONS as ACTIONS
    from intent_runtime.formats import STATUSES as STATUSES
    from intent_runtime.intent import Intent as Intent
    from intent_runtime.values import DEFAULT_LIMITS as DEFAULT_LIMITS
    from intent_runtime.values import Clarification as Clarification
    from intent_runtime.values import ContextMessage as ContextMessage
    from intent_runtime.values import Evidence as Evidence
    from intent_runtime.values import EvidenceSource as EvidenceSource
    from intent_runtime.values import ExecutorCapabilities as ExecutorCapabilities
    from intent_runtime.values import IntentItem as IntentItem
    from intent_runtime.values import IntentLimits as IntentLimits
    from intent_runtime.values import IntentResult as IntentResult
    from intent_runtime.values import ModelReply as ModelReply
    from intent_runtime.values import ModelRequest as ModelRequest
    from intent_runtime.values import TokenUsage as TokenUsage

__version__ = "0.1.0"

_HOMES = {
    "errors": (
        "DATA_ISSUE_CODES",
        "ERROR_CODES",
        "IntentDataError",
        "IntentFailure",
        "IntentIssue",
        "IntentParseError",
    ),
    "executors.protocol": ("ModelExecutor", "executor_from"),
    "formats": ("ACTIONS", "STATUSES"),
    "intent": ("Intent",),
    "values": (
        "DEFAULT_LIMITS",
        "Clarification",
        "ContextMessage",
        "Evidence",
        "EvidenceSource",
        "ExecutorCapabilities",
        "IntentItem",
        "IntentLimits",
        "IntentResult",
        "ModelReply",
        "ModelRequest",
        "TokenUsage",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF), "__version__"]  # noqa: PLE0604 - names from the one table above


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
