"""`dn.regress`: devices by row, tables of every kind, what is dropped, what is refused, what is doubted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import statsmodels.api as sm
from scipy.special import logit
from scipy.stats import chi2
from scipy.stats import t as student

import deniable as dn
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)
from deniable.estimates.compliance import compare_arms
from tests.support.seeded import Seeded

FORCED = dn.forced_response("2/3", "1/6", "1/6")


def table(rows: int = 600, answers: int = 2, seed: int = 1) -> pd.DataFrame:
    """Responses that nobody drew: what is fitted to them does not matter, only that it is the same."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sent": rng.integers(answers, size=rows),
            "x": rng.normal(size=rows),
            "region": rng.choice(["north", "south", "west"], rows),
            "village": rng.integers(40, size=rows),
            "w": rng.uniform(1, 5, rows),
        }
    )


def test_the_summary_reads_like_statsmodels() -> None:
    frame = table()
    frame.loc[:2, "x"] = np.nan
    frame["sent"] = frame["sent"].astype(object)
    frame.loc[5:8, "sent"] = None
    found = dn.regress("sent ~ x + C(region)", frame, design=FORCED)
    text = str(found.summary())
    assert "coefficient  std err" in text
    assert "P>|z|" in text
    assert "Standard errors: observed information." in text
    assert "Left out: 4 rows, because they hold no response." in text
    assert "Left out: 3 rows, because a covariate or group is missing." in text
    assert found.respondents == 593
    assert "robust (HC0)" in str(found.with_errors("robust").summary())
    assert list(found.params) == [
        "Intercept",
        "x",
        "C(region)[T.south]",
        "C(region)[T.west]",
    ]


def test_tables_of_every_kind_and_labels_or_codes_give_the_same() -> None:
    frame = table()
    found = dn.regress("sent ~ x + C(region)", frame, design=FORCED)
    labels = frame.assign(sent=[FORCED.symbols[each] for each in frame["sent"]])
    for other in (
        pl.from_pandas(frame),
        pl.from_pandas(frame).lazy(),
        pa.Table.from_pandas(frame),
        {name: frame[name].tolist() for name in frame},
        labels,
        labels.astype({"sent": "category"}),
        frame.astype({"sent": float}),
        frame.astype({"sent": "Int64"}),
        frame.assign(
            region=pd.Categorical(
                frame["region"], ["east", "north", "south", "west"]
            )
        ),
    ):
        assert dn.regress("sent ~ x + C(region)", other, design=FORCED) == found


def test_one_device_named_twice_is_one_device() -> None:
    frame = table().assign(by=["a", "b"] * 300)
    one = dn.regress("sent ~ x", frame, design=FORCED)
    two = dn.regress(
        "sent ~ x", frame, design={"a": FORCED, "b": FORCED}, devices="by"
    )
    assert two.params == pytest.approx(one.params)
    assert two.log_likelihood == pytest.approx(one.log_likelihood)


def test_sets_are_what_their_matrix_says() -> None:
    """Unary encoding of three answers, as packed sets and as the table of its eight responses."""
    design = dn.unary(["a", "b", "c"], 2)
    written = dn.matrix(
        [
            [design.channel.probability(z, given=j) for j in range(3)]
            for z in range(8)
        ],
        categories=["a", "b", "c"],
    )
    frame = table(answers=8)
    labels = frame.assign(sent=[design.symbols[each] for each in frame["sent"]])
    packed = frame.assign(sent=[bytes([each]) for each in frame["sent"]])
    expected = dn.regress("sent ~ x", frame, design=written)
    for rows in (labels, packed):
        assert dn.regress("sent ~ x", rows, design=design).params == pytest.approx(
            expected.params, abs=1e-7
        )


def test_cheaters_are_a_third_answer_of_two_groups() -> None:
    """The cheating-detection model is a multinomial with the 2 × 3 channel of survey sheet D3; values of C1."""
    designs = {
        p: dn.matrix(
            [[0, f"{10 - p}/10", 1], [1, f"{p}/10", 0]],
            categories=["carrier", "honest", "cheater"],
        )
        for p in (2, 8)
    }
    frame = {
        "said": [1] * 90 + [0] * 210 + [1] * 190 + [0] * 110,
        "p": [2] * 300 + [8] * 300,
    }
    found = dn.regress("said ~ 1", frame, design=designs, devices="p").predict(
        {"row": [0]}
    )
    assert found["estimate"].tolist() == pytest.approx(
        [0.188889, 0.555556, 0.255556], abs=1e-6
    )


