"""Shares of each category, with all that is needed to say how sure we are."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from deniable import documents
from deniable.designs import Design
from deniable.errors import (
    ImplausibleResponses,
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
    quoted,
    require,
)
from deniable.estimates import simplex
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.diagnostics import few, implausible
from deniable.estimates.intervals import METHODS as INTERVALS
from deniable.estimates.intervals import (
    Basis,
    Ends,
    Interval,
    default,
    one_of,
    recovered,
    sampled,
)
from deniable.estimates.inverses import left_inverse
from deniable.estimates.likelihood import Convergence
from deniable.estimates.linear import Linear
from deniable.estimates.results import Caution, Columns, Contrast, Result, Row, Summary
from deniable.estimates.rows import SentSets
from deniable.estimates.sensitivity import SHARES, Sensitivity, sensitivity
from deniable.estimates.supported import customary
from deniable.tallies import Tally
from deniable.tallies.responses import Responses


@dataclass(frozen=True, slots=True)
class ShareRow(Row):
    """The share of one category.

    Attributes:
        direct_low: the lower end that a direct question would have had at the same number of respondents.
        direct_high: its upper end.
        effective: how many direct answers would give an interval as narrow.
    """

    COLUMNS: ClassVar[Columns] = (
        *Row.COLUMNS,
        ("direct_low", "direct_high"),
        ("effective",),
    )
    SHARES: ClassVar[tuple[str, ...]] = (*Row.SHARES, "direct_low", "direct_high")
    BESIDE: ClassVar[tuple[str, ...]] = (
        "direct_low",
        "direct_high",
        "had everybody been asked directly",
    )

    direct_low: float
    direct_high: float
    effective: float


@dataclass(frozen=True, eq=False)
class Estimate(Result):
    """Shares of each category, with all that is needed to say how sure we are.

    Attributes:
        tally: the counts it was made from.
        method: "inversion", "likelihood", and what was done after it.
        value: the shares in the order of the categories; unbiased for "inversion", so it may leave [0, 1].
        population: how many people there are, if they are not a sample of very many.
        guess: the shares at which the design was inverted, if they were given.
        inverse: the left inverse, if it was given.
        convergence: how the maximum of the likelihood was found.
        doubts: what looks wrong about the responses.
        bounded: whether the value was brought into the simplex; then intervals are cut to [0, 1] too.
    """

    type: ClassVar = "shares"

    tally: Tally
    method: str
    value: Vector
    basis: Basis = field(repr=False)
    population: int | None = None
    guess: Vector | None = None
    inverse: Matrix | None = None
    convergence: Convergence | None = None
    doubts: tuple[Caution, ...] = ()
    bounded: bool = False

    def __post_init__(self) -> None:
        value = np.array(self.value, np.float64)
        value.flags.writeable = False
        object.__setattr__(self, "value", value)

    @cached_property
    def warnings(self) -> tuple[Caution, ...]:
        """What looks wrong about the responses, and what they cannot tell."""
        unfinished = self.convergence is not None and not self.convergence.converged
        more = (Caution("unfinished", str(self.convergence)),) if unfinished else ()
        return (
            *self.doubts,
            *few(self.design, self.basis, is_exact=self.default_interval == "exact"),
            *more,
        )

    @property
    def design(self) -> Design:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return self.tally.respondents

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.design.categories, self.value.tolist(), strict=True))

    @property
    def errors(self) -> Vector:
        """The standard error of each share, in the order of the categories."""
        return np.sqrt(self.basis.variances)

    @property
    def bse(self) -> dict[str, float]:
        return dict(zip(self.design.categories, self.errors.tolist(), strict=True))

    def cov_params(self) -> Matrix:
        """Return the covariance matrix of the estimate; of the unbiased one, where a step followed.

        It is estimated without bias, so that with few respondents or in a census a variance in it may be negative.
        Errors and contrasts then take the variance that belongs to the nearest shares in the simplex.
        """
        return self.basis.covariance.matrix()

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances."""
        return self.basis.df

    def variance(self, combination: Vector) -> float:
        """Return the variance of a linear combination of the shares, never a negative one."""
        return self.basis.variance(combination)

    @cached_property
    def default_interval(self) -> str:
        """The interval method that is used when none is named."""
        return default(
            self.basis, "profile" if self.method.startswith("likelihood") else "score"
        )

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        """Return an interval for each category by name.

        Args:
            level: how often such an interval holds the true share.
            method: "score", "normal", "chebyshev", "exact", "profile" or "wide" (score and profile together); by
                default "profile" for the likelihood and "score" else, or "exact" or "wide" where some responses are
                hardly ever sent.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        chosen = method or self.default_interval
        if chosen not in INTERVALS:
            raise InvalidRequest(
                f"the interval method is {quoted(chosen)}; expected one of {', '.join(INTERVALS)}."
            )
        # The shares of two categories move together: one interval holds exactly when the other does.
        events = len(self.value) if simultaneous and len(self.value) > 2 else 1
        low, high = self._ends(chosen, one_of(events, level))
        return dict(
            zip(
                self.design.categories,
                map(Interval, low.tolist(), high.tolist()),
                strict=True,
            )
        )

    def _ends(self, method: str, confidence: float) -> Ends:
        low, high = INTERVALS[method](self.basis, confidence)
        return (
            (np.clip(low, 0.0, self.value), np.clip(high, self.value, 1.0))
            if self.bounded
            else (low, high)
        )

    def contrast(self, weights: Mapping[str, float]) -> Contrast:
        """Return a weighted sum of shares, such as {"often": 1, "never": -1}, with its variance.

        Raises:
            InvalidRequest: a weight that is no finite number.
        """
        combination = combined(weights, len(self.value), self.design.category_number)
        error = self.basis.variance(combination) ** 0.5
        ends = partial(self._contrast_ends, combination)
        return Contrast(dict(weights), float(combination @ self.value), error, ends)

    def _contrast_ends(self, combination: Vector, confidence: float) -> Interval:
        own = self._ends(self.default_interval, confidence)
        return recovered(self.value, self.basis.possible(), combination, own)

    def projected(self) -> Estimate:
        """Return the nearest shares in the simplex. They are biased; the covariance stays that of the unbiased ones."""
        return self._bounded(simplex.projection(self.value), "projection")

    def normalized(self) -> Estimate:
        """Return the shares with what is negative set to 0 and the rest scaled. Biased, as `projected`."""
        return self._bounded(simplex.normalization(self.value), "normalization")

    def _bounded(self, value: Vector, step: str) -> Estimate:
        return replace(self, value=value, method=f"{self.method}, {step}", bounded=True)

    def sensitivity(
        self,
        kind: str | None = None,
        *,
        category: str | None = None,
        symbol: str | None = None,
        shares: Sequence[float] = SHARES,
        level: float = 0.95,
    ) -> Sensitivity:
        """Return what a share would be if some people did not follow the device, as a curve over how many.

        Implements: with a share c of people whose responses count for r in the unbiased share, the others have
        (π̂ − c·r)/(1 − c); if a share c of members alone send the response that speaks against it, everybody has
        π̂/(1 − c + c·r). The share of people with whom it reaches 0 or 1 is where the estimate breaks down.

        Args:
            kind: what these people do: "always_no", "always_yes", "carriers_no" or "random"; all, if it is not given.
            category: whose share; that of the last category, if it is not given.
            symbol: instead of a kind, the response that they always send.
            shares: how many of them there may be.
            level: of the intervals.

        Raises:
            InvalidRequest: a kind that does not exist, or shares outside of [0, 1).

        Example:
            >>> from deniable.designs import forced_response
            >>> found = estimate(Tally(forced_response("2/3", "1/6", "1/6"), [230, 70])).sensitivity(shares=[0.1])
            >>> [(each.kind, round(each.points[0].estimate, 4)) for each in found.curves]
            [('always_no', 0.1389), ('always_yes', -0.0278), ('carriers_no', 0.1143), ('random', 0.0556)]
        """
        return sensitivity(
            self, kind, category=category, symbol=symbol, shares=shares, level=level
        )

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[ShareRow]:
        """Return a table: share, error, interval, what a direct question would have had, and the cost of privacy."""
        from deniable.estimates.summary import summarize

        return summarize(
            self, level, method or self.default_interval, simultaneous=simultaneous
        )

    @property
    def _design_hash(self) -> str:
        return self.design.hash

    def _source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "method": self.method,
            "population": self.population,
            "guess": None if self.guess is None else self.guess.tolist(),
            "inverse": None if self.inverse is None else self.inverse.tolist(),
            "sent": None if self.basis.sent is None else self.basis.sent.to_body(),
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design) -> Estimate:
        return remake(design, source)


def combined(
    weights: Mapping[str, float], size: int, number: Callable[[str], int]
) -> Vector:
    """Return weights by name as a vector.

    Raises:
        InvalidRequest: a weight that is no finite number.
    """
    require(
        isinstance(weights, Mapping),
        weights,
        "the contrast",
        'weights by name, such as {"yes": 1, "no": -1}',
    )
    found = np.zeros(size)
    for name, weight in weights.items():
        if not isinstance(weight, Real) or not math.isfinite(weight):
            raise InvalidRequest(
                f"a weight is {quoted(weight)}; expected a finite number."
            )
        found[number(name)] = weight
    return found


METHODS = ("inversion", "likelihood", "customary")


def estimate(
    tally: Tally,
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
    sent: Responses[Design] | None = None,
) -> Estimate:
    """Estimate the share of each category from a tally.

    Args:
        tally: the counts.
        method: "inversion" for the linear unbiased estimate, "likelihood" for the most likely shares in the simplex,
            "customary" for the unbiased estimate that is usual with RAPPOR, whose variance is larger.
        population: how many people there are altogether: the number of respondents for a census, more for a sample
            without replacement, nothing for independent respondents.
        guess: shares at which a design with more responses than answers is inverted with the smallest variance.
        inverse: a left inverse of your own, answers × responses.
        sent: the responses that were counted, for the likelihood of sets that a tally keeps sums of.

    Raises:
        NotEstimable: too few responses, or a channel that cannot tell answers apart.
        InvalidRequest: a method, population or guess that does not fit.

    Example:
        >>> from deniable.designs import warner
        >>> design = warner(p="3/4")
        >>> round(estimate(Tally(design, [40, 60])).params["yes"], 3)
        0.7
    """
    sets = None if sent is None else _sent_sets(tally, method, sent)
    made = fitted(
        tally,
        method=method,
        population=population,
        guess=guess,
        inverse=inverse,
        sent=sets,
    )
    for doubt in made.doubts:
        warnings.warn(doubt.text, ImplausibleResponses, stacklevel=2)
    return made


def fitted(
    tally: Tally,
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
    sent: SentSets | None = None,
) -> Estimate:
    """Estimate as `estimate` does, and keep doubts about the responses in the estimate's `warnings` alone."""
    if method not in METHODS:
        raise InvalidRequest(
            f"the method is {quoted(method)}; expected one of {', '.join(METHODS)}."
        )
    n = tally.respondents
    f = sampled_fraction(n, population)
    if n - f <= 0:
        raise NotEstimable(
            f"there are {n} responses; expected at least 2, to say how sure an estimate is."
        )
    at = None if guess is None else read_shares(tally.design, guess, name="guess")
    linear = _linear(tally.design, method, at, inverse)
    _check_possible(tally, linear)
    observed = tally.counts / n
    unbiased = linear.shares(observed)
    covariance = linear.covariance(observed, unbiased, f, n - f)
    basis = Basis(
        unbiased,
        covariance,
        unbiased,
        np.asarray(tally.counts, np.float64),
        tally.design.channel,
        linear,
        n,
        population,
        sent,
    )
    doubts = implausible(tally.design, basis)
    basis, convergence = _likelihood(basis) if method == "likelihood" else (basis, None)
    return Estimate(
        tally,
        method,
        basis.center,
        basis,
        population=population,
        guess=at,
        inverse=None if inverse is None else vector(inverse),
        convergence=convergence,
        doubts=doubts,
        bounded=method == "likelihood",
    )


