"""Whatever is sealed comes back as it was, and one content has one text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import deniable as dn
from deniable import documents
from deniable.collector import app as _everything  # noqa: F401 - whose documents are to be known, too
from deniable.designs.design import AnyDesign
from deniable.documents import Document, HashedDocument, Response, Sealed
from deniable.errors import UnreadableFile
from deniable.groups.separate import SeparateTallies, TallyKey
from deniable.release.receipts import Receipt, first_link
from deniable.survey.signed import AuthorSignature, StoredReceipt, signed_definition
from deniable.tallies import Tally
from deniable.tallies.base import AdditiveTally
from deniable.tallies.counts import DeclaredTally
from deniable.tallies.decks import DeckTally
from deniable.tallies.stages import StageTallies
from deniable.types.key_value.count import ItemTally
from deniable.types.key_value.design import ItemDesign
from deniable.types.strings.design import CohortDesign, StringResponse
from tests.support.signing import KEYS
from tests.support.surveys import small

STAGES = dn.ladder([dn.warner(1), dn.warner(2)])
STRINGS = dn.string_design(dn.Bloom(8, cohorts=2), 1)
DESIGNS: list[Any] = [
    dn.k_ary(["red", "green", "blue"], 1),
    dn.Deck((1, 1, 2), people=4),
    STAGES,
    dn.lpp_club(["tea", "milk"], 1, low=1, high=5),
    dn.pckv_ue(["tea", "milk"], 1, padding=1),
    dn.pckv_grr(3, 1, padding=1),
    dn.one_edge(["tea", "milk"], 1),
    STRINGS,
    dn.string_design(dn.Prefixes(8, cohorts=4, alphabet="abé", lengths=(2,)), 1),
    dn.number_design(0, "80.5", 1),
    dn.bucket_design("0.5", 80, 1, count=16, spacing="log"),
    dn.drawn_items({"smokes": dn.warner(1), "age": dn.k_ary(3, 1)}),
]
STORED = StoredReceipt(
    "sha256:ab",
    "sha256:cd",
    ({"question": "q", "symbol": "yes"},),
    {"en": {"q": ["much"]}},
    "ef",
)
HASHED: list[Any] = [
    *DESIGNS,
    CohortDesign(STRINGS, cohort=1),
    dn.Prices(STAGES, ["1.50", 2], currency="EUR"),
    Receipt(
        "l",
        1,
        first_link("l"),
        "release",
        "q",
        "sha256:ab",
        "",
        "2026-01-01",
        0.0,
        0.5,
        0.0,
        0.5,
        {"a": "b"},
    ),
    KEYS[0],
    small(),
    STORED,
    dn.certify(dn.warner(1), prior=["9/10", "1/10"]),
    dn.certify(small(), prior={"smokes": ["9/10", "1/10"]}),
]
_KEY = Ed25519PrivateKey.generate()
SIGNED = AuthorSignature(
    "sha256:ab",
    _KEY.public_key().public_bytes_raw().hex(),
    _KEY.sign(signed_definition("sha256:ab")).hex(),
)
READ_ALONE: list[Any] = [
    *HASHED,
    Response("sha256:ab", "yes"),
    StringResponse("sha256:ab", 1, "b01"),
    SIGNED,
    dn.audit(dn.warner(1), draws=1_000, checks=["worst event"]),
]
BASES = {
    Document,
    HashedDocument,
    AnyDesign,
    ItemDesign,
    AdditiveTally,
    DeclaredTally,
    ItemTally,
}


TALLY_OF: dict[str, Any] = {
    "categories": Tally,
    "deck": DeckTally,
    "ladder": StageTallies,
    "key-value": dn.KeyValueTally,
    "edges": dn.EdgeTally,
    "strings": dn.StringTally,
    "numbers": dn.NumberTally,
    "drawn items": dn.DrawnTally,
    "numbers in buckets": dn.BucketTally,
}


def named(given: list[Any]) -> Any:
    return pytest.mark.parametrize(
        "document", given, ids=[type(each).__name__ for each in given]
    )


def kinds(base: type = Sealed) -> set[type]:
    below = {
        each
        for each in base.__subclasses__()
        if each.__module__.startswith("deniable.")
    }
    return below.union(*map(kinds, below))


def test_every_document_is_tried_and_each_has_a_schema_of_its_own() -> None:
    concrete: set[Any] = kinds() - BASES
    assert {each.SCHEMA for each in concrete} == {
        each.SCHEMA for each in READ_ALONE
    } | {
        each.SCHEMA
        for each in (
            *TALLY_OF.values(),
            dn.GroupedTally,
            SeparateTallies,
            dn.WeightedTally,
        )
    }
    # A class with slots is made twice; what is read by its base, as a design for numbers is, shares the base's schema.
    own = [
        each
        for each in concrete
        if each.SCHEMA
        not in {getattr(base, "SCHEMA", None) for base in each.__mro__[1:]}
    ]
    names = {(each.__module__, each.__qualname__) for each in own}
    assert len({each.SCHEMA for each in concrete}) == len(names)


@named(READ_ALONE)
def test_a_document_is_read_back(document: Any) -> None:
    again = type(document).from_json(document.to_json(indent=1))
    assert (again, hash(again)) == (document, hash(document))
    assert again.to_json() == document.to_json()


@named(HASHED)
def test_one_content_has_one_text(document: Any) -> None:
    written = json.loads(document.to_json())
    assert written["hash"] == document.hash
    body = documents.unseal(document.SCHEMA, document.to_json())
    with pytest.raises(UnreadableFile, match="not as deniable writes it"):
        type(document).from_json(
            documents.seal(document.SCHEMA, {**body, "more": 1})
        )
    for name in body:
        less = {key: value for key, value in body.items() if key != name}
        with pytest.raises(dn.DeniableError):
            type(document).from_json(documents.seal(document.SCHEMA, less))


def test_tallies_that_are_kept_apart_are_read_back() -> None:
    declared = dn.Declared(9, 1, (("refused", 2),))
    counted = dn.Tally(dn.warner(1), [2, 4], missing=2, declared=declared)
    numbers = dn.tally(dn.number_design(0, 9, 1), [1, 2, None], codes=True)
    groups = dn.GroupedTally(
        dn.warner(1),
        {"N": counted, None: dn.Tally(dn.warner(1), [1, 1])},
        by=("region",),
    )
    apart = SeparateTallies(
        {TallyKey("p"): numbers, TallyKey("q", "RR"): groups, TallyKey("r"): counted}
    )
    again = SeparateTallies.from_json(
        apart.to_json(), [dn.warner(1), numbers.design]
    )
    assert (again, hash(again), again.to_json()) == (
        apart,
        hash(apart),
        apart.to_json(),
    )
    assert dn.Tally.from_json(counted.to_json(), dn.warner(1)).declared == declared


@named(DESIGNS)
def test_an_empty_tally_of_each_design_is_read_back(document: Any) -> None:
    kind = TALLY_OF[document.asks]
    empty = kind.empty(document)
    assert kind.from_json(empty.to_json(), document) == empty


@named([dn.k_ary(["red", "green", "blue"], 1), dn.number_design(0, "80.5", 1)])
def test_a_weighted_tally_is_read_back(document: Any) -> None:
    empty = dn.WeightedTally.empty(document)
    assert dn.WeightedTally.from_json(empty.to_json(), document) == empty
    some = dn.tally(
        document, [0, 2, 2, None], weights=[0.1, 2**-40, 1e9, 3], codes=True
    )
    again = dn.WeightedTally.from_json(some.to_json(indent=1), document)
    assert (again, hash(again), again.to_json()) == (
        some,
        hash(some),
        some.to_json(),
    )
    assert some + empty == some
