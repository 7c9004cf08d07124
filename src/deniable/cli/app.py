"""All commands together. Nothing heavy is imported here: commands import what they need when they run."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from deniable.cli import (
    choose,
    demo,
    design,
    estimate,
    graph,
    market,
    release,
    reproduce,
    respond,
    serve,
    survey,
    tally,
)

ORDER = ("design", "respond", "tally", "estimate", "release", "graph", "survey", "serve", "reproduce", "demo")
EPILOG = (
    "Exit codes: 0 done; 1 a mistake of ours; 2 usage or bad input; 3 belongs to another design; "
    "4 a file that cannot be read or written; 130 interrupted. "
    "Results go to stdout (as JSON with --json), messages and progress to stderr."
)


class InOrder(TyperGroup):
    """Lists the commands in the order in which they are used."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the order is always the same
        """Return the names of the commands."""
        return sorted(self.commands, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    name="deniable",
    cls=InOrder,
    help="Randomized response, end to end: design → respond → tally → estimate.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # pretty tracebacks print the values of variables, and one could be an answer
    rich_markup_mode="markdown",
)
design.app.command("family")(choose.family)
design.app.command("optimal")(choose.optimal)
app.add_typer(design.app, name="design")
app.command("respond", epilog=EPILOG)(respond.respond)
app.command("tally", epilog=EPILOG)(tally.tally)
app.command("estimate", epilog=EPILOG)(estimate.estimate)
for sale in (market.offer, market.consent, market.revoke, market.sell):
    release.app.command()(sale)
app.add_typer(release.app, name="release")
app.add_typer(graph.app, name="graph")
app.add_typer(survey.app, name="survey")
app.command("serve", epilog=EPILOG)(serve.serve)
app.command("reproduce", epilog=EPILOG)(reproduce.reproduce)
app.command("demo", epilog=EPILOG)(demo.demo)


def _version(wanted: bool) -> None:
    if wanted:
        from deniable import __version__

        typer.echo(f"deniable {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Randomized response, end to end: design → respond → tally → estimate."""
