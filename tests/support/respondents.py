"""Surveys to take part in, with labels that can be searched for, and somebody who goes through the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pytest

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Store, open_store
from deniable.survey import Survey
from deniable.survey.catalogue import LANGUAGES
from tests.support.collector import listening

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, Request

ANIMALS = ["quagga", "okapi", "numbat"]
"""Categories that occur nowhere else."""

_TEXTS = {
    each: {
        "title": "Animals",
        "intro": "Who asks?",
        "consent": "Agreed?",
        "thanks": "Well done.",
        "contact": "Ann",
    }
    for each in LANGUAGES
}


def _question(
    name: str, labels: list[str] | None = None, **others: Any
) -> dict[str, Any]:
    texts: dict[str, dict[str, Any]] = {
        each: {"text": f"Which {name} is it?", "help": "One of three."}
        | ({"labels": labels} if labels else {})
        for each in LANGUAGES
    }
    return {"name": name, "texts": texts, **others}


def _survey(name: str, *questions: dict[str, Any], **others: Any) -> Survey:
    return Survey.from_document(
        {
            "name": name,
            "languages": list(LANGUAGES),
            "texts": _TEXTS,
            "questions": list(questions),
            **others,
        }
    )


_HALF = {"family": "k_ary", "categories": ANIMALS, "p": "1/2"}

BROWSER = _survey("browser", _question("animal", design=_HALF))
"""One question whose device runs in the page: half of the time the answer, else one of the two others."""

SEVERAL = _survey(
    "several",
    _question("animal", design=_HALF),
    _question("coin", design={"family": "warner", "p": "3/4"}),
    _question(
        "set", design={"family": "unary", "categories": ANIMALS, "epsilon": 1}
    ),
    _question(
        "many",
        design={
            "family": "hadamard",
            "categories": [f"beast {n}" for n in range(30)],
            "epsilon": 1,
        },
    ),
)
"""Questions of every kind of response: labels, sets, codes."""

PHYSICAL = _survey(
    "physical",
    _question(
        "animal",
        design={"family": "k_ary", "categories": ANIMALS, "p": "2/3"},
        device="physical",
    ),
    _question(
        "coin",
        design={"family": "forced_response", "honest": "1/2", "yes": "1/4"},
        device="physical",
    ),
    groups=["North", "South"],
)
"""Dice and coins: without script."""

STAGES = _survey(
    "stages", _question("animal", design={"categories": ANIMALS}, ladder=[0.5, 1, 2])
)
"""A question with stages."""

INVITED = _survey(
    "invited",
    _question("animal", design=_HALF),
    admission="invitation",
    groups=["North", "South"],
)
"""By invitation."""

INVITED_PHYSICAL = _survey(
    "invited-physical",
    _question(
        "animal",
        design={"family": "k_ary", "categories": ANIMALS, "p": "2/3"},
        device="physical",
    ),
    admission="invitation",
)
"""By invitation, with dice: without script."""

_ASKED = {
    "coffee": {"en": "Do you drink coffee?", "de": "Trinken Sie Kaffee?"},
    "drugs": {
        "en": "Have you ever taken hard drugs?",
        "de": "Haben Sie je harte Drogen genommen?",
    },
    "cheated": {
        "en": "Have you ever cheated on your taxes?",
        "de": "Haben Sie je Steuern hinterzogen?",
    },
    "last-year": {
        "en": "Did you cheat on them last year?",
        "de": "Haben Sie es letztes Jahr getan?",
    },
    "again": {"en": "Would you do it again?", "de": "Würden Sie es wieder tun?"},
}


def _yes_or_no(name: str, epsilon: float, **others: Any) -> dict[str, Any]:
    """Ask for yes or no, in words of a survey that people meet; in languages without any of their own, in English."""
    labels = {"de": ["Nein", "Ja"]}
    texts = {
        each: {
            "text": _ASKED[name].get(each, _ASKED[name]["en"]),
            "labels": labels.get(each, ["No", "Yes"]),
        }
        for each in LANGUAGES
    }
    return {
        "name": name,
        "texts": texts,
        "design": {"family": "warner", "epsilon": epsilon},
        **others,
    }


BAIT = _survey(
    "bait",
    _yes_or_no("coffee", 0.1),
    _yes_or_no("drugs", 10, acknowledge=10),
    acknowledge=10.1,
)
"""A harmless question with much protection, then one that matters with next to none."""

DEPENDENT = _survey(
    "dependent",
    _yes_or_no("cheated", 1),
    _yes_or_no("last-year", 1.5),
    _yes_or_no("again", 1),
)
"""Three questions that hang together, each well protected alone."""

DRAWN = _survey(
    "drawn",
    _yes_or_no("coffee", 3),
    _yes_or_no("drugs", 3),
    _yes_or_no("cheated", 3),
    _yes_or_no("again", 3),
    each=1,
)
"""Four questions, of which everybody is asked one: together they would cost more than anybody may be asked for."""

ARMS = _survey(
    "arms",
    _yes_or_no("coffee", 0.5),
    _yes_or_no("cheated", 1),
    _yes_or_no("again", 1)
    | {"design": {"family": "direct"}, "compare": "cheated", "acknowledge": "inf"},
    {"name": "check", "check": "certain"},
    arms=[
        {"name": "masked", "questions": ["cheated", "check"], "odds": 2},
        {"name": "open", "questions": ["again"]},
    ],
    acknowledge="inf",
)
"""Everybody is asked one question; of two arms, drawn two to one, one is asked another through a device and is checked,
and one is asked it directly."""

CROSSED = _survey(
    "crossed", _question("pair", design={"family": "crosswise", "p": "1/4"})
)
"""Responses that are not called as the categories are."""

AMOUNT = _survey(
    "amount",
    {
        "name": "income",
        "design": {"family": "number_design", "low": 0, "high": 8000, "epsilon": 2},
        "texts": {
            each: {
                "text": {"de": "Wie hoch ist Ihr Einkommen im Monat?"}.get(
                    each, "What is your monthly income?"
                )
            }
            for each in LANGUAGES
        },
    },
)
"""A number in a range."""

_PARTS = {
    "en": ["Do you smoke?", "Which animal is it?"],
    "de": ["Rauchen Sie?", "Welches Tier ist es?"],
}
TOGETHER = _survey(
    "together",
    {
        "name": "habits",
        "design": {
            "family": "product",
            "designs": {
                "smokes": {"family": "warner", "epsilon": 1},
                "animal": _HALF,
            },
        },
        "texts": {
            each: {
                "text": "Two questions, one response",
                "parts": [
                    {"text": _PARTS.get(each, _PARTS["en"])[0]}
                    | ({"labels": ["No", "Yes"]} if each == "en" else {}),
                    {
                        "text": _PARTS.get(each, _PARTS["en"])[1],
                        "help": "One of three.",
                    },
                ],
            }
            for each in LANGUAGES
        },
    },
)
"""Two questions that are asked one by one and answered together."""

CLOSED = _survey("closed", _question("animal", design=_HALF))
"""Closed after somebody has taken part."""

DRAFT = _survey("draft", _question("animal", design=_HALF))
"""Never opened."""

_ITEMS = ["bilby", "dibbler", "numbat", "potoroo", "quoll"]
"""Items that people tick, or rate; they occur nowhere else but in a response."""

TICKED = _survey(
    "ticked",
    _question(
        "animals",
        _ITEMS,
        design={
            "family": "drawn_items",
            "designs": {
                f"item{number}": {"family": "warner", "epsilon": 1}
                for number in range(len(_ITEMS))
            },
        },
    ),
)
"""Tick all that apply: one item is drawn, and something is sent about that one alone."""

RATED = _survey(
    "rated",
    _question(
        "animals",
        _ITEMS,
        design={
            "family": "lpp_club",
            "items": [f"item{number}" for number in range(len(_ITEMS))],
            "epsilon": 1,
            "low": 1,
            "high": 5,
        },
    ),
)
"""Items with a rating each: one is drawn, and something is sent about that one alone."""

MARKED = _survey(
    "marked",
    _question(
        "animals",
        _ITEMS,
        design={
            "family": "pckv_ue",
            "items": [f"item{number}" for number in range(len(_ITEMS))],
            "epsilon": 1,
            "padding": 2,
        },
    ),
)
"""Items with a weight each, and a mark for every one of them."""

WRITTEN = _survey(
    "written",
    _question(
        "name",
        ANIMALS,
        design={
            "family": "string_design",
            "epsilon": 2,
            "bloom": {"bits": 64, "hashes": 2, "cohorts": 16},
        },
    ),
)
"""A text that is entered."""

ALL = (
    BROWSER,
    SEVERAL,
    PHYSICAL,
    STAGES,
    INVITED,
    INVITED_PHYSICAL,
    BAIT,
    DEPENDENT,
    DRAWN,
    ARMS,
    CROSSED,
    AMOUNT,
    TOGETHER,
    TICKED,
    RATED,
    MARKED,
    WRITTEN,
    CLOSED,
)


Answer: TypeAlias = int | str | list[int] | dict[str, list[list[int]]]


@dataclass
class Visit:
    """Somebody with a browser of their own; what it sends and complains about is written down."""

    context: BrowserContext
    address: str
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.context.on("request", self._request)
        self.context.on("console", lambda said: self.complaints.append(said.text))
        self.context.on(
            "weberror", lambda error: self.complaints.append(str(error.error))
        )
        self.page: Page = self.context.new_page()

    def _request(self, request: Request) -> None:
        self.requests.append(request)

    def go(self, path: str) -> Page:
        """Open a page; where it has steps, wait until its script runs."""
        self.page.goto(self.address + path)
        return self.page

    def wait(self) -> None:
        """Wait until the script shows a step, or what was sent."""
        self.page.wait_for_selector(
            "[data-progress]:visible, #done:visible, #status:not(:empty)"
        )

    def take_part(self, survey: str, *answers: Answer, keep: bool = False) -> str:
        """Open a survey and go through it."""
        self.go(f"/s/{survey}")
        self.wait()
        return self.answer(*answers, keep=keep)

    def answer(self, *answers: Answer, keep: bool = False) -> str:
        """Go through all steps; return what the page complains of.

        An answer is a number, a negative one for none; text that is entered; a number for each part; or
        {"ticked": [[item, rating], …]} with ratings counted from 1, 0 where there are none.
        """
        return str(self.page.evaluate(_THROUGH, {"answers": answers, "keep": keep}))

    def sent(self) -> list[dict[str, Any]]:
        """Return the bodies of all that was posted, in order."""
        return [
            each.post_data_json for each in self.requests if each.method == "POST"
        ]

    def kept(self) -> str:
        """Return all that the browser keeps."""
        return str(
            self.page.evaluate(
                "JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie"
            )
        )


class Running(NamedTuple):
    """A collector with its store, its address, its file, and all that it was sent."""

    store: Store
    address: str
    file: Path
    traffic: list[str]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A collector with all these surveys open, until the tests of a file have ended."""
    file = tmp_path_factory.mktemp("collector") / "responses.db"
    store = open_store(file)
    for survey in ALL:
        store.create(survey)
        store.open(survey.name)
    traffic: list[str] = []
    with listening(
        recorded(
            make_app(
                Settings(database=str(file), rate=0, hold=0, listed=True), store
            ),
            traffic,
        )
    ) as address:
        yield Running(store, address, file, traffic)
    store.shut()


