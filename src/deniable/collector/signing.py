"""What the collector signs: blinded tokens of invited respondents, and receipts.

Tokens: the signing half of blind signatures; `deniable.blind` says how and why. A survey by invitation has a key of its
own. It signs whatever it is given, once for each invitation, and sees neither the token nor, later, whose it was.

Receipts: what is stored under a respondent's key, signed, so that the respondent can show later what the collector had
said. A receipt names responses, never an answer, and says what they reveal at most. It names the key by its hash:
whoever is shown a receipt cannot withdraw.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from deniable.blind import EXPONENT, MIN_BITS, Key
from deniable.chance import SYSTEM, Source, below
from deniable.designs import Design
from deniable.designs.labels import max_json_size
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.survey.catalogue import Locale, locale
from deniable.survey.disclosure import Disclosure
from deniable.survey.signed import StoredReceipt, key_hash, signed_receipt

if TYPE_CHECKING:
    from deniable.collector.store import Entry, Store

_RECEIPT_SECRET = (
    "receipts"  # the name under which the store keeps what receipts are signed with
)


@dataclass(frozen=True)
class SigningKey:
    """The secret half of a key; it is never shown, not even in a traceback.

    Attributes:
        numbers: the primes and exponents, for the Chinese remainder theorem.
        public: the half that everybody may have.

    Raises:
        InvalidRequest: too short.
    """

    numbers: rsa.RSAPrivateNumbers = field(repr=False)
    public: Key = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "public", Key(self.numbers.public_numbers.n))

    @classmethod
    def make(cls, *, bits: int = MIN_BITS) -> SigningKey:
        """Make a new key.

        Raises:
            InvalidRequest: too short.
        """
        if bits < MIN_BITS:
            raise InvalidRequest(
                f"a key of {bits} bits is too short; expected at least {MIN_BITS}."
            )
        return cls(
            rsa.generate_private_key(
                public_exponent=EXPONENT, key_size=bits
            ).private_numbers()
        )

    def to_pem(self) -> bytes:
        """Return the key for the store, which must keep it from everybody else."""
        return self.numbers.private_key(
            unsafe_skip_rsa_key_validation=True  # `sign` checks every signature
        ).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    @classmethod
    def from_pem(cls, text: bytes) -> SigningKey:
        """Read what `to_pem` wrote, without a test of the primes: it takes five times as long as a signature.

        Raises:
            UnreadableFile: truncated, or no RSA key with our exponent. The message does not repeat it.
            InvalidRequest: too short.
        """
        try:
            read = serialization.load_pem_private_key(
                text, password=None, unsafe_skip_rsa_key_validation=True
            )
        except (ValueError, TypeError, UnsupportedAlgorithm):
            read = None
        if (
            not isinstance(read, rsa.RSAPrivateKey)
            or read.public_key().public_numbers().e != EXPONENT
        ):
            raise UnreadableFile(
                f"this is not a signing key; expected an RSA key in PEM with the exponent {EXPONENT}.",
                "Restore the collector's backup; the signatures of another key are not accepted.",
            )
        return cls(read.private_numbers())


def sign(blinded: int, key: SigningKey, source: Source = SYSTEM) -> int:
    """Sign what was blinded.

    Why the random factor: senders choose what is signed and may watch how long it takes; they do not know the product.
    Why the check: a miscalculation in one of the two halves would give the primes away.

    Raises:
        InvalidRequest: not a number from 1 to below the modulus.
        ArithmeticError: a miscalculation of this machine.
    """
    numbers, modulus = key.numbers, key.public.modulus
    if not 0 < blinded < modulus:
        raise InvalidRequest(
            "what is to be signed is not a number from 1 to below the modulus of the key."
        )
    factor = 1 + below(modulus - 1, source)
    base = blinded * pow(factor, EXPONENT, modulus)
    root_p = pow(base % numbers.p, numbers.dmp1, numbers.p)
    root_q = pow(base % numbers.q, numbers.dmq1, numbers.q)
    root = root_q + (root_p - root_q) * numbers.iqmp % numbers.p * numbers.q
    signed = root * pow(factor, -1, modulus) % modulus
    if pow(signed, EXPONENT, modulus) != blinded:
        raise ArithmeticError("a signature came out wrong, and was not handed out.")
    return signed


def receipt(store: Store, entry: Entry, key: bytes) -> str:
    """Return the receipt of a key as JSON; it lists no response where none is stored.

    Spaces at its end make it as long as that of any other responses to the same questions.
    """
    survey, missing = entry.survey, 0
    responses, designs = [], {}
    for question, stage, code in store.stored(entry.id, key):
        asked_question = survey.questions[question]
        designs[asked_question.name] = design = asked_question.designs[stage]
        symbol = design.symbols[code]
        missing += max_json_size(design.symbols) - max_json_size([symbol])
        responses.append(
            {
                "question": asked_question.name,
                "design": design.hash,
                "symbol": symbol,
            }
        )
    checks = {question.name for question in survey.questions if question.check}
    revealed = {
        language: _disclosure_texts(designs, checks, locale(language))
        for language in survey.languages
    }
    unsigned = StoredReceipt(
        survey.hash, key_hash(key), tuple(responses), revealed, ""
    )
    signature = _receipt_signer(store).sign(signed_receipt(unsigned.unsigned)).hex()
    text = replace(unsigned, signature=signature).to_json()
    return text + " " * missing


def _disclosure_texts(
    designs: Mapping[str, Design], checks: Collection[str], spoken: Locale
) -> dict[str, Any]:
    """Return what the responses of a receipt reveal at most, each alone and all together, in the words of the page.

    Comprehension checks are about the device, and reveal nothing that the page promises to hide.
    """
    sentences = {
        name: " ".join(Disclosure.of_response(design).response_words(spoken))
        for name, design in designs.items()
    }
    sentences |= {
        name: str(spoken.words["question"]["check"])
        for name in designs
        if name in checks
    }
    counted_designs = [
        design for name, design in designs.items() if name not in checks
    ]
    return {
        "responses": sentences,
        "together": " ".join(Disclosure.of(counted_designs).together_words(spoken)),
    }


def receipt_key(store: Store) -> str:
    """Return the public key that receipts are verified with, in hexadecimal."""
    return (
        _receipt_signer(store)
        .public_key()
        .public_bytes(Encoding.Raw, PublicFormat.Raw)
        .hex()
    )


def _receipt_signer(store: Store) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(store.secret(_RECEIPT_SECRET))
