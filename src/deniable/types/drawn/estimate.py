"""Step 4: counts → the shares of every attribute, with what they have to do with each other."""

from __future__ import annotations

import json
import math
import warnings as python_warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from deniable import documents
from deniable.channel.product import mixed_radix_digits
from deniable.designs import Design
from deniable.errors import (
    ImplausibleResponses,
    InvalidRequest,
    NotEstimable,
    quoted,
)
from deniable.estimates.covariances import Covariance, Full, Matrix, Vector, vector
from deniable.estimates.cross_tables import (
    Margin,
    ModelledCells,
    Table,
    TableAxis,
    TableFacts,
)
from deniable.estimates.diagnostics import IMPLAUSIBLE
from deniable.estimates.intervals import bonferroni_level
from deniable.estimates.inverses import left_inverse
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalRequest,
    Result,
    join_bounds,
    told_method,
)
from deniable.estimates.sampling import (
    Asked,
    SampledEstimate,
    Sampling,
    columns,
    estimate_values,
    row_values,
)
from deniable.estimates.shares import (
    Estimate,
    ShareRow,
    sampled_fraction,
)
from deniable.estimates.shares import fitted as fitted_shares
from deniable.rendering import formats
from deniable.tallies.reading import packed_rows
from deniable.tallies.responses import Responses
from deniable.types.drawn.count import DrawnTally
from deniable.types.drawn.count import tally as count_responses
from deniable.types.drawn.design import NAMED, DrawnDesign, Hand

__all__ = ["DrawnEstimate", "estimate", "estimate_sampled", "fitted"]


