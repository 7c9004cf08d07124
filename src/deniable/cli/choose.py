"""`deniable design family` and `deniable design optimal`: any family by its name, or the best one for a goal."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import Force, Json, check_out, console, guarded, print_json, say, write
from deniable.cli.design import Categories, Out, finish, read_labels
from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.plan import Choice


@guarded
def family(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The family; without it, all are listed.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="What it is built from, such as p=3/4."),
    ] = None,
    categories: Categories = None,
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build a design of any family: `deniable design family subset -c a,b,c,d -s epsilon=1 -s t=2`."""
    from deniable.designs import FAMILIES

    if name is None:
        if settings or categories or out or force:
            raise InvalidRequest("expected the name of a family too; without one all are listed, and nothing is built.")
        _list(as_json=as_json)
        return
    if name not in FAMILIES:
        raise InvalidRequest(f"there is no family {name!r:.40}; expected one of {', '.join(sorted(FAMILIES))}.")
    build = FAMILIES[name].build
    known = inspect.signature(build).parameters
    pairs = [_setting(each) for each in settings or []]
    if categories is not None:
        pairs.append(("categories", read_labels(categories)))
    given = dict(pairs)
    if len(given) < len(pairs):
        raise InvalidRequest("something is set twice; expected each setting once.")
    if strange := sorted(set(given) - set(known)):
        raise InvalidRequest(f"{name} is not built from {strange[0]!r:.40}; expected some of {', '.join(known)}.")
    needed = [each.name for each in known.values() if each.default is each.empty and each.name not in given]
    if needed:
        raise InvalidRequest(f"{name} needs {', '.join(needed)} too.", "Give it as --set NAME=VALUE.")
    finish(build(**given), out, force=force, as_json=as_json)


@guarded
def optimal(
    categories: Annotated[
        str, typer.Option("--categories", "-c", help="Possible answers, such as a,b,c; or how many, such as 5.")
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", help="The most that may be revealed, such as 1 or 1/2.")],
    goal: Annotated[
        str, typer.Option("--goal", help="What counts: error, category, unchanged, wire or device.")
    ] = "error",
    category: Annotated[str | None, typer.Option("--category", help="With the goal category: which one.")] = None,
    most_bytes: Annotated[int, typer.Option("--most-bytes", help="How long a response may be.")] = 4096,
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Choose the design that serves a goal best at this ε, and say why."""
    from deniable.plan import optimal as choose

    check_out(out, force=force)
    choice = choose(read_labels(categories), epsilon, goal=goal, category=category, most_bytes=most_bytes)
    if as_json:
        print_json(_told(choice))
    else:
        console().print(str(choice), markup=False, highlight=False, soft_wrap=True)
    if out is not None:
        write(out, choice.design.to_json(indent=2), force=force)
        say(f"wrote {Path(out)}")


def _list(*, as_json: bool) -> None:
    from deniable.designs import FAMILIES

    told = {name: (inspect.getdoc(FAMILIES[name].build) or "").splitlines()[0] for name in sorted(FAMILIES)}
    if as_json:
        print_json(told)
        return
    for name, first in told.items():
        console().print(f"{name:<18} {first}", markup=False, highlight=False, soft_wrap=True)


def _setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; a value is JSON where it reads as such, else text, so that 3/4 needs no quotes."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InvalidRequest(f"{text!r:.40} sets nothing; expected NAME=VALUE, such as epsilon=1.")
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return name.strip(), value
    return name.strip(), value if isinstance(read, float) else read  # a decimal is read exactly from its text


def _told(choice: Choice) -> dict[str, Any]:
    return {
        "design": json.loads(choice.design.to_json()),
        "goal": choice.goal,
        "demand": choice.demand,
        "reasons": list(choice.reasons),
        "candidates": [
            {
                "name": each.name,
                "epsilon": each.design.epsilon,
                "risk": each.risk,
                "unchanged": each.unchanged,
                "bytes": each.size,
            }
            for each in choice.candidates
        ],
    }
