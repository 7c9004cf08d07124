"""Every claim of the threat model, tried as its adversary would. `docs/threat-model.md` names these tests."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import logging
import math
import re
import secrets
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest
from starlette.routing import Mount, Route

from deniable import blind, documents
from deniable.client import Client
from deniable.client.connection import Connection
from deniable.collector.app import make_app
from deniable.collector.monitoring import JsonLines
from deniable.collector.settings import Settings
from deniable.collector.store import Entry, Store, Submission, Token, open_store
from deniable.collector.store.packs import record_type
from deniable.collector.store.surveys import KnownSurvey
from deniable.designs import k_ary, warner
from deniable.errors import InvalidRequest, NotAllowed
from deniable.survey import Keys, Link, Survey
from tests.support import disk
from tests.support.blinding import sealed, smooth_modulus
from tests.support.collector import Inside, listening, submission
from tests.support.seeded import seeded
from tests.support.stored import ids
from tests.support.surveys import question, small
from tests.unit.client.test_connection import answering

ANIMALS = ["quagga", "okapi", "numbat"]
"""Categories that occur nowhere else, so that they can be searched for."""

ADDRESS = "198.51.100.77"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "collector.db")
    opened.create(small(minimum=3))
    opened.open("small")
    yield opened
    opened.shut()


@pytest.fixture
def survey(store: Store) -> Survey:
    return store.survey("small").survey


@pytest.fixture
def inside(store: Store) -> Iterator[Inside]:
    with Inside(make_app(Settings(), store)) as collector:
        yield collector


def on_disk(folder: Path) -> bytes:
    """Return everything that the collector has written anywhere."""
    return b"".join(
        path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    )


def send(collector: Inside, body: dict[str, Any], name: str = "small") -> int:
    return collector.ask(
        "POST", f"/api/surveys/{name}/responses", body, client=ADDRESS
    ).status


def members(store: Store) -> list[tuple[int, bytes]]:
    return ids(store, store.surveys()[0].id)


# The curious collector


START = (
    "from deniable.collector.app import make_app; from deniable.collector.settings import Settings; "
    "from deniable.collector.store import open_store; make_app(Settings(), open_store('c.db')); "
)


def modules_that_take_an_answer(program: str, folder: Path) -> set[str]:
    """Return the modules that a program has loaded and that the contract keeps from the collector."""
    program = f"import sys; {program} print(*sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(run.stdout.split())
    assert "deniable.collector.app" in loaded
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "tool"
    ]["importlinter"]["contracts"]
    contract = next(
        contract
        for contract in contracts
        if contract["name"].startswith("Nothing at the collector's side")
    )
    patterns = [*contract["forbidden_modules"], "deniable.client"]
    return {
        name
        for name in loaded
        for pattern in patterns
        if fnmatch(name, pattern) or fnmatch(name, f"{pattern}.*")
    }


def test_a_running_collector_has_no_code_that_takes_an_answer(
    tmp_path: Path,
) -> None:
    assert not modules_that_take_an_answer(START, tmp_path)
    planted = {
        f"deniable.{name}"
        for name in (
            "types.drawn.respond",
            "types.strings.draw",
            "bulk.columns",
            "client",
        )
    }
    program = "".join(f"import {name}; " for name in planted) + START
    assert planted <= modules_that_take_an_answer(program, tmp_path), (
        "code that takes an answer is noticed"
    )


def test_a_body_with_an_answer_in_it_is_refused(
    inside: Inside, survey: Survey, store: Store
) -> None:
    body = submission(survey, "yes")
    for extra in ("answer", "category", "seed", "truth"):
        assert send(inside, {**body, extra: "yes"}) == 422
        assert (
            send(
                inside,
                {**body, "responses": [{**body["responses"][0], extra: "yes"}]},
            )
            == 422
        )
    assert not members(store)


def test_responses_of_one_respondent_cannot_be_joined(
    store: Store,
) -> None:
    """Forty people send the same: rows differ by their ids alone, and these have nothing in common across questions."""
    keys = [disk.key(number) for number in range(40)]
    number = store.survey("small").id
    for key in keys:
        assert store.add([Submission(number, key, None, disk.SENT)]) == ["stored"]
    known = KnownSurvey.from_entry(store.survey("small"))
    truth = [[column.id(key) for column in known.columns] for key in keys]
    for written_anew in (False, True):
        rows = stored_rows(store)
        assert {row[0] for row in rows} == {0, 1, 2}
        for asked in range(3):
            column = {row for row in rows if row[0] == asked}
            assert {id_ for _, id_, _ in column} == {mine[asked] for mine in truth}
            assert len({rest for _, _, rest in column}) == 1, (
                "a row tells who sent it"
            )
        assert written_anew or store.rewrite(at_once=True, anyway=True)
    orders = [sorted(keys, key=column.id) for column in known.columns]
    for one, other in combinations(range(3), 2):
        same = sum(map(bytes.__eq__, orders[one], orders[other]))
        assert same < disk.by_luck([40], 1e-10), "they lie in the same order"
        for key, mine in zip(keys, truth, strict=True):
            parts = {mine[one][at : at + 6] for at in range(11)}
            assert not any(part in mine[other] + key for part in parts)


def stored_rows(store: Store) -> list[tuple[int, bytes, bytes]]:
    """Return question, id and all else of every response, whether it lies in a row of its own or in a pack."""
    with store.transaction(write=False) as tables:
        alone = tables.rows("SELECT * FROM response")
        packed = tables.rows(
            "SELECT question, width, packed, stage FROM run NATURAL JOIN pack"
        )
    found = [
        (row[1], bytes(row[2]), repr((row[0], *row[3:])).encode()) for row in alone
    ]
    for asked, width, pack, stage in packed:
        size = record_type(width).itemsize
        for start in range(0, len(pack), size):
            record = bytes(pack[start : start + size])
            found.append((asked, record[:16], record[16:] + bytes([stage])))
    return found


def test_the_disk_and_the_log_hold_neither_address_nor_key_nor_moment(
    inside: Inside, survey: Survey, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    bodies = [submission(survey, symbol) for symbol in ("yes", "no", "yes")]
    assert [send(inside, each) for each in bodies] == [204] * 3
    assert send(inside, {**bodies[0], "survey": "sha256:" + "0" * 64}) == 409
    kept = (
        on_disk(tmp_path)
        + "\n".join(JsonLines().format(each) for each in caplog.records).encode()
    )
    assert b"request" in kept
    for each in bodies:
        assert each["key"].encode() not in kept
        assert bytes.fromhex(each["key"]) not in kept
    assert ADDRESS.encode() not in kept
    lines = [
        json.loads(JsonLines().format(each))
        for each in caplog.records
        if each.name == "deniable.collector"
    ]
    assert [each["status"] for each in lines] == [409], (
        "what was taken leaves no line, so no moment"
    )


def test_metrics_do_not_tell_when_a_response_came(
    inside: Inside, survey: Survey, store: Store
) -> None:
    """Whoever reads the counts before and after a response finds the same bytes."""
    token = f"Bearer {store.issue_token(Token('ann', 'analyst'))}"

    def told() -> bytes:
        return inside.ask("GET", "/metrics", authorization=token).body

    before, body = told(), submission(survey, "yes")
    assert b"deniable_responses" in before
    assert send(inside, body) == 204
    assert told() == before
    assert inside.ask("GET", "/s/small", accept="text/html").status == 200
    assert (
        inside.ask(
            "POST", "/api/surveys/small/withdrawals", {"key": body["key"]}
        ).status
        == 200
    )
    assert told() == before
    assert b"_created" not in before


def test_an_invitation_fits_every_response_equally_well(store: Store) -> None:
    """Whoever holds the signing key, every exchange and every token finds a blinding factor for each pair of them."""
    store.create(small(name="circle", admission="invitation"))
    entry = store.open("circle")
    assert entry.public is not None
    key = entry.public
    seen, sent = [], []
    for code in store.invite("circle", 3):
        message = blind.prepare()
        blinded, factor = blind.blind(message, key)
        signed = store.exchange("circle", code, blinded)
        seen.append((blinded, signed))
        sent.append((message, blind.unblind(message, signed, factor, key)))
    for blinded, signed in seen:
        for _, signature in sent:
            factor = signed * pow(signature, -1, key.modulus) % key.modulus
            assert math.gcd(factor, key.modulus) == 1
            hidden = pow(signature * factor, blind.EXPONENT, key.modulus)
            assert hidden == blinded, "this exchange could have been for that token"


def test_a_key_that_knows_tokens_again_is_refused_before_anything_is_sent(
    store: Store, tmp_path: Path
) -> None:
    """Also where the collector hands out links to a definition with that key: hashes agree, and nothing is sent."""
    store.create(small(name="circle", admission="invitation"))
    body = documents.unseal("survey", store.open("circle").survey.to_json())
    keys = body["keys"] | {"tokens": json.loads(sealed(smooth_modulus()))}
    served = documents.seal("survey", body | {"keys": keys})
    definition = json.loads(served)["hash"].removeprefix("sha256:")
    with (
        answering((200, {}, served.encode())) as (base, asked),
        Client(
            f"{base}/s/circle#definition={definition}&invitation=in_code",
            tmp_path / "ledger",
            patience=0,
        ) as client,
        pytest.raises(InvalidRequest, match="has a factor below"),
    ):
        client.answer("smokes", "yes")
    assert asked == ["GET /api/surveys/circle"]


# The network observer


def test_a_message_depends_on_the_response_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a client really sends: the same response from different answers is the same request, but for the key."""
    design = k_ary(ANIMALS, epsilon=1)
    asked = small(
        name="animals", questions=(question("animal", design),), keys=Keys("0" * 64)
    )
    wire: list[tuple[Any, ...]] = []

    def once(_: Connection, *request: Any) -> bytes:
        wire.append(request)
        return asked.to_json().encode()

    monkeypatch.setattr(Connection, "_once", once)
    link = Link.to_survey(asked, "http://127.0.0.1:1").text
    requests: dict[str, set[tuple[str, bytes]]] = {}
    for number in range(48):
        wire.clear()
        with Client(
            link,
            tmp_path / str(number),
            patience=0,
            source=seeded(f"a message depends on the response alone {number}"),
        ) as client:
            answer = ANIMALS[number % 3]
            symbol = client.answer("animal", answer).response
            assert client.send() == 1
            key = client._key.encode()
        *_, (method, path, body, *rest) = wire
        assert body.count(key) == 1
        seen = (answer, repr((method, path, body.replace(key, b""), *rest)).encode())
        requests.setdefault(str(symbol), set()).add(seen)
    assert len(requests) == 3
    for seen_with in requests.values():
        assert len({answer for answer, _ in seen_with}) > 1
        assert len({request for _, request in seen_with}) == 1


