"""Relaxation between sets of different sizes, over many packed rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Diagonal
from deniable.channel.coding import Rows
from deniable.engines.local import nested_vectors, vectors
from deniable.engines.local.moves import EvenMove, Move, Ready, Scalar, bound, impossible, ready
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import Layout, Slot, WordArray
from deniable.order.sets import Nested, PickPlan
from deniable.order.steps import Recoded

_NEVER = (1 << 64) - 1
_WIDE = 64  # categories for which NumPy holds a byte each while it draws, for each word of the chunk
_MOST = 1 << 16


@dataclass(frozen=True)
class Plans:
    """How to draw from every kind of known set: 2·size + (holds the answer), in arrays.

    Attributes:
        size: how many categories there are.
        known: which kinds occur.
        bounds: for each kind the first words of the running sums, filled up with words that nothing is above.
        within, beyond: for each kind and way, how many members are drawn from the known set, and from the rest.
        free, inside: for each kind and way, whether the known set does not matter, and whether the answer is put in.
        picks: words behind the first.
    """

    size: int
    known: NDArray[np.bool_]
    bounds: NDArray[np.uint64]
    within: NDArray[np.int64]
    beyond: NDArray[np.int64]
    free: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    picks: int

    @classmethod
    def of(cls, size: int, plans: Mapping[Hashable, PickPlan], picks: int) -> Plans:
        """Write plans into arrays; those for degrading know sizes alone."""
        shape = (2 * (size + 1), max(len(plan.picks) for plan in plans.values()))
        bounds = np.full(shape, _NEVER, np.uint64)
        within, beyond = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        free, inside = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        known = np.zeros(shape[0], np.bool_)
        for kind, plan in plans.items():
            ones, held = kind if isinstance(kind, tuple) else (kind, 0)
            at = 2 * int(ones) + int(held)
            known[at] = True
            total = plan.sums[-1]
            bounds[at, : len(plan.sums) - 1] = [bound(Fraction(each, total)) for each in plan.sums[:-1]]
            for way, pick in enumerate(plan.picks):
                within[at, way], beyond[at, way] = pick.within, pick.beyond
                free[at, way], inside[at, way] = pick.free, pick.inside
        return cls(size, known, bounds, within, beyond, free, inside, picks)


class NestedKernels(Protocol):
    """What `nested_vectors` and `nested_kernels` both offer."""

    def nest(self, block: WordArray, olds: Rows, own: NDArray[np.int64], out: Rows, plans: Plans) -> bool:
        """Draw a set from each row; `own` is the answer, or −1. Return False where a word does not decide."""
        ...


class Nest(EvenMove):
    """Sets from sets: one word chooses a way, and one word picks each member."""

    def __init__(self, step: Nested, hand: Ready) -> None:
        plans, picks = (step.downwards, step.most_down) if hand.down else (step.upwards, step.most_up)
        super().__init__(step, Layout([Slot(1, 1 << 64)] * (1 + picks)), down=hand.down)
        self.plans = Plans.of(step.new.size, plans, picks)
        self.width = max(self.layout.width, step.new.size // _WIDE)
        self.down = hand.down
        home: Any = (
            nested_vectors if hand.kernels is vectors else import_module("deniable.engines.local.nested_kernels")
        )
        self.kernels: NestedKernels = home

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Draw the sets."""
        own = np.full(len(olds), -1, np.int64) if self.down else answers.astype(np.int64)
        kinds = nested_vectors.kinds(olds, own)
        if not self.plans.known[kinds].all():
            raise impossible()
        return self.kernels.nest(block, olds, own, out, self.plans)


class Recode(EvenMove):
    """The same where one or both designs send a single category under its own number."""

    def __init__(self, step: Recoded, nest: EvenMove, *, down: bool) -> None:
        super().__init__(step, nest.layout, down=down)
        self.width, self.nest = nest.width, nest
        was, becomes = (step.new, step.old) if down else (step.old, step.new)
        self.was, self.becomes = isinstance(was, Diagonal), isinstance(becomes, Diagonal)
        self.size = step.new.answers

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Write codes as sets, draw, and read sets as codes."""
        rows = _as_rows(olds, self.size) if self.was else olds
        drawn = np.empty((len(olds), -(-self.size // 8)), np.uint8) if self.becomes else out
        if not self.nest.place(rows, answers, block, drawn):
            return False
        if self.becomes:
            byte = (drawn != 0).argmax(axis=1)
            found = 8 * byte + np.log2(drawn[np.arange(len(drawn)), byte]).astype(np.intp)
            np.copyto(out, found, casting="unsafe")
        return True


def _as_rows(codes: Codes, size: int) -> Rows:
    rows = np.zeros((len(codes), -(-size // 8)), np.uint8)
    places = codes.astype(np.intp)
    rows[np.arange(len(codes)), places >> 3] = np.uint8(1) << (places & 7).astype(np.uint8)
    return rows


@ready.register
def _(step: Nested, hand: Ready) -> Move:
    return Nest(step, hand) if step.new.size <= _MOST else Scalar(step, down=hand.down)


@ready.register
def _(step: Recoded, hand: Ready) -> Move:
    nest = ready(step.step, hand)
    return Recode(step, nest, down=hand.down) if isinstance(nest, EvenMove) else Scalar(step, down=hand.down)
