"""Section A of the frontier sheet: an exact outcome by the protected answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

import deniable as dn
from deniable.estimates.linear import floats
from deniable.estimates.sampling import category_values
from tests.golden.runner import quantity

Z = float(norm.ppf(0.975))
VALUES = np.array(["low", "high"], object)


def sent(
    response: Sequence[int],
    rate: Sequence[float] | None = None,
    matrix: Any = None,
) -> Any:
    """Read responses to Chrome's device with a rate for each row, or to one printed matrix."""
    if rate is not None:
        return dn.read_confidence(list(VALUES[list(response)]), rate)
    return dn.Responses.of(k_ary(matrix), response, codes=True)


def k_ary(matrix: Any) -> dn.Design:
    """Return the design whose printed probabilities need not add up to exactly 1."""
    return dn.k_ary(len(matrix), p=repr(matrix[0][0]))


def ends(found: Any, name: str) -> list[Any]:
    """The sheet takes the normal quantile, and ours is Student's: we ask at the level at which that is the same."""
    df = found.degrees[0] if hasattr(found, "degrees") else found.df
    low, high = found.interval(name, level=2 * student.cdf(Z, df) - 1)
    return [low, high]


@quantity("confidence_channel")
def confidence_channel(rate: float) -> dict[str, Any]:
    (part,) = dn.read_confidence(["low", "high"], rate)
    design = part.design
    return {
        "matrix": floats(design.channel),
        "epsilon": design.epsilon,
        "weights": inverse_weights(floats(design.channel).tolist())["weights"],
    }


@quantity("inverse_weights")
def inverse_weights(matrix: list[list[float]]) -> dict[str, Any]:
    size = len(matrix[0])
    if size == 2:
        design = dn.warner(p=repr(matrix[0][0]))
    elif len(matrix) == size:
        design = k_ary(matrix)
    else:
        odds = max(matrix[0]) / min(matrix[0])
        design = dn.subset(size, math.log(odds), t=2)
    symbols = list(design.symbols)
    if len(matrix) > size:  # bits say which answers are in a subset
        symbols = ["b" + "".join("01"[p == max(row)] for p in row) for row in matrix]
    return {"weights": category_values(dn.Responses.of(design, symbols)).values.T}


@quantity("by_answer")
def by_answer(
    y: Any,
    response: Any,
    rate: Any = None,
    matrix: Any = None,
    weights: Any = None,
    cluster: Any = None,
) -> dict[str, Any]:
    sampling = None
    if weights is not None:
        sampling = dn.Sampling(weights, clusters=cluster)
    found = dn.by_answer(y, sent(response, rate, matrix), sampling=sampling)
    counts = found.about("share").total
    return {
        "count": list(counts.params.values()),
        "count_se": list(counts.bse.values()),
        "total": list(found.total.params.values()),
        "total_se": list(found.total.bse.values()),
        "mean": list(found.params.values()),
        "se": list(found.bse.values()),
        "cov": found.cov_params(),
        "fieller": [["bounded", *ends(found, name)] for name in found.params],
    }


@quantity("by_answer_difference")
def by_answer_difference(y: Any, response: Any, rate: Any) -> dict[str, Any]:
    found = dn.by_answer(y, sent(response, rate)).about("difference")
    (name,) = found.params
    return {
        "difference": found.params[name],
        "se": found.bse[name],
        "fieller": ["bounded", *ends(found, name)],
    }


@quantity("by_answer_device_weighted")
def by_answer_device_weighted(
    y: Any, response: Any, rate: Any, answer: int
) -> dict[str, Any]:
    found = dn.by_answer(y, sent(response, rate), device_weights=True)
    plain = dn.by_answer(y, sent(response, rate))
    name = VALUES[answer]
    return {
        "mean": found.params[name],
        "se": found.bse[name],
        "unweighted": plain.params[name],
    }


@quantity("by_answer_quantile")
def by_answer_quantile(
    y: Any, response: Any, rate: Any, answer: int, tau: float
) -> dict[str, Any]:
    found = dn.quantiles_by_answer(y, sent(response, rate), [tau])
    name = list(found.params)[answer]
    value = found.params[name]
    low, high = ends(found, name)
    sides = {"left": value, "right": value}  # of all entries both are the same
    return {"quantile": value, **sides, "lower": low, "upper": high}


@quantity("mdn_percentile")
def mdn_percentile(
    y: Any, response: Any, rate: Any, answer: int, tau: float
) -> float:
    responses = sent(response, rate)
    found = dn.quantiles_by_answer(y, responses, [tau], interpolation="mdn")
    return list(found.params.values())[answer]


@quantity("by_answer_law")
def by_answer_law(group: Any, y: Any, rate: Any) -> dict[str, Any]:
    """Average the census over all responses that people may send; its variance is unbiased, so both agree exactly."""
    sums = np.zeros((4, 2))
    for responses in product((0, 1), repeat=len(y)):
        truths = np.array(responses) == group
        chance = np.prod(
            np.where(truths, 1 - np.array(rate) / 2, np.array(rate) / 2)
        )
        found = dn.by_answer(y, sent(responses, rate), population=len(y))
        parts = (found.about("share").total, found.total)
        numbers = [list(part.params.values()) for part in parts]
        variances = [np.diagonal(part.covariance) for part in parts]
        sums += chance * np.array([*numbers, *variances])
    names = ("count", "total", "count_variance", "total_variance")
    return dict(zip(names, sums.tolist(), strict=True))


@quantity("by_answer_plan")
def by_answer_plan(
    rate: float, share: float, sd: float, sd_others: float, gap: float
) -> dict[str, float]:
    (part,) = dn.read_confidence(["high"], rate)
    variance = dn.plan.mean_variance(
        part.design, 1, share=share, sd=sd, sd_others=sd_others, gap=gap
    )
    return {"n_variance": variance}
