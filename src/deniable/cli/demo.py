"""`deniable demo`: a collector on this machine, a survey, simulated people, and the estimates against the truth."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.cli.common import (
    check_out,
    console,
    guard_command,
    messages,
    print_json,
    progress,
    write,
)
from deniable.cli.estimates import save_picture
from deniable.cli.serve import require_extra
from deniable.errors import DeniableError, InvalidRequest

if TYPE_CHECKING:
    from deniable.estimates import Estimate, Row, Summary
    from deniable.estimates.stages import StageEvidence
    from deniable.rendering import Sheet
    from deniable.survey import Question, Survey

DATABASE = "collector.db"
PEOPLE = 10_000
YOURS = "your-turn"  # the survey to take part in afterwards
_LIMITS = (
    "RATE",
    "RATE_RESPONSES",
    "RATE_BYTES",
    "DEVICE_RESPONSES",
    "DEVICE_BYTES",
)
_GRACE = 30  # seconds that the collector has to stop
_STEP = 250  # people whose responses travel together
_FEWER = (
    0.4  # each answer is held by so many times the people who hold the one before it
)
_REACHED = 3  # of those who reach a stage, one in so many goes on to the next


class NotRunning(DeniableError, RuntimeError):
    """The collector of the demo did not start."""


@dataclass(frozen=True)
class Shown:
    """One question of the demo, as it came back from the collector."""

    question: Question
    tally: str
    estimate: Estimate | Estimate[StageEvidence]
    truth: dict[str, float]


@guard_command
def demo(
    *,
    out: Path = Path("deniable-demo"),
    people: int = PEOPLE,
    once: bool = False,
    port: int = 0,
    force: bool = False,
    as_json: bool = False,
) -> None:
    """Field a survey: simulated people respond to a collector on this machine; compare estimates with the truth.

    Args:
        out (FOLDER): where the database, tallies and pictures go.
        people (100…1000000): how many respond.
        once: stop the collector at the end.
        port (0…65535): where to listen; 0 for any port that is free.
    """
    with require_extra():
        import deniable.collector.serve  # noqa: F401 - what runs beside us needs it all
    from deniable.survey import Survey

    survey = Survey.read(Path(str(files("deniable.cli") / "survey.toml")))
    written = [out / name for name in _files(survey)]
    for path in written:
        check_out(path, force=force)
    _check_port(port)
    out.mkdir(parents=True, exist_ok=True)
    survey, tokens = _prepare(survey, out / DATABASE)
    token = tokens["analyst"]
    with _collector(out / DATABASE, port) as (running, address):
        if not as_json:
            _introduce(survey, people)
        _ask(survey, people, address, tokens["device"])
        # what is shown before the end lags a step behind
        _fetch(f"{address}/api/surveys/{survey.name}/close", tokens["admin"], b"")
        results = [
            _read(
                question, people, f"{address}/a/{survey.name}/{question.name}", token
            )
            for question in survey.questions
        ]
        _write(results, out, force=force)
        if as_json:
            print_json(_report(survey, results, written))
        else:
            _show(survey, results, out)
        if not once:
            _stay(running, address, token)


def _files(survey: Survey) -> list[str]:
    subjects = [_about(question) for question in survey.questions]
    return [
        DATABASE,
        *(
            f"{name}{end}"
            for name, about in subjects
            for end in (f"-{about}.json", "-tally.json", ".png")
        ),
    ]


def _about(question: Question) -> tuple[str, str]:
    return question.name, "ladder" if question.ladder else "design"


def _check_port(port: int) -> None:
    """Refuse a port that is taken before anything is written, or a database of an earlier time is lost."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise InvalidRequest(
            f"cannot listen on port {port}: {os.strerror(error.errno or 0)}; expected one that is free.",
            "Leave --port out for any that is free.",
        ) from None


def _prepare(survey: Survey, database: Path) -> tuple[Survey, dict[str, str]]:
    """Put the survey into a new database, open it; return it with its keys, and a token of each scope.

    A copy is opened beside it, because a survey whose end was shown takes no more responses.
    """
    from deniable.collector.store import Token, open_store
    from deniable.collector.store.base import SCOPES

    # what SQLite keeps beside it, too
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()
    store = open_store(database)
    try:
        for fielded in (survey, replace(survey, name=YOURS)):
            store.create(fielded)
            store.open(fielded.name)
        fielded = store.survey(survey.name).survey
        return fielded, {
            scope: store.issue_token(Token(f"demo-{scope}", scope))
            for scope in SCOPES
        }
    finally:
        store.shut()


