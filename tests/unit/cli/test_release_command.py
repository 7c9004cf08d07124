from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import deniable as dn
from deniable.order.relaxation import ladder
from deniable.types.strings.design import Bloom, CohortDesign, string_design
from tests.support.commands import done, run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number, epsilon in enumerate((0.5, 1, 2), start=1):
        (tmp_path / f"{number}.json").write_text(dn.warner(epsilon).to_json())
    (tmp_path / "ladder.json").write_text(
        ladder([dn.warner(epsilon) for epsilon in (0.5, 1, 2)]).to_json()
    )
    return tmp_path


@pytest.fixture
def ledger(folder: Path) -> str:
    done("release", "open", "mine.ledger", "--budget", "2.5")
    return str(folder / "mine.ledger")


def test_from_the_answer_to_the_last_stage(ledger: str) -> None:
    assert (
        "nothing"
        not in done(
            "release", "answer", ledger, "smokes", "1.json", stdin="yes\n"
        ).stdout
    )
    first = done("release", "stage", ledger, "smokes", "1.json", "--to", "Anna")
    assert dn.Response.from_json(first.stdout).design == dn.warner(0.5).hash
    assert "ε = 0.5 is spent" in first.stderr
    again = done("release", "stage", ledger, "smokes", "1.json", "--to", "Anna")
    assert again.stdout == first.stdout
    assert "released before" in again.stderr
    last = json.loads(
        done("release", "stage", ledger, "smokes", "3.json", "--json").stdout
    )
    assert (
        last["fresh"],
        last["receipt"]["epsilon_before"],
        last["receipt"]["epsilon_after"],
    ) == (True, "0.5", "2.0")
    shown = json.loads(done("release", "show", ledger, "--json").stdout)
    assert (shown["spent"], shown["budget"]) == (2.0, 2.5)
    assert [each["epsilon"] for each in shown["questions"][0]["stages"]] == [
        0.5,
        2.0,
    ]
    table = done("release", "show", ledger).stdout
    assert "all together" in table
    assert "Anna" in table


@pytest.mark.parametrize("about", [["ladder.json"], ["1.json", "2.json", "3.json"]])
def test_a_planned_question_releases_its_stages_one_by_one(
    ledger: str, about: list[str]
) -> None:
    assert (
        "3 stages are drawn"
        in done("release", "answer", ledger, "smokes", *about, stdin="no\n").stderr
    )
    designs = [
        json.loads(done("release", "stage", ledger, "smokes", *words).stdout)[
            "design"
        ]
        for words in ([], ["--number", "3"], [])
    ]
    assert designs == [dn.warner(epsilon).hash for epsilon in (0.5, 2, 1)]
    assert "not out" not in done("release", "show", ledger).stdout
    assert run("release", "stage", ledger, "smokes").exit_code == 2


def test_a_budget_is_kept_and_the_excess_is_told(ledger: str) -> None:
    done("release", "answer", ledger, "smokes", "1.json", stdin="yes\n")
    done(
        "release",
        "answer",
        ledger,
        "drinks",
        "1.json",
        "--budget",
        "0.7",
        stdin="no\n",
    )
    done("release", "stage", ledger, "smokes", "3.json")
    over = run("release", "stage", ledger, "drinks", "2.json")
    assert over.exit_code == 2
    assert "the question 'drinks'" in over.stderr
    assert "0.3 less" in over.stderr
    done("release", "stage", ledger, "drinks", "1.json")
    assert json.loads(done("release", "show", ledger, "--json").stdout)[
        "left"
    ] == pytest.approx(0, abs=1e-9)
    # nothing is left, and not a very little
    assert "e-" not in done("release", "show", ledger).stdout


def test_the_answer_is_nowhere_in_what_is_printed(ledger: str, folder: Path) -> None:
    design = dn.k_ary(["zebrafish", "other"], epsilon=1)
    (folder / "k.json").write_text(design.to_json())
    wrong = run("release", "answer", ledger, "animal", "k.json", stdin="unicorn\n")
    assert wrong.exit_code == 2
    assert "unicorn" not in wrong.output
    right = done(
        "release",
        "answer",
        ledger,
        "animal",
        "k.json",
        "--json",
        stdin="zebrafish\n",
    )
    shown = (
        done("release", "show", ledger, "--json").output
        + done("release", "receipts", ledger).output
    )
    assert "zebrafish" not in right.output + shown


