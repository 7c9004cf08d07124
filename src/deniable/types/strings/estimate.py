"""Step 4: counts of bits → which strings are there, how often, what is left unexplained, and how rare one may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri_exp

from deniable import documents
from deniable.errors import Incompatible, InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix
from deniable.estimates.intervals import Interval, halved, one_of
from deniable.estimates.results import Caution, Columns, Result, Row, Summary, around
from deniable.rendering import formats
from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.design import Bloom, Prefixes, StringDesign
from deniable.types.strings.hashing import seeds_of
from deniable.types.strings.regression import (
    Chance,
    Fit,
    Floats,
    LeastSquares,
    Numbers,
    alike,
    table,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

GIVEN_FOUND = "given-found"
"""The interval of a string's share that knows that the string was looked at because it was found."""

_TINY = float(np.finfo(np.float64).tiny)
_FARTHEST = 1e100  # standard errors; their squares are still finite

__all__ = [
    "Candidates",
    "Found",
    "StringEstimate",
    "benjamini_hochberg",
    "estimate",
    "share_error",
    "string_detection_limit",
]


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
        return given_found([self], one_of(1, level))[0]


def given_found(found: Sequence[Found], confidence: float) -> list[Interval]:
    """Return all shares under which what was found is not too rare, among surveys in which the string is found.

    Implements: the test of a share θ takes the estimate as normal about θ, with the error that it has if θ is true; its
    lower end asks how often an estimate above the limit is as large [Lee16]. The upper end does not: that only large
    estimates are looked at makes them too large, never too small.

    Why: of strings that nobody has, those are found that stand out by chance, and value ± z·error never holds their 0.
    """
    if not found:
        return []
    share, error, limit, people = (
        np.array([getattr(each, name) for each in found], np.float64)
        for name in ("share", "error", "limit", "people")
    )
    start, tail = np.clip(share, 0.0, 1.0), math.log((1 - confidence) / 2)
    device = np.maximum(error**2 - start * (1 - start) / people, 0.0)

    def scaled(distance: Floats, truth: Floats) -> Floats:
        spread = np.sqrt(device + np.clip(truth * (1 - truth), 0.0, None) / people)
        return np.asarray(
            log_ndtr(np.maximum(distance / np.maximum(spread, _TINY), -_FARTHEST)),
            np.float64,
        )

    def not_below(truth: Floats) -> NDArray[np.bool_]:
        return np.asarray(
            scaled(truth - share, truth) - scaled(truth - limit, truth) >= tail,
            np.bool_,
        )

    def not_above(truth: Floats) -> NDArray[np.bool_]:
        return np.asarray(scaled(share - truth, truth) >= tail, np.bool_)

    low, high = halved(not_below, start, 0.0), halved(not_above, start, 1.0)
    return [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class StringRow(Row):
    """A string that is there.

    Attributes:
        p_value: how often a string that nobody sends would stand out as much.
    """

    COLUMNS: ClassVar[Columns] = (*Row.COLUMNS, ("p_value",))

    p_value: float


@dataclass(frozen=True, eq=False)
class StringEstimate(Result):
    """What candidates explain.

    Attributes:
        found: the strings that are there, the most frequent first.
        tested: how many candidates there were.
        fdr: the share of false ones among those found that is allowed on average.
        respondents: how many responses there were.
        unexplained: the share of respondents whose string is none of those found; that rare ones are found by luck, and
            have then too large shares, is taken into account.
        unexplained_error: its standard error.
        excess: by how much bits vary more than the device explains, which strings that are no candidates do; 1 for not
            at all. Errors are told with it.
        p_values: of all candidates, in their order; 1 for those that no cohort tells apart from another candidate.
        covariance: of the shares of the strings found, in their order.
        design: the hash of the design; empty for noisy samples, which have none.
        epsilon: the most that a respondent has revealed; infinite where the samples alone do not tell it.
        missing: how many respondents sent nothing.
    """

    type: ClassVar = "strings"

    found: tuple[Found, ...]
    tested: int
    fdr: float
    respondents: int
    unexplained: float
    unexplained_error: float
    excess: float
    p_values: Floats = field(repr=False)
    covariance: Matrix = field(repr=False)
    design: str = ""
    epsilon: float = math.inf
    missing: int = 0

    @property
    def params(self) -> dict[str, float]:
        return {each.text: each.share for each in self.found}

    @property
    def bse(self) -> dict[str, float]:
        return {each.text: each.error for each in self.found}

    def cov_params(self) -> Matrix:
        return self.covariance.copy()

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        """Return an interval for the share of each string that was found.

        Args:
            level: how often such an interval holds the truth.
            method: "given-found" (the default), of all surveys in which the string is found; "normal" or "chebyshev",
                which for rare strings hold less often, because the lucky ones are found.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist.
        """
        events = max(len(self.found), 1) if simultaneous else 1
        if method in (None, GIVEN_FOUND):
            return dict(
                zip(
                    self.params,
                    given_found(self.found, one_of(events, level)),
                    strict=True,
                )
            )
        return around(self.params, self.bse, level=level, method=method, events=events)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        if self.found:
            return ()
        text = f"none of {self.tested:,} candidates stands out: too few responses, or none of them is there."
        return (Caution("nothing-found", text),)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[StringRow]:
        """Return a table of the strings that were found, the most frequent first."""
        intervals = self.conf_int(level=level, method=method, simultaneous=simultaneous)
        rows = [
            StringRow(
                each.text, each.share, each.error, *intervals[each.text], each.p_value
            )
            for each in self.found
        ]
        return Summary(
            title=f"{len(self.found):,} of {self.tested:,} strings found, {self.respondents:,} respondents",
            quantity="share",
            rows=tuple(rows),
            notes=(
                f"Unexplained: {self.unexplained:.4f} ± {self.unexplained_error:.4f} of the respondents.",
                f"On average at most {formats.percent(self.fdr, 6)} of the strings found are not there.",
            ),
            warnings=self.warnings,
            level=level,
            interval=method or GIVEN_FOUND,
            method="regression",
            respondents=self.respondents,
            missing=self.missing,
            epsilon=self.epsilon,
            simultaneous=simultaneous,
        )

    @property
    def _design_hash(self) -> str:
        return self.design

    def _source(self) -> dict[str, Any]:
        seen = np.flatnonzero(self.p_values != 1).tolist()
        names = (
            "tested",
            "fdr",
            "respondents",
            "unexplained",
            "unexplained_error",
            "excess",
            "epsilon",
            "missing",
        )
        return {
            **{name: getattr(self, name) for name in names},
            "found": [asdict(each) for each in self.found],
            "p_values": [[number, float(self.p_values[number])] for number in seen],
            "covariance": self.covariance.tolist(),
        }

    @classmethod
    def _remade(
        cls, source: Mapping[str, Any], design: StringDesign | None
    ) -> StringEstimate:
        held = dict(source)
        p_values = np.ones(documents.integer_field(held, "tested"))
        for number, value in held.pop("p_values"):
            p_values[number] = value
        found = tuple(Found(**each) for each in held.pop("found"))
        covariance = np.array(held.pop("covariance"), np.float64).reshape(
            len(found), len(found)
        )
        epsilon = math.inf if held["epsilon"] is None else held["epsilon"]
        rest = {
            **held,
            "epsilon": epsilon,
            "design": "" if design is None else design.hash,
        }
        return cls(found=found, p_values=p_values, covariance=covariance, **rest)


class Candidates:
    """Strings that may be there, hashed once for all tallies with the same filter.

    Args:
        bloom: how strings become bits.
        texts: the strings, all different.

    Raises:
        InvalidRequest: none, or one twice.
    """

    def __init__(self, bloom: Bloom, texts: Sequence[str]) -> None:
        self.bloom = bloom
        self.texts = tuple(texts)
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
    tally: StringTally | NoisyTally,
    candidates: Sequence[str] | Candidates | None = None,
    *,
    fdr: float = 0.05,
) -> StringEstimate:
    """Find which of many candidate strings are there, and how often.

    Implements: [EPK14] with candidates. Each is tested against a string that nobody has, whose places are drawn at
    random in each cohort; false discoveries are controlled after [BH95], and weighted least squares measures.

    Guarantee: on average at most `fdr` of those found are not there, whatever strings are no candidates.

    Args:
        tally: counts of bits, from responses of one stage or from noisy samples.
        candidates: strings that may be there; all others go into the unexplained share. Several tallies with one
            filter are faster with `Candidates`. With `Prefixes` they are discovered, if they are not given.
        fdr: the share of false ones among those found that is allowed on average.

    Raises:
        InvalidRequest: no candidates, one twice, or an fdr outside (0, 1).
        Incompatible: candidates for another filter.
        NotEstimable: no responses.

    Example:
        >>> from deniable.types.strings.design import Bloom
        >>> from deniable.types.strings.design import string_design
        >>> empty = StringTally.empty(string_design(Bloom(16), epsilon=2))
        >>> estimate(empty, ["a"])
        Traceback (most recent call last):
            ...
        deniable.errors.NotEstimable: there are no responses; expected some.
    """
    if isinstance(tally.bloom, Prefixes):
        from deniable.types.strings.discovery import estimate_by_levels

        return estimate_by_levels(tally, candidates, fdr=fdr)
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
    search, texts = _searched(tally, known, fdr), known.texts
    p_values = search.p_values
    fit = search.model.fit(
        np.flatnonzero(benjamini_hochberg(p_values, (1 - _TAKEN) * fdr))
    )
    spread = _covariance(fit, tally)
    luck, luck_error = _luck(search, fit.numbers.size, (1 - _TAKEN) * fdr, tally.bloom)
    order = np.argsort(-fit.shares, kind="stable")
    numbers, shares, errors = (
        fit.numbers[order],
        fit.shares[order],
        np.sqrt(np.diagonal(spread))[order],
    )
    needed = ndtri_exp(math.log((1 - _TAKEN) * fdr * max(len(numbers), 1) / len(texts)))
    spare = np.maximum(
        needed - ndtri_exp(np.log(np.maximum(p_values[numbers], _TINY))), 0.0
    )
    people = tally.respondents
    found = [
        Found(
            texts[number],
            float(share),
            float(error),
            float(p_values[number]),
            float(share - above * error),
            people,
        )
        for number, share, error, above in zip(
            numbers, shares, errors, spare, strict=True
        )
    ]
    design = tally.design if isinstance(tally, StringTally) else None
    return StringEstimate(
        found=tuple(found),
        tested=len(texts),
        fdr=fdr,
        respondents=tally.respondents,
        unexplained=1 - float(fit.shares.sum()) + luck,
        unexplained_error=math.hypot(
            math.sqrt(max(float(spread.sum()), 0.0)), luck_error
        ),
        excess=fit.excess,
        p_values=p_values,
        covariance=spread[np.ix_(order, order)],
        design="" if design is None else design.hash,
        epsilon=math.inf if design is None else design.epsilon,
        missing=tally.missing if isinstance(tally, StringTally) else 0,
    )


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
class _Search:
    """What came out of all rounds, and what the last one looked like.

    Attributes:
        p_values: of all candidates.
        model: the cells and how much each counts.
        left: what those taken out leave in each cell, weighted, [cohort, place].
        chance: by how much a string that nobody has stands out in it.
        totals: by how much the candidates do that were tested last.
    """

    p_values: Floats
    model: LeastSquares
    left: Floats
    chance: Chance
    totals: Floats


