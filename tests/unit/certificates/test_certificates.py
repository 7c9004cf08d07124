"""What certificates claim, and how they are told."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from html.parser import HTMLParser
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import yaml

import deniable as dn
from deniable import documents
from deniable.certificates import checker
from deniable.channel import (
    Bits,
    Channel,
    Dense,
    Diagonal,
    Hadamard,
    Hashing,
    Mixture,
    Patterns,
    Product,
    Subset,
)
from deniable.channel.patterns import LikelihoodLevel, LikelihoodPattern, Weighted
from deniable.channel.sets import Part
from deniable.claims.losses import combine_losses, compute_delta, privacy_losses
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.survey import Keys
from deniable.types.key_value.schemes import Direct, Unary
from tests.support.commands import run
from tests.support.surveys import question, small


def patterns(*parts: tuple[tuple[int, int], ...]) -> Patterns:
    """Return patterns that come equally often."""
    return Patterns.of([
        Weighted(1, LikelihoodPattern(tuple(LikelihoodLevel(*level) for level in part)))
        for part in parts
    ])  # fmt: skip


GAMMAS = [Fraction(1), Fraction(5, 4), Fraction(2), Fraction(7)]
SMALL: list[Channel] = [
    Diagonal(4, 3, 1),
    Diagonal(3, 1, 4),
    Hadamard(2, 3, 1),
    Hadamard(5, 3, 1),
    Hashing(3, 2, 3, 1),
    Hashing(5, 4, 3, 1),
    Hashing(9, 3, 5, 2),
    Subset(5, 2, 3, 4),
    Subset(4, 3, 1, 9),
    Mixture(4, (Part(0, 1, 0), Part(1, 4, 5), Part(3, 3, 6), Part(4, 2, 10)), 10),
    patterns(((1, 1), (1, 2), (1, 3))),
    patterns(((2, 1), (1, 3)), ((1, 1), (2, 3))),
    patterns(((3, 1), (0, 0)), ((1, 1), (2, 3))),
    Bits(3, 3, 1, 4),
    Bits(4, 1, 2, 5),
]


@pytest.mark.parametrize("channel", SMALL, ids=repr)
def test_the_checkers_closed_forms_are_what_a_table_says(channel: Channel) -> None:
    body = channel.to_body()
    closed = checker.read_channel(body)
    written = checker.read_channel(channel.dense().to_body())
    assert (closed.parity, closed.is_admissible) == (
        written.parity,
        written.is_admissible,
    )
    assert all(checker.delta(closed, g) == checker.delta(written, g) for g in GAMMAS)
    for response in range(closed.first or channel.responses):
        row = [
            channel.probability(response, given=j) for j in range(channel.answers)
        ]
        told = closed.likelihoods(response, range(channel.answers))
        assert [each * sum(told) for each in row] == [
            each * sum(row) for each in told
        ]


@pytest.mark.parametrize(
    "channel", [*SMALL, Product((Diagonal(2, 3, 1), Bits(2, 3, 1, 4)))], ids=repr
)
def test_losses_are_those_of_a_table(channel: Channel) -> None:
    found, table = privacy_losses(channel), channel.dense()
    assert found is not None
    assert [compute_delta(found, gamma) for gamma in GAMMAS] == [
        table.delta(gamma) for gamma in GAMMAS
    ]


def test_responses_that_leave_together_have_the_delta_of_their_product() -> None:
    parts: list[Channel] = [
        Dense.from_rows(
            [[Fraction(1, 2), Fraction(1, 3)], [Fraction(1, 2), Fraction(2, 3)]]
        ),
        Diagonal(3, 2, 1),
    ]
    joint = combine_losses([privacy_losses(part) for part in parts])
    assert joint is not None
    table = Product(tuple(parts)).dense()
    assert [compute_delta(joint, gamma) for gamma in GAMMAS] == [
        table.delta(gamma) for gamma in GAMMAS
    ]


@pytest.mark.parametrize("each", [1, 2])
def test_drawn_parts_have_at_most_the_delta_that_is_claimed(each: int) -> None:
    designs = {
        "a": dn.binary("9/10", "7/10"),
        "b": dn.k_ary(3, p="1/2"),
        "c": dn.warner(p="3/4"),
    }
    claims = dn.certify(dn.drawn_items(designs, each=each)).claims
    hands = list(combinations(designs.values(), each))
    columns = []
    for answers in product(
        *(range(len(design.categories)) for design in designs.values())
    ):
        given = dict(zip(map(id, designs.values()), answers, strict=True))
        columns.append([
            math.prod(d.channel.probability(i, given=given[id(d)]) for d, i in zip(hand, sent, strict=True))
            / len(hands)
            for hand in hands
            for sent in product(*(range(len(d.symbols)) for d in hand))
        ])  # fmt: skip
    table = Dense.from_rows(list(zip(*columns, strict=True)))
    assert str(table.parity) == claims["parity"]
    for point in claims["delta"]["curve"]:
        exactly = table.delta(Fraction(point["gamma"]))
        assert (
            exactly == Fraction(point["delta"])
            if each == 1
            else exactly <= Fraction(point["delta"])
        )


def rows(items: int) -> list[dict[int, Fraction]]:
    signs = [None, Fraction(1), Fraction(-1)]
    return [
        {i: w for i, w in enumerate(row) if w is not None}
        for row in product(signs, repeat=items)
    ]


@pytest.mark.parametrize(
    "design",
    [
        dn.pckv_ue(3, a=0.65, b=0.75, p=0.8, padding=2),
        dn.pckv_ue(4, a=0.6, b=0.9, p=0.7, padding=1),
        dn.pckv_grr(3, a=0.6, p=0.8, padding=2),
        dn.pckv_grr(4, 1, padding=3),
    ],
    ids=repr,
)
def test_the_parity_of_padded_responses_is_that_of_all_rows(design: Any) -> None:
    assert isinstance(design.scheme, Unary | Direct)
    every = [
        [design.scheme.probability(i, row) for row in rows(len(design.items))]
        for i in range(design.scheme.responses)
    ]
    brute = max(max(row) / min(row) for row in every)
    document = json.loads(design.to_json())
    own = checker.check_document(document, dn.certify(design).claims)
    assert own.claims["parity"] == str(brute)


def test_the_delta_of_a_deck_is_that_of_all_hands() -> None:
    deck = dn.Deck((3, 2, 4), people=5)
    cards = [
        number for number, count in enumerate(deck.counts) for _ in range(count)
    ]
    point = dn.certify(deck).claims["delta"]["curve"][3]
    gamma, total, hands = (
        Fraction(point["gamma"]),
        Fraction(0),
        list(combinations(cards, deck.cards - deck.people + 1)),
    )
    for hand in hands:
        total += sum(
            max(Fraction(0), hand.count(k) - gamma * hand.count(2 - k))
            for k in (0, 2)
        ) / len(hand)
    assert Fraction(point["delta"]) == total / len(hands)


def test_posteriors_and_factors_follow_bayes() -> None:
    claims = dn.certify(
        dn.binary("9/10", "7/10"), prior={"no": "4/5", "yes": "1/5"}
    ).claims
    assert claims["prior"] == ["4/5", "1/5"]
    assert claims["table"][1]["posterior"] == ["4/11", "7/11"]
    assert claims["table"][1]["factors"][1] == {
        "answer": 1,
        "least": "7",
        "most": "7",
    }


def test_a_survey_is_the_product_of_its_questions() -> None:
    found = dn.certify(small())
    assert found.epsilon == small().disclosure.epsilon
    parities = [Fraction(part["parity"]) for part in found.claims["parts"].values()]
    assert Fraction(found.claims["parity"]) == math.prod(parities)
    ten = dn.certify(
        small(
            questions=tuple(question(f"q{at}", dn.warner("1/2")) for at in range(10))
        )
    )
    assert ten.claims["delta"]["exact"]


def test_what_cannot_be_certified_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="expected a design"):
        dn.certify("k_ary")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="for some of smokes"):
        dn.certify(small(), prior=["1/2", "1/2"])
    with pytest.raises(InvalidRequest, match="too many to be listed"):
        dn.certify(dn.pckv_ue(3, 1, padding=1), prior=["1/2", "1/2"])
    pair = dn.Design("pair", 4, 4, Product((Diagonal(2, 3, 1), Diagonal(2, 3, 1))))  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="kind 'product'"):
        dn.certify(pair)


def test_reading_works_everything_out_again() -> None:
    written = json.loads(dn.certify(dn.warner(1)).to_json())
    written["claims"]["epsilon"] = "0.5"
    body = {name: each for name, each in written.items() if name != "hash"}
    text = json.dumps({**body, "hash": documents.digest(body)})
    with pytest.raises(UnreadableFile):
        dn.Certificate.from_json(text)


class Tags(HTMLParser):
    """Collects tags and the addresses that they name."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.asked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.asked += [
            str(value) for name, value in attrs if name in ("src", "href")
        ]


