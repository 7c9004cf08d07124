"""Ladders and repeated samples, drawn in law: what one person sends at one stage hangs on the stage before."""

from __future__ import annotations

import numpy as np

from deniable.audit.attacks import Chain
from deniable.audit.simulated_attacks import generator, kernel
from deniable.order.ladders import Ladder
from deniable.records.strings.designs import NoisySampling
from deniable.simulate.people import Counts, People, read_people, repeated
from deniable.simulate.tallies import in_cells, spread


def stages(
    ladder: Ladder, people: People, repetitions: int = 1, *, draws: np.random.Generator | None = None
) -> tuple[Counts, ...]:
    """Draw the tallies of every stage: those of one survey, in the same row of each, belong to the same people.

    Why: of the people with one answer, those with the same response are alike, so that their next responses are
    multinomial counts under the step's own probabilities. All that is carried along is how many have each answer and
    each last response.

    Args:
        ladder: the stages.
        people: how many people have each answer, in the order of the categories or by name.
        repetitions: how many surveys.
        draws: where the counts come from; by default a generator that begins with the operating system's bytes.

    Raises:
        InvalidRequest: numbers that do not fit, or designs with too many responses to write their steps out.

    Example:
        >>> from deniable.designs import k_ary
        >>> from deniable.order.relaxation import ladder
        >>> drawn = stages(ladder(k_ary(3, epsilon=e) for e in (1, 2)), [50, 30, 20], 400)
        >>> [each.shape for each in drawn], int(drawn[1][0].sum())
        ([(400, 3), (400, 3)], 100)
    """
    chain, rows = Chain.of(ladder), repeated(repetitions)
    begun = generator() if draws is None else draws
    there = read_people(ladder.categories, people)
    last = [np.full((rows, 1), number, np.int64) for number in there]  # by answer: how many had each response before
    found = []
    for at, design in enumerate(ladder):
        table = kernel(chain, at)
        last = [
            np.sum([spread(held[:, old], table[old, answer], begun) for old in range(held.shape[1])], axis=0)
            for answer, held in enumerate(last)
        ]
        found.append(in_cells(design.channel, chain.sent[at], np.sum(last, axis=0)))
    return tuple(found)


def noisy_samples(
    noisy: NoisySampling,
    ones: int,
    zeros: int,
    rounds: int,
    repetitions: int = 1,
    *,
    draws: np.random.Generator | None = None,
) -> Counts:
    """Draw how many ones each round of noisy samples has; a row for each survey, a column for each round.

    Args:
        noisy: how the permanent bit and its samples are drawn.
        ones: how many people have a true 1.
        zeros: how many have a true 0.
        rounds: how many samples everybody sends.
        repetitions: how many surveys.
        draws: where the counts come from; by default a generator that begins with the operating system's bytes.

    Raises:
        InvalidRequest: numbers that do not fit.

    Example:
        >>> noisy_samples(NoisySampling.of("3/4", "3/4", "1/2"), 600, 400, 10, 100).shape
        (100, 10)
    """
    there = read_people(("0", "1"), [zeros, ones])
    begun, shape = generator() if draws is None else draws, (repeated(repetitions), repeated(rounds))
    alpha = float(noisy.alpha)
    permanent = begun.binomial(there[1], alpha, shape[0]) + begun.binomial(there[0], 1 - alpha, shape[0])
    others = int(there.sum()) - permanent
    drawn = [begun.binomial(held[:, None], float(p), shape) for held, p in ((permanent, noisy.p), (others, noisy.q))]
    return np.asarray(drawn[0] + drawn[1], np.int64)
