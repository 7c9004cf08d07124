"""Two-answer designs under (ε, δ): even, capped, exposing; and the choice among them for a goal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from deniable import exact
from deniable.chance import TOTAL
from deniable.channel import Channel, Dense, Diagonal
from deniable.criteria import Relaxed
from deniable.designs.design import Design
from deniable.designs.labels import NO_YES, Labels, read_two
from deniable.designs.registry import Purpose, register
from deniable.designs.two_answers import binary
from deniable.errors import InvalidDesign, InvalidRequest, quoted, require_choice
from deniable.exact import Rational
from deniable.rendering import formats

_HINT = "(ε, δ) designs are for two answers."


@register(
    {"epsilon": 1, "delta": "1/10"},
    {"epsilon": "1/2", "delta": "1/100"},
    {"epsilon": 0, "delta": "1/4"},
    purpose=Purpose.EXPLICIT,
)
def relaxed_warner(
    epsilon: Rational, delta: Rational = 0, *, categories: Labels = NO_YES
) -> Design:
    """Send the answer with the largest probability that (ε, δ) allows when both answers are treated alike.

    Implements: Warner's design under (ε, δ), [HLM17] Theorem 4: p = (e^ε + δ)/(e^ε + 1).

    Guarantee: integer weights that sum to 2^64, with δ(ε) ≤ δ exactly. The design's own ε is ln((e^ε + δ)/(1 − δ)).

    Why: p ≤ e^ε(1 − p) + δ is the condition, and the variance falls as p rises.

    Args:
        epsilon: the ε of (ε, δ).
        delta: the δ of (ε, δ).
        categories: what the two answers are called, in this order.

    Raises:
        InvalidDesign: δ = 1, at which the answer itself may be sent, or ε = δ = 0, at which nothing may be told.
        InvalidNumber: a negative ε, or δ outside [0, 1].

    Example:
        >>> design = relaxed_warner("0.5", "0.1")
        >>> round(float(design.probability("yes", given="yes")), 6), design.delta("0.5")
        (0.660213, 0.1)
    """
    category_labels = read_two(categories, _HINT)
    slack = read_delta(delta)
    return Design(
        "relaxed_warner",
        category_labels,
        category_labels,
        even_channel(read_ratio(epsilon), slack),
    ).within(epsilon, slack)


@register(
    {"epsilon": 1, "delta": "1/10", "ceiling": 3},
    {"epsilon": "1/2", "delta": "1/100", "ceiling": 2, "telling": "no"},
    purpose=Purpose.EXPLICIT,
)
def capped_binary(
    epsilon: Rational,
    delta: Rational,
    ceiling: Rational,
    *,
    telling: str | None = None,
    categories: Labels = NO_YES,
) -> Design:
    """Let one response tell much but seldom: (ε, δ) holds, and no response has more than the ceiling's own ε.

    With Y = e^ceiling the response `telling` is sent with probability Yδ/(Y − e^ε) from its own answer, and δ/(Y − e^ε)
    from the other one. It serves an answer that is rare.

    Implements: the point of the boundary p11 = e^ε(1 − p00) + δ of [HLM17], eq. 11a, at which p11 = Y(1 − p00). As the
    ceiling rises it moves from the even design to the one that exposes people.

    Guarantee: integer weights that sum to 2^64, with δ(ε) ≤ δ and a parity of at most e^ceiling, exactly.

    Args:
        epsilon: the ε of (ε, δ).
        delta: the δ of (ε, δ), above 0.
        ceiling: the ε that holds without any δ; above that of the even design.
        telling: the category whose response tells much; by default the second.
        categories: the two answers.

    Raises:
        InvalidDesign: δ is 0, or the ceiling is not above ln((e^ε + δ)/(1 − δ)), where the even design is better.
        InvalidNumber: a negative ε, or δ outside [0, 1].
        InvalidRequest: `telling` is not one of the two categories.

    Example:
        >>> design = capped_binary(1, "1/10", 3)
        >>> design.epsilon, design.delta(1)
        (3.0, 0.1)
    """
    category_labels = read_two(categories, _HINT)
    channel = corner_channel(
        read_ratio(epsilon),
        read_delta(delta),
        exact.gamma_below(ceiling),
    )
    design = Design(
        "capped_binary",
        category_labels,
        category_labels,
        orient_channel(channel, _number(category_labels, telling)),
    )
    return design.within(epsilon, read_delta(delta)).within(ceiling)


@register(
    {"delta": "1/10"}, {"delta": "1/3", "telling": "no"}, purpose=Purpose.EXPLICIT
)
def exposing_binary(
    delta: Rational, *, telling: str | None = None, categories: Labels = NO_YES
) -> Design:
    """Expose a share δ of those with one answer outright, and say nothing about anybody else.

    The response `telling` is sent with probability δ from its own answer and never from the other: whoever sends it has
    given the answer away.

    Implements: the optimum (1, δ) of [HLM17], Theorem 3, for shares below g(ε, δ).

    Guarantee: nothing about ε, which is infinite; δ(ε) = δ exactly, at every ε. Everybody who sends the other response
    keeps deniability.

    Args:
        delta: the probability with which an answer is given away.
        telling: the category that is given away; by default the second.
        categories: the two answers.

    Raises:
        InvalidDesign: δ is 0 or 1.
        InvalidNumber: δ outside [0, 1].
        InvalidRequest: `telling` is not one of the two categories.

    Example:
        >>> design = exposing_binary("1/10")
        >>> design.epsilon, design.delta(5)
        (inf, 0.1)
    """
    category_labels = read_two(categories, _HINT)
    share = read_delta(delta)
    if not 0 < share < 1:
        raise InvalidDesign(
            f"δ is {exact.text(delta)}; expected between 0 and 1.",
            "At 0 nothing is told, at 1 everybody is exposed; for a design that exposes nobody use relaxed_warner().",
        )
    channel = orient_channel(
        binary(1, share).channel, _number(category_labels, telling)
    )
    return Design("exposing_binary", category_labels, category_labels, channel)


def feasible_binary(
    p00: Rational,
    p11: Rational,
    epsilon: Rational,
    delta: Rational = 0,
) -> bool:
    """Tell whether the two-answer design (p00, p11) is (ε, δ)-private, exactly.

    Implements: the region of [HLM17], Definition 2, on both sides of p00 + p11 = 1.

    Raises:
        InvalidNumber: not probabilities, or a negative ε.

    Example:
        >>> feasible_binary(0.7, 0.7, 1), feasible_binary(0.75, 0.75, 1), feasible_binary(0.75, 0.75, 1, "1/10")
        (True, False, True)
    """
    first, second = exact.probabilities(p00=p00, p11=p11)
    channel = Dense.from_rows([[first, 1 - second], [1 - first, second]])
    return Relaxed(epsilon, delta).check(channel).holds


def exposure_threshold(epsilon: Rational, delta: Rational) -> float:
    """Return g(ε, δ): for a rarer answer below this share the design that exposes people has the smaller variance.

    Implements: g = δ(e^ε + δ)/(e^ε + 2δ − 1)² of [HLM17], eq. 23, whose simplification of eq. 24 lacks the square.

    Raises:
        InvalidDesign: ε = δ = 0, at which nothing may be told.
        InvalidNumber: a negative ε, or δ outside [0, 1].

    Example:
        >>> round(exposure_threshold("0.5", "0.1"), 6)
        0.242767
    """
    return float(exposure_threshold_of_ratio(read_ratio(epsilon), read_delta(delta)))


def exposure_threshold_of_ratio(ratio: Fraction, delta: Fraction) -> Fraction:
    """Return g(ε, δ) from e^ε and δ."""
    if ratio + 2 * delta == 1:
        raise _uninformative_channel()
    return delta * (ratio + delta) / (ratio + 2 * delta - 1) ** 2


def even_channel(ratio: Fraction, delta: Fraction) -> Diagonal:
    """Return the even channel with p = (e^ε + δ)/(e^ε + 1), rounded down."""
    if delta == 1:
        raise InvalidDesign(
            "δ is 1, which lets every answer be given away; expected less.",
            "Or ask the question directly.",
        )
    same = int(TOTAL * (ratio + delta) / (ratio + 1))
    if not TOTAL < 2 * same < 2 * TOTAL:
        raise _uninformative_channel()
    return Diagonal(2, same, TOTAL - same)


def corner_channel(ratio: Fraction, delta: Fraction, ceiling: Fraction) -> Dense:
    """Return the channel at which both (ε, δ) and the ceiling bind, the second response telling much."""
    if not delta or ceiling * (1 - delta) <= ratio + delta:
        min_ceiling = (ratio + delta) / (1 - delta) if delta < 1 else math.inf
        raise InvalidDesign(
            f"δ is {float(delta):.6g} and the ceiling is a ratio of {float(ceiling):.6g}; "
            f"expected a δ above 0 and a ratio above {float(min_ceiling):.6g}, that of the even design.",
            "Use relaxed_warner(), or warner() at the ceiling.",
        )
    other_weight = -int(-TOTAL * delta / (ceiling - ratio) // 1)
    own_weight = int(
        min(ratio * other_weight + delta * TOTAL, ceiling * other_weight)
    )
    return Dense(
        (
            (TOTAL - other_weight, TOTAL - own_weight),
            (other_weight, own_weight),
        ),
        TOTAL,
    )


def capped_even(
    ratio: Fraction, delta: Fraction, ceiling: Fraction | None
) -> Channel:
    """Return the even channel under (ε, δ), or Warner's at the ceiling where that is tighter."""
    if ceiling is None or ceiling * (1 - delta) >= ratio + delta:
        return even_channel(ratio, delta)
    return even_channel(ceiling, Fraction(0))


