"""Section F of the frontier sheet: the error of shares that are projected onto the simplex."""

from __future__ import annotations

import numpy as np

import deniable as dn
from deniable.estimates import covariance
from deniable.estimates.simplex import projected_error as mean_field
from deniable.estimates.simplex import projection
from tests.golden.runner import Uncovered, quantity


def shares_called(name: str, k: int) -> list[float]:
    weights = {
        "even": np.ones(k),
        "zipf": 1 / np.arange(1, k + 1),
        "five": (np.arange(k) < 5).astype(float),
        "half": np.where(np.arange(k) == 0, k - 1.0, 1.0),
    }[name]
    return (weights / weights.sum()).tolist()


def design_called(name: str, k: int, epsilon: float) -> dn.Design:
    if name == "k_ary":
        return dn.k_ary(k, epsilon)
    if name != "oue":
        raise Uncovered(name)
    return dn.unary(k, epsilon, optimized=True, by_size=False)


@quantity("project")
def project(estimate: list[float]) -> list[float]:
    return projection(np.array(estimate)).tolist()


@quantity("projected_error", relative=True)
def projected_error(
    design: str, answers: int, n: int, epsilon: float, shares: str
) -> dict[str, float]:
    """Of bits the sheet has the customary estimate; ours sums to one, varies less, and is projected to the same."""
    asked, true = (
        design_called(design, answers, epsilon),
        shares_called(shares, answers),
    )
    method = "customary" if design == "oue" else "inversion"
    variances = np.diagonal(covariance(asked, true, n, method=method))
    answer = dict(dn.plan.total_error(asked, n=n, shares=true).lines[0])
    mean = mean_field(np.array(true), variances)
    if design == "k_ary":
        planned = answer["unbiased"], answer["projected"]
        np.testing.assert_allclose(planned, (variances.sum(), mean))
    return {
        "unbiased": float(variances.sum()),
        "projected": float(answer["simulated"]),
        "mean_field": mean,
    }


@quantity("projected_sample_size", relative=True)
def projected_sample_size(
    design: str,
    answers: int,
    epsilon: float,
    shares: str,
    total_squared_error: float,
) -> dict[str, float]:
    plan = dn.plan.total_error(
        design_called(design, answers, epsilon),
        error=total_squared_error,
        shares=shares_called(shares, answers),
    )
    return {
        "n": plan.value,
        "n_unbiased": plan.lines[0]["people without projection"],
    }  # type: ignore[dict-item]
