"""Criteria of every kind for laws, and what breaking one means, written down as its definition says it."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from deniable.channel import Channel, Diagonal
from deniable.criteria import (
    BayesFactor,
    BetaFactor,
    Boundaries,
    Epsilon,
    PosteriorCap,
    RhoToRho,
    Strict,
    Verdict,
)

fractions = st.fractions(min_value=0, max_value=1, max_denominator=60)
inner = fractions.filter(lambda value: 0 < value < 1)
factors = st.fractions(min_value=1, max_value=30, max_denominator=40)


@st.composite
def upper_points(draw: st.DrawFn) -> list[tuple[Fraction, Fraction]]:
    """Points of an upper boundary, with jumps now and then."""
    priors = sorted({Fraction(0), Fraction(1), *draw(st.lists(inner, max_size=4))})
    points = []
    for p in priors:
        heights = draw(
            st.lists(fractions, min_size=1, max_size=1 if p in (0, 1) else 2)
        )
        points += [(p, p + (1 - p) * height) for height in heights]
    return points


def mirrored(
    points: list[tuple[Fraction, Fraction]],
) -> list[tuple[Fraction, Fraction]]:
    return [(1 - p, 1 - h) for p, h in reversed(points)]


def boundaries() -> st.SearchStrategy[Boundaries]:
    lower = upper_points().map(mirrored)
    return st.one_of(
        st.builds(Boundaries, upper=upper_points()),
        st.builds(Boundaries, lower=lower),
        st.builds(Boundaries, lower=lower, upper=upper_points()),
    )


def strict() -> st.SearchStrategy[Strict]:
    """A demand on every belief, of any kind."""
    pairs = (
        st.tuples(inner, inner).map(sorted).filter(lambda pair: pair[0] < pair[1])
    )
    return st.one_of(
        st.builds(Epsilon, st.floats(0, 6)),
        st.builds(BayesFactor, factors),
        st.builds(BetaFactor, factors),
        pairs.map(lambda pair: RhoToRho(*pair)),
        pairs.map(lambda pair: PosteriorCap(*pair)),
        boundaries(),
    )


def of_parity(gamma: Fraction) -> Diagonal:
    """A two-answer channel of exactly this parity."""
    return Diagonal(2, gamma.numerator, gamma.denominator)


def is_broken(verdict: Verdict, channel: Channel) -> bool:
    """Whether the belief that a verdict names is forbidden, computed from the channel and the boundaries alone."""
    witness, criterion = verdict.witness, verdict.criterion
    assert witness is not None
    assert isinstance(criterion, Strict)
    assert 0 < witness.prior < 1
    one, two = (
        channel.probability(witness.response, given=j)
        for j in (witness.likely, witness.unlikely)
    )
    posterior = (
        witness.prior * one / (witness.prior * one + (1 - witness.prior) * two)
    )
    assert posterior == witness.posterior
    if witness.upward:
        return posterior > criterion.bounds(witness.prior).upper
    return 1 - posterior < criterion.bounds(1 - witness.prior).lower
