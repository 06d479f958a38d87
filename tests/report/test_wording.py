"""Words of the reports: commands, numbers with their nouns, and what tells two intervals of one score apart."""

from dataclasses import replace

import pytest

from harness_uq.comparing.verdicts import Evidence, judge, next_step
from harness_uq.report.comparison_text import comparisons_as
from harness_uq.report.html import report_html
from harness_uq.report.ranking_text import rankings_as
from tests.results import factory as make


def undecided():
    evidence = Evidence(-0.087, 0.031, "new", "old", detectable=0.084)
    verdict, sentence = judge(evidence)
    return replace(make.comparison(), verdict=verdict, verdict_text=sentence, next_step=next_step(evidence))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", "run more: harness-uq plan says"),
        ("markdown", "run more: `harness-uq plan` says"),
        ("latex", r"run more: \texttt{harness-uq plan} says"),
    ],
)
def test_a_command_in_a_sentence_looks_like_one_in_every_form(form: str, expected: str) -> None:
    assert expected in comparisons_as([undecided()], form)


def test_a_command_is_code_on_the_page() -> None:
    page = report_html(make.estimates(), [undecided()])
    assert page.count("<code>harness-uq plan</code>") == 2
    assert "`" not in page.split("</style>")[1]


def test_the_answer_of_a_plan_is_escaped_beside_its_commands() -> None:
    plan = replace(make.plan(), answer="<b> `harness-uq <i>` ")
    assert "&lt;b&gt; <code>harness-uq &lt;i&gt;</code>" in report_html([], plans=[plan])


def test_ranks_say_whose_intervals_and_sets_they_show() -> None:
    for text in (rankings_as([make.ranking(3)], "table"), report_html([], (), [make.ranking(3)])):
        assert "each score by itself" in text
        assert "hold at once" in text


def test_one_question_is_no_plural() -> None:
    ranking = replace(make.ranking(3), n_questions=1)
    for text in (rankings_as([ranking], "table"), rankings_as([ranking], "latex"), report_html([], (), [ranking])):
        assert "1 question" in text
        assert "1 questions" not in text
