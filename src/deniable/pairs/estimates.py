"""Whether two questions are associated, how much, and the share of each pair of answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from deniable import chance, documents, exact
from deniable.designs import AnyDesign
from deniable.errors import Incompatible, InvalidRequest, NotEstimable, require
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.cross_tables import (
    ModelledCells,
    Table,
    TableAxis,
    TableFacts,
)
from deniable.estimates.independence import ScoredRows, TableSide, white
from deniable.estimates.intervals import wilson
from deniable.estimates.results import Bounds, Caution, Description, IntervalMethod
from deniable.estimates.testing import HypothesisTest
from deniable.files.row_names import check_same_people
from deniable.rendering import formats
from deniable.tallies.responses import Responses
from deniable.types import find_operation

__all__ = ["PairCells", "PairedDesigns", "Table", "association"]

MAX_CELLS = 1_000
"""Pairs of answers in a table: their covariance takes so many numbers squared for each respondent."""

_CHUNK = 1 << 13  # rows whose products are formed at a time, to bound memory
_PERMUTATIONS = 999
_MIN_SAME_COHORTS = (
    50  # from so many rows on, cohorts that agree in all of them are no chance
)


class PairedDesigns(NamedTuple):
    """The two designs of an association: what `Table.from_json` reads it with."""

    first: AnyDesign
    second: AnyDesign

    @property
    def hash(self) -> str:
        """The name of both together."""
        return documents.digest(
            {"first": self.first.hash, "second": self.second.hash}
        )

    @property
    def epsilon(self) -> float:
        """What both responses of one respondent reveal together, rounded up."""
        parities = [design.parity for design in self]  # type: ignore[attr-defined]  # designs for categories and strings have it
        if math.inf in parities:
            return math.inf
        return exact.log_above(math.prod(map(Fraction, parities)))


@dataclass(frozen=True, eq=False)
class PairCells(ModelledCells):
    """The share of each pair of answers to two questions that were asked of the same people.

    Attributes:
        labels: of the answers to each question.
        shares: of each pair.
        covariance: of all shares, row by row.
        own: the mean square of a pair's score, given this pair.
        others: the same, given any other pair.
        statistic: n times the sum of the squared correlations of both questions' scores.
        freedom: what the statistic is on average, if the questions are independent.
        p_value: how often it is as large, or larger, if they are.
        permutations: how many ways to pair the responses the p-value was counted in; 0 for a closed form.
        respondents: how many answered both.
        missing: how many rows lack one of them, or tell but a prefix of a string.
        pair_hash: the hash of both designs.
        epsilon: the most that a respondent has revealed with both responses.
    """

    type: ClassVar = "association"
    states_strength: ClassVar = True

    labels: tuple[tuple[str, ...], tuple[str, ...]]
    shares: Matrix
    covariance: Matrix = field(repr=False)
    own: Matrix = field(repr=False)
    others: Matrix = field(repr=False)
    statistic: float
    freedom: int
    p_value: float
    permutations: int
    respondents: int
    missing: int
    pair_hash: str
    epsilon: float

    @property
    def design_hash(self) -> str:
        return self.pair_hash

    @property
    def axes(self) -> tuple[TableAxis, TableAxis]:
        first, second = self.labels
        return TableAxis("first", first), TableAxis("second", second)

    @property
    def facts(self) -> TableFacts:
        return TableFacts(self.respondents, self.missing)

    def covariance_matrix(self) -> Matrix:
        return self.covariance

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        return {"score": self._score_bounds}

    def _score_bounds(self, level: float) -> Bounds:
        lows, highs = wilson(
            self.shares, self.own, self.others, self.respondents, 1.0, level
        )
        return lows.reshape(-1), highs.reshape(-1)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        n_rare = sum(len(self.rare_labels(axis)) for axis in (0, 1))
        text = f"{n_rare} answers are too rare to differ from 0; Cramér's V counts them together with another."
        return (Caution("faint", text),) if n_rare else ()

    def independence(self, method: str | None) -> HypothesisTest:  # noqa: ARG002 - there is one
        return HypothesisTest(
            "Test of independence",
            "score",
            self.statistic,
            self.freedom,
            self.p_value,
            self.permutations,
        )

    def independence_sentence(self) -> str:
        how = f" ({self.permutations} permutations)" if self.permutations else ""
        return (
            f"Independent questions: p = {formats.p_value(self.p_value)}{how}; the statistic is "
            f"{self.statistic:.1f}, on average {self.freedom}."
        )

    def describe(self) -> Description:
        sizes = " × ".join(str(len(labels)) for labels in self.labels)
        return Description(
            title=f"{sizes} answers to two questions, {self.respondents:,} respondents",
            quantity="share",
            method="inversion",
            respondents=self.respondents,
            epsilon=self.epsilon,
            missing=self.missing,
        )

    def to_source(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return {"labels": list(map(list, self.labels)), **arrays, **numbers}

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: PairedDesigns) -> Self:
        first, second = map(tuple, source["labels"])
        arrays: dict[str, Any] = {
            name: np.array(source[name], np.float64) for name in _ARRAYS
        }
        numbers = {name: source[name] for name in _NUMBERS}
        return cls(
            (first, second),
            **arrays,
            **numbers,
            pair_hash=design.hash,
            epsilon=design.epsilon,
        )


_ARRAYS = ("shares", "covariance", "own", "others")
_NUMBERS = (
    "statistic",
    "freedom",
    "p_value",
    "permutations",
    "respondents",
    "missing",
)


def association(
    first: Responses[Any],
    second: Responses[Any],
    *,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    source: chance.Source = chance.SYSTEM,
) -> Table:
    """Estimate the share of each pair of answers to two questions, and test whether they are associated.

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
    for responses in (first, second):
        if not isinstance(responses, Responses):
            raise InvalidRequest(
                f"association was given a {type(responses).__name__}; expected responses, as respond_all() returns.",
                "A tally does not say who sent what: hand over the responses to both questions.",
            )
    if len(first) != len(second):
        raise Incompatible(
            f"there are {len(first):,} and {len(second):,} rows; expected one of each for every respondent."
        )
    check_same_people(first=first, second=second)
    n_cells = math.prod(map(_n_labels, (first, second), (rows, columns)))
    if n_cells > MAX_CELLS:
        raise InvalidRequest(
            f"the table has {n_cells:,} pairs of answers; expected at most {MAX_CELLS:,}.",
            "List fewer strings: all others count as one answer.",
        )
    present = _is_complete(first) & _is_complete(second)
    down, across = _score(first, present, rows), _score(second, present, columns)
    _check_scores(down, across)
    designs = PairedDesigns(first.design, second.design)
    cells = PairCells(
        (down.labels, across.labels),
        **_joint_shares(down, across),
        **_test_independence(white(down.values), white(across.values), source),
        respondents=int(present.sum()),
        missing=int((~present).sum()),
        pair_hash=designs.hash,
        epsilon=designs.epsilon,
    )
    return Table(cells)


