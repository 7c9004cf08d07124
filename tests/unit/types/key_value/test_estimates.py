from __future__ import annotations

import json

import numpy as np
import pytest

from deniable.errors import InvalidRequest, NotEstimable
from deniable.types.key_value.count import KeyValueTally, tally
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
    vpp,
)
from deniable.types.key_value.estimate import ItemEstimate, Quantity, estimate

ITEMS = ["tea", "coffee", "milk"]
COUNTS = np.array([[420, 500, 80], [700, 150, 150], [880, 60, 60]])


TRUTH = ((0.5, 0.5), (0.3, -0.2), (0.01, 0.0))  # frequency and mean of each item


def counted(design: KeyValueDesign, counts: np.ndarray = COUNTS) -> KeyValueTally:
    """The tally of these counts: about one item each, or from everybody about each."""
    return KeyValueTally(
        design,
        counts,
        int(counts.sum() if design.scheme.one_each else counts[0].sum()),
    )


def typical(design: KeyValueDesign, n: int = 3000) -> KeyValueTally:
    """A tally as it is expected where the truth is as above, with n responses that say something about each item."""
    symbol = design.scheme.symbol
    sent = np.array(
        [
            [float(symbol.probability(i, given=j)) for j in range(3)]
            for i in range(symbol.responses)
        ]
    )
    places = 1 if design.scheme.one_each else design.scheme.multiplier
    shares = [
        np.array([1 - f, f * (1 + m) / 2, f * (1 - m) / 2])
        for f, m in ((f / places, m) for f, m in TRUTH)
    ]
    counts = np.rint(np.array([sent @ each for each in shares]) * n).astype(np.int64)
    counts[:, 0] += n - counts.sum(axis=1)
    return counted(design, counts)


CLUB = typical(lpp_club(ITEMS, 1))


def test_the_fixed_estimates_are_those_of_f15() -> None:
    design = lpp_ddagger(ITEMS, epsilon1=1, epsilon2=1.5)
    found = estimate(counted(design), scaling="fixed")
    p, q = 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-1.5))
    zero, plus, minus = COUNTS.T
    assert found.degree == pytest.approx(
        3 * ((plus + minus) - 1000 * (1 - p)) / (2 * p - 1)
    )
    assert found.weight == pytest.approx(3 * (plus - minus) / (p * (2 * q - 1)))
    assert found.frequency == pytest.approx(found.degree / 3000)
    assert found.mean == pytest.approx(found.weight / found.degree)
    assert zero.sum() + plus.sum() + minus.sum() == found.respondents


def test_the_conditional_estimate_replaces_the_number_of_items_by_what_was_drawn() -> (
    None
):
    counts = CLUB.counts.copy()
    counts[0] *= 2
    both = [
        estimate(counted(CLUB.design, counts), scaling=each)
        for each in ("fixed", "conditional")
    ]
    asked = counts.sum(axis=1)
    assert both[1].degree == pytest.approx(both[0].degree * asked.sum() / asked / 3)
    assert both[1].weight == pytest.approx(both[0].weight * asked.sum() / asked / 3)


def test_the_better_scaling_is_the_default() -> None:
    frequent = counted(
        lpp_club(ITEMS, 4), np.array([[20, 900, 80], [30, 900, 70], [40, 900, 60]])
    )
    assert estimate(frequent).numbers.linear.scaling == "conditional"
    fixed, conditional = (
        estimate(frequent, scaling=each) for each in ("fixed", "conditional")
    )
    assert (conditional.errors("degree") < fixed.errors("degree")).all()
    few = counted(lpp_club(ITEMS, 1), np.array([[1, 0, 0], [30, 5, 5], [20, 3, 4]]))
    # one response about an item is no mean
    assert estimate(few).numbers.linear.scaling == "fixed"
    nobody = counted(
        lpp_club(ITEMS, 1), np.array([[0, 0, 0], [30, 5, 5], [20, 3, 4]])
    )
    assert estimate(nobody).numbers.linear.scaling == "fixed"
    assert any(
        "nobody was asked about 1 items" in each.text
        for each in estimate(nobody).warnings
    )
    assert np.isfinite(estimate(nobody).degree).all()
    assert (
        estimate(counted(pckv_ue(ITEMS, 1, padding=1))).numbers.linear.scaling
        == "fixed"
    )


