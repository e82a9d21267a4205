"""The readable view of a result or an error, for people at a terminal."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from intent_runtime import Evidence, IntentItem, IntentParseError, IntentResult
from intent_runtime.pointer import escape

_STATUS_STYLE: Final = {
    "ready": "green",
    "needs_clarification": "yellow",
    "awaiting_confirmation": "yellow",
    "conditional": "cyan",
}
# Words of a user or a model must not steer the terminal: C0 and C1 controls but tab and newline.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show_result(result: IntentResult, console: Console | None = None) -> None:
    """Print a result: request, intents, limits, fields and the words they came from."""
    (console or Console()).print(render_result(result))


def show_error(error: IntentParseError, console: Console | None = None) -> None:
    """Print an error, its issues, and what was understood all the same."""
    parts: list[RenderableType] = [
        _line(("error ", "bold red"), (error.code, "bold"), f" ({error.stage})"),
        _line(error.message),
    ]
    parts += [
        _line("• ", (issue.code, "yellow"), f" {issue.path or 'request'}: {issue.message}")
        for issue in error.issues
    ]
    if error.partial_result is not None:
        parts += [_line(("Understood so far:", "bold")), render_result(error.partial_result)]
    (console or Console(stderr=True)).print(Group(*parts))


def render_result(result: IntentResult) -> RenderableType:
    """The whole view."""
    parts: list[RenderableType] = [
        _line(("request  ", "bold"), _one_line(result.input)),
        _line(("goal     ", "bold"), result.primary_intent or "none stated"),
    ]
    if not result.intents:
        parts.append(_line("Nothing is asked to be done."))
    parts += [_intent(item) for item in result.intents]
    parts += _list("requirements", result.requirements)
    parts += _list("prohibitions", result.prohibitions)
    if result.data:
        parts.append(_fields(result))
    return Padding(Group(*parts), (0, 0, 1, 0))


def _intent(item: IntentItem) -> RenderableType:
    lines: list[RenderableType] = [
        _line(
            (f"{item.id:<9}", "bold"),
            (item.action or "unknown action", "bold magenta"),
            f" {item.target or ''}  ",
            (item.status, _STATUS_STYLE[item.status]),
        )
    ]
    lines += [_detail(f"- {requirement}") for requirement in item.requirements]
    if item.reason:
        lines += [_detail(reason) for reason in item.reason.splitlines()]
    for question in item.clarification:
        options = f" ({' / '.join(question.options)})" if question.options else ""
        lines.append(_detail(f"? {question.question}{options}"))
    return Group(*lines)


def _detail(text: str) -> RenderableType:
    return Padding(_line(text), (0, 0, 0, 9))


def _list(title: str, entries: tuple[str, ...]) -> list[RenderableType]:
    if not entries:
        return []
    return [_line((title, "bold")), *(_detail(f"- {entry}") for entry in entries)]


def _fields(result: IntentResult) -> RenderableType:
    table = Table(title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("field", "value", "from"):
        table.add_column(heading, header_style="bold", overflow="fold")
    for name, value in result.data.items():
        quotes = _quotes(name, result.evidence)
        table.add_row(_line(name), _line(_compact(value)), _line(quotes))
    return table


def _quotes(name: str, evidence: tuple[Evidence, ...]) -> str:
    """The words behind a field, each once."""
    path = f"/data/{escape(name)}"
    quotes = {
        (source.quote, source.source_id): None
        for entry in evidence
        if entry.path == path or entry.path.startswith(path + "/")
        for source in entry.sources
    }
    return ", ".join(f"“{_one_line(quote)}” ({source})" for quote, source in quotes)


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _line(*parts: str | tuple[str, str]) -> Text:
    """A line of text and styled text, without control characters."""
    styled = ((part, "") if isinstance(part, str) else part for part in parts)
    return Text.assemble(*((_CONTROLS.sub("\ufffd", text), style) for text, style in styled))
