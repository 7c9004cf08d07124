"""`deniable survey`: surveys in a collector's database, whether it is running or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deniable.cli.common import (
    OutputFile,
    command_list,
    console,
    echo,
    print_json,
    say,
    tell,
    write,
)
from deniable.cli.serve import read_settings
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.collector.settings import Settings
    from deniable.collector.store import Entry, Store
    from deniable.survey import Survey

app = command_list(
    "Surveys in a collector's database: check, create, open, close, export …"
)


@dataclass(frozen=True, kw_only=True)
class SurveyDatabase:
    """Which database a command is about."""

    database: str | None = None
    settings: Path | None = None

    @contextmanager
    def open(self, *, new: bool = False) -> Iterator[tuple[Store, Settings]]:
        """Open the database; one that is not there is made only where that makes sense."""
        options = dict(vars(self))
        file = options.pop("settings")
        settings = read_settings(file, **options)
        from deniable.collector.store import open_store
        from deniable.collector.store.base import StoreFailed

        is_file = "://" not in settings.database
        if not new and is_file and not Path(settings.database).exists():
            raise UnreadableFile(
                f"there is no database {settings.database}; expected the one of a collector.",
                "Name it with --database, or create a survey first: deniable survey create FILE.",
            )
        try:
            store = open_store(settings.database)
            try:
                served = store.database.read_note()
                if not settings.address and served.startswith("http"):
                    # Links lead to where it is, or was, served.
                    settings = read_settings(file, **options | {"address": served})
                yield store, settings
            finally:
                store.shut()
        except StoreFailed as error:
            raise UnreadableFile(error.problem, error.hint) from None


@dataclass(frozen=True, kw_only=True)
class ServedDatabase(SurveyDatabase):
    """Which database a command is about, and where its collector is reached."""

    address: str | None = None


class Scope(StrEnum):
    """What a token allows."""

    DEVICE = "device"
    ANALYST = "analyst"
    ADMIN = "admin"


@app.add
def check(file: Path, *, as_json: bool = False) -> None:
    """Read a survey's file, and tell what it promises; nothing is stored.

    Args:
        file: a survey, as TOML or JSON.
    """
    from deniable.survey import Survey

    survey = Survey.read(file)
    if as_json:
        print_json(survey.to_json(indent=2))
    else:
        _show(survey)
    _warn(survey)


@app.add
def new(
    *,
    template: str = "",
    language: list[str] | None = None,
    target: OutputFile,
) -> None:
    """Write a survey to start from: wordings, a design and a harmless question. Without a template, list them.

    Args:
        template (NAME): what to start from.
        out: a file for the survey, .toml.
        language: a language to keep, as often as needed; all of them, unless you say.
    """
    from deniable.survey.templates import TEMPLATES, survey_template, template_title

    if not template:
        for name in TEMPLATES:
            tell(f"{name}: {template_title(name)}", soft_wrap=True)
        return
    text = survey_template(template, languages=language or ()).rstrip("\n")
    advice = (
        f"wrote {target.out}. Change it, then: deniable survey check {target.out}"
    )
    target.print_or_write(text, advice)


@app.add
def harmless(*, as_json: bool = False) -> None:
    """List harmless questions with the exact share of those who say yes, and the designs that each is good for."""
    from deniable.survey.harmless import HARMLESS

    if as_json:
        keys = ("name", "use", "texts", "note")
        rows = [
            {key: getattr(question, key) for key in keys}
            | {"share": str(question.share)}
            for question in HARMLESS
        ]
        print_json({"questions": rows})
        return
    for question in HARMLESS:
        texts = [f"{language}: {text}" for language, text in question.texts.items()]
        share = f"{question.share} = {float(question.share):.4f}"
        lines = [f"{question.name}  {share}", f"  {question.use}"]
        tell("\n".join([*lines, *(f"  {text}" for text in texts)]), soft_wrap=True)
    for note in dict.fromkeys(question.note for question in HARMLESS):
        say(note)


class CodebookForm(StrEnum):
    """How a codebook is written."""

    CSV = "csv"
    MARKDOWN = "md"
    JSON = "json"


@app.add
def codebook(
    file: Path,
    *,
    form: CodebookForm | None = None,
    language: str = "",
    target: OutputFile,
) -> None:
    """Write the codebook of a survey: questions, texts, codes, designs, ε and Bayes factors.

    Args:
        file: a survey, as TOML or JSON.
        form: how it is written: csv for programs, md to read, or json as DDI names it. By default as --out ends,
            else md.
        language: one of the survey's; its first, by default.
        out: where to write.
    """
    from deniable.survey import Survey
    from deniable.survey.codebook import FORMATS

    ending = target.out.suffix.lower().lstrip(".") if target.out else "md"
    if form:
        ending = form.value
    if ending not in FORMATS:
        raise InvalidRequest(
            f"cannot write a codebook to {target.out}; expected a name that ends in .{', .'.join(FORMATS)}, or "
            "--format."
        )
    text = FORMATS[ending](Survey.read(file).codebook(language))
    target.print_or_write(text.rstrip("\n"))


@app.add
def create(
    file: Path,
    *,
    opened: bool = False,
    place: SurveyDatabase,
    as_json: bool = False,
) -> None:
    """Put a survey into the database as a draft; a draft of its name is replaced.

    A survey that is there with the same definition stays as it is.

    Args:
        file: a survey, as TOML or JSON.
        opened: open it at once.
    """
    from deniable.survey import Survey

    survey = Survey.read(file)
    if opened:
        survey.check_filled()  # before anything is stored
    with place.open(new=True) as (store, chosen):
        stored = store.find_unchanged(survey)
        if stored is not None:
            say(f"{survey.name} exists already, with this definition.")
        entry = store.create(survey) if stored is None else stored
        if opened and entry.state == "draft":
            entry = store.open(survey.name)
    _print_state(entry, chosen, as_json=as_json)
    if opened and entry.state != "open":
        say(f"To open it again: deniable survey open {survey.name}")
    _warn(survey)


@app.add
def open_(
    name: str,
    *,
    place: SurveyDatabase,
    as_json: bool = False,
) -> None:
    """Take responses from now on. The definition is frozen."""
    with place.open() as (store, chosen):
        entry = store.open(name)
    _print_state(entry, chosen, as_json=as_json)


@app.add
def close(
    name: str,
    *,
    place: SurveyDatabase,
    as_json: bool = False,
) -> None:
    """Take no more responses. It can be opened again until an analyst has looked."""
    with place.open() as (store, chosen):
        entry = store.close(name)
    _print_state(entry, chosen, as_json=as_json)


@app.add
def pilot(
    name: str,
    *,
    end: bool = False,
    place: SurveyDatabase,
    as_json: bool = False,
) -> None:
    """Try a draft on a few people: a survey called NAME-pilot, erased when it ends or NAME is opened.

    Args:
        end: end it, and erase all that was sent to it.
    """
    with place.open() as (store, chosen):
        entry = store.end_pilot(name) if end else store.start_pilot(name)
    _print_state(entry, chosen, as_json=as_json)
    if not end:
        _warn_unfilled(entry.survey)


@app.add
def preview(
    name: str,
    *,
    place: ServedDatabase,
) -> None:
    """Print where to look at a survey, also a draft, as respondents will see it; nothing is sent or stored there."""
    with place.open() as (store, chosen):
        survey = store.survey(name).survey
        typer.echo(f"{chosen.base}/preview/{survey.name}")
    _say_if_unknown(chosen)
    _warn_unfilled(survey)
    say(
        "Sign in there with the token of an analyst or administrator: deniable survey token NAME."
    )


@app.add
def kiosk(
    name: str,
    *,
    group: str = "",
    place: ServedDatabase,
) -> None:
    """Print the link for a device that many people use, such as an interviewer's tablet: it keeps nothing of them.

    Args:
        group: the group of all who use the device.
    """
    with place.open() as (store, chosen):
        entry = store.survey(name)
        if group:
            entry.survey.group(group)
        typer.echo(f"{replace(entry.link(chosen.base), group=group).text}&kiosk")
    _say_if_unknown(chosen)


@app.add
def list_(*, place: SurveyDatabase, as_json: bool = False) -> None:
    """List the surveys."""
    with place.open() as (store, _):
        rows = [
            {
                "name": entry.survey.name,
                "state": entry.state,
                "respondents": _respondents(store, entry),
                "hash": entry.survey.hash,
            }
            for entry in store.surveys()
        ]
    if as_json:
        print_json({"surveys": rows})
        return
    for row in rows:
        tell(
            "{name}  {state}  {respondents:,} respondents  {hash:.19}…".format_map(
                row
            )
        )


def _respondents(store: Store, entry: Entry) -> int:
    """Return how many have responded to the question that most have responded to."""
    return max(
        store.tallies(entry.id, number).respondents
        for number in range(len(entry.survey.questions))
    )


@app.add
def export(
    name: str,
    question: str,
    *,
    out: Path,
    place: SurveyDatabase,
    force: bool = False,
) -> None:
    """Write all responses to a question to a file that `deniable tally` reads, in random order.

    Args:
        out: where to write: .parquet or .csv.
    """
    from deniable.files.atomic import atomic_write

    with place.open() as (store, _):
        from deniable.collector.exports import FORMATS, write

        kind = out.suffix.lower().lstrip(".")
        if kind not in FORMATS:
            raise InvalidRequest(
                f"cannot write {out.name}; expected a name that ends in .{' or .'.join(FORMATS)}."
            )
        entry = store.survey(name)
        number = entry.survey.number(question)
        with atomic_write(out, overwrite=force, private=True) as file:
            write(store, entry, number, kind, file)
    say(f"wrote {out}")


@app.add
def backup(out: Path, *, place: SurveyDatabase) -> None:
    """Write everything to one SQLite file, while the collector goes on. It holds secrets: guard it well.

    Args:
        out (FILE): a new file.
    """
    with place.open() as (store, _):
        store.backup(out)
    say(f"wrote {out}")


@app.add
def restore(file: Path, *, place: SurveyDatabase) -> None:
    """Read a backup into an empty database, of this kind or the other.

    Args:
        file: what `deniable survey backup` wrote.
    """
    if not file.is_file():
        raise InvalidRequest(
            f"there is no file {file}; expected what `deniable survey backup` wrote."
        )
    with place.open(new=True) as (store, chosen):
        store.restore(file)
    say(f"restored {file} to {_database_name(chosen)}")


@app.add
def token(
    name: str,
    *,
    scope: Scope = Scope.ANALYST,
    survey: str = "",
    rotate: bool = False,
    revoke: bool = False,
    place: SurveyDatabase,
    target: OutputFile,
) -> None:
    """Make a token for a device, an analyst or an administrator. It is told once, and only its hash is kept.

    Args:
        name: for whom it is, such as a person or a program.
        scope: what it allows: device sends batches, analyst reads results, admin does everything.
        survey: only for this survey.
        rotate: replace its secret; the old one stops working.
        revoke: make it stop working.
        out: write it to a file for you alone.
    """
    if rotate and revoke:
        raise InvalidRequest("expected --rotate or --revoke, not both.")
    with place.open(new=True) as (store, _):
        from deniable.collector.store import Token

        if revoke:
            store.revoke_token(name)
            say(f"the token of {name} stops working")
            return
        secret = (
            store.rotate_token(name)
            if rotate
            else store.issue_token(Token(name, scope.value, survey))
        )
    if target.out is None:
        say("This is shown once; keep it like a password.")
    message = f"wrote the token of {name} to {target.out}; keep it like a password"
    target.print_or_write(secret, message, private=True)


@app.add
def invite(
    name: str,
    count: int,
    *,
    place: ServedDatabase,
    target: OutputFile,
) -> None:
    """Make one-time invitation links. Only hashes of them are kept, and none can be joined to a response.

    Args:
        count (1…): how many invitations to make.
        out: write the links, one on each line, to a file for you alone.
    """
    with place.open() as (store, chosen):
        entry = store.survey(name)
        links = [
            entry.link(chosen.base, invitation=code).text
            for code in store.invite(name, count)
        ]
    message = f"wrote {count:,} links to {target.out}"
    target.print_or_write("\n".join(links), message, private=True)
    _say_if_unknown(chosen)


@app.add
def definition(
    name: str,
    *,
    out: Path,
    place: SurveyDatabase,
    force: bool = False,
) -> None:
    """Write a survey's definition as the collector has it, with its keys: to read it, sign it, or verify receipts.

    Args:
        out: a file for the definition.
    """
    with place.open() as (store, _):
        survey = store.survey(name).survey
    write(out, survey.to_json(indent=2), force=force)
    say(f"wrote {out}, with the hash {survey.hash}")


@app.add
def key(out: Path) -> None:
    """Make an author's key, on a machine of your own. The file is the secret; the public half is printed.

    Args:
        out (FILE): a new file for the key.
    """
    from deniable.survey import author

    public = author.make_key(out)
    say(
        f"wrote {out}; keep it where no collector runs. The public half, for everybody:"
    )
    typer.echo(public)


@app.add
def sign(file: Path, *, key: Path, out: Path, force: bool = False) -> None:
    """Sign a definition with an author's key; this needs no collector and no connection. Read it first.

    Args:
        file (DEFINITION): as `deniable survey definition` wrote it.
        key: as `deniable survey key` made it.
        out: a file for the signature.
    """
    from deniable.survey import author

    survey = _definition(file)
    signature = author.sign(survey, key)
    write(out, signature.to_json(indent=2), force=force)
    _show(survey)
    say(
        f"wrote {out}: {survey.name}, {survey.hash}, is signed by {signature.author}"
    )


@app.add
def signature(name: str, file: Path, *, place: SurveyDatabase) -> None:
    """Hand in the signature of a survey's definition. It is served, and links name the author's key from now on.

    Args:
        file: as `deniable survey sign` wrote it.
    """
    from deniable.survey.signed import AuthorSignature

    signed = AuthorSignature.from_json(_bytes(file))
    with place.open() as (store, _):
        store.keep_signature(name, signed)
    say(f"{name} is signed by {signed.author}")


@app.add
def verify(receipt: Path, *, definition: Path, as_json: bool = False) -> None:
    """Check a receipt: the collector of this definition has signed it, and nothing in it was changed.

    Args:
        receipt: as the page or a program has saved it.
        definition: the definition of the survey, which holds the key.
    """
    import json

    from deniable.survey.signed import StoredReceipt

    survey, text, code = _definition(definition), _bytes(receipt), None
    with suppress(ValueError):
        saved = json.loads(text)
        # as the page saves it, with what withdraws
        if isinstance(saved, dict) and "receipt" in saved:
            text, code = (
                json.dumps(saved["receipt"]).encode(),
                saved.get("withdrawal_code"),
            )
    withdrawal_key = (
        bytes.fromhex(code)
        if isinstance(code, str) and re.fullmatch("[0-9a-f]{32}", code)
        else None
    )
    responses = StoredReceipt.from_json(text).check(survey, key=withdrawal_key)
    say(
        f"{receipt}: signed with the key of receipts in {survey.hash}; {len(responses)} responses"
    )
    if as_json:
        print_json(
            {
                "survey": survey.hash,
                "responses": [dict(response) for response in responses],
            }
        )
        return
    for response in responses:
        echo(f"{response['question']}: {response['symbol']}")


@app.add
def scripts(address: str = "") -> None:
    """Print the hashes of the scripts of this version; or fetch those of a collector, and compare.

    Args:
        address: a collector, such as https://survey.example, to compare with.
    """
    from deniable.collector import scripts as served

    if not address:
        typer.echo(served.checksums(), nl=False)
        return
    served.compare(address)
    say(f"{address} serves the {len(served.hashes())} scripts of this version")


def _definition(file: Path) -> Survey:
    from deniable.survey import Survey

    return Survey.from_json(_bytes(file))


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"cannot read {file}: {error.strerror}.") from None


def _print_state(entry: Entry, settings: Settings, *, as_json: bool) -> None:
    name, state = entry.survey.name, entry.state
    if as_json:
        print_json(
            {
                "name": name,
                "state": state,
                "hash": entry.survey.hash,
                "database": _database_name(settings),
            }
        )
        return
    say(
        f"{name} is {'a draft' if state == 'draft' else state} in {_database_name(settings)}."
    )
    if state == "open":
        say(
            f"Its page, while `deniable serve` runs: {entry.link(settings.base).text}"
        )
        _say_if_unknown(settings)


def _say_if_unknown(settings: Settings) -> None:
    """Tell what a link takes for granted where nobody set the address, and no collector has left its own."""
    if not settings.address:
        say(
            f"No collector has said yet where it runs: this is for port {settings.port} of this machine. If it runs "
            "elsewhere, ask again with DENIABLE_ADDRESS set, such as to http://127.0.0.1:9000."
        )


def _database_name(settings: Settings) -> str:
    """Return the database's address without its password."""
    from deniable.db import name_database

    return name_database(settings.database)


