"""The scripts that pages run, with their hashes: anybody can compare what a collector serves with what was released."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path

from deniable.errors import Incompatible, UnreadableFile

STATIC = Path(__file__).parent / "static"
"""Where the files lie that are served as they are."""

_LARGEST = 1 << 20  # bytes of a script that are read from elsewhere
_TIMEOUT = 30.0


@cache
def hashes() -> dict[str, str]:
    """Return the SHA-256 of every script of this version, by its path."""
    return {
        f"static/{file.relative_to(STATIC).as_posix()}": hashlib.sha256(
            file.read_bytes()
        ).hexdigest()
        for file in sorted(STATIC.rglob("*.js"))
    }


def checksums() -> str:
    """Return the hashes of the scripts in the format of `sha256sum`."""
    return "".join(f"{digest}  {path}\n" for path, digest in hashes().items())


def compare(address: str) -> None:
    """Fetch every script from a collector, and compare it with the one of this version.

    Raises:
        Incompatible: one is another, or missing.
        UnreadableFile: the collector cannot be reached.
    """
    changed = [
        path
        for path, digest in hashes().items()
        if _fetch_hash(f"{address.rstrip('/')}/{path}") != digest
    ]
    if changed:
        raise Incompatible(
            f"{address:.80} serves {len(changed)} scripts that are not those of this version, {changed[0]} among them; "
            "expected the same.",
            "It may run another version: compare with that one. If none fits, do not answer there.",
        )


def _fetch_hash(address: str) -> str:
    if not address.startswith(("https://", "http://")):
        raise UnreadableFile(
            f"{address:.80} is no address; expected one such as https://survey.example."
        )
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT) as reply:  # noqa: S310 - http or https, see above
            return hashlib.sha256(reply.read(_LARGEST)).hexdigest()
    except urllib.error.HTTPError as error:
        error.close()
        return ""
    except OSError:
        raise UnreadableFile(
            f"{address:.80} cannot be fetched; expected a collector that runs."
        ) from None
