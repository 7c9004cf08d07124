"""Inputs for laws: numbers, channels and designs of every kind, small enough to be written out."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st

from deniable.channel import Channel, Dense, Diagonal, Product

finite_floats = st.floats(allow_nan=False, allow_infinity=False)
probabilities = st.fractions(min_value=0, max_value=1, max_denominator=1000)
gammas = st.fractions(min_value=1, max_value=20, max_denominator=50)
ratios = st.fractions(
    min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**9
)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def dense(
    draw: st.DrawFn, *, answers: int | None = None, responses: int | None = None
) -> Dense:
    """A table of small integer weights; zeros, equal columns and rows that never occur are all likely."""
    width = answers or draw(st.integers(2, 4))
    height = responses or draw(st.integers(2, 5))
    total = draw(st.integers(1, 30))
    cuts = st.lists(
        st.integers(0, total), min_size=height - 1, max_size=height - 1
    ).map(sorted)
    columns = []
    for _ in range(width):
        ends = [0, *draw(cuts), total]
        columns.append([high - low for low, high in pairwise(ends)])
    return Dense(tuple(zip(*columns, strict=True)), total)


@st.composite
def diagonal(draw: st.DrawFn, *, size: int | None = None) -> Diagonal:
    """A γ-diagonal channel on either side of 1/size, or with equal weights."""
    return Diagonal(
        size or draw(st.integers(2, 5)),
        draw(st.integers(0, 40)),
        draw(st.integers(1, 40)),
    )


def products() -> st.SearchStrategy[Product]:
    """Two small channels side by side."""
    small = (
        dense(answers=2, responses=2)
        | dense(answers=2, responses=3)
        | diagonal(size=2)
        | diagonal(size=3)
    )
    return st.tuples(small, small).map(Product)


def channels() -> st.SearchStrategy[Channel]:
    """A channel of any kind."""
    return st.one_of(dense(), diagonal(), products())


@st.composite
def priors(draw: st.DrawFn, size: int) -> tuple[Fraction, ...]:
    """What somebody believes beforehand: positive shares that sum to 1."""
    weights = draw(st.lists(st.integers(1, 50), min_size=size, max_size=size))
    return tuple(Fraction(weight, sum(weights)) for weight in weights)
