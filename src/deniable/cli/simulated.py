"""Simulated people for `deniable demo`: they hold answers, draw at their own side, and send responses over HTTP."""

from __future__ import annotations

import json
import secrets
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channel import Sets
from deniable.designs import Design
from deniable.survey import Question, Survey

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STEP = 250  # people whose responses travel together
_FEWER = 0.4  # each answer is held by so many times the people who hold the one before it
_REACHED = 3  # of those who reach a stage, one in so many goes on to the next


@dataclass(frozen=True)
class Crowd:
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
                yield len(people), "\n".join(self._line(person, stage) for person in people).encode()

    def _line(self, person: int, stage: int) -> str:
        groups = self.survey.groups
        sent = [
            {
                "question": question.name,
                "design": question.designs[stage].hash,
                "symbol": self.symbols[number][stage][person],
            }
            for number, question in enumerate(self.survey.questions)
            if stage < question.stages
        ]
        body: dict[str, Any] = {"survey": self.survey.hash, "key": self.keys[person], "responses": sent}
        if groups:
            body["group"] = groups[person % len(groups)]
        return json.dumps(body)


def truth(question: Question, people: int) -> dict[str, float]:
    """Return made-up shares: most have nothing to hide, and few have much."""
    weights = _FEWER ** np.arange(question.design.channel.answers)
    ends = np.rint(people * np.cumsum(weights) / weights.sum())
    shares = np.diff(ends, prepend=0) / people
    return dict(zip(question.design.categories, shares.tolist(), strict=True))


def gather(survey: Survey, people: int) -> Crowd:
    """Let people hold answers in the shares of `truth` and draw their responses, with real randomness."""
    keys = [secrets.token_hex(16) for _ in range(people)]
    return Crowd(survey, keys, [_drawn(question, people) for question in survey.questions])


def send(address: str, body: bytes) -> None:
    """Post lines of JSON to our own collector."""
    _fetch(address, body, {"Content-Type": "application/x-ndjson"})


def download(address: str, token: str) -> str:
    """Read a file of our own collector, as an analyst who holds a token."""
    return _fetch(address, None, {"Authorization": f"Bearer {token}"})


def _fetch(address: str, body: bytes | None, headers: dict[str, str]) -> str:
    request = urllib.request.Request(address, body, headers)  # noqa: S310 - the collector that we have started
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        return str(answer.read().decode())


def _drawn(question: Question, people: int) -> list[Sequence[str]]:
    from deniable.engines.local import draw_all
    from deniable.engines.local.gradual import release_planned
    from deniable.engines.local.words import shuffled

    counts = [round(share * people) for share in truth(question, people).values()]
    answers = np.repeat(np.arange(len(counts)), counts)[shuffled(sum(counts))]
    columns = [draw_all(question.design, answers, codes=True)]
    if question.ladder:
        columns = list(release_planned(question.ladder, answers, codes=True))
    return [_symbols(design, column) for design, column in zip(question.designs, columns, strict=True)]


def _symbols(design: Design, column: NDArray[Any]) -> list[str]:
    codes: list[int] = column.tolist()
    if isinstance(design.channel, Sets):
        codes = [int.from_bytes(row.tobytes(), "little") for row in column]
    return [design.symbols[code] for code in codes]
