"""Section A6 of the frontier sheet: regressions with a randomized predictor."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

import deniable as dn
from deniable.estimates.regression.likelihoods import EquationLaw, OutcomeLaw
from deniable.estimates.regression.models import RowLikelihood
from tests.golden.runner import quantity

Z = float(norm.ppf(0.975))


def fitted(
    y: list[float],
    response: list[int],
    rate: list[float],
    x: list[float] | None,
    family: str,
) -> dn.Regression:
    """Fit rows of which each answered by chance at a rate of its own, and truly otherwise."""
    frame: dict[str, Any] = {"y": y, "sent": response, "rate": list(map(str, rate))}
    if x is not None:
        frame["x"] = x
    designs = {
        each: dn.warner(p=1 - Fraction(each) / 2) for each in set(frame["rate"])
    }
    return dn.regress(
        "y ~ x + sent" if x is not None else "y ~ sent",
        frame,
        design=designs,
        devices="rate",
        predictor="sent",
        family=family,
    )


@quantity("predictor_moments")
def predictor_moments(
    y: Any, response: Any, rate: Any, family: str, x: Any = None
) -> dict[str, Any]:
    found = fitted(y, response, rate, x, family)
    order = ["1", *(["x"] if x is not None else []), "answer 1"]
    return {
        "coef": list(found.params.values()),
        "se": list(found.bse.values()),
        "order": order,
    }


@quantity("predictor_slope_interval")
def predictor_slope_interval(
    y: Any, response: Any, rate: Any, x: Any = None
) -> dict[str, Any]:
    """The sheet takes the normal quantile, and ours is Student's: we ask at the level at which that is the same."""
    found = fitted(y, response, rate, x, "linear")
    low, high = found.interval("sent", level=2 * student.cdf(Z, found.df) - 1)
    kind = "bounded" if np.isfinite([low, high]).all() else "unbounded"
    return {"slope": found.params["sent"], "fieller": [kind, low, high]}


@quantity("predictor_efficiency")
def predictor_efficiency(
    rate: float, share: float, separation_in_sd: float
) -> dict[str, float]:
    """Score and information of our two laws at the truth, averaged over both responses and a fine grid of outcomes."""
    channel = np.array([[1 - rate / 2, rate / 2], [rate / 2, 1 - rate / 2]])
    outcome = np.linspace(-9, 9 + separation_in_sd, 6001)
    densities = norm.pdf(outcome[:, None] - [0, separation_in_sd]) * [
        1 - share,
        share,
    ]
    weights = (densities @ channel.T).ravel() * (outcome[1] - outcome[0])
    evidence = np.tile(channel, (len(outcome), 1))
    y, ones = np.repeat(outcome, 2), np.ones((2 * len(outcome), 1))
    indicators = np.tile(np.linalg.inv(channel).T, (len(outcome), 1))
    theta = np.array([0, separation_in_sd, np.log(share / (1 - share)), 0])
    law = EquationLaw(evidence, y, "linear", indicators)
    moments = RowLikelihood(law, (ones, ones), weights)
    bread = np.linalg.inv(moments.slope(theta[:2]).information)
    scores = moments.scores(theta[:2]) / np.sqrt(weights)[:, None]
    mixture = RowLikelihood(
        OutcomeLaw(evidence, y, "normal"), (ones,) * 4, weights
    ).scores(theta)
    mixture /= np.sqrt(weights)[:, None]
    return {
        "moments_n_variance": float((bread @ scores.T @ scores @ bread)[1, 1]),
        "normal_mixture_n_variance": float(np.linalg.inv(mixture.T @ mixture)[1, 1]),
    }
