"""The page of errata holds what verdicts cite, and README says how many printed numbers and formulas agree."""

from __future__ import annotations

import re
from pathlib import Path

from deniable_papers.run import DOCUMENTS, Made, Reproduction
from deniable_papers.values import counted, everything
from tests.support.reproduced import FEW, made

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
NUMBERS = re.findall(r"^\| (\d\.\d+) \|", PAGE, re.MULTILINE)
GUIDE = (ROOT / "docs" / "guides" / "reproduce.md").read_text(encoding="utf-8")


def results() -> Reproduction:
    found = [
        Made(exhibit, made(document.name)[exhibit.name])
        for document in DOCUMENTS
        for exhibit in document.exhibits
    ]
    return Reproduction(tuple(found), FEW, whole=True)


def test_every_erratum_has_one_row_with_all_its_cells() -> None:
    assert len(set(NUMBERS)) == len(NUMBERS) == 64
    rows = [line for line in PAGE.splitlines() if re.match(r"\| \d\.\d+ \|", line)]
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 5
        assert all(cells)
        assert cells[1] in ("result", "argument", "misprint")


def test_every_number_that_a_verdict_cites_is_on_the_page() -> None:
    cited = {entry.erratum for entry in everything().values() if entry.erratum}
    assert len(cited) >= 30
    assert sorted(cited - set(NUMBERS)) == []
    for entry in everything().values():
        if entry.erratum:
            assert entry.erratum.partition(".")[0] == entry.id[2], (
                f"{entry.id} cites another paper's erratum"
            )


def test_every_number_that_a_note_cites_is_on_the_page() -> None:
    notes = [note for each in results().made for note in each.content.notes]
    cited = {
        number
        for note in notes
        for number in re.findall(r"errat(?:um|a) (\d\.\d+)", note)
    }
    assert len(cited) >= 20
    assert sorted(cited - set(NUMBERS)) == []


def test_readme_and_guide_count_numbers_and_formulas_apart() -> None:
    numbers, formulas = results().counts.values()
    line = (
        f"of {sum(numbers.values())} printed numbers {counted(numbers)}; of {sum(formulas.values())} formulas and "
        f"statements that we tried at inputs of our own {counted(formulas)}."
    )
    for page in ((ROOT / "README.md").read_text(encoding="utf-8"), GUIDE):
        assert line in " ".join(page.split()).replace("Of 1", "of 1")


def test_conditions_are_on_the_page_in_the_same_words() -> None:
    told = re.findall(
        r"^\| (\d{3}-\S+) \| (\d\.\d+) \| ([^|]*) \| ([^|]*) \|$", PAGE, re.MULTILINE
    )
    held = [entry for entry in everything().values() if entry.condition]
    assert told == [
        (entry.id, entry.erratum, entry.place, entry.condition) for entry in held
    ]
    assert len(held) == 14, "the sheet of errata names fourteen"


def test_the_guide_names_every_exhibit() -> None:
    listed = dict(
        re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|", GUIDE, re.MULTILINE)
    )
    for document in DOCUMENTS:
        wanted: dict[str, list[str]] = {}
        for exhibit in document.exhibits:
            wanted.setdefault(exhibit.kind, []).append(exhibit.number)
        told = "; ".join(
            f"{kind} {', '.join(numbers)}" for kind, numbers in wanted.items()
        )
        assert listed[document.name] == told
