"""One field of a given type, in each family of types, and what its schema becomes."""

from __future__ import annotations

import dataclasses
import enum

import msgspec
import pydantic
import pytest
from pydantic import create_model

from intent_runtime.schema.snapshot import snapshot_schema
from intent_runtime.typed import UnsupportedTypeError, schema_of
from intent_runtime.values import IntentLimits


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(enum.StrEnum):
    ONLY = "only"


class Mixed(enum.Enum):
    TEXT = "a"
    NUMBER = 1
    NOTHING = None


def model(kind, default=...):
    """A Pydantic model with the one field `v`."""
    return create_model("Model", v=(kind, default))


def plain(kind):
    """A dataclass with the one field `v`."""
    return dataclasses.make_dataclass("Plain", [("v", kind)])


def snapshot(kind):
    """The schema of a type after the usual checks."""
    return snapshot_schema(schema_of(kind), IntentLimits(max_schema_depth=64))


def field(kind):
    """The checked schema of the field `v`."""
    return snapshot(kind)["properties"]["v"]


def refusal(kind):
    with pytest.raises(UnsupportedTypeError) as caught:
        schema_of(kind)
    return str(caught.value)


def to_json(kind, value):
    """What the library of the type writes for a value of it, decoded."""
    if hasattr(kind, "__get_pydantic_core_schema__"):
        return msgspec.json.decode(pydantic.TypeAdapter(kind).dump_json(value, by_alias=True))
    return msgspec.json.decode(msgspec.json.encode(value))
