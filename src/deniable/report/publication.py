"""For a paper: how it was asked and estimated in a paragraph, and what came out in a sentence.

Every number is the object's own. ε and factors are rounded up; other numbers to the digits that they have.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deniable import __version__, exact
from deniable.certificates.certificate import caveats
from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest
from deniable.estimates.results import PERCENTAGES, Result, Row, Summary
from deniable.estimates.shares import ShareRow
from deniable.order.ladders import Ladder
from deniable.records.drawn.designs import DrawnDesign
from deniable.records.strings.tallies import NoisyTally
from deniable.report.views import ChannelView, channel_views
from deniable.report.words import estimator, interval_name
from deniable.tallies.base import AdditiveTally

_MOST_CHANCES = 16  # probabilities in a sentence; more are a table
_MOST_DENOMINATOR = 9_999  # of a fraction that people read; others are written as decimals


def methods(
    thing: Result | AdditiveTally[Any] | NoisyTally | AnyDesign,
    *,
    level: float = 0.95,
    method: str | None = None,
    simultaneous: bool = False,
) -> str:
    """Tell in a paragraph for a paper how answers were randomized, how many were counted, and how they were estimated.

    Args:
        thing: a result; or a tally, or a design of any type, of which there is less to tell.
        level: of a result's intervals.
        method: of a result's intervals; by default the one that suits it.
        simultaneous: whether all intervals are to hold together with this level.

    Raises:
        InvalidRequest: something else.

    Example:
        >>> from deniable.designs import warner
        >>> print(methods(warner(p="3/4")).partition(". ")[0])
        Answers were collected by randomized response (warner)
    """
    if not isinstance(thing, Result | AdditiveTally | NoisyTally | AnyDesign):
        raise InvalidRequest(
            f"there is nothing to tell of a {type(thing).__name__}; expected a design, a tally or a result."
        )
    design = _design_of(thing)
    if isinstance(thing, Result):
        summary = thing.summary(level=level, method=method, simultaneous=simultaneous)
        told = [*_asked(design, summary), *_counted(summary.respondents, summary.missing), *_estimated(thing, summary)]
    elif isinstance(thing, AnyDesign):
        told = [*_asked(design)]
    else:
        told = [*_asked(design), *_counted(thing.respondents, getattr(thing, "missing", 0))]
    named = "" if design is None else f" (design {design.hash:.19}…)"
    return " ".join([*told, f"Computed with deniable {__version__}{named}."])


def sentence(
    result: Result | Summary[Row],
    name: str | None = None,
    *,
    label: str = "",
    level: float = 0.95,
    method: str | None = None,
) -> str:
    """Tell one estimated number in a sentence, with its interval, the number of responses and ε.

    Args:
        result: any result, or its summary.
        name: which number; by default of two answers the second one, of more the largest share; else the first.
        label: what it is called in the sentence; by default its name.
        level: of the interval; a summary has its own.
        method: of the interval; by default the one that suits the result.

    Raises:
        InvalidRequest: there is no number of this name, or nothing that was estimated.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.estimates import estimate
        >>> from deniable.tallies import Tally
        >>> sentence(estimate(Tally(warner(p="3/4"), [640, 360])))
        'An estimated 22.0% answer “yes” (95% interval 16.2% to 28.0%; 1,000 responses, ε = 1.099).'
    """
    if not isinstance(result, Result | Summary):
        raise InvalidRequest(f"nothing was estimated in a {type(result).__name__}; expected what estimate() returns.")
    summary = result.summary(level=level, method=method) if isinstance(result, Result) else result
    row = _row(summary, name)
    percent = summary.quantity in PERCENTAGES
    value, low, high = _numbers(row, percent=percent)
    facts = f"{summary.percent} interval {low} to {high}; {summary.respondents:,} responses"
    facts += "" if summary.epsilon == math.inf else f", ε = {exact.shown_above(summary.epsilon, 4)}"
    called = label or row.name
    if not math.isfinite(row.estimate):
        return f"Of “{called}” nothing could be estimated from {summary.respondents:,} responses."
    if percent and row.low <= 0 and row.high >= 1:
        return f"The responses are too few to tell how many answer “{called}” ({facts})."
    if summary.quantity == "share":
        return f"An estimated {value} answer “{called}” ({facts})."
    of = "" if summary.quantity == called else f" of “{called}”"
    return f"The {summary.quantity}{of} is estimated at {value} ({facts})."


def _design_of(thing: Any) -> AnyDesign | None:
    """Return the design behind a thing, looking into what it was made from; None where there are several, or none."""
    if isinstance(thing, AnyDesign):
        return thing
    known = [getattr(thing, each.name) for each in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else []
    for kind in (AnyDesign, AdditiveTally, Result):
        found = [_design_of(each) for each in known if isinstance(each, kind)]
        if found:
            return found[0] if all(each == found[0] for each in found) else None
    return None


def _asked(design: AnyDesign | None, summary: Summary[Row] | None = None) -> list[str]:
    if design is None:
        epsilon = math.inf if summary is None else summary.epsilon
        about = "" if summary is None else f" ({summary.title})"
        return [f"Answers were collected by randomized response{about}.", _promise(epsilon)]
    name = getattr(design, "name", design.asks)
    told = [f"Answers were collected by randomized response ({name}).", *_chances(design)]
    if isinstance(design, Ladder):
        told.append("Everybody counts once, with the finest response sent.")
    epsilon = getattr(design, "epsilon", math.inf)
    promised = [] if design.asks == "deck" else [_promise(epsilon, getattr(design, "parity", None))]
    return [*told, *promised, *caveats(design)]


def _promise(epsilon: float, parity: exact.Ratio | None = None) -> str:
    if epsilon == math.inf:
        return "The design has no finite ε: some response proves something about the answer."
    factor = exact.shown_above(math.exp(epsilon) if parity is None else parity, 4)
    return (
        f"No response changes the odds between two answers by a factor of more than {factor} "
        f"(ε-local differential privacy with ε = {exact.shown_above(epsilon, 4)})."
    )


def _chances(design: AnyDesign) -> list[str]:
    """Tell the probabilities of the device; parts that do the same are told together."""
    clauses: dict[str, list[str]] = {}
    for name, part in _parts(design):
        for clause, title in _clauses(part, name):
            clauses.setdefault(clause, []).append(title)
    return [
        f"{_capital(clause)}." if titles == [""] else f"For {_names(titles)}, {clause}."
        for clause, titles in clauses.items()
    ]


def _parts(design: AnyDesign) -> list[tuple[str, AnyDesign]]:
    if isinstance(design, Ladder):
        return [(f"stage {number}", stage) for number, stage in enumerate(design.designs, 1)]
    if isinstance(design, Design | DrawnDesign) and design.factors:
        return [(f"“{factor.attribute}”", factor.design) for factor in design.factors]
    return [("", design)]


def _clauses(design: AnyDesign, name: str) -> list[tuple[str, str]]:
    channel = design.channel if isinstance(design, Design) else None
    if channel is not None and channel.exchangeable:
        own, other = (written(channel.probability(number, given=0)) for number in (0, 1))
        others = "the other one" if channel.answers == 2 else f"each of the {channel.answers - 1:,} others"
        return [(f"the true answer is sent with probability {own}, and {others} with probability {other}", name)]
    return [(_clause(view), name or view.title) for view in channel_views(design)]


def _clause(view: ChannelView) -> str:
    if len(view.given) * len(view.responses) > _MOST_CHANCES:
        return (
            f"there are {len(view.responses)} responses to {len(view.given)} answers, with probabilities as the "
            "design's table has them"
        )
    if view.across == "category":
        (hit, stray), _ = view.chances
        return (
            f"the answer {view.responses[0]} with probability {written(hit)}, and any one other category with "
            f"probability {written(stray)}"
        )
    return "; ".join(_column(view, number) for number in range(len(view.given)))


def _column(view: ChannelView, number: int) -> str:
    sent = [(row[number], response) for row, response in zip(view.chances, view.responses, strict=True) if row[number]]
    parts = [f"“{response}” is sent with probability {written(chance)}" for chance, response in sent[:1]]
    parts += [f"“{response}” with {written(chance)}" for chance, response in sent[1:]]
    return f"given the answer “{view.given[number]}”, {_names(parts)}"


def written(chance: Fraction) -> str:
    """Return a probability as people print it: a fraction where it is a short one, else a decimal of six digits.

    Example:
        >>> written(Fraction(3, 4)), written(Fraction(1)), written(Fraction(2**63 - 1, 2**64))
        ('3/4', '1', '0.5')
    """
    return str(chance) if chance.denominator <= _MOST_DENOMINATOR else f"{float(chance):.6g}"


def _counted(respondents: int, missing: int) -> list[str]:
    told = f"{respondents:,} responses were counted"
    if not missing:
        return [f"{told}."]
    who = "1 person" if missing == 1 else f"{missing:,} people"
    return [f"{told}; {who} sent nothing and took no part in the estimate."]


def _estimated(result: Result, summary: Summary[Row]) -> list[str]:
    what = {"share": "Shares were", "frequency": "Frequencies were"}.get(
        summary.quantity, f"The {summary.quantity} was"
    )
    together = "simultaneous " if summary.simultaneous else ""
    told = [
        f"{what} estimated by {estimator(summary.method)}, with {together}{summary.percent} intervals "
        f"({interval_name(summary.interval)})."
    ]
    population = getattr(result, "population", None)
    if population is not None:
        told.append(f"The respondents are a sample without replacement of {population:,} people.")
    return told


def _row(summary: Summary[Row], name: str | None) -> Row:
    rows = summary.rows
    if not rows:
        raise InvalidRequest("nothing was estimated; expected a result with at least one number.")
    if name is None and isinstance(rows[0], ShareRow):
        return rows[1] if len(rows) == 2 else max(rows, key=lambda row: row.estimate)
    if name is None:
        return rows[0]
    found = next((row for row in rows if row.name == name), None)
    if found is None:
        some = ", ".join(repr(row.name) for row in rows[:5])
        raise InvalidRequest(f"{name!r:.40} was not estimated; expected a name such as {some:.200}.")
    return found


def _numbers(row: Row, *, percent: bool) -> tuple[str, str, str]:
    """Return value and ends with the digits that the error leaves: one more than the interval's width."""
    width = row.high - row.low
    if percent:
        digits = 1 if width >= 0.01 or not width > 0 else 2 if width >= 0.001 else 3
        return tuple(f"{100 * each:.{digits}f}%".replace("-", "−") for each in (row.estimate, row.low, row.high))  # type: ignore[return-value]
    places = min(max(2 - math.floor(math.log10(width)), 0), 12) if math.isfinite(width) and width > 0 else 4
    return tuple(f"{each:,.{places}f}".replace("-", "−") for each in (row.estimate, row.low, row.high))  # type: ignore[return-value]


def _names(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
