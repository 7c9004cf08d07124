"""A `Sheet` as a table of Rich, for the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.rendering import Sheet
from deniable.rendering.formats import printable

if TYPE_CHECKING:
    from rich.console import Group


def to_rich(sheet: Sheet, *, main_column: int = 1, has_total: bool = False) -> Group:
    """Return a title and a table for the shell; of its notes, only the one about rows that are left out.

    Args:
        sheet: what it holds.
        main_column: the column that is set off from the others.
        has_total: whether the last row is a total, which is set apart.
    """
    from rich import box
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, (head, is_text) in enumerate(
        zip(sheet.heads, sheet.is_text, strict=True)
    ):
        table.add_column(
            escape(printable(head)),
            justify="left" if is_text else "right",
            style="bold cyan" if number == main_column and not is_text else None,
            no_wrap=not is_text,
            overflow="fold",
        )
    for number, row in enumerate(sheet.cells, 1):
        if has_total and number == len(sheet.cells) > 1:
            table.add_section()
        table.add_row(*(escape(printable(cell)) for cell in row))
    if sheet.left_out:
        table.caption = sheet.rest[0]
    return Group(Text(sheet.title, style="bold"), table)