def _is_complete(responses: Responses[Any]) -> NDArray[np.bool_]:
    """Return which rows hold a response about the whole answer."""
    present = np.ones(len(responses), np.bool_)
    if responses.missing is not None:
        present = ~responses.missing
    find_complete = find_operation(responses.design, "complete_rows")
    return present if find_complete is None else present & find_complete(responses)


def _score(
    responses: Responses[Any], rows: NDArray[np.bool_], listed: Sequence[str] | None
) -> ScoredRows:
    score = find_operation(responses.design, "row_scores")
    if score is None:
        raise InvalidRequest(
            f"these are responses to {responses.design!r}; expected a design for categories or for strings."
        )
    scored: ScoredRows = score(responses, rows, listed)
    return scored


def _n_labels(responses: Responses[Any], listed: Sequence[str] | None) -> int:
    is_list = isinstance(listed, Sequence) and not isinstance(listed, str | bytes)
    require(
        listed is None or is_list, listed, "what is told apart", "a list of strings"
    )
    categories = getattr(responses.design, "categories", ())
    return len(categories) if listed is None else len(listed) + 1


def _check_scores(down: ScoredRows, across: ScoredRows) -> None:
    """Refuse rows that are too few, or whose devices confuse the same."""
    n = len(down.values)
    if n < 2:
        raise NotEstimable(
            f"{n} respondents answered both questions; expected at least 2."
        )
    if n < _MIN_SAME_COHORTS or down.bits is None or across.bits is None:
        return
    if np.array_equal(down.bits.cohorts, across.bits.cohorts):
        raise Incompatible(
            "both questions have the same cohorts, which confuse the same strings; expected cohorts of their own.",
            "Let respond_all() draw them for each question.",
        )


