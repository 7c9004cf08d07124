"""A statistical test that says how often it cries wolf, what it must catch, and how surely.

Every cell of the channel gets an exact binomial acceptance region; the rate of false alarms is shared among all cells
(Bonferroni). Before anything is drawn, n is checked against the promised power: a test that could not find the fault it
is there for refuses to run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable.designs import Design
from deniable.documents import Response

FALSE_ALARM = 1e-9
CATCHES = Fraction(3, 100)
COARSE = Fraction(1, 10)
"""What is caught where many designs are drawn from: a tenth of the draws that `CATCHES` needs."""
POWER = 0.999


class TooFewDraws(Exception):
    """The test cannot keep its promise with this n. Not an AssertionError: nothing was found wrong."""


@dataclass(frozen=True)
class Regions:
    """For each answer and response the counts that are accepted: from `low` to `high`, both included."""

    probability: NDArray[np.float64]  # [answer, response]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    n: int

    @classmethod
    def of(cls, design: Design, n: int, false_alarm: float) -> Regions:
        channel = design.channel
        exactly = [
            [channel.probability(i, given=j) for i in range(channel.responses)]
            for j in range(channel.answers)
        ]
        cells = np.array(exactly, dtype=np.float64)
        tail = false_alarm / cells.size / 2
        return cls(
            cells,
            low=binom.ppf(tail, n, cells).clip(0).astype(np.int64),
            high=binom.isf(tail, n, cells).clip(0).astype(np.int64),
            n=n,
        )

    def power(self, shift: float) -> float:
        """Return how surely the worst cell is found when its probability is off by `shift`."""
        low, high = self.low - 1, self.high
        found = [
            np.where(
                (moved >= 0)
                # a probability cannot be off by more than there is room for
                & (moved <= 1),
                binom.cdf(low, self.n, moved.clip(0, 1))
                + binom.sf(high, self.n, moved.clip(0, 1)),
                1.0,
            )
            for moved in (self.probability - shift, self.probability + shift)
        ]
        return float(np.min(found))

    def check(self, design: Design, answer: int, counts: Sequence[int]) -> None:
        """Fail where a count of the responses to one answer lies outside its region."""
        assert sum(counts) == self.n, (
            f"{sum(counts)} responses were counted; expected {self.n}"
        )
        wrong = [
            f"{design.symbols[i]!r} given {design.categories[answer]!r}: {count:,} of {self.n:,}, "
            f"expected {self.low[answer, i]:,} to {self.high[answer, i]:,} "
            f"(probability {self.probability[answer, i]:.6g})"
            for i, count in enumerate(counts)
            if not self.low[answer, i] <= count <= self.high[answer, i]
        ]
        assert not wrong, (
            f"draws of {design!r} do not follow its channel:\n" + "\n".join(wrong)
        )


def regions(
    design: Design,
    *,
    n: int,
    false_alarm: float = FALSE_ALARM,
    catches: Fraction = CATCHES,
    power: float = POWER,
) -> Regions:
    """Return the acceptance regions for n draws per answer.

    Raises:
        TooFewDraws: a cell that is off by `catches` would not be found with probability `power`.
    """
    found = Regions.of(design, n, false_alarm)
    if (reached := found.power(float(catches))) < power:
        raise TooFewDraws(
            f"{n:,} draws find a cell that is off by {catches} with {reached:.4f}; expected {power}."
        )
    return found


def draws_needed(
    design: Design,
    *,
    false_alarm: float = FALSE_ALARM,
    catches: Fraction = CATCHES,
    power: float = POWER,
) -> int:
    """Return a number of draws per answer that keeps the promise, to the next thousand."""
    n = 1_000
    while Regions.of(design, n, false_alarm).power(float(catches)) < power:
        n += 1_000
    return n


def assert_counts_follow(
    design: Design,
    counts: Sequence[Sequence[int]],
    *,
    false_alarm: float = FALSE_ALARM,
    catches: Fraction = CATCHES,
    power: float = POWER,
) -> None:
    """Fail where counts, `counts[answer][response]` from equally many draws per answer, do not follow the channel."""
    assert len(counts) == design.channel.answers, "expected counts for each answer"
    found = regions(
        design,
        n=int(sum(counts[0])),
        false_alarm=false_alarm,
        catches=catches,
        power=power,
    )
    for answer, row in enumerate(counts):
        assert len(row) == design.channel.responses, (
            "expected a count for each response"
        )
        found.check(design, answer, [int(count) for count in row])


def assert_draws_follow(
    design: Design,
    draw: Callable[[str], Response],
    *,
    n: int,
    false_alarm: float = FALSE_ALARM,
    catches: Fraction = CATCHES,
    power: float = POWER,
) -> None:
    """Draw n responses to each answer and fail where they do not follow the channel of the design.

    Args:
        design: what is claimed.
        draw: what is run: from an answer to a response.
        n: draws for each answer.
        false_alarm: how often a right channel fails, all cells taken together.
        catches: a cell that is off by this much …
        power: … is found this surely, or the test refuses to run.
    """
    found = regions(
        design, n=n, false_alarm=false_alarm, catches=catches, power=power
    )
    for number, answer in enumerate(design.categories):
        responses = [draw(answer) for _ in range(n)]
        assert {response.design for response in responses} == {design.hash}, (
            "a response names another design"
        )
        sent = Counter(response.symbol for response in responses)
        found.check(
            design, number, [sent.pop(symbol, 0) for symbol in design.symbols]
        )
