"""How often each symbol was sent: all that any estimate needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable import documents
from deniable.channel import Channel
from deniable.designs import Design
from deniable.errors import InvalidRequest, InvalidResponse, quoted, require
from deniable.tallies.base import AdditiveTally, Counts, read_only

if TYPE_CHECKING:
    from deniable.types.categories import estimate as _estimate

MAX_CELLS = 1 << 28
"""Counts that a tally keeps at most: 2 GiB."""


@dataclass(frozen=True)
class Declared:
    """Rows of a file that does not name their design: whoever counted them has vouched for it. Adds up as tallies do.

    Attributes:
        rows: how many there are.
        unknown: how many of them hold something that is no symbol of the design; they are not counted.
        reasons: why responses are missing, where the file says so, and how often; in the order of the reasons.

    Example:
        >>> Declared(10, 1, (("refused", 2),)) + Declared(5, 0, (("refused", 1),))
        Declared(rows=15, unknown=1, reasons=(('refused', 3),))
    """

    rows: int
    unknown: int = 0
    reasons: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        counts = (self.rows, self.unknown, *(times for _, times in self.reasons))
        if any(type(count) is not int or count < 0 for count in counts):
            raise InvalidResponse(
                "a number of rows is negative or no whole number; expected 0 or more."
            )
        reasons = sorted((str(why), times) for why, times in self.reasons if times)
        object.__setattr__(self, "reasons", tuple(reasons))

    def __add__(self, other: Declared) -> Declared:
        reasons = Counter(dict(self.reasons)) + Counter(dict(other.reasons))
        return Declared(
            self.rows + other.rows,
            self.unknown + other.unknown,
            tuple(reasons.items()),
        )

    def to_body(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**asdict(self), "reasons": dict(self.reasons)}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Declared:
        """Read what `to_body` wrote."""
        reasons = documents.field(body, "reasons", dict)
        times = tuple(
            (why, documents.integer_field(reasons, why)) for why in reasons
        )
        rows, unknown = (
            documents.integer_field(body, key) for key in ("rows", "unknown")
        )
        return cls(rows, unknown, times)

    def notes(self) -> tuple[str, ...]:
        """Tell whoever reads an estimate what its numbers rest on."""
        notes = [
            f"The design was named by the person who counted: the file of these {self.rows:,} rows "
            "does not say which one they were drawn with."
        ]
        if self.unknown:
            rows = "row holds" if self.unknown == 1 else "rows hold"
            notes.append(
                f"{self.unknown:,} {rows} a value that is not a response of this design: no part of the estimate."
            )
        if self.reasons:
            listed = ", ".join(
                f"{quoted(why)} {times:,}" for why, times in self.reasons
            )
            notes.append(
                f"Why responses are missing, where the file says so: {listed}."
            )
        return tuple(notes)


class DeclaredTally(AdditiveTally[Design]):
    """Counts of the responses to a design for categories, which a person may have declared to be of that design."""

    if TYPE_CHECKING:
        declared: Declared | None

    def to_body(self) -> dict[str, Any]:
        body = super().to_body()
        if self.declared is None:
            del body["declared"]
        return body

    @classmethod
    def _read_parts(cls, body: Mapping[str, Any], design: Design) -> dict[str, Any]:
        parts = super()._read_parts(body, design)
        if "declared" in body:
            parts["declared"] = Declared.from_body(
                documents.field(body, "declared", dict)
            )
        return parts


@dataclass(frozen=True, eq=False)
class Tally(DeclaredTally):
    """How often each symbol was sent.

    Attributes:
        design: what the responses were drawn with.
        counts: a count for each cell of the design's channel, read-only; a cell is a symbol, in the order of
            `design.symbols`, unless the channel says otherwise.
        missing: how many respondents sent nothing. They are reported and take no part in an estimate.
        respondents: how many responses were counted; needed only where one response counts in several cells.
        declared: of rows whose file does not name their design, that a person vouched for it; None where all do.
    """

    SCHEMA: ClassVar[str] = "tally"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

    design: Design
    counts: Counts = field(repr=False)
    missing: int = 0
    respondents: int = -1
    declared: Declared | None = None

    def __post_init__(self) -> None:
        require(
            isinstance(self.design, Design),
            self.design,
            "the design",
            "one for categories, first",
        )
        channel = self.design.channel
        counts = read_only(
            self.counts, (channel.cells,), "one for each cell of the tally"
        )
        for number in (self.missing, self.respondents):
            if isinstance(number, bool) or not isinstance(number, int | np.integer):
                raise InvalidResponse(
                    f"a number of people is {quoted(number)}; expected a whole number."
                )
        if self.missing < 0:
            raise InvalidResponse("a count is negative; expected 0 or more.")
        object.__setattr__(self, "missing", int(self.missing))
        object.__setattr__(self, "counts", counts)
        respondents = (
            int(counts.sum())
            if channel.own_cells and self.respondents < 0
            else self.respondents
        )
        if not channel.coding.add_up(counts, respondents):
            raise InvalidResponse(
                f"the counts do not belong to {respondents:,} respondents; expected a number that they add up to.",
                "Say how many responded: Tally(design, counts, respondents=…)."
                if channel.sizes and not channel.own_cells
                else "",
            )
        object.__setattr__(self, "respondents", int(respondents))

    @classmethod
    def empty(cls, design: Design) -> Tally:
        return cls(design, zeros(design), respondents=0)


def zeros(design: Design) -> Counts:
    """Return a count of 0 for each cell of a design's tally.

    Raises:
        InvalidRequest: more cells than a tally keeps.
    """
    check_cells(design)
    return np.zeros(design.channel.cells, np.int64)


def check_cells(design: Design) -> None:
    """Refuse a design whose tally would have too many cells.

    Raises:
        InvalidRequest: more cells than a tally keeps.
    """
    if design.channel.cells > MAX_CELLS:
        raise InvalidRequest(
            f"a tally of this design keeps {design.channel.cells:,} counts; expected at most {MAX_CELLS:,}.",
            "Use fewer categories: these can be responded to, but not counted.",
        )


def marginal(tally: Tally, *attributes: str) -> Tally:
    """Return the tally of one attribute, or of several in the order named, out of a tally of all combinations.

    It is what would have been counted had only these attributes been asked, so its estimate is that of these
    attributes alone.

    Why: the factors of a product draw independently, so the responses to some attributes follow the product of
    their own channels; a sum over the others loses nothing about these.

    Raises:
        InvalidRequest: an attribute that the design does not have.

    Example:
        >>> from deniable.designs import product, warner
        >>> both = Tally(product({"smokes": warner(1), "drinks": warner(2)}), [40, 10, 30, 20])
        >>> marginal(both, "smokes").counts, marginal(both, "drinks").counts
        (array([50, 50]), array([70, 30]))
    """
    design = tally.design
    part = design.part(*attributes)
    axes = [design.attributes.index(attribute) for attribute in attributes]
    table = tally.counts.reshape(
        [factor.channel.responses for _, factor in design.factors]
    )
    table = table.sum(
        axis=tuple(axis for axis in range(table.ndim) if axis not in axes)
    )
    # What is left stands in the order of the design; it is wanted in the order named.
    counts = np.transpose(table, [sorted(axes).index(axis) for axis in axes]).ravel()
    return Tally(
        part,
        as_cells(part.channel, counts),
        tally.missing,
        tally.respondents,
        tally.declared,
    )


def as_cells(channel: Channel, counts: Counts) -> Counts:
    """Return counts of responses as the counts of cells that the channel's own tally keeps."""
    if channel.own_cells:
        return counts
    cells = np.zeros(channel.cells, np.int64)
    for response in np.flatnonzero(counts).tolist():
        cells[list(channel.cells_of(response))] += counts[response]
    return cells
