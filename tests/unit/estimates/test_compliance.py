"""People who do not follow the device: the models, their borders, and what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product as combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy
from scipy.stats import binom
from scipy.stats import t as student

import deniable as dn
from deniable.errors import InvalidRequest, InvalidResponse, NotEstimable
from deniable.estimates.compliance.mixture_likelihood import Triangle, WeightShare

DIE = dn.forced_response("2/3", "1/6", "1/6")
_ARMS = {"RR": DIE, "DQ": dn.direct()}


def heights(
    p: list[float], yes: list[int], n: list[int], weights: np.ndarray
) -> np.ndarray:
    """The log-likelihood of the cheating detection model at each row of weights, written out."""
    said = np.clip(weights[:, :1] + weights[:, 1:2] * p, 0, 1)
    found = xlogy(yes, said) + xlogy(np.subtract(n, yes), 1 - said)
    return np.asarray(found.sum(axis=1))


def grid(steps: int = 200) -> np.ndarray:
    """Weights all over the triangle."""
    return (
        np.array(
            [
                (a, b, steps - a - b)
                for a in range(steps + 1)
                for b in range(steps + 1 - a)
            ]
        )
        / steps
    )


class TestTriangle:
    @pytest.mark.parametrize(
        ("yes", "n"),
        [
            ([58, 246], [300, 300]),
            ([150, 100], [300, 300]),
            ([0, 0], [5, 9]),
            ([7, 7], [7, 7]),
            ([3, 1], [9, 8]),
        ],
    )
    def test_nothing_on_a_grid_is_more_likely_and_all_that_is_as_likely_lies_in_the_intervals(
        self, yes: list[int], n: list[int]
    ) -> None:
        found = dn.compliance.cheating_detection(
            forced_yes=["1/5", "4/5"], yes=yes, respondents=n
        )
        assert found.model.weights.min() >= 0
        assert found.model.weights.sum() == pytest.approx(1)
        points = grid()
        tried = heights([0.2, 0.8], yes, n, points)
        assert found.log_likelihood >= tried.max() - 1e-9
        # with few people Student's
        z = 1.959964 if min(n) >= 30 else student.ppf(0.975, 2 * (min(n) - 1))
        for name, weights in (
            ("yes, honest", [1, 0, 0]),
            ("always no", [0, 0, 1]),
            ("yes at most", [1, 0, 1]),
        ):
            values = points @ np.array(weights)
            alone = (values == 0) & (sum(weights) == 2) | (values == 1) & (
                sum(weights) == 1
            )  # a corner
            drop = np.where(alone, 5.1384 / 3.8415, 1.0) * z**2 / 2
            held = values[tried >= found.log_likelihood - drop]
            low, high = found.interval(name)
            assert low <= held.min() + 1e-9
            assert held.max() <= high + 1e-9
            assert low >= held.min() - 0.02
            assert high <= held.max() + 0.02

    def test_a_share_of_a_part_is_profiled_along_its_own_lines(self) -> None:
        found = dn.compliance.lie_detector(
            truth=["1/5", "4/5"], yes=[200, 110], respondents=[300, 300]
        )
        points = grid(300)
        tried = heights([0.8, 0.2], [200, 110], [300, 300], points)
        inside = points[
            (tried >= found.log_likelihood - 1.9207)
            & (points[:, 0] + points[:, 2] > 0)
        ]
        truthful = inside[:, 0] / (inside[:, 0] + inside[:, 2])
        assert found.interval("truthful") == pytest.approx(
            (truthful.min(), truthful.max()), abs=0.01
        )

    def test_of_nobody_everything_fits(self) -> None:
        found = dn.compliance.one_sayers(p="1/4", same=[0, 0], respondents=[10, 12])
        assert math.isnan(found.params["yes among honest"])
        assert found.interval("yes among honest") == (0, 1)

    def test_laws_that_do_not_tell_people_apart_are_refused(self) -> None:
        with pytest.raises(NotEstimable, match="do not tell people"):
            Triangle(
                np.array([[0.5, 0.2, 0.2], [0.5, 0.8, 0.8]]),
                np.array([5.0, 5.0]),
                (2,),
            )

    def test_more_cells_than_weights_have_their_maximum_within(self) -> None:
        found = dn.compliance.unrelated_cheating(
            p=["3/4", "1/2", "1/4"],
            b="3/10",
            yes=[52, 70, 60],
            respondents=[300, 300, 300],
        )
        laws = found.model.triangle.laws

        def fall(free: np.ndarray) -> float:
            weights = np.array([*free, 1 - free.sum()])
            return -float(
                found.model.triangle.counts
                @ np.log(np.maximum(laws @ weights, 1e-12))
            )

        best = minimize(
            fall,
            [0.2, 0.5],
            method="Nelder-Mead",
            options={"xatol": 1e-10, "fatol": 1e-12},
        )
        assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-8)
        assert found.fit.df == 1
        assert str(found.fit).startswith("Test that the model fits: G² = ")
        assert found.fit.statistic > 1

    def test_a_part_of_nobody_is_no_number(self) -> None:
        assert math.isnan(
            WeightShare((1, 0, 0), (1, 1, 0)).at(np.array([0.0, 0.0, 1.0]))
        )


class TestAlwaysOneResponse:
    def test_the_cheating_and_the_lie_detector_are_two_ends_of_one_interval(
        self,
    ) -> None:
        counts = {"yes": [200, 110], "respondents": [300, 320]}
        low = dn.compliance.cheating_detection(forced_yes=["4/5", "1/5"], **counts)
        high = dn.compliance.lie_detector(truth=["1/5", "4/5"], **counts)
        assert high.params["yes"] == pytest.approx(low.params["yes at most"])
        assert high.params["truthful"] == pytest.approx(
            low.params["yes, honest"] / low.params["yes at most"]
        )
        assert high.log_likelihood == pytest.approx(low.log_likelihood)
        assert high.interval("yes") == pytest.approx(low.interval("yes at most"))
        for found in (low, high):
            told = str(found.summary())
            assert f"between {low.params['yes, honest']:.4f}" in told
            assert f"and {low.params['yes at most']:.4f}, if all of them are" in told
        assert "'yes, honest' is a lower bound" in str(low.summary())

    def test_minarets(self) -> None:
        """RRreg prints .87070 (.04112) and .63581 (.01734) for this survey; the counts are facts of its file."""
        found = dn.compliance.lie_detector(
            truth=["2/12", "10/12"], yes=[373, 398], respondents=[564, 692]
        )
        assert found.params == pytest.approx(
            {"yes": 0.87070, "truthful": 0.63581}, abs=5e-6
        )
        assert found.bse == pytest.approx(
            {"yes": 0.04112, "truthful": 0.01734}, abs=5e-6
        )

    def test_where_r_leaves_the_simplex(self) -> None:
        """RRreg answers π = 1, β = 1, γ = −1 here: trap 5 of the survey sheet."""
        found = dn.compliance.cheating_detection(
            forced_yes=["1/5", "4/5"], yes=[58, 246], respondents=[300, 300]
        )
        assert found.model.weights == pytest.approx([0, 1, 0])
        assert found.interval("yes, honest") == pytest.approx(
            (0, 0.0561479), abs=1e-6
        )
        assert found.moments["yes, honest"] == pytest.approx(-0.0155556, abs=1e-7)
        (doubt,) = found.warnings
        assert doubt.code == "outside"
        assert "groups contradict the model" in doubt.text
        assert "moment" in found.summary().table()[0]

    def test_probabilities_come_from_the_designs(self) -> None:
        designs = dn.forced_response("4/5", "1/5"), dn.devore("1/5")
        tallies = [dn.Tally(designs[0], [210, 90]), dn.Tally(designs[1], [110, 190])]
        named = dn.compliance.cheating_detection(
            forced_yes=["1/5", "4/5"], yes=[90, 190], respondents=[300, 300]
        )
        assert dn.compliance.cheating_detection(tallies).params == pytest.approx(
            named.params
        )

    def test_missing_responses_are_counted_and_left_out(self) -> None:
        first, second = dn.forced_response("4/5", "1/5"), dn.devore("1/5")
        tallies = [
            dn.tally(first, ["yes", None, "no", "no"]),
            dn.tally(second, ["yes", "no", "yes"]),
        ]
        assert "1 sent no response" in str(
            dn.compliance.cheating_detection(tallies).summary()
        )

    def test_people_who_always_say_yes(self) -> None:
        groups = [
            dn.Tally(dn.mangat(p), [n, 1000 - n])
            for p, n in (("4/5", 480), ("1/5", 120))
        ]
        # who always say yes look like honest members
        with pytest.raises(NotEstimable):
            dn.compliance.cheating_detection(groups, says="yes")
        symmetric = [
            dn.Tally(dn.forced_response("1/2", up), [n, 1000 - n])
            for up, n in (("1/10", 500), ("4/10", 350))
        ]
        assert (
            "always yes"
            in dn.compliance.cheating_detection(symmetric, says="yes").params
        )

    @pytest.mark.parametrize(
        ("given", "match"),
        [
            (
                {"forced_yes": ["1/5", "4/5"], "yes": [9], "respondents": [30, 30]},
                "different lengths",
            ),
            (
                {
                    "forced_yes": ["1/5", "4/5"],
                    "yes": [9, 31],
                    "respondents": [30, 30],
                },
                "more people",
            ),
            (
                {
                    "forced_yes": ["1/5", "4/5"],
                    "yes": [9, -1],
                    "respondents": [30, 30],
                },
                "whole number",
            ),
            ({"forced_yes": ["1/5"], "yes": [9], "respondents": [30]}, "at least 2"),
            ({"yes": [9, 9], "respondents": [30, 30]}, "expected tallies"),
            ({"groups": dn.Tally(DIE, [2, 3])}, "list of tallies"),
            (
                {
                    "groups": [
                        dn.Tally(DIE, [2, 3]),
                        dn.Tally(dn.crosswise("1/4"), [2, 3]),
                    ]
                },
                "same two answers",
            ),
            (
                {
                    "groups": [
                        dn.Tally(DIE, [2, 3]),
                        dn.Tally(dn.k_ary(3, 1), [2, 3, 4]),
                    ]
                },
                "same two answers",
            ),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, given: dict[str, object], match: str
    ) -> None:
        with pytest.raises(InvalidRequest, match=match):
            dn.compliance.cheating_detection(**given)  # type: ignore[arg-type]

    def test_equal_devices_and_tiny_groups_are_refused(self) -> None:
        with pytest.raises(NotEstimable, match="different"):
            dn.compliance.cheating_detection(
                [dn.Tally(DIE, [20, 30]), dn.Tally(DIE, [25, 30])]
            )
        with pytest.raises(NotEstimable, match="at least 2"):
            dn.compliance.lie_detector(
                truth=["1/5", "4/5"], yes=[0, 3], respondents=[1, 8]
            )
        with pytest.raises(InvalidResponse, match="not a response"):
            dn.compliance.one_sayers(
                p="1/4", same=[2, 3], respondents=[9, 9], says="both"
            )


class TestExtendedCrosswise:
    def test_one_saying_is_found_and_named(self) -> None:
        found = dn.compliance.extended_crosswise(
            p="1/6", same=[150, 30], respondents=[250, 250]
        )
        assert [each.code for each in found.warnings] == ["misfit"]
        assert "always say 'different'" in found.warnings[0].text
        assert found.model.one_sayers().params["always different"] == pytest.approx(
            0.28
        )

    def test_two_saying_is_found_and_named(self) -> None:
        found = dn.compliance.extended_crosswise(
            p="1/6", same=[220, 100], respondents=[250, 250]
        )
        assert "one_sayers(says='same')" in found.warnings[0].text
        assert found.model.one_sayers().moments["always different"] == pytest.approx(
            -0.28
        )
        assert found.model.one_sayers("same").params["always same"] == pytest.approx(
            0.28
        )

    def test_random_answering_leaves_no_trace(self) -> None:
        """Half of all people at random: the sum of both groups' shares stays 1, which the notes say."""
        honest = dn.compliance.extended_crosswise(
            p="1/4", same=[700, 300], respondents=[1000, 1000]
        )
        random = dn.compliance.extended_crosswise(
            p="1/4", same=[600, 400], respondents=[1000, 1000]
        )
        assert honest.fit.statistic == random.fit.statistic == 0
        assert "blind to random" in str(random.summary())

    def test_at_the_border_the_estimate_is_a_share(self) -> None:
        found = dn.compliance.extended_crosswise(
            p="1/4", same=[200, 45], respondents=[250, 240]
        )
        assert found.params["yes"] == 0
        assert found.moments["yes"] < 0
        assert found.interval("yes").low == 0 < found.interval("yes").high
        assert [each.code for each in found.warnings] == ["outside"]

    def test_groups_that_do_not_mirror_each_other_are_refused(self) -> None:
        tallies = [dn.Tally(dn.crosswise(p), [100, 150]) for p in ("1/4", "2/3")]
        with pytest.raises(InvalidRequest, match="mirror"):
            dn.compliance.extended_crosswise(tallies)
        with pytest.raises(InvalidRequest, match="expected two"):
            dn.compliance.extended_crosswise(
                p="1/4", same=[3, 4, 5], respondents=[9, 9, 9]
            )
        with pytest.raises(InvalidRequest, match="p, same and respondents"):
            dn.compliance.extended_crosswise(same=[3, 4], respondents=[9, 9])


