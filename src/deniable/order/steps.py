"""Relaxation steps: draw a finer response given a coarser one, at no privacy cost beyond the finer one's.

If P₁ = C·P₂ for a channel C, the garbling, and the finer response is drawn with probability
C[o₁|o₂]·P₂[o₂|x] / P₁[o₁|x], then the two responses together are distributed as C[o₁|o₂]·P₂[o₂|x]: o₂ is a fresh
response of the finer design, and o₁ says nothing about the answer that o₂ does not say. Probabilities are exact
rationals and draws are exact: so is this law.

A stage that comes late, coarser than one that is out and finer than another one that is out, is drawn from these two
(`between`) without a look at the answer, so that nothing is spent. It has to stand between them (`composes`): what the
coarsest says must follow from what the middle one says, or two people who hold those two would know more together than
the better informed of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, product
from typing import Any

from deniable import chance, exact
from deniable.chance import SYSTEM, Source
from deniable.channel import Channel, Dense, Diagonal, Product
from deniable.channel.product import join
from deniable.errors import InvalidRequest, InvalidResponse

_MAX_TRIPLES = 200_000  # combinations of three stages' responses that are gone through: a second
_MAX_WRITTEN = 10_000_000  # cells of a garbling that are computed one by one: as many as `Channel.dense` writes out


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
    def degrade(self, new: int, source: Source = SYSTEM) -> int:
        """Draw a coarser response from a finer one; the answer is not needed."""

    @abstractmethod
    def upgrade(self, old: int, given: int, source: Source = SYSTEM) -> int:
        """Draw a finer response to an answer whose coarser response is out already.

        Raises:
            InvalidResponse: a coarser response that this answer never gives.
        """

    @abstractmethod
    def verify(self) -> bool:
        """Say whether P₁ = C·P₂, with the numbers that are drawn with, exactly."""

    def kernel(self, new: int, *, old: int, given: int) -> Fraction:
        """Return the probability of a finer response, given the coarser one and the answer."""
        return (
            self.garbling(old, new)
            * self.new.probability(new, given=given)
            / self.chance_of(old, given)
        )

    def chance_of(self, old: int, given: int) -> Fraction:
        """Return P₁[old | given], which must not be 0.

        Raises:
            InvalidResponse: it is; the message does not tell the answer.
        """
        p_old = (
            self.old.probability(old, given=given)
            if 0 <= old < self.old.responses
            else 0
        )
        if not p_old:
            raise InvalidResponse(
                "the earlier response is none that this respondent can have sent; expected the one that was kept.",
                "An answer and its responses belong together; do not mix those of two people or two questions.",
            )
        return Fraction(p_old)

    @property
    def recipe(self) -> str:
        """Recipe in words: how a coarser response is made from a finer one."""
        return "send the response of the fine design through the channel"

    def written(self) -> Channel | None:
        """Return C as a channel; None where it is too large to be written out.

        A finer response that is never sent goes to all coarser ones that are, evenly.
        """
        if self.old.responses * self.new.responses > _MAX_WRITTEN:
            return None
        coarse, fine = range(self.old.responses), range(self.new.responses)
        spare = [Fraction(self.old.possible(i)) for i in coarse]
        even = [weight / sum(spare) for weight in spare]
        columns = [
            [self.garbling(i, u) for i in coarse] if self.new.possible(u) else even
            for u in fine
        ]
        return Dense.from_rows(list(zip(*columns, strict=True)))

    def composes(self, high: Step, direct: Step) -> bool:
        """Say whether degrading through a middle stage is the same as degrading directly, exactly.

        Args:
            high: from the middle stage, to which this step leads, to the finest one.
            direct: from the coarsest stage to the finest one, as its response was drawn.

        Raises:
            InvalidRequest: no closed form, and too large to go through.
        """
        coarsest, middle, finest = (
            possible_responses(channel) for channel in (self.old, self.new, high.new)
        )
        _check_triples(len(coarsest) * len(middle) * len(finest))
        return all(
            exact.total(self.garbling(o, m) * high.garbling(m, f) for m in middle)
            == direct.garbling(o, f)
            for o, f in product(coarsest, finest)
        )

    def between(
        self, high: Step, coarse: int, fine: int, source: Source = SYSTEM
    ) -> int:
        """Draw the response of the middle stage, given those of the coarser one and of the finer one.

        Guarantee: drawn with probability C[coarse | middle]·C_high[middle | fine] / C_direct[coarse | fine], exactly.
        The three are then distributed as if they had been drawn from the finest downwards, one after the other.

        Raises:
            InvalidRequest: no closed form, and too large to go through.
        """
        middles = possible_responses(self.new)
        weights = [
            self.garbling(coarse, middle) * high.garbling(middle, fine)
            for middle in middles
        ]
        return middles[chance.choose(running_sums(weights), source)]

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
        return self.share * (old == new) + (1 - self.share) * self.base.probability(
            old, given=0
        )

    def retention(self, old: int, given: int) -> Fraction:
        """Return the probability with which a coarser response is kept."""
        return (
            self.share
            * self.new.probability(old, given=given)
            / self.chance_of(old, given)
        )

    def degrade(self, new: int, source: Source = SYSTEM) -> int:
        is_kept = chance.happens(self.share, source)
        fresh = self.base.draw(0, source)
        return new if is_kept else fresh

    def upgrade(self, old: int, given: int, source: Source = SYSTEM) -> int:
        is_kept = chance.happens(self.retention(old, given), source)
        fresh = self.new.draw(given, source)
        return old if is_kept else fresh

    def verify(self) -> bool:
        """Compare P₁ with share·P₂ + (1 − share)·u.

        Channels of two levels with the same supports, and fresh responses that are all equally likely, do not have to
        be gone through: a response and two answers where the levels are attained speak for all.
        """
        if not 0 <= self.share <= 1:
            return False
        if self.new.has_supports_of(self.old) and self.base == self.new.uniform():
            response, *answers = self.new.witness
            return all(self._comes_out(response, x) for x in answers)
        if (self.old.responses, self.old.answers) != (
            self.new.responses,
            self.new.answers,
        ):
            return False
        return all(
            self._comes_out(*cell)
            for cell in product(
                possible_responses(self.new), range(self.new.answers)
            )
        )

    def _comes_out(self, response: int, given: int) -> bool:
        level = (1 - self.share) * self.base.probability(response, given=0)
        p_kept = self.share * self.new.probability(response, given=given)
        return self.old.probability(response, given=given) == p_kept + level

    @property
    def recipe(self) -> str:
        if self.share == 1:
            return "send the response on as it is"
        return f"keep the response with probability {exact.text(self.share)}, else draw any response evenly"

    def written(self) -> Channel | None:
        if self.share == 1 or not self.base.exchangeable:
            return super().written()
        size = self.new.responses
        p_other = (1 - self.share) / size
        return Diagonal(size, *integer_weights([self.share + p_other, p_other]))

    def composes(self, high: Step, direct: Step) -> bool:
        """Compare the shares; where the fresh responses are not all drawn alike, go through them."""
        if not (isinstance(high, KeepOrFresh) and isinstance(direct, KeepOrFresh)):
            return super().composes(high, direct)
        if self.share * high.share != direct.share:
            return False
        return self.base == high.base == direct.base or super().composes(
            high, direct
        )

    def between(
        self, high: Step, coarse: int, fine: int, source: Source = SYSTEM
    ) -> int:
        """Keep the finer response, take the coarser one, or draw from the base."""
        if not isinstance(high, KeepOrFresh):
            return super().between(high, coarse, fine, source)
        p_kept = high.share * self.garbling(coarse, fine)
        moved = (
            (1 - high.share) * high.base.probability(coarse, given=0) * self.share
        )
        fresh = (
            (1 - high.share)
            * (1 - self.share)
            * self.base.probability(coarse, given=0)
        )
        origin = chance.choose(running_sums([p_kept, moved, fresh]), source)
        return (fine, coarse, high.base.draw(0, source))[origin]


@dataclass(frozen=True)
class Tabulated(Step):
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
        return self.channel.probability(old, given=new)

    def degrade(self, new: int, source: Source = SYSTEM) -> int:
        return chance.choose(self.channel.sums[new], source)

    def upgrade(self, old: int, given: int, source: Source = SYSTEM) -> int:
        self.chance_of(old, given)
        return chance.choose(self.sums(old, given), source)

    def sums(self, old: int, given: int) -> tuple[int, ...]:
        """Return the running sums of C[old | u]·P₂[u | given] over all finer responses u, as whole numbers."""
        pairs = zip(self.channel.weights[old], self.fine.weights, strict=True)
        return tuple(accumulate(weight * row[given] for weight, row in pairs))

    def verify(self) -> bool:
        return (
            self.channel.answers == self.fine.responses
            and self.channel.after(self.fine) == self.coarse
        )

    def written(self) -> Channel:
        return self.channel

    def to_body(self) -> dict[str, Any]:
        return {"kind": "written", "channel": self.channel.to_body()}


@dataclass(frozen=True)
class Factors(Step):
    """A relaxation of each factor of a product. The draw: the factors in turn, the first one first."""

    old: Product
    new: Product
    steps: tuple[Step, ...]

    def garbling(self, old: int, new: int) -> Fraction:
        factor_moves = zip(
            self.steps,
            self.old.split_response(old),
            self.new.split_response(new),
            strict=True,
        )
        return exact.product(step.garbling(i, u) for step, i, u in factor_moves)

    def degrade(self, new: int, source: Source = SYSTEM) -> int:
        factor_moves = zip(self.steps, self.new.split_response(new), strict=True)
        return _join(self.old, [step.degrade(u, source) for step, u in factor_moves])

    def upgrade(self, old: int, given: int, source: Source = SYSTEM) -> int:
        factor_moves = zip(
            self.steps,
            self.old.split_response(old),
            self.new.split_answer(given),
            strict=True,
        )
        return _join(
            self.new, [step.upgrade(i, x, source) for step, i, x in factor_moves]
        )

    def verify(self) -> bool:
        channels = zip(self.old.factors, self.new.factors, strict=True)
        fit = [(step.old, step.new) for step in self.steps] == list(channels)
        return fit and all(step.verify() for step in self.steps)

    @property
    def recipe(self) -> str:
        return "make each factor's response from the other's"

    def written(self) -> Channel | None:
        factor_sentences = [step.written() for step in self.steps]
        return (
            Product(tuple(sentence for sentence in factor_sentences if sentence))
            if all(factor_sentences)
            else None
        )

    def composes(self, high: Step, direct: Step) -> bool:
        if not (isinstance(high, Factors) and isinstance(direct, Factors)):
            return super().composes(high, direct)
        return all(
            low.composes(*finer_steps)
            for low, *finer_steps in zip(
                self.steps, high.steps, direct.steps, strict=True
            )
        )

    def between(
        self, high: Step, coarse: int, fine: int, source: Source = SYSTEM
    ) -> int:
        """Every factor by itself, the first one first."""
        if not isinstance(high, Factors):
            return super().between(high, coarse, fine, source)
        endpoints = zip(
            self.old.split_response(coarse),
            high.new.split_response(fine),
            strict=True,
        )
        factor_moves = zip(self.steps, high.steps, endpoints, strict=True)
        return _join(
            self.new,
            [
                low.between(above, i, u, source)
                for low, above, (i, u) in factor_moves
            ],
        )

    def to_body(self) -> dict[str, Any]:
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
        return self.channel.probability(old, given=new)

    def degrade(self, new: int, source: Source = SYSTEM) -> int:
        return self._one_of((new,), (self.channel.same,), self.channel.other, source)

    def upgrade(self, old: int, given: int, source: Source = SYSTEM) -> int:
        self.chance_of(old, given)
        special = (given,) if old == given else (given, old)
        weights = tuple(self._weight(old, u, given) for u in special)
        return self._one_of(
            special, weights, self.channel.other * self.new.other, source
        )

    def _weight(self, old: int, new: int, given: int) -> int:
        weight = self.channel.same if old == new else self.channel.other
        return weight * (self.new.same if new == given else self.new.other)

    def _one_of(
        self,
        special: tuple[int, ...],
        weights: tuple[int, ...],
        other_weight: int,
        source: Source,
    ) -> int:
        n_others = self.new.size - len(special)
        choice = chance.choose(
            tuple(accumulate((*weights, n_others * other_weight))), source
        )
        # Also where nothing else is left, or two answers would take a word less when the response is not the answer.
        pick = chance.below(max(n_others, 1), source)
        for response in sorted(special):
            pick += pick >= response
        return special[choice] if choice < len(special) else pick

    def verify(self) -> bool:
        return self.channel @ self.new == self.old

    @property
    def recipe(self) -> str:
        p_kept = exact.text(self.channel.probability(0, given=0))
        return f"keep the response with probability {p_kept}, else draw one of the others evenly"

    def written(self) -> Channel:
        return self.channel


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
        return self.old.as_sets() is not self.old, self.new.as_sets() is not self.new

    def _as_sets(self, old: int, new: int) -> tuple[int, int]:
        """Return a coarser and a finer response as sets, where they are numbers of single categories."""
        is_old_single, is_new_single = self._singles
        return 1 << old if is_old_single else old, 1 << new if is_new_single else new

    def garbling(self, old: int, new: int) -> Fraction:
        return self.step.garbling(*self._as_sets(old, new))

    def degrade(self, new: int, source: Source = SYSTEM) -> int:
        response = self.step.degrade(self._as_sets(0, new)[1], source)
        return response.bit_length() - 1 if self._singles[0] else response

    def upgrade(self, old: int, given: int, source: Source = SYSTEM) -> int:
        self.chance_of(old, given)
        response = self.step.upgrade(self._as_sets(old, 0)[0], given, source)
        return response.bit_length() - 1 if self._singles[1] else response

    def verify(self) -> bool:
        return (self.step.old, self.step.new) == (
            self.old.as_sets(),
            self.new.as_sets(),
        ) and self.step.verify()

    @property
    def recipe(self) -> str:
        return self.step.recipe

    def to_body(self) -> dict[str, Any]:
        return self.step.to_body()


def possible_responses(channel: Channel) -> list[int]:
    """Return all responses that a small channel can send.

    Raises:
        InvalidRequest: more than can be gone through.
    """
    _check_triples(channel.responses)
    return [
        number for number in range(channel.responses) if channel.possible(number)
    ]


def _check_triples(cells: int) -> None:
    if cells > _MAX_TRIPLES:
        raise InvalidRequest(
            "a stage between two that are out cannot be made for designs as large as these; expected at most "
            f"{_MAX_TRIPLES:,} combinations of their responses.",
            "Release stages in rising order, or plan the whole ladder beforehand.",
        )


def integer_weights(probabilities: Iterable[Fraction]) -> list[int]:
    """Return the smallest whole weights with these proportions that their common denominator gives."""
    fractions = list(probabilities)
    common = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * common) for fraction in fractions]


def running_sums(probabilities: Iterable[Fraction]) -> tuple[int, ...]:
    """Return running sums of whole weights with these proportions."""
    return tuple(accumulate(integer_weights(probabilities)))


def _join(product: Product, digits: Sequence[int]) -> int:
    return join(digits, [factor.responses for factor in product.factors])
