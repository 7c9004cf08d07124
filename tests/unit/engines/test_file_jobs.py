"""A folder of responses is written in parts, each of them once, whatever comes between."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import answer_blocks, files
from deniable.engines.files import respond_file, tally_file
from deniable.errors import InvalidAnswer, InvalidRequest, UnreadableFile
from deniable.files import atomic, journal
from tests.support import answers

DESIGN = dn.k_ary(1 << 16, epsilon=1)  # a response drawn twice is another one
SECRET = "zq☠secretanswer"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(files, "PART_ROWS", 150)
    (tmp_path / "answers").mkdir()
    for number in range(4):
        ids = list(range(100 * number, 100 * number + 100))
        answers.write(tmp_path / f"answers/{number}.parquet", {"id": ids, "x": ids})
    return tmp_path


def job(place: Path, **options: Any) -> files.WrittenResponses:
    given: dict[str, Any] = {"column": "x", "keep": ["id"], **options}
    return respond_file(
        given.pop("design", DESIGN), place / "answers", place / "responses", **given
    )


def sent(place: Path) -> dict[int, int]:
    found: dict[int, int] = {}
    for path in sorted((place / "responses").glob("*")):
        for row in answers.read(path):
            assert row["id"] not in found
            found[row["id"]] = row["response"]
    return found


def test_parts_together_hold_every_row_once_and_a_second_run_changes_nothing(
    place: Path,
) -> None:
    assert job(place) == files.WrittenResponses(place / "responses", 400, 0)
    assert sorted(path.name for path in (place / "responses").iterdir()) == [
        f"part-0000{n}.parquet" for n in range(4)
    ]
    first = sent(place)
    assert sorted(first) == list(range(400))
    assert job(place) == files.WrittenResponses(place / "responses", 400, 0)
    assert sent(place) == first
    assert tally_file(DESIGN, place / "responses").respondents == 400
    assert tally_file(DESIGN, str(place / "responses/part-*")).respondents == 400


def test_what_the_journal_knows_is_its_owners_alone_and_lies_beside_what_is_given_out(
    place: Path,
) -> None:
    job(place)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (place / "responses.job").iterdir()
    }
    assert stat.S_IMODE((place / "responses.job").stat().st_mode) == 0o700
    assert sorted(modes) == ["finished.ndjson", "lock", "plan.json"]
    assert "answers" not in str(
        [path.read_bytes() for path in (place / "responses").iterdir()]
    )


class Cut(BaseException):
    """The end of the program, at a moment that the test chooses."""


def every_step(monkeypatch: pytest.MonkeyPatch, at: int) -> Callable[[], int]:
    """Let the program end before the `at`-th call that changes or forces something on the disk."""
    calls = 0

    def before(function: Any) -> Any:
        def run(*words: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == at:
                raise Cut
            return function(*words, **more)

        return run

    for owner, name in (
        (os, "fsync"),
        (os, "open"),
        (Path, "rename"),
        (Path, "replace"),
        (Path, "mkdir"),
    ):
        monkeypatch.setattr(owner, name, before(getattr(owner, name)))
    return lambda: calls


def test_a_program_that_ends_at_any_step_draws_nothing_twice(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the steps on the disk is the last one once; what could be read then is what is there at the end."""
    at, done, seen_some = 0, False, 0
    while not done:
        at += 1
        for left in ("responses", "responses.job"):
            shutil.rmtree(place / left, ignore_errors=True)
        with monkeypatch.context() as patched:
            calls = every_step(patched, at)
            # What an end of the program would not do, the cleaning up after an error, is not done here either.
            patched.setattr(Path, "unlink", lambda *_, **__: None)
            with suppress(Cut):
                job(place)
            done = calls() < at
        before = sent(place) if (place / "responses").exists() else {}
        seen_some += 0 < len(before) < 400
        assert job(place).rows == 400
        after = sent(place)
        assert sorted(after) == list(range(400))
        assert {each: after[each] for each in before} == before
        assert sorted(path.name for path in (place / "responses.job").iterdir()) == [
            "finished.ndjson",
            "lock",
            "plan.json",
        ]
    assert at > 20
    assert seen_some >= 9


def test_an_error_in_one_part_leaves_the_others_and_a_corrected_file_goes_on(
    place: Path,
) -> None:
    design = dn.k_ary([str(number) for number in range(400)], epsilon=1)
    right = answers.write(
        place / "right.parquet",
        {"id": list(range(300, 400)), "x": list(range(300, 400))},
    )
    wrong = {"id": list(range(300, 400)), "x": [SECRET] * 100}
    answers.write(place / "answers/3.parquet", wrong)
    with pytest.raises(InvalidAnswer, match=r"row 1 of 3\.parquet") as caught:
        job(place, design=design, keep_order=True)
    assert SECRET not in str(caught.value)
    first = sent(place)
    assert sorted(first) == list(range(300))
    shutil.copy(right, place / "answers/3.parquet")
    assert job(place, design=design, keep_order=True).rows == 400
    assert {each: sent(place)[each] for each in first} == first


