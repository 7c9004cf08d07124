"""Which design can follow which, and what is said where one cannot."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

import deniable as dn
from deniable.channel import Mixture, Subset
from deniable.designs import Design, best_t
from deniable.errors import Incompatible, InvalidRequest, InvalidResponse, NotOrdered
from deniable.order import programs
from deniable.order.bits import Bit, BitByBit, bit_garbling
from deniable.order.blackwell import by_sizes
from deniable.order.closed_forms import find_closed_form
from deniable.order.relaxation import (
    best_ladder,
    best_sizes,
    extend,
    family_ladder,
    ladder,
    relax,
)
from deniable.order.sets import Nested
from deniable.order.steps import KeepOrFresh
from tests.support.subset_order import bridge_weight, smallest_gamma

UNORDERED: dict[str, tuple[Design, Design]] = {
    "k-ary, falling": (dn.k_ary(3, 2), dn.k_ary(3, 1)),
    "two answers": (dn.binary("9/10", "8/10"), dn.binary("8/10", "9/10")),
    "a smaller set": (dn.subset(6, t=2, p="3/5"), dn.subset(6, t=1, p="4/9")),
    "a smaller set, as k-ary": (dn.subset(6, t=2, p="3/5"), dn.k_ary(6, p="4/9")),
    "a larger set": (dn.subset(5, t=1, p="5/10"), dn.subset(5, t=3, p="9/10")),
    "sets, falling": (dn.subset(5, t=2, p="8/10"), dn.subset(5, t=2, p="6/10")),
    "bits, falling": (dn.rappor(4, epsilon=2), dn.rappor(4, epsilon=1)),
    "mixtures": (
        dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=1),
        dn.mixture(4, {1: 1}, epsilon="11/10"),
    ),
    "Hadamard, falling": (dn.hadamard(3, 2), dn.hadamard(3, 1)),
    "hashing, falling": (
        dn.local_hashing(5, 2, values=3),
        dn.local_hashing(5, 1, values=3),
    ),
    "tables": (dn.rr3_dagger("8/10", "6/10"), dn.rr3_dagger("6/10", "8/10")),
    "one of two attributes": (
        dn.product([dn.warner(1), dn.warner(2)]),
        dn.product([dn.warner(2), dn.warner(1)]),
    ),
}


@pytest.mark.parametrize("name", sorted(UNORDERED))
def test_what_cannot_follow_is_refused_with_a_proof(name: str) -> None:
    old, new = UNORDERED[name]
    with pytest.raises(NotOrdered, match="cannot be raised") as refused:
        relax(old, new)
    proof = refused.value.proof
    assert proof is not None
    assert proof.coarse > proof.fine  # who sees the coarser design wins the game
    assert "game" in refused.value.problem
    assert refused.value.hint


@pytest.mark.parametrize(
    ("one", "zero"),
    [("9/8", "1/8"), ("1/8", "9/8"), ("-1/8", "1/2"), ("1/2", "-1/8")],
    ids="".join,
)
def test_bits_that_only_one_bound_keeps_apart_cannot_follow(
    one: str, zero: str
) -> None:
    """C would send a 1 with a probability above 1, or below 0, for one of the finer bit's two values."""
    fine, impossible = (
        Bit(Fraction(7, 10), Fraction(3, 10)),
        Bit(Fraction(one), Fraction(zero)),
    )
    assert bit_garbling(impossible.after(fine), fine) is None
    coarse = impossible.after(fine)
    if coarse.hit > coarse.stray:
        old, new = (
            dn.unary(["a", "b"], p=each.hit, q=each.stray) for each in (coarse, fine)
        )
        with pytest.raises(NotOrdered, match="cannot be raised"):
            relax(old, new)


@pytest.mark.parametrize("name", sorted(set(UNORDERED) - {"one of two attributes"}))
def test_the_nearest_designs_can_follow(name: str) -> None:
    old, new = UNORDERED[name]
    with pytest.raises(NotOrdered) as refused:
        relax(old, new)
    assert refused.value.nearest
    for design in refused.value.nearest:
        assert relax(old, design).new == design
        assert repr(design) in refused.value.hint


