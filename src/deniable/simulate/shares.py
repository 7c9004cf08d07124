"""The unbiased shares of many tallies at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Deck, Design
from deniable.estimates.inverses import christofides_inverse, left_inverse
from deniable.estimates.supported import customary
from deniable.records.strings.designs import NoisySampling
from deniable.simulate.people import Counts


def shares(
    design: Design | Deck, tallies: Counts, respondents: int, *, method: str = "inversion"
) -> NDArray[np.float64]:
    """Return the unbiased share of each category, a row for each tally: what `estimate` gives for one of them.

    Args:
        design: what was responded with.
        tallies: a row of counts for each survey.
        respondents: how many responded in each.
        method: "inversion", or "customary" for the estimate that is usual with RAPPOR.

    Raises:
        NotEstimable: the design cannot tell answers apart.
        InvalidRequest: it has no customary estimate.

    Example:
        >>> from deniable.designs import warner
        >>> shares(warner(p="3/4"), np.array([[40, 60], [75, 25]]), 100).tolist()
        [[0.30000000000000004, 0.7], [1.0, 0.0]]
    """
    if isinstance(design, Deck):
        back = design.with_replacement()
        linear = left_inverse(back.channel, inverse=christofides_inverse(back))
    else:
        linear = customary(design.channel) if method == "customary" else left_inverse(design.channel)
    return np.array([linear.shares(row) for row in tallies / respondents])


def noisy_shares(noisy: NoisySampling, ones: Counts, respondents: int) -> NDArray[np.float64]:
    """Return the unbiased share of true ones after each round, from all samples so far: what `noisy.share` gives.

    Args:
        noisy: how the samples were drawn.
        ones: how many ones each round had, a row for each survey, as `noisy_samples` returns them.
        respondents: how many sent samples.

    Example:
        >>> noisy_shares(NoisySampling.of(1, "3/4", "1/4"), np.array([[60, 80]]), 100).round(6).tolist()
        [[0.7, 0.9]]
    """
    rounds = range(1, ones.shape[1] + 1)
    # The estimate is linear in the mean number of ones: two of its values say all.
    starts = np.array([float(noisy.share(0, samples)) for samples in rounds])
    slopes = np.array([float(noisy.share(1, samples)) for samples in rounds]) - starts
    return np.asarray(starts + slopes * np.cumsum(ones, axis=1) / respondents)
