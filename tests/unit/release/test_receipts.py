from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import jsonschema_rs
import pytest

from deniable import documents
from deniable.errors import Incompatible, InvalidRequest, UnreadableFile
from deniable.release import receipts
from deniable.release.receipts import Receipt, first_link


def history(count: int = 5, ledger: str = "ab12") -> list[Receipt]:
    found: list[Receipt] = []
    for number in range(1, count + 1):
        amount = 0.5 * (number - 1)
        found.append(
            Receipt(
                ledger=ledger,
                number=number,
                previous=found[-1].hash if found else first_link(ledger),
                kind="release",
                question="smokes",
                design=f"sha256:{number}",
                holder="Anna",
                at="2026-11-16T10:00:00+00:00",
                epsilon_before=amount,
                epsilon_after=amount + 0.5,
                total_before=amount,
                total_after=amount + 0.5,
                details={"price": "3/2"},
            )
        )
    return found


def test_a_history_is_written_and_read() -> None:
    known = history()
    text = receipts.write(known, "ab12")
    assert receipts.read(text) == tuple(known)
    assert receipts.read(text, holding=known[2:4]) == tuple(known)
    assert all(
        json.loads(line)["schema"].startswith("deniable/receipt")
        for line in text.splitlines()
    )
    assert receipts.read(receipts.write([], "ab12")) == ()


def test_receipts_are_linked() -> None:
    assert all(two.previous == one.hash for one, two in pairwise(history()))
    assert len({each.hash for each in history()}) == 5


@pytest.mark.parametrize("at", range(6))
def test_a_line_that_is_missing_is_found(at: int) -> None:
    lines = receipts.write(history(), "ab12").splitlines()
    with pytest.raises(UnreadableFile):
        receipts.read("\n".join(lines[:at] + lines[at + 1 :]))


@pytest.mark.parametrize("count", range(6))
def test_a_file_that_is_cut_off_is_found(count: int) -> None:
    lines = receipts.write(history(), "ab12").splitlines()
    with pytest.raises(UnreadableFile, match="cut off"):
        receipts.read("\n".join(lines[:count]))


def test_a_file_that_is_cut_off_inside_a_line_is_found() -> None:
    text = receipts.write(history(), "ab12")
    for end in range(0, len(text) - 2, 37):
        with pytest.raises(UnreadableFile):
            receipts.read(text[:end])


def test_a_changed_letter_is_found() -> None:
    text = receipts.write(history(3), "ab12")
    for at in range(0, len(text), 11):
        if text[at].isalnum():
            changed = text[:at] + ("b" if text[at] != "b" else "c") + text[at + 1 :]
            with pytest.raises(UnreadableFile):
                receipts.read(changed)


def test_receipts_in_another_order_twice_or_added_are_found() -> None:
    known = history()
    for wrong in (
        [known[1], known[0], *known[2:]],
        [known[0], *known],
        known[1:],
        [*known, *history(2, "cd34")],
    ):
        with pytest.raises(UnreadableFile):
            receipts.verify(wrong)


def test_a_shorter_history_that_closes_itself_anew_is_known_to_who_holds_a_receipt() -> (
    None
):
    known = history()
    shorter = receipts.write(known[:3], "ab12")
    assert len(receipts.read(shorter)) == 3
    with pytest.raises(Incompatible, match="receipt 4"):
        receipts.read(shorter, holding=[known[3]])


def test_amounts_must_follow_from_each_other() -> None:
    known = history(2)
    lower = replace(known[1], epsilon_before=0.25)
    with pytest.raises(UnreadableFile, match="amounts of receipt 2"):
        receipts.verify([known[0], lower])
    falling = replace(known[1], epsilon_after=0.1)
    with pytest.raises(UnreadableFile, match="amounts of receipt 2"):
        receipts.verify([known[0], falling])


def changed(wrong_link: int = 0, **changes: object) -> list[Receipt]:
    """Change the second of three receipts, and write anew what follows from it, but for one link."""
    one, two, three = history(3)
    two = replace(two, **changes)  # type: ignore[arg-type]  # a field each
    three = replace(
        three, epsilon_before=two.epsilon_after, total_before=two.total_after
    )
    link, found = receipts.first_link(one.ledger), []
    for number, each in enumerate((one, two, three), 1):
        found.append(
            replace(
                each, previous=first_link("cd34") if number == wrong_link else link
            )
        )
        link = found[-1].hash
    return found


