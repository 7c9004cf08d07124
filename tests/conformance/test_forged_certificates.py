"""Each refusal of the checker has a certificate that only it refuses.

Whoever forges one runs the checker with that refusal left out, and writes down what it then works out: all claims of
these certificates follow from each other, and all hashes are right.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.certificates import checker
from tests.support.certified import resealed
from tests.support.surveys import small

Change = Callable[[Any, Any], object]


@cache
def lenient() -> dict[str, Any]:
    """Return the checker without any refusal."""
    found: dict[str, Any] = {"__name__": "lenient"}
    exec(
        compile(
            Path(checker.__file__).read_text(encoding="utf-8"), "lenient", "exec"
        ),
        found,
    )
    found["check"] = lambda *_: None
    return found


def forged(thing: Any, change: Change) -> Any:
    """Change a document and what is stated of it, and claim what a checker without refusals works out."""
    certificate = json.loads(dn.certify(thing).to_json())
    document, stated = certificate["document"], certificate["claims"]
    change(document, stated)
    kind = document["schema"].removeprefix("deniable/").removesuffix("/1")
    certificate["claims"] = lenient()["SUBJECTS"][kind](document, stated)[0]
    return resealed(certificate)


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


def prior(*shares: Any) -> Change:
    return lambda _, stated: stated.update(prior=list(shares))


def stage(number: int, **fields: Any) -> Callable[[Any], None]:
    return lambda document: document["designs"][number]["channel"].update(fields)


def rung(
    step: Any, *stages: Callable[[Any], None], drawn: Any = None, turned: Any = ()
) -> Change:
    """Put in another garbling, other stages, and another witness of the first."""

    def change(document: Any, stated: Any) -> None:
        for each in stages:
            each(document)
        document["steps"] = [drawn or {"kind": "derived"}]
        stated["garblings"] = [step]
        stated["parts"][0]["witness"].update(turned)

    return change


def scheme(**fields: Any) -> Change:
    return lambda document, _: document["scheme"].update(fields)


def same_name(document: Any, stated: Any) -> None:
    document["questions"][2]["name"] = "smokes"
    stated["parts"]["smokes"] = stated["parts"].pop("apps")


def other_labels(document: Any, _: Any) -> None:
    document["designs"][0]["categories"] = ["maybe", "perhaps"]


WARNER, MATRIX = dn.warner(p="3/4"), dn.matrix([["3/4", "1/4"], ["1/4", "3/4"]])
BITS, SETS = dn.unary(4, 1), dn.subset(5, 1, t=2)
HADAMARDS = dn.ladder([dn.hadamard(5, e) for e in (1, 2)])
TABLES = dn.ladder([dn.binary("6/10", "7/10"), dn.binary("8/10", "8/10")])
UNARIES = dn.ladder([dn.unary(4, e) for e in (1, 2)])
SUBSETS = dn.ladder([dn.subset(5, e, t=2) for e in (1, 2)])
WARNERS = dn.ladder([dn.warner(p=p) for p in ("6/10", "3/4")])
VECTORS, ONE = dn.pckv_ue(3, 1, padding=2), dn.pckv_grr(3, 2, padding=2)
STRINGS = dn.string_design(dn.Bloom(8, hashes=2), 4)
DRAWN = dn.drawn_items({"a": dn.warner(1), "b": dn.warner(1), "c": dn.warner(2)})
DECK = dn.Deck((3, 2, 7), people=3)
FINE = {
    "kind": "dense",
    "total": "4",
    "weights": [["3", "1"], ["1", "3"], ["0", "0"]],
}
TURNED = {"likely": "1", "unlikely": "0"}
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
    "a number in base 2": (WARNER, channel(same="0b11"), "'0b11'"),
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
        "do not add up",
    ),
    "sizes of sets that do not add up": (
        dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=1),
        channel(total="10", parts=[{"ones": t, "weight": "4", "inside": "6"} for t in (1, 2)]),
        "do not add up",
    ),
    "a set that holds the answer more than always": (
        dn.mixture(4, {1: "1/2", 2: "1/2"}, epsilon=1),
        channel(total="10", parts=[{"ones": t, "weight": "5", "inside": own} for t, own in ((1, "9"), (2, "11"))]),
        "ill filled",
    ),
    "bits above the total": (BITS, channel(hit="5", stray="1", total="4"), "above the total"),
    "a response that there is not": (BITS, witness(response="17"), "no witness"),
    "an answer that there is not": (BITS, witness(unlikely="4"), "no witness"),
    "a witness of less": (dn.k_ary(3, 1), witness(likely="1", unlikely="2"), "no witness"),
    "a prior for too many": (WARNER, prior("1/2", "1/2", "0"), "no distribution"),
    "a prior that does not add up": (WARNER, prior("1/2", "1/4"), "no distribution"),
    "a prior below 0": (WARNER, prior("-1/4", "5/4"), "no distribution"),
    "more categories than answers": (WARNER, lambda document, _: document.update(categories=3), "other labels"),
    "fewer symbols than responses": (WARNER, lambda document, _: document.update(symbols=["same"]), "other labels"),
    "nothing drawn": (DRAWN, lambda document, _: document.update(each=0), "more parts"),
    "more drawn than there are": (DRAWN, lambda document, _: document.update(each=4), "more parts"),
    "a question behind another": (small(), same_name, "one name"),
    "stages of other questions": (WARNERS, other_labels, "other categories"),
    "a coarser stage that tells more, kept": (
        HADAMARDS, rung({"kind": "keep", "share": "20/13"}, *hadamard_stages((6, 2), (4, 2))), "not the garbling",
    ),
    "a share below 0": (
        HADAMARDS,
        rung({"kind": "keep", "share": "-10/11"}, *hadamard_stages((2, 4), (4, 2)), turned=TURNED),
        "not the garbling",
    ),
    "a share of something else": (
        HADAMARDS, rung({"kind": "keep", "share": "1/2"}, *hadamard_stages((3, 1), (6, 1))), "not the garbling",
    ),
    "responses of another kind": (
        HADAMARDS,
        rung({"kind": "keep", "share": "1"}, lambda d: d["designs"][0].update(categories=6), stage(0, size=6),
             *hadamard_stages((4, 2), (4, 2)), lambda d: d["designs"][1].update(categories=5)),
        "not the garbling",
    ),
    "bits that tell more": (
        UNARIES, rung({"kind": "bits", "hit": "5/4", "stray": "-1/4"}, *bit_stages((8, 2), (7, 3))), "not the garbling",
    ),
    "bits of another number": (
        UNARIES,
        rung({"kind": "bits", "hit": "1", "stray": "0"}, *bit_stages((8, 2), (8, 2), sizes=(5, 4)),
             lambda d: d["designs"][0].update(categories=5, symbols={"bits": 5})),
        "not the garbling",
    ),
    "bits made otherwise": (
        UNARIES, rung({"kind": "bits", "hit": "1/2", "stray": "1/2"}, *bit_stages((6, 4), (8, 2))), "not the garbling",
    ),
    "sets whose shares are negative": (
        SUBSETS,
        rung({"kind": "sets", "shares": [[2, 2, "3/2", "0", "-1/2"]]}, stage(0, inside="7", total="10"),
             stage(1, inside="6", total="10")),
        "negative",
    ),
    "sets whose shares do not add up": (
        SUBSETS,
        rung({"kind": "sets", "shares": [[2, 2, "1/2", "0", "1/4"]]}, stage(0, inside="5", total="10"),
             stage(1, inside="6", total="10")),
        "negative",
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
    "a garbling of no kind": (WARNERS, rung({"kind": "trust"}), "not the garbling"),
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
    "a filter of other bits": (STRINGS, lambda document, _: document["bloom"].update(bits=9), "no witness"),
    "more hashes than there are": (
        dn.string_design(dn.Bloom(8, hashes=16), 4),
        lambda document, _: document["bloom"].update(hashes=17),
        "no witness",
    ),
    "bits beyond the filter": (STRINGS, witness(response=str(1 << 9 | 3)), "no witness"),
    "a filter without ones": (STRINGS, witness(unlikely="0"), "no witness"),
    "a filter of too many ones": (STRINGS, witness(response="19", likely="19", unlikely="28"), "no witness"),
    "strings that differ less": (STRINGS, witness(unlikely="4"), "no witness"),
    "more places than items": (VECTORS, scheme(padding=4), "too many places"),
    "no place": (ONE, scheme(padding=0), "too many places"),
    "a vector that marks too little": (dn.pckv_ue(7, 1, padding=2), witness(marked="0"), "no witness"),
    "signs that differ": (
        VECTORS, scheme(symbol=table([[4, 2, 2], [3, 6, 1], [3, 2, 7]], 10)), "differently",
    ),
    "items of no kind": (ONE, scheme(kind="grr"), "add up"),
    "items that send too much": (ONE, scheme(same="80", turned="10", other="10", total="100"), "add up"),
    "items that are never others": (ONE, scheme(same="80", turned="10", other="0", total="100"), "add up"),
    "a deck for one alone": (DECK, lambda document, _: document.update(people=1), "too few people"),
    "a card that tells less": (DECK, witness(response="0"), "no witness"),
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


def sealed(certificate: Any) -> str:
    return json.dumps(resealed(certificate), ensure_ascii=False)


def test_what_is_no_certificate_is_rejected() -> None:
    text = dn.certify(dn.warner(1)).to_json()
    good = json.loads(text)
    survey = json.loads(dn.certify(small()).to_json())
    survey["document"]["questions"][0]["design"]["schema"] = "deniable/deck/1"
    wrong = {
        "a field occurs twice": f'{{"caveats": ["none"], {text[1:]}',
        "these are not its fields": sealed({**good, "more": 1}),
        "it is of another version": sealed(
            {**good, "schema": "deniable/certificate/2"}
        ),
        "hash differ": text.replace('"caveats": []', '"caveats": ["proved by us"]'),
        "is no design": sealed(survey),
        "it holds other things": text[:-9],
        "claims/epsilon is": sealed(
            {**good, "claims": {**good["claims"], "epsilon": "0.99"}}
        ),
    }
    for words, each in wrong.items():
        with pytest.raises(checker.Rejected, match=words):
            checker.verify(each)
    assert checker.verify(text) == good
