"""How responses lie in rows: there and back, what is refused, and what is counted of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.channel.coding import Coding, PackedRows
from deniable.designs import Design
from deniable.errors import InvalidRequest, InvalidResponse
from tests.support.seeded import seeded

DESIGNS = {
    "two answers": dn.warner(1),
    "300 categories": dn.k_ary(300, 1),
    "hadamard": dn.hadamard(9, 1),
    "hashing": dn.local_hashing(11, 1),
    "two attributes": dn.product([dn.warner(1), dn.k_ary(3, 1)]),
    "five bits": dn.unary(5, 1),
    "bits by size": dn.rappor(13, 1),
    "two of nine": dn.subset(9, 1, t=2),
    "64 bits": dn.unary(64, 1),
    "sets in a product": dn.product([dn.unary(3, 1), dn.warner(1)]),
}
every = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())


def responses(design: Design, n: int = 300) -> list[int]:
    source = seeded(f"coding of {design!r}")
    return [
        design.channel.draw(i % design.channel.answers, source) for i in range(n)
    ]


@every
def test_responses_go_there_and_back(design: Design) -> None:
    coding, numbers = design.channel.coding, responses(design)
    rows = coding.pack(numbers)
    empty = coding.space(len(numbers))
    assert (rows.dtype, rows.shape, rows.ndim) == (
        empty.dtype,
        empty.shape,
        coding.ndim,
    )
    assert coding.unpack(rows) == numbers
    assert coding.impossible(rows) is None
    assert np.array_equal(coding.checked(rows), rows)
    written = coding.to_bytes(rows)
    assert written.shape == (len(numbers), coding.width)
    assert [int.from_bytes(each.tobytes(), "little") for each in written] == numbers
    assert coding.unpack(coding.from_bytes(written)) == numbers
    assert coding.unpack(coding.from_arrow(coding.to_arrow(rows))) == numbers
    assert (
        coding.unpack(coding.from_arrow(pa.chunked_array([coding.to_arrow(rows)])))
        == numbers
    )
    assert (
        coding.unpack(coding.from_arrow(coding.to_arrow(rows).slice(7, 20)))
        == numbers[7:27]
    )


@every
def test_labels_are_the_symbols(design: Design) -> None:
    coding, numbers = design.channel.coding, responses(design, 40)
    present = np.arange(40) % 3 > 0
    wanted = [design.symbols[number] for number in numbers]
    assert coding.labels(coding.pack(numbers), design.symbols).to_pylist() == wanted
    gaps = [
        label if there else None
        for label, there in zip(wanted, present, strict=True)
    ]
    assert (
        coding.labels(coding.pack(numbers), design.symbols, present).to_pylist()
        == gaps
    )
    column = coding.to_arrow(coding.pack(numbers), present)
    assert column.null_count == 14
    assert coding.unpack(coding.from_arrow(column.drop_null())) == [
        n for n, here in zip(numbers, present, strict=True) if here
    ]


@every
def test_counts_are_those_of_the_cells(design: Design) -> None:
    coding, numbers = design.channel.coding, responses(design)
    wanted = Counter(
        cell for number in numbers for cell in design.channel.cells_of(number)
    )
    counts = coding.count(coding.pack(numbers))
    assert {
        cell: count for cell, count in enumerate(counts.tolist()) if count
    } == wanted
    cells, rises = coding.count_few(coding.pack(numbers))
    assert dict(zip(cells.tolist(), rises.tolist(), strict=True)) == wanted
    twice = counts.copy()
    coding.count_into(twice, coding.pack(numbers))
    assert twice.tolist() == (2 * counts).tolist()
    assert coding.add_up(counts, len(numbers))
    assert not coding.add_up(counts, 1)
    shapes = coding.count_shapes(coding.pack(numbers))
    assert len(shapes) == coding.shapes
    assert shapes.sum() == (len(numbers) if coding.shapes else 0)


@pytest.mark.parametrize("name", ["two answers", "hadamard"])
def test_codes_out_of_range_are_found(name: str) -> None:
    coding = DESIGNS[name].channel.coding
    assert type(coding) is Coding
    size = coding.channel.responses
    for wrong in (size, -1):
        rows = np.array([0, 1, wrong, wrong])
        assert coding.impossible(rows) == 2
        with pytest.raises(InvalidResponse, match="index 2"):
            coding.checked(rows)
        with pytest.raises(OverflowError):
            coding.count(rows)
    assert coding.impossible(np.zeros(0, np.uint8)) is None
    assert coding.describe() == f"a whole number from 0 to {size - 1}"


def test_sets_that_are_never_sent_are_found() -> None:
    coding = dn.subset(9, 1, t=2).channel.coding
    assert isinstance(coding, PackedRows)
    assert coding.impossible(coding.pack([3, 5, 7])) == 2
    assert coding.impossible(np.array([[3, 0], [1, 2]], np.uint8)) == 1
    assert coding.show(coding.pack([3])[0]) == "0x0300"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("two answers", np.array([0.0])),
        ("two answers", np.array([[0]])),
        ("five bits", np.array([0])),
        ("five bits", np.array([[2, 0, 0, 0, 0]])),
        ("five bits", np.array([[1, 0, 0]], np.uint8)),
    ],
)
def test_other_shapes_and_types_are_refused(name: str, given: np.ndarray) -> None:
    with pytest.raises(InvalidResponse):
        DESIGNS[name].channel.coding.read(given)


@pytest.mark.parametrize(
    ("name", "column"),
    [("two answers", pa.array(["a"])), ("five bits", pa.array([b"ab"]))],
)
def test_other_columns_are_refused(name: str, column: pa.Array) -> None:
    with pytest.raises(InvalidResponse, match="the codes are of type"):
        DESIGNS[name].channel.coding.from_arrow(column)


def test_a_code_of_more_than_64_bits_lies_in_no_array() -> None:
    channel = dn.channel.Product((dn.unary(64, 1).channel, dn.warner(1).channel))
    with pytest.raises(InvalidRequest, match="more than 2\\^64 responses"):
        channel.coding.space(1)


def test_many_bytes_are_counted_in_pairs() -> None:
    design = dn.k_ary(5, 1)
    rows = np.tile(np.array([0, 1, 1, 4, 4, 4, 2], np.uint8), 30_001)
    assert design.channel.coding.count(rows).tolist() == [
        30_001,
        60_002,
        30_001,
        0,
        90_003,
    ]
    with pytest.raises(OverflowError):
        design.channel.coding.count(np.full(1 << 18, 5, np.uint8))
