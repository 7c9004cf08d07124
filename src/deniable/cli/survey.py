"""`deniable survey`: surveys in a collector's database, whether it is running or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli.common import (
    PLAIN,
    CommandList,
    check_out,
    console,
    guarded,
    print_json,
    say,
    write,
)
from deniable.cli.serve import read_settings
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.collector.settings import Settings
    from deniable.collector.store import Entry, Store
    from deniable.survey import Survey

app = typer.Typer(
    cls=CommandList,
    no_args_is_help=True,
    help="Surveys in a collector's database: check, create, open, close, export …",
    **PLAIN,
)


class Scope(StrEnum):
    """What a token allows."""

    DEVICE = "device"
    ANALYST = "analyst"
    ADMIN = "admin"


@app.command()
@guarded
def check(file: Path, *, as_json: bool = False) -> None:
    """Read a survey's file, and tell what it promises; nothing is stored.

    Args:
        file: a survey, as TOML or JSON.
    """
    survey = _read(file)
    if as_json:
        print_json(survey.to_json(indent=2))
    else:
        _show(survey)
    _warn(survey)


@app.command()
@guarded
def new(
    *,
    template: str = "",
    out: Path | None = None,
    language: list[str] | None = None,
    force: bool = False,
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
            console().print(
                f"{name}: {template_title(name)}", markup=False, soft_wrap=True
            )
        return
    text = survey_template(template, languages=language or ())
    if out is None:
        typer.echo(text, nl=False)
        return
    write(out, text.rstrip("\n"), force=force)
    say(f"wrote {out}. Change it, then: deniable survey check {out}")


@app.command()
@guarded
def harmless(*, as_json: bool = False) -> None:
    """List harmless questions with the exact share of those who say yes, and the designs that each is good for."""
    from deniable.survey.harmless import HARMLESS

    if as_json:
        keys = ("name", "share", "use", "texts", "note")
        print_json(
            {
                "questions": [
                    {key: _text(getattr(question, key)) for key in keys}
                    for question in HARMLESS
                ]
            }
        )
        return
    for question in HARMLESS:
        console().print(
            f"{question.name}  {question.share} = {float(question.share):.4f}",
            markup=False,
            soft_wrap=True,
        )
        console().print(f"  {question.use}", markup=False, soft_wrap=True)
        for language, text in question.texts.items():
            console().print(f"  {language}: {text}", markup=False, soft_wrap=True)
    for note in dict.fromkeys(question.note for question in HARMLESS):
        say(note)


def _text(value: object) -> object:
    """Return a fact for JSON: an exact share as text."""
    from fractions import Fraction

    return str(value) if isinstance(value, Fraction) else value


class CodebookForm(StrEnum):
    """How a codebook is written."""

    CSV = "csv"
    MARKDOWN = "md"
    JSON = "json"


@app.command()
@guarded
def codebook(
    file: Path,
    *,
    form: CodebookForm | None = None,
    language: str = "",
    out: Path | None = None,
    force: bool = False,
) -> None:
    """Write the codebook of a survey: questions, texts, codes, designs, ε and Bayes factors.

    Args:
        file: a survey, as TOML or JSON.
        form: how it is written: csv for programs, md to read, or json as DDI names it. By default as --out ends,
            else md.
        language: one of the survey's; its first, by default.
        out: where to write.
    """
    from deniable.survey.codebook import FORMATS

    ending = form.value if form else out.suffix.lower().lstrip(".") if out else "md"
    if ending not in FORMATS:
        raise InvalidRequest(
            f"cannot write a codebook to {out}; expected a name that ends in .{', .'.join(FORMATS)}, or --format."
        )
    text = FORMATS[ending](_read(file).codebook(language)).rstrip("\n")
    if out is None:
        typer.echo(text)
        return
    write(out, text, force=force)
    say(f"wrote {out}")


@app.command()
@guarded
def create(
    file: Path,
    *,
    opened: bool = False,
    database: str | None = None,
    settings: Path | None = None,
    as_json: bool = False,
) -> None:
    """Put a survey into the database as a draft; a draft of its name is replaced.

    A survey that is there with the same definition stays as it is.

    Args:
        file: a survey, as TOML or JSON.
        opened: open it at once.
    """
    survey = _read(file)
    if opened:
        survey.check_filled()  # before anything is stored
    with _store(settings, database, new=True) as (store, chosen):
        stored = store.find_unchanged(survey)
        if stored is not None:
            say(f"{survey.name} exists already, with this definition.")
        entry = store.create(survey) if stored is None else stored
        if opened and entry.state == "draft":
            entry = store.open(survey.name)
    _told(entry, chosen, as_json=as_json)
    if opened and entry.state != "open":
        say(f"To open it again: deniable survey open {survey.name}")
    _warn(survey)


@app.command("open")
@guarded
def open_(
    name: str,
    *,
    database: str | None = None,
    settings: Path | None = None,
    as_json: bool = False,
) -> None:
    """Take responses from now on. The definition is frozen."""
    with _store(settings, database) as (store, chosen):
        entry = store.open(name)
    _told(entry, chosen, as_json=as_json)


@app.command()
@guarded
def close(
    name: str,
    *,
    database: str | None = None,
    settings: Path | None = None,
    as_json: bool = False,
) -> None:
    """Take no more responses. It can be opened again."""
    with _store(settings, database) as (store, chosen):
        entry = store.close(name)
    _told(entry, chosen, as_json=as_json)


@app.command()
@guarded
def pilot(
    name: str,
    *,
    end: bool = False,
    database: str | None = None,
    settings: Path | None = None,
    as_json: bool = False,
) -> None:
    """Try a draft on a few people: a survey called NAME-pilot, erased when it ends or NAME is opened.

    Args:
        end: end it, and erase all that was sent to it.
    """
    with _store(settings, database) as (store, chosen):
        entry = store.end_pilot(name) if end else store.start_pilot(name)
    _told(entry, chosen, as_json=as_json)
    if not end:
        _warn_unfilled(entry.survey)


@app.command()
@guarded
def preview(
    name: str,
    *,
    address: str | None = None,
    database: str | None = None,
    settings: Path | None = None,
) -> None:
    """Print where to look at a survey, also a draft, as respondents will see it; nothing is sent or stored there."""
    with _store(settings, database, address=address) as (store, chosen):
        survey = store.survey(name).survey
        typer.echo(f"{chosen.base}/preview/{survey.name}")
    _say_if_unknown(chosen)
    _warn_unfilled(survey)
    say(
        "Sign in there with the token of an analyst or administrator: deniable survey token NAME."
    )


@app.command()
@guarded
def kiosk(
    name: str,
    *,
    group: str = "",
    address: str | None = None,
    database: str | None = None,
    settings: Path | None = None,
) -> None:
    """Print the link for a device that many people use, such as an interviewer's tablet: it keeps nothing of them.

    Args:
        group: the group of all who use the device.
    """
    with _store(settings, database, address=address) as (store, chosen):
        entry = store.survey(name)
        if group:
            entry.survey.group(group)
        typer.echo(f"{replace(entry.link(chosen.base), group=group).text}&kiosk")
    _say_if_unknown(chosen)


@app.command("list")
@guarded
def list_(
    *, database: str | None = None, settings: Path | None = None, as_json: bool = False
) -> None:
    """List the surveys."""
    with _store(settings, database) as (store, _):
        rows = [
            (
                entry.survey.name,
                entry.state,
                _respondents(store, entry),
                entry.survey.hash,
            )
            for entry in store.surveys()
        ]
    if as_json:
        keys = ("name", "state", "respondents", "hash")
        print_json({"surveys": [dict(zip(keys, entry, strict=True)) for entry in rows]})
        return
    for name, state, respondents, digest in rows:
        console().print(
            f"{name}  {state}  {respondents:,} respondents  {digest:.19}…", markup=False
        )


def _respondents(store: Store, entry: Entry) -> int:
    """Return how many have responded to the question that most have responded to."""
    return max(
        store.tallies(entry.id, number).respondents
        for number in range(len(entry.survey.questions))
    )


@app.command()
@guarded
def export(
    name: str,
    question: str,
    *,
    out: Path,
    database: str | None = None,
    settings: Path | None = None,
    force: bool = False,
) -> None:
    """Write all responses to a question to a file that `deniable tally` reads, in random order.

    Args:
        out: where to write: .parquet or .csv.
    """
    from deniable.files.atomic import atomic_write

    with _store(settings, database) as (store, _):
        from deniable.collector.exports import FORMATS, write

        kind = out.suffix.lower().lstrip(".")
        if kind not in FORMATS:
            raise InvalidRequest(
                f"cannot write {out.name}; expected a name that ends in .{' or .'.join(FORMATS)}."
            )
        entry = store.survey(name)
        number = entry.survey.number(question)
        with atomic_write(out, overwrite=force) as file:
            write(store, entry, number, kind, file)
    say(f"wrote {out}")


@app.command()
@guarded
def backup(
    out: Path, *, database: str | None = None, settings: Path | None = None
) -> None:
    """Write everything to one SQLite file, while the collector goes on. It holds secrets: guard it well.

    Args:
        out (FILE): a new file.
    """
    with _store(settings, database) as (store, _):
        store.backup(out)
    say(f"wrote {out}")


@app.command()
@guarded
def restore(
    file: Path, *, database: str | None = None, settings: Path | None = None
) -> None:
    """Read a backup into an empty database, of this kind or the other.

    Args:
        file: what `deniable survey backup` wrote.
    """
    if not file.is_file():
        raise InvalidRequest(
            f"there is no file {file}; expected what `deniable survey backup` wrote."
        )
    with _store(settings, database, new=True) as (store, chosen):
        store.restore(file)
    say(f"restored {file} to {_where(chosen)}")


@app.command()
@guarded
def token(
    name: str,
    *,
    scope: Scope = Scope.ANALYST,
    survey: str = "",
    rotate: bool = False,
    revoke: bool = False,
    out: Path | None = None,
    database: str | None = None,
    settings: Path | None = None,
    force: bool = False,
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
    check_out(out, force=force)
    if rotate and revoke:
        raise InvalidRequest("expected --rotate or --revoke, not both.")
    with _store(settings, database, new=True) as (store, _):
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
    if out is None:
        say("This is shown once; keep it like a password.")
        typer.echo(secret)
    else:
        write(out, secret, force=force, private=True)
        say(f"wrote the token of {name} to {out}; keep it like a password")


@app.command()
@guarded
def invite(
    name: str,
    count: int,
    *,
    out: Path | None = None,
    address: str | None = None,
    database: str | None = None,
    settings: Path | None = None,
    force: bool = False,
) -> None:
    """Make one-time invitation links. Only hashes of them are kept, and none can be joined to a response.

    Args:
        count (1…): how many invitations to make.
        out: write the links, one on each line, to a file for you alone.
    """
    check_out(out, force=force)
    with _store(settings, database, address=address) as (store, chosen):
        entry = store.survey(name)
        links = [
            entry.link(chosen.base, invitation=code).text
            for code in store.invite(name, count)
        ]
    if out is None:
        typer.echo("\n".join(links))
    else:
        write(out, "\n".join(links), force=force, private=True)
        say(f"wrote {count:,} links to {out}")
    _say_if_unknown(chosen)


@app.command()
@guarded
def definition(
    name: str,
    *,
    out: Path,
    database: str | None = None,
    settings: Path | None = None,
    force: bool = False,
) -> None:
    """Write a survey's definition as the collector has it, with its keys: to read it, sign it, or verify receipts.

    Args:
        out: a file for the definition.
    """
    with _store(settings, database) as (store, _):
        survey = store.survey(name).survey
    write(out, survey.to_json(indent=2), force=force)
    say(f"wrote {out}, with the hash {survey.hash}")


@app.command()
@guarded
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


@app.command()
@guarded
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
    say(f"wrote {out}: {survey.name}, {survey.hash}, is signed by {signature.author}")


@app.command()
@guarded
def signature(
    name: str, file: Path, *, database: str | None = None, settings: Path | None = None
) -> None:
    """Hand in the signature of a survey's definition. It is served, and links name the author's key from now on.

    Args:
        file: as `deniable survey sign` wrote it.
    """
    from deniable.survey.signed import AuthorSignature

    signed = AuthorSignature.from_json(_bytes(file))
    with _store(settings, database) as (store, _):
        store.keep_signature(name, signed)
    say(f"{name} is signed by {signed.author}")


@app.command()
@guarded
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
        if (
            isinstance(saved, dict) and "receipt" in saved
        ):  # as the page saves it, with what withdraws
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
        typer.echo(f"{response['question']}: {response['symbol']}")


@app.command()
@guarded
def scripts(address: str = "") -> None:
    """Print the hashes of the scripts of this version; or fetch those of a collector, and compare.

    Args:
        address: a collector, such as https://survey.example, to compare with.
    """
    from deniable.collector import scripts as served

    if not address:
        typer.echo(served.listing(), nl=False)
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


@contextmanager
def _store(
    file: Path | None, database: str | None, *, new: bool = False, **given: Any
) -> Iterator[tuple[Store, Settings]]:
    """Open the database; one that is not there is made only where that makes sense."""
    settings = read_settings(file, database=database, **given)
    from deniable.collector.store import open_store
    from deniable.collector.store.base import StoreFailed

    if (
        not new
        and "://" not in settings.database
        and not Path(settings.database).exists()
    ):
        raise UnreadableFile(
            f"there is no database {settings.database}; expected the one of a collector.",
            "Name it with --database, or create a survey first: deniable survey create FILE.",
        )
    try:
        store = open_store(settings.database)
        try:
            served = store.database.noted()
            if not settings.address and served.startswith(
                "http"
            ):  # links lead to where it is, or was, served
                settings = read_settings(
                    file, database=database, **given | {"address": served}
                )
            yield store, settings
        finally:
            store.shut()
    except StoreFailed as error:
        raise UnreadableFile(error.problem, error.hint) from None


def _read(file: Path) -> Survey:
    from deniable.survey import Survey

    return Survey.read(file)


def _told(entry: Entry, settings: Settings, *, as_json: bool) -> None:
    name, state = entry.survey.name, entry.state
    if as_json:
        print_json(
            {
                "name": name,
                "state": state,
                "hash": entry.survey.hash,
                "database": _where(settings),
            }
        )
        return
    say(f"{name} is {'a draft' if state == 'draft' else state} in {_where(settings)}.")
    if state == "open":
        say(f"Its page, while `deniable serve` runs: {entry.link(settings.base).text}")
        _say_if_unknown(settings)


def _say_if_unknown(settings: Settings) -> None:
    """Tell what a link takes for granted where nobody set the address, and no collector has left its own."""
    if not settings.address:
        say(
            f"No collector has said yet where it runs: this is for port {settings.port} of this machine. If it runs "
            "elsewhere, ask again with DENIABLE_ADDRESS set, such as to http://127.0.0.1:9000."
        )


def _where(settings: Settings) -> str:
    """Name the database without the password that its address may hold."""
    from deniable.db import name_database

    return name_database(settings.database)


def _show(survey: Survey) -> None:
    from rich.table import Table

    from deniable.survey.catalogue import fill, locale
    from deniable.survey.codebook import KEYS_FOLLOW
    from deniable.survey.disclosure import epsilon_words

    out, spoken = console(), locale("en")
    texts = survey.texts[survey.language]
    out.print(f"[bold]{survey.name}[/]  {survey.hash:.19}…", highlight=False)
    if survey.keys is None:
        out.print(
            f"The hash is that of this file. {KEYS_FOLLOW}", style="dim", soft_wrap=True
        )
    out.print(f"{texts.title}  ({', '.join(survey.languages)})", markup=False)
    table = Table("question", "design", "stages", "ε", box=None, header_style="dim")
    for question in survey.questions:
        last = question.designs[-1]
        table.add_row(
            question.name,
            last.name,
            str(question.stages),
            epsilon_words(last.epsilon, spoken),
        )
    out.print(table)
    odds = sum(arm.odds for arm in survey.arms)
    for arm, arm_questions in zip(survey.arms, survey.arm_questions, strict=False):
        loss = survey.together(
            {
                each.name: each.disclosure.parity
                for each in arm_questions
                if not each.check
            }
        )
        described = f"{', '.join(each.name for each in arm_questions)}; ε ≤ {epsilon_words(loss.epsilon, spoken)}"
        out.print(
            f"The arm {arm.name}, {arm.odds} of {odds} respondents: {described}.",
            markup=False,
            soft_wrap=True,
        )
    total = epsilon_words(survey.disclosure.epsilon, spoken)
    out.print(
        f"A respondent who answers everything, at the finest stages, reveals at most ε = {total}."
    )
    words, worst = spoken.words["disclosure"], survey.worst
    out.print(
        f"\nWhat respondents are told, in their language:\n{words['title']}",
        markup=False,
    )
    for question in survey.questions:
        if question.check:
            out.print(
                f"- {question.name}: {spoken.words['question']['check']}", markup=False
            )
        else:
            out.print(
                f"- {question.disclosure.line(question.name, spoken)}", markup=False
            )
    out.print(
        fill(words["worst"], question=worst.name),
        *worst.disclosure.response_words(spoken),
        markup=False,
    )
    if len(survey.questions) > 1:
        out.print(*survey.disclosure.together_words(spoken), markup=False)


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
