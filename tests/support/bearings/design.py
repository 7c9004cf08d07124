"""Step 1: the points of a compass around a design for categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable import documents, exact
from deniable.designs import AnyDesign, Design, k_ary
from deniable.errors import InvalidResponse, quoted

__all__ = ["DESIGN", "POINTS", "BearingDesign", "bearing_design", "known_answers"]

POINTS = ("north", "east", "south", "west")


@dataclass(frozen=True, eq=False)
class BearingDesign(AnyDesign):
    """Bearings, sent as "→ north" and so on.

    Attributes:
        device: draws a point of the compass.
    """

    SCHEMA: ClassVar[str] = "bearing-design"
    asks: ClassVar[str] = "bearings"
    is_numbered: ClassVar[bool] = True
    device: Design

    @property
    def epsilon(self) -> float:
        return self.device.epsilon

    @property
    def parity(self) -> exact.Ratio:
        return self.device.parity

    @property
    def caveat(self) -> str:
        return ""

    @property
    def responses(self) -> int:
        return len(POINTS)

    def symbol(self, response: int) -> str:
        return f"→ {POINTS[response]}"

    def response_number(self, symbol: str) -> int:
        symbols = [self.symbol(number) for number in range(self.responses)]
        if symbol not in symbols:
            raise InvalidResponse(
                f"{quoted(symbol)} is no bearing; expected one of {', '.join(symbols)}."
            )
        return symbols.index(symbol)

    def symbols_in(self, column: str, rows: Any) -> list[str]:  # noqa: ARG002 - there is one column
        return [self.symbol(number) for number in rows.tolist()]

    def to_body(self) -> dict[str, Any]:
        return {"device": self.device.to_body()}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> BearingDesign:
        return cls(Design.from_body(documents.field(body, "device", dict)))

    def __repr__(self) -> str:
        return f"bearing_design(ε = {self.epsilon:.4g})"


DESIGN = BearingDesign


def bearing_design(epsilon: exact.Rational) -> BearingDesign:
    return BearingDesign(k_ary(POINTS, epsilon=epsilon))


def known_answers(design: BearingDesign) -> Sequence[str]:
    return design.device.categories
