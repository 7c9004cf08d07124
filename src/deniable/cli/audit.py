"""`deniable audit`: what a mechanism reveals, found out from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from deniable.auditor import audit as run_audit
from deniable.auditor import of_command, of_endpoint, of_pairs
from deniable.auditor.check_context import Progress
from deniable.auditor.findings import Audit
from deniable.cli.common import (
    REFUTED,
    check_out,
    exit_codes,
    messages,
    print_json,
    say,
    write,
)
from deniable.cli.options import (
    LibraryCommand,
    command_help,
    set_parameters,
    typer_parameters,
)
from deniable.cli.reading import read_any_design, read_labels
from deniable.designs import FAMILIES
from deniable.errors import InvalidRequest, quoted

_FORMS = {".html": "to_html", ".json": "to_json", ".txt": "to_text"}


def _find_mechanism(
    design: str = "",
    *,
    command: str = "",
    endpoint: str = "",
    pairs: Path | None = None,
    categories: str = "",
    epsilon: float | None = None,
) -> dict[str, Any]:
    """Return the mechanism to look at, whichever way it was named, and the ε that is claimed.

    Args:
        design: a design file of any type, or a family: k_ary, with -c and -e.
        command: a program: an answer per line in, a response per line out.
        endpoint: a service on this machine: POST an answer, get a response.
        pairs: look at the columns answer and response of this file, and draw nothing more.
        categories (A,B,C|NUMBER): for a family: its categories, or how many.
        epsilon: the ε that is claimed; of a design by default its own.
    """
    if sum(map(bool, (design, command, endpoint, pairs))) != 1:
        raise InvalidRequest(
            "expected one of: a design, --command, --endpoint, --pairs."
        )
    if command:
        mechanism: object = of_command(command)
    elif endpoint:
        mechanism = of_endpoint(endpoint)
    elif pairs is not None:
        mechanism = of_pairs(pairs)
    elif Path(design).exists():
        mechanism = read_any_design(Path(design))
    else:
        mechanism = _build_design(design, categories, epsilon)
    return {"thing": mechanism, "epsilon": epsilon}


def _build_design(family: str, categories: str, epsilon: float | None) -> Any:
    if family not in FAMILIES:
        raise InvalidRequest(
            f"there is no file and no family of designs called {quoted(family, 80)}; expected one of them.",
            "Build a design first: deniable design --help.",
        )
    options: dict[str, Any] = (
        {"categories": read_labels(categories)} if categories else {}
    )
    try:
        return FAMILIES[family].build(
            **options, **({} if epsilon is None else {"epsilon": epsilon})
        )
    except TypeError:
        raise InvalidRequest(
            f"{family} is not built from --categories and --epsilon alone; expected a design file.",
            f"Write one: deniable design {family} --help.",
        ) from None


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show on stderr which check runs; nothing where stderr is no terminal."""
    from rich import progress

    err = messages()
    if not err.is_terminal:
        yield lambda _check, _share: None
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("beginning", total=1.0)
        yield lambda check, share: bar.update(task, completed=share, description=check)


def _show(
    report: Audit,
    *,
    out: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Print a report, and write it where that is asked for.

    Args:
        report: the report.
        out: the report: .html, .json or .txt.
    """
    if as_json:
        print_json(report.to_json())
    else:
        typer.echo(str(report))
    if out is not None:
        write(out, getattr(report, _FORMS[out.suffix])(), force=force)
        say(f"wrote {out}")


_LIBRARY = LibraryCommand(run_audit, _find_mechanism)
_OUTPUTS = typer_parameters(_show, ("out", "force", "as_json"))


@exit_codes
def audit(**values: Any) -> None:
    """Look at a mechanism from outside: does it keep the privacy that it claims?

    Searches for the event that tells two answers apart best and bounds ε from below on draws that the search never
    saw; compares responses with a claimed design; looks at randomness, sizes, times and repeated reports. It asks with
    answers of its own: hand over a program that draws, never people's answers.

    Ends with 5 if the claim is refuted, with 0 otherwise, which is no proof.
    """
    options = {parameter.name: values[parameter.name] for parameter in _OUTPUTS}
    out: Path | None = options["out"]
    if out is not None and out.suffix not in _FORMS:
        raise InvalidRequest(
            f"a report ends in {out.suffix!r}; expected one of {', '.join(_FORMS)}."
        )
    check_out(out, force=options["force"])
    with _progress() as report_progress:
        report = _LIBRARY.run(values, progress=report_progress)
    _show(report, **options)
    if report.verdict == "violated":
        raise typer.Exit(REFUTED)


set_parameters(audit, [*_LIBRARY.parameters, *_OUTPUTS])
audit.__doc__ = command_help(audit)
