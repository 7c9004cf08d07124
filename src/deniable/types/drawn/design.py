"""Step 1: several attributes with a design for each, of which a respondent answers as many as are drawn."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from deniable import chance, documents, exact
from deniable.channel import Channel
from deniable.channel.product import join, mixed_radix_digits
from deniable.designs import AnyDesign, Design, Purpose, labels
from deniable.designs.design import Factor
from deniable.errors import InvalidDesign, InvalidRequest, InvalidResponse, quoted
from deniable.rendering import formats

if TYPE_CHECKING:
    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.types.drawn import count as _count
    from deniable.types.drawn import draw as _draw
    from deniable.types.drawn import respond as _respond
    from deniable.types.drawn.count import DrawnTally

__all__ = [
    "BUILDERS",
    "DESIGN",
    "DrawnChannel",
    "DrawnDesign",
    "Hand",
    "drawn_items",
    "known_answers",
]

NAMED = ": "
"""What stands between an attribute and the symbol that was sent about it."""

_MOST_RESPONSES = 1 << 20  # that a tally counts one by one


class Hand(NamedTuple):
    """Attributes that are drawn together.

    Attributes:
        factors: the attributes, in the order of the design.
        start: the number of the first response about them; the others follow, the last attribute fastest.
    """

    factors: tuple[Factor, ...]
    start: int

    @property
    def attributes(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(factor.attribute for factor in self.factors)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many responses there are to each."""
        return tuple(factor.design.channel.responses for factor in self.factors)

    @property
    def responses(self) -> int:
        """How many responses there are to all of them together."""
        return math.prod(self.sizes)


