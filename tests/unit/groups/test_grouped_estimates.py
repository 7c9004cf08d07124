"""Groups are estimated apart, compared in pairs and with the rest, and tested together."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, fisher_exact, norm

import deniable as dn
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.independence import holm, score_test
from tests.support.seeded import seeded

WARNER = dn.warner(p="3/4")
CARDS = dn.k_ary(["a", "b", "c"], epsilon=2)


def grouped(design: Any, **counts: list[int]) -> dn.GroupedTally:
    return dn.GroupedTally(
        design, {group: dn.Tally(design, each) for group, each in counts.items()}
    )


def test_each_group_is_its_own_estimate() -> None:
    tally = grouped(CARDS, north=[60, 30, 10], south=[20, 40, 60])
    found = dn.estimate(tally)
    for group in tally:
        own = dn.estimate(tally[group])
        assert found[group] == own
        for name in own.params:
            assert found.params[f"{group} · {name}"] == own.params[name]
            assert found.conf_int()[f"{group} · {name}"] == own.conf_int()[name]
            assert (
                found.conf_int(simultaneous=True)[f"{group} · {name}"]
                == own.conf_int(level=1 - 0.05 / 6)[name]
            )
    assert found.overall == dn.estimate(tally.overall)
    likely = dn.estimate(tally, method="likelihood")
    assert likely["north"].method == "likelihood"
    assert "Test that all groups are alike: χ² =" in str(found.summary())


def test_two_groups_and_two_responses_are_the_test_of_the_textbook() -> None:
    """The device changes shares and errors, and not the test: it is Pearson's, of the responses."""
    found = dn.estimate(grouped(WARNER, north=[400, 600], south=[450, 350]))
    pearson = chi2_contingency([[400, 600], [450, 350]], correction=False)
    test = found.homogeneity()
    assert test.statistic == pytest.approx(
        pearson.statistic * 1799 / 1800, rel=1e-12
    )
    assert (test.df, test.tables) == (1, 0)
    assert test.p_value == pytest.approx(pearson.pvalue, rel=0.05)
    pair = found.pairwise()
    assert list(pair.params) == ["north − south · yes"]
    assert pair.params["north − south · yes"] == pytest.approx(
        (0.6 - 350 / 800) / 0.5
    )
    error = np.sqrt(0.6 * 0.4 / 999 + 350 * 450 / 800**2 / 799) / 0.5
    assert pair.bse["north − south · yes"] == pytest.approx(error)
    rest = found.against_rest().p_values["north − the rest · yes"]
    assert [pair.p_values["north − south · yes"], rest] == pytest.approx(
        [test.p_value] * 2, rel=1e-9
    )


def test_few_responses_are_tested_by_all_tables() -> None:
    counts = np.array([[7, 1], [2, 9]])
    exact = fisher_exact(counts)
    found = score_test(counts, np.eye(2), np.eye(2))
    assert found.p_value == pytest.approx(exact.pvalue, rel=1e-9)
    three = np.array([[4, 0, 1], [0, 3, 0]])
    every = [
        each
        for each in itertools.product(range(6), repeat=3)
        if sum(each) == 5 and all(np.array(each) <= [4, 3, 1])
    ]
    ways = np.array(
        [
            np.prod(
                [
                    _choose(top, bottom)
                    for top, bottom in zip([4, 3, 1], each, strict=True)
                ]
            )
            for each in every
        ]
    )
    tests = [
        score_test(
            np.array([each, np.array([4, 3, 1]) - each]), np.eye(2), np.eye(3)
        )
        for each in every
    ]
    seen = score_test(three, np.eye(2), np.eye(3))
    right = (
        sum(
            way
            for way, test in zip(ways, tests, strict=True)
            if test.statistic >= seen.statistic - 1e-9
        )
        / ways.sum()
    )
    assert seen.tables == 9_999
    assert seen.p_value == pytest.approx(right, abs=7 * np.sqrt(right / 10_000))
    assert score_test(three, np.eye(2), np.eye(3)) == seen  # one table, one p-value


def _choose(top: int, bottom: int) -> int:
    from math import comb

    return comb(top, bottom)


