from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from deniable.attacks import doubts, swing
from deniable.channel import Sets
from deniable.channel.coding import set_sizes
from deniable.designs import (
    Design,
    binary,
    direct,
    k_ary,
    local_hashing,
    matrix,
    product,
    rappor,
    subset,
    unary,
    warner,
)
from deniable.engines.local import draw_all
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates import estimate
from deniable.estimates.shares import fitted
from deniable.estimates.stages import combine
from deniable.order.relaxation import ladder
from deniable.tallies import Tally, tally
from deniable.tallies.stages import count_stages
from tests.support.registered import every_design, parameters
from tests.support.seeded import seeded

PEOPLE = 4_000
RATE = 1e-9


def answers(design: Design) -> list[str]:
    """A lopsided population: most hold the first answer."""
    others = [
        design.categories[number] for number in range(min(len(design.categories), 5))
    ]
    return [others[0]] * (PEOPLE - 10 * len(others)) + others * 10


def counted_rows(design: Design, rows: object) -> Tally:
    return tally(
        design, rows, codes=None if isinstance(design.channel, Sets) else True
    )


def sizes(design: Design, rows: object) -> dict[int, int] | None:
    if not isinstance(design.channel, Sets):
        return None
    return dict(Counter(set_sizes(design.channel.coding.read(rows)).tolist()))


@pytest.mark.statistical
@every_design
def test_what_the_device_sent_is_not_doubted(design: Design) -> None:
    """False alarms at a rate of 1e-9 for each design, as `doubts` promises."""
    sent = draw_all(
        design, answers(design), source=seeded(f"not doubted {design.hash}")
    )
    assert (
        doubts(counted_rows(design, sent), sizes=sizes(design, sent), rate=RATE)
        == ()
    )


def always(design: Design) -> str | None:
    """A symbol that no answer makes certain, so that somebody who always sends it is no respondent."""
    for number in range(min(design.channel.responses, 64)):
        if (
            design.channel.possible(number)
            and 0 < design.channel.extremes(number)[0] < 1
        ):
            return design.symbols[number]
    return None


@pytest.mark.parametrize(
    "design", parameters(lambda design: always(design) is not None)
)
def test_one_response_sent_by_everybody_is_found(design: Design) -> None:
    """With 4,000 responses even a symbol that some answer brings in 99 of 100 cases is found."""
    symbol = always(design)
    found = doubts(tally(design, [symbol] * PEOPLE))
    assert found
    assert found[0].chance < 1e-6
    assert f"of {PEOPLE:,}; whatever the answers are" in found[0].what


def test_sets_of_one_size_are_found_by_their_sizes_alone() -> None:
    design = unary(14, epsilon=1, by_size=False)
    generator = np.random.default_rng(3)
    rows = np.zeros((PEOPLE, 14), np.uint8)
    for row in rows:
        row[generator.choice(14, 6, replace=False)] = 1
    counted = tally(design, rows)
    assert doubts(counted) == ()
    found = doubts(counted, sizes={6: PEOPLE})
    assert found[0].what.startswith(
        "a set of 6 was sent by 4,000 of 4,000; whatever the answers are, the device lets"
    )


def test_a_tally_by_size_knows_its_sizes() -> None:
    counted = tally(
        rappor(14, epsilon=1), ["b11100000000000", "b00000000000111"] * 30
    )
    assert any("a set of 3" in each.what for each in doubts(counted))
    apart = tally(
        unary(6, epsilon=1),
        Counter(f"b{number:06b}" for number in range(64) if number.bit_count() == 3),
    )
    assert doubts(apart + apart + apart + apart)[0].what.startswith(
        "a set of 3 was sent by 80 of 80"
    )


def test_too_few_of_a_symbol_are_found_too() -> None:
    found = doubts(Tally(k_ary(["a", "b", "c"], p="1/2"), [500, 490, 10]))
    assert [each.what for each in found] == [
        "'c' was sent by 10 of 1,000; whatever the answers are, the device lets at least about 250 send it."
    ]


def test_an_attribute_is_looked_at_by_itself() -> None:
    design = product(
        {"smokes": warner(p="3/4"), "age": k_ary(["young", "old"], p="2/3")}
    )
    counted = Tally(design, [450, 450, 50, 50])
    assert any(
        "'no' was sent by 900 of 1,000" in each.what for each in doubts(counted)
    )


