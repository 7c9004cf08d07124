"""Many respondents of one survey who share a device: an interviewer's, one in a waiting room, a gateway of sensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

from deniable import exact
from deniable.chance import SYSTEM, Source
from deniable.client.client import KEY_BYTES, SurveyDevice
from deniable.client.state import Answer, category_of
from deniable.db import DURABLE, SqliteFile
from deniable.errors import InvalidRequest, NotAllowed
from deniable.responses import respond
from deniable.survey import Link
from deniable.survey.limits import BUDGET, CEILING

_BATCH_LINES = 5_000  # submissions in a batch: a few megabytes
_PATIENCE = 60.0  # seconds to wait for another program that uses the file


class Hub(SurveyDevice):
    """Draws the responses of one respondent after another, keeps them, and sends them in batches.

    Each respondent has a key of their own. What is waiting lies, and is sent, in the order of the keys, which are
    random: nobody can tell from it who came when. Answers are never stored, and after they were sent neither are
    responses; so they cannot be raised later. Each respondent may take their key along, to withdraw with it.

    Args:
        link: as respondents are given it, without an invitation; it names the definition by its hash, and no other one
            is obeyed.
        state: the file; it is made where there is none.
        token: what allows this device to send batches, from whoever runs the collector; it is not kept in the file.
        ceiling: the ε that one question may cost a respondent. A definition that asks for more is not obeyed, whoever
            wrote it. `math.inf` for no limit.
        budget: the ε that all questions together may cost a respondent; `math.inf` for no limit.
        patience: seconds for which the collector is tried again; what is not sent then is sent the next time.
        source: random bytes; the operating system's by default.

    Raises:
        InvalidRequest: not the link of a survey, not encrypted, without the hash of a definition; or a file that
            belongs to another survey.
    """

    def __init__(
        self,
        link: str,
        state: str | PathLike[str],
        *,
        token: str,
        ceiling: exact.Rational = CEILING,
        budget: exact.Rational = BUDGET,
        patience: float = 60.0,
        source: Source = SYSTEM,
    ) -> None:
        survey_link = Link.read(link)
        super().__init__(ceiling, budget, source)
        self._token = token
        self._file = SqliteFile(
            Path(state), "hub", settings=DURABLE, patience=_PATIENCE
        )
        self._file.make()
        self._connect(survey_link, self._file, patience)

    def add(self, people: Iterable[Mapping[str, Answer]]) -> list[str]:
        """Draw the responses of respondents, each given as answers by question; return their keys, in that order.

        Of a gradual question only the coarsest stage is drawn. Where each respondent is asked some of the questions, or
        those of an arm, give answers to all: those that are drawn are used, and nothing is done with the others. All
        that is waiting is written anew, so that the bytes of the file do not tell who came when: give many people at
        once where there are thousands.

        Raises:
            InvalidAnswer: not one of the categories; nobody's responses were kept. The message does not repeat it.
            InvalidRequest: there is no such question; or not all are answered, where some are drawn.
            NotAllowed: the survey is by invitation.
            OverBudget: the ceiling or the budget does not allow what is asked of somebody; nobody's were drawn.
        """
        if self.survey.admission == "invitation":
            raise NotAllowed(
                "this survey is by invitation; expected a device for each respondent.",
                "Use a Client.",
            )
        people = list(people)
        for questions in {frozenset(answers) for answers in people}:
            self._check(questions)
        drawn_people = [self._draw_submission(answers) for answers in people]
        with self._state.transaction() as tables:
            # A page of the file holds rows in the order in which they were written.
            earlier = tables.rows("SELECT key, line FROM waiting")
            tables.run("DELETE FROM waiting")
            tables.insert(
                "waiting", ("key", "line"), sorted([*earlier, *drawn_people])
            )
        return [key for key, _ in drawn_people]

    def __len__(self) -> int:
        """Return the number of respondents whose responses are waiting."""
        with self._state.transaction() as tables:
            return int(tables.value("SELECT count(*) FROM waiting"))

    def send(self) -> int:
        """Send the waiting responses in batches; return the number of respondents acknowledged.

        Raises:
            NotSent: the collector cannot be reached; what is not acknowledged is kept, and sent the next time.
            NotTaken: the collector refuses; the message says why.
        """
        n_sent = 0
        while True:
            with self._state.transaction() as tables:
                rows = tables.rows(
                    "SELECT key, line FROM waiting ORDER BY key LIMIT ?",
                    _BATCH_LINES,
                )
            if not rows:
                return n_sent
            self._state.post_lines([line for _, line in rows], self._token)
            with self._state.transaction() as tables:
                # And nothing that came meanwhile.
                tables.each(
                    "DELETE FROM waiting WHERE key = ?", [(key,) for key, _ in rows]
                )
            n_sent += len(rows)

    def close(self) -> None:
        self._file.close()

    def _check(self, questions: Iterable[str]) -> None:
        """Refuse what one respondent is asked for, if it is beyond the limits."""
        designs = {
            name: self.survey.question(name).design for name in sorted(questions)
        }
        for name, design in designs.items():
            self._check_ceiling(name, design)
        if self.survey.draws and any(
            question.name not in designs
            for question in self.survey.questions
            if not question.check
        ):
            raise InvalidRequest(
                "some of the questions are drawn for each respondent; expected answers to all of them."
            )
        self._check_budget(
            self.survey.together(
                {name: design.parity for name, design in designs.items()}
            )
        )

    def _draw_submission(self, answers: Mapping[str, Answer]) -> tuple[str, str]:
        """Return a key, and the submission as a line of JSON."""
        key = self._source.read(KEY_BYTES).hex()
        responses = [
            {"question": name, "design": response.design, "symbol": response.symbol}
            for name, answer in self._select_answers(
                self._categories(answers)
            ).items()
            for response in [
                respond(
                    self.survey.question(name).design, answer, source=self._source
                )
            ]
        ]
        return key, self._submission(key, responses).decode()

    def _categories(
        self, answers: Mapping[str, Answer]
    ) -> dict[str, str | Mapping[str, str]]:
        """Return the answers with every number rounded to its level."""
        return {
            name: category_of(self.survey.question(name), answer, self._source)
            for name, answer in answers.items()
        }

    def _select_answers(
        self, answers: dict[str, str | Mapping[str, str]]
    ) -> dict[str, str | Mapping[str, str]]:
        """Return the answers to the questions that are drawn for a respondent; every one is looked at first."""
        if not self.survey.draws:
            return answers
        for name, answer in answers.items():
            self.survey.question(name).design.category_number(answer)
        questions = self.survey.draw_questions(self._source)
        return {
            question.name: answers[question.name]
            for question in questions
            if question.name in answers
        }
