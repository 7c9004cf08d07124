"""Shares of each category, with all that is needed to say how sure we are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import wire
from deniable.design import Design
from deniable.errors import InvalidRequest
from deniable.estimate import simplex
from deniable.estimate.covariance import Matrix, Vector
from deniable.estimate.interval import METHODS, Basis, Interval, default, one_of, quantile
from deniable.tally import Tally

if TYPE_CHECKING:
    from deniable.estimate.likelihood import Convergence
    from deniable.estimate.summary import Summary


@dataclass(frozen=True, eq=False)
class Estimate:
    """Shares of each category, with all that is needed to say how sure we are.

    Attributes:
        tally: the counts it was made from.
        method: "inversion", "likelihood", and what was done after it.
        value: the shares in the order of the categories; unbiased for "inversion", so it may leave [0, 1].
        population: how many people there are, if they are not a sample of very many.
        guess: the shares at which the design was inverted, if they were given.
        inverse: the left inverse, if it was given.
        convergence: how the maximum of the likelihood was found.
        warnings: what looks wrong about the responses, in words.
        bounded: whether the value was brought into the simplex; then intervals are cut to [0, 1] too.
    """

    tally: Tally
    method: str
    value: Vector
    basis: Basis = field(repr=False)
    population: int | None = None
    guess: Vector | None = None
    inverse: Matrix | None = None
    convergence: Convergence | None = None
    warnings: tuple[str, ...] = ()
    bounded: bool = False

    def __post_init__(self) -> None:
        value = np.array(self.value, np.float64)
        value.flags.writeable = False
        object.__setattr__(self, "value", value)

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
        """The share of each category by name."""
        return dict(zip(self.design.categories, self.value.tolist(), strict=True))

    @property
    def errors(self) -> Vector:
        """The standard error of each share."""
        return np.sqrt(self.basis.variances)

    def cov_params(self) -> Matrix:
        """Return the covariance matrix of the estimate; of the unbiased one, where a step followed.

        It is estimated without bias, so that with few respondents or in a census a variance in it may be negative.
        Errors and contrasts then take the variance that belongs to the nearest shares in the simplex.
        """
        return self.basis.covariance.matrix()

    @property
    def default_interval(self) -> str:
        """The interval method that is used when none is named."""
        return "profile" if self.method.startswith("likelihood") else default(self.basis)

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> tuple[Interval, ...]:
        """Return an interval for each category, in their order.

        Args:
            level: how often such an interval holds the true share.
            method: "score", "normal", "chebyshev", "exact" or "profile"; by default "profile" for the likelihood,
                else "score", or "exact" where the device sends some symbol hardly ever.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        chosen = method or self.default_interval
        if chosen not in METHODS:
            raise InvalidRequest(f"the interval method is {chosen!r:.40}; expected one of {', '.join(METHODS)}.")
        # The shares of two categories move together: one interval holds exactly when the other does.
        events = len(self.value) if simultaneous and len(self.value) > 2 else 1
        low, high = METHODS[chosen](self.basis, one_of(events, level))
        if self.bounded:
            low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
        return tuple(map(Interval, low.tolist(), high.tolist()))

    def interval(
        self, category: str, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Interval:
        """Return the interval of one category."""
        number = self.design.category_number(category)
        return self.conf_int(level=level, method=method, simultaneous=simultaneous)[number]

    def contrast(self, weights: Mapping[str, float]) -> Contrast:
        """Return a weighted sum of shares, such as {"often": 1, "never": -1}, with its variance.

        Raises:
            InvalidRequest: a weight that is no finite number.
        """
        combination = np.zeros(len(self.value))
        for category, weight in weights.items():
            if not isinstance(weight, Real) or not math.isfinite(weight):
                raise InvalidRequest(f"a weight is {weight!r:.40}; expected a finite number.")
            combination[self.design.category_number(category)] = weight
        return Contrast(dict(weights), float(combination @ self.value), self.basis.variance(combination) ** 0.5)

    def projected(self) -> Estimate:
        """Return the nearest shares in the simplex. They are biased; the covariance stays that of the unbiased ones."""
        return self._bounded(simplex.projection(self.value), "projection")

    def normalized(self) -> Estimate:
        """Return the shares with what is negative set to 0 and the rest scaled. Biased, as `projected`."""
        return self._bounded(simplex.normalization(self.value), "normalization")

    def _bounded(self, value: Vector, step: str) -> Estimate:
        return replace(self, value=value, method=f"{self.method}, {step}", bounded=True)

    def summary(self, *, level: float = 0.95, interval: str | None = None, simultaneous: bool = False) -> Summary:
        """Return a table: share, error, interval, what a direct question would have had, and the cost of privacy."""
        from deniable.estimate.summary import summarize

        return summarize(self, level, interval or self.default_interval, simultaneous=simultaneous)

    def to_json(
        self,
        *,
        level: float = 0.95,
        interval: str | None = None,
        simultaneous: bool = False,
        indent: int | None = None,
    ) -> str:
        """Return the estimate as JSON that names its design's hash and holds all it was made from."""
        kind = interval or self.default_interval
        intervals = self.conf_int(level=level, method=kind, simultaneous=simultaneous)
        body: dict[str, Any] = {
            **self.tally.to_body(),
            "method": self.method,
            "population": self.population,
            "guess": None if self.guess is None else self.guess.tolist(),
            "inverse": None if self.inverse is None else self.inverse.tolist(),
            "level": level,
            "shares": self.value.tolist(),
            "errors": self.errors.tolist(),
            "interval": kind,
            "simultaneous": simultaneous,
            "intervals": [list(each) for each in intervals],
            "warnings": list(self.warnings),
        }
        return wire.seal("estimate", body, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes, design: Design) -> Estimate:
        """Read an estimate: it is made again from the counts and choices in the file.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: it belongs to another design.
        """
        from deniable.estimate.fit import remake

        body = wire.unseal("estimate", text)
        return remake(design, body)


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of shares.

    Attributes:
        weights: the weight of each category named.
        value: the weighted sum of the estimated shares.
        error: its standard error.
    """

    weights: Mapping[str, float]
    value: float
    error: float

    def interval(self, *, level: float = 0.95, method: str = "normal") -> Interval:
        """Return the normal or the Chebyshev interval.

        Raises:
            InvalidRequest: another method or a level outside (0, 1).
        """
        confidence = one_of(1, level)
        factors = {"normal": quantile(confidence), "chebyshev": (1 - confidence) ** -0.5}
        if method not in factors:
            raise InvalidRequest(f"the interval method is {method!r:.40}; expected one of {', '.join(factors)}.")
        width = factors[method] * self.error
        return Interval(self.value - width, self.value + width)
