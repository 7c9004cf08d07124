"""For a paper: how it was asked and estimated in a paragraph, and what came out in a sentence.

Every number is the object's own. ε and factors are rounded up; other numbers to the digits that they have.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from deniable import __version__, exact
from deniable.certificates.certificate import caveats
from deniable.designs import AnyDesign
from deniable.display.named_designs import NAMED, print_probability
from deniable.display.views import ChannelView
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.differences import Differences
from deniable.estimates.posteriors import Posterior, PosteriorRow
from deniable.estimates.results import PERCENTAGES, Result, Row, Summary
from deniable.estimates.sampling.results import SampledEstimate, SampledRow
from deniable.estimates.shares import ShareRow
from deniable.estimates.statistics import Model
from deniable.groups.estimates import GroupedEstimate
from deniable.rendering import formats
from deniable.report.result_texts import estimator, interval_name
from deniable.tallies.base import AdditiveTally
from deniable.tallies.group_labels import group_name
from deniable.types import find_operation, operation
from deniable.types.strings.count import NoisyTally

_MOST_CHANCES = 16  # probabilities in a sentence; more are a table
_MOST_LISTED = 6  # parameters of a prior, or groups, that are named one by one
_MOST_DEVICES = 4  # whose probabilities are told; more are a table
_ADVICE = "Let a random device"  # how a caveat goes on for those who plan; a methods section tells what was done


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
        Answers were collected by randomized response (Warner's design; Warner 1965)
    """
    if not isinstance(thing, Result | AdditiveTally | NoisyTally | AnyDesign):
        raise InvalidRequest(
            f"there is nothing to tell of a {type(thing).__name__}; expected a design, a tally or a result."
        )
    devices = _devices_of(thing)
    if isinstance(thing, Result):
        summary = thing.summary(level=level, method=method, simultaneous=simultaneous)
        dropped = getattr(
            thing, "dropped", None
        )  # of a regression: rows, by why they were left out
        counted = (
            _counted(summary.respondents, summary.missing)
            if dropped is None
            else _kept(thing, dropped)
        )
        told = [*_asked(devices, summary), *counted, *_estimated(thing, summary)]
    elif isinstance(thing, AnyDesign):
        told = [*_asked(devices)]
    else:
        told = [
            *_asked(devices),
            *_counted(thing.respondents, getattr(thing, "missing", 0)),
        ]
    hashes = " and ".join(f"{design.hash:.19}…" for _, design in devices)
    named = (
        f" (design{'s' * (len(devices) > 1)} {hashes})"
        if 0 < len(devices) <= _MOST_DEVICES
        else ""
    )
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
        name: which number, such as "yes", or "north · yes" of a group; by default of two answers the second one, of
            more the largest share; else the first. Of groups, that of the one where it is largest.
        label: of a share what these people do, such as "have paid a bribe"; of another number what it is called. By
            default its name.
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
        raise InvalidRequest(
            f"nothing was estimated in a {type(result).__name__}; expected what estimate() returns."
        )
    summary = (
        result.summary(level=level, method=method)
        if isinstance(result, Result)
        else result
    )
    groups = _grouped(result)
    row = _row(summary, name, groups)
    group = next(
        (each for each in groups if row.name in each.numbers),
        _Group("", {}, summary.respondents),
    )
    percent = summary.quantity in PERCENTAGES
    value, low, high = _numbers(row, percent=percent)
    credible = "credible " if summary.interval.startswith("credible") else ""
    facts = f"{summary.level_text} {credible}interval {low} to {high}; {group.people:,} responses"
    facts += (
        ""
        if summary.epsilon == math.inf
        else f", ε = {formats.epsilon(summary.epsilon)}"
    )
    own = group.numbers.get(row.name, row.name)
    called, where = label or own, f"in {group.name} " if group.name else ""
    if not math.isfinite(row.estimate):
        return _capital(
            f"{where}of “{called}” nothing could be estimated from {group.people:,} responses."
        )
    do = label or f"answer “{own}”"
    if summary.quantity == "share" and row.low <= 0 and row.high >= 1:
        return _capital(
            f"{where}the responses are too few to tell how many {do} ({facts})."
        )
    if summary.quantity == "share":
        beyond = row.low < 0 or row.high > 1
        remark = (
            " The interval of an unbiased estimate may reach beyond 0% and 100%."
            if beyond
            else ""
        )
        return _capital(f"{where}an estimated {value} {do} ({facts}).{remark}")
    of = "" if summary.quantity == called else f" of “{called}”"
    return _capital(
        f"{where}the {summary.quantity}{of} is estimated at {value} ({facts})."
    )


