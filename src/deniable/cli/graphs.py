"""`deniable graph`: who has what, and how much of it, under one ε: weighted bipartite graphs and key-value data."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from deniable.cli import collected
from deniable.cli.common import (
    CommandOutput,
    check_out,
    command_list,
    console,
    print_json,
    say,
    tell,
)
from deniable.cli.designs import FamilyCommands, design_facts, show_design
from deniable.cli.estimates import (
    ResultOutput,
    estimator_options,
    print_notes,
    read_counts,
)
from deniable.cli.reading import read_any_design
from deniable.engines.files import tally_file
from deniable.errors import InvalidRequest
from deniable.estimates.formats import sheet
from deniable.files.cells import safe_cell
from deniable.rendering.pictures import MAX_BARS
from deniable.rendering.terminal import to_rich
from deniable.types import operation
from deniable.verbs import estimate as fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.types.key_value.draw import GraphDesign, GraphTally

app = command_list(
    "Who has which items, and how much of each: design → respond → tally → estimate for bipartite graphs."
)


class GraphFamilies(FamilyCommands):
    """The families of designs for items and weights."""

    def builders(self) -> Mapping[str, Callable[..., GraphDesign]]:
        from deniable.types.edges import design as edges
        from deniable.types.key_value import design as key_value

        families: dict[str, Callable[..., GraphDesign]] = {}
        families |= {build.__name__: build for build in key_value.BUILDERS}
        families |= {build.__name__: build for build in edges.BUILDERS}
        return families

    def show(self, design: GraphDesign) -> None:
        show_design(design)


app.add_typer(
    command_list(
        "Build a design, and tell what it promises and what it saves.", GraphFamilies
    ),
    name="design",
)


@app.add
def show(design: Path, *, as_json: bool = False) -> None:
    """Tell what a design promises: its ε for whole rows, and what two devices one after the other would be charged.

    Args:
        design: a design, as written by `deniable graph design`.
    """
    graph = _read_design(design)
    if as_json:
        print_json(design_facts(graph))
    else:
        show_design(graph)


@app.add_quiet
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
    read = read_edge_file(
        graph, edges, people=people, columns=(person, item, weight)
    )
    count = respond_edges(graph, read, out, overwrite=force)
    say(f"wrote {out}: {count:,} responses")
    if as_json:
        print_json({"path": str(out), "design": graph.hash, "rows": count})


@app.add
def tally(design: Path, responses: list[Path], *, output: CommandOutput) -> None:
    """Count responses, and add tallies of the same design.

    Args:
        design: a design, as written by `deniable graph design`.
        responses: files of responses, tallies (.json) to add, or - for stdin.
        out: write the result to this file.
    """
    graph = _read_design(design)
    first, *further = [_count(graph, path) for path in responses]
    total = sum(further, start=first)
    output.deliver(
        total.to_json(indent=2),
        lambda: tell(
            f"{total.respondents:,} responses about {len(graph.items):,} items"
        ),
    )


@app.command("estimate")
@estimator_options(["key-value", "edges"])
def estimate(
    design: Path,
    tally: Path,
    *,
    level: float = 0.95,
    top: int = 20,
    output: ResultOutput,
    **options: Any,
) -> None:
    """Estimate degrees, weights and means of items, and the numbers of the whole graph.

    Args:
        design: a design, as written by `deniable graph design`.
        tally: a tally, as written by `deniable graph tally`, or - for stdin.
        top (1…): how many items to show.
    """
    graph = _read_design(design)
    result: Any = fit(_read_tally(graph, read_counts(tally)), **options)
    # of one edge each, everybody has one
    chosen = result if hasattr(graph, "scheme") else result.about("mean")

    def show_items() -> None:
        summary = chosen.summary(level=level, count=top)
        console().print(to_rich(sheet(summary)))
        print_notes(summary)

    output.deliver_result(
        chosen,
        show_items,
        lambda: _draw(chosen, min(top, MAX_BARS), level),
        level=level,
    )


@app.add
def synthesize(
    design: Path,
    tally: Path,
    size_design: Path,
    size_tally: Path,
    *,
    people: int | None = None,
    output: CommandOutput,
) -> None:
    """Draw a synthetic graph from the estimates of two questions: items of people, and how many they have.

    Args:
        design: a design, as written by `deniable graph design`.
        tally: its tally, as written by `deniable graph tally`, or - for stdin.
        size_design: the design of the question for the number of items; its categories are 0, 1, 2 and so on.
        size_tally: its tally, as written by `deniable tally`.
        people (1…): how many people to draw; as many as responded, if you do not say.
        out: a row for each edge, in CSV: person, item, weight.
    """
    from deniable.simulate import graph

    items: Any = fit(_read_tally(_read_design(design), read_counts(tally)))
    counts: Any = collected.read_tally(
        read_counts(size_tally), collected.read_designs(size_design)
    )
    drawn = graph(items.joint_degrees(fit(counts)), people)
    columns = drawn.columns()
    if output.as_json:
        print_json({"epsilon": drawn.epsilon, "note": str(drawn), **columns})
    else:
        tell(str(drawn))
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        rows.writerow([safe_cell(cell) for cell in row])
    output.write(text.getvalue().rstrip("\n"))


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

    if result.type == "key-value" and result.tells("frequency"):
        return weighted_graph(result, count=count, level=level)
    figure: Figure = result.plot(level=level)
    return figure


def _read_design(path: Path) -> GraphDesign:
    """Read a design of either type.

    Raises:
        InvalidRequest: a design of another type.
    """
    design = read_any_design(path)
    if not hasattr(design, "items"):
        raise InvalidRequest(
            f"{path.name} asks for {design.asks}; expected a design of items and weights.",
            "Build one: deniable graph design --help.",
        )
    return cast("GraphDesign", design)
