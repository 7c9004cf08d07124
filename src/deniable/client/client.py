"""One respondent of one survey, on a device of their own; and what every device does."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from deniable import blind, exact
from deniable.chance import SYSTEM, Source
from deniable.client.connection import Connection
from deniable.client.state import (
    Answer,
    DeviceState,
    category_of,
    keep_fact,
    look_up,
)
from deniable.db import Closable, Database
from deniable.designs import Design
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    NotAllowed,
    OverBudget,
    quoted,
)
from deniable.order.ladders import Ladder
from deniable.release.ledger import Ledger, Released, Status
from deniable.rendering import formats
from deniable.survey import Link, Question, Survey
from deniable.survey.disclosure import Disclosure
from deniable.survey.limits import BUDGET, CEILING, read_limit
from deniable.survey.signed import StoredReceipt

KEY_BYTES = 16
"""Bytes of the key that a respondent draws, as the collector expects them."""

_MAX_RESPONSES = 200  # that a collector takes at a time


class SurveyDevice(Closable):
    """A device with responses to one survey, which obeys no definition beyond its own limits."""

    _state: DeviceState

    def __init__(
        self, ceiling: exact.Rational, budget: exact.Rational, source: Source
    ) -> None:
        self._ceiling = read_limit(ceiling, "the ceiling")
        self._budget = read_limit(budget, "the budget")
        self._source = source

    def _connect(self, link: Link, database: Database, patience: float) -> None:
        """Keep what belongs to the survey of a link in a database, which is closed where it belongs to another."""
        try:
            connection = Connection(link.base, patience=patience)
            self._state = DeviceState(link, connection, database)
        except BaseException:
            self.close()
            raise

    @property
    def survey(self) -> Survey:
        """The definition of the survey.

        Raises:
            NotSent: it was never fetched, and the collector cannot be reached.
        """
        return self._state.survey

    def _check_ceiling(self, question: str, design: Design) -> None:
        """Refuse a design that reveals more than the ceiling, whatever the definition asks for.

        Raises:
            OverBudget: it does.
        """
        _check_limit(
            Disclosure.of([design]),
            self._ceiling,
            f"the survey asks in one response to {quoted(question, 50)} for",
            "Leave the question out; or, if you know why so much is asked, give a higher ceiling.",
        )

    def _check_budget(self, together: Disclosure) -> None:
        """Refuse what reveals more than the budget, all questions of one respondent together.

        Raises:
            OverBudget: it does.
        """
        _check_limit(
            together,
            self._budget,
            "all responses of one respondent together would reveal",
            "Answer fewer questions; or, if you know why so much is asked, give a higher budget.",
        )

    def _submission(
        self, key: str, responses: list[dict[str, str]], **admitted: object
    ) -> bytes:
        """Return the submission of one respondent, as long as every other one."""
        group = self._state.link.group
        body = {"survey": self.survey.hash, "key": key, "responses": responses}
        grouped = {"group": group} if group else {}
        return self.survey.encode_message({**body, **grouped, **admitted})


def _check_limit(
    revealed: Disclosure, limit: float, subject: str, hint: str
) -> None:
    if not revealed.within(limit):
        needed = revealed.epsilon
        raise OverBudget(
            f"{subject} ε = {formats.epsilon(needed, 6)}; this device allows {formats.epsilon(limit, 6)}. Nothing was "
            "drawn.",
            hint,
            needed=needed,
            budget=limit,
            excess=needed - limit,
        )


class Client(SurveyDevice):
    """A respondent: answers stay here, responses go to the collector, once each.

    The file is a ledger with a few more tables: it holds what was drawn and what was sent, and is written before
    anything leaves. The answers themselves are not in it. Whoever has the file can raise and withdraw.

    Guarantee: a response is drawn once, whatever breaks; it is sent again until the collector has acknowledged it, and
    the collector counts it once.

    Args:
        link: as respondents are given it: `https://survey.example/s/working-life?group=office#definition=…`. It names
            the definition by its hash, and no other one is obeyed.
        state: the file; it is made where there is none.
        ceiling: the ε that one question may cost. A definition that asks for more is not obeyed, whoever wrote it;
            stages beyond are not even drawn. `math.inf` for no limit.
        budget: the ε that all questions together may cost; `math.inf` for no limit. A file keeps the one that it was
            made with, and a later one can only be smaller.
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
        ceiling: exact.Rational = CEILING,
        budget: exact.Rational = BUDGET,
        patience: float = 60.0,
        source: Source = SYSTEM,
    ) -> None:
        survey_link, path = Link.read(link), Path(state)
        super().__init__(ceiling, budget, source)
        exists = path.is_file() and path.stat().st_size > 0
        limit = None if self._budget == math.inf else budget
        self._ledger = (
            Ledger.open(path, source=source)
            if exists
            else Ledger.create(path, budget=limit, source=source)
        )
        self._connect(survey_link, self._ledger.database, patience)
        with self._state.transaction() as tables:
            self._key = keep_fact(tables, "key", source.read(KEY_BYTES).hex())

    @property
    def questions(self) -> tuple[Question, ...]:
        """Questions for this respondent: all, or those that were drawn once."""
        if not self.survey.draws:
            return self.survey.questions
        with self._state.transaction() as tables:
            stored_hand = look_up(tables, "hand")
        if stored_hand is None:
            names = json.dumps(
                [
                    question.name
                    for question in self.survey.draw_questions(self._source)
                ]
            )
            with self._state.transaction() as tables:
                stored_hand = keep_fact(tables, "hand", names)
        return tuple(map(self.survey.question, json.loads(stored_hand)))

    def answer(self, question: str, answer: Answer) -> Released:
        """Draw the response to a question, at its coarsest stage; `send` will send it. The answer is not stored.

        Where a number is asked for, it is rounded to a level first, and the level takes its place.

        Finer stages of a gradual question are drawn as well, as far as the ceiling allows, and wait for `release`.

        Raises:
            InvalidAnswer: not one of the categories. The message does not repeat it.
            InvalidRequest: there is no such question, it was answered already, or others are asked of this respondent.
            OverBudget: the ceiling or the budget does not allow it; nothing was drawn.
        """
        definition = self.survey.question(question)
        names = [drawn_question.name for drawn_question in self.questions]
        if question not in names:
            raise InvalidRequest(
                f"{quoted(question, 50)} was not drawn for this respondent; expected one of "
                f"{', '.join(map(repr, names))}. Nothing was drawn or sent."
            )
        self._check(question, definition.design)
        self._ledger.answer(
            question,
            category_of(definition, answer, self._source),
            self._allowed_stages(definition),
        )
        return self._ledger.release(question, 0, to=self.survey.name)

    def release(self, question: str) -> Released:
        """Allow the next finer stage of a question; `send` will send it.

        Raises:
            InvalidRequest: there is no finer stage, or no such question.
            NotAllowed: the respondent has withdrawn.
            OverBudget: the ceiling or the budget does not allow it.
        """
        definition, standing = (
            self.survey.question(question),
            self._ledger.status().question(question),
        )
        stage = sum(stage.released for stage in standing.stages)
        if standing.withdrawn is None and stage < definition.stages:
            self._check(question, definition.designs[stage])
            if stage == len(standing.stages):
                raise OverBudget(
                    f"stage {stage + 1} of {quoted(question, 50)} was not drawn: it was above the ceiling when "
                    "the question was answered; expected a stage below it."
                )
        return self._ledger.release(question, to=self.survey.name)

    def waiting(self) -> list[dict[str, str]]:
        """Return the responses that are waiting to be sent, by question."""
        with self._state.transaction() as tables:
            sent_pairs = set(tables.rows("SELECT question, design FROM sent"))
        return [
            response
            for response in self._released_responses()
            if (response["question"], response["design"]) not in sent_pairs
        ]

    def send(self) -> int:
        """Send the waiting responses; return the number that the collector has acknowledged.

        Raises:
            NotSent: the collector cannot be reached; all is kept, and sent the next time.
            NotTaken: the collector refuses; the message says why.
            NotAllowed: the survey is by invitation, and the link has none.
        """
        self._finish_answers()
        responses = self.waiting()
        admitted = _admission_token(self._state, self._source) if responses else {}
        for start in range(0, len(responses), _MAX_RESPONSES):
            chunk = responses[start : start + _MAX_RESPONSES]
            self._state.ask(
                "POST", "/responses", self._submission(self._key, chunk, **admitted)
            )
            with self._state.transaction() as tables:
                pairs = [
                    (response["question"], response["design"]) for response in chunk
                ]
                tables.each(
                    "INSERT INTO sent VALUES (?, ?) ON CONFLICT DO NOTHING", pairs
                )
        return len(responses)

    def withdraw(self) -> int:
        """Erase all responses at the collector, and unreleased ones here; return the number of erased responses.

        What is counted from then on is without what was erased. The collector returns when it has overwritten the rows
        in its database; where it could not at once (somebody was reading them, or its disk was full), it does so later.
        Copies that were made before, such as backups, hold them until they are thrown away.

        Raises:
            NotSent: the collector cannot be reached; nothing was withdrawn.
        """
        text = self._state.ask("POST", "/withdrawals", {"key": self._key})
        if any(
            standing.withdrawn is None
            for standing in self._ledger.status().questions
        ):
            self._ledger.withdraw()
        return int(json.loads(text)["withdrawn"])

    def receipt(self) -> str:
        """Return the collector's receipt of the stored responses, after comparing it with those sent.

        Guarantee: it is of this respondent, and signed with the key of receipts in the definition, which nobody can
        change.

        Raises:
            NotSent: the collector cannot be reached.
            UnreadableFile: it is not signed with that key, or of another respondent.
            Incompatible: it lists something else than what was sent.
        """
        reply = self._state.ask("POST", "/receipts", {"key": self._key})
        text = reply.decode().rstrip()  # it is filled up with spaces
        listed = StoredReceipt.from_json(text).check(
            self.survey, key=bytes.fromhex(self._key)
        )
        waiting = self.waiting()
        sent_responses = [
            response
            for response in self._released_responses()
            if response not in waiting
        ]
        if sorted(map(_as_json, listed)) != sorted(map(_as_json, sent_responses)):
            raise Incompatible(
                f"the receipt lists {len(listed)} responses, and they are not the {len(sent_responses)} that were "
                "sent; expected those.",
                "Keep the receipt, and ask whoever runs the survey.",
            )
        return text

    def status(self) -> Status:
        """Return the state of the ledger: releases and their privacy cost."""
        return self._ledger.status()

    def close(self) -> None:
        self._ledger.close()

    def _allowed_stages(self, definition: Question) -> Ladder:
        """Return the stages of a question up to the ceiling: of those beyond, no draw ever lies in the file."""
        count = sum(
            Disclosure.of([design]).within(self._ceiling)
            for design in definition.designs
        )
        return Ladder(
            definition.designs[:count],
            definition.ladder.steps[: count - 1] if definition.ladder else (),
        )

    def _check(self, question: str, design: Design) -> None:
        """Refuse a stage of a question that the limits do not allow, next to all that is out.

        Raises:
            OverBudget: they do not.
        """
        self._check_ceiling(question, design)
        other_parities = [
            standing.parity
            for standing in self._ledger.status().questions
            if standing.question != question
        ]
        self._check_budget(Disclosure.of_parities([*other_parities, design.parity]))

    def _finish_answers(self) -> None:
        """Release what was answered just before this device was switched off; not what the budget had refused."""
        for standing in self._ledger.status().questions:
            if standing.withdrawn is None and not any(
                stage.released for stage in standing.stages
            ):
                with suppress(OverBudget):
                    self._check(
                        standing.question,
                        self.survey.question(standing.question).design,
                    )
                    self._ledger.release(standing.question, 0, to=self.survey.name)

    def _released_responses(self) -> list[dict[str, str]]:
        return [
            {
                "question": standing.question,
                "design": stage.design,
                "symbol": stage.symbol,
            }
            for standing in self._ledger.status().questions
            if standing.withdrawn is None
            for stage in standing.stages
            if stage.symbol is not None
        ]


