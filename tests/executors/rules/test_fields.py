"""What the rules extract for a schema, and what they leave alone."""

import pytest

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}


NUMBER_OR_TEXT = {"anyOf": [NUMBER, TEXT | {"pattern": "^[0-9.]+$"}]}


def one_of(*values):
    return {"type": "string", "enum": list(values)}


@pytest.mark.parametrize(
    ("text", "name", "schema", "value"),
    [
        ("Look up order 000123", "orderId", TEXT, "000123"),
        ("查询订单 000123", "orderId", TEXT, "000123"),
        ("订单编号是 000123，请查询。", "订单编号", TEXT, "000123"),
        ("Show the user with the ID U123", "user_id", TEXT, "U123"),
        ("Show the user with ID 7890", "user_id", WHOLE, 7890),
        ("status of flight CA1234", "flight_number", TEXT, "CA1234"),
        ("Book for 5 people", "people", WHOLE, 5),
        ("a circle with a radius of 2.5", "radius", NUMBER, 2.5),
        ("with radius = -3", "radius", WHOLE, -3),
        ("price: 1,299.50", "price", NUMBER, 1299.5),
        ("a loan at an interest rate of 5%", "interest_rate", NUMBER, 0.05),
        ("population of 8.5 million", "population", WHOLE, 8_500_000),
        ("give me twenty-five items", "item_count", WHOLE, 25),
        ("１２３ 个订单", "count", WHOLE, 123),
        ("买三个苹果", "quantity", WHOLE, 3),
        ("订购二十三件商品", "quantity", WHOLE, 23),
        ("order 12 apples", "quantity", {"anyOf": [WHOLE, {"type": "null"}]}, 12),
        ("Refund, amount: 12.5", "amount", NUMBER_OR_TEXT, 12.5),
        ("退款，金额：12.5", "金额", {"anyOf": [NUMBER_OR_TEXT, {"type": "null"}]}, 12.5),
        ("turn it up to HIGH please", "level", one_of("low", "high"), "high"),
        ("cook it medium rare", "doneness", one_of("medium_rare", "well_done"), "medium_rare"),
        ("状态改为已发货", "status", one_of("已发货", "未发货"), "已发货"),
        ("Set priority to high, not low", "priority", one_of("high", "low"), "high"),
        ("switch my order from pizza to salad", "food", one_of("pizza", "salad"), "salad"),
        ("Remove the task", "action", one_of("add", "delete"), "delete"),
        ("include the details", "include_details", FLAG, True),
        ("without attachments", "include_attachments", FLAG, False),
        ("urgent: yes", "urgent", FLAG, True),
        ("mail it to a.b@example.com", "recipient", {**TEXT, "format": "email"}, "a.b@example.com"),
        ("fetch https://a.example/x?y=1.", "url", TEXT, "https://a.example/x?y=1"),
        ("ping 10.0.0.1", "ip", {**TEXT, "format": "ipv4"}, "10.0.0.1"),
        ("on March 5th, 2024", "date", {**TEXT, "format": "date"}, "2024-03-05"),
        ("预约 2024年3月5日", "date", {**TEXT, "format": "date"}, "2024-03-05"),
        ("on 2024-03-05T10:00:00Z", "at", {**TEXT, "format": "date-time"}, "2024-03-05T10:00:00Z"),
        ("weather in Boston", "city", TEXT, "Boston"),
        ("play the song 'Hey Jude'", "song_title", TEXT, "Hey Jude"),
        ("My name is Alice, show my orders", "user_name", TEXT, "Alice"),
        ("city: Berlin", "city", TEXT, "Berlin"),
        ("code ABC-12", "code", {**TEXT, "pattern": "^[A-Z]{3}-\\d{2}$"}, "ABC-12"),
        ("average of [1, 2.5, 4]", "numbers", {"type": "array", "items": NUMBER}, [1, 2.5, 4]),
        ("tags: urgent, billing", "tags", {"type": "array", "items": TEXT}, ["urgent", "billing"]),
        (
            "show price and rating",
            "parts",
            {"type": "array", "items": one_of("price", "rating", "stock")},
            ["price", "rating"],
        ),
    ],
)
def test_a_stated_value_is_extracted(extract, text, name, schema, value):
    candidate = extract(text, {name: schema}, [name])
    assert candidate["data"] == {name: value}
    assert [result["status"] for result in candidate["fieldResults"]] == ["extracted"]


