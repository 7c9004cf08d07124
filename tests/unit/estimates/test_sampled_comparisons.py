"""Groups and tables of two questions, of the people that a sample stands for."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from scipy.stats import f as f_law
from scipy.stats import t as student

import deniable as dn
from deniable import documents
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
)
from deniable.estimates.measures import Correlation, TableMeasure
from deniable.estimates.testing import wald_test

FORCED = dn.forced_response("2/3", "1/6", "1/6")
THREE = dn.k_ary(["never", "once", "often"], epsilon=3)
N = 2_000
RNG = np.random.default_rng(2026)
REGION = RNG.choice(["north", "south", "west"], N)
VILLAGE = RNG.integers(50, size=N)
WEIGHT = RNG.uniform(1, 5, N)
CARRIER = RNG.random(N) < np.where(REGION == "north", 0.45, 0.15)
OTHER = np.where(CARRIER, RNG.random(N) < 0.6, RNG.random(N) < 0.3)


def sent(truth: np.ndarray, seed: int) -> dn.Responses[dn.Design]:
    rng = np.random.default_rng(seed)
    say = rng.random(len(truth))
    codes = np.where(say < 1 / 6, 0, np.where(say > 5 / 6, 1, truth))
    return dn.Responses(FORCED, {"response": codes.astype(np.uint8)})


FIRST, SECOND = sent(CARRIER, 1), sent(OTHER, 2)
CLUSTERED = dn.Sampling(WEIGHT, clusters=VILLAGE)
EVEN = dn.Sampling([1.0] * N)


def test_groups_of_a_sample_are_compared_in_pairs() -> None:
    found = dn.estimate(FIRST, sampling=CLUSTERED, by=REGION)
    assert found.groups == ("north", "south", "west")
    pairs = found.pairwise()
    assert list(pairs.params) == [
        "north − south · yes",
        "north − west · yes",
        "south − west · yes",
    ]
    gap = found.contrast({"north · yes": 1, "south · yes": -1})
    assert pairs.params["north − south · yes"] == gap.value
    assert pairs.bse["north − south · yes"] == gap.error
    tail = 2 * student.sf(abs(gap.value / gap.error), found.degrees[0])
    assert pairs.p_values["north − south · yes"] == pytest.approx(tail)
    assert pairs.adjusted["north − south · yes"] == pytest.approx(3 * tail)
    spread = found.cov_params()  # of no and yes in north, south and west
    # of north − south with north − west
    shared = spread[1, 1] - spread[1, 5] - spread[3, 1] + spread[3, 5]
    assert pairs.cov_params()[0, 1] == pytest.approx(shared)
    low, high = pairs.conf_int()["north − south · yes"]
    assert 0 < low < gap.value < high
    assert dn.Differences.from_json(pairs.to_json(), FORCED) == pairs
    assert pickle.loads(pickle.dumps(pairs)) == pairs
    assert "adjusted for 3 comparisons" in str(pairs.summary())
    with pytest.raises(InvalidRequest, match="expected at least two"):
        dn.estimate(FIRST, sampling=CLUSTERED).pairwise()
    with pytest.raises(InvalidRequest, match="by=\\(region == 'north'\\)"):
        found.against_rest()
    body = json.loads(pairs.to_json())
    plain = {
        name: value for name, value in body.items() if name not in ("schema", "hash")
    }
    for change in ({"of": "counted"}, {"against": "all"}):
        source = {**body["source"], **change}
        with pytest.raises(
            UnreadableFile, match="expected pairs or rest of groups or sampled"
        ):
            dn.Differences.from_json(
                documents.seal("result", {**plain, "source": source}), FORCED
            )


def test_a_test_of_two_groups_is_that_of_their_difference() -> None:
    found = dn.estimate(FIRST, sampling=CLUSTERED, by=REGION == "north")
    [p_value] = found.pairwise().p_values.values()
    test = found.homogeneity("yes")
    assert test.p_value == pytest.approx(p_value)
    assert (test.df, test.below) == (1, int(found.degrees.min()))
    # shares of two categories move together
    assert found.homogeneity().p_value == pytest.approx(p_value)
    assert f"{found.homogeneity()}." in found.summary().notes
    assert "F = " in str(test)
    with pytest.raises(InvalidRequest, match="'maybe' was not estimated"):
        found.homogeneity("maybe")


def test_groups_that_are_alike_are_seldom_told_apart() -> None:
    """False alarms of 400 samples whose villages differ and whose groups do not: 5 % ± 5 errors of 1.1 %."""
    rng, alarms, naive = np.random.default_rng(7), 0, 0
    for _ in range(400):
        village = np.repeat(np.arange(24), 15)
        truth = rng.random(360) < rng.beta(1, 4, 24)[village]
        say = rng.random(360)
        codes = np.where(say < 1 / 6, 0, np.where(say > 5 / 6, 1, truth)).astype(
            np.uint8
        )
        rows = dn.Responses(FORCED, {"response": codes})
        group = village % 3  # villages belong to one group each
        alarms += (
            dn.estimate(rows, sampling=dn.Sampling(clusters=village), by=group)
            .homogeneity()
            .p_value
            < 0.05
        )
        naive += (
            dn.estimate(rows, sampling=dn.Sampling([1.0] * 360), by=group)
            .homogeneity()
            .p_value
            < 0.05
        )
    # of 20 expected: the chance of more is below 1e-5 for a test of exactly 5 %
    assert alarms <= 42
    # without clusters people of one village count as if they were strangers
    assert naive > alarms


def test_few_clusters_cannot_tell_many_numbers() -> None:
    rows = dn.Responses(
        THREE, {"response": RNG.integers(3, size=N).astype(np.uint8)}
    )
    found = dn.estimate(rows, sampling=dn.Sampling(clusters=VILLAGE % 3), by=REGION)
    with pytest.raises(NotEstimable, match="too few clusters"):
        found.homogeneity()
    four = dn.estimate(
        rows, sampling=dn.Sampling(clusters=VILLAGE % 4), by=REGION
    ).homogeneity("often")
    assert (four.df, four.below) == (2, 2)
    assert any("too few clusters" in note for note in found.summary().notes)
    assert wald_test("nothing", [0.0], [[0.0]], 3).p_value == 1


def test_the_law_of_several_differences_is_an_f() -> None:
    """Hotelling's: with V from m degrees of freedom, W·(m − q + 1)/(m·q) follows F(q, m − q + 1)."""
    test = wald_test("x = y = 0", [1.0, -2.0], [[1.0, 0.0], [0.0, 4.0]], 10)
    assert test.statistic == pytest.approx(2 * 9 / 20)
    assert test.p_value == pytest.approx(f_law.sf(0.9, 2, 9))
    assert (
        str(test) == "x = y = 0: F = 0.90 with 2 and 9 degrees of freedom, p = 0.44"
    )


