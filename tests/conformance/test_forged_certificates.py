"""Each refusal of the checker has a certificate that only it refuses.

Whoever forges one runs the checker with that refusal left out, and writes down what it then works out: all claims of
these certificates follow from each other, and all hashes are right.
"""

from __future__ import annotations

import json
import math
import sys
import types
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable import documents
from deniable.certificates import checker
from tests.support.certified import at, resealed, whole_survey
from tests.support.surveys import small

Change = Callable[[Any, Any], object]


@cache
def lenient() -> dict[str, Any]:
    """Return the checker without any refusal."""
    module = types.ModuleType("lenient")
    source = Path(checker.__file__).read_text(encoding="utf-8")
    sys.modules["lenient"] = module  # where its data classes look for their types
    exec(compile(source, "lenient", "exec"), module.__dict__)
    module.__dict__["check"] = lambda *_: None
    return module.__dict__


def forged(thing: Any, change: Change) -> Any:
    """Change a document and what is stated of it, and claim what a checker without refusals works out."""
    certificate = json.loads(dn.certify(thing).to_json())
    document, stated = certificate["document"], certificate["claims"]
    change(document, stated)
    put_in_lowest_terms(document)
    checked = lenient()["check_document"](document, stated)
    certificate.update(claims=checked.claims, caveats=checked.caveats)
    return resealed(certificate)


WEIGHTS = (
    {"same", "other"}, {"large", "small"}, {"inside", "total"}, {"hit", "stray", "total"},
    {"same", "turned", "other", "total"},
)  # fmt: skip
"""Weights of a channel that have nothing in common."""


