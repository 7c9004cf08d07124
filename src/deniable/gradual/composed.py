"""Relaxations made of others: several attributes side by side, one category told as a set of one, sides changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

from deniable import chance
from deniable.channel import Channel, Diagonal, Product
from deniable.channel.product import join, split
from deniable.gradual.step import Step


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
