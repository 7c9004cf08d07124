"""A design: labels around an exact channel, carrying its own guarantee."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from deniable import channel as channels
from deniable import documents, exact
from deniable.channel import Channel, Product
from deniable.channel.product import join
from deniable.designs import labels
from deniable.designs.labels import (
    Bitstrings,
    Combinations,
    LabelIndex,
    Numbered,
    Texts,
)
from deniable.designs.registry import FAMILIES
from deniable.documents import HashedDocument
from deniable.errors import (
    InvalidAnswer,
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
    quoted,
)
from deniable.exact import Ratio
from deniable.rendering import Rendered, formats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimates.covariances import Matrix
    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.tallies import Tally
    from deniable.types.categories import count as _count
    from deniable.types.categories import draw as _draw
    from deniable.types.categories import respond as _respond

# combinations that a tally counts one by one: twenty yes-or-no items
_MAX_COMBINATIONS = 1 << 20


class Factor(NamedTuple):
    """One of several attributes: what it is called, and the design it is asked with."""

    attribute: str
    design: Design


class AnyDesign(Rendered, HashedDocument):
    """Base of all designs: a hash, the type of question, and a representation in sheets.

    Attributes:
        asks: the type of question; `deniable.types.FOLDERS` lists them all.
        answer_form: how a column holds answers: "labels", "text", "numbers", or "weights" by item.
        accepts_codes: whether an answer may be the whole number of a category.
        keeps_order: whether responses stand in the order of the answers.
        is_streamed: whether an engine draws column after column with a design that it prepares once.
        is_numbered: whether a column of responses is read one by one, with `response_number`.
        has_stages: whether there is a column of responses for each stage.
        is_dealt: whether all people get their device at once, so that nobody draws alone and no group is counted apart.
        needs_attributes: whether answers are always one column for each attribute.
        required: what `respond` cannot do without, with the problem and the hint of the error that asks for it.
    """

    asks: ClassVar[str]
    answer_form: ClassVar[str] = "labels"
    accepts_codes: ClassVar[bool] = False
    keeps_order: ClassVar[bool] = True
    is_streamed: ClassVar[bool] = False
    is_numbered: ClassVar[bool] = False
    has_stages: ClassVar[bool] = False
    is_dealt: ClassVar[bool] = False
    needs_attributes: ClassVar[bool] = False
    required: ClassVar[Mapping[str, tuple[str, str]]] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of its `Responses`."""
        return ("response",)

    @property
    def answer_columns(self) -> tuple[str, ...]:
        """Names of the attributes, if the answers to each stand in a column of their own; empty for one column."""
        return ()

    def device_of(self, column: str) -> AnyDesign:  # noqa: ARG002 - stages have a design for each column
        """Return the design with which the responses of a column were drawn."""
        return self

    @abstractmethod
    def symbols_in(self, column: str, rows: NDArray[Any]) -> Sequence[object]:
        """Return the symbol, or the other value, in each row of a column of `Responses`."""


