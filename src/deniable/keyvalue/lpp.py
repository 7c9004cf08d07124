"""Builders of designs that look at one item of each respondent: VPP, LPP, LPP‡, and the best channel of their form."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from deniable import exact
from deniable.channel import Dense
from deniable.design.labels import Labels
from deniable.design.realize import realize
from deniable.errors import InvalidDesign, InvalidNumber, InvalidRequest
from deniable.keyvalue.index import Index
from deniable.keyvalue.mechanism import KeyValueDesign, read_items
from deniable.keyvalue.split import best_index, read_goal
from deniable.keyvalue.weights import Weight

Importance = str | Mapping[str, exact.Rational] | None


def vpp(items: Labels, epsilon: exact.Rational, *, low: Weight = -1, high: Weight = 1) -> KeyValueDesign:
    """Send the rounded weight of one item, turned around now and then; an item that somebody does not have counts as 0.

    For sums of weights alone: the number of edges cannot be estimated.

    Implements: VPP of [YHM19] and Algorithm 1 of [MW21]: Harmony's rounding and two-answer randomized response.

    Guarantee: integer weights that sum to 2^64, with a parity of at most e^ε.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidRequest: a scale that does not lie evenly around 0.
        InvalidNumber: ε is not positive, or so large that nothing would be hidden.

    Example:
        >>> vpp(["tea", "coffee"], 1).epsilon
        1.0
    """
    ends = exact.rational(low, name="low"), exact.rational(high, name="high")
    if ends[0] != -ends[1]:
        raise InvalidRequest(
            f"low is {exact.shown(low)} and high is {exact.shown(high)}; expected ends that lie evenly around 0.",
            "What is not there counts as 0 here, the middle of the scale; use lpp_club() for other scales.",
        )
    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    kept = gamma / (gamma + 1)
    half = Fraction(1, 2)
    return _build("vpp", items, realize([(half, half), (kept, 1 - kept), (1 - kept, kept)], gamma), low, high)


def lpp(
    items: Labels,
    epsilon1: exact.Rational,
    epsilon2: exact.Rational,
    *,
    fake_weight: Weight | None = None,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Look at one item, drawn evenly: tell whether there is an edge with ε₁, and its rounded weight with ε₂.

    Where there is no edge and one is told all the same, it carries a fake weight: drawn evenly and kept secret, which
    is the same as 0 on average and gives exactly the channel of LPP‡; or one that everybody knows.

    Implements: LPP of [YHM19] and of [MW21], Section 4.2.2, with the channel on rounded weights and its true ε:
    max{ε₂, ε₁ + ln(q/(1/2 − |w̃|(2q − 1)/2))} with q = e^ε₂/(e^ε₂ + 1) and w̃ = 0 for a secret fake weight.

    Guarantee: integer weights that sum to 2^64; the parity is at most that of the formula.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidNumber: an ε is not positive, or the fake weight is not between −1 and 1.

    Example:
        >>> round(lpp(4, 1, 1).epsilon, 9), round(lpp(4, 1, 1, fake_weight=1).epsilon, 9)
        (1.379885493, 2.0)
    """
    fake = Fraction(0) if fake_weight is None else exact.rational(fake_weight, name="fake_weight")
    if not -1 <= fake <= 1:
        raise InvalidNumber(f"the fake weight is {exact.shown(fake_weight)}; expected one from −1 to 1.")
    return _build("lpp", items, _two_devices(epsilon1, epsilon2, fake), low, high)


