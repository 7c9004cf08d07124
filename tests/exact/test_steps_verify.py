"""What a step says of itself, against its definition: C ≥ 0, columns that sum to 1, and C·P₂ = P₁, cell by cell.

Steps that are wrong in one respect alone, each in all the ways that nothing else would notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

import deniable as dn
from deniable.channel import Channel, Dense, Diagonal, Hashing, Subset
from deniable.order.bits import BitByBit
from deniable.order.relaxation import relax
from deniable.order.sets import Nested, SetShare
from deniable.order.steps import (
    Crossed,
    Factors,
    KeepOrFresh,
    Recoded,
    Step,
    Tabulated,
)
from tests.support.ladders import small
from tests.support.traces import law
from tests.support.wrong_steps import nested

STEPS = [
    (name, at)
    for name, stages in sorted(small().items())
    for at in range(len(stages) - 1)
]


def right(step: Step) -> bool:
    """Say from the definition whether a step's garbling makes the coarser channel from the finer one."""
    coarse = [i for i in range(step.old.responses) if step.old.possible(i)]
    fine = [u for u in range(step.new.responses) if step.new.possible(u)]
    table = {(i, u): step.garbling(i, u) for i in coarse for u in fine}
    if min(table.values()) < 0 or any(
        sum(table[i, u] for i in coarse) != 1 for u in fine
    ):
        return False
    return all(
        sum(table[i, u] * step.new.probability(u, given=x) for u in fine)
        == step.old.probability(i, given=x)
        for i in coarse
        for x in range(step.old.answers)
    )


@pytest.mark.parametrize(("name", "at"), STEPS)
def test_steps_of_ladders_are_right(name: str, at: int) -> None:
    step = small()[name].steps[at]
    assert step.verify()
    assert right(step)


KEPT = {
    "k-ary": (dn.k_ary(3, p="1/2"), dn.k_ary(3, p="3/4")),
    "k-ary, the low side": (dn.k_ary(4, p="1/5"), dn.k_ary(4, p="1/10")),
    "Hadamard": (dn.hadamard(3, 1), dn.hadamard(3, 2)),
    "hashing": (dn.local_hashing(5, 1, values=3), dn.local_hashing(5, 2, values=3)),
    "sets of one size": (dn.subset(4, t=2, p="3/5"), dn.subset(4, t=2, p="4/5")),
}


@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_share_above_one_does_not_verify(name: str) -> None:
    """The equation holds the other way round, too: P₂ = P₁/share + (1 − 1/share)·u. But that is no garbling."""
    step = relax(*KEPT[name]).step
    assert isinstance(step, KeepOrFresh)
    turned = KeepOrFresh(step.new, step.old, 1 / step.share, step.base)
    fine = [u for u in range(step.new.responses) if step.new.possible(u)]
    for u, x in product(fine, range(step.new.answers)):
        level = (1 - turned.share) * step.base.probability(u, given=0)
        assert (
            step.new.probability(u, given=x)
            == turned.share * step.old.probability(u, given=x) + level
        )
    assert not right(turned)
    assert not turned.verify()


def test_a_share_below_zero_does_not_verify() -> None:
    low, high = Diagonal(3, 1, 2), Diagonal(3, 4, 1)
    crossed = relax(dn.k_ary(3, p="1/5"), dn.k_ary(3, p="2/3")).step
    assert isinstance(crossed, Crossed)
    gap = (Fraction(1, 5) - Fraction(2, 5)) / (Fraction(2, 3) - Fraction(1, 6))
    wrong = KeepOrFresh(low, high, gap, high.uniform())
    level = (1 - gap) / 3
    assert all(
        low.probability(i, given=x) == gap * high.probability(i, given=x) + level
        for i, x in product(range(3), repeat=2)
    )
    assert not wrong.verify()


@pytest.mark.parametrize("name", sorted(KEPT))
def test_another_share_or_base_does_not_verify(name: str) -> None:
    step = relax(*KEPT[name]).step
    assert isinstance(step, KeepOrFresh)
    for share in (
        step.share / 2,
        step.share + Fraction(1, 1000),
        Fraction(0),
        Fraction(1),
    ):
        assert not replace(step, share=share).verify()
    assert not replace(step, base=step.new).verify()


def test_fresh_responses_that_are_not_equally_likely_are_gone_through() -> None:
    """The base is right where the levels are looked at, and wrong elsewhere."""
    step = relax(dn.k_ary(3, p="1/2"), dn.k_ary(3, p="3/4")).step
    third, part = Fraction(1, 3), Fraction(1, 4)
    base = Dense.from_rows([[third] * 2, [part] * 2, [1 - third - part] * 2])
    wrong = replace(step, base=base)
    assert not right(wrong)
    assert not wrong.verify()


