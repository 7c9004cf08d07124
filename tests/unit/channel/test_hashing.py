from __future__ import annotations

from fractions import Fraction

import pytest

import deniable as dn
from deniable.channel import Hashing, from_body
from deniable.designs.many_answers import MAX_CELLS, best_values
from deniable.errors import InvalidDesign
from tests.support.positions import drawn, script


def test_sizes_are_the_fewest_that_do() -> None:
    channel = Hashing(1_000_000, 3, 2, 1)
    assert (channel.digits, channel.hashes, channel.responses) == (
        13,
        797_161,
        2_391_483,
    )
    assert Hashing(9, 3, 2, 1).digits == 2
    assert Hashing(10, 3, 2, 1).digits == 3
    assert Hashing(5, 5, 2, 1).hashes == 1


def test_a_draw_by_hand() -> None:
    # forms 01, 10, 11; each hash has 4 positions, the other value first
    channel = Hashing(4, 2, 3, 1)
    assert (channel.total, channel.per_hash) == (12, 4)
    sent = [
        divmod(drawn(channel, 2, script(position, 12)), 2) for position in range(12)
    ]
    # Answer 2 = 0b10 has the values 0, 1, 1.
    assert sent == [
        (0, 1),
        (0, 0),
        (0, 0),
        (0, 0),
        (1, 0),
        (1, 1),
        (1, 1),
        (1, 1),
        (2, 0),
        (2, 1),
        (2, 1),
        (2, 1),
    ]


def test_given_the_hash_a_response_is_that_of_the_diagonal_channel() -> None:
    channel = Hashing(7, 3, 4, 1)
    for number in range(channel.hashes):
        for answer in range(7):
            given = [
                channel.probability(number * 3 + value, given=answer)
                * channel.hashes
                for value in range(3)
            ]
            expected = [Fraction(1, 6)] * 3
            expected[channel.hashed(number, answer)] = Fraction(4, 6)
            assert given == expected


@pytest.mark.parametrize(
    ("size", "values", "same", "other"),
    [
        (1, 2, 2, 1),
        (5, 6, 2, 1),
        (5, 1, 2, 1),
        (5, 1 << 31, 2, 1),
        (5, 3, 1, 1),
        (5, 3, 1, 0),
        (5, 3, 1, 2),
    ],
)
def test_what_is_no_channel_is_refused(
    size: int, values: int, same: int, other: int
) -> None:
    with pytest.raises(InvalidDesign, match="expected"):
        Hashing(size, values, same, other)


@pytest.mark.parametrize(
    "values", [1, 0, -4, 6, 12, 255, 289, 343, 512, True, 4.0, "3", [3], 2**31 + 11]
)
def test_a_number_of_values_that_makes_no_field_is_refused(values: int) -> None:
    with pytest.raises(InvalidDesign, match="expected a prime"):
        dn.local_hashing(100, 1, values=values)


def test_a_million_categories_answer_at_once_and_travel() -> None:
    design = dn.local_hashing(1_000_000, epsilon=1)
    channel = design.channel
    assert isinstance(channel, Hashing)
    assert channel.values == 4
    assert from_body(channel.to_body()) == channel
    assert dn.Design.from_json(design.to_json()) == design
    top, bottom = (
        Fraction(channel.same, channel.total),
        Fraction(channel.other, channel.total),
    )
    assert channel.extremes(channel.responses - 1, besides=7) == (top, bottom)
    assert channel.delta(Fraction(design.parity)) == 0
    assert dn.respond(design, "999999").symbol in design.symbols


def test_the_choice_of_values_keeps_the_tally_small() -> None:
    for epsilon in (4, 5, 6, 8, 10):
        channel = dn.local_hashing(1_000_000, epsilon).channel
        assert channel.responses <= MAX_CELLS
    # Where nothing fits, the smallest tally is taken.
    assert Hashing(
        1 << 30, best_values(1 << 30, Fraction(3)), 2, 1
    ).responses <= 2 * (1 << 30)


def test_an_epsilon_too_fine_for_so_many_is_refused() -> None:
    with pytest.raises(InvalidDesign, match="too fine"):
        dn.local_hashing(1 << 50, epsilon="1/1000000", values=2)