def recorded(app: Any, traffic: list[str]) -> Any:
    """Write down every request that arrives: method, address, all headers, body."""

    async def recording(scope: Any, receive: Any, send: Any) -> None:
        body = bytearray()

        async def receiving() -> Any:
            message = await receive()
            body.extend(message.get("body", b""))
            return message

        async def sending(message: Any) -> None:
            # before anybody can know that it was answered
            if message["type"] == "http.response.start":
                address = f"{scope['method']} {scope['path']}?{scope['query_string'].decode()}"
                traffic.append(
                    f"{address} {sorted(scope['headers'])} {body.decode()}"
                )
            await send(message)

        await app(scope, receiving, sending)

    return recording


Coming: TypeAlias = Callable[..., AbstractContextManager[Visit]]


@pytest.fixture
def visit(chromium: Browser, running: Running) -> Coming:
    """Somebody comes with a browser, which asks nobody else for anything and has nothing to complain of."""

    @contextmanager
    def coming(**options: Any) -> Iterator[Visit]:
        context = chromium.new_context(reduced_motion="reduce", **options)
        try:
            found = Visit(context, running.address)
            yield found
            assert {
                each.url
                for each in found.requests
                if not each.url.startswith(f"{running.address}/")
            } == set()
            assert found.complaints == [], found.complaints
        finally:
            context.close()

    return coming


