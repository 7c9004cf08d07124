"""Two samples, several devices, other packages' parameters: what is not one design and one tally."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.estimates import best_split, left_inverse
from tests.golden.runner import Uncovered, fractions, quantity
from tests.support.survey_designs import cost


@quantity("unrelated_two_sample")
def unrelated_two_sample(
    p1: float, p2: float, yes1: int, n1: int, yes2: int, n2: int
) -> dict[str, float]:
    found = dn.unrelated_two_samples(
        p=fractions([p1, p2]), yes=[yes1, yes2], respondents=[n1, n2]
    )
    return {
        "pi": found.params["sensitive"],
        "se": found.bse["sensitive"],
        "b": found.params["innocuous"],
        "b_se": found.bse["innocuous"],
        "cov": found.cov_params()[0, 1],
    }


@quantity("unrelated_allocation")
def unrelated_allocation(
    p1: float, p2: float, pi: float, b: float
) -> dict[str, float]:
    first, variance = best_split(fractions([p1, p2]), sensitive=pi, innocuous=b)
    return {"share": first, "n_variance": variance}


@quantity("read_convention")
def read_convention(package: str, model: str, params: dict[str, Any]) -> Any:
    """The second reading of GLMMRR has a model of its own in the file; otherwise its own documentation holds."""
    reading = None
    if package == "GLMMRR" and model.startswith("Forced"):
        model, _, reading = model.partition("-")
    given = {
        name: value if isinstance(value, int) else fractions(value)
        for name, value in params.items()
    }
    try:
        design = dn.survey_design(
            package,
            model,
            reading=reading if reading is None else reading or "conditional",
            **given,
        )
    except InvalidRequest as error:
        raise Uncovered(str(error)) from None
    return design.channel.floats().tolist()


@quantity("two_responses_per_person")
def two_responses_per_person(
    kind: str, p1: float, p2: float, first: list[int], second: list[int]
) -> dict[str, Any]:
    """Both boxes answered by everybody: the two-sample estimate of each person alone, whatever the innocuous answer."""
    if kind != "horvitz":
        raise Uncovered(f"no pair of boxes is called {kind!r}")
    alone = dn.unrelated_two_samples(
        p=fractions([p1, p2]), yes=[0, 0], respondents=[2, 2]
    )
    r = np.array([first, second]).T @ alone.model.weights[0]
    return {
        "r": r,
        "v": r * (r - 1),
        "mean": r.mean(),
        "se_srs": r.std(ddof=1) / len(r) ** 0.5,
    }


@quantity("prevalence_rows")
def prevalence_rows(
    z: list[int], u: list[float], v: list[float]
) -> dict[str, float]:
    """Rows with the same probabilities were asked with one device. The mean of what rows say is that of strata."""
    devices = list(zip(u, v, strict=True))
    designs = {
        pair: dn.binary(1 - fractions(pair[0]), fractions(pair[1]))
        for pair in dict.fromkeys(devices)
    }
    tallies = dn.tally(designs, z, devices=devices, codes=True)
    strata, likely = (
        dn.estimate(tallies, method="strata"),
        dn.estimate(tallies, method="likelihood"),
    )
    mean = strata.params["yes"]
    squares = [
        part.tally.counts
        @ (left_inverse(part.tally.design.channel).inverse[1] - mean) ** 2
        for part in strata.evidence.parts
    ]
    return {
        "mean_r": mean,
        "se_r": math.sqrt(sum(squares) / (len(z) - 1) / len(z)),
        "ml": likely.params["yes"],
        "ml_se": likely.bse["yes"],
    }


@quantity("latent_given_response")
def latent_given_response(u: float, v: float, mu: float, y: int) -> float:
    design = dn.binary(1 - fractions(u), fractions(v))
    return float(cost(design, fractions(mu)).posteriors[y])