PARTS = {"name", "question", "kind", "holder", "path"}
"""What addresses are made of: a survey, a question, the ending of a file, who holds a token, a file of the pages."""


def test_no_address_has_room_for_a_response_a_key_a_code_or_a_secret(
    store: Store, inside: Inside
) -> None:
    """What a proxy or a browser's history would keep: an address that is the same for everybody who does the same."""
    app = make_app(Settings(), store)
    patterns = [
        each.path_format for each in app.routes if isinstance(each, (Route, Mount))
    ]
    assert len(patterns) == len(app.routes)
    assert {
        part for each in patterns for part in re.findall(r"\{(\w+)\}", each)
    } <= PARTS
    described = inside.ask("GET", "/openapi.json").json["paths"].values()
    named = {
        (part["in"], part["name"])
        for each in described
        for operation in each.values()
        for part in operation.get("parameters", ())
    }
    assert named <= {("path", part) for part in PARTS} | {("query", "group")}


def test_a_key_is_taken_from_a_body_and_from_nowhere_else(
    inside: Inside, survey: Survey, store: Store
) -> None:
    body = submission(survey, "yes")
    key, api = body["key"], "/api/surveys/small"
    assert send(inside, body) == 204
    for path in (
        f"/responses/{key}",
        f"/withdrawals/{key}",
        f"/withdrawals?key={key}",
        f"/receipts/{key}",
    ):
        for method in ("GET", "POST", "DELETE"):
            assert inside.ask(method, api + path).status in {400, 404, 405, 415}
    assert len(members(store)) == 1
    assert (
        inside.ask("POST", f"{api}/receipts", {"key": key}).json["responses"]
        == body["responses"]
    )
    assert inside.ask("POST", f"{api}/withdrawals", {"key": key}).json == {
        "withdrawn": 1,
        "overwritten": True,
    }
    assert not members(store)


