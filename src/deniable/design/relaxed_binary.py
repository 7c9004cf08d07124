"""Two-answer designs under (ε, δ): the even one, one with a ceiling on ε, and the one that exposes people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable import chance, exact
from deniable.channel import Channel, Dense, Diagonal
from deniable.criteria import Relaxed
from deniable.design.binary import binary
from deniable.design.design import Design
from deniable.design.labels import Labels, read
from deniable.design.registry import register
from deniable.errors import InvalidDesign, InvalidRequest

TWO: Sequence[str] = ("no", "yes")


@register({"epsilon": 1, "delta": "1/10"}, {"epsilon": "1/2", "delta": "1/100"}, {"epsilon": 0, "delta": "1/4"})
def relaxed_warner(epsilon: exact.Rational, delta: exact.Rational = 0, *, categories: Labels = TWO) -> Design:
    """Send the answer with the largest probability that (ε, δ) allows when both answers are treated alike.

    Implements: Warner's design under (ε, δ), [HLM17] Theorem 4: p = (e^ε + δ)/(e^ε + 1).

    Guarantee: integer weights that sum to 2^64, with δ(ε) ≤ δ exactly. The design's own ε is ln((e^ε + δ)/(1 − δ)).

    Why: p ≤ e^ε(1 − p) + δ is the condition, and the variance falls as p rises.

    Raises:
        InvalidDesign: δ = 1, at which the answer itself may be sent, or ε = δ = 0, at which nothing may be told.
        InvalidNumber: a negative ε, or δ outside [0, 1].

    Example:
        >>> design = relaxed_warner("0.5", "0.1")
        >>> round(float(design.probability("yes", given="yes")), 6), design.delta("0.5")
        (0.660213, 0.1)
    """
    known = _two(categories)
    return Design("relaxed_warner", known, known, even(read_ratio(epsilon), read_delta(delta)))


@register(
    {"epsilon": 1, "delta": "1/10", "ceiling": 3},
    {"epsilon": "1/2", "delta": "1/100", "ceiling": 2, "telling": "no"},
)
def capped_binary(
    epsilon: exact.Rational,
    delta: exact.Rational,
    ceiling: exact.Rational,
    *,
    telling: str | None = None,
    categories: Labels = TWO,
) -> Design:
    """Let one response tell much but seldom: (ε, δ) holds, and no response has more than the ceiling's own ε.

    With Y = e^ceiling the response `telling` is sent with probability Yδ/(Y − e^ε) from its own answer, and δ/(Y − e^ε)
    from the other one. It serves an answer that is rare.

    Implements: the point of the boundary p11 = e^ε(1 − p00) + δ of [HLM17], eq. 11a, at which p11 = Y(1 − p00). As the
    ceiling rises it moves from the even design to the one that exposes people.

    Guarantee: integer weights that sum to 2^64, with δ(ε) ≤ δ and a parity of at most e^ceiling, exactly.

    Args:
        epsilon: the ε of (ε, δ).
        delta: the δ of (ε, δ), above 0.
        ceiling: the ε that holds without any δ; above that of the even design.
        telling: the category whose response tells much; by default the second.
        categories: the two answers.

    Raises:
        InvalidDesign: δ is 0, or the ceiling is not above ln((e^ε + δ)/(1 − δ)), where the even design is better.
        InvalidNumber: a negative ε, or δ outside [0, 1].
        InvalidRequest: `telling` is not one of the two categories.

    Example:
        >>> design = capped_binary(1, "1/10", 3)
        >>> design.epsilon, design.delta(1)
        (3.0, 0.1)
    """
    known = _two(categories)
    channel = corner(read_ratio(epsilon), read_delta(delta), exact.exp_below(exact.positive_epsilon(ceiling)))
    return Design("capped_binary", known, known, turned(channel, _number(known, telling)))


@register({"delta": "1/10"}, {"delta": "1/3", "telling": "no"})
def exposing_binary(delta: exact.Rational, *, telling: str | None = None, categories: Labels = TWO) -> Design:
    """Expose a share δ of those with one answer outright, and say nothing about anybody else.

    The response `telling` is sent with probability δ from its own answer and never from the other: whoever sends it has
    given the answer away.

    Implements: the optimum (1, δ) of [HLM17], Theorem 3, for shares below g(ε, δ).

    Guarantee: nothing about ε, which is infinite; δ(ε) = δ exactly, at every ε. Everybody who sends the other response
    keeps deniability.

    Args:
        delta: the probability with which an answer is given away.
        telling: the category that is given away; by default the second.
        categories: the two answers.

    Raises:
        InvalidDesign: δ is 0 or 1.
        InvalidNumber: δ outside [0, 1].
        InvalidRequest: `telling` is not one of the two categories.

    Example:
        >>> design = exposing_binary("1/10")
        >>> design.epsilon, design.delta(5)
        (inf, 0.1)
    """
    known = _two(categories)
    share = read_delta(delta)
    if not 0 < share < 1:
        raise InvalidDesign(
            f"δ is {exact.shown(delta)}; expected between 0 and 1.",
            "At 0 nothing is told, at 1 everybody is exposed; for a design that exposes nobody use relaxed_warner().",
        )
    channel = binary(1, share).channel
    return Design("exposing_binary", known, known, turned(channel, _number(known, telling)))


def feasible_binary(
    p00: exact.Rational, p11: exact.Rational, epsilon: exact.Rational, delta: exact.Rational = 0
) -> bool:
    """Tell whether the two-answer design (p00, p11) is (ε, δ)-private, exactly.

    Implements: the region of [HLM17], Definition 2, on both sides of p00 + p11 = 1.

    Raises:
        InvalidNumber: not probabilities, or a negative ε.

    Example:
        >>> feasible_binary(0.7, 0.7, 1), feasible_binary(0.75, 0.75, 1), feasible_binary(0.75, 0.75, 1, "1/10")
        (True, False, True)
    """
    zero, one = exact.probability(p00, name="p00"), exact.probability(p11, name="p11")
    return Relaxed(epsilon, delta).check(Dense.of([[zero, 1 - one], [1 - zero, one]])).holds


def exposure_threshold(epsilon: exact.Rational, delta: exact.Rational) -> float:
    """Return g(ε, δ): for a rarer answer below this share the design that exposes people has the smaller variance.

    Implements: g = δ(e^ε + δ)/(e^ε + 2δ − 1)² of [HLM17], eq. 23, whose simplification of eq. 24 lacks the square.

    Raises:
        InvalidDesign: ε = δ = 0, at which nothing may be told.
        InvalidNumber: a negative ε, or δ outside [0, 1].

    Example:
        >>> round(exposure_threshold("0.5", "0.1"), 6)
        0.242767
    """
    return float(threshold(read_ratio(epsilon), read_delta(delta)))


def threshold(ratio: Fraction, delta: Fraction) -> Fraction:
    """Return g(ε, δ) from e^ε and δ."""
    if ratio + 2 * delta == 1:
        raise _nothing_told()
    return delta * (ratio + delta) / (ratio + 2 * delta - 1) ** 2


def even(ratio: Fraction, delta: Fraction) -> Diagonal:
    """Return the even channel with p = (e^ε + δ)/(e^ε + 1), rounded down."""
    if delta == 1:
        raise InvalidDesign(
            "δ is 1, which lets every answer be given away; expected less.", "Or ask the question directly."
        )
    same = int(chance.TOTAL * (ratio + delta) / (ratio + 1))
    if not chance.TOTAL < 2 * same < 2 * chance.TOTAL:
        raise _nothing_told()
    return Diagonal(2, same, chance.TOTAL - same)


def corner(ratio: Fraction, delta: Fraction, ceiling: Fraction) -> Dense:
    """Return the channel at which both (ε, δ) and the ceiling bind, the second response telling much."""
    if not delta or ceiling * (1 - delta) <= ratio + delta:
        least = (ratio + delta) / (1 - delta) if delta < 1 else math.inf
        raise InvalidDesign(
            f"δ is {float(delta):.6g} and the ceiling is a ratio of {float(ceiling):.6g}; "
            f"expected a δ above 0 and a ratio above {float(least):.6g}, that of the even design.",
            "Use relaxed_warner(), or warner() at the ceiling.",
        )
    other = -int(-chance.TOTAL * delta / (ceiling - ratio) // 1)
    own = int(min(ratio * other + delta * chance.TOTAL, ceiling * other))
    return Dense(((chance.TOTAL - other, chance.TOTAL - own), (other, own)), chance.TOTAL)


def capped_even(ratio: Fraction, delta: Fraction, ceiling: Fraction | None) -> Channel:
    """Return the even channel under (ε, δ), or Warner's at the ceiling where that is tighter."""
    if ceiling is None or ceiling * (1 - delta) >= ratio + delta:
        return even(ratio, delta)
    return even(ceiling, Fraction(0))


