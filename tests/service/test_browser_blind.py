"""Blind signatures in a browser: Python's numbers and RFC 9474's from the same bytes; nothing forged is taken."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from deniable.blind import (
    EXPONENT,
    MAX_BITS,
    MIN_BITS,
    SMALL,
    blind,
    prepare,
    unblind,
    verify,
)
from tests.support import browser
from tests.support.blinding import (
    VECTORS,
    joined,
    rfc_key,
    sealed,
    smooth_modulus,
    vector_bytes,
)
from tests.support.hands import Counted
from tests.support.seeded import Seeded
from tests.support.signing import KEYS, signed_by

if TYPE_CHECKING:
    from playwright.sync_api import Page

KEY, OTHER = KEYS
TOKENS = [prepare(bytes(at), Seeded(f"token {at}")) for at in range(24)]
SMOOTH = smooth_modulus()
CHECKS = (
    "smallPrimes().some((prime) => modulus % prime === 0n)",
    "gcd(encoded, modulus) !== 1n",
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_vectors_of_the_rfc(scripts: Page, vector: dict[str, str]) -> None:
    key, token = rfc_key().public, browser.packed(bytes.fromhex(vector["input_msg"]))
    script = browser.packed(vector_bytes(vector, key.modulus))
    (hidden,) = browser.run(
        scripts,
        "blind",
        {"key": key.to_json(), "jobs": [{"token": token, "bytes": script}]},
    )
    assert (hidden["blinded"], hidden["unblinder"]) == (
        vector["blinded_msg"],
        vector["inv"],
    )
    job = {"token": token, "signed": vector["blind_sig"], "unblinder": vector["inv"]}
    found = browser.run(scripts, "unblind", {"key": key.to_json(), "jobs": [job]})
    assert found == [{"signature": vector["sig"], "good": True}]


def test_the_message_is_prepared_as_in_the_vector(scripts: Page) -> None:
    prefix, message, token = (
        list(bytes.fromhex(VECTORS[0][name]))
        for name in ("msg_prefix", "msg", "input_msg")
    )
    found = scripts.evaluate(
        """async ([prefix, message]) => {
          const { prepare } = await import("/blind.js");
          return [...prepare(message, { read: () => Uint8Array.from(prefix) })];
        }""",
        [prefix, message],
    )
    assert found == token


def test_the_same_bytes_give_the_same_numbers(scripts: Page) -> None:
    jobs, expected = [], []
    for at, token in enumerate(TOKENS):
        # a factor beyond the modulus, which is thrown away
        beyond = b"\xff" * 8 * 49 if at % 4 == 0 else b""
        script = Seeded(f"salt {at}").read(48) + beyond
        source = Counted(script, Seeded(f"factor {at}"))
        hidden, unblinder = blind(token, KEY, source)
        taken = Counted(script, Seeded(f"factor {at}")).read(source.used + 16)
        jobs.append({"token": browser.packed(token), "bytes": browser.packed(taken)})
        numbers = {"blinded": hidden, "unblinder": unblinder}
        expected.append(
            {name: KEY.digits(number) for name, number in numbers.items()}
            | {"used": source.used}
        )
    assert (
        browser.run(scripts, "blind", {"key": KEY.to_json(), "jobs": jobs})
        == expected
    )
    assert {each["used"] for each in expected} == {48 + 8 * 49, 48 + 8 * 98}


def test_what_was_signed_is_good_and_nothing_else_is(scripts: Page) -> None:
    jobs, expected = [], []
    for at, token in enumerate(TOKENS[:8]):
        hidden, unblinder = blind(token, KEY, Seeded(f"factor {at}"))
        signed = signed_by(KEY, hidden)
        good = unblind(token, signed, unblinder, KEY)
        ways = {
            "as it came": (token, signed),
            "altered": (token, signed ^ 1),
            "by another survey": (token, signed_by(OTHER, hidden % OTHER.modulus)),
            "of another token": (token[::-1], signed),
            "nothing": (token, 1),
            "zero": (token, 0),
        }
        for way, (message, given) in ways.items():
            jobs.append(
                {
                    "token": browser.packed(message),
                    "signed": f"{given:x}",
                    "unblinder": f"{unblinder:x}",
                }
            )
            right = {"signature": KEY.digits(good), "good": True}
            expected.append(
                right if way == "as it came" else {"refused": "InvalidRequest"}
            )
    assert (
        browser.run(scripts, "unblind", {"key": KEY.to_json(), "jobs": jobs})
        == expected
    )


def test_a_browser_blinds_with_its_own_source_and_python_takes_the_token(
    scripts: Page,
) -> None:
    found = scripts.evaluate(
        """async (key) => {
          const { blind, digits, prepare, readKey } = await import("/blind.js");
          const read = await readKey(key);
          const token = prepare();
          const { blinded, unblinder } = await blind(token, read);
          return [[...token], digits(blinded, read), digits(unblinder, read)];
        }""",
        KEY.to_json(),
    )
    token, hidden, unblinder = bytes(found[0]), int(found[1], 16), int(found[2], 16)
    assert len(token) == 32
    assert verify(token, unblind(token, signed_by(KEY, hidden), unblinder, KEY), KEY)


def test_weak_keys_and_short_tokens_are_refused(scripts: Page) -> None:
    weak = [
        KEY.modulus >> 1 | 1,
        KEY.modulus << 5121,
        15,
        *(KEY.modulus * factor for factor in (2, 3, 64661, 65521)),
    ]
    keys = [
        KEY.to_json().replace("7", "8"),
        *map(sealed, weak),
        sealed(KEY.modulus * 65537),
        KEY.to_json(),
    ]
    names = scripts.evaluate(
        """async (keys) => {
          const { blind, readKey } = await import("/blind.js");
          const refusal = (promise) => promise.then(() => null, (error) => error.name);
          const read = [];
          for (const key of keys) read.push(await refusal(readKey(key)));
          return [...read, await refusal(blind(new Uint8Array(31), await readKey(keys.at(-1))))];
        }""",
        keys,
    )
    assert names == [
        "UnreadableFile",
        *["InvalidRequest"] * len(weak),
        None,
        None,
        "InvalidRequest",
    ]


def test_the_limits_are_those_of_python() -> None:
    text = (browser.STATIC / "blind.js").read_text(encoding="utf-8")
    assert f"[LEAST_BITS, MOST_BITS] = [{MIN_BITS}, {MAX_BITS}]" in text
    assert f"EXPONENT = {EXPONENT}n" in text
    assert SMALL == 1 << 16
    assert "SMALL = 1 << 16" in text


# The attack: a key of small factors, which stay in what is signed


INVITED = """async ([key, people, file]) => {
  const { blind, digits, prepare, readKey } = await import(file);
  const found = [];
  for (let at = 0; at < people; at += 1) {
    try {
      const read = await readKey(key);
      const { blinded, unblinder } = await blind(prepare(), read);
      found.push([digits(blinded, read), digits(unblinder, read)]);
    } catch (error) {
      if (error.name !== "InvalidRequest") throw error;
    }
  }
  return found;
}"""


def test_10000_invited_under_a_smooth_modulus_send_nothing(scripts: Page) -> None:
    assert scripts.evaluate(INVITED, [sealed(SMOOTH), 10_000, "/blind.js"]) == []


@pytest.mark.parametrize(
    ("without", "least"),
    [(CHECKS[:1], 0), (CHECKS, 100)],
    ids=["key", "key and token"],
)
def test_without_the_checks_the_attack_joins(
    scripts: Page, without: tuple[str, ...], least: int
) -> None:
    """With the key's check taken out, that of each token still keeps all apart; without both most are known again."""
    text = (browser.STATIC / "blind.js").read_text(encoding="utf-8")
    for check in without:
        assert text.count(check) == 1
        text = text.replace(check, "false")
    file = f"/without-{len(without)}-checks.js"
    scripts.route(
        f"**{file}",
        lambda route: route.fulfill(content_type="text/javascript", body=text),
    )
    found = [
        tuple(int(each, 16) for each in pair)
        for pair in scripts.evaluate(INVITED, [sealed(SMOOTH), 200, file])
    ]
    tokens = [
        hidden * pow(undo, EXPONENT, SMOOTH) % SMOOTH for hidden, undo in found
    ]
    assert joined([hidden for hidden, _ in found], tokens, SMOOTH) >= least
    assert least or {math.gcd(hidden, SMOOTH) for hidden, _ in found} == {1}
