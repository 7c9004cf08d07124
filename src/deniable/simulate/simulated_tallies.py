"""Tallies of designs, decks and ladders drawn in law, and the unbiased shares of many tallies at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.attacks.inference import Chain
from deniable.attacks.simulated import generator, kernel
from deniable.designs import Deck, Design
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Matrix
from deniable.estimates.linear import Linear
from deniable.order.ladders import Ladder
from deniable.types import operation
from deniable.types.categories.simulate import (
    Counts,
    count_cells,
    draw_multinomial,
    draw_without_replacement,
)
from deniable.types.strings.design import NoisySampling

People: TypeAlias = Mapping[str, int] | Sequence[int] | Counts
"""How many people have each answer, by name or in the order of the categories."""


def read_people(categories: Sequence[str], people: People) -> Counts:
    """Read how many people have each answer.

    Raises:
        InvalidRequest: not a whole number of people for each category, or nobody at all.
    """
    labels = list(categories)
    if isinstance(people, Mapping):
        strangers = [name for name in people if name not in labels]
        counts = np.array(
            [0] if strangers else [people.get(name, 0) for name in labels]
        )
    else:
        counts = np.asarray(people)
    if (
        counts.shape != (len(labels),)
        or counts.dtype.kind not in "iu"
        or counts.min() < 0
        or counts.sum() < 1
    ):
        raise InvalidRequest(
            f"these are not numbers of people with each answer; expected {len(labels)} whole numbers, 0 or more.",
            "Give them in the order of the categories, or by name.",
        )
    return counts.astype(np.int64)


def read_repetitions(repetitions: int) -> int:
    """Read a number of repetitions.

    Raises:
        InvalidRequest: not a whole number, or none.
    """
    if (
        isinstance(repetitions, bool)
        or not isinstance(repetitions, int | np.integer)
        or repetitions < 1
    ):
        raise InvalidRequest(
            f"there are {quoted(repetitions)} repetitions; expected a whole number of at least 1."
        )
    return int(repetitions)


def draw_respondents(
    people: Counts,
    repetitions: int,
    respondents: int | None,
    *,
    replaced: bool,
    draws: np.random.Generator,
) -> Counts:
    """Return how many of those who are asked have each answer, in each repetition.

    Raises:
        InvalidRequest: more respondents than people, or a number that is none.
    """
    everybody = int(people.sum())
    n = everybody if respondents is None else respondents
    if (
        isinstance(n, bool)
        or not isinstance(n, int | np.integer)
        or n < 1
        or (n > everybody and not replaced)
    ):
        raise InvalidRequest(
            f"there are {quoted(n)} respondents of {everybody:,} people; expected at least 1, and at most all of them.",
            "With replaced=True the same person may be asked again.",
        )
    if replaced:
        return np.asarray(
            draws.multinomial(n, people / everybody, size=repetitions), np.int64
        )
    all_of_them = np.broadcast_to(people, (repetitions, len(people)))
    return (
        all_of_them
        if n == everybody
        else draw_without_replacement(all_of_them, np.full(repetitions, n), draws)
    )


def tallies(
    design: Design | Deck,
    people: People,
    repetitions: int = 1,
    *,
    respondents: int | None = None,
    replaced: bool = False,
    draws: np.random.Generator | None = None,
) -> Counts:
    """Draw the tallies of many surveys among the same people; return a row of counts for each survey.

    Guarantee: the rows are independent, and each has exactly the law of a tally of individual responses, but for the
    rounding of probabilities to floats.

    Why: responses of independent respondents with one answer add up to multinomial counts, cards that are kept to
    hypergeometric ones. Bits are independent, so that each column is binomial; a diagonal channel keeps an answer with
    probability p − r and otherwise sends any category evenly.

    Args:
        design: what is responded with: a design, or a deck that is dealt.
        people: how many people have each answer, in the order of the categories or by name.
        repetitions: how many surveys.
        respondents: how many of the people are asked each time; all of them (a census), if it is not given.
        replaced: ask independent respondents, of whom one may come twice; otherwise a sample without replacement.
        draws: where the counts come from; by default a generator that begins with the operating system's bytes.

    Raises:
        InvalidRequest: numbers that do not fit, or a channel with too many responses to write out.

    Example:
        >>> from deniable.designs import warner
        >>> drawn = tallies(warner(p="3/4"), {"yes": 253_052, "no": 2_999_547}, 10_000)
        >>> drawn.shape, set(drawn.sum(axis=1).tolist())
        ((10000, 2), {3252599})
    """
    begun = draws or generator()
    by_answer, rows = (
        read_people(design.categories, people),
        read_repetitions(repetitions),
    )
    asked = draw_respondents(
        by_answer, rows, respondents, replaced=replaced, draws=begun
    )
    simulate = operation(design, "simulate_tallies")
    counts: Counts = simulate(design, asked, begun)
    return counts


def stages(
    ladder: Ladder,
    people: People,
    repetitions: int = 1,
    *,
    draws: np.random.Generator | None = None,
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
    chain, rows = Chain.of(ladder), read_repetitions(repetitions)
    begun = draws or generator()
    people_by_answer = read_people(ladder.categories, people)
    last = [np.full((rows, 1), number, np.int64) for number in people_by_answer]
    stage_counts = []
    for at, design in enumerate(ladder):
        last = _draw_next(last, kernel(chain, at), begun)
        stage_counts.append(
            count_cells(design.channel, chain.sent[at], np.sum(last, axis=0))
        )
    return tuple(stage_counts)


def _draw_next(
    last: list[Counts], table: Matrix, draws: np.random.Generator
) -> list[Counts]:
    """Draw, by answer, how many people have each next response, from how many had each last one."""
    return [
        np.sum(
            [
                draw_multinomial(counts[:, old], table[old, answer], draws)
                for old in range(counts.shape[1])
            ],
            axis=0,
        )
        for answer, counts in enumerate(last)
    ]


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
    people_by_bit = read_people(("0", "1"), [zeros, ones])
    begun = draws or generator()
    shape = (read_repetitions(repetitions), read_repetitions(rounds))
    alpha = float(noisy.alpha)
    permanent = begun.binomial(people_by_bit[1], alpha, shape[0]) + begun.binomial(
        people_by_bit[0], 1 - alpha, shape[0]
    )
    zeros_sent = int(people_by_bit.sum()) - permanent
    drawn = [
        begun.binomial(n_bits[:, None], float(p), shape)
        for n_bits, p in ((permanent, noisy.p), (zeros_sent, noisy.q))
    ]
    return np.asarray(drawn[0] + drawn[1], np.int64)


def shares(
    design: Design | Deck,
    tallies: Counts,
    respondents: int,
    *,
    method: str = "inversion",
) -> NDArray[np.float64]:
    """Return the unbiased share of each category, a row for each tally: what `estimate` gives for one of them.

    Args:
        design: what was responded with.
        tallies: a row of counts for each survey.
        respondents: how many responded in each.
        method: "inversion", or "customary" for the estimate that is usual with RAPPOR.

    Raises:
        NotEstimable: the design cannot tell answers apart.
        InvalidRequest: it has no customary estimate.

    Example:
        >>> from deniable.designs import warner
        >>> shares(warner(p="3/4"), np.array([[40, 60], [75, 25]]), 100).tolist()
        [[0.30000000000000004, 0.7], [1.0, 0.0]]
    """
    linear: Linear = operation(design, "tally_inverse")(design, method)
    return np.array([linear.shares(row) for row in tallies / respondents])


def noisy_shares(
    noisy: NoisySampling, ones: Counts, respondents: int
) -> NDArray[np.float64]:
    """Return the unbiased share of true ones after each round, from all samples so far: what `noisy.share` gives.

    Args:
        noisy: how the samples were drawn.
        ones: how many ones each round had, a row for each survey, as `noisy_samples` returns them.
        respondents: how many sent samples.

    Example:
        >>> noisy_shares(NoisySampling.of(1, "3/4", "1/4"), np.array([[60, 80]]), 100).round(6).tolist()
        [[0.7, 0.9]]
    """
    rounds = range(1, ones.shape[1] + 1)
    # The estimate is linear in the mean number of ones: two of its values say all.
    starts = np.array([float(noisy.share(0, samples)) for samples in rounds])
    slopes = (
        np.array([float(noisy.share(1, samples)) for samples in rounds]) - starts
    )
    return np.asarray(starts + slopes * np.cumsum(ones, axis=1) / respondents)