class TestControlItem:
    def test_the_worked_example_of_cwise(self) -> None:
        """Printed: naive .1950 (.0144), corrected .1054, attentive .7729; the delta method gives .0227."""
        found = dn.compliance.anchored_crosswise(
            p=0.15, table=[[148, 425], [311, 1116]]
        )
        assert (
            found.model.uncorrected,
            found.model.uncorrected_error,
        ) == pytest.approx((0.1950, 0.0144), abs=5e-5)
        assert found.moments == pytest.approx(
            {"yes": 0.1054, "attentive": 0.7729}, abs=5e-5
        )
        assert found.bse["yes"] == pytest.approx(0.0227, abs=5e-5)
        assert found.params["yes"] == pytest.approx(0.1194, abs=5e-5)

    def test_random_answers_found_by_a_direct_control(self) -> None:
        """Half of the random share errs on a control asked directly: ρ = 2·error, λ becomes (λ − ρ/2)/(1 − ρ)."""
        item, control = (
            dn.Tally(dn.crosswise("1/4"), [150, 250]),
            dn.Tally(dn.direct(), [360, 40]),
        )
        found = dn.compliance.control_item([item, control])
        rho = 2 * 40 / 400
        corrected = ((250 / 400 - rho / 2) / (1 - rho) - 3 / 4) / (1 / 4 - 3 / 4)
        assert found.params == pytest.approx(
            {"yes": corrected, "attentive": 1 - rho}
        )

    def test_the_joint_maximum_is_the_maximum(self) -> None:
        found = dn.compliance.anchored_crosswise(
            p=0.15, anchor=0.1, table=[[90, 420], [260, 1230]]
        )
        best = max(
            found.model.triangle.height(np.array([g * pi, g * (1 - pi), 1 - g]))
            for g, pi in combinations(
                np.linspace(0.7, 1, 61), np.linspace(0, 0.3, 61)
            )
        )
        assert best <= found.log_likelihood <= best + 0.05
        assert [each.code for each in found.warnings] == ["misfit"]

    def test_more_attention_than_there_is(self) -> None:
        found = dn.compliance.anchored_crosswise(
            p="1/4", table=[[60, 60], [10, 270]]
        )
        assert found.moments["attentive"] > 1
        assert found.params["attentive"] <= 1
        assert found.interval("attentive").high == 1
        assert "outside" in [each.code for each in found.warnings]

    def test_a_control_that_tells_nothing_is_refused(self) -> None:
        item = dn.Tally(dn.crosswise("1/4"), [150, 250])
        with pytest.raises(NotEstimable, match="as often as those who do not"):
            dn.compliance.control_item([item, item], guess="3/4")
        with pytest.raises(InvalidRequest, match="truth of the control"):
            dn.compliance.control_item([item, item], truth="perhaps")
        with pytest.raises(InvalidRequest, match="an item and of a control"):
            dn.compliance.control_item(item)
        with pytest.raises(InvalidRequest, match="two rows"):
            dn.compliance.anchored_crosswise(p=0.15, table=[[1, 2, 3]])
        with pytest.raises(NotEstimable, match="at least 2"):
            dn.compliance.anchored_crosswise(p=0.15, table=[[0, 0], [0, 1]])
        with pytest.raises(InvalidRequest, match="whole number"):
            dn.compliance.anchored_crosswise(p=0.15)


