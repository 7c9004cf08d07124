"""Each family does what its docstring says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.chance import TOTAL
from deniable.channel import Diagonal, Product
from deniable.designs import binary, k_ary, matrix, product, warner
from deniable.designs.registry import FAMILIES, register
from deniable.errors import (
    DeniableError,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
)
from tests.support.rational import table

F = Fraction


def test_k_ary_from_p_is_exactly_p() -> None:
    design = k_ary(["a", "b", "c"], p="0.7")
    assert table(design.channel) == (
        (F(7, 10), F(3, 20), F(3, 20)),
        (F(3, 20), F(7, 10), F(3, 20)),
        (F(3, 20), F(3, 20), F(7, 10)),
    )
    assert design.parity == F(14, 3)


def test_k_ary_below_one_in_k_is_the_low_side() -> None:
    assert k_ary(4, p="1/10").parity == 3
    assert k_ary(4, p="1/10").channel.witness.likely != 0


def test_k_ary_from_epsilon_sums_to_2_64_and_stays_below() -> None:
    for low in (False, True):
        channel = k_ary(5, 2, low=low).channel
        assert isinstance(channel, Diagonal)
        assert TOTAL % channel.total == 0
        assert (channel.same < channel.other) == low
        larger, smaller = (
            max(channel.same, channel.other),
            min(channel.same, channel.other),
        )
        assert math.log(larger / smaller) == pytest.approx(2, abs=1e-15)


def test_k_ary_may_never_send_the_answer_itself() -> None:
    assert k_ary(3, p=0).parity == math.inf


@pytest.mark.parametrize(
    ("arguments", "error", "problem"),
    [
        ({"categories": 3}, InvalidRequest, "exactly one of them"),
        (
            {"categories": 3, "epsilon": 1, "p": 0.5},
            InvalidRequest,
            "exactly one of them",
        ),
        (
            {"categories": 3, "p": 0.1, "low": True},
            InvalidRequest,
            "low goes with epsilon",
        ),
        (
            {"categories": 3, "p": "1/3"},
            InvalidDesign,
            "every category equally often",
        ),
        ({"categories": 3, "p": 1}, InvalidDesign, "gives every answer away"),
        ({"categories": 2, "p": 0}, InvalidDesign, "gives every answer away"),
        (
            {"categories": 3, "p": 1.5},
            InvalidNumber,
            "p is 1.5; expected a probability",
        ),
        (
            {"categories": 3, "epsilon": 0},
            InvalidNumber,
            "expected a positive number",
        ),
        (
            {"categories": 3, "epsilon": "one"},
            InvalidNumber,
            "epsilon is 'one'; expected a finite number",
        ),
        ({"categories": 1, "epsilon": 1}, InvalidDesign, "expected 2 to"),
        ({"categories": 10**19, "epsilon": 1}, InvalidDesign, "expected 2 to"),
        ({"categories": ["a", "a"], "epsilon": 1}, InvalidDesign, "more than once"),
    ],
    ids=range(12),
)
def test_k_ary_refuses(
    arguments: dict[str, Any], error: type[DeniableError], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        k_ary(**arguments)


def test_warner_is_k_ary_of_two() -> None:
    assert warner(1).channel == k_ary(["no", "yes"], 1).channel
    assert warner(p="1/4").parity == 3
    assert warner(1).categories == ("no", "yes")


def test_warner_reaches_the_largest_p() -> None:
    p = warner(1).probability("yes", given="yes")
    assert float(p) == pytest.approx(math.e / (math.e + 1), rel=1e-15)


def test_warner_has_two_categories() -> None:
    with pytest.raises(
        InvalidDesign, match="there are 3 categories; expected 2"
    ) as caught:
        warner(1, categories=["a", "b", "c"])
    assert "k_ary" in caught.value.hint
    with pytest.raises(InvalidDesign, match="equally often"):
        warner(p=0.5)
    with pytest.raises(InvalidDesign, match="gives every answer away"):
        warner(p=0)


def test_binary_keeps_each_answer_with_its_own_probability() -> None:
    design = binary(0.9, 0.7, categories=["healthy", "ill"])
    assert design.probability("healthy", given="healthy") == F(9, 10)
    assert design.probability("ill", given="ill") == F(7, 10)
    assert design.parity == 7


@pytest.mark.parametrize(
    ("p00", "p11"),
    [("9/10", "7/10"), ("3/5", "4/5"), ("1/10", "3/10"), (0, "1/2"), (1, 1), (0, 0)],
)
def test_binary_has_the_parity_of_its_docstring(p00: Any, p11: Any) -> None:
    zero, one = F(p00), F(p11)
    pairs = [(zero, 1 - one), (one, 1 - zero)]
    ratios = [max(pair) / min(pair) if min(pair) else math.inf for pair in pairs]
    assert binary(p00, p11).parity == max(ratios)


def test_binary_must_depend_on_the_answer() -> None:
    with pytest.raises(InvalidDesign, match="do not depend on answers"):
        binary(0.3, 0.7)
    with pytest.raises(InvalidNumber, match="p11 is 2"):
        binary(0.3, 2)
    with pytest.raises(InvalidDesign, match="expected 2"):
        binary(0.3, 0.3, categories=3)


def test_matrix_reads_floats_as_decimals() -> None:
    rows = [[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]]
    assert table(matrix(rows).channel)[0] == (F(3, 5), F(1, 5), F(1, 10))
    assert matrix(np.array(rows)) == matrix(rows)  # type: ignore[arg-type]
    assert matrix(np.eye(2, dtype=int)) == matrix([[1, 0], [0, 1]])  # type: ignore[arg-type]


def test_matrix_names_symbols_like_categories_where_it_is_square() -> None:
    square = matrix([["5/6", "1/6"], ["1/6", "5/6"]], categories=["a", "b"])
    assert square.symbols == ("a", "b")
    wide = matrix([[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]], categories=["a", "b"])
    assert tuple(wide.symbols) == ("0", "1", "2")
    named = matrix([["5/6", "1/6"], ["1/6", "5/6"]], symbols=["up", "down"])
    assert (tuple(named.categories), named.symbols) == (("0", "1"), ("up", "down"))


@pytest.mark.parametrize(
    ("rows", "error", "problem"),
    [
        (
            [[0.5, 0.5], [0.5, 0.4]],
            InvalidDesign,
            "column 1 sum to 9/10; expected exactly 1",
        ),
        (
            [[0.333, 0.5], [0.333, 0.5], [0.333, 0]],
            InvalidDesign,
            "column 0 sum to 999/1000",
        ),
        ([[1.5, 0.5], [-0.5, 0.5]], InvalidNumber, r"P\[0\]\[0\] is 1.5"),
        ([[0.5, "x"], [0.5, 0.5]], InvalidNumber, r"P\[0\]\[1\] is 'x'"),
        ([[0.5, 0.5], [0.5]], InvalidDesign, "each row of equal length"),
        ([], InvalidDesign, "0 rows"),
        ([[], []], InvalidDesign, "expected at least 2"),
        ([0.5, 0.5], InvalidDesign, "not a table"),
        (5, InvalidDesign, "not a table"),
        ("ab", InvalidNumber, "is 'a'"),
        ([[1, 1]], InvalidDesign, "1 rows"),
    ],
    ids=range(11),
)
def test_matrix_refuses(rows: Any, error: type[DeniableError], problem: str) -> None:
    with pytest.raises(error, match=problem):
        matrix(rows)


def test_product_asks_several_questions_at_once() -> None:
    design = product([warner(p="3/4"), k_ary(["red", "green", "blue"], p="1/2")])
    assert design.categories[:4] == (
        "no · red",
        "no · green",
        "no · blue",
        "yes · red",
    )
    assert design.parity == 6
    assert isinstance(design.channel, Product)
    assert design.probability("yes · red", given="yes · red") == F(3, 8)


def test_a_product_may_hold_a_product() -> None:
    inner = product([warner(p="3/4"), warner(p="2/3")])
    assert product([inner, warner(p="4/5")]).parity == 24


@pytest.mark.parametrize(
    ("designs", "problem"),
    [
        ([], "expected at least 2"),
        ([warner(1)], "expected at least 2"),
        ([warner(1), "warner"], "all designs"),
        (
            [k_ary(1025, 1), k_ary(1024, 1)],
            "1,049,600 combinations of categories; expected at most 1,048,576",
        ),
        (
            [k_ary(2**53, p="1/2")] * 40,
            "combinations of categories; expected at most",
        ),
        (
            [k_ary(["a", "a · b"], 1), k_ary(["c", "b · c"], 1)],
            "separates attributes",
        ),
    ],
    ids=range(6),
)
def test_product_refuses(designs: Any, problem: str) -> None:
    with pytest.raises(InvalidDesign, match=problem):
        product(designs)


def test_registering_enters_a_family_under_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "deniable.designs.registry.FAMILIES", families := dict(FAMILIES)
    )

    @register({"epsilon": 1}, {"epsilon": 2})
    def twin(epsilon: int) -> Any:
        return warner(epsilon)

    assert families["twin"].designs() == (warner(1), warner(2))
    assert "twin" not in FAMILIES


def test_a_family_without_an_example_cannot_register() -> None:
    with pytest.raises(AssertionError, match="never checked"):
        register()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("product", {"designs": 5}),
        ("mixture", {"categories": 3, "weights": 5, "epsilon": 1}),
        ("items", {"demands": [1, 2]}),
        ("local_hashing", {"categories": 5, "epsilon": 1e-30}),
        ("truncated_rappor", {"categories": 10**12, "epsilon": 1}),
    ],
)
def test_what_makes_no_design_is_refused(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidDesign, match="expected"):
        FAMILIES[name].build(**given)
