"""Every path on which something is drawn with the default source, and what comes out of it, part by part.

A path is named after the function that it goes through. What it returns are parts, each of which is drawn by itself:
the cohorts apart from the bits, a key apart from the responses sent with it. `python -m tests.support.fresh NAME …`
prints what came out of some of them, in short.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import pkgutil
import random
import secrets
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from fractions import Fraction
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import deniable as dn
from deniable import blind, chance, db
from deniable.bulk import gradual, shuffles, steps
from deniable.bulk import random_words as words
from deniable.bulk.columns import Responder
from deniable.bulk.edges import Edges
from deniable.channel import Channel, Patterns
from deniable.channel.patterns import LikelihoodLevel, LikelihoodPattern, Weighted
from deniable.client import Client, Hub
from deniable.collector import access, limits, signing
from deniable.collector.pages import respondent
from deniable.collector.store import Sent, Submission, Token, open_store
from deniable.designs import FAMILIES
from deniable.documents import Response
from deniable.engines import files, local, record_files
from deniable.order import bits
from deniable.order.bits import BitByBit
from deniable.order.steps import Step, possible_responses
from deniable.release.panel import Panel
from deniable.survey import Keys, Link
from deniable.survey.arms import SurveyArm, draw_arm
from deniable.types.deck import respond as cards
from deniable.types.drawn import draw as drawn
from deniable.types.drawn.design import DrawnChannel
from deniable.types.key_value import draw as key_value
from deniable.types.key_value import respond as key_value_responses
from deniable.types.key_value import schemes
from deniable.types.ladder import respond as stages
from deniable.types.numbers import draw as numbers
from deniable.types.strings import draw as strings
from deniable.types.strings import respond as string_responses
from deniable.types.strings.design import Filter, FilterStep
from tests.support.books import reseal
from tests.support.hands import leaves
from tests.support.ladders import small as ladders
from tests.support.surveys import question
from tests.support.surveys import small as survey
from tests.support.types import TYPES

Parts = dict[str, Any]
Path_ = Callable[[Path], Parts]

N = 400
FEW = 60  # one by one: as many equal draws agree with a chance below 2^-40 where each agrees with less than 0.6
# whether disks keep it is looked at elsewhere
HASTY = "synchronous = OFF", "journal_mode = MEMORY"
QUIET = {"attacks", "auditor", "simulate"}
"""Rooms that draw no response that anybody sends."""


def many(draw: Callable[[], Any], n: int = FEW) -> list[Any]:
    return [draw() for _ in range(n)]


def several(draw: Callable[[], Any], _: Path) -> Parts:
    return {"": many(draw)}


def each_field(found: list[Any]) -> Parts:
    """Return what responses are made of, each field by itself."""
    if isinstance(found[0], tuple) and not hasattr(found[0], "_fields"):
        return {
            f"stage_{at + 1}": [each[at].symbol for each in found]
            for at in range(len(found[0]))
        }
    fields = [
        name for name in ("symbol", "cohort", "bits") if hasattr(found[0], name)
    ]
    return {name: [getattr(each, name) for each in found] for name in fields}


# One by one


def of_channels() -> Iterator[tuple[str, Path_]]:
    """Yield the draw of every kind of channel that a registered design has."""
    known: dict[type[Channel], Channel] = {}
    for design in (
        design for family in FAMILIES.values() for design in family.designs()
    ):
        for each in [design.channel, *leaves(design.channel)]:
            known[type(each)] = min(
                each, known.get(type(each), each), key=_likeliest
            )
    for kind, each in known.items():
        yield f"{home(kind)}.draw", partial(several, partial(each.draw, 0))


def _likeliest(channel: Channel) -> Fraction:
    return max(
        channel.probability(number, given=0)
        for number in range(min(channel.responses, 64))
    )


def of_steps() -> Iterator[tuple[str, Path_]]:
    """Yield both directions of every kind of step between stages, and the way between two of them."""
    known = {
        type(each): each
        for ladder in ladders().values()
        for each in reversed(ladder.steps)
    }
    for kind, one in known.items():
        yield (
            f"{home(kind)}.upgrade",
            partial(several, partial(one.upgrade, *_open(one))),
        )
        yield (
            f"{home(kind)}.degrade",
            partial(several, partial(one.degrade, _widest(one))),
        )
    for name in ("k_ary", "rappor", "product", "matrix"):
        low, high = ladders()[name].steps[:2]
        way = vars(type(low)).get("between", Step.between)
        called = f"{way.__module__.removeprefix('deniable.')}.{way.__qualname__}"
        yield called, partial(several, partial(low.between, high, 0, 1))


def _open(step: Step) -> tuple[int, int]:
    """Return a coarser response and an answer from which no finer response is nearly certain."""
    pairs = (
        (old, x)
        for old in possible_responses(step.old)
        for x in range(step.new.answers)
        if step.old.probability(old, given=x)
    )
    return min(
        pairs,
        key=lambda pair: max(
            step.kernel(new, old=pair[0], given=pair[1])
            for new in possible_responses(step.new)
        ),
    )


def _widest(step: Step) -> int:
    """Return a finer response from which no coarser one is nearly certain."""
    return min(
        possible_responses(step.new),
        key=lambda new: max(
            step.garbling(old, new) for old in possible_responses(step.old)
        ),
    )


def home(kind: type) -> str:
    return f"{kind.__module__.removeprefix('deniable.')}.{kind.__qualname__}"


ARMS = (SurveyArm("masked", ("theft",), odds=2), SurveyArm("open", ("theft-open",)))
HALF = Fraction(1, 2)
NUMBER = dn.number_design(0, 1, 1, levels=2)
BLOOM = dn.Bloom(64, 2, 8)
STRINGS = [dn.string_design(BLOOM, each) for each in (1, 2)]
FILTERS = [
    Filter(64, each.channel.hit, each.channel.stray, each.channel.total)
    for each in STRINGS
]
NOISY = dn.NoisySampling.symmetric("3/4", "3/4")
COARSE, FINE = dn.k_ary(5, epsilon=1), dn.k_ary(5, epsilon=2)
LADDER = dn.ladder([COARSE, FINE])
RUNG = LADDER.relaxations[0]
BIT_RUNG = dn.relax(dn.rappor(32, epsilon=1), dn.rappor(32, epsilon=2))
PATTERNS = Patterns(
    5,
    (
        Weighted(
            1, LikelihoodPattern((LikelihoodLevel(4, 1), LikelihoodLevel(1, 3)))
        ),
    ),
    1,
)
DRAWN = dn.drawn_items([dn.warner(1), dn.warner(1)])
UE, GRR, CLUB = (
    dn.pckv_ue(3, 1, padding=1),
    dn.pckv_grr(3, 1, padding=1),
    dn.lpp_club(3, 1),
)
SURVEY = survey(keys=Keys("0" * 64), questions=(question("apps", dn.unary(100, 2)),))
HANDS = survey(
    keys=Keys("0" * 64),
    each=4,
    questions=tuple(question(f"q{at}", dn.unary(9, 1)) for at in range(12)),
)


def of_types() -> Iterator[tuple[str, Path_]]:
    """Yield the verbs of every type of design, and every engine of this machine."""
    for name, build in TYPES.items():
        asked = build()
        answers = [next(each for each in asked.answers if each)] * N
        if asked.design.asks == "deck":
            answers = ["no"] * asked.design.people
        else:
            yield (
                f"verbs.respond, {name}",
                partial(responses, asked.design, answers[0]),
            )
        for fast, engine in ((False, "NumPy"), (True, "compiled")):
            yield (
                f"verbs.respond_all, {name}, {engine}",
                partial(columns, asked.design, answers, fast),
            )


def responses(design: Any, answer: Any, _: Path) -> Parts:
    return each_field(many(lambda: dn.respond(design, answer)))


def columns(design: Any, answers: list[Any], fast: bool, _: Path) -> Parts:
    return dict(
        dn.respond_all(design, answers, engine=local.Local(fast=fast)).columns
    )


def one_by_one() -> dict[str, Path_]:
    """Return what is drawn with `chance.SYSTEM`, by name."""
    first = dn.respond(STRINGS[0], "equal", cohort=1)
    response, finer = (Response(each.hash, "1") for each in (COARSE, FINE))
    marked = dn.respond(UE, {"0": 0})
    plain: dict[str, Callable[[], Any]] = {
        "chance.below": lambda: chance.below(3),
        "chance.pick": lambda: chance.pick(5, 2),
        "chance.happens": lambda: chance.happens(HALF),
        "chance.choose": lambda: chance.choose([1, 3]),
        "chance.bits": lambda: chance.bits(1),
        "order.bits.toss": lambda: bits.toss(4, [(15, HALF)]),
        "order.bits.toss_by_pairs": lambda: bits.toss_by_pairs(
            4, 3, 5, [[HALF] * 2] * 2
        ),
        "order.bits.draw_bits": lambda: bits.draw_bits(4, bits.Bit(HALF, HALF), 3),
        "order.bits.BitByBit.upgrade_bits": lambda: bit_step().upgrade_bits(1, 2),
        "types.key_value.schemes.round_weight": lambda: schemes.round_weight(
            Fraction(0)
        ),
        "types.key_value.schemes.Index.draw_response": lambda: (
            CLUB.scheme.draw_response({})
        ),
        "types.key_value.schemes.Unary.draw_response": lambda: (
            UE.scheme.draw_response({})
        ),
        "types.key_value.schemes.Direct.draw_response": lambda: (
            GRR.scheme.draw_response({})
        ),
        "types.key_value.respond.settle": lambda: [
            each.answer for each in key_value_responses.settle(UE, {"0": 0}, marked)
        ],
        "types.numbers.respond.rounded": lambda: dn.rounded(NUMBER, HALF),
        "channel.patterns.Patterns.draw": lambda: PATTERNS.draw(0),
        "types.drawn.design.DrawnChannel.draw": lambda: DrawnChannel(DRAWN).draw(0),
        "types.drawn.design.DrawnDesign.draw_hand": lambda: (
            DRAWN.draw_hand().attributes
        ),
        "types.strings.design.Bloom.draw_cohort": BLOOM.draw_cohort,
        "types.strings.design.Filter.draw": lambda: FILTERS[0].draw(3),
        "types.strings.design.FilterStep.upgrade": lambda: FilterStep(
            *FILTERS
        ).upgrade(1, 3),
        "types.strings.respond.upgrade": lambda: (
            string_responses.upgrade(*STRINGS, first, "equal").bits
        ),
        "types.strings.respond.degrade": lambda: (
            string_responses.degrade(*STRINGS, first_fine()).bits
        ),
        "types.strings.respond.permanent": lambda: string_responses.permanent(
            NOISY, BLOOM, "equal", 1
        ),
        "types.strings.respond.sample": lambda: string_responses.sample(
            NOISY, BLOOM, 5
        ),
        "survey.arms.draw_arm": lambda: draw_arm(ARMS),
        "types.ladder.respond.upgrade": lambda: (
            stages.upgrade(RUNG, response, "0").symbol
        ),
        "types.ladder.respond.degrade": lambda: stages.degrade(RUNG, finer).symbol,
        "types.deck.respond.deal": lambda: [
            each.symbol for each in cards.deal(dn.integer_deck(9, 1), ["no"] * 9)
        ],
        "designs.cards.Deck.shuffle": lambda: dn.integer_deck(9, 1).shuffle(),
        "survey.survey.Survey.draw_questions": lambda: [
            each.name for each in HANDS.draw_questions()
        ],
        "blind.prepare": blind.prepare,
    }
    return {name: partial(several, draw) for name, draw in plain.items()}


def first_fine() -> Any:
    return dn.respond(STRINGS[1], "equal", cohort=1)


def bit_step() -> BitByBit:
    assert isinstance(BIT_RUNG.step, BitByBit)
    return BIT_RUNG.step


@cache
def one_key() -> signing.SigningKey:
    return signing.SigningKey.make()


# In bulk

EQUAL = np.zeros(N, np.uint8)
BITS = np.zeros((N, 4), np.uint8)
EDGES = Edges(N, 3, np.arange(N + 1), np.zeros(N, np.int64), np.zeros(N))
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


def encoded() -> strings.Encoded:
    return strings.encode(BLOOM, ["equal"] * N, np.zeros(N, np.int64))


def in_bulk() -> dict[str, Path_]:
    """Return what is drawn with a keystream, by name."""
    plain: dict[str, Callable[[], Any]] = {
        **{
            f"bulk.columns.draw_all, {name}": lambda design=design: local.draw_all(
                design, EQUAL
            )
            for name, design in DESIGNS.items()
        },
        "bulk.columns.respond_all": lambda: local.respond_all(COARSE, EQUAL).columns[
            "response"
        ],
        "bulk.columns.draw_stream": lambda: np.concatenate(
            list(local.draw_stream(COARSE, [EQUAL[:77], EQUAL[77:]]))
        ),
        "bulk.columns.Responder.__init__": lambda: Responder(COARSE).draw(EQUAL),
        "bulk.gradual.upgrade": lambda: gradual.upgrade(RUNG, EQUAL, EQUAL),
        "bulk.gradual.upgrade, bits": lambda: gradual.upgrade(BIT_RUNG, BITS, EQUAL),
        "bulk.gradual.degrade": lambda: gradual.degrade(RUNG, EQUAL),
        "bulk.gradual.release_planned": lambda: np.stack(
            gradual.release_planned(LADDER, EQUAL)
        ),
        "bulk.gradual.upgrade_stream": lambda: np.concatenate(
            list(gradual.upgrade_stream(RUNG, [(EQUAL, EQUAL)]))
        ),
        "bulk.gradual.upgrade_bits": lambda: gradual.upgrade_bits(
            bit_step(), BITS, BITS
        ),
        "bulk.gradual.Raiser.__init__": lambda: gradual.Raiser(RUNG).upgrade(
            EQUAL, EQUAL
        ),
        "types.key_value.draw.draw_all, one item": lambda: key_value.draw_all(
            CLUB, EDGES
        ),
        "types.key_value.draw.draw_all, every item": lambda: key_value.draw_all(
            UE, EDGES
        ),
        "types.key_value.draw.draw_all, an item or nothing": lambda: (
            key_value.draw_all(GRR, EDGES)
        ),
        "types.key_value.draw.draw_all, one edge": lambda: key_value.draw_all(
            dn.one_edge(["a", "b", "c"], 1), EDGES
        ),
        "types.key_value.draw.collect": lambda: (
            key_value.collect(
                dn.lpp_club(1000, 1), Edges(N, 1000, *one_item_each())
            ).counts
        ),
        "types.numbers.draw.round_values": lambda: numbers.round_values(
            NUMBER, np.full(N, 0.5)
        ),
        "bulk.steps.toss_rows": lambda: steps.toss_rows(
            32, bit_step().raised, BITS, BITS
        ),
        "types.strings.draw.draw_cohorts": lambda: strings.draw_cohorts(BLOOM, N),
        "types.strings.draw.respond": lambda: strings.respond(STRINGS[0], encoded()),
        "types.strings.draw.permanent": lambda: strings.permanent(
            NOISY, BLOOM, encoded()
        ),
        "types.strings.draw.sample": lambda: strings.sample(
            NOISY, BLOOM, encoded().truths
        ),
        "types.strings.draw.upgrade": lambda: strings.upgrade(
            *STRINGS, np.zeros((N, 8), np.uint8), encoded()
        ),
        "bulk.random_words.below_all": lambda: words.below_all(3, N),
        "bulk.random_words.permutation": lambda: words.permutation(N),
        "bulk.shuffles.Shuffler.__init__": lambda: shuffles.Shuffler(
            fast=False
        ).order(N),
        "bulk.shuffles.Shuffler.__init__, compiled": lambda: shuffles.Shuffler(
            fast=True
        ).order(N),
    }
    return {name: lambda _, draw=draw: {"": draw()} for name, draw in plain.items()}


def drawn_items(_: Path) -> Parts:
    """Which item each respondent is asked, apart from what is sent."""
    found = drawn.draw_all(DRAWN, {"1": EQUAL, "2": EQUAL})
    return {
        "hands": np.searchsorted(
            [hand.start for hand in DRAWN.hands], found, side="right"
        ),
        "responses": found,
    }


def one_item_each() -> tuple[Any, Any, Any]:
    return np.arange(N + 1), np.arange(N) % 1000, np.zeros(N)


def a_file_of_responses(folder: Path) -> Parts:
    (folder / "answers.csv").write_text("answer\n" + "0\n" * N)
    files.respond_file(
        COARSE, folder / "answers.csv", folder / "responses.csv", column="answer"
    )
    (folder / "each.csv").write_text("answer\n" + "\n".join(map(str, range(N))))
    files.respond_file(
        dn.k_ary(N, epsilon=60),
        folder / "each.csv",
        folder / "order.csv",
        column="answer",
    )
    return {
        name: (folder / f"{name}.csv").read_text() for name in ("responses", "order")
    }


def a_file_of_edges(folder: Path) -> Parts:
    """Responses that are certain, so that their order alone is left; and responses that are not."""
    sure = dn.one_edge([str(number) for number in range(N)], 50)
    each = Edges(N, N, np.arange(N + 1), np.arange(N), np.zeros(N))
    record_files.respond_edges(sure, each, folder / "order.csv")
    record_files.respond_edges(
        dn.one_edge(["a", "b", "c"], 1), EDGES, folder / "responses.csv"
    )
    return {
        name: (folder / f"{name}.csv").read_text() for name in ("order", "responses")
    }


def a_file_of_items(folder: Path) -> Parts:
    (folder / "answers.csv").write_text("1,2\n" + "no,no\n" * N)
    files.respond_file(DRAWN, folder / "answers.csv", folder / "responses.csv")
    return {"": (folder / "responses.csv").read_text()}


# Books of releases, devices, the collector


def table(path: Path, statement: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute(statement).fetchall()


def a_ledger(folder: Path) -> Parts:
    """Names, secrets, and stages that come in every way, and planned; a ledger for each, because it adds up stages."""
    parts: Parts = {}
    stored = "SELECT response FROM release_response JOIN release_stage ON stage = id WHERE released = 0 AND place = "
    for way in (*WAYS, "planned"):
        path = folder / f"{way}.ledger"
        names = [f"{way} {number}" for number in range(FEW)]
        with dn.Ledger.create(path) as ledger:
            for name in names:
                ledger.answer(
                    name, "0", about=LADDER if way == "planned" else COARSE
                )
        with dn.Ledger.open(path) as ledger:
            if way in WAYS:
                parts[way] = stages_of(
                    ledger,
                    way,
                    lambda design, ledger=ledger, names=names: [
                        ledger.release(name, design).response.symbol
                        for name in names
                    ],
                )
            else:
                parts |= {
                    f"planned {at}": table(path, stored + str(at)) for at in range(2)
                }
        parts[f"name, {way}"] = table(path, "SELECT id FROM release_book")
        secrets = table(path, "SELECT secret FROM release_answer ORDER BY question")
        for number, (secret,) in enumerate(secrets):
            for at in range(0, len(secret), 32):
                parts[f"secret, {way} {number}, {at}"] = secret[at : at + 32]
    return parts


WAYS: dict[str, tuple[Any, ...]] = {
    "afresh": (1,),
    "raised": (1, 3),
    "degraded": (3, 1),
    "between": (1, 3, 2),
}
"""In which order stages are asked for, by ε; the last one is looked at, given constants in the place of the others."""


def stages_of(book: Any, way: str, ask: Callable[[Any], Any]) -> Any:
    """Release stages in one way, and return what the last one is; what is out before is made the same for everybody.

    Stages become different constants: between two that agree, the one in the middle would nearly always agree, too.
    """
    same = (
        "UPDATE release_response SET response = ? WHERE released = 1 AND stage > ?"
    )
    for number, epsilon in enumerate(WAYS[way]):
        with book.database.transaction() as tables:
            before = tables.value("SELECT coalesce(max(id), 0) FROM release_stage")
        found = ask(dn.k_ary(5, epsilon=epsilon))
        with book.database.transaction() as tables:
            tables.run(same, str(1 + number), before)
        reseal(book)
    return found


def a_panel(folder: Path) -> Parts:
    people = dict.fromkeys([f"p{number}" for number in range(100)], "0")
    with Panel.create(folder / "panel.db") as panel:
        for way in WAYS:
            panel.answer(way, people, about=COARSE)
        panel.answer("planned", people, about=LADDER)
        planned = [panel.release("planned", at).symbols for at in range(2)]
        found = {
            way: stages_of(
                panel,
                way,
                lambda design, way=way: panel.release(way, design).symbols,
            )
            for way in WAYS
        }
    name = table(folder / "panel.db", "SELECT id FROM release_book")
    return {
        "name": name,
        **found,
        **{f"planned {at}": each for at, each in enumerate(planned)},
    }


@contextmanager
def fetched(given: Any) -> Iterator[str]:
    """Let devices find a definition as if a collector had given it."""
    with patch(
        "deniable.client.connection.Connection.ask",
        lambda *_: given.to_json().encode(),
    ):
        yield Link.to_survey(given, "http://127.0.0.1:1").text


def a_client(folder: Path) -> Parts:
    with (
        fetched(SURVEY) as link,
        Client(link, folder / "client", patience=0) as client,
    ):
        client.answer("apps", "3")
        found = {"key": client._key, "response": client.waiting()[0]["symbol"]}
    hands = []
    for number in range(4):
        with (
            fetched(HANDS) as link,
            Client(link, folder / f"client {number}", patience=0) as client,
        ):
            hands.append([each.name for each in client.questions])
    return {**found, "hands": hands}


def a_hub(folder: Path) -> Parts:
    with (
        fetched(HANDS) as link,
        Hub(link, folder / "hub", token="dn_any", patience=0) as hub,
    ):
        keys = hub.add([{each.name: "3" for each in HANDS.questions}] * 10)
        texts = [
            json.loads(text)["responses"]
            for _, text in table(folder / "hub", "SELECT * FROM waiting")
        ]
    lines = [line for text in texts for line in text]
    return {
        **{f"key {at}": key for at, key in enumerate(keys)},
        "hands": [line["question"] for line in lines],
        "responses": [line["symbol"] for line in lines],
    }


def a_collector(folder: Path) -> Parts:
    store, key = open_store(folder / "collector.db"), one_key()
    # whose primes OpenSSL draws by itself
    with patch.object(signing.SigningKey, "make", lambda: key):
        store.create(survey(admission="invitation"))
    entry = store.open("small")
    codes = store.invite("small", 3)
    token = store.issue_token(Token("someone", "admin"))
    again = store.rotate_token("someone")
    session = store.start_session(again, seconds=60)
    store.add(
        [
            Submission(
                entry.id, bytes([n] * 16), None, (Sent(0, 0, 1),), None, codes[n]
            )
            for n in (0, 1)
        ]
    )
    with store.transaction(write=False) as tables:
        used = [
            row
            for (row,) in tables.rows(
                "SELECT used FROM invitation WHERE used IS NOT NULL ORDER BY used"
            )
        ]
        spent = [
            row for (row,) in tables.rows("SELECT hash FROM spent ORDER BY hash")
        ]
    secret = store.secret("receipts")
    store.shut()
    texts = [*codes, token, again, session]
    return {
        f"text {at}": each for at, each in enumerate([*texts, *used, *spent, secret])
    }


def a_visit(_: Path) -> Parts:
    """Forms, and the salt under which addresses are counted."""
    request: Any = type("Request", (), {"cookies": {}, "app": None})()
    limit = limits.Rate(5)
    limit.check("192.0.2.1")
    with patch.object(access, "_form_cookie", lambda _: ""):
        form = respondent._form(request)
    return {
        "form": form.value,
        "key": form.key,
        "salt": next(iter(limit._counts)),
    }


def paths() -> dict[str, Path_]:
    """Return all of them by name."""
    return {
        **dict(of_channels()),
        **dict(of_steps()),
        **dict(of_types()),
        **one_by_one(),
        **in_bulk(),
        "blind.blind": lambda _: {"": blind.blind(bytes(32), one_key().public)[0]},
        "types.drawn.draw.draw_all": drawn_items,
        "engines.files.respond_file": a_file_of_responses,
        "engines.record_files.respond_edges": a_file_of_edges,
        "engines.files.respond_file, drawn items": a_file_of_items,
        "release.ledger.Ledger": a_ledger,
        "release.panel.Panel": a_panel,
        "client.client.Client": a_client,
        "client.hub.Hub": a_hub,
        "collector.store": a_collector,
        "collector.visit": a_visit,
    }


# What comes out


def digest(part: Any) -> str:
    """Return a part in short."""
    if isinstance(part, np.ndarray):
        part = (part.dtype.str, part.shape, part.tobytes())
    return hashlib.sha256(repr(part).encode()).hexdigest()


def drawn_by(path: Path_) -> dict[str, str]:
    """Go a path, and return each part in short."""
    with tempfile.TemporaryDirectory() as folder, patch.object(db, "DURABLE", HASTY):
        return {name: digest(part) for name, part in path(Path(folder)).items()}


def everything(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Go some paths, one after the other."""
    known = paths()
    return {name: drawn_by(known[name]) for name in names}


