"""`intent-runtime`: the commands and what they print."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any, Final, NoReturn, TextIO

import click

from intent_runtime import Intent, IntentParseError, IntentResult, __version__
from intent_runtime.cli.serve import mcp

EXIT_RECOGNITION_ERROR: Final = 1


def main() -> None:
    """The `intent-runtime` command: UTF-8 everywhere, and never a traceback for a lost stream."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            errors = "surrogateescape" if stream is sys.stdin else "replace"
            reconfigure(encoding="utf-8", errors=errors)
    try:
        commands(standalone_mode=True)
    except OSError as error:
        _leave(error)
    finally:
        # Flushed here, where an error can still be told; a pipe closed by its reader is none.
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None:
                    stream.flush()
            except OSError as error:
                _leave(error)


def _leave(error: OSError) -> NoReturn:
    """End with one line instead of a traceback; nothing more can be written to standard output."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"intent-runtime: cannot write the output: {error.strerror}\n")
        sys.stderr.flush()
    # Not sys.exit: the interpreter would try to flush the broken stream once more.
    os._exit(EXIT_RECOGNITION_ERROR)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="intent-runtime %(version)s")
def commands() -> None:
    """Turn a user's request into checked, structured intent.

    Every value is grounded in words of the request; what is missing is reported, not invented.
    Nothing is executed.
    """


@commands.command(
    epilog="""\b
Examples:
  intent-runtime parse "Look up order 000123"
  intent-runtime parse "查询订单 000123" --schema order.schema.json --json
  cat mail.txt | intent-runtime parse - --context thread.json --language de

\b
Exit status: 0 a result, 1 a recognition error, 2 wrong usage."""
)
@click.argument("text")
@click.option(
    "--schema",
    "schema_file",
    metavar="FILE",
    help="JSON Schema (Draft-7 subset) of the business fields to extract.",
)
@click.option(
    "--fields",
    metavar="A,B",
    help="Only these fields of the schema; an empty list extracts none. Default: all.",
)
@click.option(
    "--context",
    "context_file",
    metavar="FILE",
    help="Earlier material: plain text, or a JSON list of {role, content} messages.",
)
@click.option(
    "--language", metavar="TAG", help="BCP 47 tag for explanations and questions. Default: en."
)
@click.option(
    "--executor",
    type=click.Choice(["rules"]),
    help="Who reads the request. rules: offline, no model (the default).",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print exactly the result JSON, or the error JSON. Default when not on a terminal.",
)
def parse(
    text: str,
    schema_file: str | None,
    fields: str | None,
    context_file: str | None,
    language: str | None,
    executor: str | None,
    as_json: bool,  # noqa: FBT001 - click passes options by name
) -> None:
    """Recognise one request. TEXT is the request, or - to read it from standard input."""
    config: dict[str, Any] = {}
    request: dict[str, Any] = {"input": _read_stdin() if text == "-" else _as_utf8(text)}
    if schema_file is not None:
        config["schema"] = _read_json(schema_file, "--schema")
    if language is not None:
        config["language"] = language
    if fields is not None:
        request["fields"] = [name.strip() for name in fields.split(",") if name.strip()]
    if context_file is not None:
        request["context"] = _read_context(context_file)
    if executor is None:
        click.echo("Using the offline rules executor (--executor rules).", err=True)
    as_json = as_json or not _is_terminal(sys.stdout)
    try:
        result = _recognise(config, request)
    except IntentParseError as error:
        _fail(error, as_json=as_json)
    if as_json:
        click.echo(result.to_json())
        return
    from intent_runtime.cli.view import show_result  # noqa: PLC0415 - rich only for a terminal

    show_result(result)


commands.add_command(mcp)


def _recognise(config: dict[str, Any], request: dict[str, Any]) -> IntentResult:
    from intent_runtime.driver import run_synchronously  # noqa: PLC0415 - asyncio on demand
    from intent_runtime.executors import RulesExecutor  # noqa: PLC0415 - not for --help

    with Intent.from_config({**config, "executor": RulesExecutor()}) as intent:
        return run_synchronously(intent.parse_request(request))


def _fail(error: IntentParseError, *, as_json: bool) -> NoReturn:
    if as_json:
        click.echo(error.to_json())
    else:
        from intent_runtime.cli.view import show_error  # noqa: PLC0415 - rich only for a terminal

        show_error(error)
    sys.exit(EXIT_RECOGNITION_ERROR)


def _read_stdin() -> str:
    if sys.stdin is None:
        raise click.UsageError("-: standard input is closed")
    try:
        return sys.stdin.read()
    except OSError as error:
        raise click.UsageError(f"-: cannot read standard input: {error.strerror}") from None


def _as_utf8(argument: str) -> str:
    """An argument as UTF-8, also where the locale made Python read it as something else."""
    if os.name == "nt" or argument.isascii():
        return argument
    return os.fsencode(argument).decode("utf-8", "surrogateescape")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _read_file(path: str, option: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise click.UsageError(f"{option}: cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{option}: {path} is not UTF-8 text") from None


def _read_json(path: str, option: str) -> Any:
    text = _read_file(path, option)
    try:
        return json.loads(text)
    except RecursionError:
        raise click.UsageError(f"{option}: {path} is nested too deeply") from None
    except ValueError as error:
        raise click.UsageError(f"{option}: {path} is not JSON: {error}") from None


def _read_context(path: str) -> Any:
    """A JSON list is messages; everything else is background text."""
    text = _read_file(path, "--context")
    if text.lstrip().startswith("["):
        try:
            messages = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(messages, list):
            return messages
    return text
