"""What models of compliance are fitted to: shares of responses in each group, and how they vary from sample to sample.

Plain counts vary as those of people who were drawn one by one. With weights, strata or clusters the shares are Hájek's
and their covariance is that of the sample; the likelihood is that of as many people drawn one by one as would tell as
much [KG98], and what that leaves out is made good number by number, by how much the number varies [RS84].
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag

from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, UnreadableFile
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import quantile
from deniable.estimates.sampling import (
    Asked,
    RowValues,
    Sampling,
    estimate_values,
    few_degrees,
)
from deniable.estimates.sampling.columns import check_rows
from deniable.estimates.testing import HypothesisTest, against_chi_square
from deniable.tallies import Tally
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally

AnyTally: TypeAlias = Tally | WeightedTally
Group: TypeAlias = AnyTally | Responses[Design]
Codes: TypeAlias = NDArray[np.intp]
Samplings: TypeAlias = Sampling | Sequence[Sampling] | None

FEW_PEOPLE = 30
"""People in a group below which the quantile of a profile is Student's."""

_FIELDS = ("people", "value", "covariance", "degrees", "effects")


@dataclass(frozen=True, eq=False)
class ResponseShares:
    """Shares of the responses of each group, and their covariance.

    Attributes:
        cells: how many different responses each group can send.
        people: how many people of each group responded.
        value: the share of each response, the groups one after another.
        covariance: of all of them; of people in the same clusters groups vary together.
        degrees: degrees of freedom of each group's part.
        effects: the design effect of each group: by how much its shares vary more than those of as many people drawn
            one by one, on the average over them.
        sample: how people were drawn, in words; empty for plain counts.
    """

    cells: tuple[int, ...]
    people: Vector
    value: Vector
    covariance: Matrix
    degrees: Vector
    effects: Vector
    sample: str = ""

    @classmethod
    def of_counts(cls, counts: Sequence[ArrayLike]) -> ResponseShares:
        """Return the shares of groups of i.i.d. respondents."""
        groups = [vector(group) for group in counts]
        cells = tuple(map(len, groups))
        people = vector([group.sum() for group in groups])
        value = np.concatenate(groups) / np.repeat(people, cells)
        covariance = _multinomial_covariance(value, cells, people)
        return cls(cells, people, value, covariance, people - 1, np.ones(len(cells)))

    @classmethod
    def of_sample(
        cls,
        cells: tuple[int, ...],
        people: Vector,
        value: Vector,
        covariance: Matrix,
        degrees: Vector,
        unequal: Vector,
        sample: str,
    ) -> ResponseShares:
        """Return the shares of a sample, with the design effect of each group: Σ_j V_jj/λ_j·(n − 1)/(cells − 1).

        That is the mean of those of all contrasts. Where everybody sends the same nothing varies: then it is the
        largest of the other groups, or that of unequal weights.
        """
        effects = np.full(len(cells), np.nan)
        last = np.cumsum(cells)[:-1]
        blocks = (
            np.split(array, last) for array in (value, np.diagonal(covariance))
        )
        for group, (n, shares, variances) in enumerate(
            zip(people, *blocks, strict=True)
        ):
            seen = shares > 0
            if seen.sum() > 1 and n > 1:
                ratios = variances[seen] / shares[seen]
                effects[group] = ratios.sum() * (n - 1) / (seen.sum() - 1)
        is_known = np.isfinite(effects)
        largest = effects[is_known].max(initial=0.0)
        effects = np.where(is_known, effects, np.maximum(unequal, largest))
        return cls(cells, people, value, covariance, degrees, effects, sample)

    @property
    def sizes(self) -> Vector:
        """How many people drawn one by one would tell as much, in each group; at most as many as there are [KG98]."""
        return self.people / np.maximum(self.effects, 1.0)

    @cached_property
    def counts(self) -> Vector:
        """How many of them would have sent each response: whole numbers without a sample."""
        counts = np.repeat(self.sizes, self.cells) * self.value
        return counts if self.sample else np.rint(counts)

    def widening(self, level: float) -> float:
        """Return by how much few clusters, whose own variance is uncertain, make intervals wider; 1 without any.

        Implements: as [KG98] do, by how much Student's quantile grows from as many people to these clusters.
        """
        return float(1 / few_degrees(self.people, self.degrees, level).min())

    def quantile(self, level: float) -> float:
        """Return how many standard errors a profile reaches to both sides.

        Why: with few people in a group the likelihood ratio exceeds the quantile of χ² too often, and Student's, of as
        many degrees of freedom as groups of this size leave, makes good for it.
        """
        smallest, df = float(self.sizes.min()), math.inf
        if smallest < FEW_PEOPLE:
            df = max(len(self.cells) * (smallest - 1), 1.0)
        return quantile(level, df) * self.widening(level)

    @cached_property
    def _simple(self) -> Matrix:
        """The covariance if as many people had been drawn one by one."""
        return _multinomial_covariance(self.value, self.cells, self.people)

    @cached_property
    def _effective(self) -> Matrix:
        """The covariance that the effective counts stand for."""
        grown = np.repeat(np.maximum(self.effects, 1.0), self.cells)
        # groups of one block each have one effect
        return vector(self._simple * grown)

    def design_effects(self, jacobian: Matrix) -> Vector:
        """Return how many times each number varies as much as with people drawn one by one.

        Args:
            jacobian: by how much each number (rows) moves with each share.
        """
        return _ratio(
            _variances(jacobian, self.covariance),
            _variances(jacobian, self._simple),
            np.nan,
        )

    def scales(self, jacobian: Matrix) -> Vector:
        """Return by how much the likelihood ratio of each number is too large where the effective counts make it.

        Implements: the correction of [RS84], of each number its own; never below the variance of as many people drawn
        one by one.

        Why: one effective size for a group makes good for the average of its shares, and for none of what groups have
        in common. The variance of the number itself knows both.
        """
        if not self.sample:
            return np.ones(len(jacobian))
        variances = np.maximum(
            _variances(jacobian, self.covariance), _variances(jacobian, self._simple)
        )
        return _ratio(variances, _variances(jacobian, self._effective), 1.0)

    def corrected(
        self, test: HypothesisTest, tangent: Matrix, expected: Vector
    ) -> HypothesisTest:
        """Return a test of fit in which G² is divided by the mean design effect of what the model leaves over.

        Implements: the first-order correction of [RS84].

        Args:
            test: the test as if the effective counts were plain ones.
            tangent: by how much each share (rows) moves with each free number of the model.
            expected: the shares that the model expects.
        """
        if not self.sample or not test.df:
            return test
        sizes = np.repeat(self.sizes, self.cells)
        weights = np.where(
            expected > 1e-12, sizes / np.maximum(expected, 1e-12), 0.0
        )
        weighted = tangent.T * weights
        explained = tangent @ np.linalg.pinv(weighted @ tangent) @ weighted
        residuals = np.sqrt(weights)[:, None] * (np.eye(len(weights)) - explained)
        sampled, simple, effective = (
            float(_variances(residuals, covariance).sum())
            for covariance in (self.covariance, self._simple, self._effective)
        )
        factor = max(sampled, simple) / effective if effective > 0 else 1.0
        return against_chi_square(
            test.hypothesis, test.method, test.statistic / factor, test.df
        )

    def to_body(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"cells": list(self.cells), "sample": self.sample} | {
            name: getattr(self, name).tolist() for name in _FIELDS
        }

    @classmethod
    def from_body(cls, body: object) -> ResponseShares:
        """Read what `to_body` wrote.

        Raises:
            UnreadableFile: something else.
        """
        try:
            source: Any = body
            arrays = {name: vector(source[name]) for name in _FIELDS}
            cells = tuple(map(int, source["cells"]))
            shares = cls(cells, sample=str(source["sample"]), **arrays)
        except (KeyError, TypeError, ValueError):
            raise UnreadableFile(
                "the numbers of this sample are not complete; expected all of them."
            ) from None
        size, groups = sum(cells), (len(cells),)
        expected = (groups, (size,), (size, size), groups, groups)
        if tuple(array.shape for array in arrays.values()) != expected:
            raise UnreadableFile(
                "the numbers of this sample do not fit each other; expected one for each response."
            )
        return shares

    def added_up(self, sums: Matrix) -> ResponseShares:
        """Return the same about sums of responses of one group, a row of ones and zeros for each."""
        return ResponseShares.of_sample(
            (len(sums),),
            self.people,
            vector(sums @ self.value),
            vector(sums @ self.covariance @ sums.T),
            self.degrees,
            self.effects,
            self.sample,
        )


