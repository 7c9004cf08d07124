"""`deniable respond`: answers → responses, on the machine of whoever holds the answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.common import DesignFile, Force, Json, guarded, print_json, progress, quiet_crashes, read_design, say
from deniable.errors import InvalidAnswer, InvalidRequest

if TYPE_CHECKING:
    from deniable.designs import Design


@quiet_crashes
@guarded
def respond(
    design: DesignFile,
    answers: Annotated[
        Path | None, typer.Option("--answers", "-a", metavar="FILE", help="Parquet, CSV or NDJSON with the answers.")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--column", metavar="NAME", help="The column that holds the answers.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Responses: .parquet, .csv or .ndjson.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="A column to carry over, unprotected. May be repeated.")
    ] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, help="How many threads draw.")] = 1,
    labels: Annotated[bool, typer.Option("--labels", help="From stdin: print bare labels, not JSON.")] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Draw a response for each answer, with secure randomness.

    With --answers, --column and --out a whole file is answered. Without them answers are read from stdin, one on each
    line, and each response is printed as a line of JSON that names its design; `deniable tally` reads such lines. An
    empty line or cell is a missing answer and becomes a missing response.

    Respond once to each answer: every run draws anew and reveals as much again. Responses stand in the order of their
    answers: sort the answers by something that has nothing to do with them first.
    """
    known = read_design(design)
    if columns and len(columns) > 1:
        raise InvalidRequest(f"there are {len(columns)} of --column; expected one.")
    column = columns[0] if columns else None
    if answers is None and column is None and out is None and not keep:
        if threads > 1 or force or (labels and as_json):
            raise InvalidRequest(
                "from stdin each response is printed as it is drawn; expected no --threads and no --force, and not "
                "both --labels and --json."
            )
        _from_stdin(known, labels=labels)
        return
    if answers is None or column is None or out is None:
        raise InvalidRequest(
            "expected --answers, --column and --out together, or none of them.",
            "Without them answers are read from stdin.",
        )
    if labels:
        raise InvalidRequest("--labels is for responses that are printed; expected it without --answers.")
    from deniable.engines import Local
    from deniable.engines.files import respond_file

    with progress("responding") as told:
        written = respond_file(
            known, answers, column, out, keep=keep or (), engine=Local(threads=threads), overwrite=force, progress=told
        )
    say(f"wrote {out}: {written.rows:,} rows, in {written.missing:,} of them no response")
    if as_json:
        print_json({"path": str(out), "design": known.hash, "rows": written.rows, "missing": written.missing})


def _from_stdin(design: Design, *, labels: bool) -> None:
    from deniable.designs.labels import shown

    interactive = sys.stdin.isatty()
    if interactive:
        say(f"Type one of {shown(design.categories)} and press Enter; Ctrl-D ends.")
    for number, line in enumerate(sys.stdin, start=1):
        try:
            typer.echo(_response(design, line.rstrip("\r\n"), labels=labels))
        except InvalidAnswer as error:
            problem = InvalidAnswer(f"line {number:,}: {error.problem}", error.hint)
            if not interactive:
                raise problem from None
            say(problem.problem)
        sys.stdout.flush()  # whoever waits for this response should have it now


def _response(design: Design, answer: str, *, labels: bool) -> str:
    from deniable.files.writers import line
    from deniable.responses import respond as draw

    symbol = draw(design, answer).symbol if answer else None
    return (symbol or "") if labels else line(design.hash, symbol)
