"""The threat model and its tests name each other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "threat-model.md"
TESTS = ROOT / "tests" / "service" / "test_threats.py"
ADVERSARIES = (
    "curious collector",
    "network observer",
    "uses the device next",
    "Fake respondents",
    "wants it to stop",
    "reveals too much",
    "Colluding buyers",
    "compelled operator",
)


def test_every_claim_has_its_test_and_every_test_its_claim() -> None:
    text = PAGE.read_text(encoding="utf-8")
    claims = [line for line in text.splitlines() if line.startswith("- ")]
    named = [re.search(r"`(?:(\S+)::)?(test_\w+)`$", line) for line in claims]
    assert all(named), [
        line for line, found in zip(claims, named, strict=True) if not found
    ]
    by_file: dict[Path, list[str]] = {}
    for found in filter(None, named):
        by_file.setdefault(
            ROOT / "tests" / found[1] if found[1] else TESTS, []
        ).append(found[2])
    assert sorted(by_file.pop(TESTS)) == sorted(_written(TESTS))
    for file, tests in by_file.items():
        assert set(tests) <= set(_written(file)), file


def _written(file: Path) -> list[str]:
    return re.findall(
        r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE
    )


def test_every_adversary_has_claims_and_limits() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(sections) == len(ADVERSARIES)
    for section, name in zip(sections, ADVERSARIES, strict=True):
        assert name in section.splitlines()[0]
        assert "\n- " in section
        assert "**Not promised.**" in section
