"""Plan for noncompliance: power and bias if some respondents do not comply, or lie when asked directly."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest, quoted, require_choice
from deniable.estimates.sensitivity import KINDS
from deniable.plan.detection import (
    ShareTest,
    check_method,
    read_category,
    shares_around,
)
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import (
    is_number,
    read_probability,
    read_share,
    read_whole,
    variance,
)
from deniable.rendering import formats
from deniable.rendering.formats import percent
from deniable.types.categories.plan import DecidingResponse

_CURVE = (1, 2, 5)  # numbers of respondents of a curve, times powers of ten


def noncompliance(
    design: Design,
    n: int,
    *,
    share: float,
    failing: float,
    kind: str = "always_no",
    null: float = 0.0,
    alpha: float = 0.05,
    two_sided: bool = False,
    category: str | None = None,
    method: str | None = None,
) -> Planned:
    """Answer what the power is, and what the estimate tends to, where some people do not follow the device.

    A large power is worth nothing beside an estimate that tends elsewhere: both are told. "No" is the response that
    speaks against the category by its Bayes factor, whatever it is called.

    Args:
        design: what people are asked to respond with; one response must decide on the share.
        n: how many will respond.
        share: the true share of the category.
        failing: the share of people who do not follow the device; of "carriers_no" among those of the category.
        kind: what they do instead: "always_no", "always_yes", "carriers_no" or "random".
        null: the share that is to be rejected.
        alpha: how often a true null is rejected.
        two_sided: reject on both sides.
        category: whose share is meant; the last one, if none is named.
        method: of the test, "exact" (the default) or "normal".

    Raises:
        InvalidRequest: a design where more than one response decides, another kind, or numbers that do not fit.

    Example:
        >>> from deniable.designs import forced_response
        >>> die = forced_response("2/3", "1/6", "1/6")
        >>> found = noncompliance(die, 500, share=0.15, failing=0.2, method="normal")
        >>> round(found.value, 4), found.lines[-1]["expected estimate"]
        (0.8533, 0.07)
    """
    test = ShareTest.read(design, share, null, alpha, two_sided, category)
    check_method(method)
    response, n = _require_response(test, kind), read_whole(n, "n")
    lines: list[Line] = []
    for rate in (0.0, failing / 4, failing / 2, failing):
        p_response = _response_probability(
            response,
            test.true,
            read_share(rate, "failing"),
            kind,
            len(design.symbols),
        )
        power = (
            float(test.count_power(np.array([n]), p_response)[0])
            if method != "normal"
            else test.normal_count_power(n, p_response)
        )
        expected = round((p_response - response.stray) / response.gap, 12)
        lines.append(
            {
                "not following": percent(rate),
                "power": power,
                "expected estimate": expected,
            }
        )
    sentence = (
        f"If {percent(failing)} {KINDS[kind]}, {n:,} respondents have a power of "
        f"{percent(power)}, and the "
        f"estimate of a share of {percent(share)} tends to {percent(expected)}."
    )
    return Planned(sentence, power, tuple(lines), _warning_text(share, expected))


def _warning_text(share: float, tends: float) -> tuple[str, ...]:
    """Return the warning about an estimate that tends to more than the true share, or to less."""
    if tends > share:
        return (
            "The estimate tends to more than the true share: that power is large for the wrong reason.",
        )
    return (
        "More respondents do not help against this: the interval shrinks around the wrong share.",
    )


def _require_response(test: ShareTest, kind: str) -> DecidingResponse:
    if test.response is None:
        raise InvalidRequest(
            "this needs one response that decides on the share; expected two answers and two responses, or a k-ary "
            "design."
        )
    require_choice("the kind is", kind, KINDS)
    return test.response


def _response_probability(
    response: DecidingResponse,
    share: float,
    failing: float,
    kind: str,
    responses: int,
) -> float:
    """Return how often the response is sent, where some do not follow the device."""
    speaks_for = response.gap > 0
    if kind == "carriers_no":
        p_true = (1 - failing) * response.hit + failing * (not speaks_for)
        return (1 - share) * response.stray + share * p_true
    instead = {
        "always_no": float(not speaks_for),
        "always_yes": float(speaks_for),
        "random": 1 / responses,
    }[kind]
    return (1 - failing) * response.chance(share) + failing * instead


def crossover(
    design: Design,
    *,
    share: float,
    lying: float,
    bias: float = 0.0,
    category: str | None = None,
    people: Sequence[int] | None = None,
) -> Planned:
    """Answer from how many respondents on a design has a smaller error than a direct question to which some lie.

    Implements: of a direct question that a share `lying` of those concerned denies, the mean squared error is
    (lying·share)² + μ(1 − μ)/n with μ = share·(1 − lying); that of the design is its variance, plus the square of a
    bias that people bring along who distrust the device too.

    Args:
        design: what people would respond with.
        share: the true share of the category.
        lying: the share of those of the category who would deny it if asked directly.
        bias: by how much the estimate of the design is expected to be off, in shares.
        category: whose share is meant; the last one, if none is named.
        people: the numbers of respondents in the table and the picture; by default some around the crossing.

    Raises:
        InvalidRequest: numbers that do not fit.

    Example:
        >>> from deniable.designs import warner
        >>> found = crossover(warner(p="7/10"), share=0.2, lying=0.3)
        >>> round(found.value, 2)
        375.58
    """
    name = read_category(design, category)
    true, denied = read_probability(share, "the share"), read_share(lying, "lying")
    if not is_number(bias) or not -1 < bias < 1:
        raise InvalidRequest(
            f"the bias is {quoted(bias)}; expected a number between −1 and 1."
        )
    spread = variance(
        design, 1, shares=shares_around(design, name, true), category=name
    )
    admitted = true * (1 - denied)
    direct_bias, direct_spread = denied * true, admitted * (1 - admitted)
    gain = direct_bias**2 - bias**2
    value = max(spread - direct_spread, 0.0) / gain if gain > 0 else math.inf
    numbers = (
        _numbers_around(value)
        if people is None
        else [read_whole(n, "people") for n in people]
    )
    lines = tuple(
        {
            "people": n,
            "error of the direct question": math.sqrt(
                direct_bias**2 + direct_spread / n
            ),
            f"error of {design.name}": math.sqrt(bias**2 + spread / n),
        }
        for n in numbers
    )
    return Planned(
        _crossing_text(design, true, denied, value), value, lines, across="people"
    )


def _crossing_text(design: Design, share: float, lying: float, value: float) -> str:
    liars = f"if {percent(lying)} of those concerned deny a share of {percent(share)} when asked directly"
    if value == math.inf:
        return f"A direct question has the smaller error whatever the number of people, {liars}."
    title = f"{design.name} (ε = {formats.epsilon(design.epsilon)})"
    first = math.floor(value) + 1
    return f"From {first:,} respondents on {title} has a smaller error than a direct question, {liars}."


def _numbers_around(value: float) -> list[int]:
    """Return numbers of respondents on both sides of a crossing."""
    middle = math.floor(math.log10(value)) if 10 <= value < 10**12 else 2
    first = max(1, middle - 1)
    return [
        digit * 10**power for power in range(first, first + 4) for digit in _CURVE
    ]