def test_channels_that_agree_in_one_response_alone_are_gone_through() -> None:
    """Both hashings have their levels at the first response; beyond it they are about other answers."""
    old, new = Hashing(5, 3, 3, 2), Dense.from_rows(_table(Hashing(5, 3, 3, 2)))
    rows = _table(Hashing(5, 3, 3, 2))
    rows[1], rows[4] = rows[4], rows[1]
    step = KeepOrFresh(Dense.from_rows(rows), new, Fraction(1), new.uniform())
    assert not right(step)
    assert not step.verify()
    assert KeepOrFresh(old, new, Fraction(1), new.uniform()).verify()
    other = KeepOrFresh(Hashing(5, 2, 3, 2), old, Fraction(1), old.uniform())
    assert not other.verify()


def _table(channel: Channel) -> list[list[Fraction]]:
    return [
        [channel.probability(i, given=x) for x in range(channel.answers)]
        for i in range(channel.responses)
    ]


@pytest.mark.parametrize("name", nested())
def test_sets_that_are_made_wrongly_in_one_respect_do_not_verify(name: str) -> None:
    step, wrong, noticed = nested()[name]
    assert step.verify()
    assert noticed(wrong), "what is not looked at comes out right"
    assert not right(wrong)
    assert not wrong.verify()


def test_negative_shares_of_sets_do_not_verify() -> None:
    old, new = Subset(5, 2, 4, 5), Subset(5, 2, 1, 2)
    share = (old.inclusion(2) - Fraction(2, 5)) / (new.inclusion(2) - Fraction(2, 5))
    assert share > 1
    turned = Nested(old, new, (SetShare(2, 2, share, Fraction(0), 1 - share),))
    assert not right(turned)
    assert not turned.verify()


def test_parts_that_belong_to_other_channels_do_not_verify() -> None:
    one, two, three = (dn.warner(p=p) for p in ("3/5", "2/3", "4/5"))
    step = relax(dn.product([one, one]), dn.product([two, three])).step
    assert isinstance(step, Factors)
    assert step.verify()
    assert not replace(step, steps=step.steps[::-1]).verify()
    recoded = relax(dn.subset(4, t=2, p="3/5"), dn.k_ary(4, p="3/4")).step
    other = relax(dn.subset(4, t=2, p="3/5"), dn.k_ary(4, p="4/5")).step
    assert isinstance(recoded, Recoded)
    assert isinstance(other, Recoded)
    assert recoded.verify()
    assert not replace(recoded, step=other.step).verify()


def test_parts_that_are_wrong_themselves_do_not_verify() -> None:
    """The ends fit; only how the one is made from the other does not."""
    one, two, three = (dn.warner(p=p) for p in ("3/5", "2/3", "4/5"))
    step = relax(dn.product([one, one]), dn.product([two, three])).step
    assert isinstance(step, Factors)
    first, second = step.steps
    assert isinstance(first, KeepOrFresh)
    for parts in (
        (replace(first, share=first.share / 2), second),
        (first, replace(second, share=Fraction(1))),
    ):
        assert not right(replace(step, steps=parts))
        assert not replace(step, steps=parts).verify()
    recoded = relax(dn.subset(4, t=2, p="3/5"), dn.k_ary(4, p="3/4")).step
    assert isinstance(recoded, Recoded)
    assert isinstance(recoded.step, Nested)
    (share,) = recoded.step.shares
    moved = share._replace(
        near=share.near / 2, free=1 - share.apart - share.near / 2
    )
    wrong = replace(recoded, step=replace(recoded.step, shares=(moved,)))
    assert not right(wrong)
    assert not wrong.verify()


def test_an_answer_more_or_less_does_not_verify() -> None:
    """Both channels send two responses, and the columns that both have come out right."""
    table = _table(dn.warner(p="4/5").channel)
    base = Dense.from_rows([[Fraction(1, 3)] * 2, [Fraction(2, 3)] * 2])
    wide = Dense.from_rows([[*row, Fraction(1, 2)] for row in table])
    half = Fraction(1, 2)
    made = [
        [half * each + half * base.probability(i, given=0) for each in row]
        for i, row in enumerate(table)
    ]
    old = Dense.from_rows(
        [
            [*row, part]
            for row, part in zip(made, (Fraction(1, 9), Fraction(8, 9)), strict=True)
        ]
    )
    assert KeepOrFresh(
        Dense.from_rows(made), Dense.from_rows(table), half, base
    ).verify()
    assert not KeepOrFresh(old, Dense.from_rows(table), half, base).verify()
    assert not KeepOrFresh(
        Dense.from_rows([row[:2] for row in made]), wide, half, base
    ).verify()