def _joint_shares(down: ScoredRows, across: ScoredRows) -> dict[str, Any]:
    """Return the share of each pair of answers, the covariance of all, and the mean squares of their scores.

    Why: products of scores have the pair's indicator as their mean. Their covariance is that of the sample; a variance
    counts at least as independent questions would have it, because a pair that few responses tell of varies in a small
    sample less than it should. Strings that are not listed meet listed ones in some cohorts: what one row gains by
    them, the last one loses.
    """
    n, shape = len(down.values), (len(down.labels), len(across.labels))
    mean, second_moments = _moments(down.values, across.values)
    covariance = (second_moments - np.outer(mean, mean)) / (n - 1)
    squares = [(rows.values**2).mean(axis=0) for rows in (down, across)]
    moments = np.maximum(np.diagonal(second_moments), np.outer(*squares).reshape(-1))
    np.fill_diagonal(covariance, (moments - mean**2) / (n - 1))
    plain, shares = (
        np.diagonal(covariance).reshape(shape).copy(),
        mean.reshape(shape),
    )
    if down.bits is not None:
        confusion = _positive_part(down.bits.confusion(across.values, shares))
        covariance += np.kron(_sum_preserving(shape[0]), confusion)
    if across.bits is not None:
        confusion = _positive_part(across.bits.confusion(down.values, shares.T))
        covariance += np.kron(confusion, _sum_preserving(shape[1]))
    inflation = np.diagonal(covariance).reshape(shape) / np.maximum(plain, 1e-300)
    own, share = np.outer(down.own, across.own), np.clip(shares, 0.0, 1.0)
    excess = np.maximum(moments.reshape(shape) - own * share, 0.0)
    others = excess / np.maximum(1 - share, 1e-9)
    return {
        "shares": shares,
        "covariance": covariance,
        "own": own * inflation,
        "others": others * inflation,
    }


def _moments(down: Matrix, across: Matrix) -> tuple[Vector, Matrix]:
    """Return the means of all products of scores, and of products of those."""
    n_cells = down.shape[1] * across.shape[1]
    total, square = np.zeros(n_cells), np.zeros((n_cells, n_cells))
    for start in range(0, len(down), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        products = (down[chunk, :, None] * across[chunk, None, :]).reshape(
            -1, n_cells
        )
        total += products.sum(axis=0)
        square += products.T @ products
    return total / len(down), square / len(down)


def _sum_preserving(n_labels: int) -> Matrix:
    """Return the covariance of what is added to listed strings, each alike: the last one loses it all."""
    changes = np.vstack([np.eye(n_labels - 1), -np.ones(n_labels - 1)])
    return changes @ changes.T


def _positive_part(matrix: Matrix) -> Matrix:
    """Return the nearest covariance: what noise makes negative is 0."""
    eigenvalues, directions = np.linalg.eigh(matrix)
    return vector((directions * np.maximum(eigenvalues, 0.0)) @ directions.T)


def _test_independence(
    down: Matrix, across: Matrix, source: chance.Source
) -> dict[str, Any]:
    """Test whether two sets of white scores are uncorrelated, against all ways to pair their rows.

    Why: if the questions are independent, so are whole responses with their cohorts, and every pairing was as likely.
    Mean and variance of the statistic over all pairings are known [KHL95]; where the variance is that of normal scores
    a gamma law with these two tells the rest. Otherwise rare bits make its tail longer, and pairings are drawn.
    """
    n = len(down)

    def compute_statistic(paired: Matrix) -> float:
        return (n - 1) * float(((down.T @ paired) ** 2).sum())

    statistic = compute_statistic(across)
    p_value = TableSide.of(down).closed(TableSide.of(across), n, statistic)
    permutations = 0
    if p_value is None:
        permutations = _PERMUTATIONS
        seed = int.from_bytes(source.read(32), "little")
        draws = np.random.Generator(np.random.PCG64(seed))
        as_large = sum(
            compute_statistic(across[draws.permutation(n)]) >= statistic * (1 - 1e-9)
            for _ in range(permutations)
        )
        p_value = (1 + as_large) / (1 + permutations)
    return {
        "statistic": statistic,
        "freedom": down.shape[1] * across.shape[1],
        "p_value": p_value,
        "permutations": permutations,
    }
