"""Intervals for shares of a sample with clusters and weights, which hold near 0 and 1.

| method        | what it is                                                    | when                                |
| ------------- | ------------------------------------------------------------- | ----------------------------------- |
| score         | all π whose own variance, at effective size, explains π̂       | default of shares                   |
| exact         | Clopper–Pearson of the share of responses, at effective size  | default where responses are rare    |
| korn-graubard | the same, with the effective size of R's survey package       | to compare with it                  |
| logit         | on the logit of the share of responses                        | large samples                       |
| fieller       | all R for which A − R·B is not clear of 0                     | default of a ratio of two numbers   |
| normal        | value ± t·error                                               | default of other means and ratios   |
| chebyshev     | value ± error/√(1 − level)                                    | nothing is assumed about the law    |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import t as student

from deniable.errors import InvalidRequest
from deniable.estimates.backing import LEAST_EXPECTED, clopper_pearson
from deniable.estimates.confidence_sequences import widen
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Ends, score_interval
from deniable.estimates.sampling.people import effective_size

_LEAST_RATE = 1e-12  # of a share of responses whose logit is taken
_USUAL = 0.95  # the level at which it is asked which interval suits


@dataclass(frozen=True, eq=False)
class SampledBasis:
    """What the intervals of several numbers are computed from.

    Attributes:
        value: the numbers.
        errors: their standard errors.
        degrees: degrees of freedom of each.
        people: how many responses each is made from.
        simple: the variance that each would have with as many people drawn one by one and with even weights.
        curve: the variance of what one response says, if the share were π: rows of constants, slopes and squares; NaN
            where the numbers are no shares.
        low: the smaller of the two values that a response can have, NaN where it can have more.
        high: the larger one.
        ratio: of a ratio R = A/B: the variance of A − R·B over B², as a polynomial in R; NaN of all others. The ends of
            the scale are then its low and high.
    """

    value: Vector
    errors: Vector
    degrees: Vector
    people: Vector
    simple: Vector
    curve: Matrix
    low: Vector
    high: Vector
    ratio: Matrix

    def picked(self, which: NDArray[np.bool_]) -> SampledBasis:
        """Return what the intervals of some of the numbers are computed from."""
        return SampledBasis(
            *(getattr(self, each.name)[..., which] for each in fields(self))
        )

    def quantile(self, confidence: float) -> Vector:
        """Return t with this probability between −t and t, for each number."""
        return vector(student.ppf((1 + confidence) / 2, self.degrees))

    def effective(self, confidence: float) -> Vector:
        """Return the effective sample size of each number, at most as many as there are responses.

        Implements: n* = n·V₁/V·(t_{n−1}/t_d)² of [KG98], V₁ the variance of as many people drawn one by one with even
        weights: with those it is n.
        """
        return self.size(self.simple, confidence)

    def size(self, simple: Vector, confidence: float) -> Vector:
        """Return the effective sample size, where people drawn one by one would have this variance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = vector(self.errors**2 / simple)
        return effective_size(self.people, self.degrees, effect, confidence)

    def single(self) -> Vector:
        """Return the variance of what one response says at the estimated shares, by the device's curve."""
        constant, slope, square = self.curve
        return vector(constant + slope * self.value + square * self.value**2)

    def rare(self) -> NDArray[np.bool_]:
        """Return which shares rest on responses of which too few are expected for two moments to tell."""
        width = self.high - self.low
        rates = np.stack([-self.low / width, (1 - self.low) / width])
        expected = self.effective(_USUAL) * np.minimum(rates, 1 - rates).min(axis=0)
        return np.asarray(expected < LEAST_EXPECTED, np.bool_)


def normal(basis: SampledBasis, confidence: float) -> Ends:
    """Return value ± t·error."""
    width = basis.quantile(confidence) * basis.errors
    return basis.value - width, basis.value + width


def chebyshev(basis: SampledBasis, confidence: float) -> Ends:
    """Return value ± error/√(1 − level), which holds for every distribution with this variance."""
    width = (1 - confidence) ** -0.5 * basis.errors
    return basis.value - width, basis.value + width


def score(basis: SampledBasis, confidence: float) -> Ends:
    """Return all π with (π̂ − π)² ≤ z²·V(π)/n*, V the variance of one response if π were true."""
    _check_shares(basis, "score")
    return score_interval(
        basis.value, basis.curve / basis.effective(confidence), confidence
    )


def exact(basis: SampledBasis, confidence: float) -> Ends:
    """Return the Clopper–Pearson interval of the share of responses at its effective size, carried to the share.

    Implements: [KG98], on λ = u + D·π in place of π.

    Why: whatever π is, λ is the share of one sort of responses; with n* of them it is nearly binomial, and the interval
    is that of a binomial count, also where nobody carries the trait and λ is all the device's.
    """
    rates, width = _rates(basis, "exact")
    sizes = basis.effective(confidence)
    low, high = clopper_pearson(vector(sizes * rates), sizes, confidence)
    return vector(basis.low + width * low), vector(basis.low + width * high)


def korn_graubard(basis: SampledBasis, confidence: float) -> Ends:
    """Return the exact interval at the effective size that R's survey package takes.

    Why: that one has the binomial variance over n in place of n − 1, and the device's curve in place of what varies.
    """
    rates, width = _rates(basis, "korn-graubard")
    sizes = basis.size(basis.single() / basis.people, confidence)
    low, high = clopper_pearson(vector(sizes * rates), sizes, confidence)
    return vector(basis.low + width * low), vector(basis.low + width * high)


