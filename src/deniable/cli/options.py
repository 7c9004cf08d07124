"""Commands from functions: arguments, options, defaults and help are read from a signature and its docstring.

A parameter before `*` is an argument of the command, one after it an option. Its line in the section *Args* is its
help; `name (VALUE): text` says what stands for the value in help, and a range of whole numbers, such as `1…` or
`0…65535`, bounds it. Values such as `pairs|rest` are completed. A parameter whose type is a dataclass stands for an
option for each field of that class: commands share such groups of options.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer

from deniable.cli.reading import (
    read_any_design,
    read_design,
    read_float,
    read_floats,
    read_item_shares,
    read_labels,
    read_names,
    read_pair,
    read_share,
    read_share_pair,
    read_whole_pair,
)

Converter = Callable[[Any], Any]
Values = Mapping[str, Any]
"""What Typer read for each option, by the name of its parameter."""


class Kind(NamedTuple):
    """How a type of parameter is written in the shell.

    Attributes:
        metavar: what stands for the value in help.
        type: what Typer reads.
        parse: reads the text; an error names the option.
        load: reads, inside the command, what the value names.
    """

    metavar: str
    type: Any = str
    parse: Converter | None = None
    load: Converter | None = None


KINDS: dict[str, Kind] = {
    "bool": Kind("", bool),
    "int": Kind("NUMBER", int),
    "str": Kind("TEXT"),
    "Path": Kind("FILE", Path),
    "list[str]": Kind("TEXT", list[str]),
    "list[Path]": Kind("FILE", list[Path]),
    "float": Kind("SHARE", float, read_share),
    "Rational": Kind("NUMBER"),
    "Sequence[Rational]": Kind("A,B", load=lambda text: text.split(",")),
    "Sequence[float]": Kind("A,B", Any, read_pair),
    "Sequence[int]": Kind("A,B", Any, read_whole_pair),
    "SharePair": Kind("A,B", Any, read_share_pair),
    "ItemShares": Kind("SIZE=SHARE,…", load=read_item_shares),
    "Shares": Kind("A,B,C", load=read_floats),
    "Numbers": Kind("A,B,C", load=read_floats),
    "Sequence[str]": Kind("NAME", list[str]),
    "Sequence[object]": Kind("A,B,C|@FILE", load=read_names),
    "Labels": Kind("A,B,C|NUMBER|@FILE", load=read_labels),
    "Design": Kind("DESIGN", Path, load=read_design),
    "AnyDesign": Kind("DESIGN", Path, load=read_any_design),
}
"""By the annotation of a parameter; other types of a command of our own are read as Typer reads them."""

DESIGNS = "Sequence[Design] | Mapping[str, Design]"
_ARGUMENTS = (
    "Design",
    "AnyDesign",
    DESIGNS,
)  # parameters of the library that are no options

# parameters that are `float` and no share
_NUMBERS = {
    *("within", "sd", "sd_others", "gap", "bias", "epsilon", "delta", "error"),
    *("cost", "control_variance", "covariance"),
}

_FLAGS = {  # of parameters that are called otherwise in the shell
    "as_json": ("--json",),
    "checks": ("--check",),
    "form": ("--format", "-f"),
    "n": ("--people", "-n"),
    "opened": ("--open",),
    "repetitions": ("--studies",),
    "sizes": ("--people", "-n"),
    "two_sided": ("--two-sided/--one-sided",),
}
_SHORT = {
    "answers": "-a", "categories": "-c", "database": "-d", "device": "-d", "edges": "-a", "epsilon": "-e",
    "items": "-i", "language": "-l", "number": "-n", "out": "-o", "people": "-n", "port": "-p", "question": "-q",
    "template": "-t",
}  # fmt: skip


class ParameterHelp(NamedTuple):
    """What a docstring says about a parameter: what stands for its value, if anything, and its text."""

    metavar: str
    text: str


_NO_HELP = ParameterHelp("", "")


def parameter_help(function: Callable[..., object]) -> dict[str, ParameterHelp]:
    """Return what the section *Args* of a docstring says about each parameter."""
    section = re.search(
        r"^(?:Args|Attributes):\n((?:[ ].*\n?|\n(?=[ ]))*)",
        inspect.getdoc(function) or "",
        re.MULTILINE,
    )
    lines = re.findall(
        r"^    (\w+)(?: \((.*?)\))?: (.*(?:\n {8,}.*)*)",
        section[1] if section else "",
        re.MULTILINE,
    )
    return {
        name: ParameterHelp(metavar, " ".join(text.split()))
        for name, metavar, text in lines
    }


def _shared_help_texts() -> None:
    """Return the help texts of parameters that have the same meaning in every command.

    Args:
        address: public base URL of the collector, such as https://survey.example.
        as_json: print JSON for programs on stdout.
        buyer: who buys; '*' in a consent is anybody.
        database: a file for SQLite, or postgresql://…; by default deniable.db.
        design: a design, as written by `deniable design`.
        force: overwrite files that exist.
        level: confidence level of the intervals.
        name: the name of a survey.
        path (LEDGER): a ledger, as made by `deniable release open`.
        question: the name of a question.
        settings: a TOML file with any of these settings, and more.
        sheet (NAME): of a workbook: which sheet.
    """


_SHARED = parameter_help(_shared_help_texts)


def command_help(function: Callable[..., object]) -> str:
    """Return a docstring without its sections: the help of a command."""
    return re.split(
        r"\n\n(?:Args|Raises|Returns):\n", inspect.getdoc(function) or ""
    )[0]


def flag_of(name: str) -> str:
    """Return the long option of a parameter."""
    return f"--{name.replace('_', '-')}"


def kind_of(
    parameter: inspect.Parameter, kinds: Mapping[str, Kind] = KINDS
) -> Kind | None:
    """Return how a parameter is written in the shell; None for a type that is not among the kinds."""
    if parameter.name in _NUMBERS and str(parameter.annotation).startswith("float"):
        return Kind("NUMBER", float, read_float)
    annotation = str(parameter.annotation).removesuffix(" | None")
    return kinds.get(annotation.replace("exact.", ""))


def shell_parameter(
    parameter: inspect.Parameter,
    help: ParameterHelp | None,
    kind: Kind,
    *,
    unset: bool = False,
) -> inspect.Parameter:
    """Return a parameter as Typer reads it: annotated with an argument or an option.

    Args:
        parameter: of the function.
        help: what its docstring says about it; None where it says nothing.
        kind: how it is written.
        unset: whether it has no value unless one is given.
    """
    help = help or _SHARED.get(parameter.name, _NO_HELP)
    limits = re.fullmatch(r"(\d+)…(\d*)", help.metavar)
    metavar = "" if limits else help.metavar
    settings: dict[str, Any] = {
        "help": f"{help.text[:1].upper()}{help.text[1:]}",
        "metavar": metavar or kind.metavar or None,
        "parser": kind.parse,
        "min": int(limits[1]) if limits else None,
        "max": int(limits[2]) if limits and limits[2] else None,
    }
    if re.fullmatch(r"\w+(\|\w+)+", metavar):
        settings["autocompletion"] = lambda: metavar.split("|")
    info = _typer_info(parameter, kind, metavar, settings)
    default = None if unset else parameter.default
    is_optional = default is None and type(None) not in get_args(kind.type)
    return parameter.replace(
        kind=parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind.type | None if is_optional else kind.type, info],
    )


def _typer_info(
    parameter: inspect.Parameter, kind: Kind, metavar: str, settings: dict[str, Any]
) -> object:
    """Return the argument or option of Typer for a parameter."""
    is_argument = parameter.kind is not parameter.KEYWORD_ONLY
    if is_argument:
        many = "…" if get_origin(kind.type) is list else ""
        name = kind.metavar if "=" in kind.metavar else parameter.name.upper()
        settings["metavar"] = metavar or f"{name}{many}"
        info: object = typer.Argument(**settings)
    else:
        info = typer.Option(*_flags(parameter), **settings)
    return info


def _flags(parameter: inspect.Parameter) -> tuple[str, ...]:
    """Return the flags of an option; one that is true or unset by default can also be turned off."""
    if parameter.name in _FLAGS:
        return _FLAGS[parameter.name]
    flag = flag_of(parameter.name)
    if (
        str(parameter.annotation).startswith("bool")
        and parameter.default is not False
    ):
        return (f"{flag}/--no-{flag[2:]}",)
    return (flag, *([_SHORT[parameter.name]] if parameter.name in _SHORT else []))


def typer_parameters(
    function: Callable[..., object],
    texts: Mapping[str, ParameterHelp] | None = None,
    library: Iterable[inspect.Parameter] = (),
) -> list[inspect.Parameter]:
    """Return the parameters of a function of our own, or the fields of a dataclass, as Typer reads them.

    Args:
        function: its types exist at run time. A parameter that is a dataclass stands for the fields of it.
        texts: help that goes before that of the docstring.
        library: further parameters, which stand before those of dataclasses.
    """
    texts = {**parameter_help(function), **(texts or {})}
    hints = get_type_hints(function, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            groups += typer_parameters(hints[name], texts)
        elif get_origin(hints[name]) is Annotated:  # says itself how it is read
            parameters.append(parameter.replace(annotation=hints[name]))
        elif parameter.kind is not parameter.VAR_KEYWORD:
            kind = kind_of(parameter) or Kind("TEXT", hints[name])
            parameters.append(shell_parameter(parameter, texts.get(name), kind))
    return [*parameters, *library, *groups]


def group_options(function: Callable[..., object], values: Values) -> dict[str, Any]:
    """Return the arguments of a function of our own: those that are dataclasses are made of several options."""
    hints = get_type_hints(function)
    arguments = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if is_dataclass(hints[name]):
            group: Callable[..., object] = hints[name]
            options = inspect.signature(group).parameters
            arguments[name] = group(**{option: values[option] for option in options})
        elif parameter.kind is not parameter.VAR_KEYWORD:
            arguments[name] = values[name]
    return arguments


def set_parameters(
    command: Callable[..., object], parameters: Iterable[inspect.Parameter]
) -> None:
    """Let Typer see these parameters in place of those that a function has."""
    signature = inspect.Signature(list(parameters))
    command.__dict__["__signature__"] = signature
    command.__annotations__ = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
    }


class ShellOption(NamedTuple):
    """A parameter that can be written in the shell, and how."""

    parameter: inspect.Parameter
    kind: Kind


ShellOptions = dict[str, ShellOption]


def find_options(
    function: Callable[..., object],
    kinds: Mapping[str, Kind] = KINDS,
    omit: Collection[str] = (),
) -> ShellOptions:
    """Return the parameters of a function of the library that can be written in the shell, by name."""
    options = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind = kind_of(parameter, kinds)
        if kind is not None and name not in omit:
            options[name] = ShellOption(parameter, kind)
    return options


def load_arguments(options: ShellOptions, values: Values) -> dict[str, Any]:
    """Return the arguments that have a value, with the files read that options name."""
    return {
        name: option.kind.load(values[name]) if option.kind.load else values[name]
        for name, option in options.items()
        if values[name] not in (None, [])
    }


def library_parameters(
    options: ShellOptions, texts: Mapping[str, ParameterHelp], *, unset: bool = False
) -> list[inspect.Parameter]:
    """Return parameters of functions of the library as Typer reads them: designs are arguments, all others options.

    Args:
        options: the parameters.
        texts: what docstrings say about them.
        unset: whether none of them has a value unless one is given.
    """
    return [
        shell_parameter(
            parameter
            if parameter.annotation in _ARGUMENTS
            else parameter.replace(kind=parameter.KEYWORD_ONLY),
            texts.get(name),
            kind,
            unset=unset,
        )
        for name, (parameter, kind) in options.items()
    ]
