"""Commands from functions: arguments, options, defaults and help are read from a signature and its docstring.

A parameter before `*` is an argument of the command, one after it an option. Its line in the section *Args* is its
help; `name (VALUE): text` says what stands for the value in help, and a range of whole numbers, such as `1…` or
`0…65535`, bounds it. Values such as `pairs|rest` are completed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_origin, get_type_hints

import typer

from deniable.cli.reading import (
    read_any_design,
    read_design,
    read_float,
    read_labels,
    read_names,
    read_pair,
    read_share,
    read_share_pair,
    read_whole_pair,
)

Converter = Callable[[Any], Any]


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
    "exact.Rational": Kind("NUMBER"),
    "Sequence[exact.Rational]": Kind("A,B", load=lambda text: text.split(",")),
    "Sequence[float]": Kind("A,B", Any, read_pair),
    "Sequence[int]": Kind("A,B", Any, read_whole_pair),
    "SharePair": Kind("A,B", Any, read_share_pair),
    "Sequence[str]": Kind("NAME", list[str]),
    "Sequence[object]": Kind("A,B,C|@FILE", load=read_names),
    "Labels": Kind("A,B,C|NUMBER|@FILE", load=read_labels),
    "Design": Kind("DESIGN", Path, load=read_design),
    "AnyDesign": Kind("DESIGN", Path, load=read_any_design),
}
"""By the annotation of a parameter; other types of a command of our own are read as Typer reads them."""

_NUMBERS = {
    "within",
    "sd",
    "bias",
    "epsilon",
    "delta",
}  # parameters that are `float` and no share

_FLAGS = {  # of parameters that are called otherwise in the shell
    "as_json": ("--json",),
    "checks": ("--check",),
    "columns": ("--column",),
    "form": ("--format", "-f"),
    "n": ("--people", "-n"),
    "opened": ("--open",),
    "repetitions": ("--studies",),
    "sizes": ("--people", "-n"),
    "two_sided": ("--two-sided/--one-sided",),
    "unchecked": ("--no-design",),
    "values": ("--value",),
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
_SHARED = {  # what parameters of these names mean in every command
    "address": ParameterHelp(
        "", "public base URL of the collector, such as https://survey.example."
    ),
    "as_json": ParameterHelp("", "print JSON for programs on stdout."),
    "buyer": ParameterHelp("", "who buys; '*' in a consent is anybody."),
    "database": ParameterHelp(
        "", "a file for SQLite, or postgresql://…; by default deniable.db."
    ),
    "design": ParameterHelp("", "a design, as written by `deniable design`."),
    "force": ParameterHelp("", "overwrite files that exist."),
    "level": ParameterHelp("", "confidence level of the intervals."),
    "name": ParameterHelp("", "the name of a survey."),
    "path": ParameterHelp("LEDGER", "a ledger, as made by `deniable release open`."),
    "question": ParameterHelp("", "the name of a question."),
    "settings": ParameterHelp("", "a TOML file with any of these settings, and more."),
    "sheet": ParameterHelp("NAME", "of a workbook: which sheet."),
}


def parameter_help(function: Callable[..., Any]) -> dict[str, ParameterHelp]:
    """Return what the section *Args* of a docstring says about each parameter."""
    section = re.search(
        r"^Args:\n((?:[ ].*\n?|\n(?=[ ]))*)",
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


def command_help(function: Callable[..., Any]) -> str:
    """Return a docstring without its sections: the help of a command."""
    return re.split(r"\n\n(?:Args|Raises|Returns):\n", inspect.getdoc(function) or "")[
        0
    ]


def flag_of(name: str) -> str:
    """Return the long option of a parameter."""
    return f"--{name.replace('_', '-')}"


def kind_of(parameter: inspect.Parameter) -> Kind | None:
    """Return how a parameter is written in the shell; None for a type that is not in `KINDS`."""
    if parameter.name in _NUMBERS and str(parameter.annotation).startswith("float"):
        return Kind("NUMBER", float, read_float)
    return KINDS.get(str(parameter.annotation).removesuffix(" | None"))


def shell_parameter(
    parameter: inspect.Parameter, help: ParameterHelp | None, hint: Any = None
) -> inspect.Parameter:
    """Return a parameter as Typer reads it: annotated with an argument or an option.

    Args:
        parameter: of the function.
        help: what its docstring says about it; None where it says nothing.
        hint: its type, where it is not among `KINDS`.
    """
    kind = kind_of(parameter) or Kind("", hint)
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
    is_argument = parameter.kind is not parameter.KEYWORD_ONLY
    if is_argument:
        many = "…" if get_origin(kind.type) is list else ""
        settings["metavar"] = metavar or f"{parameter.name.upper()}{many}"
        info: Any = typer.Argument(**settings)
    else:
        info = typer.Option(*_flags(parameter), **settings)
    is_optional = parameter.default is None and type(None) not in getattr(
        kind.type, "__args__", ()
    )
    value_type: Any = kind.type | None if is_optional else kind.type
    annotation: Any = Annotated[value_type, info]
    return parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=annotation)


def _flags(parameter: inspect.Parameter) -> tuple[str, ...]:
    """Return the flags of an option; one that is true or unset by default can also be turned off."""
    if parameter.name in _FLAGS:
        return _FLAGS[parameter.name]
    flag = flag_of(parameter.name)
    if str(parameter.annotation).startswith("bool") and parameter.default is not False:
        return (f"{flag}/--no-{flag[2:]}",)
    return (flag, *([_SHORT[parameter.name]] if parameter.name in _SHORT else []))


def describe(command: Callable[..., Any], function: Callable[..., Any]) -> None:
    """Give a command the arguments, options and help of a function of our own, whose types exist at run time."""
    set_parameters(command, typer_parameters(function))
    command.__doc__ = command_help(function)


def typer_parameters(
    function: Callable[..., Any], names: Collection[str] | None = None
) -> list[inspect.Parameter]:
    """Return the parameters of a function of our own, or some of them, as Typer reads them."""
    texts, hints = (
        parameter_help(function),
        get_type_hints(function, include_extras=True),
    )
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        if names is not None and name not in names:
            continue
        if get_origin(hints[name]) is Annotated:  # says itself how it is read
            annotated = parameter.replace(
                annotation=hints[name], kind=parameter.KEYWORD_ONLY
            )
        else:
            annotated = shell_parameter(parameter, texts.get(name), hints[name])
        parameters.append(annotated)
    return parameters


def set_parameters(command: Any, parameters: Iterable[inspect.Parameter]) -> None:
    """Let Typer see these parameters in place of those that a function has."""
    command.__signature__ = inspect.Signature(list(parameters))
    command.__annotations__ = {
        name: parameter.annotation
        for name, parameter in command.__signature__.parameters.items()
    }


class LibraryCommand:
    """A command that calls a function of the library with what its options say.

    Args:
        function: whose parameters become options; those of other types than `KINDS` are left out.
        prepare: takes options of its own, and returns arguments of the function that no option can name.
        texts: help for parameters about which the function's docstring says nothing.
        omit: parameters that get no option.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        prepare: Callable[..., Mapping[str, Any]] | None = None,
        texts: Mapping[str, ParameterHelp] | None = None,
        omit: Collection[str] = (),
    ) -> None:
        self._function = function
        self._prepare = prepare
        prepared = {} if prepare is None else inspect.signature(prepare).parameters
        self._prepared = {
            name: parameter
            for name, parameter in prepared.items()
            if kind_of(parameter)
        }
        parameters = inspect.signature(function).parameters
        self._direct = {
            name: parameter
            if parameter.annotation == "Design"
            else parameter.replace(kind=parameter.KEYWORD_ONLY)
            for name, parameter in parameters.items()
            if kind_of(parameter) and name not in self._prepared and name not in omit
        }
        self._texts = {
            **(texts or {}),
            **parameter_help(function),
            **(parameter_help(prepare) if prepare else {}),
        }

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The arguments and options, as Typer reads them."""
        parameters = {**self._prepared, **self._direct}
        return [
            shell_parameter(parameter, self._texts.get(name))
            for name, parameter in parameters.items()
        ]

    def run(self, values: Mapping[str, Any], **further: Any) -> Any:
        """Call the function with the values of the options, and with further arguments."""
        arguments = _load(self._direct, values)
        if self._prepare is not None:
            arguments |= self._prepare(**_load(self._prepared, values))
        return self._function(**arguments, **further)


def _load(
    parameters: Mapping[str, inspect.Parameter], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return arguments by name, with the files read that options name."""
    arguments = {}
    for name, parameter in parameters.items():
        kind, value = kind_of(parameter), values[name]
        arguments[name] = (
            kind.load(value) if kind and kind.load and value is not None else value
        )
    return arguments
