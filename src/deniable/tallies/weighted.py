"""How much weight sent each response: enough for shares of a weighted sample, and still sums that add up anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.designs import Design
from deniable.errors import InvalidRequest, InvalidResponse, UnreadableFile
from deniable.files.row_names import check_same_people
from deniable.tallies.base import AdditiveTally, Counts, read_only
from deniable.tallies.counts import Declared, zeros
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from deniable.estimates.sampling import estimating as _estimating

__all__ = ["WeightedTally", "tally_weighted"]

Sums: TypeAlias = tuple[Fraction, ...]

_BITS = 26  # of a half of a float's digits: sums of 2^26 halves are exact in a float
_MOST_ROWS = 1 << 26


@dataclass(frozen=True, eq=False)
class WeightedTally(AdditiveTally[Design]):
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
            if len(sums) != cells or any(each < 0 for each in sums):
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

    def to_body(self) -> dict[str, Any]:
        body = {
            "design": self.design.hash,
            "counts": self.counts.tolist(),
            "weights": [str(each) for each in self.weights],
            "squares": [str(each) for each in self.squares],
            "missing": self.missing,
        }
        return (
            body
            if self.declared is None
            else {**body, "declared": self.declared.to_body()}
        )

    @classmethod
    def _read_parts(cls, body: Mapping[str, Any], design: Design) -> dict[str, Any]:  # noqa: ARG003 - some need it
        counts = documents.field(body, "counts", list)
        if not all(
            isinstance(each, int) and not isinstance(each, bool) for each in counts
        ):
            raise UnreadableFile(
                "the counts are not whole numbers; expected 0 or more."
            )
        try:
            sums = {
                name: tuple(
                    Fraction(str(each)) for each in documents.field(body, name, list)
                )
                for name in _SUMS
            }
            found = {
                "counts": np.array(counts, np.int64),
                **sums,
                "missing": documents.integer_field(body, "missing"),
            }
        except (ValueError, ZeroDivisionError, OverflowError):
            raise UnreadableFile(
                "the weights are not sums of numbers; expected fractions."
            ) from None
        if "declared" in body:
            found["declared"] = Declared.from_body(
                documents.field(body, "declared", dict)
            )
        return found


_SUMS = ("weights", "squares")


def tally_weighted(responses: Responses[Any], weights: Any) -> WeightedTally:
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
    given = read_weights(weights, len(responses))
    if responses.missing is not None:
        given = given[~responses.missing]
    codes = responses.present()["response"]
    design, cells = responses.design, responses.design.channel.cells
    if codes.ndim != 1 or not design.channel.own_cells:
        none = (Fraction(0),) * cells
        return WeightedTally(
            design, np.zeros(cells, np.int64), none, none
        )  # which is refused
    counts = np.bincount(codes, minlength=cells).astype(np.int64)
    missing = 0 if responses.missing is None else int(responses.missing.sum())
    sums, squares = (exact_sums(each, codes, cells) for each in (given, given**2))
    return WeightedTally(design, counts, sums, squares, missing)


def read_weights(given: Any, rows: int) -> NDArray[np.float64]:
    """Read a column of weights.

    Raises:
        InvalidResponse: a weight that is missing, negative or no number, or another number of rows.
    """
    try:
        found = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidResponse(
            "not every weight is a number; expected one in each row."
        ) from None
    if found.shape != (rows,):
        raise InvalidResponse(
            f"there are {found.size:,} weights; expected {rows:,}, one for each row."
        )
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        raise InvalidResponse(
            f"the weight of row {int(wrong.argmax()) + 1:,} is missing or negative; expected a number, 0 or more."
        )
    return found


def exact_sums(values: NDArray[np.float64], codes: NDArray[Any], size: int) -> Sums:
    """Return the exact sum of the values of each code.

    Why: a float is a whole number times a power of two. Whole numbers of one power are added in two halves, whose sums
    stay below 2^53.
    """
    total = [Fraction(0)] * size
    for start in range(0, len(values), _MOST_ROWS):
        piece, own = (
            values[start : start + _MOST_ROWS],
            codes[start : start + _MOST_ROWS].astype(np.int64),
        )
        digits, powers = np.frexp(piece)
        whole = (digits * 2.0**53).astype(np.int64)
        keys, where = np.unique(own * 4096 + (powers + 2048), return_inverse=True)
        high = np.bincount(where, weights=(whole >> _BITS).astype(np.float64))
        low = np.bincount(
            where, weights=(whole & ((1 << _BITS) - 1)).astype(np.float64)
        )
        for key, above, below in zip(
            keys.tolist(), high.tolist(), low.tolist(), strict=True
        ):
            code, power = divmod(key, 4096)
            total[code] += Fraction((int(above) << _BITS) + int(below)) * Fraction(
                2
            ) ** (power - 2048 - 53)
    return tuple(total)
