"""Designs that send a set of categories: t-subsets, minimax at the right t; unary and RAPPOR; mixtures of sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from deniable import exact
from deniable.chance import TOTAL
from deniable.channel import Bits, Mixture, Sets, Subset
from deniable.channel.sets import MAX_BY_SIZE, MAX_COUNTED_APART, Part
from deniable.designs import labels
from deniable.designs.design import Design
from deniable.designs.labels import Bitstrings, Labels
from deniable.designs.registry import Purpose, register
from deniable.errors import (
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    quoted,
    require_one,
)
from deniable.exact import Ratio, Rational

_EITHER = "For example epsilon=1, or f=0.25."


@register(
    {"categories": ["red", "green", "blue", "grey"], "epsilon": "1/2"},
    {"categories": 3, "epsilon": 1, "t": 2},
    {"categories": 4, "t": 2, "p": "3/4"},
    {"categories": 3, "t": 1, "p": "1/4"},
    purpose=Purpose.TELEMETRY,
)
def subset(
    categories: Labels,
    epsilon: Rational | None = None,
    *,
    t: int | None = None,
    p: Rational | None = None,
) -> Design:
    """Send a set of t categories that holds the answer as often as ε allows, and is otherwise random.

    Give either ε, or t and the probability p that the answer is in the set. By default t is the one with the smallest
    error in the worst case.

    Implements: the t-subset design of [Cha19], Definition 6.1, also [WHW16] and [YB18]; minimax at t = q
    ([Cha19], Theorem 6.4). t = 1 is `k_ary`, t = k − 1 its low side.

    Guarantee: from ε, the answer is in the set with a weight of 2^64, rounded towards privacy; from p, exactly p. The
    rest of the set is drawn evenly, exactly, and a set has no order that could tell which member came first.

    Why: with inside = ⌊2^64·tγ / (tγ + k − t)⌋ and γ ≤ e^ε, a set has inside·(k − t) / ((2^64 − inside)·t) ≤ γ times
    the probability given an answer inside as given one outside.

    Args:
        categories: what a respondent may be.
        epsilon: the most that a response may reveal.
        t: how many categories are sent.
        p: how often the answer is among them.

    Raises:
        InvalidDesign: fewer than two categories, a t that is not between 0 and their number, a p that hides nothing
            or tells nothing.
        InvalidRequest: neither or both of ε and p, or p without t.

    Example:
        >>> design = subset(["red", "green", "blue", "grey"], epsilon="1/2")
        >>> design.channel.ones, design.epsilon <= 0.5
        (2, True)
        >>> subset(4, t=2, p="3/4").parity
        Fraction(3, 1)
    """
    category_labels = labels.read(categories)
    k = len(category_labels)
    if (epsilon is None) == (p is None) or (p is not None and t is None):
        raise InvalidRequest(
            "expected either epsilon, or t and p.",
            "For example epsilon=1, or t=2 and p=0.75.",
        )
    if epsilon is not None:
        gamma = exact.gamma_below(epsilon)
        ones = best_t(k, gamma) if t is None else _check_t(k, t)
        channel = Subset(k, ones, max_weight_inside(k, ones, gamma), TOTAL)
        if channel.parity <= 1:
            raise InvalidDesign(
                f"with {k:,} categories this ε is too fine for weights of 2^64; expected a larger one."
            )
    else:
        assert p is not None
        assert t is not None
        share = exact.probability(p, name="p")
        channel = Subset(k, _check_t(k, t), share.numerator, share.denominator)
        _check_share(k, t, share)
    return _send_sets("subset", category_labels, channel, epsilon)


def _send_sets(
    family: str, categories: Sequence[str], channel: Sets, epsilon: Rational | None
) -> Design:
    return Design(family, categories, Bitstrings(len(categories)), channel).within(
        epsilon
    )


def max_weight_inside(k: int, t: int, gamma: Fraction) -> int:
    """Return the largest weight, of 2^64, with which an answer may be in a set of t at parity γ."""
    if t in (0, k):
        return TOTAL if t else 0
    return int(TOTAL * t * gamma / (t * gamma + k - t))


def best_t(k: int, gamma: Rational) -> int:
    """Return the size of set with the smallest error in the worst case; of two that tie, the smaller.

    Implements: q of [Cha19], (6.9).

    Why: a_t rises with t as long as γ²·t(t + 1) < (k − t)(k − t − 1), and falls from there on (F5).

    Raises:
        InvalidDesign: fewer than two categories.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> best_t(10, 2), best_t(10, 10), best_t(100_000, "2.718281828")
        (3, 1, 26894)
    """
    ratio = _check(k, gamma)
    up, down = ratio.numerator**2, ratio.denominator**2
    low, high = 1, k - 1
    while low < high:
        t = (low + high) // 2
        if up * t * (t + 1) >= down * (k - t) * (k - t - 1):
            high = t
        else:
            low = t + 1
    return low


def subset_information(k: int, t: int, gamma: Rational) -> Fraction:
    """Return a_t = k·t(k − t)(γ − 1)² / ((k − 1)(tγ + k − t)²), the eigenvalue that determines the error of t-subsets.

    Implements: [Cha19], (6.19): with m rows, m·PᵀP = a_t·I + (1 − a_t / k)·J.

    Raises:
        InvalidDesign: fewer than two categories, or a t that is not from 0 to k.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> subset_information(4, 2, 3)
        Fraction(1, 3)
    """
    ratio = _check(k, gamma)
    if not 0 <= t <= k:
        raise InvalidDesign(f"t is {t}; expected 0 to {k}.")
    return k * t * (k - t) * (ratio - 1) ** 2 / ((k - 1) * (t * ratio + k - t) ** 2)


def subset_trace(k: int, t: int, gamma: Rational) -> Fraction:
    """Return f(t) = k + (k − 1)·a_t, the trace of PᵀD⁻¹P at equal shares, which the best t maximizes.

    Implements: [Cha19], (6.8), by its (6.19).

    Raises:
        InvalidDesign: fewer than two categories, or a t that is not from 0 to k.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> subset_trace(10, 1, 6) == subset_trace(10, 2, 6) == 20
        True
    """
    return k + (k - 1) * subset_information(k, t, gamma)


def subset_risk(
    k: int,
    t: int,
    gamma: Rational,
    *,
    shares: Sequence[Rational] | None = None,
) -> Ratio:
    """Return n times the total variance of the minimax estimate, at given shares or in the worst case (equal shares).

    Implements: [Cha19], (6.25): (k − 1)/a_t + 1/k − Σπ².

    Raises:
        InvalidDesign: fewer than two categories, or a t that is not from 0 to k.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> subset_risk(4, 2, 3), subset_risk(4, 1, 3)
        (Fraction(9, 1), Fraction(27, 4))
    """
    return risk(k, subset_information(k, t, gamma), shares)


def risk(
    k: int, information: Fraction, shares: Sequence[Rational] | None = None
) -> Ratio:
    """Return (k − 1)/a + 1/k − Σπ², or (k − 1)/a without shares."""
    beyond = Fraction(0)
    if shares is not None:
        beyond = Fraction(1, k) - sum(
            exact.probability(share, name="a share") ** 2 for share in shares
        )
    return beyond + exact.ratio(k - 1, information)


def _check(k: int, gamma: Rational) -> Fraction:
    if k < 2:
        raise InvalidDesign(f"there are {k} categories; expected at least 2.")
    ratio = exact.rational(gamma, name="gamma")
    if ratio < 1:
        raise InvalidNumber(
            f"gamma is {exact.text(gamma)}; expected e^ε, which is at least 1."
        )
    return ratio


def _check_t(k: int, t: int) -> int:
    if not exact.is_whole(t, 1, k - 1):
        raise InvalidDesign(
            f"t is {quoted(t)}; expected a whole number from 1 to {k - 1}."
        )
    return t


def _check_share(k: int, t: int, share: Fraction) -> None:
    if share == Fraction(t, k):
        raise InvalidDesign(
            f"p = {t}/{k} holds every category equally often whatever the answer; expected another p.",
            f"Above {t}/{k} the answer is in the set more often than the others, below less often.",
        )
    if (share == 1 and t == 1) or (share == 0 and t == k - 1):
        raise InvalidDesign(
            f"p = {share} gives every answer away; expected a p between 0 and 1."
        )


_MAX_BY_SIZE = (
    255  # categories: half a megabyte of counts, for which nobody has to be asked
)


@register(
    {"categories": ["red", "green", "blue"], "epsilon": 1},
    {"categories": 3, "epsilon": 2, "optimized": True},
    {"categories": 3, "p": "2/3", "q": "1/4"},
    {"categories": 3, "p": "1/5", "q": "1/2", "by_size": True},
    purpose=Purpose.TELEMETRY,
)
def unary(
    categories: Labels,
    epsilon: Rational | None = None,
    *,
    optimized: bool = False,
    p: Rational | None = None,
    q: Rational | None = None,
    by_size: bool | None = None,
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
        by_size: let a tally of more than 12 categories count responses with each number of ones apart, in (k + 1)²
            cells, for the estimate with the smaller variance: by up to a fifth, where ε is 4 or more. By default up to
            255 categories; up to 12, sets are counted one by one in any case.

    Raises:
        InvalidDesign: fewer than two categories, p = q, bits that are never changed, or too many cells by size.
        InvalidRequest: neither or both of ε and the probabilities.

    Example:
        >>> unary(["red", "green", "blue"], epsilon=1, optimized=True).epsilon
        1.0
        >>> unary(128, p="3/4", q="1/4").parity
        Fraction(9, 1)
    """
    category_labels = labels.read(categories)
    if by_size is None:
        by_size = MAX_COUNTED_APART < len(category_labels) <= _MAX_BY_SIZE
    if (
        (epsilon is None) == (p is None)
        or (p is None) != (q is None)
        or (optimized and epsilon is None)
    ):
        raise InvalidRequest(
            "expected either epsilon, or both p and q.",
            "For example epsilon=1, or p=0.75 and q=0.25.",
        )
    if epsilon is not None:
        channel = _from_epsilon(
            len(category_labels), epsilon, optimized=optimized, by_size=by_size
        )
    else:
        assert p is not None
        assert q is not None
        channel = _from_probabilities(
            len(category_labels),
            *exact.probabilities(p=p, q=q),
            by_size=by_size,
        )
    return _send_sets("unary", category_labels, channel, epsilon)


