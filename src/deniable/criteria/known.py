"""A cap on what somebody with a known prior may come to believe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable import exact
from deniable.criteria.base import Breach, Criterion, Subject, Verdict, channel_of, names_of, shown
from deniable.criteria.belief import Belief, Event, Prior, normalized, posterior_range, read_event, read_prior
from deniable.criteria.strict import check_cap
from deniable.errors import InvalidRequest


@dataclass(frozen=True)
class KnownPrior(Criterion):
    """Somebody with this very prior never believes in an event, or in any single answer, with more than `most`.

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
        >>> from deniable.design import binary
        >>> demand = KnownPrior({"no": 0.9, "yes": 0.1}, most=0.5, about=["yes"])
        >>> demand.parity, demand.check(binary("9/10", "8/10")).attained
        (Fraction(9, 1), Fraction(8, 17))
    """

    prior: Prior
    most: exact.Rational
    about: Event | None = None

    def __post_init__(self) -> None:
        given: Any = self.prior
        keys = tuple(given) if hasattr(given, "keys") else tuple(range(len(given)))
        shares = normalized([given[key] for key in keys])
        about = None if self.about is None else tuple([self.about] if isinstance(self.about, str) else self.about)
        if about is not None and (not about or not set(about) <= set(keys)):
            raise InvalidRequest("the event is not part of the prior; expected some of its answers.")
        most = exact.probability(self.most, name="most")
        object.__setattr__(self, "prior", tuple(zip(keys, shares, strict=True)))
        object.__setattr__(self, "about", about)
        object.__setattr__(self, "most", most)
        if self._highest:
            check_cap(self._highest, most)

    @property
    def parity(self) -> exact.Ratio:
        """What suffices: the factor between the odds of the most probable event and those of the cap."""
        q, c = self._highest, Fraction(self.most)
        return c * (1 - q) / (q * (1 - c)) if q else math.inf

    def check(self, subject: Subject) -> Verdict:
        """Compare the largest posterior after any response of a design or a channel with the cap, exactly.

        Raises:
            InvalidRequest: another number of answers, or other categories, than the prior has.
            InvalidDesign: a channel too large to write out.
        """
        prior, most = self._given(), Fraction(self.most)
        size = channel_of(subject).answers
        events: list[Event] = [self.about] if self.about is not None else [[j] for j in range(size)]
        event, found = max(
            ((each, posterior_range(subject, prior, each).most) for each in events), key=lambda pair: pair[1].posterior
        )
        if found.posterior <= most:
            sentence = f"Holds: {self} is kept; the largest posterior is {shown(found.posterior)}."
            return Verdict(self, True, most, found.posterior, "posterior", None, sentence)
        breach = _breach(subject, prior, read_event(subject, event), found)
        sentence = f"Fails: {self} is not kept; the largest posterior is {shown(found.posterior)}. {breach}"
        return Verdict(self, False, most, found.posterior, "posterior", breach, sentence)

    @property
    def _highest(self) -> Fraction:
        """The prior of the event; of the most probable answer where each is one for itself."""
        pairs: Any = self.prior
        if self.about is None:
            return Fraction(max(share for _, share in pairs))
        return sum((share for key, share in pairs if key in self.about), Fraction(0))

    def _given(self) -> Prior:
        pairs: Any = self.prior
        named = any(isinstance(key, str) for key, _ in pairs)
        return dict(pairs) if named else [share for _, share in pairs]

    def __str__(self) -> str:
        what = "any answer" if self.about is None else "the event"
        return f"a posterior of at most {shown(Fraction(self.most))} for {what} under the given prior"


def _breach(subject: Subject, prior: Prior, event: tuple[int, ...], found: Belief) -> Breach:
    """Return the breach between the answer inside the event and the one outside that differ most."""
    channel, belief = channel_of(subject), read_prior(subject, prior)
    possible = [j for j in range(channel.answers) if belief[j]]

    def weight(answer: int) -> Fraction:
        return channel.probability(found.response, given=answer)

    likely = max((j for j in possible if j in event), key=weight)
    unlikely = min((j for j in possible if j not in event), key=weight)
    response, one, two = names_of(subject, found.response, likely, unlikely)
    if len(event) > 1:
        one = "the event"
    return Breach((found.response,), likely, unlikely, found.prior, found.posterior, True, (response, one, two))
