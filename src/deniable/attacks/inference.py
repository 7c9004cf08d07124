"""Inference attacks on the responses of all stages, as voting, and their exact error rates on short chains.

last output                  an answer for which the last response is most likely: for k-ary designs the response itself
maximum likelihood           an answer for which all responses together are most likely
highest frequency            the answer that most responses speak for
weighted highest frequency   the same, each response with the weight ε of its stage
Bayes' rule                  an answer that is most probable given prior and responses: no attack errs less often

A response speaks for the answers that are most likely to give it. Among equals the guess is made evenly at random. All
but Bayes' rule pass the prior over, so that guessing blindly can be better than they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING

from deniable.channel import Channel
from deniable.criteria.belief import Prior, least_bayes_error
from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.order.ladders import Ladder
from deniable.rendering import Rendered, Sheet, formats

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture

VOTES = (
    "last output",
    "maximum likelihood",
    "highest frequency",
    "weighted highest frequency",
)
"""The attacks of [Pan24], Section 6."""

BAYES = "Bayes' rule"
"""The attack that uses the prior."""

ATTACKS = (*VOTES, BAYES)
"""All attacks."""

_MAX_RESPONSES = 1 << 12
_MAX_STATES = (
    1_000_000  # states times responses that each leads to: some ten seconds
)
_MAX_HISTORIES = 200_000
# Certified ε are told apart at this precision: 0.1 and 0.2 weigh as much as 0.3.
_DIGITS = 10**12


@dataclass(frozen=True)
class Rates(Rendered, Mapping[str, float]):
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

    def __str__(self) -> str:
        return self.to_text()

    def _sheet(self) -> Sheet:
        columns = [self, self.standard][: 2 if any(self.standard.values()) else 1]
        rows = [
            (name, *(formats.percent(rates[name]) for rates in columns))
            for name in self
        ]
        return Sheet(
            "How often an attacker who sees the responses guesses an answer wrongly",
            ("attack", "wrong", "standard error")[: 1 + len(columns)],
            tuple(rows),
            notes=(
                f"No attack of any kind is wrong less often than {formats.percent(float(self.bound))}.",
            ),
        )

    def _picture(self, title: str) -> Picture:
        from deniable.rendering.pictures import draw_bars

        sheet = self._sheet()
        return draw_bars(
            [*self.items()], title or sheet.title, "wrong", ordered=False
        )

    def beaten(self, *, by: float = 4.0) -> tuple[str, ...]:
        """Return the attacks whose error rate is below the bound, by more than so many standard errors."""
        room = 1e-12  # of floats that are summed up
        return tuple(
            rate
            for rate in self
            if self[rate]
            < float(self.bound) - by * self.standard[rate] - room * float(self.bound)
        )


@dataclass(frozen=True)
class Chain:
    """A ladder as an attacker sees it: for each stage the responses that occur, and what each speaks for."""

    ladder: Ladder

    @classmethod
    def of(cls, subject: Ladder | Design) -> Chain:
        """Return the chain of a ladder, or of a single design."""
        return cls(
            Ladder((subject,), ()) if isinstance(subject, Design) else subject
        )

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.ladder.designs[0].channel.answers

    @cached_property
    def sent(self) -> tuple[tuple[int, ...], ...]:
        """The responses that occur at each stage."""
        return tuple(_possible_responses(design.channel) for design in self.ladder)

    @cached_property
    def votes(self) -> tuple[dict[int, tuple[int, ...]], ...]:
        """For each stage and response the answers that are most likely to give it."""
        return tuple(
            {
                response: _likeliest(design.channel, response)
                for response in responses
            }
            for design, responses in zip(self.ladder, self.sent, strict=True)
        )

    @property
    def symmetric(self) -> bool:
        """Whether every stage sends a category and treats all of them alike."""
        return all(design.channel.exchangeable for design in self.ladder)

    def weights(self, given: Sequence[float] | None) -> tuple[int, ...]:
        """Return the weights of the stages as whole numbers; the certified ε, if none are given.

        Raises:
            InvalidRequest: not one weight for each stage, or some that cannot be told from 0 or from infinity.
        """
        weights = list(self.ladder.epsilons) if given is None else list(given)
        fits = len(weights) == len(self.ladder) and all(
            1 / _DIGITS <= weight <= _DIGITS for weight in weights
        )
        if not fits:
            raise InvalidRequest(
                f"the weights are {weights}; expected {len(self.ladder)} of them, from 1e-12 to 1e12."
            )
        return tuple(round(weight * _DIGITS) for weight in weights)

    def follow(self, at: int, old: int, answer: int) -> list[tuple[int, Fraction]]:
        """Return the responses of a stage that can follow the one before, with their probabilities given the answer."""
        if at == 0:
            first = self.ladder.designs[0].channel
            row = [
                (new, first.probability(new, given=answer)) for new in self.sent[0]
            ]
        else:
            step = self.ladder.steps[at - 1]
            news = self.sent[at] if step.old.probability(old, given=answer) else ()
            row = [(new, step.kernel(new, old=old, given=answer)) for new in news]
        return [(new, p) for new, p in row if p]

    def bound(self, prior: Sequence[Fraction]) -> Fraction:
        """Return the smallest error rate that any attack can have at the last stage's parity."""
        return least_bayes_error(self.ladder.joint_parity, list(prior))


