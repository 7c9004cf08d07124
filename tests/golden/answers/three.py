"""Three-answer designs: document 000, without its key-value part."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.designs.three_answers_best import Club, optimum
from deniable.estimates import covariance
from deniable.exact import exp_below
from deniable_papers.rr3 import p1_range
from tests.golden.runner import document, fractions, quantity
from tests.support import three_answers as closed_form

BUILDERS = {"dagger": dn.rr3_dagger, "ddagger": dn.rr3_ddagger, "club": dn.rr3_club}


@quantity("rr3_family")
def rr3_family(
    name: str,
    p1: float,
    p2: float,
    counts: list[int],
    pi: list[float],
    n: int,
    q: float | None = None,
) -> dict[str, Any]:
    design = BUILDERS[name](*[each for each in (p1, p2, q) if each is not None])
    rows = design.channel.dense()
    return {
        "P": [
            [float(rows.probability(i, given=j)) for j in range(3)] for i in range(3)
        ],
        "eps": design.epsilon,
        "estimate": dn.estimate(dn.Tally(design, counts)).value.tolist(),
        "cov": covariance(design, pi, n).tolist(),
    }


@quantity("rr3_dagger_optimum")
def rr3_dagger_optimum(eps: float, pi0: float) -> dict[str, float]:
    others = (1 - fractions(pi0)) / 2
    best = optimum(
        "rr3_dagger",
        exp_below(eps),
        importance=(1, 0, 0),
        guess=(fractions(pi0), others, others),
    )
    return {
        "var": best.risk,
        "p1": float(best.parameters[0]),
        "p2": float(best.parameters[1]),
    }


@document("000", "EWRRn variance", "EWRR3 variance")
def ewrr_variance(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    size = given.get("n", 3)
    rest = (1 - given["pi0"]) / (size - 1)
    shares = [given["pi0"], *[rest] * (size - 1)]
    return float(covariance(dn.k_ary(size, p=given["p"]), shares, given["N"])[0, 0])


@document("000", "RR3-dagger estimate", "RR3-ddagger estimate", "RR3-club estimate")
def rr3_estimate(entry: dict[str, Any]) -> Any:
    value = dn.estimate(dn.Tally(built(entry), entry["inputs"]["counts"])).value
    which = entry["id"].rpartition("-pi")[2]
    return float(value[int(which)]) if which.isdecimal() else value[:2].tolist()


@document(
    "000",
    "RR3-dagger Var(pi0)",
    "RR3-dagger Var(pi1)",
    "RR3-ddagger Var(pi0)",
    "RR3-club Var(pi0)",
)
def rr3_variance(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    number = int(entry["topic"][-2])
    return float(
        np.diagonal(covariance(built(entry), given["pi"], given["N"]))[number]
    )


@document("000", "RR3-dagger dVar/dp2")
def rr3_slope(entry: dict[str, Any]) -> float:
    """The difference quotient over 10⁻¹² on both sides, in rationals."""
    given = {name: fractions(value) for name, value in entry["inputs"].items()}
    step = Fraction(1, 10**12)
    shares = (given["pi0"], (1 - given["pi0"]) / 2, (1 - given["pi0"]) / 2)
    up, down = (
        closed_form.covariance(Club.dagger(given["p1"], given["p2"] + side), shares)[
            0
        ][0]
        / given["N"]
        for side in (step, -step)
    )
    return float((up - down) / (2 * step))


@document("000", "RR3-dagger eps")
def rr3_epsilon(entry: dict[str, Any]) -> float:
    return built(entry).epsilon


@document("000", "RR3-dagger largest p1 at p2=1/3")
def rr3_largest_p1(entry: dict[str, Any]) -> float:
    found = p1_range(
        "rr3_dagger", "1/3", gamma=fractions(entry["inputs"]["exp_eps"])
    )
    assert found is not None
    return float(found[1])


def built(entry: dict[str, Any]) -> dn.Design:
    given = entry["inputs"]
    family = entry["topic"].split()[0].removeprefix("RR3-")
    return BUILDERS[family](
        *[given[name] for name in ("p1", "p2", "q") if name in given]
    )
