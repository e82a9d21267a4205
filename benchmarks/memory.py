"""Resident size over a million bridge cycles: `python benchmarks/memory.py [cycles]`."""

import sys
from pathlib import Path

from test_bridge import CORE, DATA, INPUT, SCHEMA, cycle

from intent_runtime import Intent
from intent_runtime.bridge import create_intent_bridge

WARM_UP = 10_000


def resident_kilobytes() -> int:
    """Linux only."""
    fields = Path("/proc/self/statm").read_text("ascii").split()
    return int(fields[1]) * 4


def main() -> None:
    """Print the resident size after the warm-up and its growth every tenth of the way."""
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with (
        Intent(schema=SCHEMA) as intent,
        create_intent_bridge(instances={"t": intent}) as bridge,
        bridge.connect() as session,
    ):
        start = 0
        for number in range(1, cycles + 1):
            cycle(session, "t", INPUT, [CORE, DATA])
            if number == WARM_UP:
                start = resident_kilobytes()
                print(f"after {WARM_UP:,} cycles: {start:,} KB")
            elif number % (cycles // 10) == 0:
                print(f"after {number:,}: {resident_kilobytes() - start:+,} KB", flush=True)


if __name__ == "__main__":
    main()
