"""Which counts may be shown: none of fewer people than the survey's minimum, and none that a subtraction would give.

They change in steps (`store.published`), so that a subtraction of what was shown before gives nothing either.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.collector.store import Entry, Store
from deniable.errors import NotAllowed
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
            f"the group {entry.survey.groups[group]!r:.50} is not shown; expected one with at least "
            f"{entry.survey.minimum:,} respondents, and no smaller one that could be told from the rest.",
            "Read the counts of everybody instead, or wait for more responses.",
        )
    counts = published(store, entry, question, group)
    least = max(entry.survey.minimum, _FEWEST_RESPONSES)
    if counts.respondents < least:
        where = " in any group" if entry.survey.groups else ""
        raise NotAllowed(
            f"there are too few responses to {entry.survey.questions[question].name!r}; expected at least {least:,}"
            f"{where} before anything is shown.",
            "Wait for more responses.",
        )
    return counts


def published(store: Store, entry: Entry, question: int, group: int | None = None) -> Tally | StageTallies:
    """Return the counts of a question as of the last step; a step is taken where one is due."""
    store.publish(entry.id, question)
    return store.tallies(entry.id, question, group, shown=True)


def groups_shown(store: Store, entry: Entry, question: int) -> tuple[int, ...]:
    """Return the numbers of the groups of a question that may be shown."""
    total = published(store, entry, question).respondents
    sizes = [
        store.tallies(entry.id, question, number, shown=True).respondents for number in range(len(entry.survey.groups))
    ]
    return large_enough(sizes, total, max(entry.survey.minimum, _FEWEST_RESPONSES))


def large_enough(sizes: Sequence[int], total: int, minimum: int) -> tuple[int, ...]:
    """Return the numbers of the groups that may be shown beside the total.

    Whoever knows the total and the groups shown knows all others together, too. So these others are either nobody or at
    least as many as the minimum; the smallest groups are hidden until that is so.

    Example:
        >>> large_enough([50, 30, 7], 87, 20)  # with 7 hidden alone, 87 − 50 − 30 would tell about them
        (0,)
        >>> large_enough([50, 30, 0], 80, 20), large_enough([50, 30, 7], 110, 20)
        ((0, 1), (0, 1))
    """
    rising = sorted(range(len(sizes)), key=lambda number: sizes[number])
    kept = [number for number in rising if sizes[number] >= minimum]
    while kept and 0 < total - sum(sizes[number] for number in kept) < minimum:
        del kept[0]
    return tuple(sorted(kept))
