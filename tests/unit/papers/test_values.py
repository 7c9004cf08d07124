from __future__ import annotations

import math

import pytest

from deniable.errors import InvalidRequest
from deniable_papers.run import (
    DOCUMENTS,
    FEWEST,
    Made,
    Reproduction,
    run,
    select,
    setting,
    uncovered,
)
from deniable_papers.values import (
    Content,
    Exhibit,
    Point,
    Printed,
    Setting,
    as_printed,
    as_text,
    close,
    judged,
    plain,
    simulated,
)


def entry(
    printed: object, right: object, erratum: str = "", digits: int | None = None
) -> Printed:
    return Printed(
        "000-x", "Eq.(1)", "a value", {"n": 2}, printed, right, digits, erratum
    )


def test_a_printed_number_agrees_to_half_a_unit_of_its_last_digit() -> None:
    number = entry(0.243, 0.24277, digits=3)
    assert number.against(0.24277).verdict == "agrees"
    assert entry(0.2425, 0.24277, digits=3).against(0.24277).verdict == "agrees"
    assert entry(0.244, 0.24277, digits=3).against(0.24277).verdict == "differs"
    assert number.against(0.2431).verdict == "differs", (
        "as printed, but not what is right"
    )


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (0.48, "the paper is wrong"),
        (0.08, "differs"),
        (0.5, "differs"),
        (math.inf, "differs"),
    ],
)
def test_an_erratum_is_only_met_by_the_corrected_value(
    ours: float, verdict: str
) -> None:
    assert entry(0.08, 0.48, "0.1").against(ours).verdict == verdict


@pytest.mark.parametrize(
    ("ours", "verdict"), [(16, "holds with a condition"), (17, "differs")]
)
def test_a_condition_is_told_with_its_erratum_and_asks_for_the_right_value(
    ours: int, verdict: str
) -> None:
    value = Printed(
        "003-x", "Table 2", "N", {}, None, 16, 0, "3.7", "the cell is blank"
    ).against(ours)
    assert value.verdict == verdict
    assert judged(value) == (
        "differs"
        if ours == 17
        else "holds with a condition: the cell is blank (erratum 3.7)"
    )


def test_an_erratum_that_is_none_is_told() -> None:
    assert entry(0.48, 0.48, "0.1").against(0.48).verdict == "differs"


@pytest.mark.parametrize(
    ("wanted", "ours", "same"),
    [
        ([1, 2], [1, 2 + 1e-12], True),
        ([1, 2], [1, 2, 3], False),
        ([1, 2], 1, False),
        ({"a": 1.0}, {"a": 1.0, "b": 2}, True),
        ({"a": 1.0}, {"b": 1.0}, False),
        (None, None, True),
        (None, 16, False),
        ("unique", [20.0, 20.0], False),
        ("<= 0.25", 0.28, False),
        (1.0, "1", False),
        (math.inf, math.inf, True),
    ],
)
def test_structures_are_compared_part_by_part(
    wanted: object, ours: object, same: bool
) -> None:
    assert close(wanted, ours) is same


def test_points_are_flagged_beyond_four_standard_errors() -> None:
    assert not Point("a", 1.0, 1.4, 0.1001).flagged
    assert Point("a", 1.0, 1.41, 0.1).flagged
    assert Point.of("a", 2.0, [2.0, 2.0, 2.0]).distance == 0
    assert Point.of("a", 2.1, [2.0, 2.0, 2.0]).distance == math.inf


def test_words_for_values() -> None:
    wrong = entry(101011, 101010, "3.7", digits=0).against(101010)
    assert (as_printed(wrong), as_text(wrong), judged(wrong)) == (
        "101,011",
        "101,010",
        "the paper is wrong (erratum 3.7)",
    )
    assert as_printed(entry(0.84, 0.83997, digits=3).against(0.83997)) == "0.840"
    assert plain([math.inf, {"a": (1, wrong)}, None]) == [
        "inf",
        {"a": [1, 101010]},
        None,
    ]


def test_a_flagged_point_is_named() -> None:
    content = Content(
        points=(Point("at 1", 1.0, 1.0, 0.1), Point("at 2", 1.0, 2.0, 0.1))
    )
    assert (
        simulated(content)
        == "2 simulated points, 1 flagged: at 2: 10.0 standard errors."
    )
    assert [point.where for point in content.flagged] == ["at 2"]


def test_exhibits_are_found_by_kind_and_number() -> None:
    (found,) = select("minimax", [("table", "1")])
    assert (found.name, found.command) == (
        "minimax-table-1",
        "deniable-papers minimax --table 1",
    )
    names = [exhibit.name for exhibit in select("all")]
    assert (
        len(set(names))
        == len(names)
        == sum(len(document.exhibits) for document in DOCUMENTS)
    )


@pytest.mark.parametrize(
    ("name", "wanted", "told"),
    [
        (
            "warner",
            [],
            "expected one of rr3, minimax, binary, cards, gradual, or all",
        ),
        ("cards", [("table", "7")], "expected one of 1, 2"),
        ("binary", [("table", "1")], "it has no table that is made again"),
        ("all", [("table", "1")], "expected one document"),
    ],
)
def test_what_does_not_exist_is_refused(
    name: str, wanted: list[tuple[str, str]], told: str
) -> None:
    with pytest.raises(InvalidRequest, match=told):
        select(name, wanted)  # type: ignore[arg-type]


def test_what_nothing_compares_is_listed() -> None:
    assert "000-eq27" in list(uncovered([]))
    assert Reproduction((), 100, whole=True).uncovered == list(uncovered([]))
    assert Reproduction((), 100).uncovered == []


def test_a_run_counts_verdicts_and_tells_its_progress() -> None:
    contents = (
        Content((entry(1, 1).against(1),)),
        Content((entry(1, 2, "0.1").against(2), entry(1, 1).against(3))),
    )

    def exhibit(number: int) -> Exhibit:
        return Exhibit(
            "rr3",
            "lemma",
            str(number),
            "",
            lambda _: contents[number],
            weight=1 + 2 * number,
        )

    told: list[tuple[str, float]] = []
    handed: list[Made] = []
    results = run(
        [exhibit(0), exhibit(1)],
        setting(FEWEST),
        progress=lambda made, share: told.append((made.number, share)),
        on_made=handed.append,
    )
    assert results.counts["number"] == {
        "agrees": 1, "holds with a condition": 0, "the paper is wrong": 1, "differs": 1
    }  # fmt: skip
    assert not any(results.counts["formula"].values())
    assert [value.ours for value in results.differing] == [3]
    assert told == [("0", 0.0), ("1", 0.25)]
    assert tuple(handed) == results.made


def test_too_few_repetitions_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="at least 100"):
        setting(99)
    assert isinstance(setting(100), Setting)
