"""Random bytes, sizes and times that tell answers apart are found; each check has a rate of false alarms of 10⁻⁹."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable

import numpy as np
import pytest

import deniable as dn
from deniable import chance
from deniable.auditor import side_channels as sides
from deniable.auditor.mechanisms import of_design
from deniable.auditor.side_channels import Meter, random_words, size, time
from deniable.engines import Local
from tests.support import leaky
from tests.unit.auditor.test_randomness import context, sound, told

_PCG, _TWISTER = np.random.default_rng(1), random.Random(2)


@pytest.mark.parametrize(
    ("call", "taken"),
    [
        (lambda: secrets.token_bytes(24), 24),
        (lambda: chance.bits(2), 16),
        (lambda: random.SystemRandom().random(), 7),
        (random.random, 8),
        (lambda: _TWISTER.getrandbits(32), 4),
        (lambda: [_TWISTER.random() for _ in range(400)], 3200),
        (lambda: np.random.bytes(9_000), 9_000),
        (lambda: np.random.random(3), 24),
        (lambda: _PCG.random(5), 40),
        (lambda: None, 0),
    ],
)
def test_bytes_of_every_source_are_counted(
    call: Callable[[], object], taken: int
) -> None:
    meter = Meter(call)
    with meter.count_urandom():
        # from any place in a generator's table
        assert {meter.taken(call) for _ in range(9)} == {taken}


def test_nothing_stays_watched() -> None:
    import os

    before = os.urandom
    with pytest.raises(RuntimeError), Meter(sound).count_urandom():
        raise RuntimeError
    assert os.urandom is before
    assert random._urandom is before  # type: ignore[attr-defined]


def test_one_more_word_for_one_answer_is_found_and_named() -> None:
    found = told(random_words(context(leaky.one_word_more)))
    assert found.violated
    assert found.figures["answer"] == "'2'"
    assert not told(random_words(context(sound))).violated


def test_one_more_word_of_an_engine_is_found() -> None:
    class Wasteful(Local):
        def respond_all(
            self, design: object, answers: object, **options: object
        ) -> object:
            if np.ravel(answers)[0] == "2":
                options["source"].read(8)  # type: ignore[attr-defined]
            return super().respond_all(design, answers, **options)  # type: ignore[arg-type]

    design = dn.k_ary(4, 1)
    assert told(random_words(context(of_design(design, Wasteful())))).violated
    assert not told(random_words(context(design))).violated


def test_words_that_are_thrown_away_for_any_answer_are_no_difference() -> None:
    def rejecting(answer: str) -> str:
        while secrets.randbelow(3) == 0:
            pass
        return sound(answer)

    assert not told(random_words(context(rejecting))).violated


def test_a_size_that_tells_the_answer_is_found() -> None:
    found = told(size(context(leaky.padded_answer)))
    assert found.violated
    assert float(found.figures["epsilon_at_least"] or 0) > 3
    assert not told(size(context(sound))).violated


def test_sizes_that_differ_no_more_than_responses_may_are_none() -> None:
    design = dn.k_ary(["no", "certainly"], 1)
    assert not told(
        size(
            context(
                lambda answer: dn.respond(design, answer).symbol, design.categories
            )
        )
    ).violated


@pytest.mark.parametrize(("longer", "verdict"), [(3.0, True), (1.3, False)])
def test_twice_the_time_counts_and_a_little_more_is_a_remark(
    monkeypatch: pytest.MonkeyPatch, longer: float, verdict: bool
) -> None:
    now = 0.0

    def takes_longer(answer: str) -> str:
        nonlocal now
        now += (longer if answer == "3" else 1.0) * (
            1 + secrets.randbelow(100) / 1000
        )
        return sound(answer)

    monkeypatch.setattr(sides.clock, "perf_counter", lambda: now)
    asked = context(takes_longer, draws=2_000)
    monkeypatch.setattr(sides, "_SECONDS", 10_000.0)
    found = told(time(asked))
    assert found.violated is verdict
    assert ("remark" in found.sentence) is not verdict
    assert found.figures["answer"] == "'3'"
