"""Scalar, NumPy and Numba raise and degrade alike: the same bytes in, the same responses out, and no byte more."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.bulk import gradual
from deniable.chance import WORD
from deniable.designs import Design
from deniable.engines import local
from deniable.order.bits import BitByBit, split_digits
from deniable.order.ladders import Relaxation
from deniable.order.relaxation import relax
from deniable.order.sets import Nested
from deniable.order.steps import Factors, KeepOrFresh, Recoded, Step, Tabulated
from tests.support.hands import Counted
from tests.support.ladders import small
from tests.support.seeded import Seeded

LARGE: dict[str, tuple[Design, Design]] = {
    "a thousand categories": (dn.k_ary(1000, epsilon=1), dn.k_ary(1000, epsilon=3)),
    "70,000 categories": (dn.k_ary(70_000, epsilon=3), dn.k_ary(70_000, epsilon=9)),
    "two words for a fresh one": (
        dn.k_ary(5, p="0.76543211"),
        dn.k_ary(5, p="0.87654321"),
    ),
    "a code without room for a mark": (
        dn.k_ary(256, p="1/5"),
        dn.k_ary(256, p="1/3"),
    ),
    "a short divisor": (dn.k_ary(1 << 31, epsilon=4), dn.k_ary(1 << 31, epsilon=6)),
    "words thrown away": (dn.k_ary(3, p="7/10"), dn.k_ary(3, p="8/10")),
    "Hadamard, 300": (dn.hadamard(300, epsilon=1), dn.hadamard(300, epsilon=2)),
    "hashing, 300": (
        dn.local_hashing(300, epsilon=1, values=5),
        dn.local_hashing(300, epsilon=2, values=5),
    ),
    "hashes that are the answer": (
        dn.local_hashing(4, epsilon=1, values=5),
        dn.local_hashing(4, epsilon=2, values=5),
    ),
    "sets of 13 out of 40": (
        dn.subset(40, epsilon="1/2", t=13),
        dn.subset(40, epsilon=1, t=13),
    ),
    "sets of 50 out of 70": (
        dn.subset(70, epsilon="1/2", t=50),
        dn.subset(70, epsilon=1, t=50),
    ),
    "sets of 13, then 7 out of 40": (
        dn.subset(40, epsilon="1/2", t=13),
        dn.subset(40, epsilon=2, t=7),
    ),
    "sets of 8, then 11": (
        dn.subset(16, t=8, p="6/10"),
        dn.subset(16, t=11, p="98/100"),
    ),
    "sets of three, then categories": (
        dn.subset(17, t=3, p="3/10"),
        dn.k_ary(17, p="7/10"),
    ),
    "mixtures out of 20": (
        dn.mixture(20, {3: "1/2", 9: "1/2"}, epsilon=1),
        dn.mixture(20, {3: "6/10", 8: "4/10"}, epsilon=3),
    ),
    "64 bits": (dn.rappor(64, epsilon=1), dn.rappor(64, epsilon=3)),
    "65 bits": (
        dn.unary(65, epsilon=1, optimized=True),
        dn.unary(65, epsilon=3, optimized=True),
    ),
    "200 bits": (dn.rappor(200, f="4/10"), dn.rappor(200, f="1/4")),
    "three attributes": (
        dn.product(
            [dn.k_ary(7, epsilon=1), dn.binary("6/10", "7/10"), dn.warner(1)]
        ),
        dn.product(
            [dn.k_ary(7, epsilon=2), dn.binary("8/10", "8/10"), dn.warner(2)]
        ),
    ),
    "signs beside two answers": (
        dn.product([dn.hadamard(3, epsilon=1), dn.warner(1)]),
        dn.product([dn.hadamard(3, epsilon=2), dn.warner(2)]),
    ),
}


@cache
def relaxations() -> dict[str, Relaxation]:
    found = {
        f"{name}, step {at}": rung
        for name, each in small().items()
        for at, rung in enumerate(each.relaxations)
    }
    return found | {name: relax(*pair) for name, pair in LARGE.items()}


every_relaxation = pytest.mark.parametrize("name", sorted(relaxations()))
every_hand = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "numba"])
every_way = pytest.mark.parametrize("down", [False, True], ids=["up", "down"])


def bounds(step: Step, *, down: bool) -> list[Fraction]:
    """Return the probabilities that words are compared with."""
    if isinstance(step, Recoded):
        step = step.step
    if isinstance(step, Factors):
        return [each for part in step.steps for each in bounds(part, down=down)]
    if isinstance(step, KeepOrFresh):
        response, likely, unlikely = step.new.witness
        both = [
            x for x in (likely, unlikely) if step.old.probability(response, given=x)
        ]
        return [step.share] if down else [step.retention(response, x) for x in both]
    if isinstance(step, Tabulated):
        columns = (
            step.channel.sums
            if down
            else [
                step.sums(o, x)
                for o in range(step.old.responses)
                for x in range(step.new.answers)
            ]
        )
        return [
            Fraction(each, column[-1])
            for column in columns
            if column[-1]
            for each in column
        ]
    if isinstance(step, BitByBit):
        chances = (
            list(step.each)
            if down
            else [each for pair in step.raised for each in pair]
        )
        return [split_digits(each)[1] for each in chances]
    if isinstance(step, Nested):
        plans = step.downwards if down else step.upwards
        return [
            Fraction(each, plan.sums[-1])
            for plan in plans.values()
            for each in plan.sums
        ]
    return [Fraction(1, 2)]


def planted(step: Step, n: int, source: Seeded, *, down: bool) -> bytes:
    """Return n words of which every second lies on the edge of a decision, or leaves it to the next word."""
    order = random.Random(source.read(8))
    edges = {0, (1 << 64) - 1}
    for probability in bounds(step, down=down):
        digit = (probability.numerator << 64) // probability.denominator
        edges |= {
            word for word in (digit - 1, digit, digit + 1) if 0 <= word < 1 << 64
        }
    known = sorted(edges)
    return b"".join(
        known[int(order.random() * len(known))].to_bytes(WORD, "little")
        if order.random() < 0.5
        else source.read(WORD)
        for _ in range(n)
    )


def numbers(column: NDArray[np.generic]) -> list[int]:
    if column.ndim == 2:
        return [int.from_bytes(row.tobytes(), "little") for row in column]
    return [int(each) for each in column]


def drawn_before(
    rung: Relaxation, answers: list[int], *, down: bool
) -> NDArray[np.generic]:
    design = rung.new if down else rung.old
    return local.draw_all(
        design, np.array(answers), codes=True, source=Seeded("before"), fast=False
    )


def hands(
    rung: Relaxation, answers: list[int], *, down: bool
) -> tuple[Callable[[Counted], list[int]], Callable[[Counted, bool], list[int]]]:
    """Return the scalar hand and the engine's, both on the same earlier responses."""
    before = drawn_before(rung, answers, down=down)
    olds = numbers(before)

    def scalar(source: Counted) -> list[int]:
        if down:
            return [rung.step.degrade(old, source) for old in olds]
        return [
            rung.step.upgrade(old, x, source)
            for old, x in zip(olds, answers, strict=True)
        ]

    def engine(source: Counted, fast: bool) -> list[int]:
        if down:
            return numbers(gradual.degrade(rung, before, source=source, fast=fast))
        return numbers(
            gradual.upgrade(
                rung, before, np.array(answers), codes=True, source=source, fast=fast
            )
        )

    return scalar, engine


