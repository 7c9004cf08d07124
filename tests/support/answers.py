"""Files of answers for tests, in every format."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

FORMATS = ("parquet", "arrow", "csv", "ndjson")
TYPED = ("parquet", "arrow")


def write(path: Path, columns: Mapping[str, Sequence[Any]]) -> Path:
    """Write columns to a file whose name tells the format; None is a missing value."""
    if path.suffix == ".parquet":
        pq.write_table(pa.table(dict(columns)), path)
        return path
    if path.suffix == ".arrow":
        table = pa.table(dict(columns))
        with pa.ipc.new_file(path, table.schema) as opened:
            opened.write_table(table)
        return path
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        if path.suffix == ".ndjson":
            file.writelines(
                json.dumps(row, ensure_ascii=False) + "\n" for row in rows
            )
        else:
            writer = csv.DictWriter(file, list(columns))
            writer.writeheader()
            writer.writerows(rows)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """Read a file of any format as rows of text, with independent code."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    if path.suffix == ".arrow":
        with pa.ipc.open_file(path) as file:
            return list(file.read_all().to_pylist())
    with path.open(newline="", encoding="utf-8") as file:
        if path.suffix == ".ndjson":
            return [json.loads(line) for line in file]
        return [
            {name: _plain(text) or None for name, text in row.items()}
            for row in csv.DictReader(file)
        ]


def _plain(text: str) -> str:
    """Return a cell of a CSV file without the sign that keeps spreadsheets from taking it for a formula."""
    return (
        text[1:]
        if text.startswith("'")
        and text.lstrip("'")[:1] in ("=", "+", "-", "@", "\t", "\r")
        else text
    )