def covariance(
    design: Design,
    shares: Mapping[str, float] | Sequence[float],
    respondents: int,
    *,
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
    method: str = "inversion",
) -> Matrix:
    """Return the covariance that the unbiased estimate will have if these are the true shares.

    Implements: F6 under its three models, told apart by `population` as in `estimate`; `method` is "inversion" or
    "customary".
    """
    at = None if guess is None else read_shares(design, guess, name="guess")
    linear = _linear(design, method, at, inverse)
    true = read_shares(design, shares)
    f = sampled_fraction(respondents, population)
    return linear.covariance(linear.expected(true), true, f, respondents).matrix()


def _linear(
    design: Design,
    method: str,
    guess: Vector | None,
    inverse: Sequence[Sequence[float]] | Matrix | None,
) -> Linear:
    given = None if inverse is None else _floats(inverse, "left inverse")
    if method != "customary":
        return left_inverse(design.channel, guess=guess, inverse=given)
    if guess is not None or given is not None:
        raise InvalidRequest(
            "the customary estimate is what it is; expected no guess and no inverse with it."
        )
    return customary(design.channel)


def sampled_fraction(respondents: int, population: int | None) -> float:
    """Return f of F6: 1 for independent respondents, (N − n)/(N − 1) for n of N people.

    Raises:
        InvalidRequest: a population smaller than the respondents, or none at all.
    """
    if isinstance(respondents, bool) or not isinstance(respondents, int | np.integer):
        raise InvalidRequest(
            f"the number of respondents is {quoted(respondents)}; expected a whole number."
        )
    if respondents < 1:
        raise NotEstimable("there are no responses; expected at least 2.")
    whole = isinstance(population, int) and not isinstance(population, bool)
    if population is not None and not (whole and population >= respondents):
        raise InvalidRequest(
            f"the population is {quoted(population)}; expected a whole number of at least the {respondents} "
            "respondents."
        )
    return 1.0 if population is None else sampled(respondents, population)