def _searched(
    tally: StringTally | NoisyTally, candidates: Candidates, fdr: float
) -> _Search:
    """Take out strings that are surely there, round after round, until no further one stands out.

    Why: what they hold of the cells no longer hides the others. They come out so strictly that a string that nobody has
    is among them with a chance of at most `_TAKEN` of the rate allowed. If none is, no round depends on the places of
    such strings, and their p-values are even and independent.
    """
    model, variance = _model(tally, candidates)
    p_values = np.ones(len(candidates.texts))
    tested = ~alike(model.rows)  # whose share it is, nobody can say of the others
    taken: Numbers = np.empty(0, np.intp)
    most = max(1, min(model.cells.size // 2, _MOST_TAKEN))
    for number in range(1, _ROUNDS + 1):
        strict = _TAKEN * fdr / (number * (number + 1) * p_values.size)
        model = model.weighted(variance(model.fitted(model.fit(taken))))
        residual = model.residual(model.fit(taken))
        chance = _capped(model, residual, tally.bloom, strict)
        totals = np.asarray(model.rows @ chance.pulls.reshape(-1), np.float64)[tested]
        p_values[tested] = chance.above(totals)
        fresh = np.flatnonzero(tested & (p_values <= strict))
        if not fresh.size or taken.size + fresh.size > most or number == _ROUNDS:
            break
        taken = np.concatenate([taken, fresh])
        tested[fresh] = False
    return _Search(
        p_values,
        model,
        (model.weights * residual).reshape(-1, tally.bloom.bits),
        chance,
        totals,
    )


def _capped(
    model: LeastSquares, residual: Floats, bloom: Bloom, strict: float
) -> Chance:
    """Return what each cell adds to a candidate's pull, where what stands out beyond a cap is cut off.

    Why: a string that is there shows in all cohorts; one that nobody listed shows at a candidate's places in a few. The
    cap is the one that finds the rarest strings, and it depends on the cells alone.
    """
    scale = np.sqrt(model.weights)
    standing = scale * residual

    def tried(cap: float) -> tuple[float, Chance]:
        cut = np.minimum(standing, cap)
        chance = Chance((scale * cut).reshape(-1, bloom.bits), bloom.hashes)
        needed = chance.reach(strict)

        def lacking(share: float) -> float:
            gained = float(scale @ (np.minimum(standing + share * scale, cap) - cut))
            return needed - bloom.ones / bloom.bits * gained

        return (
            float(brentq(lacking, 0.0, 1.0, xtol=1e-6))
            if lacking(1.0) < 0
            else math.inf
        ), chance

    return min((tried(cap) for cap in _CAPS), key=lambda each: each[0])[1]


def _model(
    tally: StringTally | NoisyTally, candidates: Candidates
) -> tuple[LeastSquares, Callable[[Floats], Floats]]:
    """Return the cells with even weights, and how much cells vary that hold such shares."""
    bloom, used = tally.bloom, tally.sizes > 0
    hit, stray = tally.rates()
    sizes = np.repeat(tally.sizes[used].astype(np.float64), bloom.bits)
    cells = (tally.ones[used].reshape(-1) / sizes - stray) / (hit - stray)

    def variance(ones: Floats) -> Floats:
        # A share of 0 or 1 is known as well as the respondents tell; where a sample is the truth, no better than that.
        inner = np.clip(ones, 0.5 / sizes, 1 - 0.5 / sizes)
        return tally.spread(inner) / (sizes * (hit - stray) ** 2)

    even = float(np.clip(np.average(cells, weights=sizes), 0.0, 1.0))
    return LeastSquares(
        candidates.rows(used), cells, 1 / variance(np.full(cells.size, even))
    ), variance


def _luck(search: _Search, found: int, fdr: float, bloom: Bloom) -> tuple[float, float]:
    """Return by how much the shares of those found are too large in sum, for they were found by them; and its error.

    Implements: for normal x, E[(x − θ)·1(x > limit)] = σ²·(density of x at the limit) [Ste81]: as many strings as are
    near the limit count, wherever θ is. Those that nobody has count as chance says, and not all alike: whether one of
    them is among those found is not known.
    """
    chance, candidates = search.chance, search.p_values.size
    level = fdr * found / candidates
    if not level or not search.totals.size:
        return 0.0, 0.0
    grid = np.linspace(0.0, chance.reach(level * 1e-4), 2000) / chance.deviation
    absent = search.totals.size * chance.above(
        grid * chance.deviation
    )  # that stand out by so much, of all tested
    at = int(np.argmax(absent <= search.totals.size * level))
    limit, false = grid[at], absent[at]
    near = int((np.abs(search.totals / chance.deviation - limit) < 0.5).sum())
    known = float(np.subtract(*np.interp([limit - 0.5, limit + 0.5], grid, absent)))
    filled = bloom.ones / bloom.bits
    together = filled * float((chance.pulls * search.left).sum())
    # What a standard deviation of the pull is worth as a share.
    worth = (
        together
        / chance.deviation
        / (filled * (1 - filled) * float(search.model.weights.sum()))
    )
    lucky = (
        limit * false
        + float(np.trapezoid(absent[at:], grid[at:]))
        + max(0.0, near - known)
    )
    return worth * lucky, worth * math.sqrt(limit**2 * false + near)


def _covariance(fit: Fit, tally: StringTally | NoisyTally) -> Floats:
    """Return the covariance of the shares: of the device, and of who was asked.

    The weights count as if every bit of a string had respondents of its own; but its bits have the same ones.
    """
    shares = np.clip(fit.shares, 0.0, 1.0)
    shares /= max(
        1.0, float(shares.sum())
    )  # of more than everybody the variance would be negative
    people = (np.diag(shares) - np.outer(shares, shares)) / tally.respondents
    found: Floats = fit.covariance * fit.excess + (1 - 1 / tally.bloom.ones) * people
    return found


_TAKEN = 0.1  # of the rate of false discoveries, for strings that are taken out before the others are tested
_ROUNDS = 40  # in which strings are taken out, before the search is given up
_MOST_TAKEN = 4000
_WINDOW = 2.0
_CAPS = (math.inf, 2.0, 3.0, 5.0, 9.0)  # in standard errors of a cell
_NORMAL = NormalDist()
_LIMIT_ROUNDS = 200  # of a fixed point that is reached in a few
_MOST_CANDIDATES = (
    10**15
)  # beyond them fdr/candidates is smaller than normal quantiles tell apart


def share_error(
    design: StringDesign, respondents: int, *, share: float = 0.0, others: float = 0.0
) -> float:
    """Return the standard error of a string's share.

    Args:
        design: one stage.
        respondents: how many there will be.
        share: how many of them send this string.
        others: the sum of the squares of the shares of strings that are no candidates or are not found. They look
            like noise, which more cohorts make smaller, and more respondents do not.

    Raises:
        InvalidRequest: nobody, or a share outside [0, 1].

    Example:
        >>> from deniable.types.strings.design import Bloom
        >>> from deniable.types.strings.design import string_design
        >>> round(share_error(string_design(Bloom(128), epsilon=4), 1_000_000), 6)
        0.000436
    """
    if not respondents >= 1 or not 0 <= share <= 1 or not 0 <= others <= 1:
        raise InvalidRequest(
            "expected at least one respondent, and shares from 0 to 1."
        )
    bloom, (hit, stray) = design.bloom, map(float, design.bit)
    ones, bits, people, cohorts = (
        bloom.ones,
        bloom.bits,
        respondents / bloom.levels,
        bloom.cohorts / bloom.levels,
    )
    filled = ones / bits  # the share of ones in a filter, all strings taken together
    rate = stray + (hit - stray) * filled
    device = rate * (1 - rate) / ((hit - stray) ** 2 * ones * people * (1 - filled))
    confused = others * filled / (cohorts * ones)
    return math.sqrt(device + confused + share * (1 - share) / people)


def string_detection_limit(
    design: StringDesign,
    respondents: int,
    *,
    candidates: int,
    fdr: float = 0.05,
    target: float = 0.8,
    others: float | None = None,
) -> float:
    """Return the smallest share that a string must have to be found with a probability of at least `target`.

    Why: with one string found, the strictest case, its p-value has to be below fdr/candidates.

    Args:
        design: one stage.
        respondents: how many there will be.
        candidates: how many strings are looked for.
        fdr: the rate of false discoveries that is allowed.
        target: how surely such a string is to be found.
        others: the sum of the squares of the shares of strings that are not found; by default the most there can be,
            if none of them is above the limit.

    Raises:
        InvalidRequest: numbers out of range, or no share would be found.

    Example:
        >>> from deniable.types.strings.design import Bloom
        >>> from deniable.types.strings.design import string_design
        >>> design = string_design(Bloom(128, cohorts=1024), epsilon=4, optimized=True)
        >>> round(string_detection_limit(design, 1_000_000, candidates=10_000), 5)
        0.00172
    """
    if (
        not respondents >= 1
        or not 1 <= candidates <= _MOST_CANDIDATES
        or not 0 < fdr < 1
        or not 0 < target < 1
    ):
        raise InvalidRequest(
            f"expected at least one respondent, 1 to {_MOST_CANDIDATES:,} candidates, and rates between 0 and 1."
        )
    level, bloom = (1 - _TAKEN) * fdr / candidates, design.bloom
    if bloom.cohorts * bloom.hashes * math.log(bloom.bits) < -math.log(level):
        raise InvalidRequest(
            f"{bloom.cohorts} cohorts do not tell a string from {candidates:,} that set the same bits; expected more.",
            "Take more cohorts, or look for fewer strings.",
        )
    strict, sure = -_NORMAL.inv_cdf(level), _NORMAL.inv_cdf(target)
    limit = 0.0
    for _ in range(_LIMIT_ROUNDS):
        rest = limit if others is None else others
        null = share_error(design, respondents, others=rest)
        wanted = strict * null + sure * share_error(
            design, respondents, share=min(limit, 1.0), others=rest
        )
        if wanted >= 1:
            raise InvalidRequest(
                f"{respondents:,} respondents do not find any string among {candidates:,}; expected more of them.",
                "Ask more people, allow a larger ε, or look for fewer strings.",
            )
        if abs(wanted - limit) < 1e-12:
            break
        limit = max(wanted, 0.0)
    return limit
