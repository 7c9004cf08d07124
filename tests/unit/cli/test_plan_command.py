from __future__ import annotations

import json
from pathlib import Path

import pytest

import deniable as dn
from deniable.designs import Design
from tests.support.commands import done, run

DIE = dn.forced_response("2/3", "1/6", "1/6")
CASES = {
    "size for a power": ("size {die} --share 10% --power 80%", "Ask 241 people"),
    "size for a width": (
        "size {die} --share 1/5 --width 0.12 --assurance 80%",
        "Ask 524 people",
    ),
    "width": ("width {die} --share 20% -n 505", "With 505 respondents"),
    "total": (
        "total {die} -n 1000 --shares 0.9,0.1 --studies 50",
        "With 1,000 respondents the total squared error",
    ),
    "detect": ("detect {die} -n 300", "With 300 respondents a share of"),
    "difference": (
        "difference {die} --shares 0.3,0.2 -n 600,400",
        "With 600 and 400 respondents",
    ),
    "against direct": (
        "difference {die} direct --shares 0.3,0.2 --power 80%",
        "Ask 990 people, 637 and 353",
    ),
    "by answer": (
        "by-answer {die} --share 12% --sd 620 --gap 2150 --within 150",
        "Among the 12% with the answer, the mean is known to ± 150",
    ),
    "split": (
        "split {die} direct --shares 0.3,0.2 -n 1000 --costs 2,1",
        "Ask 561 people",
    ),
    "two samples": (
        "two-samples --p 7/10,0 --share 20% --innocuous 50% -n 1000",
        "Ask 752 people",
    ),
    "cheaters": (
        "cheaters --p 1/5,4/5 --share 15% --cheating 5% -n 600,400",
        "With 600 and 400 respondents",
    ),
    "imperfect test": (
        "prevalence --share 10% --width 0.06 --sensitivity 90% --specificity 98% --cost 5",
        "Test 1,128 people",
    ),
    "list experiment": (
        "list-experiment --share 10%",
        "Ask 1,248 people in each arm",
    ),
    "padding": (
        "padding --items 6 -e 4 -n 300 --shares 0=10%,1=30%,2=30%,3=0.21,6=9% --family pckv_grr",
        "Pad to 3 places with pckv_grr",
    ),
    "people and padding": (
        "padding --items tea,coffee,milk -e 4 --within 0.05 --shares 1=0.5,2=1/2",
        "Ask 1,331 people. Pad to 2 places",
    ),
    "caps": (
        "caps --factor-yes 5 --factor-no 2",
        "Ask for the truth with a probability of 44.4%",
    ),
    "compliance": (
        "compliance {die} --share 15% -n 500 --failing 20%",
        "If 20% of people always send",
    ),
    "designs": ("designs -e 1 -n 1000", "At ε = 1 and with 1,000 respondents"),
    "crossover": (
        "crossover {die} --share 20% --lying 30%",
        "From 98 respondents on",
    ),
    "simulate": (
        "simulate {die} --share 20% -n 200 --studies 50",
        "Of 50 simulated studies",
    ),
}


def words(case: str, folder: Path) -> list[str]:
    file = folder / "die.json"
    file.write_text(DIE.to_json())
    return ["plan", *CASES[case][0].format(die=file).split()]


@pytest.mark.parametrize("case", CASES)
def test_the_answer_comes_in_a_sentence_first(tmp_path: Path, case: str) -> None:
    asked = words(case, tmp_path)
    told = done(*asked).stdout
    assert told.startswith(CASES[case][1])
    facts = json.loads(done(*asked, "--json").stdout)
    assert facts["sentence"].startswith(CASES[case][1][:20])
    assert all(name in told.replace(" ", "_") for name in facts["lines"][0])


def test_a_crossing_is_drawn_as_text_or_as_a_picture(tmp_path: Path) -> None:
    asked = words("crossover", tmp_path)
    assert "●" in done(*asked).stdout
    for ending, begin in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        file = tmp_path / f"chart{ending}"
        assert "●" not in done(*asked, "--chart", file).stdout
        assert file.read_bytes().startswith(begin)
    again = run(*asked, "--chart", tmp_path / "chart.png")
    assert again.exit_code != 0
    assert "chart.png" in again.stderr


def test_the_best_design_under_caps_is_written(tmp_path: Path) -> None:
    out = tmp_path / "best.json"
    done("plan", "caps", "--epsilon", "1", "--out", out)
    assert 0.999 < Design.from_json(out.read_bytes()).epsilon <= 1


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("size {die} --share 10%", "either a width or a power"),
        ("size {die} --share ten --power 80%", "ten"),
        ("difference {die} --shares 0.3 -n 600,400", "two numbers with a comma"),
        ("difference {die} --shares 0.3,0.2 -n 600.5,400", "two whole numbers"),
        (
            "difference {die} --shares 0.3,0.2",
            "a number of respondents for each group",
        ),
    ],
)
def test_mistakes_are_told(tmp_path: Path, asked: str, why: str) -> None:
    file = tmp_path / "die.json"
    file.write_text(DIE.to_json())
    result = run("plan", *asked.format(die=file).split())
    assert result.exit_code == 2
    assert why in result.stderr


def test_a_share_that_is_no_number_is_told_as_the_shell_writes_numbers(
    tmp_path: Path,
) -> None:
    done("design", "warner", "--epsilon", 1, "--out", tmp_path / "w.json")
    refused = run(
        "plan", "size", tmp_path / "w.json", "--share", "ten", "--power", "80%"
    )
    assert refused.exit_code == 2
    assert (
        "'--share': 'ten' is no number; expected one such as 0.1, 1/10 or 10%.\n"
        in refused.stderr
    )


@pytest.mark.parametrize("written", ["10%", "10 %", "0.1", ".1", "1/10"])
def test_a_share_is_read_however_it_is_written(tmp_path: Path, written: str) -> None:
    done("design", "warner", "--epsilon", 1, "--out", tmp_path / "w.json")
    given = done(
        "plan",
        "width",
        tmp_path / "w.json",
        "--share",
        written,
        "-n",
        500,
        "--level",
        "95%",
        "--json",
    )
    assert (
        given.stdout
        == done(
            "plan",
            "width",
            tmp_path / "w.json",
            "--share",
            "10%",
            "-n",
            500,
            "--json",
        ).stdout
    )


def test_a_percentage_without_its_sign_is_told_how_to_write_it(
    tmp_path: Path,
) -> None:
    design = tmp_path / "w.json"
    done("design", "warner", "--epsilon", 1, "--out", design)
    for words in (
        ("plan", "width", design, "--share", "10", "-n", 500),
        ("plan", "difference", design, "--shares", "10,20", "--power", "80%"),
        ("estimate", design, "-", "--level", "10"),
        ("audit", design, "--level", "10"),
    ):
        refused = run(*words)
        assert refused.exit_code == 2
        assert "'10' is no share; expected one from 0 to 1" in refused.stderr
        assert "write 10% for 10 of 100" in refused.stderr