def test_tables_that_do_not_lead_there_do_not_verify() -> None:
    step = relax(dn.rr3_dagger("5/10", "5/10"), dn.rr3_dagger("8/10", "8/10")).step
    assert isinstance(step, Tabulated)
    rows = _table(step.channel)
    for one, two in ((0, 1), (1, 2), (0, 2)):
        swapped = list(rows)
        swapped[one], swapped[two] = rows[two], rows[one]
        wrong = replace(step, channel=Dense.from_rows(swapped))
        assert wrong.verify() == right(wrong)
        assert not wrong.verify()
    wide = Dense.from_rows([[*row, row[0]] for row in rows])
    assert not replace(step, channel=wide).verify()


def test_crossed_and_bits_that_do_not_lead_there_do_not_verify() -> None:
    crossed = relax(dn.k_ary(3, p="1/5"), dn.k_ary(3, p="2/3")).step
    assert isinstance(crossed, Crossed)
    for channel in (Diagonal(3, 1, 1), Diagonal(3, 0, 1), Diagonal(3, 2, 1)):
        wrong = replace(crossed, channel=channel)
        assert not right(wrong)
        assert not wrong.verify()
    small_bits, large_bits = (
        dn.unary(2, epsilon=1).channel,
        dn.unary(3, epsilon=2).channel,
    )
    assert not BitByBit(small_bits, large_bits).verify()


def bases() -> Iterator[Dense]:
    for part in (Fraction(1, 2), Fraction(1, 3), Fraction(3, 4)):
        yield Dense.from_rows([[part, part], [1 - part, 1 - part]])


HALVES = [Fraction(1, 2), Fraction(1, 3)]


@pytest.mark.parametrize(("low", "high"), list(product(HALVES, HALVES)))
def test_composition_compares_shares_and_bases(
    low: Fraction, high: Fraction
) -> None:
    """Against the product of the garblings, cell by cell, for all ways to draw afresh."""
    fine = Dense.from_rows(
        [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]]
    )
    seen = set()
    for u, v, w in product(bases(), repeat=3):
        upper = KeepOrFresh(_through(high, v, fine), fine, high, v)
        lower = KeepOrFresh(_through(low, u, upper.old), upper.old, low, u)
        for share in (low * high, low):
            direct = KeepOrFresh(_through(share, w, fine), fine, share, w)
            assert upper.verify()
            assert lower.verify()
            assert direct.verify()
            leads = all(
                sum(lower.garbling(o, m) * upper.garbling(m, f) for m in range(2))
                == direct.garbling(o, f)
                for o, f in product(range(2), repeat=2)
            )
            assert lower.composes(upper, direct) == leads
            seen.add((leads, u == v == w))
    assert seen >= {(True, True), (False, True), (False, False)}


def test_bases_that_differ_can_still_lead_through() -> None:
    """a(1 − b)·v + (1 − a)·u = (1 − ab)·w: the mean of the two bases is the base of the whole."""
    half = Fraction(1, 2)
    fine = Dense.from_rows(
        [[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)]]
    )
    u, v = (
        Dense.from_rows([[part, part], [1 - part, 1 - part]])
        for part in (half, Fraction(1, 5))
    )
    upper = KeepOrFresh(_through(half, v, fine), fine, half, v)
    lower = KeepOrFresh(_through(half, u, upper.old), upper.old, half, u)
    mean = (half * half * Fraction(1, 5) + half * half) / Fraction(3, 4)
    w = Dense.from_rows([[mean, mean], [1 - mean, 1 - mean]])
    direct = KeepOrFresh(_through(half * half, w, fine), fine, half * half, w)
    assert lower.composes(upper, direct)
    for o, f in product(range(2), repeat=2):
        drawn = law(lambda o=o, f=f: lower.between(upper, o, f))  # type: ignore[misc]
        assert drawn == {
            m: lower.garbling(o, m) * upper.garbling(m, f) / direct.garbling(o, f)
            for m in range(2)
        }


def _through(share: Fraction, base: Channel, fine: Channel) -> Dense:
    return Dense.from_rows(
        [
            [
                share * fine.probability(i, given=x)
                + (1 - share) * base.probability(i, given=0)
                for x in range(2)
            ]
            for i in range(2)
        ]
    )
