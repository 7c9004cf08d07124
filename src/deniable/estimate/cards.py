"""The customary estimate for cards with numbers: from the mean of what was sent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from deniable.design import Design
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimate.covariance import Matrix


def christofides_inverse(design: Design) -> Matrix:
    """Return the left inverse that estimates by the mean response: (mean − EY) / (L + 1 − 2·EY), EY the mean card.

    Hand it to `estimate(tally, inverse=…)` or `covariance(…, inverse=…)`. For two and three cards it is the inverse
    that `estimate` takes by itself; for more cards `estimate` takes the one with the smallest variance at even shares.

    Implements: the estimator of [Chr03].

    Raises:
        InvalidRequest: not a design of cards, where members send L + 1 − card.
        NotEstimable: the mean card is in the middle.

    Example:
        >>> from deniable.design import christofides
        >>> design = christofides(cards=["1/10", "3/10", "6/10"])
        >>> christofides_inverse(design)[1].round(6).tolist()
        [1.5, 0.5, -0.5]
    """
    channel = design.channel
    size = channel.responses
    if channel.answers != 2 or any(
        channel.probability(r, given=0) != channel.probability(size - 1 - r, given=1) for r in range(size)
    ):
        raise InvalidRequest(
            f"{design!r} is not a design of cards; expected one in which members send L + 1 − card.",
            "Build it with christofides().",
        )
    mean = sum(((r + 1) * channel.probability(r, given=0) for r in range(size)), Fraction(0))
    gap = size + 1 - 2 * mean
    if gap == 0:
        raise NotEstimable(
            f"the mean card is {mean}, in the middle, so that the mean response tells nothing about the members.",
            "Leave the inverse away: other differences between the responses still tell the shares.",
        )
    members = [(r - mean) / gap for r in range(1, size + 1)]
    return np.array([[float(1 - weight) for weight in members], [float(weight) for weight in members]])
