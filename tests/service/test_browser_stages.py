"""Gradual release in a browser: raised and degraded as in Python, from the same bytes; nothing unsafe is taken."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import deniable as dn
from deniable import documents
from deniable.channel import Bits, Channel, Mixture, Sets, Subset
from deniable.channel.sets import Part
from deniable.order.ladders import Ladder, Relaxation
from deniable.order.relaxation import ladder
from deniable.order.steps import Step
from deniable.types.ladder.respond import respond as release_planned
from tests.conformance.test_same_bytes_same_relaxations import (
    everybody,
    planted,
    relaxations,
)
from tests.support import browser
from tests.support.hands import Counted, around
from tests.support.ladders import small
from tests.support.seeded import Seeded
from tests.support.wrong_steps import nested

if TYPE_CHECKING:
    from playwright.sync_api import Page

N = 200  # vectors for each step and direction
SPARE = 16  # bytes that are not taken: a draw that takes more is found out


@cache
def rungs() -> dict[str, Relaxation]:
    """Return every step that engines are tested with, and kinds of files that those do not have."""
    more = {
        "mixed sets, then one category": [
            dn.mixture(3, {1: "1/2", 2: "1/2"}, epsilon=1),
            dn.k_ary(3, epsilon=4),
        ],
        "one category, then bits": [
            dn.k_ary(3, epsilon="1/2"),
            dn.rappor(3, epsilon=5),
        ],
        "mixed sets beside a table": [
            dn.product(
                [
                    dn.mixture(3, {1: "1/2", 2: "1/2"}, epsilon=1),
                    dn.binary("6/10", "7/10"),
                ]
            ),
            dn.product([dn.subset(3, t=1, epsilon=3), dn.binary("8/10", "8/10")]),
        ],
    }
    channels: dict[str, tuple[Channel, Channel]] = {
        "a size that tells nothing": (
            Subset(4, 2, 11, 20),
            Mixture(4, (Part(1, 2, 3), Part(2, 2, 2)), 4),
        ),
        "a size that tells nothing, kept apart": (
            Subset(4, 2, 9, 20),
            Mixture(4, (Part(1, 2, 0), Part(2, 2, 2)), 4),
        ),
        "a bit that is certain": (Bits(5, 3, 1, 4), Bits(5, 4, 1, 4)),
    }
    more |= {
        name: [around(old), around(new)] for name, (old, new) in channels.items()
    }
    return relaxations() | {
        name: ladder(designs).relaxations[0] for name, designs in more.items()
    }


def alone(rung: Relaxation) -> Ladder:
    return Ladder((rung.old, rung.new), (rung.step,))


def kind(rung: Relaxation) -> tuple[str, str]:
    """Return what a step is called in the file, and what it is."""
    return json.loads(alone(rung).to_json())["steps"][0]["kind"], type(
        rung.step
    ).__name__


def job(
    name: str, rung: Relaxation, *, down: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the browser is to draw, much of it with bytes on the edge of decisions, and what Python drew."""
    before, after = (rung.new, rung.old) if down else (rung.old, rung.new)
    answers, first = everybody(rung, N), Seeded("before")
    olds = [before.channel.draw(x, first) for x in answers]
    script = planted(rung.step, 2 * N, Seeded(name), down=down)
    source = Counted(script, Seeded("rest"))
    if down:
        drawn = [rung.step.degrade(old, source) for old in olds]
    else:
        drawn = [
            rung.step.upgrade(old, x, source)
            for old, x in zip(olds, answers, strict=True)
        ]
    asked = {
        "ladder": alone(rung).to_json(),
        "bytes": browser.packed(
            Counted(script, Seeded("rest")).read(source.used + SPARE)
        ),
        "answers": [rung.old.categories[x] for x in answers],
        "before": [before.symbols[old] for old in olds],
        "from": int(down),
        "to": int(not down),
    }
    return asked, {
        "hashes": [after.hash],
        "symbols": [after.symbols[each] for each in drawn],
        "used": source.used,
    }