def _admission_token(
    state: DeviceState, source: Source
) -> dict[str, dict[str, str]]:
    """Return the token of a survey by invitation, as a field of a submission; no field where everybody may respond.

    What is blinded is kept before it is sent: where a connection breaks, the same again is signed again.

    Raises:
        NotAllowed: the link has no invitation.
        NotTaken: the invitation is unknown, or was used by somebody else.
    """
    if state.survey.admission != "invitation":
        return {}
    with state.transaction() as tables:
        token = look_up(tables, "token")
    if token is None:
        token = json.dumps(_exchange_invitation(state, source))
        with state.transaction() as tables:
            token = keep_fact(tables, "token", token)
    return {"token": json.loads(token)}


def _exchange_invitation(state: DeviceState, source: Source) -> dict[str, str]:
    if not state.link.invitation:
        raise NotAllowed(
            f"the survey {state.link.survey!r} is by invitation, and the link has none; expected &invitation=…."
        )
    with state.transaction() as tables:
        started = look_up(tables, "blinded")
    if started is None:
        started = _start_exchange(state, source)
    progress = json.loads(started)
    key, message = _token_key(state), bytes.fromhex(progress["message"])
    request = {
        "code": state.link.invitation,
        "blinded": key.digits(int(progress["blinded"])),
    }
    answer = json.loads(state.ask("POST", "/invitations/exchange", request))
    signature = blind.unblind(
        message, int(answer["signature"], 16), int(progress["factor"]), key
    )
    return {"message": message.hex(), "signature": key.digits(signature)}


def _start_exchange(state: DeviceState, source: Source) -> str:
    """Draw a message and blind it; keep both."""
    message = blind.prepare(source=source)
    blinded, factor = blind.blind(message, _token_key(state), source)
    token_state = {
        "message": message.hex(),
        "blinded": str(blinded),
        "factor": str(factor),
    }
    with state.transaction() as tables:
        return keep_fact(tables, "blinded", json.dumps(token_state))


def _token_key(state: DeviceState) -> blind.Key:
    keys = state.survey.keys
    if keys is None or keys.tokens is None:
        raise Incompatible(
            "the definition of this survey by invitation has no key for tokens; expected one."
        )
    return keys.tokens


def _as_json(response: Mapping[str, Any]) -> str:
    return json.dumps(response, sort_keys=True)
