"""The rules executor on the real requests of the tests; a round is all of them."""

import json
from pathlib import Path

import pytest

from intent_runtime import Intent, IntentDataError
from intent_runtime.executors import RulesExecutor

DATA = Path(__file__).parents[1] / "tests" / "real" / "data"


def rows(name):
    lines = (DATA / name).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def tasks(stage):
    """One task of the stage for each labelled request."""
    seen = []

    class Recording(RulesExecutor):
        async def generate(self, request):
            if request.stage == stage:
                seen.append(request)
            return await super().generate(request)

    for row in rows("extraction.jsonl"):
        with Intent(schema=row["schema"], executor=Recording()) as intent:
            try:
                intent.parse_sync(row["input"])
            except IntentDataError:
                continue
    return seen


@pytest.mark.parametrize("stage", ["core", "data"])
def test_candidates_for_all_labelled_requests(benchmark, stage):
    requests = tasks(stage)
    executor = RulesExecutor()
    benchmark.extra_info["requests"] = len(requests)

    def write_all():
        for request in requests:
            executor.candidate(request)

    benchmark.pedantic(write_all, rounds=10, warmup_rounds=1)


def test_whole_parses_of_all_unlabelled_requests(benchmark):
    texts = [row["input"] for row in rows("requests.jsonl")]
    benchmark.extra_info["requests"] = len(texts)
    with Intent(executor=RulesExecutor()) as intent:

        def parse_all():
            for text in texts:
                intent.parse_sync(text)

        benchmark.pedantic(parse_all, rounds=10, warmup_rounds=1)
