"""Golden vectors of the draw: designs, bytes, answers and the responses they give. Written by `scripts/vectors`.

They are the contract of docs/draws.md in numbers, for every implementation in every language. Answers and responses
are codes; `used` tells how many of the bytes were taken. Some bytes are planted at the edges of decisions.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from deniable.chance import ScriptedSource
from deniable.designs import (
    FAMILIES,
    Design,
    NumberDesign,
    k_ary,
    number_design,
    subset,
    warner,
)
from deniable.types import operation
from deniable.types.drawn.design import drawn_items
from deniable.types.key_value.design import lpp, lpp_club, pckv_grr, pckv_ue
from deniable.types.numbers.respond import level_below
from deniable.types.numbers.respond import respond as respond_number
from deniable.types.strings.design import Bloom, Prefixes, string_design
from tests.support.hands import HARD, Counted, everybody, planted, scalar

FILE = Path(__file__).parents[1] / "golden" / "vectors.json"
DRAWS = 12  # for each design, half of them with planted words
_SPARE = (
    16  # bytes that are not taken: an implementation that takes more is found out
)
_SMALL = (
    "the other one always",
    "256 categories",
    "two words, none thrown away",
    "two words, some thrown away",
)
_TABLES = (
    "zeros at both ends of columns",
    "zeros in a table of two words",
    "forced responses",
)


def designs() -> dict[str, Design]:
    """Return every registered example, and designs that are hard to draw from; those of which codes can be written."""
    registered = {
        f"{family.name} {number}": design
        for family in sorted(FAMILIES.values(), key=lambda family: family.name)
        for number, design in enumerate(family.designs())
        if design.channel.responses <= 1 << 53
    }
    return registered | {
        name: HARD[name]
        for name in (
            *_SMALL,
            *_TABLES,
            "a product of one and two words",
            "patterns of three levels",
        )
    }


NUMBERS: dict[str, tuple[NumberDesign, list[str]]] = {
    "numbers in two levels": (
        number_design(0, 80, 1, levels=2),
        ["0", "80", "37.5", "0.000000001", "26.6"],
    ),
    "numbers in a window": (
        number_design("-1/3", 2, 2),
        ["-1/3", "2", "0.1", "1.4166", "0.25", "-0.05", "13/12"],
    ),
    "numbers for a distribution": (
        number_design(-5, 5, 1, goal="distribution"),
        ["-5", "5", "0", "-4.9999", "0.5"],
    ),
}
"""Designs for numbers, and true numbers: at levels, between them, at the ends."""


def number_vector(name: str) -> dict[str, Any]:
    """Return draws for numbers: words of rounding lie at the very place of the number, beside it, or anywhere."""
    design, some = NUMBERS[name]
    noise = ScriptedSource(hashlib.shake_256(name.encode()).digest(1 << 16))
    answers = [some[at % len(some)] for at in range(3 * DRAWS)]
    script = b"".join(
        _rounding(design, answer, at, noise) + noise.read(8)
        for at, answer in enumerate(answers)
    )
    source = ScriptedSource(script)
    symbols = [
        respond_number(design, answer, source=source).symbol for answer in answers
    ]
    return {
        "name": name,
        "design": json.loads(design.to_json()),
        "bytes": script.hex(),
        "answers": answers,
        "symbols": symbols,
        "used": source.used,
    }


TYPED: dict[str, tuple[Any, list[tuple[Any, str]]]] = {
    "one drawn item of three": (
        drawn_items({"a": warner(1), "b": k_ary(3, 2), "c": subset(4, 1)}),
        [
            ({"a": "no", "b": "2", "c": "0"}, "no · 2 · 0"),
            ({"a": "yes", "b": "0", "c": "3"}, "yes · 0 · 3"),
        ],
    ),
    "two drawn items of four": (
        drawn_items([warner(p="2/3"), k_ary(5, 1), warner(1), k_ary(3, 1)], each=2),
        [
            ({"1": "yes", "2": "4", "3": "no", "4": "1"}, "yes · 4 · no · 1"),
            ({"1": "no", "2": "0", "3": "no", "4": "2"}, "no · 0 · no · 2"),
        ],
    ),
    "one item of three, rated": (
        lpp_club(["a", "b", "c"], 1, low=1, high=5),
        [({"a": 5, "c": 2}, "5 · none · 2"), ({}, "none · none · none")],
    ),
    "the sign of one item": (
        lpp(["a", "b"], 1, 1),
        [({"b": "1/2"}, "none · 1/2"), ({"a": -1, "b": 1}, "-1 · 1")],
    ),
    "a mark for each of four items": (
        pckv_ue(4, 1, padding=2),
        [
            ({"0": 1, "1": "-1/2", "3": 0}, "1 · -1/2 · none · 0"),
            ({"2": -1}, "none · none · -1 · none"),
        ],
    ),
    "one item of three, or nothing": (
        pckv_grr(3, 2, padding=2),
        [
            ({"1": "1/2"}, "none · 1/2 · none"),
            ({"0": 1, "1": -1, "2": 0}, "1 · -1 · 0"),
        ],
    ),
    "texts": (
        string_design(Bloom(70, hashes=3, cohorts=10), epsilon=2),
        [
            ("Zoe\u0308", "Zoë"),
            ("ab" * 90, "ab" * 90),
            ("\U0001f600 x", "\U0001f600 x"),
        ],
    ),
    "prefixes of texts": (
        string_design(
            Prefixes(16, 2, 6, alphabet="abc", lengths=(1, 3)),
            epsilon=2,
            optimized=True,
        ),
        [("abcab", "abcab"), ("c", "c")],
    ),
}
"""Designs of other types, and true answers, each with what a page calls it."""


def typed_vector(name: str) -> dict[str, Any]:
    """Return draws with a design of another type, from bytes that belong to the name."""
    design, known = TYPED[name]
    script = hashlib.shake_256(name.encode()).digest(1 << 16)
    source, answers = (
        ScriptedSource(script),
        [known[at % len(known)] for at in range(DRAWS)],
    )
    sent = [
        operation(design, "respond")(design, answer, source=source)
        for answer, _ in answers
    ]
    return {
        "name": name,
        "design": json.loads(design.to_json()),
        "bytes": script[: source.used + _SPARE].hex(),
        "answers": [label for _, label in answers],
        "symbols": [written(response) for response in sent],
        "used": source.used,
    }


def written(response: Any) -> str:
    """Return a response as a page sends it: of a string with its cohort."""
    cohort = getattr(response, "cohort", None)
    return response.symbol if cohort is None else f"{cohort} {response.symbol}"


def _rounding(
    design: NumberDesign, answer: str, at: int, noise: ScriptedSource
) -> bytes:
    """Return the words that round one number: one, and a second where the first is equal to the digit."""
    part = level_below(design, answer)[1]
    digit, rest = divmod(part.numerator << 64, part.denominator)
    word = (
        int.from_bytes(noise.read(8), "little")
        if at % 3 == 2
        else min(max(digit - at % 2, 0), (1 << 64) - 1)
    )
    more = noise.read(8) if word == digit and rest else b""
    return word.to_bytes(8, "little") + more


def vector(name: str, design: Design) -> dict[str, Any]:
    """Return a few draws, from bytes that belong to the name."""
    noise = ScriptedSource(hashlib.shake_256(name.encode()).digest(1 << 20))
    answers = everybody(design, DRAWS)
    script = planted(design, DRAWS, noise) + noise.read(1 << 19)
    responses, used = scalar(design, answers, Counted(script, ScriptedSource(b"")))
    return {
        "name": name,
        "design": json.loads(design.to_json()),
        "bytes": script[: used + _SPARE].hex(),
        "answers": answers,
        "responses": responses,
        "used": used,
    }


def text() -> str:
    """Return the file: one line for each vector."""
    head = json.dumps({"schema": "deniable/vectors/1", "about": "docs/draws.md"})[
        :-1
    ]
    lines = [
        json.dumps(vector(name, design), ensure_ascii=False)
        for name, design in designs().items()
    ]
    numbers = [
        json.dumps(number_vector(name), ensure_ascii=False) for name in NUMBERS
    ]
    typed = [json.dumps(typed_vector(name), ensure_ascii=False) for name in TYPED]
    return (
        head
        + ', "vectors": [\n'
        + ",\n".join(lines)
        + '\n], "numbers": [\n'
        + ",\n".join(numbers)
        + '\n], "typed": [\n'
        + ",\n".join(typed)
        + "\n]}\n"
    )


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(
        f"wrote {FILE.name}: {len(designs())} vectors, {FILE.stat().st_size:,} bytes",
        file=sys.stderr,
    )
