"""What all commands share: how errors leave, where words go, how files are read and written."""

from __future__ import annotations

import functools
import inspect
import io
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar

import typer
from typer.core import TyperGroup

from deniable.cli.options import (
    ParameterHelp,
    ShellOptions,
    command_help,
    flag_of,
    group_options,
    library_parameters,
    load_arguments,
    set_parameters,
    typer_parameters,
)
from deniable.errors import (
    DeniableError,
    ImplausibleResponses,
    Incompatible,
    UnreadableFile,
    nearest,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment
    from typer._click import Command, Context, HelpFormatter

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

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find a command, or refuse with a suggestion."""
        word = args[0]
        if self.get_command(ctx, word) is None and word[:1] not in ("", "-"):
            near = nearest(word, self.list_commands(ctx))
            ctx.fail(f"no such command {word!r:.80}. {near}".rstrip())
        return super().resolve_command(ctx, args)


class CommandList(SuggestingGroup):
    """Commands that belong together; help lists each with its whole first sentence."""

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List the commands; a sentence that is cut off in the middle tells nobody what a command does."""
        self.list_section(ctx, formatter, "Commands", self.list_commands(ctx))

    def list_section(
        self,
        ctx: Context,
        formatter: HelpFormatter,
        title: str,
        names: Iterable[str],
    ) -> None:
        """List some of the commands under a title."""
        commands = [(name, self.get_command(ctx, name)) for name in names]
        with formatter.section(title):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(MAX_SENTENCE))
                    for name, command in commands
                    if command is not None
                ]
            )


def in_words(command: Command) -> Command:
    """Leave out of a command's help the types of its arguments: their metavars say what to write."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.__dict__["display_type_rich"] = lambda **_: None
    for subcommand in getattr(command, "commands", {}).values():
        in_words(subcommand)
    return command


MAX_SENTENCE = 400
"""Characters: longer than any first sentence."""


def command_list(help: str, cls: type[TyperGroup] = CommandList) -> CommandApp:
    """Return a command with commands of its own, which functions join with its `add`."""
    return CommandApp(cls=cls, help=help, no_args_is_help=True, **PLAIN)


class CommandApp(typer.Typer):
    """Commands that belong together."""

    def add(self, function: Callable[..., None]) -> Callable[..., None]:
        """Add a function as a command of its name."""
        return self.command(_command_name(function))(guard_command(function))

    def add_quiet(self, function: Callable[..., None]) -> Callable[..., None]:
        """Add a function that has true answers at hand, of whose unexpected errors nothing but the place is told."""
        run = quiet_crashes(guard_command(function))
        return self.command(_command_name(function))(run)


def _command_name(function: Callable[..., None]) -> str:
    return function.__name__.strip("_").replace("_", "-")


def console(*, stderr: bool = False) -> Console:
    """Return where results go; on stderr, everything else."""
    from rich.console import Console

    from deniable.rendering.formats import printable

    class PrintableConsole(Console):
        """Console that spells out control characters of whatever it prints."""

        def render(self, *args: Any, **options: Any) -> Iterator[Segment]:
            for segment in super().render(*args, **options):
                text = segment.text if segment.control else printable(segment.text)
                yield segment._replace(text=text)

    return PrintableConsole(stderr=stderr, highlight=False)


def messages() -> Console:
    """Return where everything but results goes."""
    return console(stderr=True)


def echo(text: str) -> None:
    """Print a line for programs exactly as it is; on a terminal, with control characters spelled out."""
    from deniable.rendering.formats import printable

    typer.echo(printable(text) if sys.stdout.isatty() else text)


def say(text: str) -> None:
    """Print a message as it is."""
    messages().print(text, markup=False, soft_wrap=True)


def tell(text: str, *, style: str = "", soft_wrap: bool = False) -> None:
    """Print a text of a result as it is, in lines as wide as the terminal unless `soft_wrap` leaves them alone."""
    console().print(text, markup=False, style=style, soft_wrap=soft_wrap)


def guard_command(
    command: Callable[..., None],
    library: ShellOptions | None = None,
    texts: Mapping[str, ParameterHelp] | None = None,
    *,
    unset: bool = False,
) -> Callable[..., None]:
    """Turn a function into a command: options and help come from it, errors become a message and an exit code.

    Args:
        command: does the work.
        library: parameters of functions of the library that become options, too; `command` takes those that have a
            value as `**options`.
        texts: what docstrings of the library say about them.
        unset: whether none of them has a value unless one is given.
    """
    library, texts = library or {}, texts or {}

    @functools.wraps(command)
    def run(**values: object) -> None:
        options = load_arguments(library, values)
        command(**group_options(command, values), **options)

    parameters = library_parameters(library, texts, unset=unset)
    set_parameters(run, typer_parameters(command, library=parameters))
    run.__doc__ = command_help(command)
    return _exit_codes(run)


def _exit_codes(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors into a message and an exit code; no traceback for a mistake in the words of a command."""

    @functools.wraps(command)
    def run(**values: object) -> None:
        try:
            writes = any(values.get(name) is not None for name in files)
            with _warnings_in_words(), hold_output() if writes else nullcontext():
                command(**values)
        except DeniableError as error:
            problem, hint = (
                _name_options(text, parameters)
                for text in (error.problem, error.hint)
            )
            raise fail(problem, hint, code=_code(error)) from None
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

    parameters = inspect.signature(command).parameters
    files = [
        name
        for name in ("out", "chart")
        if name in parameters and parameters[name].default is None
    ]
    return run


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """Print a warning as a message, without the line of our source; what a result tells itself is not told twice."""
    with warnings.catch_warnings():
        # stands among the warnings of the result
        warnings.simplefilter("ignore", ImplausibleResponses)
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