def title_of(design: AnyDesign) -> str:
    """Return what a design is called in a paper, with its source.

    Example:
        >>> from deniable.designs import crosswise
        >>> title_of(crosswise("1/4"))
        'the crosswise model; Yu, Tian and Tang 2008'
    """
    paper_title = find_operation(design, "paper_title")
    if paper_title is not None:
        return str(paper_title(design))
    name = str(getattr(design, "name", design.asks))
    return NAMED[name].cited if name in NAMED else name.replace("_", " ")


def _devices_of(thing: Any, name: str = "") -> list[tuple[str, AnyDesign]]:
    """Return the designs behind a thing, each once and with its name if it has one, by what the thing was made from."""
    if isinstance(thing, AnyDesign):
        return [(name, thing)]
    fields = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ()
    known = [each for field in fields for each in _named(getattr(thing, field.name))]
    for kind in (AnyDesign, AdditiveTally, Result | Model):
        found = [
            one
            for called, each in known
            if isinstance(each, kind)
            for one in _devices_of(each, called)
        ]
        if found:
            return [
                one for number, one in enumerate(found) if one not in found[:number]
            ]
    return []


def _named(value: Any) -> list[tuple[str, Any]]:
    """Return a value; of several in a tuple each, with its name where it comes in a pair with one."""
    if not isinstance(value, tuple):
        return [("", value)]
    pairs = (
        each if isinstance(each, tuple) and len(each) == 2 else ("", each)
        for each in value
    )
    return [(name if isinstance(name, str) else "", each) for name, each in pairs]


def _asked(
    devices: Sequence[tuple[str, AnyDesign]], summary: Summary[Row] | None = None
) -> list[str]:
    if not devices:
        epsilon = math.inf if summary is None else summary.epsilon
        return ["Answers were collected by randomized response.", _promise(epsilon)]
    if len(devices) > 1:
        return _asked_with(devices)
    ((_, design),) = devices
    told = [
        f"Answers were collected by randomized response ({title_of(design)}).",
        *_chances(_parts(design)),
    ]
    notes = find_operation(design, "methods_notes")
    told += notes(design) if notes is not None else ()
    epsilon = getattr(design, "epsilon", math.inf)
    promised = (
        [_promise(epsilon, getattr(design, "parity", None))]
        if hasattr(design, "epsilon")
        else []
    )
    if (
        promised
        and summary is not None
        and epsilon * 1.000001 < summary.epsilon < math.inf
    ):
        promised = [_promise(summary.epsilon, together=True)]
    return [
        *told,
        *promised,
        *(each.partition(f" {_ADVICE}")[0] for each in caveats(design)),
    ]


def _asked_with(devices: Sequence[tuple[str, AnyDesign]]) -> list[str]:
    """Tell what several groups of people were asked with."""
    told = [
        f"Answers were collected with {len(devices)} devices, each from people of its own."
    ]
    for number, (name, design) in enumerate(devices[:_MOST_DEVICES], 1):
        called = f"{f'“{name}”' if name else f'device {number}'} ({title_of(design)})"
        told += _chances(
            [
                (f"{called}, {part}" if part else called, each)
                for part, each in _parts(design)
            ]
        )
    proving = sum(
        getattr(design, "epsilon", math.inf) == math.inf for _, design in devices
    )
    if proving:
        some = (
            "Each device has"
            if proving == len(devices)
            else f"{proving} of the devices ha{'s' if proving == 1 else 've'}"
        )
        return [
            *told,
            f"{some} a response that proves something about the answer (no finite ε).",
        ]
    worst = max((design for _, design in devices), key=lambda each: each.epsilon)  # type: ignore[attr-defined]
    return [*told, _promise(worst.epsilon, getattr(worst, "parity", None))]  # type: ignore[attr-defined]


def _promise(
    epsilon: float, parity: exact.Ratio | None = None, *, together: bool = False
) -> str:
    """Tell what a response reveals at most; or all of one person together, where everybody sent several."""
    if epsilon == math.inf:
        return "The design has no finite ε: some response proves something about the answer."
    # Of ε = ln 5 the power is 5 but for the last digits of a float, which are no reason to round 5 up.
    factor = formats.factor(
        float(f"{math.exp(epsilon):.12g}") if parity is None else parity, 4
    )
    what = (
        "All responses of one person together do not change"
        if together
        else "No response changes"
    )
    return (
        f"{what} the odds between two answers by a factor of more than {factor} "
        f"(ε-local differential privacy with ε = {formats.epsilon(epsilon)})."
    )


def _chances(parts: Sequence[tuple[str, AnyDesign]]) -> list[str]:
    """Tell the probabilities of a device; parts that do the same are told together."""
    clauses: dict[str, list[str]] = {}
    for name, part in parts:
        for clause, title in _clauses(part, name):
            clauses.setdefault(clause, []).append(title)
    return [
        f"{_capital(clause)}." if titles == [""] else f"For {_names(titles)}, {clause}."
        for clause, titles in clauses.items()
    ]


