"""Every world of two respondents, enumerated: the estimate is right on average, and so is what it says of itself.

All in rationals, with `==`. The formulas are those of the linear estimate: L·P = 1, estimate L·λ̂ (docs/theory).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

import pytest

from deniable.designs import Design
from tests.support.rational import Table, applied, identity, inverse, left_inverse, table, times, transposed
from tests.support.registered import every_design, parameters

Vector = tuple[Fraction, ...]
N = 2

small = pytest.mark.parametrize("design", parameters(lambda design: design.channel.responses <= 8))


def occurring(design: Design) -> Table:
    """Write out the responses that occur."""
    return tuple(row for row in table(design.channel) if any(row))


def worlds(rows: Table, answers: tuple[int, ...]) -> Iterator[tuple[Fraction, Vector]]:
    """All that may be sent by respondents with these answers: a probability and the shares of the responses."""
    for sent in product(range(len(rows)), repeat=len(answers)):
        chance = Fraction(1)
        for response, answer in zip(sent, answers, strict=True):
            chance *= rows[response][answer]
        yield chance, tuple(Fraction(sent.count(i), len(sent)) for i in range(len(rows)))


def shares(answers: tuple[int, ...], size: int) -> Vector:
    return tuple(Fraction(answers.count(j), len(answers)) for j in range(size))


def outer(one: Vector, two: Vector) -> Table:
    return tuple(tuple(a * b for b in two) for a in one)


def diag(vector: Vector) -> Table:
    return tuple(tuple(a * (i == j) for j in range(len(vector))) for i, a in enumerate(vector))


def combined(*parts: tuple[Fraction, Table]) -> Table:
    """Add up matrices with weights."""
    _, first = parts[0]
    size = range(len(first))
    return tuple(tuple(sum((w * m[i][j] for w, m in parts), Fraction(0)) for j in size) for i in size)


def spread(left: Table, sent: Vector) -> Table:
    """L·D·Lᵀ with D the diagonal of the responses' shares."""
    return times(times(left, diag(sent)), transposed(left))


@every_design
def test_a_left_inverse_undoes_the_channel(design: Design) -> None:
    rows = occurring(design)
    left = left_inverse(rows)
    assert times(left, rows) == identity(design.channel.answers)
    if design.channel.answers == design.channel.responses:
        assert left == inverse(rows)


@every_design
def test_the_estimate_is_right_on_average_for_any_two_people(design: Design) -> None:
    rows, size = occurring(design), design.channel.answers
    left = left_inverse(rows)
    pairs = list(product(range(size), repeat=N))
    for answers in pairs if size <= 4 else pairs[:: size + 1] + pairs[1:3]:
        mean = [Fraction(0)] * size
        total = Fraction(0)
        for chance, sent in worlds(rows, answers):
            total += chance
            mean = [m + chance * e for m, e in zip(mean, applied(left, sent), strict=True)]
        assert total == 1
        assert tuple(mean) == shares(answers, size)


def mean_and_covariance(
    left: Table, everything: list[tuple[Fraction, Vector]], remaining: Fraction
) -> tuple[Vector, Table, Table]:
    """Average over all worlds: the estimate, its square, and the covariance that it claims for itself.

    `remaining` is f = (N − n)/(N − 1): 1 for sampling, 0 for a census.
    """
    together: defaultdict[Vector, Fraction] = defaultdict(Fraction)
    for chance, sent in everything:  # worlds in which the same was sent have the same estimate
        together[sent] += chance
    estimates = [(chance, applied(left, sent), sent) for sent, chance in together.items()]
    mean = tuple(sum((c * e[j] for c, e, _ in estimates), Fraction(0)) for j in range(len(left)))
    square = combined(*((c, outer(e, e)) for c, e, _ in estimates))
    covariance = combined((Fraction(1), square), (Fraction(-1), outer(mean, mean)))
    claimed = combined(
        *(
            (chance * weight / (N - remaining), matrix)
            for chance, e, sent in estimates
            for weight, matrix in (
                (remaining, diag(e)),
                (-remaining, outer(e, e)),
                (Fraction(1), spread(left, sent)),
                (Fraction(-1), diag(e)),
            )
        )
    )
    return mean, covariance, claimed


def formula(rows: Table, left: Table, truth: Vector, remaining: Fraction) -> Table:
    """[f·(D_π − ππᵀ) + L·D_λ·Lᵀ − D_π] / n."""
    return combined(
        (remaining / N, diag(truth)),
        (-remaining / N, outer(truth, truth)),
        (Fraction(1, N), spread(left, applied(rows, truth))),
        (Fraction(-1, N), diag(truth)),
    )


@small
def test_a_census_of_two_has_the_covariance_of_the_formula(design: Design) -> None:
    rows = occurring(design)
    left = left_inverse(rows)
    for answers in ((0, 0), (0, 1), (1, 1)):
        truth = shares(answers, len(left))
        mean, covariance, claimed = mean_and_covariance(left, list(worlds(rows, answers)), Fraction(0))
        assert mean == truth
        assert covariance == formula(rows, left, truth, Fraction(0))
        assert claimed == covariance


@small
def test_two_drawn_from_a_distribution_have_the_covariance_of_the_formula(design: Design) -> None:
    rows = occurring(design)
    left = left_inverse(rows)
    size = len(left)
    truth = tuple(Fraction(j + 1, size * (size + 1) // 2) for j in range(size))
    everything = [
        (truth[one] * truth[two] * chance, sent)
        for one, two in product(range(size), repeat=N)
        for chance, sent in worlds(rows, (one, two))
    ]
    mean, covariance, claimed = mean_and_covariance(left, everything, Fraction(1))
    assert mean == truth
    assert covariance == formula(rows, left, truth, Fraction(1))
    assert claimed == covariance


@small
def test_two_of_three_people_have_the_covariance_of_the_formula(design: Design) -> None:
    rows = occurring(design)
    left = left_inverse(rows)
    people = (0, 1, 1)
    asked = list(permutations(people, N))
    everything = [(chance / len(asked), sent) for pair in asked for chance, sent in worlds(rows, pair)]
    remaining = Fraction(len(people) - N, len(people) - 1)
    truth = shares(people, len(left))
    mean, covariance, claimed = mean_and_covariance(left, everything, remaining)
    assert mean == truth
    assert covariance == formula(rows, left, truth, remaining)
    assert claimed == covariance


def test_a_matrix_that_cannot_be_inverted_is_said_to_be_so() -> None:
    with pytest.raises(ValueError, match="singular"):
        inverse(((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2))))
