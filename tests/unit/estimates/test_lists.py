"""List experiments: unbiased over every world of few people, and likelihood and test against searches and draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from scipy.stats import binom, chi2, multinomial

import deniable as dn
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.lists import _orthant_test, treated_arm
from tests.golden.answers.frontier_lists import rows
from tests.support.commands import done, run

RACE = [[8, 132, 222, 227], [19, 123, 229, 219, 34]]
SOUTH = {
    "0": {"control": [5, 92, 159, 186], "treated": [15, 96, 174, 181, 20]},
    "1": {"control": [3, 40, 63, 41], "treated": [4, 27, 55, 38, 14]},
}
COMBINED = {
    "direct_no": {"control": [0, 3, 32, 36, 27], "treated": [0, 0, 26, 31, 18, 2]},
    "direct_yes": {"control": [0, 2, 35, 69, 53], "treated": [0, 0, 7, 42, 40, 80]},
}


def race(**options: Any) -> Any:
    return dn.list_experiment(RACE, n_items=3, **options)


def worlds(n: int, law: np.ndarray) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield every table of the counts of n people, with its probability."""
    for table in product(range(n + 1), repeat=len(law)):
        if sum(table) == n:
            yield table, float(multinomial.pmf(table, n, law))


def test_the_difference_and_its_variance_are_unbiased_over_every_world() -> None:
    """Two people in each arm and one item besides, at a share of 0.3."""
    items, share = np.array([0.6, 0.4]), 0.3
    treated = (1 - share) * np.append(items, 0) + share * np.append(0, items)
    mean = second = variance = 0.0
    for (low, p_low), (high, p_high) in product(
        worlds(2, items), worlds(2, treated)
    ):
        found, p = dn.list_experiment([low, high], n_items=1), p_low * p_high
        mean += p * found.value
        second += p * (found.value - share) ** 2
        variance += p * found.error**2
    assert mean == pytest.approx(share)
    assert variance == pytest.approx(second)


def log_likelihood(table: Any, share: float, item: float) -> float:
    """The likelihood of the binomial model, written out."""
    control, treated = map(np.asarray, table)
    n = len(control) - 1
    own, added = (binom.pmf(np.arange(n + 2) - shift, n, item) for shift in (0, 1))
    law = (1 - share) * own + share * added
    return float(control @ np.log(own[:-1]) + treated @ np.log(law))


def test_the_likelihood_is_at_its_top_to_the_last_digits() -> None:
    """A search that knows nothing of ours ends at the same share; a climb that stops .01 nats below does not."""

    def loss(numbers: Any) -> float:
        share, item = 1 / (1 + np.exp(-np.asarray(numbers)))
        return -log_likelihood(RACE, share, item)

    options = {"xatol": 1e-11, "fatol": 1e-12, "maxiter": 2000}
    best = minimize(loss, [-2.0, 1.0], method="Nelder-Mead", options=options)
    share = 1 / (1 + math.exp(-best.x[0]))
    assert race().params["likelihood"] == pytest.approx(share, abs=1e-7)


@pytest.mark.parametrize("cell", range(9))
def test_the_error_of_the_likelihood_follows_every_count(cell: int) -> None:
    """Its derivative by the share of a count is that of two tables that differ a little."""
    model = race().model
    cell += cell > 3  # nobody of the control arm has four
    step = np.zeros(10)
    step[cell] = 1e-6
    ends = [
        replace(
            model, said=replace(model.said, value=model.said.value + sign * step)
        )
        for sign in (1, -1)
    ]
    high, low = (end._maximize(0).share for end in ends)
    assert model._maximize(0).slope[cell] == pytest.approx(
        (high - low) / 2e-6, rel=1e-4, abs=1e-5
    )


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_mixture_of_the_design_test_is_that_of_drawn_projections(
    size: int,
) -> None:
    """20,000 draws tell a share to .0035: six of these are passed by chance once in 10⁹ cases."""
    rng = np.random.default_rng([17, size])
    half = rng.normal(size=(size, size))
    covariance = half @ half.T + 0.2 * np.eye(size)
    values = np.linalg.cholesky(covariance) @ np.linspace(-1.2, -0.2, size)
    statistic, p_value = _orthant_test(values, covariance)
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    draws = rng.normal(size=(20_000, size))  # root @ N(0, S)
    distances = np.array([nnls(root, draw)[1] ** 2 for draw in draws])
    assert statistic == pytest.approx(nnls(root, root @ values)[1] ** 2)
    assert 0.02 < p_value < 0.9
    assert p_value == pytest.approx((distances >= statistic).mean(), abs=0.022)


