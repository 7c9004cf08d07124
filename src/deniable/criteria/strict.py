"""Demands of a number or two: ε, (ε, δ), Bayes factors, β-factor, ρ1-to-ρ2, a cap on the posterior, a known prior."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import permutations
from typing import Any

from deniable import exact
from deniable.channel import Channel
from deniable.channel.product import join, mixed_radix_digits
from deniable.criteria.base import (
    Bounds,
    Breach,
    ByResponse,
    Criterion,
    Strict,
    Subject,
    Verdict,
    channel_of,
    format_ratio,
    max_posterior,
    names_of,
)
from deniable.criteria.belief import (
    Belief,
    Event,
    Prior,
    posterior_range,
    read_event,
    read_prior,
    read_probabilities,
)
from deniable.errors import InvalidNumber, InvalidRequest
from deniable.exact import Ratio, Rational

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

    epsilon: Rational
    delta: Rational

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
            exact.total(channel.probability(i, given=j) for i in responses)
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


def delta_curve(subject: Subject, epsilons: Iterable[Rational]) -> tuple[float, ...]:
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
    rows = channel.dense().rows

    def excess(pair: tuple[int, int]) -> Fraction:
        return exact.total(
            max(Fraction(0), row[pair[0]] - ratio * row[pair[1]]) for row in rows
        )

    likely, unlikely = max(permutations(range(channel.answers), 2), key=excess)
    return (
        likely,
        unlikely,
        tuple(
            i for i, row in enumerate(rows) if row[likely] > ratio * row[unlikely]
        ),
    )


_HALF = Fraction(1, 2)


class OddsFactor(Strict):
    """A demand that no response multiplies the odds between two answers by more than a factor."""

    def bounds(self, prior: Rational) -> Bounds:
        """Return the borders of the breach region: odds multiplied and divided by the factor."""
        return posterior_bounds(self.parity, prior)

    def breaking_prior(self, gamma: Ratio) -> tuple[Fraction, bool]:  # noqa: ARG002 - any prior shows it
        """Return an even prior: a factor on the odds does not depend on it."""
        return _HALF, True


@dataclass(frozen=True)
class Epsilon(OddsFactor):
    """Local differential privacy: no response is more than e^ε times as likely from one answer as from another.

    A float is the number it holds, so that a design passes at the ε it is certified with.

    Implements: ε-local privacy, [Cha19] Definition 3.4.

    Example:
        >>> from deniable.designs import warner
        >>> Epsilon(1).check(warner(epsilon=1)).holds, Epsilon(1).check(warner(p="3/4")).holds
        (True, False)
    """

    epsilon: Rational

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.non_negative_epsilon(self.epsilon))

    @cached_property
    def parity(self) -> Fraction:
        """A rational just below e^ε."""
        return exact.exp_below(self.epsilon)

    def as_epsilon(self) -> float:
        """Return the ε itself, rounded down."""
        return -exact.float_above(-Fraction(self.epsilon))

    def __str__(self) -> str:
        return f"ε = {format_ratio(Fraction(self.epsilon))}"


@dataclass(frozen=True)
class BayesFactor(OddsFactor):
    """No response multiplies the odds of an answer against another by more than `most`, or by less than 1/most.

    Example:
        >>> from deniable.designs import binary
        >>> print(BayesFactor(6).check(binary("9/10", "7/10")).witness)
        Somebody who gave 'yes' a probability of 0.5 gives it 0.875 after 'yes'.
    """

    most: Rational

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", _factor(self.most, "most"))

    @property
    def parity(self) -> Fraction:
        return Fraction(self.most)

    def __str__(self) -> str:
        return f"a Bayes factor of at most {format_ratio(self.parity)}"


@dataclass(frozen=True)
class BetaFactor(Strict):
    """No response makes an event more than β times as probable, or less than 1/β times as probable, as before.

    Implements: β-factor privacy, [Cha19] Definition 3.2; B = β by its Theorem 3.2.

    Why: the posterior is γ/(1 + (γ − 1)p) times the prior p, which comes as near to γ as p comes to 0.

    Example:
        >>> BetaFactor(4).parity
        Fraction(4, 1)
    """

    beta: Rational

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", _factor(self.beta, "beta"))

    @property
    def parity(self) -> Fraction:
        return Fraction(self.beta)

    def bounds(self, prior: Rational) -> Bounds:
        """Return p/β and βp, the latter at most 1."""
        p = exact.probability(prior, name="prior")
        return Bounds(p / self.parity, min(p * self.parity, Fraction(1)))

    def breaking_prior(self, gamma: Ratio) -> tuple[Fraction, bool]:
        """Return half of (γ/β − 1)/(γ − 1), below which γ/(1 + (γ − 1)p) is above β."""
        limit = (
            1 / self.parity
            if gamma == math.inf
            else (Fraction(gamma) / self.parity - 1) / (Fraction(gamma) - 1)
        )
        return limit / 2, True

    def __str__(self) -> str:
        return f"β-factor privacy with β = {format_ratio(self.parity)}"


@dataclass(frozen=True)
class RhoToRho(Strict):
    """No event less probable than ρ1 becomes more probable than ρ2, and none above ρ2 falls below ρ1.

    Implements: ρ1-to-ρ2 privacy, [Cha19] Definition 3.1; B = ρ2(1 − ρ1)/(ρ1(1 − ρ2)) of eq. 3.6 is necessary and
    sufficient by its Theorem 4.1.

    Raises:
        InvalidNumber: unless 0 < ρ1 < ρ2 < 1.

    Example:
        >>> RhoToRho(0.1, 0.5).parity
        Fraction(9, 1)
    """

    rho1: Rational
    rho2: Rational

    def __post_init__(self) -> None:
        low, high = (
            exact.probability(self.rho1, name="rho1"),
            exact.probability(self.rho2, name="rho2"),
        )
        if not 0 < low < high < 1:
            raise InvalidNumber(
                f"rho1 is {exact.text(self.rho1)} and rho2 is {exact.text(self.rho2)}; expected 0 < rho1 < rho2 < 1.",
                "RhoToRho(0.1, 0.5) forbids that what seemed less probable than 10% becomes more probable than 50%.",
            )
        object.__setattr__(self, "rho1", low)
        object.__setattr__(self, "rho2", high)

    @property
    def parity(self) -> Fraction:
        """B(h) = ρ2(1 − ρ1) / (ρ1(1 − ρ2))."""
        return _odds(self.rho2) / _odds(self.rho1)

    def bounds(self, prior: Rational) -> Bounds:
        """Return two steps: at most ρ2 below ρ1, at least ρ1 above ρ2."""
        p = exact.probability(prior, name="prior")
        low, high = Fraction(self.rho1), Fraction(self.rho2)
        return Bounds(
            low if p > high else Fraction(0), high if p < low else Fraction(1)
        )

    def breaking_prior(self, gamma: Ratio) -> tuple[Fraction, bool]:
        """Return a prior half way between the one that γ takes to exactly ρ2, and ρ1."""
        rho1, rho2 = Fraction(self.rho1), Fraction(self.rho2)
        reaches = (
            Fraction(0)
            if gamma == math.inf
            else rho2 / (rho2 + Fraction(gamma) * (1 - rho2))
        )
        return (reaches + rho1) / 2, True

    def __str__(self) -> str:
        return f"{format_ratio(Fraction(self.rho1))}-to-{format_ratio(Fraction(self.rho2))} privacy"


@dataclass(frozen=True)
class PosteriorCap(Strict):
    """No event of at most this prior probability becomes more probable than `most`, whatever the event.

    Implements: h-CSIP of [Cha19], Definition 4.3, with h = most up to the prior and 1 above it.

    Why: h_γ rises with the prior, so the largest one decides: γp/(1 + (γ − 1)p) ≤ c where γ ≤ c(1 − p)/(p(1 − c)).

    Raises:
        InvalidNumber: unless 0 < prior ≤ most < 1; without any response the belief is already the prior.

    Example:
        >>> PosteriorCap(prior="1/20", most="1/2").parity
        Fraction(19, 1)
    """

    prior: Rational
    most: Rational

    def __post_init__(self) -> None:
        prior, cap = (
            exact.probability(self.prior, name="prior"),
            exact.probability(self.most, name="most"),
        )
        check_cap(prior, cap)
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "most", cap)

    @property
    def parity(self) -> Fraction:
        """The factor between the odds of the prior and those of the cap."""
        return _odds(self.most) / _odds(self.prior)

    def bounds(self, prior: Rational) -> Bounds:
        """Return the cap up to the prior that it is for, and no limit otherwise."""
        p = exact.probability(prior, name="prior")
        return Bounds(
            Fraction(0),
            Fraction(self.most) if p <= Fraction(self.prior) else Fraction(1),
        )

    def breaking_prior(self, gamma: Ratio) -> tuple[Fraction, bool]:  # noqa: ARG002 - the prior is given
        """Return the prior that the cap is for."""
        return Fraction(self.prior), True

    def __str__(self) -> str:
        cap, prior = (
            format_ratio(Fraction(self.most)),
            format_ratio(Fraction(self.prior)),
        )
        return f"a posterior of at most {cap} from a prior of {prior}"


def posterior_bounds(gamma: Rational, prior: Rational) -> Bounds:
    """Return the attained bounds on the posterior of an event with this prior after a response of a design with parity
    γ.

    Implements: [Cha19], eq. 4.9: p/(p + γ(1 − p)) ≤ posterior ≤ γp/(1 + (γ − 1)p).

    Args:
        gamma: the parity, at least 1; `math.inf` for a design with a zero beside a positive probability.
        prior: the probability of the event before.

    Raises:
        InvalidNumber: γ < 1, or a prior outside [0, 1].

    Example:
        >>> posterior_bounds(3, "1/5")
        Bounds(lower=Fraction(1, 13), upper=Fraction(3, 7))
    """
    p = exact.probability(prior, name="prior")
    factor: Ratio = math.inf if gamma == math.inf else _factor(gamma, "gamma")
    return Bounds(1 - max_posterior(factor, 1 - p), max_posterior(factor, p))


def check_cap(prior: Fraction, most: Fraction) -> None:
    """Refuse a cap that no design can keep, or that says nothing.

    Raises:
        InvalidNumber: unless 0 < prior ≤ most < 1.
    """
    if not 0 < prior <= most < 1:
        raise InvalidNumber(
            f"the prior is {format_ratio(prior)} and the posterior is to be at most {format_ratio(most)}; "
            "expected 0 < prior ≤ most < 1.",
            "Beliefs after all responses average to the prior, so a cap below it cannot be kept.",
        )


def _factor(number: Rational, name: str) -> Fraction:
    value = exact.rational(number, name=name)
    if value < 1:
        raise InvalidNumber(
            f"{name} is {exact.text(number)}; expected at least 1.",
            "A factor of 1 lets a response change nothing; 3 lets it treble the odds.",
        )
    return value


def _odds(probability: Rational) -> Fraction:
    value = Fraction(probability)
    return value / (1 - value)


@dataclass(frozen=True)
class KnownPrior(ByResponse):
    """Cap on the posterior of an event, or of any single answer, for one known prior.

    A weaker demand than `PosteriorCap`, which holds for every event of that probability: a design with a larger parity
    may meet it, so the channel itself is asked.

    Args:
        prior: a probability for each answer, in their order or by category.
        most: the largest posterior that is allowed.
        about: the answers that make up the event, by category or number; by default each answer for itself.

    Guarantee: `parity` is what suffices for every design, c(1 − q)/(q(1 − c)) for an event of prior q; `check` is exact
    for the design at hand.

    Raises:
        InvalidNumber: a cap below what is believed already.
        InvalidRequest: a prior that does not add up to 1, or an event that is not part of it.

    Example:
        >>> from deniable.designs import binary
        >>> demand = KnownPrior({"no": 0.9, "yes": 0.1}, most=0.5, about=["yes"])
        >>> demand.parity, demand.check(binary("9/10", "8/10")).attained
        (Fraction(9, 1), Fraction(8, 17))
    """

    prior: Prior
    most: Rational
    about: Event | None = None

    def __post_init__(self) -> None:
        entries: Any = self.prior
        keys = (
            tuple(entries)
            if hasattr(entries, "keys")
            else tuple(range(len(entries)))
        )
        shares = read_probabilities([entries[key] for key in keys])
        about = (
            None
            if self.about is None
            else tuple([self.about] if isinstance(self.about, str) else self.about)
        )
        if about is not None and (not about or not set(about) <= set(keys)):
            raise InvalidRequest(
                "the event is not part of the prior; expected some of its answers."
            )
        cap = exact.probability(self.most, name="most")
        object.__setattr__(self, "prior", tuple(zip(keys, shares, strict=True)))
        object.__setattr__(self, "about", about)
        object.__setattr__(self, "most", cap)
        if self._highest:
            check_cap(self._highest, cap)

    @property
    def parity(self) -> Ratio:
        """Sufficient parity: the ratio of the odds of the cap to those of the most probable event."""
        q, c = self._highest, Fraction(self.most)
        return c * (1 - q) / (q * (1 - c)) if q else math.inf

    def check(self, subject: Subject) -> Verdict:
        """Compare the largest posterior after any response of a design or a channel with the cap, exactly.

        Raises:
            InvalidRequest: another number of answers, or other categories, than the prior has.
            InvalidDesign: a channel too large to write out.
        """
        prior, cap = self._prior_entries(), Fraction(self.most)
        size = channel_of(subject).answers
        events: list[Event] = (
            [self.about] if self.about is not None else [[j] for j in range(size)]
        )
        event, belief = max(
            (
                (event, posterior_range(subject, prior, event).most)
                for event in events
            ),
            key=lambda pair: pair[1].posterior,
        )
        if belief.posterior <= cap:
            sentence = f"Holds: {self} is kept; the largest posterior is {format_ratio(belief.posterior)}."
            return Verdict(
                self, True, cap, belief.posterior, "posterior", None, sentence
            )
        breach = _breach(subject, prior, read_event(subject, event), belief)
        sentence = f"Fails: {self} is not kept; the largest posterior is {format_ratio(belief.posterior)}. {breach}"
        return Verdict(
            self, False, cap, belief.posterior, "posterior", breach, sentence
        )

    def conditions(self, subject: Subject) -> list[list[Fraction]]:
        """Return c·q − q restricted to the event for each event: q·r times the cap is at least the event's part."""
        belief = read_prior(subject, self._prior_entries())
        events = [[j] for j in range(len(belief))]
        if self.about is not None:
            events = [list(read_event(subject, self.about))]
        cap = Fraction(self.most)
        return [
            [share * (cap - (j in event)) for j, share in enumerate(belief)]
            for event in events
        ]

    @property
    def _highest(self) -> Fraction:
        """The prior of the event; of the most probable answer where each is one for itself."""
        pairs: Any = self.prior
        if self.about is None:
            return Fraction(max(share for _, share in pairs))
        return exact.total(share for key, share in pairs if key in self.about)

    def _prior_entries(self) -> Prior:
        pairs: Any = self.prior
        is_named = any(isinstance(key, str) for key, _ in pairs)
        return dict(pairs) if is_named else [share for _, share in pairs]

    def __str__(self) -> str:
        subject = "any answer" if self.about is None else "the event"
        return f"a posterior of at most {format_ratio(Fraction(self.most))} for {subject} under the given prior"


