"""Every citation leads to an entry in docs/theory/references.bib, and every entry is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIBLIOGRAPHY = ROOT / "docs" / "theory" / "references.bib"
# [War65], [KBR16], [MW21]: letters of the authors, two digits of the year, perhaps a letter to tell two apart.
KEY = re.compile(r"\[([A-Z][A-Za-z]*\d{2}[a-z]?)\]")


def entries() -> dict[str, str]:
    """Return the text of each entry by its key."""
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    found = re.findall(
        r"^@(\w+)\{(\w+),\n(.*?)^\}", text, flags=re.MULTILINE | re.DOTALL
    )
    assert len(found) == text.count("\n@"), "an entry is not written like the others"
    keys = [key for _, key, _ in found]
    assert len(set(keys)) == len(keys), "a key occurs twice"
    return {key: body for _, key, body in found}


def citing_files() -> list[Path]:
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    return sorted(
        [*(ROOT / "src").rglob("*.py"), *(ROOT / "papers").rglob("*.py"), *pages]
    )


def test_every_citation_has_an_entry() -> None:
    known = entries()
    cited = {
        (path.relative_to(ROOT).as_posix(), key)
        for path in citing_files()
        for key in KEY.findall(path.read_text(encoding="utf-8"))
    }
    assert cited, "no citation was found; the search is broken"
    assert sorted((path, key) for path, key in cited if key not in known) == []


def test_every_implements_cites_by_a_key_with_a_year() -> None:
    """[Chai] or [MW] would never be looked up."""
    loose = [
        (path.relative_to(ROOT).as_posix(), line.strip())
        for path in citing_files()
        if path.suffix == ".py"
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith("Implements:")
        and re.search(r"\[[A-Z][A-Za-z]*\]", line)
    ]
    assert loose == []


@pytest.mark.parametrize("key", sorted(entries()))
def test_an_entry_is_complete(key: str) -> None:
    body = entries()[key]
    year = re.search(r"year\s*=\s*\{(\d{4})\}", body)
    assert year is not None
    assert key.rstrip("abcdefgh").endswith(year[1][2:])
    for field in ("author", "title"):
        assert re.search(rf"{field}\s*=\s*\{{.+\}},", body)
    assert re.search(
        r"(journal|booktitle|school|publisher|note)\s*=\s*\{.+\},", body
    )


def test_entries_are_sorted() -> None:
    assert list(entries()) == sorted(entries(), key=str.casefold)


def test_every_test_that_a_page_names_is_there() -> None:
    root = Path(__file__).parents[2]
    pages = [*(root / "docs").rglob("*.md"), *root.glob("*.md")]
    named = {
        name
        for page in pages
        for name in re.findall(r"tests/[a-z_/]+\.py", page.read_text())
    }
    assert len(named) > 20
    assert [name for name in sorted(named) if not (root / name).exists()] == []
