"""Arguments, options, defaults and help of commands come from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.cli.commands import command_of
from deniable.cli.estimates import estimate_options
from deniable.cli.options import (
    command_help,
    kind_of,
    parameter_help,
    typer_parameters,
)
from deniable.cli.plans import PLANS
from deniable.types import FOLDERS
from tests.support.commands import done, run


def example(
    file: Path,
    names: list[str] | None = None,
    *,
    share: float = 0.1,
    count: int = 1,
    two_sided: bool = False,
    checked: bool = True,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Do something with a file.

    More about it.

    Args:
        file: what to read.
        names (WORD…): some words, which may
            take two lines.
        share: a share.
        count (1…9): how many.
    """


def option(name: str) -> Any:
    (parameter,) = [each for each in typer_parameters(example) if each.name == name]
    return parameter.annotation.__metadata__[0]


def test_the_docstring_is_the_help() -> None:
    assert command_help(example) == "Do something with a file.\n\nMore about it."
    assert parameter_help(example)["names"] == (
        "WORD…",
        "some words, which may take two lines.",
    )
    assert option("share").help == "A share."
    assert option("as_json").help == "Print JSON for programs on stdout.", (
        "which means the same everywhere"
    )


def test_positional_parameters_are_arguments_and_keywords_options() -> None:
    kinds = {
        each.name: type(each.annotation.__metadata__[0]).__name__
        for each in typer_parameters(example)
    }
    assert {name for name, kind in kinds.items() if kind == "ArgumentInfo"} == {
        "file",
        "names",
    }
    assert option("file").metavar == "FILE"
    assert option("names").metavar == "WORD…"


def test_flags_follow_from_names_but_for_a_few() -> None:
    def flags(name: str) -> list[str]:
        return [option(name).default, *option(name).param_decls]

    assert flags("share") == ["--share"]
    assert flags("out") == ["--out", "-o"]
    assert flags("as_json") == ["--json"]
    assert flags("checked") == ["--checked/--no-checked"]
    assert flags("two_sided") == ["--two-sided/--one-sided"]


def test_a_range_bounds_a_number() -> None:
    assert (option("count").min, option("count").max, option("count").metavar) == (
        1,
        9,
        "NUMBER",
    )


@pytest.mark.parametrize(("name", "function"), PLANS.items())
def test_every_plan_has_the_options_of_its_function(
    name: str, function: Callable[..., Any]
) -> None:
    group = command_of("plan")
    command = group.get_command(group.context_class(group, info_name="plan"), name)
    options = {parameter.name: parameter for parameter in command.params}
    for key, parameter in inspect.signature(function).parameters.items():
        if kind_of(parameter) and key not in ("people", "categories"):
            assert key in options
            assert options[key].help or key == "design", (
                f"nothing is said about {key}"
            )
            if parameter.default is not parameter.empty:
                assert options[key].default == parameter.default


@pytest.mark.parametrize("asks", FOLDERS)
def test_estimate_has_the_options_of_every_type_of_question(asks: str) -> None:
    options = {
        parameter.name: parameter for parameter in command_of("estimate").params
    }
    for name in estimate_options([asks]):
        assert options[name].help, f"nothing is said about {name}"
        assert options[name].default is None, "each type has its own default"


def test_options_reach_the_estimator_of_their_type_alone(tmp_path: Path) -> None:
    design = dn.number_design(0, 10, epsilon=2)
    (tmp_path / "d.json").write_text(design.to_json())
    counted = dn.tally(dn.respond_all(design, [1, 4, 9] * 50))
    (tmp_path / "t.json").write_text(counted.to_json())
    words = ["estimate", tmp_path / "d.json", tmp_path / "t.json"]
    shown = done(*words, "--quantiles", "0.3,0.6").stdout
    assert re.findall(r"quantile (0\.\d+) ", shown)[:2] == ["0.3", "0.6"]
    refused = run(*words, "--scaling", "fixed")
    assert refused.exit_code == 2
    assert "scaling does not go with a design that asks for numbers" in " ".join(
        refused.stderr.split()
    )
