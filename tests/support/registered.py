"""The examples of all registered families, ready for parametrization."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from _pytest.mark import ParameterSet

from deniable.designs import FAMILIES, Design


def registered() -> list[Design]:
    return [design for family in FAMILIES.values() for design in family.designs()]


def parameters(
    suits: Callable[[Design], bool] = lambda _: True,
) -> list[ParameterSet]:
    """Return a parameter for each example, or for those that suit a test."""
    return [
        pytest.param(design, id=f"{family.name}-{number}")
        for family in FAMILIES.values()
        for number, design in enumerate(family.designs())
        if suits(design)
    ]


every_design = pytest.mark.parametrize("design", parameters())
