"""Data candidates to start from, and their review (contract section 8.3)."""

from __future__ import annotations

from intent_runtime.candidate.data import DataReview, Material
from intent_runtime.errors import DATA_ISSUE_CATEGORIES
from intent_runtime.schema.selection import Selections
from intent_runtime.values import DEFAULT_LIMITS

SCHEMA = {
    "type": "object",
    "properties": {
        "orderId": {"type": "string", "description": "verbatim"},
        "items": {"type": "array", "items": {"type": "object"}},
        "a/b": {"type": "integer"},
        "备注": {"type": "string"},
    },
    "required": ["orderId"],
}
TEXTS = {"input": "订单 000123: 2 x AB-1, 备注 加急", "context:0": "no. 7"}
MISSING = object()


def source(quote="000123"):
    return {"sourceId": "input", "quote": quote}


def evidence(path="/data/orderId", mode="exact", quote="000123", **changes):
    return {"path": path, "mode": mode, "sources": [source(quote)], **changes}


def check(path="/data/orderId", verdict="satisfied", **changes):
    return {
        "path": path,
        "verdict": verdict,
        "explanation": "如文所述",
        "sources": [source()],
        **changes,
    }


def result(path, status, **changes):
    return {"path": path, "status": status, "explanation": "as stated", **changes}


def issue(path="/data/orderId", code="DATA_AMBIGUOUS", **changes):
    category = DATA_ISSUE_CATEGORIES.get(code, "processing")
    return {"code": code, "category": category, "path": path, "message": "请说明订单号", **changes}


def candidate(**changes):
    value = {
        "data": {"orderId": "000123", "items": [{"sku": "AB-1", "qty": 2, "tags": []}]},
        "evidence": [
            evidence(),
            evidence("/data/items/0/sku", quote="AB-1"),
            evidence("/data/items/0/qty", "semantic", quote="2 x"),
            evidence("/data/items/0/tags", "semantic", quote="AB-1"),
        ],
        "descriptionChecks": [check()],
        "fieldResults": [
            result("/data/orderId", "extracted"),
            result("/data/items", "extracted"),
            result("/data/a~1b", "not_provided"),
            result("/data/备注", "not_applicable"),
        ],
        "issues": [],
    }
    value.update(changes)
    return {key: member for key, member in value.items() if member is not MISSING}


def review(value, *, fields=None, limits=DEFAULT_LIMITS, root_described=False):
    projection = Selections(SCHEMA, 8).projection(fields or tuple(SCHEMA["properties"]))
    return DataReview.of(value, Material(TEXTS, projection, root_described), limits)


def paths(value, **options):
    return [finding.path for finding in review(value, **options).findings.kept]


def only(name, value, quote="000123", **changes):
    """A candidate for one field, `备注` (optional) or `orderId` (required)."""
    path = f"/data/{name}"
    entries = {
        "data": {name: value},
        "evidence": [evidence(path, "semantic", quote)],
        "descriptionChecks": [],
        "fieldResults": [result(path, "extracted")],
    }
    return candidate(**{**entries, **changes})
