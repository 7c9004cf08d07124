"""What all commands share: how errors leave, where words go, how files are read and written."""

from __future__ import annotations

import functools
import inspect
import io
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar

import typer
from typer.core import TyperGroup

from deniable.cli.options import describe
from deniable.errors import (
    DeniableError,
    ImplausibleResponses,
    Incompatible,
    UnreadableFile,
    nearest,
)

if TYPE_CHECKING:
    from rich.console import Console

    from deniable.tallies.files import Progress

_P = ParamSpec("_P")
_R = TypeVar("_R")

USAGE, FOREIGN, UNREADABLE, REFUTED, INTERRUPTED, OURS = 2, 3, 4, 5, 130, 1

PLAIN: dict[str, Any] = {
    "add_completion": False,  # which the program has once, not each of its commands
    "pretty_exceptions_enable": False,  # pretty tracebacks print the values of variables, and one could be an answer
    "rich_markup_mode": None,
    "context_settings": {
        "max_content_width": 100,
        "help_option_names": ["-h", "--help"],
    },
}
"""How every command's help looks."""


class SuggestingGroup(TyperGroup):
    """Commands that belong together; a word that is none of them is answered with those that come near to it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, or refuse with a suggestion."""
        word = args[0]
        if self.get_command(ctx, word) is None and word[:1] not in ("", "-"):
            near = nearest(word, self.list_commands(ctx))
            ctx.fail(f"no such command {word!r:.80}. {near}".rstrip())
        return super().resolve_command(ctx, args)


class CommandList(SuggestingGroup):
    """Commands that belong together; help lists each with its whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands; a sentence that is cut off in the middle tells nobody what a command does."""
        commands: dict[str, Any] = {
            name: self.get_command(ctx, name) for name in self.list_commands(ctx)
        }
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(WHOLE))
                    for name, command in commands.items()
                ]
            )


def in_words(command: Any) -> Any:
    """Say in a command's help what to write, where its author did not: NUMBER, FILE or TEXT, not the name of a type."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda **_: None  # its metavar says it
        elif parameter.metavar is None and not parameter.is_flag:
            kind = getattr(parameter, "type_descriptor", None)  # of Typer from 0.20 on
            parameter.metavar = _WORDS.get(getattr(kind, "annotation", None), "TEXT")
    for subcommand in getattr(command, "commands", {}).values():
        in_words(subcommand)
    return command


WHOLE = 400  # characters: longer than any first sentence
_WORDS: dict[Any, str] = {int: "NUMBER", float: "NUMBER", Path: "FILE"}


def console() -> Console:
    """Return where results go."""
    from rich.console import Console

    return Console(highlight=False)


def messages() -> Console:
    """Return where everything else goes."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """Print a message as it is."""
    messages().print(text, markup=False, soft_wrap=True)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function: options and help come from it, and errors become a message and an exit code."""
    run = exit_codes(command)
    describe(run, command)
    return run


def exit_codes(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into a message and an exit code; no traceback for a mistake in the words of a command."""

    @functools.wraps(command)
    def run(**values: Any) -> None:
        try:
            writes = any(
                values.get(name) is not None
                for name in ("out", "chart")
                if name in optional
            )
            with _warnings_in_words(), hold_output() if writes else nullcontext():
                command(**values)
        except DeniableError as error:
            raise fail(error.problem, error.hint, code=_code(error)) from None
        except BrokenPipeError:
            raise  # whoever read our stdout has gone; Typer leaves quietly
        except OSError as error:
            reason = (
                f"{error.filename}: {error.strerror}"
                if error.filename
                else str(error.strerror or error)
            )
            raise fail(f"cannot read or write {reason}.", code=UNREADABLE) from None
        except MemoryError:
            raise fail(
                "this does not fit into the memory of this machine.", code=OURS
            ) from None
        except KeyboardInterrupt:
            raise fail(
                "interrupted; nothing was left half-written.", code=INTERRUPTED
            ) from None

    parameters = inspect.signature(command).parameters.values()
    optional = {parameter.name for parameter in parameters if parameter.default is None}
    return run


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """Print a warning as a message, without the line of our source; what a result tells itself is not told twice."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ImplausibleResponses
        )  # stands among the warnings of the result
        warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}")
        yield


