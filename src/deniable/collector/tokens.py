"""Secrets that are handed out as text and kept as hashes: tokens of analysts and administrators, invitation codes."""

from __future__ import annotations

import hashlib
import secrets

TOKEN, INVITATION = "dn_", "in_"
"""What texts begin with, so that people and scanners can tell what they have found."""

_BYTES = 24


def make(kind: str) -> str:
    """Return a new secret: 192 random bits, in letters that fit into an address."""
    return kind + secrets.token_urlsafe(_BYTES)


def digest(text: str) -> bytes:
    """Return what is kept of a secret.

    Why a plain SHA-256 is enough: nobody guesses 192 random bits, so there is nothing that a slow hash would slow down.
    """
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