def test_the_page_needs_nothing_else_and_hides_nothing() -> None:
    found = dn.certify(
        dn.k_ary(["<b>never</b>", "once", "often"], 1),
        prior=["8/10", "1/10", "1/10"],
    )
    page, seen = found.to_html(), Tags()
    seen.feed(page)
    assert not seen.asked
    assert "script" not in seen.tags
    assert "b" not in seen.tags
    assert seen.tags.count("svg") == 2
    assert found.claims["parity"] in page
    assert found.subject.hash in page
    assert str(found) == found.to_text()


def test_text_tells_weights_witness_and_stages() -> None:
    told = str(dn.certify(dn.ladder([dn.warner(p="3/5"), dn.warner(p="3/4")])))
    assert "“yes” sends, of 4: “no” 1, “yes” 3" in told
    assert "Parity 3: ε = 1.09862, rounded up." in told
    assert "Stages of one answer" in told


REGISTRY = [
    "basic", "dp_variant", "privacy_loss", "deployment_model", "implementation", "administrative",
]  # fmt: skip


def test_a_record_for_the_registry_is_yaml_with_its_fields() -> None:
    record = yaml.safe_load(dn.certify(small()).to_registry())
    assert list(record["deployment"]) == REGISTRY
    assert record["deployment"]["basic"]["name"] == "A small survey"
    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {
        "epsilon": 6.0
    }
    assert record["deployment"]["deployment_model"]["model_name"] == "Local"
    assert record["deployment"]["basic"]["intended_use"] == ""
    plain = yaml.safe_load(dn.certify(dn.direct()).to_registry())
    assert plain["deployment"]["privacy_loss"]["privacy_parameters"]["delta"] == 1.0


