"""Executors: who generates candidates (contract section 9)."""

from typing import TYPE_CHECKING

from intent_runtime.lazy import lazy_names

if TYPE_CHECKING:
    from intent_runtime.executors.api.registry import create_api_executor as create_api_executor
    from intent_runtime.executors.protocol import FunctionExecutor as FunctionExecutor
    from intent_runtime.executors.protocol import ModelExecutor as ModelExecutor
    from intent_runtime.executors.protocol import executor_from as executor_from
    from intent_runtime.executors.rules.executor import RulesExecutor as RulesExecutor

__all__ = [
    "FunctionExecutor",
    "ModelExecutor",
    "RulesExecutor",
    "create_api_executor",
    "executor_from",
]

__getattr__ = lazy_names(
    __name__,
    {
        "FunctionExecutor": "protocol",
        "ModelExecutor": "protocol",
        "RulesExecutor": "rules.executor",
        "create_api_executor": "api.registry",
        "executor_from": "protocol",
    },
)