def gather(
    groups: Sequence[object], sampling: Samplings
) -> tuple[tuple[Tally, ...], ResponseShares | None]:
    """Read groups of people: their counts, and the shares of a sample if respondents are not i.i.d.

    Args:
        groups: tallies, with weights or without, or rows of responses.
        sampling: of rows: how the people were drawn. A sampling for each group, where groups are samples of their own.
            One for all, where they are of one sample: its rows are those of all groups, one group after another; or
            each group has all of its rows, with nothing where somebody belongs to another group.

    Raises:
        InvalidRequest: something else; rows without a sampling, or a sampling without rows or that does not fit.
        NotEstimable: a group without people or weight, or a stratum with one cluster.
    """
    counted, rows = check_kinds(groups)
    if counted and rows:
        raise InvalidRequest(
            "some groups are tallies and some are rows; expected one kind for all of them."
        )
    if bool(rows) != (sampling is not None):
        raise InvalidRequest(
            "there are responses without a sampling; expected how their people were drawn."
            if rows
            else "there is a sampling, and no rows that it is about; expected responses in place of tallies.",
            "For example lie_detector([first, second], sampling=dn.Sampling(weights, clusters=villages)).",
        )
    if sampling is not None:
        return _gather_rows(rows, sampling)
    tallies = tuple(
        Tally(tally.design, tally.counts, tally.missing, declared=tally.declared)
        for tally in counted
    )
    if all(isinstance(tally, Tally) for tally in counted):
        return tallies, None
    return tallies, _join([_tally_shares(tally) for tally in counted])


