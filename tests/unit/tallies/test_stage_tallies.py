from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable import documents
from deniable.bulk import gradual
from deniable.errors import Incompatible, InvalidResponse, UnreadableFile
from deniable.order.relaxation import ladder
from deniable.tallies.stages import StageTallies, count_stages
from deniable.types.ladder.respond import respond as release_planned
from tests.support.ladders import small
from tests.support.seeded import Seeded

STAGES = ladder(dn.k_ary(["red", "green", "blue"], epsilon=e) for e in ("1/2", 1, 2))


def counted(n: int, name: str) -> StageTallies:
    source = Seeded(name)
    columns = gradual.release_planned(
        STAGES, np.arange(n) % 3, codes=True, source=source, fast=False
    )
    return count_stages(STAGES, columns, np.arange(n) % 4)


def test_everybody_counts_once_at_the_finest_stage_and_at_every_stage_below() -> (
    None
):
    found = counted(100, "count")
    assert [each.respondents for each in found.finest] == [25, 25, 25]
    assert [each.respondents for each in found.seen] == [75, 50, 25]
    assert found.respondents == 75


def test_counts_add_up_over_people() -> None:
    one, two = counted(100, "one"), counted(60, "two")
    both = one + two
    assert both.respondents == one.respondents + two.respondents
    assert both.seen == tuple(a + b for a, b in zip(one.seen, two.seen, strict=True))
    nobody = StageTallies.empty(STAGES)
    assert (nobody + one).finest == one.finest
    with pytest.raises(Incompatible, match="one ladder"):
        one + StageTallies.empty(small()["warner"])


def test_responses_may_come_one_by_one() -> None:
    source = Seeded("one by one")
    running = StageTallies.empty(STAGES)
    rows: list[list[str]] = []
    for answer in ["red", "blue", "blue", "green"] * 5:
        responses = release_planned(STAGES, answer, source=source)
        running = running.raised(responses[0])
        running = running.raised(responses[1], responses[0])
        running = running.raised(responses[2], responses[1])
        rows.append([each.symbol for each in responses])
    whole = count_stages(STAGES, list(map(list, zip(*rows, strict=True))))
    assert (running.seen, running.finest) == (whole.seen, whole.finest)


def test_a_previous_response_must_have_been_counted_and_be_coarser() -> None:
    first, second, _ = release_planned(STAGES, "red", source=Seeded("previous"))
    with pytest.raises(InvalidResponse, match="not counted"):
        StageTallies.empty(STAGES).raised(second, first)
    with pytest.raises(InvalidResponse, match="coarser"):
        StageTallies.empty(STAGES).raised(second).raised(first, second)


def test_sets_are_counted_too() -> None:
    stages = small()["rappor"]
    columns = gradual.release_planned(
        stages, [0, 1, 2, 2], codes=True, source=Seeded("sets"), fast=False
    )
    found = count_stages(stages, columns, [1, 4, 4, 2])
    assert [each.respondents for each in found.finest] == [1, 1, 0, 2]


def test_counts_travel() -> None:
    found = counted(40, "travel")
    again = StageTallies.from_json(found.to_json(), STAGES)
    assert (again.seen, again.finest) == (found.seen, found.finest)
    with pytest.raises(Incompatible, match="belongs to the ladder"):
        StageTallies.from_json(found.to_json(), small()["warner"])
    with pytest.raises(UnreadableFile):
        StageTallies.from_json(found.to_json()[:-5], STAGES)
    body = documents.unseal("stage-tallies", found.to_json())
    body["seen"] = body["seen"][:1]
    with pytest.raises(Incompatible, match="one for each"):
        StageTallies.from_json(documents.seal("stage-tallies", body), STAGES)


@pytest.mark.parametrize(
    ("columns", "reached"),
    [
        ([[0, 1], [0, 1]], None),
        ([[0], [0, 1], [0, 1]], [1, 2]),
        ([[0]] * 3, [4]),
        ([[0]] * 3, [-1]),
        ([[0]] * 3, [0.5]),
        ([[0]] * 3, [0, 1]),
    ],
)
def test_columns_that_do_not_fit_are_refused(
    columns: list[list[int]], reached: list[int] | None
) -> None:
    with pytest.raises(InvalidResponse):
        count_stages(STAGES, columns, reached)


def test_a_single_stage_for_all_is_no_column() -> None:
    with pytest.raises(InvalidResponse, match="columns"):
        count_stages(ladder([dn.warner(1)]), [["yes", "no"]], reached=1)
