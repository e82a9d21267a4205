"""Executors: who generates candidates (contract section 9)."""

from intent_runtime.executors.protocol import FunctionExecutor, ModelExecutor, executor_from
from intent_runtime.executors.rules.executor import RulesExecutor

__all__ = ["FunctionExecutor", "ModelExecutor", "RulesExecutor", "executor_from"]