def orient_channel(channel: Channel, telling: int) -> Channel:
    """Return a channel whose second response tells much, or its mirror in which the first one does."""
    if telling == 1:
        return channel
    table = channel.dense()
    (a, b), (c, d) = table.weights
    return Dense(((d, c), (b, a)), table.total)


def read_ratio(epsilon: Rational) -> Fraction:
    """Return a rational just below e^ε; 1 for ε = 0, which (ε, δ) may have."""
    if exact.rational(epsilon, name="epsilon") == 0:
        return Fraction(1)
    return exact.gamma_below(epsilon)


def read_delta(delta: Rational) -> Fraction:
    """Return δ as a rational."""
    return exact.probability(delta, name="delta")


def _number(category_labels: Sequence[str], telling: str | None) -> int:
    if telling is not None and telling not in category_labels:
        raise InvalidRequest(
            f"{quoted(telling)} is not one of the two categories; expected {category_labels[0]!r} or "
            f"{category_labels[1]!r}."
        )
    return 1 if telling is None else list(category_labels).index(telling)


def _uninformative_channel() -> InvalidDesign:
    return InvalidDesign(
        "this ε and δ leave nothing to tell, or less than weights that sum to 2^64 can; expected larger ones."
    )


class Curve(NamedTuple):
    """Variance per respondent of the unbiased estimate, −π² + bπ + c, as a function of the second share π."""

    b: Fraction
    c: Fraction

    @classmethod
    def from_channel(cls, channel: Channel) -> Curve:
        """Return the curve of a channel with two answers and two responses."""
        p00, p11 = (channel.probability(j, given=j) for j in (0, 1))
        D = p00 + p11 - 1
        return cls((2 * p00 - 1) / D, p00 * (1 - p00) / D**2)

    def at(self, share: Fraction) -> Fraction:
        """Return the variance at a share."""
        return (self.b - share) * share + self.c

    def worst(self, low: Fraction, high: Fraction) -> Fraction:
        """Return the largest variance over a range of shares."""
        return self.at(min(max(self.b / 2, low), high))