def _show(survey: Survey) -> None:
    from deniable.survey.catalogue import locale
    from deniable.survey.codebook import KEYS_FOLLOW
    from deniable.survey.disclosure import epsilon_words

    console().print(f"[bold]{survey.name}[/]  {survey.hash:.19}…")
    if survey.keys is None:
        tell(
            f"The hash is that of this file. {KEYS_FOLLOW}",
            style="dim",
            soft_wrap=True,
        )
    title = survey.texts[survey.language].title
    tell(f"{title}  ({', '.join(survey.languages)})")
    _show_questions(survey)
    odds = sum(arm.odds for arm in survey.arms)
    for arm, questions in zip(survey.arms, survey.arm_questions, strict=False):
        parities = {
            question.name: question.disclosure.parity
            for question in questions
            if not question.check
        }
        names = ", ".join(question.name for question in questions)
        epsilon = epsilon_words(survey.together(parities).epsilon, locale("en"))
        tell(
            f"The arm {arm.name}, {arm.odds} of {odds} respondents: {names}; ε ≤ {epsilon}.",
            soft_wrap=True,
        )
    total = epsilon_words(survey.disclosure.epsilon, locale("en"))
    tell(
        f"A respondent who answers everything, at the finest stages, reveals at most ε = {total}."
    )
    _show_disclosure(survey)


