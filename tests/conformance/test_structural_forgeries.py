"""Ten thousand certificates forged by a grammar: no false one is accepted, and each is answered in two seconds.

A forgery is a genuine certificate after one to three productions: fields added, dropped, repeated, renamed or moved;
objects of other kinds nested; values swapped, enlarged or of another type. The forger then sets all hashes right. In
every fourth one the forger also claims what the checker computes once its refusals are left out.

Whether an accepted forgery is false is decided without the checker. The package, which shares no code with it, reads
the document, states its own claims and caveats, and goes through all responses where these are few. Settings that no
claim rests on are put back first: with other words and hashes it is another document, of which the same is true.
"""

from __future__ import annotations

import copy
import json
import math
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import deniable as dn
from deniable import documents, exact
from deniable.certificates import certificate as package
from deniable.certificates import checker
from deniable.chance import Source
from deniable.designs import Design
from deniable.types import operation
from tests.conformance.test_every_certificate import SETTINGS
from tests.conformance.test_forged_certificates import lenient
from tests.support.certified import at, certifiable, prior_of, resealed

FORGERIES = 10_000
SECONDS = 2.0
Path = tuple[str | int, ...]

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 1.0, 1e300, math.nan, math.inf, 10**18 - 11, (1 << 61) - 1, 10**4000, 1 << 24),
    *("", "0", "1", "-1", "01", " 1", "1_0", "٣", "1.0", "1e3", "inf", "nan", "1/2", "2/4", "0x10"),
    *("9" * 3999, "9" * 4001),
    *("derived", "dense", "diagonal", "factors", "warner", "crosswise", "\x1b[2J", "\ud800", "\u202e"),
    *([], {}, [[]], [0], ["1", "1"], {"bits": 2}, {"bits": 1 << 40}, {"kind": "derived"}),
)  # fmt: skip
"""Numbers that are huge, or of another type or script; texts; and objects."""

OPTIONAL = {"acknowledge", "compare", "keys", "pilot", "planned", "right"}
"""Settings that no claim rests on, and that may be left out."""


@cache
def genuine() -> dict[str, Any]:
    """Return all genuine certificates that are short, by name."""
    texts = {
        name: dn.certify(thing, prior_of(thing)).to_json()
        for name, thing in certifiable().items()
    }
    return {
        name: json.loads(text) for name, text in texts.items() if len(text) < 9_000
    }