@pytest.mark.parametrize("down", [False, True], ids=["up", "down"])
def test_every_step_gives_the_responses_of_python(scripts: Page, down: bool) -> None:
    jobs = {name: job(name, rung, down=down) for name, rung in rungs().items()}
    found = browser.run(scripts, "move", [asked for asked, _ in jobs.values()])
    assert dict(zip(jobs, found, strict=True)) == {
        name: drawn for name, (_, drawn) in jobs.items()
    }


def test_there_are_a_thousand_vectors_of_every_kind_of_step() -> None:
    seen = Counter(
        dict.fromkeys(
            (
                "KeepOrFresh",
                "Crossed",
                "BitByBit",
                "Nested",
                "Tabulated",
                "Factors",
                "Recoded",
            ),
            0,
        )
    )
    known = {
        each.__name__
        for each in Step.__subclasses__()
        if each.__module__.startswith("deniable.")
    }
    assert known == set(seen), (
        "a new kind of step wants its place in steps.js, and here"
    )
    for rung in rungs().values():
        seen[type(rung.step).__name__] += 2 * N
    assert min(seen.values()) >= 1_000, seen
    assert {kind(rung) for rung in rungs().values()} >= {
        ("derived", "Nested"), ("nested", "Nested"), ("derived", "Recoded"), ("nested", "Recoded"),
        ("derived", "Factors"), ("factors", "Factors"), ("written", "Tabulated"),
    }  # fmt: skip


def test_all_stages_at_once(scripts: Page) -> None:
    jobs, expected = [], []
    for name, stages in small().items():
        answers = [
            stages.categories[at % len(stages.categories)] for at in range(20)
        ]
        source = Counted(b"", Seeded(name))
        drawn = [
            release_planned(stages, answer, source=source) for answer in answers
        ]
        script = browser.packed(Seeded(name).read(source.used + SPARE))
        jobs.append(
            {"ladder": stages.to_json(), "bytes": script, "answers": answers}
        )
        told = [
            [{"design": each.design, "symbol": each.symbol} for each in history]
            for history in drawn
        ]
        expected.append({"stages": told, "used": source.used})
    assert browser.run(scripts, "plan", jobs) == expected


def test_several_stages_in_one_go(scripts: Page) -> None:
    """From the first stage to the last, and down again, by way of those between."""
    for down in (False, True):
        jobs, expected = [], []
        for name in (
            "k_ary",
            "rappor",
            "matrix",
            "product",
            "the best sizes",
            "both sides in turn",
        ):
            stages = small()[name]
            first, last = (len(stages) - 1, 0) if down else (0, len(stages) - 1)
            answers = [at % len(stages.categories) for at in range(30)]
            before = [
                stages.designs[first].channel.draw(x, Seeded(str(x)))
                for x in answers
            ]
            source, found = Counted(b"", Seeded(name)), []
            for number, x in zip(before, answers, strict=True):
                for step in reversed(stages.steps) if down else stages.steps:
                    number = (  # noqa: PLW2901
                        step.degrade(number, source)
                        if down
                        else step.upgrade(number, x, source)
                    )
                found.append(stages.designs[last].symbols[number])
            jobs.append({
                "ladder": stages.to_json(), "from": first, "to": last,
                "bytes": browser.packed(Seeded(name).read(source.used)),
                "answers": [stages.categories[x] for x in answers],
                "before": [stages.designs[first].symbols[number] for number in before],
            })  # fmt: skip
            expected.append(
                {
                    "hashes": [stages.designs[last].hash],
                    "symbols": found,
                    "used": source.used,
                }
            )
        assert browser.run(scripts, "move", jobs) == expected


def forged(name: str, **changes: object) -> str:
    """Return the JSON of a ladder with other fields and a hash that fits."""
    return documents.seal(
        "ladder", documents.unseal("ladder", small()[name].to_json()) | changes
    )


def first_step(name: str, **changes: object) -> str:
    """Return the JSON of a ladder whose first step was changed."""
    first, *others = documents.unseal("ladder", small()[name].to_json())["steps"]
    return forged(name, steps=[first | changes, *others])


