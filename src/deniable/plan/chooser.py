"""The chooser: from a question, a demand on privacy and a goal to a design, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from deniable import exact
from deniable.channel.sets import MAX_BY_SIZE
from deniable.criteria import ByResponse, Criterion, Epsilon, Relaxed
from deniable.designs import (
    Design,
    best_t,
    hadamard,
    k_ary,
    local_hashing,
    rappor,
    subset,
    truncated_rappor,
    unary,
    warner,
)
from deniable.designs import labels as naming
from deniable.designs.labels import Labels
from deniable.errors import InvalidRequest, require_choice
from deniable.estimates.inverses import MOST_WRITTEN
from deniable.estimates.shares import covariance, read_shares
from deniable.exact import Rational
from deniable.order.admissibility import p_unchanged
from deniable.plan.cones import ConeDemand
from deniable.plan.planned import PlanTable, more_people, plan_sheet
from deniable.plan.precision import variance
from deniable.plan.relaxed import Builder, RelaxedDemand
from deniable.plan.staircase import MAX_PATTERNED, staircase
from deniable.rendering import Sheet, formats
from deniable.survey.tools import TOOLS
from deniable.types.categories.plan import Shares

GOALS = ("error", "projected", "category", "unchanged", "wire", "device")
"""What can be wished for; `optimal` tells what each one means."""


@dataclass(frozen=True, slots=True)
class ConsideredDesign:
    """A design that was looked at.

    Attributes:
        name: what it is called here.
        design: the design, at the ε of the demand.
        risk: n times the variance that counts: the sum over all categories, or that of the category of interest.
        unchanged: how often the answer is sent as it is, on average over the categories; 0 where a response is no
            category.
        size: bytes of one response.
    """

    name: str
    design: Design
    risk: float
    unchanged: float
    size: int


@dataclass(frozen=True, slots=True)
class Device:
    """A design with a device that people can hold.

    Attributes:
        name: what is thrown or drawn.
        outcomes: how many equally likely outcomes it has.
        forced: how many of them force each category.
        design: the design it makes.
        instructions: what to tell the respondent.
    """

    name: str
    outcomes: int
    forced: int
    design: Design
    instructions: str


@dataclass(frozen=True, slots=True)
class Choice(PlanTable):
    """What was chosen, and why.

    Attributes:
        design: the design.
        goal: what was wished for.
        demand: the demand on privacy, in words.
        candidates: all that were looked at, the best first.
        reasons: why, in sentences.
        device: how to do it by hand, where that was wished for.
    """

    design: Design
    goal: str
    demand: str
    candidates: tuple[ConsideredDesign, ...]
    reasons: tuple[str, ...]
    device: Device | None = None

    def _sheet(self) -> Sheet:
        rows = [
            (one.name, one.design.epsilon, one.risk, one.unchanged, one.size)
            for one in self.candidates
        ]
        return plan_sheet(
            f"{self.design.name}, for {self.demand}",
            ("design", "ε", "variance × people", "unchanged", "bytes"),
            ("design", "epsilon", "risk", "unchanged", "bytes"),
            rows,
            self.reasons,
        )


def optimal(
    categories: Labels,
    demand: Rational | Criterion,
    *,
    goal: str = "error",
    shares: Shares | None = None,
    category: str | None = None,
    n: int | None = None,
    most_bytes: int = 4_096,
    ceiling: Rational | None = None,
    expose: bool = False,
) -> Choice:
    """Choose the design that serves a goal best among all that meet a demand on privacy, and say why.

    Args:
        categories: what a respondent may be: labels, or how many there are.
        demand: ε, or any criterion, such as `criteria.RhoToRho("1/10", "1/2")`.
        goal: "error" for the smallest total squared error, "projected" for the smallest one of n people's shares after
            they are projected onto the simplex, "category" for the smallest error of one category,
            "unchanged" for the largest chance that the answer itself is sent, "wire" for the shortest responses,
            "device" for one that coins, dice or cards can do by hand.
        shares: where the error is to be small, of the estimate that is best there; by default where it is largest.
            For at most eight categories the best design of all at these shares is among those looked at.
        category: the category of interest; goes with the goal "category".
        n: how many will respond; goes with the goal "projected".
        most_bytes: how long a response may be.
        ceiling: beside `criteria.Relaxed`, the ε that holds without any δ; by default twice the ε of the demand, or
            the ε that suffices for every design if that is more. Beside `criteria.KnownPrior` and `criteria.Policy`
            the ε that holds for all beliefs and pairs; by default 1 or twice what suffices for a prior, none for a
            policy. `math.inf` is none.
        expose: beside `criteria.Relaxed`, allow designs that send the answer of a share δ of the people as it is.

    Raises:
        InvalidRequest: a goal that does not exist, a category or n without its goal, a ceiling or `expose` without a
            demand that they go with, or a demand that nothing meets.

    Example:
        >>> choice = optimal(["red", "green", "blue", "grey"], 0.5)
        >>> choice.design.name, choice.design.epsilon <= 0.5
        ('subset', True)
    """
    require_choice("the goal is", goal, GOALS)
    if (category is not None) != (goal == "category"):
        raise InvalidRequest(
            "a category goes with the goal 'category', and only with it.",
            'For example category="yes".',
        )
    if (n is not None) != (goal == "projected"):
        raise InvalidRequest(
            "a number of respondents goes with the goal 'projected', and only with it.",
            'For example goal="projected", n=5_000.',
        )
    labels = naming.read(categories)
    criterion = demand if isinstance(demand, Criterion) else Epsilon(demand)
    epsilon = criterion.as_epsilon() if isinstance(demand, Criterion) else demand
    _check_demand(criterion)
    relaxed = _read_relaxed(criterion, ceiling, goal, expose=expose)
    if isinstance(criterion, ByResponse) and goal == "error":
        return _by_response(
            labels, ConeDemand(criterion, ceiling), shares, most_bytes
        )
    if goal == "device":
        return _by_hand(labels, criterion)
    if goal == "category":
        assert category is not None
        return _one_category(labels, category, epsilon, criterion, relaxed, shares)
    candidates = _short_candidates(labels, epsilon, relaxed, shares, most_bytes)
    if n is not None:
        return _projected(candidates, n, criterion, shares)
    bound = None
    if goal == "error" and shares is not None and 2 < len(labels) <= MAX_PATTERNED:
        best = staircase(labels, epsilon, read_shares(candidates[0].design, shares))
        bound = best.bound
        candidates.append(_candidate("staircase", best.design, shares, None))
    ordered = tuple(sorted(candidates, key=_RANKS[goal]))
    reasons = _reasons(goal, ordered)
    if goal == "error" and relaxed is not None and shares is None:
        reasons += relaxed.reasons(ordered[0].design, ordered[0].risk)
        reasons += _too_long(len(labels), most_bytes)
    elif goal == "error" and len(ordered) > 1:
        reasons += (
            _worst_case(ordered[0], len(labels), most_bytes)
            if shares is None
            else _at_shares(ordered[0], bound if relaxed is None else None)
        )
    return Choice(ordered[0].design, goal, str(criterion), ordered, reasons)


def _projected(
    candidates: Sequence[ConsideredDesign],
    n: int,
    criterion: Criterion,
    shares: Shares | None,
) -> Choice:
    """Choose by the error of n respondents' projected shares."""
    projected = [
        replace(one, risk=n * variance(one.design, n, shares=shares, projected=True))
        for one in candidates
    ]
    ordered = tuple(sorted(projected, key=_RANKS["error"]))
    where = "even shares" if shares is None else "the given shares"
    errors = ", ".join(f"{one.name} {one.risk / n:.4g}" for one in ordered[:2])
    reason = f"The total squared error of the projected shares of {n:,} respondents, at {where}: {errors}."
    return Choice(ordered[0].design, "projected", str(criterion), ordered, (reason,))