@contextmanager
def system(key: str) -> Iterator[list[int]]:
    """Let the operating system give bytes that hang on a key alone; tell how many were taken at a time."""
    taken: list[int] = []

    def read(count: int) -> bytes:
        taken.append(count)
        return hashlib.shake_256(f"{key} {len(taken)}".encode()).digest(count)

    with patch("os.urandom", read), patch.object(random, "_urandom", read):
        assert secrets.token_bytes(4) == hashlib.shake_256(
            f"{key} 1".encode()
        ).digest(4), "secrets reads elsewhere"
        taken.clear()
        yield taken


# Where it is asked for


def modules() -> Iterator[Any]:
    """Yield all modules in which something may be drawn that leaves."""
    import deniable

    for each in pkgutil.walk_packages(deniable.__path__, "deniable."):
        if each.name.split(".")[1] not in QUIET and not each.name.endswith(
            "__main__"
        ):
            yield import_module(each.name)


def functions_with_a_source() -> Iterator[tuple[str, Any]]:
    """Yield every function and method whose source may be left out, and what it is then."""
    for module in modules():
        for owner in [
            module,
            *(each for each in vars(module).values() if inspect.isclass(each)),
        ]:
            for each in vars(owner).values():
                function = getattr(each, "__func__", each)
                if (
                    not inspect.isfunction(function)
                    or function.__module__ != module.__name__
                ):
                    continue
                taken = inspect.signature(function).parameters.get("source")
                if (
                    taken is not None
                    and taken.default is not inspect.Parameter.empty
                ):
                    yield (
                        f"{module.__name__.removeprefix('deniable.')}.{function.__qualname__}",
                        taken.default,
                    )


ENTRANCES = (
    "os.urandom",
    "secrets.",
    "Keystream",
    "Ed25519PrivateKey.generate",
    "rsa.generate_private_key",
)


def entrances() -> Iterator[str]:
    """Yield each call by which random bytes come into the program, with the module that makes it."""
    for module in modules():
        for call in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(call, ast.Call) and ast.unparse(call.func).startswith(
                ENTRANCES
            ):
                yield f"{module.__name__.removeprefix('deniable.')}: {ast.unparse(call)}"


if __name__ == "__main__":
    print(json.dumps(everything(sys.argv[1:])))
