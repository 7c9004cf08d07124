"""Random answering, found out by a control item whose truth is known: the crosswise model with an anchor, and others.

A share g follows the device and the rest send the second response with a known probability κ, to both items. With the
joint counts of both items the likelihood is that of a triangle: attentive members, attentive others, the inattentive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable import exact
from deniable.designs import Design, crosswise, product
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.compliance.fits import (
    Compliance,
    TriangleFit,
    check_people,
    count_second,
    is_binary,
)
from deniable.estimates.compliance.mixture_likelihood import Triangle, WeightShare
from deniable.estimates.compliance.response_shares import (
    Group,
    Samplings,
    check_kinds,
    gather,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.exact import Rational
from deniable.tallies import Tally


@dataclass(frozen=True, eq=False)
class ControlItem(TriangleFit):
    """A share corrected for random answering, and the share of people who follow the device.

    Attributes:
        truth: what everybody's answer to the control item is.
        guess: the probability with which those who do not attend send the second response.
    """

    type: ClassVar = "control-item"

    SOURCE = {"truth": str, "guess": str}  # noqa: RUF012 - declared by the base

    truth: str
    guess: Fraction

    def __post_init__(self) -> None:
        guess = exact.probability(self.guess, name="guess")  # a text in JSON
        object.__setattr__(self, "guess", guess)

    @property
    def joint(self) -> bool:
        """Whether the counts of both items together are known."""
        return len(self.tallies) == 1

    @property
    def designs(self) -> tuple[Design, Design]:
        """The design of the item, and that of the control."""
        if not self.joint:
            return self.tallies[0].design, self.tallies[1].design
        item, control = self.tallies[0].design.factors
        return item.design, control.design

    @property
    def respondents(self) -> int:
        return max(tally.respondents for tally in self.tallies)

    @cached_property
    def _laws(self) -> tuple[Matrix, Vector, Vector]:
        """The item's channel, the attentive law of the control, and the law of those who do not attend."""
        item, control = self.designs
        guess = float(self.guess)
        attentive = control.channel.floats()[:, control.category_number(self.truth)]
        return item.channel.floats(), attentive, vector([1 - guess, guess])

    @cached_property
    def triangle(self) -> Triangle:
        """The likelihood; of both items together where their joint counts are known."""
        item, control, chance = self._laws
        pairs = ((item[:, 1], control), (item[:, 0], control), (chance, chance))
        columns = [
            np.outer(*pair).ravel() if self.joint else np.concatenate(pair)
            for pair in pairs
        ]
        cells = (4,) if self.joint else (2, 2)
        return Triangle(np.column_stack(columns), self.response_shares.counts, cells)

    @cached_property
    def _seen(self) -> Matrix:
        """Which cells add up to the second response to the item, and to the control."""
        if self.joint:
            return np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
        return np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])

    @cached_property
    def moment(self) -> tuple[Vector, Matrix]:
        """The weights that solve the two margins, and by how much they move with the share of each cell."""
        item, control, chance = self._laws
        item_yes, control_yes = self._seen @ self.response_shares.value
        u, v, kappa, gap = item[1, 0], item[1, 1], chance[1], control[1] - chance[1]
        attentive = (control_yes - kappa) / gap
        members = (item_yes - kappa - attentive * (u - kappa)) / (v - u)
        by_members = vector([1 / (v - u), -(u - kappa) / (v - u) / gap])
        by_attentive = vector([0.0, 1 / gap])
        slopes = [by_members, by_attentive - by_members, -by_attentive]
        weights = vector([members, attentive - members, 1 - attentive])
        return weights, vector(slopes @ self._seen)

    @cached_property
    def parts(self) -> dict[str, WeightShare]:
        _, yes = self.designs[0].categories
        return {
            yes: WeightShare((1, 0, 0), (1, 1, 0)),
            "attentive": WeightShare((1, 1, 0)),
        }

    @property
    def jacobian(self) -> Matrix:
        """By how much the moment estimates move with the share of each cell, at those."""
        jacobian = self._jacobian_at(self.moment[0])
        return jacobian if np.isfinite(jacobian).all() else super().jacobian

    @property
    def uncorrected(self) -> float:
        """The share as it is estimated if everybody followed the device, unbiased."""
        u, v = self._laws[0][1]
        return float((self._seen[0] @ self.response_shares.value - u) / (v - u))

    @property
    def uncorrected_error(self) -> float:
        """Its standard error."""
        u, v = self._laws[0][1]
        yes = self._seen[0]
        return float(
            np.sqrt(max(yes @ self.response_shares.covariance @ yes, 0.0))
            / abs(v - u)
        )

    @property
    def _title(self) -> str:
        return f"{self.designs[0].name} with a control item"

    @property
    def _notes(self) -> tuple[str, ...]:
        _, yes = self.designs[0].categories
        uncorrected = (
            f"If everybody had followed the device, the share of {yes!r} would be {self.uncorrected:.4f} "
            f"({self.uncorrected_error:.4f}). That people attend to both items alike, and otherwise send "
            f"{self.designs[0].symbols[1]!r} with probability {self.guess}, is an assumption."
        )
        # a sample of both knows how they vary together
        if self.joint or self.response_shares.covariance[1, 3]:
            return (uncorrected,)
        return (
            uncorrected,
            "Both margins are taken as independent, which of the same people is a little too wide.",
        )

    _outside = (
        "By chance, or because the control item is not what it is taken for: its truth, its device, or what those "
        "who do not attend send, or people attend less to one of the two items."
    )