@dataclass(frozen=True, eq=False)
class DrawnDesign(AnyDesign):
    """Attributes with a design for each, and how many of them a respondent answers.

    Which ones is drawn evenly, whatever the answers are, and sent along. Nothing is drawn or sent about the others.

    Guarantee: every response about some attributes has the probability of that hand, which is the same for all answers,
    times those of the attributes' own designs. So ε is the largest sum of the ε of so many attributes: with one drawn,
    the largest ε of all.

    Attributes:
        factors: the attributes, each with its design.
        each: how many of them are drawn for each respondent.
    """

    SCHEMA: ClassVar[str] = "drawn-design"
    asks: ClassVar[str] = "drawn items"
    accepts_codes: ClassVar[bool] = True
    is_numbered: ClassVar[bool] = True
    needs_attributes: ClassVar[bool] = True

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond
        respond_all = _draw.respond_all
        tally = _count.tally

        def count_sent(self) -> DrawnTally: ...
        def estimate_sampled(
            self,
            *,
            sampling: Sampling,
            denominator: object = None,
            domain: object = None,
            by: object = None,
        ) -> SampledEstimate: ...

    factors: tuple[Factor, ...]
    each: int = 1

    def __post_init__(self) -> None:
        names = labels.read(
            [factor.attribute for factor in self.factors], name="attributes"
        )
        if any(NAMED in name or labels.SEPARATOR in f" {name} " for name in names):
            raise InvalidDesign(
                f"an attribute's name holds {NAMED!r} or {labels.SEPARATOR!r}, which separate what is sent; expected "
                "other names."
            )
        if any(factor.design.factors for factor in self.factors):
            raise InvalidDesign(
                "one of the designs is itself for several attributes; expected a design for each single attribute."
            )
        if type(self.each) is not int or not 1 <= self.each < len(names):
            raise InvalidDesign(
                f"{exact.text(self.each)} of {len(names)} attributes are drawn for each; expected a whole number from "
                f"1 to {len(names) - 1}.",
                "Where everybody answers everything, use product().",
            )
        if self.each > 1:
            # refuses what holds the separator
            labels.Combinations([factor.design.symbols for factor in self.factors])
        if self.responses > _MOST_RESPONSES:
            raise InvalidDesign(
                f"there are {exact.text(self.responses)} responses; expected at most {_MOST_RESPONSES:,}.",
                "Draw fewer attributes for each respondent, or give them designs with fewer responses.",
            )

    @property
    def attributes(self) -> tuple[str, ...]:
        """What the attributes are called."""
        return tuple(factor.attribute for factor in self.factors)

    @property
    def answer_columns(self) -> tuple[str, ...]:
        return self.attributes

    @property
    def responses(self) -> int:
        """How many different responses there are, to all hands: the elementary symmetric polynomial of their sizes."""
        sums = [1] + [0] * self.each
        for factor in self.factors:
            for drawn in range(self.each, 0, -1):
                sums[drawn] += sums[drawn - 1] * factor.design.channel.responses
        return sums[-1]

    @cached_property
    def hands(self) -> tuple[Hand, ...]:
        """All that can be drawn together, in the order in which they are numbered: that of the attributes."""
        found, start = [], 0
        for factors in combinations(self.factors, self.each):
            found.append(Hand(factors, start))
            start += found[-1].responses
        return tuple(found)

    def draw_hand(self, source: chance.Source = chance.SYSTEM) -> Hand:
        """Draw what a respondent is asked: each hand equally likely."""
        drawn = chance.pick(len(self.factors), self.each, source)
        return self._by_attributes[tuple(self.factors[at].attribute for at in drawn)]

    def part(self, *attributes: str) -> Design:
        """Return the design of one attribute, or of several that can be drawn together, in the order named.

        Raises:
            InvalidRequest: an attribute that this design does not have, one twice, or more than are drawn together.
        """
        named = {factor.attribute: factor for factor in self.factors}
        if (
            not attributes
            or len(set(attributes)) < len(attributes)
            or not set(attributes) <= set(named)
        ):
            given = ", ".join(quoted(each) for each in attributes)
            raise InvalidRequest(
                f"the attributes are {given or 'missing'}; expected some of {labels.format_labels(self.attributes)}, "
                "each once."
            )
        if len(attributes) > self.each:
            raise InvalidRequest(
                f"nobody was asked about {len(attributes)} attributes together, and how they hang together cannot be "
                f"known; expected {self.each}, as many as are drawn for each.",
                f"Draw {len(attributes)} for each respondent next time, drawn_items(…, each={len(attributes)}), or ask "
                "everybody everything with product(); both have to share ε among what is asked.",
            )
        if len(attributes) == 1:
            return named[attributes[0]].design
        return Design.of_factors("product", [named[each] for each in attributes])

    @property
    def parity(self) -> exact.Ratio:
        """The largest factor by which a response can change the odds between two combinations of answers, exactly."""
        largest = sorted(
            (factor.design.parity for factor in self.factors), reverse=True
        )[: self.each]
        return (
            math.inf
            if math.inf in largest
            else math.prod((Fraction(one) for one in largest), start=Fraction(1))
        )

    @cached_property
    def epsilon(self) -> float:
        """The smallest ε at which this design is locally private, rounded up."""
        return exact.log_above(self.parity)

    @property
    def caveat(self) -> str:
        """What the guarantee rests on besides the probabilities; empty for most."""
        return " ".join(
            f"{name!r}: {design.caveat}"
            for name, design in self.factors
            if design.caveat
        )

    def hand_of(self, response: int) -> Hand:
        """Return what the respondent was asked who sent a response, by its number."""
        return self.hands[bisect_right(self._starts, response) - 1]

    def symbol(self, response: int) -> str:
        """Return how a response is written, by its number.

        Example:
            >>> from deniable.designs import warner
            >>> drawn_items({"smokes": warner(1), "drinks": warner(1)}).symbol(3)
            'drinks: yes'
        """
        hand = self.hand_of(response)
        digits = mixed_radix_digits(response - hand.start, hand.sizes)
        sent = zip(hand.factors, digits, strict=True)
        return labels.SEPARATOR.join(
            f"{name}{NAMED}{design.symbols[digit]}" for (name, design), digit in sent
        )

    def response_number(self, symbol: str) -> int:
        """Return the number of a response.

        Raises:
            InvalidResponse: not one that this design sends.
        """
        pieces = (
            symbol.split(labels.SEPARATOR, self.each - 1)
            if isinstance(symbol, str)
            else []
        )
        pairs = [piece.partition(NAMED) for piece in pieces]
        hand = self._by_attributes.get(tuple(name for name, _, _ in pairs))
        if hand is None:
            raise InvalidResponse(
                f"{quoted(symbol)} is not a response of this design; expected one such as {self.symbol(0)!r}."
            )
        digits = [
            factor.design.symbol_number(sent)
            for factor, (_, _, sent) in zip(hand.factors, pairs, strict=True)
        ]
        return hand.start + join(digits, hand.sizes)

    def symbols_in(self, column: str, rows: Any) -> list[str]:  # noqa: ARG002 - there is one column
        return [self.symbol(number) for number in rows.tolist()]

    def by_attribute(self, rows: Any) -> dict[str, list[object]]:
        """Return what each row says about each attribute; None where it was not drawn."""
        found: dict[str, list[object]] = {
            attribute: [] for attribute in self.attributes
        }
        for number in rows.tolist():
            hand = self.hand_of(number)
            digits = dict(
                zip(
                    hand.attributes,
                    mixed_radix_digits(number - hand.start, hand.sizes),
                    strict=True,
                )
            )
            for attribute, design in self.factors:
                found[attribute].append(
                    design.symbols[digits[attribute]]
                    if attribute in digits
                    else None
                )
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [hand.start for hand in self.hands]

    @cached_property
    def _by_attributes(self) -> dict[tuple[str, ...], Hand]:
        return {hand.attributes: hand for hand in self.hands}

    def to_body(self) -> dict[str, Any]:
        parts = [
            {"attribute": attribute, "design": design.to_body()}
            for attribute, design in self.factors
        ]
        return {"factors": parts, "each": self.each}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> DrawnDesign:
        parts = [
            documents.field({"factor": each}, "factor", dict)
            for each in documents.field(body, "factors", list)
        ]
        named = [
            (
                documents.field(each, "attribute", str),
                documents.field(each, "design", dict),
            )
            for each in parts
        ]
        factors = tuple(
            Factor(attribute, Design.from_body(each)) for attribute, each in named
        )
        return cls(factors, documents.integer_field(body, "each"))

    def __repr__(self) -> str:
        return (
            f"drawn_items({labels.format_labels(self.attributes, max_shown=5)}; {self.each} for each, "
            f"ε = {formats.epsilon(self.epsilon)})"
        )


