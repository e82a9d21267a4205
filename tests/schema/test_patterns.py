r"""Patterns are ECMA-262 with the u flag (contract section 5), searched, or they are refused."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess

import pytest

from intent_runtime.schema.native import NativeSchema, check_pattern
from intent_runtime.schema.patterns import MAX_GROUP_NESTING, PatternError, rewrite

NODE = shutil.which("node")


def matcher(pattern):
    native = NativeSchema({"type": "object", "properties": {"v": {"pattern": pattern}}})
    return lambda text: native.is_valid({"v": text})


MATCHES = [
    ("search_not_full", "b", ["abc"], ["ac", ""]),
    ("empty", "", ["", "x"], []),
    ("anchors", "^a$", ["a"], ["a\n", "\na", "ba", "ab"]),
    (
        "dot_and_line_ends",
        "^.$",
        ["a", "中", "😀", "\x85", "\x0b"],
        ["\n", "\r", "\u2028", "\u2029", "", "ab"],
    ),
    ("ascii_digits", r"^\d$", ["0", "9"], ["٠", "０", "a"]),
    ("not_digits", r"^\D$", ["٠", "a", "\n"], ["0"]),
    ("ascii_words", r"^\w+$", ["aZ_9"], ["é", "中", "a-b", "ſ", "\u212a"]),
    ("not_words", r"^\W$", ["é", "中", " "], ["_"]),
    (
        "ecma_space",
        r"^\s$",
        [" ", "\t", "\x0b", "\u00a0", "\ufeff", "\u2028", "\u3000"],
        ["\x85", "\x1c", "\u200b", "\u180e"],
    ),
    ("not_space", r"^\S$", ["\x85", "\u200b"], ["\ufeff"]),
    ("ascii_boundary", r"\bfoo", ["a foo", "éfoo", "foo"], ["afoo", "_foo"]),
    ("no_boundary", r"\Bfoo", ["afoo"], ["foo", "éfoo"]),
    ("boundary_in_empty", r"^\b$", [], ["", "a"]),
    ("class", "^[a-c_中]$", ["b", "_", "中"], ["d", "-"]),
    ("negated_class", "^[^a-c]$", ["d", "\n", "😀"], ["a", ""]),
    ("empty_class", "[]", [], ["", "a"]),
    ("any_class", "^[^]$", ["\n", "😀"], ["", "ab"]),
    ("class_escapes", r"^[\d\-\]\\\^]$", ["5", "-", "]", "\\", "^"], ["a"]),
    ("class_backspace", r"^[\b]$", ["\b"], ["b"]),
    ("class_dash_last", "^[a-]$", ["a", "-"], ["b"]),
    ("class_negated_escape", r"^[^\D5]$", ["4"], ["5", "a"]),
    ("astral_range", "^[😀-😂]$", ["😁"], ["😃"]),
    ("one_code_point", "^😀{2}$", ["😀😀"], ["😀"]),
    ("unicode_escapes", r"^\u4e2d\u{1F600}\ud83d\ude00\x41$", ["中😀😀A"], ["中😀A"]),
    ("control_escapes", r"^\t\n\v\f\r\0\cA\cz$", ["\t\n\x0b\x0c\r\x00\x01\x1a"], ["t"]),
    ("syntax_escapes", r"^\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$", ["^$\\.*+?()[]{}|/"], []),
    ("needless_escapes", r"^a\-b\:\ \中$", ["a-b: 中"], ["ab"]),
    ("quantifiers", "^a{2}b{1,2}c{1,}d?e*f+$", ["aabcf", "aabbccdeff"], ["abcf", "aabbbcf"]),
    ("lazy", "^a*?b+?c??d{2,3}?$", ["bdd", "aabbcddd"], ["bd"]),
    ("zero_times", "^a{0}b$", ["b"], ["ab"]),
    ("alternatives", "^(?:a|bc|)$", ["a", "bc", ""], ["b"]),
    ("alternatives_without_group", "^a|b$", ["ax", "xb"], ["xa"]),
    ("groups", "^(a(?<n>b)(?:c))$", ["abc"], ["ab"]),
    ("back_reference", r"^(a|b)\1$", ["aa", "bb"], ["ab"]),
    ("named_reference", "^(?<q>['\"]).*\\k<q>$", ["'x'", '"x"'], ["'x\""]),
    ("reference_then_digit", r"^(a)(?:\1)1$", ["aa1"], ["a1"]),
    ("look_ahead", "^(?=.*[0-9])(?!.*x)[a-z0-9]+$", ["a1"], ["a", "a1x"]),
    ("look_behind", "(?<=¥)[0-9]+(?<!9)$", ["¥10"], ["$10", "¥19"]),
    ("reference_after_look_ahead", r"(?=(a+))a*b\1", ["baaabac", "aba"], ["ab"]),
    ("properties", r"^\p{Lu}\p{L}\p{Script=Han}\P{L}$", ["Aé中1"], ["aé中1", "Aé中a"]),
    ("property_long", r"^[\p{General_Category=Decimal_Number}\p{sc=Greek}]$", ["٠", "α"], ["a"]),
    ("case_matters", "^K$", ["K"], ["k", "\u212a"]),
    ("nested", "^((a|b)+(c(d?))*)?$", ["", "abcdc"], ["d"]),
]
ROWS = [
    (name, pattern, text, expected)
    for name, pattern, yes, no in MATCHES
    for expected, texts in ((True, yes), (False, no))
    for text in texts
]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"), [r[1:] for r in ROWS], ids=[f"{r[0]}-{r[2]!r}" for r in ROWS]
)
def test_a_pattern_means_what_ecma_262_says(pattern, text, expected):
    check_pattern(pattern)
    assert matcher(pattern)(text) == expected


REFUSED = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "a{",
    "a{1",
    "a{,2}",
    "{2}",
    "*",
    "+a",
    "?",
    "a**",
    "a*+",
    "a++",
    "a{2}{3}",
    "a{2,1}",
    "^*",
    "$+",
    r"\b?",
    "(?=a)*",
    "(?!a)+",
    "(?<=a)?",
    "(?",
    "(?a)",
    "(?i)a",
    "(?i:a)",
    "(?#x)",
    "(?>a)",
    "(?P<n>a)",
    "(?<1>a)",
    "(?<n>a)(?<n>b)",
    "(?<n",
    "[b-a]",
    r"[\d-z]",
    r"[a-\w]",
    r"[\p{L}-z]",
    "\\",
    r"\a",
    r"\e",
    r"\A",
    r"\Z",
    r"\z",
    r"\Q",
    r"\G",
    r"\h",
    r"\R",
    r"\X",
    r"\_",
    r"\01",
    r"\00",
    r"\1",
    r"\2(a)",
    r"(a)\2",
    r"\k<n>",
    r"\k<n>(?<n>a)",
    r"(a\1)",
    r"(a)?\1",
    r"(?:(a)|b)\1",
    r"(?!(a))\1",
    r"(?<=(a))\1",
    r"(a)(?<=\1)",
    r"\k",
    r"\x4",
    r"\u12",
    r"\u{}",
    r"\u{110000}",
    r"\u{zz}",
    r"\ud800",
    r"\udc00\ud800",
    "\ud800",
    r"[\ud800]",
    r"\c",
    r"\c1",
    r"\p",
    r"\p{}",
    r"\pL",
    r"\p{Nonsense}",
    r"\p{Script=Nonsense}",
    r"[\B]",
    "a{4294967296}",
    "((a{1000}){1000}){1000}",
    "(?:" * (MAX_GROUP_NESTING + 1) + ")" * (MAX_GROUP_NESTING + 1),
]


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda p: ascii(p)[:24])
def test_what_ecma_262_refuses_or_the_engine_cannot_say_is_refused(pattern):
    with pytest.raises(ValueError):
        check_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{greek}",
        r"\p{lu}",
        r"\p{l}",
        r"\p{uppercase_letter}",
        r"\p{cf}",
        r"\p{L_}",
        r"\p{IsGreek}",
        r"\p{Greek}",
        r"\p{script=Greek}",
        r"\p{Script=greek}",
        r"[\p{han}]",
    ],
)
def test_property_names_are_those_of_ecma_262_to_the_letter(pattern):
    with pytest.raises(ValueError):
        check_pattern(pattern)


def test_groups_nest_to_the_bound():
    check_pattern("(?:" * MAX_GROUP_NESTING + "a" + ")" * MAX_GROUP_NESTING)


@pytest.mark.parametrize(
    ("pattern", "linear"),
    [
        ("^[a-z]+(?:b|c)*$", True),
        (r"^\w\s\d.$", True),
        (r"\p{L}", True),
        (r"\ba", False),
        ("(?=a)", False),
        ("(?<!a)b", False),
        (r"(a)\1", False),
    ],
)
def test_only_look_around_and_references_leave_the_linear_engine(pattern, linear):
    assert rewrite(pattern).linear == linear


def test_a_refusal_names_the_place():
    with pytest.raises(PatternError, match="at character 3"):
        rewrite("ab)")


@pytest.mark.parametrize(
    "patterns",
    [("(?=a)a", r"^\w\d[^]{1,3}$"), (r"\bx", r"^[\p{L}\s]+$"), (r"(a)\1", "^(?:a{1,50}){1,50}$")],
    ids=repr,
)
def test_a_linear_pattern_compiles_beside_one_that_is_not(patterns):
    schema = {
        "type": "object",
        "properties": {str(n): {"pattern": p} for n, p in enumerate(patterns)},
    }
    for pattern in patterns:
        check_pattern(pattern)
    assert NativeSchema(schema).is_valid({}) is True


ATOMS = [
    *"abc1_- é中😀K.",
    *[
        r"[ab]",
        r"[^a-c]",
        r"[\w-]",
        r"[^\s1]",
        r"[]",
        r"[^]",
        r"[\b]",
        r"[😀-😂é]",
        r"[\D]",
        r"[^\W]",
        r"\d",
        r"\D",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        r"\u0061",
    ],
    *[
        r"\u{1F600}",
        r"\ud83d\ude00",
        r"\x62",
        r"\n",
        r"\t",
        r"\0",
        r"\cJ",
        r"\p{L}",
        r"\P{Lu}",
        r"\p{Script=Han}",
        r"[\p{N}b]",
    ],
    *[r"\.", r"\/", r"\$"],
]
ASSERTIONS = ["^", "$", r"\b", r"\B"]
QUANTIFIERS = [
    "",
    "",
    "",
    "",
    *["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{0}", "{1,2}?"],
]
LETTERS = [*"aabbc1_- \n\ré中😀K\u2028\u00a0\ufeff\x85٠$./\x00\b"]
# Outside a class the u flag refuses these; contract section 5 tolerates them.
NEEDLESS = re.compile(r"\\[^0-9A-Za-z^$\\.*+?()\[\]{}|/]")


def random_pattern(chance, depth):
    branches = []
    for _ in range(chance.choice([1, 1, 1, 2])):
        terms = []
        for _ in range(chance.randint(1, 4)):
            roll = chance.random()
            if depth and roll < 0.3:
                opening = chance.choice(
                    ["(", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", f"(?<n{chance.randint(0, 9)}>"]
                )
                look = opening in ("(?=", "(?!", "(?<=", "(?<!")
                terms.append(
                    opening
                    + random_pattern(chance, depth - 1)
                    + ")"
                    + ("" if look else chance.choice(QUANTIFIERS))
                )
            elif roll < 0.4:
                terms.append(chance.choice(ASSERTIONS))
            elif roll < 0.5:
                terms.append(f"(?:\\{chance.randint(1, 2)})")
            else:
                terms.append(chance.choice(ATOMS) + chance.choice(QUANTIFIERS))
        branches.append("".join(terms))
    return "|".join(branches)


def random_case(chance):
    pattern = random_pattern(chance, 2)
    if chance.random() < 0.15:
        at = chance.randint(0, len(pattern))
        pattern = pattern[:at] + chance.choice([*"()[]{}|\\?*+^$,-:", ""]) + pattern[at + 1 :]
    letters = LETTERS
    if r"\B" in pattern or "(?<" in pattern:
        # V8 tries such patterns inside a surrogate pair too; ECMA-262 advances by code points.
        letters = [letter for letter in LETTERS if letter != "😀"]
    texts = ["".join(chance.choices(letters, k=chance.randint(0, 6))) for _ in range(8)]
    return pattern, texts


SCRIPT = """
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(cases.map(([pattern, texts]) => {
  let expression;
  try { expression = new RegExp(pattern, "u"); } catch { return null; }
  return texts.map((text) => expression.test(text));
})));
"""


def node_answers(cases):
    done = subprocess.run(
        [NODE, "-e", SCRIPT],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(
    NODE is None, reason="node is not on PATH; it is the reference for ECMA-262 patterns"
)
def test_the_tables_agree_with_node():
    for (name, pattern, _, expected), answer in zip(
        ROWS, node_answers([(r[1], [r[2]]) for r in ROWS]), strict=True
    ):
        assert answer == (None if name == "needless_escapes" else [expected]), pattern


@pytest.mark.slow
@pytest.mark.skipif(
    NODE is None, reason="node is not on PATH; it is the reference for ECMA-262 patterns"
)
@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_agree_with_node_or_are_refused(seed):
    chance = random.Random(seed)
    cases = [random_case(chance) for _ in range(1_500)]
    compared = 0
    for (pattern, texts), answer in zip(cases, node_answers(cases), strict=True):
        try:
            check_pattern(pattern)
        except ValueError:
            continue
        if answer is None:
            assert NEEDLESS.search(pattern), pattern
            continue
        test = matcher(pattern)
        assert [test(text) for text in texts] == answer, (pattern, texts)
        compared += 1
    assert compared > 500
