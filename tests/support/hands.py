"""The hands that draw, side by side, and designs that are hard to draw from."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from deniable.chance import WORD, Source, words_for
from deniable.channel import Channel, Dense, Diagonal, Hadamard, Hashing, Product
from deniable.designs import (
    Design,
    binary,
    hadamard,
    k_ary,
    local_hashing,
    matrix,
    relaxed_subset,
    warner,
)
from deniable.engines import local
from tests.support.positions import words

Drawn = tuple[list[int], int]
"""The responses, and how many bytes they took."""


class Counted:
    """A script, then the bytes of another source, counted."""

    def __init__(self, script: bytes, rest: Source) -> None:
        self.script = script
        self.rest = rest
        self.used = 0

    def read(self, count: int) -> bytes:
        piece = self.script[self.used : self.used + count]
        self.used += count
        return piece + self.rest.read(count - len(piece))


def around(channel: Channel) -> Design:
    """Return a design around any channel."""
    return Design("hard", channel.answers, channel.responses, channel)  # type: ignore[arg-type]  # Design reads labels


def scalar(design: Design, answers: ArrayLike, source: Counted) -> Drawn:
    """Draw answer by answer, as a respondent's device does."""
    return [
        design.channel.draw(answer, source)
        for answer in np.asarray(answers).tolist()
    ], source.used


def engine(
    design: Design, answers: ArrayLike, source: Counted, *, fast: bool
) -> Drawn:
    """Draw all at once."""
    drawn = local.draw_all(
        design, np.asarray(answers), codes=True, source=source, fast=fast
    )
    # sets of categories come as rows of packed bits, the lowest first
    if drawn.ndim == 2:
        return [
            int.from_bytes(row.tobytes(), "little") for row in drawn
        ], source.used
    return drawn.tolist(), source.used


