"""For a paper: how it was asked and estimated in a paragraph, and what came out in a sentence.

Every number is the object's own. ε and factors are rounded up; other numbers to the digits that they have.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from deniable import __version__, exact
from deniable.certificates.certificate import caveats
from deniable.designs import AnyDesign
from deniable.display.named_designs import NAMED, print_probability
from deniable.display.views import ChannelView
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.results import PERCENTAGES, Result, Row, Summary
from deniable.rendering import formats
from deniable.rendering.statements import Statement, state
from deniable.report.result_texts import estimator, interval_name
from deniable.tallies.base import AdditiveTally
from deniable.tallies.group_labels import group_name
from deniable.types import find_operation, operation
from deniable.types.strings.count import NoisyTally

Device: TypeAlias = tuple[str, AnyDesign]
"""A design, with its name; empty where it has none."""

_MAX_PROBABILITIES = 16  # in a sentence; more are a table
_MAX_LISTED = 6  # parameters of a prior, or groups, that are named one by one
_MAX_DEVICES = 4  # whose probabilities are told; more are a table
_NOISE = 1e-9  # by which an end of an interval may be off
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
    devices, sentences = _describe(thing, level, method, simultaneous)
    hashes = " and ".join(f"{design.hash:.19}…" for _, design in devices)
    plural = "s" * (len(devices) > 1)
    named = f" (design{plural} {hashes})" if 0 < len(devices) <= _MAX_DEVICES else ""
    return " ".join([*sentences, f"Computed with deniable {__version__}{named}."])


def _describe(
    thing: object, level: float, method: str | None, simultaneous: bool
) -> tuple[Any, list[str]]:
    devices = _devices_of(thing)
    if isinstance(thing, Result):
        summary = thing.summary(
            level=level, method=method, simultaneous=simultaneous
        )
        collected = getattr(getattr(thing, "model", None), "collected", ())
        sentences = [
            *(collected or _describe_devices(devices, summary)),
            _count_responses(summary, getattr(thing, "dropped", None)),
            *_describe_estimates(thing, summary),
        ]
    elif isinstance(thing, AdditiveTally | NoisyTally):
        sentences = [*_describe_devices(devices), _count_responses(thing)]
    elif _is_design(thing):
        sentences = _describe_devices(devices)
    else:
        raise InvalidRequest(
            f"there is nothing to tell of a {type(thing).__name__}; expected a design, a tally or a result."
        )
    return devices, sentences


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
    return _tell_number(result, summary, name, label)


def _tell_number(
    result: Result | Summary[Row],
    summary: Summary[Row],
    name: str | None,
    label: str,
) -> str:
    groups = _groups_of(result)
    row = _find_row(summary, name, groups)
    whole = _Group("", {row.name: row.name}, summary.respondents)
    group = next((group for group in groups if row.name in group.numbers), whole)
    number = group.numbers[row.name]
    where = f"in {group.name} " if group.name else ""
    text = _state_number(summary, row, label, number, group.people)
    return _capitalize(where + text)


def _state_number(
    summary: Summary[Row], row: Row, label: str, number: str, people: int
) -> str:
    """Return a sentence about a number, without what group it is of."""
    stated = state(row.estimate, row.low, row.high, summary.possible(row.name))
    texts = _format_numbers(stated, percent=summary.quantity in PERCENTAGES)
    value, low, high, least, most = texts
    facts = f"{people:,} responses{_epsilon_clause(summary.epsilon)}"
    subject, claim, bound = _phrases(summary.quantity, label, number)
    if stated.is_undecided:
        unknown = subject if summary.quantity == "share" else f"what {subject} is"
        every = stated.every(least, most)
        return f"the data cannot decide {unknown}: {every} would fit them ({facts})."
    remark = stated.remark(least, most)
    if not stated.fits:
        return f"{subject} could not be estimated ({facts}). {remark}"
    interval = f"{summary.level_text} {_credible(summary)}interval"
    ends = stated.ends(low, high)
    if not math.isfinite(stated.value):
        return f"{bound.format(ends)} ({interval}; {facts}). {remark}".rstrip()
    is_finite = math.isfinite(stated.high - stated.low)
    ends = f" {low} to {high}" if is_finite else f": {ends}"
    text = f"{claim.format(value)} ({interval}{ends}; {facts})."
    pairs = ((row.low, stated.low, low), (row.high, stated.high, high))
    cuts = [end for raw, cut, end in pairs if abs(raw - cut) > _NOISE]
    if cuts and not remark:
        remark = f"The interval is cut off at {' and '.join(cuts)}."
    return f"{text} {remark}".rstrip()


def _phrases(quantity: str, label: str, number: str) -> tuple[str, str, str]:
    """Return what a number is, a claim with a place for its value, and one with a place for its bounds."""
    if quantity == "share":
        verb = label or f"answer “{number}”"
        claim = f"{{}} {_literal(verb)}"
        return f"how many {verb}", f"an estimated {claim}", claim
    called = label or number
    subject = f"the {quantity}" + ("" if quantity == called else f" of “{called}”")
    claim = f"{_literal(subject)} is"
    return subject, f"{claim} estimated at {{}}", f"{claim} {{}}"


def _literal(text: str) -> str:
    """Return a text for a format string, in which it stands as it is."""
    return text.replace("{", "{{").replace("}", "}}")


def _credible(summary: Summary[Row]) -> str:
    return "credible " if summary.interval.startswith("credible") else ""


def _epsilon_clause(epsilon: float) -> str:
    return "" if epsilon == math.inf else f", ε = {formats.epsilon(epsilon)}"


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


def _is_design(target: object) -> TypeGuard[AnyDesign]:
    return hasattr(target, "asks") and not hasattr(target, "respondents")


def _devices_of(target: object, name: str = "") -> list[Device]:
    """Return the designs that something was made from, each once: its own, those of its tallies, or of its parts."""
    if _is_design(target):
        return [(name, target)]
    parts = [part for value in _fields(target) for part in _named_parts(value)]
    ranks = (_is_design, lambda part: isinstance(part, AdditiveTally), _is_made)
    for is_wanted in ranks:
        devices = [
            device
            for called, part in parts
            if is_wanted(part)
            for device in _devices_of(part, called)
        ]
        if devices:
            return [
                device
                for index, device in enumerate(devices)
                if device not in devices[:index]
            ]
    return []


def _is_made(target: object) -> bool:
    """Return whether something is made of fields, as results, models, tallies and what is behind them are."""
    return dataclasses.is_dataclass(target)


def _fields(target: Any) -> list[Any]:
    """Return the values that something is made of."""
    fields = dataclasses.fields(target) if _is_made(target) else ()
    return [getattr(target, field.name) for field in fields]


def _named_parts(value: object) -> list[tuple[str, object]]:
    """Return a value; of several in a tuple each, with its name where it comes in a pair with one."""
    if not isinstance(value, tuple):
        return [("", value)]
    pairs = (
        part if isinstance(part, tuple) and len(part) == 2 else ("", part)
        for part in value
    )
    return [(name if isinstance(name, str) else "", part) for name, part in pairs]


def _describe_devices(
    devices: Sequence[Device], summary: Summary[Row] | None = None
) -> list[str]:
    """Return sentences about how answers were collected."""
    if not devices:
        epsilon = math.inf if summary is None else summary.epsilon
        return ["Answers were collected by randomized response.", _promise(epsilon)]
    if len(devices) > 1:
        return _describe_several(devices)
    ((_, design),) = devices
    notes = find_operation(design, "methods_notes")
    sentences = [
        f"Answers were collected by randomized response ({title_of(design)}).",
        *_list_probabilities(_parts_of(design)),
        *(notes(design) if notes is not None else ()),
    ]
    epsilon = getattr(design, "epsilon", math.nan)
    if not math.isnan(epsilon):
        total = math.inf if summary is None else summary.epsilon
        if epsilon * 1.000001 < total < math.inf:
            sentences.append(_promise(total, together=True))
        else:
            sentences.append(_promise(epsilon, getattr(design, "parity", None)))
    cautions = (caveat.partition(f" {_ADVICE}")[0] for caveat in caveats(design))
    return [*sentences, *cautions]


def _describe_several(devices: Sequence[Device]) -> list[str]:
    """Return sentences about what several groups of people were asked with."""
    n = len(devices)
    sentences = [
        f"Answers were collected with {n} devices, each from people of its own."
    ]
    for number, (name, design) in enumerate(devices[:_MAX_DEVICES], 1):
        title = f"{f'“{name}”' if name else f'device {number}'} ({title_of(design)})"
        parts = [
            (f"{title}, {part}" if part else title, part_design)
            for part, part_design in _parts_of(design)
        ]
        sentences += _list_probabilities(parts)
    losses = [getattr(design, "epsilon", math.inf) for _, design in devices]
    n_proving = losses.count(math.inf)
    if n_proving:
        some = f"{n_proving} of the devices ha{'s' if n_proving == 1 else 've'}"
        subject = "Each device has" if n_proving == n else some
        return [
            *sentences,
            f"{subject} a response that proves something about the answer (no finite ε).",
        ]
    worst = devices[losses.index(max(losses))][1]
    return [*sentences, _promise(max(losses), getattr(worst, "parity", None))]


def _promise(
    epsilon: float, parity: exact.Ratio | None = None, *, together: bool = False
) -> str:
    """Tell what a response reveals at most; or all of one person together, where everybody sent several."""
    if epsilon == math.inf:
        return "The design has no finite ε: some response proves something about the answer."
    # Of ε = ln 5 the power is 5 but for the last digits of a float, which are no reason to round 5 up.
    odds = float(f"{math.exp(epsilon):.12g}") if parity is None else parity
    subject = "No response changes"
    if together:
        subject = "All responses of one person together do not change"
    return (
        f"{subject} the odds between two answers by a factor of more than {formats.factor(odds, 4)} "
        f"(ε-local differential privacy with ε = {formats.epsilon(epsilon)})."
    )


def _list_probabilities(parts: Sequence[Device]) -> list[str]:
    """Tell the probabilities of a device; parts that do the same are told together."""
    titles_by_clause: dict[str, list[str]] = {}
    for name, design in parts:
        for clause, title in _clauses(design, name):
            titles_by_clause.setdefault(clause, []).append(title)
    return [
        f"{_capitalize(clause)}."
        if titles == [""]
        else f"For {formats.listing(titles)}, {clause}."
        for clause, titles in titles_by_clause.items()
    ]


def _parts_of(design: AnyDesign) -> list[Device]:
    """Return the designs that a design consists of, by name."""
    parts = find_operation(design, "parts")
    return [("", design)] if parts is None else parts(design)


def _clauses(design: AnyDesign, name: str) -> list[tuple[str, str]]:
    """Return clauses that describe the device, each with the name of the part that it is about."""
    describe = find_operation(design, "device_clause")
    clause = None if describe is None else describe(design)
    if clause:
        return [(clause, name)]
    views = operation(design, "views")(design)
    return [(_view_clause(view), name or view.title) for view in views]


def _view_clause(view: ChannelView) -> str:
    if len(view.given) * len(view.responses) > _MAX_PROBABILITIES:
        return (
            f"there are {len(view.responses)} responses to {len(view.given)} answers, with probabilities as the "
            "design's table has them"
        )
    if view.across == "category":
        p_true, p_false = map(print_probability, view.chances[0])
        return (
            f"the answer {view.responses[0]} with probability {p_true}, and any one other category with "
            f"probability {p_false}"
        )
    columns = zip(view.given, zip(*view.chances, strict=True), strict=True)
    return "; ".join(
        _column_clause(answer, column, view.responses) for answer, column in columns
    )


def _column_clause(
    category: str, probabilities: Sequence[Fraction], responses: Sequence[str]
) -> str:
    first, *further = [
        (f"“{response}”", print_probability(p))
        for response, p in zip(responses, probabilities, strict=True)
        if p
    ]
    clauses = [f"{first[0]} is sent with probability {first[1]}"]
    clauses += [f"{response} with {p}" for response, p in further]
    return f"given the answer “{category}”, {formats.listing(clauses)}"


def _count_responses(counted: Any, dropped: Mapping[str, int] | None = None) -> str:
    """Tell how many responses were counted, and who took no part; of a regression, rows by why they were left out."""
    text = f"{counted.respondents:,} responses were counted"
    missing = getattr(counted, "missing", 0)
    if dropped:
        reasons = [
            f"{count:,} because {reason}" for reason, count in dropped.items()
        ]
        return f"{text}; rows left out: {formats.listing(reasons)}."
    if dropped is None and missing:
        people = "1 person" if missing == 1 else f"{missing:,} people"
        return f"{text}; {people} sent nothing and took no part in the estimate."
    return f"{text}."


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


def _describe_estimates(result: Result, summary: Summary[Row]) -> list[str]:
    """Return sentences about how numbers were estimated."""
    subject = _WHAT.get(summary.quantity, f"The {summary.quantity} was")
    n_compared = len(result.params) if hasattr(result, "against") else 0
    if n_compared:
        subject = f"{subject.removesuffix(' were')} {_compare_groups(result)} were"
    groups = _list_groups(result)
    each = "" if groups.startswith("1 ") else "each of "
    where = f"in {each}{groups} " if groups else ""
    together = "simultaneous " if summary.simultaneous else ""
    intervals = f"{together}{summary.level_text} intervals ({interval_name(summary.interval)})"
    how = _describe_estimator(result, summary)
    sentences = [f"{subject} estimated {where}{how}, with {intervals}."]
    if n_compared > 1:
        sentences.append(
            f"The p-values were adjusted for {n_compared:,} comparisons by Holm's method."
        )
    population = getattr(result._subject(), "population", None)
    if population is not None:
        sentences.append(
            f"The respondents are a sample without replacement of {population:,} people."
        )
    return sentences


def _compare_groups(differences: Any) -> str:
    """Tell what was compared between which groups."""
    names = [f"“{name}”" for name in differences.of.compared_names]
    numbers = f"of {formats.listing(names)} " if len(names) <= _MAX_LISTED else ""
    groups = _list_groups(differences.of)
    if differences.against == "pairs":
        return f"{numbers}between each pair of {groups}"
    return f"{numbers}between each of {groups} and the rest"


def _list_groups(result: object) -> str:
    names = [group.name for group in _groups_of(result)]
    if not names:
        return ""
    by = getattr(getattr(result, "tally", None), "by", None)
    of = f" of {group_name(by)}" if by else ""
    listed = f" ({formats.listing(names)})" if len(names) <= _MAX_LISTED else ""
    return f"{len(names):,} group{'s' * (len(names) > 1)}{of}{listed}"


class _Group(NamedTuple):
    """A group of people: its name, the name of each number in the result and in the group, and its size."""

    name: str
    numbers: Mapping[str, str]
    people: int


def _groups_of(result: Any) -> list[_Group]:
    """Return the groups of a result; empty without groups."""
    sizes = getattr(result, "group_sizes", {})
    return [
        _Group(
            name,
            {f"{name} · {number}": number for number in result.names_in_group},
            people,
        )
        for name, people in sizes.items()
    ]


def _describe_estimator(result: Result, summary: Summary[Row]) -> str:
    formula, sample = getattr(result._subject(), "formula", ""), _sample_of(result)
    if sample:
        return f"from a sample of {sample} by {_describe_weighting(summary.method)}"
    if formula and summary.quantity == "coefficient":
        return f"in {formula} by {_describe_regression(result, summary)}"
    if formula:
        return f"in {formula} by the delta method, over the people who responded"
    prior = getattr(result, "prior", None)
    if prior is None:
        return f"by {estimator(summary.method)}"
    parameters = ", ".join(f"{parameter:g}" for parameter in prior[:_MAX_LISTED])
    dots = ", …" if len(prior) > _MAX_LISTED else ""
    return f"by {estimator(summary.method)}, under a Dirichlet({parameters}{dots}) prior"


def _describe_regression(result: Result, summary: Summary[Row]) -> str:
    model = _REGRESSIONS.get(summary.method)
    how = "least squares on unbiased values"
    if model:
        how = f"maximum likelihood of {model} of the answers"
    n_groups = getattr(result, "groups", 0)
    how += f" with random intercepts of {n_groups:,} groups" if n_groups else ""
    errors = [note for note in summary.notes if note.startswith("Standard errors")]
    kind = errors[0].rstrip(".").lower() if errors else ""
    return f"{how}, with the device's probabilities in it ({kind})"


def _sample_of(target: Any) -> str:
    """Return in words how people came into a sample with weights, strata or clusters; empty if one by one."""
    sample = getattr(target, "sample", "")
    # A model of compliance has shares of a sample, which have the words.
    words = getattr(sample, "sample", sample)
    if isinstance(words, str) and words:
        return words
    if any(getattr(part, "weighted", None) is True for part in _fields(target)):
        return f"{target.respondents:,} people with weights"
    samples = (_sample_of(part) for part in _fields(target) if _has_sample(part))
    return next(filter(None, samples), "")


def _has_sample(part: object) -> bool:
    return _is_made(part) and not _is_design(part)


def _describe_weighting(method: str) -> str:
    """Tell how people are weighed, and how the variance of the sample was found."""
    step, _, errors = method.partition(", ")
    if not errors:
        return estimator(step)
    how = (
        f"{_WEIGHED.get(step, 'weighted sums')} of unbiased values of the responses"
    )
    if step == "moments":
        how = estimator(step)
    return f"{how} (variance: {errors})"


def _find_row(
    summary: Summary[Row], name: str | None, groups: Sequence[_Group]
) -> Row:
    rows = summary.rows
    if not rows:
        raise InvalidRequest(
            "nothing was estimated; expected a result with at least one number."
        )
    if name is None and rows[0].OF_CATEGORIES:
        n_categories = len(groups[0].numbers if groups else rows)
        candidates = rows[1::2] if n_categories == 2 else rows
        return max(candidates, key=lambda row: row.estimate)
    if name is None:
        return rows[0]
    for row in rows:
        if row.name == name:
            return row
    some = ", ".join(repr(row.name) for row in rows[:5])
    raise InvalidRequest(
        f"{quoted(name)} was not estimated; expected a name such as {some:.200}."
    )


def _format_numbers(stated: Statement, *, percent: bool) -> list[str]:
    """Return value, ends and what is possible with the digits that the error leaves: one more than the width."""
    width = stated.high - stated.low
    numbers = (stated.value, stated.low, stated.high, *stated.possible)
    is_wide = math.isfinite(width) and width > 0
    if percent:
        decimals = formats.percent_decimals(width) if width > 0 else 1
        texts = [formats.fixed_percent(number, decimals) for number in numbers]
    else:
        decimals = formats.decimals_of_error(width, 3) if is_wide else 4
        texts = [f"{number:,.{decimals}f}" for number in numbers]
    return [text.replace("-", "−").replace("inf", "∞") for text in texts]


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