def test_a_known_fake_weight_is_taken_out() -> None:
    """Responses in exactly the expected numbers give the truth back, whatever the fake weight."""
    for fake in (None, 0.5, -1):
        design = lpp(ITEMS, 1, 1, fake_weight=fake)
        symbol = design.scheme.symbol
        shares = [
            np.array([1 - f, f * (1 + m) / 2, f * (1 - m) / 2])
            for f, m in ((0.5, 0.2), (0.1, -1), (0.9, 0))
        ]
        sent = np.array(
            [
                [float(symbol.probability(i, given=j)) for j in range(3)]
                for i in range(3)
            ]
        )
        counts = np.rint(np.array([sent @ each for each in shares]) * 10**9).astype(
            np.int64
        )
        found = estimate(counted(design, counts), scaling="conditional")
        assert found.frequency == pytest.approx([0.5, 0.1, 0.9], abs=1e-7)
        assert found.mean == pytest.approx([0.2, -1, 0], abs=1e-6)


def test_scales_other_than_minus_one_to_one_are_given_back() -> None:
    plain, scaled = (
        estimate(typical(lpp_club(ITEMS, 1, **ends)))
        for ends in ({}, {"low": 1, "high": 5})
    )
    assert scaled.degree == pytest.approx(plain.degree)
    assert scaled.mean == pytest.approx(3 + 2 * plain.mean)
    assert scaled.weight == pytest.approx(3 * plain.degree + 2 * plain.weight)
    assert scaled.errors("mean") == pytest.approx(2 * plain.errors("mean"))
    assert scaled.average_weight().value == pytest.approx(
        3 + 2 * plain.average_weight().value
    )
    assert scaled.average_weight().error == pytest.approx(
        2 * plain.average_weight().error
    )
    turn = np.block([[np.eye(3), np.zeros((3, 3))], [3 * np.eye(3), 2 * np.eye(3)]])
    assert scaled.joint_covariance(ITEMS) == pytest.approx(
        turn @ plain.joint_covariance(ITEMS) @ turn.T
    )
    assert scaled.variance("weight") == pytest.approx(
        np.diag(scaled.joint_covariance(ITEMS))[3:]
    )


@pytest.mark.parametrize("scaling", ["fixed", "conditional"])
def test_the_covariance_of_single_items_is_part_of_the_whole(scaling: str) -> None:
    found = estimate(CLUB, scaling=scaling)
    matrix = found.joint_covariance(ITEMS)
    assert np.diag(matrix)[:3] == pytest.approx(found.variance("degree"))
    assert np.diag(matrix)[3:] == pytest.approx(found.variance("weight"))
    assert found.joint_covariance(["milk"]) == pytest.approx(
        matrix[np.ix_([2, 5], [2, 5])]
    )
    assert np.linalg.eigvalsh(matrix).min() > 0
    ones = np.concatenate([np.ones(3), np.zeros(3)])
    assert found.average_degree().error == pytest.approx(
        (ones @ matrix @ ones) ** 0.5 / 3
    )


@pytest.mark.parametrize(
    "design",
    [pckv_ue(ITEMS, 1, padding=2), pckv_grr(ITEMS, 1, padding=2)],
    ids=["ue", "grr"],
)
def test_totals_are_the_sums_over_the_covariance_matrix(
    design: KeyValueDesign,
) -> None:
    found = estimate(typical(design))
    matrix = found.joint_covariance(ITEMS)
    degrees, weights = np.repeat([1, 0], 3), np.repeat([0, 1], 3)
    assert found.average_degree("items").error == pytest.approx(
        (degrees @ matrix @ degrees) ** 0.5 / 3
    )
    assert found.average_weight("items").error == pytest.approx(
        (weights @ matrix @ weights) ** 0.5 / 3
    )
    ratio = found.weight.sum() / found.degree.sum()
    mixed = (weights - ratio * degrees) @ matrix @ (weights - ratio * degrees)
    assert found.average_weight("edges").error == pytest.approx(
        mixed**0.5 / found.degree.sum()
    )
    assert found.average_weight("edges").value == pytest.approx(ratio)


