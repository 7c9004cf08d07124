"""Items, numbers, strings and drawn items: scalar, NumPy and Numba give the same responses from the same bytes.

Words lie on the edges of decisions: at every threshold a design compares them with, one before and one behind it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable import chance
from deniable.order.bits import Bit, draw_bits, split_digits
from deniable.types.drawn import draw as drawn
from deniable.types.key_value.count import tally
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.draw import collect, draw_all, read_edges
from deniable.types.key_value.schemes import Direct
from deniable.types.numbers import draw as numbers
from deniable.types.numbers.respond import level_below
from deniable.types.strings import draw as strings
from tests.support.hands import Counted
from tests.support.positions import words
from tests.support.seeded import Seeded, seeded
from tests.unit.engines.local.test_keyvalue_engine import WEIGHTS, designs, edges
from tests.unit.engines.local.test_keyvalue_engine import numbers as codes
from tests.unit.engines.local.test_keyvalue_engine import scalar as item_by_item

every_hand = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "numba"])
WORD = 1 << 64


def planted(marks: Sequence[int], n: int, name: str) -> bytes:
    """Return n words, most of which lie at a mark, or one before or behind it."""
    source, order = Seeded(name), random.Random(name)
    near = [
        mark + step
        for mark in sorted(set(marks))
        for step in (-1, 0, 1)
        if 0 <= mark + step < WORD
    ]
    pieces = [order.choice(near) if order.random() < 0.8 else None for _ in range(n)]
    return b"".join(
        source.read(8) if each is None else words(each, 1) for each in pieces
    )


# Items


def marks(design: KeyValueDesign) -> Iterator[list[int]]:
    """Yield what words of a design with seven items are compared with: for places, for weights, and for symbols."""
    scheme = design.scheme
    yield [WORD // places * k for places in range(1, 8) for k in range(places + 1)]
    yield [int((1 + Fraction(weight)) * (WORD // 2)) for weight in WEIGHTS]
    scale = WORD // scheme.symbol.total if scheme.symbol.total <= WORD else 0
    found = [mark for column in scheme.symbol.sums for mark in column]
    if isinstance(scheme, Direct):
        kept = scheme.same + scheme.turned
        ends = [kept + scheme.nothing, scheme.idle]
        found += [
            scheme.same,
            kept,
            *(end + k * scheme.other for end in ends for k in range(15)),
        ]
    yield [scale * mark for mark in found]


@pytest.mark.parametrize("name", designs(7))
def test_items(name: str) -> None:
    design, given = designs(7)[name], edges(500, 7)
    known = read_edges(design, given)
    for number, kind in enumerate(marks(design)):
        script = planted(kind, 5_000, f"{name} {number}")
        source = Counted(script, seeded(name))
        expected = item_by_item(design, known, source)
        for fast in (False, True):
            again, counted = (Counted(script, seeded(name)) for _ in range(2))
            at_once = draw_all(design, given, source=again, fast=fast)
            assert codes(at_once) == expected, fast
            assert again.used == source.used
            assert collect(design, given, source=counted, fast=fast) == tally(
                design, at_once
            )


# Numbers

RANGES = {
    "from 0 to 10": (
        (0, 10),
        [0, 10, 3.3, 0.1, 1e-12, 10 / 3, 9.999999999, 5, 1e-300, 7],
    ),
    "narrow, far from 0": (
        (10**9, 10**9 + 1),
        [10**9, 10**9 + 1, 1000000000.5, 1000000000.1, 1000000000.9],
    ),
    "around 0": ((-3, 5), [-3, 5, 0, -1e-9, 1e-9, 2.6, -2.999999]),
    "with an odd width": (("1/3", "2/3"), [0.5, 0.4, 0.6666, 0.34]),
}


def on_the_edge(place: Fraction, order: random.Random, source: Seeded) -> bytes:
    """Return the words of one `happens` that lie at the digits of its probability, or right beside them."""
    rest, found = place.numerator, b""
    while True:
        digit, rest = divmod(rest << 64, place.denominator)
        word = min(max(digit + order.choice((-1, 0, 1)), 0), WORD - 1)
        if order.random() < 0.3:
            word = int.from_bytes(source.read(8), "little")
        found += words(word, 1)
        if word != digit or not rest:
            return found


@pytest.mark.parametrize("levels", [2, 3, 7, 32])
@pytest.mark.parametrize("name", RANGES)
def test_numbers(name: str, levels: int) -> None:
    (low, high), values = RANGES[name]
    design = dn.number_design(low, high, 1, levels=levels, width=1)
    column = np.array(values * 40, np.float64)
    order, source = random.Random(name), Seeded(name)
    script = b"".join(
        on_the_edge(level_below(design, each)[1], order, source)
        for each in column.tolist()
    )
    one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
    found = numbers.round_values(design, column, source=two)
    expected = [dn.rounded(design, each, source=one) for each in column.tolist()]
    assert [design.categories[each] for each in found] == expected
    assert one.used == two.used == len(script)


# Strings, and drawn items


@every_hand
@pytest.mark.parametrize("bits", [16, 64, 65])
def test_strings(bits: int, fast: bool) -> None:
    bloom = dn.Bloom(bits, 2, cohorts=4)
    for design in (dn.string_design(bloom, 2), dn.string_design(bloom, "1/2")):
        texts = [f"text {number % 7}" for number in range(60)]
        encoded = strings.encode(bloom, texts, np.arange(60) % 4)
        rests = [split_digits(each)[1] for each in Bit.from_channel(design.channel)]
        at = [each.numerator * WORD // each.denominator for each in rests]
        script = planted([0, WORD - 1, *at], 9_000, f"{bits} {design.hash}")
        one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
        rows = strings.respond(design, encoded, source=two, fast=fast)
        trues = [int.from_bytes(row.tobytes(), "little") for row in encoded.truths]
        expected = [
            draw_bits(bits, Bit.from_channel(design.channel), true, one)
            for true in trues
        ]
        assert [int.from_bytes(row.tobytes(), "little") for row in rows] == expected
        assert one.used == two.used


@pytest.mark.parametrize("cohorts", [2, 3, 5, 64])
def test_cohorts(cohorts: int) -> None:
    bloom = dn.Bloom(16, cohorts=cohorts)
    script = planted(
        [WORD // cohorts * k for k in range(cohorts + 1)], 500, str(cohorts)
    )
    one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
    assert strings.draw_cohorts(bloom, 400, source=two).tolist() == [
        bloom.draw_cohort(one) for _ in range(400)
    ]
    assert one.used == two.used


@every_hand
def test_one_drawn_item_of_one_respondent(fast: bool) -> None:
    """Of one row the bytes are those of the scalar draw; with more rows the hands are drawn first."""
    design = dn.drawn_items(
        {
            "a": dn.k_ary(3, p="2/5"),
            "b": dn.warner(p="2/3"),
            "c": dn.k_ary(3, p="2/5"),
        },
        each=2,
    )
    edges_of_words = [WORD // 3 * k for k in range(4)] + [
        WORD // 5 * k for k in range(6)
    ]
    for number in range(200):
        script = planted(edges_of_words, 4, f"drawn {number}")
        one, two = Counted(script, Seeded("rest")), Counted(script, Seeded("rest"))
        answers = {"a": "2", "b": "yes", "c": "0"}
        expected = dn.respond(design, answers, source=one)
        given = {"a": np.array([2]), "b": np.array([1]), "c": np.array([0])}
        found = drawn.draw_all(design, given, source=two, fast=fast)
        assert design.response_number(expected.symbol) == int(found[0])
        assert one.used == two.used


def test_the_edges_are_those_of_the_draws() -> None:
    """A word one before a mark and the mark itself decide differently, or else nothing was looked at above."""
    design = designs(7)["ue of few positions"]
    scale = WORD // design.scheme.symbol.total
    for mark in design.scheme.symbol.sums[0][:2]:
        sent = [
            design.scheme.symbol.draw(
                0, chance.ScriptedSource(words(scale * mark - step, 1))
            )
            for step in (0, 1)
        ]
        assert sent[0] != sent[1]