def put_in_lowest_terms(value: Any) -> None:
    """Divide weights by what they have in common, so that no other refusal hides the one that is meant."""
    if isinstance(value, dict):
        names = value.keys() & set().union(*WEIGHTS)
        if names in WEIGHTS and all(value[name].isdecimal() for name in names):
            common = math.gcd(*(int(value[name]) for name in names))
            if not any(value[name].startswith("0") for name in names):
                value.update(
                    {name: str(int(value[name]) // common) for name in names}
                )
    for each in (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else ()
    ):
        put_in_lowest_terms(each)


def table(weights: list[list[int]], total: int) -> dict[str, Any]:
    return {
        "kind": "dense",
        "total": str(total),
        "weights": [[str(each) for each in row] for row in weights],
    }


def channel(**fields: Any) -> Change:
    return lambda document, _: document["channel"].update(fields)


def dense(weights: list[list[int]], total: int, **labels: int) -> Change:
    """Put in another table; the witness is its first response, between the first answer and the last."""

    def change(document: Any, stated: Any) -> None:
        document.update(
            channel=table(weights, total),
            categories=len(weights[0]),
            symbols=len(weights),
            **labels,
        )
        stated["witness"].update(
            response="0", likely="0", unlikely=str(len(weights[0]) - 1)
        )

    return change


def witness(**fields: Any) -> Change:
    return lambda _, stated: stated["witness"].update(fields)


def both(first: Change, second: Change) -> Change:
    def change(document: Any, stated: Any) -> None:
        first(document, stated)
        second(document, stated)

    return change


def prior(*shares: Any) -> Change:
    return lambda _, stated: stated.update(prior=list(shares))


def stage(number: int, **fields: Any) -> Callable[[Any], None]:
    return lambda document: document["designs"][number]["channel"].update(fields)


def rung(step: Any, *stages: Callable[[Any], None], drawn: Any = None) -> Change:
    """Put in another garbling, and other stages."""

    def change(document: Any, stated: Any) -> None:
        for each in stages:
            each(document)
        document["steps"] = [drawn or {"kind": "derived"}]
        stated["garblings"] = [step]

    return change


def other_supports(document: Any, stated: Any) -> None:
    """Put a hash with the same levels in the place of the coarser stage: response 0 supports answer 0, and not 1."""
    old = document["designs"][0]["channel"]
    document["designs"][0]["channel"] = {
        "kind": "hashing",
        "size": 3,
        "values": 3,
        "same": old["large"],
        "other": old["small"],
    }
    stated["parts"][0]["witness"] = {
        "response": "0",
        "likely": "0",
        "unlikely": "1",
    }


def scheme(**fields: Any) -> Change:
    return lambda document, _: document["scheme"].update(fields)


def same_name(document: Any, stated: Any) -> None:
    document["questions"][2]["name"] = "smokes"
    stated["parts"]["smokes"] = stated["parts"].pop("apps")


def add_field(*path: Any) -> Change:
    def change(document: Any, stated: Any) -> None:
        at({"document": document, "claims": stated}, path)["more"] = "1"

    return change


def factors(kept: list[int]) -> Change:
    def change(document: Any, stated: Any) -> None:
        document["factors"] = [document["factors"][number] for number in kept]
        names = {factor["attribute"] for factor in document["factors"]}
        stated["parts"] = {name: stated["parts"][name] for name in names}

    return change


def same_attribute(document: Any, stated: Any) -> None:
    """Of two attributes of one name the last one counts."""
    document["factors"][0]["attribute"] = "b"
    del stated["parts"]["a"]


def no_questions(document: Any, stated: Any) -> None:
    document["questions"], stated["parts"] = [], {}


def no_factors(document: Any, stated: Any) -> None:
    document["factors"], stated["parts"] = [], {}


def fewer_levels(document: Any, stated: Any) -> None:
    document["factors"].pop()
    del stated["parts"]["1/64"]


def two_devices(document: Any, stated: Any) -> None:
    first, second, *_ = document["questions"]
    first["ladder"] = second["ladder"]
    stated["parts"]["smokes"] = stated["parts"]["colour"]


def other_attribute(document: Any, stated: Any) -> None:
    document["designs"][0]["factors"][0]["attribute"] = "drinks"
    parts = stated["parts"][0]["parts"]
    parts["drinks"] = parts.pop("smokes")


def other_labels(document: Any, _: Any) -> None:
    document["designs"][0]["categories"] = ["maybe", "perhaps"]


WARNER, MATRIX = dn.warner(p="3/4"), dn.matrix([["3/4", "1/4"], ["1/4", "3/4"]])
BITS, SETS = dn.unary(4, 1), dn.subset(5, 1, t=2)
HADAMARDS = dn.ladder([dn.hadamard(5, e) for e in (1, 2)])
THREE_ROWS = dn.ladder([dn.hadamard(3, e) for e in (1, 2)])
TABLES = dn.ladder([dn.binary("6/10", "7/10"), dn.binary("8/10", "8/10")])
UNARIES = dn.ladder([dn.unary(4, e) for e in (1, 2)])
SUBSETS = dn.ladder([dn.subset(5, e, t=2) for e in (1, 2)])
WARNERS = dn.ladder([dn.warner(p=p) for p in ("6/10", "3/4")])
VECTORS, ONE = dn.pckv_ue(3, 1, padding=2), dn.pckv_grr(3, 2, padding=2)
STRINGS = dn.string_design(dn.Bloom(8, hashes=2), 4)
DRAWN = dn.drawn_items({"a": dn.warner(1), "b": dn.warner(1), "c": dn.warner(2)})
DECK = dn.Deck((3, 2, 7), people=3)
IDENTITY = dn.matrix([["1", "0"], ["0", "1"]])
BOTH = dn.product({"a": dn.warner(1), "b": dn.warner(2)})
FACTORS = dn.ladder(
    [dn.product({"smokes": dn.warner(e), "age": dn.k_ary(3, e)}) for e in (1, 2)]
)
RANGES = dn.ladder([dn.number_design(0, 10, e, levels=2) for e in (1, 2)])
NUMBERS, EDGES = dn.number_design(0, 10, 1), dn.one_edge(3, 1)
BUCKETS = dn.bucket_design(0, 80, 1, count=64)
MIXTURE = dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=1)
OPEN: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("a design", WARNER, ("document",)),
    ("a table", MATRIX, ("document", "channel")),
    ("a diagonal channel", WARNER, ("document", "channel")),
    ("a Hadamard channel", dn.hadamard(5, 1), ("document", "channel")),
    ("a hash", dn.local_hashing(3, 1, values=2), ("document", "channel")),
    ("sets", SETS, ("document", "channel")),
    ("a mixture", MIXTURE, ("document", "channel")),
    ("a part of a mixture", MIXTURE, ("document", "channel", "parts", 0)),
    ("bits", BITS, ("document", "channel")),
    ("the labels of bits", BITS, ("document", "symbols")),
    ("several attributes", BOTH, ("document",)),
    ("an attribute", BOTH, ("document", "factors", 0)),
    ("the design of an attribute", BOTH, ("document", "factors", 0, "design")),
    ("drawn attributes", DRAWN, ("document",)),
    ("a ladder", WARNERS, ("document",)),
    ("a stage", WARNERS, ("document", "designs", 0)),
    ("a garbling of levels", HADAMARDS, ("claims", "garblings", 0)),
    ("a garbling of bits", UNARIES, ("claims", "garblings", 0)),
    ("a garbling of sets", SUBSETS, ("claims", "garblings", 0)),
    ("a garbling of attributes", FACTORS, ("claims", "garblings", 0)),
    ("a survey", small(), ("document",)),
    ("a question", small(), ("document", "questions", 0)),
    ("a string design", STRINGS, ("document",)),
    ("a filter", STRINGS, ("document", "bloom")),
    ("items", ONE, ("document",)),
    ("a scheme of one item", ONE, ("document", "scheme")),
    ("a scheme of vectors", VECTORS, ("document", "scheme")),
    ("a scheme of symbols", dn.lpp_club(3, 1), ("document", "scheme")),
    ("an edge", EDGES, ("document",)),
    ("a deck", DECK, ("document",)),
]
FINE = {
    "kind": "dense",
    "total": "4",
    "weights": [["3", "1"], ["1", "3"], ["0", "0"]],
}
HUGE = {
    "kind": "hashing",
    "size": 3,
    "values": 999_999_999_999_999_989,
    "same": "2",
    "other": "1",
}
KEPT = {"kind": "dense", "total": "1", "weights": [["1", "0", "1"], ["0", "1", "0"]]}


