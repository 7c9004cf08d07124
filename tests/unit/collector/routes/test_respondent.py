"""Sending, raising, looking up and withdrawing responses."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from deniable import blind, documents
from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Store
from deniable.errors import Incompatible, UnreadableFile
from deniable.survey import Keys, Survey
from deniable.survey.catalogue import locale
from deniable.survey.disclosure import Disclosure
from deniable.survey.signed import StoredReceipt
from tests.support.collector import Inside, submission
from tests.support.surveys import small

RESPONSES = "/api/surveys/small/responses"
WITHDRAWALS = "/api/surveys/small/withdrawals"
RECEIPTS = "/api/surveys/small/receipts"


def counts(store: Store, question: int = 0) -> Any:
    return store.tallies(store.survey("small").id, question)


def test_the_definition_is_the_survey_and_named_by_its_hash(
    collector: Inside, survey: Survey
) -> None:
    found = collector.ask("GET", "/api/surveys/small")
    assert Survey.from_json(found.body) == survey
    assert found.headers["etag"] == f'"{survey.hash}"'
    again = collector.ask(
        "GET", "/api/surveys/small", if_none_match=found.headers["etag"]
    )
    assert (again.status, again.body) == (304, b"")


def test_a_response_is_stored_when_it_is_acknowledged(
    collector: Inside, survey: Survey, database: Store
) -> None:
    body = submission(survey, "yes", group="south")
    answered = collector.ask("POST", RESPONSES, body)
    assert (answered.status, answered.body) == (204, b"")
    assert counts(database).counts.tolist() == [0, 1]
    assert database.tallies(database.survey("small").id, 0, 1).respondents == 1


def test_sending_again_counts_once(
    collector: Inside, survey: Survey, database: Store
) -> None:
    body = submission(survey)
    assert [collector.ask("POST", RESPONSES, body).status for _ in range(3)] == [
        204
    ] * 3
    assert counts(database).respondents == 1


def test_a_finer_stage_raises_the_response(
    collector: Inside, survey: Survey, database: Store
) -> None:
    body = submission(survey, "red", question=1)
    assert collector.ask("POST", RESPONSES, body).status == 204
    finer = submission(survey, "red", question=1, stage=1, key=body["key"])
    assert collector.ask("POST", RESPONSES, finer).status == 204
    assert [each.respondents for each in counts(database, 1).finest] == [0, 1, 0]


def changed(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a body with another field, or with another field of its response."""
    inside = {
        name: value
        for name, value in changes.items()
        if name in body["responses"][0]
    }
    outside = {name: value for name, value in changes.items() if name not in inside}
    return {**body, "responses": [{**body["responses"][0], **inside}], **outside}


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"symbol": "perhaps"}, 400, "not a response of this design"),
        ({"design": "sha256:" + "0" * 64}, 409, "not one of 'smokes'"),
        ({"question": "nothing"}, 400, "there is no question"),
        ({"survey": "sha256:" + "0" * 64}, 409, "was sent to the definition"),
        ({"group": "west"}, 400, "there is no group"),
        ({"key": "0" * 31}, 422, "$.key"),
        ({"key": "G" * 32}, 422, "$.key"),
        ({"responses": []}, 422, "$.responses"),
        ({"answer": "yes"}, 422, "unknown field `answer`"),
        ({"survey": 1}, 422, "$.survey"),
    ],
)
def test_what_does_not_belong_is_refused_and_changes_nothing(
    collector: Inside,
    survey: Survey,
    database: Store,
    change: dict[str, Any],
    status: int,
    words: str,
) -> None:
    refused = collector.ask("POST", RESPONSES, changed(submission(survey), **change))
    error = refused.json["error"]
    assert refused.status == status
    assert set(error) == {"what", "expected", "next"}
    assert words in error["what"]
    assert counts(database).respondents == 0


def test_another_response_under_the_same_key_is_refused(
    collector: Inside, survey: Survey, database: Store
) -> None:
    body = submission(survey, "yes")
    collector.ask("POST", RESPONSES, body)
    assert collector.ask("POST", RESPONSES, changed(body, symbol="no")).status in {
        400,
        403,
        409,
    }
    assert counts(database).counts.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("raw", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"", "application/json", 400),
        (b'{"survey":"\xff"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 413),
        (b"[" * 50_000, "application/json", 422),
        (b"{}", "text/plain", 415),
        (b"a=b", "application/x-www-form-urlencoded", 415),
        (b" " * 70_000, "application/json", 413),
    ],
)
def test_bodies_that_are_no_submission(
    collector: Inside, raw: bytes, kind: str, status: int
) -> None:
    refused = collector.ask("POST", RESPONSES, raw, content_type=kind)
    assert refused.status == status
    assert refused.json["error"]["what"]