def check_kinds(
    groups: Sequence[object],
) -> tuple[list[AnyTally], list[Responses[Design]]]:
    """Return the tallies and the rows of responses among groups.

    Raises:
        InvalidRequest: something else is among them.
    """
    counted, rows = [], []
    for group in groups:
        if isinstance(group, Responses):
            rows.append(group)
        elif isinstance(group, AnyTally):
            counted.append(group)
        else:
            raise InvalidRequest(
                f"there is a {type(group).__name__}; expected tallies, or responses with sampling=.",
                "For example [dn.tally(first, responses), dn.tally(second, others)].",
            )
    return counted, rows


def _tally_shares(tally: AnyTally) -> ResponseShares:
    """Return the shares of a group of people drawn with replacement, from sums of weights and of their squares."""
    n = tally.respondents
    if n < 2:
        raise _too_few_error()
    if isinstance(tally, Tally):
        return replace(
            ResponseShares.of_counts([tally.counts]), sample=f"{n:,} people"
        )
    weights, squares = (
        np.array(sums, np.float64) for sums in (tally.weights, tally.squares)
    )
    total = float(weights.sum())
    if not total > 0:
        raise _weightless()
    value = weights / total
    residuals = np.eye(len(value)) - value
    covariance = (residuals.T * squares) @ residuals / total**2 * n / (n - 1)
    return ResponseShares.of_sample(
        (len(value),),
        vector([n]),
        value,
        vector(covariance),
        vector([n - 1]),
        vector([n * float(squares.sum()) / total**2]),
        f"{n:,} people with weights",
    )


def _gather_rows(
    rows: Sequence[Responses[Design]], sampling: Sampling | Sequence[Sampling]
) -> tuple[tuple[Tally, ...], ResponseShares]:
    samplings = list(sampling) if isinstance(sampling, list | tuple) else [sampling]
    samples = [sample for sample in samplings if isinstance(sample, Sampling)]
    is_one = isinstance(sampling, Sampling)
    if len(samples) < len(samplings) or (not is_one and len(samples) != len(rows)):
        raise InvalidRequest(
            f"the sampling is a {type(sampling).__name__}; expected one Sampling for all groups, or a list with one "
            "for each."
        )
    codes = [_read_codes(responses) for responses in rows]
    designs = [responses.design for responses in rows]
    if len(samples) == len(rows):
        shares = []
        for design, column, sample in zip(designs, codes, samples, strict=True):
            check_rows(sample, "columns of the sampling", len(column))
            group = np.zeros(len(column), np.intp)
            shares.append(_sample_shares(column, group, [design], sample))
        return _count(designs, codes), _join(shares)
    sizes, n = list(map(len, codes)), len(samples[0])
    if sum(sizes) == n:
        group = np.repeat(np.arange(len(rows)), sizes)
        return _count(designs, codes), _sample_shares(
            np.concatenate(codes), group, designs, samples[0]
        )
    if set(sizes) != {n}:
        sizes_text = " and ".join(f"{size:,}" for size in sizes)
        raise InvalidRequest(
            f"the groups have {sizes_text} rows and the sampling has {n:,}; expected a row of the sampling for each "
            "of them, one group after another; or as many rows in each group, with nothing for people of the others."
        )
    return _gather_columns(designs, np.stack(codes), samples[0])


def _gather_columns(
    designs: Sequence[Design], codes: Codes, sampling: Sampling
) -> tuple[tuple[Tally, ...], ResponseShares]:
    """Read groups that each have all rows of a sample, with nothing for people of the other groups."""
    n_responses = (codes >= 0).sum(axis=0)
    if (n_responses > 1).any():
        raise InvalidRequest(
            f"row {int((n_responses > 1).argmax()) + 1:,} has responses in two groups; expected one.",
            "Of people who respond to several items ask them together: responses to one dn.product({…}).",
        )
    # which are counted once, in the first group
    missing = int((n_responses == 0).sum())
    tallies = tuple(
        replace(tally, missing=0 if number else missing)
        for number, tally in enumerate(_count(designs, codes))
    )
    group = (codes >= 0).argmax(axis=0)
    return tallies, _sample_shares(codes.max(axis=0), group, designs, sampling)


