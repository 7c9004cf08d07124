"""The command line: a file for each command, which parses, calls one step and prints."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from deniable.cli.commands import app

    app(prog_name="deniable")
