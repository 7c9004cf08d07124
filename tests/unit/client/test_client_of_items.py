"""Answers of programs to a page's categories: weights that lie between two levels."""

from __future__ import annotations

from fractions import Fraction

import pytest

from deniable.chance import ScriptedSource
from deniable.errors import InvalidAnswer
from deniable.types.key_value.design import lpp_club
from deniable.types.key_value.respond import category_of

RATED = lpp_club(["tea", "milk"], 1, low=1, high=5)


def test_a_weight_between_two_levels_is_rounded_without_bias() -> None:
    """All first bytes of the word that decides: as many give the upper level as the weight is nearer to it."""
    rounded = [
        category_of(
            RATED, {"milk": "17/4"}, source=ScriptedSource(bytes(7) + bytes([byte]))
        )
        for byte in range(256)
    ]
    assert set(rounded) == {"none · 4", "none · 5"}
    assert Fraction(rounded.count("none · 5"), 256) == Fraction(1, 4)


def test_a_level_stays_and_what_does_not_fit_is_refused_without_being_told() -> None:
    for byte in (0, 255):
        source = ScriptedSource(bytes([byte]) * 16)
        known = category_of(RATED, {"tea": 1, "milk": 5}, source=source)
        assert known == "1 · 5"
    for wrong in ({"tea": 6.25}, {"cocoa": 2}):
        with pytest.raises(InvalidAnswer) as caught:
            category_of(RATED, wrong)
        assert "6.25" not in str(caught.value)
        assert "cocoa" not in str(caught.value)