@dataclass(frozen=True)
class Candidate:
    """A design that was considered.

    Attributes:
        design: the design.
        variance: its variance per respondent at the guessed share.
        worst: the largest one over the range.
        regret: by how much its variance is above the best candidate's, at most over the range.
        regret_at: the share at which that happens.
        exposes: whether a response of it gives an answer away.
    """

    design: Design
    variance: float
    worst: float
    regret: float
    regret_at: float
    exposes: bool

    def __str__(self) -> str:
        p00, p11 = (
            self.design.probability(name, given=name)
            for name in self.design.categories
        )
        epsilon = formats.epsilon(self.design.epsilon)
        return f"{self.design.name} (p00 = {float(p00):.6g}, p11 = {float(p11):.6g}, ε = {epsilon})"


@dataclass(frozen=True)
class BinaryChoice:
    """A design for two answers, with the reasons for it.

    Attributes:
        chosen: the design that was chosen, with its variances.
        others: the runners-up, the best first.
        low: the smallest share of the second answer that was reckoned with.
        high: the largest.
        guess: the share at which `variance` is meant.
        threshold: the share of the rarer answer below which a lopsided design has the smaller variance; g(ε, δ) for the
            one that exposes people.
        decided: whether the chosen design is the best of the candidates at every share of the range.
        why: the reasons, in words.
        note: what should be known about exposing people, in words; may be empty.
    """

    chosen: Candidate
    others: tuple[Candidate, ...]
    low: float
    high: float
    guess: float
    threshold: float
    decided: bool
    why: str
    note: str

    @property
    def design(self) -> Design:
        """The chosen design."""
        return self.chosen.design

    @property
    def variance(self) -> float:
        """The variance per respondent at the guessed share; divide by the number of respondents."""
        return self.chosen.variance

    @property
    def runner_up(self) -> Candidate | None:
        """The second best, if there was a choice."""
        return self.others[0] if self.others else None

    def __str__(self) -> str:
        return " ".join(
            sentence
            for sentence in (f"{self.chosen}.", self.why, self.note)
            if sentence
        )


