"""People who were asked with different devices are taken together, and nothing of one device is lost."""

from __future__ import annotations

import math
from itertools import product

import pytest

import deniable as dn
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
)

CROSSWISE, DIRECT = dn.crosswise("1/4"), dn.direct()


def test_one_device_alone_is_what_it_is_by_itself() -> None:
    alone = dn.Tally(dn.forced_response("2/3", "1/6"), [250, 150])
    for method, same in (
        ("information", "inversion"),
        ("linear", "inversion"),
        ("likelihood", "likelihood"),
    ):
        assert dn.estimate([alone], method=method).params == pytest.approx(
            dn.estimate(alone, method=same).params
        )


@pytest.mark.parametrize("method", ["linear", "strata"])
def test_it_is_unbiased_over_every_world(method: str) -> None:
    """Three people with one device and two with another, each world with its probability at a share of 3/10."""
    designs, sizes, share = (dn.mangat("2/3"), dn.warner(p="4/5")), (3, 2), 0.3
    said = [
        0.7 * float(each.channel.probability(1, given=0))
        + share * float(each.channel.probability(1, given=1))
        for each in designs
    ]
    mean = 0.0
    for yes in product(range(4), range(3)):
        chance = math.prod(
            math.comb(n, y) * q**y * (1 - q) ** (n - y)
            for n, y, q in zip(sizes, yes, said, strict=True)
        )
        tallies = [
            dn.Tally(each, [n - y, y])
            for each, n, y in zip(designs, sizes, yes, strict=True)
        ]
        mean += chance * dn.estimate(tallies, method=method).params["yes"]
    assert mean == pytest.approx(share)


def test_rows_say_which_device_they_were_asked_with() -> None:
    responses, devices = [0, 1, None, 1, 0], ["RR", "DQ", "RR", "RR", "DQ"]
    counted = dn.tally(
        {"RR": CROSSWISE, "DQ": DIRECT}, responses, devices=devices, codes=True
    )
    assert [each.counts.tolist() for each in counted] == [[1, 1], [1, 1]]
    assert [each.missing for each in counted] == [1, 0]


def test_symbols_of_each_device_are_its_own() -> None:
    counted = dn.tally(
        {1: CROSSWISE, 2: DIRECT}, ["same", "yes", "different"], devices=[1, 2, 1]
    )
    assert [each.counts.tolist() for each in counted] == [[1, 1], [0, 1]]


def test_what_does_not_fit_is_refused() -> None:
    designs = {"RR": CROSSWISE, "DQ": DIRECT}
    with pytest.raises(
        InvalidResponse,
        match="row 2 was asked with 'XX'; expected one of 'RR', 'DQ'",
    ):
        dn.tally(designs, [0, 1], devices=["RR", "XX"], codes=True)
    with pytest.raises(InvalidResponse, match="2 responses and 1 devices"):
        dn.tally(designs, [0, 1], devices=["RR"], codes=True)
    with pytest.raises(InvalidRequest, match="devices="):
        dn.tally(designs, [0, 1])  # type: ignore[call-overload]  # on purpose
    with pytest.raises(InvalidRequest, match="a design for each device"):
        dn.tally({}, [], devices=[])
    with pytest.raises(InvalidRequest, match="devices does not go with"):
        dn.tally(CROSSWISE, [0], devices=["RR"])  # type: ignore[call-overload]  # on purpose
    with pytest.raises(Incompatible, match="different categories"):
        dn.estimate(
            [
                dn.Tally(CROSSWISE, [1, 2]),
                dn.Tally(dn.direct(["never", "ever"]), [1, 2]),
            ]
        )
    with pytest.raises(NotEstimable):
        dn.estimate([dn.Tally.empty(CROSSWISE), dn.Tally.empty(DIRECT)])
    with pytest.raises(InvalidRequest, match="inverse does not go with"):
        dn.estimate([dn.Tally(CROSSWISE, [1, 2])], inverse=[[1, 0], [0, 1]])  # type: ignore[call-overload]  # on purpose


def test_a_summary_tells_every_device_and_what_it_proves() -> None:
    told = str(
        dn.estimate(
            [
                dn.Tally(CROSSWISE, [140, 260]),
                dn.Tally(dn.triangular("1/4"), [240, 160]),
            ]
        ).summary()
    )
    assert "crosswise('no', 'yes'; ε = 1.099): 400" in told
    assert "Whoever sends 'neither' gives away the answer: it is 'no'." in told
    assert CROSSWISE.caveat in told
    assert "ε = ∞" in told


def test_devices_that_contradict_each_other_are_told() -> None:
    found = dn.estimate(
        [dn.Tally(CROSSWISE, [900, 1100]), dn.Tally(DIRECT, [1950, 50])]
    )
    assert [each.code for each in found.warnings] == ["stages-differ"]
    assert "devices differ" in found.warnings[0].text
    assert (
        dn.estimate(
            [dn.Tally(CROSSWISE, [520, 1480]), dn.Tally(DIRECT, [1950, 50])]
        ).warnings
        == ()
    )


def test_the_likelihood_stays_a_probability() -> None:
    found = dn.estimate(
        [
            dn.Tally(dn.forced_response("2/3", "1/6"), [180, 20]),
            dn.Tally(DIRECT, [50, 0]),
        ],
        method="likelihood",
    )
    assert found.params["yes"] == pytest.approx(0, abs=1e-9)
    assert 0 < found.interval("yes").high < 0.1


def test_one_epsilon_is_shown_with_the_same_digits_everywhere() -> None:
    """ln(64/21) = 1.11436… is rounded up to four digits beside a design, a tally and an estimate."""
    design = dn.crosswise("21/85")
    tally = dn.Tally(design, [60, 40])
    told = [repr(design), repr(tally), dn.estimate(tally).summary().title]
    assert all("ε = 1.115" in each for each in told)
