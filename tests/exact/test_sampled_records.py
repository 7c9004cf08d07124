"""Every sample and every response of items, edges and strings: totals and their errors are right on average."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import NotEstimable
from deniable.estimates.sampling import Asked, estimate_values
from deniable.types.edges.sampling import OneEdgeRows
from deniable.types.key_value.linear import CONDITIONAL, read_scaling
from deniable.types.key_value.sampling import KeyValueRows
from tests.support.keyvalue import designs

HALF = Fraction(1, 2)
PEOPLE = [{0: Fraction(1), 1: -HALF}, {1: HALF}, dict[int, Fraction]()]
DEGREES, WEIGHTS = [1, 2], [1, 0]
TOLD = {
    name: each
    for name, each in designs(2).items()
    if name not in ("vpp", "lpp_club, for the frequency")
}


def numbers_of_items(
    rows: dn.Responses[Any],
    sampling: dn.Sampling,
    scaling: str | None = None,
    sizes: list[int] | None = None,
) -> dn.SampledEstimate:
    """Return all quantities of items together, with one covariance."""
    if rows.design.asks == "edges":
        block = OneEdgeRows.of(rows).block()
    else:
        chosen = read_scaling(dn.tally(rows), scaling)
        conditional = chosen == CONDITIONAL
        block = KeyValueRows.of(rows, conditional=conditional, sizes=sizes).block()
    asked = Asked(rows.design, "items", rows.design.epsilon)
    return estimate_values([block], sampling, asked)


NUMBERS = dict.fromkeys(("key-value", "edges"), numbers_of_items)
Sent = Callable[[tuple[int, ...]], Iterator[tuple[dn.Responses[Any], float]]]


def sent_items(design: dn.KeyValueDesign) -> Sent:
    """Return all rows that some of these people may send, with their probability."""
    scheme = design.scheme
    table = [
        [float(scheme.probability(each, row)) for each in range(scheme.responses)]
        for row in PEOPLE
    ]

    def every(people: tuple[int, ...]) -> Iterator[tuple[dn.Responses[Any], float]]:
        for codes in product(range(scheme.responses), repeat=len(people)):
            chance = float(
                np.prod(
                    [
                        table[who][code]
                        for who, code in zip(people, codes, strict=True)
                    ]
                )
            )
            rows = (
                [scheme.vector(code) for code in codes]
                if scheme.KIND == "unary"
                else codes
            )  # type: ignore[attr-defined]
            yield (
                dn.Responses(design, {"response": np.array(rows, np.uint8)}),
                chance,
            )

    return every


def moments(
    sent: Sent,
    samples: list[tuple[int, ...]],
    sampling: dn.Sampling,
    *,
    sized: bool = False,
    **options: Any,
) -> Any:
    """Return mean, covariance and mean estimated covariance of the totals, over even samples and all responses.

    With `sized` it is known how many items each of the people has.
    """
    mean, square, told, device = 0.0, 0.0, 0.0, 0.0
    for people in samples:
        if sized:
            options["sizes"] = [len(PEOPLE[who]) for who in people]
        for rows, chance in sent(people):
            if not chance:
                continue
            # all quantities of items, with one covariance
            estimate = NUMBERS.get(rows.design.asks, dn.estimate)
            found = estimate(rows, sampling=sampling, **options).total
            part = chance / len(samples)
            mean, square = (
                mean + part * found.value,
                square + part * np.outer(found.value, found.value),
            )
            told, device = (
                told + part * found.cov_params(),
                device + part * found.device,
            )
    return mean, square - np.outer(mean, mean), told, device


def fits(design: dn.KeyValueDesign) -> bool:
    """Whether padding cuts off nothing of these people."""
    return design.scheme.one_each or design.scheme.multiplier >= 2


@pytest.mark.parametrize(
    "design",
    [pytest.param(each, id=name) for name, each in TOLD.items() if fits(each)],
)
def test_items_of_people_drawn_with_replacement(design: dn.KeyValueDesign) -> None:
    """Degrees and weights are right on average, and so is their whole covariance: nothing is added for the device."""
    samples, sampling = list(product(range(3), repeat=2)), dn.Sampling([1.5, 1.5])
    mean, true, told, _ = moments(
        sent_items(design), samples, sampling, scaling="fixed"
    )
    assert mean == pytest.approx([*DEGREES, *WEIGHTS])
    assert told == pytest.approx(true)


@pytest.mark.parametrize(
    "design",
    [pytest.param(each, id=name) for name, each in TOLD.items() if fits(each)],
)
def test_items_of_people_drawn_without_replacement(
    design: dn.KeyValueDesign,
) -> None:
    """What the device adds is told exactly for degrees, and a little too large for weights: squares are not told."""
    samples = list(combinations(range(3), 2))
    sampling = dn.Sampling(strata=["all"] * 2, population={"all": 3})
    mean, true, told, _ = moments(
        sent_items(design), samples, sampling, scaling="fixed"
    )
    assert mean == pytest.approx([*DEGREES, *WEIGHTS])
    assert np.diagonal(told)[:2] == pytest.approx(np.diagonal(true)[:2])
    for who in range(3):  # one of them, asked twice: the device alone varies
        _, alone, _, device = moments(
            sent_items(design),
            [(who, who)],
            dn.Sampling([1.0, 1.0]),
            scaling="fixed",
        )
        assert device[:2] == pytest.approx(np.diagonal(alone)[:2])
        assert (device[2:] > np.diagonal(alone)[2:] - 1e-9).all()


def test_padding_that_is_too_short_cuts_off() -> None:
    """As without a sampling: of two items in one place each counts half on average."""
    design = TOLD["pckv_grr, 1 places"]
    mean, *_ = moments(
        sent_items(design),
        list(product(range(3), repeat=2)),
        dn.Sampling([1.5, 1.5]),
    )
    assert mean == pytest.approx([0.5, 1.5, 0.5, 0.25])


@pytest.mark.parametrize("name", ["pckv_grr, 1 places", "pckv_ue, 1 places"])
def test_known_numbers_of_items_put_back_what_was_cut_off(name: str) -> None:
    """With each person's own number of items all totals are right on average, and so is their covariance."""
    mean, true, told, _ = moments(
        sent_items(TOLD[name]),
        list(product(range(3), repeat=2)),
        dn.Sampling([1.5, 1.5]),
        sized=True,
    )
    assert mean == pytest.approx([*DEGREES, *WEIGHTS])
    assert told == pytest.approx(true)


