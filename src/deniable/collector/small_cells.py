"""Which counts may be shown: none of fewer people than the survey's minimum, and none that a subtraction would give.

They change in steps (`store.published`), so that a subtraction of what was shown before gives nothing either.
"""

from __future__ import annotations

from deniable.collector.store import Entry, ShownCounts, ShownQuestion, Store
from deniable.collector.store.published import fewest_shown, large_enough
from deniable.errors import NotAllowed, quoted


def counts_shown(shown: ShownQuestion, group: int | None = None) -> ShownCounts:
    """Return the counts of a question, of everybody or of a group that may be shown.

    Raises:
        NotAllowed: of fewer people than the survey's minimum, or of a group that is hidden.
    """
    entry = shown.entry
    if group is not None and group not in shown.large_groups:
        raise NotAllowed(
            f"the group {quoted(entry.survey.groups[group], 50)} is not shown; expected one with at least "
            f"{entry.survey.minimum:,} respondents, and no smaller one that could be told from the rest.",
            "Read the counts of everybody instead, or wait for more responses.",
        )
    counts = shown.everybody if group is None else shown.groups[group]
    if counts.tally.respondents < shown.fewest:
        needed = (
            shown.fewest
            if shown.is_over
            else max(shown.fewest, shown.next_steps[group])
        )
        raise _too_few(entry, shown.number, needed)
    return counts


def check_stored(store: Store, entry: Entry, question: int) -> None:
    """Refuse to hand over responses of fewer people than the survey's minimum, also to whoever runs the collector.

    Raises:
        NotAllowed: they are fewer.
    """
    if store.tallies(entry.id, question).respondents < fewest_shown(entry):
        raise _too_few(entry, question, fewest_shown(entry))


def groups_stored(store: Store, entry: Entry, question: int) -> tuple[int, ...]:
    """Return the numbers of the groups of a question that are large enough, of all that is stored."""
    total, *sizes = (
        store.tallies(entry.id, question, number).respondents
        for number in (None, *range(len(entry.survey.groups)))
    )
    return large_enough(sizes, total, fewest_shown(entry))


def _too_few(entry: Entry, question: int, needed: int) -> NotAllowed:
    return NotAllowed(
        f"there are too few responses to {entry.survey.questions[question].name!r}; expected at least {needed:,} "
        "before anything is shown.",
        f"Wait for more responses, or for the end of the survey: then {fewest_shown(entry):,} are enough.",
    )