Goal = Literal["guess", "worst", "regret"]
_GOALS = {
    "guess": "at the guessed share",
    "worst": "at the worst share of the range",
    "regret": "in what a wrong guess costs",
}


def optimal_binary(
    epsilon: Rational,
    delta: Rational = 0,
    *,
    share: Rational | None = None,
    share_range: Sequence[Rational] | None = None,
    goal: Goal = "guess",
    ceiling: Rational | None = None,
    expose: bool = False,
    categories: Labels = NO_YES,
) -> BinaryChoice:
    """Choose the two-answer design with the smallest variance under (ε, δ), and say why.

    Designs that give an answer away are left out unless `expose` asks for them; a `ceiling` lets designs in that tell
    more than the even one in a rare response, but never more than its ε.

    Implements: [HLM17], Theorems 2 and 3 and Corollary 2, with the threshold g(ε, δ) of eq. 23; its heuristic for a
    range of shares takes the middle. The ceiling, the worst case and the regret over the range are ours.

    Guarantee: integer weights that sum to 2^64, or exactly (1, δ), with δ(ε) ≤ δ exactly.

    Why: the variance falls in p00 and in p11, so the optimum lies on the border of the region, and along each straight
    stretch of the border the variance is smallest at an end: the even design, or where a stretch meets the ceiling.

    Args:
        epsilon: the ε of (ε, δ).
        delta: the δ of (ε, δ).
        share: the share of the second answer, as far as it can be guessed.
        share_range: the smallest and the largest share that are reckoned with; the guess is then its middle.
        goal: "guess" for the smallest variance at the guess, "worst" for the smallest worst case over the range,
            "regret" for the smallest cost of a wrong guess.
        ceiling: the largest ε that any response may have without δ.
        expose: whether a design that gives people away outright may be chosen.
        categories: the two answers.

    Raises:
        InvalidRequest: an unknown goal, shares that do not fit, or a ceiling together with `expose`.
        InvalidDesign: an (ε, δ) that leaves nothing to tell, or lets everything be told.

    Example:
        >>> choice = optimal_binary("0.5", "0.1", share="0.3")
        >>> choice.design.name, round(choice.variance, 6)
        ('relaxed_warner', 2.394907)
        >>> optimal_binary("0.5", "0.1", share="0.2", expose=True).design.name
        'exposing_binary'
    """
    require_choice("the goal is", goal, _GOALS)
    if expose and ceiling is not None:
        raise InvalidRequest(
            "a design that exposes people has no ceiling; expected either ceiling or expose."
        )
    low, guess, high = _shares(share, share_range)
    designs = _designs(epsilon, delta, ceiling, expose, categories)
    candidates = _candidates(designs, low, guess, high)
    chosen, *alternatives = sorted(
        candidates, key=lambda candidate: _rank(candidate, goal)
    )
    if len(designs) > 1:
        border = _equal_variance_share(designs[0], designs[1])
    else:
        border = exposure_threshold_of_ratio(read_ratio(epsilon), read_delta(delta))
    return BinaryChoice(
        chosen,
        tuple(alternatives),
        float(low),
        float(high),
        float(guess),
        float(border),
        chosen.regret == 0,
        _why(chosen, alternatives, goal, (low, guess, high), border),
        _note(chosen, epsilon, delta, guess, ceiling, alternatives),
    )


