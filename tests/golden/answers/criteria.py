"""Criteria of document 001 and the two-answer optimum of document 002, answered with the public API."""

from __future__ import annotations

from typing import Any

import deniable as dn
from deniable import criteria
from deniable.estimates import covariance, coverage
from tests.golden.runner import document, fractions, quantity


@quantity("posterior_bound")
def posterior_bound(gamma: float, prior: float) -> dict[str, float]:
    bounds = criteria.posterior_bounds(gamma, prior)
    return {"upper": float(bounds.upper), "lower": float(bounds.lower)}


@quantity("B_of_h")
def privacy_demand(kind: str, **inputs: Any) -> float:
    match kind:
        case "rho":
            demand: criteria.Criterion = criteria.RhoToRho(
                inputs["rho1"], inputs["rho2"]
            )
        case "beta":
            demand = criteria.BetaFactor(inputs["beta"])
        case _:
            points = list(zip(inputs["p"], inputs["h"], strict=True))
            demand = criteria.Boundaries(upper=points)
    return float(demand.parity)


@quantity("bayes_error")
def bayes_error(P: list[list[float]], prior: list[float]) -> float:
    return float(criteria.bayes_error(dn.matrix(fractions(P)), prior))


@quantity("binary_optimal")
def binary_optimal(eps: float, delta: float, pi: float) -> dict[str, float]:
    """The theorem of 002 knows nothing of exposure, so the design that exposes people is asked for by name."""
    choice = dn.optimal_binary(eps, delta, share=pi, expose=True)
    no, yes = (
        float(choice.design.probability(name, given=name))
        for name in choice.design.categories
    )
    return {"var": choice.variance, "p00": no, "p11": yes}


@document("001", "B(h) for rho1-to-rho2")
def demand_of_rho(entry: dict[str, Any]) -> float:
    return float(criteria.RhoToRho(**entry["inputs"]).parity)


@document("001", "upper posterior boundary")
def upper_boundary(entry: dict[str, Any]) -> float:
    return float(criteria.posterior_bounds(**entry["inputs"]).upper)


@document("002", "g(eps,delta)")
def threshold(entry: dict[str, Any]) -> float:
    return dn.exposure_threshold(entry["inputs"]["eps"], entry["inputs"]["delta"])


@document("002", "variance at t=1")
def variance_of_the_even_design(entry: dict[str, Any]) -> float:
    inputs = entry["inputs"]
    return variance(dn.relaxed_warner(inputs["eps"], inputs["delta"]), inputs["pi"])


@document("002", "variance at t0")
def variance_of_the_exposing_design(entry: dict[str, Any]) -> float:
    inputs = entry["inputs"]
    return variance(exposing(inputs, rare=True), inputs["pi"])


@document("002", "variance at the mirrored end point")
def variance_of_the_wrong_exposing_design(entry: dict[str, Any]) -> float:
    inputs = entry["inputs"]
    return variance(exposing(inputs, rare=False), inputs["pi"])


@document("002", "Var(1,delta)-Var(sym)")
def difference(entry: dict[str, Any]) -> float:
    return variance_of_the_exposing_design(entry) - variance_of_the_even_design(
        entry
    )


@document("002", "coverage of 4.5 sigma")
def chebyshev(entry: dict[str, Any]) -> float:
    return coverage(entry["inputs"]["multiple"], "chebyshev")


@document("002", "coverage of 1.96 sigma")
def normal(entry: dict[str, Any]) -> float:
    return coverage(entry["inputs"]["multiple"])


def exposing(inputs: dict[str, float], *, rare: bool) -> dn.Design:
    """The design (1, δ) or (δ, 1): the one for the rarer answer, or the other one."""
    return dn.exposing_binary(
        inputs["delta"], telling="yes" if (inputs["pi"] <= 0.5) is rare else "no"
    )


def variance(design: dn.Design, share: float) -> float:
    return float(covariance(design, [1 - share, share], 1)[1, 1])