def _parts(design: AnyDesign) -> list[tuple[str, AnyDesign]]:
    """Return the designs that a design consists of, by name."""
    parts = find_operation(design, "parts")
    return [("", design)] if parts is None else parts(design)


def _clauses(design: AnyDesign, name: str) -> list[tuple[str, str]]:
    """Return clauses that describe the device, each with the name of the part that it is about."""
    describe = find_operation(design, "device_clause")
    if describe is not None and (clause := describe(design)):
        return [(clause, name)]
    return [
        (_clause(view), name or view.title)
        for view in operation(design, "views")(design)
    ]


def _clause(view: ChannelView) -> str:
    if len(view.given) * len(view.responses) > _MOST_CHANCES:
        return (
            f"there are {len(view.responses)} responses to {len(view.given)} answers, with probabilities as the "
            "design's table has them"
        )
    if view.across == "category":
        (hit, stray), _ = view.chances
        return (
            f"the answer {view.responses[0]} with probability {print_probability(hit)}, and any one other "
            "category with "
            f"probability {print_probability(stray)}"
        )
    return "; ".join(_column(view, number) for number in range(len(view.given)))


def _column(view: ChannelView, number: int) -> str:
    sent = [
        (row[number], response)
        for row, response in zip(view.chances, view.responses, strict=True)
        if row[number]
    ]
    parts = [
        f"“{response}” is sent with probability {print_probability(chance)}"
        for chance, response in sent[:1]
    ]
    parts += [
        f"“{response}” with {print_probability(chance)}"
        for chance, response in sent[1:]
    ]
    return f"given the answer “{view.given[number]}”, {_names(parts)}"


def _counted(respondents: int, missing: int) -> list[str]:
    told = f"{respondents:,} responses were counted"
    if not missing:
        return [f"{told}."]
    who = "1 person" if missing == 1 else f"{missing:,} people"
    return [f"{told}; {who} sent nothing and took no part in the estimate."]


def _kept(result: Any, dropped: Mapping[str, int]) -> list[str]:
    told = f"{result.respondents:,} responses were counted"
    left = [f"{count:,} because {why}" for why, count in dropped.items()]
    return [f"{told}; rows left out: {_names(left)}." if left else f"{told}."]


_WHAT = {
    "share": "Shares were",
    "frequency": "Frequencies were",
    "total": "Totals were",
    "difference": "Differences were",
    "difference in share": "Differences in shares were",
    "coefficient": "Coefficients were",
    "change in share": "Average changes in the share were",
}
_WEIGHED = {
    "Hájek": "Hájek's weighted mean",
    "Horvitz–Thompson": "Horvitz and Thompson's weighted mean",
}
_REGRESSIONS = {
    "logit": "a logistic regression",
    "probit": "a probit regression",
    "cloglog": "a regression with the complementary log-log link",
    "multinomial": "a multinomial logistic regression",
    "normal": "a linear regression with normal errors",
}


def _estimated(result: Result, summary: Summary[Row]) -> list[str]:
    what = _WHAT.get(summary.quantity, f"The {summary.quantity} was")
    together = "simultaneous " if summary.simultaneous else ""
    intervals = (
        f"{together}{summary.level_text} intervals ({interval_name(summary.interval)})"
    )
    if isinstance(result, Differences):
        what = f"{what.removesuffix(' were')} {_compared(result)} were"
    groups = _groups(result)
    where = (
        f"in {'each of ' * (not groups.startswith('1 '))}{groups} " if groups else ""
    )
    told = [f"{what} estimated {where}{_how(result, summary)}, with {intervals}."]
    if isinstance(result, Differences) and len(result.compared) > 1:
        told.append(
            f"The p-values were adjusted for {len(result.compared):,} comparisons by Holm's method."
        )
    population = getattr(result._subject(), "population", None)
    if population is not None:
        told.append(
            f"The respondents are a sample without replacement of {population:,} people."
        )
    return told


def _compared(result: Differences) -> str:
    """Tell what was compared between which groups."""
    names = [f"“{name}”" for name in result.of.compared_names]
    what = f"of {_names(names)} " if len(names) <= _MOST_LISTED else ""
    groups = _groups(result.of)
    return (
        f"{what}between each pair of {groups}"
        if result.against == "pairs"
        else f"{what}between each of {groups} and the rest"
    )


def _groups(result: Any) -> str:
    names = [each.name for each in _grouped(result)]
    if not names:
        return ""
    of = (
        f" of {group_name(result.tally.by)}"
        if isinstance(result, GroupedEstimate) and result.tally.by
        else ""
    )
    some = f" ({_names(names)})" if len(names) <= _MOST_LISTED else ""
    return f"{len(names):,} group{'s' * (len(names) > 1)}{of}{some}"


