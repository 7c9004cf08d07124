"""Shares from groups of people who responded with different designs, such as the stages of a ladder.

With π̂ᵢ the unbiased estimate from the i-th group and Vᵢ its covariance, Σ Aᵢ·π̂ᵢ is unbiased if the Aᵢ sum to I, and has
the smallest variance with Aᵢ = (Σ V⁺)⁺·Vᵢ⁺. The Vᵢ depend on the shares, which are not known before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from deniable.channel import Channel
from deniable.designs import Design
from deniable.errors import NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import (
    Ends,
    Interval,
    crossings,
    most_corners,
    profile_intervals,
    profiled_sum,
    quantile,
    score_interval,
)
from deniable.estimates.inverses import MOST_WRITTEN, left_inverse
from deniable.estimates.likelihood import Convergence, maximize_from
from deniable.estimates.linear import Linear, Written, floats
from deniable.estimates.simplex import projection
from deniable.tallies import Tally

_RANK, _LEAST_SHARE = 1e-10, 1e-6
_LEAST_CHANCE = 1e-200  # of a response that some shares rule out: counts divided by it are still numbers
_FEW = 2.0  # responses of a symbol below which normal tails fail
# of weighing anew; what a share may still move by, times √n
_MOST_ROUNDS, _STILL = 20, 1e-4


@dataclass(frozen=True, eq=False)
class WeightedCounts:
    """Responses to one design, counted with weights that are brought to an effective sample size.

    Attributes:
        design: what they were drawn with.
        counts: the cells of the tally.
        respondents: the sum of the weights, brought to the effective sample size.
        weight: the sum of the weights.
    """

    design: Design
    counts: Vector
    respondents: float
    weight: float

    @classmethod
    def of(
        cls,
        design: Design,
        sums: Callable[[Vector], Vector],
        weights: Vector,
        everybody: Vector,
    ) -> WeightedCounts:
        """Count responses.

        Args:
            design: what they were drawn with.
            sums: the cells of a tally in which each response counts with its weight.
            weights: of the responses.
            everybody: the weights w of all people, whose effective sample size is (Σ w)²/Σ w² (Kish).
        """
        weight, scale = (
            float(weights.sum()),
            float(everybody.sum() / (everybody @ everybody)),
        )
        return cls(design, vector(sums(weights) * scale), weight * scale, weight)


Counts: TypeAlias = Tally | WeightedCounts
"""The responses of some people to one design."""


def weight_of(counts: Counts) -> float:
    """Return how many people counts stand for: the sum of the weights, or how many were counted."""
    return (
        counts.weight if isinstance(counts, WeightedCounts) else counts.respondents
    )


@dataclass(frozen=True, eq=False)
class Contribution:
    """What the people of one group add to the shares.

    Attributes:
        tally: their responses.
        linear: the left inverse with which they are estimated.
        mixing: the matrix A by which that estimate enters; those of all groups sum to I.
    """

    tally: Counts
    linear: Linear
    mixing: Matrix

    @property
    def alone(self) -> Vector:
        """The shares from this group alone."""
        return self.linear.shares(self.tally.counts / self.tally.respondents)

    @property
    def weight(self) -> float:
        """The part of the whole that the group makes up, on the average over the categories.

        Shares sum to 1: their mean is given, and only what differs from it is weighed.
        """
        size = len(self.mixing)
        return float((np.trace(self.mixing) - self.mixing.sum() / size) / (size - 1))

    def covariance(self, shares: Vector, f: float) -> Matrix:
        """Return the covariance of what the group adds, if these are the shares."""
        return vector(
            self.mixing
            @ _covariance(self.linear, shares, f, self.tally.respondents)
            @ self.mixing.T
        )

    def curve(self, shares: Vector, f: float) -> Matrix:
        """Return the variance of what is added to each share as a polynomial in it: three rows, from the constant on.

        The other shares keep their proportions among each other. With A_j the j-th row of A, L the left inverse and λ
        the shares of responses, it is [A_j (L D_λ L′ − D_π) A_j′ + f (A_j D_π A_j′ − (A_j π)²)] / n, and but for the
        square it is linear in π.
        """
        own_mean, squares = np.diagonal(self.mixing), self.mixing**2
        own_device, device = self._own_devices(), self._devices(shares)
        rest = 1 - shares
        own = own_device + f * own_mean**2
        other = (device + f * (squares @ shares) - shares * own) / rest
        other_mean = (self.mixing @ shares - shares * own_mean) / rest
        slope = own_mean - other_mean
        rows = [
            other - f * other_mean**2,
            own - other - 2 * f * other_mean * slope,
            -f * slope**2,
        ]
        return vector(rows) / self.tally.respondents

    def _devices(self, shares: Vector) -> Vector:
        """Return A_j (L D_λ L′ − D_π) A_j′ for each j."""
        spread = _covariance(self.linear, shares, 0.0, 1.0)
        return vector(((self.mixing @ spread) * self.mixing).sum(axis=1))

    def _own_devices(self) -> Vector:
        """Return the same for each j if everybody is of the category j."""
        if isinstance(self.linear, Written):
            rows = self.mixing @ self.linear.inverse
            return vector(
                (rows**2 * self.linear.channel.T).sum(axis=1)
                - np.diagonal(self.mixing) ** 2
            )
        everybody = np.eye(len(self.mixing))
        return vector(
            [
                self.linear.covariance(
                    self.linear.expected(only), only, 0.0, 1.0
                ).between(row, row)
                for only, row in zip(everybody, self.mixing, strict=True)
            ]
        )


def total(parts: Sequence[Contribution]) -> Vector:
    """Return the shares from all groups."""
    return vector(
        sum(contribution.mixing @ contribution.alone for contribution in parts)
    )


def covariance(parts: Sequence[Contribution], shares: Vector, f: float) -> Matrix:
    """Return their covariance, if these are the shares."""
    return vector(sum(part.covariance(shares, f) for part in parts))


def unbiased_covariance(parts: Sequence[Contribution], f: float) -> Matrix:
    """Return the unbiased estimate of the covariance of groups side by side, whose shares may differ.

    Implements: F6, [f (D_π − ππ′) + Σ n_i/n·(L_i D_λ L_i′ − D_π)]/(n − f), with the observed shares λ of responses in
    each group: it is that of one device which is drawn with the group.
    """
    n, value = (
        sum(contribution.tally.respondents for contribution in parts),
        total(parts),
    )
    device = np.zeros((len(value), len(value)))
    for contribution in parts:
        size = contribution.tally.respondents
        device += contribution.linear.covariance(
            contribution.tally.counts / size, contribution.alone, 0.0, 1.0
        ).matrix() * (size / n)
    return vector(
        (f * (np.diag(value) - np.outer(value, value)) + device) / max(n - f, 1)
    )


@dataclass(frozen=True, eq=False)
class Weighing:
    """Groups with the weights that are best at some shares.

    Attributes:
        tallies: their responses.
        linears: the left inverse for each.
        informations: for each the inverse of its covariance, on differences of shares.
        whole: the covariance of all together.
    """

    tallies: Sequence[Counts]
    linears: Sequence[Linear]
    informations: Sequence[Matrix]
    whole: Matrix

    @classmethod
    def at(cls, tallies: Sequence[Counts], shares: Vector) -> Weighing:
        """Weigh the groups as is best at these shares, without a look at the responses."""
        inner = inside(shares)
        linears = [_inverse(tally.design.channel, inner) for tally in tallies]
        pairs = zip(linears, tallies, strict=True)
        informations = [
            _pseudo(_covariance(linear, inner, 1.0, tally.respondents))
            for linear, tally in pairs
        ]
        return cls(
            tallies, linears, informations, _pseudo(vector(sum(informations)))
        )

    @property
    def alone(self) -> list[Vector]:
        """The shares from each group alone."""
        pairs = zip(self.linears, self.tallies, strict=True)
        return [
            linear.shares(each.counts / each.respondents) for linear, each in pairs
        ]

    @property
    def value(self) -> Vector:
        """The shares from all groups."""
        pulled = sum(
            information @ shares
            for information, shares in zip(
                self.informations, self.alone, strict=True
            )
        )
        return vector(self.whole @ pulled + 1 / len(self.whole))

    @property
    def distance(self) -> float:
        """How far the groups are from all together, squared, in terms of their covariances."""
        value, pairs = self.value, zip(self.informations, self.alone, strict=True)
        return sum(
            float((shares - value) @ information @ (shares - value))
            for information, shares in pairs
        )

    def parts(self) -> list[Contribution]:
        """Return what each group adds."""
        # All estimates sum to 1 exactly: along (1, …, 1) there is nothing to weigh, and any split of it will do.
        along = 1 / len(self.whole) / len(self.tallies)
        return [
            Contribution(tally, linear, vector(self.whole @ information + along))
            for tally, linear, information in zip(
                self.tallies, self.linears, self.informations, strict=True
            )
        ]


def weighed(tallies: Sequence[Counts], at: Vector) -> list[Contribution]:
    """Return the groups with the weights that are best at these shares, without a look at the responses."""
    return Weighing.at(tallies, at).parts()


def reweighed(tallies: Sequence[Counts]) -> list[Contribution]:
    """Return the groups with the weights that are best at the shares which they give, brought into the simplex.

    Why: where it stands still inside the simplex, the slope of the likelihood is 0 (Fisher's scoring).
    """
    size = tallies[0].design.channel.answers
    still = _STILL / sum(tally.respondents for tally in tallies) ** 0.5
    shares = np.full(size, 1 / size)
    for _ in range(_MOST_ROUNDS):
        weighing = Weighing.at(tallies, shares)
        before, shares = shares, projection(weighing.value)
        if np.abs(shares - before).max() <= still:
            break
    return weighing.parts()


def side_by_side(tallies: Sequence[Counts]) -> list[Contribution]:
    """Return the groups, each with the part of the people that it holds."""
    total_weight, size = (
        sum(map(weight_of, tallies)),
        tallies[0].design.channel.answers,
    )
    return [
        Contribution(
            tally,
            left_inverse(tally.design.channel),
            np.eye(size) * (weight_of(tally) / total_weight),
        )
        for tally in tallies
    ]


def most_likely(tallies: Sequence[Counts]) -> tuple[Vector, Convergence]:
    """Return the shares under which the counts of all groups together are most likely, and how they were found.

    Why: groups are independent. With the part that each holds as a factor, their channels are one channel whose
    responses are pairs of a group and what is sent in it.

    Raises:
        NotEstimable: counts that are sums, or too large to write out.
    """
    matrix, counts = _stacked(tallies)
    start = projection(total(reweighed(tallies)))
    return maximize_from(matrix, counts, start=start)


def profile(tallies: Sequence[Counts], best: Vector, confidence: float) -> Ends:
    """Return for each category all shares whose profile log-likelihood is within z²/2 of the maximum."""
    matrix, counts = _stacked(tallies)
    return profile_intervals(matrix, counts, best, confidence)


def profile_of(
    tallies: Sequence[Counts], near: Vector, weights: Vector, confidence: float
) -> Interval | None:
    """Return the same for a weighted sum of shares, of which some near the most likely ones are known.

    Nothing, where shares with one sum have more corners than are quickly mixed.
    """
    matrix, counts = _stacked(tallies)
    if most_corners(weights) * len(matrix) > MOST_WRITTEN:
        return None
    best, _ = maximize_from(matrix, counts, start=projection(near))
    return profiled_sum(matrix, counts, best, weights, confidence)


def score(parts: Sequence[Contribution], f: float, confidence: float) -> Ends:
    """Return all π with (π̂ − π)² ≤ z²·V(π), V the variance if π were true and the weights were given beforehand.

    The other answers are taken in the proportions in which they are estimated.
    """
    value = total(parts)
    near = inside(projection(value))
    return score_interval(
        value,
        vector([contribution.curve(near, f) for contribution in parts]).sum(axis=0),
        confidence,
    )


def wide(parts: Sequence[Contribution], f: float, confidence: float) -> Ends:
    """Return the score interval together with all shares that are nearly as likely as the best one on their line.

    On the line of a category the other shares keep their proportions; for two answers it is the profile interval.

    Why: of a symbol that is sent hardly ever, one that came too many puts the lower end of the score interval too high,
    and none puts the upper end of the likelihood too low. Together they hold what each of them misses.
    """
    matrix, counts = _stacked([contribution.tally for contribution in parts])
    shares = inside(projection(total(parts)))
    expected, drop = matrix @ shares, quantile(confidence) ** 2 / 2
    ends = []
    for j, share in enumerate(shares):
        other_shares = (expected - share * matrix[:, j]) / (1 - share)
        ends.append(
            _likely(
                matrix[counts > 0, j],
                other_shares[counts > 0],
                counts[counts > 0],
                drop,
            )
        )
    low, high = score(parts, f, confidence)
    return np.minimum(low, [bounds[0] for bounds in ends]), np.maximum(
        high, [bounds[1] for bounds in ends]
    )


def _likely(
    own: Vector, others: Vector, counts: Vector, drop: float
) -> tuple[float, float]:
    """Return all t in [0, 1] at which Σ counts·log(t·own + (1 − t)·others) is not farther below its maximum."""

    def height(t: float) -> float:
        expected = np.maximum(t * own + (1 - t) * others, _LEAST_CHANCE)
        return float(counts @ np.log(expected))

    def slope(t: float) -> float:
        expected = np.maximum(t * own + (1 - t) * others, _LEAST_CHANCE)
        return float(counts @ ((own - others) / expected))

    if slope(0.0) <= 0:
        peak = 0.0
    else:
        peak = 1.0 if slope(1.0) >= 0 else float(brentq(slope, 0.0, 1.0, xtol=1e-12))
    floor = height(peak) - drop
    return crossings(lambda t: height(t) - floor, peak)


def rare(tallies: Sequence[Counts]) -> bool:
    """Return whether some group can be expected to send a symbol less than twice, and counts each symbol apart."""
    channels = [tally.design.channel for tally in tallies]
    if not all(
        channel.own_cells and channel.answers * channel.responses <= MOST_WRITTEN
        for channel in channels
    ):
        return False
    return any(
        tally.respondents * floats(tally.design.channel).min() < _FEW
        for tally in tallies
    )


def expected_covariance(
    groups: Sequence[tuple[Design, float]], shares: Vector
) -> Matrix:
    """Return the covariance of the best combination of groups, each a design and how many respond with it."""
    inner = inside(shares)
    pairs = [
        (_inverse(design.channel, inner), respondents)
        for design, respondents in groups
    ]
    inverses = [
        _pseudo(_covariance(linear, inner, 1.0, respondents))
        for linear, respondents in pairs
    ]
    return _pseudo(vector(sum(inverses)))


def homogeneity(tallies: Sequence[Counts], shares: Vector) -> float:
    """Return the probability that groups with equal shares differ as much as these: χ² of the distances to the best."""
    if len(tallies) < 2:
        return 1.0
    freedom = (len(tallies) - 1) * (len(shares) - 1)
    return float(chi2.sf(Weighing.at(tallies, shares).distance, freedom))


def _inverse(channel: Channel, at: Vector) -> Linear:
    """Return the left inverse that is best at these shares, where responses are counted apart; else at even ones."""
    written = (
        channel.own_cells and channel.answers * channel.responses <= MOST_WRITTEN
    )
    return left_inverse(channel, guess=at if written else None)


def _covariance(
    linear: Linear, shares: Vector, f: float, respondents: float
) -> Matrix:
    return linear.covariance(
        linear.expected(shares), shares, f, respondents
    ).matrix()


def _stacked(tallies: Sequence[Counts]) -> tuple[Matrix, Vector]:
    """Return the channels of all groups on top of each other, each times the part of the people in it; and counts."""
    if not all(each.design.channel.own_cells for each in tallies):
        raise NotEstimable(
            "the likelihood needs a count for every response; the tally of some stage keeps sums.",
            'Use method="information".',
        )
    n = sum(each.respondents for each in tallies)
    rows = [floats(each.design.channel) * (each.respondents / n) for each in tallies]
    return vector(np.vstack(rows)), vector(
        np.concatenate([each.counts for each in tallies])
    )


def inside(shares: Vector) -> Vector:
    """Return shares of which none is 0: of a direct question that one had no variance, and weights did not sum to I."""
    raised = np.maximum(shares, _LEAST_SHARE)
    return vector(raised / raised.sum())


def _pseudo(matrix: Matrix) -> Matrix:
    """Return the pseudo-inverse on differences of shares; covariances of shares are singular along (1, …, 1)."""
    size = len(matrix)
    scale = np.trace(matrix) / size
    centred = (
        matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()
    )
    try:
        inverse = np.linalg.inv(centred + scale / size)
    except np.linalg.LinAlgError:
        inverse = np.full_like(matrix, np.inf)
    if (
        not np.abs(centred).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max()
        <= 1 / _RANK
    ):
        return vector(np.linalg.pinv(centred, rcond=_RANK, hermitian=True))
    return vector(inverse - 1 / (scale * size))
