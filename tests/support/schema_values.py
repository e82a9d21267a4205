"""Hypothesis: JSON values that are valid under a schema of the subset.

Strings follow the formats as people write them. No leap seconds and no year 0, which Python's
dates do not have; no hosts and mail addresses that only their libraries know to be wrong.
"""

from __future__ import annotations

import math
import re
from datetime import time, timedelta, timezone

from hypothesis import strategies as st

from intent_runtime.schema.native import NativeSchema
from intent_runtime.values import MAX_SAFE_INTEGER

ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | TEXT
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
FORMATS = {
    "date": st.dates().map(str),
    "time": st.builds(time.replace, st.times(), tzinfo=ZONES).map(time.isoformat),
    "date-time": st.datetimes(timezones=ZONES).map(lambda moment: moment.isoformat()),
    "duration": st.from_regex(
        r"P[0-9]{1,6}[YMWD]|PT[0-9]{1,6}[HMS]|P[0-9]{1,6}DT[0-9]{1,6}H[0-9]{1,6}M[0-9]{1,6}S"
        r"|P[0-9]{1,6}Y[0-9]{1,6}M[0-9]{1,6}D",
        fullmatch=True,
    ),
    "uuid": st.one_of(st.uuids(version=number) for number in (1, 3, 4, 5)).map(str),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "email": st.sampled_from(["ann@shop.example.com", "a.b+c@mail.example.org"]),
    "uri": st.sampled_from(["https://example.com/a?b#c", "urn:isbn:0", "file:///a", "mailto:a@b.c"]),
    "url": st.sampled_from(["http://example.com", "https://a.example.com:8/x?y", "ftp://a.com/"]),
    "regex": st.sampled_from(["^a+$", "[0-9]{2}"]),
}  # fmt: skip


def validity(schema):
    """The product's own validator for the values of a field with this schema."""
    native = NativeSchema({"type": "object", "properties": {"v": schema}})
    return lambda value: native.is_valid({"v": value})


def values(schema):
    """Values valid under `schema`, as strict JSON reads them: integral numbers are ints."""
    if schema is True or not schema:
        return ANYTHING
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            shared = {key: value for key, value in schema.items() if key != keyword}
            branches = [{**shared, **branch} for branch in schema[keyword]]
            drawn = st.one_of([values(branch) for branch in branches])
            return drawn.filter(validity(schema))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_KINDS[kind](schema) for kind in kinds])


def _strings(schema):
    if "format" in schema:
        drawn = FORMATS[schema["format"]]
    elif "pattern" in schema:
        drawn = st.from_regex(re.compile(schema["pattern"], re.ASCII))
    else:
        drawn = st.text(
            st.characters(exclude_categories=["Cs"]),
            min_size=schema.get("minLength", 0),
            max_size=schema.get("maxLength", 12),
        )
    return drawn.filter(validity(schema))


def _integers(schema):
    low = schema.get("minimum", -MAX_SAFE_INTEGER)
    high = schema.get("maximum", MAX_SAFE_INTEGER)
    step = schema.get("multipleOf", 1)
    low = max(low, schema.get("exclusiveMinimum", low - 1) + 1)
    high = min(high, schema.get("exclusiveMaximum", high + 1) - 1)
    return st.integers(math.ceil(low / step), high // step).map(lambda count: count * step)


def _numbers(schema):
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1e15))
    high = schema.get("maximum", schema.get("exclusiveMaximum", 1e15))
    step = schema.get("multipleOf")
    if step is None:
        drawn = st.floats(low, high)
    else:
        places = len(str(step).partition(".")[2])
        drawn = st.integers(math.ceil(low / step), math.floor(high / step)).map(
            lambda count: round(count * step, places)
        )
    whole = drawn.map(lambda number: int(number) if number == int(number) else number)
    return whole.filter(validity(schema))


def _arrays(schema):
    unique = repr if schema.get("uniqueItems") else None
    low, high = schema.get("minItems", 0), schema.get("maxItems", 3)
    items = values(schema.get("items", True))
    lists = st.lists(items, min_size=low, max_size=high, unique_by=unique)
    return lists.filter(validity(schema))


def _objects(schema):
    properties = schema.get("properties", {})
    needed = set(schema.get("required", ()))
    drawn = {name: values(child) for name, child in properties.items()}
    named = st.fixed_dictionaries(
        {name: drawn[name] for name in properties if name in needed},
        optional={name: drawn[name] for name in properties if name not in needed},
    )
    rest = schema.get("additionalProperties", True)
    if rest is False:
        return named
    foreign = TEXT.filter(lambda name: name not in properties)
    others = st.dictionaries(foreign, values(rest), max_size=2)
    return st.builds(lambda more, known: {**more, **known}, others, named)


_KINDS = {
    "null": lambda _: st.none(),
    "boolean": lambda _: st.booleans(),
    "string": _strings,
    "integer": _integers,
    "number": _numbers,
    "array": _arrays,
    "object": _objects,
}
