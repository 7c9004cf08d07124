from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import deniable as dn
from deniable import documents
from deniable.documents import Response
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.order.ladders import Ladder, Relaxation
from deniable.order.relaxation import best_ladder, ladder, relax
from deniable.responses import respond
from deniable.types.ladder.respond import degrade, upgrade
from deniable.types.ladder.respond import respond as release_planned
from tests.support.ladders import small
from tests.support.seeded import Seeded

every_ladder = pytest.mark.parametrize("name", sorted(small()))


@every_ladder
def test_ladders_travel(name: str) -> None:
    stages = small()[name]
    again = Ladder.from_json(stages.to_json())
    assert again == stages
    assert (again.designs, again.steps, again.hash) == (
        stages.designs,
        stages.steps,
        stages.hash,
    )
    assert hash(again) == hash(stages)


@every_ladder
def test_what_is_drawn_does_not_depend_on_the_journey(name: str) -> None:
    stages = small()[name]
    again = Ladder.from_json(stages.to_json())
    answer = stages.categories[0]
    assert release_planned(again, answer, source=Seeded(name)) == release_planned(
        stages, answer, source=Seeded(name)
    )


@every_ladder
def test_planned_and_open_ended_responses_belong_to_their_stages(name: str) -> None:
    stages, source = small()[name], Seeded(name)
    answer = stages.categories[-1]
    planned = release_planned(stages, answer, source=source)
    assert [response.design for response in planned] == [
        design.hash for design in stages
    ]
    responses = [respond(stages.designs[0], answer, source=source)]
    for rung in stages.relaxations:
        responses.append(upgrade(rung, responses[-1], answer, source=source))
    assert [stages.stage(response.design) for response in responses] == list(
        range(len(stages))
    )
    for rung, response in zip(
        reversed(stages.relaxations), reversed(planned), strict=False
    ):
        assert degrade(rung, response, source=source).design == rung.old.hash


def sealed(body: dict[str, object]) -> str:
    return documents.seal("ladder", body)


def test_a_step_that_does_not_fit_is_refused() -> None:
    stages = small()["mixture"]
    body = documents.unseal("ladder", stages.to_json())
    shares = body["steps"][0]["shares"]
    shares[0][2] = str(Fraction(shares[0][2]) + Fraction(1, 7))
    with pytest.raises(InvalidDesign, match="does not lead"):
        Ladder.from_json(sealed(body))
    shares[0][2] = "one half"
    with pytest.raises(UnreadableFile, match="shares"):
        Ladder.from_json(sealed(body))
    body["steps"][0] = {"kind": "derived"}
    with pytest.raises(UnreadableFile, match="does not lead"):
        Ladder.from_json(sealed(body))
    body["steps"][0] = {"kind": "guessed"}
    with pytest.raises(UnreadableFile, match="'guessed'"):
        Ladder.from_json(sealed(body))
    body["steps"] = []
    with pytest.raises(InvalidDesign, match="4 stages and 0 steps"):
        Ladder.from_json(sealed(body))


