"""Whatever is drawn without a source being given comes from the operating system, only from there, and never twice.

Every path of `tests/support/fresh.py` is gone: with the bytes of the system fixed, everything is; with other bytes,
every part is another. Two calls, threads, forks and new processes never agree in any part. Two sound parts agree by
chance less often than once in 2^30: a false alarm in all of this once in 10^6 runs at most.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import deniable as dn
from deniable import chance, db
from deniable.bulk import gradual
from deniable.bulk.columns import Responder
from deniable.bulk.random_words import KEY
from deniable.engines import local
from tests.support import fresh
from tests.support.fresh import COARSE, EQUAL, LADDER, RUNG

PATHS = fresh.paths()
every_path = pytest.mark.parametrize("name", PATHS)

NOT_DRAWN = {
    "chance.spare": "forgets what it takes",
    "collector.signing.sign": "gives the same whatever the factor was: tests/unit/collector/test_signing.py",
    "bulk.backend.check_threads": "draws nothing",
    "estimates.sampling.replicates.Replicates.__init__": "draws clusters for a bootstrap; no response",
    "channel.base.Channel.draw": "of every kind there is",
    "order.steps.Step.degrade": "of every kind there is",
    "order.steps.Step.upgrade": "of every kind there is",
    "types.key_value.schemes.Scheme.draw_response": "of every kind there is",
    "pairs.estimates.association": "permutes what was counted, for a test; no response",
    "release.stages.Place.draw": "by ledgers",
}
REACHED = {  # through the verbs, an engine, or the book or device that takes a source once
    "responses.respond": "verbs.respond, categories",
    "bulk.columns.BulkRows.__init__": "bulk.columns.Responder.__init__",
    "types.ladder.respond.respond": "verbs.respond, ladder",
    "types.drawn.respond.respond": "verbs.respond, drawn items",
    "types.buckets.respond.respond": "verbs.respond, numbers in buckets",
    "types.edges.respond.respond": "verbs.respond, edges",
    "types.key_value.respond.respond": "verbs.respond, key-value",
    "types.numbers.respond.respond": "verbs.respond, numbers",
    "types.numbers.respond.level_of": "verbs.respond, numbers",
    "types.key_value.respond.category_of": "client.client.Client",
    "types.drawn.design.DrawnChannel.draw": "client.client.Client",
    "types.key_value.schemes.ItemsChannel.draw": "client.client.Client",
    "types.strings.design.StringChannel.draw": "client.client.Client",
    "types.strings.respond.respond": "verbs.respond, strings",
    "types.ladder.draw.respond_all": "verbs.respond_all, ladder",
    "types.deck.draw.respond_all": "verbs.respond_all, deck",
    "types.key_value.draw.respond_all": "verbs.respond_all, key-value",
    "types.strings.draw.respond_all": "verbs.respond_all, strings",
    "types.numbers.draw.respond_all": "verbs.respond_all, numbers",
    "types.drawn.draw.respond_all": "verbs.respond_all, drawn items",
    "types.buckets.draw.respond_all": "verbs.respond_all, numbers in buckets",
}
ENTRANCES = {
    "chance: secrets.token_bytes(count)": "chance.bits",
    "client.connection: secrets.SystemRandom()": "",  # how long a device waits before it asks again
    "cli.demo: secrets.token_hex(16)": "",  # keys of people who do not exist
    "collector.access: secrets.token_urlsafe(24)": "collector.visit",
    "collector.limits: secrets.token_bytes(16)": "collector.visit",
    "collector.pages.respondent: secrets.token_hex(16)": "collector.visit",
    "collector.signing: rsa.generate_private_key(public_exponent=EXPONENT, key_size=bits)": "",
    "collector.signing: rsa.generate_private_key(public_exponent=EXPONENT, key_size=bits).private_numbers()": "",
    "collector.store.credentials: secrets.token_bytes(_SECRET_BYTES)": "collector.store",
    "collector.store.credentials: secrets.token_urlsafe(_TEXT_BYTES)": "collector.store",
    "collector.store.packs: secrets.token_bytes(ID)": "collector.store",
    "collector.store.responses: secrets.token_bytes(32)": "collector.store",
    "bulk.random_words: Keystream()": "bulk.random_words.below_all",
    "bulk.random_words: os.urandom(KEY)": "bulk.random_words.below_all",
    "files.atomic: secrets.token_hex(4)": "",  # the name of a file until it is complete
    "release.panel: Keystream()": "release.panel.Panel",
    "survey.author: Ed25519PrivateKey.generate()": "",
}
TIMES = {
    "collector.pages.respondent: secrets.token_hex(16)": 3,
    "collector.store.responses: secrets.token_bytes(32)": 2,
}


# The table of paths is complete


@cache
def sources() -> dict[str, Any]:
    return dict(fresh.functions_with_a_source())


def test_every_function_that_takes_a_source_is_gone_through() -> None:
    gone = {name.partition(",")[0] for name in PATHS}
    classes = {name for name in gone if name.rpartition(".")[2][:1].isupper()}
    missing = {
        name
        for name in sources()
        if name not in gone | NOT_DRAWN.keys() | REACHED.keys()
        and name.rpartition(".")[0] not in classes
    }
    assert missing == set(), "enter these in tests/support/fresh.py"
    assert NOT_DRAWN.keys() | REACHED.keys() <= sources().keys(), "no such function"
    assert {path.partition(",")[0] for path in REACHED.values()} <= gone


def test_a_source_that_is_left_out_is_the_systems() -> None:
    assert len(sources()) > 80
    assert {
        name: each
        for name, each in sources().items()
        if each is not chance.SYSTEM and each is not None
    } == {}
    assert type(chance.SYSTEM) is chance.SystemSource
    bulk = {name for name, each in sources().items() if each is None}
    assert {name.split(".")[0] for name in bulk} <= {
        "bulk",
        "engines",
        "types",
        "verbs",
    }, "where None means a keystream"


def test_random_bytes_come_in_where_it_is_known() -> None:
    found = list(fresh.entrances())
    assert set(found) == ENTRANCES.keys()
    assert {each: found.count(each) for each in ENTRANCES} == {
        each: TIMES.get(each, 1) for each in ENTRANCES
    }
    assert {path for path in ENTRANCES.values() if path} <= PATHS.keys()


def test_nothing_else_gives_random_bytes() -> None:
    """No generator that is seeded, no clock and no script: `DerivedBytes` of a ledger's own secret is all there is."""
    for module in fresh.modules():
        known = vars(module)
        assert known.get("random") is None, module.__name__
        assert "ScriptedSource" not in known or module.__name__ == "deniable.chance"
        assert (
            "DerivedBytes" not in known
            or module.__name__ == "deniable.release.ledger"
        )


