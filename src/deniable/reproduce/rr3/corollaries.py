"""Corollaries 1 to 5: estimates and variances of the three-answer family."""

from __future__ import annotations

from collections.abc import Callable

from deniable.design import Design, k_ary, rr3_club, rr3_dagger, rr3_ddagger
from deniable.errors import InvalidDesign
from deniable.estimate import covariance, estimate
from deniable.reproduce.printed import printed
from deniable.reproduce.simulate import moments
from deniable.reproduce.values import Content, Exhibit, Printed, Setting, Value
from deniable.tally import Tally

_SHARES = (0.2, 0.3, 0.5)
_RESPONDENTS = 400


def estimates(design: Design, entry: Printed) -> Value:
    """Estimate the shares from the entry's counts: one of them, or the first ones, as many as are printed."""
    value = estimate(Tally(design, entry.inputs["counts"])).value
    which = entry.id.rpartition("-pi")[2]
    return entry.against(float(value[int(which)]) if which.isdecimal() else value[: len(entry.printed)].tolist())


def variances(design: Design, entry: Printed, category: int = 0) -> Value:
    """Return the variance of a share at the entry's shares; of shares that it does not name, even ones."""
    given = entry.inputs
    rest = len(design.categories) - 1
    shares = given.get("pi") or [given["pi0"], *[(1 - given["pi0"]) / rest] * rest]
    return entry.against(float(covariance(design, shares, given["N"])[category, category]))


def corollary_1(setting: Setting) -> Content:
    """EWRR3: three categories, each kept with p."""
    design = k_ary(3, p=0.7)
    values = (estimates(design, printed("000-eq15")), variances(design, printed("000-eq16")))
    return _content(values, design, setting)


def corollary_2(setting: Setting) -> Content:
    """EWRR_n: n categories, each kept with p."""
    design = k_ary(4, p=0.5)
    values = (estimates(design, printed("000-eq26")), variances(design, printed("000-eq27")))
    return _content(values, design, setting, shares=(0.1, 0.2, 0.3, 0.4))


def corollary_3(setting: Setting) -> Content:
    """RR3†: the first answer kept with p1, the others with p2."""
    design = rr3_dagger(0.7, 0.6)
    values = (
        estimates(design, printed("000-eq28-pi0")),
        estimates(design, printed("000-eq28-pi1")),
        variances(design, printed("000-eq29")),
        variances(design, printed("000-sec32-recipe"), category=1),
    )
    return _content(values, design, setting)


def corollary_4(setting: Setting) -> Content:
    """RR3‡: first or not is told rightly with p1, and which of the others with p2."""
    design = rr3_ddagger(0.8, 0.7)
    values = (
        estimates(design, printed("000-eq30-pi0")),
        estimates(design, printed("000-eq30-pi1")),
        variances(design, printed("000-eq31")),
        *(_estimable(printed(f"000-cor4-0.8-{p2}")) for p2 in (0.625, 0.5)),
    )
    return _content(values, design, setting)


def corollary_5(setting: Setting) -> Content:
    """RR3♣: p1, p2 and q."""
    design = rr3_club(0.8, 0.7, 0.9)
    values = (estimates(design, printed("000-eq32")), variances(design, printed("000-eq33")))
    return _content(values, design, setting)


def _estimable(entry: Printed) -> Value:
    try:
        rr3_ddagger(entry.inputs["p1"], entry.inputs["p2"])
    except InvalidDesign:
        return entry.against("no")  # refused, because two answers send the same responses
    return entry.against("yes")


def _content(
    values: tuple[Value, ...], design: Design, setting: Setting, shares: tuple[float, ...] = _SHARES
) -> Content:
    """Show printed values, and beside them what a simulation says of the mean and the variance of each share."""
    seen = moments(design.name, design, shares, _RESPONDENTS, setting)
    rows = tuple(
        (f"π_{category} = {share:g}", mean.simulated, mean.error, spread.theory, spread.simulated, spread.error)
        for category, (share, mean, spread) in enumerate(zip(shares, seen[::2], seen[1::2], strict=True))
    )
    return Content(
        values,
        ("share", "mean of the estimates", "± its error", "variance", "variance seen", "± its error"),
        rows,
        points=tuple(seen),
        notes=(f"The table: {setting.repetitions:,} simulated surveys of {_RESPONDENTS} independent respondents.",),
    )


def _exhibit(number: int, title: str, make: Callable[[Setting], Content]) -> Exhibit:
    return Exhibit("rr3", "corollary", str(number), title, make)


COROLLARIES = (
    _exhibit(1, "EWRR3: estimate and variance", corollary_1),
    _exhibit(2, "EWRR_n: estimate and variance", corollary_2),
    _exhibit(3, "RR3†: estimate and variance", corollary_3),
    _exhibit(4, "RR3‡: estimate, variance, and when there is one", corollary_4),
    _exhibit(5, "RR3♣: estimate and variance", corollary_5),
)
