"""`deniable design`: build a design of any registered family or the best one for a goal, or tell what one promises."""

from __future__ import annotations

import inspect
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.common import (
    PLAIN,
    REFUTED,
    CommandList,
    CommandOutput,
    command_list,
    console,
    guard_command,
    in_words,
    print_json,
    tell,
)
from deniable.cli.options import (
    DESIGNS,
    KINDS,
    Kind,
    find_options,
    flag_of,
    parameter_help,
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
    from typer._click import Command, Context, HelpFormatter

    from deniable.criteria import Criterion
    from deniable.designs import AnyDesign, Design
    from deniable.plan import Choice

_MAX_COLUMNS = 8  # of a table in a terminal of 80 characters
_MAX_CELLS = 10_000  # of a table of probabilities that programs are told


def _read_importance(text: str) -> object:
    return read_numbers(text) if "=" in text else text


def _read_whole(text: str) -> int:
    if not text.strip().isdecimal() or len(text) >= MAX_DIGITS:
        raise InvalidRequest(
            f"{quoted(text)} is no whole number; expected digits alone."
        )
    return int(text)


def _read_designs(files: list[str]) -> list[Design] | dict[str, Design]:
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


_KINDS = KINDS | {
    DESIGNS: Kind("[NAME=]FILE", list[str], load=_read_designs),
    "Sequence[Sequence[Rational]]": Kind("A,B;C,D", load=read_rows),
    "Mapping[str, Rational | None]": Kind("NAME=NUMBER,…", load=read_numbers),
    "Sequence[Rational]": Kind("A,B,C", load=read_numbers),
    "Weighting": Kind("A,B,C|NAME=NUMBER,…", load=read_numbers),
    "Weights": Kind("A,B,C|SIZE=NUMBER,…", load=read_numbers),
    "Importance": Kind("NAME|NAME=NUMBER,…", load=_read_importance),
    "Weight": Kind("NUMBER"),
    "int": Kind("WHOLE", load=_read_whole),
}


class FamilyCommands(CommandList, ABC):
    """A command for every family in a table, made from the function that builds it: options, help and completion."""

    @abstractmethod
    def builders(self) -> Mapping[str, Callable[..., AnyDesign]]:
        """Return the function of each family by its name."""

    @abstractmethod
    def show(self, design: Any) -> None:
        """Print what a design promises."""

    def purposes(self) -> Mapping[str, Sequence[str]]:
        """Return the families by what they are for; those of no purpose stand with the other commands."""
        return {}

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List the commands, and the families under what they are for."""
        purposes = self.purposes()
        grouped = {name for names in purposes.values() for name in names}
        ungrouped = [name for name in self.list_commands(ctx) if name not in grouped]
        for title, names in {"Commands": ungrouped, **purposes}.items():
            self.list_section(ctx, formatter, title, names)

    def list_commands(self, ctx: Context) -> list[str]:
        return [*super().list_commands(ctx), *sorted(self.builders())]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return a command; that of a family is made when it is asked for."""
        build = self.builders().get(cmd_name)
        if build is not None and cmd_name not in self.commands:
            self.commands[cmd_name] = family_command(cmd_name, build, self.show)
        return super().get_command(ctx, cmd_name)


class Families(FamilyCommands):
    """The registered families of designs for categories, and those of other types of question."""

    def builders(self) -> Mapping[str, Callable[..., AnyDesign]]:
        from deniable.designs import FAMILIES

        families = {name: family.build for name, family in FAMILIES.items()}
        return families | {build.__name__: build for build in _type_builders()}

    def show(self, design: AnyDesign) -> None:
        show_design(design)

    def purposes(self) -> Mapping[str, Sequence[str]]:
        from deniable.designs import FAMILIES, Purpose, families

        listed = [name for name in vars(families) if name in FAMILIES]
        added = [name for name in FAMILIES if name not in listed]
        groups: dict[str, list[str]] = {purpose: [] for purpose in Purpose}
        for name in [*listed, *added]:
            groups[FAMILIES[name].purpose].append(name)
        for build, purpose in _type_builders().items():
            groups[purpose].append(build.__name__)
        return {purpose: names for purpose, names in groups.items() if names}


def _type_builders() -> dict[Callable[..., AnyDesign], str]:
    """Return what builds designs of further types of question, each with the purpose under which lists show it."""
    from deniable.types import FOLDERS, find_type_operation

    builders: dict[Callable[..., AnyDesign], str] = {}
    for asks in FOLDERS:
        builders |= find_type_operation(asks, "BUILDERS") or {}
    return builders


app = command_list(
    "Choose how answers are turned into responses, and see what that promises.",
    Families,
)


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """A file with settings of a family.

    Attributes:
        file: JSON with any of these settings by name; options win.
    """

    file: Path | None = None

    def read(self, names: Sequence[str]) -> dict[str, Any]:
        """Read settings: an object by name, or a list that is the first setting; none where no file is named."""
        if self.file is None:
            return {}
        try:
            settings = json.loads(self.file.read_bytes())
        except (ValueError, RecursionError):
            raise UnreadableFile(
                f"{self.file.name} is not JSON; expected an object with {', '.join(names)}."
            ) from None
        if isinstance(settings, list):
            return {names[0]: settings}
        if not isinstance(settings, dict) or not set(settings) <= set(names):
            raise UnreadableFile(
                f"{self.file.name} holds other things; expected an object with some of {', '.join(names)}."
            )
        return settings


def family_command(
    name: str, family: Callable[..., AnyDesign], show: Callable[[Any], None]
) -> Command:
    """Return the command that builds a design of a family; no option is required, since --file may name them all."""
    parameters = inspect.signature(family).parameters

    def build(
        *, settings_file: SettingsFile, output: CommandOutput, **options: Any
    ) -> None:
        """Build a design.

        Args:
            out: write the design to this file.
        """
        settings = settings_file.read(list(parameters)) | options
        absent = [
            flag_of(key)
            for key, parameter in parameters.items()
            if parameter.default is parameter.empty and key not in settings
        ]
        if absent:
            raise InvalidRequest(f"{name} needs {' and '.join(absent)} too.")
        design = family(**settings)
        output.deliver_design(design.to_json(indent=2), lambda: show(design))

    texts = {
        key: help._replace(text=f"{help.text}{_default_text(parameters[key])}")
        for key, help in parameter_help(family).items()
    }
    command = guard_command(build, find_options(family, _KINDS), texts, unset=True)
    command.__doc__ = (inspect.getdoc(family) or "").partition("\n\n")[0]
    alone = typer.Typer(**PLAIN)
    alone.command(name)(command)
    return in_words(typer.main.get_command(alone))


def _default_text(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return "" if parameter.annotation == DESIGNS else "  [required]"
    default = (
        ",".join(parameter.default)
        if isinstance(parameter.default, tuple)
        else parameter.default
    )
    if default is None or isinstance(default, bool):
        return ""
    return f"  [default: {default}]"


@app.add
def list_(*, as_json: bool = False) -> None:
    """List all families, each with what it does."""
    families = Families(name="design")
    builders, purposes = families.builders(), families.purposes()
    lines = {
        name: (inspect.getdoc(builders[name]) or "").splitlines()[0]
        for names in purposes.values()
        for name in names
    }
    if as_json:
        print_json(lines)
        return
    for title, names in purposes.items():
        tell(f"{title}:", style="bold")
        for name in names:
            tell(f"  {name:<20} {lines[name]}", soft_wrap=True)


@app.add
def show(design: Path, *, as_json: bool = False) -> None:
    """Tell what a design promises: its channel, its ε, and what that means for people."""
    subject = read_any_design(design)
    if as_json:
        print_json(design_facts(subject))
    else:
        show_design(subject)


@app.add
def check(design: Path, demand: str, *, as_json: bool = False) -> None:
    """Tell whether a design meets a demand on privacy, with the response that breaks it if it does not.

    Ends with 5 if the demand is not met.

    Args:
        demand (CRITERION): such as "rho_to_rho 1/10 1/2", "beta_factor 3", "posterior_cap 1/20 1/2", "relaxed 1 0.01",
            "known_prior no=0.9,yes=0.1 1/2", "policy 1 never,often" or "boundaries upper:0,0.2;0.5,0.8;1,1".
    """
    from deniable.criteria import read_criterion

    verdict = read_criterion(demand).check(read_design(design))
    if as_json:
        print_json({"holds": verdict.holds, "sentence": str(verdict)})
    else:
        tell(str(verdict), soft_wrap=True)
    if not verdict:
        raise typer.Exit(REFUTED)


@app.add
def compare(first: Path, second: Path, *, as_json: bool = False) -> None:
    """Tell whether the responses of one design can be made from those of another, which then tells at least as much."""
    from deniable.order.blackwell import compare as order

    comparison = order(read_design(first), read_design(second))
    if as_json:
        print_json({"relation": comparison.relation})
    else:
        tell(str(comparison), soft_wrap=True)


@app.add
def admissible(
    design: Path,
    *,
    gamma: str | None = None,
    slack: str = "0",
    as_json: bool = False,
) -> None:
    """Tell whether another design of the same privacy tells more than this one, and why.

    Args:
        gamma: the largest parity that is allowed, e^ε; by default that of the design.
        slack: by how much a parity may fall short of γ, such as 1e-12 for designs that were built from an ε.
    """
    from deniable.order.admissibility import admissible as judge

    judged = judge(read_design(design), gamma, slack=slack)
    if as_json:
        flaws = [flaw.problem for flaw in judged.flaws]
        print_json({"admissible": bool(judged), "flaws": flaws})
    else:
        tell(str(judged), soft_wrap=True)


@app.add
def repair(design: Path, *, gamma: str | None = None, output: CommandOutput) -> None:
    """Write a design of the same privacy that tells all that this one tells, and more.

    Args:
        gamma: the parity of the new design, e^ε; by default that of the old one.
        out: write the design to this file.
    """
    from deniable.order.admissibility import repair as improve

    repaired = improve(read_design(design), gamma)

    def show_both() -> None:
        tell(str(repaired), soft_wrap=True)
        show_design(repaired.design)

    output.deliver_design(repaired.design.to_json(indent=2), show_both)


@app.add
def read(
    package: str,
    model: str,
    parameters: list[str],
    *,
    reading: str | None = None,
    categories: str | None = None,
    output: CommandOutput,
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

    expected = "parameters with names, each once, such as p=0.1,0.2"
    arguments = {
        name: _read_parameter(numbers)
        for name, numbers in _read_pairs(parameters, expected).items()
    }
    labels = None if categories is None else read_labels(categories)
    design = survey_design(
        package, model, reading=reading, categories=labels, **arguments
    )

    def show_both() -> None:
        if design.channel.answers == design.channel.responses == 2:
            tell(in_words(design))
        show_design(design)

    output.deliver_design(design.to_json(indent=2), show_both)


def _read_pairs(words: Iterable[str], expected: str) -> dict[str, str]:
    """Read NAME=VALUE …

    Raises:
        InvalidRequest: a word without a value, or a name that stands twice.
    """
    pairs = [word.partition("=")[::2] for word in words]
    if not all(value for _, value in pairs) or len(dict(pairs)) < len(pairs):
        raise InvalidRequest(f"expected {expected}.")
    return dict(pairs)


def _read_parameter(text: str) -> object:
    """Read 0.1,0.2 as a list, 3 as a whole number, and anything else as one number."""
    if "," in text:
        return [
            int(cell) if cell.strip().isdecimal() else cell.strip()
            for cell in text.split(",")
        ]
    return _read_whole(text) if text.strip().isdecimal() else text


@app.add
def optimal(
    *,
    categories: str,
    epsilon: str | None = None,
    demand: str | None = None,
    goal: str = "error",
    category: str | None = None,
    n: int | None = None,
    most_bytes: int = 4096,
    delta: str | None = None,
    ceiling: str | None = None,
    expose: bool = False,
    output: CommandOutput,
) -> None:
    """Choose the design that serves a goal best at this ε, or under another demand on privacy, and say why.

    Args:
        categories: possible answers, such as a,b,c; or how many, such as 5.
        epsilon: the most that may be revealed, such as 1 or 1/2.
        demand (CRITERION): in place of ε, such as "rho_to_rho 1/10 1/2", "known_prior 0.7,0.1,0.1,0.1 3/4" or
            "policy 1 properties:never".
        goal: what counts: error, projected, category, unchanged, wire or device.
        category: with the goal category: which one.
        n: with the goal projected: how many will respond.
        most_bytes: how long a response may be.
        delta: the δ of (ε, δ), such as 0.01.
        ceiling: beside δ, the ε that holds without it; twice ε by default.
        expose: beside δ, allow that the answer of a share δ of the people is sent as it is.
        out: write the design to this file.
    """
    from deniable.criteria import Relaxed, read_criterion
    from deniable.plan import optimal as choose

    if (epsilon is None) == (demand is None) or (demand and delta):
        raise InvalidRequest(
            "expected --epsilon, perhaps with --delta, or --demand in place of both."
        )
    if demand is not None:
        required: str | Criterion = read_criterion(demand)
    else:
        assert epsilon is not None
        required = epsilon if delta is None else Relaxed(epsilon, delta)
    choice = choose(
        read_labels(categories),
        required,
        ceiling=ceiling,
        expose=expose,
        goal=goal,
        category=category,
        n=n,
        most_bytes=most_bytes,
    )
    if output.as_json:
        print_json(_reasons(choice))
    else:
        tell(str(choice), soft_wrap=True)
    output.write(choice.design.to_json(indent=2))


@app.add
def optimal_items(
    questions: list[str],
    *,
    epsilon: str,
    goal: str = "shares",
    output: CommandOutput,
) -> None:
    """Choose how many of several questions each respondent answers, drawn at random, and say why.

    Args:
        questions (NAME=A,B,C…): the questions, each with its answers or how many.
        epsilon: the most that a respondent may reveal in all.
        goal: what counts: shares or associations.
        out: write the design to this file.
    """
    from deniable.plan import optimal_items as choose

    expected = "questions with names of their own, such as smokes=no,yes age=5"
    labels = {
        name: read_labels(answers)
        for name, answers in _read_pairs(questions, expected).items()
    }
    choice = choose(labels, epsilon, goal=goal)
    output.deliver_design(
        choice.design.to_json(indent=2), lambda: tell(str(choice), soft_wrap=True)
    )


def print_promise(design: AnyDesign, sentences: Iterable[str]) -> None:
    """Print the name of a design, its hash, and what it promises."""
    tell(repr(design), style="bold")
    tell(f"{design.hash}\n", style="dim")
    for sentence in sentences:
        tell(sentence)


def show_design(design: AnyDesign) -> None:
    """Print what a design promises: its name, its probabilities where they fit, and what they mean for people."""
    from deniable.designs import Design
    from deniable.display.privacy_texts import frequencies, odds, promise, warnings
    from deniable.rendering.terminal import to_rich
    from deniable.types import operation

    if not isinstance(design, Design):
        print_promise(design, operation(design, "privacy_text")(design))
        return
    print_promise(design, ())
    channel = design.channel
    if channel.answers <= _MAX_COLUMNS and channel.responses <= MAX_ROWS:
        sheet = operation(design, "sheet")(design)
        console().print(to_rich(replace(sheet, title=sheet.notes[0]), main_column=0))
    alarms = warnings(design)
    for sentence in alarms:
        tell(sentence, style="bold yellow")
    promises = () if alarms else promise(design)
    for sentence in (*promises, *odds(design), *frequencies(design)):
        tell(sentence)


def finite(epsilon: float) -> float | None:
    """Return an ε for JSON, which knows no infinity."""
    return None if epsilon == math.inf else epsilon


def design_facts(design: AnyDesign) -> dict[str, object]:
    """Return what `show` tells, for programs; infinite numbers as null, large tables left out."""
    from deniable.designs import Design
    from deniable.types import find_operation, operation

    facts: dict[str, object] = {
        "hash": design.hash,
        "epsilon": finite(getattr(design, "epsilon", math.inf)),
        "sentences": list(operation(design, "privacy_text")(design)),
    }
    if isinstance(design, Design):
        return facts | _channel_facts(design)
    further = find_operation(design, "privacy_facts")
    if further is not None:
        facts |= further(design)
        return facts
    factors = getattr(design, "factors", ())
    attributes = {name: design_facts(factor) for name, factor in factors}
    return facts | {"each": getattr(design, "each", None), "attributes": attributes}


def _channel_facts(design: Design) -> dict[str, object]:
    from deniable import exact

    channel = design.channel
    small = channel.responses * channel.answers <= _MAX_CELLS
    facts: dict[str, object] = {
        "name": design.name,
        "parity": None if design.parity == math.inf else str(design.parity),
        "categories": list(design.categories) if small else channel.answers,
        "symbols": list(design.symbols) if small else channel.responses,
    }
    if small:
        answers, responses = range(channel.answers), range(channel.responses)
        facts["rows"] = [
            [str(channel.probability(i, given=j)) for j in answers]
            for i in responses
        ]
        ratios = [exact.ratio(*channel.extremes(i)) for i in responses]
        facts["bayes_factors"] = [
            None if ratio == math.inf else str(ratio) for ratio in ratios
        ]
    return facts


def _reasons(choice: Choice) -> dict[str, object]:
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
