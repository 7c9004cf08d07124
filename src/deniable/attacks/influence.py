"""What single responses add to an estimate, and how far a part of them can have moved it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Ends, Interval
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear
from deniable.estimates.shares import Estimate
from deniable.estimates.stages import StageEvidence
from deniable.estimates.supported import BySize, Summing, Supported
from deniable.tallies import Tally

_MAX_CELLS = 1 << 24  # responses times categories that are written out: 134 MB
_ROUNDING = 1e-12  # of a product of two floats
_SAME = 1e-9  # a matrix of weights this close to one weight for all categories is that weight


@dataclass(frozen=True, eq=False)
class Pulls:
    """What each response adds to n times each share. Rows are groups of responses that add the same.

    Attributes:
        values: what a response of the group adds, groups × categories.
        counts: how many responses the group has, groups × categories.
    """

    values: Matrix
    counts: NDArray[np.int64]


def pulls(tally: Tally) -> Pulls:
    """Return what the counted responses add to the unbiased estimate, share by share; where a tally keeps sums of sets,
    to the customary one, which hangs on whether a set holds a category alone.

    Raises:
        NotEstimable: a channel that cannot tell answers apart, or one too large to write out.
    """
    return _pulls(left_inverse(tally.design.channel), tally)


def _pulls(linear: Linear, tally: Tally) -> Pulls:
    """Take the few groups of responses that a left inverse by support tells apart; otherwise go cell by cell."""
    if isinstance(linear, Summing):
        linear = linear.raw
    if isinstance(linear, Supported):
        # A response supports a category or does not: (z − q) / (p − q) with z of 1 or 0.
        hits = np.rint(linear.support.gather(vector(tally.counts))).astype(np.int64)
        values = np.repeat(
            [[(1 - linear.q) / linear.gap], [-linear.q / linear.gap]],
            len(hits),
            axis=1,
        )
        return Pulls(values, np.stack([hits, tally.respondents - hits]))
    if isinstance(linear, BySize):
        on_levels = linear.on_levels(tally.counts).reshape(-1, linear.size)
        scores = linear.scores.reshape(-1, 1)
        return Pulls(np.tile(scores, (1, linear.size)), on_levels)
    return _cell_pulls(linear, tally)


def _cell_pulls(linear: Linear, tally: Tally) -> Pulls:
    cells, size = tally.design.channel.cells, len(tally.design.categories)
    if cells * size > _MAX_CELLS:
        raise NotEstimable(
            f"there are {cells:,} × {size:,} cells to go through; expected at most {_MAX_CELLS:,}."
        )
    cell_shares = np.array([linear.shares(unit) for unit in np.eye(cells)])
    return Pulls(
        cell_shares, np.broadcast_to(tally.counts[:, None], cell_shares.shape)
    )


def swing(
    subject: Tally | Estimate[StageEvidence],
    share: float,
    *,
    linear: Linear | None = None,
) -> tuple[Interval, ...]:
    """Return between which values each share lies if some responses were fabricated, whichever they are.

    For each category it is the smallest and the largest estimate from the other responses alone, over all choices of
    ⌊share·n⌋ that are left out. Both ends are attained, but where a tally keeps sums of sets of several sizes: there
    no choice goes beyond them. Chance comes on top: this is no confidence interval.

    Why: the estimate is the mean of what its responses add. It is least when those are left out that add most.

    Args:
        subject: the counts; or the combined estimate of stages, with this share of the respondents at every stage. The
            weights of the stages are kept.
        share: of the responses that may be fabricated, from 0 to below 1.
        linear: the left inverse of the tally's channel, where it is at hand.

    Raises:
        InvalidRequest: another share.
        NotEstimable: no responses; the most likely shares of stages, which are no mean of responses; or stages that
            are mixed category by category, of which a tally keeps sums.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.tallies import Tally
        >>> [round(end, 3) for end in swing(Tally(warner(p="3/4"), [70, 30]), 0.1)[1]]
        [-0.056, 0.167]
    """
    _check_share(share)
    low, high = _share_bounds(subject, share, linear)
    return tuple(map(Interval, low.tolist(), high.tolist()))


def _share_bounds(
    subject: Tally | Estimate[StageEvidence], share: float, linear: Linear | None
) -> tuple[Vector, Vector]:
    """Return the smallest and the largest value of each share, with such a part of all responses fabricated."""
    if isinstance(subject, Tally):
        low, high = _contribution_bounds(
            linear or left_inverse(subject.design.channel), subject, share
        )
    else:
        low, high = (
            vector(sum(ends))
            for ends in zip(*_stage_bounds(subject, share), strict=True)
        )
    return low, high


def _check_share(share: float) -> None:
    if (
        isinstance(share, bool)
        or not isinstance(share, int | float)
        or not 0 <= share < 1
    ):
        raise InvalidRequest(
            f"the share is {quoted(share)}; expected a number from 0 to below 1, such as 0.01."
        )


def _contribution_bounds(
    linear: Linear,
    tally: Tally,
    share: float,
    weight: float = 1.0,
    plus: float = 0.0,
) -> Ends:
    """Return the ends of weight·estimate + plus."""
    if isinstance(linear, Summing):
        return _bounds_without_sizes(linear, tally, share, weight, plus)
    influence = _pulls(linear, tally)
    return _ends(
        replace(influence, values=weight * influence.values + plus),
        tally.respondents,
        share,
    )


def _bounds_without_sizes(
    linear: Summing, tally: Tally, share: float, weight: float, plus: float
) -> Ends:
    """Return bounds of the ends where the sizes of sets are not known.

    Why: a set of t adds ((z − t/k)/(p − q) + 1/k), with z whether it holds the category. z − t/k is between 0 and
    1 − 1/k where it does, as t is 1 or more, and between 1/k − 1 and 0 where it does not.
    """
    n, k = _allocation_texts(tally.respondents), linear.size
    hits, fakes = linear.raw.support.gather(vector(tally.counts)), _fakes(n, share)
    most, all_of_them = 1 - 1 / k, hits - hits.sum() / k
    ends = [
        all_of_them - np.minimum(fakes, hits) * most,
        all_of_them + np.minimum(fakes, n - hits) * most,
    ]
    scaled = [
        weight * (end / (n - fakes) / linear.raw.gap + 1 / k) + plus for end in ends
    ]
    return np.minimum(*scaled), np.maximum(*scaled)


def _stage_bounds(combined: Estimate[StageEvidence], share: float) -> Iterator[Ends]:
    """Yield the ends of what each stage adds to the whole."""
    if combined.method == "likelihood":
        raise NotEstimable(
            "the most likely shares are no mean of what responses add; expected an estimate that is.",
            'Combine the stages with method="information".',
        )
    tallies = [tally for tally in combined.evidence.groups if tally.respondents]
    for tally, component in zip(tallies, combined.evidence.parts, strict=True):
        size, weight = len(component.mixing), component.weight
        centering, all_alike = np.eye(size) - 1 / size, component.mixing.sum() / size
        if np.allclose(
            component.mixing,
            weight * centering + all_alike / size,
            rtol=0,
            atol=_SAME,
        ):
            yield _contribution_bounds(
                component.linear, tally, share, weight, (all_alike - weight) / size
            )
        elif tally.design.channel.own_cells:
            influence = _cell_pulls(component.linear, tally)
            yield _ends(
                replace(influence, values=influence.values @ component.mixing.T),
                tally.respondents,
                share,
            )
        else:
            raise NotEstimable(
                "the stages are mixed category by category, and a tally keeps sums; expected one weight for a stage.",
                'Combine them with method="linear" or "strata".',
            )


def _ends(influence: Pulls, n: int, share: float) -> Ends:
    """Return the smallest and the largest mean after ⌊share·n⌋ responses are left out."""
    fakes = _fakes(_allocation_texts(n), share)
    order = np.argsort(influence.values, axis=0)
    values = np.take_along_axis(influence.values, order, axis=0)
    counts = np.take_along_axis(influence.counts, order, axis=0)
    without_largest = _subtract_fakes(counts[::-1], fakes)[::-1]
    low = (values * without_largest).sum(axis=0)
    high = (values * _subtract_fakes(counts, fakes)).sum(axis=0)
    return low / (n - fakes), high / (n - fakes)


def _fakes(n: int, share: float) -> int:
    # .29 of 100 are 29, and 2/7 of 7 are 2
    return math.floor(share * n * (1 + _ROUNDING))


def _allocation_texts(n: int) -> int:
    if n < 1:
        raise NotEstimable("there are no responses; expected at least one.")
    return n


def _subtract_fakes(counts: NDArray[np.int64], fakes: int) -> NDArray[np.int64]:
    """Subtract fakes from the counts of the groups, first group first."""
    before = np.cumsum(counts, axis=0) - counts
    return np.asarray(counts - np.clip(fakes - before, 0, counts), np.int64)
