"""Planning: sizes, widths, power, what people who do not comply make of it, and the best design under caps."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any
from unittest.mock import patch

import deniable as dn
from tests.golden.named import named
from tests.golden.runner import fractions, quantity


@quantity("power")
def power(
    design: str,
    params: dict[str, Any],
    n: int,
    pi: float,
    null: float = 0.0,
    alpha: float = 0.05,
    sides: int = 1,
    method: str = "normal",
) -> float:
    asked = named(design, **params)
    return dn.plan.power(
        asked,
        n,
        share=pi,
        null=null,
        alpha=alpha,
        two_sided=sides == 2,
        method=method,
    )


@quantity("sample_size")
def sample_size(
    design: str,
    params: dict[str, Any],
    pi: float,
    power_: float = 0.8,
    null: float = 0.0,
    alpha: float = 0.05,
    sides: int = 1,
    method: str = "normal",
) -> float:
    asked = named(design, **params)
    return dn.plan.how_many(
        asked,
        share=pi,
        power=power_,
        null=null,
        alpha=alpha,
        two_sided=sides == 2,
        method=method,
    ).value


@quantity("width_assurance")
def width_assurance(
    design: str,
    params: dict[str, Any],
    pi: float,
    width: float,
    level: float = 0.95,
    assurance: float = 0.8,
) -> float:
    """The sheet's interval is value ± z·error; ours takes Student's t, which asks for more people."""
    requested = {"share": pi, "width": width, "level": level, "assurance": assurance}
    z = NormalDist().inv_cdf((1 + level) / 2)
    with patch("deniable.plan.people._t_quantile", lambda df, level: z):  # noqa: ARG005 - as it is called
        n = dn.plan.how_many(named(design, **params), **requested).value
    assert (
        n <= dn.plan.how_many(named(design, **params), **requested).value <= 1.02 * n
    )
    return n


@quantity("detectable_share")
def detectable_share(
    design: str,
    params: dict[str, Any],
    n: int,
    power_: float = 0.8,
    null: float = 0.0,
    alpha: float = 0.05,
) -> float:
    return dn.plan.how_small(
        named(design, **params),
        n,
        power=power_,
        null=null,
        alpha=alpha,
        method="normal",
    ).value


@quantity("two_group_power")
def two_group_power(
    design: str,
    params: dict[str, Any],
    n1: int,
    n2: int,
    pi1: float,
    pi2: float,
    alpha: float = 0.05,
    sides: int = 2,
) -> float:
    asked = named(design, **params)
    return dn.plan.difference(
        dn.plan.Arm(asked, pi1, n1),
        dn.plan.Arm(asked, pi2, n2),
        alpha=alpha,
        two_sided=sides == 2,
    ).value


@quantity("difference_power")
def difference_power(
    first: dict[str, Any],
    second: dict[str, Any],
    alpha: float = 0.05,
    sides: int = 2,
) -> float:
    return dn.plan.difference(
        _arm(**first), _arm(**second), alpha=alpha, two_sided=sides == 2
    ).value


def _arm(design: str, params: dict[str, Any], n: int, pi: float) -> dn.plan.Arm:
    return dn.plan.Arm(
        dn.direct() if design == "direct" else named(design, **params), pi, n
    )


@quantity("power_noncompliance")
def power_noncompliance(
    design: str,
    params: dict[str, Any],
    n: int,
    pi: float,
    share: float,
    kind: str,
    null: float = 0.0,
    alpha: float = 0.05,
    sides: int = 1,
    method: str = "normal",
) -> dict[str, float]:
    found = dn.plan.noncompliance(
        named(design, **params), n, share=pi, failing=share, kind=kind, null=null, alpha=alpha, two_sided=sides == 2,
        method=method,
    )  # fmt: skip
    return {
        "power": found.value,
        "expected_estimate": found.lines[-1]["expected estimate"],
    }


@quantity("crossover")
def crossover(
    design: str, params: dict[str, Any], pi: float, lying: float, bias: float = 0.0
) -> dict[str, float]:
    return {
        "n": dn.plan.crossover(
            named(design, **params), share=pi, lying=lying, bias=bias
        ).value
    }


@quantity("rmse")
def rmse(design: str, params: dict[str, Any], pi: float, n: int) -> float:
    return math.sqrt(
        dn.plan.variance(named(design, **params), n, shares=[1 - pi, pi])
    )


@quantity("best_under_caps")
def best_under_caps(bf_yes: float, bf_no: float | None) -> dict[str, float]:
    found = dn.plan.best_under_caps(
        factor_yes=fractions(bf_yes),
        factor_no=None if bf_no is None else fractions(bf_no),
    )
    u, v = (found.design.channel.probability(1, given=answer) for answer in (0, 1))
    return {"u": float(u), "v": float(v)}


@quantity("cdm_planning")
def cdm_planning(
    p: list[float], pi: float, gamma: float, n1: int, n2: int
) -> dict[str, Any]:
    found = dn.plan.cheater_detection(
        fractions(p), [n1, n2], share=pi, cheating=gamma
    )
    honest, cheating = (line["standard error"] for line in found.lines)
    return {"pi_se": honest, "gamma_se": cheating, "best_share_for_pi": found.value}
