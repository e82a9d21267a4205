"""`create_api_executor` and the table of providers."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

from intent_runtime.executors.api.settings import ApiSettings
from intent_runtime.options import integer, refused
from intent_runtime.text import has_lone_surrogate, is_blank, name_list
from intent_runtime.values import MAX_SAFE_INTEGER, MAX_TIMER_MS, ExecutorCapabilities

if TYPE_CHECKING:
    from intent_runtime.executors.api.calls import ApiExecutor

ProviderName: TypeAlias = Literal["openai", "xai", "openai-compatible", "anthropic", "google"]


class _Provider(NamedTuple):
    """One row: where the executor is, what it needs, what its models can do unless declared."""

    module: str
    executor: str
    extra: str
    base_url: str | None
    native_json_schema: bool = True
    native_json_object: bool = False


_PROVIDERS: Final[dict[str, _Provider]] = {
    "openai": _Provider(
        "openai_responses",
        "OpenAIExecutor",
        "openai",
        "https://api.openai.com/v1",
        native_json_object=True,
    ),
    "xai": _Provider("openai_responses", "XAIExecutor", "openai", "https://api.x.ai/v1"),
    "openai-compatible": _Provider(
        "openai_chat", "OpenAICompatibleExecutor", "openai", None, native_json_schema=False
    ),
    "anthropic": _Provider(
        "anthropic", "AnthropicExecutor", "anthropic", "https://api.anthropic.com"
    ),
    "google": _Provider(
        "google",
        "GoogleExecutor",
        "google",
        "https://generativelanguage.googleapis.com",
        native_json_object=True,
    ),
}


def create_api_executor(  # noqa: PLR0913 - keywords, each with one meaning
    *,
    provider: ProviderName,
    api_key: str,
    model: str,
    base_url: str | None = None,
    native_json_schema: bool | None = None,
    native_json_object: bool | None = None,
    max_output_tokens: int = 8192,
    timeout_ms: int = 600_000,
    http_client: Any = None,
) -> ApiExecutor[Any]:
    """An executor for a model API (contract section 9). Nothing is read from the environment.

    provider: `openai`, `xai`, `openai-compatible` (Chat Completions; needs `base_url`), `anthropic`
    or `google`. base_url: another endpoint of the same protocol. native_json_schema and
    native_json_object: what the model can do, the provider's usual when None (for
    `openai-compatible` neither). max_output_tokens: of one reply. timeout_ms: bound of one call in
    milliseconds, whatever happens in it; 0 for none. http_client: an `httpx2.AsyncClient` to use
    (proxies, certificates); the caller closes it, it belongs to one event loop, and its own
    time-outs do not count.

    Raises IntentParseError (CONFIG_INVALID, stage config), and ImportError naming the extra to
    install when the provider's SDK is missing.
    """
    row = _PROVIDERS.get(provider) if isinstance(provider, str) else None
    if row is None:
        raise refused("CONFIG_INVALID", f"provider must be one of {name_list(tuple(_PROVIDERS))}.")
    url = base_url if base_url is not None else row.base_url
    if url is None:
        raise refused(
            "CONFIG_INVALID", f"{provider} needs base_url, the server's address up to its /v1."
        )
    settings = ApiSettings(
        provider=provider,
        api_key=_api_key(api_key),
        model=_model(model),
        base_url=_http_url(url),
        max_output_tokens=integer(max_output_tokens, "max_output_tokens", 1, MAX_SAFE_INTEGER),
        timeout_ms=integer(timeout_ms, "timeout_ms", 0, MAX_TIMER_MS),
        capabilities=ExecutorCapabilities(
            native_json_schema=_flag(
                native_json_schema, row.native_json_schema, "native_json_schema"
            ),
            native_json_object=_flag(
                native_json_object, row.native_json_object, "native_json_object"
            ),
        ),
    )
    executor = _executor_class(row)
    return executor(settings, http_client)


def _executor_class(row: _Provider) -> type[ApiExecutor[Any]]:
    try:
        module = import_module(f"intent_runtime.executors.api.{row.module}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("intent_runtime"):
            raise
        raise ImportError(
            f"The {row.extra} SDK is not installed: pip install 'intent-runtime[{row.extra}]'",
            name=error.name,
        ) from error
    return cast("type[ApiExecutor[Any]]", getattr(module, row.executor))


def _api_key(value: object) -> str:
    """A key that can stand in a header; never shown."""
    if not isinstance(value, str) or not re.fullmatch("[!-~]+", value):
        raise refused(
            "CONFIG_INVALID", "api_key must be a text of printable ASCII characters without blanks."
        )
    return value


def _model(value: object) -> str:
    if not isinstance(value, str) or is_blank(value) or has_lone_surrogate(value):
        raise refused("CONFIG_INVALID", "model must be the provider's name of a model.")
    return value


def _http_url(value: object) -> str:
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        good = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good:
        raise refused("CONFIG_INVALID", "base_url must be an absolute http or https URL.")
    return cast("str", value)


def _flag(value: object, usual: bool, name: str) -> bool:  # noqa: FBT001 - a plain default
    if value is None:
        return usual
    if not isinstance(value, bool):
        raise refused("CONFIG_INVALID", f"{name} must be True, False or None.")
    return value
