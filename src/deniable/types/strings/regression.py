"""Cells that candidates set in all cohorts, least squares with few candidates, and what chance alone does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.types.strings.design import Bloom
from deniable.types.strings.hashing import places_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

_PIECE = 20_000  # candidates whose places are worked out at a time, to bound memory


def table(
    bloom: Bloom, seeds: NDArray[np.uint64], used: NDArray[np.bool_]
) -> csr_matrix:
    """Return for each candidate, a row each, the cells [cohort, place] that it sets, of the cohorts in use."""
    from scipy.sparse import csr_matrix, vstack

    cohorts = np.flatnonzero(used)
    starts = np.arange(cohorts.size) * bloom.bits
    parts = []
    for begin in range(0, len(seeds), _PIECE):
        places = np.sort(
            places_of(bloom, seeds[begin : begin + _PIECE])[:, cohorts, :], axis=2
        )
        twice = np.zeros(places.shape, bool)
        # two hashes that meet set one bit
        twice[:, :, 1:] = places[:, :, 1:] == places[:, :, :-1]
        cells = (
            (places + starts[None, :, None])
            .reshape(len(places), -1)
            .astype(np.int32)
        )
        kept = ~twice.reshape(len(places), -1)
        ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        values = np.ones(int(ends[-1]), np.float32)
        shape = (len(places), cohorts.size * bloom.bits)
        parts.append(csr_matrix((values, cells[kept], ends), shape=shape))
    rows: csr_matrix = vstack(parts, format="csr")
    return rows


def weigh_cells(
    rows: csr_matrix,
    cells: Floats,
    people: Floats,
    bit_variance: Callable[[Floats], Floats],
) -> tuple[LeastSquares, Callable[[Floats], Floats]]:
    """Return the cells with weights for even shares, and how much cells vary that hold such shares.

    Args:
        rows: for each candidate the cells that it sets.
        cells: the estimated share of true ones in each.
        people: how many respondents each cell has.
        bit_variance: the variance of what one respondent says about a cell that holds such a share.
    """

    def variance(ones: Floats) -> Floats:
        # A share of 0 or 1 is known as well as the respondents tell; where a sample is the truth, no better than that.
        return bit_variance(np.clip(ones, 0.5 / people, 1 - 0.5 / people)) / people

    even = np.clip(np.average(cells, weights=people), 0.0, 1.0)
    weights = 1 / variance(np.full(cells.size, even))
    return LeastSquares(rows, cells, weights), variance


def alike(rows: csr_matrix) -> NDArray[np.bool_]:
    """Return which candidates set the same cells as another one, so that no response tells them apart."""
    # Sums of values of which no two sets have the same sum, but for a chance of about 2^-50 a pair.
    marks = np.asarray(
        rows @ np.sin(np.arange(1, rows.shape[1] + 1, dtype=np.float64) ** 2),
        np.float64,
    )
    _, group, counts = np.unique(marks, return_inverse=True, return_counts=True)
    return np.asarray(counts[group] > 1, np.bool_)


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


class LeastSquares:
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

    def residual(self, fit: Fit) -> Floats:
        """Return what a fit leaves of each cell."""
        return (
            self.cells
            - np.asarray(self.rows[fit.numbers].T @ fit.shares, np.float64)
            - fit.level
        )

    def gram(self, numbers: Numbers, others: Numbers | None = None) -> Floats:
        """Return the weighted products of candidates with each other, or with others, the level taken away."""
        columns = numbers if others is None else others
        rows: Any = self.rows[numbers].astype(np.float64)
        products = (rows.multiply(self.weights) @ self.rows[columns].T).toarray()
        sums = np.outer(self._sums[numbers], self._sums[columns])
        return np.asarray(products - sums / self.weights.sum(), np.float64)

    def squares(self) -> Floats:
        """Return the diagonal of `gram` for all candidates: what each sets is 1."""
        return np.asarray(
            self._sums - self._sums**2 / self.weights.sum(), np.float64
        )

    def fit(self, numbers: Numbers) -> Fit:
        """Measure candidates by weighted least squares, without a penalty and without a bound."""
        covariance, total = _inverse(self.gram(numbers)), float(self.weights.sum())
        centred = self.cells - float(self.weights @ self.cells) / total
        shares: Floats = covariance @ np.asarray(
            self.rows[numbers] @ (self.weights * centred), np.float64
        )
        left = self.cells - np.asarray(self.rows[numbers].T @ shares, np.float64)
        level = float(self.weights @ left) / total
        freedom = max(self.cells.size - numbers.size - 1, 1)
        excess = max(1.0, float(self.weights @ (left - level) ** 2) / freedom)
        return Fit(numbers, shares, covariance, level, excess)

    def fitted(self, fit: Fit) -> Floats:
        """Return what each cell holds as far as a fit tells, from 0 to 1."""
        held = (
            np.asarray(self.rows[fit.numbers].T @ fit.shares, np.float64) + fit.level
        )
        return np.clip(held, 0.0, 1.0)

    def weighted(self, variance: Floats) -> LeastSquares:
        """Return the same with other variances of the cells."""
        return LeastSquares(self.rows, self.cells, 1 / variance)


class OneByOne:
    """The share of each candidate that is not in a fit, as if it were added to the fit alone.

    Implements: with r the residual of the fit and x the cells of the candidate less what the fit's candidates and the
    level explain of them, the share is x′Wr/x′Wx. It is not correlated with the shares of the fit.

    Args:
        model: the cells, the candidates, and how much each cell counts.
        fit: of some candidates.
    """

    def __init__(self, model: LeastSquares, fit: Fit) -> None:
        outside = np.ones(model.rows.shape[0], np.bool_)
        outside[fit.numbers] = False
        self.numbers: Numbers = np.flatnonzero(outside)
        self._model, self._fit = model, fit
        pulls = model.rows @ (model.weights * model.residual(fit))
        squares = self._squares()
        with np.errstate(divide="ignore", invalid="ignore"):
            self.shares: Floats = (
                np.asarray(pulls, np.float64)[self.numbers] / squares
            )
            self.variances: Floats = fit.excess / squares

    def _squares(self) -> Floats:
        """Return x′Wx of each candidate, a piece at a time to bound memory."""
        model, fit = self._model, self._fit
        squares: Floats = model.squares()[self.numbers]
        for start in range(0, self.numbers.size, _PIECE):
            piece = slice(start, start + _PIECE)
            products = model.gram(self.numbers[piece], fit.numbers)
            squares[piece] -= ((products @ fit.covariance) * products).sum(axis=1)
        return squares

    def covariance(self) -> Floats:
        """Return the covariance of the shares."""
        model, fit = self._model, self._fit
        products = model.gram(self.numbers, fit.numbers)
        gram = model.gram(self.numbers) - products @ fit.covariance @ products.T
        scale = np.sqrt(fit.excess) * self.variances / fit.excess
        return np.asarray(gram * np.outer(scale, scale), np.float64)


def _inverse(gram: Floats) -> Floats:
    """Return the inverse; of candidates that are not told apart, one that shares among them what they have."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    if not gram.size:
        return gram
    try:
        return np.asarray(cho_solve(cho_factor(gram), np.eye(len(gram))), np.float64)
    except LinAlgError:
        return np.asarray(np.linalg.pinv(gram, hermitian=True), np.float64)