def uniform_prior(size: int) -> tuple[Fraction, ...]:
    """Return the uniform prior over answers."""
    return (Fraction(1, size),) * size


def priors(chain: Chain, prior: Prior | None) -> tuple[Fraction, ...]:
    """Read a prior, even by default.

    Raises:
        InvalidRequest: one that does not add up to 1.
    """
    from deniable.criteria.belief import read_prior

    return (
        uniform_prior(chain.answers)
        if prior is None
        else tuple(read_prior(chain.ladder.designs[-1], prior))
    )


def _possible_responses(channel: Channel) -> tuple[int, ...]:
    if channel.responses > _MAX_RESPONSES:
        raise InvalidRequest(
            f"there are more than {_MAX_RESPONSES:,} responses to go through; expected fewer.",
            "Attack the same design with fewer categories.",
        )
    responses = (r for r in range(channel.responses) if channel.possible(r))
    return tuple(r for r in responses if channel.extremes(r)[0] > 0)


def _likeliest(channel: Channel, response: int) -> tuple[int, ...]:
    row = [channel.probability(response, given=x) for x in range(channel.answers)]
    return tuple(x for x, p in enumerate(row) if p == max(row))


State = tuple[int, tuple[int, ...]]
"""The last response, and the votes for each answer so far."""

Number = float | Fraction


def error_rates(
    subject: Ladder | Design,
    *,
    prior: Prior | None = None,
    weights: Sequence[float] | None = None,
    exact: bool = False,
) -> Rates:
    """Return how often each attack guesses wrongly, without drawing anything.

    Implements: [Pan24], Section 6; F16. Votes are added up over all histories at once: all that matters of a history is
    its last response and its votes, and for k-ary designs the other categories may change places. The maximum of the
    likelihood is gone through history by history where these are few; otherwise it is that of the last response, which
    the other ones, made from it without a look at the answer, cannot improve.

    Args:
        subject: the stages; or a single design.
        prior: how probable the answers are; all alike, if it is not given.
        weights: those of the stages in the weighted attack; their ε, if they are not given.
        exact: reckon with rationals instead of floats; slow beyond a few stages.

    Raises:
        InvalidRequest: a chain that is too long or too large to go through; simulate it.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.order.relaxation import ladder
        >>> rates = error_rates(ladder([k_ary(3, p="1/2"), k_ary(3, p="3/4")]), exact=True)
        >>> rates.bound, rates.errors["last output"], rates.errors["highest frequency"]
        (Fraction(1, 4), Fraction(1, 4), Fraction(3, 8))
    """
    chain = Chain.of(subject)
    alphas = priors(chain, prior)
    number: Callable[[Fraction], Number] = Fraction if exact else float
    vote_error = partial(_majority_vote_error, chain, alphas, number=number)
    rates = {
        VOTES[0]: number(_last_response_error(chain, alphas)),
        VOTES[1]: number(_likelihood(chain, alphas)),
        VOTES[2]: vote_error((1,) * len(chain.ladder)),
        VOTES[3]: vote_error(chain.weights(weights)),
        BAYES: number(_bayes(chain, alphas)),
    }
    return Rates(rates, number(chain.bound(alphas)), dict.fromkeys(ATTACKS, 0.0))


