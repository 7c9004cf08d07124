"""The faults of `mutants/` can still be planted, each in one place, and the tests that must notice are there.

Whether they notice is what `make mutants` finds out.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.support import mutants
from tests.support.mutants import (
    ENDLESS,
    EQUIVALENT,
    FOUND,
    ROOT,
    SURVIVED,
    UNKNOWN,
    Copy,
    Fault,
)

FAULTS = mutants.read()


@cache
def names(path: Path) -> set[str]:
    """Return the names of the tests in a file."""
    return {
        each.name
        for each in ast.walk(ast.parse(path.read_text()))
        if isinstance(each, ast.FunctionDef)
    }


def test_every_fault_has_a_name_of_its_own() -> None:
    assert len({fault.slug for fault in FAULTS}) == len(FAULTS)
    assert len({(fault.file, fault.find, fault.replace) for fault in FAULTS}) == len(
        FAULTS
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_it_can_be_planted(fault: Fault) -> None:
    planted = fault.planted((ROOT / fault.file).read_text())
    assert planted is not None, (
        f"{fault.file} holds what is replaced more than once, or never"
    )
    if fault.file.endswith(".py"):
        ast.parse(planted)
    assert fault.promise


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_tests_that_must_notice_are_there(fault: Fault) -> None:
    assert bool(fault.tests) != bool(fault.equivalent), (
        "tests, or why nothing breaks"
    )
    for test in fault.tests:
        file, *inside = test.split("::")
        assert (ROOT / file).exists(), test
        assert not inside or inside[-1].partition("[")[0] in names(ROOT / file), test


def test_the_score_counts_what_can_break() -> None:
    one, two = (
        Fault(room, "slug", "file", "find", "replace", "promise", fresh=number)
        for number, room in ((1, "a"), (0, "b"))
    )
    told = mutants.score(
        [(one, FOUND), (one, SURVIVED), (one, ENDLESS), (two, EQUIVALENT)]
    ).splitlines()
    assert [" ".join(line.split()) for line in told] == [
        "a 2 of 3 found = 66.7%, 1 no end",
        "b 0 of 0 found, 1 breaks nothing",
        "fresh set 1 2 of 3 found = 66.7%, 1 no end",
        "in all 2 of 3 found = 66.7%, 1 breaks nothing, 1 no end",
    ]


class Slow(Copy):
    """A copy of one file, whose tests end only with the texts that are named."""

    def __init__(self, folder: Path, ends: set[str]) -> None:
        self.folder, self.ends = folder, ends
        (folder / "file").write_text("sound")

    def run(self, tests: Sequence[str], patience: float = 1) -> tuple[str, str]:  # noqa: ARG002 - nothing is run
        return (
            SURVIVED if (self.folder / "file").read_text() in self.ends else ENDLESS
        ), ""


def test_tests_that_do_not_end_notice_a_fault_where_they_end_without_it(
    tmp_path: Path,
) -> None:
    fault = Fault("room", "slug", "file", "sound", "faulty", "promise")
    assert Slow(tmp_path, {"sound"}).watch(fault) == ENDLESS
    assert Slow(tmp_path, set()).watch(fault) == UNKNOWN
    assert Slow(tmp_path, {"sound", "faulty"}).watch(fault) == SURVIVED