@dataclass(frozen=True, eq=False)
class Design(AnyDesign):
    """A randomized-response mechanism: labels around an exact channel.

    Everything about privacy is derived from the channel, whose integer weights are those that are drawn with.

    Attributes:
        name: the family it was built by.
        categories: what a respondent may truly be.
        symbols: what a respondent may send.
        channel: the exact probabilities, by number.
        factors: the attributes of a design for several, in order; empty for a design for one.
    """

    SCHEMA: ClassVar[str] = "design"
    asks: ClassVar[str] = "categories"
    accepts_codes: ClassVar[bool] = True
    is_streamed: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...]] = ("response",)
    name: str
    categories: Sequence[str]
    symbols: Sequence[str]
    channel: Channel
    factors: tuple[Factor, ...] = ()

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond
        respond_all = _draw.respond_all
        tally = _count.tally

        def count_sent(
            self, *, threads: int = 1, fast: bool | None = None
        ) -> Tally: ...
        def estimate_sampled(
            self,
            *,
            sampling: Sampling,
            denominator: object = None,
            inverse: Sequence[Sequence[float]] | Matrix | None = None,
            domain: object = None,
            by: object = None,
        ) -> SampledEstimate: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", labels.read(self.categories))
        object.__setattr__(
            self, "symbols", labels.read(self.symbols, name="symbols")
        )
        for name, size, expected in (
            ("categories", labels.size(self.categories), self.channel.answers),
            ("symbols", labels.size(self.symbols), self.channel.responses),
        ):
            if size != expected:
                raise InvalidDesign(
                    f"there are {exact.text(size)} {name}; expected {exact.text(expected)}, as the channel has."
                )
        if self.factors and (
            self.categories,
            self.symbols,
            self.channel,
        ) != _combine_factors(self.factors):
            raise InvalidDesign(
                "the labels and the channel are not those of the factors side by side."
            )

    @classmethod
    def of_factors(cls, name: str, factors: Sequence[Factor]) -> Design:
        """Build a design for several attributes; each draws independently of the others.

        Raises:
            InvalidDesign: fewer than two, attributes of one name, or a design for several attributes among them.
        """
        return cls(name, *_combine_factors(factors), factors=tuple(factors))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes; empty for a single one."""
        return tuple(factor.attribute for factor in self.factors)

    @property
    def answer_columns(self) -> tuple[str, ...]:
        return self.attributes

    def part(self, *attributes: str) -> Design:
        """Return the design of one attribute, or of several together in the order named.

        It tells what the responses to these attributes reveal about them: its ε, Bayes factors and channel.

        Raises:
            InvalidRequest: an attribute that this design does not have, or one twice.

        Example:
            >>> from deniable.designs import k_ary, product, warner
            >>> both = product({"smokes": warner(p="3/4"), "age": k_ary(["young", "old"], p="2/3")})
            >>> both.part("age").categories, both.part("smokes").parity, both.parity
            (('young', 'old'), Fraction(3, 1), Fraction(6, 1))
        """
        factors_by_attribute = {factor.attribute: factor for factor in self.factors}
        if (
            not attributes
            or len(set(attributes)) < len(attributes)
            or not set(attributes) <= set(factors_by_attribute)
        ):
            requested_text = ", ".join(quoted(attribute) for attribute in attributes)
            expected_text = (
                labels.format_labels(self.attributes)
                if factors_by_attribute
                else "none: this design is for one attribute"
            )
            raise InvalidRequest(
                f"the attributes are {requested_text or 'missing'}; expected some of {expected_text}, each once."
            )
        if len(attributes) == 1:
            return factors_by_attribute[attributes[0]].design
        return Design.of_factors(
            self.name, [factors_by_attribute[attribute] for attribute in attributes]
        )

    @property
    def parity(self) -> Ratio:
        """The largest factor by which a response can change the odds between two answers, exactly."""
        return self.channel.parity

    @cached_property
    def epsilon(self) -> float:
        """The smallest ε at which this design is locally private, rounded up."""
        return exact.log_above(self.parity)

    def within(
        self, epsilon: exact.Rational | None, delta: Fraction = Fraction(0)
    ) -> Design:
        """Return this design, if it reveals no more than was asked for; compared exactly, after all rounding.

        Args:
            epsilon: what was asked for; None where the design was asked for by its probabilities.
            delta: what was asked for beside it.

        Raises:
            InvalidDesign: weights of 64 bits cannot keep that promise.
        """
        if epsilon is None:
            return self
        gamma = exact.exp_below(exact.non_negative_epsilon(epsilon))
        if (self.channel.delta(gamma) if delta else self.parity - gamma) > delta:
            raise InvalidDesign(
                f"with {len(self.categories):,} categories this ε is too fine for weights of 2^64; expected a larger "
                "one, or fewer categories."
            )
        return self

    @property
    def caveat(self) -> str:
        """Assumption of the guarantee besides the channel, as a sentence; empty for most families."""
        if self.factors:
            caveats = [
                f"{attribute!r}: {design.caveat}"
                for attribute, design in self.factors
                if design.caveat
            ]
            return " ".join(caveats)
        return FAMILIES[self.name].caveat if self.name in FAMILIES else ""

    def delta(self, epsilon: exact.Rational) -> float:
        """Return the smallest δ at which this design is (ε, δ)-private, rounded up.

        Example:
            >>> from deniable.designs import k_ary
            >>> design = k_ary(5, epsilon=1)
            >>> design.delta(design.epsilon), design.delta(1.01)
            (0.0, 0.0)
        """
        return exact.float_above(
            self.channel.delta(exact.exp_below(exact.non_negative_epsilon(epsilon)))
        )

    def probability(self, symbol: str, *, given: str) -> Fraction:
        """Return the exact probability of a symbol given an answer."""
        return self.channel.probability(
            self.symbol_number(symbol), given=self.category_number(given)
        )

    def bayes_factors(self, symbol: str, category: str) -> tuple[Ratio, Ratio]:
        """Return the smallest and the largest Bayes factor of a response for an answer against another.

        Example:
            >>> from deniable.designs import binary
            >>> binary("9/10", "7/10").bayes_factors("yes", "yes")
            (Fraction(7, 1), Fraction(7, 1))
        """
        return self.channel.bayes_factors(
            self.symbol_number(symbol), self.category_number(category)
        )

    def category_number(self, category: str | Mapping[str, str]) -> int:
        """Return the number of a category; with several attributes also of an answer to each, by attribute.

        Raises:
            InvalidAnswer: not one of this design's; the message does not repeat it.
        """
        if self.factors and isinstance(category, Mapping):
            if set(category) != set(self.attributes):
                raise InvalidAnswer(
                    f"expected an answer to each of {labels.format_labels(self.attributes)}, and to no other."
                )
            numbers = [
                design.category_number(category[attribute])
                for attribute, design in self.factors
            ]
            return join(
                numbers, [design.channel.answers for _, design in self.factors]
            )
        number = self._category_places.find(category)
        if number is None:
            raise InvalidAnswer(
                f"this answer is not one of the design's; expected one of {labels.format_labels(self.categories)}."
            )
        return number

    def symbol_number(self, symbol: str) -> int:
        """Return the number of a symbol.

        Raises:
            InvalidResponse: not one of this design's.
        """
        number = self._symbol_places.find(symbol)
        if number is None:
            raise InvalidResponse(
                f"{quoted(symbol)} is not a response of this design; expected one of "
                f"{labels.format_labels(self.symbols)}."
            )
        return number

    def symbols_in(self, column: str, rows: NDArray[Any]) -> list[str]:  # noqa: ARG002 - there is one column
        return [self.symbols[number] for number in self.channel.coding.unpack(rows)]

    def by_attribute(self, rows: NDArray[Any]) -> dict[str, list[object]]:
        """Return the responses by attribute, one column for each."""
        columns: dict[str, list[object]] = {}
        quotients = rows.astype("int64")
        for attribute, design in reversed(self.factors):
            quotients, codes = divmod(quotients, design.channel.responses)
            columns[attribute] = [design.symbols[code] for code in codes.tolist()]
        return dict(reversed(columns.items()))

    @cached_property
    def _category_places(self) -> LabelIndex:
        return LabelIndex(self.categories)

    @cached_property
    def _symbol_places(self) -> LabelIndex:
        return LabelIndex(self.symbols)

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Design:
        name = documents.field(body, "name", str)
        if "factors" in body:
            factors = [
                Factor(
                    documents.field(entry, "attribute", str),
                    cls.from_body(documents.field(entry, "design", dict)),
                )
                for entry in documents.entries(body, "factors", "factor", dict)
            ]
            return cls.of_factors(name, factors)
        if "range" in body:  # its categories are levels of numbers
            from deniable.designs.numbers import NumberDesign

            return NumberDesign.from_body(body)
        return cls(
            name=name,
            categories=read_labels(body, "categories"),
            symbols=read_labels(body, "symbols"),
            channel=channels.from_body(documents.field(body, "channel", dict)),
        )

    def to_body(self) -> dict[str, Any]:
        if self.factors:  # all else follows from them
            factor_bodies = [
                {"attribute": attribute, "design": design.to_body()}
                for attribute, design in self.factors
            ]
            return {"name": self.name, "factors": factor_bodies}
        return {
            "name": self.name,
            "categories": _write_labels(self.categories),
            "symbols": _write_labels(self.symbols),
            "channel": self.channel.to_body(),
        }

    def __repr__(self) -> str:
        certain = (
            ", some response proves something" if self.parity == math.inf else ""
        )
        categories = labels.format_labels(self.categories, max_shown=5)
        return f"{self.name}({categories}; ε = {formats.epsilon(self.epsilon)}{certain})"


@dataclass(frozen=True, eq=False, repr=False)
class FieldedDesign(Design):
    """A design of another type as an exact channel, which pages draw with and collectors count by.

    Its file, its hash and its responses are those of that design.

    Attributes:
        about: that design.
        caveat: what its guarantee rests on besides the channel.
        attributes: what is answered one by one, where the categories are combinations.
        pictured: the design whose odds stand for those of the whole in a picture; None where none does.
    """

    _: KW_ONLY
    about: AnyDesign
    caveat: str = ""
    attributes: tuple[str, ...] = ()
    pictured: Design | None = None

    @property
    def hash(self) -> str:
        """The content hash of the design that is fielded."""
        return self.about.hash

    def to_body(self) -> dict[str, Any]:
        return self.about.to_body()

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the design that is fielded as JSON."""
        return self.about.to_json(indent=indent)

    def category_number(self, category: str | Mapping[str, str]) -> int:
        """Return the number of a category, or of an answer to each attribute.

        Raises:
            InvalidAnswer: not one of this design's; the message does not repeat it.
        """
        if isinstance(self.categories, Texts):
            return self._text_number(self.categories, category)
        if not isinstance(category, Mapping):
            return super().category_number(category)
        if set(category) != set(self.attributes):
            raise InvalidAnswer(
                f"expected an answer to each of {labels.format_labels(self.attributes)}, and to no other."
            )
        answers = [category[attribute] for attribute in self.attributes]
        return super().category_number(labels.SEPARATOR.join(answers))

    def _text_number(self, texts: Texts, text: object) -> int:
        number = texts.find(text) if isinstance(text, str) else None
        if number is None:
            raise InvalidAnswer(
                f"this answer is no text of up to {texts.n_bytes} bytes; expected one."
            )
        return number

    def __repr__(self) -> str:
        return repr(self.about)


