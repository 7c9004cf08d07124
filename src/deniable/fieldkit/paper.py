"""Pages of paper: text that is measured before it is set, so that nothing leaves its page, its card or its column.

Lengths are millimetres from the upper left corner of an A4 page; sizes of letters are points.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from deniable.errors import InvalidRequest, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, MARGIN = 210.0, 297.0, 20.0
INK, PALE = "#1f2933", "#8a949e"
FILLS = (
    "#cfe0f3", "#f9dcc4", "#d3ecd5", "#f4cfd6", "#fbf0b9", "#dcd3ee", "#cdeaea", "#e6dccb", "#e3e7ea", "#f7d9ee",
)  # fmt: skip
"""Pale colours, so that letters on them stay readable in print; letters, not colours, tell the outcomes apart."""

_POINT = 25.4 / 72  # millimetres
_LINE = 1.42  # from one line to the next, in sizes of its letters
_SMALLEST = 6.5  # points: the smallest letters that are printed


def lines(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines that are no wider than they may be; a word that is too long is broken, too.

    Example:
        >>> lines("one two three", 12, 11)
        ['one', 'two', 'three']
    """
    rows: list[str] = []
    for word in text.split(" "):
        for fragment in _pieces(word, width, size, bold):
            longer = f"{rows[-1]} {fragment}" if rows else fragment
            if rows and text_width(longer, size, bold=bold) <= width:
                rows[-1] = longer
            else:
                rows.append(fragment)
    return rows


def _pieces(word: str, width: float, size: float, bold: bool) -> Iterable[str]:
    while text_width(word, size, bold=bold) > width and len(word) > 1:
        end = len(word) - 1
        while end > 1 and text_width(word[:end], size, bold=bold) > width:
            end -= 1
        yield word[:end]
        word = word[end:]
    yield word


