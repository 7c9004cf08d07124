"""`deniable certify`: what a design, a ladder or a survey promises, as a certificate that anybody can check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deniable.cli.common import CommandOutput, guard_command, print_json, say, tell
from deniable.cli.reading import read_numbers
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.certificates import Certificate
    from deniable.claims.statements import Priors
    from deniable.documents import HashedDocument
    from deniable.survey import Survey


@guard_command
def certify(
    file: str | None = None,
    *,
    prior: list[str] | None = None,
    registry: bool = False,
    checker: bool = False,
    output: CommandOutput,
) -> None:
    """Certify what a design, a ladder or a survey promises, in exact numbers that anybody can check again.

    Args:
        file: a design of any type, a ladder, a deck or a survey; or the link of a survey, whose hash is then that of
            the link.
        prior (A,B,C|NAME=NUMBER,…): what somebody believes of the answers beforehand; for one of several parts
            PART:A,B,C. May be repeated.
        out: write it: .json to be checked, .html or .txt to be read.
        registry: write a record for the public registry of deployments.
        checker: print the program that checks certificates, and stop.
    """
    from deniable.certificates import certify as certified
    from deniable.certificates.certificate import checker_source
    from deniable.survey import Survey

    if checker:
        typer.echo(checker_source(), nl=False)
        return
    if file is None:
        raise InvalidRequest(
            "nothing to certify was named; expected a file.",
            "For example design.json, or survey.toml.",
        )
    subject = _fetch(file) if "://" in file else _read(Path(file))
    certificate = certified(subject, _priors(prior or []))
    document = certificate.to_json(indent=1)
    text = _render(certificate, document, output, registry)
    output.write(text.rstrip("\n"))
    if output.as_json:
        print_json(document)
    elif output.out is None:
        tell(text, soft_wrap=True)
    if isinstance(subject, Survey) and subject.keys is None:
        say(
            "This survey is not fielded: its collector adds keys, and with them the hash changes. To compare hashes, "
            "certify the link that respondents get."
        )


def _render(
    certificate: Certificate, document: str, output: CommandOutput, registry: bool
) -> str:
    if registry:
        text = certificate.to_registry()
    else:
        ending = output.out.suffix.lower() if output.out else ".txt"
        text = {
            ".html": certificate.to_html,
            ".htm": certificate.to_html,
            ".txt": certificate.to_text,
        }.get(ending, lambda: document)()
    return text


def _fetch(link: str) -> Survey:
    """Read the definition that a link names from its collector."""
    from deniable.client.connection import Connection
    from deniable.client.state import fetch_survey
    from deniable.survey import Link

    target = Link.read(link)
    return fetch_survey(target, Connection(target.base, patience=10))


def _read(path: Path) -> HashedDocument:
    """Read anything that can be certified, by the schema that its file names; a survey also as TOML."""
    from deniable.certificates.certificate import subject_classes
    from deniable.survey import Survey

    if path.suffix.lower() == ".toml":
        return Survey.read(path)
    text = path.read_bytes()
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableFile(
            f"{path.name} is not JSON; expected a design, a ladder, a deck or a survey."
        ) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    kind = str(schema).removeprefix("deniable/").rpartition("/")[0]
    classes = subject_classes()
    return classes[kind].from_json(text) if kind in classes else Survey.read(path)


def _priors(texts: list[str]) -> Priors:
    """Read A,B,C or NAME=NUMBER,…; or these for some parts, each behind its name and a colon."""
    if not texts:
        return None
    if len(texts) == 1 and ":" not in texts[0]:
        return read_numbers(texts[0])
    parts = [text.partition(":") for text in texts]
    names = {name for name, colon, _ in parts if colon}
    if len(names) < len(parts):
        raise InvalidRequest(
            "the priors do not fit; expected one, or PART:A,B,C for some parts, each once."
        )
    return {name: read_numbers(text) for name, _, text in parts}