@pytest.mark.parametrize(
    ("text", "name", "schema", "code"),
    [
        ("Look up it", "orderId", TEXT, "DATA_REQUIRED_MISSING"),
        ("Look up order 000123 and order 000124", "orderId", TEXT, "DATA_AMBIGUOUS"),
        ("high or low?", "priority", one_of("high", "low"), "DATA_AMBIGUOUS"),
        ("Meet on 03/04/2024", "date", {**TEXT, "format": "date"}, "DATA_REQUIRED_MISSING"),
        ("Meet on March 5th", "date", {**TEXT, "format": "date"}, "DATA_REQUIRED_MISSING"),
        ("order 12 apples", "quantity", {**WHOLE, "maximum": 10}, "DATA_REQUIRED_MISSING"),
        ("code ABC-12", "code", {**TEXT, "pattern": "^(a+)+$"}, "DATA_REQUIRED_MISSING"),
        ("today is 2024-05-06", "date", {**TEXT, "format": "date"}, "DATA_REQUIRED_MISSING"),
        (
            "fly to Boston",
            "place",
            {**TEXT, "description": "The place, in the format 'City, State'."},
            "DATA_REQUIRED_MISSING",
        ),
        (
            "the deadline is 2024-05-06",
            "deadline",
            {**TEXT, "description": "The deadline. It must be after the start."},
            "DATA_REQUIRED_MISSING",
        ),
    ],
)
def test_what_is_open_or_unfit_is_an_issue_and_never_a_value(extract, text, name, schema, code):
    candidate = extract(text, {name: schema}, [name])
    assert candidate["data"] == {}
    assert [issue["code"] for issue in candidate["issues"]] == [code]
    assert [result["status"] for result in candidate["fieldResults"]] == ["issue"]


def test_an_optional_field_nobody_speaks_of_is_left_out(extract):
    candidate = extract("Look up order 000123", {"limit": WHOLE, "verbose": FLAG})
    assert candidate["data"] == {}
    assert candidate["issues"] == []
    assert {result["status"] for result in candidate["fieldResults"]} == {"not_provided"}


@pytest.mark.parametrize(
    "schema",
    [
        {**TEXT, "description": "Use 'any' if not specified.", "default": "any"},
        {**TEXT, "description": "The color, such as 'red'.", "examples": ["red"]},
    ],
)
def test_defaults_and_examples_are_no_facts(extract, schema):
    assert extract("Paint the wall", {"color": schema})["data"] == {}


def test_numbers_go_to_the_fields_whose_words_stand_beside_them(extract):
    candidate = extract(
        "Predict the price of a house with 3 bedrooms, 2 bathrooms and an area of 1800",
        {"bathrooms": WHOLE, "area": WHOLE, "bedrooms": WHOLE},
    )
    assert candidate["data"] == {"bathrooms": 2, "area": 1800, "bedrooms": 3}


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("directions from Sydney to Melbourne", "Sydney", "Melbourne"),
        ("the distance between Oslo and Bergen", "Oslo", "Bergen"),
        ("从北京到上海的机票", "北京", "上海"),
    ],
)
def test_direction_tells_start_from_end(extract, text, start, end):
    candidate = extract(text, {"start_city": TEXT, "end_city": TEXT})
    assert candidate["data"] == {"start_city": start, "end_city": end}


def test_a_series_of_fields_takes_values_in_order(extract):
    candidate = extract(
        "Find the highest common factor of 36 and 24",
        {"number1": WHOLE, "number2": WHOLE},
        ["number1", "number2"],
    )
    assert candidate["data"] == {"number1": 36, "number2": 24}


def test_strings_equal_to_their_quote_are_exact_and_everything_else_is_semantic(extract):
    candidate = extract(
        "order id A-77, quantity: 3, color: RED",
        {"order_id": TEXT, "quantity": WHOLE, "color": one_of("red", "blue")},
    )
    modes = {entry["path"]: entry["mode"] for entry in candidate["evidence"]}
    assert modes == {
        "/data/order_id": "exact",
        "/data/quantity": "semantic",
        "/data/color": "semantic",
    }