@contextmanager
def _collector(
    database: Path, port: int
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `deniable serve` beside us until the end, whatever ends us, and say where it listens."""
    from deniable.collector.settings import PREFIX

    words = [
        sys.executable,
        "-m",
        "deniable.cli",
        "serve",
        "--database",
        str(database),
        "--port",
        str(port),
    ]
    # Nobody's settings but ours; and everybody comes from this one address.
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(PREFIX)
    }
    ours |= {f"{PREFIX}{name}": "0" for name in _LIMITS}
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, env=ours
        ) as running:
            try:
                address = _listening(running)
                # Read on: it would stop when nobody takes its lines.
                threading.Thread(
                    target=deque, args=(running.stderr, 0), daemon=True
                ).start()
                yield running, address
            finally:
                _stop(running)
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _stop(running: subprocess.Popen[str]) -> None:
    running.terminate()
    try:
        running.wait(timeout=_GRACE)
    except subprocess.TimeoutExpired:  # what was acknowledged is durable
        running.kill()


def _listening(running: subprocess.Popen[str]) -> str:
    assert running.stderr is not None
    lines = []
    for line in running.stderr:
        lines.append(line)
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("event") == "listening":
            return str(event["address"])
    raise NotRunning(
        f"the collector did not start; it said: {' '.join(lines).strip() or 'nothing'}"
    )


def _ask(survey: Survey, people: int, address: str, token: str) -> None:
    """Let everybody respond over HTTP."""
    crowd = gather(survey, people)
    going, gone = sum(map(len, crowd.going)), 0
    with progress("people respond", unit="people") as report:
        for senders, body in crowd.messages():
            batches = f"{address}/api/surveys/{survey.name}/batches"
            _fetch(batches, token, body, "application/x-ndjson")
            gone += senders
            report(gone, gone / going)


def _read(question: Question, people: int, address: str, token: str) -> Shown:
    """Download the counts of a question, as an analyst would, and estimate."""
    from deniable.engines.response_files import read_tally
    from deniable.verbs import estimate

    text = _fetch(f"{address}/tally.json", token)
    about: Any = question.about
    result = estimate(read_tally(text, about))
    return Shown(question, text, result, truth(question, people))


def _write(shown: list[Shown], folder: Path, *, force: bool) -> None:
    from deniable.estimates.charts import chart

    for result in shown:
        name, about = _about(result.question)
        write(
            folder / f"{name}-{about}.json",
            result.question.about.to_json(indent=2),
            force=force,
        )
        write(folder / f"{name}-tally.json", result.tally, force=force)
        title = next(iter(result.question.texts.values())).text
        save_picture(
            chart(result.estimate, truth=result.truth, title=title),
            folder / f"{name}.png",
        )


def _report(
    survey: Survey, shown: list[Shown], written: list[Path]
) -> dict[str, Any]:
    questions = {
        result.question.name: {
            **json.loads(result.estimate.to_json()),
            "truth": result.truth,
        }
        for result in shown
    }
    return {
        "survey": survey.name,
        "questions": questions,
        "files": [str(path) for path in written],
    }


def _introduce(survey: Survey, people: int) -> None:
    from rich.panel import Panel

    questions = "\n".join(
        f"  • {question.texts[survey.language].text}"
        for question in survey.questions
    )
    text = (
        f"[bold]{survey.texts[survey.language].title}[/]\n{questions}\n\n"
        f"{people:,} simulated people are asked, and nobody hands over an answer. A random device at each one's own "
        "side sometimes keeps the answer and otherwise replaces it, so that no response proves anything about anybody. "
        "Its odds are known: the shares among all of them can still be estimated."
    )
    console().print(
        Panel(
            text,
            title="deniable",
            title_align="left",
            border_style="cyan",
            padding=(1, 2),
            width=80,
        )
    )


def truth_sheet(summary: Summary[Row], truth: Mapping[str, float]) -> Sheet:
    """Return the table of shares beside the true ones, and whether each interval holds its share."""
    from deniable.estimates.formats import sheet
    from deniable.rendering import formats

    table = sheet(summary, percent=True)
    columns = [
        0,
        1,
        *(
            number
            for number, head in enumerate(table.heads)
            if "interval" in head or head == "asked directly"
        ),
    ]
    rows = zip(summary.rows, table.cells, strict=True)
    return replace(
        table,
        heads=(
            *(table.heads[number] for number in columns),
            "truth",
            "interval holds it",
        ),
        cells=tuple(
            (
                *(cells[number] for number in columns),
                formats.fixed_percent(truth[row.name]),
                "yes" if row.low <= truth[row.name] <= row.high else "no",
            )
            for row, cells in rows
        ),
    )


def _show(survey: Survey, shown: list[Shown], folder: Path) -> None:
    from deniable.display.privacy_texts import promise
    from deniable.rendering.terminal import to_rich

    out = console()
    for result in shown:
        last = result.question.designs[-1]
        out.print(f"\n[bold cyan]{result.question.texts[survey.language].text}[/]")
        out.print(promise(last)[0], markup=False)
        out.print(to_rich(truth_sheet(result.estimate.summary(), result.truth)))
        # What privacy cost; and of stages, how many people are at which.
        for note in result.estimate.summary().notes[
            : 2 if result.question.ladder else 1
        ]:
            out.print(note, style="dim", markup=False)
    out.print(
        "\nOf such intervals 95 in 100 hold the truth; run it again and the dice fall differently.",
        style="dim",
    )
    out.print(f"In {folder}: {', '.join(_files(survey))}", style="dim", markup=False)


def _stay(running: subprocess.Popen[str], address: str, token: str) -> None:
    out = messages()
    out.print("\nThe collector goes on until Ctrl-C:", style="bold")
    out.print(
        f"  take part yourself: {address}/s/{YOURS}",
        markup=False,
        soft_wrap=True,
    )
    out.print(f"  the results:        {address}/a", markup=False, soft_wrap=True)
    out.print(f"  sign in there with: {token}", markup=False, soft_wrap=True)
    try:
        running.wait()
    except KeyboardInterrupt:
        out.print("stopped", style="dim")


@dataclass(frozen=True)
class SimulatedPeople:
    """Everybody's responses, ready to be sent. The answers exist nowhere any more.

    Attributes:
        survey: what they were asked.
        keys: what each of them may later raise or withdraw the responses with.
        symbols: for each question and stage what everybody would send.
    """

    survey: Survey
    keys: Sequence[str]
    symbols: Sequence[Sequence[Sequence[str]]]

    @property
    def going(self) -> list[range]:
        """Who goes as far as each stage, the coarsest first."""
        stages = max(question.stages for question in self.survey.questions)
        return [range(0, len(self.keys), _REACHED**stage) for stage in range(stages)]

    def messages(self) -> Iterator[tuple[int, bytes]]:
        """Yield lines of JSON that are sent together, and of how many people; the coarsest stage comes first."""
        for stage, going in enumerate(self.going):
            for start in range(0, len(going), _STEP):
                people = going[start : start + _STEP]
                yield (
                    len(people),
                    "\n".join(
                        self._line(person, stage) for person in people
                    ).encode(),
                )

    def _line(self, person: int, stage: int) -> str:
        groups = self.survey.groups
        responses = [
            {
                "question": question.name,
                "design": question.designs[stage].hash,
                "symbol": self.symbols[number][stage][person],
            }
            for number, question in enumerate(self.survey.questions)
            if stage < question.stages
        ]
        body: dict[str, Any] = {
            "survey": self.survey.hash,
            "key": self.keys[person],
            "responses": responses,
        }
        if groups:
            body["group"] = groups[person % len(groups)]
        return json.dumps(body)


def truth(question: Question, people: int) -> dict[str, float]:
    """Return made-up shares: most have nothing to hide, and few have much."""
    weights = _FEWER ** np.arange(question.design.channel.answers)
    ends = np.rint(people * np.cumsum(weights) / weights.sum())
    shares = np.diff(ends, prepend=0) / people
    return dict(zip(question.design.categories, shares.tolist(), strict=True))


def gather(survey: Survey, people: int) -> SimulatedPeople:
    """Let people hold answers in the shares of `truth` and draw their responses, with real randomness."""
    keys = [secrets.token_hex(16) for _ in range(people)]
    return SimulatedPeople(
        survey,
        keys,
        [_draw_symbols(question, people) for question in survey.questions],
    )


def _fetch(
    address: str, token: str, body: bytes | None = None, media_type: str = ""
) -> str:
    """Read a file of our own collector, or post to it, as somebody who holds a token."""
    headers = {"Authorization": f"Bearer {token}"}
    if media_type:
        headers["Content-Type"] = media_type
    request = urllib.request.Request(address, body, headers)  # noqa: S310 - the collector that we have started
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        return str(answer.read().decode())


def _draw_symbols(question: Question, people: int) -> list[Sequence[str]]:
    """Draw what everybody would send at each stage."""
    from deniable.bulk.random_words import permutation
    from deniable.verbs import respond_all

    counts = [round(share * people) for share in truth(question, people).values()]
    answers = np.repeat(np.arange(len(counts)), counts)[permutation(sum(counts))]
    about: Any = question.about
    responses = respond_all(about, answers, codes=True)
    return [
        about.symbols_in(name, column) for name, column in responses.columns.items()
    ]
