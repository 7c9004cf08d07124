"""A bit for each category: unary encodings, and one-hot RAPPOR."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable import chance, exact
from deniable.channel import Bits
from deniable.design import labels
from deniable.design.bitstrings import Bitstrings
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.errors import InvalidDesign, InvalidRequest


@register(
    {"categories": ["red", "green", "blue"], "epsilon": 1},
    {"categories": 3, "epsilon": 2, "optimized": True},
    {"categories": 3, "p": "2/3", "q": "1/4"},
    {"categories": 3, "p": "1/5", "q": "1/2", "by_size": True},
)
def unary(
    categories: Labels,
    epsilon: exact.Rational | None = None,
    *,
    optimized: bool = False,
    p: exact.Rational | None = None,
    q: exact.Rational | None = None,
    by_size: bool = False,
) -> Design:
    """Send a bit for each category: 1 with probability p for the answer's own, with q for every other.

    Give either ε or both p and q. From ε, the symmetric encoding has p = 1 − q; the optimized one has p = 1/2, and the
    fewest ones for categories that are rare.

    Implements: symmetric and optimized unary encoding (SUE, OUE) of [WBL17]; with p = 1 − q one-hot RAPPOR [EPK14].

    Guarantee: parity p(1 − q) / (q(1 − p)), because two answers differ in two bits; from ε in weights that sum to 2^64,
    rounded towards privacy, from p and q exactly these.

    Args:
        categories: what a respondent may be.
        epsilon: the most that a response may reveal.
        optimized: choose p = 1/2 instead of p = 1 − q.
        p: how often the answer's own bit is 1.
        q: how often each other bit is 1.
        by_size: let a tally count responses with each number of ones apart, for the estimate with the smaller variance.

    Raises:
        InvalidDesign: fewer than two categories, p = q, bits that are never changed, or too many cells by size.
        InvalidRequest: neither or both of ε and the probabilities.

    Example:
        >>> unary(["red", "green", "blue"], epsilon=1, optimized=True).epsilon
        1.0
        >>> unary(128, p="3/4", q="1/4").parity
        Fraction(9, 1)
    """
    known = labels.read(categories)
    if (epsilon is None) == (p is None) or (p is None) != (q is None) or (optimized and epsilon is None):
        raise InvalidRequest(
            "expected either epsilon, or both p and q.", "For example epsilon=1, or p=0.75 and q=0.25."
        )
    if epsilon is not None:
        channel = _from_epsilon(len(known), epsilon, optimized=optimized, by_size=by_size)
    else:
        assert p is not None
        assert q is not None
        channel = _from_probabilities(
            len(known), exact.probability(p, name="p"), exact.probability(q, name="q"), by_size
        )
    return Design("unary", known, Bitstrings(len(known)), channel)


@register(
    {"categories": ["red", "green", "blue"], "epsilon": 1},
    {"categories": 3, "f": "1/3"},
    {"categories": 4, "f": "1/4", "by_size": False},
)
def rappor(
    categories: Labels,
    epsilon: exact.Rational | None = None,
    *,
    f: exact.Rational | None = None,
    by_size: bool = True,
) -> Design:
    """Send a bit for each category, 1 for the answer's own and 0 for the others, each flipped with probability f.

    Give either ε or f. The bits are those of `unary`; what differs is that a tally counts responses by their number of
    ones, from which the minimax estimate is made. RAPPOR's own is `estimate(tally, method="customary")`; it is worse.

    Implements: the permanent response of [EPK14] with one bit for each category; as a mixture of t-subset designs
    [Cha19], Chapter 7.

    Guarantee: parity ((1 − f)/f)², because two answers differ in two bits; from ε f = 1/(e^(ε/2) + 1) in a weight of
    2^64, rounded towards privacy.

    Args:
        categories: what a respondent may be.
        epsilon: the most that a response may reveal.
        f: how often each bit is flipped.
        by_size: let a tally count responses with each number of ones apart: (k + 1)² cells. Beyond 2,000 categories
            that is too many, and gains next to nothing; then the customary estimate is all there is.

    Raises:
        InvalidDesign: fewer than two categories, f = 1/2, bits that are never changed, or too many cells by size.
        InvalidRequest: neither or both of ε and f.

    Example:
        >>> rappor(["red", "green", "blue"], f="1/3").parity
        Fraction(4, 1)
    """
    known = labels.read(categories)
    if (epsilon is None) == (f is None):
        raise InvalidRequest("expected either epsilon or f, and exactly one.", "For example epsilon=1, or f=0.25.")
    if epsilon is not None:
        channel = _from_epsilon(len(known), epsilon, optimized=False, by_size=by_size)
    else:
        assert f is not None
        flip = exact.probability(f, name="f")
        channel = _from_probabilities(len(known), 1 - flip, flip, by_size)
    return Design("rappor", known, Bitstrings(len(known)), channel)


def _from_epsilon(size: int, epsilon: exact.Rational, *, optimized: bool, by_size: bool) -> Bits:
    asked = exact.positive_epsilon(epsilon)
    # The symmetric encoding spends half of ε on each of the two bits; the optimized one all of it on the zeros.
    ratio = exact.exp_below(asked if optimized else asked / 2)
    stray = math.ceil(chance.TOTAL / (ratio + 1))
    hit = chance.TOTAL // 2 if optimized else chance.TOTAL - stray
    if stray >= hit:
        raise InvalidDesign("this ε is too fine for weights that sum to 2^64; expected a larger one.")
    return Bits(size, hit, stray, chance.TOTAL, by_size)


def _from_probabilities(size: int, p: Fraction, q: Fraction, by_size: bool) -> Bits:
    if p == q:
        raise InvalidDesign(
            f"p = q = {p} sends the same bits whatever the answer; expected two different probabilities.",
            "For an even protection of all categories use unary(categories, epsilon=1).",
        )
    if {p, q} == {0, 1}:
        raise InvalidDesign("bits that are never changed give every answer away; expected p and q between 0 and 1.")
    total = math.lcm(p.denominator, q.denominator)
    return Bits(size, int(p * total), int(q * total), total, by_size)
