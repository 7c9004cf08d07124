"""The general design for two answers."""

from __future__ import annotations

from deniable import exact
from deniable.channel import Dense
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.errors import InvalidDesign


@register(
    {"p00": "9/10", "p11": "7/10"},
    {"p00": "3/5", "p11": "4/5"},
    {"p00": "1/10", "p11": "3/10"},
)
def binary(p00: exact.Rational, p11: exact.Rational, *, categories: Labels = ("no", "yes")) -> Design:
    """Build the two-answer design that keeps the first answer with probability p00 and the second with p11.

    Implements: the generalised randomized response of [HLM17], eq. (2), whose rows are our columns.

    Guarantee: parity max{p00, 1 − p11} / min{…} or max{p11, 1 − p00} / min{…}, whichever is larger.

    Raises:
        InvalidDesign: p00 + p11 = 1, where responses say nothing about answers.
        InvalidNumber: not probabilities.

    Example:
        >>> binary(0.9, 0.7).parity
        Fraction(7, 1)
    """
    zero, one = exact.probability(p00, name="p00"), exact.probability(p11, name="p11")
    if zero + one == 1:
        raise InvalidDesign(
            f"p00 = {p00} and p11 = {p11} sum to 1, so that responses do not depend on answers; expected another sum.",
            "For an even protection of both answers use warner(epsilon=1).",
        )
    channel = Dense.of([[zero, 1 - one], [1 - zero, one]])
    return Design("binary", categories, categories, channel)  # type: ignore[arg-type]  # Design reads labels
