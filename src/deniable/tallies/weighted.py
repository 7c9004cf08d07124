"""How much weight sent each response: enough for shares of a weighted sample, and still sums that add up anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.errors import InvalidRequest, InvalidResponse
from deniable.files.row_names import check_same_people
from deniable.tallies.base import Counts, Sums, read_only
from deniable.tallies.counts import Declared, DeclaredTally, zeros
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from deniable.estimates.sampling import estimating as _estimating

__all__ = ["WeightedTally", "tally_weighted"]

_BITS = 26  # of a half of a float's digits: sums of 2^26 halves are exact in a float
_MAX_ROWS = 1 << 26


@dataclass(frozen=True, eq=False)
class WeightedTally(DeclaredTally):
    """How many people sent each symbol, and the sums of their weights and of the squares of these.

    The sums are exact, so that tallies add up to the same in any order.

    Attributes:
        design: what the responses were drawn with.
        counts: how many sent each symbol, read-only.
        weights: the sum of their weights.
        squares: the sum of the squares of their weights, each rounded to a float once.
        missing: how many respondents sent nothing.
        declared: of rows whose file does not name their design, that a person vouched for it; None where all do.
    """

    SCHEMA: ClassVar[str] = "weighted-tally"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimating.estimate_tally

    design: Design
    counts: Counts = field(repr=False)
    weights: Sums = field(repr=False)
    squares: Sums = field(repr=False)
    missing: int = 0
    declared: Declared | None = None

    def __post_init__(self) -> None:
        if not self.design.channel.own_cells:
            raise InvalidRequest(
                f"a tally of {self.design!r} keeps sums over sets; expected a design with a count for every response.",
                "Estimate from the rows: dn.estimate(responses, sampling=dn.Sampling(weights)).",
            )
        cells = self.design.channel.cells
        object.__setattr__(
            self, "counts", read_only(self.counts, (cells,), "one for each symbol")
        )
        for name in ("weights", "squares"):
            sums = tuple(map(Fraction, getattr(self, name)))
            if len(sums) != cells or min(sums, default=0) < 0:
                raise InvalidResponse(
                    f"the sums of {name} do not fit; expected {cells} numbers of 0 or more."
                )
            object.__setattr__(self, name, sums)
        if any(
            weight and not count
            for weight, count in zip(self.weights, self.counts.tolist(), strict=True)
        ):
            raise InvalidResponse(
                "a symbol that nobody sent has weight; expected none."
            )
        super().__post_init__()

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.counts.sum())

    @classmethod
    def empty(cls, design: Design) -> WeightedTally:
        none = (Fraction(0),) * design.channel.cells
        return cls(design, zeros(design), none, none)


def tally_weighted(responses: Responses[Any], weights: object) -> WeightedTally:
    """Count responses with a weight for each.

    Args:
        responses: what was sent to a design for categories.
        weights: how many people each row stands for: a column of numbers, 0 or more.

    Raises:
        InvalidResponse: a weight that is missing, negative or no number, or another number of rows.
        InvalidRequest: a design whose tally keeps sums.
        Incompatible: a column of pandas that is of other people.

    Example:
        >>> from deniable.designs import warner
        >>> sent = Responses(warner(1), {"response": np.array([1, 0, 1])})
        >>> counted = tally_weighted(sent, [2, 1.5, 4])
        >>> counted.counts.tolist(), [float(each) for each in counted.weights]
        ([1, 2], [1.5, 6.0])
    """
    check_same_people(responses=responses, weights=weights)
    numbers, design = read_weights(weights, len(responses)), responses.design
    channel = design.channel
    if not channel.own_cells:
        return WeightedTally.empty(design)  # which is refused
    # Of sets, each of which has a cell of its own, the rows hold bits.
    codes = channel.coding.numbers(responses.present()["response"]).astype(np.intp)
    cells = channel.cells
    numbers = numbers[~responses.gaps]
    counts = np.bincount(codes, minlength=cells).astype(np.int64)
    sums, squares = (
        exact_sums(values, codes, cells) for values in (numbers, numbers**2)
    )
    return WeightedTally(design, counts, sums, squares, int(responses.gaps.sum()))


def read_weights(column: object, rows: int) -> NDArray[np.float64]:
    """Read a column of weights.

    Raises:
        InvalidResponse: a weight that is missing, negative or no number, or another number of rows.
    """
    try:
        weights = np.array(column, np.float64)
    except (TypeError, ValueError):
        raise InvalidResponse(
            "not every weight is a number; expected one in each row."
        ) from None
    if weights.shape != (rows,):
        raise InvalidResponse(
            f"there are {weights.size:,} weights; expected {rows:,}, one for each row."
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise InvalidResponse(
            f"the weight of row {int(wrong.argmax()) + 1:,} is missing or negative; expected a number, 0 or more."
        )
    return weights


def exact_sums(values: NDArray[np.float64], codes: NDArray[Any], size: int) -> Sums:
    """Return the exact sum of the values of each code.

    Why: a float is a whole number times a power of two. Whole numbers of one power are added in two halves, whose sums
    stay below 2^53.
    """
    total = [Fraction(0)] * size
    for start in range(0, len(values), _MAX_ROWS):
        rows = slice(start, start + _MAX_ROWS)
        digits, powers = np.frexp(values[rows])
        keys, group = np.unique(
            codes[rows].astype(np.int64) * 4096 + (powers + 2048),
            return_inverse=True,
        )
        integers = (digits * 2.0**53).astype(np.int64)
        halves = integers >> _BITS, integers & ((1 << _BITS) - 1)
        high, low = (np.bincount(group, half.astype(np.float64)) for half in halves)
        for key, above, below in zip(
            keys.tolist(), high.tolist(), low.tolist(), strict=True
        ):
            code, power = divmod(key, 4096)
            number = (int(above) << _BITS) + int(below)
            total[code] += number * Fraction(2) ** (power - 2048 - 53)
    return tuple(total)