def test_the_design_test_is_doubled_and_never_above_one() -> None:
    joint = race().model.joint()
    values, covariance = np.array(list(joint.params.values())), joint.cov_params()
    _, members = _orthant_test(values[:3], covariance[:3, :3])
    assert race().model.design_test().p_value == pytest.approx(2 * members)
    assert chi2.sf(race().model.design_test().statistic, 3) > members
    clean = dn.list_experiment([[10, 30, 10], [8, 27, 14, 3]], n_items=2)
    assert clean.model.design_test().p_value == 1


def test_a_sensitive_item_that_lowers_counts_is_warned_of() -> None:
    table = [[40, 120, 120, 40], [60, 130, 100, 30, 0]]
    found = dn.list_experiment(table, n_items=3)
    codes = {caution.code for caution in found.warnings}
    assert codes == {"design-effect", "outside", "border"}
    assert math.isnan(found.bse["likelihood"])
    assert math.isfinite(found.bse["difference"])


def test_groups_are_estimated_as_tables_of_their_own() -> None:
    data = rows(SOUTH)
    found = dn.list_experiment("y", "treated", n_items=3, by="group", data=data)
    for name, table in SOUTH.items():
        own = dn.list_experiment([table["control"], table["treated"]], n_items=3)
        assert found.params[f"{name} · difference"] == pytest.approx(own.value)
        assert found.bse[f"{name} · likelihood"] == pytest.approx(
            own.bse["likelihood"]
        )
        assert found.model.joint(name).params == pytest.approx(
            own.model.joint().params
        )
    with pytest.raises(InvalidRequest, match="the group is 'west'"):
        found.model.joint("west")


def test_the_regression_has_effects_and_predictions_of_the_sensitive_item() -> None:
    data = rows(SOUTH)
    fit = dn.list_experiment(
        "y", "treated", n_items=3, predictors="group", data=data
    )
    north, south = fit.predict({"group": [0, 1]})["estimate"]
    assert fit.effects().params["group"] == pytest.approx(south - north)
    intercept = fit.params["Intercept"]
    assert north == pytest.approx(1 / (1 + math.exp(-intercept)))
    assert dn.Regression.from_json(fit.to_json(), None) == fit
    assert "ε is infinite" in str(fit.summary())


def test_items_of_members_of_their_own_run_to_the_border_with_a_warning() -> None:
    fit = dn.list_experiment(
        "y",
        "treated",
        n_items=3,
        predictors="group",
        constrained=False,
        data=rows(SOUTH),
    )
    assert [caution.code for caution in fit.warnings] == ["separation"]
    assert "'members ~ Intercept'" in fit.warnings[0].text


def test_a_placebo_test_asks_whether_the_list_finds_all_who_admit() -> None:
    found = dn.list_experiment(
        "y", "treated", n_items=4, direct="group", data=rows(COMBINED)
    )
    error = found.bse["admitted"]
    assert error == pytest.approx(0.0945, abs=1e-4)
    placebo = found.model.placebo()
    assert placebo.statistic == pytest.approx(
        ((found.params["admitted"] - 1) / error) ** 2
    )
    assert found.test("admitted = 1").p_value == pytest.approx(placebo.p_value)
    assert dn.Statistic.from_json(found.to_json(), None) == found


