"""`deniable respond`: answers → responses, on the machine of whoever holds the answers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.common import (
    echo,
    guard_command,
    print_json,
    progress,
    quiet_crashes,
    say,
)
from deniable.cli.reading import read_any_design
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.files.writers import line
from deniable.types import find_operation, operation

if TYPE_CHECKING:
    from deniable.designs import AnyDesign


@quiet_crashes
@guard_command
def respond(
    design: Path | None = None,
    *,
    answers: list[str] | None = None,
    column: list[str] | None = None,
    out: Path | None = None,
    keep: list[str] | None = None,
    keep_order: bool = False,
    codes: bool | None = None,
    cohorts: str | None = None,
    format: str | None = None,
    threads: int | None = None,
    labels: bool = False,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Draw a response for each answer, with secure randomness.

    With --answers, --column and --out whole files are answered. Without them answers are read from stdin, one on each
    line, and each response is printed as a line of JSON that names its design; `deniable tally` reads such lines. An
    empty line or cell is a missing answer and becomes a missing response. Of a design for several questions the columns
    are called as the questions are, and a line is JSON such as {"smokes": "yes", …}.

    A folder as --out is written in parts: after an error or a kill the same command goes on where it was, and nothing
    is drawn twice. Any other run draws anew and reveals as much again: respond once to each answer. Rows are shuffled
    in blocks of 262,144; shuffle answers that are sorted over more rows than that first.

    Args:
        design: a design, as written by `deniable design`; none with NAME=DESIGN.
        answers (FILE): Parquet, Arrow, CSV, NDJSON, Excel, SPSS or Stata: a file, a folder, a 'pattern*', or - for
            stdin. May be repeated.
        column (NAME): the column that holds the answers. For several columns NAME=DESIGN, repeated, and no DESIGN
            before.
        out (PATH): responses: .parquet, .arrow, .csv or .ndjson; or a folder, which is written in parts.
        keep: a column to carry over, unprotected. May be repeated.
        keep_order: do not shuffle. Who knows the order of the answers then knows whose response is whose; where
            they are sorted, the order tells the answers themselves.
        codes: read whole numbers as codes, 0 for the first category, or as labels; by default as the categories
            suggest.
        cohorts (NAME): for strings: the column that holds the cohorts.
        format (NAME): for a folder: parquet, arrow, csv or ndjson.
        threads (1…): how many threads draw; by default one for each core.
        labels: from stdin: print bare labels, not JSON.
    """
    options = {
        "--keep": keep,
        "--keep-order": keep_order,
        "--cohorts": cohorts,
        "--format": format,
        "--threads": threads,
    }
    if answers is None and out is None and not column:
        if design is None:
            raise InvalidRequest(
                "there is no design; expected its file.",
                "deniable respond --help shows how.",
            )
        if (
            force
            or (labels and as_json)
            or any(options.values())
            or codes is not None
        ):
            raise InvalidRequest(
                "from stdin each response is printed as it is drawn; expected no options but --labels or --json.",
                "For files name --answers, --column and --out.",
            )
        _from_stdin(read_any_design(design), labels=labels)
        return
    designs, name = _read_designs(design, column or [])
    if answers is None or out is None:
        raise InvalidRequest(
            "expected --answers, --column and --out together, or none of them.",
            "Without them answers are read from stdin.",
        )
    if labels:
        raise InvalidRequest(
            "--labels is for responses that are printed; expected it without --answers."
        )
    from deniable.engines import Local
    from deniable.engines.files import respond_file

    source: Any = sys.stdin.buffer if answers == ["-"] else answers
    with progress("responding") as report:
        written = respond_file(
            designs,
            source,
            out,
            column=name,
            keep=keep or (),
            codes=codes,
            cohorts=cohorts,
            keep_order=keep_order,
            format=format,
            engine=Local(threads=threads or os.cpu_count() or 1),
            overwrite=force,
            progress=report,
        )
    say(
        f"wrote {out}: {written.rows:,} rows, {written.missing:,} of them without a response"
    )
    if keep_order:
        say(
            "The rows are in the order of the answers: who knows that order knows whose response is whose."
        )
    if as_json:
        print_json(
            {
                "path": str(out),
                **_hashes(designs),
                "rows": written.rows,
                "missing": written.missing,
            }
        )


def _read_designs(design: Path | None, columns: list[str]) -> tuple[Any, str | None]:
    """Return the design and its column; or designs by column."""
    if design is not None:
        if len(columns) > 1:
            raise InvalidRequest(
                f"there is one design and {len(columns)} of --column; expected one.",
                "For several columns name the design of each: --column smokes=smokes.json --column age=age.json.",
            )
        return read_any_design(design), columns[0] if columns else None
    designs: dict[str, AnyDesign] = {}
    for column in columns:
        name, equals, path = column.rpartition("=")
        if not equals or not name or name in designs:
            raise InvalidRequest(
                f"--column {column} names no design, or a column again; expected NAME=DESIGN, each column once.",
                "For example --column smokes=smokes.json.",
            )
        designs[name] = read_any_design(Path(path))
    if not designs:
        raise InvalidRequest(
            "there is no design; expected its file.",
            "deniable respond --help shows how.",
        )
    return designs, None


def _hashes(designs: Any) -> dict[str, Any]:
    if isinstance(designs, dict):
        return {"designs": {name: design.hash for name, design in designs.items()}}
    return {"design": designs.hash}


def _from_stdin(design: AnyDesign, *, labels: bool) -> None:
    parse = find_operation(design, "parse_answer")
    if parse is None:
        raise InvalidRequest(
            f"answers to a design that asks for {design.asks} are no lines; expected --answers, --column and --out."
        )
    draw = operation(design, "respond")
    interactive = sys.stdin.isatty()
    if interactive:
        say(
            f"Type {operation(design, 'expected_answer')(design)} and press Enter; Ctrl-D ends."
        )
    for number, text in enumerate(sys.stdin, start=1):
        answer = text.rstrip("\r\n")
        try:
            symbol = draw(design, parse(design, answer)).symbol if answer else None
            echo((symbol or "") if labels else line(design.hash, symbol))
        except InvalidAnswer as error:
            problem = InvalidAnswer(f"line {number:,}: {error.problem}", error.hint)
            if not interactive:
                raise problem from None
            say(problem.problem)
        sys.stdout.flush()  # whoever waits for this response should have it now
