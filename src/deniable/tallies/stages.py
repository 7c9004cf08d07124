"""Counts along a ladder: how everybody responded at each stage, and everybody once, at the finest response sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.designs import Design
from deniable.documents import Response
from deniable.errors import Incompatible, InvalidResponse
from deniable.order.ladders import Ladder
from deniable.tallies import Tally, tally
from deniable.tallies.base import AdditiveTally, Counts
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from deniable.types.ladder import estimate as _estimate

__all__ = ["StageTallies", "count_stages", "finest_rows"]


@dataclass(frozen=True, eq=False)
class StageTallies(AdditiveTally[Ladder]):
    """The counts of one question that is released in stages. They add up over different respondents.

    Attributes:
        design: the ladder.
        seen: for each stage, all responses of that stage.
        finest: for each stage, the responses of those who have not sent a finer one: everybody counts once.
    """

    SCHEMA: ClassVar[str] = "stage-tallies"
    OWNER: ClassVar[str] = "ladder"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

    design: Ladder
    seen: tuple[Tally, ...]
    finest: tuple[Tally, ...]

    def __post_init__(self) -> None:
        for tallies in (self.seen, self.finest):
            if tuple(tally.design for tally in tallies) != self.design.designs:
                raise Incompatible(
                    "the tallies are not those of the ladder's stages, one for each in their order."
                )

    @classmethod
    def empty(cls, design: Ladder) -> StageTallies:
        nobody = tuple(Tally.empty(stage) for stage in design)
        return cls(design, nobody, nobody)

    @property
    def respondents(self) -> int:
        """How many people responded at all."""
        return sum(tally.respondents for tally in self.finest)

    @property
    def missing(self) -> int:
        """How many respondents sent nothing at their last stage."""
        return sum(tally.missing for tally in self.finest)

    def raised(
        self, response: Response, previous: Response | None = None
    ) -> StageTallies:
        """Return the counts after somebody has sent a response, in place of the finest one so far, if there is one.

        Raises:
            Incompatible: a response of no stage of this ladder.
            InvalidResponse: a previous response that was not counted, or is not coarser.
        """
        new = self.design.stage(response.design)
        one = tally(self.design.designs[new], [response])
        seen, finest = list(self.seen), list(self.finest)
        seen[new], finest[new] = seen[new] + one, finest[new] + one
        if previous is not None:
            old = self.design.stage(previous.design)
            if old >= new:
                raise InvalidResponse(
                    "the response before it is not of a coarser stage; expected one that is."
                )
            finest[old] = _subtract_one(
                finest[old], tally(self.design.designs[old], [previous])
            )
        return StageTallies(self.design, tuple(seen), tuple(finest))

    @classmethod
    def _read_parts(cls, body: Mapping[str, Any], design: Ladder) -> dict[str, Any]:
        parts = {}
        for name in ("seen", "finest"):
            pairs = zip(documents.field(body, name, list), design, strict=False)
            parts[name] = tuple(
                Tally.from_body(
                    documents.field({"tally": part}, "tally", dict), stage
                )
                for part, stage in pairs
            )
        return parts


def count_stages(
    ladder: Ladder, columns: Sequence[Any], reached: object = None
) -> StageTallies:
    """Count the columns of all stages, one row for each respondent.

    Args:
        ladder: the stages.
        columns: for each stage the responses, in any form that `tally` takes that can be cut by rows: arrays of codes,
            packed rows, or lists of labels. Rows of people who did not reach a stage are passed over. Or for each
            respondent the responses to all stages that were released; None for one who sent nothing.
        reached: for each respondent how many stages were released: 0 for none, 2 up to `stage_2`; all of them for
            everybody, if it is not given.

    Raises:
        InvalidResponse: columns of different lengths, or something a design cannot send.

    Example:
        >>> import deniable as dn
        >>> stages = dn.ladder([dn.warner(1), dn.warner(2)])
        >>> counted = count_stages(stages, [["yes", "no", "no"], ["yes", "yes", None]], reached=[2, 2, 1])
        >>> [each.respondents for each in counted.finest], [each.respondents for each in counted.seen]
        ([1, 2], [3, 2])
    """
    is_list = isinstance(columns, Sequence) and not isinstance(columns, str | bytes)
    if not is_list:
        raise InvalidResponse(
            f"the responses are a {type(columns).__name__}; expected a column for each stage."
        )
    if all(row is None or _is_history(row) for row in columns):
        columns, reached = _in_columns(ladder, columns)
    last = _last_stages(ladder, columns, reached)
    _check_stages(ladder, last)
    pairs = list(enumerate(zip(ladder, columns, strict=True), 1))
    seen = [
        tally(design, _slice_column(column, last >= at))
        for at, (design, column) in pairs
    ]
    finest = [
        tally(design, _slice_column(column, last == at))
        for at, (design, column) in pairs
    ]
    return StageTallies(ladder, tuple(seen), tuple(finest))


def _last_stages(
    ladder: Ladder, columns: Sequence[Any], reached: object
) -> NDArray[Any]:
    """Return the last stage that each respondent reached, if there is a column for each stage."""
    if not all(hasattr(column, "__len__") for column in columns):
        raise InvalidResponse(
            "a column has no length; expected a list or an array for each stage."
        )
    rows = {len(column) for column in columns}
    last = (
        np.full(max(rows, default=0), len(ladder))
        if reached is None
        else np.asarray(reached)
    )
    if (
        len(columns) != len(ladder)
        or last.ndim != 1
        or rows != {len(last)}
        or last.dtype.kind not in "iu"
    ):
        raise InvalidResponse(
            f"there are {len(columns)} columns of {sorted(rows)} rows, and {last.size} numbers of reached "
            f"stages; expected {len(ladder)} columns, all of them with a row for each respondent."
        )
    return last


def finest_rows(
    responses: Responses[Ladder], reached: object = None
) -> list[Responses[Design]]:
    """Return the responses of each stage, with all rows: those whose finest response is of another one are missing.

    Args:
        responses: a column for each stage, a row for each respondent.
        reached: for each respondent how many stages were released, as for `count_stages`.

    Raises:
        InvalidResponse: not a stage of the ladder for each respondent.
    """
    ladder, rows = responses.design, len(responses)
    last = np.full(rows, len(ladder)) if reached is None else np.asarray(reached)
    if last.shape != (rows,) or last.dtype.kind not in "iu":
        raise InvalidResponse(
            f"there are {last.size:,} numbers of reached stages; expected {rows:,} whole numbers, one for each "
            "respondent."
        )
    _check_stages(ladder, last)
    pairs = enumerate(zip(ladder, responses.columns.values(), strict=True), 1)
    return [
        Responses(design, {"response": column}, responses.gaps | (last != at))
        for at, (design, column) in pairs
    ]


def _check_stages(ladder: Ladder, last: Any) -> None:
    for end in (last.min(initial=0), last.max(initial=0)):
        if not 0 <= end <= len(ladder):
            raise InvalidResponse(
                f"{end} stages were reached; expected 0, for none, to {len(ladder)}."
            )


def _is_history(row: object) -> bool:
    if isinstance(row, tuple) and row:
        return all(isinstance(response, Response) for response in row)
    return isinstance(row, Response)


def _in_columns(
    ladder: Ladder, histories: Sequence[Any]
) -> tuple[list[list[str | None]], Counts]:
    """Return what each respondent sent as a column for each stage, and how many stages each reached."""
    columns: list[list[str | None]] = [[None] * len(histories) for _ in ladder]
    reached = np.full(len(histories), len(ladder), np.int64)
    for row, history in enumerate(histories):
        if history is None:
            continue
        responses = [history] if isinstance(history, Response) else history
        stages = {
            ladder.stage(response.design): response.symbol for response in responses
        }
        for stage, symbol in stages.items():
            columns[stage][row] = symbol
        reached[row] = max(stages) + 1
    return columns, reached


def _slice_column(column: Any, rows: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column[rows]
    return [column[row] for row in np.flatnonzero(rows).tolist()]


def _subtract_one(counted: Tally, one: Tally) -> Tally:
    if counted.respondents < 1 or (counted.counts < one.counts).any():
        raise InvalidResponse(
            "the response before it was not counted at its stage; expected one that was."
        )
    return replace(
        counted,
        counts=counted.counts - one.counts,
        respondents=counted.respondents - one.respondents,
    )
