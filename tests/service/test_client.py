"""Devices and a collector that really listens: answers stay, responses arrive once, whatever breaks."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deniable.chance import Source
from deniable.client import Client, Hub, NotSent, NotTaken
from deniable.client import client as admission
from deniable.client.connection import Connection
from deniable.collector.app import make_app
from deniable.collector.store import Store, Token, open_store
from deniable.designs import direct, k_ary, warner
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidRequest,
    NotAllowed,
    OverBudget,
    UnreadableFile,
)
from deniable.release.ledger import SECRET
from deniable.survey import Keys, Link, SurveyArm
from deniable.survey.author import make_key, sign
from deniable.survey.signed import StoredReceipt
from deniable.tallies.stages import StageTallies
from tests.support.collector import UNLIMITED, listening
from tests.support.surveys import COLOURS, question, small

FAST = {"patience": 0.0}
_numbers = count(1)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    """A store, and the address of the collector on it."""
    store = open_store(tmp_path_factory.mktemp("collector") / "store.db")
    with listening(make_app(UNLIMITED, store)) as base:
        yield store, base
    store.shut()


@pytest.fixture
def fielded(running: tuple[Store, str]) -> Callable[..., tuple[int, str]]:
    """Field a survey of a name of its own; return its number and its link."""
    store, base = running
    name = f"survey-{next(_numbers)}"

    def field(**changes: Any) -> tuple[int, str]:
        store.create(small(name=name, **changes))
        entry = store.open(name)
        return entry.id, entry.link(base).text

    return field


@pytest.fixture
def device(running: tuple[Store, str]) -> str:
    """A token that sends batches."""
    return running[0].issue_token(Token(f"tablet {next(_numbers)}", "device"))


def with_(link: str, **parts: str) -> str:
    """Return a link with a group or an invitation in it."""
    return replace(Link.read(link), **parts).text


def respondents(store: Store, number: int) -> list[int]:
    return [store.tallies(number, question).respondents for question in range(3)]


def test_a_respondent_answers_sends_raises_and_withdraws(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded()
    with Client(with_(link, group="south"), tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        client.answer("colour", "blue")
        assert [each["question"] for each in client.waiting()] == [
            "smokes",
            "colour",
        ]
        assert client.send() == 2
        assert client.waiting() == []
        assert client.send() == 0
        assert respondents(store, number) == [1, 1, 0]
        assert store.tallies(number, 0, 1).respondents == 1, (
            "in the group of the link"
        )
        client.release("colour")
        assert client.send() == 1
        found = store.tallies(number, 1)
        assert isinstance(found, StageTallies)
        assert [each.respondents for each in found.finest] == [0, 1, 0]
        text = client.receipt()
        assert len(StoredReceipt.from_json(text).check(client.survey)) == 3
        assert client.withdraw() == 3
        assert respondents(store, number) == [0, 0, 0]
        assert client.withdraw() == 0
        with pytest.raises(NotAllowed, match="withdrew"):
            client.release("colour")
        assert client.send() == 0


def test_what_waited_when_a_respondent_withdrew_is_never_sent(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        assert len(client.waiting()) == 1
        assert client.withdraw() == 0
        assert client.waiting() == []
        assert client.send() == 0
    assert respondents(store, number) == [0, 0, 0]


def test_the_answer_is_neither_in_the_file_nor_on_the_way(
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A respondent whose response is another one than the answer; one of a hundred is, but for a chance of 1e-23."""
    _, link = fielded()
    sent: list[bytes] = []
    ask = Connection.ask

    def recorded(
        line: Connection,
        method: str,
        path: str,
        body: bytes | None = None,
        kind: str = "application/json",
    ) -> bytes:
        sent.append(f"{method} {path} ".encode() + (body or b""))
        return ask(line, method, path, body, kind)

    monkeypatch.setattr(Connection, "ask", recorded)
    for attempt in range(100):
        with Client(link, tmp_path / str(attempt), **FAST) as client:
            sent.clear()
            drawn = client.answer("colour", "green").response.symbol
            if drawn != "green":
                client.send()
                break
    posted = b"".join(sent)
    assert drawn.encode() in posted
    assert b"green" not in posted
    with closing(sqlite3.connect(tmp_path / str(attempt))) as connection:
        kept = connection.execute(
            "SELECT answer, length(secret) FROM release_answer"
        ).fetchall()
    assert kept == [(None, SECRET)], (
        "neither the answer nor what draws from it are made with"
    )


