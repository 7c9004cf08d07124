"""`deniable plan`: before anybody is asked, how many, how wide, how sure; a sentence first, then a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from deniable.cli.common import (
    PLAIN,
    CommandList,
    DesignFile,
    Force,
    Json,
    console,
    guarded,
    print_json,
    progress,
    read_design,
    read_number,
    read_share,
    say,
    write,
)
from deniable.cli.estimates import Chart, check_files, save_picture

if TYPE_CHECKING:
    from deniable.designs import Design
    from deniable.plan import Arm, Planned

DIRECT = "direct"
Pair: TypeAlias = Any  # two numbers, as a parser reads them


def _pair(text: str, read: Callable[[str], Any] = read_number) -> tuple[float, float]:
    cells = [float(read(each)) for each in text.split(",")]
    if len(cells) != 2:
        raise typer.BadParameter(f"{text!r:.40} is no pair; expected two numbers with a comma between them")
    return cells[0], cells[1]


def _read_float(text: str | float) -> float:
    return float(read_number(str(text)))


def _share_pair(text: str) -> tuple[float, float]:
    return _pair(text, read_share)


def _whole_pair(text: str) -> tuple[int, int]:
    one, two = _pair(text)
    if one != int(one) or two != int(two):
        raise typer.BadParameter(f"{text!r:.40}: expected two whole numbers, such as 600,400")
    return int(one), int(two)


def _asked(path: Path) -> Design:
    """Read a design; the word direct stands for a direct question."""
    from deniable.designs import direct

    return direct() if str(path) == DIRECT and not path.exists() else read_design(path)


Share = Annotated[
    float,
    typer.Option("--share", metavar="SHARE", parser=read_share, help="The share that you expect, such as 0.1 or 10%."),
]
MaybeShare = Annotated[
    float | None,
    typer.Option("--share", metavar="SHARE", parser=read_share, help="The share that you expect, such as 0.1 or 10%."),
]
Deviation = Annotated[
    float | None,
    typer.Option("--sd", metavar="NUMBER", help="Of a design for numbers: the largest standard deviation you expect."),
]
People = Annotated[int, typer.Option("--people", "-n", help="How many will respond.")]
Null = Annotated[
    float, typer.Option("--null", metavar="SHARE", parser=read_share, help="The share under the null hypothesis.")
]
Alpha = Annotated[
    float,
    typer.Option(
        "--alpha", metavar="SHARE", parser=read_share, help="How often a true null hypothesis may be rejected."
    ),
]
TwoSided = Annotated[bool, typer.Option("--two-sided", help="Test on both sides.")]
Level = Annotated[
    float, typer.Option("--level", metavar="SHARE", parser=read_share, help="The confidence level of the interval.")
]
Assurance = Annotated[
    float | None,
    typer.Option(
        "--assurance",
        metavar="SHARE",
        parser=read_share,
        help="In what share of all surveys the interval should be that narrow.",
    ),
]
Category = Annotated[
    str | None, typer.Option("--category", help="Whose share is meant; by default that of the last category.")
]
Method = Annotated[
    str | None, typer.Option("--method", help="Which test: exact or normal; by default exact where that is possible.")
]
Costs = Annotated[
    Pair, typer.Option("--costs", metavar="A,B", parser=_pair, help="What a respondent of each group costs.")
]
Shares = Annotated[
    Pair, typer.Option("--shares", metavar="A,B", parser=_share_pair, help="The share that you expect in each group.")
]
First = Annotated[Path, typer.Argument(metavar="FIRST", help="The design of the first group, or the word direct.")]
Second = Annotated[Path | None, typer.Argument(metavar="SECOND", help="That of the other one; by default the same.")]

app = typer.Typer(
    cls=CommandList,
    name="plan",
    no_args_is_help=True,
    help="Before anybody is asked: how many people, how wide an interval, how sure, which design.",
    **PLAIN,
)


@app.command()
@guarded
def size(
    design: DesignFile,
    share: MaybeShare = None,
    within: Annotated[
        float | None,
        typer.Option("--within", metavar="NUMBER", help="Of a design for numbers: how far off their mean may be."),
    ] = None,
    sd: Deviation = None,
    width: Annotated[
        float | None,
        typer.Option("--width", metavar="SHARE", parser=read_share, help="How wide the interval may be, end to end."),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(
            "--power",
            metavar="SHARE",
            parser=read_share,
            help="How likely it should be that the null share is rejected.",
        ),
    ] = None,
    assurance: Assurance = None,
    level: Level = 0.95,
    null: Null = 0.0,
    alpha: Alpha = 0.05,
    two_sided: TwoSided = False,
    category: Category = None,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """How many people do I need, for an interval of this width or for this power; or for a mean within so much?"""
    from deniable.plan import how_many

    _tell(
        how_many(
            read_design(design), share=share, within=within, sd=sd, width=width, power=power,
            assurance=assurance, level=level, null=null, alpha=alpha,
            two_sided=two_sided, category=category, method=method,
        ),
        as_json,
    )  # fmt: skip


@app.command("width")
@guarded
def interval_width(
    design: DesignFile,
    people: People,
    share: MaybeShare = None,
    sd: Deviation = None,
    assurance: Assurance = None,
    level: Level = 0.95,
    category: Category = None,
    as_json: Json = False,
) -> None:
    """How wide will the interval be?"""
    from deniable.plan import how_wide

    found = how_wide(
        read_design(design), people, share=share, sd=sd, level=level, assurance=assurance,
        category=category,
    )  # fmt: skip
    _tell(found, as_json)


@app.command()
@guarded
def detect(
    design: DesignFile,
    people: People,
    power: Annotated[
        float,
        typer.Option(
            "--power",
            metavar="SHARE",
            parser=read_share,
            help="How likely it should be that the null share is rejected.",
        ),
    ] = 0.8,
    null: Null = 0.0,
    alpha: Alpha = 0.05,
    two_sided: TwoSided = False,
    category: Category = None,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """What is the smallest share that so many people would find?"""
    from deniable.plan import how_small

    found = how_small(
        read_design(design), people, power=power, null=null, alpha=alpha,
        two_sided=two_sided, category=category, method=method,
    )  # fmt: skip
    _tell(found, as_json)


def _arms(first: Path, second: Path | None, shares: Pair, people: Pair, category: str | None) -> tuple[Arm, Arm]:
    from deniable.plan import Arm

    one, two = shares
    asked = _asked(first)
    other = asked if second is None else _asked(second)
    return Arm(asked, one, people[0], category), Arm(other, two, people[1], category)


@app.command()
@guarded
def difference(
    first: First,
    shares: Shares,
    second: Second = None,
    people: Annotated[
        Pair | None, typer.Option("--people", "-n", metavar="A,B", parser=_whole_pair, help="How many in each group.")
    ] = None,
    power: Annotated[
        float | None, typer.Option("--power", metavar="SHARE", parser=read_share, help="The power that is wanted.")
    ] = None,
    alpha: Alpha = 0.05,
    one_sided: Annotated[bool, typer.Option("--one-sided", help="It is known which share is larger.")] = False,
    costs: Costs = "1,1",
    category: Category = None,
    as_json: Json = False,
) -> None:
    """Are two groups told apart: with this many people, or how many does a power take?"""
    from deniable.plan import difference as told_apart

    arms = _arms(first, second, shares, people or (None, None), category)
    found = told_apart(*arms, power=power, alpha=alpha, two_sided=not one_sided, costs=costs)
    _tell(found, as_json)


@app.command()
@guarded
def split(
    first: First,
    shares: Shares,
    people: People,
    second: Second = None,
    costs: Costs = "1,1",
    category: Category = None,
    as_json: Json = False,
) -> None:
    """How are people best divided between two groups that are compared?"""
    from deniable.plan import allocation

    arms = _arms(first, second, shares, (None, None), category)
    _tell(allocation(*arms, people, costs=costs), as_json)


@app.command("two-samples")
@guarded
def two_samples(
    p: Annotated[str, typer.Option("--p", metavar="A,B", help="Probability of the sensitive question in each sample.")],
    share: Share,
    innocuous: Annotated[
        float, typer.Option("--innocuous", metavar="SHARE", parser=read_share, help="The innocuous share you expect.")
    ],
    people: People,
    costs: Costs = "1,1",
    as_json: Json = False,
) -> None:
    """How are people best divided between two samples of the unrelated question, whose share nobody knows?"""
    from deniable.plan import two_sample_allocation

    found = two_sample_allocation(p.split(","), people, share=share, innocuous=innocuous, costs=costs)
    _tell(found, as_json)


@app.command()
@guarded
def cheaters(
    p: Annotated[str, typer.Option("--p", metavar="A,B", help="How often “yes” is forced in each sample.")],
    share: Share,
    cheating: Annotated[
        float,
        typer.Option(
            "--cheating", metavar="SHARE", parser=read_share, help="The share of people who say “no” whatever happens."
        ),
    ],
    people: Annotated[
        Pair, typer.Option("--people", "-n", metavar="A,B", parser=_whole_pair, help="How many in each sample.")
    ],
    as_json: Json = False,
) -> None:
    """How well do two samples tell honest members from people who always say no?"""
    from deniable.plan import cheater_detection

    found = cheater_detection(p.split(","), people, share=share, cheating=cheating)
    _tell(found, as_json)


@app.command()
@guarded
def caps(
    epsilon: Annotated[str | None, typer.Option("--epsilon", "-e", help="The most that a response may reveal.")] = None,
    factor_yes: Annotated[str | None, typer.Option("--factor-yes", help="How far “yes” may raise the odds.")] = None,
    factor_no: Annotated[str | None, typer.Option("--factor-no", help="How far “no” may lower the odds.")] = None,
    posterior: Annotated[str | None, typer.Option("--posterior", help="The most to be believed after “yes”.")] = None,
    prior: Annotated[str, typer.Option("--prior", help="What is believed beforehand.")] = "1/10",
    share: Share = 0.1,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the design here.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Which design for two answers tells the most under caps on ε, on Bayes factors or on a belief?"""
    from deniable.plan import best_under_caps

    check_files(out, None, force=force)
    found = best_under_caps(
        epsilon=epsilon, factor_yes=factor_yes, factor_no=factor_no, posterior=posterior, prior=prior,
        share=share,
    )  # fmt: skip
    _tell(found, as_json)
    if out is not None and found.design is not None:
        write(out, found.design.to_json(indent=2), force=force)
        say(f"wrote {out}")