def test_likelihood_and_score_agree_where_counts_are_large() -> None:
    found = dn.estimate(
        grouped(
            CARDS, x=[5000, 3000, 2000], y=[4900, 3050, 2050], z=[5050, 2900, 2050]
        )
    )
    score, likelihood = found.homogeneity(), found.homogeneity(method="likelihood")
    assert (score.df, likelihood.df) == (4, 4)
    assert score.statistic == pytest.approx(likelihood.statistic, rel=0.02)
    alone = found.homogeneity("b")
    assert alone.df == 2
    assert alone.statistic < score.statistic


def test_sums_of_sets_are_tested_too() -> None:
    """A tally that keeps sums has no table; its test is that of the same shares with errors of all together."""
    design = dn.unary(list("abcdefghijklmn"), 2)
    sent = dn.respond_all(
        design, ["a", "b", "c", "d"] * 100, source=seeded("sums of sets")
    )
    tally = dn.tally(sent, by=["x", "y"] * 200)
    found = dn.estimate(tally)
    assert found.homogeneity("a").df == 1
    p_value = found.pairwise().p_values["x − y · a"]
    assert found.homogeneity("a").p_value == pytest.approx(p_value)
    one, two, both = (
        dn.estimate(each) for each in (tally["x"], tally["y"], tally.overall)
    )
    z = (one.params["a"] - two.params["a"]) / (
        both.bse["a"] * np.sqrt(399 * 2 / 200)
    )
    assert p_value == pytest.approx(2 * norm.sf(abs(z)))
    with pytest.raises(NotEstimable, match="keeps sums"):
        found.homogeneity(method="likelihood")


def test_means_of_groups() -> None:
    design = dn.number_design(0, 10, 2, levels=2)
    rng = np.random.default_rng(5)
    answers = np.concatenate([rng.uniform(0, 4, 3000), rng.uniform(4, 10, 3000)])
    sent = dn.respond_all(design, answers, source=seeded("means of groups"))
    found = dn.estimate(dn.tally(sent, by=["low"] * 3000 + ["high"] * 3000))
    assert found.params["high · mean"] - found.params["low · mean"] == pytest.approx(
        5, abs=1
    )
    assert found.homogeneity("mean").p_value < 1e-6
    assert found.pairwise().p_values["high − low · mean"] < 1e-6
    with pytest.raises(InvalidRequest, match="no shares"):
        found.homogeneity()


def test_holm_and_simultaneous_intervals() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx(
        [0.03, 0.06, 0.06, 0.02]
    )
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
    found = dn.estimate(
        grouped(WARNER, a=[40, 60], b=[50, 50], c=[70, 30])
    ).pairwise()
    assert list(found.adjusted.values()) == pytest.approx(
        holm(np.array(list(found.p_values.values()))).tolist()
    )
    name = "a − b · yes"
    assert (
        found.conf_int(simultaneous=True)[name]
        == found.conf_int(level=1 - 0.05 / 3)[name]
    )
    one, two = (
        dn.estimate(dn.Tally(WARNER, each)).contrast({"yes": 1})
        for each in ([40, 60], [50, 50])
    )
    assert found.conf_int()[name] == (one - two).interval()
    assert np.sqrt(np.diag(found.cov_params())) == pytest.approx(
        list(found.bse.values())
    )
    # a − b and a − c share a; a − b and b − c oppose b
    assert found.cov_params()[0, 1] > 0 > found.cov_params()[0, 2]


def test_what_has_no_group_or_too_few_responses_is_said() -> None:
    tally = dn.GroupedTally(
        WARNER,
        {
            "a": dn.Tally(WARNER, [9, 9]),
            None: dn.Tally(WARNER, [2, 1]),
            "b": dn.Tally(WARNER, [1, 0]),
        },
    )
    found = dn.estimate(tally)
    assert found.left_out == (None, "b")
    codes = {each.code: each.text for each in found.warnings}
    assert "3 responses name no group" in codes["ungrouped"]
    assert "1 groups have fewer than 2 responses: b." in codes["left-out"]
    with pytest.raises(InvalidRequest, match="at least two groups"):
        found.pairwise()
    with pytest.raises(NotEstimable, match="none of 1 groups"):
        dn.estimate(dn.GroupedTally(WARNER, {"b": dn.Tally(WARNER, [1, 0])}))
    with pytest.raises(InvalidRequest, match="population does not go with groups"):
        dn.estimate(tally, population=100)  # type: ignore[call-overload]
    with pytest.raises(InvalidRequest, match="scaling does not go with"):
        dn.estimate(tally, scaling="fixed")
    with pytest.raises(InvalidRequest, match="'c' was estimated"):
        found["c"]


