"""Relaxation of several attributes at once: each row holds the words of the first, then those of the second, and on."""

from __future__ import annotations

import numpy as np

from deniable.channel import Channel
from deniable.channel.coding import code_type
from deniable.engines.local.moves import EvenMove, Move, Ready, Scalar, ready
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import Layout, WordArray
from deniable.order.steps import Factors


class Side(EvenMove):
    """Steps side by side, each even."""

    def __init__(self, step: Factors, moves: list[EvenMove], *, down: bool) -> None:
        super().__init__(step, Layout([slot for move in moves for slot in move.layout.slots]), down=down)
        self.moves = moves
        self.was = (step.new if down else step.old).factors
        self.becomes = (step.old if down else step.new).factors
        self.asked = None if down else step.new.factors

    def place(self, olds: Codes, answers: Codes, block: WordArray, out: Codes) -> bool:
        """Place each factor's responses, then join them in mixed radix."""
        parts: list[Codes] = []
        at = 0
        was = _split(olds, [channel.responses for channel in self.was])
        given = _split(answers, [channel.answers for channel in self.asked]) if self.asked else [answers] * len(was)
        for move, old, answer, channel in zip(self.moves, was, given, self.becomes, strict=True):
            part = np.empty(len(olds), code_type(channel.responses))
            # A copy: a factor that cannot decide must leave the words of the others untouched.
            if not move.place(old, answer, block[:, at : at + move.width].copy(), part):
                return False
            parts.append(part)
            at += move.width
        _join(parts, self.becomes, out)
        return True


def _split(codes: Codes, sizes: list[int]) -> list[Codes]:
    digits: list[Codes] = []
    rest = codes
    for size in reversed(sizes):
        rest, digit = np.divmod(rest, rest.dtype.type(size)) if size <= np.iinfo(rest.dtype).max else (rest * 0, rest)
        digits.append(digit.astype(code_type(size)))
    return digits[::-1]


def _join(parts: list[Codes], channels: tuple[Channel, ...], out: Codes) -> None:
    out[:] = 0
    for part, channel in zip(parts, channels, strict=True):
        out *= out.dtype.type(channel.responses)
        out += part.astype(out.dtype)


@ready.register
def _(step: Factors, hand: Ready) -> Move:
    moves = [ready(each, hand) for each in step.steps]
    even = [move for move in moves if isinstance(move, EvenMove)]
    return Side(step, even, down=hand.down) if len(even) == len(moves) else Scalar(step, down=hand.down)
