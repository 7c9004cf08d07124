"""A certificate for people: plain text, and one page that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from deniable import exact
from deniable.certificates.certificate import Certificate
from deniable.claims.statements import ClaimedPart, Claims, read_ratio
from deniable.designs import Design
from deniable.rendering import formats, html_page
from deniable.survey import Survey
from deniable.types import operation

RULES = {
    "all": "All of these leave together: their parities multiply.",
    "some": "Of these, {each} are drawn for everybody, whatever the answers are: the largest parities count.",
    "last": "Stages of one answer: each is a garbling of the next, so all together tell what the last one tells.",
    "padded": "Of whole rows: all items of a respondent and their weights at once.",
    "bits": "Of any two strings, whatever bits their filters set.",
    "deck": "Against a collector who sees all responses and knows the answers of all others.",
}
"""What the parity of several things together follows from."""

_MOST_COLUMNS = 12  # responses that a table on a page holds beside each other
_CHECK = "Check it again, with nothing but Python: deniable certify --checker > checker.py; python checker.py FILE.json"


@dataclass(frozen=True)
class Section:
    """One part of a certificate.

    Attributes:
        title: what the part is called.
        claims: what is claimed of it.
        design: the labels and the channel behind the claims; None where there is no single one.
        depth: how deep it is nested.
    """

    title: str
    claims: Claims
    design: Design | None
    depth: int


def sections(
    title: str, subject: Any, claims: Claims, depth: int = 0
) -> Iterator[Section]:
    """Yield the section of what is certified, and then those of its parts."""
    if isinstance(subject, Survey):
        design = None
        parts = [
            ClaimedPart(
                question.name, question.about, claims["parts"][question.name]
            )
            for question in subject.questions
        ]
    else:
        design = operation(subject, "labelled_design")(subject)
        parts = operation(subject, "claimed_parts")(subject, claims)
    yield Section(title, claims, design, depth)
    for section_part in parts:
        yield from sections(
            section_part.title, section_part.design, section_part.claims, depth + 1
        )


def section_sentences(section: Section) -> list[str]:
    """Return the sentences of a part: its guarantee, its witness, whether it can be bettered."""
    claims, parity = section.claims, read_ratio(section.claims["parity"])
    if parity == math.inf:
        lines = [
            "Parity infinite: there is no finite ε, and some response proves something about the answer."
        ]
    else:
        lines = [
            f"Parity {_format_ratio(parity)}: ε = {formats.epsilon(float(claims['epsilon']), 6)}, rounded up."
        ]
        lines += (
            [f"The parity is exactly {claims['parity']}."]
            if _format_ratio(parity) != claims["parity"]
            else []
        )
    if "rule" in claims:
        lines.append(RULES[claims["rule"]].format(each=claims.get("each")))
    if section.design is not None:
        response, likely, unlikely = (
            int(claims["witness"][name], 0)
            for name in ("response", "likely", "unlikely")
        )
        symbol = _quote_label(section.design.symbols, response)
        one, two = (
            _quote_label(section.design.categories, answer)
            for answer in (likely, unlikely)
        )
        lines.append(
            f"Attained by the response {symbol}, between the answers {one} and {two}."
        )
    if claims.get("admissible") is not None:
        lines.append(
            "Admissible: no other design of this parity tells more."
            if claims["admissible"]
            else "Not admissible: another design of this parity tells all that this one does, and more."
        )
    return lines


def text_of(certificate: Certificate) -> str:
    """Return a certificate as plain text."""
    lines = ["CERTIFICATE", repr(certificate.subject), certificate.subject.hash, ""]
    for section in sections(
        _title(certificate), certificate.subject, certificate.claims
    ):
        indent = "  " * section.depth
        lines += [
            f"{indent}{section.title}",
            *(f"{indent}  {line}" for line in section_sentences(section)),
        ]
        figures = (
            *_weight_lines(section),
            *_curve_lines(section.claims),
            *_table_lines(section),
        )
        lines += [f"{indent}  {line}" for line in figures]
        lines.append("")
    lines += [f"Caveat: {caveat}" for caveat in certificate.caveats]
    return "\n".join([*lines, _CHECK])


def _title(certificate: Certificate) -> str:
    return "All together" if "rule" in certificate.claims else "One response"


def _is_small(design: Design | None) -> bool:
    return (
        design is not None
        and max(design.channel.answers, design.channel.responses) <= _MOST_COLUMNS
    )


def _weight_lines(section: Section) -> Iterator[str]:
    """Yield the exact channel of a small design: the weights that draws are compared with."""
    if not _is_small(section.design):
        return
    assert section.design is not None
    table = section.design.channel.dense()
    for category, column in zip(
        section.design.categories, zip(*table.weights, strict=True), strict=True
    ):
        responses = ", ".join(
            f"“{symbol}” {weight}"
            for symbol, weight in zip(section.design.symbols, column, strict=True)
        )
        yield f"“{category}” sends, of {table.total}: {responses}"


def _curve_lines(claims: Claims) -> Iterator[str]:
    sign = "=" if claims["delta"]["exact"] else "≤"
    points = [
        (read_ratio(point["gamma"]), Fraction(point["delta"]))
        for point in claims["delta"]["curve"]
    ]
    yield f"δ(ε) {sign} " + ", ".join(
        f"{formats.upper_bound(delta, 3)} at {formats.epsilon(exact.log_above(gamma), 3)}"
        for gamma, delta in points[::2]
    )


def _table_lines(section: Section) -> Iterator[str]:
    design = section.design
    for row in section.claims.get("table", ()) if design is not None else ():
        assert design is not None
        factors = ", ".join(
            f"{_quote_label(design.categories, factor['answer'])} {_format_ratio(read_ratio(factor['least']))} … "
            f"{_format_ratio(read_ratio(factor['most']))}"
            for factor in row["factors"]
        )
        after = row.get("posterior")
        posterior = (
            f"; afterwards {', '.join(formats.percent(Fraction(share)) for share in after)}"
            if after
            else ""
        )
        yield f"{_quote_label(design.symbols, int(row['response'], 0))}: odds times {factors}{posterior}"


def _quote_label(labels: Sequence[str], number: int) -> str:
    label = labels[number]
    return f"“{label:.24}…”" if len(label) > 25 else f"“{label}”"


def _format_ratio(number: exact.Ratio) -> str:
    """Return a ratio as it is where it is short, else rounded up."""
    if number == math.inf:
        return "∞"
    written = str(Fraction(number)) if Fraction(number).denominator < 10**6 else ""
    return written if 0 < len(written) < 9 else formats.upper_bound(number, 4)


STYLE = """
:root{color-scheme:light dark;--ink:#1c2733;--dim:#5b6875;--line:#d5dce3;
  --page:#fff;--card:#f6f8fa;--accent:#1f5fa8}
@media(prefers-color-scheme:dark){:root{--ink:#e3e9ef;--dim:#9aa7b4;
  --line:#37424d;--page:#12181f;--card:#1a222b;--accent:#7db4f0}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.5rem;margin:0}
h2{font-size:1.1rem;margin:0 0 .25rem}
section{border:1px solid var(--line);border-radius:.5rem;background:var(--card);padding:1rem;margin:1rem 0}
.inner{margin-left:clamp(0rem,2vw,1.5rem)}
code{font:.82em ui-monospace,monospace;overflow-wrap:anywhere;color:var(--dim)}
p{margin:.25rem 0;overflow-wrap:anywhere}
.figures{display:flex;flex-wrap:wrap;gap:1.25rem;align-items:flex-start;margin-top:.75rem}
figure{margin:0;max-width:100%}
figcaption,.note{font-size:.85rem;color:var(--dim)}
svg{max-width:100%;height:auto;display:block}
.scroll{overflow-x:auto;margin:.25rem 0 .75rem}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{font-weight:600}
th:first-child,td:first-child{text-align:left}
.told{fill:var(--ink)!important}
text{fill:var(--dim);font:12px system-ui,sans-serif}
.axis{stroke:var(--line)}
.curve{stroke:var(--accent);stroke-width:2;fill:none}
.dot{fill:var(--accent)}
.cell{fill:var(--accent);stroke:var(--line)}
.big{font-size:2rem;font-weight:650;line-height:1.2}
""".strip()


def page_of(certificate: Certificate) -> str:
    """Return a certificate as one page of HTML: no script, no other file, light or dark as the reader has it."""
    parts = "".join(
        map(
            _section,
            sections(_title(certificate), certificate.subject, certificate.claims),
        )
    )
    caveats = "".join(f"<p>{escape(caveat)}</p>" for caveat in certificate.caveats)
    subject = escape(repr(certificate.subject))
    body = (
        f"<main><h1>Certificate</h1><p>{subject}</p>"
        f"<p><code>{escape(certificate.subject.hash)}</code></p>{parts}"
        f"{f'<section><h2>What it rests on, and leaves out</h2>{caveats}</section>' if caveats else ''}"
        f"<p>{escape(_CHECK)}</p><p><code>certificate {escape(certificate.hash)}</code></p></main>"
    )
    return html_page(f"Certificate: {certificate.subject!r}", STYLE, body)


def _section(section: Section) -> str:
    sentences = "".join(
        f"<p>{escape(line)}</p>" for line in section_sentences(section)
    )
    inner = ' class="inner"' if section.depth else ""
    big = (
        ""
        if section.depth
        else f'<p class="big">ε = {formats.epsilon(float(section.claims["epsilon"]))}</p>'
    )
    pictures = f'<div class="figures">{_channel_picture(section)}{_curve_picture(section.claims)}</div>'
    weights = "".join(
        f"<p><code>{escape(line)}</code></p>" for line in _weight_lines(section)
    )
    figures = f"{pictures}{_table(section)}{weights}"
    return f"<section{inner}><h2>{escape(section.title)}</h2>{big}{sentences}{figures}</section>"


def _channel_picture(section: Section) -> str:
    """Draw the probabilities of a small channel: a row for each answer, the darker the likelier."""
    design = section.design
    if design is None or not _is_small(design):
        return ""
    answers, responses = design.channel.answers, design.channel.responses
    names = [_shorten_label(category) for category in design.categories]
    cell, left, top = 40, 14 + 7 * max(map(len, names)), 24
    cells = []
    for j in range(answers):
        cells.append(
            f'<text x="{left - 8}" y="{top + cell * j + 25}" text-anchor="end">{escape(names[j])}</text>'
        )
        for i in range(responses):
            chance = float(design.channel.probability(i, given=j))
            x, y = left + cell * i, top + cell * j
            cells.append(
                f'<rect class="cell" x="{x}" y="{y}" width="{cell}" height="{cell}" fill-opacity="{0.7 * chance:.3f}"/>'
            )
            cells.append(
                f'<text class="told" x="{x + cell / 2}" y="{y + 24}" text-anchor="middle">{100 * chance:.0f}</text>'
            )
    heads = "".join(
        f'<text x="{left + cell * i + cell / 2}" y="{top - 8}" text-anchor="middle">'
        f"{escape(_shorten_label(symbol, 5))}</text>"
        for i, symbol in enumerate(design.symbols)
    )
    width, height = left + cell * responses + 4, top + cell * answers + 4
    label = "Probability of each response in percent, given each answer"
    return (
        f'<figure><svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{label}">'
        f"{heads}{''.join(cells)}</svg><figcaption>{label}.</figcaption></figure>"
    )


def _curve_picture(claims: Claims) -> str:
    """Draw δ against ε."""
    points = [
        (
            exact.log_above(read_ratio(point["gamma"])),
            float(Fraction(point["delta"])),
        )
        for point in claims["delta"]["curve"]
    ]
    far, high = points[-1][0] or 1.0, max(delta for _, delta in points) or 1.0
    left, top, width, height = 56, 12, 260, 150
    places = [
        (left + width * epsilon / far, top + height * (1 - delta / high))
        for epsilon, delta in points
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places
    )
    sign = (
        "δ at each ε" if claims["delta"]["exact"] else "δ is at most this at each ε"
    )
    return (
        f'<figure><svg viewBox="0 0 340 210" width="340" role="img" aria-label="{sign}">'
        f'<line class="axis" x1="{left}" y1="{top + height}" x2="{left + width}" y2="{top + height}"/>'
        f'<line class="axis" x1="{left}" y1="{top}" x2="{left}" y2="{top + height}"/>'
        f'<text x="{left - 6}" y="{top + 8}" text-anchor="end">{high:.2g}</text>'
        f'<text x="{left - 6}" y="{top + height}" text-anchor="end">0</text>'
        f'<text x="{left}" y="{top + height + 18}">0</text>'
        f'<text x="{left + width}" y="{top + height + 18}" text-anchor="end">{far:.4g}</text>'
        f'<text x="{left + width / 2}" y="{top + height + 36}" text-anchor="middle">ε</text>'
        f'<text x="{left - 6}" y="{top + height / 2}" text-anchor="end">δ</text>'
        f'<polyline class="curve" points="{line}"/>{dots}</svg><figcaption>{sign}.</figcaption></figure>'
    )


def _table(section: Section) -> str:
    """Write both Bayes factors of each listed response, and with a prior how probable answers are after it."""
    design, rows = section.design, section.claims.get("table", [])
    if design is None or not rows:
        return ""
    heads = "".join(
        f"<th>{escape(_quote_label(design.categories, factor['answer']))}</th>"
        for factor in rows[0]["factors"]
    )
    body = "".join(_table_row(design, row) for row in rows)
    caption = "By how much a response multiplies the odds of an answer against any other: at least … at most"
    if "prior" in section.claims:
        caption += "; below, how probable the answer is afterwards"
    return (
        f'<p class="note">{caption}.</p><div class="scroll"><table><thead><tr><th>response</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _table_row(design: Design, row: Mapping[str, Any]) -> str:
    after = row.get("posterior") or [None] * len(row["factors"])
    cells = "".join(
        f"<td>{_format_ratio(read_ratio(factor['least']))} … {_format_ratio(read_ratio(factor['most']))}"
        f"{f'<br>{formats.percent(Fraction(share))}' if share else ''}</td>"
        for factor, share in zip(row["factors"], after, strict=True)
    )
    return f"<tr><td>{escape(_quote_label(design.symbols, int(row['response'], 0)))}</td>{cells}</tr>"


def _shorten_label(label: str, most: int = 15) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"