def nodes(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of everything in a value, containers included."""
    if path:
        yield path
    for name, entry in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):  # fmt: skip
        yield from nodes(entry, (*path, name))


class Forger:
    """Changes a certificate, one production at a time."""

    def __init__(self, certificate: Any, chance: random.Random) -> None:
        self.forged, self.chance = copy.deepcopy(certificate), chance

    def path(self, kind: type = object) -> Path:
        """Return the path of anything of a type; as often in the document as elsewhere."""
        paths = [
            path
            for path in nodes(self.forged)
            if isinstance(at(self.forged, path), kind)
        ]
        half = [path for path in paths if path[0] == "document"]
        return self.chance.choice(
            half if half and self.chance.random() < 0.5 else paths
        )

    def put(self, path: Path, value: Any) -> None:
        """Put a copy of a value at a path."""
        at(self.forged, path[:-1])[path[-1]] = copy.deepcopy(value)

    def other(self) -> Any:
        """Return something of another certificate."""
        other = self.chance.choice(list(genuine().values()))
        return at(other, self.chance.choice(list(nodes(other))))

    def add_field(self) -> None:
        name = self.chance.choice(
            [
                "factors",
                "parts",
                "prior",
                "each",
                "range",
                "arms",
                "channel",
                "more",
                "schema",
                "kind",
            ]
        )
        values = [[], {}, "1", 1, self.other(), at(self.forged, self.path())]
        at(self.forged, self.path(dict))[name] = copy.deepcopy(
            self.chance.choice(values)
        )

    def drop(self) -> None:
        path = self.path()
        del at(self.forged, path[:-1])[path[-1]]

    def rename_field(self) -> None:
        body = at(self.forged, self.path(dict))
        if body:
            body[self.chance.choice([*body, "more"])] = body.pop(
                self.chance.choice(list(body))
            )

    def move(self) -> None:
        path, target = self.path(), self.path(dict)
        value = copy.deepcopy(at(self.forged, path))
        at(self.forged, target)[str(path[-1])] = value
        if target[: len(path)] != path:
            del at(self.forged, path[:-1])[path[-1]]

    def swap(self) -> None:
        first, second = self.path(), self.path()
        if first[: len(second)] != second and second[: len(first)] != first:
            values = at(self.forged, first), at(self.forged, second)
            self.put(first, values[1])
            self.put(second, values[0])

    def change_value(self) -> None:
        self.put(self.path(), self.chance.choice(VALUES))

    def change_number(self) -> None:
        path = self.path()
        text = str(at(self.forged, path))
        if text.isdecimal():
            number = self.chance.choice(
                [int(text) + 1, max(int(text) - 1, 0), 2 * int(text), 10**30, 0]
            )
            self.put(
                path,
                number if isinstance(at(self.forged, path), int) else str(number),
            )

    def nest(self) -> None:
        self.put(self.path(dict), self.other())

    def wrap(self) -> None:
        path = self.path(dict)
        body, names = at(self.forged, path), self.chance.choice(["", "a", "aa"])
        self.put(path, self.chance.choice([
            {"name": "product", "factors": [{"attribute": name, "design": body} for name in names]},
            {"kind": "product", "factors": [body, body]}, {"design": body}, {**body, "factors": []},
            {"designs": [body], "steps": []}, {"kind": "factors", "steps": [body]}, [body],
        ]))  # fmt: skip

    def change_list(self) -> None:
        entries = at(self.forged, self.path(list))
        way = self.chance.randrange(4)
        if way == 0:
            entries.clear()
        elif way == 1 and entries:
            entries.append(copy.deepcopy(self.chance.choice(entries)))
        elif way == 2:
            entries.reverse()
        elif entries:
            entries.pop(self.chance.randrange(len(entries)))

    def swap_claims(self) -> None:
        other = self.chance.choice(list(genuine().values()))
        name = self.chance.choice(["claims", "caveats", "document"])
        self.forged[name] = copy.deepcopy(other[name])

    def rename_alike(self) -> None:
        """Give one of several attributes or questions the name of another one."""
        document = self.forged["document"]
        entries = (
            document.get("factors", document.get("questions"))
            if isinstance(document, dict)
            else None
        )
        if (
            isinstance(entries, list)
            and len(entries) > 1
            and all(isinstance(entry, dict) for entry in entries)
        ):
            key = "attribute" if "attribute" in entries[0] else "name"
            entries[0][key] = entries[-1].get(key)

    def claim_computed(self) -> None:
        """Claim what the checker computes without its refusals."""
        lenient()["BUDGET"].left = checker.MAX_COST
        checked = lenient()["check_document"](
            self.forged["document"], self.forged["claims"]
        )
        self.forged.update(claims=checked.claims, caveats=checked.caveats)


PRODUCTIONS: list[Callable[[Forger], None]] = [
    Forger.add_field, Forger.drop, Forger.rename_field, Forger.move, Forger.swap, Forger.change_value,
    Forger.change_number, Forger.nest, Forger.wrap, Forger.change_list, Forger.swap_claims, Forger.rename_alike,
]  # fmt: skip


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Stop what takes more processor time."""

    def stop(*_: object) -> None:
        raise TimeoutError

    earlier = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, earlier)


def forge(certificate: Any, chance: random.Random) -> tuple[str, str]:
    """Return a forgery as text, with right hashes, and the last production."""
    forger, production = Forger(certificate, chance), Forger.drop
    for _ in range(chance.choice([1, 1, 2, 3])):
        production = chance.choice(PRODUCTIONS)
        try:
            production(forger)
        except (AttributeError, IndexError, KeyError, TypeError):
            continue
    if chance.random() < 0.25:
        try:
            with time_limit(0.2):
                forger.claim_computed()
        except Exception:
            pass  # what cannot be computed stays as it was
    try:
        text = json.dumps(resealed(forger.forged))
    except (TypeError, ValueError, UnicodeEncodeError):
        text = json.dumps(forger.forged)
    return text, production.__name__


def repeat_field(certificate: Any, chance: random.Random) -> str:
    """Write a field of some object twice, with another value first: most readers take the last one."""
    paths = [
        path
        for path in [(), *nodes(certificate)]
        if at(certificate, path) and isinstance(at(certificate, path), dict)
    ]
    body = at(certificate, chance.choice(paths))
    name = chance.choice(list(body))
    body = json.dumps(body)
    twice = f"{{{json.dumps(name)}: {chance.choice(['[]', '1', '{}'])}, {body[1:]}"
    return json.dumps(certificate).replace(body, twice, 1)


