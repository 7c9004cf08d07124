"""Key-value designs the slow way: every row of a few items, every response, every probability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product

from deniable.exact import Ratio
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
    vpp,
)
from deniable.types.key_value.schemes import Scheme
from tests.support.brute import quotient

WEIGHTS = (None, Fraction(-1), Fraction(0), Fraction(1))
Row = dict[int, Fraction]


def rows(
    items: int, weights: tuple[Fraction | None, ...] = WEIGHTS
) -> Iterator[Row]:
    """Every row of so many items, with no edge or one of these weights to each."""
    for chosen in product(weights, repeat=items):
        yield {
            item: weight for item, weight in enumerate(chosen) if weight is not None
        }


def table(scheme: Scheme) -> list[list[Fraction]]:
    """P[response][row] for every response and every row."""
    known = list(rows(scheme.items))
    return [
        [scheme.probability(response, row) for row in known]
        for response in range(scheme.responses)
    ]


def parity(scheme: Scheme) -> Ratio:
    """The largest quotient of two entries of one row of the table."""
    return max(quotient(max(row), min(row)) for row in table(scheme))


@cache
def designs(items: int) -> Mapping[str, KeyValueDesign]:
    """Designs of every family over so many items, with every padding."""
    found = {
        "vpp": vpp(items, 1),
        "lpp": lpp(items, 1, "3/2"),
        "lpp, a public fake weight": lpp(items, 1, "7/10", fake_weight="2/5"),
        "lpp, the value decides": lpp(items, "1/5", 2),
        "lpp_ddagger": lpp_ddagger(items, 1),
        "lpp_ddagger, for the mean": lpp_ddagger(
            items, 2, importance="mean", mean="1/2"
        ),
        "lpp_club": lpp_club(items, 1),
        "lpp_club, for the frequency": lpp_club(items, 2, importance="frequency"),
    }
    for places in range(1, items + 1):
        found |= {
            f"pckv_ue, {places} places": pckv_ue(items, 1, padding=places),
            f"pckv_ue of three numbers, {places} places": pckv_ue(
                items, a=0.65, b=0.75, p=0.8, padding=places
            ),
            f"pckv_ue, the value decides, {places} places": pckv_ue(
                items, a=0.55, b=0.6, p=0.95, padding=places
            ),
            f"pckv_ue upside down, {places} places": pckv_ue(
                items, a=0.2, b=0.3, p=0.1, padding=places
            ),
            f"pckv_ue, often marked, {places} places": pckv_ue(
                items, a=0.9, b=0.3, p=0.6, padding=places
            ),
            f"pckv_grr, {places} places": pckv_grr(items, 1, padding=places),
            f"pckv_grr of two numbers, {places} places": pckv_grr(
                items, a=0.5, p=0.8, padding=places
            ),
            f"pckv_grr, hardly kept, {places} places": pckv_grr(
                items, a=0.1, p=0.3, padding=places
            ),
            f"pckv_grr, the value decides, {places} places": pckv_grr(
                items, a=0.5, p=0.99, padding=places
            ),
        }
    return found
