"""Responses in the tables of a database: cohorts, and rows of bits."""

from __future__ import annotations

from deniable.tallies.base import Counts
from deniable.tallies.stored.cells import Refused, Stages, count_lines, only_stage
from deniable.tallies.stored.forms import StoredForm, bit_form
from deniable.types.strings.count import StringTally
from deniable.types.strings.design import StringDesign

__all__ = ["forms", "of_cells", "of_counts"]


def forms(design: StringDesign, *, labels: bool) -> tuple[StoredForm, ...]:
    """Return the form of the columns of cohorts and responses."""
    return (
        bit_form(design.bloom.bits, labels=labels, cohorts=design.bloom.cohorts),
    )


def of_cells(design: StringDesign, stages: Stages, refused: Refused) -> StringTally:  # noqa: ARG001 - one shape for all
    """Return the tally of the cells that a query counted."""
    counted, cohorts = only_stage(stages), design.bloom.cohorts
    lines = count_lines(
        bit_form(design.bloom.bits, labels=False, cohorts=cohorts), counted, cohorts
    )
    return StringTally(design, lines[:, 1:], lines[:, 0], counted.missing)


def of_counts(design: StringDesign, counts: Counts, respondents: int) -> StringTally:  # noqa: ARG001 - one shape for all
    """Return the tally of the counts that a collector keeps: of each cohort its size, then its ones."""
    lines = counts.reshape(design.bloom.cohorts, -1)
    return StringTally(design, lines[:, 1:], lines[:, 0])