def test_the_answer_is_asked_for_without_an_echo(ledger: str, folder: Path) -> None:
    """At a terminal; nor is it an argument that others on the machine can see."""
    ours, theirs = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "deniable.cli", "release", "answer", ledger, "smokes", "1.json"],
        cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    seen = _read_until(ours, b"Your answer")
    deadline = time.monotonic() + 120
    # what is typed before echoing goes off is thrown away
    while termios.tcgetattr(ours)[3] & termios.ECHO:
        assert time.monotonic() < deadline, seen
        time.sleep(0.01)
    os.write(ours, b"yes\n")
    seen += _read_until(ours, b"answered 'smokes'")
    assert program.wait(60) == 0, seen
    os.close(ours)
    assert b"yes" not in seen


def _read_until(terminal: int, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        assert select.select([terminal], [], [], 120)[0], seen
        seen += os.read(terminal, 1000)
    return seen


def test_histories_are_written_and_verified(ledger: str, folder: Path) -> None:
    done("release", "answer", ledger, "smokes", "1.json", stdin="yes\n")
    kept = json.loads(
        done("release", "stage", ledger, "smokes", "1.json", "--json").stdout
    )["receipt"]
    (folder / "kept.json").write_text(json.dumps(kept))
    done("release", "stage", ledger, "smokes", "2.json")
    done("release", "receipts", ledger, "--out", "history.ndjson")
    # it is there already
    assert (
        run("release", "receipts", ledger, "--out", "history.ndjson").exit_code == 2
    )
    told = done(
        "release",
        "verify",
        "history.ndjson",
        "--ledger",
        ledger,
        "--holding",
        "kept.json",
        "--json",
    )
    assert json.loads(told.stdout)["receipts"] == 2
    lines = (folder / "history.ndjson").read_text().splitlines()
    for wrong in (
        lines[:-1],
        lines[1:],
        [lines[1], lines[0], lines[2]],
        [lines[0].replace("smokes", "drinks"), *lines[1:]],
    ):
        (folder / "wrong.ndjson").write_text("\n".join(wrong))
        assert run("release", "verify", "wrong.ndjson").exit_code == 4
    done("release", "stage", ledger, "smokes", "3.json")
    # one receipt behind
    assert (
        run("release", "verify", "history.ndjson", "--ledger", ledger).exit_code == 3
    )


def test_withdrawal_tells_what_cannot_be_undone(ledger: str) -> None:
    done("release", "answer", ledger, "smokes", "ladder.json", stdin="yes\n")
    done("release", "stage", ledger, "smokes", "--to", "Anna")
    done("release", "forget", ledger, "smokes")
    told = done("release", "withdraw", ledger, "smokes").stdout
    assert "Cannot be undone" in told
    assert "Anna" in told
    assert run("release", "stage", ledger, "smokes").exit_code == 2
    assert "withdrawn" in done("release", "show", ledger).stdout
    done("release", "answer", ledger, "drinks", "1.json", stdin="yes\n")
    assert json.loads(done("release", "withdraw", ledger, "--json").stdout)[
        "questions"
    ] == ["drinks"]


def test_stages_are_sold(ledger: str) -> None:
    done("release", "answer", ledger, "smokes", "1.json", stdin="yes\n")
    assert (
        run(
            "release",
            "offer",
            ledger,
            "smokes",
            "1.json",
            "2.json",
            "--prices",
            "5,3",
        ).exit_code
        == 2
    )
    done(
        "release",
        "offer",
        ledger,
        "smokes",
        "1.json",
        "2.json",
        "3.json",
        "--prices",
        "1,2,5",
        "--currency",
        "EUR",
    )
    # no consent
    assert run("release", "sell", ledger, "smokes", "Anna", "-n", "1").exit_code == 2
    done(
        "release",
        "consent",
        ledger,
        "smokes",
        "*",
        "--up-to",
        "3",
        "--purpose",
        "a study",
    )
    first = done("release", "sell", ledger, "smokes", "Anna", "-n", "2")
    assert "'Anna' owes 2 EUR" in first.stderr
    second = done("release", "sell", ledger, "smokes", "Bert", "-n", "2")
    assert second.stdout == first.stdout
    third = json.loads(
        done("release", "sell", ledger, "smokes", "Anna", "-n", "3", "--json").stdout
    )
    assert (third["price"], third["receipt"]["details"]["purpose"]) == (
        "3",
        "a study",
    )
    done("release", "revoke", ledger, "smokes", "Bert")
    assert run("release", "sell", ledger, "smokes", "Bert", "-n", "3").exit_code == 2


def test_strings_are_released_too(ledger: str, folder: Path) -> None:
    stages = [
        CohortDesign(string_design(Bloom(64), epsilon), 3) for epsilon in (1, 2)
    ]
    for number, each in enumerate(stages, start=1):
        (folder / f"s{number}.json").write_text(each.to_json())
    done("release", "answer", ledger, "surname", "s1.json", stdin="Smith\n")
    told = done("release", "stage", ledger, "surname", "s2.json")
    assert json.loads(told.stdout)["design"] == stages[1].hash
    assert "Smith" not in told.output


def test_mistakes_have_their_exit_codes(ledger: str) -> None:
    assert run("release", "open", ledger).exit_code == 2  # it is there already
    assert run("release", "show", "nothing.ledger").exit_code == 4
    assert (
        run(
            "release", "answer", ledger, "smokes", "nothing.json", stdin="yes\n"
        ).exit_code
        == 4
    )
    done("release", "answer", ledger, "smokes", "1.json", stdin="yes\n")
    assert (
        run(
            "release", "stage", ledger, "smokes", "1.json", "--number", "1"
        ).exit_code
        == 2
    )
    assert run("release", "stage", ledger, "drinks", "1.json").exit_code == 2
    assert run("release", "verify", "1.json").exit_code == 4


def test_brackets_in_names_are_no_markup(ledger: str) -> None:
    done("release", "answer", ledger, "[/b]smokes", "1.json", stdin="yes\n")
    done("release", "stage", ledger, "[/b]smokes", "1.json", "--to", "[red]Anna")
    table = done("release", "show", ledger).stdout
    assert "[/b]smokes" in table
    assert "[red]Anna" in table


def test_a_history_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "noise").write_bytes(bytes(range(256)))
    result = run("release", "verify", "noise")
    assert result.exit_code == 4
    assert "no text" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["forget"],
        ["withdraw"],
        ["revoke", "Anna"],
        ["consent", "Anna", "--up-to", "1"],
    ],
)
def test_a_name_that_cannot_be_written_is_refused(
    ledger: str, words: list[str]
) -> None:
    result = run("release", words[0], ledger, "half \udcff", *words[1:])
    assert result.exit_code == 2
    assert "half a character" in result.stderr


def test_a_budget_that_is_refused_leaves_no_file(folder: Path) -> None:
    assert run("release", "open", "other.ledger", "--budget", "1e9").exit_code == 2
    assert not (folder / "other.ledger").exists()


def test_an_answer_that_is_given_away_is_told_in_plain_json(folder: Path) -> None:
    """JSON knows no infinity."""
    done("release", "open", "open.ledger")
    (folder / "direct.json").write_text(dn.direct().to_json())
    done("release", "answer", "open.ledger", "smokes", "direct.json", stdin="yes\n")
    done("release", "stage", "open.ledger", "smokes", "direct.json")
    done("release", "receipts", "open.ledger", "-o", "history.jsonl")
    told = [
        json.loads(
            done("release", *words, "--json").stdout, parse_constant=pytest.fail
        )
        for words in (
            ["show", "open.ledger"],
            ["verify", "history.jsonl"],
            ["withdraw", "open.ledger"],
        )
    ]
    assert (
        told[0]["spent"]
        is told[0]["questions"][0]["stages"][0]["epsilon"]
        is told[1]["total"]
        is None
    )
    assert told[2]["cannot_be_undone"][0]["epsilon"] is None
