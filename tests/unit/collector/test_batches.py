"""Batches: lines of JSON and streams of Arrow give the same counts as single submissions, all of them or none."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from deniable.collector import batches
from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import Store, Token
from deniable.designs import unary
from deniable.survey import Survey, SurveyArm
from deniable.tallies import tally
from tests.support.collector import Inside, submission
from tests.support.surveys import COLOURS, question, small

BATCHES = "/api/surveys/small/batches"
LINES = {"content_type": "application/x-ndjson"}
ARROW = {"content_type": "application/vnd.apache.arrow.stream"}


@pytest.fixture
def collector(database: Store, device: str) -> Iterator[Inside]:
    """A collector that is asked by a device."""
    with Inside(make_app(Settings(), database), authorization=device) as inside:
        yield inside


def lines(*bodies: Any) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in bodies)


def stream(columns: dict[str, Any], **options: Any) -> bytes:
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, **options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def columns(
    survey: Survey, symbols: list[str], question: int = 0, stage: int = 0
) -> dict[str, Any]:
    asked = survey.questions[question]
    count = len(symbols)
    return {
        "key": pa.array([secrets.token_bytes(16) for _ in symbols], pa.binary(16)),
        "question": [asked.name] * count,
        "design": [asked.designs[stage].hash] * count,
        "symbol": symbols,
    }


def counts(store: Store, question: int = 0, group: int | None = None) -> Any:
    return store.tallies(store.survey("small").id, question, group)


def test_lines_are_stored_and_repeated_ones_count_once(
    collector: Inside, survey: Survey, database: Store
) -> None:
    bodies = [
        submission(survey, "yes"),
        submission(survey, "no", group="north"),
        submission(survey, question=2),
    ]
    answered = collector.ask("POST", BATCHES, lines(*bodies), **LINES)
    assert (answered.status, answered.json) == (200, {"stored": 3, "repeated": 0})
    assert collector.ask(
        "POST", BATCHES, lines(*bodies) + b"\n\n", **LINES
    ).json == {
        "stored": 0,
        "repeated": 3,
    }
    assert counts(database).counts.tolist() == [1, 1]
    assert counts(database, group=0).respondents == 1


def test_all_stages_of_one_respondent_in_one_batch(
    collector: Inside, survey: Survey, database: Store
) -> None:
    first = submission(survey, "red", question=1)
    finer = submission(survey, "red", question=1, stage=1, key=first["key"])
    assert collector.ask("POST", BATCHES, lines(finer, first), **LINES).json == {
        "stored": 2,
        "repeated": 0,
    }
    assert [each.respondents for each in counts(database, 1).finest] == [0, 1, 0]


@pytest.mark.parametrize(
    ("bad", "status", "words"),
    [
        (b"{", 400, "line 2: the body is not JSON"),
        (b'{"survey": 1}', 422, "line 2: the body does not fit"),
        (
            lines({**submission(small()), "survey": "sha256:" + "0" * 64}),
            409,
            "line 2: this was sent to the definition",
        ),
    ],
)
def test_one_bad_line_refuses_all(
    collector: Inside,
    survey: Survey,
    database: Store,
    bad: bytes,
    status: int,
    words: str,
) -> None:
    raw = lines(submission(survey)) + b"\n" + bad
    refused = collector.ask("POST", BATCHES, raw, **LINES)
    assert refused.status == status
    assert words in refused.json["error"]["what"]
    assert counts(database).respondents == 0


def test_a_symbol_that_is_never_sent_is_named_by_its_line(
    collector: Inside, survey: Survey, database: Store
) -> None:
    refused = collector.ask(
        "POST",
        BATCHES,
        lines(submission(survey), submission(survey, "perhaps")),
        **LINES,
    )
    assert refused.status == 400
    assert refused.json["error"]["what"].startswith("line 2: ")
    assert counts(database).respondents == 0


def test_a_stream_counts_as_lines_do(
    collector: Inside, survey: Survey, database: Store
) -> None:
    symbols = ["yes", "no", "yes", "yes"]
    raw = stream(
        {**columns(survey, symbols), "group": ["north", None, "south", "north"]}
    )
    assert collector.ask("POST", BATCHES, raw, **ARROW).json == {
        "stored": 4,
        "repeated": 0,
    }
    assert collector.ask("POST", BATCHES, raw, **ARROW).json == {
        "stored": 0,
        "repeated": 4,
    }
    assert counts(database).counts.tolist() == [1, 3]
    assert [counts(database, group=group).respondents for group in (0, 1)] == [2, 1]


def test_a_stream_of_several_questions_in_dictionaries(
    collector: Inside, survey: Survey, database: Store
) -> None:
    parts = [columns(survey, ["yes", "no"]), columns(survey, COLOURS, question=1)]
    joined = pa.concat_tables([pa.table(each) for each in parts])
    encoded = {
        name: joined[name].dictionary_encode()
        for name in ("question", "design", "symbol")
    }
    raw = stream({"key": joined["key"], **encoded})
    assert collector.ask("POST", BATCHES, raw, **ARROW).json == {
        "stored": 5,
        "repeated": 0,
    }
    assert counts(database, 1).seen[0].counts.tolist() == [1, 1, 1]


def test_a_stream_of_stages_and_groups_keeps_them_apart(
    collector: Inside, survey: Survey, database: Store
) -> None:
    """One respondent of a group has sent a stage, and one without a group two: no row takes another's place."""
    parts = [
        columns(survey, symbols, question=1, stage=stage)
        for stage, symbols in enumerate(([COLOURS[0], COLOURS[1]], [COLOURS[1]]))
    ]
    parts[1]["key"] = parts[0]["key"][1:]
    joined = pa.concat_tables(map(pa.table, parts)).combine_chunks()
    raw = stream(
        {
            **{name: joined[name] for name in joined.column_names},
            "group": ["north", None, None],
        }
    )
    assert collector.ask("POST", BATCHES, raw, **ARROW).json == {
        "stored": 3,
        "repeated": 0,
    }
    assert [each.respondents for each in counts(database, 1).seen] == [2, 1, 0]
    north = counts(database, 1, group=0).seen
    assert [each.counts.tolist() for each in north[:2]] == [[1, 0, 0], [0, 0, 0]]


