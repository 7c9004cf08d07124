"""The left inverse of a channel: its own, the best one at a guess, or one that is given."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.channel import Channel, TwoLevel
from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.kronecker import product_inverse
from deniable.estimates.linear import Linear, Written, floats, written_inverse
from deniable.estimates.supported import (
    by_patterns,
    by_sizes,
    summing_to_one,
    supported,
)

MOST_WRITTEN = 1 << 20
"""Cells of a left inverse that is written out where the one from support would do: 8 MB, a thousand categories."""


def left_inverse(
    channel: Channel, *, guess: Vector | None = None, inverse: Matrix | None = None
) -> Linear:
    """Return a left inverse: the channel's own, the best one at a guess of the shares, or one that is given.

    Implements: L = (P′D⁻¹P)⁻¹P′D⁻¹ with D = diag(P·guess), the locally best linear unbiased estimator of F6; where P is
    square every choice is P⁻¹. Without a guess it is taken at even shares.

    Raises:
        NotEstimable: the channel has not full rank.
        InvalidRequest: what is given is no left inverse of the channel.
    """
    if inverse is not None:
        return _check_inverse(channel, np.asarray(inverse, np.float64))
    return own_inverse(channel, guess)


def own_inverse(channel: Channel, guess: Vector | None) -> Linear:
    """Return the left inverse of a channel by its structure: factors, support, or written out."""
    if guess is not None and not channel.own_cells:
        raise InvalidRequest(
            "a guess needs a count for every response; the tally of this design keeps sums.",
            "Leave the guess away: the estimate is the best one at even shares.",
        )
    if guess is not None and channel.answers != channel.responses:
        # of a product, it is one only if the guess is
        return written_inverse(channel, guess)
    if channel.product is not None:
        return product_inverse(channel.product)
    sets = channel.set_valued
    if channel.patterned is not None:
        return by_patterns(channel.patterned)
    if sets is not None:
        return (
            by_sizes(sets)
            if sets.by_size or sets.own_cells
            else summing_to_one(sets)
        )
    return (
        two_level_inverse(channel.two_level)
        if channel.two_level is not None
        else written_inverse(channel, guess)
    )


@lru_cache(maxsize=8)  # of at most 8 MB each
def two_level_inverse(channel: TwoLevel) -> Linear:
    """Return the best left inverse at even shares: from support, where that knows that the shares sum to one.

    Why: where all responses support equally many categories, the estimate from support sums to one, and is the best.
    Otherwise the best one is written out, which for very many categories costs more than it gains.
    """
    from_support = supported(channel)
    backed = from_support.support.scatter(np.ones(from_support.size))
    if np.ptp(backed) < 0.5 or from_support.size * channel.responses > MOST_WRITTEN:
        return from_support
    return written_inverse(channel, None)


def _check_inverse(channel: Channel, inverse: Matrix) -> Linear:
    if not channel.own_cells:
        raise NotEstimable(
            "an inverse needs a count for every response; the tally of this design keeps sums."
        )
    matrix = floats(channel)
    if inverse.shape != matrix.T.shape:
        raise InvalidRequest(
            f"the left inverse has shape {inverse.shape}; expected {matrix.T.shape}."
        )
    if not np.allclose(inverse @ matrix, np.eye(channel.answers), rtol=0, atol=1e-8):
        raise InvalidRequest(
            "L·P is not the identity, so the estimate would be biased; expected a left inverse of the channel."
        )
    return Written(inverse, matrix)


def mean_inverse(design: Design) -> Matrix:
    """Return the left inverse that estimates by the mean response: (mean − m₀) / (m₁ − m₀), m₁ that of members.

    Responses count from 1. Hand it to `estimate(tally, inverse=…)` or `covariance(…, inverse=…)`. It is the customary
    estimate of `christofides` and of `kuk`. For two responses it is the inverse that `estimate` takes by itself; for
    more `estimate` takes the one with the smallest variance at even shares.

    Implements: the estimators of [Chr03], where members send L + 1 − card, and of [Kuk90].

    Raises:
        InvalidRequest: not a design for two answers.
        NotEstimable: members and others have the same mean response.

    Example:
        >>> from deniable.designs import christofides
        >>> design = christofides(cards=["1/10", "3/10", "6/10"])
        >>> mean_inverse(design)[1].round(6).tolist()
        [1.5, 0.5, -0.5]
    """
    channel = design.channel
    if channel.answers != 2 or not channel.own_cells:
        raise InvalidRequest(
            f"{design!r} is not a design for two answers; expected one, such as christofides() and kuk() build."
        )
    numbers = range(1, channel.responses + 1)
    others, members = (
        sum((r * channel.probability(r - 1, given=j) for r in numbers), Fraction(0))
        for j in (0, 1)
    )
    if others == members:
        raise NotEstimable(
            f"the mean response of members and of others is {others}, so that it tells nothing about the members.",
            "Leave the inverse away: other differences between the responses still tell the shares.",
        )
    scores = [(r - others) / (members - others) for r in numbers]
    return np.array(
        [[float(1 - score) for score in scores], [float(score) for score in scores]]
    )
