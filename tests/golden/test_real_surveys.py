"""Real surveys again: our estimates against what the R packages rr and RRTCS answer on the same rows.

The rows stay outside the project, because their terms are not known; where the folder `shared/data` beside the
repository is missing, these tests are left out and say so. The numbers are facts and stand here.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import NormalDist

import pytest

import deniable as dn
from deniable.estimates import mean_inverse
from deniable.plan import power
from tests.support.commands import done

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def rows_of(file: str) -> Path:
    """Return a file of rows, or leave the test out."""
    path = DATA / f"{file}.csv"
    if not path.exists():
        reason = f"left out: the rows of {file} are read from ../shared/data, which is not beside this repository"
        print(reason)
        pytest.skip(reason)
    return path


def column(file: str, name: str) -> list[str]:
    """Return one column of a file of rows, or leave the test out."""
    with rows_of(file).open(newline="") as rows:
        return [row[name] for row in csv.DictReader(rows)]


def words(column: list[str]) -> list[str | None]:
    """Read 0 and 1 as no and yes, and an empty cell as no response."""
    return [
        {"0": "no", "1": "yes", "": None}[cell.removesuffix(".0")] for cell in column
    ]


def test_nigeria_forced_response_by_a_die() -> None:
    tally = dn.tally(
        dn.forced_response("2/3", "1/6", "1/6"), words(column("nigeria", "rr.q1"))
    )
    assert (tally.respondents, tally.missing) == (2435, 22)
    assert tally.counts[1] / tally.respondents == pytest.approx(0.341273, abs=5e-7)
    found = dn.estimate(tally)
    assert found.params["yes"] == pytest.approx(0.26191, abs=5e-6)
    assert found.errors[1] == pytest.approx(0.01442, abs=5e-6)
    assert "22 sent no response" in str(found.summary())


def by_normal_quantile(found: dn.Estimate) -> tuple[float, float]:
    """Return RRTCS's interval, value ± z·error; `method="normal"` takes Student's quantile of n − 1 degrees."""
    reach = NormalDist().inv_cdf(0.975) * found.bse["yes"]
    return found.params["yes"] - reach, found.params["yes"] + reach


def test_warner_in_a_sample_without_replacement() -> None:
    found = dn.estimate(
        dn.tally(dn.warner(p="7/10"), words(column("WarnerData", "z"))),
        population=802,
    )
    assert found.params["yes"] == pytest.approx(0.45, abs=1e-12)
    assert found.cov_params()[1, 1] == pytest.approx(0.0122564, abs=5e-8)
    assert 802 * found.params["yes"] == pytest.approx(360.9, abs=0.05)
    assert 802**2 * found.cov_params()[1, 1] == pytest.approx(7883.34, abs=0.005)
    low, high = by_normal_quantile(found)
    assert (802 * low, 802 * high) == pytest.approx((186.878, 534.922), abs=5e-4)


def test_forced_response_in_a_sample_without_replacement() -> None:
    people = 10_000
    tally = dn.tally(
        dn.forced_response("3/5", "1/5", "1/5"),
        words(column("ForcedResponseData", "z")),
    )
    found = dn.estimate(tally, population=people)
    assert people * found.params["yes"] == pytest.approx(5133.3, abs=0.05)
    assert people**2 * found.cov_params()[1, 1] == pytest.approx(66_991, abs=0.5)
    low, high = by_normal_quantile(found)
    assert (people * low, people * high) == pytest.approx(
        (4626.04, 5640.62), abs=0.005
    )


SIX = {
    "copied": ("1/12", 0.8406, 0.0373),
    "fought": ("1/10", 0.4070, 0.0323),
    "bullied": ("2/3", 0.1221, 0.0366),
    "bullying": ("1/10", 0.1282, 0.0237),
    "drug": ("1/3", 0.1286, 0.0315),
    "sex": ("1/12", 0.0660, 0.0196),
}
"""Of each question the share of the unrelated one, and what RRTCS answers."""


@pytest.mark.parametrize(
    ("question", "b", "share", "error"),
    [(name, *rest) for name, rest in SIX.items()],
)
def test_six_unrelated_questions(
    question: str, b: str, share: float, error: float
) -> None:
    design = dn.survey_design("RRTCS", "Horvitz", p="1/2", alpha=b)
    tally = dn.tally(design, words(column("HorvitzDataRealSurvey", question)))
    assert tally.respondents == 710
    found = dn.estimate(tally, population=10_777)
    assert found.params["yes"] == pytest.approx(share, abs=5e-5)
    assert found.errors[1] == pytest.approx(error, abs=5e-5)
    assert f"ε = {EPSILONS[b]}" in found.summary().title


EPSILONS = {"1/12": "2.565", "1/10": "2.398", "1/3": "1.387", "2/3": "1.387"}
"""What each of the six questions reveals: one survey, one p, and still from 1.4 to 2.6."""


def test_a_tenth_too_few_days_shift_an_estimate_by_a_standard_error() -> None:
    """Born on the 15th to 25th is eleven days of a month and was counted as ten: A3 of the survey sheet."""
    rows = words(column("HorvitzDataRealSurvey", "drug"))
    ten, eleven = (
        dn.estimate(dn.tally(dn.simmons(p="1/2", b=b), rows)).params["yes"]
        for b in ("1/3", "0.3614")
    )
    assert (ten, eleven) == pytest.approx((0.1286, 0.1006), abs=1e-4)


def test_plagiarism_asked_with_a_crosswise_device_and_directly() -> None:
    """Rows of one file differ in their device; both together lie between what each says alone."""
    models, shares = column("Plagiarism", "RRmodel"), column("Plagiarism", "RRp1")
    designs = {
        each: dn.survey_design("GLMMRR", each, p1=p)
        for each, p in zip(models, shares, strict=True)
    }
    rows = [int(float(cell)) for cell in column("Plagiarism", "response")]
    crosswise, direct = dn.tally(
        {each: designs[each] for each in ("Crosswise", "DQ")},
        rows,
        devices=models,
        codes=True,
    )
    assert (crosswise.respondents, direct.respondents) == (620, 192)
    alone = [dn.estimate(each).params["yes"] for each in (crosswise, direct)]
    assert min(alone) < dn.estimate([crosswise, direct]).params["yes"] < max(alone)
    assert dn.estimate([crosswise, direct], method="strata").params[
        "yes"
    ] == pytest.approx((620 * alone[0] + 192 * alone[1]) / 812)


def test_minarets_asked_with_a_lie_detector() -> None:
    """RRreg: prevalence .87070 (.04112), honesty .63581 (.01734); asked directly, .432877 of 365 people.

    The detector's share is the upper end of an interval: below .5536 nobody who always says no would be a member.
    """
    designs = {"0": dn.direct(), "1": dn.mangat("2/12"), "2": dn.mangat("10/12")}
    conditions = [
        cell.removesuffix(".0") for cell in column("minarets", "condition")
    ]
    direct, first, second = dn.tally(
        designs, words(column("minarets", "rrt")), devices=conditions
    )
    found = dn.compliance.lie_detector([first, second])
    assert [each.respondents for each in (direct, first, second)] == [365, 564, 692]
    assert found.params == pytest.approx(
        {"yes": 0.87070, "truthful": 0.63581}, abs=5e-6
    )
    assert found.bse == pytest.approx(
        {"yes": 0.04112, "truthful": 0.01734}, abs=5e-6
    )
    assert dn.estimate(direct).params["yes"] == pytest.approx(0.432877, abs=5e-7)
    low = dn.compliance.cheating_detection([first, second]).params["yes, honest"]
    assert low == pytest.approx(0.5536, abs=5e-5)
    assert low > dn.estimate(direct).interval("yes").high


def test_kuk_with_25_cards() -> None:
    """Members draw red with 0.6, others with 0.2, 25 times each; the mean share of red is the customary estimate.

    RRTCS takes another unbiased estimate of the variance; the two agree within a part in two hundred. A response of 25
    draws is worth an ε of 27: the likelihood reads much more from it than the mean does, and so would anybody.
    """
    design = dn.kuk("3/5", "1/5", draws=25)
    tally = dn.tally(
        design, [int(cell) for cell in column("KukData", "z")], codes=True
    )
    found = dn.estimate(tally, population=802, inverse=mean_inverse(design))
    assert found.params["yes"] == pytest.approx(0.1335, abs=5e-5)
    assert found.cov_params()[1, 1] == pytest.approx(0.000654185, rel=0.005)
    assert dn.estimate(tally, population=802).errors[1] < 0.9 * found.errors[1]
    assert design.epsilon > 27


def test_christofides_with_five_cards() -> None:
    """No package's value is known to us for these rows; the two estimates of ours must agree within their errors."""
    design = dn.christofides(cards=["1/10", "1/5", "3/10", "1/5", "1/5"])
    tally = dn.tally(design, column("ChristofidesData", "z"))
    assert tally.respondents == 150
    mean = dn.estimate(tally, population=802, inverse=mean_inverse(design))
    by_hand = (
        sum((k + 1) * int(n) for k, n in enumerate(tally.counts)) / 150 - 3.2
    ) / (6 - 6.4)
    assert mean.params["yes"] == pytest.approx(by_hand, abs=1e-9)
    best = dn.estimate(tally, population=802)
    assert abs(best.params["yes"] - mean.params["yes"]) < mean.errors[1]


