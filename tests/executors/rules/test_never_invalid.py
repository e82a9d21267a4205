"""Whatever comes, the candidates of the rules pass the checks every model's candidates face."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from intent_runtime import Intent, IntentParseError
from intent_runtime.executors.rules.executor import RulesExecutor

# Seconds of generated texts and schemas.
pytestmark = pytest.mark.slow

WORDS = [
    *("order", "id", "000123", "user", "U7", "5", "3.5", "-2", "1,000", "50%", "$20", "in", "from"),
    *("Paris", "London", "to", "and", "not", "red", "blue", "2024-01-02", "03/04/2024", "3pm"),
    *("March 5th, 2024", "a@b.example", "http://a.example/x", "10.0.0.1", "'quoted words'", "true"),
    *(
        "delete",
        "don't",
        "if",
        "ask me first",
        "then",
        "please",
        "city:",
        "tags:",
        "=",
        ",",
        ".",
        "?",
    ),
    *(
        "查询",
        "订单",
        "三个",
        "不要",
        "如果",
        "确认后再",
        "然后",
        "从北京到上海",
        "，",
        "。",
        "把",
        "取消",
    ),
    *("\n", "\x00", "\u3000", "🙂", "e\u0301", "\u202e", "*", '"', "“", "~", "/", "million", "kg"),
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200),
).filter(lambda text: text.strip("\t\n\v\f\r \x85\xa0\u3000\u2028\u2029\ufeff"))

NAMES = st.sampled_from(
    [
        *("orderId", "user_id", "city", "start_city", "end_city", "date", "count", "price", "url"),
        *(
            "email",
            "include_details",
            "tags",
            "color",
            "number1",
            "number2",
            "a/b~c",
            "数量",
            "订单编号",
        ),
        *("name", "message", "year", "ip", "status", "", "location", "time"),
    ]
)
DESCRIPTIONS = st.sampled_from(
    [
        *(
            "The order.",
            " ",
            "Color, such as 'red' or 'blue'.",
            "In kilograms.",
            "Format YYYY-MM-DD.",
        ),
        *(
            "1 for red, 2 for blue",
            "Must be after the start.",
            "订单编号，保留前导零。",
            "In decimal form.",
        ),
    ]
)
STRINGS = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", ["string", "null"]])},
    optional={
        "format": st.sampled_from(
            ["date", "date-time", "time", "email", "uri", "ipv4", "uuid", "regex"]
        ),
        "minLength": st.integers(0, 5),
        "maxLength": st.integers(5, 20),
        "pattern": st.sampled_from(["^\\d+$", "[a-z]+", "^(a|b)*$", "\\s", "^.{2}$", "\\$"]),
    },
)
NUMBERS = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number", ["integer", "null"]])},
    optional={
        "minimum": st.integers(-5, 5),
        "exclusiveMaximum": st.integers(3, 2000),
        "multipleOf": st.sampled_from([1, 5, 0.5]),
    },
)
CHOICES = st.sampled_from(
    [
        {"enum": ["red", "blue"]},
        {"enum": ["RED", 5, None, True]},
        {"const": "red"},
        {"type": "integer", "enum": [1, 2, 5]},
        {"type": "string", "enum": ["a", "取消", "London"]},
        {"type": "boolean"},
        {"type": "null"},
        True,
        False,
        {},
    ]
)


def described(schemas):
    return st.builds(
        lambda schema, text: (
            {**schema, "description": text} if isinstance(schema, dict) and text else schema
        ),
        schemas,
        st.none() | DESCRIPTIONS,
    )


def containers(inner):
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": st.integers(0, 2), "uniqueItems": st.booleans()},
    )
    objects = st.dictionaries(NAMES, inner, max_size=4).flatmap(
        lambda members: st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.just(members)},
            optional={
                "required": st.lists(st.sampled_from(sorted(members)), unique=True)
                if members
                else st.just([]),
                "additionalProperties": st.booleans() | inner,
            },
        )
    )
    joined = st.builds(
        lambda keyword, branches: {keyword: branches},
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(inner, min_size=1, max_size=3),
    )
    negated = inner.map(lambda schema: {"not": schema})
    return described(st.one_of(lists, objects, joined, negated))


FIELDS = st.recursive(described(st.one_of(STRINGS, NUMBERS, CHOICES)), containers, max_leaves=6)
SCHEMAS = st.dictionaries(NAMES, FIELDS, min_size=1, max_size=6).flatmap(
    lambda properties: st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.just(properties)},
        optional={
            "required": st.lists(st.sampled_from(sorted(properties)), unique=True),
            "description": DESCRIPTIONS,
        },
    )
)


def failure_code(intent, text, **request):
    try:
        intent.parse_sync(text, **request)
    except IntentParseError as error:
        return error.code
    return None


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(TEXTS, SCHEMAS, st.sampled_from(["en", "zh-CN"]), st.none() | TEXTS)
def test_candidates_pass_every_check(text, schema, language, context):
    intent = Intent(language=language, schema=schema, executor=RulesExecutor(), repair_attempts=0)
    given_context = {} if context is None else {"context": [{"role": "user", "content": context}]}
    with intent:
        assert failure_code(intent, text, **given_context) in (None, "DATA_EXTRACTION_FAILED")


def repeated(unit, size=65_536):
    whole = unit * (size // len(unit.encode()) + 1)
    return whole.encode()[:size].decode(errors="ignore")


WIDE = {
    "type": "object",
    "description": "Everything.",
    "properties": {
        f"field{index}": {
            "type": ["string", "integer", "boolean", "array"][index % 4],
            "description": f"Thing {index}, such as 'foo' or 'bar'.",
            **({"items": {"enum": ["a", "b", "Paris", "red"]}} if index % 4 == 3 else {}),
        }
        for index in range(256)
    },
    "required": [f"field{index}" for index in range(250)],
}
LONG = {
    "commas": repeated(","),
    "words": repeated("a, "),
    "sentences": repeated("Send it to Bob in Paris, then delete 5 red files. "),
    "one word": repeated("x"),
    "digits": repeated("9"),
    "emoji": repeated("😀"),
    "right to left": repeated("مرحبا "),
    "combining marks": repeated("e\u0301"),
    "NUL": repeated("\x00", 20_000),
    "control characters in quotes": repeated("'\x01\x02' "),
    "Han": repeated("如果查询订单然后取消它，"),
    "open quotes": repeated("“"),
    "conditions": repeated("if x, "),
    "labels": repeated("field1: x, "),
    "names": repeated("Paris, "),
    "addresses": repeated("a@b.example "),
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_the_longest_inputs_still_give_valid_candidates_within_bounds(text):
    with Intent(schema=WIDE, executor=RulesExecutor(), repair_attempts=0) as intent:
        assert failure_code(intent, text) == "DATA_EXTRACTION_FAILED"
        assert failure_code(intent, text, fields=[]) is None


def test_many_choices_in_many_lists_stay_within_the_bounds_of_a_candidate():
    choices = [f"v{index}" for index in range(60)]
    properties = {
        f"list{index}": {"type": "array", "items": {"enum": choices}} for index in range(200)
    }
    schema = {"type": "object", "properties": properties}
    with Intent(schema=schema, executor=RulesExecutor(), repair_attempts=0) as intent:
        result = intent.parse_sync(" ".join(choices))
    assert 0 < len(result.data) < len(properties)


def test_long_field_names_stay_within_the_bounds_of_a_candidate():
    properties = {"n" * 1500 + str(index): {"type": "string"} for index in range(40)}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    with Intent(schema=schema, executor=RulesExecutor(), repair_attempts=0) as intent:
        assert failure_code(intent, "look up order 5") == "DATA_EXTRACTION_FAILED"


def test_the_same_task_always_gets_the_same_candidate(extract):
    def run():
        return json.dumps(extract("order 5 in Paris", {"order": {"type": "integer"}}))

    assert run() == run()
