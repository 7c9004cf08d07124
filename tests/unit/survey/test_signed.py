"""Who wrote a definition, and what a collector has signed: checked with the keys that definition and link pin."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from deniable import documents
from deniable.errors import Incompatible, InvalidRequest, UnreadableFile
from deniable.survey import Keys
from deniable.survey.author import make_key, sign
from deniable.survey.signed import AuthorSignature
from tests.support.surveys import small

FIELDED = small(keys=Keys("0" * 64))


def test_an_author_signs_with_a_key_that_is_for_its_owner_alone(
    tmp_path: Path,
) -> None:
    public = make_key(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    made = sign(FIELDED, tmp_path / "key")
    assert (made.survey, made.author) == (FIELDED.hash, public)
    assert AuthorSignature.from_json(made.to_json()) == made
    with pytest.raises(InvalidRequest, match="exists already"):
        make_key(tmp_path / "key")
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(InvalidRequest, match="others can read"):
        sign(FIELDED, tmp_path / "key")


def test_what_has_no_keys_yet_is_not_signed(tmp_path: Path) -> None:
    make_key(tmp_path / "key")
    with pytest.raises(InvalidRequest, match="its hash will change"):
        sign(small(), tmp_path / "key")
    (tmp_path / "none").write_text("-----BEGIN PRIVATE KEY-----\nsecret\n")
    with pytest.raises(UnreadableFile, match="no author's key") as caught:
        sign(FIELDED, tmp_path / "none")
    assert "secret" not in str(caught.value)


def test_a_signature_that_does_not_verify_is_none(tmp_path: Path) -> None:
    make_key(tmp_path / "key")
    made = sign(FIELDED, tmp_path / "key")
    other = make_key(tmp_path / "other")
    for change in (
        {"survey": small().hash}, {"author": other}, {"signature": "0" * 128}, {"signature": "x"}, {"author": ""},
    ):  # fmt: skip
        with pytest.raises(UnreadableFile, match="not a signature"):
            replace(made, **change)
        with pytest.raises(UnreadableFile, match="not a signature"):
            AuthorSignature.from_json(
                documents.seal("signature", made.to_body() | change)
            )


def test_a_receipt_of_another_definition_is_refused() -> None:
    from deniable.survey.signed import StoredReceipt

    receipt = StoredReceipt(FIELDED.hash, "sha256:0", (), {}, "0" * 128)
    with pytest.raises(Incompatible, match="of the definition"):
        receipt.check(small(keys=Keys("1" * 64)))
    with pytest.raises(UnreadableFile, match="not signed with the key"):
        receipt.check(FIELDED)
