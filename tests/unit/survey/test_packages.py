"""Parameters of other packages mean the designs that the packages invert, and what is ambiguous is asked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import deniable as dn
from deniable.designs import Design
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.survey.packages import _READERS, in_words
from tests.support.commands import run
from tests.support.rational import table

READ: list[tuple[str, str, dict[str, Any], Design]] = [
    ("RRreg", "Warner", {"p": "0.8"}, dn.warner(p="4/5")),
    ("RRreg", "Warner", {"p": ["0.8"]}, dn.warner(p="4/5")),
    ("RRreg", "Crosswise", {"p": 0.25}, dn.crosswise("1/4")),
    ("RRreg", "Triangular", {"p": 0.25}, dn.triangular("1/4")),
    ("RRreg", "Mangat", {"p": 0.7}, dn.mangat("7/10")),
    (
        "RRreg",
        "FR",
        {"p": [0.1, 0.2]},
        dn.forced_response("7/10", yes="1/5", no="1/10"),
    ),
    (
        "RRreg",
        "FR",
        {"p": [0.1, 0.05, 0.1, 0.15]},
        dn.forced_choice(["1/10", "1/20", "1/10", "3/20"]),
    ),
    ("RRreg", "UQTknown", {"p": [0.6, 0.3]}, dn.simmons(p="3/5", b="3/10")),
    ("RRreg", "Kuk", {"p": [0.8, 0.3], "Kukrep": 3}, dn.kuk("4/5", "3/10", draws=3)),
    (
        "RRreg",
        "custom",
        {"p": [[0.8, 0.1], [0.2, 0.9]]},
        dn.matrix([["4/5", "1/10"], ["1/5", "9/10"]]),
    ),
    (
        "rr",
        "forced-known",
        {"p": 2 / 3, "p1": 1 / 6, "p0": 1 / 6},
        dn.forced_response("2/3", "1/6", "1/6"),
    ),
    ("rr", "mirrored", {"p": 0.7}, dn.mirrored("7/10")),
    ("rr", "disguised", {"p": 0.7}, dn.disguised("7/10")),
    ("rr", "unrelated-known", {"p": 0.7, "q": 0.2}, dn.simmons(p="7/10", b="1/5")),
    ("GLMMRR", "Warner", {"RRp1": 0.8, "RRp2": 0}, dn.warner(p="4/5")),
    ("GLMMRR", "Crosswise", {"RRp1": 0.25}, dn.crosswise("1/4")),
    ("GLMMRR", "Triangular", {"p1": 0.25}, dn.triangular("1/4")),
    ("GLMMRR", "UQM", {"p1": 0.7, "p2": 0.2}, dn.simmons(p="7/10", b="1/5")),
    ("GLMMRR", "Kuk", {"p1": 0.8, "p2": 0.3}, dn.kuk("4/5", "3/10")),
    ("GLMMRR", "DQ", {"p1": 1, "p2": 0}, dn.direct()),
    (
        "GLMMRR",
        "Forced",
        {"p1": "3/4", "p2": "2/3"},
        dn.forced_response("3/4", "1/6"),
    ),
    (
        "GLMMRR",
        "Forced",
        {"p1": "3/4", "p2": "1/6", "reading": "unconditional"},
        dn.forced_response("3/4", "1/6"),
    ),
    (
        "GLMMRR",
        "Forced",
        {"p1": "3/4", "p2": "1/6", "reading": "conditional"},
        dn.forced_response("3/4", "1/24"),
    ),
    ("RRTCS", "Warner", {"p": 0.7}, dn.warner(p="7/10")),
    (
        "RRTCS",
        "ForcedResponse",
        {"p1": 0.2, "p2": 0.1},
        dn.forced_response("7/10", yes="1/5", no="1/10"),
    ),
    ("RRTCS", "Horvitz", {"p": 0.5, "alpha": 0.1}, dn.simmons(p="1/2", b="1/10")),
    (
        "RRTCS",
        "SoberanisCruz",
        {"p": 0.5, "alpha": 0.1},
        dn.simmons(p="1/2", b="1/10"),
    ),
    (
        "RRTCS",
        "Mangat",
        {"p": 0.7, "alpha": 0.3, "t": 0.4},
        dn.mangat_unrelated("2/5", "7/10", "3/10"),
    ),
    (
        "RRTCS",
        "MangatSingh",
        {"p": 0.7, "t": 0.55},
        dn.mangat_singh("11/20", "7/10"),
    ),
    (
        "RRTCS",
        "MangatSinghSingh",
        {"p": 0.6, "alpha": 0.5},
        dn.mangat_singh_singh("3/5", "1/2"),
    ),
    ("RRTCS", "Devore", {"p": 0.7}, dn.devore("7/10")),
    ("RRTCS", "SinghJoarder", {"p": 0.6}, dn.singh_joarder("3/5")),
    (
        "RRTCS",
        "Kuk",
        {"p1": 0.6, "p2": 0.2, "k": 25},
        dn.kuk("3/5", "1/5", draws=25),
    ),
    (
        "RRTCS",
        "Christofides",
        {"mm": [1, 3, 2], "pm": [0.1, 0.6, 0.3]},
        dn.christofides(cards=[0.1, 0.3, 0.6]),
    ),
    ("Stata", "rrlogit", {"pwarner": 0.8}, dn.warner(p="4/5")),
    (
        "Stata",
        "rrreg",
        {"pyes": 0.1, "pno": 0.05},
        dn.forced_response("17/20", "1/10", "1/20"),
    ),
    ("Stata", "rrlogit", {}, dn.direct()),
    (
        "Stata",
        "rrlogit",
        {"pwarner": 0.8, "pyes": 0.1, "pno": 0.05},
        dn.binary("73/100", "78/100"),
    ),
    ("cWise", "crosswise", {"p": 0.2}, dn.crosswise("1/5")),
]


@pytest.mark.parametrize(("package", "model", "parameters", "meant"), READ)
def test_parameters_mean_a_design(
    package: str, model: str, parameters: dict[str, Any], meant: Design
) -> None:
    found = dn.survey_design(package.upper(), model.lower(), **parameters)
    # R's sixths have seventeen digits
    if package == "rr" and model == "forced-known":
        assert found.channel.floats() == pytest.approx(
            meant.channel.floats(), abs=1e-15
        )
    else:
        assert found == meant


def test_every_model_is_tried() -> None:
    assert {(package, model) for package, model, _, _ in READ} == {
        (package, model) for package, models in _READERS.items() for model in models
    }


def test_the_two_conventions_of_glmmrr_are_asked_with_what_each_would_give() -> None:
    with pytest.raises(InvalidRequest) as asked:
        dn.survey_design("GLMMRR", "Forced", p1="3/4", p2="1/6")
    told = str(asked.value)
    for reading, others, members, share in (
        ("conditional", "1/24 (0.04167)", "19/24 (0.7917)", "61.1%"),
        ("unconditional", "1/6 (0.1667)", "11/12 (0.9167)", "44.4%"),
    ):
        part = told[told.index(f'reading="{reading}"') :].partition("\n")[0]
        design = dn.survey_design(
            "GLMMRR", "Forced", p1="3/4", p2="1/6", reading=reading
        )
        assert others in part
        assert members in part
        assert share in part
        assert f"ε = {design.epsilon:.2f}"[:-1] in part


def test_where_only_one_reading_is_possible_nothing_is_asked() -> None:
    assert dn.survey_design("GLMMRR", "Forced", p1=0.75, p2=0) == dn.forced_response(
        "3/4", 0
    )
    with pytest.raises(InvalidRequest, match="sum to more than 1"):
        dn.survey_design(
            "GLMMRR", "Forced", p1="3/4", p2="2/3", reading="unconditional"
        )


@pytest.mark.parametrize(
    ("package", "model", "parameters", "told"),
    [
        (
            "SPSS",
            "Warner",
            {"p": 0.8},
            "expected one of RRreg, rr, GLMMRR, RRTCS, Stata, cWise",
        ),
        ("RRreg", "Tarot", {"p": 0.8}, "expected one of Warner"),
        ("RRreg", "UQTunknown", {"p": [0.8, 0.2]}, "unrelated_two_samples"),
        ("RRTCS", "HorvitzUB", {"p1": 0.6, "p2": 0.7}, "no independent samples"),
        ("RRreg", "Warner", {"p": 0.8, "q": 0.1}, "unexpected"),
        ("RRreg", "Warner", {}, "missing"),
        ("RRreg", "UQTknown", {"p": 0.8}, "expected two numbers"),
        ("RRreg", "FR", {"p": 0.8}, "no before yes"),
        ("rr", "forced-known", {"p": 0.5, "p1": 0.2, "p0": 0.2}, "do not sum to 1"),
        (
            "GLMMRR",
            "Forced",
            {"p1": 0.5, "p2": 0.2, "reading": "loose"},
            "expected one of conditional",
        ),
        (
            "RRTCS",
            "Christofides",
            {"mm": [1, 2, 4], "pm": [0.1, 0.3, 0.6]},
            "expected 1, 2, 3",
        ),
    ],
)
def test_what_is_not_known_is_refused(
    package: str, model: str, parameters: dict[str, Any], told: str
) -> None:
    with pytest.raises(InvalidRequest, match=told):
        dn.survey_design(package, model, **parameters)


def test_a_design_that_tells_nothing_is_refused() -> None:
    with pytest.raises(InvalidDesign):
        dn.survey_design("RRreg", "Warner", p=0.5)


def test_categories_take_the_place_of_no_and_yes() -> None:
    found = dn.survey_design(
        "RRreg", "FR", p=[0.1, 0.2], categories=["never", "ever"]
    )
    assert found.probability("ever", given="never") == Fraction(1, 5)
    kept = dn.survey_design(
        "RRreg", "Crosswise", p=0.25, categories=["never", "ever"]
    )
    assert list(kept.symbols) == ["different", "same"]
    assert table(kept.channel) == table(dn.crosswise("1/4").channel)


def test_words_say_which_response_speaks_for_membership() -> None:
    assert "It is 'different' that speaks for 'yes'." in in_words(
        dn.crosswise("1/4")
    )
    assert "speaks" not in in_words(dn.crosswise("3/4"))


def test_the_shell_reads_them_too() -> None:
    told = run("design", "read", "RRreg", "FR", "p=0.1,0.2").stdout
    assert "Whose answer is 'no' says 'yes' with probability 1/5 (0.2)" in told
    asked = run("design", "read", "GLMMRR", "Forced", "p1=0.75", "p2=1/6")
    assert asked.exit_code == 2
    assert 'reading="unconditional"' in asked.output
