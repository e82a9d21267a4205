"""The core candidate (contract section 8.2): its rules, and the result assembled from it."""

from __future__ import annotations

import copy
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.candidate.core import assemble, check_core
from intent_runtime.candidate.findings import Findings, LimitExcess
from intent_runtime.formats import ACTIONS
from support.json_values import members

MISSING = object()


def core(**changes):
    candidate = {
        "normalizedInput": "Look up order 000123.",
        "primaryIntent": "look up an order",
        "requirements": ["today"],
        "prohibitions": ["不要改配置"],
        "intents": [intent()],
    }
    candidate.update(changes)
    return candidate


def intent(**changes):
    value = {
        "action": "query",
        "target": "order 000123",
        "requirements": [],
        "blockers": blockers(),
    }
    value.update(changes)
    return value


def blockers(**changes):
    value = {
        "clarificationReason": None,
        "questions": [],
        "confirmationReason": None,
        "conditionReason": None,
    }
    value.update(changes)
    return value


def asking(**changes):
    return blockers(
        clarificationReason="哪一个？",
        questions=[{"question": "Which?", "options": ["A", "B"]}],
        **changes,
    )


def paths(candidate):
    findings = check_core(candidate, 100)
    assert isinstance(findings, Findings)
    return [finding.path for finding in findings.kept]


def put(candidate, pointer, value):
    """A copy of `candidate` with the place at `pointer` set, or removed for MISSING."""
    root = copy.deepcopy(candidate)
    *parents, last = pointer.strip("/").split("/")
    place = root
    for token in parents:
        place = place[int(token) if isinstance(place, list) else token]
    key = int(last) if isinstance(place, list) else last
    if value is MISSING:
        del place[key]
    else:
        place[key] = value
    return root


ACCEPTED = [
    ("plain", core()),
    ("nothing_asked", core(intents=[], primaryIntent=None, requirements=[], prohibitions=[])),
    ("null_target", core(intents=[intent(target=None)])),
    ("question", core(intents=[intent(blockers=asking())])),
    ("null_action_with_question", core(intents=[intent(action=None, blockers=asking())])),
    (
        "question_without_options",
        core(
            intents=[
                intent(
                    blockers=blockers(
                        clarificationReason="why", questions=[{"question": "Which?", "options": []}]
                    )
                )
            ]
        ),
    ),
    (
        "all_blockers",
        core(
            intents=[intent(blockers=asking(confirmationReason="先确认", conditionReason="须通过"))]
        ),
    ),
    ("same_intent_twice", core(intents=[intent(), intent()])),
    ("unit_separator_is_not_blank", core(normalizedInput="\x1c")),
]


@pytest.mark.parametrize("candidate", [c for _, c in ACCEPTED], ids=[n for n, _ in ACCEPTED])
def test_a_good_candidate_has_no_findings(candidate):
    assert paths(candidate) == []


@pytest.mark.parametrize("action", ACTIONS)
def test_each_of_the_seven_actions_is_accepted(action):
    assert paths(core(intents=[intent(action=action)])) == []


FULL = core(intents=[intent(blockers=asking())])
KEYS = [
    *(f"/{key}" for key in FULL),
    *(f"/intents/0/{key}" for key in FULL["intents"][0]),
    *(f"/intents/0/blockers/{key}" for key in blockers()),
    "/intents/0/blockers/questions/0/question",
    "/intents/0/blockers/questions/0/options",
]


@pytest.mark.parametrize("pointer", KEYS)
def test_every_key_is_required(pointer):
    assert pointer in paths(put(FULL, pointer, MISSING))


@pytest.mark.parametrize(
    "parent", ["", "/intents/0", "/intents/0/blockers", "/intents/0/blockers/questions/0"]
)
def test_no_object_takes_another_key(parent):
    assert paths(put(FULL, f"{parent}/note", 1)) == [f"{parent}/note"]


def test_a_foreign_key_is_escaped_in_its_pointer():
    assert paths(core(**{"a/b~c": 1})) == ["/a~1b~0c"]