def read_shares(
    design: Design,
    given: Mapping[str, float] | Sequence[float],
    *,
    name: str = "shares",
) -> Vector:
    """Read shares by name or in order; they must be 0 or more and sum to 1.

    Raises:
        InvalidRequest: anything else.
    """
    if isinstance(given, Mapping):
        values = np.zeros(len(design.categories))
        values[[design.category_number(category) for category in given]] = _floats(
            list(given.values()), name
        )
    else:
        values = _floats(given, name)
    size = len(design.categories)
    fits = values.shape == (size,) and bool(((values >= 0) & (values < 2)).all())
    if not fits or not math.isclose(values.sum(), 1, abs_tol=1e-6):
        raise InvalidRequest(
            f"the numbers of {name} do not fit; expected {size} shares of 0 or more that sum to 1."
        )
    return vector(values / values.sum())


def _floats(given: Any, name: str) -> Vector:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidRequest(
            f"not everything in the {name} is a number; expected numbers alone."
        ) from None


def _sent_sets(tally: Tally, method: str, sent: Responses[Design]) -> SentSets | None:
    """Return the sets that were sent, where the likelihood needs them; the tally has what all else needs."""
    sent.check(tally.design)
    channel = tally.design.channel.set_valued
    if channel is None or method != "likelihood" or channel.own_cells:
        return None
    rows = sent.present()["response"]
    if not np.array_equal(channel.coding.count(rows), tally.counts):
        raise InvalidRequest(
            "the responses are not those that were counted; expected the same."
        )
    return SentSets.of(channel, rows)


