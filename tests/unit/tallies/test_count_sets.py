"""Sets of categories counted, in whatever form they come."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import deniable as dn
from deniable.designs import Design
from deniable.errors import Incompatible, InvalidResponse
from tests.support.seeded import seeded
from tests.support.sets import SMALL, around

DESIGNS = {
    "five bits": dn.unary(5, 1),
    "bits by size": dn.rappor(13, 1),
    "64 bits": dn.unary(64, 1),
    "65 bits by size": dn.rappor(65, 1),
    "two of nine": dn.subset(9, 1, t=2),
    "34 of 128": dn.subset(128, 1),
    "a mixture": dn.mixture(20, {0: 0.1, 3: 0.4, 19: 0.3, 20: 0.2}, 1),
    **{name: around(channel) for name, channel in SMALL.items()},
}
every = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
N = 700


def responses(design: Design, n: int = N) -> list[int]:
    source = seeded(f"responses to {design!r}")
    return [
        design.channel.draw(i % design.channel.answers, source) for i in range(n)
    ]


def expected(design: Design, numbers: list[int]) -> dn.Tally:
    """Count as the channel says, one response after another."""
    counts = np.zeros(design.channel.cells, np.int64)
    for number in numbers:
        for cell in design.channel.cells_of(number):
            counts[cell] += 1
    return dn.Tally(design, counts, respondents=len(numbers))


def packed(design: Design, numbers: list[int]) -> np.ndarray:
    width = (design.channel.answers + 7) // 8
    return np.frombuffer(
        b"".join(n.to_bytes(width, "little") for n in numbers), np.uint8
    ).reshape(len(numbers), width)


@every
def test_every_form_gives_the_same_counts(design: Design) -> None:
    numbers = responses(design)
    wanted = expected(design, numbers)
    symbols = [design.symbols[number] for number in numbers]
    rows = packed(design, numbers)
    bits = np.unpackbits(rows, axis=1, bitorder="little")[
        :, : design.channel.answers
    ]
    assert dn.tally(design, numbers) == wanted
    assert dn.tally(design, symbols) == wanted
    assert dn.tally(design, np.array(symbols)) == wanted
    assert (
        dn.tally(design, [dn.Response(design.hash, symbol) for symbol in symbols])
        == wanted
    )
    assert dn.tally(design, Counter(symbols)) == wanted
    assert dn.tally(design, rows) == wanted
    assert dn.tally(design, bits) == wanted
    assert dn.tally(design, bits.astype(np.bool_)) == wanted
    assert dn.tally(design, bits.astype(np.int64)) == wanted
    if design.channel.answers < 63:
        assert dn.tally(design, np.array(numbers)) == wanted


@every
def test_packed_rows_of_many_groups(design: Design) -> None:
    """More rows than fit into a byte for each category, and more than are spread out at a time."""
    rows = np.tile(packed(design, responses(design, 100)), (400, 1))
    hundred = dn.tally(design, rows[:100])
    assert dn.tally(design, rows).counts.tolist() == (400 * hundred.counts).tolist()


def test_missing_responses_are_counted_as_missing() -> None:
    tally = dn.tally(dn.unary(3, 1), ["b100", None, "b011", float("nan")])
    assert (tally.respondents, tally.missing) == (2, 2)


def test_no_responses_are_an_empty_tally() -> None:
    design = dn.rappor(9, 1)
    assert (
        dn.tally(design, np.empty((0, 2), np.uint8))
        == dn.Tally.empty(design)
        == dn.tally(design, [])
    )


def test_tallies_add_up_and_travel() -> None:
    design = DESIGNS["a mixture"]
    numbers = responses(design)
    whole = dn.tally(design, numbers)
    assert dn.tally(design, numbers[:300]) + dn.tally(design, numbers[300:]) == whole
    assert dn.Tally.from_json(whole.to_json(), design) == whole


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            ["b1100", "b1110"],
            "index 1 is 'b1110'; expected the letter b and 4 digits 0 or 1, of which 2 are 1",
        ),
        (["b110"], "index 0 is 'b110'; expected the letter b and 4 digits"),
        ([3, 7], "index 1 is 7; expected"),
        ([16], "index 0 is 16; expected"),
        ([-1], "index 0 is -1; expected"),
        ([True], "is a boolean"),
        (np.array([[3], [7]], np.uint8), "index 1 is '0x07'; expected"),
        (np.array([[0x33]], np.uint8), "index 0 is '0x33'; expected"),
        (np.array([[1, 1, 0, 2]]), "a number other than 0 and 1"),
        (
            np.array([[1, 1, 0]]),
            "expected 1 bytes of packed bits for each, or a 0 or 1 for each of 4 bits",
        ),
        (np.array([[1.0, 1.0, 0.0, 0.0]]), "type float64"),
        (np.zeros((1, 1, 1), np.uint8), "3 dimensions"),
    ],
)
def test_what_the_design_cannot_send_is_refused(given: object, problem: str) -> None:
    with pytest.raises(InvalidResponse, match=problem):
        dn.tally(dn.subset(4, 1, t=2), given)


def test_a_message_about_many_categories_is_short() -> None:
    with pytest.raises(InvalidResponse) as error:
        dn.tally(dn.subset(1000, 1), ["b" + "0" * 1000])
    assert len(str(error.value)) < 300


def test_a_response_of_another_design_is_refused() -> None:
    with pytest.raises(Incompatible, match="belongs to the design"):
        dn.tally(dn.unary(3, 1), [dn.respond(dn.unary(3, 2), "0")])


def test_rows_behind_the_last_category_are_refused_for_bits_too() -> None:
    with pytest.raises(InvalidResponse, match="index 1"):
        dn.tally(dn.unary(3, 1), np.array([[7], [8]], np.uint8))


def test_a_tally_of_few_categories_counts_each_set_apart() -> None:
    """Twelve categories have 4,096 counts, thirteen have thirteen."""
    design = dn.subset(4, 1, t=2)
    counted = dn.tally(design, ["b1100", "b0011", "b1100"])
    assert counted.counts.tolist() == [0, 0, 0, 2, *(8 * [0]), 1, 0, 0, 0]
    assert dn.Tally(design, counted.counts).respondents == 3
    with pytest.raises(InvalidResponse, match="do not belong to 2 respondents"):
        dn.Tally(design, counted.counts, respondents=2)
    assert [dn.unary(k, 1, by_size=False).channel.cells for k in (12, 13)] == [
        4096,
        13,
    ]
    assert dn.Tally.from_json((counted + counted).to_json(), design) == dn.tally(
        design, 2 * ["b1100", "b0011", "b1100"]
    )
