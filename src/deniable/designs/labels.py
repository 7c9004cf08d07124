"""Labels of answers and responses: given ones, and computed ones for numbers, sets and combinations."""

from __future__ import annotations

import math
import numbers
import unicodedata
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import ClassVar, TypeAlias, overload

from deniable import exact
from deniable.channel.product import join, mixed_radix_digits
from deniable.channel.sets import MAX_CATEGORIES
from deniable.documents import canonical
from deniable.errors import InvalidAnswer, InvalidDesign, quoted

Labels: TypeAlias = Sequence[str] | int
"""Names for the categories, a list or a column; or how many there are: then they are called "0", "1", "2" and so on."""


NO_YES = ("no", "yes")
"""The two answers of most designs for two, by default."""

_MAX_LABELS = 1 << 53  # a browser reads numbers as doubles


class Computed(Sequence[str]):
    """Labels that are worked out and not stored; `index` finds one at once, or raises ValueError.

    Labels of one kind are equal if they are made from the same.
    """

    KIND: ClassVar[str]
    __slots__ = ("made_from", "size")

    def __init__(self, made_from: object, size: int) -> None:
        self.made_from = made_from
        self.size = size

    @abstractmethod
    def label(self, number: int) -> str:
        """Return the label with a number."""

    @abstractmethod
    def find(self, text: str) -> int | None:
        """Return the number that a label writes; None for other text, or one beyond the last label."""

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        numbers = range(self.size)[index]
        if isinstance(numbers, int):
            return self.label(numbers)
        return tuple(map(self.label, numbers))

    def __iter__(self) -> Iterator[str]:
        return map(self.label, range(self.size))

    def index(self, label: object, start: int = 0, stop: int | None = None) -> int:
        """Return the number of a label."""
        number = self.find(label) if isinstance(label, str) else None
        if number is None or number not in range(self.size)[start:stop]:
            raise ValueError(f"not one of the {self.KIND}")
        return number

    def __contains__(self, label: object) -> bool:
        try:
            self.index(label)
        except ValueError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.made_from == self.made_from

    def __hash__(self) -> int:
        return hash((self.KIND, self.made_from))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.made_from!r})"


class Numbered(Computed):
    """The labels "0" … "size − 1" without storing them.

    Example:
        >>> million = Numbered(1_000_000)
        >>> million[999_999], million.index("17"), "1000000" in million
        ('999999', 17, False)
    """

    KIND = "numbered labels"
    __slots__ = ()

    def __init__(self, size: int) -> None:
        super().__init__(size, size)

    def label(self, number: int) -> str:
        return str(number)

    def find(self, text: str) -> int | None:
        is_number = text.isascii() and text.isdecimal() and len(text) <= 20
        return int(text) if is_number and str(int(text)) == text else None


class LabelIndex:
    """Index of labels: looked up, or computed where labels are computed."""

    def __init__(self, label_list: Sequence[str]) -> None:
        self._computed = label_list if isinstance(label_list, Computed) else None
        self._numbers = (
            {}
            if self._computed is not None
            else {label: number for number, label in enumerate(label_list)}
        )

    def find(self, label: object) -> int | None:
        """Return the number of a label; None for what is not one of them."""
        if not isinstance(label, str):
            return None
        if self._computed is None:
            return self._numbers.get(label)
        number = self._computed.find(label)
        return None if number is None or number >= self._computed.size else number


def size(labels: Sequence[str]) -> int:
    """Return the number of labels, which may exceed the range of `len`."""
    return labels.size if isinstance(labels, Computed) else len(labels)


