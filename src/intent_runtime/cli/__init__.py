"""The command line. The only place that wires everything."""

from intent_runtime.cli.commands import main

__all__ = ["main"]
