"""Step 4: counts of bits → the share of each candidate, which of them are there, and what is left unexplained."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri_exp

from deniable import documents
from deniable.errors import Incompatible, InvalidRequest, NotEstimable, read_names
from deniable.estimates.covariances import Matrix
from deniable.estimates.intervals import Interval, bisect_boundary, bonferroni_level
from deniable.estimates.results import (
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    Row,
    RowType,
    refuse_always,
)
from deniable.estimates.sampling import check_room
from deniable.rendering import formats
from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.design import Bloom, StringDesign
from deniable.types.strings.discovery import frequent_strings
from deniable.types.strings.hashing import seeds_of
from deniable.types.strings.limits import TAKEN
from deniable.types.strings.regression import (
    Chance,
    Fit,
    Floats,
    LeastSquares,
    Numbers,
    OneByOne,
    alike,
    table,
    weigh_cells,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BitTally: TypeAlias = StringTally | NoisyTally

GIVEN_FOUND = "given-found"
"""The interval of a string's share that allows for the selection of the strings found."""

_TINY = float(np.finfo(np.float64).tiny)
_FARTHEST = 1e100  # standard errors; their squares are still finite

__all__ = ["Candidates", "Found", "StringEstimate", "benjamini_hochberg", "estimate"]


@dataclass(frozen=True)
class Found:
    """A string that is there.

    Attributes:
        text: the string.
        share: how many send it, unbiased.
        error: the standard error of the share.
        p_value: how often a string that nobody sends would stand out as much.
        limit: the share below which it would not have been found.
        people: how many respondents the share was estimated from.
    """

    text: str
    share: float
    error: float
    p_value: float
    limit: float
    people: int

    def interval(self, *, level: float = 0.95) -> Interval:
        """Return the interval of the share, given that the string was found."""
        share, error, limit = np.array([[self.share], [self.error], [self.limit]])
        bounds = given_found(
            share, error, limit, self.people, bonferroni_level(1, level)
        )
        return Interval(*(float(bound[0]) for bound in bounds))


def given_found(
    share: Floats, error: Floats, limit: Floats, people: int, level: float
) -> Bounds:
    """Return all shares under which an estimate is not too rare, among surveys in which its string is found.

    Implements: the test of a share θ takes the estimate as normal about θ, with the error that it has if θ is true; its
    lower end asks how often an estimate above the limit is as large [Lee16]. The upper end does not: that only large
    estimates are looked at makes them too large, never too small.

    Why: of strings that nobody has, those are found that stand out by chance, and value ± z·error never holds their 0.

    Args:
        share: the estimates.
        error: their standard errors.
        limit: the share above which each was found; −∞ for a string that was not, and is not selected by its share.
        people: how many respondents there are.
        level: how often each interval covers the share.
    """
    start, tail = np.clip(share, 0.0, 1.0), math.log((1 - level) / 2)
    device = np.maximum(error**2 - start * (1 - start) / people, 0.0)

    def log_tail(distance: Floats, truth: Floats) -> Floats:
        variance = device + np.clip(truth * (1 - truth), 0.0, None) / people
        scaled = distance / np.maximum(np.sqrt(variance), _TINY)
        return np.asarray(log_ndtr(np.maximum(scaled, -_FARTHEST)), np.float64)

    def not_below(truth: Floats) -> NDArray[np.bool_]:
        larger = log_tail(truth - share, truth) - log_tail(truth - limit, truth)
        return np.asarray(larger >= tail, np.bool_)

    def not_above(truth: Floats) -> NDArray[np.bool_]:
        return np.asarray(log_tail(share - truth, truth) >= tail, np.bool_)

    return bisect_boundary(not_below, start, 0.0), bisect_boundary(
        not_above, start, 1.0
    )


@dataclass(frozen=True, slots=True)
class StringRow(Row):
    """A candidate.

    Attributes:
        p_value: how often a string that nobody sends would stand out as much.
        found: whether it stands out.
    """

    COLUMNS: ClassVar[Columns] = (*Row.COLUMNS, ("p_value",))

    p_value: float
    found: bool