def _sample_shares(
    codes: Codes, group: Codes, designs: Sequence[Design], sampling: Sampling
) -> ResponseShares:
    """Return the shares of responses in the groups of one sample.

    Why: what of the variance of a response is the device's is not known where people do not follow it. It is at most
    all of it, so that of a population that was drawn to a part nothing is taken off for what responses vary.
    """
    _check_weights(sampling)
    cells, present = designs[0].channel.cells, codes >= 0
    values = (codes[:, None] == np.arange(cells)).astype(np.float64)

    def device(factors: Vector, _: Vector) -> Matrix:
        weights = factors * present
        total = float(weights.sum())
        mean = vector(weights @ values / max(total, 1e-300))
        return total * (np.diag(mean) - np.outer(mean, mean))

    unequal = [
        _unequal_weights(sampling.weights[present & (group == number)])
        for number in range(len(designs))
    ]
    estimate = estimate_values(
        [RowValues(tuple(map(str, range(cells))), values, present, device, "mean")],
        sampling.without_population(),
        Asked(None, "responses", math.inf),
        by=np.asarray(group),
    )
    value, covariance = estimate.value, estimate.covariance
    return ResponseShares.of_sample(
        (cells,) * len(designs),
        vector(estimate.people[::cells]),
        value,
        covariance,
        vector(estimate.degrees[::cells]),
        vector(unequal),
        f"{sampling.describe()} (variance: {sampling.variance})",
    )


def _check_weights(sampling: Sampling) -> None:
    if (sampling.weights < 0).any():
        raise InvalidRequest(
            "calibration has made some weights negative, and counts cannot be; expected weights of 0 or more.",
            'Calibrate with method="raking", whose weights stay positive.',
        )


def _unequal_weights(weights: Vector) -> float:
    """Return the design effect of unequal weights, n·Σw²/(Σw)²."""
    if len(weights) < 2:
        raise _too_few_error()
    if not weights.sum() > 0:
        raise _weightless()
    return len(weights) * float(weights @ weights) / float(weights.sum()) ** 2


def _join(samples: Sequence[ResponseShares]) -> ResponseShares:
    """Join groups that are samples of their own."""
    people, value, degrees, effects = (
        np.concatenate([getattr(sample, name) for sample in samples])
        for name in ("people", "value", "degrees", "effects")
    )
    return ResponseShares.of_sample(
        tuple(size for sample in samples for size in sample.cells),
        people,
        value,
        vector(block_diag(*(sample.covariance for sample in samples))),
        degrees,
        effects,
        "; ".join(dict.fromkeys(sample.sample for sample in samples)),
    )


def _read_codes(responses: Responses[Design]) -> Codes:
    """Return the code of each row, −1 where nothing was sent."""
    codes: Codes = responses.columns[responses.design.columns[0]].astype(np.intp)
    return (
        codes
        if responses.missing is None
        else np.where(responses.missing, -1, codes)
    )


def _count(designs: Sequence[Design], codes: Iterable[Codes]) -> tuple[Tally, ...]:
    return tuple(
        Tally(
            design,
            np.bincount(column[column >= 0], minlength=design.channel.cells),
            missing=int((column < 0).sum()),
        )
        for design, column in zip(designs, codes, strict=True)
    )


def _multinomial_covariance(
    value: Vector, cells: tuple[int, ...], people: Vector
) -> Matrix:
    """Return the covariance of shares of people who were drawn one by one, estimated without bias."""
    groups = np.split(value, np.cumsum(cells)[:-1])
    blocks = [
        (np.diag(shares) - np.outer(shares, shares)) / max(n - 1, 1)
        for shares, n in zip(groups, people.tolist(), strict=True)
    ]
    return vector(block_diag(*blocks))


def _variances(jacobian: Matrix, covariance: Matrix) -> Vector:
    return vector(np.maximum(((jacobian @ covariance) * jacobian).sum(axis=1), 0.0))


def _ratio(above: Vector, below: Vector, otherwise: float) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = above / below
    return np.where(np.isfinite(ratio) & (below > 0), ratio, otherwise)


def _too_few_error() -> NotEstimable:
    return NotEstimable(
        "a group has fewer than 2 respondents; expected at least 2, to say how sure we are."
    )


def _weightless() -> NotEstimable:
    return NotEstimable(
        "everybody of a group has the weight 0; expected people who stand for some."
    )