def test_averages_and_density_of_the_graph() -> None:
    found = estimate(CLUB)
    edges = found.degree.sum()
    assert found.average_degree().value == pytest.approx(edges / 3)
    assert found.average_degree("all").value == pytest.approx(2 * edges / 9003)
    assert found.density().value == pytest.approx(edges / 27000)
    assert found.average_weight("items").value == pytest.approx(
        found.weight.sum() / 3
    )
    assert found.average_weight("all").value == pytest.approx(
        2 * found.weight.sum() / 9003
    )
    low, high = found.density().interval()
    assert low < found.density().value < high
    for wrong in (
        lambda: found.average_degree("people"),
        lambda: found.average_weight("people"),
    ):
        with pytest.raises(InvalidRequest, match="'items' or 'all'"):
            wrong()
    with pytest.raises(InvalidRequest, match="the level is 2"):
        Quantity(1.0, 1.0).interval(level=2)


def test_populations_make_intervals_narrower() -> None:
    free, some, census = (
        estimate(CLUB, population=each) for each in (None, 18_000, "census")
    )
    for what in ("degree", "weight"):
        assert (census.errors(what) < some.errors(what)).all()
        assert (some.errors(what) < free.errors(what)).all()
    widths = [
        np.diff(np.array(list(each.conf_int().values())), axis=1)
        for each in (census, some, free)
    ]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()
    for wrong in ("everybody", 100):
        with pytest.raises(InvalidRequest):
            estimate(CLUB, population=wrong)


def test_the_census_variance_is_that_of_the_exact_moments() -> None:
    from tests.support.item_moments import moments

    design, n = lpp_ddagger(4, epsilon1=1, epsilon2=1.5), 400_000
    edges = [1, -1, None, None, None]
    exact = moments(design, edges)
    symbol = design.scheme.symbol
    sent = np.array(
        [[float(symbol.probability(i, given=j)) for j in range(3)] for i in range(3)]
    )
    counts = np.rint(np.tile(sent @ [0.6, 0.2, 0.2] * n / 4, (4, 1))).astype(
        np.int64
    )
    found = estimate(
        KeyValueTally(design, counts, int(counts.sum())),
        scaling="fixed",
        population="census",
    )
    assert found.variance("degree") == pytest.approx(
        float(exact.var_degree) * n / 5, rel=1e-3
    )
    # The squares of weights cannot be told from rounded ones; what is told is never less.
    assert found.variance("weight") == pytest.approx(
        float(exact.var_weight) * n / 5, rel=0.05
    )
    assert (found.variance("weight") >= float(exact.var_weight) * n / 5).all()


def test_means_within_noise_are_told_and_not_trusted() -> None:
    found = estimate(CLUB)
    assert found.within_noise.tolist() == [False, False, True]
    assert any(
        "1 of 3 items is within noise of 0" in each.text for each in found.warnings
    )
    assert found.about("mean").interval("milk") == (-1.0, 1.0)
    assert found.about("mean").interval("milk", method="delta") != (-1.0, 1.0)
    low, high = found.about("mean").interval("tea", method="score")
    assert low < found.mean[0] < high <= 1
    assert found.about("mean").interval("milk", method="score") == (-1.0, 1.0)
    assert [row.mean for row in found.summary().rows][-1] is None
    assert found.frequency == pytest.approx([0.5, 0.3, 0.01], abs=1e-3)
    assert found.mean[:2] == pytest.approx([0.5, -0.2], abs=1e-2)


def test_all_intervals_of_a_mean_agree_where_the_degree_is_sure() -> None:
    found = estimate(typical(lpp_club(ITEMS, 3), 30_000_000))
    for item in ITEMS[:2]:
        delta, score, wide = (
            found.about("mean").interval(item, method=each)
            for each in ("delta", "score", "wide")
        )
        assert score == pytest.approx(delta, abs=1e-4)
        assert wide == pytest.approx(delta, abs=1e-4)


def test_intervals_refuse_what_they_do_not_know() -> None:
    found = estimate(CLUB)
    for quantity, arguments in (
        ("height", {}),
        ("degree", {"level": 1}),
        ("degree", {"method": "wide"}),
        ("mean", {"method": "normal"}),
        ("weight", {"method": "exact"}),
    ):
        with pytest.raises(InvalidRequest):
            found.about(quantity).conf_int(**arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="scaling"):
        estimate(CLUB, scaling="best")
    with pytest.raises(InvalidRequest, match="scaling"):
        estimate(counted(pckv_ue(ITEMS, 1, padding=1)), scaling="conditional")
    with pytest.raises(InvalidRequest):
        found.variance("height")