@dataclass(frozen=True)
class Policy(ByResponse):
    """No response changes the odds between the two answers of certain pairs by more than a factor of e^ε.

    The pairs are named, or follow from properties: whether an answer has a property is protected by the pairs of one
    answer that has it and one that has not. Nothing is asked for other pairs: a response may prove which of their two
    answers is true.

    Args:
        epsilon: the ε of the pairs.
        pairs: pairs of answers, by category or number.
        properties: sets of answers, each those that have one property, by category or number.

    Implements: a demand for a subset of properties, the open question of [Cha19], Chapter 8.

    Guarantee: `check` is exact. `parity` is e^ε, which suffices for every design.

    Why: under every prior the posterior odds of a property are at most e^ε times the prior odds exactly if each answer
    with it has at most e^ε times the likelihood of each answer without it.

    Raises:
        InvalidNumber: an ε that is not positive.
        InvalidRequest: no pair at all, or a pair that is not one of two different answers.

    Example:
        >>> from deniable.designs import matrix
        >>> demand = Policy(1, pairs=[("a", "b")])
        >>> cells = [[0.7, 0.3, 0], [0.3, 0.7, 0], [0, 0, 1]]
        >>> demand.check(matrix(cells, categories=["a", "b", "c"])).holds
        True
    """

    epsilon: Rational
    pairs: Any = ()
    properties: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exact.positive_epsilon(self.epsilon))
        pairs = tuple(map(tuple, self.pairs))
        properties = tuple(map(tuple, self.properties))
        if any(len(set(pair)) != 2 or len(pair) != 2 for pair in pairs):
            raise InvalidRequest(
                "one of the pairs is not one of two different answers; expected such pairs.",
                'For example pairs=[("never", "often")].',
            )
        if not pairs and not properties:
            raise InvalidRequest(
                "there are no pairs and no properties; expected some.",
                "To protect all pairs use Epsilon(epsilon).",
            )
        object.__setattr__(self, "pairs", pairs)
        object.__setattr__(self, "properties", properties)

    @cached_property
    def parity(self) -> Ratio:
        """e^ε, rounded down: what suffices for every design."""
        return exact.exp_below(self.epsilon)

    def answer_pairs(self, subject: Subject) -> list[tuple[int, int]]:
        """Return the protected pairs by number, in both orders."""
        size = channel_of(subject).answers
        pairs = {read_event(subject, pair) for pair in self.pairs}
        for entries in self.properties:
            inside = read_event(subject, entries)
            pairs |= {(x, y) for x in inside for y in range(size) if y not in inside}
        return sorted({(x, y) for pair in pairs for x, y in permutations(pair)})

    def conditions(self, subject: Subject) -> list[list[Fraction]]:
        """Return γ·r_y − r_x for each protected pair, in both orders."""
        size, gamma = channel_of(subject).answers, Fraction(self.parity)
        return [
            [gamma * (j == y) - (j == x) for j in range(size)]
            for x, y in self.answer_pairs(subject)
        ]

    def check(self, subject: Subject) -> Verdict:
        """Compare the largest ratio between the answers of a protected pair with e^ε, exactly.

        Why: the responses to the parts of a product are free, so that its largest ratio is the product of theirs.

        Raises:
            InvalidDesign: a channel, or a factor of one, too large to write out.
        """
        channel = channel_of(subject)
        factors = channel.product.factors if channel.product else (channel,)
        tables = [factor.dense().weights for factor in factors]
        n_answers = [factor.answers for factor in factors]
        n_responses = [factor.responses for factor in factors]

        @cache
        def largest(number: int, likely: int, unlikely: int) -> tuple[Ratio, int]:
            """Return the largest ratio of a factor, and minus the first response that attains it."""
            return max(
                (exact.ratio(row[likely], row[unlikely]), -response)
                for response, row in enumerate(tables[number])
                if row[likely]
            )

        def worst(pair: tuple[int, int]) -> tuple[Ratio, int]:
            digits = zip(
                *(mixed_radix_digits(answer, n_answers) for answer in pair),
                strict=True,
            )
            ratios = [largest(number, *both) for number, both in enumerate(digits)]
            response = join([-first for _, first in ratios], n_responses)
            return math.prod(ratio for ratio, _ in ratios), -response

        likely, unlikely = max(self.answer_pairs(subject), key=worst)
        attained, response = worst((likely, unlikely))
        response = -response
        holds = attained <= self.parity
        breach, outcome = None, "Holds"
        if not holds:
            outcome = "Fails"
            p_likely, p_unlikely = (
                channel.probability(response, given=answer)
                for answer in (likely, unlikely)
            )
            ratio = p_likely / (p_likely + p_unlikely)
            names = names_of(subject, response, likely, unlikely)
            breach = Breach((response,), likely, unlikely, _HALF, ratio, True, names)
        sentence = (
            f"{outcome}: the odds between the answers of a protected pair change by a factor of up to "
            f"{format_ratio(attained)}; {self} allows {format_ratio(self.parity)}."
        )
        if breach:
            sentence += f" {breach}"
        return Verdict(
            self, holds, self.parity, attained, "parity", breach, sentence
        )

    def __str__(self) -> str:
        epsilon = format_ratio(Fraction(self.epsilon))
        clauses = [
            f"{len(entries)} {name if len(entries) > 1 else singular}"
            for entries, name, singular in (
                (self.pairs, "pairs of answers", "pair of answers"),
                (self.properties, "properties", "property"),
            )
            if entries
        ]
        return f"ε = {epsilon} for {' and '.join(clauses)}"


def _breach(
    subject: Subject, prior: Prior, event: tuple[int, ...], after_response: Belief
) -> Breach:
    """Return the breach between the answer inside the event and the one outside that differ most."""
    channel, belief = channel_of(subject), read_prior(subject, prior)
    possible = [j for j in range(channel.answers) if belief[j]]

    def weight(answer: int) -> Fraction:
        return channel.probability(after_response.response, given=answer)

    likely = max((j for j in possible if j in event), key=weight)
    unlikely = min((j for j in possible if j not in event), key=weight)
    response, answer_high, answer_low = names_of(
        subject, after_response.response, likely, unlikely
    )
    if len(event) > 1:
        answer_high = "the event"
    return Breach(
        (after_response.response,),
        likely,
        unlikely,
        after_response.prior,
        after_response.posterior,
        True,
        (response, answer_high, answer_low),
    )