class _Group(NamedTuple):
    name: str
    numbers: Mapping[
        str, str
    ]  # what each number is called in the whole result, and in the group
    people: int


def _grouped(result: Any) -> list[_Group]:
    """Return the groups of a result; empty without groups."""
    if isinstance(result, GroupedEstimate):
        made = [
            (group_name(group), each, result.tally[group].respondents)
            for group, each in result.groups.items()
        ]
        return [
            _Group(name, {f"{name} · {own}": own for own in each.params}, n)
            for name, each, n in made
        ]
    if not isinstance(result, SampledEstimate) or not result.groups:
        return []
    size = len(result.names) // len(result.groups)
    starts = {name: size * number for number, name in enumerate(result.groups)}
    return [
        _Group(
            name,
            {
                each: each.removeprefix(f"{name} · ")
                for each in result.names[start : start + size]
            },
            int(result.people[start]),
        )
        for name, start in starts.items()
    ]


def _how(result: Result, summary: Summary[Row]) -> str:
    formula, sample = getattr(result._subject(), "formula", ""), _sample(result)
    if sample:
        return f"from a sample of {sample} by {_weighed(summary.method)}"
    if formula and summary.quantity == "coefficient":
        model = _REGRESSIONS.get(summary.method)
        by = (
            f"maximum likelihood of {model} of the answers"
            if model
            else "least squares on unbiased values"
        )
        errors = next(
            (note for note in summary.notes if note.startswith("Standard errors")), ""
        ).rstrip(".")
        groups = getattr(result, "groups", 0)
        by += f" with random intercepts of {groups:,} groups" if groups else ""
        return f"in {formula} by {by}, with the device's probabilities in it ({errors.lower()})"
    if formula:
        return f"in {formula} by the delta method, over the people who responded"
    if isinstance(result, Posterior):
        parts = ", ".join(f"{part:g}" for part in result.prior[:_MOST_LISTED])
        dots = ", …" if len(result.prior) > _MOST_LISTED else ""
        return f"by {estimator(summary.method)}, under a Dirichlet({parts}{dots}) prior"
    return f"by {estimator(summary.method)}"


def _sample(result: Any) -> str:
    """Return in words how people came into a sample with weights, strata or clusters; empty if one by one."""
    sample = getattr(result, "sample", "")
    told = getattr(
        sample, "sample", sample
    )  # a model of compliance has shares of a sample, which have the words
    if isinstance(told, str) and told:
        return told
    if isinstance(result, GroupedEstimate):
        return (
            f"{result.respondents:,} people with weights"
            if result.tally.weighted
            else ""
        )
    parts = [getattr(result, field.name) for field in dataclasses.fields(result)]
    return next(
        (
            told
            for told in (
                _sample(each) for each in parts if isinstance(each, Result | Model)
            )
            if told
        ),
        "",
    )


def _weighed(method: str) -> str:
    """Tell how people are weighed, and how the variance of the sample was found."""
    step, _, errors = method.partition(", ")
    if not errors:
        return estimator(step)
    by = f"{_WEIGHED.get(step, 'weighted sums')} of unbiased values of the responses"
    return f"{estimator(step) if step == 'moments' else by} (variance: {errors})"


def _row(summary: Summary[Row], name: str | None, groups: Sequence[_Group]) -> Row:
    rows = summary.rows
    if not rows:
        raise InvalidRequest(
            "nothing was estimated; expected a result with at least one number."
        )
    if name is None and isinstance(rows[0], ShareRow | SampledRow | PosteriorRow):
        two = len(groups[0].numbers if groups else rows) == 2
        return max(rows[1::2] if two else rows, key=lambda row: row.estimate)
    if name is None:
        return rows[0]
    found = next((row for row in rows if row.name == name), None)
    if found is None:
        some = ", ".join(repr(row.name) for row in rows[:5])
        raise InvalidRequest(
            f"{quoted(name)} was not estimated; expected a name such as {some:.200}."
        )
    return found


def _numbers(row: Row, *, percent: bool) -> tuple[str, str, str]:
    """Return value and ends with the digits that the error leaves: one more than the interval's width."""
    width = row.high - row.low
    if percent:
        digits = 1 if width >= 0.01 or not width > 0 else 2 if width >= 0.001 else 3
        return tuple(
            formats.fixed_percent(each, digits).replace("-", "−")
            for each in (row.estimate, row.low, row.high)
        )  # type: ignore[return-value]
    places = (
        min(max(2 - math.floor(math.log10(width)), 0), 12)
        if math.isfinite(width) and width > 0
        else 4
    )
    ends = [f"{each:,.{places}f}" for each in (row.estimate, row.low, row.high)]
    return tuple(each.replace("-", "−").replace("inf", "∞") for each in ends)  # type: ignore[return-value]


def _names(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