def _rank(candidate: Candidate, goal: Goal) -> tuple[float, bool, float]:
    """Return the sort key for a goal; ties go to the design that exposes no respondent, then to the smaller ε."""
    value = {
        "guess": candidate.variance,
        "worst": candidate.worst,
        "regret": candidate.regret,
    }[goal]
    return float(f"{value:.12g}"), candidate.exposes, candidate.design.epsilon


def _shares(
    share: Rational | None, share_range: Sequence[Rational] | None
) -> tuple[Fraction, Fraction, Fraction]:
    if share_range is None:
        bounds = (0, 1) if share is None else (share, share)
    else:
        bounds = tuple(share_range)  # type: ignore[assignment]  # its length is checked next
    if len(bounds) != 2:
        raise InvalidRequest(
            f"the range has {len(bounds)} numbers; expected the smallest and the largest share."
        )
    low, high = (exact.probability(end, name="share_range") for end in bounds)
    guess = (
        (low + high) / 2 if share is None else exact.probability(share, name="share")
    )
    if not low <= guess <= high:
        raise InvalidRequest(
            f"the shares are {float(low):.6g}, {float(guess):.6g}, {float(high):.6g}; "
            "expected a range from small to large with the guess inside."
        )
    return low, guess, high


def _designs(
    epsilon: Rational,
    delta: Rational,
    ceiling: Rational | None,
    expose: bool,
    categories: Labels,
) -> list[Design]:
    """Return the even design, and where they are allowed the two lopsided ones, the second answer's first."""
    ratio, share = read_ratio(epsilon), read_delta(delta)
    limit = None if ceiling is None else exact.gamma_below(ceiling, name="ceiling")
    first = relaxed_warner(epsilon, delta, categories=categories)
    channel = capped_even(ratio, share, limit)
    category_labels = first.categories
    designs = [
        first
        if channel == first.channel
        else Design("warner", category_labels, category_labels, channel)
    ]
    if expose and share:
        designs += [
            exposing_binary(share, telling=name, categories=category_labels)
            for name in reversed(category_labels)
        ]
    elif limit is not None and share and limit * (1 - share) > ratio + share:
        channel = corner_channel(ratio, share, limit)
        designs += [
            Design(
                "capped_binary",
                category_labels,
                category_labels,
                orient_channel(channel, number),
            )
            for number in (1, 0)
        ]
    return designs


