"""Section D of the survey sheet: regressions, tests, effects, predictors, random intercepts, arms asked directly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import deniable as dn
from tests.golden.runner import Uncovered, fractions, quantity

DATA = Path(__file__).parents[3].parent / "shared" / "data"


def read(file: str) -> pd.DataFrame:
    path = DATA / f"{file}.csv"
    if not path.exists():
        raise Uncovered(
            f"the rows of {file} are read from ../shared/data, which is not beside this repository"
        )
    return pd.read_csv(path)


def table(X: list[list[float]], y: list[int]) -> tuple[str, pd.DataFrame]:
    """Return a formula and a frame of columns that are given as they are."""
    columns = {f"x{at}": column for at, column in enumerate(np.array(X, float).T)}
    return "y ~ 0 + " + " + ".join(columns), pd.DataFrame({**columns, "y": y})


def by_row(frame: pd.DataFrame, u: Any, v: Any) -> dict[str, Any]:
    """Return the design of rows with such probabilities: one, or one for each pair that occurs."""
    if not isinstance(u, list):
        return {"design": dn.binary(1 - fractions(u), fractions(v))}
    frame["device"] = [f"{one} {two}" for one, two in zip(u, v, strict=True)]
    pairs = dict(zip(frame["device"], zip(u, v, strict=True), strict=True))
    designs = {
        name: dn.binary(1 - fractions(one), fractions(two))
        for name, (one, two) in pairs.items()
    }
    return {"design": designs, "devices": "device"}


def nigeria(link: str) -> dn.Regression:
    rows = read("nigeria")
    rows = rows.rename(
        columns={
            name: name.replace("cov.", "").replace(".", "_") for name in rows.columns
        }
    )
    rows["ten"] = rows["age"] / 10
    formula = "rr_q1 ~ asset_index + married + ten + I(ten**2) + education + female"
    return dn.regress(
        formula, rows, design=dn.forced_response("2/3", "1/6", "1/6"), family=link
    )


def plagiarism(link: str) -> dn.Regression:
    rows = read("Plagiarism")
    designs = {"Crosswise": dn.crosswise("1/4"), "DQ": dn.direct()}
    return dn.regress(
        "response ~ Gender + RR + pp + age",
        rows,
        design=designs,
        devices="RRmodel",
        family=link,
    )


@quantity("rr_regression")
def rr_regression(
    X: Any = None,
    y: Any = None,
    u: Any = None,
    v: Any = None,
    link: str = "logit",
    cluster: Any = None,
    data: str = "",
) -> dict[str, Any]:
    if data:
        found = {"nigeria": nigeria, "plagiarism": plagiarism}[data](link)
        kinds = ["observed", "expected", "outer"]
    else:
        formula, frame = table(X, y)
        options = by_row(frame, u, v)
        sampling = None if cluster is None else dn.Sampling(clusters=cluster)
        found = dn.regress(formula, frame, family=link, sampling=sampling, **options)
        kinds = [
            "observed",
            "expected",
            "outer",
            "robust",
            *([] if sampling is None else ["sampling"]),
        ]
    told = {kind: list(found.with_errors(kind).bse.values()) for kind in kinds}
    return {
        "coef": list(found.params.values()),
        "se": {
            "observed": told["observed"],
            "expected": told["expected"],
            "opg": told["outer"],
        },
        "loglik": found.log_likelihood,
        "robust": told.get("robust"),
        "cluster": told.get("sampling"),
    }


@quantity("lr_test")
def lr_test(
    X: Any, y: Any, u: Any, v: Any, drop: list[int], link: str = "logit"
) -> dict[str, Any]:
    _, frame = table(X, y)
    options = by_row(frame, u, v)
    columns = [name for name in frame if name.startswith("x")]
    kept = [name for at, name in enumerate(columns) if at not in drop]
    large, small = (
        dn.regress("y ~ 0 + " + " + ".join(each), frame, family=link, **options)
        for each in (columns, kept)
    )
    tested = large.compare(small)
    return {
        "statistic": tested.statistic,
        "df": tested.df,
        "p_value": tested.p_value,
    }


@quantity("marginal_effect")
def marginal_effect(
    X: Any, y: Any, u: Any, v: Any, column: int, link: str = "logit"
) -> dict[str, Any]:
    formula, frame = table(X, y)
    effects = dn.regress(
        formula, frame, family=link, errors="expected", **by_row(frame, u, v)
    ).effects()
    return {"ame": effects.params[f"x{column}"], "se": effects.bse[f"x{column}"]}


@quantity("rr_multinomial")
def rr_multinomial(X: Any, y: Any, P: Any) -> dict[str, Any]:
    formula, frame = table(X, y)
    found = dn.regress(
        formula, frame, design=dn.matrix([fractions(row) for row in P])
    )
    shape = (len(P) - 1, len(X[0]))
    return {
        "coef": found.values.reshape(shape).tolist(),
        "se_observed": np.reshape(list(found.bse.values()), shape).tolist(),
        "loglik": found.log_likelihood,
    }


@quantity("rr_predictor")
def rr_predictor(
    outcome: list[float],
    Z: Any,
    y: Any,
    u: float,
    v: float,
    family: str = "logit",
    Zx: Any = None,
) -> dict[str, Any]:
    _, frame = table(Z, y)
    others = [name for name in frame if name.startswith("x")]
    frame["o"] = outcome
    given = None
    if Zx is not None:
        frame[[f"g{at}" for at in range(len(Zx[0]))]] = Zx
        given = "0 + " + " + ".join(f"g{at}" for at in range(len(Zx[0])))
    found = dn.regress(
        "o ~ 0 + " + " + ".join([*others, "y"]),
        frame,
        family={"logit": "bernoulli"}.get(family, family),
        predictor="y",
        given=given,
        **by_row(frame, u, v),
    )
    place = len(others) + 1
    end = place + (len(others) if Zx is None else len(Zx[0]))
    values, errors = list(found.params.values()), list(found.bse.values())
    return {
        "theta": values[:place],
        "theta_se": errors[:place],
        "b": values[place:end],
        "b_se": errors[place:end],
        "loglik": found.log_likelihood,
        "sigma": values[-1],
    }


@quantity("rr_mixed")
def rr_mixed(group: Any, X: Any, y: Any, u: float, v: float) -> dict[str, Any]:
    formula, frame = table(X, y)
    frame["group"] = group
    found = dn.regress(formula, frame, intercepts="group", **by_row(frame, u, v))
    *beta, sigma = found.params.values()
    return {
        "beta": beta,
        "sigma": sigma,
        "loglik": found.log_likelihood,
        "se": list(found.bse.values()),
    }


@quantity("lie_detector_regression")
def lie_detector_regression(data: str) -> dict[str, Any]:
    """In the two conditions those without the answer say no with 2/12 and 10/12; those with it are asked to say yes."""
    rows = read(data)
    rows = rows[rows["RRdesign"] > 0].rename(
        columns=lambda name: name.replace(".", "_")
    )
    designs = {1.0: dn.mangat("2/12"), 2.0: dn.mangat("10/12")}
    found = dn.regress(
        "rrt ~ leftRight_c + age_c",
        rows,
        design=designs,
        devices="condition",
        honesty=True,
    )
    *coef, honest = found.params.values()
    return {
        "coef": coef,
        "t": honest,
        "se": list(found.bse.values()),
        "loglik": found.log_likelihood,
    }


@quantity("pseudo_likelihood")
def pseudo_likelihood(
    X: Any, y: Any, u: Any, v: Any, weights: Any, strata: Any, clusters: Any
) -> dict[str, Any]:
    formula, frame = table(X, y)
    sampling = dn.Sampling(weights, strata=strata, clusters=clusters)
    found = dn.regress(formula, frame, sampling=sampling, **by_row(frame, u, v))
    return {"coef": list(found.params.values()), "se": list(found.bse.values())}