def test_the_nigerian_survey_was_large_enough() -> None:
    respondents = sum(
        answer is not None for answer in words(column("nigeria", "rr.q1"))
    )
    assert (
        power(
            dn.forced_response("2/3", "1/6", "1/6"),
            respondents,
            share=0.1,
            alpha=0.01,
        )
        > 0.9999
    )


# The same from the shell, as somebody has it who holds the files


def test_nigeria_from_the_shell(tmp_path: Path) -> None:
    """Share of yes .341273 and prevalence .26191 (.01442): what the R package rr answers on these rows."""
    design, counted = tmp_path / "design.json", tmp_path / "tally.json"
    done(
        "design",
        "forced_response",
        "--honest",
        "2/3",
        "--yes",
        "1/6",
        "--no",
        "1/6",
        "--out",
        design,
    )
    for words in (("--codes",), ("--value", "0=no", "--value", "1=yes")):
        done(
            "tally",
            design,
            rows_of("nigeria"),
            "--column",
            "rr.q1",
            *words,
            "--out",
            counted,
            "--force",
        )
        tally = json.loads(counted.read_text())
        assert tally["counts"][1] / tally["respondents"] == pytest.approx(
            0.341273, abs=5e-7
        )
        assert (tally["missing"], tally["declared"]["rows"]) == (22, 2457)
        yes = json.loads(done("estimate", design, counted, "--json").stdout)["rows"][
            1
        ]
        assert (yes["estimate"], yes["error"]) == pytest.approx(
            (0.26191, 0.01442), abs=5e-6
        )
    words = (
        "tally",
        design,
        rows_of("nigeria"),
        "--column",
        "rr.q1",
        "--codes",
        "--by",
        "civic",
        "--out",
        counted,
    )
    done(*words, "--force")
    groups = dn.GroupedTally.from_json(
        counted.read_text(), dn.Design.from_json(design.read_text())
    )
    assert (groups.respondents, groups.by, list(groups)) == (
        2435,
        ("civic",),
        ["False", "True", None],
    )


