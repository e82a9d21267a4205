"""A Pydantic model as the schema: typed fields in, a typed object out.

python examples/pydantic_schema.py                          offline, with the rules executor
python examples/pydantic_schema.py openai MODEL TEXT --key-file key.txt
"""

import sys
from datetime import date
from decimal import Decimal
from enum import StrEnum

from api import executor_from_arguments, read_arguments
from pydantic import BaseModel, Field

from intent_runtime import Intent, IntentDataError
from intent_runtime.executors import RulesExecutor

TEXT = "Book a meeting room for 12 people on 2026-12-24, projector: yes, budget 99.50"


class Equipment(StrEnum):
    """What a room may have."""

    PROJECTOR = "projector"
    WHITEBOARD = "whiteboard"


class Booking(BaseModel):
    """A meeting room to be booked."""

    people: int = Field(ge=1, le=500, description="How many people will come.")
    day: date = Field(alias="date", description="Day of the meeting.")
    budget: Decimal | None = Field(default=None, description="Most it may cost.")
    equipment: set[Equipment] = Field(default_factory=set, description="Equipment asked for.")


def main() -> None:
    """Parse and show the typed object, or what is missing."""
    offline = len(sys.argv) == 1
    arguments = None if offline else read_arguments()
    executor = executor_from_arguments(arguments) if arguments else RulesExecutor()
    text = arguments.text if arguments else TEXT
    with Intent(schema=Booking, executor=executor) as intent:
        try:
            booking = intent.parse_sync(text).data_as(Booking)
        except IntentDataError as error:
            sys.exit("\n".join(f"{issue.path}: {issue.message}" for issue in error.issues))
    print(repr(booking))


if __name__ == "__main__":
    main()
