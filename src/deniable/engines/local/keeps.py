"""Keep the response that is out or draw a fresh one, over many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel, Diagonal, Hadamard, Hashing, Subset
from deniable.channel.coding import code_type
from deniable.engines.local import step_vectors, vectors
from deniable.engines.local.coded import Family, hashed
from deniable.engines.local.draws import Draw, Even, Quotient, prepare
from deniable.engines.local.moves import WORD, EvenMove, Move, Ready, Scalar, bound, code, impossible, ready
from deniable.engines.local.sets import Filled
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import Layout, WordArray
from deniable.order.steps import KeepOrFresh

SHORT = 1 << 34
"""Below this divisor the quotient by multiplication is not exact; see `kernels`."""


@dataclass(frozen=True)
class Pair:
    """Two diagonal channels in units of words: when an old code is kept, and how a fresh one is drawn.

    Attributes:
        size: how many categories there are.
        yes: a first word below this keeps a response that is the answer.
        no: one below this keeps any other response.
        divisor: the second word divided by this is the fresh response, as in `kernels.divide`.
    """

    size: int
    yes: int
    no: int
    divisor: int


class StepKernels(Protocol):
    """What `step_vectors` and `step_kernels` both offer."""

    def decide(self, words: WordArray, like: NDArray[np.bool_], keep: NDArray[np.bool_], yes: int, no: int) -> bool:
        """Say for each row whether its word is below the bound of its kind; return False where one is equal."""
        ...

    def decide_codes(
        self, words: WordArray, olds: Codes, answers: Codes, keep: NDArray[np.bool_], yes: int, no: int
    ) -> bool:
        """Do the same where the kind is whether two codes are equal."""
        ...

    def merge(self, olds: Codes, keep: NDArray[np.bool_], out: Codes) -> None:
        """Put back the old codes where they are kept."""
        ...

    raise_codes: Callable[[WordArray, Codes, Codes, Codes, Pair], bool] | None
    """All of it in one pass for two diagonal channels, where that is quicker; False where a word decides nothing."""


def own(kernels: Any) -> StepKernels:
    """Return the functions for steps that go with the kernels that were chosen."""
    found: Any = step_vectors if kernels is vectors else import_module("deniable.engines.local.step_kernels")
    return found  # type: ignore[no-any-return]  # a module that offers these functions


class Keep(EvenMove):
    """Keep or fresh: one word decides whether to keep, the next ones draw afresh."""

    def __init__(self, step: KeepOrFresh, fresh: Draw, kernels: StepKernels, *, down: bool) -> None:
        assert isinstance(fresh, Even | Filled)
        super().__init__(step, Layout([WORD, *fresh.layout.slots]), down=down)
        self.fresh = fresh
        self.kernels = kernels
        self.likeness = Likeness(step.new)
        both = (step.share, step.share) if down else self.likeness.retentions(step)
        self.impossible = both[0] is None, both[1] is None
        self.yes, self.no = (bound(each or Fraction(0)) for each in both)
        self.down = down
        self.pair = None if any(self.impossible) else self._one_pass(step.base if down else step.new)

    def _one_pass(self, channel: Channel) -> Pair | None:
        """Return what is needed to raise codes in one pass, where kernels offer it and a code has room for a mark."""
        room = isinstance(channel, Diagonal) and code_type(channel.size) == code_type(channel.size + 1)
        if not room or self.kernels.raise_codes is None or not isinstance(self.fresh, Quotient):
            return None
        if self.fresh.divisor < SHORT:
            return None
        return Pair(channel.answers, self.yes, self.no, self.fresh.divisor)

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Decide who keeps, draw for everybody, and put back what is kept."""
        if self.pair is not None and self.kernels.raise_codes is not None:
            return self.kernels.raise_codes(block, olds, answers, out, self.pair)
        keep = np.empty(len(olds), np.bool_)
        decided = self._decide(olds, answers, block[:, 0], keep)
        if not decided or not _placed(self.fresh, answers, block[:, 1:], out):
            return False
        if out.ndim == 1:
            self.kernels.merge(olds, keep, out)
        else:
            out[keep] = olds[keep]
        return True

    def _decide(self, olds: Codes, answers: Codes, heads: WordArray, keep: NDArray[np.bool_]) -> bool:
        if self.down:
            return self.kernels.decide(heads, keep, keep, self.yes, self.yes)
        if isinstance(self.likeness.channel, Diagonal) and not any(self.impossible):
            return self.kernels.decide_codes(heads, olds, answers, keep, self.yes, self.no)
        like = self.likeness.of(olds, answers)
        if (self.impossible[0] and like.any()) or (self.impossible[1] and not like.all()):
            raise impossible()
        return self.kernels.decide(heads, like, keep, self.yes, self.no)


class Likeness:
    """The channels of which a response is either likely or unlikely, and which of the two it is."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._family = Family.of(channel, 1) if isinstance(channel, Hashing) and channel.hashes > 1 else None

    def of(self, olds: Codes, answers: Codes) -> NDArray[np.bool_]:
        """Say where a response is the one that its answer is likely to give."""
        if isinstance(self.channel, Subset):
            rows = np.arange(len(olds))
            shift = (answers & answers.dtype.type(7)).astype(np.uint8)
            found = olds[rows, (answers >> answers.dtype.type(3)).astype(np.intp)] >> shift
            return (found & np.uint8(1)).view(np.bool_)
        if isinstance(self.channel, Hadamard):
            common = (olds.astype(np.uint64) + np.uint64(1)) & (answers.astype(np.uint64) + np.uint64(1))
            return ~(np.bitwise_count(common) & np.uint8(1)).view(np.bool_)
        if self._family is not None:
            chosen, value = np.divmod(olds.astype(np.uint64), np.uint64(self._family.values))
            return np.asarray(hashed(chosen, answers, self._family) == value, np.bool_)
        return np.asarray(olds == answers, np.bool_)

    def retentions(self, step: KeepOrFresh) -> tuple[Fraction | None, Fraction | None]:
        """Return how often a likely and an unlikely response is kept; None for one that never occurs."""
        response, *pair = step.new.witness
        answers = sorted(pair, key=lambda x: not self._at(response, x))
        found = [step.retention(response, x) if step.old.probability(response, given=x) else None for x in answers]
        return found[0], found[1]

    def _at(self, response: int, answer: int) -> bool:
        olds = self.channel.coding.space(1)
        olds[0] = code(self.channel, response, olds)
        return bool(self.of(olds, np.array([answer], np.uint64))[0])


@ready.register
def _(step: KeepOrFresh, hand: Ready) -> Move:
    fresh = prepare(step.base if hand.down else step.new, hand.kernels)
    if not isinstance(fresh, Even | Filled):
        return Scalar(step, down=hand.down)
    return Keep(step, fresh, own(hand.kernels), down=hand.down)


def _placed(draw: Even | Filled, answers: Codes, block: WordArray, out: Codes) -> bool:
    if isinstance(draw, Filled):
        return draw.filled(answers, block, out)
    draw.place(answers, block, out)
    return True
