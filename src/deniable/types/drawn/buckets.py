"""Up to 1,024 buckets of a range as a tree: a respondent answers on one of its levels, drawn at random.

A node of the tree has four children. Level l divides the range into 4^l parts of equally many buckets; the last level
has the buckets themselves.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from deniable import documents, exact
from deniable.designs import Design, k_ary, local_hashing
from deniable.errors import InvalidAnswer, InvalidRequest, quoted, require_choice
from deniable.exact import Rational
from deniable.types.drawn.design import DrawnDesign, drawn_items

__all__ = ["FAN_OUT", "Buckets", "buckets", "level_design"]

FAN_OUT = 4
"""Children of a node. With 2 or 16 the variance of a range is up to a quarter larger (T4.1 of the telemetry sheet)."""

COUNTS = (16, 64, 256, 1024)
"""Numbers of buckets that there can be."""

SPACINGS = ("linear", "log")
"""How buckets divide a range: into equal lengths, or equal ratios."""


@dataclass(frozen=True)
class Buckets:
    """A range that is divided into buckets.

    Attributes:
        low: the smallest number that anybody can have.
        high: the largest one.
        count: the number of buckets.
        spacing: "linear" or "log".
    """

    low: float
    high: float
    count: int
    spacing: str = "linear"

    def __post_init__(self) -> None:
        require_choice("the spacing is", self.spacing, SPACINGS)
        if self.count not in COUNTS or isinstance(self.count, bool):
            raise InvalidRequest(
                f"there are {quoted(self.count)} buckets; expected 16, 64, 256 or 1024."
            )
        least = 0.0 if self.spacing == "log" else -math.inf
        if not least < self.low < self.high < math.inf:
            raise InvalidRequest(
                f"the range goes from {self.low} to {self.high}; expected it to rise"
                f"{' from more than 0' if self.spacing == 'log' else ''}."
            )
        pairs = zip(self.edges, self.edges[1:], strict=False)
        if not all(lower < upper for lower, upper in pairs):
            raise InvalidRequest(
                f"the range from {self.low} to {self.high} is too narrow for floats; expected buckets with a width.",
                "Subtract a constant from all numbers, or take fewer buckets.",
            )

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

    def place(self, number: Rational) -> int:
        """Return the index of the bucket of a number; a number on an edge is in the upper one.

        Raises:
            InvalidAnswer: no number, or outside the range. The message does not repeat it.

        Example:
            >>> tree = buckets(0, 80, 16)
            >>> tree.place(0), tree.place(5), tree.place(80)
            (0, 1, 15)
        """
        try:
            place = float(number)
        except (OverflowError, TypeError, ValueError):
            place = math.nan
        if not math.isfinite(place) or isinstance(number, bool):
            raise InvalidAnswer("the value is not a finite number; expected one.")
        if not self.low <= place <= self.high:
            raise InvalidAnswer(
                f"the value lies outside its range; expected {self.low:g} to {self.high:g}.",
                "Choose the range wide enough for everybody before anybody is asked.",
            )
        return min(bisect_right(self.edges, place), self.count) - 1

    def path(self, number: Rational) -> dict[str, str]:
        """Return the answer to each level: the node that holds a number.

        Raises:
            InvalidAnswer: no number, or outside the range. The message does not repeat it.

        Example:
            >>> buckets(0, 80, 16).path(37.5)
            {'1/4': '1', '1/16': '7'}
        """
        return {
            level: str(nodes[0]) for level, nodes in self.paths([number]).items()
        }

    def paths(self, numbers: Iterable[Rational]) -> dict[str, list[int]]:
        """Return a column of codes for each level, which `respond_all` takes with `codes=True`.

        Raises:
            InvalidAnswer: no number, or outside the range. The message does not repeat it.
        """
        places = [self.place(number) for number in numbers]
        widths = [
            self.count // FAN_OUT**level for level in range(1, 1 + len(self.levels))
        ]
        return {
            level: [place // width for place in places]
            for level, width in zip(self.levels, widths, strict=True)
        }

    def design(self, epsilon: Rational) -> DrawnDesign:
        """Return the design: a level is drawn evenly, and its node is sent with all of ε.

        Implements: a hierarchical histogram whose people are split over the levels, each level with the best design for
        as many categories.

        Guarantee: the level does not depend on the number; ε is the largest of the designs of the levels.

        Raises:
            InvalidNumber: ε is not positive.

        Example:
            >>> buckets(0, 80, 64).design(1).responses
            108
        """
        return drawn_items(
            {
                level: level_design(FAN_OUT**number, epsilon)
                for number, level in enumerate(self.levels, start=1)
            }
        )

    def to_body(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            name: getattr(self, name) for name in ("low", "high", "count", "spacing")
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Buckets:
        """Read the fields from JSON."""
        low, high = (
            float(documents.field(body, name, float, int))
            for name in ("low", "high")
        )
        count = documents.integer_field(body, "count")
        return cls(low, high, count, documents.field(body, "spacing", str))


def buckets(
    low: Rational, high: Rational, count: int = 256, *, spacing: str = "linear"
) -> Buckets:
    """Divide a range into buckets, for quantiles with `bucket_quantiles`.

    Args:
        low: the smallest number that anybody can have.
        high: the largest one. Who has more is refused and must choose: nothing is cut off silently.
        count: the number of buckets: 16, 64, 256 or 1024.
        spacing: "linear" for buckets of one length, "log" for buckets of one ratio, such as for latencies.

    Raises:
        InvalidRequest: a range that does not rise, another number of buckets or another spacing.
        InvalidNumber: an end is not a finite number.

    Example:
        >>> [round(edge, 1) for edge in buckets(1, 10_000, 16, spacing="log").edges[:5]]
        [1.0, 1.8, 3.2, 5.6, 10.0]
    """
    first, last = (
        float(exact.rational(end, name=name))
        for end, name in ((low, "low"), (high, "high"))
    )
    return Buckets(first, last, count, spacing)


def level_design(nodes: int, epsilon: Rational) -> Design:
    """Return the design of a level: k-ary while that has the smaller variance, else hashing."""
    ratio = float(exact.gamma_below(epsilon))
    is_small = nodes - 2 + ratio <= FAN_OUT * ratio
    return k_ary(nodes, epsilon) if is_small else local_hashing(nodes, epsilon)
