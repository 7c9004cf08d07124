"""Demands, admissibility, repairs, comparisons and attacks, in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.attacks import error_rates, swing
from deniable.criteria import KnownPrior
from deniable.designs import Design, k_ary, matrix, warner
from deniable.order.admissibility import admissible
from deniable.order.blackwell import garbling
from deniable.plan import optimal
from deniable.tallies import Tally
from tests.support.commands import done, run

LOOSE = matrix([[0.5, 0.25, 0.4], [0.5, 0.75, 0.6]])
"""A design that another one of the same parity beats."""


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    return save(tmp_path / "loose.json", LOOSE)


def save(path: Path, document: Design | Tally) -> Path:
    path.write_text(document.to_json())
    return path


def test_a_demand_is_checked_with_an_exit_code(tmp_path: Path) -> None:
    design = save(tmp_path / "design.json", warner(p="9/10"))
    assert done("design", "check", design, "rho_to_rho 1/10 1/2").stdout.startswith(
        "Holds"
    )
    failed = run("design", "check", design, "rho_to_rho 1/10 0.49")
    assert failed.exit_code == 5
    assert failed.stdout.startswith("Fails")
    told = json.loads(
        run("design", "check", design, "beta_factor 2", "--json").stdout
    )
    assert told["holds"] is False


def test_the_best_design_under_a_demand_is_that_of_python(tmp_path: Path) -> None:
    out = tmp_path / "best.json"
    demand = "known_prior 0.7,0.1,0.1,0.1 3/4"
    done("design", "optimal", "-c", "4", "--demand", demand, "--out", out)
    best = optimal(4, KnownPrior(["0.7", "0.1", "0.1", "0.1"], "3/4")).design
    assert Design.from_json(out.read_bytes()) == best


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("-e", "1", "--demand", "epsilon 1"),
        ("--demand", "epsilon 1", "--delta", "0.1"),
    ],
)
def test_one_demand_is_needed(words: tuple[str, ...]) -> None:
    refused = run("design", "optimal", "-c", "4", *words)
    assert refused.exit_code == 2
    assert "expected --epsilon, perhaps with --delta, or --demand" in refused.stderr


def test_a_repair_writes_an_admissible_design_that_tells_all_of_the_old_one(
    tmp_path: Path, loose: Path
) -> None:
    flawed = done("design", "admissible", loose, "--json")
    assert json.loads(flawed.stdout)["admissible"] is False
    out = tmp_path / "repaired.json"
    done("design", "repair", loose, "--gamma", "3", "--out", out)
    repaired = Design.from_json(out.read_bytes())
    assert admissible(repaired)
    assert repaired.parity == 3
    assert repaired.categories == LOOSE.categories
    assert garbling(LOOSE, repaired)
    compared = done("design", "compare", out, loose)
    assert compared.stdout.startswith("The first design tells more")


def test_numbers_in_comparisons_are_short(tmp_path: Path) -> None:
    files = [save(tmp_path / f"{e}.json", k_ary(3, e)) for e in (1, 2)]
    text = done("design", "compare", *files).stdout
    assert max(map(len, text.split())) < 20


def test_attacks_are_those_of_python(tmp_path: Path) -> None:
    design = k_ary(["a", "b", "c"], p="1/2")
    path = save(tmp_path / "design.json", design)
    shares = ["1/2", "1/4", "1/4"]
    told = json.loads(
        done("attacks", "guess", path, "--prior", ",".join(shares), "--json").stdout
    )
    rates = error_rates(design, prior=shares)
    assert told == {"bound": float(rates.bound), "errors": dict(rates)}
    text = done("attacks", "guess", path).stdout
    assert "50%" in text
    assert "standard error" not in text  # nothing was simulated
    counts = Tally(design, [900, 90, 10])
    tally = save(tmp_path / "tally.json", counts)
    bounds = json.loads(
        done("attacks", "swing", path, tally, "--share", "5%", "--json").stdout
    )
    assert [tuple(ends) for ends in bounds.values()] == list(swing(counts, 0.05))
    assert "from" in done("attacks", "swing", path, tally).stdout
    assert (
        "'a' was sent by 900 of 1,000"
        in done("attacks", "doubts", path, tally).stdout
    )
    likely = save(tmp_path / "likely.json", Tally(design, [50, 25, 25]))
    assert (
        "Nothing looks fabricated" in done("attacks", "doubts", path, likely).stdout
    )
    assert json.loads(done("attacks", "doubts", path, likely, "--json").stdout) == {
        "doubts": []
    }
