"""Blindness with `==` on rationals, whatever the modulus: docs/theory/blind-signatures.md, by enumeration.

The exponent is 3 here, so that moduli can be written out in which it is a permutation, in which numbers have three
roots or nine, and in which most have none.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import pytest

EXPONENT = 3
MODULI = {
    "honest": 5 * 11,
    "three roots": 7 * 5,
    "nine roots": 7 * 13,
    "a square": 9 * 5,
    "smooth": 3 * 5 * 7,
    "even": 14,
}

Signing = tuple[int, int]
"""What was signed, and what came back."""

Token = tuple[int, int]
"""What a token is encoded as, and its signature."""


def together(
    modulus: int, *, compared: bool
) -> dict[tuple[Signing, Token], Fraction]:
    """Return how likely each pair is among those who spend their token, when all encodings and factors are.

    The signer returns one root of what it is given, whichever has the smallest number; where there is none it returns
    1, the signature is not good, and nothing is spent.

    Args:
        modulus: that of the key.
        compared: whether tokens that have a factor in common with the modulus are kept back.
    """
    units = [number for number in range(modulus) if math.gcd(number, modulus) == 1]
    likely: dict[tuple[Signing, Token], Fraction] = defaultdict(Fraction)
    for encoded, factor in product(units if compared else range(modulus), units):
        blinded = encoded * factor**EXPONENT % modulus
        signed = next(
            (root for root in range(modulus) if root**EXPONENT % modulus == blinded),
            1,
        )
        signature = signed * pow(factor, -1, modulus) % modulus
        if signature**EXPONENT % modulus == encoded:
            likely[(blinded, signed), (encoded, signature)] += 1
    total = sum(likely.values())
    return {pair: weight / total for pair, weight in likely.items()}


def is_blind(likely: dict[tuple[Signing, Token], Fraction]) -> bool:
    """Say whether signings and tokens are independent: no token fits one signing better than another."""
    signings: dict[Signing, Fraction] = defaultdict(Fraction)
    tokens: dict[Token, Fraction] = defaultdict(Fraction)
    for (signing, token), weight in likely.items():
        signings[signing] += weight
        tokens[token] += weight
    return all(
        likely.get((one, other), 0) == signings[one] * tokens[other]
        for one, other in product(signings, tokens)
    )


@pytest.mark.parametrize("modulus", MODULI.values(), ids=MODULI)
def test_tokens_that_are_spent_fit_every_signing_equally_well(modulus: int) -> None:
    assert is_blind(together(modulus, compared=True))


@pytest.mark.parametrize("modulus", MODULI.values(), ids=MODULI)
def test_they_do_not_where_tokens_are_not_compared_with_the_modulus(
    modulus: int,
) -> None:
    assert not is_blind(together(modulus, compared=False))


def test_under_some_moduli_most_tokens_are_never_signed() -> None:
    """What is left to a key that was made in bad faith: to turn people away, as any collector can."""
    modulus = MODULI["nine roots"]
    units = {number for number in range(modulus) if math.gcd(number, modulus) == 1}
    assert len(units) == 9 * len({number**EXPONENT % modulus for number in units})
