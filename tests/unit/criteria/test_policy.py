"""A demand on some pairs of answers, or on properties."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import deniable as dn
from deniable.channel import Product
from deniable.criteria import Policy


def test_both_directions_and_all_answers_of_a_property_count() -> None:
    design = dn.matrix(
        [["1/2", "1/4", "1/8"], ["1/4", "1/2", "1/8"], ["1/4", "1/4", "3/4"]],
        categories=["a", "b", "c"],
    )
    verdict = Policy(1, pairs=[("a", "c")]).check(design)
    assert (verdict.holds, verdict.attained) == (False, Fraction(4))
    assert verdict.witness is not None
    assert verdict.witness.posterior == Fraction(4, 5)
    assert Policy(1, pairs=[("a", "b")]).check(design).attained == 2
    assert Policy(2, pairs=[("c", "a")]).check(design)
    lopsided = dn.matrix([["9/10", "3/10"], ["1/10", "7/10"]])
    assert Policy(2, pairs=[(0, 1)]).check(lopsided).attained == 7
    assert Policy(2, pairs=[(1, 0)]).check(lopsided).attained == 7
    assert len(Policy(1, properties=[["a"]]).answer_pairs(design)) == 4
    assert Policy(1, properties=[["a", "b"]]).check(design).attained == 4


def test_a_product_is_checked_by_its_factors() -> None:
    tables = (
        [["1/2", "1/4", "0"], ["1/4", "1/2", "1/8"], ["1/4", "1/4", "7/8"]],
        [["2/3", "1/6"], ["1/3", "5/6"]],
    )
    both = Product(tuple(dn.matrix(table).channel for table in tables))
    labels = tuple("abcdef")
    designs = [
        dn.Design("matrix", labels, tuple("uvwxyz"), channel)
        for channel in (both, both.dense())
    ]
    for pair in combinations(labels, 2):
        product, table = (Policy(1, pairs=[pair]).check(each) for each in designs)
        assert (product.holds, product.attained) == (table.holds, table.attained)
        if not product.holds:
            assert product.witness is not None
            assert table.witness is not None
            assert product.witness.posterior == table.witness.posterior
    assert Policy(1, pairs=[("a", "b")]).check(designs[0]).attained == 4
    assert Policy(1, pairs=[("a", "d")]).check(designs[0]).attained == 8
