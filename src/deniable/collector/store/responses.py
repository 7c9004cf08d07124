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
from deniable.collector.store.base import KEY, Entry, NotStored, Outcome, Sent, Submission
from deniable.collector.store.counts import RAISED, SEEN, Counter
from deniable.collector.store.surveys import Column, KnownSurvey
from deniable.db import Tables
from deniable.errors import DeniableError, InvalidRequest, InvalidResponse, NotAllowed

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
    held: dict[Place, Held] = field(default_factory=dict)
    rows: list[tuple[int, int, bytes, int, int, bytes]] = field(default_factory=list)
    rises: dict[Counter, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    days: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    spent: dict[bytes, int] = field(default_factory=dict)
    used: dict[bytes, bytes] = field(default_factory=dict)

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store submissions, each wholly or not at all."""
        self._look_up(submissions)
        closed = {survey: self.surveys[survey].entry.not_taken(self.today) for survey in self.surveys}
        found: list[Outcome] = []
        for each in submissions:
            try:
                error = closed[each.survey] if each.survey in closed else _unknown()
                if error is not None:
                    raise error
                found.append(self._one(each))
            except DeniableError as error:
                found.append(NotStored(error))
        self._write()
        return found

    def _look_up(self, submissions: Sequence[Submission]) -> None:
        """Read what is stored under the keys of all submissions."""
        wanted: dict[tuple[int, int], set[bytes]] = defaultdict(set)
        for each in submissions:
            known = self.surveys.get(each.survey)
            if known is None:
                continue
            # Whoever was admitted once is known by anything that was sent then.
            few = known.entry.public or known.entry.survey.draws
            asked = range(len(known.columns)) if few else [sent.question for sent in each.responses]
            for question in asked:
                if 0 <= question < len(known.columns):
                    wanted[each.survey, question].add(known.columns[question].id(each.key))
        for (survey, question), ids in wanted.items():
            for id_, stage, group, code in sorted(packs.find(self.tables, survey, question, sorted(ids))):
                held = self.held.setdefault((survey, question, id_), Held(group))
                assert len(held.codes) == stage, "a stage is missing"
                held.codes.append(code)

    def _one(self, submission: Submission) -> Outcome:
        """Check a submission, and if all of it is right, note it."""
        known = self.surveys[submission.survey]
        group = group_number(known.entry, submission.group)
        if len(submission.key) != KEY or not submission.responses:
            raise InvalidRequest(f"the key or the responses are missing; expected {KEY} bytes and a response or more.")
        token = self._admitted(known, submission)
        changed: dict[Place, list[bytes]] = {}
        for sent in submission.responses:
            self._check(known, submission, sent, changed)
        self._check_each(known, submission, changed)
        stored = False
        for place, codes in changed.items():
            stored |= self._note(place, codes, group)
        if token is not None:
            self.spent[token] = submission.survey
        if token is not None and submission.invitation:
            self.used[credentials.digest(submission.invitation)] = secrets.token_bytes(32)
        return "stored" if stored else "repeated"

    def _check(self, known: KnownSurvey, submission: Submission, sent: Sent, changed: dict[Place, list[bytes]]) -> None:
        """Put one response behind those of the same question, if it may stand there."""
        if not 0 <= sent.question < len(known.columns):
            raise InvalidRequest(f"there is no question {sent.question}; expected 0 to {len(known.columns) - 1}.")
        column = known.columns[sent.question]
        place = (submission.survey, sent.question, column.id(submission.key))
        held = self.held.get(place)
        codes = changed.setdefault(place, list(held.codes) if held else [])
        follow(column, codes, sent)

    def _check_each(self, known: KnownSurvey, submission: Submission, changed: Collection[Place]) -> None:
        """Refuse responses to more questions than one respondent is asked: all together would reveal more than told."""
        survey = known.entry.survey
        if not survey.draws:
            return
        own = [(submission.survey, number, column.id(submission.key)) for number, column in enumerate(known.columns)]
        asked = {number for number, place in enumerate(own) if place in changed or place in self.held}
        if survey.arms and not any(asked <= hand for hand in known.hands):
            raise InvalidRequest(
                "there are responses to questions of different arms under one key; expected those of the arm that was "
                "drawn."
            )
        each = survey.each
        if each is not None and len(asked) > each:
            raise InvalidRequest(
                f"there are responses to more than {each} questions under one key; expected those to the questions "
                "that were drawn."
            )

    def _note(self, place: Place, codes: list[bytes], group: int) -> bool:
        """Note what is new of one question; say whether anything is."""
        survey, question, _ = place
        held = self.held.setdefault(place, Held(group))
        before = len(held.codes)
        for stage, code in enumerate(codes[before:], start=before):
            self.rows.append((*place, stage, held.group, code))
            self.rises[Counter(survey, question, stage, SEEN, held.group)].append(code)
            if stage:
                self.rises[Counter(survey, question, stage - 1, RAISED, held.group)].append(codes[stage - 1])
        held.codes = codes
        self.days[survey, question] += len(codes) - before
        return len(codes) > before

    def _admitted(self, known: KnownSurvey, submission: Submission) -> bytes | None:
        """Let in who has sent something with this key before, or has a token that nobody has used; return that one.

        For an invitation it is a random one: what is stored does not tell who could blind and who could not.
        """
        public, admission = known.entry.public, submission.admission
        if public is None:
            return None
        ids = [column.id(submission.key) for column in known.columns]
        if any((submission.survey, question, id_) in self.held for question, id_ in enumerate(ids)):
            return None
        if submission.invitation:
            if credentials.unused(self.tables, submission.survey, submission.invitation) in self.used:
                raise credentials.used_already()
            return secrets.token_bytes(32)
        if admission is None or not blind.verify(*admission, public):
            raise NotAllowed(
                "this survey is by invitation, and the submission has no token of it; expected one.",
                "Open the link of your invitation, or ask for one.",
            )
        token = hashlib.sha256(admission.message).digest()
        if token in self.spent or self.tables.rows("SELECT 1 FROM spent WHERE hash = ?", token):
            raise NotAllowed(
                "this token was used already, with another key; expected a new one.",
                "An invitation is good for one respondent. What was sent with it counts.",
            )
        return token

    def _write(self) -> None:
        self.tables.insert("response", ("survey", "question", "id", "stage", "grp", "code"), sorted(self.rows))
        for counter, codes in sorted(self.rises.items()):
            layout = self.surveys[counter.survey].columns[counter.question].layouts[counter.stage]
            counts.add(self.tables, counter, layout, layout.joined(codes))
        for survey, question in sorted({(counter.survey, counter.question) for counter in self.rises}):
            published.step(self.tables, self.surveys[survey], question)
        credentials.use(self.tables, self.used)
        self.tables.insert("spent", ("hash", "survey"), sorted(self.spent.items()))
        count_days(self.tables, self.days, self.today)


def follow(column: Column, codes: list[bytes], sent: Sent) -> None:
    """Put a response behind those of the stages before, or find it there.

    Raises:
        InvalidResponse: it contradicts what is stored, or cannot follow it.
    """
    if not 0 <= sent.stage < len(column.layouts):
        raise InvalidRequest(f"there is no stage {sent.stage}; expected 0 to {len(column.layouts) - 1}.")
    code = column.layouts[sent.stage].write(sent.code)
    if sent.stage < len(codes):
        if codes[sent.stage] != code:
            raise InvalidResponse(
                f"another response to {column.question.name!r} is stored under this key; expected the same one again.",
                "A response is drawn once. Withdraw it first, or send what was drawn.",
            )
        return
    if sent.stage > len(codes):
        raise InvalidResponse(
            f"stage {sent.stage + 1} of {column.question.name!r} came before stage {len(codes) + 1}; expected all in "
            "order.",
            "Send the stages between as well; they reveal nothing more.",
        )
    if sent.stage:
        assert column.question.ladder is not None
        step = column.question.ladder.steps[sent.stage - 1]
        if not step.garbling(int.from_bytes(codes[-1], "little"), sent.code):
            raise InvalidResponse(
                f"this response to {column.question.name!r} cannot follow the one before it; expected one that can.",
                "Raise the response that was sent, not another one.",
            )
    codes.append(code)


def count_days(tables: Tables, days: Mapping[tuple[int, int], int], today: date) -> None:
    """Count responses of today."""
    for (survey, question), number in sorted(days.items()):
        if number:
            tables.run(
                "INSERT INTO day VALUES (?, ?, ?, ?) ON CONFLICT (survey, question, day) "
                "DO UPDATE SET responses = day.responses + excluded.responses",
                survey, question, today.isoformat(), number,
            )  # fmt: skip


def check_open(entry: Entry, today: date) -> None:
    """Refuse a survey that takes no responses.

    Raises:
        NotAllowed: it does not.
    """
    error = entry.not_taken(today)
    if error is not None:
        raise error


def _unknown() -> DeniableError:
    return InvalidRequest("there is no such survey; expected the number of one.")


def group_number(entry: Entry, group: int | None) -> int:
    """Return the number that a group is stored with.

    Raises:
        InvalidRequest: the survey has no such group.
    """
    groups = entry.survey.groups
    if group is not None and not 0 <= group < len(groups):
        raise InvalidRequest(f"there is no group {group}; expected none, or one of {len(groups)}.")
    return NOBODY if group is None else group


def withdraw(tables: Tables, survey: int, known: KnownSurvey, key: bytes) -> int:
    """Erase all that was sent with a key, take it out of the counts, and return how many responses that were."""
    erased = 0
    for question, column in enumerate(known.columns):
        found = sorted(packs.find(tables, survey, question, [column.id(key)]))
        for (_, stage, group, code), layout in zip(found, column.layouts, strict=False):
            rows = layout.joined([code])
            counts.add(tables, Counter(survey, question, stage, SEEN, group), layout, rows, -1)
            if stage < len(found) - 1:
                counts.add(tables, Counter(survey, question, stage, RAISED, group), layout, rows, -1)
        if found:
            packs.erase(tables, survey, question, column.id(key))
        erased += len(found)
    return erased