@pytest.mark.parametrize(
    "others",
    [{"opens": date(2999, 1, 1)}, {"closes": date(2000, 1, 1)}],
    ids=["not yet open", "closed since"],
)
def test_a_survey_takes_responses_on_its_days_only(
    database: Store, device: str, others: dict[str, date]
) -> None:
    database.create(small(name="later", **others))
    survey = database.open("later").survey
    with Inside(make_app(Settings(listed=True), database)) as collector:
        refused = collector.ask(
            "POST", "/api/surveys/later/responses", submission(survey)
        )
        assert refused.status == 409
        batch = {"content_type": "application/x-ndjson", "authorization": device}
        assert (
            collector.ask("POST", "/api/surveys/later/batches", b"", **batch).status
            == 409
        )
        listed = collector.ask("GET", "/").body
        assert b"/s/small" in listed
        assert b"/s/later" not in listed
    assert database.tallies(database.survey("later").id, 0).respondents == 0


def test_a_closed_survey_takes_withdrawals_and_gives_receipts(
    collector: Inside, survey: Survey, database: Store
) -> None:
    body = submission(survey)
    collector.ask("POST", RESPONSES, body)
    database.close("small")
    collector._app.state.collector.surveys.forget()
    assert collector.ask("POST", RESPONSES, submission(survey)).status == 409
    assert (
        len(collector.ask("POST", RECEIPTS, {"key": body["key"]}).json["responses"])
        == 1
    )
    assert collector.ask("POST", WITHDRAWALS, {"key": body["key"]}).json == {
        "withdrawn": 1,
        "overwritten": True,
    }
    assert counts(database).respondents == 0


def test_a_receipt_says_what_is_stored_and_is_signed(
    collector: Inside, survey: Survey
) -> None:
    body = submission(survey, "yes")
    collector.ask("POST", RESPONSES, body)
    receipt = collector.ask("POST", RECEIPTS, {"key": body["key"]}).body
    key = bytes.fromhex(body["key"])
    assert (
        list(StoredReceipt.from_json(receipt).check(survey, key=key))
        == body["responses"]
    )
    assert body["key"] not in receipt.decode(), (
        "whoever is shown a receipt cannot withdraw"
    )
    with pytest.raises(UnreadableFile, match="another key"):
        StoredReceipt.from_json(receipt).check(survey, key=secrets.token_bytes(16))
    with pytest.raises(Incompatible, match="of the definition"):
        StoredReceipt.from_json(receipt).check(replace(survey, keys=Keys("00" * 32)))
    parts = json.loads(receipt)
    parts["responses"] = []
    del parts["hash"], parts["schema"]
    with pytest.raises(UnreadableFile, match="not signed"):
        StoredReceipt.from_json(documents.seal("stored", parts)).check(survey)


def test_a_receipt_says_what_its_responses_reveal_in_the_words_of_the_page(
    collector: Inside, survey: Survey
) -> None:
    """Of what was sent, at the stage that was reached; signed, so that nobody says later that less was told."""
    body = submission(survey, "yes")
    smokes, colour = survey.question("smokes"), survey.question("colour")
    second = {
        "question": "colour",
        "design": colour.designs[0].hash,
        "symbol": colour.designs[0].symbols[0],
    }
    collector.ask(
        "POST", RESPONSES, {**body, "responses": [*body["responses"], second]}
    )
    receipt = collector.ask("POST", RECEIPTS, {"key": body["key"]}).json
    sent = [smokes.design, colour.designs[0]]
    assert set(receipt["reveals"]) == set(survey.languages)
    for language, told in receipt["reveals"].items():
        spoken = locale(language)
        assert told["responses"] == {
            name: " ".join(Disclosure(design.parity).response_words(spoken))
            for name, design in zip(("smokes", "colour"), sent, strict=True)
        }
        assert told["together"] == " ".join(
            Disclosure.of(sent).together_words(spoken)
        )
    del receipt["hash"], receipt["schema"]
    receipt["reveals"][survey.language]["together"] = "Nothing."
    with pytest.raises(UnreadableFile, match="not signed"):
        StoredReceipt.from_json(documents.seal("stored", receipt)).check(survey)


