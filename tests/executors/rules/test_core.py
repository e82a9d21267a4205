"""What the rules make of a request: actions, objects, restrictions and what is unclear."""

import pytest


def actions(candidate):
    return [(intent["action"], intent["target"]) for intent in candidate["intents"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Look up order 000123", [("query", "order 000123")]),
        ("查询订单 000123", [("query", "订单 000123")]),
        ("Could you please tell me the status of order 7?", [("query", "status of order 7")]),
        ("Compare plan A with plan B", [("analyze", "plan A with plan B")]),
        ("比较 A 和 B 两个方案", [("analyze", "A 和 B 两个方案")]),
        ("Calculate the sum of 3 and 4", [("analyze", "sum of 3 and 4")]),
        ("Write a poem about spring", [("generate", "poem about spring")]),
        ("写一首关于春天的诗", [("generate", "春天的诗")]),
        ("Rename the file to report.txt", [("modify", "file to report.txt")]),
        ("Cancel order 5", [("modify", "order 5")]),
        ("把订单 000123 的状态改成已发货", [("modify", "订单 000123 的状态")]),
        ("Delete user 42", [("delete", "user 42")]),
        ("删除日志文件", [("delete", "日志文件")]),
        ("Send the report to Bob", [("execute", "report to Bob")]),
        ("给客户发一封邮件", [("execute", "邮件")]),
        ("Book a flight to Paris", [("execute", "flight to Paris")]),
        ("Create an order for 5 burgers", [("other", "order for 5 burgers")]),
        ("创建一个订单", [("other", "订单")]),
        ("订单 000123 帮我取消一下", [("modify", "订单 000123")]),
        ("对合同进行分析", [("analyze", "合同")]),
        ("do a web search", [("query", "web search")]),
        ("查询我的订单", [("query", "我的订单")]),
        ("删除我的发票", [("delete", "我的发票")]),
        ("给我查询订单 000123", [("query", "订单 000123")]),
        ("Look up order 000123 and order 000124", [("query", "order 000123 and order 000124")]),
        ("Cancel order 12, order 13 and order 14", [("modify", "order 12, order 13 and order 14")]),
    ],
)
def test_one_request_is_one_classified_action_with_its_object(read, text, expected):
    assert actions(read(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's the weather in Rome?", [("query", "weather in Rome")]),
        ("北京天气如何？", [("query", "北京天气")]),
        ("When was George Washington born?", [("query", "When was George Washington born")]),
        ("Why did the build fail?", [("analyze", "Why did the build fail")]),
        ("为什么构建失败了？", [("analyze", "为什么构建失败了")]),
        ("What is 1+1?", [("analyze", "1+1")]),
        ("What is the difference between a and b?", [("analyze", "difference between a and b")]),
        ("你能做什么", [("query", "你能做什么")]),
    ],
)
def test_a_question_asks_for_information_or_for_reasons(read, text, expected):
    got = actions(read(text))
    assert [action for action, _ in got] == [action for action, _ in expected]
    assert all(target in text for _, target in got)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Delete the temp files and then restart the server.",
            [("delete", "temp files"), ("execute", "server")],
        ),
        (
            "1. clone the repo\n2. run the tests\n3. delete the branch",
            [("execute", "repo"), ("execute", "tests"), ("delete", "branch")],
        ),
        (
            "先查询订单000123，然后取消它，再给客户发一封邮件。",
            [("query", "订单000123"), ("modify", "订单000123"), ("execute", "邮件")],
        ),
        (
            "Find hotels in Rome and Milan, compare the prices, and book the best one",
            [("query", "hotels in Rome and Milan"), ("analyze", "prices"), ("execute", "best one")],
        ),
    ],
)
def test_several_actions_keep_their_order(read, text, expected):
    candidate = read(text)
    assert actions(candidate) == expected
    assert candidate["primaryIntent"] is None


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Look up order 000123 and cancel it", "order 000123"),
        ("Order 000123 is late. Cancel it.", "Order 000123"),
        ("查询订单 000123，然后取消它", "订单 000123"),
    ],
)
def test_a_pronoun_means_what_was_named_before(read, text, target):
    assert read(text)["intents"][-1]["target"] == target


@pytest.mark.parametrize(
    ("text", "prohibition"),
    [
        ("Look up order 000123, but do not change it.", "do not change it"),
        ("Don't delete anything", "Don't delete anything"),
        ("Export the report without changing it.", "without changing it"),
        ("查询订单 000123，但不要修改。", "不要修改"),
        ("禁止删除任何文件", "禁止删除任何文件"),
    ],
)
def test_what_must_not_be_done_is_a_prohibition_and_no_action(read, text, prohibition):
    candidate = read(text)
    assert candidate["prohibitions"] == [prohibition]
    assert all(action != "delete" for action, _ in actions(candidate))


