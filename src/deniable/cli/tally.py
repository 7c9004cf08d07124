"""`deniable tally`: files of responses → counts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.common import (
    DesignFile,
    Force,
    Json,
    check_out,
    console,
    guarded,
    print_json,
    progress,
    read_design,
    say,
    write,
)

if TYPE_CHECKING:
    from deniable.designs import Design
    from deniable.tallies import Tally


@guarded
def tally(
    design: DesignFile,
    responses: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="Responses (.parquet, .csv, .ndjson), tallies (.json), or - for stdin."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the tally to this file.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Count the responses of one file or of several, which add up. Files of another design are refused."""
    from deniable.tallies import Tally

    known = read_design(design)
    check_out(out, force=force)
    if len({path.resolve() for path in responses}) < len(responses):
        say("a file is named more than once; its responses count as often.")
    total = Tally.empty(known)
    for path in responses:
        total = total + _count(known, path)
    if as_json:
        print_json(total.to_json(indent=2))
    else:
        from deniable.report import tables as table

        console().print(table.tally_table(total))
    if out is not None:
        write(out, total.to_json(indent=2), force=force)
        say(f"wrote {out}")


def _count(design: Design, path: Path) -> Tally:
    from deniable.engines.files import tally_file
    from deniable.tallies import Tally

    if path.suffix.lower() == ".json":
        return Tally.from_json(path.read_bytes(), design)
    with progress(f"counting {path.name}") as told:
        return tally_file(design, sys.stdin.buffer if str(path) == "-" else path, progress=told)