def _candidates(
    designs: Sequence[Design], low: Fraction, guess: Fraction, high: Fraction
) -> list[Candidate]:
    curves = [Curve.from_channel(design.channel) for design in designs]

    def regret(curve: Curve, share: Fraction) -> Fraction:
        return curve.at(share) - min(rival.at(share) for rival in curves)

    candidates = []
    for design, curve in zip(designs, curves, strict=True):
        # A largest difference of straight lines is at an end of the range.
        max_regret, worst_share = max(
            (regret(curve, share), share) for share in (low, high)
        )
        candidates.append(
            Candidate(
                design,
                float(curve.at(guess)),
                float(curve.worst(low, high)),
                float(max_regret),
                float(worst_share),
                design.parity == math.inf,
            )
        )
    return candidates


def _equal_variance_share(even: Design, lopsided: Design) -> Fraction:
    """Return the share at which the two variances are equal."""
    even_curve, lopsided_curve = (
        Curve.from_channel(even.channel),
        Curve.from_channel(lopsided.channel),
    )
    return (even_curve.c - lopsided_curve.c) / (lopsided_curve.b - even_curve.b)


def _why(
    chosen: Candidate,
    alternatives: Sequence[Candidate],
    goal: str,
    shares: tuple[Fraction, Fraction, Fraction],
    border: Fraction,
) -> str:
    low, guess, high = map(float, shares)
    share_text = (
        f"a share of {guess:.4g}"
        if low == high
        else f"shares from {low:.4g} to {high:.4g}"
    )
    if not alternatives:
        return (
            "At every share it has the smallest variance of all designs whose parity is at most its own, "
            f"{chosen.variance:.6g} per respondent at {guess:.4g}."
        )
    best = alternatives[0]
    lopsided = f"A lopsided design wins where the rarer answer has a share below {float(border):.4g}."
    if chosen.regret == 0:
        return (
            f"For {share_text} it is the best of {len(alternatives) + 1} candidates, with a variance of "
            f"{chosen.variance:.6g} per respondent at {guess:.4g}; the runner-up, {best}, has {best.variance:.6g}. "
            f"{lopsided}"
        )
    return (
        f"For {share_text} no candidate is always best; this one is best {_GOALS[goal]}, with a variance of "
        f"{chosen.variance:.6g} per respondent at {guess:.4g} and {chosen.worst:.6g} at worst. If the share is "
        f"{chosen.regret_at:.4g} it costs {chosen.regret:.6g} more than the best there; the runner-up, {best}, would "
        f"cost up to {best.regret:.6g} more, at {best.regret_at:.4g}. {lopsided}"
    )


def _note(
    chosen: Candidate,
    epsilon: Rational,
    delta: Rational,
    guess: Fraction,
    ceiling: Rational | None,
    alternatives: Sequence[Candidate],
) -> str:
    share = read_delta(delta)
    if chosen.exposes:
        rare = next(
            name
            for name in chosen.design.categories
            if chosen.design.probability(name, given=name) < 1
        )
        return (
            f"This design exposes people outright: whoever sends {rare!r} has given that answer away, and a share of "
            f"{float(share):.4g} of those who have it do. It was chosen because expose=True asked for it."
        )
    m = min(guess, 1 - guess)
    g = exposure_threshold_of_ratio(read_ratio(epsilon), share)
    if (
        not share
        or g <= m
        or any(alternative.exposes for alternative in alternatives)
    ):
        return ""
    return (
        f"A design with a variance of {float(m / share - m * m):.6g} at {float(guess):.4g} was left out, because it "
        f"exposes a share of {float(share):.4g} of those with the rarer answer outright; it is offered only for "
        "expose=True"
        + (
            "."
            if ceiling is not None
            else ", and a ceiling comes near to it without exposing anybody."
        )
    )
