"""Designs as other packages write them down: RRreg, rr, GLMMRR and RRTCS in R, rrlogit in Stata, cWise.

The same letters mean different things from package to package: RRreg's forced response lists no before yes, RRTCS's yes
before no, and GLMMRR's second number is in some files a probability given that the answer is forced, in others not. A
reader for each model turns them into a design of ours. Where a convention cannot be told from the numbers, it asks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from deniable import exact
from deniable.designs import (
    Design,
    binary,
    christofides,
    crosswise,
    devore,
    direct,
    disguised,
    forced_choice,
    forced_response,
    kuk,
    mangat,
    mangat_singh,
    mangat_singh_singh,
    mangat_unrelated,
    matrix,
    mirrored,
    simmons,
    singh_joarder,
    triangular,
    warner,
)
from deniable.designs.labels import Labels
from deniable.errors import InvalidRequest, quoted, require_choice
from deniable.rendering import formats

# by which probabilities of a device may fail to sum to 1, written with three digits
_ROUNDED = Fraction(1, 1000)


def survey_design(
    package: str,
    model: str,
    *,
    reading: str | None = None,
    categories: Labels | None = None,
    **parameters: object,
) -> Design:
    """Build the design that another package's parameters mean.

    Guarantee: the exact channel of the numbers as they are written; a float is the decimal that it shows.

    Args:
        package: "RRreg", "rr", "GLMMRR", "RRTCS", "Stata" or "cWise"; letters of either case.
        model: what the package calls it, such as "FR", "forced-known", "Forced", "ForcedResponse" or "rrlogit".
        reading: which of two conventions is meant, where the numbers fit both: for GLMMRR's Forced "conditional" (p2 is
            the probability of yes given that the answer is forced) or "unconditional" (p2 is that of a forced yes).
        categories: what the answers are called, in the order of the package's codes; no and yes, if not given.
        parameters: as the package names them.

    Raises:
        InvalidRequest: a package, model or parameter that is not known; or a convention that cannot be told apart: the
            message lists both readings with what each would give.
        InvalidDesign: probabilities that tell nothing, or give every answer away.

    Example:
        >>> design = survey_design("RRreg", "FR", p=[0.1, 0.2])
        >>> design.probability("yes", given="no"), design.probability("yes", given="yes")
        (Fraction(1, 5), Fraction(9, 10))
    """
    read = _reader(package, model)
    arguments = {
        _strip_prefix(name): value for name, value in parameters.items()
    } | ({} if reading is None else {"reading": reading})
    _check_arguments(read, arguments, package, model)
    design = read(**arguments)
    if categories is None:
        return design
    return _with_categories(design, categories)


def _check_arguments(
    read: Callable[..., Design],
    arguments: Mapping[str, object],
    package: str,
    model: str,
) -> None:
    try:
        inspect.signature(read).bind(**arguments)
    except TypeError as error:
        expected = ", ".join(inspect.signature(read).parameters) or "no parameters"
        raise InvalidRequest(
            f"{package} {model}: {error}; expected {expected}."
        ) from None


def _with_categories(design: Design, categories: Labels) -> Design:
    uses_categories = design.symbols == design.categories
    return Design(
        design.name,
        categories,  # type: ignore[arg-type]  # Design reads labels
        categories if uses_categories else design.symbols,  # type: ignore[arg-type]  # Design reads labels
        design.channel,
    )


def in_words(design: Design) -> str:
    """Tell a design for two answers with two responses as it was read: how often each says the second response.

    Example:
        >>> in_words(survey_design("RRTCS", "ForcedResponse", p1="1/5", p2="1/10"))
        "Whose answer is 'no' says 'yes' with probability 1/5 (0.2), whose answer is 'yes' with 9/10 (0.9)."
    """
    yes_symbol = design.symbols[1]
    no, yes = (design.channel.probability(1, given=answer) for answer in (0, 1))
    first, second = design.categories
    sentence = (
        f"Whose answer is {quoted(first)} says {quoted(yes_symbol)} with probability {_probability(no)}, whose "
        f"answer is {quoted(second)} with {_probability(yes)}."
    )
    return (
        f"{sentence} It is {quoted(design.symbols[0])} that speaks for {quoted(second)}."
        if no > yes
        else sentence
    )


def _probability(value: Fraction) -> str:
    return f"{value} ({float(value):.4g})" if value.denominator > 1 else f"{value}"


def _reader(package: str, model: str) -> Callable[..., Design]:
    packages = {name.lower(): name for name in _READERS}
    if not isinstance(package, str) or package.lower() not in packages:
        raise InvalidRequest(
            f"the package is {quoted(package)}; expected one of {', '.join(_READERS)}."
        )
    name = packages[package.lower()]
    models = {known_model.lower(): known_model for known_model in _READERS[name]}
    if not isinstance(model, str) or model.lower() not in models:
        if str(model).lower() in _TWO_QUESTIONS:
            raise InvalidRequest(
                f"{name} {model} asks two questions, and estimates the innocuous share too: it is no single design.",
                _TWO_QUESTIONS[str(model).lower()],
            )
        raise InvalidRequest(
            f"the model of {name} is {quoted(model)}; expected one of {', '.join(_READERS[name])}."
        )
    return _READERS[name][models[model.lower()]]


def _strip_prefix(name: str) -> str:
    """Return a parameter without the RR that GLMMRR writes before its columns: RRp1 is p1."""
    return name.removeprefix("RR") if name.startswith("RRp") else name


def _pair(values: object, subject: str) -> Sequence[exact.Rational]:
    if (
        isinstance(values, str)
        or not isinstance(values, Sequence)
        or len(values) != 2
    ):
        raise InvalidRequest(
            f"p is {quoted(values, 60)}; expected two numbers: {subject}."
        )
    return values


def _unwrap_single(value: object) -> exact.Rational:
    """Return a parameter that R may hold as a vector of one number."""
    if (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) == 1
    ):
        return value[0]  # type: ignore[no-any-return]
    return value  # type: ignore[return-value]  # a number, or refused when it is read


def _forced_design(no: exact.Rational, yes: exact.Rational) -> Design:
    forced = (
        exact.probability(no, name="forced no"),
        exact.probability(yes, name="forced yes"),
    )
    return forced_response(1 - sum(forced), forced[1], forced[0])


def _rrreg_forced(p: Sequence[exact.Rational]) -> Design:
    if isinstance(p, str) or not isinstance(p, Sequence) or len(p) < 2:
        raise InvalidRequest(
            f"p is {quoted(p, 60)}; expected the probability of each forced category, no before yes."
        )
    return _forced_design(*p) if len(p) == 2 else forced_choice(p)


def _rrreg_unrelated(p: object) -> Design:
    p_sensitive, yes = _pair(
        p, "that of the sensitive question, and the share that says yes to the other"
    )
    return simmons(p=p_sensitive, b=yes)


def _rrreg_kuk(p: object, Kukrep: int = 1) -> Design:
    members, others_share = _pair(
        p, "the red share of carriers, and that of the others"
    )
    return kuk(members, others_share, draws=Kukrep)


def _rr_forced(p: exact.Rational, p1: exact.Rational, p0: exact.Rational) -> Design:
    honest = 1 - exact.probability(p1, name="p1") - exact.probability(p0, name="p0")
    if abs(exact.probability(p, name="p") - honest) > _ROUNDED:
        raise InvalidRequest(
            f"p = {p}, p1 = {p1} and p0 = {p0} do not sum to 1; expected that they do."
        )
    return _forced_design(p0, p1)


def _glmmrr_first(build: Callable[..., Design]) -> Callable[..., Design]:
    def read(p1: exact.Rational, p2: exact.Rational = 0) -> Design:  # noqa: ARG001 - a column that every model has
        return build(p=p1)

    return read


def _glmmrr_direct(p1: exact.Rational = 1, p2: exact.Rational = 0) -> Design:
    if exact.rational(p1) != 1 or exact.rational(p2) != 0:
        raise InvalidRequest(
            f"a direct question has p1 = {p1} and p2 = {p2}; expected 1 and 0, as GLMMRR writes them."
        )
    return direct(["no", "yes"])


READINGS = {
    "conditional": "p2 is the probability of yes given that the answer is forced",
    "unconditional": "p2 is the probability of a forced yes",
}
"""What GLMMRR's second number means in its documentation, and in some published files."""