def test_codes_and_packed_rows(
    collector: Inside, survey: Survey, database: Store
) -> None:
    body = columns(survey, ["yes"] * 3)
    del body["symbol"]
    assert (
        collector.ask(
            "POST", BATCHES, stream({**body, "code": [1, 0, 1]}), **ARROW
        ).status
        == 200
    )
    assert counts(database).counts.tolist() == [1, 2]
    channel = survey.questions[2].design.channel
    bits = np.random.default_rng(5).integers(0, 2, (6, channel.answers), np.uint8)
    packed = [row.tobytes() for row in np.packbits(bits, axis=1, bitorder="little")]
    sets = columns(survey, ["x"] * 6, question=2)
    del sets["symbol"]
    rows = pa.array(packed, pa.binary(channel.coding.width))  # type: ignore[arg-type]
    assert (
        collector.ask(
            "POST", BATCHES, stream({**sets, "code": rows}), **ARROW
        ).status
        == 200
    )
    assert counts(database, 2) == tally(counts(database, 2).design, bits)


def cut(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"key": pa.array(["0" * 32] * 2)}, 422),
        ({"key": pa.array([b"0" * 15] * 2, pa.binary(15))}, 422),
        ({"key": pa.array([b"0" * 16, None], pa.binary(16))}, 422),
        ({"question": pa.array(["smokes", None])}, 422),
        ({"question": pa.array(["smokes", "nothing"])}, 400),
        ({"design": pa.array(["sha256:" + "0" * 64] * 2)}, 409),
        ({"symbol": pa.array(["yes", "perhaps"])}, 400),
        ({"symbol": pa.array([0.5, 0.5])}, 400),
        ({"group": pa.array(["north", "west"])}, 400),
        ({"group": pa.array([[1], [2]])}, 422),
        ({"group": pa.array([1, 2])}, 422),
        ({"question": pa.array([1, 2]).dictionary_encode()}, 422),
        (
            {
                "symbol": pa.DictionaryArray.from_arrays(
                    pa.array([0, 1]), pa.array(["yes", None])
                )
            },
            400,
        ),
        (
            {
                "question": pa.DictionaryArray.from_arrays(
                    pa.array([0, 1]), pa.array(["smokes", None])
                )
            },
            400,
        ),
    ],
)
def test_columns_that_do_not_fit_refuse_all(
    collector: Inside,
    survey: Survey,
    database: Store,
    change: dict[str, Any],
    status: int,
) -> None:
    refused = collector.ask(
        "POST",
        BATCHES,
        stream({**columns(survey, ["yes", "no"]), **change}),
        **ARROW,
    )
    assert refused.status == status
    assert refused.json["error"]["what"]
    assert counts(database).respondents == 0


