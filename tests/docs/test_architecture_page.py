"""The architecture page is true: packages are folders, their order is the contract, files exist, the walk is walked."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import FrameType

import pytest

import deniable as dn

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "deniable"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def rows() -> list[tuple[list[str], list[str]]]:
    """The rows of the table of packages: names, and what is said of each."""
    table = PAGE.split("## Packages")[1].split("## ")[0]
    found = re.findall(r"^\| (`.+?`) \| (.+?) \|$", table, re.MULTILINE)
    return [
        (re.findall(r"`(\w+)`", names), words.split(" · ")) for names, words in found
    ]


def layers() -> list[set[str]]:
    """The contract of import-linter, highest layer first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "tool"
    ]["importlinter"]["contracts"]
    first = next(each for each in contracts if each["type"] == "layers")
    return [set(re.findall(r"\w+", layer)) for layer in first["layers"]]


def named_files() -> list[str]:
    """Every path of a file that the page names."""
    return sorted(set(re.findall(r"`([\w/.]+\.(?:py|js|md|toml))`", PAGE)))


def test_the_packages_are_the_folders_and_modules_that_there_are() -> None:
    told = [name for names, _ in rows() for name in names]
    there = {
        path.stem
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert len(told) == len(set(told))
    assert set(told) == there - {"__init__", "__main__"}


def test_the_order_of_the_packages_is_the_contract() -> None:
    assert [set(names) for names, _ in rows()] == layers()


def test_each_package_is_described() -> None:
    for names, words in rows():
        assert len(words) == len(names), names


def test_there_are_files_on_the_page() -> None:
    assert len(named_files()) > 20


@pytest.mark.parametrize("path", named_files())
def test_a_file_that_the_page_names_is_there(path: str) -> None:
    assert (SOURCE / path).exists() or (ROOT / path).exists(), f"{path} is not there"


def test_the_walk_in_python_touches_the_packages_of_the_flow_alone() -> None:
    design = dn.k_ary(["never", "once", "often"], epsilon=1)
    answers = ["never"] * 900 + ["once"] * 60 + ["often"] * 40
    # what is loaded once is loaded
    dn.estimate(dn.tally(dn.respond_all(design, answers)))
    touched: set[str] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001 - as sys.setprofile calls it
        path = Path(frame.f_code.co_filename)
        if SOURCE in path.parents:
            touched.add(path.relative_to(SOURCE).parts[0].removesuffix(".py"))

    sys.setprofile(watch)
    try:
        dn.estimate(dn.tally(dn.respond_all(design, answers)))
    finally:
        sys.setprofile(None)
    flow = {
        "verbs",
        "errors",
        "designs",
        "responses",
        "bulk",
        "files",
        "rendering",
        "types",
        "tallies",
        "estimates",
        "channel",
        "chance",
        "documents",
        "exact",
    }
    assert {"verbs", "types", "bulk", "tallies", "estimates", "channel"} <= touched
    assert touched <= flow | {"__init__"}