def changes() -> dict[str, Callable[[Path], dict[str, Any]]]:
    def touched(place: Path) -> dict[str, Any]:
        os.utime(place / "answers/2.parquet", (1, 1))
        return {}

    def added(place: Path) -> dict[str, Any]:
        shutil.copy(place / "answers/2.parquet", place / "answers/9.parquet")
        return {}

    def removed(place: Path) -> dict[str, Any]:
        (place / "answers/2.parquet").unlink()
        return {}

    return {
        "design": lambda _: {"design": dn.k_ary(1 << 16, epsilon=2)},
        "keep": lambda _: {"keep": []},
        "order": lambda _: {"keep_order": True},
        "codes": lambda _: {"codes": True},
        "format": lambda _: {"format": "csv"},
        "touched": touched,
        "added": added,
        "removed": removed,
    }


@pytest.mark.parametrize("change", changes())
def test_another_job_in_the_same_folder_is_refused(place: Path, change: str) -> None:
    job(place)
    first = sent(place)
    with pytest.raises(InvalidRequest, match=r"as before|as it was"):
        job(place, **changes()[change](place))
    assert sent(place) == first


def test_a_part_that_was_given_out_and_is_gone_is_not_drawn_again(
    place: Path,
) -> None:
    job(place)
    part = place / "responses/part-00002.parquet"
    part.rename(place / "moved.parquet")
    with pytest.raises(UnreadableFile, match=r"part-00002\.parquet was finished"):
        job(place)
    assert not part.exists()
    (place / "moved.parquet").rename(part)
    assert job(place).rows == 400


def test_a_part_that_has_become_shorter_is_refused(place: Path) -> None:
    job(place)
    part = place / "responses/part-00001.parquet"
    content = part.read_bytes()
    part.write_bytes(content[:-1])
    with pytest.raises(UnreadableFile, match=r"part-00001\.parquet was finished"):
        job(place)
    part.write_bytes(content)
    assert job(place).rows == 400


