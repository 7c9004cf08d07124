"""Section E of the survey sheet: samples with weights, strata and clusters, replicates and calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

import deniable as dn
from deniable.estimates import mean_inverse
from deniable.estimates.sampling import (
    Asked,
    RowValues,
    SampledEstimate,
    estimate_values,
)
from tests.golden.named import named, rows
from tests.golden.runner import Uncovered, quantity

TRANSFORM = "r = (z - .2)/.6, weights 1/Pi, strata ST, clusters CL"
UNRELATED = dn.simmons(p="3/5", b="1/2")  # whose values are (z − .2)/.6
SCRAMBLED = Asked(None, "values", np.inf)


def sent(
    design: dn.Design, column: list[int], *, first: int = 0
) -> dn.Responses[dn.Design]:
    return dn.Responses.of(design, [each - first for each in column], codes=True)


def values(r: list[float], v: list[float] | None = None) -> RowValues:
    """Values that an entry gives without the design that they come from."""
    known = np.zeros(len(r)) if v is None else np.array(v)
    return RowValues(
        ("mean",),
        np.array(r)[:, None],
        np.ones(len(r), bool),
        lambda c, _: np.array([[c @ known]]),
        "mean",
    )


def estimated(
    sampling: dict[str, Any],
    data: str | None = None,
    transform: str | None = None,
    r: list[float] | None = None,
    *,
    calibrated: Any = None,
    **options: Any,
) -> tuple[SampledEstimate, str]:
    """Return the estimate of an entry, of rows or of values, and the name of its number."""
    if r is not None:
        sample = dn.Sampling(**sampling)
        return estimate_values(
            [values(r)],
            sample if calibrated is None else calibrated(sample, {}),
            SCRAMBLED,
            **options,
        ), "mean"
    if transform != TRANSFORM or data is None:
        raise Uncovered(f"no such transform: {transform}")
    table = {
        name: [float(row[name]) for row in rows(data)]
        for name in ("ID", "ST", "CL", "z", "Pi")
    }
    known = {
        "weights": 1 / np.array(table["Pi"]),
        "strata": table["ST"],
        "clusters": table["CL"],
    }
    sample = dn.Sampling(**(known | sampling))
    read = {
        "ID even": np.array(table["ID"]) % 2 == 0,
        "10 Pi": 10 * np.array(table["Pi"]),
    }
    asked = {name: read[each] for name, each in options.items() if each is not None}
    sample = sample if calibrated is None else calibrated(sample, table)
    return dn.estimate(
        sent(UNRELATED, [int(each) for each in table["z"]]), sampling=sample, **asked
    ), "yes"


@quantity("horvitz_thompson")
def horvitz_thompson(
    design: str,
    params: dict[str, Any],
    z: list[int] | None = None,
    inclusion: Any = None,
    data: str | None = None,
    column: str = "z",
    N: int | None = None,
) -> dict[str, float]:
    built = named(design, **params)
    table = [] if data is None else rows(data)
    z = [int(row[column]) for row in table] if z is None else z
    if inclusion is None:
        inclusion = [float(row["Pi"]) for row in table]
    elif isinstance(inclusion, float):
        inclusion = [inclusion] * len(z)
    responses = sent(built, z, first=1 if design == "christofides" else 0)
    inverse = mean_inverse(built) if len(built.symbols) > 2 else None
    hajek = dn.estimate(
        responses, sampling=dn.Sampling(inclusion=inclusion), inverse=inverse
    )
    found = {
        "total": hajek.total.params["yes"],
        "total_variance": hajek.total.bse["yes"] ** 2,
        "hajek_mean": hajek.params["yes"],
        "hajek_variance": hajek.bse["yes"] ** 2,
    }
    if N is not None:
        known = dn.estimate(
            responses,
            sampling=dn.Sampling(inclusion=inclusion, population=N),
            inverse=inverse,
        )
        found |= {
            "mean": known.params["yes"],
            "mean_variance": known.bse["yes"] ** 2,
        }
    return found


@quantity("second_order")
def second_order(
    r: list[float], v: list[float], inclusion: list[float], joint: list[list[float]]
) -> dict[str, float]:
    found = {
        rule: estimate_values(
            [values(r, v)],
            dn.Sampling(inclusion=inclusion, joint=joint, rule=rule),
            SCRAMBLED,
        ).total
        for rule in ("horvitz-thompson", "sen-yates-grundy")
    }
    return {
        "total": found["horvitz-thompson"].params["mean"],
        "ht_variance": found["horvitz-thompson"].bse["mean"] ** 2,
        "syg_variance": found["sen-yates-grundy"].bse["mean"] ** 2,
    }


@quantity("survey_mean")
def survey_mean(
    domain: Any = None,
    denominator: Any = None,
    fpc: dict[str, float] | None = None,
    **inputs: Any,
) -> dict[str, float]:
    sampling = {
        name: inputs.pop(name)
        for name in ("weights", "strata", "clusters")
        if name in inputs
    }
    found, name = estimated(
        sampling | {"fraction": fpc},
        **inputs,
        domain=domain,
        denominator=denominator,
    )
    told = {
        "mean": found.params[name],
        "se": found.bse[name],
        "df": found.degrees[0],
    }
    if denominator is None:
        told |= {
            "total": found.total.params[name],
            "total_se": found.total.bse[name],
        }
    return told


@quantity("jackknife_mean")
def jackknife_mean(**inputs: Any) -> dict[str, float]:
    sampling = {
        name: inputs.pop(name)
        for name in ("weights", "strata", "clusters")
        if name in inputs
    }
    told = {
        "strata": "se",
        "estimate": "se_centred_at_estimate",
        "replicates": "se_grand",
    }
    answer = {}
    for centre, name in told.items():
        found, of = estimated(
            sampling | {"replicates": dn.Replicates("jackknife", centre=centre)},
            **inputs,
        )
        answer |= {"mean": found.params[of], name: found.bse[of]}
    return answer


@quantity("korn_graubard")
def korn_graubard(
    design: str, params: dict[str, Any], z: list[int] | None = None, data: str | None = None, transform: str = "",
    **sampling: Any,
) -> dict[str, float]:  # fmt: skip
    if data is not None:
        found, _ = estimated(sampling, data, transform)
    else:
        assert z is not None
        found = dn.estimate(
            sent(named(design, **params), z), sampling=dn.Sampling(**sampling)
        )
    low, high = found.interval("yes", method="korn-graubard")
    basis = found.basis
    return {
        "effective_n": basis.size(basis.single() / basis.people, 0.95)[1],
        "lower": low,
        "upper": high,
    }


@quantity("calibrated_mean")
def calibrated_mean(
    auxiliary: Any, totals: list[float], method: str = "linear", **inputs: Any
) -> dict[str, float]:
    sampling = {
        name: inputs.pop(name)
        for name in ("weights", "strata", "clusters")
        if name in inputs
    }

    def calibrated(
        sample: dn.Sampling, table: dict[str, list[float]]
    ) -> dn.Sampling:
        columns = _columns(auxiliary, table)
        known = dict(zip(columns, totals, strict=True))
        return sample.calibrate(
            columns, known, method={"rake": "raking"}.get(method, method)
        )

    found, name = estimated(sampling, **inputs, calibrated=calibrated)
    return {
        "mean": found.params[name],
        "se": found.bse[name],
        "total": found.total.params[name],
    }


def _columns(auxiliary: Any, table: dict[str, list[float]]) -> dict[str, Any]:
    """Read columns of numbers, or their description: "1, ID%3=1"."""
    if not isinstance(auxiliary, str):
        return {str(at): column for at, column in enumerate(np.array(auxiliary).T)}
    numbers = np.array(table["ID"])
    found: dict[str, Any] = {}
    for each in auxiliary.split(", "):
        divisor, _, rest = each.removeprefix("ID%").partition("=")
        found[each] = (
            np.ones(len(numbers))
            if each == "1"
            else (numbers % int(divisor) == int(rest)).astype(float)
        )
    return found


@quantity("replicate_variance")
def replicate_variance(
    kind: str, replicates: list[float], estimate: float, fay: float = 0.0
) -> float:
    """Replicate weights under which the mean of two people is each of the replicates."""
    wanted = dn.Replicates(
        kind, weights=[[1 - each for each in replicates], replicates], fay=fay
    )
    sample = dn.Sampling([1 - estimate, estimate], replicates=wanted)
    return float(
        estimate_values([values([0.0, 1.0])], sample, SCRAMBLED).bse["mean"] ** 2
    )
