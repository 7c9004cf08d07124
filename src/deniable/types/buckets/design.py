"""Step 1: up to 1,024 buckets of a range as a tree; a respondent answers on one of its levels, drawn at random.

A node of the tree has four children. Level l divides the range into 4^l parts of equally many buckets; the last level
has the buckets themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import documents, exact
from deniable.designs import Design, Purpose, Range, k_ary, local_hashing
from deniable.designs.design import Factor
from deniable.errors import InvalidDesign, InvalidRequest, quoted, require_choice
from deniable.exact import Rational
from deniable.rendering import formats
from deniable.types.drawn.design import DrawnDesign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimates.sampling import Sampling
    from deniable.estimates.statistics import Statistic
    from deniable.types.buckets import count as _count
    from deniable.types.buckets import draw as _draw
    from deniable.types.buckets import respond as _respond
    from deniable.types.buckets.count import BucketTally
    from deniable.types.buckets.estimate import BucketQuantiles

__all__ = [
    "BUILDERS",
    "DESIGN",
    "FAN_OUT",
    "BucketDesign",
    "Buckets",
    "bucket_design",
    "known_answers",
]

FAN_OUT = 4
"""Children of a node. With 2 or 16 the variance of a range is up to a quarter larger (T4.1 of the telemetry sheet)."""

COUNTS = (16, 64, 256, 1024)
"""How many buckets there can be."""

SPACINGS = ("linear", "log")
"""How buckets divide a range: into equal lengths, or equal ratios."""


@dataclass(frozen=True)
class Buckets:
    """A range that is divided into buckets.

    Attributes:
        range: where the numbers lie.
        count: the number of buckets.
        spacing: "linear" or "log".
    """

    range: Range
    count: int
    spacing: str = "linear"

    def __post_init__(self) -> None:
        require_choice("the spacing is", self.spacing, SPACINGS)
        if self.count not in COUNTS or isinstance(self.count, bool):
            raise InvalidRequest(
                f"there are {quoted(self.count)} buckets; expected 16, 64, 256 or 1024."
            )
        if self.spacing == "log" and self.range.low <= 0:
            raise InvalidRequest(
                f"the range goes from {self.range.low} to {self.range.high}; expected a low end above 0."
            )
        pairs = zip(self.edges, self.edges[1:], strict=False)
        if not all(lower < upper for lower, upper in pairs):
            raise InvalidRequest(
                f"the range from {self.range.low} to {self.range.high} is too narrow for floats; expected buckets with "
                "a width.",
                "Subtract a constant from all numbers, or take fewer buckets.",
            )

    @cached_property
    def low(self) -> float:
        """The smallest number that anybody can have."""
        return float(self.range.low)

    @cached_property
    def high(self) -> float:
        """The largest number that anybody can have."""
        return float(self.range.high)

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The ends of the buckets, one more than there are buckets."""
        inner = (self.value(index) for index in range(1, self.count))
        return (self.low, *inner, self.high)

    def value(self, position: float) -> float:
        """Return the number at a position, counted in buckets from the low end."""
        share = position / self.count
        if self.spacing == "log":
            return math.pow(self.low, 1 - share) * math.pow(self.high, share)
        return self.low * (1 - share) + self.high * share

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels of the tree, from the coarsest on."""
        height = round(math.log(self.count, FAN_OUT))
        return tuple(f"1/{FAN_OUT**level}" for level in range(1, height + 1))

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of buckets in a node of each level."""
        return tuple(
            self.count // FAN_OUT**level for level in range(1, 1 + len(self.levels))
        )

    def to_body(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        ends = [str(self.range.low), str(self.range.high)]
        return {"range": ends, "count": self.count, "spacing": self.spacing}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Buckets:
        """Read the fields from JSON."""
        count = documents.integer_field(body, "count")
        spacing = documents.field(body, "spacing", str)
        return cls(Range.of_body(body), count, spacing)


@dataclass(frozen=True, eq=False)
class BucketDesign(DrawnDesign):
    """A design for numbers in buckets: a level of the tree is drawn evenly, and its node is sent with all of ε.

    Guarantee: the level does not depend on the number; ε is the largest of the designs of the levels.

    Attributes:
        buckets: the range and its buckets.
    """

    SCHEMA: ClassVar[str] = "bucket-design"
    asks: ClassVar[str] = "numbers in buckets"
    answer_form: ClassVar[str] = "numbers"
    accepts_codes: ClassVar[bool] = False
    needs_attributes: ClassVar[bool] = False

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond  # type: ignore[assignment]
        respond_all = _draw.respond_all  # type: ignore[assignment]
        tally = _count.tally

        def count_sent(self) -> BucketTally: ...
        def estimate_sampled(  # type: ignore[override]
            self,
            *,
            sampling: Sampling,
            quantiles: Sequence[float] = ...,
            domain: object = None,
            by: object = None,
        ) -> Statistic[BucketQuantiles]: ...

    buckets: Buckets = Buckets(Range.of(0, 1), 16)

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = tuple(factor.design.channel.answers for factor in self.factors)
        nodes = tuple(self.buckets.count // width for width in self.buckets.widths)
        if (self.attributes, sizes, self.each) != (self.buckets.levels, nodes, 1):
            raise InvalidDesign(
                f"the attributes are not the levels of {self.buckets.count} buckets; expected these, one for each."
            )

    @property
    def answer_columns(self) -> tuple[str, ...]:
        return ()

    def to_body(self) -> dict[str, Any]:
        return {**super().to_body(), "buckets": self.buckets.to_body()}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> BucketDesign:
        drawn = DrawnDesign.from_body(body)
        tree = Buckets.from_body(documents.field(body, "buckets", dict))
        return cls(drawn.factors, drawn.each, buckets=tree)

    def __repr__(self) -> str:
        tree = self.buckets
        return (
            f"buckets({tree.low:g} to {tree.high:g} in {tree.count:,} buckets, {tree.spacing}; "
            f"ε = {formats.epsilon(self.epsilon)})"
        )


def bucket_design(
    low: Rational,
    high: Rational,
    epsilon: Rational,
    *,
    count: int = 256,
    spacing: str = "linear",
) -> BucketDesign:
    """Build a design for quantiles of a number: the range is a tree of buckets, and one of its levels is answered.

    Implements: a hierarchical histogram whose people are split over the levels, each level with the best design for
    as many categories: k-ary responses while these have the smaller variance, else hashing.

    Guarantee: the level does not depend on the number; ε is the largest of the designs of the levels.

    Args:
        low: the smallest number that anybody can have.
        high: the largest one. Who has more is refused and must choose: nothing is cut off silently.
        epsilon: privacy; positive.
        count: the number of buckets: 16, 64, 256 or 1024.
        spacing: "linear" for buckets of one length, "log" for buckets of one ratio, such as for latencies.

    Raises:
        InvalidRequest: a range that does not rise, another number of buckets or another spacing.
        InvalidNumber: an end is not a finite number, or ε is not positive.

    Example:
        >>> design = bucket_design(1, 10_000, 1, count=16, spacing="log")
        >>> design
        buckets(1 to 10000 in 16 buckets, log; ε = 1)
        >>> [round(edge, 1) for edge in design.buckets.edges[:5]]
        [1.0, 1.8, 3.2, 5.6, 10.0]
    """
    tree = Buckets(Range.of(low, high), count, spacing)
    factors = tuple(
        Factor(level, level_design(count // width, epsilon))
        for level, width in zip(tree.levels, tree.widths, strict=True)
    )
    return BucketDesign(factors, buckets=tree)


def level_design(nodes: int, epsilon: Rational) -> Design:
    """Return the design of a level: k-ary while that has the smaller variance, else hashing."""
    ratio = float(exact.gamma_below(epsilon))
    is_small = nodes - 2 + ratio <= FAN_OUT * ratio
    return k_ary(nodes, epsilon) if is_small else local_hashing(nodes, epsilon)


DESIGN = BucketDesign
"""The design class of this type."""

BUILDERS = {bucket_design: Purpose.ORDERED}
"""What the shell builds designs of this type with, and under which purpose lists show it."""


def known_answers(design: BucketDesign) -> tuple[float, ...]:
    """Return answers that differ much: both ends of the range, and its middle."""
    return tuple(
        design.buckets.value(design.buckets.count * half / 2) for half in range(3)
    )