@dataclass(frozen=True, eq=False)
class StringEstimate(Result[StringRow]):
    """The share of each candidate, and which of them are there.

    Shares of the strings found are measured together. That of any other candidate is measured beside them, one at a
    time, as if nobody had the others. A summary shows the strings found alone.

    Attributes:
        tally: the counts it was made from.
        candidates: the strings that may be there.
        fdr: the share of false ones among those found that is allowed on average.
        search: the tests of the candidates.
    """

    type: ClassVar = "strings"

    tally: BitTally
    candidates: tuple[str, ...] = field(repr=False)
    fdr: float
    search: Search = field(repr=False)

    @property
    def respondents(self) -> int:
        """How many responses there were."""
        return self.tally.respondents

    @property
    def missing(self) -> int:
        """How many respondents sent nothing."""
        return self.tally.missing

    @property
    def design(self) -> str:
        """The hash of the design; empty for noisy samples, which have none."""
        return "" if self.tally.design is None else self.tally.design.hash

    @property
    def epsilon(self) -> float:
        """The most that a respondent has revealed; infinite where the samples alone do not tell it."""
        return math.inf if self.tally.design is None else self.tally.design.epsilon

    @property
    def tested(self) -> int:
        """How many candidates there were."""
        return len(self.candidates)

    @property
    def p_values(self) -> Floats:
        """Of all candidates, in their order; 1 for those that no cohort tells apart from another candidate."""
        return self.search.p_values

    @property
    def excess(self) -> float:
        """By how much bits vary more than the device explains, which strings that are no candidates do; at least 1."""
        return self._fit.excess

    @cached_property
    def _fit(self) -> Fit:
        """The shares of the strings found, by weighted least squares."""
        chosen = benjamini_hochberg(self.p_values, (1 - TAKEN) * self.fdr)
        return self.search.model.fit(np.flatnonzero(chosen))

    @cached_property
    def _found_covariance(self) -> Matrix:
        """The covariance of the shares of the strings found: of the device, and of who was asked.

        The weights count as if every bit of a string had respondents of its own; but its bits have the same ones.
        """
        fit, tally = self._fit, self.search.tally
        shares = np.clip(fit.shares, 0.0, 1.0)
        # Of more than everybody the variance would be negative.
        shares /= max(1.0, float(shares.sum()))
        people = (np.diag(shares) - np.outer(shares, shares)) / tally.respondents
        return np.asarray(
            fit.covariance * fit.excess + (1 - 1 / tally.bloom.ones) * people
        )

    @cached_property
    def _others(self) -> OneByOne:
        return OneByOne(self.search.model, self._fit)

    def _join(self, found: Floats, others: Floats) -> Floats:
        """Return the values of the strings found and of all others, in the order of the candidates."""
        joined = np.empty(self.tested)
        joined[self._fit.numbers], joined[self._others.numbers] = found, others
        return joined

    @cached_property
    def shares(self) -> Floats:
        """The share of each candidate, in their order."""
        return self._join(self._fit.shares, self._others.shares)

    @cached_property
    def errors(self) -> Floats:
        """The standard error of each share, in their order."""
        variances = np.diagonal(self._found_covariance), self._others.variances
        return np.sqrt(self._join(*variances))

    @cached_property
    def _limits(self) -> Floats:
        """The share above which each string was found; −∞ of those that were not."""
        numbers, fit = self._fit.numbers, self._fit
        level = (1 - TAKEN) * self.fdr * max(numbers.size, 1) / self.tested
        p_values = np.maximum(self.p_values[numbers], _TINY)
        spare = np.maximum(
            ndtri_exp(math.log(level)) - ndtri_exp(np.log(p_values)), 0
        )
        errors = np.sqrt(np.diagonal(self._found_covariance))
        limits = np.full(self.tested, -np.inf)
        limits[numbers] = fit.shares - spare * errors
        return limits

    @cached_property
    def found(self) -> tuple[Found, ...]:
        """The strings that are there, the most frequent first."""
        errors = np.sqrt(np.diagonal(self._found_covariance))
        strings = [
            Found(
                self.candidates[number],
                float(share),
                float(error),
                float(self.p_values[number]),
                float(self._limits[number]),
                self.search.tally.respondents,
            )
            for number, share, error in zip(
                self._fit.numbers, self._fit.shares, errors, strict=True
            )
        ]
        return tuple(sorted(strings, key=lambda string: -string.share))

    @cached_property
    def _luck(self) -> tuple[float, float]:
        return self.search.luck(self._fit.numbers.size, (1 - TAKEN) * self.fdr)

    @property
    def unexplained(self) -> float:
        """The share of respondents whose string is none of those found.

        That rare ones are found by luck, and have then too large shares, is taken into account.
        """
        return 1 - float(self._fit.shares.sum()) + self._luck[0]

    @property
    def unexplained_error(self) -> float:
        """The standard error of the unexplained share."""
        variance = max(float(self._found_covariance.sum()), 0.0)
        return math.hypot(math.sqrt(variance), self._luck[1])

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.candidates, self.shares.tolist(), strict=True))

    @property
    def bse(self) -> dict[str, float]:
        return dict(zip(self.candidates, self.errors.tolist(), strict=True))

    def cov_params(self) -> Matrix:
        """Return the covariance matrix of the shares of all candidates.

        Raises:
            InvalidRequest: more candidates than a matrix holds.
        """
        size = self.tested
        check_room(
            size, size, "candidates", "List fewer strings, such as those found."
        )
        covariance = np.zeros((size, size))
        numbers, others = self._fit.numbers, self._others
        covariance[np.ix_(numbers, numbers)] = self._found_covariance
        covariance[np.ix_(others.numbers, others.numbers)] = others.covariance()
        return covariance

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        return {GIVEN_FOUND: self._given_found, **super()._interval_methods()}

    def _check_always(self) -> None:
        raise refuse_always("strings that are found anew at every look")

    def _given_found(self, level: float) -> Bounds:
        people = self.search.tally.respondents
        return given_found(self.shares, self.errors, self._limits, people, level)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        if self.found:
            return ()
        text = (
            f"none of {self.tested:,} candidates stands out: too few "
            "responses, or none of them is there."
        )
        return (Caution("nothing-found", text),)

    @property
    def _row_type(self) -> RowType:
        return StringRow

    def _row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:  # noqa: ARG002 - the same for all
        found = np.isfinite(self._limits).tolist()
        return {"p_value": self.p_values.tolist(), "found": found}

    def _shown_rows(self) -> Sequence[int]:
        numbers = self._fit.numbers
        order: list[int] = numbers[
            np.argsort(-self._fit.shares, kind="stable")
        ].tolist()
        return order

    def _describe(self, request: IntervalRequest) -> Description:  # noqa: ARG002 - the same for all
        return Description(
            title=f"{len(self.found):,} of {self.tested:,} strings found, {self.respondents:,} respondents",
            quantity="share",
            method="regression",
            respondents=self.respondents,
            epsilon=self.epsilon,
            missing=self.missing,
            notes=(
                f"Unexplained: {self.unexplained:.4f} ± {self.unexplained_error:.4f} of the respondents.",
                f"On average at most {formats.percent(self.fdr, 6)} of the strings found are not there.",
            ),
        )

    @property
    def _design_hash(self) -> str:
        return self.design

    def _source(self) -> dict[str, Any]:
        return {
            "tally": self.tally.to_body(),
            "candidates": list(self.candidates),
            "fdr": self.fdr,
        }

    @classmethod
    def _remade(
        cls, source: Mapping[str, Any], design: StringDesign | None
    ) -> StringEstimate:
        body = documents.field(source, "tally", dict)
        tally = (
            NoisyTally.from_body(body)
            if design is None
            else StringTally.from_body(body, design)
        )
        return estimate(
            tally,
            documents.field(source, "candidates", list),
            fdr=documents.field(source, "fdr", float),
        )


