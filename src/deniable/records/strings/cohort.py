"""A string design as one respondent has it, within a cohort: what a ledger keeps and releases in stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from deniable import chance, documents, exact
from deniable.channel import Bits, Channel
from deniable.designs import Bitstrings
from deniable.documents import HashedDocument, Response
from deniable.errors import InvalidRequest
from deniable.order.bits import Bit, BitByBit, bit_garbling, draw_bits
from deniable.order.closed_forms import FORMS
from deniable.order.ladders import Ladder
from deniable.order.steps import Step
from deniable.records.strings.bloom import Bloom
from deniable.records.strings.designs import StringDesign, StringResponse, relax_strings

__all__ = ["CohortDesign", "Filter", "FilterStep", "string_ladder"]


@dataclass(frozen=True)
class Filter(Bits):
    """Independent bits of which any may be truly 1: an answer is the number that its bits write."""

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Randomize the bits of a filter."""
        return draw_bits(self.size, Bit.of(self), given, source)

    def probability(self, response: int, *, given: int) -> Fraction:
        """Return the probability of bits, given those of the filter."""
        hit, stray = Bit.of(self)
        ones, zeros = given.bit_count(), self.size - given.bit_count()
        kept, gained = (response & given).bit_count(), (response & ~given).bit_count()
        found = hit**kept * (1 - hit) ** (ones - kept) * stray**gained * (1 - stray) ** (zeros - gained)
        return Fraction(found)


@dataclass(frozen=True)
class FilterStep(BitByBit):
    """A relaxation bit by bit, whichever bits are truly 1."""

    def upgrade(self, old: int, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Upgrade every bit; the answer is the number that the true bits write."""
        return self.upgrade_bits(old, given, source)


@dataclass(frozen=True, eq=False)
class CohortDesign(HashedDocument):
    """A string design within a cohort, as a stage of a ledger. The answer is a string.

    Attributes:
        design: for all cohorts.
        cohort: the respondent's.

    Example:
        >>> from deniable.records.strings.designs import string_design
        >>> mine = CohortDesign(string_design(Bloom(128), epsilon=4), cohort=7)
        >>> mine.epsilon, mine.categories
        (4.0, (Bloom(bits=128, hashes=1, cohorts=64), 7))
    """

    SCHEMA: ClassVar[str] = "cohort-design"
    design: StringDesign
    cohort: int

    def __post_init__(self) -> None:
        if not 0 <= self.cohort < self.design.bloom.cohorts:
            raise InvalidRequest(f"there is no cohort {self.cohort}; expected 0 to {self.design.bloom.cohorts - 1}.")

    @property
    def channel(self) -> Filter:
        """How the bits of a filter are randomized."""
        bits = self.design.channel
        return Filter(bits.size, bits.hit, bits.stray, bits.total)

    @property
    def categories(self) -> tuple[Bloom, int]:
        """What strings become: stages of one question have it in common."""
        return self.design.bloom, self.cohort

    @property
    def symbols(self) -> Bitstrings:
        """What bits are called."""
        return Bitstrings(self.design.bloom.bits)

    @property
    def parity(self) -> exact.Ratio:
        """The parity of a whole response, exactly."""
        return self.design.parity

    @property
    def epsilon(self) -> float:
        """The ε of a whole response, rounded up."""
        return self.design.epsilon

    def category_number(self, answer: str | Mapping[str, str]) -> int:
        """Return the number that the bits of a string write.

        Raises:
            InvalidAnswer: no text. The message does not repeat it.
        """
        return self.design.bloom.filter(answer, self.cohort)  # type: ignore[arg-type]  # refused if it is no text

    def counted(self, response: Response) -> StringResponse:
        """Return a response of a ledger as one that is counted, with its cohort."""
        return StringResponse.of(self.design, self.cohort, self.symbols.index(response.symbol))

    def to_body(self) -> dict[str, Any]:
        return {"design": self.design.to_body(), "cohort": self.cohort}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> CohortDesign:
        return cls(StringDesign.from_body(documents.field(body, "design", dict)), documents.whole(body, "cohort"))


def string_ladder(designs: Iterable[StringDesign], cohort: int) -> Ladder:
    """Return the ladder of string designs within a cohort, for a planned question of a ledger.

    Raises:
        NotOrdered: a stage that cannot follow the one before.
        Incompatible: the filters differ.

    Example:
        >>> from deniable.records.strings.designs import string_design
        >>> len(string_ladder([string_design(Bloom(128), epsilon) for epsilon in (1, 2, 4)], cohort=7))
        3
    """
    stages = tuple(CohortDesign(design, cohort) for design in designs)
    for one, two in pairwise(stages):
        relax_strings(one.design, two.design)
    steps = tuple(FilterStep(one.channel, two.channel) for one, two in pairwise(stages))
    return Ladder(stages, steps)  # type: ignore[arg-type]  # they have all that a ladder asks of designs


def _filters(old: Channel, new: Channel) -> Step | None:
    assert isinstance(old, Filter)
    assert isinstance(new, Filter)
    return FilterStep(old, new) if bit_garbling(Bit.of(old), Bit.of(new)) else None


FORMS[Filter, Filter] = _filters