# Every part hangs on the system's bytes, and on nothing else


@every_path
def test_all_of_it_comes_from_the_operating_system(name: str) -> None:
    with fresh.system("one") as taken:
        first = fresh.drawn_by(PATHS[name])
    assert sum(taken) >= 16, "hardly anything was read"
    assert KEY in taken or not name.startswith(("bulk", "engines")), (
        "a key is read whole"
    )
    if (
        name.startswith(("bulk", "verbs.respond_all")) or ".draw." in name
    ) and "deck" not in name:  # which is dealt card by card
        assert set(taken) == {KEY}, "nothing but whole keys"
    assert len(set(first.values())) == len(first), "two parts are the same bytes"
    with fresh.system("one"):
        again = fresh.drawn_by(PATHS[name])
    assert again == first, "something else is mixed in"
    with fresh.system("two"):
        other = fresh.drawn_by(PATHS[name])
    assert other.keys() == first.keys()
    assert [part for part in first if first[part] == other[part]] == [], (
        "these do not hang on the system's bytes"
    )


# And never twice

BEGUN = [  # but for those that take `SYSTEM` and keep nothing; and kernels have no words of their own
    name
    for name in PATHS
    if not name.startswith(("chance", "channel", "order")) and "compiled" not in name
]


def differ(
    found: dict[str, dict[str, str]], others: dict[str, dict[str, str]]
) -> None:
    shared = [
        (name, part)
        for name in found
        for part in found[name]
        if found[name][part] == others[name][part]
    ]
    assert shared == []


def test_calls_threads_and_processes_never_share_what_they_draw() -> None:
    """Two threads, each with a call of its own; then another call; and a process that is new."""
    command = [sys.executable, "-m", "tests.support.fresh", *BEGUN]
    with (
        subprocess.Popen(
            command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True
        ) as other,
        # around both threads, or the later one puts back the other's
        patch.object(db, "DURABLE", fresh.HASTY),
        ThreadPoolExecutor(2) as pool,
    ):
        # others patch this process
        alone = [
            name for name in BEGUN if not name.startswith(("client", "collector"))
        ]
        one, two = pool.map(fresh.everything, [alone, alone])
        three = fresh.everything(BEGUN)
        four = json.loads(other.communicate()[0])
    for pair in (
        (one, two),
        (one, three),
        (two, three),
        (one, four),
        (two, four),
        (three, four),
    ):
        differ(*pair)


# A fork goes on with what was begun before


def streams() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what draws again and again from one stream, begun before anybody forks."""
    responder, raiser = Responder(COARSE), gradual.Raiser(RUNG)
    chunks = local.draw_stream(COARSE, itertools.repeat(EQUAL))
    planned = gradual.Raiser(LADDER.relaxations[0])
    yield "Responder", lambda: responder.draw(EQUAL)
    yield "Raiser", lambda: raiser.upgrade(EQUAL, EQUAL)
    yield "Raiser, downwards", lambda: planned.degrade(EQUAL)
    yield "draw_stream", lambda: next(chunks)
    yield (
        "respond",
        lambda: np.array([dn.respond(COARSE, "0").symbol for _ in range(200)]),
    )
    yield "respond_all", lambda: dn.respond_all(COARSE, EQUAL).columns["response"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.parametrize(
    ("name", "draw"),
    list(streams()),
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_fork_does_not_repeat_its_parent(
    name: str, draw: Callable[[], Any]
) -> None:
    draw()
    ours, theirs = forked(draw), forked(draw)
    assert len(ours) == len(theirs), name
    assert not np.array_equal(ours, theirs), "two children share what they draw"
    after = draw()
    assert not np.array_equal(theirs, after)
    assert not np.array_equal(ours, after)


def forked(draw: Callable[[], Any]) -> Any:
    """Draw in a child."""
    inlet, outlet = os.pipe()
    child = os.fork()
    if not child:  # pragma: no cover - another process
        os.write(outlet, pickle.dumps(draw()))
        os._exit(0)
    os.close(outlet)
    with os.fdopen(inlet, "rb") as pipe:
        found = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return found
