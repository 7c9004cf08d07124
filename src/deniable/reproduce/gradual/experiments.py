"""Both experiments of the document: who was asked, at which stages, and what repeated surveys show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from deniable.audit import ATTACKS, Rates, error_rates, simulate_attacks
from deniable.engines import law
from deniable.estimate import covariance
from deniable.gradual.design import family_ladder
from deniable.gradual.ladder import Ladder
from deniable.gradual.strings.noisy import NoisySampling
from deniable.reproduce.values import Point, Setting

NOISY = NoisySampling.symmetric(1, 0.5)
"""The noisy samples whose ε the stages of Experiment 6.1 follow."""

_ATTACKED = 8  # people for each repetition


@dataclass(frozen=True)
class Stage:
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

    def seen(self, setting: Setting) -> list[list[Stage]]:
        """Repeat the experiment; return a list of stages for each category."""
        tallies = law.stages(self.stages, list(self.counts), setting.repetitions, draws=setting.generator)
        found: list[list[Stage]] = [[] for _ in self.counts]
        for design, rows in zip(self.stages, tallies, strict=True):
            true = np.array(self.counts) / self.objects
            estimates = law.shares(design, rows, self.objects)
            spread = np.diagonal(covariance(design, true.tolist(), self.objects, population=self.objects))
            for category, stages in enumerate(found):
                name = f"{design.categories[category]} at ε = {design.epsilon:.3g}"
                mean = Point.of(f"mean of {name}", true[category], estimates[:, category])
                squares = (estimates[:, category] - true[category]) ** 2
                stages.append(Stage(mean, Point.of(f"variance of {name}", spread[category], squares)))
        return found

    @cached_property
    def rates(self) -> Rates:
        """The exact error rates of the attacks, and the bound."""
        return error_rates(self.stages)

    def attacked(self, setting: Setting) -> list[Point]:
        """Attack simulated people, as many of each answer on average."""
        people = _ATTACKED * setting.repetitions
        drawn = simulate_attacks(self.stages, people, source=_Bytes(setting.generator))
        return [Point(each, self.rates[each], drawn[each], drawn.standard[each]) for each in ATTACKS]


@cache
def first() -> Experiment:
    """Experiment 6.1: 400 zeros and 600 ones, ten stages at the ε of ten noisy samples."""
    return Experiment(family_ladder("k_ary", 2, [NOISY.epsilon(samples) for samples in range(1, 11)]), (400, 600))


@cache
def second() -> Experiment:
    """Experiment 6.2: five answers, ten stages from ε = 0.1 to 1."""
    return Experiment(family_ladder("k_ary", 5, [f"{i}/10" for i in range(1, 11)]), (100, 200, 300, 400, 500))


def sampled(noisy: NoisySampling, zeros: int, ones: int, rounds: int, setting: Setting) -> list[Point]:
    """Repeat noisy sampling; return the variance of the estimated share of ones after each round."""
    n = zeros + ones
    drawn = law.noisy_samples(noisy, ones, zeros, rounds, setting.repetitions, draws=setting.generator)
    estimates = law.noisy_shares(noisy, drawn, n)
    return [
        Point.of(
            f"noisy sampling, {samples} samples",
            float(noisy.variance(samples, bit=1)) / n,
            (estimates[:, samples - 1] - ones / n) ** 2,
        )
        for samples in range(1, rounds + 1)
    ]


@dataclass(frozen=True)
class _Bytes:
    """A generator as a source of bytes, for simulations that ask for one."""

    generator: np.random.Generator

    def read(self, count: int) -> bytes:
        return self.generator.bytes(count)
