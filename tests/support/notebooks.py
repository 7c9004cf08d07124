"""Notebooks: run from first to last cell, and compared in shape with the outputs that are stored in them.

`python -m tests.support.notebooks examples/*.ipynb` runs them and stores what they show now.
"""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

SECONDS = 120
"""How long a cell may take on a busy machine."""

_TAG = re.compile(r"<([a-z][a-z0-9]*)[ />]")


def read(path: Path) -> Any:
    """Read a notebook, and refuse one that is not well-formed."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def executed(notebook: Any, folder: Path) -> Any:
    """Return the notebook as it is after all its cells were run in a fresh kernel, in a folder.

    Raises:
        CellExecutionError: a cell has failed.
    """
    fresh = copy.deepcopy(notebook)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(
        fresh,
        timeout=SECONDS,
        kernel_name="python3",
        coalesce_streams=True,  # what is printed comes in one piece or in several, as chance has it
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return fresh


def shapes(notebook: Any) -> list[list[tuple[str, ...]]]:
    """Return what each code cell shows, but for the numbers: what kinds of outputs, and what these are made of."""
    return [
        [_shape(output) for output in cell.outputs]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _shape(output: Any) -> tuple[str, ...]:
    if output.output_type == "stream":
        return ("stream", output.name)
    if output.output_type == "error":
        return ("error", output.ename)
    return (
        output.output_type,
        *(
            part
            for kind in sorted(output.data)
            for part in _parts(kind, output.data[kind])
        ),
    )


def _parts(kind: str, data: str) -> Iterator[str]:
    yield kind
    if kind == "text/html":
        yield " ".join(_TAG.findall(data))
    elif kind == "image/svg+xml":
        yield " ".join(sorted(set(_TAG.findall(data))))


def store(path: Path) -> None:
    """Run a notebook, and write it with what it shows now; nothing in it tells when or where it was run."""
    made = executed(read(path), path.parent)
    for cell in made.cells:
        cell.metadata = {}
    made.metadata = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        }
    }
    nbformat.write(made, path)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        store(Path(name))
