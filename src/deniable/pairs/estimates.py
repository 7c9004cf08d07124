"""Whether two questions hang together, how much, and the share of each pair of answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from deniable import chance, documents, exact
from deniable.designs import AnyDesign
from deniable.errors import Incompatible, InvalidRequest, NotEstimable, require
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.cross_tables import Grid
from deniable.estimates.independence import TableSide, white
from deniable.estimates.intervals import wilson
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    IntervalRequest,
)
from deniable.files.row_names import check_same_people
from deniable.pairs.scores import ScoredRows, scores, whole
from deniable.rendering import formats
from deniable.tallies.responses import Responses

__all__ = ["Association", "PairedDesigns", "association"]

MOST_CELLS = 1_000
"""Pairs of answers in a table: their covariance takes so many numbers squared for each respondent."""

_PIECE = 1 << 13  # rows whose products are formed at a time, to bound memory
_PERMUTATIONS = 999
_SAME = 50  # from so many rows on, cohorts that agree in all of them are no chance


class PairedDesigns(NamedTuple):
    """The two designs of an association: what `Association.from_json` reads it with."""

    first: AnyDesign
    second: AnyDesign

    @property
    def hash(self) -> str:
        """The name of both together."""
        return documents.digest({"first": self.first.hash, "second": self.second.hash})

    @property
    def epsilon(self) -> float:
        """What both responses of one respondent reveal together, rounded up."""
        parities = [each.parity for each in self]  # type: ignore[attr-defined]  # designs for categories and strings have it
        return (
            math.inf
            if math.inf in parities
            else exact.log_above(math.prod(map(Fraction, parities)))
        )


@dataclass(frozen=True, eq=False)
class Association(Grid):
    """The share of each pair of answers to two questions, and whether they hang together.

    Attributes:
        covariance: of all shares, row by row.
        own: the mean square of a pair's score, given this pair.
        others: the same, given any other pair.
        statistic: n times the sum of the squared correlations of both questions' scores.
        freedom: what the statistic is on average, if the questions are independent.
        p_value: how often it is as large, or larger, if they are.
        permutations: how many ways to pair the responses the p-value was counted in; 0 for a closed form.
        respondents: how many answered both.
        missing: how many rows lack one of them, or tell but a prefix of a string.
        design: the hash of both designs.
        epsilon: the most that a respondent has revealed with both responses.
    """

    type: ClassVar = "association"

    covariance: Matrix = field(repr=False)
    own: Matrix = field(repr=False)
    others: Matrix = field(repr=False)
    statistic: float
    freedom: int
    p_value: float
    permutations: int
    respondents: int
    missing: int
    design: str
    epsilon: float

    @classmethod
    def of(
        cls,
        labels: tuple[tuple[str, ...], tuple[str, ...]],
        shares: Matrix,
        covariance: Matrix,
        **rest: Any,
    ) -> Association:
        """Make the table from its shares and their covariance."""
        blocks = covariance.reshape(shares.shape * 2)
        margins = [
            np.maximum(np.diagonal(blocks.sum(axis=(axis, axis + 2))), 0.0)
            for axis in (1, 0)
        ]
        return cls(
            rows="first",
            columns="second",
            row_labels=labels[0],
            column_labels=labels[1],
            shares=shares,
            errors=np.sqrt(np.diagonal(covariance)).reshape(shares.shape),
            row_totals=shares.sum(axis=1),
            row_errors=np.sqrt(margins[0]),
            column_totals=shares.sum(axis=0),
            column_errors=np.sqrt(margins[1]),
            covariance=covariance,
            **rest,
        )

    @property
    def _names(self) -> list[str]:
        return [
            f"{row} · {column}"
            for row in self.row_labels
            for column in self.column_labels
        ]

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self._names, self.shares.reshape(-1).tolist(), strict=True))

    @property
    def bse(self) -> dict[str, float]:
        return dict(zip(self._names, self.errors.reshape(-1).tolist(), strict=True))

    def cov_params(self) -> Matrix:
        return self.covariance.copy()

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        return {"score": self._score_bounds, **super()._interval_methods()}

    def _score_bounds(self, confidence: float) -> Bounds:
        lows, highs = wilson(
            self.shares, self.own, self.others, self.respondents, 1.0, confidence
        )
        return lows.reshape(-1), highs.reshape(-1)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        faint = [label for axis in (1, 0) for label in self._faint(axis)]
        if not faint:
            return ()
        text = f"{len(faint)} answers are too rare to differ from 0; Cramér's V counts them together with another."
        return (Caution("faint", text),)

    def _describe(self, request: IntervalRequest) -> Description:
        low, high = self.cramers_v_interval(level=request.level)
        how = f" ({self.permutations} permutations)" if self.permutations else ""
        return Description(
            title=f"{len(self.row_labels)} × {len(self.column_labels)} answers to two questions, "
            f"{self.respondents:,} respondents",
            quantity="share",
            method="inversion",
            respondents=self.respondents,
            epsilon=self.epsilon,
            missing=self.missing,
            notes=(
                f"Independent questions: p = {formats.p_value(self.p_value)}{how}; the statistic is "
                f"{self.statistic:.1f}, on average {self.freedom}.",
                f"Cramér's V, less what noise adds: {self.cramers_v:.3f} ({low:.3f} … {high:.3f}).",
            ),
        )

    def __str__(self) -> str:
        told = (*self.summary().notes, *(f"Warning: {each}" for each in self.warnings))
        return "\n".join([super().__str__(), *told])

    @property
    def _design_hash(self) -> str:
        return self.design

    def _source(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        labels = [list(self.row_labels), list(self.column_labels)]
        return {
            "labels": labels,
            **arrays,
            **{name: getattr(self, name) for name in _PLAIN},
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: PairedDesigns) -> Association:
        arrays: dict[str, Any] = {
            name: np.array(source[name], np.float64) for name in _ARRAYS
        }
        plain = {name: source[name] for name in _PLAIN}
        rows, columns = map(tuple, source["labels"])
        return cls.of(
            (rows, columns),
            **arrays,
            **plain,
            design=design.hash,
            epsilon=design.epsilon,
        )


_ARRAYS = ("shares", "covariance", "own", "others")
_PLAIN = ("statistic", "freedom", "p_value", "permutations", "respondents", "missing")


def association(
    first: Responses[Any],
    second: Responses[Any],
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    source: chance.Source = chance.SYSTEM,
) -> Association:
    """Estimate the share of each pair of answers to two questions, and test whether they hang together.

    Implements: the mean product of both scores, which inverts both devices at once; the trace of Pillai [Pil55] on the
    scores, against all ways to pair the responses [KHL95].

    Guarantee: if the two questions are independent, the p-value is below any α with probability at most α: exactly
    where it is counted in permutations, closely where it has a closed form. Strings that are not listed, however
    frequent, do not change that.

    Args:
        first: responses to one question, about categories or strings; each row is a respondent.
        second: the same respondents' responses to another, in the same order, drawn with its own design.
        rows: of strings: those of the first question that are told apart.
        columns: of strings: those of the second.
        source: random bytes for the permutations; the operating system's by default.

    Raises:
        InvalidRequest: strings that are not listed, too many of them, or designs that ask for something else.
        Incompatible: other numbers of respondents, other people by an index of pandas, or cohorts that were drawn
            once for both questions.
        NotEstimable: too few responses, or a design that cannot tell answers apart.

    Example:
        >>> import deniable as dn
        >>> smokes = dn.respond_all(dn.warner(epsilon=4), ["yes", "no"] * 500)
        >>> drinks = dn.respond_all(dn.warner(epsilon=4), ["yes", "no"] * 500)
        >>> dn.association(smokes, drinks).p_value < 0.001
        True
    """
    for given in (first, second):
        if not isinstance(given, Responses):
            raise InvalidRequest(
                f"association was given a {type(given).__name__}; expected responses, as respond_all() returns.",
                "A tally does not say who sent what: hand over the responses to both questions.",
            )
    if len(first) != len(second):
        raise Incompatible(
            f"there are {len(first):,} and {len(second):,} rows; expected one of each for every respondent."
        )
    check_same_people(first=first, second=second)
    cells = math.prod(map(_labels_of, (first, second), (rows, columns)))
    if cells > MOST_CELLS:
        raise InvalidRequest(
            f"the table has {cells:,} pairs of answers; expected at most {MOST_CELLS:,}.",
            "List fewer strings: all others count as one answer.",
        )
    there = whole(first) & whole(second)
    one, two = scores(first, there, rows), scores(second, there, columns)
    _check(one, two)
    pair = PairedDesigns(first.design, second.design)
    return Association.of(
        (one.labels, two.labels),
        **_table(one, two),
        **_test(white(one.values), white(two.values), source),
        respondents=int(there.sum()),
        missing=int((~there).sum()),
        design=pair.hash,
        epsilon=pair.epsilon,
    )


def _labels_of(responses: Responses[Any], listed: Sequence[str] | None) -> int:
    strings = listed is None or (
        isinstance(listed, Sequence) and not isinstance(listed, str | bytes)
    )
    require(strings, listed, "what is told apart", "a list of strings")
    return (
        len(getattr(responses.design, "categories", ()))
        if listed is None
        else len(listed) + 1
    )


def _check(one: ScoredRows, two: ScoredRows) -> None:
    """Refuse rows that are too few, or whose devices confuse the same."""
    respondents = len(one.values)
    if respondents < 2:
        raise NotEstimable(
            f"{respondents} respondents answered both questions; expected at least 2."
        )
    cohorts: list[Any] = [
        each.sent.cohorts for each in (one, two) if each.sent is not None
    ]
    if respondents >= _SAME and len(cohorts) == 2 and np.array_equal(*cohorts):
        raise Incompatible(
            "both questions have the same cohorts, which confuse the same strings; expected cohorts of their own.",
            "Let respond_all() draw them for each question.",
        )


def _table(one: ScoredRows, two: ScoredRows) -> dict[str, Any]:
    """Return the share of each pair of answers, the covariance of all, and the mean squares of their scores.

    Why: products of scores have the pair's indicator as their mean. Their covariance is that of the sample; a variance
    counts at least as independent questions would have it, because a pair that few responses tell of varies in a small
    sample less than it should. Strings that are not listed meet listed ones in some cohorts: what one row gains by
    them, the last one loses.
    """
    respondents, shape = len(one.values), (len(one.labels), len(two.labels))
    mean, square = _moments(one.values, two.values)
    found = (square - np.outer(mean, mean)) / (respondents - 1)
    least = np.outer(
        (one.values**2).mean(axis=0), (two.values**2).mean(axis=0)
    ).reshape(-1)
    moments = np.maximum(np.diagonal(square), least)
    np.fill_diagonal(found, (moments - mean**2) / (respondents - 1))
    plain, shares = np.diagonal(found).reshape(shape).copy(), mean.reshape(shape)
    if one.sent is not None:
        found += np.kron(
            _moved(shape[0]), _positive(one.sent.confusion(two.values, shares))
        )
    if two.sent is not None:
        found += np.kron(
            _positive(two.sent.confusion(one.values, shares.T)), _moved(shape[1])
        )
    more = np.diagonal(found).reshape(shape) / np.maximum(plain, 1e-300)
    own, share = np.outer(one.own, two.own), np.clip(shares, 0.0, 1.0)
    others = np.maximum(moments.reshape(shape) - own * share, 0.0) / np.maximum(
        1 - share, 1e-9
    )
    return {
        "shares": shares,
        "covariance": found,
        "own": own * more,
        "others": others * more,
    }


def _moments(one: Matrix, two: Matrix) -> tuple[Vector, Matrix]:
    """Return the means of all products of scores, and of products of those."""
    cells = one.shape[1] * two.shape[1]
    total, square = np.zeros(cells), np.zeros((cells, cells))
    for start in range(0, len(one), _PIECE):
        piece = slice(start, start + _PIECE)
        products = (one[piece, :, None] * two[piece, None, :]).reshape(-1, cells)
        total += products.sum(axis=0)
        square += products.T @ products
    return total / len(one), square / len(one)


def _moved(labels: int) -> Matrix:
    """Return how what is added to listed strings, each alike, moves together: the last one loses it all."""
    moved = np.vstack([np.eye(labels - 1), -np.ones(labels - 1)])
    return moved @ moved.T


def _positive(matrix: Matrix) -> Matrix:
    """Return the nearest covariance: what noise makes negative is 0."""
    sizes, directions = np.linalg.eigh(matrix)
    found: Matrix = (directions * np.maximum(sizes, 0.0)) @ directions.T
    return found


def _test(one: Matrix, two: Matrix, source: chance.Source) -> dict[str, Any]:
    """Test whether two sets of white scores are uncorrelated, against all ways to pair their rows.

    Why: if the questions are independent, so are whole responses with their cohorts, and every pairing was as likely.
    Mean and variance of the statistic over all pairings are known [KHL95]; where the variance is that of normal scores
    a gamma law with these two tells the rest. Otherwise rare bits make its tail longer, and pairings are drawn.
    """
    rows, freedom = len(one), one.shape[1] * two.shape[1]
    statistic = (rows - 1) * float(((one.T @ two) ** 2).sum())
    told = {"statistic": statistic, "freedom": freedom}
    closed = TableSide.of(one).closed(TableSide.of(two), rows, statistic)
    if closed is not None:
        return {**told, "p_value": closed, "permutations": 0}
    draws = np.random.Generator(
        np.random.PCG64(int.from_bytes(source.read(32), "little"))
    )
    paired = (
        float(((one.T @ two[draws.permutation(rows)]) ** 2).sum())
        for _ in range(_PERMUTATIONS)
    )
    as_large = sum((rows - 1) * each >= statistic * (1 - 1e-9) for each in paired)
    return {
        **told,
        "p_value": (1 + as_large) / (1 + _PERMUTATIONS),
        "permutations": _PERMUTATIONS,
    }
