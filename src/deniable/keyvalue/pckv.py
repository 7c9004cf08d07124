"""Builders of designs that draw one of somebody's own items: PCKV-UE and PCKV-GRR."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable import exact
from deniable.channel import Dense
from deniable.design.labels import Labels
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.keyvalue import slots
from deniable.keyvalue.direct import Direct
from deniable.keyvalue.lpp import Importance
from deniable.keyvalue.mechanism import KeyValueDesign, read_items
from deniable.keyvalue.padded import best_direct, best_unary
from deniable.keyvalue.scheme import Scheme
from deniable.keyvalue.split import read_goal
from deniable.keyvalue.unary import Unary
from deniable.keyvalue.weights import Weight


def pckv_ue(
    items: Labels,
    epsilon: exact.Rational | None = None,
    *,
    padding: int = 1,
    a: exact.Rational | None = None,
    b: exact.Rational | None = None,
    p: exact.Rational | None = None,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Draw one of somebody's items, padded to a number of places, and send a symbol for every item.

    Give an ε for the whole, which is divided so that the variances that matter are smallest; or a, how often an edge
    stays one, b, how often none stays none, and p, how often a sign is kept.

    Implements: PCKV-UE of [GLC20] and Section 4.2.3 of [MW21], with the ε of the vector (Lemma 4) for whole rows: where
    there are fewer than 2ℓ items it is smaller than max{ε₂, ln(2e^(ε₁+ε₂)/(e^ε₂ + 1))}, and told so.

    Guarantee: from ε integer weights that sum to 2^64, with a parity of at most e^ε; from a, b and p exactly these.

    Args:
        items: what people may have.
        epsilon: the most that may be revealed about a whole row.
        padding: ℓ, the number of places; whoever has more items is represented by a part of them.
        a: how often an edge stays one.
        b: how often none stays none.
        p: how often a sign is kept.
        importance: "frequency", "weight" or "mean", or a number for each: whose variance is to be small.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.
        low: the smallest weight there can be.
        high: the largest weight there can be.

    Raises:
        InvalidDesign: no items, a padding that does not fit, a probability of 0 or 1, or low ≥ high.
        InvalidRequest: neither or both of ε and the probabilities, or an importance or a guess that does not fit.
        InvalidNumber: ε is not positive.

    Example:
        >>> round(pckv_ue(3, a=0.65, b=0.75, p=0.8).epsilon, 9)
        2.187655126
    """
    known = read_items(items)
    slots.check(len(known), padding)
    scheme: Scheme
    if _from_epsilon(epsilon, a, b, p):
        assert epsilon is not None
        scheme = best_unary(len(known), padding, _gamma(epsilon), read_goal(importance, frequency, mean))
    else:
        kept, none, sign = _probability(a, "a"), _probability(b, "b"), _probability(p, "p")
        stray = (1 - none) / 2
        right, wrong = kept * sign, kept * (1 - sign)
        scheme = Unary(
            len(known),
            padding,
            Dense.of([[none, 1 - kept, 1 - kept], [stray, right, wrong], [stray, wrong, right]]),
        )
    return _build("pckv_ue", known, scheme, low, high)


def pckv_grr(
    items: Labels,
    epsilon: exact.Rational | None = None,
    *,
    padding: int = 1,
    a: exact.Rational | None = None,
    p: exact.Rational | None = None,
    importance: Importance = None,
    frequency: exact.Rational = "1/10",
    mean: exact.Rational = 0,
    low: Weight = -1,
    high: Weight = 1,
) -> KeyValueDesign:
    """Draw one of somebody's items, padded to a number of places, and send one item with a sign, or nothing.

    Give an ε for the whole, which is divided so that the variances that matter are smallest; or a, how often the drawn
    item is kept, and p, how often its sign is. The other arguments are those of `pckv_ue`.

    Implements: PCKV-GRR of [GLC20], its dummy items sent as one and the same nothing. From a and p these share what is
    left evenly with the other items, as in the paper; from ε nothing has the weight that is best.

    Guarantee: from ε integer weights that sum to 2^64, with a parity of at most e^ε; from a and p exactly these.

    Raises:
        InvalidDesign: no items, a padding that does not fit, a probability of 0 or 1, or low ≥ high.
        InvalidRequest: neither or both of ε and the probabilities, or an importance or a guess that does not fit.
        InvalidNumber: ε is not positive.

    Example:
        >>> pckv_grr(["tea", "coffee", "milk"], 1, padding=2).epsilon <= 1
        True
    """
    known = read_items(items)
    slots.check(len(known), padding)
    scheme: Scheme
    if _from_epsilon(epsilon, a, p):
        assert epsilon is not None
        scheme = best_direct(len(known), padding, _gamma(epsilon), read_goal(importance, frequency, mean))
    else:
        kept, sign = _probability(a, "a"), _probability(p, "p")
        other = (1 - kept) / (2 * (len(known) + padding - 1))  # ℓ dummies and the other items, each with two signs
        right, wrong = kept * sign, kept * (1 - sign)
        common = right.denominator * wrong.denominator * other.denominator
        scheme = Direct(len(known), padding, int(right * common), int(wrong * common), int(other * common), common)
    return _build("pckv_grr", known, scheme, low, high)


def _from_epsilon(epsilon: exact.Rational | None, *given: exact.Rational | None) -> bool:
    expected = 0 if epsilon is not None else len(given)
    if sum(each is not None for each in given) != expected:
        raise InvalidRequest("expected either epsilon, or all probabilities.", "For example epsilon=1.")
    return epsilon is not None


def _gamma(epsilon: exact.Rational) -> Fraction:
    return exact.exp_below(exact.positive_epsilon(epsilon))


def _probability(given: exact.Rational | None, name: str) -> Fraction:
    assert given is not None
    value = exact.probability(given, name=name)
    if value in (0, 1):
        raise InvalidDesign(f"{name} is {value}; expected a probability between 0 and 1, so that nothing is proved.")
    return value


def _build(name: str, items: Sequence[str], scheme: Scheme, low: Weight, high: Weight) -> KeyValueDesign:
    return KeyValueDesign(name, items, scheme, exact.rational(low, name="low"), exact.rational(high, name="high"))
