"""The counts of one attribute, or of a few, out of those of several."""

from __future__ import annotations

import numpy as np

from deniable.channel import Channel
from deniable.tallies.base import Counts
from deniable.tallies.counts import Tally


def marginal(tally: Tally, *attributes: str) -> Tally:
    """Return the tally of one attribute, or of several in the order named, out of a tally of all combinations.

    It is what would have been counted had only these attributes been asked, so its estimate is that of these
    attributes alone.

    Why: the factors of a product draw independently, so the responses to some attributes follow the product of
    their own channels; a sum over the others loses nothing about these.

    Raises:
        InvalidRequest: an attribute that the design does not have.

    Example:
        >>> from deniable.designs import product, warner
        >>> both = Tally(product({"smokes": warner(1), "drinks": warner(2)}), [40, 10, 30, 20])
        >>> marginal(both, "smokes").counts, marginal(both, "drinks").counts
        (array([50, 50]), array([70, 30]))
    """
    design = tally.design
    part = design.part(*attributes)
    axes = [design.attributes.index(attribute) for attribute in attributes]
    table = tally.counts.reshape(
        [factor.channel.responses for _, factor in design.factors]
    )
    table = table.sum(
        axis=tuple(axis for axis in range(table.ndim) if axis not in axes)
    )
    # What is left stands in the order of the design; it is wanted in the order named.
    counts = np.transpose(table, [sorted(axes).index(axis) for axis in axes]).ravel()
    return Tally(
        part,
        as_cells(part.channel, counts),
        tally.missing,
        tally.respondents,
        tally.declared,
    )


def as_cells(channel: Channel, counts: Counts) -> Counts:
    """Return counts of responses as the counts of cells that the channel's own tally keeps."""
    if channel.own_cells:
        return counts
    cells = np.zeros(channel.cells, np.int64)
    for response in np.flatnonzero(counts).tolist():
        cells[list(channel.cells_of(response))] += counts[response]
    return cells
