"""Words of the reports: commands, numbers with their nouns, and what tells two intervals of one score apart."""

from dataclasses import replace

import pytest

from harness_uq import estimate
from harness_uq.inference.decisions import verdict_of
from harness_uq.inference.verdicts import VerdictInputs, next_step
from harness_uq.results.estimate import missing_sentence
from tests.data.toy import task_log
from tests.output.rendering import render, report_html
from tests.results import factory as make


def undecided():
    evidence = VerdictInputs(-0.087, 0.031, "new", "old", detectable=0.084)
    verdict, sentence = verdict_of(evidence)
    return replace(
        make.comparison(),
        verdict=verdict,
        verdict_corrected=verdict,
        verdict_text=sentence,
        next_step=next_step(evidence),
    )


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", "need more data; harness-uq plan computes"),
        ("markdown", "need more data; `harness-uq plan` computes"),
        ("latex", r"need more data; \texttt{harness-uq plan} computes"),
    ],
)
def test_a_command_in_a_sentence_looks_like_one_in_every_form(form: str, expected: str) -> None:
    assert expected in render([undecided()], form)


def test_a_command_is_code_on_the_page() -> None:
    page = report_html(make.estimates(), [undecided()])
    assert page.count("<code>harness-uq plan</code>") == 2
    assert "`" not in page.split("</style>")[1]


def test_the_answer_of_a_plan_is_escaped_beside_its_commands() -> None:
    plan = replace(make.plan(), answer="<b> `harness-uq <i>` ")
    assert "&lt;b&gt; <code>harness-uq &lt;i&gt;</code>" in report_html([], plans=[plan])


def test_ranks_say_whose_intervals_and_sets_they_show() -> None:
    for text in (render([make.ranking(3)], "table", columns=("all",)), report_html([], (), [make.ranking(3)])):
        assert "hold simultaneously" in text


def test_one_question_is_no_plural() -> None:
    ranking = replace(make.ranking(3), n_questions=1)
    for text in (render([ranking], "table"), render([ranking], "latex"), report_html([], (), [ranking])):
        assert "1 question" in text
        assert "1 questions" not in text


def test_samples_without_a_score_are_those_of_the_metric_with_the_most_scores() -> None:
    partial = [[float("nan"), 1.0]] * 10 + [[1.0, 0.0]] * 2
    whole, half = (
        estimate(task_log(values, metric=metric))[0]
        for values, metric in (([[1.0, 0.0]] * 12, "acc"), (partial, "has"))
    )
    assert missing_sentence([whole, half]) == ""
    assert missing_sentence([half]).startswith("10 of 24 samples have no score")