def table(*rows: str, total: str) -> dict[str, object]:
    return {
        "kind": "dense",
        "total": total,
        "weights": [row.split() for row in rows],
    }


def below_zero(side: int) -> list[list[object]]:
    """Return the shares of a nested step with one below 0 (near, apart, free), whose garbling is exact all the same.

    Three ways to lie have two sums to keep: their own, and how often they hold the answer. So they can be
    moved along one line, out of what is possible.
    """
    coarse, fine = (design.channel for design in small()["mixture"].designs[:2])
    assert isinstance(coarse, Sets)
    assert isinstance(fine, Sets)
    (size, other, *before), *rest = documents.unseal(
        "ladder", small()["mixture"].to_json()
    )["steps"][0]["shares"]
    k, own = fine.size, fine.inclusion(other)
    overlaps = (min(size, other), max(0, size + other - k))
    near, apart = (
        own * Fraction(n, other) + (1 - own) * Fraction(size - n, k - other)
        for n in overlaps
    )
    free = Fraction(size, k)
    line = (apart - free, free - near, near - apart)
    shares = [Fraction(each) for each in before]
    step = -(shares[side] + Fraction(1, 100)) / line[side]
    moved = [share + step * slope for share, slope in zip(shares, line, strict=True)]
    assert sum(moved) == sum(shares)
    assert moved[side] < 0
    return [[size, other, *map(str, moved)], *rest]


@cache
def unsafe() -> dict[str, str]:
    """Return ladders that are sealed well, and would tell more than their stages, or nothing that can be drawn."""
    warner, nested = small()["warner"], small()["mixture"]
    designs = documents.unseal("ladder", warner.to_json())["designs"]
    coarse, fine, near, *rest = documents.unseal("ladder", nested.to_json())[
        "steps"
    ][0]["shares"][0]
    assert near != "1/7"
    identity = {"kind": "written", "channel": table("1 0", "0 1", total="1")}
    derived = [{"kind": "derived"}] * 3
    return {
        "no garbling": forged("warner", steps=[identity, *derived[1:]]),
        "a garbling of another size": first_step("matrix", channel=table("1 1", "1 1", total="2")),
        "a garbling that is no table": first_step("matrix", channel=dn.k_ary(4, p="7/10").channel.to_body()),
        "other shares": first_step("mixture", shares=[[coarse, fine, "1/7", *rest]]),
        "no shares": first_step("mixture", shares=[]),
        "shares below 0": first_step("mixture", shares=[[coarse, fine, "-1/2", "1", "1/2"]]),
        "a near share below 0 that adds up": first_step("mixture", shares=below_zero(0)),
        "an apart share below 0 that adds up": first_step("mixture", shares=below_zero(1)),
        "a free share below 0 that adds up": first_step("mixture", shares=below_zero(2)),
        "shares over 0": first_step("mixture", shares=[[coarse, fine, "1/0", "0", "0"]]),
        "two shares": first_step("mixture", shares=[[coarse, fine, "1/2", "1/2"]]),
        "sets that are none": forged("warner", steps=[{"kind": "factors", "steps": []}, *derived[1:]]),
        "an unknown kind": forged("warner", steps=[{"kind": "toString"}, *derived[1:]]),
        "downwards": forged("warner", designs=designs[::-1], steps=derived),
        "a step too few": forged("warner", steps=derived[1:]),
        "a stage twice": forged("warner", designs=[designs[0], *designs[:3]], steps=derived),
        "other categories": forged("warner", designs=[designs[0] | {"categories": ["a", "b"]}, *designs[1:]]),
        "no stage": documents.seal("ladder", {"designs": [], "steps": []}),
        "edited": warner.to_json().replace("yes", "yea"),
        "a design": warner.designs[0].to_json(),
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(unsafe()))
def test_unsafe_ladders_are_refused(scripts: Page, name: str) -> None:
    found = browser.run(scripts, "call", [["readLadder", unsafe()[name]]])
    assert found.get("name") in (
        "UnreadableFile",
        "InvalidDesign",
        "Incompatible",
    ), found
    assert found["known"]
    with pytest.raises(dn.errors.DeniableError):
        Ladder.from_json(unsafe()[name])


