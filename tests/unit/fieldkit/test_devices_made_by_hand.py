"""A device makes exactly the channel that its outcomes have, and reveals no more than the design asked for."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import deniable as dn
from deniable.designs import FAMILIES, Design
from deniable.errors import DeniableError, InvalidRequest
from deniable.fieldkit import PhysicalDevice, nearest_devices
from deniable.fieldkit.physical import SIZES


def makeable() -> list[tuple[str, Design]]:
    found = []
    for name in sorted(FAMILIES):
        for at, design in enumerate(FAMILIES[name].designs()):
            try:
                nearest_devices(design, ["spinner"])
            except DeniableError:
                continue
            found.append((f"{name}-{at}", design))
    return found


DESIGNS = [pytest.param(design, id=name) for name, design in makeable()]


def walked(device: PhysicalDevice) -> dict[tuple[str, str], Fraction]:
    """Go through every outcome and every answer, and count what is said."""
    design, outcomes = (
        device.asked,
        [each for each in device.instructions for _ in range(each.count)],
    )
    said = [
        (design.symbols[outcome.says[x]], answer)
        for outcome in outcomes
        for x, answer in enumerate(design.categories)
    ]  # fmt: skip
    return {pair: Fraction(said.count(pair), len(outcomes)) for pair in said}


def brute_parity(
    cells: dict[tuple[str, str], Fraction], design: Design
) -> float | Fraction:
    rows = [
        [cells.get((symbol, answer), Fraction(0)) for answer in design.categories]
        for symbol in design.symbols
    ]
    return max(
        math.inf if not min(row) else max(row) / min(row) for row in rows if max(row)
    )


def test_most_families_can_be_made() -> None:
    assert len(DESIGNS) > 50


@pytest.mark.parametrize("design", DESIGNS)
def test_the_design_of_a_device_is_that_of_its_outcomes(design: Design) -> None:
    for device in nearest_devices(design):
        cells = walked(device)
        for symbol in design.symbols:
            for answer in design.categories:
                assert device.design.probability(symbol, given=answer) == cells.get(
                    (symbol, answer), 0
                )
        assert device.outcomes in SIZES[device.kind]
        assert min(each.count for each in device.instructions) >= 1


@pytest.mark.parametrize("design", DESIGNS)
def test_a_device_reveals_no_more_than_was_asked_for_and_still_something(
    design: Design,
) -> None:
    for device in nearest_devices(design):
        parity = brute_parity(walked(device), design)
        assert 1 < parity <= design.parity
        assert device.design.parity == parity


@pytest.mark.parametrize("design", DESIGNS)
def test_the_distance_is_the_largest_difference(design: Design) -> None:
    for device in nearest_devices(design):
        pairs = [
            (symbol, answer)
            for symbol in design.symbols
            for answer in design.categories
        ]
        far = max(
            abs(
                walked(device).get(pair, 0)
                - design.probability(pair[0], given=pair[1])
            )
            for pair in pairs
        )
        assert device.distance == far
        assert device.exact == (device.design == design) == (far == 0)


@pytest.mark.parametrize("p", ["3/4", "7/10", "2/3", "5/6", "51/100"])
def test_no_spinner_is_nearer(p: str) -> None:
    """Every spinner for Warner's design, gone through one by one."""
    (device,) = nearest_devices(dn.warner(p=p), ["spinner"])
    asked = Fraction(p)
    every = [
        Fraction(n - f, n)
        for n in SIZES["spinner"]
        for f in range(1, n // 2 + 1)
        if n > 2 * f
    ]
    assert device.distance == min(asked - each for each in every if each <= asked)
    assert device.exact


def test_an_irrational_design_gets_the_nearest_within() -> None:
    (device,) = nearest_devices(dn.warner(1), ["spinner"])
    assert device.design.epsilon <= 1
    assert not device.exact
    assert device.design.name == "matrix"
    every = [
        Fraction(n - f, n)
        for n in SIZES["spinner"]
        for f in range(1, n // 2 + 1)
        if n > 2 * f
    ]
    asked = dn.warner(1).probability("yes", given="yes")
    assert device.design.probability("yes", given="yes") == max(
        each for each in every if each <= asked
    )


@pytest.mark.parametrize(
    ("design", "said"),
    [
        (dn.local_hashing(5, epsilon=1), "codes"),
        (dn.unary(100, epsilon=1), "100 categories"),
        (dn.k_ary(9, epsilon=1), "9 categories"),
        (dn.unary(3, epsilon=1), "no spinner, card, die or coin"),
        (dn.direct(["no", "yes"]), "needs no device"),
        (dn.product({"a": dn.warner(1), "b": dn.warner(1)}), "2 questions together"),
        (dn.k_ary(["x" * 60, "y"], epsilon=1), "60 letters"),
        (
            dn.number_design(0, 10, epsilon=1),
            "expected a design for one question with categories",
        ),
        (dn.warner(p="501/1000"), "fine enough"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.asks,
)
def test_what_no_device_makes_is_refused_in_words(
    design: dn.AnyDesign, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said) as refused:
        nearest_devices(design)
    assert refused.value.hint


def test_a_kind_that_is_too_coarse_is_left_out() -> None:
    assert [each.kind for each in nearest_devices(dn.warner(p="11/20"))] == [
        "spinner",
        "cards",
        "dice",
    ]
    with pytest.raises(InvalidRequest, match="no coins is fine enough"):
        nearest_devices(dn.warner(p="11/20"), ["coins"])


@pytest.mark.parametrize("kinds", [[], ["roulette"]])
def test_unknown_kinds_are_refused(kinds: list[str]) -> None:
    with pytest.raises(
        InvalidRequest, match="expected some of spinner, cards, dice, coins"
    ):
        nearest_devices(dn.warner(1), kinds)
