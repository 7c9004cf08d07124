"""A design as a file: it comes back the same or not at all."""

from __future__ import annotations

import json
import subprocess
import sys

from deniable import documents
from deniable.designs import FAMILIES, Design
from deniable.errors import InvalidDesign, UnreadableFile
from tests.support.rational import table
from tests.support.registered import every_design

HASHES = {
    "binary": "sha256:7eb73d2d1fad313d2b8bf5af4a8898504831f510846f49cbbc6512625ef9be9a",
    "k_ary": "sha256:eb0e36785f48853babdb337d318162db9f74026a6ffadf08616073f308a3a6ae",
    "matrix": "sha256:60290deb67b90c3b761b0d8ce8d7f7ef257a3f8fab28d16c54b9e2d18436ec32",
    "warner": "sha256:924c8cec2306d5f89285b7872d7bba675dd3587b0bc57e6df4222e9cd6582a8e",
    "product": "sha256:5779c769391987bf5bec4023268d6d356df4d6f6715de4c113b9feb64632fd21",
}


@every_design
def test_json_comes_back_the_same(design: Design) -> None:
    for text in (
        design.to_json(),
        design.to_json(indent=2),
        design.to_json().encode(),
    ):
        again = Design.from_json(text)
        assert again == design
        assert again.hash == design.hash
        assert again.name == design.name
        assert tuple(again.categories) == tuple(design.categories)
        assert tuple(again.symbols) == tuple(design.symbols)
        assert again.channel == design.channel
        assert table(again.channel) == table(design.channel)
        assert again.to_json() == design.to_json()


@every_design
def test_the_file_names_schema_and_hash(design: Design) -> None:
    document = json.loads(design.to_json())
    assert document.pop("hash") == design.hash == documents.digest(document)
    assert document["schema"] == "deniable/design/1"


@every_design
def test_integers_travel_as_text_or_fit_into_a_double(design: Design) -> None:
    def check(value: object) -> None:
        if isinstance(value, dict):
            for each in value.values():
                check(each)
        elif isinstance(value, list):
            for each in value:
                check(each)
        else:
            assert not isinstance(value, float)
            assert not isinstance(value, int) or value <= 2**53

    check(json.loads(design.to_json()))


@every_design
def test_no_edited_byte_makes_another_design(design: Design) -> None:
    original = design.to_json().encode()
    for at, byte in enumerate(original):
        for other in {byte ^ 1, byte ^ 32, ord("0"), ord(" "), ord('"')} - {byte}:
            edited = original[:at] + bytes([other]) + original[at + 1 :]
            try:
                read = Design.from_json(edited)
            except (UnreadableFile, InvalidDesign):
                continue
            assert read == design, (
                f"byte {at} became {other}, and another design came out"
            )
            assert json.loads(edited) == json.loads(original)


@every_design
def test_a_truncated_file_is_refused(design: Design) -> None:
    original = design.to_json().encode()
    for length in range(len(original)):
        try:
            Design.from_json(original[:length])
        except UnreadableFile:
            continue
        raise AssertionError(f"the first {length} bytes were read as a design")


def test_hashes_do_not_depend_on_the_process() -> None:
    program = (
        "from deniable.designs import FAMILIES\n"
        "for family in FAMILIES.values():\n"
        "    for design in family.designs(): print(design.hash)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [
        design.hash for family in FAMILIES.values() for design in family.designs()
    ]


def test_hashes_do_not_depend_on_the_version() -> None:
    """Files that people hold name these hashes. A change here needs a new schema version."""
    known = {
        name: family.designs()[0].hash
        for name, family in FAMILIES.items()
        if name in HASHES
    }
    assert known == HASHES
