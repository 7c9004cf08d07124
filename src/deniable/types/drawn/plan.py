"""Planning with attributes of which some are drawn for each respondent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deniable.designs import labels
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Matrix
from deniable.types.categories.plan import (
    Goal,
    Shares,
    SharesByAttribute,
    VarianceCurve,
)
from deniable.types.categories.plan import variance_curve as category_variance_curve
from deniable.types.drawn.design import NAMED, DrawnDesign


def variance_curve(
    design: DrawnDesign,
    shares: SharesByAttribute | None,
    goal: Goal,
    inverse: Matrix | None = None,
) -> VarianceCurve:
    """Return the variance as a function of n and f, where `each` of m attributes are drawn: that of n·each/m people.

    They are a sample without replacement of the population that the n are, so that f grows: 1 − f is in proportion to
    one person less than are asked.

    Raises:
        InvalidRequest: an inverse, a category that is none, or shares that are not those of each attribute.
    """
    if inverse is not None:
        raise InvalidRequest(
            "several attributes have an inverse each; expected none given."
        )
    attribute_shares = _read_by_attribute(design, shares)
    chosen, _, category = (goal.category or "").partition(NAMED)
    if goal.category is not None and chosen not in design.attributes:
        raise InvalidRequest(
            f"the category is {quoted(goal.category)}; expected a name such as '{design.symbol(0)}'."
        )
    curves = [
        category_variance_curve(
            part, attribute_shares[attribute], Goal(category or None, goal.largest)
        )
        for attribute, part in design.factors
        if not chosen or attribute == chosen
    ]
    drawn_share = design.each / len(design.factors)
    combine: Callable[[list[float]], float] = max if goal.largest else sum

    def curve(n: int, f: float) -> float:
        drawn_f = 1 - (1 - f) * max(n * drawn_share - 1, 0.0) / max(n - 1, 1)
        return combine([part(1, drawn_f) / (n * drawn_share) for part in curves])

    return curve


def _read_by_attribute(
    design: DrawnDesign, shares: SharesByAttribute | None
) -> Mapping[str, Shares | None]:
    if shares is None:
        return dict.fromkeys(design.attributes)
    if not isinstance(shares, Mapping) or set(shares) != set(design.attributes):
        raise InvalidRequest(
            f"the shares are not those of each attribute; expected them by {labels.format_labels(design.attributes)}."
        )
    return shares
