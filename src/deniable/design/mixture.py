"""Mixtures of t-subset designs, of which RAPPOR is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from deniable import chance, exact
from deniable.channel import Mixture
from deniable.channel.mixture import Part
from deniable.design import labels
from deniable.design.bitstrings import Bitstrings
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.design.subset import inside, risk, subset_information
from deniable.errors import InvalidDesign, InvalidRequest

Weights: TypeAlias = Mapping[int, exact.Rational] | Sequence[exact.Rational]
"""How often each size of set is sent: by size, or in order for the sizes 0, 1, 2 and so on. They sum to 1."""

_MOST_SIZES = 2_000  # a tally keeps a count of each category for each size
_PRECISE = Context(prec=60)  # of which 20 digits are needed: weights are rounded to 64 bits


@register(
    {"categories": ["red", "green", "blue"], "weights": {1: "3/4", 2: "1/4"}, "epsilon": 1},
    {"categories": 3, "weights": [0.1, 0.3, 0.4, 0.2], "epsilon": 2},
)
def mixture(categories: Labels, weights: Weights, epsilon: exact.Rational) -> Design:
    """Send a set of a random size, each size with its own t-subset design at the same ε.

    Implements: the mixtures of [Cha19], Chapter 7. None is better than the best single size in the worst case; they
    stand for RAPPOR, and bridge two sizes where an answer is released in stages.

    Guarantee: the size does not depend on the answer, and given the size the parity is that of `subset`: at most e^ε.
    The weights of the sizes are rounded to 2^-64, which reveals nothing.

    Args:
        categories: what a respondent may be.
        weights: how often each size is sent. The empty and the full set tell nothing.
        epsilon: the most that a response may reveal.

    Raises:
        InvalidDesign: weights that do not sum to 1, sizes that do not exist, or too many of them to be counted.
        InvalidNumber: a weight that is no probability.

    Example:
        >>> mixture(4, {1: 0.5, 2: 0.5}, epsilon=1).channel.sizes
        (1, 2)
    """
    known = labels.read(categories)
    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    return Design("mixture", known, Bitstrings(len(known)), _mixed(len(known), _read(len(known), weights), gamma))


@register({"categories": ["red", "green", "blue"], "epsilon": 1}, {"categories": 4, "f": "1/3"})
def truncated_rappor(
    categories: Labels, epsilon: exact.Rational | None = None, *, f: exact.Rational | None = None
) -> Design:
    """Send what RAPPOR sends, but never all zeros or all ones, which tell nothing.

    Give either ε or f, the probability with which RAPPOR flips a bit.

    Implements: the truncated RAPPOR of [Cha19], Chapter 7: RAPPOR drawn again until the response is neither. It is
    drawn as the mixture that it is, the number of ones first.

    Guarantee: as for `mixture`; the parity is at most that of RAPPOR, ((1 − f)/f)².

    Raises:
        InvalidDesign: f = 1/2, an f that changes nothing, fewer than two categories, or more than 2,000.
        InvalidRequest: neither or both of ε and f.

    Example:
        >>> truncated_rappor(4, f="1/3").channel.sizes
        (1, 2, 3)
    """
    known = labels.read(categories)
    k = len(known)
    if (epsilon is None) == (f is None):
        raise InvalidRequest("expected either epsilon or f, and exactly one.", "For example epsilon=1, or f=0.25.")
    if epsilon is not None:
        asked = exact.positive_epsilon(epsilon)
        flip, gamma = 1 / (exact.exp_below(asked / 2) + 1), exact.exp_below(asked)
    else:
        assert f is not None
        flip = exact.probability(f, name="f")
        if not 0 < flip < 1 or flip == Fraction(1, 2):
            raise InvalidDesign(f"f = {flip} hides nothing or tells nothing; expected another f between 0 and 1.")
        gamma = ((1 - flip) / flip) ** 2
    if k > _MOST_SIZES:
        raise InvalidDesign(f"there are {exact.shown(k)} categories; expected at most {_MOST_SIZES:,}.")
    weights = rappor_weights(k, flip)[1:-1]
    whole = sum(weights)
    sizes = {t: weight / whole for t, weight in enumerate(weights, start=1)}
    return Design("truncated_rappor", known, Bitstrings(k), _mixed(k, sizes, gamma))


def rappor_weights(k: int, f: exact.Rational) -> list[Fraction]:
    """Return how often RAPPOR with k bits, each flipped with probability f, sends 0, 1, … k ones; to 50 digits.

    Implements: [Cha19], Chapter 7; F10.

    Example:
        >>> [round(float(weight), 4) for weight in rappor_weights(4, "1/3")]
        [0.0988, 0.3457, 0.3704, 0.1605, 0.0247]
    """
    flip = exact.probability(f, name="f")
    kept = _PRECISE.divide(Decimal(flip.denominator - flip.numerator), Decimal(flip.denominator))
    flipped = _PRECISE.subtract(Decimal(1), kept)
    others = _binomial(k - 1, flipped, kept)  # ones among the k − 1 bits that are not the answer's
    none = Fraction(0)
    return [
        Fraction(kept) * (others[t - 1] if t else none) + Fraction(flipped) * (others[t] if t < k else none)
        for t in range(k + 1)
    ]


def mixture_risk(
    k: int, gamma: exact.Rational, weights: Weights, *, shares: Sequence[exact.Rational] | None = None
) -> exact.Ratio:
    """Return n times the total variance of a mixture's minimax estimate, at given shares or in the worst case.

    Implements: [Cha19], Chapter 7: (k − 1)/a + 1/k − Σπ² with a the weighted mean of the a_t.

    Raises:
        InvalidDesign: fewer than two categories, or weights that do not fit.
        InvalidNumber: γ below 1, or a weight that is no probability.

    Example:
        >>> mixture_risk(4, 3, {1: "1/2", 2: "1/2"})
        Fraction(54, 7)
    """
    sizes = _read(k, weights)
    information = sum((weight * subset_information(k, t, gamma) for t, weight in sizes.items()), Fraction(0))
    return risk(k, information, shares)


def _binomial(n: int, p: Decimal, q: Decimal) -> list[Fraction]:
    """Return the binomial probabilities to the precision of decimals, whose exponents never run out."""
    term = _PRECISE.power(q, n)
    terms = [Fraction(term)]
    for t in range(n):
        # Each operation names its context: Decimal's own operators would round to 28 digits.
        rising = _PRECISE.multiply(_PRECISE.multiply(term, p), Decimal(n - t))
        term = _PRECISE.divide(rising, _PRECISE.multiply(q, Decimal(t + 1)))
        terms.append(Fraction(term))
    return terms


def _read(k: int, weights: Weights) -> dict[int, Fraction]:
    if not isinstance(weights, Mapping | Sequence):
        raise InvalidDesign(f"the weights are a {type(weights).__name__}; expected one for each size of set.")
    given = weights if isinstance(weights, Mapping) else dict(enumerate(weights))
    if not all(isinstance(t, int) and not isinstance(t, bool) and 0 <= t <= k for t in given):
        raise InvalidDesign(f"a set has a size that does not exist; expected whole numbers from 0 to {k}.")
    sizes = {t: exact.probability(given[t], name=f"the weight of size {t}") for t in sorted(given)}
    if sum(sizes.values()) != 1:
        raise InvalidDesign(
            f"the weights of the sizes sum to {float(sum(sizes.values())):.6g}; expected exactly 1.",
            "Write them as decimals or fractions that do, for example {1: 0.25, 2: 0.75}.",
        )
    return sizes


def _mixed(k: int, sizes: Mapping[int, Fraction], gamma: Fraction) -> Mixture:
    """Round the weights of the sizes to 2^64, what is left to the largest; the weights inside towards privacy."""
    rounded = {t: int(chance.TOTAL * weight) for t, weight in sizes.items()}
    rounded[max(rounded, key=lambda t: rounded[t])] += chance.TOTAL - sum(rounded.values())
    parts = tuple(Part(t, weight, inside(k, t, gamma)) for t, weight in rounded.items() if weight)
    return Mixture(k, parts, chance.TOTAL)
