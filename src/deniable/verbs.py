"""The verbs, for every type of question: `respond`, `respond_all`, `tally`, `estimate`.

A verb looks its function up in `deniable.types`, whose modules are loaded when they are first needed, so that whoever
responds loads the standard library alone. Type checkers read the signature of each function from attributes that design
and tally classes have for them alone: the classes below say which.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    NoReturn,
    ParamSpec,
    Protocol,
    TypeVar,
    overload,
)

from deniable.chance import SYSTEM
from deniable.errors import InvalidRequest, require, require_options
from deniable.files.row_names import index_of, name_of
from deniable.types import FOLDERS, is_design, operation

if TYPE_CHECKING:
    from deniable.designs import Design
    from deniable.engines import Engine
    from deniable.estimates import Estimate
    from deniable.estimates.covariances import Matrix
    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.estimates.stages import DeviceEvidence
    from deniable.groups.estimates import GroupedEstimate
    from deniable.groups.tallies import GroupedTally
    from deniable.tallies import Tally
    from deniable.tallies.base import AdditiveTally
    from deniable.tallies.responses import Responses
    from deniable.tallies.weighted import WeightedTally

__all__ = ["estimate", "respond", "respond_all", "tally"]

Options = Mapping[str, Any]
P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class ResponsesTo(Protocol[R_co]):
    """`Responses` to a design."""

    @property
    def design(self) -> R_co:
        """The design that the responses are of."""
        ...

    def present(self) -> object:
        """Tell for each row whether there is a response."""
        ...


class Responding(Protocol[P, R_co]):
    """A design: `types.*.respond.respond`."""

    def respond(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Draw the response to one answer."""
        ...


