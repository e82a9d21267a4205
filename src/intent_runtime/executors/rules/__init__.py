"""The offline rules: from a stage payload to a candidate, without any model."""

from intent_runtime.executors.rules.core import core_candidate
from intent_runtime.executors.rules.fields import data_candidate

__all__ = ["core_candidate", "data_candidate"]
