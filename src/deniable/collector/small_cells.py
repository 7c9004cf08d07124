"""Which counts may be shown: none of fewer people than the survey's minimum, and none that a subtraction would give.

They change in steps (`store.published`), so that a subtraction of what was shown before gives nothing either.
"""

from __future__ import annotations

from deniable.collector.store import Entry, Store
from deniable.collector.store.published import ended, large_enough
from deniable.errors import NotAllowed, quoted
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

_FEWEST_RESPONSES = 2  # below them an estimate has no standard error


def counts_shown(store: Store, entry: Entry, question: int, group: int | None = None) -> Tally | StageTallies:
    """Return the counts of a question, of everybody or of a group that may be shown.

    Raises:
        NotAllowed: of fewer people than the survey's minimum, or of a group that is hidden.
    """
    if group is not None and group not in groups_shown(store, entry, question):
        raise NotAllowed(
            f"the group {quoted(entry.survey.groups[group], 50)} is not shown; expected one with at least "
            f"{entry.survey.minimum:,} respondents, and no smaller one that could be told from the rest.",
            "Read the counts of everybody instead, or wait for more responses.",
        )
    counts, least = published(store, entry, question, group), _least(entry)
    if counts.respondents < least:
        needed = least if ended(entry, store.today()) else max(least, store.next_step(entry.id, question, group))
        raise _too_few(entry, question, needed)
    return counts


def check_stored(store: Store, entry: Entry, question: int) -> None:
    """Refuse to hand over responses of fewer people than the survey's minimum, also to whoever runs the collector.

    Raises:
        NotAllowed: they are fewer.
    """
    if store.tallies(entry.id, question).respondents < _least(entry):
        raise _too_few(entry, question, _least(entry))


def _least(entry: Entry) -> int:
    return max(entry.survey.minimum, _FEWEST_RESPONSES)


def _too_few(entry: Entry, question: int, needed: int) -> NotAllowed:
    return NotAllowed(
        f"there are too few responses to {entry.survey.questions[question].name!r}; expected at least {needed:,} "
        "before anything is shown.",
        f"Wait for more responses, or for the end of the survey: then {_least(entry):,} are enough.",
    )


def published(store: Store, entry: Entry, question: int, group: int | None = None) -> Tally | StageTallies:
    """Return the counts of a question as of the last step, and all of them when the survey has ended."""
    store.publish(entry.id, question)
    return store.tallies(entry.id, question, group, shown=True)


def groups_shown(store: Store, entry: Entry, question: int) -> tuple[int, ...]:
    """Return the numbers of the groups of a question that may be shown."""
    store.publish(entry.id, question)
    return _groups(store, entry, question, shown=True)


def groups_stored(store: Store, entry: Entry, question: int) -> tuple[int, ...]:
    """Return the numbers of the groups of a question that are large enough, of all that is stored."""
    return _groups(store, entry, question, shown=False)


def _groups(store: Store, entry: Entry, question: int, *, shown: bool) -> tuple[int, ...]:
    total, *sizes = (
        store.tallies(entry.id, question, number, shown=shown).respondents
        for number in (None, *range(len(entry.survey.groups)))
    )
    return large_enough(sizes, total, _least(entry))
