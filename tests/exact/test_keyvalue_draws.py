"""The sampler of key-value designs, led through every position of every draw: what runs is what is certified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from deniable.chance import ScriptedSource
from deniable.channel import Dense
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    pckv_grr,
    pckv_ue,
)
from deniable.types.key_value.schemes import Index, Unary
from tests.support.keyvalue import Row, rows
from tests.support.positions import script

SYMBOL = Dense(((3, 1, 1), (1, 3, 1), (1, 1, 3)), 5)
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
SMALL = {
    "index": Index(2, SYMBOL),
    "index of two symbols": Index(2, Dense(((2, 3, 1), (2, 1, 3)), 4)),
    "unary": pckv_ue(2, a="3/4", b="1/2", p="2/3", padding=2).scheme,
    "direct": pckv_grr(2, a="1/2", p="3/4", padding=2).scheme,
}


def totals(scheme: object, row: Row) -> list[list[int]]:
    """The totals of the draws one after the other, for each way they can go on from the first."""
    if isinstance(scheme, Index):
        return [
            [scheme.items, _rounding(row.get(item)), scheme.symbol.total]
            for item in range(scheme.items)
        ]
    places = max(len(row), scheme.padding)  # type: ignore[attr-defined]
    own = sorted(row)
    rest = (
        [scheme.symbol.total] * scheme.items
        if isinstance(scheme, Unary)
        else [scheme.total]
    )  # type: ignore[attr-defined]
    return [
        [places, _rounding(row[own[at]] if at < len(own) else None), *rest]
        for at in range(places)
    ]


def _rounding(weight: Fraction | None) -> int:
    return 2 if weight is None else 2 * weight.denominator


def scripts(scheme: object, row: Row) -> Iterator[tuple[bytes, Fraction]]:
    """Words for every way a draw can go, each with its probability."""
    for first, sizes in enumerate(totals(scheme, row)):
        probability = Fraction(1)
        for size in sizes:
            probability /= size
        for positions in product(*map(range, sizes[1:])):
            # The last word of a position: a weight's own threshold lies between two positions, not on the first word.
            rounding = script(positions[0], sizes[1], last=True)
            pieces = [
                script(first, sizes[0]),
                rounding,
                *map(script, positions[1:], sizes[2:]),
            ]
            yield b"".join(pieces), probability


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("row", list(rows(2, (None, THIRD, Fraction(-1)))), ids=str)
def test_every_position_sends_what_the_probabilities_say(
    name: str, row: Row
) -> None:
    scheme = SMALL[name]
    found: Counter[int] = Counter()
    for words, probability in scripts(scheme, row):
        source = ScriptedSource(words)
        found[scheme.draw_response(row, source)] += probability  # type: ignore[assignment]
        assert source.used == len(words), (
            "a draw takes as many words whatever is true"
        )
    expected = {
        response: scheme.probability(response, row)
        for response in range(scheme.responses)
    }
    assert found == Counter(
        {response: value for response, value in expected.items() if value}
    )  # type: ignore[comparison-overlap]


def test_how_many_words_are_taken_does_not_depend_on_the_row() -> None:
    """Nor on how finely a weight is written: 0.1234567 has a denominator that `below` would take two words for."""
    designs: list[KeyValueDesign] = [
        lpp_club(6, 1),
        pckv_ue(6, 1, padding=2),
        pckv_grr(6, 1, padding=2),
    ]
    for design in designs:
        used = set()
        fine = dict.fromkeys(range(6), Fraction("0.12345678901234567890123"))
        for row in ({}, {0: HALF}, dict.fromkeys(range(5), Fraction(-1)), fine):
            source = ScriptedSource(bytes(800))
            design.scheme.draw_response(row, source)
            used.add(source.used)
        assert len(used) == 1
