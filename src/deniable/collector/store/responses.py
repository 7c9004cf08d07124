"""Submissions → rows and counts, inside one transaction."""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

from deniable import blind
from deniable.collector.store import counts, credentials, packs, published
from deniable.collector.store.base import (
    KEY,
    Entry,
    NotStored,
    Outcome,
    Sent,
    StoredQuestion,
    Submission,
)
from deniable.collector.store.counts import RAISED, SEEN, Counter
from deniable.collector.store.published import Upcoming
from deniable.collector.store.surveys import Column, KnownSurvey
from deniable.db import Tables
from deniable.errors import (
    DeniableError,
    InvalidRequest,
    InvalidResponse,
    NotAllowed,
)

NOBODY = -1
"""The group of respondents without one."""

Place: TypeAlias = tuple[int, int, bytes]
"""Survey, question and id."""


@dataclass
class Held:
    """What is stored of one respondent's responses to one question: the code of each stage from 0 on."""

    group: int
    codes: list[bytes] = field(default_factory=list)


@dataclass
class Desk:
    """Submissions being worked on: what is stored already, and what is to be stored."""

    tables: Tables
    surveys: Mapping[int, KnownSurvey]
    today: date
    upcoming: Upcoming
    held: dict[Place, Held] = field(default_factory=dict)
    rows: list[tuple[int, int, bytes, int, int, bytes]] = field(default_factory=list)
    rises: dict[Counter, list[bytes]] = field(
        default_factory=lambda: defaultdict(list)
    )
    days: dict[StoredQuestion, int] = field(default_factory=lambda: defaultdict(int))
    spent: dict[bytes, int] = field(default_factory=dict)
    used: dict[bytes, bytes] = field(default_factory=dict)

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store submissions, each wholly or not at all."""
        self._look_up(submissions)
        outcomes: list[Outcome] = []
        for submission in submissions:
            try:
                survey = require_survey(self.surveys, submission.survey)
                check_open(survey.entry, self.today)
                outcomes.append(self._add_submission(submission))
            except DeniableError as error:
                outcomes.append(NotStored(error))
        self._write()
        return outcomes

    def _look_up(self, submissions: Sequence[Submission]) -> None:
        """Read what is stored under the keys of all submissions."""
        ids_by_question: dict[StoredQuestion, set[bytes]] = defaultdict(set)
        for submission in submissions:
            known_survey = self.surveys.get(submission.survey)
            if known_survey is None:
                continue
            # Whoever was admitted once is known_survey by anything that was sent then.
            looks_at_all = (
                known_survey.entry.public or known_survey.entry.survey.draws
            )
            question_numbers = (
                range(len(known_survey.columns))
                if looks_at_all
                else [response.question for response in submission.responses]
            )
            for question in question_numbers:
                if 0 <= question < len(known_survey.columns):
                    column = known_survey.columns[question]
                    ids_by_question[column.stored].add(column.id(submission.key))
        for stored_question, ids in ids_by_question.items():
            for id_, stage, group, code in sorted(
                packs.find(self.tables, stored_question, sorted(ids))
            ):
                stored = self.held.setdefault((*stored_question, id_), Held(group))
                assert len(stored.codes) == stage, "a stage is missing"
                stored.codes.append(code)

    def _add_submission(self, submission: Submission) -> Outcome:
        """Check a submission, and if all of it is right, note it."""
        survey = self.surveys[submission.survey]
        group = group_number(survey.entry, submission.group)
        if len(submission.key) != KEY or not submission.responses:
            raise InvalidRequest(
                f"the key or the responses are missing; expected {KEY} bytes and a response or more."
            )
        token = self._admit(survey, submission)
        changed: dict[Place, list[bytes]] = {}
        for response in submission.responses:
            self._check(survey, submission, response, changed)
        self._check_each(survey, submission, changed)
        stored = False
        for slot, codes in changed.items():
            stored |= self._note(slot, codes, group)
        if token is not None:
            self.spent[token] = submission.survey
        if token is not None and submission.invitation:
            self.used[credentials.digest(submission.invitation)] = (
                secrets.token_bytes(32)
            )
        return "stored" if stored else "repeated"

    def _check(
        self,
        survey: KnownSurvey,
        submission: Submission,
        response: Sent,
        changed: dict[Place, list[bytes]],
    ) -> None:
        """Put one response behind those of the same question, if it may stand there."""
        if not 0 <= response.question < len(survey.columns):
            raise InvalidRequest(
                f"there is no question {response.question}; expected 0 to {len(survey.columns) - 1}."
            )
        column = survey.columns[response.question]
        slot = (submission.survey, response.question, column.id(submission.key))
        stored = self.held.get(slot)
        codes = changed.setdefault(slot, list(stored.codes) if stored else [])
        append_stage(column, codes, response)

    def _check_each(
        self,
        known_survey: KnownSurvey,
        submission: Submission,
        changed: Collection[Place],
    ) -> None:
        """Refuse responses to more questions than one respondent is asked: all together would reveal more than told."""
        survey = known_survey.entry.survey
        if not survey.draws:
            return
        slots = [
            (submission.survey, number, column.id(submission.key))
            for number, column in enumerate(known_survey.columns)
        ]
        answered = {
            number
            for number, slot in enumerate(slots)
            if slot in changed or slot in self.held
        }
        if survey.arms and not any(
            answered <= arm_questions for arm_questions in known_survey.arm_questions
        ):
            raise InvalidRequest(
                "there are responses to questions of different arms under one key; expected those of the arm that was "
                "drawn."
            )
        allowed = survey.each
        if allowed is not None and len(answered) > allowed:
            raise InvalidRequest(
                f"there are responses to more than {allowed} questions under one key; expected those to the questions "
                "that were drawn."
            )

    def _note(self, slot: Place, codes: list[bytes], group: int) -> bool:
        """Note what is new of one question; say whether anything is."""
        survey, question, _ = slot
        stored = self.held.setdefault(slot, Held(group))
        before = len(stored.codes)
        for stage, code in enumerate(codes[before:], start=before):
            self.rows.append((*slot, stage, stored.group, code))
            self.rises[Counter(survey, question, stage, SEEN, stored.group)].append(
                code
            )
            if stage:
                self.rises[
                    Counter(survey, question, stage - 1, RAISED, stored.group)
                ].append(codes[stage - 1])
        stored.codes = codes
        self.days[StoredQuestion(survey, question)] += len(codes) - before
        return len(codes) > before

    def _admit(self, survey: KnownSurvey, submission: Submission) -> bytes | None:
        """Let in who has sent something with this key before, or has a token that nobody has used; return that one.

        For an invitation it is a random one: what is stored does not tell who could blind and who could not.
        """
        public, admission = survey.entry.public, submission.admission
        if public is None:
            return None
        ids = [column.id(submission.key) for column in survey.columns]
        if any(
            (submission.survey, question, id_) in self.held
            for question, id_ in enumerate(ids)
        ):
            return None
        if submission.invitation:
            if (
                credentials.find_unused(
                    self.tables, submission.survey, submission.invitation
                )
                in self.used
            ):
                raise credentials.used_already()
            return secrets.token_bytes(32)
        if admission is None or not blind.verify(*admission, public):
            raise NotAllowed(
                "this survey is by invitation, and the submission has no token of it; expected one.",
                "Open the link of your invitation, or ask for one.",
            )
        token = hashlib.sha256(admission.message).digest()
        if token in self.spent or self.tables.rows(
            "SELECT 1 FROM spent WHERE hash = ?", token
        ):
            raise NotAllowed(
                "this token was used already, with another key; expected a new one.",
                "An invitation is good for one respondent. What was sent with it counts.",
            )
        return token

    def _write(self) -> None:
        self.tables.insert(
            "response",
            ("survey", "question", "id", "stage", "grp", "code"),
            sorted(self.rows),
        )
        columns = {}
        for counter, codes in sorted(self.rises.items()):
            column = self.surveys[counter.survey].columns[counter.question]
            layout = column.layouts[counter.stage]
            counts.add(self.tables, counter, layout, layout.pack_codes(codes))
            columns[column.stored] = column
        for column in columns.values():
            published.step(self.tables, column, self.upcoming)
        credentials.use(self.tables, self.used)
        self.tables.insert("spent", ("hash", "survey"), sorted(self.spent.items()))
        count_days(self.tables, self.days, self.today)


def append_stage(column: Column, codes: list[bytes], response: Sent) -> None:
    """Put a response behind those of the stages before, or find it there.

    Raises:
        InvalidResponse: it contradicts what is stored, or cannot follow it.
    """
    if not 0 <= response.stage < len(column.layouts):
        raise InvalidRequest(
            f"there is no stage {response.stage}; expected 0 to {len(column.layouts) - 1}."
        )
    code = column.layouts[response.stage].write(response.code)
    if response.stage < len(codes):
        if codes[response.stage] != code:
            raise InvalidResponse(
                f"another response to {column.question.name!r} is stored under this key; expected the same one again.",
                "A response is drawn once. Withdraw it first, or send what was drawn.",
            )
        return
    if response.stage > len(codes):
        raise InvalidResponse(
            f"stage {response.stage + 1} of {column.question.name!r} came before stage {len(codes) + 1}; "
            "expected all in order.",
            "Send the stages between as well; they reveal nothing more.",
        )
    if response.stage:
        assert column.question.ladder is not None
        step = column.question.ladder.steps[response.stage - 1]
        if not step.garbling(int.from_bytes(codes[-1], "little"), response.code):
            raise InvalidResponse(
                f"this response to {column.question.name!r} cannot follow the one before it; expected one that can.",
                "Raise the response that was sent, not another one.",
            )
    codes.append(code)


def count_days(
    tables: Tables, days: Mapping[StoredQuestion, int], today: date
) -> None:
    """Count responses of today."""
    for question, number in sorted(days.items()):
        if number:
            tables.run(
                "INSERT INTO day VALUES (?, ?, ?, ?) ON CONFLICT (survey, question, day) "
                "DO UPDATE SET responses = day.responses + excluded.responses",
                *question, today.isoformat(), number,
            )  # fmt: skip


def check_open(entry: Entry, today: date) -> None:
    """Refuse a survey that takes no responses.

    Raises:
        NotAllowed: it does not.
    """
    error = entry.refusal(today)
    if error is not None:
        raise error


def require_survey(surveys: Mapping[int, KnownSurvey], number: int) -> KnownSurvey:
    """Return a survey by its number.

    Raises:
        InvalidRequest: there is none of this number.
    """
    if number not in surveys:
        raise no_such_survey()
    return surveys[number]


def no_such_survey() -> InvalidRequest:
    """Return the refusal of what belongs to no survey."""
    return InvalidRequest("there is no such survey; expected the number of one.")


def group_number(entry: Entry, group: int | None) -> int:
    """Return the number that a group is stored with.

    Raises:
        InvalidRequest: the survey has no such group.
    """
    groups = entry.survey.groups
    if group is not None and not 0 <= group < len(groups):
        raise InvalidRequest(
            f"there is no group {group}; expected none, or one of {len(groups)}."
        )
    return NOBODY if group is None else group


def withdraw(tables: Tables, survey: KnownSurvey, key: bytes) -> int:
    """Erase all that was sent with a key, take it out of the counts, and return how many responses that were."""
    erased = 0
    for column in survey.columns:
        id_ = column.id(key)
        stored_stages = sorted(packs.find(tables, column.stored, [id_]))
        for (_, stage, group, code), layout in zip(
            stored_stages, column.layouts, strict=False
        ):
            is_raised = stage < len(stored_stages) - 1
            for kind in (SEEN, RAISED) if is_raised else (SEEN,):
                counter = Counter(*column.stored, stage, kind, group)
                counts.add(tables, counter, layout, layout.pack_codes([code]), -1)
        if stored_stages:
            packs.erase(tables, column.stored, id_)
        erased += len(stored_stages)
    return erased