@pytest.mark.statistical
def test_holm_keeps_its_level_over_many_groups() -> None:
    """Alike groups: some pair is called different in at most 5 % of surveys, but for once in 10^9 runs of this test.

    The fault: p-values that are not adjusted reject in far more.
    """
    rng, runs = np.random.default_rng(17), 300
    adjusted = plain = 0
    for _ in range(runs):
        tally = grouped(
            WARNER,
            **{
                name: (yes := rng.binomial(80, 0.3), 80 - yes)[::-1]
                for name in "abcdef"
            },
        )  # type: ignore[misc]
        pairs = dn.estimate(tally).pairwise()
        adjusted += min(pairs.adjusted.values()) <= 0.05
        plain += min(pairs.p_values.values()) <= 0.05
    most = binom.isf(1e-9, runs, 0.05)
    assert adjusted <= most < plain


def test_a_declared_design_and_the_columns_of_groups_are_told() -> None:
    counted = {
        group: dn.Tally(WARNER, [30, 20], declared=dn.Declared(50))
        for group in ("a", "b")
    }
    told = dn.estimate(dn.GroupedTally(WARNER, counted, by=("region",)))
    assert told.summary().title.startswith(
        "2 groups of region, warner, ε = 1.099, 100 respondents"
    )
    for summary in (told.summary(), told.pairwise().summary()):
        assert (
            "named by the person who counted: the file of these 100 rows does not say which"
            in " ".join(summary.notes)
        )
    alone = dn.estimate(dn.GroupedTally(WARNER, {"a": counted["a"]})).summary()
    assert alone.title.startswith("1 group, warner, ε = 1.099, 50 respondents")
    assert "these 50 rows" in " ".join(alone.notes)


def test_a_p_value_beyond_floats_is_not_told_as_zero() -> None:
    counted = dn.tally(
        dn.direct(),
        ["yes"] * 3_000 + ["no"] * 3_000,
        by=["north"] * 3_000 + ["south"] * 3_000,
    )
    seen = dn.estimate(counted).homogeneity()
    assert seen.p_value == 0
    assert str(seen).endswith("p < 1e-300")


def test_groups_of_items_are_summed_up_without_the_graph_of_one_of_them() -> None:
    design = dn.lpp_club(["tea", "coffee", "milk"], 1)
    counts = np.array([[1000, 1500, 500], [1500, 800, 700], [2000, 500, 500]])
    tallies = {
        group: dn.KeyValueTally(design, counts, 9000) for group in ("north", "south")
    }
    found = dn.estimate(dn.GroupedTally(design, tallies)).summary()
    assert type(found) is dn.Summary
    assert [row.name.partition(" · ")[0] for row in found.rows] == [
        *["north"] * 3,
        *["south"] * 3,
    ]


@pytest.mark.parametrize(
    "design",
    [
        CARDS,
        dn.unary(["a", "b", "c"], 1),
        dn.drawn_items({"x": CARDS, "y": WARNER}),
    ],
    ids=["k-ary", "unary", "drawn items"],
)
def test_a_group_has_the_variance_and_the_tests_of_its_own_estimate(
    design: Any,
) -> None:
    answers: Any = ["a", "b", "a", "c"] * 50
    if isinstance(design, dn.DrawnDesign):
        answers = {"x": answers, "y": ["no", "yes"] * 100}
    responses = dn.respond_all(design, answers, source=seeded("one variance"))
    tally = dn.tally(responses, by=["m", "f", "f", "f"] * 50)
    found = dn.estimate(tally)
    own = found["f"]
    first, second = list(own.params)[:2]
    single = own.contrast({first: 1, second: -1})
    of_group = found.contrast({f"f · {first}": 1, f"f · {second}": -1})
    assert of_group.error == pytest.approx(single.error)
    assert of_group.interval() == pytest.approx(single.interval())
    assert found.df == min(found[group].df for group in found.groups)
    errors = np.sqrt(np.diagonal(found.cov_params()))
    assert list(found.bse.values()) == pytest.approx(errors.tolist())
