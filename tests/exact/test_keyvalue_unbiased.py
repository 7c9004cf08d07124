"""Estimates and their variances, with all responses enumerated and compared with == on rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import pytest

from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    lpp_ddagger,
    pckv_ue,
)
from deniable.types.key_value.variances import scores
from tests.support.item_moments import ItemMoments, conditional_moments, moments
from tests.support.keyvalue import Row, designs, rows

HALF = Fraction(1, 2)
FULL = [
    pytest.param(design, id=name)
    for name, design in designs(3).items()
    if scores(design.scheme.symbol).degree and scores(design.scheme.symbol).weight
]


def added(design: KeyValueDesign, response: int) -> list[tuple[Fraction, Fraction]]:
    """What a response adds to the degree and the weight of each item."""
    told, scheme = scores(design.scheme.symbol), design.scheme
    assert told.degree is not None
    assert told.weight is not None
    sent = dict(scheme.cells(response))
    if scheme.one_each:
        symbols = [sent.get(item) for item in range(scheme.items)]
    else:
        symbols = [sent.get(item, 0) for item in range(scheme.items)]
    M = scheme.multiplier
    return [
        (Fraction(0), Fraction(0))
        if each is None
        else (M * told.degree[each], M * told.weight[each])
        for each in symbols
    ]


def fits(design: KeyValueDesign, row: Row) -> bool:
    """Whether padding cuts nothing off."""
    return design.scheme.one_each or len(row) <= design.scheme.multiplier


@pytest.mark.parametrize("design", FULL)
def test_every_row_is_estimated_without_bias(design: KeyValueDesign) -> None:
    for row in rows(3, (None, Fraction(-1), HALF)):
        expected = [
            (Fraction(item in row), row.get(item, Fraction(0))) for item in range(3)
        ]
        if fits(design, row):
            assert mean(design, row) == expected


def mean(design: KeyValueDesign, row: Row) -> list[tuple[Fraction, Fraction]]:
    total = [[Fraction(0), Fraction(0)] for _ in range(design.scheme.items)]
    for response in range(design.scheme.responses):
        probability = design.scheme.probability(response, row)
        for item, (degree, weight) in enumerate(added(design, response)):
            total[item][0] += probability * degree
            total[item][1] += probability * weight
    return [(degree, weight) for degree, weight in total]


@pytest.mark.parametrize("design", FULL)
def test_padding_lets_through_what_the_correction_assumes(
    design: KeyValueDesign,
) -> None:
    for row in rows(3, (None, HALF)):
        if not fits(design, row):
            part = Fraction(design.scheme.multiplier, len(row))
            assert mean(design, row) == [
                (part * (item in row), part * row.get(item, 0)) for item in range(3)
            ]


@pytest.mark.parametrize("design", FULL)
def test_the_variance_of_one_response_is_that_of_all_responses(
    design: KeyValueDesign,
) -> None:
    for row in rows(3, (None, Fraction(-1), HALF)):
        if not fits(design, row):
            continue
        second = [Fraction(0)] * 3
        for response in range(design.scheme.responses):
            probability = design.scheme.probability(response, row)
            degree, weight = added(design, response)[0]
            for place, value in enumerate(
                (degree * degree, weight * weight, degree * weight)
            ):
                second[place] += probability * value
        x, w = Fraction(0 in row), row.get(0, Fraction(0))
        assert moments(design, [row.get(0)]) == ItemMoments(
            x, w, second[0] - x * x, second[1] - w * w, second[2] - x * w
        )


@pytest.mark.parametrize("design", FULL)
def test_products_of_what_is_added_to_two_items(design: KeyValueDesign) -> None:
    """Zero but for responses about one item among all, where B·(x₀ + x₁) − B² is left; see `Linear.tie`."""
    told = scores(design.scheme.symbol)
    assert told.degree is not None
    B = (
        design.scheme.multiplier * told.degree[0]
        if design.scheme.KIND == "direct"
        else Fraction(0)
    )
    for row in rows(3, (None, HALF)):
        if not fits(design, row):
            continue
        found = [Fraction(0)] * 3
        for response in range(design.scheme.responses):
            probability = design.scheme.probability(response, row)
            (d0, w0), (d1, w1), _ = added(design, response)
            for place, value in enumerate((d0 * d1, w0 * w1, d0 * w1)):
                found[place] += probability * value
        x0, x1 = Fraction(0 in row), Fraction(1 in row)
        assert found == [B * (x0 + x1) - B**2, 0, B * row.get(1, Fraction(0))]


def test_the_printed_variances_of_f15() -> None:
    m, p, q = 5, Fraction(7, 10), Fraction(4, 5)
    edges = [Fraction(1, 2), None, Fraction(-1), Fraction(1, 5), None, None]
    n, k, w = 6, 3, Fraction(-3, 10)
    squares = Fraction(1, 4) + 1 + Fraction(1, 25)
    found = moments(_ddagger(m, p, q), edges)
    odds = p / (1 - p)
    assert found.var_degree == k * (m - 1) + n * m * odds / (odds - 1) ** 2
    assert (
        found.var_weight
        == m * (k * p + (n - k) * (1 - p)) / (p * (2 * q - 1)) ** 2 - squares
    )
    assert found.cov == w * (m * p / (2 * p - 1) - 1)


def test_the_printed_variances_of_pckv() -> None:
    a, b, p, ell = Fraction(13, 20), Fraction(3, 4), Fraction(4, 5), 2
    edges = [Fraction(1, 2), None, Fraction(-1), Fraction(1, 5), None]
    n, k, w = 5, 3, Fraction(-3, 10)
    squares = Fraction(1, 4) + 1 + Fraction(1, 25)
    found = moments(pckv_ue(5, a=a, b=b, p=p, padding=ell), edges)
    h = a / ell + (1 - b) * (1 - Fraction(1, ell))
    assert (
        found.var_degree
        == ell**2 * (k * h * (1 - h) + (n - k) * b * (1 - b)) / (a + b - 1) ** 2
    )
    assert (
        found.var_weight
        == ell**2 * (k * h + (n - k) * (1 - b)) / (a * (2 * p - 1)) ** 2 - squares
    )
    assert found.cov == w * ell * (1 - h) / (a + b - 1)


@pytest.mark.parametrize(
    "design", [lpp_ddagger(2, 1), lpp_club(4, 2)], ids=["ddagger", "club"]
)
def test_the_conditional_variance_is_that_of_all_samples_and_devices(
    design: KeyValueDesign,
) -> None:
    """Three of four people are asked about an item; every choice of three, every symbol they can send."""
    edges, asked = [HALF, None, Fraction(-1), Fraction(0)], 3
    told, symbol, n = scores(design.scheme.symbol), design.scheme.symbol, len(edges)
    assert told.degree is not None
    assert told.weight is not None
    first = [Fraction(0)] * 2
    second = [Fraction(0)] * 3
    for people in combinations(edges, asked):
        for sent in product(range(3), repeat=asked):
            probability = Fraction(1, 4)
            for weight, each in zip(people, sent, strict=True):
                probability *= _sends(symbol, each, weight)
            degree = n * sum(told.degree[each] for each in sent) / asked
            total = n * sum(told.weight[each] for each in sent) / asked
            for place, value in enumerate((degree, total)):
                first[place] += probability * value
            for place, value in enumerate(
                (degree * degree, total * total, degree * total)
            ):
                second[place] += probability * value
    k, w = first
    assert (k, w) == (3, -HALF)
    found = conditional_moments(design, edges, asked)
    assert found == ItemMoments(
        k, w, second[0] - k * k, second[1] - w * w, second[2] - k * w
    )


def _sends(symbol, response, weight):  # type: ignore[no-untyped-def]
    if weight is None:
        return symbol.probability(response, given=0)
    plus, minus = (1 + weight) / 2, (1 - weight) / 2
    return plus * symbol.probability(response, given=1) + minus * symbol.probability(
        response, given=2
    )


def _ddagger(m: int, p: Fraction, q: Fraction) -> KeyValueDesign:
    from deniable.designs import rr3_ddagger
    from deniable.types.key_value.schemes import Index

    return KeyValueDesign(
        "lpp_ddagger", m, Index(m, rr3_ddagger(p, q).channel.dense())
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "design",
    [lpp_club(3, 1, low=1, high=5), pckv_ue(3, 1, padding=2, low=1, high=5)],
)
def test_moments_are_on_the_scale_of_the_design(design: KeyValueDesign) -> None:
    edges = [5, None, 1, 3]
    assert moments(design, edges).weight == 9
    found = [Fraction(0)] * 3
    for edge in edges:  # every response gone through; a weight stands for 3 + 2·w
        row = {} if edge is None else {0: Fraction(edge - 3, 2)}
        x, w = Fraction(edge is not None), Fraction(edge or 0)
        second = [-x * x, -w * w, -x * w]
        for response in range(design.scheme.responses):
            degree, centred = added(design, response)[0]
            weight = 3 * degree + 2 * centred
            chance = design.scheme.probability(response, row)
            for place, product_ in enumerate(
                (degree * degree, weight * weight, degree * weight)
            ):
                second[place] += chance * product_
        found = [a + b for a, b in zip(found, second, strict=True)]
    assert moments(design, edges) == ItemMoments(Fraction(3), Fraction(9), *found)


def test_conditional_moments_are_on_the_scale_of_the_design() -> None:
    edges: list[int | None] = [5, None, 1, 3]
    plain = conditional_moments(
        lpp_club(3, 1),
        [None if edge is None else (edge - 3) / 2 for edge in edges],
        2,
    )
    found = conditional_moments(lpp_club(3, 1, low=1, high=5), edges, 2)
    assert found.weight == 9
    assert (
        found.var_weight
        == 9 * plain.var_degree + 12 * plain.cov + 4 * plain.var_weight
    )
