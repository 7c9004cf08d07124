"""The command line: a file for each command, which parses, calls one step and prints."""

from __future__ import annotations

import sys

from deniable.errors import MissingExtra

__all__ = ["main"]


def main() -> None:
    """Run the command line; without the packages that it needs, print how to install them."""
    try:
        from deniable.cli.commands import app
    except MissingExtra as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)

    app(prog_name="deniable")
