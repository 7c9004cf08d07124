"""`deniable audit`: what a mechanism reveals, found out from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import (
    REFUTED,
    Force,
    Json,
    check_out,
    guarded,
    messages,
    print_json,
    read_any_design,
    read_share,
    say,
    write,
)
from deniable.errors import InvalidRequest, quoted

if TYPE_CHECKING:
    from deniable.auditor.findings import Audit
    from deniable.auditor.inquiries import Progress

_FORMS = {".html": "to_html", ".json": "to_json", ".txt": "to_text"}


@guarded
def audit(
    design: Annotated[
        str, typer.Argument(metavar="DESIGN", help="A design file of any type, or a family: k_ary, with -c and -e.")
    ] = "",
    command: Annotated[str, typer.Option(help="A program: an answer per line in, a response per line out.")] = "",
    endpoint: Annotated[str, typer.Option(help="A service on this machine: POST an answer, get a response.")] = "",
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Look at the columns answer and response of this file, and draw nothing more."
        ),
    ] = None,
    answers: Annotated[
        str, typer.Option("--answers", "-a", metavar="A,B,C|@FILE", help="What to ask about; by default all it knows.")
    ] = "",
    categories: Annotated[
        str,
        typer.Option("--categories", "-c", metavar="A,B,C|NUMBER", help="For a family: its categories, or how many."),
    ] = "",
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="The ε that is claimed.")] = None,
    delta: Annotated[float, typer.Option(help="The δ that is claimed beside it.")] = 0.0,
    claimed: Annotated[
        Path | None,
        typer.Option(metavar="DESIGN", help="A design that the mechanism claims to be: responses are compared."),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            min=1000, help="How many responses each check may ask for; the report adds them up over all checks."
        ),
    ] = 200_000,
    level: Annotated[
        float, typer.Option(metavar="SHARE", parser=read_share, help="The confidence of bounds and verdict.")
    ] = 0.9999,
    checks: Annotated[
        list[str] | None, typer.Option("--check", metavar="NAME", help="Only this check. May be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The report: .html, .json or .txt.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Look at a mechanism from outside: does it keep the privacy that it claims?

    Searches for the event that tells two answers apart best and bounds ε from below on draws that the search never
    saw; compares responses with a claimed design; looks at randomness, sizes, times and repeated reports. It asks with
    answers of its own: hand over a program that draws, never people's answers.

    Ends with 5 if the claim is refuted, with 0 otherwise, which is no proof.
    """
    _check_out(out, force=force)
    from deniable.auditor import audit as run

    thing = _thing(design, command, endpoint, pairs, categories, epsilon)
    with _progress() as told:
        found = run(
            thing,
            _answers(answers),
            epsilon=epsilon,
            delta=delta,
            draws=draws,
            level=level,
            claimed=None if claimed is None else read_any_design(claimed),
            checks=checks,
            progress=told,
        )
    _show(found, out, force=force, as_json=as_json)
    if found.verdict == "violated":
        raise typer.Exit(REFUTED)


def _check_out(out: Path | None, *, force: bool) -> None:
    if out is not None and out.suffix not in _FORMS:
        raise InvalidRequest(f"a report ends in {out.suffix!r}; expected one of {', '.join(_FORMS)}.")
    check_out(out, force=force)


def _thing(design: str, command: str, endpoint: str, pairs: Path | None, categories: str, epsilon: float | None) -> Any:
    """Return what is to be looked at, whichever way it was named."""
    from deniable.auditor import of_command, of_endpoint, of_pairs

    if sum(map(bool, (design, command, endpoint, pairs))) != 1:
        raise InvalidRequest("expected one of: a design, --command, --endpoint, --pairs.")
    if command:
        return of_command(command)
    if endpoint:
        return of_endpoint(endpoint)
    if pairs is not None:
        return of_pairs(pairs)
    return read_any_design(Path(design)) if Path(design).exists() else _built(design, categories, epsilon)


def _built(family: str, categories: str, epsilon: float | None) -> Any:
    from deniable.cli.designs import read_labels
    from deniable.designs import FAMILIES

    if family not in FAMILIES:
        raise InvalidRequest(
            f"there is no file and no family of designs called {quoted(family, 80)}; expected one of them.",
            "Build a design first: deniable design --help.",
        )
    options: dict[str, Any] = {"categories": read_labels(categories)} if categories else {}
    try:
        return FAMILIES[family].build(**options, **({} if epsilon is None else {"epsilon": epsilon}))
    except TypeError:
        raise InvalidRequest(
            f"{family} is not built from --categories and --epsilon alone; expected a design file.",
            f"Write one: deniable design {family} --help.",
        ) from None


def _answers(text: str) -> list[str] | None:
    from deniable.cli.designs import read_labels

    if not text:
        return None
    read = read_labels(text)
    return [str(number) for number in range(read)] if isinstance(read, int) else read


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show on stderr which check runs; nothing where stderr is no terminal."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    err = messages()
    if not err.is_terminal:
        yield lambda _check, _share: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("beginning", total=1.0)

        def told(check: str, share: float) -> None:
            bar.update(task, completed=share, description=check)

        yield told


def _show(found: Audit, out: Path | None, *, force: bool, as_json: bool) -> None:
    if as_json:
        print_json(found.to_json())
    else:
        typer.echo(str(found))
    if out is not None:
        write(out, getattr(found, _FORMS[out.suffix])(), force=force)
        say(f"wrote {out}")
