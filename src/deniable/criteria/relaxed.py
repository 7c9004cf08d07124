"""(ε, δ): a factor of e^ε, but for a probability of δ; and the whole curve δ(ε) of a channel."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from deniable import exact
from deniable.channel import Channel
from deniable.criteria.base import (
    Breach,
    Criterion,
    Subject,
    Verdict,
    channel_of,
    format_ratio,
    names_of,
)

_SEARCHED = (
    1_000_000  # comparisons that a search for the worst pair of answers may take
)


@dataclass(frozen=True)
class Relaxed(Criterion):
    """P(S | x) ≤ e^ε·P(S | x′) + δ for all answers x, x′ and all sets S of responses.

    A float is taken with the larger of the number it holds and the decimal it shows, so that a design passes at the
    (ε, δ) it is certified with.

    Guarantee: `check` is exact. `parity` is (e^ε + δ)/(1 − δ): every design of at most this parity meets the demand,
    whatever the number of answers; one of a larger parity may meet it too.

    Why: two columns of parity γ are a garbling of Warner's design with p = γ/(γ + 1), for which δ(ε) = p − e^ε(1 − p).

    Raises:
        InvalidNumber: a negative ε, or a δ outside [0, 1].

    Example:
        >>> from deniable.designs import binary
        >>> Relaxed("0.5", "0.1").check(binary(1, "0.1")).holds
        True
    """

    epsilon: exact.Rational
    delta: exact.Rational

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.non_negative_epsilon(self.epsilon))
        shows = exact.probability(self.delta, name="delta")
        holds = Fraction(self.delta) if isinstance(self.delta, float) else shows
        object.__setattr__(self, "delta", max(shows, holds))

    @cached_property
    def parity(self) -> exact.Ratio:
        """(e^ε + δ)/(1 − δ), with e^ε rounded down."""
        delta = Fraction(self.delta)
        return (self._ratio + delta) / (1 - delta) if delta < 1 else math.inf

    def check(self, subject: Subject) -> Verdict:
        """Compare δ(ε) of a design or a channel with the δ that is allowed, exactly but for e^ε rounded down."""
        channel, allowed = channel_of(subject), Fraction(self.delta)
        attained = channel.delta(self._ratio)
        if attained <= allowed:
            sentence = f"Holds: at ε = {self._epsilon} the design has δ = {format_ratio(attained)}; {self} allows it."
            return Verdict(self, True, allowed, attained, "delta", None, sentence)
        breach = self._breach(subject)
        sentence = (
            f"Fails: at ε = {self._epsilon} the design has δ = "
            f"{format_ratio(attained)}; {self} does not allow it."
        )
        if breach:
            sentence += f" {breach}"
        return Verdict(self, False, allowed, attained, "delta", breach, sentence)

    @cached_property
    def _ratio(self) -> Fraction:
        return exact.exp_below(self.epsilon)

    @property
    def _epsilon(self) -> str:
        return format_ratio(Fraction(self.epsilon))

    def _breach(self, subject: Subject) -> Breach | None:
        """Return the pair of answers and the responses that exceed most, if they can be searched for."""
        channel = channel_of(subject)
        if channel.answers**2 * channel.responses > _SEARCHED:
            return None
        likely, unlikely, responses = _worst(channel, self._ratio)
        p_high, p_low = (
            sum((channel.probability(i, given=j) for i in responses), Fraction(0))
            for j in (likely, unlikely)
        )
        names = names_of(subject, responses[0], likely, unlikely)
        if len(responses) > 1:
            names = (
                f"one of {len(responses)} responses such as {names[0]}",
                *names[1:],
            )
        return Breach(
            responses,
            likely,
            unlikely,
            Fraction(1, 2),
            p_high / (p_high + p_low),
            True,
            names,
        )

    def __str__(self) -> str:
        return f"(ε, δ) = ({self._epsilon}, {format_ratio(Fraction(self.delta))})"


def delta_curve(
    subject: Subject, epsilons: Iterable[exact.Rational]
) -> tuple[float, ...]:
    """Return the smallest δ at each ε at which a design or a channel is (ε, δ)-private, rounded up.

    Implements: δ(ε) = max over answers j, l of Σ_i max(0, P[i, j] − e^ε·P[i, l]) (F2), with e^ε rounded down.

    Raises:
        InvalidNumber: a negative ε.

    Example:
        >>> from deniable.designs import binary
        >>> delta_curve(binary("1", "2/5"), [0, 1, 5])
        (0.4, 0.4, 0.4)
    """
    channel = channel_of(subject)
    ratios = (
        exact.exp_below(exact.non_negative_epsilon(epsilon)) for epsilon in epsilons
    )
    return tuple(exact.float_above(channel.delta(ratio)) for ratio in ratios)


def _worst(channel: Channel, ratio: Fraction) -> tuple[int, int, tuple[int, ...]]:
    """Return the pair of answers with the largest excess, and the responses that make it up."""
    rows = [
        [channel.probability(i, given=j) for j in range(channel.answers)]
        for i in range(channel.responses)
    ]

    def excess(pair: tuple[int, int]) -> Fraction:
        return sum(
            (max(Fraction(0), row[pair[0]] - ratio * row[pair[1]]) for row in rows),
            Fraction(0),
        )

    likely, unlikely = max(permutations(range(channel.answers), 2), key=excess)
    return (
        likely,
        unlikely,
        tuple(i for i, row in enumerate(rows) if row[likely] > ratio * row[unlikely]),
    )
