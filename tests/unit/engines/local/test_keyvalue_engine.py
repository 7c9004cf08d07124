"""Three hands, one draw: scalar, NumPy and compiled give the same responses from the same bytes."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.sparse import coo_array

from deniable.bulk.edges import Edges
from deniable.chance import ScriptedSource
from deniable.engines.local.engine import Local
from deniable.errors import InvalidRequest
from deniable.types.edges.design import one_edge
from deniable.types.key_value.count import tally
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp,
    lpp_club,
    pckv_grr,
    pckv_ue,
    vpp,
)
from deniable.types.key_value.draw import collect, draw_all, read_edges
from deniable.types.key_value.schemes import GRID
from tests.support.hands import Counted
from tests.support.positions import words
from tests.support.seeded import seeded

WEIGHTS = [-1.0, 1.0, 0.5, -0.25, 0.1, 1e-4, 0.3 / 4096, 0.0]


def edges(people: int, items: int) -> coo_array:
    """Some edges, with people who have none and people who have all."""
    rng = np.random.default_rng(people * 1000 + items)
    there = rng.random((people, items)) < 0.3
    there[0], there[1] = False, True
    person, item = np.nonzero(there)
    return coo_array(
        (rng.choice(WEIGHTS, len(person)), (person, item)), shape=(people, items)
    )


@cache
def designs(items: int) -> dict[str, KeyValueDesign]:
    some = max(1, items // 3)
    return {
        "vpp": vpp(items, 1),
        "lpp": lpp(items, 1, 1.5, fake_weight=0.3),
        "club": lpp_club(items, 2),
        "ue": pckv_ue(items, 1, padding=some),
        "ue of few positions": pckv_ue(items, a=0.65, b=0.75, p=0.8, padding=some),
        "ue of two words": pckv_ue(
            items, a="1/3", b="0.7654321", p="0.123456789", padding=1
        ),
        "grr": pckv_grr(items, 2, padding=some),
        "grr of few positions": pckv_grr(items, a=0.5, p=0.8, padding=items),
        "grr of two words": pckv_grr(
            items, a="0.1234567", p="0.87654321", padding=1
        ),
    }


CASES = [
    pytest.param(items, name, id=f"{items} {name}") for items in (1, 2, 7, 40) for name in designs(items)
]  # fmt: skip


def scalar(design: KeyValueDesign, known: Edges, source: Counted) -> list[int]:
    drawn = []
    for person in range(known.people):
        own = slice(known.start[person], known.start[person + 1])
        weights = [
            Fraction(round(Fraction(each) * GRID), GRID)
            for each in known.weight[own].tolist()
        ]
        drawn.append(
            design.scheme.draw_response(
                dict(zip(known.item[own].tolist(), weights, strict=True)), source
            )
        )
    return drawn


def numbers(responses: np.ndarray) -> list[int]:
    if responses.ndim == 1:
        return list(responses.tolist())
    return [
        sum(symbol * 3**place for place, symbol in enumerate(row))
        for row in responses.tolist()
    ]


@pytest.mark.parametrize(("items", "name"), CASES)
@pytest.mark.parametrize("fast", [False, True], ids=["numpy", "compiled"])
def test_the_same_bytes_give_the_same_responses(
    items: int, name: str, fast: bool
) -> None:
    design, given = designs(items)[name], edges(60, items)
    known = read_edges(design, given)
    sources = [Counted(b"", seeded(f"{items} {name}")) for _ in range(3)]
    expected = scalar(design, known, sources[0])
    drawn = draw_all(design, given, source=sources[1], fast=fast)
    assert numbers(drawn) == expected
    assert sources[1].used == sources[0].used
    counted = collect(design, given, source=sources[2], fast=fast)
    assert counted == tally(design, drawn)
    assert counted.respondents == 60


def test_a_word_that_no_place_owns_is_thrown_away() -> None:
    """Three places: 2^64 leaves 1 over, so only the largest word is thrown away, for those who have three."""
    design = pckv_grr(5, 1, padding=3)
    given = coo_array(([1.0], ([0], [2])), shape=(2, 5))
    script = b"".join(
        words(each, 1)
        for each in [(1 << 64) - 1, 0, 0, 0, (1 << 64) - 1, (1 << 64) - 2, 0, 0]
    )
    for fast in (False, True):
        source = ScriptedSource(script)
        draw_all(design, given, source=source, fast=fast)
        assert source.used == len(script)


def test_many_people_are_drawn_in_pieces_and_nobody_is_lost() -> None:
    rng = np.random.default_rng(2)
    people, items = 120_000, 30
    keys = np.unique(rng.integers(0, people * items, 400_000))
    given = coo_array(
        (rng.uniform(-1, 1, len(keys)), (keys // items, keys % items)),
        shape=(people, items),
    )
    for design in (
        lpp_club(items, 1),
        pckv_grr(items, 1, padding=3),
        pckv_ue(items, 1, padding=3),
    ):
        counted = collect(design, given)
        assert counted.respondents == people
    pieces = [Counted(b"", seeded("pieces")) for _ in range(2)]
    whole = draw_all(lpp_club(items, 1), given, source=pieces[0])
    known = read_edges(lpp_club(items, 1), given)
    last = Edges(
        1,
        items,
        known.start[-2:] - known.start[-2],
        known.item[known.start[-2] :],
        known.weight[known.start[-2] :],
    )
    pieces[1].read(pieces[0].used - 24)
    assert (
        draw_all(lpp_club(items, 1), last, source=pieces[1]).tolist()
        == whole[-1:].tolist()
    )


def test_nobody_at_all_responds_nothing() -> None:
    none = coo_array((0, 3))
    assert draw_all(lpp_club(3, 1), none).shape == (0,)
    assert draw_all(pckv_ue(3, 1, padding=1), none).shape == (0, 3)
    assert collect(pckv_ue(3, 1, padding=1), none, fast=True).respondents == 0
    alone = coo_array((4, 3))  # people without any item
    for design in (
        lpp_club(3, 1),
        pckv_ue(3, 1, padding=1),
        pckv_grr(3, 1, padding=1),
    ):
        for fast in (False, True):
            assert collect(design, alone, fast=fast).respondents == 4


def test_too_many_items_for_one_word_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="expected at most 16,777,216"):
        draw_all(lpp_club((1 << 24) + 1, 1), coo_array((1, (1 << 24) + 1)))


def test_people_of_a_table_stand_in_no_order_unless_they_are_listed() -> None:
    """Which item somebody has is sent as it is here, and so tells where in the table they stood."""
    names = [f"number {each}" for each in range(300)]
    design = one_edge(names, 1)
    table = {"person": names, "item": names, "weight": [1.0] * 300}
    shuffled = (Local().respond_all(design, table).columns["response"] // 3).tolist()
    assert sorted(shuffled) == list(range(300)) != shuffled
    assert (
        Local().respond_all(design, table, people=300).columns["response"] // 3
    ).tolist() != list(range(300))
    listed = (
        Local().respond_all(design, table, people=names[::-1]).columns["response"]
        // 3
    )
    assert listed.tolist() == list(range(300))[::-1]
