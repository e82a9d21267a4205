"""`intent-runtime mcp`, also `intent-runtime-mcp`: the MCP service (contract section 11)."""

from __future__ import annotations

import contextlib
import gc
import logging
import math
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

if TYPE_CHECKING:
    from intent_runtime.mcp.config import Configuration
    from intent_runtime.mcp.listen import Address
    from intent_runtime.mcp.stdio import Wire

_CAPACITY = click.IntRange(1, 2**31 - 1)
_HTTP_JOB_TTL_MS: Final = 3_600_000


@click.command(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  intent-runtime-mcp --config intents.toml
  intent-runtime-mcp --config intents.py --http 127.0.0.1:8080
  claude mcp add intent-runtime -- intent-runtime-mcp --config /path/to/intents.toml

\b
The configuration file is trusted. TOML and JSON hold data only:
  [instances.orders]
  language = "en"
  schemaFile = "order.schema.json"

\b
Exit status: 0 at the end of input or on a signal, 1 a wrong configuration,
2 wrong usage.""",
)
@click.option(
    "--config", "config_file", required=True, metavar="FILE", help="A .py, .toml or .json file."
)
@click.option("--http", metavar="HOST:PORT", help="Serve Streamable HTTP at /mcp instead of stdio.")
@click.option(
    "--token-file", metavar="FILE", help="HTTP: bearer tokens, a line NAME: TOKEN for each client."
)
@click.option(
    "--allow-anonymous",
    is_flag=True,
    help="HTTP: listen beyond this machine without tokens. Everybody shares one owner.",
)
@click.option(
    "--max-concurrent",
    type=_CAPACITY,
    default=64,
    show_default=True,
    help="HTTP: calls at once; 503 beyond.",
)
@click.option("--max-jobs", type=_CAPACITY, default=32, show_default=True, help="Active jobs.")
@click.option(
    "--max-replay-entries", type=_CAPACITY, default=128, show_default=True, help="Jobs kept."
)
@click.option(
    "--max-replay-bytes",
    type=_CAPACITY,
    default=8_388_608,
    show_default=True,
    help="Bytes kept for them.",
)
@click.option(
    "--job-ttl",
    type=click.FloatRange(0, 2_147_483),
    metavar="SECONDS",
    help="End idle jobs after so long, 0 for never. Default: never on stdio, 3600 on HTTP.",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="Standard error; never holds input, candidates, context or tokens.",
)
def mcp(
    config_file: str,
    http: str | None,
    token_file: str | None,
    allow_anonymous: bool,  # noqa: FBT001 - click passes options by name
    max_concurrent: int,
    job_ttl: float | None,
    log_level: str,
    **capacity: int,
) -> None:
    """Serve the tools intent_prepare, intent_accept and intent_cancel over MCP.

    A host's own model writes the candidates; this service checks them and keeps the jobs.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        # Until there is something to release, a signal just ends it.
        signal.signal(number, _leave_at_once)
    # Importing the SDK makes very many objects that stay: collecting meanwhile finds nothing.
    gc.disable()
    address = _address(http, token_file, allow_anonymous=allow_anonymous)
    if job_ttl is not None and math.isnan(job_ttl):
        raise click.BadParameter("must be a number", param_hint="--job-ttl")
    wire = _claim() if address is None else None
    _log_to_stderr(log_level)
    configuration = _configuration(Path(config_file))
    if job_ttl is None:
        capacity["job_ttl_ms"] = 0 if address is None else _HTTP_JOB_TTL_MS
    else:
        # Up, so that no wish for a limit becomes "never".
        capacity["job_ttl_ms"] = math.ceil(job_ttl * 1000)
    try:
        if address is None:
            assert wire is not None
            _serve_stdio(configuration, wire, capacity)
        else:
            _serve_http(configuration, address, token_file, max_concurrent, capacity)
    finally:
        for intent in configuration.owned:
            intent.dispose()
    _leave(0)


def _address(http: str | None, token_file: str | None, *, allow_anonymous: bool) -> Address | None:
    if http is None:
        if token_file is not None or allow_anonymous:
            raise click.UsageError("--token-file and --allow-anonymous go with --http")
        return None
    from intent_runtime.mcp.listen import read_address  # noqa: PLC0415 - on demand

    try:
        address = read_address(http)
    except ValueError as error:
        raise click.UsageError(f"--http {error}") from None
    if not address.is_loopback and token_file is None and not allow_anonymous:
        raise click.UsageError(
            f"--http {address.host} is reachable from other machines: give --token-file, "
            "or --allow-anonymous if that is meant"
        )
    return address


def _claim() -> Wire:
    """Take the protocol's descriptors before anything else runs that could write to them."""
    from intent_runtime.mcp.wire import claim_wire  # noqa: PLC0415 - the descriptors come first

    return claim_wire()


def _configuration(path: Path) -> Configuration:
    from intent_runtime.mcp.config import (  # noqa: PLC0415 - after the descriptors are claimed
        ConfigFileError,
        load_configuration,
    )

    try:
        return load_configuration(path)
    except ConfigFileError as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"intent-runtime-mcp: {message}\n")
        sys.stderr.flush()
    _leave(1)


