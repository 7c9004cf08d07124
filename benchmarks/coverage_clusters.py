"""How often tests at 5 % reject what is true, of samples of eight clusters.

`python -m benchmarks.coverage_page clusters` writes the table. The answer goes with nothing that is tested: covariates
differ within clusters ("x" and three groups "g") or between them alone ("wealth"), and responses and outcomes go
together within clusters. Warner's design at ε = 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import deniable as dn
from benchmarks.coverage_predictors import SURVEYS_SLOW, standard_error

CLUSTERS, SIZE, EPSILON = 8, 100, 2
WARNER, TERNARY = dn.warner(epsilon=EPSILON), dn.k_ary(3, epsilon=EPSILON)


def drawn(rng: np.random.Generator) -> dict[str, Any]:
    """Draw one survey: its columns."""
    n, cluster = CLUSTERS * SIZE, np.arange(CLUSTERS * SIZE) % CLUSTERS
    answers, outcomes, wealth = rng.normal(size=(3, CLUSTERS))
    members = rng.random(n) < 1 / (1 + np.exp(1 - 0.5 * answers[cluster]))
    groups, thirds = rng.integers(0, 3, (2, n))
    return {
        "cluster": cluster,
        "sent": np.where(rng.random(n) < _honesty(WARNER), members, ~members) * 1,
        "third": np.where(
            rng.random(n) < _honesty(TERNARY, 1 / 3), thirds, rng.integers(0, 3, n)
        ),
        "x": rng.normal(size=n),
        "g": groups.astype(str),
        "wealth": wealth[cluster],
        "y": rng.normal(size=n) + 0.5 * outcomes[cluster],
    }


def _honesty(design: Any, stray: float = 0.0) -> float:
    """Return the probability of the own answer, where others are drawn with this one of it among them."""
    own = float(design.channel.probability(0, given=0))
    return (own - stray) / (1 - stray)


def p_values(columns: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    """Return the p-value of each test; of terms that differ between clusters alone also with the jackknife."""
    sample, jackknife = (
        dn.Sampling(clusters=columns["cluster"], replicates=kind)
        for kind in (None, "jackknife")
    )

    def fit(formula: str, sampling: dn.Sampling = sample) -> dn.Regression:
        predictor = "sent" if formula.startswith("y") else None
        return dn.regress(
            formula, columns, design=WARNER, predictor=predictor, sampling=sampling
        )

    def between(formula: str) -> tuple[float, ...]:
        fits = (fit(formula, kind) for kind in (sample, jackknife))
        return tuple(each.test("wealth = 0").p_value for each in fits)

    answer, outcome = fit("sent ~ x + C(g)"), fit("y ~ x + sent")
    groups = [f"{name} = 0" for name in answer.params if "g" in name]
    sent = dn.Responses.of(WARNER, columns["sent"])
    thirds = dn.Responses.of(TERNARY, columns["third"])
    group = dn.Responses.of(dn.direct(3), columns["g"].astype(int))
    alike = dn.estimate(sent, sampling=sample, by=columns["g"]).homogeneity()
    tables = [
        dn.cross_table(each, group, sampling=sample) for each in (sent, thirds)
    ]
    return {
        "answer ~ x": (answer.test("x = 0").p_value,),
        "answer ~ g, two coefficients": (answer.test(groups).p_value,),
        "answer ~ x + g, three coefficients": (
            answer.test([*groups, "x = 0"]).p_value,
        ),
        "outcome ~ answer": (outcome.test("sent = 0").p_value,),
        "outcome ~ x + answer, both": (outcome.test(["sent = 0", "x = 0"]).p_value,),
        "three groups are alike": (alike.p_value,),
        "independence, 2 × 3": (tables[0].independence().p_value,),
        "independence, 3 × 3": (tables[1].independence().p_value,),
        "answer ~ wealth": between("sent ~ wealth"),
        "outcome ~ wealth + answer, wealth": between("y ~ wealth + sent"),
    }


def lines() -> Iterator[str]:
    """Yield the part of the page."""
    yield f"""\
How often tests at 5 % reject what is true in {SURVEYS_SLOW} samples of {CLUSTERS} clusters of {SIZE} people (a standard
error of {standard_error(SURVEYS_SLOW)}), with linearized errors and with those of the jackknife. x and the three groups
g differ within clusters. Wealth differs between them alone: there linearized errors are too small, and the result
warns.

| test | linearized | jackknife |
| --- | --- | --- |"""
    rng = np.random.default_rng(27)
    surveys = [p_values(drawn(rng)) for _ in range(SURVEYS_SLOW)]
    for name in surveys[0]:
        rates = np.mean([np.array(found[name]) < 0.05 for found in surveys], axis=0)
        linearized, *jackknife = [f"{rate:.3f}" for rate in rates]
        yield f"| {name} | {linearized} | {''.join(jackknife) or '—'} |"
