"""The two pure functions behind short calls."""

import pytest

from intent_runtime.executors.rules import core_candidate, data_candidate


@pytest.fixture
def read():
    """The core candidate for a text."""

    def call(text, language="en"):
        return core_candidate({"structuredLanguage": language, "currentInput": text, "context": []})

    return call


@pytest.fixture
def extract():
    """The data candidate for a text and some properties."""

    def call(text, properties, required=(), *, context=(), language="en", description=None):
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(required),
            "additionalProperties": False,
        }
        sources = [
            {"sourceId": f"context:{index}", "role": role, "content": content}
            for index, (role, content) in enumerate(context)
        ]
        reference = schema if description is None else {**schema, "description": description}
        return data_candidate(
            {
                "structuredLanguage": language,
                "currentInput": text,
                "context": sources,
                "schemaReference": reference,
                "selectedSchema": schema,
                "selectedFields": list(properties),
            }
        )

    return call