def test_all_intervals_together_are_wider() -> None:
    found = estimate(CLUB)
    alone, together = (
        np.array(list(found.about("weight").conf_int(simultaneous=each).values()))
        for each in (False, True)
    )
    assert (np.diff(together) > np.diff(alone)).all()
    normal = np.array(list(found.conf_int(method="normal").values()))
    assert normal.mean(axis=1) == pytest.approx(found.frequency)
    score = np.array(list(found.conf_int().values()))
    assert (score[:, 0] < found.frequency).all()
    assert (found.frequency < score[:, 1]).all()


def test_top_items_are_ranked_and_sure_ones_told() -> None:
    found = estimate(typical(lpp_club(ITEMS, 3)))
    first, second = found.top(2)
    assert (first.item, first.sure) == ("tea", True)
    assert (second.item, second.value) == (
        "coffee",
        pytest.approx(found.frequency[1]),
    )
    assert first.low < first.value < first.high
    assert [each.sure for each in found.top(3)] == [True] * 3
    # milk is within noise
    assert {each.item for each in estimate(CLUB).top(3, "mean")} == {"tea", "coffee"}
    assert not any(
        each.sure
        for each in estimate(counted(lpp_club(ITEMS, 1), np.full((3, 3), 100))).top(
            1
        )
    )
    with pytest.raises(InvalidRequest, match="count"):
        found.top(0)


def test_designs_that_do_not_tell_everything_say_so() -> None:
    sums = estimate(tally(vpp(ITEMS, 1), ["+ tea", "- coffee", "+ milk", "+ tea"]))
    for ask in (
        lambda: sums.degree,
        lambda: sums.mean,
        sums.density,
        sums.average_degree,
        lambda: sums.top(1, "degree"),
    ):
        with pytest.raises(NotEstimable, match="does not tell who has an item"):
            ask()
    assert sums.top(1, "weight")[0].item == "tea"
    assert "weight" in str(sums.summary())
    told = json.loads(sums.to_json())
    assert (told["quantity"], told["rows"][0]["frequency"]) == ("weight", None)
    degrees = estimate(typical(lpp_club(ITEMS, 1, importance="frequency")))
    for ask in (
        lambda: degrees.weight,
        lambda: degrees.mean,
        lambda: degrees.average_weight("items"),
    ):
        with pytest.raises(NotEstimable, match="frequencies alone"):
            ask()
    assert degrees.density().value > 0
    assert json.loads(degrees.to_json())["rows"][0]["mean"] is None
    assert degrees.warnings == ()


def test_vpp_estimates_sums_of_weights() -> None:
    design = vpp(ITEMS, 1)
    found = estimate(
        tally(
            design,
            ["+ tea"] * 80 + ["- tea"] * 20 + ["+ coffee"] * 100 + ["- milk"] * 100,
        )
    )
    q = 1 / (1 + np.exp(-1))
    assert found.weight == pytest.approx(300 * np.array([0.6, 1, -1]) / (2 * q - 1))
    assert found.errors("weight")[0] == pytest.approx(
        (300**2 / 100 * (1 - 0.6**2)) ** 0.5 / (2 * q - 1), rel=0.2
    )


def test_without_responses_there_is_no_estimate() -> None:
    with pytest.raises(NotEstimable, match="no responses"):
        estimate(KeyValueTally.empty(lpp_club(ITEMS, 1)))


def test_a_summary_is_a_table_with_notes() -> None:
    found = estimate(CLUB)
    text = str(found.summary(level=0.9))
    assert text.splitlines()[0].startswith(
        "lpp_club, ε = 1, 9,000 respondents, 3 items"
    )
    assert "90% interval" in text
    assert "average degree of an item" in text
    assert "two devices one after the other would be charged 2, 1 more" in text
    assert "Warning: the degree of 1 of 3 items is within noise" in text
    assert [row.name for row in found.summary(count=2).rows] == ["tea", "coffee"]


def test_an_estimate_is_written_as_json() -> None:
    found = estimate(CLUB)
    body = json.loads(found.to_json(indent=1))
    assert (body["schema"], body["type"], body["quantity"]) == (
        "deniable/result/1",
        "key-value",
        "frequency",
    )
    assert body["design"] == CLUB.design.hash
    assert [row["estimate"] for row in body["rows"]] == pytest.approx(
        found.frequency.tolist()
    )
    assert (body["rows"][2]["name"], body["rows"][2]["mean"]) == ("milk", None)


