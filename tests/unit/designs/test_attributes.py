from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from deniable import documents
from deniable.channel import Product
from deniable.designs import (
    Design,
    Factor,
    attribute_epsilons,
    binary,
    direct,
    items,
    k_ary,
    matrix,
    product,
    simmons,
    warner,
)
from deniable.designs.labels import Combinations, Numbered
from deniable.errors import (
    InvalidAnswer,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
    UnreadableFile,
)
from deniable.responses import respond

SMOKES, AGE = warner(p="3/4"), k_ary(["young", "old", "very old"], p="1/2")
BOTH = product({"smokes": SMOKES, "age": AGE})


def test_a_product_remembers_its_attributes() -> None:
    assert BOTH.attributes == ("smokes", "age")
    assert BOTH.factors == (Factor("smokes", SMOKES), Factor("age", AGE))
    assert BOTH.categories == Combinations(
        [("no", "yes"), ("young", "old", "very old")]
    )
    assert BOTH.categories[4] == "yes · old"
    assert isinstance(BOTH.channel, Product)
    assert BOTH.channel.factors == (SMOKES.channel, AGE.channel)
    assert warner(1).factors == warner(1).attributes == ()


def test_attributes_travel_and_are_part_of_the_hash() -> None:
    again = Design.from_json(BOTH.to_json())
    assert again == BOTH
    assert again.attributes == ("smokes", "age")
    assert again.part("age") == AGE
    renamed = product({"smokes": SMOKES, "years": AGE})
    swapped = product({"age": AGE, "smokes": SMOKES})
    assert len({BOTH.hash, renamed.hash, swapped.hash}) == 3
    document = json.loads(BOTH.to_json())
    # all else follows from the factors
    assert set(document) == {"schema", "name", "factors", "hash"}
    assert [each["attribute"] for each in document["factors"]] == ["smokes", "age"]


def test_twenty_items_make_a_small_file() -> None:
    design = items({f"item {number}": 1 for number in range(20)})
    assert len(design.categories) == 1 << 20
    assert len(design.to_json()) < 5000
    assert Design.from_json(design.to_json()) == design
    assert design.category_number(design.categories[123_456]) == 123_456


@pytest.mark.parametrize(
    "factors",
    [
        [],
        [1, 2],
        [{"attribute": "a"}],
        [{"attribute": 5, "design": {}}, {"attribute": "b", "design": {}}],
        {"a": 1},
        None,
    ],
)
def test_a_file_with_broken_factors_is_refused(factors: Any) -> None:
    with pytest.raises((UnreadableFile, InvalidDesign)):
        Design.from_json(
            documents.seal("design", {"name": "product", "factors": factors})
        )


def test_a_file_cannot_hold_factors_and_something_else() -> None:
    body = {"name": "product", "factors": json.loads(BOTH.to_json())["factors"]}
    assert Design.from_json(documents.seal("design", body)) == BOTH
    with pytest.raises(UnreadableFile, match="no further fields"):
        Design.from_json(documents.seal("design", {**body, "categories": 6}))


def test_a_file_cannot_nest_designs_without_end() -> None:
    body: dict[str, Any] = json.loads(BOTH.to_json())
    inner = {"name": "product", "factors": body["factors"]}
    outer = {
        "name": "product",
        "factors": [{"attribute": "a", "design": inner}, body["factors"][0]],
    }
    with pytest.raises(InvalidDesign, match="itself for several attributes"):
        Design.from_json(documents.seal("design", outer))


def test_a_part_is_the_design_of_these_attributes() -> None:
    three = product({"smokes": SMOKES, "age": AGE, "votes": binary("9/10", "7/10")})
    assert three.part("smokes") is SMOKES
    assert three.part("age", "smokes") == product({"age": AGE, "smokes": SMOKES})
    assert three.part("smokes", "age", "votes") == three
    assert three.part("smokes", "votes").parity == 21


@pytest.mark.parametrize("names", [(), ("sex",), ("age", "age"), ("age", "sex")])
def test_a_part_is_named_by_attributes_that_exist(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidRequest, match="expected some of 'smokes', 'age'"):
        BOTH.part(*names)
    with pytest.raises(InvalidRequest, match="one attribute"):
        SMOKES.part(*names)


def test_an_answer_can_be_given_by_attribute() -> None:
    assert (
        BOTH.category_number({"age": "old", "smokes": "yes"})
        == BOTH.category_number("yes · old")
        == 4
    )
    assert respond(BOTH, {"smokes": "no", "age": "young"}).symbol in BOTH.symbols


@pytest.mark.parametrize(
    "answer",
    [
        {"smokes": "zebra", "age": "old"},
        {"smokes": "yes"},
        {"zebra": "yes", "age": "old"},
        {"smokes": 3, "age": ["zebra"]},
    ],
)
def test_an_answer_by_attribute_is_never_repeated(answer: Any) -> None:
    with pytest.raises(InvalidAnswer, match="expected") as caught:
        BOTH.category_number(answer)
    assert "zebra" not in str(caught.value)
    with pytest.raises(InvalidAnswer):
        SMOKES.category_number(answer)


