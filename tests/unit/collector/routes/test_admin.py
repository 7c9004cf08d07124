"""Surveys, invitations and tokens by administrators."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import pytest

from deniable.collector.store import Store, Token
from deniable.survey import Survey
from tests.support.collector import Inside, submission
from tests.support.surveys import small

DOCUMENT: dict[str, Any] = {
    "name": "new",
    "texts": {"en": {"title": "New"}},
    "questions": [
        {
            "name": "q",
            "design": {"family": "warner", "epsilon": 1},
            "texts": {"en": {"text": "Really?"}},
        }
    ],
}


def test_a_pilot_from_start_to_end(
    collector: Inside, database: Store, admin: str, analyst: str
) -> None:
    database.create(small(name="new"))
    for header, status in ((analyst, 403), (admin, 201), (admin, 403)):
        begun = collector.ask("POST", "/api/surveys/new/pilot", authorization=header)
        assert begun.status == status
    survey = database.survey("new-pilot").survey
    assert (
        collector.ask(
            "POST", "/api/surveys/new-pilot/responses", submission(survey)
        ).status
        == 204
    )
    told = collector.ask(
        "GET", "/api/surveys/new-pilot/tallies", authorization=analyst
    )
    assert told.json["pilot"] is True
    assert (
        collector.ask(
            "POST", "/api/surveys/new/responses", submission(survey)
        ).status
        == 409
    )
    assert b"/s/new-pilot" not in collector.ask("GET", "/").body, (
        "who is to try it is given its link"
    )
    ended = collector.ask("DELETE", "/api/surveys/new/pilot", authorization=admin)
    assert (ended.status, ended.json["state"], ended.json["name"]) == (
        200,
        "ended",
        "new-pilot",
    )
    refused = collector.ask(
        "POST", "/api/surveys/new-pilot/responses", submission(survey)
    )
    assert (refused.status, "has ended" in refused.json["error"]["what"]) == (
        409,
        True,
    )


def test_a_survey_from_draft_to_closed(collector: Inside, admin: str) -> None:
    made = collector.ask("POST", "/api/surveys", DOCUMENT, authorization=admin)
    assert (made.status, made.json["state"]) == (201, "draft")
    assert collector.ask("GET", "/api/surveys/new").status == 409, (
        "a draft is for those who hold a token"
    )
    survey = Survey.from_json(
        collector.ask("GET", "/api/surveys/new", authorization=admin).body
    )
    assert (
        collector.ask(
            "POST", "/api/surveys/new/responses", submission(survey)
        ).status
        == 409
    )
    assert (
        collector.ask("POST", "/api/surveys/new/open", authorization=admin).json[
            "state"
        ]
        == "open"
    )
    assert (
        collector.ask(
            "POST", "/api/surveys/new/responses", submission(survey)
        ).status
        == 204
    )
    frozen = collector.ask(
        "POST", "/api/surveys", {**DOCUMENT, "minimum": 1}, authorization=admin
    )
    assert frozen.status == 403
    assert (
        collector.ask("POST", "/api/surveys/new/close", authorization=admin).json[
            "state"
        ]
        == "closed"
    )
    assert (
        collector.ask(
            "POST", "/api/surveys/new/responses", submission(survey)
        ).status
        == 409
    )
    names = [
        each["name"]
        for each in collector.ask("GET", "/api/surveys", authorization=admin).json
    ]
    assert names == ["new", "small"]


def test_a_sealed_definition_is_taken_as_it_is_and_has_keys_then(
    collector: Inside, database: Store, admin: str
) -> None:
    survey = small(name="sealed")
    made = collector.ask(
        "POST", "/api/surveys", json.loads(survey.to_json()), authorization=admin
    )
    kept = database.survey("sealed").survey
    assert made.json["survey"] == kept.hash
    assert replace(kept, keys=None) == survey


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "No Slug"}, "is called"),
        ({"questions": []}, "questions"),
        (
            {"questions": [{**DOCUMENT["questions"][0], "design": "/etc/passwd"}]},
            "named by a file",
        ),
        (
            {
                "questions": [
                    {
                        **DOCUMENT["questions"][0],
                        "design": {"family": "binary", "p": 1, "q": 1},
                    }
                ]
            },
            "q",
        ),
    ],
)
def test_a_definition_that_does_not_fit_is_refused(
    collector: Inside, admin: str, change: dict[str, Any], words: str
) -> None:
    refused = collector.ask(
        "POST", "/api/surveys", {**DOCUMENT, **change}, authorization=admin
    )
    assert refused.status == 400
    assert words in refused.json["error"]["what"]
    assert collector.ask("GET", "/api/surveys/new").status == 404


def test_a_survey_with_placeholders_is_not_opened(
    collector: Inside, admin: str
) -> None:
    texts = {"en": {**DOCUMENT["texts"]["en"], "intro": "Asked by <who asks>."}}
    made = collector.ask(
        "POST", "/api/surveys", {**DOCUMENT, "texts": texts}, authorization=admin
    )
    assert made.json["state"] == "draft"
    refused = collector.ask("POST", "/api/surveys/new/open", authorization=admin)
    assert refused.status == 403
    assert "<who asks> in texts.en.intro" in refused.json["error"]["what"]
    assert (
        collector.ask("POST", "/api/surveys/new/pilot", authorization=admin).json[
            "state"
        ]
        == "open"
    )


def test_invitations_are_made_for_surveys_by_invitation(
    collector: Inside, database: Store, admin: str
) -> None:
    assert (
        collector.ask(
            "POST",
            "/api/surveys/small/invitations",
            {"count": 2},
            authorization=admin,
        ).status
        == 403
    )
    database.create(small(name="circle", admission="invitation"))
    made = collector.ask(
        "POST", "/api/surveys/circle/invitations", {"count": 2}, authorization=admin
    )
    assert (made.status, len(set(made.json["codes"]))) == (201, 2)
    assert (
        collector.ask(
            "POST",
            "/api/surveys/circle/invitations",
            {"count": 0},
            authorization=admin,
        ).status
        == 422
    )


def test_tokens_are_issued_rotated_and_revoked(
    collector: Inside, admin: str
) -> None:
    wanted = {"name": "bob", "scope": "analyst", "survey": "small"}
    first = collector.ask("POST", "/api/tokens", wanted, authorization=admin).json[
        "secret"
    ]
    path = "/api/surveys/small/tallies"
    assert collector.ask("GET", path, authorization=f"Bearer {first}").status == 200
    assert wanted in collector.ask("GET", "/api/tokens", authorization=admin).json
    second = collector.ask(
        "POST", "/api/tokens/bob/rotate", authorization=admin
    ).json["secret"]
    assert collector.ask("GET", path, authorization=f"Bearer {first}").status == 401
    assert collector.ask("GET", path, authorization=f"Bearer {second}").status == 200
    assert (
        collector.ask("DELETE", "/api/tokens/bob", authorization=admin).status == 204
    )
    assert collector.ask("GET", path, authorization=f"Bearer {second}").status == 401
    assert (
        collector.ask("DELETE", "/api/tokens/bob", authorization=admin).status == 400
    )


ADMINISTRATION = [
    ("GET", "/api/surveys"), ("POST", "/api/surveys"), ("POST", "/api/surveys/small/open"),
    ("POST", "/api/surveys/small/close"), ("POST", "/api/surveys/small/invitations"), ("GET", "/api/tokens"),
    ("POST", "/api/tokens"), ("POST", "/api/tokens/ann/rotate"), ("DELETE", "/api/tokens/ann"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), ADMINISTRATION)
def test_analysts_and_administrators_of_one_survey_do_not_administrate(
    collector: Inside, database: Store, analyst: str, method: str, path: str
) -> None:
    assert collector.ask(method, path, {}, authorization=analyst).status == 403
    assert collector.ask(method, path, {}).status == 401
    database.create(small(name="other"))
    own = database.issue_token(Token("eve", "admin", "other"))
    assert (
        collector.ask(method, path, {}, authorization=f"Bearer {own}").status == 403
    )
    assert database.survey("small").state == "open"


def test_changes_are_written_down_without_secrets(
    collector: Inside, admin: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "deniable.collector"):
        secret = collector.ask(
            "POST",
            "/api/tokens",
            {"name": "bob", "scope": "admin"},
            authorization=admin,
        ).json["secret"]
        collector.ask("POST", "/api/surveys/small/close", authorization=admin)
    told = [
        (each.getMessage(), getattr(each, "facts", {})) for each in caplog.records
    ]
    assert told == [
        ("token issued", {"scope": "admin"}),
        ("survey closed", {"survey": "small"}),
    ]
    assert secret not in repr(told)


def test_what_is_above_the_limits_is_refused_or_told_to_whoever_creates_it(
    collector: Inside, admin: str
) -> None:
    bare = {
        **DOCUMENT["questions"][0],
        "design": {"family": "warner", "epsilon": 10},
    }
    refused = collector.ask(
        "POST",
        "/api/surveys",
        {**DOCUMENT, "questions": [bare]},
        authorization=admin,
    )
    assert (refused.status, "acknowledge = 10" in refused.json["error"]["next"]) == (
        400,
        True,
    )
    known = {
        **DOCUMENT,
        "questions": [{**bare, "acknowledge": 10}],
        "acknowledge": 10,
    }
    made = collector.ask("POST", "/api/surveys", known, authorization=admin)
    assert (made.status, len(made.json["warnings"])) == (201, 2)
    assert "10" in made.json["warnings"][0]
    assert (
        collector.ask(
            "POST", "/api/surveys", {**DOCUMENT, "name": "mild"}, authorization=admin
        ).json["warnings"]
        == []
    )
