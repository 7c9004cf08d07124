"""Gradual release: relaxation, ladders, attacks."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import deniable as dn
from deniable import exact
from deniable.criteria import least_bayes_error
from deniable.estimates import covariance
from deniable.order.relaxation import best_sizes, ladder, nearest_successors, relax
from deniable.order.sets import Nested
from deniable.order.steps import KeepOrFresh
from tests.golden.runner import document, quantity


def k_ary_step(eps1: float, eps2: float, m: int) -> dict[str, float]:
    step = relax(dn.k_ary(m, epsilon=eps1), dn.k_ary(m, epsilon=eps2)).step
    found = {
        "paa": step.kernel(0, old=0, given=0),
        "pba": step.kernel(0, old=1, given=0),
        "pbb": step.kernel(1, old=1, given=0),
    }
    if m > 2:
        found["pbc"] = step.kernel(2, old=1, given=0)
    return {name: float(each) for name, each in found.items()}


quantity("relax_kary")(k_ary_step)


@document("004", "paa", "pba", "pbb")
def table(entry: dict[str, Any]) -> float:
    return k_ary_step(**entry["inputs"])[entry["topic"]]


@quantity("relax_joint_eps")
def chain(eps_list: list[float], m: int) -> dict[str, float]:
    stages = ladder(dn.k_ary(m, epsilon=each) for each in eps_list)
    return {
        "chain": stages.epsilon,
        "last_query_alone": stages.relaxations[-1].alone_epsilon,
    }


@document("004", "stand-alone eps of the relaxation query")
def alone(entry: dict[str, Any]) -> float:
    inputs = entry["inputs"]
    return relax(
        dn.warner(epsilon=inputs["eps1"]), dn.warner(epsilon=inputs["eps2"])
    ).alone_epsilon


@document("004", "eps of the composition")
def composed(entry: dict[str, Any]) -> float:
    inputs = entry["inputs"]
    return ladder(
        [dn.warner(epsilon=inputs["eps1"]), dn.warner(epsilon=inputs["eps2"])]
    ).epsilon


@document("004", "retention probability (g-1)/(g+m-1), m=3")
def retention(entry: dict[str, Any]) -> list[float]:
    """The part that is kept when the truth itself is degraded to a k-ary response."""
    m = entry["inputs"]["m"]
    truth = dn.direct([str(each) for each in range(m)])
    found = []
    for epsilon in entry["inputs"]["eps"]:
        step = relax(
            dn.k_ary([str(each) for each in range(m)], epsilon=epsilon), truth
        ).step
        found.append(float(step.garbling(0, 0) - step.garbling(0, 1)))
    return found


@document("004", "variance of the relaxed estimate, N=1000")
def relaxed_variance(entry: dict[str, Any]) -> float:
    n = entry["inputs"]["N"]
    return float(
        covariance(
            dn.warner(epsilon=entry["inputs"]["eps"]), [0.4, 0.6], n, population=n
        )[1, 1]
    )


@document("004", "smallest attack error")
def smallest_error(entry: dict[str, Any]) -> float:
    m = entry["inputs"]["m"]
    return float(
        least_bayes_error(
            dn.k_ary(m, epsilon=entry["inputs"]["eps"]).parity, [Fraction(1, m)] * m
        )
    )


@quantity("relax_tsubset")
def sets(
    k: int, t1: int, gamma1: float, t2: int, gamma2: float, o1: list[int], x: int
) -> dict[str, Any]:
    one, two = (
        dn.subset(
            k, t=t, p=t * Fraction(str(gamma)) / (t * Fraction(str(gamma)) + k - t)
        )
        for t, gamma in ((t1, gamma1), (t2, gamma2))
    )
    step = relax(one, two).step
    assert isinstance(step, KeepOrFresh | Nested)
    beta = step.share if isinstance(step, KeepOrFresh) else step.shares[0].near
    held = sum(1 << j for j in o1)
    fine = sorted(
        [j for j in range(k) if number >> j & 1]
        for number in range(1 << k)
        if number.bit_count() == t2
    )
    law = [
        [
            members,
            float(step.kernel(sum(1 << j for j in members), old=held, given=x)),
        ]
        for members in fine
    ]
    return {"beta": float(beta), "law": law}


@quantity("bridge_weight")
def bridge(k: int, t1: int, gamma1: float, t2: int, gamma2: float) -> float:
    shares = [t * exact.rational(g) for t, g in ((t1, gamma1), (t2, gamma2))]
    first, second = (
        dn.subset(k, t=t, p=share / (share + k - t))
        for t, share in zip((t1, t2), shares, strict=True)
    )
    return float(nearest_successors(first, second)[0].channel.weight(t1))


@quantity("best_ordered_t_sequence")
def sequence(k: int, gammas: list[float]) -> dict[str, Any]:
    found = best_sizes(k, gammas)
    return {"t": list(found.sizes), "total_max_risk": float(found.risk)}


@quantity("attack_errors")
def attacks(
    eps_list: list[float], m: int, weights: list[float] | None = None
) -> dict[str, float]:
    stages = ladder(dn.k_ary(m, epsilon=each) for each in eps_list)
    rates = dn.attacks.error_rates(stages, weights=weights)
    assert math.isclose(rates["maximum likelihood"], rates["last output"])
    assert not rates.beaten()
    return {
        "last_output": rates["last output"],
        "highest_frequency": rates["highest frequency"],
        "weighted_highest_frequency": rates["weighted highest frequency"],
        "frequency": rates["weighted highest frequency"],
    }
