"""What was added to the library so that the papers could be made again, in rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from deniable.channel import Dense
from deniable.criteria import BetaFactor, Boundaries, RhoToRho
from deniable.designs import best_t, subset
from deniable.designs.sets_of_answers import subset_trace
from deniable.designs.three_answers_best import Club
from tests.support.rational import table
from tests.support.three_answers import covariance

F = Fraction
UPPER = [(0, "1/20"), ("1/10", "3/10"), ("1/2", "4/5"), (1, 1)]
LOWER = [(0, 0), ("3/10", "7/50"), ("7/10", "19/50"), (1, "3/4")]


@pytest.mark.parametrize("p2", [F(1, 3), F(1, 2), F(4, 5)])
@pytest.mark.parametrize("share", [F(0), F(3, 10), F(1)])
def test_the_first_variance_is_that_of_two_answers(p2: F, share: F) -> None:
    """Whoever asks only "the first or not" has a design with two answers, also where the others send alike."""
    club = Club.dagger(F(3, 5), p2)
    (kept, *_), (stray, *_), _ = club.columns
    sent = share * kept + (1 - share) * stray
    assert club.first_variance(share) == sent * (1 - sent) / (kept - stray) ** 2
    if club.other_gap:
        shares = (share, (1 - share) / 2, (1 - share) / 2)
        assert covariance(club, shares)[0][0] == club.first_variance(share)


@pytest.mark.parametrize(("k", "gamma"), [(4, F(2)), (5, F(3)), (6, F(11, 10))])
def test_the_trace_is_that_of_the_written_table(k: int, gamma: F) -> None:
    for t in range(1, k):
        rows = table(subset(k, t=t, p=t * gamma / (t * gamma + k - t)).channel)
        # At even shares D holds the row sums over k.
        trace = sum(
            cell * cell * k / sum(row) for row in rows if any(row) for cell in row
        )
        assert subset_trace(k, t, gamma) == trace
    assert max(range(1, k), key=lambda t: subset_trace(k, t, gamma)) == best_t(
        k, gamma
    )


def test_complements_hold_an_event_to_both_boundaries() -> None:
    demand = Boundaries(lower=LOWER, upper=UPPER)
    for prior in (F(i, 20) for i in range(21)):
        own, other, both = (
            demand.bounds(prior),
            demand.bounds(1 - prior),
            demand.both_ways(prior),
        )
        assert both.upper == min(own.upper, 1 - other.lower)
        assert both.lower == max(own.lower, 1 - other.upper)
        again = demand.both_ways(1 - prior)
        assert (again.lower, again.upper) == (1 - both.upper, 1 - both.lower)
    assert demand.both_ways("9/10") != demand.bounds("9/10")


@pytest.mark.parametrize(
    "demand",
    [RhoToRho("1/10", "1/2"), Boundaries(lower=LOWER, upper=UPPER), BetaFactor(3)],
)
def test_a_design_at_the_allowed_parity_stays_within_both(
    demand: RhoToRho | Boundaries | BetaFactor,
) -> None:
    gamma = F(demand.parity)
    channel = Dense.from_rows(
        [
            [gamma / (gamma + 1), 1 / (gamma + 1)],
            [1 / (gamma + 1), gamma / (gamma + 1)],
        ]
    )
    for prior in (F(i, 50) for i in range(1, 50)):
        allowed = demand.both_ways(prior)
        for response in (0, 1):
            likely, unlikely = (
                channel.probability(response, given=answer) for answer in (0, 1)
            )
            after = prior * likely / (prior * likely + (1 - prior) * unlikely)
            assert allowed.lower <= after <= allowed.upper
