"""What sets of categories are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from deniable import exact
from deniable.channel.sets import MOST_CATEGORIES
from deniable.design.labels import Computed
from deniable.errors import InvalidDesign


class Bitstrings(Computed):
    """A label for each set of so many categories: "b0110" holds the second and the third of four.

    The letter in front keeps programs from reading a label as a number and dropping its zeros. There are 2^places
    labels, more than `len` can tell from 63 categories on; `size` tells.

    Example:
        >>> four = Bitstrings(4)
        >>> four[6], four.index("b0110"), four.size
        ('b0110', 6, 16)
    """

    __slots__ = ("places",)

    def __init__(self, places: int) -> None:
        if not 1 <= places <= MOST_CATEGORIES:
            raise InvalidDesign(f"sets of {exact.shown(places)} categories; expected 1 to {MOST_CATEGORIES:,}.")
        self.places = places

    @property
    def size(self) -> int:
        """How many labels there are."""
        return 1 << self.places

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
        """Return the number of the set that a label writes."""
        text = label if isinstance(label, str) else ""
        if len(text) == self.places + 1 and text[0] == "b" and not set(text[1:]) - {"0", "1"}:
            number = int(text[:0:-1], 2)
            if number in range(self.size)[start:stop]:
                return number
        raise ValueError("not one of the labels of sets")

    def _label(self, number: int) -> str:
        return "b" + f"{number:0{self.places}b}"[::-1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bitstrings) and other.places == self.places

    def __hash__(self) -> int:
        return hash(("bitstrings", self.places))

    def __repr__(self) -> str:
        return f"Bitstrings({self.places})"
