"""Simulated points lie on their theory, and a theory with a fault planted in it is flagged.

Points that are right stay within 7.5 standard errors (false alarms below 1e-9 for all of them together); faults are
such that their points lie at least 8 standard errors off, so that the limit of 4 misses one of them with 1e-4.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from deniable.attacks.simulated import generator
from deniable.chance import Source
from deniable.designs import Deck, Design
from deniable.plan import variance
from deniable.types.strings.design import NoisySampling
from deniable_papers import cards, gradual
from deniable_papers import gradual as experiments
from deniable_papers.cards import Census
from deniable_papers.values import Content, Exhibit, Setting

FAR = 7.5
FIGURES = [
    exhibit
    for exhibit in (*cards.exhibit, *gradual.exhibit)
    if exhibit.kind == "figure"
]


def made(name: str, source: Source, repetitions: int) -> Content:
    (exhibit,) = (each for each in FIGURES if each.name == name)
    return exhibit.make(Setting(generator(source), repetitions))


@pytest.mark.statistical
@pytest.mark.parametrize("exhibit", FIGURES, ids=lambda exhibit: exhibit.name)
def test_simulated_points_lie_on_their_theory(
    exhibit: Exhibit, seeded: Source
) -> None:
    content = made(exhibit.name, seeded, 2_000)
    assert len(content.points) >= 30
    assert [point for point in content.points if point.distance > FAR] == []


def sampled(self: Census, device: Design | Deck) -> float:
    """The variance for independent respondents, in place of that of a census."""
    return variance(device, self.people, shares=[1 - self.share, self.share])


def put_back(self: Census, device: Design | Deck) -> float:
    """The variance of the same cards, put back."""
    design = device.with_replacement() if isinstance(device, Deck) else device
    return variance(
        design, self.people, shares=[1 - self.share, self.share], population="census"
    )


FAULTS = [
    (
        sampled,
        "cards-figure-1",
        ("Warner, ε = 1", "Simmons, ε = 1", "cards dealt, ε = 0.944"),
    ),
    (
        put_back,
        "cards-figure-1",
        ("cards dealt, ε = 0.944", "cards dealt, ε = 0.08"),
    ),
    (
        put_back,
        "cards-figure-2",
        ("cards dealt, ε = 0.693", "cards dealt, ε = 1.61"),
    ),
    (put_back, "cards-figure-5", ("cards dealt, ε = 0.05", "cards dealt, ε = 0.5")),
]


@pytest.mark.statistical
@pytest.mark.parametrize(("fault", "figure", "found"), FAULTS)
def test_a_wrong_variance_of_cards_is_flagged(
    fault: Callable[[Census, Design | Deck], float],
    figure: str,
    found: tuple[str, ...],
    seeded: Source,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Census, "theory", fault)
    flagged = {point.where for point in made(figure, seeded, 10_000).flagged}
    assert set(found) <= flagged
    assert (
        not any(where.startswith("cards put back") for where in flagged)
        or fault is sampled
    )


@pytest.mark.statistical
def test_the_printed_variance_of_noisy_samples_is_flagged(
    seeded: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eq. (132) as printed, with 1 − β in place of 1 − 2β (erratum 4.2)."""

    def as_printed(self: NoisySampling, samples: int, *, bit: int) -> float:  # noqa: ARG001 - the same for both bits
        permanent = self.p * (1 - self.p) / (
            samples * (1 - self.p) ** 2
        ) + self.alpha * (1 - self.alpha)
        return float(permanent / (2 * self.alpha - 1) ** 2)

    monkeypatch.setattr(NoisySampling, "variance", as_printed)
    flagged = {
        point.where for point in made("gradual-figure-2", seeded, 4_000).flagged
    }
    assert {
        f"noisy sampling, {samples} samples" for samples in range(1, 6)
    } <= flagged
    assert not any(where.startswith("mean") for where in flagged)


@pytest.mark.statistical
def test_a_budget_that_is_off_by_a_fifth_is_flagged(
    seeded: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Theory at the right ε, responses with a fifth less: means move towards the middle."""
    right = experiments.second()
    wrong = experiments.family_ladder(
        "k_ary", 5, [f"{8 * i}/100" for i in range(1, 11)]
    )
    monkeypatch.setattr(
        experiments.law, "stages", _with(experiments.law.stages, wrong)
    )
    one, *_, five = right.seen(Setting(generator(seeded), 4_000))
    assert all(stage.mean.flagged for stages in (one, five) for stage in stages[5:])


def _with(stages: Callable[..., object], ladder: object) -> Callable[..., object]:
    return lambda _, *given, **options: stages(ladder, *given, **options)