def test_numbers_are_regressed_by_an_unbiased_value_of_each_response() -> None:
    design = dn.number_design(0, 10, 2)
    frame = table(answers=len(design.symbols))
    found = dn.regress("sent ~ x", frame, design=design, codes=True)
    assert found.family == "linear"
    assert found.errors == "robust"
    assert found.sample is not None
    r, matrix = found.sample.rows.law.values, design.channel.floats()  # type: ignore[attr-defined]
    by_code = np.array(
        [r[frame["sent"] == code][0] for code in range(len(design.symbols))]
    )
    assert by_code @ matrix == pytest.approx(
        [float(each) for each in design.scale.values]
    )  # E[r | level] = level
    fit = sm.OLS(r, sm.add_constant(frame["x"])).fit(cov_type="HC0")
    assert found.values == pytest.approx(fit.params.to_numpy())
    assert list(found.bse.values()) == pytest.approx(fit.bse.to_numpy())
    assert found.effects().params["x"] == pytest.approx(found.params["x"])
    with pytest.raises(InvalidRequest, match="no likelihood"):
        found.with_errors("observed")


def test_weights_count_as_rows_that_are_repeated() -> None:
    frame = table(200).assign(times=np.random.default_rng(4).integers(1, 4, 200))
    repeated = frame.loc[frame.index.repeat(frame["times"])]
    sample = dn.Sampling("times", data=frame)
    weighed, whole = (
        dn.regress("sent ~ x", frame, design=FORCED, sampling=sample),
        dn.regress("sent ~ x", repeated, design=FORCED),
    )
    assert weighed.params == pytest.approx(whole.params)
    assert weighed.errors == "sampling"
    scaled = dn.regress(
        "sent ~ x", frame, design=FORCED, sampling=dn.Sampling(frame["times"] * 7)
    )
    # the scale of weights says nothing
    assert scaled.bse == pytest.approx(weighed.bse)
    with pytest.raises(InvalidRequest, match="weights or clusters"):
        weighed.compare(
            dn.regress("sent ~ 1", frame, design=FORCED, sampling=sample)
        )
    with pytest.raises(InvalidRequest, match="weight"):
        weighed.conf_int(method="profile")


def test_an_intercept_alone_has_the_error_of_the_share() -> None:
    """The linear regression on a constant is the Hájek share, however people were drawn, and whoever sent nothing."""
    rng = np.random.default_rng(11)
    frame = table(240).assign(
        w=rng.uniform(1, 3, 240),
        layer=[n % 3 for n in range(240)],
        town=[n % 24 for n in range(240)],
    )
    frame["sent"] = frame["sent"].astype(object)
    frame.loc[::17, "sent"] = None
    plain = dn.Sampling("w", strata="layer", clusters="town", data=frame)
    jackknife, bootstrap = (
        dn.Sampling(
            "w", strata="layer", clusters="town", replicates=each, data=frame
        )
        for each in (
            "jackknife",
            dn.Replicates("bootstrap", count=40, source=Seeded("regression")),
        )
    )
    raked = plain.rake(
        {"region": frame["region"]},
        {"region": {"north": 150, "south": 170, "west": 160}},
    )
    responses = dn.Responses.of(FORCED, frame["sent"].tolist(), codes=True)
    for sample in (plain, jackknife, bootstrap, raked):
        found = dn.regress(
            "sent ~ 1",
            frame,
            design=FORCED,
            codes=True,
            family="linear",
            sampling=sample,
        )
        share = dn.estimate(responses, sampling=sample)
        assert found.params["Intercept"] == pytest.approx(share.params["yes"])
        assert found.bse["Intercept"] == pytest.approx(share.bse["yes"])
        assert found.degrees == share.degrees[1]
        logit = dn.regress(
            "sent ~ 1", frame, design=FORCED, codes=True, sampling=sample
        )
        assert logit.predict()["estimate"].iloc[0] == pytest.approx(
            share.params["yes"]
        )
    assert dn.regress(
        "sent ~ 1", frame, design=FORCED, codes=True, sampling=plain
    ).dropped == {"they hold no response": 15}


def test_replicates_agree_with_the_linearized_errors() -> None:
    frame = table().assign(
        w=[1.0, 2.0, 1.5] * 200, town=[n % 60 for n in range(600)]
    )
    linear, jackknife = (
        dn.regress(
            "sent ~ x",
            frame,
            design=FORCED,
            sampling=dn.Sampling("w", clusters="town", replicates=each, data=frame),
        )
        for each in (None, "jackknife")
    )
    assert jackknife.params == pytest.approx(linear.params)
    assert jackknife.bse == pytest.approx(linear.bse, rel=0.05)
    # each was fitted again
    assert jackknife.bse != pytest.approx(linear.bse, rel=1e-6)
    assert "jackknife, 60 replicates" in str(jackknife.summary())


@pytest.mark.parametrize(
    ("clusters", "replicates", "told"),
    [(8, None, True), (8, "jackknife", False), (40, None, False)],
)
def test_terms_that_differ_between_few_clusters_alone_call_for_care(
    clusters: int, replicates: str | None, told: bool
) -> None:
    town = np.arange(240) % clusters
    frame = table(240).assign(town=town, wealth=np.sqrt(town))
    sample = dn.Sampling(clusters="town", replicates=replicates, data=frame)
    found = dn.regress("sent ~ x + wealth", frame, design=FORCED, sampling=sample)
    texts = [each.text for each in found.warnings if each.code == "clusters"]
    assert len(texts) == told
    assert all("in 'wealth' within" in text for text in texts)


