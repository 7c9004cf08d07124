"""`deniable tally`: files of responses → counts."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli import warehouses
from deniable.cli.common import (
    DesignFile,
    Force,
    Json,
    check_out,
    guarded,
    print_tally,
    progress,
    read_any_design,
    say,
    write,
)
from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.designs import AnyDesign


@guarded
def tally(
    design: DesignFile,
    responses: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE…",
            help="Responses (Parquet, Arrow, CSV, NDJSON; a file, a folder or a 'pattern*'), tallies (.json), or - for "
            "stdin.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="NAME", help="Which column holds the responses; with --sql of several in their order."
        ),
    ] = None,
    codes: Annotated[
        bool | None,
        typer.Option("--codes/--no-codes", help="Whole numbers in a file that does not say so are codes, or labels."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", metavar="NAME", help="Which column holds how many people each row stands for."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="How many threads count; by default one for each core.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the tally to this file.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    sql: warehouses.Sql = False,
    dialect: warehouses.Dialect = "duckdb",
    table: warehouses.Table = "",
    schema: warehouses.Schema = "",
    by: warehouses.By = None,
    labels: warehouses.Labels = False,
    unchecked: warehouses.Unchecked = False,
    reached: warehouses.Reached = "",
    from_sql: warehouses.FromSql = None,
) -> None:
    """Count the responses of one file or of several, which add up. Files of another design are refused.

    Responses in a database are counted there: --sql prints the query, and --from-sql reads what it returned.
    """
    known = read_any_design(design)
    if sql:
        asked = warehouses.TableOptions(table, schema, columns or (), by or (), dialect, labels, unchecked, reached)
        asked.show(known)
        return
    if from_sql is not None:
        warehouses.show_counts(known, from_sql, out, force=force, as_json=as_json)
        return
    if not responses:
        raise InvalidRequest("there are no files; expected files of responses, or --sql, or --from-sql.")
    check_out(out, force=force)
    if columns and len(columns) > 1:
        raise InvalidRequest(
            f"there are {len(columns)} of --column; expected one.", "Each has a design, and a tally, of its own."
        )
    if len({Path(path).resolve() for path in responses}) < len(responses):
        say("a file is named more than once; its responses count as often.")
    question = columns[0] if columns else ""
    counted = [_count(known, path, question, codes, threads, weights) for path in responses]
    if len({type(each) for each in counted}) > 1:
        raise InvalidRequest("some of these are counted with weights and some without; expected all in one way.")
    total = sum(counted)
    print_tally(total, as_json=as_json)
    if out is not None:
        write(out, total.to_json(indent=2), force=force)
        say(f"wrote {out}")


def _count(
    design: AnyDesign, path: str, question: str, codes: bool | None, threads: int | None, weights: str | None
) -> Any:
    from deniable.designs import Design
    from deniable.engines import Local
    from deniable.engines.files import tally_file
    from deniable.engines.response_files import read_tally
    from deniable.tallies.files import tally_weighted_file

    if path.lower().endswith(".json"):
        return read_tally(Path(path).read_bytes(), design)
    engine = Local(threads=threads or os.cpu_count() or 1)
    given: Any = sys.stdin.buffer if path == "-" else path
    with progress(f"counting {Path(path).name}") as told:
        if weights is not None:
            if not isinstance(design, Design):
                raise InvalidRequest(f"--weights does not go with a design that asks for {design.asks}.")
            return tally_weighted_file(design, given, weights, question=question, codes=codes, progress=told)
        return tally_file(design, given, question=question, codes=codes, engine=engine, progress=told)
