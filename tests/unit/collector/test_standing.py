"""What a survey is today: each is said as what it is, to people in their language and to programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Store
from deniable.survey.catalogue import LANGUAGES
from tests.support import respondents
from tests.support.collector import Inside, submission

Fielded = Callable[..., Store]
SAID = {
    "early": {
        "en": "opens on 31 January 2999", "de": "beginnt am 31. Januar 2999",
        "es": "empieza el 31 de enero de 2999", "fr": "ouvre le 31 janvier 2999", "ar": "31 يناير 2999",
    },
    "over": {
        "en": "last day of this survey was 2 March 2001", "de": "letzte Tag dieser Umfrage war der 2. März 2001",
        "es": "fue el 2 de marzo de 2001", "fr": "était le 2 mars 2001", "ar": "2 مارس 2001",
    },
    "closed": {
        "en": "closed by those who run it", "de": "von denen geschlossen, die sie durchführen",
        "es": "la han cerrado", "fr": "a été fermée par ceux qui la mènent", "ar": "أغلق القائمون",
    },
}  # fmt: skip
DAYS: dict[str, Any] = {
    "early": {"opens": date(2999, 1, 31)},
    "over": {"closes": date(2001, 3, 2)},
    "closed": {},
}
REFUSED = {
    "early": "opens on 2999-01-31",
    "over": "closed on 2001-03-02, its last day",
    "closed": "was closed by those",
}


@pytest.fixture
def fielded(database: Store) -> Fielded:
    def field(standing: str) -> Store:
        database.create(replace(respondents.BROWSER, name="later", **DAYS[standing]))
        database.open("later")
        if standing == "closed":
            database.close("later")
        return database

    return field


@pytest.mark.parametrize("standing", SAID)
def test_a_page_says_why_nothing_is_taken(fielded: Fielded, standing: str) -> None:
    with Inside(make_app(Settings(), fielded(standing))) as collector:
        for language in LANGUAGES:
            page = collector.ask("GET", f"/s/later?lang={language}").body.decode()
            others = [
                each[language] for name, each in SAID.items() if name != standing
            ]
            assert SAID[standing][language] in page
            assert not [each for each in others if each in page]
            assert "data-step" not in page, "nothing is asked that could not be sent"


@pytest.mark.parametrize("standing", SAID)
def test_a_program_is_told_why_nothing_is_taken(
    fielded: Fielded, standing: str
) -> None:
    store = fielded(standing)
    with Inside(make_app(Settings(), store)) as collector:
        refused = collector.ask(
            "POST",
            "/api/surveys/later/responses",
            submission(store.survey("later").survey),
        )
        assert (
            refused.status,
            REFUSED[standing] in refused.json["error"]["what"],
        ) == (
            409,
            True,
        )
        assert refused.json["error"]["next"]
