"""A rogue collector gets nothing: no definition makes a device send more than its own limits allow."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from deniable.client import Client, Hub
from deniable.designs import direct, k_ary, warner
from deniable.errors import DeniableError, Incompatible, InvalidRequest, OverBudget
from deniable.order.relaxation import ladder
from deniable.survey import Keys, Link, Survey
from deniable.survey.author import make_key, sign
from deniable.survey.limits import read_limit
from tests.support.seeded import Seeded
from tests.support.surveys import COLOURS, question, small
from tests.unit.client.test_client import Recorded
from tests.unit.client.test_connection import answering

BARE = question("smokes", direct(["no", "yes"]), acknowledge=math.inf)
KEYS = Keys("0" * 64)


def rogue(*questions: Any) -> Survey:
    return small(questions=questions, acknowledge=math.inf, keys=KEYS)


@contextmanager
def serving(*surveys: Survey) -> Iterator[tuple[str, list[str]]]:
    """A collector that gives one definition after the other, and takes whatever comes."""
    with answering(*((200, {}, each.to_json().encode()) for each in surveys)) as (
        base,
        asked,
    ):
        yield base, asked


Device = Callable[..., Client | Hub]


def one(link: str, file: Path, **options: Any) -> Client:
    return Client(link, file, patience=0, **options)


def many(link: str, file: Path, **options: Any) -> Hub:
    return Hub(link, file, token="dn_any", patience=0, **options)


def answer(device: Client | Hub, **answers: str) -> None:
    if isinstance(device, Hub):
        device.add([answers])
    else:
        for name, each in answers.items():
            device.answer(name, each)


@pytest.mark.parametrize("make", [one, many])
@pytest.mark.parametrize("ceiling", [3, 64, 10**6])
def test_a_collector_that_asks_for_the_bare_truth_gets_nothing(
    make: Device, ceiling: int, tmp_path: Path
) -> None:
    survey, source = rogue(BARE), Recorded()
    with serving(survey) as (base, asked):
        link = Link.to_survey(survey, base).text
        with make(
            link, tmp_path / "file", ceiling=ceiling, budget=math.inf, source=source
        ) as device:
            before = len(source.pieces)
            with pytest.raises(OverBudget, match="ε = ∞"):
                answer(device, smokes="yes")
            assert device.send() == 0
            assert len(source.pieces) == before, "nothing was drawn"
    assert asked == ["GET /api/surveys/small"], "nothing was sent"
    kept = (tmp_path / "file").read_bytes()
    assert b"yes" not in kept.replace(survey.to_json().encode(), b"")


@pytest.mark.parametrize("make", [one, many])
def test_the_truth_is_sent_to_those_who_are_allowed_it_by_name(
    make: Device, tmp_path: Path
) -> None:
    survey = rogue(BARE)
    with (
        serving(survey) as (base, _),
        make(
            Link.to_survey(survey, base).text,
            tmp_path / "file",
            ceiling=math.inf,
            budget=math.inf,
        ) as device,
    ):
        answer(device, smokes="yes")
        assert device.send() == 1


@pytest.mark.parametrize("make", [one, many])
def test_one_question_is_below_the_ceiling_and_all_together_below_the_budget(
    make: Device, tmp_path: Path
) -> None:
    asked = [
        question(f"q{number}", warner(epsilon=3), acknowledge=3)
        for number in range(3)
    ]
    survey = rogue(
        *asked, question("much", k_ary(COLOURS, epsilon="3.0001"), acknowledge=4)
    )
    with (
        serving(survey) as (base, _),
        make(Link.to_survey(survey, base).text, tmp_path / "file") as device,
    ):
        with pytest.raises(
            OverBudget, match=r"ε = 3\.0001[0-9]*; this device allows 3\. "
        ):
            answer(device, much="red")
        answer(device, q0="yes", q1="no")
        with pytest.raises(
            OverBudget, match="together would reveal ε = 9; this device allows 6"
        ):
            answer(device, q2="yes") if make is one else answer(
                device, q0="yes", q1="no", q2="yes"
            )
        assert device.send() == (2 if make is one else 1)


def test_limits_are_asked_for_at_every_stage_and_nothing_beyond_lies_in_the_file(
    tmp_path: Path,
) -> None:
    stages = ladder([k_ary(COLOURS, epsilon=epsilon) for epsilon in (1, 2, 5)])
    survey = rogue(question("colour", stages, acknowledge=5))
    with serving(survey) as (base, _):
        link = Link.to_survey(survey, base).text
        with one(link, tmp_path / "file") as client:
            client.answer("colour", "red")
            with closing(sqlite3.connect(tmp_path / "file")) as database:
                ((drawn,),) = database.execute(
                    "SELECT count(*) FROM release_stage"
                ).fetchall()
            assert drawn == 2, "the third stage was not even drawn"
        with (
            one(link, tmp_path / "file", ceiling=1) as client,
            pytest.raises(OverBudget, match="allows 1"),
        ):
            client.release("colour")
        with (
            one(link, tmp_path / "file", budget=1) as client,
            pytest.raises(OverBudget, match="allows 1"),
        ):
            client.release("colour")
        with one(link, tmp_path / "file") as client:
            client.release("colour")
            with pytest.raises(OverBudget, match="allows 3"):
                client.release("colour")
        with (
            one(link, tmp_path / "file", ceiling=9) as client,
            pytest.raises(OverBudget, match="was not drawn"),
        ):
            client.release("colour")


@pytest.mark.parametrize("make", [one, many])
def test_a_definition_that_is_swapped_is_not_obeyed(
    make: Device, tmp_path: Path
) -> None:
    """Behind the link's back, for one respondent, between two fetches: in each case before anything is drawn."""
    honest = small(keys=KEYS)
    swaps = [
        rogue(BARE), small(keys=Keys("1" * 64)), small(name="other", keys=KEYS), small(minimum=21, keys=KEYS),
    ]  # fmt: skip
    for number, other in enumerate(swaps):
        with (
            serving(other, honest) as (base, asked),
            make(
                Link.to_survey(honest, base).text, tmp_path / f"file {number}"
            ) as device,
        ):
            with pytest.raises(Incompatible, match="the link names"):
                answer(device, smokes="yes")
            # now it serves what the link names, and that is kept …
            answer(device, smokes="yes")
            assert device.survey == honest
        # … so that a later swap finds nobody who asks
        with serving(other) as (base, asked):
            link = replace(
                Link.to_survey(honest, base), base=device._state.link.base
            )
            with make(link.text, tmp_path / f"file {number}") as again:
                assert again.survey == honest
            assert asked == []