@dataclass(frozen=True)
class DrawnChannel(Channel):
    """The response to a combination of answers to all attributes, the last one fastest.

    The draw: `pick` draws the attributes; each of them draws in turn, the first one first.
    """

    KIND: ClassVar[str] = "drawn"
    design: DrawnDesign

    @cached_property
    def sizes_of_answers(self) -> tuple[int, ...]:
        """How many answers there are to each attribute."""
        return tuple(part.channel.answers for _, part in self.design.factors)

    @property
    def answers(self) -> int:
        return math.prod(self.sizes_of_answers)

    @property
    def responses(self) -> int:
        return self.design.responses

    @property
    def parity(self) -> exact.Ratio:
        return self.design.parity

    def probability(self, response: int, *, given: int) -> Fraction:
        hand = self.design.hand_of(response)
        digits = self._digits(given)
        sent = mixed_radix_digits(response - hand.start, hand.sizes)
        return exact.product(
            part.channel.probability(symbol, given=digits[attribute])
            for (attribute, part), symbol in zip(hand.factors, sent, strict=True)
        ) / len(self.design.hands)

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        hand, digits = self.design.draw_hand(source), self._digits(given)
        sent = [
            part.channel.draw(digits[attribute], source)
            for attribute, part in hand.factors
        ]
        return hand.start + join(sent, hand.sizes)

    def _digits(self, given: int) -> dict[str, int]:
        """Return the number of the answer to each attribute."""
        digits = mixed_radix_digits(given, self.sizes_of_answers)
        return dict(zip(self.design.attributes, digits, strict=True))


def drawn_items(
    designs: Sequence[Design] | Mapping[str, Design], *, each: int = 1
) -> DrawnDesign:
    """Ask every respondent about one of several attributes, drawn at random, with all of ε; or about a few.

    Where the share of each attribute is wanted, few people asked with all of ε tell more than all people asked with a
    part of it: see `docs/theory/drawn-items.md`. How two attributes hang together is told only where both are drawn for
    the same person: `each=2` or more, with designs that have their part of ε. `deniable.plan.optimal_items` compares.

    Guarantee: which attributes are drawn does not depend on the answers, and nothing is sent about the others; so ε is
    the sum of the `each` largest ε of the designs, whatever is believed about how the attributes hang together.

    Args:
        designs: a design for each attribute, by name or in order; in a list they are called "1", "2" and so on.
        each: how many attributes are drawn for each respondent.

    Raises:
        InvalidDesign: fewer than two attributes, two of one name, as many drawn as there are, or more than 2^20
            responses.

    Example:
        >>> from deniable.designs import warner
        >>> asked = drawn_items({"smokes": warner(2), "drinks": warner(2), "votes": warner(1)})
        >>> asked.epsilon, asked.responses
        (2.0, 6)
    """
    given = designs if isinstance(designs, Iterable) else ()
    if not isinstance(given, Mapping):
        given = {str(number): design for number, design in enumerate(given, start=1)}
    if not all(isinstance(design, Design) for design in given.values()):
        raise InvalidDesign(
            "the attributes have something else than designs; expected a design for each.",
            'For example drawn_items({"smokes": warner(1), "age": k_ary(5, 1)}).',
        )
    return DrawnDesign(
        tuple(Factor(attribute, design) for attribute, design in given.items()), each
    )


DESIGN = DrawnDesign
"""The design class of this type."""


def known_answers(design: DrawnDesign) -> Iterator[dict[str, str]]:
    """Yield all answers: an answer to each attribute."""
    attributes = [
        [(name, category) for category in part.categories]
        for name, part in design.factors
    ]
    return (dict(pairs) for pairs in product(*attributes))


BUILDERS = {drawn_items: Purpose.ATTRIBUTES}
"""What the shell builds designs of this type with, and under which purpose lists show it."""
