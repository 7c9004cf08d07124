"""The root of the repository holds what is on the list, and paths of modules in prose are those of the source."""

from __future__ import annotations

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LISTED = {
    ".ci",
    ".github",
    ".gitignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "benchmarks",
    "changelog.d",
    "deploy",
    "docs",
    "examples",
    "full",
    "locks",
    "mkdocs.yml",
    "mutants",
    "papers",
    "pyproject.toml",
    "scripts",
    "src",
    "tests",
}
DOTTED = re.compile(r"`(deniable(?:\.\w+)+)`")
KEY = "deniable.design"  # of a Parquet file's metadata, not a module


def strays(names: set[str]) -> set[str]:
    return names - LISTED


def test_the_root_holds_nothing_that_is_not_listed() -> None:
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        pytest.skip(
            "this is no checkout of git, which knows the files of the repository"
        )
    names = {line.partition("/")[0] for line in listing.stdout.splitlines()}
    assert strays(names) == set()
    assert strays(names | {"scratch.json"}) == {"scratch.json"}


def exists(dotted: str) -> bool:
    """Tell whether a dotted name leads to a module, or to something in one."""
    module, *names = dotted.split(".")
    found: object = import_module(module)
    for name in names:
        module = f"{module}.{name}"
        try:
            found = (
                getattr(found, name)
                if hasattr(found, name)
                else import_module(module)
            )
        except ImportError:
            return False
    return True


def dotted_names() -> set[str]:
    pages = [
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("*.md"),
        *(ROOT / "src").rglob("*.py"),
    ]
    pages = [page for page in pages if page.name != "CHANGELOG.md"]
    return {
        name
        for page in pages
        for name in DOTTED.findall(page.read_text("utf-8"))
        if not name.startswith(KEY)
    }


def test_dotted_names_in_pages_and_docstrings_exist() -> None:
    assert len(dotted_names()) > 20
    assert {name for name in dotted_names() if not exists(name)} == set()
    assert not exists("deniable.order.Separation")
