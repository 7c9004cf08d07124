"""What is said about a choice between two-answer designs.

The variance per respondent of a design (p00, p11) is −π² + bπ + c with D = p00 + p11 − 1, b = (2p00 − 1)/D and
c = p00(1 − p00)/D². Two designs therefore differ by a straight line in the share π: which one is better over a range,
and what the wrong one costs, is decided at the ends of the range.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from deniable.channel import Channel
from deniable.design.design import Design


class Curve(NamedTuple):
    """The variance per respondent of the unbiased estimate, −π² + bπ + c, as the share π of the second answer moves."""

    b: Fraction
    c: Fraction

    @classmethod
    def of(cls, channel: Channel) -> Curve:
        """Return the curve of a channel with two answers and two responses."""
        p00, p11 = (channel.probability(j, given=j) for j in (0, 1))
        D = p00 + p11 - 1
        return cls((2 * p00 - 1) / D, p00 * (1 - p00) / D**2)

    def at(self, share: Fraction) -> Fraction:
        """Return the variance at a share."""
        return (self.b - share) * share + self.c

    def worst(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the largest variance over a range of shares."""
        return self.at(min(max(self.b / 2, low), high))


@dataclass(frozen=True)
class Candidate:
    """A design that was considered.

    Attributes:
        design: the design.
        variance: its variance per respondent at the guessed share.
        worst: the largest one over the range.
        regret: by how much its variance is above the best candidate's, at most over the range.
        regret_at: the share at which that happens.
        exposes: whether a response of it gives an answer away.
    """

    design: Design
    variance: float
    worst: float
    regret: float
    regret_at: float
    exposes: bool

    def __str__(self) -> str:
        p00, p11 = (self.design.probability(name, given=name) for name in self.design.categories)
        return f"{self.design.name} (p00 = {float(p00):.6g}, p11 = {float(p11):.6g}, ε = {self.design.epsilon:.6g})"


@dataclass(frozen=True)
class BinaryChoice:
    """A design for two answers, with the reasons for it.

    Attributes:
        chosen: the design that was chosen, with its variances.
        others: the runners-up, the best first.
        low: the smallest share of the second answer that was reckoned with.
        high: the largest.
        guess: the share at which `variance` is meant.
        threshold: the share of the rarer answer below which a lopsided design has the smaller variance; g(ε, δ) for the
            one that exposes people.
        decided: whether the chosen design is the best of the candidates at every share of the range.
        why: the reasons, in words.
        note: what should be known about exposing people, in words; may be empty.
    """

    chosen: Candidate
    others: tuple[Candidate, ...]
    low: float
    high: float
    guess: float
    threshold: float
    decided: bool
    why: str
    note: str

    @property
    def design(self) -> Design:
        """The chosen design."""
        return self.chosen.design

    @property
    def variance(self) -> float:
        """The variance per respondent at the guessed share; divide by the number of respondents."""
        return self.chosen.variance

    @property
    def runner_up(self) -> Candidate | None:
        """The second best, if there was a choice."""
        return self.others[0] if self.others else None

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.chosen}.", self.why, self.note) if part)