def _read_sets(design: Design, body: Mapping[str, Any]) -> SentSets | None:
    given = body.get("sent")
    if given is None:
        return None
    channel = design.channel.set_valued
    if not isinstance(given, Mapping) or channel is None:
        raise UnreadableFile(
            "the sets that were sent are not those of this design; expected none."
        )
    return SentSets.from_body(given, channel)


def remake(design: Design, body: Mapping[str, Any]) -> Estimate:
    """Make an estimate again from what its JSON holds."""
    counts = Tally.from_json(json.dumps(documents.field(body, "tally", dict)), design)
    method, *steps = documents.field(body, "method", str).split(", ")
    made = fitted(  # doubts were told when it was made
        counts,
        method=method,
        population=body.get("population"),
        guess=body.get("guess"),
        inverse=body.get("inverse"),
        sent=_read_sets(design, body),
    )
    for step in steps:
        if step not in ("projection", "normalization"):
            raise UnreadableFile(
                f"the method has a step {quoted(step)}; expected projection or normalization."
            )
        made = made.projected() if step == "projection" else made.normalized()
    return made


def _likelihood(basis: Basis) -> tuple[Basis, Convergence]:
    """Return a basis about the most likely shares.

    The covariance is that of the locally best unbiased estimate there: near the border of the simplex the likelihood's
    own curvature would claim too much.
    """
    shares, convergence = basis.likely()
    if basis.sent is not None:
        return replace(
            basis, center=shares, covariance=basis.sent.covariance(shares)
        ), convergence
    best = left_inverse(basis.channel, guess=shares)
    covariance = best.covariance(
        best.expected(shares), shares, basis.f, basis.respondents
    )
    return replace(basis, center=shares, covariance=covariance), convergence


def _check_possible(tally: Tally, linear: Linear) -> None:
    size = len(tally.design.categories)
    never = linear.expected(np.full(size, 1 / size)) <= 0
    if (tally.counts[never] > 0).any():
        number = int(np.flatnonzero(never & (tally.counts > 0))[0])
        raise NotEstimable(
            f"{quoted(tally.design.symbols[number])} was counted, but this design never sends it.",
            "The responses belong to another design, or were coded in another order.",
        )
