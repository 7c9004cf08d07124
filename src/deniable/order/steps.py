"""One relaxation: from a response of a coarser design to a response of a finer one, at no cost beyond the finer one's.

If P₁ = C·P₂ for a channel C, and the finer response is drawn with probability C[o₁|o₂]·P₂[o₂|x] / P₁[o₁|x], then the
two responses together are distributed as C[o₁|o₂]·P₂[o₂|x]: o₂ is a fresh response of the finer design, and o₁ says
nothing about the answer that o₂ does not say. Probabilities are exact rationals and draws are exact: so is this law.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from deniable import chance
from deniable.channel import Channel, Dense, Diagonal, Product
from deniable.channel.product import join, split
from deniable.errors import InvalidResponse


class Step(ABC):
    """A pair of channels of which the first is a garbling of the second.

    Attributes:
        old: the coarser channel, P₁.
        new: the finer channel, P₂.
    """

    old: Channel
    new: Channel

    @abstractmethod
    def garbling(self, old: int, new: int) -> Fraction:
        """Return C[old | new]: how a finer response is degraded to a coarser one."""

    @abstractmethod
    def degrade(self, new: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a coarser response from a finer one; the answer is not needed."""

    @abstractmethod
    def upgrade(self, old: int, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a finer response to an answer whose coarser response is out already.

        Raises:
            InvalidResponse: a coarser response that this answer never gives.
        """

    @abstractmethod
    def verify(self) -> bool:
        """Say whether P₁ = C·P₂, with the numbers that are drawn with, exactly."""

    def kernel(self, new: int, *, old: int, given: int) -> Fraction:
        """Return the probability of a finer response, given the coarser one and the answer."""
        return self.garbling(old, new) * self.new.probability(new, given=given) / self.chance_of(old, given)

    def chance_of(self, old: int, given: int) -> Fraction:
        """Return P₁[old | given], which must not be 0.

        Raises:
            InvalidResponse: it is; the message does not tell the answer.
        """
        known = self.old.probability(old, given=given) if 0 <= old < self.old.responses else 0
        if not known:
            raise InvalidResponse(
                "the earlier response is none that this respondent can have sent; expected the one that was kept.",
                "An answer and its responses belong together; do not mix those of two people or two questions.",
            )
        return Fraction(known)

    def to_body(self) -> dict[str, Any]:
        """Return for JSON what does not follow from the two channels; here all of it does."""
        return {"kind": "derived"}


@dataclass(frozen=True)
class KeepOrFresh(Step):
    """Keep the response that is out, or draw a fresh one.

    Implements: F12 for P₁ = share·P₂ + (1 − share)·u·1′, where u is a distribution that does not depend on the answer.
    Then C keeps a finer response with probability `share`, else draws from u. For k-ary designs this is (54) of
    [Pan24], and with two answers (22) and (23).

    The draw: `happens` decides whether to keep; then the fresh response is drawn in any case, so that how many words
    are taken tells nothing.

    Why: C[o₁|o₂]·P₂[o₂|x] = share·1{o₁ = o₂}·P₂[o₂|x] + (1 − share)·u[o₁]·P₂[o₂|x]. Given o₁ and x the first term has
    the weight share·P₂[o₁|x] / P₁[o₁|x], and the second leaves o₂ to P₂.

    Attributes:
        share: how often a finer response is kept as it is.
        base: u, as a channel that sends the same for every answer.
    """

    old: Channel
    new: Channel
    share: Fraction
    base: Channel

    def garbling(self, old: int, new: int) -> Fraction:
        """Return C[old | new]."""
        return self.share * (old == new) + (1 - self.share) * self.base.probability(old, given=0)

    def retention(self, old: int, given: int) -> Fraction:
        """Return the probability with which a coarser response is kept."""
        return self.share * self.new.probability(old, given=given) / self.chance_of(old, given)

    def degrade(self, new: int, source: chance.Source = chance.SYSTEM) -> int:
        """Keep the finer response with probability `share`, else draw from the base."""
        kept = chance.happens(self.share, source)
        other = self.base.draw(0, source)
        return new if kept else other

    def upgrade(self, old: int, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Keep the coarser response with its probability, else draw a fresh finer one."""
        kept = chance.happens(self.retention(old, given), source)
        fresh = self.new.draw(given, source)
        return old if kept else fresh

    def verify(self) -> bool:
        """Compare the two levels that both channels have, at a response and two answers where they are attained."""
        response, *answers = self.new.witness
        level = (1 - self.share) * self.base.probability(response, given=0)
        return 0 <= self.share <= 1 and all(
            self.old.probability(response, given=x) == self.share * self.new.probability(response, given=x) + level
            for x in answers
        )


@dataclass(frozen=True)
class Written(Step):
    """Any two channels that can be written out, with their garbling written out too.

    The draw: `choose` among the responses in their order, with the products of the whole weights of C and P₂.
    """

    old: Channel
    new: Channel
    channel: Dense

    @cached_property
    def fine(self) -> Dense:
        """The finer channel, written out."""
        return self.new.dense()

    @cached_property
    def coarse(self) -> Dense:
        """The coarser channel, written out."""
        return self.old.dense()

    def garbling(self, old: int, new: int) -> Fraction:
        """Return C[old | new]."""
        return self.channel.probability(old, given=new)

    def degrade(self, new: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw from the garbling."""
        return chance.choose(self.channel.sums[new], source)

    def upgrade(self, old: int, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw from the products of the whole weights."""
        self.chance_of(old, given)
        return chance.choose(self.sums(old, given), source)

    def sums(self, old: int, given: int) -> tuple[int, ...]:
        """Return the running sums of C[old | u]·P₂[u | given] over all finer responses u, as whole numbers."""
        pairs = zip(self.channel.weights[old], self.fine.weights, strict=True)
        return tuple(accumulate(kept * row[given] for kept, row in pairs))

    def verify(self) -> bool:
        """Multiply the matrices."""
        return self.channel.answers == self.fine.responses and self.channel.after(self.fine) == self.coarse

    def to_body(self) -> dict[str, Any]:
        """Return the garbling for JSON."""
        return {"kind": "written", "channel": self.channel.to_body()}


@dataclass(frozen=True)
class Factors(Step):
    """A relaxation of each factor of a product. The draw: the factors in turn, the first one first."""

    old: Product
    new: Product
    steps: tuple[Step, ...]

    def garbling(self, old: int, new: int) -> Fraction:
        """Return C[old | new], the product over the factors."""
        parts = zip(self.steps, self.old.split_response(old), self.new.split_response(new), strict=True)
        return math.prod((step.garbling(i, u) for step, i, u in parts), start=Fraction(1))

    def degrade(self, new: int, source: chance.Source = chance.SYSTEM) -> int:
        """Degrade each factor's response."""
        parts = zip(self.steps, self.new.split_response(new), strict=True)
        return _join(self.old, [step.degrade(u, source) for step, u in parts])

    def upgrade(self, old: int, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Upgrade each factor's response."""
        parts = zip(self.steps, split(old, _sizes(self.old)), self.new.split_answer(given), strict=True)
        return _join(self.new, [step.upgrade(i, x, source) for step, i, x in parts])

    def verify(self) -> bool:
        """Verify each factor."""
        return all(step.verify() for step in self.steps)

    def to_body(self) -> dict[str, Any]:
        """Return what does not follow from the channels, factor by factor."""
        return {"kind": "factors", "steps": [step.to_body() for step in self.steps]}


@dataclass(frozen=True)
class Crossed(Step):
    """Two diagonal channels on different sides of 1/k: C sends the response itself less often than any other.

    The draw: `choose` among the answer, the coarser response and all the others, with their whole weights; then
    `below` among these others (of one, where there is none), in any case, in rising order. To degrade: among the
    response itself and the others.

    Attributes:
        channel: C, a diagonal channel.
    """

    old: Diagonal
    new: Diagonal
    channel: Diagonal

    def garbling(self, old: int, new: int) -> Fraction:
        """Return C[old | new]."""
        return self.channel.probability(old, given=new)

    def degrade(self, new: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw from C."""
        return self._one_of((new,), (self.channel.same,), self.channel.other, source)

    def upgrade(self, old: int, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw the answer, the coarser response or another category."""
        self.chance_of(old, given)
        named = (given,) if old == given else (given, old)
        weights = tuple(self._weight(old, u, given) for u in named)
        return self._one_of(named, weights, self.channel.other * self.new.other, source)

    def _weight(self, old: int, new: int, given: int) -> int:
        kept = self.channel.same if old == new else self.channel.other
        return kept * (self.new.same if new == given else self.new.other)

    def _one_of(self, named: tuple[int, ...], weights: tuple[int, ...], other: int, source: chance.Source) -> int:
        others = self.new.size - len(named)
        at = chance.choose(tuple(accumulate((*weights, others * other))), source)
        # Also where nothing else is left, or two answers would take a word less when the response is not the answer.
        pick = chance.below(max(others, 1), source)
        for each in sorted(named):
            pick += pick >= each
        return named[at] if at < len(named) else pick

    def verify(self) -> bool:
        """Multiply the two channels."""
        return self.channel @ self.new == self.old


@dataclass(frozen=True)
class Recoded(Step):
    """A relaxation between sets, one or both of whose designs send a single category under its own number.

    Attributes:
        step: the relaxation between the sets; category j is the set {j}, the number 2^j.
    """

    old: Channel
    new: Channel
    step: Step

    @cached_property
    def _singles(self) -> tuple[bool, bool]:
        return isinstance(self.old, Diagonal), isinstance(self.new, Diagonal)

    def garbling(self, old: int, new: int) -> Fraction:
        """Return C[old | new]."""
        one, two = self._singles
        return self.step.garbling(1 << old if one else old, 1 << new if two else new)

    def degrade(self, new: int, source: chance.Source = chance.SYSTEM) -> int:
        """Degrade the set."""
        one, two = self._singles
        drawn = self.step.degrade(1 << new if two else new, source)
        return drawn.bit_length() - 1 if one else drawn

    def upgrade(self, old: int, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Upgrade the set."""
        one, two = self._singles
        self.chance_of(old, given)
        drawn = self.step.upgrade(1 << old if one else old, given, source)
        return drawn.bit_length() - 1 if two else drawn

    def verify(self) -> bool:
        """Verify the relaxation between the sets."""
        return self.step.verify()

    def to_body(self) -> dict[str, Any]:
        """Return what does not follow from the channels."""
        return self.step.to_body()


def _sizes(product: Product) -> Sequence[int]:
    return [factor.responses for factor in product.factors]


def _join(product: Product, digits: Sequence[int]) -> int:
    return join(digits, _sizes(product))
