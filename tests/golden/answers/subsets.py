"""Sets of categories: t-subset designs, their mixtures, RAPPOR (document 001, chapters 6 and 7)."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

import deniable as dn
from deniable.designs import best_t, mixture_risk, subset_information, subset_risk
from deniable.errors import ImplausibleResponses
from deniable.estimates import covariance
from tests.golden.runner import document, fractions, quantity
from tests.support.sets import with_sums


def designed(k: int, t: int, gamma: float) -> dn.Design:
    """The design of parity γ itself, not of the next weights below it."""
    ratio = fractions(gamma)
    return dn.subset(k, t=t, p=t * ratio / (t * ratio + k - t))


def total(
    design: dn.Design, shares: list[float], method: str = "inversion"
) -> float:
    return float(np.trace(covariance(design, shares, 1, method=method)))


@quantity("tsubset_design")
def tsubset_design(k: int, t: int, gamma: float) -> dict[str, Any]:
    channel = designed(k, t, gamma).channel
    a = subset_information(k, t, fractions(gamma))
    sent = [
        channel.probability(response, given=0)
        for response in range(channel.responses)
    ]
    return {
        "rows": sum(each > 0 for each in sent),
        "small": min(each for each in sent if each),
        "large": max(sent),
        "p_contains": channel.inclusion(t),
        "a": a,
        "b": 1 - a / k,
        "max_risk": subset_risk(k, t, fractions(gamma)),
    }


@quantity("tsubset_best")
def tsubset_best(k: int, gamma: float) -> dict[str, Any]:
    q = best_t(k, fractions(gamma))
    risks = {str(t): subset_risk(k, t, fractions(gamma)) for t in range(1, k)}
    return {"q": q, "risk": risks[str(q)], "all": risks}


@quantity("tsubset_estimate")
def tsubset_estimate(
    k: int, t: int, gamma: float, column_sums: list[int], n: int
) -> list[float]:
    tally = with_sums(designed(k, t, gamma), column_sums, n)
    return dn.estimate(tally).value.tolist()


@quantity("tsubset_cov")
def tsubset_cov(
    k: int, t: int, gamma: float, pi: list[float], n: int
) -> list[list[float]]:
    return covariance(designed(k, t, gamma), pi, n).tolist()


def flipped(gamma: float) -> float:
    return 1 / (math.sqrt(gamma) + 1)


@quantity("rappor_design")
def rappor_design(k: int, gamma: float, pi: list[float]) -> dict[str, Any]:
    plain, truncated = (
        dn.rappor(k, f=flipped(gamma)),
        dn.truncated_rappor(k, f=flipped(gamma)),
    )
    return {
        "weights": [plain.channel.weight(t) for t in range(k + 1)],
        "parity": plain.parity,
        "risk_empirical": total(plain, pi, "customary"),
        "risk_minimax_estimator": total(plain, pi),
        "risk_truncated": total(truncated, pi),
    }


@quantity("rappor_estimates")
def rappor_estimates(
    k: int, gamma: float, reports: list[list[int]]
) -> dict[str, list[float]]:
    tally = dn.tally(dn.rappor(k, f=flipped(gamma)), np.array(reports))
    with warnings.catch_warnings():
        # eight responses, made up
        warnings.simplefilter("ignore", ImplausibleResponses)
        return {
            "empirical": dn.estimate(tally, method="customary").value.tolist(),
            "minimax": dn.estimate(tally).value.tolist(),
        }


@quantity("mixture_risk")
def risk_of_mixture(
    k: int, gamma: float, weights: list[float], pi: list[float]
) -> float:
    return float(mixture_risk(k, fractions(gamma), weights, shares=pi))


@quantity("figure7")
def figure7(k: int, gamma: float, pi: str) -> dict[str, float]:
    assert pi == "uniform"
    shares = [1 / k] * k
    q = best_t(k, fractions(gamma))
    plain, truncated = (
        dn.rappor(k, f=flipped(gamma)),
        dn.truncated_rappor(k, f=flipped(gamma)),
    )
    risks = {
        "risk_empirical": total(plain, shares, "customary"),
        "risk_minimax_estimator": total(plain, shares),
        "risk_truncated": total(truncated, shares),
        "risk_q_subset": total(designed(k, q, gamma), shares),
    }
    return {
        "q": q,
        **risks,
        "ratio_q": risks["risk_q_subset"] / risks["risk_empirical"],
        "ratio_minimax_estimator": risks["risk_minimax_estimator"]
        / risks["risk_empirical"],
    }


@document("001", "q and m_q")
def table_1(entry: dict[str, Any]) -> list[int]:
    k, gamma = entry["inputs"]["k"], fractions(entry["inputs"]["gamma"])
    channel = designed(k, best_t(k, gamma), gamma).channel
    return [channel.ones, channel.sets]


@document("001", "t-subset small value")
def small_value(entry: dict[str, Any]) -> float:
    return float(tsubset_design(**entry["inputs"])["small"])


@document("001", "t-subset inclusion probability")
def inclusion(entry: dict[str, Any]) -> float:
    k, t, gamma, share = (
        entry["inputs"][name] for name in ("k", "t", "gamma", "pi_j")
    )
    channel = designed(k, t, gamma).channel
    return float(channel.p_true) * share + float(channel.p_false) * (1 - share)


@document("001", "minimax risk", "minimax risk approximation")
def minimax_risk(entry: dict[str, Any]) -> float:
    k, gamma = entry["inputs"]["k"], fractions(entry["inputs"]["gamma"])
    return float(subset_risk(k, best_t(k, gamma), gamma))


@document("001", "tie f(1)=f(2)")
def tie(entry: dict[str, Any]) -> list[float]:
    k, gamma = entry["inputs"]["k"], fractions(entry["inputs"]["gamma"])
    return [float(k + (k - 1) * subset_information(k, t, gamma)) for t in (1, 2)]


@document("001", "empirical RAPPOR risk")
def empirical_risk(entry: dict[str, Any]) -> float:
    k, gamma, shares = (entry["inputs"][name] for name in ("k", "gamma", "pi"))
    return total(dn.rappor(k, f=flipped(gamma)), shares, "customary")
