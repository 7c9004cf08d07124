"""`deniable design`: build a design of any registered family or the best one for a goal, or tell what one promises."""

from __future__ import annotations

import inspect
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import (
    PLAIN,
    WHOLE,
    CommandList,
    check_out,
    console,
    deliver,
    exit_codes,
    guarded,
    in_words,
    print_json,
    say,
    write,
)
from deniable.cli.options import (
    Kind,
    flag_of,
    parameter_help,
    set_parameters,
    typer_parameters,
)
from deniable.cli.reading import (
    MAX_DIGITS,
    read_any_design,
    read_design,
    read_labels,
    read_numbers,
    read_rows,
)
from deniable.errors import InvalidRequest, UnreadableFile, quoted
from deniable.rendering import MAX_ROWS

if TYPE_CHECKING:
    from deniable.designs import Design
    from deniable.plan import Choice
    from deniable.types.drawn.design import DrawnDesign

_MOST_COLUMNS = 8  # of a table in a terminal of 80 characters
_MOST_CELLS = 10_000  # of a table of probabilities that programs are told
_SHORT = {"categories": ["-c"], "items": ["-i"], "epsilon": ["-e"]}


def _read_importance(text: str) -> Any:
    return read_numbers(text) if "=" in text else text


def _read_whole(text: str) -> int:
    if not text.strip().isdecimal() or len(text) >= MAX_DIGITS:
        raise InvalidRequest(
            f"{quoted(text)} is no whole number; expected digits alone."
        )
    return int(text)


def _read_designs(files: list[str]) -> Any:
    """Read FILE … or NAME=FILE …"""
    pairs = [
        ("", name) if Path(name).exists() else name.rpartition("=")[::2]
        for name in files
    ]
    designs = [read_design(Path(path)) for _, path in pairs]
    names = [name for name, _ in pairs]
    if all(names) and len(set(names)) == len(names):
        return dict(zip(names, designs, strict=True))
    if any(names):
        raise InvalidRequest(
            "expected a name of its own for each design, NAME=FILE, or none for any."
        )
    return designs


_DESIGNS = "Sequence[Design] | Mapping[str, Design]"
_KINDS = {  # by the annotation of a parameter
    _DESIGNS: Kind("[NAME=]FILE…", load=_read_designs),
    "Labels": Kind("A,B,C|NUMBER|@FILE", load=read_labels),
    "Sequence[Sequence[exact.Rational]]": Kind("A,B;C,D", load=read_rows),
    "Mapping[str, exact.Rational | None]": Kind("NAME=NUMBER,…", load=read_numbers),
    "Sequence[exact.Rational]": Kind("A,B,C", load=read_numbers),
    "Weighting": Kind("A,B,C|NAME=NUMBER,…", load=read_numbers),
    "Weights": Kind("A,B,C|SIZE=NUMBER,…", load=read_numbers),
    "Importance": Kind("NAME|NAME=NUMBER,…", load=_read_importance),
    "exact.Rational": Kind("NUMBER", load=str),
    "Weight": Kind("NUMBER", load=str),
    "int": Kind("WHOLE", load=_read_whole),
    "str": Kind("TEXT", load=str),
}