def on_logits(basis: SampledBasis, confidence: float) -> Ends:
    """Return logit(λ̂) ± t·error/(λ̂(1 − λ̂)), carried to the share."""
    rates, width = _rates(basis, "logit")
    inside = np.clip(rates, _LEAST_RATE, 1 - _LEAST_RATE)
    reach = (
        basis.quantile(confidence) * basis.errors / width / (inside * (1 - inside))
    )
    return (
        vector(basis.low + width * expit(logit(inside) - reach)),
        vector(basis.low + width * expit(logit(inside) + reach)),
    )


def fieller(basis: SampledBasis, confidence: float) -> Ends:
    """Return all R with (Â − R·B̂)² ≤ t²·V(Â − R·B̂), within the scale of R.

    Implements: [Fie54].

    Why: where B may be 0, R may be anything, and value ± t·error does not tell. Then the whole scale is returned, also
    where the R that are rejected lie between others that are not.

    Raises:
        InvalidRequest: numbers that are no ratios of two others.
    """
    if not are_ratios(basis).all():
        raise InvalidRequest(
            "the fieller interval is one of ratios of two numbers; expected another method."
        )
    return ratio_bounds(
        basis.value,
        basis.ratio,
        basis.quantile(confidence),
        _scales(basis),
    )


def ratio_bounds(
    value: Vector,
    polynomial: Matrix,
    quantile: Vector | float,
    scale: tuple[Vector | float, Vector | float],
) -> Ends:
    """Return Fieller's interval of each ratio; the whole scale where its denominator is not clear of 0.

    Args:
        value: Â/B̂.
        polynomial: V(A − R·B)/B̂² as a polynomial in R: constant, slope and square, a column for each ratio.
        quantile: of the reference distribution.
        scale: the least and the largest possible ratio.
    """
    constant, slope, square = polynomial
    t2, (least, most) = quantile**2, scale
    a, half = 1 - t2 * square, value + t2 * slope / 2
    known = a > 0
    over = np.where(known, a, 1.0)
    root = np.sqrt(np.maximum(half**2 - a * (value**2 - t2 * constant), 0.0))
    low, high = (
        np.clip((half + side * root) / over, least, most) for side in (-1, 1)
    )
    return vector(np.where(known, low, least)), vector(np.where(known, high, most))


def are_ratios(basis: SampledBasis) -> NDArray[np.bool_]:
    """Return which numbers are ratios of two others; the scale of some is not known."""
    has_parts = np.isfinite(basis.ratio).all(axis=0) | np.isfinite(basis.low)
    return np.asarray(np.isnan(basis.curve).any(axis=0) & has_parts, np.bool_)


def _scales(basis: SampledBasis) -> Ends:
    """Return the least and the largest value of each ratio; infinite where they are not known."""
    low, high = np.nan_to_num(basis.low, nan=-np.inf), basis.high
    return vector(low), vector(np.nan_to_num(high, nan=np.inf))


METHODS: dict[str, Callable[[SampledBasis, float], Ends]] = {
    "score": score,
    "exact": exact,
    "korn-graubard": korn_graubard,
    "logit": on_logits,
    "fieller": fieller,
    "normal": normal,
    "chebyshev": chebyshev,
}


def defaults(basis: SampledBasis) -> dict[str, NDArray[np.bool_]]:
    """Return the methods that are used where none is named, each with the numbers that it is used for."""
    shares = np.asarray(np.isfinite(basis.curve).all(axis=0), np.bool_)
    ratios = are_ratios(basis)
    rare = shares & basis.rare()
    methods = {
        "score": shares & ~rare,
        "exact": rare,
        "fieller": ratios,
        "normal": ~shares & ~ratios,
    }
    return {method: which for method, which in methods.items() if which.any()}


def default_bounds(basis: SampledBasis, confidence: float) -> Ends:
    """Return the interval of each number by the method that suits it."""
    low, high = np.empty_like(basis.value), np.empty_like(basis.value)
    for method, which in defaults(basis).items():
        low[which], high[which] = METHODS[method](basis.picked(which), confidence)
    return low, high


def widen_sampled(
    basis: SampledBasis,
    compute: Callable[[SampledBasis, float], Ends],
    confidence: float,
    planned: int,
) -> Ends:
    """Return always-valid intervals from fixed-sample ones, within the scales of shares and ratios."""
    ends = widen(
        partial(compute, basis), basis.value, basis.people, confidence, planned
    )
    shares, ratios = np.isfinite(basis.curve).all(axis=0), are_ratios(basis)
    scale_low, scale_high = _scales(basis)
    least = np.select([shares, ratios], [0.0, scale_low], -np.inf)
    most = np.select([shares, ratios], [1.0, scale_high], np.inf)
    low, high = (vector(np.clip(end, least, most)) for end in ends)
    return low, high


def _rates(basis: SampledBasis, method: str) -> tuple[Vector, Vector]:
    """Return the share of responses with the larger value, and how far both values are apart."""
    _check_shares(basis, method)
    if not np.isfinite(basis.low).all():
        raise InvalidRequest(
            f"the {method} interval needs values of two levels, and a response of this design can have more.",
            "Use the score interval.",
        )
    width = basis.high - basis.low
    return vector(np.clip((basis.value - basis.low) / width, 0.0, 1.0)), vector(
        width
    )


def _check_shares(basis: SampledBasis, method: str) -> None:
    if not np.isfinite(basis.curve).all():
        raise InvalidRequest(
            f"the {method} interval is one of shares; expected the method normal or chebyshev."
        )
