"""The words at which a draw decides otherwise, found by halving: what it compares them with need not be known.

A draw is asked with one script of words after another that differ in a single one of them. Wherever what it sends, or
how many words it takes, is not the same for two words, there is a threshold between these: the words right beside it
are those where a draw in bulk goes wrong if it is off by one, lets a tie decide, or keeps what is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from deniable.chance import WORD, ScriptedSource, Source
from tests.support.seeded import Seeded

HIGHEST = (1 << 64) - 1
BESIDE = (-2, -1, 0, 1)
"""How far from a threshold to look, where the last word before it has −1; a tie is one word between two stretches."""

_SPARE = 200  # words behind those that a draw takes, for the ones it takes where some are thrown away
_PROBES = 3  # words between the lowest and the highest

Given = TypeVar("Given")


class Edge(NamedTuple):
    """One draw with a word beside a threshold.

    Attributes:
        given: from what it is drawn.
        script: all bytes that it takes.
        sent: what it gives.
    """

    given: Any
    script: bytes
    sent: Any


def edges(
    draw: Callable[[Given, Source], Any], given: Given, script: bytes
) -> Iterator[Edge]:
    """Yield draws like the one from a script, each with another word beside a threshold, or at an end.

    Args:
        draw: the scalar draw.
        given: from what to draw.
        script: the bytes to begin with; others follow.
    """
    script += Seeded("spare").read(WORD * _SPARE)
    taken = _drawn(draw, given, script)
    for at in _places(len(taken.script) // WORD):

        def tried(word: int, at: int = at) -> Edge:
            return _drawn(
                draw,
                given,
                script[: WORD * at]
                + word.to_bytes(WORD, "little")
                + script[WORD * (at + 1) :],
            )

        probes = sorted({0, HIGHEST, *_words(Seeded(f"{at}").read(WORD * _PROBES))})
        known = {word: tried(word) for word in probes}
        near = {
            min(max(cut + step, 0), HIGHEST)
            for cut in _cuts(tried, known)
            for step in BESIDE
        }
        for word in sorted({0, HIGHEST} | near):
            yield known.get(word) or tried(word)


def open_bits(
    draw: Callable[[Given, Source], Any],
    given: Given,
    places: Iterable[int],
    blocks: int,
) -> Iterator[Edge]:
    """Yield draws as `edges` does, from words whose coins leave some bits open, so that a word decides each of these.

    Args:
        draw: the scalar draw of so many words of bits.
        given: from what to draw.
        places: the bits.
        blocks: words that hold all bits.
    """
    coins = [
        HIGHEST ^ sum(1 << place % 64 for place in places if place // 64 == at)
        for at in range(blocks)
    ] * 8
    yield from edges(
        draw, given, b"".join(coin.to_bytes(WORD, "little") for coin in coins)
    )


def _drawn(
    draw: Callable[[Given, Source], Any], given: Given, script: bytes
) -> Edge:
    source = ScriptedSource(script)
    sent = draw(given, source)
    return Edge(given, script[: source.used], sent)


def _places(words: int) -> list[int]:
    """Return which words of a draw to change: the first three, the last three, and one between."""
    return sorted(
        {
            each
            for each in (0, 1, 2, words // 2, *range(words - 3, words))
            if 0 <= each < words
        }
    )


def _words(script: bytes) -> list[int]:
    return [
        int.from_bytes(script[at : at + WORD], "little")
        for at in range(0, len(script), WORD)
    ]


def _cuts(tried: Callable[[int], Edge], known: dict[int, Edge]) -> Iterator[int]:
    """Yield the first word behind a threshold, for each two neighbours that do not agree."""
    for one, other in pairwise(known):
        low, high, before = one, other, _outcome(known[one])
        if before == _outcome(known[other]):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (middle, high)
                if _outcome(tried(middle)) == before
                else (low, middle)
            )
        yield high


def _outcome(edge: Edge) -> tuple[Any, int]:
    return edge.sent, len(edge.script)