def test_pages_are_not_served_to_other_machines_in_the_clear() -> None:
    from deniable.collector.serve import check_reachable
    from deniable.errors import InvalidRequest

    with pytest.raises(InvalidRequest, match="other machines"):
        check_reachable(Settings(host="0.0.0.0", address="http://survey.example"))


def test_no_page_loads_or_sends_anything_elsewhere(inside: Inside) -> None:
    for path in ("/", "/s/small", "/a/login"):
        answered = inside.ask("GET", path, accept="text/html")
        page = answered.body.decode()
        assert "default-src 'none'" in answered.headers["content-security-policy"]
        assert answered.headers["referrer-policy"] == "no-referrer"
        for attribute in ("src=", "href=", "action="):
            found = [each.split('"')[1] for each in page.split(attribute)[1:]]
            assert all(
                each.startswith(("/", "#", "?", "mailto:"))
                and not each.startswith("//")
                for each in found
            )


# Fake respondents


def test_one_key_counts_once_and_cannot_change_its_mind(
    inside: Inside, survey: Survey, store: Store
) -> None:
    body = submission(survey, "yes")
    assert [send(inside, body) for _ in range(5)] == [204] * 5
    changed = {**body, "responses": [{**body["responses"][0], "symbol": "no"}]}
    assert 400 <= send(inside, changed) < 500
    assert store.tallies(1, 0).respondents == 1


