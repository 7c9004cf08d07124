"""Bayesian beliefs: posteriors after a response, their range, and the Bayes error of the best guess."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from deniable import exact
from deniable.channel import Channel
from deniable.criteria.base import Subject, channel_of, max_posterior
from deniable.errors import InvalidRequest
from deniable.exact import Rational

Prior: TypeAlias = Mapping[str, Rational] | Sequence[Rational]
"""A probability for each answer: in their order, or by category."""

Event: TypeAlias = Collection[str] | Collection[int]
"""Answers, by category or by number."""


class Belief(NamedTuple):
    """Probability of an event before and after a response."""

    response: int
    prior: Fraction
    posterior: Fraction


class BeliefRange(NamedTuple):
    """The responses after which an event is least and most probable."""

    least: Belief
    most: Belief


def posterior(subject: Subject, prior: Prior, response: int) -> tuple[Fraction, ...]:
    """Return the exact probability of each answer after a response.

    Raises:
        InvalidRequest: a prior that does not fit, or under which this response never occurs.

    Example:
        >>> from deniable.designs import warner
        >>> posterior(warner(p="3/4"), ["9/10", "1/10"], 1)
        (Fraction(3, 4), Fraction(1, 4))
    """
    channel = channel_of(subject)
    belief = read_prior(subject, prior)
    joint = [
        share * channel.probability(response, given=j)
        for j, share in enumerate(belief)
    ]
    if not any(joint):
        raise InvalidRequest(
            f"response {response} never occurs under this prior; expected one that can."
        )
    total = sum(joint)
    return tuple(weight / total for weight in joint)


def posterior_range(subject: Subject, prior: Prior, event: Event) -> BeliefRange:
    """Return the smallest and the largest posterior of an event, exactly, with the responses that attain them.

    Raises:
        InvalidRequest: a prior or an event that does not fit.
        InvalidDesign: a channel too large to write out.

    Example:
        >>> from deniable.designs import binary
        >>> posterior_range(binary("9/10", "7/10"), {"no": "4/5", "yes": "1/5"}, ["yes"]).most
        Belief(response=1, prior=Fraction(1, 5), posterior=Fraction(7, 11))
    """
    belief = read_prior(subject, prior)
    chosen = read_event(subject, event)
    before = exact.total(belief[j] for j in chosen)
    beliefs = [
        Belief(response, before, exact.total(joint[j] for j in chosen) / sum(joint))
        for response, joint in joints(channel_of(subject), belief)
    ]
    return BeliefRange(
        min(beliefs, key=lambda belief: belief.posterior),
        max(beliefs, key=lambda belief: belief.posterior),
    )


def bayes_error(subject: Subject, prior: Prior) -> Fraction:
    """Return the Bayes error: the exact probability that the best guess of an answer from its response is wrong.

    Implements: 1 − Σ_i max_j α_j P[i, j] (F16).

    Raises:
        InvalidRequest: a prior that does not fit.
        InvalidDesign: a channel too large to write out.

    Example:
        >>> from deniable.designs import k_ary
        >>> bayes_error(k_ary(4, p="1/2"), ["1/4"] * 4)
        Fraction(1, 2)
    """
    belief = read_prior(subject, prior)
    return 1 - exact.total(
        max(joint) for _, joint in joints(channel_of(subject), belief)
    )


def least_bayes_error(gamma: exact.Ratio, prior: Prior) -> Fraction:
    """Return a bound that the Bayes error of every design of parity γ keeps: 1 − h_γ(max α) (F16).

    Example:
        >>> least_bayes_error(Fraction(3), ["1/4"] * 4)
        Fraction(1, 2)
    """
    weights = list(prior.values()) if isinstance(prior, Mapping) else list(prior)
    return 1 - max_posterior(gamma, max(read_probabilities(weights)))


def joints(
    channel: Channel, belief: Sequence[Fraction]
) -> Iterator[tuple[int, list[Fraction]]]:
    """Yield each response that can occur, with the joint probability of it and each answer."""
    table = channel.dense()
    for response, row in enumerate(table.weights):
        joint = [
            share * weight / table.total
            for share, weight in zip(belief, row, strict=True)
        ]
        if any(joint):
            yield response, joint


def read_prior(subject: Subject, prior: Prior) -> tuple[Fraction, ...]:
    """Read a probability for each answer, by category or in their order.

    Raises:
        InvalidRequest: another number of them, unknown names, negative ones, or a sum that is not 1.
    """
    size = channel_of(subject).answers
    if isinstance(prior, Mapping):
        names = _categories(subject)
        if sorted(prior) != sorted(names):
            raise InvalidRequest(
                f"the prior names {len(prior)} answers; expected exactly the {size} categories of the design."
            )
        prior = [prior[name] for name in names]
    if len(prior) != size:
        raise InvalidRequest(
            f"the prior has {len(prior)} probabilities; expected {size}, one for each answer."
        )
    return read_probabilities(prior)


def read_probabilities(prior: Sequence[Rational]) -> tuple[Fraction, ...]:
    """Read probabilities that add up to 1, or miss it only by the rounding of floats.

    Raises:
        InvalidRequest: another sum.
    """
    values = [exact.probability(share, name="a prior") for share in prior]
    total = exact.total(values)
    if abs(total - 1) > Fraction(1, 10**6):
        raise InvalidRequest(f"the prior adds up to {float(total):.6g}; expected 1.")
    return tuple(value / total for value in values)


def read_event(subject: Subject, event: Event) -> tuple[int, ...]:
    """Read answers by category or by number.

    Raises:
        InvalidRequest: no answer at all, or one that the design does not have.
    """
    entries: list[str | int] = [event] if isinstance(event, str) else list(event)
    size = channel_of(subject).answers
    indices = []
    for entry in entries:
        if isinstance(entry, str):
            names = _categories(subject)
            indices.append(names.index(entry) if entry in names else -1)
        else:
            indices.append(int(entry))
    if (
        not indices
        or not all(0 <= number < size for number in indices)
        or len(set(indices)) != len(indices)
    ):
        raise InvalidRequest(
            "the event does not fit; expected some of the design's categories, each once."
        )
    return tuple(indices)


def _categories(subject: Subject) -> Sequence[str]:
    if isinstance(subject, Channel):
        raise InvalidRequest(
            "answers are named, but a channel alone has numbers only; expected a design.",
            "Hand over the design, or name answers by their numbers.",
        )
    return subject.categories