@dataclass(frozen=True, eq=False)
class DrawnEstimate(Result[ShareRow]):
    """The shares of every attribute, each from those who were asked about it.

    Numbers are called "attribute: category". Given how many were asked about each, estimates of attributes that are
    never drawn together are independent; others move together as far as they come from the same people.

    Attributes:
        tally: the counts it was made from.
        method: "inversion" or "likelihood".
        parts: the estimate of each attribute, with all its intervals.
        population: how many people there are, if they are not a sample of very many.
    """

    type: ClassVar = "drawn-items"

    tally: DrawnTally
    method: str
    parts: Mapping[str, Estimate] = field(repr=False)
    population: int | None = None

    @property
    def design(self) -> DrawnDesign:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def respondents(self) -> int:
        """How many responses were counted, to all attributes."""
        return self.tally.respondents

    @property
    def params(self) -> dict[str, float]:
        return {
            f"{attribute}{NAMED}{category}": share
            for attribute, estimate in self.parts.items()
            for category, share in estimate.params.items()
        }

    @property
    def bse(self) -> dict[str, float]:
        errors = [estimate.errors for estimate in self.parts.values()]
        return dict(zip(self.params, np.concatenate(errors).tolist(), strict=True))

    @property
    def df(self) -> float:
        return min(estimate.df for estimate in self.parts.values())

    def cov_params(self) -> Matrix:
        """Return the covariance matrix of all shares: a block for each attribute, and between them what is shared.

        Why: what a response adds to the estimate of an attribute is right on average for every answer, and the devices
        of two attributes draw independently. So of n₁ and n₂ people, of whom n₁₂ are the same, the estimates have the
        covariance n₁₂ / (n₁ n₂) · (π₁₂ − π₁ π₂′), that of the two answers; 0 where nobody is asked both. Of a
        population of N people 1/N is taken off that fraction, and N/(N − 1) times as much is left; where nobody is
        asked both that is not known, and 0 stands for it.
        """
        return self._join_blocks(
            [estimate.cov_params() for estimate in self.parts.values()]
        )

    def _contrast_covariance(self) -> Covariance:
        """Return the same if the nearest shares in the simplex were true."""
        blocks = [
            estimate.basis.possible().matrix() for estimate in self.parts.values()
        ]
        return Full(self._join_blocks(blocks))

    def _join_blocks(self, blocks: Sequence[Matrix]) -> Matrix:
        matrix = vector(block_diag(*blocks))
        if self.design.each == 1:
            return matrix
        for first, second in combinations(self.parts, 2):
            rows, columns = self._spans[first], self._spans[second]
            between = self._between(first, second)
            matrix[rows, columns], matrix[columns, rows] = between, between.T
        return matrix

    def _requested_bounds(self, request: IntervalRequest) -> Bounds:
        """Return the intervals of all parts, by any method of `Estimate.conf_int`."""
        return join_bounds(self.parts.values(), request)

    def _bounds(self, method: str | None, level: float) -> Bounds:
        return self._requested_bounds(IntervalRequest(level, method))

    @property
    def _independent_parts(self) -> Collection[Result[Any]]:
        return self.parts.values()

    def cross_table(self, rows: str, columns: str) -> Table:
        """Return two attributes against each other, from those who were asked about both, brought to the totals that
        everybody who was asked about one of them gives.

        Raises:
            InvalidRequest: nobody is asked about two; or an attribute that the design does not have.
            NotEstimable: too few people were.
        """
        return Table(calibrate(self, rows, columns))

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return tuple(
            Caution(doubt.code, f"{name}{NAMED}{doubt.text}")
            for name, part in self.parts.items()
            for doubt in part.warnings
        )

    _row_type = ShareRow

    def _row_columns(
        self, request: IntervalRequest
    ) -> Mapping[str, Sequence[float]]:
        """Return what a direct question would have had, for as many as were asked."""
        part_request = self._part_request(request)
        parts = [part._row_columns(part_request) for part in self.parts.values()]
        return {
            name: list(chain(*(columns[name] for columns in parts)))
            for name in parts[0]
        }

    def _part_request(self, request: IntervalRequest) -> IntervalRequest:
        """Return which intervals each part shows; simultaneous ones are adjusted for the number of parts."""
        n_parts = len(self.parts) if request.simultaneous else 1
        return request._replace(level=bonferroni_level(n_parts, request.level))

    def _describe(self, request: IntervalRequest) -> Description:
        design = self.design
        asked = ", ".join(
            f"{part.respondents:,} about {name!r}"
            for name, part in self.parts.items()
        )
        notes = [f"Asked were {asked}; {design.each} drawn for each respondent."]
        if design.each == 1:
            notes.append(
                "Nobody was asked about two, so that nothing is known about how they hang together."
            )
        if self.population is not None:
            notes.append(
                f"The respondents are {self.respondents:,} of {self.population:,} people."
            )
        if request.simultaneous:
            notes.append("The intervals hold all together with this level.")
        return Description(
            title=f"{len(self.parts)} items, {design.each} drawn for each, ε = "
            f"{formats.epsilon(design.epsilon)}, {self.respondents:,} respondents, by {told_method(self.method)}",
            quantity="share",
            method=self.method,
            respondents=self.respondents,
            epsilon=design.epsilon,
            missing=self.tally.missing,
            notes=tuple(notes),
        )

    @property
    def _default_interval(self) -> str:
        return ", ".join(
            dict.fromkeys(
                estimate.default_interval for estimate in self.parts.values()
            )
        )

    @cached_property
    def _spans(self) -> dict[str, slice]:
        ends = np.cumsum(
            [0, *(len(estimate.value) for estimate in self.parts.values())]
        )
        spans = map(slice, ends[:-1].tolist(), ends[1:].tolist())
        return dict(zip(self.parts, spans, strict=True))

    def _between(self, one: str, two: str) -> Matrix:
        """Return the covariance between the shares of two attributes."""
        first, second, joint_tally = (
            self.parts[one],
            self.parts[two],
            self.tally.of(one, two),
        )
        n = joint_tally.respondents
        if n < 2:  # so few cannot say; what they share is next to nothing
            return np.zeros((len(first.value), len(second.value)))
        joint = fitted_shares(joint_tally).value.reshape(
            len(first.value), len(second.value)
        )
        down, across = (
            np.outer(joint.sum(axis=1), second.value),
            np.outer(first.value, joint.sum(axis=0)),
        )
        answers = joint - down - across + np.outer(first.value, second.value)
        sizes = first.respondents * second.respondents
        people = n / math.sqrt(
            sizes * (first.respondents - 1) * (second.respondents - 1)
        )
        if self.population is not None:
            people *= 1 - sizes / (n * self.population)
        return np.asarray(answers * people, np.float64)

    def _variance(self, combination: Vector) -> float:
        """Return the variance of a weighted sum, never a negative one.

        Why: what a population of N takes off a variance is that of the sum among all people, over N. Where nobody is
        asked about two attributes it is not known, and nothing is taken off.
        """
        moved = {
            name: combination[span]
            for name, span in self._spans.items()
            if combination[span].any()
        }
        parts = self.parts
        if self.population is not None and self.design.each == 1 and len(moved) > 1:
            parts = _parts(self.tally, self.method, None)
        own = sum(
            parts[name].basis.variance(weights) for name, weights in moved.items()
        )
        if self.design.each == 1:
            return float(own)
        blocks = self.cov_params()
        for span in self._spans.values():
            blocks[span, span] = 0.0
        return max(float(own + combination @ blocks @ combination), 0.0)

    @property
    def _design_hash(self) -> str:
        return self.design.hash

    def _source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "method": self.method,
            "population": self.population,
        }

    @classmethod
    def _remade(
        cls, source: Mapping[str, Any], design: DrawnDesign
    ) -> DrawnEstimate:
        counted = DrawnTally.from_json(
            json.dumps(documents.field(source, "tally", dict)), design
        )
        return fitted(
            counted, documents.field(source, "method", str), source.get("population")
        )


