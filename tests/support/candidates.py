"""Candidates that hold, for `Look up order 000123` and `查询订单 000123`."""

import json

SCHEMA = {"type": "object", "properties": {"orderId": {"type": "string"}}, "required": ["orderId"]}


def core_candidate(**changes):
    blockers = {
        "clarificationReason": None,
        "questions": [],
        "confirmationReason": None,
        "conditionReason": None,
    }
    intent = {
        "action": "query",
        "target": "order 000123",
        "requirements": [],
        "blockers": blockers,
    }
    core = {
        "normalizedInput": "Look up order 000123",
        "primaryIntent": "look up an order",
        "requirements": [],
        "prohibitions": [],
        "intents": [intent],
    }
    return json.dumps(core | changes, ensure_ascii=False)


def data_candidate(value="000123", name="orderId"):
    source = {"sourceId": "input", "quote": value}
    return json.dumps(
        {
            "data": {name: value},
            "evidence": [{"path": f"/data/{name}", "mode": "exact", "sources": [source]}],
            "descriptionChecks": [],
            "fieldResults": [{"path": f"/data/{name}", "status": "extracted", "explanation": "-"}],
            "issues": [],
        }
    )
