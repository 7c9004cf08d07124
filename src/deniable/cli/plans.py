"""`deniable plan`: how many people, how wide an interval, how much power; a sentence first, then a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import typer

from deniable import plan
from deniable.cli.common import (
    PLAIN,
    CommandList,
    console,
    exit_codes,
    print_json,
    progress,
    say,
    write,
)
from deniable.cli.estimates import Chart, check_files, save_picture
from deniable.cli.options import (
    LibraryCommand,
    parameter_help,
    set_parameters,
    typer_parameters,
)
from deniable.cli.reading import read_design
from deniable.designs import Design, direct
from deniable.plan import Arm, Planned
from deniable.simulate import studies

SharePair: TypeAlias = tuple[float, float]

app = typer.Typer(
    cls=CommandList,
    name="plan",
    no_args_is_help=True,
    help="Before anybody is asked: how many people, how wide an interval, how sure, which design.",
    **PLAIN,
)


def _read_arm(path: Path) -> Design:
    """Read a design; the word direct stands for a direct question."""
    return (
        direct() if str(path) == "direct" and not path.exists() else read_design(path)
    )


def _two_groups(
    first: Path,
    second: Path | None = None,
    *,
    shares: SharePair,
    category: str | None = None,
) -> dict[str, Any]:
    """Return the arguments that describe two groups.

    Args:
        first: the design of the first group, or the word direct.
        second: that of the second group; by default the same.
        shares: the share that you expect in each group.
        category: the category of these shares; by default the last one.
    """
    designs = _read_arm(first), _read_arm(first if second is None else second)
    arms = [
        Arm(design, share, None, category)
        for design, share in zip(designs, shares, strict=True)
    ]
    return {"first": arms[0], "second": arms[1]}


def _two_groups_of_sizes(
    first: Path,
    second: Path | None = None,
    *,
    shares: SharePair,
    sizes: Sequence[int] | None = None,
    category: str | None = None,
) -> dict[str, Any]:
    """Return the arguments that describe two groups of known sizes.

    Args:
        sizes: how many respond in each group.
    """
    arms = _two_groups(first, second, shares=shares, category=category)
    people = (None, None) if sizes is None else sizes
    return {
        name: replace(arm, n=n)
        for (name, arm), n in zip(arms.items(), people, strict=True)
    }


PLANS: dict[str, Callable[..., Planned]] = {
    "size": plan.how_many,
    "width": plan.how_wide,
    "detect": plan.how_small,
    "difference": plan.difference,
    "split": plan.allocation,
    "two-samples": plan.two_sample_allocation,
    "cheaters": plan.cheater_detection,
    "caps": plan.best_under_caps,
    "compliance": plan.noncompliance,
    "designs": plan.designs_at,
    "crossover": plan.crossover,
    "simulate": studies,
}
"""Every plan by the name of its command; its options are the parameters of its function."""

_PREPARE: Mapping[str, Callable[..., dict[str, Any]]] = {
    "difference": _two_groups_of_sizes,
    "split": _two_groups,
}
_OMITTED = (
    "people",
    "categories",
)  # parameters for programs: the grid of a picture, the names of two answers
_FURTHER = {
    "caps": ("out", "force"),
    "crossover": ("chart", "force"),
}  # options of commands that write files


def _show(
    planned: Planned,
    *,
    out: Path | None = None,
    chart: Chart = None,
    force: bool = False,
    as_json: bool = False,
    draws: bool = False,
) -> None:
    """Print a plan, and write what was asked for.

    Args:
        planned: the plan.
        out: write the design to this file.
        draws: whether there is a picture, to be printed as text where it is not written.
    """
    if as_json:
        print_json(planned.to_json(indent=2))
    else:
        console().print(str(planned), markup=False, soft_wrap=True)
    if out is not None and planned.design is not None:
        write(out, planned.design.to_json(indent=2), force=force)
        say(f"wrote {out}")
    if chart is not None:
        save_picture(planned.plot(), chart)
    elif draws and not as_json:
        console().print(f"\n{planned.drawn()}", markup=False, soft_wrap=True)


def _add_command(name: str, function: Callable[..., Planned]) -> None:
    """Add the command of a plan."""
    library = LibraryCommand(function, _PREPARE.get(name), _TEXTS, _OMITTED)
    outputs = typer_parameters(_show, ("as_json", *_FURTHER.get(name, ())))

    def run(**values: Any) -> None:
        options = {parameter.name: values[parameter.name] for parameter in outputs}
        check_files(
            options.get("out"), options.get("chart"), force=options.get("force", False)
        )
        if "progress" not in inspect.signature(function).parameters:
            planned = library.run(values)
        else:
            total = values["repetitions"]
            with progress("simulating", unit="studies") as report:
                planned = library.run(
                    values, progress=lambda done: report(done, done / total)
                )
        _show(planned, **options, draws="chart" in options)

    set_parameters(run, [*library.parameters, *outputs])
    run.__doc__ = (inspect.getdoc(function) or "").partition("\n\n")[0]
    app.command(name)(exit_codes(run))


# Functions that take the same parameters explain them once.
_TEXTS = {
    name: text
    for function in reversed(PLANS.values())
    for name, text in parameter_help(function).items()
}
for _name, _function in PLANS.items():
    _add_command(_name, _function)
