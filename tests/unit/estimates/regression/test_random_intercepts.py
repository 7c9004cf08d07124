"""Random intercepts through `dn.regress`: every family, weights, and the border, against sums over a fine grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

import deniable as dn
from deniable.errors import InvalidRequest, NotEstimable
from tests.support.seeded import Seeded

FORCED = dn.forced_response("2/3", "1/6", "1/6")
SD = "sd of intercepts"


def table(
    design: dn.Design = FORCED,
    groups: int = 12,
    each: int = 25,
    seed: int = 5,
    sd: float = 1.0,
) -> pd.DataFrame:
    """Responses of groups whose intercepts have a deviation, in mixed order."""
    rng, others = np.random.default_rng(seed), len(design.categories) - 1
    school = rng.permutation(np.repeat(np.arange(groups), each))
    x, raised = rng.normal(size=len(school)), sd * rng.normal(size=(groups, others))
    shares = softmax(
        np.column_stack([np.zeros(len(x)), raised[school] + 0.5 * x[:, None]]),
        axis=1,
    )
    law = np.cumsum(shares @ design.channel.floats().T, axis=1)
    sent = (rng.random((len(x), 1)) > law[:, :-1]).sum(axis=1)
    return pd.DataFrame(
        {"sent": sent, "x": x, "school": school, "town": school // 2}
    )


def by_hand(
    frame: pd.DataFrame, channel: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Return the maximum of the multinomial likelihood with intercepts summed over an even grid, by no derivative."""
    axes = channel.shape[1] - 1
    line = np.linspace(-5.5, 5.5, 31 if axes > 1 else 201)
    b = np.stack([each.ravel() for each in np.meshgrid(*[line] * axes)], axis=1)
    prior = -(b**2).sum(axis=1) / 2 + axes * np.log(
        (line[1] - line[0]) / np.sqrt(2 * np.pi)
    )
    w = np.ones(len(frame)) if weights is None else weights
    parts = [
        (np.flatnonzero(frame["school"] == one), w[frame["school"] == one].mean())
        for one in set(frame["school"])
    ]
    x, given = (
        np.column_stack([np.ones(len(frame)), frame["x"]]),
        channel[frame["sent"]],
    )

    def negative(theta: np.ndarray) -> float:
        eta = x @ theta[: 2 * axes].reshape(axes, 2).T
        total = 0.0
        for rows, mean in parts:
            raised = eta[rows][:, None, :] + theta[2 * axes :] * b
            shares = softmax(
                np.concatenate([np.zeros((*raised.shape[:2], 1)), raised], axis=2),
                axis=2,
            )
            logs = np.log(np.einsum("ibj,ij->ib", shares, given[rows]))
            total += mean * logsumexp(prior + (w[rows] / mean) @ logs)
        return -total

    start = np.append(np.zeros(2 * axes), np.full(axes, 0.8))
    found = minimize(negative, start, method="BFGS", options={"gtol": 1e-5})
    return np.append(found.x[: 2 * axes], np.abs(found.x[2 * axes :])), -float(
        found.fun
    )


@pytest.mark.parametrize("design", [dn.direct(), FORCED], ids=["direct", "forced"])
def test_two_answers_have_the_maximum_of_a_fine_sum(design: dn.Design) -> None:
    frame = table(design)
    theta, value = by_hand(frame, design.channel.floats())
    found = dn.regress("sent ~ x", frame, design=design, intercepts="school")
    assert found.log_likelihood == pytest.approx(value, abs=1e-5)
    assert found.values == pytest.approx(theta, abs=2e-3)


