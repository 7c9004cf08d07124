"""Prices of stages and of upgrades, without arbitrage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

from deniable import documents, exact
from deniable.documents import HashedDocument
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.order.ladders import Ladder

__all__ = ["Prices"]

NOTHING = -1
"""The stage of who holds nothing yet."""


@dataclass(frozen=True, eq=False)
class Prices(HashedDocument):
    """A price for each stage of a ladder, and for each upgrade.

    No trade is cheaper by a detour: more costs no less; whoever holds more pays no more to come to the same stage; and
    no chain of purchases costs less than going there at once. Buyers who put together what they hold have what the best
    of them has (`market.worth`), so that there is nothing to be gained by that either.

    Attributes:
        ladder: the stages, the coarsest first.
        prices: of each stage, to somebody who holds nothing.
        upgrades: from a stage to a finer one; where it is not given, the difference of the two prices.
        currency: what prices are in.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> stages = ladder([warner(0.5), warner(1), warner(2)])
        >>> Prices(stages, ["1.50", 2, 5], currency="EUR").due(0, 2)
        Fraction(7, 2)
    """

    SCHEMA: ClassVar[str] = "prices"
    ladder: Ladder
    prices: Sequence[exact.Rational]
    upgrades: Mapping[tuple[int, int], exact.Rational] = field(default_factory=dict)
    currency: str = ""

    def __post_init__(self) -> None:
        if len(self.prices) != len(self.ladder):
            raise InvalidRequest(
                f"there are {len(self.prices)} prices for {len(self.ladder)} stages; expected one each."
            )
        prices = tuple(exact.rational(price, name="a price") for price in self.prices)
        upgrades = {pair: exact.rational(price, name="a price") for pair, price in self.upgrades.items()}
        for old, new in upgrades:
            if not 0 <= old < new < len(self.ladder):
                raise InvalidRequest(f"there is no upgrade from stage {old} to stage {new}; expected a finer stage.")
        if min([*prices, *upgrades.values()]) < 0:
            raise InvalidRequest("a price is negative; expected 0 or more.")
        object.__setattr__(self, "prices", prices)
        object.__setattr__(self, "upgrades", upgrades)
        for problem in self._detours():
            raise InvalidRequest(problem, "Raise or lower one of these prices; or leave upgrades to the difference.")

    def due(self, held: int, wanted: int) -> Fraction:
        """Return what somebody who holds a stage (−1 for none) pays for another one; what is coarser costs nothing.

        Raises:
            InvalidRequest: there is no such stage.
        """
        if not NOTHING <= held < len(self.ladder) or not 0 <= wanted < len(self.ladder):
            raise InvalidRequest(f"there is no stage {wanted}; expected 0 to {len(self.ladder) - 1}.")
        if wanted <= held:
            return Fraction(0)
        price = Fraction(self.prices[wanted])
        if held == NOTHING:
            return price
        return Fraction(self.upgrades.get((held, wanted), price - Fraction(self.prices[held])))

    def _detours(self) -> Iterator[str]:
        """Yield each trade that is cheaper by a detour."""
        stages = range(NOTHING, len(self.ladder))
        for held, one, two in ((a, b, c) for a in stages for b, c in combinations(range(a + 1, len(self.ladder)), 2)):
            if self.due(held, one) > self.due(held, two):
                yield (
                    f"from {_named(held)}, stage {one} costs {self.due(held, one)} and the finer stage {two} only "
                    f"{self.due(held, two)}; expected prices that rise."
                )
        for held, one, two in combinations(stages, 3):
            at_once, detour = self.due(held, two), self.due(held, one) + self.due(one, two)
            if detour < at_once:
                yield (
                    f"from {_named(held)}, stage {two} costs {at_once}, and by way of stage {one} only {detour}; "
                    "expected no detour to be cheaper."
                )
            if self.due(one, two) > at_once:
                yield (
                    f"stage {two} costs {self.due(one, two)} for who holds stage {one}, and only {at_once} for who "
                    f"holds {_named(held)}; expected that holding more never costs more."
                )

    def to_body(self) -> dict[str, Any]:
        """Return the price list for JSON, with its ladder: what a buyer is shown."""
        return {
            "ladder": self.ladder.to_body(),
            "prices": [str(price) for price in self.prices],
            "upgrades": [[old, new, str(price)] for (old, new), price in sorted(self.upgrades.items())],
            "currency": self.currency,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Prices:
        ladder = Ladder.from_body(documents.field(body, "ladder", dict))
        try:
            upgrades = {(int(old), int(new)): str(price) for old, new, price in documents.field(body, "upgrades", list)}
        except (TypeError, ValueError):
            raise UnreadableFile("the upgrades are not pairs of stages with a price.") from None
        prices = [str(price) for price in documents.field(body, "prices", list)]
        return cls(ladder, prices, upgrades, documents.field(body, "currency", str))


def _named(held: int) -> str:
    return "nothing" if held == NOTHING else f"stage {held}"
