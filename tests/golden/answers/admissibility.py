"""Admissibility, Blackwell's order and the largest trace, answered with the public API."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import deniable as dn
from deniable.order.admissibility import largest_trace, raise_parity, split_row
from deniable.order.closed_forms import find_closed_form
from deniable.order.relaxation import relax
from tests.golden.runner import document, fractions, quantity
from tests.support.subset_order import subsets_ordered


@quantity("lemma53_step")
def lemma53_step(
    A: list[list[float]], gamma: float, row: int, partner: int
) -> dict[str, Any]:
    xi, step = raise_parity(
        dn.matrix(fractions(A)).channel.dense(), fractions(gamma), row, partner
    )
    return {"xi": xi, "P": [list(cells) for cells in step.channel.rows]}


@quantity("lemma55_split")
def lemma55_split(row: list[float]) -> list[Any]:
    return [
        [list(pattern.large), pattern.small] for pattern in split_row(fractions(row))
    ]


@quantity("matrix_ordered")
def matrix_ordered(P1: list[list[float]], P2: list[list[float]]) -> bool:
    """By a garbling that is looked for, and by the step of relaxation that it makes."""
    one, two = dn.matrix(fractions(P1)), dn.matrix(fractions(P2))
    return bool(dn.garbling(one, two)) and relax(one, two).step.verify()


@quantity("tsubset_ordered")
def tsubset_ordered(k: int, t1: int, gamma1: float, t2: int, gamma2: float) -> bool:
    """By the formula, which says the same as the garbling that is written out."""
    by_formula = subsets_ordered(k, t1, gamma1, t2, gamma2)
    designs = (
        dn.subset(k, t=t, p=t * Fraction(str(g)) / (t * Fraction(str(g)) + k - t))
        for t, g in ((t1, gamma1), (t2, gamma2))
    )
    one, two = (design.channel for design in designs)
    assert (find_closed_form(one, two) is not None) == by_formula
    return by_formula


@document("001", "max trace")
def max_trace(entry: dict[str, Any]) -> Any:
    return largest_trace(entry["inputs"]["k"], entry["inputs"]["gamma"])
