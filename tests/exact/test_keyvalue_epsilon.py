"""ε of every key-value design, compared with all rows and all responses of a few items, in rationals."""

from __future__ import annotations

from fractions import Fraction

import pytest

from deniable.channel import Dense
from deniable.designs import rr3_ddagger
from deniable.exact import exp_below
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
    vpp,
)
from deniable.types.key_value.schemes import Index, Unary, extremes, marks
from tests.support.keyvalue import designs, parity, rows, table

EVERY = [
    pytest.param(design, id=f"{items} {name}")
    for items in (1, 2, 3)
    for name, design in designs(items).items()
]
every = pytest.mark.parametrize("design", EVERY)


@every
def test_the_parity_is_that_of_all_rows_and_responses(
    design: KeyValueDesign,
) -> None:
    assert design.parity == parity(design.scheme)


@every
def test_the_probabilities_of_a_row_sum_to_one(design: KeyValueDesign) -> None:
    assert {sum(column) for column in zip(*table(design.scheme), strict=True)} == {1}


@every
def test_the_certificate_names_rows_that_there_are(design: KeyValueDesign) -> None:
    response, likely, unlikely = design.scheme.witness
    known = list(rows(design.scheme.items))
    assert 0 <= response < design.scheme.responses
    assert likely in known
    assert unlikely in known


@pytest.mark.parametrize("p", ["3/5", "9/10"])
@pytest.mark.parametrize("q", ["1/2", "2/3", "19/20"])
def test_lemma_2_with_its_maximum(p: str, q: str) -> None:
    """[MW21] prints the second term alone."""
    edge, value = Fraction(p), Fraction(q)
    channel = rr3_ddagger(p, q).channel.dense() if value != Fraction(1, 2) else None
    if channel is None:
        half = edge / 2
        channel = Dense.from_rows(
            [
                [edge, 1 - edge, 1 - edge],
                [(1 - edge) / 2, half, half],
                [(1 - edge) / 2, half, half],
            ]
        )
    expected = max(
        value / (1 - value), 2 * edge * value / (1 - edge), edge / (1 - edge)
    )
    assert Index(4, channel).parity == expected


@pytest.mark.parametrize("padding", [1, 2, 3])
def test_lemma_4_holds_from_twice_as_many_items_as_places_on(padding: int) -> None:
    a, b, p = Fraction(13, 20), Fraction(3, 4), Fraction(4, 5)
    printed = max(p / (1 - p), 2 * a * b * p / ((1 - a) * (1 - b)))
    assert pckv_ue(2 * padding, a=a, b=b, p=p, padding=padding).parity == printed
    # two full rows must then share an item, which makes them more alike
    if padding > 1:
        assert (
            pckv_ue(2 * padding - 1, a=a, b=b, p=p, padding=padding).parity < printed
        )


@pytest.mark.parametrize("padding", [1, 2, 4])
def test_the_amplified_epsilon_of_pckv_grr(padding: int) -> None:
    """As [GLC20] has it, e^ε₁ = a/b: (e^(ε₁+ε₂) + λ)/(min{e^ε₁, (e^ε₂ + 1)/2} + λ), λ = (ℓ − 1)(e^ε₂ + 1)/2."""
    items, a, p = 6, Fraction(1, 2), Fraction(4, 5)
    design = pckv_grr(items, a=a, p=p, padding=padding)
    key, value = a / ((1 - a) / (items + padding - 1)), p / (1 - p)
    shift = (padding - 1) * (value + 1) / 2
    assert design.parity == (key * value + shift) / (
        min(key, (value + 1) / 2) + shift
    )


@pytest.mark.parametrize("items", range(1, 8))
@pytest.mark.parametrize("a", ["1/5", "2/3"])
@pytest.mark.parametrize("p", ["1/10", "4/5"])
def test_a_few_numbers_of_marked_items_are_enough_to_try(
    items: int, a: str, p: str
) -> None:
    for padding in range(1, items + 1):
        scheme = pckv_ue(items, a=a, b="3/5", p=p, padding=padding).scheme
        assert isinstance(scheme, Unary)
        ratios = []
        for marked in range(items + 1):
            most, least = extremes(scheme.levels, items, padding, marked)
            ratios.append(Fraction(most.total, least.total))
        assert (
            max(ratios)
            == max(ratios[marked] for marked in marks(items, padding))
            == scheme.parity
        )


@pytest.mark.parametrize("epsilon", ["1/100", "1/3", 1, 2.5, 8])
@pytest.mark.parametrize("items", [2, 50])
def test_a_requested_epsilon_is_never_exceeded_and_nearly_reached(
    epsilon: float | str, items: int
) -> None:
    built = [
        vpp(items, epsilon),
        lpp_ddagger(items, epsilon),
        lpp_club(items, epsilon),
    ]
    for padding in {1, items // 2}:
        built += [
            pckv_ue(items, epsilon, padding=padding),
            pckv_grr(items, epsilon, padding=padding),
        ]
    for design in built:
        assert design.parity <= exp_below(epsilon), design
        assert float(Fraction(epsilon)) - design.epsilon < 1e-9, design
