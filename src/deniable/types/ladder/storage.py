"""Responses of all stages in the tables of a database: a column for each stage."""

from __future__ import annotations

import operator

from deniable.errors import UnreadableFile
from deniable.order.ladders import Ladder
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies
from deniable.tallies.stored.cells import (
    Refused,
    StageCells,
    Stages,
    count_categories,
)
from deniable.tallies.stored.forms import StoredForm, category_form

__all__ = ["forms", "of_cells"]


def forms(ladder: Ladder, *, labels: bool) -> tuple[StoredForm, ...]:
    """Return the form of each column of responses, one for each stage."""
    return tuple(category_form(design, labels=labels) for design in ladder)


def of_cells(ladder: Ladder, stages: Stages, refused: Refused) -> StageTallies:
    """Return the tallies of the cells that a query counted.

    Raises:
        UnreadableFile: there are counts of a stage that the ladder does not have.
    """
    if any(not 1 <= stage <= len(ladder) or raised > 1 for stage, raised in stages):
        raise UnreadableFile(
            f"there are counts of a stage that is not one of 1 to {len(ladder)}; expected the ladder's."
        )
    last, raised = (_count_stages(ladder, stages, flag, refused) for flag in (0, 1))
    return StageTallies(ladder, tuple(map(operator.add, last, raised)), tuple(last))


def _count_stages(
    ladder: Ladder, stages: Stages, raised: int, refused: Refused
) -> list[Tally]:
    """Return the tally of each stage, of respondents who were raised to a later one (1) or were not (0)."""
    return [
        count_categories(design, stages.get((stage, raised), StageCells()), refused)
        for stage, design in enumerate(ladder, 1)
    ]
