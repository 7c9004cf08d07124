"""Blind signatures in a browser: the numbers of Python from the same bytes, and nothing forged is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable import documents
from deniable.blind import blind, expand, unblind, verify
from tests.support import browser
from tests.support.hands import Counted
from tests.support.seeded import Seeded
from tests.support.signing import KEYS, signed_by

if TYPE_CHECKING:
    from playwright.sync_api import Page

KEY, OTHER = KEYS
TOKENS = [Seeded(f"token {at}").read(16 + at) for at in range(40)]


def pairs(number: int) -> str:
    """Return a number as the browser writes it: two digits for each byte."""
    return number.to_bytes((number.bit_length() + 7) // 8, "big").hex()


def test_the_same_bytes_give_the_same_numbers(scripts: Page) -> None:
    jobs, expected = [], []
    for at, token in enumerate(TOKENS):
        script = b"\xff" * 8 * 33 if at % 4 == 0 else b""  # a factor beyond the modulus, which is thrown away
        source = Counted(script, Seeded(f"factor {at}"))
        hidden, unblinder = blind(token, KEY, source)
        taken = Counted(script, Seeded(f"factor {at}")).read(source.used + 16)
        jobs.append({"token": browser.packed(token), "bytes": browser.packed(taken)})
        numbers = {"hash": expand(token, KEY.modulus), "blinded": hidden, "unblinder": unblinder}
        expected.append({name: pairs(number) for name, number in numbers.items()} | {"used": source.used})
    assert browser.run(scripts, "blind", {"key": KEY.to_json(), "jobs": jobs}) == expected
    assert {each["used"] for each in expected} == {8 * 33, 8 * 66}


def test_what_was_signed_is_good_and_nothing_else_is(scripts: Page) -> None:
    jobs, expected = [], []
    for at, token in enumerate(TOKENS[:12]):
        hidden, unblinder = blind(token, KEY, Seeded(f"factor {at}"))
        signed = signed_by(KEY, hidden)
        good = unblind(token, signed, unblinder, KEY)
        assert verify(token, good, KEY)
        ways = {
            "as it came": (token, signed),
            "altered": (token, signed ^ 1),
            "by another survey": (token, signed_by(OTHER, hidden % OTHER.modulus)),
            "of another token": (token[::-1], signed),
            "nothing": (token, 1),
        }
        for way, (message, given) in ways.items():
            jobs.append({"token": browser.packed(message), "signed": f"{given:x}", "unblinder": f"{unblinder:x}"})
            right = {"signature": pairs(good), "good": True}
            expected.append(right if way == "as it came" else {"refused": "InvalidRequest"})
    assert browser.run(scripts, "unblind", {"key": KEY.to_json(), "jobs": jobs}) == expected


def test_a_browser_blinds_with_its_own_source_and_python_takes_the_token(scripts: Page) -> None:
    found = scripts.evaluate(
        """async (key) => {
          const { blind, hex, readKey } = await import("/blind.js");
          const read = await readKey(key);
          const token = crypto.getRandomValues(new Uint8Array(32));
          const { blinded, unblinder } = await blind(token, read);
          return [[...token], hex(blinded), hex(unblinder)];
        }""",
        KEY.to_json(),
    )
    token, hidden, unblinder = bytes(found[0]), int(found[1], 16), int(found[2], 16)
    assert verify(token, unblind(token, signed_by(KEY, hidden), unblinder, KEY), KEY)


def test_weak_keys_and_short_tokens_are_refused(scripts: Page) -> None:
    names = scripts.evaluate(
        """async ([edited, weak, key]) => {
          const { blind, readKey } = await import("/blind.js");
          const refusal = (promise) => promise.then(() => null, (error) => error.name);
          const short = blind(new Uint8Array(15), await readKey(key));
          return [await refusal(readKey(edited)), await refusal(readKey(weak)), await refusal(short)];
        }""",
        [KEY.to_json().replace("7", "8"), weak_key(), KEY.to_json()],
    )
    assert names == ["UnreadableFile", "InvalidRequest", "InvalidRequest"]


def weak_key() -> str:
    """Return a sealed key that is too short by a bit."""
    return documents.seal("signing-key", {"modulus": str(KEY.modulus >> 1 | 1)})
