"""Tables and sentences that go into a paper."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.errors import InvalidRequest

RESULT = dn.estimate(
    dn.tally(dn.forced_response(honest="3/4", yes="1/6"), {"yes": 150, "no": 350})
)


def test_a_latex_table_has_the_caption_label_and_notes_that_are_wanted() -> None:
    plain = RESULT.to_latex()
    assert (
        r"\caption{Estimated shares with 95\% intervals: forced response, $\varepsilon$ = 2.303, 500 respondents"
        in plain
    )
    assert "The cost of privacy" in plain
    given = RESULT.to_latex(
        caption="Who has paid a bribe (50% weighted)",
        label="tab:bribe_1",
        notes=False,
    )
    assert (
        "\\caption{Who has paid a bribe (50\\% weighted)}\n\\label{tab:bribe_1}\n"
        in given
    )
    assert "footnotesize" not in given
    with pytest.raises(InvalidRequest, match="the label is"):
        RESULT.to_latex(label="tab}")


def test_a_sentence_takes_what_people_do() -> None:
    told = dn.report.sentence(RESULT, "yes", label="have paid a bribe")
    assert told.startswith(
        "An estimated 17.8% have paid a bribe (95% interval 12.6% to 23.3%;"
    )
    assert "cut off" not in told
    few = dn.estimate(dn.tally(dn.warner(p="3/5"), {"yes": 60, "no": 40}))
    assert "The interval is cut off at 100.0%." in dn.report.sentence(few, "yes")


def test_words_of_a_table_stay_whole_and_its_pictures_go_first() -> None:
    page = RESULT.to_html()
    assert "overflow-wrap:anywhere" not in page
    assert "@media(max-width:60em){.deniable .figure{display:none}}" in page
    assert page.count('class="figure"') == 3  # the head, and a row for each answer
