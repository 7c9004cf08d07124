"""How a row of items with weights becomes a response: weights are rounded to a sign, schemes draw."""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import (
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    TypeAlias,
    TypeVar,
)

from deniable import chance, documents, exact
from deniable.channel import Channel, Dense
from deniable.channel.base import check_total
from deniable.channel.product import mixed_radix_digits
from deniable.designs.labels import weight_error
from deniable.errors import DeniableError, InvalidDesign, quoted

Weight: TypeAlias = exact.Rational

NONE, PLUS, MINUS = 0, 1, 2
"""What is true of one item once its weight is rounded: no edge, an edge of +1, an edge of −1."""

GRID = 1 << 63
"""A float is read as the nearest multiple of 1/GRID; from 2^-10 up every float is such a multiple."""

# ends whose squares, and weights between which, floats still tell apart
_FARTHEST, _FINEST = 10**100, 10**6


def read_scale(low: Weight, high: Weight) -> tuple[Fraction, Fraction]:
    """Read the smallest and the largest weight there can be.

    Raises:
        InvalidDesign: they are not in this order, or so large or so close together that floats between them blur.
    """
    ends = exact.rational(low, name="low"), exact.rational(high, name="high")
    if not ends[0] < ends[1]:
        raise InvalidDesign(
            f"low is {exact.text(low)} and high is {exact.text(high)}; expected low < high."
        )
    if (
        max(map(abs, ends)) > _FARTHEST
        or ends[1] - ends[0] < max(map(abs, ends)) / _FINEST
    ):
        raise InvalidDesign(
            f"low is {exact.text(low)} and high is {exact.text(high)}; expected ends that floats tell well apart.",
            "Shift the weights, or measure them in another unit.",
        )
    return ends


def read_weight(
    weight: Weight, low: Fraction = Fraction(-1), high: Fraction = Fraction(1)
) -> Fraction:
    """Return a weight between low and high as an exact number between −1 and 1.

    Text, fractions and decimals are scaled exactly. A float or an integer is scaled in floating point, as bulk draws
    do it, and then is the number that it holds, on a grid of 2^-63.

    Raises:
        InvalidAnswer: not a number between low and high; the message does not repeat it.

    Example:
        >>> read_weight("1/3"), read_weight(4, Fraction(1), Fraction(5))
        (Fraction(1, 3), Fraction(1, 2))
    """
    plain = isinstance(weight, numbers.Real) and not isinstance(
        weight, Fraction | bool
    )
    try:
        if plain:
            scaled = _scale_weight(float(weight), low, high)
        else:
            scaled = (2 * exact.rational(weight) - low - high) / (high - low)
    except (DeniableError, OverflowError, ValueError):
        raise weight_error(low, high) from None
    if not -1 <= scaled <= 1:
        raise weight_error(low, high)
    return scaled


def _scale_weight(weight: float, low: Fraction, high: Fraction) -> Fraction:
    bottom, top = float(low), float(high)
    if not bottom <= weight <= top:
        raise ValueError
    if (bottom, top) != (-1.0, 1.0):
        weight = min(1.0, max(-1.0, (2 * weight - (bottom + top)) / (top - bottom)))
    return Fraction(round(Fraction(weight) * GRID), GRID)


def round_weight(
    weight: Fraction | None, source: chance.Source = chance.SYSTEM
) -> int:
    """Draw +1 with probability (1 + weight)/2, else −1; nothing for no edge, which takes a word all the same.

    Why: then the rounded weight has the weight as its mean, exactly. One word decides whatever the weight is, but once
    in 2^64 draws, so that how much randomness is taken tells nothing about it.
    """
    if weight is None:
        chance.spare(1, source)
        return NONE
    return PLUS if chance.happens((1 + weight) / 2, source) else MINUS


Row: TypeAlias = Mapping[int, Fraction]
"""Somebody's items by number with their weights from −1 to 1; an item that is not named is not there."""

MARKS = "0+-"
"""How the symbols none, + and − are written in a response."""