def control_item(
    tally: Group | Sequence[Group],
    *,
    sampling: Samplings = None,
    truth: str | None = None,
    guess: Rational = "1/2",
) -> Compliance[ControlItem]:
    """Correct a share for people who answer at random, whom a control item of known truth gives away.

    Implements: [AS23]'s correction of the crosswise model with an anchor, for any two designs with two answers and two
    responses; moments with the delta method, and the joint likelihood of both items, which is a little more precise.

    Args:
        tally: the counts of a `product` of the item and of the control, in this order; or a tally of each. With
            weights or without; or the responses.
        sampling: of responses: how people were drawn.
        truth: everybody's answer to the control; its first category, such as "no", if it is not given.
        guess: the probability with which people who do not attend send the second response.

    Raises:
        InvalidRequest: other designs, or a probability that is none.
        NotEstimable: a control whose attentive responses look like chance, or fewer than two people.

    Example:
        >>> from deniable.designs import direct
        >>> both = product({"habit": crosswise("1/4"), "control": direct()})
        >>> found = control_item(Tally(both, [120, 20, 230, 30]))
        >>> round(found.params["attentive"], 3), round(found.model.uncorrected, 3)
        (0.75, 0.2)
    """
    groups = tuple(tally) if isinstance(tally, Sequence) else (tally,)
    check_kinds(groups)
    is_joint = len(groups) == 1 and len(groups[0].design.factors) == 2
    items = groups[0].design.factors if is_joint else groups
    designs = [item.design for item in items]
    if len(designs) != 2 or not all(map(is_binary, designs)):
        raise InvalidRequest(
            "expected counts of an item and of a control item, each with two answers and two responses.",
            'For example a tally of dn.product({"habit": dn.crosswise("1/4"), "control": dn.crosswise("1/4")}).',
        )
    tallies, sample = gather(groups, sampling)
    for counts in tallies:
        check_people(counts.respondents)
    control = designs[1]
    answer = control.categories[0] if truth is None else truth
    if answer not in control.categories:
        raise InvalidRequest(
            f"the truth of the control is not one of {', '.join(map(repr, control.categories))}."
        )
    model = ControlItem(
        tallies, answer, exact.probability(guess, name="guess"), sample=sample
    )
    if control.probability(control.symbols[1], given=answer) == model.guess:
        raise NotEstimable(
            f"people who attend send {control.symbols[1]!r} to the control as often as those who do not.",
            "Use a control item, or a device for it, that tells them apart.",
        )
    return Compliance(model)


def anchored_crosswise(
    *,
    p: Rational,
    anchor: Rational | None = None,
    table: Sequence[Sequence[int]] | None = None,
    same: int | None = None,
    anchor_same: int | None = None,
    respondents: int | None = None,
    guess: Rational = "1/2",
) -> Compliance[ControlItem]:
    """Correct a crosswise estimate with an anchor: the same task about a statement that is false for everybody.

    It is `control_item` for numbers out of a publication; [AS23]. Without an anchor,
    `dn.estimate(tally).sensitivity("random")` shows the same correction for every share of people who do not attend.

    Args:
        p: the share of yes to the item's harmless question.
        anchor: that of the anchor's; p, if it is not given.
        table: counts, a row for "different" and "same" to the item, a column for the same of the anchor.
        same: instead of a table, how many said "same" to the item …
        anchor_same: … to the anchor …
        respondents: … and how many responded.
        guess: the probability with which people who do not attend say "same".

    Raises:
        InvalidRequest: numbers that do not fit.
        NotEstimable: an anchor that tells nothing, or fewer than two people.

    Example:
        >>> found = anchored_crosswise(p=0.15, table=[[148, 425], [311, 1116]])
        >>> model = found.model
        >>> round(model.uncorrected, 4), round(model.moments["yes"], 4), round(found.params["yes"], 4)
        (0.195, 0.1054, 0.1194)
    """
    item, control = crosswise(p), crosswise(p if anchor is None else anchor)
    if table is not None:
        cells = np.asarray(table)
        if cells.shape != (2, 2):
            raise InvalidRequest(
                "the table does not have two rows and two columns; expected different and same."
            )
        design = product({"item": item, "anchor": control})
        return control_item(Tally(design, cells.ravel()), guess=guess)
    margins = [
        count_second(item, same, respondents),
        count_second(control, anchor_same, respondents),
    ]
    return control_item(margins, guess=guess)
