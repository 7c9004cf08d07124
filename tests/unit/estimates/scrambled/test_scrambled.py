"""Classic scrambled designs: moments by enumeration, what a response reveals, and the data of a public package."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.errors import (
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from deniable.estimates.scrambled.designs import MODELS

DATA = Path(__file__).parents[5] / "shared" / "data"
S = {Fraction(1, 2): "1/5", 1: "1/2", 2: "3/10"}
U = {-1: "3/10", 0: "1/5", 3: "1/2"}
W = {"4/5": "2/5", "3/2": "3/5"}
EVERY = {
    "eichhorn_hayre": {"factor": S},
    "eriksson": {"p": "3/5", "other": U},
    "bar_lev": {"p": "3/5", "factor": S},
    "saha": {"factor": W, "shift": U},
    "diana_perri_1": {"p": "3/5", "factor": W, "shift": U},
    "diana_perri_2": {"share": "2/5", "factor": W, "shift": U},
    "chaudhuri_christofides": {"factor": S, "shift": U},
}


def law(model: str, y: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Every response to a number with its probability, written down from the literature and not from the package."""
    s, u, w = (
        [(Fraction(v), Fraction(p)) for v, p in each.items()] for each in (S, U, W)
    )
    p, beta = Fraction(3, 5), Fraction(2, 5)
    truth, added = (
        [(y, p)],
        [(a * (y + b), q * r) for (a, q), (b, r) in product(w, u)],
    )
    return {
        "eichhorn_hayre": [(y * v, q) for v, q in s],
        "eriksson": truth + [(v, (1 - p) * q) for v, q in u],
        "bar_lev": truth + [(y * v, (1 - p) * q) for v, q in s],
        "saha": added,
        "diana_perri_1": truth + [(z, (1 - p) * q) for z, q in added],
        "diana_perri_2": [
            (a * (beta * b + (1 - beta) * y), q * r)
            for (a, q), (b, r) in product(w, u)
        ],
        "chaudhuri_christofides": [
            (y * a + b, q * r) for (a, q), (b, r) in product(s, u)
        ],
    }[model]


@pytest.mark.parametrize("model", MODELS)
def test_moments_are_those_of_every_response(model: str) -> None:
    design = dn.scrambled(model, **EVERY[model])  # type: ignore[arg-type]
    for y in (Fraction(0), Fraction(5, 2), Fraction(-3)):
        told = law(model, y)
        mean = sum(z * q for z, q in told)
        variance = sum(z * z * q for z, q in told) - mean**2
        assert mean == design.intercept + design.slope * y
        assert variance == design.slope**2 * design.device_variance(y)
        estimated = sum(
            q * Fraction(design.estimated_device_variance(design.value(float(z))))
            for z, q in told
        )
        assert float(estimated) == pytest.approx(
            float(design.device_variance(y)), abs=1e-9
        )


def test_what_a_response_reveals_is_worked_out() -> None:
    sheet = dn.scrambled("eriksson", p="3/5", other=dict.fromkeys(range(5), "1/5"))
    assert sheet.parity(range(5)) == (Fraction(3, 5) + Fraction(2, 25)) / Fraction(
        2, 25
    )
    assert sheet.epsilon(range(6)) == math.inf
    for model in MODELS:
        assert dn.scrambled(model, **EVERY[model]).epsilon([1, 2, 5]) == math.inf  # type: ignore[arg-type]
        assert "finite ε" in dn.scrambled(model, **EVERY[model]).guarantee  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="probability of each value"):
        dn.scrambled("eichhorn_hayre", factor=(1, "1/4")).epsilon([1, 2])
    with pytest.raises(InvalidRequest, match="fewer than 2"):
        sheet.epsilon([1])


def test_a_sample_without_replacement_keeps_the_device() -> None:
    design, responses = dn.scrambled("saha", factor=W, shift=U), [1.5, 4.0, 0.0, 2.5]
    found, few = design.estimate(responses), design.estimate(responses, population=8)
    values = np.array([design.value(each) for each in responses])
    device = np.mean([design.estimated_device_variance(each) for each in values])
    assert found.model.device_variance == pytest.approx(device)
    assert found.model.variance == pytest.approx(values.var(ddof=1) / 4)
    assert few.model.variance == pytest.approx(
        0.5 * values.var(ddof=1) / 4 + device / 8
    )
    assert found.model.number_variance == pytest.approx(values.var(ddof=1) - device)
    assert found.warnings[0].code == "privacy"


@pytest.mark.statistical
def test_the_interval_holds_the_mean_of_simulated_numbers() -> None:
    """Six standard errors: a false alarm in 10^9 tests."""
    rng = np.random.default_rng(8)
    numbers = rng.gamma(4, 2, 40_000)
    sent = numbers * rng.choice([0.5, 1.0, 2.0], 40_000, p=[0.2, 0.5, 0.3])
    found = dn.scrambled("eichhorn_hayre", factor=S).estimate(sent.tolist())
    assert abs(found.value - numbers.mean()) < 6 * found.bse["mean"]
    assert found.model.number_variance == pytest.approx(numbers.var(), rel=0.1)


def test_what_does_not_fit_is_refused() -> None:
    for wrong in (
        {"model": "warner"},
        {"model": "saha", "factor": S},
        {"model": "eichhorn_hayre", "factor": S, "p": 1},
    ):
        with pytest.raises(InvalidRequest, match="expected"):
            dn.scrambled(**wrong)  # type: ignore[arg-type]
    for law_ in ({1: "1/2"}, 3, "ab", (1, 2, 3)):
        with pytest.raises(InvalidDesign, match="factor"):
            dn.scrambled("eichhorn_hayre", factor=law_)  # type: ignore[arg-type]
    with pytest.raises(InvalidDesign, match="do not depend"):
        dn.scrambled("eichhorn_hayre", factor={-1: "1/2", 1: "1/2"})
    design = dn.scrambled("eichhorn_hayre", factor=S)
    with pytest.raises(NotEstimable):
        design.estimate([1.0, None])
    for sent in (["x", 1], [math.inf, 1.0]):
        with pytest.raises(InvalidResponse):
            design.estimate(sent)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="population"):
        design.estimate([1.0, 2.0], population=1)


@pytest.mark.skipif(
    not DATA.is_dir(),
    reason="../shared/data is not there: rows of surveys that are not ours",
)
@pytest.mark.parametrize(
    ("file", "model", "given"),
    [
        (
            "EichhornHayreData",
            "eichhorn_hayre",
            {"factor": ("0.566666666666667", "0.2357022603955158")},
        ),
        (
            "ErikssonData",
            "eriksson",
            {"p": "1/2", "other": dict.fromkeys((0, 1, 3, 5, 8), "1/5")},
        ),
        ("BarLevData", "bar_lev", {"p": "0.6", "factor": (1, 1)}),
    ],
)
def test_rows_of_a_public_package_are_read_and_unweighted_estimates_are_those_of_their_values(
    file: str, model: str, given: dict[str, object]
) -> None:
    with (DATA / f"{file}.csv").open(encoding="utf-8") as rows:
        sent = [float(row["z"]) for row in csv.DictReader(rows)]
    found = dn.scrambled(model, **given).estimate(sent)  # type: ignore[arg-type]
    values = (np.array(sent) - float(found.model.scrambling.intercept)) / float(
        found.model.scrambling.slope
    )
    assert found.value == pytest.approx(values.mean())
    assert found.bse["mean"] == pytest.approx(
        values.std(ddof=1) / math.sqrt(len(values))
    )