@pytest.mark.parametrize(
    "design",
    [dn.warner(p="3/5"), dn.k_ary(7, "1/3"), dn.exposing_binary("1/7"), dn.matrix([["1/3", "0"], ["2/3", "1"]])],
    ids=repr,
)  # fmt: skip
def test_a_record_for_the_registry_rounds_up(design: dn.Design) -> None:
    """ε ≥ ln γ and δ ≥ δ(γ) at the point of the certificate that the record names, in 60 digits."""
    certificate = dn.certify(design)
    record = yaml.safe_load(certificate.to_registry())["deployment"]["privacy_loss"]
    parameters = record["privacy_parameters"]
    if "delta" in parameters:
        point = certificate.claims["delta"]["curve"][-1]
        gamma, delta = (Fraction(point[name]) for name in ("gamma", "delta"))
        assert (
            delta
            <= Fraction(parameters["delta"])
            <= delta * (1 + Fraction(1, 10**12))
        )
    else:
        gamma = Fraction(certificate.claims["parity"])
    with localcontext(prec=60):
        loss = (Decimal(gamma.numerator) / gamma.denominator).ln()
        assert loss <= Decimal(parameters["epsilon"]) <= loss + Decimal("1e-12")


def test_the_command_writes_what_is_checked(tmp_path: Path) -> None:
    design, out = tmp_path / "design.json", tmp_path / "certificate.json"
    design.write_text(
        dn.warner(1, categories=["no", "yes"]).to_json(), encoding="utf-8"
    )
    assert (
        run(
            "certify", str(design), "--prior", "no=9/10,yes=1/10", "--out", str(out)
        ).exit_code
        == 0
    )
    assert checker.verify(out.read_bytes())["claims"]["prior"] == ["9/10", "1/10"]
    # there is a file
    assert run("certify", str(design), "--out", str(out)).exit_code == 2
    page = tmp_path / "certificate.html"
    assert run("certify", str(design), "--out", str(page)).exit_code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "Parity" in run("certify", str(design)).stdout
    assert run("certify", "--checker").stdout == Path(checker.__file__).read_text(
        encoding="utf-8"
    )
    assert "deployment:" in run("certify", str(design), "--registry").stdout
    assert (
        json.loads(run("certify", str(design), "--json").stdout)["schema"]
        == "deniable/certificate/1"
    )


@pytest.mark.parametrize("form", ["text", "json", "file"])
def test_the_command_tells_that_the_hash_of_a_file_is_not_that_of_the_link(
    tmp_path: Path, form: str
) -> None:
    """However the certificate is written; a definition with the keys of its collector has the hash of its link."""
    options = {
        "text": [],
        "json": ["--json"],
        "file": ["--out", str(tmp_path / "certificate.json"), "--force"],
    }[form]
    survey = tmp_path / "survey.json"
    for definition in (small(), replace(small(), keys=Keys("00" * 32))):
        survey.write_text(definition.to_json(), encoding="utf-8")
        told = run("certify", str(survey), *options)
        assert told.exit_code == 0
        assert ("not fielded" in told.stderr) == (definition.keys is None)


def test_the_command_takes_priors_by_part(tmp_path: Path) -> None:
    survey = tmp_path / "survey.json"
    survey.write_text(small().to_json(), encoding="utf-8")
    found = run(
        "certify",
        str(survey),
        "--prior",
        "smokes:9/10,1/10",
        "--prior",
        "colour:red=1/2,green=1/4,blue=1/4",
        "--json",
    )
    parts = json.loads(found.stdout)["claims"]["parts"]
    assert parts["smokes"]["prior"] == ["9/10", "1/10"]
    assert parts["colour"]["parts"][0]["prior"] == ["1/2", "1/4", "1/4"]
    assert run("certify", str(survey), "--prior", "9/10,1/10").exit_code == 2
    assert run("certify").exit_code == 2
