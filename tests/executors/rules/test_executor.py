"""The executor around the rules (contract section 9)."""

import asyncio
import json

import pytest

from intent_runtime import Intent
from intent_runtime.executors import RulesExecutor


def actions(executor, text):
    with Intent(executor=executor) as intent:
        return [item.action for item in intent.parse_sync(text).intents]


def test_requests_in_other_languages_than_those_chosen_are_asked_about():
    assert actions(RulesExecutor(), "查询订单 000123") == ["query"]
    assert actions(RulesExecutor(languages=("en",)), "查询订单 000123") == [None]
    assert actions(RulesExecutor(languages=("zh",)), "Look up order 000123") == [None]
    assert actions(RulesExecutor(languages=["zh"]), "查询订单 000123") == ["query"]


@pytest.mark.parametrize("languages", [(), ("de",), "en", ("en", "xx")])
def test_other_languages_are_refused(languages):
    with pytest.raises(ValueError, match="en, zh"):
        RulesExecutor(languages=languages)


def test_the_same_task_gives_the_same_candidate():
    with Intent() as intent:
        task = intent.engine.definition.begin(
            {"input": "Look up order 000123, then delete it."}
        ).task()
    texts = {asyncio.run(RulesExecutor().generate(task)).text for _ in range(3)}
    assert texts == {RulesExecutor().candidate(task)}
    assert len(json.loads(texts.pop())["intents"]) == 2