def _last_response_error(chain: Chain, alphas: Sequence[Fraction]) -> Fraction:
    """Return the error rate of guessing an answer that the last response speaks for."""
    channel, votes = chain.ladder.designs[-1].channel, chain.votes[-1]
    right = sum(
        (
            alphas[x] * channel.probability(response, given=x) / len(winners)
            for response, winners in votes.items()
            for x in winners
        ),
        Fraction(0),
    )
    return 1 - right


def _likelihood(chain: Chain, alphas: Sequence[Fraction]) -> Fraction:
    """Return the error rate of guessing an answer for which the whole history is most likely."""
    histories = math.prod(map(len, chain.sent))
    if histories * chain.answers > _MAX_HISTORIES:
        assert all(step.verify() for step in chain.ladder.steps)
        return _last_response_error(chain, alphas)
    right = Fraction(0)
    for history in product(*chain.sent):
        row = [
            chain.ladder.probability(history, given=x) for x in range(chain.answers)
        ]
        best = [x for x, p in enumerate(row) if p == max(row)]
        right += sum((alphas[x] * row[x] for x in best), Fraction(0)) / len(best)
    return 1 - right


def _bayes(chain: Chain, alphas: Sequence[Fraction]) -> Fraction:
    """Return the error rate of guessing a most probable answer.

    Why: the responses before are made from the last one without a look at the answer, so that the posterior is that
    given the last response.
    """
    channel = chain.ladder.designs[-1].channel
    return 1 - sum(
        (
            max(
                alpha * channel.probability(response, given=x)
                for x, alpha in enumerate(alphas)
            )
            for response in chain.sent[-1]
        ),
        Fraction(0),
    )


def _majority_vote_error(
    chain: Chain,
    alphas: Sequence[Fraction],
    weights: Sequence[int],
    number: Callable[[Fraction], Number],
) -> Number:
    """Return the error rate of guessing the answer with the most votes."""
    if chain.symmetric:  # it is the same whatever the answer
        return 1 - _p_majority_correct(chain, 0, weights, number)
    wrong = [
        alphas[x]
        and number(alphas[x]) * (1 - _p_majority_correct(chain, x, weights, number))
        for x in range(chain.answers)
    ]
    return sum(wrong, number(Fraction(0)))


def _p_majority_correct(
    chain: Chain,
    answer: int,
    weights: Sequence[int],
    number: Callable[[Fraction], Number],
) -> Number:
    """Return the probability that the majority vote is the true answer, summed over all states of votes."""
    zero = number(Fraction(0))
    states: dict[State, Number] = {(0, (0,) * chain.answers): number(Fraction(1))}
    for at, weight in enumerate(weights):
        _check_states(len(states) * len(chain.sent[at]))
        following: dict[State, Number] = defaultdict(lambda: zero)
        rows: dict[int, list[tuple[int, Number]]] = {}
        for (old, votes), chance in states.items():
            if old not in rows:
                row = chain.follow(at, old, answer)
                rows[old] = [(new, number(p)) for new, p in row]
            for new, p in rows[old]:
                counts = _count_votes(votes, chain.votes[at][new], weight)
                following[_settle(chain, new, counts)] += chance * p
        states = following
    return sum(
        (
            chance / votes.count(max(votes))
            for (_, votes), chance in states.items()
            if votes[answer] == max(votes)
        ),
        zero,
    )


def _check_states(states: int) -> None:
    if states > _MAX_STATES:
        raise InvalidRequest(
            f"there are {states:,} states to go through at one stage; expected at most {_MAX_STATES:,}.",
            "Use attacks.simulate_attacks(), or fewer stages.",
        )


def _count_votes(
    votes: tuple[int, ...], named: Sequence[int], weight: int
) -> tuple[int, ...]:
    return tuple(count + weight * (x in named) for x, count in enumerate(votes))


def _settle(chain: Chain, response: int, votes: tuple[int, ...]) -> State:
    """Return a state; of a symmetric chain the categories other than the answer, which is 0, may change places."""
    if not chain.symmetric:
        return response, votes
    if response == 0:
        return 0, (votes[0], *sorted(votes[1:]))
    further = [count for x, count in enumerate(votes) if x not in (0, response)]
    return 1, (votes[0], votes[response], *sorted(further))