def everybody(design: Design, n: int) -> list[int]:
    """Return n answers in which every category has its turn, not only in order."""
    size = design.channel.answers
    return [(7 * i + i * i // 11) % size for i in range(n)]


def leaves(channel: Channel) -> list[Channel]:
    """Return the channels that draw one after the other."""
    if isinstance(channel, Product):
        return [leaf for factor in channel.factors for leaf in leaves(factor)]
    return [channel]


def planted(design: Design, n: int, source: Source) -> bytes:
    """Return n words or more of which every second lies on the edge of a decision: at a threshold, a word before or
    behind it, at the first position that is thrown away, and at both ends."""
    order = random.Random(source.read(8))
    edges = [edge for leaf in leaves(design.channel) for edge in _edges(leaf)]
    # `random()` alone gives the same numbers in every version of Python.
    pieces = [
        edges[int(order.random() * len(edges))]
        if order.random() < 0.5
        else source.read(WORD)
        for _ in range(n)
    ]
    return b"".join(pieces)


def _edges(channel: Channel) -> list[bytes]:
    if not isinstance(channel, Dense | Diagonal | Hadamard | Hashing):
        return [words(0, 1), words((1 << 64) - 1, 1)]
    count = words_for(channel.total)
    top = 1 << 64 * count
    scale = top // channel.total
    marks = {
        0,
        top,
        scale * channel.total,
        *(scale * mark for mark in _marks(channel)),
    }
    near = {mark + step for mark in marks for step in (-1, 0, 1)}
    return [words(number, count) for number in sorted(near) if 0 <= number < top]


def _marks(channel: Dense | Diagonal | Hadamard | Hashing) -> Sequence[int]:
    if isinstance(channel, Dense):
        return [mark for column in channel.sums for mark in column]
    if isinstance(channel, Hadamard):
        edge, few = (
            (channel.half - 1) * channel.large,
            (0, 1, 2, channel.half - 2, channel.half - 1),
        )
        return [i * channel.large for i in few] + [
            edge + i * channel.small for i in few
        ]
    if isinstance(channel, Hashing):
        first = [
            i * channel.other for i in (1, 2, channel.values - 2, channel.values - 1)
        ]
        starts = [
            h * channel.per_hash
            for h in (0, 1, 2, channel.hashes // 2, channel.hashes - 1)
        ]
        return starts + [start + mark for start in starts for mark in first]
    last = channel.size - 1
    few = {1, 2, 3, last // 2, last - 1, last, *range(1, min(last, 20))}
    return [i * channel.other for i in sorted(few)]


_once = k_ary(3, epsilon=1).channel
_two_words = k_ary(1000, p="0.1234567")
_sparse = Dense(((0, 0, 5, 0), (0, 5, 0, 3), (5, 0, 0, 1), (0, 0, 0, 1)), 5)

HARD = {
    "the other one always": around(Diagonal(2, 0, 1)),
    "256 categories": k_ary(256, epsilon=2),
    "257 categories": k_ary(257, epsilon=2),
    "65,536 categories": k_ary(65_536, epsilon=12),
    "65,537 categories": k_ary(65_537, p="1/3"),
    "a million categories": k_ary(1_000_000, epsilon=1),
    "a short divisor": k_ary(1 << 31, epsilon=4),
    "a total above 2^24": k_ary(5, p="0.7654321"),
    "two words, some thrown away": _two_words,
    "two words, none thrown away": around(_once @ _once),
    "three words": around(_once @ _once @ _once),
    "two categories, two words": around(warner(1).channel @ warner("1/2").channel),
    "a table of 2^64": around(k_ary(5, epsilon=1).channel.dense()),
    "a table of 2^128": around((_once @ _once).dense()),
    "zeros at both ends of columns": around(_sparse),
    "zeros in a table of two words": matrix(
        [["1/999999999989", 0, 1], ["999999999988/999999999989", 0, 0], [0, 1, 0]]
    ),
    "two words, the first often in doubt": around(
        Diagonal(3, 2**90 - 2**42 - 2 * 3**50, 3**50)
    ),
    "forced responses": matrix([["1/2", 1], ["1/2", 0]]),
    "many responses": matrix(
        [["1/300", "2/300" if i % 2 else 0] for i in range(300)]
    ),
    "patterns of three levels": relaxed_subset(13, "1/2", "1/100"),
    "a Hadamard matrix of a million": hadamard(1_000_000, epsilon=1),
    "a Hadamard matrix of two words": hadamard(1 << 40, epsilon=3),
    "hashes of a million with two values": local_hashing(
        1_000_000, epsilon=1, values=2
    ),
    "hashes of a million with three values": local_hashing(
        1_000_000, epsilon=1, values=3
    ),
    "hashes of a million with four values": local_hashing(
        1_000_000, epsilon=1, values=4
    ),
    "hashes of a million with nine values": local_hashing(
        1_000_000, epsilon=2, values=9
    ),
    "hashes with 256 values": local_hashing(1_000_000, epsilon=4, values=256),
    "hashes with 243 values": local_hashing(1_000_000, epsilon=4, values=243),
    "hashes of a million with 53 values": local_hashing(1_000_000, epsilon=4),
    "hashes with 257 values": local_hashing(1_000_000, epsilon=4, values=257),
    "hashes of a billion": local_hashing(1_000_000_000, epsilon=2, values=7),
    "hashes of a billion with eight values": local_hashing(
        1_000_000_000, epsilon=2, values=8
    ),
    "hashes that are the answer": local_hashing(40, epsilon=5, values=41),
    "a product of one and two words": around(
        Product((k_ary(3, p="0.1234567891").channel, binary("9/10", "7/10").channel))
    ),
    "a product of products": around(
        Product(
            (
                Product((warner(p="2/3").channel, k_ary(3, p="7/10").channel)),
                warner(1).channel,
            )
        )
    ),
}
"""Designs whose totals, thresholds and sizes are where kernels go wrong."""
