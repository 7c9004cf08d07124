"""Key-value designs and weighted bipartite graphs: the second half of document 000."""

from __future__ import annotations

from typing import Any

from deniable.exact import exp_below
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import lpp, lpp_ddagger, pckv_ue
from deniable.types.key_value.estimate import estimate
from deniable.types.key_value.respond import symbol_design
from tests.golden.runner import document, fractions, quantity
from tests.support.item_moments import moments

NAMES = ("degree", "weight", "var_degree", "var_weight", "cov")


@quantity("lpp_eps")
def lpp_eps(eps1: float, eps2: float, fake_weight: float) -> float:
    return lpp(2, eps1, eps2, fake_weight=fake_weight).epsilon


@quantity("lpp_moments")
def lpp_moments(
    eps1: float, eps2: float, edges: list[float | None], m: int
) -> dict[str, float]:
    found = moments(lpp_ddagger(m, epsilon1=eps1, epsilon2=eps2), edges)
    return {name: float(getattr(found, name)) for name in NAMES}


@quantity("lpp_estimate")
def lpp_estimate(
    eps1: float, eps2: float, m: int, n_zero: int, n_plus: int, n_minus: int
) -> dict[str, float]:
    counts = [[n_zero, n_plus, n_minus], *([[0, 0, 0]] * (m - 1))]
    tally = KeyValueTally(
        lpp_ddagger(m, epsilon1=eps1, epsilon2=eps2),
        counts,
        n_zero + n_plus + n_minus,
    )
    found = estimate(tally, scaling="fixed")
    return {"degree": float(found.degree[0]), "weight": float(found.weight[0])}


@quantity("pckv_eps")
def pckv_eps(a: float, b: float, p: float, positions: int) -> dict[str, float]:
    design = pckv_ue(positions, a=a, b=b, p=p, padding=1)
    return {"vector": design.epsilon, "coordinate": symbol_design(design).epsilon}


@quantity("pckv_moments")
def pckv_moments(
    a: float, b: float, p: float, edges: list[float | None], ell: int
) -> dict[str, float]:
    found = moments(pckv_ue(2 * ell, a=a, b=b, p=p, padding=ell), edges)
    return {name: float(getattr(found, name)) for name in NAMES}


@document("000", "LPP-ddagger eps")
def ddagger_epsilon(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    return lpp_ddagger(2, epsilon1=given["eps1"], epsilon2=given["eps2"]).epsilon


@document("000", "LPP eps, uniform hidden fake weight")
def lpp_epsilon(entry: dict[str, Any]) -> float:
    return lpp(2, entry["inputs"]["eps1"], entry["inputs"]["eps2"]).epsilon


@document("000", "PCKV-UE eps (one-hot vector)")
def pckv_epsilon(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    odds = exp_below(given["eps2"])
    return pckv_ue(
        2,
        a=fractions(given["a"]),
        b=fractions(given["b"]),
        p=odds / (odds + 1),
        padding=1,
    ).epsilon
