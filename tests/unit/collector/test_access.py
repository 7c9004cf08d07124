"""Headers on every answer, forms that only our pages can send, sessions that no other site can use."""

from __future__ import annotations

import re
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from deniable.collector.app import ENDPOINTS, make_app
from deniable.collector.middleware import POLICY
from deniable.collector.settings import Settings
from deniable.collector.store import Store, Token, credentials, open_store
from tests.support.collector import Answered, Inside

FORM = {"content_type": "application/x-www-form-urlencoded"}
PAGES = [
    "/",
    "/s/small",
    "/s/nothing",
    "/a",
    "/a/login",
    "/a/plan",
    "/nothing",
    "/static/style.css",
    "/static/no.js",
]


def test_every_answer_carries_the_headers(collector: Inside) -> None:
    for path in (*PAGES, *(row.path for row in ENDPOINTS)):
        for method in ("GET", "POST", "DELETE", "PUT"):
            headers = collector.ask(method, path, accept="text/html").headers
            assert headers["content-security-policy"] == POLICY
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert "access-control-allow-origin" not in headers
            assert "server" not in headers
            kept = headers["cache-control"]
            assert kept in {"no-store", "no-cache"}
            assert (
                kept == "no-store"
                or path.startswith("/static/")
                or path == "/api/surveys/{name}"
            )


def test_the_policy_lets_nothing_in_from_elsewhere_and_nothing_inline() -> None:
    rules = dict(each.strip().split(" ", 1) for each in POLICY.split(";"))
    assert rules["default-src"] == "'none'"
    assert (
        set(rules["script-src"].split())
        == set(rules["style-src"].split())
        == {"'self'"}
    )
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert "unsafe" not in POLICY
    assert "*" not in POLICY


def test_https_is_insisted_on_where_people_come_over_it(
    collector: Inside, database: Store
) -> None:
    assert "strict-transport-security" not in collector.ask("GET", "/").headers
    with Inside(
        make_app(Settings(address="https://survey.example"), database),
        scheme="https",
    ) as encrypted:
        assert (
            encrypted.ask("GET", "/")
            .headers["strict-transport-security"]
            .startswith("max-age=")
        )
        cookie = encrypted.ask("GET", "/a/login").headers["set-cookie"]
        assert cookie.startswith("__Host-deniable-form=")
        assert "Secure" in cookie
        for path in ("/", "/s/small", "/api/surveys/small", "/static/page.js"):
            refused = encrypted.ask("GET", path, scheme="http")
            assert refused.status == 403
            assert "https://survey.example" in refused.body.decode()
        assert encrypted.ask("GET", "/health", scheme="http").status == 200


def value_of(page: Answered) -> tuple[str, str]:
    """Return the cookie of a page with a form, and the value of its hidden field."""
    cookie = page.headers["set-cookie"].partition(";")[0]
    found = re.search(r'name="form" value="([^"]+)"', page.body.decode())
    assert found
    return cookie, found[1]


def sign_in(collector: Inside, token: str, **fields: str) -> Answered:
    cookie, value = value_of(collector.ask("GET", "/a/login"))
    body = urlencode(
        {"token": token.removeprefix("Bearer "), "form": value, **fields}
    ).encode()
    return collector.ask("POST", "/a/login", body, cookie=cookie, **FORM)


def test_a_session_opens_pages_and_downloads_but_changes_nothing(
    collector: Inside, admin: str
) -> None:
    signed = sign_in(collector, admin, next="/a/small")
    assert (signed.status, signed.headers["location"]) == (303, "/a/small")
    cookie = signed.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
    session = cookie.partition(";")[0]
    assert admin.removeprefix("Bearer ") not in cookie
    assert collector.ask("GET", "/api/surveys", cookie=session).status == 200
    assert (
        collector.ask("POST", "/api/surveys/small/close", cookie=session).status
        == 401
    )
    assert "ada" in collector.ask("GET", "/a/login", cookie=session).body.decode()


def test_signing_out_ends_a_session(collector: Inside, analyst: str) -> None:
    session = sign_in(collector, analyst).headers["set-cookie"].partition(";")[0]
    assert collector.ask("GET", "/a", cookie=session).status == 200
    form, value = value_of(collector.ask("GET", "/a/login"))
    body = urlencode({"form": value}).encode()
    assert (
        collector.ask(
            "POST", "/a/logout", body, cookie=f"{session}; {form}", **FORM
        ).status
        == 303
    )
    assert collector.ask("GET", "/a", cookie=session).status == 401