def lpp_ddagger(
    items: Labels,
    epsilon: exact.Rational | None = None,
    *,
    epsilon1: exact.Rational | None = None,
    epsilon2: exact.Rational | None = None,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Look at one item, drawn evenly: tell whether there is an edge, and its rounded weight, with an ε for both.

    Give an ε for the whole, which is divided so that the variances that matter are smallest; or ε₁ and ε₂.

    Implements: LPP‡ of [MW21], Section 4.2.2, with Lemma 2 corrected: ε = max{ε₂, ln(2e^(ε₁+ε₂)/(e^ε₂ + 1))}.

    Guarantee: integer weights that sum to 2^64; from ε with a parity of at most e^ε.

    Args:
        items: what people may have.
        epsilon: the most that may be revealed about a whole row.
        epsilon1: the ε of the device for the edge.
        epsilon2: the ε of the device for the weight.
        importance: "frequency", "weight" or "mean", or a number for each: whose variance is to be small.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidRequest: neither or both of ε and the pair, or an importance or a guess that does not fit.
        InvalidNumber: an ε is not positive.

    Example:
        >>> design = lpp_ddagger(["tea", "coffee"], 1)
        >>> design.epsilon <= 1 < design.sequential
        True
    """
    pair = (epsilon1, epsilon2)
    if (epsilon is None) != (None not in pair) or (epsilon is not None and pair != (None, None)):
        raise InvalidRequest("expected either epsilon, or epsilon1 and epsilon2.", "For example epsilon=1.")
    if epsilon is None:
        assert epsilon1 is not None
        assert epsilon2 is not None
        channel = _two_devices(epsilon1, epsilon2, Fraction(0))
    else:
        channel = _best("rr3_ddagger", epsilon, importance, frequency, mean)
    return _build("lpp_ddagger", items, channel, low, high)


def lpp_club(
    items: Labels,
    epsilon: exact.Rational,
    *,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Look at one item, drawn evenly, and send its symbol through the best three-answer channel that ε allows.

    LPP‡ treats "no edge" and "edge" alike; here each has its own probability, so the best of these is never worse.

    Implements: RR3♣ of [MW21], Section 3.3, in the place of RR3‡ in LPP‡; the arguments are those of `lpp_ddagger`.

    Guarantee: integer weights that sum to 2^64, with a parity of at most e^ε.

    Raises:
        InvalidDesign: no items, or low ≥ high.
        InvalidRequest: an importance or a guess that does not fit.
        InvalidNumber: ε is not positive.

    Example:
        >>> lpp_club(["tea", "coffee"], 1).epsilon <= 1
        True
    """
    return _build("lpp_club", items, _best("rr3_club", epsilon, importance, frequency, mean), low, high)


def _two_devices(epsilon1: exact.Rational, epsilon2: exact.Rational, fake: Fraction) -> Dense:
    """Return the channel of two devices, its parity at most that of the formula with both e^ε rounded down."""
    edge = exact.exp_below(exact.positive_epsilon(epsilon1, name="epsilon1"))
    value = exact.exp_below(exact.positive_epsilon(epsilon2, name="epsilon2"))
    p, q = edge / (edge + 1), value / (value + 1)
    plus = (1 + fake * (2 * q - 1)) / 2  # how a fake weight comes out of the second device
    gamma = max(value, edge * q / min(plus, 1 - plus))
    columns = (
        (p, (1 - p) * plus, (1 - p) * (1 - plus)),
        (1 - p, p * q, p * (1 - q)),
        (1 - p, p * (1 - q), p * q),
    )
    return realize(columns, gamma)


def _best(
    family: str, epsilon: exact.Rational, importance: Importance, frequency: exact.Rational, mean: exact.Rational
) -> Dense:
    goal = read_goal(importance, frequency, mean)
    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    channel = realize(best_index(family, gamma, goal).columns, gamma)
    if channel.parity == 1:
        raise InvalidDesign("this ε is too fine for weights that sum to 2^64; expected a larger one.")
    return channel


def _build(name: str, items: Labels, channel: Dense, low: Weight, high: Weight) -> KeyValueDesign:
    known = read_items(items)
    ends = exact.rational(low, name="low"), exact.rational(high, name="high")
    return KeyValueDesign(name, known, Index(len(known), channel), *ends)