class Candidates:
    """Strings that may be there, hashed once for all tallies with the same filter.

    Args:
        bloom: how strings become bits.
        texts: the strings, all different.

    Raises:
        InvalidRequest: none, one twice, or text in place of a list.
    """

    def __init__(self, bloom: Bloom, texts: Sequence[str]) -> None:
        self.bloom = bloom
        self.texts = read_names(texts, "candidates")
        self._seeds = seeds_of(self.texts)
        if not self.texts or np.unique(self._seeds).size < len(self.texts):
            raise InvalidRequest(
                "there are no candidates, or one stands twice; expected different strings."
            )
        self._all: csr_matrix | None = None

    def rows(self, used: NDArray[np.bool_]) -> csr_matrix:
        """Return the cells that each candidate sets, of the cohorts in use."""
        if not used.all():
            return table(self.bloom, self._seeds, used)
        if self._all is None:
            self._all = table(self.bloom, self._seeds, used)
        return self._all


def estimate(
    tally: BitTally,
    candidates: Sequence[str] | Candidates | None = None,
    *,
    fdr: float = 0.05,
) -> StringEstimate:
    """Estimate how often each of many candidate strings is there, and find which of them are.

    Implements: [EPK14] with candidates. Each is tested against a string that nobody has, whose places are drawn at
    random in each cohort; false discoveries are controlled after [BH95], and weighted least squares measures.

    Guarantee: on average at most `fdr` of those found are not there, whatever strings are no candidates.

    Why candidates may be discovered with `Prefixes`: they come from other respondents, who told prefixes, so that
    whoever tests them has not seen them before, and false discoveries are counted as for a list. What the prefixes kept
    too much costs respondents and no errors.

    Args:
        tally: counts of bits, from responses of one stage or from noisy samples.
        candidates: strings that may be there; all others go into the unexplained share. Several tallies with one
            filter are faster with `Candidates`. With `Prefixes` they are discovered, if they are not given.
        fdr: the share of false ones among those found that is allowed on average.

    Raises:
        InvalidRequest: no candidates, one twice, or an fdr outside (0, 1).
        Incompatible: candidates for another filter.
        NotEstimable: no responses, or none at a level of `Prefixes`.

    Example:
        >>> from deniable.types.strings.design import Bloom
        >>> from deniable.types.strings.design import string_design
        >>> empty = StringTally.empty(string_design(Bloom(16), epsilon=2))
        >>> estimate(empty, ["a"])
        Traceback (most recent call last):
            ...
        deniable.errors.NotEstimable: there are no responses; expected some.
    """
    levels = tally.bloom.levels
    if levels > 1:
        if isinstance(candidates, Candidates):
            raise InvalidRequest(
                "the candidates are hashed for all cohorts; expected a list of strings, or nothing."
            )
        for level in range(0 if candidates is None else levels - 1, levels):
            if not tally.at_level(level).respondents:
                raise NotEstimable(
                    f"nobody was asked at level {level}; expected responses at all {levels}."
                )
        texts = frequent_strings(tally) if candidates is None else candidates
        return replace(
            estimate(tally.at_level(levels - 1), texts, fdr=fdr), tally=tally
        )
    if candidates is None:
        raise InvalidRequest(
            "nobody has listed the strings; expected candidates that may be among them.",
            "For example dn.estimate(tally, candidates=names); or ask with dn.Prefixes, which discovers them.",
        )
    known = (
        candidates
        if isinstance(candidates, Candidates)
        else Candidates(tally.bloom, candidates)
    )
    if known.bloom != tally.bloom:
        raise Incompatible(
            "the candidates were hashed for another filter; expected that of the tally."
        )
    if not 0 < fdr < 1:
        raise InvalidRequest(
            f"the rate of false discoveries is {fdr}; expected a number between 0 and 1."
        )
    if not tally.respondents:
        raise NotEstimable("there are no responses; expected some.")
    return StringEstimate(tally, known.texts, fdr, _search(tally, known, fdr))


