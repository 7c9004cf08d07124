from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

import deniable as dn
from deniable.channel import Sets
from deniable.collector.pages.devices import IconArray, odds
from deniable.designs import FAMILIES, Design

REGISTERED = [
    pytest.param(each, id=f"{name}-{at}")
    for name in FAMILIES
    for at, each in enumerate(FAMILIES[name].designs())
]


def brute(design: Design, kind: str, row: int, answer: int) -> Fraction:
    """Return how often a symbol is sent, or a category included, by going through all responses."""
    channel = design.channel
    if kind == "sends":
        return channel.probability(row, given=answer)
    holding = [y for y in range(channel.responses) if y >> row & 1]
    return sum((channel.probability(y, given=answer) for y in holding), Fraction(0))


@pytest.mark.parametrize("design", REGISTERED)
def test_every_number_of_a_table_is_that_of_the_channel(design: Design) -> None:
    told = odds(design)
    assert (told.kind == "includes") == isinstance(design.channel, Sets)
    for row, counts in enumerate(told.table):
        for answer, count in enumerate(counts):
            assert abs(
                count - told.base * brute(design, told.kind, row, answer)
            ) <= Fraction(1, 2)
    if told.table:
        likely, unlikely = told.crowds
        assert (likely.count, unlikely.count) == (
            max(told.table[told.subject]),
            min(told.table[told.subject]),
        )


@pytest.mark.parametrize("design", REGISTERED)
def test_what_somebody_could_believe_is_never_understated(design: Design) -> None:
    """Ten of a hundred before; after the worst response for the answer that it speaks for most."""
    told, channel = odds(design).disclosure, design.channel
    assert (told.band == "certain") == (design.parity == math.inf)
    for response in range(min(channel.responses, 64)):
        for answer in range(channel.answers):
            _, most = channel.bayes_factors(response, answer)
            if not any(
                channel.probability(response, given=x)
                for x in range(channel.answers)
            ):
                continue
            believed = 100 if most == math.inf else 100 * most / (most + 9)
            assert believed <= told.after <= 100


def test_a_design_that_tells_nothing() -> None:
    assert (
        odds(dn.matrix([["1/2", "1/2"], ["1/2", "1/2"]])).disclosure.band
        == "nothing"
    )
    assert odds(dn.k_ary(4, p="1/2")).disclosure.band != "nothing"


@pytest.mark.parametrize(
    ("design", "kind", "counts", "base"),
    [
        (dn.k_ary(50, p="51/100"), "sends", [51, 1], 100),
        (dn.k_ary(3000, epsilon=3), "sends", [67, 3], 10_000),
        (dn.unary(1000, p="3/4", q="1/4"), "includes", [75, 25], 100),
        (dn.subset(40, t=10, p="1/2"), "includes", [50, 24], 100),
        (dn.hadamard(20, epsilon=1), "speaks", [38, 14], 100),
    ],
    ids=["diagonal", "rare", "bits", "subset", "codes"],
)
def test_large_designs_have_a_picture_and_no_table(
    design: Design, kind: str, counts: list[int], base: int
) -> None:
    told = odds(design)
    assert (
        told.kind,
        [crowd.count for crowd in told.crowds],
        told.base,
        told.table,
    ) == (kind, counts, base, ())


def test_a_design_too_large_for_a_picture_still_tells_what_can_be_believed() -> None:
    told = odds(dn.hadamard(100_000, epsilon=1))
    assert (told.crowds, told.disclosure.after) == ((), 24)


@pytest.mark.parametrize("base", [100, 1000])
@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 40, 75, 99, 100])
def test_the_areas_of_a_picture_hold_as_many_people_as_they_say(
    count: int, base: int
) -> None:
    crowd = IconArray(0, count, base)
    assert area(crowd.senders) == 100 * count
    assert area(crowd.others) == 100 * (base - count)
    assert crowd.columns * crowd.rows == base


def area(path: str) -> float:
    """Return the area inside a path of horizontal and vertical lines."""
    x, y = map(int, re.match(r"M(\d+) (\d+)", path).groups())  # type: ignore[union-attr]
    corners = [(x, y)]
    for command, number in re.findall(r"([HV])(\d+)", path):
        x, y = (int(number), y) if command == "H" else (x, int(number))
        corners.append((x, y))
    ends = [*corners[1:], corners[0]]
    return (
        abs(sum(a * d - b * c for (a, b), (c, d) in zip(corners, ends, strict=True)))
        / 2
    )