def test_a_stream_that_breaks_off_or_is_none(
    collector: Inside, survey: Survey, database: Store
) -> None:
    whole = stream(columns(survey, ["yes", "no"]))
    for raw in (whole[: len(whole) // 2], whole[:-8], b"", b"\xff" * 100, b"ARROW1"):
        refused = collector.ask("POST", BATCHES, raw, **ARROW)
        assert refused.status == 400
    assert counts(database).respondents == 0


def test_a_stream_that_would_swell_is_refused_before_it_does(
    collector: Inside, survey: Survey, database: Store
) -> None:
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    refused = collector.ask(
        "POST",
        BATCHES,
        stream(columns(survey, ["yes"] * 1000), options=options),
        **ARROW,
    )
    assert refused.status == 422
    assert "compressed" in refused.json["error"]["what"]
    assert counts(database).respondents == 0


def test_a_value_that_many_rows_share_is_not_written_out(
    collector: Inside, survey: Survey, database: Store
) -> None:
    count, long = 200_000, "x" * 1_000_000
    shared = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(count, np.int8)), pa.array([long])
    )
    keys = pa.array([bytes(16)], pa.binary(16)).take(
        pa.array(np.zeros(count, np.int64))
    )
    body = {**columns(survey, ["yes"] * count), "key": keys}
    for name in ("question", "design", "symbol", "group"):
        tracemalloc.start()
        try:
            refused = collector.ask(
                "POST", BATCHES, stream({**body, name: shared}), **ARROW
            )
            assert tracemalloc.get_traced_memory()[1] < 200_000_000
        finally:
            tracemalloc.stop()
        assert 400 <= refused.status < 500
        assert pa.total_allocated_bytes() < 200_000_000
    assert counts(database).respondents == 0


def test_a_dictionary_of_a_thousand_names_for_one_question(
    collector: Inside, survey: Survey
) -> None:
    count = 20_000
    same = pa.DictionaryArray.from_arrays(
        pa.array(range(count)), pa.array(["smokes"] * count)
    )
    refused = collector.ask(
        "POST",
        BATCHES,
        stream({**columns(survey, ["yes"] * count), "question": same}),
        **ARROW,
    )
    assert refused.status == 422


