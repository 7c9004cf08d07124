"""What people look at: one table in seven formats, and a picture; the same for results, designs, tallies and plans.

A thing says what its table holds (`_sheet`), and text, HTML, LaTeX, Markdown, CSV, Word and Excel follow, each escaped
as its reader needs it. Of very many rows the largest are shown, and it is told how many are not; CSV and Excel have
them all.
"""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from deniable.errors import InvalidRequest, MissingExtra, quoted, require_options
from deniable.files.cells import safe_cell
from deniable.rendering import formats

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from deniable.rendering.pictures import Picture

MAX_ROWS = 40
"""Rows of a table that a reader looks through."""

MAX_ANSWERS = 12
"""Columns of a table of probabilities that stand beside each other."""

MAX_RESPONSES = 24
"""Rows of a table of probabilities."""

_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", '"': r"\textquotedbl{}", "…": r"\dots{}", "ε": r"$\varepsilon$",
    "δ": r"$\delta$", "±": r"$\pm$", "≤": r"$\le$", "·": r"$\cdot$", "∞": r"$\infty$", "×": r"$\times$", "—": "---",
    "−": "$-$", "χ": r"$\chi$", "²": "$^2$", "π": r"$\pi$", "σ": r"$\sigma$", "ρ": r"$\rho$", "λ": r"$\lambda$",
    "≥": r"$\ge$", "√": r"$\surd$", "→": r"$\to$",
}  # fmt: skip
_NUMBER = re.compile(r"[-+−±]?[\d.∞]|—$")
_MINUS = re.compile(r"(?<![\w}\])-])-(?=\d)")  # before a number, and no hyphen
# The colours are the reader's: `currentColor`, and one blue that stands out from white and from black alike.
_STYLE = (
    ".deniable{overflow-x:auto}.deniable table{border-collapse:collapse;color:inherit;background:none}"
    ".deniable caption{text-align:left;font-weight:600;padding-bottom:.5em;color:inherit}"
    ".deniable th,.deniable td{text-align:right;padding:.25em .75em;border-bottom:1px solid #8886;background:none;"
    "font-variant-numeric:tabular-nums}.deniable td,.deniable table td{white-space:nowrap}"
    # Words stay whole: what is too wide is scrolled, and before that the small pictures go.
    ".deniable th,.deniable table th{overflow-wrap:normal;word-break:normal;hyphens:manual}"
    ".deniable th:first-child{text-align:left;min-width:7em}"
    ".deniable svg{display:block;width:100%;min-width:5em;max-width:160px}"
    "@media(max-width:60em){.deniable .figure{display:none}}"
    ".deniable p{max-width:60em;margin:.5em 0}"
)

