"""Each sampler draws exactly from its channel. No statistics: every path is walked, every position visited."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from deniable.chance import TOTAL, words_for
from deniable.channel import Channel, Product
from deniable.designs import Design
from deniable.responses import respond
from tests.support.paths import distribution
from tests.support.positions import (
    SMALL,
    ScriptedSource,
    by_position,
    drawn,
    factors,
    positions,
    script,
    scripts_of_all_positions,
    thrown_away,
)
from tests.support.registered import every_design, parameters


@every_design
def test_every_path_of_the_sampler_together_is_the_channel(design: Design) -> None:
    channel = design.channel
    for answer in range(channel.answers):
        claimed = {
            i: channel.probability(i, given=answer) for i in range(channel.responses)
        }
        walked = distribution(channel, answer)
        assert sum(walked.values()) == 1
        assert walked == {
            response: share for response, share in claimed.items() if share
        }


def by_position_and_small(design: Design) -> bool:
    return by_position(design.channel) and positions(design.channel) <= SMALL


positional = pytest.mark.parametrize(
    "design", parameters(lambda design: by_position(design.channel))
)
products = pytest.mark.parametrize(
    "design",
    parameters(
        lambda design: (
            isinstance(design.channel, Product) and by_position(design.channel)
        )
    ),
)


@pytest.mark.parametrize("design", parameters(by_position_and_small))
def test_every_position_once_gives_every_response_its_weight(design: Design) -> None:
    channel, number = design.channel, positions(design.channel)
    for answer in range(channel.answers):
        counts = Counter(
            drawn(channel, answer, each)
            for each in scripts_of_all_positions(channel)
        )
        for response in range(channel.responses):
            assert (
                counts[response]
                == channel.probability(response, given=answer) * number
            )


@positional
def test_every_stretch_of_positions_has_exactly_its_weight(design: Design) -> None:
    for factor in factors(design.channel):
        for answer in range(factor.answers):
            check_stretches(factor, answer)


def check_stretches(channel: Channel, answer: int) -> None:
    """Walk from stretch to stretch: each is as long as the response's weight, and no response comes twice."""
    total: int = channel.total  # type: ignore[attr-defined]
    position, seen = 0, set()
    while position < total:
        response = drawn(channel, answer, script(position, total))
        weight = channel.probability(response, given=answer) * total
        assert response not in seen
        assert weight.denominator == 1
        assert weight >= 1
        seen.add(response)
        last = position + int(weight) - 1
        assert drawn(channel, answer, script(last, total, last=True)) == response
        assert drawn(channel, answer, script(position, total, last=True)) == response
        position = last + 1
    assert position == total
    assert len(seen) == sum(
        channel.probability(i, given=answer) > 0 for i in range(channel.responses)
    )


@positional
def test_words_beyond_the_last_position_are_thrown_away(design: Design) -> None:
    for factor in factors(design.channel):
        refused = thrown_away(factor.total)
        if refused is None:
            assert TOTAL % factor.total == 0
            continue
        for answer in range(factor.answers):
            good = script(0, factor.total)
            assert drawn(factor, answer, refused + refused + good) == drawn(
                factor, answer, good
            )


@products
def test_factors_draw_in_turn_the_first_one_first(design: Design) -> None:
    channel = design.channel
    assert isinstance(channel, Product)
    ends = [
        (script(0, factor.total), script(factor.total - 1, factor.total, last=True))
        for factor in channel.factors
    ]
    for answer in range(channel.answers):
        for scripts in product(*ends):
            response = drawn(channel, answer, b"".join(scripts))
            apart = [
                drawn(factor, own, each)
                for factor, own, each in zip(
                    channel.factors,
                    channel.split_answer(answer),
                    scripts,
                    strict=True,
                )
            ]
            assert channel.split_response(response) == tuple(apart)


@positional
def test_respond_sends_what_the_channel_draws_and_takes_no_more_bytes(
    design: Design,
) -> None:
    for answer, category in enumerate(design.categories):
        for last in (False, True):
            words = b"".join(
                script(f.total - 1 if last else 0, f.total, last=last)
                for f in factors(design.channel)
            )
            source = ScriptedSource(words)
            response = respond(design, category, source=source)
            assert response.design == design.hash
            assert (
                response.symbol
                == design.symbols[drawn(design.channel, answer, words)]
            )
            assert source.used == 8 * sum(
                words_for(factor.total) for factor in factors(design.channel)
            )
