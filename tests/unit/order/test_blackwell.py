from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

import deniable as dn
from deniable.channel import Dense, Diagonal
from deniable.errors import (
    Incompatible,
    InvalidDesign,
    InvalidNumber,
    InvalidRequest,
)
from deniable.order import blackwell, programs
from deniable.order.admissibility import largest_trace, p_unchanged
from deniable.order.blackwell import Garbling, Separation, separation
from tests.support.tables import subset_channel


def test_a_garbling_is_true_and_a_separation_false() -> None:
    assert dn.garbling(dn.warner(p="2/3"), dn.warner(p="3/4"))
    found = dn.garbling(dn.warner(p="3/4"), dn.warner(p="2/3"))
    assert isinstance(found, Separation)
    assert not found
    assert found.coarse > found.fine


def test_the_four_relations() -> None:
    low, high = dn.k_ary(3, p="1/2"), dn.k_ary(3, p="3/4")
    assert dn.compare(low, low).relation == "equal"
    assert dn.compare(high, low).relation == "finer"
    assert dn.compare(low, high).relation == "coarser"
    tilted = dn.matrix(
        [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]
    )
    lopsided = dn.matrix(
        [["9/10", "1/4", "1/4"], ["1/20", "3/8", "3/8"], ["1/20", "3/8", "3/8"]]
    )
    assert dn.compare(tilted, lopsided).relation == "incomparable"


def test_designs_about_other_answers_are_not_compared() -> None:
    with pytest.raises(Incompatible, match="3 and 4 answers"):
        dn.garbling(dn.k_ary(3, 1), dn.k_ary(4, 1))
    with pytest.raises(Incompatible, match="call them differently"):
        dn.compare(dn.warner(1), dn.warner(1, categories=["yes", "no"]))


def test_the_identity_is_written_out_or_told() -> None:
    small = dn.garbling(dn.k_ary(4, 1), dn.k_ary(4, 1))
    assert isinstance(small, Garbling)
    assert isinstance(small.channel, Dense)
    large = dn.garbling(dn.k_ary(10_000, 1), dn.k_ary(10_000, 1))
    assert isinstance(large, Garbling)
    assert large.channel is None
    assert large.recipe == "send the response on as it is"


def test_a_channel_that_says_nothing_can_be_the_fine_one() -> None:
    assert not dn.garbling(Diagonal(3, 2, 1), Diagonal(3, 1, 1))
    assert dn.garbling(Diagonal(3, 1, 1), Diagonal(3, 1, 1))


def test_a_game_that_is_not_won_proves_nothing() -> None:
    channel = dn.warner(p="3/4").channel.dense()
    assert separation({0: (Fraction(1), Fraction(0))}, channel, channel) is None


def test_tables_too_large_for_exact_numbers_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coarse, fine = (
        subset_channel(5, 3, Fraction(2)),
        subset_channel(5, 2, Fraction(5, 2)),
    )
    monkeypatch.setattr(blackwell, "MAX_UNKNOWNS", 50)
    with pytest.raises(InvalidRequest, match="10 with 10 responses over 5 answers"):
        dn.garbling(coarse, fine)


def test_the_exact_simplex_decides_where_floats_point_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def blind(
        mixing: programs.Mixing, target: Sequence[Fraction]
    ) -> tuple[float, list[int], list[float]]:
        assert len(mixing.columns) > 0
        return 0.0, [0], [0.0] * len(target)

    fine = subset_channel(4, 2, Fraction(2))
    monkeypatch.setattr(programs, "_in_floats", blind)
    for gamma, ordered in ((Fraction(3, 2), True), (Fraction(8, 5), False)):
        coarse = subset_channel(4, 1, gamma)
        found = dn.garbling(coarse, fine)
        assert bool(found) == ordered
        if isinstance(found, Garbling):
            assert found.channel is not None
            assert found.channel @ fine == coarse
        else:
            assert separation(found.payoffs, coarse, fine) is not None
    monkeypatch.setattr(blackwell, "MAX_PIVOTED", 100)
    with pytest.raises(InvalidRequest, match="too large to decide"):
        dn.garbling(subset_channel(4, 1, Fraction(3, 2)), fine)


def test_a_solution_that_floats_point_to_must_not_be_negative(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One place, options that contribute 1, 2 and 4, the target 3: of the first two, −1 and 2 would do."""
    one = Fraction(1)
    mixing = programs.Mixing(
        [{0: one}, {0: 2 * one}, {0: 4 * one}], [0, 0, 0], (3 * one,), (2 * one,)
    )
    too_large = InvalidRequest("too large")
    monkeypatch.setattr(programs, "_in_floats", lambda *_: (0.0, [0, 1], [0.0]))
    found = programs.decide(mixing, too_large=too_large, most_pivoted=100)
    assert isinstance(found, programs.Feasible)
    assert min(found.point) >= 0
    assert sum(found.point) == 1
    assert found.point[0] + 2 * found.point[1] + 4 * found.point[2] == 3
    with pytest.raises(InvalidRequest, match="too large"):
        programs.decide(mixing, too_large=too_large, most_pivoted=1)


def test_the_trace_of_k_ary_is_the_largest() -> None:
    for k, gamma in ((2, Fraction(3)), (5, Fraction(4)), (100, Fraction(5, 2))):
        design = dn.k_ary(k, p=gamma / (gamma + k - 1))
        assert k * p_unchanged(design) == largest_trace(k, gamma)
    with pytest.raises(InvalidNumber, match="at least 1"):
        largest_trace(3, "1/2")
    with pytest.raises(InvalidDesign, match="at least 2"):
        largest_trace(1, 2)


def test_an_unchanged_answer_needs_the_categories_as_symbols() -> None:
    assert p_unchanged(dn.binary("9/10", "7/10")) == Fraction(4, 5)
    assert p_unchanged(
        dn.k_ary(4, p="1/2").channel, ["1/4", "1/4", "1/4", "1/4"]
    ) == Fraction(1, 2)
    with pytest.raises(InvalidDesign, match="not the categories"):
        p_unchanged(dn.hadamard(4, 1))
    with pytest.raises(InvalidDesign, match="not the categories"):
        p_unchanged(
            dn.matrix(
                [["1/2", "1/4"], ["1/2", "3/4"]],
                categories=["a", "b"],
                symbols=["x", "y"],
            )
        )
    with pytest.raises(InvalidNumber, match="expected 2 numbers"):
        p_unchanged(dn.warner(1), ["1/2", "1/4"])