def without(value: Any, names: set[str]) -> Any:
    """Return a value without some of the fields of all its objects."""
    if isinstance(value, dict):
        return {
            name: without(entry, names)
            for name, entry in value.items()
            if name not in names
        }
    return (
        [without(entry, names) for entry in value]
        if isinstance(value, list)
        else value
    )


def restore_settings(forged: Any, original: Any) -> Any:
    """Return a document with the settings of another one of the same shape."""
    if isinstance(forged, dict) and isinstance(original, dict):
        restored = {
            name: original[name]
            if name in SETTINGS and name in original
            else restore_settings(entry, original.get(name))
            for name, entry in forged.items()
            if name in original or name not in OPTIONAL
        }
        return restored | {
            name: original[name] for name in OPTIONAL & original.keys()
        }
    if (
        isinstance(forged, list)
        and isinstance(original, list)
        and len(forged) == len(original)
    ):
        return [
            restore_settings(*pair) for pair in zip(forged, original, strict=True)
        ]
    return forged


def is_true(text: str, original: Any) -> bool:
    """Whether the package says the same of the document as the certificate does."""
    forged = json.loads(text, object_pairs_hook=documents._without_repetition)
    for document in (
        forged["document"],
        resealed(restore_settings(forged["document"], original["document"])),
    ):
        kind = document["schema"].removeprefix("deniable/").removesuffix("/1")
        try:
            subject: Any = package.subject_classes()[kind].from_json(
                json.dumps(document)
            )
            own = json.loads(
                dn.Certificate(
                    subject, package._prior_in(forged["claims"])
                ).to_json()
            )
        except dn.DeniableError:
            continue
        # of a large channel the table is about the witness, which may be another one
        loose = {"witness", "table", "response", "marked"}
        said = [without(each["claims"], loose) for each in (own, forged)]
        return (
            said[0] == said[1]
            and own["caveats"] == forged["caveats"]
            and attains(subject, forged["claims"])
        )
    return False


def attains(subject: Any, claims: Any) -> bool:
    """Whether the witnesses of all channels attain their parities, and no response of a small one exceeds them."""
    if isinstance(subject, dn.Survey):
        parts = [
            (question.about, claims["parts"][question.name])
            for question in subject.questions
        ]
    else:
        parts = [
            (part.design, part.claims)
            for part in operation(subject, "claimed_parts")(subject, claims)
        ]
    design = (
        None
        if isinstance(subject, dn.Survey)
        else operation(subject, "labelled_design")(subject)
    )
    here = not isinstance(design, Design) or channel_attains(design.channel, claims)
    return here and all(attains(*part) for part in parts)


def channel_attains(channel: Any, claims: Any) -> bool:
    parity = math.inf if claims["parity"] == "inf" else Fraction(claims["parity"])
    response, likely, unlikely = (
        int(claims["witness"][name], 0)
        for name in ("response", "likely", "unlikely")
    )
    p = channel.probability
    attained = (
        exact.ratio(p(response, given=likely), p(response, given=unlikely)) == parity
    )
    if channel.answers * channel.responses > 64:
        return attained
    rows = [
        [p(i, given=j) for j in range(channel.answers)]
        for i in range(channel.responses)
    ]
    return (
        attained
        and max(exact.ratio(max(row), min(row)) for row in rows if any(row))
        == parity
    )


def test_no_false_forgery_is_accepted(seeded: Source) -> None:
    chance, originals = random.Random(seeded.read(16)), list(genuine().values())
    slowest, accepted, refused = 0.0, Counter[str](), Counter[str]()
    for number in range(FORGERIES):
        original = originals[number % len(originals)]
        text, production = forge(original, chance)
        while json.loads(text) == original:
            text, production = forge(original, chance)
        if number % 10 == 0:  # a field of a forgery, or of what is genuine otherwise
            certificate = chance.choice([json.loads(text), original]) or original
            text, production = repeat_field(certificate, chance), "repeat_field"
        start = time.process_time()
        try:
            with time_limit(10 * SECONDS):
                checker.verify(text)
        except checker.Rejected:
            refused[production] += 1
        else:
            accepted[production] += 1
            assert is_true(text, original), text[:3000]
        slowest = max(slowest, time.process_time() - start)
    assert slowest < SECONDS
    # every production makes forgeries, and the checker refuses nearly all of them
    assert len(refused) == len(PRODUCTIONS) + 1
    assert sum(refused.values()) > 0.95 * FORGERIES, accepted


@pytest.mark.parametrize("name", genuine())
def test_what_decides_calls_genuine_certificates_true(name: str) -> None:
    assert is_true(json.dumps(genuine()[name]), genuine()[name])
