"""Every tutorial is executed, command by command, in an empty folder, as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = f"{ROOT / 'src'}:{ROOT / 'papers' / 'src'}"
PAGES = [
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    ROOT / "docs" / "start.md",
    ROOT / "docs" / "shell.md",
]
FENCE = re.compile(
    r"^```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^```[ ]*$", re.MULTILINE | re.DOTALL
)
KINDS = {
    "survey-researcher",
    "data-scientist",
    "telemetry-engineer",
    "panel-operator",
    "privacy-reviewer",
    "paper-reader",
}


def steps(page: Path) -> list[tuple[str, str]]:
    """The fences of a page: language and code."""
    return [
        (found["language"], found["code"])
        for found in FENCE.finditer(page.read_text(encoding="utf-8"))
    ]


def program(page: Path) -> str:
    """One shell program of a page: snippets of Python that follow each other share their names, as in a session."""
    lines = ["set -euo pipefail"]
    told = 0
    for language, code in steps(page):
        if language == "sh":
            lines.append(code)
        elif language == "python":
            told += 1
            lines.append(
                f"cat >> session.py <<'END OF PYTHON'\n{code}\nEND OF PYTHON"
            )
            lines.append(f": python {told}")
    return _grouped(lines)


def _grouped(lines: list[str]) -> str:
    """Run the session when its last snippet is there, or before a shell command needs what it wrote."""
    text, waiting = [], False
    for line in lines:
        if line.startswith(": python"):
            waiting = True
            continue
        if waiting and not line.startswith("cat >> session.py"):
            # not with &&, after which bash goes on whatever failed
            text += ["python session.py", ": > session.py"]
            waiting = False
        text.append(line)
    return "\n".join([*text, "python session.py" if waiting else ":"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_works_command_by_command(page: Path, tmp_path: Path) -> None:
    shims = tmp_path / "bin"
    shims.mkdir()
    for name, words in (
        ("deniable", "-m deniable"),
        ("deniable-papers", "-m deniable_papers"),
        ("python", ""),
    ):
        (shims / name).write_text(
            f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n'
        )
        (shims / name).chmod(0o755)
    folder = tmp_path / "empty"
    folder.mkdir()
    path = f"{shims}:{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-c", program(page)],
        cwd=folder,
        env={
            **os.environ,
            "PATH": path,
            "PYTHONPATH": SOURCES,
            "MPLBACKEND": "Agg",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, f"{run.stdout[-2000:]}\n{run.stderr[-3000:]}"


def test_there_is_a_tutorial_for_each_kind_of_user() -> None:
    assert {page.stem for page in (ROOT / "docs" / "tutorials").glob("*.md")} - {
        "index"
    } == KINDS
    for name in KINDS:
        assert any(
            language in ("sh", "python")
            for language, _ in steps(ROOT / "docs" / "tutorials" / f"{name}.md")
        )


def test_a_failing_command_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\nfalse\n```\n```sh\necho never\n```\n")
    assert (
        subprocess.run(
            ["bash", "-c", program(page)], check=False, cwd=tmp_path
        ).returncode
        == 1
    )
    for after in ("", "```sh\n:\n```\n"):
        page.write_text(
            f"```python\nx = 1\n```\n```python\nassert x == 2\n```\n{after}"
        )
        run = subprocess.run(
            ["bash", "-c", program(page)],
            check=False,
            cwd=tmp_path,
            capture_output=True,
        )
        assert run.returncode == 1
        assert b"AssertionError" in run.stderr
        (tmp_path / "session.py").unlink()
