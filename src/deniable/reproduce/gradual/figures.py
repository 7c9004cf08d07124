"""Figures 1 to 3: noisy sampling against relaxation, and both experiments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable.audit import Rates
from deniable.gradual.design import family_ladder
from deniable.gradual.strings.noisy import NoisySampling
from deniable.reproduce.draw import INK, LINES, dots, legend, line, panels
from deniable.reproduce.gradual.experiments import NOISY, Experiment, Stage, first, sampled, second
from deniable.reproduce.printed import printed
from deniable.reproduce.values import Content, Exhibit, Point, Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SAMPLE_EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0)
_ROUNDS = 20
_PACES = (5, 10, 20)
_DASHED = (0, (5, 3))


def figure_1(setting: Setting) -> Content:
    """What noisy samples reveal, and what they and relaxation are worth."""
    noisy = {each: NoisySampling.symmetric(1, each) for each in _SAMPLE_EPSILONS}
    drawn = {each: sampled(one, 0, 1, _ROUNDS, setting) for each, one in noisy.items()}
    raised = {each: _raised([one.epsilon(k) for k in range(1, _ROUNDS + 1)], setting) for each, one in noisy.items()}
    paced = {rounds: _raised(_linear(rounds), setting) for rounds in _PACES}
    points = [point for held in (drawn, raised, paced) for each in held.values() for point in each]
    return Content(
        described="Three panels over the number of rounds. (a) The ε of noisy samples of a permanent bit with ε = 1 "
        "rises towards 1, the faster the larger the ε of a sample. (b) The variance falls, far faster for relaxation "
        "(dashed) than for noisy samples (solid) that reveal as much. (c) ε goes evenly from 0.1 to 1.0 in different "
        "numbers of rounds, and the variance of relaxation falls.",
        draw=lambda: _figure_1(noisy, drawn, raised, paced),
        points=tuple(points),
        notes=("One person is asked in (b) and (c), as in the document, and simulated many times over.",),
    )


def figure_2(setting: Setting) -> Content:
    """Experiment 6.1."""
    experiment, entry = first(), printed("004-fig2b")
    stages, noisy = experiment.seen(setting)[1], sampled(NOISY, 400, 600, len(experiment.stages), setting)
    attacks = experiment.attacked(setting)
    against = stages[entry.inputs["K"] - 1].variance.theory / noisy[entry.inputs["K"] - 1].theory
    ours = "equal" if math.isclose(against, 1, rel_tol=1e-9) else "smaller" if against < 1 else "larger"
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
            "The document repeats the experiment 100 times; bars in (a) are two standard deviations, as in the "
            "document, and in (b) and (c) two standard errors of ours.",
        ),
    )


def figure_3(setting: Setting) -> Content:
    """Experiment 6.2."""
    experiment = second()
    categories, attacks = experiment.seen(setting), experiment.attacked(setting)
    return Content(
        described="Six panels. (a) to (e): the estimated shares of the values one to five of 1,500 objects, from "
        "ε = 0.1 to 1.0; mean and two standard deviations to each side lie on the theory. (f) The error rates of four "
        "attacks, none below the theoretical minimum.",
        draw=lambda: _figure_3(experiment, categories, attacks),
        points=(*_points(categories), *attacks),
        notes=("Bars in (a) to (e) are two standard deviations, as in the document; in (f) two standard errors.",),
    )


def _linear(rounds: int) -> list[float]:
    """Return the ε of so many rounds from 0.1 to 1.0."""
    return [float(each) for each in np.linspace(0.1, 1.0, rounds).round(12)]


def _raised(epsilons: Sequence[float], setting: Setting) -> list[Point]:
    """Raise the response of one person through these stages, many times over; return the variance at each."""
    (_, ones) = Experiment(family_ladder("k_ary", 2, epsilons), (0, 1)).seen(setting)
    return [stage.variance for stage in ones]


def _points(categories: Sequence[Sequence[Stage]]) -> list[Point]:
    return [point for stages in categories for stage in stages for point in (stage.mean, stage.variance)]


def _figure_1(
    noisy: dict[float, NoisySampling],
    drawn: dict[float, list[Point]],
    raised: dict[float, list[Point]],
    paced: dict[int, list[Point]],
) -> Figure:
    titles = ("(a) ε of noisy samples", "(b) noisy samples and relaxation", "(c) ε from 0.1 to 1 at an even pace")
    figure, (left, middle, right) = panels(titles, x="round", y="variance, one person", width=5)
    left.set_ylabel("ε")
    rounds = range(1, _ROUNDS + 1)
    for colour, (each, one) in zip(LINES, noisy.items(), strict=False):
        line(left, rounds, [one.epsilon(k) for k in rounds], colour, f"ε of a sample {each:g}")
        line(middle, rounds, [point.theory for point in drawn[each]], colour)
        line(middle, rounds, [point.theory for point in raised[each]], colour, style=_DASHED)
        dots(middle, rounds, drawn[each], colour)
        dots(middle, rounds, raised[each], colour, marker="s")
    for colour, (pace, points) in zip(LINES[5:], paced.items(), strict=False):
        line(right, range(1, pace + 1), [point.theory for point in points], colour, f"{pace} rounds", _DASHED)
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
    experiment: Experiment, stages: Sequence[Stage], noisy: Sequence[Point], attacks: Sequence[Point]
) -> Figure:
    titles = ("(a) share of ones: mean and 2σ", "(b) variance", "(c) error rates of attacks")
    figure, (left, middle, right) = panels(titles, x="round", y="estimated share", width=5)
    rounds = range(1, len(stages) + 1)
    _band(left, rounds, stages)
    middle.set_ylabel("variance")
    middle.set_yscale("log")
    relaxed = [stage.variance for stage in stages]
    line(middle, rounds, [point.theory for point in noisy], LINES[1], "noisy samples, theory")
    line(middle, rounds, [point.theory for point in relaxed], LINES[0], "relaxation, theory", _DASHED)
    dots(middle, rounds, noisy, LINES[1], "noisy samples, simulated", "s")
    dots(middle, rounds, relaxed, LINES[0], "relaxation, simulated")
    _attacks(right, experiment.rates, attacks)
    legend(figure, 4)
    return figure


def _figure_3(experiment: Experiment, categories: Sequence[Sequence[Stage]], attacks: Sequence[Point]) -> Figure:
    values = ("one", "two", "three", "four", "five")
    titles = [*(f"({letter}) {value}" for letter, value in zip("abcde", values, strict=True)), "(f) error rates"]
    figure, made = panels(titles, x="ε", y="estimated share", width=4.6, height=3.4, rows=2)
    for axes, stages in zip(made, categories, strict=False):
        _band(axes, experiment.stages.epsilons, stages)
    _attacks(made[-1], experiment.rates, attacks)
    legend(figure, 4)
    return figure


def _band(axes: Axes, x: Sequence[float], stages: Sequence[Stage]) -> None:
    """Draw means with two standard deviations to each side, and the theory of both."""
    means = np.array([stage.mean.theory for stage in stages])
    theory, seen = (np.sqrt([getattr(stage.variance, which) for stage in stages]) for which in ("theory", "simulated"))
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
    axes.axhline(float(rates.bound), color=INK, linestyle=_DASHED, linewidth=1.4, label="smallest error possible")
    axes.plot(places, [point.theory for point in attacks], "_", color=LINES[1], markersize=26, label="exact error rate")
    dots(axes, places, attacks, LINES[0], "simulated error rate", "D")
    axes.set_xticks(places, [point.where.replace(" ", "\n") for point in attacks])
    axes.set_xlim(-0.6, len(attacks) - 0.4)
    axes.set_xlabel("")
    axes.set_ylabel("share of wrong guesses")


FIGURES = (
    Exhibit("gradual", "figure", "1", "Noisy samples against relaxation", figure_1, weight=3),
    Exhibit("gradual", "figure", "2", "Two answers, raised ten times", figure_2, weight=3),
    Exhibit("gradual", "figure", "3", "Five answers, raised ten times", figure_3, weight=4),
)
