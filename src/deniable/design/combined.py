"""What combinations of several attributes are called, without storing a label for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

from deniable.channel.product import join, split
from deniable.design.labels import Computed, Places, size
from deniable.errors import InvalidDesign

SEPARATOR = " · "


class Combined(Computed):
    """A label for each combination of the attributes' labels, the last attribute fastest.

    Example:
        >>> both = Combined([("never", "ever"), ("young", "old")])
        >>> both[2], both.index("ever · old"), len(both)
        ('ever · young', 3, 4)
    """

    __slots__ = ("_places", "parts", "size")

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self.parts = tuple(parts)
        self.size = math.prod(self.sizes)
        for part in self.parts:
            _check(part)
        self._places = tuple(map(Places, self.parts))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        numbers = range(self.size)[at]
        return self._label(numbers) if isinstance(numbers, int) else tuple(map(self._label, numbers))

    def index(self, label: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the number of a combination."""
        pieces = label.split(SEPARATOR) if isinstance(label, str) else []
        if len(pieces) == len(self.parts):
            found = [known.find(piece) for known, piece in zip(self._places, pieces, strict=True)]
            digits = [each for each in found if each is not None]
            if len(digits) == len(found) and join(digits, self.sizes) in range(self.size)[start:stop]:
                return join(digits, self.sizes)
        raise ValueError("not one of the combined labels")

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many labels each attribute has."""
        return tuple(map(size, self.parts))

    def _label(self, number: int) -> str:
        return SEPARATOR.join(part[digit] for part, digit in zip(self.parts, split(number, self.sizes), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Combined) and other.parts == self.parts

    def __hash__(self) -> int:
        return hash(("combined", self.parts))

    def __repr__(self) -> str:
        return f"Combined({self.parts!r})"


def _check(part: Sequence[str]) -> None:
    for label in () if isinstance(part, Computed) else part:
        if SEPARATOR in f" {label} ":  # otherwise nobody could tell where one attribute ends
            raise InvalidDesign(
                f"the label {label!r:.40} holds {SEPARATOR.strip()!r} between spaces, which separates attributes; "
                "expected another label."
            )