@dataclass(frozen=True, eq=False)
class DrawnCells(ModelledCells):
    """The joint shares of two attributes, with the totals of `DrawnEstimate`.

    Attributes:
        drawn: the estimate that the totals are from.
        rows: the attribute that goes down.
        columns: the attribute that goes across.
        shares: of each row and column.
        covariance: of all cells, row by row.
    """

    type: ClassVar = "drawn-table"

    drawn: DrawnEstimate = field(repr=False)
    rows: str
    columns: str
    shares: Matrix = field(repr=False)
    covariance: Matrix = field(repr=False)

    @property
    def names(self) -> Sequence[str]:
        return self.drawn.design.part(self.rows, self.columns).categories

    @property
    def axes(self) -> tuple[TableAxis, TableAxis]:
        down, across = (
            TableAxis(name, tuple(self.drawn.parts[name].design.categories))
            for name in (self.rows, self.columns)
        )
        return down, across

    def margin(self, axis: int) -> Margin:
        alone = self.drawn.parts[(self.rows, self.columns)[axis]]
        return Margin(alone.value, alone.errors)

    @property
    def facts(self) -> TableFacts:
        return TableFacts(self.drawn.respondents, self.drawn.tally.missing)

    def covariance_matrix(self) -> Matrix:
        return self.covariance

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.drawn.warnings

    def describe(self) -> Description:
        n_both = self.drawn.tally.of(self.rows, self.columns).respondents
        return Description(
            title=f"{self.rows} by {self.columns}, {self.drawn.respondents:,} respondents, by "
            f"{told_method(self.drawn.method)}",
            quantity="share",
            method=self.drawn.method,
            respondents=self.drawn.respondents,
            epsilon=self.drawn.design.epsilon,
            missing=self.drawn.tally.missing,
            notes=(
                f"Asked about both were {n_both:,}; totals are from all who were asked about one.",
            ),
        )

    @property
    def design_hash(self) -> str:
        return self.drawn._design_hash

    def to_source(self) -> dict[str, Any]:
        return {**self.drawn._source(), "rows": self.rows, "columns": self.columns}

    @classmethod
    def from_source(
        cls, source: Mapping[str, Any], design: DrawnDesign
    ) -> DrawnCells:
        drawn = DrawnEstimate._remade(source, design)
        names = [documents.field(source, name, str) for name in ("rows", "columns")]
        return calibrate(drawn, *names)


