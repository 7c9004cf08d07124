from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from deniable.designs import Numbered, k_ary
from deniable.designs.labels import format_labels, read
from deniable.errors import InvalidDesign


def test_numbered_labels_are_a_sequence_that_stores_nothing() -> None:
    labels = Numbered(1_000_000)
    assert len(labels) == 1_000_000
    assert (labels[0], labels[-1], labels[5:8]) == ("0", "999999", ("5", "6", "7"))
    assert labels.index("17") == 17
    assert list(Numbered(3)) == ["0", "1", "2"]
    assert repr(labels) == "Numbered(1000000)"
    with pytest.raises(IndexError):
        labels[1_000_000]


@pytest.mark.parametrize(
    "label",
    [
        "-1",
        "3",
        "03",
        "+1",
        "1.0",
        " 1",
        "",
        "x",
        "٢",
        "²",
        "9" * 30,
        1,
        None,
        True,
        1.0,
    ],
)
def test_only_plain_numbers_below_the_size_are_labels(label: Any) -> None:
    labels = Numbered(3)
    assert label not in labels
    with pytest.raises(ValueError, match="not one of the numbered labels"):
        labels.index(label)


def test_index_looks_between_start_and_stop() -> None:
    assert Numbered(10).index("5", 5, 6) == 5
    with pytest.raises(ValueError, match="not one"):
        Numbered(10).index("5", 6)
    with pytest.raises(ValueError, match="not one"):
        Numbered(10).index("5", 0, 5)


def test_numbered_labels_are_values() -> None:
    assert Numbered(3) == Numbered(3) != Numbered(4)
    assert hash(Numbered(3)) == hash(Numbered(3))
    assert pickle.loads(pickle.dumps(Numbered(3))) == Numbered(3)


def test_labels_are_read_from_lists_tuples_and_numbers() -> None:
    assert read(["no", "yes"]) == read(("no", "yes")) == ("no", "yes")
    assert read(5) == read(np.int64(5)) == Numbered(5)  # type: ignore[arg-type]
    assert read(Numbered(5)) == Numbered(5)
    assert read(2**53) == Numbered(2**53)


def test_one_design_has_one_hash_however_its_labels_are_given() -> None:
    assert read(["0", "1", "2"]) == Numbered(3)
    assert k_ary(["0", "1", "2"], 1) == k_ary(3, 1)
    assert read(["1", "0"]) == ("1", "0")


def test_the_labels_of_an_array_become_plain_text() -> None:
    labels = read(list(np.array(["no", "yes"])))
    assert [type(label) for label in labels] == [str, str]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (1, "is 1; expected 2 to"),
        (0, "is 0; expected 2 to"),
        (-3, "is -3; expected 2 to"),
        (2**53 + 1, r"expected 2 to 2\^53"),
        (10**5000, "a number of thousands of digits; expected 2 to"),
        (True, "is a bool; expected a list"),
        (2.0, "is a float; expected a list"),
        ("ab", "is a str; expected a list"),
        ({"a", "b"}, "is a set; expected a list"),
        (None, "is a NoneType; expected a list"),
        ([], "holds 0 labels; expected at least 2"),
        (["only"], "holds 1 labels; expected at least 2"),
        (["a", ""], "holds ''; expected text"),
        (["a", "  "], "holds '  '; expected text"),
        (["a", 1], "holds 1; expected text"),
        (["a", None], "holds None; expected text"),
        (["a", "\ud800"], "expected text"),
        (["a", "b", "a"], "holds 'a' more than once"),
        (["a", "a "], "look like it"),
        (["caf\u00e9", "cafe\u0301"], "look like it"),
    ],
    ids=range(20),
)
def test_anything_else_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(InvalidDesign, match=problem) as caught:
        read(given, name="categories")
    assert caught.value.problem.startswith("categories")


def test_labels_that_only_share_letters_are_different() -> None:
    assert read(["Yes", "yes", "yes!", "y es", "ﬁ", "fi"]) == (
        "Yes",
        "yes",
        "yes!",
        "y es",
        "ﬁ",
        "fi",
    )


def test_messages_show_a_few_labels() -> None:
    assert format_labels(("a", "b")) == "'a', 'b'"
    assert (
        format_labels(Numbered(12))
        == "'0', '1', '2', '3', '4', '5', '6', '7', … (12 in all)"
    )
