"""`deniable audit`: what a mechanism reveals, found out from outside."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.auditor import audit as run_audit
from deniable.auditor import of_command, of_endpoint, of_pairs
from deniable.cli.common import (
    REFUTED,
    CommandOutput,
    echo,
    guard_command,
    print_json,
    progress_bar,
)
from deniable.cli.options import find_options, parameter_help
from deniable.cli.reading import read_any_design, read_labels
from deniable.designs import FAMILIES
from deniable.errors import InvalidRequest, quoted

if TYPE_CHECKING:
    from deniable.auditor.findings import Audit
    from deniable.designs import AnyDesign

_FORMS = {".html": "to_html", ".json": "to_json", ".txt": "to_text"}


@partial(
    guard_command,
    library=find_options(run_audit, omit=("epsilon",)),
    texts=parameter_help(run_audit),
)
def audit(
    design: str = "",
    *,
    command: str = "",
    endpoint: str = "",
    pairs: Path | None = None,
    categories: str = "",
    epsilon: float | None = None,
    output: CommandOutput,
    **options: Any,
) -> None:
    """Look at a mechanism from outside: does it keep the privacy that it claims?

    Searches for the event that tells two answers apart best and bounds ε from below on draws that the search never
    saw; compares responses with a claimed design; looks at randomness, sizes, times and repeated reports. It asks with
    answers of its own: hand over a program that draws, never people's answers.

    Ends with 5 if the claim is refuted, with 0 otherwise, which is no proof.

    Args:
        design: a design file of any type, or a family: k_ary, with -c and -e.
        command: a program: an answer per line in, a response per line out.
        endpoint: a service on this machine: POST an answer, get a response.
        pairs: look at the columns answer and response of this file, and draw nothing more.
        categories (A,B,C|NUMBER): for a family: its categories, or how many.
        epsilon: the ε that is claimed; of a design by default its own.
        out: the report: .html, .json or .txt.
    """
    _check_ending(output.out)
    mechanism = _find_mechanism(
        design, command, endpoint, pairs, categories, epsilon
    )
    with progress_bar("beginning") as update:
        report = run_audit(
            mechanism,
            epsilon=epsilon,
            progress=lambda check, share: update(completed=share, description=check),
            **options,
        )
    _deliver(report, output)


def _check_ending(out: Path | None) -> None:
    if out is not None and out.suffix not in _FORMS:
        raise InvalidRequest(
            f"a report ends in {out.suffix!r}; expected one of {', '.join(_FORMS)}."
        )


def _find_mechanism(
    design: str,
    command: str,
    endpoint: str,
    pairs: Path | None,
    categories: str,
    epsilon: float | None,
) -> object:
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
    else:
        mechanism = _find_design(design, categories, epsilon)
    return mechanism


def _deliver(report: Audit, output: CommandOutput) -> None:
    if output.as_json:
        print_json(report.to_json())
    else:
        echo(str(report))
    if output.out is not None:
        output.write(getattr(report, _FORMS[output.out.suffix])())
    if report.verdict == "violated":
        raise typer.Exit(REFUTED)


def _find_design(name: str, categories: str, epsilon: float | None) -> AnyDesign:
    """Read a design, or build one of a family."""
    if Path(name).exists():
        return read_any_design(Path(name))
    if name not in FAMILIES:
        raise InvalidRequest(
            f"there is no file and no family of designs called {quoted(name, 80)}; expected one of them.",
            "Build a design first: deniable design --help.",
        )
    labels = {"categories": read_labels(categories)} if categories else {}
    bound = {} if epsilon is None else {"epsilon": epsilon}
    try:
        return FAMILIES[name].build(**labels, **bound)
    except TypeError:
        raise InvalidRequest(
            f"{name} is not built from --categories and --epsilon alone; expected a design file.",
            f"Write one: deniable design {name} --help.",
        ) from None
