"""Step 1: how the weight of a person's one edge becomes a response, by a three-answer design."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import documents, exact
from deniable.designs import Design, Purpose, k_ary, labels, rr3_dagger
from deniable.designs.labels import Labels
from deniable.designs.three_answers import Weighting
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.rendering import formats
from deniable.types.key_value.design import ItemDesign

if TYPE_CHECKING:
    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.types.edges import count as _count
    from deniable.types.edges import draw as _draw
    from deniable.types.edges import respond as _respond
    from deniable.types.edges.count import EdgeTally

__all__ = [
    "BUILDERS",
    "DESIGN",
    "WEIGHTS",
    "EdgeDesign",
    "known_answers",
    "one_edge",
]

WEIGHTS = (Fraction(0), Fraction(1, 2), Fraction(1))
"""What an edge may weigh: against, neutral, in favour."""

NAMES = ("0", "1/2", "1")
CAVEAT = "Which item a respondent has an edge to is sent as it is; only the weight of the edge is protected."


@dataclass(frozen=True, eq=False)
class EdgeDesign(ItemDesign):
    """Items around a three-answer design for the weight of one edge.

    Attributes:
        items: what people may have an edge to.
        choice: the design for the weight; its categories and symbols are "0", "1/2" and "1".
    """

    SCHEMA: ClassVar[str] = "one-edge-design"
    asks: ClassVar[str] = "edges"
    answer_form: ClassVar[str] = "weights"
    keeps_order: ClassVar[bool] = False

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond
        respond_all = _draw.respond_all
        tally = _count.tally

        def count_sent(self) -> EdgeTally: ...
        def estimate_sampled(
            self,
            *,
            sampling: Sampling,
            domain: object = None,
            by: object = None,
        ) -> SampledEstimate: ...

    items: Sequence[str]
    choice: Design
    low: ClassVar[Fraction] = WEIGHTS[0]
    high: ClassVar[Fraction] = WEIGHTS[-1]

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", labels.read(self.items, name="items"))
        if (
            tuple(self.choice.categories) != NAMES
            or tuple(self.choice.symbols) != NAMES
        ):
            raise InvalidDesign(
                f"the design is not about the weights {', '.join(NAMES)}; expected these in this order."
            )

    @property
    def width(self) -> int:
        return len(NAMES)

    @property
    def parity(self) -> exact.Ratio:
        """The largest factor by which a response can change the odds between two weights; the item is not protected."""
        return self.choice.parity

    @property
    def caveat(self) -> str:
        """What the guarantee does not cover."""
        return CAVEAT

    def symbol(self, response: int) -> str:
        item, weight = divmod(response, self.width)
        return f"{NAMES[weight]} {self.items[item]}"

    def _number(self, symbol: str) -> int:
        weight, _, item = symbol.partition(" ")
        return self.width * self._known(item) + NAMES.index(weight)

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> EdgeDesign:
        choice = Design.from_json(json.dumps(documents.field(body, "choice", dict)))
        return cls(documents.field(body, "items", int, list), choice)

    def to_body(self) -> dict[str, Any]:
        return {"items": self._names(), "choice": json.loads(self.choice.to_json())}

    def __repr__(self) -> str:
        epsilon = formats.epsilon(self.epsilon)
        return f"one_edge({labels.format_labels(self.items, max_shown=5)}; {self.choice.name}, ε = {epsilon})"


def one_edge(
    items: Labels,
    epsilon: exact.Rational,
    *,
    family: str = "k_ary",
    importance: Weighting | None = None,
    guess: Weighting | None = None,
) -> EdgeDesign:
    """Protect the weight of everybody's one edge, which is 0, 1/2 or 1; the item it leads to is sent as it is.

    Implements: Section 4.2.1 of [MW21]: EWRR3, which is `k_ary`, or RR3†, whose best member for a weighting of the
    three shares is found. Where the item is to be protected too, use the designs of `deniable.types.key_value`.

    Guarantee: integers that sum to 2^64, with a parity of at most e^ε between any two weights; nothing about items.

    Args:
        items: what people may have an edge to.
        epsilon: the most that may be revealed about the weight.
        family: "k_ary" or "rr3_dagger".
        importance: for RR3†: how much the variance of the share of each weight matters.
        guess: for RR3†: shares at which variances are compared.

    Raises:
        InvalidDesign: fewer than two items.
        InvalidRequest: another family, or a weighting without RR3†.
        InvalidNumber: ε is not positive.

    Example:
        >>> one_edge(["tax", "transport"], 1).epsilon
        1.0
    """
    if family not in ("k_ary", "rr3_dagger") or (
        family == "k_ary" and (importance is not None or guess is not None)
    ):
        raise InvalidRequest(
            "the family does not fit; expected 'k_ary', or 'rr3_dagger' with importance and guess."
        )
    if family == "k_ary":
        choice = k_ary(NAMES, epsilon)
    else:
        choice = rr3_dagger(
            epsilon=epsilon, importance=importance, guess=guess, categories=NAMES
        )
    return EdgeDesign(labels.read(items, name="items"), choice)


DESIGN = EdgeDesign
"""The design class of this type."""

BUILDERS: dict[Callable[..., EdgeDesign], Purpose] = {one_edge: Purpose.ITEMS}
"""The function that the shell builds designs with, and its purpose."""


def known_answers(design: EdgeDesign) -> list[dict[str, float]]:
    """Return answers that differ much: one item with the smallest weight, the largest, and one between them."""
    low, high = float(design.low), float(design.high)
    return [{design.items[0]: weight} for weight in (low, high, (low + high) / 2)]
