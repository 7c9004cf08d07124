"""An exact outcome by the protected answer: means, differences, totals and quantiles, row by row through its device.

Expected values are computed here from the definitions, with weights and variances written out anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student

import deniable as dn
from deniable.errors import InvalidRequest, InvalidResponse, NotEstimable

RATES = ("0.1", "0.4769846", "0.8")
THREE = dn.k_ary(["a", "b", "c"], epsilon=2)
Floats = NDArray[np.float64]


def frame(n: int = 480, share: float = 0.3, seed: int = 3) -> dict[str, Any]:
    """Rows of page loads, slower for those of the group."""
    rng = np.random.default_rng(seed)
    members = rng.random(n) < share
    rate = rng.choice(RATES, n)
    by_chance = rng.random(n) < rate.astype(float)
    high = np.where(by_chance, rng.random(n) < 0.5, members)
    return {
        "y": rng.exponential(size=n) + 2 * members,
        "rate": rate,
        "value": np.where(high, "high", "low"),
        "w": rng.uniform(1, 3, n),
        "village": np.arange(n) % 12,
        "region": np.arange(n) % 12 % 3,
        "browser": np.array(["A", "B"])[rng.integers(2, size=n)],
    }


def responses(rows: dict[str, Any]) -> list[dn.Responses[dn.Design]]:
    return dn.read_confidence(rows["value"], rows["rate"])


def indicators(rows: dict[str, Any]) -> Floats:
    """The unbiased indicators of low and high: (1{high} − r/2)/(1 − r) with the rate of each row."""
    r = rows["rate"].astype(float)
    high = ((rows["value"] == "high") - r / 2) / (1 - r)
    return np.column_stack([1 - high, high])


def between(sums: Floats) -> Floats:
    """The variance of a total from the sums of m units: m/(m − 1)·Σ (s − s̄)²."""
    return np.asarray(len(sums) * np.var(sums, axis=0, ddof=1))


def test_through_a_direct_question_it_is_the_textbook_mean_and_difference() -> None:
    rows = frame()
    is_high = rows["value"] == "high"
    found = dn.by_answer(rows["y"], dn.read_confidence(rows["value"], 0))
    parts = [rows["y"][~is_high], rows["y"][is_high]]
    assert list(found.params.values()) == pytest.approx([p.mean() for p in parts])
    expected = [p.std(ddof=1) / np.sqrt(len(p)) for p in parts]
    assert list(found.bse.values()) == pytest.approx(expected)
    assert list(found.total.params.values()) == pytest.approx(
        [p.sum() for p in parts]
    )
    counts = found.about("share").total
    assert list(counts.params.values()) == pytest.approx([len(p) for p in parts])
    difference = found.about("difference")
    assert difference.params["high − low"] == pytest.approx(
        parts[1].mean() - parts[0].mean()
    )


def test_each_row_counts_through_its_own_device_with_its_weight() -> None:
    rows = frame()
    sample = dn.Sampling("w", clusters="village", strata="region", data=rows)
    found = dn.by_answer(rows["y"], responses(rows), sampling=sample)
    a, w, y = rows["w"], indicators(rows), rows["y"]
    people, totals = a @ w, (a * y) @ w
    means = totals / people
    assert list(found.params.values()) == pytest.approx(means)
    assert list(found.total.params.values()) == pytest.approx(totals)
    assert list(found.about("share").total.params.values()) == pytest.approx(people)
    psi = a[:, None] * w * (y[:, None] - means) / people
    sums = np.stack([psi[rows["village"] == v].sum(axis=0) for v in range(12)])
    variance = sum(between(sums[h::3]) for h in range(3))  # village v is in v mod 3
    assert list(found.bse.values()) == pytest.approx(np.sqrt(variance))
    assert found.df == 9


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_ends_are_where_the_total_leaves_its_own_error(level: float) -> None:
    rows = frame()
    sample = dn.Sampling(clusters="village", data=rows)
    found = dn.by_answer(rows["y"], responses(rows), sampling=sample)
    w, y = indicators(rows), rows["y"]
    for j, answer in enumerate(("low", "high")):
        ends = list(found.interval(answer, level=level))
        for end in ends:
            psi = w[:, j] * (y - end)
            sums = np.array([psi[rows["village"] == v].sum() for v in range(12)])
            t = student.ppf((1 + level) / 2, 11)
            assert psi.sum() ** 2 == pytest.approx(t**2 * between(sums), rel=1e-6)
        assert ends[0] < found.params[answer] < ends[1]


def test_differences_are_those_of_the_means_with_the_interval_of_the_slope() -> None:
    rows = frame()
    found = dn.by_answer(rows["y"], responses(rows))
    difference = found.about("difference")
    contrast = found.contrast({"high": 1, "low": -1})
    assert difference.params["high − low"] == pytest.approx(contrast.value)
    assert difference.bse["high − low"] == pytest.approx(contrast.error, rel=1e-9)
    designs = {
        rate: part.design for rate, part in zip(RATES, responses(rows), strict=True)
    }
    slope = dn.regress(
        "y ~ value", rows, design=designs, devices="rate", predictor="value"
    )
    assert list(difference.interval("high − low")) == pytest.approx(
        list(slope.interval("value")), rel=1e-9
    )


def test_three_answers_are_each_compared_with_the_first() -> None:
    rng = np.random.default_rng(5)
    sent, y = rng.integers(3, size=500), rng.exponential(size=500)
    found = dn.by_answer(y, dn.Responses.of(THREE, sent, codes=True))
    slopes = dn.regress(
        "y ~ z", {"y": y, "z": sent}, design=THREE, predictor="z", codes=True
    )
    difference = found.about("difference")
    assert list(difference.params) == ["b − a", "c − a"]
    for name, slope in zip(difference.params, ("z[b]", "z[c]"), strict=True):
        assert difference.params[name] == pytest.approx(slopes.params[slope])
        assert difference.bse[name] == pytest.approx(slopes.bse[slope], rel=1e-6)
        assert list(difference.interval(name)) == pytest.approx(
            list(slopes.interval(slope)), rel=1e-6
        )


@pytest.mark.parametrize("clustered", [False, True])
def test_groups_of_a_domain_are_that_part_alone(clustered: bool) -> None:
    rows = frame()
    clusters = {"clusters": "village"} if clustered else {}
    sample = dn.Sampling("w", **clusters, data=rows)
    domain = rows["y"] < 2.5
    options = {"sampling": sample}
    by = dn.by_answer(
        rows["y"], responses(rows), domain=domain, by=rows["browser"], **options
    )
    by_quantile = dn.quantiles_by_answer(
        rows["y"], responses(rows), domain=domain, by=rows["browser"], **options
    )
    for browser in "AB":
        part = domain & (rows["browser"] == browser)
        alone = dn.by_answer(rows["y"], responses(rows), domain=part, **options)
        median = dn.quantiles_by_answer(
            rows["y"], responses(rows), domain=part, **options
        )
        a, w = rows["w"] * part, indicators(rows)
        means = (a * rows["y"]) @ w / (a @ w)
        for answer, mean in zip(("low", "high"), means, strict=True):
            name = f"{browser} · {answer}"
            assert by.params[name] == pytest.approx(mean)
            assert by.bse[name] == pytest.approx(alone.bse[answer])
            assert list(by.interval(name)) == pytest.approx(
                list(alone.interval(answer))
            )
            quantile = f"{answer} · median"
            assert (
                by_quantile.params[f"{browser} · {quantile}"]
                == median.params[quantile]
            )
            assert by_quantile.interval(
                f"{browser} · {quantile}"
            ) == median.interval(quantile)
        (difference,) = np.diff(means)
        name = f"{browser} · high − low"
        assert by.about("difference").params[name] == pytest.approx(difference)
    assert by.about("difference").groups == ("A", "B")


def test_rows_whose_device_says_nothing_weigh_nothing_and_are_counted() -> None:
    rows = frame()
    silent = rows["rate"] == RATES[2]
    ones = {**rows, "rate": np.where(silent, "1", rows["rate"])}
    kept = {name: column[~silent] for name, column in rows.items()}
    found, expected = (dn.by_answer(r["y"], responses(r)) for r in (ones, kept))
    assert found.params == pytest.approx(expected.params)
    assert found.bse == pytest.approx(expected.bse)
    assert f"{silent.sum()} with a device that says nothing" in found.summary().title
    assert found.missing == 0
    assert found.respondents == (~silent).sum()
    with pytest.raises(NotEstimable, match="every answer sends the same"):
        dn.by_answer(rows["y"], dn.read_confidence(rows["value"], 1))


def test_a_group_that_may_be_empty_has_no_mean() -> None:
    rows = frame(share=0.0)
    found = dn.by_answer(rows["y"], responses(rows))
    assert list(found.interval("high")) == [-np.inf, np.inf]
    assert np.isfinite(list(found.interval("low"))).all()
    (warning,) = found.warnings
    assert warning.code == "unbounded"
    assert "'high': the data do not show that this group exists" in warning.text
    median = dn.quantiles_by_answer(rows["y"], responses(rows))
    assert list(median.interval("high · median")) == [-np.inf, np.inf]
    assert "do not show that this group exists" in str(median)
    assert "−∞ … ∞" in str(found)
    found.plot()  # which leaves out what has no ends


def test_weighing_devices_changes_nothing_where_all_are_alike_and_helps_where_not() -> (
    None
):
    rows = frame(n=4000)
    plain, weighted = (
        dn.by_answer(rows["y"], responses(rows), device_weights=is_on)
        for is_on in (False, True)
    )
    assert weighted.bse["high"] < 0.7 * plain.bse["high"]
    assert (
        weighted.about("difference").bse["high − low"]
        < 0.7 * plain.about("difference").bse["high − low"]
    )
    assert "weighted by device" in weighted.method
    assert weighted.total.params == plain.total.params
    alike = {**rows, "rate": np.full(4000, "0.2")}
    plain, weighted = (
        dn.by_answer(alike["y"], responses(alike), device_weights=is_on)
        for is_on in (False, True)
    )
    assert weighted.params == pytest.approx(plain.params)
    assert weighted.bse == pytest.approx(plain.bse)


def brute_force(
    rows: dict[str, Any], sample: dn.Sampling, tau: float
) -> tuple[Floats, Floats]:
    """Each value of y with |U|/√V of the group high, V from cluster sums at that value alone."""
    values = np.unique(rows["y"])
    c, z = sample.weights * indicators(rows)[:, 1], []
    for value in values:
        u = c * ((rows["y"] <= value) - tau)
        sums = np.bincount(sample.clusters, u)
        variance = sum(
            between(sums[sample.stratum_of == h])
            for h in range(len(sample.stratum_names))
        )
        z.append(abs(u.sum()) / np.sqrt(variance))
    return values, np.array(z)


@pytest.mark.parametrize("tau", [0.25, 0.5])
@pytest.mark.parametrize("strata", [{}, {"strata": "region"}])
@pytest.mark.parametrize("clusters", [{}, {"clusters": "village"}])
def test_the_interval_of_a_quantile_is_the_hull_of_all_values_not_rejected(
    tau: float, strata: dict[str, str], clusters: dict[str, str]
) -> None:
    rows = frame(n=240, share=0.5)
    rows["y"] = rows["y"].round(1)  # with ties
    sample = dn.Sampling("w", **strata, **clusters, data=rows)
    found = dn.quantiles_by_answer(
        rows["y"], responses(rows), [tau], sampling=sample
    )
    name = list(found.params)[1]
    values, z = brute_force(rows, sample, tau)
    for level in (0.5, 0.9, 0.95):
        inside = np.flatnonzero(z <= student.ppf((1 + level) / 2, found.df))
        low, high = found.interval(name, level=level)
        assert low == values[inside[0]]
        assert high == values[inside[-1] + 1]
    assert (
        dn.quantiles_by_answer(
            rows["y"], responses(rows), [tau], sampling=sample, interpolation="mdn"
        ).interval(name)[1]
        == found.interval(name)[1]
    )


def test_a_census_varies_by_the_device_alone() -> None:
    rows = frame()
    census = {"population": 480}
    direct = dn.by_answer(rows["y"], dn.read_confidence(rows["value"], 0), **census)
    assert list(direct.bse.values()) == pytest.approx([0, 0], abs=1e-9)
    whole = dn.by_answer(rows["y"], responses(rows), **census)
    sample = dn.by_answer(rows["y"], responses(rows))
    w = indicators(rows)
    spread = ((rows["y"][:, None] - list(whole.params.values())) ** 2) * (w**2 - w)
    expected = np.sqrt(spread.sum(axis=0)) / w.sum(axis=0)
    assert list(whole.bse.values()) == pytest.approx(expected)
    assert whole.bse["low"] < sample.bse["low"]
    low, high = dn.quantiles_by_answer(
        rows["y"], dn.read_confidence(rows["value"], 0), **census
    ).interval("low · median")
    assert high - low < 0.05  # nothing varies: the values next to the median


@pytest.mark.parametrize("population", [None, 480])
def test_quantiles_of_a_mirrored_outcome_are_mirrored(
    population: int | None,
) -> None:
    rows = frame()
    found, mirrored = (
        dn.quantiles_by_answer(
            side * rows["y"], responses(rows), [share], population=population
        )
        for side, share in ((1, 0.9), (-1, 0.1))
    )
    for name, other in zip(found.params, mirrored.params, strict=True):
        low, high = mirrored.interval(other)
        assert list(found.interval(name)) == pytest.approx([-high, -low])


def test_intervals_of_all_looks_are_wider_by_the_multiplier() -> None:
    rows = frame(n=4000)
    found = dn.by_answer(rows["y"], responses(rows))
    fixed, always = (found.interval("low", always=is_on) for is_on in (False, True))
    assert always.low < fixed.low < fixed.high < always.high
    median = dn.quantiles_by_answer(rows["y"], responses(rows))
    fixed, always = (
        median.interval("low · median", always=is_on) for is_on in (False, True)
    )
    assert always.low < fixed.low < fixed.high < always.high


def test_results_are_read_again() -> None:
    rows = frame(share=0.0)
    found = dn.by_answer(rows["y"], responses(rows), by=rows["browser"])
    again = dn.SampledEstimate.from_json(found.to_json(), None)
    assert again == found
    assert (
        again.about("difference").conf_int() == found.about("difference").conf_int()
    )
    quantiles = dn.quantiles_by_answer(rows["y"], responses(rows), [0.5, 0.9])
    read = dn.Statistic.from_json(quantiles.to_json(), None)
    assert read == quantiles
    assert str(read) == str(quantiles)


def test_replicates_and_columns_of_pandas_are_taken() -> None:
    pd = pytest.importorskip("pandas")
    rows = frame()
    table = pd.DataFrame(rows)
    found = dn.by_answer(
        table["y"],
        dn.read_confidence(table["value"], table["rate"]),
        sampling=dn.Sampling(clusters="village", replicates="jackknife", data=table),
    )
    linearized = dn.by_answer(
        rows["y"],
        responses(rows),
        sampling=dn.Sampling(clusters="village", data=rows),
    )
    assert found.bse == pytest.approx(linearized.bse, rel=0.2)
    with pytest.raises(InvalidRequest, match="the sampling has replicates"):
        dn.quantiles_by_answer(
            rows["y"],
            responses(rows),
            sampling=dn.Sampling(
                clusters="village", replicates="jackknife", data=rows
            ),
        )


def test_what_does_not_fit_is_refused() -> None:
    rows = frame()
    sent = responses(rows)
    with pytest.raises(InvalidRequest, match="no finite number in row 1"):
        dn.by_answer([np.nan] * 480, sent)
    with pytest.raises(InvalidRequest, match="outcomes have 3 rows"):
        dn.by_answer([1, 2, 3], sent)
    with pytest.raises(InvalidRequest, match=r"population= and sampling="):
        dn.by_answer(rows["y"], sent, sampling=dn.Sampling(rows["w"]), population=9)
    with pytest.raises(InvalidRequest, match="what was sent"):
        dn.by_answer(rows["y"], ["high"] * 480)
    for quantiles in ([0.5, 1], ["median"]):
        with pytest.raises(InvalidRequest, match="a quantile lies outside"):
            dn.quantiles_by_answer(rows["y"], sent, quantiles)
    with pytest.raises(InvalidResponse, match=r"a rate is 1\.5"):
        dn.read_confidence(["high"], 1.5)
    with pytest.raises(InvalidResponse, match="medium"):
        dn.read_confidence(["medium"], 0.5)
