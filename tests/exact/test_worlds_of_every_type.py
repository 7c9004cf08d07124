"""Every world of two respondents for decks, ladders, records, edges, numbers and strings, through the public verbs.

Chances are exact; what is sent is written as `dn.respond` writes it, counted by `dn.tally` and estimated by
`dn.estimate`. What each type claims to be unbiased is compared with the truth: floats' rounding is all that may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.types.strings.design import Filter
from tests.support.keyvalue import Row, designs

Vector = NDArray[np.float64]
World = tuple[Fraction, Any]

CLOSE = {"rtol": 0, "atol": 1e-9}
HALF = Fraction(1, 2)


def moments(
    worlds: Iterable[World], found: Callable[[Any], tuple[Vector, Vector]]
) -> tuple[Fraction, Vector, Vector, Vector]:
    """Return the total chance, the mean of the estimate, its covariance, and the mean of what it claims for that."""
    together: dict[frozenset[Any], tuple[Fraction, Any]] = {}
    for (
        chance,
        sent,
    ) in worlds:  # whoever sends what, the same responses have the same estimate
        key = frozenset(Counter(sent).items())
        together[key] = (together.get(key, (Fraction(0), None))[0] + chance, sent)
    known = [(chance, *found(sent)) for chance, sent in together.values() if chance]
    total = sum((chance for chance, _, _ in known), Fraction(0))
    chances = np.array([float(chance) for chance, _, _ in known])
    values, claims = (
        np.array([value for _, value, _ in known]),
        np.array([claim for _, _, claim in known]),
    )
    mean = chances @ values
    return (
        total,
        mean,
        (values - mean).T @ (chances[:, None] * (values - mean)),
        np.tensordot(chances, claims, 1),
    )


def told(result: dn.Result) -> tuple[Vector, Vector]:
    return np.array(list(result.params.values())), result.cov_params()


def independent(*laws: list[World]) -> Iterator[World]:
    """Two people who respond each on their own: what both send, with its chance."""
    for both in product(*laws):
        yield (
            np.prod([chance for chance, _ in both], initial=Fraction(1)),
            [sent for _, sent in both],
        )  # type: ignore[misc]


DECKS = [
    dn.Deck((1, 2), people=2),
    dn.Deck((1, 1, 2), people=4),
    dn.Deck((1, 1, 4), people=5),
]


@pytest.mark.parametrize("deck", DECKS, ids=lambda deck: str(deck.counts))
@pytest.mark.parametrize("members", [0, 1, 2])
def test_a_dealt_deck(deck: dn.Deck, members: int) -> None:
    answers = ["yes"] * members + ["no"] * (deck.people - members)
    cards = [
        number for number, count in enumerate(deck.counts, 1) for _ in range(count)
    ]
    deals = list(permutations(cards, deck.people))

    def sent(hand: tuple[int, ...]) -> list[dn.Response]:
        return [
            dn.respond(deck, answer, card=card)
            for answer, card in zip(answers, hand, strict=True)
        ]

    total, mean, covariance, claimed = moments(
        ((Fraction(1, len(deals)), sent(deal)) for deal in deals),
        lambda sent: told(dn.estimate(dn.tally(deck, sent), population=deck.people)),
    )
    assert total == 1
    np.testing.assert_allclose(
        mean, [1 - members / deck.people, members / deck.people], **CLOSE
    )
    if deck.people == 5:  # in smaller groups the largest variance is told
        np.testing.assert_allclose(claimed, covariance, **CLOSE)


LADDERS = {
    "k_ary": dn.ladder(dn.k_ary(["a", "b", "c"], e) for e in (0.5, 1)),
    "warner": dn.ladder(dn.warner(e) for e in (0.5, 1, 2)),
    "unary": dn.ladder(dn.unary(["a", "b"], e) for e in (1, 2)),
}


def histories(ladder: dn.Ladder, answer: int, stages: int) -> list[World]:
    """Everything that somebody may have sent after so many stages."""
    numbers = [
        [
            number
            for number in range(design.channel.responses)
            if design.channel.possible(number)
        ]
        for design in ladder
    ]
    summed: dict[tuple[int, ...], Fraction] = {}
    for history in product(*numbers):
        chance = ladder.probability(history, given=answer)
        summed[history[:stages]] = summed.get(history[:stages], Fraction(0)) + chance
    return [
        (
            chance,
            tuple(
                dn.Response(d.hash, d.symbols[number])
                for d, number in zip(ladder, history, strict=False)
            ),
        )
        for history, chance in summed.items()
        if chance
    ]


@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("method", ["linear", "strata"])
def test_a_ladder_with_everybody_at_its_end(name: str, method: str) -> None:
    ladder = LADDERS[name]
    size, last = len(ladder.categories), len(ladder)
    for answers in ((0, 1), (1, 1)):
        laws = [histories(ladder, answer, last) for answer in answers]
        total, mean, _, _ = moments(
            independent(*laws),
            lambda sent: told(dn.estimate(dn.tally(ladder, sent), method=method)),
        )
        assert total == 1
        np.testing.assert_allclose(
            mean, np.bincount(answers, minlength=size) / 2, **CLOSE
        )


@pytest.mark.parametrize("name", LADDERS)
def test_a_ladder_with_people_at_different_stages(name: str) -> None:
    """Strata take nothing for granted about who is raised; linear weights need alike people at all stages."""
    ladder = LADDERS[name]
    size, last = len(ladder.categories), len(ladder)
    for answers, method in (
        ((0, 1), "strata"),
        ((1, 0), "strata"),
        ((1, 1), "linear"),
    ):
        laws = [
            histories(ladder, answers[0], 1),
            histories(ladder, answers[1], last),
        ]
        total, mean, _, _ = moments(
            independent(*laws),
            lambda sent, method=method: told(
                dn.estimate(dn.tally(ladder, sent), method=method)
            ),  # type: ignore[misc]
        )
        assert total == 1
        np.testing.assert_allclose(
            mean, np.bincount(answers, minlength=size) / 2, **CLOSE
        )


RECORDS = {
    name: design
    for name, design in designs(2).items()
    if design.scheme.responses <= 9
    and not name.startswith("vpp")  # which tells sums of weights alone
}
PEOPLE: list[tuple[Row, Row]] = [
    ({0: HALF}, {}),
    ({0: Fraction(1), 1: Fraction(-1)}, {1: HALF}),
    ({}, {}),
]


def sends(design: dn.KeyValueDesign, row: Row) -> list[World]:
    scheme = design.scheme
    return [
        (chance, dn.Response(design.hash, design.symbol(number)))
        for number in range(scheme.responses)
        if (chance := scheme.probability(number, row))
    ]


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        (name, quantity)
        for name in RECORDS
        for quantity in ("degree", "weight")
        if (quantity, name) != ("weight", "lpp_club, for the frequency")
    ],
)
def test_items_with_weights(name: str, quantity: str) -> None:
    design = RECORDS[name]
    fitting = [
        pair
        for pair in PEOPLE
        if all(
            design.scheme.one_each or len(row) <= design.scheme.multiplier
            for row in pair
        )
    ]
    for pair in fitting:
        total, mean, _, _ = moments(
            independent(*(sends(design, row) for row in pair)),
            lambda sent: told(
                dn.estimate(dn.tally(design, sent), scaling="fixed").about(quantity)
            ),
        )
        truth = [
            sum(
                (Fraction(item in row) if quantity == "degree" else row.get(item, 0))
                for row in pair
            )
            for item in (0, 1)
        ]
        assert total == 1
        np.testing.assert_allclose(mean, np.array(truth, float), **CLOSE)


def test_sums_of_weights_alone() -> None:
    design = dn.vpp(2, 1)
    for pair in PEOPLE:
        total, mean, _, _ = moments(
            independent(*(sends(design, row) for row in pair)),
            lambda sent: told(
                dn.estimate(dn.tally(design, sent), scaling="fixed").about("weight")
            ),
        )
        assert total == 1
        np.testing.assert_allclose(
            mean,
            [
                float(sum(row.get(item, Fraction(0)) for row in pair))
                for item in (0, 1)
            ],
            **CLOSE,
        )


@pytest.mark.parametrize("family", ["k_ary", "rr3_dagger"])
def test_one_edge_each(family: str) -> None:
    design = dn.one_edge(["tea", "milk"], 1, family=family)
    names, channel = design.choice.symbols, design.choice.channel

    def law(item: str, weight: int) -> list[World]:
        return [
            (
                channel.probability(y, given=weight),
                dn.Response(design.hash, f"{names[y]} {item}"),
            )
            for y in range(3)
        ]

    for one, two in product(product(["tea", "milk"], range(3)), repeat=2):
        total, mean, _, _ = moments(
            independent(law(*one), law(*two)),
            lambda sent: told(dn.estimate(dn.tally(design, sent)).about("weight")),
        )
        truth = [
            sum(weight / 2 for each, weight in (one, two) if each == item)
            for item in design.items
        ]
        assert total == 1
        np.testing.assert_allclose(mean, truth, **CLOSE)


def levels(design: dn.NumberDesign, value: Fraction) -> list[World]:
    """Every level around a value, and every response."""
    channel, (below, part) = design.channel, design.scale.place(value)
    around = [(below, 1 - part), (below + 1, part)]
    return [
        (
            sum(
                (
                    chance * channel.probability(y, given=level)
                    for level, chance in around
                    if chance
                ),
                Fraction(0),
            ),
            dn.Response(design.hash, symbol),
        )
        for y, symbol in enumerate(design.symbols)
    ]


NUMBERS = [
    dn.number_design(0, 80, 1, levels=2),
    dn.number_design(-3, "1/2", 2),
    dn.number_design(0, 1, 1, goal="distribution", levels=3),
]


@pytest.mark.parametrize("design", NUMBERS, ids=repr)
def test_numbers_in_a_range(design: dn.NumberDesign) -> None:
    low, high = design.range.low, design.range.high
    some = [low, high, low + (high - low) / 3]
    for pair in product(some, repeat=2):
        total, mean, _, _ = moments(
            independent(*(levels(design, value) for value in pair)),
            lambda sent: told(
                dn.estimate(dn.tally(design, sent), population=2).mean
            ),
        )
        assert total == 1
        np.testing.assert_allclose(mean, [float(sum(pair) / 2)], **CLOSE)
    drawn = [
        (chance / 3, sent)
        for value in some
        for chance, sent in levels(design, value)
    ]
    total, mean, _, _ = moments(
        independent(drawn, drawn),
        lambda sent: told(dn.estimate(dn.tally(design, sent)).mean),
    )
    assert total == 1
    np.testing.assert_allclose(mean, [float(sum(some) / 3)], **CLOSE)


def test_bits_of_strings() -> None:
    """Bits are told without bias. Which strings they are is chosen by a lasso, which promises no such thing."""
    design = dn.string_design(dn.Bloom(4, cohorts=2), f="1/4")
    bits = design.bloom.bits
    channel = Filter(
        bits, design.channel.hit, design.channel.stray, design.channel.total
    )

    def law(text: str, cohort: int) -> list[World]:
        true = design.bloom.filter(text, cohort)
        return [
            (
                channel.probability(y, given=true),
                dn.StringResponse.of(design, cohort, y),
            )
            for y in range(1 << bits)
        ]

    def found(sent: list[dn.StringResponse]) -> tuple[Vector, Vector]:
        counted = dn.tally(design, sent)
        hit, stray = counted.rates()
        shares = (counted.ones - stray * counted.sizes[:, None]) / (hit - stray)
        return shares.ravel(), np.zeros((2 * bits, 2 * bits))

    total, mean, _, _ = moments(independent(law("Smith", 0), law("Jones", 1)), found)
    assert total == 1
    truth = [
        design.bloom.filter(text, cohort) >> place & 1
        for cohort, text in enumerate(("Smith", "Jones"))
        for place in range(bits)
    ]
    np.testing.assert_allclose(mean, truth, **CLOSE)


def test_strings_from_the_counts_that_are_expected() -> None:
    shares = {"Smith": 0.5, "Jones": 0.25, "Miller": 0.25}
    design = dn.string_design(dn.Bloom(16, cohorts=8), f="1/4")
    people = 16_000
    ones = np.array(
        [
            [
                people
                * (
                    0.25
                    + 0.5
                    * sum(
                        share
                        for text, share in shares.items()
                        if design.bloom.filter(text, c) >> b & 1
                    )
                )
                for b in range(16)
            ]
            for c in range(8)
        ]
    )
    counted = dn.StringTally(design, ones.astype(np.int64), np.full(8, people))
    found = dn.estimate(counted, candidates=[*shares, "Davis", "Wilson"])
    assert {each.text: each.share for each in found.found} == pytest.approx(
        shares, abs=1e-6
    )
    assert found.params == pytest.approx(
        {**shares, "Davis": 0, "Wilson": 0}, abs=1e-6
    )