@pytest.mark.parametrize(
    "name", ["key", "question", "design", "symbol", "group", "extra"]
)
def test_a_column_that_is_there_twice_is_refused(
    collector: Inside, survey: Survey, database: Store, name: str
) -> None:
    named = {
        **columns(survey, ["yes", "no"]),
        "group": ["north", "south"],
        "extra": ["a", "b"],
    }
    table = pa.table(
        [pa.array(each) for each in [*named.values(), named[name]]],
        names=[*named, name],
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    refused = collector.ask("POST", BATCHES, sink.getvalue().to_pybytes(), **ARROW)
    assert (refused.status, refused.json["error"]["what"]) == (
        400,
        "a column is there twice.",
    )
    assert counts(database).respondents == 0


def test_a_column_that_nobody_asks_for_is_refused(
    collector: Inside, survey: Survey, database: Store
) -> None:
    for more in ({"answer": ["yes", "no"]}, {"code": [0, 1]}):
        refused = collector.ask(
            "POST",
            BATCHES,
            stream({**columns(survey, ["yes", "no"]), **more}),
            **ARROW,
        )
        assert refused.status == 422
        assert refused.json["error"]["what"].startswith(
            "there are columns besides those of a batch"
        )
    assert counts(database).respondents == 0


@pytest.mark.parametrize(
    ("once", "twice"),
    [
        ('"key": "', '"key": "00000000000000000000000000000000", "key": "'),
        ('"key": "', '"\\u006bey": "00000000000000000000000000000000", "key": "'),
        ('"symbol": "yes"', '"symbol": "yes", "symbol" : "no"'),
        ('"responses": ', '"group": null, "group": "north", "responses": '),
    ],
)
def test_a_name_that_is_there_twice_is_refused(
    collector: Inside, survey: Survey, database: Store, once: str, twice: str
) -> None:
    good = json.dumps(submission(survey, "yes"))
    bad = good.replace(once, twice).encode()
    refused = collector.ask("POST", BATCHES, good.encode() + b"\n" + bad, **LINES)
    assert (refused.status, refused.json["error"]["what"]) == (
        400,
        "line 2: a name is there twice in one object.",
    )
    single = collector.ask(
        "POST", "/api/surveys/small/responses", bad, content_type="application/json"
    )
    assert (single.status, single.json["error"]["what"]) == (
        400,
        "a name is there twice in one object.",
    )
    assert counts(database).respondents == 0


def test_names_that_occur_in_several_objects_or_in_values_are_none_twice(
    collector: Inside, survey: Survey
) -> None:
    body = submission(survey, "yes")
    body["responses"] += submission(survey, "red", question=1)["responses"]
    assert collector.ask("POST", BATCHES, lines(body), **LINES).json == {
        "stored": 2,
        "repeated": 0,
    }
    spaced = json.dumps(submission(survey, "yes", group="north"), indent=1).replace(
        "north", "nor\\u0074h"
    )
    assert (
        collector.ask(
            "POST", BATCHES, spaced.replace("\n", " ").encode(), **LINES
        ).status
        == 200
    )


def test_responses_that_take_more_room_than_a_batch_are_refused(
    database: Store, device: str
) -> None:
    wide = question(
        "wide", unary([f"app {number}" for number in range(8000)], epsilon=1)
    )
    database.create(small(name="wide", questions=(wide,)))
    asked = database.open("wide").survey
    path, empty, count = "/api/surveys/wide/batches", "b" + "0" * 8000, 2000
    body = {**columns(asked, [empty]), "key": columns(asked, [""] * count)["key"]}
    for name in ("question", "design", "symbol"):
        body[name] = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(count, np.int8)), pa.array(body[name])
        )
    with Inside(
        make_app(Settings(largest_batch=1 << 20), database), authorization=device
    ) as collector:
        refused = collector.ask("POST", path, stream(body), **ARROW)
        assert (refused.status, refused.json["error"]["what"]) == (
            413,
            "the responses of this batch take too much room.",
        )
    with Inside(
        make_app(Settings(largest_batch=1 << 22), database), authorization=device
    ) as collector:
        assert collector.ask("POST", path, stream(body), **ARROW).json == {
            "stored": count,
            "repeated": 0,
        }


def test_a_value_that_is_too_long_is_refused(
    collector: Inside, survey: Survey
) -> None:
    refused = collector.ask(
        "POST",
        BATCHES,
        stream(columns(survey, ["yes", "x" * ((1 << 20) + 1)])),
        **ARROW,
    )
    assert refused.status == 422


