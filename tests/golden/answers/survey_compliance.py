"""Section C of the survey sheet, people who do not follow the device, and D8, the comparison with a direct arm."""

from __future__ import annotations

from typing import Any

import numpy as np

import deniable as dn
from deniable.estimates import compliance
from tests.golden.answers.survey_designs import estimated
from tests.golden.named import named
from tests.golden.runner import fractions, quantity

NAMES = {"pi": "yes, honest", "beta": "no, honest", "gamma": "always no"}


def cheating(found: compliance.Cheating) -> dict[str, Any]:
    moments = {ours: found.moments[name] for ours, name in NAMES.items()}
    errors = {f"{ours}_se": found.bse[name] for ours, name in NAMES.items()}
    likely = {ours: found.params[name] for ours, name in NAMES.items()}
    return {
        "moment": moments | errors,
        "ml": likely | {"loglik": found.log_likelihood},
    }


@quantity("cdm")
def cdm(p: list[float], yes: list[int], n: list[int]) -> dict[str, Any]:
    return cheating(
        compliance.cheating_detection(
            forced_yes=fractions(p), yes=yes, respondents=n
        )
    )


@quantity("cdm_symmetric")
def cdm_symmetric(
    forced_yes: list[float], forced_no: list[float], yes: list[int], n: list[int]
) -> dict[str, Any]:
    return cheating(
        compliance.cheating_detection(
            forced_yes=fractions(forced_yes),
            forced_no=fractions(forced_no),
            yes=yes,
            respondents=n,
        )
    )


@quantity("cdm_profile")
def cdm_profile(
    p: list[float], yes: list[int], n: list[int], level: float = 0.95
) -> dict[str, Any]:
    found = compliance.cheating_detection(
        forced_yes=fractions(p), yes=yes, respondents=n
    ).conf_int(level=level)
    return {
        "pi": found["yes, honest"],
        "gamma": found["always no"],
        "pi_or_gamma": found["yes at most"],
    }


@quantity("lie_detector")
def lie_detector(p: list[float], yes: list[int], n: list[int]) -> dict[str, Any]:
    found = compliance.lie_detector(truth=fractions(p), yes=yes, respondents=n)
    names = {"pi": "yes", "t": "truthful"}
    errors = {f"{ours}_se": found.bse[name] for ours, name in names.items()}
    likely = {ours: found.params[name] for ours, name in names.items()}
    return {
        "moment": {ours: found.moments[name] for ours, name in names.items()}
        | errors,
        "ml": likely | {"loglik": found.log_likelihood},
    }


@quantity("extended_crosswise")
def extended_crosswise(p: float, same: list[int], n: list[int]) -> dict[str, Any]:
    found = compliance.extended_crosswise(p=fractions(p), same=same, respondents=n)
    apart = found.model.one_sayers()
    return {
        "pi_moment": found.moments["yes"],
        "se": found.bse["yes"],
        "pi_ml": found.params["yes"],
        "G2": found.fit.statistic,
        "p_value": found.fit.p_value,
        "z_sum": found.model.z_sum,
        "one_sayers": apart.moments["always different"],
        "pi_one_sayers": apart.moments["yes among honest"],
    }


@quantity("unrelated_cheating")
def unrelated_cheating(
    p: list[float], b: float, yes: list[int], n: list[int]
) -> dict[str, Any]:
    found = compliance.unrelated_cheating(
        p=fractions(p), b=fractions(b), yes=yes, respondents=n
    )
    return {
        "moment": {
            "carriers_honest": found.moments["yes, honest"],
            "honest": 1 - found.moments["always no"],
            "gamma": found.moments["always no"],
            "prevalence_among_honest": found.moments["yes among honest"],
            "carriers_honest_se": found.bse["yes, honest"],
            "gamma_se": found.bse["always no"],
        },
        "ml": {
            "carriers_honest": found.params["yes, honest"],
            "gamma": found.params["always no"],
            "loglik": found.log_likelihood,
        },
    }


@quantity("anchor_crosswise")
def anchor_crosswise(
    p: float, p_anchor: float, n: int | None = None, kappa: float = 0.5, **given: Any
) -> Any:
    found = compliance.anchored_crosswise(
        p=fractions(p),
        anchor=fractions(p_anchor),
        respondents=n,
        guess=fractions(kappa),
        **given,
    )
    likely = {
        "attentive": found.params["attentive"],
        "pi": found.params["yes"],
        "loglik": found.log_likelihood,
    }
    return {
        "naive": found.model.uncorrected,
        "naive_se": found.model.uncorrected_error,
        "attentive": found.moments["attentive"],
        "corrected": found.moments["yes"],
        "se": found.bse["yes"],
    } | ({"ml": likely} if found.model.joint else {})


@quantity("self_protective")
def self_protective(
    designs: list[list[float]],
    counts: dict[str, int],
    pi: list[float] | None = None,
    theta: float = 0.0,
) -> dict[str, Any]:
    rates = [fractions(each) for each in designs]
    found = compliance.self_protection(
        designs=[dn.binary(1 - u, v) for u, v in rates], counts=counts
    )
    if pi is not None:
        said = np.array(
            [
                float(u + (v - u) * fractions(share))
                for (u, v), share in zip(rates, pi, strict=True)
            ]
        )
        return {"loglik": found.model._cells.height(np.append(said, theta))}
    return {
        "pi": [
            found.params[f"item {number}"] for number in range(1, len(designs) + 1)
        ],
        "theta": found.params["always no"],
        "loglik": found.log_likelihood,
        "loglik_no_protection": found.model.log_likelihood_without,
        "G2": found.fit.statistic,
        "df": found.fit.df,
    }


@quantity("sum_score_channel")
def sum_score_channel(items: int, u: float, v: float) -> Any:
    return compliance.sum_score_channel(
        dn.binary(1 - fractions(u), fractions(v)), items
    ).tolist()


@quantity("sum_score_protective")
def sum_score_protective(
    items: int, u: float, v: float, counts: list[int]
) -> dict[str, Any]:
    found = compliance.sum_scores(dn.binary(1 - fractions(u), fractions(v)), counts)
    assert found.model.items == items
    return {
        "pi": found.params["yes"],
        "theta": found.params["always no"],
        "loglik": found.log_likelihood,
        "pi_without": found.model.without["yes"],
        "loglik_without": found.model.log_likelihood_without,
    }


@quantity("sensitivity")
def sensitivity(
    design: str, yes: int, n: int, share: float, kind: str, params: dict[str, Any]
) -> dict[str, Any]:
    found = estimated(named(design, **params), [n - yes, yes]).sensitivity(
        kind, shares=[share]
    )
    point = found.curves[0].points[0]
    if kind == "carriers_no":
        return {"pi": point.estimate}
    return {
        "among_compliant": point.estimate,
        "lower": point.lowest,
        "upper": point.highest,
    }


@quantity("compare_with_direct")
def compare_with_direct(
    design: str,
    params: dict[str, Any],
    yes: int,
    n: int,
    direct_yes: int,
    direct_n: int,
) -> dict[str, Any]:
    arm, direct = (
        dn.Tally(named(design, **params), [n - yes, yes]),
        [direct_n - direct_yes, direct_yes],
    )
    found = compliance.compare_arms(arm, dn.Tally(dn.direct(), direct))
    return {
        "difference": found.params["yes"],
        "se": found.bse["yes"],
        "z": found.model.z["yes"],
        "p_value": found.model.p_values["yes"],
        "G2": found.model.likelihood_ratio.statistic,
        "G2_p_value": found.model.likelihood_ratio.p_value,
        "pooled": found.model.pooled["yes"],
    }