class RespondingAll(Protocol[P, R_co]):
    """A design: `types.*.draw.respond_all`."""

    def respond_all(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Draw a response to each answer."""
        ...


class Tallying(Protocol[P, R_co]):
    """A design: `types.*.count.tally`."""

    def tally(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Count responses."""
        ...


class TallyingResponses(Protocol[P, R_co]):
    """A design: `types.*.draw.count_sent`, of its `Responses`."""

    def count_sent(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Count `Responses`."""
        ...


class EstimatingSampled(Protocol[P, R_co]):
    """A design: `types.*.sampling.estimate_sampled`, of its `Responses`."""

    def estimate_sampled(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Estimate from `Responses` of a sample."""
        ...


class Estimating(Protocol[P, R_co]):
    """A tally: `types.*.estimate.estimate`."""

    def estimate(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Estimate from a tally."""
        ...


def respond(design: Responding[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Draw the response to one true answer; only the response leaves this function.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived. Responding again reveals as
    much again.

    Args:
        design: what to draw with: for categories, a ladder of stages (all of them are drawn), items with weights, one
            edge, a string, a number, attributes of which some are drawn, or a deck that was dealt.
        answer: the truth: a category; an answer to each attribute by name; `{item: weight}`; a string; or a number. Of
            attributes of which some are drawn also a function, which is asked about those alone.
        card: of a deck: the card that this respondent holds.
        cohort: of strings: the respondent's, if there is one; otherwise it is drawn.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidAnswer: not an answer that the design knows. The message does not repeat it.
        InvalidRequest: no design, or an option that does not go with it.

    Example:
        >>> import deniable as dn
        >>> dn.respond(dn.warner(epsilon=1), "yes").symbol in ("no", "yes")
        True
        >>> first, second = dn.respond(dn.ladder([dn.warner(1), dn.warner(2)]), "yes")
        >>> dn.respond(dn.lpp_club(["tea", "milk"], epsilon=1), {"tea": 0.5}).symbol[2:] in ("tea", "milk")
        True
    """
    # one answer to a design that needs no more: most calls, so without a look at options
    if not kwargs and getattr(design, "required", None) == {}:
        return operation(design, "respond")(design, *args)  # type: ignore[no-any-return, arg-type]
    return _respond(design, *args, **kwargs)  # type: ignore[return-value]  # as its type's own


def _respond(design: object, answer: object, **options: object) -> object:
    source = options.pop("source", SYSTEM)
    if source is not SYSTEM:
        _check_source(source)
        options["source"] = source
    return _call("respond", design, (design, answer), options)


def _check_source(source: object) -> None:
    is_source = hasattr(source, "read")
    require(is_source, source, "the source", "random bytes that can be read")


@overload
def respond_all(
    design: RespondingAll[P, R], *args: P.args, **kwargs: P.kwargs
) -> R: ...
@overload
def respond_all(
    design: RespondingAll[..., R],
    answers: object,
    *,
    engine: Engine | None,
    **options: Any,
) -> R: ...
def respond_all(  # type: ignore[misc]  # it takes all that a type of question takes
    design: object,
    answers: object,
    *,
    engine: Engine | None = None,
    **options: object,
) -> object:
    """Draw a response to each of many true answers: the same draw as `respond`, at the speed of arrays.

    Guarantee: drawn with exactly the integer weights from which the design's ε is derived, from a keystream under a
    fresh key of the operating system. A missing answer gives a missing response.

    Args:
        design: what to draw with, of any type.
        answers: a NumPy array, a list, or a column of pandas, Polars or Arrow. For several attributes also a frame, or
            a mapping, with a column for each. For items with weights a mapping for each person, a sparse matrix of
            people × items, a graph, or a table with a row for each edge, whose people are shuffled unless `people`
            lists them.
        codes: of categories: what whole numbers are; True for codes, False for labels. By default they are codes, and
            refused where categories such as "1", "2", "3" make the two differ.
        cohorts: of strings: that of each respondent; drawn, if they are not given.
        people: of a table or a graph: all people there are, or how many.
        columns: of a table: what the columns of person, item and weight are called.
        weight: of a graph: which attribute of an edge is its weight.
        source: random bytes, for tests; by default a secure keystream.
        threads: how many to draw on.
        fast: True to demand compiled kernels, False to do without; by default they are used where they are worth it.
        engine: where to draw; this machine by default. `threads` and `fast` are settings of an engine that is given.

    Returns:
        `Responses`, which know their design: count them with `tally(responses)`.

    Raises:
        InvalidAnswer: a row that the design does not know; only its index is told.
        InvalidRequest: no design, or an option that does not go with it.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> import deniable as dn
        >>> sent = dn.respond_all(dn.k_ary(["red", "green", "blue"], epsilon=1), ["red", None, "blue"])
        >>> len(sent), dn.tally(sent).respondents, dn.tally(sent).missing
        (3, 2, 1)
    """
    if not is_design(design):
        _refuse_design("respond_all", design)
    if options.get("source") is not None:
        _check_source(options["source"])
    require(
        engine is None or hasattr(engine, "respond_all"),
        engine,
        "the engine",
        "one, such as dn.engines.local.Local()",
    )
    if _is_of_spark(answers):
        raise InvalidRequest(
            "the answers are a frame of Spark, whose responses would be drawn anew whenever it is read; expected a "
            "folder to write them to.",
            "Say where: dn.engines.spark.respond_all(design, frame, column, out=path).",
        )
    if engine is None:
        responses = _call("respond_all", design, (design, answers), options)
    else:
        responses = engine.respond_all(design, answers, **_without_none(options))
    return (
        responses.with_names(index_of(answers), name_of(answers))
        if design.keeps_order
        else responses
    )


@overload
def tally(
    design: ResponsesTo[TallyingResponses[P, R]], *args: P.args, **kwargs: P.kwargs
) -> R: ...
@overload
def tally(  # type: ignore[overload-overlap]  # with by= a mapping of groups comes back
    design: Tallying[P, R], *args: P.args, **kwargs: P.kwargs
) -> R: ...
@overload
def tally(
    design: Design | Responses[Design],
    responses: object = None,
    *,
    weights: object,
    codes: bool | None = None,
) -> WeightedTally: ...
@overload
def tally(
    design: Mapping[Any, Design],
    responses: object,
    *,
    devices: object,
    codes: bool | None = None,
) -> list[Tally]: ...
@overload
def tally(
    design: Tallying[..., object] | Responses[Any],
    responses: object = None,
    *,
    by: object,
    codes: bool | None = None,
    reached: object = None,
    weights: object = None,
) -> GroupedTally: ...
def tally(  # type: ignore[misc]  # it takes all that a type of question takes
    design: object,
    responses: object = None,
    *,
    devices: object = None,
    by: object = None,
    weights: object = None,
    **options: object,
) -> object:
    """Count responses. Tallies of one design add up in any order, also by `sum()`.

    `tally(responses)` counts what `respond_all` returned, which knows its design. `tally(design, responses)` counts
    somebody else's: a NumPy array, any iterable of Python objects, a column of pandas, Polars or Arrow, a frame of
    Spark, or a mapping from each response to how often it was sent. Each is a label, a code (the number of a symbol,
    from 0) or a `Response`; sets of categories may also be rows of packed bits, or of 0 and 1. An iterable is read
    once, in constant memory. What is missing (None, NaN, null, masked) is counted in `missing` and never guessed.
    `tally({"RR": one, "DQ": other}, responses, devices=column)` counts people who were asked with different devices,
    and `tally(design, responses, by=column)` groups of people apart.

    Args:
        design: what the responses were drawn with; or `Responses`, alone; or a design for each device by name.
        responses: what was sent. Of a ladder: a column for each stage, or what `respond` returned for each person.
        codes: of categories: what whole numbers are; True for codes, False for labels (3 is the symbol "3"). By default
            they are codes, and refused where symbols such as "1", "2", "3" make the two differ.
        reached: of a ladder: for each respondent how many stages were released: 0 for none, 2 up to `stage_2`; all of
            them for everybody, if it is not given.
        devices: of designs by name: what each respondent was asked with; a tally for each comes back.
        by: the group of each respondent, row by row; a `GroupedTally` comes back. Of several columns a table, or a
            mapping from names to columns.
        weights: of categories and numbers: how many people each row stands for; a `WeightedTally` comes back, with `by`
            one for each group. Of other types estimate from the rows: `estimate(responses, sampling=…)`.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: responses that were drawn with another design.
        InvalidRequest: neither a design nor `Responses`, or an option that does not go with it.

    Example:
        >>> import deniable as dn
        >>> counted = dn.tally(dn.warner(epsilon=1), ["yes", "no", None, "yes"])
        >>> counted.counts, counted.missing
        (array([1, 2]), 1)
    """
    from deniable.tallies.responses import Responses

    if weights is not None and isinstance(design, Mapping):
        raise InvalidRequest(
            "there are weights= and several devices; expected one of the two.",
            "Count each device's rows on their own: dn.tally(design, responses, weights=weights).",
        )
    if isinstance(design, Responses) and responses is None:
        design, responses = design.design, design
    if by is not None:
        return _count_groups(design, responses, by, weights, devices, options)
    if isinstance(design, Mapping):
        return _count_devices(design, responses, devices, options)
    options["devices"] = devices
    if weights is not None:
        return _count_weighted(design, responses, weights, options)
    return _count_all(design, responses, options)


def _count_all(design: object, responses: object, options: Options) -> Any:
    """Count responses to one design, of everybody alike."""
    from deniable.tallies.responses import Responses

    if not is_design(design):
        _refuse_design("tally", design)
    if isinstance(responses, Responses):
        responses.check(design)
        return _count(responses, options)
    if responses is None:
        raise InvalidRequest(
            "there is a design and no responses; expected both, or Responses alone.",
            "For example dn.tally(design, codes), or dn.tally(dn.respond_all(design, answers)).",
        )
    if _is_of_spark(responses):
        from deniable.engines import spark

        return _check_options(spark.tally, (design, responses), options)
    return _call("tally", design, (design, responses), options)


@overload
def estimate(tally: Estimating[P, R], *args: P.args, **kwargs: P.kwargs) -> R: ...
@overload
def estimate(
    tally: ResponsesTo[EstimatingSampled[P, R]], *args: P.args, **kwargs: P.kwargs
) -> R: ...
@overload
def estimate(
    tally: Responses[Design],
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
) -> Estimate: ...
@overload
def estimate(
    tally: Sequence[Tally],
    *,
    method: str = "information",
    guess: Mapping[str, float] | Sequence[float] | None = None,
    population: int | None = None,
) -> Estimate[DeviceEvidence]: ...
@overload
def estimate(
    tally: Sequence[Responses[Any]],
    *,
    sampling: Sampling,
    domain: object = None,
    by: object = None,
    denominator: object = None,
) -> SampledEstimate: ...
def estimate(  # type: ignore[misc]  # it takes all that a type of question takes
    tally: object,
    candidates: object = None,
    *,
    sampling: Sampling | None = None,
    **options: object,
) -> object:
    """Estimate from a tally what is true of the people: shares, means, degrees, or which strings there are.

    Every result has `params`, `bse`, `cov_params()`, `conf_int()`, `summary()`, `warnings`, `to_frame()`, `to_json()`
    and `plot()`. Estimates are unbiased first, so that a share may fall below 0; bringing it into range is a step of
    its own.

    Args:
        tally: the counts, of any type; or the responses to a design for categories, which are counted first. The
            likelihood of sets of more than 12 categories needs them: their tally keeps sums. Several tallies of people
            who were asked with different devices are taken together; groups are estimated apart and compared.
        candidates: of strings: those that may be there; with `Prefixes` they are discovered, if they are not given.
        method: of shares "inversion" (unbiased), "likelihood" (shares in the simplex) or "customary"; of the stages of
            a ladder and of several devices "information", "likelihood", "linear" (exactly unbiased) or "strata", which
            takes nothing for granted about who is raised, or asked with which.
        population: how many people there are, if they are not a sample of very many; the number of respondents for a
            census, and of items with weights also "census".
        guess: shares at which the inverse, or the weights of "linear", are best; even ones by default.
        inverse: of shares: a left inverse of the channel, in place of the one that would be taken.
        scaling: of items with weights: "fixed" or "conditional"; by default the better one.
        fdr: of strings: the share of false ones among those found that is allowed on average.
        quantiles: of numbers: those that are asked for, such as 0.5 for the median.
        sampling: of responses, a row for each person: how these people were drawn. Of several devices there are
            responses for each, all with the same rows: `dn.Responses.of(designs, column, devices=…)`.
        reached: with a sampling, of a ladder: for each person how many stages were released, as for `tally`.
        domain: with a sampling: True for the rows of a part of the people.
        by: of responses: a group for each row; each is told on its own.
        denominator: with a sampling, of shares and numbers: a number for each row, to which the ratio is told.

    Raises:
        NotEstimable: there are no responses, or the design cannot tell answers apart.
        InvalidRequest: no tally, or an option that does not exist or does not go with it.

    Example:
        >>> import deniable as dn
        >>> found = dn.estimate(dn.tally(dn.warner(p="3/4"), {"yes": 40, "no": 60}))
        >>> {name: round(share, 3) for name, share in found.params.items()}
        {'no': 0.7, 'yes': 0.3}
    """
    from deniable.groups.tallies import GroupedTally
    from deniable.tallies.base import AdditiveTally
    from deniable.tallies.responses import Responses

    options["candidates"] = candidates
    if sampling is not None:
        return _estimate_sampled(tally, sampling, options)
    if isinstance(tally, Responses) and options.get("by") is not None:
        tally = _count_groups(tally.design, tally, options.pop("by"), None, None, {})
    if isinstance(tally, GroupedTally):
        return _estimate_groups(tally, options)
    if isinstance(tally, Responses):
        return _estimate_responses(tally, options)
    fit = _find_estimator(tally)
    if fit is not None:
        return _check_options(fit, (tally,), options)
    subject = tally.design if isinstance(tally, AdditiveTally) else tally
    if subject is tally and not hasattr(tally, "noisy"):
        _refuse_tally(tally)  # samples of RAPPOR have no design of their own
    return _call("estimate", subject, (tally,), options)


def _find_estimator(tally: object) -> Callable[..., object] | None:
    """Return the estimator of a tally with weights, or of several devices; None for others, which their type has."""
    from deniable.tallies.weighted import WeightedTally

    if isinstance(tally, WeightedTally):
        from deniable.estimates.sampling import estimate_tally

        return estimate_tally
    if isinstance(tally, list | tuple) and tally and all(map(_counts_shares, tally)):
        from deniable.estimates.stages import pool

        return pool
    return None


def _estimate_responses(responses: Responses[Any], options: Options) -> object:
    """Count responses and estimate, where the estimate needs more of them than their tally keeps."""
    if "sent" not in _parameters(operation(responses.design, "estimate")):
        _refuse_tally(responses)
    options = {**options, "sent": responses}
    return _call("estimate", responses.design, (_count(responses, {}),), options)


def _call(
    verb: str, design: object, arguments: tuple[object, ...], options: Options
) -> Any:
    """Call the function that a verb is for this design, with the options that were given."""
    if not is_design(design):
        _refuse_design(verb, design)
    return _check_options(operation(design, verb), arguments, options)


@cache
def _parameters(function: Callable[..., object]) -> dict[str, bool]:
    """What a function takes, and whether it must be given."""
    return {
        name: parameter.default is parameter.empty
        for name, parameter in inspect.signature(function).parameters.items()
    }


def _check_options(
    function: Callable[..., R], arguments: tuple[object, ...], options: Options
) -> R:
    return function(*arguments, **_given_options(function, arguments, options))


def _given_options(
    function: Callable[..., object], arguments: tuple[Any, ...], options: Options
) -> dict[str, Any]:
    """Return the given options, if they are all that a function takes and needs."""
    used = _without_none(options)
    parameters = _parameters(function)
    further = list(parameters)[len(arguments) :]
    for name in used:
        if name not in parameters:
            fitting = [option for option in further if option != "sent"]
            raise InvalidRequest(
                f"{name} does not go with a design that asks for {_question_type(arguments[0])}; expected "
                f"{' or '.join(fitting) or 'no options'}."
            )
    require_options(truths={name: used.get(name) for name in ("codes", "fast")})
    for name in further:
        if parameters[name] and name not in used:
            raise InvalidRequest(*arguments[0].required[name])
    return used


def _without_none(options: Options) -> dict[str, Any]:
    """Return the options that have a value."""
    return {name: value for name, value in options.items() if value is not None}


def _question_type(subject: Any) -> str:
    if isinstance(subject, list | tuple):
        return "categories with several devices"
    return str(getattr(subject, "asks", None) or subject.design.asks)


def _counts_shares(tally: object) -> bool:
    from deniable.tallies import Tally

    return isinstance(tally, Tally)


def _count(responses: Responses[Any], options: Options) -> Any:
    return _call("count_sent", responses.design, (responses,), options)


def _count_weighted(
    design: Any, responses: object, weights: object, options: Options
) -> WeightedTally:
    from deniable.designs import Design
    from deniable.tallies.responses import Responses
    from deniable.tallies.weighted import tally_weighted

    if is_design(design) and not isinstance(design, Design):
        raise InvalidRequest(
            f"weights do not go with a design that asks for {design.asks}; expected categories or numbers.",
            "Estimate from the rows: dn.estimate(responses, sampling=dn.Sampling(weights)).",
        )
    if isinstance(responses, Responses):
        responses.check(design)
        return tally_weighted(responses, weights)
    return tally_weighted(
        _check_options(_read_rows, (design, responses), options), weights
    )


def _read_rows(
    design: Design, responses: object, *, codes: bool | None = None
) -> Responses[Design]:
    from deniable.tallies.responses import Responses

    return Responses.of(design, responses, codes=codes)


def _estimate_sampled(rows: object, sampling: Sampling, options: Options) -> object:
    from deniable.tallies.responses import Responses

    if isinstance(rows, Responses):
        return _call("estimate_sampled", rows.design, (rows, sampling), options)
    devices = rows if isinstance(rows, list | tuple) else ()
    if devices and all(isinstance(device, Responses) for device in devices):
        from deniable.estimates.sampling import estimate_devices

        return _check_options(estimate_devices, (devices, sampling), options)
    raise InvalidRequest(
        f"a sampling describes rows, and these are a {type(rows).__name__}; expected responses to a "
        f"design for {' or '.join(FOLDERS)}, a row for each person.",
        "Hand over what respond_all() returned, or dn.Responses.of(design, column); of several devices "
        "dn.Responses.of(designs, column, devices=…).",
    )


def _count_devices(
    designs: Mapping[Any, Design], responses: Any, devices: Any, options: Options
) -> list[Tally]:
    from deniable.tallies.devices import count_devices

    further = _without_none(options)
    codes = further.pop("codes", None)
    if responses is None or devices is None or further:
        raise InvalidRequest(
            "the designs come in a mapping; expected a design for each device, the responses, and devices= row by row."
        )
    require_options(truths={"codes": codes})
    return count_devices(designs, responses, devices, codes=codes)


def _count_groups(
    design: object,
    responses: object,
    by: object,
    weights: object,
    devices: object,
    options: Options,
) -> GroupedTally:
    from deniable.groups.tallies import tally_by

    if devices is not None or isinstance(design, Mapping):
        raise InvalidRequest(
            "there are several devices and groups; expected one of the two.",
            "Count each device's groups on their own: dn.tally(design, responses, by=groups).",
        )
    if not is_design(design) or responses is None or _is_of_spark(responses):
        raise InvalidRequest(
            "groups are counted of a design's responses, row by row; expected both, or Responses alone.",
            "Where rows lie elsewhere, count them there: dn.engines.spark.tally(design, frame, by=column).",
        )

    def count(rows: object, stages: object) -> AdditiveTally[Any]:
        group_options = {**options, "reached": stages}
        tally: AdditiveTally[Any] = _count_all(design, rows, group_options)
        return tally

    def weigh(rows: object, row_weights: object) -> AdditiveTally[Any]:
        return _count_weighted(design, rows, row_weights, options)

    if weights is not None:
        return tally_by(weigh, design, responses, by, weights)
    return tally_by(count, design, responses, by, options.get("reached"))


def _estimate_groups(tally: GroupedTally, options: Options) -> GroupedEstimate:
    from deniable.estimates.sampling import estimate_tally
    from deniable.groups.estimates import estimate_groups

    fit = estimate_tally if tally.weighted else operation(tally.design, "estimate")
    return estimate_groups(tally, **_given_options(fit, (tally,), options))


def _refuse_design(verb: str, subject: object) -> NoReturn:
    hints = {
        "respond": "For example dn.respond(dn.warner(epsilon=1), 'yes').",
        "respond_all": "For example dn.respond_all(dn.warner(epsilon=1), ['yes', 'no']).",
        "tally": "For example dn.tally(dn.respond_all(design, answers)), or dn.tally(design, codes).",
        "estimate": "For example dn.estimate(dn.tally(responses)).",
    }
    expected = (
        "a design, or what respond_all() returned"
        if verb == "tally"
        else "a design, such as k_ary() builds"
    )
    raise InvalidRequest(
        f"{verb} was given a {type(subject).__name__} first; expected {expected}.",
        hints[verb],
    )


def _is_of_spark(frame: object) -> bool:
    return type(frame).__module__.partition(".")[0] == "pyspark"


def _refuse_tally(subject: object) -> NoReturn:
    from deniable.groups.separate import SeparateTallies

    hint = "Count what was sent: dn.estimate(dn.tally(design, responses))."
    if hasattr(subject, "columns") and hasattr(subject, "design"):
        hint = "Count them first: dn.estimate(dn.tally(responses))."
    if isinstance(subject, SeparateTallies):
        hint = "Estimate column by column: {column: dn.estimate(tallies[column]) for column in tallies.columns}."
    raise InvalidRequest(
        f"estimate was given a {type(subject).__name__}; expected a tally, as tally() returns.",
        hint,
    )
