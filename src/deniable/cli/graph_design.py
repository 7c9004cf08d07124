"""`deniable graph design` and `deniable graph show`: build a design for items and weights, and tell its promises."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import Force, Json, console, deliver, guarded, print_json
from deniable.cli.design import read_labels
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.engines.local.key_value import GraphDesign

DesignFile = Annotated[Path, typer.Argument(metavar="DESIGN", help="A design, as written by `deniable graph design`.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the result to this file.")]
FREQUENCY, MEAN, LOW, HIGH = "1/10", "0", "-1", "1"


class Kind(StrEnum):
    """How rows become responses."""

    LPP_CLUB = "lpp_club"
    LPP_DDAGGER = "lpp_ddagger"
    LPP = "lpp"
    VPP = "vpp"
    PCKV_UE = "pckv_ue"
    PCKV_GRR = "pckv_grr"
    ONE_EDGE = "one_edge"


@guarded
def design(
    kind: Annotated[Kind, typer.Argument(help="How somebody's items and weights become a response.")],
    items: Annotated[
        str | None, typer.Option("--items", "-i", help="What people may have, such as tea,coffee; or how many.")
    ] = None,
    items_file: Annotated[
        Path | None, typer.Option("--items-file", metavar="FILE", help="A text file with an item on each line.")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", "-e", help="The most that may be revealed about a whole row.")
    ] = None,
    epsilon1: Annotated[str | None, typer.Option("--epsilon1", help="Of lpp and lpp_ddagger: ε of the edge.")] = None,
    epsilon2: Annotated[str | None, typer.Option("--epsilon2", help="Of lpp and lpp_ddagger: ε of the weight.")] = None,
    padding: Annotated[int, typer.Option("--padding", min=1, help="Of pckv_*: about how many items people have.")] = 1,
    importance: Annotated[
        str | None,
        typer.Option("--importance", help='Whose variance is to be small: "mean", or "frequency=1,mean=2".'),
    ] = None,
    frequency: Annotated[
        str, typer.Option("--frequency", help="The share of people thought to have an item.")
    ] = FREQUENCY,
    mean: Annotated[str, typer.Option("--mean", help="The mean weight that is thought of, from -1 to 1.")] = MEAN,
    low: Annotated[str, typer.Option("--low", help="The smallest weight there can be.")] = LOW,
    high: Annotated[str, typer.Option("--high", help="The largest weight there can be.")] = HIGH,
    out: Out = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Build a design, and tell what it promises and what it saves."""
    goal = {"importance": _importance(importance), "frequency": frequency, "mean": mean}
    scale = {"low": low, "high": high}
    pair = {"epsilon1": epsilon1, "epsilon2": epsilon2}
    built = _build(kind, _items(items, items_file), epsilon, pair, padding, goal, scale)
    deliver(built.to_json(indent=2), lambda: _show(built), out, force=force, as_json=as_json)


@guarded
def show(design: DesignFile, as_json: Json = False) -> None:
    """Tell what a design promises: its ε for whole rows, and what two devices one after the other would be charged."""
    known = read_design(design)
    if as_json:
        print_json(_told(known))
    else:
        _show(known)


def read_design(path: Path) -> GraphDesign:
    """Read a design of either kind."""
    from deniable.records.edges.designs import EdgeDesign
    from deniable.records.key_value.designs import KeyValueDesign

    text = path.read_bytes()
    try:
        schema = json.loads(text).get("schema", "")
    except (ValueError, AttributeError):
        schema = ""
    kind: type[EdgeDesign | KeyValueDesign] = EdgeDesign if f"/{EdgeDesign.SCHEMA}/" in str(schema) else KeyValueDesign
    return kind.from_json(text)