def _show_questions(survey: Survey) -> None:
    from rich.table import Table

    from deniable.survey.catalogue import locale
    from deniable.survey.disclosure import epsilon_words

    table = Table("question", "design", "stages", "ε", box=None, header_style="dim")
    for question in survey.questions:
        last = question.designs[-1]
        epsilon = epsilon_words(last.epsilon, locale("en"))
        table.add_row(question.name, last.name, str(question.stages), epsilon)
    console().print(table)


def _show_disclosure(survey: Survey) -> None:
    """Print what respondents are told."""
    from deniable.survey.catalogue import fill, locale

    spoken, worst = locale("en"), survey.worst
    words = spoken.words["disclosure"]
    tell(f"\nWhat respondents are told, in their language:\n{words['title']}")
    for question in survey.questions:
        line = f"{question.name}: {spoken.words['question']['check']}"
        if not question.check:
            line = question.disclosure.line(question.name, spoken)
        tell(f"- {line}")
    worst_words = worst.disclosure.response_words(spoken)
    tell(" ".join([fill(words["worst"], question=worst.name), *worst_words]))
    if len(survey.questions) > 1:
        tell(" ".join(survey.disclosure.together_words(spoken)))


def _warn(survey: Survey) -> None:
    """Tell what is above the limits; what is not acknowledged was refused before."""
    from deniable.survey.catalogue import locale

    for warning in survey.warnings(locale("en")):
        say(warning)
    _warn_unfilled(survey)


def _warn_unfilled(survey: Survey) -> None:
    """Tell what a template left to be filled in: such a survey can be looked at, and not opened."""
    for left in survey.placeholders:
        say(f"to be filled in before the survey can be opened: {left}")
