"""What every request passes: errors in one shape, nothing secret in the log, counts without names of people."""

from __future__ import annotations

import json
import logging
import re
import time
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deniable.collector import monitoring
from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Store, StoreFailed
from deniable.survey import Survey
from deniable.survey.survey import RESERVED
from tests.support.collector import Inside, submission
from tests.support.commands import done

SECRET = "quagga-1f3870be"


@pytest.fixture
def broken(database: Store) -> Inside:
    """A collector with a route that fails in a way that nobody expected, with somebody's words in the error."""

    async def fail(request: Request) -> Response:
        raise RuntimeError(SECRET + request.url.path)

    app = make_app(Settings(), database)
    app.router.routes.insert(0, Route("/broken/{word}", fail))
    return Inside(app)


def test_a_mistake_of_ours_is_told_without_its_words(
    broken: Inside, caplog: pytest.LogCaptureFixture
) -> None:
    with broken, caplog.at_level(logging.INFO):
        answered = broken.ask("GET", f"/broken/{SECRET}?{SECRET}", cookie=SECRET)
    assert answered.status == 500
    assert answered.json["error"]["what"] == "the collector made a mistake."
    lines = [monitoring.JsonLines().format(each) for each in caplog.records]
    assert SECRET not in "".join(lines)
    crash, request = (json.loads(each) for each in lines)
    assert (crash["event"], crash["kind"], crash["route"]) == (
        "crash",
        "RuntimeError",
        "/broken/{word}",
    )
    assert set(request) == {
        "at",
        "level",
        "event",
        "method",
        "route",
        "status",
        "ms",
    }


def test_a_database_that_fails_is_told_as_such(
    collector: Inside,
    survey: Survey,
    database: Store,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise StoreFailed(
            "/srv/collector.db could not be written (disk full); nothing was stored.",
            "Make room.",
        )

    monkeypatch.setattr(database, "add", fail)
    refused = collector.ask(
        "POST", "/api/surveys/small/responses", submission(survey)
    )
    assert refused.status == 503
    assert refused.json["error"] == {
        "what": "the collector cannot read or store anything now; nothing was changed.",
        "expected": "",
        "next": "Try again in a moment.",
    }
    assert "/srv/collector.db" in monitoring.JsonLines().format(caplog.records[0]), (
        "those who run it are told more"
    )


def test_people_get_a_page_and_programs_json(collector: Inside) -> None:
    page = collector.ask("GET", "/nothing", accept="text/html,*/*")
    assert page.status == 404
    assert page.headers["content-type"].startswith("text/html")
    assert b"<h1>There is nothing at this address.</h1>" in page.body
    assert collector.ask("GET", "/nothing").json["error"]["next"]
    assert collector.ask("GET", "/api/nothing", accept="text/html").json["error"][
        "what"
    ]
    assert collector.ask("PUT", "/health").status == 405


def test_people_who_type_a_slash_come_to_the_results(
    collector: Inside, analyst: str
) -> None:
    slash = collector.ask("GET", "/a/", accept="text/html")
    assert (slash.status, slash.headers["location"]) == (303, "/a/login")
    slash = collector.ask("GET", "/a/", accept="text/html", authorization=analyst)
    assert (slash.status, slash.headers["location"]) == (308, "/a")
    assert (
        b"Results are at /a"
        in collector.ask("GET", "/results", accept="text/html").body
    )


def test_the_command_of_the_sign_in_page_works(
    collector: Inside, tmp_path: Path
) -> None:
    """As it stands there, with a name in the place of NAME."""
    page = collector.ask("GET", "/a/login", accept="text/html").body.decode()
    (command,) = re.findall("<code>deniable (survey token NAME)</code>", page)
    told = done(
        *command.replace("NAME", "ann").split(),
        "--database",
        tmp_path / "deniable.db",
    ).stdout
    assert len(told.strip()) > 20


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/s/small", "GET, HEAD, POST"),
        ("/api/surveys", "GET, HEAD, POST"),
        ("/static/page.js", "GET, HEAD"),
    ],
)
def test_a_method_that_does_not_exist_is_told_which_do(
    collector: Inside, path: str, methods: str
) -> None:
    refused = collector.ask("PUT", path)
    assert (refused.status, refused.headers["allow"]) == (405, methods)
    assert refused.json["error"]["what"]


def test_no_survey_can_stand_where_a_page_of_the_collector_is(
    database: Store,
) -> None:
    paths = [
        each.path.split("/")
        for each in make_app(Settings(), database).routes
        if isinstance(each, Route)
    ]
    places = [parts[:-1] for parts in paths if parts[-1] == "{name}"]
    beside = {
        parts[len(each)]
        for each in places
        for parts in paths
        if len(parts) > len(each) and parts[:-1] == each
    }
    names = {each.partition(".")[0] for each in beside if not each.startswith("{")}
    assert names - {""} == RESERVED


