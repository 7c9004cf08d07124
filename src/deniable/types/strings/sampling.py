"""Rows of people who were drawn with a `Sampling` → the share of each of several strings that are listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.errors import Incompatible, InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import (
    Asked,
    OneResponse,
    RowValues,
    SampledEstimate,
    Sampling,
    check_room,
    estimate_values,
)
from deniable.tallies.responses import Responses
from deniable.types.strings.count import StringTally, count_ones
from deniable.types.strings.design import Bloom, StringDesign
from deniable.types.strings.estimate import Candidates, StringEstimate, estimate
from deniable.types.strings.regression import LeastSquares, alike, weigh_cells

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["estimate_sampled"]

_NEAR = 1e-9  # of the largest eigenvalue: below it strings are not told apart
_HINT = "List fewer strings; or find them without a sampling: dn.estimate(dn.tally(responses), candidates=…)."


def estimate_sampled(
    responses: Responses[StringDesign],
    sampling: Sampling,
    *,
    candidates: Sequence[str] | Candidates | None = None,
    fdr: float | None = None,
    domain: object = None,
    by: object = None,
    denominator: object = None,
) -> SampledEstimate:
    """Estimate which share of the people that a sample stands for sends each of several strings.

    Implements: r = G⁻¹·s for each row, with s the bits at the places of each candidate in the row's cohort, the
    device taken out and the level of all bits subtracted, and G the mean of s over the rows of whoever sends each
    candidate. With even weights the mean is that of least squares over all candidates, every response counting alike.

    Guarantee: right on average if all strings that are sent are candidates, whatever the weights are: cohorts do not
    depend on strings. Others fall on the places of candidates by chance, in every sample alike; errors hold what this
    makes the bits vary.

    Args:
        responses: what was sent, a row for each person of the sample.
        sampling: how these people were drawn.
        candidates: the strings whose shares are told, all of them, whether they stand out or not.
        fdr: not taken: nothing is left out, so that there is no discovery that could be false.
        domain: True for the rows of a part of the people.
        by: a group for each row.
        denominator: a number for each row, to which the ratio is told.

    Raises:
        InvalidRequest: no candidates, an fdr, columns that do not fit, or more rows and candidates than are held.
        Incompatible: candidates that were hashed for another filter.
        NotEstimable: a stratum with one cluster, nobody with a weight in a group, or candidates that bits do not tell
            apart.

    Example:
        >>> import deniable as dn
        >>> sent = dn.respond_all(dn.string_design(dn.Bloom(64, cohorts=4), epsilon=60), ["Ann", "Ann", "Ann", "Bob"])
        >>> found = dn.estimate(sent, candidates=["Ann", "Bob"], sampling=dn.Sampling([1, 1, 2, 4]))
        >>> round(found.params["Ann"], 6), round(found.total.params["Bob"], 6)
        (0.5, 4.0)
    """
    if fdr is not None:
        raise InvalidRequest(
            "with a sampling every candidate is told, found or not, and there is no rate of false discoveries; "
            "expected no fdr.",
            "Use conf_int(simultaneous=True), whose intervals hold for all candidates at once.",
        )
    design = responses.design
    asked = Asked(design, "strings", design.epsilon)
    known = _read_candidates(design.bloom, candidates)
    rows = _StringRows.of(responses, known)

    def count(part: object, population: int | None) -> StringEstimate | None:
        if population is not None or domain is not None or by is not None:
            return None
        columns = responses[part].present()
        ones, sizes = count_ones(
            design.bloom, columns["cohort"], columns["response"]
        )
        return estimate(StringTally(design, ones, sizes), known.texts)

    sampled = estimate_values(
        [rows.block()],
        sampling,
        asked,
        domain=domain,
        by=by,
        denominator=denominator,
        count=count,
    )
    return _as_counted(sampled) if sampled.evidence else sampled


def _as_counted(sampled: SampledEstimate) -> SampledEstimate:
    """Return the numbers of the estimate from counts, where rows hold no more than counts do."""
    (counts,) = sampled.evidence
    totals = sampled.total
    people = totals.scale
    covariance = counts.cov_params()
    totals = replace(
        totals,
        value=people * counts.shares,
        covariance=np.outer(people, people) * covariance,
    )
    return replace(
        sampled, value=counts.shares, covariance=covariance, totals=totals
    )


def _read_candidates(
    bloom: Bloom, candidates: Sequence[str] | Candidates | None
) -> Candidates:
    if candidates is None:
        raise InvalidRequest(
            "nobody has listed the strings, and with a sampling they are not discovered; expected candidates.",
            "Discover them without a sampling, and list what is found: "
            "candidates=[each.text for each in dn.estimate(dn.tally(responses)).found].",
        )
    known = (
        candidates
        if isinstance(candidates, Candidates)
        else Candidates(bloom.whole, candidates)
    )
    if known.bloom not in (bloom, bloom.whole):
        raise Incompatible(
            "the candidates were hashed for another filter; expected that of the design."
        )
    return known


@dataclass(frozen=True, eq=False)
class _StringRows:
    """The bits of rows, and the candidates that they may be of.

    Attributes:
        design: what was asked with.
        texts: the candidates.
        present: which rows hold a response.
        asked: which rows are about whole strings.
        cohorts: of these rows, numbered among those in use.
        bits: of these rows, the device taken out: their mean is 1 for a true one and 0 else.
        sizes: how many of these rows each cohort in use has.
        places: for each candidate the cells [cohort in use, place] that it sets.
    """

    design: StringDesign
    texts: tuple[str, ...]
    present: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    cohorts: NDArray[np.intp]
    bits: Matrix
    sizes: Vector
    places: csr_matrix

    @classmethod
    def of(
        cls, responses: Responses[StringDesign], known: Candidates
    ) -> _StringRows:
        """Read rows.

        Raises:
            NotEstimable: nobody told a whole string.
            InvalidRequest: more values than are held at once.
        """
        design, bloom = responses.design, responses.design.bloom
        _check_size(responses, known, bloom)
        present = ~responses.gaps
        cohorts = responses.columns["cohort"].astype(np.intp)
        asked = present & (cohorts >= bloom.cohorts - bloom.cohorts // bloom.levels)
        if not asked.any():
            raise NotEstimable(
                "nobody was asked for a whole string; expected some responses of the last cohorts."
            )
        used = np.bincount(cohorts[asked], minlength=bloom.cohorts) > 0
        numbers = (np.cumsum(used) - 1)[cohorts[asked]]
        sent = np.unpackbits(
            responses.columns["response"][asked],
            axis=1,
            count=bloom.bits,
            bitorder="little",
        )
        hit, stray = map(float, design.bit)
        bits = vector((sent - stray) / (hit - stray))
        sizes = vector(np.bincount(numbers))
        return cls(
            design,
            known.texts,
            present,
            asked,
            numbers,
            bits,
            sizes,
            known.rows(used),
        )

    @cached_property
    def model(self) -> LeastSquares:
        """The cells of all rows, every response counting alike."""
        sums = np.zeros((len(self.sizes), self.bits.shape[1]))
        np.add.at(sums, self.cohorts, self.bits)
        cells = (sums / self.sizes[:, None]).reshape(-1)
        return LeastSquares(
            self.places, vector(cells), np.repeat(self.sizes, self.bits.shape[1])
        )

    @cached_property
    def inverse(self) -> Matrix:
        """G⁻¹.

        Raises:
            NotEstimable: bits do not tell some candidates apart.
        """
        gram = self.model.gram(np.arange(len(self.texts))) / self.sizes.sum()
        values, vectors = np.linalg.eigh(gram)
        same = int(alike(self.places).sum())
        if same or values[0] <= _NEAR * values[-1]:
            which = (
                f"{same:,} of {len(self.texts):,} candidates"
                if same
                else f"{len(self.texts):,} candidates"
            )
            raise NotEstimable(
                f"the bits of {len(self.sizes):,} cohorts do not tell {which} apart; expected fewer of them.",
                _HINT,
            )
        return vector((vectors / values) @ vectors.T)

    def block(self) -> RowValues:
        """Return what each row says about each candidate."""
        inverse = self.inverse
        scores = self._scores()
        values = np.zeros((len(self.present), len(self.texts)))
        values[self.asked] = scores @ inverse
        everybody = bool((self.asked == self.present).all())
        below = (
            None
            if everybody
            else vector(np.broadcast_to(self.asked[:, None], values.shape))
        )
        part = 1.0 if everybody else 1 / self.design.bloom.levels

        def device(factors: Vector, means: Vector) -> Matrix:
            """Return Σ c·(e·e′ − g·g′): whoever has a string has no other, so that g·g′ is told by its diagonal."""
            added = values if below is None else values - means * below
            sums, whole = factors @ values, float(factors[self.present].sum())
            squares = np.diag(part * sums)
            if below is not None:
                tied = np.outer(part * sums, means)
                squares += part**2 * whole * np.outer(means, means) - tied - tied.T
            return vector((added.T * factors) @ added - squares)

        return RowValues(
            self.texts,
            values,
            self.present,
            device,
            "share",
            self.spread,
            below,
            summed=len(self.texts),
            hidden=self.hidden,
        )

    def _scores(self) -> Matrix:
        """Return the sum of each row's bits at the places of each candidate, less what any string has there."""
        level = (
            np.asarray(self.places @ self.model.weights, np.float64)
            / self.model.weights.sum()
        )
        scores = np.empty((len(self.bits), len(self.texts)))
        columns, width = self.places.tocsc().astype(np.float64), self.bits.shape[1]
        for cohort in range(len(self.sizes)):
            own = self.cohorts == cohort
            scores[own] = (
                columns[:, cohort * width : (cohort + 1) * width] @ self.bits[own].T
            ).T
        scores -= np.outer(self.bits.sum(axis=1), level)
        return scores

    def spread(self, _: Vector, means: Vector) -> OneResponse:
        """Return how what one response says varies: about its own string, and about one that falls anywhere.

        Why: over the rows, the squares of what a bit adds sum to the diagonal of G⁻¹. The bits of the own string add 1
        together.
        """
        hit, stray = map(float, self.design.bit)
        one, zero = (rate * (1 - rate) / (hit - stray) ** 2 for rate in (hit, stray))
        reach, bits = np.diagonal(self.inverse), self.design.bloom.ones
        filled = bits / self.design.bloom.bits
        others = reach * (zero + filled * (one - zero) + filled)
        own = 1 + zero * (reach - 1 / bits) + one / bits
        nothing = np.full(len(means), np.nan)
        return OneResponse(
            vector([others, own - others, np.full(len(means), -1.0)]),
            nothing,
            nothing,
        )

    def hidden(self, weights: Vector) -> Matrix:
        """Return what strings that are no candidates add to the covariance: their places are the same in all samples.

        Implements: by how much more than the device explains the bits vary beside what candidates explain, as the plain
        estimate allows for it; a cohort with uneven weights counts as so many people as would tell as much.
        """
        size, width = len(self.texts), self.bits.shape[1]
        row_weights = weights[self.asked]
        sums, squares = (
            np.bincount(self.cohorts, row_weights**power, len(self.sizes))
            for power in (1, 2)
        )
        used = sums > 0
        if used.sum() * width <= size + 1:
            return np.zeros((size, size))
        ones = np.zeros((len(self.sizes), width))
        np.add.at(ones, self.cohorts, row_weights[:, None] * self.bits)
        cells = (ones[used] / sums[used, None]).reshape(-1)
        people = np.repeat(sums[used] ** 2 / squares[used], width)
        places, numbers = self.places[:, np.repeat(used, width)], np.arange(size)
        counts = StringTally.empty(self.design)
        model, variance = weigh_cells(places, cells, people, counts.bit_variance)
        fit = model.weighted(variance(model.fitted(model.fit(numbers)))).fit(numbers)
        return vector((fit.excess - 1) * fit.covariance)


def _check_size(
    responses: Responses[StringDesign], known: Candidates, bloom: Bloom
) -> None:
    check_room(
        max(len(responses), len(known.texts)),
        2 * len(known.texts),
        "candidates",
        _HINT,
    )
    check_room(
        len(responses),
        bloom.bits,
        "bits",
        "Estimate from fewer rows at a time, or ask with fewer bits.",
    )
