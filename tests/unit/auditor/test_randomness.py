"""Repeats and dependence are found where they are planted, and not in fresh draws.

Fresh draws are from seeded sources; each check is given a rate of false alarms of 10⁻⁹.
"""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.auditor import (
    CheckContext,
    Finding,
    mechanism,
    of_command,
    of_pairs,
    of_respondents,
)
from deniable.auditor.randomness import (
    PLACES,
    common_run,
    dependence,
    digests,
    low_order_bits,
    repeats,
)
from tests.support import leaky
from tests.support.seeded import Seeded

FALSE_ALARM = 1e-9


def context(
    thing: object, answers: Sequence[object] = leaky.FOUR, draws: int = 40_000
) -> CheckContext:
    return CheckContext(
        mechanism(thing),
        tuple(answers),
        epsilon=1,
        draws=draws,
        false_alarm=FALSE_ALARM,
        source=Seeded("audit"),
    )


def told(found: Finding | None) -> Finding:
    assert found is not None
    return found


def test_a_common_run_is_found_wherever_it_stands_and_in_any_part() -> None:
    rng = np.random.default_rng(1)
    some, others = (rng.integers(0, 2, (1000, 3)).tolist() for _ in range(2))
    assert common_run(digests(some), digests(others), level=FALSE_ALARM) is None
    shifted = others[:400] + some[100:300] + others[600:]
    assert common_run(digests(some), digests(shifted), level=FALSE_ALARM) is not None
    for row, other in zip(some, others, strict=True):
        other[1] = row[1]
    found = common_run(digests(some), digests(others), level=FALSE_ALARM)
    assert found is not None
    assert found[0] == 2  # the whole is 0, the second part 2


def test_runs_of_draws_that_hardly_vary_are_no_repeats() -> None:
    rare = [["no"] * 1000, ["no"] * 999 + ["ja"]]
    assert common_run(digests(rare[0]), digests(rare[1]), level=FALSE_ALARM) is None


def test_independent_sequences_share_no_run() -> None:
    """Of 200 pairs of biased coins at a rate of 1/10 no more than twice as many as promised share a run."""
    rng = np.random.default_rng(2)
    drawn = [digests((rng.random(200) < 0.3).tolist()) for _ in range(400)]
    shared = sum(
        common_run(a, b, level=0.1) is not None
        for a, b in zip(drawn[::2], drawn[1::2], strict=True)
    )
    assert shared <= 40


K_ARY = dn.k_ary(4, 1)


def sound(answer: str) -> str:
    return dn.respond(K_ARY, answer).symbol


def test_fresh_draws_repeat_nowhere() -> None:
    found = told(repeats(context(sound)))
    assert not found.violated
    assert set(found.figures.values()) == {"fresh"}
    assert list(found.figures) == list(PLACES)


@pytest.mark.parametrize(
    ("leak", "places"),
    [
        (leaky.stale_after_fork, {"in forked children"}),
        (leaky.constant_key, {"in forked children", "after restarts"}),
    ],
)
def test_stale_and_constant_keys_are_found(
    leak: Callable[[str], object], places: set[str]
) -> None:
    found = told(repeats(context(leak)))
    assert found.violated
    assert {
        place for place, figure in found.figures.items() if "repeated" in str(figure)
    } == places


def seeded_in_each_call(answers: Sequence[object]) -> list[object]:
    rng = random.Random(7)
    return [rng.random() < 0.7 for _ in answers]


class Parts:
    """Responses of three parts: one is constant, one is the same in each call, one is fresh."""

    name = "parts"

    def __init__(self, order: Sequence[int]) -> None:
        self.order = order
        self.rng = random.Random(8)

    def responses(self, answers: Sequence[object]) -> list[object]:
        stale = random.Random(7)
        rows = [(0, stale.randrange(4), self.rng.randrange(4)) for _ in answers]
        return [tuple(row[part] for part in self.order) for row in rows]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_part_that_never_varies_hides_no_repeats_of_others(
    order: Sequence[int],
) -> None:
    found = told(repeats(context(Parts(order), ["no"])))
    assert found.violated
    assert f"part {order.index(1) + 1} of" in found.sentence


class Bulk:
    name = "bulk"

    def responses(self, answers: Sequence[object]) -> list[object]:
        return seeded_in_each_call(answers)


def test_a_key_that_every_call_begins_with_is_found() -> None:
    found = told(repeats(context(Bulk())))
    assert found.violated
    assert "from call to call" in found.sentence


def test_a_generator_for_each_thread_with_one_seed_is_found() -> None:
    kept = threading.local()

    def same_in_threads(_: str) -> bool:
        if not hasattr(kept, "rng"):
            kept.rng = random.Random(3)
        return kept.rng.random() < 0.7

    assert "repeated" in str(
        told(repeats(context(same_in_threads))).figures["in threads"]
    )


def test_respondents_who_are_all_made_with_one_seed_are_found() -> None:
    def make() -> Callable[[str], object]:
        rng = random.Random(5)
        return lambda _: rng.random() < 0.7

    assert "repeated" in str(
        told(repeats(context(of_respondents(make)))).figures["after restarts"]
    )


def test_a_command_with_a_constant_seed_is_found() -> None:
    program = "import random, sys; random.seed(1)\nfor _ in sys.stdin: print(random.getrandbits(2))"
    found = told(repeats(context(of_command(["python3", "-c", program]))))
    assert found.violated
    assert "left out" in str(found.figures["in forked children"])


def test_what_depends_on_the_draw_or_the_answer_before_is_found() -> None:
    found = told(dependence(context(leaky.alternating_low_bit, "01")))
    assert found.violated
    assert "the one 1 before it" in found.sentence
    found = told(dependence(context(leaky.previous_answer, draws=80_000)))
    assert found.violated
    assert "the answer before" in found.sentence


@pytest.mark.parametrize(
    "design", [dn.warner(1), dn.unary(8, 1), dn.subset(8, 1), dn.k_ary(64, 1)]
)
def test_draws_of_ours_depend_on_nothing_before(design: dn.Design) -> None:
    asked = context(design, design.categories)
    assert not told(dependence(asked)).violated


def test_biased_low_order_bits_of_seeds_are_found() -> None:
    def seed(answer: str) -> tuple[str, int]:
        return answer, secrets.randbits(64)

    def biased(answer: str) -> tuple[str, int]:
        return answer, secrets.randbits(64) & ~4 | 4 * (secrets.randbelow(10) < 6)

    assert not told(low_order_bits(context(seed))).violated
    found = told(low_order_bits(context(biased)))
    assert found.violated
    assert found.figures["bit"] == 2
    assert low_order_bits(context(sound)) is None


@pytest.mark.parametrize("bit", [0, 15])
@pytest.mark.parametrize("percent", [1, 10, 90, 99])
def test_low_order_bits_that_are_nearly_constant_are_found(
    bit: int, percent: int
) -> None:
    def biased(answer: str) -> tuple[str, int]:
        one = secrets.randbelow(100) < percent
        return answer, secrets.randbits(64) & ~(1 << bit) | one << bit

    found = told(low_order_bits(context(biased)))
    assert found.violated
    assert found.figures["bit"] == bit


def test_a_fixed_sample_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("answer,response\n0,0\n1,1\n")
    for check in (repeats, dependence, low_order_bits):
        assert check(context(of_pairs(path), "01")) is None
