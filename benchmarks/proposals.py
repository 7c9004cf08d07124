"""What `propose` promises against what `combine` then tells. `python -m benchmarks.proposals`

Warner's design at ε = 1, a proposal for the next ε, a part of the people raised to it from what they sent, and all put
together: 200 surveys at each of four shares. A raised response is drawn by the law of relaxation from the first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

import deniable as dn
from deniable.estimates.linear import floats
from deniable.estimates.shares import Estimate
from deniable.estimates.stages import StageEvidence, combine
from deniable.order.ladders import Ladder
from deniable.plan.stages import Proposal, propose
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

SHARES, SURVEYS = (0.005, 0.03, 0.2, 0.5), 200
FEW, MANY = ((9_000, 1_000), 0.004), ((50_000, 50_000), 0.002)
"""How many stay and how many are raised, and the standard error that is wanted."""

FIRST, MOST = dn.warner(1), 6


class Raised(NamedTuple):
    """A survey whose people were raised as proposed."""

    promise: Proposal
    found: Estimate[StageEvidence]


def counted(stages: Ladder, counts: Sequence[Sequence[int]]) -> StageTallies:
    """Return tallies of people at stages."""
    finest = tuple(
        Tally(design, np.array(each))
        for design, each in zip(stages, counts, strict=True)
    )
    return StageTallies(stages, finest, finest)


def raised(
    people: tuple[int, int], target: float, share: float, rng: np.random.Generator
) -> Raised:
    """Ask everybody, propose, raise the second part of the people, and put all together."""
    sent = floats(FIRST.channel)
    stay, rise = (
        np.array(
            [
                rng.multinomial(number, sent[:, x])
                for x, number in enumerate((n - carriers, carriers))
            ]
        )
        for n, carriers in zip(
            people, rng.binomial(people, share).tolist(), strict=True
        )
    )  # each by answer and response
    now = counted(dn.ladder([FIRST]), [(stay + rise).sum(axis=0).tolist()])
    promise = propose(
        now, target, _warner, most=MOST, willing=people[1] / sum(people)
    )
    if promise.design is None:
        raise RuntimeError(
            "the target is reached already; expected one that is not."
        )
    law = relaxed(sent, floats(promise.design.channel))
    fine = np.sum(
        [rng.multinomial(rise[x, o], law[:, o, x]) for x in (0, 1) for o in (0, 1)],
        axis=0,
    )
    stages = dn.ladder([FIRST, promise.design])
    return Raised(
        promise, combine(counted(stages, [stay.sum(axis=0).tolist(), fine.tolist()]))
    )


def relaxed(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """Return Pr(o2 | o1, x) = C[o1 | o2] · P2[o2 | x] / P1[o1 | x], with P1 = C · P2."""
    garbling = coarse @ np.linalg.inv(fine)
    return np.asarray(garbling.T[:, :, None] * fine[:, None, :] / coarse[None, :, :])


@cache
def _warner(epsilon: dn.Rational) -> dn.Design:
    return dn.warner(epsilon)


class Kept(NamedTuple):
    """How promises were kept.

    Attributes:
        ratio: the mean of the errors told over the mean of those promised.
        near: in which part of the surveys the error told is within 5 % of the one promised.
        held: in which part it is in the range that was told beside it.
        actual: the root mean squared error in fact over the mean of the errors promised.
    """

    ratio: float
    near: float
    held: float
    actual: float


def kept(surveys: Sequence[Raised], share: float) -> Kept:
    """Return how the promises of surveys with a share were kept."""
    told = np.array([each.found.errors.max() for each in surveys])
    promised = np.array([each.promise.expected for each in surveys])
    low, high = np.array([each.promise.between for each in surveys]).T
    wrong = np.array([each.found.value[1] - share for each in surveys])
    return Kept(
        float(told.mean() / promised.mean()),
        float(np.mean(np.abs(told / promised - 1) <= 0.05)),
        float(np.mean((low <= told) & (told <= high))),
        float(np.sqrt(np.mean(wrong**2)) / promised.mean()),
    )


def main() -> None:
    print(
        "| stay, raised | share | told / promised, means | within 5 % | in the range | error in fact / promised |"
    )
    print("|" + "---|" * 6)
    for people, target in (FEW, MANY):
        for share in SHARES:
            rng = np.random.default_rng(19)
            found = kept(
                [raised(people, target, share, rng) for _ in range(SURVEYS)], share
            )
            cells = f"{found.ratio:.3f} | {found.near:.0%} | {found.held:.0%} | {found.actual:.2f}"
            print(
                f"| {people[0]:,}, {people[1]:,} | {share:.1%} | {cells} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
