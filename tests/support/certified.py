"""Everything that can be certified, small enough to be gone through, and ways to corrupt a certificate."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import deniable as dn
from deniable import documents
from deniable.survey.arms import SurveyArm
from deniable.survey.checks import comprehension_check
from deniable.survey.keys import Keys
from deniable.survey.survey import PILOT
from tests.support.ladders import crossings, families
from tests.support.registered import registered
from tests.support.surveys import question, small
from tests.support.types import TYPES

Path = tuple[str | int, ...]

LARGE = {
    "k_ary of 1,000": lambda: dn.k_ary(1000, 1),
    "unary of 128": lambda: dn.unary(128, 1),
    "rappor of 20,000": lambda: dn.rappor(20_000, 1, by_size=False),
    "subset of 128": lambda: dn.subset(128, 1),
    "subset of 30,000": lambda: dn.subset(30_000, 1),
    "patterns of 20": lambda: dn.relaxed_subset(20, "1/2", "1/20"),
    "hadamard of 1,000": lambda: dn.hadamard(1000, 2),
    "hashing of 5,000": lambda: dn.local_hashing(5000, 1),
    "stages of unary of 128": lambda: dn.ladder([dn.unary(128, e) for e in (1, 2)]),
    "stages of subset of 128": lambda: dn.ladder(
        [dn.subset(128, e) for e in (1, 2)]
    ),
    "strings of 128 bits": lambda: dn.string_design(dn.Bloom(128, hashes=2), 4),
    "ten questions": lambda: small(
        questions=tuple(question(f"q{at}", dn.warner("1/2")) for at in range(10))
    ),
}
"""Channels that nobody writes out."""


def whole_survey() -> dn.Survey:
    """A pilot with arms, a comprehension check, keys, acknowledged questions and a direct one to compare with."""
    asked = (
        question("smokes", dn.crosswise("1/4")),
        question(
            "smokes-direct", dn.direct(), acknowledge=math.inf, compare="smokes"
        ),
    )
    check = comprehension_check("understood", "certain", asked[:1])
    arms = (
        SurveyArm("device", ("smokes", "understood")),
        SurveyArm("direct", ("smokes-direct",)),
    )
    return small(
        name=f"small{PILOT}",
        questions=(*asked, check),
        arms=arms,
        acknowledge=math.inf,
        keys=Keys("0" * 64),
        pilot=True,
        planned=100,
    )


@cache
def certifiable() -> dict[str, Any]:
    """Return everything that can be certified, by name: each registered family, type, ladder, and what is large."""
    found: dict[str, Any] = {}
    for number, design in enumerate(registered()):
        found[f"{design.name}-{number}"] = design
    found |= {f"type: {name}": build().design for name, build in TYPES.items()}
    stages = families() | {
        name: some for name, some in crossings().items() if name != "bits, then sets"
    }
    found |= {f"stages: {name}": dn.ladder(some) for name, some in stages.items()}
    found |= {
        "survey": small(),
        "survey of one drawn": small(each=1),
        "survey of two drawn": small(each=2),
        "survey with all that is optional": whole_survey(),
        "survey of drawn items": small(
            questions=(question("habits", TYPES["drawn items"]().design),)
        ),
    }
    found |= {
        "deck without spare cards": dn.Deck((1, 1, 2), people=4),
        "deck with spare cards": dn.Deck((3, 2, 7), people=3),
        "vectors, padded": dn.pckv_ue(7, 1, padding=2),
        "vectors, padded to more than half": dn.pckv_ue(3, 1, padding=2),
        "items, padded": dn.pckv_grr(7, 2, padding=3),
        "filters with two ones": dn.string_design(dn.Bloom(8, hashes=2), 4),
        "filters that are full": dn.string_design(dn.Bloom(3, hashes=2), 4),
        "a field of four": dn.local_hashing(17, 1, values=4),
    }
    return found


def prior_of(thing: Any) -> Any:
    """Return a prior that is not even, for a design with few answers; else None."""
    if (
        not isinstance(thing, dn.Design)
        or thing.factors
        or len(thing.categories) > 100
    ):
        return None
    size = len(thing.categories)
    return [f"{2 * (number + 1)}/{size * (size + 1)}" for number in range(size)]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every leaf."""
    if isinstance(value, dict | list):
        for name, each in (
            value.items() if isinstance(value, dict) else enumerate(value)
        ):
            yield from leaves(each, (*path, name))
    else:
        yield path


def at(value: Any, path: Path) -> Any:
    """Return what stands at a path."""
    for name in path:
        value = value[name]
    return value


def resealed(value: Any) -> Any:
    """Return a document with the hashes that belong to it, and to each document in it: what an attacker would do."""
    if isinstance(value, list):
        return [resealed(each) for each in value]
    if not isinstance(value, dict):
        return value
    body = {
        name: resealed(each)
        for name, each in value.items()
        if name != "hash" or "schema" not in value
    }
    return (
        {**body, "hash": documents.digest(body)}
        if "schema" in body and "hash" in value
        else body
    )


def corrupted(certificate: Any, path: Path, chance: random.Random) -> Any:
    """Return a copy in which one leaf is another one."""
    found = copy.deepcopy(certificate)
    holder, name = at(found, path[:-1]), path[-1]
    way = chance.choice(("changed", "changed", "changed", "dropped", "moved"))
    if way == "dropped":
        del holder[name]
    elif way == "moved":
        names = (
            list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        )
        other = chance.choice(names)
        holder[name], holder[other] = holder[other], holder[name]
    else:
        holder[name] = _changed(holder[name], chance)
    return found


def _changed(leaf: Any, chance: random.Random) -> Any:
    if leaf is None or isinstance(leaf, bool):
        return chance.choice(
            [each for each in (None, True, False) if each is not leaf]
        )
    if isinstance(leaf, int):
        return chance.choice((leaf + 1, leaf - 1, 2 * leaf + 1))
    over, slash, under = leaf.partition("/")
    if not over.isdecimal():
        return chance.choice(("0", "1", leaf + "0", leaf[1:], leaf.swapcase() + "x"))
    if slash:
        more, fewer = int(over) + 1, max(int(over) - 1, 0)
        return chance.choice(
            (
                f"{more}/{under}",
                f"{fewer}/{under}",
                f"{over}/{int(under) + 1}",
                f"{under}/{over}",
                over,
            )
        )
    return chance.choice(
        (
            str(int(over) + 1),
            str(max(int(over) - 1, 0)) + ("" if int(over) else "1"),
            f"{over}0",
            "inf",
        )
    )


def text_of(certificate: Any) -> str:
    """Return a certificate as text."""
    return json.dumps(certificate, ensure_ascii=False)
