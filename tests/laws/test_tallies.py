from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.designs import Design, k_ary, matrix, warner
from deniable.errors import IncompatibleTallies
from deniable.tallies.counts import Tally
from tests.support.registered import registered

DESIGNS = registered()


@st.composite
def tallies(draw: st.DrawFn, design: Design | None = None) -> Tally:
    known = design or draw(st.sampled_from(DESIGNS))
    channel = known.channel
    possible = [
        response
        for response in range(channel.responses)
        if channel.possible(response)
    ]
    sent = draw(
        st.dictionaries(st.sampled_from(possible), st.integers(1, 2**40), max_size=6)
    )
    counts = np.zeros(channel.cells, dtype=np.int64)
    for response, times in sent.items():
        counts[list(channel.cells_of(response))] += times
    return Tally(
        known, counts, draw(st.integers(0, 2**40)), respondents=sum(sent.values())
    )


@st.composite
def triples(draw: st.DrawFn) -> tuple[Tally, Tally, Tally]:
    design = draw(st.sampled_from(DESIGNS))
    return draw(tallies(design)), draw(tallies(design)), draw(tallies(design))


@given(triples())
def test_tallies_form_a_commutative_monoid(
    three: tuple[Tally, Tally, Tally],
) -> None:
    a, b, c = three
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Tally.empty(a.design) == a
    assert Tally.empty(a.design) + a == a


@given(triples())
def test_what_is_counted_adds_up(three: tuple[Tally, Tally, Tally]) -> None:
    a, b, _ = three
    both = a + b
    assert both.respondents == a.respondents + b.respondents
    assert both.missing == a.missing + b.missing
    assert both.counts.tolist() == [
        one + two for one, two in zip(a.counts, b.counts, strict=True)
    ]


@given(triples())
def test_equal_tallies_have_equal_hashes_and_nothing_else_is_equal(
    three: tuple[Tally, Tally, Tally],
) -> None:
    a, b, _ = three
    assert hash(a + b) == hash(b + a)
    assert (a == b) == (a.to_json() == b.to_json())
    assert a != a.counts.tolist()


@given(tallies())
def test_a_tally_comes_back_from_json(one: Tally) -> None:
    again = Tally.from_json(one.to_json(), one.design)
    assert again == one
    assert again.to_json() == one.to_json()


@given(st.lists(st.sampled_from(DESIGNS), min_size=2, max_size=2, unique=True))
def test_tallies_of_two_designs_refuse_each_other(designs: list[Design]) -> None:
    one, two = designs
    a, b = Tally.empty(one), Tally.empty(two)
    with pytest.raises(IncompatibleTallies):
        a + b
    with pytest.raises(IncompatibleTallies):
        Tally.from_json(a.to_json(), two)


def test_equal_labels_do_not_make_equal_designs() -> None:
    labels = ["no", "yes"]
    designs = [
        warner(1, categories=labels),
        warner(2, categories=labels),
        k_ary(labels, 1),
        matrix([["3/4", "1/4"], ["1/4", "3/4"]], categories=labels),
    ]
    for i, one in enumerate(designs):
        for two in designs[i + 1 :]:
            with pytest.raises(IncompatibleTallies):
                Tally.empty(one) + Tally.empty(two)
