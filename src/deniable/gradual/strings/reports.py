"""What a respondent sends about a string: randomized bits, the cohort, and the hash of the design."""

from __future__ import annotations

from dataclasses import dataclass

from deniable import wire
from deniable.design import Bitstrings
from deniable.errors import Incompatible, InvalidResponse
from deniable.gradual.strings.design import StringDesign

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """A response about a string.

    Attributes:
        design: the hash of its design.
        cohort: the respondent's, which decides how strings become bits.
        symbol: the bits, "b0110…", the first place first.
    """

    design: str
    cohort: int
    symbol: str

    @classmethod
    def of(cls, design: StringDesign, cohort: int, bits: int) -> Report:
        """Write bits as a report."""
        return cls(design.hash, cohort, Bitstrings(design.bloom.bits)[bits])

    def bits(self, design: StringDesign) -> int:
        """Return the bits as a number, bit j for place j.

        Raises:
            Incompatible: the report belongs to another design.
            InvalidResponse: no bits of this design, or no cohort of it.
        """
        if self.design != design.hash:
            raise Incompatible(
                f"this report belongs to the design {self.design:.19}…; expected {design.hash:.19}… ({design!r})."
            )
        labels = Bitstrings(design.bloom.bits)
        if self.symbol not in labels or not 0 <= self.cohort < design.bloom.cohorts:
            raise InvalidResponse(
                f"this is no report of this design; expected {design.bloom.bits} bits, and a cohort below "
                f"{design.bloom.cohorts}."
            )
        return labels.index(self.symbol)

    def to_json(self) -> str:
        """Return the report as one line of JSON."""
        return wire.seal("string-report", {"design": self.design, "cohort": self.cohort, "symbol": self.symbol})

    @classmethod
    def from_json(cls, text: str | bytes) -> Report:
        """Read a report.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
        """
        body = wire.unseal("string-report", text)
        return cls(wire.field(body, "design", str), wire.whole(body, "cohort"), wire.field(body, "symbol", str))