def test_a_whole_population_leaves_the_answers_and_the_device_to_doubt() -> None:
    frame = table()
    sampled, whole = (
        dn.regress(
            "sent ~ x",
            frame,
            design=FORCED,
            sampling=dn.Sampling([1] * 600, fraction=each),
        )
        for each in (0, 1)
    )
    assert whole.bse == pytest.approx(whole.with_errors("robust").bse)
    assert sampled.bse == pytest.approx(
        {name: each * (600 / 599) ** 0.5 for name, each in whole.bse.items()}
    )


def test_rows_without_weight_are_left_out_and_counted() -> None:
    frame = table().assign(w=[0.0, 1.0, 2.0] * 200)
    found = dn.regress(
        "sent ~ x", frame, design=FORCED, sampling=dn.Sampling("w", data=frame)
    )
    assert found.dropped == {"their weight is 0": 200}
    rest = frame[frame["w"] > 0]
    assert found.params == pytest.approx(
        dn.regress(
            "sent ~ x", rest, design=FORCED, sampling=dn.Sampling("w", data=rest)
        ).params
    )


def test_an_arm_asked_directly_is_compared_as_the_arms_alone_are() -> None:
    asked = {"RR": dn.crosswise("1/4"), "DQ": dn.direct()}
    counts = {"RR": [150, 250], "DQ": [180, 40]}
    rows = [
        (arm, code)
        for arm, pair in counts.items()
        for code, times in enumerate(pair)
        for _ in range(times)
    ]
    frame = pd.DataFrame(rows, columns=["arm", "said"])
    one, two = (
        dn.regress(f"said ~ {each}", frame, design=asked, devices="arm")
        for each in ("arm", "1")
    )
    arms = compare_arms(*(dn.Tally(asked[arm], counts[arm]) for arm in asked))
    assert one.compare(two).statistic == pytest.approx(
        arms.model.likelihood_ratio.statistic
    )
    assert one.compare(two).p_value == pytest.approx(
        arms.model.likelihood_ratio.p_value
    )
    assert two.predict()["estimate"].iloc[0] == pytest.approx(
        arms.model.pooled["yes"]
    )


def test_samples_take_the_quantiles_of_t() -> None:
    frame = table().assign(village=[n % 8 for n in range(600)])
    found = dn.regress(
        "sent ~ x",
        frame,
        design=FORCED,
        sampling=dn.Sampling(clusters="village", data=frame),
    )
    low, high = found.interval("x")
    assert found.degrees == 7
    # t of 7 degrees of freedom
    assert (high - low) / 2 == pytest.approx(2.3646 * found.bse["x"], rel=1e-4)
    assert found.summary().interval == "t"


def test_scores_and_information_make_the_errors() -> None:
    frame = table()
    found = dn.regress(
        "sent ~ x",
        frame,
        design=FORCED,
        errors="robust",
        sampling=dn.Sampling("w", data=frame),
    )
    bread = np.linalg.inv(found.information)
    assert bread @ (found.scores().T @ found.scores()) @ bread == pytest.approx(
        found.cov_params()
    )
    assert found.scores().sum(axis=0) == pytest.approx(np.zeros(2), abs=1e-8)


