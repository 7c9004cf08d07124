"""Privacy loss of colluding buyers: computed exactly, equal to that of the best-informed one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.channel import Channel
from deniable.errors import InvalidRequest, require
from deniable.order.ladders import Ladder, as_ladder
from deniable.order.steps import Step, possible_responses

__all__ = ["CoalitionLoss", "coalition_loss"]

_MOST_HISTORIES = (
    100_000  # of responses, times answers, that are gone through: a second or two
)

Law = dict[tuple[int, ...], list[Fraction]]
"""P(responses | answer), a row for each combination of responses, the coarsest first."""


@dataclass(frozen=True)
class CoalitionLoss:
    """Joint privacy loss of the responses that a coalition holds.

    Attributes:
        best: the finest stage among them.
        parity: of all their responses together.
        alone: the parity of the finest stage by itself.
        same: whether the belief of somebody who sees them all is, for every prior, that of who sees the finest alone.
        gone_through: whether every combination of responses was gone through. For designs too large for that, it
            follows from P₁ = C·P₂, which each step verified with the numbers that it draws with.
    """

    best: int
    parity: exact.Ratio
    alone: exact.Ratio
    same: bool
    gone_through: bool

    @property
    def epsilon(self) -> float:
        """The ε of all responses together, rounded up."""
        return exact.log_above(self.parity)


def coalition_loss(ladder: Ladder, stages: Iterable[int]) -> CoalitionLoss:
    """Return the joint privacy loss of colluding buyers who hold these stages of a ladder.

    Guarantee: computed from the law by which the responses are drawn, in exact numbers.

    Args:
        ladder: the stages that are sold.
        stages: the numbers of the stages that the coalition holds, counted from 0.

    Raises:
        InvalidRequest: no stage, or one that the ladder does not have.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> known = coalition_loss(ladder([warner(p="3/5"), warner(p="2/3"), warner(p="3/4")]), [0, 1])
        >>> known.parity, known.same
        (Fraction(2, 1), True)
    """
    require(
        as_ladder(ladder) is not None,
        ladder,
        "what is sold",
        "a ladder of stages, as dn.ladder() returns",
    )
    stage_numbers = list(stages) if isinstance(stages, Iterable) else [stages]
    require(
        all(isinstance(number, int) for number in stage_numbers),
        stages,
        "stages",
        "numbers of stages, counted from 0",
    )
    held = sorted(set(stage_numbers))
    if not held or not 0 <= held[0] <= held[-1] < len(ladder):
        raise InvalidRequest(
            f"the stages held are {held}; expected some of 0 to {len(ladder) - 1}."
        )
    best = held[-1]
    alone = ladder.designs[best].parity
    law = _joint_distribution(ladder, held)
    if law is None:
        proved = all(step.verify() for step in ladder.steps[held[0] : best])
        return CoalitionLoss(
            best, alone if proved else float("inf"), alone, proved, gone_through=False
        )
    parity = max(exact.ratio(max(row), min(row)) for row in law.values())
    rows = _rows(ladder.designs[best].channel)
    same = all(_proportional(row, rows[history[-1]]) for history, row in law.items())
    return CoalitionLoss(best, parity, alone, same, gone_through=True)


def _joint_distribution(ladder: Ladder, stages: list[int]) -> Law | None:
    """Write out the law of the responses held, from the finest downwards; None where it is too large."""
    finest = ladder.designs[stages[-1]].channel
    max_rows = _MOST_HISTORIES // finest.answers
    if finest.responses > max_rows:
        return None
    law: Law = {(r,): row for r, row in _rows(finest).items()}
    # The first response is that of the stage just reached; it stays if somebody holds it, else it is summed out.
    for number in reversed(range(stages[0], stages[-1])):
        step = ladder.steps[number]
        if (
            step.old.responses > max_rows
            or len(law) * len(possible_responses(step.old)) > max_rows
        ):
            return None
        law = _degrade_distribution(law, step, keep=number + 1 in stages)
    return law


def _degrade_distribution(law: Law, step: Step, *, keep: bool) -> Law:
    law_below: Law = {}
    shares = {
        new: [
            (old, share)
            for old in possible_responses(step.old)
            if (share := step.garbling(old, new))
        ]
        for new in {history[0] for history in law}
    }
    for history, row in law.items():
        for old, share in shares[history[0]]:
            key = (old, *(history if keep else history[1:]))
            joint = [share * p for p in row]
            law_below[key] = (
                joint
                if key not in law_below
                else [a + b for a, b in zip(law_below[key], joint, strict=True)]
            )
    return law_below


def _rows(channel: Channel) -> dict[int, list[Fraction]]:
    rows = {
        r: [channel.probability(r, given=x) for x in range(channel.answers)]
        for r in possible_responses(channel)
    }
    return {r: row for r, row in rows.items() if any(row)}


def _proportional(left: list[Fraction], right: list[Fraction]) -> bool:
    index = next(number for number, value in enumerate(right) if value)
    return bool(left[index]) and all(
        a * right[index] == b * left[index] for a, b in zip(left, right, strict=True)
    )