def test_what_goes_well_leaves_no_line_and_what_does_not_leaves_no_secret(
    collector: Inside, survey: Survey, caplog: pytest.LogCaptureFixture
) -> None:
    body = submission(survey)
    with caplog.at_level(logging.DEBUG):
        assert (
            collector.ask(
                "POST", "/api/surveys/small/responses", body, client="198.51.100.7"
            ).status
            == 204
        )
        assert not [
            each for each in caplog.records if each.name == "deniable.collector"
        ]
        again = {**body, "responses": [{**body["responses"][0], "symbol": "yes"}]}
        collector.ask(
            "POST",
            "/api/surveys/small/responses",
            again,
            client="198.51.100.7",
            user_agent=SECRET,
        )
        path = f"/api/surveys/{SECRET}/receipts?{SECRET}"
        collector.ask(
            "POST", path, {"key": body["key"]}, authorization=f"Bearer {SECRET}"
        )
    lines = "\n".join(monitoring.JsonLines().format(each) for each in caplog.records)
    assert '"route":"/api/surveys/{name}/responses","status":' in lines
    assert '"route":"/api/surveys/{name}/receipts","status":404' in lines
    for secret in (body["key"], "198.51.100.7", SECRET, "smokes", "small", "yes"):
        assert secret not in lines


def test_too_many_requests_from_one_address(database: Store) -> None:
    with Inside(make_app(Settings(rate=3), database)) as collector:
        assert [
            collector.ask("GET", "/health", client="a").status for _ in range(4)
        ] == [200, 200, 200, 429]
        assert collector.ask("GET", "/health", client="b").status == 200
        refused = collector.ask("GET", "/health", client="a")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert "content-security-policy" in refused.headers


def test_too_many_responses_or_bytes_from_one_address(
    database: Store, survey: Survey
) -> None:
    path = "/api/surveys/small/responses"
    body = submission(survey)
    body["responses"] += submission(survey, "red", question=1)["responses"]
    with Inside(make_app(Settings(rate_responses=4), database)) as collector:
        assert [
            collector.ask("POST", path, body, client="a").status for _ in range(3)
        ] == [204, 204, 429]
        assert collector.ask("POST", path, body, client="b").status == 204
    size = len(json.dumps(body))
    with Inside(make_app(Settings(rate_bytes=2 * size), database)) as collector:
        assert [
            collector.ask("POST", path, body, client="a").status for _ in range(3)
        ] == [204, 204, 429]
        assert collector.ask("POST", path, body, client="b").status == 204


def test_more_bodies_than_there_is_room_for_are_turned_away(
    database: Store, survey: Survey
) -> None:
    path = "/api/surveys/small/responses"
    bodies = [("POST", path, submission(survey), {}) for _ in range(20)]
    room = 5 * len(json.dumps(bodies[0][2])) + 10
    with Inside(make_app(Settings(bodies=2 * room), database)) as collector:
        found = [each.status for each in collector.ask_all(bodies)]
        assert {204, 503} == set(found)
        assert found.count(204) == 5
        assert collector.ask(*bodies[-1][:3]).status == 204, (
            "what they took is given back"
        )


def test_a_proxy_that_nobody_has_named_leaves_one_line(
    collector: Inside, caplog: pytest.LogCaptureFixture
) -> None:
    believed = {"client": "198.51.100.7", "x_forwarded_for": "198.51.100.7"}
    unknown = {"client": "10.88.0.1", "x_forwarded_for": "198.51.100.7"}
    for asked, lines in ((believed, 0), (unknown, 1), (unknown, 1)):
        assert collector.ask("GET", "/health", **asked).status == 200
        said = [
            each
            for each in caplog.records
            if "proxy is not named" in each.getMessage()
        ]
        assert len(said) == lines
        assert not any(
            "198.51" in monitoring.JsonLines().format(each) for each in said
        )


def test_counts_for_prometheus_name_routes_and_surveys_only(
    collector: Inside, survey: Survey, analyst: str
) -> None:
    body = submission(survey)
    for _ in range(2):
        collector.ask(
            "POST", "/api/surveys/small/responses", body, client="198.51.100.7"
        )
    collector.ask("GET", f"/{SECRET}")
    collector.ask(SECRET, "/health")
    metrics = collector._app.state.collector.metrics
    metrics._clock = lambda: time.time() + 86_400
    found = collector.ask("GET", "/metrics", authorization=analyst).body.decode()
    assert 'deniable_responses_total{outcome="stored",survey="small"} 1.0' in found
    assert 'deniable_responses_total{outcome="repeated",survey="small"} 1.0' in found
    route = "/api/surveys/{name}/responses"
    assert (
        f'deniable_requests_total{{method="POST",route="{route}",status="204"}} 2.0'
        in found
    )
    assert 'method="other"' in found
    for secret in (body["key"], "198.51.100.7", SECRET):
        assert secret not in found


def test_the_log_is_lines_of_json_and_drops_what_others_say_of_exceptions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        monitoring.configure_log()
        monitoring.log_event("survey opened", survey="small")
        try:
            raise ValueError(SECRET)
        except ValueError:
            logging.getLogger("uvicorn.error").exception(
                "Exception in ASGI application\n"
            )
        logging.getLogger("asyncio").error(
            "Task exception was never retrieved\n" + SECRET
        )
        logging.getLogger("other").warning("could not read %s", SECRET)
    finally:
        root.handlers[:], root.level = before, level
        root.setLevel(level)
        monitoring.LOGGER.setLevel(logging.NOTSET)
    lines = [json.loads(each) for each in capsys.readouterr().err.splitlines()]
    assert [each["event"] for each in lines] == [
        "survey opened", "Exception in ASGI application", "Task exception was never retrieved", "could not read %s",
    ]  # fmt: skip
    assert SECRET not in repr(lines)