TEXTS = [
    "/normalizedInput",
    "/requirements/0",
    "/prohibitions/0",
    "/intents/0/blockers/questions/0/question",
    "/intents/0/blockers/questions/0/options/0",
]
NULLABLE = [
    "/primaryIntent",
    "/intents/0/target",
    "/intents/0/blockers/clarificationReason",
    "/intents/0/blockers/confirmationReason",
    "/intents/0/blockers/conditionReason",
]
BLANK = ["", " ", "\t\n", "\u3000", "\ufeff", "\x85\u2028"]


@pytest.mark.parametrize("value", [*BLANK, 1, True, [], {}, ["x"]], ids=repr)
@pytest.mark.parametrize("pointer", [*TEXTS, *NULLABLE])
def test_texts_are_strings_that_are_not_blank(pointer, value):
    assert pointer in paths(put(FULL, pointer, value))


@pytest.mark.parametrize("pointer", TEXTS)
def test_texts_are_never_null(pointer):
    assert paths(put(FULL, pointer, None)) == [pointer]


@pytest.mark.parametrize(
    "pointer",
    [
        "/requirements",
        "/prohibitions",
        "/intents",
        "/intents/0/requirements",
        "/intents/0/blockers/questions",
        "/intents/0/blockers/questions/0/options",
    ],
)
@pytest.mark.parametrize("value", [None, "text", {}, 3, False], ids=repr)
def test_lists_are_arrays(pointer, value):
    assert paths(put(FULL, pointer, value)) == [pointer]


@pytest.mark.parametrize(
    "pointer", ["/intents/0", "/intents/0/blockers", "/intents/0/blockers/questions/0"]
)
@pytest.mark.parametrize("value", [None, "text", [], 3, True], ids=repr)
def test_members_are_objects(pointer, value):
    assert pointer in paths(put(FULL, pointer, value))


@pytest.mark.parametrize("action", ["Query", "search", "", "查询", 1, True, [], {}], ids=repr)
def test_any_other_action_is_refused(action):
    assert paths(put(FULL, "/intents/0/action", action)) == ["/intents/0/action"]


def test_the_finding_about_an_action_says_what_is_allowed():
    finding = check_core(put(FULL, "/intents/0/action", "search"), 100).kept[0]
    assert finding.found == '"search"'
    assert all(f'"{action}"' in finding.allowed for action in ACTIONS)
    assert "null" in finding.allowed


@pytest.mark.parametrize(
    "wrong",
    [
        blockers(clarificationReason="why"),
        blockers(questions=[{"question": "Which?", "options": []}]),
    ],
    ids=["reason_without_questions", "questions_without_reason"],
)
def test_a_clarification_reason_and_questions_come_together(wrong):
    assert paths(core(intents=[intent(blockers=wrong)])) == ["/intents/0/blockers"]


def test_a_null_action_needs_a_clarification_reason():
    assert paths(core(intents=[intent(action=None)])) == ["/intents/0/blockers/clarificationReason"]


@pytest.mark.parametrize("blocker", ["confirmationReason", "conditionReason"])
def test_another_reason_does_not_excuse_a_null_action(blocker):
    candidate = core(intents=[intent(action=None, blockers=blockers(**{blocker: "why"}))])
    assert paths(candidate) == ["/intents/0/blockers/clarificationReason"]


def test_all_violations_are_found_at_once():
    candidate = core(
        normalizedInput=" ",
        prohibitions=["", 3],
        extra=1,
        intents=[intent(action="do", target=""), intent(requirements=None), 5],
    )
    del candidate["primaryIntent"]
    assert sorted(paths(candidate)) == [
        "/extra",
        "/intents/0/action",
        "/intents/0/target",
        "/intents/1/requirements",
        "/intents/2",
        "/normalizedInput",
        "/primaryIntent",
        "/prohibitions/0",
        "/prohibitions/1",
    ]


def test_as_many_intents_as_allowed_are_fine_and_one_more_exceeds_the_limit():
    assert check_core(core(intents=[intent()] * 3), 3).count == 0
    excess = check_core(core(intents=[intent()] * 4), 3)
    assert isinstance(excess, LimitExcess)
    assert "maxIntentCount (3)" in excess.message


