"""What every key-value scheme can tell, exactly: how a person's row of weights becomes one response."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeAlias

from deniable import chance, exact
from deniable.channel import Dense
from deniable.errors import InvalidDesign
from deniable.keyvalue.weights import MINUS, NONE, PLUS

Row: TypeAlias = Mapping[int, Fraction]
"""Somebody's items by number with their weights from −1 to 1; an item that is not named is not there."""

MARKS = "0+-"
"""How the symbols none, + and − are written in a response."""


class Certificate(NamedTuple):
    """Where the parity is attained: this response is the most lopsided between these two rows."""

    response: int
    likely: dict[int, Fraction]
    unlikely: dict[int, Fraction]


class Scheme(ABC):
    """P(response | row) in exact numbers, for all rows of weights over a number of items.

    What a response says about one item is one of few symbols, and `symbol` is the channel behind it: from no edge, +1
    and −1 to these symbols. All estimates rest on it.

    Attributes:
        items: how many items there are.
        symbol: the channel of one item; its answers are none, + and −.
    """

    KIND: ClassVar[str]
    one_each: ClassVar[bool]  # whether a response is about one item, drawn evenly, or says something about every item
    items: int
    symbol: Dense

    @property
    @abstractmethod
    def multiplier(self) -> int:
        """How often an edge counts, so that estimates are not too low: one over the chance that it is looked at."""

    @property
    @abstractmethod
    def responses(self) -> int:
        """How many responses there are."""

    @property
    def marks(self) -> str:
        """How the symbols of one item are written, in the order of the channel's responses."""
        return MARKS if self.symbol.responses == 3 else MARKS[1:]

    @abstractmethod
    def probability(self, response: int, given: Row) -> Fraction:
        """Return the exact probability of a response given a row."""

    @property
    @abstractmethod
    def certificate(self) -> Certificate:
        """A response and two rows that attain the parity."""

    @property
    def parity(self) -> exact.Ratio:
        """The largest ratio of the probabilities of one response given two rows; ε is its logarithm."""
        response, likely, unlikely = self.certificate
        return exact.ratio(self.probability(response, likely), self.probability(response, unlikely))

    @property
    @abstractmethod
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of its two devices on their own: the one for the key, and the one for the value."""

    @abstractmethod
    def draw(self, given: Row, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a response to a row."""

    @abstractmethod
    def cells(self, response: int) -> list[tuple[int, int]]:
        """Return which item and symbol a response tells of; of an item that is not named it tells none."""

    @abstractmethod
    def text(self, response: int, names: Callable[[int], str]) -> str:
        """Write a response."""

    @abstractmethod
    def number(self, text: str, numbers: Callable[[str], int]) -> int:
        """Read a response; raises ValueError where it is none."""

    @abstractmethod
    def to_body(self) -> dict[str, Any]:
        """Return the scheme for JSON."""


def answers(weight: Fraction) -> tuple[Fraction, Fraction]:
    """Return how probably a weight is rounded to + and to −."""
    return (1 + weight) / 2, (1 - weight) / 2


def of_weight(symbol: Dense, response: int, weight: Fraction | None) -> Fraction:
    """Return the probability of an item's symbol given its weight, None for no edge."""
    if weight is None:
        return symbol.probability(response, given=NONE)
    plus, minus = answers(weight)
    return plus * symbol.probability(response, given=PLUS) + minus * symbol.probability(response, given=MINUS)


def check_symbol(symbol: Dense, *, even: bool) -> None:
    """Refuse a channel that is not about no edge, + and −.

    Args:
        symbol: the channel.
        even: whether + and − must be mirror images, and none must say nothing about the sign.

    Raises:
        InvalidDesign: another shape.
    """
    if symbol.answers != 3 or symbol.responses not in (2, 3) or (even and symbol.responses != 3):
        raise InvalidDesign(
            f"the channel of an item has {symbol.answers} answers and {symbol.responses} responses; expected the "
            "answers none, + and −, and as many responses or only + and −."
        )
    if even:
        (none, lost, gone), (stray, kept, turned), (other, wrong, right) = symbol.weights
        if lost != gone or stray != other or kept != right or turned != wrong:
            raise InvalidDesign("the channel of an item treats + and − differently; expected mirror images.")
        if 0 in (none, stray):
            raise InvalidDesign("some response never comes without an edge; expected every response to stay possible.")


def sign_parity(symbol: Dense) -> exact.Ratio:
    """Return the parity of the sign alone: how an edge of +1 and one of −1 differ where a sign is sent."""
    plus, minus = symbol.weights[-2], symbol.weights[-1]
    pairs = ((plus[PLUS], plus[MINUS]), (minus[PLUS], minus[MINUS]))
    return max(exact.ratio(max(pair), min(pair)) for pair in pairs)
