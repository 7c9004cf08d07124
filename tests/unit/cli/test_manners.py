"""How the program behaves in a shell: help, version, completion, pipes, colours."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deniable
from deniable.cli.commands import COMMANDS, command_of
from tests.support.commands import done, run

ROOT = Path(__file__).parents[3]


def shell(
    line: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `deniable` is the program."""
    text = (
        f'deniable() {{ {shlex.quote(sys.executable)} -m deniable "$@"; }}\n{line}'
    )
    path = {"PYTHONPATH": str(ROOT / "src"), **environment}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NO_COLOR", "FORCE_COLOR")
    }
    return subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        env={**kept, **path},
        capture_output=True,
        text=True,
        check=False,
    )


def every_command() -> Iterator[tuple[str, Any]]:
    def below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield path, command
        for name in (
            command.list_commands(None) if hasattr(command, "list_commands") else ()
        ):
            yield from below(f"{path} {name}", command.get_command(None, name))

    for name in COMMANDS:
        yield from below(name, command_of(name))


def test_help_is_told_in_words() -> None:
    """No names of types, no frames, no option twice; `-h` is help."""
    seen = 0
    for path, command in every_command():
        text = command.get_help(command.context_class(command, info_name=path))
        assert not re.search(
            r"<(bool|str|int|float|path|list|file|text)[^>]*>", text
        ), f"{path}: {text}"
        assert "╭" not in text
        assert "completion" not in text, path
        assert not re.search(r"\[\[(?!NAME=)", text), path
        seen += 1
    assert seen > 80


@pytest.mark.parametrize(
    "words",
    [
        ["-h"],
        ["design", "-h"],
        ["design", "warner", "-h"],
        ["graph", "tally", "-h"],
        ["tally", "-h"],
    ],
)
def test_h_is_help(words: list[str]) -> None:
    assert "Usage:" in done(*words).stdout


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["design"],
        ["plan"],
        ["survey"],
        ["release"],
        ["graph"],
        ["graph", "design"],
    ],
)
def test_no_line_of_a_list_of_commands_is_cut_off(words: list[str]) -> None:
    listed = done(*words, "--help").stdout.partition("Commands:")[2]
    assert len(listed.splitlines()) > 4
    assert "..." not in listed


def test_the_package_is_a_program(tmp_path: Path) -> None:
    found = shell("deniable --version", tmp_path)
    assert found.stdout.splitlines()[0] == f"deniable {deniable.__version__}"


def test_the_version_tells_what_is_installed() -> None:
    text = done("--version").stdout
    assert re.search(r"^Python 3\.\d+", text, re.MULTILINE)
    told = re.search(
        r"^extras: (.*?)(?:; not installed: (.*))?$", text, re.MULTILINE
    )
    assert told is not None
    named = {name for part in told.groups() if part for name in part.split(", ")} - {
        "none"
    }
    extras = re.findall(r"^(\w+) = \[", _extras(), re.MULTILINE)
    # `deniable` always brings the latter
    assert named == set(extras) - {"all", "standard"}


def _extras() -> str:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(kind: str, tmp_path: Path) -> None:
    found = shell(f"deniable --show-completion {kind}", tmp_path)
    assert found.returncode == 0, found.stderr
    assert f"_DENIABLE_COMPLETE=complete_{kind}" in found.stdout
    assert shell("deniable --show-completion tcsh", tmp_path).returncode == 2
    assert "http" not in found.stdout


def test_completion_is_installed_where_the_shell_looks(tmp_path: Path) -> None:
    found = shell("deniable --install-completion fish", tmp_path, HOME=str(tmp_path))
    assert found.returncode == 0, found.stderr
    (written,) = tmp_path.rglob("deniable.fish")
    assert "_DENIABLE_COMPLETE=complete_fish" in written.read_text()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("deniable es", "estimate"),
        ("deniable design war", "warner"),
        ("deniable tally --thr", "--threads"),
    ],
)
def test_commands_families_and_options_are_completed(
    typed: str, offered: str, tmp_path: Path
) -> None:
    program = (
        "import sys; sys.argv[0] = 'deniable'; from deniable.cli import main; main()"
    )
    words = typed.split()
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "_DENIABLE_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(len(words) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert offered in found.stdout.split(), found.stderr


def test_a_reader_who_has_enough_loses_no_file(tmp_path: Path) -> None:
    """`head -1` is gone before the command has printed everything; the file is there all the same."""
    found = shell(
        "deniable design k_ary -c 40 -e 1 --out d.json | head -1; echo ${PIPESTATUS[0]}",
        tmp_path,
    )
    assert json.loads((tmp_path / "d.json").read_text())["schema"].startswith(
        "deniable/design"
    )
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr
    assert "wrote d.json" in found.stderr


@pytest.mark.parametrize(
    "line",
    [
        "deniable design list",
        "deniable --help",
        "deniable design show d.json --json",
    ],
)
def test_a_closed_pipe_gives_no_traceback(line: str, tmp_path: Path) -> None:
    done("design", "k_ary", "-c", "300", "-e", "1", "--out", tmp_path / "d.json")
    found = shell(f"{line} | true", tmp_path)
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr


def test_what_is_printed_comes_after_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a stdout that breaks at the first letter. The file is complete by then."""

    class Broken:
        def write(self, text: str) -> int:  # noqa: ARG002 - as streams have it
            raise BrokenPipeError

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return False

    from deniable.cli.common import guard_command, print_json, write

    @guard_command
    def command(out: Path | None = None) -> None:
        print_json("{}")
        assert out is not None
        write(out, "kept", force=False)

    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(BrokenPipeError):
        command(out=tmp_path / "kept.txt")
    assert (tmp_path / "kept.txt").read_text() == "kept\n"


def test_a_refused_command_prints_no_result(tmp_path: Path) -> None:
    done("design", "warner", "-e", "1", "--out", tmp_path / "d.json")
    (tmp_path / "r.csv").write_text("response,design\n")
    found = run("design", "warner", "-e", "1", "--out", tmp_path / "d.json")
    assert found.exit_code == 2
    assert found.stdout == ""


def test_colours_are_for_terminals_and_can_be_turned_off(tmp_path: Path) -> None:
    script = "import pty, sys; sys.exit(pty.spawn([sys.executable, '-m', 'deniable', 'tally', 'nothing.json', 'x']))"
    words = f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}"
    assert "\x1b[1;31m" in shell(words, tmp_path, TERM="xterm").stdout
    plain = shell(words, tmp_path, TERM="xterm", NO_COLOR="1").stdout
    assert "error: " in plain
    assert "\x1b[1;31m" not in plain
    assert "31m" not in plain
    assert "\x1b" not in shell("deniable tally nothing.json x", tmp_path).stderr


def test_progress_is_not_written_into_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("habit\n" + "no\nyes\n" * 50)
    line = "deniable design warner -e 1 --out d.json && deniable respond d.json -a a.csv --column habit --out r.csv"
    found = shell(f"{line} > out.txt 2> err.txt", tmp_path)
    assert found.returncode == 0
    assert "\r" not in (tmp_path / "err.txt").read_text()
    assert "rows" in (tmp_path / "err.txt").read_text()