def test_the_first_advice_for_sets_is_the_bridge_at_the_same_epsilon() -> None:
    old, new = UNORDERED["a smaller set"]
    with pytest.raises(NotOrdered) as refused:
        relax(old, new)
    between, raised = refused.value.nearest
    assert between.parity <= new.parity
    assert float(between.channel.weight(2)) == pytest.approx(
        float(bridge_weight(6, 2, 3, 1, 4)), abs=1e-15
    )
    assert (
        smallest_gamma(6, 2, 3, 1)
        <= raised.parity
        < smallest_gamma(6, 2, 3, 1) + Fraction(1, 10**15)
    )


def test_single_categories_stay_single_in_advice() -> None:
    with pytest.raises(NotOrdered) as refused:
        relax(*UNORDERED["a smaller set, as k-ary"])
    assert [design.name for design in refused.value.nearest] == ["mixture", "k_ary"]


def test_the_error_survives_a_pickle() -> None:
    with pytest.raises(NotOrdered) as refused:
        relax(dn.warner(2), dn.warner(1))
    again = pickle.loads(pickle.dumps(refused.value))
    assert (type(again), again.problem, again.hint) == (
        NotOrdered,
        refused.value.problem,
        refused.value.hint,
    )


def test_other_categories_are_refused() -> None:
    with pytest.raises(Incompatible, match="call them differently"):
        relax(dn.warner(1), dn.k_ary(["yes", "no"], 2))
    with pytest.raises(Incompatible, match="3 and 4"):
        relax(dn.k_ary(3, 1), dn.k_ary(4, 2))


@pytest.mark.parametrize("k", [3, 5, 8])
def test_the_smallest_gamma_is_where_sets_begin_to_follow(k: int) -> None:
    for t1 in range(1, k):
        for t2 in range(1, k):
            least = smallest_gamma(k, t1, Fraction(3, 2), t2)
            if not isinstance(least, Fraction):
                continue
            old = Subset(k, t1, 3 * t1, 3 * t1 + 2 * (k - t1))
            for gamma, follows in (
                (least, True),
                (least - Fraction(1, 1000), False),
            ):
                share = t2 * gamma / (t2 * gamma + k - t2)
                new = Subset(k, t2, share.numerator, share.denominator)
                assert (find_closed_form(old, new) is not None) == follows


def test_the_program_agrees_with_the_closed_form_and_proves_the_contrary() -> None:
    for t1, p1 in ((2, "3/5"), (1, "1/2"), (3, "9/10"), (2, "2/5")):
        for t2, p2 in ((1, "2/3"), (2, "3/4"), (3, "1/2"), (1, "1/10")):
            old, new = (
                dn.subset(4, t=t1, p=p1).channel,
                dn.subset(4, t=t2, p=p2).channel,
            )
            found = by_sizes(old, new)
            assert bool(found) == (find_closed_form(old, new) is not None)
            if isinstance(found, Nested):
                assert found.verify()
            else:
                assert found.coarse > found.fine


def test_too_many_sizes_are_not_compared() -> None:
    with pytest.raises(InvalidRequest, match="too large"):
        relax(dn.unary(40, epsilon=1), dn.subset(40, epsilon=9))


def test_best_ladders_are_reachable_and_keep_their_epsilon() -> None:
    epsilons = [0.2, 0.4, 0.8, 1.2, 1.6, 2.4]
    for k in (4, 10, 50):
        stages = best_ladder(k, epsilons)
        assert all(
            design.epsilon <= e for design, e in zip(stages, epsilons, strict=True)
        )
        assert all(
            design.epsilon > e - 1e-6
            for design, e in zip(stages, epsilons, strict=True)
        )
        assert stages.joint_parity == stages.designs[-1].parity


def test_sizes_that_are_best_by_themselves_are_not_always_reachable() -> None:
    gammas = [Fraction(3, 2), 2, 3, 4, 6, 10]
    found = best_sizes(10, gammas)
    assert found.sizes == (4, 3, 3, 2, 2, 2)
    assert [best_t(10, gamma) for gamma in gammas] == [4, 3, 3, 2, 1, 1]
    with pytest.raises(InvalidRequest, match="do not rise"):
        best_sizes(10, [3, 2])
    with pytest.raises(InvalidRequest):
        best_sizes(10, [])


