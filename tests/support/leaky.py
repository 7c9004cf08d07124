"""Copies of our own designs at ε = 1, each with one planted fault that an audit must find; and what it is called with.

Every fault is a function of one answer at the top of this file, as a user would hand it over, so that an audit can also
start it anew in another process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from fractions import Fraction
from threading import Lock
from typing import NamedTuple

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import deniable as dn
from deniable import chance

EIGHT = tuple("01234567")
FOUR = tuple("0123")
_UNARY = dn.unary(8, 1)
_K_ARY = dn.k_ary(4, 1)
_EIGHT_ARY = dn.k_ary(8, 1)
_SUBSET = dn.subset(8, 1)


def bit_never_flipped(answer: str) -> str:
    """Unary bits, the sixth of which is sent as it is."""
    bits, truth = _UNARY.channel, int(answer)
    hit, stray = Fraction(bits.hit, bits.total), Fraction(bits.stray, bits.total)
    sent = [chance.happens(hit if at == truth else stray) for at in range(8)]
    sent[5] = truth == 5
    return "".join("01"[bit] for bit in sent)


_TOO_LARGE = dn.k_ary(4, "5/4")


def epsilon_too_large(answer: str) -> str:
    """A k-ary design at ε = 5/4."""
    return dn.respond(_TOO_LARGE, answer).symbol


def biased_low_order_bits(answer: str) -> str:
    """A k-ary design of eight; another category is picked by low-order bits, the lowest of which is 1 too often."""
    keep = Fraction(_EIGHT_ARY.channel.same - _EIGHT_ARY.channel.other, chance.TOTAL)
    if chance.happens(keep):
        chance.spare(2)
        return answer
    word = chance.bits(1) & 6 | chance.happens(Fraction(3, 5))
    return EIGHT[word]


def order_of_a_set(answer: str) -> list[str]:
    """A set of two of eight categories, the answer first where it is among them."""
    sent = [
        EIGHT[at]
        for at, bit in enumerate(dn.respond(_SUBSET, answer).symbol[1:])
        if bit == "1"
    ]
    return sorted(sent, key=lambda each: each != answer)


class _Buffered:
    """A keystream that does not notice a fork, or that takes the key it is given."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key
        self._cipher = None
        # a cipher of cryptography 45 and older refuses two threads at a time
        self._one = Lock()

    def read(self, count: int) -> bytes:
        if self._cipher is None:
            key = os.urandom(32) if self._key is None else self._key
            self._cipher = Cipher(
                algorithms.AES(key), modes.CTR(bytes(16))
            ).encryptor()
        with self._one:
            return self._cipher.update(bytes(count))


_UNFORKED = _Buffered()
_CONSTANT = _Buffered(bytes(32))


def stale_after_fork(answer: str) -> str:
    """A k-ary design whose keystream goes on in a forked child as in its parent."""
    return dn.respond(_K_ARY, answer, source=_UNFORKED).symbol


def constant_key(answer: str) -> str:
    """A k-ary design whose keystream begins at the same key whenever the program starts."""
    return dn.respond(_K_ARY, answer, source=_CONSTANT).symbol


def one_word_more(answer: str) -> str:
    """A k-ary design that takes another random word for the answer "2"."""
    if answer == "2":
        chance.spare(1)
    return dn.respond(_K_ARY, answer).symbol


class Planted(NamedTuple):
    """A fault, as it is called in the bar, and the answers that the copy knows."""

    name: str
    mechanism: Callable[[str], object]
    answers: tuple[str, ...]


SEVEN = (
    Planted("a bit never flipped", bit_never_flipped, EIGHT),
    Planted("ε too large by a quarter", epsilon_too_large, FOUR),
    Planted("biased low-order bits", biased_low_order_bits, EIGHT),
    Planted("order of a set leaks", order_of_a_set, EIGHT),
    Planted("stale randomness after fork", stale_after_fork, FOUR),
    Planted("constant key", constant_key, FOUR),
    Planted("one more random word for one answer", one_word_more, FOUR),
)
"""The faults of the bar."""

_state = 1


def alternating_low_bit(answer: str) -> str:
    """A two-answer design whose responses are right one by one; each depends on the one before."""
    global _state  # noqa: PLW0603 - a generator with a state is the fault
    _state = (_state * 1103515245 + 12345) % 2**31  # its lowest bit alternates
    # 2 / (1 + e), rounded towards privacy
    other = chance.happens(Fraction(53789, 100000))
    return "01"[(int(answer) + (_state & 1) * other) % 2]


_previous = "0"


def previous_answer(answer: str) -> str:
    """A k-ary design whose response now and then is the one before's answer."""
    global _previous
    before, _previous = _previous, answer
    return dn.respond(
        _K_ARY, before if chance.happens(Fraction(1, 5)) else answer
    ).symbol


def slow_answer(answer: str) -> str:
    """A k-ary design that takes longer for one answer."""
    if answer == "3":
        time.sleep(0.0005)
    return dn.respond(_K_ARY, answer).symbol


def padded_answer(answer: str) -> str:
    """A k-ary design that leaves a space behind the response to one answer."""
    return dn.respond(_K_ARY, answer).symbol + " " * (answer == "1")


def same_in_each_call(answer: str) -> str:
    """A unary design whose keystream begins anew in each call."""
    return dn.respond(_UNARY, answer, source=_Buffered(bytes(32))).symbol


MORE = (
    Planted("a low-order bit that alternates", alternating_low_bit, ("0", "1")),
    Planted("the answer before shows", previous_answer, FOUR),
    Planted("slower for one answer", slow_answer, FOUR),
    Planted("a space behind one answer", padded_answer, FOUR),
    Planted("the same key in each call", same_in_each_call, EIGHT),
)
"""Faults beyond those of the bar."""