class RowWitness(NamedTuple):
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
    # whether a response is about one item, drawn evenly, or says something about every item
    one_each: ClassVar[bool]
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
    def witness(self) -> RowWitness:
        """A response and two rows that attain the parity."""

    @property
    def parity(self) -> exact.Ratio:
        """The largest ratio of the probabilities of one response given two rows; ε is its logarithm."""
        response, likely, unlikely = self.witness
        return exact.ratio(
            self.probability(response, likely), self.probability(response, unlikely)
        )

    @property
    @abstractmethod
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of its two devices on their own: the one for the key, and the one for the value."""

    @abstractmethod
    def draw_response(
        self, given: Row, source: chance.Source = chance.SYSTEM
    ) -> int:
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
    return plus * symbol.probability(
        response, given=PLUS
    ) + minus * symbol.probability(response, given=MINUS)


def check_symbol(symbol: Dense, *, even: bool) -> None:
    """Refuse a channel that is not about no edge, + and −.

    Args:
        symbol: the channel.
        even: whether + and − must be mirror images, and none must say nothing about the sign.

    Raises:
        InvalidDesign: another shape.
    """
    if (
        symbol.answers != 3
        or symbol.responses not in (2, 3)
        or (even and symbol.responses != 3)
    ):
        raise InvalidDesign(
            f"the channel of an item has {symbol.answers} answers and {symbol.responses} responses; expected the "
            "answers none, + and −, and as many responses or only + and −."
        )
    if even:
        (none, lost, gone), (stray, same, turned), (stray_minus, wrong, right) = (
            symbol.weights
        )
        if lost != gone or stray != stray_minus or same != right or turned != wrong:
            raise InvalidDesign(
                "the channel of an item treats + and − differently; expected mirror images."
            )
        if 0 in (none, stray):
            raise InvalidDesign(
                "some response never comes without an edge; expected every response to stay possible."
            )


def sign_parity(symbol: Dense) -> exact.Ratio:
    """Return the parity of the sign alone: how an edge of +1 and one of −1 differ where a sign is sent."""
    plus, minus = symbol.weights[-2], symbol.weights[-1]
    pairs = ((plus[PLUS], plus[MINUS]), (minus[PLUS], minus[MINUS]))
    return max(exact.ratio(max(pair), min(pair)) for pair in pairs)


Number = TypeVar("Number", int, float)


class FilledPlaces(NamedTuple, Generic[Number]):
    """Places filled: the sum of their values, and how many items of each kind stand in them."""

    total: Number
    taken: tuple[int, ...]


def extreme(
    kinds: Sequence[tuple[Number, int]], empty: Number, places: int, *, largest: bool
) -> FilledPlaces[Number]:
    """Return ℓ times the largest (or smallest) average that any choice of items can reach, and the choice.

    Args:
        kinds: for kinds of items the probability that one of the kind gives the response, and how many there are.
        empty: the probability that an empty place gives it; there are as many as one likes.
        places: ℓ.
        largest: whether the largest is wanted.

    Why: with at most ℓ items the average of ℓ places is largest for the ℓ largest values; a further item would only
    add a smaller value to an average.

    Example:
        >>> extreme([(2, 5), (9, 1)], 3, 2, largest=True), extreme([(2, 5), (9, 1)], 3, 2, largest=False)
        (FilledPlaces(total=12, taken=(0, 1)), FilledPlaces(total=4, taken=(2, 0)))
    """
    total, left, taken = empty * 0, places, [0] * len(kinds)
    for kind in sorted(
        range(len(kinds)), key=lambda kind: kinds[kind][0], reverse=largest
    ):
        value, count = kinds[kind]
        if value <= empty if largest else value >= empty:
            break
        taken[kind] = min(left, count)
        total += taken[kind] * value
        left -= taken[kind]
    return FilledPlaces(total + left * empty, tuple(taken))


_MAX_PADDING = 10_000  # places: rows that attain a parity fill so many


def check_padding(items: int, padding: int) -> None:
    """Refuse a number of places that does not fit the number of items.

    Raises:
        InvalidDesign: fewer than one, or more than there are items.
    """
    if (
        isinstance(padding, bool)
        or not isinstance(padding, int)
        or not 1 <= padding <= min(items, _MAX_PADDING)
    ):
        raise InvalidDesign(
            f"padding is {quoted(padding)}; expected a whole number from 1 to {items:,}, the number of items, and at "
            f"most {_MAX_PADDING:,}.",
            "Choose it with plan.padding(): few places cut off those who have more, many add noise for all.",
        )


_ROWS: dict[int, dict[int, Fraction]] = {
    NONE: {},
    PLUS: {0: Fraction(1)},
    MINUS: {0: Fraction(-1)},
}


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
        return self.items

    @property
    def responses(self) -> int:
        return self.items * self.symbol.responses

    def probability(self, response: int, given: Row) -> Fraction:
        item, sent = divmod(response, self.symbol.responses)
        return of_weight(self.symbol, sent, given.get(item)) / self.items

    @cached_property
    def witness(self) -> RowWitness:
        response, likely, unlikely = self.symbol.witness
        return RowWitness(response, _ROWS[likely], _ROWS[unlikely])

    @property
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of whether there is an edge, taken alone, and of the sign where there is one."""
        return presence_parity(self.symbol), sign_parity(self.symbol)

    def draw_response(
        self, given: Row, source: chance.Source = chance.SYSTEM
    ) -> int:
        item = chance.below(self.items, source)
        answer = round_weight(given.get(item), source)
        return item * self.symbol.responses + self.symbol.draw(answer, source)

    def cells(self, response: int) -> list[tuple[int, int]]:
        return [divmod(response, self.symbol.responses)]

    def text(self, response: int, names: Callable[[int], str]) -> str:
        """Write a response: its mark, then the item."""
        item, sent = divmod(response, self.symbol.responses)
        return f"{self.marks[sent]} {names(item)}"

    def number(self, text: str, numbers: Callable[[str], int]) -> int:
        mark, gap, name = text[:1], text[1:2], text[2:]
        if gap != " ":
            raise ValueError
        return numbers(name) * self.symbol.responses + self.marks.index(mark or "?")

    def to_body(self) -> dict[str, Any]:
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
    signs = [symbol.total - weight for weight in none]
    return max(exact.ratio(max(row), min(row)) for row in (none, signs))