class TestProtection:
    def test_two_items_have_a_closed_form(self) -> None:
        """λ₁ = P₁₁/(P₁₁ + P₀₁), λ₂ = P₁₁/(P₁₁ + P₁₀), θ = 1 − P₁₁/(λ₁λ₂): no degree of freedom is left."""
        cells = {"00": 500, "01": 150, "10": 200, "11": 150}
        found = dn.compliance.self_protection(designs=[DIE, DIE], counts=cells)
        rates = 150 / 300, 150 / 350
        assert found.params["item 1"] == pytest.approx(
            (rates[0] - 1 / 6) / (2 / 3), abs=1e-6
        )
        assert found.params["item 2"] == pytest.approx(
            (rates[1] - 1 / 6) / (2 / 3), abs=1e-6
        )
        assert found.params["always no"] == pytest.approx(
            1 - 0.15 / rates[0] / rates[1], abs=1e-6
        )
        assert found.moments == pytest.approx(found.params, abs=1e-6)
        assert found.fit.df == 0
        assert (
            str(found.fit)
            == "Whether the model fits cannot be tested: no degree of freedom is left"
        )

    def test_it_is_the_maximum_over_all_numbers_and_so_is_a_profile(self) -> None:
        counts = [300, 60, 50, 15, 70, 20, 18, 7]
        found = dn.compliance.self_protection(
            dn.Tally(dn.product(dict.fromkeys("abc", DIE)), counts)
        )

        def fall(free: np.ndarray) -> float:
            return -found.model._cells.height(
                np.append(1 / 6 + 2 / 3 * free[:3], free[3])
            )

        best = minimize(fall, [0.1, 0.1, 0.1, 0.1], bounds=[(0, 0.9)] * 4)
        assert found.log_likelihood >= -best.fun - 1e-7
        for at in (0.1, 0.3):
            held = minimize(
                fall, [0.1, 0.1, 0.1, at], bounds=[(0, 0.9)] * 3 + [(at, at)]
            )
            assert (
                found.model._cells.height(found.model._cells.maximize(3, at))
                >= -held.fun - 1e-6
            )
        held = minimize(
            fall, [0.2, 0.1, 0.1, 0.2], bounds=[(0.2, 0.2)] + [(0, 0.9)] * 3
        )
        assert (
            found.model._cells.height(
                found.model._cells.maximize(0, 1 / 6 + 2 / 3 * 0.2)
            )
            >= -held.fun - 1e-6
        )

    def test_nobody_protects_themselves(self) -> None:
        said = [
            round(3000 * p)
            for p in np.array([5, 1]) / 6
            for p in np.array([5, 1]) / 6 * p
        ]
        found = dn.compliance.self_protection(
            dn.Tally(dn.product({"a": DIE, "b": DIE}), said)
        )
        assert found.params["always no"] == pytest.approx(0, abs=1e-3)
        assert found.model.protection_test.p_value > 0.4
        assert str(found.model.protection_test).startswith(
            "Test that nobody protects themselves: G² = "
        )
        assert found.interval("always no").low == 0

    def test_fewer_yes_than_the_devices_send_stay_within_what_is_possible(
        self,
    ) -> None:
        cells = {"00": 300, "01": 60, "10": 80, "11": 5}
        found = dn.compliance.self_protection(designs=[DIE, DIE], counts=cells)
        assert found.params["item 2"] == found.params["always no"] == 0
        assert [each.code for each in found.warnings] == ["outside"]

        def fall(free: np.ndarray) -> float:
            return -found.model._cells.height(
                np.append(1 / 6 + 2 / 3 * free[:2], free[2])
            )

        best = minimize(fall, [0.1, 0.1, 0.1], bounds=[(0, 0.9)] * 3)
        assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-5)

    def test_that_anybody_protects_themselves_is_tested_at_the_border(self) -> None:
        """Half of the tail of χ²₁: 5.877 is at its 1.53 % point."""
        counts = [300, 60, 50, 15, 70, 20, 18, 7]
        tally = dn.Tally(dn.product(dict.fromkeys("abc", DIE)), counts)
        test = dn.compliance.self_protection(tally).model.protection_test
        assert test.statistic == pytest.approx(
            2 * (784.633522256 - 781.694796718), abs=1e-5
        )
        assert test.p_value == pytest.approx(0.00767, abs=1e-5)

    def test_sums_are_binomial_again(self) -> None:
        """A channel of sums times binomial true sums is binomial: what `sum_scores` rests on."""
        channel = dn.compliance.sum_score_channel(DIE, 4)
        assert channel.sum(axis=0) == pytest.approx([1] * 5)
        true = binom.pmf(np.arange(5), 4, 0.3)
        assert channel @ true == pytest.approx(
            binom.pmf(np.arange(5), 4, 1 / 6 + 2 / 3 * 0.3)
        )

    def test_sums_of_items_reveal_as_much_as_all_of_them(self) -> None:
        found = dn.compliance.sum_scores(DIE, [310, 250, 120, 40, 8])
        assert found.summary().epsilon == pytest.approx(4 * DIE.epsilon)

    @pytest.mark.parametrize(
        "call",
        [
            lambda: dn.compliance.self_protection(dn.Tally(DIE, [2, 3])),
            lambda: dn.compliance.self_protection(
                designs=[DIE, DIE], counts={"012": 3}
            ),
            lambda: dn.compliance.self_protection(designs=[DIE, DIE]),
            lambda: dn.compliance.self_protection(
                dn.Tally(dn.product({"a": DIE, "b": dn.k_ary(3, 1)}), [5] * 6)
            ),
            lambda: dn.compliance.sum_scores(dn.k_ary(3, 1), [1, 2, 3]),
            lambda: dn.compliance.sum_scores(DIE, [1, 2]),
            lambda: dn.compliance.sum_scores(DIE, [1, 2, -3]),
            lambda: dn.compliance.sum_score_channel(DIE, 0),
        ],
    )
    def test_what_does_not_fit_is_refused(self, call: object) -> None:
        with pytest.raises(InvalidRequest, match="expected"):
            call()  # type: ignore[operator]

    def test_too_few_people(self) -> None:
        with pytest.raises(NotEstimable, match="fewer than 2"):
            dn.compliance.sum_scores(DIE, [1, 0, 0])


