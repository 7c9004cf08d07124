"""The registry is complete: no family of designs can escape the conformance suite."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import deniable
import deniable.designs
from deniable.designs import FAMILIES, Design


def builders() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, in any module of `deniable.designs`, that says it returns a Design."""
    for info in pkgutil.walk_packages(
        deniable.designs.__path__, "deniable.designs."
    ):
        module = importlib.import_module(info.name)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            returns = inspect.get_annotations(function).get("return")
            if (
                function.__module__ == info.name
                and not name.startswith("_")
                and returns in ("Design", Design)
            ):
                yield name, function


def test_every_builder_is_registered() -> None:
    found = dict(builders())
    assert found, "no builders were found; the search is broken"
    assert {name: family.build for name, family in FAMILIES.items()} == found


def test_every_family_is_public() -> None:
    for name, family in FAMILIES.items():
        assert getattr(deniable.designs, name) is family.build
        assert name in deniable.designs.__all__
        assert getattr(deniable, name) is family.build
        assert name in deniable.__all__


def test_every_design_names_its_family() -> None:
    for name, family in FAMILIES.items():
        assert family.examples
        for design in family.designs():
            assert isinstance(design, Design)
            assert design.name == name


def test_no_two_examples_are_the_same_design() -> None:
    hashes = [
        design.hash for family in FAMILIES.values() for design in family.designs()
    ]
    assert len(set(hashes)) == len(hashes)
