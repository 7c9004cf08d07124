"""The tables of those who may do something: tokens, invitations, and secrets of the collector itself.

Tokens and invitation codes are handed out as text, and only their hashes are kept.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence

from deniable.collector.signing import SigningKey, sign
from deniable.collector.store.base import (
    SCOPES,
    Exchange,
    Invitations,
    NotStored,
    Token,
)
from deniable.collector.store.surveys import lock, number
from deniable.db import Tables
from deniable.errors import DeniableError, InvalidRequest, NotAllowed, quoted

_MAX_INVITATIONS = (
    1_000_000  # made at a time: some seconds, and a list that fits into memory
)
_MAX_SESSIONS = 10_000  # at a time: whoever holds a token can open many
_SECRET_BYTES = 32
_TEXT_BYTES = 24
# what texts begin with, so that people and scanners can tell what they have found
_TOKEN, _INVITATION = "dn_", "in_"


def invite(tables: Tables, survey: int, count: int) -> list[str]:
    """Make invitation codes.

    Raises:
        NotAllowed: the survey is open to everybody.
        InvalidRequest: none, or too many at a time.
    """
    if not tables.value("SELECT private FROM survey WHERE id = ?", survey):
        raise NotAllowed(
            "this survey is open to everybody; expected one by invitation."
        )
    if not 1 <= count <= _MAX_INVITATIONS:
        raise InvalidRequest(
            f"{count:,} invitations are asked for; expected 1 to {_MAX_INVITATIONS:,}."
        )
    lock(tables, survey)
    codes = [_new_text(_INVITATION) for _ in range(count)]
    tables.insert(
        "invitation",
        ("hash", "survey"),
        sorted((digest(code), survey) for code in codes),
    )
    return codes


def invitations(tables: Tables, survey: int) -> Invitations:
    """Count invitations."""
    statement = "SELECT count(*), count(used) FROM invitation WHERE survey = ?"
    ((issued, used),) = tables.rows(statement, survey)
    return Invitations(issued, used)


def exchange_all(
    tables: Tables, exchanges: Sequence[Exchange]
) -> list[int | NotStored]:
    """Exchange many invitations in the order of their hashes; return the signature for each, or why there is none."""
    outcomes: dict[Exchange, int | NotStored] = {}
    numbers = {
        tables.value("SELECT id FROM survey WHERE name = ?", name)
        for name in {exchange.survey for exchange in exchanges}
    }
    # In the order in which everybody locks them.
    for survey in sorted(numbers - {None}):
        lock(tables, survey)
    for exchange in sorted(exchanges, key=lambda exchange: digest(exchange.code)):
        try:
            survey = number(tables, exchange.survey)
            signature = _exchange(tables, survey, exchange.code, exchange.blinded)
            outcomes[exchange] = signature
        except DeniableError as error:
            outcomes[exchange] = NotStored(error)
    return [outcomes[exchange] for exchange in exchanges]


def _exchange(tables: Tables, survey: int, code: str, blinded: int) -> int:
    """Sign a blinded message for an invitation, once.

    What is kept is that the invitation was used, and a hash of the blinded message, which is random and has nothing in
    common with the token that the respondent makes of it.

    Raises:
        NotAllowed: no such invitation, or it was used for another message.
        InvalidRequest: what is to be signed is no number below the modulus.
    """
    lock(tables, survey)
    message = hashlib.sha256(f"{blinded:x}".encode()).digest()
    invitation = find_unused(tables, survey, code, message)
    private = tables.value("SELECT private FROM survey WHERE id = ?", survey)
    signature = sign(blinded, SigningKey.from_pem(private.encode()))
    use(tables, {invitation: message})
    return signature


def find_unused(
    tables: Tables, survey: int, code: str, message: bytes | None = None
) -> bytes:
    """Return the hash of an invitation that was not used, or for this message.

    Raises:
        NotAllowed: no such invitation, or it was used for another message.
    """
    hash_ = digest(code)
    rows = tables.rows(
        "SELECT used FROM invitation WHERE hash = ? AND survey = ?", hash_, survey
    )
    if not rows or rows[0][0] not in (None, message):
        raise used_already()
    return hash_


def used_already() -> DeniableError:
    """Return the refusal of an invitation."""
    return NotAllowed(
        "this invitation is unknown, or was used already; expected one that is new.",
        "Go on in the browser in which it was used, or ask for another one.",
    )


def use(tables: Tables, invitations: Mapping[bytes, bytes]) -> None:
    """Note for which message each invitation was used."""
    for hash_, message in sorted(invitations.items()):
        tables.run("UPDATE invitation SET used = ? WHERE hash = ?", message, hash_)


def issue(tables: Tables, token: Token) -> str:
    """Make a token.

    Raises:
        InvalidRequest: there is one of this name, or no such scope or survey.
    """
    if token.scope not in SCOPES or not token.name.strip():
        raise InvalidRequest(
            f"the scope is {quoted(token.scope)}; expected a name, and one of {', '.join(SCOPES)}."
        )
    if token.survey and not tables.rows(
        "SELECT 1 FROM survey WHERE name = ?", token.survey
    ):
        raise InvalidRequest(
            f"there is no survey {quoted(token.survey, 50)} that the token could be for."
        )
    if tables.rows("SELECT 1 FROM token WHERE name = ?", token.name):
        raise InvalidRequest(
            f"there is a token called {quoted(token.name, 60)} already; expected another name."
        )
    text = _new_text(_TOKEN)
    tables.run(
        "INSERT INTO token VALUES (?, ?, ?, ?)",
        token.name,
        digest(text),
        token.scope,
        token.survey,
    )
    return text


def rotate(tables: Tables, name: str) -> str:
    """Put a new token into the place of one.

    Raises:
        InvalidRequest: there is none of this name.
    """
    text = _new_text(_TOKEN)
    statement = "UPDATE token SET hash = ? WHERE name = ?"
    _require_one(tables.run(statement, digest(text), name), name)
    return text


def revoke(tables: Tables, name: str) -> None:
    """Erase a token.

    Raises:
        InvalidRequest: there is none of this name.
    """
    _require_one(tables.run("DELETE FROM token WHERE name = ?", name), name)


def find(tables: Tables, text: str) -> Token | None:
    """Find a token by its text."""
    rows = tables.rows(
        "SELECT name, scope, survey FROM token WHERE hash = ?", digest(text)
    )
    return Token(*rows[0]) if rows else None


def start_session(tables: Tables, text: str, now: int, expires: int) -> str:
    """Return the name of a new session of a token; those that have ended are forgotten, and the oldest of too many."""
    name = _new_text("")
    tables.run("DELETE FROM session WHERE ends <= ?", now)
    tables.run(
        "DELETE FROM session WHERE hash IN (SELECT hash FROM session ORDER BY ends DESC LIMIT ? OFFSET ?)",
        _MAX_SESSIONS, _MAX_SESSIONS - 1,
    )  # fmt: skip
    tables.run(
        "INSERT INTO session VALUES (?, ?, ?)", digest(name), digest(text), expires
    )
    return name


def find_session(tables: Tables, name: str) -> tuple[Token | None, int]:
    """Find the token of a session, and when it ends: None and 0 where there is none."""
    statement = (
        "SELECT token.name, scope, survey, ends FROM token JOIN session ON session.token = token.hash "
        "WHERE session.hash = ?"
    )
    for *token, ends in tables.rows(statement, digest(name)):
        return Token(*token), ends
    return None, 0


def end_session(tables: Tables, name: str) -> None:
    """Forget a session."""
    tables.run("DELETE FROM session WHERE hash = ?", digest(name))


def tokens(tables: Tables) -> list[Token]:
    """Return all tokens."""
    return [
        Token(*row)
        for row in tables.rows("SELECT name, scope, survey FROM token ORDER BY name")
    ]


def known_secret(tables: Tables, name: str) -> bytes | None:
    """Return a secret of the collector; None if it was not drawn yet."""
    value = tables.value("SELECT value FROM secret WHERE name = ?", name)
    return None if value is None else bytes(value)


def secret(tables: Tables, name: str) -> bytes:
    """Draw a secret of the collector, and return it; where another program was faster, that one's."""
    fresh = secrets.token_bytes(_SECRET_BYTES)
    tables.run(
        "INSERT INTO secret VALUES (?, ?) ON CONFLICT DO NOTHING", name, fresh
    )
    return known_secret(tables, name) or fresh


def _new_text(prefix: str) -> str:
    """Return a new secret: 192 random bits, in letters that fit into an address."""
    return prefix + secrets.token_urlsafe(_TEXT_BYTES)


def digest(text: str) -> bytes:
    """Return what is kept of a secret.

    Why a plain SHA-256 is enough: nobody guesses 192 random bits, so there is nothing that a slow hash would slow down.
    """
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _require_one(changed: int, name: str) -> None:
    if changed != 1:
        raise InvalidRequest(
            f"there is no token called {quoted(name, 60)}; expected one that was issued."
        )
