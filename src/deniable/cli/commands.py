"""All commands together. A command's module is imported when the command is used, so that help costs nothing."""

from __future__ import annotations

import functools
import os
import platform
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import PLAIN, SuggestingGroup, fail, in_words

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter
    from typer._click.exceptions import ClickException

COMMANDS = {
    "design": (
        "designs",
        "Choose how answers are turned into responses, and see what that promises.",
    ),
    "plan": (
        "plans",
        "Before anybody is asked: how many people, how wide an interval, how sure, which design.",
    ),
    "respond": (
        "respond",
        "Draw a response for each answer, with secure randomness.",
    ),
    "tally": (
        "tally",
        "Count the responses of one file or of several, which add up.",
    ),
    "tally-query": (
        "tally",
        "Print the SQL query that counts the responses in a table of a database.",
    ),
    "tally-result": (
        "tally",
        "Read the counts that the query of `deniable tally-query` returned.",
    ),
    "estimate": (
        "estimates",
        "Estimate the share of each category, with intervals and with what privacy cost.",
    ),
    "crosstab": (
        "crosstab",
        "Estimate the share of each pair of answers to two questions, and test whether they hang together.",
    ),
    "regress": (
        "analyses",
        "Fit a regression to responses: by how much the share of an answer changes with each covariate.",
    ),
    "by-answer": (
        "by_answer",
        "Estimate the mean or quantiles of an exact outcome among the people with each answer.",
    ),
    "prevalence": (
        "analyses",
        "Estimate the prevalence of a condition from an imperfect test, whose errors were estimated, too.",
    ),
    "list-experiment": (
        "analyses",
        "Estimate the share of a sensitive item from a list experiment (item count technique).",
    ),
    "release": (
        "releases",
        "Give out an answer in stages, and never pay twice: a ledger on your own machine.",
    ),
    "graph": (
        "graphs",
        "Who has which items, and how much of each: design → respond → tally → estimate.",
    ),
    "certify": (
        "certify",
        "Certify what a design, a ladder or a survey promises, in exact numbers.",
    ),
    "fieldkit": (
        "fieldkit",
        "Write a kit for asking on paper: the nearest spinner, cards, dice and coins, and the pages around them.",
    ),
    "survey": (
        "survey",
        "Surveys in a collector's database: check, create, open, close, export …",
    ),
    "serve": (
        "serve",
        "Run the collector: surveys in the browser, responses in a database, estimates on pages.",
    ),
    "attacks": (
        "attacks",
        "What an attacker can learn at best, and what fabricated responses can do.",
    ),
    "audit": (
        "audit",
        "Look at a mechanism from outside: does it keep the privacy that it claims?",
    ),
    "demo": (
        "demo",
        "Field a survey: simulated people respond to a collector on this machine.",
    ),
}
"""The commands in the order in which they are used: the module of each, and what it does in a line."""

EPILOG = (
    "Exit codes: 0 done; 1 a mistake of ours; 2 usage or bad input; 3 belongs to another design; "
    "4 a file that cannot be read or written; 5 a claim or a demand was refuted; 130 interrupted. "
    "Results go to stdout (as JSON with --json), messages and progress to stderr."
)
# the base of all mistakes in a command's words; Typer does not export it
_CLICK_ERROR: Any = typer.BadParameter.__mro__[2]


class Commands(SuggestingGroup):
    """Finds a command when it is used, and tells every mistake in one style."""

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002 - the order is always the same
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command; its module is imported when it is asked for."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = command_of(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:  # noqa: ARG002 - the list is always the same
        """List the commands, and import none."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, line) for name, (_, line) in COMMANDS.items()]
            )

    def main(
        self, *args: Any, standalone_mode: bool = True, **options: Any
    ) -> object:
        """Run, and tell a mistake in the words of a command as every other error is told."""
        options["standalone_mode"] = False
        run = functools.partial(super().main, *args, **options)
        if COMPLETE in os.environ:
            from typer._completion_classes import completion_init

            completion_init()  # how Typer speaks with shells; nobody else needs it
        if not standalone_mode:
            return run()
        try:
            code = run()
        except _CLICK_ERROR as error:
            sys.exit(_print_usage_error(error))
        except typer.Abort:
            sys.exit(fail("stopped.", code=130).exit_code)
        sys.exit(code if isinstance(code, int) else 0)


def command_of(name: str) -> Command:
    """Import a command's module and return what Typer runs."""
    module = import_module(f"deniable.cli.{COMMANDS[name][0]}")
    if hasattr(module, "app"):
        return in_words(typer.main.get_command(module.app))
    alone = typer.Typer(**PLAIN)
    alone.command(name, epilog=EPILOG)(getattr(module, name.replace("-", "_")))
    return in_words(typer.main.get_command(alone))


def _print_usage_error(error: ClickException) -> int:
    """Print a mistake in a command's words, and where help is; return the exit code."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message(), err=True)
    else:
        message = error.format_message()
        hint = f"See {context.command_path} --help." if context else ""
        ended = message if message.endswith("?") else f"{message.rstrip('.')}."
        fail(f"{ended[:1].lower()}{ended[1:]}", hint, code=error.exit_code)
    return int(error.exit_code)


def _version(wanted: bool) -> None:
    if wanted:
        from deniable import __version__
        from deniable.extras import EXTRAS

        installed = [
            name for name, modules in EXTRAS.items() if all(map(find_spec, modules))
        ]
        missing = [name for name in EXTRAS if name not in installed]
        typer.echo(f"deniable {__version__}")
        typer.echo(
            f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
        )
        typer.echo(
            f"extras: {', '.join(installed) or 'none'}"
            + (f"; not installed: {', '.join(missing)}" if missing else "")
        )
        raise typer.Exit


def _show_completion(shell: str | None) -> None:
    if shell is not None:
        from typer._completion_shared import get_completion_script

        typer.echo(
            get_completion_script(
                prog_name="deniable", complete_var=COMPLETE, shell=_known(shell)
            )
        )
        raise typer.Exit


def _install_completion(shell: str | None) -> None:
    if shell is not None:
        from typer._completion_shared import install

        _, path = install(
            shell=_known(shell), prog_name="deniable", complete_var=COMPLETE
        )
        typer.echo(f"wrote {path}; a new {shell} completes `deniable`")
        raise typer.Exit


def _known(shell: str) -> str:
    if shell not in SHELLS:
        raise typer.BadParameter(
            f"there is no completion for {shell!r}; expected one of {', '.join(SHELLS)}"
        )
    return shell


SHELLS = ("bash", "zsh", "fish")
COMPLETE = "_DENIABLE_COMPLETE"
"""The variable by which a shell asks the program what could come next."""

app = typer.Typer(
    name="deniable", cls=Commands, epilog=EPILOG, no_args_is_help=True, **PLAIN
)


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Print the version and what is installed, and stop.",
        ),
    ] = False,
    show_completion: Annotated[
        str | None,
        typer.Option(
            callback=_show_completion,
            is_eager=True,
            metavar="|".join(SHELLS),
            help="Print a script that completes words in this shell.",
        ),
    ] = None,
    install_completion: Annotated[
        str | None,
        typer.Option(
            callback=_install_completion,
            is_eager=True,
            metavar="|".join(SHELLS),
            help="Let this shell complete words from now on.",
        ),
    ] = None,
) -> None:
    """Randomized response, end to end: design → respond → tally → estimate."""