def smallest_surveys() -> list[dn.Result]:
    """Every survey of three people in each of two groups, and of four people with a control item."""
    model = dn.compliance
    groups = [list(yes) for yes in combinations(range(4), repeat=2)]
    tables = [cells for cells in combinations(range(5), repeat=4) if sum(cells) == 4]
    return [
        *(
            model.cheating_detection(
                forced_yes=["1/5", "4/5"], yes=yes, respondents=[3, 3]
            )
            for yes in groups
        ),
        *(
            model.lie_detector(truth=["1/6", "5/6"], yes=yes, respondents=[3, 3])
            for yes in groups
        ),
        *(model.one_sayers(p="1/4", same=yes, respondents=[3, 3]) for yes in groups),
        *(
            model.extended_crosswise(p="1/4", same=yes, respondents=[3, 3])
            for yes in groups
        ),
        *(
            model.anchored_crosswise(p="1/4", table=[cells[:2], cells[2:]])
            for cells in tables
        ),
    ]


def test_no_small_survey_leaves_the_simplex_or_has_no_interval() -> None:
    for found in smallest_surveys():
        ends = found.conf_int()
        for name, value in found.params.items():
            low, high = ends[name]
            assert 0 <= low <= high <= 1
            assert (
                low - 1e-12 <= value <= high + 1e-12
                if np.isfinite(value)
                else (low, high) == (0, 1)
            )
        if isinstance(found, dn.compliance.Cheating):
            assert sum(list(found.params.values())[:3]) == pytest.approx(1)


