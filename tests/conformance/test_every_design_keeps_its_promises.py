"""What every design promises, checked against the definitions on the written-out matrix, in rationals."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from deniable import exact
from deniable.designs import FAMILIES, Design
from deniable.designs.registry import Family
from deniable.errors import InvalidDesign, InvalidRequest
from tests.support import brute
from tests.support.rational import table, transposed
from tests.support.registered import every_design, parameters

GAMMAS = [
    Fraction(1),
    Fraction(11, 10),
    Fraction(3, 2),
    Fraction(2),
    Fraction(5),
    Fraction(1000),
]

private = pytest.mark.parametrize(
    "design", parameters(lambda design: design.parity < math.inf)
)
revealing = pytest.mark.parametrize(
    "design", parameters(lambda design: design.parity == math.inf)
)


@every_design
def test_the_labels_fit_the_channel(design: Design) -> None:
    assert (
        len(design.categories)
        == len(set(design.categories))
        == design.channel.answers
        >= 2
    )
    assert (
        len(design.symbols)
        == len(set(design.symbols))
        == design.channel.responses
        >= 2
    )
    for number, category in enumerate(design.categories):
        assert design.category_number(category) == number
    for number, symbol in enumerate(design.symbols):
        assert design.symbol_number(symbol) == number


@every_design
def test_every_column_sums_to_exactly_one(design: Design) -> None:
    for column in transposed(table(design.channel)):
        assert sum(column) == 1
        assert min(column) >= 0


@every_design
def test_probabilities_are_those_of_the_channel(design: Design) -> None:
    rows = table(design.channel)
    for i, symbol in enumerate(design.symbols):
        for j, category in enumerate(design.categories):
            assert design.probability(symbol, given=category) == rows[i][j]


@every_design
def test_writing_the_channel_out_changes_nothing(design: Design) -> None:
    dense = design.channel.dense()
    assert table(dense) == table(design.channel)
    assert dense.parity == design.parity


@every_design
def test_the_parity_is_the_brute_force_one(design: Design) -> None:
    assert design.parity == brute.parity(table(design.channel))


@every_design
def test_the_witness_attains_the_parity(design: Design) -> None:
    response, likely, unlikely = design.channel.witness
    row = table(design.channel)[response]
    assert row[likely] > 0
    assert brute.quotient(row[likely], row[unlikely]) == design.parity


@every_design
def test_extremes_are_those_of_the_row(design: Design) -> None:
    for i, row in enumerate(table(design.channel)):
        assert design.channel.extremes(i) == (max(row), min(row))
        for j in range(len(row)):
            rest = [cell for other, cell in enumerate(row) if other != j]
            assert design.channel.extremes(i, besides=j) == (max(rest), min(rest))


@private
def test_epsilon_is_the_smallest_float_not_below_the_logarithm(
    design: Design,
) -> None:
    assert isinstance(design.parity, Fraction)
    with localcontext() as context:
        context.prec = 200  # comparisons of decimals are exact; this is for what is written here
        truth = brute.log(design.parity)
        assert Decimal(design.epsilon) >= truth
        assert Decimal(math.nextafter(design.epsilon, -math.inf)) < truth


@pytest.mark.parametrize(
    "design", parameters(lambda design: design.channel.responses <= 8)
)
@pytest.mark.parametrize("gamma", GAMMAS, ids=str)
def test_delta_is_the_supremum_over_all_sets_of_responses(
    design: Design, gamma: Fraction
) -> None:
    assert design.channel.delta(gamma) == brute.delta(table(design.channel), gamma)


@every_design
@pytest.mark.parametrize("gamma", GAMMAS, ids=str)
def test_delta_is_the_sum_of_the_positive_excesses(
    design: Design, gamma: Fraction
) -> None:
    columns = transposed(table(design.channel))
    worst = max(
        sum(max(Fraction(0), a - gamma * b) for a, b in zip(one, two, strict=True))
        for one in columns
        for two in columns
    )
    assert design.channel.delta(gamma) == worst


@revealing
def test_where_a_response_excludes_an_answer_no_epsilon_holds(
    design: Design,
) -> None:
    assert design.epsilon == math.inf
    assert design.delta(30) > 0


@private
def test_delta_falls_to_zero_at_the_certified_epsilon_and_not_before(
    design: Design,
) -> None:
    assert isinstance(design.parity, Fraction)
    assert design.channel.delta(design.parity) == 0
    assert design.delta(design.epsilon) == 0
    assert design.delta(0.999 * design.epsilon) > 0
    assert design.delta(0) >= design.delta(design.epsilon / 2) > 0


@every_design
def test_delta_is_rounded_up(design: Design) -> None:
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(2)):
        # a smaller δ than at e^ε itself
        exactly = design.channel.delta(exact.exp_above(epsilon))
        assert Fraction(design.delta(epsilon)) >= exactly
        assert design.delta(epsilon) == pytest.approx(
            float(exactly), rel=1e-12, abs=1e-300
        )


@every_design
def test_bayes_factors_are_the_brute_force_ones(design: Design) -> None:
    rows = table(design.channel)
    for i, symbol in enumerate(design.symbols):
        for j, category in enumerate(design.categories):
            factors = design.bayes_factors(symbol, category)
            assert factors == brute.bayes_factors(rows, i, j)
            assert factors[0] <= factors[1] <= design.parity


@every_design
def test_a_response_counts_in_cells_that_exist(design: Design) -> None:
    channel = design.channel
    for response, row in enumerate(table(channel)):
        assert channel.possible(response) or not any(row)
        if channel.possible(response):
            cells = list(channel.cells_of(response))
            assert len(set(cells)) == len(cells)
            assert set(cells) <= set(range(channel.cells))
            assert not channel.own_cells or cells == [response]
            assert channel.sizes or len(cells) == 1
    assert not channel.possible(-1)
    assert not channel.possible(channel.responses)


@every_design
def test_a_design_is_a_value(design: Design) -> None:
    again = pickle.loads(pickle.dumps(design))
    assert again == design
    assert hash(again) == hash(design)
    assert again.epsilon == design.epsilon
    assert design != "something else"


@every_design
def test_its_text_tells_name_and_epsilon(design: Design) -> None:
    assert repr(design).startswith(f"{design.name}(")
    told, _, proof = (
        repr(design)
        .rpartition("ε = ")[2]
        .removesuffix(")")
        .replace("∞", "inf")
        .partition(", some ")
    )
    told = told.replace(",", "")
    assert bool(proof) == (design.epsilon == math.inf), (
        "it says that a response proves something exactly where one does"
    )
    assert design.epsilon <= float(told) <= design.epsilon * (1 + 1e-3), (
        "rounded up, to four digits"
    )


FINEST = (
    "1e-30",
    "1e-20",
    "3e-20",
    "1e-19",
    "2e-19",
    "1e-18",
    "1e-15",
    "1e-9",
    "1/10",
    "1",
    "20",
    "44",
)
ASKED = [
    pytest.param(family, example, id=f"{family.name}-{number}")
    for family in FAMILIES.values()
    for number, example in enumerate(family.examples)
    if "epsilon" in example
]


@pytest.mark.parametrize(("family", "example"), ASKED)
def test_an_epsilon_is_kept_after_rounding_or_refused(
    family: Family, example: Mapping[str, Any]
) -> None:
    kept = 0
    for epsilon in FINEST:
        try:
            design = family.build(**{**example, "epsilon": epsilon})
        except (InvalidDesign, InvalidRequest):
            continue
        gamma, delta = exact.exp_below(epsilon), Fraction(example.get("delta", 0))
        assert (
            (design.channel.delta(gamma) <= delta)
            if delta
            else (design.parity <= gamma)
        ), epsilon
        kept += 1
    assert kept >= 1
