"""Every notebook of the examples runs from first to last cell, and shows what is stored in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from tests.support.notebooks import executed, read, shapes

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MOST_BYTES = 600_000
"""Of a stored notebook: pictures in it are small."""

# A kernel is a process of its own; what its client warns of is not ours.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_shows_what_is_stored(
    path: Path, tmp_path: Path
) -> None:
    stored = read(path)
    assert shapes(executed(stored, tmp_path)) == shapes(stored), (
        f"store what it shows now: python -m tests.support.notebooks examples/{path.name}"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_stored_notebook_is_small_whole_and_without_errors(path: Path) -> None:
    stored = read(path)
    cells = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert path.stat().st_size < MOST_BYTES
    assert [cell.execution_count for cell in cells] == list(
        range(1, len(cells) + 1)
    ), "run from top to bottom"
    assert all(
        output.output_type != "error" for cell in cells for output in cell.outputs
    )
    assert all(not cell.metadata for cell in stored.cells)
    assert "/home/" not in path.read_text(encoding="utf-8")
    assert str(ROOT) not in path.read_text(encoding="utf-8")
    pictures = [
        output
        for cell in cells
        for output in cell.outputs
        if "image/svg+xml" in output.get("data", {})
    ]
    assert pictures, "a picture shows itself, without a word about a backend"
    for output in pictures:
        assert "prefers-color-scheme:dark" in output.data["image/svg+xml"]


def small(*sources: str) -> Any:
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources]
    )


def test_a_cell_that_fails_or_shows_something_else_is_found(tmp_path: Path) -> None:
    """Faults planted: an error, an output that is missing, and a table with another column."""
    with pytest.raises(CellExecutionError, match="no attribute 'warnr'"):
        executed(small("import deniable as dn", "dn.warnr(1)"), tmp_path)
    shown = executed(
        small("import deniable as dn\ndn.warner(1)", "print(1)"), tmp_path
    )
    assert [kinds[0][0] for kinds in shapes(shown)] == ["execute_result", "stream"]
    changed = nbformat.reads(nbformat.writes(shown), as_version=4)
    assert shapes(changed) == shapes(shown)
    data = changed.cells[0].outputs[0].data
    data["text/html"] = data["text/html"].replace("<td>", "<p>", 1)
    assert shapes(changed) != shapes(shown)
    changed.cells[0].outputs = []
    assert shapes(changed) != shapes(shown)
