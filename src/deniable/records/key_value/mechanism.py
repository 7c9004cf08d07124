"""A key-value design: item names around an exact scheme, carrying its own guarantee."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable import documents, exact
from deniable.designs import labels
from deniable.designs.labels import Labels, Numbered, Places
from deniable.documents import HashedDocument
from deniable.errors import InvalidAnswer, InvalidDesign, InvalidResponse, UnreadableFile
from deniable.records.key_value import weights
from deniable.records.key_value.schemes import Direct, Index, Row, Scheme, Unary
from deniable.records.key_value.weights import Weight

KINDS: dict[str, Callable[[int, Mapping[str, Any]], Scheme]] = {
    "index": Index.from_body,
    "unary": Unary.from_body,
    "direct": Direct.from_body,
}


def read_items(items: Labels) -> Sequence[str]:
    """Read the names of items, or how many there are; one alone is enough.

    Raises:
        InvalidDesign: none, names that repeat, or no names at all.
    """
    if isinstance(items, int) and not isinstance(items, bool) and items == 1:
        return (Numbered(1)[0],)
    if isinstance(items, Sequence) and not isinstance(items, str) and len(items) == 1:
        labels.read([items[0], "a" if items[0] != "a" else "b"], name="items")
        return (items[0],)
    return labels.read(items, name="items")


@dataclass(frozen=True, eq=False)
class KeyValueDesign(HashedDocument):
    """Which items somebody has, and with which weights, turned into one response.

    Everything about privacy is derived from the scheme, whose integer weights are those that are drawn with. ε is that
    of the whole row: all of somebody's items and weights at once.

    Attributes:
        name: the function it was built by.
        items: what people may have.
        scheme: the exact probabilities, by number.
        low: the smallest weight there can be.
        high: the largest weight there can be.
    """

    SCHEMA: ClassVar[str] = "keyvalue-design"
    asks: ClassVar[str] = "key-value"
    name: str
    items: Sequence[str]
    scheme: Scheme
    low: Fraction = Fraction(-1)
    high: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", read_items(self.items))
        if len(self.items) != self.scheme.items:
            raise InvalidDesign(
                f"there are {len(self.items):,} items; expected {self.scheme.items:,}, as in the scheme."
            )
        low, high = weights.read_scale(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def parity(self) -> exact.Ratio:
        """The largest factor by which a response can change the odds between two rows, exactly."""
        return self.scheme.parity

    @cached_property
    def epsilon(self) -> float:
        """The smallest ε at which this design is locally private, rounded up."""
        return exact.log_above(self.parity)

    @property
    def sequential(self) -> float:
        """The ε that sequential composition would charge for the same two devices, key and value, rounded up."""
        key, value = self.scheme.parts
        return exact.log_above(key) + exact.log_above(value)

    @property
    def saving(self) -> float:
        """How much of the ε that sequential composition charges is never spent."""
        return self.sequential - self.epsilon

    def row(self, answer: Mapping[str, Weight]) -> Row:
        """Return somebody's row by number, with weights between −1 and 1.

        Raises:
            InvalidAnswer: an item that is not known, or a weight that does not fit; the message repeats neither.
        """
        if not isinstance(answer, Mapping):
            raise InvalidAnswer(f"an answer is a mapping from items to weights; a {type(answer).__name__} was given.")
        return {self.item_number(item): weights.read(weight, self.low, self.high) for item, weight in answer.items()}

    def item_number(self, item: str) -> int:
        """Return the number of an item.

        Raises:
            InvalidAnswer: not one of this design's; the message does not repeat it.
        """
        number = self._places.find(item)
        if number is None:
            raise InvalidAnswer(f"an item is not one of the design's; expected some of {labels.shown(self.items)}.")
        return number

    @cached_property
    def _places(self) -> Places:
        return Places(self.items)

    def symbol(self, response: int) -> str:
        """Write a response, given its number."""
        return self.scheme.text(response, self.items.__getitem__)

    def response_number(self, symbol: str) -> int:
        """Return the number of a response.

        Raises:
            InvalidResponse: not one that this design sends.
        """
        try:
            if isinstance(symbol, str):
                return self.scheme.number(symbol, self._known)
        except ValueError:
            pass
        raise InvalidResponse(
            f"{symbol!r:.40} is not a response of this design; expected one such as {self.symbol(0)!r:.60}."
        )

    def _known(self, item: str) -> int:
        number = self._places.find(item)
        if number is None:
            raise ValueError
        return number

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> KeyValueDesign:
        items = _read_names(body)
        scheme = documents.field(body, "scheme", dict)
        kind = documents.field(scheme, "kind", str)
        if kind not in KINDS:
            raise UnreadableFile(f"the scheme is of kind {kind!r:.40}; expected one of {sorted(KINDS)}.")
        ends = [exact.rational(documents.field(body, name, str), name=name) for name in ("low", "high")]
        return cls(documents.field(body, "name", str), items, KINDS[kind](len(items), scheme), *ends)

    def to_body(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "items": len(self.items) if isinstance(self.items, Numbered) else list(self.items),
            "low": str(self.low),
            "high": str(self.high),
            "scheme": self.scheme.to_body(),
        }

    def __repr__(self) -> str:
        return f"{self.name}({labels.shown(self.items, most=5)}; ε = {self.epsilon:.6g})"


def _read_names(body: Mapping[str, Any]) -> Sequence[str]:
    given = documents.field(body, "items", int, list)
    try:
        return read_items(given)
    except InvalidDesign as error:
        raise UnreadableFile(error.problem, error.hint) from None