@pytest.mark.parametrize(
    "devices", [("1/5", "0", "4/5", "0"), ("1/10", "1/10", "1/2", "1/10")]
)
def test_intervals_of_ten_people_in_each_group_hold_in_every_cell(
    devices: tuple[str, str, str, str],
) -> None:
    """All 121 surveys, with their probabilities: no law of shares near 0 is missed more often than in 6 of 100."""
    up, down = devices[::2], devices[1::2]
    seen = list(combinations(range(11), repeat=2))
    ends = [
        dn.compliance.cheating_detection(
            forced_yes=up, forced_no=down, yes=list(yes), respondents=[10, 10]
        ).conf_int()
        for yes in seen
    ]
    for pi, gamma in (
        (0, 0),
        (0, 0.05),
        (0.02, 0),
        (0.02, 0.05),
        (0.05, 0.02),
        (0.05, 0.1),
        (0.1, 0),
    ):
        said = [
            pi * (1 - float(Fraction(no))) + (1 - pi - gamma) * float(Fraction(yes))
            for yes, no in zip(up, down, strict=True)
        ]
        chances = [binom.pmf(yes, 10, said).prod() for yes in seen]
        for name, truth in (
            ("yes, honest", pi),
            ("always no", gamma),
            ("yes at most", pi + gamma),
        ):
            held = [
                each[name].low - 1e-9 <= truth <= each[name].high + 1e-9
                for each in ends
            ]
            assert np.dot(chances, held) >= 0.94, (pi, gamma, name)


