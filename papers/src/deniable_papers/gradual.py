"""Document 004: a response released in stages.

The tables and theorems are about single steps and whole ladders; both experiments are made again from who was asked and
at which stages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from deniable import simulate as law
from deniable.attacks import VOTES, Rates, error_rates, simulate_attacks
from deniable.criteria import least_bayes_error, posterior
from deniable.designs import Range, direct, k_ary, unary, warner
from deniable.estimates import covariance
from deniable.order.ladders import Ladder
from deniable.order.relaxation import family_ladder, ladder, relax
from deniable.types.strings.design import NoisySampling
from deniable_papers.figures import INK, LINES, dots, legend, line, panels
from deniable_papers.means import moments
from deniable_papers.values import (
    Content,
    Exhibits,
    Point,
    Printed,
    Setting,
    printed,
    starting,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

exhibit = Exhibits("gradual")

NOISY = NoisySampling.symmetric(1, 0.5)
"""The noisy samples whose ε the stages of Experiment 6.1 follow."""
_ATTACKED = 8  # people for each repetition
_EPSILONS = (0.5, 1.0, 2.0, 10.0)
_SIZES = range(3, 11)
_CELLS = {"paa": (0, 0), "pbb": (1, 1), "pba": (0, 1)}
"""For each probability of the paper the new and the old response; the answer is 0."""
_SAMPLE_EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0)
_ROUNDS = 20
_PACES = (5, 10, 20)
_DASHED = (0, (5, 3))


@dataclass(frozen=True)
class StagePoints:
    """The estimates of one category at one stage: theory and simulation, for the mean and for the variance."""

    mean: Point
    variance: Point


@dataclass(frozen=True)
class Experiment:
    """Objects with known answers, whose responses are raised from stage to stage.

    Attributes:
        stages: the designs.
        counts: how many objects have each answer.
    """

    stages: Ladder
    counts: tuple[int, ...]

    @property
    def objects(self) -> int:
        """How many objects there are."""
        return sum(self.counts)

    def seen(self, setting: Setting) -> list[list[StagePoints]]:
        """Repeat the experiment; return a list of stages for each category."""
        tallies = law.stages(
            self.stages,
            list(self.counts),
            setting.repetitions,
            draws=setting.generator,
        )
        found: list[list[StagePoints]] = [[] for _ in self.counts]
        for design, rows in zip(self.stages, tallies, strict=True):
            true = np.array(self.counts) / self.objects
            estimates = law.shares(design, rows, self.objects)
            spread = np.diagonal(
                covariance(
                    design, true.tolist(), self.objects, population=self.objects
                )
            )
            for category, stages in enumerate(found):
                name = f"{design.categories[category]} at ε = {design.epsilon:.3g}"
                mean = Point.of(
                    f"mean of {name}", true[category], estimates[:, category]
                )
                squares = (estimates[:, category] - true[category]) ** 2
                stages.append(
                    StagePoints(
                        mean,
                        Point.of(f"variance of {name}", spread[category], squares),
                    )
                )
        return found

    @cached_property
    def rates(self) -> Rates:
        """The exact error rates of the attacks, and the bound."""
        return error_rates(self.stages)

    def attacked(self, setting: Setting) -> list[Point]:
        """Attack simulated people, as many of each answer on average."""
        people = _ATTACKED * setting.repetitions
        drawn = simulate_attacks(
            self.stages, people, source=_GeneratorBytes(setting.generator)
        )
        return [
            Point(each, self.rates[each], drawn[each], drawn.standard[each])
            for each in VOTES
        ]


@dataclass(frozen=True)
class _GeneratorBytes:
    """A generator as a source of bytes, for simulations that ask for one."""

    generator: np.random.Generator

    def read(self, count: int) -> bytes:
        return self.generator.bytes(count)


@exhibit("theorem", "3.1")
def theorem_3_1() -> Content:
    """Raising a response with two answers."""
    return Content(
        tuple(
            entry.against(raised(entry))
            for entry in map(printed, ("004-eq22", "004-eq23"))
        )
    )


@exhibit("section", "4.1")
def section_4_1() -> Content:
    """What a stage reveals alone, and all stages together."""
    alone, both = printed("004-delta"), printed("004-chain")
    one, two = warner(alone.inputs["eps1"]), warner(alone.inputs["eps2"])
    return Content(
        (
            alone.against(relax(one, two).alone_epsilon),
            both.against(ladder([one, two]).epsilon),
        ),
        notes=(
            "The 3 that the paper gives for e to the power of ε is ε itself, that of the second response to "
            "somebody who knows the first (erratum 4.5). It is no cost: both together have the ε of the second stage.",
        ),
    )


@exhibit("section", "4.2")
def section_4_2() -> Content:
    """How often a response is kept."""
    entry = printed("004-retention")
    truth = direct([str(each) for each in range(entry.inputs["m"])])
    steps = [
        relax(k_ary(truth.categories, epsilon), truth).step
        for epsilon in entry.inputs["eps"]
    ]
    return Content(
        (
            entry.against(
                [float(step.garbling(0, 0) - step.garbling(0, 1)) for step in steps]
            ),
        )
    )


@exhibit("theorem", "4.1")
def theorem_4_1() -> Content:
    """All responses tell what the last one tells."""
    stages = family_ladder("k_ary", 3, [1, 2])
    prior = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    joint, last = stages.joint(), stages.designs[-1]
    rows = []
    for number, (first, second) in enumerate(product(range(3), repeat=2)):
        all_seen, last_seen = (
            posterior(joint, prior, number),
            posterior(last, prior, second),
        )
        rows.append(
            (
                first,
                second,
                *map(float, all_seen),
                "yes" if all_seen == last_seen else "no",
            )
        )
    return Content(
        columns=(
            "first response",
            "second",
            "belief in 0",
            "in 1",
            "in 2",
            "the same from the second alone",
        ),
        rows=tuple(rows),
        notes=(
            "Two stages, ε = 1 and 2, after a prior of 50, 30 and 20 %; compared in exact fractions.",
        ),
    )


@exhibit("section", "5.1")
def section_5_1() -> Content:
    """The ε of a RAPPOR report."""
    entry = printed("004-rappor")
    bit = warner(entry.inputs["eps"])
    kept = bit.probability(bit.symbols[0], given=bit.categories[0])
    return Content(
        (entry.against(unary(2, p=kept, q=1 - kept).epsilon),),
        notes=(
            "The paper speaks of the ε of one bit. Two one-hot codes differ in two bits, two Bloom filters with h "
            "hashes in up to 2h (erratum 4.9).",
        ),
    )


@exhibit("equation", "65")
def equation_65() -> Content:
    """What K noisy samples reveal."""
    return _rounds(
        "004-eq65-", lambda entry: _noisy(entry).epsilon(entry.inputs["K"])
    )


@exhibit("equation", "67")
def equation_67() -> Content:
    """The variance from a relaxed response."""
    return _rounds(
        "004-eq67-",
        _relaxed_variance,
        "The middle of the equation has ε₁ in place of ε_i (erratum 4.6).",
    )


@exhibit("equation", "68")
def equation_68() -> Content:
    """The variance from K noisy samples."""
    return _rounds(
        "004-eq68-",
        lambda entry: (
            float(_noisy(entry).variance(entry.inputs["K"], bit=1))
            / int(entry.inputs["N"])
        ),
    )


@exhibit("equation", "70")
def equation_70() -> Content:
    """The mean of values in a range."""
    entry = printed("004-eq70")
    given = entry.inputs
    found = moments(
        Range.of(given["l"], given["h"]), given["values"], warner(given["eps"])
    )
    return Content(
        (entry.against(float(found.mean)),),
        notes=(
            "The factor must be the width of the range, not its upper end (erratum 4.1).",
        ),
    )


@exhibit("section", "5.3")
def section_5_3() -> Content:
    """A datum sold in ninety-one stages."""
    entry = printed("004-sec53")
    first, last, stride = (
        Fraction(str(entry.inputs[name])) for name in ("first", "last", "stride")
    )
    stages = family_ladder(
        "k_ary",
        2,
        [first + stride * step for step in range(int((last - first) / stride) + 1)],
    )
    return Content(
        (entry.against(stages.epsilon),),
        notes=(
            f"All {len(stages)} stages together have the ε of the last one; buyers may pool what they bought.",
        ),
    )


@exhibit("theorem", "6.1")
def theorem_6_1() -> Content:
    """The smallest error of an attack."""
    entries = [printed(f"004-exp{number}-bound") for number in (61, 62)]
    return Content(tuple(entry.against(_least_error(entry)) for entry in entries))


@exhibit("equation", "130")
def equation_130() -> Content:
    """The variance of noisy samples, step by step."""
    total, share, bit, people = (
        printed(f"004-eq{number}") for number in (130, 131, 132, 133)
    )
    samples = total.inputs["K"]
    noisy = NoisySampling.of(
        total.inputs["alpha"], total.inputs["beta"], 1 - total.inputs["beta"]
    )
    # an estimate of the permanent bit, which it then keeps
    sure = NoisySampling.of(1, noisy.p, noisy.q)
    spread = noisy.sum_variance(samples, bit=1)
    ratio = sure.variance(samples, bit=1) / sure.sum_variance(samples, bit=1)
    return Content(
        (
            total.against(float(spread)),
            share.against(float(spread / samples**2)),
            bit.against(float(spread * ratio)),
            people.against(
                float(noisy.variance(samples, bit=1) / people.inputs["N"])
            ),
        ),
        notes=(
            "1 − β is printed where 1 − 2β belongs (erratum 4.2), and N where N² belongs (erratum 4.3); eq. (68), "
            "which follows from them, is right.",
        ),
    )


@exhibit("equation", "141")
def equation_141() -> Content:
    """The variances of five shares."""
    entry = printed("004-eq141")
    counts = np.array(entry.inputs["counts"])
    n = int(counts.sum())
    found = covariance(
        k_ary(len(counts), entry.inputs["eps"]),
        (counts / n).tolist(),
        n,
        population=n,
    )
    return Content((entry.against(np.diagonal(found).tolist()),))


@exhibit("table", "1")
def table_1() -> Content:
    """The answer stays the response."""
    return _table("004-table1-")


@exhibit("table", "2")
def table_2() -> Content:
    """Another category stays the response."""
    return _table("004-table2-")


@exhibit("table", "3")
def table_3() -> Content:
    """Another category becomes the answer."""
    return _table("004-table3-")


@exhibit("figure", "1", weight=3)
def figure_1(setting: Setting) -> Content:
    """Noisy samples against relaxation."""
    noisy = {each: NoisySampling.symmetric(1, each) for each in _SAMPLE_EPSILONS}
    drawn = {
        each: sampled(one, 0, 1, _ROUNDS, setting) for each, one in noisy.items()
    }
    raised = {
        each: _raised([one.epsilon(k) for k in range(1, _ROUNDS + 1)], setting)
        for each, one in noisy.items()
    }
    paced = {rounds: _raised(_linear(rounds), setting) for rounds in _PACES}
    points = [
        point
        for held in (drawn, raised, paced)
        for each in held.values()
        for point in each
    ]
    return Content(
        described="Three panels over the number of rounds. (a) The ε of noisy samples of a permanent bit with ε = 1 "
        "rises towards 1, the faster the larger the ε of a sample. (b) The variance falls, far faster for relaxation "
        "(dashed) than for noisy samples (solid) that reveal as much. (c) ε goes evenly from 0.1 to 1.0 in different "
        "numbers of rounds, and the variance of relaxation falls.",
        draw=lambda: _figure_1(noisy, drawn, raised, paced),
        points=tuple(points),
        notes=(
            "One person is asked in (b) and (c), as in the paper, and simulated many times over.",
        ),
    )


@exhibit("figure", "2", weight=3)
def figure_2(setting: Setting) -> Content:
    """Two answers, raised ten times."""
    experiment, entry = first(), printed("004-fig2b")
    stages, noisy = (
        experiment.seen(setting)[1],
        sampled(NOISY, 400, 600, len(experiment.stages), setting),
    )
    attacks = experiment.attacked(setting)
    against = (
        stages[entry.inputs["K"] - 1].variance.theory
        / noisy[entry.inputs["K"] - 1].theory
    )
    ours = (
        "equal"
        if math.isclose(against, 1, rel_tol=1e-9)
        else "smaller"
        if against < 1
        else "larger"
    )
    return Content(
        (entry.against(ours),),
        described="Three panels over ten rounds, 600 ones and 400 zeros. (a) The mean of the estimated share of ones "
        "and two standard deviations to each side lie on the theory. (b) The variance of relaxation lies on its "
        "theory, below that of noisy sampling. (c) No attack has an error rate below the theoretical minimum; last "
        "output and maximum likelihood reach it.",
        draw=lambda: _figure_2(experiment, stages, noisy, attacks),
        points=(*_points([stages]), *noisy, *attacks),
        notes=(
            "With one sample, noisy sampling is as good as relaxation; from the second on it is worse (erratum 4.11).",
            "The paper repeats the experiment 100 times; bars in (a) are two standard deviations, as in the "
            "document, and in (b) and (c) two standard errors of ours.",
        ),
    )


@exhibit("figure", "3", weight=4)
def figure_3(setting: Setting) -> Content:
    """Five answers, raised ten times."""
    experiment = second()
    categories, attacks = experiment.seen(setting), experiment.attacked(setting)
    return Content(
        described="Six panels. (a) to (e): the estimated shares of the values one to five of 1,500 objects, from "
        "ε = 0.1 to 1.0; mean and two standard deviations to each side lie on the theory. (f) The error rates of four "
        "attacks, none below the theoretical minimum.",
        draw=lambda: _figure_3(experiment, categories, attacks),
        points=(*_points(categories), *attacks),
        notes=(
            "Bars in (a) to (e) are two standard deviations, as in the paper; in (f) two standard errors.",
        ),
    )


@cache
def first() -> Experiment:
    """Experiment 6.1: 400 zeros and 600 ones, ten stages at the ε of ten noisy samples."""
    return Experiment(
        family_ladder(
            "k_ary", 2, [NOISY.epsilon(samples) for samples in range(1, 11)]
        ),
        (400, 600),
    )


@cache
def second() -> Experiment:
    """Experiment 6.2: five answers, ten stages from ε = 0.1 to 1."""
    return Experiment(
        family_ladder("k_ary", 5, [f"{i}/10" for i in range(1, 11)]),
        (100, 200, 300, 400, 500),
    )


def sampled(
    noisy: NoisySampling, zeros: int, ones: int, rounds: int, setting: Setting
) -> list[Point]:
    """Repeat noisy sampling; return the variance of the estimated share of ones after each round."""
    n = zeros + ones
    drawn = law.noisy_samples(
        noisy, ones, zeros, rounds, setting.repetitions, draws=setting.generator
    )
    estimates = law.noisy_shares(noisy, drawn, n)
    return [
        Point.of(
            f"noisy sampling, {samples} samples",
            float(noisy.variance(samples, bit=1)) / n,
            (estimates[:, samples - 1] - ones / n) ** 2,
        )
        for samples in range(1, rounds + 1)
    ]


def raised(entry: Printed) -> float:
    """Return the probability that an entry names, at its stages and number of categories (2, if it has none)."""
    one, two = (
        k_ary(entry.inputs.get("m", 2), entry.inputs[name])
        for name in ("eps1", "eps2")
    )
    new, old = _CELLS.get(entry.topic, (0, 0) if entry.topic == "p_a" else (1, 1))
    return float(relax(one, two).step.kernel(new, old=old, given=0))


def _table(prefix: str) -> Content:
    values = {entry.id: entry.against(raised(entry)) for entry in starting(prefix)}
    return Content(
        tuple(values.values()),
        ("categories", *(f"to ε = {epsilon:g}" for epsilon in _EPSILONS)),
        tuple(
            (m, *(values[f"{prefix}m{m}-e{epsilon}"] for epsilon in _EPSILONS))
            for m in _SIZES
        ),
        notes=(
            "Each column begins where the one before ends; the first begins at ε = 0.1.",
        ),
    )


def _least_error(entry: Printed) -> float:
    size = entry.inputs["m"]
    return float(
        least_bayes_error(
            k_ary(size, entry.inputs["eps"]).parity, [Fraction(1, size)] * size
        )
    )


def _rounds(prefix: str, ours: Callable[[Printed], float], *notes: str) -> Content:
    """Compare a formula after each of ten rounds of Experiment 6.1."""
    return Content(
        tuple(entry.against(ours(entry)) for entry in starting(prefix)), notes=notes
    )


def _noisy(entry: Printed) -> NoisySampling:
    return NoisySampling.symmetric(
        entry.inputs["eps_alpha"], entry.inputs["eps_beta"]
    )


def _relaxed_variance(entry: Printed) -> float:
    people = entry.inputs["N"]
    return float(
        covariance(
            warner(entry.inputs["eps"]), [0.4, 0.6], people, population=people
        )[1, 1]
    )


def _linear(rounds: int) -> list[float]:
    """Return the ε of so many rounds from 0.1 to 1.0."""
    return [float(each) for each in np.linspace(0.1, 1.0, rounds).round(12)]


def _raised(epsilons: Sequence[float], setting: Setting) -> list[Point]:
    """Raise the response of one person through these stages, many times over; return the variance at each."""
    (_, ones) = Experiment(family_ladder("k_ary", 2, epsilons), (0, 1)).seen(setting)
    return [stage.variance for stage in ones]


def _points(categories: Sequence[Sequence[StagePoints]]) -> list[Point]:
    return [
        point
        for stages in categories
        for stage in stages
        for point in (stage.mean, stage.variance)
    ]


def _figure_1(
    noisy: dict[float, NoisySampling],
    drawn: dict[float, list[Point]],
    raised: dict[float, list[Point]],
    paced: dict[int, list[Point]],
) -> Figure:
    titles = (
        "(a) ε of noisy samples",
        "(b) noisy samples and relaxation",
        "(c) ε from 0.1 to 1 at an even pace",
    )
    figure, (left, middle, right) = panels(
        titles, x="round", y="variance, one person", width=5
    )
    left.set_ylabel("ε")
    rounds = range(1, _ROUNDS + 1)
    for colour, (each, one) in zip(LINES, noisy.items(), strict=False):
        line(
            left,
            rounds,
            [one.epsilon(k) for k in rounds],
            colour,
            f"ε of a sample {each:g}",
        )
        line(middle, rounds, [point.theory for point in drawn[each]], colour)
        line(
            middle,
            rounds,
            [point.theory for point in raised[each]],
            colour,
            style=_DASHED,
        )
        dots(middle, rounds, drawn[each], colour)
        dots(middle, rounds, raised[each], colour, marker="s")
    for colour, (pace, points) in zip(LINES[5:], paced.items(), strict=False):
        line(
            right,
            range(1, pace + 1),
            [point.theory for point in points],
            colour,
            f"{pace} rounds",
            _DASHED,
        )
        dots(right, range(1, pace + 1), points, colour, marker="s")
    line(middle, [], [], INK, "noisy samples; dots simulated")
    line(middle, [], [], INK, "relaxation; squares simulated", _DASHED)
    for axes in (middle, right):
        axes.set_yscale("log")
    for axes in figure.axes:
        axes.set_xticks([1, 5, 10, 15, 20])
    legend(figure, 5)
    return figure


def _figure_2(
    experiment: Experiment,
    stages: Sequence[StagePoints],
    noisy: Sequence[Point],
    attacks: Sequence[Point],
) -> Figure:
    titles = (
        "(a) share of ones: mean and 2σ",
        "(b) variance",
        "(c) error rates of attacks",
    )
    figure, (left, middle, right) = panels(
        titles, x="round", y="estimated share", width=5
    )
    rounds = range(1, len(stages) + 1)
    _band(left, rounds, stages)
    middle.set_ylabel("variance")
    middle.set_yscale("log")
    relaxed = [stage.variance for stage in stages]
    line(
        middle,
        rounds,
        [point.theory for point in noisy],
        LINES[1],
        "noisy samples, theory",
    )
    line(
        middle,
        rounds,
        [point.theory for point in relaxed],
        LINES[0],
        "relaxation, theory",
        _DASHED,
    )
    dots(middle, rounds, noisy, LINES[1], "noisy samples, simulated", "s")
    dots(middle, rounds, relaxed, LINES[0], "relaxation, simulated")
    _attacks(right, experiment.rates, attacks)
    legend(figure, 4)
    return figure


def _figure_3(
    experiment: Experiment,
    categories: Sequence[Sequence[StagePoints]],
    attacks: Sequence[Point],
) -> Figure:
    values = ("one", "two", "three", "four", "five")
    titles = [
        *(
            f"({letter}) {value}"
            for letter, value in zip("abcde", values, strict=True)
        ),
        "(f) error rates",
    ]
    figure, made = panels(
        titles, x="ε", y="estimated share", width=4.6, height=3.4, rows=2
    )
    for axes, stages in zip(made, categories, strict=False):
        _band(axes, experiment.stages.epsilons, stages)
    _attacks(made[-1], experiment.rates, attacks)
    legend(figure, 4)
    return figure


def _band(axes: Axes, x: Sequence[float], stages: Sequence[StagePoints]) -> None:
    """Draw means with two standard deviations to each side, and the theory of both."""
    means = np.array([stage.mean.theory for stage in stages])
    theory, seen = (
        np.sqrt([getattr(stage.variance, which) for stage in stages])
        for which in ("theory", "simulated")
    )
    for times, label in ((0, "theory: mean, ± 2σ"), (-2, ""), (2, "")):
        line(axes, x, means + times * theory, INK, label, _DASHED)
    axes.errorbar(
        x,
        [stage.mean.simulated for stage in stages],
        yerr=2 * seen,
        fmt="o", color=LINES[0], markersize=4, capsize=3, elinewidth=1, label="simulated: mean, ± 2σ",
    )  # fmt: skip


def _attacks(axes: Axes, rates: Rates, attacks: Sequence[Point]) -> None:
    """Draw the error rate of each attack, simulated and exact, and the bound."""
    places = range(len(attacks))
    axes.axhline(
        float(rates.bound),
        color=INK,
        linestyle=_DASHED,
        linewidth=1.4,
        label="smallest error possible",
    )
    axes.plot(
        places,
        [point.theory for point in attacks],
        "_",
        color=LINES[1],
        markersize=26,
        label="exact error rate",
    )
    dots(axes, places, attacks, LINES[0], "simulated error rate", "D")
    axes.set_xticks(places, [point.where.replace(" ", "\n") for point in attacks])
    axes.set_xlim(-0.6, len(attacks) - 0.4)
    axes.set_xlabel("")
    axes.set_ylabel("share of wrong guesses")
