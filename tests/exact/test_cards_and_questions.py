"""Simmons, Christofides, forced response and crosswise: exact channels, variances of F11, and who is best."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from deniable import exact
from deniable.designs import (
    Design,
    christofides,
    crosswise,
    forced_response,
    simmons,
    warner,
)
from deniable.estimates import covariance, left_inverse, mean_inverse
from tests.support.rational import inverse, table

EPSILONS = ["1/1000", "1/10", "1/2", 1, 3, 8]


def census(
    rows: tuple[tuple[Fraction, ...], ...],
    weights: list[Fraction],
    share: Fraction,
    n: int,
) -> Fraction:
    """The variance of the mean of `weights` over n people's responses, a share of them members."""
    each = []
    for answer in (0, 1):
        column = [row[answer] for row in rows]
        mean = sum(
            (w * p for w, p in zip(weights, column, strict=True)), Fraction(0)
        )
        assert mean == answer
        each.append(
            sum(
                (w * w * p for w, p in zip(weights, column, strict=True)),
                Fraction(0),
            )
            - mean**2
        )
    return ((1 - share) * each[0] + share * each[1]) / n


@pytest.mark.parametrize(
    ("p", "b"), [("7/10", "3/10"), ("3/5", "1/5"), ("1/2", "9/10"), ("1/4", "1/2")]
)
def test_the_variance_of_simmons_is_that_of_the_corrected_equation(
    p: str, b: str
) -> None:
    design = simmons(p=p, b=b)
    rows, P, B = table(design.channel), Fraction(p), (1 - Fraction(p)) * Fraction(b)
    weights = list(inverse(rows)[1])
    assert weights == [-B / P, (1 - B) / P]
    for share in (Fraction(0), Fraction(2, 5), Fraction(1)):
        n = 5
        formula = B * (1 - B) / (n * P**2) + share * (1 - P - 2 * B) / (n * P)
        assert census(rows, weights, share, n) == formula
        got = covariance(design, [float(1 - share), float(share)], n, population=n)[
            1, 1
        ]
        assert got == pytest.approx(float(formula), rel=1e-12)


@pytest.mark.parametrize("b", ["1/2", "1/100", "3/10", "17/20", "999/1000"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_simmons_keeps_its_epsilon_and_reaches_it(
    epsilon: exact.Rational, b: str
) -> None:
    design = simmons(epsilon, b=b)
    assert design.parity <= exact.exp_below(exact.positive_epsilon(epsilon))
    assert design.epsilon == pytest.approx(float(exact.rational(epsilon)), rel=1e-9)
    rare, x = (
        min(Fraction(b), 1 - Fraction(b)),
        exact.exp_below(exact.positive_epsilon(epsilon)),
    )
    p = rare * (x - 1) / (1 + rare * (x - 1))
    gap = design.probability("yes", given="yes") - design.probability(
        "yes", given="no"
    )
    assert abs(gap - p) < Fraction(1, 2**60)


def test_simmons_is_best_at_a_coin_and_then_equals_warner() -> None:
    for share in (0.0, 0.1, 0.5, 0.9):
        at = [
            covariance(simmons(1, b=b), [1 - share, share], 10)[1, 1]
            for b in ("1/2", "2/5", "3/5", "1/10")
        ]
        assert at[0] == pytest.approx(
            covariance(warner(1), [1 - share, share], 10)[1, 1], rel=1e-12
        )
        assert min(at) == at[0]


@pytest.mark.parametrize("middle", [0, "1/100", "9/25", "9/10"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_three_cards_keep_their_epsilon_and_have_the_variance_of_the_document(
    epsilon: exact.Rational, middle: exact.Rational
) -> None:
    design = christofides(epsilon, middle=middle)
    p2, eps = float(exact.rational(middle)), float(exact.rational(epsilon))
    assert design.parity <= exact.exp_below(exact.positive_epsilon(epsilon))
    assert design.epsilon == pytest.approx(eps, rel=1e-9)
    assert len(design.symbols) == (3 if p2 else 2)
    for share in (0.0, 0.3, 1.0):
        variance = covariance(design, [1 - share, share], 10, population=10)[1, 1]
        formula = (1 / (np.tanh(eps / 2) ** 2 * (1 - p2)) - 1) / 40
        # at ε = 1/1000 floats lose some digits
        assert variance == pytest.approx(formula, rel=1e-7)
        assert variance >= covariance(
            warner(epsilon), [1 - share, share], 10, population=10
        )[1, 1] * (1 - 1e-7)


CARDS = [
    ["1/10", "2/10", "3/10", "4/10"],
    ["3/20", "1/4", "3/5"],
    ["1/10", "1/5", "3/10", "1/5", "1/5"],
    ["2/7", "5/7"],
]


@pytest.mark.parametrize("cards", CARDS)
def test_the_mean_response_estimates_with_the_variance_of_the_card(
    cards: list[str],
) -> None:
    design = christofides(cards=cards)
    shares, size = [Fraction(card) for card in cards], len(cards)
    mean = sum(k * p for k, p in enumerate(shares, 1))
    spread = sum(k * k * p for k, p in enumerate(shares, 1)) - mean**2
    weights = [(k - mean) / (size + 1 - 2 * mean) for k in range(1, size + 1)]
    for share in (Fraction(0), Fraction(1, 4), Fraction(1)):
        formula = spread / (20 * (size + 1 - 2 * mean) ** 2)
        assert census(table(design.channel), weights, share, 20) == formula
        got = covariance(
            design,
            [float(1 - share), float(share)],
            20,
            population=20,
            inverse=mean_inverse(design),
        )
        assert got[1, 1] == pytest.approx(float(formula), rel=1e-12)


@pytest.mark.parametrize("cards", CARDS)
def test_the_own_inverse_is_the_mean_for_up_to_three_cards_and_no_worse_for_more(
    cards: list[str],
) -> None:
    design = christofides(cards=cards)
    mean = mean_inverse(design)
    own = left_inverse(design.channel)
    even = [0.5, 0.5]
    ours, theirs = (
        covariance(design, even, 9)[1, 1],
        covariance(design, even, 9, inverse=mean)[1, 1],
    )
    if len(cards) <= 3:
        assert own.inverse == pytest.approx(mean, abs=1e-12)
    elif (
        len(cards) == 4
    ):  # even shares make the responses even, and then the mean is the best there is
        assert ours == pytest.approx(theirs, rel=1e-12)
    else:
        assert ours < theirs * 0.98


def test_two_cards_are_warner() -> None:
    assert table(christofides(cards=["1/4", "3/4"]).channel) == tuple(
        reversed(table(warner(p="3/4").channel))
    )


@pytest.mark.parametrize(
    ("honest", "yes", "no"),
    [("2/3", "1/6", "1/6"), ("3/4", "1/8", "1/8"), ("1/2", "2/5", "1/10")],
)
def test_forced_response_is_its_channel(honest: str, yes: str, no: str) -> None:
    design = forced_response(honest, yes, no)
    truth, up, down = map(Fraction, (honest, yes, no))
    assert table(design.channel) == ((truth + down, down), (up, truth + up))
    rare = min(up, down)
    assert design.parity == (truth + rare) / rare
    assert design == forced_response(honest, yes)


def test_crosswise_is_warner_in_other_words() -> None:
    design: Design = crosswise("1/4")
    assert (
        design.probability("same", given="yes")
        == design.probability("different", given="no")
        == Fraction(1, 4)
    )
    assert design.parity == 3
    assert covariance(design, [0.8, 0.2], 50) == pytest.approx(
        covariance(warner(p="1/4"), [0.8, 0.2], 50)
    )
