from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.designs import Design, binary, k_ary, matrix, product, warner
from deniable.display import privacy_texts
from deniable.rendering import formats

FORCED = matrix(
    [["1/2", 0, "1/3"], ["1/2", "1/2", "1/3"], [0, "1/2", "1/3"]],
    categories=["a", "b", "c"],
    symbols=3,
)


def test_frequencies_are_natural_numbers_of_people() -> None:
    assert privacy_texts.frequencies(binary("9/10", "7/10")) == (
        "Of 100 people whose answer is 'no', about 90 send 'no' and about 10 send 'yes'.",
        "Of 100 people whose answer is 'yes', about 70 send 'yes' and about 30 send 'no'.",
    )


def test_frequencies_are_taken_of_more_people_where_responses_are_rare() -> None:
    assert privacy_texts.frequencies(warner(p="999/1000"))[0] == (
        "Of 1,000 people whose answer is 'no', about 999 send 'no' and about 1 sends 'yes'."
    )


def test_responses_that_are_equally_frequent_are_told_together() -> None:
    assert privacy_texts.frequencies(k_ary(["a", "b", "c", "d", "e"], p="1/5000"))[
        1
    ] == (
        "Of 10,000 people whose answer is 'b', about 2,500 send each of 4 symbols and about 2 send 'b'."
    )
    assert privacy_texts.frequencies(FORCED) == (
        "Of 100 people whose answer is 'a', about 50 send each of '0' and '1' and nobody sends '2'.",
        "Of 100 people whose answer is 'b', about 50 send each of '1' and '2' and nobody sends '0'.",
        "Of 100 people whose answer is 'c', about 33 send each of '0', '1' and '2'.",
    )


def test_a_large_design_needs_one_sentence() -> None:
    (alike,) = privacy_texts.frequencies(k_ary(6, p="1/2"))
    assert alike == (
        "Of 100 people whose answer is '0', about 50 send '0' and about 10 send each of the 5 others, and so for every "
        "other answer."
    )
    (only,) = privacy_texts.frequencies(k_ary(1_000_000, epsilon=1))
    assert (
        only
        == "Of 10,000,000 people whose answer is '0', about 27 send '0' and about 10 send each of the 999,999 others, "
        "and so for every other answer."
    )


def test_the_promise_is_the_factor_rounded_up() -> None:
    assert privacy_texts.promise(warner(epsilon=1)) == (
        "Whatever is sent, the odds between any two answers change by a factor of at most 2.72 (ε = 1).",
    )
    assert (
        "depend on answers"
        in privacy_texts.promise(matrix([["1/2", "1/2"], ["1/2", "1/2"]]))[0]
    )


def test_responses_of_different_weight_get_their_own_factor() -> None:
    assert privacy_texts.odds(warner(epsilon=1)) == ()
    assert privacy_texts.odds(binary("9/10", "7/10")) == (
        "Whoever sends 'no': the odds between any two answers change by a factor of at most 3.",
        "Whoever sends 'yes': the odds between any two answers change by a factor of at most 7.",
    )


def test_what_a_response_proves_is_said() -> None:
    assert privacy_texts.warnings(warner(epsilon=12)) == ()
    assert (
        privacy_texts.warnings(FORCED)
        == privacy_texts.promise(FORCED)
        == (
            "Warning: this design has no finite ε. Some responses prove something about the answer.",
            "Whoever sends '0' cannot have answered 'b'.",
            "Whoever sends '2' cannot have answered 'a'.",
        )
    )
    assert privacy_texts.odds(FORCED) == (
        "Whoever sends '1': the odds between any two answers change by a factor of at most 1.5.",
    )
    assert privacy_texts.warnings(binary(1, "7/10"))[1:] == (
        "Whoever sends 'yes' gives away the answer: it is 'yes'.",
        "The odds of 'yes' are multiplied by 1/3.334 where 'no' is sent and by ∞ where 'yes' is sent.",
    )


def test_a_large_design_without_epsilon_names_one_proof() -> None:
    large = product([k_ary(300, p="1/2"), binary(1, "7/10")])
    assert len(privacy_texts.warnings(large)) == 2
    assert (
        privacy_texts.frequencies(
            product([k_ary(300, p="1/2"), k_ary(300, p="1/2")])
        )
        == ()
    )


@given(st.fractions(min_value=1, max_value=10**9))
def test_a_factor_is_never_told_smaller_than_it_is(ratio: Fraction) -> None:
    told = Fraction(formats.factor(ratio).replace(",", ""))
    assert ratio <= told <= ratio * Fraction(101, 100)


def test_an_infinite_factor_is_told() -> None:
    assert formats.factor(math.inf) == "∞"


@pytest.mark.parametrize(
    "design", [warner(1), k_ary(7, 2), binary("9/10", "7/10"), FORCED], ids=repr
)
def test_people_add_up(design: Design) -> None:
    for answer in range(design.channel.answers):
        groups = privacy_texts.groups(design, answer)
        assert sum(group.probability * group.size for group in groups) == 1
        assert sum(group.size for group in groups) == design.channel.responses
    for sentence in privacy_texts.frequencies(design):
        assert re.match(r"Of [\d,]+ people whose answer is ", sentence)
