"""Mixtures of patterns: probabilities, draws, counts and estimates against the table of all responses."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import deniable as dn
from deniable import channel as channels
from deniable.attacks import swing
from deniable.chance import ScriptedSource
from deniable.channel import Dense, Patterns
from deniable.channel.patterns import LikelihoodLevel, LikelihoodPattern, Weighted
from deniable.designs import Bitstrings
from deniable.engines import local
from deniable.errors import InvalidDesign, InvalidRequest, InvalidResponse
from deniable.estimates import covariance, left_inverse
from deniable.estimates.linear import written_inverse
from deniable.tallies.stored.forms import category_form
from tests.support.paths import distribution
from tests.support.seeded import seeded

F = Fraction


def pattern(*levels: tuple[int, int]) -> LikelihoodPattern:
    return LikelihoodPattern(tuple(LikelihoodLevel(*level) for level in levels))


MIXED = Patterns.of(
    [
        Weighted(2, pattern((3, 1), (1, 2), (1, 5))),
        Weighted(1, pattern((4, 1), (1, 3))),
        Weighted(3, pattern((3, 1), (1, 3), (1, 4))),
    ]
)
CHANNELS = {
    "three patterns, two of equal numbers": MIXED,
    "a level for each": Patterns.of([Weighted(1, pattern((1, 1), (1, 2), (1, 3)))]),
    "exposing": Patterns.of(
        [Weighted(9, pattern((2, 1), (2, 3))), Weighted(1, pattern((3, 0), (1, 1)))]
    ),
    "two answers": Patterns.of(
        [Weighted(1, pattern((1, 1), (1, 3))), Weighted(2, pattern((1, 1), (1, 2)))]
    ),
}
every = pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)


@cache
def sent(channel: Patterns) -> list[int]:
    return [
        number for number in range(channel.responses) if channel.possible(number)
    ]


def table(channel: Patterns) -> list[list[Fraction]]:
    return [
        [channel.probability(number, given=j) for j in range(channel.size)]
        for number in sent(channel)
    ]


def design_of(channel: Patterns) -> dn.Design:
    names = tuple("abcde"[: channel.size])
    return dn.Design("patterns", names, Bitstrings(channel.n_bits), channel)


@every
def test_what_it_reveals_is_what_brute_force_finds(channel: Patterns) -> None:
    rows = table(channel)
    assert len(rows) == sum(part.pattern.orders for part in channel.parts)
    assert all(sum(column) == 1 for column in zip(*rows, strict=True))
    written = Dense.from_rows(rows)
    assert channel.parity == written.parity
    for gamma in (F(1), F(3, 2), F(2), F(3), F(7)):
        assert channel.delta(gamma) == written.delta(gamma)
    response, likely, unlikely = channel.witness
    own, other = (channel.probability(response, given=j) for j in (likely, unlikely))
    assert own == channel.parity * other or other == 0
    on_top = sum(
        row[0]
        for row, number in zip(rows, sent(channel), strict=True)
        if number >> channel.n_bits - channel.size & 1
    )
    assert channel.level_rates[-1][0] == on_top
    assert channels.from_body(channel.to_body()) == channel


@every
def test_the_draw_has_these_probabilities(channel: Patterns) -> None:
    for answer in range(channel.size):
        assert distribution(channel, answer) == {
            number: channel.probability(number, given=answer)
            for number in sent(channel)
            if channel.probability(number, given=answer)
        }


def test_as_many_words_are_taken_whatever_the_answer_is() -> None:
    for script in (b"\0" * 400, b"\xfe" * 400, bytes(range(200)) * 2):
        sources = [ScriptedSource(script) for _ in range(5)]
        for answer, source in enumerate(sources):
            MIXED.draw(answer, source)
        assert len({source.used for source in sources}) == 1


@every
def test_rows_are_counted_and_others_are_refused(channel: Patterns) -> None:
    coding, possible = channel.coding, sent(channel)
    numbers = [possible[at % len(possible)] for at in range(100)]
    rows = coding.pack(numbers)
    cells = np.zeros(channel.cells, np.int64)
    for number in numbers:
        cells[list(channel.cells_of(number))] += 1
    assert np.array_equal(coding.count(rows), cells)
    assert coding.add_up(cells, 100)
    assert not coding.add_up(cells, 101)
    accepted = [
        number
        for number in range(channel.responses)
        if coding.impossible(coding.pack([number])) is None
    ]
    assert accepted == possible
    design = design_of(channel)
    label = design.symbols[
        next(n for n in range(1, channel.responses) if n not in possible)
    ]
    with pytest.raises(InvalidResponse):
        dn.tally(design, [label])
    with pytest.raises(InvalidRequest, match="within each other"):
        category_form(design, labels=False)


@pytest.mark.parametrize("fast", [False, True])
def test_bulk_draws_and_counts_are_those_of_single_responses(fast: bool) -> None:
    design, answers = design_of(MIXED), np.arange(200) % 5
    alone, together = seeded("one by one"), seeded("one by one")
    single = [MIXED.draw(answer, alone) for answer in answers.tolist()]
    rows = local.draw_all(design, answers, codes=True, source=together, fast=fast)
    assert MIXED.coding.unpack(rows) == single
    by_label = dn.tally(design, [design.symbols[number] for number in single])
    assert np.array_equal(dn.tally(design, rows).counts, by_label.counts)
    assert dn.Tally.from_json(by_label.to_json(), design) == by_label


@every
def test_the_estimate_is_the_best_unbiased_one_at_even_shares(
    channel: Patterns,
) -> None:
    rows, numbers = np.array(table(channel), float), sent(channel)
    inverse, size = left_inverse(channel), channel.size
    cells = np.zeros((len(numbers), channel.cells))
    for at, number in enumerate(numbers):
        cells[at, list(channel.cells_of(number))] = 1
    scores = np.array([inverse.shares(row) for row in cells]).T
    written = written_inverse(Dense.from_rows(table(channel)), None).inverse
    np.testing.assert_allclose(scores @ rows, np.eye(size), atol=1e-12)
    np.testing.assert_allclose(scores, written, atol=1e-9)
    shares = np.arange(1, size + 1) / (size * (size + 1) / 2)
    sent_shares = rows @ shares
    np.testing.assert_allclose(
        inverse.expected(shares), sent_shares @ cells, atol=1e-14
    )
    np.testing.assert_allclose(
        covariance(design_of(channel), shares.tolist(), 1),
        (scores * sent_shares) @ scores.T - np.outer(shares, shares),
        atol=1e-9,
    )


def test_fabricated_responses_move_it_as_far_as_their_scores() -> None:
    design, inverse = design_of(MIXED), left_inverse(MIXED)
    tally = dn.tally(design, [design.symbols[number] for number in sent(MIXED)] * 2)
    unit = np.zeros((len(sent(MIXED)), MIXED.cells))
    for at, number in enumerate(sent(MIXED)):
        unit[at, list(MIXED.cells_of(number))] = 1
    pulls = sorted([*(float(inverse.shares(row)[0]) for row in unit)] * 2)
    n = len(pulls)
    (low, high), *_ = swing(tally, 1 / n + 1e-9)
    assert low == pytest.approx((sum(pulls) - pulls[-1]) / (n - 1))
    assert high == pytest.approx((sum(pulls) - pulls[0]) / (n - 1))


def test_what_is_no_pattern_is_refused() -> None:
    good = MIXED.parts[1].pattern
    for parts in (
        (),
        (Weighted(6, pattern((4, 1), (2, 3))),),
        (Weighted(3, good), Weighted(3, good)),
        (Weighted(6, pattern((5, 1))),),
    ):
        with pytest.raises(InvalidDesign, match="patterns do not fit"):
            Patterns(5, parts, 6)
    for levels in (((4, 3), (1, 1)), ((4, 0), (1, 0)), ((0, 1), (5, 3))):
        with pytest.raises(InvalidDesign, match="do not rise"):
            Patterns(5, (Weighted(6, pattern(*levels)),), 6)
    with pytest.raises(InvalidDesign, match="do not add up"):
        Patterns(5, (Weighted(5, good),), 6)