def test_a_table_of_even_weights_is_the_plain_one() -> None:
    plain = dn.cross_table(FIRST, SECOND, rows="smokes", columns="drinks")
    table = dn.cross_table(
        FIRST, SECOND, rows="smokes", columns="drinks", sampling=EVEN
    )
    assert isinstance(table, dn.Table)
    assert table.shares == pytest.approx(plain.shares)
    assert table.errors == pytest.approx(plain.errors, rel=2e-3)
    assert table.row_errors == pytest.approx(plain.row_errors, rel=2e-3)
    assert table.cells.likely == pytest.approx(plain.cells.likely, abs=1e-6)
    for name in ("odds_ratio", "correlation"):
        own, theirs = getattr(table, name)(), getattr(plain, name)()
        assert own.value == pytest.approx(theirs.value, rel=1e-4)
        [one], [two] = own.conf_int().values(), theirs.conf_int().values()
        assert tuple(one) == pytest.approx(tuple(two), rel=0.02)
    among = table.share("yes", among="yes")
    assert among.value == pytest.approx(
        plain.share("yes", among="yes").value, rel=1e-4
    )
    assert table.independence().statistic == pytest.approx(
        plain.independence().statistic, rel=0.3
    )
    assert table.independence().p_value == pytest.approx(
        plain.independence().p_value, abs=0.01
    )
    assert "Odds ratio" in str(table)
    assert table.cramers_v == pytest.approx(plain.cramers_v, rel=1e-3)