def _leave(status: int) -> NoReturn:
    """End without waiting for threads that block on descriptors nobody will write to."""
    logging.shutdown()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    os._exit(status)


def _log_to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level.upper())
    # The SDK logs messages it cannot read, words of the user included.
    for name in ("mcp", "asyncio", "sse_starlette"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _leave_at_once(_signal: int, _frame: object) -> None:
    _leave(0)


def _imported() -> None:
    gc.freeze()
    gc.enable()


def _serve_stdio(configuration: Configuration, wire: Wire, capacity: dict[str, Any]) -> None:
    import asyncio  # noqa: PLC0415 - after the descriptors are claimed

    from intent_runtime.mcp.server import largest_message, serve_intent_mcp  # noqa: PLC0415
    from intent_runtime.mcp.stdio import stdio_transport  # noqa: PLC0415

    _imported()

    async def serve() -> None:
        transport = stdio_transport(wire, largest_message(configuration.instances))
        service = await serve_intent_mcp(
            instances=configuration.instances, transport=transport, **capacity
        )
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()

        def stop(_signal: int, _frame: object) -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(stopped.set)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        ended = loop.create_task(service.wait_closed())
        signalled = loop.create_task(stopped.wait())
        await asyncio.wait({ended, signalled}, return_when=asyncio.FIRST_COMPLETED)
        await service.close()
        await ended

    try:
        asyncio.run(serve())
    except Exception as error:  # noqa: BLE001 - told in one line without its text
        _fail(f"the service broke down: {type(error).__name__}")


def _serve_http(
    configuration: Configuration,
    address: Address,
    token_file: str | None,
    max_concurrent: int,
    capacity: dict[str, Any],
) -> None:
    from intent_runtime.bridge import create_intent_bridge  # noqa: PLC0415 - after the claim
    from intent_runtime.mcp.http import http_app, http_server  # noqa: PLC0415
    from intent_runtime.mcp.listen import (  # noqa: PLC0415
        TokenFileError,
        listening_sockets,
        read_token_file,
    )
    from intent_runtime.mcp.server import largest_message  # noqa: PLC0415

    _imported()
    try:
        tokens = read_token_file(Path(token_file)) if token_file is not None else {}
        sockets = listening_sockets(address)
    except TokenFileError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"cannot listen on {address.host}:{address.port}: {error.strerror}")
    with create_intent_bridge(instances=configuration.instances, **capacity) as bridge:
        app = http_app(
            bridge,
            address,
            tokens=tokens,
            max_concurrent=max_concurrent,
            max_body=largest_message(configuration.instances),
        )
        http_server(app).run(sockets=sockets)


def main() -> None:
    """The `intent-runtime-mcp` command."""
    mcp(prog_name="intent-runtime-mcp")
