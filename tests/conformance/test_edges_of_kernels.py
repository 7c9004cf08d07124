"""At every threshold that is found the draw in bulk is the scalar draw, whichever word decides, in NumPy and in Numba.

Each row is a chunk of its own: a chunk of which one word does not decide is drawn row by row, and a kernel that lets
such a word pass would be hidden by another row of the chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import pytest

from deniable.bulk import gradual, vectors
from deniable.bulk.edges import Edges
from deniable.bulk.steps import KeepStep, prepare_step
from deniable.chance import Source
from deniable.channel import Bits
from deniable.designs import Design
from deniable.engines import local
from deniable.order.bits import BitByBit
from deniable.order.ladders import Relaxation
from deniable.types.key_value import draw as key_value
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.schemes import GRID
from tests.conformance.test_same_bytes_same_relaxations import (
    every_relaxation,
    every_way,
    numbers,
    relaxations,
)
from tests.conformance.test_same_bytes_same_responses import (
    designs as every_category_design,
)
from tests.support.hands import Counted
from tests.support.seeded import Seeded
from tests.support.thresholds import Edge, edges, open_bits
from tests.unit.engines.local.test_keyvalue_engine import (
    designs as key_value_designs,
)
from tests.unit.engines.local.test_keyvalue_engine import numbers as symbols

FEW = 3

Bulk: TypeAlias = Callable[[list[Any], Source, bool], list[int]]
"""What is drawn in bulk from a list of what is given, by NumPy or by Numba."""


@pytest.fixture(autouse=True)
def _every_row_is_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "bulk.vectors",
        "bulk.kernels",
        "bulk.gradual",
        "types.key_value.draw",
    ):
        monkeypatch.setattr(import_module(f"deniable.{name}"), "CHUNK", 1)


def agree(found: Sequence[Edge], bulk: Bulk) -> None:
    """Draw all of it in bulk, from the scripts one behind another; not a byte more may be taken."""
    script = b"".join(edge.script for edge in found)
    for fast in (False, True):
        source = Counted(script, Seeded("behind the script"))
        assert bulk([edge.given for edge in found], source, fast) == [
            edge.sent for edge in found
        ], fast
        assert source.used == len(script), fast


# Responses


@every_category_design
def test_responses(design: Design) -> None:
    channel, answer = design.channel, design.channel.answers // 2

    def found() -> Iterator[Edge]:
        for given in (0, answer):
            yield from edges(channel.draw, given, b"")
        if isinstance(channel, Bits):
            yield from open_bits(
                channel.draw, answer, {0, answer}, -(-channel.size // 64)
            )

    def bulk(answers: list[int], source: Source, fast: bool) -> list[int]:
        return numbers(
            local.draw_all(
                design, np.array(answers), codes=True, source=source, fast=fast
            )
        )

    agree(list(found()), bulk)


# Relaxations


@every_way
@every_relaxation
def test_relaxations(name: str, down: bool) -> None:
    rung = relaxations()[name]
    step = rung.step

    def draw(given: tuple[int, int], source: Source) -> int:
        return (
            step.degrade(given[0], source) if down else step.upgrade(*given, source)
        )

    def found() -> Iterator[Edge]:
        for given in pairs(rung, down=down):
            yield from edges(draw, given, b"")
            if isinstance(step, BitByBit):
                places = {0, given[1], step.new.size - 1}
                yield from open_bits(draw, given, places, -(-step.new.size // 64))

    def bulk(given: list[tuple[int, int]], source: Source, fast: bool) -> list[int]:
        olds, answers = (list(each) for each in zip(*given, strict=True))
        was = (rung.new if down else rung.old).channel.coding.pack(olds)
        if down:
            return numbers(gradual.degrade(rung, was, source=source, fast=fast))
        return numbers(
            gradual.upgrade(
                rung, was, np.array(answers), codes=True, source=source, fast=fast
            )
        )

    agree(list(found()), bulk)


def pairs(rung: Relaxation, *, down: bool) -> list[tuple[int, int]]:
    """Return a few responses that are out, with their answers, that differ in how often they are sent."""
    channel, source = (rung.new if down else rung.old).channel, Seeded("pairs")
    known: dict[Fraction, tuple[int, int]] = {}
    for number in range(40):
        answer = number % channel.answers
        old = channel.draw(answer, source)
        known.setdefault(channel.probability(old, given=answer), (old, answer))
    return list(known.values())[:FEW]


@pytest.mark.parametrize(
    "name",
    [
        "two words for a fresh one",
        "a code without room for a mark",
        "a short divisor",
    ],
)
def test_these_codes_are_not_raised_in_one_pass(name: str) -> None:
    """They are there for the decision who keeps; raised in one pass they would not come to it."""
    prepared = prepare_step(relaxations()[name].step, vectors, down=False)
    assert isinstance(prepared, KeepStep)
    assert prepared.pair is None


# Items

ITEMS = [
    pytest.param(items, name, id=f"{name}, {items}")
    for items in (1, 5)
    for name in key_value_designs(items)
]
OWNED: tuple[dict[int, float], ...] = ({}, {0: 0.1}, {0: 1.0}, {0: -0.3})


@pytest.mark.parametrize(("items", "name"), ITEMS)
def test_items(items: int, name: str) -> None:
    design = key_value_designs(items)[name]
    found = [
        edge
        for owned in (*OWNED, dict.fromkeys(range(items), 0.5))
        for edge in edges_of(design, owned)
    ]

    def bulk(
        people: list[dict[int, Fraction]], source: Source, fast: bool
    ) -> list[int]:
        start = np.cumsum([0, *map(len, people)])
        item = np.array([item for owned in people for item in owned], np.int64)
        weight = np.array(
            [float(weight) for owned in people for weight in owned.values()]
        )
        known = Edges(len(people), items, start, item, weight)
        return symbols(key_value.draw_all(design, known, source=source, fast=fast))

    agree(found, bulk)


def edges_of(design: KeyValueDesign, owned: dict[int, float]) -> Iterator[Edge]:
    exactly = {
        item: Fraction(round(Fraction(weight) * GRID), GRID)
        for item, weight in owned.items()
    }
    return edges(design.scheme.draw_response, exactly, b"")
