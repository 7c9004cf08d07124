"""One item for each respondent, drawn evenly and named; what is sent about it goes through a small channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable import chance, exact, wire
from deniable.channel import Dense
from deniable.errors import InvalidDesign
from deniable.keyvalue import weights
from deniable.keyvalue.scheme import Certificate, Row, Scheme, check_symbol, of_weight, sign_parity
from deniable.keyvalue.weights import MINUS, NONE, PLUS

_ROWS: dict[int, dict[int, Fraction]] = {NONE: {}, PLUS: {0: Fraction(1)}, MINUS: {0: Fraction(-1)}}


@dataclass(frozen=True)
class Index(Scheme):
    """LPP and its kin: an item is drawn evenly, and its symbol sent along with its name.

    The draw: `below(items)` names the item. Its weight w is rounded to + if `happens((1 + w)/2)`, and one word is not
    looked at where there is no edge. The rounded weight goes through `symbol`.

    Why its parity is that of `symbol`: the item does not depend on the row, and a weight between −1 and 1 is a mixture
    of the two ends.
    """

    KIND: ClassVar[str] = "index"
    one_each: ClassVar[bool] = True
    items: int
    symbol: Dense

    def __post_init__(self) -> None:
        check_symbol(self.symbol, even=False)
        if self.items < 1:
            raise InvalidDesign("there are no items; expected at least one.")

    @property
    def multiplier(self) -> int:
        """The number of items: each is looked at in one of so many responses."""
        return self.items

    @property
    def responses(self) -> int:
        """How many responses there are."""
        return self.items * self.symbol.responses

    def probability(self, response: int, given: Row) -> Fraction:
        """Return the exact probability of a response given a row."""
        item, sent = divmod(response, self.symbol.responses)
        return of_weight(self.symbol, sent, given.get(item)) / self.items

    @cached_property
    def certificate(self) -> Certificate:
        """A response and two rows that attain the parity."""
        sent, likely, unlikely = self.symbol.witness
        return Certificate(sent, _ROWS[likely], _ROWS[unlikely])

    @property
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of whether there is an edge, taken alone, and of the sign where there is one."""
        return presence_parity(self.symbol), sign_parity(self.symbol)

    def draw(self, given: Row, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a response to a row."""
        item = chance.below(self.items, source)
        answer = weights.rounded(given.get(item), source)
        return item * self.symbol.responses + self.symbol.draw(answer, source)

    def cells(self, response: int) -> list[tuple[int, int]]:
        """Return the item and its symbol."""
        return [divmod(response, self.symbol.responses)]

    def text(self, response: int, names: Callable[[int], str]) -> str:
        """Write a response: its mark, then the item."""
        item, sent = divmod(response, self.symbol.responses)
        return f"{self.marks[sent]} {names(item)}"

    def number(self, text: str, numbers: Callable[[str], int]) -> int:
        """Read a response."""
        mark, gap, name = text[:1], text[1:2], text[2:]
        if gap != " ":
            raise ValueError
        return numbers(name) * self.symbol.responses + self.marks.index(mark or "?")

    def to_body(self) -> dict[str, Any]:
        """Return the scheme for JSON."""
        return {"kind": self.KIND, "symbol": self.symbol.to_body()}

    @classmethod
    def from_body(cls, items: int, body: Mapping[str, Any]) -> Index:
        """Read what `to_body` wrote."""
        return cls(items, read_symbol(body))


def presence_parity(symbol: Dense) -> exact.Ratio:
    """Return the parity of a response that tells only whether it is none."""
    if symbol.responses == 2:
        return Fraction(1)
    none = symbol.weights[0]
    some = [symbol.total - weight for weight in none]
    return max(exact.ratio(max(row), min(row)) for row in (none, some))


def read_symbol(body: Mapping[str, Any]) -> Dense:
    """Read the channel of an item from the body of a scheme."""
    return Dense.from_body(wire.field(body, "symbol", dict), _no_channels)


def _no_channels(body: Mapping[str, Any]) -> Dense:  # pragma: no cover - a table holds no channels
    raise AssertionError(body)
