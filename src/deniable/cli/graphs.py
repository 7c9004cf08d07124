"""`deniable graph`: who has what, and how much of it, under one ε: weighted bipartite graphs and key-value data."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.common import (
    PLAIN,
    CommandList,
    check_out,
    console,
    guarded,
    print_json,
    quiet_crashes,
    say,
    write,
)
from deniable.cli.designs import FamilyCommands
from deniable.cli.estimates import (
    Chart,
    ResultFile,
    check_files,
    print_notes,
    read_counts,
    save_picture,
    write_result,
)
from deniable.cli.reading import read_any_design
from deniable.engines.files import tally_file
from deniable.errors import InvalidRequest
from deniable.estimates.formats import sheet
from deniable.rendering.pictures import MAX_BARS
from deniable.rendering.terminal import to_rich
from deniable.types import operation
from deniable.verbs import estimate as fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.types.key_value.draw import GraphDesign, GraphTally

app = typer.Typer(
    cls=CommandList,
    help="Who has which items, and how much of each: design → respond → tally → estimate for bipartite graphs.",
    no_args_is_help=True,
    **PLAIN,
)


class GraphFamilies(FamilyCommands):
    """The families of designs for items and weights."""

    def builders(self) -> Mapping[str, Callable[..., Any]]:
        from deniable.types.edges.design import one_edge
        from deniable.types.key_value import design as designs

        public = {name: getattr(designs, name) for name in designs.__all__}
        families = {
            name: value
            for name, value in public.items()
            if getattr(value, "__annotations__", {}).get("return")
            == designs.KeyValueDesign.__name__
        }
        return {**families, "one_edge": one_edge}

    def show(self, design: GraphDesign) -> None:
        _show(design)


app.add_typer(
    typer.Typer(
        cls=GraphFamilies,
        callback=lambda: None,
        help="Build a design, and tell what it promises and what it saves.",
        no_args_is_help=True,
        **PLAIN,
    ),
    name="design",
)


@app.command("show")
@guarded
def show(design: Path, *, as_json: bool = False) -> None:
    """Tell what a design promises: its ε for whole rows, and what two devices one after the other would be charged.

    Args:
        design: a design, as written by `deniable graph design`.
    """
    graph = _read_design(design)
    if as_json:
        print_json(_facts(graph))
    else:
        _show(graph)


@app.command("respond")
@quiet_crashes
@guarded
def respond(
    design: Path,
    *,
    edges: Path,
    out: Path,
    people: int | None = None,
    person: str = "person",
    item: str = "item",
    weight: str = "weight",
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Draw one response for each person, with secure randomness.

    Respond once for each person: every run draws anew and reveals as much again.

    Args:
        design: a design, as written by `deniable graph design`.
        edges: Parquet, CSV or NDJSON with a row for each edge.
        out: responses: .parquet, .csv or .ndjson.
        people (1…): how many people there are, those without an edge too.
        person: the column of the person.
        item: the column of the item.
        weight: the column of the weight.
    """
    from deniable.engines.record_files import read_edge_file, respond_edges

    graph = _read_design(design)
    check_out(out, force=force)
    if out.exists() and edges.exists() and out.samefile(edges):
        raise InvalidRequest(
            "the responses would replace the edges; expected another file."
        )
    read = read_edge_file(graph, edges, people=people, columns=(person, item, weight))
    count = respond_edges(graph, read, out, overwrite=force)
    say(f"wrote {out}: {count:,} responses")
    if as_json:
        print_json({"path": str(out), "design": graph.hash, "rows": count})


@app.command("tally")
@guarded
def tally(
    design: Path,
    responses: list[Path],
    *,
    out: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Count responses, and add tallies of the same design.

    Args:
        design: a design, as written by `deniable graph design`.
        responses: files of responses, tallies (.json) to add, or - for stdin.
        out: write the result to this file.
    """
    graph = _read_design(design)
    check_out(out, force=force)
    total: Any = None
    for path in responses:
        count = _count(graph, path)
        total = count if total is None else total + count
    if as_json:
        print_json(total.to_json(indent=2))
    else:
        console().print(
            f"{total.respondents:,} responses about {len(graph.items):,} items",
            markup=False,
        )
    if out is not None:
        write(out, total.to_json(indent=2), force=force)
        say(f"wrote {out}")


@app.command("estimate")
@guarded
def estimate(
    design: Path,
    tally: Path,
    *,
    scaling: str | None = None,
    population: str | None = None,
    level: float = 0.95,
    top: int = 20,
    chart: Chart = None,
    out: ResultFile = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Estimate degrees, weights and means of items, and the numbers of the whole graph.

    Args:
        design: a design, as written by `deniable graph design`.
        tally: a tally, as written by `deniable graph tally`, or - for stdin.
        scaling (NAME): fixed or conditional; by default the better one.
        population: how many people there are, or "census" if all responded.
        top (1…): how many items to show.
    """
    check_files(out, chart, force=force)
    graph = _read_design(design)
    size = (
        int(population)
        if population is not None and population.isdecimal()
        else population
    )
    options = {
        name: value
        for name, value in (("scaling", scaling), ("population", size))
        if value is not None
    }
    result: Any = fit(_read_tally(graph, read_counts(tally)), **options)
    chosen = (
        result if hasattr(graph, "scheme") else result.about("mean")
    )  # of one edge each, everybody has one
    if as_json:
        print_json(chosen.to_json(level=level, indent=2))
    else:
        summary = chosen.summary(level=level, count=top)
        console().print(to_rich(sheet(summary)))
        print_notes(summary)
    if chart is not None:
        save_picture(_draw(chosen, min(top, MAX_BARS), level), chart)
    if out is not None:
        write_result(chosen, out, level=level, force=force)


def _count(design: GraphDesign, path: Path) -> GraphTally:
    if str(path) == "-":
        return tally_file(design, sys.stdin.buffer)  # type: ignore[no-any-return]
    return (
        _read_tally(design, path.read_bytes())
        if path.suffix.lower() == ".json"
        else tally_file(design, path)
    )


def _read_tally(design: GraphDesign, text: bytes) -> GraphTally:
    tally: GraphTally = operation(design, "TALLY").from_json(text, design)
    return tally


def _draw(result: Any, count: int, level: float) -> Figure:
    from deniable.report.graphs import weighted_graph

    linear = getattr(result, "linear", None)
    if linear is not None and linear.frequency is not None:
        return weighted_graph(result, count=count, level=level)
    figure: Figure = result.plot(level=level)
    return figure


def _read_design(path: Path) -> GraphDesign:
    """Read a design of either type.

    Raises:
        InvalidRequest: a design of another type.
    """
    design: GraphDesign = read_any_design(path)
    if not hasattr(design, "items"):
        raise InvalidRequest(
            f"{path.name} asks for {design.asks}; expected a design of items and weights.",
            "Build one: deniable graph design --help.",
        )
    return design


def _show(design: GraphDesign) -> None:
    out = console()
    out.print(repr(design), style="bold", markup=False)
    out.print(f"{design.hash}\n", style="dim", markup=False)
    for sentence in operation(design, "privacy_sentences")(design):
        out.print(sentence, markup=False)


def _facts(design: GraphDesign) -> dict[str, Any]:
    """Return what `show` prints, for programs; an infinite number as null."""
    return {
        "hash": design.hash,
        "epsilon": None if design.epsilon == math.inf else design.epsilon,
        "items": len(design.items),
        "sentences": operation(design, "privacy_sentences")(design),
        **operation(design, "privacy_facts")(design),
    }
