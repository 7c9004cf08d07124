"""Sets of categories, in rationals: every closed form against the table written out, every draw against its law."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from math import comb, prod

import pytest

from deniable.chance import TOTAL, ScriptedSource
from deniable.channel import Bits, Mixture, Sets, Subset, from_body
from deniable.channel.sets import DIGITS, fill
from deniable.designs import (
    best_t,
    mixture_risk,
    rappor_weights,
    subset_information,
    subset_risk,
    truncated_rappor,
    unary,
)
from deniable.exact import exp_below
from tests.support import brute
from tests.support.positions import script
from tests.support.rational import Table, applied, identity, table, times, transposed
from tests.support.sets import SMALL, TELLING

every_small = pytest.mark.parametrize("channel", SMALL.values(), ids=SMALL.keys())
GAMMAS = [Fraction(1), Fraction(3, 2), Fraction(5)]


@every_small
def test_columns_add_up_and_parity_is_brute_force(channel: Sets) -> None:
    rows = table(channel)
    assert [sum(column) for column in transposed(rows)] == [1] * channel.size
    assert channel.parity == brute.parity(rows)
    witness = channel.witness
    assert any(rows[witness.response])
    row = rows[witness.response]
    assert (
        brute.quotient(row[witness.likely], row[witness.unlikely]) == channel.parity
    )


@every_small
@pytest.mark.parametrize("gamma", GAMMAS)
def test_delta_is_the_largest_excess(channel: Sets, gamma: Fraction) -> None:
    columns = transposed(table(channel))
    excess = max(
        sum(max(Fraction(0), a - gamma * b) for a, b in zip(one, two, strict=True))
        for one, two in permutations(columns, 2)
    )
    assert channel.delta(gamma) == excess


@every_small
def test_extremes_and_bayes_factors_are_brute_force(channel: Sets) -> None:
    rows = table(channel)
    for response, row in enumerate(rows):
        assert channel.possible(response) == any(row)
        assert (
            channel.coding.impossible(channel.coding.pack([response])) is None
        ) == any(row)
        assert channel.extremes(response) == (max(row), min(row))
        for answer in range(channel.size):
            rest = [each for j, each in enumerate(row) if j != answer]
            assert channel.extremes(response, besides=answer) == (
                max(rest),
                min(rest),
            )
            assert channel.bayes_factors(response, answer) == brute.bayes_factors(
                rows, response, answer
            )


@every_small
def test_sizes_do_not_depend_on_the_answer(channel: Sets) -> None:
    rows = table(channel)
    for ones in channel.sizes:
        sent = [i for i in range(channel.responses) if i.bit_count() == ones]
        for answer in range(channel.size):
            weight = sum((rows[i][answer] for i in sent), Fraction(0))
            assert channel.weight(ones) == weight
            assert channel.inclusion(ones) * weight == sum(
                rows[i][answer] for i in sent if i >> answer & 1
            )


@every_small
def test_bodies_come_back_the_same(channel: Sets) -> None:
    assert from_body(channel.to_body()) == channel


def picks(size: int, steps: int) -> Iterator[bytes]:
    """Yield words for every combination of picks."""
    totals = range(size - steps, size)
    for chosen in product(*map(range, totals)):
        yield b"".join(
            script(position, total)
            for position, total in zip(chosen, totals, strict=True)
        )


@pytest.mark.parametrize(
    ("size", "ones"), [(k, t) for k in range(2, 7) for t in range(k + 1)]
)
def test_a_fill_gives_every_set_equally_often(size: int, ones: int) -> None:
    for steps in {min(ones, size - ones), size // 2}:
        for given, inside in product(range(size), (False, True)):
            if not inside <= ones <= size - (not inside):
                continue
            counts: Counter[int] = Counter()
            for words in picks(size, steps):
                source = ScriptedSource(words)
                counts[
                    fill(size, ones, given, source, inside=inside, steps=steps)
                ] += 1
                assert source.used == len(words)
            wanted = {
                s
                for s in range(1 << size)
                if s.bit_count() == ones and bool(s >> given & 1) == inside
            }
            assert counts.keys() == wanted
            assert len(set(counts.values())) == 1


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, channel in SMALL.items()
        if isinstance(channel, Subset | Mixture)
    ],
)
def test_every_position_once_gives_every_set_its_weight(name: str) -> None:
    channel = SMALL[name]
    assert isinstance(channel, Subset | Mixture)
    heads = 2 if isinstance(channel, Mixture) else 1
    number = channel.total**heads * prod(
        range(channel.size - channel.steps, channel.size)
    )
    for answer in range(channel.size):
        counts: Counter[int] = Counter()
        for positions in product(range(channel.total), repeat=heads):
            head = b"".join(
                script(position, channel.total) for position in positions
            )
            counts.update(
                channel.draw(answer, ScriptedSource(head + words))
                for words in picks(channel.size, channel.steps)
            )
        assert {r: Fraction(counts[r], number) for r in counts} == {
            r: channel.probability(r, given=answer) for r in counts
        }
        assert sum(counts.values()) == number


def coins(ones: list[int]) -> bytes:
    return b"".join(each.to_bytes(8, "little") for each in ones)


@pytest.mark.parametrize(
    "channel", [each for each in SMALL.values() if isinstance(each, Bits)]
)
def test_digits_add_up_to_the_probability(channel: Bits) -> None:
    """The i-th coin comes first with probability 2^-i, and no coin of eight with 2^-8."""
    for weight in range(channel.total + 1):
        head, rest = channel.digits(weight)
        assert 0 <= rest <= channel.total
        law = sum(
            Fraction(head >> DIGITS - i & 1, 2**i) for i in range(1, DIGITS + 1)
        )
        assert law + Fraction(rest, channel.total * 2**DIGITS) == Fraction(
            weight, channel.total
        )


@pytest.mark.parametrize("place", range(DIGITS))
def test_a_coin_decides_by_its_digit(place: int) -> None:
    channel = unary(5, epsilon=1, optimized=True).channel
    assert isinstance(channel, Bits)
    hit, stray = (
        channel.digits(weight)[0] >> DIGITS - 1 - place & 1
        for weight in (channel.hit, channel.stray)
    )
    for answer in range(5):
        words = coins([0] * place + [31] + [31] * (DIGITS - 1 - place))
        drawn = channel.draw(answer, ScriptedSource(words))
        assert drawn == sum((hit if j == answer else stray) << j for j in range(5))


def test_open_bits_are_decided_by_exact_draws_from_the_lowest_up() -> None:
    channel = Bits(3, 2, 1, 3)
    rests = {True: channel.digits(2)[1], False: channel.digits(1)[1]}
    for answer in range(3):
        for positions in product(range(3), repeat=3):
            words = coins([0] * DIGITS) + b"".join(
                script(position, 3) for position in positions
            )
            drawn = channel.draw(answer, ScriptedSource(words))
            assert drawn == sum(
                (each < rests[j == answer]) << j for j, each in enumerate(positions)
            )


def test_coins_behind_the_last_category_decide_nothing() -> None:
    channel = Bits(3, 2, 1, 3)
    words = coins([(1 << 64) - 8] * DIGITS)
    rest = b"".join(script(2, 3) for _ in range(3))
    source = ScriptedSource(words + rest)
    assert channel.draw(0, source) == 0
    assert source.used == len(words + rest)


@pytest.mark.parametrize(
    ("k", "t"), [(k, t) for k in (3, 4, 5) for t in range(1, k)]
)
def test_the_gram_matrix_of_subsets(k: int, t: int) -> None:
    gamma = Fraction(3)
    channel = Subset(k, t, 3 * t, 3 * t + k - t)
    rows = tuple(row for row in table(channel) if any(row))
    assert channel.parity == gamma
    assert len(rows) == channel.sets == comb(k, t)
    a = subset_information(k, t, gamma)
    gram = times(transposed(rows), rows)
    for i, j in product(range(k), repeat=2):
        assert comb(k, t) * gram[i][j] == a * (i == j) + (1 - a / k)


def best_at_even_shares(channel: Sets, a: Fraction) -> Table:
    """L_j = 1/k + (P_zj / λ_z − 1)/a, for each response that occurs."""
    k = channel.size
    rows = [row for row in table(channel) if any(row)]
    return transposed(
        tuple(
            tuple(Fraction(1, k) + (k * p / sum(row) - 1) / a for p in row)
            for row in rows
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, channel in TELLING.items()
        if channel.parity not in (0, float("inf"))
    ],
)
def test_the_minimax_estimate_is_unbiased_and_its_risk_is_flat(name: str) -> None:
    channel, k = TELLING[name], TELLING[name].size
    rows = tuple(row for row in table(channel) if any(row))
    means = [sum(row) / k for row in rows]
    spread = sum(
        (
            row[0] * (row[0] - row[1]) / mean
            for row, mean in zip(rows, means, strict=True)
        ),
        Fraction(0),
    )
    left = best_at_even_shares(channel, spread)
    assert times(left, rows) == identity(k)
    for shares in ([Fraction(1, k)] * k, [Fraction(1)] + [Fraction(0)] * (k - 1)):
        sent = applied(rows, shares)
        square = sum(
            p * sum(column[i] ** 2 for column in left) for i, p in enumerate(sent)
        )
        assert square == (k - 1) / spread + Fraction(1, k)


def test_risk_functions_are_the_theory() -> None:
    shares = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
    a = subset_information(4, 2, 3)
    assert subset_risk(4, 2, 3, shares=shares) == 3 / a + Fraction(1, 4) - sum(
        p * p for p in shares
    )
    mixed = mixture_risk(4, 3, {1: "1/2", 2: "1/2"}, shares=shares)
    both = (subset_information(4, 1, 3) + a) / 2
    assert mixed == 3 / both + Fraction(1, 4) - sum(p * p for p in shares)
    assert subset_information(4, 0, 3) == subset_information(4, 4, 3) == 0
    assert subset_risk(4, 0, 3) == float("inf")


@pytest.mark.parametrize("k", [2, 3, 4, 7, 10, 23])
def test_the_best_t_has_the_smallest_risk(k: int) -> None:
    for gamma in [Fraction(g, 10) for g in (11, 15, 20, 30, 47, 60, 123, 500)]:
        risks = {t: subset_risk(k, t, gamma) for t in range(1, k)}
        smallest = min(risks.values())
        assert best_t(k, gamma) == min(t for t in risks if risks[t] == smallest)


def test_two_sizes_tie_where_the_document_says_one_is_best() -> None:
    assert (
        subset_risk(10, 1, 6)
        == subset_risk(10, 2, 6)
        == mixture_risk(10, 6, {1: "1/3", 2: "2/3"})
    )
    assert best_t(10, 6) == 1


@pytest.mark.parametrize(
    ("k", "f"), [(2, "1/3"), (4, "1/3"), (5, "2/5"), (6, "3/4")]
)
def test_rappor_is_a_mixture_of_subsets(k: int, f: str) -> None:
    flip = Fraction(f)
    total = flip.denominator
    channel = Bits(k, total - flip.numerator, flip.numerator, total)
    gamma = ((1 - flip) / flip) ** 2
    weights = rappor_weights(k, f)
    for t in range(k + 1):
        assert abs(weights[t] - channel.weight(t)) < Fraction(1, 10**50)
        if 0 < t < k:
            assert channel.inclusion(t) == t * gamma / (t * gamma + k - t)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_truncated_rappor_is_rappor_given_neither_end(k: int) -> None:
    plain, cut = Bits(k, 2, 1, 3), truncated_rappor(k, f="1/3").channel
    kept = 1 - plain.weight(0) - plain.weight(k)
    for response in range(1, (1 << k) - 1):
        for answer in range(k):
            ideal = plain.probability(response, given=answer) / kept
            assert abs(cut.probability(response, given=answer) - ideal) <= Fraction(
                4, TOTAL
            )
    assert cut.probability(0, given=0) == cut.probability((1 << k) - 1, given=0) == 0
    assert cut.parity <= 4


@pytest.mark.parametrize("epsilon", ["1/1000", "1/2", 1, 3, 12])
def test_bits_from_epsilon_spend_it_all_and_not_more(epsilon: str | int) -> None:
    below = exp_below(epsilon)
    for optimized in (False, True):
        channel = unary(7, epsilon, optimized=optimized).channel
        assert isinstance(channel, Bits)
        assert channel.parity <= below
        nearer = (
            Bits(7, channel.hit, channel.stray - 1, channel.total)
            if channel.total == TOTAL
            else None
        )
        assert nearer is None or nearer.parity > below * (1 - Fraction(1, 2**50))
