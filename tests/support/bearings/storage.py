"""Responses in the tables of a database."""

from __future__ import annotations

from deniable.tallies.stored.cells import Refused, Stages, count_cells, only_stage
from deniable.tallies.stored.forms import StoredForm, code_form
from tests.support.bearings.count import BearingTally
from tests.support.bearings.design import BearingDesign


def forms(design: BearingDesign, *, labels: bool) -> tuple[StoredForm, ...]:
    return (code_form(design.responses, labels=labels),)


def of_cells(
    design: BearingDesign, stages: Stages, refused: Refused
) -> BearingTally:
    counted = only_stage(stages)
    counts = count_cells(design.responses, counted, design.response_number, refused)
    return BearingTally(design, counts, counted.missing)
