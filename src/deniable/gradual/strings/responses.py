"""What a respondent sends about a string: randomized bits, the cohort, and the hash of the design."""

from __future__ import annotations

from dataclasses import dataclass

from deniable import wire
from deniable.design import Bitstrings
from deniable.errors import Incompatible, InvalidResponse
from deniable.gradual.strings.design import StringDesign

__all__ = ["StringResponse"]


@dataclass(frozen=True)
class StringResponse:
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
    def of(cls, design: StringDesign, cohort: int, bits: int) -> StringResponse:
        """Write bits as a response."""
        return cls(design.hash, cohort, Bitstrings(design.bloom.bits)[bits])

    def bits(self, design: StringDesign) -> int:
        """Return the bits as a number, bit j for place j.

        Raises:
            Incompatible: the response belongs to another design.
            InvalidResponse: no bits of this design, or no cohort of it.
        """
        if self.design != design.hash:
            raise Incompatible(
                f"this response belongs to the design {self.design:.19}…; expected {design.hash:.19}… ({design!r})."
            )
        labels = Bitstrings(design.bloom.bits)
        if self.symbol not in labels or not 0 <= self.cohort < design.bloom.cohorts:
            raise InvalidResponse(
                f"this is no response of this design; expected {design.bloom.bits} bits, and a cohort below "
                f"{design.bloom.cohorts}."
            )
        return labels.index(self.symbol)

    def to_json(self) -> str:
        """Return the response as one line of JSON."""
        return wire.seal("string-response", {"design": self.design, "cohort": self.cohort, "symbol": self.symbol})

    @classmethod
    def from_json(cls, text: str | bytes) -> StringResponse:
        """Read a response.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
        """
        body = wire.unseal("string-response", text)
        return cls(wire.field(body, "design", str), wire.whole(body, "cohort"), wire.field(body, "symbol", str))
