"""Do the responses look like what the design sends?"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from deniable.designs import Design
from deniable.estimates.intervals import Basis

RATE = 0.01
"""How often respondents who follow the design are doubted all the same, over all categories together."""


def implausible(design: Design, basis: Basis) -> tuple[str, ...]:
    """Return, in words, each category of which there are fewer than none.

    A category is doubted when its unbiased share lies further below 0 than chance alone would bring it if nobody at all
    belonged to it, except once in a hundred surveys.
    """
    size = len(basis.unbiased)
    _, others = basis.linear.spread(np.maximum(basis.unbiased, 0.0))
    error = np.sqrt(np.maximum(others, 0.0) / basis.respondents)
    limit = NormalDist().inv_cdf(RATE / (size if size > 2 else 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(error > 0, basis.unbiased / error, np.where(basis.unbiased < -1e-9, -np.inf, 0.0))
    return tuple(
        f"the share of {design.categories[j]!r} is estimated at {basis.unbiased[j]:.3g}, {-distance[j]:.1f} standard "
        "errors below 0: fewer responses point to it than the device alone would send. Likely causes: respondents did "
        "not follow the device (for instance, they refused a response that looks like an admission), another "
        "design was used, or the responses are coded the other way round."
        for j in np.flatnonzero(distance < limit).tolist()
    )