def unused_response(document: Any) -> None:
    """The finer stage has a response that is never sent; what it is degraded to does not matter."""
    document["designs"][0].update(channel=table([[3, 1], [1, 3]], 4))
    document["designs"][1].update(channel=FINE, symbols=["no", "yes", "never"])


def bit_stages(
    *pairs: tuple[int, int], sizes: tuple[int, int] = (4, 4)
) -> list[Callable[[Any], None]]:
    return [
        stage(at, hit=str(hit), stray=str(stray), total="10", size=size)
        for at, ((hit, stray), size) in enumerate(zip(pairs, sizes, strict=True))
    ]


def hadamard_stages(*weights: tuple[int, int]) -> list[Callable[[Any], None]]:
    return [
        stage(at, large=str(large), small=str(small))
        for at, (large, small) in enumerate(weights)
    ]


FORGED: dict[str, tuple[Any, Change, str]] = {
    "a negative weight": (MATRIX, dense([[5, 2], [-1, 2]], 4), "'-1'"),
    "a number with a zero in front": (WARNER, channel(same="03"), "'03'"),
    "a fraction not in lowest terms": (
        HADAMARDS,
        rung({"kind": "keep", "share": "20/34"}, *hadamard_stages((3, 2), (4, 2))),
        "lowest terms",
    ),
    "one response alone": (MATRIX, dense([[1, 1]], 1), "fewer than two"),
    "columns that do not add up": (MATRIX, dense([[3, 1], [1, 2]], 4), "add up to 1"),
    "a field that is none": (dn.local_hashing(3, 1, values=2), channel(values=6), "no field"),
    "a size of sets twice": (
        dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=1),
        channel(total="10", parts=[{"ones": t, "weight": w, "inside": "6"} for t, w in ((1, "3"), (1, "4"), (2, "6"))]),
        "repeated",
    ),
    "sizes of sets that do not add up": (
        dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=1),
        channel(total="10", parts=[{"ones": t, "weight": "4", "inside": "7"} for t in (1, 2)]),
        "do not add up",
    ),
    "a set that holds the answer more than always": (
        dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=1),
        channel(total="10", parts=[{"ones": t, "weight": "5", "inside": own} for t, own in ((1, "9"), (2, "11"))]),
        "ill filled",
    ),
    "bits above the total": (BITS, channel(hit="5", stray="1", total="4"), "above the total"),
    "bits of others above the total": (
        BITS, both(channel(hit="1", stray="5", total="4"), witness(response="0")), "above the total",
    ),
    "a set of all that does not hold the answer": (
        MIXTURE,
        both(
            channel(total="10", parts=[{"ones": t, "weight": "5", "inside": own} for t, own in ((1, "10"), (4, "6"))]),
            witness(response="1", likely="0", unlikely="1"),
        ),
        "ill filled",
    ),
    "a response that there is not": (BITS, witness(response="17"), "no index"),
    "an answer that there is not": (BITS, witness(unlikely="4"), "no index"),
    "a witness of less": (dn.k_ary(3, 1), witness(likely="1", unlikely="2"), "no witness"),
    "a prior that does not add up": (WARNER, prior("1/2", "1/4"), "no distribution"),
    "a prior below 0": (WARNER, prior("-1/4", "5/4"), "no distribution"),
    "more categories than answers": (WARNER, lambda document, _: document.update(categories=3), "other labels"),
    "more symbols than responses": (WARNER, lambda document, _: document.update(symbols=["a", "b", "c"]), "other"),
    "nothing drawn": (DRAWN, lambda document, _: document.update(each=0), "cannot be drawn"),
    "more drawn than there are": (DRAWN, lambda document, _: document.update(each=4), "cannot be drawn"),
    "a question behind another": (small(), same_name, "twice"),
    "stages of other questions": (WARNERS, other_labels, "other categories"),
    "a coarser stage that tells more, kept": (
        HADAMARDS, rung({"kind": "keep", "share": "20/13"}, *hadamard_stages((6, 2), (4, 2))), "not the garbling",
    ),
    "stages of other ranges": (
        RANGES, lambda document, _: document["designs"][0].update(range=["0", "9"]), "other categories",
    ),
    "a share of something else": (
        HADAMARDS, rung({"kind": "keep", "share": "1/2"}, *hadamard_stages((3, 1), (6, 1))), "not the garbling",
    ),
    "bits that tell more": (
        UNARIES, rung({"kind": "bits", "hit": "5/4", "stray": "-1/4"}, *bit_stages((8, 2), (7, 3))), "not the garbling",
    ),
    "bits made otherwise": (
        UNARIES, rung({"kind": "bits", "hit": "1/2", "stray": "1/2"}, *bit_stages((6, 4), (8, 2))), "not the garbling",
    ),
    "responses that are kept, of a channel with other supports": (THREE_ROWS, other_supports, "not the garbling"),
    "sets whose shares are negative": (
        SUBSETS,
        rung({"kind": "sets", "shares": [[2, 2, "3/2", "0", "-1/2"]]}, stage(0, inside="7", total="10"),
             stage(1, inside="6", total="10")),
        "negative",
    ),
    "sets of which one share is negative, and none is above 1": (
        SUBSETS,
        rung({"kind": "sets", "shares": [[2, 2, "1", "1/2", "-1/2"]]}, stage(0, inside="8", total="15"),
             stage(1, inside="6", total="10")),
        "negative",
    ),
    "sets whose shares do not add up": (
        SUBSETS,
        rung({"kind": "sets", "shares": [[2, 2, "1/2", "0", "1/4"]]}, stage(0, inside="5", total="10"),
             stage(1, inside="6", total="10")),
        "add up to 1",
    ),
    "sets made otherwise": (
        SUBSETS,
        rung({"kind": "sets", "shares": [[2, 2, "1", "0", "0"]]}, stage(0, inside="5", total="10"),
             stage(1, inside="6", total="10")),
        "not the garbling",
    ),
    "a table for a response that there is not": (
        TABLES, rung({**table([[1, 0, 1, 1], [0, 1, 0, 0]], 1), "kind": "table"}, unused_response), "not the garbling",
    ),
    "a table to a response that there is not": (
        TABLES, rung({**table([[1, 0, 0], [0, 1, 0], [0, 0, 1]], 1), "kind": "table"}, unused_response), "the garbling",
    ),
    "a table that makes something else": (
        TABLES,
        rung({**table([[0, 1, 0], [1, 0, 1]], 1), "kind": "table"}, unused_response),
        "not the garbling",
    ),
    "a table other than that which is drawn with": (
        TABLES,
        rung({**KEPT, "kind": "table"}, unused_response,
             drawn={"kind": "written", "channel": table([[1, 0, 0], [0, 1, 1]], 1)}),
        "another garbling",
    ),
    "shares other than those that are drawn with": (
        SUBSETS,
        rung({"kind": "sets", "shares": [[2, 2, "1", "0", "0"]]}, stage(0, inside="6", total="10"),
             stage(1, inside="6", total="10"), drawn={"kind": "nested", "shares": [[2, 2, "0", "0", "1"]]}),
        "another garbling",
    ),
    "a filter of other bits": (STRINGS, lambda document, _: document["bloom"].update(bits=9), "not the bits"),
    "more hashes than there are": (
        dn.string_design(dn.Bloom(8, hashes=16), 4),
        lambda document, _: document["bloom"].update(hashes=17),
        "many or too few hashes",
    ),
    "bits beyond the filter": (STRINGS, witness(response=str(1 << 9 | 3)), "no index"),
    "a filter without ones": (STRINGS, witness(unlikely="0"), "no witness"),
    "a filter of too many ones": (STRINGS, witness(response="19", likely="19", unlikely="28"), "no witness"),
    "strings that differ less": (STRINGS, witness(unlikely="4"), "no witness"),
    "more places than items": (VECTORS, scheme(padding=4), "many places"),
    "no place": (ONE, scheme(padding=0), "many places"),
    "a vector that marks too little": (dn.pckv_ue(7, 1, padding=2), witness(marked="0"), "no witness"),
    "signs that differ": (
        VECTORS, scheme(symbol=table([[4, 2, 2], [3, 6, 1], [3, 2, 7]], 10)), "differently",
    ),
    "items that send too much": (ONE, scheme(same="80", turned="10", other="10", total="100"), "add up"),
    "items that are never others": (ONE, scheme(same="8", turned="1", other="0", total="10"), "add up"),
    "a deck for one alone": (DECK, lambda document, _: document.update(people=1), "many cards"),
    "a card that tells less": (DECK, witness(response="0"), "no witness"),
    "factors beside the channel": (IDENTITY, no_factors, "not the fields"),
    "no attributes": (BOTH, factors([]), "fewer than two"),
    "one attribute": (BOTH, factors([0]), "fewer than two"),
    "an attribute behind another": (BOTH, same_attribute, "an attribute occurs twice"),
    "an attribute behind another that is drawn": (DRAWN, same_attribute, "an attribute occurs twice"),
    "a survey of nothing": (small(), no_questions, "no question"),
    "arms beside drawn questions": (small(each=1), lambda document, _: document.update(arms=[{}]), "drawn twice"),
    "an empty field": (small(), lambda document, _: document.update(arms=[]), "empty"),
    "a label twice": (WARNER, lambda document, _: document.update(categories=["no", "no"]), "a label occurs twice"),
    "a number as a label": (WARNER, lambda document, _: document.update(categories=["no", 1]), "a text is missing"),
    "weights that have something in common": (MATRIX, dense([[6, 2], [2, 6]], 8), "lowest terms"),
    "other answers that are never sent": (WARNER, channel(same="1", other="0"), "weight is 0"),
    "levels in another order": (dn.hadamard(3, 1), channel(large="1", small="2"), "not in order"),
    "a range that is empty": (NUMBERS, lambda document, _: document.update(range=["5", "5"]), "range is empty"),
    "stages of other attributes": (FACTORS, other_attribute, "other categories"),
    "an edge of other weights": (
        EDGES, lambda document, _: document["choice"].update(symbols=["0", "1", "2"]), "other weights",
    ),
    "a set that is full": (
        SETS, both(channel(ones=5, inside="1", total="1"), witness(response="31")), "empty or full",
    ),
    "prefixes without an alphabet": (
        STRINGS, lambda document, _: document["bloom"].update(lengths=[1, 2]), "lack their alphabet",
    ),
    "a design beside a ladder": (small(), two_devices, "a design and a ladder"),
    "a check without a right answer": (
        whole_survey(), lambda document, _: document["questions"][2].pop("right"), "no right answer",
    ),
    "items that are none": (dn.lpp_club(3, 1), lambda document, _: document.update(items=[]), "no item"),
    "buckets without a level": (BUCKETS, fewer_levels, "levels are not"),
    "other buckets": (BUCKETS, lambda document, _: document["buckets"].update(count=4), "other buckets"),
    "an edge to nothing": (EDGES, lambda document, _: document.update(items=[]), "no item"),
    "a deck that says nothing": (
        DECK, lambda document, _: document.update(counts=[3, 2, 3]), "the same on average",
    ),
    **{f"a field that is unknown in {name}": (thing, add_field(*path), "not the fields") for name, thing, path in OPEN},
}  # fmt: skip


