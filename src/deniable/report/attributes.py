"""What a design for several attributes promises about each of them, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deniable.design import Design, Factor
from deniable.errors import InvalidRequest
from deniable.report.words import factor


def attributes(design: Design) -> tuple[str, ...]:
    """Tell what is revealed about each attribute alone, about all together, and to whom.

    Raises:
        InvalidRequest: a design for one attribute.

    Example:
        >>> from deniable.design import product, warner
        >>> for sentence in attributes(product({"smokes": warner(p="3/4"), "drinks": warner(p="2/3")}))[:2]:
        ...     print(sentence)
        About 'smokes' alone: its response changes the odds between two answers by a factor of at most 3.
        About 'drinks' alone: its response changes the odds between two answers by a factor of at most 2.
    """
    if not design.factors:
        raise InvalidRequest("this design is for one attribute; expected one for several.", "Use words.promise().")
    hidden = [part for part in design.factors if part.design.parity != math.inf]
    open_ones = [part for part in design.factors if part.design.parity == math.inf]
    return (*map(_alone, design.factors), _together(design, hidden, open_ones))


def _alone(part: Factor) -> str:
    name, parity = f"{part.attribute!r:.40}", part.design.parity
    if parity == math.inf:
        return f"About {name} alone: some responses prove something about it."
    most = factor(parity)
    return f"About {name} alone: its response changes the odds between two answers by a factor of at most {most}."


def _together(design: Design, hidden: Sequence[Factor], open_ones: Sequence[Factor]) -> str:
    start = (
        "This holds for whoever takes the attributes to be unrelated, even if all responses are seen. Whoever believes "
        "that they hang together can learn more about one from the responses to others"
    )
    if not open_ones:
        return f"{start}: no belief gains more than a factor of {factor(design.parity)} on all of them together."
    verb = "is" if len(open_ones) == 1 else "are"
    left = f"{_names(open_ones)} {verb} not hidden, and neither is what is believed to follow from that."
    if not hidden:
        return f"{start}; {left}"
    parity = design.part(*(part.attribute for part in hidden)).parity
    gain = f"from the responses to {_names(hidden)} nobody gains more than a factor of {factor(parity)}"
    return f"{start}: {gain}, but {left}"


def _names(parts: Sequence[Factor]) -> str:
    names = [f"{part.attribute!r:.40}" for part in parts]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
