"""The one shape in which a plan answers: a sentence, the number that was asked for, a table, and perhaps a picture."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from deniable.errors import InvalidRequest
from deniable.rendering import Rendered, Sheet, data_frame, formats
from deniable.rendering.formats import percent

if TYPE_CHECKING:
    import pandas as pd

    from deniable.designs import AnyDesign

Line: TypeAlias = Mapping[str, str | int | float]
"""A line of a table, by the names of its columns."""

_ACROSS = 48  # characters of a picture in text
_MARKS = "●○◆◇"


class PlanTable(Rendered, ABC):
    """Something that answers a question about a plan with a table. Print it to see the table."""

    __slots__ = ()

    @abstractmethod
    def _sheet(self) -> Sheet: ...

    def __str__(self) -> str:
        return self.to_text()


def plan_sheet(
    title: str,
    heads: tuple[str, ...],
    names: tuple[str, ...],
    rows: Sequence[tuple[str | int | float, ...]],
    notes: tuple[str, ...] = (),
) -> Sheet:
    """Return a table; an ε is rounded up, as every bound on what is revealed.

    Args:
        title: what it shows.
        heads: of the columns, for people.
        names: of the columns, for programs.
        rows: the values.
        notes: what has to be known to read it.
    """
    cells = tuple(
        tuple(
            formats.epsilon(value)
            if head.startswith("ε") and isinstance(value, float)
            else formats.cell(value)
            for head, value in zip(heads, row, strict=True)
        )
        for row in rows
    )
    return Sheet(title, heads, cells, notes, names, values=tuple(rows))


@dataclass(frozen=True, slots=True)
class Planned(PlanTable):
    """What a plan answers. Print it: the sentence comes first, then the table.

    Attributes:
        sentence: the answer in words.
        value: the number that was asked for.
        lines: the table; all lines have the same columns.
        notes: what else must be known to act on it.
        across: the column that a picture has on its horizontal axis; empty where there is no picture.
        design: the design that is recommended, where one was asked for.
    """

    sentence: str
    value: float
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    across: str = ""
    design: AnyDesign | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return the table for pandas.

        Raises:
            MissingExtra: pandas is not installed.
        """
        return data_frame(
            [
                {_key(name): cell for name, cell in line.items()}
                for line in self.lines
            ]
        )

    def to_json(self, *, indent: int | None = None) -> str:
        """Return all of it for programs; infinite numbers are null."""
        body: dict[str, object] = {
            "sentence": self.sentence,
            "value": _finite(self.value),
            "lines": [
                {_key(name): _finite(cell) for name, cell in line.items()}
                for line in self.lines
            ],
            "notes": list(self.notes),
        }
        if self.design is not None:
            body["design"] = json.loads(self.design.to_json())
        return json.dumps(body, ensure_ascii=False, indent=indent)

    def _sheet(self) -> Sheet:
        heads = tuple(self.lines[0])
        rows = [tuple(line[head] for head in heads) for line in self.lines]
        return plan_sheet(
            self.sentence, heads, tuple(map(_key, heads)), rows, self.notes
        )

    def drawn(self) -> str:
        """Return the same picture as text: a line for each value across, a mark for each column.

        Raises:
            InvalidRequest: there is no picture of this answer.
        """
        _, curves = self.curves()
        logs = {
            name: [math.log(max(height, 1e-12)) for height in heights]
            for name, heights in curves.items()
        }
        low, high = min(map(min, logs.values())), max(map(max, logs.values()))
        legend = "   ".join(
            f"{mark} {name}" for mark, name in zip(_MARKS, logs, strict=False)
        )
        labels = [formats.cell(line[self.across]) for line in self.lines]
        wide = max(map(len, labels))
        rows = [f"{'':>{wide}}  smaller ← {legend} → larger"]
        for label, *heights in zip(labels, *logs.values(), strict=True):
            row = [" "] * (_ACROSS + 1)
            for mark, height in zip(_MARKS, heights, strict=False):
                row[round(_ACROSS * (height - low) / ((high - low) or 1.0))] = mark
            rows.append(f"{label:>{wide}} │{''.join(row).rstrip()}")
        return "\n".join(rows)

    def curves(self) -> tuple[list[float], dict[str, list[float]]]:
        """Return what is `across`, and the other columns over it.

        Raises:
            InvalidRequest: there is nothing across.
        """
        if not self.across:
            raise InvalidRequest(
                "there is no picture of this answer; expected one such as crossover() gives."
            )
        names = [name for name in self.lines[0] if name != self.across]
        columns = {
            name: [float(line[name]) for line in self.lines]
            for name in [self.across, *names]
        }
        return columns.pop(self.across), columns


def _key(head: str) -> str:
    """Return what programs call a column."""
    return head.replace(" ", "_")


def more_people(ratio: float) -> str:
    """Tell by how much a number of people is larger; small differences in percent.

    Example:
        >>> [more_people(ratio) for ratio in (1.0001, 1.04, 3.5)]
        ['as many people', '4% more people', '3.5 times as many people']
    """
    if ratio >= 1.995:
        return f"{ratio:.3g} times as many people"
    return (
        f"{percent(ratio - 1, 2)} more people"
        if ratio > 1.0005
        else "as many people"
    )


def _finite(cell: str | float) -> str | float | None:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