def cases() -> list[tuple[str, Any]]:
    return list(FORGED.items())


def run_case(case: Any) -> None:
    thing, change, words = case
    with pytest.raises(checker.Rejected, match=words):
        checker.verify(json.dumps(forged(thing, change)))


@pytest.mark.parametrize("case", FORGED.values(), ids=FORGED)
def test_a_forged_certificate_is_rejected(case: Any) -> None:
    run_case(case)


KINDS_OF_CHANNEL: dict[str, Callable[[Any], dn.Design]] = {
    "table": lambda e: dn.matrix(dn.k_ary(4, e).channel.dense().rows),
    "diagonal": lambda e: dn.k_ary(4, e),
    "Hadamard": lambda e: dn.hadamard(4, e),
    "hashing": lambda e: dn.local_hashing(4, e, values=2),
    "subset": lambda e: dn.subset(4, e, t=2),
    "mixture": lambda e: dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=e),
    "bits": lambda e: dn.unary(4, e),
    "attributes": lambda e: dn.product({"a": dn.warner(e), "b": dn.warner(e)}),
}
EMPTY_GARBLINGS: list[Any] = [
    {"kind": "sets", "shares": []},
    {"kind": "sets", "shares": [[1, 1, "1", "0", "0"]]},
    {"kind": "sets", "shares": [[2, 2, "1", "0", "0"]]},
    {"kind": "factors", "steps": []},
    {"kind": "factors", "steps": [{"kind": "keep", "share": "1"}] * 2},
    {"kind": "factors", "steps": [{"kind": "sets", "shares": []}] * 2},
    {"kind": "keep", "share": "1"},
    {"kind": "bits", "hit": "1", "stray": "0"},
    {**table([[1, 0], [0, 1]], 1), "kind": "table"},
    {
        **table([[int(i == j) for j in range(4)] for i in range(4)], 1),
        "kind": "table",
    },
]


