"""What a device does with `deniable-core` alone: run by Python in an environment that holds nothing else.

It imports the standard library and `deniable`. It draws, releases and sends, then asks for everything that needs more.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import deniable as dn
from deniable.designs import FAMILIES
from deniable.errors import DeniableError, MissingExtra
from deniable.signatures import verify
from deniable.survey import Keys, Link

CATEGORIES = ["never", "once", "often"]
ITEMS = ["tea", "coffee", "milk"]
PAIRS = {"smokes": dn.warner(1), "habit": dn.k_ary(CATEGORIES, 2)}
BOTH = {"smokes": "yes", "habit": "once"}
DESIGNS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "categories": (dn.k_ary(CATEGORIES, 1), "once", {}),
    "sets": (dn.unary(CATEGORIES, 1), "once", {}),
    "subset": (dn.subset(CATEGORIES, 1), "once", {}),
    "hashed": (dn.local_hashing(CATEGORIES, 1), "once", {}),
    "hadamard": (dn.hadamard(CATEGORIES, 1), "once", {}),
    "attributes": (dn.product(PAIRS), BOTH, {}),
    "ladder": (
        dn.ladder(dn.k_ary(CATEGORIES, epsilon) for epsilon in (0.5, 1, 2)),
        "once",
        {},
    ),
    "deck": (dn.integer_deck(40, 1), "yes", {"card": 3}),
    "key-value": (dn.lpp_club(ITEMS, 1), {"tea": 0.5}, {}),
    "key-value vectors": (dn.pckv_ue(ITEMS, 1, padding=1), {"tea": 0.5}, {}),
    "key-value, one of them": (dn.pckv_grr(ITEMS, 3, padding=1), {"tea": 0.5}, {}),
    "edges": (dn.one_edge(ITEMS, 1), {"tea": 0.5}, {}),
    "strings": (
        dn.string_design(dn.Bloom(16, cohorts=4), 4),
        "Smith",
        {"cohort": 1},
    ),
    "drawn items": (dn.drawn_items(PAIRS), BOTH, {}),
    "numbers": (dn.number_design(0, 80, 1), 37.5, {}),
}


def respond_to_every_type() -> None:
    for design, answer, options in DESIGNS.values():
        assert design.from_json(design.to_json()) == design
        assert dn.respond(design, answer, **options)
    for family in FAMILIES.values():
        for design in family.designs():
            assert dn.respond(design, design.categories[0])


def release_in_stages() -> None:
    ladder = DESIGNS["ladder"][0]
    relaxation = ladder.relaxations[0]
    first = dn.respond(relaxation.old, "once")
    second = dn.upgrade(relaxation, first, "once")
    assert second.design == relaxation.new.hash
    assert dn.degrade(relaxation, second).design == relaxation.old.hash


def keep_a_ledger(folder: Path) -> None:
    ladder = DESIGNS["ladder"][0]
    with dn.Ledger.create(folder / "mine.ledger", budget=2) as ledger:
        ledger.answer("habit", "once", about=ladder)
        released = [
            ledger.release("habit", stage).response.symbol for stage in range(2)
        ]
        assert set(released) <= set(CATEGORIES)
    with dn.Ledger.open(folder / "mine.ledger") as ledger:
        assert ledger.release("habit", 2).response.symbol in CATEGORIES


def send_to_a_collector(folder: Path) -> None:
    question = dn.Question(
        "habit", DESIGNS["categories"][0], {"en": dn.QuestionTexts("How often?")}
    )
    survey = dn.Survey(
        "habits", {"en": dn.SurveyTexts("Habits")}, (question,), keys=Keys("0" * 64)
    )
    link = Link.to_survey(survey, "http://127.0.0.1:1").text
    with (
        patch(
            "deniable.client.connection.Connection.ask",
            lambda *_: survey.to_json().encode(),
        ),
        dn.Client(link, folder / "client", patience=0) as client,
    ):
        client.answer("habit", "once")
        (waiting,) = client.waiting()
        assert waiting["symbol"] in CATEGORIES


def verify_signatures() -> None:
    """Test 2 in section 7.1 of RFC 8032."""
    public = bytes.fromhex(
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    )
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert verify(b"\x72", signature, public)
    assert not verify(b"\x73", signature, public)


def missing(call: Callable[[], Any]) -> str:
    """Return what a call says about a package that is missing; nothing, where it needs none."""
    try:
        call()
    except MissingExtra as error:
        return error.hint
    return ""


def ask_for_the_rest() -> None:
    """Check that whatever needs more than the standard library says which command installs it."""
    warner, deck, ladder = dn.warner(1), dn.integer_deck(40, 1), DESIGNS["ladder"][0]
    response = dn.respond(warner, "yes")
    calls: dict[str, Callable[[], Any]] = {
        "respond_all": lambda: dn.respond_all(warner, ["yes"]),
        "tally": lambda: dn.tally(warner, [response]),
        "tally of a ladder": lambda: dn.tally(ladder, [("never", "once", "often")]),
        "tally of a deck": lambda: dn.tally(deck, [1]),
        "Tally": lambda: dn.Tally(warner, (1, 1)),
        "estimate": lambda: dn.estimate(warner),
        "plan": lambda: dn.plan.how_many(warner, share=0.1, power=0.8),
        "optimal": lambda: dn.optimal(CATEGORIES, epsilon=1),
        "picture": warner.plot,
        "simulate": lambda: dn.simulate.tallies(warner, {"yes": 1, "no": 1}, 1),
        "audit": lambda: dn.audit(warner),
        "attacks": lambda: dn.attacks.error_rates,
        "report": lambda: dn.report.chart,
        "engine": lambda: importlib.import_module("deniable.engines.local"),
        "panel": lambda: dn.Panel,
        "collector": lambda: importlib.import_module("deniable.collector.app"),
        "shell": lambda: importlib.import_module("deniable.cli.commands"),
        "Postgres": lambda: importlib.import_module("deniable.db").open_database(
            "postgresql://nowhere/none",
            "ledger",
            settings=(),
            patience=1,
            one_writer=True,
        ),
    }
    for name, call in calls.items():
        assert "pip install" in missing(call), name


def import_every_module() -> None:
    names = [
        each.name
        for each in pkgutil.walk_packages(
            dn.__path__, "deniable.", onerror=lambda _: None
        )
    ]
    assert len(names) > 100
    light = []
    for name in names:
        if name.endswith("__main__"):
            continue
        command = missing(partial(importlib.import_module, name))
        assert "pip install" in command or not command, name
        if not command:
            light.append(name.removeprefix("deniable."))
    needed = {
        "channel",
        "client.client",
        "criteria",
        "designs",
        "order.ladders",
        "release.ledger",
        "responses",
        "survey",
    }
    needed |= {
        f"types.{name}.respond"
        for name in ("drawn", "edges", "key_value", "numbers", "strings")
    }
    assert needed <= set(light)


def ask_every_method() -> None:
    """Check that no method of a design raises what Python raises without a module, whatever else it raises."""
    for design, *_ in DESIGNS.values():
        for name in dir(design):
            if name.startswith("_"):
                continue
            try:
                member = getattr(design, name)
                if callable(member):
                    member()
            except (DeniableError, TypeError, AttributeError, ValueError, OSError):
                continue


def run_the_shell() -> None:
    shell = subprocess.run(
        [sys.executable, "-m", "deniable", "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert shell.returncode == 2
    assert shell.stderr.endswith("Run: pip install deniable\n"), shell.stderr
    assert "Traceback" not in shell.stderr


def main() -> None:
    """Run everything, and print the names that are there."""
    assert not [
        name
        for name in sys.modules
        if name.partition(".")[0] in ("numpy", "scipy", "pyarrow")
    ]
    respond_to_every_type()
    release_in_stages()
    verify_signatures()
    with tempfile.TemporaryDirectory() as folder:
        keep_a_ledger(Path(folder))
        send_to_a_collector(Path(folder))
    ask_for_the_rest()
    ask_every_method()
    run_the_shell()
    import_every_module()
    print(*(name for name in dn.__all__ if not missing(partial(getattr, dn, name))))


if __name__ == "__main__":
    main()
