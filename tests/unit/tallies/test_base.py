from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.designs import number_design
from deniable.errors import (
    IncompatibleTallies,
    InvalidResponse,
    UnreadableFile,
)
from deniable.order.relaxation import ladder
from deniable.tallies import Tally, tally
from deniable.tallies.base import AdditiveTally
from deniable.tallies.stages import StageTallies, count_stages
from deniable.types.drawn.count import DrawnTally
from deniable.types.drawn.count import tally as tally_drawn
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.count import tally as tally_edges
from deniable.types.edges.design import one_edge
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.count import tally as tally_items
from deniable.types.key_value.design import lpp_ddagger, pckv_grr, pckv_ue
from deniable.types.numbers.count import NumberTally
from deniable.types.numbers.count import tally as tally_numbers
from deniable.types.strings.count import StringTally
from deniable.types.strings.count import tally as tally_strings
from deniable.types.strings.design import Bloom, StringResponse, string_design

STRINGS = string_design(Bloom(4, cohorts=2), 1)
STAGES = ladder([dn.warner(1), dn.warner(2)])
COUNTED: list[AdditiveTally[Any]] = [
    tally(dn.warner(1), ["yes", "no", None]),
    count_stages(
        STAGES, [["yes", "no", "no"], ["yes", "yes", None]], reached=[2, 2, 1]
    ),
    tally_items(lpp_ddagger(["tea", "coffee"], 1), ["+ tea", "0 coffee", None]),
    tally_items(pckv_ue(["tea", "coffee"], 1, padding=1), ["+0", "0-"]),
    tally_items(pckv_grr(["tea", "coffee"], 1, padding=1), ["+ tea", "0"]),
    tally_edges(one_edge(["tax", "roads"], 1), ["1 tax", "1/2 roads", None]),
    tally_numbers(number_design(0, 80, 2), ["0", "20 … 40", None]),
    tally_drawn(
        dn.drawn_items([dn.warner(1), dn.warner(2)]), ["1: yes", "2: no", None]
    ),
    tally_strings(STRINGS, [StringResponse(STRINGS.hash, 1, "b0110")]),
    StringTally(STRINGS, [[1, 0, 0, 0], [0, 0, 0, 0]], [2, 0], missing=3),  # type: ignore[arg-type]
    dn.tally(dn.warner(1), ["yes", "no", None], by=["north", "south", "north"]),
]
EMPTY = {
    Tally: dn.warner(2),
    StageTallies: ladder([dn.warner(1), dn.warner(3)]),
    KeyValueTally: lpp_ddagger(["tea", "coffee"], 2),
    EdgeTally: one_edge(["tax", "roads"], 2),
    DrawnTally: dn.drawn_items([dn.warner(2), dn.warner(1)]),
    NumberTally: number_design(0, 81, 1),
    StringTally: string_design(Bloom(4, cohorts=2), 2),
    dn.GroupedTally: dn.warner(2),
}


@pytest.mark.parametrize("counted", COUNTED, ids=lambda each: type(each).__name__)
def test_tallies_add_up_and_are_read_back(counted: AdditiveTally[Any]) -> None:
    kind = type(counted)
    empty = kind.empty(counted.design)
    assert (empty.respondents, empty.missing) == (0, 0)
    assert counted + empty == counted == empty + counted
    assert sum([counted, empty, counted]) == counted + counted != counted
    assert (counted + counted).respondents == 2 * counted.respondents > 0
    assert (counted + counted).missing == 2 * counted.missing
    again = kind.from_json(counted.to_json(), counted.design)
    assert (again, hash(again)) == (counted, hash(counted))
    with pytest.raises(TypeError):
        1 + counted
    with pytest.raises(TypeError):
        counted + 0  # type: ignore[operator]


@pytest.mark.parametrize("counted", COUNTED, ids=lambda each: type(each).__name__)
def test_counts_cannot_be_changed_after_the_fact(
    counted: AdditiveTally[Any],
) -> None:
    parts = {
        each.name: getattr(counted, each.name)
        for each in fields(counted)
        if each.name != "design"
    }
    given = {
        name: np.array(part) if isinstance(part, np.ndarray) else part
        for name, part in parts.items()
    }
    again = type(counted)(counted.design, **given)
    for name, part in given.items():
        if isinstance(part, np.ndarray):
            np.add(part, 1, out=part)
            with pytest.raises(ValueError, match="read-only"):
                getattr(again, name)[...] = 0
            with pytest.raises(AttributeError):
                setattr(again, name, part)
    assert again == counted


@pytest.mark.parametrize("counted", COUNTED, ids=lambda each: type(each).__name__)
def test_tallies_of_two_designs_refuse_each_other(
    counted: AdditiveTally[Any],
) -> None:
    kind = type(counted)
    other = kind.empty(EMPTY[kind])  # type: ignore[index]
    with pytest.raises(IncompatibleTallies, match="cannot add"):
        counted + other
    with pytest.raises(IncompatibleTallies, match="this tally belongs to the"):
        kind.from_json(counted.to_json(), other.design)
    with pytest.raises(UnreadableFile):
        kind.from_json(counted.design.to_json(), counted.design)


def test_counts_whose_sum_is_beyond_64_bits_are_refused() -> None:
    design, most = dn.warner(1), 1 << 62
    assert Tally(design, [most, 0]).respondents == most
    for counts in ([most, most], [most, 1 << 40], [(1 << 63) - 1, 1]):
        with pytest.raises(InvalidResponse, match="add up to more"):
            Tally(design, counts)
    with pytest.raises(InvalidResponse, match="beyond 64 bits"):
        Tally(design, [most, 0]) + Tally(design, [most, 0])