def _combine_factors(
    factors: Sequence[Factor],
) -> tuple[Combinations, Combinations, Product]:
    """Return categories, symbols and channel of several designs side by side."""
    if len(factors) < 2:
        raise InvalidDesign(
            f"there are {len(factors)} attributes; expected at least 2."
        )
    labels.read([factor.attribute for factor in factors], name="attributes")
    designs = [factor.design for factor in factors]
    if any(design.factors for design in designs):
        raise InvalidDesign(
            "one of the designs is itself for several attributes; expected a design for each single attribute.",
            "Name all attributes side by side in one product().",
        )
    categories = Combinations([design.categories for design in designs])
    symbols = Combinations([design.symbols for design in designs])
    for name, label_list in (("categories", categories), ("symbols", symbols)):
        if label_list.size > _MAX_COMBINATIONS:
            number = (
                f"{label_list.size:,}"
                if label_list.size < 10**18
                else "more than 10^18"
            )
            raise InvalidDesign(
                f"there are {number} combinations of {name}; expected at most {_MAX_COMBINATIONS:,}.",
                "Respond to each question with its own design instead, or to fewer of them together.",
            )
    return categories, symbols, Product(tuple(design.channel for design in designs))


def _write_labels(label_list: Sequence[str]) -> int | dict[str, int] | list[str]:
    if isinstance(label_list, Bitstrings):
        return {"bits": label_list.n_bits}
    return len(label_list) if isinstance(label_list, Numbered) else list(label_list)


def read_labels(body: Mapping[str, Any], name: str) -> Sequence[str]:
    """Deserialize labels.

    Raises:
        UnreadableFile: labels that no design can have.
    """
    entry = documents.field(body, name, int, list, dict)
    try:
        if isinstance(entry, dict):
            return Bitstrings(documents.integer_field(entry, "bits"))
        return labels.read(entry, name=name)
    except InvalidDesign as error:
        raise UnreadableFile(error.problem, error.hint) from None
