"""`deniable plan`: how many people, how wide an interval, how much power; a sentence first, then a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from deniable import plan
from deniable.cli.common import (
    CommandOutput,
    command_list,
    guard_command,
    print_json,
    progress,
    tell,
)
from deniable.cli.estimates import Chart, check_chart, save_picture
from deniable.cli.options import find_options, parameter_help, set_parameters
from deniable.cli.reading import read_design
from deniable.designs import Design, direct
from deniable.plan import Arm, Planned
from deniable.simulate import studies

Plan: TypeAlias = Callable[..., Planned]
SharePair: TypeAlias = tuple[float, float]

app = command_list(
    "Before anybody is asked: how many people, how wide an interval, how sure, which design."
)


@dataclass(frozen=True, kw_only=True)
class PictureOutput:
    """Where a plan with a picture goes."""

    chart: Chart = None
    force: bool = False
    as_json: bool = False

    def __post_init__(self) -> None:
        check_chart(self.chart, force=self.force)


def _show(planned: Planned, *, as_json: bool) -> None:
    if as_json:
        print_json(planned.to_json(indent=2))
    else:
        tell(str(planned), soft_wrap=True)


def _run(function: Plan, *, as_json: bool = False, **options: Any) -> None:
    _show(function(**options), as_json=as_json)


def _run_simulation(
    function: Plan, *, as_json: bool = False, **options: Any
) -> None:
    total = options["repetitions"]
    with progress("simulating", unit="studies") as report:
        planned = function(
            **options, progress=lambda done: report(done, done / total)
        )
    _show(planned, as_json=as_json)


def _run_caps(function: Plan, *, output: CommandOutput, **options: Any) -> None:
    """Write the best design, too.

    Args:
        function: the plan.
        out: write the design to this file.
    """
    planned = function(**options)
    _show(planned, as_json=output.as_json)
    if planned.design is not None:
        output.write(planned.design.to_json(indent=2))


def _run_crossover(function: Plan, *, output: PictureOutput, **options: Any) -> None:
    planned = function(**options)
    _show(planned, as_json=output.as_json)
    if output.chart is not None:
        save_picture(planned.plot(), output.chart)
    elif not output.as_json:
        tell(f"\n{planned.drawn()}", soft_wrap=True)


def _run_two_groups(
    function: Plan,
    first: Path,
    second: Path | None = None,
    *,
    shares: SharePair,
    category: str | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Describe two groups.

    Args:
        function: the plan.
        first: the design of the first group, or the word direct.
        second: that of the second group; by default the same.
        shares: the share that you expect in each group.
        category: the category of these shares; by default the last one.
    """
    sizes = options.pop("sizes", None) or (None, None)
    designs = _read_arm(first), _read_arm(second or first)
    arms = [
        Arm(design, share, size, category)
        for design, share, size in zip(designs, shares, sizes, strict=True)
    ]
    _run(function, first=arms[0], second=arms[1], as_json=as_json, **options)


def _run_two_sized_groups(
    function: Plan,
    first: Path,
    second: Path | None = None,
    *,
    shares: SharePair,
    sizes: Sequence[int] | None = None,
    category: str | None = None,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Describe two groups of known sizes.

    Args:
        function: the plan.
        first: the design of the first group, or the word direct.
        second: that of the second group; by default the same.
        shares: the share that you expect in each group.
        sizes: how many respond in each group.
        category: the category of these shares; by default the last one.
    """
    groups = dict(options, shares=shares, category=category, sizes=sizes)
    _run_two_groups(function, first, second, as_json=as_json, **groups)


def _read_arm(path: Path) -> Design:
    """Read a design; the word direct stands for a direct question."""
    return (
        direct()
        if str(path) == "direct" and not path.exists()
        else read_design(path)
    )


PLANS: dict[str, Plan] = {
    "size": plan.how_many,
    "width": plan.how_wide,
    "total": plan.total_error,
    "detect": plan.how_small,
    "difference": plan.difference,
    "by-answer": plan.by_answer,
    "split": plan.allocation,
    "two-samples": plan.two_sample_allocation,
    "cheaters": plan.cheater_detection,
    "quantile": plan.quantile,
    "prevalence": plan.prevalence,
    "list-experiment": plan.list_experiment,
    "caps": plan.best_under_caps,
    "padding": plan.padding,
    "compliance": plan.noncompliance,
    "designs": plan.designs_at,
    "crossover": plan.crossover,
    "simulate": studies,
}
"""Every plan by the name of its command; its options are the parameters of its function."""

_RUNS: dict[str, Callable[..., None]] = {
    "difference": _run_two_sized_groups,
    "split": _run_two_groups,
    "caps": _run_caps,
    "crossover": _run_crossover,
    "simulate": _run_simulation,
}
# parameters for programs: the grid of a picture, the names of two answers
_OMITTED = "people", "categories"


def _add_command(name: str, function: Plan) -> None:
    """Add the command of a plan: what its run takes and what the function takes are its options."""
    run_plan: Callable[..., None] = _RUNS.get(name, _run)
    _, *parameters = inspect.signature(run_plan).parameters.values()

    def run(**values: Any) -> None:
        run_plan(function, **values)

    set_parameters(run, parameters)
    run.__doc__ = run_plan.__doc__
    prepared = [parameter.name for parameter in parameters]
    library = find_options(function, omit={*_OMITTED, *prepared})
    command = guard_command(run, library, {**_TEXTS, **parameter_help(function)})
    command.__doc__ = (inspect.getdoc(function) or "").partition("\n\n")[0]
    app.command(name)(command)


# Functions that take the same parameters explain them once.
_TEXTS = {
    name: text
    for function in reversed(PLANS.values())
    for name, text in parameter_help(function).items()
}
for _name, _function in PLANS.items():
    _add_command(_name, _function)
