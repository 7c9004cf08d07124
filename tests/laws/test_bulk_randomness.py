"""Every bulk path draws with the randomness of the operating system, only with it, and never twice with the same."""

from __future__ import annotations

import inspect
import itertools
import os
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.engines import local
from deniable.engines.local import drawn, gradual, key_value, numbers, steps, strings, words
from deniable.engines.local.bulk import Responder
from deniable.engines.local.edges import Edges
from deniable.order.bits import BitByBit
from deniable.order.relaxation import ladder, relax
from deniable.records.edges.designs import one_edge
from deniable.records.key_value.designs import lpp_club, pckv_grr, pckv_ue
from deniable.records.numbers.designs import Range, number_design
from deniable.records.strings.designs import Bloom, NoisySampling, string_design

N = 2_000
EQUAL = np.zeros(N, np.uint8)
BITS = np.zeros((N, 4), np.uint8)

COARSE, FINE = dn.k_ary(5, epsilon=1), dn.k_ary(5, epsilon=2)
RUNG = relax(COARSE, FINE)
BIT_RUNG = relax(dn.rappor(32, epsilon=1), dn.rappor(32, epsilon=2))
DESIGNS = {
    "k-ary": COARSE,
    "two answers": dn.warner(1),
    "a table": dn.binary("9/10", "7/10"),
    "bits": dn.unary(30, epsilon=1),
    "sets": dn.subset(30, epsilon=1),
    "a mixture": dn.truncated_rappor(12, epsilon=1),
    "Hadamard": dn.hadamard(30, epsilon=1),
    "hashing": dn.local_hashing(30, epsilon=1),
    "several attributes": dn.product([dn.warner(1), dn.k_ary(3, 1)]),
    "one by one": dn.k_ary(1 << 23, p="0.1234567"),
}
EVERYBODY = Edges(N, 3, np.arange(N + 1), np.zeros(N, np.int64), np.zeros(N))
MIDDLE = Edges(N, 3, np.arange(N + 1), np.zeros(N, np.int64), np.full(N, 0.5) - 0.5)
DRAWN = dn.drawn_items([dn.warner(1), dn.warner(1)])
BLOOM = Bloom(64, 2, 8)
STRINGS = [string_design(BLOOM, each) for each in (1, 2)]
NOISY = NoisySampling.symmetric("3/4", "3/4")


def encoded() -> strings.Encoded:
    return strings.encode(STRINGS[0].bloom, ["equal"] * N, np.zeros(N, np.int64))


PATHS: dict[str, Callable[[], Any]] = {
    **{
        f"bulk.draw_all, {name}": lambda design=design: local.draw_all(design, EQUAL)
        for name, design in DESIGNS.items()
    },
    "bulk.draw_all, two threads": lambda: local.draw_all(COARSE, np.zeros(1 << 21, np.uint8), threads=2),
    "bulk.respond_all": lambda: local.respond_all(COARSE, EQUAL).columns["response"],
    "engine.Local, categories": lambda: column(COARSE, ["0"] * N),
    "engine.Local, stages": lambda: column(ladder([COARSE, FINE]), ["0"] * N, "stage 1"),
    "engine.Local, items": lambda: column(pckv_grr(["tea", "milk"], 1), [{"tea": 0.5}] * N),
    "engine.Local, edges": lambda: column(one_edge(["a", "b"], 1), [{"a": 0.5}] * N),
    "engine.Local, strings": lambda: column(STRINGS[0], ["equal"] * N),
    "engine.Local, numbers": lambda: column(number_design(0, 1, epsilon=1), [0.5] * N),
    "engine.Local, drawn items": lambda: column(DRAWN, [{"1": "yes", "2": "yes"}] * N),
    "engine.Local, a deck": lambda: column(dn.integer_deck(N, 1), ["no"] * N),
    "bulk.draw_stream": lambda: np.concatenate(list(local.draw_stream(COARSE, [EQUAL[:77], EQUAL[77:]]))),
    "bulk.Responder": lambda: Responder(COARSE).draw(EQUAL),
    "gradual.upgrade": lambda: gradual.upgrade(RUNG, EQUAL, EQUAL),
    "gradual.upgrade, bits": lambda: gradual.upgrade(BIT_RUNG, BITS, EQUAL),
    "gradual.degrade": lambda: gradual.degrade(RUNG, EQUAL),
    "gradual.release_planned": lambda: np.stack(gradual.release_planned(ladder([COARSE, FINE]), EQUAL)),
    "gradual.upgrade_stream": lambda: np.concatenate(list(gradual.upgrade_stream(RUNG, [(EQUAL, EQUAL)]))),
    "gradual.upgrade_bits": lambda: gradual.upgrade_bits(bit_step(), BITS, BITS),
    "gradual.Raiser": lambda: gradual.Raiser(RUNG).upgrade(EQUAL, EQUAL),
    "key_value.draw_all, one item": lambda: key_value.draw_all(lpp_club(3, 1), EVERYBODY),
    "key_value.draw_all, every item": lambda: key_value.draw_all(pckv_ue(3, 1), EVERYBODY),
    "key_value.draw_all, an item or nothing": lambda: key_value.draw_all(pckv_grr(3, 1), EVERYBODY),
    "key_value.draw_all, one edge": lambda: key_value.draw_all(one_edge(["a", "b", "c"], 1), MIDDLE),
    "key_value.collect": lambda: key_value.collect(lpp_club(1000, 1), Edges(N, 1000, *one_item_each())).counts,
    "numbers.round_values": lambda: numbers.round_values(Range.of(0, 1), np.full(N, 0.5)),
    "steps.toss_rows": lambda: steps.toss_rows(32, bit_step().raised, BITS, BITS),
    "strings.draw_cohorts": lambda: strings.draw_cohorts(STRINGS[0].bloom, N),
    "strings.respond": lambda: strings.respond(STRINGS[0], encoded()),
    "strings.permanent": lambda: strings.permanent(NOISY, STRINGS[0].bloom, encoded()),
    "strings.sample": lambda: strings.sample(NOISY, STRINGS[0].bloom, encoded().truths),
    "strings.upgrade": lambda: strings.upgrade(*STRINGS, strings.respond(STRINGS[0], encoded()), encoded()),
    "drawn.draw_all": lambda: drawn.draw_all(DRAWN, {"1": EQUAL, "2": EQUAL}),
    "words.below_all": lambda: words.below_all(3, N),
    "words.shuffled": lambda: words.shuffled(N),
}


