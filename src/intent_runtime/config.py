"""Reading the configuration of an Intent (contract section 3) in its wire shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from intent_runtime.errors import ErrorCode
from intent_runtime.executors.protocol import ModelExecutor
from intent_runtime.language import LanguageTagError, canonical_tag
from intent_runtime.options import integer, refused
from intent_runtime.pipeline import Definition
from intent_runtime.schema.snapshot import SchemaError, snapshot_schema
from intent_runtime.text import name_list, shorten
from intent_runtime.values import (
    MAX_SAFE_INTEGER,
    MAX_TIMER_MS,
    ExecutorCapabilities,
    IntentLimits,
)

CONFIG_KEYS: Final = (
    "language",
    "schema",
    "executor",
    "timeoutMs",
    "repairAttempts",
    "limits",
)
_LIMIT_NAMES: Final = dict(
    zip(IntentLimits.__struct_encode_fields__, IntentLimits.__struct_fields__, strict=True)
)


class Config(msgspec.Struct, frozen=True):
    """A checked configuration."""

    definition: Definition
    executor: ModelExecutor | None
    timeout_ms: int


def read_config(raw: object) -> Config:
    """The configuration, or `IntentParseError` (stage config)."""
    if not isinstance(raw, Mapping):
        raise refused("CONFIG_INVALID", "The configuration must be an object.")
    config = cast("Mapping[object, object]", raw)
    for key in config:
        if not isinstance(key, str) or key not in CONFIG_KEYS:
            shown = shorten(str(key), 40) if isinstance(key, str) else type(key).__name__
            known = name_list(CONFIG_KEYS)
            raise refused("CONFIG_INVALID", f'Unknown key "{shown}"; known are {known}.')
    limits = _limits(config["limits"]) if "limits" in config else IntentLimits()
    language = _language(config["language"]) if "language" in config else "en"
    timeout_ms = integer(config.get("timeoutMs", 0), "timeoutMs", 0, MAX_TIMER_MS)
    attempts = integer(config.get("repairAttempts", 1), "repairAttempts", 0, 1)
    executor = _executor(config["executor"]) if "executor" in config else None
    schema = _schema(config.get("schema", {}), limits)
    return Config(Definition(language, schema, attempts, limits), executor, timeout_ms)


def _language(value: object) -> str:
    if not isinstance(value, str):
        raise refused("CONFIG_INVALID", "language must be a BCP 47 tag as a string.")
    try:
        return canonical_tag(value)
    except LanguageTagError as error:
        raise refused("CONFIG_INVALID", f"language is not usable: {error}.") from None


def _schema(value: object, limits: IntentLimits) -> dict[str, Any]:
    try:
        return snapshot_schema(value if isinstance(value, dict) else _adapted(value), limits)
    except SchemaError as error:
        code: ErrorCode = "LIMIT_EXCEEDED" if error.limit else "SCHEMA_UNSUPPORTED"
        raise refused(code, str(error)) from None


def _adapted(value: object) -> object:
    """The schema of a Python type; anything else as it is, for the snapshot to refuse."""
    from intent_runtime import typed  # noqa: PLC0415 - JSON Schema needs none of it

    if not typed.is_python_type(value):
        return value
    try:
        return typed.schema_of(value)
    except typed.UnsupportedTypeError as error:
        raise refused("SCHEMA_UNSUPPORTED", str(error)) from None


def _limits(value: object) -> IntentLimits:
    if isinstance(value, IntentLimits):
        value = {wire: getattr(value, name) for wire, name in _LIMIT_NAMES.items()}
    if not isinstance(value, Mapping):
        raise refused("CONFIG_INVALID", "limits must be an object.")
    chosen: dict[str, int] = {}
    for key, number in cast("Mapping[object, object]", value).items():
        name = _LIMIT_NAMES.get(key) if isinstance(key, str) else None
        if name is None or not isinstance(key, str):
            known = name_list(tuple(_LIMIT_NAMES), budget=600)
            raise refused("CONFIG_INVALID", f"limits has an unknown key; known are {known}.")
        highest = MAX_TIMER_MS if key == "maxValidationMs" else MAX_SAFE_INTEGER
        chosen[name] = integer(number, f"limits.{key}", 1, highest)
    return IntentLimits(**chosen)


def _executor(value: object) -> ModelExecutor:
    capabilities = getattr(value, "capabilities", None)
    if (
        not isinstance(getattr(value, "id", None), str)
        or not isinstance(capabilities, ExecutorCapabilities)
        or not callable(getattr(value, "generate", None))
    ):
        raise refused(
            "CONFIG_INVALID",
            "executor must have id (str), capabilities (ExecutorCapabilities) and generate().",
        )
    if not capabilities.supports_abort:
        raise refused(
            "HOST_CAPABILITY_UNSUPPORTED",
            "executor must support abort: declare supports_abort and stop when cancelled.",
        )
    return cast("ModelExecutor", value)
