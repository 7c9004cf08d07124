"""Gradual release gone through: every history of every ladder, in exact rationals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

import deniable as dn
from deniable.channel import Channel
from deniable.designs import FAMILIES, k_ary, warner
from deniable.order.ladders import Ladder
from deniable.order.relaxation import ladder, relax
from deniable.order.steps import Step
from tests.support.ladders import families, small

every_ladder = pytest.mark.parametrize("name", sorted(small()))
Table = dict[tuple[int, int], Fraction]


def sent(channel: Channel) -> list[int]:
    """Return the responses that a channel sends to anybody."""
    return [
        r
        for r in range(channel.responses)
        if channel.possible(r) and any(_row(channel, r))
    ]


def _row(channel: Channel, response: int) -> list[Fraction]:
    return [channel.probability(response, given=x) for x in range(channel.answers)]


def garblings(step: Step) -> Table:
    return {
        (i, u): step.garbling(i, u) for i in sent(step.old) for u in sent(step.new)
    }


@cache
def planned(stages: Ladder) -> dict[tuple[int, ...], list[Fraction]]:
    """Return P(history | answer) as the planned mode draws it: the finest stage first, then downwards."""
    last = stages.designs[-1].channel
    law: dict[tuple[int, ...], list[Fraction]] = {
        (r,): _row(last, r) for r in sent(last)
    }
    for step in reversed(stages.steps):
        table = garblings(step)
        law = {
            (i, *history): [table[i, history[0]] * each for each in row]
            for history, row in law.items()
            for i in sent(step.old)
            if table[i, history[0]]
        }
    return law


def open_ended(stages: Ladder) -> dict[tuple[int, ...], list[Fraction]]:
    """Return P(history | answer) as the open-ended mode draws it: the coarsest stage first, then upwards."""
    first = stages.designs[0].channel
    law: dict[tuple[int, ...], list[Fraction]] = {
        (r,): _row(first, r) for r in sent(first)
    }
    for step in stages.steps:
        kernel = {
            (o, x): {u: step.kernel(u, old=o, given=x) for u in sent(step.new)}
            for o in sent(step.old)
            for x in range(step.old.answers)
            if step.old.probability(o, given=x)
        }
        assert all(sum(row.values()) == 1 for row in kernel.values())
        raised: dict[tuple[int, ...], list[Fraction]] = {}
        for history, row in law.items():
            for u in sent(step.new):
                cells = [
                    each * kernel[history[-1], x][u] if each else each
                    for x, each in enumerate(row)
                ]
                if any(cells):
                    raised[(*history, u)] = cells
        law = raised
    return law


def test_every_family_has_a_ladder_of_four_stages() -> None:
    assert set(families()) == set(FAMILIES)
    assert {len(designs) for designs in families().values()} == {4}
    assert (
        max(
            design.channel.answers
            for designs in families().values()
            for design in designs
        )
        == 5
    )


@every_ladder
def test_both_modes_have_one_law_and_it_reveals_what_the_last_stage_does(
    name: str,
) -> None:
    stages = small()[name]
    law = open_ended(stages)
    assert law == planned(stages)
    answers = range(stages.designs[0].channel.answers)
    for number, design in enumerate(stages):
        marginal: dict[int, list[Fraction]] = {
            r: [Fraction(0)] * len(answers) for r in sent(design.channel)
        }
        for history, row in law.items():
            marginal[history[number]] = [
                a + b for a, b in zip(marginal[history[number]], row, strict=True)
            ]
        # each stage is its own design
        assert marginal == {r: _row(design.channel, r) for r in marginal}
    last = {
        r: _row(stages.designs[-1].channel, r)
        for r in sent(stages.designs[-1].channel)
    }
    for history, row in law.items():
        alone = last[history[-1]]
        # The posterior given everything is that given the last response, whatever the prior.
        assert all(
            a * d == b * c
            for a, b, c, d in zip(row, row[1:], alone, alone[1:], strict=False)
        )
        assert _proportional(row, alone)
    parities = [_parity(row) for row in law.values()]
    assert max(parities) == stages.designs[-1].parity == stages.joint_parity
    assert stages.epsilon <= stages.designs[-1].epsilon


def _proportional(one: Sequence[Fraction], two: Sequence[Fraction]) -> bool:
    return all(a * sum(two) == b * sum(one) for a, b in zip(one, two, strict=True))


def _parity(row: Sequence[Fraction]) -> Fraction | float:
    return max(row) / min(row) if min(row) else math.inf


@every_ladder
def test_a_buyer_of_some_stages_knows_what_the_finest_of_them_tells(
    name: str,
) -> None:
    stages = small()[name]
    law = planned(stages)
    for held in product((False, True), repeat=len(stages)):
        numbers = [at for at, has in enumerate(held) if has]
        if len(numbers) < 2:
            continue
        seen: dict[tuple[int, ...], list[Fraction]] = {}
        for history, row in law.items():
            part = tuple(history[at] for at in numbers)
            seen[part] = [
                a + b
                for a, b in zip(
                    seen.get(part, [Fraction(0)] * len(row)), row, strict=True
                )
            ]
        finest = stages.designs[numbers[-1]].channel
        for part, row in seen.items():
            assert _proportional(row, _row(finest, part[-1]))


@every_ladder
def test_every_step_verifies_itself_and_gives_back_the_coarser_channel(
    name: str,
) -> None:
    for step in small()[name].steps:
        assert step.verify()
        table = garblings(step)
        for u in sent(step.new):
            assert sum(table[i, u] for i in sent(step.old)) == 1
        for i in sent(step.old):
            for x in range(step.old.answers):
                through = sum(
                    table[i, u] * step.new.probability(u, given=x)
                    for u in sent(step.new)
                )
                assert through == step.old.probability(i, given=x)


GAMMAS = [
    (Fraction(11, 10), Fraction(3, 2)),
    (Fraction(3, 2), Fraction(7, 2)),
    (Fraction(2), Fraction(20)),
]


@pytest.mark.parametrize(("one", "two"), GAMMAS)
@pytest.mark.parametrize("m", [2, 3, 5, 10])
def test_k_ary_steps_are_those_of_the_gradual_document(
    one: Fraction, two: Fraction, m: int
) -> None:
    """Equations (50) and (54), with e^ε rational."""
    step = relax(*(k_ary(m, p=gamma / (gamma + m - 1)) for gamma in (one, two))).step
    bottom = (two - 1) * (two + m - 1)
    assert (
        step.kernel(0, old=0, given=0)
        == two / (two - 1) - two / one * (one + m - 1) / bottom
    )
    assert step.kernel(0, old=1, given=0) == (two**2 - one * two) / bottom
    assert step.kernel(1, old=1, given=0) == one / (two - 1) - (one + m - 1) / bottom
    if m > 2:
        rest = 1 - step.kernel(0, old=1, given=0) - step.kernel(1, old=1, given=0)
        assert step.kernel(2, old=1, given=0) == rest / (m - 2)
    if m == 2:  # equations (22) and (23)
        assert step.kernel(0, old=0, given=0) == (two - 1 / one) / (two - 1 / two)
        assert step.kernel(1, old=1, given=0) == (one * two - 1) / (two**2 - 1)


@pytest.mark.parametrize(("one", "two"), GAMMAS)
def test_keeping_has_the_two_probabilities_of_the_formula_sheet(
    one: Fraction, two: Fraction
) -> None:
    """F12: (1 − 1/γ₁)/(1 − 1/γ₂) where the response is the answer, (γ₁ − 1)/(γ₂ − 1) where it is not; also for sets."""
    inside, outside = (1 - 1 / one) / (1 - 1 / two), (one - 1) / (two - 1)
    step = relax(*(k_ary(4, p=gamma / (gamma + 3)) for gamma in (one, two))).step
    assert (step.retention(2, 2), step.retention(2, 1)) == (inside, outside)
    pair = (dn.subset(5, t=2, p=2 * gamma / (2 * gamma + 3)) for gamma in (one, two))
    step = relax(*pair).step
    assert (step.retention(0b00011, 1), step.retention(0b00011, 4)) == (
        inside,
        outside,
    )


@pytest.mark.parametrize(("one", "two"), GAMMAS)
def test_sets_of_different_sizes_are_drawn_as_the_formula_sheet_says(
    one: Fraction, two: Fraction
) -> None:
    """F12, t₁ > t₂: fresh with probability F (divided by γ₁ where x is in), else a subset of the coarser set."""
    k, t1, t2 = 5, 3, 2
    two = max(two, 1 + t1 * (one - 1) / t2)
    old, new = (
        dn.subset(k, t=t1, p=t1 * one / (t1 * one + k - t1)),
        dn.subset(k, t=t2, p=t2 * two / (t2 * two + k - t2)),
    )
    u, v = t2 * (two - 1), t1 * (one - 1)
    beta = v * (k + u) / (u * (k + v))
    fresh = (1 - beta) * (k + v) / k
    step = relax(old, new).step
    held = 0b00111
    for x, inside in ((0, True), (4, False)):
        afresh = fresh / one if inside else fresh
        for fine in sent(new.channel):
            expected = afresh * new.channel.probability(fine, given=x)
            if fine & ~held == 0:
                own = two * t2 / (two * t2 + t1 - t2)
                number = math.comb(t1, t2)
                if inside:
                    within = (
                        own / math.comb(t1 - 1, t2 - 1)
                        if fine >> x & 1
                        else (1 - own) / math.comb(t1 - 1, t2)
                    )
                else:
                    within = Fraction(1, number)
                expected += (1 - afresh) * within
            assert step.kernel(fine, old=held, given=x) == expected


def test_the_new_query_alone_may_have_both_parities_at_once() -> None:
    """The Gradual document, (61): up to e^(ε₁+ε₂); only the composition counts."""
    rung = relax(warner(p="2/3"), warner(p="4/5"))
    assert rung.alone_parity == 2 * 4
    assert ladder([warner(p="2/3"), warner(p="4/5")]).joint_parity == 4


def test_a_wrong_step_would_be_found() -> None:
    """The check is not empty: with another share the step does not verify, and the joint law reveals more."""
    from dataclasses import replace

    step = relax(k_ary(3, p="1/2"), k_ary(3, p="3/4")).step
    wrong = replace(step, share=step.share + Fraction(1, 100))
    assert not wrong.verify()
    raised = {
        (o, u, x): step.old.probability(o, given=x)
        * wrong.garbling(o, u)
        * step.new.probability(u, given=x)
        for o in range(3)
        for u in range(3)
        for x in range(3)
    }
    assert sum(raised[o, 0, 0] for o in range(3)) != step.new.probability(0, given=0)
