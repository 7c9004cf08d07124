"""A rogue collector gets nothing from a browser: limits, pinned definitions, signatures, as in Python."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deniable.designs import FAMILIES, Design, direct, k_ary, product, unary, warner
from deniable.order.relaxation import ladder
from deniable.survey import Keys, Survey, SurveyArm, comprehension_check
from deniable.survey.author import make_key, sign
from deniable.survey.catalogue import LANGUAGES, locale
from deniable.survey.limits import BUDGET, CEILING
from tests.support import browser
from tests.support.ed25519 import ORDER, RFC8032, SMALL_ORDER
from tests.support.respondents import BROWSER, Coming, Running, Visit
from tests.support.surveys import COLOURS, question, small

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

EXAMPLES = [
    family.build(**example)
    for family in FAMILIES.values()
    for example in family.examples
]
DESIGNS = [each for each in EXAMPLES if isinstance(each, Design)]
BARE = question("smokes", direct(["no", "yes"]), acknowledge=math.inf)


def test_a_browser_knows_every_designs_epsilon(scripts: Page) -> None:
    designs = [
        *DESIGNS,
        product({"a": warner(epsilon=1), "b": k_ary(COLOURS, epsilon=2)}),
        direct(["no", "yes"]),
    ]
    assert len({each.name for each in designs}) > 12
    found = browser.run(scripts, "epsilons", [each.to_json() for each in designs])
    for design, epsilon in zip(designs, found, strict=True):
        assert epsilon == pytest.approx(design.epsilon, abs=1e-10), design


def test_the_limits_are_those_of_python(scripts: Page) -> None:
    assert browser.run(scripts, "limits", None) == [CEILING, BUDGET]


@pytest.mark.parametrize(
    ("design", "options", "refused"),
    [
        (direct(["no", "yes"]), {}, True),
        (direct(["no", "yes"]), {"ceiling": 1e9}, True),
        (k_ary(["no", "yes"], epsilon="3.001"), {}, True),
        (k_ary(["no", "yes"], epsilon=3), {}, False),
        (warner(epsilon=1), {"ceiling": 0.999}, True),
        (warner(epsilon=1), {"ceiling": 1}, False),
        (k_ary(["no", "yes"], epsilon=10), {"ceiling": 10}, False),
        (warner(epsilon=1), {"ceiling": None}, True),
        (warner(epsilon=1), {"ceiling": "many"}, True),
    ],
)
def test_nothing_is_drawn_beyond_the_ceiling(
    scripts: Page, design: Design, options: dict[str, Any], refused: bool
) -> None:
    found = browser.run(
        scripts,
        "call",
        [["readDesign", design.to_json(), options], ["respond", None, "yes"]],
    )
    assert ("name" in found) is refused
    if refused:
        assert found["name"] == (
            "OverBudget"
            if isinstance(options.get("ceiling", 3), int | float)
            else "InvalidRequest"
        )
        assert found["known"]


def test_a_stage_beyond_the_ceiling_is_not_raised_to(scripts: Page) -> None:
    stages = ladder([k_ary(COLOURS, epsilon=epsilon) for epsilon in (1, 2, 5)])
    sent = {"design": stages.designs[0].hash, "symbol": "red"}
    for stage, options, name in (
        (1, {}, None),
        (2, {}, "OverBudget"),
        (1, {"ceiling": 1}, "OverBudget"),
        (2, {"ceiling": 5}, None),
    ):
        steps = [
            ["readLadder", stages.to_json(), options],
            ["upgrade", None, stage, sent, "red"],
        ]
        assert browser.run(scripts, "call", steps).get("name") == name
    planned = [["readLadder", stages.to_json()], ["releasePlanned", None, "red"]]
    assert browser.run(scripts, "call", planned)["name"] == "OverBudget"


def rogue(*questions: Any) -> Survey:
    return small(questions=questions, acknowledge=math.inf, keys=Keys("0" * 64))


def test_a_definition_beyond_the_limits_or_of_another_hash_is_not_obeyed(
    scripts: Page,
) -> None:
    def read(survey: Survey, **options: Any) -> Any:
        options = {"definition": survey.hash[7:], **options}
        return browser.run(
            scripts, "call", [["readSurvey", survey.to_json(), options]]
        ).get("name")

    honest = small(
        questions=(
            question("one", warner(epsilon=3)),
            question("two", unary(5, epsilon=3)),
        ),
        keys=Keys("0" * 64),
    )
    much = rogue(
        question("one", warner(epsilon=3)),
        question("two", warner(epsilon=3)),
        question("three", warner(epsilon=1)),
    )
    assert read(honest) is None
    assert read(honest, definition="0" * 64) == "Incompatible"
    assert read(honest, definition=None) == "Incompatible"
    assert read(honest, budget=5) == "OverBudget"
    assert read(much) == "OverBudget"
    assert read(much, budget=7) is None
    assert read(much, acknowledged=True) is None, (
        "the page tells what the definition states"
    )
    assert read(rogue(BARE)) == "OverBudget"
    device = question("one", warner(epsilon=1))
    check = comprehension_check("check", "sent", [device])
    checked = small(questions=(device, check), keys=Keys("0" * 64))
    assert read(checked) == "OverBudget", "a check is sent as it is"
    assert read(checked, acknowledged=True) is None


@pytest.mark.parametrize("dearest", [0, 1, 2])
def test_the_dearest_arm_and_the_dearest_draw_count(
    scripts: Page, dearest: int
) -> None:
    """Of arms, and of questions of which some are drawn, one alone goes beyond the budget; wherever it stands."""
    epsilons = [3 if number == dearest else 1 for number in range(3)]
    asked = [
        question(f"q-{number}", warner(epsilon=epsilon))
        for number, epsilon in enumerate(epsilons)
    ]
    arms = tuple(
        SurveyArm(f"arm-{number}", (each.name,)) for number, each in enumerate(asked)
    )
    for survey in (
        small(questions=tuple(asked), arms=arms, keys=Keys("0" * 64)),
        small(questions=tuple(asked), each=1, keys=Keys("0" * 64)),
    ):
        for budget, name in ((3, None), (2.9, "OverBudget")):
            options = {"definition": survey.hash[7:], "budget": budget}
            steps = [["readSurvey", survey.to_json(), options]]
            assert browser.run(scripts, "call", steps).get("name") == name


@pytest.mark.parametrize("acknowledged", [False, True])
def test_what_is_called_a_check_counts_in_all_but_a_page(
    scripts: Page, acknowledged: bool
) -> None:
    """A page tells people that a check is sent as it is; whoever uses the module by itself has told nobody."""
    asked = question("smokes", warner(epsilon=1))
    check = comprehension_check("understood", "certain", [asked])
    survey = small(questions=(asked, check), keys=Keys("0" * 64))
    for budget, name in (
        (6, None if acknowledged else "OverBudget"),
        (math.inf, None),
    ):
        options = {
            "definition": survey.hash[7:],
            "budget": budget,
            "acknowledged": acknowledged,
        }
        steps = [["readSurvey", survey.to_json(), options]]
        assert browser.run(scripts, "call", steps).get("name") == name


def test_signatures_are_verified_as_in_python(scripts: Page) -> None:
    good = [[message, signature, public] for public, message, signature in RFC8032]
    public, message, signature = RFC8032[1]
    number = int.from_bytes(bytes.fromhex(signature[64:]), "little") + ORDER
    bad = [
        ["73", signature, public], [message, signature, RFC8032[0][0]], [message, "00" + signature[2:], public],
        [message, signature[:64] + number.to_bytes(32, "little").hex(), public], [message, signature[:-2], public],
        *(["00", "01" + "00" * 63, each] for each in SMALL_ORDER),
    ]  # fmt: skip
    assert browser.run(scripts, "verified", good) == [True] * len(good)
    assert browser.run(scripts, "verified", bad) == [False] * len(bad)


def link_of(running: Running, name: str = "browser", **parts: str) -> str:
    fragment = {"definition": running.store.survey(name).survey.hash[7:], **parts}
    return f"/s/{name}#" + "&".join(
        f"{key}={value}" for key, value in fragment.items()
    )


def complaint(found: Visit) -> str:
    found.page.wait_for_selector("#problem:not(:empty)")
    return found.page.inner_text("#problem")


def test_the_page_is_of_the_definition_that_the_link_names(
    visit: Coming, running: Running
) -> None:
    words = locale("en").words
    with visit() as found:
        found.go(link_of(running))
        found.wait()
        assert not found.page.is_visible("#unnamed")
        assert found.answer(1) == ""
        assert len(found.sent()) == 1
    with visit() as found:
        found.go("/s/browser")
        found.wait()
        assert found.page.inner_text("#unnamed") == words["consent"]["unnamed"]
    for wrong in (
        link_of(running, definition="0" * 64),
        link_of(running, definition=""),
    ):
        with visit() as found:
            found.go(wrong)
            assert complaint(found) == words["problem"]["link"]
            assert found.page.locator("[data-next]:visible").count() == 0
            assert found.sent() == []


def test_the_page_is_signed_by_the_author_that_the_link_names(
    visit: Coming, running: Running, tmp_path: Path
) -> None:
    public, other = make_key(tmp_path / "key"), make_key(tmp_path / "other")
    running.store.keep_signature(
        "several", sign(running.store.survey("several").survey, tmp_path / "key")
    )
    with visit() as found:
        found.page.wait_for_timeout(1100)  # a definition is remembered for a second
        found.go(link_of(running, "several", author=public))
        found.wait()
        found.go("/s/physical")
        found.go(link_of(running, "several", author=other))
        assert complaint(found) == locale("en").words["problem"]["link"]
        assert found.sent() == []


@pytest.mark.parametrize(
    "swapped",
    [
        lambda: small(
            name="browser",
            questions=(BARE,),
            acknowledge=math.inf,
            keys=Keys("0" * 64),
        ),
        lambda: BROWSER,
    ],
    ids=["the bare truth", "other keys"],
)
def test_a_definition_that_is_swapped_behind_the_page_is_not_obeyed(
    visit: Coming, running: Running, swapped: Callable[[], Survey]
) -> None:
    with visit() as found:

        def answer(route: Route) -> None:
            route.fulfill(body=swapped().to_json(), content_type="application/json")

        found.page.route("**/api/surveys/browser", answer)
        found.go(link_of(running))
        assert complaint(found) == locale("en").words["problem"]["definition"]
        assert found.sent() == []


def test_a_receipt_that_is_not_signed_with_the_key_of_the_definition_is_refused(
    visit: Coming, running: Running
) -> None:
    with visit() as found:
        found.go(link_of(running))
        found.wait()
        found.answer(1)

        def forge(route: Route) -> None:
            body = json.loads(route.fetch().text())
            body["responses"][0]["symbol"] = (
                "okapi" if body["responses"][0]["symbol"] != "okapi" else "numbat"
            )
            route.fulfill(body=json.dumps(body), content_type="application/json")

        found.page.route("**/api/surveys/browser/receipts", forge)
        found.page.click("#receipt")
        assert complaint(found) == locale("en").words["problem"]["receipt"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("query", ["", "&group=South"])
def test_how_many_groups_there_are_is_told(
    visit: Coming, language: str, query: str
) -> None:
    expected = locale(language).words["consent"]["group_known"].format(count=2)
    with visit() as found:
        found.go(f"/s/physical?lang={language}{query}")
        found.wait()
        assert expected in found.page.inner_text("[data-step=consent]")
    with visit() as found:
        found.go(f"/s/browser?lang={language}")
        found.wait()
        assert expected not in found.page.inner_text("main")