def test_a_step_with_shares_below_0_is_not_exact_though_its_sums_are_right(
    scripts: Page,
) -> None:
    """Files hold no such share, and the step itself takes none either: neither line of defence leans on the other."""
    coarse, fine = (
        design.channel.to_body() for design in small()["mixture"].designs[:2]
    )
    true = documents.unseal("ladder", small()["mixture"].to_json())["steps"][0][
        "shares"
    ]
    jobs = [true, *(below_zero(side) for side in range(3))]
    found = browser.run(
        scripts, "nested", {"coarse": coarse, "fine": fine, "jobs": jobs}
    )
    assert found == [True, False, False, False]


def test_a_step_between_sets_that_is_wrong_in_one_respect_is_not_exact(
    scripts: Page,
) -> None:
    for step, wrong, _ in nested().values():
        found = [
            browser.run(
                scripts,
                "nested",
                {
                    "coarse": each.old.to_body(),
                    "fine": each.new.to_body(),
                    "jobs": [each.to_body()["shares"]],
                },
            )
            for each in (step, wrong)
        ]
        assert found == [[True], [False]]


def test_only_the_response_that_is_out_is_raised(scripts: Page) -> None:
    stages = small()["direct"]  # the last stage is the answer itself
    first, last = stages.designs[0].hash, stages.designs[-1].hash
    secret, strange = "a very private thing", small()["warner"].designs[-1].hash
    wrong: dict[str, tuple[str, tuple[object, ...]]] = {
        "of another design": (
            "Incompatible",
            ("upgrade", 1, {"design": strange, "symbol": "yes"}, "yes"),
        ),
        "no response": ("Incompatible", ("upgrade", 1, "yes", "yes")),
        "an unknown symbol": (
            "InvalidResponse",
            ("upgrade", 1, {"design": first, "symbol": "maybe"}, "yes"),
        ),
        "an unknown answer": (
            "InvalidAnswer",
            ("upgrade", 1, {"design": first, "symbol": "yes"}, secret),
        ),
        "the same stage": (
            "InvalidRequest",
            ("upgrade", 0, {"design": first, "symbol": "yes"}, "yes"),
        ),
        "a stage below": (
            "InvalidRequest",
            ("upgrade", 2, {"design": last, "symbol": "yes"}, "yes"),
        ),
        "no stage": (
            "InvalidRequest",
            ("upgrade", 4, {"design": first, "symbol": "yes"}, "yes"),
        ),
        "half a stage": (
            "InvalidRequest",
            ("upgrade", 0.5, {"design": first, "symbol": "yes"}, "yes"),
        ),
        "down to above": (
            "InvalidRequest",
            ("degrade", 1, {"design": first, "symbol": "yes"}),
        ),
        "down to nothing": (
            "InvalidRequest",
            ("degrade", -1, {"design": last, "symbol": "yes"}),
        ),
    }
    for name, (expected, (what, *words)) in wrong.items():
        found = browser.run(
            scripts,
            "call",
            [
                ["readLadder", stages.to_json(), {"ceiling": math.inf}],
                [what, None, *words],
            ],
        )
        assert found.get("name") == expected, (name, found)
        assert secret not in found["message"]


@pytest.mark.parametrize(
    ("name", "symbol", "answer"),
    [
        ("exposing_binary", "yes", "no"),
        ("subset", "b00000", "3"),
        ("a bridge", "b1110", "3"),
        ("mixture", "b1111", "3"),
    ],
)
def test_a_response_that_was_never_given_is_refused_without_the_answer(
    scripts: Page, name: str, symbol: str, answer: str
) -> None:
    stages = small()[name]
    response = {"design": stages.designs[0].hash, "symbol": symbol}
    found = browser.run(
        scripts,
        "call",
        [
            ["readLadder", stages.to_json(), {"ceiling": math.inf}],
            ["upgrade", None, 1, response, answer],
        ],
    )
    assert found.get("name") == "InvalidResponse", found
    assert answer not in found["message"].replace("none", "").replace("not", "")