def test_pieces_come_together(
    collector: Inside,
    survey: Survey,
    database: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deniable.collector.batches._PIECE_ROWS", 3)
    monkeypatch.setattr("deniable.collector.batches._PIECE_LINES", 2)
    symbols = ["yes", "no", "yes"] * 5
    raw = stream(
        {
            **columns(survey, symbols),
            "group": ["north", None, "south", "north", "south"] * 3,
        }
    )
    assert collector.ask("POST", BATCHES, raw, **ARROW).json == {
        "stored": 15,
        "repeated": 0,
    }
    first = [submission(survey, "red", question=1) for _ in range(5)]
    finer = [
        submission(survey, "red", question=1, stage=1, key=each["key"])
        for each in first
    ]
    assert collector.ask("POST", BATCHES, lines(*finer, *first), **LINES).json == {
        "stored": 10,
        "repeated": 0,
    }
    assert counts(database).counts.tolist() == [5, 10]
    assert [counts(database, group=group).respondents for group in (0, 1)] == [6, 6]
    assert [each.respondents for each in counts(database, 1).finest] == [0, 5, 0]


def test_a_batch_of_nothing_is_refused(collector: Inside, survey: Survey) -> None:
    assert collector.ask("POST", BATCHES, b"\n", **LINES).status == 422
    nothing = stream(
        {name: pa.array(each)[:0] for name, each in columns(survey, ["yes"]).items()}
    )
    assert collector.ask("POST", BATCHES, nothing, **ARROW).status == 422


def test_batches_need_the_token_of_a_device(
    collector: Inside, survey: Survey, database: Store, analyst: str, admin: str
) -> None:
    database.create(small(name="other"))
    other = f"Bearer {database.issue_token(Token('elsewhere', 'device', 'other'))}"
    for header, status in (
        ("", 401),
        ("Bearer dn_unknown", 401),
        (analyst, 403),
        (other, 403),
    ):
        refused = collector.ask(
            "POST", BATCHES, lines(submission(survey)), **LINES, authorization=header
        )
        assert refused.status == status
    assert counts(database).respondents == 0
    assert (
        collector.ask(
            "POST", BATCHES, lines(submission(survey)), **LINES, authorization=admin
        ).status
        == 200
    )
    assert (
        collector.ask("POST", BATCHES, lines(submission(survey)), **LINES).status
        == 200
    )


def test_a_device_can_send_and_nothing_else(collector: Inside) -> None:
    for path in (
        "/api/surveys/small/estimates",
        "/api/surveys/small/tallies",
        "/a",
        "/metrics",
        "/api/tokens",
    ):
        assert collector.ask("GET", path).status == 403, path
    assert collector.ask("POST", "/api/surveys/small/close").status == 403


def test_a_device_sends_so_many_responses_and_bytes_in_a_minute(
    database: Store, survey: Survey, device: str
) -> None:
    def asked(count: int, **changed: Any) -> int:
        body = lines(*(submission(survey) for _ in range(count)))
        return collector.ask("POST", BATCHES, body, **LINES, **changed).status

    with Inside(
        make_app(Settings(device_responses=5, rate_responses=1), database),
        authorization=device,
    ) as collector:
        assert [asked(6), asked(3), asked(3), asked(2), asked(1)] == [
            413,
            200,
            429,
            200,
            429,
        ]
        assert asked(1, client="198.51.100.7") == 429, (
            "it is the token that counts, not the address"
        )
        other = f"Bearer {database.issue_token(Token('other', 'device'))}"
        assert asked(5, authorization=other) == 200
    assert counts(database).respondents == 10
    size = len(lines(submission(survey)))
    with Inside(
        make_app(Settings(device_bytes=3 * size), database), authorization=device
    ) as collector:
        assert [asked(4), asked(1), asked(1), asked(1), asked(1)] == [
            413,
            200,
            200,
            200,
            429,
        ]


def test_a_batch_of_a_million_fakes_is_refused(
    collector: Inside, survey: Survey, database: Store
) -> None:
    count = 1_500_000
    body: dict[str, Any] = {
        "key": pa.array(np.arange(2 * count).view("V16").tolist(), pa.binary(16))
    }
    for name, value in columns(survey, ["yes"]).items():
        if name != "key":
            body[name] = pa.DictionaryArray.from_arrays(
                pa.array(np.zeros(count, np.int8)), pa.array(value)
            )
    raw = stream(body)
    assert len(raw) < 64 << 20
    assert (
        collector.ask("POST", BATCHES, raw, **ARROW, authorization="").status == 401
    )
    refused = collector.ask("POST", BATCHES, raw, **ARROW)
    assert refused.status == 413
    assert (
        refused.json["error"]["what"]
        == "there are 1,500,000 responses in one request."
    )
    assert counts(database).respondents == 0


def test_a_batch_that_is_being_read_keeps_nobody_waiting(
    collector: Inside,
    survey: Survey,
    database: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    read = batches.read_lines

    def slow(*arguments: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return read(*arguments)

    monkeypatch.setattr(batches, "read_lines", slow)
    many = [("POST", BATCHES, lines(submission(survey)), LINES)] * 40

    async def meet() -> list[int]:
        waiting = [
            asyncio.create_task(collector._one(*each, "192.0.2.1")) for each in many
        ]
        await asyncio.to_thread(begun.wait, 60)
        try:
            single = await collector._one(
                "POST",
                "/api/surveys/small/responses",
                submission(survey),
                {},
                "192.0.2.2",
            )
            page = await collector._one("GET", "/s/small", b"", {}, "192.0.2.2")
            # what asks the database needs a thread, and batches must not hold them all
            nothing = {"key": "00" * 16}
            asking = collector._one(
                "POST", "/api/surveys/small/withdrawals", nothing, {}, "192.0.2.2"
            )
            asked = await asyncio.wait_for(asking, 30)
            return [
                single.status,
                page.status,
                asked.status,
                sum(each.done() for each in waiting),
            ]
        finally:
            go_on.set()
            await asyncio.gather(*waiting)

    assert collector._runner.run(meet()) == [204, 200, 200, 0]
    assert counts(database).respondents == 2, "the batches are all the same one"


def test_other_types_are_refused(collector: Inside) -> None:
    assert (
        collector.ask("POST", BATCHES, b"{}", content_type="application/json").status
        == 415
    )


ARMS = (SurveyArm("one", ("smokes",)), SurveyArm("other", ("apps",)))


@pytest.mark.parametrize(
    "changes", [{"each": 1}, {"arms": ARMS}], ids=["each", "arms"]
)
@pytest.mark.parametrize("apart", [False, True], ids=["together", "apart"])
@pytest.mark.parametrize("form", ["lines", "stream"])
def test_a_batch_holds_no_more_under_one_key_than_was_drawn(
    database: Store, device: str, changes: Any, apart: bool, form: str
) -> None:
    """Two questions under the keys of ten people, in one batch or in two; the second one stores nothing."""
    database.create(small(name="drawn", **changes))
    survey = database.open("drawn").survey
    apps = survey.questions[2].designs[0].symbols[8]
    parts = [columns(survey, ["yes"] * 10), columns(survey, [apps] * 10, 2)]
    parts[1]["key"] = parts[0]["key"]

    def body(*tables: dict[str, Any]) -> bytes:
        rows = {
            name: [each for t in tables for each in t[name]] for name in tables[0]
        }
        keys = [key.as_py() for key in rows.pop("key")]
        if form == "stream":
            return stream({"key": pa.array(keys, pa.binary(16)), **rows})
        sent = [
            dict(zip(rows, row, strict=True))
            for row in zip(*rows.values(), strict=True)
        ]
        return lines(
            *(
                {"survey": survey.hash, "key": key.hex(), "responses": [each]}
                for key, each in zip(keys, sent, strict=True)
            )
        )

    bodies = [body(each) for each in parts] if apart else [body(*parts)]
    kind = LINES if form == "lines" else ARROW
    path = "/api/surveys/drawn/batches"
    with Inside(make_app(Settings(), database), authorization=device) as collector:
        answers = [
            collector.ask("POST", path, each, **kind).status for each in bodies
        ]
    assert answers == ([200, 400] if apart else [400])
    number = database.survey("drawn").id
    told = [database.tallies(number, question).respondents for question in (0, 2)]
    assert told == ([10, 0] if apart else [0, 0])