_WIDTH, _HEIGHT = 160, 14  # of the small picture beside a number, in pixels
_BLUE = "#4a86c5"  # three times as dark as white, and three times as light as black
_FIGURE = '<td class="figure">{}</td>'


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for people, with all that its formats need.

    Attributes:
        title: what it shows.
        caption: the same for a paper; by default the title.
        heads: of the columns; the first stands above the names of the rows, and may be empty.
        cells: a name and then what people read, for each row.
        notes: what has to be known to read it.
        names: of the columns for programs; by default the heads.
        values: the rows for programs, with all digits; by default the cells. There may be more than cells.
        sizes: what rows are chosen by where there are too many: the largest; by default the first.
        left_out: how many rows there are besides, of which nothing is here.
        figures: a small picture at the end of each row, as HTML that is safe.
        figure: the head of that column.
    """

    title: str
    heads: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    values: tuple[tuple[object, ...], ...] = ()
    sizes: tuple[float, ...] = ()
    left_out: int = 0
    figures: tuple[str, ...] = ()
    figure: str = ""
    caption: str = ""

    def shortened(self, most: int | None) -> Sheet:
        """Return it with at most so many rows, the largest, in their order by size; None for all."""
        if most is None or len(self.cells) <= most:
            return self
        order = list(range(len(self.cells)))
        if self.sizes:
            order.sort(
                key=lambda row: (
                    -math.inf if math.isnan(self.sizes[row]) else self.sizes[row]
                ),
                reverse=True,
            )
        chosen = order[:most]
        return replace(
            self,
            cells=tuple(self.cells[row] for row in chosen),
            figures=tuple(self.figures[row] for row in chosen)
            if self.figures
            else (),
            sizes=tuple(self.sizes[row] for row in chosen) if self.sizes else (),
            left_out=self.left_out + len(order) - most,
        )

    @property
    def rest(self) -> tuple[str, ...]:
        """A sentence about the rows that are not here; empty where all are."""
        if not self.left_out:
            return ()
        adjective = "largest" if self.sizes else "first"
        return (
            f"The {adjective} {len(self.cells):,} of {len(self.cells) + self.left_out:,}.",
        )

    @property
    def is_text(self) -> tuple[bool, ...]:
        """Whether each column holds text, which is aligned to the left; numbers are aligned to the right."""
        columns = (
            zip(*self.cells, strict=True) if self.cells else ((),) * len(self.heads)
        )
        flags = (
            bool(column) and not any(map(_NUMBER.match, column))
            for column in columns
        )
        return (True, *list(flags)[1:])


def to_text(sheet: Sheet, width: int | None = None) -> str:
    """Return a table as plain text, its columns below each other.

    Args:
        sheet: what it holds.
        width: characters that fit on a line. Where rows are wider, the name of each stands on a line of its own above
            its numbers, so that no row breaks among these.

    Example:
        >>> print(to_text(Sheet("Who smokes", ("", "share"), (("yes", "12%"), ("no", "88%")))))
        Who smokes
             share
        yes    12%
        no     88%
    """
    rows = [tuple(map(_line, row)) for row in (sheet.heads, *sheet.cells)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    names = [row[0].ljust(widths[0]) for row in rows]
    if width is not None and sum(widths) + 2 * len(widths[1:]) > width:
        names = [f"{row[0]}\n" if row[0] else "" for row in rows]
    columns = list(zip(widths, sheet.is_text, strict=True))[1:]
    numbers = [
        "".join(
            f"  {cell:{'<' if is_text else '>'}{room}}"
            for cell, (room, is_text) in zip(row[1:], columns, strict=True)
        )
        for row in rows
    ]
    lines = [(name + row).rstrip() for name, row in zip(names, numbers, strict=True)]
    lines += [f"… {sheet.left_out:,} more"] if sheet.left_out else []
    return "\n".join(
        [
            _wrap_words(sheet.title, width),
            *lines,
            *(_wrap_words(note, width) for note in sheet.notes),
        ]
    )


def _wrap_words(text: str, width: int | None) -> str:
    """Return a text in lines that are no wider, broken between words."""
    if width is None:
        return text
    return "\n".join(
        textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    )


def to_csv(sheet: Sheet) -> str:
    """Return a line of names, then a line for each row, with all digits; what is not known is empty.

    A text that a spreadsheet would take for a formula is marked as text.

    Example:
        >>> print(to_csv(Sheet("", ("name", "share"), (("=1+1", "12%"),), values=(("=1+1", 0.123456789),))))
        name,share
        '=1+1,0.123456789
    """
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (sheet.names or sheet.heads, *(sheet.values or sheet.cells)):
        writer.writerow(["" if unknown(cell) else safe_cell(cell) for cell in row])
    return out.getvalue().removesuffix("\n")


def to_markdown(sheet: Sheet) -> str:
    r"""Return a table in Markdown, with its title and notes.

    Example:
        >>> print(to_markdown(Sheet("Who smokes", ("", "share"), (("yes|no", "12%"),))))
        **Who smokes**
        <BLANKLINE>
        |  | share |
        | :-- | --: |
        | yes\|no | 12% |
    """
    lines = [
        tuple(map(_escape_markdown, sheet.heads)),
        tuple(":--" if is_text else "--:" for is_text in sheet.is_text),
    ]
    lines += [tuple(map(_escape_markdown, row)) for row in sheet.cells]
    table = ["| " + " | ".join(row) + " |" for row in lines]
    notes = "\n\n".join(map(_escape_markdown, (*sheet.rest, *sheet.notes)))
    return "\n".join(
        [
            f"**{_escape_markdown(sheet.title)}**",
            "",
            *table,
            *(["", notes] if notes else []),
        ]
    )


def to_latex(
    sheet: Sheet, *, caption: str = "", label: str = "", notes: bool = True
) -> str:
    r"""Return a LaTeX table with a caption; it needs the package booktabs.

    Args:
        sheet: what it holds.
        caption: above the table; by default what it shows.
        label: by which the text refers to it, such as "tab:smoking".
        notes: whether what has to be known to read it stands below it.

    Raises:
        InvalidRequest: a label with characters that LaTeX does not take in one.

    Example:
        >>> print(to_latex(Sheet("Who smokes", ("", "share"), (("yes & no", "12%"),))))
        \begin{table}
        \caption{Who smokes}
        \begin{tabular}{lr}
        \toprule
         & share \\
        \midrule
        yes \& no & 12\% \\
        \bottomrule
        \end{tabular}
        \end{table}
    """
    _check_label(label)
    head, *body = [
        " & ".join(map(_tex, row)) + r" \\" for row in (sheet.heads, *sheet.cells)
    ]
    columns = "".join("l" if is_text else "r" for is_text in sheet.is_text)
    below = " ".join(map(_tex, (*sheet.rest, *(sheet.notes if notes else ()))))
    return "\n".join([
        r"\begin{table}", rf"\caption{{{_tex(caption or sheet.caption or sheet.title)}}}",
        *([rf"\label{{{label}}}"] if label else []), rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}",
        *([rf"\par\smallskip\footnotesize {below}"] if below else []), r"\end{table}",
    ])  # fmt: skip


def _check_label(label: str) -> None:
    if not re.fullmatch(r"[\w:.+/ -]*", label):
        raise InvalidRequest(
            f"the label is {quoted(label)}; expected letters, digits, and : . + / - _ between them."
        )


def to_html(sheet: Sheet) -> str:
    """Return an HTML table that takes its colours from the page around it, light or dark.

    Example:
        >>> "<td>&lt;b&gt;</td>" in to_html(Sheet("Who smokes", ("", "share"), (("yes", "<b>"),)))
        True
    """
    head = "".join(f'<th scope="col">{_html(label)}</th>' for label in sheet.heads)
    head += (
        f'<th scope="col" class="figure">{_html(sheet.figure)}</th>'
        if sheet.figures
        else ""
    )
    figures = sheet.figures or ("",) * len(sheet.cells)
    body = "".join(
        f'<tr><th scope="row" dir="auto">{_html(name)}</th>{"".join(f"<td>{_html(cell)}</td>" for cell in cells)}'
        f"{_FIGURE.format(figure) if sheet.figures else ''}</tr>"
        for (name, *cells), figure in zip(sheet.cells, figures, strict=True)
    )
    table = f"<table><caption>{_html(sheet.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    notes = "".join(f"<p>{_html(note)}</p>" for note in (*sheet.rest, *sheet.notes))
    return f'<div class="deniable"><style>{_STYLE}</style>{table}{notes}</div>'


class Rendered:
    """Something that has a table and a picture. In a notebook it shows itself.

    How designs and tallies look is known to `report`, a namespace of the package that is loaded when somebody looks:
    whoever responds carries the standard library alone.
    """

    __slots__ = ()

    def _sheet(self) -> Sheet:
        """Return what the table holds."""
        import deniable

        return deniable.report.sheet_of(self)

    def _picture(self, title: str) -> Picture:
        """Draw it, with this title or one of its own."""
        import deniable

        return deniable.report.picture_of(self, title=title)

    def to_text(
        self, *, most: int | None = MAX_ROWS, width: int | None = None
    ) -> str:
        """Return the table as plain text, with its title and notes.

        Args:
            most: rows that are shown, the largest; None for all.
            width: characters of a line; by default lines are as long as they need to be.
        """
        return to_text(self._sheet().shortened(most), width)

    def to_csv(self) -> str:
        """Return the table as CSV: all rows with all their digits; no cell is taken for a formula by a spreadsheet."""
        return to_csv(self._sheet())

    def to_html(self, *, most: int | None = MAX_ROWS) -> str:
        """Return the table as HTML, in the colours of the page around it.

        Args:
            most: rows that are shown, the largest; None for all.
        """
        return to_html(self._sheet().shortened(most))

    def to_latex(
        self,
        *,
        most: int | None = MAX_ROWS,
        caption: str = "",
        label: str = "",
        notes: bool = True,
    ) -> str:
        """Return the table in LaTeX, with a caption and notes; it needs the package booktabs.

        Args:
            most: rows that are shown, the largest; None for all.
            caption: above the table; by default what it shows.
            label: by which the text refers to it, such as "tab:smoking".
            notes: whether what has to be known to read it stands below it.

        Raises:
            InvalidRequest: a label with characters that LaTeX does not take in one.
        """
        return to_latex(
            self._sheet().shortened(most), caption=caption, label=label, notes=notes
        )

    def to_markdown(self, *, most: int | None = MAX_ROWS) -> str:
        """Return the table in Markdown, with its title and notes.

        Args:
            most: rows that are shown, the largest; None for all.
        """
        return to_markdown(self._sheet().shortened(most))

    def to_docx(self, *, most: int | None = MAX_ROWS) -> bytes:
        """Return the table as a document of Word.

        Args:
            most: rows that are shown, the largest; None for all.

        Raises:
            MissingExtra: python-docx is not installed.
        """
        from deniable.rendering import office

        return office.to_docx(self._sheet().shortened(most))

    def to_xlsx(self) -> bytes:
        """Return the table as a workbook of Excel: all rows, with the sixteen digits that it keeps.

        Raises:
            MissingExtra: openpyxl is not installed.
        """
        from deniable.rendering import office

        return office.to_xlsx(self._sheet())

    def plot(self, *, title: str = "", dark: bool = False) -> Figure:
        """Draw a picture.

        Args:
            title: of the picture; by default what it shows.
            dark: light on dark, for slides and dark pages.
        """
        return draw(self, title, dark)

    def _repr_html_(self) -> str:
        return self.to_html()


def data_frame(rows: object) -> pd.DataFrame:
    """Return a pandas table of rows, or of columns by name.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra(
            "a data frame needs the package 'pandas', which is not installed.",
            "Install it: pip install pandas.",
        ) from None
    return pd.DataFrame(rows)