def benjamini_hochberg(p_values: Floats, fdr: float) -> NDArray[np.bool_]:
    """Return which hypotheses to reject so that on average at most this share of the rejections is false.

    Implements: [BH95].

    Example:
        >>> benjamini_hochberg(np.array([0.001, 0.02, 0.9, 0.04]), 0.05).tolist()
        [True, True, False, False]
    """
    order = np.argsort(p_values, kind="stable")
    passed = np.flatnonzero(
        p_values[order] <= fdr * np.arange(1, p_values.size + 1) / p_values.size
    )
    rejected = np.zeros(p_values.size, bool)
    if passed.size:
        rejected[order[: passed[-1] + 1]] = True
    return rejected


@dataclass(frozen=True)
class Search:
    """The p-values of all rounds, and what the last round looked like.

    Attributes:
        tally: the counts of the respondents who were asked for whole strings.
        p_values: of all candidates.
        model: the cells and how much each counts.
        left: what those taken out leave in each cell, weighted, [cohort, place].
        chance: by how much a string that nobody has stands out in it.
        totals: by how much the candidates do that were tested last.
    """

    tally: BitTally
    p_values: Floats
    model: LeastSquares
    left: Floats
    chance: Chance
    totals: Floats

    def luck(self, found: int, fdr: float) -> tuple[float, float]:
        """Return by how much the shares of those found are too large in sum, as they were found by them; and its error.

        Implements: for normal x, E[(x − θ)·1(x > limit)] = σ²·(density of x at the limit) [Ste81]: as many strings as
        are near the limit count, wherever θ is. Those that nobody has count as chance says, and not all alike: whether
        one of them is among those found is not known.
        """
        chance, tested, bloom = self.chance, self.totals.size, self.tally.bloom
        level = fdr * found / self.p_values.size
        if not level or not tested:
            return 0.0, 0.0
        grid = np.linspace(0.0, chance.reach(level * 1e-4), 2000) / chance.deviation
        # How many of all tested stand out by so much, if nobody has any.
        absent = tested * chance.above(grid * chance.deviation)
        first = int(np.argmax(absent <= tested * level))
        limit, false = grid[first], absent[first]
        near = int((np.abs(self.totals / chance.deviation - limit) < 0.5).sum())
        by_chance = np.subtract(*np.interp([limit - 0.5, limit + 0.5], grid, absent))
        filled = bloom.ones / bloom.bits
        together = filled * float((chance.pulls * self.left).sum())
        information = filled * (1 - filled) * float(self.model.weights.sum())
        # What a standard deviation of the pull is worth as a share.
        share = together / chance.deviation / information
        lucky = (
            limit * false
            + float(np.trapezoid(absent[first:], grid[first:]))
            + max(0.0, near - float(by_chance))
        )
        return share * lucky, share * math.sqrt(limit**2 * false + near)


