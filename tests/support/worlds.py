"""The exact law of a tally, by going through everything that a few people can send; and a test of draws against it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable.channel import Channel
from deniable.designs import Deck, Design
from deniable.order.ladders import Ladder

Tally = tuple[int, ...]
Law = dict[Tally, Fraction]

FALSE_ALARM = 1e-9


def added(one: Tally, two: Tally) -> Tally:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def in_cells(channel: Channel, response: int) -> Tally:
    cells = set(channel.cells_of(response))
    return tuple(int(each in cells) for each in range(channel.cells))


def responses(channel: Channel) -> list[int]:
    return [each for each in range(channel.responses) if channel.possible(each)]


def one_response(channel: Channel, answer: int) -> Law:
    return {
        in_cells(channel, each): channel.probability(each, given=answer)
        for each in responses(channel)
    }


def one_history(ladder: Ladder, answer: int) -> Law:
    """What one person adds to the tallies of all stages, one behind the other."""
    channels = [design.channel for design in ladder]
    return {
        sum(
            (
                in_cells(channel, each)
                for channel, each in zip(channels, history, strict=True)
            ),
            (),
        ): chance
        for history in product(*map(responses, channels))
        if (chance := ladder.probability(history, given=answer))
    }


def together(one: Callable[[int], Law], people: Sequence[int]) -> Law:
    """The law of the sum, where `people[answer]` respond independently."""
    size = len(next(iter(one(0))))
    law: Law = {(0,) * size: Fraction(1)}
    for answer, number in enumerate(people):
        each = one(answer)
        for _ in range(number):
            grown: Law = defaultdict(Fraction)
            for (held, p), (more, q) in product(law.items(), each.items()):
                grown[added(held, more)] += p * q
            law = grown
    return {tally: chance for tally, chance in law.items() if chance}


def samples(
    people: Sequence[int], respondents: int, *, replaced: bool
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Every sample with its probability."""
    everybody = sum(people)
    for drawn in product(range(respondents + 1), repeat=len(people)):
        if sum(drawn) != respondents:
            continue
        if replaced:
            ways = Fraction(
                math.factorial(respondents), math.prod(map(math.factorial, drawn))
            )
            chance = ways * math.prod(
                (
                    Fraction(k, everybody) ** d
                    for k, d in zip(people, drawn, strict=True)
                )
            )
        else:
            ways = Fraction(
                math.prod(
                    math.comb(k, d) for k, d in zip(people, drawn, strict=True)
                )
            )
            chance = ways / math.comb(everybody, respondents)
        if chance:
            yield drawn, chance


def of_design(design: Design, people: Sequence[int]) -> Law:
    return together(lambda answer: one_response(design.channel, answer), people)


def of_ladder(ladder: Ladder, people: Sequence[int]) -> Law:
    return together(lambda answer: one_history(ladder, answer), people)


def of_deck(deck: Deck, people: Sequence[int]) -> Law:
    """Card by card: what is left in the deck and what was sent so far."""
    states: dict[tuple[Tally, Tally], Fraction] = {
        (deck.counts, (0,) * deck.numbers): Fraction(1)
    }
    for member in [False] * people[0] + [True] * people[1]:
        grown: dict[tuple[Tally, Tally], Fraction] = defaultdict(Fraction)
        for (left, sent), chance in states.items():
            for card in (k for k in range(deck.numbers) if left[k]):
                number = deck.numbers - 1 - card if member else card
                after = tuple(count - (k == card) for k, count in enumerate(left))
                more = tuple(count + (k == number) for k, count in enumerate(sent))
                grown[after, more] += chance * Fraction(left[card], sum(left))
        states = grown
    law: Law = defaultdict(Fraction)
    for (_, sent), chance in states.items():
        law[sent] += chance
    return dict(law)


def mixed(laws: Iterable[tuple[Law, Fraction]]) -> Law:
    law: Law = defaultdict(Fraction)
    for each, chance in laws:
        for tally, p in each.items():
            law[tally] += p * chance
    return dict(law)


def assert_tallies_follow(law: Law, rows: NDArray[np.int64]) -> None:
    """Fail where a tally comes too often or too seldom, by the exact binomial region of each; false alarms at 1e-9."""
    assert sum(law.values()) == 1
    seen = Counter(map(tuple, rows.tolist()))
    strangers = set(seen) - set(law)
    assert not strangers, (
        f"tallies that cannot be do not follow the law: {sorted(strangers)[:3]}"
    )
    tail = FALSE_ALARM / len(law) / 2
    for tally, chance in law.items():
        low, high = (
            binom.ppf(tail, len(rows), float(chance)),
            binom.isf(tail, len(rows), float(chance)),
        )
        assert max(low, 0) <= seen[tally] <= high, (
            f"{tally} came {seen[tally]} times: it does not follow the law"
        )