@pytest.mark.parametrize(
    "design",
    [pckv_ue(ITEMS, 3, padding=2), pckv_grr(ITEMS, 3, padding=2)],
    ids=["ue", "grr"],
)
def test_what_padding_cut_off_is_put_back(design: KeyValueDesign) -> None:
    found = estimate(
        counted(design, np.array([[700, 200, 100], [800, 100, 100], [900, 50, 50]]))
    )
    sizes = {0: 0.1, 2: 0.5, 4: 0.4}  # of 2.6 items on average 1.8 are let through
    corrected = found.corrected(sizes)
    assert corrected.numbers.kept_value == pytest.approx(1.8 / 2.6)
    assert corrected.degree == pytest.approx(found.degree * 2.6 / 1.8)
    assert corrected.mean == pytest.approx(found.mean)
    assert corrected.errors("weight") == pytest.approx(
        found.errors("weight") * 2.6 / 1.8
    )
    assert corrected.errors("mean") == pytest.approx(found.errors("mean"))
    assert corrected.density().value == pytest.approx(
        found.density().value * 2.6 / 1.8
    )
    assert np.array(list(corrected.conf_int().values())) == pytest.approx(
        np.array(list(found.conf_int().values())) * 2.6 / 1.8
    )
    assert found.corrected({1: 1.0}).numbers.kept_value == 1
    assert found.corrected({0: 1.0}).numbers.kept_value == 1
    for wrong in ({1: 0.5}, {1: 2.0, 2: -1.0}):
        with pytest.raises(InvalidRequest, match="do not fit"):
            found.corrected(wrong)


def test_only_padding_needs_a_correction() -> None:
    with pytest.raises(InvalidRequest, match="with padding"):
        estimate(CLUB).corrected({1: 1.0})


def _many(spread: float) -> tuple[ItemEstimate, np.ndarray]:
    """Two hundred items whose frequencies are 0.1 or 0.1 + spread, counted with noise."""
    design, rng = lpp_club(200, 2), np.random.default_rng(7)
    symbol = design.scheme.symbol
    sent = np.array(
        [[float(symbol.probability(i, given=j)) for j in range(3)] for i in range(3)]
    )
    truth = 0.1 + spread * (np.arange(200) % 2)
    counts = np.array(
        [rng.multinomial(400, sent @ [1 - f, f * 0.75, f * 0.25]) for f in truth]
    )
    return estimate(KeyValueTally(design, counts, int(counts.sum()))), truth


def test_the_degree_distribution_has_its_noise_taken_out() -> None:
    found, truth = _many(0.5)
    told = found.degree_distribution()
    n = found.respondents
    assert told.shares.sum() == pytest.approx(1)
    assert told.mean == pytest.approx(found.degree.mean())
    assert told.deviation == pytest.approx(n * truth.std(), rel=0.1)
    assert told.at_least(0.35 * n) == pytest.approx(0.5, abs=0.06)
    assert found.degree.std() > told.deviation
    flat, _ = _many(0.0)
    assert flat.degree_distribution().deviation < flat.degree.std() / 2
    with pytest.raises(InvalidRequest, match="points"):
        found.degree_distribution(1)


def test_shrinking_lowers_the_error_on_the_whole() -> None:
    for spread in (0.0, 0.05, 0.5):
        found, truth = _many(spread)
        near = found.shrunk()
        assert ((near.frequency - truth) ** 2).mean() < (
            (found.frequency - truth) ** 2
        ).mean()
        assert ((near.mean - 0.5) ** 2).mean() < (
            (np.clip(found.mean, -1, 1) - 0.5) ** 2
        ).mean()
        assert near.frequency.min() >= 0
        assert abs(near.mean).max() <= 1


def test_shrinking_leaves_alone_what_is_sure() -> None:
    found = estimate(typical(lpp_club(ITEMS, 4), 30_000_000))
    assert found.shrunk().frequency == pytest.approx(found.frequency, abs=1e-3)
    assert found.shrunk().mean[:2] == pytest.approx(found.mean[:2], abs=1e-2)
