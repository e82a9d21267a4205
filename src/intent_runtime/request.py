"""Reading a request (contract section 6): shapes and types, then limits, then field names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

import msgspec

from intent_runtime.errors import ErrorCode, IntentFailure
from intent_runtime.schema.selection import Selections
from intent_runtime.text import (
    exceeds_utf8,
    has_lone_surrogate,
    hidden_repr,
    is_blank,
    name_list,
    plain,
)
from intent_runtime.values import ContextMessage, IntentLimits

REQUEST_KEYS: Final = frozenset({"input", "fields", "context"})
_ROLES: Final = frozenset({"user", "assistant", "tool"})


class Source(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """One piece of material that evidence may quote."""

    source_id: str
    role: str
    content: str

    __repr__ = hidden_repr


class Request(msgspec.Struct, frozen=True):
    """A checked request; the JSON texts are what every task of it repeats.

    `fields` are the selected names. Their projection stays in the cache of the Intent: a retained
    request must not keep one alive.
    """

    input: str
    input_json: str
    context: tuple[Source, ...]
    context_json: str
    fields: tuple[str, ...]

    __repr__ = hidden_repr

    def source_texts(self) -> dict[str, str]:
        """The text of each source by its id."""
        return {"input": self.input} | {source.source_id: source.content for source in self.context}


def read_request(
    raw: object, limits: IntentLimits, selections: Selections
) -> Request | IntentFailure:
    """The request in its wire shape `{input, fields?, context?}`, or why it is refused."""
    if not isinstance(raw, Mapping):
        return _invalid("The request must be an object with the key input.")
    request = cast("Mapping[object, object]", raw)
    for key in request:
        if not isinstance(key, str) or key not in REQUEST_KEYS:
            return _invalid("The request has an unknown key; known are input, fields, context.")
    text = request.get("input")
    if not isinstance(text, str) or is_blank(text):
        return _invalid("input must be a string that is not blank.")
    text = plain(text)
    if has_lone_surrogate(text):
        return _invalid("input holds a lone surrogate.")
    fields = _fields(request)
    if isinstance(fields, IntentFailure):
        return fields
    context = _context(request)
    if isinstance(context, IntentFailure):
        return context
    return _within_limits(text, fields, context, limits, selections)


def _within_limits(
    text: str,
    fields: tuple[str, ...] | None,
    context: tuple[Source, ...],
    limits: IntentLimits,
    selections: Selections,
) -> Request | IntentFailure:
    if exceeds_utf8(text, limits.max_input_bytes):
        return _excess(f"input is larger than maxInputBytes ({limits.max_input_bytes}).")
    if len(context) > limits.max_context_messages:
        limit = limits.max_context_messages
        return _excess(f"context has more messages than maxContextMessages ({limit}).")
    too_large = f"context is larger than maxContextBytes ({limits.max_context_bytes})."
    if sum(len(source.content) for source in context) > limits.max_context_bytes:
        return _excess(too_large)
    context_json = msgspec.json.encode(context)
    if len(context_json) > limits.max_context_bytes and context:
        return _excess(too_large)
    unknown = [name for name in fields or () if name not in selections.known]
    if unknown:
        known = name_list(list(selections.known))
        return _refused("UNKNOWN_FIELD", f"fields names an unknown field; known are {known}.")
    return Request(
        input=text,
        input_json=msgspec.json.encode(text).decode(),
        context=context,
        context_json=context_json.decode(),
        fields=tuple(selections.known if fields is None else dict.fromkeys(fields)),
    )


def _fields(request: Mapping[object, object]) -> tuple[str, ...] | IntentFailure | None:
    if "fields" not in request:
        return None
    value = request["fields"]
    if isinstance(value, (list, tuple)):
        names = cast("list[object]", value)
        if all(isinstance(name, str) and not has_lone_surrogate(name) for name in names):
            return tuple(map(plain, cast("list[str]", names)))
    return _invalid("fields must be a list of field names; leave it out to select all.")


def _context(request: Mapping[object, object]) -> tuple[Source, ...] | IntentFailure:
    if "context" not in request:
        return ()
    value = request["context"]
    if isinstance(value, str):
        if has_lone_surrogate(value):
            return _invalid("context holds a lone surrogate.")
        return (Source("context:0", "background", plain(value)),) if value else ()
    if not isinstance(value, (list, tuple)):
        return _invalid(
            "context must be text or a list of messages; leave it out when there is none."
        )
    sources: list[Source] = []
    for index, message in enumerate(cast("list[object]", value)):
        source = _message(message, f"context:{index}")
        if source is None:
            return _invalid(
                f"context message {index} must be exactly {{role, content}} with role user, "
                "assistant or tool and string content."
            )
        sources.append(source)
    return tuple(sources)


def _message(message: object, source_id: str) -> Source | None:
    if isinstance(message, ContextMessage):
        role, content = cast("tuple[object, object]", (message.role, message.content))
    elif isinstance(message, Mapping):
        pair = cast("Mapping[object, object]", message)
        if len(pair) != 2 or "role" not in pair or "content" not in pair:  # noqa: PLR2004 - the two keys
            return None
        role, content = pair["role"], pair["content"]
    else:
        return None
    if not isinstance(role, str) or role not in _ROLES:
        return None
    if not isinstance(content, str) or has_lone_surrogate(content):
        return None
    return Source(source_id, plain(role), plain(content))


def _invalid(message: str) -> IntentFailure:
    return _refused("INPUT_INVALID", message)


def _excess(message: str) -> IntentFailure:
    return _refused("LIMIT_EXCEEDED", message)


def _refused(code: ErrorCode, message: str) -> IntentFailure:
    return IntentFailure(code=code, stage="input", message=message)
