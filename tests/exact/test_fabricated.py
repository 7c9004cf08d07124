"""Doubts keep their rate of false alarms for every population, and the swing is attained: both by going through all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import pytest

from deniable.attacks import doubts, swing
from deniable.channel import Channel
from deniable.designs import (
    Design,
    hadamard,
    k_ary,
    matrix,
    rappor,
    subset,
    unary,
    warner,
)
from deniable.estimates import left_inverse
from deniable.tallies import Tally, tally

RATE = Fraction(3, 4)  # large, so that small worlds have alarms at all


def laws(
    channel: Channel, answers: tuple[int, ...]
) -> dict[tuple[int, ...], Fraction]:
    """Return how probable each sorted list of responses is, exactly."""
    found: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for answer in answers:
        following: dict[tuple[int, ...], Fraction] = {}
        for sent, chance in found.items():
            for response in range(channel.responses):
                each = channel.probability(response, given=answer)
                if each:
                    key = tuple(sorted((*sent, response)))
                    following[key] = following.get(key, Fraction(0)) + chance * each
        found = following
    return found


def populations(design: Design, people: int) -> Iterator[tuple[int, ...]]:
    yield from combinations_with_replacement(range(design.channel.answers), people)


@pytest.mark.parametrize(
    ("design", "people"),
    [
        (warner(p="3/4"), 12),
        (k_ary(3, p="7/10"), 6),
        (subset(3, epsilon=1, t=2), 6),
        (unary(3, epsilon=3), 4),
        (rappor(3, epsilon=3), 4),
        (hadamard(3, epsilon=1), 10),
        (
            matrix(
                [
                    ["9/10", "1/10", "1/5"],
                    ["1/20", "4/5", "1/5"],
                    ["1/20", "1/10", "3/5"],
                ]
            ),
            6,
        ),
    ],
    ids=lambda each: each.name if isinstance(each, Design) else str(each),
)
def test_false_alarms_are_as_rare_as_promised_for_every_population(
    design: Design, people: int
) -> None:
    doubted: dict[tuple[int, ...], bool] = {}
    worst = Fraction(0)
    for answers in populations(design, people):
        alarms = Fraction(0)
        for sent, chance in laws(design.channel, answers).items():
            if sent not in doubted:
                counted = tally(design, [design.symbols[each] for each in sent])
                sizes = (
                    Counter(each.bit_count() for each in sent)
                    if design.channel.sizes
                    else None
                )
                doubted[sent] = bool(doubts(counted, sizes=sizes, rate=float(RATE)))
            alarms += chance * doubted[sent]
        worst = max(worst, alarms)
    assert worst <= RATE
    assert worst > 0, "nothing is ever doubted: this shows nothing"


@pytest.mark.parametrize(
    "design",
    [
        warner(p="3/4"),
        warner(p="1/4"),
        k_ary(4, p="1/2"),
        subset(4, epsilon=1, t=2),
        unary(3, epsilon=1),
        rappor(3, epsilon=1),
        hadamard(3, epsilon=1),
        matrix([["9/10", "1/10"], ["1/20", "4/5"], ["1/20", "1/10"]]),
    ],
    ids=lambda design: design.name,
)
def test_the_swing_is_attained_by_leaving_out_some_responses(design: Design) -> None:
    possible = [
        number
        for number in range(design.channel.responses)
        if design.channel.possible(number)
    ]
    sent = [
        design.symbols[possible[number * number % len(possible)]]
        for number in range(7)
    ]
    linear = left_inverse(design.channel)
    rest = [tally(design, list(kept)) for kept in combinations(sent, 5)]
    values = [linear.shares(each.counts / each.respondents) for each in rest]
    found = swing(tally(design, sent), 2 / 7)
    for j, (low, high) in enumerate(found):
        assert low == pytest.approx(min(value[j] for value in values), abs=1e-9)
        assert high == pytest.approx(max(value[j] for value in values), abs=1e-9)


def test_a_wrong_law_would_be_found() -> None:
    """The first test fails on a device that keeps answers more often than it says."""
    said, true = warner(p="3/4"), warner(p="99/100")
    answers = (1,) * 12
    alarms = sum(
        (
            chance
            for sent, chance in laws(true.channel, answers).items()
            if doubts(Tally(said, [12 - sum(sent), sum(sent)]), rate=float(RATE))
        ),
        Fraction(0),
    )
    assert alarms > RATE