def test_a_sample_brings_its_weights_and_clusters() -> None:
    data = rows(SOUTH)
    n = len(data["y"])
    weights = 1 + np.asarray(data["group"])
    arms = np.asarray(data["treated"]) == 1
    found = dn.list_experiment(
        "y",
        "treated",
        n_items=3,
        data=data,
        sampling=dn.Sampling(weights, clusters=np.arange(n) % 40),
    )
    means = [
        np.average(np.asarray(data["y"])[arm], weights=weights[arm])
        for arm in (arms, ~arms)
    ]
    assert found.value == pytest.approx(means[0] - means[1])
    assert found.df == 39
    villages = np.arange(n) // 30  # whose people say nearly the same
    wide = dn.list_experiment(
        "y", "treated", n_items=3, data=data, sampling=dn.Sampling(clusters=villages)
    )
    assert wide.error > 3 * race().error


def test_people_without_a_count_are_told_of() -> None:
    counts = [0, 1, 2, 1, None, 0, 1, 2, 2, math.nan]
    found = dn.list_experiment(counts, [0] * 5 + [1] * 5, n_items=2)
    assert found.summary().missing == 2
    assert found.value == pytest.approx(0.25)
    arms = [None, *[0] * 4, *[1] * 5]
    assert dn.list_experiment(counts, arms, n_items=2).summary().missing == 3


def test_the_channel_of_the_treated_arm_is_exact_and_proves_both_ends() -> None:
    arm = treated_arm([8, 132, 222, 227])
    assert arm.epsilon == math.inf
    assert arm.delta(50) == pytest.approx(227 / 589)
    assert arm.probability("4", given="no") == 0
    assert arm.probability("0", given="yes") == 0
    text = str(race().summary())
    assert "ε is infinite" in text
    assert "The count 4 exposes 38.5% of the members" in text
    # nobody has none of the items: the least count proves, and no row is empty
    assert treated_arm([0, 1, 1]).symbols == ("1", "2", "3")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_items": 0}, "n_items is 0"),
        ({"n_items": 2}, "no possible count in row 4"),
        ({"treated": [0, 2] * 4}, "treated is not always 1 or 0"),
        ({"treated": [0, 1]}, "arms"),
        ({"counts": ["a"] * 8}, "no number"),
        ({"by": [1] * 8, "direct": [0, 1] * 4}, "by= and direct="),
        ({"predictors": "1", "by": [1] * 8, "data": {}}, "predictors="),
        ({"treated": None, "by": [1] * 8}, "by= needs a row"),
        ({"treated": None}, "no table of both arms"),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    options: dict[str, Any], message: str
) -> None:
    columns: dict[str, Any] = {
        "counts": [0, 1, 2, 3, 0, 4, 2, 3],
        "treated": [0, 0, 0, 0, 1, 1, 1, 1],
        "n_items": 3,
    }
    with pytest.raises(InvalidRequest, match=message):
        dn.list_experiment(**(columns | options))


def test_swapped_arms_are_seen_where_a_count_is_impossible() -> None:
    with pytest.raises(InvalidRequest, match="which arm is 1 in treated="):
        dn.list_experiment([0, 1, 3, 4], [1, 1, 0, 0], n_items=3)
    with pytest.raises(InvalidRequest, match="table of both arms"):
        dn.list_experiment(RACE[::-1], n_items=3)
    with pytest.raises(InvalidRequest, match="table of both arms"):
        dn.list_experiment([[10**30, 2], [3, 4, 5]], n_items=1)


def test_an_arm_of_one_person_is_refused() -> None:
    with pytest.raises(NotEstimable, match="fewer than 2 people"):
        dn.list_experiment([1, 2, 1], [0, 0, 1], n_items=2)


def test_the_shell_reads_a_file(tmp_path: Path) -> None:
    data = rows(SOUTH)
    lines = zip(data["y"], data["treated"], data["group"], strict=True)
    file = tmp_path / "race.csv"
    file.write_text(
        "y,t,south\n" + "".join(f"{y},{t},{south}\n" for y, t, south in lines)
    )
    words = f"list-experiment {file} --counts y --treated t --n-items 3".split()
    found = dn.Statistic.from_json(done(*words, "--json").stdout, None)
    assert found == race()
    assert "1 · difference" in done(*words, "--by", "south").stdout
    assert "items ~ south" in done(*words, "--predictors", "south").stdout
    assert run(*words[:-1], "2").exit_code == 2