def test_products_within_products_are_taken_apart() -> None:
    assert product([product([SMOKES, AGE]), SMOKES]) == product(
        [SMOKES, AGE, SMOKES]
    )
    assert product([BOTH, AGE]).attributes == ("smokes", "age", "3")
    assert product({"he": BOTH, "votes": SMOKES}).attributes == (
        "he smokes",
        "he age",
        "votes",
    )


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: product([BOTH, BOTH]), "attributes holds 'smokes' more than once"),
        (lambda: product({"a": SMOKES, "a ": AGE}), "more than once"),
        (lambda: product({"": SMOKES, "b": AGE}), "expected text"),
        (
            lambda: product({"a": k_ary(["x · y", "z"], 1), "b": AGE}),
            "separates attributes",
        ),
        (
            lambda: product({"a": k_ary(["x ·", "z"], 1), "b": AGE}),
            "separates attributes",
        ),
        (
            lambda: Design.of_factors("product", [Factor("a", SMOKES)]),
            "expected at least 2",
        ),
        (
            lambda: Design.of_factors(
                "product", [Factor("a", BOTH), Factor("b", AGE)]
            ),
            "itself for several",
        ),
        (
            lambda: Design(
                "product", 4, 4, BOTH.part("smokes").channel, BOTH.factors
            ),
            "expected 2",
        ),
        (
            lambda: Design("product", 6, 6, BOTH.channel, BOTH.factors),
            "not those of the factors",
        ),
        (lambda: items({"a": 1}), "expected at least 2"),
        (
            lambda: items({str(number): 1 for number in range(21)}),
            "2,097,152 combinations",
        ),
        (lambda: items({"a": 1, "b": None}, categories=3), "expected 2"),
        (lambda: direct(1001), "at most 1,000"),
    ],
    ids=range(13),
)
def test_what_does_not_fit_together_is_refused(build: Any, problem: str) -> None:
    with pytest.raises(InvalidDesign, match=problem):
        build()


def test_a_dot_without_spaces_is_part_of_a_word() -> None:
    design = product(
        {"a": k_ary(["col·legi", "casa"], 1), "b": k_ary(["·x", "y·"], 1)}
    )
    assert [design.category_number(label) for label in design.categories] == [
        0,
        1,
        2,
        3,
    ]


def test_combined_labels_behave_as_a_sequence() -> None:
    known = Combinations([("a", "b"), Numbered(3)])
    assert list(known) == ["a · 0", "a · 1", "a · 2", "b · 0", "b · 1", "b · 2"]
    assert known[-1] == "b · 2"
    assert known[1:3] == ("a · 1", "a · 2")
    assert known.index("b · 0", 2) == 3
    assert ("a · 3" in known, "a" in known, 5 in known, "a · 1 · 2" in known) == (
        False,
    ) * 4
    with pytest.raises(ValueError, match="not one of"):
        known.index("b · 0", 4)
    with pytest.raises(IndexError):
        known[6]
    assert hash(known) == hash(Combinations([("a", "b"), Numbered(3)]))
    assert "Numbered(3)" in repr(known)


def test_each_attribute_has_its_own_epsilon_and_the_whole_their_sum() -> None:
    basket = items({"gun": "1/2", "liquor": 2})
    assert attribute_epsilons(basket) == {"gun": 0.5, "liquor": 2.0}
    assert basket.epsilon == 2.5
    assert basket.parity == basket.part("gun").parity * basket.part("liquor").parity
    with pytest.raises(InvalidRequest, match="one attribute"):
        attribute_epsilons(SMOKES)


def test_an_item_without_a_demand_is_sent_as_it_is() -> None:
    basket = items({"gun": 1, "bread": None}, categories=["no", "yes"])
    assert attribute_epsilons(basket) == {"gun": 1.0, "bread": math.inf}
    assert basket.epsilon == math.inf
    for _ in range(20):
        assert respond(basket, {"gun": "yes", "bread": "yes"}).symbol.endswith(
            "· yes"
        )
    assert "sent as they are" in basket.caveat
    assert basket.caveat.startswith("'bread':")
    assert items({"gun": 1, "liquor": 2}).caveat == ""


def test_an_item_with_a_demand_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidNumber, match="positive"):
        items({"gun": 0, "liquor": 1})


def test_caveats_of_all_factors_are_told() -> None:
    design = product({"drugs": simmons(1, b="1/2"), "bread": direct(), "age": AGE})
    assert design.caveat.count("'drugs': ") == design.caveat.count("'bread': ") == 1
    assert "'age'" not in design.caveat


def test_factors_need_not_be_square() -> None:
    wide = matrix([[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]])
    design = product({"a": wide, "b": SMOKES})
    assert (len(design.categories), len(design.symbols)) == (4, 6)
    assert design.probability("2 · yes", given="1 · yes") == Fraction(
        65, 100
    ) * Fraction(3, 4)


def test_factors_of_another_channel_are_refused() -> None:
    both, other = (
        product({"a": warner(p=p), "b": warner(p="2/3")}) for p in ("3/4", "4/5")
    )
    with pytest.raises(InvalidDesign, match="not those of the factors"):
        replace(both, channel=other.channel)
