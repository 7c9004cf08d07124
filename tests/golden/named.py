"""The designs of survey_golden.json, by the names and parameters of section A1 of the formula sheet.

`named("forced", yes=…, no=…)` builds one with the public API; other answers ask here and nowhere else.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deniable as dn
from tests.golden.runner import Uncovered, fractions

DATA = Path(__file__).parents[2].parent / "shared" / "data"
"""Rows of real surveys, beside the repository and no part of it."""


def _forced(yes: Any, no: Any) -> dn.Design:
    return dn.forced_response(1 - yes - no, yes, no)


def _gamma_diagonal(k: Any, gamma: Any) -> dn.Design:
    return dn.k_ary(int(k), p=gamma / (gamma + k - 1))


def _kuk(p1: Any, p2: Any, r: Any = 1) -> dn.Design:
    return dn.kuk(p1, p2, draws=int(r))


def _negative(k: Any) -> dn.Design:
    return dn.negative_survey(int(k))


BUILDERS: dict[str, Callable[..., dn.Design]] = {
    "christofides": dn.christofides,
    "crosswise": dn.crosswise,
    "devore": dn.devore,
    "disguised": dn.disguised,
    "forced": _forced,
    "forced_k": dn.forced_choice,
    "gamma_diagonal": _gamma_diagonal,
    "hard_garbling": dn.hard_garbling,
    "kuk": _kuk,
    "mangat": dn.mangat,
    "mangat_singh": dn.mangat_singh,
    "mangat_singh_singh": dn.mangat_singh_singh,
    "mangat_unrelated": dn.mangat_unrelated,
    "mirrored": dn.mirrored,
    "negative": _negative,
    "number_sequence": dn.number_sequence,
    "singh_joarder": dn.singh_joarder,
    "triangular": dn.triangular,
    "unrelated": dn.simmons,
    "unrelated_correlated": dn.correlated_question,
    "warner": dn.warner,
}
OURS = {
    "christofides": {"p": "cards"},
    "hard_garbling": {"g": "p"},
    "unrelated_correlated": {"b1": "b_yes", "b0": "b_no"},
}
"""Parameters that are called otherwise here."""


def named(design: str, **parameters: Any) -> dn.Design:
    """Build a design by its name in the golden file.

    Raises:
        Uncovered: no such name, or other parameters.
    """
    if design not in BUILDERS:
        raise Uncovered(f"no design is called {design!r}")
    ours = OURS.get(design, {})
    try:
        return BUILDERS[design](
            **{
                ours.get(name, name): fractions(value)
                for name, value in parameters.items()
            }
        )
    except TypeError as error:
        raise Uncovered(f"{design}: {error}") from None


def rows(file: str) -> list[dict[str, str]]:
    """Return the rows of a real survey.

    Raises:
        Uncovered: the file is not beside the repository.
    """
    path = DATA / Path(file).name
    if not path.exists():
        raise Uncovered(f"{path.name} is not in ../shared/data")
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))