@app.command()
@guarded
def compliance(
    design: DesignFile,
    share: Share,
    people: People,
    failing: Annotated[
        float,
        typer.Option("--failing", metavar="SHARE", parser=read_share, help="The share who do not follow the device."),
    ],
    kind: Annotated[
        str, typer.Option("--kind", help="What they do instead: always_no, always_yes, carriers_no or random.")
    ] = "always_no",
    null: Null = 0.0,
    alpha: Alpha = 0.05,
    two_sided: TwoSided = False,
    category: Category = None,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """What if some people do not follow the device: the power, and what the estimate tends to?"""
    from deniable.plan import noncompliance

    found = noncompliance(
        read_design(design), people, share=share, failing=failing, kind=kind, null=null,
        alpha=alpha, two_sided=two_sided, category=category, method=method,
    )  # fmt: skip
    _tell(found, as_json)


@app.command()
@guarded
def designs(
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="What each design may reveal.")],
    people: People,
    share: Share = 0.1,
    level: Level = 0.95,
    as_json: Json = False,
) -> None:
    """Which named design for two answers is best, all at one ε and with one number of people?"""
    from deniable.plan import designs_at

    _tell(designs_at(epsilon, people, share=share, level=level), as_json)


@app.command()
@guarded
def crossover(
    design: DesignFile,
    share: Share,
    lying: Annotated[
        float,
        typer.Option(
            "--lying",
            metavar="SHARE",
            parser=read_share,
            help="Of those to whom it applies, the share who would deny it if asked directly.",
        ),
    ],
    bias: Annotated[
        float,
        typer.Option(
            "--bias", metavar="NUMBER", parser=_read_float, help="By how much the design's estimate is off, in shares."
        ),
    ] = 0.0,
    category: Category = None,
    chart: Chart = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """From how many people on is the design better than a direct question to which some lie?"""
    from deniable.plan import crossover as crossing

    check_files(None, chart, force=force)
    found = crossing(read_design(design), share=share, lying=lying, bias=bias, category=category)
    _tell(found, as_json)
    if chart is not None:
        save_picture(found.plot(), chart)
    elif not as_json:
        console().print(f"\n{found.drawn()}", markup=False, soft_wrap=True)


@app.command()
@guarded
def simulate(
    design: DesignFile,
    share: Share,
    people: People,
    studies: Annotated[int, typer.Option("--studies", help="How many studies are drawn.")] = 10_000,
    null: Null = 0.0,
    alpha: Alpha = 0.05,
    two_sided: TwoSided = False,
    level: Level = 0.95,
    category: Category = None,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """What do simulated studies find, beside what was planned?"""
    from deniable.simulate import studies as drawn

    with progress("simulating", unit="studies") as told:
        found = drawn(
            read_design(design), people, studies, share=share, null=null, alpha=alpha,
            two_sided=two_sided, level=level, category=category, method=method,
            progress=lambda done: told(done, done / studies),
        )  # fmt: skip
    _tell(found, as_json)


def _tell(found: Planned, as_json: bool) -> None:
    if as_json:
        print_json(found.to_json(indent=2))
    else:
        console().print(str(found), markup=False, soft_wrap=True)
