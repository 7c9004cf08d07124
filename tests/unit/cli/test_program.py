from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deniable import __version__
from deniable.cli.commands import COMMANDS
from deniable.designs import warner
from tests.support.commands import done, start

HEAVY = (
    "numpy",
    "scipy",
    "matplotlib",
    "pyarrow",
    "cryptography",
    "numba",
    "pandas",
    "polars",
)


def test_help_tells_commands_and_exit_codes_in_order() -> None:
    shown = " ".join(done("--help").stdout.replace("│", "").split())
    order = [
        shown.index(f" {name} ")
        for name in ("design", "respond", "tally", "estimate", "demo")
    ]
    assert order[1:] == sorted(order[1:])
    for code in (
        "0 done",
        "2 usage",
        "3 belongs to another design",
        "4 a file",
        "130 interrupted",
    ):
        assert code in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_itself(name: str) -> None:
    own = " ".join(done(name, "--help").stdout.split())
    assert COMMANDS[name][1].rstrip(".…: ")[:60] in own


def test_the_version_is_told() -> None:
    assert done("--version").stdout.startswith(f"deniable {__version__}\n")


@pytest.mark.parametrize("words", [["--help"], ["design", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    script = (
        "import sys\n"
        "from deniable.cli import main\n"
        f"sys.argv = ['deniable', *{words!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_an_interrupt_exits_with_130(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(warner(epsilon=1).to_json())
    program = start("respond", "design.json", folder=tmp_path, stdin=subprocess.PIPE)
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write(b"yes\n")
    program.stdin.flush()
    first = program.stdout.readline()  # now it waits for the next answer
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    assert first.startswith(b'{"response": ')
    assert program.returncode == 130
    assert b"Traceback" not in said
    assert b"interrupted" in said


def test_a_reader_that_goes_away_causes_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(warner(epsilon=1).to_json())
    program = start("respond", "design.json", folder=tmp_path, stdin=subprocess.PIPE)
    assert program.stdin is not None
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    try:
        program.stdin.write(b"yes\n" * 10_000)
        program.stdin.close()
    except BrokenPipeError:
        pass
    said = program.stderr.read()
    program.stderr.close()
    program.wait(timeout=60)
    assert b"Traceback" not in said


def test_at_a_terminal_a_wrong_answer_may_be_given_again(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text(warner(epsilon=1).to_json())
    keyboard, terminal = pty.openpty()
    program = start(
        "respond", "design.json", "--labels", folder=tmp_path, stdin=terminal
    )
    os.write(keyboard, b"zqsecretanswer\nyes\n\x04")
    sent, said = program.communicate(timeout=60)
    os.close(keyboard)
    os.close(terminal)
    assert program.returncode == 0
    assert sent.decode() in ("yes\n", "no\n")
    assert said.decode().startswith("Type one of 'no', 'yes' and press Enter")
    assert "line 1: " in said.decode()
    assert b"secretanswer" not in sent + said