def read(label_source: Labels, *, name: str = "categories") -> Sequence[str]:
    """Check labels: at least two, all different to the eye, all text; "0", "1", "2" … become `Numbered`.

    Raises:
        InvalidDesign: anything else.
    """
    if isinstance(label_source, Computed):
        return label_source
    if isinstance(label_source, numbers.Integral) and not isinstance(
        label_source, bool
    ):
        number = int(label_source)  # an array's integer is taken out of its 64 bits
        if not 2 <= number <= _MAX_LABELS:
            raise InvalidDesign(
                f"{name} is {exact.text(number)}; expected 2 to 2^53."
            )
        return Numbered(number)
    listed = _to_list(label_source)
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise InvalidDesign(
            f"{name} is a {type(listed).__name__}; expected a list of labels, or how many there are.",
            'For example ["no", "yes"], or 5.',
        )
    labels = tuple(listed)
    if len(labels) < 2:
        raise InvalidDesign(
            f"{name} holds {len(labels)} labels; expected at least 2."
        )
    for label in labels:
        _check_label(label, name)
    _refuse_twins(labels, name)
    # one design, one hash, whichever way the labels were given
    numbered = Numbered(len(labels))
    return numbered if labels == tuple(numbered) else tuple(map(str, labels))


def _check_label(label: object, name: str) -> None:
    hint = f"Write them as text, for example [str(each) for each in {name}]."
    if isinstance(label, str):
        if label.strip() and not _has_surrogate(label):
            return
        hint = ""
    raise InvalidDesign(
        f"{name} holds {quoted(label)}; expected text that is not empty.", hint
    )


def read_two(
    categories: Labels, hint: str = "For more use k_ary()."
) -> Sequence[str]:
    """Check the labels of two answers.

    Raises:
        InvalidDesign: not exactly two labels, or none that a design can have.
    """
    category_labels = read(categories)
    if len(category_labels) != 2:
        raise InvalidDesign(
            f"there are {len(category_labels)} categories; expected 2.", hint
        )
    return category_labels


def _to_list(values: object) -> object:
    """Return a column of NumPy, pandas, Polars or Arrow as a list; each says itself how, and none is imported."""
    for name in ("tolist", "to_list", "to_pylist"):
        if not isinstance(values, Sequence) and hasattr(values, name):
            return getattr(values, name)()
    return values


def _has_surrogate(label: str) -> bool:
    """Whether a label holds half a surrogate pair, which no file can hold."""
    return any("\ud800" <= letter <= "\udfff" for letter in label)


def _refuse_twins(labels: Sequence[str], name: str) -> None:
    """Refuse labels that look alike: equal, or different only in outer spaces or in Unicode composition."""
    seen_labels: set[str] = set()
    for label in labels:
        look = unicodedata.normalize("NFC", label).strip()
        if look in seen_labels:
            raise InvalidDesign(
                f"{name} holds {quoted(label)} more than once, or two labels that look like it; "
                "expected different labels."
            )
        seen_labels.add(look)