@register(
    {"categories": ["red", "green", "blue"], "epsilon": 1},
    {"categories": 3, "f": "1/3"},
    {"categories": 4, "f": "1/4", "by_size": False},
    purpose=Purpose.TELEMETRY,
)
def rappor(
    categories: Labels,
    epsilon: Rational | None = None,
    *,
    f: Rational | None = None,
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
        by_size: let a tally of more than 12 categories count responses with each number of ones apart: (k + 1)² cells.
            Beyond 2,000 categories that is too many, and gains next to nothing. Up to 12, sets are counted one by one.

    Raises:
        InvalidDesign: fewer than two categories, f = 1/2, bits that are never changed, or too many cells by size.
        InvalidRequest: neither or both of ε and f.

    Example:
        >>> rappor(["red", "green", "blue"], f="1/3").parity
        Fraction(4, 1)
    """
    category_labels = labels.read(categories)
    require_one(_EITHER, epsilon=epsilon, f=f)
    channel = _flipped_bits(len(category_labels), epsilon, f, by_size=by_size)
    return _send_sets("rappor", category_labels, channel, epsilon)


def _flipped_bits(
    size: int, epsilon: Rational | None, f: Rational | None, *, by_size: bool
) -> Bits:
    """Return the channel that flips each bit with probability f, or as often as ε demands."""
    if epsilon is not None:
        return _from_epsilon(size, epsilon, optimized=False, by_size=by_size)
    assert f is not None
    flip = exact.probability(f, name="f")
    return _from_probabilities(size, 1 - flip, flip, by_size=by_size)


def _from_epsilon(
    size: int, epsilon: Rational, *, optimized: bool, by_size: bool
) -> Bits:
    max_epsilon = exact.positive_epsilon(epsilon)
    # The symmetric encoding spends half of ε on each of the two bits; the optimized one all of it on the zeros.
    ratio = exact.exp_below(max_epsilon if optimized else max_epsilon / 2)
    stray = math.ceil(TOTAL / (ratio + 1))
    hit = TOTAL // 2 if optimized else TOTAL - stray
    if stray >= hit:
        raise InvalidDesign(
            "this ε is too fine for weights that sum to 2^64; expected a larger one."
        )
    return Bits(size, hit, stray, TOTAL, by_size)


def _from_probabilities(
    size: int, p: Fraction, q: Fraction, *, by_size: bool
) -> Bits:
    if p == q:
        raise InvalidDesign(
            f"p = q = {p} sends the same bits whatever the answer; expected two different probabilities.",
            "For an even protection of all categories use unary(categories, epsilon=1).",
        )
    if {p, q} == {0, 1}:
        raise InvalidDesign(
            "bits that are never changed give every answer away; expected p and q between 0 and 1."
        )
    total = math.lcm(p.denominator, q.denominator)
    return Bits(size, int(p * total), int(q * total), total, by_size)


Weights: TypeAlias = Mapping[int, Rational] | Sequence[Rational]
"""How often each size of set is sent: by size, or in order for the sizes 0, 1, 2 and so on. They sum to 1."""

# of which 20 digits are needed: weights are rounded to 64 bits
_PRECISE = Context(prec=60)


@register(
    {
        "categories": ["red", "green", "blue"],
        "weights": {1: "3/4", 2: "1/4"},
        "epsilon": 1,
    },
    {"categories": 3, "weights": [0.1, 0.3, 0.4, 0.2], "epsilon": 2},
    purpose=Purpose.TELEMETRY,
)
def mixture(categories: Labels, weights: Weights, epsilon: Rational) -> Design:
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
    category_labels = labels.read(categories)
    gamma = exact.gamma_below(epsilon)
    channel = round_mixture(
        len(category_labels), _read(len(category_labels), weights), gamma
    )
    return _send_sets("mixture", category_labels, channel, epsilon)


@register(
    {"categories": ["red", "green", "blue"], "epsilon": 1},
    {"categories": 4, "f": "1/3"},
    purpose=Purpose.TELEMETRY,
)
def truncated_rappor(
    categories: Labels,
    epsilon: Rational | None = None,
    *,
    f: Rational | None = None,
) -> Design:
    """Send what RAPPOR sends, but never all zeros or all ones, which tell nothing.

    Give either ε or f, the probability with which RAPPOR flips a bit.

    Implements: the truncated RAPPOR of [Cha19], Chapter 7: RAPPOR drawn again until the response is neither. It is
    drawn as the mixture that it is, the number of ones first.

    Guarantee: as for `mixture`; the parity is at most that of RAPPOR, ((1 − f)/f)².

    Args:
        categories: what a respondent may be.
        epsilon: the most that a response may reveal.
        f: how often each bit is flipped.

    Raises:
        InvalidDesign: f = 1/2, an f that changes nothing, fewer than two categories, or more than 2,000.
        InvalidRequest: neither or both of ε and f.

    Example:
        >>> truncated_rappor(4, f="1/3").channel.sizes
        (1, 2, 3)
    """
    category_labels = labels.read(categories)
    k = len(category_labels)
    flip, gamma = _flip_and_parity(epsilon, f)
    if k > MAX_BY_SIZE:
        raise InvalidDesign(
            f"there are {exact.text(k)} categories; expected at most {MAX_BY_SIZE:,}."
        )
    weights = rappor_weights(k, flip)[1:-1]
    total_weight = sum(weights)
    sizes = {t: weight / total_weight for t, weight in enumerate(weights, start=1)}
    channel = round_mixture(k, sizes, gamma)
    return _send_sets("truncated_rappor", category_labels, channel, epsilon)


def _flip_and_parity(
    epsilon: Rational | None, f: Rational | None
) -> tuple[Fraction, Fraction]:
    """Return how often a bit is flipped, and the parity that this may have."""
    require_one(_EITHER, epsilon=epsilon, f=f)
    if epsilon is not None:
        max_epsilon = exact.positive_epsilon(epsilon)
        flip = 1 / (exact.exp_below(max_epsilon / 2) + 1)
        return flip, exact.exp_below(max_epsilon)
    assert f is not None
    flip = exact.probability(f, name="f")
    if not 0 < flip < 1 or flip == Fraction(1, 2):
        raise InvalidDesign(
            f"f = {flip} hides nothing or tells nothing; expected another f between 0 and 1."
        )
    return flip, ((1 - flip) / flip) ** 2


def rappor_weights(k: int, f: Rational) -> list[Fraction]:
    """Return the distribution of the number of ones of RAPPOR with k bits and flip probability f, to 50 digits.

    Implements: [Cha19], Chapter 7; F10.

    Example:
        >>> [round(float(weight), 4) for weight in rappor_weights(4, "1/3")]
        [0.0988, 0.3457, 0.3704, 0.1605, 0.0247]
    """
    flip = exact.probability(f, name="f")
    p_keep = _PRECISE.divide(
        Decimal(flip.denominator - flip.numerator), Decimal(flip.denominator)
    )
    flipped = _PRECISE.subtract(Decimal(1), p_keep)
    # ones among the k − 1 bits that are not the answer's
    other_counts = _binomial(k - 1, flipped, p_keep)
    none = Fraction(0)
    return [
        Fraction(p_keep) * (other_counts[t - 1] if t else none)
        + Fraction(flipped) * (other_counts[t] if t < k else none)
        for t in range(k + 1)
    ]


def mixture_risk(
    k: int,
    gamma: Rational,
    weights: Weights,
    *,
    shares: Sequence[Rational] | None = None,
) -> Ratio:
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
    information = exact.total(
        weight * subset_information(k, t, gamma) for t, weight in sizes.items()
    )
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
        raise InvalidDesign(
            f"the weights are a {type(weights).__name__}; expected one for each size of set."
        )
    weights_by_size = (
        weights if isinstance(weights, Mapping) else dict(enumerate(weights))
    )
    if not all(exact.is_whole(t, 0, k) for t in weights_by_size):
        raise InvalidDesign(
            f"a set has a size that does not exist; expected whole numbers from 0 to {k}."
        )
    sizes = {
        t: exact.probability(weights_by_size[t], name=f"the weight of size {t}")
        for t in sorted(weights_by_size)
    }
    if sum(sizes.values()) != 1:
        raise InvalidDesign(
            f"the weights of the sizes sum to {float(sum(sizes.values())):.6g}; expected exactly 1.",
            "Write them as decimals or fractions that do, for example {1: 0.25, 2: 0.75}.",
        )
    return sizes


def round_mixture(k: int, sizes: Mapping[int, Fraction], gamma: Fraction) -> Mixture:
    """Round the weights of the sizes to 2^64, what is left to the largest; the weights inside towards privacy."""
    rounded = {t: int(TOTAL * weight) for t, weight in sizes.items()}
    rounded[max(rounded, key=lambda t: rounded[t])] += TOTAL - sum(rounded.values())
    components = tuple(
        Part(t, weight, max_weight_inside(k, t, gamma))
        for t, weight in sorted(rounded.items())
        if weight
    )
    return Mixture(k, components, TOTAL)
