"""Checked, structured intent from a user's request.

A model writes candidates; this library decides whether they may be trusted. Start with `Intent`.
Names load when first used, so that importing the package costs next to nothing.
"""

from typing import TYPE_CHECKING

from intent_runtime.lazy import lazy_names

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
    from intent_runtime.values import IntentUsage as IntentUsage
    from intent_runtime.values import ModelReply as ModelReply
    from intent_runtime.values import ModelRequest as ModelRequest
    from intent_runtime.values import TokenUsage as TokenUsage

__version__ = "0.1.0"

__all__ = [
    "ACTIONS",
    "DATA_ISSUE_CODES",
    "DEFAULT_LIMITS",
    "ERROR_CODES",
    "STATUSES",
    "Clarification",
    "ContextMessage",
    "Evidence",
    "EvidenceSource",
    "ExecutorCapabilities",
    "Intent",
    "IntentDataError",
    "IntentFailure",
    "IntentIssue",
    "IntentItem",
    "IntentLimits",
    "IntentParseError",
    "IntentResult",
    "IntentUsage",
    "ModelExecutor",
    "ModelReply",
    "ModelRequest",
    "TokenUsage",
    "__version__",
    "executor_from",
]

__getattr__ = lazy_names(
    __name__,
    {
        "DATA_ISSUE_CODES": "errors",
        "ERROR_CODES": "errors",
        "IntentDataError": "errors",
        "IntentFailure": "errors",
        "IntentIssue": "errors",
        "IntentParseError": "errors",
        "ModelExecutor": "executors.protocol",
        "executor_from": "executors.protocol",
        "ACTIONS": "formats",
        "STATUSES": "formats",
        "Intent": "intent",
        "DEFAULT_LIMITS": "values",
        "Clarification": "values",
        "ContextMessage": "values",
        "Evidence": "values",
        "EvidenceSource": "values",
        "ExecutorCapabilities": "values",
        "IntentItem": "values",
        "IntentLimits": "values",
        "IntentResult": "values",
        "IntentUsage": "values",
        "ModelReply": "values",
        "ModelRequest": "values",
        "TokenUsage": "values",
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
