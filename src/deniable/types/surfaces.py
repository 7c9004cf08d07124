"""The table of types of question and surfaces: what works, and why the rest is refused.

A surface is a way in which people meet the library: the verbs, files, tables, pages, commands. The folder of a type
names the surfaces that refuse it in its file `surfaces`, with the reason that the error tells. All other cells work.

`python -c "from deniable.types import surfaces; print(surfaces.page(), end='')" > docs/surfaces.md` writes the page.
"""

from __future__ import annotations

from collections.abc import Mapping

from deniable.errors import InvalidRequest
from deniable.types import FOLDERS, Typed, find_type_operation

__all__ = ["FIELDED", "SURFACES", "check_surface", "page", "refusals"]

SURFACES: dict[str, str] = {
    "verbs": "`respond`, `respond_all`, `tally` and `estimate` in Python",
    "files": "answers in files of any size → responses, and files of responses → tallies",
    "SQL": "responses in tables of DuckDB and Postgres, counted where they are",
    "Spark": "answers in frames of Spark → responses, and responses → tallies",
    "groups": "a tally for each group of people, and estimates that compare them",
    "sampling": "people with weights, strata and clusters: `estimate(responses, sampling=…)`",
    "regression": "`regress`",
    "survey file": "a question of a `Survey`",
    "page": "the respondent's page of the collector",
    "browser draw": "the respondent's browser draws the response",
    "collector": "responses that are sent to the collector, stored and counted",
    "client": "`Client`, which answers a survey from a program",
    "field kit": "a device for the interviewer, printed: `fieldkit.write_kit`",
    "shell": "`deniable tally` and `deniable estimate`",
    "plan": "`plan.sample_size`",
    "certificate": "`certify`",
    "audit": "`audit`",
    "ledger": "`Ledger`, which keeps what a person has released",
}
"""Surface → what it is."""

# Reasons that several types share.
IS_DEALT = "a deck is dealt to all of its people at once; expected a design whose respondents draw by themselves."
NO_REGRESSION = "a regression explains the answer to one question; expected a design for categories or numbers."
NOT_BY_HAND = "no spinner, card, die or coin draws this by hand; expected a design for one question with categories."
NO_PRECISION = "there is no single share or mean to plan for; expected categories, numbers, a deck or drawn attributes."
NO_SHARE = "quantiles have no share or mean to plan for; expected plan.quantile(), which plans their intervals."
NO_STAGES = "a ledger raises responses in stages; expected a design for categories or numbers, or a ladder."
FIELDED = ("survey file", "page", "collector", "client")
"""The surfaces that a survey passes."""


def refusals(asks: str) -> Mapping[str, str]:
    """Return the reason of each surface that refuses a type of question."""
    refused: Mapping[str, str] = find_type_operation(asks, "REFUSED") or {}
    return refused


def check_surface(design: Typed, surface: str, hint: str = "") -> None:
    """Refuse a design whose type of question a surface does not take.

    Raises:
        InvalidRequest: the reason that the folder of the type gives.
    """
    reason = refusals(design.asks).get(surface)
    if reason is not None:
        raise InvalidRequest(reason, hint)


def page() -> str:
    """Return the page of the table, as Markdown."""
    reasons: list[str] = []
    rows = []
    for surface, text in SURFACES.items():
        cells = [_cell(refusals(asks).get(surface), reasons) for asks in FOLDERS]
        rows.append(f"| **{surface}**: {text} | {' | '.join(cells)} |")
    notes = [
        f"{number}. {_sentence(reason)}" for number, reason in enumerate(reasons, 1)
    ]
    return "\n".join(
        [
            _HEAD,
            *_header(),
            *rows,
            "",
            "## Why a surface refuses a type",
            "",
            *notes,
            "",
        ]
    )


_HEAD = """# Types of question and surfaces

Every type of question that the library knows, and every way to use it. ✓: it works. A number: it is refused, for the
reason below. A test calls every surface with every type.
"""


def _header() -> list[str]:
    return [f"| | {' | '.join(FOLDERS)} |", f"| --- |{' :-: |' * len(FOLDERS)}"]


def _cell(reason: str | None, reasons: list[str]) -> str:
    """Return the mark of a cell, and enter its reason where it is a new one."""
    if reason is None:
        return "✓"
    if reason not in reasons:
        reasons.append(reason)
    return str(1 + reasons.index(reason))


def _sentence(reason: str) -> str:
    return reason[0].upper() + reason[1:]
