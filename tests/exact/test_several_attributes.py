"""Products in rationals: margins, joint covariance, and what a response tells about one attribute and about all."""

from __future__ import annotations

from fractions import Fraction
from itertools import product as combos

import numpy as np
import pytest

from deniable.criteria.belief import posterior
from deniable.designs import Design, binary, k_ary, matrix, product, rr3_club, warner
from deniable.estimates import covariance, estimate
from deniable.tallies import Tally, marginal
from tests.support.rational import Table, applied, inverse, kronecker, table

F = Fraction
DESIGNS = [
    product({"a": warner(p="3/4"), "b": binary("9/10", "7/10")}),
    product({"a": k_ary(3, p="1/2"), "b": warner(p="1/3")}),
    product(
        {
            "a": warner(p="2/3"),
            "b": rr3_club("4/5", "13/20", "7/10"),
            "c": warner(p="3/5"),
        }
    ),
]
every = pytest.mark.parametrize("design", DESIGNS, ids=range(3))


def sizes(design: Design) -> list[int]:
    return [part.channel.answers for _, part in design.factors]


def summed(
    values: tuple[Fraction, ...], shape: list[int], axis: int
) -> tuple[Fraction, ...]:
    """Add up a table of cells over all axes but one."""
    totals = [F(0)] * shape[axis]
    for value, place in zip(values, combos(*map(range, shape)), strict=True):
        totals[place[axis]] += value
    return tuple(totals)


def observed(design: Design, seed: int) -> tuple[list[int], tuple[Fraction, ...]]:
    counts = (
        np.random.default_rng(seed)
        .integers(0, 50, design.channel.responses)
        .tolist()
    )
    return counts, tuple(F(count, sum(counts)) for count in counts)


@every
def test_the_inverse_of_a_product_is_the_product_of_the_inverses(
    design: Design,
) -> None:
    rows: Table = table(design.factors[0].design.channel)
    own = inverse(rows)
    for _, part in design.factors[1:]:
        rows, own = (
            kronecker(rows, table(part.channel)),
            kronecker(own, inverse(table(part.channel))),
        )
    assert rows == table(design.channel)
    assert own == inverse(rows)


@every
@pytest.mark.parametrize("seed", range(3))
def test_the_margin_of_the_joint_estimate_is_the_estimate_of_the_attribute_alone(
    design: Design, seed: int
) -> None:
    counts, shares = observed(design, seed)
    joint = applied(inverse(table(design.channel)), shares)
    tally = Tally(design, counts)
    for axis, (attribute, part) in enumerate(design.factors):
        alone = applied(
            inverse(table(part.channel)), summed(shares, sizes(design), axis)
        )
        assert summed(joint, sizes(design), axis) == alone
        ours = estimate(marginal(tally, attribute))
        assert ours.design == part
        assert np.allclose(
            ours.value, np.array(alone, np.float64), rtol=0, atol=1e-13
        )
    assert np.allclose(
        estimate(tally).value, np.array(joint, np.float64), rtol=0, atol=1e-12
    )


@every
def test_the_covariance_of_a_margin_is_that_of_the_attribute_alone(
    design: Design,
) -> None:
    counts, _ = observed(design, 5)
    tally = Tally(design, counts)
    for population in (None, sum(counts), 10 * sum(counts)):
        whole = estimate(tally, population=population).cov_params()
        shape = sizes(design)
        for axis, (attribute, _) in enumerate(design.factors):
            member = np.indices(shape)[axis].ravel()[:, None] == np.arange(
                shape[axis]
            )
            alone = estimate(
                marginal(tally, attribute), population=population
            ).cov_params()
            assert np.allclose(
                member.T @ whole @ member, alone, rtol=1e-9, atol=1e-15
            )


@pytest.mark.parametrize(
    "shares",
    [
        [F(1, 4)] * 4,
        [F(1, 10), F(2, 10), F(3, 10), F(4, 10)],
        [F(1), F(0), F(0), F(0)],
    ],
)
def test_the_joint_covariance_is_that_of_all_worlds_of_two_respondents(
    shares: list[Fraction],
) -> None:
    design = DESIGNS[0]
    rows = table(design.channel)
    own = inverse(rows)
    moments = [[F(0)] * 4 for _ in range(4)]
    mean = [F(0)] * 4
    for answers in combos(range(4), repeat=2):
        for responses in combos(range(4), repeat=2):
            chance = shares[answers[0]] * shares[answers[1]]
            chance *= rows[responses[0]][answers[0]] * rows[responses[1]][answers[1]]
            found = [
                (own[j][responses[0]] + own[j][responses[1]]) / 2 for j in range(4)
            ]
            for i in range(4):
                mean[i] += chance * found[i]
                for j in range(4):
                    moments[i][j] += (
                        chance * (found[i] - shares[i]) * (found[j] - shares[j])
                    )
    assert mean == shares
    got = covariance(design, [float(share) for share in shares], 2)
    assert np.allclose(got, np.array(moments, np.float64), rtol=1e-12, atol=1e-13)


def test_a_margin_of_several_attributes_keeps_the_order_named() -> None:
    design = DESIGNS[2]
    tally = Tally(design, list(range(12)), missing=3)
    cube = np.arange(12).reshape(2, 3, 2)
    pair = marginal(tally, "c", "b")
    assert pair.design == design.part("c", "b")
    assert pair.counts.tolist() == cube.sum(axis=0).T.ravel().tolist()
    assert (pair.missing, pair.respondents) == (3, 66)
    assert marginal(marginal(tally, "c", "b"), "b") == marginal(tally, "b")
    assert marginal(tally, "a", "b", "c") == tally


def test_a_margin_of_a_factor_with_more_responses_than_answers() -> None:
    wide = matrix([[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]])
    design = product({"a": wide, "b": warner(p="3/4")})
    tally = Tally(design, [10, 20, 30, 15, 5, 20])
    joint = estimate(tally).value.reshape(2, 2)
    assert np.allclose(
        estimate(marginal(tally, "a")).value, joint.sum(axis=1), rtol=0, atol=1e-12
    )
    assert np.allclose(
        estimate(marginal(tally, "b")).value, joint.sum(axis=0), rtol=0, atol=1e-12
    )


PRIORS = [(F(1, 2), F(1, 2)), (F(1, 10), F(9, 10)), (F(99, 100), F(1, 100))]


@pytest.mark.parametrize("first", PRIORS)
@pytest.mark.parametrize("second", PRIORS)
def test_who_takes_the_attributes_for_unrelated_learns_from_each_response_about_its_own_attribute_alone(
    first: tuple[Fraction, ...], second: tuple[Fraction, ...]
) -> None:
    design = DESIGNS[0]
    prior = [p * q for p, q in combos(first, second)]
    for response in range(4):
        after = posterior(design, prior, response)
        own = response // 2
        alone = posterior(design.part("a"), first, own)
        assert (after[0] + after[1], after[2] + after[3]) == alone
        odds = (alone[1] / alone[0]) / (first[1] / first[0])
        assert max(odds, 1 / odds) <= design.part("a").parity


def test_who_ties_the_attributes_together_gains_the_product_of_the_factors() -> None:
    design = product({"a": warner(p="3/4"), "b": warner(p="2/3")})
    tied = [F(1, 2), F(0), F(0), F(1, 2)]  # a and b always agree
    after = posterior(design, tied, 3)
    assert (
        after[3] / after[0]
        == design.parity
        == design.part("a").parity * design.part("b").parity
        == 6
    )
