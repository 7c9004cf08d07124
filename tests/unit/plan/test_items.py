from __future__ import annotations

import math
from typing import Any

import pytest

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.plan import optimal_items, sample_size, variance, width
from deniable.plan.planned import more_people


def yes_or_no(items: int) -> dict[str, Any]:
    return {f"item {number}": ["no", "yes"] for number in range(items)}


@pytest.mark.parametrize(
    ("items", "times"), [(2, 1.78), (5, 4.30), (10, 8.56), (20, 17.09)]
)
def test_one_drawn_item_against_splitting(items: int, times: float) -> None:
    choice = optimal_items(yes_or_no(items), 1)
    each = {one.each: one for one in choice.candidates}
    assert choice.candidates[0].each == 1
    assert isinstance(choice.design, dn.DrawnDesign)
    assert choice.design.epsilon <= 1
    assert each[items].shares / each[1].shares == pytest.approx(times, abs=0.006)
    assert each[1].shares == pytest.approx(items * variance(dn.warner(1), 1))
    assert math.isinf(each[1].associations)
    assert more_people(each[items].shares / each[1].shares) in str(choice)
    assert "how they hang together" in str(choice)


def test_associations_want_two_and_a_large_epsilon_wants_all() -> None:
    two = optimal_items(yes_or_no(5), 1, goal="associations")
    assert two.candidates[0].each == 2
    assert isinstance(two.design, dn.DrawnDesign)
    assert two.design.epsilon <= 1
    assert [one.each for one in two.candidates][-1] == 1  # nobody answers two
    pair = dn.product([dn.warner("1/2"), dn.warner("1/2")])
    # 2·1 of 5·4 are asked a pair
    assert two.candidates[0].associations == pytest.approx(10 * variance(pair, 1))
    everything = optimal_items(yes_or_no(5), 12)
    assert everything.candidates[0].each == 5
    assert everything.design.name == "product"  # type: ignore[union-attr]
    assert "all 5 questions" in everything.reasons[0]


def test_shares_are_those_of_each_question() -> None:
    shares = {"item 0": [0.9, 0.1], "item 1": {"no": 0.5, "yes": 0.5}}
    choice = optimal_items(yes_or_no(2), 1, shares=shares)
    own = [
        variance(dn.warner(1), 1, shares=each) for each in ([0.9, 0.1], [0.5, 0.5])
    ]
    assert choice.candidates[0].shares == pytest.approx(sum(own))


@pytest.mark.parametrize(
    ("categories", "options"),
    [
        (yes_or_no(1), {}),
        (3, {}),
        (yes_or_no(2), {"goal": "wire"}),
        (yes_or_no(2), {"shares": {"item 0": [0.5, 0.5]}}),
    ],
)
def test_what_cannot_be_chosen_is_refused(categories: Any, options: Any) -> None:
    with pytest.raises(InvalidRequest):
        optimal_items(categories, 1, **options)


def test_sizes_and_widths_count_all_respondents() -> None:
    design = dn.drawn_items(dict.fromkeys(("a", "b", "c", "d"), dn.warner(1)))
    alone = sample_size(dn.warner(1), margin=0.05)
    assert abs(sample_size(design, margin=0.05) - 4 * alone) <= 4
    assert width(design, 4_000) == pytest.approx(width(dn.warner(1), 1_000))
    assert variance(design, 4_000, category="b: yes") == pytest.approx(
        variance(dn.warner(1), 1_000)
    )
    assert variance(design, 4_000) == pytest.approx(
        4 * variance(dn.warner(1), 1_000)
    )
    census = variance(design, 4_000, category="b: yes", population="census")
    assert census == pytest.approx(
        variance(dn.warner(1), 1_000, category="yes", population=4_000)
    )
    for wrong in (
        {"category": "e: yes"},
        {"shares": [0.5, 0.5]},
        {"shares": {"a": [0.5, 0.5]}},
    ):
        with pytest.raises(InvalidRequest):
            variance(design, 4_000, **wrong)  # type: ignore[arg-type]