def _glmmrr_forced(
    p1: exact.Rational, p2: exact.Rational, reading: str | None = None
) -> Design:
    honest, yes = exact.probability(p1, name="p1"), exact.probability(p2, name="p2")
    readings = {"conditional": (1 - honest) * yes, "unconditional": yes}
    if reading is not None:
        require_choice("the reading is", reading, readings)
    if reading is None and honest + yes <= 1 and yes:
        raise _ambiguity_error(honest, readings)
    forced = readings[reading or "conditional"]
    if honest + forced > 1:
        raise InvalidRequest(
            f"p1 = {p1} and p2 = {p2} sum to more than 1, so that p2 cannot be the probability of a forced yes.",
            'Write reading="conditional", or leave it away.',
        )
    return forced_response(honest, forced)


def _ambiguity_error(
    honest: Fraction, readings: Mapping[str, Fraction]
) -> InvalidRequest:
    """Return the question which reading is meant, with what each would give."""
    options = []
    for name, forced in readings.items():
        design = forced_response(honest, forced)
        members = (Fraction(1, 2) - forced) / honest
        options.append(
            f'reading="{name}": {READINGS[name]}. {in_words(design)} Then ε = '
            f"{formats.epsilon(design.epsilon)}, and 50 yes of 100 would mean a share of "
            f"{formats.fixed_percent(members)}."
        )
    return InvalidRequest(
        f"GLMMRR's Forced is written in two ways, and p1 = {honest}, p2 = {readings['unconditional']} fit both; "
        "expected a reading, to settle which is meant.",
        "\n".join(options),
    )


