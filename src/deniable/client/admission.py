"""An invitation becomes a token that the collector has signed without seeing it."""

from __future__ import annotations

import json

from deniable import blind
from deniable.chance import Source
from deniable.client.state import State, fact, look_up
from deniable.errors import Incompatible, NotAllowed

_MESSAGE = 32  # bytes


def token(state: State, source: Source) -> dict[str, dict[str, str]]:
    """Return the token of a survey by invitation, as a field of a submission; no field where everybody may respond.

    What is blinded is kept before it is sent: where a connection breaks, the same again is signed again.

    Raises:
        NotAllowed: the link has no invitation.
        NotTaken: the invitation is unknown, or was used by somebody else.
    """
    if state.survey.admission != "invitation":
        return {}
    with state.transaction() as book:
        known = look_up(book, "token")
    if known is None:
        known = json.dumps(_exchanged(state, source))
        with state.transaction() as book:
            known = fact(book, "token", known)
    return {"token": json.loads(known)}


def _exchanged(state: State, source: Source) -> dict[str, str]:
    if not state.link.code:
        raise NotAllowed(
            f"the survey {state.link.survey!r} is by invitation, and the link has none; expected one behind a #."
        )
    with state.transaction() as book:
        started = look_up(book, "blinded")
    if started is None:
        started = _start(state, source)
    kept = json.loads(started)
    message = bytes.fromhex(kept["message"])
    answer = json.loads(
        state.ask("POST", "/invitations/exchange", {"code": state.link.code, "blinded": _hex(int(kept["blinded"]))})
    )
    assert state.survey.key is not None  # with it, it was blinded
    signature = blind.unblind(message, int(answer["signature"], 16), int(kept["factor"]), state.survey.key)
    return {"message": message.hex(), "signature": _hex(signature)}


def _start(state: State, source: Source) -> str:
    """Draw a message and blind it; keep both."""
    key = state.survey.key
    if key is None:
        raise Incompatible("the definition of this survey by invitation has no key for tokens; expected one.")
    message = source.read(_MESSAGE)
    blinded, factor = blind.blind(message, key, source)
    drawn = {"message": message.hex(), "blinded": str(blinded), "factor": str(factor)}
    with state.transaction() as book:
        return fact(book, "blinded", json.dumps(drawn))


def _hex(number: int) -> str:
    return number.to_bytes((number.bit_length() + 7) // 8, "big").hex()