def _build(
    kind: Kind,
    items: Any,
    epsilon: str | None,
    pair: dict[str, str | None],
    padding: int,
    goal: dict[str, Any],
    scale: dict[str, Any],
) -> GraphDesign:
    from deniable.records.edges.designs import one_edge
    from deniable.records.key_value import designs as builders

    _check_options(kind, padding, goal, scale)
    paired = kind in (Kind.LPP, Kind.LPP_DDAGGER)
    if (not paired and any(pair.values())) or (kind == Kind.LPP and (epsilon or None in pair.values())):
        raise InvalidRequest("epsilon1 and epsilon2 belong to lpp, which needs both, and to lpp_ddagger.")
    if epsilon is None and not paired:
        raise InvalidRequest("expected --epsilon, such as --epsilon 1.")
    if kind == Kind.LPP:
        return builders.lpp(items, pair["epsilon1"] or 1, pair["epsilon2"] or 1, **scale)
    if kind == Kind.LPP_DDAGGER:
        one, two = pair["epsilon1"], pair["epsilon2"]
        return builders.lpp_ddagger(items, epsilon, epsilon1=one, epsilon2=two, **goal, **scale)
    assert epsilon is not None
    if kind == Kind.VPP:
        return builders.vpp(items, epsilon, **scale)
    if kind == Kind.ONE_EDGE:
        return one_edge(items, epsilon)
    if kind == Kind.LPP_CLUB:
        return builders.lpp_club(items, epsilon, **goal, **scale)
    build = builders.pckv_ue if kind == Kind.PCKV_UE else builders.pckv_grr
    return build(items, epsilon, padding=padding, **goal, **scale)


def _check_options(kind: Kind, padding: int, goal: dict[str, Any], scale: dict[str, Any]) -> None:
    """Refuse what a kind would not look at: nobody should believe that it had been heeded."""
    if padding != 1 and kind not in (Kind.PCKV_UE, Kind.PCKV_GRR):
        raise InvalidRequest(f"{kind} does not pad; expected --padding with pckv_ue or pckv_grr alone.")
    if kind in (Kind.LPP, Kind.VPP, Kind.ONE_EDGE) and goal != {
        "importance": None,
        "frequency": FREQUENCY,
        "mean": MEAN,
    }:
        raise InvalidRequest(f"{kind} has nothing to divide; expected no --importance, --frequency and --mean.")
    if kind == Kind.ONE_EDGE and scale != {"low": LOW, "high": HIGH}:
        raise InvalidRequest("the weights of one_edge are 0, 1/2 and 1; expected no --low and --high.")


def _items(items: str | None, file: Path | None) -> Any:
    if (items is None) == (file is None):
        raise InvalidRequest("expected either --items or --items-file, and exactly one of them.")
    if file is None:
        return read_labels(items or "")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise UnreadableFile(f"{file.name} is not text in UTF-8; expected an item on each line.") from None
    return [line.strip() for line in lines if line.strip()]


def _importance(text: str | None) -> str | dict[str, str] | None:
    if text is None or "=" not in text:
        return text
    parts = [part.strip().partition("=") for part in text.split(",")]
    if not all(gap for _, gap, _ in parts) or len({name for name, *_ in parts}) < len(parts):
        raise InvalidRequest("the importance cannot be read; expected a number for each name once: frequency=1,mean=2.")
    return {name.strip(): value.strip() for name, _, value in parts}


def _show(known: GraphDesign) -> None:
    out = console()
    out.print(repr(known), style="bold", markup=False)
    out.print(f"{known.hash}\n", style="dim", markup=False)
    for sentence in _sentences(known):
        out.print(sentence, markup=False)


def _sentences(known: GraphDesign) -> list[str]:
    from deniable.records.edges.designs import EdgeDesign
    from deniable.report.words import factor

    odds = f"the odds between any two {'weights' if isinstance(known, EdgeDesign) else 'rows of items and weights'}"
    told = [f"Whatever is sent, {odds} change by a factor of at most {factor(known.parity)} (ε = {known.epsilon:.4g})."]
    if isinstance(known, EdgeDesign):
        return [*told, known.caveat]
    key, value = known.scheme.parts
    told.append(
        f"Key and value on their own change odds by up to {factor(key)} and {factor(value)}; one after the other they "
        f"would be charged ε = {known.sequential:.4g}, {known.saving:.4g} more than is spent."
    )
    return told


def _told(known: GraphDesign) -> dict[str, Any]:
    from deniable.records.edges.designs import EdgeDesign

    told: dict[str, Any] = {
        "hash": known.hash,
        "epsilon": None if known.epsilon == math.inf else known.epsilon,
        "items": len(known.items),
        "sentences": _sentences(known),
    }
    if not isinstance(known, EdgeDesign):
        told |= {"name": known.name, "sequential": known.sequential, "saving": known.saving}
        symbol = known.scheme.symbol
        told["symbol"] = [[str(symbol.probability(i, given=j)) for j in range(3)] for i in range(symbol.responses)]
    return told