def _cards_from_marks(mm: Sequence[int], pm: Sequence[exact.Rational]) -> Design:
    if sorted(mm) != list(range(1, len(mm) + 1)) or len(mm) != len(pm):
        raise InvalidRequest(
            f"the marks are {quoted(mm, 60)}; expected 1, 2, 3 …, each once, and a share for each."
        )
    return christofides(
        cards=[
            share
            for _, share in sorted(
                zip(mm, pm, strict=True), key=lambda name: name[0]
            )
        ]
    )


def _stata(
    pwarner: exact.Rational = 1, pyes: exact.Rational = 0, pno: exact.Rational = 0
) -> Design:
    """Read rrreg's and rrlogit's options: first the forced responses, then Warner's device for all others."""
    p_truth, yes, no = (
        exact.probability(option, name="an option")
        for option in (pwarner, pyes, pno)
    )
    if p_truth == 1:
        return _forced_design(no, yes) if yes or no else direct(["no", "yes"])
    if not yes and not no:
        return warner(p=p_truth)
    p_remaining = 1 - yes - no
    return binary(no + p_remaining * p_truth, yes + p_remaining * p_truth)


_OF_TWO_SAMPLES = "Hand both samples to dn.unrelated_two_samples()."
_OF_EVERYBODY = "Here everybody answers both, so that the two are no independent samples: not read yet."
_TWO_QUESTIONS = {
    **dict.fromkeys(("uqtunknown", "unrelated-unknown"), _OF_TWO_SAMPLES),
    **dict.fromkeys(("horvitzub", "mangatub", "mangatsinghsinghub"), _OF_EVERYBODY),
}

_READERS: dict[str, dict[str, Callable[..., Design]]] = {
    "RRreg": {
        "Warner": lambda p: warner(p=_unwrap_single(p)),
        "Crosswise": lambda p: crosswise(_unwrap_single(p)),
        "Triangular": lambda p: triangular(_unwrap_single(p)),
        "Mangat": lambda p: mangat(_unwrap_single(p)),
        "FR": _rrreg_forced,
        "UQTknown": _rrreg_unrelated,
        "Kuk": _rrreg_kuk,
        "custom": lambda p: matrix(p),  # noqa: PLW0108 - RRreg calls it p
    },
    "rr": {
        "forced-known": _rr_forced,
        "mirrored": mirrored,
        "disguised": disguised,
        "unrelated-known": lambda p, q: simmons(p=p, b=q),
    },
    "GLMMRR": {
        "Warner": _glmmrr_first(warner),
        "Crosswise": _glmmrr_first(crosswise),
        "Triangular": _glmmrr_first(triangular),
        "Forced": _glmmrr_forced,
        "UQM": lambda p1, p2: simmons(p=p1, b=p2),
        "Kuk": kuk,
        "DQ": _glmmrr_direct,
    },
    "RRTCS": {
        "Warner": lambda p: warner(p=p),
        "ForcedResponse": lambda p1, p2: _forced_design(p2, p1),
        "Horvitz": lambda p, alpha: simmons(p=p, b=alpha),
        "SoberanisCruz": lambda p, alpha: simmons(p=p, b=alpha),
        "Mangat": lambda p, alpha, t: mangat_unrelated(t, p, alpha),
        "MangatSingh": lambda p, t: mangat_singh(t, p),
        "MangatSinghSingh": lambda p, alpha: mangat_singh_singh(p, b=alpha),
        "Devore": devore,
        "SinghJoarder": singh_joarder,
        "Kuk": lambda p1, p2, k=1: kuk(p1, p2, draws=k),
        "Christofides": _cards_from_marks,
    },
    "Stata": {"rrreg": _stata, "rrlogit": _stata},
    "cWise": {"crosswise": crosswise},
}
"""The packages, and what each model's parameters mean."""
