"""Every world of two respondents, enumerated: the estimate is right on average, and so is what it says of itself.

Chances are exact, from `design.channel.probability`. What is sent is counted by `dn.tally` and estimated by
`dn.estimate`, as anybody would, so that a fault in either shows here. Estimates are floats; rounding is all that may
differ.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from tests.support.registered import every_design, parameters

Vector = NDArray[np.float64]
Sent = tuple[int, ...]
World = tuple[Fraction, Sent]

N = 2
CLOSE = {"rtol": 0, "atol": 1e-9}

small = pytest.mark.parametrize(
    "design", parameters(lambda design: design.channel.responses <= 8)
)
invertible = pytest.mark.parametrize(
    "design",
    parameters(lambda design: design.channel.answers == design.channel.responses),
)


@lru_cache(maxsize=1 << 14)
def estimated(
    design: dn.Design, sent: Sent, population: int | None
) -> tuple[Vector, Vector]:
    """What two people's responses are told to mean: the shares, and the covariance that the estimate claims."""
    with warnings.catch_warnings():
        # two people may well send unlikely things
        warnings.simplefilter("ignore", dn.errors.ImplausibleResponses)
        found = dn.estimate(
            dn.tally(design, [design.symbols[number] for number in sent]),
            population=population,
        )
    return np.array(list(found.params.values())), found.cov_params()


def worlds(design: dn.Design, answers: tuple[int, ...]) -> Iterator[World]:
    """All that may be sent by respondents with these answers, in no order: a probability and the responses."""
    channel = design.channel
    possible = [
        number for number in range(channel.responses) if channel.possible(number)
    ]
    for sent in product(possible, repeat=len(answers)):
        chance = Fraction(1)
        for response, answer in zip(sent, answers, strict=True):
            chance *= channel.probability(response, given=answer)
        if chance:
            yield chance, tuple(sorted(sent))


def drawn_worlds(design: dn.Design, truth: Vector) -> Iterator[World]:
    """All that two people may send who are drawn from a distribution."""
    for one, two in product(range(len(truth)), repeat=N):
        chance = Fraction(float(truth[one])) * Fraction(float(truth[two]))
        yield from (
            (chance * each, sent) for each, sent in worlds(design, (one, two))
        )


def averaged(
    design: dn.Design, everything: Iterator[World], population: int | None
) -> tuple[Vector, Vector, Vector, Fraction]:
    """Average over all worlds: the estimate, its covariance, the covariance that it claims, and the total chance."""
    together: defaultdict[Sent, Fraction] = defaultdict(Fraction)
    for chance, sent in everything:
        together[sent] += chance
    chances = np.array([float(each) for each in together.values()])
    found = [estimated(design, sent, population) for sent in together]
    values, claims = (
        np.array([value for value, _ in found]),
        np.array([claimed for _, claimed in found]),
    )
    mean = chances @ values
    covariance = (values - mean).T @ (chances[:, None] * (values - mean))
    return (
        mean,
        covariance,
        np.tensordot(chances, claims, 1),
        sum(together.values(), Fraction(0)),
    )


def shares(answers: tuple[int, ...], size: int) -> Vector:
    return np.bincount(answers, minlength=size) / len(answers)


@every_design
def test_the_estimate_is_right_on_average_for_any_two_people(
    design: dn.Design,
) -> None:
    size = design.channel.answers
    pairs = list(product(range(size), repeat=N))
    for answers in pairs if size <= 4 else pairs[:: size + 1] + pairs[1:3]:
        mean, _, _, total = averaged(design, worlds(design, answers), None)
        assert total == 1
        np.testing.assert_allclose(mean, shares(answers, size), **CLOSE)


@invertible
def test_where_everything_is_told_the_estimate_is_one_person_each(
    design: dn.Design,
) -> None:
    """Where as many responses occur as there are answers, L·P = 1 leaves no choice: L is the inverse, whoever sends."""
    channel = design.channel
    rows = np.array(
        [
            [float(channel.probability(i, given=j)) for j in range(channel.answers)]
            for i in range(channel.responses)
        ]
    )
    for number in range(channel.responses):
        found, _ = estimated(design, (number,) * N, None)
        np.testing.assert_allclose(
            rows @ found, np.eye(channel.responses)[number], **CLOSE
        )


@small
def test_a_census_of_two_has_the_covariance_that_it_claims(
    design: dn.Design,
) -> None:
    for answers in ((0, 0), (0, 1), (1, 1)):
        mean, covariance, claimed, total = averaged(
            design, worlds(design, answers), N
        )
        assert total == 1
        np.testing.assert_allclose(
            mean, shares(answers, design.channel.answers), **CLOSE
        )
        np.testing.assert_allclose(claimed, covariance, **CLOSE)


@small
def test_two_drawn_from_a_distribution_have_the_covariance_that_they_claim(
    design: dn.Design,
) -> None:
    size = design.channel.answers
    truth = np.arange(1, size + 1) / (size * (size + 1) // 2)
    mean, covariance, claimed, total = averaged(
        design, drawn_worlds(design, truth), None
    )
    assert float(total) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(mean, truth, **CLOSE)
    np.testing.assert_allclose(claimed, covariance, **CLOSE)


@small
def test_two_out_of_a_few_people_have_the_covariance_that_they_claim(
    design: dn.Design,
) -> None:
    people = tuple(number % design.channel.answers for number in range(4))
    pairs = list(permutations(range(len(people)), N))
    everything = (
        (chance / len(pairs), sent)
        for one, two in pairs
        for chance, sent in worlds(design, (people[one], people[two]))
    )
    mean, covariance, claimed, total = averaged(design, everything, len(people))
    assert total == 1
    np.testing.assert_allclose(mean, shares(people, design.channel.answers), **CLOSE)
    np.testing.assert_allclose(claimed, covariance, **CLOSE)