_THROUGH = """
async ({ answers, keep }) => {
  const visible = () => document.querySelector("[data-step]:not([hidden])");
  document.querySelector("#agree").click();
  let number = 0;
  while (visible()?.offsetParent) {
    await new Promise((resume) => setTimeout(resume)); // nobody presses two buttons in one turn
    const section = visible();
    if (section.dataset.step === "question") {
      const answer = answers[number];
      number += 1;
      const [list, amount] = [section.querySelector("select"), section.querySelector("[data-amount], [data-text]")];
      const parts = section.querySelectorAll("[data-part]");
      if (answer?.ticked) {
        if (!answer.ticked.length) section.querySelector("[data-none]").click();
        for (const [at, rating] of answer.ticked) {
          parts[at].querySelector("input").click();
          if (rating) parts[at].querySelector("select").value = String(rating);
        }
      }
      else if (Array.isArray(answer)) answer.forEach((each, at) => parts[at].querySelectorAll("input")[each]?.click());
      else if (typeof answer === "string") amount.value = answer;
      else if (list && answer >= 0) list.selectedIndex = answer + 1;
      else if (answer >= 0) section.querySelectorAll("input[type=radio]")[answer].click();
      if (keep) section.querySelector("[data-keep]").click();
      section.querySelector(typeof answer === "number" && answer < 0 ? "[data-skip]" : "[data-next]").click();
    } else section.querySelector("[data-next]").click();
    for (let turns = 0; visible() === section && section.offsetParent; turns += 1) {
      if (turns === 2000) return `stuck in ${section.dataset.step}`;
      if (document.querySelector("#problem").textContent) return document.querySelector("#problem").textContent;
      await new Promise((resume) => setTimeout(resume, 5));
    }
  }
  return "";
}
"""