def test_nobody_is_doubted_where_nobody_responded() -> None:
    assert doubts(Tally.empty(warner(1))) == ()


def test_requests_that_do_not_fit() -> None:
    counted = Tally(warner(1), [5, 5])
    with pytest.raises(InvalidRequest, match="rate of false alarms"):
        doubts(counted, rate=0)
    with pytest.raises(InvalidRequest, match="does not send sets"):
        doubts(counted, sizes={1: 10})
    with pytest.raises(
        InvalidRequest,
        match="a size that this design never sends; expected the letter b and 3",
    ):
        doubts(tally(unary(3, epsilon=1), ["b100", "b011"]), sizes={1: 1, 4: 1})
    for share in (-0.1, 1, True, math.nan):
        with pytest.raises(
            InvalidRequest, match="expected a number from 0 to below 1"
        ):
            swing(counted, share)
    with pytest.raises(NotEstimable, match="no responses"):
        swing(Tally.empty(warner(1)), 0.1)


@every_design
def test_without_fakes_the_swing_is_the_estimate(design: Design) -> None:
    sent = draw_all(design, answers(design), source=seeded(f"swing {design.hash}"))
    counted = counted_rows(design, sent)
    value = estimate(counted).value
    ends = np.array(swing(counted, 0))
    assert np.allclose(ends, value[:, None], atol=1e-9)
    wider = np.array(swing(counted, 0.05))
    assert (wider[:, 0] <= value + 1e-12).all()
    assert (value <= wider[:, 1] + 1e-12).all()


def test_a_direct_question_moves_by_as_much_as_people_are_made_up() -> None:
    low, high = swing(Tally(direct(["no", "yes"]), [90, 10]), 0.05)[1]
    assert low == pytest.approx(5 / 95)
    assert high == pytest.approx(10 / 95)


def test_the_swing_of_stages_is_that_of_their_weighted_mean() -> None:
    stages = ladder([subset(5, epsilon=1, t=2), subset(5, epsilon=2, t=2)])
    first = [f"b{'11000' if number % 3 else '00110'}" for number in range(300)]
    second = [f"b{'10100' if number % 2 else '01001'}" for number in range(300)]
    counts = count_stages(
        stages, [first, second], reached=[1 + number % 2 for number in range(300)]
    )
    combined = combine(counts, method="linear")
    assert np.allclose(np.array(swing(combined, 0)), combined.value[:, None])
    parts = [np.array(swing(each, 0.1)) for each in combined.evidence.groups]
    mixed = sum(
        weight * part
        for weight, part in zip(combined.evidence.weights, parts, strict=True)
    )
    assert np.allclose(np.array(swing(combined, 0.1)), mixed)


def test_two_answers_have_one_weight_for_each_stage_whatever_the_design() -> None:
    stages = ladder([binary("4/5", "3/5"), binary("9/10", "4/5")])
    first, second = ["yes", "no"] * 50, ["yes", "no", "no", "no"] * 25
    found = combine(
        count_stages(
            stages,
            [first, second],
            reached=[1 + number % 2 for number in range(100)],
        )
    )
    assert np.allclose(np.array(swing(found, 0)), found.value[:, None])


@pytest.mark.parametrize("method", ["information", "linear", "strata"])
def test_the_swing_of_stages_that_are_mixed_category_by_category(
    method: str,
) -> None:
    """Two of eight and one of four are left out, in every way that there is; the weights are kept."""
    coarse = matrix(
        [["1/2", "1/4", "1/4"], ["3/10", "1/2", "1/5"], ["1/5", "1/4", "11/20"]]
    )
    stages = ladder([coarse, k_ary(3, epsilon=3)])
    first, second = (
        ["0", "1", "2", "1", "0", "0", "1", "2", "0", "1", "1", "2"],
        [None] * 8 + ["0", "1", "1", "2"],
    )
    found = combine(
        count_stages(stages, [first, second], reached=[1] * 8 + [2] * 4),
        method=method,
    )
    assert np.allclose(np.array(swing(found, 0)), found.value[:, None])
    ends = []
    for part, fakes in zip(found.evidence.parts, (2, 1), strict=True):
        sent = np.repeat(np.arange(3), part.tally.counts)
        left = [
            np.bincount(np.delete(sent, out), minlength=3)
            for out in combinations(range(len(sent)), fakes)
        ]
        each = [
            part.mixing @ part.linear.shares(counts / counts.sum())
            for counts in left
        ]
        ends.append((np.min(each, axis=0), np.max(each, axis=0)))
    assert np.allclose(np.array(swing(found, 0.25)), np.array(ends).sum(axis=0).T)