class _HeldOutput(io.StringIO):
    """What a command prints, for a stream that is told later; whoever asks is told about that stream."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream

    def isatty(self) -> bool:
        return self.stream.isatty()


@contextmanager
def hold_output() -> Iterator[None]:
    """Print what a command prints when it has written its files: who reads no further must not lose them.

    Of a command that is refused nothing is printed; where a disk fails, what was found is.
    """
    stream = sys.stdout
    sys.stdout = output = _HeldOutput(stream)
    refused = False
    try:
        yield
    except DeniableError:
        refused = True
        raise
    finally:
        sys.stdout = stream
        if not refused:
            stream.write(output.getvalue())
            stream.flush()


def fail(problem: str, hint: str = "", *, code: int) -> typer.Exit:
    """Print what was wrong and how to go on, and return what ends the command."""
    from rich.text import Text

    err = messages()
    err.print(Text.assemble(("error: ", "bold red"), problem), soft_wrap=True)
    if hint:
        err.print(Text(hint, style="dim"), soft_wrap=True)
    return typer.Exit(code)


def _code(error: DeniableError) -> int:
    if isinstance(error, Incompatible):
        return FOREIGN
    return UNREADABLE if isinstance(error, UnreadableFile) else USAGE


def check_out(path: Path | None, *, force: bool) -> None:
    """Refuse early, before any work is done, to write where a file is."""
    from deniable.files.atomic import check_free

    if path is not None:
        check_free(path, overwrite=force)


def write(path: Path, text: str, *, force: bool, private: bool = False) -> None:
    """Write a text file that appears when it is complete; one with secrets for its owner alone."""
    from deniable.files.atomic import atomic_write

    with atomic_write(path, overwrite=force, private=private) as file:
        file.write(text.encode() + b"\n")


def deliver(
    document: str,
    show: Callable[[], None],
    out: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Show a design that was built, or print its JSON, and write it where that is asked for."""
    check_out(out, force=force)
    if as_json:
        print_json(document)
    else:
        show()
    if out is not None:
        write(out, document, force=force)
        say(f"wrote {out}")
    elif not as_json:
        say("Nothing was written; add --out design.json to keep this design.")


def print_json(document: str | dict[str, Any]) -> None:
    """Print JSON on stdout, exactly as it is."""
    text = (
        document
        if isinstance(document, str)
        else json.dumps(document, ensure_ascii=False, indent=2)
    )
    typer.echo(text)


@contextmanager
def progress(title: str, *, unit: str = "rows") -> Iterator[Progress]:
    """Show on stderr how far files or a simulation are, how fast, and how long it takes; nothing without a terminal."""
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    err = messages()
    if not err.is_terminal:
        yield lambda _rows, _share: None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(),
        TextColumn(f"{{task.fields[rows]:,}} {unit}, {{task.fields[rate]:,.0f}}/s"), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    began = time.monotonic()
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(title, total=None, rows=0, rate=0.0)

        def told(rows: int, share: float | None) -> None:
            rate = rows / max(time.monotonic() - began, 1e-9)
            bar.update(
                task,
                rows=rows,
                rate=rate,
                total=None if share is None else 1.0,
                completed=share or 0.0,
            )

        yield told


def quiet_crashes(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Where true answers are at hand, tell of an unexpected error only its kind and its place, not its words."""

    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return command(*args, **kwargs)
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            trace = sys.exc_info()[2]
            while trace and trace.tb_next:
                trace = trace.tb_next
            location = (
                f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
                if trace
                else "?"
            )
            problem = (
                f"unexpected {type(error).__name__} at {location}; its words are "
                "withheld, they could hold an answer."
            )
            raise fail(problem, "Please report it.", code=OURS) from None

    return run


def print_tally(tally: Any, *, as_json: bool) -> None:
    """Print the table of a tally, as `print(tally)` shows it, and its notes."""
    from deniable.rendering import MAX_ROWS
    from deniable.rendering.terminal import to_rich

    if as_json:
        print_json(tally.to_json(indent=2))
        return
    sheet = tally._sheet().shortened(MAX_ROWS)
    console().print(to_rich(sheet))
    for note in sheet.notes:
        console().print(note, markup=False)
