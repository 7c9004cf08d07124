"""What models of compliance are fitted to: shares of responses in each group, and how they vary from sample to sample.

Plain counts vary as those of people who were drawn one by one. With weights, strata or clusters the shares are Hájek's
and their covariance is that of the sample; the likelihood is that of as many people drawn one by one as would tell as
much [KG98], and what that leaves out is made good number by number, by how much the number varies [RS84].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import t as student

from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, UnreadableFile
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import quantile
from deniable.estimates.sampling import Asked, RowValues, Sampling, estimate_values
from deniable.estimates.sampling.columns import check_rows
from deniable.estimates.testing import HypothesisTest, against_chi_square
from deniable.tallies import Tally
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally

Group: TypeAlias = Tally | WeightedTally | Responses[Design]
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
    def of_counts(cls, counts: Sequence[Any]) -> ResponseShares:
        """Return what people say who were drawn one by one."""
        tables = [vector(each) for each in counts]
        people = vector([each.sum() for each in tables])
        value = vector(
            np.concatenate([each / n for each, n in zip(tables, people, strict=True)])
        )
        cells = tuple(map(len, tables))
        return cls(
            cells,
            people,
            value,
            _one_by_one(value, cells, people),
            people - 1,
            np.ones(len(cells)),
        )

    @property
    def sizes(self) -> Vector:
        """How many people drawn one by one would tell as much, in each group; at most as many as there are [KG98]."""
        return self.people / np.maximum(self.effects, 1.0)

    @cached_property
    def counts(self) -> Vector:
        """How many of them would have sent each response: whole numbers without a sample."""
        found = np.repeat(self.sizes, self.cells) * self.value
        return found if self.sample else np.rint(found)

    def widening(self, confidence: float) -> float:
        """Return by how much few clusters, whose own variance is uncertain, make intervals wider; 1 without any.

        Implements: as [KG98] do, by how much Student's quantile grows from as many people to these clusters.
        """
        tail = (1 + confidence) / 2
        return float(
            np.max(
                student.ppf(tail, self.degrees)
                / student.ppf(tail, np.maximum(self.people - 1, 1))
            )
        )

    def quantile(self, confidence: float) -> float:
        """Return how many standard errors a profile reaches to both sides.

        Why: with few people in a group the likelihood ratio exceeds the quantile of χ² too often, and Student's, of as
        many degrees of freedom as groups of this size leave, makes good for it.
        """
        least = float(self.sizes.min())
        plain = quantile(confidence)
        if least < FEW_PEOPLE:
            plain = float(
                student.ppf(
                    (1 + confidence) / 2, max(len(self.cells) * (least - 1), 1.0)
                )
            )
        return plain * self.widening(confidence)

    @cached_property
    def _simple(self) -> Matrix:
        """The covariance if as many people had been drawn one by one."""
        return _one_by_one(self.value, self.cells, self.people)

    @cached_property
    def _effective(self) -> Matrix:
        """The covariance that the effective counts stand for."""
        grown = np.repeat(np.maximum(self.effects, 1.0), self.cells)
        return vector(self._simple * grown)  # groups of one block each have one effect

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
        found = np.maximum(
            _variances(jacobian, self.covariance), _variances(jacobian, self._simple)
        )
        return _ratio(found, _variances(jacobian, self._effective), 1.0)

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
        kept = expected > 1e-12
        weights = np.where(
            kept, np.repeat(self.sizes, self.cells) / np.where(kept, expected, 1.0), 0.0
        )
        explained = (
            tangent
            @ np.linalg.pinv((tangent.T * weights) @ tangent)
            @ (tangent.T * weights)
        )
        left = np.sqrt(weights)[:, None] * (np.eye(len(weights)) - explained)
        traces = [
            float(_variances(left, each).sum())
            for each in (self.covariance, self._simple, self._effective)
        ]
        factor = max(traces[:2]) / traces[2] if traces[2] > 0 else 1.0
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
            given: Any = body
            arrays = {name: vector(given[name]) for name in _FIELDS}
            found = cls(
                tuple(map(int, given["cells"])), sample=str(given["sample"]), **arrays
            )
        except (KeyError, TypeError, ValueError):
            raise UnreadableFile(
                "the numbers of this sample are not complete; expected all of them."
            ) from None
        size = sum(found.cells)
        fits = found.value.shape == (size,) and found.covariance.shape == (size, size)
        if not fits or any(
            len(each) != len(found.cells)
            for each in (found.people, found.degrees, found.effects)
        ):
            raise UnreadableFile(
                "the numbers of this sample do not fit each other; expected one for each response."
            )
        return found

    def added_up(self, sums: Matrix) -> ResponseShares:
        """Return the same about sums of responses of one group, a row of ones and zeros for each."""
        value, covariance = (
            vector(sums @ self.value),
            vector(sums @ self.covariance @ sums.T),
        )
        cells = (len(sums),)
        effects = _effects(value, covariance, cells, self.people, self.effects)
        return ResponseShares(
            cells, self.people, value, covariance, self.degrees, effects, self.sample
        )


def gather(
    groups: Sequence[object], sampling: Samplings
) -> tuple[tuple[Tally, ...], ResponseShares | None]:
    """Read groups of people: how many sent what, and, where people were not drawn one by one, what their sample says.

    Args:
        groups: tallies, with weights or without, or rows of responses.
        sampling: of rows: how the people were drawn. A sampling for each group, where groups are samples of their own.
            One for all, where they are of one sample: its rows are those of all groups, one group after another; or
            each group has all of its rows, with nothing where somebody belongs to another group.

    Raises:
        InvalidRequest: something else; rows without a sampling, or a sampling without rows or that does not fit.
        NotEstimable: a group without people or weight, or a stratum with one cluster.
    """
    check_kinds(groups)
    rows = [each for each in groups if isinstance(each, Responses)]
    if len(rows) not in (0, len(groups)):
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
    if rows:
        return _of_rows(rows, sampling)
    found: list[Any] = list(groups)
    tallies = tuple(_unweighted(each) for each in found)
    if not any(isinstance(each, WeightedTally) for each in found):
        return tallies, None
    return tallies, _joined([_of_tally(each) for each in found])


def check_kinds(groups: Sequence[object]) -> None:
    """Refuse what is neither a tally nor responses.

    Raises:
        InvalidRequest: such a thing.
    """
    for each in groups:
        if not isinstance(each, Tally | WeightedTally | Responses):
            raise InvalidRequest(
                f"there is a {type(each).__name__}; expected tallies, or responses with sampling=.",
                "For example [dn.tally(first, responses), dn.tally(second, others)].",
            )


def _unweighted(counted: Tally | WeightedTally) -> Tally:
    if isinstance(counted, Tally):
        return counted
    return Tally(
        counted.design, counted.counts, counted.missing, declared=counted.declared
    )


def _of_tally(counted: Tally | WeightedTally) -> ResponseShares:
    """Return what a group of people says, drawn with replacement, from sums of weights and of their squares."""
    n = counted.respondents
    if n < 2:
        raise _too_few()
    if isinstance(counted, Tally):
        return replace(
            ResponseShares.of_counts([counted.counts]), sample=f"{n:,} people"
        )
    weights, squares = (
        vector([float(each) for each in sums])
        for sums in (counted.weights, counted.squares)
    )
    whole = float(weights.sum())
    if not whole > 0:
        raise NotEstimable(
            "everybody of a group has the weight 0; expected people who stand for some."
        )
    value = weights / whole
    away = np.eye(len(value)) - value
    covariance = vector((away.T * squares) @ away / whole**2 * n / (n - 1))
    people, cells = vector([n]), (len(value),)
    uneven = vector([n * float(squares.sum()) / whole**2])
    effects = _effects(value, covariance, cells, people, uneven)
    return ResponseShares(
        cells,
        people,
        value,
        covariance,
        people - 1,
        effects,
        f"{n:,} people with weights",
    )


def _of_rows(
    rows: Sequence[Responses[Design]], sampling: Any
) -> tuple[tuple[Tally, ...], ResponseShares]:
    together = isinstance(sampling, Sampling)
    samplings = list(sampling) if isinstance(sampling, list | tuple) else [sampling]
    if not all(isinstance(each, Sampling) for each in samplings) or len(samplings) != (
        1 if together else len(rows)
    ):
        raise InvalidRequest(
            f"the sampling is a {type(sampling).__name__}; expected one Sampling for all groups, or a list with one "
            "for each."
        )
    if not together or len(rows) == 1:
        for each, own in zip(rows, samplings, strict=True):
            check_rows(own, "columns of the sampling", len(each))
        alone = [np.zeros(len(each), np.intp) for each in rows]
        parts = [
            _of_sample(_codes(each), at, [each], own)
            for each, at, own in zip(rows, alone, samplings, strict=True)
        ]
        return tuple(_counted(each) for each in rows), _joined(parts)
    whole = samplings[0]
    if sum(map(len, rows)) == len(whole):
        groups = np.repeat(np.arange(len(rows)), list(map(len, rows)))
        codes = np.concatenate([_codes(each) for each in rows])
        return tuple(_counted(each) for each in rows), _of_sample(
            codes, groups, rows, whole
        )
    if any(len(each) != len(whole) for each in rows):
        told = " and ".join(f"{len(each):,}" for each in rows)
        raise InvalidRequest(
            f"the groups have {told} rows and the sampling has {len(whole):,}; expected a row of the sampling for each "
            "of them, one group after another; or as many rows in each group, with nothing for people of the others."
        )
    return _side_by_side(rows, whole)


def _side_by_side(
    rows: Sequence[Responses[Design]], sampling: Sampling
) -> tuple[tuple[Tally, ...], ResponseShares]:
    """Return what groups say that each have all rows of a sample, and nothing where somebody is in another."""
    codes = np.stack([_codes(each) for each in rows])
    sent = codes >= 0
    if (sent.sum(axis=0) > 1).any():
        raise InvalidRequest(
            f"row {int((sent.sum(axis=0) > 1).argmax()) + 1:,} has responses in two groups; expected one.",
            "Of people who respond to several items ask them together: responses to one dn.product({…}).",
        )
    nowhere = int((~sent.any(axis=0)).sum())
    counted = [
        replace(_counted(each), missing=0 if at else nowhere)
        for at, each in enumerate(rows)
    ]
    return tuple(counted), _of_sample(
        codes.max(axis=0), sent.argmax(axis=0), rows, sampling
    )


def _of_sample(
    codes: Any, groups: Any, rows: Sequence[Responses[Design]], sampling: Sampling
) -> ResponseShares:
    """Return what one sample says about the groups in it.

    Why: what of the variance of a response is the device's is not known where people do not follow it. It is at most
    all of it, so that of a population that was drawn to a part nothing is taken off for what responses vary.
    """
    if (sampling.weights < 0).any():
        raise InvalidRequest(
            "calibration has made some weights negative, and counts cannot be; expected weights of 0 or more.",
            'Calibrate with method="raking", whose weights stay positive.',
        )
    cells, present = rows[0].design.channel.cells, codes >= 0
    values = (codes[:, None] == np.arange(cells)).astype(np.float64)

    def device(factors: Vector, _: Vector) -> Matrix:
        drawn = factors * present
        mean = vector(drawn @ values / max(float(drawn.sum()), 1e-300))
        return float(drawn.sum()) * (np.diag(mean) - np.outer(mean, mean))

    _check_people(groups, present, sampling, len(rows))
    read = RowValues(tuple(map(str, range(cells))), values, present, device, "mean")
    asked = Asked(None, "responses", math.inf)
    found = estimate_values(
        [read], sampling.without_population(), asked, by=np.asarray(groups)
    )
    people, degrees = (vector(each[::cells]) for each in (found.people, found.degrees))
    weights = [
        sampling.weights[present & (groups == each)] for each in range(len(rows))
    ]
    uneven = vector(
        [len(each) * float(each @ each) / float(each.sum()) ** 2 for each in weights]
    )
    value, covariance = found.value, found.covariance
    shape = (cells,) * len(rows)
    told = f"{sampling.describe()} (variance: {sampling.variance})"
    return ResponseShares(
        shape,
        people,
        value,
        covariance,
        degrees,
        _effects(value, covariance, shape, people, uneven),
        told,
    )


def _check_people(groups: Any, present: Any, sampling: Sampling, size: int) -> None:
    for at in range(size):
        here = present & (groups == at)
        if here.sum() < 2:
            raise _too_few()
        if not sampling.weights[here].sum() > 0:
            raise NotEstimable(
                "everybody of a group has the weight 0; expected people who stand for some."
            )


def _joined(parts: Sequence[ResponseShares]) -> ResponseShares:
    """Join groups that are samples of their own."""
    told = "; ".join(dict.fromkeys(each.sample for each in parts))
    arrays = {
        name: np.concatenate([getattr(each, name) for each in parts])
        for name in _FIELDS
        if name != "covariance"
    }
    covariance = vector(block_diag(*(each.covariance for each in parts)))
    cells = tuple(size for each in parts for size in each.cells)
    effects = _effects(
        arrays["value"], covariance, cells, arrays["people"], arrays["effects"]
    )
    return ResponseShares(
        cells,
        arrays["people"],
        arrays["value"],
        covariance,
        arrays["degrees"],
        effects,
        told,
    )


def _codes(responses: Responses[Design]) -> Any:
    """Return the code of each row, −1 where nothing was sent."""
    found = responses.columns[responses.design.columns[0]].astype(np.intp)
    return (
        found if responses.missing is None else np.where(responses.missing, -1, found)
    )


def _counted(responses: Responses[Design]) -> Tally:
    codes, design = _codes(responses), responses.design
    counts = np.bincount(codes[codes >= 0], minlength=design.channel.cells)
    return Tally(design, counts, missing=int((codes < 0).sum()))


def _one_by_one(value: Vector, cells: tuple[int, ...], people: Vector) -> Matrix:
    """Return the covariance of shares of people who were drawn one by one, estimated without bias."""
    ends = np.cumsum((0, *cells))
    blocks = [
        (np.diag(value[first:last]) - np.outer(value[first:last], value[first:last]))
        / max(n - 1, 1)
        for (first, last), n in zip(pairwise(ends), people.tolist(), strict=True)
    ]
    return vector(block_diag(*blocks))


def _effects(
    value: Vector,
    covariance: Matrix,
    cells: tuple[int, ...],
    people: Vector,
    known: Vector,
) -> Vector:
    """Return the design effect of each group: Σ_j V_jj/λ_j·(n − 1)/(cells − 1), the mean of those of all contrasts.

    Where everybody sends the same nothing varies: then it is the largest of the other groups, or what was known.
    """
    ends, found = np.cumsum((0, *cells)), []
    for (first, last), n in zip(pairwise(ends), people.tolist(), strict=True):
        shares, variances = value[first:last], np.diagonal(covariance)[first:last]
        sent = shares > 0
        told = sent.sum() > 1 and n > 1
        found.append(
            float((variances[sent] / shares[sent]).sum()) * (n - 1) / (sent.sum() - 1)
            if told
            else np.nan
        )
    effects = vector(found)
    largest = np.nanmax(effects) if np.isfinite(effects).any() else 0.0
    return np.where(np.isfinite(effects), effects, np.maximum(known, largest))


def _variances(jacobian: Matrix, covariance: Matrix) -> Vector:
    return vector(np.maximum(((jacobian @ covariance) * jacobian).sum(axis=1), 0.0))


def _ratio(above: Vector, below: Vector, otherwise: float) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = above / below
    return np.where(np.isfinite(found) & (below > 0), found, otherwise)


def _too_few() -> NotEstimable:
    return NotEstimable(
        "a group has fewer than 2 respondents; expected at least 2, to say how sure we are."
    )
