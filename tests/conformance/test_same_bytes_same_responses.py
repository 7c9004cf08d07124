"""Scalar, NumPy and Numba: the same bytes in, the same responses out, and the same number of bytes taken."""

from __future__ import annotations

from importlib import import_module

import pytest

from deniable.bulk import vectors
from deniable.bulk.draws import Draw, prepare
from deniable.chance import words_for
from deniable.channel import Dense, Diagonal, Product
from deniable.designs import Design
from tests.support.hands import (
    HARD,
    Counted,
    engine,
    everybody,
    leaves,
    planted,
    scalar,
)
from tests.support.registered import parameters
from tests.support.seeded import seeded

N = 1_500


def has_codes(design: Design) -> bool:
    return design.channel.responses <= 1 << 64


designs = pytest.mark.parametrize(
    "design",
    [
        *parameters(has_codes),
        *(pytest.param(design, id=name) for name, design in HARD.items()),
    ],
)
hands = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "numba"])


def check(design: Design, n: int, script: bytes, *, fast: bool) -> None:
    answers = everybody(design, n)
    found = engine(design, answers, Counted(script, seeded("the rest")), fast=fast)
    assert found == scalar(design, answers, Counted(script, seeded("the rest")))
    assert len(found[0]) == n


@designs
@hands
def test_random_bytes(design: Design, fast: bool) -> None:
    check(design, N, b"", fast=fast)


@designs
@hands
def test_bytes_on_the_edge_of_every_decision(design: Design, fast: bool) -> None:
    check(design, N, planted(design, N, seeded("planted")), fast=fast)


@designs
@hands
def test_chunks_and_blocks_of_odd_sizes(
    design: Design, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("vectors", "kernels"):
        monkeypatch.setattr(import_module(f"deniable.bulk.{name}"), "CHUNK", 17)
    check(design, 333, planted(design, 333, seeded("odd")), fast=fast)


@designs
def test_no_design_of_known_parts_is_left_to_the_slow_path(design: Design) -> None:
    known = all(
        isinstance(leaf, Dense | Diagonal) for leaf in leaves(design.channel)
    )
    assert (type(prepare(design.channel, vectors)) is Draw) <= (not known)


def test_the_hard_designs_are_hard() -> None:
    """They cover what they are there for; otherwise the tests above would pass without having looked."""
    parts = [
        leaf
        for design in HARD.values()
        for leaf in leaves(design.channel)
        if isinstance(leaf, Dense | Diagonal)
    ]
    words = {(type(leaf), words_for(leaf.total)) for leaf in parts}
    assert words >= {
        (Diagonal, 1),
        (Diagonal, 2),
        (Diagonal, 3),
        (Dense, 1),
        (Dense, 2),
    }
    assert any(
        isinstance(d.channel, Product) and isinstance(d.channel.factors[0], Product)
        for d in HARD.values()
    )
    choosy = {
        (type(leaf), words_for(leaf.total))
        for leaf in parts
        if (1 << 64 * words_for(leaf.total)) % leaf.total
    }
    assert choosy >= {(Diagonal, 1), (Diagonal, 2), (Dense, 1), (Dense, 2)}
    sums = [
        column for leaf in parts if isinstance(leaf, Dense) for column in leaf.sums
    ]
    assert any(column[0] == 0 for column in sums)
    assert any(column[-2] == column[-1] for column in sums)


@pytest.mark.parametrize(
    "name", ["two words, some thrown away", "a product of one and two words"]
)
def test_planted_bytes_are_thrown_away(name: str) -> None:
    design = HARD[name]
    needed = 8 * N * sum(words_for(leaf.total) for leaf in leaves(design.channel))  # type: ignore[attr-defined]
    source = Counted(planted(design, N, seeded("planted")), seeded("the rest"))
    assert scalar(design, everybody(design, N), source)[1] > needed
