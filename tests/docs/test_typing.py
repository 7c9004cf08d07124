"""What a user's type checkers say about a script over every verb and type: no error, and nothing of type Any."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("user_script.py")
ROOT = SCRIPT.parents[2]
CHECKERS = {
    "mypy": (
        [sys.executable, "-m", "mypy", "--strict"],
        re.compile(r'Revealed type is "(.*)"'),
    ),
    "pyright": (
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable],
        re.compile(r'Type of ".*" is "(.*)"'),
    ),
}


def names(source: str) -> list[str]:
    """Every name that the script gives to something."""
    targets = [
        node.targets[0]
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
    ]
    return [
        name.id
        for target in targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    ]


def test_the_script_runs() -> None:
    runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_finds_no_error_and_no_any(checker: str, tmp_path: Path) -> None:
    source = SCRIPT.read_text(encoding="utf-8")
    asked = tmp_path / "asked.py"
    asked.write_text(
        source + "".join(f"reveal_type({name})\n" for name in names(source)),
        encoding="utf-8",
    )
    command, revealed = CHECKERS[checker]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    run = subprocess.run(
        [*command, str(asked)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found = revealed.findall(run.stdout)
    assert len(found) == len(names(source)) > 20
    assert not [each for each in found if re.search(r"\b(Any|Unknown)\b", each)]


WRONG = """import deniable as dn
dn.respond(dn.integer_deck(4, epsilon=2), "yes")
dn.respond(dn.warner(1), "yes", card=3)
dn.respond(dn.warner(1), 3.5)
dn.respond(dn.number_design(0, 80, epsilon=1), [1])
dn.respond_all(dn.warner(1), ["yes"], cohorts=[1])
dn.tally(dn.respond_all(dn.warner(1), ["yes"]), reached=[1])
dn.tally(dn.warner(1), ["yes"], reached=[1])
dn.estimate(dn.tally(dn.warner(1), ["yes"]), candidates=["x"])
dn.estimate(dn.respond_all(dn.warner(1), ["yes"]), sampling=dn.Sampling([1.0]), scaling="fixed")
"""


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_refuses_what_a_type_of_question_does_not_take(
    checker: str, tmp_path: Path
) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(WRONG, encoding="utf-8")
    command, _ = CHECKERS[checker]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    run = subprocess.run(
        [*command, str(script)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    refused = {
        int(line)
        for line in re.findall(r"wrong\.py:(\d+)(?::\d+)?(?: -|:) error", run.stdout)
    }
    assert refused == set(range(2, 1 + len(WRONG.splitlines())))