def test_a_receipt_says_what_the_finest_stage_reveals(
    collector: Inside, survey: Survey
) -> None:
    colour = survey.question("colour")
    responses = [
        {"question": "colour", "design": stage.hash, "symbol": stage.symbols[0]}
        for stage in colour.designs[:2]
    ]
    body = {**submission(survey, "yes"), "responses": responses}
    collector.ask("POST", RESPONSES, body)
    receipt = collector.ask("POST", RECEIPTS, {"key": body["key"]}).json
    assert receipt["responses"] == responses
    for language, told in receipt["reveals"].items():
        spoken, finest = locale(language), Disclosure(colour.designs[1].parity)
        assert told == {
            "responses": {"colour": " ".join(finest.response_words(spoken))},
            "together": " ".join(finest.together_words(spoken)),
        }


def test_an_unknown_key_has_an_empty_receipt_and_nothing_to_withdraw(
    collector: Inside,
) -> None:
    assert collector.ask("POST", RECEIPTS, {"key": "0" * 32}).json["responses"] == []
    assert collector.ask("POST", WITHDRAWALS, {"key": "0" * 32}).json == {
        "withdrawn": 0,
        "overwritten": True,
    }


@pytest.mark.parametrize(
    "key", ["0" * 31, "0" * 33, "G" * 32, "0" * 30 + "%20", None, 0]
)
def test_what_is_no_key_is_refused(collector: Inside, key: object) -> None:
    for path in (WITHDRAWALS, RECEIPTS):
        assert collector.ask("POST", path, {"key": key}).status == 422
        assert (
            collector.ask("POST", path, {"key": "0" * 32, "more": key}).status == 422
        )


def test_an_unknown_survey_is_not_found(collector: Inside) -> None:
    for method, path in (
        ("GET", ""),
        ("GET", "/keys"),
        ("POST", "/withdrawals"),
        ("POST", "/receipts"),
    ):
        assert (
            collector.ask(
                method, f"/api/surveys/nothing{path}", {"key": "0" * 32}
            ).status
            == 404
        )


def test_an_invitation_is_exchanged_once_and_admits_one(
    database: Store, device: str
) -> None:
    survey = database.create(
        small(name="closed-circle", admission="invitation")
    ).survey
    (code,) = database.invite(survey.name, 1)
    base = f"/api/surveys/{survey.name}"
    with Inside(make_app(Settings(), database)) as early:
        asked = early.ask(
            "POST", f"{base}/invitations/exchange", {"code": code, "blinded": "02"}
        )
        assert asked.status == 409, "the key of a draft may still change"
    database.open(survey.name)
    with Inside(make_app(Settings(), database)) as collector:
        key = blind.Key.from_json(
            json.dumps(collector.ask("GET", base).json["keys"]["tokens"])
        )
        message = blind.prepare()
        blinded, factor = blind.blind(message, key)
        wanted = {"code": code, "blinded": key.digits(blinded)}
        signed = int(
            collector.ask("POST", f"{base}/invitations/exchange", wanted).json[
                "signature"
            ],
            16,
        )
        token = {
            "message": message.hex(),
            "signature": key.digits(blind.unblind(message, signed, factor, key)),
        }
        assert (
            collector.ask("POST", f"{base}/responses", submission(survey)).status
            == 403
        )
        assert (
            collector.ask(
                "POST", f"{base}/responses", submission(survey, token=token)
            ).status
            == 204
        )
        assert (
            collector.ask(
                "POST", f"{base}/responses", submission(survey, token=token)
            ).status
            == 403
        )
        other = {"code": code, "blinded": key.digits(blind.blind(message, key)[0])}
        assert (
            collector.ask("POST", f"{base}/invitations/exchange", other).status
            == 403
        )
        batch = {"content_type": "application/x-ndjson", "authorization": device}
        refused = collector.ask(
            "POST",
            f"{base}/batches",
            json.dumps(submission(survey)).encode(),
            **batch,
        )
        assert (refused.status, refused.json["error"]["what"]) == (
            403,
            "this survey is by invitation.",
        )
    assert database.tallies(database.survey(survey.name).id, 0).respondents == 1
