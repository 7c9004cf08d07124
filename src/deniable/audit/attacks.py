"""Inference attacks on the responses of all stages, as voting.

last output                  an answer for which the last response is most likely: for k-ary designs the response itself
maximum likelihood           an answer for which all responses together are most likely
highest frequency            the answer that most responses speak for
weighted highest frequency   the same, each response with the weight ε of its stage

A response speaks for the answers that are most likely to give it. Among equals the guess is made evenly at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deniable.channel import Channel, Diagonal
from deniable.criteria.belief import Prior, least_bayes_error
from deniable.design import Design
from deniable.errors import InvalidRequest
from deniable.gradual.ladder import Ladder

ATTACKS = ("last output", "maximum likelihood", "highest frequency", "weighted highest frequency")
"""The attacks of [Pan24], Section 6."""

_MOST_RESPONSES = 1 << 12
_DIGITS = 10**12  # certified ε, told apart at this precision: 0.1 and 0.2 weigh as much as 0.3


@dataclass(frozen=True)
class Rates(Mapping[str, float]):
    """How often each attack guesses wrongly, and the bound.

    Attributes:
        errors: the error rate of each attack; exact `Fraction`s where these were asked for.
        bound: no attack of any kind has a smaller error rate: that of Bayes' rule on the last stage's parity.
        standard: the standard error of each rate where it was simulated, else 0.
    """

    errors: Mapping[str, float | Fraction]
    bound: float | Fraction
    standard: Mapping[str, float]

    def __getitem__(self, attack: str) -> float:
        return float(self.errors[attack])

    def __iter__(self) -> Iterator[str]:
        return iter(self.errors)

    def __len__(self) -> int:
        return len(self.errors)

    def beaten(self, *, by: float = 4.0) -> tuple[str, ...]:
        """Return the attacks whose error rate is below the bound, by more than so many standard errors."""
        room = 1e-12  # of floats that are summed up
        return tuple(
            each
            for each in self
            if self[each] < float(self.bound) - by * self.standard[each] - room * float(self.bound)
        )


@dataclass(frozen=True)
class Chain:
    """A ladder as an attacker sees it: for each stage the responses that occur, and what each speaks for."""

    ladder: Ladder

    @classmethod
    def of(cls, subject: Ladder | Design) -> Chain:
        """Return the chain of a ladder, or of a single design."""
        return cls(Ladder((subject,), ()) if isinstance(subject, Design) else subject)

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.ladder.designs[0].channel.answers

    @cached_property
    def sent(self) -> tuple[tuple[int, ...], ...]:
        """The responses that occur at each stage."""
        return tuple(_sent(design.channel) for design in self.ladder)

    @cached_property
    def votes(self) -> tuple[dict[int, tuple[int, ...]], ...]:
        """For each stage and response the answers that are most likely to give it."""
        return tuple(
            {response: _likeliest(design.channel, response) for response in sent}
            for design, sent in zip(self.ladder, self.sent, strict=True)
        )

    @property
    def symmetric(self) -> bool:
        """Whether every stage sends a category and treats all of them alike."""
        return all(isinstance(design.channel, Diagonal) for design in self.ladder)

    def weights(self, given: Sequence[float] | None) -> tuple[int, ...]:
        """Return the weights of the stages as whole numbers; the certified ε, if none are given.

        Raises:
            InvalidRequest: not one weight for each stage, or some that cannot be told from 0 or from infinity.
        """
        found = list(self.ladder.epsilons) if given is None else list(given)
        fits = len(found) == len(self.ladder) and all(1 / _DIGITS <= each <= _DIGITS for each in found)
        if not fits:
            raise InvalidRequest(f"the weights are {found}; expected {len(self.ladder)} of them, from 1e-12 to 1e12.")
        return tuple(round(each * _DIGITS) for each in found)

    def bound(self, prior: Sequence[Fraction]) -> Fraction:
        """Return the smallest error rate that any attack can have at the last stage's parity."""
        return least_bayes_error(self.ladder.joint_parity, list(prior))


def even(size: int) -> tuple[Fraction, ...]:
    """Return the prior that holds all answers equally probable."""
    return (Fraction(1, size),) * size


def priors(chain: Chain, prior: Prior | None) -> tuple[Fraction, ...]:
    """Read a prior, even by default.

    Raises:
        InvalidRequest: one that does not add up to 1.
    """
    from deniable.criteria.belief import read_prior

    return even(chain.answers) if prior is None else tuple(read_prior(chain.ladder.designs[-1], prior))


def _sent(channel: Channel) -> tuple[int, ...]:
    if channel.responses > _MOST_RESPONSES:
        raise InvalidRequest(
            f"there are more than {_MOST_RESPONSES:,} responses to go through; expected fewer.",
            "Attack the same design with fewer categories.",
        )
    found = (r for r in range(channel.responses) if channel.possible(r))
    return tuple(r for r in found if channel.extremes(r)[0] > 0)


def _likeliest(channel: Channel, response: int) -> tuple[int, ...]:
    row = [channel.probability(response, given=x) for x in range(channel.answers)]
    return tuple(x for x, each in enumerate(row) if each == max(row))