@pytest.mark.parametrize(
    "design", [dn.direct(3), dn.k_ary(3, 3)], ids=["direct", "k_ary"]
)
def test_three_answers_have_the_maximum_of_a_fine_sum(design: dn.Design) -> None:
    frame = table(design, groups=6, each=15)
    theta, value = by_hand(frame, design.channel.floats())
    found = dn.regress("sent ~ x", frame, design=design, intercepts="school")
    assert list(found.params)[-2:] == [
        f"{answer}: {SD}" for answer in design.categories[1:]
    ]
    assert found.log_likelihood == pytest.approx(value, abs=1e-4)
    assert found.values == pytest.approx(theta, abs=5e-3)
    assert (
        "Each of 6 groups has its own intercept for each answer but the first; "
        in str(found.summary())
    )


def test_a_multinomial_of_two_answers_is_the_logit() -> None:
    frame = table()
    one, two = (
        dn.regress(
            "sent ~ x", frame, design=FORCED, intercepts="school", family=family
        )
        for family in ("logit", "multinomial")
    )
    assert two.values == pytest.approx(one.values, abs=1e-9)
    assert two.cov_params() == pytest.approx(one.cov_params(), abs=1e-9)
    assert two.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-10)


def test_the_order_of_rows_says_nothing() -> None:
    frame = table(dn.k_ary(3, 3), groups=6)
    one, two = (
        dn.regress("sent ~ x", rows, design=dn.k_ary(3, 3), intercepts="school")
        for rows in (frame, frame.sort_values("school"))
    )
    assert two.values == pytest.approx(one.values, abs=1e-6)
    assert one.predict().index.tolist() == [
        (row, answer) for row in frame.index for answer in one.categories
    ]


def test_numbers_asked_directly_have_the_mixed_model_of_statsmodels() -> None:
    """Levels of a number that are sent as they are: maximum likelihood of a linear mixed model."""
    rng = np.random.default_rng(2)
    frame = table(groups=15, each=10)
    raised = rng.normal(0, 3, 15)[frame["school"]]
    frame["sent"] = np.clip(
        np.round(10 + 2 * frame["x"] + raised + rng.normal(0, 2, len(frame))), 0, 20
    ).astype(int)
    # next to nobody sends another level
    design = dn.number_design(0, 20, 60, levels=21)
    found = dn.regress(
        "sent ~ x", frame, design=design, intercepts="school", codes=True
    )
    fit = sm.MixedLM(
        frame["sent"].astype(float),
        sm.add_constant(frame["x"]),
        groups=frame["school"],
    ).fit(reml=False)
    assert (found.family, found.errors) == ("linear", "robust")
    assert [found.params[each] for each in ("Intercept", "x")] == pytest.approx(
        fit.fe_params.tolist(), abs=1e-4
    )
    assert found.params[SD] == pytest.approx(
        float(np.sqrt(fit.cov_re.iloc[0, 0])), rel=1e-3
    )
    assert found.params["sd of errors"] == pytest.approx(
        float(np.sqrt(fit.scale)), rel=1e-3
    )
    assert np.isnan(found.log_likelihood)  # of a law that is only a working one
    normal = dn.regress(
        "sent ~ x",
        frame,
        design=design,
        intercepts="school",
        codes=True,
        family="normal",
    )
    assert normal.params[SD] == pytest.approx(found.params[SD], rel=0.02)


def test_an_outcome_has_intercepts_of_its_own() -> None:
    """Through a direct question the outcome's part is the linear mixed model."""
    rng = np.random.default_rng(3)
    frame = table(dn.direct(), groups=15, each=10)
    frame["o"] = (
        2 * frame["x"]
        - frame["sent"]
        + rng.normal(0, 2, 15)[frame["school"]]
        + rng.normal(size=150)
    )
    found = dn.regress(
        "o ~ x + sent",
        frame,
        design=dn.direct(),
        predictor="sent",
        family="normal",
        intercepts="school",
    )
    fit = sm.MixedLM(
        frame["o"], sm.add_constant(frame[["x", "sent"]]), groups=frame["school"]
    ).fit(reml=False)
    assert [found.params[each] for each in ("x", "sent")] == pytest.approx(
        fit.fe_params.tolist()[1:], abs=1e-4
    )
    assert found.params[SD] == pytest.approx(
        float(np.sqrt(fit.cov_re.iloc[0, 0])), rel=1e-3
    )


