"""Sentences about results: numbers read back out of them, and compared with the result and with what is possible."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from deniable.estimates import Row

NOISE = 1e-9
NO_NUMBER = re.compile(r"\bnan\b|\binf\b|∞", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.])([−-]?\d[\d,]*(?:\.\d+)?)(%?)")


@dataclass(frozen=True)
class Printed:
    """A number as it stands in a sentence, and how far it may be from the one that was rounded."""

    value: float
    unit: float


def printed(text: str) -> list[Printed]:
    """Return the numbers of a sentence, without those of labels, levels, sizes and ε."""
    text = re.sub(r"“.*?”", "", text)
    text = re.sub(
        r"\d+(?:\.\d+)?% (?:credible )?interval|[\d,]+ responses|ε = [\d.]+|The right answer",
        "",
        text,
    )
    numbers = []
    for digits, percent in NUMBER.findall(text):
        scale = 100 if percent else 1
        decimals = len(digits.partition(".")[2])
        value = float(digits.replace(",", "").replace("−", "-"))
        numbers.append(Printed(value / scale, 10.0**-decimals / scale))
    return numbers


def check_sentence(
    text: str, row: Row, possible: tuple[float, float], *, outward: bool = False
) -> None:
    """Compare a sentence about a number with the number.

    Args:
        text: the sentence.
        row: the raw number.
        possible: the least and the largest possible value.
        outward: whether ends are rounded outward; else to the nearest.
    """
    least, most = possible
    numbers = printed(text)
    assert not NO_NUMBER.search(text), text
    for number in numbers:
        assert least - number.unit / 2 <= number.value <= most + number.unit / 2, (
            text
        )
    low, high = (
        fall if math.isnan(end) else end
        for end, fall in ((row.low, least), (row.high, most))
    )
    is_undecided = low <= least + NOISE and high >= most - NOISE
    assert ("cannot decide" in text) == is_undecided, (text, row)
    if is_undecided:
        return
    is_beyond = row.estimate < least or row.estimate > most
    if high < least or low > most:
        assert "could not be estimated" in text, (text, row)
        return
    assert (
        not is_beyond
        or "lies below" in text
        or "lies above" in text
        or "Hardly" in text
        or "Nearly" in text
    ), text
    if "Hardly anybody" in text:
        assert high <= 0.05, (text, row)
    if "Nearly everybody" in text:
        assert low >= 0.95, (text, row)
    value, low, high = (
        min(max(end, least), most) for end in (row.estimate, low, high)
    )
    clause = re.search(r"(between|at most|at least) ", text, re.IGNORECASE)
    told = (
        {"between": "LH", "at most": "H", "at least": "L"}[clause[1].lower()]
        if clause
        else "LH"
    )
    if re.search(r"about|estimated", text, re.IGNORECASE):
        told = f"V{told}"
    assert len(numbers) >= len(told), (text, row)
    for letter, number in zip(told, numbers, strict=False):
        gap = number.value - {"V": value, "L": low, "H": high}[letter]
        reach = number.unit * 0.5000001
        if outward and letter != "V":
            # rounded outward by less than a whole unit, and never inward
            gap, reach = (
                (-gap if letter == "L" else gap) - number.unit / 2,
                number.unit / 2 + NOISE,
            )
        assert abs(gap) <= reach, (text, row, letter)