@lru_cache(maxsize=4096)  # a kit repeats its question on each of its pages
def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return how wide a text is, in millimetres."""
    from matplotlib.textpath import text_to_path

    width, _, _ = text_to_path.get_text_width_height_descent(
        text, _font(size, bold), ismath=False
    )
    return float(width) * _POINT


@cache
def _font(size: float, bold: bool) -> Any:
    from matplotlib.font_manager import FontProperties

    return FontProperties(
        family="DejaVu Sans", size=size, weight="bold" if bold else "normal"
    )


def check_printable(text: str, name: str) -> None:
    """Refuse letters that the font of the pages does not have, which would be printed as empty boxes.

    Raises:
        InvalidRequest: there is one.
    """
    from matplotlib.font_manager import findfont, get_font

    font: Any = get_font(findfont(_font(10, False)))
    missing = [
        letter
        for letter in text
        if not font.get_char_index(ord(letter)) or not letter.isprintable()
    ]
    if missing:
        raise InvalidRequest(
            f"{name} holds {missing[0]!r}, which these pages cannot print; expected one line of Latin, Greek or "
            "Cyrillic letters.",
            "Write it in other letters, or add it to the printed page by hand.",
        )


class Paper:
    """Pages that fill from above; what does not fit on one goes to the next.

    Attributes:
        footer: what stands at the foot of every page.
        figures: the pages so far.
    """

    def __init__(self, footer: str) -> None:
        self.footer = footer
        self.figures: list[Figure] = []
        self.turn()

    def turn(self) -> None:
        """Start a new page."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH / 25.4, HEIGHT / 25.4))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(HEIGHT, 0)
        axes.axis("off")
        self.figures.append(figure)
        self.below = MARGIN
        self.write(self.footer, MARGIN, HEIGHT - 10, size=7.5, colour=PALE)
        self.write(
            str(len(self.figures)),
            WIDTH - MARGIN,
            HEIGHT - 10,
            size=7.5,
            colour=PALE,
            align="right",
        )

    @property
    def axes(self) -> Axes:
        """Where the current page is drawn on."""
        return self.figures[-1].axes[0]

    def room(self, height: float) -> float:
        """Return how far down the page something of a height can start, on a new page if need be, and take the room."""
        if self.below + height > HEIGHT - MARGIN:
            self.turn()
        start, self.below = self.below, self.below + height
        return start

    def keep(self, height: float) -> None:
        """Turn the page where less than a height is left of it."""
        self.below = self.room(height)

    def write(
        self, text: str, x: float, y: float, *, size: float = 11, bold: bool = False, colour: str = INK,
        align: str = "left",
    ) -> None:  # fmt: skip
        """Write one line with its middle at a height."""
        self.axes.text(
            x, y, text, fontproperties=_font(size, bold), color=colour, ha=align, va="center", parse_math=False
        )  # fmt: skip

    def letter(
        self, text: str, x: float, y: float, *, size: float, colour: str = INK
    ) -> None:
        """Write bold letters around a point."""
        self.write(text, x, y, size=size, bold=True, colour=colour, align="center")

    def heading(self, text: str, *, size: float = 18) -> None:
        """Write a heading, over lines as wide as the page."""
        self.paragraph(text, size=size, bold=True, after=4 if size > 15 else 2)

    def paragraph(
        self,
        text: str,
        *,
        size: float = 11,
        bold: bool = False,
        indent: float = 0,
        mark: str = "",
        after: float = 2.5,
    ) -> None:
        """Write a text in lines as wide as the page, after a mark such as a number; lines stay together on a page."""
        rows = lines(text, WIDTH - 2 * MARGIN - indent, size, bold=bold)
        step = size * _POINT * _LINE
        start = self.room(step * len(rows) + after)
        for number, row in enumerate(rows):
            self.write(
                row,
                MARGIN + indent,
                start + step * (number + 0.5),
                size=size,
                bold=bold,
            )
        if mark:
            self.write(mark, MARGIN, start + step / 2, size=size, bold=True)

    def boxed(
        self,
        text: str,
        left: float,
        top: float,
        width: float,
        height: float,
        *,
        size: float = 15,
        bold: bool = False,
    ) -> None:
        """Write a text in the middle of a box, in letters as large as fit.

        Raises:
            InvalidRequest: it does not fit in the smallest letters that are printed.
        """
        while True:
            rows = lines(text, width, size, bold=bold)
            step = size * _POINT * _LINE
            if step * len(rows) <= height:
                break
            size -= 0.5
            if size < _SMALLEST:
                raise InvalidRequest(
                    f"the text {quoted(text, 60)} does not fit on its card; expected a shorter one.",
                    "Build the design with shorter categories, or shorten the question.",
                )
        first = top + (height - step * len(rows)) / 2
        for number, row in enumerate(rows):
            self.write(
                row,
                left + width / 2,
                first + step * (number + 0.5),
                size=size,
                bold=bold,
                align="center",
            )

    def box(
        self, left: float, top: float, width: float, height: float, *, fill: str = "none", edge: str = INK,
        gid: str = "",
    ) -> None:  # fmt: skip
        """Draw a rectangle."""
        from matplotlib.patches import Rectangle

        rectangle = Rectangle(
            (left, top), width, height, facecolor=fill, edgecolor=edge, linewidth=0.8
        )
        rectangle.set_gid(gid or None)
        self.axes.add_patch(rectangle)

    def rule(self) -> None:
        """Draw a line to write on."""
        y = self.room(14) + 12
        self.axes.plot([MARGIN, WIDTH - MARGIN], [y, y], color=PALE, linewidth=0.7)


def pdf_bytes(figures: Sequence[Figure], title: str) -> bytes:
    """Return pages as one PDF, the same bytes each time."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_pdf import PdfPages

    about: dict[str, Any] = {
        "Title": title,
        "Creator": "deniable",
        "Producer": "deniable",
        "CreationDate": None,
    }
    file = BytesIO()
    with rc_context({"pdf.fonttype": 3}), PdfPages(file, metadata=about) as pages:
        for figure in figures:
            pages.savefig(figure)
    return file.getvalue()


def svg_bytes(figure: Figure) -> bytes:
    """Return a page as SVG, with letters as outlines, the same bytes each time."""
    from matplotlib import rc_context

    file = BytesIO()
    with rc_context({"svg.hashsalt": "deniable"}):
        figure.savefig(
            file, format="svg", metadata={"Date": None, "Creator": "deniable"}
        )
    return file.getvalue()
