"""Gradual release of key-value responses: the law of both responses together, every branch of every draw enumerated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest

from deniable import chance
from deniable.order.relaxation import relax
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    lpp_ddagger,
    pckv_ue,
)
from deniable.types.key_value.respond import NAMES, Symbol, settle, symbol_design
from tests.support.brute import quotient
from tests.support.keyvalue import Row, rows

ITEMS = ["tea", "milk"]
PAIRS = [
    pytest.param(lpp_club(ITEMS, 1), lpp_club(ITEMS, 2), id="club"),
    pytest.param(lpp_ddagger(ITEMS, 1), lpp_ddagger(ITEMS, 3), id="ddagger"),
    pytest.param(
        pckv_ue(ITEMS, 1, padding=1), pckv_ue(ITEMS, 2, padding=1), id="ue"
    ),
    pytest.param(
        pckv_ue(ITEMS, 1, padding=2),
        pckv_ue(ITEMS, 2, padding=2),
        id="ue, two places",
    ),
]
KNOWN = list(rows(2, (None, Fraction(-1), Fraction(1, 3), Fraction(1))))


class Branches:
    """Stands for `chance.choose`: goes every way it can go, one after the other, and tells how probable each is."""

    def __init__(self) -> None:
        self.open: list[list[int]] = [[]]

    def __iter__(self) -> Iterator[None]:
        while self.open:
            self.path, self.depth, self.odds = self.open.pop(), 0, Fraction(1)
            yield

    def __call__(self, sums: Sequence[int], _: chance.Source) -> int:
        weights = [
            after - before for before, after in zip([0, *sums], sums, strict=False)
        ]
        if self.depth == len(self.path):  # a draw that no way has come to yet
            first, *others = (
                place for place, weight in enumerate(weights) if weight
            )
            self.open.extend([*self.path, place] for place in others)
            self.path.append(first)
        place = self.path[self.depth]
        self.depth += 1
        self.odds *= Fraction(weights[place], sums[-1])
        return place


def settled(
    patch: pytest.MonkeyPatch, design: KeyValueDesign, row: Row, response: str
) -> Iterator[tuple[Fraction, tuple[Symbol, ...]]]:
    """Everything that `settle` can return, with its probability."""
    branches = Branches()
    patch.setattr(chance, "choose", branches)
    for _ in branches:
        found = settle(
            design, {ITEMS[item]: weight for item, weight in row.items()}, response
        )
        yield branches.odds, found


def history(
    patch: pytest.MonkeyPatch, coarse: KeyValueDesign, fine: KeyValueDesign, row: Row
) -> dict[tuple[int, tuple[int, ...]], Fraction]:
    """The probability of each pair of a first response and the symbols of a second one."""
    step = relax(symbol_design(coarse), symbol_design(fine)).step
    joint: dict[tuple[int, tuple[int, ...]], Fraction] = defaultdict(Fraction)
    for first in range(coarse.scheme.responses):
        sent = coarse.scheme.probability(first, row)
        for odds, parts in settled(patch, coarse, row, coarse.symbol(first)):
            old = [NAMES.index(part.response.symbol) for part in parts]
            given = [NAMES.index(part.answer) for part in parts]
            for new in product(range(3), repeat=len(parts)):
                chance_of = sent * odds
                for one, two, answer in zip(old, new, given, strict=True):
                    chance_of *= step.kernel(two, old=one, given=answer)
                joint[first, new] += chance_of
    return joint


def number(fine: KeyValueDesign, first: int, new: tuple[int, ...]) -> int:
    """The number of the second response: its symbols in their places, or about the item of the first one."""
    if fine.scheme.one_each:
        return first // 3 * 3 + new[0]
    return sum(symbol * 3**place for place, symbol in enumerate(new))


@pytest.mark.parametrize(("coarse", "fine"), PAIRS)
def test_both_responses_together_reveal_what_the_second_one_does(
    coarse: KeyValueDesign, fine: KeyValueDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second response alone follows the finer design, and no pair changes odds between two rows by more."""
    laws = [history(monkeypatch, coarse, fine, row) for row in KNOWN]
    for row, law in zip(KNOWN, laws, strict=True):
        alone: dict[int, Fraction] = defaultdict(Fraction)
        for (first, new), probability in law.items():
            alone[number(fine, first, new)] += probability
        assert alone == {
            each: fine.scheme.probability(each, row)
            for each in range(fine.scheme.responses)
        }
    pairs = [[law[pair] for law in laws] for pair in laws[0]]
    assert (
        max(quotient(max(pair), min(pair)) for pair in pairs if any(pair))
        == fine.parity
    )


def test_settling_wrongly_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the weight rounded anew, whatever had been sent, the second response would not follow its design."""
    coarse, fine = lpp_club(ITEMS, 1), lpp_club(ITEMS, 2)
    step = relax(symbol_design(coarse), symbol_design(fine)).step
    old, new = coarse.scheme.symbol, fine.scheme.symbol
    plus = Fraction(2, 3)  # how often a weight of 1/3 is rounded to +
    sent = [
        plus * old.probability(each, given=1)
        + (1 - plus) * old.probability(each, given=2)
        for each in range(3)
    ]
    again = sum(
        sent[first] * share * step.kernel(1, old=first, given=answer)
        for first in range(3)
        for answer, share in ((1, plus), (2, 1 - plus))
    )
    assert again != plus * new.probability(1, given=1) + (
        1 - plus
    ) * new.probability(1, given=2)
    assert [odds for odds, _ in settled(monkeypatch, coarse, {}, "+ tea")] == [1]