def test_a_line_that_was_torn_is_cut_off_and_its_part_is_drawn_anew(
    place: Path,
) -> None:
    """The power fails while the line of the last part is written: the part was not given out, and the job goes on."""
    job(place)
    record = place / "responses.job/finished.ndjson"
    *first, last = record.read_bytes().splitlines(keepends=True)
    for torn in (last[:-1], last[: len(last) // 2]):
        record.write_bytes(b"".join(first) + torn)
        (place / "responses/part-00003.parquet").unlink()
        for _ in range(2):
            assert job(place).rows == 400
        assert sorted(sent(place)) == list(range(400))
        assert len(record.read_bytes().splitlines()) == 4


def test_answers_that_change_while_they_are_read_are_refused(place: Path) -> None:
    """The part is not given out: its responses would be to answers that are there no more."""
    changed = place / "answers/3.parquet"

    def change(*_: float) -> None:
        ids = list(range(300, 399))
        answers.write(changed, {"id": ids, "x": ids})

    with pytest.raises(InvalidRequest, match="changed while its answers were read"):
        job(place, progress=change)
    assert len(sent(place)) < 400


def test_a_row_with_a_gap_is_missing_once_whichever_column_has_it(
    tmp_path: Path,
) -> None:
    columns = {"x": ["yes", None, None, "no"], "y": [None, "no", None, "no"]}
    answers.write(tmp_path / "answers.parquet", columns)
    questions = {name: dn.warner(epsilon=1) for name in columns}
    done = respond_file(
        questions, tmp_path / "answers.parquet", tmp_path / "out.parquet"
    )
    assert (done.rows, done.missing) == (4, 3)


def test_a_folder_that_is_no_job_is_left_alone(place: Path) -> None:
    (place / "responses").mkdir()
    with pytest.raises(InvalidRequest, match="exists already"):
        job(place)
    assert not (place / "responses.job").exists()
    (place / "responses").rmdir()
    job(place)
    (place / "responses/strange.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        UnreadableFile, match=r"strange\.parquet, which this job has not written"
    ):
        job(place)


def test_two_programs_do_not_work_on_one_job(place: Path) -> None:
    with (
        journal.begun(place / "responses", dict),
        pytest.raises(InvalidRequest, match="another program"),
    ):
        job(place)


def test_one_large_file_is_divided_by_its_row_groups(place: Path) -> None:
    ids = list(range(1000))
    pq.write_table(
        pa.table({"id": ids, "x": ids}), place / "large.parquet", row_group_size=100
    )
    respond_file(
        DESIGN, place / "large.parquet", place / "responses", column="x", keep=["id"]
    )
    assert len(list((place / "responses").iterdir())) == 5
    assert sorted(sent(place)) == ids
    os.utime(place / "large.parquet", (1, 1))
    with pytest.raises(InvalidRequest, match="has changed"):
        respond_file(
            DESIGN,
            place / "large.parquet",
            place / "responses",
            column="x",
            keep=["id"],
        )


def test_small_files_share_a_part_and_parts_tell_nothing_of_their_order(
    tmp_path: Path,
) -> None:
    (tmp_path / "answers").mkdir()
    for number in range(30):
        answers.write(
            tmp_path / f"answers/{number:02}.csv",
            {"id": [number], "x": [str(number)]},
        )
    respond_file(
        DESIGN, tmp_path / "answers", tmp_path / "responses", column="x", keep=["id"]
    )
    (part,) = (tmp_path / "responses").iterdir()
    order = [int(row["id"]) for row in answers.read(part)]
    assert sorted(order) == list(range(30)) != order  # equal once in 30! times


def test_parts_come_in_an_order_drawn_at_random(place: Path) -> None:
    firsts: set[int] = set()
    for _ in range(60):  # four parts: all begin with the same one once in 4^59 times
        job(place)
        firsts.add(
            min(
                row["id"]
                for row in answers.read(place / "responses/part-00000.parquet")
            )
            // 100
        )
        shutil.rmtree(place / "responses")
        shutil.rmtree(place / "responses.job")
        if len(firsts) > 1:
            break
    assert len(firsts) > 1


def test_what_a_killed_program_left_of_a_file_is_erased_and_one_at_work_is_not(
    tmp_path: Path,
) -> None:
    left = tmp_path / ".out.csv.0123abcd.partial"
    left.write_bytes(b"response\n1")
    with atomic.atomic_write(tmp_path / "out.csv") as file:
        assert not left.exists()
        with (
            pytest.raises(InvalidRequest, match="exists"),
            atomic.atomic_write(tmp_path / "out.csv"),
        ):
            (tmp_path / "out.csv").write_bytes(b"quicker")
        (tmp_path / "out.csv").unlink()
        file.write(b"whole")
    assert (tmp_path / "out.csv").read_bytes() == b"whole"
    assert len(list(tmp_path.iterdir())) == 1


# Order, memory, folders


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_blocks, "BLOCK", 1000)


@pytest.mark.usefixtures("small_blocks")
def test_rows_are_shuffled_in_blocks_and_kept_columns_go_with_them(
    tmp_path: Path,
) -> None:
    """At ε = 60 a response is its answer, so that what is kept must fit; a fixed place has a chance of 1 in 1000."""
    ids = list(range(4000))
    held = answers.write(tmp_path / "answers.csv", {"id": ids, "x": ids})
    respond_file(
        dn.k_ary(4000, epsilon=60),
        held,
        tmp_path / "out.parquet",
        column="x",
        keep=["id"],
    )
    rows = answers.read(tmp_path / "out.parquet")
    assert [int(row["id"]) for row in rows] == [row["response"] for row in rows]
    order = np.array([row["response"] for row in rows])
    assert sorted(order) == ids
    assert (
        order == ids
    ).sum() < 40  # 4 on average; 40 or more less often than 1 in 10⁹
    respond_file(
        dn.k_ary(4000, epsilon=60),
        held,
        tmp_path / "kept.parquet",
        column="x",
        keep_order=True,
    )
    assert [
        row["response"] for row in answers.read(tmp_path / "kept.parquet")
    ] == ids


def test_folders_that_name_a_column(tmp_path: Path) -> None:
    for region in ("north", "south east"):
        (tmp_path / f"answers/region={region.replace(' ', '%20')}").mkdir(
            parents=True
        )
        folder = tmp_path / f"answers/region={region.replace(' ', '%20')}"
        answers.write(folder / "0.parquet", {"x": ["yes"] * 3})
    (tmp_path / "answers/_SUCCESS").touch()
    respond_file(
        dn.warner(1),
        tmp_path / "answers",
        tmp_path / "out.csv",
        column="x",
        keep=["region"],
    )
    found = [row["region"] for row in answers.read(tmp_path / "out.csv")]
    assert sorted(found) == ["north"] * 3 + ["south east"] * 3
    with pytest.raises(InvalidRequest, match="divided by 'region'"):
        respond_file(
            dn.k_ary(["north", "south east"], 1),
            tmp_path / "answers",
            tmp_path / "o.csv",
            column="region",
        )


def test_responses_do_not_lie_among_the_answers(place: Path) -> None:
    with pytest.raises(InvalidRequest, match="among the answers"):
        respond_file(DESIGN, place / "answers", place / "answers", column="x")
    for wrong, said in (
        ([place / "answers/0.parquet"] * 2, "more than once"),
        (place / "none-*", "no file matches"),
    ):
        with pytest.raises(InvalidRequest, match=said):
            respond_file(DESIGN, wrong, place / "out.csv", column="x")
