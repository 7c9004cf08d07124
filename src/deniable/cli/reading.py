"""How the words of a command are read: numbers, shares, labels, and the designs in files."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.errors import InvalidNumber, InvalidRequest, UnreadableFile, quoted

if TYPE_CHECKING:
    from fractions import Fraction

    from deniable.designs import AnyDesign, Design

MAX_DIGITS = 4_000  # Python reads integers up to about so many


def read_number(text: str) -> Fraction:
    """Read 0.1, .1, 1/10 or 10%.

    Raises:
        BadParameter: none of these.
    """
    from deniable import exact

    stripped = text.strip()
    number = stripped.removesuffix("%").rstrip()
    try:
        return exact.rational(f"0{number}" if number.startswith(".") else number) / (
            100 if number != stripped else 1
        )
    except InvalidNumber:
        raise typer.BadParameter(
            f"{text!r:.40} is no number; expected one such as 0.1, 1/10 or 10%"
        ) from None


def read_float(text: str | float) -> float:
    """Read a number as `read_number` does."""
    return float(read_number(str(text)))


def read_share(text: str | float) -> float:
    """Read a share or a level, from 0 to 1; the error for a percentage without its sign says how to write it.

    Raises:
        BadParameter: no number, or one outside of 0 to 1.
    """
    raw = str(text)
    number = read_number(raw)
    if 0 <= number <= 1:
        return float(number)
    digits = raw.strip().rstrip("% ")
    is_percentage = 1 < number <= 100 and "%" not in raw and "/" not in raw
    hint = f"; write {digits}% for {digits} of 100" if is_percentage else ""
    raise typer.BadParameter(
        f"{raw!r:.40} is no share; expected one from 0 to 1, such as 0.1 or 10%{hint}"
    )


def read_pair(
    text: str | tuple[float, float], read: Callable[[str], Any] = read_number
) -> tuple[float, float]:
    """Read two numbers with a comma between them."""
    if not isinstance(text, str):
        return text
    numbers = [float(read(cell)) for cell in text.split(",")]
    if len(numbers) != 2:
        raise typer.BadParameter(
            f"{text!r:.40} is no pair; expected two numbers with a comma between them"
        )
    return numbers[0], numbers[1]


def read_share_pair(text: str) -> tuple[float, float]:
    """Read two shares with a comma between them."""
    return read_pair(text, read_share)


def read_whole_pair(text: str) -> tuple[int, int]:
    """Read two whole numbers with a comma between them."""
    first, second = read_pair(text)
    if first != int(first) or second != int(second):
        raise typer.BadParameter(
            f"{text!r:.40}: expected two whole numbers, such as 600,400"
        )
    return int(first), int(second)


def read_labels(text: str) -> list[str] | int:
    """Read a,b,c or 5, or @FILE with a label on each line; a label with a comma in it goes into quotes."""
    if text.startswith("@"):
        return read_lines(Path(text[1:]))
    if text.strip().isdecimal() and len(text) < MAX_DIGITS:
        return int(text)
    return [
        label.strip()
        for label in next(csv.reader([text], skipinitialspace=True), [])
    ]


def read_bytes(path: Path) -> bytes:
    """Read a file, or stdin for -."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def read_lines(path: Path) -> list[str]:
    """Read a file with a label on each line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise UnreadableFile(
            f"{path.name} is not text in UTF-8; expected a label on each line."
        ) from None
    return [line.strip() for line in lines if line.strip()]


def read_floats(text: str) -> list[float]:
    """Read numbers with commas between them."""
    return [read_float(cell) for cell in text.split(",")]


def read_population(text: str) -> int | str:
    """Read how many people there are, or a word such as census."""
    return int(text) if text.isdecimal() else text


def read_rows(text: str) -> list[list[str]]:
    """Read a,b;c,d as two rows."""
    return [
        [cell.strip() for cell in row.split(",")]
        for row in text.split(";")
        if row.strip()
    ]


def read_numbers(text: str) -> dict[Any, str | None] | list[str]:
    """Read 1/2,1/4,1/4 or tea=1,coffee=2; a name alone has no number."""
    cells = [
        cell.strip() for cell in next(csv.reader([text], skipinitialspace=True), [])
    ]
    if "=" not in text:
        return cells
    pairs = [
        (name.strip(), value.strip() or None)
        for name, _, value in (cell.partition("=") for cell in cells)
    ]
    if len(dict(pairs)) < len(pairs):
        raise InvalidRequest(
            "a name stands twice; expected each once, such as tea=1,coffee=2."
        )
    return {int(name) if name.isdecimal() else name: value for name, value in pairs}


def read_item_shares(text: str) -> dict[Any, float]:
    """Read 0=20%,1=1/2,2=0.3: the share of people with each number of items."""
    pairs = read_numbers(text)
    if not isinstance(pairs, dict):
        raise InvalidRequest(
            f"{quoted(text)} names no numbers of items; expected shares such as 0=20%,1=50%,2=30%."
        )
    return {size: read_share(share or "") for size, share in pairs.items()}


def read_names(text: str) -> list[str]:
    """Read labels as `read_labels` does; a number stands for 0, 1, 2 …"""
    labels = read_labels(text)
    return (
        [str(number) for number in range(labels)]
        if isinstance(labels, int)
        else labels
    )


def read_design(path: Path) -> Design:
    """Read a design file of one question."""
    from deniable.designs import Design

    return Design.from_json(path.read_bytes())


def read_any_design(path: Path) -> AnyDesign:
    """Read the file of a design of any type: the schema that it names says which."""
    from deniable import types

    return types.read_design(path.read_bytes())