@pytest.mark.parametrize("make", [one, many])
def test_an_author_has_to_have_signed_this_definition(
    make: Device, tmp_path: Path
) -> None:
    """Nothing else that the author of the link has signed will do, nor what somebody else has."""
    survey, other = small(keys=KEYS), small(minimum=21, keys=KEYS)
    pinned = make_key(tmp_path / "key")
    make_key(tmp_path / "other key")
    for signed, key, obeyed in (
        (survey, "key", True),
        (other, "key", False),
        (survey, "other key", False),
    ):
        signature = sign(signed, tmp_path / key).to_json().encode()
        answers = [
            (200, {}, each) for each in (survey.to_json().encode(), signature)
        ]
        with (
            answering(*answers) as (base, _),
            ExitStack() as stack,
            make(
                Link.to_survey(survey, base, author=pinned).text,
                tmp_path / f"{key} {obeyed}",
            ) as device,
        ):
            if not obeyed:
                stack.enter_context(
                    pytest.raises(Incompatible, match="names the author")
                )
            answer(device, smokes="yes")


def test_a_definition_without_keys_is_not_obeyed(tmp_path: Path) -> None:
    survey = small()
    with (
        serving(survey) as (base, _),
        one(Link.to_survey(survey, base).text, tmp_path / "file") as client,
        pytest.raises(Incompatible, match="no keys"),
    ):
        client.answer("smokes", "yes")


def test_what_was_answered_before_a_limit_fell_does_not_leave(
    tmp_path: Path,
) -> None:
    """A device is switched off between an answer and its release, and comes back with less patience."""
    survey = rogue(question("smokes", warner(epsilon=3), acknowledge=3))
    with serving(survey) as (base, _):
        link = Link.to_survey(survey, base).text
        with one(link, tmp_path / "file") as client:
            client._ledger.answer(
                "smokes",
                "yes",
                client._allowed_stages(client.survey.question("smokes")),
            )
        with one(link, tmp_path / "file", ceiling=1) as client:
            assert client.send() == 0
            assert client.waiting() == []
        with one(link, tmp_path / "file") as client:
            assert client.send() == 1


def test_a_limit_is_read_downwards() -> None:
    assert (
        Fraction(read_limit(Fraction(1, 10), "the ceiling"))
        < Fraction(1, 10)
        < Fraction(0.1)
    )


@pytest.mark.parametrize("limit", [None, "much", -1, math.nan, True])
def test_no_limit_has_to_be_said_by_name(limit: Any, tmp_path: Path) -> None:
    link = f"https://survey.example/s/small#definition={'0' * 64}"
    for name in ("ceiling", "budget"):
        for make in (one, many):
            with pytest.raises(DeniableError), ExitStack() as stack:
                stack.enter_context(make(link, tmp_path / "file", **{name: limit}))
    with pytest.raises(InvalidRequest, match=r"write math.inf"):
        one(link, tmp_path / "file", budget=None)


def test_what_waits_in_a_hub_is_sent_in_the_order_of_its_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither who came when, nor who sent what, tells where in a batch a response stands."""
    survey, sent = small(keys=KEYS), list[str]()
    with (
        serving(survey) as (base, _),
        many(Link.to_survey(survey, base).text, tmp_path / "file") as hub,
    ):
        hub.add([{"colour": colour} for colour in COLOURS * 10])
        monkeypatch.setattr(
            hub._state, "post_lines", lambda lines, _: sent.extend(lines)
        )
        assert hub.send() == len(sent) == 10 * len(COLOURS)
    assert len(set(map(len, sent))) == 1
    keys = [json.loads(line)["key"] for line in sent]
    assert keys == sorted(keys)


@pytest.mark.parametrize("at_once", [1, 8, 40])
def test_the_bytes_of_a_hub_do_not_tell_who_came_when(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same people in another order leave the same file, whether they come one by one or several at once."""
    survey, source = small(keys=KEYS), Seeded("keys")
    keys = [source.read(16).hex() for _ in range(40)]
    people = {
        key: f"{key} sent {COLOURS[number % 3]} {number * 'x'}"
        for number, key in enumerate(keys)
    }
    found = []
    with serving(survey) as (base, _):
        for order in (keys, keys[::-1], sorted(keys), keys[1::2] + keys[::2]):
            coming = iter(order)
            monkeypatch.setattr(
                Hub,
                "_draw_submission",
                lambda *_, coming=coming: (key := next(coming), people[key]),
            )
            file = tmp_path / f"hub {len(found)}"
            with many(Link.to_survey(survey, base).text, file) as hub:
                for _ in range(0, len(order), at_once):
                    hub.add([{"colour": COLOURS[0]}] * at_once)
                assert len(hub) == len(order)
            found.append(file.read_bytes())
    assert all(key.encode() in found[0] for key in keys)
    assert set(found) == {found[0]}
