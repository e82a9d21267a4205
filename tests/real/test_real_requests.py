"""The rules executor on requests of real users: never broken, always grounded, mostly right."""

import asyncio
import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from intent_runtime import Intent, IntentDataError, IntentLimits
from intent_runtime.executors import RulesExecutor
from intent_runtime.pointer import escape
from support.json_values import members

DATA = Path(__file__).parent / "data"
LEFT_OUT = ""
# A budget for the native validator on a busy machine; how fast it is, is measured elsewhere.
LIMITS = IntentLimits(max_validation_ms=60_000)


def read(name):
    lines = (DATA / name).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


REQUESTS = read("requests.jsonl")
EXTRACTIONS = read("extraction.jsonl")


def intent_for(row):
    # Without repairs an invalid candidate ends in MODEL_OUTPUT_INVALID instead of a second try.
    schema = row.get("schema")
    return Intent(schema=schema, executor=RulesExecutor(), repair_attempts=0, limits=LIMITS)


def leaves(value, path):
    """The paths of leaves and empty containers: what needs evidence."""
    below = [
        leaf
        for key, child in members(value)
        for leaf in leaves(child, f"{path}/{escape(str(key))}")
    ]
    return below or [path]


def assert_grounded(result, text):
    assert result.input == text
    paths = [entry.path for entry in result.evidence]
    needed = leaves(result.data, "/data") if result.data else []
    assert sorted(paths) == sorted(set(paths))
    assert set(needed) <= set(paths)
    for entry in result.evidence:
        assert entry.sources
        for source in entry.sources:
            assert source.source_id == "input"
            assert source.quote
            assert source.quote in text


@pytest.mark.parametrize("row", REQUESTS, ids=[row["id"] for row in REQUESTS])
def test_an_unlabelled_request_is_read_without_an_error(row):
    with intent_for(row) as intent:
        result = intent.parse_sync(row["input"])
    assert_grounded(result, row["input"])
    assert all(
        item.status != "needs_clarification" or item.clarification for item in result.intents
    )


class Outcome(NamedTuple):
    row: dict
    data: dict


def parsed(row):
    """The result, or the data error that a business gap ends in; any other error is ours."""
    with intent_for(row) as intent:
        try:
            return asyncio.run(intent.parse(row["input"]))
        except IntentDataError as error:
            return error


def extract(row):
    """What was returned, grounded; nothing when business gaps end the parse."""
    outcome = parsed(row)
    if isinstance(outcome, IntentDataError):
        assert outcome.issues
        assert outcome.partial_result.data == {}
        return Outcome(row, {})
    assert_grounded(outcome, row["input"])
    return Outcome(row, outcome.data)


@pytest.fixture(scope="module")
def outcomes():
    return [extract(row) for row in EXTRACTIONS]


def plain(value):
    """Values compare without case, and numbers by value."""
    if isinstance(value, str):
        return value.casefold()
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    return (type(value) is bool, value)


def is_right(value, accepted):
    return any(fits(value, wanted) for wanted in accepted)


def fits(value, wanted):
    """An accepted object lists the accepted values of each of its members."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        return all(
            is_right(value[name], choices) if name in value else LEFT_OUT in choices
            for name, choices in wanted.items()
            if isinstance(choices, list)
        )
    return plain(value) == plain(wanted)


def stands_in(text, accepted):
    """Whether an accepted value stands in the request as it is; 5 does not stand in 15."""
    for value in accepted:
        if isinstance(value, str) and value and value.casefold() in text.casefold():
            return True
        if type(value) in (int, float) and re.search(
            rf"(?<![\w.]){re.escape(str(value))}(?!\w)", text
        ):
            return True
    return False


@pytest.mark.slow
def test_extraction_never_breaks_and_is_always_grounded(outcomes):
    assert len(outcomes) == len(EXTRACTIONS)


@pytest.mark.slow
def test_extracted_values_are_right_and_many_are_found(outcomes, capsys):
    right = wrong = missed = elsewhere = 0
    for row, data in outcomes:
        elsewhere += len(data.keys() - row["accepted"].keys())
        for name, accepted in row["accepted"].items():
            hit = name in data and is_right(data[name], accepted)
            if not stands_in(row["input"], accepted):
                elsewhere += name in data and not hit
            elif name in data:
                right, wrong = right + hit, wrong + (not hit)
            elif LEFT_OUT not in accepted:
                missed += 1
    precision = right / (right + wrong)
    recall = right / (right + wrong + missed)
    with capsys.disabled():
        print(  # noqa: T201 - the numbers are what this test is read for
            f"\nreal requests, values that stand in them: {right} right, {wrong} wrong, "
            f"{missed} missed; precision {precision:.3f}, recall {recall:.3f} "
            f"({elsewhere} values differ where the accepted one does not stand in the request)"
        )
    assert precision >= 0.90
    assert recall >= 0.40
