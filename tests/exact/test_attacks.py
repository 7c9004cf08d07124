"""Attacks on chains, history by history in exact rationals, beside the bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import deniable as dn
from deniable.attacks import ATTACKS, error_rates
from deniable.channel import Channel
from deniable.criteria import bayes_error, least_bayes_error
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder
from tests.support.ladders import small

SHORT = {
    name: Ladder(each.designs[:3], each.steps[:2])
    for name, each in small().items()
    if each.joint_parity < 1e9
}
every_ladder = pytest.mark.parametrize("name", sorted(SHORT))


def responses(channel: Channel) -> list[int]:
    return [r for r in range(channel.responses) if channel.possible(r)]


def by_hand(
    stages: Ladder, prior: list[Fraction], weights: list[Fraction]
) -> dict[str, Fraction]:
    """Go through every history: guess, and count what is wrong; ties are split evenly."""
    size = len(prior)
    wrong = dict.fromkeys(ATTACKS, Fraction(0))
    for history in product(*(responses(design.channel) for design in stages)):
        law = [stages.probability(history, given=x) for x in range(size)]
        if not any(law):
            continue
        rows = [
            [design.channel.probability(each, given=x) for x in range(size)]
            for design, each in zip(stages, history, strict=True)
        ]
        votes = [[Fraction(each == max(row)) for each in row] for row in rows]
        scores = {
            "last output": votes[-1],
            "maximum likelihood": law,
            "highest frequency": [
                sum(column) for column in zip(*votes, strict=True)
            ],
            "weighted highest frequency": [
                sum(
                    weight * each
                    for weight, each in zip(weights, column, strict=True)
                )
                for column in zip(*votes, strict=True)
            ],
            "Bayes' rule": [
                alpha * each for alpha, each in zip(prior, law, strict=True)
            ],
        }
        for attack, score in scores.items():
            best = [x for x in range(size) if score[x] == max(score)]
            wrong[attack] += sum(prior[x] * law[x] for x in range(size))
            wrong[attack] -= sum(prior[x] * law[x] for x in best) / len(best)
    return wrong


@every_ladder
def test_error_rates_are_those_of_all_histories(name: str) -> None:
    stages = SHORT[name]
    size = len(stages.categories)
    weights = [1.5, 2.25, 3.5][: len(stages)]
    for prior in (
        [Fraction(1, size)] * size,
        [Fraction(2 * x + 1, size**2) for x in range(size)],
    ):
        rates = error_rates(stages, prior=prior, weights=weights, exact=True)
        assert rates.errors == by_hand(
            stages, prior, [Fraction(str(each)) for each in weights]
        )
        assert rates.bound == least_bayes_error(stages.designs[-1].parity, prior)
        assert all(each >= rates.bound for each in rates.errors.values())
        assert rates.beaten() == ()


@every_ladder
def test_all_responses_together_tell_no_more_than_the_last(name: str) -> None:
    stages = SHORT[name]
    size = len(stages.categories)
    even = [Fraction(1, size)] * size
    rates = error_rates(stages, prior=even, exact=True)
    assert (
        rates.errors["maximum likelihood"]
        == rates.errors["last output"]
        == bayes_error(stages.designs[-1], even)
    )


@pytest.mark.parametrize("m", [2, 3, 5, 8])
def test_k_ary_designs_attain_the_bound(m: int) -> None:
    stages = ladder([dn.k_ary(m, p=Fraction(g, g + m - 1)) for g in (2, 3, 5)])
    rates = error_rates(stages, exact=True)
    assert rates.errors["last output"] == rates.bound == 1 - Fraction(5, 5 + m - 1)
    assert rates.errors["highest frequency"] > rates.bound


def test_floats_and_rationals_agree() -> None:
    stages = small()["k_ary"]
    floats, rationals = error_rates(stages), error_rates(stages, exact=True)
    assert all(abs(floats[each] - rationals[each]) < 1e-12 for each in ATTACKS)


def test_independent_responses_would_beat_the_bound() -> None:
    """The bound is one: who asks twice at ε and promises ε is found out."""
    design = dn.warner(p="3/4")
    promised = least_bayes_error(design.parity, [Fraction(1, 2)] * 2)
    both = dn.product([design, dn.warner(p="3/4")]).channel
    twice = (
        1
        - sum(max(both.probability(r, given=x) for x in (0, 3)) for r in range(4))
        / 2
    )
    # of two coins the second decides nothing: they may disagree
    assert twice == promised == Fraction(1, 4)
    third = dn.product([design, design, design]).channel
    thrice = (
        1
        - sum(max(third.probability(r, given=x) for x in (0, 7)) for r in range(8))
        / 2
    )
    assert thrice < promised
