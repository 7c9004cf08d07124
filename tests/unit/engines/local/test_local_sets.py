"""Sets of categories over many rows: the same bytes, the same sets; threads; streams; files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.bulk import vectors
from deniable.bulk.backend import Coins, Picks
from deniable.bulk.draws import Draw, prepare
from deniable.chance import WORD, ScriptedSource
from deniable.channel import Bits, Mixture, Sets, Subset
from deniable.channel.sets import Part
from deniable.designs import Design
from deniable.engines import local
from deniable.engines.files import respond_file, tally_file
from deniable.errors import InvalidAnswer, InvalidResponse
from tests.support.seeded import seeded
from tests.support.sets import SMALL, around

HARD = {
    "64 bits": dn.unary(64, 1),
    "65 bits": dn.unary(65, "3/10"),
    "128 bits": dn.rappor(128, 1),
    "200 bits": dn.unary(200, 3, optimized=True),
    "bits of twelfths": dn.unary(70, p="2/3", q="1/4"),
    "bits of quarters": dn.unary(70, p="3/4", q="1/4"),
    "64 of them": dn.subset(64, 1),
    "60 of 65": dn.subset(65, 1, t=60),
    "34 of 128": dn.subset(128, 1),
    "all but one of 129": dn.subset(129, 1, t=128),
    "one of 300": dn.subset(300, 1, t=1),
    "half of 130": dn.subset(130, "1/100"),
    "a truncated mixture": dn.truncated_rappor(66, 1),
    "sizes at both ends": dn.mixture(70, {0: 0.1, 3: 0.4, 69: 0.2, 70: 0.3}, 1),
    "bits of two words": around(Bits(9, 3**50, 3**50 - 1, 3**51)),
    "sets of two words": around(Subset(9, 3, 3**50 + 1, 3**51)),
    "a total next to 2^64": around(Bits(9, 2**63 + 5, 2**62 + 3, 2**64 - 5)),
    **{name: around(channel) for name, channel in SMALL.items()},
}
hands = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "numba"])
every = pytest.mark.parametrize("design", HARD.values(), ids=HARD.keys())
N = 500


def answers(design: Design, n: int) -> np.ndarray:
    return (7 * np.arange(n) + np.arange(n) ** 2 // 11) % design.channel.answers


def scalar(design: Design, n: int, script: bytes) -> tuple[list[int], int]:
    source = ScriptedSource(script)
    return [
        design.channel.draw(int(answer), source) for answer in answers(design, n)
    ], source.used


def bulk(
    design: Design, n: int, script: bytes, *, fast: bool
) -> tuple[list[int], int]:
    source = ScriptedSource(script)
    rows = local.draw_all(
        design, answers(design, n), codes=True, source=source, fast=fast
    )
    assert rows.dtype == np.uint8
    assert rows.shape == (n, (design.channel.answers + 7) // 8)
    return [int.from_bytes(row.tobytes(), "little") for row in rows], source.used


def plain(design: Design, n: int) -> bytes:
    return seeded(f"plain {design!r}").read(
        WORD * n * (2 * design.channel.answers + 40)
    )


def planted(design: Design, n: int) -> bytes:
    """Words of which many are all zeros, all ones, have few ones, or lie at a threshold."""
    words = np.frombuffer(plain(design, n), "<u8").copy()
    die = np.frombuffer(seeded(f"die {design!r}").read(len(words)), np.uint8)
    others = np.roll(words, 1) & np.roll(words, 2) & np.roll(words, 3)
    words = np.where(die < 100, words & others, words)
    # Picks throw away the highest words, and a device that throws away every tenth takes its time over it.
    often = 15 if isinstance(design.channel, Bits) else 1
    for low, width, value in (
        (100, 15, 0),
        (115, often, 2**64 - 1),
        (130, 15, 2**63),
        (145, often, 2**64 - 2),
    ):
        words[(die >= low) & (die < low + width)] = value
    return words.astype("<u8").tobytes()


@every
@hands
@pytest.mark.parametrize("script", [plain, planted], ids=["random", "planted"])
def test_the_same_bytes_give_the_same_sets(
    design: Design, fast: bool, script: object
) -> None:
    text = script(design, N)  # type: ignore[operator]
    assert bulk(design, N, text, fast=fast) == scalar(design, N, text)


@pytest.mark.parametrize(
    "name",
    ["128 bits", "bits of twelfths", "34 of 128", "sizes at both ends", "65 bits"],
)
@hands
@pytest.mark.parametrize(
    ("chunk", "words"), [(17, 64), (1000, 1), (3, 1 << 10), (35 * 130, 1 << 14)]
)
def test_pieces_of_odd_sizes_change_nothing(
    name: str, fast: bool, chunk: int, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deniable.bulk import kernels

    for backend in (vectors, kernels):
        monkeypatch.setattr(backend, "CHUNK", chunk)
        monkeypatch.setattr(backend, "COIN_WORDS", words)
    design = HARD[name]
    text = planted(design, N)
    assert bulk(design, N, text, fast=fast) == scalar(design, N, text)


@hands
def test_coins_that_are_all_zeros_leave_every_bit_open(fast: bool) -> None:
    design = dn.unary(130, p="3/4", q="1/4")
    text = bytes(8 * 20 * (3 * 8 + 130))
    found, used = bulk(design, 20, text, fast=fast)
    assert (found, used) == scalar(design, 20, text)
    assert used == len(text)


@hands
def test_words_thrown_away_one_after_another(fast: bool) -> None:
    """Far more than could be foreseen: each open bit takes a hundred words."""
    design = dn.unary(3, p="2/3", q="1/3")
    row = bytes(8 * 8) + (b"\xff" * 800 + bytes(8)) * 3
    found, used = bulk(design, 40, row * 40, fast=fast)
    assert (found, used) == scalar(design, 40, row * 40)
    assert used == 40 * len(row)


def test_only_totals_of_several_words_are_drawn_one_by_one() -> None:
    slow = {
        name
        for name, design in HARD.items()
        if type(prepare(design.channel, vectors)) is Draw
    }
    assert slow == {"bits of two words", "sets of two words"}


@every
@pytest.mark.parametrize("threads", [1, 2])
def test_counts_are_the_same_whoever_counts(design: Design, threads: int) -> None:
    rows = local.draw_all(design, answers(design, 3_000), codes=True)
    slow = local.tally(design, rows, fast=False)
    assert (
        local.tally(design, rows, fast=True, threads=threads)
        == slow
        == dn.tally(design, rows)
    )
    assert slow.respondents == 3_000


@pytest.mark.parametrize(
    "name", ["128 bits", "65 bits", "34 of 128", "sizes at both ends"]
)
def test_many_rows_are_counted_in_blocks(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("deniable.bulk.columns"), "_COUNTED", 100)
    design = HARD[name]
    rows = local.draw_all(design, answers(design, 2_000), codes=True)
    assert local.tally(design, rows, fast=True, threads=2) == dn.tally(design, rows)


def test_very_long_rows_are_counted_by_size() -> None:
    """The ones of more than 255 bytes do not fit into the bytes of one word."""
    design = dn.mixture(2_100, {1: 0.25, 1_050: 0.5, 2_099: 0.25}, 1)
    rows = local.draw_all(design, answers(design, 700), codes=True, fast=True)
    assert local.tally(design, rows, fast=True) == local.tally(
        design, rows, fast=False
    )


@hands
def test_an_impossible_row_is_refused_by_its_index(fast: bool) -> None:
    design = dn.subset(9, 1, t=2)
    rows = local.draw_all(design, answers(design, 100), codes=True)
    rows[61, 0] ^= 1
    with pytest.raises(InvalidResponse, match="index 61 is"):
        local.tally(design, rows, fast=fast)


@hands
def test_unpacked_rows_are_counted_too(fast: bool) -> None:
    design = dn.rappor(11, 1)
    rows = local.draw_all(design, answers(design, 100), codes=True)
    bits = np.unpackbits(rows, axis=1, bitorder="little")[:, :11]
    assert local.tally(design, bits, fast=fast) == local.tally(
        design, rows, fast=fast
    )


def test_two_threads_draw_with_streams_of_their_own() -> None:
    design = dn.unary(64, 1)
    # two blocks and a bit
    rows = local.draw_all(
        design, np.zeros(2_100_000, np.uint8), threads=2, fast=True
    )
    assert len(np.unique(rows.view(np.uint64))) > 2_099_990


def test_streams_go_piece_by_piece() -> None:
    design = dn.subset(128, 1)
    columns = [answers(design, n) for n in (0, 1, 500, 77)]
    text = plain(design, 578)
    pieces = list(
        local.draw_stream(design, columns, codes=True, source=ScriptedSource(text))
    )
    joined = local.draw_all(
        design, np.concatenate(columns), codes=True, source=ScriptedSource(text)
    )
    assert np.vstack(pieces).tolist() == joined.tolist()
    assert local.tally_stream(design, pieces) == local.tally(design, joined)


def test_an_answer_out_of_range_is_not_repeated() -> None:
    with pytest.raises(InvalidAnswer, match="at index 2") as error:
        local.draw_all(dn.unary(5, 1), [0, 1, 77], codes=True)
    assert "77" not in str(error.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "ndjson"])
def test_files_hold_labels_and_come_back(suffix: str, tmp_path: Path) -> None:
    design = dn.rappor(["never", "once", "often"], 8)
    given = ["never", "often", "", "once"] * 500
    source = tmp_path / "answers.csv"
    source.write_text(
        "answer,row\n" + "".join(f"{answer},{i}\n" for i, answer in enumerate(given))
    )
    target = tmp_path / f"responses.{suffix}"
    written = respond_file(design, source, target, column="answer")
    tally = tally_file(design, target)
    assert (
        (written.rows, written.missing)
        == (2_000, 500)
        == (tally.respondents + tally.missing, tally.missing)
    )
    assert dn.estimate(tally).value == pytest.approx([1 / 3] * 3, abs=0.2)
    if suffix != "parquet":
        assert '"b100"' in target.read_text()


def test_parquet_holds_packed_rows(tmp_path: Path) -> None:
    design = dn.subset(
        ["never", "once", "often", "always", *map(str, range(9))], 2, t=3
    )
    given = pa.table(
        {
            "answer": ["never", "often", None, "once"] * 500,
            "region": [1, 2, 3, 4] * 500,
        }
    )
    pq.write_table(given, tmp_path / "answers.parquet")
    target = tmp_path / "responses.parquet"
    respond_file(
        design,
        tmp_path / "answers.parquet",
        target,
        column="answer",
        keep=["region"],
        keep_order=True,
    )
    written = pq.read_table(target)
    assert written.schema.field("response").type == pa.binary(2)
    assert written["region"].to_pylist() == [1, 2, 3, 4] * 500
    assert [each is None for each in written["response"].to_pylist()] == [
        False,
        False,
        True,
        False,
    ] * 500
    counted = tally_file(design, target)
    assert (counted.respondents, counted.missing) == (1500, 500)
    assert counted == dn.tally(design, written["response"])
    labels = [
        None if each is None else design.symbols[int.from_bytes(each, "little")]
        for each in written["response"].to_pylist()
    ]
    text = pa.table({"response": labels, "design": [design.hash] * 2000})
    pq.write_table(text, tmp_path / "text.parquet")
    assert tally_file(design, tmp_path / "text.parquet") == counted


def test_a_packed_row_that_cannot_be_is_named_by_its_row(tmp_path: Path) -> None:
    design = dn.subset(9, 1, t=2)
    rows = pa.array([b"\x03\x00", None, b"\x07\x00"], pa.binary(2))
    pq.write_table(
        pa.table({"response": rows, "design": [design.hash] * 3}),
        tmp_path / "wrong.parquet",
    )
    with pytest.raises(
        InvalidResponse,
        match=r"row 3 of wrong.parquet is '0x0700'; expected the letter b",
    ):
        tally_file(design, tmp_path / "wrong.parquet")
    wide = pa.table(
        {
            "response": pa.array([b"\x03\x00\x00"], pa.binary(3)),
            "design": [design.hash],
        }
    )
    pq.write_table(wide, tmp_path / "wide.parquet")
    with pytest.raises(InvalidResponse, match="fixed_size_binary"):
        tally_file(design, tmp_path / "wide.parquet")


def test_prepared_channels_hold_what_words_are_compared_with() -> None:
    coins = Coins.of_channel(Bits(65, 3, 1, 4))
    assert (coins.blocks, int(coins.behind)) == (2, 2**64 - 2)
    assert [int(mask) >> 63 for mask in coins.digits[1]] == [1, 1, 0, 0, 0, 0, 0, 0]
    assert [int(mask) >> 63 for mask in coins.digits[0]] == [0, 1, 0, 0, 0, 0, 0, 0]
    picks = Picks.of(5, 2)
    assert picks.divisors.tolist() == [2**64 // 3, 2**64 // 4]
    assert [slot.limit for slot in picks.slots] == [2**64 // 3 * 3, 2**64]


def test_every_kind_of_set_is_covered() -> None:
    kinds = {type(design.channel) for design in HARD.values()}
    assert kinds == {Bits, Subset, Mixture}
    assert all(issubclass(kind, Sets) for kind in kinds)
    assert Part(1, 2, 3)._fields == ("ones", "weight", "inside")