class Drawable(Protocol):
    """Something that has a picture."""

    def _picture(self, title: str) -> Picture: ...


def draw(target: Drawable, title: str, dark: bool) -> Picture:
    """Return the picture of something, light or dark.

    Raises:
        InvalidRequest: options of another type.
    """
    require_options(truths={"dark": dark}, texts={"title": title})
    picture = target._picture(title)
    if dark:
        picture.darken()
    return picture


def html_page(title: str, style: str, body: str) -> str:
    """Return an HTML page in light or dark, as the reader has it; the title is escaped, style and body are not."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)}</title>
<style>
{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def interval_figures(bounds: Sequence[tuple[float, float, float]]) -> list[str]:
    """Return a small SVG for each (low, estimate, high), all on one scale: a line with a dot."""
    finite = [
        end
        for ends in bounds
        for end in ends
        if end is not None and math.isfinite(end)
    ]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    scale = (_WIDTH - 8) / (high - low or 1.0)

    def position(value: float) -> str:
        return f"{4 + (value - low) * scale:.1f}"

    return [_interval_figure(*ends, position) for ends in bounds]


def _interval_figure(
    low: float, estimate: float, high: float, position: Callable[[float], str]
) -> str:
    if any(end is None or not math.isfinite(end) for end in (low, estimate, high)):
        return ""
    middle = _HEIGHT / 2
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" '
        f'role="img" aria-label="{low:.4g} to {high:.4g}">'
        f'<line x1="{position(0)}" x2="{position(0)}" y1="0" y2="{_HEIGHT}" stroke="currentColor" '
        'stroke-opacity=".4"/>'
        f'<line x1="{position(low)}" x2="{position(high)}" y1="{middle}" y2="{middle}" stroke="{_BLUE}" '
        'stroke-width="2"/>'
        f'<circle cx="{position(estimate)}" cy="{middle}" r="3" fill="{_BLUE}"/></svg>'
    )


def framed(page: str, height: int = 520) -> str:
    """Return a whole page of HTML as a frame in a notebook, so that its style stays its own."""
    return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:{height}px;border:0"></iframe>'


def unknown(cell: object) -> bool:
    """Whether a cell holds no finite number and no text."""
    return cell is None or (isinstance(cell, float) and not math.isfinite(cell))


def columns_of(
    lines: Sequence[Sequence[str | float]],
) -> tuple[tuple[str, ...], ...]:
    """Return the cells of rows of numbers and texts, as people read them."""
    return tuple(tuple(map(formats.cell, line)) for line in lines)


def _line(text: str) -> str:
    return " ".join(text.split()) if "\n" in text or "\r" in text else text


def _html(text: str) -> str:
    return html.escape(_line(text))


def _escape_markdown(text: str) -> str:
    for letter in "\\|*_`<>[]#~&":
        text = text.replace(letter, f"\\{letter}")
    return _line(text)


def _tex(text: str) -> str:
    escaped = "".join(_TEX.get(letter, letter) for letter in _line(text))
    return _MINUS.sub("$-$", escaped)