def test_one_invitation_admits_one(store: Store) -> None:
    store.create(small(name="circle", admission="invitation"))
    entry = store.open("circle")
    survey = entry.survey
    (code,) = store.invite("circle", 1)
    with (
        listening(make_app(Settings(), store)) as address,
        httpx.Client(base_url=f"{address}/api/surveys/circle") as web,
    ):
        tokens = [exchange(web, entry, code) for _ in range(2)]
        assert tokens[1] is None, "the second exchange is refused"
        assert web.post("responses", json=submission(survey)).status_code == 403
        assert (
            web.post(
                "responses", json=submission(survey, token=tokens[0])
            ).status_code
            == 204
        )
        assert (
            web.post(
                "responses", json=submission(survey, token=tokens[0])
            ).status_code
            == 403
        )
        forged = {
            "message": secrets.token_hex(32),
            "signature": secrets.token_hex(256),
        }
        assert (
            web.post("responses", json=submission(survey, token=forged)).status_code
            == 403
        )
    assert store.tallies(entry.id, 0).respondents == 1


def exchange(web: httpx.Client, entry: Entry, code: str) -> dict[str, str] | None:
    """Exchange an invitation for a token, as a respondent's program does; None where it is refused."""
    assert entry.public is not None
    message = blind.prepare()
    blinded, factor = blind.blind(message, entry.public)
    answered = web.post(
        "invitations/exchange",
        json={"code": code, "blinded": entry.public.digits(blinded)},
    )
    if answered.status_code != 200:
        return None
    signature = blind.unblind(
        message, int(answered.json()["signature"], 16), factor, entry.public
    )
    return {"message": message.hex(), "signature": entry.public.digits(signature)}


def test_one_address_sends_so_much_and_no_more(store: Store, survey: Survey) -> None:
    with Inside(make_app(Settings(rate=20), store)) as collector:
        statuses = Counter(send(collector, submission(survey)) for _ in range(50))
    assert statuses == {204: 20, 429: 30}
    assert store.tallies(1, 0).respondents == 20
    many = submission(survey)
    many["responses"] += submission(survey, "red", question=1)["responses"]
    with Inside(make_app(Settings(rate_responses=4), store)) as collector:
        assert [send(collector, many) for _ in range(3)] == [204, 204, 429], (
            "responses count, and not requests alone"
        )


def test_fakes_move_an_estimate_by_a_known_bound_at_most(
    inside: Inside, survey: Survey, store: Store
) -> None:
    """The analyst is told where the honest share lies if 5 % of the responses were made up; three of sixty are."""
    token = store.issue_token(Token("ann", "analyst"))

    def shares() -> list[dict[str, Any]]:
        found = inside.ask(
            "GET", "/api/surveys/small/estimates", authorization=f"Bearer {token}"
        ).json
        told: list[dict[str, Any]] = found["questions"]["smokes"]["shares"]
        return told

    for number in range(57):
        assert (
            send(inside, submission(survey, ("yes", "no", "yes")[number % 3])) == 204
        )
    for _ in range(3):
        assert send(inside, submission(survey, "yes")) == 204
    # what is shown lags a step behind
    honest = [each["row"]["estimate"] for each in shares()]
    for _ in range(3):
        assert send(inside, submission(survey, "no")) == 204
    for value, share in zip(honest, shares(), strict=True):
        low, high = share["fakes"][1]
        assert low - 1e-9 <= value <= high + 1e-9, (
            "the bound is met exactly: all fakes pull the same way"
        )
        assert value != pytest.approx(share["row"]["estimate"], abs=1e-3), (
            "they did move it"
        )


