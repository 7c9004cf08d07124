"""Whatever is handed over as a file: it is what was written, or it is refused in our own words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from deniable import documents
from deniable.designs import Design, warner
from deniable.documents import Response
from deniable.errors import DeniableError, InvalidDesign, UnreadableFile
from deniable.tallies.counts import Tally
from tests.support.strategies import channels, jsons

READERS: dict[str, Callable[[str | bytes], object]] = {
    "design": Design.from_json,
    "response": Response.from_json,
    "tally": lambda text: Tally.from_json(text, warner(1)),
    "estimate": lambda text: documents.unseal("estimate", text),
}
every_reader = pytest.mark.parametrize("kind", sorted(READERS))


@every_reader
@given(text=st.text() | st.binary())
@example(text="")
@example(text="null")
@example(text="[]")
@example(text='"schema"')
@example(text="NaN")
@example(text='{"schema": NaN}')
@example(text="\ufeff{}")
@example(text=b"\xff\xfe")
@example(text='{"a": 1, "a": 1}')
@example(text="[" * 100_000)
@example(text='{"schema":' * 100_000)
@example(text="1" * 10_000)
def test_garbage_is_refused(kind: str, text: str | bytes) -> None:
    with pytest.raises(UnreadableFile):
        READERS[kind](text)


@every_reader
@given(document=jsons)
def test_any_other_json_is_refused(kind: str, document: Any) -> None:
    with pytest.raises(UnreadableFile):
        READERS[kind](json.dumps(document))


@every_reader
@given(body=st.dictionaries(st.text(max_size=8), jsons, max_size=5))
@example(body={"x": float("nan")})
@example(body={"x": float("inf")})
@example(body={"x": "\ud800"})
@example(body={"\udfff": 1})
@example(body={"hash": {}})
@example(body={"x": 10**4299})
def test_a_right_schema_with_a_wrong_hash_is_refused(
    kind: str, body: dict[str, Any]
) -> None:
    document = {**body, "schema": f"deniable/{kind}/1"}
    with pytest.raises(UnreadableFile):
        READERS[kind](json.dumps(document))
    with pytest.raises(UnreadableFile, match="hash"):
        READERS[kind](json.dumps({**document, "hash": "sha256:" + "0" * 64}))


numbers = (
    st.integers(-3, 40)
    | st.integers(0, 60).map(str)
    | st.sampled_from(["007", "1e3", "-1", "٣", "", "9" * 5000])
)
tables = st.lists(st.lists(numbers, max_size=3), max_size=3) | jsons
bodies = st.recursive(
    st.fixed_dictionaries(
        {"kind": st.just("dense"), "total": numbers | jsons, "weights": tables}
    )
    | st.fixed_dictionaries(
        {
            "kind": st.just("diagonal"),
            "size": numbers,
            "same": numbers,
            "other": numbers | jsons,
        }
    )
    | st.fixed_dictionaries({"kind": st.text(max_size=5)})
    | jsons,
    lambda inner: st.fixed_dictionaries(
        {"kind": st.just("product"), "factors": st.lists(inner, max_size=3)}
    ),
    max_leaves=4,
)
labels = (
    st.integers(-1, 5)
    | st.lists(
        st.sampled_from(["a", "b", "0", "1", "é", "é", "", " ", "a "]), max_size=4
    )
    | jsons
)


def writable(body: dict[str, Any]) -> bool:
    try:
        documents.seal("design", body)
    except ValueError:
        return False
    return True


@given(
    st.fixed_dictionaries(
        {
            "name": st.text(max_size=5) | jsons,
            "categories": labels,
            "symbols": labels,
            "channel": bodies,
        }
    ).filter(writable)
)
@example(
    {
        "name": "n",
        "categories": 2,
        "symbols": 2,
        "channel": {"kind": "dense", "total": 0, "weights": [[0, 0]] * 2},
    }
)
@example(
    {
        "name": "n",
        "categories": 2,
        "symbols": 2,
        "channel": {"kind": "dense", "total": 0, "weights": [[1, 1]] * 2},
    }
)
@example(
    {
        "name": "n",
        "categories": 10**30,
        "symbols": 10**30,
        "channel": {"kind": "dense", "total": 0, "weights": []},
    }
)
@example(
    {
        "name": "n",
        "categories": 2**53,
        "symbols": 2**53,
        "channel": {
            "kind": "diagonal",
            "size": "1" + "0" * 3999,
            "same": "2",
            "other": "1",
        },
    }
)
def test_a_sealed_body_is_a_design_as_we_write_it_or_refused(
    body: dict[str, Any],
) -> None:
    text = documents.seal("design", body)
    try:
        design = Design.from_json(text)
    except (UnreadableFile, InvalidDesign):
        return
    assert design.to_json() == text
    assert design.hash == json.loads(text)["hash"]


@given(channels(), st.text(min_size=1, max_size=8))
def test_every_design_comes_back(channel: Any, name: str) -> None:
    design = Design(
        name.encode("utf-8", "replace").decode(),
        channel.answers,
        channel.responses,
        channel,
    )  # type: ignore[arg-type]
    assert Design.from_json(design.to_json()) == design


@given(
    st.text(max_size=20).filter(lambda text: text.isprintable()),
    st.text(max_size=20).filter(lambda t: t.isprintable()),
)
def test_every_response_comes_back(design: str, symbol: str) -> None:
    response = Response(design, symbol)
    assert Response.from_json(response.to_json()) == response
    assert "\n" not in response.to_json()


whole = (
    st.integers(-2, 9) | st.sampled_from([2**62, 2**63, 10**40, "3", "007"]) | jsons
)


@given(
    st.fixed_dictionaries(
        {
            "counts": st.lists(whole, max_size=3) | jsons,
            "missing": whole,
            "respondents": whole,
        }
    )
)
def test_a_sealed_body_is_a_tally_or_refused(body: dict[str, Any]) -> None:
    design = warner(1)
    document = {**body, "design": design.hash}
    assume(writable(document))
    text = documents.seal("tally", document)
    try:
        tally = Tally.from_json(text, design)
    except DeniableError:
        return
    assert tally.counts.tolist() == body["counts"]
    assert tally.missing == int(body["missing"])
    assert tally.respondents == sum(body["counts"])


def test_channels_nested_without_end_are_refused() -> None:
    leaf: dict[str, Any] = {"kind": "diagonal", "size": 2, "same": "2", "other": "1"}
    for depth in (100, 200, 300, 400):
        body = leaf
        for _ in range(depth):
            body = {"kind": "product", "factors": [body, leaf]}
        try:
            text = documents.seal(
                "design",
                {"name": "product", "categories": 2, "symbols": 2, "channel": body},
            )
        except RecursionError:
            return
        with pytest.raises((UnreadableFile, InvalidDesign)):
            Design.from_json(text)


def test_wrong_labels_for_a_right_channel_are_refused() -> None:
    channel = {"kind": "diagonal", "size": 3, "same": "2", "other": "1"}
    for categories in (2, 4, ["a", "b"], ["0", "1", "2"], ["a", "b", "a"]):
        text = documents.seal(
            "design",
            {
                "name": "k_ary",
                "categories": categories,
                "symbols": 3,
                "channel": channel,
            },
        )
        with pytest.raises((UnreadableFile, InvalidDesign)):
            Design.from_json(text)
    right = documents.seal(
        "design",
        {"name": "k_ary", "categories": 3, "symbols": 3, "channel": channel},
    )
    assert Design.from_json(right).parity == 2
