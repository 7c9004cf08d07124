"""Running the command line in tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from deniable.cli.commands import app


def run(*words: object, stdin: str | bytes | None = None) -> Result:
    """Run a command in this process; `result.stdout`, `result.stderr` and `result.exit_code` tell how it went."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin)


def done(*words: object, stdin: str | bytes | None = None) -> Result:
    """Run a command that must succeed."""
    result = run(*words, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


def start(
    *words: object, folder: Path, stdin: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a command as a program of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "deniable.cli", *(str(word) for word in words)],
        cwd=folder,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "200"},
    )
