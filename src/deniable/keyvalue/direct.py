"""One item or nothing for each respondent: one of somebody's items is drawn, and kept or replaced as a whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable import chance, exact, wire
from deniable.channel import Dense
from deniable.channel.base import check_total
from deniable.errors import InvalidDesign
from deniable.keyvalue import slots, weights
from deniable.keyvalue.scheme import MARKS, Certificate, Row, Scheme, answers, sign_parity
from deniable.keyvalue.weights import PLUS

_FIELDS = ("same", "turned", "other", "total")


@dataclass(frozen=True)
class Direct(Scheme):
    """PCKV-GRR: padding to ℓ places, one of them drawn, and one item with a sign sent, or nothing.

    An item with its sign is sent with weight `same` of `total`, with the other sign with `turned`, every item that was
    not drawn, with each sign, with `other`, and nothing with what is left. An empty place sends each item with each
    sign with `other`, else nothing.

    The draw: a place and a rounded weight as in `Unary`; then position = `below(total)`. For an item: same, turned,
    nothing, and then the other items in order, + before −, each take as many positions as their weight. For an empty
    place: nothing first, then all items.
    """

    KIND: ClassVar[str] = "direct"
    one_each: ClassVar[bool] = False
    items: int
    padding: int
    same: int
    turned: int
    other: int
    total: int

    def __post_init__(self) -> None:
        slots.check(self.items, self.padding)
        check_total(self.total)
        if min(self.same, self.turned, self.other) < 0 or self.other == 0:
            raise InvalidDesign("a weight is negative, or other items are never sent; expected positive weights.")
        if min(self.nothing, self.idle) < 0:
            raise InvalidDesign("the weights of a response add up to more than their total; expected at most that.")
        common = math.gcd(*(getattr(self, name) for name in _FIELDS))
        for name in _FIELDS:
            object.__setattr__(self, name, getattr(self, name) // common)

    @property
    def nothing(self) -> int:
        """The weight with which an item that was drawn sends nothing."""
        return self.total - self.same - self.turned - 2 * (self.items - 1) * self.other

    @property
    def idle(self) -> int:
        """The weight with which an empty place sends nothing."""
        return self.total - 2 * self.items * self.other

    @cached_property
    def symbol(self) -> Dense:  # type: ignore[override]  # worked out here, stored elsewhere
        """The channel of one item: what a response says of it, and none where it says something else."""
        away = self.total - self.same - self.turned
        return Dense(
            (
                (self.total - 2 * self.other, away, away),
                (self.other, self.same, self.turned),
                (self.other, self.turned, self.same),
            ),
            self.total,
        )

    @property
    def multiplier(self) -> int:
        """The number of places: each item is looked at in one of so many responses."""
        return self.padding

    @property
    def responses(self) -> int:
        """How many responses there are: each item with each sign, and nothing as the last one."""
        return 2 * self.items + 1

    def probability(self, response: int, given: Row) -> Fraction:
        """Return the exact probability of a response given a row."""
        places = max(len(given), self.padding)
        if response == 2 * self.items:
            total: Fraction | int = len(given) * self.nothing + (places - len(given)) * self.idle
        elif (item := response // 2) not in given:
            total = places * self.other
        else:
            plus, minus = answers(given[item])
            own, opposite = (minus, plus) if response % 2 else (plus, minus)
            total = own * self.same + opposite * self.turned + (places - 1) * self.other
        return Fraction(total) / (places * self.total)

    @cached_property
    def certificate(self) -> Certificate:
        """A response and two rows that attain the parity: an item with a sign, or nothing."""
        return max((self._of_item, self._of_nothing), key=self._ratio)

    def _ratio(self, each: Certificate) -> exact.Ratio:
        return exact.ratio(self.probability(each.response, each.likely), self.probability(each.response, each.unlikely))

    @property
    def _of_item(self) -> Certificate:
        rows = [dict[int, Fraction](), {0: Fraction(1)}, {0: Fraction(-1)}]
        ordered = sorted(rows, key=lambda row: self.probability(0, row))
        return Certificate(0, ordered[-1], ordered[0])

    @property
    def _of_nothing(self) -> Certificate:
        ends = [
            slots.extreme([(self.nothing, self.items)], self.idle, self.padding, largest=largest)
            for largest in (True, False)
        ]
        most, least = ({item: Fraction(1) for item in range(taken)} for _, (taken,) in ends)
        return Certificate(2 * self.items, most, least)

    @property
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of the key without its sign, for one item each, and of the sign."""
        rows = ((self.same + self.turned, 2 * self.other), (self.idle, self.nothing))
        return max(exact.ratio(max(row), min(row)) for row in rows), sign_parity(self.symbol)

    def draw(self, given: Row, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a response to a row."""
        item = slots.drawn_item(given, self.padding, source)
        answer = weights.rounded(None if item is None else given[item], source)
        position = chance.below(self.total, source)
        if item is None:
            return 2 * self.items if position < self.idle else (position - self.idle) // self.other
        own = 2 * item + (answer != PLUS)
        if position < self.same + self.turned:
            return own if position < self.same else own ^ 1
        position -= self.same + self.turned
        if position < self.nothing:
            return 2 * self.items
        number = (position - self.nothing) // self.other
        return number if number < 2 * item else number + 2

    def cells(self, response: int) -> list[tuple[int, int]]:
        """Return the item that is sent, with its symbol; nothing for nothing."""
        return [(response // 2, 1 + response % 2)] if response < 2 * self.items else []

    def text(self, response: int, names: Callable[[int], str]) -> str:
        """Write a response: its mark, then the item; a bare 0 for nothing."""
        return MARKS[0] if response == 2 * self.items else f"{MARKS[1 + response % 2]} {names(response // 2)}"

    def number(self, text: str, numbers: Callable[[str], int]) -> int:
        """Read a response."""
        if text == MARKS[0]:
            return 2 * self.items
        if text[:2] not in ("+ ", "- "):
            raise ValueError
        return 2 * numbers(text[2:]) + (text[0] == "-")

    def to_body(self) -> dict[str, Any]:
        """Return the scheme for JSON."""
        return {"kind": self.KIND, "padding": self.padding, **{name: str(getattr(self, name)) for name in _FIELDS}}

    @classmethod
    def from_body(cls, items: int, body: Mapping[str, Any]) -> Direct:
        """Read what `to_body` wrote."""
        padding, same, turned, other, total = (wire.whole(body, name) for name in ("padding", *_FIELDS))
        return cls(items, padding, same, turned, other, total)
