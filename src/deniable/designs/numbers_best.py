"""Best number of levels for a number, and best width of the window over them.

In floats: privacy is elsewhere.

A design is a list of columns here: for each level the probabilities of the responses. Levels lie evenly from −1 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

Columns: TypeAlias = Sequence[Sequence[float]]

LEVELS_FOR_A_MEAN = (*range(2, 8), 9, 12, 16, 24, 32)
"""Numbers of levels that are tried for a mean; those above 7 only where e^ε is large: else they win about 1 %."""

LEVELS_FOR_A_DISTRIBUTION = 11
"""Levels that a distribution takes: a step is a tenth of the range."""

_LARGE_RATIO = 100.0  # e^ε from which more levels are worth it
_FEW_LEVELS = 7  # 12 responses at most: a table of them fits on a telephone
_MOST_RATIO = 1e9  # beyond, e^ε makes no difference to the choice and floats cancel


@lru_cache(maxsize=256)
def best_window(
    goal: str, ratio: float, levels: int | None = None, width: int | None = None
) -> tuple[int, int]:
    """Return the number of levels and the width of the window with the smallest variance.

    Args:
        goal: "mean", for the variance in the worst case; "distribution", for that of the shares of people at or below
            each level, on average, if the shares are even.
        ratio: e^ε.
        levels: how many there are, if it is settled.
        width: of the window, if it is settled.

    Example:
        >>> [best_window("mean", ratio) for ratio in (1.6, 2.7, 7.4, 54.6)]
        [(7, 6), (7, 6), (5, 2), (7, 2)]
    """
    settled = levels or (LEVELS_FOR_A_DISTRIBUTION if goal == "distribution" else None)
    max_levels = _FEW_LEVELS if ratio < _LARGE_RATIO else LEVELS_FOR_A_MEAN[-1]
    counts = (
        [settled]
        if settled
        else [count for count in LEVELS_FOR_A_MEAN if count <= max_levels]
    )
    pairs = [
        (count, candidate)
        for count in counts
        for candidate in (_widths(count) if width is None else [width])
    ]
    cost = worst_variance if goal == "mean" else _cumulated_variance
    fitting = [(count, span) for count, span in pairs if 1 <= span < count]
    if len(fitting) < 2:
        return pairs[0]
    return min(
        fitting,
        key=lambda pair: cost(
            window_columns(pair[0], pair[1], min(ratio, _MOST_RATIO))
        ),
    )


def worst_variance(columns: Columns) -> float:
    """Return the largest variance, over all numbers from −1 to 1, of the score of a response.

    Why: between two levels the second moment of the score is linear in the number, as rounding is, and the square of
    the number is taken off: the largest value is at an end or where the slopes are equal.
    """
    scores, levels = best_scores(columns), _levels(len(columns))
    seconds = [
        sum(score * score * p for score, p in zip(scores, column, strict=True))
        for column in columns
    ]
    worst = 0.0
    for index in range(len(levels) - 1):
        chord_derivative = (seconds[index + 1] - seconds[index]) / (
            levels[index + 1] - levels[index]
        )
        y = min(max(chord_derivative / 2, levels[index]), levels[index + 1])
        worst = max(
            worst, seconds[index] + chord_derivative * (y - levels[index]) - y * y
        )
    return worst


def best_scores(columns: Columns) -> list[float]:
    """Return unbiased scores of the responses for the levels, with the smallest variance at equal shares."""
    weights = _solve(
        _information(columns), [[level] for level in _levels(len(columns))]
    )
    shares = _shares(columns)
    return [
        sum(
            column[response] * weight[0]
            for column, weight in zip(columns, weights, strict=True)
        )
        / share
        for response, share in enumerate(shares)
    ]


def window_columns(levels: int, width: int, ratio: float) -> Columns:
    """Return the columns of a window."""
    small = 1 / (width * ratio + levels - 1)
    return [
        [
            ratio * small if first <= response < first + width else small
            for response in range(levels + width - 1)
        ]
        for first in range(levels)
    ]


def _cumulated_variance(columns: Columns) -> float:
    """Return the variances of the shares of people at or below each level, summed, but for a constant."""
    size = len(columns)
    below = [
        [float(response <= level) for level in range(size - 1)]
        for response in range(size)
    ]
    inverse = _solve(_information(columns), below)
    return sum(
        sum(inverse[response][level] for response in range(level + 1))
        for level in range(size - 1)
    )


def _widths(levels: int) -> list[int]:
    """Return the widths that are tried: all of a few, and then in larger steps."""
    return [
        width
        for width in range(1, levels)
        if width <= 8 or width % 4 == 0 or width == levels - 1
    ]


def _levels(size: int) -> list[float]:
    return [2 * index / (size - 1) - 1 for index in range(size)]


def _shares(columns: Columns) -> list[float]:
    """Return the probability of each response at equal shares of the levels."""
    return [sum(row) / len(columns) for row in zip(*columns, strict=True)]


def _information(columns: Columns) -> list[list[float]]:
    shares = _shares(columns)
    scaled = [
        [p / share for p, share in zip(column, shares, strict=True)]
        for column in columns
    ]
    return [
        [sum(map(float.__mul__, left, right)) for right in scaled] for left in columns
    ]


def _solve(
    matrix: list[list[float]], constants: list[list[float]]
) -> list[list[float]]:
    """Return X with matrix·X = given, by elimination; the matrix is positive definite."""
    size = len(matrix)
    rows = [[*matrix[index], *constants[index]] for index in range(size)]
    for index in range(size):
        pivot = rows[index][index]
        rows[index] = [entry / pivot for entry in rows[index]]
        for other_index in range(size):
            if other_index != index:
                factor = rows[other_index][index]
                rows[other_index] = [
                    mine - factor * its
                    for mine, its in zip(rows[other_index], rows[index], strict=True)
                ]
    return [row[size:] for row in rows]
