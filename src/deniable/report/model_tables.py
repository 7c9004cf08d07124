"""Several results in one table, a column for each: models, waves or designs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deniable.errors import InvalidRequest, require_choice
from deniable.estimates.charts import forest
from deniable.estimates.results import Result, Row, Summary
from deniable.rendering import MAX_ROWS, Rendered, Sheet, formats
from deniable.rendering.pictures import Picture

_SHOWN = ("error", "interval")
_NUMBERS = ("estimate", "error", "low", "high")


@dataclass(frozen=True, repr=False)
class SideBySide(Rendered):
    """Summaries of results by what they are called.

    Attributes:
        summaries: the summaries, a column of the table each.
        show: what stands behind each number: its "error" or its "interval".
    """

    summaries: Mapping[str, Summary[Row]]
    show: str

    def _sheet(self) -> Sheet:
        columns = [dict(self._cells(summary)) for summary in self.summaries.values()]
        names = dict.fromkeys(name for column in columns for name in column)
        summaries = self.summaries.values()
        footer = (
            (
                "respondents",
                *(formats.count(summary.respondents) for summary in summaries),
            ),
            ("ε", *(formats.epsilon(summary.epsilon) for summary in summaries)),
        )
        first = next(iter(self.summaries.values()))
        behind = (
            "standard errors in parentheses"
            if self.show == "error"
            else f"{formats.level(first.level)} intervals in brackets"
        )
        return Sheet(
            title=f"{first.quantity.capitalize()}s, {behind}",
            heads=("", *self.summaries),
            cells=(
                *(
                    (name, *(column.get(name, "") for column in columns))
                    for name in names
                ),
                *footer,
            ),
            names=(
                "name",
                *(f"{name} {part}" for name in self.summaries for part in _NUMBERS),
            ),
            values=tuple((name, *self._values(name)) for name in names),
            notes=tuple(
                f"{name}: {summary.title}"
                for name, summary in self.summaries.items()
            ),
        )

    def _values(self, name: str) -> Iterator[float | None]:
        """Yield the numbers of one name in all summaries."""
        for summary in self.summaries.values():
            row = next((row for row in summary.rows if row.name == name), None)
            yield from (getattr(row, part, None) for part in _NUMBERS)

    def _cells(self, summary: Summary[Row]) -> Iterator[tuple[str, str]]:
        """Yield the name and the cell of each number, with two digits of its error."""
        for row in summary.rows:
            decimals = formats.decimals_of_error(row.error or 0.0)
            value, error, *ends = (
                formats.decimal(number, decimals)
                for number in (row.estimate, row.error or 0.0, row.low, row.high)
            )
            yield (
                row.name,
                (
                    f"{value} ({error})"
                    if self.show == "error"
                    else f"{value} [{' … '.join(ends)}]"
                ),
            )

    def _picture(self, title: str) -> Picture:
        return forest(self.summaries, title=title)

    def __str__(self) -> str:
        return self.to_text(most=MAX_ROWS)


def side_by_side(
    results: Mapping[str, Result[Any]],
    *,
    show: str = "error",
    level: float = 0.95,
    method: str | None = None,
) -> SideBySide:
    """Return several results in one table, a column for each.

    Args:
        results: results of one quantity, such as regressions, by what they are called.
        show: what stands behind each number: its standard "error", or its "interval".
        level: of the intervals.
        method: of the intervals; by default the one that suits each result.

    Raises:
        InvalidRequest: no results, or results of different quantities.

    Example:
        >>> import deniable as dn
        >>> waves = {year: dn.estimate(dn.Tally(dn.warner(2), [90, n])) for year, n in (("2024", 10), ("2026", 20))}
        >>> print(dn.report.side_by_side(waves))
        Shares, standard errors in parentheses
                               2024           2026
        no            1.025 (0.040)  0.918 (0.049)
        yes          -0.025 (0.040)  0.082 (0.049)
        respondents             100            110
        ε                         2              2
        2024: warner, ε = 2, 100 respondents, by inverting the device's probabilities
        2026: warner, ε = 2, 110 respondents, by inverting the device's probabilities
    """
    require_choice("show is", show, _SHOWN)
    summaries = {
        name: result.summary(level=level, method=method)
        for name, result in results.items()
    }
    if len({summary.quantity for summary in summaries.values()}) != 1:
        raise InvalidRequest(
            "these results are of several quantities, or there are none; expected results of one quantity by name.",
            'For example dn.report.side_by_side({"(1)": first, "(2)": second}).',
        )
    return SideBySide(summaries, show)