def test_a_hundred_thousand_categories() -> None:
    one, two = (
        dn.subset(100_000, epsilon=1, t=30_000),
        dn.subset(100_000, epsilon="3/2", t=12_000),
    )
    with pytest.raises(NotOrdered):
        relax(one, two)
    step = relax(one, dn.subset(100_000, epsilon=2, t=12_000)).step
    assert isinstance(step, Nested)
    drawn = step.upgrade(one.channel.draw(7), 7)
    assert drawn.bit_count() == 12_000
    assert isinstance(
        relax(dn.k_ary(10**6, 1), dn.k_ary(10**6, 2)).step, KeepOrFresh
    )
    assert isinstance(relax(dn.unary(10**5, 1), dn.unary(10**5, 2)).step, BitByBit)


def test_ladders_by_family() -> None:
    assert [type(step) for step in family_ladder("rappor", 4, [1, 2, 3]).steps] == [
        BitByBit,
        BitByBit,
    ]
    assert family_ladder("subset", 10, [0.5, 1]) == best_ladder(10, [0.5, 1])
    assert family_ladder("subset", 4, [1, 2], t=2).designs[1] == dn.subset(
        4, epsilon=2, t=2
    )
    with pytest.raises(InvalidRequest, match="expected one of"):
        family_ladder("coin", 4, [1])
    with pytest.raises(InvalidRequest, match="does not take"):
        family_ladder("warner", 2, [1], colour="red")
    with pytest.raises(InvalidRequest, match="no stages"):
        ladder([])
    with pytest.raises(NotOrdered):
        family_ladder("k_ary", 4, [2, 1])


def test_a_design_follows_itself_and_changes_nothing() -> None:
    step = relax(dn.k_ary(3, 1), dn.k_ary(3, 1)).step
    assert [step.upgrade(old, 1) for old in (0, 1, 2)] == [0, 1, 2]
    assert [step.degrade(new) for new in (0, 1, 2)] == [0, 1, 2]


def test_a_ladder_grows_by_stages_that_nobody_knew_of() -> None:
    stages = extend(ladder([dn.k_ary(4, 1)]), dn.k_ary(4, 2))
    assert len(stages) == 2
    assert stages.epsilons == (1.0, 2.0)
    with pytest.raises(NotOrdered):
        extend(stages, dn.k_ary(4, "3/2"))


def test_an_impossible_earlier_response_is_refused_without_the_answer() -> None:
    rung = relax(dn.exposing_binary("1/10"), dn.direct())
    with pytest.raises(
        InvalidResponse, match="none that this respondent can have sent"
    ) as refused:
        rung.step.upgrade(1, 0)
    assert "no" not in refused.value.problem.split("'")[1:]


def test_mixtures_of_two_sizes_step_by_a_linear_program() -> None:
    one, two = (dn.mixture(5, {1: "1/2", 3: "1/2"}, epsilon=e) for e in (1, 2))
    step = relax(one, two).step
    assert isinstance(step, Nested)
    assert isinstance(step.new, Mixture)
    assert step.verify()


def test_where_floats_point_nowhere_the_exact_program_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = (
        dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=e).channel for e in (1, 2)
    )
    monkeypatch.setattr(
        programs, "_in_floats", lambda _, target: (0.0, [], [0.0] * len(target))
    )
    found = by_sizes(one, two)
    assert isinstance(found, Nested)
    assert found.verify()


def test_sets_that_are_never_sent_lead_nowhere() -> None:
    step = relax(dn.subset(4, t=2, p="3/5"), dn.subset(4, t=1, p="3/5")).step
    assert step.garbling(0b1110, 0b0001) == 0


def test_shares_that_do_not_add_up_do_not_verify() -> None:
    step = relax(dn.subset(4, t=2, p="3/5"), dn.subset(4, t=1, p="3/5")).step
    assert isinstance(step, Nested)
    (share,) = step.shares
    assert not Nested(
        step.old, step.new, (share._replace(free=share.free + 1),)
    ).verify()
    assert not Nested(
        step.old, step.new, (share._replace(near=-share.near),)
    ).verify()


def test_the_stand_alone_epsilon_is_the_sum_and_no_cost() -> None:
    rung = relax(dn.warner(epsilon=1), dn.warner(epsilon=2))
    assert rung.alone_epsilon == pytest.approx(3)
