"""Repeated reports of one person: what is kept, what adds up, and how soon an answer is known."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import deniable as dn
from deniable.auditor import of_respondents, repeatedly
from deniable.auditor.reports import averaging
from deniable.errors import InvalidRequest
from tests.support import leaky
from tests.unit.auditor.test_randomness import FALSE_ALARM, context, sound, told


def remembering() -> Callable[[str], str]:
    kept: dict[str, str] = {}
    return lambda answer: kept.setdefault(answer, sound(answer))


def test_a_kept_response_and_one_drawn_anew_are_told_apart() -> None:
    assert told(averaging(context(of_respondents(remembering)))).figures["kept"] == 1
    assert (
        told(averaging(context(of_respondents(lambda: sound)))).figures["kept"] == 0
    )
    assert told(averaging(context(remembering()))).figures["kept"] == 1


def test_reports_needed_fall_with_epsilon() -> None:
    designs = [dn.unary(8, epsilon) for epsilon in (0.5, 1, 2)]
    needed = [
        told(averaging(context(each, each.categories))).figures["reports_needed"]
        for each in designs
    ]
    assert needed == sorted(needed, reverse=True)  # type: ignore[type-var]
    assert needed[0] > needed[2] > 1  # type: ignore[operator]


def test_one_report_is_enough_where_nothing_is_hidden_and_none_where_all_is() -> (
    None
):
    assert (
        told(averaging(context(lambda answer: (answer, random.random())))).figures[
            "reports_needed"
        ]
        == 1
    )
    assert (
        told(averaging(context(lambda _: random.random() < 0.5))).figures[
            "reports_needed"
        ]
        is None
    )


def test_reports_of_one_person_are_one_response() -> None:
    assert repeatedly(str, 2).responses([1, 2]) == [("1", "1"), ("2", "2")]
    twice = repeatedly(of_respondents(remembering), 5).responses(["0"] * 20)
    assert all(len(set(each)) == 1 for each in twice)
    assert len(set(twice)) > 1
    with pytest.raises(InvalidRequest, match="at least two"):
        repeatedly(str, 1)


@pytest.mark.parametrize(
    ("make", "verdict"), [(remembering, "consistent"), (lambda: sound, "violated")]
)
def test_a_claim_for_a_lifetime_holds_where_responses_are_kept(
    make: Callable[[], Callable[[str], str]], verdict: str
) -> None:
    lifetime = repeatedly(of_respondents(make), 4)
    found = dn.audit(
        lifetime,
        leaky.FOUR,
        epsilon=1,
        draws=10_000,
        level=1 - FALSE_ALARM,
        checks=["worst event"],
    )
    assert found.verdict == verdict
