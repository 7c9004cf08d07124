"""An audit as text, JSON and page; and `deniable audit`, which makes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import deniable as dn
from deniable.auditor import Audit, audit
from tests.support.commands import done, run

EVENT = ("--check", "worst event")


@pytest.fixture(scope="module")
def broken() -> Audit:
    return audit(
        lambda answer: answer,
        ["<yes>", "no"],
        epsilon=1,
        draws=2_000,
        checks=["worst event", "size"],
    )


def test_the_verdict_comes_first(broken: Audit) -> None:
    lines = broken.to_text().splitlines()
    assert lines[0].startswith("Violated: ")
    assert "99.99%" in lines[0]
    assert "✗ worst event" in broken.to_text()
    sound = audit(dn.warner(1), draws=4_000, checks=["worst event"])
    assert str(sound).startswith("Consistent: 4,000 draws in 1 check do not refute")
    assert "no proof" in str(sound)


def test_the_page_is_whole_and_escapes(broken: Audit) -> None:
    page = broken.to_html()
    assert page.index("Violated: ") < page.index("<svg") < page.index("<table")
    assert "<yes>" not in page
    assert "<lambda>" not in page
    assert "&lt;yes&gt;" in page
    assert "http" not in page
    assert "<script" not in page


def test_json_comes_back(broken: Audit) -> None:
    again = Audit.from_json(broken.to_json())
    assert again == broken
    assert json.loads(broken.to_json())["verdict"] == "violated"
    assert again.events == broken.events


def test_the_command_audits_a_family_and_files_of_every_type(tmp_path: Path) -> None:
    assert (
        "Consistent"
        in done(
            "audit", "k_ary", "-c", "3", "-e", "1", "--draws", "4000", *EVENT
        ).stdout
    )
    for number, design in enumerate(
        [
            dn.warner(1),
            dn.ladder([dn.warner(1), dn.warner(2)]),
            dn.lpp_club(["a", "b"], 1),
        ]
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(design.to_json())
        told = json.loads(
            done("audit", path, "--draws", "4000", *EVENT, "--json").stdout
        )
        assert told["verdict"] == "consistent"
        assert told["epsilon"] == pytest.approx(design.epsilon)


def test_the_command_audits_a_program_and_ends_with_5_if_it_leaks(
    tmp_path: Path,
) -> None:
    program = f"{sys.executable} -c \"import sys; [print(line, end='') for line in sys.stdin]\""
    out = tmp_path / "report.html"
    told = run(
        "audit",
        "--command",
        program,
        "-a",
        "yes,no",
        "-e",
        "1",
        "--draws",
        "2000",
        *EVENT,
        "--out",
        out,
    )
    assert told.exit_code == 5
    assert told.stdout.startswith("Violated")
    assert out.read_text().startswith("<!doctype html>")
    again = run(
        "audit",
        "k_ary",
        "-c",
        "2",
        "-e",
        "1",
        "--draws",
        "2000",
        *EVENT,
        "--out",
        out,
    )
    assert again.exit_code == 2
    assert "exists" in again.stderr


def test_the_command_audits_a_file_of_pairs(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("answer,response\n" + "yes,yes\nno,no\n" * 1_500)
    told = run(
        "audit",
        "--pairs",
        file,
        "-e",
        "1",
        *EVENT,
        "--out",
        tmp_path / "report.json",
    )
    assert told.exit_code == 5
    assert (
        Audit.from_json((tmp_path / "report.json").read_text()).verdict == "violated"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit",), "one of"),
        (("audit", "no_such_family"), "no family"),
        (("audit", "matrix", "-e", "1"), "design file"),
        (
            ("audit", "k_ary", "-c", "2", "-e", "1", "--out", "report.pdf"),
            "expected one of .html",
        ),
        (("audit", "--endpoint", "http://example.org/", "-a", "a,b"), "machine"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(
    words: tuple[str, ...], said: str
) -> None:
    told = run(*words)
    assert told.exit_code == 2
    assert said in told.stderr
