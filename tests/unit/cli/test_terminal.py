"""Labels of others are printed, and steer no terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dn
from tests.support.seeded import seeded

ORDERS = (
    "\x1b]0;owned\x07",
    "\x9b2J",
    "\u202e",
)  # a title, an erased screen, a reversed line
LABELS = [f"no{ORDERS[0]}{ORDERS[2]}", f"yes{ORDERS[1]}"]
COMMANDS = (
    ("design", "show", "design.json"),
    ("respond", "design.json", "--labels"),
    ("estimate", "design.json", "tally.json"),
    ("estimate", "design.json", "tally.json", "--json"),
    ("certify", "design.json"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a design whose labels hold orders for a terminal, its responses and their tally."""
    folder = tmp_path_factory.mktemp("labels")
    design = dn.k_ary(LABELS, 1)
    responses = dn.respond_all(design, LABELS * 50, source=seeded("terminal"))
    for name, document in {"design": design, "tally": dn.tally(responses)}.items():
        (folder / f"{name}.json").write_text(document.to_json(), encoding="utf-8")
    return folder


def shown_on_a_terminal(*words: str, folder: Path, stdin: str = "") -> str:
    """Run a command whose output is a terminal, and return all that the terminal gets."""
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "deniable.cli", *words],
        cwd=folder, stdin=subprocess.PIPE, stdout=end, stderr=end,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "200"},
    ) as process:  # fmt: skip
        os.close(end)
        assert process.stdin
        process.stdin.write(stdin.encode())
        process.stdin.close()
        received = b""
        while True:
            try:
                received += (part := os.read(terminal, 1 << 16))
            except OSError:  # all who write have ended
                break
            if not part:
                break
    os.close(terminal)
    return received.decode()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_terminal_gets_no_order_of_a_label(
    words: tuple[str, ...], folder: Path
) -> None:
    text = shown_on_a_terminal(*words, folder=folder, stdin=f"{LABELS[0]}\n" * 9)
    assert "no" in text or "yes" in text
    assert not [order for order in ORDERS if order in text]
    assert "\x1b" not in text


def test_programs_get_labels_as_they_are(folder: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "deniable.cli", "respond", "design.json", "--labels"],
        cwd=folder, input=f"{LABELS[0]}\n".encode() * 9, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    assert set(finished.stdout.decode().split("\n")[:-1]) <= set(LABELS)
