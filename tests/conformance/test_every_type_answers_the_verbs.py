"""Whatever can be asked goes through the same verbs: respond, respond_all, tally, estimate."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.types import FOLDERS, _operation, operation
from tests.conformance.test_every_sampled_record import RECORDS
from tests.support.seeded import Seeded
from tests.support.types import TYPES, Asked, every_type

VERBS = (dn.respond, dn.respond_all, dn.tally, dn.estimate)


def test_every_type_of_design_is_tried() -> None:
    assert {build().design.asks for build in TYPES.values()} == set(FOLDERS)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_a_verb_is_a_plain_function_that_pickles(verb: Callable[..., Any]) -> None:
    assert pickle.loads(pickle.dumps(verb)) is verb
    assert verb.__module__ == "deniable.verbs"
    assert ">>>" in str(verb.__doc__)


def responded(asked: Asked) -> list[Any]:
    return [
        None if each is None else dn.respond(asked.design, each, **asked.respond)
        for each in asked.answers
    ]


@every_type
def test_one_answer_at_a_time(asked: Asked) -> None:
    sent = responded(asked)
    assert sum(each is None for each in sent) == asked.missing
    present = next(each for each in sent if each is not None)
    names = (
        {stage.hash for stage in asked.design}
        if asked.design.asks == "ladder"
        else {asked.design.hash}
    )
    assert {
        each.design
        for each in (present if isinstance(present, tuple) else [present])
    } == names
    counted = dn.tally(asked.design, sent)
    assert (counted.respondents, counted.missing) == (
        len(sent) - asked.missing,
        asked.missing,
    )


@every_type
def test_all_answers_at_once(asked: Asked) -> None:
    sent = dn.respond_all(asked.design, asked.answers)
    assert isinstance(sent, dn.Responses)
    assert sent.design is asked.design
    assert len(sent) == len(asked.answers)
    assert [each is None for each in sent] == [
        each is None for each in asked.answers
    ]
    counted = dn.tally(sent)
    assert counted.design == asked.design
    assert (counted.respondents, counted.missing) == (
        len(sent) - asked.missing,
        asked.missing,
    )
    assert dn.tally(asked.design, sent) == counted


def test_rows_stand_in_the_order_of_the_answers() -> None:
    design = dn.one_edge(["tea", "coffee", "milk"], 1)  # sends the item as it is
    items = ["milk", "tea", "tea", "coffee", "milk"]
    sent = dn.respond_all(design, [None, *({item: 0.5} for item in items), None])
    assert [row and str(row).partition(" ")[2] for row in sent] == [
        None,
        *items,
        None,
    ]
    table = {"person": list("edcba"), "item": items, "weight": [0.5] * 5}
    listed = dn.respond_all(design, table, people=list("abcde"))
    assert [str(row).partition(" ")[2] for row in listed] == items[::-1]
    orders = {
        tuple(str(row).partition(" ")[2] for row in dn.respond_all(design, table))
        for _ in range(40)
    }
    assert len(orders) > 1  # nobody learns who came first


def test_a_frame_of_attributes_is_a_column_for_each() -> None:
    import pandas as pd
    import polars as pl

    columns = {
        "smokes": ["yes", None, "no"],
        "age": ["old", "young", "old"],
        "other": [1, 2, 3],
    }
    design = dn.product(
        {"smokes": dn.direct(["no", "yes"]), "age": dn.direct(["young", "old"])}
    )
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        sent = dn.respond_all(design, frame)
        assert list(sent) == ["yes · old", None, "no · old"]
        assert sent.to_frame()["age"].tolist()[::2] == ["old", "old"]


@pytest.mark.parametrize("name", ["categories", "numbers", "strings"])
def test_columns_of_any_library_say_the_same(name: str) -> None:
    import pandas as pd
    import polars as pl

    asked = TYPES[name]()
    columns = [
        pd.Series(asked.answers),
        pl.Series(asked.answers, strict=False),
        pa.array(asked.answers),
    ]
    columns += [np.array(asked.answers, object), tuple(asked.answers)]
    for column in columns:
        sent = dn.respond_all(asked.design, column)
        assert [each is None for each in sent] == [
            each is None for each in asked.answers
        ]


@every_type
def test_counting_rows_is_counting_what_they_say(asked: Asked) -> None:
    """What somebody reads off the symbols, one by one, is what is counted in bulk."""
    sent = dn.respond_all(asked.design, asked.answers)
    assert dn.tally(asked.design, as_sent_singly(asked.design, sent)) == dn.tally(
        sent
    )


def as_sent_singly(design: Any, sent: dn.Responses[Any]) -> list[Any]:
    if design.asks == "ladder":
        pairs = [
            None if row is None else zip(design, row, strict=True) for row in sent
        ]
        return [
            None
            if row is None
            else tuple(dn.Response(stage.hash, symbol) for stage, symbol in row)
            for row in pairs
        ]
    if design.asks == "strings":
        return [
            None if row is None else dn.StringResponse(design.hash, *row)
            for row in sent
        ]
    return [None if row is None else dn.Response(design.hash, row) for row in sent]


@every_type
def test_tallies_add_up_by_sum(asked: Asked) -> None:
    sent = dn.respond_all(asked.design, asked.answers)
    counted = dn.tally(sent)
    parts = [
        dn.tally(asked.design, [each]) for each in as_sent_singly(asked.design, sent)
    ]
    assert sum(parts) == counted
    assert sum([counted, type(counted).empty(asked.design)]) == counted
    assert counted + type(counted).empty(asked.design) == counted
    assert type(counted).from_json(counted.to_json(), asked.design) == counted


@every_type
def test_an_estimate_comes_out_and_answers_everything(asked: Asked) -> None:
    counted = dn.tally(dn.respond_all(asked.design, asked.answers))
    found = dn.estimate(counted, **asked.estimate)
    assert isinstance(found, dn.Result)
    names = list(found.params)
    assert all(
        isinstance(value, float)
        for value in [*found.params.values(), *found.bse.values()]
    )
    assert list(found.bse) == list(found.conf_int()) == names
    assert found.cov_params().shape == (len(names), len(names))
    assert all(isinstance(each, dn.Caution) for each in found.warnings)
    assert isinstance(found.summary(), dn.Summary)
    assert str(found.summary())
    assert list(found.to_frame().index) == names
    assert type(found).from_json(found.to_json(), asked.design) == found
    assert found.plot().axes
    assert "<table" in found._repr_html_()
    assert dn.estimate(counted, **asked.estimate) == found


def test_every_type_takes_a_sampling() -> None:
    assert all(_operation(asks, "estimate_sampled") for asks in FOLDERS)


every_type_of_shares = pytest.mark.parametrize(  # records are held to a test of their own: test_every_sampled_record.py
    "asked",
    [
        pytest.param(build(), id=name)
        for name, build in TYPES.items()
        if name not in (*RECORDS, "numbers in buckets")
    ],
)
"""Quantiles of buckets are a statistic of a distribution; `tests/unit/types/test_buckets.py` has them with samples."""


@every_type_of_shares
def test_a_sampling_goes_with_rows(asked: Asked) -> None:
    sent = dn.respond_all(
        asked.design, asked.answers, source=Seeded(f"sampled {asked.design.hash}")
    )
    rows = len(sent)
    villages = np.arange(rows) // 4
    known = {
        "weights": 1.0 + np.arange(rows) % 3,
        "strata": villages % 2,
        "clusters": villages,
    }
    sample = dn.Sampling(**known)
    options = {
        name: given for name, given in asked.estimate.items() if name != "population"
    }
    found = dn.estimate(sent, sampling=sample, **options)
    names = list(found.params)
    assert isinstance(found, dn.SampledEstimate)
    assert (found.respondents, found.missing) == (
        rows - asked.missing,
        asked.missing,
    )
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.cov_params()).all()
    assert all(low < high for low, high in found.conf_int().values())
    assert "people in" in found.summary().title
    again = type(found).from_json(found.to_json(), asked.design)
    assert again == found
    assert again.design == asked.design
    halves = dn.estimate(sent, sampling=sample, by=villages % 2, **options)
    assert list(halves.params) == [
        f"{half} · {name}" for half in (0, 1) for name in names
    ]
    part = dn.estimate(sent, sampling=sample, domain=villages % 2 == 1, **options)
    assert part.value == pytest.approx(halves.value[len(names) :])
    per_bed = dn.estimate(
        sent, sampling=sample, denominator=np.full(rows, 2.0), **options
    )
    # With a denominator stages stand side by side, and of numbers there is the ratio of totals alone.
    alike = options | ({"method": "strata"} if asked.design.asks == "ladder" else {})
    side_by_side = dn.estimate(sent, sampling=sample, **alike)
    told = ["mean"] if asked.design.asks == "numbers" else names
    assert list(per_bed.params) == told
    assert per_bed.value == pytest.approx(
        [side_by_side.params[name] / 2 for name in told]
    )
    assert per_bed.errors == pytest.approx(
        [side_by_side.bse[name] / 2 for name in told]
    )
    replicated = dn.estimate(
        sent, sampling=dn.Sampling(**known, replicates="jackknife"), **options
    )
    # The variance of numbers is corrected by the error of their mean, which replicates estimate in another way.
    same = [name for name in names if name != "sd"]
    assert [replicated.params[name] for name in same] == pytest.approx(
        [found.params[name] for name in same]
    )
    if asked.design.asks == "numbers":
        variance, again = (
            each.params["sd"] ** 2 - each.bse["mean"] ** 2
            for each in (found, replicated)
        )
        assert again == pytest.approx(variance)
    assert replicated.total.errors == pytest.approx(found.total.errors, rel=0.2)


@every_type_of_shares
def test_with_even_weights_it_is_the_unbiased_estimate(asked: Asked) -> None:
    sent = dn.respond_all(asked.design, asked.answers)
    options = {
        name: given for name, given in asked.estimate.items() if name != "population"
    }
    found = dn.estimate(sent, sampling=dn.Sampling(np.ones(len(sent))), **options)
    plain = dn.estimate(dn.tally(sent), **asked.estimate)
    # the same method, and all seven numbers of a number design
    assert found.params == pytest.approx(plain.params)
    twice = dn.estimate(
        sent + sent, sampling=dn.Sampling(np.ones(2 * len(sent))), **options
    )
    expected = found.params
    # an unbiased variance knows how many people there are
    if asked.design.asks == "numbers":
        expected = expected | {"sd": dn.estimate(dn.tally(sent + sent)).params["sd"]}
    elif (
        asked.design.asks == "ladder"
    ):  # weights are improved until they move by little next to the error: 1/√n
        expected = dn.estimate(dn.tally(sent + sent), **options).params
    assert twice.params == pytest.approx(expected)


@every_type
def test_responses_are_a_value(asked: Asked) -> None:
    sent = dn.respond_all(asked.design, asked.answers)
    assert pickle.loads(pickle.dumps(sent)) == sent
    twice = sent + sent
    assert len(twice) == 2 * len(sent)
    assert list(twice) == [*sent, *sent]
    assert sum([sent, sent]) == twice
    assert twice != sent
    for again in (sent, pickle.loads(pickle.dumps(sent)), twice):
        for column in again.columns.values():
            assert not column.flags.writeable
    with pytest.raises(TypeError):
        hash(sent)
    told = repr(sent)
    assert f"{len(sent):,} rows, {asked.missing:,} missing" in told


@every_type
def test_responses_go_to_arrow_and_back(asked: Asked) -> None:
    sent = dn.respond_all(asked.design, asked.answers)
    table = sent.to_arrow()
    assert table.column_names == list(asked.design.columns)
    assert all(column.null_count == asked.missing for column in table.columns)
    assert dn.Responses.from_arrow(table, asked.design) == sent
    assert (
        dn.Responses.from_arrow(pa.concat_tables([table, table]), asked.design)
        == sent + sent
    )
    with pytest.raises(dn.errors.Incompatible, match="belongs to the design sha256"):
        dn.Responses.from_arrow(table, dn.warner(3))
    with pytest.raises(dn.errors.InvalidResponse, match="none named"):
        dn.Responses.from_arrow(table.replace_schema_metadata({}), asked.design)


@every_type
def test_responses_go_to_a_frame(asked: Asked) -> None:
    sent = dn.respond_all(asked.design, asked.answers)
    frame = sent.to_frame()
    assert len(frame) == len(sent)
    attributes = getattr(asked.design, "attributes", ())
    assert list(frame.columns) == list(attributes or asked.design.columns)
    assert frame.isna().to_numpy().all(axis=1).tolist() == [
        each is None for each in asked.answers
    ]


@every_type
def test_another_designs_responses_are_refused(asked: Asked) -> None:
    sent, other = (
        dn.respond_all(asked.design, asked.answers),
        dn.respond_all(dn.warner(3), ["yes", "no"]),
    )
    with pytest.raises(dn.errors.Incompatible, match="were drawn with"):
        sent + other
    with pytest.raises(dn.errors.Incompatible, match="were drawn with"):
        dn.tally(dn.warner(3), sent)
    with pytest.raises(dn.errors.Incompatible, match="were drawn with"):
        dn.tally(asked.design, other)


@every_type
def test_nobody_and_nothing(asked: Asked) -> None:
    nobody = asked.design.asks == "deck"  # a deck is dealt to so many people
    answers = [None] * len(asked.answers) if nobody else []
    counted = dn.tally(dn.respond_all(asked.design, answers))
    assert counted.respondents == 0
    with pytest.raises(dn.errors.NotEstimable):
        dn.estimate(counted, **asked.estimate)


WRONG: tuple[object, ...] = (
    "x",
    7,
    None,
    1.5,
    [1],
    {"a": 1},
    object(),
    np.zeros(3),
    dn.warner,
    b"x",
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_what_is_no_design_and_no_tally_is_refused_as_our_error(wrong: Any) -> None:
    for verb in (dn.tally, dn.estimate):
        with pytest.raises(dn.errors.InvalidRequest, match="expected a"):
            verb(wrong)
    for verb in (dn.respond, dn.respond_all, dn.tally):
        with pytest.raises(dn.errors.InvalidRequest, match="expected a design"):
            verb(wrong, ["yes"])


@every_type
@pytest.mark.parametrize(
    "wrong",
    [7.25j, object(), b"secretanswer", "secretanswer", ["secretanswer"]],
    ids=lambda wrong: type(wrong).__name__,
)
def test_wrong_answers_and_responses_are_our_errors_and_not_repeated(
    asked: Asked, wrong: Any
) -> None:
    asking = asked.design.asks
    # any text is an answer there
    if not (asking == "strings" and wrong == "secretanswer"):
        with pytest.raises(dn.errors.InvalidAnswer) as caught:
            dn.respond(asked.design, wrong, **asked.respond)
        assert "secretanswer" not in str(caught.value)
        answers = [wrong] * asked.design.people if asking == "deck" else [wrong]
        with pytest.raises(dn.errors.InvalidAnswer) as caught:
            dn.respond_all(asked.design, answers)
        assert "secretanswer" not in str(caught.value)
    with pytest.raises(dn.errors.DeniableError):
        dn.tally(asked.design, wrong)


@every_type
def test_an_option_of_another_type_is_refused(asked: Asked) -> None:
    some = next(answer for answer in asked.answers if answer is not None)
    for verb, given, options in (
        (dn.respond, (asked.design, some), ("card", "cohort")),
        (
            dn.respond_all,
            (asked.design, asked.answers),
            ("codes", "cohorts", "people"),
        ),
        (dn.tally, (asked.design, [None]), ("codes", "reached")),
        (dn.tally, (dn.respond_all(asked.design, asked.answers),), ("codes",)),
    ):
        fitting = [each for each in options if each in accepted(verb, asked.design)]
        for option in set(options) - set(fitting):
            with pytest.raises(
                dn.errors.InvalidRequest, match=f"^{option} does not go with"
            ):
                verb(*given, **{option: 1})


OPERATIONS = {
    dn.respond: "respond",
    dn.respond_all: "respond_all",
    dn.tally: "tally",
}


def accepted(verb: Callable[..., Any], design: Any) -> set[str]:
    """The options that the operation of a type of question has."""
    return set(inspect.signature(operation(design, OPERATIONS[verb])).parameters)
