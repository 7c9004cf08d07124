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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TextIO, TypeVar

import typer
from typer.core import TyperGroup

from deniable.errors import (
    DeniableError,
    ImplausibleResponses,
    Incompatible,
    InvalidNumber,
    UnreadableFile,
    nearest,
)

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import Console

    from deniable.designs import Design
    from deniable.tallies.files import Progress
    from deniable.types.drawn.design import DrawnDesign

_P = ParamSpec("_P")
_R = TypeVar("_R")

USAGE, FOREIGN, UNREADABLE, REFUTED, INTERRUPTED, OURS = 2, 3, 4, 5, 130, 1

PLAIN: dict[str, Any] = {
    "add_completion": False,  # which the program has once, not each of its commands
    "pretty_exceptions_enable": False,  # pretty tracebacks print the values of variables, and one could be an answer
    "rich_markup_mode": None,
    "context_settings": {"max_content_width": 100, "help_option_names": ["-h", "--help"]},
}
"""How every command's help looks."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs on stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
DesignFile = Annotated[Path, typer.Argument(metavar="DESIGN", help="A design, as written by `deniable design`.")]


def read_number(text: str) -> Fraction:
    """Read 0.1, .1, 1/10 or 10%.

    Raises:
        BadParameter: none of these.
    """
    from deniable import exact

    written = text.strip()
    number = written.removesuffix("%").rstrip()
    try:
        return exact.rational(f"0{number}" if number.startswith(".") else number) / (100 if number != written else 1)
    except InvalidNumber:
        raise typer.BadParameter(f"{text!r:.40} is no number; expected one such as 0.1, 1/10 or 10%") from None


def read_share(text: str | float) -> float:
    """Read a share or a level, from 0 to 1; one that was meant as a percentage is told how to write it.

    Raises:
        BadParameter: no number, or one outside of 0 to 1.
    """
    written = str(text)
    number = read_number(written)
    if 0 <= number <= 1:
        return float(number)
    plain = written.strip().rstrip("% ")
    meant = 1 < number <= 100 and "%" not in written and "/" not in written
    hint = f"; write {plain}% for {plain} of 100" if meant else ""
    raise typer.BadParameter(f"{written!r:.40} is no share; expected one from 0 to 1, such as 0.1 or 10%{hint}")


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
        known: dict[str, Any] = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(WHOLE)) for name, each in known.items()])


def in_words(command: Any) -> Any:
    """Say in a command's help what to write, where its author did not: NUMBER, FILE or TEXT, not the name of a type."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda **_: None  # its metavar says it
        elif parameter.metavar is None and not parameter.is_flag:
            kind = getattr(parameter, "type_descriptor", None)  # of Typer from 0.20 on
            parameter.metavar = _WORDS.get(getattr(kind, "annotation", None), "TEXT")
    for each in getattr(command, "commands", {}).values():
        in_words(each)
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


def guarded(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Turn errors into a message and an exit code; no traceback for a mistake of whoever typed the command."""

    files = [each.name for each in inspect.signature(command).parameters.values() if _is_file_to_write(each)]

    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            held = held_back() if any(kwargs.get(name) is not None for name in files) else nullcontext()
            with _warnings_in_words(), held:
                return command(*args, **kwargs)
        except DeniableError as error:
            raise fail(error.problem, error.hint, code=_code(error)) from None
        except BrokenPipeError:
            raise  # whoever read our stdout has gone; Typer leaves quietly
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
            raise fail(f"cannot read or write {what}.", code=UNREADABLE) from None
        except MemoryError:
            raise fail("this does not fit into the memory of this machine.", code=OURS) from None
        except KeyboardInterrupt:
            raise fail("interrupted; nothing was left half-written.", code=INTERRUPTED) from None

    return run


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """Print a warning as a message, without the line of our source; what a result tells itself is not told twice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleResponses)  # stands among the warnings of the result
        warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}")
        yield


def _is_file_to_write(parameter: inspect.Parameter) -> bool:
    """Whether a parameter names a file that is written only where it is asked for."""
    return parameter.name in ("out", "chart") and parameter.default is None


class _HeldOutput(io.StringIO):
    """What a command prints, for a stream that is told later; whoever asks is told about that stream."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream

    def isatty(self) -> bool:
        return self.stream.isatty()


@contextmanager
def held_back() -> Iterator[None]:
    """Print what a command prints when it has written its files: who reads no further must not lose them.

    Of a command that is refused nothing is printed; where a disk fails, what was found is.
    """
    stream = sys.stdout
    sys.stdout = held = _HeldOutput(stream)
    refused = False
    try:
        yield
    except DeniableError:
        refused = True
        raise
    finally:
        sys.stdout = stream
        if not refused:
            stream.write(held.getvalue())
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


def read_design(path: Path) -> Design:
    """Read a design file."""
    from deniable.designs import Design

    return Design.from_json(path.read_bytes())


def read_asked(path: Path) -> Design | DrawnDesign:
    """Read a design file: of one question, or of several of which some are drawn for each respondent."""
    from deniable.types.drawn.design import DrawnDesign

    text = path.read_bytes()
    return DrawnDesign.from_json(text) if f"/{DrawnDesign.SCHEMA}/".encode() in text[:200] else read_design(path)


_DESIGN_TYPES = {  # by schema: where its class is
    "design": "designs.Design",
    "ladder": "order.ladders.Ladder",
    "deck": "designs.Deck",
    "keyvalue-design": "types.key_value.design.KeyValueDesign",
    "one-edge-design": "types.edges.design.EdgeDesign",
    "string-design": "types.strings.design.StringDesign",
    "drawn-design": "types.drawn.design.DrawnDesign",
}


def read_any_design(path: Path) -> Any:
    """Read a file of a design of whatever type it says it is."""
    text = path.read_bytes()
    try:
        schema = json.loads(text)["schema"].split("/")[1]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        schema = "design"  # whose own reader says what is wrong
    module, _, name = _DESIGN_TYPES.get(schema, _DESIGN_TYPES["design"]).rpartition(".")
    return getattr(import_module(f"deniable.{module}"), name).from_json(text)


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


def deliver(document: str, show: Callable[[], None], out: Path | None, *, force: bool, as_json: bool) -> None:
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
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False, indent=2)
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
            bar.update(task, rows=rows, rate=rate, total=None if share is None else 1.0, completed=share or 0.0)

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
            place = sys.exc_info()[2]
            while place and place.tb_next:
                place = place.tb_next
            where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else "?"
            problem = (
                f"unexpected {type(error).__name__} at {where}; its words are withheld, they could hold an answer."
            )
            raise fail(problem, "Please report it.", code=OURS) from None

    return run


def print_tally(tally: Any, *, as_json: bool) -> None:
    """Print counts as a table, or, where they are no counts of symbols, how many there are."""
    from deniable.report import tables

    if as_json:
        print_json(tally.to_json(indent=2))
    elif tally.design.asks in ("categories", "numbers", "drawn items"):
        console().print(tables.tally_table(tally))
    else:
        console().print(f"{tally.respondents:,} responses, {tally.missing:,} missing", markup=False)
