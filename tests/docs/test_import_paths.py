"""One door: what pages and examples import."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMPORT = re.compile(r"(?:from (deniable[\w.]*) import|import (deniable[\w.]*))")
MOST_PATHS = 10  # the door, the byte contract's two, a collector inside a program, and four steps for experts


def test_pages_and_examples_come_in_by_one_door() -> None:
    pages = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*"),
    ]
    text = "\n".join(
        page.read_text(encoding="utf-8")
        for page in pages
        if page.suffix in {".md", ".py", ".ipynb"}
    )
    paths = {one or two for one, two in IMPORT.findall(text)}
    assert "deniable" in paths
    assert len(paths) <= MOST_PATHS, sorted(paths)
