"""Every engine keeps the contract, with files too; and an engine that does not keep it is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.chance import ScriptedSource
from deniable.designs import AnyDesign, Design
from deniable.engines import Engine, Local
from deniable.engines.files import respond_file, tally_file
from deniable.errors import (
    DeniableError,
    Incompatible,
    InvalidAnswer,
    InvalidResponse,
)
from deniable.tallies.responses import Responses
from tests.support.seeded import Seeded

DESIGNS = {
    "k-ary": dn.k_ary(["red", "green", "blue"], epsilon=1),
    "a table": dn.binary("9/10", "7/10"),
    "words thrown away": dn.k_ary(7, p="0.1234567"),
    "bits": dn.unary(70, epsilon=1),
    "sets": dn.subset(20, epsilon=1),
    "Hadamard": dn.hadamard(30, epsilon=1),
    "hashing": dn.local_hashing(30, epsilon=1),
    "several attributes": dn.product({"a": dn.warner(1), "b": dn.k_ary(3, 1)}),
}
N = 700


class Wrong:
    """An engine that keeps no promise: it draws from its own bytes, forgets gaps and counts whatever it is given."""

    def respond_all(
        self, design: AnyDesign, answers: Any, **options: Any
    ) -> Responses[Any]:
        options["source"] = Seeded("its own")
        drawn = Local().respond_all(design, answers, **options)
        return Responses(design, drawn.columns)

    def respond_stream(
        self, design: Design, chunks: Iterable[Any], **options: Any
    ) -> Iterator[Responses[Design]]:
        return (self.respond_all(design, chunk, **options) for chunk in chunks)

    def tally(self, design: AnyDesign, responses: Any, **options: Any) -> Any:
        given = (
            responses.columns["response"]
            if isinstance(responses, Responses)
            else responses
        )
        try:
            return Local().tally(design, given, **options)
        except DeniableError:
            return dn.tally(design, [])  # type: ignore[call-overload]


def answers(design: Design) -> list[str | None]:
    """Return labels of which every ninth is missing."""
    size = design.channel.answers
    return [
        None if i % 9 == 4 else design.categories[(7 * i + i * i // 11) % size]
        for i in range(N)
    ]


def draws_as_a_respondent_does(engine: Engine, design: Design, folder: Path) -> None:  # noqa: ARG001 - one shape for all
    given = answers(design)
    sent = engine.respond_all(design, given, source=Seeded("bytes"))
    source = Seeded("bytes")
    expected = [
        design.channel.draw(design.category_number(each), source)
        for each in given
        if each is not None
    ]
    assert sent.design == design
    assert design.channel.coding.unpack(sent.present()["response"]) == expected


def keeps_what_is_missing(engine: Engine, design: Design, folder: Path) -> None:  # noqa: ARG001
    given = answers(design)
    sent = engine.respond_all(design, given)
    assert sent.missing is not None
    assert sent.missing.tolist() == [each is None for each in given]
    counted = engine.tally(design, sent)
    assert (counted.respondents, counted.missing) == (
        N - given.count(None),
        given.count(None),
    )


def counts_as_everybody_does(engine: Engine, design: Design, folder: Path) -> None:  # noqa: ARG001
    sent = Local(fast=False).respond_all(design, answers(design))
    assert engine.tally(design, sent) == dn.tally(sent)
    assert engine.tally(design, list(sent), codes=False) == dn.tally(sent)
    assert engine.tally(design, sent) + dn.tally(sent) == dn.tally(sent + sent)


def cuts_change_nothing(engine: Engine, design: Design, folder: Path) -> None:  # noqa: ARG001
    given = answers(design)
    pieces = engine.respond_stream(
        design, [given[:1], given[1:400], [], given[400:]], source=Seeded("cut")
    )
    assert sum(pieces) == engine.respond_all(design, given, source=Seeded("cut"))


def refuses_what_is_wrong(engine: Engine, design: Design, folder: Path) -> None:  # noqa: ARG001
    with pytest.raises(InvalidAnswer, match="index 2") as caught:
        engine.respond_all(design, [design.categories[0], None, "a-secret"])
    assert "a-secret" not in str(caught.value)
    with pytest.raises(InvalidResponse):
        engine.tally(design, ["no such symbol"])
    sent = Local().respond_all(design, answers(design))
    with pytest.raises(Incompatible):
        engine.tally(dn.k_ary(9, epsilon=3), sent)


def does_not_repeat_itself(engine: Engine, design: Design, folder: Path) -> None:  # noqa: ARG001
    same = [design.categories[0]] * N
    assert engine.respond_all(design, same) != engine.respond_all(design, same)


def files_come_back(engine: Engine, design: Design, folder: Path) -> None:
    pq.write_table(pa.table({"answer": answers(design)}), folder / "answers.parquet")
    for name in ("sent.parquet", "sent.csv", "sent.ndjson"):
        written = respond_file(
            design,
            folder / "answers.parquet",
            folder / name,
            column="answer",
            engine=engine,
        )
        counted = tally_file(design, folder / name, engine=engine)
        assert (written.rows, written.missing) == (N, answers(design).count(None))
        assert (counted.respondents, counted.missing) == (
            written.rows - written.missing,
            written.missing,
        )
        assert counted == tally_file(design, folder / name)


PROMISES: list[Callable[[Engine, Design, Path], None]] = [
    draws_as_a_respondent_does,
    keeps_what_is_missing,
    counts_as_everybody_does,
    cuts_change_nothing,
    refuses_what_is_wrong,
    does_not_repeat_itself,
    files_come_back,
]
ENGINES: dict[str, Engine] = {
    "local, NumPy": Local(fast=False),
    "local, Numba": Local(fast=True),
    "local, two threads": Local(threads=2),
}
every_promise = pytest.mark.parametrize(
    "promise", PROMISES, ids=lambda each: each.__name__
)


@every_promise
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES.keys())
def test_an_engine_keeps_its_promises(
    engine: Engine,
    name: str,
    promise: Callable[[Engine, Design, Path], None],
    tmp_path: Path,
) -> None:
    if engine == Local(threads=2) and promise in (
        draws_as_a_respondent_does,
        cuts_change_nothing,
    ):
        with pytest.raises(DeniableError, match="cannot share one source"):
            promise(engine, DESIGNS[name], tmp_path)
    else:
        promise(engine, DESIGNS[name], tmp_path)


@every_promise
def test_a_wrong_engine_is_found(
    promise: Callable[[Engine, Design, Path], None], tmp_path: Path
) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        promise(Wrong(), DESIGNS["bits"], tmp_path)


def test_other_types_of_design_go_through_an_engine_too() -> None:
    design = dn.lpp_club(["tea", "milk"], epsilon=1)
    for engine in ENGINES.values():
        sent = engine.respond_all(design, [{"tea": 0.5}, None, {}])
        assert (
            engine.tally(design, sent).respondents,
            engine.tally(design, sent).missing,
        ) == (2, 1)
        with pytest.raises(DeniableError, match="expected Responses"):
            engine.tally(design, np.zeros(3, np.uint8))


def test_the_verb_draws_on_an_engine() -> None:
    design = DESIGNS["bits"]
    given = answers(design)
    for engine in (Local(fast=False), Local(fast=True)):
        sent = dn.respond_all(design, given, source=Seeded("verb"), engine=engine)
        assert sent == dn.respond_all(design, given, source=Seeded("verb"))
    assert dn.respond_all(design, given, engine=Wrong()) == Wrong().respond_all(
        design, given
    )
    with pytest.raises(DeniableError, match="cohorts does not go with"):
        dn.respond_all(design, given, cohorts=[1], engine=Local())  # type: ignore[call-overload]


def test_a_script_is_read_to_its_end_and_not_beyond() -> None:
    design = DESIGNS["k-ary"]
    for fast in (False, True):
        source = ScriptedSource(bytes(8 * 2))
        assert (
            len(
                Local(fast=fast).respond_all(
                    design, ["red", None, "blue"], source=source
                )
            )
            == 3
        )
        assert source.used == 16
