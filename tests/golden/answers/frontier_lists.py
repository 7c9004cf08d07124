"""Section D of the frontier sheet: list experiments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import norm

import deniable as dn
from deniable.estimates.lists import treated_arm
from tests.golden.runner import quantity

Arms = dict[str, list[int]]


def rows(groups: dict[str, Arms]) -> dict[str, list[Any]]:
    """Return a row for each person of the tables of groups."""
    people = [
        (count, treated, int(name) if name.isdigit() else name == "direct_yes")
        for name, arms in groups.items()
        for treated, arm in enumerate(("control", "treated"))
        for count, number in enumerate(arms[arm])
        for _ in range(number)
    ]
    columns = zip(*people, strict=True)
    return dict(zip(("y", "treated", "group"), map(list, columns), strict=True))


def from_table(control: list[int], treated: list[int], J: int = 3) -> Any:
    return dn.list_experiment([control, treated], n_items=J)


@quantity("list_difference")
def difference(control: list[int], treated: list[int]) -> dict[str, float]:
    """HC3 divides by n − 1 once more: it is R's, and follows from the variance of each arm."""
    result = from_table(control, treated)
    y = np.arange(5)
    blocks = result.model.said.covariance
    variances = [y @ blocks[5 * arm :, 5 * arm :][:5, :5] @ y for arm in (0, 1)]
    sizes = sum(control), sum(treated)
    hc3 = sum(v * n / (n - 1) for v, n in zip(variances, sizes, strict=True))
    return {
        "estimate": result.value,
        "se": result.error,
        "se_hc3": math.sqrt(hc3),
    }


@quantity("list_difference_by_group")
def difference_by_group(groups: dict[str, Arms]) -> dict[str, Any]:
    result = dn.list_experiment(
        "y", "treated", n_items=3, by="group", data=rows(groups)
    )
    names = [f"{name} · difference" for name in groups]
    contrast = result.contrast({names[1]: 1, names[0]: -1})
    return {
        "estimates": [result.params[name] for name in names],
        "difference": contrast.value,
    }


@quantity("list_joint")
def joint(control: list[int], treated: list[int], J: int) -> dict[str, Any]:
    result = from_table(control, treated, J).model.joint()
    values, errors = list(result.params.values()), list(result.bse.values())
    return {
        "carriers": values[: J + 1],
        "others": values[J + 1 :],
        "carriers_se": errors[: J + 1],
        "others_se": errors[J + 1 :],
    }


@quantity("list_design_test")
def design_test(control: list[int], treated: list[int], J: int) -> dict[str, float]:
    from deniable.estimates.lists import _orthant_test

    model = from_table(control, treated, J).model
    shares = model.joint()
    values, covariance = np.array(list(shares.params.values())), shares.cov_params()
    sides = list(range(J)), list(range(J + 2, 2 * J + 2))
    p1, p0 = (
        _orthant_test(values[side], covariance[np.ix_(side, side)])[1]
        for side in sides
    )
    cells = [index for side in sides for index in side]
    z = values[cells] / np.sqrt(np.diagonal(covariance)[cells])
    return {
        "p1": p1,
        "p0": p0,
        "p": model.design_test().p_value,
        "bonferroni_z": min(1.0, 2 * J * float(norm.cdf(z.min()))),
    }


@quantity("list_ml")
def likelihood(
    J: int,
    groups: dict[str, Arms] | None = None,
    control: list[int] | None = None,
    treated: list[int] | None = None,
    covariate: str = "",  # noqa: ARG001 - a description
) -> dict[str, Any]:
    table = groups or {"0": {"control": control or [], "treated": treated or []}}
    terms = "group" if groups else "1"
    result = dn.list_experiment(
        "y", "treated", n_items=J, predictors=terms, data=rows(table)
    )
    n = len(result.params) // 2
    order = [*range(n, 2 * n), *range(n)]  # the sheet begins with the sensitive item
    values, errors = (
        np.array(list(numbers.values()))[order]
        for numbers in (result.params, result.bse)
    )
    share = (
        {}
        if groups
        else {
            "share": from_table(table["0"]["control"], table["0"]["treated"]).params[
                "likelihood"
            ]
        }
    )
    return {
        "coef_sensitive": values[:n].tolist(),
        "coef_control": values[n:].tolist(),
        "se": errors.tolist(),
        "loglik": result.log_likelihood,
        **share,
    }


@quantity("list_combined")
def combined(direct_no: Arms, direct_yes: Arms) -> dict[str, float]:
    data = rows({"direct_no": direct_no, "direct_yes": direct_yes})
    result = dn.list_experiment("y", "treated", n_items=4, direct="group", data=data)
    params = result.params
    return {
        "direct": params["direct"],
        "list_no": params["denied"],
        "combined": result.value,
        "se": result.error,
    }


@quantity("list_privacy")
def privacy(J: int, control_law: list[float]) -> dict[str, Any]:  # noqa: ARG001 - the sheet's name
    design = treated_arm(control_law)
    matrix = design.channel.floats()
    with np.errstate(divide="ignore"):
        factors = matrix[:, 1] / matrix[:, 0]
    return {
        "matrix": matrix.tolist(),
        "bayes_factor": factors.tolist(),
        "delta_at": {
            str(epsilon): design.delta(epsilon) for epsilon in (0, 1, 2, 10)
        },
        "epsilon": design.epsilon,
    }


@quantity("list_sample_size")
def sample_size(
    share: float,
    control_variance: float,
    covariance: float,
    power: float,
    alpha: float,
) -> dict[str, float]:
    planned = dn.plan.list_experiment(
        share,
        control_variance=control_variance,
        covariance=covariance,
        power=power,
        alpha=alpha,
    )
    equal, best, _ = planned.lines
    return {
        "n_per_arm": planned.value,
        "n_total": equal["people"],
        "best_share_treated": best["share treated"],
    }