def test_every_described_node_that_is_returned_gets_its_check(extract):
    customer = {
        "type": "object",
        "description": "Who buys.",
        "properties": {"email": {**TEXT, "format": "email", "description": "Where to write."}},
        "required": ["email"],
    }
    candidate = extract("mail a@b.example", {"customer": customer}, description="One sale.")
    assert candidate["data"] == {"customer": {"email": "a@b.example"}}
    checks = {check["path"]: check["verdict"] for check in candidate["descriptionChecks"]}
    assert checks == {
        "/data": "satisfied",
        "/data/customer": "satisfied",
        "/data/customer/email": "satisfied",
    }


def test_a_relation_between_returned_fields_stays_undetermined(extract):
    candidate = extract(
        "start date: 2024-01-02, end date: 2024-01-05",
        {"startDate": {**TEXT, "format": "date"}, "endDate": {**TEXT, "format": "date"}},
        description="The end date must be after the start date.",
    )
    assert [check["verdict"] for check in candidate["descriptionChecks"]] == ["undetermined"]


def test_an_object_is_omitted_when_a_member_it_needs_is_not_stated(extract):
    customer = {
        "type": "object",
        "properties": {"email": {**TEXT, "format": "email"}, "tier": one_of("gold", "basic")},
        "required": ["email", "tier"],
    }
    assert extract("mail a@b.example", {"customer": customer})["data"] == {}


class TestContext:
    @pytest.mark.parametrize("role", ["user", "background"])
    def test_a_labelled_fact_of_the_user_fills_what_the_input_leaves_open(self, extract, role):
        context = [(role, "My order number is 000123")]
        candidate = extract("Look it up", {"order_number": TEXT}, context=context)
        assert candidate["data"] == {"order_number": "000123"}
        assert candidate["evidence"][0]["sources"] == [{"sourceId": "context:0", "quote": "000123"}]

    def test_the_input_comes_first(self, extract):
        context = [("user", "order 1111")]
        assert extract("Look up order 2222", {"order_id": TEXT}, context=context)["data"] == {
            "order_id": "2222"
        }

    @pytest.mark.parametrize("role", ["assistant", "tool"])
    def test_replies_are_no_source_of_facts(self, extract, role):
        context = [(role, "My order number is 000123")]
        assert extract("Look it up", {"order_number": TEXT}, context=context)["data"] == {}


@pytest.mark.parametrize("name", ["a/b~c", "__proto__", "", "a.b"])
def test_any_field_name_gets_a_well_formed_path(extract, name):
    candidate = extract("nothing here", {name: TEXT}, [name])
    escaped = name.replace("~", "~0").replace("/", "~1")
    assert candidate["fieldResults"][0]["path"] == f"/data/{escaped}"


def test_explanations_follow_the_structured_language(extract):
    candidate = extract("查询", {"orderId": TEXT}, ["orderId"], language="zh-CN")
    assert "orderId" in candidate["issues"][0]["message"]
    assert "缺少" in candidate["issues"][0]["message"]


@pytest.mark.parametrize(
    ("text", "name", "schema"),
    [
        ("Look up order 000123 or 000124", "orderId", TEXT),
        ("Look up either order 000123 or 000124", "orderId", TEXT),
        ("Look up order A12, B34 and C56", "orderId", TEXT),
        ("Look up order 000123 and order 000124", "orderId", TEXT),
        ("查询订单 000123 或 000124", "orderId", TEXT),
        ("查询订单 000123、000124", "orderId", TEXT),
        ("查询订单 000123和000124", "orderId", TEXT),
        ("Book for 5 or 6 people", "people", WHOLE),
        ("weather in Paris or London", "city", TEXT),
    ],
)
def test_of_several_values_in_a_row_none_is_chosen(extract, text, name, schema):
    candidate = extract(text, {name: schema}, [name])
    assert candidate["data"] == {}
    assert [issue["code"] for issue in candidate["issues"]] == ["DATA_AMBIGUOUS"]


@pytest.mark.parametrize(
    ("text", "properties", "data"),
    [
        ("Look up order 000123 or cancel it", {"orderId": TEXT}, {"orderId": "000123"}),
        ("price between 5 and 10", {"min_price": WHOLE}, {"min_price": 5}),
        (
            "5 people and 3 rooms",
            {"people": WHOLE, "rooms": WHOLE},
            {"people": 5, "rooms": 3},
        ),
        ("weather in Paris, France", {"city": TEXT}, {"city": "Paris"}),
    ],
)
def test_a_neighbour_that_is_something_else_is_no_rival(extract, text, properties, data):
    assert extract(text, properties)["data"] == data
