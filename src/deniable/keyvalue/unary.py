"""A symbol for every item: one of somebody's items is drawn, and every item's place goes through a small channel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple

from deniable import chance, exact, wire
from deniable.channel import Dense
from deniable.keyvalue import slots, weights
from deniable.keyvalue.index import presence_parity, read_symbol
from deniable.keyvalue.scheme import Certificate, Row, Scheme, check_symbol, of_weight, sign_parity
from deniable.keyvalue.slots import Choice, Number
from deniable.keyvalue.weights import NONE, PLUS


class Levels(NamedTuple, Generic[Number]):
    """By how much an item in the drawn place multiplies the probability of a vector, times a common factor.

    Attributes:
        empty: an empty place.
        unmarked: an item whose symbol is none.
        high: an item whose symbol is its own sign, or the other one where that is likelier.
        low: the opposite.
    """

    empty: Number
    unmarked: Number
    high: Number
    low: Number


@dataclass(frozen=True)
class Unary(Scheme):
    """PCKV-UE: padding to ℓ places, one of them drawn, and a vector with a symbol for every item.

    The draw: `below(max(s, ℓ))` draws a place of somebody with s items; its weight is rounded as in `Index`, with one
    word that is not looked at for an empty place. Then every item in turn goes through `symbol`, the drawn one with its
    sign and all others as none.

    Why its parity is exact: given what stands in the drawn place, the probability of a vector is that of a vector for
    an empty place times one factor, which depends on the symbol of that item alone; `slots.extreme` averages them, and
    only the number of items marked + or − matters.
    """

    KIND: ClassVar[str] = "unary"
    one_each: ClassVar[bool] = False
    items: int
    padding: int
    symbol: Dense

    def __post_init__(self) -> None:
        check_symbol(self.symbol, even=True)
        slots.check(self.items, self.padding)

    @property
    def multiplier(self) -> int:
        """The number of places: each item is looked at in one of so many responses."""
        return self.padding

    @property
    def responses(self) -> int:
        """How many responses there are."""
        return int(3**self.items)

    @property
    def levels(self) -> Levels[int]:
        """The factors by which items multiply the probability of a vector."""
        (none, lost, _), (stray, kept, turned), _ = self.symbol.weights
        return Levels(none * stray, lost * stray, max(kept, turned) * none, min(kept, turned) * none)

    def probability(self, response: int, given: Row) -> Fraction:
        """Return the exact probability of a vector given a row."""
        sent = self.vector(response)
        symbol = self.symbol
        base = math.prod(symbol.probability(each, given=NONE) for each in sent)
        factors = (
            of_weight(symbol, sent[item], weight) / symbol.probability(sent[item], given=NONE)
            for item, weight in given.items()
        )
        places = max(len(given), self.padding)
        return base * (sum(factors, Fraction(0)) + places - len(given)) / places

    @cached_property
    def parity(self) -> exact.Ratio:
        """The largest ratio of the probabilities of one vector given two rows.

        Why it is not worked out from the certificate: what all rows have in common, a product over all items, cancels.
        """
        return max(map(self._ratio, marks(self.items, self.padding)))

    def _ratio(self, marked: int) -> exact.Ratio:
        most, least = extremes(self.levels, self.items, self.padding, marked)
        return exact.ratio(most.total, least.total)

    @cached_property
    def certificate(self) -> Certificate:
        """A vector and two rows that attain the parity; only how many items are marked needs to be tried."""
        best = max(marks(self.items, self.padding), key=self._ratio)
        most, least = extremes(self.levels, self.items, self.padding, best)
        kept, turned = self.symbol.weights[PLUS][1:]
        own = Fraction(1 if kept >= turned else -1)
        return Certificate((3**best - 1) // 2, _row(most.taken, best, own), _row(least.taken, best, -own))

    @property
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of a vector of keys without signs, for one item each, and of the sign."""
        sign = sign_parity(self.symbol)
        if self.items == 1:
            return presence_parity(self.symbol), sign
        (none, lost, _), (stray, kept, turned), _ = self.symbol.weights
        ratio = exact.ratio((kept + turned) * none, 2 * stray * lost)
        return max(ratio, 1 / ratio) if ratio else math.inf, sign

    def draw(self, given: Row, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a vector for a row."""
        item = slots.drawn_item(given, self.padding, source)
        answer = weights.rounded(None if item is None else given[item], source)
        number = 0
        for place in range(self.items):
            number += self.symbol.draw(answer if place == item else NONE, source) * 3**place
        return number

    def vector(self, response: int) -> list[int]:
        """Return the symbol of every item."""
        sent = []
        for _ in range(self.items):
            response, symbol = divmod(response, 3)
            sent.append(symbol)
        return sent

    def cells(self, response: int) -> list[tuple[int, int]]:
        """Return the items that are marked, with their symbols."""
        return [(item, symbol) for item, symbol in enumerate(self.vector(response)) if symbol != NONE]

    def text(self, response: int, names: Callable[[int], str]) -> str:  # noqa: ARG002 - items stand in their order
        """Write a vector as a mark for each item."""
        return "".join(self.marks[symbol] for symbol in self.vector(response))

    def number(self, text: str, numbers: Callable[[str], int]) -> int:  # noqa: ARG002 - items stand in their order
        """Read a vector."""
        if len(text) != self.items:
            raise ValueError
        return sum(self.marks.index(mark) * 3**place for place, mark in enumerate(text))

    def to_body(self) -> dict[str, Any]:
        """Return the scheme for JSON."""
        return {"kind": self.KIND, "padding": self.padding, "symbol": self.symbol.to_body()}

    @classmethod
    def from_body(cls, items: int, body: Mapping[str, Any]) -> Unary:
        """Read what `to_body` wrote."""
        return cls(items, wire.whole(body, "padding"), read_symbol(body))


def marks(items: int, padding: int) -> tuple[int, ...]:
    """Return the numbers of marked items among which the largest ratio is found.

    Why: between 0, m − ℓ, ℓ and m both the largest and the smallest sum are linear in the number of marked items, and a
    ratio of linear functions is largest at an end. With m ≥ 2ℓ items, ℓ marked ones leave both rows all they can use.
    """
    return (padding,) if items >= 2 * padding else tuple(sorted({0, items - padding, padding, items}))


def extremes(levels: Levels[Number], items: int, padding: int, marked: int) -> tuple[Choice[Number], Choice[Number]]:
    """Return the likeliest and the least likely row for a vector with so many items marked."""
    plain = items - marked
    high = slots.extreme([(levels.high, marked), (levels.unmarked, plain)], levels.empty, padding, largest=True)
    low = slots.extreme([(levels.low, marked), (levels.unmarked, plain)], levels.empty, padding, largest=False)
    return high, low


def _row(taken: tuple[int, ...], marked: int, weight: Fraction) -> dict[int, Fraction]:
    signed, plain = taken
    return dict.fromkeys((*range(signed), *range(marked, marked + plain)), weight)