def turned(channel: Channel, telling: int) -> Channel:
    """Return a channel whose second response tells much, or its mirror in which the first one does."""
    if telling == 1:
        return channel
    table = channel.dense()
    (a, b), (c, d) = table.weights
    return Dense(((d, c), (b, a)), table.total)


def read_ratio(epsilon: exact.Rational) -> Fraction:
    """Return a rational just below e^ε; 1 for ε = 0, which (ε, δ) may have."""
    if exact.rational(epsilon, name="epsilon") == 0:
        return Fraction(1)
    return exact.exp_below(exact.positive_epsilon(epsilon))


def read_delta(delta: exact.Rational) -> Fraction:
    """Return δ as a rational."""
    return exact.probability(delta, name="delta")


def _two(categories: Labels) -> Sequence[str]:
    known = read(categories)
    if len(known) != 2:
        raise InvalidDesign(f"there are {len(known)} categories; expected 2.", "(ε, δ) designs are for two answers.")
    return known


def _number(known: Sequence[str], telling: str | None) -> int:
    if telling is not None and telling not in known:
        raise InvalidRequest(
            f"{telling!r:.40} is not one of the two categories; expected {known[0]!r} or {known[1]!r}."
        )
    return 1 if telling is None else list(known).index(telling)


def _nothing_told() -> InvalidDesign:
    return InvalidDesign(
        "this ε and δ leave nothing to tell, or less than weights that sum to 2^64 can; expected larger ones."
    )
