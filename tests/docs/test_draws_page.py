"""The page that others implement the draw from: its examples run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from deniable.channel import KINDS

PAGE = Path(__file__).parents[2] / "docs" / "draws.md"


def test_the_examples_of_the_page_run() -> None:
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False)
    assert failed == 0
    assert attempted >= 20


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_page_says_how_each_kind_of_channel_draws(kind: str) -> None:
    assert f"### `{kind}`" in PAGE.read_text(encoding="utf-8")
