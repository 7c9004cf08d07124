from __future__ import annotations

from fractions import Fraction

import pytest

import deniable as dn
from deniable.channel import Hadamard, from_body
from deniable.errors import InvalidDesign
from tests.support.positions import drawn, script


def test_the_order_is_the_next_power_of_two() -> None:
    assert [Hadamard(size, 2, 1).order for size in (2, 3, 4, 7, 8, 1_000_000)] == [
        4,
        4,
        8,
        8,
        16,
        1 << 20,
    ]
    assert Hadamard(5, 2, 1).responses == 7


def test_probabilities_follow_the_signs_of_the_matrix() -> None:
    channel = Hadamard(3, 3, 1)
    assert channel.total == 5
    rows = [[channel.probability(r, given=x) for x in range(3)] for r in range(3)]
    large, small = Fraction(3, 5), Fraction(1, 5)
    assert rows == [
        [small, large, small],
        [large, small, small],
        [small, small, large],
    ]


def test_a_draw_by_hand() -> None:
    # K = 8: three rows with weight 2, four with weight 1
    channel = Hadamard(5, 2, 1)
    assert channel.total == 10
    sent = [drawn(channel, 4, script(position, 10)) for position in range(10)]
    # Column 5 = 0b101: even rows 2, 5, 7 and odd rows 1, 3, 4, 6, each response one less.
    assert sent == [1, 1, 4, 4, 6, 6, 0, 2, 3, 5]


def test_weights_are_brought_to_lowest_terms() -> None:
    assert Hadamard(4, 6, 2) == Hadamard(4, 3, 1)


@pytest.mark.parametrize(
    ("size", "large", "small"),
    [(1, 2, 1), (3, 1, 1), (3, 1, 2), (3, 1, 0), (3, -1, -2)],
)
def test_what_is_no_channel_is_refused(size: int, large: int, small: int) -> None:
    with pytest.raises(InvalidDesign, match="expected"):
        Hadamard(size, large, small)


def test_a_million_categories_answer_at_once_and_travel() -> None:
    design = dn.hadamard(1_000_000, epsilon=1)
    channel = design.channel
    assert isinstance(channel, Hadamard)
    assert from_body(channel.to_body()) == channel
    assert dn.Design.from_json(design.to_json()) == design
    assert channel.extremes(999_999, besides=0) == (
        Fraction(channel.large, channel.total),
        Fraction(channel.small, channel.total),
    )
    assert channel.delta(Fraction(design.parity)) == 0
    assert channel.delta(Fraction(1)) > 0
    assert design.bayes_factors("17", "999999")[0] > 0
    assert dn.respond(design, "999999").symbol in design.symbols


def test_an_epsilon_too_fine_for_so_many_is_refused() -> None:
    with pytest.raises(InvalidDesign, match="too fine"):
        dn.hadamard(1 << 52, epsilon="1/1000000")