def _read_relaxed(
    criterion: Criterion, ceiling: Rational | None, goal: str, *, expose: bool
) -> RelaxedDemand | None:
    """Return the demand with its ceiling, where it is one on (ε, δ)."""
    if isinstance(criterion, Relaxed) and goal != "device":
        return RelaxedDemand(criterion, ceiling, expose=expose)
    takes_ceiling = isinstance(criterion, ByResponse) and goal == "error"
    if expose or (ceiling is not None and not takes_ceiling):
        raise InvalidRequest(
            f"{'expose' if expose else 'a ceiling'} goes with a demand on (ε, δ), and not with the goal 'device'; "
            "expected one.",
            "For example dn.criteria.Relaxed(1, 0.05).",
        )
    return None


def _by_response(
    labels: Sequence[str],
    cone: ConeDemand,
    shares: Shares | None,
    most_bytes: int,
) -> Choice:
    """Choose under a demand on every response: by a convex program for few categories, else among named designs."""
    demand, size = cone.demand, len(labels)
    at = [1 / size] * size if shares is None else shares
    below = math.nextafter(exact.log_above(cone.cap), 0)
    epsilon = min(demand.as_epsilon(), below)
    candidates = _short_candidates(labels, epsilon, None, at, most_bytes)
    sets = cone.subset(labels)
    if sets is not None and -(-size // 8) <= most_bytes:
        name = f"subset, t = {sets.channel.set_size:,}, for this prior"
        candidates.append(_candidate(name, sets, at, None))
    bound = None
    name, best = (
        "sets within groups",
        cone.in_groups(labels) if shares is None else None,
    )
    if best is None or size == 2:
        name, best = (
            "extreme rays",
            cone.best(labels, read_shares(candidates[0].design, at)),
        )
    if best is not None:
        bound = best.bound / (2 if size == 2 else 1)
        candidates.append(_candidate(name, best.design, at, None))
    ordered = tuple(sorted(candidates, key=_RANKS["error"]))
    where = "even shares" if shares is None else "the given shares"
    reasons = (
        f"{ordered[0].name} has a total squared error of {ordered[0].risk:.4g}/n at {where}.",
        *cone.reasons(ordered[0].design, ordered[0].risk, bound),
    )
    return Choice(ordered[0].design, "error", str(demand), ordered, reasons)


def _short_candidates(
    labels: Sequence[str],
    epsilon: Rational,
    relaxed: RelaxedDemand | None,
    shares: Shares | None,
    most_bytes: int,
) -> list[ConsideredDesign]:
    """Return the designs whose responses are at most so long."""
    builders = {
        name: build
        for name, (build, size) in _builders(labels, epsilon).items()
        # RAPPOR stands for it: to build it at many ε takes minutes
        if size <= most_bytes and (relaxed is None or name != "truncated_rappor")
    }
    if relaxed is None:
        designs = {name: build(epsilon) for name, build in builders.items()}
    else:
        fits = -(-len(labels) // 8) <= most_bytes
        designs = relaxed.designs(labels, builders, with_sets=fits)
    candidates = [
        _candidate(name, design, shares, None) for name, design in designs.items()
    ]
    if not candidates:
        raise InvalidRequest(
            f"no response fits into {most_bytes} bytes; expected at least {_bytes(len(labels))}."
        )
    return candidates


def _check_demand(criterion: Criterion) -> None:
    if not 1 < criterion.parity < math.inf:
        raise InvalidRequest(
            f"{criterion} allows a factor of {criterion.parity}; expected more than 1 and less than infinity.",
            "A factor of 1 forbids to learn anything, an infinite one forbids nothing: ask directly.",
        )


def _builders(
    labels: Sequence[str], epsilon: Rational
) -> dict[str, tuple[Builder, int]]:
    """Return, for each design that fits the number of categories, how to build it at an ε and its bytes a response."""
    size = len(labels)
    if size == 2:
        return {"warner": (partial(warner, categories=labels), 1)}
    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    short, bits = _bytes(size), -(-size // 8)
    # Where two are equally good the one that stands first is chosen.
    builders: dict[str, tuple[Builder, int]] = {
        "k_ary": (partial(k_ary, labels), short)
    }
    if (t := best_t(size, gamma)) > 1:
        builders[f"subset, t = {t:,}"] = (partial(subset, labels, t=t), bits)
    builders |= {
        "hadamard": (partial(hadamard, labels), _bytes(2 * size)),
        "local_hashing": (partial(local_hashing, labels), _bytes(8 * size)),
        "unary": (partial(unary, labels), bits),
        "unary, optimized": (partial(unary, labels, optimized=True), bits),
    }
    if size <= MAX_BY_SIZE:
        builders["rappor"] = (partial(rappor, labels), bits)
        builders["truncated_rappor"] = (partial(truncated_rappor, labels), bits)
    return builders


def _candidate(
    name: str,
    design: Design,
    shares: Shares | None,
    category: str | None,
) -> ConsideredDesign:
    risk = _risk(design, shares, category)
    size = _bytes(design.channel.responses)
    same = float(p_unchanged(design)) if design.categories == design.symbols else 0.0
    return ConsideredDesign(name, design, risk, same, size)


def _risk(
    design: Design,
    shares: Shares | None,
    category: str | None,
) -> float:
    """Return n times the variance, at given shares of the estimate that is best there, where it can be written out."""
    channel = design.channel
    square = channel.answers == channel.responses
    if (
        shares is None
        or square
        or not channel.own_cells
        or channel.answers * channel.responses > MOST_WRITTEN
    ):
        return variance(design, 1, shares=shares, category=category)
    variances = np.diagonal(covariance(design, shares, 1, guess=shares))
    return float(
        variances.sum()
        if category is None and channel.answers > 2
        else variances[design.category_number(category) if category else 0]
    )


def _one_category(
    labels: Sequence[str],
    category: str,
    epsilon: Rational,
    criterion: Criterion,
    relaxed: RelaxedDemand | None,
    shares: Shares | None,
) -> Choice:
    """Ask for this category alone: what any design for all categories tells about it is a garbling of that answer."""
    all_categories = k_ary(labels, epsilon)
    number = all_categories.category_number(category)
    pair = (f"not {category}", category)
    share = (
        None
        if shares is None
        else float(read_shares(all_categories, shares)[number])
    )
    two = None if share is None else [1 - share, share]
    asked_alone = _short_candidates(pair, epsilon, relaxed, two, 1)
    best = min(asked_alone, key=_RANKS["error"])
    alternatives = [
        _candidate(name, build(epsilon), shares, category)
        for name, (build, size) in _builders(labels, epsilon).items()
        if len(labels) > 2 and size <= 4_096
    ]
    ordered = (best, *sorted(alternatives, key=_RANKS["error"]))
    alone = f"Only the share of {category!r} is wanted, so ask just that: {category!r} or {pair[0]!r}."
    reasons: tuple[str, ...] = (
        f"{alone} For two answers Warner's design tells more than every other one of the same ε, whatever the share "
        "is.",
    )
    if relaxed is not None:
        reasons = (
            alone,
            *(relaxed.reasons(best.design, best.risk) if shares is None else ()),
        )
    if alternatives:
        reasons += (
            f"If the other shares are wanted too, {ordered[1].name} comes next: {ordered[1].risk / best.risk:.3g} "
            "times the variance for this category.",
        )
    return Choice(best.design, "category", str(criterion), ordered, reasons)


def _by_hand(labels: Sequence[str], criterion: Criterion) -> Choice:
    device = best_device(labels, criterion.parity)
    design = device.design
    chosen = _candidate(device.name, design, None, None)
    free = k_ary(labels, criterion.as_epsilon())
    by_machine = _candidate(f"{free.name}, by a machine", free, None, None)
    reasons = (
        device.instructions,
        f"Its odds are whole numbers of {device.outcomes} equally likely outcomes, so its ε is "
        f"{formats.epsilon(design.epsilon)}; a machine could use all that is allowed, and by hand it takes "
        f"{more_people(chosen.risk / by_machine.risk)}.",
    )
    return Choice(
        design, "device", str(criterion), (chosen, by_machine), reasons, device
    )


def _reasons(goal: str, ordered: Sequence[ConsideredDesign]) -> tuple[str, ...]:
    best, *runners_up = ordered
    if not runners_up:
        return (
            "For two answers Warner's design tells more than any other of the same ε: each of those "
            "could be made from its responses by adding noise.",
        )
    next_one = runners_up[0]
    if goal == "unchanged":
        return (
            f"{best.name} sends the answer as it is with probability {best.unchanged:.3g}; no design with as many "
            "responses as answers does so more often at this ε, on average over the categories.",
        )
    if goal == "wire":
        return (
            f"A response of {best.name} takes {best.size} bytes, and among the designs that take no more it has the "
            f"smallest error: {best.risk:.4g}/n in all.",
        )
    return (
        f"{best.name} has a total squared error of {best.risk:.4g}/n; {next_one.name} comes next with "
        f"{next_one.risk:.4g}/n, so it would need {more_people(next_one.risk / best.risk)}.",
    )


def _worst_case(
    best: ConsideredDesign, size: int, most_bytes: int
) -> tuple[str, ...]:
    """Say what is proved of the worst case over all shares."""
    if too_long := _too_long(size, most_bytes):
        return too_long
    if best.design.name in ("subset", "k_ary"):
        return (
            "No design of this ε has a linear unbiased estimate with a better worst case: this one is minimax.",
        )
    return ()


def _too_long(size: int, most_bytes: int) -> tuple[str, ...]:
    """Say that sets of categories were left out, where they were."""
    if (bits := -(-size // 8)) <= most_bytes:
        return ()
    return (
        f"Designs that send a bit for each of the {size:,} categories would take {bits:,} bytes a response; "
        f"at most {most_bytes:,} were allowed.",
    )


def _at_shares(best: ConsideredDesign, bound: float | None) -> tuple[str, ...]:
    """Say what is proved of the error at the shares that were given."""
    if bound is None:
        return (
            "That is the error at the given shares, and the smallest among the designs that were looked at.",
        )
    percent = formats.upper_bound(100 * max(best.risk / bound - 1, 1e-6), 2)
    shares_text = (
        "That is the error at the given shares. No design of this ε has one there that is smaller by more than "
        f"{percent}%: a bound over all staircase patterns proves it.",
    )
    if best.name != "staircase":
        return shares_text
    return (
        *shares_text,
        'Estimate with method="likelihood", or with the given shares as the guess: both reach this error.',
    )


def _round_risk(candidate: ConsideredDesign) -> float:
    """Return a risk without its last digits: what only rounding tells apart is equal, and the simpler design wins."""
    return float(f"{candidate.risk:.9g}")


_RANKS: dict[str, Callable[[ConsideredDesign], tuple[float, float]]] = {
    "error": lambda candidate: (_round_risk(candidate), candidate.size),
    "unchanged": lambda candidate: (-candidate.unchanged, _round_risk(candidate)),
    "wire": lambda candidate: (candidate.size, _round_risk(candidate)),
}
"""What candidates are sorted by, for each goal."""


def _bytes(responses: int) -> int:
    """Return the bytes that a number below `responses` takes."""
    return max(1, -(-(responses - 1).bit_length() // 8))


def best_device(categories: Sequence[str], parity: exact.Ratio) -> Device:
    """Return the device whose design reveals the most among those that stay within a parity.

    Each category is forced by the same number of outcomes, and all other outcomes ask for the truth: with N outcomes of
    which f force each of k categories the parity is (N − (k − 1)·f) / f.

    Raises:
        InvalidRequest: no device is fine enough.

    Example:
        >>> best_device(["no", "yes"], Fraction(3)).name
        'two coins'
    """
    size = len(categories)
    fitting: list[tuple[Fraction, int, str, int]] = []
    for name, outcomes in TOOLS.items():
        for forced in range(1, outcomes // size + 1):
            device_parity = Fraction(outcomes - (size - 1) * forced, forced)
            if 1 < device_parity <= parity:
                fitting.append((device_parity, -outcomes, name, forced))
    if not fitting:
        raise InvalidRequest(
            f"no coins, dice or cards hide {size} categories with a factor of at most {float(parity):.3g}.",
            "Ask for fewer categories, allow a larger ε, or let a machine draw.",
        )
    _, negative_outcomes, name, forced = max(fitting)
    outcomes = -negative_outcomes
    p = Fraction(outcomes - (size - 1) * forced, outcomes)
    design = (
        warner(p=p, categories=categories) if size == 2 else k_ary(categories, p=p)
    )
    set_aside = "1 outcome" if forced == 1 else f"{forced} outcomes"
    instructions = (
        f"Take {name} ({outcomes} equally likely outcomes) and let nobody see the outcome. Set {set_aside} aside for "
        f"each of the {size} categories: on one of these send that category, whatever is true. On the other "
        f"{outcomes - size * forced} send the truth."
    )
    return Device(name, outcomes, forced, design, instructions)