# Colluding buyers and analysts


def test_all_stages_together_reveal_what_the_finest_does(survey: Survey) -> None:
    """Everybody who holds some stage of a response knows, all together, no more than whoever holds the finest."""
    stages = survey.questions[1].ladder
    assert stages is not None
    first, last = stages.designs[0], stages.designs[1]
    step = stages.relaxations[0]
    for one in first.symbols:
        for two in last.symbols:
            joint = [
                first.probability(one, given=x) * step.kernel(two, old=one, given=x)
                for x in first.categories
            ]
            alone = [last.probability(two, given=x) for x in first.categories]
            ratios = {a / b for a, b in zip(joint, alone, strict=True)}
            assert len(ratios) == 1, (
                "given the finer response, the coarser one says nothing about the answer"
            )
            assert Fraction(0) <= ratios.pop() <= 1


def test_exports_of_two_questions_cannot_be_laid_side_by_side(store: Store) -> None:
    """Everybody sends the same symbol to both questions; by the rows of the two files nobody could tell."""
    questions = (
        question("one", warner(epsilon=1)),
        question("two", warner(epsilon=2)),
    )
    store.create(small(name="both", questions=questions, minimum=3))
    survey = store.open("both").survey
    token = store.issue_token(Token("ann", "analyst"))
    arrived = ["yes", "no"] * 40
    with Inside(make_app(Settings(), store)) as collector:
        for symbol in arrived:
            bodies = [
                submission(survey, symbol, question=number) for number in range(2)
            ]
            body = {
                **bodies[0],
                "responses": [each["responses"][0] for each in bodies],
            }
            assert send(collector, body, "both") == 204
        assert store.close("both").state == "closed"
        collector._app.state.collector.surveys.forget()
        files = [
            collector.ask(
                "GET",
                f"/api/surveys/both/exports/{name}.parquet",
                authorization=f"Bearer {token}",
            ).body
            for name in ("one", "two")
        ]
    tables = [pq.read_table(io.BytesIO(each)) for each in files]
    assert tables[0].column_names == ["stage", "group", "response", "design"], (
        "no key, no number, no moment"
    )
    one, two = (each["response"].to_pylist() for each in tables)
    assert Counter(one) == Counter(two) == {"yes": 40, "no": 40}
    assert one != two, "equal by chance once in 10^22 runs"
    assert arrived not in (one, two)


def told(collector: Inside, store: Store, group: str = "") -> list[int] | None:
    """Return the counts of the first question that an analyst is told; None where nothing is."""
    name = secrets.token_hex(4)
    token = store.issue_token(Token(name, "analyst"))
    path = (
        f"/api/surveys/small/tallies?group={group}"
        if group
        else "/api/surveys/small/tallies"
    )
    found = collector.ask("GET", path, authorization=f"Bearer {token}").json[
        "questions"
    ]["smokes"]
    return None if found is None else list(found["counts"])


def test_small_groups_are_not_told_by_subtraction(
    inside: Inside, survey: Survey, store: Store
) -> None:
    for group, people in (("north", 10), ("south", 2)):
        for _ in range(people):
            assert send(inside, submission(survey, "yes", group=group)) == 204
    assert told(inside, store, "south") is None
    before = told(inside, store), told(inside, store, "north")
    assert before == ([0, 6], [0, 6]), "everybody less the north is nobody"
    store.close("small")
    inside._app.state.collector.surveys.forget()
    after = told(inside, store), told(inside, store, "north")
    assert after == ([0, 12], [0, 6]), (
        "all are counted, and the two are told with the last four of the north"
    )


def test_nobody_is_read_by_looking_before_and_after(
    inside: Inside, survey: Survey, store: Store
) -> None:
    """What is shown before and after a response is the same, unless as many have come as the minimum."""
    for shown in (None, None, None, None, None, [3, 0], [3, 0], [3, 0], [5, 1]):
        assert send(inside, submission(survey, "yes" if shown else "no")) == 204
        assert told(inside, store) == shown