_STEPS = 16  # of the grid on which pulls are added up, in the spread of one cell
_MAX_STEPS = 1 << 16
_SURE = 37.0  # e^-37 is about what doubles do not tell from 0
_BLOCK = np.arange(1, 33)  # frequencies that are computed at once
_FAINT = 1e-11  # chances below it are bounded in place of added up: rounding errors come near
# of bounds, over the standard deviation of a pull
_TILTS = np.geomspace(0.1, 400.0, 40)


class Chance:
    """By how much a string that nobody has stands out: its places are drawn at random, anew in each cohort.

    Why: the places of a string that nobody has do not depend on what the cells hold. So its pull is a sum of draws from
    each cohort's own cells, whatever they hold: noise of the device, and strings that nobody listed. No model of
    either is needed.

    Args:
        pulls: what a place adds to the pull of a candidate that sets it, [cohort, place]; its mean is taken away.
        hashes: how many places a string draws; one that is drawn twice counts once.
    """

    def __init__(self, pulls: Floats, hashes: int) -> None:
        self.pulls: Floats = pulls - pulls.mean(axis=1, keepdims=True)
        self._hashes = hashes
        self.deviation = (
            math.sqrt(hashes * float((self.pulls**2).mean(axis=1).sum())) or 1.0
        )
        self._tilts = _TILTS / self.deviation
        self._bounds = self._cumulants(self.pulls)

    def reach(self, chance: float) -> float:
        """Return a pull that is reached with at most this chance."""
        return float(((self._bounds - math.log(chance)) / self._tilts).min())

    def above(self, totals: Floats) -> Floats:
        """Return how often the pull of a string that nobody has is as large, or larger."""
        first, step, tails = self._tails
        # steps that few draws lose where two share a cell
        shared = min(len(self.pulls) * self._hashes - 1, 2)
        cells = np.floor(totals / step).astype(np.int64) - first - shared
        summed = tails[np.clip(cells, 0, tails.size - 1)]
        tilted = self._bounds[:, None] - self._tilts[:, None] * totals
        bounds = tilted.min(axis=0)
        bounded = np.exp(np.clip(bounds, -700.0, math.log(_FAINT)))
        added_up = (summed > _FAINT) & (cells < tails.size)
        return np.where(added_up, np.minimum(summed, 1.0), bounded)

    def _cumulants(self, pulls: Floats) -> Floats:
        """Return bounds on the logarithm of E[e^(tilt·pull)]: places drawn without repetition vary less [Hoe63]."""
        tops = pulls.max(axis=1, keepdims=True)
        means = [
            np.log(np.exp(tilt * (pulls - tops)).mean(axis=1)) + tilt * tops[:, 0]
            for tilt in self._tilts
        ]
        return self._hashes * np.array([mean.sum() for mean in means], np.float64)

    @cached_property
    def _tails(self) -> tuple[int, float, Floats]:
        """Return the chances of each step of a grid or more: where it begins, its step, and they."""
        high = self.reach(math.exp(-_SURE))
        low = -float(((self._cumulants(-self.pulls) + _SURE) / self._tilts).min())
        middle = float(np.subtract(*np.quantile(self.pulls, [0.75, 0.25]))) / 1.35
        step = max(middle / _STEPS, (high - low) / _MAX_STEPS)
        size = 1 << math.ceil(math.log2((high - low) / step + 2))
        first = math.floor(low / step)
        chances = np.fft.irfft(self._spectrum(step, size), size)
        placed = np.roll(chances, -(first % size))
        return first, step, np.cumsum(placed[::-1])[::-1]

    def _spectrum(self, step: float, size: int) -> NDArray[np.complex128]:
        """Return the Fourier transform of the law of a pull on a grid, each cell shared by its two neighbours there."""
        sizes = _distinct(self.pulls.shape[1], self._hashes)
        whole = np.floor(self.pulls / step)
        part = self.pulls / step - whole
        # A block of frequencies at a time: each is the one before the block, turned once to 32 times further.
        turn = np.exp(-2j * np.pi * whole / size)
        turns = np.cumprod(np.broadcast_to(turn, (_BLOCK.size, *turn.shape)), axis=0)
        spin = np.ones(whole.shape, np.complex128)
        spectrum = np.zeros(size // 2 + 1, np.complex128)
        spectrum[0] = 1
        for start in range(0, spectrum.size - 1, _BLOCK.size):
            frequencies = (start + _BLOCK)[: spectrum.size - 1 - start]
            next_cell = np.exp(-2j * np.pi * frequencies / size) - 1
            shared = 1 + part * next_cell[:, None, None]
            values = _mean_products(spin * turns[: frequencies.size] * shared, sizes)
            spectrum[frequencies] = np.prod(values, axis=-1)
            if np.abs(spectrum[frequencies]).max() < 1e-17:
                break
            spin *= turns[-1]
        return spectrum


def _distinct(bits: int, hashes: int) -> Floats:
    """Return how often so many hashes set 0, 1, 2, … different bits."""
    chances = np.zeros(min(bits, hashes) + 1)
    chances[0] = 1.0
    numbers = np.arange(chances.size)
    for _ in range(hashes):
        fresh = np.concatenate([[0.0], (chances * (bits - numbers) / bits)[:-1]])
        chances = chances * numbers / bits + fresh
    return chances


def _mean_products(
    values: NDArray[np.complex128], sizes: Floats
) -> NDArray[np.complex128]:
    """Return the mean product of values (last axis) at places drawn without repetition, as many as `sizes` tells.

    Implements: Newton's identities: products of so many different values, from sums of powers.
    """
    if sizes.size == 2:
        return np.asarray(values.mean(axis=-1))
    powers = [np.sum(values**number, axis=-1) for number in range(1, sizes.size)]
    products = [np.ones(values.shape[:-1], np.complex128)]
    for count in range(1, sizes.size):
        terms = [
            (-1) ** k * products[count - 1 - k] * powers[k] for k in range(count)
        ]
        products.append(np.sum(terms, axis=0) / count)
    weights = [
        size / math.comb(values.shape[-1], count) for count, size in enumerate(sizes)
    ]
    return np.asarray(np.tensordot(weights, products, axes=1))
