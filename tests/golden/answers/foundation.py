"""One function for each quantity of a golden file, answering it with the public API."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

import deniable as dn
from deniable.errors import ImplausibleResponses
from deniable.estimates import covariance, left_inverse
from tests.golden.runner import fractions, quantity


def number(value: Any) -> float:
    return math.inf if value == math.inf else float(value)


@quantity("parity_eps_delta")
def parity_eps_delta(P: list[list[float]], eps_grid: list[float]) -> dict[str, Any]:
    design = dn.matrix(fractions(P))
    return {
        "parity": number(design.parity),
        "eps": design.epsilon,
        "delta": [design.delta(epsilon) for epsilon in eps_grid],
    }


@quantity("inverse_estimate")
def inverse_estimate(P: list[list[float]], counts: list[int]) -> list[float]:
    return dn.estimate(dn.Tally(dn.matrix(fractions(P)), counts)).value.tolist()


@quantity("covariance")
def theoretical_covariance(
    P: list[list[float]] | None = None,
    *,
    model: str = "census",
    pi: list[float] | None = None,
    counts: list[int] | None = None,
    n: int | None = None,
    m: int | None = None,
    eps: float | None = None,
) -> Any:
    """Entries with m and eps ask for the variances of k-ary shares in a census; the others for the whole matrix."""
    people = sum(counts) if counts else None
    shares = pi or [count / people for count in counts]
    population = {"sampling": None, "census": people, "srswor": people}[model]
    if P is None:
        design = dn.k_ary(m, eps)
        return np.diagonal(
            covariance(design, shares, people, population=people)
        ).tolist()
    return covariance(
        dn.matrix(fractions(P)), shares, n or people, population=population
    ).tolist()


@quantity("covariance_estimate")
def covariance_estimate(
    P: list[list[float]], counts: list[int], f: float
) -> list[list[float]]:
    """A population N gives f = (N − n)/(N − 1); f = 1 is the limit of very many people."""
    people = sum(counts)
    population = None if f == 1 else round((people - f) / (1 - f))
    tally = dn.Tally(dn.matrix(fractions(P)), counts)
    return dn.estimate(tally, population=population).cov_params().tolist()


@quantity("blue_at")
def blue_at(P: list[list[float]], pi: list[float]) -> dict[str, Any]:
    design = dn.matrix(fractions(P))
    risk = np.trace(covariance(design, pi, 1, guess=pi))
    return {
        "L": left_inverse(design.channel, guess=np.array(pi)).inverse.tolist(),
        "risk": risk,
    }


@quantity("mle_gamma_diagonal")
def mle_gamma_diagonal(k: int, gamma: float, counts: list[int]) -> list[float]:
    design = dn.k_ary(k, p=fractions(gamma) / (fractions(gamma) + k - 1))
    with warnings.catch_warnings():
        # these counts lie outside on purpose
        warnings.simplefilter("ignore", ImplausibleResponses)
        return dn.estimate(
            dn.Tally(design, counts), method="likelihood"
        ).value.tolist()


@quantity("binary_design")
def binary_design(
    p00: float, p11: float, pi: float, n: int, N1: int
) -> dict[str, float]:
    design = dn.binary(p00, p11)
    return {
        "estimate": dn.estimate(dn.Tally(design, [n - N1, N1])).params["yes"],
        "var": covariance(design, [1 - pi, pi], n)[1, 1],
        "eps": design.epsilon,
    }