def test_too_many_intents_exceed_the_limit_whatever_else_is_wrong():
    assert isinstance(check_core(core(intents=[5] * 4, normalizedInput=""), 3), LimitExcess)


STATUS = [
    ("none", blockers(), "ready", None),
    ("clarification", asking(), "needs_clarification", "哪一个？"),
    ("confirmation", blockers(confirmationReason="c"), "awaiting_confirmation", "c"),
    ("condition", blockers(conditionReason="d"), "conditional", "d"),
    (
        "confirmation_condition",
        blockers(confirmationReason="c", conditionReason="d"),
        "awaiting_confirmation",
        "c\nd",
    ),
    ("clarification_condition", asking(conditionReason="d"), "needs_clarification", "哪一个？\nd"),
    (
        "all",
        asking(confirmationReason="c", conditionReason="d"),
        "needs_clarification",
        "哪一个？\nc\nd",
    ),
]


@pytest.mark.parametrize(
    ("given_blockers", "status", "reason"), [r[1:] for r in STATUS], ids=[r[0] for r in STATUS]
)
def test_the_strongest_blocker_decides_and_all_reasons_are_joined(given_blockers, status, reason):
    item = assemble("x", core(intents=[intent(blockers=given_blockers)])).intents[0]
    assert (item.status, item.reason) == (status, reason)
    wire = item.to_dict()
    assert ("reason" in wire) == (status != "ready")
    assert ("clarification" in wire) == (status == "needs_clarification")


def test_a_null_action_keeps_its_key_on_the_wire():
    wire = assemble(
        "x", core(intents=[intent(action=None, target=None, blockers=asking())])
    ).to_dict()
    assert wire["intents"] == [
        {
            "id": "i1",
            "action": None,
            "target": None,
            "requirements": [],
            "status": "needs_clarification",
            "reason": "哪一个？",
            "clarification": [{"question": "Which?", "options": ["A", "B"]}],
        }
    ]


def test_assembly_keeps_order_and_repeats_and_the_exact_input():
    candidate = core(
        requirements=["b", "a", "b"], intents=[intent(target=t) for t in ("2", "1", "2")]
    )
    result = assemble(" 查询 订单\n", candidate)
    assert result.input == " 查询 订单\n"
    assert result.requirements == ("b", "a", "b")
    assert [(item.id, item.target) for item in result.intents] == [
        ("i1", "2"),
        ("i2", "1"),
        ("i3", "2"),
    ]
    assert list(result.to_dict()) == [
        "input",
        "normalizedInput",
        "primaryIntent",
        "requirements",
        "intents",
        "prohibitions",
        "data",
    ]
    assert result.to_dict()["data"] == {}


JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-9, 9),
        st.floats(-9, 9),
        st.text(max_size=4),
        st.sampled_from(ACTIONS),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from([*core(), *intent(), *blockers(), "question", "options", "x"]),
            inner,
            max_size=6,
        ),
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from([*core(), "x"]), JSON, max_size=6))
def test_no_object_makes_the_check_raise(candidate):
    outcome = check_core(candidate, 2)
    assert isinstance(outcome, (Findings, LimitExcess))
    if isinstance(outcome, Findings) and not outcome.count:
        assert assemble("x", candidate).to_dict()["input"] == "x"


def places(value, pointer=""):
    if pointer:
        yield pointer
    for key, child in members(value):
        yield from places(child, f"{pointer}/{key}")


def test_mutations_of_a_good_candidate_never_raise_and_what_passes_can_be_assembled():
    chance = random.Random(82)
    values = [MISSING, None, "", " ", "x", 0, 1.5, True, [], {}, [None], {"x": 1}, *ACTIONS]
    passed = 0
    for _ in range(3_000):
        candidate = FULL
        for _ in range(chance.randint(1, 3)):
            candidate = put(
                candidate, chance.choice(list(places(candidate)) or ["/x"]), chance.choice(values)
            )
        outcome = check_core(candidate, 100)
        assert isinstance(outcome, Findings)
        if not outcome.count:
            passed += 1
            assert assemble("x", candidate).to_json().startswith('{"input":"x"')
    assert 0 < passed < 3_000
