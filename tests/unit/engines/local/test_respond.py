from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from deniable.bulk import backend, vectors
from deniable.bulk.draws import Draw, ThresholdDraw, prepare
from deniable.chance import SYSTEM, ScriptedSource, Source
from deniable.channel import Product
from deniable.channel.coding import code_type
from deniable.designs import Design, hadamard, k_ary, warner
from deniable.engines import local
from deniable.errors import InvalidRequest, MissingExtra, OutOfRandomness
from tests.support.hands import HARD, Counted, around, engine, everybody, scalar
from tests.support.seeded import seeded


def test_responses_are_codes_in_the_smallest_type() -> None:
    for size, kind in [
        (2, "uint8"),
        (256, "uint8"),
        (257, "uint16"),
        (65_536, "uint16"),
        (65_537, "uint32"),
    ]:
        drawn = local.draw_all(k_ary(size, epsilon=1), np.zeros(10, np.int64))
        assert drawn.dtype == kind == code_type(size)
        assert drawn.max() < size


def test_the_default_source_is_secure_and_fresh() -> None:
    design = k_ary(1000, epsilon=1)
    answers = np.zeros(100, np.uint16)
    assert (
        local.draw_all(design, answers).tolist()
        != local.draw_all(design, answers).tolist()
    )


@pytest.mark.parametrize(
    "source", [SYSTEM, local.Keystream()], ids=["system", "keystream"]
)
def test_any_source_will_do(source: Source) -> None:
    assert local.draw_all(warner(1), [0, 1] * 10, source=source).size == 20


def test_answers_are_not_changed() -> None:
    answers = np.arange(1000, dtype=np.uint8) % 5
    answers.flags.writeable = False
    before = answers.copy()
    for fast in (False, True):
        local.draw_all(k_ary(5, epsilon=1), answers, fast=fast)
        assert (answers == before).all()


@pytest.mark.parametrize("fast", [False, True])
def test_several_threads_answer_every_row(
    fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With this p a response is its answer, but once in 10^15 rows: so every row has its own."""
    for name in ("vectors", "kernels"):
        monkeypatch.setattr(import_module(f"deniable.bulk.{name}"), "CHUNK", 1000)
    design = k_ary(200, p="0.999999999999999999")
    answers = np.arange(50_500) % 200
    assert (
        local.draw_all(design, answers, threads=3, fast=fast).tolist()
        == answers.tolist()
    )


def test_several_threads_do_not_share_a_given_source() -> None:
    with pytest.raises(InvalidRequest, match="expected threads=1 with a source"):
        local.draw_all(warner(1), [0], source=ScriptedSource(b""), threads=2)


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2", None])
def test_threads_are_a_positive_whole_number(threads: Any) -> None:
    for run in (local.draw_all, local.tally, local.draw_stream, local.tally_stream):
        with pytest.raises(
            InvalidRequest, match="expected a whole number, 1 or more"
        ):
            run(warner(1), np.array([0]), threads=threads)


def test_an_error_in_a_thread_reaches_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise OutOfRandomness("none left")

    monkeypatch.setattr(local.Keystream, "fill", broken)
    with pytest.raises(OutOfRandomness, match="none left"):
        local.draw_all(warner(1), [0, 1], threads=2)


def test_a_script_that_is_too_short() -> None:
    with pytest.raises(OutOfRandomness, match="holds 8 bytes; expected at least 16"):
        local.draw_all(warner(1), [0, 1], source=ScriptedSource(bytes(8)))


def check(design: Design) -> None:
    answers = everybody(design, 300)
    found = engine(design, answers, Counted(b"", seeded("one by one")), fast=False)
    assert found == scalar(design, answers, Counted(b"", seeded("one by one")))


class Unknown(type(warner(1).channel)):  # type: ignore[misc]
    """A kind of channel that nobody registered."""


@pytest.fixture
def strange() -> Design:
    return around(Unknown(3, 14, 3))


def test_an_unregistered_channel_is_drawn_from_one_by_one(strange: Design) -> None:
    assert type(prepare(strange.channel, vectors)) is Draw
    check(strange)


def test_a_product_with_an_unregistered_factor(strange: Design) -> None:
    design = around(Product((warner(1).channel, strange.channel)))
    assert type(prepare(design.channel, vectors)) is Draw
    check(design)


def test_a_ladder_that_would_be_too_long_is_not_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    design = HARD["two words, some thrown away"]
    assert isinstance(prepare(design.channel, vectors), ThresholdDraw)
    monkeypatch.setattr("deniable.bulk.draws.MAX_THRESHOLDS", 999)
    assert type(prepare(design.channel, vectors)) is Draw
    check(design)


def test_more_responses_than_codes_can_number() -> None:
    with pytest.raises(InvalidRequest, match="more than 2\\^64 responses"):
        code_type((1 << 64) + 1)
    assert code_type(1 << 64) == np.uint64


@pytest.fixture
def without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "deniable.bulk.kernels", raising=False)
    monkeypatch.delattr(local, "kernels", raising=False)


@pytest.fixture
def without_numba(without_kernels: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - a fixture
    monkeypatch.setitem(sys.modules, "numba", None)


@pytest.mark.usefixtures("without_numba")
def test_demanding_kernels_without_numba() -> None:
    with pytest.raises(MissingExtra, match="need Numba") as caught:
        local.draw_all(warner(1), [0], fast=True)
    assert "pip install 'deniable[fast]'" in caught.value.hint


@pytest.mark.usefixtures("without_numba")
def test_without_numba_numpy_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "ROWS_WORTH_COMPILING", 10)
    assert local.draw_all(warner(1), [0] * 20).size == 20
    assert local.tally(warner(1), np.zeros(20, np.uint8)).respondents == 20


@pytest.mark.usefixtures("without_kernels")
def test_numba_is_loaded_for_many_rows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "ROWS_WORTH_COMPILING", 10)
    assert backend.choose_backend(None, 9) is vectors
    assert backend.choose_backend(False, 10) is vectors
    kernels = backend.choose_backend(None, 10)
    assert kernels is not vectors
    assert backend.choose_backend(None, 1) is kernels  # loaded already
    assert backend.choose_backend(False, 10) is vectors


@pytest.mark.usefixtures("without_kernels")
def test_a_numba_that_cannot_be_imported_is_done_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backend, "_COMPILED", "deniable.bulk.broken")
    assert backend.choose_backend(None, backend.ROWS_WORTH_COMPILING) is vectors


def test_engines_are_found_by_name() -> None:
    import deniable

    assert deniable.engines.local is local
    with pytest.raises(AttributeError, match="no attribute 'cloud'"):
        _ = deniable.engines.cloud


@pytest.mark.parametrize("bits", [39, 40, 41, 48, 52])
def test_very_many_responses_are_drawn_as_one_by_one(bits: int) -> None:
    """Up to 2^40 responses kernels divide by multiplying; from about 2^52 on that would be off by one."""
    size = 2**bits - 1
    design = hadamard(size, epsilon=1)
    answers = np.random.default_rng(bits).integers(size, size=400)
    source = seeded("very many responses")
    drawn = [design.channel.draw(answer, source) for answer in answers.tolist()]
    for fast in (False, True):
        rows = local.draw_all(
            design,
            answers,
            codes=True,
            source=seeded("very many responses"),
            fast=fast,
        )
        assert design.channel.coding.unpack(rows) == drawn, fast
