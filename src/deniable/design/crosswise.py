"""The crosswise model: is the answer to the sensitive question the same as to a harmless one?"""

from __future__ import annotations

from deniable import exact
from deniable.design.design import Design
from deniable.design.k_ary import diagonal
from deniable.design.labels import Labels, read
from deniable.design.registry import register
from deniable.errors import InvalidDesign

_CAVEAT = (
    "The ε of the crosswise model holds only against those who do not know the answer to the harmless question; "
    "whoever knows it reads the sensitive answer off the response. Let a random device answer the harmless question."
)


@register({"p": "1/4"}, {"p": "2/3", "categories": ["never", "ever"]}, caveat=_CAVEAT)
def crosswise(p: exact.Rational, *, categories: Labels = ("no", "yes")) -> Design:
    """Ask whether the answers to the sensitive and to a harmless question are the same or different.

    Implements: the crosswise model of [YTT08]. A yes to the sensitive question is sent as "same" with probability p, a
    no with probability 1 − p: Warner's design with other words.

    Guarantee: parity max(p, 1 − p) / min(p, 1 − p), against those who do not know the answer to the harmless question.

    Args:
        p: the probability of yes to the harmless question.
        categories: what no and yes to the sensitive question are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0, 1/2 or 1.

    Example:
        >>> crosswise("1/4").probability("same", given="yes")
        Fraction(1, 4)
    """
    known = read(categories)
    if len(known) != 2:
        raise InvalidDesign(f"there are {len(known)} categories; expected 2.", "For more use k_ary().")
    return Design("crosswise", known, ("different", "same"), diagonal(2, None, p))