@cache
def bare(kind: str, epsilon: int) -> tuple[Any, Any]:
    """Return the body of a design and its claims, as they stand in ladders."""
    certificate = json.loads(dn.certify(KINDS_OF_CHANNEL[kind](epsilon)).to_json())
    body = certificate["document"]
    del body["schema"], body["hash"]
    return body, certificate["claims"]


@pytest.mark.parametrize("coarse", KINDS_OF_CHANNEL)
def test_no_garbling_leads_to_a_stage_that_tells_more(coarse: str) -> None:
    """The first stage has twice the ε of the last one, which is claimed for both."""
    old, first = bare(coarse, 2)
    for fine, garbling in product(KINDS_OF_CHANNEL, EMPTY_GARBLINGS):
        new, last = bare(fine, 1)
        document = {
            "schema": "deniable/ladder/1",
            "designs": [old, new],
            "steps": [{"kind": "derived"}],
            "hash": "",
        }
        claims = {name: last[name] for name in ("parity", "epsilon", "delta")}
        claims |= {"rule": "last", "parts": [first, last], "garblings": [garbling]}
        certificate = {
            "schema": "deniable/certificate/1",
            "document": document,
            "claims": claims,
            "caveats": [],
            "hash": "",
        }
        with pytest.raises(checker.Rejected):
            checker.verify(sealed(certificate))


