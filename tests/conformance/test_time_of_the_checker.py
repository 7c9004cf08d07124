"""The checker answers within two seconds of processor time, whatever it is given: documents made to cost time.

Each is larger than what the budget admits, in one way: so the time that passes until it is refused is the longest that
its kind can take. A few take next to nothing and are here because they once took minutes.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

import deniable as dn
from deniable.certificates import checker
from deniable.chance import Source
from deniable.errors import InvalidRequest
from tests.conformance.test_structural_forgeries import time_limit
from tests.support.certified import resealed, text_of

SECONDS = 2.0
WITNESS = {"response": "0", "likely": "0", "unlikely": "1"}
HASH = (1 << 61) - 1
"""Integers are hashed modulo this prime."""


def certificate_of(document: Any, claims: Any) -> Any:
    schema = "deniable/certificate/1"
    return {"schema": schema, "document": document, "claims": claims, "caveats": [], "hash": ""}  # fmt: skip


def design_of(design: Any, **claims: Any) -> Any:
    document = {"schema": "deniable/design/1", **design, "hash": ""}
    return certificate_of(document, {"witness": witness_of(design), **claims})


def witness_of(design: Any) -> Any:
    """Return a witness that holds, so that the checker goes on; of a set of one, {0}."""
    channel = design.get("channel", {})
    if channel.get("kind") == "subset":
        return {**WITNESS, "response": "1"}
    if channel.get("kind") != "dense":
        return WITNESS
    rows = [list(map(int, row)) for row in channel["weights"]]
    ratios = [Fraction(max(row), min(row) or 1) for row in rows]
    worst = ratios.index(max(ratios))
    likely, unlikely = (rows[worst].index(best(rows[worst])) for best in (max, min))
    witness = {"response": worst, "likely": likely, "unlikely": unlikely}
    return {name: str(number) for name, number in witness.items()}


def labelled(channel: Any, categories: Any, symbols: Any) -> Any:
    return {"name": "matrix", "categories": categories, "symbols": symbols, "channel": channel}  # fmt: skip


def diagonal(same: int, other: int, size: int = 2) -> Any:
    channel = {"kind": "diagonal", "size": size, "same": str(same), "other": str(other)}  # fmt: skip
    return labelled(channel, size, size)


def side_by_side(designs: list[Any]) -> Any:
    """Return a product of designs with unlike names."""
    factors = [
        {"attribute": f"a{number}", "design": design}
        for number, design in enumerate(designs)
    ]
    parts = {
        factor["attribute"]: {"witness": witness_of(factor["design"])}
        for factor in factors
    }
    return design_of({"name": "product", "factors": factors}, parts=parts)


def drawn(designs: list[Any], each: int) -> Any:
    certificate = side_by_side(designs)
    document = certificate["document"]
    document.update(schema="deniable/drawn-design/1", each=each)
    del document["name"]
    return certificate


def table(columns: list[list[int]]) -> Any:
    total = max(map(sum, columns))
    rows = list(zip(*columns, strict=True))
    rows.append(tuple(total - sum(column) for column in columns))
    weights = [list(map(str, row)) for row in rows]
    channel = {"kind": "dense", "total": str(total), "weights": weights}
    return labelled(channel, len(columns), len(rows))


def random_table(chance: random.Random, answers: int, rows: int, bits: int) -> Any:
    columns = [
        [chance.getrandbits(bits) | 1 for _ in range(rows - 1)]
        for _ in range(answers)
    ]
    return table(columns)


def unlike_diagonals(digits: int, count: int) -> list[Any]:
    weights = [(10**digits + 2 * number + 3, 10**digits) for number in range(count)]
    return [diagonal(*pair) for pair in weights if math.gcd(*pair) == 1]


def with_colliding_hashes(rows: int) -> Any:
    """A table whose likelihood ratios, and their numerators and denominators, all have one hash."""
    first = [HASH * number + 3 for number in range(1, rows)]
    second = [HASH * (3 * number + 1) + 1 for number in range(1, rows)]
    return design_of(table([first, second]))


def wide_with_colliding_hashes(columns: int) -> Any:
    """A table of two rows, in each of which all integers have one hash."""
    first = [HASH * number + 3 for number in range(1, columns + 1)]
    return design_of(table([[weight] for weight in first]))


def padded_items(places: int, digits: int, count: int) -> Any:
    """A survey of many questions about items, each with as many places as there may be."""
    weights = [10**digits + number for number in (9, 5, 5, 3, 9, 1, 3, 1, 9)]
    total = sum(weights[::3])
    rows = [weights[:3], weights[3:6], weights[6:]]
    rows[0][1] = rows[0][2] = total - rows[1][1] - rows[2][1]
    symbol = {"kind": "dense", "total": str(total), "weights": [list(map(str, row)) for row in rows]}  # fmt: skip
    scheme = {"kind": "unary", "padding": places, "symbol": symbol}
    items = {"name": "x", "items": 3 * places, "low": "-1", "high": "1", "scheme": scheme}  # fmt: skip
    document = {"schema": "deniable/keyvalue-design/1", **items, "hash": ""}
    certificate = survey_of(count)
    for question in certificate["document"]["questions"]:
        question["design"] = document
    witness = {"witness": {"marked": str(places)}}
    certificate["claims"]["parts"] = {f"q{at}": witness for at in range(count)}
    return certificate


def prior_of_long_fractions(digits: int, count: int) -> Any:
    prior = [f"1/{10**digits + number}" for number in range(count)]
    return design_of(diagonal(9, 1, count), prior=prior)


def prior_of_many_answers() -> Any:
    prior = [f"{number + 1}/10000000019" for number in range(100_000)]
    return design_of(diagonal(9, 1, 100_000), prior=prior)


def exponent() -> Any:
    return design_of({**diagonal(3, 1), "range": ["0", "1e10000000"]})


def logarithm_like_a_float(digits: int = 1900) -> Any:
    """A parity whose logarithm is a float to thousands of digits: they are needed to tell on which side of it."""
    with localcontext(prec=2 * digits):
        nearest = Decimal.from_float(1.0986122886681098).exp()
        same, other = int(nearest.scaleb(digits)), 10**digits
    common = math.gcd(same, other)
    return side_by_side([diagonal(same // common, other // common)] * 40)


def prime_values(count: int) -> Any:
    values = (1 << 31) - 1
    channel = {"kind": "hashing", "size": 10, "values": values, "same": "3", "other": "1"}  # fmt: skip
    return side_by_side([labelled(channel, 10, values)] * count)


def many_sets(count: int) -> Any:
    size = 1 << 20
    channel = {"kind": "subset", "size": size, "ones": 1, "inside": "1", "total": "2"}  # fmt: skip
    return side_by_side([labelled(channel, size, {"bits": size})] * count)


def mixture_of(sizes: int, digits: int) -> Any:
    total = sizes * 10**digits
    parts = [
        {"ones": ones, "weight": str(10**digits), "inside": str(total // 2 + ones)}
        for ones in range(1, sizes + 1)
    ]
    size = sizes + 2
    channel = {"kind": "mixture", "size": size, "total": str(total), "parts": parts}  # fmt: skip
    return design_of(labelled(channel, size, {"bits": size}))


def patterns_of(size: int) -> Any:
    """A pattern of three levels whose response is as long as can be."""
    levels = [{"categories": n, "weight": str(w)} for n, w in ((size - 2, 1), (1, 2), (1, 3))]  # fmt: skip
    parts = [{"weight": "1", "levels": levels}]
    channel = {"kind": "patterns", "size": size, "total": "1", "parts": parts}
    certificate = design_of(labelled(channel, size, {"bits": 2 * size}))
    certificate["claims"]["witness"] = {"response": hex(1 << size | 3), "likely": "0", "unlikely": "2"}  # fmt: skip
    return certificate


def strings_of_long_weights(digits: int) -> Any:
    weights = {"hit": str(10**digits - 1), "stray": "3", "total": str(10**digits)}
    channel = {"kind": "bits", "size": 64, "tally": "by size", **weights}
    bloom = {"hash": "x", "bits": 64, "hashes": 16, "cohorts": 1}
    document = {"schema": "deniable/string-design/1", "bloom": bloom, "channel": channel, "hash": ""}  # fmt: skip
    return certificate_of(document, {"witness": WITNESS})


def deck(counts: list[int], people: int, worst: int = 0) -> Any:
    cards = {"counts": counts, "people": people, "categories": ["a", "b"]}
    document = {"schema": "deniable/deck/1", **cards, "hash": ""}
    claims = {"witness": {"response": str(worst)}, "alone": {"witness": WITNESS}}
    return certificate_of(document, claims)


def stages(designs: list[Any], garbling: Any) -> Any:
    """Return a ladder whose garblings are all the same."""
    steps = [{"kind": "derived"}] * (len(designs) - 1)
    document = {"schema": "deniable/ladder/1", "designs": designs, "steps": steps, "hash": ""}  # fmt: skip
    claims = {
        "parts": [{"witness": WITNESS}] * len(designs),
        "garblings": [garbling] * len(steps),
    }
    return certificate_of(document, claims)


def stages_of_tables(size: int) -> Any:
    rows = [[str(int(i == j)) for j in range(size)] for i in range(size)]
    garbling = {"kind": "table", "total": "1", "weights": rows}
    return stages([diagonal(2, 1, size)] * 30, garbling)


def stages_of_sets(rows: int) -> Any:
    size = 12
    channel = {"kind": "subset", "size": size, "ones": 3, "inside": "1", "total": "2"}  # fmt: skip
    design = labelled(channel, size, {"bits": size})
    design["name"] = "subset"
    share = str(Fraction(1, 2 * rows))
    shares = [[3, 3, share, "0", "0"]] * rows
    witness = {"response": "7", "likely": "0", "unlikely": "3"}
    certificate = stages([design] * 2, {"kind": "sets", "shares": shares})
    certificate["claims"]["parts"] = [{"witness": witness}] * 2
    return certificate


def survey_of(count: int) -> Any:
    device = {"schema": "deniable/design/1", **diagonal(3, 1), "hash": ""}
    device["name"] = "crosswise"
    questions = [
        {"name": f"q{number}", "device": "x", "texts": {}, "design": device}
        for number in range(count)
    ]
    texts = dict.fromkeys(("name", "opens", "closes", "admission"), "x")
    settings = {"languages": [], "texts": {}, "groups": [], "minimum": 1, **texts}
    document = {"schema": "deniable/survey/1", **settings, "questions": questions, "hash": ""}  # fmt: skip
    parts = {question["name"]: {"witness": WITNESS} for question in questions}
    return certificate_of(document, {"parts": parts})


def documents_in_documents() -> Any:
    document: Any = {"schema": "x", "text": "y" * 1_000_000, "hash": ""}
    for _ in range(200):
        document = {"schema": "x", "inner": document, "hash": ""}
    return certificate_of(document, {})


def nested(text: str) -> str:
    """Put the text of a value into a certificate, which its size alone refuses or not."""
    return text_of(certificate_of("VALUE", {})).replace('"VALUE"', text)


COSTLY: dict[str, Callable[[random.Random], Any]] = {
    "colliding hashes": lambda _: with_colliding_hashes(20_000),
    "colliding hashes in a row": lambda _: wide_with_colliding_hashes(30_000),
    "padded items": lambda _: padded_items(10_000, 19, 200),
    "padded items of long weights": lambda _: padded_items(10_000, 2_000, 20),
    "exponent": lambda _: exponent(),
    "primes": lambda _: prime_values(4_000),
    "a logarithm like a float": lambda _: logarithm_like_a_float(),
    "a prior of long fractions": lambda _: prior_of_long_fractions(1_500, 2_000),
    "a prior of middling fractions": lambda _: prior_of_long_fractions(300, 4_000),
    "a prior of many answers": lambda _: prior_of_many_answers(),
    "products of long weights": lambda chance: side_by_side(
        [random_table(chance, 2, 2, 3_300) for _ in range(7)]
    ),
    "products of short weights": lambda chance: side_by_side(
        [random_table(chance, 2, 5, 40) for _ in range(7)]
    ),
    "many pairs": lambda chance: design_of(random_table(chance, 224, 2, 120)),
    "many pairs, in vain": lambda chance: side_by_side(
        [random_table(chance, 46, 46, 30) for _ in range(4)]
    ),
    "long table": lambda chance: design_of(random_table(chance, 2, 600, 12_000)),
    "large table": lambda chance: design_of(random_table(chance, 500, 500, 40)),
    "Bayes factors of long weights": lambda chance: side_by_side(
        [random_table(chance, 16, 16, 2_000)] * 12
    ),
    "attributes of long weights": lambda _: side_by_side(unlike_diagonals(3_999, 60)),
    "attributes of middling weights": lambda _: side_by_side(unlike_diagonals(300, 1_000)),
    "attributes of short weights": lambda _: side_by_side(unlike_diagonals(50, 4_000)),
    "equal attributes": lambda _: side_by_side([diagonal(1, 1)] * 8_000),
    "one of many attributes": lambda _: drawn(unlike_diagonals(8, 3_000), 1),
    "some of many attributes": lambda _: drawn(unlike_diagonals(8, 3_000), 1_500),
    "sets": lambda _: many_sets(8_000),
    "patterns": lambda _: patterns_of(1 << 23),
    "sizes of sets": lambda _: mixture_of(20_000, 30),
    "sizes of sets of long weights": lambda _: mixture_of(200, 3_000),
    "strings of long weights": lambda _: strings_of_long_weights(120),
    "strings of short weights": lambda _: strings_of_long_weights(30),
    "a deck of many numbers": lambda _: deck([2, 1] * 666, 2),
    "a deck of many hands": lambda _: deck([300, 0, 0, 320], 250, worst=3),
    "a deck of numbers without cards": lambda _: deck([1, 2] + [0] * 1_000_000, 2),
    "stages of tables": lambda _: stages_of_tables(80),
    "stages of sets": lambda _: stages_of_sets(15_000),
    "questions": lambda _: survey_of(4_000),
    "documents in documents": lambda _: documents_in_documents(),
    "depth": lambda _: nested("[" * 1_900_000 + "]" * 1_900_000),
    "objects": lambda _: nested("[" + "{}," * 1_300_000 + "{}]"),
    "more objects than are read": lambda _: nested("[" + "{}," * 4_000_000 + "{}]"),
    "numbers": lambda _: nested("[" + "1," * 1_900_000 + "1]"),
    "long numbers": lambda _: nested("[" + ("9" * 4_299 + ",") * 900 + "1]"),
    "fields": lambda _: nested(
        json.dumps({f"{number:x}": number for number in range(200_000)})
    ),
}  # fmt: skip


REFUSED_OTHERWISE = {
    "colliding hashes", "colliding hashes in a row", "exponent",
    "many pairs", "products of short weights", "products of long weights",
    "strings of short weights", "a deck of many numbers", "depth", "fields", "documents in documents",
}  # fmt: skip
"""What is answered before the budget is spent, because it is quick now."""


@pytest.mark.parametrize("name", COSTLY)
def test_a_document_made_to_cost_time_is_answered_soon(
    name: str, seeded: Source
) -> None:
    built = COSTLY[name](random.Random(seeded.read(16)))
    text = built if isinstance(built, str) else text_of(resealed(built))
    start = time.process_time()
    reason = None if name in REFUSED_OTHERWISE else "more than a second"
    with time_limit(2 * SECONDS), pytest.raises(checker.Rejected, match=reason):
        checker.verify(text)
    assert time.process_time() - start < SECONDS


def test_what_the_checker_would_refuse_is_not_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert dn.certify(dn.subset(1 << 24, 1)).epsilon <= 1
    monkeypatch.setattr(checker, "MAX_COST", 100)
    with pytest.raises(InvalidRequest, match="more than a second"):
        dn.certify(dn.warner(1))


def test_a_table_at_the_limit_of_pairs_is_certified(seeded: Source) -> None:
    """46·45·46 comparisons are just below 100,000; the checker must afford all of them."""
    chance, size, total = random.Random(seeded.read(16)), 46, 10**6
    cuts = [sorted(chance.sample(range(1, total), size - 1)) for _ in range(size)]
    columns = [
        [end - start for start, end in pairwise([0, *ends, total])] for ends in cuts
    ]
    rows = [
        [f"{share}/{total}" for share in row] for row in zip(*columns, strict=True)
    ]
    assert dn.certify(dn.matrix(rows)).claims["delta"]["exact"]