def test_a_revoked_token_ends_its_sessions(
    collector: Inside, analyst: str, database: Store
) -> None:
    session = sign_in(collector, analyst).headers["set-cookie"].partition(";")[0]
    database.revoke_token("ann")
    assert collector.ask("GET", "/a", cookie=session).status == 401


def test_whoever_is_not_signed_in_is_sent_to_the_form_and_back(
    collector: Inside,
) -> None:
    sent = collector.ask("GET", "/a/small", accept="text/html")
    assert (sent.status, sent.headers["location"]) == (303, "/a/login?next=/a/small")
    assert collector.ask("GET", "/a/small.json").status == 401


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example",
        "https://evil.example",
        "/a/../s",
        "/a//evil",
        "/s/small",
        "/a/x\\y",
    ],
)
def test_signing_in_leads_nowhere_else(
    collector: Inside, analyst: str, path: str
) -> None:
    assert sign_in(collector, analyst, next=path).headers["location"] == "/a"


def test_neither_a_wrong_token_nor_a_devices_signs_in(
    collector: Inside, device: str
) -> None:
    for token in ("dn_nothing", device):
        refused = sign_in(collector, token)
        assert refused.status == 403
        assert "session" not in refused.headers.get("set-cookie", "")
        assert token.removeprefix("Bearer ").encode() not in refused.body


@pytest.mark.parametrize("path", ["/a/login", "/a/logout", "/s/small"])
def test_forms_from_elsewhere_are_refused(collector: Inside, path: str) -> None:
    cookie, value = value_of(collector.ask("GET", "/a/login"))
    good = urlencode({"form": value, "token": "x"}).encode()
    other = urlencode({"form": value + "x", "token": "x"}).encode()
    assert collector.ask("POST", path, good, **FORM).status == 403, "no cookie"
    assert (
        collector.ask("POST", path, b"token=x", cookie=cookie, **FORM).status == 403
    ), "no field"
    assert (
        collector.ask("POST", path, b"form=", cookie="deniable-form=", **FORM).status
        == 403
    ), "both empty"
    assert collector.ask("POST", path, other, cookie=cookie, **FORM).status == 403, (
        "another field"
    )
    crossed = collector.ask(
        "POST", path, good, cookie=cookie, sec_fetch_site="cross-site", **FORM
    )
    assert crossed.status == 403


@pytest.mark.parametrize(
    "body", [b"form=%ff", b"form=\xff", b"&".join([b"a=b"] * 2000)]
)
def test_forms_that_cannot_be_read(collector: Inside, body: bytes) -> None:
    assert collector.ask("POST", "/a/login", body, **FORM).status == 400


def test_forms_that_are_too_long_or_none(collector: Inside) -> None:
    assert collector.ask("POST", "/a/login", b"a" * 70_000, **FORM).status == 413
    assert (
        collector.ask(
            "POST", "/a/login", b"{}", content_type="application/json"
        ).status
        == 415
    )


def test_a_clock_that_is_set_back_prolongs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, now = open_store(tmp_path / "store.db"), time.time()
    monkeypatch.setattr(time, "time", lambda: now - 86_400)
    assert now <= store.clock() < now + 3600
    monkeypatch.setattr(time, "time", lambda: now + 86_400)
    assert store.clock() == now + 86_400, "a machine that slept for a day"
    store.shut()


def test_sessions_end_by_themselves(database: Store, analyst: str) -> None:
    now, token = [0.0], analyst.removeprefix("Bearer ")
    database.clock = lambda: now[0]
    name = database.start_session(token, seconds=7200)
    now[0] = 7199
    assert (
        database.find_session(name)
        == database.find_token(token)
        == Token("ann", "analyst")
    )
    now[0] = 7201
    assert database.find_session(name) is None
    now[0] = 100
    assert database.find_session(name) is None, "the clock was set back"
    now[0] = 7201
    database.start_session(token, seconds=7200)
    with database.transaction(write=False) as tables:
        ((*kept, _),) = tables.rows("SELECT * FROM session")
    assert not any(text.encode() in b"".join(kept) for text in (name, token))


def test_there_are_so_many_sessions_and_the_oldest_of_more_ends(
    database: Store, analyst: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "_MAX_SESSIONS", 3)
    token = analyst.removeprefix("Bearer ")
    names = [database.start_session(token, seconds=7200 + at) for at in range(5)]
    assert [database.find_session(name) is not None for name in names] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_respondents_get_no_cookie_from_a_page_that_draws(collector: Inside) -> None:
    assert "set-cookie" not in collector.ask("GET", "/s/small").headers
    assert "set-cookie" not in collector.ask("GET", "/").headers
