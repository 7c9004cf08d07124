"""Whether two things hang together, from a table that counts responses: score and likelihood-ratio tests."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gamma, hypergeom, random_table

from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.inverses import left_inverse
from deniable.estimates.likelihood import log_likelihood, most_likely
from deniable.estimates.testing import HypothesisTest

if TYPE_CHECKING:
    from deniable.types.strings.scores import ResponseBits

__all__ = [
    "ScoredRows",
    "TableSide",
    "holm",
    "response_scores",
    "score_test",
    "white",
]

MAX_CELLS = 4_096
"""Responses of a question in a table: each is a row or a column of it."""

NEAR = 0.05
"""How far the variance of a statistic may be from that of normal scores for a closed form."""

_TABLES = 9_999  # that are drawn where there is none


def response_scores(design: Design) -> Matrix:
    """Return for each response a score for each answer: on average 1 for the answer that was given, 0 for others.

    Raises:
        NotEstimable: the design cannot tell answers apart, or its tally keeps sums of responses.
        InvalidRequest: more responses than a table is made of.
    """
    channel = design.channel
    if not channel.own_cells:
        raise NotEstimable(
            "the tally of this design keeps sums; expected a count for every response."
        )
    if channel.cells > MAX_CELLS:
        raise InvalidRequest(
            f"a question has {channel.cells:,} responses; expected at most {MAX_CELLS:,} in a table."
        )
    linear = left_inverse(channel)
    return np.array([linear.shares(row) for row in np.eye(channel.cells)])


class ScoredRows(NamedTuple):
    """The unbiased scores of one question's responses.

    Attributes:
        labels: of the answers; of strings those listed, and then all others as one.
        values: a row for each respondent, which sums to 1. Given the answer, it is on average 1 there and 0 elsewhere.
        own: the mean square of the score of each answer, given this answer.
        bits: of strings, the bits behind the scores.
    """

    labels: tuple[str, ...]
    values: Matrix
    own: Vector
    bits: ResponseBits | None = None


class TableSide(NamedTuple):
    """What a test needs to know about one side of a table.

    Attributes:
        rank: how many scores are left that vary on their own.
        tail: the sum of the squared lengths of all rows, squared again; long tails need exact tests.
    """

    rank: int
    tail: float

    @classmethod
    def of(cls, values: Matrix, times: Vector | float = 1.0) -> TableSide:
        """Return it for white scores, of which each was seen so many times."""
        return cls(
            values.shape[1], float((times * (values**2).sum(axis=1) ** 2).sum())
        )

    def variances(self, other: TableSide, n: int) -> tuple[float, float]:
        """Return the variance of the statistic over all pairings of n rows, and what it were for normal scores.

        Implements: [KHL95], for two projections, of which both traces are the rank.
        """
        p, q = self.rank, other.rank
        normal = (
            2
            * p
            * (n - 1 - p)
            * q
            * (n - 1 - q)
            / ((n - 1) ** 2 * (n + 1) * (n - 2))
        )
        tails = [
            n * (n + 1) * side.tail - (n - 1) * side.rank * (side.rank + 2)
            for side in (self, other)
        ]
        more = tails[0] * tails[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
        return (n - 1) ** 2 * (normal + more), (n - 1) ** 2 * normal

    def closed(self, other: TableSide, n: int, statistic: float) -> float | None:
        """Return the p-value of a statistic by a gamma law with its mean and variance; None where tails are long."""
        freedom = self.rank * other.rank
        variance, normal = (
            self.variances(other, n) if n > 3 and freedom else (math.inf, 0.0)
        )
        if not normal or abs(variance - normal) > NEAR * normal:
            return None
        return float(
            gamma.sf(statistic, freedom**2 / variance, scale=variance / freedom)
        )


def white(values: Matrix, times: Vector | None = None) -> Matrix:
    """Return scores turned so that they are uncorrelated, each with mean 0 and squares that sum to 1.

    Args:
        values: a row of scores for each person, or for each response.
        times: how often each row was seen; once by default.
    """
    seen = np.ones(len(values)) if times is None else np.asarray(times, np.float64)
    centred = values - seen @ values / max(seen.sum(), 1)
    sizes, directions = np.linalg.eigh(centred.T @ (seen[:, None] * centred))
    is_kept = sizes > 1e-9 * max(float(sizes[-1]), 1e-300)
    scores: Matrix = centred @ (directions[:, is_kept] / np.sqrt(sizes[is_kept]))
    return scores


def score_test(
    counts: Matrix,
    rows: Matrix,
    columns: Matrix,
    hypothesis: str = "Test of independence",
) -> HypothesisTest:
    """Test whether what rows and columns stand for is independent.

    Implements: the trace of Pillai [Pil55] on the scores of both sides, against all ways to pair them [KHL95]. For two
    groups and two responses it is Pearson's χ² but for a factor (n − 1)/n, and its tail that of Fisher [Fis34].

    Guarantee: the p-value is below any α with probability at most α: exactly where it is counted in tables, closely
    where it has a closed form.

    Why: devices draw on their own, so that independent answers have independent responses, and every pairing of them
    was as likely. Where a few responses weigh much, the tables that these pairings give are summed, or drawn. The draws
    begin with a hash of the counts, so that one table has one p-value.

    Args:
        counts: how often each pair was seen.
        rows: a row of scores for each row of the table.
        columns: a row of scores for each column.
        hypothesis: what independence means here.
    """
    table = np.asarray(counts, np.int64)
    n, margins = int(table.sum()), (table.sum(axis=1), table.sum(axis=0))
    one, two = white(rows, margins[0]), white(columns, margins[1])
    sides = TableSide.of(one, margins[0]), TableSide.of(two, margins[1])
    statistic = (n - 1) * float(((one.T @ table @ two) ** 2).sum())
    df = sides[0].rank * sides[1].rank
    if not df:
        return HypothesisTest(hypothesis, "score", 0.0, 0, 1.0)
    closed = sides[0].closed(sides[1], n, statistic)
    if closed is not None:
        return HypothesisTest(hypothesis, "score", statistic, df, closed)
    if table.shape == (2, 2):
        return HypothesisTest(hypothesis, "score", statistic, df, _fisher(table))
    as_large = _count_as_large(table, one, two, margins, statistic, n)
    return HypothesisTest(
        hypothesis, "score", statistic, df, (1 + as_large) / (1 + _TABLES), _TABLES
    )


def _count_as_large(
    table: NDArray[np.int64],
    one: Matrix,
    two: Matrix,
    margins: tuple[NDArray[np.int64], NDArray[np.int64]],
    statistic: float,
    n: int,
) -> int:
    """Count the random tables with these margins whose statistic is as large; the table itself is the seed."""
    seed = int.from_bytes(hashlib.sha256(table.tobytes()).digest(), "little")
    is_seen = [margin > 0 for margin in margins]
    tables = random_table(margins[0][is_seen[0]], margins[1][is_seen[1]]).rvs(
        _TABLES, random_state=np.random.default_rng(seed)
    )
    turned = np.einsum("ip,tij,jq->tpq", one[is_seen[0]], tables, two[is_seen[1]])
    return int(
        ((n - 1) * (turned**2).sum(axis=(1, 2)) >= statistic * (1 - 1e-9)).sum()
    )


def _fisher(table: NDArray[np.int64]) -> float:
    """Return how often a table of two by two with these margins is as far from what is expected, or farther."""
    n, row, column = int(table.sum()), int(table[0].sum()), int(table[:, 0].sum())
    cell = np.arange(max(0, row + column - n), min(row, column) + 1)
    away = np.abs(cell - row * column / n)
    far = away >= abs(table[0, 0] - row * column / n) * (1 - 1e-9)
    return min(1.0, float(hypergeom.pmf(cell[far], n, row, column).sum()))


def highest(design: Design, counts: Vector) -> float:
    """Return the largest log-likelihood that any shares give the counts.

    Raises:
        NotEstimable: the tally keeps sums.
    """
    linear = left_inverse(design.channel)
    shares, _ = most_likely(design.channel, linear, counts)
    return log_likelihood(counts, linear.expected(shares))


def holm(p_values: Vector) -> Vector:
    """Return p-values adjusted for their number: below α for a true hypothesis with probability at most α, for any.

    Implements: [Hol79].

    Example:
        >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
        [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    factors = np.arange(len(p_values), 0, -1)
    adjusted[order] = np.minimum(
        np.maximum.accumulate(factors * np.asarray(p_values)[order]), 1.0
    )
    return adjusted
