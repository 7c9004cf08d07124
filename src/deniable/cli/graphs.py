"""`deniable graph`: who has what, and how much of it, under one ε: weighted bipartite graphs and key-value data."""

from __future__ import annotations

import json
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
from deniable.errors import InvalidRequest
from deniable.estimates.charts import MOST_BARS
from deniable.rendering import formats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.types.edges.estimate import EdgeEstimate
    from deniable.types.key_value.draw import GraphDesign, GraphTally
    from deniable.types.key_value.estimate import KeyValueEstimate

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

        named = {name: getattr(designs, name) for name in designs.__all__}
        kind = designs.KeyValueDesign.__name__
        found = {
            name: each for name, each in named.items() if getattr(each, "__annotations__", {}).get("return") == kind
        }
        return {**found, "one_edge": one_edge}

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
    known = read_design(design)
    if as_json:
        print_json(_told(known))
    else:
        _show(known)


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
    made = _fitted(read_design(design), read_counts(tally), scaling, population)
    if as_json:
        print_json(made.to_json(level=level, indent=2))
    else:
        _print_summary(made, level, top)
    if chart is not None:
        save_picture(_drawn(made, min(top, MOST_BARS), level), chart)
    if out is not None:
        write_result(made, out, level=level, force=force)


def _count(known: GraphDesign, path: Path) -> GraphTally:
    from deniable.engines.files import tally_file
    from deniable.types.edges.count import EdgeTally
    from deniable.types.edges.design import EdgeDesign
    from deniable.types.key_value.count import KeyValueTally

    if str(path) == "-":
        return tally_file(known, sys.stdin.buffer)  # type: ignore[no-any-return]
    if path.suffix.lower() != ".json":
        return tally_file(known, path)  # type: ignore[no-any-return]
    if isinstance(known, EdgeDesign):
        return EdgeTally.from_json(path.read_bytes(), known)
    return KeyValueTally.from_json(path.read_bytes(), known)


def _fitted(
    known: GraphDesign, counts: bytes, scaling: str | None, population: str | None
) -> KeyValueEstimate | EdgeEstimate:
    from deniable.types.edges import estimate as edges
    from deniable.types.edges.count import EdgeTally
    from deniable.types.edges.design import EdgeDesign
    from deniable.types.key_value import estimate as items
    from deniable.types.key_value.count import KeyValueTally

    size = int(population) if population is not None and population.isdecimal() else population
    if not isinstance(known, EdgeDesign):
        return items.estimate(KeyValueTally.from_json(counts, known), scaling=scaling, population=size)
    if scaling is not None or isinstance(size, str):
        raise InvalidRequest("of one edge each the population is a whole number, and nothing is scaled; expected that.")
    return edges.estimate(EdgeTally.from_json(counts, known), population=size).about("mean")


def _print_summary(made: KeyValueEstimate | EdgeEstimate, level: float, count: int) -> None:
    from deniable.estimates.formats import sheet
    from deniable.rendering.terminal import to_rich

    out = console()
    summary = made.summary(level=level, count=count)
    out.print(to_rich(sheet(summary)))
    print_notes(summary)


def _drawn(made: KeyValueEstimate | EdgeEstimate, count: int, level: float) -> Figure:
    from deniable.report.graphs import weighted_graph
    from deniable.types.key_value.estimate import KeyValueEstimate

    if isinstance(made, KeyValueEstimate) and made.linear.frequency is not None:
        return weighted_graph(made, count=count, level=level)
    return made.plot(level=level)


def read_design(path: Path) -> GraphDesign:
    """Read a design of either kind."""
    from deniable.types.edges.design import EdgeDesign
    from deniable.types.key_value.design import KeyValueDesign

    text = path.read_bytes()
    try:
        schema = json.loads(text).get("schema", "")
    except (ValueError, AttributeError):
        schema = ""
    kind: type[EdgeDesign | KeyValueDesign] = EdgeDesign if f"/{EdgeDesign.SCHEMA}/" in str(schema) else KeyValueDesign
    return kind.from_json(text)


def _show(known: GraphDesign) -> None:
    out = console()
    out.print(repr(known), style="bold", markup=False)
    out.print(f"{known.hash}\n", style="dim", markup=False)
    for sentence in _sentences(known):
        out.print(sentence, markup=False)


def _sentences(known: GraphDesign) -> list[str]:
    from deniable.types.edges.design import EdgeDesign

    odds = f"the odds between any two {'weights' if isinstance(known, EdgeDesign) else 'rows of items and weights'}"
    told = [
        f"Whatever is sent, {odds} change by a factor of at most {formats.factor(known.parity)} "
        f"(ε = {formats.epsilon(known.epsilon)})."
    ]
    if isinstance(known, EdgeDesign):
        return [*told, known.caveat]
    key, value = known.scheme.parts
    told.append(
        f"Key and value on their own change odds by up to {formats.factor(key)} and {formats.factor(value)}; "
        "one after the other they "
        f"would be charged ε = {formats.epsilon(known.sequential)}, {formats.number(known.saving)} more than is spent."
    )
    return told


def _told(known: GraphDesign) -> dict[str, Any]:
    from deniable.types.edges.design import EdgeDesign

    told: dict[str, Any] = {
        "hash": known.hash,
        "epsilon": None if known.epsilon == math.inf else known.epsilon,
        "items": len(known.items),
        "sentences": _sentences(known),
    }
    if not isinstance(known, EdgeDesign):
        told |= {"name": known.name, "sequential": known.sequential, "saving": known.saving}
        symbol = known.scheme.symbol
        told["symbol"] = [[str(symbol.probability(i, given=j)) for j in range(3)] for i in range(symbol.responses)]
    return told
