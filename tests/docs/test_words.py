"""Plain words: what readers stumbled over does not come back, in pages, help, messages and docstrings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 160  # characters of a line of prose; scripts/wrap breaks longer ones
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MADE = {
    "benchmarks.md",
    "coverage.md",
    "efficiency.md",
    "costs.md",
    "surfaces.md",
    "survey-designs.md",
    "threat-model.md",
}
STUMBLED = {  # what stood there, and what is meant
    r"\bstops? to work\b": "stop working",
    r"\b1 times as many\b": "as many",
    r"\bfive documents\b": "five papers",
    r"\bdocument is wrong\b": "paper is wrong",
    r"\bthe both\b": "both",
    r"\ballows? to \w+": "allows …ing, lets",
    r"\bin the last years\b": "in recent years",
}


def sources() -> list[Path]:
    files = [*(ROOT / "src").rglob("*"), *(ROOT / "papers").rglob("*")]
    return [
        *PAGES,
        *(
            path
            for path in files
            if path.suffix in (".py", ".html", ".toml", ".js", ".json")
        ),
    ]


@pytest.mark.parametrize("pattern", STUMBLED)
def test_nobody_stumbles_again(pattern: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sources()
        for match in re.finditer(pattern, path.read_text(encoding="utf-8"))
        if path.name != "CHANGELOG.md"
    ]
    assert found == [], f"say: {STUMBLED[pattern]}"


def long_lines(text: str) -> list[str]:
    """Lines of prose that are too long to be read in an editor; tables and code are not prose."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [
        line
        for line in text.splitlines()
        if len(line) > LONGEST and not line.startswith(("|", "    ", "!["))
    ]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in MADE],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_lines_of_a_page_fit_an_editor(page: Path) -> None:
    assert long_lines(page.read_text(encoding="utf-8")) == [], (
        f"run scripts/wrap {page.relative_to(ROOT)}"
    )


def test_a_long_line_is_found() -> None:
    assert long_lines(
        "a " * 100 + "\n| " + "b" * 300 + "\n```\n" + "c" * 300 + "\n```\n"
    ) == ["a " * 100]
