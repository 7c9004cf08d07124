"""Forced response: a die sends some people's answer and puts a response into the mouths of the others."""

from __future__ import annotations

from deniable import exact
from deniable.channel import Dense
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.errors import InvalidDesign


@register(
    {"honest": "2/3", "yes": "1/6", "no": "1/6"},
    {"honest": "3/4", "yes": "1/8"},
    {"honest": "1/2", "yes": "2/5", "categories": ["never", "ever"]},
)
def forced_response(
    honest: exact.Rational,
    yes: exact.Rational,
    no: exact.Rational | None = None,
    *,
    categories: Labels = ("no", "yes"),
) -> Design:
    """Let a device say whether to answer honestly, to say yes, or to say no.

    With a die: 1 says yes, 6 says no, 2 to 5 answer honestly: honest 4/6, yes 1/6, no 1/6.

    Implements: forced response as in [BIZ15], with all three probabilities known.

    Guarantee: parity (honest + s) / s with s the smaller of `yes` and `no`; infinite where one of them is 0.

    Args:
        honest: the probability of an honest answer.
        yes: the probability of a forced yes, the second category.
        no: the probability of a forced no; what is left, if it is not given.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: the three do not sum to 1, or `honest` is 0 or 1.
        InvalidNumber: not probabilities.

    Example:
        >>> forced_response("2/3", "1/6", "1/6").parity
        Fraction(5, 1)
    """
    truth, up = exact.probability(honest, name="honest"), exact.probability(yes, name="yes")
    down = 1 - truth - up if no is None else exact.probability(no, name="no")
    if down < 0 or truth + up + down != 1:
        raise InvalidDesign(
            f"honest = {honest}, yes = {yes} and no = {no or 0} do not sum to 1; expected exactly that.",
            'For a die: forced_response("2/3", "1/6", "1/6").',
        )
    if truth in (0, 1):
        raise InvalidDesign(
            f"honest is {truth}; expected a probability between 0 and 1.",
            "At 0 the responses say nothing about the answers, at 1 they are the answers.",
        )
    channel = Dense.of([[truth + down, down], [up, truth + up]])
    return Design("forced_response", categories, categories, channel)  # type: ignore[arg-type]  # Design reads labels