def calibrate(drawn: DrawnEstimate, rows: str, columns: str) -> DrawnCells:
    """Return the joint shares of two attributes whose totals are those of each alone.

    Implements: J − K·(M·J − m), with J the joint shares from those who were asked about both, M the sums of rows and of
    columns, m the shares of each attribute, and K = V M′ (M V M′)⁺, V the covariance of J at even shares. So M gives m,
    and of all tables that do this one is nearest to J in terms of V. K does not look at the responses: with "inversion"
    it is unbiased. Of n₁₂ people asked about both and n₁ about the first, J counts in m by n₁₂/n₁, and the rest comes
    from other people; the covariance is that of these independent parts.
    """
    joint_tally = drawn.tally.of(rows, columns)
    down, across = drawn.parts[rows], drawn.parts[columns]
    joint = fitted_shares(joint_tally, method=drawn.method)
    n = joint_tally.respondents
    sums = _sums(len(down.value), len(across.value))
    pull = _pull(joint_tally.design, sums)
    totals = np.concatenate([down.value, across.value])
    value = joint.value - pull @ (sums @ joint.value - totals)
    alone = [
        len(down.value) * [1 - n / down.respondents],
        len(across.value) * [1 - n / across.respondents],
    ]
    retained = np.eye(len(value)) - (pull * np.concatenate(alone)) @ sums
    unbiased = fitted_shares(joint_tally)
    cells = retained @ unbiased.cov_params() @ retained.T
    for span, name in zip(
        (slice(0, len(down.value)), slice(len(down.value), None)),
        (rows, columns),
        strict=True,
    ):
        one = fitted_shares(drawn.tally.of(name))
        cells = cells + pull[:, span] @ one.cov_params() @ pull[:, span].T * (
            1 - n / one.respondents
        )
    if drawn.population is not None:
        joined = unbiased.value
        among = np.diag(joined) - np.outer(joined, joined) + unbiased.cov_params()
        cells = cells - among / (drawn.population - 1)
    shares = value.reshape(len(down.value), len(across.value))
    return DrawnCells(drawn, rows, columns, shares, cells)


def _sums(down: int, across: int) -> Matrix:
    """Return the matrix that sums the cells of each row, then those of each column."""
    return np.vstack(
        [
            np.kron(np.eye(down), np.ones(across)),
            np.kron(np.ones(down), np.eye(across)),
        ]
    )


def _pull(both: Design, sums: Matrix) -> Matrix:
    """Return by how much each cell follows each total."""
    linear, even = (
        left_inverse(both.channel),
        np.full(sums.shape[1], 1 / sums.shape[1]),
    )
    spread = linear.covariance(linear.expected(even), even, 1.0, 1.0).matrix()
    return np.asarray(
        spread
        @ sums.T
        @ np.linalg.pinv(sums @ spread @ sums.T, rcond=1e-9, hermitian=True)
    )


def estimate(
    tally: DrawnTally, *, method: str = "inversion", population: int | None = None
) -> DrawnEstimate:
    """Estimate the shares of every attribute, each from those who were asked about it.

    Args:
        tally: the counts.
        method: "inversion" for the linear unbiased estimate, "likelihood" for the most likely shares in the simplex.
        population: how many people there are altogether, those who did not respond too; nothing for very many.

    Raises:
        NotEstimable: fewer than two people were asked about some attribute.
        InvalidRequest: a method that does not exist, or a population smaller than the respondents.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.types.drawn.design import drawn_items
        >>> asked = drawn_items({"smokes": warner(p="3/4"), "drinks": warner(p="3/4")})
        >>> found = estimate(DrawnTally(asked, [60, 40, 50, 50]))
        >>> round(found.params["smokes: yes"], 3), round(found.contrast({"smokes: yes": 1, "drinks: yes": -1}).value, 3)
        (0.3, -0.2)
    """
    made = fitted(tally, method, population)
    for doubt in chain.from_iterable(part.warnings for part in made.parts.values()):
        if doubt.code == IMPLAUSIBLE:
            python_warnings.warn(doubt.text, ImplausibleResponses, stacklevel=2)
    return made