def test_the_swing_of_sums_is_about_the_estimate_that_is_told_and_holds_every_choice() -> (
    None
):
    """Counts of categories alone: of twelve sets of any sizes three are left out, in every way that there is."""
    design = unary(14, epsilon=2, by_size=False)
    rows = (
        np.random.default_rng(4).random((12, 14))
        < np.linspace(0.1, 0.9, 12)[:, None]
    )
    sent = [f"b{''.join(map(str, row.astype(int)))}" for row in rows]
    counted = tally(design, sent)
    assert np.allclose(np.array(swing(counted, 0)), fitted(counted).value[:, None])
    left = [
        fitted(tally(design, [sent[at] for at in kept])).value
        for kept in combinations(range(12), 9)
    ]
    low, high = np.array(swing(counted, 0.25)).T
    assert (low <= np.min(left, axis=0) + 1e-12).all()
    assert (high >= np.max(left, axis=0) - 1e-12).all()
    stages = ladder([unary(14, epsilon=1, by_size=False), design])
    found = combine(
        count_stages(stages, [sent, sent], [1] * 6 + [2] * 6), method="strata"
    )
    assert np.allclose(np.array(swing(found, 0)), found.value[:, None])


def test_stages_that_are_no_mean_of_responses_have_no_swing() -> None:
    stages = ladder([warner(1), warner(2)])
    counts = count_stages(
        stages,
        [["no"] * 50 + ["yes"] * 50, ["no"] * 40 + ["yes"] * 10 + [None] * 50],
        [2] * 50 + [1] * 50,
    )
    with pytest.raises(NotEstimable, match="most likely"):
        swing(combine(counts, method="likelihood"), 0.01)
    many = [f"item {number}" for number in range(30)]
    stages = ladder([rappor(many, 1), rappor(many, 2)])
    rows = np.random.default_rng(1).random((2, 400, 30)) < 0.3
    rows[:, :, 0] = True
    sent = [
        [f"b{''.join(map(str, row.astype(int)))}" for row in each] for each in rows
    ]
    counts = count_stages(stages, sent, [1] * 200 + [2] * 200)
    with pytest.raises(NotEstimable, match="category by category"):
        swing(combine(counts), 0.01)
    assert len(swing(combine(counts, method="linear"), 0.01)) == 30


def test_a_design_too_large_to_go_through_is_looked_at_in_parts() -> None:
    items = product({f"item {number}": warner(p="3/4") for number in range(13)})
    counts = np.zeros(items.channel.cells, np.int64)
    counts[0] = 1000  # everybody sends no to everything
    counted = Tally(items, counts)
    assert "'no' was sent by 1,000 of 1,000" in doubts(counted)[0].what
    with pytest.raises(NotEstimable, match="cells to go through"):
        swing(counted, 0.01)
    hashed = local_hashing(100_000, epsilon=3)
    assert hashed.channel.responses > 4096
    assert (
        "a response that speaks for"
        in doubts(tally(hashed, [hashed.symbols[7]] * 1000))[0].what
    )


def test_a_channel_that_tells_nothing_can_be_doubted_all_the_same() -> None:
    blind = matrix([["1/2", "1/2"], ["1/4", "1/4"], ["1/4", "1/4"]])
    assert doubts(Tally(blind, [500, 260, 240])) == ()
    assert doubts(Tally(blind, [900, 60, 40])) != ()
    large = matrix([["1/5000"] * 2] * 5000)
    assert doubts(Tally(large, np.full(5000, 3))) == ()


def test_a_share_is_the_decimal_that_it_shows() -> None:
    tally = Tally(warner(p="3/4"), [70, 30])
    # 29 of the 100 are left out; 0.29 · 100 is 28.999… in floats
    left = Tally(warner(p="3/4"), [70, 1])
    assert swing(tally, 0.29)[1].low == pytest.approx(
        swing(left, 0)[1].low, abs=1e-12
    )