def test_the_end_shows_all_and_nobody_alone(
    inside: Inside, survey: Survey, store: Store
) -> None:
    """However many come after the last step, what the end adds to it is about the minimum or more."""
    for number in range(1, 12):
        assert send(inside, submission(survey, "yes")) == 204
        last = sum(told(inside, store) or [0])
        assert number - last >= min(number, 3)
    store.close("small")
    inside._app.state.collector.surveys.forget()
    assert told(inside, store) == [0, 11]


def test_a_group_cannot_be_filled_up_again_and_again(
    inside: Inside, survey: Survey, store: Store
) -> None:
    """Fakes fill a group up, somebody is read, the fakes are withdrawn; the next person is waited for, and so on."""
    read = []
    for symbol in ("no", "yes", "yes", "no", "no", "no", "no"):
        assert send(inside, submission(survey, symbol, group="south")) == 204
        fakes = [submission(survey, "yes", group="south") for _ in range(2)]
        assert {send(inside, each) for each in fakes} == {204}
        read.append(told(inside, store, "south"))
        for each in fakes:
            assert (
                inside.ask(
                    "POST", "/api/surveys/small/withdrawals", {"key": each["key"]}
                ).json["withdrawn"]
                == 1
            )
    assert read[:3] == [None] * 3
    assert read[3:6] == [[1, 2]] * 3, (
        "the first one, whom two known fakes make three; and nobody after"
    )
    assert read[6] == [2, 4], "the next three people, together"


def test_exports_wait_until_nobody_can_come_after_them(
    inside: Inside, survey: Survey, store: Store
) -> None:
    token = store.issue_token(Token("ann", "analyst"))

    def rows() -> int:
        path = "/api/surveys/small/exports/smokes.csv"
        found = inside.ask("GET", path, authorization=f"Bearer {token}")
        return len(found.body.splitlines()) - 1 if found.status == 200 else 0

    store.open("small")
    inside._app.state.collector.surveys.forget()
    for _ in range(4):
        assert send(inside, submission(survey, "yes")) == 204
    assert rows() == 0
    store.close("small")
    inside._app.state.collector.surveys.forget()
    assert rows() == 4
    with pytest.raises(NotAllowed, match="was shown to analysts"):
        store.open("small")


# The compelled operator


def test_the_disk_holds_no_secret_that_opens_anything(
    store: Store, tmp_path: Path
) -> None:
    store.create(small(name="circle", admission="invitation"))
    token = store.issue_token(Token("ann", "analyst"))
    secrets_made = [
        token,
        *store.invite("circle", 3),
        *(store.start_session(token, seconds=3600) for _ in range(3)),
    ]
    kept = on_disk(tmp_path)
    for text in secrets_made:
        drawn = text.removeprefix("dn_").removeprefix("in_")
        assert len(base64.urlsafe_b64decode(drawn)) == 24, "192 bits: nobody guesses"
        assert drawn.encode() not in kept
        assert base64.urlsafe_b64decode(drawn) not in kept
    assert len(set(secrets_made)) == len(secrets_made)
    assert store.find_session(secrets_made[-1]) == store.find_token(token)
    assert hashlib.sha256(secrets_made[-1].encode()).digest() in kept, (
        "this finds it"
    )


def test_what_was_withdrawn_is_gone_from_the_disk(
    inside: Inside, survey: Survey, store: Store, tmp_path: Path
) -> None:
    body = submission(survey, "yes")
    assert send(inside, body) == 204
    assert send(inside, submission(survey, "no")) == 204
    gone = {each for _, each in members(store)}
    assert inside.ask(
        "POST", "/api/surveys/small/withdrawals", {"key": body["key"]}
    ).json == {
        "withdrawn": 1,
        "overwritten": True,
    }
    gone -= {each for _, each in members(store)}
    assert len(gone) == 1
    assert store.tallies(1, 0).counts.tolist() == [1, 0]
    (left,) = {each for _, each in members(store)}
    kept = on_disk(tmp_path)
    assert left in kept
    assert gone.pop() not in kept, "while the collector runs"


def test_responses_are_kept_in_an_order_that_tells_nothing(
    inside: Inside, survey: Survey, store: Store
) -> None:
    for _ in range(30):
        assert send(inside, submission(survey, "yes")) == 204
    assert store.rewrite(at_once=True, anyway=True)
    kept = [each for _, each in members(store)]
    assert len(kept) == 30
    assert kept == sorted(kept), "by a hash of a random key, and by nothing else"