def column(design: Any, answers: list[Any], name: str = "response") -> Any:
    return local.Local().respond_all(design, answers).columns[name]


def bit_step() -> BitByBit:
    assert isinstance(BIT_RUNG.step, BitByBit)
    return BIT_RUNG.step


def one_item_each() -> tuple[Any, Any, Any]:
    return np.arange(N + 1), np.arange(N) % 1000, np.zeros(N)


every_path = pytest.mark.parametrize("draw", PATHS.values(), ids=PATHS.keys())


def test_every_function_that_takes_a_source_is_here() -> None:
    for home in (each.name for each in pkgutil.iter_modules(local.__path__)):
        module = import_module(f"deniable.engines.local.{home}")
        for name, each in vars(module).items():
            own = callable(each) and getattr(each, "__module__", "") == module.__name__ and not name.startswith("_")
            taken = inspect.signature(each).parameters.get("source") if own else None
            if taken is not None and taken.default is None and name != "check_threads":  # which draws nothing
                assert any(path.partition(",")[0] == f"{home}.{name}" for path in PATHS), f"{home}.{name}"


@every_path
def test_two_calls_with_equal_answers_differ(draw: Callable[[], Any]) -> None:
    """Two thousand draws of one answer agree with a chance below 2^-200 unless they come from the same words."""
    assert not np.array_equal(draw(), draw())


@pytest.mark.parametrize(
    "draw", [pytest.param(draw, id=name) for name, draw in PATHS.items() if not name.endswith(("threads", "a deck"))]
)  # which thread takes which rows is not fixed, and a deck is shuffled as a respondent draws
def test_all_randomness_is_that_of_the_operating_system(
    draw: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its bytes fixed everything is, so that nothing else is mixed in; and each call takes a whole key of it."""
    taken: list[int] = []

    def fixed(count: int) -> bytes:
        taken.append(count)
        return bytes(count)

    monkeypatch.setattr("deniable.engines.local.words.os.urandom", fixed)
    first = draw()
    keys = len(taken)
    assert keys >= 1
    assert set(taken) == {32}
    assert np.array_equal(first, draw())
    assert len(taken) == 2 * keys


@every_path
def test_threads_differ(draw: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda _: draw(), range(2))
    assert not np.array_equal(one, two)


def streams() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what draws again and again from one stream, begun before anybody forks."""
    responder, raiser = Responder(COARSE), gradual.Raiser(RUNG)
    chunks = local.draw_stream(COARSE, itertools.repeat(EQUAL))
    yield "Responder", lambda: responder.draw(EQUAL)
    yield "Raiser", lambda: raiser.upgrade(EQUAL, EQUAL)
    yield "draw_stream", lambda: next(chunks)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.parametrize(("name", "draw"), list(streams()), ids=lambda each: each if isinstance(each, str) else "")
def test_a_fork_does_not_repeat_its_parent(name: str, draw: Callable[[], Any]) -> None:
    draw()
    inlet, outlet = os.pipe()
    child = os.fork()
    if not child:  # pragma: no cover - another process
        os.write(outlet, pickle.dumps(draw()))
        os._exit(0)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as pipe:
        theirs = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    assert theirs.shape == EQUAL.shape, name
    assert not np.array_equal(theirs, draw())
