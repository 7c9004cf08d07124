"""Step 4: counts → degrees, weights and mean values of items, with all that is needed to say how sure we are."""

from __future__ import annotations

from dataclasses import replace

from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.results import Doubt
from deniable.estimates.shares import sampled_fraction
from deniable.records.edges.graph_numbers import Quantity
from deniable.records.key_value.intervals import edges_within_noise
from deniable.records.key_value.items import crowding
from deniable.records.key_value.linear import Linear, read_scaling
from deniable.records.key_value.result import KeyValueEstimate
from deniable.records.key_value.tallies import KeyValueTally

__all__ = ["KeyValueEstimate", "Quantity", "estimate"]


def estimate(
    tally: KeyValueTally, *, scaling: str | None = None, population: int | str | None = None
) -> KeyValueEstimate:
    """Estimate how many people have each item, with how much weight, and the mean value of those who have it.

    Implements: the estimates of F15, from the inverse of the channel of one item. For designs that look at one item of
    each respondent there are two: "fixed" multiplies what was sent about an item by the number of items; "conditional"
    divides it by how many were asked about it. The one with the smaller variance is the default.

    Args:
        tally: the counts.
        scaling: "fixed" or "conditional"; by default the better one.
        population: how many people there are altogether, "census" if all of them responded; by default respondents are
            independent of each other and few among many.

    Raises:
        InvalidRequest: a scaling or a population that does not fit; or "conditional" where nobody was asked about some
            item.
        NotEstimable: there are no responses.

    Example:
        >>> from deniable.records.key_value.designs import lpp_ddagger
        >>> from deniable.records.key_value.tallies import tally
        >>> counted = tally(lpp_ddagger(["tea", "coffee"], 1), ["+ tea", "0 coffee", "- tea", "0 tea"])
        >>> estimate(counted, scaling="fixed").degree.round(2).tolist()
        [6.33, -2.33]
    """
    if tally.respondents == 0:
        raise NotEstimable("there are no responses; expected at least one.")
    linear = Linear(tally, read_scaling(tally, scaling), _fraction(tally.respondents, population))
    made = KeyValueEstimate(tally, linear, population, quantity="weight" if linear.frequency is None else "degree")
    return replace(made, warnings=_warnings(made))


def _fraction(n: int, population: int | str | None) -> float:
    if population == "census":
        return 0.0
    if isinstance(population, str):
        raise InvalidRequest(f'the population is {population!r:.40}; expected a whole number, "census" or None.')
    return sampled_fraction(n, population)


def _warnings(made: KeyValueEstimate) -> tuple[Doubt, ...]:
    doubts = []
    if made.linear.frequency is not None and made.linear.weight is not None and made.within_noise.any():
        count, items = int(made.within_noise.sum()), len(made.design.items)
        text = (
            f"the degree of {count:,} of {items:,} items is within noise of 0: nothing is known about the mean value "
            "of those who have them."
        )
        doubts.append(Doubt("within-noise", text))
    if made.linear.frequency is not None and made.linear.weight is not None and edges_within_noise(made):
        text = "the number of all edges is within noise of 0: nothing is known about their average weight."
        doubts.append(Doubt("edges-within-noise", text))
    unseen = int((made.tally.asked == 0).sum())
    if unseen:
        text = f"nobody was asked about {unseen:,} items: their estimates are those of the design alone."
        doubts.append(Doubt("not-asked", text))
    return (*doubts, *crowding(made))
