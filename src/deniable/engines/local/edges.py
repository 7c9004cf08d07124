"""True edges of many people: from sparse matrices, graphs and tables. A row that is refused is named by its number.

Nothing in here repeats a weight, an item or a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidAnswer
from deniable.records.key_value.schemes import refusal

Whole: TypeAlias = NDArray[np.int64]
Real: TypeAlias = NDArray[np.float64]

COLUMNS = ("person", "item", "weight")
"""What the columns of a table of edges are called, unless it is said otherwise."""


class Catalogue(Protocol):
    """What is asked of a design here: which items there are, and between which ends weights lie."""

    @property
    def items(self) -> Sequence[str]:
        """What people may have."""
        ...

    @property
    def low(self) -> Fraction:
        """The smallest weight there can be."""
        ...

    @property
    def high(self) -> Fraction:
        """The largest weight there can be."""
        ...

    def item_number(self, item: str) -> int:
        """Return the number of an item, or raise InvalidAnswer."""
        ...


@dataclass(frozen=True, eq=False)
class Edges:
    """Who has which item with which weight: what is true, and never leaves the machine that holds it.

    Attributes:
        people: how many people there are, those without any item too.
        items: how many items there are.
        start: for each person where their items begin, and the end of the last one's.
        item: the number of the item of each edge, rising within a person.
        weight: the weight of each edge, between −1 and 1.
        names: what the people are called, where they have names.
    """

    people: int
    items: int
    start: Whole = field(repr=False)
    item: Whole = field(repr=False)
    weight: Real = field(repr=False)
    names: tuple[Any, ...] | None = field(default=None, repr=False)

    @property
    def sizes(self) -> Whole:
        """How many items each person has."""
        return np.diff(self.start)

    @property
    def degree(self) -> Whole:
        """How many people have each item."""
        return np.bincount(self.item, minlength=self.items).astype(np.int64)

    @property
    def weight_sum(self) -> Real:
        """The sum of the weights of each item, on the scale from −1 to 1."""
        return np.bincount(self.item, self.weight, minlength=self.items).astype(np.float64)

    @property
    def square_sum(self) -> Real:
        """The sum of the squared weights of each item."""
        return np.bincount(self.item, self.weight**2, minlength=self.items).astype(np.float64)

    @cached_property
    def keys(self) -> Whole:
        """person · items + item for each edge, rising: what a person and an item are looked up in."""
        return np.repeat(np.arange(self.people, dtype=np.int64), self.sizes) * self.items + self.item

    @cached_property
    def thresholds(self) -> NDArray[np.uint64]:
        """(1 + weight)·2^63 for each edge, modulo 2^64: a word below it rounds the weight to +1.

        Why modulo: only a weight of exactly 1 reaches 2^64, and is told apart by itself.
        """
        whole = np.where(self.weight < 1, np.rint(self.weight * 2.0**63), 0.0).astype(np.int64)
        return whole.view(np.uint64) ^ np.uint64(1 << 63)


@dataclass(frozen=True)
class Rows:
    """A row for each edge, as it was given."""

    people: int
    person: Whole
    item: Whole
    weight: Real
    names: tuple[Any, ...] | None


def build(design: Catalogue, rows: Rows) -> Edges:
    """Check rows and bring them into the order of people and items.

    Raises:
        InvalidAnswer: an item that is not known, a weight outside the scale, or a pair that stands there twice.
    """
    wrong = (rows.item < 0) | (rows.item >= len(design.items))
    if wrong.any():
        refuse(wrong, "the item is not one of the design's; expected one that is.")
    weights = _scaled(design, rows.weight)
    order = np.lexsort((rows.item, rows.person))
    person, item = rows.person[order], rows.item[order]
    again = (person[1:] == person[:-1]) & (item[1:] == item[:-1])
    if again.any():
        second = np.zeros(len(order), np.bool_)
        second[order[1:][again]] = True
        refuse(second, "the same person and item stand in a row before; expected each pair once.")
    start = np.zeros(rows.people + 1, np.int64)
    np.cumsum(np.bincount(person, minlength=rows.people), out=start[1:])
    return Edges(rows.people, len(design.items), start, item, weights[order], rows.names)


def _scaled(design: Catalogue, weights: Real) -> Real:
    """Bring weights to the scale from −1 to 1, in floating point, as `keyvalue.weights.read` does."""
    low, high = float(design.low), float(design.high)
    wrong = ~((weights >= low) & (weights <= high))  # also where a weight is not a number
    if wrong.any():
        refuse(wrong, refusal(design.low, design.high).problem)
    if (low, high) == (-1.0, 1.0):
        return weights
    return np.asarray(np.clip((2 * weights - (low + high)) / (high - low), -1.0, 1.0), np.float64)


def refuse(wrong: NDArray[np.bool_], problem: str) -> NoReturn:
    """Refuse the first of some rows, by its number.

    Raises:
        InvalidAnswer: always.
    """
    count = int(wrong.sum())
    hint = f"{count:,} rows are so in all." if count > 1 else ""
    raise InvalidAnswer(f"row {int(wrong.argmax()) + 1:,}: {problem}", hint)