def test_a_pattern_that_says_nothing_is_not_called_admissible() -> None:
    """All categories on one level: of such a response all answers are as likely, and another channel tells more."""
    levels = ([(2, 1), (2, 3)], [(4, 1), (0, 0)])
    parts = [
        {
            "weight": "1",
            "levels": [{"categories": n, "weight": str(w)} for n, w in part],
        }
        for part in levels
    ]
    channel = {"kind": "patterns", "size": 4, "total": "2", "parts": parts}
    design = {"name": "patterns", "categories": 4, "symbols": {"bits": 4}, "channel": channel}  # fmt: skip
    document = documents.seal("design", design)
    subject = dn.Design.from_json(document)
    certificate = json.loads(dn.certify(subject).to_json())
    assert certificate["claims"]["admissible"] is False
    certificate["claims"]["admissible"] = True
    with pytest.raises(checker.Rejected, match="claims/admissible"):
        checker.verify(sealed(certificate))


def sealed(certificate: Any) -> str:
    return json.dumps(resealed(certificate), ensure_ascii=False)


def test_what_is_no_certificate_is_rejected() -> None:
    text = dn.certify(dn.warner(1)).to_json()
    good = json.loads(text)
    deck = json.loads(dn.certify(DECK).to_json())
    survey = json.loads(dn.certify(small()).to_json())
    survey["document"]["questions"][0]["design"]["schema"] = "deniable/deck/1"
    wrong = {
        "these are not the fields": sealed({**good, "more": 1}),
        "no certificate of version 1": sealed(
            {**good, "schema": "deniable/certificate/2"}
        ),
        "hash differ": text.replace('"caveats": []', '"caveats": ["proved by us"]'),
        "is no design": sealed(survey),
        "it is not a certificate": text[:-9],
        "a field occurs twice": text.replace(
            '"kind": "diagonal"', '"kind": "dense", "kind": "diagonal"'
        ),
        "1.5 is no integer": text.replace('"size": 2', '"size": 1.5'),
        "NaN is no integer": text.replace('"size": 2', '"size": NaN'),
        "KeyError": sealed(
            {**good, "document": {**good["document"], "channel": {"kind": "trust"}}}
        ),
        "no integer from": sealed(
            {**good, "document": {**good["document"], "channel": HUGE}}
        ),
        "too many cards": sealed(
            {**deck, "document": {**deck["document"], "counts": [1001, 2, 1002]}}
        ),
        "caveats is": sealed({**good, "caveats": ["proved by us"]}),
        "claims/epsilon is": sealed(
            {**good, "claims": {**good["claims"], "epsilon": "0.99"}}
        ),
    }
    for words, each in wrong.items():
        with pytest.raises(checker.Rejected, match=words):
            checker.verify(each)
    assert checker.verify(text) == good