@pytest.mark.parametrize(
    "wrong",
    [
        {"ledger": "cd34"}, {"number": 1}, {"number": 3}, {"epsilon_before": 0.25}, {"total_before": 0.25},
        {"epsilon_after": 0.25}, {"total_after": 0.25}, {"wrong_link": 1}, {"wrong_link": 2}, {"wrong_link": 3},
    ],
    ids=str,
)  # fmt: skip
def test_a_history_that_is_wrong_in_one_respect_alone_is_refused(
    wrong: dict[str, Any],
) -> None:
    receipts.verify(changed())
    told = (
        "amounts of receipt 2"
        if {each[-6:] for each in wrong} & {"before", "_after"}
        else "does not follow"
    )
    with pytest.raises(UnreadableFile, match=told):
        receipts.verify(changed(**wrong))


def test_the_last_line_names_the_last_receipt_and_how_many_there_are() -> None:
    """The last receipt written anew, which no other one names; and a number that does not fit alone."""
    known = history(3)
    lines = receipts.write(known, "ab12").splitlines()
    other = replace(known[-1], holder="somebody else")
    receipts.verify([*known[:-1], other])
    with pytest.raises(UnreadableFile, match="closes a history of"):
        receipts.read("\n".join([*lines[:2], other.to_json(), lines[-1]]))
    end = documents.unseal("receipts", lines[-1])
    for wrong in ({"count": 2}, {"head": known[1].hash}):
        with pytest.raises(UnreadableFile, match="closes a history of"):
            receipts.read(
                "\n".join(
                    [*lines[:-1], documents.seal("receipts", {**end, **wrong})]
                )
            )


def test_the_schema_knows_receipts_and_nothing_else() -> None:
    validator = jsonschema_rs.validator_for(receipts.schema())
    known = [
        *history(3),
        replace(
            history(1)[0],
            epsilon_after=math.inf,
            total_after=1e-7,
            kind="withdrawal",
        ),
    ]
    for receipt in known:
        assert validator.is_valid(json.loads(receipt.to_json()))
    body = json.loads(known[0].to_json())
    for wrong in (
        {"kind": "gift"},
        {"number": "1"},
        {"previous": "?"},
        {"total_after": "-1"},
        {"more": 1},
    ):
        assert not validator.is_valid({**body, **wrong})
    for name in body:
        assert not validator.is_valid(
            {key: value for key, value in body.items() if key != name}
        )


def test_an_infinite_amount_travels() -> None:
    receipt = replace(history(1)[0], epsilon_after=math.inf, total_after=math.inf)
    assert Receipt.from_json(receipt.to_json()) == receipt


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "gift"},
        {"epsilon_after": "-1"},
        {"total_after": "much"},
        {"more": 1},
        {"number": -1},
        {"details": {"a": 1}},
    ],
)
def test_what_is_no_receipt_is_refused(change: dict[str, object]) -> None:
    body = documents.unseal("receipt", history(1)[0].to_json())
    with pytest.raises(UnreadableFile):
        Receipt.from_json(documents.seal("receipt", {**body, **change}))


def test_what_is_no_text_and_the_end_of_another_ledger_are_found() -> None:
    text = receipts.write(history(), "ab12")
    assert receipts.read(text.encode()) == tuple(history())
    with pytest.raises(UnreadableFile, match="no text"):
        receipts.read(text.encode() + b"\xff")
    lines = text.splitlines()
    end = documents.unseal("receipts", lines[-1])
    with pytest.raises(UnreadableFile, match="another ledger"):
        receipts.read(
            "\n".join(
                [*lines[:-1], documents.seal("receipts", {**end, "ledger": "cd34"})]
            )
        )
    with pytest.raises(InvalidRequest, match="no text"):
        replace(history()[0], details={"price": 3})  # type: ignore[dict-item]  # what does not read again
