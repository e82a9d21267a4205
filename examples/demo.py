"""Recognise two requests, offline, and show what was understood: `make demo`."""

import json
from pathlib import Path

from intent_runtime import Intent
from intent_runtime.cli.view import show_result
from intent_runtime.executors import RulesExecutor

SCHEMA = json.loads((Path(__file__).parent / "order.schema.json").read_text("utf-8"))

REQUESTS = [
    ("en", "Look up order 000123 and send the details to li@example.com, but do not change it."),
    ("zh-CN", "查询订单 000123，不要修改它。"),
]

for language, request in REQUESTS:
    with Intent(language=language, schema=SCHEMA, executor=RulesExecutor()) as intent:
        show_result(intent.parse_sync(request))