class TestArms:
    def test_the_sentence_says_what_it_assumes(self) -> None:
        found = dn.compliance.compare_arms(
            dn.Tally(dn.crosswise("1/4"), [140, 260]),
            dn.estimate(dn.Tally(dn.direct(), [320, 30])),
        )
        assert "11.4 points more" in found.model.sentence
        assert "is an assumption" in found.model.sentence
        assert found.model.sentence in str(found.summary())

    def test_less_is_told_as_less(self) -> None:
        found = dn.compliance.compare_arms(
            dn.Tally(DIE, [230, 70]), dn.Tally(dn.direct(), [200, 100])
        )
        assert "points less" in found.model.sentence

    def test_shares_outside_are_brought_in_for_the_likelihood_ratio(self) -> None:
        """Both arms at 0: the unbiased difference is negative, and no share fits better than a common one."""
        found = dn.compliance.compare_arms(
            dn.Tally(DIE, [180, 20]), dn.Tally(dn.direct(), [100, 0])
        )
        assert found.params["yes"] < 0
        assert found.model.likelihood_ratio.statistic == pytest.approx(0, abs=1e-9)
        assert [each.code for each in found.warnings] == ["implausible"]

    def test_other_categories_are_refused(self) -> None:
        with pytest.raises(InvalidRequest, match="different answers"):
            dn.compliance.compare_arms(
                dn.Tally(DIE, [5, 5]), dn.Tally(dn.direct(["a", "b"]), [5, 5])
            )
        with pytest.raises(InvalidRequest, match="two tallies"):
            dn.compliance.compare_arms(dn.Tally(DIE, [5, 5]), 0.3)  # type: ignore[arg-type]

    def test_arms_of_a_sample_are_groups_of_an_estimate(self) -> None:
        rng = np.random.default_rng(5)
        asked, clusters = np.tile(["RR", "DQ"], 100), np.arange(200) // 10
        column, sample = (
            rng.choice(["no", "yes"], 200),
            dn.Sampling(rng.uniform(1, 3, 200), clusters=clusters),
        )
        arms = [
            dn.tally(dn.Responses.of(each, column[asked == name]))
            for name, each in _ARMS.items()
        ]
        with pytest.raises(InvalidRequest, match=r"by=asked\)\.pairwise\(\)"):
            dn.compliance.compare_arms(*arms, sampling=sample)
        rows = dn.Responses.of(_ARMS, column, devices=asked)
        apart = dn.estimate(
            rows, sampling=dn.Sampling([1.0] * 200), by=asked
        ).pairwise()  # as the error tells
        assert abs(apart.params["DQ − RR · yes"]) == pytest.approx(
            abs(dn.compliance.compare_arms(*arms).params["yes"]), abs=1e-12
        )
