"""Number tokens (contract section 8.1): what a double carries without loss, and nothing else."""

from __future__ import annotations

import math
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_runtime.candidate.numbers import exact_number
from intent_runtime.candidate.strict_json import read_candidate
from intent_runtime.values import DEFAULT_LIMITS, MAX_SAFE_INTEGER
from support.slow_json import slow_number

ACCEPTED = [
    ("1.0", 1),
    ("1e2", 100),
    ("1E2", 100),
    ("1e+2", 100),
    ("-0.0", 0),
    ("-0e5", 0),
    ("0e99999999999999999999", 0),
    ("0.000e-99999999999999999999", 0),
    ("1e0000000001", 10),
    ("1e-0000000001", 0.1),
    ("1.50", 1.5),
    ("150e-2", 1.5),
    ("0.1", 0.1),
    ("-0.1", -0.1),
    ("0.30000000000000004", 0.30000000000000004),
    ("123456789012345.6", 123456789012345.6),
    ("9007199254740991.0", MAX_SAFE_INTEGER),
    ("-9007199254740991.0", -MAX_SAFE_INTEGER),
    ("9007199254740991e0", MAX_SAFE_INTEGER),
    ("90071992547409910e-1", MAX_SAFE_INTEGER),
    ("1e15", 10**15),
    ("5e-324", 5e-324),
    ("2.2250738585072014e-308", 2.2250738585072014e-308),
    ("1" + "0" * 250_000 + "e-250000", 1),
    ("0." + "0" * 250_000 + "1e250001", 1),
    ("1.5" + "0" * 250_000, 1.5),
]

REFUSED = [
    "0.10000000000000001",
    "9007199254740993.0",
    "9007199254740992.0",
    "-9007199254740992.0",
    "9007199254740991.5",
    "1e16",
    "1e22",
    "1.7976931348623157e308",
    "1e308",
    "1e309",
    "1e400",
    "-1e400",
    "1e-400",
    "-1e-400",
    "4.9e-324",
    "2e-324",
    "0.1000000000000000055511151231257827021181583404541015625",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "1." + "0" * 250_000 + "1",
    "1" * 250_000 + ".0",
    "3.14159265358979323846",
]


def _short(token):
    return token if len(token) < 40 else f"{token[:8]}...x{len(token)}"


@pytest.mark.parametrize(("token", "value"), ACCEPTED, ids=[_short(t) for t, _ in ACCEPTED])
def test_exact_tokens_give_their_value_integral_ones_as_integers(token, value):
    result = exact_number(token)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize("token", REFUSED, ids=_short)
def test_inexact_tokens_are_refused(token):
    assert exact_number(token) is None


def test_minus_zero_comes_out_as_plain_zero():
    for token in ("-0.0", "-0e1", "-0.000e-5"):
        assert math.copysign(1, exact_number(token)) == 1


@pytest.mark.parametrize("token", ["0", "-0", "7", "-7", "9007199254740991", "-9007199254740991"])
def test_safe_integer_tokens_pass_the_reader(token):
    value = read_candidate(f'{{"n":{token}}}', DEFAULT_LIMITS)
    assert value == {"n": int(token)}
    assert type(value["n"]) is int


@pytest.mark.parametrize(
    "token",
    [
        "9007199254740992",
        "9007199254740993",
        "-9007199254740992",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "1" * 400,
        "1" * 4_400,
        "1" * 250_000,
        "-" + "1" * 250_000,
    ],
    ids=_short,
)
def test_integers_beyond_the_safe_range_are_refused_by_the_reader(token):
    outcome = read_candidate(f'{{"n":{token}}}', DEFAULT_LIMITS)
    assert "integers within" in outcome.rule


@pytest.mark.parametrize(
    "token",
    ["9" * 250_000 + ".5", "0." + "9" * 250_000, "1e" + "9" * 250_000, "1." + "0" * 250_000 + "1"],
    ids=_short,
)
def test_refusing_a_token_of_250000_digits_is_linear_and_tiny(token):
    begin = time.thread_time()
    assert exact_number(token) is None
    # It takes about a millisecond; a quadratic conversion takes seconds.
    assert time.thread_time() - begin < 0.5


def _expected(token):
    try:
        return slow_number(token)
    except ValueError:
        return None


def _random_token(chance):
    def digits(most):
        return "".join(chance.choices("0123456789", k=chance.randint(1, most)))

    whole = chance.choice(["0", str(chance.randint(1, 9)) + digits(chance.choice([1, 6, 17]))])
    fraction = "." + digits(chance.choice([1, 3, 17, 25])) if chance.random() < 0.8 else ""
    power = chance.randint(-345, 330) if chance.random() < 0.3 else chance.randint(-20, 20)
    exponent = f"{chance.choice('eE')}{power:{chance.choice(['', '+'])}d}"
    if fraction and chance.random() < 0.5:
        exponent = ""
    return chance.choice(["", "-"]) + whole + fraction + exponent


def test_random_tokens_agree_with_exact_decimal_arithmetic():
    chance = random.Random(8101)
    outcomes = set()
    for _ in range(4_000):
        token = _random_token(chance)
        expected = _expected(token)
        result = exact_number(token)
        assert result == expected, token
        assert type(result) is type(expected), token
        outcomes.add(type(expected))
    assert outcomes == {int, float, type(None)}


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_form_of_every_double_is_accepted_unless_it_is_a_large_integer(value):
    result = exact_number(repr(value))
    if value.is_integer() and abs(value) > MAX_SAFE_INTEGER:
        assert result is None
    else:
        assert result == value
        assert isinstance(result, int) == value.is_integer()


@given(st.floats(min_value=1e-300, max_value=1e15))
def test_a_decimal_a_digit_longer_than_needed_is_accepted_only_when_it_means_the_same(value):
    token = f"{value:.25e}"
    assert exact_number(token) == _expected(token)