def everybody(rung: Relaxation, n: int) -> list[int]:
    return [(7 * i + i * i // 11) % rung.old.channel.answers for i in range(n)]


@every_hand
@every_way
@every_relaxation
def test_the_same_bytes_give_the_same_responses(
    name: str, down: bool, fast: bool
) -> None:
    rung = relaxations()[name]
    scalar, engine = hands(rung, everybody(rung, 150), down=down)
    for script in (b"", planted(rung.step, 600, Seeded(name), down=down)):
        one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
        assert engine(two, fast) == scalar(one)
        assert two.used == one.used


@every_hand
@pytest.mark.parametrize(
    "name",
    [
        "a thousand categories",
        "64 bits",
        "65 bits",
        "binary, step 1",
        "mixtures out of 20",
    ],
)
def test_rare_ties_in_the_middle_of_a_long_column(name: str, fast: bool) -> None:
    rung = relaxations()[name]
    rows = 40_000 if name == "a thousand categories" else 3_000
    scalar, engine = hands(rung, everybody(rung, rows), down=False)
    edge = min(each for each in bounds(rung.step, down=False) if each)
    digit = min((edge.numerator << 64) // edge.denominator, (1 << 64) - 1)
    source = Seeded(name)
    script = b"".join(
        digit.to_bytes(8, "little") if at % 997 == 0 else source.read(8)
        for at in range(20_000)
    )
    one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
    assert engine(two, fast) == scalar(one)
    assert two.used == one.used


@every_hand
@every_way
@pytest.mark.parametrize(
    "name",
    [
        "sets of 13, then 7 out of 40",
        "sets of three, then categories",
        "words thrown away",
        "two words for a fresh one",
    ],
)
def test_picks_that_are_thrown_away(name: str, down: bool, fast: bool) -> None:
    """The first word of a row decides how to draw; the highest words then do not fit. No word is on the edge itself."""
    rung = relaxations()[name]
    scalar, engine = hands(rung, everybody(rung, 60), down=down)
    source = Seeded(name)
    script = b"".join(
        b"\xff" * 8 if at % 23 == 5 else source.read(8) for at in range(2_000)
    )
    one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
    assert engine(two, fast) == scalar(one)
    assert two.used == one.used


@every_hand
def test_a_row_by_itself_whose_second_attribute_is_not_decided(fast: bool) -> None:
    """Arrays of one row are worked on in place: what draws the first attribute must leave its words as they were."""
    rung = relaxations()["signs beside two answers"]
    assert isinstance(rung.step, Factors)
    edge = bounds(rung.step.steps[1], down=False)[0]
    tie = ((edge.numerator << 64) // edge.denominator).to_bytes(WORD, "little")
    for number in range(40):
        scalar, engine = hands(rung, [number % rung.old.channel.answers], down=False)
        script = (
            Seeded(f"two words for the first attribute, {number}").read(2 * WORD)
            + tie
        )
        one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
        assert engine(two, fast) == scalar(one)
        assert two.used == one.used


@every_hand
@pytest.mark.parametrize(
    "name", ["k_ary, step 2", "200 bits", "sets of 13 out of 40"]
)
def test_cutting_a_column_changes_nothing(name: str, fast: bool) -> None:
    rung = relaxations()[name]
    answers = everybody(rung, 700)
    before = drawn_before(rung, answers, down=False)
    whole = gradual.upgrade(
        rung, before, answers, codes=True, source=Seeded("one"), fast=fast
    )
    cuts = [
        (before[a:b], answers[a:b])
        for a, b in ((0, 1), (1, 300), (300, 300), (300, 700))
    ]
    parts = gradual.upgrade_stream(
        rung, cuts, codes=True, source=Seeded("one"), fast=fast
    )
    assert np.array_equal(np.concatenate(list(parts)), whole)


@every_hand
def test_bits_of_which_several_are_true(fast: bool) -> None:
    step = relax(*LARGE["200 bits"]).step
    assert isinstance(step, BitByBit)
    rows = np.frombuffer(Seeded("rows").read(2 * 400 * 25), np.uint8).reshape(
        2, 400, 25
    )
    was, true = rows
    one, two = Counted(b"", Seeded("words")), Counted(b"", Seeded("words"))
    raised = gradual.upgrade_bits(step, was, true, source=two, fast=fast)
    expected = [
        step.upgrade_bits(*pair, one)
        for pair in zip(numbers(was), numbers(true), strict=True)
    ]
    assert numbers(raised) == expected
    assert one.used == two.used


def test_planned_columns_are_a_response_and_then_degradations() -> None:
    for name in ("k_ary", "rappor", "mixture", "product"):
        stages = small()[name]
        answers = np.arange(50) % stages.designs[0].channel.answers
        columns = gradual.release_planned(
            stages, answers, codes=True, source=Seeded(name), fast=False
        )
        source = Seeded(name)
        expected = [
            [stages.designs[-1].channel.draw(x, source) for x in answers.tolist()]
        ]
        for step in reversed(stages.steps):
            expected.append([step.degrade(each, source) for each in expected[-1]])
        assert [numbers(column) for column in columns] == expected[::-1]
