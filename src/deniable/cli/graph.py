"""`deniable graph`: who has what, and how much of it, under one ε: weighted bipartite graphs and key-value data."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli import graph_design
from deniable.cli.common import Force, Json, check_out, console, guarded, print_json, quiet_crashes, say, write
from deniable.cli.graph_design import DesignFile, Out, read_design
from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.engines.local.key_value import GraphDesign, GraphTally
    from deniable.records.key_value.estimates import KeyValueEstimate

app = typer.Typer(
    help="Who has which items, and how much of each: design → respond → tally → estimate for bipartite graphs.",
    no_args_is_help=True,
)

app.command("design")(graph_design.design)
app.command("show")(graph_design.show)


class Scaling(StrEnum):
    """How counts become estimates."""

    FIXED = "fixed"
    CONDITIONAL = "conditional"


@app.command("respond")
@quiet_crashes
@guarded
def respond(
    design: DesignFile,
    edges: Annotated[
        Path, typer.Option("--edges", "-a", metavar="FILE", help="Parquet, CSV or NDJSON with a row for each edge.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Responses: .parquet, .csv or .ndjson.")],
    people: Annotated[
        int | None, typer.Option("--people", min=1, help="How many people there are, those without an edge too.")
    ] = None,
    person: Annotated[str, typer.Option("--person", help="The column of the person.")] = "person",
    item: Annotated[str, typer.Option("--item", help="The column of the item.")] = "item",
    weight: Annotated[str, typer.Option("--weight", help="The column of the weight.")] = "weight",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Draw one response for each person, with secure randomness.

    Respond once for each person: every run draws anew and reveals as much again.
    """
    from deniable.engines.edge_files import read_edge_file, respond_edges

    known = read_design(design)
    check_out(out, force=force)
    if out.exists() and edges.exists() and out.samefile(edges):
        raise InvalidRequest("the responses would replace the edges; expected another file.")
    read = read_edge_file(known, edges, people=people, columns=(person, item, weight))
    count = respond_edges(known, read, out, overwrite=force)
    say(f"wrote {out}: {count:,} responses")
    if as_json:
        print_json({"path": str(out), "design": known.hash, "rows": count})


@app.command("tally")
@guarded
def tally(
    design: DesignFile,
    responses: Annotated[
        list[Path],
        typer.Argument(metavar="RESPONSES…", help="Files of responses, tallies (.json) to add, or - for stdin."),
    ],
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Count responses, and add tallies of the same design."""
    known = read_design(design)
    check_out(out, force=force)
    total: Any = None
    for path in responses:
        part = _count(known, path)
        total = part if total is None else total + part
    if as_json:
        print_json(total.to_json(indent=2))
    else:
        console().print(f"{total.respondents:,} responses about {len(known.items):,} items", markup=False)
    if out is not None:
        write(out, total.to_json(indent=2), force=force)
        say(f"wrote {out}")


@app.command("estimate")
@guarded
def estimate(
    design: DesignFile,
    tally: Annotated[Path, typer.Argument(metavar="TALLY", help="A tally, as written by `deniable graph tally`.")],
    scaling: Annotated[Scaling | None, typer.Option("--scaling", help="By default the better one.")] = None,
    population: Annotated[
        str | None, typer.Option("--population", help='How many people there are, or "census" if all responded.')
    ] = None,
    level: Annotated[float, typer.Option("--level", help="How often an interval holds the truth.")] = 0.95,
    count: Annotated[int, typer.Option("--top", min=1, help="How many items to show.")] = 20,
    chart: Annotated[
        Path | None, typer.Option("--chart", metavar="FILE", help="Save a picture of the graph, such as graph.png.")
    ] = None,
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Estimate degrees, weights and means of items, and the numbers of the whole graph."""
    from deniable.cli.estimate import check_picture
    from deniable.records.edges.designs import EdgeDesign

    known = read_design(design)
    check_picture(chart)
    for path in (chart, out):
        check_out(path, force=force)
    if isinstance(known, EdgeDesign):
        if chart is not None or out is not None or scaling is not None:
            raise InvalidRequest("a design with one edge each has no --chart, --out and --scaling; expected none.")
        _one_edge(known, tally, population, level, count, as_json=as_json)
        return
    made = _fit(known, tally, scaling, population)
    if as_json:
        print_json(made.to_json(level=level, indent=2))
    else:
        _print_summary(made, level, count)
    if chart is not None:
        _save(made, chart, min(count, 40), level)
        say(f"wrote {chart}")
    if out is not None:
        write(out, made.to_json(level=level, indent=2), force=force)
        say(f"wrote {out}")


def _count(known: GraphDesign, path: Path) -> GraphTally:
    from deniable.engines.edge_files import tally_edge_file
    from deniable.records.edges.designs import EdgeDesign
    from deniable.records.edges.tallies import EdgeTally
    from deniable.records.key_value.tallies import KeyValueTally

    if str(path) == "-":
        return tally_edge_file(known, sys.stdin.buffer)
    if path.suffix.lower() != ".json":
        return tally_edge_file(known, path)
    if isinstance(known, EdgeDesign):
        return EdgeTally.from_json(path.read_bytes(), known)
    return KeyValueTally.from_json(path.read_bytes(), known)


def _fit(known: Any, tally: Path, scaling: Scaling | None, population: str | None) -> KeyValueEstimate:
    from deniable.records.key_value.estimates import estimate as fit
    from deniable.records.key_value.tallies import KeyValueTally

    counted = KeyValueTally.from_json(tally.read_bytes(), known)
    chosen = None if scaling is None else scaling.value
    return fit(counted, scaling=chosen, population=_population(population))


def _population(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.isdecimal() else text


def _one_edge(known: Any, tally: Path, population: str | None, level: float, count: int, *, as_json: bool) -> None:
    from deniable.records.edges.estimates import estimate as fit
    from deniable.records.edges.tallies import EdgeTally

    size = _population(population)
    if isinstance(size, str):
        raise InvalidRequest("the population of a design with one edge each is a whole number; expected one.")
    made = fit(EdgeTally.from_json(tally.read_bytes(), known), population=size)
    if as_json:
        print_json(made.about("mean").to_json(level=level, indent=2))
        return
    from deniable.report.tables import edges_table

    console().print(edges_table(made, count))
    console().print(known.caveat, style="dim", markup=False)


def _print_summary(made: KeyValueEstimate, level: float, count: int) -> None:
    from deniable.report.tables import items_table

    out = console()
    summary = made.summary(level=level, count=count)
    out.print(items_table(summary))
    for note in summary.notes:
        out.print(note, style="dim", markup=False)
    for doubt in summary.warnings:
        out.print(f"Warning: {doubt}", style="bold yellow", markup=False)


def _save(made: KeyValueEstimate, path: Path, count: int, level: float) -> None:
    from deniable.estimates.charts import save
    from deniable.report.graphs import weighted_graph

    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        save(weighted_graph(made, count=count, level=level), partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
