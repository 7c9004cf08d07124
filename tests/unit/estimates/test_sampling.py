"""Samples with weights, strata and clusters: what is refused, what is told, and estimates that agree."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import t as student

import deniable as dn
from deniable import documents
from deniable.errors import (
    DeniableError,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
    UnreadableFile,
)
from deniable.estimates import mean_inverse
from deniable.estimates.sampling import Asked, RowValues, estimate_values, row_values
from deniable.estimates.sampling.people import effective_size
from tests.support.seeded import Seeded, seeded

SCRAMBLED = Asked(None, "values", np.inf)
FORCED = dn.forced_response("2/3", "1/6", "1/6")
THREE = dn.k_ary(["never", "once", "often"], epsilon=2)
N = 240
RNG = np.random.default_rng(16)
COLUMNS = {
    "w": RNG.integers(1, 9, N) / 2,
    "region": np.repeat(["north", "south", "west"], N // 3),
    "village": np.repeat(np.arange(24), N // 24),
    "sex": RNG.choice(["f", "m"], N),
    "age": RNG.choice(["old", "young"], N),
    "beds": RNG.integers(1, 5, N),
}
KNOWN: dict[str, Any] = {
    "weights": COLUMNS["w"],
    "strata": COLUMNS["region"],
    "clusters": COLUMNS["village"],
}
SAMPLE = dn.Sampling(**KNOWN)
YES = dn.Responses(FORCED, {"response": (RNG.random(N) < 0.35).astype(np.uint8)})
OFTEN = dn.Responses(THREE, {"response": RNG.integers(3, size=N).astype(np.uint8)})


def frames() -> dict[str, Any]:
    return {
        "pandas": pd.DataFrame(COLUMNS),
        "polars": pl.DataFrame(COLUMNS),
        "arrow": pa.table(
            {name: pa.array(column) for name, column in COLUMNS.items()}
        ),
        "lists": {name: column.tolist() for name, column in COLUMNS.items()},
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "lists"])
def test_columns_of_every_kind_of_frame(kind: str) -> None:
    frame = frames()[kind]
    expected = dn.estimate(YES, sampling=SAMPLE)
    named = dn.Sampling("w", strata="region", clusters="village", data=frame)
    assert dn.estimate(YES, sampling=named) == expected
    given = dn.Sampling(
        frame["w"], strata=frame["region"], clusters=frame["village"]
    )
    assert dn.estimate(YES, sampling=given) == expected
    totals = {"f": 300, "m": 240}
    post = dn.estimate(YES, sampling=named.post_stratify("sex", totals))
    assert post == dn.estimate(
        YES, sampling=SAMPLE.post_stratify(COLUMNS["sex"], totals)
    )


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "without a column"),
    "no number": (
        {"weights": ["a", "b", "c"]},
        "not everything in the weights is a number",
    ),
    "missing weight": (
        {"weights": [1.0, float("nan"), 2.0]},
        "no finite number in row 2",
    ),
    "absent weight": ({"weights": [1.0, None, 2.0]}, "no finite number in row 2"),
    "infinite weight": (
        {"weights": [1.0, 2.0, float("inf")]},
        "no finite number in row 3",
    ),
    "negative weight": ({"weights": [1, -1, 2]}, "the weight of row 2 is negative"),
    "no weight": ({"weights": [0, 0, 0]}, "all weights are 0"),
    "one row": ({"weights": [1]}, "2 at least"),
    "a table": ({"weights": [[1, 2], [3, 4]]}, "2 dimensions"),
    "missing stratum": (
        {"weights": [1, 1, 1], "strata": ["a", None, "a"]},
        "nothing in row 2",
    ),
    "missing cluster": (
        {"weights": [1, 1, 1], "clusters": pd.Series([1, None, 2])},
        "nothing in row 2",
    ),
    "length": (
        {"weights": [1, 1, 1], "strata": ["a", "b"]},
        "have 2 rows; expected 3",
    ),
    "lists": (
        {"weights": [1, 1], "strata": [["a"], ["b"]]},
        "one label in each row",
    ),
    "a name": ({"weights": "w"}, "expected a column, or data="),
    "another name": (
        {"weights": "x", "data": pl.DataFrame({"w": [1, 2]})},
        "no column 'x'",
    ),
    "no column": ({"weights": 3.0}, "a float"),
    "population": ({"weights": [1, 1, 1], "population": 0}, "the population is 0"),
    "population in words": (
        {"weights": [1, 1, 1], "population": "many"},
        "the population is 'many'",
    ),
    "small population": (
        {"strata": ["a", "a", "a"], "population": {"a": 2}},
        "more people responded",
    ),
    "unknown stratum": (
        {"strata": ["a", "b", "a"], "population": {"a": 20}},
        "no number for the stratum 'b'",
    ),
    "lost stratum": (
        {"strata": ["a", "a"], "population": {"a": 20, "c": 3}},
        "nobody in the sample belongs to it",
    ),
    "relative weights": (
        {"weights": [1, 1, 1], "population": 5000},
        "leave population away",
    ),
    "fraction": ({"weights": [1, 1, 1], "fraction": 1.5}, "outside of 0 … 1"),
    "inclusion": ({"inclusion": [0.5, 0.0, 0.2]}, "of row 2 is 0.0"),
    "both": ({"inclusion": [0.5, 0.1], "weights": [2, 10]}, "expected one of both"),
    "joint": (
        {"inclusion": [0.5, 0.1], "joint": [[0.5, 0.2]]},
        "expected a symmetric table",
    ),
    "joint of others": (
        {"inclusion": [0.5, 0.1], "joint": np.full((3, 3), 0.1)},
        "have 3 rows; expected 2",
    ),
    "another diagonal": (
        {"inclusion": [0.5, 0.1], "joint": [[0.5, 0.1], [0.1, 0.2]]},
        "on their diagonal",
    ),
    "more than floats hold": (
        {"weights": [10**400, 1]},
        "not everything in the weights is a number",
    ),
    "rule": ({"inclusion": [0.5, 0.1], "rule": "guess"}, "the rule is 'guess'"),
    "variance": (
        {"weights": [1, 2], "variance": "robust"},
        "the variance is 'robust'",
    ),
    "replicates": (
        {"weights": [1, 1, 1], "replicates": "cuts"},
        "the replicates are 'cuts'",
    ),
    "a bare table": (
        {"weights": [1, 1], "replicates": [[1, 2], [2, 1]]},
        "what they are of",
    ),
    "chances and replicates": (
        {"inclusion": [0.5, 0.1], "replicates": "jackknife"},
        "do not go with inclusion",
    ),
    "fraction and halves": (
        {"weights": [1, 1], "fraction": 0.1, "replicates": "brr"},
        "a sampled fraction does not go with brr",
    ),
    "many clusters": (
        {"weights": [1] * 6000, "replicates": "jackknife"},
        "are too many",
    ),
}


@pytest.mark.parametrize(("given", "told"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_told_once_and_by_name(
    given: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        dn.Sampling(**given)
    assert told in str(caught.value)


WRONG_REPLICATES: dict[str, tuple[dict[str, Any], str]] = {
    "scale": ({"kind": "mine", "weights": [[1, 2], [2, 1]]}, "expected scale="),
    "centre": ({"kind": "jackknife", "centre": "here"}, "the centre is 'here'"),
    "fay": ({"kind": "fay", "fay": 1}, "Fay's factor is 1"),
    "count": ({"kind": "bootstrap", "count": 1}, "2 at least"),
}


@pytest.mark.parametrize(
    ("given", "told"), WRONG_REPLICATES.values(), ids=WRONG_REPLICATES.keys()
)
def test_wrong_replicates_are_told(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        dn.Replicates(**given)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([[1, 2]], "2 rows and two columns"),
        ([[1], [2]], "2 rows and two columns"),
        ([[1, -2], [2, 1]], "negative or no number"),
        ([["a", 2], [2, 1]], "no numbers"),
    ],
)
def test_wrong_replicate_weights_are_told(weights: Any, told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        dn.Sampling([1, 2], replicates=dn.Replicates("brr", weights=weights))
    with pytest.raises(InvalidRequest, match="whose weight is 0"):
        dn.Sampling(
            [0, 2], replicates=dn.Replicates("brr", weights=[[1, 0], [2, 1]])
        )
    with pytest.raises(InvalidRequest, match="the scale does not fit"):
        dn.Sampling(
            [1, 2],
            replicates=dn.Replicates(
                "mine", weights=[[1, 0], [2, 1]], scale=[1, 2, 3]
            ),
        )


def test_lone_clusters_are_refused_by_name() -> None:
    rows = dn.Responses.of(FORCED, ["yes", "no", "no", "yes"])
    lone = {"strata": ["north", "north", "south", "south"], "clusters": [1, 2, 3, 3]}
    for more in ({}, {"replicates": "jackknife"}, {"replicates": "bootstrap"}):
        with pytest.raises(
            NotEstimable, match="the stratum 'south' has one cluster"
        ) as caught:
            dn.estimate(rows, sampling=dn.Sampling(**lone, **more))
        assert "one name in strata=" in caught.value.hint
    with pytest.raises(NotEstimable, match="the sample has one cluster"):
        dn.estimate(rows, sampling=dn.Sampling(clusters=[1, 1, 1, 1]))
    many = {"strata": list("abcd"), "clusters": [1, 2, 3, 4]}
    with pytest.raises(
        NotEstimable, match="the strata 'a', 'b', 'c' and 1 more have one cluster"
    ):
        dn.estimate(rows, sampling=dn.Sampling(**many))
    with pytest.raises(NotEstimable, match="'south' has one cluster"):
        dn.estimate(
            rows,
            sampling=dn.Sampling(
                inclusion=[0.5, 0.5, 0.5, 1], strata=lone["strata"]
            ),
        )
    whole = dn.Sampling(**lone, fraction={"north": 0, "south": 1})
    # all there is: only the device is left of it
    assert dn.estimate(rows, sampling=whole).bse["yes"] > 0
    with pytest.raises(
        NotEstimable, match="'north' has 3 clusters; expected two in each"
    ):
        dn.Sampling(
            strata=["north"] * 3 + ["south"] * 2,
            clusters=[1, 2, 3, 4, 5],
            replicates="brr",
        )


def test_rows_and_options_that_do_not_fit() -> None:
    for wrong, told in (
        ({"domain": [True] * 3}, "3 rows; expected 240"),
        ({"domain": ["north"] * N}, "no column of True and False"),
        ({"by": ["north"] * 3}, "3 rows; expected 240"),
        ({"denominator": [1.0] * 3}, "3 rows; expected 240"),
    ):
        with pytest.raises(InvalidRequest, match=told):
            dn.estimate(YES, sampling=SAMPLE, **wrong)
    with pytest.raises(NotEstimable, match="nobody belongs to the domain"):
        dn.estimate(YES, sampling=SAMPLE, domain=[False] * N)
    with pytest.raises(NotEstimable, match="1 responses in the group 'rare'"):
        dn.estimate(YES, sampling=SAMPLE, by=["rare"] + ["usual"] * (N - 1))
    with pytest.raises(NotEstimable, match="has the weight 0"):
        dn.estimate(
            YES,
            sampling=dn.Sampling([0.0] * 2 + [1.0] * (N - 2)),
            by=["a"] * 2 + ["b"] * (N - 2),
        )
    with pytest.raises(InvalidRequest, match="have 2 rows; expected 240"):
        dn.estimate(YES, sampling=dn.Sampling([1, 2]))
    with pytest.raises(InvalidRequest, match="expected a Sampling"):
        dn.estimate(YES, sampling="weights")  # type: ignore[call-overload]
    with pytest.raises(
        InvalidRequest, match="a sampling describes rows, and these are a Tally"
    ):
        dn.estimate(dn.tally(YES), sampling=SAMPLE)  # type: ignore[call-overload]
    strings = dn.respond_all(dn.string_design(dn.Bloom(8, cohorts=2), 1), ["a", "b"])
    with pytest.raises(InvalidRequest, match="nobody has listed the strings"):
        dn.estimate(strings, sampling=dn.Sampling([1, 2]))  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="domain does not go with"):
        dn.estimate(dn.tally(YES), domain=[True] * N)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="guess does not go with"):
        dn.estimate(YES, sampling=SAMPLE, guess=[0.5, 0.5])  # type: ignore[call-overload]


def test_even_weights_give_the_estimate_of_a_simple_sample() -> None:
    for rows in (YES, OFTEN):
        plain, found = (
            dn.estimate(dn.tally(rows)),
            dn.estimate(rows, sampling=dn.Sampling([2.0] * N)),
        )
        assert found.value == pytest.approx(plain.value)
        assert found.cov_params() == pytest.approx(plain.cov_params())
        assert list(found.design_effect.values()) == pytest.approx(
            [1] * len(found.names)
        )
    finite = dn.estimate(
        YES, sampling=dn.Sampling(strata=["all"] * N, population=500)
    )
    assert finite.errors == pytest.approx(
        dn.estimate(dn.tally(YES), population=500).errors, rel=1e-3
    )
    census = dn.estimate(YES, sampling=dn.Sampling(strata=["all"] * N, population=N))
    assert census.errors == pytest.approx(
        dn.estimate(dn.tally(YES), population=N).errors, rel=5e-3
    )


def test_the_scale_of_weights_is_no_matter_to_means() -> None:
    for more in ({}, {"fraction": 0.3}, {"replicates": "jackknife"}):
        one, two = (dn.estimate(YES, sampling=dn.Sampling(**(KNOWN | {"weights": each}), **more))
                    for each in (COLUMNS["w"], 1000 * COLUMNS["w"]))  # fmt: skip
        assert two.value == pytest.approx(one.value)
        assert two.cov_params() == pytest.approx(one.cov_params())
        assert two.total.value == pytest.approx(1000 * one.total.value)


def test_replicates_agree_with_linearization_for_totals_and_nearly_for_means() -> (
    None
):
    linear = dn.estimate(OFTEN, sampling=SAMPLE)
    jackknife = dn.estimate(
        OFTEN, sampling=dn.Sampling(**KNOWN, replicates="jackknife")
    )
    assert jackknife.value == pytest.approx(linear.value)
    assert jackknife.total.cov_params() == pytest.approx(linear.total.cov_params())
    assert jackknife.errors == pytest.approx(linear.errors, rel=0.02)
    part, part_jackknife = (
        dn.estimate(
            OFTEN, sampling=dn.Sampling(**KNOWN, fraction=0.3, replicates=replicates)
        )
        for replicates in (None, "jackknife")
    )
    assert part_jackknife.total.cov_params() == pytest.approx(
        part.total.cov_params()
    )
    draws = dn.Replicates("bootstrap", count=2000, source=Seeded("bootstrap"))
    bootstrap = dn.estimate(OFTEN, sampling=dn.Sampling(**KNOWN, replicates=draws))
    # 6 of its own standard errors
    assert bootstrap.errors == pytest.approx(linear.errors, rel=0.1)
    assert "bootstrap, 2,000 replicates" in bootstrap.method
    pairs = {
        "strata": COLUMNS["village"] // 2,
        "clusters": COLUMNS["village"],
        "weights": COLUMNS["w"],
    }
    expected = dn.estimate(OFTEN, sampling=dn.Sampling(**pairs))
    for kind in ("brr", "fay"):
        found = dn.estimate(OFTEN, sampling=dn.Sampling(**pairs, replicates=kind))
        assert found.total.cov_params() == pytest.approx(expected.total.cov_params())
        assert found.errors == pytest.approx(expected.errors, rel=0.05)


def test_a_bootstrap_draws_all_clusters_but_one_and_keeps_the_size_of_each_stratum() -> (
    None
):
    draws = dn.Replicates("bootstrap", count=300, source=Seeded("sizes"))
    found = dn.Sampling(**KNOWN, replicates=draws).replicates
    assert found is not None
    for stratum in range(3):
        factors = found.factors[SAMPLE.stratum_of == stratum]
        assert factors.sum(axis=0) == pytest.approx(np.full(300, 8))
        times = factors * 7 / 8
        assert times == pytest.approx(np.rint(times))
        # of a binomial with 7 draws and 1/8: 0.87
        assert times.std(axis=1).min() > 0.5


def test_replicate_weights_that_came_with_the_data() -> None:
    pairs = {
        "strata": COLUMNS["village"] // 2,
        "clusters": COLUMNS["village"],
        "weights": COLUMNS["w"],
    }
    ours = dn.Sampling(**pairs, replicates="fay")
    assert ours.replicates is not None
    table = COLUMNS["w"][:, None] * ours.replicates.factors[ours.replicates.rows]
    theirs = dn.Sampling(
        COLUMNS["w"],
        replicates=dn.Replicates("fay", weights=pd.DataFrame(table), degrees=12),
    )
    assert dn.estimate(YES, sampling=theirs).cov_params() == pytest.approx(
        dn.estimate(YES, sampling=ours).cov_params()
    )
    assert theirs.degrees == ours.degrees == 12
    scale = 1 / table.shape[1] / 0.7**2
    own = dn.Replicates("theirs", weights=table, scale=scale, centre="estimate")
    again = dn.estimate(YES, sampling=dn.Sampling(COLUMNS["w"], replicates=own))
    assert again.cov_params() == pytest.approx(
        dn.estimate(YES, sampling=ours).cov_params()
    )
    assert again.degrees[0] == table.shape[1] - 1


def test_domains_keep_all_rows_and_groups_have_one_covariance() -> None:
    old = COLUMNS["age"] == "old"
    domain, groups = (
        dn.estimate(YES, sampling=SAMPLE, domain=old),
        dn.estimate(YES, sampling=SAMPLE, by=COLUMNS["age"]),
    )
    assert groups.params["old · yes"] == pytest.approx(domain.params["yes"])
    assert groups.bse["old · yes"] == pytest.approx(domain.bse["yes"])
    weights = np.where(old, COLUMNS["w"], 0.0)
    zeroed = dn.estimate(YES, sampling=dn.Sampling(**(KNOWN | {"weights": weights})))
    assert zeroed.params["yes"] == pytest.approx(domain.params["yes"])
    assert zeroed.bse["yes"] == pytest.approx(domain.bse["yes"])
    ratio = dn.estimate(YES, sampling=SAMPLE, denominator=np.ones(N), domain=old)
    assert (ratio.params["yes"], ratio.bse["yes"]) == pytest.approx(
        (domain.params["yes"], domain.bse["yes"])
    )
    gap = groups.contrast({"old · yes": 1, "young · yes": -1})
    names, matrix = list(groups.names), groups.cov_params()
    a, b = names.index("old · yes"), names.index("young · yes")
    assert gap.error == pytest.approx(
        (matrix[a, a] + matrix[b, b] - 2 * matrix[a, b]) ** 0.5
    )
    assert matrix[a, b] != 0  # people of both ages live in one village
    low, high = gap.interval()
    assert low < gap.value < high
    with pytest.raises(InvalidRequest, match="was not estimated"):
        groups.contrast({"old": 1})
    total = dn.estimate(YES, sampling=SAMPLE).total.params["yes"]
    assert groups.total.params["old · yes"] + groups.total.params[
        "young · yes"
    ] == pytest.approx(total)


def test_post_stratified_weights_are_those_of_calibration_and_meet_the_totals() -> (
    None
):
    totals = {"f": 300.0, "m": 240.0}
    post = SAMPLE.post_stratify(COLUMNS["sex"], totals)
    for group, total in totals.items():
        assert post.weights[COLUMNS["sex"] == group].sum() == pytest.approx(total)
    columns = {each: (COLUMNS["sex"] == each).astype(float) for each in totals}
    linear, raked = (
        SAMPLE.calibrate(columns, totals, method=each)
        for each in ("linear", "raking")
    )
    assert linear.weights == pytest.approx(post.weights)
    assert raked.weights == pytest.approx(post.weights)
    found = [dn.estimate(YES, sampling=each) for each in (post, linear, raked)]
    assert found[1].cov_params() == pytest.approx(found[0].cov_params())
    assert found[2].cov_params() == pytest.approx(found[0].cov_params())
    assert "calibrated to" in found[0].summary().title


def test_raked_weights_meet_every_margin_and_stay_positive() -> None:
    totals: dict[str, Any] = {
        "sex": {"f": 400, "m": 140},
        "age": {"old": 90, "young": 450},
    }
    raked = SAMPLE.rake({"sex": COLUMNS["sex"], "age": COLUMNS["age"]}, totals)
    for margin, groups in totals.items():
        for group, total in groups.items():
            assert raked.weights[COLUMNS[margin] == group].sum() == pytest.approx(
                total
            )
    assert (raked.weights > 0).all()
    found = dn.estimate(YES, sampling=raked)
    assert found.total.value.sum() == pytest.approx(540)
    margins = {name: COLUMNS[name] for name in totals}
    twice = dn.Sampling(**{**KNOWN, "weights": raked.weights}).rake(margins, totals)
    assert dn.estimate(YES, sampling=twice).bse == pytest.approx(found.bse)


def test_replicates_are_calibrated_one_by_one() -> None:
    """What is calibrated to the numbers of people themselves does not vary at all."""
    totals = {"f": 300.0, "m": 240.0}
    sample = dn.Sampling(**KNOWN, replicates="jackknife").post_stratify(
        COLUMNS["sex"], totals
    )
    women = (COLUMNS["sex"] == "f").astype(float)
    rows = RowValues(
        ("mean",),
        women[:, None],
        np.ones(N, bool),
        lambda _, __: np.zeros((1, 1)),
        "mean",
    )
    found = estimate_values([rows], sample, SCRAMBLED)
    assert found.params["mean"] == pytest.approx(300 / 540)
    assert found.bse["mean"] == pytest.approx(0, abs=1e-12)
    linear = dn.estimate(YES, sampling=SAMPLE.post_stratify(COLUMNS["sex"], totals))
    assert dn.estimate(YES, sampling=sample).errors == pytest.approx(
        linear.errors, rel=0.05
    )


def test_what_cannot_be_calibrated_is_refused() -> None:
    sex, age = COLUMNS["sex"], COLUMNS["age"]
    cases: list[tuple[Any, type[DeniableError], str]] = [
        (lambda: SAMPLE.post_stratify(sex, {"f": 300}), InvalidRequest, "no number for the group 'm'"),
        (lambda: SAMPLE.post_stratify(sex, {"f": 1, "m": 2, "x": 3}), InvalidRequest, "'x', and nobody in the sample"),
        (lambda: SAMPLE.post_stratify(sex, {"f": 0, "m": 2}), InvalidRequest, "not above 0"),
        (lambda: SAMPLE.post_stratify("sex", {"f": 1, "m": 2}), InvalidRequest, "expected a column, or data="),
        (
            lambda: SAMPLE.rake({"sex": sex, "age": age}, {"sex": {"f": 1, "m": 2}, "age": {"old": 1, "young": 1}}),
            InvalidRequest,
            "different numbers of people",
        ),
        (lambda: SAMPLE.rake({"sex": sex}, {"age": {"old": 1}}), InvalidRequest, "the same names in both"),
        (lambda: SAMPLE.calibrate({"x": sex}, {"x": 3}), InvalidRequest, "not everything in the x is a number"),
        (lambda: SAMPLE.calibrate({"x": [1] * N}, {"y": 3}), InvalidRequest, "the same names in both"),
        (lambda: SAMPLE.calibrate({"x": [1] * N}, {"x": 3}, method="cubic"), InvalidRequest, "calibration is 'cubic'"),
        (
            lambda: SAMPLE.calibrate({"x": [1] * N, "y": [2] * N}, {"x": 3, "y": 7}),
            NotEstimable,
            "no weights reach the known totals",
        ),
        (
            lambda: SAMPLE.post_stratify(sex, {"f": 1, "m": 2}).post_stratify(age, {"old": 1, "young": 2}),
            InvalidRequest,
            "calibrated already",
        ),
    ]  # fmt: skip
    for make, kind, told in cases:
        with pytest.raises(kind, match=told):
            make()


def test_what_is_missing_is_dropped_and_counted() -> None:
    missing = np.arange(N) == 7
    gaps = dn.Responses(FORCED, dict(YES.columns), missing)
    found = dn.estimate(gaps, sampling=SAMPLE)
    assert (found.respondents, found.missing) == (N - 1, 1)
    domain = dn.estimate(YES, sampling=SAMPLE, domain=~missing)
    assert found.value == pytest.approx(domain.value)
    assert found.errors == pytest.approx(domain.errors)
    # those who sent nothing are people, too
    assert found.total.value.sum() == pytest.approx(COLUMNS["w"].sum())
    assert "1 sent no response" in str(found.summary())
    whole = float(COLUMNS["w"].sum())
    known = dn.estimate(gaps, sampling=dn.Sampling(**KNOWN, population=whole))
    # and are not taken to have said no
    assert known.value == pytest.approx(found.value)


def test_the_mean_of_a_known_population_is_the_total_over_it() -> None:
    known = dn.Sampling(**KNOWN, population=600)
    found = dn.estimate(YES, sampling=known)
    assert found.value == pytest.approx(found.total.value / 600)
    assert found.errors == pytest.approx(found.total.errors / 600)
    assert "Horvitz–Thompson" in found.method
    assert "Hájek" in dn.estimate(YES, sampling=SAMPLE).method


def test_numbers_and_scrambled_numbers() -> None:
    design = dn.number_design(0, 10, 2)
    rows = dn.Responses(
        design,
        {"response": RNG.integers(len(design.symbols), size=N).astype(np.uint8)},
    )
    even = dn.Sampling([1.0] * N)
    plain, found = dn.estimate(dn.tally(rows)).mean, dn.estimate(rows, sampling=even)
    assert (found.params["mean"], found.bse["mean"]) == pytest.approx(
        (plain.value, plain.error), rel=0.003
    )
    assert found.default_interval == "bracket"
    sheet = dn.scrambled(
        "eriksson", p="3/5", other={0: "1/5", 1: "1/5", 2: "1/5", 3: "1/5", 4: "1/5"}
    )
    sent = RNG.integers(5, size=N).astype(float).tolist()
    assert sheet.estimate(sent, sampling=even).bse["mean"] == pytest.approx(
        sheet.estimate(sent).bse["mean"]
    )
    finite = sheet.estimate(
        sent, sampling=dn.Sampling(strata=["all"] * N, population=500)
    )
    assert finite.bse["mean"] == pytest.approx(
        sheet.estimate(sent, population=500).bse["mean"]
    )
    assert finite.device_share["mean"] == pytest.approx(
        sheet.estimate(sent).model.device_variance / N / finite.bse["mean"] ** 2
    )
    with pytest.raises(InvalidRequest, match="belongs to the sampling"):
        sheet.estimate(sent, sampling=even, population=500)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="there is no total"):
        _ = dn.estimate(rows, sampling=even, denominator=COLUMNS["beds"]).total


def test_the_device_is_told_apart_from_people() -> None:
    direct = dn.Responses(
        dn.direct(), {"response": np.asarray(YES.columns["response"])}
    )
    assert dn.estimate(direct, sampling=SAMPLE).device_share["yes"] == pytest.approx(
        0, abs=1e-12
    )
    found = dn.estimate(YES, sampling=dn.Sampling([1.0] * N))
    assert found.device_share["yes"] * found.bse["yes"] ** 2 == pytest.approx(
        5 / 16 / N
    )  # u(1−u)/D² of a die
    assert "The device adds" in found.summary().notes[0]


def test_values_of_two_responses_have_the_usual_device_variance() -> None:
    values = row_values(YES)
    r = values.values[:, 1]
    weights = RNG.random(N)
    assert values.device(weights, values.values[0])[1, 1] == pytest.approx(
        weights @ (r * (r - 1))
    )
    assert not values.device(np.zeros(N), values.values[0]).any()


def test_intervals_near_zero_are_carried_through_the_device() -> None:
    none = dn.Responses(FORCED, {"response": np.zeros(N, np.uint8)})
    found = dn.estimate(none, sampling=SAMPLE)
    assert found.default_interval == "score"
    low, high = found.interval("yes")
    assert low == pytest.approx(-0.25)  # no response says yes at all: λ is 0
    assert -0.25 < high < 0
    assert [each.code for each in found.warnings] == ["implausible"]
    for method in (
        "exact",
        "korn-graubard",
        "score",
        "logit",
        "normal",
        "chebyshev",
    ):
        ends = dn.estimate(YES, sampling=SAMPLE).interval("yes", method=method)
        assert ends.low < dn.estimate(YES, sampling=SAMPLE).params["yes"] < ends.high
    kuk = dn.kuk("3/5", "1/5", draws=2)
    rows = dn.Responses(kuk, {"response": RNG.integers(3, size=N).astype(np.uint8)})
    many = dn.estimate(rows, sampling=SAMPLE, inverse=mean_inverse(kuk))
    assert many.default_interval == "score"
    with pytest.raises(InvalidRequest, match="values of two levels"):
        many.conf_int(method="logit")
    with pytest.raises(InvalidRequest, match="one of shares"):
        dn.estimate(YES, sampling=SAMPLE, denominator=COLUMNS["beds"]).conf_int(
            method="korn-graubard"
        )
    with pytest.raises(InvalidRequest, match="one of shares"):
        dn.estimate(YES, sampling=SAMPLE, denominator=COLUMNS["beds"]).conf_int(
            method="score"
        )


def test_limits_and_empty_denominators_are_told() -> None:
    with pytest.raises(NotEstimable, match="the denominators of a group sum to 0"):
        dn.estimate(YES, sampling=SAMPLE, denominator=np.zeros(N))
    alone = dn.Sampling(**KNOWN, replicates="jackknife")
    with pytest.raises(
        NotEstimable, match="the people of a group sum to 0, in some replicate"
    ):
        dn.estimate(YES, sampling=alone, domain=COLUMNS["village"] == 3)
    many = dn.k_ary(1 << 20, epsilon=1)
    rows = dn.Responses(many, {"response": np.zeros(80, np.uint32)})
    with pytest.raises(InvalidRequest, match="expected at most 64 rows"):
        dn.estimate(rows, sampling=dn.Sampling([1.0] * 80))
    # chances are what they are, however few people
    unequal = dn.Sampling(inclusion=[0.001, 0.9, 0.9], population=300)
    assert unequal.weights.sum() > 900


def test_a_sampling_is_a_frozen_value() -> None:
    with pytest.raises(FrozenInstanceError):
        SAMPLE.population = 3
    with pytest.raises(ValueError, match="read-only"):
        SAMPLE.weights[0] = 3
    before = SAMPLE.weights.copy()
    SAMPLE.post_stratify(COLUMNS["sex"], {"f": 1, "m": 2})
    assert (SAMPLE.weights == before).all()
    again = pickle.loads(pickle.dumps(SAMPLE))
    assert dn.estimate(YES, sampling=again) == dn.estimate(YES, sampling=SAMPLE)
    assert COLUMNS["w"].flags.writeable  # what was handed over is not touched


def test_few_clusters_are_told() -> None:
    found = dn.estimate(YES, sampling=dn.Sampling(clusters=COLUMNS["village"] // 6))
    assert [each.code for each in found.warnings] == ["clusters"]
    assert found.degrees[0] == 3


def test_clusters_of_one_name_in_two_strata_are_two() -> None:
    again = COLUMNS["village"] % 8
    assert (
        dn.Sampling(COLUMNS["w"], strata=COLUMNS["region"], clusters=again).degrees
        == SAMPLE.degrees
        == 21
    )
    assert dn.estimate(
        YES, sampling=dn.Sampling(**(KNOWN | {"clusters": again}))
    ).errors == pytest.approx(dn.estimate(YES, sampling=SAMPLE).errors)


def test_a_damaged_result_is_refused() -> None:
    found = dn.estimate(YES, sampling=SAMPLE)
    body = json.loads(found.to_json())
    for change in ({"value": [1.0]}, {"names": None}):
        source = {**body["source"], **change}
        plain = {
            name: value
            for name, value in body.items()
            if name not in ("schema", "hash")
        }
        with pytest.raises(UnreadableFile, match="the numbers of this estimate"):
            dn.SampledEstimate.from_json(
                documents.seal("result", {**plain, "source": source}), FORCED
            )


def test_responses_are_read_from_columns_of_every_kind() -> None:
    expected = dn.Responses(
        THREE,
        {"response": np.array([0, 2, 0, 1], np.uint8)},
        np.array([False, False, True, False]),
    )
    labels = ["never", "often", None, "once"]
    columns = [
        labels,
        pd.Series(labels),
        pd.Series(labels, dtype="category"),
        pl.Series(labels),
        pa.array(labels),
        np.array(labels, object),
        np.ma.masked_array([0, 2, 0, 1], [False, False, True, False]),
        [0.0, 2.0, float("nan"), 1.0],
        pd.Series([0, 2, None, 1], dtype="Int64"),
        tuple(labels),
    ]
    for column in columns:
        assert dn.Responses.of(THREE, column) == expected
    with pytest.raises(
        InvalidResponse, match="the response at index 1 is 'sometimes'"
    ):
        dn.Responses.of(THREE, ["never", "sometimes"])
    with pytest.raises(InvalidResponse, match="2 dimensions"):
        dn.Responses.of(THREE, np.zeros((2, 2)))
    for wrong in ("never", {"never": 3}, 7):
        with pytest.raises(InvalidResponse, match="expected a column"):
            dn.Responses.of(THREE, wrong)
    sets = dn.unary(["a", "b", "c"], 2)
    rows = np.array([[5], [0]], np.uint8)
    assert dn.Responses.of(
        sets, list(dn.Responses(sets, {"response": rows}))
    ) == dn.Responses(sets, {"response": rows})
    with pytest.raises(InvalidRequest, match="asks for strings"):
        dn.Responses.of(dn.string_design(dn.Bloom(8, cohorts=2), 1), ["a"])


@pytest.mark.parametrize("weights", [np.ones(300), 1 + np.arange(300) % 5])
def test_a_variance_from_rows_trusts_no_device(weights: np.ndarray) -> None:
    """It is that of the golden values: the rows' own products, whatever the device should have made of them."""
    design = dn.unary(["a", "b", "c"], 1)
    rows = dn.respond_all(
        design, ["a", "b", "a"] * 100, source=seeded("variance from rows")
    )
    sample = dn.Sampling(weights, variance="rows")
    found = dn.estimate(rows, sampling=sample)
    values = row_values(rows)
    products = estimate_values(
        [replace(values, scatter=None)], dn.Sampling(weights), SCRAMBLED
    )
    assert found.cov_params() == pytest.approx(products.cov_params(), rel=1e-12)
    by_device = dn.estimate(rows, sampling=dn.Sampling(weights))
    assert found.params == pytest.approx(by_device.params)
    assert found.bse != pytest.approx(by_device.bse, rel=1e-6)
    assert not found.evidence
    assert found.method == "Hájek, linearized from rows"
    away = values.values - weights @ values.values / weights.sum()
    expected = (away.T * weights**2) @ away / weights.sum() ** 2 * 300 / 299
    assert found.cov_params() == pytest.approx(expected, rel=1e-9)


def test_effective_sizes_are_those_of_korn_and_graubard() -> None:
    n, degrees, effect = 120, 7, 1.5
    narrower = student.ppf(0.975, n - 1) / student.ppf(0.975, degrees)
    sizes = effective_size(*map(np.atleast_1d, (n, degrees, effect)), 0.95)
    assert sizes[0] == pytest.approx(n / effect * narrower**2)