def _name_options(text: str, parameters: Collection[str]) -> str:
    """Return a text with options where it names parameters of Python that a command has; programs stay as they are.

    Example:
        >>> _name_options("Add it to values=, or say level=0.9.", ["value", "level"])
        'Add it to --value, or say --level 0.9.'
    """

    def option(match: re.Match[str]) -> str:
        name, more = match[1], match[2]
        known = next(
            (n for n in (name, name.removesuffix("s")) if n in parameters), ""
        )
        return f"{flag_of(known)}{' ' * bool(more)}{more}" if known else match[0]

    return (
        text
        if "dn." in text
        else re.sub(r"\b(\w+)=(?![\[({\"'])([\w.]?)", option, text)
    )


def _code(error: DeniableError) -> int:
    if isinstance(error, Incompatible):
        return FOREIGN
    return UNREADABLE if isinstance(error, UnreadableFile) else USAGE


@dataclass(frozen=True, kw_only=True)
class OutputFile:
    """The file that a command writes, where one is named.

    Attributes:
        out: write the result to this file.
        force: overwrite files that exist.
    """

    out: Path | None = None
    force: bool = False

    def __post_init__(self) -> None:
        """Refuse early, before any work is done, to write where a file is."""
        check_out(self.out, force=self.force)

    def write(
        self, text: str | bytes, message: str = "", *, private: bool = False
    ) -> None:
        """Write a file that appears when it is complete, and say so; one with secrets for its owner alone."""
        if self.out is not None:
            write(self.out, text, force=self.force, private=private)
            say(message or f"wrote {self.out}")

    def print_or_write(
        self, text: str, message: str = "", *, private: bool = False
    ) -> None:
        """Write a text where a file is named, and print it otherwise."""
        if self.out is None:
            echo(text)
        self.write(text, message, private=private)


@dataclass(frozen=True, kw_only=True)
class CommandOutput(OutputFile):
    """Where the result of a command goes.

    Attributes:
        as_json: print JSON for programs on stdout.
    """

    as_json: bool = False

    def deliver(self, document: str, show: Callable[[], None]) -> None:
        """Print a result, as JSON or as people read it, and write its JSON where a file is named."""
        if self.as_json:
            print_json(document)
        else:
            show()
        self.write(document)

    def deliver_design(self, document: str, show: Callable[[], None]) -> None:
        """Deliver a design that was built, and tell how to keep it where it was only shown."""
        self.deliver(document, show)
        if self.out is None and not self.as_json:
            say("Nothing was written; add --out design.json to keep this design.")


def check_out(path: Path | None, *, force: bool) -> None:
    """Refuse early, before any work is done, to write where a file is."""
    from deniable.files.atomic import check_free

    if path is not None:
        check_free(path, overwrite=force)


def write(
    path: Path, text: str | bytes, *, force: bool, private: bool = False
) -> None:
    """Write a file that appears when it is complete; one with secrets for its owner alone."""
    from deniable.files.atomic import atomic_write

    with atomic_write(path, overwrite=force, private=private) as file:
        file.write(text if isinstance(text, bytes) else text.encode() + b"\n")


def print_json(document: str | Mapping[str, object]) -> None:
    """Print JSON on stdout, exactly as it is."""
    text = (
        document
        if isinstance(document, str)
        else json.dumps(document, ensure_ascii=False, indent=2)
    )
    echo(text)


@contextmanager
def progress_bar(title: str, *columns: str) -> Iterator[Callable[..., None]]:
    """Show on stderr how far something is and how long it took; yield what updates it. Nothing without a terminal."""
    from rich import progress as bars

    err = messages()
    if not err.is_terminal:
        yield lambda **_: None
        return
    texts = [bars.TextColumn(column) for column in columns]
    left = [bars.TextColumn("left"), bars.TimeRemainingColumn()] if columns else []
    with bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        *texts,
        bars.TimeElapsedColumn(),
        *left,
        console=err,
        transient=True,
    ) as bar:
        task = bar.add_task(title, total=None if columns else 1.0, rows=0, rate=0.0)
        yield functools.partial(bar.update, task)


@contextmanager
def progress(title: str, *, unit: str = "rows") -> Iterator[Progress]:
    """Show on stderr how far files or a simulation are, how fast, and how long it takes; nothing without a terminal."""
    began = time.monotonic()
    rates = f"{{task.fields[rows]:,}} {unit}, {{task.fields[rate]:,.0f}}/s"
    with progress_bar(title, rates) as update:

        def update_rows(rows: int, share: float | None) -> None:
            rate = rows / max(time.monotonic() - began, 1e-9)
            total = None if share is None else 1.0
            update(rows=rows, rate=rate, total=total, completed=share or 0.0)

        yield update_rows


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