def estimate_sampled(
    responses: Responses[DrawnDesign],
    sampling: Sampling,
    *,
    domain: object = None,
    by: object = None,
    denominator: object = None,
) -> SampledEstimate:
    """Estimate the shares of every attribute among the people that a sample stands for.

    Implements: a block of values for each attribute, of those who were asked about it. Attributes that were asked of
    the same people, or of people in the same clusters, covary as these do. Who is asked about an attribute is random
    besides the device: with a share p of them both add p·V̂ + (1 − p)·(r − R·x)(r − R·x)′ for each who was, V̂ the
    device's.

    Args:
        responses: what was sent, a row for each person of the sample.
        sampling: how these people were drawn.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.
        denominator: a number for each row: what is told is the ratio of both totals.

    Raises:
        NotEstimable: a stratum with one cluster, or fewer than two people who were asked about some attribute.
        InvalidRequest: columns that do not fit.
    """
    design = responses.design
    absent = (
        np.zeros(len(responses), np.bool_)
        if responses.missing is None
        else responses.missing
    )
    distinct, places = np.unique(responses.columns["response"], return_inverse=True)
    hands = [design.hand_of(number) for number in distinct.tolist()]
    digits = _answered_attributes(hands, distinct)
    blocks = []
    for attribute, part in design.factors:
        asked = np.array([attribute in each for each in digits], np.bool_)
        rows = packed_rows(part, [each.get(attribute, 0) for each in digits])
        sent = Responses(part, {"response": rows[places]}, absent | ~asked[places])
        values = row_values(sent)
        names = tuple(f"{attribute}{NAMED}{name}" for name in values.names)
        blocks.append(
            replace(values, names=names, asked=design.each / len(design.factors))
        )

    def count(part: columns.Mask, population: int | None) -> DrawnEstimate:
        return fitted(
            count_responses(design, responses[part]), "inversion", population
        )

    asked_with = Asked(design, f"{design!r}", design.epsilon)
    return estimate_values(
        blocks,
        sampling,
        asked_with,
        domain=domain,
        by=by,
        denominator=denominator,
        count=count,
    )


def _answered_attributes(
    hands: list[Hand], distinct: NDArray[Any]
) -> list[dict[str, int]]:
    """Return the response to each attribute that was asked, for each different response."""
    return [
        dict(
            zip(
                hand.attributes,
                mixed_radix_digits(number - hand.start, hand.sizes),
                strict=True,
            )
        )
        for hand, number in zip(hands, distinct.tolist(), strict=True)
    ]


def fitted(
    tally: DrawnTally, method: str = "inversion", population: int | None = None
) -> DrawnEstimate:
    """Return the shares of every attribute; doubts about the responses are among their warnings alone."""
    if method not in ("inversion", "likelihood"):
        raise InvalidRequest(
            f"the method is {quoted(method)}; expected inversion or likelihood."
        )
    for attribute in tally.design.attributes:
        asked = tally.of(attribute).respondents
        if asked < 2:
            raise NotEstimable(
                f"{asked} people were asked about {attribute!r}; expected at least 2, to say how sure an estimate is.",
                "Estimate those that more were asked about: estimate(tally.of('…')).",
            )
    # refuses a population smaller than all who responded
    sampled_fraction(tally.respondents, population)
    return DrawnEstimate(
        tally, method, _parts(tally, method, population), population
    )


def _parts(
    tally: DrawnTally, method: str, population: int | None
) -> dict[str, Estimate]:
    """Return the estimate of each attribute: those who drew it are a random part of the population."""
    return {
        name: fitted_shares(tally.of(name), method=method, population=population)
        for name in tally.design.attributes
    }