def test_an_edited_ladder_is_refused() -> None:
    text = small()["k_ary"].to_json()
    with pytest.raises(UnreadableFile, match="hash"):
        Ladder.from_json(text.replace('"size": 5', '"size": 6', 1))
    with pytest.raises(UnreadableFile):
        Ladder.from_json(text[: len(text) // 2])
    with pytest.raises(UnreadableFile, match="schema"):
        Ladder.from_json(small()["k_ary"].designs[0].to_json())


def test_closed_forms_leave_nothing_to_write() -> None:
    body = json.loads(small()["k_ary"].to_json())
    assert body["steps"] == [{"kind": "derived"}] * 3
    written = json.loads(small()["matrix"].to_json())
    assert {step["kind"] for step in written["steps"]} == {"written"}


def test_a_step_between_other_channels_is_refused() -> None:
    one, two, three = (dn.k_ary(3, epsilon=e) for e in (1, 2, 3))
    step = relax(one, two).step
    with pytest.raises(InvalidDesign, match="does not lead"):
        Relaxation(one, three, step)
    with pytest.raises(InvalidDesign):
        Relaxation(one, two, replace(step, share=step.share / 2))


def test_kernels_by_name() -> None:
    rung = relax(
        dn.k_ary(["a", "b", "c"], p="1/2"), dn.k_ary(["a", "b", "c"], p="3/4")
    )
    assert sum(rung.kernel(each, old="b", given="a") for each in "abc") == 1
    assert sum(rung.garbling(each, "a") for each in "abc") == 1
    assert rung.kernel("b", old="b", given="a") == Fraction(3, 10)


def test_small_ladders_are_written_out_and_large_ones_are_not() -> None:
    joint = small()["warner"].joint()
    assert (joint.responses, joint.answers) == (2**4, 2)
    assert joint.parity == small()["warner"].designs[-1].parity
    large = ladder(dn.k_ary(1000, epsilon=e) for e in (1, 2, 3))
    assert large.joint_parity == large.designs[-1].parity
    assert large.epsilon <= 3
    with pytest.raises(InvalidRequest, match="at most"):
        large.joint()
    with pytest.raises(InvalidRequest):
        assert relax(
            dn.subset(30, epsilon=1, t=3), dn.subset(30, epsilon=2, t=3)
        ).alone_parity


def test_responses_of_other_designs_and_wrong_answers_are_refused() -> None:
    one, two = (
        dn.k_ary(["red", "green", "blue"], 1),
        dn.k_ary(["red", "green", "blue"], 2),
    )
    rung = relax(one, two)
    with pytest.raises(Incompatible, match="belongs to the design"):
        upgrade(rung, respond(two, "red"), "red")
    with pytest.raises(InvalidAnswer) as refused:
        upgrade(rung, respond(one, "red"), "mauve")
    assert "mauve" not in str(refused.value)
    with pytest.raises(InvalidResponse):
        upgrade(rung, Response(one.hash, "mauve"), "red")
    with pytest.raises(InvalidResponse, match="never sends"):
        degrade(
            relax(dn.subset(4, t=2, p="3/5"), dn.subset(4, t=1, p="3/5")),
            Response(dn.subset(4, t=1, p="3/5").hash, "b1111"),
        )
    with pytest.raises(InvalidAnswer):
        release_planned(ladder([one, two]), "mauve")
    with pytest.raises(Incompatible, match="no stage"):
        ladder([one]).stage(two.hash)


def test_a_ladder_of_one_stage_is_a_response() -> None:
    stages = ladder([dn.warner(1)])
    (response,) = release_planned(stages, "yes", source=Seeded("one"))
    assert response == respond(dn.warner(1), "yes", source=Seeded("one"))
    assert stages.joint_parity == dn.warner(1).parity


def test_a_stage_occurs_once() -> None:
    with pytest.raises(InvalidDesign, match="twice"):
        ladder([dn.warner(1), dn.warner(1)])


def test_a_ladder_tells_itself() -> None:
    assert (
        repr(ladder([dn.k_ary(3, "1/2"), dn.k_ary(3, 1)]))
        == "Ladder(k_ary; ε = 0.5, 1)"
    )


@pytest.mark.parametrize("share", ["1e999999999", "1/0", "nan", None])
def test_a_share_that_does_not_fit_into_memory_is_refused(share: str | None) -> None:
    """Whoever writes a ladder can write its hash, too."""
    body = documents.unseal("ladder", small()["mixture"].to_json())
    body["steps"][0] = {"kind": "nested", "shares": [[1, 1, share, "0", "0"]]}
    with pytest.raises(UnreadableFile, match="three fractions"):
        Ladder.from_json(documents.seal("ladder", body))


def test_all_sizes_of_too_many_categories_are_not_gone_through() -> None:
    with pytest.raises(InvalidRequest, match="at most 10,000"):
        best_ladder(10**12, [1, 2])


def test_items_with_weights_are_no_stages_and_their_answers_are_not_repeated(
    tmp_path: Path,
) -> None:
    """It was an AttributeError, in four places."""
    designs = [dn.lpp_club(["tea", "secret"], epsilon=epsilon) for epsilon in (1, 2)]
    answer = {"secret": 0.5}
    with (
        dn.Ledger.create(tmp_path / "mine.ledger") as book,
        dn.Panel.create(str(tmp_path / "panel.db")) as panel,
    ):
        for attempt in (
            lambda: dn.ladder(designs),  # type: ignore[arg-type]
            lambda: dn.relax(*designs),  # type: ignore[arg-type]
            lambda: book.answer("drinks", answer, about=designs[0]),  # type: ignore[arg-type]
            lambda: panel.answer("drinks", {"anna": answer}, about=designs[0]),  # type: ignore[arg-type, dict-item]
        ):
            with pytest.raises(
                Incompatible,
                match="asks for key-value; expected one about categories",
            ) as refused:
                attempt()
            assert "secret" not in str(refused.value)
