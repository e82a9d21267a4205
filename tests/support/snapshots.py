"""Snapshots of schemas under given limits, and their refusals."""

import pytest

from intent_runtime.schema.snapshot import SchemaError, snapshot_schema
from intent_runtime.values import IntentLimits


def snap(schema, **limits):
    return snapshot_schema(schema, IntentLimits(**limits))


def with_field(schema):
    """The schema of an object whose one field has this schema."""
    return {"type": "object", "properties": {"v": schema}}


def field(schema, **limits):
    """The snapshot of one field's schema."""
    return snap(with_field(schema), **limits)["properties"]["v"]


def refusal(schema, **limits):
    with pytest.raises(SchemaError) as caught:
        snap(schema, **limits)
    return caught.value


def field_refusal(schema, **limits):
    return refusal(with_field(schema), **limits)
