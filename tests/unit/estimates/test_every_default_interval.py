"""The default interval of every registered design keeps its level in small groups: the exact cells of the benchmark."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from benchmarks import coverage
from benchmarks.coverage_page import PAGE, PARTS, parts

import deniable as dn
from deniable.designs import FAMILIES


@cache
def settings(few: bool) -> list[Any]:
    """What is measured; designing all of it takes seconds."""
    return list(coverage.settings(few=few))


@cache
def exact_cells(n: int, method: str | None = None) -> dict[str, coverage.Cell]:  # noqa: ARG001 - what is planted
    """The cells that are sums over one count, of every registered design that has them."""
    found = {}
    for family, told, design in settings(False):
        fitted = coverage.Fitted(design, coverage.Sampling(n))
        if fitted.by_one_count:
            found[f"{family}({told:.70})"] = coverage.summed(fitted)
    return found


@pytest.mark.parametrize("n", [10, 30])
def test_small_groups_keep_their_level(n: int) -> None:
    cells = exact_cells(n)
    assert len(cells) > 100
    low = {
        name: str(cell)
        for name, cell in cells.items()
        if min(cell.rates) < coverage.LEAST
    }
    low |= {
        name: str(cell)
        for name, cell in cells.items()
        if np.mean(cell.rates) < coverage.LEAST_ON_AVERAGE
    }
    assert not low


def test_value_and_error_alone_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check can fail: with value ± z·error most designs have a cell far below."""
    monkeypatch.setattr(coverage, "METHOD", "normal")
    rates = [min(cell.rates) for cell in exact_cells(10, "normal").values()]
    assert np.mean(np.array(rates) < 0.9) > 0.5
    assert min(rates) < 0.5


def test_the_score_interval_alone_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where no one count tells enough of a category, score and profile together hold what the score interval misses."""
    fitted = coverage.Fitted(
        dn.rr3_ddagger(p1="1/5", p2="1/4"), coverage.Sampling(10)
    )
    assert fitted.method == "wide"
    assert min(coverage.gone_through(fitted).rates) >= coverage.LEAST
    monkeypatch.setattr(coverage, "METHOD", "score")
    assert (
        min(
            coverage.gone_through(
                coverage.Fitted(fitted.design, fitted.sampling)
            ).rates
        )
        < 0.9
    )


def test_every_registered_design_is_measured() -> None:
    """Whatever is entered in the registry has rows, also where its intervals are looked at among counted people."""
    for few in (False, True):
        assert {family for family, _, _ in settings(few)} == set(FAMILIES)


def test_the_page_has_every_design_and_what_is_computed() -> None:
    sections = parts(PAGE.read_text(encoding="utf-8"))
    assert list(sections) == list(PARTS)
    page = sections["shares"]
    for title, few in (
        ("Independent respondents", False),
        ("A third of all people", True),
        ("A census", True),
    ):
        section = page.split(f"## {title}\n")[1].split("\n## ")[0]
        rows = [f"| `{family}({told:.70})` |" for family, told, _ in settings(few)]
        assert not [row for row in rows if row not in section], (
            "run python -m benchmarks.coverage_page shares"
        )
    lines = page.split("## A third")[0].splitlines()
    for name, cell in exact_cells(10).items():
        row = next(line for line in lines if line.startswith(f"| `{name}` |"))
        assert row.split(" | ")[1] == str(cell)
