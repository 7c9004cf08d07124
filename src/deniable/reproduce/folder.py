"""Pictures and the page, written to a folder as they are made."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.engines.fresh import check_free, fresh
from deniable.reproduce.page import page
from deniable.reproduce.run import Made, Results
from deniable.reproduce.values import Exhibit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORT = "report.html"
_ENDINGS = ("png", "svg")


@dataclass
class Folder:
    """Where pictures and the page go. Each file appears when it is complete.

    Attributes:
        path: the folder; it is made when there is something to write.
        overwrite: whether files that exist may be overwritten.
        paths: what was written.
    """

    path: Path
    overwrite: bool = False
    paths: list[Path] = field(default_factory=list)
    _drawn: dict[str, bytes] = field(default_factory=dict)

    def check(self, exhibits: Iterable[Exhibit], *, report: bool) -> None:
        """Refuse early, before any work is done, to write where a file is.

        Raises:
            InvalidRequest: there is one, and it may not be overwritten.
        """
        names = [name for exhibit in exhibits for name in _pictures(exhibit)]
        for name in (*names, REPORT) if report else names:
            check_free(self.path / name, overwrite=self.overwrite)

    def add(self, made: Made) -> None:
        """Draw the picture of an exhibit, if it has one, and write it in both formats."""
        if made.content.draw is None:
            return
        figure = made.content.draw()
        for name in _pictures(made.exhibit):
            self._drawn[name] = rendered(figure, name.rpartition(".")[2])
            self._write(name, self._drawn[name])

    def finish(self, results: Results) -> None:
        """Write the page."""
        self._write(REPORT, page(results, self._drawn).encode())

    def _write(self, name: str, content: bytes) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        with fresh(self.path / name, overwrite=self.overwrite) as file:
            file.write(content)
        self.paths.append(self.path / name)


def rendered(figure: Figure, ending: str) -> bytes:
    """Return a picture as PNG or SVG; the same picture gives the same bytes."""
    from matplotlib import rc_context

    buffer = io.BytesIO()
    # By default an SVG holds the time it was made at, and names its parts at random.
    with rc_context({"svg.hashsalt": "deniable"}):
        figure.savefig(buffer, format=ending, dpi=150, metadata={"Date": None} if ending == "svg" else None)
    return buffer.getvalue()


def _pictures(exhibit: Exhibit) -> tuple[str, ...]:
    """Return the names of an exhibit's pictures; only figures have one."""
    return tuple(f"{exhibit.name}.{ending}" for ending in _ENDINGS) if exhibit.kind == "figure" else ()
