"""Every world of two respondents with two questions: the joint table is unbiased, and so are its margins."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as worlds

import numpy as np
import pytest

import deniable as dn
from deniable.channel import Dense
from deniable.tallies.columns import column_of

ONE, TWO = dn.warner(p="3/4"), dn.k_ary(["a", "b", "c"], p="1/2")
PEOPLE = [(0, 2), (1, 0)]  # the answers of both people to both questions
SEX = ["f", "m"]


def expected(
    one: dn.Design, two: dn.Design | None, answers: list[tuple[int, int]]
) -> np.ndarray:
    """The mean of the table over all responses of two people, weighted with exact probabilities."""
    total: np.ndarray | float = 0.0
    weight = Fraction(0)
    first = list(worlds(range(one.channel.responses), repeat=2))
    second = (
        list(worlds(range(two.channel.responses), repeat=2))
        if two is not None
        else [(0, 0)]
    )
    for codes, others in worlds(first, second):
        chance = Fraction(1)
        for code, other, (answer, known) in zip(codes, others, answers, strict=True):
            chance *= one.channel.probability(code, given=answer)
            chance *= (
                two.channel.probability(other, given=known) if two is not None else 1
            )
        sent = dn.Responses(one, {"response": np.array(codes, np.uint8)})
        column = (
            SEX
            if two is None
            else dn.Responses(two, {"response": np.array(others, np.uint8)})
        )
        total = total + float(chance) * dn.cross_table(sent, column).shares
        weight += chance
    assert weight == 1
    return np.asarray(total)


def test_two_randomized_columns() -> None:
    found = expected(ONE, TWO, PEOPLE)
    wanted = np.zeros((2, 3))
    for answer, other in PEOPLE:
        wanted[answer, other] += 0.5
    assert found == pytest.approx(wanted, abs=1e-12)
    assert found.sum(axis=1) == pytest.approx([0.5, 0.5])


def test_a_randomized_column_with_one_that_is_openly_known() -> None:
    found = expected(ONE, None, [(1, 0), (0, 1)])
    assert found == pytest.approx(np.array([[0, 0.5], [0.5, 0]]), abs=1e-12)


def test_a_device_that_is_taken_for_another_is_found() -> None:
    """The fault: responses are inverted with a device that keeps answers more often than it did."""
    wrong = dn.Design(
        "wrong", ONE.categories, ONE.symbols, Dense(((4, 1), (1, 4)), 5)
    )
    with pytest.raises(AssertionError):
        assert _mixed(wrong) == pytest.approx(
            np.array([[0, 0.5], [0.5, 0]]), abs=1e-3
        )


def _mixed(inverted: dn.Design) -> np.ndarray:
    total: np.ndarray | float = 0.0
    for codes in worlds(range(2), repeat=2):
        chance = ONE.channel.probability(
            codes[0], given=1
        ) * ONE.channel.probability(codes[1], given=0)
        sent = dn.Responses(inverted, {"response": np.array(codes, np.uint8)})
        total = total + float(chance) * dn.cross_table(sent, SEX).shares
    return np.asarray(total)


def test_what_is_openly_known_has_the_identity_for_its_channel() -> None:
    known = column_of(["m", None, "f", "m"])
    assert known.design.channel == dn.direct(["f", "m"]).channel
    assert tuple(known.design.categories) == ("f", "m")
    assert known.codes.tolist() == [1, -1, 0, 1]
