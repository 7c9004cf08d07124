"""Write the page of coverages: `python -m benchmarks.coverage_page [part …]` measures anew what `PARTS` names.

Parts that are not asked for stay as they are on the page.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import (
    coverage,
    coverage_by_answer,
    coverage_clusters,
    coverage_predictors,
    coverage_tests,
    looks,
)

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
PARTS: dict[str, tuple[str, Callable[[], Iterator[str]]]] = {
    "shares": ("# Coverage", coverage.lines),
    "predictors": ("## A randomized predictor", coverage_predictors.lines),
    "by-answer": ("## An outcome by the protected answer", coverage_by_answer.lines),
    "tests": ("## Imperfect tests", coverage_tests.lines),
    "clusters": ("## Tests with few clusters", coverage_clusters.lines),
    "looks": ("## All looks together", looks.lines),
}
"""The heading of each part, and its lines."""


def parts(page: str) -> dict[str, str]:
    """Split a page by the headings of its parts."""
    headings = {heading: name for name, (heading, _) in PARTS.items()}
    either = "|".join(map(re.escape, headings))
    _, *found = re.split(rf"^({either})\n\n", page, flags=re.MULTILINE)
    return {
        headings[heading]: text
        for heading, text in zip(found[::2], found[1::2], strict=True)
    }


def main(names: list[str]) -> None:
    for name in names or PARTS:
        lines = []
        for line in PARTS[name][1]():
            print(line, file=sys.stderr, flush=True)
            lines.append(line)
        texts = parts(PAGE.read_text("utf-8")) | {name: "\n".join(lines) + "\n"}
        page = [
            f"{heading}\n\n{texts[each].strip()}\n"
            for each, (heading, _) in PARTS.items()
            if each in texts
        ]
        PAGE.write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
