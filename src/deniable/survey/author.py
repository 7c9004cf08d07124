"""The author's own key: made and used on a machine of the author, and never seen by a collector."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from deniable.errors import InvalidRequest, UnreadableFile
from deniable.files.atomic import sync_folder
from deniable.survey.signed import AuthorSignature, signed_definition
from deniable.survey.survey import Survey


def make_key(path: str | PathLike[str]) -> str:
    """Make a key in a new file that its owner alone can read (PKCS8, PEM), and return the public half.

    Raises:
        InvalidRequest: there is a file already, or it cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(
        Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        with open(
            os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(Path(path).parent)  # a key that is lost is lost
    except FileExistsError:
        raise InvalidRequest(
            f"{path} exists already; expected a new file.",
            "A key that is lost is lost.",
        ) from None
    except OSError as error:
        raise InvalidRequest(f"cannot write {path}: {error.strerror}.") from None
    return _public(key)


def sign(survey: Survey, path: str | PathLike[str]) -> AuthorSignature:
    """Sign a definition with the key in a file.

    Raises:
        InvalidRequest: the definition has no keys of a collector yet, or others can read the file of the key.
        UnreadableFile: no such key. The message does not repeat the file.
    """
    if survey.keys is None:
        raise InvalidRequest(
            "this definition has no keys of a collector yet, so its hash will change; expected one of a draft.",
            "Create the survey, then take its definition from the collector: deniable survey definition NAME.",
        )
    key = _read(Path(path))
    return AuthorSignature(
        survey.hash, _public(key), key.sign(signed_definition(survey.hash)).hex()
    )


def _read(path: Path) -> Ed25519PrivateKey:
    try:
        text, mode = path.read_bytes(), path.stat().st_mode
        key = serialization.load_pem_private_key(text, password=None)
    except OSError as error:
        raise UnreadableFile(f"cannot read {path}: {error.strerror}.") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UnreadableFile(
            f"{path} is no author's key; expected an Ed25519 key in PEM, without a password."
        )
    if mode & 0o077:
        raise InvalidRequest(
            f"others can read {path}; expected a file for its owner alone.",
            f"chmod 600 {path}",
        )
    return key


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()
