"""A source that leads a draw to chosen positions, and all positions of a channel worth visiting.

This is the contract of the draw once more, written from its description in `deniable.chance` and not from its code.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from deniable.chance import WORD, ScriptedSource, words_for
from deniable.channel import Channel, Dense, Diagonal, Hadamard, Hashing, Product

SMALL = 5_000
"""Up to this total every position is visited; above it the first and the last of each stretch."""


def words(number: int, count: int) -> bytes:
    """Write an integer as words: each little-endian, the first the most significant."""
    digits = [
        number >> 64 * place & (1 << 64) - 1 for place in reversed(range(count))
    ]
    return b"".join(digit.to_bytes(WORD, "little") for digit in digits)


def script(position: int, total: int, *, last: bool = False) -> bytes:
    """Return words for which `below(total)` is this position: the first such ones, or the last."""
    count = words_for(total)
    scale = (1 << 64 * count) // total
    return words(position * scale + (scale - 1 if last else 0), count)


def thrown_away(total: int) -> bytes | None:
    """Return the first words that `below(total)` refuses, or None where it takes all."""
    count = words_for(total)
    limit = (1 << 64 * count) // total * total
    return words(limit, count) if limit < 1 << 64 * count else None


def drawn(channel: Channel, answer: int, script_of_draw: bytes) -> int:
    """Draw once with exactly these bytes; all of them must be used."""
    source = ScriptedSource(script_of_draw)
    response = channel.draw(answer, source)
    assert source.used == len(script_of_draw)
    return response


def by_position(channel: Channel) -> bool:
    """Whether a channel draws one position, or one for each of its factors, and nothing else."""
    if isinstance(channel, Product):
        return all(by_position(factor) for factor in channel.factors)
    return isinstance(channel, Dense | Diagonal | Hadamard | Hashing)


def factors(channel: Channel) -> tuple[Dense | Diagonal | Hadamard | Hashing, ...]:
    """Return the channels that draw one after the other."""
    if isinstance(channel, Product):
        return tuple(each for factor in channel.factors for each in factors(factor))
    assert isinstance(channel, Dense | Diagonal | Hadamard | Hashing)
    return (channel,)


def scripts_of_all_positions(channel: Channel) -> Iterator[bytes]:
    """Yield words for every combination of positions of the factors."""
    totals = [factor.total for factor in factors(channel)]
    for positions in product(*map(range, totals)):
        yield b"".join(
            script(position, total)
            for position, total in zip(positions, totals, strict=True)
        )


def positions(channel: Channel) -> int:
    """Return how many combinations of positions there are."""
    number = 1
    for factor in factors(channel):
        number *= factor.total
    return number
