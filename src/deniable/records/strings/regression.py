"""Bits that strings set in all cohorts at once, and least squares with few of very many candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.records.strings.designs import GOLDEN, MIXES, Bloom, seed_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["places_of", "seeds_of"]


def seeds_of(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return the seed of each string.

    Raises:
        InvalidAnswer: no text. The message does not repeat it.
    """
    return np.fromiter((seed_of(text) for text in texts), np.uint64)


def places_of(bloom: Bloom, seeds: NDArray[np.uint64], cohorts: NDArray[Any] | None = None) -> NDArray[np.int64]:
    """Return the places that strings set: a row for each seed, its hashes in all cohorts or in the one it is given.

    Args:
        bloom: how strings become bits.
        seeds: of the strings.
        cohorts: one for each seed; all of them for each, if left out.

    Returns:
        An array [seed, cohort, hash], or [seed, hash] where cohorts are given.
    """
    hashes = np.arange(bloom.hashes, dtype=np.uint64)
    if cohorts is None:
        numbers = np.arange(bloom.cohorts, dtype=np.uint64)[:, None] * np.uint64(bloom.hashes) + hashes
        words = seeds[:, None, None] + (numbers + np.uint64(1)) * np.uint64(GOLDEN)
    else:
        numbers = cohorts.astype(np.uint64)[:, None] * np.uint64(bloom.hashes) + hashes
        words = seeds[:, None] + (numbers + np.uint64(1)) * np.uint64(GOLDEN)
    for shift, factor in MIXES:
        words = (words ^ words >> np.uint64(shift)) * np.uint64(factor)
    words ^= words >> np.uint64(31)
    found: NDArray[np.int64] = ((words >> np.uint64(32)) * np.uint64(bloom.bits) >> np.uint64(32)).astype(np.int64)
    return found


Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

_LASSO_ROUNDS = 60  # in which candidates come in, before the search is given up
_BATCH = 200  # candidates that come in at a time
_SWEEPS = 500  # of coordinate descent at most
_STILL = 1e-7  # shares that move by less have come to rest
_PIECE = 20_000  # candidates whose places are worked out at a time, to bound memory


def table(bloom: Bloom, seeds: NDArray[np.uint64], used: NDArray[np.bool_]) -> csr_matrix:
    """Return for each candidate, a row each, the cells [cohort, place] that it sets, of the cohorts in use."""
    from scipy.sparse import csr_matrix, vstack

    cohorts = np.flatnonzero(used)
    starts = np.arange(cohorts.size) * bloom.bits
    parts = []
    for begin in range(0, len(seeds), _PIECE):
        places = np.sort(places_of(bloom, seeds[begin : begin + _PIECE])[:, cohorts, :], axis=2)
        twice = np.zeros(places.shape, bool)
        twice[:, :, 1:] = places[:, :, 1:] == places[:, :, :-1]  # two hashes that meet set one bit
        cells = (places + starts[None, :, None]).reshape(len(places), -1).astype(np.int32)
        kept = ~twice.reshape(len(places), -1)
        ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        values = np.ones(int(ends[-1]), np.float32)
        shape = (len(places), cohorts.size * bloom.bits)
        parts.append(csr_matrix((values, cells[kept], ends), shape=shape))
    found: csr_matrix = vstack(parts, format="csr")
    return found


def alike(rows: csr_matrix) -> NDArray[np.bool_]:
    """Return which candidates set the same cells as another one, so that no response tells them apart."""
    # Sums of values of which no two sets have the same sum, but for a chance of about 2^-50 a pair.
    marks = np.asarray(rows @ np.sin(np.arange(1, rows.shape[1] + 1, dtype=np.float64) ** 2), np.float64)
    _, group, counts = np.unique(marks, return_inverse=True, return_counts=True)
    found: NDArray[np.bool_] = counts[group] > 1
    return found


@dataclass(frozen=True)
class Fit:
    """Least squares on a few candidates and a level.

    Attributes:
        numbers: which candidates.
        shares: of each of them.
        covariance: of the shares, if cells vary as the weights say.
        level: what all other strings add to each cell.
        excess: by how much cells vary more than the weights say, at least 1.
    """

    numbers: Numbers
    shares: Floats
    covariance: Floats
    level: float
    excess: float