def test_what_was_acknowledged_but_not_noted_is_sent_again_and_counts_once(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "no")
        client.send()
        # as if the device had been switched off just before this note
        with client._state.transaction() as book:
            book.run("DELETE FROM sent")
    with Client(link, tmp_path / "mine", **FAST) as client:
        assert client.send() == 1
        assert len(json.loads(client.receipt())["responses"]) == 1
    assert respondents(store, number) == [1, 0, 0]


def test_an_answer_that_was_not_released_before_the_device_went_off_is_sent(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        ladder = client.survey.question("colour").ladder
        assert ladder is not None
        client._ledger.answer("colour", "red", ladder)
    with Client(link, tmp_path / "mine", **FAST) as client:
        assert client.send() == 1
    assert respondents(store, number) == [0, 1, 0]


def test_without_a_connection_everything_waits(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        connection = client._state._connection
        client._state._connection = Connection("http://127.0.0.1:1", patience=0)
        for call in (client.send, client.receipt, client.withdraw):
            with pytest.raises(NotSent):
                call()
        client.answer("colour", "red")
        client._state._connection = connection
        assert client.send() == 2
    assert respondents(store, number) == [1, 1, 0]


def test_a_device_keeps_to_its_survey_and_its_budget(
    fielded: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    _, link = fielded()
    with Client(link, tmp_path / "mine", budget=1, **FAST) as client:
        with pytest.raises(InvalidAnswer) as caught:
            client.answer("smokes", "very secret")
        assert "secret" not in str(caught.value)
        client.answer("smokes", "yes")
        with pytest.raises(InvalidRequest, match="answered already"):
            client.answer("smokes", "no")
        with pytest.raises(OverBudget):
            client.answer("colour", "red")
        assert client.send() == 1, (
            "what the budget refused does not leave, and keeps nothing else back"
        )
    with pytest.raises(InvalidRequest, match="belongs to the survey"):
        Client(with_(link, survey="other"), tmp_path / "mine")
    with pytest.raises(NotTaken, match="no survey"):
        Client(with_(link, survey="none"), tmp_path / "new", **FAST).answer(
            "smokes", "yes"
        )


def test_a_refusal_is_told_and_what_was_refused_is_kept(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (_, link) = running[0], fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        store.close(client.survey.name)
        with pytest.raises(NotTaken, match="was closed by those who run it"):
            client.send()
        assert len(client.waiting()) == 1


def test_a_survey_that_opens_later_says_when(
    fielded: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    _, link = fielded(opens=date(2999, 1, 31))
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        with pytest.raises(NotTaken, match="opens on 2999-01-31") as caught:
            client.send()
        assert "closed" not in str(caught.value)
        assert len(client.waiting()) == 1, "and can be sent then"


def test_a_receipt_of_something_else_is_not_accepted(
    fielded: Callable[..., tuple[int, str]],
    running: tuple[Store, str],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        client.send()
        store.withdraw(number, bytes.fromhex(client._key))
        with pytest.raises(Incompatible, match="lists 0 responses"):
            client.receipt()


def test_a_receipt_of_another_response_is_not_accepted(
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, link = fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        client.send()
        (sent,) = client._released_responses()
        turned = {**sent, "symbol": {"yes": "no", "no": "yes"}[sent["symbol"]]}
        assert client.receipt()
        monkeypatch.setattr(client, "_released_responses", lambda: [turned])
        with pytest.raises(Incompatible, match="not the 1 that were sent"):
            client.receipt()


def test_an_invitation_is_exchanged_once_and_kept(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded(admission="invitation")
    name = Link.read(link).survey
    (code,) = store.invite(name, 1)
    with Client(link, tmp_path / "uninvited", **FAST) as client:
        client.answer("smokes", "yes")
        with pytest.raises(NotAllowed, match="by invitation"):
            client.send()
    with Client(with_(link, invitation=code), tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        assert client.send() == 1
        client.answer("colour", "red")
    with Client(link, tmp_path / "mine", **FAST) as client:
        assert client.send() == 1, "the token is kept; the code is not needed again"
    with Client(with_(link, invitation=code), tmp_path / "second", **FAST) as client:
        client.answer("smokes", "yes")
        with pytest.raises(NotTaken, match="used already"):
            client.send()
    assert respondents(store, number) == [1, 1, 0]


def test_an_exchange_that_broke_off_is_finished_later(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
    seeded: Source,
) -> None:
    store, (number, link) = running[0], fielded(admission="invitation")
    (code,) = store.invite(Link.read(link).survey, 1)
    with Client(with_(link, invitation=code), tmp_path / "mine", **FAST) as client:
        # signed, and the answer got lost
        admission._exchange_invitation(client._state, seeded)
    with Client(with_(link, invitation=code), tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        assert client.send() == 1
    assert respondents(store, number) == [1, 0, 0]


def test_a_hub_sends_many_respondents_in_batches(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    device: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deniable.client.hub._BATCH_LINES", 40)
    store, (number, link) = running[0], fielded()
    with Hub(
        with_(link, group="north"), tmp_path / "hub", token=device, **FAST
    ) as hub:
        keys = hub.add(
            {"smokes": "yes", "colour": "red", "apps": str(each % 12)}
            for each in range(100)
        )
        assert len(set(keys)) == len(hub) == 100
    with Hub(
        with_(link, group="north"), tmp_path / "hub", token=device, **FAST
    ) as hub:
        lines = [line for _, line in _waiting(hub)]
        assert hub.send() == 100
        assert len(hub) == 0
        # as if the acknowledgement had got lost
        hub._state.post_lines(lines, device)
    assert respondents(store, number) == [100, 100, 100]
    assert store.tallies(number, 0, 0).respondents == 100
    assert store.withdraw(number, bytes.fromhex(keys[7])).responses == 3


def _waiting(hub: Hub) -> list[tuple[str, str]]:
    with hub._state.transaction() as book:
        return book.rows("SELECT key, line FROM waiting")


def test_what_a_hub_holds_tells_neither_answers_nor_the_order(
    fielded: Callable[..., tuple[int, str]], device: str, tmp_path: Path
) -> None:
    _, link = fielded()
    with Hub(link, tmp_path / "hub", token=device, **FAST) as hub:
        keys = [hub.add([{"smokes": "yes"}])[0] for _ in range(30)]
        held = [key for key, _ in _waiting(hub)]
        assert held == sorted(keys) != keys
        assert {
            json.loads(line)["responses"][0]["symbol"] for _, line in _waiting(hub)
        } == {"no", "yes"}


def test_what_a_hub_cannot_send_stays(
    fielded: Callable[..., tuple[int, str]], device: str, tmp_path: Path
) -> None:
    _, link = fielded()
    with Hub(link, tmp_path / "hub", token=device, **FAST) as hub:
        with pytest.raises(InvalidAnswer):
            hub.add([{"smokes": "yes"}, {"smokes": "very secret"}])
        assert len(hub) == 0
        hub.add([{"smokes": "yes"}])
        hub._state._connection = Connection("http://127.0.0.1:1", patience=0)
        with pytest.raises(NotSent):
            hub.send()
        assert len(hub) == 1


def test_a_hub_without_a_token_that_works_keeps_what_it_has(
    fielded: Callable[..., tuple[int, str]], device: str, tmp_path: Path
) -> None:
    _, link = fielded()
    with Hub(link, tmp_path / "hub", token="dn_unknown", **FAST) as hub:
        hub.add([{"smokes": "yes"}])
        with pytest.raises(NotTaken, match="needs a token that works"):
            hub.send()
        assert len(hub) == 1
    assert b"dn_unknown" not in (tmp_path / "hub").read_bytes()
    with Hub(link, tmp_path / "hub", token=device, **FAST) as hub:
        assert hub.send() == 1


def test_a_hub_takes_no_survey_by_invitation(
    fielded: Callable[..., tuple[int, str]], device: str, tmp_path: Path
) -> None:
    _, link = fielded(admission="invitation")
    with (
        Hub(link, tmp_path / "hub", token=device, **FAST) as hub,
        pytest.raises(NotAllowed, match="by invitation"),
    ):
        hub.add([{"smokes": "yes"}])


def test_a_hubs_file_belongs_to_its_survey(
    fielded: Callable[..., tuple[int, str]], device: str, tmp_path: Path
) -> None:
    _, link = fielded()
    Hub(link, tmp_path / "hub", token=device).close()
    with pytest.raises(InvalidRequest, match="belongs to the survey"):
        Hub(
            f"https://survey.example/s/other#definition={'0' * 64}",
            tmp_path / "hub",
            token=device,
        )


def test_a_receipt_that_the_key_of_the_definition_did_not_sign_is_refused(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, (_, link) = running[0], fielded()
    with Client(link, tmp_path / "mine", **FAST) as client:
        client.answer("smokes", "yes")
        client.send()
        text = client.receipt()
        monkeypatch.setattr(store, "secret", lambda _: bytes(32))
        with pytest.raises(
            UnreadableFile, match="not signed with the key of the definition"
        ):
            client.receipt()
    monkeypatch.undo()
    assert StoredReceipt.from_json(text).check(
        store.survey(Link.read(link).survey).survey
    )


def test_an_author_who_is_pinned_has_signed(
    running: tuple[Store, str], tmp_path: Path
) -> None:
    store, base = running
    store.create(small(name="signed"))
    make_key(tmp_path / "key")
    made = sign(store.survey("signed").survey, tmp_path / "key")
    unsigned = store.survey("signed").link(base)
    signed = store.keep_signature("signed", made).link(base)
    store.open("signed")
    assert (unsigned.author, signed.author) == ("", made.author)
    for place, link in enumerate((unsigned, signed)):
        with Client(link.text, tmp_path / f"{place}", **FAST) as client:
            client.answer("smokes", "yes")
            assert client.send() == 1
    other = replace(signed, author=make_key(tmp_path / "other"))
    with (
        Client(other.text, tmp_path / "pinned", **FAST) as client,
        pytest.raises(Incompatible, match="the link names the author"),
    ):
        client.answer("smokes", "yes")
    with pytest.raises(InvalidRequest, match="belongs to the survey"):
        Client(signed.text, tmp_path / "0")
    with pytest.raises(Incompatible, match="of the definition"):
        store.keep_signature(
            "signed",
            sign(small(name="signed", keys=Keys("0" * 64)), tmp_path / "key"),
        )


def test_a_link_with_an_author_whom_nobody_knows_is_refused(
    fielded: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    _, link = fielded()
    with Client(with_(link, author="0" * 64), tmp_path / "mine", **FAST) as client:
        with pytest.raises(NotTaken, match="nobody has signed"):
            client.answer("smokes", "yes")
        assert client.waiting() == []


def test_a_respondent_answers_what_was_drawn_and_nothing_else(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded(each=1)
    asked = set()
    answers = {"smokes": "yes", "colour": "red", "apps": "3"}
    for person in range(12):
        with Client(link, tmp_path / f"{person}", **FAST) as client:
            [drawn] = client.questions
        with Client(link, tmp_path / f"{person}", **FAST) as client:
            assert [each.name for each in client.questions] == [drawn.name], (
                "drawn once and for all"
            )
            for other in answers.keys() - {drawn.name}:
                with pytest.raises(InvalidRequest, match="was not drawn"):
                    client.answer(other, answers[other])
            client.answer(drawn.name, answers[drawn.name])
            assert client.send() == 1
        asked.add(drawn.name)
    assert len(asked) > 1
    assert sum(respondents(store, number)) == 12


def test_the_collector_takes_no_more_than_was_drawn_also_in_two_messages(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded(each=1)
    with Client(link, tmp_path / "state", **FAST) as client:
        survey = client.survey
        responses = [
            {
                "question": each.name,
                "design": each.design.hash,
                "symbol": each.design.symbols[0],
            }
            for each in survey.questions
        ]
        both = client._submission("ab" * 16, responses[:2])
        with pytest.raises(NotTaken, match="more than 1 questions under one key"):
            client._state.ask("POST", "/responses", both)
        for _ in range(2):  # the same again is repeated, not more
            client._state.ask(
                "POST", "/responses", client._submission("cd" * 16, responses[:1])
            )
        with pytest.raises(NotTaken, match="more than 1 questions under one key"):
            client._state.ask(
                "POST", "/responses", client._submission("cd" * 16, responses[1:2])
            )
    assert respondents(store, number) == [1, 0, 0]


def test_a_hub_draws_what_each_respondent_is_asked(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    device: str,
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded(each=1)
    with Hub(link, tmp_path / "hub", token=device, **FAST) as hub:
        with pytest.raises(InvalidRequest, match="expected answers to all"):
            hub.add([{"smokes": "yes"}])
        with pytest.raises(InvalidAnswer):
            hub.add([{"smokes": "yes", "colour": "red", "apps": "very secret"}] * 30)
        assert len(hub) == 0
        hub.add(
            {"smokes": "yes", "colour": "red", "apps": str(each % 12)}
            for each in range(90)
        )
        assert hub.send() == 90
    found = respondents(store, number)
    assert sum(found) == 90
    assert min(found) > 0


ARMED: dict[str, Any] = {
    "questions": (
        question("smokes", warner(epsilon=1)),
        question("colour", k_ary(COLOURS, epsilon=1)),
        question(
            "colour-open", direct(COLOURS), acknowledge=math.inf, compare="colour"
        ),
    ),
    "arms": (SurveyArm("masked", ("colour",)), SurveyArm("open", ("colour-open",))),
    "acknowledge": math.inf,
}
UNBOUNDED: dict[str, Any] = {"ceiling": math.inf, "budget": math.inf}


def test_an_arm_is_drawn_once_for_a_respondent(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded(**ARMED)
    met: list[str] = []
    while set(met) != {"colour", "colour-open"}:
        assert len(met) < 40  # one arm alone comes with a chance of 2⁻³⁹
        file = tmp_path / f"{len(met)}"
        with Client(link, file, **FAST) as client:
            common, own = (each.name for each in client.questions)
            assert common == "smokes"
            other = next(each for each in ("colour", "colour-open") if each != own)
            with pytest.raises(InvalidRequest, match="was not drawn"):
                client.answer(other, "red")
            # nothing is sent as it is, unless somebody says so at the device
            if own == "colour-open":
                with pytest.raises(
                    OverBudget,
                    match="asks in one response to 'colour-open' for ε = ∞",
                ):
                    client.answer(own, "red")
        file = tmp_path / f"{len(met)} again"
        with Client(link, file, **FAST, **UNBOUNDED) as client:
            own = client.questions[1].name
            for name, answer in (("smokes", "yes"), (own, "red")):
                client.answer(name, answer)
            assert client.send() == 2
        met.append(own)
    assert respondents(store, number) == [
        len(met),
        met.count("colour"),
        met.count("colour-open"),
    ]


def test_the_collector_takes_no_two_arms_under_one_key(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded(**ARMED)
    with Client(link, tmp_path / "state", **FAST) as client:
        one, *both = (
            {
                "question": each.name,
                "design": each.design.hash,
                "symbol": each.design.symbols[0],
            }
            for each in client.survey.questions
        )
        with pytest.raises(
            NotTaken, match="questions of different arms under one key"
        ):
            client._state.ask(
                "POST", "/responses", client._submission("ab" * 16, both)
            )
        client._state.ask(
            "POST", "/responses", client._submission("cd" * 16, [one, both[0]])
        )
        with pytest.raises(
            NotTaken, match="questions of different arms under one key"
        ):
            client._state.ask(
                "POST", "/responses", client._submission("cd" * 16, both[1:])
            )
    assert respondents(store, number) == [1, 1, 0]


def test_a_hub_draws_an_arm_for_each_respondent(
    running: tuple[Store, str],
    fielded: Callable[..., tuple[int, str]],
    device: str,
    tmp_path: Path,
) -> None:
    store, (number, link) = running[0], fielded(**ARMED)
    people = [{"smokes": "yes", "colour": "red", "colour-open": "red"}] * 90
    with (
        Hub(link, tmp_path / "bound", token=device, **FAST) as hub,
        pytest.raises(OverBudget),
    ):
        hub.add(people)
    with Hub(link, tmp_path / "hub", token=device, **FAST, **UNBOUNDED) as hub:
        with pytest.raises(InvalidRequest, match="expected answers to all"):
            hub.add([{"smokes": "yes"}])
        hub.add(people)
        assert hub.send() == 90
    everybody, *arms = respondents(store, number)
    assert everybody == sum(arms) == 90
    assert min(arms) > 0
