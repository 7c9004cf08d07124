"""What holds for every criterion and every channel."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deniable.channel import Channel, Dense
from deniable.criteria import (
    Boundaries,
    KnownPrior,
    Relaxed,
    Strict,
    bayes_error,
    delta_curve,
    least_bayes_error,
    posterior_bounds,
    posterior_range,
)
from deniable.criteria import posterior as belief_after
from tests.support import brute
from tests.support.demands import (
    boundaries,
    fractions,
    inner,
    is_broken,
    of_parity,
    strict,
)
from tests.support.rational import table
from tests.support.strategies import channels, dense, priors

A_LITTLE = 1 + Fraction(1, 10**6)


@given(strict())
def test_the_parity_of_a_demand_is_necessary_and_sufficient(
    criterion: Strict,
) -> None:
    gamma = criterion.parity
    assume(gamma != math.inf)
    assert gamma >= 1
    at, above = of_parity(Fraction(gamma)), of_parity(Fraction(gamma) * A_LITTLE)
    assert criterion.check(at).holds
    verdict = criterion.check(above)
    assert not verdict.holds
    assert verdict.attained == gamma * A_LITTLE
    assert is_broken(verdict, above)


@given(strict(), channels())
def test_a_verdict_compares_the_brute_force_parity_with_what_is_allowed(
    criterion: Strict, channel: Channel
) -> None:
    verdict = criterion.check(channel)
    assert verdict.attained == brute.parity(table(channel))
    assert verdict.required == criterion.parity
    assert verdict.holds is bool(verdict) is (verdict.attained <= verdict.required)
    assert verdict.holds or is_broken(verdict, channel)
    assert verdict.sentence.startswith("Holds" if verdict.holds else "Fails")


@given(
    strict(),
    st.integers(2, 4).flatmap(
        lambda size: st.tuples(dense(responses=size), dense(answers=size))
    ),
)
def test_post_processing_never_breaks_a_demand(
    criterion: Strict, pair: tuple[Dense, Dense]
) -> None:
    first, second = pair
    before, after = criterion.check(first), criterion.check(second @ first)
    assert after.attained <= before.attained
    assert after.holds or not before.holds


@given(
    st.integers(2, 4).flatmap(
        lambda size: st.tuples(dense(answers=3, responses=size), dense(answers=size))
    ),
    st.floats(0, 3),
    fractions,
    priors(3),
    inner,
)
def test_post_processing_never_breaks_the_other_demands(
    pair: tuple[Dense, Dense],
    epsilon: float,
    delta: Fraction,
    prior: tuple[Fraction, ...],
    most: Fraction,
) -> None:
    first, second = pair
    demands = [Relaxed(epsilon, delta)] + (
        [KnownPrior(prior, most)] if most >= max(prior) else []
    )
    for demand in demands:
        before, after = demand.check(first), demand.check(second @ first)
        assert after.attained <= before.attained
        assert after.holds or not before.holds
    assert bayes_error(second @ first, prior) >= bayes_error(first, prior)


@given(channels(), st.floats(0, 3), fractions)
def test_a_parity_that_suffices_for_epsilon_and_delta(
    channel: Channel, epsilon: float, delta: Fraction
) -> None:
    demand = Relaxed(epsilon, delta)
    verdict = demand.check(channel)
    assert verdict.holds or channel.parity > demand.parity
    if not verdict.holds:
        witness = verdict.witness
        assert witness is not None
        one, two = (
            sum(channel.probability(i, given=j) for i in witness.responses)
            for j in (witness.likely, witness.unlikely)
        )
        assert one - two * demand._ratio == verdict.attained > demand.delta
        assert witness.posterior == one / (one + two)


@given(st.floats(0, 3), fractions.filter(lambda delta: delta < 1))
def test_no_larger_parity_suffices_for_epsilon_and_delta(
    epsilon: float, delta: Fraction
) -> None:
    demand = Relaxed(epsilon, delta)
    assert demand.check(of_parity(Fraction(demand.parity))).holds
    assert not demand.check(of_parity(Fraction(demand.parity) * A_LITTLE)).holds


@given(boundaries(), inner)
def test_no_prior_allows_less_than_the_infimum(
    criterion: Boundaries, prior: Fraction
) -> None:
    lower, upper = criterion.bounds(prior)
    odds = prior / (1 - prior)
    if upper < 1:
        assert upper / (1 - upper) / odds >= criterion.parity
    if lower > 0:
        assert odds * (1 - lower) / lower >= criterion.parity


@given(channels(), st.data())
def test_beliefs_stay_within_the_bounds_of_the_parity(
    channel: Channel, data: st.DataObject
) -> None:
    prior = data.draw(priors(channel.answers))
    event = data.draw(st.sets(st.integers(0, channel.answers - 1), min_size=1))
    before = sum(prior[j] for j in event)
    found = posterior_range(channel, prior, event)
    bounds = posterior_bounds(channel.parity, before)
    assert (
        bounds.lower
        <= found.least.posterior
        <= before
        <= found.most.posterior
        <= bounds.upper
    )
    rows = table(channel)
    possible = [i for i, row in enumerate(rows) if any(row)]
    after = {
        i: sum(brute.posterior(rows, prior, i)[j] for j in event) for i in possible
    }
    assert (found.least.posterior, found.most.posterior) == (
        min(after.values()),
        max(after.values()),
    )
    assert after[found.most.response] == found.most.posterior
    assert belief_after(channel, prior, possible[0]) == brute.posterior(
        rows, prior, possible[0]
    )


@given(channels(), st.data())
def test_nobody_guesses_better_than_the_parity_allows(
    channel: Channel, data: st.DataObject
) -> None:
    prior = data.draw(priors(channel.answers))
    error = bayes_error(channel, prior)
    assert error == 1 - sum(
        max(p * q for p, q in zip(prior, row, strict=True)) for row in table(channel)
    )
    assert least_bayes_error(channel.parity, prior) <= error <= 1 - max(prior)


@given(channels(), st.lists(st.floats(0, 4), min_size=2, max_size=4).map(sorted))
@settings(max_examples=50)
def test_the_delta_curve_falls_and_is_the_brute_force_one(
    channel: Channel, epsilons: list[float]
) -> None:
    curve = delta_curve(channel, epsilons)
    assert sorted(curve, reverse=True) == list(curve)
    slow = [
        brute.delta(table(channel), Relaxed(epsilon, 0)._ratio)
        for epsilon in epsilons[:1]
    ]
    assert Fraction(math.nextafter(curve[0], -1)) < slow[0] <= Fraction(curve[0])