def test_deviations_on_the_border_are_named() -> None:
    """Every group sends the same: of three answers each deviation is 0, and the p value is that of a border."""
    rows = {
        "sent": [0, 0, 1, 2, 1, 2] * 30,
        "x": [0, 1, 0, 1, 1, 0] * 30,
        "school": [n // 18 for n in range(180)],
    }
    design = dn.k_ary(3, 3)
    found = dn.regress("sent ~ x", rows, design=design, intercepts="school")
    assert found.values[-2:].tolist() == [0, 0]
    for row in found.summary().rows[-2:]:
        assert np.isnan([row.error, row.low, row.high]).all()
    assert np.isfinite(found.test("`1: x` = 0").p_value)
    assert np.isfinite(list(found.effects().params.values())).all()
    again = dn.Regression.from_json(found.to_json(), design)
    assert str(again.summary()) == str(found.summary())
    [caution] = [each for each in found.warnings if each.code == "border"]
    assert f"'1: {SD}', '2: {SD}'" in caution.text
    tested = found.compare(dn.regress("sent ~ x", rows, design=design))
    assert (tested.df, tested.statistic) == (2, pytest.approx(0, abs=1e-6))
    assert tested.p_value == pytest.approx(1, abs=1e-3)
    assert str(tested).startswith(
        "Test of sent ~ x against sent ~ x with intercepts of 10 groups: G² = 0.00 with 2"
    )
    assert "2 degrees of freedom, 2 on the border, p = " in str(tested)


def test_the_profile_interval_of_a_deviation_ends_at_0() -> None:
    """Few groups that hardly differ: a regression without them is hardly less likely."""
    frame = table(groups=6, sd=0.3)
    found = dn.regress("sent ~ 1", frame, design=FORCED, intercepts="school")
    plain = dn.regress("sent ~ 1", frame, design=FORCED)
    assert 2 * (found.log_likelihood - plain.log_likelihood) < 3.84
    low, high = found.conf_int(method="profile")[SD]
    assert low == 0
    assert found.params[SD] < high < 20


def test_no_interval_of_a_deviation_begins_below_0() -> None:
    frame = table(groups=6, sd=0.5, seed=4)
    found = dn.regress("sent ~ 1", frame, design=FORCED, intercepts="school")
    assert 0 < found.params[SD] < 1.96 * found.bse[SD]
    for method in ("normal", "chebyshev"):
        assert found.conf_int(method=method)[SD].low == 0
    sampled = weighed(frame, np.ones(len(frame)))
    # t of 5 degrees of freedom
    assert 0 < sampled.params[SD] < 2.5706 * sampled.bse[SD]
    assert sampled.conf_int()[SD].low == 0


def test_groups_of_one_row_are_refused() -> None:
    frame = table().assign(row=range(300), pair=np.arange(300) // 2)
    with pytest.raises(
        NotEstimable,
        match="300 of 300 groups of 'row' have one row; expected groups of several rows",
    ):
        dn.regress("sent ~ x", frame, design=FORCED, intercepts="row")
    assert (
        dn.regress("sent ~ x", frame, design=FORCED, intercepts="pair").groups == 150
    )


def test_a_message_holds_plain_numbers() -> None:
    frame = table()
    with pytest.raises(
        InvalidRequest,
        match=r"the group [0-9]+ of 'school' lies in several clusters",
    ):
        dn.regress(
            "sent ~ x",
            frame,
            design=FORCED,
            intercepts="school",
            sampling=dn.Sampling([1] * len(frame)),
        )


def weighed(frame: pd.DataFrame, weights: Any, **options: Any) -> dn.Regression:
    sample = dn.Sampling(weights, clusters="school", data=frame)
    return dn.regress(
        "sent ~ x",
        frame,
        design=FORCED,
        intercepts="school",
        sampling=sample,
        **options,
    )


def test_weights_have_the_maximum_of_a_fine_sum() -> None:
    """Rows count with weights that are scaled to sum to their group's rows, and the group with their mean."""
    frame = table()
    w = np.random.default_rng(8).uniform(1, 6, len(frame)) * (
        1 + frame["school"].to_numpy() % 3
    )
    theta, value = by_hand(frame, FORCED.channel.floats(), w)
    found = weighed(frame, w)
    assert found.log_likelihood == pytest.approx(value, abs=1e-4)
    assert found.values == pytest.approx(theta, abs=2e-3)
    assert "a group counts with their mean" in str(found.summary())


def test_a_group_of_weight_2_is_two_groups() -> None:
    frame = table()
    twice = frame["school"] % 3 == 0
    again = pd.concat(
        [frame, frame[twice].assign(school=frame["school"] + 100)], ignore_index=True
    )
    found = weighed(frame, np.where(twice, 2.0, 1.0))
    whole = dn.regress("sent ~ x", again, design=FORCED, intercepts="school")
    assert found.values == pytest.approx(whole.values, abs=1e-6)
    assert found.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-7)


def test_the_scale_of_weights_says_nothing() -> None:
    frame = table()
    w = np.random.default_rng(8).uniform(1, 6, len(frame))
    one, seven = weighed(frame, w), weighed(frame, 7 * w)
    assert seven.values == pytest.approx(one.values, abs=1e-6)
    assert seven.bse == pytest.approx(one.bse, rel=1e-5)
    assert weighed(frame, np.ones(len(frame))).values == pytest.approx(
        dn.regress("sent ~ x", frame, design=FORCED, intercepts="school").values,
        abs=1e-6,
    )


def test_errors_come_from_the_scores_of_clusters() -> None:
    """A⁻¹·m/(m − 1)·Σ_c (t_c − t̄)(t_c − t̄)′·A⁻¹ with sums over towns, which hold two schools each."""
    frame = table()
    w = np.random.default_rng(8).uniform(1, 6, len(frame))
    sample = dn.Sampling(w, clusters="town", data=frame)
    found = dn.regress(
        "sent ~ x", frame, design=FORCED, intercepts="school", sampling=sample
    )
    scores, bread = found.scores(), np.linalg.inv(found.information)
    towns = np.stack([scores[2 * town] + scores[2 * town + 1] for town in range(6)])
    away = towns - towns.mean(axis=0)
    assert found.cov_params() == pytest.approx(
        bread @ (away.T @ away * 6 / 5) @ bread, rel=1e-6
    )
    assert (found.errors, found.degrees, found.groups) == ("sampling", 5, 12)
    low, high = found.interval("x")
    # t of 5 degrees of freedom
    assert (high - low) / 2 == pytest.approx(2.5706 * found.bse["x"], rel=1e-4)


def test_replicates_fit_the_groups_that_are_left() -> None:
    frame = table(groups=30)
    linear, jackknife, bootstrap = (
        dn.regress(
            "sent ~ x",
            frame,
            design=FORCED,
            intercepts="school",
            sampling=dn.Sampling(clusters="school", replicates=each, data=frame),
        )
        for each in (
            None,
            "jackknife",
            dn.Replicates("bootstrap", count=20, source=Seeded("intercepts")),
        )
    )
    assert jackknife.params == pytest.approx(linear.params, abs=1e-9)
    assert jackknife.bse == pytest.approx(linear.bse, rel=0.3)
    gone = dn.regress(
        "sent ~ x", frame[frame["school"] != 0], design=FORCED, intercepts="school"
    )
    assert gone.values == pytest.approx(jackknife.values, abs=1.0)
    assert np.isfinite(list(bootstrap.bse.values())).all()