def _search(tally: BitTally, candidates: Candidates, fdr: float) -> Search:
    """Take out strings that are surely there, round after round, until no further one stands out.

    Why: what they hold of the cells no longer hides the others. They come out so strictly that a string that nobody has
    is among them with a chance of at most 1 − `SHARE_OF_TESTS` of the rate allowed. If none is, no round depends on the
    places of such strings, and their p-values are even and independent.
    """
    bloom, used = tally.bloom, tally.sizes > 0
    people = np.repeat(tally.sizes[used].astype(np.float64), bloom.bits)
    cells = tally.true_shares().reshape(-1)
    rows = candidates.rows(used)
    model, variance = weigh_cells(rows, cells, people, tally.bit_variance)
    p_values = np.ones(len(candidates.texts))
    tested = ~alike(model.rows)  # whose share it is, nobody can say of the others
    taken: Numbers = np.empty(0, np.intp)
    max_taken = max(1, min(model.cells.size // 2, _MAX_TAKEN))
    for number in range(1, _ROUNDS + 1):
        strict = TAKEN * fdr / (number * (number + 1) * p_values.size)
        model = model.weighted(variance(model.fitted(model.fit(taken))))
        residual = model.residual(model.fit(taken))
        chance = _cap(model, residual, bloom, strict)
        totals = np.asarray(model.rows @ chance.pulls.reshape(-1), np.float64)[
            tested
        ]
        p_values[tested] = chance.above(totals)
        fresh = np.flatnonzero(tested & (p_values <= strict))
        if (
            not fresh.size
            or taken.size + fresh.size > max_taken
            or number == _ROUNDS
        ):
            break
        taken = np.concatenate([taken, fresh])
        tested[fresh] = False
    left = (model.weights * residual).reshape(-1, bloom.bits)
    return Search(tally, p_values, model, left, chance, totals)


def _cap(
    model: LeastSquares, residual: Floats, bloom: Bloom, strict: float
) -> Chance:
    """Return what each cell adds to a candidate's pull, where what stands out beyond a cap is cut off.

    Why: a string that is there shows in all cohorts; one that nobody listed shows at a candidate's places in a few. The
    cap is the one that finds the rarest strings, and it depends on the cells alone.
    """
    scale = np.sqrt(model.weights)
    standing = scale * residual

    def rarest_found(cap: float) -> tuple[float, Chance]:
        cut = np.minimum(standing, cap)
        chance = Chance((scale * cut).reshape(-1, bloom.bits), bloom.hashes)
        needed = chance.reach(strict)

        def lacking(share: float) -> float:
            gained = float(scale @ (np.minimum(standing + share * scale, cap) - cut))
            return needed - bloom.ones / bloom.bits * gained

        if lacking(1.0) >= 0:
            return math.inf, chance
        return float(brentq(lacking, 0.0, 1.0, xtol=1e-6)), chance

    return min(map(rarest_found, _CAPS), key=lambda found: found[0])[1]


_ROUNDS = 40  # in which strings are taken out, before the search is given up
_MAX_TAKEN = 4000
_CAPS = (math.inf, 2.0, 3.0, 5.0, 9.0)  # in standard errors of a cell
