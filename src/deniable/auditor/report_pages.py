"""An audit as text and as a page: the verdict in a sentence first, then a picture, then every finding."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING, Any

from deniable import __version__
from deniable.rendering import formats, html_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from deniable.auditor.findings import Audit, Finding
    from deniable.rendering.pictures import Picture


_WIDTH = 100  # letters in a line of text
# of the picture: a row for each event, and its margins
_ROW, _LEFT, _RIGHT, _TOP = 46, 16, 24, 34
_ACROSS = 720


def verdict_sentence(audit: Audit) -> str:
    """Return in a sentence what came of an audit."""
    claim = "" if audit.epsilon is None else f"ε = {formats.epsilon(audit.epsilon)}"
    claim += f" with δ = {audit.delta:.3g}" if claim and audit.delta else ""
    broken = [finding.check for finding in audit.findings if finding.violated]
    sure = f"with {formats.level(audit.level)} confidence"
    if broken:
        return f"Violated: {audit.mechanism} does not keep what it claims{f', {claim}' if claim else ''} ({sure})."
    if not claim:
        return f"Nothing was claimed: {audit.mechanism} has an ε of at least {_lower_bound(audit)} ({sure})."
    return (
        f"Consistent: {audit.draws:,} draws in {_checks(audit)} do not refute that {audit.mechanism} keeps {claim} "
        f"({sure}). That is no proof that it does."
    )


def _lower_bound(audit: Audit) -> str:
    return formats.epsilon_at_least(audit.epsilon_at_least)


def _checks(audit: Audit) -> str:
    return "1 check" if len(audit.findings) == 1 else f"{len(audit.findings)} checks"


def _still_needed(audit: Audit) -> str:
    """Return how many draws would refute the claim."""
    if audit.epsilon is None or audit.verdict == "violated" or not audit.witness:
        return ""
    if audit.draws_needed is None:
        return "If frequencies stay as they were seen, no number of draws refutes the claim by these events."
    return (
        "This is no sign of a fault. How fine the test is: were frequencies really as they were seen here, which "
        f"chance alone can make of an honest mechanism, it would take about {audit.draws_needed:,} draws to show it."
    )


def text(audit: Audit) -> str:
    """Return an audit as plain text."""
    lines = [*textwrap.wrap(verdict_sentence(audit), _WIDTH), ""]
    sentences = [
        f"ε ≥ {_lower_bound(audit)}"
        + (f", δ ≥ {audit.delta_at_least:.3g}" if audit.delta_at_least else "")
    ]
    sentences += [sentence for sentence in [_still_needed(audit)] if sentence]
    lines += [
        line for sentence in sentences for line in textwrap.wrap(sentence, _WIDTH)
    ] + [""]
    for finding in audit.findings:
        head = (
            f"{'✗' if finding.violated else '·'} {finding.check}: {finding.sentence}"
        )
        lines += textwrap.wrap(head, _WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def picture(audit: Audit) -> str:
    """Return as SVG how far each event bounds ε, against what was claimed; empty where no event was counted."""
    events = audit.events
    if not events:
        return ""
    seen = [event["seen"] or event["epsilon_at_least"] for event in events]
    most = 1.15 * max(
        [
            *seen,
            *(event["epsilon_at_least"] for event in events),
            audit.epsilon or 0.0,
            0.1,
        ]
    )
    scale = (_ACROSS - _LEFT - _RIGHT) / most
    height = _TOP + _ROW * len(events) + 34
    rows = "".join(_row(event, at, scale) for at, event in enumerate(events))
    return (
        f'<svg viewBox="0 0 {_ACROSS} {height}" role="img" aria-label="{escape(_picture_words(audit))}">'
        f"{_axis(most, scale, height)}{_claim(audit, scale, height)}{rows}</svg>"
    )


def figure(audit: Audit, *, title: str = "", dark: bool = False) -> Picture:
    """Return the same picture for papers: a bar up to what is sure, a ring at what was seen."""
    from deniable.rendering.pictures import (
        ACCENT,
        TRUTH,
        legend_below,
        start_picture,
    )

    events = audit.events
    height = 1.9 + 0.55 * max(1, len(events))
    picture, axes = start_picture(
        height, title or verdict_sentence(audit), letters=60
    )
    heights = range(len(events))
    axes.barh(
        heights,
        [float(event["epsilon_at_least"]) for event in events],
        0.4,
        color=ACCENT,
        label="ε at least",
    )
    _mark_seen(axes, events)
    if audit.epsilon is not None:
        line = axes.axvline(
            audit.epsilon, color=TRUTH, linestyle="--", linewidth=1.5
        )
        line.set_label("claimed")
    axes.set_yticks(heights, [textwrap.fill(textwrap.shorten(str(event["words"]), 70, placeholder=" …"), 36)
                              for event in events])  # fmt: skip
    axes.set_ylim(max(1, len(events)) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"ε, with {formats.level(audit.level)} confidence")
    axes.grid(visible=False, axis="y")
    legend_below(picture)
    if dark:
        picture.darken()
    return picture


def _mark_seen(axes: Axes, events: Sequence[Mapping[str, Any]]) -> None:
    """Put a ring at the ε that each event was seen with."""
    from deniable.rendering.pictures import ACCENT

    seen = [
        (float(event["seen"]), at)
        for at, event in enumerate(events)
        if event["seen"] is not None
    ]
    if seen:
        axes.plot(
            *zip(*seen, strict=True),
            "o",
            color=ACCENT,
            markerfacecolor="#ffffff",
            markersize=8,
            label="as seen",
        )


def _picture_words(audit: Audit) -> str:
    claim = (
        "nothing was claimed"
        if audit.epsilon is None
        else f"claimed is {formats.epsilon(audit.epsilon)}"
    )
    return f"Lower bounds on ε from the worst events; the largest is {_lower_bound(audit)}, {claim}."


def _axis(most: float, scale: float, height: int) -> str:
    step = next(
        width
        for width in (0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)
        if most / width <= 10
    )
    lines = "".join(
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{height - 30}"/>'
        f'<text class="mark" x="{x:.1f}" y="{height - 12}">{step * at:.3g}</text>'
        for at in range(int(most / step) + 1)
        for x in [_LEFT + step * at * scale]
    )
    return f'{lines}<text class="mark" x="{_ACROSS - 8}" y="{height - 12}" style="text-anchor:end">ε</text>'


def _row(event: dict[str, object], at: int, scale: float) -> str:
    """Return one event: a bar up to what is sure, and a ring at what was seen."""
    y = _TOP + _ROW * at
    bound, seen = float(event["epsilon_at_least"]), event["seen"]  # type: ignore[arg-type]
    ring = (
        ""
        if seen is None
        else f'<circle class="seen" cx="{_LEFT + float(seen) * scale:.1f}" cy="{y + 32}" r="5"/>'  # type: ignore[arg-type]
    )
    words = textwrap.shorten(str(event["words"]), 104, placeholder=" …")
    return (
        f'<text class="event" x="{_LEFT}" y="{y + 16}">{escape(words)}</text>'
        f'<rect class="bound" x="{_LEFT}" y="{y + 26}" width="{max(bound * scale, 1):.1f}" height="12" rx="2"/>{ring}'
    )


def _claim(audit: Audit, scale: float, height: int) -> str:
    if audit.epsilon is None:
        return ""
    x = _LEFT + audit.epsilon * scale
    anchor = "end" if x > _ACROSS / 2 else "start"
    return (
        f'<line class="claim" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 10}" y2="{height - 30}"/>'
        f'<text class="claimed" x="{x:.1f}" y="{_TOP - 16}" style="text-anchor:{anchor}">'
        f"claimed: {formats.epsilon(audit.epsilon)}</text>"
    )


_STYLE = """
:root { --ground: #fff; --ink: #1f2933; --faint: #52606d; --line: #d5dbe1; --card: #f5f7f9; --bad: #b3261e;
  --good: #1c6b45; --bar: #2563a8; }
@media (prefers-color-scheme: dark) { :root { --ground: #14191f; --ink: #e6eaee; --faint: #aab4be; --line: #37424d;
  --card: #1d252d; --bad: #ff8a80; --good: #6fd3a0; --bar: #6aa5e0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.1rem; font-weight: 600; color: var(--faint); margin: .5rem 0; }
.verdict { margin: 0 0 1rem; padding: 1rem; border: 1px solid var(--line); border-left: .5rem solid var(--good);
  border-radius: .4rem; background: var(--card); font-size: 1.25rem; line-height: 1.4; }
.verdict.violated { border-left-color: var(--bad); }
h2 { margin: 2rem 0 .5rem; font-size: 1.15rem; }
.picture { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 34rem; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: var(--ink); paint-order: stroke; stroke: var(--ground); stroke-width: 4px; }
svg .mark { fill: var(--faint); text-anchor: middle; }
svg .grid { stroke: var(--line); } svg .bound { fill: var(--bar); }
svg .seen { fill: var(--ground); stroke: var(--bar); stroke-width: 2; }
svg .claim { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 6 4; } svg .claimed { fill: var(--bad); }
.note { color: var(--faint); }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .5rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th[scope=row] { font-weight: 600; white-space: nowrap; }
.bad, .good { white-space: nowrap; } .bad { color: var(--bad); font-weight: 600; } .good { color: var(--good); }
@media (max-width: 40rem) { thead { display: none; } tr, th, td { display: block; border: 0; padding: .1rem 0; }
  tr { padding: .6rem 0; border-bottom: 1px solid var(--line); } }
"""


_KEY = """<p class="note">A bar ends at the smallest ε that fits, with the confidence stated above; a ring is what was
seen. Both come from draws that the search never saw.</p>"""


def page(audit: Audit) -> str:
    """Return an audit as one page of HTML, without a script and without anything from elsewhere."""
    rows = "\n".join(map(_finding_row, audit.findings))
    drawn = picture(audit)
    events_html = (
        f'<h2>The worst events</h2>\n<div class="picture" tabindex="0">{drawn}</div>\n{_KEY}'
        if drawn
        else ""
    )
    needed = (
        f'<p class="note">{escape(_still_needed(audit))}</p>'
        if _still_needed(audit)
        else ""
    )
    body = f"""<main>
<h1>Audit of {escape(audit.mechanism)}</h1>
<p class="verdict {audit.verdict}">{escape(verdict_sentence(audit))}</p>
<p>{escape(audit.witness)}</p>
{events_html}
{needed}
<h2>What each check found</h2>
<table>
<thead><tr><th scope="col">check</th><th scope="col">verdict</th><th scope="col">what was seen</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p class="note">{audit.draws:,} responses were asked for. Made by deniable {escape(__version__)}.</p>
</main>"""
    return html_page(f"Audit of {audit.mechanism}", _STYLE, body)


def _finding_row(finding: Finding) -> str:
    kind = "bad" if finding.violated else "good"
    return (
        f'<tr><th scope="row">{escape(finding.check)}</th><td class="{kind}">{escape(finding.verdict)}</td>'
        f"<td>{escape(finding.sentence)}</td></tr>"
    )