def same_labels(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether labels are equal in the same order, whatever their container types."""
    return first == second or (
        len(first) == len(second)
        and all(a == b for a, b in zip(first, second, strict=True))
    )


def max_json_size(labels: Sequence[str]) -> int:
    """Return the bytes of the longest label in JSON, without its quotation marks.

    Example:
        >>> max_json_size(["no", "yes"]), max_json_size(Combinations([Bitstrings(4), Numbered(12)]))
        (3, 11)
    """
    if isinstance(labels, Combinations):
        return max_json_size([SEPARATOR.join("" for _ in labels.parts)]) + sum(
            map(max_json_size, labels.parts)
        )
    ends = (
        (labels[0], labels[labels.size - 1])
        if isinstance(labels, Computed)
        else labels
    )
    return max(len(canonical(label)) for label in ends) - 2


def format_labels(labels: Sequence[str], max_shown: int = 8) -> str:
    """Return labels for a message, cut after a few.

    Example:
        >>> format_labels(["no", "yes"]), format_labels(Numbered(1000), max_shown=3)
        ("'no', 'yes'", "'0', '1', '2', … (1,000 in all)")
    """
    text = ", ".join(f"{quoted(label, 60)}" for label in labels[:max_shown])
    number = size(labels)
    if number <= max_shown:
        return text
    return f"{text}, … ({number:,} in all)" if number < 1 << 64 else f"{text}, …"


class Bitstrings(Computed):
    """A label for each set of so many categories: "b0110" holds the second and the third of four.

    The letter in front keeps programs from reading a label as a number and dropping its zeros. There are 2^bits
    labels, more than `len` can tell from 63 categories on; `size` tells.

    Example:
        >>> four = Bitstrings(4)
        >>> four[6], four.index("b0110"), four.size
        ('b0110', 6, 16)
    """

    KIND = "labels of sets"
    __slots__ = ("n_bits",)

    def __init__(self, n_bits: int) -> None:
        if not 1 <= n_bits <= MAX_CATEGORIES:
            raise InvalidDesign(
                f"sets of {exact.text(n_bits)} categories; expected 1 to {MAX_CATEGORIES:,}."
            )
        super().__init__(n_bits, 1 << n_bits)
        self.n_bits = n_bits

    def label(self, number: int) -> str:
        return "b" + f"{number:0{self.n_bits}b}"[::-1]

    def find(self, text: str) -> int | None:
        is_set = text[:1] == "b" and not set(text[1:]) - {"0", "1"}
        if not is_set or len(text) != self.n_bits + 1:
            return None
        return int(text[:0:-1], 2)


class Texts(Computed):
    """All texts of so many bytes, as labels: the number of one is a one before its bytes in Unicode's NFC and UTF-8.

    Example:
        >>> texts = Texts(20)
        >>> texts.index("Zoë") == texts.index("Zoe\u0308"), texts[texts.index("Zoë")], "" in texts
        (True, 'Zoë', False)
    """

    KIND = "texts"
    __slots__ = ("n_bytes",)

    def __init__(self, n_bytes: int) -> None:
        super().__init__(n_bytes, 1 << 8 * n_bytes + 1)
        self.n_bytes = n_bytes

    def label(self, number: int) -> str:
        content = number.to_bytes(self.n_bytes + 1, "big").lstrip(b"\0")[1:]
        return content.decode(errors="replace")

    def find(self, text: str) -> int | None:
        if not text or _has_surrogate(text):
            return None
        content = unicodedata.normalize("NFC", text).encode()
        return (
            int.from_bytes(b"\1" + content, "big")
            if len(content) <= self.n_bytes
            else None
        )


SEPARATOR = " · "


class Combinations(Computed):
    """A label for each combination of the attributes' labels, the last attribute fastest.

    Example:
        >>> both = Combinations([("never", "ever"), ("young", "old")])
        >>> both[2], both.index("ever · old"), len(both)
        ('ever · young', 3, 4)
    """

    KIND = "combined labels"
    __slots__ = ("_indices", "parts", "sizes")

    def __init__(self, factors: Sequence[Sequence[str]]) -> None:
        self.parts = tuple(factors)
        self.sizes = tuple(map(size, self.parts))
        super().__init__(self.parts, math.prod(self.sizes))
        for factor_labels in self.parts:
            _check(factor_labels)
        self._indices = tuple(map(LabelIndex, self.parts))

    def label(self, number: int) -> str:
        digits = mixed_radix_digits(number, self.sizes)
        return SEPARATOR.join(
            names[digit] for names, digit in zip(self.parts, digits, strict=True)
        )

    def find(self, text: str) -> int | None:
        names = text.split(SEPARATOR)
        if len(names) != len(self.parts):
            return None
        pairs = zip(self._indices, names, strict=True)
        digits = [index.find(name) for index, name in pairs]
        numbers = [digit for digit in digits if digit is not None]
        return join(numbers, self.sizes) if len(numbers) == len(digits) else None


def _check(labels_of_factor: Sequence[str]) -> None:
    for label in () if isinstance(labels_of_factor, Computed) else labels_of_factor:
        # otherwise nobody could tell where one attribute ends
        if SEPARATOR in f" {label} ":
            raise InvalidDesign(
                f"the label {quoted(label)} holds {SEPARATOR.strip()!r} between spaces, which separates attributes; "
                "expected another label."
            )


def weight_error(low: Fraction, high: Fraction) -> InvalidAnswer:
    """Return the error for a weight outside [low, high]; the weight itself is not repeated."""
    return InvalidAnswer(
        f"a weight is not a number from {_bound(low)} to {_bound(high)}; expected one that is."
    )


def _bound(end: Fraction) -> str:
    return (
        f"{float(end):g}"
        if math.isclose(float(f"{float(end):g}"), float(end), rel_tol=0)
        else str(end)
    )