def read_symbol(body: Mapping[str, Any]) -> Dense:
    """Read the channel of an item from the body of a scheme."""
    return Dense.from_body(documents.field(body, "symbol", dict))


class Padded(Scheme):
    """Schemes that pad somebody's items to ℓ places, draw one of them, and say something about every item.

    Attributes:
        padding: ℓ.
        marked: how many items the response marks at which the parity is attained.
    """

    one_each: ClassVar[bool] = False
    padding: int
    marked: int

    @property
    def multiplier(self) -> int:
        return self.padding

    def draw_item(self, given: Row, source: chance.Source) -> tuple[int | None, int]:
        """Draw a slot, and round the weight of the item in it; None for an empty slot."""
        items = sorted(given)
        slot = chance.below(max(len(items), self.padding), source)
        item = items[slot] if slot < len(items) else None
        return item, round_weight(None if item is None else given[item], source)


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
class Unary(Padded):
    """PCKV-UE: padding to ℓ places, one of them drawn, and a vector with a symbol for every item.

    The draw: `below(max(s, ℓ))` draws a place of somebody with s items; its weight is rounded as in `Index`, with one
    word that is not looked at for an empty place. Then every item in turn goes through `symbol`, the drawn one with its
    sign and all others as none.

    Why its parity is exact: given what stands in the drawn place, the probability of a vector is that of a vector for
    an empty place times one factor, which depends on the symbol of that item alone; `extreme` averages them, and
    only the number of items marked + or − matters.
    """

    KIND: ClassVar[str] = "unary"
    items: int
    padding: int
    symbol: Dense

    def __post_init__(self) -> None:
        check_symbol(self.symbol, even=True)
        check_padding(self.items, self.padding)

    @property
    def responses(self) -> int:
        return int(3**self.items)

    @property
    def levels(self) -> Levels[int]:
        """The factors by which items multiply the probability of a vector."""
        (none, lost, _), (stray, same, turned), _ = self.symbol.weights
        return Levels(
            none * stray,
            lost * stray,
            max(same, turned) * none,
            min(same, turned) * none,
        )

    def probability(self, response: int, given: Row) -> Fraction:
        symbols = self.vector(response)
        symbol = self.symbol
        base = math.prod(symbol.probability(one, given=NONE) for one in symbols)
        factors = (
            of_weight(symbol, symbols[item], weight)
            / symbol.probability(symbols[item], given=NONE)
            for item, weight in given.items()
        )
        places = max(len(given), self.padding)
        return base * (sum(factors, Fraction(0)) + places - len(given)) / places

    @cached_property
    def parity(self) -> exact.Ratio:
        """The largest ratio of the probabilities of one vector given two rows.

        Why it is not worked out from the witness: what all rows have in common, a product over all items, cancels.
        """
        return max(map(self._ratio, marks(self.items, self.padding)))

    def _ratio(self, marked: int) -> exact.Ratio:
        most, least = extremes(self.levels, self.items, self.padding, marked)
        return exact.ratio(most.total, least.total)

    @cached_property
    def marked(self) -> int:  # type: ignore[override]  # worked out here
        """How many items the vector marks at which the parity is attained."""
        return max(marks(self.items, self.padding), key=self._ratio)

    @cached_property
    def witness(self) -> RowWitness:
        """A vector and two rows that attain the parity; only how many items are marked needs to be tried."""
        best = self.marked
        most, least = extremes(self.levels, self.items, self.padding, best)
        same, turned = self.symbol.weights[PLUS][1:]
        sign = Fraction(1 if same >= turned else -1)
        return RowWitness(
            (3**best - 1) // 2,
            _row(most.taken, best, sign),
            _row(least.taken, best, -sign),
        )

    @property
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of a vector of keys without signs, for one item each, and of the sign."""
        sign = sign_parity(self.symbol)
        if self.items == 1:
            return presence_parity(self.symbol), sign
        (none, lost, _), (stray, same, turned), _ = self.symbol.weights
        ratio = exact.ratio((same + turned) * none, 2 * stray * lost)
        return max(ratio, 1 / ratio) if ratio else math.inf, sign

    def draw_response(
        self, given: Row, source: chance.Source = chance.SYSTEM
    ) -> int:
        item, answer = self.draw_item(given, source)
        number = 0
        for position in range(self.items):
            number += (
                self.symbol.draw(answer if position == item else NONE, source)
                * 3**position
            )
        return number

    def vector(self, response: int) -> list[int]:
        """Return the symbol of every item."""
        symbols = []
        for _ in range(self.items):
            response, symbol = divmod(response, 3)
            symbols.append(symbol)
        return symbols

    def cells(self, response: int) -> list[tuple[int, int]]:
        """Return the items that are marked, with their symbols."""
        return [
            (item, symbol)
            for item, symbol in enumerate(self.vector(response))
            if symbol != NONE
        ]

    def text(self, response: int, names: Callable[[int], str]) -> str:  # noqa: ARG002 - items stand in their order
        """Write a vector as a mark for each item."""
        return "".join(self.marks[symbol] for symbol in self.vector(response))

    def number(self, text: str, numbers: Callable[[str], int]) -> int:  # noqa: ARG002 - items stand in their order
        if len(text) != self.items:
            raise ValueError
        return sum(
            self.marks.index(mark) * 3**place for place, mark in enumerate(text)
        )

    def to_body(self) -> dict[str, Any]:
        return {
            "kind": self.KIND,
            "padding": self.padding,
            "symbol": self.symbol.to_body(),
        }

    @classmethod
    def from_body(cls, items: int, body: Mapping[str, Any]) -> Unary:
        """Read what `to_body` wrote."""
        return cls(
            items, documents.integer_field(body, "padding"), read_symbol(body)
        )


def marks(items: int, padding: int) -> tuple[int, ...]:
    """Return the numbers of marked items among which the largest ratio is found.

    Why: between 0, m − ℓ, ℓ and m both the largest and the smallest sum are linear in the number of marked items, and a
    ratio of linear functions is largest at an end. With m ≥ 2ℓ items, ℓ marked ones leave both rows all they can use.
    """
    return (
        (padding,)
        if items >= 2 * padding
        else tuple(sorted({0, items - padding, padding, items}))
    )


def extremes(
    levels: Levels[Number], items: int, padding: int, marked: int
) -> tuple[FilledPlaces[Number], FilledPlaces[Number]]:
    """Return the likeliest and the least likely row for a vector with so many items marked."""
    plain = items - marked
    high = extreme(
        [(levels.high, marked), (levels.unmarked, plain)],
        levels.empty,
        padding,
        largest=True,
    )
    low = extreme(
        [(levels.low, marked), (levels.unmarked, plain)],
        levels.empty,
        padding,
        largest=False,
    )
    return high, low


def _row(
    taken: tuple[int, ...], marked: int, weight: Fraction
) -> dict[int, Fraction]:
    signed, plain = taken
    return dict.fromkeys((*range(signed), *range(marked, marked + plain)), weight)


_FIELDS = ("same", "turned", "other", "total")


@dataclass(frozen=True)
class Direct(Padded):
    """PCKV-GRR: padding to ℓ places, one of them drawn, and one item with a sign sent, or nothing.

    An item with its sign is sent with weight `same` of `total`, with the other sign with `turned`, every item that was
    not drawn, with each sign, with `other`, and nothing with what is left. An empty place sends each item with each
    sign with `other`, else nothing.

    The draw: a place and a rounded weight as in `Unary`; then position = `below(total)`. For an item: same, turned,
    nothing, and then the other items in order, + before −, each take as many positions as their weight. For an empty
    place: nothing first, then all items.
    """

    KIND: ClassVar[str] = "direct"
    items: int
    padding: int
    same: int
    turned: int
    other: int
    total: int

    def __post_init__(self) -> None:
        check_padding(self.items, self.padding)
        check_total(self.total)
        if min(self.same, self.turned, self.other) < 0 or self.other == 0:
            raise InvalidDesign(
                "a weight is negative, or other items are never sent; expected positive weights."
            )
        if min(self.nothing, self.idle) < 0:
            raise InvalidDesign(
                "the weights of a response add up to more than their total; expected at most that."
            )
        common = math.gcd(*(getattr(self, name) for name in _FIELDS))
        for name in _FIELDS:
            object.__setattr__(self, name, getattr(self, name) // common)

    @property
    def nothing(self) -> int:
        """The weight with which an item that was drawn sends nothing."""
        return (
            self.total - self.same - self.turned - 2 * (self.items - 1) * self.other
        )

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
    def responses(self) -> int:
        """How many responses there are: each item with each sign, and nothing as the last one."""
        return 2 * self.items + 1

    def probability(self, response: int, given: Row) -> Fraction:
        places = max(len(given), self.padding)
        if response == 2 * self.items:
            total: Fraction | int = (
                len(given) * self.nothing + (places - len(given)) * self.idle
            )
        elif (item := response // 2) not in given:
            total = places * self.other
        else:
            plus, minus = answers(given[item])
            agreeing, opposite = (minus, plus) if response % 2 else (plus, minus)
            total = (
                agreeing * self.same
                + opposite * self.turned
                + (places - 1) * self.other
            )
        return Fraction(total) / (places * self.total)

    @cached_property
    def witness(self) -> RowWitness:
        """A response and two rows that attain the parity: an item with a sign, or nothing."""
        return max((self._of_item, self._of_nothing), key=self._ratio)

    @property
    def marked(self) -> int:  # type: ignore[override]  # worked out here
        """1 where the parity is attained by an item that is sent, 0 where it is by nothing."""
        return int(self.witness.response < 2 * self.items)

    def _ratio(self, each: RowWitness) -> exact.Ratio:
        return exact.ratio(
            self.probability(each.response, each.likely),
            self.probability(each.response, each.unlikely),
        )

    @property
    def _of_item(self) -> RowWitness:
        rows = [dict[int, Fraction](), {0: Fraction(1)}, {0: Fraction(-1)}]
        ordered = sorted(rows, key=lambda row: self.probability(0, row))
        return RowWitness(0, ordered[-1], ordered[0])

    @property
    def _of_nothing(self) -> RowWitness:
        ends = [
            extreme(
                [(self.nothing, self.items)],
                self.idle,
                self.padding,
                largest=largest,
            )
            for largest in (True, False)
        ]
        most, least = (
            {item: Fraction(1) for item in range(taken)} for _, (taken,) in ends
        )
        return RowWitness(2 * self.items, most, least)

    @property
    def parts(self) -> tuple[exact.Ratio, exact.Ratio]:
        """The parities of the key without its sign, for one item each, and of the sign."""
        rows = ((self.same + self.turned, 2 * self.other), (self.idle, self.nothing))
        return max(exact.ratio(max(row), min(row)) for row in rows), sign_parity(
            self.symbol
        )

    def draw_response(
        self, given: Row, source: chance.Source = chance.SYSTEM
    ) -> int:
        item, answer = self.draw_item(given, source)
        position = chance.below(self.total, source)
        if item is None:
            return (
                2 * self.items
                if position < self.idle
                else (position - self.idle) // self.other
            )
        code = 2 * item + (answer != PLUS)
        if position < self.same + self.turned:
            return code if position < self.same else code ^ 1
        position -= self.same + self.turned
        if position < self.nothing:
            return 2 * self.items
        number = (position - self.nothing) // self.other
        return number if number < 2 * item else number + 2

    def cells(self, response: int) -> list[tuple[int, int]]:
        """Return the item that is sent, with its symbol; nothing for nothing."""
        return (
            [(response // 2, 1 + response % 2)] if response < 2 * self.items else []
        )

    def text(self, response: int, names: Callable[[int], str]) -> str:
        """Write a response: its mark, then the item; a bare 0 for nothing."""
        return (
            MARKS[0]
            if response == 2 * self.items
            else f"{MARKS[1 + response % 2]} {names(response // 2)}"
        )

    def number(self, text: str, numbers: Callable[[str], int]) -> int:
        if text == MARKS[0]:
            return 2 * self.items
        if text[:2] not in ("+ ", "- "):
            raise ValueError
        return 2 * numbers(text[2:]) + (text[0] == "-")

    def to_body(self) -> dict[str, Any]:
        return {
            "kind": self.KIND,
            "padding": self.padding,
            **{name: str(getattr(self, name)) for name in _FIELDS},
        }

    @classmethod
    def from_body(cls, items: int, body: Mapping[str, Any]) -> Direct:
        """Read what `to_body` wrote."""
        padding, same, turned, other, total = (
            documents.integer_field(body, name) for name in ("padding", *_FIELDS)
        )
        return cls(items, padding, same, turned, other, total)


@dataclass(frozen=True)
class ItemsChannel(Channel):
    """The response to a level for each item, the last item fastest; level 0 is that somebody does not have it.

    The draw is that of the scheme.

    Attributes:
        scheme: the exact probabilities.
        weights: the weight of each other level, from −1 to 1.
    """

    KIND: ClassVar[str] = "items"
    has_long_codes: ClassVar[bool] = True
    scheme: Scheme
    weights: tuple[Fraction, ...]

    @property
    def answers(self) -> int:
        return int((1 + len(self.weights)) ** self.scheme.items)

    @property
    def responses(self) -> int:
        return self.scheme.responses

    @property
    def parity(self) -> exact.Ratio:
        return self.scheme.parity

    def probability(self, response: int, *, given: int) -> Fraction:
        return self.scheme.probability(response, self._row(given))

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        return self.scheme.draw_response(self._row(given), source)

    @property
    def cells(self) -> int:
        return (
            2 * self.scheme.items
            if isinstance(self.scheme, Unary)
            else self.responses
        )

    def cells_of(self, response: int) -> tuple[int, ...]:
        """Return the cells of a response: itself; of a vector one for each item that is marked + or −."""
        if not isinstance(self.scheme, Unary):
            return (response,)
        marked = self.scheme.cells(response)
        return tuple(2 * item + symbol - 1 for item, symbol in marked)

    def _row(self, given: int) -> Row:
        sizes = [1 + len(self.weights)] * self.scheme.items
        levels = enumerate(mixed_radix_digits(given, sizes))
        return {item: self.weights[level - 1] for item, level in levels if level}
