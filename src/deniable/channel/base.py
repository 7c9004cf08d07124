"""Base class of channels: exact probabilities P(response | answer), privacy queries and serialization.

A kind of channel brings `answers`, `responses`, `probability` and `draw`, and names its fields for JSON. All else has a
default that writes the channel out or asks response by response: right for every kind, and slow for large ones. A kind
that knows a closed form overrides the default.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

from deniable import chance, documents, exact
from deniable.errors import InvalidDesign
from deniable.exact import Ratio

if TYPE_CHECKING:
    from deniable.channel.coding import Coding
    from deniable.channel.dense import Dense
    from deniable.channel.patterns import Patterns
    from deniable.channel.product import Product
    from deniable.channel.sets import Bits, Sets
    from deniable.channel.support import Matrix
    from deniable.channel.two_level import TwoLevel


_MAX_BITS = 13_000  # 3,914 digits: what `documents.integer_field` reads back
_MAX_CELLS = 10_000_000  # exact numbers that are written out: about a gigabyte


class Witness(NamedTuple):
    """Response and pair of answers at which the parity is attained."""

    response: int
    likely: int
    unlikely: int


MergedRows: TypeAlias = Sequence[tuple[tuple[int, ...], set[Fraction]]]
"""Responses that say the same, and the different values of their row, up to a common factor."""


class Channel(ABC):
    """P(response | answer) in exact numbers; answers and responses are numbered from 0.

    A channel may be far too large to write out, so a response is a number below `responses` and everything is
    asked by number. Channels are values: equal ones compare equal.

    Attributes:
        KIND: what the kind is called in files.
        SIZES: fields that a file holds as numbers.
        WEIGHTS: fields that a file holds as decimal text, because they may have any number of digits.
    """

    KIND: ClassVar[str]
    SIZES: ClassVar[tuple[str, ...]] = ()
    WEIGHTS: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def answers(self) -> int:
        """Number of answers."""

    @property
    @abstractmethod
    def responses(self) -> int:
        """Number of responses."""

    @abstractmethod
    def probability(self, response: int, *, given: int) -> Fraction:
        """Return the exact probability of a response given an answer."""

    @abstractmethod
    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a response to an answer, with exactly the probabilities of this channel."""

    def extremes(
        self, response: int, *, besides: int | None = None
    ) -> tuple[Fraction, Fraction]:
        """Return the largest and the smallest probability of a response over all answers (besides one)."""
        row = [
            self.probability(response, given=answer)
            for answer in range(self.answers)
            if answer != besides
        ]
        return max(row), min(row)

    @property
    def witness(self) -> Witness:
        """A response and a pair of answers that attain the parity."""
        return self._cached_dense.witness

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the smallest δ with P(S | x) ≤ γ·P(S | x′) + δ for all answers and sets S; γ ≥ 1."""
        return self._cached_dense.delta(gamma)

    def possible(self, response: int) -> bool:
        """Whether a response is one that a tally counts; some kinds number more responses than they send."""
        return 0 <= response < self.responses

    has_long_codes: ClassVar[bool] = False
    """Whether there may be more responses than integers of an array can tell apart."""

    exchangeable: ClassVar[bool] = False
    """Whether responses are the answers, and nothing changes when any two of them change places."""

    @property
    def sizes(self) -> Sequence[int]:
        """The sizes of the sets of categories that can be sent, rising; none where responses are no sets."""
        return ()

    @property
    def by_size(self) -> bool:
        """Whether a tally counts each size of set apart; otherwise it counts how often each category was in."""
        return False

    @property
    def two_level(self) -> TwoLevel | None:
        """This channel, where each response has two probabilities: for answers that it supports, and for others."""
        return None

    @cached_property
    def set_valued(self) -> Sets | None:
        """This channel, where responses are sets of categories."""
        return None

    @property
    def patterned(self) -> Patterns | None:
        """This channel, where responses deal the categories to levels."""
        return None

    @property
    def bitwise(self) -> Bits | None:
        """This channel, where a response has an independent bit for each category."""
        return None

    @property
    def set_size(self) -> int:
        """Number of categories in each response where it is constant; 0 otherwise."""
        return 0

    @cached_property
    def product(self) -> Product | None:
        """This channel, where it consists of independent factors."""
        return None

    def as_sets(self) -> Channel:
        """Return a channel that sends single categories as one that sends sets of one; any other as it is."""
        return self

    def uniform(self) -> Channel:
        """Return the channel that sends each of these responses equally often, whatever the answer."""
        from deniable.channel.two_level import Diagonal

        return Diagonal(self.responses, 1, 1)

    def has_supports_of(self, other: Channel) -> bool:  # noqa: ARG002 - unknown of most kinds
        """Return whether another channel has the same responses, of two levels each, that support the same answers."""
        return False

    def merged_rows(self, max_written: int) -> MergedRows | None:  # noqa: ARG002 - for kinds that are large
        """Return the responses that say the same, with the different values of their merged row up to a factor.

        Where responses are alike but for the names of the answers, the first one stands for all of them. None where the
        channel has to be written out.

        Args:
            max_written: cells that may be written out.
        """
        return None

    @property
    def separations(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Probabilities of the responses that favour one of two answers, given that answer and given the other.

        An entry for each likelihood ratio, the same for any two answers. Empty where no closed form is known.
        """
        return ()

    @property
    def cells(self) -> int:
        """Number of counts in a tally: one per response, unless a few sums are sufficient for the estimates."""
        return self.responses

    def cells_of(self, response: int) -> Iterable[int]:
        """Return the cells of the tally that a response counts in."""
        return (response,)

    @cached_property
    def own_cells(self) -> bool:
        """Whether each response has a cell of the tally to itself, numbered as the response is."""
        return type(self).cells_of is Channel.cells_of

    @property
    def coding(self) -> Coding:
        """Encoding of responses in the rows of an array: integer codes by default."""
        from deniable.channel.coding import Coding, LongCodes

        return LongCodes(self) if self.has_long_codes else Coding(self)

    def to_body(self) -> dict[str, Any]:
        """Return the channel for JSON, weights as decimal text."""
        sizes = {name: getattr(self, name) for name in self.SIZES}
        return {
            "kind": self.KIND,
            **sizes,
            **{name: str(getattr(self, name)) for name in self.WEIGHTS},
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Deserialize what `to_body` wrote."""
        return cls(
            *(
                documents.integer_field(body, name)
                for name in (*cls.SIZES, *cls.WEIGHTS)
            )
        )

    @property
    def parity(self) -> Ratio:
        """The largest ratio of the probabilities of one response given two answers; ε is its logarithm."""
        response, likely, unlikely = self.witness
        return exact.ratio(
            self.probability(response, given=likely),
            self.probability(response, given=unlikely),
        )

    def bayes_factors(self, response: int, answer: int) -> tuple[Ratio, Ratio]:
        """Return the smallest and the largest Bayes factor of a response for an answer against another.

        For two answers both are the Bayes factor of the response. The odds against any mixture of the other
        answers move by a factor between the two.
        """
        largest, smallest = self.extremes(response, besides=answer)
        p_answer = self.probability(response, given=answer)
        return exact.ratio(p_answer, largest), exact.ratio(p_answer, smallest)

    def dense(self) -> Dense:
        """Write the channel out.

        Raises:
            InvalidDesign: more than ten million cells.
        """
        from deniable.channel.dense import Dense

        if self.answers * self.responses > _MAX_CELLS:
            raise InvalidDesign(
                f"this channel has {exact.text(self.responses)} × {self.answers:,} cells; "
                "expected at most 10 million to write out.",
                "Ask it for single probabilities, or use fewer categories.",
            )
        return Dense.from_rows(
            [
                [self.probability(i, given=j) for j in range(self.answers)]
                for i in range(self.responses)
            ]
        )

    @cached_property
    def _cached_dense(self) -> Dense:
        return self.dense()

    def floats(self) -> Matrix:
        """Return the probabilities as floats, each rounded once: responses × answers.

        Raises:
            InvalidDesign: too many cells to write out.
        """
        from deniable.channel.support import dense_floats

        return dense_floats(self._cached_dense)

    def __matmul__(self, first: Channel) -> Channel:
        """Compose: `C @ P` sends the response of P through C. Post-processing never raises the parity."""
        if self.answers != first.responses:
            raise InvalidDesign(
                f"cannot send {exact.text(first.responses)} responses through a channel for {self.answers} answers; "
                "expected equal numbers."
            )
        return self.dense().after(first.dense())


def lowest_terms(channel: Channel, *names: str) -> None:
    """Divide the weights of a frozen channel by what they have in common, so that equal channels compare equal."""
    common = math.gcd(*(getattr(channel, name) for name in names))
    for name in names:
        object.__setattr__(channel, name, getattr(channel, name) // common)


def check_total(total: int) -> None:
    """Refuse a total of weights that is not positive, or too long to be written to a file.

    Raises:
        InvalidDesign: below 1, or above 2^13,000.
    """
    if total < 1:
        raise InvalidDesign(
            "the weights of a column add up to 0; expected a positive total."
        )
    if total.bit_length() > _MAX_BITS:
        raise InvalidDesign(
            f"the probabilities have a common denominator of {total.bit_length():,} bits; "
            f"expected at most {_MAX_BITS:,}.",
            "Write them with fewer digits, or with denominators that have more in common.",
        )


def check_gamma(gamma: Fraction) -> None:
    """Refuse a γ below 1, for which δ is not defined.

    Raises:
        InvalidDesign: γ < 1.
    """
    if not 1 <= gamma < math.inf:
        raise InvalidDesign(f"γ = e^ε is {gamma}; expected at least 1.")