def test_a_random_intercept_that_is_not_needed_lies_on_the_border() -> None:
    """Every group sends the same: the deviation is 0, and the p value that of a border, half of the usual one."""
    rows = {
        "sent": [0, 0, 1, 1, 1] * 40,
        "x": [0, 1, 0, 1, 0] * 40,
        "village": [n // 20 for n in range(200)],
    }
    plain = dn.regress("sent ~ x", rows, design=FORCED)
    found = dn.regress("sent ~ x", rows, design=FORCED, intercepts="village")
    assert found.groups == 10
    assert found.params["sd of intercepts"] < 1e-3
    assert "border" in [each.code for each in found.warnings]
    tested = found.compare(plain)
    assert tested.df == 1
    assert tested.statistic == pytest.approx(0, abs=1e-6)
    assert tested.p_value == pytest.approx(1, abs=1e-6)


def test_groups_that_differ_have_half_the_usual_p_value() -> None:
    rows = {
        "sent": [0] * 60 + [1] * 60 + [0, 1] * 40,
        "village": [n // 20 for n in range(200)],
    }
    found = dn.regress("sent ~ 1", rows, design=FORCED, intercepts="village")
    tested = found.compare(dn.regress("sent ~ 1", rows, design=FORCED))
    assert found.params["sd of intercepts"] > 1
    assert tested.statistic > 10
    assert tested.p_value == pytest.approx(chi2.sf(tested.statistic, 1) / 2)


def test_a_term_beside_the_same_intercepts_has_the_usual_p_value() -> None:
    rows = {
        "sent": [0] * 60 + [1] * 60 + [0, 1] * 40,
        "x": [0, 1, 1] * 66 + [0, 1],
        "village": [n // 20 for n in range(200)],
    }
    large, small = (
        dn.regress(f"sent ~ {terms}", rows, design=FORCED, intercepts="village")
        for terms in ("x", "1")
    )
    tested = large.compare(small)
    assert (tested.df, tested.border) == (1, 0)
    assert tested.p_value == pytest.approx(chi2.sf(tested.statistic, 1))


def test_too_few_say_yes_for_the_device() -> None:
    """Forced response 1/6, 1/6, 20 yes of 200: other packages end in a matrix error (data README, 'fall over')."""
    found = dn.regress(
        "said ~ 1", {"said": ["yes"] * 20 + ["no"] * 180}, design=FORCED
    )
    assert "separation" in [each.code for each in found.warnings]
    assert "protect themselves" in str(found.summary())
    low, high = found.conf_int(method="profile")["Intercept"]
    assert low == -np.inf
    # S0 of the survey sheet
    assert 1 / (1 + np.exp(-high)) == pytest.approx(0.0275, abs=5e-5)
    assert found.predict({"row": [0]})["estimate"].item() == pytest.approx(
        0, abs=1e-6
    )


def test_a_coefficient_that_is_only_unsure_is_not_called_separated() -> None:
    """A rare reference makes large coefficients with large errors, and the likelihood still has its top."""
    rng = np.random.default_rng(3)
    frame = {
        "sent": rng.choice(3, 600, p=[0.05, 0.5, 0.45]),
        "x": rng.normal(size=600),
    }
    found = dn.regress("sent ~ x", frame, design=dn.k_ary(3, 4))
    assert max(found.bse.values()) > 0.15
    assert "separation" not in [each.code for each in found.warnings]


def test_separation_is_named_with_its_covariate() -> None:
    frame = table(400).assign(sick=[1] * 40 + [0] * 360)
    frame.loc[:39, "sent"] = 1
    found = dn.regress("sent ~ x + sick", frame, design=FORCED)
    [caution] = [each for each in found.warnings if each.code == "separation"]
    assert "'sick'" in caution.text
    assert "'x'" not in caution.text
    low, high = found.conf_int(method="profile")["sick"]
    assert np.isfinite(low)
    assert high == np.inf


def test_a_design_too_noisy_for_the_data_is_named() -> None:
    found = dn.regress("sent ~ x", table(100), design=dn.warner("1/10"))
    [caution] = [each for each in found.warnings if each.code == "noisy"]
    assert "100 responses are worth about 0 direct answers" in caution.text


def test_profile_intervals_are_where_the_likelihood_falls() -> None:
    frame = table()
    found = dn.regress("sent ~ x", frame, design=FORCED)
    low, high = found.conf_int(method="profile")["x"]
    for end in (low, high):
        held = dn.regress("sent ~ x", frame, design=FORCED).sample
        assert held is not None
        best = max(
            held.likelihood.value(np.array([intercept, end]))
            for intercept in np.linspace(-3, 3, 6001)
        )
        assert 2 * (found.log_likelihood - best) == pytest.approx(3.8415, abs=1e-3)


def test_tests_of_coefficients() -> None:
    found = dn.regress("sent ~ x + C(region)", table(), design=FORCED)
    z = found.params["x"] / found.bse["x"]
    assert found.test("x = 0").statistic == pytest.approx(z**2)
    assert found.test(["x"]).p_value == found.test("x = 0").p_value
    both = found.test(["C(region)[T.south]", "C(region)[T.west]"])
    assert both.df == 2
    assert (
        both.hypothesis == "Test that C(region)[T.south] = 0, C(region)[T.west] = 0"
    )
    assert (
        both.statistic
        == found.test("`C(region)[T.south]` = 0, `C(region)[T.west]` = 0").statistic
    )
    shifted = found.test("x = 1")
    assert shifted.statistic == pytest.approx(
        ((found.params["x"] - 1) / found.bse["x"]) ** 2
    )
    assert str(shifted).startswith("Test that x = 1: Wald's χ² = ")
    for wrong in ("y = 0", "1 = 1", []):
        with pytest.raises(InvalidRequest, match="hypothes"):
            found.test(wrong)
    with pytest.raises(NotEstimable, match="follow from the others"):
        found.test(["x = 0", "x = 0"])


def test_models_on_other_rows_are_not_compared() -> None:
    frame = table()
    found = dn.regress("sent ~ x", frame, design=FORCED)
    for other in (
        dn.regress("sent ~ 1", frame[10:], design=FORCED),
        dn.regress("sent ~ w", frame, design=FORCED),
        dn.regress("sent ~ 1", frame, design=dn.warner(1)),
    ):
        with pytest.raises(Incompatible):
            found.compare(other)


def test_effects_go_through_the_formula() -> None:
    """A square is part of its variable: against the mean slope by hand, and statsmodels' for levels and 0/1."""
    frame = table().assign(old=lambda rows: (rows["w"] > 3).astype(int))
    found = dn.regress("sent ~ x + I(x**2) + old", frame, design=dn.direct())
    b, x, old = found.values, frame["x"], frame["old"]
    share = 1 / (1 + np.exp(-(b[0] + b[1] * x + b[2] * x**2 + b[3] * old)))
    effects = found.effects()
    assert effects.params["x"] == pytest.approx(
        (share * (1 - share) * (b[1] + 2 * b[2] * x)).mean(), abs=1e-8
    )
    fit = sm.Logit(frame["sent"], sm.add_constant(frame[["x", "old"]])).fit(
        disp=0, tol=1e-12
    )
    theirs = fit.get_margeff(dummy=True)
    ours = dn.regress("sent ~ x + old", frame, design=dn.direct()).effects()
    assert [ours.params[name] for name in ("x", "old")] == pytest.approx(
        theirs.margeff, abs=1e-7
    )
    assert [ours.bse[name] for name in ("x", "old")] == pytest.approx(
        theirs.margeff_se, abs=1e-6
    )


def test_weights_are_repeated_rows_in_average_effects() -> None:
    generator = np.random.default_rng(72)
    x, weights = generator.normal(size=200), generator.integers(1, 5, 200)
    truth = generator.random(200) < 1 / (1 + np.exp(-x))
    rows = pd.DataFrame({"said": np.where(truth, "yes", "no"), "x": x})
    design, sample = dn.direct(categories=["no", "yes"]), dn.Sampling(weights)
    weighted = dn.regress("said ~ x", rows, design=design, sampling=sample)
    repeated = dn.regress(
        "said ~ x", rows.loc[rows.index.repeat(weights)], design=design
    )
    assert weighted.effects().value == pytest.approx(repeated.effects().value)


def test_rows_that_hardly_count_leave_the_errors_of_effects_alone() -> None:
    frame = table()
    far = frame.assign(x=frame["x"] + 3, w=frame["w"] * 1e-9)
    alone, joined = (
        dn.regress(
            "sent ~ x",
            rows,
            design=FORCED,
            sampling=dn.Sampling("w", clusters="village", data=rows),
        ).effects()
        for rows in (frame, pd.concat([frame, far], ignore_index=True))
    )
    assert joined.bse["x"] == pytest.approx(alone.bse["x"], rel=1e-5)


REFERENCES = {
    "region": "north",
    "C(region)": "north",
    'C(region, contr.treatment("south"))': "south",
    "x + x:C(region, contr.treatment(base='west'))": "west",
    '0 + C(region, contr.treatment("south"))': "south",
    "C(region, contr.SAS)": "west",
    'C(region, levels=["west", "north", "south"])': "west",
    'C(region, contr.treatment("south"), levels=["west", "north", "south"])': "south",
    "C(region, contr.sum)": "north",
    "C(region, contr.helmert)": "north",
    'C(region, {"one": [1, 0, 0], "two": [0, 0, 1]})': "south",
    'C(region.str.upper(), contr.treatment("WEST"))': "west",
    'C(region == "north")': "south",
}


@pytest.mark.parametrize("terms", REFERENCES)
def test_effects_of_levels_are_against_the_reference_of_the_formula(
    terms: str,
) -> None:
    """Against the mean difference of what is predicted for everybody in one region and in another."""
    frame = table()
    found = dn.regress(f"sent ~ {terms}", frame, design=FORCED)
    told = {
        name: each for name, each in found.effects().params.items() if name != "x"
    }
    shares = {
        region: found.predict(frame.assign(region=region))["estimate"].mean()
        for region in ("north", "south", "west")
    }
    first = REFERENCES[terms]
    expected = {
        f"region[{each}]": shares[each] - shares[first]
        for each in shares
        if each != first
    }
    assert told == pytest.approx(expected)
    assert "that the formula compares with" in str(found.effects().summary())


def test_effects_of_numbers_that_are_codes_are_those_of_levels() -> None:
    """Of village_size the name begins as that of village does, and village is a number there."""
    frame = table().assign(village_size=lambda rows: rows["village"] % 3)
    coded = dn.regress(
        "sent ~ C(village_size, contr.treatment(2)) + village", frame, design=FORCED
    )
    assert list(coded.effects().params) == [
        "village",
        "village_size[0]",
        "village_size[1]",
    ]
    ordered = frame.assign(
        region=pd.Categorical(frame["region"], ["west", "south", "north"])
    )
    assert list(
        dn.regress("sent ~ region", ordered, design=FORCED).effects().params
    ) == [
        "region[south]",
        "region[north]",
    ]


def test_predictions_and_what_an_attacker_would_compute() -> None:
    """At a share of 0.1 under forced response: D7 of the survey sheet."""
    frame = {"said": ["yes"] * 70 + ["no"] * 230}  # 7/30 = 1/6 + 2/3·0.1
    found = dn.regress("said ~ 1", frame, design=FORCED)
    told = found.predict()
    assert told["estimate"].to_numpy() == pytest.approx(0.1)
    assert ((told["low"] > 0) & (told["low"] < 0.1) & (told["high"] > 0.1)).all()
    # of one coefficient, the interval on the scale of the predictor
    ends = found.interval("Intercept")
    assert told.iloc[0][["low", "high"]].tolist() == pytest.approx(
        [1 / (1 + np.exp(-each)) for each in ends]
    )
    view = found.posterior()
    assert view.columns.name == "what an attacker would compute"
    assert (view["yes"].iloc[0], view["yes"].iloc[-1]) == pytest.approx(
        (0.357143, 0.021739), abs=1e-6
    )


def test_a_file_holds_no_rows() -> None:
    found = dn.regress("sent ~ x", table(), design=FORCED)
    text = found.to_json()
    assert len(text) < 4000
    again = dn.Regression.from_json(text, FORCED)
    assert again.test("x = 0") == found.test("x = 0")
    for ask in (again.effects, again.predict, again.posterior, again.scores):
        with pytest.raises(InvalidRequest, match="holds no rows"):
            ask()


def test_the_randomized_answer_as_a_predictor_of_a_number() -> None:
    """Through a direct question the joint likelihood is the two regressions side by side."""
    frame = table().assign(
        income=lambda rows: 2 + rows["x"] - rows["sent"] + np.sin(np.arange(600))
    )
    found = dn.regress(
        "income ~ x + sent",
        frame,
        design=dn.direct(),
        predictor="sent",
        family="normal",
    )
    fit = sm.OLS(frame["income"], sm.add_constant(frame[["x", "sent"]])).fit()
    assert [
        found.params[name] for name in ("Intercept", "x", "sent")
    ] == pytest.approx(fit.params.tolist(), abs=1e-6)
    alone = dn.regress("sent ~ x", frame, design=dn.direct())
    assert found.params["sent ~ x"] == pytest.approx(alone.params["x"], abs=1e-6)
    assert found.params["sd of errors"] == pytest.approx(
        np.sqrt((fit.resid**2).mean()), abs=1e-6
    )
    assert found.log_likelihood == pytest.approx(fit.llf + alone.log_likelihood)
    with pytest.raises(InvalidRequest, match="is a predictor"):
        found.predict()
    assert found.posterior().shape == (600, 2)


def test_a_predictor_whose_device_never_forces_a_no() -> None:
    """Trap H3: another package fails outright where no response is forced to be no."""
    frame = table().assign(outcome=lambda rows: (rows["x"] > 0.2).astype(int))
    found = dn.regress(
        "outcome ~ w + sent",
        frame,
        design=dn.hard_garbling("1/3"),
        predictor="sent",
        family="bernoulli",
    )
    assert found.family == "bernoulli"
    assert np.isfinite(list(found.bse.values())).all()


NAN = float("nan")
REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("sent", {}, InvalidRequest, "expected the column of responses"),
    ("sent ~ nothing", {}, InvalidRequest, "'nothing'"),
    ("gone ~ x", {}, InvalidRequest, "'gone'"),
    ("sent ~ x + I(2 * x)", {}, NotEstimable, "combinations of the others"),
    ("sent ~ np.log(x - x)", {}, InvalidRequest, "finite"),
    ("sent ~ x", {"design": {"a": FORCED}}, InvalidRequest, "devices="),
    ("sent ~ x", {"devices": "region"}, InvalidRequest, "one design"),
    (
        "sent ~ x",
        {"design": {"north": FORCED}, "devices": "region"},
        InvalidResponse,
        "was asked with",
    ),
    (
        "sent ~ x",
        {
            "design": {"north": FORCED, "south": dn.direct(3), "west": FORCED},
            "devices": "region",
        },
        Incompatible,
        "different answers",
    ),
    ("region ~ x", {}, InvalidResponse, "row 1 is"),
    (
        "sent ~ x",
        {"design": dn.matrix([["1/2", "1/2"], ["1/2", "1/2"]])},
        NotEstimable,
        "D = 0",
    ),
    (
        "sent ~ x",
        {"design": dn.matrix([["1/2", "1/4", 0], ["1/2", "3/4", 1]])},
        NotEstimable,
        "mixtures",
    ),
    ("sent ~ x", {"family": "multinomial-logit"}, InvalidRequest, "family"),
    (
        "sent ~ x",
        {"design": dn.k_ary(3, 1), "family": "probit"},
        InvalidRequest,
        "for 3 answers",
    ),
    ("sent ~ x", {"errors": "bootstrap"}, InvalidRequest, "errors"),
    ("sent ~ x", {"errors": "sampling"}, InvalidRequest, "no sample"),
    ("sent ~ x", {"sampling": "w"}, InvalidRequest, "expected a Sampling"),
    (
        "sent ~ x",
        {"sampling": dn.Sampling([1] * 49)},
        InvalidRequest,
        "49 rows; expected 50",
    ),
    (
        "sent ~ x",
        {"sampling": dn.Sampling(clusters=[1] * 50)},
        NotEstimable,
        "one cluster",
    ),
    (
        "sent ~ x",
        {
            "sampling": dn.Sampling([1] * 50).calibrate(
                {"n": range(50)}, {"n": -1000}
            )
        },
        InvalidRequest,
        "raking",
    ),
    ("sent ~ x", {"honesty": True}, NotEstimable, "one device"),
    ("sent ~ x", {"honesty": True, "family": "linear"}, InvalidRequest, "honesty"),
    (
        "sent ~ x",
        {"intercepts": "region", "sampling": dn.Sampling([1] * 50)},
        InvalidRequest,
        "of 'region' lies in se",
    ),
    (
        "sent ~ x",
        {"intercepts": "region", "sampling": dn.Sampling(clusters=[1, 2] * 25)},
        InvalidRequest,
        "of 'region' lies in several clusters",
    ),
    (
        "sent ~ x",
        {
            "intercepts": "region",
            "sampling": dn.Sampling([1] * 50).calibrate({"n": [1] * 50}, {"n": 70}),
        },
        InvalidRequest,
        "calibrated weights",
    ),
    (
        "sent ~ x",
        {"design": dn.k_ary(7, 1), "intercepts": "region"},
        InvalidRequest,
        "of 7 answers",
    ),
    ("sent ~ x", {"intercepts": "nowhere"}, InvalidRequest, "'nowhere'"),
    ("sent ~ x", {"given": "x"}, InvalidRequest, "predictor="),
    ("w ~ x + sent:x", {"predictor": "sent"}, InvalidRequest, "term of its own"),
    ("log(w) ~ x + sent", {"predictor": "sent"}, InvalidRequest, "the outcome is"),
    (
        "region ~ x + sent",
        {"predictor": "sent"},
        InvalidRequest,
        "the outcomes is a",
    ),
    (
        "w ~ x + sent",
        {"predictor": "sent", "family": "logit"},
        InvalidRequest,
        "0 or 1",
    ),
    (
        "w ~ x + sent",
        {"predictor": "sent", "family": "probit"},
        InvalidRequest,
        "an outcome",
    ),
]


@pytest.mark.parametrize(("formula", "options", "error", "words"), REFUSED)
def test_what_cannot_be_fitted_is_refused_in_words(
    formula: str, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        dn.regress(formula, table(50), **{"design": FORCED, **options})


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize("intercepts", [None, "village"])
def test_the_scale_of_weights_changes_nothing(
    scale: float, intercepts: str | None
) -> None:
    frame = table().assign(scaled=lambda rows: rows["w"] * scale)
    fits = [
        dn.regress(
            "sent ~ x",
            frame,
            design=FORCED,
            sampling=dn.Sampling(column, clusters="village", data=frame),
            intercepts=intercepts,
        )
        for column in ("w", "scaled")
    ]
    assert fits[1].params == pytest.approx(fits[0].params, rel=1e-6)
    assert fits[1].bse == pytest.approx(fits[0].bse, rel=1e-6)


@pytest.mark.parametrize("family", ["logit", "probit", "multinomial"])
@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 1e-8])
def test_noise_has_large_standard_errors_or_none(
    family: str, epsilon: float
) -> None:
    fit = dn.regress(
        "sent ~ x", table(300), design=dn.k_ary(2, epsilon), family=family
    )
    assert not (np.array(list(fit.bse.values())) < 1e3).any()


def test_what_is_not_identified_has_no_standard_error() -> None:
    fit = dn.regress(
        "sent ~ x", table(), design=dn.k_ary(2, epsilon=1e-6), family="probit"
    )
    assert np.isnan(list(fit.bse.values())).all()
    assert {"separation", "flat"} <= {caution.code for caution in fit.warnings}
    assert "—" in str(fit.summary())
    again = dn.Regression.from_json(fit.to_json(), fit.designs[0][1])
    assert str(again.summary()) == str(fit.summary())
    with pytest.raises(NotEstimable, match="no standard error"):
        fit.test("x = 0")


def test_booleans_and_empty_tables_are_refused() -> None:
    with pytest.raises(InvalidResponse, match="boolean"):
        dn.regress(
            "sent ~ x",
            table().assign(sent=lambda rows: rows["sent"] == 1),
            design=FORCED,
        )
    with pytest.raises(NotEstimable, match="no row"):
        dn.regress("sent ~ x", table().assign(x=NAN), design=FORCED)
    with pytest.raises(InvalidRequest, match="expected a table"):
        dn.regress("sent ~ x", [1, 2], design=FORCED)
    with pytest.raises(InvalidRequest, match="a level that the fitted data lack"):
        dn.regress("sent ~ C(region)", table(), design=FORCED).predict(
            {"region": ["east"]}
        )


def test_a_device_that_says_nothing_is_left_out_and_counted() -> None:
    frame = table().assign(by=["coin", "die"] * 300)
    designs = {
        "coin": dn.matrix(
            [["1/2", "1/2"], ["1/2", "1/2"]], categories=["no", "yes"]
        ),
        "die": FORCED,
    }
    found = dn.regress("sent ~ x", frame, design=designs, devices="by")
    assert found.params == pytest.approx(
        dn.regress("sent ~ x", frame[frame["by"] == "die"], design=FORCED).params
    )
    assert found.dropped == {"their device says nothing about the answer": 300}


def test_predictions_keep_the_rows_names() -> None:
    frame = table(50).set_index(pd.Index([f"person {n}" for n in range(50)]))
    frame.loc["person 3", "x"] = NAN
    found = dn.regress("sent ~ x", frame, design=FORCED)
    names = [name for name in frame.index if name != "person 3"]
    assert (
        found.predict().index.tolist() == found.posterior().index.tolist() == names
    )
    assert found.predict(frame).loc["person 3"].isna().all()


def test_normal_errors_are_more_precise_where_numbers_are_normal() -> None:
    design, rng = dn.number_design(0, 10, 2), np.random.default_rng(9)
    x = rng.normal(size=2000)
    levels = np.clip(
        np.floor(
            np.clip(5 + x + rng.normal(size=2000), 0, 9.99) / 2.5 + rng.random(2000)
        ),
        0,
        4,
    )
    matrix = design.channel.floats()
    sent = [rng.choice(len(matrix), p=matrix[:, int(level)]) for level in levels]
    plain, normal = (
        dn.regress(
            "sent ~ x",
            {"sent": sent, "x": x},
            design=design,
            codes=True,
            family=family,
        )
        for family in ("linear", "normal")
    )
    assert normal.bse["x"] < 0.8 * plain.bse["x"]
    # further by chance less than once in 10⁹
    assert abs(normal.params["x"] - 1) < 6.5 * normal.bse["x"]
    assert normal.predict({"x": [0.0]})["estimate"].item() == pytest.approx(
        normal.params["Intercept"]
    )


def test_two_answers_by_least_squares_give_the_estimated_shares() -> None:
    frame = table().assign(old=[0, 1] * 300)
    design = dn.warner(2)
    found = dn.regress("sent ~ old", frame, design=design, family="linear")
    shares = [
        dn.estimate(
            dn.tally(
                design, frame.loc[frame["old"] == old, "sent"].tolist(), codes=True
            )
        ).params["yes"]
        for old in (0, 1)
    ]
    assert found.params["Intercept"] == pytest.approx(shares[0])
    assert found.params["old"] == pytest.approx(shares[1] - shares[0])


def test_a_sample_of_few_clusters_has_one_reference_distribution() -> None:
    """The p-value of one coefficient is the same in `test` and in the summary; effects and predictions use t, too."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=240)
    rows = {"sent": (rng.random(240) < 0.3 + 0.1 * (x > 0)).astype(int), "x": x}
    sample = dn.Sampling(clusters=np.arange(240) % 8)
    fit = dn.regress("sent ~ x", rows, design=dn.warner(epsilon=3), sampling=sample)
    assert fit.df == 7
    summary = {row.name: row for row in fit.summary().rows}
    test = fit.test("x = 0")
    assert test.p_value == pytest.approx(summary["x"].p_value, rel=1e-12)
    assert (test.df, test.below) == (1, 7)
    assert test.statistic == pytest.approx(summary["x"].z ** 2)

    effects = fit.effects()
    row = effects.summary().rows[0]
    assert effects.df == 7
    assert row.high - row.estimate == pytest.approx(
        student.ppf(0.975, 7) * row.error
    )
    assert row.p_value == pytest.approx(2 * student.sf(abs(row.z), 7))
    assert (
        type(effects).from_json(effects.to_json(), fit.designs[0][1]).summary()
        == effects.summary()
    )
    assert effects.test("x = 0").p_value == pytest.approx(row.p_value)

    predicted = fit.predict().iloc[0]
    share = predicted["estimate"]
    width = student.ppf(0.975, 7) * predicted["error"] / (share * (1 - share))
    assert logit(predicted["high"]) - logit(share) == pytest.approx(width)


def test_without_a_sample_wald_tests_use_chi_square() -> None:
    rng = np.random.default_rng(9)
    rows = {
        "sent": rng.integers(2, size=200),
        "x": rng.normal(size=200),
        "y": rng.normal(size=200),
    }
    fit = dn.regress("sent ~ x + y", rows, design=dn.warner(epsilon=3))
    both = fit.test(["x", "y"])
    assert (both.df, both.below) == (2, 0)
    assert both.p_value == pytest.approx(chi2.sf(both.statistic, 2))
