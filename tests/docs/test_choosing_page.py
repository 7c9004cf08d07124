"""The table for one sensitive question: its numbers are those of the designs that its commands build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import deniable as dn
from tests.support.commands import done

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "choosing.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.partition("\n## One sensitive")[2]
    .partition("\n## ")[0]
    .splitlines()
    if line.startswith("| ") and "`" in line
]


def built(commands: str, folder: Path) -> dn.Design:
    (command,) = re.findall(r"`(design [^`]*)`", commands)
    done(*command.split(), "--out", folder / "design.json")
    return dn.Design.from_json((folder / "design.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2][:30])
def test_a_row_has_the_numbers_of_its_design(row: list[str], tmp_path: Path) -> None:
    _, _, _, epsilon, times, _, commands = row
    design = built(commands, tmp_path)
    told = float(epsilon.partition(",")[0])
    assert design.epsilon <= told < design.epsilon + 0.01
    u, v = (design.channel.probability(1, given=answer) for answer in (0, 1))
    sent = u + (v - u) / 10
    assert float(sent * (1 - sent) / ((v - u) ** 2 * 9)) * 100 == pytest.approx(
        float(times), abs=0.006
    )
    for name in re.findall(r"--harmless ([\w-]+)", commands):
        assert dn.harmless_question(name).share == design.probability(
            "same", given="yes"
        )


def test_the_table_is_there_and_the_questions_lead_to_it() -> None:
    assert len(ROWS) == 4
    asked = (
        (ROOT / "docs" / "questions.md")
        .read_text(encoding="utf-8")
        .partition("## Which design do I take?")[2]
    )
    assert (
        "choosing.md#one-sensitive-yes-or-no-question" in asked.partition("\n## ")[0]
    )