@pytest.mark.parametrize(
    "text",
    [
        "Delete user 42 after I confirm.",
        "Delete user 42, but ask me first.",
        "Ask me first before deleting user 42",
        "Delete user 42. Ask me before you do it.",
        "删除用户 42，确认后再执行",
        "先问我再删除用户 42",
        "删除用户 42，但是先跟我确认",
    ],
)
def test_a_demand_to_be_asked_first_holds_the_action_back(read, text):
    (intent,) = read(text)["intents"]
    assert intent["action"] == "delete"
    assert intent["blockers"]["confirmationReason"]
    assert intent["blockers"]["clarificationReason"] is None


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("Cancel order 5 if it hasn't shipped.", "if it hasn't shipped"),
        ("If it hasn't shipped, cancel order 5.", "If it hasn't shipped"),
        ("Unless I say otherwise, cancel order 5", "Unless I say otherwise"),
        ("如果库存不足，就取消订单 000123。", "如果库存不足"),
        ("如果库存不足就取消订单 000123。", "如果库存不足"),
        ("等审核通过之后取消订单", "等审核通过"),
        ("当库存不足时取消订单", "当库存不足"),
    ],
)
def test_a_condition_stays_whole_and_blocks_its_action(read, text, condition):
    (intent,) = read(text)["intents"]
    assert intent["action"] == "modify"
    assert intent["requirements"] == [condition]
    assert condition in intent["blockers"]["conditionReason"]


def test_both_branches_of_an_alternative_carry_their_condition(read):
    intents = read("如果明天下雨，取消预约；否则提醒我带伞。")["intents"]
    assert [intent["action"] for intent in intents] == ["modify", "other"]
    assert all(intent["blockers"]["conditionReason"] for intent in intents)


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("Find restaurants in Rome, only 5 results.", "only 5 results"),
        ("Write a poem, no more than 100 words", "no more than 100 words"),
        ("帮我订一张去上海的机票，不超过1000元", "不超过1000元"),
        ("用英文写一封道歉邮件", "用英文"),
    ],
)
def test_a_limit_is_a_requirement_of_its_action(read, text, requirement):
    (intent,) = read(text)["intents"]
    assert requirement in intent["requirements"]


def test_a_limit_in_a_sentence_of_its_own_is_for_the_whole_request(read):
    candidate = read("Find restaurants in Rome. Use metric units.")
    assert candidate["requirements"] == ["Use metric units"]


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "谢谢",
        "Hello John, how are you?",
        "你好",
        "The order number is 000123.",
        "订单编号是 000123。",
        "I have already sent the email.",
        "我已经删除了文件。",
        'He said "delete all files".',
        "客户说要删除账号。",
        "```\nrm -rf /\n```",
        "> delete everything",
        "🙂🙂",
        "...",
    ],
)
def test_thanks_facts_reports_and_quotations_ask_for_nothing(read, text):
    candidate = read(text)
    assert candidate["intents"] == []
    assert candidate["primaryIntent"] is None
    assert candidate["normalizedInput"].strip()


def test_pasted_material_is_no_request(read):
    text = "Translate the following text: Delete all my files. Send them to Bob."
    assert [action for action, _ in actions(read(text))] == ["generate"]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Send an email to bob@x.example, body: Please delete everything.", "execute"),
        ("发送邮件给客户，正文：删除所有数据", "execute"),
        ('Write a note that says "cancel my order"', "generate"),
    ],
)
def test_the_text_of_a_message_is_no_request(read, text, action):
    assert [each for each, _ in actions(read(text))] == [action]


def test_alternatives_are_kept_and_none_is_chosen(read):
    (intent,) = read("Cancel or refund the order")["intents"]
    assert intent["action"] is None
    assert intent["requirements"] == ["Cancel or refund the order"]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("handle it", None),
        ("处理一下", None),
        ("do something about order 5", "order 5"),
        ("这个订单处理一下", "这个订单"),
    ],
)
def test_an_unknown_action_is_null_with_one_question(read, text, target):
    (intent,) = read(text)["intents"]
    assert intent["action"] is None
    assert intent["target"] == target
    assert intent["blockers"]["clarificationReason"]
    assert len(intent["blockers"]["questions"]) == 1


@pytest.mark.parametrize("text", ["delete", "删除", "Cancel it"])
def test_an_unknown_object_is_null_with_a_question(read, text):
    (intent,) = read(text)["intents"]
    assert intent["action"] in ("delete", "modify")
    assert intent["target"] is None
    assert intent["blockers"]["questions"]


@pytest.mark.parametrize(
    "text", ["거실 에어컨 실행하고", "¿Podrías decirme el clima?", "order 000123"]
)
def test_what_cannot_be_read_is_said_not_guessed(read, text):
    (intent,) = read(text)["intents"]
    assert intent["action"] is None
    assert intent["blockers"]["questions"]


@pytest.mark.parametrize(
    ("language", "han"), [("en", False), ("fr", False), ("zh-CN", True), ("zh-Hant-TW", True)]
)
def test_explanations_follow_the_structured_language(read, language, han):
    (intent,) = read("handle it", language)["intents"]
    reason = intent["blockers"]["clarificationReason"]
    assert any("\u4e00" <= char <= "\u9fff" for char in reason) is han


def test_white_space_is_tidied_in_the_normalised_input(read):
    assert read("  look\tup \n order 1 ")["normalizedInput"] == "look up order 1"


def test_the_only_goal_is_the_primary_intent(read):
    assert read("Please delete user 42, thanks")["primaryIntent"] == "delete user 42"


def test_more_than_can_be_read_is_one_question_and_no_part_of_the_whole(read):
    candidate = read("Delete file a. Send it to Bob. " * 200)
    (intent,) = candidate["intents"]
    assert intent["action"] is None
    assert candidate["prohibitions"] == []
