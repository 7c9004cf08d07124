"""A response → a score for each answer: on average 1 for the answer that was given, and 0 for every other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.cross_tables import OTHER
from deniable.estimates.inverses import left_inverse
from deniable.tallies.responses import Responses
from deniable.types.strings.design import StringDesign
from deniable.types.strings.estimate import Candidates
from deniable.types.strings.hashing import places_of, seeds_of
from deniable.types.strings.regression import Floats, LeastSquares, alike


class ScoredRows(NamedTuple):
    """What one question's responses say about each answer.

    Attributes:
        labels: of the answers; of strings those listed, and then all others as one.
        values: a row for each respondent, which sums to 1. Given the answer, it is on average 1 there and 0 elsewhere.
        own: the mean square of the score of each answer, given this answer.
        sent: of strings, the bits behind the scores.
    """

    labels: tuple[str, ...]
    values: Matrix
    own: Vector
    sent: SentBits | None = None


def whole(responses: Responses[Any]) -> NDArray[np.bool_]:
    """Return which rows hold a response about the whole answer: not those that are missing, or about a prefix."""
    there = (
        np.ones(len(responses), np.bool_)
        if responses.missing is None
        else ~responses.missing
    )
    if isinstance(responses.design, StringDesign):
        there &= _whole_cohorts(responses.design)[responses.columns["cohort"]]
    return there


def scores(
    responses: Responses[Any], rows: NDArray[np.bool_], listed: Sequence[str] | None
) -> ScoredRows:
    """Return the scores of some rows.

    Args:
        responses: to a design for categories, or for strings.
        rows: which of them.
        listed: of strings: those that are told apart.

    Raises:
        InvalidRequest: another type of design, or strings that are not listed, or that no cohort tells apart.
        NotEstimable: the design cannot tell its answers apart.
    """
    design, columns = (
        responses.design,
        {name: column[rows] for name, column in responses.columns.items()},
    )
    if isinstance(design, StringDesign):
        if listed is None:
            raise InvalidRequest(
                "nobody has listed the strings; expected those that are to be told apart.",
                "Find them first: rows=[each.text for each in dn.estimate(dn.tally(sent), candidates=names).found].",
            )
        return _of_strings(design, columns, listed)
    if not isinstance(design, Design) or design.asks != "categories":
        raise InvalidRequest(
            f"these are responses to {design!r}; expected a design for categories or for strings."
        )
    if listed is not None:
        raise InvalidRequest(
            "strings are listed for a question about categories; expected none."
        )
    return _of_categories(design, columns["response"])


def _of_categories(design: Design, sent: NDArray[Any]) -> ScoredRows:
    """Apply the left inverse to each response by itself; what the scores lack to a sum of 1 is shared evenly."""
    linear, count = left_inverse(design.channel), design.channel.coding.count
    distinct, numbers = np.unique(sent, axis=0, return_inverse=True)
    table = np.array(
        [linear.shares(count(each[None]).astype(np.float64)) for each in distinct]
    )
    table += (1 - table.sum(axis=1, keepdims=True)) / table.shape[1]
    size = len(design.categories)
    own, _ = linear.spread(np.full(size, 1 / size))
    return ScoredRows(
        tuple(design.categories),
        table[numbers.reshape(-1)],
        np.asarray(own, np.float64),
    )


def _of_strings(
    design: StringDesign, columns: Mapping[str, NDArray[Any]], listed: Sequence[str]
) -> ScoredRows:
    """Weigh each response's bits by least squares over all cohorts; one minus their sum is for all other strings.

    Why: the weights of a string sum to 0 over all cells, so that strings that are not listed, whose places are as good
    as drawn at random, add 0 on average over the cohorts; and its own bits add 1, those of others listed exactly 0.
    """
    if design.bloom.cohorts == design.bloom.levels:
        raise InvalidRequest(
            "there is one cohort, which never tells a string from others with its bits; expected several."
        )
    if OTHER in listed:
        raise InvalidRequest(
            f"a string is called {OTHER!r}, as all others are; expected other names."
        )
    weights = _Weights(design, listed)
    sent = SentBits(design, columns["cohort"], columns["response"], weights)
    values, own = (
        np.empty((len(sent.cohorts), len(listed) + 1)),
        np.zeros(len(listed) + 1),
    )
    for cohort, group, bits in sent.by_cohort():
        there, by = weights.of(cohort)
        values[group, :-1] = bits @ by.T
        own += _own(design, there, by) * len(group)
    values[:, -1] = 1 - values[:, :-1].sum(axis=1)
    return ScoredRows((*listed, OTHER), values, own / max(len(values), 1), sent)


@dataclass(frozen=True, eq=False)
class SentBits:
    """What was sent about strings.

    Attributes:
        design: what it was drawn with.
        cohorts: of each respondent.
        rows: packed bits.
        weights: what each bit adds to the scores of the strings that are listed.
    """

    design: StringDesign
    cohorts: NDArray[Any]
    rows: NDArray[np.uint8]
    weights: _Weights

    def by_cohort(self) -> Iterator[tuple[int, NDArray[np.intp], Floats]]:
        """Yield each cohort, who is in it, and their bits, without bias and less what all strings have on average."""
        bloom, (hit, stray) = self.design.bloom, map(float, self.design.bit)
        present, numbers = np.unique(self.cohorts, return_inverse=True)
        order, starts = (
            np.argsort(numbers, kind="stable"),
            np.cumsum(np.bincount(numbers))[:-1],
        )
        for cohort, group in zip(
            present.tolist(), np.split(order, starts), strict=True
        ):
            bits = np.unpackbits(self.rows[group], axis=1, bitorder="little")[
                :, : bloom.bits
            ]
            yield (
                cohort,
                group,
                np.asarray(
                    (bits - stray) / (hit - stray) - bloom.ones / bloom.bits, np.float64
                ),
            )

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
            told, known = (
                others[group],
                (self.weights.of(cohort)[0] - filled).T @ shares[:-1],
            )
            places = bits.T @ told - len(group) * known
            respondents = (
                told.T @ (told * (bits**2).sum(axis=1)[:, None])
                - len(group) * known.T @ known
            )
            total += places.T @ places - respondents
        found: Matrix = total / (
            bloom.bits * len(others) ** 2 * bloom.ones * (1 - filled)
        )
        return found


class _Weights:
    """What each bit adds to the score of each string that is listed, cohort by cohort."""

    def __init__(self, design: StringDesign, listed: Sequence[str]) -> None:
        self._bloom, self._seeds = design.bloom, seeds_of(listed)
        cohorts = _whole_cohorts(design)
        cells = Candidates(design.bloom, listed).rows(cohorts)
        model = LeastSquares(cells, np.zeros(cells.shape[1]), np.ones(cells.shape[1]))
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

    def of(self, cohort: int) -> tuple[Floats, Floats]:
        """Return the bits of each string in a cohort, and the weights."""
        places = places_of(self._bloom, self._seeds, np.full(len(self._seeds), cohort))
        there = np.zeros((len(places), self._bloom.bits))
        np.put_along_axis(there, places, 1.0, axis=1)
        return there, self._inverse @ (there - self._filled)


def _own(design: StringDesign, there: Floats, by: Floats) -> Vector:
    """Return the mean square of each score in a cohort, given the string; given one that is not listed, of the last."""
    (hit, stray), level = map(float, design.bit), design.bloom.ones / design.bloom.bits
    gap2, rate = (hit - stray) ** 2, stray + (hit - stray) * level
    noise = np.where(there > 0, hit * (1 - hit), stray * (1 - stray)) / gap2
    listed = (by * (there - level)).sum(axis=1) ** 2 + (by**2 * noise).sum(axis=1)
    other = 1 + (by.sum(axis=0) ** 2).sum() * rate * (1 - rate) / gap2
    return np.append(listed, other)


def _whole_cohorts(design: StringDesign) -> NDArray[np.bool_]:
    bloom = design.bloom
    found: NDArray[np.bool_] = (
        np.arange(bloom.cohorts) // (bloom.cohorts // bloom.levels) == bloom.levels - 1
    )
    return found