def test_a_table_of_a_clustered_sample_is_less_sure() -> None:
    village = np.repeat(np.arange(50), 40)
    rng = np.random.default_rng(5)
    truth = rng.random(N) < rng.beta(1, 3, 50)[village]
    one, two = sent(truth, 3), sent(truth, 4)  # the same people carry both
    table = dn.cross_table(one, two, sampling=dn.Sampling(clusters=village))
    loose = dn.cross_table(one, two, sampling=EVEN)
    assert table.row_errors[1] > 1.5 * loose.row_errors[1]
    sex = rng.choice(["f", "m"], N)
    widths = []
    for sample in (dn.Sampling(clusters=village), EVEN):
        among = dn.cross_table(sex, one, sampling=sample).share("yes", among="f")
        for method in ("profile", "normal"):
            low, high = among.conf_int(method=method)["share"]
            widths.append(high - low)
    assert widths[0] > 1.5 * widths[2]
    assert widths[0] / widths[2] == pytest.approx(widths[1] / widths[3], rel=0.1)
    ratio = table.odds_ratio()
    assert ratio.conf_int()["odds ratio"].low > 1
    for result, kind in ((table, dn.Table), (ratio, dn.Statistic)):
        assert kind.from_json(result.to_json(), table.design) == result
        assert pickle.loads(pickle.dumps(result)) == result
    uneven = dn.cross_table(FIRST, SECOND, sampling=CLUSTERED)
    assert uneven.shares.min() > 0
    # inside, the unbiased one is the best
    assert uneven.cells.likely == pytest.approx(uneven.shares.reshape(-1), abs=1e-6)
    weighed = dn.cross_table(
        one, two, sampling=dn.Sampling(np.full(N, 3.0), clusters=village)
    )
    assert weighed.shares == pytest.approx(table.shares)
    assert weighed.errors == pytest.approx(table.errors)


def test_a_table_of_a_sample_needs_rows() -> None:
    counted = dn.tally(dn.product({"a": FORCED, "b": FORCED}), [0, 1, 2, 3, 3])
    with pytest.raises(InvalidRequest, match="a sampling describes rows"):
        dn.cross_table(counted, sampling=EVEN)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="rows"):
        dn.cross_table(FIRST, SECOND, sampling=dn.Sampling([1.0] * 7))
    with pytest.raises(Incompatible, match="rows; expected one of each"):
        dn.cross_table(FIRST, REGION[:5], sampling=EVEN)
    missing = [None, *list(FIRST)[1:]]
    table = dn.cross_table((FORCED, missing), SECOND, sampling=EVEN)
    assert (table.estimate.respondents, table.estimate.missing) == (N - 1, 1)


def test_correlations_of_a_sample() -> None:
    age = RNG.normal(45, 12, N) + 8 * CARRIER
    plain, even = (
        dn.correlation(FIRST, age),
        dn.correlation(FIRST, age, sampling=EVEN),
    )
    assert (even.params, even.bse["correlation"]) == (
        pytest.approx(plain.params),
        pytest.approx(plain.bse["correlation"], rel=1e-3),
    )
    found = dn.correlation(FIRST, age, sampling=CLUSTERED)
    assert isinstance(found.model, Correlation)
    assert found.df == 49
    knife = dn.correlation(
        FIRST,
        age,
        sampling=dn.Sampling(WEIGHT, clusters=VILLAGE, replicates="jackknife"),
    )
    assert knife.params == pytest.approx(found.params)
    assert knife.bse["correlation"] == pytest.approx(
        found.bse["correlation"], rel=0.05
    )
    ours = found.conf_int(method="normal")["correlation"]
    reach = student.ppf(0.975, 49) * found.bse["correlation"]
    assert ours.high - ours.low == pytest.approx(2 * reach)
    assert dn.Statistic.from_json(found.to_json(), FORCED) == found
    both = dn.correlation(FIRST, SECOND, sampling=CLUSTERED)
    assert isinstance(both.model, TableMeasure)
    assert both.value == pytest.approx(
        dn.cross_table(FIRST, SECOND, sampling=CLUSTERED).correlation().value
    )
    for each in (found, both):
        assert each.summary().title.endswith(f", {CLUSTERED.describe()}")
    with pytest.raises(InvalidRequest, match="expected a Sampling"):
        dn.correlation(FIRST, age, sampling=WEIGHT)  # type: ignore[arg-type]
