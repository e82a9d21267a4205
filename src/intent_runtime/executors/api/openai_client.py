"""The official `openai` SDK as every provider that speaks its protocols uses it."""

from __future__ import annotations

from typing import Any

import openai

from intent_runtime.executors.api.calls import SdkFailure
from intent_runtime.executors.api.http import retry_after
from intent_runtime.executors.api.settings import ApiSettings


def connect(settings: ApiSettings, http_client: Any) -> openai.AsyncOpenAI:
    """The SDK's client: no retries, and nothing from the environment."""
    client = openai.AsyncOpenAI(
        api_key=settings.api_key,
        base_url=settings.base_url,
        max_retries=0,
        timeout=None,
        http_client=http_client,
    )
    # The SDK fills these from OPENAI_* variables whatever it is given.
    client.organization = None
    client.project = None
    client.admin_api_key = None
    client._custom_headers = {}  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no public way
    return client


def explain(error: Exception) -> SdkFailure:
    """What the SDK's exception says."""
    if isinstance(error, openai.APIStatusError):
        return SdkFailure(error.status_code, retry_after=retry_after(error.response.headers))
    return SdkFailure(timed_out=isinstance(error, openai.APITimeoutError))
