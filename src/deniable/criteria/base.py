"""Base classes of privacy criteria: the parity that a criterion allows, and the verdict on a channel."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

from deniable import exact
from deniable.channel import Channel
from deniable.exact import Ratio


class Labelled(Protocol):
    """A channel with names for its answers and responses, as every `Design` is."""

    @property
    def channel(self) -> Channel:
        """The exact probabilities, by number."""
        ...

    @property
    def categories(self) -> Sequence[str]:
        """Labels of the answers."""
        ...

    @property
    def symbols(self) -> Sequence[str]:
        """Labels of the responses."""
        ...


Subject: TypeAlias = Channel | Labelled
"""What can be judged: a design, or a channel without names."""


class Bounds(NamedTuple):
    """The least and the largest probability that an event may have after a response."""

    lower: Fraction
    upper: Fraction


@dataclass(frozen=True)
class Breach:
    """Violation of a criterion: responses, a pair of answers, a prior and its posterior.

    Attributes:
        responses: the response that does it; several where only together they do.
        likely: the answer that they speak for.
        unlikely: the answer that they speak against.
        prior: how probable somebody may have held `likely` before, all the rest on `unlikely`.
        posterior: how probable they then hold it afterwards.
        upward: whether the belief in `likely` rises too high; otherwise that in `unlikely` falls too low.
        names: what the response, `likely` and `unlikely` are called.
    """

    responses: tuple[int, ...]
    likely: int
    unlikely: int
    prior: Fraction
    posterior: Fraction
    upward: bool = True
    names: tuple[str, str, str] = field(default=("", "", ""), compare=False)

    @property
    def response(self) -> int:
        """The response, or the first of several."""
        return self.responses[0]

    def __str__(self) -> str:
        response, likely, unlikely = self.names
        if self.upward:
            return (
                f"Somebody who gave {likely} a probability of {format_ratio(self.prior)} gives it "
                f"{format_ratio(self.posterior)} after {response}."
            )
        return (
            f"Somebody who gave {unlikely} a probability of {format_ratio(1 - self.prior)} gives it only "
            f"{format_ratio(1 - self.posterior)} after {response}."
        )


@dataclass(frozen=True)
class Verdict:
    """Whether a channel meets a demand, and where not.

    Attributes:
        criterion: the demand.
        holds: whether it is met; also the truth value of the verdict.
        required: the most that is allowed.
        attained: what the channel has, exactly.
        measure: what the two numbers are: "parity", "delta" or "posterior".
        witness: where it fails; None where it holds, or where the channel is too large to search.
        sentence: all this in words.
    """

    criterion: Criterion
    holds: bool
    required: Ratio
    attained: Ratio
    measure: str
    witness: Breach | None
    sentence: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.sentence


class Criterion(ABC):
    """A demand on privacy: what counts as private."""

    @property
    @abstractmethod
    def parity(self) -> Ratio:
        """The largest γ such that every channel of parity γ or less meets the demand, rounded down."""

    @abstractmethod
    def check(self, subject: Subject) -> Verdict:
        """Judge a design or a channel, exactly."""

    @abstractmethod
    def __str__(self) -> str:
        """Return the demand in a few words."""

    def as_epsilon(self) -> float:
        """Return an ε, rounded down, at which every locally private design meets the demand."""
        above = exact.log_above(self.parity)
        return above if above in (0, math.inf) else math.nextafter(above, 0)


class ByResponse(Criterion):
    """A demand on every response for itself, by linear conditions on its likelihoods."""

    @abstractmethod
    def conditions(self, subject: Subject) -> list[list[Fraction]]:
        """Return rows a with a·r ≥ 0 for the likelihoods r of a response given each answer of a design."""


class Strict(Criterion):
    """A demand on every belief after every response, whatever was believed before.

    Implements: strict information privacy, [Cha19] Definition 3.6. By its Theorem 4.1 such a demand holds exactly when
    the parity is at most B(h), which is `parity` here: larger fails, and somebody's belief shows it.
    """

    @abstractmethod
    def bounds(self, prior: exact.Rational) -> Bounds:
        """Return the bounds on the posterior of an event with this prior: the borders of the breach region."""

    def both_ways(self, prior: exact.Rational) -> Bounds:
        """Return the tighter bounds that follow if the complement of the event must satisfy `bounds` too.

        Implements: [h_l ⋆ h_u] of [Cha19], Lemma 4.1: an event may rise to h(p) = min{h_u(p), 1 − h_l(1 − p)} and fall
        to 1 − h(1 − p). The demand is the same; its breach region is shown in full.

        Example:
            >>> from deniable.criteria import RhoToRho
            >>> RhoToRho("1/10", "1/2").both_ways("1/20") == RhoToRho("1/10", "1/2").bounds("1/20")
            True
        """
        p = exact.probability(prior, name="prior")
        bounds, complement_bounds = self.bounds(p), self.bounds(1 - p)
        return Bounds(
            max(bounds.lower, 1 - complement_bounds.upper),
            min(bounds.upper, 1 - complement_bounds.lower),
        )

    @abstractmethod
    def breaking_prior(self, gamma: Ratio) -> tuple[Fraction, bool]:
        """Return a prior at which a parity above the allowed one breaks the demand, and whether upward."""

    def check(self, subject: Subject) -> Verdict:
        """Compare the parity of a design or a channel with what is allowed, exactly."""
        channel = channel_of(subject)
        attained, required = channel.parity, self.parity
        if attained <= required:
            sentence = (
                f"Holds: no response is more than {format_ratio(attained)} times as likely from one answer as from "
                f"another; {format_ratio(required)} is allowed by {self}."
            )
            return Verdict(self, True, required, attained, "parity", None, sentence)
        response, likely, unlikely = channel.witness
        prior, upward = self.breaking_prior(attained)
        posterior = _posterior(channel, response, likely, unlikely, prior)
        names = names_of(subject, response, likely, unlikely)
        breach = Breach(
            (response,), likely, unlikely, prior, posterior, upward, names
        )
        sentence = (
            f"Fails: a factor of {format_ratio(required)} is allowed by {self}, but {_ratio_clause(names, attained)}. "
            f"{breach}"
        )
        return Verdict(self, False, required, attained, "parity", breach, sentence)


def channel_of(subject: Subject) -> Channel:
    """Return the channel of a design, or the channel itself."""
    return subject if isinstance(subject, Channel) else subject.channel


def names_of(
    subject: Subject, response: int, likely: int, unlikely: int
) -> tuple[str, str, str]:
    """Return the labels of a response and of two answers."""
    if isinstance(subject, Channel):
        return f"response {response}", f"answer {likely}", f"answer {unlikely}"
    return (
        f"{subject.symbols[response]!r}",
        f"{subject.categories[likely]!r}",
        f"{subject.categories[unlikely]!r}",
    )


def format_ratio(number: Ratio) -> str:
    """Return a number for a sentence."""
    return "∞" if number == math.inf else f"{float(number):.6g}"


def max_posterior(gamma: Ratio, prior: Fraction) -> Fraction:
    """Return h_γ(p) = γp / (1 + (γ − 1)p): the largest posterior at parity γ ([Cha19], eq. 4.9)."""
    if gamma == math.inf:
        return Fraction(prior > 0)
    ratio = Fraction(gamma)
    return ratio * prior / (1 + (ratio - 1) * prior)


def _posterior(
    channel: Channel, response: int, likely: int, unlikely: int, prior: Fraction
) -> Fraction:
    joint = prior * channel.probability(response, given=likely)
    return joint / (
        joint + (1 - prior) * channel.probability(response, given=unlikely)
    )


def _ratio_clause(names: tuple[str, str, str], times: Ratio) -> str:
    response, likely, unlikely = names
    if times == math.inf:
        return f"{response} is sent from {likely} and never from {unlikely}"
    return f"{response} is {format_ratio(times)} times as likely from {likely} as from {unlikely}"