class FamilyCommands(CommandList, ABC):
    """A command for every family in a table, made from the function that builds it: options, help and completion."""

    @abstractmethod
    def builders(self) -> Mapping[str, Callable[..., Any]]:
        """Return the function of each family by its name."""

    @abstractmethod
    def show(self, design: Any) -> None:
        """Print what a design promises."""

    def purposes(self) -> Mapping[str, Sequence[str]]:
        """Return the families by what they are for; those of no purpose stand with the other commands."""
        return {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, and the families under what they are for."""
        purposes = self.purposes()
        grouped = {name for names in purposes.values() for name in names}
        ungrouped = [name for name in self.list_commands(ctx) if name not in grouped]
        for title, names in {"Commands": ungrouped, **purposes}.items():
            with formatter.section(title):
                lines = [
                    (name, self.get_command(ctx, name).get_short_help_str(WHOLE))
                    for name in names
                ]
                formatter.write_dl(lines)

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *sorted(self.builders())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; that of a family is made when it is asked for."""
        build = self.builders().get(cmd_name)
        if build is not None and cmd_name not in self.commands:
            self.commands[cmd_name] = family_command(cmd_name, build, self.show)
        return super().get_command(ctx, cmd_name)


class Families(FamilyCommands):
    """The registered families of designs for categories, several of them of which some are drawn, and numbers."""

    def builders(self) -> Mapping[str, Callable[..., Any]]:
        from deniable.designs import FAMILIES, number_design
        from deniable.types.drawn.design import drawn_items

        further: dict[str, Callable[..., Any]] = {
            "drawn_items": drawn_items,
            "number_design": number_design,
        }
        return {name: family.build for name, family in FAMILIES.items()} | further

    def show(self, design: Design | DrawnDesign) -> None:
        _show(design)

    def purposes(self) -> Mapping[str, Sequence[str]]:
        from deniable.designs import FAMILIES, Purpose, families

        listed = [name for name in vars(families) if name in FAMILIES]
        added = [name for name in FAMILIES if name not in listed]
        groups: dict[str, list[str]] = {purpose: [] for purpose in Purpose}
        for name in [*listed, *added]:
            groups[FAMILIES[name].purpose].append(name)
        groups[Purpose.ORDERED].append("number_design")
        groups[Purpose.ATTRIBUTES].append("drawn_items")
        return {purpose: names for purpose, names in groups.items() if names}


app = typer.Typer(
    cls=Families,
    help="Choose how answers are turned into responses, and see what that promises.",
    no_args_is_help=True,
    **PLAIN,
)


def _outputs(
    *,
    file: Path | None = None,
    out: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """State the options that every family has.

    Args:
        file: JSON with any of these settings by name; options win.
        out: write the design to this file.
    """


def family_command(
    name: str, family: Callable[..., Any], show: Callable[[Any], None]
) -> Any:
    """Return the command that builds a design of a family."""
    parameters = inspect.signature(family).parameters

    def build(
        out: Path | None, force: bool, as_json: bool, file: Path | None, **values: Any
    ) -> None:
        check_out(out, force=force)
        settings = {} if file is None else _read_settings(file, list(parameters))
        settings |= {
            key: _load(parameters[key], value)
            for key, value in values.items()
            if value not in (None, [])
        }
        needed = [
            key
            for key, parameter in parameters.items()
            if parameter.default is parameter.empty
        ]
        absent = [flag_of(key) for key in needed if key not in settings]
        if absent:
            raise InvalidRequest(f"{name} needs {' and '.join(absent)} too.")
        design = family(**settings)
        deliver(
            design.to_json(indent=2),
            lambda: show(design),
            out,
            force=force,
            as_json=as_json,
        )

    texts = parameter_help(family)
    options = [
        _option(parameter, texts[key].text if key in texts else "")
        for key, parameter in parameters.items()
    ]
    set_parameters(build, [*options, *typer_parameters(_outputs)])
    build.__doc__ = (inspect.getdoc(family) or "").partition("\n\n")[0]
    alone = typer.Typer(**PLAIN)
    alone.command(name)(exit_codes(build))
    return in_words(typer.main.get_command(alone))


def _option(parameter: inspect.Parameter, text: str) -> inspect.Parameter:
    """Return a parameter of a family as an option of its command; none is required, since --file may name them all."""
    text, flag = f"{text[:1].upper()}{text[1:]}", flag_of(parameter.name)
    if _annotation(parameter) == "bool":
        flags = flag if parameter.default is False else f"{flag}/--no-{flag[2:]}"
        annotation: Any = Annotated[
            bool | None, typer.Option(flags, help=text, show_default=False)
        ]
    elif parameter.annotation == _DESIGNS:
        argument = typer.Argument(
            metavar=_KINDS[_DESIGNS].metavar, help=text, show_default=False
        )
        annotation = Annotated[list[str] | None, argument]
    else:
        info: Any = typer.Option(
            flag,
            *_SHORT.get(parameter.name, ()),
            metavar=_KINDS[_annotation(parameter)].metavar,
            help=text + _default(parameter),
            show_default=False,
        )
        annotation = Annotated[str | None, info]
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        annotation=annotation,
        default=None,
    )


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return "  [required]"
    default = (
        ",".join(parameter.default)
        if isinstance(parameter.default, tuple)
        else parameter.default
    )
    return "" if default is None else f"  [default: {default}]"


def _annotation(parameter: inspect.Parameter) -> str:
    return str(parameter.annotation).removesuffix(" | None")


def _load(parameter: inspect.Parameter, value: Any) -> Any:
    load = None if isinstance(value, bool) else _KINDS[_annotation(parameter)].load
    return value if load is None else load(value)


def _read_settings(path: Path, names: list[str]) -> dict[str, Any]:
    """Read settings from JSON: an object by name, or a list that is the first setting."""
    try:
        settings = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise UnreadableFile(
            f"{path.name} is not JSON; expected an object with {', '.join(names)}."
        ) from None
    if isinstance(settings, list):
        return {names[0]: settings}
    if not isinstance(settings, dict) or not set(settings) <= set(names):
        raise UnreadableFile(
            f"{path.name} holds other things; expected an object with some of {', '.join(names)}."
        )
    return settings


@app.command("list")
@guarded
def list_families(*, as_json: bool = False) -> None:
    """List all families, each with what it does."""
    families = Families(name="design")
    builders, purposes = families.builders(), families.purposes()
    names = [name for group in purposes.values() for name in group]
    lines = {
        name: (inspect.getdoc(builders[name]) or "").splitlines()[0] for name in names
    }
    if as_json:
        print_json(lines)
        return
    for title, group in purposes.items():
        console().print(f"{title}:", markup=False, style="bold")
        for name in group:
            console().print(
                f"  {name:<20} {lines[name]}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )


@app.command("show")
@guarded
def show(design: Path, *, as_json: bool = False) -> None:
    """Tell what a design promises: its channel, its ε, and what that means for people."""
    asked_design = read_any_design(design)
    if as_json:
        print_json(_facts(asked_design))
    else:
        _show(asked_design)


@app.command("read")
@guarded
def read(
    package: str,
    model: str,
    parameters: list[str],
    *,
    reading: str | None = None,
    categories: str | None = None,
    out: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Read the parameters that another package has for a design, and see what they promise.

    Args:
        package: RRreg, rr, GLMMRR, RRTCS, Stata or cWise.
        model: what the package calls it, such as FR or Forced.
        parameters (NAME=NUMBERS…): its parameters, such as p=0.1,0.2 or p1=0.75 p2=1/6.
        reading: which of two conventions is meant, where the numbers fit both.
        categories: what the answers are called.
        out: write the design to this file.
    """
    from deniable.survey.packages import in_words, survey_design

    check_out(out, force=force)
    pairs = [parameter.partition("=")[::2] for parameter in parameters]
    if not all(numbers for _, numbers in pairs) or len(dict(pairs)) < len(pairs):
        raise InvalidRequest(
            "expected parameters with names, each once, such as p=0.1,0.2."
        )
    arguments = {name: _read_parameter(numbers) for name, numbers in pairs}
    labels = None if categories is None else read_labels(categories)
    design = survey_design(
        package, model, reading=reading, categories=labels, **arguments
    )

    def told() -> None:
        if design.channel.answers == design.channel.responses == 2:
            console().print(in_words(design), markup=False)
        _show(design)

    deliver(design.to_json(indent=2), told, out, force=force, as_json=as_json)


def _read_parameter(text: str) -> object:
    """Read 0.1,0.2 as a list, 3 as a whole number, and anything else as one number."""
    if "," in text:
        return [
            int(cell) if cell.strip().isdecimal() else cell.strip()
            for cell in text.split(",")
        ]
    return _read_whole(text) if text.strip().isdecimal() else text


@app.command("optimal")
@guarded
def optimal(
    *,
    categories: str,
    epsilon: str,
    goal: str = "error",
    category: str | None = None,
    most_bytes: int = 4096,
    out: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Choose the design that serves a goal best at this ε, and say why.

    Args:
        categories: possible answers, such as a,b,c; or how many, such as 5.
        epsilon: the most that may be revealed, such as 1 or 1/2.
        goal: what counts: error, category, unchanged, wire or device.
        category: with the goal category: which one.
        most_bytes: how long a response may be.
        out: write the design to this file.
    """
    from deniable.plan import optimal as choose

    check_out(out, force=force)
    choice = choose(
        read_labels(categories),
        epsilon,
        goal=goal,
        category=category,
        most_bytes=most_bytes,
    )
    if as_json:
        print_json(_reasons(choice))
    else:
        console().print(str(choice), markup=False, highlight=False, soft_wrap=True)
    if out is not None:
        write(out, choice.design.to_json(indent=2), force=force)
        say(f"wrote {out}")


@app.command("optimal-items")
@guarded
def optimal_items(
    questions: list[str],
    *,
    epsilon: str,
    goal: str = "shares",
    out: Path | None = None,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Choose how many of several questions each respondent answers, drawn at random, and say why.

    Args:
        questions (NAME=A,B,C…): the questions, each with its answers or how many.
        epsilon: the most that a respondent may reveal in all.
        goal: what counts: shares or associations.
        out: write the design to this file.
    """
    from deniable.plan import optimal_items as choose

    check_out(out, force=force)
    pairs = [question.partition("=")[::2] for question in questions]
    if not all(answers for _, answers in pairs) or len(dict(pairs)) < len(pairs):
        raise InvalidRequest(
            "expected questions with names of their own, such as smokes=no,yes age=5."
        )
    choice = choose(
        {name: read_labels(answers) for name, answers in pairs}, epsilon, goal=goal
    )
    document = choice.design.to_json(indent=2)
    deliver(
        document,
        lambda: console().print(str(choice), markup=False, soft_wrap=True),
        out,
        force=force,
        as_json=as_json,
    )


def _show(design: Design | DrawnDesign) -> None:
    from deniable.designs import Design
    from deniable.display.privacy_texts import frequencies, odds, promise, warnings
    from deniable.rendering.terminal import to_rich
    from deniable.types import operation

    out = console()
    out.print(f"{design!r}", style="bold", markup=False)
    out.print(f"{design.hash}\n", style="dim", markup=False)
    if not isinstance(design, Design):
        for sentence in operation(design, "privacy_text")(design):
            out.print(sentence, markup=False)
        return
    if design.channel.answers <= _MOST_COLUMNS and design.channel.responses <= MAX_ROWS:
        sheet = operation(design, "sheet")(design)
        out.print(to_rich(replace(sheet, title=sheet.notes[0]), main_column=0))
    alarms = warnings(design)
    for sentence in alarms:
        out.print(sentence, style="bold yellow", markup=False)
    for sentence in (
        *(() if alarms else promise(design)),
        *odds(design),
        *frequencies(design),
    ):
        out.print(sentence, markup=False)


def _facts(design: Design | DrawnDesign) -> dict[str, Any]:
    """Return what `show` tells, for programs; infinite numbers as null, large tables left out."""
    from deniable import exact
    from deniable.designs import Design
    from deniable.types import operation

    if not isinstance(design, Design):
        return {
            "hash": design.hash,
            "epsilon": None if design.epsilon == math.inf else design.epsilon,
            "each": design.each,
            "attributes": {name: _facts(factor) for name, factor in design.factors},
            "sentences": list(operation(design, "privacy_text")(design)),
        }
    small = design.channel.responses * design.channel.answers <= _MOST_CELLS
    facts: dict[str, Any] = {
        "name": design.name,
        "hash": design.hash,
        "epsilon": None if design.epsilon == math.inf else design.epsilon,
        "parity": None if design.parity == math.inf else str(design.parity),
        "sentences": list(operation(design, "privacy_text")(design)),
        "categories": list(design.categories) if small else design.channel.answers,
        "symbols": list(design.symbols) if small else design.channel.responses,
    }
    if small:
        cells = range(design.channel.responses), range(design.channel.answers)
        facts["rows"] = [
            [str(design.channel.probability(i, given=j)) for j in cells[1]]
            for i in cells[0]
        ]
        ratios = [exact.ratio(*design.channel.extremes(i)) for i in cells[0]]
        facts["bayes_factors"] = [
            None if ratio == math.inf else str(ratio) for ratio in ratios
        ]
    return facts


def _reasons(choice: Choice) -> dict[str, Any]:
    return {
        "design": json.loads(choice.design.to_json()),
        "goal": choice.goal,
        "demand": choice.demand,
        "reasons": list(choice.reasons),
        "candidates": [
            {
                "name": candidate.name,
                "epsilon": candidate.design.epsilon,
                "risk": candidate.risk,
                "unchanged": candidate.unchanged,
                "bytes": candidate.size,
            }
            for candidate in choice.candidates
        ],
    }
