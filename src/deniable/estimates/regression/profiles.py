"""Profile-likelihood intervals of coefficients: all values under which the data are not much less likely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.regression.fitted import (
    ERROR_DEVIATION,
    HONESTY,
    Regression,
    is_group_deviation,
    shown_values,
)
from deniable.estimates.regression.models import Likelihood, SampledLikelihood, Slope
from deniable.estimates.regression.newton import highest
from deniable.estimates.results import Bounds

_HALVINGS = 60
_FARTHEST = 60.0  # on the scale of a predictor: beyond it every probability is 0 or 1
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class _OneHeld(Likelihood):
    """A likelihood in which one coefficient is held."""

    whole: Likelihood
    at: int
    held: float

    def _filled(self, theta: Vector) -> Vector:
        return np.insert(theta, self.at, self.held)

    def value(self, theta: Vector) -> float:
        return self.whole.value(self._filled(theta))

    def slope(self, theta: Vector) -> Slope:
        value, gradient, information = self.whole.slope(self._filled(theta))
        rest = np.delete(np.arange(len(gradient)), self.at)
        return Slope(value, gradient[rest], information[np.ix_(rest, rest)])

    def scores(self, theta: Vector) -> Matrix:
        return np.delete(self.whole.scores(self._filled(theta)), self.at, axis=1)


def profile_bounds(fit: Regression, confidence: float) -> Bounds:
    """Return for each coefficient the range with 2(l − l_profile) within the quantile of χ²; a bound may be infinite.

    Raises:
        InvalidRequest: no rows, weights, or no likelihood.
    """
    if fit.sampled or np.isnan(fit.log_likelihood):
        raise InvalidRequest(
            'the interval method is "profile", which needs a likelihood without weights; expected "normal".'
        )
    sample = fit._rows().sample
    allowed = float(chi2.ppf(confidence, 1)) / 2
    bounds = []
    for index, name in enumerate(fit.names):
        reach = (
            sample.theta[index] if is_group_deviation(name) else np.inf,
            np.inf,
        )  # σ and −σ are one model
        sides = [
            _end(
                sample.likelihood,
                sample.theta,
                fit.log_likelihood - allowed,
                index,
                sign,
                most,
            )
            for sign, most in zip((-1, 1), reach, strict=True)
        ]
        bounds.append(
            [
                float(shown_values([name], np.array([side]))[0])
                if np.isfinite(side)
                else _edge(name, side)
                for side in sides
            ]
        )
    lows, highs = np.array(bounds).T
    return lows, highs


def _edge(name: str, end: float) -> float:
    if name == HONESTY:
        return 1.0 if end > 0 else 0.0
    return 0.0 if end < 0 and name == ERROR_DEVIATION else end


def _end(
    likelihood: SampledLikelihood,
    theta: Vector,
    level: float,
    at: int,
    sign: int,
    most: float,
) -> float:
    """Return where the profile falls to a level on one side: doubling the distance, then halving the bracket.

    Where it has not fallen `most` away, that is the end.
    """
    curve = likelihood.slope(theta).information[at, at]
    step = 1 / np.sqrt(curve) if curve > 0 else 1.0
    rest = np.delete(theta, at)
    inside, outside = 0.0, min(step, _FARTHEST, most)
    while _profile(likelihood, at, theta[at] + sign * outside, rest) > level:
        if outside == most:
            return float(theta[at] + sign * most)
        inside, outside = outside, min(2 * outside, most)
        if outside > max(_FARTHEST, 2**10 * step):
            return sign * np.inf
    for _ in range(_HALVINGS):
        if outside - inside < _CLOSE * min(step, 1.0):
            break
        middle = (inside + outside) / 2
        if _profile(likelihood, at, theta[at] + sign * middle, rest) > level:
            inside = middle
        else:
            outside = middle
    return float(theta[at] + sign * (inside + outside) / 2)


def _profile(
    likelihood: SampledLikelihood, at: int, held: float, start: Vector
) -> float:
    fixed = _OneHeld(likelihood.adapted(np.insert(start, at, held)), at, held)
    return highest(fixed, [start]).value if len(start) else fixed.value(start)
