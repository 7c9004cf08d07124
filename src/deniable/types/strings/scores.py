"""Responses about strings → a score for each listed string: on average 1 for the answer, and 0 for every other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.cross_tables import OTHER
from deniable.estimates.independence import ScoredRows
from deniable.tallies.responses import Responses
from deniable.types.strings.design import StringDesign
from deniable.types.strings.estimate import Candidates
from deniable.types.strings.hashing import places_of, seeds_of
from deniable.types.strings.regression import Floats, LeastSquares, alike

__all__ = ["complete_rows", "row_scores"]


def complete_rows(responses: Responses[StringDesign]) -> NDArray[np.bool_]:
    """Return which rows are about a whole string, not about a prefix."""
    return np.take(
        _is_complete_cohort(responses.design), responses.columns["cohort"]
    )


def row_scores(
    responses: Responses[StringDesign],
    rows: NDArray[np.bool_],
    listed: Sequence[str] | None,
) -> ScoredRows:
    """Weigh each response's bits by least squares over all cohorts; one minus their sum is for all other strings.

    Why: the weights of a string sum to 0 over all cells, so that strings that are not listed, whose places are as good
    as drawn at random, add 0 on average over the cohorts; and its own bits add 1, those of others listed exactly 0.

    Args:
        responses: the responses.
        rows: which of them are scored.
        listed: the strings that are told apart.

    Raises:
        InvalidRequest: strings that are not listed, or that no cohort tells apart.
    """
    design = responses.design
    if listed is None:
        raise InvalidRequest(
            "nobody has listed the strings; expected those that are to be told apart.",
            "Find them first: rows=[each.text for each in dn.estimate(dn.tally(sent), candidates=names).found].",
        )
    _check_listed(design, listed)
    weights = _BitWeights(design, listed)
    cohorts = responses.columns["cohort"][rows]
    bits = ResponseBits(
        design, cohorts, responses.columns["response"][rows], weights
    )
    n_labels = len(listed) + 1
    values, own = np.empty((len(bits.cohorts), n_labels)), np.zeros(n_labels)
    for cohort, group, centred in bits.by_cohort():
        indicators, by_bit = weights.of_cohort(cohort)
        values[group, :-1] = centred @ by_bit.T
        own += _mean_squares(design, indicators, by_bit) * len(group)
    values[:, -1] = 1 - values[:, :-1].sum(axis=1)
    return ScoredRows((*listed, OTHER), values, own / max(len(values), 1), bits)


def _check_listed(design: StringDesign, listed: Sequence[str]) -> None:
    if design.bloom.cohorts == design.bloom.levels:
        raise InvalidRequest(
            "there is one cohort, which never tells a string from others with its bits; expected several."
        )
    if OTHER in listed:
        raise InvalidRequest(
            f"a string is called {OTHER!r}, as all others are; expected other names."
        )


@dataclass(frozen=True, eq=False)
class ResponseBits:
    """The bits of responses about strings.

    Attributes:
        design: what they were drawn with.
        cohorts: of each respondent.
        rows: packed bits.
        weights: what each bit adds to the scores of the strings that are listed.
    """

    design: StringDesign
    cohorts: NDArray[Any]
    rows: NDArray[np.uint8]
    weights: _BitWeights

    def by_cohort(self) -> Iterator[tuple[int, NDArray[np.intp], Floats]]:
        """Yield each cohort, who is in it, and their bits, without bias and less what all strings have on average."""
        bloom, (p_true, p_false) = self.design.bloom, map(float, self.design.bit)
        present, numbers = np.unique(self.cohorts, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(numbers))[:-1])
        for cohort, group in zip(present.tolist(), groups, strict=True):
            bits = np.unpackbits(self.rows[group], axis=1, bitorder="little")
            unbiased = (bits[:, : bloom.bits] - p_false) / (p_true - p_false)
            yield cohort, group, vector(unbiased - bloom.ones / bloom.bits)

    def confusion(self, others: Matrix, shares: Matrix) -> Matrix:
        """Return the covariance that strings that are not listed add to the pairs of a listed one.

        Why: where they meet a listed string is as good as drawn at random, so that by how much all places of a cohort
        differ, less what its respondents explain, tells by how much they would.

        Args:
            others: the scores of the other question.
            shares: of each pair of answers.
        """
        bloom, total = self.design.bloom, np.zeros((others.shape[1],) * 2)
        filled = bloom.ones / bloom.bits
        for cohort, group, bits in self.by_cohort():
            scores, n = others[group], len(group)
            expected = (self.weights.of_cohort(cohort)[0] - filled).T @ shares[:-1]
            residuals = bits.T @ scores - n * expected
            squares = (bits**2).sum(axis=1)[:, None]
            by_person = scores.T @ (scores * squares) - n * expected.T @ expected
            total += residuals.T @ residuals - by_person
        pairs = bloom.bits * len(others) ** 2
        return vector(total / (pairs * bloom.ones * (1 - filled)))


class _BitWeights:
    """What each bit adds to the score of each string that is listed, cohort by cohort."""

    def __init__(self, design: StringDesign, listed: Sequence[str]) -> None:
        self._bloom, self._seeds = design.bloom, seeds_of(listed)
        cohorts = _is_complete_cohort(design)
        cells = Candidates(design.bloom, listed).rows(cohorts)
        model = LeastSquares(
            cells, np.zeros(cells.shape[1]), np.ones(cells.shape[1])
        )
        gram = model.gram(np.arange(len(listed))) / int(cohorts.sum())
        if alike(cells).any() or np.linalg.matrix_rank(gram, hermitian=True) < len(
            listed
        ):
            raise InvalidRequest(
                "no cohort tells all strings apart that are listed; expected strings with bits of their own.",
                "List fewer of them, or ask with more cohorts.",
            )
        self._inverse = np.linalg.inv(gram)
        self._filled = (
            np.asarray(cells.sum(axis=1), np.float64).reshape(-1, 1) / cells.shape[1]
        )

    def of_cohort(self, cohort: int) -> tuple[Floats, Floats]:
        """Return the bits of each string in a cohort, and the weights."""
        bits = places_of(self._bloom, self._seeds, np.full(len(self._seeds), cohort))
        indicators = np.zeros((len(bits), self._bloom.bits))
        np.put_along_axis(indicators, bits, 1.0, axis=1)
        return indicators, self._inverse @ (indicators - self._filled)


def _mean_squares(
    design: StringDesign, indicators: Floats, by_bit: Floats
) -> Vector:
    """Return the mean square of each score in a cohort, given the string; given one that is not listed, of the last."""
    p_true, p_false = map(float, design.bit)
    level, gap = design.bloom.ones / design.bloom.bits, p_true - p_false
    p_any = p_false + gap * level
    bernoulli = np.where(
        indicators > 0, p_true * (1 - p_true), p_false * (1 - p_false)
    )
    means = (by_bit * (indicators - level)).sum(axis=1)
    listed = means**2 + (by_bit**2 * bernoulli).sum(axis=1) / gap**2
    other = 1 + (by_bit.sum(axis=0) ** 2).sum() * p_any * (1 - p_any) / gap**2
    return np.append(listed, other)


def _is_complete_cohort(design: StringDesign) -> NDArray[np.bool_]:
    bloom = design.bloom
    cohorts_by_level = bloom.cohorts // bloom.levels
    levels = np.arange(bloom.cohorts) // cohorts_by_level
    return np.asarray(levels == bloom.levels - 1)