def test_six_questions_by_a_mapping_file(tmp_path: Path) -> None:
    """Shares and errors that the R package RRTCS answers: the table of shared/data/README.md."""
    mapping, counted = tmp_path / "six.toml", tmp_path / "six.json"
    text = 'values = { 0 = "no", 1 = "yes" }\n'
    for name, (b, *_) in SIX.items():
        done(
            "design",
            "read",
            "RRTCS",
            "Horvitz",
            "p=1/2",
            f"alpha={b}",
            "--out",
            tmp_path / f"{name}.json",
        )
        text += f'[columns.{name}]\ndesign = "{name}.json"\n'
    mapping.write_text(text)
    done("tally", mapping, rows_of("HorvitzDataRealSurvey"), "--out", counted)
    told = json.loads(
        done("estimate", mapping, counted, "--population", "10777", "--json").stdout
    )["estimates"]
    assert [each["column"] for each in told] == list(SIX)
    for each in told:
        b, share, error = SIX[each["column"]]
        yes = each["result"]["rows"][1]
        assert (yes["estimate"], yes["error"]) == pytest.approx(
            (share, error), abs=5e-5
        )
        assert f"ε = {EPSILONS[b]}" in each["result"]["title"]


def test_plagiarism_with_devices_from_the_shell(tmp_path: Path) -> None:
    """Rows of one file differ in their device: the mapping file names the column that says so."""
    (tmp_path / "crosswise.json").write_text(
        dn.survey_design("GLMMRR", "Crosswise", p1="1/4").to_json()
    )
    (tmp_path / "direct.json").write_text(dn.direct().to_json())
    mapping = tmp_path / "plagiarism.toml"
    mapping.write_text(
        '[columns.response]\ndevices = "RRmodel"\ncodes = true\n'
        'design = { Crosswise = "crosswise.json", DQ = "direct.json" }\n'
    )
    done(
        "tally",
        mapping,
        rows_of("Plagiarism"),
        "--by",
        "question",
        "--out",
        tmp_path / "t.json",
    )
    told = json.loads(
        done("estimate", mapping, tmp_path / "t.json", "--json").stdout
    )["estimates"]
    assert [each["group"]["question"] for each in told] == ["1", "2", "3", "4"]
    assert sum(each["result"]["respondents"] for each in told) == 812
    assert {each["result"]["type"] for each in told} == {"devices"}
