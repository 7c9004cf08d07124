"""Pages with equal contents are rendered once, in a thread, and hold nothing of another visitor."""

from __future__ import annotations

import re
import threading

import httpx
import pytest

from deniable.collector.app import make_app
from deniable.collector.pages import analyst as analyst_pages
from deniable.collector.pages import respondent
from deniable.collector.pages.render import Context, render
from deniable.collector.settings import Settings
from deniable.collector.store import Store
from tests.support.collector import Inside, listening


@pytest.fixture
def renders(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The templates of pages as they are rendered; nothing is kept before."""
    seen: list[str] = []

    def counted(context: Context) -> str:
        seen.append(context.TEMPLATE)
        return render(context)

    monkeypatch.setattr(respondent, "render", counted)
    monkeypatch.setattr(respondent, "_kept", {})
    return seen


def page(collector: Inside, path: str = "/s/small") -> str:
    found = collector.ask("GET", path, accept="text/html")
    assert found.status == 200
    return found.body.decode()


def test_equal_contents_are_rendered_once(
    collector: Inside, database: Store, renders: list[str]
) -> None:
    assert len({page(collector) for _ in range(3)}) == 1
    assert len(renders) == 1
    for number, path in enumerate(
        ("/s/small?group=north", "/s/small?group=south"), 2
    ):
        assert page(collector, path) == page(collector, path)
        assert len(renders) == number, "another group is another page"
    database.close("small")
    collector._app.state.collector.surveys.forget()
    page(collector)
    assert len(renders) == 4, "so is another state"


def test_nobody_sees_what_is_in_the_form_of_another(
    collector: Inside, database: Store, renders: list[str]
) -> None:
    database.close("small")
    collector._app.state.collector.surveys.forget()
    found = [
        set(re.findall(r'type="hidden"[^>]* value="([^"]{16,})"', page(collector)))
        for _ in range(3)
    ]
    shared = set.intersection(*found)
    assert len(renders) == 1
    assert not shared & {respondent._BLANK.value, respondent._BLANK.key}
    own = [each - shared for each in found]
    assert all(own), "every visitor has values of their own"
    assert not own[0] & own[1]
    assert not own[1] & own[2]


def test_so_many_pages_are_kept_and_no_more(
    collector: Inside, renders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(respondent, "PAGES_KEPT", 3)
    for number in range(10):
        page(collector, f"/s/small?group={number}")
    assert len(respondent._kept) == 3
    assert len(renders) == 10


@pytest.mark.parametrize(
    ("module", "path"),
    [
        (respondent, "/s/small"),
        (respondent, "/"),
        (respondent, "/preview/small"),
        (analyst_pages, "/a/plan"),
    ],
)
def test_a_page_being_rendered_keeps_nobody_waiting(
    database: Store,
    analyst: str,
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    path: str,
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(context: Context) -> str:
        begun.set()
        assert go_on.wait(30)
        return render(context)

    monkeypatch.setattr(module, "render", slow)
    monkeypatch.setattr(respondent, "_kept", {})
    with listening(make_app(Settings(), database)) as address:
        got: list[int] = []
        headers = {"authorization": analyst, "accept": "text/html"}
        asking = threading.Thread(
            target=lambda: got.append(
                httpx.get(address + path, headers=headers).status_code
            )
        )
        asking.start()
        assert begun.wait(30)
        assert httpx.get(f"{address}/health", timeout=20).status_code == 200
        assert not got, "the page is still being rendered"
        go_on.set()
        asking.join(30)
    assert got == [200]


def test_what_a_cookie_says_is_no_markup(
    collector: Inside, database: Store, renders: list[str]
) -> None:
    database.close("small")
    collector._app.state.collector.surveys.forget()
    cookies = "; ".join(
        f"{prefix}deniable-form=x<b>planted" for prefix in ("", "__Host-")
    )
    found = collector.ask(
        "GET", "/s/small", accept="text/html", cookie=cookies
    ).body.decode()
    assert "x&lt;b&gt;planted" in found
    assert "<b>planted" not in found
    assert len(renders) == 1