@pytest.mark.parametrize(
    "design",
    [dn.one_edge(2, 1), dn.one_edge(2, 2, family="rr3_dagger")],
    ids=["k-ary", "†"],
)
def test_edges(design: dn.EdgeDesign) -> None:
    """Edges of weight 1 and 0 to the first item, of 1/2 to the second: all is exact, also without replacement."""
    edges, table = [(0, 2), (0, 0), (1, 1)], design.choice.channel.floats()

    def every(people: tuple[int, ...]) -> Iterator[tuple[dn.Responses[Any], float]]:
        for codes in product(range(3), repeat=len(people)):
            own = [edges[who] for who in people]
            chance = float(
                np.prod(
                    [
                        table[code, weight]
                        for code, (_, weight) in zip(codes, own, strict=True)
                    ]
                )
            )
            rows = np.array(
                [
                    3 * item + code
                    for code, (item, _) in zip(codes, own, strict=True)
                ],
                np.uint8,
            )
            yield dn.Responses(design, {"response": rows}), chance

    whole = {"strata": ["all"] * 2, "population": {"all": 3}}
    cases: list[tuple[list[tuple[int, ...]], dn.Sampling]] = [
        (list(product(range(3), repeat=2)), dn.Sampling([1.5, 1.5])),
        (list(combinations(range(3), 2)), dn.Sampling(**whole)),  # type: ignore[arg-type]
    ]
    for samples, sampling in cases:
        mean, true, told, _ = moments(every, samples, sampling)
        assert mean == pytest.approx([2, 1, 1, 0.5])
        assert told == pytest.approx(true)


@pytest.mark.parametrize(
    ("hashes", "names"), [(1, ("Ann", "Dan", "Fay")), (2, ("Ann", "Cy", "Fay"))]
)
def test_strings(hashes: int, names: tuple[str, ...]) -> None:
    """Whoever is in which cohort, and whatever weights rows have: every string is told without bias."""
    bloom = dn.Bloom(4, hashes=hashes, cohorts=2)
    assert [
        len({bloom.filter(name, cohort) for name in names}) for cohort in (0, 1)
    ] == [2, 3]  # two meet in a cohort
    design, sampling = dn.string_design(bloom, epsilon=2), dn.Sampling([1.0, 4.0])
    hit, stray = map(float, design.bit)
    total = np.zeros(3)
    for cohorts in ((0, 1), (1, 0)):
        filters = [
            bloom.filter(name, cohort)
            for name, cohort in zip(names[1::-1], cohorts, strict=True)
        ]
        laws = [
            [_chance(bits, each, hit, stray) for bits in range(16)]
            for each in filters
        ]
        for bits in product(range(16), repeat=2):
            total += (
                laws[0][bits[0]]
                * laws[1][bits[1]]
                / 2
                * _sent(design, cohorts, bits, names, sampling).total.value
            )
    assert total == pytest.approx([4, 1, 0])


def test_strings_that_meet_in_all_cohorts_are_refused() -> None:
    design = dn.string_design(dn.Bloom(4, cohorts=2), epsilon=2)
    with pytest.raises(NotEstimable, match="do not tell 2 of 3 candidates apart"):
        _sent(design, (0, 1), (1, 2), ("Ann", "Cy", "Fay"), dn.Sampling([1.0, 4.0]))


def _chance(bits: int, true: int, hit: float, stray: float) -> float:
    rates = [hit if true >> place & 1 else stray for place in range(4)]
    return float(
        np.prod(
            [
                rate if bits >> place & 1 else 1 - rate
                for place, rate in enumerate(rates)
            ]
        )
    )


def _sent(
    design: dn.StringDesign,
    cohorts: Any,
    bits: Any,
    names: Any,
    sampling: dn.Sampling,
) -> Any:
    columns = {
        "cohort": np.array(cohorts),
        "response": np.array(bits, np.uint8)[:, None],
    }
    return dn.estimate(dn.Responses(design, columns), names, sampling=sampling)
