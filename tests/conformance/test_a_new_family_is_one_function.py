"""A new family needs one function and one line: a copy of the package with a toy family offers it everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.designs import FAMILIES, Design, Purpose, families, k_ary, register
from tests.support.commands import done

ROOT = Path(__file__).parents[2]
FUNCTION = '''

@register({"odds": 3}, purpose=Purpose.TELEMETRY)
def toy(odds: int) -> Design:
    """Return a toy design of three categories.

    Args:
        odds: how many times likelier the true category is than each other one.
    """
    labels = ("a", "b", "c")
    return Design("toy", labels, labels, Diagonal(3, odds, 1))
'''
LINE = "from deniable.designs.many_answers import toy as toy\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which one function and one line were added."""
    source = tmp_path_factory.mktemp("toy") / "src"
    shutil.copytree(
        ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__")
    )
    designs = source / "deniable" / "designs"
    text = (designs / "many_answers.py").read_text(encoding="utf-8")
    (designs / "many_answers.py").write_text(text + FUNCTION, encoding="utf-8")
    text = (designs / "families.py").read_text(encoding="utf-8")
    (designs / "families.py").write_text(text + LINE, encoding="utf-8")
    return source


def run(copy: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "200"}
    completed = subprocess.run(
        [sys.executable, *words],
        env=environment,
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def test_python_offers_it_by_name(copy: Path) -> None:
    program = (
        "import deniable as dn, deniable.designs\n"
        "assert 'toy' in dn.__all__ and 'toy' in dir(dn) and 'toy' in deniable.designs.__all__\n"
        "assert dn.toy is deniable.designs.toy is deniable.designs.FAMILIES['toy'].build\n"
        "responses = dn.respond_all(dn.toy(2), ['a'] * 100)\n"
        "print(dn.__file__, dn.estimate(dn.tally(responses)).respondents)\n"
    )
    file, respondents = run(copy, "-c", program).split()
    assert file.startswith(str(copy))
    assert respondents == "100"


def test_the_shell_builds_and_lists_it(copy: Path) -> None:
    body = json.loads(
        run(copy, "-m", "deniable", "design", "toy", "--odds", "2", "--json")
    )
    assert body["name"] == "toy"
    listed = run(copy, "-m", "deniable", "design", "list")
    group = listed.partition(Purpose.TELEMETRY)[2].partition(Purpose.ORDERED)[0]
    assert "toy                  Return a toy design" in group
    assert "--odds" in run(copy, "-m", "deniable", "design", "toy", "--help")


def test_the_reference_lists_it(copy: Path) -> None:
    program = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('site_pages', {str(ROOT / 'scripts' / 'site_pages.py')!r})\n"
        "pages = importlib.util.module_from_spec(spec); spec.loader.exec_module(pages)\n"
        "print([name for name, _, _ in pages.rooms()['designs']])\n"
        "print([path for path, _ in pages.walk('deniable design', pages.commands()['design'])])\n"
    )
    python, shell = run(copy, "-c", program).splitlines()
    assert "'dn.toy'" in python
    assert "'deniable design toy'" in shell


def test_every_family_is_in_the_list_once_and_has_a_purpose() -> None:
    text = Path(families.__file__).read_text(encoding="utf-8")
    assert {
        name: text.count(f" import {name} as {name}\n") for name in FAMILIES
    } == dict.fromkeys(FAMILIES, 1)
    assert text.count(" import ") == len(FAMILIES)
    assert [
        name for name, family in FAMILIES.items() if family.purpose == Purpose.OTHER
    ] == []


@pytest.fixture
def unlisted() -> Iterator[str]:
    """The name of a family that a user's program registered."""
    before = dict(FAMILIES)

    @register({"epsilon": 1})
    def of_a_user(epsilon: int) -> Design:
        """Return a design of a user's family."""
        return k_ary(3, epsilon)

    yield of_a_user.__name__
    FAMILIES.clear()
    FAMILIES.update(before)


def test_a_family_that_a_user_registers_is_listed_last(unlisted: str) -> None:
    assert (
        done("design", "list").stdout.partition(f"{Purpose.OTHER}:")[2].split()[0]
        == unlisted
    )