class Regression:
    """The cells, the candidates, and how much each cell counts.

    Args:
        rows: for each candidate the cells that it sets.
        cells: the estimated share of true ones in each.
        weights: one over the variance of each.
    """

    def __init__(self, rows: csr_matrix, cells: Floats, weights: Floats) -> None:
        self.rows = rows
        self.cells = cells
        self.weights = weights
        self._sums: Floats = np.asarray(rows @ weights, np.float64)
        # What a candidate's bits stand out by, once the level is taken away.
        self.norms: Floats = self._sums - self._sums**2 / weights.sum()

    def residual(self, numbers: Numbers, shares: Floats) -> Floats:
        """Return what these candidates, at these shares, and the best level leave unexplained."""
        left: Floats = self.cells - np.asarray(self.rows[numbers].T @ shares, np.float64)
        return left - float(self.weights @ left) / float(self.weights.sum())

    def scores(self, residual: Floats) -> Floats:
        """Return how many standard errors each candidate's bits stand out in a residual."""
        pull: Floats = np.asarray(self.rows @ (self.weights * residual), np.float64)
        return pull / np.sqrt(np.maximum(self.norms, 1e-300))

    def gram(self, numbers: Numbers) -> Floats:
        """Return the weighted products of candidates, the level taken away."""
        some: Any = self.rows[numbers].astype(np.float64)
        products = (some.multiply(self.weights) @ some.T).toarray()
        sums = self._sums[numbers]
        found: Floats = products - np.outer(sums, sums) / self.weights.sum()
        return found

    def lasso(self, threshold: float, most: int) -> Numbers:
        """Return the candidates that a non-negative lasso keeps: those that still stand out by more than a threshold.

        The penalty of a candidate is the threshold in its own standard errors. Candidates that stand out most come in
        first, some at a time; after each batch shares are brought to rest by coordinate descent.
        """
        active: Numbers = np.empty(0, np.intp)
        shares: Floats = np.empty(0)
        for _ in range(_LASSO_ROUNDS):
            scores = self.scores(self.residual(active, shares))
            scores[active] = 0.0
            fresh = np.flatnonzero(scores > threshold)
            room = min(_BATCH, most - active.size)
            fresh = fresh[np.argsort(-scores[fresh])][:room]
            if not fresh.size:
                break
            active = np.concatenate([active, fresh])
            shares = self._descend(active, np.concatenate([shares, np.zeros(fresh.size)]), threshold)
            active, shares = active[shares > 0], shares[shares > 0]
        return np.sort(active)

    def _descend(self, numbers: Numbers, shares: Floats, threshold: float) -> Floats:
        gram = self.gram(numbers)
        norms = np.maximum(np.diagonal(gram), 1e-300)
        # The pull of the cells themselves, before any candidate explains a part of it.
        pulls = self.scores(self.residual(numbers, np.zeros(numbers.size)))[numbers] * np.sqrt(norms)
        pulls = pulls - threshold * np.sqrt(norms)
        shares = shares.copy()
        for _ in range(_SWEEPS):
            moved = 0.0
            for at in range(numbers.size):
                new = max(0.0, float(pulls[at] - gram[at] @ shares + norms[at] * shares[at]) / float(norms[at]))
                moved = max(moved, abs(new - float(shares[at])))
                shares[at] = new
            if moved < _STILL:
                break
        return shares

    def fit(self, numbers: Numbers) -> Fit:
        """Measure candidates by weighted least squares, without a penalty and without a bound."""
        covariance = _inverse(self.gram(numbers))
        centred = self.cells - float(self.weights @ self.cells) / float(self.weights.sum())
        shares: Floats = covariance @ np.asarray(self.rows[numbers] @ (self.weights * centred), np.float64)
        left = self.residual(numbers, shares)
        freedom = max(self.cells.size - numbers.size - 1, 1)
        excess = max(1.0, float(self.weights @ left**2) / freedom)
        level = float(self.weights @ (self.cells - np.asarray(self.rows[numbers].T @ shares, np.float64)))
        return Fit(numbers, shares, covariance, level / float(self.weights.sum()), excess)

    def reweighted(self, fit: Fit, variance: Callable[[Floats], Floats]) -> Fit:
        """Fit again with weights from what was fitted: cells with more true ones vary more, or less."""
        some = self.rows[fit.numbers]
        fitted = np.asarray(some.T @ fit.shares, np.float64) + fit.level
        again = Regression(some, self.cells, 1 / variance(np.clip(fitted, 0.0, 1.0)))
        return replace(again.fit(np.arange(fit.numbers.size)), numbers=fit.numbers)


def _inverse(gram: Floats) -> Floats:
    """Return the inverse; of candidates that are not told apart, one that shares among them what they have."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    try:
        found: Any = cho_solve(cho_factor(gram), np.eye(len(gram))) if gram.size else gram
    except LinAlgError:
        found = np.linalg.pinv(gram, hermitian=True)
    inverse: Floats = found
    return inverse
