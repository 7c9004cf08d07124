"""The page of benchmarks holds every row that `make bench` makes, whatever the timings, and a picture that is there."""

from __future__ import annotations

import re

import pytest
from benchmarks.page import PAGE, rate, row_names
from benchmarks.peers import MECHANISMS, Error

TEXT = PAGE.read_text(encoding="utf-8")


def named_rows(title: str) -> list[str]:
    """Return the first cells of the table below a heading, without its head."""
    section = TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ")[0] for line in lines[2:]]


@pytest.mark.parametrize("title", row_names())
def test_every_row_of_the_benchmark_is_on_the_page(title: str) -> None:
    missing = set(row_names()[title]) - set(named_rows(title))
    assert not missing, f"run `make bench`: {sorted(missing)}"


# of which there are more where cores are
@pytest.mark.parametrize("title", sorted(set(row_names()) - {"Threads"}))
def test_the_page_has_no_row_that_the_benchmark_no_longer_makes(title: str) -> None:
    assert named_rows(title) == row_names()[title], "run `make bench`"


def test_the_page_tells_its_machine_its_command_and_shows_its_picture() -> None:
    assert re.search(
        r"`make bench`.* cores, .*Python 3\.\d+.*numpy \d.*Load when it began", TEXT
    )
    (picture,) = re.findall(r"!\[.+\]\((.+\.png)\)", TEXT)
    assert (PAGE.parent / picture).read_bytes().startswith(b"\x89PNG")


def test_no_absolute_path_stands_on_the_page() -> None:
    assert not re.search(r"(^|[\s`(])/(home|work|root|tmp)\b", TEXT)


def test_each_mechanism_is_known_by_words_of_the_script() -> None:
    rows = [
        {"k": 16, "mech": mech}
        for mech in ("SUE", "OUE", "GRR (k-RR)", "subset selection")
    ]
    found = {
        each.name: [row["mech"] for row in each.rivals(rows)]
        for each in MECHANISMS
        if each.k == 16
    }
    assert found == {
        "k-ary": ["GRR (k-RR)"],
        "unary": ["SUE"],
        "unary, optimized": ["OUE"],
        "subset": ["subset selection"],
    }


def test_a_peer_that_is_better_beyond_noise_is_told() -> None:
    ours = Error(0.10, 0.01)
    assert [ours.told(peer) for peer in (0.05, 0.07, 0.13, 0.15)] == [
        "OURS IS LARGER",
        "equal within noise",
        "equal within noise",
        "ours is smaller",
    ]


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "—"), (12.4, "12/s"), (4_560, "4.56 k/s"), (1.2e9, "1.2 G/s")],
)
def test_rates_are_told_in_the_unit_that_fits(number: float, told: str) -> None:
    assert rate(number) == told
